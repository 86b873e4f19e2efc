//! File systems on loop devices and on an attached drive: measured, and nothing left behind.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Staged, attempt, can_stage, choices, condition, done, experiment, figure, loops_over};
use assay_trial::{Choices, TrialError};
use block::Bytes;

const MAKERS: &[&str] = &["mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "losetup"];
/// The least that all of them can be made on.
const SMALL: Bytes = Bytes::from_mib(400);
/// A small X25-M, which writes 70 MB/s and answers a read in 85 µs at the least.
const DRIVE: &str = "x25-m?capacity.user=1GiB";

/// Why such choices are not right.
fn wrong(name: &str, told: &str) -> String {
    let choices = choices(name, told);
    experiment(name).check(&choices).expect_err(told).to_string()
}

#[test]
fn what_makes_no_sense_is_told_with_what_would() {
    let cases = [
        ("files", "size=64k threads=8 bs=64k", "at least 512 KiB"),
        ("files", "bs=100", "less than a sector"),
        ("files", "fs=none mount=noatime", "`mount` does not apply to a device without a file system"),
        ("files", "fs=none fs-block=4k", "`fs-block` does not apply"),
        ("files", "memory=64MiB", "choose that, or leave memory out"),
        ("files", "cache=limit memory=64MiB size=100MiB", "twice as much data"),
        ("files", "cache=limit size=64MiB bs=1m iodepth=32", "at most 16 MiB in flight"),
        ("metadata", "nrfiles=3 threads=4", "give at least 4"),
        ("metadata", "filesize=1GiB", "not small"),
        ("flood", "runtime=0s", "`runtime` is too short"),
        ("flood", "write-size=64k writers=2", "`write-size` of 64 KiB is less than one request each"),
        ("cross-check", "bs=48k", "a power of two"),
        ("cross-check", "size=1MiB", "give at least 64 MiB"),
        ("files", "fs=btrfs mkfs=/dev/loop0", "the only device"),
        ("metadata", "fs=xfs mkfs=-l+logdev=/dev/loop0,size=64m", "mkfs.xfs -l `logdev`"),
        ("flood", "fs=ext4 mkfs=-J+device=/dev/loop0", "mkfs.ext4 -J `device`"),
        ("cross-check", "fs=ext4 mount=noatime,data=everything", "one of journal, ordered, writeback"),
        ("files", "fs=ext4 mkfs=-m+0+-E+stride=abc", "give a whole number"),
    ];
    for (name, told, words) in cases {
        let said = wrong(name, told);
        assert!(said.contains(words), "{name} {told}: {said}");
    }
    let mut choices = Choices::of(experiment("files").choices());
    let said = choices.tell("fs", "reiserfs").unwrap_err().to_string();
    assert!(said.contains("ext2, ext3, ext4, xfs, btrfs, none"), "{said}");
}

#[test]
fn the_defaults_make_sense_and_cost_something() {
    for name in ["files", "metadata", "flood", "cross-check"] {
        let (experiment, choices) = (experiment(name), choices(name, ""));
        experiment.check(&choices).unwrap();
        assert!(experiment.cost(&choices).as_secs_f64() > 1.0 && experiment.writes(&choices) > Bytes::ZERO, "{name}");
    }
}

#[test]
fn every_file_system_is_made_measured_and_taken_away() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    for fs in ["none", "ext2", "ext3", "ext4", "xfs", "btrfs"] {
        for rw in ["write", "randread"] {
            let trial = done(&staged.stage, "files", &format!("fs={fs} rw={rw} bs=64k size=16MiB threads=2 iodepth=2"));
            assert!((figure(&trial, "Rate") / figure(&trial, "IOPS") - 65_536.0).abs() < 1.0, "{fs}: {rw}");
            assert!(figure(&trial, "Latency, 50 %") <= figure(&trial, "Latency, 99.9 %"));
            assert_eq!(condition(&trial, "page cache"), "bypassed (O_DIRECT)");
            if fs != "none" {
                assert!(condition(&trial, "mkfs").starts_with(&format!("mkfs.{fs} -")), "{:?}", trial.conditions);
                assert!(condition(&trial, "mkfs version").contains('.'));
                assert!(condition(&trial, "mount options").starts_with("rw,"));
                assert!(condition(&trial, "data").starts_with("2 × 8 MiB"));
            }
        }
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&format!("{} ", staged.stage.path().display())), "{mounts}");
    assert_eq!(loops_over(staged.folder()).len(), 1);
}

