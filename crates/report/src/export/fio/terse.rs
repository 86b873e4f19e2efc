//! fio's terse output: a line a job, its fields with semicolons between.
//!
//! Source: fio 3.33, `stat.c`, `show_thread_status_terse_all`; its `HOWTO.rst`, "Terse output".

use std::fmt::Write;

use super::direction::{Direction, Latency};
use super::disk::Disk;
use super::{FioJob, Job, Keys, version};

/// The versions that there are.
pub const VERSIONS: std::ops::RangeInclusive<u8> = 2..=5;
/// How many percentiles a line has, given or not.
const PERCENTILES: usize = 20;

/// Jobs in fio's terse format of this version.
pub fn terse(jobs: &[FioJob], format: u8) -> String {
    jobs.iter().map(|job| line(job, &Job::of(job, false), format)).collect()
}

fn line(job: &FioJob, shown: &Job, format: u8) -> String {
    let mut text = format!("{format}");
    if format > 2 {
        let _ = write!(text, ";{}", version(&job.single));
    }
    let _ = write!(text, ";{};{};{}", job.single.name, job.group, shown.error);
    of_direction(&mut text, &shown.read, format);
    of_direction(&mut text, &shown.write, format);
    if format != 3 {
        of_direction(&mut text, &shown.trim, format);
    }
    let _ = write!(text, ";{:.6}%;{:.6}%;{};{};{}", shown.usr_cpu, shown.sys_cpu, shown.ctx, shown.majf, shown.minf);
    let Keys(depths) = &shown.iodepth_level;
    depths.iter().for_each(|(_, share)| text += &format!(";{share:.1}%"));
    // What is below a microsecond falls into the first class of microseconds.
    let Keys(below) = &shown.latency_ns;
    let below: f64 = below.iter().map(|(_, share)| share).sum();
    let Keys(micros) = &shown.latency_us;
    let Keys(millis) = &shown.latency_ms;
    let all = micros.iter().enumerate().map(|(index, (_, share))| if index == 0 { share + below } else { *share });
    all.chain(millis.iter().map(|(_, share)| *share)).for_each(|share| text += &format!(";{share:.2}%"));
    if format >= 3 {
        Disk::of(&job.single).iter().for_each(|disk| text += &disk.terse());
    }
    if let (Some(total), Some(first)) = (shown.total_err, shown.first_error) {
        let _ = write!(text, ";{total};{first}");
    }
    if let Some(description) = job.description {
        text += if format == 2 { "\n;" } else { ";" };
        text += description;
    }
    text + "\n"
}

fn of_direction(text: &mut String, of: &Direction, format: u8) {
    let _ = write!(text, ";{};{};{};{}", of.io_kbytes, of.bw, of.iops as u64, of.runtime);
    latency(text, &of.slat_ns);
    latency(text, &of.clat_ns);
    let given = of.clat_ns.percentile.iter().flat_map(|Keys(percentiles)| percentiles);
    let given: Vec<String> = given.map(|(percent, value)| format!(";{percent}%={}", value / 1000)).collect();
    (0..PERCENTILES).for_each(|place| *text += given.get(place).map_or(";0%=0", String::as_str));
    latency(text, &of.lat_ns);
    let _ = write!(text, ";{};{};{:.6}%;{:.6};{:.6}", of.bw_min, of.bw_max, of.bw_agg, of.bw_mean, of.bw_dev);
    if format == 5 {
        let _ = write!(
            text,
            ";{};{};{};{:.6};{:.6};{}",
            of.bw_samples, of.iops_min, of.iops_max, of.iops_mean, of.iops_stddev, of.iops_samples
        );
    }
}

/// Least, most, mean and deviation in microseconds.
fn latency(text: &mut String, of: &Latency) {
    let _ = write!(text, ";{};{};{:.6};{:.6}", of.min / 1000, of.max / 1000, of.mean / 1e3, of.stddev / 1e3);
}
