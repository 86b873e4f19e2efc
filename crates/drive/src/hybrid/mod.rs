//! An early or cheap flash drive: blocks are mapped, and a few log blocks take what is overwritten (hybrid translation).

mod file;
mod spec;
mod translation;

use block::{Completion, Lba, Nanos, Op, Request, SECTOR, Seed, Tag};
pub(crate) use file::HybridFile;
use serde::{Deserialize, Serialize};
pub use spec::HybridSpec;
use translation::{HybridOp, Place, Translation};
pub use translation::{Merges, Scheme};

use crate::calendar::Calendar;
use crate::draw::{Draws, Spread};
use crate::energy::{EnergyMeter, WorkEnergy};
use crate::flash::firmware::Firmware;
use crate::link::Link;
use crate::power_loss::WritesInFlight;
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen, WearSummary, not_before, within};

/// A simulated flash drive whose map is of blocks.
///
/// A block is spread over all dies. A write is answered when it is in flash; one that is smaller than a page reads the rest of it
/// first. There is no buffer, so that a flush waits for nothing, and trims are ignored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HybridDrive {
    spec: HybridSpec,
    specimen: Specimen,
    now: Nanos,
    firmware: Firmware,
    pace_draws: Draws,
    link: Link,
    queue: CommandQueue,
    translation: Translation,
    dies: Vec<Nanos>,
    channels: Vec<Calendar>,
    operations: Spread,
    draws: Draws,
    pages_read: u64,
    pages_programmed: u64,
    blocks_erased: u64,
    writing: WritesInFlight,
    counters: Counters,
    meter: EnergyMeter,
    /// Empty between requests.
    #[serde(skip)]
    plan: Vec<HybridOp>,
}

impl HybridDrive {
    /// A drive as it leaves the factory.
    pub fn of(spec: HybridSpec, specimen: Specimen) -> Self {
        let seed = specimen.seed();
        let pages = spec.capacity.get().div_ceil(spec.page.get()) as u32;
        Self {
            specimen,
            now: Nanos::ZERO,
            firmware: Firmware::new(1),
            pace_draws: Draws::new(seed.split("firmware")),
            link: Link::new(spec.link, spec.page),
            queue: CommandQueue::new(spec.queue_depth),
            translation: Translation::new(spec.scheme, pages, spec.block_pages(), spec.log_blocks),
            dies: vec![Nanos::ZERO; spec.dies() as usize],
            channels: vec![Calendar::default(); spec.channels as usize],
            operations: Spread::new(u64::from(spec.operation_deviation)),
            draws: Draws::new(seed.split("operations")),
            pages_read: 0,
            pages_programmed: 0,
            blocks_erased: 0,
            writing: WritesInFlight::default(),
            counters: Counters { page: spec.page, ..Counters::default() },
            meter: EnergyMeter::new(spec.power),
            plan: Vec::new(),
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &HybridSpec {
        &self.spec
    }

    /// Which drive of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// A number that is equal for equal histories of writes, and so for equal states of the flash.
    pub fn digest(&self) -> u64 {
        self.translation.digest()
    }

    /// How often each kind of merge was done.
    pub fn merges(&self) -> Merges {
        self.translation.merges()
    }

    fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        let awake = now + self.meter.begin(now);
        let (core, start) = self.firmware.begin(awake, awake, request.op);
        let ready = start + self.spec.jitter.vary(&mut self.pace_draws, self.spec.command);
        self.firmware.hold(core, ready + self.spec.retire);
        let at = match request.op {
            Op::Read => self.read(ready, request),
            Op::Write => self.write(ready, request),
            Op::Trim | Op::Flush | Op::Append | Op::Zone(_) => self.link.send(now, ready, 0, true),
        };
        let status = request.op.without_zones();
        self.counters.count(&request);
        self.counters.count_end(status);
        self.meter.end(at);
        self.queue.take(Completion { at, tag, status });
    }

    /// A request cut at pages: the page, and how many of its sectors.
    fn pieces(&self, request: Request) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (sectors, mut at, end) = (self.spec.page.sectors(), request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let page = at / sectors;
                let until = ((page + 1) * sectors).min(end);
                (page as u32, (until - std::mem::replace(&mut at, until)) as u32)
            })
        })
    }

    fn read(&mut self, ready: Nanos, request: Request) -> Nanos {
        let mut done = ready;
        for (index, (page, sectors)) in self.pieces(request).enumerate() {
            let there = match self.translation.place_of(page) {
                Some(place) => self.sense(ready, place, sectors),
                None => ready,
            };
            done = done.max(self.link.send(self.now, there, sectors, index == 0));
        }
        done
    }

    fn write(&mut self, ready: Nanos, request: Request) -> Nanos {
        let whole = self.spec.page.sectors() as u32;
        let mut done = ready;
        for (index, (page, sectors)) in self.pieces(request).enumerate() {
            let mut arrived = self.link.receive(self.now, ready, sectors, index == 0);
            if let Some(place) = self.translation.place_of(page).filter(|_| sectors < whole) {
                arrived = self.sense(arrived, place, whole);
            }
            let mut plan = std::mem::take(&mut self.plan);
            self.translation.write(page, &mut plan);
            for op in plan.drain(..) {
                done = done.max(self.carry_out(arrived, op));
            }
            self.plan = plan;
        }
        self.writing.note(self.now, done, request.lba, request.end());
        done
    }

    /// Reads sectors of a page; when they are with the controller.
    fn sense(&mut self, ready: Nanos, place: Place, sectors: u32) -> Nanos {
        let die = (place.page % self.spec.dies()) as usize;
        let transfer = self.spec.channel.time_for(SECTOR.times(u64::from(sectors)));
        let sensed = self.dies[die].max(ready) + self.spec.read;
        let channel = die % self.channels.len();
        self.dies[die] = self.channels[channel].reserve(self.now, sensed, transfer);
        self.pages_read += 1;
        self.dies[die]
    }

    /// Programs a page with data that is there at `ready`; when it is in flash.
    fn program(&mut self, ready: Nanos, place: Place) -> Nanos {
        let die = (place.page % self.spec.dies()) as usize;
        let transfer = self.spec.channel.time_for(self.spec.page);
        let channel = die % self.channels.len();
        let loaded = self.channels[channel].reserve(self.now, self.dies[die].max(ready), transfer);
        self.dies[die] = loaded + self.operations.vary(&mut self.draws, self.spec.program);
        self.pages_programmed += 1;
        self.dies[die]
    }

    /// Does what was decided, data of the host being there at `ready`; when it is over.
    fn carry_out(&mut self, ready: Nanos, op: HybridOp) -> Nanos {
        match op {
            HybridOp::Program(place) => self.program(ready, place),
            HybridOp::Copy(from, to) => {
                let there = self.sense(self.now, from, self.spec.page.sectors() as u32);
                self.program(there, to)
            }
            HybridOp::Erase(_) => {
                for die in 0..self.dies.len() {
                    self.dies[die] =
                        self.dies[die].max(self.now) + self.operations.vary(&mut self.draws, self.spec.erase);
                    self.blocks_erased += 1;
                }
                // The block is needed later.
                ready
            }
        }
    }

    /// The sectors of writes that are not in flash yet at `now`.
    fn in_flight(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        if self.spec.power.capacitor { Vec::new() } else { self.writing.sectors(now) }
    }

    fn work(&self) -> WorkEnergy {
        WorkEnergy {
            pages_read: self.pages_read,
            pages_programmed: self.pages_programmed,
            blocks_erased: self.blocks_erased,
            bytes: self.counters.host_read + self.counters.host_written,
        }
    }
}

