//! Jobs that end early: within their ramp time, or because somebody asks for the end.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Place, Said};

/// Three jobs, one after another or side by side; `b` is over in its ramp time.
fn ramped(place: &Place, parted: bool) -> Said {
    let stonewall = if parted { "stonewall" } else { "" };
    let text = format!(
        "[global]\nfilename=sim:x25-m\nrw=randread\nsize=64m\nruntime=2s\n\n[a]\nramp_time=1s\ntime_based\n\n\
         [b]\n{stonewall}\nramp_time=1s\nio_size=1m\n\n[c]\n{stonewall}\nio_size=1m\n"
    );
    std::fs::write(place.path("ramped.fio"), text).unwrap();
    place.assay(&["fio", "ramped.fio", "--output-format=json"])
}

fn jobs(said: &Said) -> Vec<(String, u64)> {
    let document: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr));
    let job = |job: &Value| (job["jobname"].as_str().unwrap().to_owned(), job["read"]["total_ios"].as_u64().unwrap());
    document["jobs"].as_array().unwrap().iter().map(job).collect()
}

#[test]
fn a_job_that_is_over_in_its_ramp_time_costs_the_others_nothing() {
    let place = Place::new();
    let said = ramped(&place, true);
    let found = jobs(&said);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, found[1].1), (vec!["a", "c"], 256), "each has its own figures");
    let why = "in step `b`: all requests completed in";
    assert!(said.code == Some(1) && said.stderr.contains(why), "{}", said.stderr);
    assert!(said.stderr.contains("ramp time of 1 s; give a shorter ramp_time"), "{}", said.stderr);
    let shown = place.succeeds(&["show", "last", "--format", "json"]);
    assert!(shown.contains("Not measured: all requests completed in"), "{shown}");
}

#[test]
fn a_job_beside_others_that_has_no_figures_is_named_with_the_reason() {
    let place = Place::new();
    let said = ramped(&place, false);
    let found = jobs(&said);
    assert!(found[0].1 > 1000 && found[1] == ("b".to_owned(), 0) && found[2].1 == 256, "{found:?}");
    let why = "job `b`: it completed no request after its ramp time of 1 s; give it a longer runtime";
    assert!(said.code == Some(1) && said.stderr.contains(why), "{}", said.stderr);
    let shown = place.succeeds(&["show", "last", "--format", "json"]);
    assert!(shown.contains("Not measured: it completed no request after"), "{shown}");
}

#[test]
fn jobs_that_are_interrupted_have_the_figures_until_then() {
    // More than a minute's work, on either clock.
    let long = ["--name=long", "--rw=randread", "--size=8m", "--runtime=10d", "--time_based", "--output-format=json"];
    for (filename, signal) in
        [("--filename=sim:x25-m", Signal::INT), ("--filename=f", Signal::INT), ("--filename=f", Signal::TERM)]
    {
        // On a machine that has much else to do, nothing may be completed after a second.
        let counted = [1, 10, 100].into_iter().any(|seconds| {
            let (requests, said) = interrupted(&[&["fio", filename][..], &long].concat(), signal, seconds);
            assert!(said.code == Some(130) && said.stderr.contains("interrupted"), "{filename}: {}", said.stderr);
            assert!(requests == 0 || said.stdout.contains("The run was interrupted"), "{filename}: {}", said.stdout);
            requests > 0
        });
        assert!(counted, "{filename}: no figures");
    }
}

/// Runs one job `long` that is sent a signal so many seconds after it has begun; how many requests its figures are of.
fn interrupted(args: &[&str], signal: Signal, seconds: u64) -> (u64, Said) {
    let place = Place::new();
    let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while line.trim() != "long" {
        line.clear();
        assert!(words.read_line(&mut line).unwrap() > 0, "the program ended early");
    }
    std::thread::sleep(Duration::from_secs(seconds));
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let mut stderr = String::new();
    words.read_to_string(&mut stderr).unwrap();
    let said = Said { stdout: String::from_utf8(output.stdout).unwrap(), stderr, code: output.status.code() };
    let requests = if said.stdout.is_empty() { 0 } else { jobs(&said)[0].1 };
    (requests, said)
}
