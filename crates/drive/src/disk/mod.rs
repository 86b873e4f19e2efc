//! A disk: link, command queue, caches, and arms above turning platters.

mod actuator;
mod arm;
mod file;
mod fill;
mod layout;
mod power_cut;
mod seek;
mod segments;
mod service;
mod shingled;
mod spec;
mod spindle;
mod variation;
mod write_cache;

use std::collections::VecDeque;

use actuator::Actuator;
use block::{Bytes, Completion, Lba, Nanos, Request, SECTOR, Seed, Tag, Zone, ZoneLimits};
pub(crate) use file::DiskFile;
pub use layout::Platters;
pub use seek::SeekTimes;
use segments::Segments;
use serde::{Deserialize, Serialize};
pub use shingled::ShingledSpec;
use shingled::Shingles;
pub use spec::{CacheSpec, CommandOrder, DiskSpec, OrderSpec};
use spindle::Spindle;
pub use spindle::SpindleSpec;
pub use variation::{BackgroundSpec, TroubleSpec, VariationSpec};

use crate::draw::Draws;
use crate::link::Link;
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen, Zones, not_before, within};

/// The most that is sent over the link in one go.
const LINK_PIECE: Bytes = Bytes::from_kib(64);
/// A simulated disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DiskDrive {
    spec: DiskSpec,
    specimen: Specimen,
    now: Nanos,
    /// When the firmware is free for the next command.
    firmware_free: Nanos,
    /// How long commands take the firmware.
    pace_draws: Draws,
    /// When the last command reached the caches.
    busy_at: Nanos,
    link: Link,
    /// What has an end, and what waits in the host.
    queue: CommandQueue,
    /// Commands in the disk.
    inside: u32,
    /// Commands that the firmware has not looked at yet, earliest first.
    arriving: VecDeque<(Nanos, Tag, Request)>,
    /// Writes that wait for room in the cache and flushes that wait for it to be clean, in order.
    blocked: VecDeque<(Tag, Request)>,
    segments: Segments,
    actuators: Vec<Actuator>,
    /// Commands that lie under several arms: how many of these have still to do their part, and when the last will have.
    spanning: Vec<(Tag, u32, Nanos)>,
    /// Commands that are done and wait for others to be reported with.
    unreported: Vec<Completion>,
    spindle: Spindle,
    zones: Option<Zones>,
    cache_hits: u64,
    rewrites: u64,
    counters: Counters,
}

impl DiskDrive {
    /// A disk that turns, with its arms at the outermost track, its caches empty, and time at zero.
    pub fn new(spec: DiskSpec) -> Self {
        Self::of(spec, Specimen::default())
    }

