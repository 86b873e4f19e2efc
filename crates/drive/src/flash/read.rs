//! How a flash drive reads, and finds where to.

use block::{GOLDEN, Nanos, Op, Request, Status};

use super::firmware::Core;
use super::held_tables::TablePlace;
use super::operation::{Lpn, PageLocation};
use super::{FlashDrive, PagePart};

impl FlashDrive {
    #[inline(always)]
    pub(super) fn read(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        if self.spec.page_read > Nanos::ZERO {
            let handled = ready + self.paced(self.spec.page_read.times(self.pages(request)));
            self.firmware.hold(core, handled + self.paced(self.retiring(Op::Read)));
        }
        let follows = self.read_ahead.follows(request);
        let mut pieces = self.pieces(request);
        let Some(first) = pieces.next() else { return ready };
        let found = self.look_up(ready, first.page);
        let done = self.read_piece(found, first, true);
        if first.sectors == request.sectors && !follows {
            return done;
        }
        let (found, done) = self.read_rest(pieces, found, done);
        if follows {
            let last = Lpn(((request.end().get() - 1) / u64::from(self.page_sectors)) as u32);
            let fetched = self.fetch_ahead(found, last);
            let each = self.spec.read_ahead.page;
            if each > Nanos::ZERO {
                let handled = ready + self.paced(self.spec.page_read.times(self.pages(request)) + each.times(fetched));
                self.firmware.hold(core, handled + self.paced(self.retiring(Op::Read)));
            }
        }
        done
    }

    /// Reads what falls on the pages after the first; when the last page was found, and when all is with the host.
    ///
    /// The first page is looked up by itself, so that flash can begin; then the rest together.
    #[inline(never)]
    fn read_rest(&mut self, pieces: impl Iterator<Item = PagePart>, found: Nanos, done: Nanos) -> (Nanos, Nanos) {
        let (mut found, mut done) = (found, done);
        for (index, piece) in pieces.enumerate() {
            if index == 0 || self.starts_region(piece.page) {
                found = self.look_up(found, piece.page);
            }
            done = done.max(self.read_piece(found, piece, false));
        }
        (found, done)
    }

    /// Reads what falls on one page, which was found by then; when it is with the host.
    #[inline(always)]
    fn read_piece(&mut self, found: Nanos, piece: PagePart, is_first: bool) -> Nanos {
        let fetched = match self.read_ahead.take(piece.page) {
            Some(there) => there.max(found),
            None => {
                let there = self.at_hand(found, piece.page, piece.sectors);
                let failure = self.nand.take_failure();
                if !failure.is_success() {
                    self.status = failure;
                }
                there
            }
        };
        self.link.send(self.now, fetched, piece.sectors, is_first)
    }

    /// When sectors of a page are with the controller, which has those that wait to be programmed and reads others.
    #[inline(always)]
    pub(super) fn at_hand(&mut self, ready: Nanos, page: Lpn, sectors: u32) -> Nanos {
        if self.recent.has(page, ready) { ready } else { self.fetch(ready, page, sectors) }
    }

    /// Reads sectors of a page, if it was ever written; when they are with the controller.
    #[inline(always)]
    pub(super) fn fetch(&mut self, ready: Nanos, page: Lpn, sectors: u32) -> Nanos {
        let mapping = &*self.mapping;
        let sectors = mapping.stored(page, sectors);
        let Some(place) = mapping.place_of(page) else { return ready };
        let there = self.sense(ready, place, sectors);
        if let Some(block) = self.nand.take_ailing() {
            self.refresh(block, self.now);
        }
        there
    }

    /// Reads sectors from flash, before what the die was given where reads go first; when they are with the controller.
    #[inline(always)]
    pub(super) fn sense(&mut self, ready: Nanos, place: PageLocation, sectors: u32) -> Nanos {
        match self.spec.reads_first {
            true => self.nand.read_first(self.now, ready, place, sectors),
            false => self.nand.read(self.now, ready, place, sectors),
        }
    }

