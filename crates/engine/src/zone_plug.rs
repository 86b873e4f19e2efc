//! Whose turn it is at a drive's zones: one write a zone at a time, in the order of the write pointer.

use std::collections::VecDeque;

use block::{Bytes, Op, Request, Zone, ZoneAction, ZoneLimits};
use workload::{HostZones, Workload, ZoneStep, ZonedJob};

/// The account of a drive's zones, and what is on its way to each; `O` is who has a request made.
///
/// Linux keeps writes to a zone back while one is under way (zone write plugging, since 6.10), so that none overtakes
/// another. Appends go together; what is done to a zone as a whole goes alone. A write that would have one zone more be
/// active than the drive allows waits until what is on its way to a zone has filled it.
/// Source: Linux, Documentation/block and block/blk-zoned.c, "zone write plugging".
#[derive(Debug)]
pub(crate) struct ZonePlugs<O> {
    host: HostZones,
    jobs: Vec<ZonedJob>,
    plugs: Vec<ZonePlug<O>>,
    /// How many zones are active at the drive, and how many may be, if no job goes without zones.
    active: usize,
    active_max: usize,
    /// The zones whose next request waits for another to be active no more.
    openers: VecDeque<usize>,
}

/// Why a job's requests do not suit a drive's zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneMisfit {
    #[error("requests of {block} do not fit into zones that hold {zone}; give a smaller bs, or zonemode=none")]
    TooLong { block: Bytes, zone: Bytes },
    /// As in fio, zbd.c.
    #[error("a trim resets a zone, and {block} is not the size of one; give --bs={} ({zone}), or zonemode=none", zone.get())]
    NoZone { block: Bytes, zone: Bytes },
}

/// What is on its way to a zone.
#[derive(Clone, Debug)]
struct ZonePlug<O> {
    appends: u32,
    is_taken: bool,
    /// Sectors that the drive has written, and that can be.
    written: u64,
    writable: u64,
    is_active: bool,
    waiting: VecDeque<(O, Request)>,
}

impl<O> ZonePlug<O> {
    fn new(zone: &Zone) -> Self {
        Self {
            appends: 0,
            is_taken: false,
            written: zone.pointer.get() - zone.start.get(),
            writable: zone.writable.get() - zone.start.get(),
            is_active: zone.state.is_active(),
            waiting: VecDeque::new(),
        }
    }

    fn admits(&self, op: Op) -> bool {
        !self.is_taken && (op == Op::Append || self.appends == 0)
    }

    fn take(&mut self, op: Op) {
        match op {
            Op::Append => self.appends += 1,
            _ => self.is_taken = true,
        }
    }

    fn give_back(&mut self, request: &Request) {
        match request.op {
            Op::Append => self.appends -= 1,
            _ => self.is_taken = false,
        }
        self.written = match request.op {
            Op::Zone(ZoneAction::Reset) => 0,
            Op::Zone(ZoneAction::Finish) => self.writable,
            Op::Zone(_) => self.written,
            _ => self.written + u64::from(request.sectors),
        };
    }
}

impl<O> ZonePlugs<O> {
    /// Those of zones as the drive reports them.
    pub fn new(report: &[Zone], limits: ZoneLimits) -> Self {
        let plugs: Vec<ZonePlug<O>> = report.iter().map(ZonePlug::new).collect();
        Self {
            host: HostZones::new(report, limits),
            jobs: Vec::new(),
            active: plugs.iter().filter(|plug| plug.is_active).count(),
            active_max: limits.active.map_or(usize::MAX, |most| most as usize),
            plugs,
            openers: VecDeque::new(),
        }
    }

    /// Adds a job that uses this span; the span's data where that is all it moves, else what it was to move.
    ///
    /// # Errors
    /// If its requests do not suit the zones.
    pub fn add(&mut self, workload: &Workload, span: (Bytes, Bytes)) -> Result<Option<Bytes>, ZoneMisfit> {
        let job = self.host.job(workload, span);
        let (block, trims) = (workload.block_max(), workload.ops().contains(&Op::Trim));
        let (least, zone) = (self.host.least_of(&job), self.host.size());
        let writable = self.host.writable_of(&job, span, block);
        self.jobs.push(job);
        if workload.zoned.raw {
            // Its requests go as they come, and fail where the drive has it so.
            self.active_max = usize::MAX;
        }
        match workload.stop.bytes {
            bytes if workload.zoned.raw => Ok(bytes),
            _ if trims && block != zone => Err(ZoneMisfit::NoZone { block, zone }),
            bytes if trims => Ok(bytes),
            _ if block > least => Err(ZoneMisfit::TooLong { block, zone: least }),
            // Once over all addresses is once over all that can be written.
            Some(bytes) if writable > Bytes::ZERO && bytes.is_multiple_of(span.1) => {
                Ok(Some(writable.times(bytes.div(span.1))))
            }
            bytes => Ok(bytes),
        }
    }

