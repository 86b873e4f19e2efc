//! A workload in fio's options.

use block::{Bytes, Nanos};
use engine::{Clock, Measurement, Method};
use workload::{Workload, amount};

use super::{Keys, Single};

/// What is the job's alone: its name and where it runs.
const OWN: [&str; 2] = ["name", "filename"];

/// The workload as fio's options, which are text.
pub(super) fn options(single: &Single) -> Keys<&'static str, String> {
    let Measurement { workload, clock, cpu, .. } = single.measurement;
    let by_threads = cpu.and_then(|cpu| cpu.handover).is_some_and(|handover| handover.method == Method::Threads);
    let &Workload { pattern, queue_depth, workers, offset, size, stop, ramp, .. } = workload;
    let engine = match clock {
        Clock::Virtual => "simulated",
        Clock::Real if by_threads => "psync",
        Clock::Real => "io_uring",
    };
    let mut options = vec![
        ("name", single.name.to_owned()),
        ("filename", single.target.to_owned()),
        ("ioengine", engine.to_owned()),
        ("rw", workload.rw()),
        ("iodepth", queue_depth.to_string()),
        ("numjobs", workers.to_string()),
        ("randseed", single.seed.to_string()),
    ];
    options.extend((*clock == Clock::Real).then(|| ("direct", u8::from(single.direct).to_string())));
    options.push(("bs", sizes(workload, amount)));
    options.extend(workload.options());
    if pattern.is_mixed() {
        options.push(("rwmixread", workload.read_percent.to_string()));
        options.push(("rwmixwrite", (100 - workload.read_percent).to_string()));
    }
    options.extend((offset > Bytes::ZERO).then(|| ("offset", amount(offset))));
    options.extend(size.map(|size| ("size", amount(size))));
    options.extend(stop.time.map(|time| ("runtime", duration(time))));
    let by_time = stop.time.is_some() && stop.bytes.is_none() && stop.requests.is_none();
    options.extend(by_time.then(|| ("time_based", "1".to_owned())));
    options.extend((ramp > Nanos::ZERO).then(|| ("ramp_time", duration(ramp))));
    options.extend(stop.requests.map(|requests| ("number_ios", requests.to_string())));
    let each = |bytes: Bytes| amount(Bytes::new(bytes.get() / u64::from(workers.max(1))));
    options.extend(stop.bytes.map(|bytes| ("io_size", each(bytes))));
    Keys(options)
}

/// The same as a `[global]` section has them, where CBT looks.
///
/// It takes the last letter off `bs` to have a number of bytes, so here that is `4096B`, which fio reads as well.
pub(super) fn global(single: &Single) -> Keys<&'static str, String> {
    let in_bytes = |bytes: Bytes| format!("{}B", bytes.get());
    let of = |(name, value)| match name {
        "bs" => (name, sizes(&single.measurement.workload, in_bytes)),
        _ => (name, value),
    };
    Keys(options(single).0.into_iter().filter(|(name, _)| !OWN.contains(name)).map(of).collect())
}

/// The size of a request; where there are several, from the least to the largest, for fio-plot does not draw without.
fn sizes(workload: &Workload, amount: impl Fn(Bytes) -> String) -> String {
    let all = || workload.ops().iter().flat_map(|&op| workload.sizes_of(op)).map(|entry| entry.size);
    let least = all().min().expect("every pattern makes requests");
    let largest = workload.block_max();
    if least == largest { amount(least) } else { format!("{}-{}", amount(least), amount(largest)) }
}

/// A time as fio's users write it: `10`, `500ms`, `7us`.
fn duration(time: Nanos) -> String {
    match time.as_nanos() / 1000 {
        us if us % 1_000_000 == 0 => (us / 1_000_000).to_string(),
        us if us % 1000 == 0 => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_users_of_fio_write_them() {
        assert_eq!(
            [512, 4096, 6000, 1 << 20, 3 << 30].map(|bytes| amount(Bytes::new(bytes))),
            ["512", "4k", "6000", "1m", "3g"]
        );
        assert_eq!([10_000_000, 1_500_000, 7].map(|us| duration(Nanos::from_micros(us))), ["10", "1500ms", "7us"]);
    }

    #[test]
    fn several_sizes_are_told_from_the_least_to_the_largest() {
        let sized = |text: &str| sizes(&Workload { sizes: Some(text.parse().unwrap()), ..Workload::default() }, amount);
        assert_eq!(sized("64k/10:512/90"), "512-64k");
        assert_eq!(sized("8k/100,4k/100"), "8k", "it reads alone");
    }
}
