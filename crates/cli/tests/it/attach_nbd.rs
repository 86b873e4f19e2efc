//! A simulated drive behind an NBD socket, as the programs see it that others wrote.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::attached::{Attached, DRIVE, left_behind};
use crate::support::{Place, other, skip, tool};

/// Whether these programs are there; otherwise the reason is said.
fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| tool(name).is_none());
    missing.iter().for_each(|name| skip(&format!("there is no {name}")));
    missing.is_none()
}

/// A drive behind a socket.
fn attached<'p>(place: &'p Place, more: &[&str]) -> Attached<'p> {
    let socket = place.path("drive.sock").display().to_string();
    let drive = Attached::new(place, &[&["--nbd", &socket], more].concat());
    assert_eq!(drive.device, socket);
    drive
}

fn uri(drive: &Attached) -> String {
    format!("nbd+unix:///?socket={}", drive.device)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// So many bytes that do not repeat soon.
fn varied(length: u32) -> Vec<u8> {
    (0..length).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn nbdinfo_is_told_what_the_drive_is_and_can() {
    if !has(&["setsid", "nbdinfo"]) {
        return;
    }
    let place = Place::new();
    let drive = attached(&place, &[]);
    let told: serde_json::Value = serde_json::from_str(&other("nbdinfo", &["--json", &uri(&drive)])).unwrap();
    assert_eq!((&told["protocol"], &told["TLS"]), (&"newstyle-fixed".into(), &false.into()));
    let export = &told["exports"][0];
    assert_eq!(export["export-size"], 1 << 30);
    assert_eq!([&export["block_size_minimum"], &export["block_size_preferred"]], [512, 4096]);
    for able in ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_fast_zero"] {
        assert_eq!(export[able], true, "{able}: {export}");
    }
    assert_eq!([&export["is_read_only"], &export["is_rotational"]], [false, false]);
    let listed = other("nbdinfo", &["--list", &uri(&drive)]);
    assert!(listed.contains(&format!("export={DRIVE:?}")), "{listed}");
    assert!(place.succeeds(&["attached"]).contains(&drive.device));
}

#[test]
fn what_nbdcopy_writes_by_several_connections_reads_back_also_after_it_was_attached_again() {
    if !has(&["setsid", "nbdcopy"]) {
        return;
    }
    let place = Place::new();
    let [backing, from, to] = ["data", "from", "to"].map(|name| place.path(name).display().to_string());
    fs::write(&from, varied(24 << 20)).unwrap();
    {
        let drive = attached(&place, &["--backing", &backing]);
        other("nbdcopy", &["--connections=4", "--flush", &from, &uri(&drive)]);
    }
    assert!(!place.path("drive.sock").exists(), "it is detached when nobody is connected any more");
    let drive = attached(&place, &["--backing", &backing]);
    other("nbdcopy", &["--connections=4", &uri(&drive), &to]);
    let read = fs::read(&to).unwrap();
    assert_eq!(read.len(), 1 << 30);
    assert!(read.starts_with(&fs::read(&from).unwrap()) && read[24 << 20..].iter().all(|byte| *byte == 0));
}

#[test]
fn qemu_reads_what_it_wrote_zeroed_and_discarded() {
    if !has(&["setsid", "qemu-io", "qemu-img"]) {
        return;
    }
    let place = Place::new();
    let drive = attached(&place, &[]);
    let commands = [
        "write -P 0x5a 1M 2M",
        "write -f -P 0x11 0 4k",
        "flush",
        "read -P 0x5a 1M 2M",
        "read -P 0x11 0 4k",
        "write -z 1M 64k",
        "read -P 0 1M 64k",
        "write -zu 2M 64k",
        "read -P 0 2M 64k",
        "discard 2M 512k",
        "read -P 0 2M 512k",
        "read -P 0x5a 1088k 960k",
        "aio_write -P 0x77 5M 1M",
        "aio_read -P 0x5a 1088k 64k",
        "aio_flush",
        "read -P 0x77 5M 1M",
    ];
    let uri = uri(&drive);
    let words: Vec<&str> =
        ["-f", "raw", &uri].into_iter().chain(commands.iter().flat_map(|command| ["-c", command])).collect();
    let said = other("qemu-io", &words);
    assert!(!said.contains("failed"), "{said}");
    let image = place.path("image").display().to_string();
    fs::write(&image, varied(8 << 20)).unwrap();
    other("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", "--target-is-zero", &image, &uri]);
    // It must be as long for this.
    fs::File::options().write(true).open(&image).unwrap().set_len(1 << 30).unwrap();
    let same = other("qemu-img", &["compare", "-f", "raw", "-F", "raw", &image, &uri]);
    assert!(same.contains("identical"), "{same}");
}