    /// What comes of a worker's next request.
    pub fn step(&mut self, job: u32, worker: u32, request: Request) -> ZoneStep {
        self.host.step(&mut self.jobs[job as usize], worker, request)
    }

    /// Whether a job ended because no zone that it reads holds data.
    pub fn found_no_data(&self, job: u32) -> bool {
        self.jobs[job as usize].found_no_data()
    }

    /// The zone whose turn a request must wait for.
    fn plugged(&self, request: &Request) -> Option<usize> {
        let waits = request.op.writes() || matches!(request.op, Op::Zone(_));
        let (zone, has_pointer) = self.host.zone_of(request.lba);
        (waits && has_pointer).then_some(zone)
    }

    /// Whether a request may go at once; it is kept otherwise, until its zone's turn has come.
    pub fn enter(&mut self, owner: O, request: Request) -> bool {
        let Some(zone) = self.plugged(&request) else { return true };
        let goes = self.plugs[zone].waiting.is_empty() && self.take(zone, request.op);
        if !goes {
            self.plugs[zone].waiting.push_back((owner, request));
        }
        goes
    }

    /// Whether a zone takes a request now; then it has.
    fn take(&mut self, zone: usize, op: Op) -> bool {
        let plug = &mut self.plugs[zone];
        if !plug.admits(op) {
            return false;
        }
        if op.writes() && !plug.is_active {
            if self.active >= self.active_max {
                self.openers.push_back(zone);
                return false;
            }
            plug.is_active = true;
            self.active += 1;
        }
        plug.take(op);
        true
    }

    /// Notes that a request was completed, and gives what waited for that.
    pub fn leave(&mut self, request: &Request) -> Vec<(O, Request)> {
        let Some(zone) = self.plugged(request) else { return Vec::new() };
        let plug = &mut self.plugs[zone];
        plug.give_back(request);
        if plug.is_active && (plug.written == 0 || plug.written >= plug.writable) {
            plug.is_active = false;
            self.active -= 1;
        }
        let mut released = Vec::new();
        self.release(zone, &mut released);
        while self.active < self.active_max
            && let Some(zone) = self.openers.pop_front()
        {
            self.release(zone, &mut released);
        }
        released
    }

    /// Takes out what a zone takes now.
    fn release(&mut self, zone: usize, released: &mut Vec<(O, Request)>) {
        while let Some((_, request)) = self.plugs[zone].waiting.front() {
            let op = request.op;
            if self.openers.contains(&zone) || !self.take(zone, op) {
                return;
            }
            released.extend(self.plugs[zone].waiting.pop_front());
        }
    }
}

#[cfg(test)]
mod tests {
    use block::{Lba, ZoneState};

    use super::*;

    #[test]
    fn no_more_zones_are_active_than_the_drive_allows() {
        let lba = Lba::new;
        let zone = |index: u64| Zone {
            start: lba(index * 64),
            writable: lba(index * 64 + 16),
            end: lba(index * 64 + 64),
            state: ZoneState::Empty,
            pointer: lba(index * 64),
        };
        let report: Vec<Zone> = (0..4).map(zone).collect();
        let mut plugs = ZonePlugs::new(&report, ZoneLimits { open: None, active: Some(1), append: false });
        let write = |at| Request::new(Op::Write, lba(at), 8);
        assert!(plugs.enter('a', write(0)));
        assert!(!plugs.enter('b', write(8)), "one write a zone");
        assert!(!plugs.enter('c', write(64)), "one zone is active");
        assert!(!plugs.enter('d', write(72)));
        assert_eq!(plugs.leave(&write(0)), [('b', write(8))]);
        assert_eq!(plugs.leave(&write(8)), [('c', write(64))], "the first is full");
        assert_eq!(plugs.leave(&write(64)), [('d', write(72))]);
        let reset = Request::new(Op::Zone(ZoneAction::Reset), lba(64), 0);
        assert!(!plugs.enter('e', reset) && !plugs.enter('f', write(128)));
        assert_eq!(plugs.leave(&write(72)), [('e', reset), ('f', write(128))]);
    }
}
