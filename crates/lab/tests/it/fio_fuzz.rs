//! Whatever a job file holds, it is read without a panic and within bounds, and what comes of it is a plan.

use std::fmt::Write;
use std::path::Path;

use assay_lab::import::fio::{World, import, plan_text};
use assay_lab::import::{Import, render};
use assay_lab::plan::{self, PlanLength};
use block::Bytes;
use proptest::prelude::*;

/// A world whose files are all the same, and include themselves.
struct Hall {
    file: String,
}

impl World for Hall {
    fn file(&self, path: &Path) -> Result<String, String> {
        match path.ends_with("gone") {
            true => Err("no such file".to_owned()),
            false => Ok(self.file.clone()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "BIG" => Some("9".repeat(5000)),
            "SELF" => Some("${SELF}".to_owned()),
            "SIZE" => Some("4k".to_owned()),
            _ => None,
        }
    }

    fn page_size(&self) -> u64 {
        u64::MAX
    }

    fn memory_mib(&self) -> u64 {
        0
    }

    fn processors(&self) -> u64 {
        3
    }

    fn capacity(&self, target: &str, _: bool) -> Option<Bytes> {
        target.len().is_multiple_of(2).then_some(Bytes::new(u64::MAX))
    }

    fn zone(&self, target: &str, _: bool) -> Option<Bytes> {
        target.len().is_multiple_of(3).then_some(Bytes::new(u64::MAX))
    }
}

/// Reads it, and holds what comes of it against what is promised.
fn holds(text: &str, file: &str) -> Result<(), TestCaseError> {
    let hall = Hall { file: file.to_owned() };
    let import = import(Path::new("dir/job.fio"), text, &[], &hall);
    for notice in &import.notices {
        let source = &import.sources[notice.place.source];
        prop_assert!(source.text.get(notice.place.span.clone()).is_some(), "{notice:?} has no place");
    }
    render(&import.notices, &import.sources, false);
    if import.refused() { Ok(()) } else { is_a_plan(&import) }
}

/// That its plan reads back with the same workloads.
fn is_a_plan(import: &Import) -> Result<(), TestCaseError> {
    let text = plan_text(import, Path::new("dir/job.fio"), import.layout());
    if import.groups.iter().any(|group| group.jobs.len() > 1) {
        return toml::from_str::<toml::Table>(&text)
            .map(|_| ())
            .map_err(|error| TestCaseError::fail(error.to_string()));
    }
    let plan =
        plan::parse(&text, PlanLength::Full).map_err(|error| TestCaseError::fail(format!("{error:?}\n{text}")))?;
    let read = plan.steps.iter().filter_map(|step| match &step.action {
        plan::Action::Measure(measure) => Some(measure.cells[0].workload.clone()),
        _ => None,
    });
    prop_assert_eq!(read.collect::<Vec<_>>(), import.jobs().map(|job| job.workload.clone()).collect::<Vec<_>>());
    Ok(())
}

/// Options that decide something, and some that do not.
const OPTIONS: [&str; 60] = [
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "size",
    "io_size",
    "filesize",
    "nrfiles",
    "offset",
    "offset_increment",
    "numjobs",
    "iodepth",
    "ioengine",
    "io_submit_mode",
    "direct",
    "buffered",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "loops",
    "number_ios",
    "rwmixread",
    "rwmixwrite",
    "percentage_random",
    "random_distribution",
    "blockalign",
    "norandommap",
    "random_generator",
    "fsync",
    "fdatasync",
    "sync",
    "thinktime",
    "thinktime_blocks",
    "rate",
    "rate_iops",
    "rate_process",
    "filename",
    "directory",
    "filename_format",
    "stonewall",
    "wait_for",
    "exitall",
    "kb_base",
    "zero_buffers",
    "buffer_compress_percentage",
    "fill_device",
    "overwrite",
    "description",
    "name",
    "invalidate",
    "verify",
    "verify_fatal",
    "zonemode",
    "group_reporting",
    "read_iolog",
    "write_bw_log",
    "flow",
    "cpus_allowed",
    "nonsense",
];

/// Values that make sense for one or another, and some that do for none.
const VALUES: [&str; 56] = [
    "0",
    "1",
    "2",
    "16",
    "100",
    "4k",
    "4k,8k",
    "4k,8k,16k",
    ",8k",
    "512-4k",
    "4k:1m",
    "4k/60:64k/40",
    "4k/50:8k/",
    "64k/100:1m/0",
    "1g",
    "50%",
    "100%",
    "1000%",
    "read",
    "write",
    "randrw",
    "randread:8",
    "read:-8k",
    "trimwrite",
    "randtrim",
    "libaio",
    "psync",
    "null",
    "cpuio",
    "offload",
    "lfsr",
    "zipf",
    "zipf:1.2",
    "pareto:0.3:0.5",
    "zoned:50/5:30/15:20/",
    "zoned_abs:1g/50",
    "poisson",
    "5s",
    "10ms",
    "1-5",
    "1000",
    "1024",
    "-1",
    "-4k",
    "0x10",
    "99999999999999999999",
    "1e400",
    "(2*3)",
    "8*$mb_memory",
    "$pagesize*$pagesize",
    "${BIG}",
    "${SELF}",
    "${GONE}",
    "${SIZE}",
    "/dev/x:y\\:z",
    "é\u{7}\"'''\\",
];

/// A line of a job file.
fn line() -> impl Strategy<Value = String> {
    let pick = |words: &'static [&'static str]| prop::sample::select(words);
    prop_oneof![
        12 => (pick(&OPTIONS), pick(&VALUES)).prop_map(|(name, value)| format!("{name}={value}")),
        2 => pick(&OPTIONS).prop_map(str::to_owned),
        2 => pick(&["[a]", "[b b]", "[global]", "[a]", "[", "[]", "[\u{1}é]"]).prop_map(str::to_owned),
        1 => pick(&["include x", "include gone", "; c", "# c", "", "=", "a=b=c", "\u{feff}"]).prop_map(str::to_owned),
    ]
}

