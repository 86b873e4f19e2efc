//! One measurement for people, within 80 columns.

use block::{Bytes, Nanos};
use measurement::{Clock, Flow, Measurement, Settling};
use plan::Metric;
use workload::{Pattern, Workload};

use super::Single;
use crate::number::{capital, count, latency, percent, three, whole};
use crate::wrap::wrapped;
use crate::{energy, replay};

const WIDTH: u16 = 80;

/// The measurement as a page of text: what was asked of what, a table of figures, doubts.
///
/// Ends with a line feed. No line is longer than 80 columns, unless a single word is.
pub fn text(single: &Single) -> String {
    let measurement = single.measurement;
    let mut lines = wrapped(single.target, WIDTH);
    let asked = [words(&measurement.workload), took(measurement)];
    lines.extend(wrapped(&asked.join(", "), WIDTH));
    lines.push(String::new());
    lines.extend(table(single));
    let replayed = measurement.workload.replay.as_ref().and_then(replay::passed_over);
    // Where it is not steady, a finding says so.
    let settling = measurement.settling().filter(Settling::is_attained);
    let remarks = [
        replayed,
        settling.map(|settling| settling.sentence()),
        service(measurement),
        processor(measurement),
        verified(measurement),
        energy::sentence(measurement),
        limit(measurement),
        wear(measurement),
    ];
    for remark in remarks.into_iter().flatten() {
        lines.push(String::new());
        lines.extend(wrapped(&remark, WIDTH));
    }
    for finding in single.findings {
        lines.push(String::new());
        lines.extend(wrapped(&format!("Finding: {finding}"), WIDTH));
    }
    lines.join("\n") + "\n"
}

/// `4 KiB random reads, queue depth 32, 1 worker, over 1 GiB from 512 MiB`.
fn words(workload: &Workload) -> String {
    let size = workload.size.map_or_else(String::new, |size| format!(", over {size}"));
    let offset = if workload.offset > Bytes::ZERO { format!(", from {}", workload.offset) } else { String::new() };
    let details: String = workload.details().iter().map(|detail| format!(", {detail}")).collect();
    if let Some(replayed) = &workload.replay {
        let depth = format!("queue depth {}", workload.queue_depth);
        return format!("{}{details}, {depth}{size}{offset}", capital(&replay::words(replayed)));
    }
    let requests = match workload.pattern {
        Pattern::Read => "sequential reads",
        Pattern::Write => "sequential writes",
        Pattern::Trim => "sequential trims",
        Pattern::RandRead => "random reads",
        Pattern::RandWrite => "random writes",
        Pattern::RandTrim => "random trims",
        Pattern::ReadWrite => "sequential reads and writes",
        Pattern::RandRw => "random reads and writes",
    };
    let mix = if workload.pattern.is_mixed() { format!(" ({} % reads)", workload.read_percent) } else { String::new() };
    let workers = count(workload.workers as usize, "worker");
    // A single size stands before its noun, several behind it.
    let (before, behind) = match workload.sizes {
        None => (format!("{} ", workload.block), String::new()),
        Some(_) => (String::new(), format!(", {}", workload.sizes_shown())),
    };
    let depth = workload.queue_depth;
    format!("{before}{requests}{mix}{behind}{details}, queue depth {depth}, {workers}{size}{offset}")
}

fn took(measurement: &Measurement) -> String {
    let clock = match measurement.clock {
        Clock::Virtual => "of simulated time",
        Clock::Real => "in real time",
    };
    format!("{} {clock}", measurement.elapsed)
}

/// A row for each kind of requests, and one for all where there are several.
fn table(single: &Single) -> Vec<String> {
    let measurement = single.measurement;
    let used = single.flows().into_iter().filter(|(_, flow)| flow.requests > 0);
    let mut rows: Vec<(&str, Flow)> = used.map(|(name, flow)| (plural(name), flow.clone())).collect();
    if rows.is_empty() {
        return vec!["No request completed.".to_owned()];
    }
    if rows.len() > 1 {
        let (requests, bytes) = (measurement.requests(), measurement.bytes());
        rows.push(("all", Flow { requests, bytes, latency: measurement.latency(), service: None }));
    }
    // Flushes move no data and are no part of the whole.
    let flush = &measurement.flush;
    rows.extend((flush.requests > 0).then(|| ("flush", flush.clone())));
    let mut lines = vec![
        format!("{:6}{:>18}{:>42}", "", "more is better", "latency: less is better"),
        line("", ["IOPS", "MB/s", "mean", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "max"].map(str::to_owned)),
    ];
    lines.extend(rows.iter().map(|(name, flow)| row(single, name, flow)));
    lines
}

