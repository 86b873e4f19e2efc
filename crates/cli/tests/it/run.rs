//! One workload from the command line to a document.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support;
use crate::support::{Place, other, skip, tool};
use rustix::process::{Pid, Signal};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}

#[test]
fn every_format_is_one_document_and_they_agree() {
    let place = Place::new();
    let run = |format: &str| {
        place.succeeds(&["run", "--rw=randread", "--bs=4k", "--iodepth=32", "--number_ios=20000", "--format", format])
    };
    let ours = json(&run("json"));
    let fio = json(&run("fio"));
    assert_eq!(fio["jobs"][0]["read"]["total_ios"], 20_000);
    assert_eq!(
        fio["jobs"][0]["read"]["iops"].as_f64().unwrap().round(),
        ours["read"]["iops"].as_f64().unwrap().round()
    );
    assert!(fio["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"].as_u64().unwrap() > 100_000);
    let csv = run("csv");
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let series = run("series");
    let (header, rows) = series.split_once('\n').unwrap();
    let column = |name| header.split(',').position(|column| column == name).unwrap();
    let of = |row: &str, name| row.split(',').nth(column(name)).unwrap().parse::<f64>().unwrap();
    assert_eq!(rows.lines().map(|row| of(row, "reads")).sum::<f64>(), 20_000.0, "{series}");
    assert!(rows.lines().all(|row| of(row, "latency_p50_ns") <= of(row, "latency_p99_ns")), "{series}");
    assert!(run("text").lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn fio_s_way_of_writing_options_is_understood() {
    let place = Place::new();
    let document = place.succeeds(&[
        "run",
        "--filename=./scratch.bin",
        "--rw=randwrite",
        "--bs=8k",
        "--iodepth=4",
        "--numjobs=2",
        "--size=8m",
        "--runtime=500ms",
        "--time_based",
        "--direct=1",
        "--name=job",
        "--output-format=fio",
    ]);
    let job = &json(&document)["jobs"][0];
    assert_eq!(job["jobname"], "job");
    let runtime = job["write"]["runtime"].as_u64().unwrap();
    assert!((450..=1_500).contains(&runtime), "{runtime} ms");
}

#[test]
fn without_a_time_each_worker_moves_the_size_once() {
    let place = Place::new();
    let document = place.succeeds(&[
        "run",
        "./scratch.bin",
        "--rw=write",
        "--bs=64k",
        "--size=4m",
        "--numjobs=2",
        "--format=json",
    ]);
    assert_eq!(json(&document)["write"]["bytes"], 8 << 20);
}

/// As fio: `size` counts from the offset, without a size it is what lies behind it, and that much is moved.
#[test]
fn size_and_offset_are_fio_s_on_files_and_simulated_drives_alike() {
    let place = Place::new();
    let moved = |arguments: &[&str]| {
        let document = json(&place.succeeds(&[&["run", "--bs=64k", "--format=json"], arguments].concat()));
        document["write"]["bytes"].as_u64().unwrap() + document["read"]["bytes"].as_u64().unwrap()
    };
    for target in ["./new.bin", "sim:x25-m"] {
        assert_eq!(moved(&[target, "--rw=write", "--size=3m", "--offset=1m"]), 3 << 20, "{target}");
    }
    let content = std::fs::read(place.path("new.bin")).unwrap();
    assert_eq!(content.len(), 4 << 20, "the file reaches to the end of the span");
    let (before, span) = content.split_at(1 << 20);
    assert!(before.iter().all(|byte| *byte == 0), "nothing is written before the offset");
    assert!(span.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0)), "all behind it is");
    assert_eq!(moved(&["./new.bin", "--rw=read", "--offset=3m"]), 1 << 20);
    assert_eq!(moved(&["./new.bin", "--rw=read", "--offset=1m", "--size=2m"]), 2 << 20);
    assert_eq!(moved(&["./new.bin", "--rw=read", "--offset=1m", "--io_size=512k"]), 512 << 10);
    if let Some(device) = support::LoopDevice::new(&place.path("disk.img"), 4) {
        assert_eq!(moved(&[&device.0, "--rw=read", "--offset=1m"]), 3 << 20);
        assert_eq!(moved(&[&device.0, "--rw=write", "--offset=1m", "--size=3m"]), 3 << 20);
    }
}

