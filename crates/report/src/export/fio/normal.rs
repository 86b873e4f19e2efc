//! fio's output for people, which programs read as well.
//!
//! Source: fio 3.33, `stat.c`, `show_thread_status_normal` and `show_group_stats`; `diskutil.c`, `print_disk_util`.

use std::fmt::Write;

use block::Op;

use super::direction::{Direction, Latency};
use super::disk::Disk;
use super::number::{Base, short};
use super::options::options;
use super::steady::Steady;
use super::{FioJob, Job, Keys, time, version};

/// What fio prints before it runs jobs.
///
/// # Panics
/// If there are no jobs.
pub fn heading(jobs: &[FioJob]) -> String {
    let mut text = String::new();
    for (index, job) in jobs.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &jobs[before]);
        match before.is_some_and(|before| (before.single.name, before.group) == (job.single.name, job.group)) {
            true if text.ends_with("...\n") => {}
            true => text += "...\n",
            false => text += &asked(job),
        }
    }
    let all: u32 = jobs.iter().map(|job| job.members).sum();
    let threads = if all == 1 { "thread" } else { "threads" };
    let _ = writeln!(text, "{}\nStarting {all} {threads}", version(&jobs[0].single));
    text
}

/// Jobs as fio's normal output has them, behind an empty line; ends with a line feed.
///
/// What is not measured is left out where fio leaves it out too, and else is zero: batches of submissions and completions.
pub fn normal(jobs: &[FioJob]) -> String {
    let mut text = "\n".to_owned();
    let shown: Vec<Job> = jobs.iter().map(|job| Job::of(job, false)).collect();
    for (job, shown) in jobs.iter().zip(&shown) {
        status(&mut text, job, shown);
    }
    let last = jobs.iter().map(|job| job.group).max().unwrap_or_default();
    for group in 0..=last {
        let members: Vec<&Job> = shown.iter().filter(|job| job.groupid == group).collect();
        if !members.is_empty() {
            of_group(&mut text, group, &members);
        }
    }
    let disks = if let [only] = jobs { Disk::of(&only.single) } else { Vec::new() };
    if !disks.is_empty() {
        text += "\nDisk stats (read/write):\n";
        disks.iter().for_each(|disk| text += &disk.line());
    }
    text
}