fn plural(direction: &str) -> &'static str {
    match direction {
        "read" => "reads",
        "write" => "writes",
        _ => "trims",
    }
}

fn row(single: &Single, name: &str, flow: &Flow) -> String {
    let bins = &flow.latency;
    // A percentile that so few requests cannot tell from the maximum is no figure.
    let tail = |metric: Metric, percent| match flow.requests >= metric.requests_needed() {
        true => latency(bins.percentile(percent).as_micros_f64()),
        false => "–".to_owned(),
    };
    let figures = [
        rate(single.per_second(flow.requests)),
        three(single.per_second(flow.bytes.get()) / 1e6),
        latency(bins.mean() / 1e3),
        latency(bins.percentile(50.0).as_micros_f64()),
        tail(Metric::Latency90, 90.0),
        tail(Metric::Latency99, 99.0),
        tail(Metric::Latency999, 99.9),
        tail(Metric::Latency9999, 99.99),
        latency(bins.max().as_micros_f64()),
    ];
    line(name, figures)
}

/// `128,000`, `49.9 M`: what fits its column.
fn rate(iops: f64) -> String {
    if iops < 1e7 { three(iops) } else { format!("{} M", three(iops / 1e6)) }
}

fn line(name: &str, [iops, rate, times @ ..]: [String; 9]) -> String {
    let times: String = times.iter().map(|time| format!(" {time:>7}")).collect();
    format!("{name:6} {iops:>9} {rate:>7}{times}")
}

/// Latencies from submission, where those of the table count from when requests came.
fn service(measurement: &Measurement) -> Option<String> {
    let service = measurement.service()?;
    let percentile = |percent| latency(service.percentile(percent).as_micros_f64());
    Some(format!(
        "Latency counts from the arrival of a request. From its submission: mean {}, median {}, 99 % {}, maximum {}.",
        latency(service.mean() / 1e3),
        percentile(50.0),
        percentile(99.0),
        latency(service.max().as_micros_f64())
    ))
}

/// That data was checked and found whole; damage is a finding.
fn verified(measurement: &Measurement) -> Option<String> {
    let verified = measurement.verified.as_ref().filter(|verified| verified.damaged == 0)?;
    Some(format!("Data verified: {} blocks, no mismatch.", whole(verified.checked)))
}

fn processor(measurement: &Measurement) -> Option<String> {
    let cpu = measurement.cpu.as_ref().filter(|_| measurement.elapsed > Nanos::ZERO)?;
    let share = |time: Nanos| percent(time.as_secs_f64() / measurement.elapsed.as_secs_f64());
    let requests = measurement.requests().max(1) as f64;
    let handed =
        cpu.handover.map_or(String::new(), |handover| format!(" Requests were submitted by {}.", handover.method));
    let waiting =
        if measurement.workload.is_closed() { "" } else { " Active waiting for requests to be due is included." };
    Some(format!(
        "CPU: {} of one core in user mode, {} in the kernel; {} per request, with {} context switches ({} of them \
         involuntary).{waiting}{handed}",
        share(cpu.user),
        share(cpu.system),
        latency(cpu.total().as_micros_f64() / requests),
        three((cpu.switches_voluntary + cpu.switches_involuntary) as f64 / requests),
        three(cpu.switches_involuntary as f64 / requests),
    ))
}

/// What held a simulated rig up.
fn limit(measurement: &Measurement) -> Option<String> {
    let limit = measurement.drive?.limit(measurement.elapsed)?;
    Some(format!("Bottleneck: {limit}."))
}

fn wear(measurement: &Measurement) -> Option<String> {
    let written = measurement.drive?.write_amplification()?;
    let told = match written < 1.0 {
        true => "less than 1, as data was compressed or is in the write buffer still",
        false => "1 is ideal, less is better",
    };
    Some(format!("Write amplification: {} ({told}).", three(written)))
}

#[cfg(test)]
mod tests {
    use block::{Op, Seed};
    use drive::Counters;
    use workload::Stop;

    use super::super::tests::{mixed, nothing, single};
    use super::*;