/// Taking a deep queue down again takes the processor longer than ten requests do.
#[test]
fn processor_time_is_that_of_the_requests_alone() {
    let place = Place::new();
    let run = |depth: &str| {
        let arguments = ["run", "./deep.bin", "--rw=randread", "--size=4m", "--number_ios=10", "--format=json", depth];
        let cpu = &json(&place.succeeds(&arguments))["cpu"];
        cpu["user_ns"].as_u64().unwrap() + cpu["system_ns"].as_u64().unwrap()
    };
    let (shallow, deep) = (run("--iodepth=10"), run("--iodepth=65536"));
    assert!(deep < shallow + 20_000_000, "{deep} ns with a deep queue, {shallow} ns with a shallow one");
}

#[test]
fn reads_of_a_new_file_find_it_written() {
    let place = Place::new();
    let document =
        place.succeeds(&["run", "./new.bin", "--rw=randread", "--size=4m", "--number_ios=100", "--format=json"]);
    assert_eq!(json(&document)["read"]["requests"], 100);
    let blocks = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(place.path("new.bin")).unwrap());
    assert!(blocks * 512 >= 4 << 20, "{blocks} blocks: the file was laid out");
}

#[test]
fn an_access_specification_comes_back_in_every_format() {
    let place = Place::new();
    let run = |target: &str, format: &str| {
        place.succeeds(&[
            "run",
            target,
            "--profile=file-server",
            "--numjobs=1",
            "--size=64m",
            "--direct=0",
            "--number_ios=2000",
            "--ba=4k",
            "--buffer_compress_percentage=50",
            "--fdatasync=32",
            "--norandommap",
            "--format",
            format,
        ])
    };
    for target in ["sim:x25-m", "./served.bin"] {
        let ours = json(&run(target, "json"));
        let split = "512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10";
        assert_eq!(ours["workload"]["options"]["bssplit"], split, "{target}");
        assert_eq!((&ours["workload"]["bs"], &ours["workload"]["rwmixread"]), (&Value::Null, &Value::from(80)));
        let requests = |of: &str| ours[of]["requests"].as_u64().unwrap();
        assert_eq!(requests("read") + requests("write"), 2000);
        assert_eq!(requests("flush"), (requests("write") - 1) / 32);
        let fio = json(&run(target, "fio"));
        let options = &fio["jobs"][0]["job options"];
        assert_eq!((&options["bssplit"], &options["blockalign"]), (&Value::from(split), &Value::from("4k")));
        assert_eq!(fio["jobs"][0]["sync"]["total_ios"], requests("flush"));
        assert!(run(target, "csv").contains("buffer_compress_percentage=50 fdatasync=32"));
        assert!(run(target, "text").contains("512 B 10 %"));
    }
}

/// What gzip leaves of a file that was written with content of a given compressibility.
#[test]
fn written_data_compresses_as_it_was_asked_to() {
    let place = Place::new();
    if tool("gzip").is_none() {
        return skip("gzip is missing");
    }
    for (option, least, most) in [
        ("--buffer_compress_percentage=0", 0.99, 1.01),
        ("--buffer_compress_percentage=46", 0.53, 0.56),
        ("--buffer_compress_percentage=90", 0.09, 0.13),
        ("--zero_buffers", 0.0, 0.01),
    ] {
        let file = place.path("content.bin").display().to_string();
        place.succeeds(&["run", &file, "--rw=write", "--bs=64k", "--size=4m", "--direct=0", option]);
        let packed = std::process::Command::new("gzip").args(["-c", &file]).output().unwrap().stdout.len();
        let left = packed as f64 / f64::from(4 << 20);
        assert!((least..=most).contains(&left), "{option}: gzip leaves {left:.3}");
    }
}

