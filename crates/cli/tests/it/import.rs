//! fio job files from the command line.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Place, skip, tool};
use rustix::process::{Pid, Signal};
use serde_json::Value;

const TWO: &str = "[global]\nsize=8m\nfilename=./scratch.bin\ndirect=1\nioengine=libaio\nstonewall\n\
                   [reader]\nrw=randread\niodepth=8\nnumber_ios=300\n\
                   [writer]\nrw=randwrite\nbs=16k\nnumber_ios=100\nverify=md5\n";

fn place(job: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("job.fio"), job).unwrap();
    place
}

#[test]
fn a_job_file_becomes_a_plan_that_can_be_reviewed() {
    let place = place(TWO);
    let said = place.assay(&["import", "job.fio", "-o", "plan.toml"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    assert!(said.stderr.contains("warning[fio::not-honoured]: `verify=md5` is not honoured"), "{}", said.stderr);
    assert!(said.stderr.contains("--> job.fio:15:1"), "{}", said.stderr);
    let plan = std::fs::read_to_string(place.path("plan.toml")).unwrap();
    assert!(plan.contains("#   assay review --plan THIS-FILE ./scratch.bin --size=8m --direct=1"), "{plan}");
    assert!(plan.contains("#   line 15: `verify=md5` is not honoured"), "{plan}");
    assert_eq!(plan, place.succeeds(&["import", "job.fio"]));
    let summary = place.succeeds(&["review", "--plan", "plan.toml", "./scratch.bin", "--size=8m"]);
    assert!(summary.contains("random read") && summary.contains("IOPS"), "{summary}");
}

#[test]
fn a_job_file_runs_on_the_file_that_it_names_or_on_another_target() {
    let place = place(TWO);
    let summary = place.succeeds(&["run", "job.fio"]);
    assert!(summary.contains("scratch.bin") && summary.contains("plan job"), "{summary}");
    assert_eq!(std::fs::metadata(place.path("scratch.bin")).unwrap().len(), 8 << 20);
    let summary = place.succeeds(&["run", "job.fio", "sim:x25-m"]);
    assert!(summary.contains("Intel X25-M"), "{summary}");
}

#[test]
fn one_job_can_be_shown_in_every_format() {
    let place = place(TWO);
    let document =
        place.succeeds(&["run", "job.fio", "./scratch.bin", "--section=writer", "--format=fio", "--direct=0"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    let job = &document["jobs"][0];
    assert_eq!((&job["jobname"], &job["write"]["total_ios"]), (&"writer".into(), &100.into()));
    assert_eq!(
        (&job["job options"]["bs"], &job["job options"]["direct"]),
        (&"16k".into(), &"1".into()),
        "its own goes before"
    );
    let both: Value = serde_json::from_str(&place.succeeds(&["run", "job.fio", "sim:x25-m", "--format=fio"])).unwrap();
    assert_eq!(both["jobs"].as_array().unwrap().len(), 2);
    let said = place.refuses(&["run", "job.fio", "--format=csv"]);
    assert!(said.contains("has 2 jobs") && said.contains("--section NAME"), "{said}");
}

#[test]
fn a_whole_device_is_used_once_where_the_job_does_not_say_how_much() {
    let place = place("[a]\nfilename=/dev/nothing-such\nrw=write\nbs=1m\n");
    assert!(place.succeeds(&["import", "job.fio"]).contains("io_size = \"100%\""));
    let document = place.succeeds(&["run", "job.fio", "./new.bin", "--size=6m", "--format=json"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["write"]["bytes"], 6 << 20);
}

#[test]
fn variables_that_are_given_and_other_files_are_put_in_place() {
    let place = place("[a]\nsize=1m\nbs=${ASSAY_TEST_BS}\ninclude more.fio\n");
    std::fs::write(place.path("more.fio"), "rw=randwrite\n").unwrap();
    let import = ["import", "job.fio", "--variable=ASSAY_TEST_BS"];
    let output = place.command(&import).env("ASSAY_TEST_BS", "16k").output().unwrap();
    let plan = String::from_utf8(output.stdout).unwrap();
    assert!(plan.contains("bs = \"16k\"") && plan.contains("rw = \"randwrite\""), "{plan}");
    let said = place.refuses(&["import", "job.fio"]);
    assert!(said.contains("no `ASSAY_TEST_BS` is given") && said.contains("--> job.fio:3:1"), "{said}");
}

#[test]
fn what_cannot_be_taken_over_is_refused_with_its_line() {
    for (job, arguments, words) in [
        ("[a]\nsize=1m\niodeph=4\n", &["import", "job.fio"][..], "did you mean `iodepth`?"),
        ("[a]\nioengine=cpuio\n", &["run", "job.fio"], "--> job.fio:2:1"),
        (TWO, &["import", "job.fio", "--strict"], "is refused by --strict"),
        (TWO, &["run", "job.fio", "--strict"], "is refused by --strict"),
        (TWO, &["import", "job.fio", "--section=none"], "the file has no section `none`"),
        (TWO, &["import", "gone.fio"], "the job file gone.fio cannot be read"),
        (TWO, &["run", "one.bin", "two.bin"], "are two targets"),
        (TWO, &["run", "one.bin", "--strict"], "are for job files"),
    ] {
        let place = place(job);
        let said = place.refuses(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!place.path("scratch.bin").exists(), "{arguments:?} made a file");
    }
}

/// Also where little is to be said, and to a program that reads the document.
#[test]
fn why_a_job_file_is_refused_is_told_everywhere() {
    let place = place("[a]\nrw=nonsense\nsize=1m\n");
    for quiet in [&["-q"][..], &[]] {
        let said = place.refuses(&[quiet, &["run", "job.fio", "sim:x25-m"]].concat());
        assert!(said.contains("`nonsense` is not a pattern") && said.contains("--> job.fio:2:1"), "{quiet:?}: {said}");
    }
    let said = place.assay(&["run", "job.fio", "sim:x25-m", "--format=json"]);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let error = document["error"].as_str().unwrap();
    assert!(error.contains("`nonsense` is not a pattern") && error.contains("cannot be run"), "{error}");
    assert_eq!(said.stderr.matches("`nonsense` is not").count(), 1, "{}", said.stderr);
}

/// A share of a target is of a simulated drive of one's own, too; and of one that cannot be, that is what is told.
#[test]
fn a_share_is_of_the_drive_that_is_named() {
    let place = place("[a]\nrw=read\nbs=1m\nsize=50%\n");
    let drive = place.succeeds(&["drives", "show", "--toml", "x25-m"]);
    std::fs::write(place.path("mine.toml"), drive.replace("name = \"x25-m\"", "name = \"mine\"")).unwrap();
    let bytes = |target: &str| {
        let document = place.succeeds(&["run", "job.fio", target, "--format=json"]);
        serde_json::from_str::<Value>(&document).unwrap()["read"]["bytes"].as_u64().unwrap()
    };
    assert_eq!(bytes("sim:./mine.toml"), bytes("sim:x25-m"));
    let said = place.refuses(&["run", "job.fio", "sim:x25-m?gc.pacing=1%"]);
    assert!(said.contains("gc.pacing") && !said.contains("is unknown here"), "{said}");
}

#[test]
fn a_job_moves_as_much_as_it_does_in_fio() {
    let Some(program) = tool("fio") else { return skip("fio is not installed") };
    for options in [
        "bs=8k",
        "loops=3",
        "numjobs=2\noffset_increment=4m\ngroup_reporting",
        "rw=randwrite\nnumjobs=2\ngroup_reporting",
        "io_size=6m",
        "io_size=50%",
        "rw=randwrite\nnumber_ios=100\nloops=2",
        "filesize=2m",
        "offset=1m",
        "bs=8kib\nkb_base=1000\nsize=4mib",
        "bs=4ki",
        "bs=0x2000",
        "bs=4k,16k",
    ] {
        let place = place(&format!("[a]\nrw=write\nsize=4m\nfilename=ours.bin\n{options}\n"));
        std::fs::write(place.path("fio.fio"), format!("[a]\nrw=write\nsize=4m\nfilename=fio.bin\n{options}\n"))
            .unwrap();
        let ours: Value = serde_json::from_str(&place.succeeds(&["run", "job.fio", "--format=fio"])).unwrap();
        let mut fio = std::process::Command::new(&program);
        let output = fio.current_dir(place.path("")).args(["--output-format=json", "fio.fio"]).output().unwrap();
        let fio: Value = serde_json::from_slice(&output.stdout).unwrap();
        let moved = |document: &Value| {
            let write = &document["jobs"][0]["write"];
            (write["io_bytes"].as_u64(), write["total_ios"].as_u64())
        };
        assert_eq!(moved(&ours), moved(&fio), "{options}");
    }
}

#[test]
fn an_access_specification_of_iometers_becomes_a_plan_that_runs() {
    const ICF: &str = "Version 1.1.0 \r\n'TEST SETUP ===\r\n'Test Description\r\n\tOffice\r\n'Run Time\r\n'\thours      \
                       minutes    seconds\r\n\t0          0          1\r\n'END test setup\r\n\
                       'ACCESS SPECIFICATIONS ===\r\n'Access specification name,default assignment\r\n\tOffice,ALL\r\n\
                       'size,% of size,% reads,% random,delay,burst,align,reply\r\n\t4096,60,75,100,0,1,4096,0,\r\n\
                       \t65536,40,75,100,0,1,4096,0\r\n'END access specifications\r\n";
    let place = place("");
    std::fs::write(place.path("office.ICF"), ICF).unwrap();
    place.succeeds(&["import", "office.ICF", "-o", "plan.toml"]);
    let plan = std::fs::read_to_string(place.path("plan.toml")).unwrap();
    assert!(plan.contains("4k/60:64k/40") && plan.contains("rwmixread = \"75\""), "{plan}");
    let summary = place.succeeds(&["review", "--plan", "plan.toml", "sim:x25-m?user=1GiB"]);
    assert!(summary.contains("Office") || summary.contains("office"), "{summary}");
    assert!(place.refuses(&["import", "office.ICF", "--section=x"]).contains("fio's job files"));
}

#[test]
fn ctrl_c_ends_a_job_file_with_the_code_of_an_interruption_and_keeps_what_was_measured() {
    let place = place("[long]\nfilename=scratch.bin\nsize=8m\nrw=randread\nruntime=60\ntime_based\n");
    let mut child = place.command(&["run", "job.fio"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(words.any(|line| line.unwrap().trim() == "long"), "the program ended early");
    // Long enough for requests to be counted, however busy the machine is.
    std::thread::sleep(Duration::from_secs(1));
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let rest: Vec<String> = words.map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(place.succeeds(&["show", "last"]).contains("IOPS"));
}

#[test]
fn a_delay_behind_a_stonewall_counts_from_the_first_of_all_jobs_where_it_is_known_when_those_before_end() {
    let timed = "[global]\nfilename=x\nsize=1m\nrw=randread\ntime_based\n[a]\nruntime=3\n[b]\nstonewall\nstartdelay=5\n\
                 runtime=1\n[c]\nstonewall\nstartdelay=2\nruntime=1\n";
    let place = place(timed);
    let said = place.assay(&["import", "job.fio"]);
    assert_eq!(said.stdout.matches("do = \"idle\"").count(), 1, "c is late anyway: {}", said.stdout);
    assert!(
        said.stdout.contains("time = \"2s\"") && !said.stderr.contains("startdelay"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let sized = timed.replacen("time_based\n", "", 1);
    std::fs::write(place.path("job.fio"), sized).unwrap();
    let said = place.assay(&["import", "job.fio"]);
    assert!(said.stderr.contains("of which it is not known when they do"), "{}", said.stderr);
}
