//! What is swept as an axis: its values, their labels, and where ticks go.

use lab::CellOutcome;
use lab::plan::{Axis, Field, profile};
use workload::{Pattern, Process, Workload};

use crate::number::three;
use crate::replay;

/// The value of `axis` as a number; none where it has no order.
pub(crate) fn value(axis: &Axis, cell: &CellOutcome) -> Option<f64> {
    match axis {
        Axis::Field(field) => value_of(*field, &cell.workload),
        Axis::Part(_) => amount(written(axis, cell)),
        Axis::Job => None,
    }
}

/// The value of `axis` as on an axis or in a table: `4 KiB`, `32`, `random read`.
pub(crate) fn label(axis: &Axis, cell: &CellOutcome) -> String {
    match axis {
        Axis::Field(field) => label_of(*field, &cell.workload),
        Axis::Part(_) | Axis::Job => written(axis, cell).to_owned(),
    }
}

/// The value of `axis` in a line's name, where no axis says what it is: `depth 32`, `4 workers`, `nand.read 25us`.
pub(crate) fn words(axis: &Axis, cell: &CellOutcome) -> String {
    match axis {
        Axis::Field(field) => words_of(*field, &cell.workload),
        Axis::Part(path) => {
            let name = path.strip_prefix("drive.").or_else(|| path.strip_prefix("rig.")).unwrap_or(path);
            format!("{name} {}", written(axis, cell))
        }
        Axis::Job => written(axis, cell).to_owned(),
    }
}

/// The title of `axis` with the unit of its [`value`]s, as a column of data is headed: `Block size (B)`.
pub(crate) fn head(axis: &Axis) -> String {
    let unit = match axis.field() {
        Some(Field::Bs | Field::Blockalign | Field::Size | Field::Offset | Field::IoSize) => " (B)",
        Some(Field::Thinktime | Field::Runtime | Field::RampTime) => " (s)",
        _ => "",
    };
    format!("{}{unit}", axis.title())
}

/// What the plan gives `axis` in this cell.
fn written<'c>(axis: &Axis, cell: &'c CellOutcome) -> &'c str {
    cell.point.iter().find(|(other, _)| other == axis).map_or("", |(_, text)| text)
}

/// The amount that a part's value is, whatever its unit; none where it is a word.
fn amount(text: &str) -> Option<f64> {
    let number = || text.trim().parse().ok();
    let percent = || text.trim().strip_suffix('%')?.trim().parse().ok();
    let time = || block::parse_duration(text).ok().map(|time| time.as_secs_f64());
    let rate = || text.trim().strip_suffix("/s").and_then(|amount| block::parse_bytes(amount.trim()).ok());
    let bytes = || rate().or_else(|| block::parse_bytes(text).ok()).map(|bytes| bytes.get() as f64);
    number().or_else(percent).or_else(bytes).or_else(time)
}

/// The value of `field` as a number; none where it has no order.
fn value_of(field: Field, workload: &Workload) -> Option<f64> {
    let stop = &workload.stop;
    match field {
        Field::Profile | Field::Rw | Field::Bssplit | Field::RandomDistribution => None,
        Field::ZeroBuffers | Field::Sync | Field::RateProcess | Field::Norandommap | Field::Sprandom => None,
        Field::Verify | Field::DoVerify | Field::VerifyOnly | Field::VerifyFatal => None,
        Field::ReadIolog | Field::ReplayNoStall | Field::ReplayThink => None,
        Field::ReplayTimeScale => workload.replay.as_ref()?.pace.percent().map(f64::from),
        Field::ReplayScale => workload.replay.as_ref().map(|replay| f64::from(replay.scale)),
        Field::Bs => Some(workload.block.get() as f64),
        Field::Iodepth => Some(f64::from(workload.queue_depth)),
        Field::Numjobs => Some(f64::from(workload.workers)),
        Field::Rwmixread => Some(f64::from(workload.reads())),
        Field::PercentageRandom => Some(f64::from(workload.random_percent)),
        Field::SprOp => workload.sprandom.map(|spare| spare.share() * 100.0),
        Field::Blockalign => workload.align.map(|align| align.get() as f64),
        Field::BufferCompressPercentage => Some(f64::from(workload.compressible)),
        Field::DedupePercentage => Some(f64::from(workload.duplicates)),
        Field::Fsync => Some(f64::from(workload.fsync)),
        Field::Fdatasync => Some(f64::from(workload.fdatasync)),
        Field::Thinktime => Some(workload.arrival.think.as_secs_f64()),
        Field::ThinktimeBlocks => Some(f64::from(workload.arrival.burst)),
        Field::RateIops => Some(f64::from(workload.arrival.rate)),
        Field::Size => workload.size.map(|size| size.get() as f64),
        Field::Offset => Some(workload.offset.get() as f64),
        Field::Runtime => stop.time.map(|time| time.as_secs_f64()),
        Field::NumberIos => stop.requests.map(|requests| requests as f64),
        Field::IoSize => stop.bytes.map(|bytes| bytes.get() as f64),
        Field::RampTime => Some(workload.ramp.as_secs_f64()),
    }
}

