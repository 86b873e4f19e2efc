//! What the drive itself had to do, in fio's words.

use block::Nanos;
use measurement::Flow;
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
    /// The simulated drive. A real one's counters are not read, and how long a simulated one was idle is known only
    /// where each request follows on the one before: in both cases there is none.
    pub(super) fn of(single: &Single<'a>) -> Vec<Self> {
        let Some(name) = single.target.strip_prefix("sim:") else { return Vec::new() };
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
}

/// How long requests took together.
fn ticks(flow: &Flow) -> u64 {
    (flow.latency.mean() * flow.latency.count() as f64 / 1e6) as u64
}
