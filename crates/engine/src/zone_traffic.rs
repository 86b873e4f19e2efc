//! What a host does with requests to a drive that has zones: writes go where zones want them, one at a time in each.

use std::collections::VecDeque;

use block::{Bytes, Nanos, Op, Request, Tag};
use drive::Drive;
use workload::{HostZones, Workload, ZoneStep, ZonedJob};

/// The account of a drive's zones, and what is on its way to each.
///
/// Linux keeps writes to a zone back while one is under way (zone write plugging, since 6.10), so that none overtakes
/// another. Appends go together; what is done to a zone as a whole goes alone.
/// Source: Linux, Documentation/block and block/blk-zoned.c, "zone write plugging".
pub(crate) struct ZoneTraffic {
    host: HostZones,
    jobs: Vec<ZonedJob>,
    plugs: Vec<ZonePlug>,
}

/// What is on its way to a zone.
#[derive(Clone, Default)]
struct ZonePlug {
    appends: u32,
    is_taken: bool,
    waiting: VecDeque<(Tag, Request)>,
}

impl ZonePlug {
    fn admits(&self, op: Op) -> bool {
        !self.is_taken && (op == Op::Append || self.appends == 0)
    }

    fn take(&mut self, op: Op) {
        match op {
            Op::Append => self.appends += 1,
            _ => self.is_taken = true,
        }
    }
}

impl ZoneTraffic {
    /// The zones of this drive; none if it has none.
    pub fn of(drive: &dyn Drive) -> Option<Self> {
        let host = HostZones::new(&drive.zones(), drive.zone_limits()?);
        let plugs = vec![ZonePlug::default(); host.count()];
        Some(Self { host, jobs: Vec::new(), plugs })
    }

    /// Adds a job that uses this span; the span's data where that is all it moves, else what it was to move.
    ///
    /// # Errors
    /// With what the smallest zone can hold, if a request does not fit there.
    pub fn add(&mut self, workload: &Workload, span: (Bytes, Bytes)) -> Result<Option<Bytes>, Bytes> {
        let job = self.host.job(workload, span);
        let (least, writable) = (self.host.least_of(&job), self.host.writable_of(&job));
        self.jobs.push(job);
        match workload.stop.bytes {
            _ if !workload.zoned.raw && workload.block_max() > least => Err(least),
            // Once over all addresses is once over all that can be written.
            Some(bytes) if !workload.zoned.raw && span.1 > Bytes::ZERO && bytes.is_multiple_of(span.1) => {
                Ok(Some(writable.times(bytes.div(span.1))))
            }
            bytes => Ok(bytes),
        }
    }

    /// What comes of a worker's next request.
    pub fn step(&mut self, job: u32, worker: u32, request: Request) -> ZoneStep {
        self.host.step(&mut self.jobs[job as usize], worker, request)
    }

    /// The zone whose turn a request must wait for.
    fn plug(&mut self, request: &Request) -> Option<&mut ZonePlug> {
        let waits = request.op.writes() || matches!(request.op, Op::Zone(_));
        let (zone, has_pointer) = self.host.zone_of(request.lba);
        (waits && has_pointer).then(|| &mut self.plugs[zone])
    }

    /// Submits a request, at once or when its zone's turn has come.
    pub fn submit(&mut self, drive: &mut dyn Drive, now: Nanos, tag: Tag, request: Request) {
        if let Some(plug) = self.plug(&request) {
            if !plug.waiting.is_empty() || !plug.admits(request.op) {
                return plug.waiting.push_back((tag, request));
            }
            plug.take(request.op);
        }
        drive.submit(now, tag, request);
    }

    /// Notes that a request was completed, and submits what waited for that.
    pub fn completed(&mut self, drive: &mut dyn Drive, now: Nanos, request: &Request) {
        let Some(plug) = self.plug(request) else { return };
        match request.op {
            Op::Append => plug.appends -= 1,
            _ => plug.is_taken = false,
        }
        while let Some(&(tag, request)) = plug.waiting.front().filter(|(_, request)| plug.admits(request.op)) {
            plug.waiting.pop_front();
            plug.take(request.op);
            drive.submit(now, tag, request);
        }
    }
}
