//! What job files become, from the text to the plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use block::{Bytes, Nanos};

use super::*;

/// A world in which all is as a test says.
#[derive(Default)]
pub(super) struct Bench {
    files: BTreeMap<PathBuf, String>,
    variables: BTreeMap<String, String>,
    capacities: BTreeMap<String, Bytes>,
    zones: BTreeMap<String, Bytes>,
}

impl Bench {
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub(super) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    fn zone(mut self, target: &str, zone: Bytes) -> Self {
        self.zones.insert(target.into(), zone);
        self
    }

    fn capacity(mut self, target: &str, capacity: Bytes) -> Self {
        self.capacities.insert(target.into(), capacity);
        self
    }
}

impl World for Bench {
    fn file(&self, path: &Path) -> Result<String, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn page_size(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }

    fn processors(&self) -> u64 {
        2
    }

    fn capacity(&self, target: &str, _: bool) -> Option<Bytes> {
        self.capacities.get(target).copied()
    }

    fn zone(&self, target: &str, _: bool) -> Option<Bytes> {
        self.zones.get(target).copied()
    }
}

pub(super) fn read(text: &str, bench: &Bench) -> Import {
    import(Path::new("jobs/a.fio"), text, &[], bench)
}

/// The jobs of one file, each as a plan's fields; the file must be taken over without a word.
fn clean(text: &str) -> String {
    let import = read(text, &Bench::default());
    assert!(import.notices.is_empty(), "{text}: {:?}", import.notices);
    steps(&import)
}

/// The steps of the plan, without their comments and what all have.
pub(super) fn steps(import: &Import) -> String {
    let text = plan_text(import, Path::new("jobs/a.fio"), false);
    let said = |line: &&str| !line.starts_with('#') && !line.is_empty() && !line.starts_with("title");
    let lines = text.lines().filter(said).skip(2).map(|line| line.replace(" = ", "=").replace('"', ""));
    lines.collect::<Vec<_>>().join(" ").replace("[[step]] ", "\n").trim().to_owned()
}

fn notices(text: &str) -> Vec<String> {
    read(text, &Bench::default()).notices.iter().map(|notice| format!("{}: {notice}", notice.place.line)).collect()
}

#[test]
fn a_job_becomes_a_step() {
    let text = "[rand read]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=32\nsize=1g\nruntime=30\ntime_based\n\
                numjobs=4\ngroup_reporting\nnorandommap\n";
    assert_eq!(
        clean(text),
        "name=rand-read rw=randread bs=4k iodepth=32 numjobs=4 size=4g runtime=30s",
        "each clone has a file of its own, so the span is four times as long"
    );
}

#[test]
fn a_job_ends_when_its_size_is_moved_as_often_as_it_loops() {
    for (options, fields) in [
        ("size=1g", "size=1g io_size=1g"),
        ("size=1g\nloops=3", "size=1g io_size=3g"),
        ("size=1g\nnumjobs=2", "numjobs=2 size=2g io_size=2g"),
        ("size=1g\nio_size=64m", "size=1g io_size=64m"),
        ("size=1g\nio_size=25%", "size=1g io_size=256m"),
        ("size=1g\nruntime=5m", "size=1g runtime=300s io_size=1g"),
        ("size=1g\nruntime=5m\ntime_based", "size=1g runtime=300s"),
        ("size=1g\ntime_based", "size=1g io_size=1g"),
        ("size=1g\nnumber_ios=10", "size=1g number_ios=10 io_size=1g"),
        ("filename=/dev/x", "io_size=100%"),
        ("filename=/dev/x\nloops=2\noffset=1m", "offset=1m io_size=200%"),
        ("filesize=1m\nnrfiles=1\nsize=4m", "size=1m io_size=1m"),
    ] {
        let fields = fields.replace("numjobs=2 ", "");
        let told = clean(&format!("[a]\n{options}\n")).replace(" numjobs=2", "");
        assert_eq!(told, format!("name=a rw=read bs=4k iodepth=1 {fields}"), "{options}");
    }
}