fn label_of(field: Field, workload: &Workload) -> String {
    let stop = &workload.stop;
    let all = || "all".to_owned();
    match field {
        Field::Rw if workload.skip > block::Bytes::ZERO => {
            format!("{}, skipping {}", pattern(workload.pattern), workload.skip)
        }
        Field::Rw => pattern(workload.pattern).to_owned(),
        Field::Profile => {
            profile::followed(workload).map_or_else(|| "none".to_owned(), |profile| profile.name.to_owned())
        }
        Field::ReadIolog => workload.replay.as_ref().map_or_else(String::new, |replay| replay.source.clone()),
        Field::ReplayNoStall | Field::ReplayThink => {
            workload.replay.as_ref().map_or_else(String::new, |replay| replay::pace(replay.pace))
        }
        Field::ReplayTimeScale => value_of(field, workload)
            .map_or_else(|| "recorded".to_owned(), |percent| format!("{} %", crate::number::whole(percent as u64))),
        Field::ReplayScale => {
            workload.replay.as_ref().map_or_else(String::new, |replay| crate::number::whole(u64::from(replay.scale)))
        }
        Field::Bs => workload.block.to_string(),
        Field::Bssplit => sizes(workload),
        Field::PercentageRandom => workload.random_percent.to_string(),
        Field::Norandommap => (if workload.no_repeat { "random map" } else { "no random map" }).to_owned(),
        Field::SprOp => workload.sprandom.map_or_else(|| "none".to_owned(), |spare| spare.to_string()),
        Field::Sprandom => (if workload.sprandom.is_some() { "SPRandom" } else { "default" }).to_owned(),
        Field::Blockalign => workload.align.map_or_else(|| "size".to_owned(), |align| align.to_string()),
        Field::RandomDistribution => workload.distribution.to_string(),
        Field::BufferCompressPercentage => workload.compressible.to_string(),
        Field::ZeroBuffers => (if workload.compressible == 100 { "zeroes" } else { "data" }).to_owned(),
        Field::Sync => (if workload.durable { "durable" } else { "cached" }).to_owned(),
        Field::DedupePercentage => workload.duplicates.to_string(),
        Field::Verify => (if workload.verify.stamps { "checked" } else { "unchecked" }).to_owned(),
        Field::DoVerify => (if workload.verify.read_back { "read back" } else { "not read back" }).to_owned(),
        Field::VerifyOnly => (if workload.verify.only { "only read" } else { "written" }).to_owned(),
        Field::VerifyFatal => (if workload.verify.fatal { "fatal" } else { "counted" }).to_owned(),
        Field::Fsync => workload.fsync.to_string(),
        Field::Fdatasync => workload.fdatasync.to_string(),
        Field::Thinktime => workload.arrival.think.to_string(),
        Field::ThinktimeBlocks => workload.arrival.burst.to_string(),
        Field::RateIops => crate::number::whole(u64::from(workload.arrival.rate)),
        Field::RateProcess => {
            (if workload.arrival.process == Process::Poisson { "poisson" } else { "linear" }).to_owned()
        }
        Field::Iodepth => workload.queue_depth.to_string(),
        Field::Numjobs => workload.workers.to_string(),
        Field::Rwmixread => workload.reads().to_string(),
        Field::Size => workload.size.map_or_else(all, |size| size.to_string()),
        Field::Offset => workload.offset.to_string(),
        Field::Runtime => stop.time.map_or_else(all, |time| time.to_string()),
        Field::NumberIos => stop.requests.map_or_else(all, crate::number::whole),
        Field::IoSize => stop.bytes.map_or_else(all, |bytes| bytes.to_string()),
        Field::RampTime => workload.ramp.to_string(),
    }
}

