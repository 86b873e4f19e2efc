//! fio's command lines, run as they are.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Place, skip, tool};

/// A short line that any fio takes.
const LINE: [&str; 8] = [
    "--name=short",
    "--filename=f",
    "--size=2m",
    "--rw=randrw",
    "--bs=4k",
    "--ioengine=psync",
    "--number_ios=300",
    "--randseed=7",
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in: {text}"))
}

/// What fio itself prints for these words, in a place of its own; none where it is not installed.
fn fios(words: &[&str]) -> Option<String> {
    let place = Place::new();
    tool("fio")?;
    let done = Command::new("fio").args(words).current_dir(place.path(".")).output().unwrap();
    assert!(done.status.success(), "fio {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap())
}

/// What stands at the beginning of each line, without its figures; lines that are there only for some latencies left out.
fn skeleton(text: &str) -> Vec<String> {
    let is_kept = |line: &&str| !line.starts_with("  lat (") && !line.contains("slat") && !line.starts_with("     |");
    let head = |line: &str| {
        let head: String = line.chars().take_while(|c| !c.is_ascii_digit() && *c != '(').collect();
        head.trim_end().to_owned()
    };
    let until = text.split("\nDisk stats").next().unwrap();
    let lines = until.lines().filter(is_kept).map(head).filter(|line| !line.is_empty());
    // What fio says while it makes the file, and whether it runs threads.
    lines.filter(|line| line != "short: Laying out IO file").map(|line| line.replace("fio-", "")).collect()
}

#[test]
fn normal_output_has_the_lines_that_fio_prints() {
    let ours = Place::new().succeeds(&[&["fio"], &LINE[..]].concat());
    for wanted in
        ["short: (groupid=0, jobs=1): err= 0: pid=", "  read: IOPS=", " 99.00th=[", "issued rwts: total=", "READ: bw="]
    {
        assert!(ours.contains(wanted), "{wanted} is not in {ours}");
    }
    let Some(theirs) = fios(&LINE) else { return skip("fio is not installed") };
    let without_samples = |text: &str| {
        skeleton(text)
            .into_iter()
            .filter(|line| !line.starts_with("   bw") && !line.starts_with("   iops"))
            .collect::<Vec<_>>()
    };
    assert_eq!(without_samples(&ours), without_samples(&theirs), "{ours}\n{theirs}");
}

#[test]
fn terse_output_has_as_many_fields_as_fio_s() {
    let place = Place::new();
    for version in ["2", "3", "4", "5"] {
        let words = [&LINE[..], &["--minimal", "--terse-version", version]].concat();
        let ours = place.succeeds(&[&["fio"], &words[..]].concat());
        let fields: Vec<&str> = ours.trim_end().split(';').collect();
        assert_eq!(fields[0], version);
        let Some(theirs) = fios(&words) else { return skip("fio is not installed") };
        let theirs: Vec<&str> = theirs.lines().last().unwrap().split(';').collect();
        // Behind these fio has nine for each disk.
        let disks = (theirs.len() - fields.len()) % 9;
        assert!(fields.len() <= theirs.len() && disks == 0, "{} and {} fields:\n{ours}", fields.len(), theirs.len());
        let kinds = |fields: &[&str]| fields.iter().map(|field| field.contains('%')).collect::<Vec<_>>();
        assert_eq!(kinds(&fields), kinds(&theirs[..fields.len()]), "version {version}");
    }
}

#[test]
fn json_has_fio_s_keys_and_json_plus_the_bins() {
    let place = Place::new();
    for format in ["json", "json+"] {
        let option = format!("--output-format={format}");
        let words = [&LINE[..], &[option.as_str()]].concat();
        let ours = json(&place.succeeds(&[&["fio"], &words[..]].concat()));
        let bins = ours["jobs"][0]["read"]["clat_ns"].get("bins").is_some();
        assert_eq!(bins, format == "json+");
        assert_eq!(ours["jobs"][0]["job options"]["number_ios"], "300");
        let Some(theirs) = fios(&words) else { return skip("fio is not installed") };
        let theirs = json(&theirs);
        for part in ["read", "write", "sync"] {
            for key in theirs["jobs"][0][part].as_object().unwrap().keys() {
                assert!(ours["jobs"][0][part].get(key).is_some(), "{part} has no {key}");
            }
        }
        for key in theirs["jobs"][0].as_object().unwrap().keys() {
            assert!(ours["jobs"][0].get(key).is_some(), "a job has no {key}");
        }
    }
}

#[test]
fn several_jobs_and_clones_have_files_and_figures_of_their_own() {
    let place = Place::new();
    let words =
        ["--size=1m", "--bs=64k", "--rw=write", "--name=one", "--numjobs=2", "--name=two", "--output-format=json"];
    let document = json(&place.succeeds(&[&["fio"], &words[..]].concat()));
    let jobs = document["jobs"].as_array().unwrap();
    let told: Vec<_> = jobs
        .iter()
        .map(|job| (job["jobname"].as_str().unwrap(), job["write"]["total_ios"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [("one", 16), ("one", 16), ("two", 16)]);
    for file in ["one.0.0", "one.1.0", "two.0.0"] {
        assert_eq!(std::fs::metadata(place.path(file)).unwrap().len(), 1 << 20, "{file}");
    }
    let grouped = json(&place.succeeds(&[&["fio"], &words[..], &["--group_reporting"]].concat()));
    let of_last = grouped["jobs"].as_array().unwrap().last().unwrap();
    assert_eq!(of_last["jobname"], "two");
    let together = [
        "--group_reporting",
        "--size=1m",
        "--bs=64k",
        "--rw=write",
        "--name=one",
        "--numjobs=2",
        "--name=two",
        "--output-format=json",
    ];
    let grouped = json(&place.succeeds(&[&["fio"], &together[..]].concat()));
    assert_eq!(
        (grouped["jobs"].as_array().unwrap().len(), &grouped["jobs"][0]["write"]["total_ios"]),
        (1, &Value::from(48))
    );
}

#[test]
fn assay_run_takes_the_same_line_and_prints_its_own() {
    let place = Place::new();
    let text = place.succeeds(&[&["run"], &LINE[..], &["-group_reporting", "--thread"]].concat());
    assert!(!text.contains("IO depths") && text.contains("random"), "{text}");
    let document = json(&place.succeeds(&[&["run"], &LINE[..], &["--thread", "--format=json"]].concat()));
    assert_eq!(document["job"], "short");
    let fio = json(&place.succeeds(&[&["run"], &LINE[..], &["--output-format=json"]].concat()));
    assert_eq!(fio["jobs"][0]["jobname"], "short", "fio's own document where fio's own option asks for it");
    std::fs::write(place.path("job.ini"), "; a job\n[reads]\nrw=randread\n").unwrap();
    let by_file = json(&place.succeeds(&["run", "job.ini", "--size=1m", "--bs=16k", "--output-format=json"]));
    assert_eq!(by_file["jobs"][0]["read"]["total_ios"], 64);
}

#[test]
fn a_simulated_drive_is_named_by_itself_or_as_the_file() {
    let place = Place::new();
    let of = |words: &[&str]| {
        json(&place.succeeds(&[&["fio"], words, &["--output-format=json"]].concat()))["jobs"][0]["read"]["total_ios"]
            .clone()
    };
    let job = ["--name=a", "--rw=randread", "--number_ios=1000", "--iodepth=4", "--ioengine=libaio", "--direct=1"];
    assert_eq!(of(&[&["sim:x25-m"], &job[..]].concat()), 1000);
    assert_eq!(of(&[&job[..], &["--filename=sim:x25-m"]].concat()), 1000);
}

#[test]
fn a_line_that_would_overwrite_data_is_refused_with_the_option_to_add() {
    let place = Place::new();
    std::fs::write(place.path("mine"), vec![7; 1 << 20]).unwrap();
    let line = ["fio", "--name=a", "--filename=mine", "--rw=write", "--size=1m", "--bs=64k"];
    let said = place.assay(&line);
    assert_eq!(said.code, Some(1), "as fio ends for all that fails");
    assert!(said.stderr.contains("--overwrite"), "{}", said.stderr);
    assert!(std::fs::read(place.path("mine")).unwrap().iter().all(|byte| *byte == 7));
    place.succeeds(&[&line[..], &["--overwrite"]].concat());
    assert_eq!(place.assay(&[&["run"], &line[1..]].concat()).code, Some(2), "assay run has codes of its own");
}

#[test]
fn what_a_job_file_names_is_not_what_the_command_line_names() {
    let place = Place::new();
    std::fs::create_dir(place.path("jobs")).unwrap();
    std::fs::write(place.path("jobs/a.fio"), "[a]\nfilename=../outside\nsize=1m\nrw=write\nbs=64k\n").unwrap();
    let said = place.assay(&["fio", "jobs/a.fio"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("chooses no device and no file outside its own folder"), "{}", said.stderr);
    assert!(!place.path("outside").exists());
    let by_line = place.assay(&["fio", "--name=a", "--filename=outside", "--size=1m", "--rw=write", "--bs=64k"]);
    assert_eq!(by_line.code, Some(0), "{}", by_line.stderr);
}

#[test]
fn what_only_looks_runs_nothing() {
    let place = Place::new();
    let nothing = |words: &[&str]| {
        let out = place.succeeds(&[&["fio"], &LINE[..], words].concat());
        assert!(!place.path("f").exists() && !place.store().exists(), "{words:?}");
        out
    };
    assert_eq!(nothing(&["--parse-only"]), "");
    let shown = nothing(&["--showcmd"]);
    assert!(shown.starts_with("fio --name=short ") && shown.contains("--rw=randrw"), "{shown}");
    assert!(nothing(&["--version"]).starts_with("fio-3.33-assay-"));
    let said = place.assay(&[&["fio"], &LINE[..], &["--readonly"]].concat());
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("--readonly allows reading alone"), "{}", said.stderr);
}

#[test]
fn what_is_read_is_not_made_where_only_reading_is_allowed() {
    let place = Place::new();
    let read = |words: &[&str]| {
        let line = ["fio", "--name=look", "--rw=randread", "--filename=f", "--size=64k", "--number_ios=4"];
        place.assay(&[&line[..], words].concat())
    };
    for readonly in ["--readonly", "-r"] {
        let said = read(&[readonly]);
        assert!(said.code == Some(1) && said.stderr.contains("f is missing or shorter"), "{}", said.stderr);
        assert!(!place.path("f").exists(), "{readonly}");
    }
    std::fs::write(place.path("f"), [7; 4096]).unwrap();
    assert_eq!(read(&["-r"]).code, Some(1));
    assert_eq!(std::fs::read(place.path("f")).unwrap(), [7; 4096], "it is as it was");
    std::fs::write(place.path("f"), [7; 65536]).unwrap();
    let said = read(&["-r", "-o", "o.json", "-F", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(std::fs::read_to_string(place.path("o.json")).unwrap().contains("\"jobs\""));
}

#[test]
fn the_output_goes_where_it_is_asked_to() {
    let place = Place::new();
    let out = place.succeeds(&[&["fio"], &LINE[..], &["--output=o.txt", "--output-format=normal,json"]].concat());
    assert_eq!(out, "");
    let written = std::fs::read_to_string(place.path("o.txt")).unwrap();
    assert!(written.contains("IO depths") && written.contains("\"jobs\":"), "{written}");
    std::fs::write(place.path("mine.txt"), "mine").unwrap();
    let said = place.assay(&[&["fio"], &LINE[..], &["--output=mine.txt"]].concat());
    assert!(said.code == Some(1) && said.stderr.contains("--force"), "{}", said.stderr);
}

#[test]
fn an_offset_behind_the_end_is_told_as_such() {
    let place = Place::new();
    let said = place.assay(&["fio", "--name=a", "--filename=sim:x25-m", "--offset=2t", "--rw=randread", "--runtime=1"]);
    let words = "offset 2 TiB is beyond the end of the target, 74.5 GiB; give a smaller offset";
    assert!(said.code == Some(1) && said.stderr.contains(words), "{}", said.stderr);
}

#[test]
fn a_dash_is_a_job_file_on_standard_input() {
    let place = Place::new();
    let mut command = place.command(&["fio", "-", "--output-format=terse"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let job = b"[piped]\nfilename=sim:x25-m\nrw=randread\nnumber_ios=10\n";
    child.stdin.take().unwrap().write_all(job).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains(";piped;0;0;40;"), "{text}");
}

/// `assay run TARGET` has options of its own; an option that only fio has needs a job.
#[test]
fn an_option_of_fio_s_behind_a_target_is_told_to_need_a_job() {
    let place = Place::new();
    for option in ["--bsrange=4k-8k", "--loops=2", "--nrfiles=3"] {
        let name = option.split('=').next().unwrap();
        for words in [&["run", "sim:x25-m", option][..], &["run", option, "sim:x25-m", "--rw=randread"]] {
            let said = place.refuses(words);
            let found = format!("`{name}` is an option of fio's jobs, and the command line has no job");
            assert!(said.contains(&found) && said.contains("put `--name=job` before it"), "{said}");
        }
    }
    let out = place.succeeds(&["run", "sim:x25-m", "--name=job", "--bsrange=4k-8k", "--number_ios=10"]);
    assert!(out.contains("4 KiB 50 %, 8 KiB 50 %"), "{out}");
    let said = place.refuses(&["run", "sim:x25-m", "--nrfiles=3", "--frobnicate=3"]);
    assert!(said.contains("frobnicate") && !said.contains("has no job"), "{said}");
}

/// As Arm's example of two NVMe drives in the cloud has them: writes at a rate, and reads of a third of that time.
#[test]
fn a_job_that_begins_later_has_its_own_times_within_its_group() {
    let place = Place::new();
    let text = "[global]\nfilename=sim:x25-m\nsize=64m\ntime_based\ngroup_reporting\nrate=2m,1m ; for each job\nruntime=4\n\
                [w]\nrw=write\nbs=64k\n[r]\nrw=read\nbs=256k\nstartdelay=2\nruntime=1\n";
    std::fs::write(place.path("later.fio"), text).unwrap();
    let job = &json(&place.succeeds(&["fio", "later.fio", "--output-format=json"]))["jobs"][0];
    let times = ["read", "write"].map(|kind| job[kind]["runtime"].as_u64().unwrap() / 10);
    assert_eq!((times, job["job_runtime"].as_u64().unwrap() / 100), ([100, 400], 50), "{job:#}");
    for (kind, requests) in [("read", 8.0), ("write", 16.0)] {
        let found = job[kind]["iops"].as_f64().unwrap();
        assert!((found - requests).abs() < 0.5, "{found} {kind}s a second");
    }
}

/// The document's `steadystate`, with times and rates that a rate of requests decides.
fn settled(document: &str) -> Value {
    let mut steady = json(document)["jobs"][0]["steadystate"].take();
    // fio's seconds are a few ms longer or shorter.
    steady["data"]["bw"].take();
    steady["data"]["bw_mean"].take();
    steady["data"]["iops"].as_array_mut().unwrap().iter_mut().for_each(|iops| {
        *iops = Value::from((iops.as_f64().unwrap() / 10.0).round() * 10.0);
    });
    steady["data"]["iops_mean"] = Value::from(steady["data"]["iops"].as_array().map_or(0, Vec::len));
    steady
}

#[test]
fn a_job_ends_at_the_steady_state_that_fio_ends_it_at() {
    let line = "--name=a --filename=f --size=4m --rw=randread --numjobs=2 --group_reporting --rate_iops=100 --time_based \
                --runtime=300 --ss=iops:90% --ss_dur=2 --ss_ramp=1 --output-format=json";
    let words: Vec<&str> = line.split_whitespace().collect();
    let on_file = Place::new().succeeds(&[&["fio"], &words[..]].concat());
    let ours = settled(&on_file);
    assert_eq!((&ours["ss"], &ours["attained"]), (&"iops:90.000000%".into(), &1.into()), "{ours:#}");
    let simulated = Place::new().succeeds(&[&["fio", "sim:x25-m"], &words[..]].concat());
    assert_eq!(settled(&simulated)["attained"], 1);
    assert_eq!(json(&simulated)["jobs"][0]["read"]["runtime"], 3000, "a second, and two that are judged");
    if let Some(theirs) = fios(&words) {
        let keys = |steady: &Value| steady.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let theirs = settled(&theirs);
        assert_eq!(keys(&ours), keys(&theirs));
        assert_eq!(keys(&ours["data"]), keys(&theirs["data"]));
        assert_eq!(
            ["ss", "duration", "attained"].map(|key| &ours[key]),
            ["ss", "duration", "attained"].map(|key| &theirs[key])
        );
        assert_eq!(ours["data"]["iops_mean"], theirs["data"]["iops_mean"], "so many values");
    }
}

#[test]
fn what_does_not_come_to_a_steady_state_runs_its_time_and_is_told() {
    let place = Place::new();
    let words = "--rw=randread --rate_iops=20 --rate_process=poisson --runtime=30 --time_based --steadystate=iops:1 \
                 --steadystate_duration=5";
    let said = place.succeeds(&[&["run", "sim:x25-m"], &words.split_whitespace().collect::<Vec<_>>()[..]].concat());
    let finding =
        said.split("\n\n").find(|part| part.starts_with("Finding: Not steady after 30 s")).unwrap_or_default();
    assert!(finding.replace('\n', " ").contains("IOPS deviates from its mean by up to"), "{said}");
    let normal = place
        .succeeds(&[&["fio", "sim:x25-m", "--name=a"], &words.split_whitespace().collect::<Vec<_>>()[..]].concat());
    assert!(normal.contains("  steadystate  : attained=no, bw="), "{normal}");
    let text = "[global]\nfilename=sim:x25-m\nsize=64m\ntime_based\nruntime=50\nss=iops:1%\nss_dur=4\n\
                        group_reporting\n[a]\nrate_iops=100\n[b]\nrate_iops=300\n";
    std::fs::write(place.path("two.fio"), text).unwrap();
    let both = json(&place.succeeds(&["fio", "two.fio", "--output-format=json"]))["jobs"][0].take();
    assert_eq!(
        (&both["steadystate"]["data"]["iops_mean"], &both["read"]["runtime"]),
        (&400.into(), &4000.into()),
        "{both:#}"
    );
}
