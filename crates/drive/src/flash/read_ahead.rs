//! Reading what will probably be asked for next.

use std::collections::VecDeque;

use block::{Lba, Nanos, Request};
use serde::{Deserialize, Serialize};

use super::operation::Lpn;

/// Pages that were read from flash before they were asked for, because reads came in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadAhead {
    /// How many pages beyond the last read are kept ready.
    pages: u32,
    /// Where the last read ended.
    read_to: Lba,
    /// Pages in the controller's memory, ascending, and when each is there.
    ready: VecDeque<(Lpn, Nanos)>,
}

impl ReadAhead {
    /// Nothing was read yet.
    pub fn new(pages: u32) -> Self {
        Self { pages, read_to: Lba::new(u64::MAX), ready: VecDeque::with_capacity(pages as usize + 1) }
    }

    /// Notes a read; whether it goes on where the last one ended. If not, what was read ahead is dropped.
    #[inline]
    pub fn follows(&mut self, request: Request) -> bool {
        let follows = self.pages > 0 && request.lba == self.read_to;
        self.read_to = request.end();
        if !follows {
            self.ready.clear();
        }
        follows
    }

    /// When `page` is in the controller's memory, if it was read ahead. Pages before it are dropped.
    #[inline]
    pub fn take(&mut self, page: Lpn) -> Option<Nanos> {
        while self.ready.front().is_some_and(|&(first, _)| first < page) {
            self.ready.pop_front();
        }
        self.ready.front().filter(|&&(first, _)| first == page).map(|&(_, ready)| ready)
    }

    /// The pages that are to be read now that `last` was asked for.
    pub fn wanted(&self, last: Lpn, pages: u32) -> std::ops::Range<u32> {
        let first = self.ready.back().map_or(last.0 + 1, |&(page, _)| page.0 + 1);
        first..(last.0 + 1 + self.pages).min(pages).max(first)
    }

    /// Notes a page that will be there at `ready`.
    pub fn add(&mut self, page: Lpn, ready: Nanos) {
        self.ready.push_back((page, ready));
    }
}

#[cfg(test)]
mod tests {
    use block::Op;

    use super::*;

    fn read(lba: u64, sectors: u32) -> Request {
        Request::new(Op::Read, Lba::new(lba), sectors)
    }

    #[test]
    fn the_second_read_in_order_brings_the_next_pages() {
        let mut ahead = ReadAhead::new(4);
        assert!(!ahead.follows(read(0, 8)));
        assert!(ahead.follows(read(8, 8)));
        assert_eq!(ahead.wanted(Lpn(1), 100), 2..6);
        (2..6).for_each(|page| ahead.add(Lpn(page), Nanos::from_micros(u64::from(page))));
        assert!(ahead.follows(read(16, 8)));
        assert_eq!(ahead.take(Lpn(2)), Some(Nanos::from_micros(2)));
        assert_eq!(ahead.wanted(Lpn(2), 100), 6..7);
        assert_eq!(ahead.wanted(Lpn(5), 8), 6..8, "none beyond the end");
    }

    #[test]
    fn a_read_elsewhere_drops_them() {
        let mut ahead = ReadAhead::new(4);
        ahead.follows(read(0, 8));
        ahead.add(Lpn(1), Nanos::ZERO);
        assert!(!ahead.follows(read(80, 8)));
        assert_eq!(ahead.take(Lpn(1)), None);
    }
}