fn words_of(field: Field, workload: &Workload) -> String {
    let label = label_of(field, workload);
    match field {
        Field::Profile | Field::Rw | Field::Bs | Field::Bssplit | Field::ZeroBuffers => label,
        Field::ReadIolog | Field::ReplayNoStall | Field::ReplayThink => label,
        Field::ReplayTimeScale => format!("{label} of the recorded speed"),
        Field::ReplayScale => format!("offsets divided by {label}"),
        Field::Norandommap => label,
        Field::SprOp => format!("SPRandom order for over-provisioning of {label}"),
        Field::Sprandom => format!("order {label}"),
        Field::PercentageRandom => format!("{label} % random"),
        Field::Blockalign => format!("aligned to {label}"),
        Field::RandomDistribution => format!("offsets {label}"),
        Field::BufferCompressPercentage => format!("{label} % compressible"),
        Field::DedupePercentage => format!("{label} % duplicate blocks"),
        Field::Verify | Field::DoVerify | Field::VerifyOnly => format!("data {label}"),
        Field::VerifyFatal => format!("verify errors {label}"),
        Field::Sync => format!("{label} writes"),
        Field::Fsync | Field::Fdatasync => format!("flush every {label} writes"),
        Field::Thinktime => format!("think time of {label}"),
        Field::ThinktimeBlocks => format!("bursts of {label}"),
        Field::RateIops => format!("{label} requests per second"),
        Field::RateProcess => format!("{label} arrivals"),
        Field::Iodepth => format!("queue depth {label}"),
        Field::Numjobs => crate::number::count(workload.workers as usize, "worker"),
        Field::Rwmixread => format!("{label} % reads"),
        Field::Size => format!("active range {label}"),
        Field::Offset => format!("offset {label}"),
        Field::Runtime => format!("for {label}"),
        Field::NumberIos => format!("{label} requests"),
        Field::IoSize => format!("{label} transferred"),
        Field::RampTime => format!("after {label}"),
    }
}

/// The sizes of requests: `4 KiB`, or `512 B 10 %, 4 KiB 90 %`; of reads and of writes where they differ.
pub(crate) fn sizes(workload: &Workload) -> String {
    if workload.sizes.is_none() {
        return workload.block.to_string();
    }
    let list = |op| {
        let entries = workload.sizes_of(op).into_iter().map(|entry| match entry.percent {
            100 => entry.size.to_string(),
            percent => format!("{} {percent} %", entry.size),
        });
        entries.collect::<Vec<_>>().join(", ")
    };
    match workload.ops() {
        &[first, second] if list(first) != list(second) => {
            format!("{first}s of {}, {second}s of {}", list(first), list(second))
        }
        ops => list(ops[0]),
    }
}

/// What a workload asks for beyond pattern, size, depth and workers, a phrase each; of a replay what is not the
/// trace's.
pub(crate) fn details(workload: &Workload) -> Vec<String> {
    let arrival = &workload.arrival;
    let each = |field| words_of(field, workload);
    let is = |name| workload.options().iter().any(|(option, _)| *option == name);
    let phrases = [
        (workload.skip > block::Bytes::ZERO).then(|| format!("skipping {} after each", workload.skip)),
        is("norandommap").then(|| each(Field::Norandommap)),
        is("spr_op").then(|| each(Field::SprOp)),
        is("percentage_random").then(|| each(Field::PercentageRandom)),
        is("blockalign").then(|| each(Field::Blockalign)),
        is("random_distribution").then(|| each(Field::RandomDistribution)),
        is("buffer_compress_percentage").then(|| each(Field::BufferCompressPercentage)),
        is("zero_buffers").then(|| each(Field::ZeroBuffers)),
        is("dedupe_percentage").then(|| each(Field::DedupePercentage)),
        is("sync").then(|| each(Field::Sync)),
        is("fsync").then(|| each(Field::Fsync)),
        is("fdatasync").then(|| format!("data {}", each(Field::Fdatasync))),
        is("thinktime").then(|| {
            let burst = if arrival.burst == 1 { "request".to_owned() } else { format!("{} requests", arrival.burst) };
            format!("{} after every {burst}", each(Field::Thinktime))
        }),
        is("rate_iops").then(|| {
            let process = if arrival.process == Process::Poisson { " (Poisson)" } else { "" };
            format!("{}{process} per worker, latency from arrival", each(Field::RateIops))
        }),
        is("verify").then(|| each(Field::Verify)),
        is("do_verify").then(|| each(Field::DoVerify)),
        is("verify_only").then(|| each(Field::VerifyOnly)),
        is("verify_fatal").then(|| each(Field::VerifyFatal)),
    ];
    phrases.into_iter().flatten().collect()
}

/// What a workload does, in a word or two.
pub(crate) fn kind(workload: &Workload) -> &'static str {
    if workload.replay.is_some() { "replay" } else { pattern(workload.pattern) }
}