/// What is moved of a file of 1 MiB. Source: logs of fio 3.33, which the test `fio_differential` of `assay` compares.
#[test]
fn a_pass_ends_where_fio_finds_no_place_for_another_request() {
    for (options, span, moved) in [
        ("rw=read:8k\nbs=16k\nsize=128k", 136, 96),
        ("rw=read:16k\nbs=16k\nsize=128k", 128, 64),
        ("rw=read:8k\nbs=16k\nsize=128k\nio_size=256k", 136, 256),
        ("rw=read:16k\nbs=16k\nsize=1m", 1024, 1024),
        ("rw=read\nsize=10k", 12, 12),
        ("rw=read\nsize=10k\noffset=1016k", 10, 8),
        ("rw=randread\nsize=10k", 10, 8),
        ("rw=randread\nsize=10k\nnorandommap", 10, 12),
        ("rw=read\nsize=64k\nio_size=10k", 64, 12),
        ("rw=read\nsize=64k\nio_size=100k\nloops=2", 64, 128),
        ("rw=read\nsize=50%\noffset=75%", 256, 256),
        ("rw=read\nbs=64k\nsize=33%", 320, 320),
        ("rw=read\nbs=64k\nsize=100%\noffset=33%", 640, 640),
    ] {
        let bench = Bench::default().capacity("x", Bytes::from_mib(1));
        let import = read(&format!("[a]\nfilename=x\n{options}\n"), &bench);
        assert!(!import.refused() && import.notices.is_empty(), "{options}: {:?}", import.notices);
        let job = import.jobs().next().unwrap();
        let found = [job.workload.size, job.workload.stop.bytes].map(|bytes| bytes.unwrap().get() >> 10);
        assert_eq!(found, [span, moved], "{options}");
    }
}

#[test]
fn jobs_side_by_side_are_one_step_with_what_they_share() {
    let text = "[global]\nfilename=/dev/x\nioengine=libaio\ndirect=1\nruntime=30\ntime_based\n[Reader]\nrw=randread\ndescription=all day\n\
                [writer]\nrw=write\nbs=1m\n[after]\nstonewall\nrw=read\n";
    let import = read(text, &Bench::default());
    assert!(import.notices.is_empty(), "{:?}", import.notices);
    assert_eq!((import.target.as_deref(), import.direct, import.layout()), (Some("/dev/x"), true, false));
    let text = plan_text(&import, Path::new("jobs/a.fio"), false);
    let from = text.find("[[step]]").unwrap();
    assert_eq!(
        &text[from..],
        "[[step]]\nname = \"group-1\"\ntitle = \"2 concurrent jobs\"\niodepth = \"1\"\nruntime = \"30s\"\nkeep-state = \
         true\n\n# all \
         day\n[[step.job]]\nname = \"reader\"\nrw = \"randread\"\nbs = \"4k\"\nnorandommap = \
         \"0\"\n\n[[step.job]]\nname = \"writer\"\nrw = \"write\"\nbs = \"1m\"\n\n[[step]]\nname = \"after\"\ntitle = \
         \"after\"\nrw = \"read\"\nbs = \"4k\"\niodepth = \"1\"\nruntime = \"30s\"\n"
    );
}

#[test]
fn jobs_wait_for_those_that_they_name() {
    let text = "[global]\nfilename=/dev/x\n[a]\n[b]\nwait_for=a\n[c]\nwait_for=a\n[d]\nwait_for=c\n[e]\n";
    let import = read(text, &Bench::default());
    let groups =
        import.groups.iter().map(|group| group.jobs.iter().map(|job| &*job.name).collect::<Vec<_>>().join(" "));
    assert_eq!(groups.collect::<Vec<_>>(), ["a e", "b c", "d"]);
    assert_eq!(notices("[a]\nfilename=x\nwait_for=b\n"), ["3: `wait_for`: no job above is called `b`"]);
}