    #[test]
    fn what_is_still_in_the_write_buffer_is_no_good_amplification() {
        let told = |programmed| {
            let page = block::Bytes::from_kib(4);
            let drive =
                Counters { page, host_written: page.times(100), pages_programmed: programmed, ..Counters::default() };
            wear(&Measurement { drive: Some(drive), ..nothing() }).unwrap()
        };
        assert_eq!(told(150), "Write amplification: 1.50 (1 is ideal, less is better).");
        let less = "less than 1, as data was compressed or is in the write buffer still";
        assert_eq!([told(0), told(96)], [0.0, 0.96].map(|of| format!("Write amplification: {} ({less}).", three(of))));
    }

    #[test]
    fn a_mixed_run_on_a_file_fits_a_screen() {
        let expected = "\
./scratch.bin
4 KiB random reads and writes (67 % reads), queue depth 32, 2 workers, over
1 GiB, from 1 MiB, 2 s in real time

          more is better                   latency: less is better
            IOPS    MB/s    mean    50 %    90 %    99 %  99.9 % 99.99 %     max
reads      2,000    8.19  102 µs  100 µs  100 µs  100 µs  100 µs       – 5.00 ms
writes     1,000    4.10  250 µs  250 µs  250 µs  250 µs  250 µs       –  250 µs
all        3,000    12.3  152 µs  100 µs  250 µs  250 µs  250 µs       – 5.00 ms

CPU: 5.0 % of one core in user mode, 15 % in the kernel; 66.7 µs per request,
with 1.50 context switches (0.500 of them involuntary). Requests were submitted
by io_uring.

Write amplification: 1.50 (1 is ideal, less is better).

Finding: The host was busy, so it says.

Finding: Not \"steady\".
";
        assert_eq!(text(&single(&mixed())), expected);
    }

    #[test]
    fn processor_time_at_a_rate_is_told_with_the_waiting() {
        let said = |rate| {
            let mut measurement = mixed();
            measurement.workload.arrival.rate = rate;
            processor(&measurement).unwrap().contains("waiting for requests to be due is included")
        };
        assert!(said(100) && !said(0));
    }

    /// Ten thousand reads in a second, all of 800 µs but one of 12 ms.
    #[test]
    fn reads_of_a_simulated_drive_fit_a_screen() {
        let workload =
            Workload { pattern: Pattern::RandRead, stop: Stop::after_requests(10_000), ..Workload::default() };
        let mut measurement = Measurement::new(workload, Seed::new(1), Clock::Virtual);
        for i in 1..=10_000 {
            let latency = if i == 9 { Nanos::from_millis(12) } else { Nanos::from_micros(800) };
            measurement.record(Op::Read, Bytes::from_kib(4), Nanos::from_micros(100).times(i), latency);
        }
        measurement.drive = Some(Counters::default());
        let expected = "\
sim:x25-m
4 KiB random reads, queue depth 1, 1 worker, 1 s of simulated time

          more is better                   latency: less is better
            IOPS    MB/s    mean    50 %    90 %    99 %  99.9 % 99.99 %     max
reads     10,000    41.0  801 µs  800 µs  800 µs  800 µs  800 µs  800 µs 12.0 ms
";
        assert_eq!(text(&Single { target: "sim:x25-m", findings: &[], ..single(&measurement) }), expected);
    }

    #[test]
    fn every_line_fits_eighty_columns_whatever_is_measured() {
        let mut measurement = mixed();
        measurement.workload.block = Bytes::from_kib(1_023);
        measurement.workload.workers = 65_536;
        (measurement.write.requests, measurement.write.bytes) = (99_900_000, Bytes::from_gib(400));
        measurement.write.latency.record(Nanos::from_secs(3_599));
        let findings = ["Long word after long word, ".repeat(30)];
        let text = text(&Single { findings: &findings, ..single(&measurement) });
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest} columns:\n{text}");
        assert!(text.contains("over 1 GiB, from 1 MiB"), "{text}");
    }

    #[test]
    fn nothing_measured_is_said_and_never_shown_as_zero() {
        let measurement = nothing();
        let text = text(&Single { findings: &[], ..single(&measurement) });
        assert!(text.ends_with("\n\nNo request completed.\n"), "{text}");
    }

    #[test]
    fn every_pattern_has_its_words() {
        for (_, pattern) in Pattern::ALL {
            let words = words(&Workload { pattern, ..Workload::default() });
            assert_eq!(words.contains("random"), pattern.is_random(), "{words}");
            assert_eq!(words.contains("(50 % reads)"), pattern.is_mixed(), "{words}");
            assert_eq!(words.contains("reads"), !pattern.changes_data() || pattern.is_mixed(), "{words}");
        }
    }
}