#[test]
fn every_access_is_measured_around_the_cache_and_through_it() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    let table = [
        "fs=xfs rw=rewrite",
        "fs=xfs rw=read cache=drop",
        "fs=ext4 rw=read cache=drop mount=data=journal",
        "fs=ext2 rw=randread bs=4k runtime=300ms",
        "fs=ext4 rw=randwrite bs=4k runtime=300ms fsync=8",
        "fs=ext4 rw=write cache=drop",
        "fs=btrfs rw=randrw rwmixread=70 bs=4k runtime=300ms",
        "fs=ext3 rw=rw threads=4 files=shared",
        "fs=ext4 rw=write fallocate=native buffer_compress_percentage=50",
        "fs=none rw=randwrite threads=3 cache=drop",
    ];
    for told in table {
        let trial = done(&staged.stage, "files", &format!("{told} size=12MiB"));
        let is_dropped = condition(&trial, "page cache").starts_with("cold;");
        assert_eq!(is_dropped, told.contains("drop"), "{told}");
        assert_eq!(trial.figure("Flush at the end").is_some(), is_dropped && told.contains("write"), "{told}");
        assert_eq!(trial.figure("fsync, mean").is_some(), told.contains("fsync"), "{told}");
        assert_eq!(trial.figure("Read rate").is_some(), told.contains("=rw") || told.contains("randrw"), "{told}");
        let pieces = if told.contains("shared") {
            "1 × "
        } else if told.contains("threads=3") {
            "3 × "
        } else {
            "1 × 12"
        };
        assert!(condition(&trial, "data").starts_with(pieces), "{told}: {:?}", trial.conditions);
    }
}

#[test]
fn the_options_of_published_reviews_are_taken_and_recorded() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(Bytes::from_gib(8));
    let told = "fs=xfs size=16MiB mkfs=-d+sunit=128,swidth=4096+-l+size=128m mount=noatime,logbufs=8";
    let trial = done(&staged.stage, "files", told);
    let made = condition(&trial, "mkfs");
    assert!(made.starts_with("mkfs.xfs -f -d sunit=128,swidth=4096 -l size=128m -- /dev/loop"), "{made}");
    let mounted = condition(&trial, "mount options");
    assert!(
        mounted.contains("noatime") && mounted.contains("logbufs=8") && mounted.contains("swidth=4096"),
        "{mounted}"
    );
    let trial = done(&staged.stage, "files", "fs=ext4 size=16MiB fs-block=1k mount=data=writeback,strictatime");
    assert!(condition(&trial, "mkfs").contains("-b 1024"));
    assert!(condition(&trial, "mount options").contains("data=writeback"), "{:?}", trial.conditions);
}

#[test]
fn an_option_that_is_refused_is_named_with_the_tools_own_words() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    let cases = [
        ("fs=xfs mkfs=-i+size=512+-l+size=1k", "`mkfs.xfs … -l size=1k` failed: Invalid value 1k for -l size option"),
        ("fs=ext4 mkfs=-m+0+-E+num_backup_sb=9", "`mkfs.ext4 … -E num_backup_sb=9` failed: Invalid # of backup"),
        ("fs=btrfs mkfs=-n+3000", "-n 3000` failed: ERROR: illegal nodesize 3000"),
        ("fs=xfs mount=noatime,nobarrier", "…,nobarrier /dev/loop"),
        ("fs=xfs mount=logbufs=99,noatime", "…,logbufs=99 /dev/loop"),
        ("fs=ext4 mount=noatime,journal_ioprio=9", "…,journal_ioprio=9 /dev/loop"),
        ("fs=ext4 mount=data=journal", "choose others, or cache = \"drop\""),
        ("fs=ext2 fs-block=64k", "or the mkfs options"),
        ("fs=ext2 size=1GiB", "choose a smaller size"),
    ];
    for (told, words) in cases {
        let said = attempt(&staged.stage, "files", &format!("size=16MiB {told}")).expect_err(told).to_string();
        assert!(said.contains(words), "{told}: {said}");
    }
    let said = attempt(&staged.stage, "metadata", "nrfiles=10000000").unwrap_err().to_string();
    assert!(said.contains("has inodes for") || said.contains("do not fit"), "{said}");
}

#[test]
fn names_are_made_listed_looked_at_renamed_and_deleted() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    for told in
        ["fs=ext4 threads=4 filesize=4k", "fs=xfs fsync=1 threads=2 nrfiles=40", "fs=btrfs", "fs=ext2 scheduler=none"]
    {
        let trial = done(&staged.stage, "metadata", &format!("nrfiles=800 {told}"));
        for name in ["Create", "Readdir", "Stat", "Rename", "Delete"] {
            figure(&trial, name);
        }
        for name in ["Create", "Stat", "Rename", "Delete"] {
            assert!(
                figure(&trial, &format!("{name} latency, 50 %")) <= figure(&trial, &format!("{name} latency, 99.9 %"))
            );
        }
    }
}