#[test]
fn requests_are_what_they_are_in_fio() {
    for (options, fields) in [
        ("rw=read:60k", "rw=read:60k bs=4k"),
        ("rw=write\nbs=4k,8k,16k", "rw=write bs=8k"),
        ("rw=randtrim\nbs=4k,8k,16k", "rw=randtrim bs=16k"),
        ("rw=rw\nbs=4k,8k", "rw=readwrite bssplit=4k/100,8k/100 iodepth=1 rwmixread=50"),
        ("bs=4kib\nkb_base=1000", "rw=read bs=4k"),
        ("bsrange=4k-4k", "rw=read bs=4k"),
        ("bsrange=1k-4k", "bssplit=1k/25:2k/25:3k/25:4k/25"),
        ("bssplit=4k/60:64k/40:1m/0", "bssplit=4k/60:64k/40"),
        ("bssplit=4k/10:8k/20", "bssplit=4k/10:8k/90"),
        ("bssplit=4k/80:8k/80", "bssplit=4k/80:8k/20"),
        ("bssplit=4k-16k/30:8k/0", "bssplit=4k/30:8k/70"),
        ("rw=rw\nbssplit=,8k/50:16k/50\nbs=4k", "bssplit=4k/100,8k/50:16k/50"),
        ("rw=rw\nbs=8k,", "bssplit=8k/100,4k/100"),
        ("rw=write\nrate_iops=100,", "rw=write bs=4k iodepth=1 size=1g"),
        ("rw=rw", "mixed_positions=separate"),
        ("rw=randrw\nrwmixread=70\nrwmixwrite=60", "rwmixread=40"),
        ("rw=randwrite\nba=512\npercentage_random=10,20", "percentage_random=20 blockalign=512"),
        ("rw=randread\nrandom_distribution=zipf", "random_distribution=zipf:1.1"),
        ("rw=randread\nrandom_distribution=normal", "random_distribution=normal-scattered:8.33"),
        ("rw=write\nend_fsync=1", "end_fsync=1"),
        ("rw=write\nfsync_on_close=1", "end_fsync=1"),
        ("number_ios=5\nramp_time=1", "number_ios=5"),
        ("rw=randread\nrandom_distribution=zoned:50/5:30/15:20/", "random_distribution=zoned:50/5:30/15:20/80"),
        ("rw=write\nzero_buffers\nsync=1\nfsync=8", "zero_buffers=1 sync=dsync fsync=8"),
        ("thinktime=500\nthinktime_blocks=4", "thinktime=500us thinktime_blocks=4"),
        ("ioengine=psync\niodepth=32", "iodepth=1 "),
        ("ioengine=psync\niodepth=32\nio_submit_mode=offload", "iodepth=32 "),
        ("iodepth=32", "iodepth=1 "),
        ("rate=1m", "rate=1m"),
        ("rate=1250", "rate=1250"),
        ("rw=randrw\nrate=1m,3m", "rwmixread=25"),
        ("rw=randrw\nrwmixread=12.5", "rwmixread=12"),
        ("rw=randrw\nrwmixread=100\nrate_iops=100,300", "rwmixread=100 norandommap=0 rate_iops=100 size=1g"),
        ("rw=randrw\nrate_iops=100", "rate_iops=200"),
        ("rate_iops=50\nrate_process=poisson", "rate_iops=50 rate_process=poisson"),
        ("offset_increment=1g\nnumjobs=2", "numjobs=2 size=2g"),
        ("startdelay=5", "name=delay-1 do=idle time=5s"),
        ("ramp_time=2", "ramp_time=2s"),
        (
            "ss=iops_slope:0.1%\nss_dur=1m\nss_ramp=5",
            "steadystate=iops_slope:0.1% steadystate_duration=60s steadystate_ramp_time=5s",
        ),
        ("steadystate=bw:10m\nsteadystate_duration=7500ms", "steadystate=bw:10m steadystate_duration=7s"),
        (
            "ss=lat:5%\nss_dur=60\nss_interval=10",
            "steadystate=lat:5% steadystate_duration=60s steadystate_check_interval=10s",
        ),
        ("ss=iops:1%\nss_dur=900ms", "rw=read bs=4k iodepth=1 size=1g io_size=1g"),
        ("ss_dur=9\nss_ramp=2\nrw=write", "rw=write bs=4k iodepth=1 size=1g io_size=1g"),
    ] {
        let import = read(&format!("[a]\nsize=1g\nfilename=x\n{options}\n"), &Bench::default());
        let told = steps(&import);
        assert!(!import.refused() && told.contains(fields), "{options}: {told} {:?}", import.notices);
    }
}

#[test]
fn clones_that_begin_apart_are_jobs_of_their_own() {
    let text = "[a]\nfilename=x\nrw=randread\nsize=1m\nnumjobs=2\noffset_increment=4m\n";
    let told: Vec<_> = read(text, &Bench::default())
        .jobs()
        .map(|job| (job.name.clone(), job.workload.offset, job.workload.stop.bytes))
        .collect();
    let megabyte = Some(Bytes::from_mib(1));
    assert_eq!(told, [("a-1".to_owned(), Bytes::ZERO, megabyte), ("a-2".to_owned(), Bytes::from_mib(4), megabyte)]);
}

