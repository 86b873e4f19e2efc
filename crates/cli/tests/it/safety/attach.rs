//! Attached drives and those who talk to them.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::attached::{Attached, DRIVE, can_attach};
use crate::support::{LoopDevice, Place, Said, other, skip, tool};

/// Attaches a drive behind a socket, and takes it away again if that is done.
fn tried(place: &Place, more: &[&str]) -> Said {
    let socket = place.path("drive.sock").display().to_string();
    let said = place.assay(&[&["attach", "--nbd", &socket, "--daemon"], more].concat());
    if !said.stdout.is_empty() {
        place.succeeds(&["detach", said.stdout.trim()]);
    }
    said
}

fn can_serve() -> bool {
    let can = tool("setsid").is_some();
    if !can {
        skip("there is no setsid");
    }
    can
}

/// Everything in a place but what assay keeps there itself: names, lengths, and a checksum of what is in them.
fn bystanders(place: &Place) -> Vec<(String, u64, u32)> {
    let mut found: Vec<_> = fs::read_dir(place.path(""))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let (name, kind) = (entry.file_name().to_string_lossy().into_owned(), entry.file_type().unwrap());
            let data = if kind.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            (
                name,
                entry.metadata().unwrap().len(),
                data.iter().fold(1, |sum: u32, byte| sum.rotate_left(5) ^ u32::from(*byte)),
            )
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_file_that_assay_did_not_make_holds_no_drive_unless_the_command_line_says_so() {
    if !can_serve() {
        return;
    }
    let place = Place::new();
    let letter = place.path("letter").display().to_string();
    fs::write(&letter, vec![7; 10 << 20]).unwrap();
    let before = bystanders(&place);
    let said = tried(&place, &[DRIVE, "--backing", &letter]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("assay did not create it") && said.stderr.contains("--overwrite"), "{}", said.stderr);
    assert_eq!(bystanders(&place), before);
    let said = tried(&place, &[DRIVE, "--backing", &letter, "--overwrite"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut kept = [0; 512];
    File::open(&letter).unwrap().read_exact_at(&mut kept, (10 << 20) - 512).unwrap();
    assert_eq!((kept, fs::metadata(&letter).unwrap().len()), ([7; 512], 1 << 30));
    // From now on it is.
    assert_eq!(tried(&place, &[DRIVE, "--backing", &letter]).code, Some(0));
}

#[test]
fn links_folders_fifos_and_sockets_are_neither_data_nor_states_nor_images() {
    if !can_serve() {
        return;
    }
    let place = Place::new();
    let name = |name: &str| place.path(name).display().to_string();
    fs::write(name("letter"), vec![7; 1 << 20]).unwrap();
    fs::create_dir(name("folder")).unwrap();
    symlink(name("letter"), name("link")).unwrap();
    symlink(name("nowhere"), name("dangling")).unwrap();
    other("mkfifo", &[&name("fifo")]);
    let before = bystanders(&place);
    for wrong in ["link", "dangling", "folder", "fifo", "/dev/null", "/dev/zero"] {
        let path = place.path(wrong).display().to_string();
        for options in [
            &[DRIVE, "--backing", &path][..],
            &[DRIVE, "--backing", &path, "--overwrite"],
            &[DRIVE, "--state", &path],
            &["--image", &path],
        ] {
            let said = tried(&place, options);
            assert_ne!(said.code, Some(0), "{options:?}");
            assert!(said.stderr.contains(&path), "{options:?}: {}", said.stderr);
            assert_eq!(bystanders(&place), before, "{options:?}");
        }
    }
    let said = tried(&place, &[DRIVE, "--state", &name("letter")]);
    assert!(said.stderr.contains("not the state of a drive"), "{}", said.stderr);
    assert_eq!(bystanders(&place), before);
}

#[test]
fn a_device_and_a_file_that_is_mounted_hold_no_drive_even_where_the_command_line_says_so() {
    if !can_serve() || LoopDevice::lacks().is_some() {
        return;
    }
    let place = Place::new();
    let disk = place.path("disk").display().to_string();
    let Some(device) = LoopDevice::new(&place.path("disk"), 64) else { return };
    other("mkfs.ext4", &["-q", &device.0]);
    let before = bystanders(&place);
    for path in [&disk, &device.0] {
        for options in [&[DRIVE, "--backing", path, "--overwrite"][..], &["--image", path], &[DRIVE, "--state", path]] {
            let said = tried(&place, options);
            assert!(said.code != Some(0) && said.stdout.is_empty(), "{options:?}");
            assert_eq!(bystanders(&place), before, "{options:?}");
        }
    }
    let said = tried(&place, &["--image", &disk]);
    assert!(said.stderr.contains(&format!("it is behind {}", device.0)), "{}", said.stderr);
    // What is only read may be in use.
    assert_eq!(tried(&place, &["--image", &disk, "--snapshot"]).code, Some(0));
    assert_eq!(bystanders(&place), before);
}

#[test]
fn two_servers_never_share_a_file() {
    if !can_serve() {
        return;
    }
    let place = Place::new();
    let [backing, first, second] = ["data", "1.sock", "2.sock"].map(|name| place.path(name).display().to_string());
    let drive = Attached { place: &place, device: first.clone() };
    place.succeeds(&["attach", DRIVE, "--nbd", &first, "--backing", &backing, "--daemon"]);
    let said = place.assay(&["attach", DRIVE, "--nbd", &second, "--backing", &backing, "--state", "other", "--daemon"]);
    assert!(said.stderr.contains("is in use: another process has it open for writing"), "{}", said.stderr);
    drive.detach();
}

#[test]
fn a_socket_takes_the_place_of_nothing_but_one_that_was_left() {
    if !can_serve() {
        return;
    }
    let place = Place::new();
    let socket = place.path("drive.sock");
    let name = socket.display().to_string();
    fs::write(&socket, "somebody's").unwrap();
    assert_ne!(tried(&place, &[DRIVE]).code, Some(0));
    assert_eq!(fs::read_to_string(&socket).unwrap(), "somebody's");
    fs::remove_file(&socket).unwrap();
    // What comes there while it is served stays when it is detached.
    let drive = Attached::new(&place, &["--nbd", &name]);
    fs::rename(&socket, place.path("moved.sock")).unwrap();
    fs::write(&socket, "somebody's").unwrap();
    other("kill", &[&drive.pid().to_string()]);
    drive.until(|| !place.succeeds(&["attached"]).contains(&name));
    assert_eq!(fs::read_to_string(&socket).unwrap(), "somebody's");
    std::mem::forget(drive);
}

#[test]
fn the_data_of_a_drive_is_read_by_no_other_user_and_has_no_name() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    let entry = drive.entry();
    let file = entry["place"].as_str().unwrap();
    let read = |user| Command::new("head").args(["-c", "512", file]).uid(user).gid(user).output().unwrap();
    let [own, others] = [0, 65_534].map(read);
    assert!(own.status.success() && own.stdout.len() == 512);
    assert!(!others.status.success() && others.stdout.is_empty(), "user 65534 read {file}");
    let pid = drive.pid().to_string();
    for folder in ["/run/assay", "/var/tmp", "/tmp"] {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let data: Vec<String> = names.filter(|name| name.contains(&pid) && name.contains("data")).collect();
        assert!(data.is_empty(), "{folder} has {data:?}");
    }
    let door = fs::metadata(format!("{file}.sock")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&door.permissions()) & 0o777, 0o600);
}