/// What a job is asked to do, in a line.
fn asked(job: &FioJob) -> String {
    let workload = &job.single.measurement.workload;
    let sizes = |op| {
        let sizes = workload.sizes_of(op).into_iter().map(|entry| entry.size.get());
        let (least, most) = sizes.fold((u64::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
        let bytes = |size| short(size, 4, Base::Binary, "B");
        format!("{}-{}", bytes(least), bytes(most))
    };
    let Keys(derived) = options(&job.single);
    let word = |wanted: &str| {
        let all = job.options.iter().flatten().chain(&derived);
        all.into_iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value.as_str())
    };
    let more = if job.members > 1 { "...\n" } else { "" };
    format!(
        "{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}\n{more}",
        job.single.name,
        job.group,
        word("rw"),
        sizes(Op::Read),
        sizes(Op::Write),
        sizes(Op::Trim),
        word("ioengine"),
        workload.queue_depth,
    )
}

/// What is to be said of one job.
fn status(text: &mut String, job: &FioJob, shown: &Job) {
    let directions = [("read", &shown.read), ("write", &shown.write), ("trim", &shown.trim)];
    if directions.iter().all(|(_, direction)| direction.total_ios == 0) {
        return;
    }
    let error = match shown.error {
        0 => " 0".to_owned(),
        errno => format!("{errno:2} ({})", std::io::Error::from_raw_os_error(errno)),
    };
    let (name, group, members) = (job.single.name, job.group, job.members);
    let (pid, at) = (std::process::id(), time(job.single.timestamp_ms));
    let _ = writeln!(text, "{name}: (groupid={group}, jobs={members}): err={error}: pid={pid}: {at}");
    if let Some(description) = job.description {
        let _ = writeln!(text, "  Description  : [{description}]");
    }
    for (name, direction) in directions {
        of_direction(text, name, direction, job.percentiles());
    }
    classes(text, "nsec", &shown.latency_ns);
    classes(text, "usec", &shown.latency_us);
    classes(text, "msec", &shown.latency_ms);
    if shown.sync.total_ios > 0 {
        *text += "  fsync/fdatasync/sync_file_range:\n";
        latency(text, "sync", &shown.sync.lat_ns);
        percentiles(text, "sync", &shown.sync.lat_ns, job.percentiles());
    }
    let _ = writeln!(
        text,
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}",
        shown.usr_cpu, shown.sys_cpu, shown.ctx, shown.majf, shown.minf
    );
    shares(text, "  IO depths    ", &shown.iodepth_level);
    shares(text, "     submit    ", &shown.iodepth_submit);
    shares(text, "     complete  ", &shown.iodepth_complete);
    let [reads, writes, trims] = directions.map(|(_, direction)| direction.total_ios);
    let _ = writeln!(
        text,
        "     issued rwts: total={reads},{writes},{trims},{} short=0,0,0,0 dropped=0,0,0,0",
        shown.sync.total_ios
    );
    if let (Some(total), Some(first)) = (shown.total_err, shown.first_error) {
        let words = std::io::Error::from_raw_os_error(first);
        let _ = writeln!(text, "     errors    : total={total}, first_error={first}/<{words}>");
    }
    let _ = writeln!(
        text,
        "     latency   : target=0, window=0, percentile={:.2}%, depth={}",
        shown.latency_percentile, shown.latency_depth
    );
    text.extend(shown.steadystate.as_ref().map(Steady::line));
}

/// The requests of one kind; nothing where there are none.
fn of_direction(text: &mut String, name: &str, direction: &Direction, list: &[f64]) {
    if direction.total_ios == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec)",
        short(direction.iops as u64, 4, Base::Decimal, ""),
        short(direction.bw_bytes, 4, Base::Binary, "B/s"),
        short(direction.bw_bytes, 4, Base::Decimal, "B/s"),
        short(direction.io_bytes, 4, Base::Binary, "B"),
        direction.runtime
    );
    for (name, each) in [("slat", &direction.slat_ns), ("clat", &direction.clat_ns), (" lat", &direction.lat_ns)] {
        latency(text, name, each);
    }
    percentiles(text, "clat", &direction.clat_ns, list);
    if direction.bw_samples > 0 {
        let (scale, unit) = if direction.bw_mean > 1024.0 * 1024.0 { (1024, "MiB") } else { (1, "KiB") };
        let by = scale as f64;
        let _ = writeln!(
            text,
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
            direction.bw_min / scale,
            direction.bw_max / scale,
            direction.bw_agg,
            direction.bw_mean / by,
            direction.bw_dev / by,
            direction.bw_samples
        );
    }
    if direction.iops_samples > 0 {
        let _ = writeln!(
            text,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            direction.iops_min, direction.iops_max, direction.iops_mean, direction.iops_stddev, direction.iops_samples
        );
    }
}

/// The unit in which fio prints latencies, and how many nanoseconds it has.
fn unit(min: u64, max: u64, deviation: f64) -> (&'static str, u64) {
    if min > 2_000_000 && max > 99_999_999 && deviation > 1_000_000.0 {
        ("msec", 1_000_000)
    } else if min > 2_000 && max > 99_999 && deviation > 1_000.0 {
        ("usec", 1_000)
    } else {
        ("nsec", 1)
    }
}

