//! How a flash drive reads, and finds where to.

use block::{Nanos, Op, Request, Status};

use super::FlashDrive;
use super::firmware::Core;
use super::operation::Lpn;

impl FlashDrive {
    pub(super) fn read(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        let mut done = ready;
        let mut found = ready;
        if self.spec.page_read > Nanos::ZERO {
            let handled = ready + self.paced(self.spec.page_read.times(self.pages(request)));
            self.firmware.hold(core, handled + self.paced(self.retiring(Op::Read)));
        }
        let follows = self.read_ahead.follows(request);
        for (index, piece) in self.pieces(request).enumerate() {
            // The first page is looked up by itself, so that flash can begin; then the rest together.
            if index <= 1 || self.starts_region(piece.page) {
                found = self.look_up(found, piece.page);
            }
            let fetched = match self.read_ahead.take(piece.page) {
                Some(there) => there.max(found),
                None if self.recent.has(piece.page, found) => found,
                None => {
                    let there = self.fetch(found, piece.page, piece.sectors);
                    self.status = self.status.or(self.nand.take_failure());
                    there
                }
            };
            done = done.max(self.link.send(self.now, fetched, piece.sectors, index == 0));
        }
        if follows {
            self.fetch_ahead(found, Lpn(((request.end().get() - 1) / u64::from(self.page_sectors)) as u32));
        }
        done
    }

    /// Reads sectors of a page, if it was ever written; when they are with the controller.
    #[inline]
    pub(super) fn fetch(&mut self, ready: Nanos, page: Lpn, sectors: u32) -> Nanos {
        let sectors = self.compression.as_ref().map_or(sectors, |compression| compression.stored(sectors));
        let Some(place) = self.mapping.place_of(page) else { return ready };
        let there = match self.spec.reads_first {
            true => self.nand.read_first(self.now, ready, place, sectors),
            false => self.nand.read(self.now, ready, place, sectors),
        };
        if let Some(block) = self.nand.take_ailing() {
            self.refresh(block);
        }
        there
    }

    /// Has the data of a block moved whose pages have become hard to read.
    #[cold]
    fn refresh(&mut self, block: u32) {
        self.plan.clear();
        self.mapping.refresh(block, &mut self.plan);
        self.nand.book(self.now, self.now, &self.plan);
    }

    /// Reads the pages that will be asked for if reads go on after `last`.
    pub(super) fn fetch_ahead(&mut self, ready: Nanos, last: Lpn) {
        for page in self.read_ahead.wanted(last, self.map_base).map(Lpn) {
            let there = self.fetch(ready, page, self.page_sectors);
            // What cannot be corrected is read again when the host asks for it.
            if self.nand.take_failure() == Status::Success {
                self.read_ahead.add(page, there);
            }
        }
    }

    /// When it is known where `page` is kept, if the question is asked at `ready`.
    #[inline]
    pub(super) fn look_up(&mut self, ready: Nanos, page: Lpn) -> Nanos {
        match &self.map_cache {
            Some(cache) if cache.misses(cache.region_of(page)) => self.fetch_map(ready, cache.region_of(page)),
            _ => ready,
        }
    }

    /// Whether another mapping page describes `page` than the page before it.
    #[inline]
    pub(super) fn starts_region(&self, page: Lpn) -> bool {
        self.spec.map_cache.is_some_and(|spec| page.0.is_multiple_of(spec.entries))
    }

    /// Reads the mapping page of `region`.
    pub(super) fn fetch_map(&mut self, ready: Nanos, region: u32) -> Nanos {
        match self.mapping.place_of(Lpn(self.map_base + region)) {
            Some(place) => {
                let there = self.nand.read_first(self.now, ready, place, self.page_sectors);
                self.nand.take_failure();
                there
            }
            None => ready,
        }
    }
}
