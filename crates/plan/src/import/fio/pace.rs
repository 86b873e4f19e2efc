//! How fast a job's requests come.

use block::{Nanos, Op};
use workload::{ArrivalProcess, Workload};

use super::given::FioOption;
use super::reading::{Each, FioDirection, OptionReader};

/// Sets the rate at which requests come, or the pauses between them.
pub(super) fn set(reading: &OptionReader, towards: FioDirection, workload: &mut Workload) {
    let rate = match (reading.option("rate_iops"), reading.option("rate")) {
        (Some(given), other) => {
            let rate = requests(reading, given, towards, workload);
            if let Some(other) = other.filter(|_| rate > 0) {
                reading.tell(other.lost("the job uses only `rate_iops`"));
            }
            rate
        }
        (None, Some(given)) => bytes(reading, given, towards, workload),
        (None, None) => 0,
    };
    workload.arrival.rate = rate;
    if rate > 0 {
        workload.arrival.process = process(reading);
    }
    let think = reading.time("thinktime", 1e3).unwrap_or_default();
    match reading.option("thinktime").filter(|_| think > Nanos::ZERO) {
        Some(given) if rate > 0 => reading.tell(given.lost("requests come at their rate, without pauses")),
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

/// The rates of both directions together, each of which fio keeps by itself.
fn together(
    reading: &OptionReader,
    given: &FioOption,
    each: Each<f64>,
    towards: FioDirection,
    workload: &Workload,
) -> f64 {
    if towards != FioDirection::Mixed {
        return each.of(towards).0;
    }
    let sum = each.reads + each.writes;
    let share = f64::from(workload.read_percent) / 100.0;
    if each.reads == 0.0 || each.writes == 0.0 {
        reading.tell(given.lost(
            "reads and writes are limited together or not at all; here they are not, and have their shares of the mix",
        ));
        return 0.0;
    }
    if (each.reads - sum * share).abs() > 0.005 * sum {
        reading.tell(given.lost(format!("the job runs at {sum:.0} IOPS in total, reads in their share of the mix")));
    }
    sum
}

/// `rate_iops`: requests of each clone in a second.
fn requests(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &Workload) -> u32 {
    let read = |given: &FioOption, text: &str| reading.number(given, text).map(|number| number as f64);
    let Some(each) = reading.each(given.known.name, 0.0, read) else { return 0 };
    within(reading, given, together(reading, given, each, towards, workload))
}

/// `rate`: bytes of each clone in a second, turned into requests of the mean size.
fn bytes(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &Workload) -> u32 {
    let read = |given: &FioOption, text: &str| reading.size(given, text).map(|size| size.get() as f64);
    let Some(each) = reading.each(given.known.name, 0.0, read) else { return 0 };
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
    let exact = together(reading, given, requests, towards, workload);
    if exact > 0.0 && exact < 1.0 {
        reading.tell(given.lost("that is less than 1 IOPS, so the job runs without a limit"));
        return 0;
    }
    let rate = exact.round();
    if (rate - exact).abs() > 1e-9 * exact {
        reading.tell(given.lost(format!("that is {exact:.3} IOPS, rounded to {rate:.0}")));
    }
    within(reading, given, rate)
}

fn within(reading: &OptionReader, given: &FioOption, rate: f64) -> u32 {
    if rate > 1e9 {
        reading.tell(given.bad("more than 1e9 IOPS is out of range; leave it out"));
        return 0;
    }
    rate.round() as u32
}
