//! Which pages are still in the write buffer, so that reads of them need no flash.

use block::{GOLDEN, Nanos};
use serde::{Deserialize, Serialize};

use super::operation::Lpn;

/// The pages that were written lately, and until when each is in the buffer.
///
/// A table in which a page has one place, which the next page of that place takes: as large as several buffers, so that
/// this seldom happens to a page that is still there. Such a read goes to flash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recent {
    /// Empty where reads never look.
    places: Vec<(Lpn, Nanos)>,
}

/// So many neighbours have their places in what the processor reads at once.
const TOGETHER: u32 = 4;

impl Recent {
    /// For a buffer of so many pages; none if reads do not look there.
    pub fn new(pages: Option<u32>) -> Self {
        let places = pages.map_or(0, |pages| (8 * pages as usize).next_power_of_two());
        Self { places: vec![(Lpn(u32::MAX), Nanos::ZERO); places] }
    }

    /// Neighbours have theirs together, where the processor finds them at once.
    #[inline]
    fn place(&mut self, page: Lpn) -> Option<&mut (Lpn, Nanos)> {
        let mask = self.places.len().wrapping_sub(1);
        let first = (u64::from(page.0 / TOGETHER).wrapping_mul(GOLDEN) >> 32) as u32;
        let index = (first.wrapping_mul(TOGETHER) + page.0 % TOGETHER) as usize & mask;
        self.places.get_mut(index)
    }

    /// Notes that `page` is in the buffer until `until`.
    #[inline]
    pub fn note(&mut self, page: Lpn, until: Nanos) {
        if let Some(place) = self.place(page) {
            *place = (page, until);
        }
    }

    /// Whether `page` is in the buffer at `at`.
    #[inline]
    pub fn has(&mut self, page: Lpn, at: Nanos) -> bool {
        self.place(page).is_some_and(|&mut (there, until)| there == page && at < until)
    }

    /// Forgets `page`, which was trimmed.
    #[inline]
    pub fn forget(&mut self, page: Lpn) {
        if let Some(place) = self.place(page).filter(|place| place.0 == page) {
            place.1 = Nanos::ZERO;
        }
    }

    /// Forgets all: the buffer is empty.
    pub fn clear(&mut self) {
        self.places.fill((Lpn(u32::MAX), Nanos::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_there_until_it_is_programmed_or_trimmed() {
        let mut recent = Recent::new(Some(16));
        let us = Nanos::from_micros;
        assert!(!recent.has(Lpn(7), us(0)));
        recent.note(Lpn(7), us(500));
        assert!(recent.has(Lpn(7), us(499)) && !recent.has(Lpn(7), us(500)) && !recent.has(Lpn(8), us(0)));
        recent.forget(Lpn(7));
        assert!(!recent.has(Lpn(7), us(0)));
        let mut none = Recent::new(None);
        none.note(Lpn(7), us(500));
        assert!(!none.has(Lpn(7), us(0)), "a drive that does not look finds nothing");
    }

    #[test]
    fn nearly_all_of_a_full_buffer_is_found() {
        let mut recent = Recent::new(Some(4096));
        let mut random = testkit::Random::new(1);
        let pages: Vec<Lpn> = (0..4096).map(|_| Lpn(random.below(1 << 30) as u32)).collect();
        pages.iter().for_each(|&page| recent.note(page, Nanos::from_micros(1)));
        let found = pages.iter().filter(|&&page| recent.has(page, Nanos::ZERO)).count();
        assert!(found > 4096 * 9 / 10, "{found} of 4,096");
    }
}