/// A pattern in words.
pub(crate) const fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Read => "sequential read",
        Pattern::Write => "sequential write",
        Pattern::Trim => "sequential trim",
        Pattern::RandRead => "random read",
        Pattern::RandWrite => "random write",
        Pattern::RandTrim => "random trim",
        Pattern::ReadWrite => "mixed sequential",
        Pattern::RandRw => "mixed random",
    }
}

/// Whether equal steps along the axis are equal factors.
pub(crate) fn is_logarithmic(axis: &Axis, values: &[f64]) -> bool {
    let is_share = matches!(
        axis.field(),
        Some(Field::Rwmixread | Field::PercentageRandom | Field::BufferCompressPercentage | Field::DedupePercentage)
    );
    !is_share && values.iter().all(|&value| value > 0.0)
}

/// Which of ascending `values` get a label so that none stand too close and there are at most `most`.
pub(crate) fn labelled(values: &[f64], logarithmic: bool, most: usize) -> Vec<usize> {
    let place = |value: f64| if logarithmic { value.log2() } else { value };
    let Some((first, last)) = values.first().zip(values.last()) else { return Vec::new() };
    let length = place(*last) - place(*first);
    let apart = length / most.max(2).saturating_sub(1) as f64 * 0.999;
    let mut kept: Vec<usize> = Vec::new();
    for (i, &value) in values.iter().enumerate() {
        if kept.last().is_none_or(|&last| place(value) - place(values[last]) >= apart) {
            kept.push(i);
        }
    }
    // The end of an axis is what readers look for first.
    if let Some(&end) = kept.last().filter(|&&end| end + 1 < values.len()) {
        if kept.len() > 1 && place(*last) - place(values[end]) < apart * 0.8 {
            kept.pop();
        }
        kept.push(values.len() - 1);
    }
    kept
}

/// Ticks for a logarithmic axis of amounts from `least` to `most`, with their labels.
pub(crate) fn logarithmic_ticks(least: f64, most: f64) -> (Vec<f64>, Vec<String>) {
    let decades = (most / least).log10();
    let steps: &[f64] = match decades {
        d if d > 3.0 => &[1.0],
        d if d > 1.6 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let exponents = (least.log10().floor() as i32 - 1)..=(most.log10().ceil() as i32);
    let ticks: Vec<f64> = exponents.flat_map(|e| steps.iter().map(move |step| step * 10_f64.powi(e))).collect();
    let text = ticks.iter().map(|&tick| plain(tick)).collect();
    (ticks, text)
}

/// `20`, `5,000`, `0.5`: a round number without trailing zeros.
pub(crate) fn plain(value: f64) -> String {
    let text = three(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use workload::Arrival;

    use super::*;

    #[test]
    fn a_label_that_would_touch_its_neighbour_is_left_out() {
        let depths = [1.0, 2.0, 4.0, 8.0, 16.0, 31.0, 32.0];
        assert_eq!(labelled(&depths, true, 8), [0, 1, 2, 3, 4, 6], "31 gives way to 32");
        let sizes: Vec<f64> = (9..=22).map(|power| 2_f64.powi(power)).collect();
        let kept = labelled(&sizes, true, 8);
        assert!(kept.len() <= 8 && kept.contains(&0) && kept.contains(&13), "{kept:?}");
        assert_eq!(labelled(&[0.0, 20.0, 50.0, 67.0, 80.0, 100.0], false, 8), [0, 1, 2, 3, 5].as_slice());
    }

    #[test]
    fn an_access_specification_is_told_in_words() {
        let arrival = Arrival { rate: 1500, process: Process::Poisson, ..Arrival::default() };
        let workload = Workload {
            pattern: Pattern::RandRw,
            sizes: Some("4k/100,512/10:64k/90".parse().unwrap()),
            random_percent: 80,
            fdatasync: 8,
            compressible: 46,
            arrival,
            ..Workload::default()
        };
        assert_eq!(sizes(&workload), "reads of 4 KiB, writes of 512 B 10 %, 64 KiB 90 %");
        assert_eq!(
            details(&workload).join(", "),
            "80 % random, 46 % compressible, data flush every 8 writes, 1,500 requests per second (Poisson) per \
             worker, latency from arrival"
        );
        assert!(details(&Workload::default()).is_empty());
    }

    #[test]
    fn ticks_of_amounts_are_round_and_few() {
        let (ticks, text) = logarithmic_ticks(900.0, 40_000.0);
        assert!(ticks.iter().filter(|&&tick| (900.0..=40_000.0).contains(&tick)).count() >= 3);
        assert!(text.contains(&"3,000".to_owned()) && text.contains(&"10,000".to_owned()), "{text:?}");
    }
}
