//! What goes wrong under a run: data that is not kept, requests that fail, limits that are reached.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::Command;

use crate::support::{LoopDevice, Place, other, skip, tool};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}

const WRITTEN: [&str; 8] = [
    "run",
    "./scratch.bin",
    "--rw=randwrite",
    "--size=4m",
    "--iodepth=8",
    "--numjobs=2",
    "--norandommap=0",
    "--verify=crc32c",
];

fn and<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&WRITTEN, more].concat()
}

#[test]
fn a_run_checks_what_it_wrote_and_so_does_a_later_one() {
    let place = Place::new();
    let text = place.succeeds(&and(&["--io_size=4m"]));
    assert!(text.contains("Data verified: 1,024 blocks, no mismatch."), "{text}");
    let only = and(&["--io_size=4m", "--verify_only", "--format=json"]);
    let whole = json(&place.succeeds(&only));
    assert_eq!((&whole["verified"]["reads"], &whole["verified"]["damaged_blocks"]), (&1024.into(), &0.into()));
    assert_eq!((&whole["write"]["requests"], &whole["read"]["requests"]), (&0.into(), &1024.into()));

    let file = File::options().write(true).open(place.path("scratch.bin")).unwrap();
    file.write_all_at(&[0; 8192], 40_960).unwrap();
    let said = place.assay(&only);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("2 blocks failed verification in run 3"), "{}", said.stderr);
    let damaged = json(&said.stdout);
    assert_eq!(damaged["read"]["requests"], 1024, "the figures are kept");
    assert_eq!(damaged["verified"]["damaged_blocks"], 2);
    let named = damaged["verified"]["damage"].to_string();
    for place in ["block at 40960: its write is lost", "block at 45056: its write is lost"] {
        assert!(named.contains(place), "{named}");
    }
    let finding = |findings: &Value| findings.to_string().contains("of 1024 blocks read and checked, 2 do not");
    assert!(finding(&damaged["findings"]), "{damaged}");

    let fatal = place.assay(&and(&["--io_size=4m", "--verify_only", "--verify_fatal"]));
    assert_eq!(fatal.code, Some(1));
    assert!(fatal.stderr.contains("failed (verify_fatal): block at 4"), "{}", fatal.stderr);
}

#[test]
fn what_cannot_be_verified_is_refused_before_anything_is_touched() {
    let place = Place::new();
    for (arguments, words) in [
        (vec!["run", "--rw=write", "--size=1m", "--verify=crc32c"], "a simulated drive stores no data"),
        (vec!["run", "./new.bin", "--size=1m", "--verify=crc32c"], "writes nothing"),
        (and(&["--verify_only", "--runtime=1s"]), "excludes runtime"),
        (vec!["run", "./new.bin", "--rw=write", "--size=1m", "--verify_only"], "verify, which is off"),
        (vec!["run", "./new.bin", "--rw=write", "--size=1m", "--verify=md5"], "none, 0, null, crc32c"),
    ] {
        let said = place.refuses(&arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert!(!place.path("new.bin").exists() && !place.path("scratch.bin").exists());
}

/// A small file system in memory, until dropped.
struct Memory(std::path::PathBuf);

impl Memory {
    fn new(place: &Place, size: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("mounting needs root");
            return None;
        }
        let path = place.path("memory");
        std::fs::create_dir(&path).unwrap();
        other(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "assay-test", &path.display().to_string()],
        );
        Some(Self(path))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).status().ok();
    }
}