#[test]
fn a_failure_is_one_document_too_and_the_exit_code_tells() {
    let place = Place::new();
    for format in ["json", "fio"] {
        let said = place.assay(&["run", "sim:x25m", "--number_ios=1", "--format", format]);
        assert_eq!(said.code, Some(2));
        assert!(json(&said.stdout)["error"].as_str().unwrap().contains("did you mean `x25-m`?"), "{}", said.stdout);
        let said = place.assay(&["run", "--bs=NaN", "--output-format", format]);
        assert_eq!(said.code, Some(2));
        assert!(json(&said.stdout)["error"].as_str().unwrap().contains("`NaN`"), "{}", said.stdout);
    }
}

#[test]
fn bad_input_is_refused_with_a_reason_and_a_remedy_and_changes_nothing() {
    let place = Place::new();
    std::fs::write(place.path("precious.txt"), "all I have").unwrap();
    std::fs::write(place.path("sound.bin"), vec![1; 1 << 20]).unwrap();
    for (arguments, words) in [
        (&["run", "sim:x25m"][..], &["did you mean `x25-m`?"][..]),
        (&["run", "--rw=randreed"], &["did you mean `randread`?"]),
        (&["run", "--bs=4q"], &["unknown unit `q`"]),
        (&["run", "--bs=1000", "--number_ios=1"], &["512 B sectors"]),
        (&["run", "--iodepth=0", "--number_ios=1"], &["at least 1"]),
        (&["run", "--iodepth=-1", "--number_ios=1"], &["`-1` is negative"]),
        (&["run", "./precious.txt", "--rw=read"], &["less than one block"]),
        (&["run", "./sound.bin", "--rw=read", "--bs=2m", "--direct=0"], &["a smaller --bs"]),
        (&["run", "./sound.bin", "--rw=read", "--offset=1m", "--direct=0"], &["beyond the end of the target"]),
        (&["run", "./sound.bin", "--rw=read", "--offset=512k", "--size=768k", "--direct=0"], &["more than"]),
        (&["run", "./sound.bin", "--rw=write", "--destroy-data=./sound.bin"], &["--overwrite"]),
        (&["run", "./sound.bin", "--rw=randread", "--offset=1g", "--direct=0"], &["beyond the end of the target"]),
        (&["run", "", "--rw=read"], &["the target's name is empty; give sim:DRIVE"]),
        (&["run", "--size=4095", "--number_ios=1"], &["a block of 4096 B is larger than the active range of 4095 B"]),
        (&["run", "--rate_iops=18446744073709551615"], &["at most 1000000000 is possible"]),
        (&["run", "--size=100g", "--number_ios=1"], &["more than the drive's"]),
        (&["run", "--iodepth=99999999", "--number_ios=1"], &["iodepth"]),
        (&["run", "--runtime=-5"], &["-5"]),
        (&["run", "--rwmixread=101"], &["100 %"]),
        (&["run", "./new.bin", "--rw=write", "--size=1m", "--bssplit=4k/60:8k/30"], &["must make 100 %"]),
        (&["run", "--random_distribution=zipf"], &["try zipf:1.2"]),
        (&["run", "--profile=databse"], &["did you mean `database`?"]),
        (&["run", "--norandommap=0", "--number_ios=1"], &["needs a random pattern"]),
        (&["run", "--rw=randread:60k", "--number_ios=1"], &["sequential pattern"]),
        (&["run", "--rw=write", "--fsync=1", "--fdatasync=1", "--number_ios=1"], &["give one of them"]),
        (&["run", "--rate_iops=10", "--thinktime=5", "--number_ios=1"], &["exclude each other"]),
        (&["run", "./new.bin", "--rw=randwrite", "--size=1m", "--bs=1000"], &["512 B sectors"]),
        (&["run", "./new.bin", "--rw=randwrite", "--size=1m", "--iodepth=0"], &["at least 1"]),
        (&["run", "./new.bin", "--rw=write", "--size=1m", "--fsync=1", "--fdatasync=1"], &["give one of them"]),
        (&["run", "./new.bin", "--rw=write"], &["size"]),
        (&["run", "./new.bin", "--rw=write", "--size=900p"], &["free"]),
        (&["run", "./precious.txt", "--rw=write", "--size=1m"], &["--overwrite"]),
        (&["run", ".", "--rw=write", "--size=1m"], &["directory"]),
        (&["run", "/dev/null", "--rw=write", "--size=1m"], &["/dev/null"]),
        (&["run", "./absent.bin", "--rw=read"], &["absent.bin"]),
        (&["run", "./odd.bin", "--rw=write", "--bs=512", "--size=1m", "--offset=100"], &["offset"]),
        (&["review", "--plan", "reveiw"], &["did you mean `review`?"]),
        (&["review", "--plan", "./none.toml"], &["none.toml"]),
        (&["review", "--repeats", "0"], &["at most 1000"]),
        (&["review", "sim:x25-m", "--overwrite"], &["holds no data"]),
        (&["drives", "show", "x25e"], &["did you mean `x25-e-32`?", "`assay drives`"]),
        (&["run", "sim:980PRO"], &["did you mean `980-pro-1tb`?"]),
        (&["show", "7"], &["no run 7"]),
        (&["report", "7"], &["no run 7"]),
        (&["review", "--resume", "7"], &["no run 7"]),
        (&["review", "--resume"], &["has no reviews"]),
        (&["review", "--resume", "--seed", "3"], &["--seed", "cannot be used with"]),
        (&["review", "--resume", "--repeats", "3"], &["--repeats", "cannot be used with"]),
        (&["review", "--resume", "--quick"], &["--quick", "cannot be used with"]),
        (&["review", "--resume", "--plan", "review"], &["--plan", "cannot be used with"]),
        (&["review", "--resume", "--size", "1g"], &["--size", "cannot be used with"]),
        (&["review", "--resume", "--direct", "1"], &["--direct", "cannot be used with"]),
        (&["runs", "--store", "./precious.txt"], &["not a store"]),
        (&["show", "seven"], &["`last`"]),
        (&["revew"], &["review"]),
    ] {
        let said = place.assay(arguments);
        assert_eq!(said.code, Some(2), "assay {arguments:?}: {}{}", said.stdout, said.stderr);
        for word in words {
            assert!(said.stderr.contains(word), "assay {arguments:?} says:\n{}", said.stderr);
        }
    }
    let within_the_ramp = place.assay(&["run", "--ramp_time=100", "--io_size=4k"]);
    assert_eq!(within_the_ramp.code, Some(1), "that shows only when it has run");
    assert!(within_the_ramp.stderr.contains("shorter ramp_time"), "{}", within_the_ramp.stderr);
    assert_eq!(std::fs::read_to_string(place.path("precious.txt")).unwrap(), "all I have");
    assert!(!place.path("new.bin").exists(), "a refused file is not created");
}

