//! Files and devices that are measured.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, symlink};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::Place;
use testkit::loops::{LoopDevice, Mounted};
use testkit::{attempt, needs};

/// Makes a file that is assay's, 16 MiB long.
fn made(place: &Place, name: &str) {
    place.succeeds(&["run", name, "--rw=write", "--bs=1m", "--size=16m"]);
}

/// The command lines that would write to a file: by asking for it, and by laying out what will be read.
const WRITES: [&[&str]; 2] =
    [&["--rw=randwrite", "--number_ios=100"], &["--rw=randread", "--size=32m", "--number_ios=100"]];

#[test]
fn a_file_that_its_owner_has_formatted_and_filled_is_not_assays_any_more() {
    let place = Place::new();
    made(&place, "disk.img");
    place.succeeds(&["run", "disk.img", "--rw=randwrite", "--number_ios=100"]);
    let path = place.path("disk.img");
    let device = needs!(LoopDevice::over(&path));
    needs!(attempt("mkfs.ext4", &["-q", &device.0]));
    let mounted = needs!(Mounted::on(&device.0, &place.path("mnt")));
    fs::write(place.path("mnt/thesis.tex"), "years of work").unwrap();
    needs!(attempt("sync", &["-f", place.path("mnt").to_str().unwrap()]));
    for words in WRITES {
        let said = place.refuses(&[&["run", "disk.img"], words].concat());
        assert!(
            said.contains("is not as assay created it") || said.contains("in use") || said.contains("more than"),
            "{said}"
        );
        let said = place.refuses(&[&["run", "disk.img", "--overwrite"], words].concat());
        assert!(said.contains("in use") && said.contains(&device.0), "{said}");
    }
    assert_eq!(fs::read_to_string(place.path("mnt/thesis.tex")).unwrap(), "years of work");
    drop(mounted);
    drop(device);
    let before = fs::read(&path).unwrap();
    for words in WRITES {
        let said = place.refuses(&[&["run", "disk.img"], words].concat());
        assert!(said.contains("ext4") || said.contains("more than"), "{said}");
    }
    assert!(fs::read(&path).unwrap() == before);
    place.succeeds(&["run", "disk.img", "--rw=randwrite", "--number_ios=100", "--overwrite"]);
}

#[test]
fn a_copy_and_a_file_that_was_changed_are_refused_and_one_that_was_only_read_is_not() {
    let place = Place::new();
    made(&place, "a.bin");
    needs!(attempt("cp", &["-a", place.path("a.bin").to_str().unwrap(), place.path("b.bin").to_str().unwrap()]));
    assert!(place.refuses(&["run", "b.bin", "--rw=write"]).contains("--overwrite"));
    fs::read(place.path("a.bin")).unwrap();
    place.succeeds(&["run", "a.bin", "--rw=randread", "--number_ios=10"]);
    place.succeeds(&["run", "a.bin", "--rw=write"]);
    File::options().write(true).open(place.path("a.bin")).unwrap().write_all_at(b"mine", 4096).unwrap();
    assert!(place.refuses(&["run", "a.bin", "--rw=write"]).contains("is not as assay created it"));
    let mut mine = [0; 4];
    File::open(place.path("a.bin")).unwrap().read_exact_at(&mut mine, 4096).unwrap();
    assert_eq!(&mine, b"mine");
}

#[test]
fn a_file_that_somebody_has_open_for_writing_is_left_alone() {
    let place = Place::new();
    made(&place, "a.bin");
    let writer = File::options().write(true).open(place.path("a.bin")).unwrap();
    let said = place.refuses(&["run", "a.bin", "--rw=write"]);
    assert!(said.contains("open for writing"), "{said}");
    drop(writer);
    place.succeeds(&["run", "a.bin", "--rw=write"]);
}