    /// The same of a certain specimen.
    pub fn of(spec: DiskSpec, specimen: Specimen) -> Self {
        let seed = specimen.seed();
        let depth = spec.queue_depth as usize;
        Self {
            now: Nanos::ZERO,
            firmware_free: Nanos::ZERO,
            pace_draws: Draws::new(seed.split("firmware")),
            busy_at: Nanos::ZERO,
            link: Link::new(spec.link, LINK_PIECE),
            queue: CommandQueue::new(spec.queue_depth),
            inside: 0,
            arriving: VecDeque::with_capacity(depth),
            blocked: VecDeque::with_capacity(depth),
            segments: Segments::new(spec.cache.segments as usize, spec.cache.segment.sectors()),
            actuators: (0..spec.actuators).map(|index| Actuator::new(&spec, index, specimen)).collect(),
            spanning: Vec::new(),
            unreported: Vec::new(),
            spindle: Spindle::new(spec.spindle),
            zones: spec.zones.map(Zones::new),
            cache_hits: 0,
            rewrites: 0,
            counters: Counters::default(),
            specimen,
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &DiskSpec {
        &self.spec
    }

    /// Whether each sector has its place for good: see [`DiskSpec::writes_in_place`].
    pub const fn writes_in_place(&self) -> bool {
        self.spec.writes_in_place()
    }

    /// Which drive of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// How often a command has moved an arm to another cylinder.
    pub fn seeks(&self) -> u64 {
        self.actuators.iter().map(|actuator| actuator.arm.moves()).sum()
    }

    /// How often an operation needed another turn, and how often a recovery.
    pub fn troubles(&self) -> (u64, u64) {
        let troubles = self.actuators.iter().map(|actuator| actuator.arm.troubles());
        troubles.fold((0, 0), |(retries, recoveries), more| (retries + more.0, recoveries + more.1))
    }

    /// How often the arms have recalibrated, and how many steps they have read for errors.
    pub fn background(&self) -> (u64, u64) {
        let counts = self.actuators.iter().map(Actuator::background);
        counts.fold((0, 0), |(calibrations, steps), more| (calibrations + more.0, steps + more.1))
    }

    /// How many bands of shingled tracks have been brought home from the media cache.
    pub fn bands_cleaned(&self) -> u64 {
        self.actuators.iter().filter_map(|actuator| actuator.shingles.as_ref()).map(Shingles::cleaned).sum()
    }

    /// How many writes to the platters had to read first what they changed a part of.
    pub fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// How many reads were answered from memory alone.
    pub fn cache_hits(&self) -> u64 {
        self.cache_hits
    }
}

impl Drive for DiskDrive {
    fn shape(&self) -> Shape {
        // ZBC: zones are written by whole physical sectors.
        let sectors = if self.zones.is_some() { self.spec.physical } else { 1 };
        Shape {
            capacity: self.spec.capacity(),
            block: SECTOR.times(sectors.into()),
            queue_depth: self.spec.queue_depth,
        }
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity(), &request);
        self.advance(now);
        if self.inside < self.spec.queue_depth {
            self.take(now, tag, request);
        } else {
            self.queue.wait(tag, request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        if self.inside == 0 {
            return None;
        }
        [self.queue.next(), self.next_inside()].into_iter().flatten().min()
    }

    #[inline(never)]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        while self.inside > 0 {
            let due = self.next_inside().filter(|at| *at <= until);
            match (self.queue.next(), due) {
                (Some(done), due) if done <= until && due.is_none_or(|due| done <= due) => break,
                (_, Some(due)) => self.step(due),
                _ => return None,
            }
        }
        let completion = self.queue.complete(until)?;
        self.note_scattered(completion.at);
        self.inside -= 1;
        self.now = self.now.max(completion.at);
        if let Some((tag, request)) = self.queue.admit() {
            self.take(self.now, tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        let at = at.max(self.now);
        let ahead = self.actuators.iter().filter_map(|actuator| actuator.arm.time_ahead(at));
        let (reading, end) =
            ahead.fold((Nanos::ZERO, Nanos::ZERO), |(reading, end), (more, until)| (reading + more, end.max(until)));
        let energy_nj = self.spindle.energy(at, reading, end);
        let zone_resets = self.zones.as_ref().map_or(0, Zones::resets);
        Counters { energy_nj, zone_resets, ..self.counters }
    }

    fn health(&self) -> Health {
        Health { power_on: self.now, power_cycles: 1 + self.counters.unsafe_shutdowns, ..Health::default() }
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        self.zones.as_ref().map(Zones::limits)
    }

    fn zones(&self) -> Vec<Zone> {
        self.zones.as_ref().map_or_else(Vec::new, Zones::report)
    }

    fn draw_from(&mut self, seed: Seed) {
        self.pace_draws.join(seed);
        self.actuators.iter_mut().for_each(|actuator| actuator.arm.draw_from(seed));
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        self.lose_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.at_risk(now)
    }

    /// Forgets all data. How long a real disk takes to overwrite itself is not modelled.
    fn purge(&mut self) {
        assert!(self.inside == 0, "a disk is purged only when nothing is in flight");
        for actuator in &mut self.actuators {
            actuator.arm.stop(self.now, &mut self.spindle);
            self.now = self.now.max(actuator.arm.free());
            actuator.cache.clear();
            actuator.batch = 0;
            if let Some(shingles) = &mut actuator.shingles {
                shingles.clear();
            }
        }
        self.segments.clear();
        self.zones.iter_mut().for_each(Zones::clear);
    }
}
