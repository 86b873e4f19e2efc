//! The programs that others wrote, told to do one job, and what they say of it understood.

use std::path::Path;
use std::time::Duration;

use block::{Bytes, Nanos};
use serde::Deserialize;

use crate::TrialError;

/// How much longer than expected a program may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(3600);

/// How often bonnie++ seeks: an eighth of its own choice, which takes a disk minutes.
const BONNIE_SEEKS: u32 = 1024;

/// What a program says of a job that moves data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ToolReport {
    /// Bytes a second.
    pub rate: f64,
    /// Requests a second; none where it does not say.
    pub iops: Option<f64>,
    /// Seconds that a request took in the mean, and that 99 % did not exceed; none where it does not say.
    pub latency: Option<(f64, f64)>,
}

pub(super) struct FioJob<'j> {
    pub file: &'j Path,
    pub rw: &'static str,
    pub block: Bytes,
    pub size: Bytes,
    /// It ends then, if it has not before; none for the whole size.
    pub time: Option<Nanos>,
}

impl FioJob<'_> {
    /// Its command line. Requests go by `pread` and `pwrite` one at a time, which is fio's usual way.
    pub(super) fn arguments(&self) -> Vec<String> {
        let time = self.time.map(|time| format!("--runtime={}ms", time.as_nanos() / 1_000_000));
        let fixed = [
            "--name=cross-check",
            "--output-format=json",
            "--ioengine=psync",
            "--direct=1",
            "--end_fsync=1",
            "--fallocate=truncate",
            "--zero_buffers",
        ];
        let told = [
            format!("--filename={}", self.file.display()),
            format!("--rw={}", self.rw),
            format!("--bs={}", self.block.get()),
            format!("--size={}", self.size.get()),
        ];
        fixed.map(str::to_owned).into_iter().chain(told).chain(time).collect()
    }
}

/// fio's JSON, as far as it is used.
/// Source: fio, HOWTO, "JSON output".
#[derive(Deserialize)]
struct FioReport {
    jobs: Vec<FioResult>,
}

#[derive(Deserialize)]
struct FioResult {
    read: FioFlow,
    write: FioFlow,
}

#[derive(Deserialize)]
struct FioFlow {
    io_bytes: u64,
    bw_bytes: f64,
    iops: f64,
    lat_ns: FioLatency,
    clat_ns: FioLatency,
}

#[derive(Deserialize)]
struct FioLatency {
    mean: f64,
    #[serde(default)]
    percentile: std::collections::BTreeMap<String, f64>,
}

/// What fio's JSON says of the one job, which either reads or writes.
///
/// # Errors
/// If it is not what fio 3 writes.
pub(super) fn of_fio(text: &str) -> Result<ToolReport, TrialError> {
    let unexpected = |found: String| TrialError::Unexpected { program: "fio".to_owned(), found };
    // Warnings come before it.
    let json = text.find("{\n").map_or(text, |start| &text[start..]);
    let report: FioReport = serde_json::from_str(json).map_err(|error| unexpected(error.to_string()))?;
    let job = report.jobs.into_iter().next().ok_or_else(|| unexpected("no job".to_owned()))?;
    let flow = [job.read, job.write].into_iter().find(|flow| flow.io_bytes > 0);
    let flow = flow.ok_or_else(|| unexpected("a job that moved nothing".to_owned()))?;
    let percentile = flow.clat_ns.percentile.get("99.000000").copied();
    let latency = percentile.map(|percentile| (flow.lat_ns.mean / 1e9, percentile / 1e9));
    Ok(ToolReport { rate: flow.bw_bytes, iops: Some(flow.iops), latency })
}

/// What dd is told, to write a new file of zeroes or to read it.
pub(super) fn dd_arguments(file: &Path, writes: bool, block: Bytes, size: Bytes) -> Vec<String> {
    let file = file.display();
    let ends: [String; 3] = match writes {
        true => ["if=/dev/zero".to_owned(), format!("of={file}"), "oflag=direct".to_owned()],
        false => [format!("if={file}"), "of=/dev/null".to_owned(), "iflag=direct".to_owned()],
    };
    let amount = [format!("bs={}", block.get()), format!("count={}", size.div(block))];
    let flush = writes.then(|| "conv=fsync".to_owned());
    ends.into_iter().chain(amount).chain(flush).collect()
}

