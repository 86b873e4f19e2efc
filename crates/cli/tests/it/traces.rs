//! Traces from the command line: replayed, recorded, and exchanged with fio.

use std::path::Path;

use crate::support::{Place, other, skip, tool};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}

fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    files.iter().for_each(|(name, text)| std::fs::write(place.path(name), text).unwrap());
    place
}

/// A small drive, which is soon filled.
const DRIVE: &str = "sim:x25-m?capacity.user=64MiB&spare=150%";

/// A read and a write at once, 50 ms later a flush and a trim, of two files.
const IOLOG: &str = "fio version 3 iolog\n0 a add\n0 a open\n0 a read 1048576 8192\n0 b write 0 4096\n50000 a sync 0 0\n\
                     50000 a trim 65536 65536\n60000 a close\n";

const BLKPARSE: &str = "  8,0    1        1     0.000100000   123  Q   R 2048 + 16 [fio]\n\
                          8,0    1        2     0.000900000     0  C   R 2048 + 16 [0]\n\
                          8,0    1        3     0.010900000   123  Q  WS 0 + 8 [fio]\n\
                          8,0    1        4     0.011900000     0  C  WS 0 + 8 [0]\n";

const MSR: &str = "128166372003000000,hm,0,Read,1048576,8192,8000\n128166372003108000,hm,0,Write,0,4096,1000\n";

#[test]
fn a_trace_of_every_format_is_replayed_on_a_simulated_drive_and_on_a_file() {
    let place = place(&[("t.log", IOLOG), ("t.txt", BLKPARSE), ("t.csv", MSR)]);
    for (name, format, requests, flushes) in
        [("t.log", "iolog3", 4, 1), ("t.txt", "blkparse", 2, 0), ("t.csv", "msr", 2, 0)]
    {
        for target in [&[DRIVE][..], &["./scratch.bin", "--size=2m", "--direct=0"]] {
            let trace = format!("--read_iolog={name}");
            let document = json(&place.succeeds(&[&["run", &trace, "--format=json"], target].concat()));
            let told = &document["workload"]["replay"];
            assert_eq!((&told["pace"], &told["trace"]["format"]), (&"recorded".into(), &format.into()));
            assert_eq!(told["trace"]["requests"], requests, "{name} on {target:?}");
            assert_eq!((&document["read"]["requests"], &document["read"]["bytes"]), (&1.into(), &8192.into()));
            assert_eq!((&document["write"]["requests"], &document["write"]["bytes"]), (&1.into(), &4096.into()));
            assert_eq!(document["flush"]["requests"], flushes);
            assert_eq!(document["workload"]["iodepth"], 32);
            let elapsed = document["elapsed_ns"].as_u64().unwrap();
            assert!(elapsed > if name == "t.log" { 50_000_000 } else { 10_800_000 }, "{name}: {elapsed} ns");
        }
    }
}

/// The table of formats in docs/workloads.md, as the program has it.
fn formats() -> String {
    let row = |format: workload::TraceFormat| {
        let name = format.name();
        format!("| `{name}` | {format} | {} | {} |\n", format.origin(), format.records())
    };
    let rows: String = workload::TraceFormat::ALL.into_iter().map(row).collect();
    format!("| name | format | source | recorded |\n| --- | --- | --- | --- |\n{rows}")
}

#[test]
fn the_table_of_formats_is_that_of_the_program() {
    let page = include_str!("../../../../docs/workloads.md");
    let table = formats();
    assert!(page.contains(&table), "docs/workloads.md has another table than this:\n{table}");
}