impl Drive for HybridDrive {
    fn shape(&self) -> Shape {
        Shape { capacity: self.spec.capacity, block: SECTOR, queue_depth: self.spec.queue_depth }
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity, &request);
        self.now = now;
        if self.queue.has_room() {
            self.take(now, tag, request);
        } else {
            self.queue.wait(tag, request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.queue.next()
    }

    #[inline(never)]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let completion = self.queue.complete(until)?;
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
        Counters {
            pages_read: self.pages_read,
            pages_programmed: self.pages_programmed,
            pages_moved: self.translation.copied(),
            blocks_erased: self.blocks_erased,
            energy_nj: self.meter.energy(at.max(self.now), self.work()).as_nanojoules(),
            ..self.counters
        }
    }

    fn health(&self) -> Health {
        let erases = self.translation.erases();
        let wear = self.spec.rated_erases.map(|rated| WearSummary {
            rated,
            erases_min: erases.iter().copied().min().unwrap_or_default(),
            erases_max: erases.iter().copied().max().unwrap_or_default(),
            erases_mean: (erases.iter().map(|&erases| u64::from(erases)).sum::<u64>() / erases.len() as u64) as u32,
            ..WearSummary::default()
        });
        Health {
            power_on: self.now,
            busy: self.meter.busy(self.now),
            power_cycles: 1 + self.counters.unsafe_shutdowns,
            wear,
            ..Health::default()
        }
    }

    fn purge(&mut self) {
        assert!(self.queue.is_empty(), "a drive is purged only when nothing is in flight");
        self.translation.purge();
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        self.now = now;
        let sectors = self.in_flight(now);
        let torn = if self.spec.power.capacitor { 0 } else { self.writing.count(now) };
        let from = now + self.spec.power.boot;
        self.writing.clear();
        self.link = Link::new(self.spec.link, self.spec.page);
        self.dies.fill(from);
        self.channels.fill(Calendar::default());
        self.meter.restart(now, self.spec.power.boot);
        self.firmware.restart(from);
        self.counters.unsafe_shutdowns += 1;
        PowerLoss { sectors, torn, unanswered: self.queue.clear(), ..PowerLoss::default() }
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.in_flight(now)
    }

    fn draw_from(&mut self, seed: Seed) {
        self.pace_draws.join(seed);
        self.draws.join(seed);
    }
}