#[test]
fn what_is_honoured_is_not_told() {
    for options in [
        "rate=5000",
        "rate=10m,\nbssplit=4k/50:8k/50",
        "rw=randrw\nrate_iops=100,900",
        "rw=randread\npercentage_random=50\nbssplit=4k/50:8k/50\nnorandommap\ntime_based\nruntime=9\nrandrepeat=0",
    ] {
        let told = notices(&format!("[a]\nsize=1g\nfilename=x\n{options}\n"));
        assert!(told.iter().all(|notice| !notice.contains("not honoured")), "{options}: {told:?}");
    }
}

#[test]
fn jobs_of_a_group_wait_for_what_they_have_in_common_and_begin_one_after_the_other() {
    let import = read("[global]\nsize=1g\nfilename=x\nstartdelay=2\n[a]\n[b]\nstartdelay=5\n", &Bench::default());
    assert!(steps(&import).contains("name=delay-1 do=idle time=2s"), "{}", steps(&import));
    let delays: Vec<_> = import.jobs().map(|job| job.workload.delay).collect();
    assert_eq!((delays, import.notices.len()), (vec![Nanos::ZERO, Nanos::from_secs(3)], 0));
}

#[test]
fn a_delay_behind_others_counts_from_the_first_of_all_jobs() {
    let begins = |first: &str| {
        let text = format!(
            "[global]\nsize=1g\nfilename=x\n[a]\n{first}\n[b]\nstonewall\n[c]\nstartdelay=3\n[d]\nstartdelay=6\n"
        );
        let import = read(&text, &Bench::default());
        let delays: Vec<_> = import.jobs().map(|job| job.workload.delay.as_nanos() / 1_000_000_000).collect();
        (delays, import.notices.len())
    };
    assert_eq!(begins("runtime=4\ntime_based"), (vec![0, 0, 0, 2], 0));
    assert_eq!(begins("io_size=1m"), (vec![0, 0, 3, 6], 2), "nobody knows when they begin, which is told of each");
    let late =
        "[global]\nsize=1g\nfilename=x\ntime_based\nruntime=9\n[a]\nruntime=RUN\n[b]\nstartdelay=4\n[c]\nstonewall\n";
    let told = |run: &str| notices(&late.replace("RUN", run)).join("\n");
    assert!(told("2").contains("only if it has begun") && !told("5").contains("has begun"), "{}", told("2"));
}

#[test]
fn jobs_that_fio_would_judge_one_by_one_are_told_to_be_judged_together() {
    let told = |options: &str, jobs: &str| {
        notices(&format!("[global]\nfilename=x\nsize=1g\nss=iops:1%\nss_dur=9\n{options}\n{jobs}")).join("\n")
    };
    let two = "[a]\n[b]\n";
    assert_eq!(told("numjobs=1", "[a]\n"), "");
    assert_eq!(told("numjobs=4\ngroup_reporting", two), "");
    assert!(told("numjobs=4", "[a]\n").contains("judged together"));
    assert!(told("", two).contains("judged together"));
    assert!(told("group_reporting", "[a]\n[b]\nss=iops:2%\n").contains("fio refuses jobs"));
    assert!(told("ss_interval=2", two).contains("whole intervals of whole seconds"));
    assert_eq!(told("group_reporting", "[a]\n[b]\nramp_time=500ms\n"), "");
    assert!(told("group_reporting", "[a]\n[b]\nnew_group\n").contains("judged together"));
    assert_eq!(told("", "[a]\n[b]\nstonewall\n"), "");
}

#[test]
fn files_become_parts_of_one_target() {
    let import = read("[a]\nsize=1m\n[b]\nsize=2m\n[c]\nfilename=named\nsize=4m\n", &Bench::default());
    let begins: Vec<_> = import.jobs().map(|job| job.workload.offset.get() >> 20).collect();
    assert_eq!((begins, import.size, import.target), (vec![0, 1, 3], Some(Bytes::from_mib(7)), None));
    assert_eq!(
        import.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["`filename=named` is not honoured: `named` is the part of the one target that begins at 3 MiB"]
    );
}

#[test]
fn shares_of_a_target_need_one_whose_length_is_known() {
    let text = "[a]\nfilename=/dev/x\nsize=50%\noffset=25%\n";
    let bench = Bench::default().capacity("/dev/x", Bytes::from_mib(8));
    assert!(steps(&read(text, &bench)).contains("size=4m offset=2m io_size=4m"));
    assert!(notices(text)[0].contains("the size of /dev/x is unknown here"), "{:?}", notices(text));
}