#[test]
fn a_trace_comes_through_a_pipe_compressed_and_by_its_columns() {
    let place = Place::new();
    let corpus = format!("{}/tests/corpus/traces", env!("CARGO_MANIFEST_DIR"));
    let piped = |options: &[&str], file: &str| {
        let mut command = place.command(&[&["run", DRIVE, "--format=json", "--read_iolog=-"], options].concat());
        let output = command.stdin(std::fs::File::open(format!("{corpus}/{file}")).unwrap()).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for (options, file, format, requests) in [
        (&["--replay_volume=0"][..], "alibaba.csv.zst", "alibaba", 6),
        (&["--replay_volume=0"], "alibaba.csv.gz", "alibaba", 6),
        (&["--replay_scale=32"], "spc.csv", "spc", 10),
        (&[], "blkparse.txt", "blkparse", 6),
        (&[], "blkparse-terminal.txt", "blkparse", 6),
        (&[], "sda.blktrace.0", "blktrace", 6),
        (
            &["--replay_volume=vol0", "--replay_format=volume,op,size_sectors,offset_bytes,latency_us,time_s"],
            "named.txt",
            "columns",
            6,
        ),
    ] {
        let (is_done, said, wrong) = piped(options, file);
        assert!(is_done, "{file}: {wrong}");
        let told = &json(&said)["workload"]["replay"]["trace"];
        assert_eq!((&told["format"], &told["requests"]), (&format.into(), &requests.into()), "{file}");
    }
    for (options, file, words) in [
        (&["--replay_volume=9"][..], "spc.csv", "no request is of volume `9`; there are: 0, 1"),
        (&["--replay_format=nothing"], "spc.csv", "no format has this name"),
        (&[], "named.txt", "name the columns: replay_format="),
    ] {
        let (is_done, _, wrong) = piped(options, file);
        let wrong = wrong.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!is_done && wrong.contains(words), "{file}: {wrong}");
    }
}

#[test]
fn a_replay_is_paced_as_asked() {
    let place = place(&[("t.log", IOLOG), ("t.csv", MSR)]);
    let elapsed = |options: &[&str]| {
        let document = json(&place.succeeds(&[&["run", DRIVE, "--format=json"], options].concat()));
        document["elapsed_ns"].as_u64().unwrap() as f64 / 1e6
    };
    let recorded = elapsed(&["--read_iolog=t.log"]);
    let twice = elapsed(&["--read_iolog=t.log", "--replay_time_scale=200"]);
    let fast = elapsed(&["--read_iolog=t.log", "--replay_no_stall=1"]);
    assert!(
        (50.0..55.0).contains(&recorded) && (25.0..30.0).contains(&twice) && fast < 5.0,
        "{recorded} {twice} {fast}"
    );
    // 10 ms after the read was done, which took 0.8 ms when it was recorded and less here.
    let think = elapsed(&["--read_iolog=t.csv", "--replay_think"]);
    assert!(think > 10.0 && think < elapsed(&["--read_iolog=t.csv"]), "{think}");
    assert!(elapsed(&["--read_iolog=t.log", "--runtime=20ms"]) < 30.0, "a limit cuts a replay short");
}

