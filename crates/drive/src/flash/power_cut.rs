//! What a flash drive loses when its power is cut, and how it comes back.

use std::collections::{BTreeMap, VecDeque};

use block::{Lba, Nanos};
use serde::{Deserialize, Serialize};

use super::arbitration::Arbiter;
use super::buffer::{Buffer, SectorMask};
use super::held_tables::HeldTables;
use super::journal::Journal;
use super::operation::Lpn;
use super::pacing::Pacing;
use super::{FlashDrive, Link};
use crate::{Drive, PowerLoss, not_before};

/// Pages that were handed to flash lately, in the order in which that was decided.
///
/// Once decided, the map points to a page's new place; only this knows that it is not there yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Unsettled {
    entries: VecDeque<ProgrammingPages>,
    /// How many there may be before those that have settled are looked for.
    entries_max: usize,
}

/// A page that waits in the buffer for its flash page to be programmed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BufferedPage {
    pub page: Lpn,
    /// The sectors that the host wrote; the others were read from flash.
    pub sectors: SectorMask,
    /// Whether an older copy is in flash.
    pub is_kept: bool,
}

/// Pages on their way from the buffer to flash, one behind the other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ProgrammingPages {
    first: Lpn,
    count: u32,
    /// The sectors of each that the host wrote; the others were read from flash.
    sectors: SectorMask,
    /// A bit for each: whether an older copy is in flash.
    kept: u64,
    /// When they are in flash.
    programmed: Nanos,
}

impl ProgrammingPages {
    fn pages(&self) -> impl Iterator<Item = BufferedPage> {
        let Self { first, count, sectors, kept, .. } = *self;
        (0..count).map(move |page| BufferedPage { page: Lpn(first.0 + page), sectors, is_kept: kept >> page & 1 == 1 })
    }
}

impl Unsettled {
    /// Notes a page that is in flash from `programmed` on.
    #[inline]
    pub fn note(&mut self, now: Nanos, page: BufferedPage, programmed: Nanos) {
        let BufferedPage { page: first, sectors, is_kept } = page;
        self.add(now, ProgrammingPages { first, count: 1, sectors, kept: is_kept.into(), programmed });
    }

    /// Notes whole pages from `first` on that are in flash from `programmed` on; a bit for each says whether an older copy is.
    #[inline]
    pub fn note_together(&mut self, now: Nanos, first: Lpn, count: u32, kept: u64, programmed: Nanos) {
        self.add(now, ProgrammingPages { first, count, sectors: SectorMask::MAX, kept, programmed });
    }

    #[inline]
    fn add(&mut self, now: Nanos, pages: ProgrammingPages) {
        if self.entries.len() >= self.entries_max {
            self.settle(now);
        }
        self.entries.push_back(pages);
    }

    /// Forgets the pages that are in flash, up to the first that is not: a newer copy of that may be among
    /// those after it.
    #[cold]
    fn settle(&mut self, now: Nanos) {
        while self.entries.front().is_some_and(|entry| entry.programmed <= now) {
            self.entries.pop_front();
        }
        self.entries_max = (2 * self.entries.len()).max(256);
    }
}

/// What is lost of a page.
struct Loss {
    sectors: SectorMask,
    is_kept: bool,
}

impl FlashDrive {
    /// What [`Drive::cut_power`] promises.
    pub(super) fn lose_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        self.arbitrate(now);
        self.warm_up(now);
        self.now = now;
        let lost = match (&self.zoned, self.spec.power.capacitor) {
            (Some(_), _) => PowerLoss::default(),
            (None, true) => self.save(),
            (None, false) => self.forget(now),
        };
        let unanswered = self.queue.clear() + self.arbiter.as_mut().map_or(0, Arbiter::clear);
        self.buffer = Buffer::new(self.spec.buffer_pages as usize, self.spec.buffer_partial_pages as usize);
        self.close_zones();
        self.unsettled.entries.clear();
        self.waiting.clear();
        self.waiting_ready = Nanos::ZERO;
        self.link = Link::new(self.spec.link, self.spec.geometry.page);
        self.meter.restart(now, self.spec.power.boot);
        self.firmware.restart(now + self.spec.power.boot);
        self.journal = Journal::default();
        self.housekeeping.restart();
        self.pacing.iter_mut().for_each(Pacing::restart);
        self.recent.clear();
        (self.encoded, self.programmed, self.noted) = (Nanos::ZERO, Nanos::ZERO, (Nanos::ZERO, Nanos::ZERO));
        self.tables.iter_mut().for_each(HeldTables::clear);
        self.counters.unsafe_shutdowns += 1;
        PowerLoss { unanswered, ..lost }
    }

    /// Writes out what is in the buffer on what the capacitor holds.
    fn save(&mut self) -> PowerLoss {
        self.program_all();
        PowerLoss::default()
    }

    /// Takes back what had not been programmed.
    fn forget(&mut self, now: Nanos) -> PowerLoss {
        let losses = self.losses(now);
        for (&page, _) in losses.iter().filter(|(_, loss)| !loss.is_kept) {
            self.mapping.trim(page);
        }
        let coming = self.unsettled.entries.iter().filter(|entry| entry.programmed > now);
        let torn =
            coming.filter(|entry| entry.programmed - now <= self.spec.nand.program).map(|entry| entry.count).sum();
        PowerLoss { sectors: self.runs(&losses), torn, ..PowerLoss::default() }
    }

    /// What [`Drive::unsaved`] promises.
    pub(super) fn at_risk(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        if self.spec.power.capacitor { Vec::new() } else { self.runs(&self.losses(now)) }
    }

    /// What is not programmed yet at `now`.
    fn losses(&self, now: Nanos) -> BTreeMap<Lpn, Loss> {
        let mut losses: BTreeMap<Lpn, Loss> = BTreeMap::new();
        for entry in &self.unsettled.entries {
            for page in entry.pages() {
                if entry.programmed <= now {
                    // A newer copy that was faster: what was lost before it does not matter.
                    losses.remove(&page.page);
                } else {
                    lose(&mut losses, page);
                }
            }
        }
        for &waiting in &self.waiting {
            lose(&mut losses, waiting);
        }
        for partial in self.buffer.partial() {
            losses.entry(partial.page).or_insert(Loss { sectors: 0, is_kept: true }).sectors |= partial.sectors;
        }
        losses
    }

    /// The lost sectors of all pages, put together where they touch.
    fn runs(&self, losses: &BTreeMap<Lpn, Loss>) -> Vec<(Lba, Lba)> {
        runs(losses, self.page_sectors, Lba::at(self.shape().capacity))
    }
}

/// Adds what is lost of a page.
fn lose(losses: &mut BTreeMap<Lpn, Loss>, lost: BufferedPage) {
    losses.entry(lost.page).or_insert(Loss { sectors: 0, is_kept: lost.is_kept }).sectors |= lost.sectors;
}

/// The sectors of each page's loss before `end`, put together where they touch.
fn runs(losses: &BTreeMap<Lpn, Loss>, page_sectors: u32, end: Lba) -> Vec<(Lba, Lba)> {
    let mut runs: Vec<(Lba, Lba)> = Vec::new();
    for (page, loss) in losses {
        let first = u64::from(page.0) * u64::from(page_sectors);
        for sector in (0..page_sectors).filter(|&sector| loss.sectors >> sector & 1 == 1) {
            let (from, until) = (Lba::new(first + u64::from(sector)), Lba::new(first + u64::from(sector) + 1));
            match runs.last_mut() {
                Some((_, last)) if *last == from => *last = until,
                _ if from < end => runs.push((from, until)),
                _ => {}
            }
        }
    }
    runs
}