/// Lines that make sense wherever they stand.
const SENSIBLE: [&str; 54] = [
    "rw=read",
    "rw=write",
    "rw=randread",
    "rw=randwrite",
    "rw=randrw",
    "rw=rw",
    "rw=randtrim",
    "rw=read:8k",
    "bs=8k",
    "bs=4k,64k",
    "bsrange=4k-16k",
    "bssplit=4k/60:64k/40",
    "bssplit=4k/60:64k/40,1m",
    "size=16m",
    "size=1g",
    "io_size=32m",
    "io_size=50%",
    "offset=1m",
    "offset_increment=16m",
    "numjobs=3",
    "numjobs=1",
    "iodepth=8",
    "ioengine=libaio",
    "ioengine=psync",
    "direct=1",
    "buffered=1",
    "runtime=5",
    "time_based",
    "ramp_time=2",
    "startdelay=3",
    "loops=2",
    "number_ios=500",
    "rwmixread=70",
    "percentage_random=40",
    "norandommap",
    "random_distribution=zipf:1.2",
    "random_distribution=zoned:50/5:30/15:20/",
    "blockalign=1k",
    "fsync=4",
    "fdatasync=8",
    "sync=1",
    "thinktime=50",
    "rate=10m",
    "rate_iops=100",
    "rate_process=poisson",
    "filename=y",
    "filename=/dev/z",
    "stonewall",
    "kb_base=1024",
    "zero_buffers",
    "fill_device=1",
    "overwrite=1",
    "description=é \"",
    "verify=md5",
];

/// A job file of one to three jobs that make sense.
fn sensible() -> impl Strategy<Value = String> {
    let options = prop::collection::vec(prop::sample::select(&SENSIBLE[..]), 0..7).prop_map(|lines| lines.join("\n"));
    let section = (prop::sample::select(&["[a]", "[B c]", "[global]"][..]), options);
    let sections = prop::collection::vec(section.prop_map(|(name, options)| format!("{name}\n{options}\n")), 1..4);
    sections.prop_map(|sections| format!("[global]\nsize=64m\n{}[last]\nbs=4k\n", sections.concat()))
}

fn lines(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..most).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_to_the_end(bytes in prop::collection::vec(any::<u8>(), 0..400), head in any::<bool>()) {
        let text = String::from_utf8_lossy(&bytes);
        holds(&format!("{}{text}", if head { "[a]\n" } else { "" }), &text)?;
    }

    #[test]
    fn any_lines_make_a_plan_or_are_refused(text in lines(24), file in lines(4)) {
        holds(&format!("[a]\nsize=64m\nfilename=x\n{text}"), &file)?;
    }

    #[test]
    fn what_makes_sense_makes_a_plan(text in sensible()) {
        holds(&text, "")?;
        let hall = Hall { file: String::new() };
        let import = import(Path::new("job.fio"), &text, &[], &hall);
        prop_assert!(!import.refused(), "{text}\n{:?}", import.notices);
    }

    #[test]
    fn a_mutilated_job_file_is_read_to_the_end(
        text in sensible(),
        at in any::<prop::sample::Index>(),
        put in "[\\[\\]=;#${}()/:,%0-9a-z\\n\\\\\" -]{0,6}",
    ) {
        let mut letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        letters.splice(at..(at + 2).min(letters.len()), put.chars());
        holds(&letters.into_iter().collect::<String>(), "bs=8k")?;
    }
}

#[test]
fn very_much_of_anything_ends_soon() {
    let mut many = String::from("[global]\nsize=1m\nfilename=x\nverify=md5\ncpus_allowed=1\n");
    (0..5000).for_each(|number| writeln!(many, "[job]\nnumjobs=64\noffset_increment=1m\nprio={}", number % 8).unwrap());
    for (text, file) in [
        (many, String::new()),
        (format!("[a]\n{}", "include x\n".repeat(1000)), "include x\n".repeat(100)),
        (format!("[a]\nsize={}1{}\n", "(".repeat(100_000), ")".repeat(100_000)), String::new()),
        (format!("[a]\nsize=1m\nbs={}\n", "4k,".repeat(100_000)), String::new()),
        (format!("[a]\nsize=1m\nbssplit={}\n", "4k/1:".repeat(100_000)), String::new()),
        (format!("[a]\nsize=1m\nfilename={}\n", "x:".repeat(100_000)), String::new()),
        (format!("[a]\nsize=1m\nfilename={}\n", "${BIG}".repeat(10_000)), String::new()),
        ("x=1\n".repeat(200_000), String::new()),
        (format!("[a]\n{}", "xyz=1\n".repeat(200_000)), String::new()),
        ("[a]\n".repeat(200_000), String::new()),
    ] {
        holds(&text, &file).unwrap();
    }
}
