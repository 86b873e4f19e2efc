//! A simulated drive as a block device: what is written reads back, and nothing is left behind.

mod support;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use support::{Place, other, skip, tool};

/// A small X25-M.
const DRIVE: &str = "x25-m?capacity.user=1GiB";

/// Whether drives can be attached on this machine; otherwise the reason is said.
fn can_attach() -> bool {
    let missing = [
        (!rustix::process::geteuid().is_root(), "attaching needs root"),
        (!Path::new("/dev/fuse").exists(), "there is no /dev/fuse"),
        (!Path::new("/dev/loop-control").exists(), "there is no /dev/loop-control"),
        (tool("losetup").is_none(), "there is no losetup"),
        (tool("setsid").is_none(), "there is no setsid"),
    ];
    let reason = missing.into_iter().find(|(is_missing, _)| *is_missing);
    reason.iter().for_each(|(_, reason)| skip(reason));
    reason.is_none()
}

/// A drive that is attached in the background, and taken away at the end.
struct Attached<'p> {
    place: &'p Place,
    device: String,
}

impl<'p> Attached<'p> {
    fn new(place: &'p Place, more: &[&str]) -> Self {
        let device = place.succeeds(&[&["attach", DRIVE, "--daemon"], more].concat());
        Self { place, device: device.trim().to_owned() }
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.device).unwrap()
    }

    /// The process that answers.
    fn pid(&self) -> u32 {
        let name = Path::new(&self.device).file_name().unwrap().to_owned();
        let entry = fs::read_to_string(Path::new("/run/assay").join(name).with_extension("json")).unwrap();
        let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
        entry["pid"].as_u64().unwrap() as u32
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.place.assay(&["detach", &self.device]);
    }
}

/// What of a process and its device is still there.
fn left_behind(pid: u32, device: &str) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut left: Vec<String> =
        mounts.lines().filter(|line| line.contains(&format!("drive-{pid} "))).map(str::to_owned).collect();
    let files = fs::read_dir("/run/assay").unwrap().map(|file| file.unwrap().path());
    left.extend(
        files.filter(|path| path.to_string_lossy().contains(&pid.to_string())).map(|path| path.display().to_string()),
    );
    left.extend(
        other("losetup", &["--all"]).lines().filter(|line| line.starts_with(&format!("{device}:"))).map(str::to_owned),
    );
    // One that has ended and waits for its parent to hear of it has no command line any more.
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    left.extend((!command.is_empty()).then(|| format!("process {pid}")));
    left
}

#[test]
fn what_is_written_reads_back_also_after_it_was_detached_and_attached_again() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let backing = place.path("data").display().to_string();
    let written: Vec<u8> = (0..1 << 20).map(|byte: u32| (byte % 251) as u8).collect();
    let pid = {
        let drive = Attached::new(&place, &["--backing", &backing]);
        let mut device = drive.open();
        device.seek(SeekFrom::Start(300 << 20)).unwrap();
        device.write_all(&written).unwrap();
        device.sync_all().unwrap();
        assert!(place.succeeds(&["attached"]).contains(&drive.device));
        drive.pid()
    };
    let drive = Attached::new(&place, &["--backing", &backing]);
    let mut device = drive.open();
    device.seek(SeekFrom::Start(300 << 20)).unwrap();
    let mut read = vec![0; written.len()];
    device.read_exact(&mut read).unwrap();
    assert!(read == written);
    let device_of_both = drive.device.clone();
    let second = drive.pid();
    drop((device, drive));
    assert_eq!(left_behind(pid, &device_of_both), [""; 0]);
    assert_eq!(left_behind(second, &device_of_both), [""; 0]);
}

#[test]
fn a_drive_with_a_mounted_file_system_is_not_detached_until_it_is_unmounted() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let point = place.path("mounted").display().to_string();
    fs::create_dir(&point).unwrap();
    other("mkfs.ext4", &["-q", &drive.device]);
    other("mount", &[&drive.device, &point]);
    let said = place.refuses(&["detach", &drive.device]);
    assert!(said.contains(&point) && said.contains("by force"), "{said}");
    fs::write(PathBuf::from(&point).join("file"), vec![7; 100_000]).unwrap();
    other("umount", &[&point]);
    other("fsck.ext4", &["-f", "-n", &drive.device]);
    let (pid, device) = (drive.pid(), drive.device.clone());
    place.succeeds(&["detach", &device]);
    assert_eq!(left_behind(pid, &device), [""; 0]);
    assert!(place.refuses(&["detach", &device]).contains("is no attached drive"));
}

#[test]
fn requests_to_a_drive_whose_server_was_killed_fail_and_do_not_hang() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let (pid, mut device) = (drive.pid(), drive.open());
    other("kill", &["-9", &pid.to_string()]);
    let began = Instant::now();
    let failed =
        device.read_exact(&mut [0; 4096]).and_then(|()| device.write_all(&[1; 4096])).and_then(|()| device.sync_all());
    assert!(failed.is_err() && began.elapsed() < Duration::from_secs(10), "{failed:?} after {:?}", began.elapsed());
    drop(device);
    assert!(place.succeeds(&["attached"]).contains("its server is gone"));
    place.succeeds(&["detach", &drive.device]);
    assert_eq!(left_behind(pid, &drive.device), [""; 0]);
}

#[test]
fn a_request_takes_as_long_as_the_drive_would() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let expected = |document: String| {
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        document["read"]["latency_ns"]["p50"].as_f64().unwrap() / 1e3
    };
    let read = ["--rw=randread", "--number_ios=2000", "--format=json"];
    let model = expected(place.succeeds(&[&["run", &format!("sim:{DRIVE}")], &read[..]].concat()));
    let drive = Attached::new(&place, &["--worn"]);
    let attached = expected(place.succeeds(&[&["run", &drive.device], &read[..]].concat()));
    // A machine that is busy with other tests may be late, but it is never early by more than the way there costs.
    assert!(attached > model * 0.9 && attached < model + 400.0, "{attached} µs for {model} µs");
}

#[test]
fn what_cannot_be_attached_is_told() {
    let place = Place::new();
    assert!(place.refuses(&["attach", "x25-n"]).contains("x25-m"));
    assert!(place.refuses(&["attach", DRIVE, "--speed=2"]).contains("more than 0 and at most 1"));
}