/// What dd's last line says: `16777216 bytes (17 MB, 16 MiB) copied, 0.0270423 s, 620 MB/s`.
///
/// # Errors
/// If there is no such line.
pub(super) fn of_dd(text: &str) -> Result<ToolReport, TrialError> {
    let found = || TrialError::Unexpected { program: "dd".to_owned(), found: text.trim().to_owned() };
    let line = text.lines().find(|line| line.contains(" copied, ")).ok_or_else(found)?;
    let bytes: f64 = line.split(' ').next().and_then(|word| word.parse().ok()).ok_or_else(found)?;
    let time = line.split(" copied, ").nth(1).and_then(|rest| rest.split(' ').next());
    let time: f64 = time.and_then(|word| word.parse().ok()).filter(|time| *time > 0.0).ok_or_else(found)?;
    Ok(ToolReport { rate: bytes / time, ..ToolReport::default() })
}

/// What bonnie++ is told: in `folder`, only what moves blocks, past the page cache as it writes a new file. All else goes
/// through it: 2.00a opens the file anew for that, without `O_DIRECT`.
pub(super) fn bonnie_arguments(folder: &Path, block: Bytes, size: Bytes) -> Vec<String> {
    let amount = format!("{}:{}:{BONNIE_SEEKS}", size.div(Bytes::from_mib(1)), block.get());
    let folder = folder.display().to_string();
    ["-d", &folder, "-s", &amount, "-n", "0", "-r", "0", "-f", "-D", "-u", "root", "-m", "assay", "-q"]
        .map(str::to_owned)
        .into()
}

/// What bonnie++ says, in bytes and seeks a second; none of what took it less than the half second that it asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bonnie {
    pub write: Option<f64>,
    /// Each block read, changed and written back in its place.
    pub rewrite: Option<f64>,
    pub read: Option<f64>,
    /// By several processes at once; a tenth of them write.
    pub seeks: Option<f64>,
}

/// What a line of bonnie++'s CSV says.
/// Source: bonnie++ 2.00a, bon_csv2txt.cpp, the order of the fields of format 1.98; rates are in KiB/s.
///
/// # Errors
/// If it is not of that format.
pub(super) fn of_bonnie(text: &str) -> Result<Bonnie, TrialError> {
    let unexpected = || TrialError::Unexpected { program: "bonnie++".to_owned(), found: text.trim().to_owned() };
    let line = text.lines().rfind(|line| !line.trim().is_empty()).ok_or_else(unexpected)?;
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() < 21 || !fields[0].starts_with("1.9") {
        return Err(unexpected());
    }
    let number = |at: usize| match fields[at] {
        "" => Err(unexpected()),
        pluses if pluses.starts_with('+') => Ok(None),
        number => number.parse::<f64>().map(Some).map_err(|_| unexpected()),
    };
    let rate = |at: usize| number(at).map(|rate| rate.map(|kib| kib * 1024.0));
    Ok(Bonnie { write: rate(11)?, rewrite: rate(13)?, read: rate(17)?, seeks: number(19)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_dd_is_read_by_its_bytes_and_seconds() {
        let text = "16+0 records in\n16+0 records out\n16777216 bytes (17 MB, 16 MiB) copied, 0.5 s, 34 MB/s\n";
        assert_eq!(of_dd(text).unwrap().rate, 33_554_432.0);
        let said = of_dd("dd: failed to open 'x'").unwrap_err().to_string();
        assert!(said.contains("failed to open"), "{said}");
    }

    #[test]
    fn what_bonnie_was_too_quick_for_is_none() {
        let line = "1.98,2.00a,assay,1,1795263735,64M,,8192,5,,,+++++,+++,105124,19,,,51200,9,1200.5,3,,,,,,,,,,,,,,,,,,,\
                    7988us,35373us,,16090us,92093us,,,,,,\n";
        let bonnie = of_bonnie(line).unwrap();
        assert_eq!((bonnie.write, bonnie.rewrite), (None, Some(105_124.0 * 1024.0)));
        assert_eq!((bonnie.read, bonnie.seeks), (Some(51_200.0 * 1024.0), Some(1200.5)));
        assert!(of_bonnie("Can't open file").is_err());
    }

    #[test]
    fn the_json_of_fio_is_read_behind_its_warnings() {
        let flow = |bytes: u64| {
            format!(
                r#"{{"io_bytes":{bytes},"bw_bytes":1000,"iops":2.5,"lat_ns":{{"mean":3000.0}},
                   "clat_ns":{{"mean":1.0,"percentile":{{"99.000000":5000}}}}}}"#
            )
        };
        let text = format!("note: a warning\n{{\n\"jobs\":[{{\"read\":{},\"write\":{}}}]}}", flow(0), flow(4096));
        let said = of_fio(&text).unwrap();
        assert_eq!(said, ToolReport { rate: 1000.0, iops: Some(2.5), latency: Some((3e-6, 5e-6)) });
        assert!(of_fio("fio: failed").is_err());
    }
}
