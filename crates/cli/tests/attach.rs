//! A simulated drive as a block device: what is written reads back, and nothing is left behind.

mod support;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::attached::{Attached, DRIVE, can_attach, left_behind};
use support::{Place, other, tool};

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
    let second = drive.pid();
    drop((device, drive));
    assert_eq!(left_behind(pid), [""; 0]);
    assert_eq!(left_behind(second), [""; 0]);
}

#[test]
fn a_drive_goes_on_as_it_was_detached_and_no_other_in_its_place() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let backing = place.path("data").display().to_string();
    let attach = |drive: &str, more: &[&str]| {
        let said = place.assay(&[&["attach", drive, "--daemon", "--backing", &backing], more].concat());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let device = said.stdout.trim().to_owned();
        (Attached { place: &place, device }, said.stderr)
    };
    let (drive, said) = attach(DRIVE, &[]);
    assert!(!said.contains("goes on"), "{said}");
    drive.fill(&place, 8192, "a", &["conv=notrunc,fsync"]);
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("data.state, after 4 MiB written"), "{said}");
    drive.fill(&place, 8192, "b", &["conv=notrunc,fsync"]);
    drive.cut_power();
    drive.cut();
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("after 8 MiB written. ") && !said.contains("does not know"), "{said}");
    drive.fill(&place, 8, "c", &["conv=notrunc,fsync"]);
    // A server that is killed saves nothing.
    other("kill", &["-9", &drive.pid().to_string()]);
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("after 8 MiB written. The data was written after that was saved"), "{said}");
    drive.detach();
    let refuses = |drive, more: &[&str]| place.refuses(&[&["attach", drive], more].concat());
    let state = format!("{backing}.state");
    let said = refuses(DRIVE, &["--backing", &backing, "--worn"]);
    assert!(said.contains("--worn makes another") && said.contains(&state), "{said}");
    let said = refuses("x25-m?capacity.user=2GiB", &["--backing", &backing]);
    assert!(said.contains(&format!("is the state of {DRIVE}, and x25-m?capacity.user=2GiB")), "{said}");
    let mut bytes = fs::read(&state).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&state, bytes).unwrap();
    assert!(refuses(DRIVE, &["--state", &state]).contains("its checksum is wrong"));
}

#[test]
fn a_state_can_be_had_without_data_as_that_of_a_worn_drive() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let state = place.path("worn").display().to_string();
    Attached::new(&place, &["--state", &state, "--worn"]).detach();
    let said = place.assay(&["attach", DRIVE, "--daemon", "--state", &state]);
    assert!(said.stderr.contains("after 2 GiB written"), "{}", said.stderr);
    place.succeeds(&["detach", said.stdout.trim()]);
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
    let pid = drive.pid();
    drive.detach();
    assert_eq!(left_behind(pid), [""; 0]);
    assert!(place.refuses(&["detach", "/dev/null"]).contains("is no attached drive"));
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
    drive.detach();
    assert_eq!(left_behind(pid), [""; 0]);
}

#[test]
fn a_power_cut_takes_back_what_was_not_flushed_and_nothing_else() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    // A page of flash that was written in part waits for the rest of it in the drive's memory.
    for (drive, expected) in [(DRIVE.to_owned(), "aaaaaaaa"), (format!("{DRIVE}&power.capacitor=true"), "bbbaaaaa")] {
        let backing = place.path(&format!("data-{expected}")).display().to_string();
        let attached = Attached::other(&place, &drive, &["--backing", &backing]);
        attached.fill(&place, 8, "a", &["conv=notrunc,fsync"]);
        attached.fill(&place, 3, "b", &[]);
        attached.fill(&place, 2, "b", &[]);
        attached.cut_power();
        let cut = attached.cut();
        assert_eq!(cut["sectors"], if expected.starts_with('a') { 3 } else { 0 });
        assert!(attached.open().read_exact(&mut [0; 512]).is_err() && attached.open().sync_all().is_err());
        assert!(place.succeeds(&["attached"]).contains("without power"));
        drop(attached);
        assert_eq!(Attached::other(&place, &drive, &["--backing", &backing]).letters(8), expected, "{drive}");
    }
}

#[test]
fn the_power_is_cut_after_as_many_answers_as_were_asked_for() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &["--power-cut-after=300"]);
    let mut device = drive.open();
    let failed = (0..1000).map(|_| device.write_all(&[1; 4096]).and_then(|()| device.sync_all())).find(Result::is_err);
    assert!(failed.is_some());
    assert_eq!(drive.cut()["answered"], 300);
}

/// Firmware that answers as soon as data has arrived, before flash of four times its time has programmed it: there is
/// always something to lose.
const RISKY: &str = "x25-m?capacity.user=1GiB&controller.write=0us&controller.page_write=0us&nand.program=4ms";

/// A file system on a drive whose power is cut under load.
struct Ext4 {
    place: Place,
    backing: String,
    point: PathBuf,
    /// Files that were synced, whose content is their name over and over.
    kept: Vec<String>,
    sectors_lost: u64,
}

impl Ext4 {
    fn new() -> Self {
        let place = Place::new();
        let backing = place.path("data").display().to_string();
        let point = place.path("mounted");
        fs::create_dir(&point).unwrap();
        let drive = Attached::other(&place, RISKY, &["--backing", &backing]);
        other("mkfs.ext4", &["-q", "-J", "size=4", &drive.device]);
        drop(drive);
        Self { place, backing, point, kept: Vec::new(), sectors_lost: 0 }
    }