    /// Has the data of a block moved, from `at` on, whose pages have become hard to read.
    #[cold]
    pub(super) fn refresh(&mut self, block: u32, at: Nanos) {
        self.plan.clear();
        self.mapping.refresh(block, &mut self.plan);
        self.nand.book(at, at, &self.plan);
    }

    /// Reads the pages that will be asked for if reads go on after `last`; how many.
    pub(super) fn fetch_ahead(&mut self, ready: Nanos, last: Lpn) -> u64 {
        let wanted = self.read_ahead.wanted(last, self.map_base);
        let count = wanted.len() as u64;
        for page in wanted.map(Lpn) {
            let there = self.fetch(ready, page, self.page_sectors);
            // What cannot be corrected is read again when the host asks for it.
            if self.nand.take_failure() == Status::Success {
                self.read_ahead.add(page, there);
            }
        }
        count
    }

    /// When it is known where `page` is kept, if the question is asked at `ready`.
    #[inline(always)]
    pub(super) fn look_up(&mut self, ready: Nanos, page: Lpn) -> Nanos {
        let Some(cache) = &self.map_cache else { return ready };
        let region = cache.region_of(page);
        if self.tables.is_none() && !cache.misses(region) { ready } else { self.look_up_region(ready, page, region) }
    }

    /// The same where the mapping page may have to be had from elsewhere.
    #[inline(never)]
    fn look_up_region(&mut self, ready: Nanos, page: Lpn, region: u32) -> Nanos {
        let Some(cache) = &self.map_cache else { return ready };
        // Tables are looked up as such, however their pages were written, but where the controller has just changed them.
        let is_table = self.tables.is_some() && !cache.is_resident(region) && self.mapping.holds(page);
        if is_table || cache.misses(region) { self.fetch_table(ready, region) } else { ready }
    }

    /// Whether another mapping page describes `page` than the page before it.
    #[inline]
    pub(super) fn starts_region(&self, page: Lpn) -> bool {
        self.spec.map_cache.is_some_and(|spec| page.0.is_multiple_of(spec.entries))
    }

    /// Has the mapping page of `region` at hand, from flash or from where it is held.
    pub(super) fn fetch_table(&mut self, ready: Nanos, region: u32) -> Nanos {
        if let Some(tables) = &mut self.tables {
            match tables.look_up(region) {
                TablePlace::Controller => return ready,
                TablePlace::Host(access) => {
                    return self.link.receive(self.now, ready + access, self.page_sectors, false);
                }
                TablePlace::Flash => {}
            }
        }
        match self.place_of_table(region) {
            Some(place) => {
                let there = self.nand.read_first(self.now, ready, place, self.page_sectors);
                self.nand.take_failure();
                there
            }
            None => ready,
        }
    }

    /// Whether the mapping page of `region` is held elsewhere than in flash, where it has been looked up now.
    pub(super) fn holds_table(&mut self, region: u32) -> bool {
        self.tables.as_mut().is_some_and(|tables| tables.look_up(region) != TablePlace::Flash)
    }

    /// Where the mapping page of `region` is in flash. What was written in order has none of its own there; where tables are
    /// looked up even so, it is as if it were with one of the pages that it describes: another in each, for the first ones of
    /// all may be in one die.
    pub(super) fn place_of_table(&self, region: u32) -> Option<PageLocation> {
        let own = self.mapping.place_of(Lpn(self.map_base + region));
        let spec = self.spec.map_cache.filter(|spec| own.is_none() && spec.tables.is_some());
        own.or_else(|| {
            let entries = spec?.entries;
            let first = region * entries;
            let with = (u64::from(region.wrapping_mul((GOLDEN >> 32) as u32)) * u64::from(entries)) >> 32;
            self.mapping
                .place_of(Lpn((first + with as u32).min(self.map_base - 1)))
                .or_else(|| self.mapping.place_of(Lpn(first)))
        })
    }
}