/// A link goes back and forth between a file that may be written and one that may not, as fast as can be.
#[test]
fn a_link_that_is_exchanged_while_it_is_opened_gets_nothing_else_written() {
    let place = Place::new();
    made(&place, "ours.bin");
    let theirs = place.path("theirs.bin");
    fs::write(&theirs, vec![7; 16 << 20]).unwrap();
    let [link, spare] = ["link", "spare"].map(|name| place.path(name));
    symlink(place.path("ours.bin"), &link).unwrap();
    symlink(&theirs, &spare).unwrap();
    let done = AtomicBool::new(false);
    let outcomes = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &link, rustix::fs::CWD, &spare, flags).unwrap();
            }
        });
        let access = engine::Access { writes: true, direct: true, ..engine::Access::default() };
        let opened =
            (0..2000).map(|_| engine::Target::open(&link, &access).map(|target| assert_writes_to_ours(&target)));
        let outcomes = opened.map(|one| one.is_ok()).collect::<Vec<bool>>();
        done.store(true, Ordering::Relaxed);
        outcomes
    });
    assert!(fs::read(&theirs).unwrap().iter().all(|byte| *byte == 7), "another file was written");
    // Both were met, or nothing was tried.
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}

fn assert_writes_to_ours(target: &engine::Target) {
    let stop = workload::Stop::after_requests(1);
    let workload = workload::Workload { pattern: workload::Pattern::Write, stop, ..workload::Workload::default() };
    engine::run_real(target, &workload, block::Seed::new(1), &|_| {}).unwrap();
}

/// Found: a variable, or a file of settings, named the device that `assay run` wrote to.
#[test]
fn no_setting_names_a_target_or_says_what_becomes_of_it() {
    let place = Place::new();
    made(&place, "a.bin");
    let before = fs::read(place.path("a.bin")).unwrap();
    let settings = place.path("settings.toml");
    let path = place.path("a.bin").display().to_string();
    let run: &[&str] = &["run", "--rw=write", "--number_ios=1"];
    let review: &[&str] = &["review", "a.bin", "--quick"];
    for (words, option, value) in
        [(run, "filename", path.as_str()), (review, "resume", "last"), (review, "purge", "secure-erase")]
    {
        fs::write(&settings, "").unwrap();
        let refused = |setting: (&str, &str)| {
            let output =
                place.command(words).env("ASSAY_CONFIG", &settings).env(setting.0, setting.1).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{option}: {said}");
            assert!(said.contains("names a target or gives consent") && said.contains("command line"), "{said}");
        };
        refused((&format!("ASSAY_{}", option.to_uppercase()), value));
        refused((&format!("ASSAY_{}_{}", words[0].to_uppercase(), option.to_uppercase()), value));
        fs::write(&settings, format!("[{}]\n{option} = \"{value}\"\n", words[0])).unwrap();
        refused(("ASSAY_NONE", ""));
        fs::write(&settings, format!("{option} = \"{value}\"\n")).unwrap();
        refused(("ASSAY_NONE", ""));
    }
    assert!(fs::read(place.path("a.bin")).unwrap() == before);
}

#[test]
fn consent_is_given_on_the_command_line_alone() {
    let place = Place::new();
    fs::write(place.path("thesis.bin"), vec![7; 1 << 20]).unwrap();
    for (name, value) in
        [("ASSAY_OVERWRITE", "1"), ("ASSAY_RUN_OVERWRITE", "true"), ("ASSAY_DESTROY_DATA", "thesis.bin")]
    {
        let mut command = place.command(&["run", "thesis.bin", "--rw=write"]);
        let output = command.env(name, value).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(name) && said.contains("only on the command line"), "{said}");
    }
    assert!(fs::read(place.path("thesis.bin")).unwrap().iter().all(|byte| *byte == 7));
}

/// Begins a review, or goes on with one: the process, and what else it tells.
fn begun(place: &Place, words: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut run = place.command(words).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut told = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let lines: Vec<String> =
        told.by_ref().take(20).take_while(|line| !line.starts_with("Run 1: Long on file")).collect();
    assert!(lines.len() < 20 && run.try_wait().unwrap().is_none(), "it did not begin: {lines:?}");
    (run, told)
}