#[test]
fn requests_that_fail_end_the_run_or_are_counted_and_the_exit_code_tells_either_way() {
    let place = Place::new();
    let image = place.path("image");
    let Some(device) = LoopDevice::new(&image, 16) else { return };
    File::options().write(true).open(&image).unwrap().set_len(8 << 20).unwrap();
    let arguments = |more: &[&'static str]| {
        let read = ["run", &device.0, "--rw=randread", "--iodepth=4", "--number_ios=200"];
        read.iter().map(|word| (*word).to_owned()).chain(more.iter().map(|word| (*word).to_owned())).collect::<Vec<_>>()
    };
    let run = |more: &[&'static str]| {
        let all = arguments(more);
        place.assay(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let stopped = run(&[]);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("see `dmesg` for the details"), "{}", stopped.stderr);
    let counted = run(&["--on-error=count", "--format=json"]);
    assert_eq!(counted.code, Some(1), "{}", counted.stderr);
    let document = json(&counted.stdout);
    let failed = &document["failed"][0];
    assert_eq!((&failed["op"], &failed["errno"]), (&"read".into(), &5.into()));
    let failures = failed["requests"].as_u64().unwrap();
    assert!((50..150).contains(&failures), "about half of 200: {failures}");
    assert_eq!(document["read"]["requests"].as_u64().unwrap() + failures, 200);
    assert!(document["findings"].to_string().contains("requests failed ("), "{document}");
    assert!(counted.stderr.contains(&format!("{failures} requests failed in run")), "{}", counted.stderr);
    let fio = json(&run(&["--on-error=count", "--format=fio"]).stdout);
    assert_eq!((&fio["jobs"][0]["error"], &fio["jobs"][0]["first_error"]), (&5.into(), &5.into()));
    assert_eq!(fio["jobs"][0]["total_err"], failures, "one seed asks for the same places");
    let text = run(&["--on-error=count"]).stdout;
    assert!(text.contains(&format!("Finding: {failures} requests failed")), "{text}");
}

#[test]
fn a_file_on_a_read_only_file_system_is_refused_for_writing_and_may_be_read() {
    let place = Place::new();
    let Some(memory) = Memory::new(&place, "4m") else { return };
    let target = memory.0.join("old.bin");
    std::fs::write(&target, vec![1; 1 << 20]).unwrap();
    other("mount", &["-o", "remount,ro", &memory.0.display().to_string()]);
    let target = target.display().to_string();
    let write = ["run", &target, "--overwrite", "--direct=0", "--rw=write", "--io_size=1m"];
    let said = place.refuses(&write);
    assert!(said.contains("is read-only; choose a workload that only reads"), "{said}");
    place.succeeds(&["run", &target, "--direct=0", "--rw=read", "--io_size=1m"]);
}

/// The program as a user without rights may run it, with so much memory to lock.
fn limited(place: &Place, lock: &str, arguments: &[&str]) -> Option<std::process::Output> {
    if !rustix::process::geteuid().is_root() || tool("setpriv").is_none() || tool("prlimit").is_none() {
        skip("to run as another user takes root, setpriv and prlimit");
        return None;
    }
    // The folder, its store and its files are for that user too.
    let open = |path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    open(place.path("."));
    std::fs::read_dir(place.path(".")).unwrap().for_each(|entry| open(entry.unwrap().path()));
    let lock = format!("--memlock={lock}:{lock}");
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut command = Command::new("prlimit");
    command.arg(lock).arg("setpriv").args(user).arg(env!("CARGO_BIN_EXE_assay")).args(arguments);
    let output = command.current_dir(place.path(".")).env("ASSAY_STORE", place.store()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code().is_none_or(|code| code > 2) || said.contains("permission") {
        skip(&format!("another user cannot reach the program or the folder: {said}"));
        return None;
    }
    Some(output)
}

#[test]
fn a_limit_of_locked_memory_is_named_where_it_forbids_a_queue_and_where_it_slows_one_down() {
    let place = Place::new();
    place.succeeds(&["run", "./scratch.bin", "--rw=write", "--size=4m"]);
    let read = ["run", "./scratch.bin", "--direct=0", "--rw=randread", "--iodepth=256", "--number_ios=500"];
    let Some(none) = limited(&place, "0", &read) else { return };
    let said = String::from_utf8_lossy(&none.stderr);
    if none.status.success() {
        return skip("this kernel counts no queue against the limit of locked memory");
    }
    assert_eq!(none.status.code(), Some(1), "{said}");
    assert!(said.contains("io_uring cannot be used") && said.contains("raise it (`ulimit -l`)"), "{said}");
    let Some(little) = limited(&place, "65536", &read) else { return };
    let said = String::from_utf8_lossy(&little.stdout).replace('\n', " ");
    assert!(little.status.success(), "{}", String::from_utf8_lossy(&little.stderr));
    assert!(said.contains("The kernel refused to register the buffers"), "{said}");
}

#[test]
fn a_store_whose_disk_fills_up_keeps_its_cells_and_the_run_goes_on_when_there_is_room() {
    let place = Place::new();
    let Some(memory) = Memory::new(&place, "256k") else { return };
    let plan = place.path("long.toml");
    let text = "name = \"long\"\nrepeats = 1\n[[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 2000\n\
                sweep.iodepth = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]\n\
                [[step]]\nname = \"again\"\nsame-as = \"read\"\n[[step]]\nname = \"third\"\nsame-as = \"read\"\n";
    std::fs::write(&plan, text).unwrap();
    let store = memory.0.join("results.sqlite").display().to_string();
    let review = |arguments: &[&str]| {
        let output = place.command(arguments).env("ASSAY_STORE", &store).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stderr), text(&output.stdout))
    };
    let (code, said, _) = review(&["review", "sim:maxtor-160", "--plan", &plan.display().to_string()]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("full") && said.contains("free some space") && said.contains("are stored"), "{said}");
    other("mount", &["-o", "remount,size=8m", &memory.0.display().to_string()]);
    let (_, _, runs) = review(&["runs"]);
    assert!(runs.contains("long"), "what was kept can be read: {runs}");
    let (code, said, _) = review(&["review", "--resume"]);
    assert_eq!(code, Some(0), "{said}");
    let connection = rusqlite::Connection::open(&store).unwrap();
    assert_eq!(connection.query_row("SELECT count(*) FROM measurement", [], |row| row.get(0)), Ok(90));
}
