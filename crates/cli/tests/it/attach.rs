//! A simulated drive as a block device: what is written reads back, and nothing is left behind.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Instant;

use crate::support::attached::{Attached, DRIVE, can_attach, left_behind};
use crate::support::{Place, other};
use testkit::alike;

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

/// File systems and schedulers go by what the kernel says of the device.
#[test]
fn a_disk_is_rotational_and_flash_is_not() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    for (drive, rotational) in [("wd740gd?platters.capacity=1GB", "1"), (DRIVE, "0")] {
        let attached = Attached::other(&place, drive, &[]);
        let name = attached.device.trim_start_matches("/dev/");
        let setting = fs::read_to_string(format!("/sys/block/{name}/queue/rotational")).unwrap();
        assert_eq!(setting.trim(), rotational, "{drive}");
    }
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
    assert!(!said.contains("continues"), "{said}");
    drive.fill(&place, 8192, "a", &["conv=notrunc,fsync"]);
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("data.state, after 4 MiB written"), "{said}");
    drive.fill(&place, 8192, "b", &["conv=notrunc,fsync"]);
    drive.cut_power();
    drive.cut();
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("after 8 MiB written.") && !said.contains("does not know"), "{said}");
    drive.fill(&place, 8, "c", &["conv=notrunc,fsync"]);
    // A server that is killed saves nothing.
    other("kill", &["-9", &drive.pid().to_string()]);
    drive.detach();
    let (drive, said) = attach(DRIVE, &[]);
    assert!(said.contains("after 8 MiB written. The data is newer than the saved state"), "{said}");
    drive.detach();
    let refuses = |drive, more: &[&str]| place.refuses(&[&["attach", drive], more].concat());
    let state = format!("{backing}.state");
    let said = refuses(DRIVE, &["--backing", &backing, "--worn"]);
    assert!(said.contains("--worn conditions a new drive") && said.contains(&state), "{said}");
    let said = refuses("x25-m?capacity.user=2GiB", &["--backing", &backing]);
    assert!(said.contains(&format!("is the state of {DRIVE}, not of x25-m?capacity.user=2GiB")), "{said}");
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
    assert!(place.refuses(&["detach", "/dev/null"]).contains("is not an attached drive"));
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
    assert!(failed.is_err() && began.elapsed() < testkit::PATIENCE, "{failed:?} after {:?}", began.elapsed());
    drop(device);
    // Its requests fail before the kernel has taken all of the process down.
    drive.until(|| place.succeeds(&["attached"]).contains("its server is gone"));
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
    let attach = |drive: &str, speed: &[&str]| {
        let said = place.assay(&[&["attach", drive, "--daemon"], speed].concat());
        place.succeeds(&["detach", said.stdout.trim()]);
        said.stderr
    };
    // It takes a write in some nanoseconds, which no machine needs as little as for the way, and a read in longer than any does.
    let quick = alike!(
        "x25-m?capacity.user=1GiB&",
        "nand.read=10ms&controller.write=0us&controller.page_write=0us&controller.command=0us&controller.retire=0us&link.rate=100 GB/s&\
         link.frame_overhead=0us&link.command=0us"
    );
    let said = attach(quick, &[]);
    let (_, factor) = said.split_once("slower than they are; reads do not. Use --speed=").expect(&said);
    let factor: f64 = factor.split([' ', ',']).next().unwrap().parse().unwrap();
    assert!(factor > 0.0 && factor < 1.0, "{said}");
    // Each of its requests takes a tenth of a second, which no machine is so busy as to need for the way.
    let slow = attach(&format!("{DRIVE}&controller.command=10ms"), &["--speed=0.1"]);
    assert!(slow.contains("which is subtracted") && !slow.contains("slower than they are"), "{slow}");
}

#[test]
fn what_cannot_be_attached_is_told() {
    let place = Place::new();
    assert!(place.refuses(&["attach", "x25-n"]).contains("x25-m"));
    assert!(place.refuses(&["attach", DRIVE, "--speed=2"]).contains("at least 0.000001 and at most 1"));
}