#[test]
fn a_mistake_in_a_plan_is_shown_with_its_place() {
    let place = Place::new();
    std::fs::write(
        place.path("mine.toml"),
        "name = \"mine\"\ntitle = \"Mine\"\n\n[[step]]\nname = \"a\"\nrw = \"randreed\"\nruntime = \"1s\"\n",
    )
    .unwrap();
    let said = place.refuses(&["review", "--plan", "./mine.toml"]);
    assert!(said.contains("mine.toml:6:6") && said.contains("^^^^^^^^^^") && said.contains("randread"), "{said}");
}

/// A file system of 64 MiB is filled by another while a run writes to it.
#[test]
fn a_full_disk_fails_the_run_and_says_so() {
    let place = Place::new();
    let Some(device) = support::LoopDevice::new(&place.path("disk.img"), 64) else { return };
    if tool("mkfs.ext4").is_none() {
        return skip("mkfs.ext4 is missing");
    }
    other("mkfs.ext4", &["-q", "-F", &device.0]);
    let mount = place.path("mount");
    std::fs::create_dir(&mount).unwrap();
    let mount_path = mount.display().to_string();
    other("mount", &[&device.0, &mount_path]);
    let outcome = std::panic::catch_unwind(|| {
        let said = place.assay(&["run", "mount/big.bin", "--rw=write", "--bs=64k", "--size=500m"]);
        assert_ne!(said.code, Some(0));
        assert!(said.stderr.contains("free"), "{}", said.stderr);
        assert!(!mount.join("big.bin").exists(), "nothing is left behind");
    });
    other("umount", &[&mount_path]);
    outcome.unwrap();
}