/// A file to which a review was writing when it was killed.
fn killed(place: &Place) {
    let plan = place.path("plan.toml");
    let text = "name = \"long\"\ntitle = \"Long\"\nrepeats = 1\n\n[[step]]\nname = \"a\"\nrw = \"randwrite\"\nruntime = \"60s\"\n";
    fs::write(&plan, text).unwrap();
    let (mut run, told) = begun(place, &["review", "a.bin", "--size=16m", "--plan", plan.to_str().unwrap()]);
    let is_being_written = || {
        let mut mark = [0; 256];
        let length = rustix::fs::getxattr(place.path("a.bin"), "user.assay.created", &mut mark).unwrap_or_default();
        mark[..length].ends_with(b"writing")
    };
    while !is_being_written() {
        assert!(run.try_wait().unwrap().is_none(), "it has ended: {:?}", told.collect::<Vec<String>>());
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

/// A run that is killed says so by the file's mark: it can be gone on with, and nobody else takes the file for their
/// own.
#[test]
fn a_run_that_was_killed_can_go_on_and_another_may_not_use_its_file() {
    let place = Place::new();
    killed(&place);
    let said = place.refuses(&["run", "a.bin", "--rw=write"]);
    assert!(said.contains("was killed") && said.contains("--overwrite"), "{said}");
    // The run itself goes on, until it is told to end.
    let (mut run, told) = begun(&place, &["review", "--resume"]);
    attempt("kill", &["-INT", &run.id().to_string()]).unwrap();
    told.for_each(drop);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    place.succeeds(&["run", "a.bin", "--rw=write"]);
}

#[test]
fn a_run_that_was_killed_does_not_go_on_over_what_was_put_there_since() {
    let place = Place::new();
    killed(&place);
    let device = needs!(LoopDevice::over(&place.path("a.bin")));
    needs!(attempt("mkfs.ext4", &["-q", &device.0]));
    drop(device);
    let before = fs::read(place.path("a.bin")).unwrap();
    let said = place.refuses(&["review", "--resume"]);
    assert!(said.contains("ext4"), "{said}");
    assert!(fs::read(place.path("a.bin")).unwrap() == before);
}

#[test]
fn what_others_write_while_a_run_only_reads_is_not_taken_for_its_own() {
    let place = Place::new();
    made(&place, "a.bin");
    let words = ["run", "a.bin", "--rw=randread", "--runtime=3", "--time_based=1"];
    let mut run = place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    File::options().write(true).open(place.path("a.bin")).unwrap().write_all_at(b"mine", 4096).unwrap();
    assert!(run.wait().unwrap().success());
    assert!(place.refuses(&["run", "a.bin", "--rw=write"]).contains("is not as assay created it"));
}

#[test]
fn a_job_file_chooses_no_file_to_be_overwritten() {
    let place = Place::new();
    fs::write(place.path("precious.db"), vec![7; 1 << 20]).unwrap();
    fs::write(place.path("a.fio"), "[a]\nrw=write\nfilename=precious.db\nsize=1m\n").unwrap();
    let said = place.refuses(&["run", "a.fio", "--overwrite"]);
    assert!(said.contains("name the target"), "{said}");
    assert!(fs::read(place.path("precious.db")).unwrap().iter().all(|byte| *byte == 7));
    place.succeeds(&["run", "a.fio", "precious.db", "--overwrite"]);
}

#[test]
fn a_run_that_was_suspended_says_so() {
    let place = Place::new();
    made(&place, "a.bin");
    let words = ["run", "a.bin", "--rw=randread", "--runtime=3", "--time_based=1"];
    let mut run = place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Whenever the measurement begins, it is soon suspended.
    while run.try_wait().unwrap().is_none() {
        for (signal, millis) in [("-STOP", 2000), ("-CONT", 300)] {
            attempt("kill", &[signal, &run.id().to_string()]).ok();
            std::thread::sleep(Duration::from_millis(millis));
        }
    }
    assert!(run.wait().unwrap().success());
    let shown = place.succeeds(&["show", "last", "--format=json"]);
    assert!(shown.contains("assay was not running for"), "{shown}");
}

#[test]
fn a_queue_that_is_deeper_than_the_kernels_runs_by_a_thread_of_the_kernels() {
    let place = Place::new();
    made(&place, "a.bin");
    place.succeeds(&[
        "run",
        "a.bin",
        "--rw=randread",
        "--bs=512",
        "--sqthread_poll",
        "--iodepth=65536",
        "--number_ios=200000",
    ]);
}
