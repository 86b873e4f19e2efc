//! What a host does with requests to a simulated drive that has zones: writes go where zones want them, one at a time in
//! each.

use block::{Bytes, Nanos, Request, Tag};
use drive::Drive;
use workload::{Workload, ZoneStep};

use crate::zone_plug::{ZoneMisfit, ZonePlugs};

/// The account of a drive's zones, and the requests that wait for them.
pub(crate) struct ZoneTraffic(ZonePlugs<Tag>);

impl ZoneTraffic {
    /// The zones of this drive; none if it has none.
    pub fn of(drive: &dyn Drive) -> Option<Self> {
        Some(Self(ZonePlugs::new(&drive.zones(), drive.zone_limits()?)))
    }

    /// As [`ZonePlugs::add`].
    pub fn add(&mut self, workload: &Workload, span: (Bytes, Bytes)) -> Result<Option<Bytes>, ZoneMisfit> {
        self.0.add(workload, span)
    }

    /// What comes of a worker's next request.
    pub fn step(&mut self, job: u32, worker: u32, request: Request) -> ZoneStep {
        self.0.step(job, worker, request)
    }

    /// As [`ZonePlugs::found_no_data`].
    pub fn found_no_data(&self, job: u32) -> bool {
        self.0.found_no_data(job)
    }

    /// Submits a request, at once or when its zone's turn has come.
    pub fn submit(&mut self, drive: &mut dyn Drive, now: Nanos, tag: Tag, request: Request) {
        if self.0.enter(tag, request) {
            drive.submit(now, tag, request);
        }
    }

    /// Notes that a request was completed, and submits what waited for that.
    pub fn completed(&mut self, drive: &mut dyn Drive, now: Nanos, request: &Request) {
        for (tag, request) in self.0.leave(request) {
            drive.submit(now, tag, request);
        }
    }
}