/// Reads a file of the place for a minute.
const LONG: [&str; 7] =
    ["run", "./scratch.bin", "--rw=randread", "--size=8m", "--runtime=60s", "--time_based", "--format=json"];

#[test]
fn ctrl_c_ends_a_run_at_once_and_keeps_and_marks_what_was_measured() {
    let place = Place::new();
    let mut command = place.command(&LONG);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while line.trim() != "Running" {
        line.clear();
        assert!(words.read_line(&mut line).unwrap() > 0, "the program ended early");
    }
    // Long enough for requests to be counted, however busy the machine is.
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(45), "{:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(130));
    let document = json(&String::from_utf8(output.stdout).unwrap());
    assert!(document["read"]["requests"].as_u64().unwrap() > 0, "{document}");
    let findings = document["findings"].to_string();
    assert!(findings.contains("interrupted"), "{findings}");
    let mut rest = String::new();
    words.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("interrupted"), "{rest}");
}

/// Runs what follows with the system call number 425, `io_uring_setup`, answered by EPERM, as containers do.
const FORBID: &str = "import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
code = lambda *fields: struct.pack('HBBI', *fields)
rules = code(0x20, 0, 0, 0) + code(0x15, 0, 1, 425) + code(0x06, 0, 0, 0x50001) + code(0x06, 0, 0, 0x7fff0000)
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('rules', ctypes.c_char_p)]
program = Program(4, rules)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])";

#[test]
fn where_io_uring_is_forbidden_threads_do_the_work_and_the_result_says_so() {
    let Some(python) = tool("python3") else { return skip("python3 is not installed") };
    let place = Place::new();
    let arguments = ["run", "./scratch.bin", "--rw=randread", "--size=8m", "--iodepth=4", "--number_ios=500"];
    let mut command = std::process::Command::new(python);
    command.current_dir(place.path("")).env("ASSAY_STORE", place.store());
    command.args(["-c", FORBID, env!("CARGO_BIN_EXE_assay")]).args(arguments).arg("--format=json");
    let output = command.output().unwrap();
    if output.status.code() == Some(99) {
        return skip("the kernel has no seccomp filters");
    }
    let document = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(document["read"]["requests"], 500, "{document}");
    assert_eq!(document["cpu"]["handover"]["method"], "threads");
    assert!(document["findings"].to_string().contains("Operation not permitted"), "{document}");
}

#[test]
fn the_ways_to_the_kernel_are_for_real_targets() {
    let place = Place::new();
    for option in ["--ioengine=psync", "--hipri", "--sqthread_poll", "--cpus_allowed=0"] {
        let said = place.refuses(&["run", "--rw=randread", "--number_ios=1", option]);
        assert!(said.contains("simulated"), "{said}");
    }
    let said = place.refuses(&["run", "--cpus_allowed=3-1"]);
    assert!(said.contains("0-3,6"), "{said}");
}