#[test]
fn fio_finds_what_it_wrote_at_a_depth_of_32_by_two_jobs() {
    if !has(&["setsid", "fio"]) {
        return;
    }
    if !other("fio", &["--enghelp"]).lines().any(|engine| engine.trim() == "nbd") {
        return skip("this fio has no nbd engine");
    }
    let place = Place::new();
    let drive = attached(&place, &[]);
    let uri = format!("--uri={}", uri(&drive));
    let job = ["--name=verify", "--ioengine=nbd", &uri, "--rw=randwrite", "--bsrange=512-64k", "--bs_unaligned=0"];
    let rest = [
        "--iodepth=32",
        "--size=16m",
        "--verify=crc32c",
        "--numjobs=2",
        "--offset_increment=32m",
        "--thread",
        "--verify_state_save=0",
    ];
    let said = other("fio", &[&job[..], &rest, &["--output-format=json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!((&job["error"], &job["read"]["io_bytes"]), (&0.into(), &(16 << 20).into()), "{job}");
    }
}

#[test]
fn a_drive_with_a_client_is_not_detached_until_that_leaves() {
    if !has(&["setsid"]) {
        return;
    }
    let place = Place::new();
    let drive = attached(&place, &[]);
    let client = UnixStream::connect(&drive.device).unwrap();
    let said = place.refuses(&["detach", &drive.device]);
    assert!(said.contains("a client is connected"), "{said}");
    drop(client);
    // By a name from where one is.
    place.succeeds(&["detach", "drive.sock"]);
    assert!(!Path::new(&drive.device).exists() && !place.succeeds(&["attached"]).contains(&drive.device));
}

#[test]
fn what_a_killed_server_left_behind_is_cleared_up() {
    if !has(&["setsid"]) || !is_root() {
        return skip("the entry is looked for where root's are");
    }
    let place = Place::new();
    let drive = attached(&place, &[]);
    let pid = drive.pid();
    other("kill", &["-9", &pid.to_string()]);
    while fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty()) {
        std::thread::yield_now();
    }
    assert!(place.succeeds(&["attached"]).contains("its server is gone"));
    place.succeeds(&["detach", &drive.device]);
    assert!(!Path::new(&drive.device).exists());
    assert_eq!(left_behind(pid), [""; 0]);
}

#[test]
fn a_user_without_rights_attaches_lists_and_detaches() {
    if !has(&["setsid", "setpriv"]) || !is_root() {
        return skip("only root can become somebody else");
    }
    // Where anybody can go, with a program that anybody can run.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = folder.path().join("assay");
    fs::copy(env!("CARGO_BIN_EXE_assay"), &program).unwrap();
    for folder in [folder.path(), &program] {
        other("chmod", &["755", &folder.display().to_string()]);
    }
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    other("chown", &["65534:65534", &home.display().to_string()]);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(tool("setpriv").unwrap());
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program).args(arguments);
        let output = command.current_dir(&home).env("XDG_RUNTIME_DIR", &home).env("HOME", &home).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["attach", DRIVE, "--nbd", "mine", "--daemon"]);
    let socket = home.join("mine");
    assert!(run(&["attached"]).contains(&socket.display().to_string()) && UnixStream::connect(&socket).is_ok());
    run(&["detach", "mine"]);
    assert!(!socket.exists() && fs::read_dir(home.join("assay")).unwrap().next().is_none());
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = Place::new();
    let file = place.path("file").display().to_string();
    fs::write(&file, "kept").unwrap();
    let run = place.command(&["attach", DRIVE, "--nbd", &file]).stderr(Stdio::piped()).spawn().unwrap();
    let pid = run.id();
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains(&file), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    assert!(!is_root() || left_behind(pid).is_empty());
    let said = place.refuses(&["attach", DRIVE, "--nbd", "sock", "--partitions"]);
    assert!(said.contains("leave out --partitions"), "{said}");
}