#[test]
fn what_is_not_honoured_is_told_with_its_line_and_what_follows() {
    for (options, words) in [
        ("verify=crc32c", "3: `verify=crc32c` is not honoured: written data is not verified"),
        ("verify=md5\nverify_fatal", "4: `verify_fatal` is not honoured: it is a detail of `verify`"),
        ("filename=x\nfilename=y", "fio uses both files by turns"),
        ("rw=randrw\nfsync=4", "flushes again after each read"),
        ("rw=write\nend_fsync=1\nloops=2", "a flush follows the last loop alone"),
        ("rw=rw:4k", "the job ends with its size"),
        ("loops=0", "the job runs once"),
        ("rw=read:-8k", "addresses go forward without gaps, not backward"),
        ("rw=randread\nbssplit=512/50:4k/50\nnorandommap=0", "may repeat before all others"),
        ("rw=randrw\nrate_iops=1,999", "0 % of requests are reads; by these rates 0.10 % are"),
        ("filesize=50%", "the file is used as long as it is"),
        ("rw=randread\npercentage_random=50\nbssplit=4k/50:8k/50", "the job ends with its size"),
        (
            "rw=randread\npercentage_random=50\nbssplit=4k/50:8k/50\ntime_based\nruntime=9",
            "makes those of the beginning again",
        ),
        ("rate=1m\nthinktime=5", "4: `thinktime=5` is not honoured"),
        ("ioengine=libaio\niodepth=4", "without `direct=1` libaio mostly blocks"),
        ("ioengine=mmap", "nothing is mapped"),
        ("nrfiles=4", "one range as long as the 4 files together"),
        ("filename=x:y", "instead of 2 files"),
        ("invalidate=0", "run with `--invalidate=0`"),
        ("cpus_allowed=1", "workers are not pinned"),
        ("fsync=1\nfdatasync=2\nrw=write", "4: `fdatasync=2` is not honoured"),
        (
            "offset=1MiB\nfilename=x",
            "1000000 bytes are no whole number of 512 B sectors; 999936 are taken; fio counts `MiB` in thousands",
        ),
        (
            "offset_increment=700\nfilename=x\nnumjobs=2",
            "700 bytes are no whole number of 512 B sectors; 512 are taken",
        ),
        ("bsrange=512-512k", "of the 1024 multiples of 512 B"),
        ("flow=2", "at their own rates"),
        ("numjobs=400\nfilename=x", "of more than 64 clones, all share one file"),
    ] {
        let text = format!("[a]\nsize=1g\n{options}\n");
        let import = read(&text, &Bench::default());
        let said = notices(&text).join("\n");
        assert!(!import.refused() && said.contains(words), "{options}: {said}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_its_line() {
    for (text, words) in [
        ("[a]\nioengine=cpuio\ncpuload=50\n", "2: a job with `ioengine=cpuio` cannot be run"),
        ("[a]\nsize=1m\nrw=trimwrite\n", "3: a job with `rw=trimwrite` cannot be run"),
        ("[a]\nsize=1m\nmerge_blktrace_file=x\n", "recordings are not merged here"),
        ("[a]\nsize=1m\nread_iolog=x\nnumjobs=2\n", "4: `numjobs`: a trace is replayed by one worker"),
        ("[a]\nrw=read\n", "1: the size of job `a`'s file is not given"),
        ("[a]\nsize=1m\nrw=randreed\n", "3: `rw`: `randreed` is not a pattern; did you mean `randread`?"),
        ("[a]\nsize=1m\nbs=0\n", "3: `bs`: block size 0 B"),
        ("[a]\nfilename=x\nsize=1m\nbs=0\noffset=0\nrw=read:4k\n", "4: `bs`: block size 0 B"),
        ("[a]\nsize=1m\nbs=100\n", "3: `bs`: block size 100 B is not a whole number of 512 B sectors"),
        ("[a]\nsize=1m\nbs=4KiB\n", "fio counts `KiB` in thousands and `k` in steps of 1,024"),
        ("[a]\nsize=1m\niodepth=0\nioengine=libaio\n", "3: `iodepth`: queue depth 0"),
        ("[a]\nsize=1k\n", "2: `size`: the workload would stop before its first request"),
        ("[a]\nsize=1m\npercentile_list=50:101\n", "3: `percentile_list`: `101` is not a percentile"),
        ("[a]\nfilename=x\nsize=200%\n", "3: `size`: 200 % of a file cannot be"),
        ("[a]\nsize=1m\nbssplit=4k/60:8k/60:16k\n", "the shares in `4k/60:8k/60:16k` make 120 %"),
        ("[a]\nsize=1m\ndirect=yes\n", "3: `direct`: `yes` is neither 0 nor 1"),
        ("[a]\nsize=1m\nioengine=libao\n", "did you mean `libaio`?"),
        ("[a]\nsize=1m\nsync=2\n", "use one of none, 0, sync, 1, dsync"),
        ("", "the file has no job"),
        ("[global]\nrw=read\nfilename=y\nfilename=z\n", "the file has no job"),
    ] {
        let said = notices(text).join("\n");
        assert!(read(text, &Bench::default()).refused() && said.contains(words), "{text}: {said}");
    }
}

#[test]
fn a_plan_reads_back_as_the_jobs_were_read() {
    let text = "[global]\nsize=64m\nfilename=x\nioengine=libaio\ndirect=1\nstonewall\n\
                [a]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40\niodepth=8\nruntime=10\nthinktime=5ms\n\
                [b \"é\"]\nrw=write\nfsync=4\nbuffer_compress_percentage=30\noffset=1m\nio_size=8m\nramp_time=100ms\n\
                [c]\nrw=randread\nrate_iops=500\nrate_process=poisson\nrandom_distribution=zipf:0.9\nnumber_ios=1000\n\
                [d]\nfill_device\nrw=rw\nbs=4k,8k\n";
    let import = read(text, &Bench::default());
    assert!(!import.refused(), "{:?}", import.notices);
    let text = plan_text(&import, Path::new("jobs/ä b.fio"), true);
    let plan = crate::parse(&text, crate::PlanLength::Full, &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let read: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            crate::Action::Measure(measure) => Some(&measure.cells[0].workload),
            _ => None,
        })
        .collect();
    assert_eq!(read, import.jobs().map(|job| &job.workload).collect::<Vec<_>>());
    assert_eq!((plan.name.as_str(), plan.steps.len()), ("b", 5));
}

#[test]
fn every_option_is_honoured_explained_or_named() {
    let explained = |text: &str| {
        let import = read(text, &Bench::default());
        assert!(!import.refused() && import.notices.is_empty(), "{:?}", import.notices);
        import
            .natural
            .iter()
            .map(|Natural { line, option, .. }| format!("{line} {option}"))
            .collect::<Vec<_>>()
            .join("|")
    };
    for (options, told) in [
        ("rwmixread=70\nrandom_distribution=zipf\nfsync=1", "3 rwmixread=70|4 random_distribution=zipf|5 fsync=1"),
        ("bs=8k\nbssplit=4k/50:8k/50", "3 bs=8k"),
        ("thinktime_blocks=4\nrate_process=poisson", "3 thinktime_blocks=4|4 rate_process=poisson"),
        ("buffered=1\ndirect=1\noffset_increment=1m", "3 buffered=1|5 offset_increment=1m"),
        ("exitall\ngroup_reporting\nthread", "3 exitall|4 group_reporting|5 thread"),
        ("runtime=5\ntime_based\nloops=4\nio_size=1m", "5 loops=4|6 io_size=1m"),
        ("rw=rw\nrwmixread=40\nrwmixwrite=60", "4 rwmixread=40"),
    ] {
        assert_eq!(explained(&format!("[a]\nsize=1g\n{options}\n")), told);
    }
}

#[test]
fn every_option_of_fios_that_can_be_said_is_dealt_with() {
    let mut lost = Vec::new();
    for known in table::all() {
        let value = match known.treatment {
            table::Treatment::Honoured => continue,
            _ => "7",
        };
        let text = format!("[a]\nsize=1g\n{}={value}\n", known.name);
        let import = read(&text, &Bench::default());
        let told = import.notices.iter().any(|notice| notice.place.line == 3)
            || import.natural.iter().any(|natural| natural.line == 3);
        if !told {
            lost.push(known.name);
        }
    }
    assert!(lost.is_empty(), "nothing is said of {lost:?}");
}

#[test]
fn a_job_that_replays_a_trace_is_taken_over() {
    let text = "[a]\nread_iolog=t.log\nreplay_redirect=/dev/sdx\nreplay_time_scale=200\nreplay_scale=2\nrw=randread\n\
                bs=16k\nioengine=libaio\niodepth=8\ndirect=1\nwrite_iolog=again.log\nreplay_align=4096\n";
    let import = read(text, &Bench::default());
    assert!(!import.refused());
    assert_eq!(import.target.as_deref(), Some("/dev/sdx"));
    let job = import.jobs().next().unwrap();
    assert_eq!(job.record.as_deref(), Some("again.log"));
    let options: Vec<String> = job.workload.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(options, ["read_iolog=t.log", "replay_time_scale=200", "replay_scale=2"]);
    assert_eq!(job.workload.queue_depth, 8);
    assert_eq!(job.workload.stop, workload::Stop::default(), "it ends with its trace");
    let said = notices(text).join("\n");
    assert!(said.contains("`replay_align=4096` is not honoured"), "{said}");
    let plan = plan_text(&import, Path::new("job.fio"), false);
    assert!(plan.contains("`bs=16k`: the trace determines it") && plan.contains("writes the log again.log"), "{plan}");
    assert!(!plan.contains("\nbs = ") && plan.contains("\nread_iolog = \"t.log\""), "{plan}");
    let parsed = crate::parse(&plan, crate::PlanLength::Full, &[]).unwrap();
    let crate::Action::Measure(measure) = &parsed.steps[0].action else { panic!("{plan}") };
    assert_eq!(measure.cells[0].workload, job.workload);
}

#[test]
fn values_for_reads_and_writes_are_parted_as_in_fio() {
    // What fio 3.33 prints of these: (R) 4096B-4096B, (W) 512KiB-512KiB.
    for text in ["4k,512k", "4k-512k", "4k:512k"] {
        for (rw, expected) in [("randread", "bs=4k"), ("randwrite", "bs=512k")] {
            let job = clean(&format!("[a]\nfilename=x\nsize=1m\nrw={rw}\nnorandommap=1\nbs={text}\n"));
            assert!(job.contains(expected), "{text}: {job}");
        }
    }
    assert!(clean("[a]\nfilename=x\nsize=1m\nrw=randread\nnorandommap=1\nbs=(8k-4k)\n").contains("bs=4k"));
}

#[test]
fn sizes_and_offsets_may_be_counted_in_zones() {
    let text = "[a]\nfilename=d\nzonemode=zbd\noffset=3z\nsize=2z\nio_size=5z\noffset_increment=4z\n";
    let bench = Bench::default().zone("jobs/d", Bytes::from_mib(2)).zone("d", Bytes::from_mib(2));
    let import = read(text, &bench);
    let workload = &import.jobs().next().unwrap().workload;
    assert_eq!((workload.offset, workload.size), (Bytes::from_mib(6), Some(Bytes::from_mib(4))));
    assert_eq!(workload.stop.bytes, Some(Bytes::from_mib(10)));
    let import = read(text, &Bench::default());
    assert!(import.refused() && import.notices[0].to_string().contains("give bytes"), "{:?}", import.notices);
}

#[test]
fn a_share_of_the_range_is_what_each_pass_moves_where_the_engine_queues() {
    let moved = |more: &str| {
        let text = format!("[a]\nrw=write\nbs=8k\nsize=64k\nio_size=50%\nloops=2\n{more}\n");
        let import = read(&text, &Bench::default());
        let workload = import.jobs().next().unwrap().workload.clone();
        (workload.size.unwrap().get() >> 10, workload.stop.bytes.unwrap().get() >> 10)
    };
    assert_eq!(moved("ioengine=psync"), (64, 64), "one pass over all");
    assert_eq!(moved("ioengine=libaio"), (32, 64), "two over the first half");
}

#[test]
fn each_clone_moves_what_lies_behind_where_it_begins() {
    let words = ["--name=a", "--filename=d", "--numjobs=3", "--offset_increment=64k"].map(str::to_owned);
    let bench = Bench::default().capacity("d", Bytes::from_kib(256));
    let import = import_line(&CommandLine::read(&words, |_| None), &[], &[], &bench);
    let kib = |bytes: Bytes| bytes.get() >> 10;
    let clones = import.jobs().map(|job| (kib(job.workload.offset), kib(job.workload.stop.bytes.unwrap())));
    assert_eq!(clones.collect::<Vec<_>>(), [(0, 256), (128, 128), (64, 192)]);
}