/// Least, most, mean and deviation; nothing where nothing was timed.
fn latency(text: &mut String, name: &str, of: &Latency) {
    if of.count == 0 {
        return;
    }
    let (unit, nanos) = unit(of.min, of.max, of.stddev);
    let _ = writeln!(
        text,
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        short(of.min / nanos, 6, Base::Decimal, ""),
        short(of.max / nanos, 6, Base::Decimal, ""),
        of.mean / nanos as f64,
        of.stddev / nanos as f64
    );
}

/// The percentiles, as many in a line as 80 columns hold.
fn percentiles(text: &mut String, name: &str, of: &Latency, list: &[f64]) {
    const DECIMALS: usize = 2;
    let Some(Keys(values)) = &of.percentile else { return };
    let values = || values.iter().map(|(_, value)| *value);
    let (least, most) = (values().min().unwrap_or_default(), values().max().unwrap_or_default());
    let (unit, nanos) = match (least, most) {
        (least, most) if least > 2_000_000 && most > 99_999_999 => ("msec", 1_000_000),
        (least, most) if least > 2_000 && most > 99_999 => ("usec", 1_000),
        _ => ("nsec", 1),
    };
    let _ = write!(text, "    {name} percentiles ({unit}):\n     |");
    let width = ((most / nanos).checked_ilog10().unwrap_or(0) as usize + 1).max(5);
    let in_line = (80 - 7) / (DECIMALS + 10 + width);
    for (index, (percent, value)) in list.iter().zip(values()).enumerate() {
        if index > 0 && index % in_line == 0 {
            *text += "     |";
        }
        let is_last = index + 1 == list.len();
        let end = if is_last { "\n" } else { "," };
        let _ = write!(text, " {percent:5.DECIMALS$}th=[{:width$}]{end}", value.div_ceil(nanos));
        if !is_last && index % in_line == in_line - 1 {
            *text += "\n";
        }
    }
}

/// The shares of latencies in classes, five in a line; classes without any are left out.
fn classes(text: &mut String, unit: &str, Keys(shares): &Keys<String, f64>) {
    let there: Vec<String> =
        shares.iter().filter(|(_, share)| *share > 0.0).map(|(end, share)| format!("{end}={share:3.2}%")).collect();
    for line in there.chunks(5) {
        let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
    }
}

fn shares(text: &mut String, name: &str, Keys(shares): &Keys<String, f64>) {
    let shares: Vec<String> = shares.iter().map(|(class, share)| format!("{class}={share:3.1}%")).collect();
    let _ = writeln!(text, "{name}: {}", shares.join(", "));
}

type Pick = for<'j> fn(&'j Job<'_>) -> &'j Direction;

/// What the jobs of a group did together.
fn of_group(text: &mut String, group: usize, jobs: &[&Job]) {
    let _ = writeln!(text, "\nRun status group {group} (all jobs):");
    let pick: [(&str, Pick); 3] =
        [("   READ", |job| &job.read), ("  WRITE", |job| &job.write), ("   TRIM", |job| &job.trim)];
    for (name, of) in pick {
        let there = || jobs.iter().map(|job| of(job)).filter(|direction| direction.total_ios > 0);
        let runs = || there().map(|direction| direction.runtime);
        let rates = || there().map(|direction| direction.bw_bytes);
        let (Some(shortest), Some(longest)) = (runs().min(), runs().max()) else { continue };
        let bytes: u64 = there().map(|direction| direction.io_bytes).sum();
        let together = (u128::from(bytes) * 1000 / u128::from(longest.max(1))) as u64;
        let (least, most) = (rates().min().unwrap_or_default(), rates().max().unwrap_or_default());
        let rate = |rate, base| short(rate, 4, base, "B/s");
        let _ = writeln!(
            text,
            "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
            rate(together, Base::Binary),
            rate(together, Base::Decimal),
            rate(least, Base::Binary),
            rate(most, Base::Binary),
            rate(least, Base::Decimal),
            rate(most, Base::Decimal),
            short(bytes, 4, Base::Binary, "B"),
            short(bytes, 4, Base::Decimal, "B"),
        );
    }
}