    fn content(name: &str) -> Vec<u8> {
        name.repeat(1 + name.len() * 7919 % 5000).into_bytes()
    }

    /// Writes files and has each synced, until one cannot be; those that were.
    fn write_synced(&self, cut: usize) -> Vec<String> {
        let write = |name: &String| {
            let mut file = File::create(self.point.join(name))?;
            file.write_all(&Self::content(name))?;
            file.sync_all()
        };
        (0..)
            .map(|number| format!("{}-{cut}-{number}", "kept".repeat(1 + number % 9)))
            .take_while(|name| write(name).is_ok())
            .collect()
    }

    /// Writes over a file again and again without having it synced, past the page cache and through it.
    fn write_loose(&self, cut: usize, stop: &AtomicBool) {
        let mut memory = vec![b'-'; 3 * 4096];
        let start = memory.as_ptr().align_offset(4096);
        let data = &mut memory[start..start + 8192];
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        let direct =
            File::options().write(true).create(true).truncate(false).custom_flags(flags).open(self.point.join("loose"));
        let Ok(direct) = direct else { return };
        for round in 0_u64.. {
            let done = direct.write_all_at(data, round * 7919 % 2000 * 4096);
            let also = fs::write(self.point.join(format!("loose-{cut}-{}", round % 50)), &*data);
            if stop.load(Ordering::Relaxed) || done.is_err() || also.is_err() {
                return;
            }
        }
    }

    /// Cuts the power after a while of writing; then everything that was synced is there.
    fn survives(&mut self, cut: usize, after: Duration) {
        let Self { place, backing, point, .. } = &*self;
        let drive = Attached::other(place, RISKY, &["--backing", backing]);
        let path = point.display().to_string();
        other("mount", &[&drive.device, &path]);
        let stop = AtomicBool::new(false);
        let (mut kept, lost) = thread::scope(|scope| {
            let synced = [0, 1].map(|writer| {
                scope.spawn({
                    let this = &*self;
                    move || this.write_synced(2 * cut + writer)
                })
            });
            scope.spawn(|| self.write_loose(cut, &stop));
            thread::sleep(after);
            drive.cut_power();
            let lost = drive.cut()["sectors"].as_u64().unwrap();
            stop.store(true, Ordering::Relaxed);
            (synced.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>(), lost)
        });
        other("umount", &[&path]);
        drop(drive);
        let drive = Attached::other(place, RISKY, &["--backing", backing]);
        // Its journal is replayed, as mounting does.
        let repaired = Command::new(tool("e2fsck").unwrap()).args(["-p", &drive.device]).output().unwrap();
        assert!(matches!(repaired.status.code(), Some(0 | 1)), "cut {cut}: {repaired:?}");
        other("fsck.ext4", &["-f", "-n", &drive.device]);
        other("mount", &[&drive.device, &path]);
        for name in kept.iter().chain(&self.kept) {
            let found = fs::read(point.join(name)).unwrap_or_default();
            assert!(found == Self::content(name), "cut {cut}: {name} was synced and has {} bytes", found.len());
        }
        other("umount", &[&path]);
        drop(drive);
        self.kept.append(&mut kept);
        self.sectors_lost += lost;
    }
}

/// Cuts the power so many times, at moments that are spread evenly.
fn every_synced_file_survives(cuts: usize) {
    if !can_attach() {
        return;
    }
    let mut ext4 = Ext4::new();
    for cut in 0..cuts {
        ext4.survives(cut, Duration::from_millis(100 + cut as u64 * 7919 % 300));
    }
    assert!(ext4.kept.len() > cuts && ext4.sectors_lost > 0, "{:?}, {} lost", ext4.kept, ext4.sectors_lost);
    eprintln!("{} files synced, {} sectors lost", ext4.kept.len(), ext4.sectors_lost);
}

#[test]
fn no_synced_file_is_lost_when_the_power_is_cut() {
    every_synced_file_survives(4);
}

#[test]
#[ignore = "takes minutes"]
fn no_synced_file_is_lost_by_a_hundred_power_cuts() {
    every_synced_file_survives(100);
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
fn a_drive_that_is_faster_than_the_way_to_it_is_told_also_in_the_background() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let attach = |drive, speed: &[&str]| {
        let said = place.assay(&[&["attach", drive, "--daemon"], speed].concat());
        place.succeeds(&["detach", said.stdout.trim()]);
        said.stderr
    };
    let quick = "x25-m?capacity.user=1GiB&controller.write=0us&controller.page_write=0us&controller.command=0us";
    let said = attach(quick, &[]);
    let (_, factor) = said.split_once("slower than it is. --speed=").expect(&said);
    let factor: f64 = factor.split(' ').next().unwrap().parse().unwrap();
    assert!(factor > 0.0 && factor < 1.0, "{said}");
    let slow = attach(DRIVE, &["--speed=0.01"]);
    assert!(slow.contains("which is taken off") && !slow.contains("slower than it is"), "{slow}");
}

#[test]
fn what_cannot_be_attached_is_told() {
    let place = Place::new();
    assert!(place.refuses(&["attach", "x25-n"]).contains("x25-m"));
    assert!(place.refuses(&["attach", DRIVE, "--speed=2"]).contains("more than 0 and at most 1"));
}
