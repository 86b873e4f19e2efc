//! What the drive itself had to do, in fio's words.

use block::Nanos;
use measurement::{DiskUse, Flow};
use serde::Serialize;

use super::Single;

/// A drive as Linux counts its requests; times are in milliseconds.
#[derive(Serialize)]
pub(super) struct Disk<'a> {
    name: &'a str,
    read_ios: u64,
    write_ios: u64,
    read_merges: u64,
    write_merges: u64,
    read_ticks: u64,
    write_ticks: u64,
    in_queue: u64,
    util: f64,
}

impl<'a> Disk<'a> {
    /// The devices beneath a real target, or the simulated drive. How long that was idle is known only where each request
    /// follows on the one before; there is none otherwise.
    pub(super) fn of(single: &Single<'a>) -> Vec<Self> {
        let Some(name) = single.target.strip_prefix("sim:") else {
            return single.measurement.cpu.iter().flat_map(|cpu| &cpu.disks).map(Self::real).collect();
        };
        let measurement = single.measurement;
        let arrival = &measurement.workload.arrival;
        let pauses = arrival.is_open() || arrival.think > Nanos::ZERO;
        if pauses || measurement.drive.is_none() || measurement.requests() == 0 {
            return Vec::new();
        }
        let (read_ticks, write_ticks) = (ticks(&measurement.read), ticks(&measurement.write));
        vec![Self {
            name,
            read_ios: measurement.read.requests,
            write_ios: measurement.write.requests,
            // Nothing between the workload and a simulated drive puts requests together.
            read_merges: 0,
            write_merges: 0,
            read_ticks,
            write_ticks,
            in_queue: read_ticks + write_ticks + ticks(&measurement.trim) + ticks(&measurement.flush),
            util: 100.0,
        }]
    }

    fn real(disk: &'a DiskUse) -> Self {
        let millis = |time: Nanos| time.as_nanos() / 1_000_000;
        Self {
            name: &disk.name,
            read_ios: disk.reads,
            write_ios: disk.writes,
            read_merges: disk.reads_merged,
            write_merges: disk.writes_merged,
            read_ticks: millis(disk.read_time),
            write_ticks: millis(disk.write_time),
            in_queue: millis(disk.queued),
            util: disk.busy_percent(),
        }
    }
}

impl Disk<'_> {
    /// Its line below `Disk stats (read/write):`.
    pub(super) fn line(&self) -> String {
        let Self { name, read_ios, write_ios, read_merges, write_merges, read_ticks, write_ticks, in_queue, util } =
            self;
        format!(
            "  {name}: ios={read_ios}/{write_ios}, merge={read_merges}/{write_merges}, \
             ticks={read_ticks}/{write_ticks}, in_queue={in_queue}, util={util:3.2}%\n"
        )
    }

    /// Its fields of terse output.
    pub(super) fn terse(&self) -> String {
        let Self { name, read_ios, write_ios, read_merges, write_merges, read_ticks, write_ticks, in_queue, util } =
            self;
        format!(
            ";{name};{read_ios};{write_ios};{read_merges};{write_merges};{read_ticks};{write_ticks};{in_queue};{util:3.2}%"
        )
    }
}

/// How long requests took together.
fn ticks(flow: &Flow) -> u64 {
    (flow.latency.mean() * flow.latency.count() as f64 / 1e6) as u64
}
