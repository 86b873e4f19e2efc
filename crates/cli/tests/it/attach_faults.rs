//! Faults of an attached drive that were asked for, and a server that does not answer: all fails, and nothing hangs.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::attached::{Attached, DRIVE, can_attach, left_behind};
use crate::support::{Place, other};
use testkit::PATIENCE;

/// A file that goes past the page cache, and a sector-aligned buffer to go with it.
struct Direct {
    file: File,
    memory: Vec<u8>,
}

impl Direct {
    fn open(drive: &Attached) -> Self {
        Self { file: drive.open_direct(), memory: vec![7; 2 * 4096] }
    }

    fn data(&mut self) -> (&File, &mut [u8]) {
        let start = self.memory.as_ptr().align_offset(4096);
        (&self.file, &mut self.memory[start..start + 4096])
    }

    /// Reads the page at a sector.
    fn read(&mut self, sector: u64) -> std::io::Result<()> {
        let (file, data) = self.data();
        file.read_exact_at(data, sector * 512)
    }

    /// Writes it.
    fn write(&mut self, sector: u64) -> std::io::Result<()> {
        let (file, data) = self.data();
        file.write_all_at(data, sector * 512)
    }
}

fn is_io_error(done: std::io::Result<()>) -> bool {
    done.is_err_and(|error| error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()))
}

#[test]
fn bad_sectors_fail_and_all_others_do_not() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &["--fault=read-error@800000-800007", "--fault=write-error@900000"]);
    let mut device = Direct::open(&drive);
    assert!(device.read(799_992).is_ok() && device.read(800_008).is_ok() && device.write(800_000).is_ok());
    assert!(is_io_error(device.read(800_000)));
    assert!(device.read(900_000).is_ok() && is_io_error(device.write(900_000)));
    place.succeeds(&["fault", &drive.device, "none"]);
    drive.settles();
    assert!(device.read(800_000).is_ok() && device.write(900_000).is_ok());
    assert!(drive.live("failed").as_u64() >= Some(2));
}

#[test]
fn a_latency_spike_takes_as_long_as_was_asked_for() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let mut device = Direct::open(&drive);
    place.succeeds(&["fault", &drive.device, "delay=1s", "every=4", "@800000-900000"]);
    drive.settles();
    let times: Vec<Duration> = (0..8)
        .map(|_| {
            let began = Instant::now();
            device.read(800_000).unwrap();
            began.elapsed()
        })
        .collect();
    let spikes: Vec<usize> = (0..8).filter(|&read| times[read] >= Duration::from_secs(1)).collect();
    assert!(spikes.contains(&3) && spikes.contains(&7), "{times:?}");
    assert!(times.iter().filter(|time| **time < Duration::from_secs(1)).count() >= 4, "{times:?}");
}

#[test]
fn at_the_end_of_its_life_a_drive_takes_no_more_writes_and_still_reads() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &["--fault=read-only-after=1MiB"]);
    let mut device = Direct::open(&drive);
    let taken = (0..1000).take_while(|page| device.write(page * 8).is_ok()).count();
    assert!((200..=256).contains(&taken), "{taken} pages: the kernel may have written some");
    assert!(is_io_error(device.write(0)) && device.read(0).is_ok());
}

#[test]
fn a_drive_that_vanishes_fails_everything_at_once_and_can_be_detached() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let mut device = Direct::open(&drive);
    place.succeeds(&["fault", &drive.device, "vanish-after=100"]);
    drive.settles();
    let done = (0..200).take_while(|page| device.write(page * 8).is_ok()).count();
    assert!((80..=100).contains(&done), "{done} writes before it vanished");
    let began = Instant::now();
    assert!(is_io_error(device.read(0)) && is_io_error(device.write(0)) && device.file.sync_all().is_err());
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    drive.until(|| place.succeeds(&["attached"]).contains("removed by an injected fault"));
    drop(device);
    let pid = drive.pid();
    drive.detach();
    assert_eq!(left_behind(pid), [""; 0]);
}

