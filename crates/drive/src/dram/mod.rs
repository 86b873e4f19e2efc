//! A drive of memory chips: the same time for every place.

mod file;

use block::{Bytes, Completion, Lba, Nanos, Op, Power, Rate, Request, SECTOR, Tag};
pub(crate) use file::DramFile;
use serde::{Deserialize, Serialize};

use crate::calendar::Calendar;
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, PowerLoss, Shape, not_before, within};

/// All that a DRAM drive is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DramSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// What a read takes beside its data.
    pub read: Nanos,
    /// What a write takes beside its data.
    pub write: Nanos,
    /// Data read a second, over the link and out of the memory.
    pub read_rate: Rate,
    /// Data written a second.
    pub write_rate: Rate,
    /// What it consumes with nothing to do: memory is refreshed all the time.
    pub idle: Power,
    /// What it consumes with a command inside.
    pub active: Power,
    /// Whether a battery, or what else, keeps the data when power is cut.
    pub battery: bool,
}

impl DramSpec {
    /// What the drive is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { capacity, queue_depth, read, write, read_rate, write_rate, .. } = self;
        vec![
            ("capacity", capacity.to_string()),
            ("times", format!("{read} and {read_rate} to read, {write} and {write_rate} to write")),
            ("interface", format!("queue depth {queue_depth}")),
            ("power loss", if self.battery { "keeps the data".to_owned() } else { "loses all data".to_owned() }),
        ]
    }
}

/// A simulated drive of memory chips.
///
/// The fixed times of commands in the drive run side by side; their data goes over the link one after the other.
/// Nothing is cached, so a flush has nothing to do, and nothing is worn. Without power it keeps all, or nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DramDrive {
    spec: DramSpec,
    now: Nanos,
    link: Calendar,
    queue: CommandQueue,
    /// Until when a command is inside, of those taken.
    active_until: Nanos,
    active: Nanos,
    counters: Counters,
}

impl DramDrive {
    /// A drive at time zero.
    pub fn new(spec: DramSpec) -> Self {
        Self {
            now: Nanos::ZERO,
            link: Calendar::default(),
            queue: CommandQueue::new(spec.queue_depth),
            active_until: Nanos::ZERO,
            active: Nanos::ZERO,
            counters: Counters::default(),
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &DramSpec {
        &self.spec
    }

    fn take(&mut self, tag: Tag, request: Request) {
        self.counters.count(&request);
        let (fixed, data) = match request.op {
            Op::Read => (self.spec.read, self.spec.read_rate.time_for(request.bytes())),
            Op::Write => (self.spec.write, self.spec.write_rate.time_for(request.bytes())),
            Op::Trim | Op::Flush | Op::Append | Op::Zone(_) => (self.spec.write, Nanos::ZERO),
        };
        let ready = self.now + fixed;
        let at = if data == Nanos::ZERO { ready } else { self.link.reserve(self.now, ready, data) };
        self.active += at.since(self.active_until.max(self.now));
        self.active_until = self.active_until.max(at);
        let status = request.op.without_zones();
        self.counters.count_end(status);
        self.queue.take(Completion { at, tag, status });
    }
}

impl Drive for DramDrive {
    fn shape(&self) -> Shape {
        Shape { capacity: self.spec.capacity, block: SECTOR, queue_depth: self.spec.queue_depth }
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity, &request);
        self.now = now;
        if self.queue.has_room() {
            self.take(tag, request);
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
            self.take(tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        let until = at.max(self.now).max(self.active_until);
        let energy = self.spec.idle.over(until - self.active) + self.spec.active.over(self.active);
        Counters { energy_nj: energy.as_nanojoules(), ..self.counters }
    }

    fn health(&self) -> Health {
        Health { power_on: self.now, power_cycles: 1 + self.counters.unsafe_shutdowns, ..Health::default() }
    }

    fn purge(&mut self) {
        assert!(self.queue.is_empty(), "a drive is purged only when nothing is in flight");
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        self.now = now;
        self.active = Nanos::from_nanos(self.active.as_nanos() - self.active_until.since(now).as_nanos());
        self.active_until = self.active_until.min(now);
        self.link = Calendar::default();
        self.counters.unsafe_shutdowns += 1;
        let all = (Lba::new(0), Lba::at(self.spec.capacity));
        let gone = if self.spec.battery { Vec::new() } else { vec![all] };
        PowerLoss { gone, unanswered: self.queue.clear(), ..PowerLoss::default() }
    }
}