#[test]
fn every_scheduler_is_set_for_a_flood_and_restored() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    let setting = staged.stage.queue().unwrap().join("scheduler");
    let before = std::fs::read_to_string(&setting).unwrap();
    let offered = before.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned());
    for (at, scheduler) in offered.enumerate() {
        let fs = ["none", "ext4"][at % 2];
        let told = format!("fs={fs} scheduler={scheduler} size=16MiB write-size=16MiB runtime=300ms");
        let trial = done(&staged.stage, "flood", &told);
        assert!(condition(&trial, "scheduler").starts_with(&scheduler), "{:?}", trial.conditions);
        // How much slower they are is a matter of this machine; of a simulated drive it is tested below.
        for name in ["Read latency in the flood, mean", "Read latency alone, mean", "Written in the flood"] {
            figure(&trial, name);
        }
        assert_eq!(std::fs::read_to_string(&setting).unwrap(), before, "after {scheduler}");
    }
    let tags = staged.stage.tags().unwrap();
    let trial = done(&staged.stage, "flood", "fs=none size=16MiB write-size=16MiB runtime=200ms write-iodepth=1");
    assert!(
        trial.findings.iter().any(|finding| finding.contains(&format!("device queue depth is {tags}"))),
        "{:?}",
        trial.findings
    );
}

#[test]
fn an_attached_drive_is_as_fast_as_it_would_be() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_drive(DRIVE);
    for fs in ["none", "ext4", "xfs"] {
        let trial = done(&staged.stage, "files", &format!("fs={fs} size=24MiB bs=256k"));
        let rate = figure(&trial, "Rate");
        assert!(rate < 90e6, "the drive writes 70 MB/s, not {rate}");
        let trial = done(&staged.stage, "files", &format!("fs={fs} rw=randread bs=4k runtime=300ms size=24MiB"));
        let median = figure(&trial, "Latency, 50 %");
        assert!(median > 100e-6, "the drive takes longer for 4 KiB than {median} s");
        assert!(condition(&trial, "CPU time").contains("simulated drive"));
    }
    let trial = done(&staged.stage, "metadata", "nrfiles=300");
    figure(&trial, "Delete");
    let told = "scheduler=mq-deadline size=16MiB write-size=16MiB write-bs=16k runtime=1s";
    let trial = done(&staged.stage, "flood", told);
    // Half of the reads may come before the flood or behind it where this machine is busy, so that the median says nothing.
    let [flooded, alone] = ["in the flood", "alone"].map(|when| figure(&trial, &format!("Read latency {when}, mean")));
    assert!(flooded > 2.0 * alone, "a flood makes reads wait for its writes: {flooded} s, {alone} s alone");
    let said = attempt(&staged.stage, "files", "cache=limit size=64MiB").unwrap_err().to_string();
    assert!(said.contains("also limit the simulated drive"), "{said}");
}

#[test]
fn others_do_the_same_job_side_by_side() {
    if !can_stage(&[MAKERS, &["fio", "dd", "bonnie++"]].concat()) {
        return;
    }
    // So slow that the drive, and not a machine that others use as well, decides how fast it is.
    let staged = Staged::on_drive(DRIVE);
    let trial = done(&staged.stage, "cross-check", "fs=ext4 size=64MiB runtime=500ms");
    for tool in ["fio", "dd", "bonnie++"] {
        let ratio = figure(&trial, &format!("Write, {tool}")) / figure(&trial, "Write, assay");
        assert!((0.15..7.0).contains(&ratio), "{tool} writes {ratio:.2} times as fast");
    }
    for name in ["Read, fio", "Read, dd", "Random read, fio", "Random read latency, mean, fio"] {
        figure(&trial, name);
    }
    let papers: Vec<&str> = trial.papers.iter().map(|paper| paper.name.as_str()).collect();
    let expected = ["fio, write", "fio, read", "fio, randread", "dd, write", "dd, read", "bonnie++, CSV", "bonnie++"];
    assert_eq!(papers, expected);
}

#[test]
fn a_trial_that_is_stopped_ends_soon_and_is_no_result() {
    if !can_stage(MAKERS) {
        return;
    }
    let staged = Staged::on_file(SMALL);
    let stop = std::sync::Arc::clone(&staged.stop);
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(800));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let began = Instant::now();
    let ended = attempt(&staged.stage, "files", "rw=randwrite runtime=100s size=16MiB");
    assert!(matches!(ended, Err(TrialError::Interrupted)), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(80), "{:?}", began.elapsed());
    stopping.join().unwrap();
}