#[test]
fn a_replay_says_what_it_replayed_and_what_it_passed_over_also_when_the_trace_is_gone() {
    let place = place(&[("t.log", IOLOG)]);
    let text = place.succeeds(&["run", DRIVE, "--read_iolog=t.log", "--replay_time_scale=50"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("t.log (4 requests of fio's iolog, version 3), at 50 % of the recorded speed"), "{text}");
    assert!(words.contains("3 lines without a request were skipped"), "{text}");
    assert!(words.contains("requests to 2 recorded files or devices went to this one target"), "{text}");
    assert!(text.lines().filter(|line| !line.contains('/')).all(|line| line.chars().count() <= 80), "{text}");
    std::fs::remove_file(place.path("t.log")).unwrap();
    let summary = place.succeeds(&["show", "last"]);
    assert!(summary.contains("plan run") && summary.contains("complete"), "{summary}");
    let said = place.succeeds(&["report", "last", "--out", "."]);
    let page = std::fs::read_to_string(said.trim().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(page.contains("(4 requests of fio's iolog, version 3)") && page.contains("were skipped"), "{said}");
    assert!(page.contains("--read_iolog=") && !page.contains("--rw="), "the command repeats the replay");
}

#[test]
fn what_cannot_be_replayed_is_told_before_anything_is_touched() {
    let place = place(&[("t.log", IOLOG), ("bad.log", "fio version 2 iolog\nf read 0 x\n"), ("empty", "")]);
    for (options, words) in [
        (&["--read_iolog=gone.log"][..], "gone.log cannot be read: No such file"),
        (&["--read_iolog=bad.log"], "bad.log: line 2: `f read 0 x` is not a number"),
        (&["--read_iolog=empty"], "no request"),
        (&["--read_iolog=t.log", "--bs=8k"], "the trace determines what `bs` would"),
        (&["--read_iolog=t.log", "--numjobs=2"], "one worker"),
        (&["--read_iolog=t.log", "--replay_no_stall=1", "--replay_think=1"], "two timings"),
        (&["--replay_no_stall=1"], "read_iolog=FILE"),
        (&["--read_iolog=t.log", "--replay_time_scale=0"], "at least 1"),
        (&["--read_iolog=t.log", "--record=/nowhere/to/be"], "/nowhere/to/be"),
    ] {
        let said = place.refuses(&[&["run", DRIVE], options].concat());
        assert!(said.contains(words), "{options:?}: {said}");
    }
    let said = place.refuses(&["run", "./new.bin", "--size=1m", "--read_iolog=t.log"]);
    assert!(said.contains("ends at 1032k, beyond the active range of 1m") && said.contains("replay_scale=2"), "{said}");
    assert!(said.contains("It needs a target of at least"), "{said}");
    assert!(!place.path("new.bin").exists(), "what was made for the run is taken back");
    place.succeeds(&["run", "./new.bin", "--size=1m", "--read_iolog=t.log", "--replay_scale=2", "--direct=0"]);
}

#[test]
fn what_is_recorded_is_replayed_alike() {
    let place = Place::new();
    let asked = ["--rw=randrw", "--bs=8k", "--iodepth=4", "--fsync=5", "--number_ios=2000"];
    let run = |options: &[&str]| {
        let document = json(&place.succeeds(&[&["run", DRIVE, "--format=json"], options].concat()));
        ["read", "write", "flush", "elapsed_ns", "drive"].map(|key| document[key].clone())
    };
    let plain = run(&asked);
    assert_eq!(run(&[&asked[..], &["--record=out.log"]].concat()), plain, "recording changes nothing");
    assert_eq!(run(&["--read_iolog=out.log", "--replay_no_stall=1", "--iodepth=4"]), plain);
    place.succeeds(&[
        "run",
        "./a.bin",
        "--size=4m",
        "--rw=randwrite",
        "--numjobs=2",
        "--number_ios=50",
        "--record=a.log",
    ]);
    let log = std::fs::read_to_string(place.path("a.log")).unwrap();
    let times: Vec<u64> = log.lines().skip(1).map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert_eq!(log.lines().filter(|line| line.contains(" write ")).count(), 100, "what was laid out is no part of it");
    assert!(times.is_sorted(), "{log}");
}

#[test]
fn a_plan_replays_what_stands_beside_it() {
    let place = Place::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    std::fs::write(place.path("mine/t.log"), IOLOG).unwrap();
    let plan = "name = \"traced\"\nrepeats = 2\n[workload]\nbs = \"64k\"\nrw = \"randwrite\"\nnumber_ios = 10\n\
                [[step]]\nname = \"replayed\"\nread_iolog = \"t.log\"\nsweep.replay_time_scale = [100, 400]\n\
                [[step]]\nname = \"written\"\n";
    std::fs::write(place.path("mine/plan.toml"), plan).unwrap();
    let said = place.assay(&["review", DRIVE, "--plan", "mine/plan.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = std::fs::read_dir(place.path("assay-reports")).unwrap().next().unwrap().unwrap();
    let page = std::fs::read_to_string(report.path()).unwrap();
    assert!(page.contains("Replay speed (%)"), "the sweep has an axis");
    std::fs::remove_file(place.path("mine/t.log")).unwrap();
    let gone = place.refuses(&["review", DRIVE, "--plan", "mine/plan.toml"]);
    assert!(gone.contains("mine/t.log cannot be read"), "{gone}");
}

fn fio() -> bool {
    let known = tool("fio").is_some();
    if !known {
        skip("fio is not installed");
    }
    known
}

fn fio_in(place: &Place, arguments: &[&str]) -> Value {
    let folder = place.path("");
    let directory = |argument: &str| argument.replace("HERE", folder.to_str().unwrap().trim_end_matches('/'));
    let arguments: Vec<String> = arguments.iter().map(|argument| directory(argument)).collect();
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    words.push("--output-format=json");
    json(&other("fio", &words))
}

#[test]
fn what_fio_records_is_replayed_on_a_simulated_drive_and_on_a_file() {
    if !fio() {
        return;
    }
    let place = Place::new();
    let made = fio_in(
        &place,
        &[
            "--name=a",
            "--filename=HERE/fio.bin",
            "--size=2m",
            "--rw=randrw",
            "--bs=4k",
            "--ioengine=psync",
            "--fsync=16",
            "--write_iolog=HERE/fio.log",
            "--number_ios=300",
        ],
    );
    let count = |way: &str| made["jobs"][0][way]["total_ios"].clone();
    for target in [&[DRIVE][..], &["./scratch.bin", "--size=2m", "--direct=0"]] {
        for pace in ["--replay_no_stall=1", "--replay_think=1", "--replay_time_scale=500"] {
            let told = place.succeeds(&[&["run", "--read_iolog=fio.log", pace, "--format=json"], target].concat());
            let told = json(&told);
            assert_eq!(told["read"]["requests"], count("read"), "{pace} on {target:?}");
            assert_eq!(told["write"]["requests"], count("write"), "{pace} on {target:?}");
            assert!(told["flush"]["requests"].as_u64().unwrap() > 5, "{pace} on {target:?}");
        }
    }
}

#[test]
fn fio_replays_what_assay_records() {
    if !fio() {
        return;
    }
    let place = Place::new();
    place.succeeds(&[
        "run",
        DRIVE,
        "--rw=randrw",
        "--bs=4k",
        "--iodepth=4",
        "--size=2m",
        "--number_ios=400",
        "--record=ours.log",
    ]);
    let log = std::fs::read_to_string(place.path("ours.log")).unwrap();
    std::fs::write(place.path("target.bin"), vec![0; 2 << 20]).unwrap();
    let replayed = fio_in(
        &place,
        &[
            "--name=a",
            "--read_iolog=HERE/ours.log",
            "--replay_redirect=HERE/target.bin",
            "--ioengine=psync",
            "--replay_no_stall=1",
        ],
    );
    for (way, action) in [("read", " read "), ("write", " write ")] {
        let lines = log.lines().filter(|line| line.contains(action)).count();
        assert_eq!(replayed["jobs"][0][way]["total_ios"], lines, "{way}");
    }
}

#[test]
fn a_job_file_that_replays_and_records_is_run() {
    let job = "[a]\nread_iolog=t.log\nwrite_iolog=again.log\nioengine=libaio\niodepth=4\nreplay_no_stall=1\n\
               filename=./scratch.bin\nsize=2m\ndirect=1\nbs=16k\n";
    let place = place(&[("t.log", IOLOG), ("job.fio", job)]);
    let document = json(&place.succeeds(&["run", "job.fio", DRIVE, "--log-dir=.", "--format=json"]));
    assert_eq!(document["workload"]["options"]["replay_no_stall"], "1");
    assert_eq!((&document["write"]["requests"], &document["trim"]["requests"]), (&1.into(), &1.into()));
    let again = std::fs::read_to_string(place.path("again.log")).unwrap();
    assert!(again.starts_with("fio version 3 iolog\n0 ./scratch.bin add\n"), "{again}");
    assert_eq!(again.lines().count(), 8, "{again}");
    assert!(Path::new(&place.path("t.log")).exists());
    place.succeeds(&["import", "job.fio", "-o", "plan.toml"]);
    place.succeeds(&["review", "--plan", "plan.toml", DRIVE]);
}
