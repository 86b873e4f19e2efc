//! How fast a job's requests come.

use block::{Bytes, Nanos, Op};
use workload::{ArrivalProcess, Workload};

use super::given::FioOption;
use super::reading::{Each, FioDirection, OptionReader};

/// Sets the rate at which requests come, or the pauses between them.
pub(super) fn set(reading: &OptionReader, towards: FioDirection, workload: &mut Workload) {
    // A mix of one kind alone has no other's rate.
    let towards = match (towards, workload.read_percent) {
        (FioDirection::Mixed, 100) => FioDirection::Read,
        (FioDirection::Mixed, 0) => FioDirection::Write,
        _ => towards,
    };
    if let Some(given) = reading.option("rate_iops") {
        workload.arrival.rate = requests(reading, given, towards, workload);
    }
    match reading.option("rate") {
        Some(given) if workload.arrival.is_open() => reading.tell(given.lost("the job uses only `rate_iops`")),
        Some(given) => workload.arrival.bandwidth = bandwidth(reading, given, towards, workload),
        None => {}
    }
    let is_open = workload.arrival.is_open();
    if is_open {
        workload.arrival.process = process(reading);
    }
    let think = reading.time("thinktime", 1e3).unwrap_or_default();
    match reading.option("thinktime").filter(|_| think > Nanos::ZERO) {
        Some(given) if is_open => reading.tell(given.lost("requests come at their rate, without pauses")),
        Some(_) => {
            workload.arrival.think = think;
            workload.arrival.burst = reading.small("thinktime_blocks").unwrap_or(1);
        }
        None => {}
    }
}

fn process(reading: &OptionReader) -> ArrivalProcess {
    match reading.word("rate_process", &["linear", "poisson"]) {
        Some("poisson") => ArrivalProcess::Poisson,
        _ => ArrivalProcess::Linear,
    }
}

/// The rates of both directions together, which are so many requests of each. fio keeps each by itself, so that they decide the
/// mix, too.
fn together(
    reading: &OptionReader,
    given: &FioOption,
    each: Each<f64>,
    requests: Each<f64>,
    towards: FioDirection,
    workload: &mut Workload,
) -> f64 {
    if towards != FioDirection::Mixed {
        return each.of(towards).0;
    }
    if each.reads == 0.0 || each.writes == 0.0 {
        reading.tell(given.lost(
            "reads and writes are limited together or not at all; here they are not, and have their shares of the mix",
        ));
        return 0.0;
    }
    let percent = 100.0 * requests.reads / (requests.reads + requests.writes);
    if (percent - f64::from(workload.read_percent)).abs() > 0.5 {
        workload.read_percent = percent.round() as u8;
    }
    if (percent - f64::from(workload.read_percent)).abs() > 0.01 * percent.min(100.0 - percent) {
        let share = workload.read_percent;
        reading.tell(given.lost(format!("{share} % of requests are reads; by these rates {percent:.2} % are")));
    }
    each.reads + each.writes
}

/// `rate_iops`: requests of each clone in a second.
fn requests(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &mut Workload) -> u32 {
    let read = |given: &FioOption, text: &str| reading.number(given, text).map(|number| number as f64);
    let Some(each) = reading.each(given.known.name, 0.0, read) else { return 0 };
    let rate = together(reading, given, each, each, towards, workload);
    if rate > 1e9 {
        reading.tell(given.bad("more than 1e9 IOPS is out of range; leave it out"));
        return 0;
    }
    rate.round() as u32
}

/// `rate`: bytes of each clone in a second.
fn bandwidth(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &mut Workload) -> Bytes {
    let read = |given: &FioOption, text: &str| reading.size(given, text).map(|size| size.get() as f64);
    let Some(each) = reading.each(given.known.name, 0.0, read) else { return Bytes::ZERO };
    let mean = |op| {
        let sizes = workload.sizes_of(op).into_iter();
        let sum: f64 = sizes.map(|entry| entry.size.get() as f64 * f64::from(entry.percent)).sum();
        (sum / 100.0).max(1.0)
    };
    let requests = Each {
        reads: each.reads / mean(Op::Read),
        writes: each.writes / mean(Op::Write),
        trims: each.trims / mean(Op::Trim),
    };
    Bytes::new(together(reading, given, each, requests, towards, workload) as u64)
}
