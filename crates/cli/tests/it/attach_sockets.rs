//! What drives can do behind any port, behind an NBD socket: they keep their state, fail, hold images and lose their power.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use crate::support::attached::{Attached, DRIVE, left_behind};
use crate::support::{Place, other, skip, tool};

/// Whether these programs are there, and entries where a test finds them; otherwise the reason is said.
fn can_be_tried() -> bool {
    let missing = ["setsid", "qemu-io"].into_iter().find(|program| tool(program).is_none());
    missing.iter().for_each(|program| skip(&format!("there is no {program}")));
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip("entries are looked for where root's are");
    }
    missing.is_none() && is_root
}

/// Attaches a drive behind a socket; it, and what was said of it.
fn attach<'p>(place: &'p Place, more: &[&str]) -> (Attached<'p>, String) {
    let socket = place.path("drive.sock").display().to_string();
    let said = place.assay(&[&["attach", "--nbd", &socket, "--daemon"], more].concat());
    assert_eq!((said.code, said.stdout.trim()), (Some(0), &*socket), "{}", said.stderr);
    (Attached { place, device: socket }, said.stderr)
}

/// Whether QEMU can do these one after the other; what it said.
fn qemu(drive: &Attached, commands: &[&str]) -> Result<String, String> {
    let mut command = Command::new(tool("qemu-io").unwrap());
    command.args(["-t", "none", "-f", "raw", &format!("nbd+unix:///?socket={}", drive.device)]);
    command.args(commands.iter().flat_map(|line| ["-c", line]));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() && !said.contains("failed") { Ok(said) } else { Err(said) }
}

#[test]
fn a_drive_behind_a_socket_goes_on_as_it_was_detached() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let backing = place.path("data").display().to_string();
    let again = || attach(&place, &[DRIVE, "--backing", &backing]);
    let (drive, said) = again();
    assert!(!said.contains("continues"), "{said}");
    qemu(&drive, &["write -P 1 0 4M", "flush"]).unwrap();
    drive.until(|| drive.live("bytes").as_u64() == Some(4 << 20));
    let pid = drive.pid();
    drive.detach();
    assert_eq!(left_behind(pid), [""; 0]);
    let (drive, said) = again();
    assert!(said.contains("data.state, after 4 MiB written"), "{said}");
    qemu(&drive, &["read -P 1 0 4M", "write -P 2 0 1M", "flush"]).unwrap();
    drive.cut_power();
    assert!(drive.cut()["answered"].as_u64() > Some(0));
    assert!(qemu(&drive, &["read 0 4k"]).unwrap_err().contains("Input/output error"));
    drive.until(|| place.succeeds(&["attached"]).contains("without power"));
    drive.detach();
    let (drive, said) = again();
    assert!(said.contains("after 5 MiB written") && !said.contains("does not know"), "{said}");
    qemu(&drive, &["read -P 2 0 1M", "read -P 1 1M 3M"]).unwrap();
}

#[test]
fn bad_sectors_behind_a_socket_fail_until_they_are_taken_away() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let (drive, _) = attach(&place, &[DRIVE, "--fault=write-error@8192"]);
    let fails = |command| qemu(&drive, &[command]).is_err_and(|said| said.contains("Input/output error"));
    assert!(fails("write 4M 4k") && qemu(&drive, &["write -P 3 8M 4k", "read 4M 4k"]).is_ok());
    // By a name from where one is.
    place.succeeds(&["fault", "drive.sock", "read-error@16384-16391"]);
    drive.settles();
    assert!(fails("read 8M 4k") && qemu(&drive, &["read 8196k 4k"]).is_ok());
    place.succeeds(&["fault", &drive.device, "none"]);
    drive.settles();
    qemu(&drive, &["read -P 3 8M 4k", "write -P 4 4M 4k", "read -P 4 4M 4k"]).unwrap();
    assert!(drive.live("failed").as_u64() >= Some(2));
    place.succeeds(&["fault", &drive.device, "vanish"]);
    drive.until(|| place.succeeds(&["attached"]).contains("removed by an injected fault"));
    assert!(fails("read 8M 4k"));
}

#[test]
fn an_image_behind_a_socket_is_read_and_only_written_if_it_may_be() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let image = place.path("disk.img");
    let before: Vec<u8> = (0..32 << 20).map(|byte: u32| 1 + (byte >> 20) as u8).collect();
    fs::write(&image, &before).unwrap();
    let name = image.display().to_string();
    let commands = ["read -P 32 31M 1M", "write -P 77 3M 4k", "flush", "read -P 77 3M 4k", "read -P 4 3076k 1020k"];
    let (drive, said) = attach(&place, &["--image", &name, "--snapshot"]);
    assert!(said.contains("has the timing of x25-m"), "{said}");
    qemu(&drive, &commands).unwrap();
    drive.detach();
    assert!(fs::read(&image).unwrap() == before);
    let (drive, _) = attach(&place, &["--image", &name]);
    qemu(&drive, &commands).unwrap();
    drive.detach();
    let after = fs::read(&image).unwrap();
    assert_eq!(after.len(), before.len());
    let changed: Vec<usize> = (0..after.len()).filter(|&byte| after[byte] != before[byte]).collect();
    assert_eq!((changed.len(), changed[0], after[changed[0]]), (4096, 3 << 20, 77));
}

#[test]
fn a_stopped_server_of_a_socket_is_found_and_ended_so_that_no_client_waits() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let (drive, _) = attach(&place, &[DRIVE]);
    let pid = drive.pid();
    let mut client = UnixStream::connect(&drive.device).unwrap();
    client.read_exact(&mut [0; 18]).unwrap();
    other("kill", &["-STOP", &pid.to_string()]);
    drive.until(|| place.succeeds(&["attached"]).contains(&format!("assay detach --abort {}", drive.device)));
    assert!(place.refuses(&["detach", &drive.device]).contains("does not answer"));
    place.succeeds(&["detach", "--abort", &drive.device]);
    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let left = client.read(&mut [0; 1]);
    assert!(
        left.as_ref().is_ok_and(|length| *length == 0)
            || left.is_err_and(|error| { error.kind() == std::io::ErrorKind::ConnectionReset })
    );
    assert_eq!(left_behind(pid), [""; 0]);
    assert!(!place.path("drive.sock").exists());
}

#[test]
fn a_drives_own_file_is_attached_and_goes_on_from_its_state() {
    if tool("setsid").is_none() {
        return skip("there is no setsid");
    }
    let place = Place::new();
    fs::write(place.path("own.toml"), place.succeeds(&["drives", "show", "--toml", DRIVE])).unwrap();
    for (drive, continues) in [("./own.toml", false), ("sim:./own.toml", true)] {
        let said = place.assay(&["attach", drive, "--nbd", "s", "--state", "own.state", "--daemon"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        place.succeeds(&["detach", "s"]);
        assert!(said.stderr.contains("has the timing of ./own.toml"), "{}", said.stderr);
        assert_eq!(said.stderr.contains("It continues from own.state"), continues, "{}", said.stderr);
    }
}