#[test]
fn a_fault_that_is_none_and_a_drive_that_is_none_are_told() {
    let place = Place::new();
    assert!(place.refuses(&["attach", DRIVE, "--fault=red-error"]).contains("there are read-error@SECTORS"));
    assert!(place.refuses(&["fault", "/dev/null", "delay=1 parsec"]).contains("`delay=1 parsec`"));
    for (option, words) in [("--fault=delay=4000000h", "at most 365d"), ("--speed=1e-300", "at least 0.000001")] {
        assert!(place.refuses(&["attach", DRIVE, "--nbd=s", option]).contains(words), "{option}");
    }
    fs::write(place.path("empty"), "").unwrap();
    assert!(place.refuses(&["attach", "./empty", "--nbd=s"]).contains("the drive's file ./empty is empty"));
    assert!(place.refuses(&["attach", "--image=empty", "--nbd=s"]).contains("it is empty"));
    assert!(place.refuses(&["attach", DRIVE, "--nbd=empty"]).contains("a file is there"));
    let beyond = "sector 2097152 in the fault `read-error@2097152` is beyond the end of the drive";
    assert!(place.refuses(&["attach", DRIVE, "--nbd=s", "--fault=read-error@2097152"]).contains(beyond));
    if can_attach() {
        let drive = Attached::new(&place, &[]);
        let said = place.refuses(&["fault", &drive.device, "read-error@2097152"]);
        assert!(said.contains(beyond) && said.contains("sectors 0 to 2097151"), "{said}");
        assert!(place.refuses(&["fault", "/dev/null", "vanish"]).contains("is not an attached drive"));
    }
}

#[test]
fn a_server_that_is_stopped_is_found_and_ended_so_that_nothing_hangs() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let pid = drive.pid();
    other("kill", &["-STOP", &pid.to_string()]);
    // On a busy machine a thread of its may come to answer once more before it is stopped.
    let state = |thread: &Path| fs::read_to_string(thread.join("stat")).is_ok_and(|stat| stat.contains(") T "));
    drive.until(|| fs::read_dir(format!("/proc/{pid}/task")).unwrap().all(|thread| state(&thread.unwrap().path())));
    let from = format!("if={}", drive.device);
    let mut reader = Command::new("dd")
        .args([&from, "of=/dev/null", "bs=4k", "count=1", "iflag=direct"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drive.until(|| place.succeeds(&["attached"]).contains(&format!("assay detach --abort {}", drive.device)));
    assert!(reader.try_wait().unwrap().is_none(), "it waits for the drive");
    assert!(place.refuses(&["detach", &drive.device]).contains("does not answer"));
    let began = Instant::now();
    place.succeeds(&["detach", "--abort", &drive.device]);
    let read = reader.wait_with_output().unwrap();
    assert!(!read.status.success() && String::from_utf8_lossy(&read.stderr).contains("Input/output error"), "{read:?}");
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    thread::sleep(Duration::from_millis(100));
    assert_eq!(left_behind(pid), [""; 0]);
}

#[test]
fn a_run_on_a_drive_that_does_not_answer_ends_its_process_also_while_threads_wait_in_the_kernel() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    for (engine, direct, limit) in [
        ("psync", "--direct=1", "--runtime=2"),
        ("psync", "--direct=1", "--number_ios=10k"),
        ("psync", "--direct=0", "--number_ios=10k"),
        ("io_uring", "--direct=0", "--number_ios=10k"),
        ("io_uring", "--direct=1", "--number_ios=10k"),
    ] {
        let drive = Attached::new(&place, &["--fault=delay=1h@2048-2097151"]);
        let engine = format!("--ioengine={engine}");
        let words = ["run", &drive.device, "--rw=read", "--bs=4k", direct, &engine, limit, "--io-timeout=1s"];
        // Its output is read to its end, which a process that is left behind must not hold open.
        let said = place.assay(&words);
        assert_eq!(said.code, Some(1), "{engine} {limit}: {}", said.stderr);
        assert!(said.stdout.contains("no answer to the read of 4 KiB at offset "), "{engine} {limit}: {}", said.stdout);
        assert!(said.stderr.contains("1 requests failed"), "{engine} {limit}: {}", said.stderr);
        let is_left = said.stderr.contains("stays behind: the kernel ends it when the device answers");
        assert_eq!(is_left, engine.contains("psync"), "{engine} {direct}: {}", said.stderr);
        place.succeeds(&["detach", "--abort", &drive.device]);
        std::mem::forget(drive);
    }
}
