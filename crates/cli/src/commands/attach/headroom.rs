//! Whether the way to an attached drive leaves room for the drive's own time.

use attach::PathOverhead;
use block::{Bytes, Nanos, Seed};
use drive::Device;
use workload::{Pattern, Stop, Workload};

use crate::failure::Failure;

/// The least time a drive is seen to take, in virtual time: medians of 4 KiB at queue depth 1.
#[derive(Clone, Copy, Debug)]
pub struct Quickest {
    read: Nanos,
    write: Nanos,
}

impl Quickest {
    /// What `drive` takes as it is now. It is tried on a copy, which reads what it wrote before: what was never written
    /// is no work.
    pub fn of(drive: &Device) -> Result<Self, Failure> {
        let mut copy = drive.clone();
        let size = Bytes::from_mib(1);
        let mut median = |pattern| -> Result<Nanos, Failure> {
            let workload = Workload {
                pattern,
                block: Bytes::from_kib(4),
                size: Some(size),
                queue_depth: 1,
                stop: Stop::after_bytes(size),
                ..Workload::default()
            };
            let measured = engine::run_virtual(&mut copy, &workload, Seed::new(1)).map_err(Failure::failed)?;
            let flow = if pattern == Pattern::Write { measured.write } else { measured.read };
            Ok(flow.latency.percentile(50.0))
        };
        let write = median(Pattern::Write)?;
        Ok(Self { read: median(Pattern::RandRead)?, write })
    }

    /// What there is to say if at this speed the drive answers before the way is over; nothing otherwise.
    pub fn warning(self, floor: PathOverhead, speed: f64) -> Option<String> {
        let share = |own: Nanos, way: Nanos| own.as_nanos() as f64 / way.as_nanos().max(1) as f64;
        let [read, write] = [share(self.read, floor.read), share(self.write, floor.write)];
        let [per_read, per_write] = [self.read, self.write].map(|own| scaled(own, speed));
        let (what, times, others) = match (read < speed, write < speed) {
            (false, false) => return None,
            (true, true) => ("Reads and writes", format!("{per_read} and {per_write}"), ""),
            (true, false) => ("Reads", per_read.to_string(), "; writes do not"),
            (false, true) => ("Writes", per_write.to_string(), "; reads do not"),
        };
        let slow = rounded_down(read.min(write));
        Some(format!(
            "{what} of the drive are faster than the attachment at queue depth 1 ({times} at --speed={speed}) and appear slower \
             than they are{others}. Use --speed={slow}, multiply measured times by that and divide rates by it."
        ))
    }
}

fn scaled(time: Nanos, speed: f64) -> Nanos {
    Nanos::from_nanos((time.as_nanos() as f64 / speed) as u64)
}

/// The next number below with one digit that is not zero, so that the floor may vary a little.
fn rounded_down(share: f64) -> f64 {
    let unit = 10_f64.powf(share.log10().floor());
    ((share / unit).floor() * unit * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use drive::preset::Preset;

    use super::*;

    const WAY: PathOverhead = PathOverhead { read: Nanos::from_micros(45), write: Nanos::from_micros(50) };

    #[test]
    fn a_drive_that_is_slower_than_the_way_is_no_matter() {
        let disk = Quickest::of(&Preset::find("st320lt020").unwrap().build()).unwrap();
        assert_eq!(disk.warning(WAY, 1.0), None);
    }

    #[test]
    fn a_drive_that_is_faster_than_the_way_is_told_with_the_speed_that_would_do() {
        let quick = Quickest { read: Nanos::from_micros(80), write: Nanos::from_micros(12) };
        let said = quick.warning(WAY, 1.0).unwrap();
        assert!(said.contains("12 µs") && said.contains("--speed=0.2,"), "{said}");
        assert_eq!(quick.warning(WAY, 0.2), None, "at that speed there is room");
        assert!(quick.warning(WAY, 0.5).unwrap().contains("24 µs"), "as it is seen at that speed");
    }

    #[test]
    fn what_is_faster_than_the_way_is_told_and_what_is_not_is_left_out() {
        for (read, write, start, words) in [
            (
                80,
                12,
                "Writes of the drive are faster than the attachment at queue depth 1 (12 µs at",
                "; reads do not.",
            ),
            (
                10,
                90,
                "Reads of the drive are faster than the attachment at queue depth 1 (10 µs at",
                "; writes do not.",
            ),
            (10, 12, "Reads and writes of the drive are faster than the attachment", "10 µs and 12 µs at --speed=1"),
        ] {
            let [read, write] = [read, write].map(Nanos::from_micros);
            let said = Quickest { read, write }.warning(WAY, 1.0).unwrap();
            assert!(said.starts_with(start) && said.contains(words), "{said}");
        }
    }

    #[test]
    fn reads_are_timed_where_something_was_written() {
        let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
        let quickest = Quickest::of(&drive).unwrap();
        assert!(quickest.read > Nanos::from_micros(85) && quickest.read < Nanos::from_micros(300), "{quickest:?}");
    }
}
