//! Several drives by one command: groups, consent, what fails alone, and the report on all of them.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::soak;

use crate::support::{LoopDevice, Place, other, skip};

/// A plan of a few figures, short enough for two dozen drives.
const PLAN: &str = r#"
name = "acceptance"
title = "Acceptance"
repeats = 5

[[step]]
name = "fill"
do = "fill"

[[step]]
name = "random-reads"
rw = "randread"
number_ios = 2000
sweep.iodepth = [1, 16]

[[step]]
name = "random-writes"
rw = "randwrite"
number_ios = 2000
iodepth = 16

[[step]]
name = "reads"
rw = "read"
bs = "128k"
number_ios = 500
iodepth = 8
"#;

/// A small drive of its kind.
const SMALL: &str = "capacity.user=8GiB&geometry.channels=2&geometry.dies_per_channel=2";
/// What makes a drive read many pages several times: cells that err as if they were worn.
const BAD: &str = "errors.fresh=0.6%";

fn plan(place: &Place) -> String {
    let path = place.path("acceptance.toml");
    std::fs::write(&path, PLAN).unwrap();
    path.display().to_string()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn runs(place: &Place) -> Vec<Value> {
    json(&place.succeeds(&["runs", "--format", "json"]))["runs"].as_array().unwrap().clone()
}

/// 24 specimens, of which a few figures each are told; the seventh is bad. It is found, and no other is.
#[test]
fn the_bad_drive_among_its_like_is_found_and_no_other() {
    for bad in [7, 1, 24, 13].into_iter().take(soak::times(1, 4)) {
        let place = Place::new();
        let plan = plan(&place);
        let bad_one = match bad {
            1 => format!("sim:p5520-1920?{SMALL}&{BAD}"),
            _ => format!("sim:p5520-1920#{bad}?{SMALL}&{BAD}"),
        };
        let mut targets = vec![bad_one.clone()];
        if bad > 1 {
            targets.push(format!("sim:p5520-1920#1..{}?{SMALL}", bad - 1));
        }
        if bad < 24 {
            targets.push(format!("sim:p5520-1920#{}..24?{SMALL}", bad + 1));
        }
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let asked = [&["review"][..], &targets, &["--plan", &plan, "--jobs", "2", "--group", "rack-7"]].concat();
        let said = place.succeeds(&asked);
        assert!(said.contains("1 of 24 drives differs from its peers."), "{said}");
        let told = json(&place.succeeds(&["fleet", "rack-7", "--format", "json"]));
        let drives = told["drives"].as_array().unwrap();
        assert_eq!((drives.len(), told["false_discovery_rate"].as_f64()), (24, Some(0.05)));
        let of = |verdict: &str| -> Vec<&str> {
            let found = drives.iter().filter(|drive| drive["verdict"] == verdict);
            found.map(|drive| drive["target"].as_str().unwrap()).collect()
        };
        assert_eq!((of("worse"), of("ok").len()), (vec![bad_one.as_str()], 23), "{said}");
        let serials: std::collections::BTreeSet<&str> =
            drives.iter().map(|drive| drive["serial"].as_str().unwrap()).collect();
        assert_eq!(serials.len(), 24, "each specimen has a serial number of its own");
        let group: Vec<Value> = runs(&place).into_iter().map(|run| run["group"].clone()).collect();
        assert_eq!(group, vec![Value::from("rack-7"); 24]);
    }
}

#[test]
fn drives_reviewed_side_by_side_have_the_figures_of_each_by_itself() {
    let (place, alone) = (Place::new(), Place::new());
    let plan = plan(&place);
    let targets = format!("sim:p5520-1920#1..3?{SMALL}");
    place.succeeds(&["review", &targets, "--plan", &plan, "--jobs", "3"]);
    let [one, two, three] = ["", "#2", "#3"].map(|number| format!("sim:p5520-1920{number}?{SMALL}"));
    for target in [&one, &two, &three] {
        alone.succeeds(&["review", target, "--plan", &plan]);
    }
    let figures = |place: &Place, target: &str| {
        let run = runs(place).into_iter().find(|run| run["target"] == target).expect("it was reviewed");
        json(&place.succeeds(&["show", &run["run"].to_string(), "--format", "json"]))["steps"].clone()
    };
    for target in [&one, &two, &three] {
        assert_eq!(figures(&place, target), figures(&alone, target), "{target}");
    }
    assert_ne!(figures(&place, &one), figures(&place, &two), "two specimens");
}

#[test]
fn a_drive_that_fails_ends_its_own_run_alone() {
    let place = Place::new();
    let plan = plan(&place);
    // Neither retries nor soft decoding correct what it reads.
    let dead = &format!("sim:p5520-1920#2?{SMALL}&errors.fresh=0.87%&errors.spread=300%&errors.steps=1");
    let [fine, other] = &[3, 4].map(|number| format!("sim:p5520-1920#{number}?{SMALL}"));
    let said = place.assay(&["review", fine, dead, other, "--plan", &plan, "--group", "three"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("1 of 3 drives failed"), "{}", said.stderr);
    assert!(said.stderr.contains(dead) && said.stderr.contains("--resume three"), "{}", said.stderr);
    let states: Vec<(String, String)> = runs(&place)
        .iter()
        .map(|run| (run["target"].as_str().unwrap().to_owned(), run["state"].as_str().unwrap().to_owned()))
        .collect();
    let state = |target: &str| states.iter().find(|(known, _)| known == target).unwrap().1.as_str();
    assert_eq!([state(fine), state(dead), state(other)], ["complete", "failed", "complete"]);
    assert!(said.stdout.contains("incomplete") && said.stdout.contains("Report: "), "{}", said.stdout);
}

/// Ctrl-C in the middle: what was complete stays, what was cut off goes on, what was not begun is begun, all as asked at first.
#[test]
fn an_interrupted_group_goes_on_where_it_was() {
    let (place, whole) = (Place::new(), Place::new());
    let text = PLAN.replace("repeats = 5", "repeats = 60");
    for place in [&place, &whole] {
        std::fs::write(place.path("acceptance.toml"), &text).unwrap();
    }
    let (few, all) =
        ("sim:x25-m#1..4?capacity.user=1GiB", ["--seed", "7", "--group", "g", "--plan", "acceptance.toml"]);
    let asked = [&["review", few][..], &all].concat();
    whole.succeeds(&asked);
    let mut child =
        place.command(&asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    // The second is under way: the first is complete, two are not begun.
    while runs_of(&place) < 2 && began.elapsed() < testkit::PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    let code = child.wait().unwrap().code();
    let states = |place: &Place| -> Vec<String> {
        runs(place).iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect()
    };
    if code == Some(0) {
        return skip("all four were complete before they could be interrupted");
    }
    assert_eq!(code, Some(130));
    assert!(states(&place).iter().filter(|state| *state == "complete").count() < 4, "{:?}", states(&place));
    let seeds = |place: &Place| -> Vec<Value> { runs(place).iter().map(|run| run["seed"].clone()).collect() };
    place.succeeds(&["review", few, "--resume", "g"]);
    assert_eq!(states(&place), vec!["complete"; 4]);
    assert_eq!(seeds(&place), seeds(&whole), "those that had no run are begun as the others were");
    let done = place.refuses(&["review", few, "--resume", "g"]);
    assert!(done.contains("all 4 runs of the group g are complete") && done.contains("assay fleet g"), "{done}");
    for (run, other) in runs(&place).iter().zip(runs(&whole)) {
        assert_eq!(run["target"], other["target"]);
        let steps = |place: &Place, run: &Value| {
            json(&place.succeeds(&["show", &run["run"].to_string(), "--format", "json"]))["steps"].clone()
        };
        assert_eq!(steps(&place, run), steps(&whole, &other), "{}", run["target"]);
    }
}

/// What was begun of both ways of measuring goes on by the name that both have: each drive ends with a run in each.
#[test]
fn a_group_measured_alone_and_together_goes_on_in_both() {
    let place = Place::new();
    let plan = plan(&place);
    let drive = |numbers: &str| format!("sim:x25-m{numbers}?capacity.user=1GiB");
    let (two, three) = (drive("#1..2"), drive("#1..3"));
    place.succeeds(&["review", &two, "--plan", &plan, "--seed", "7", "--alone", "--group", "g-alone"]);
    place.succeeds(&["review", &drive("#2"), &drive("#3"), "--plan", &plan, "--seed", "7", "--group", "g-together"]);
    let said = place.succeeds(&["review", &three, "--resume", "g"]);
    assert!(said.contains("Against group g-alone"), "{said}");
    let of = |group: &str| -> Vec<String> {
        let runs = runs(&place).into_iter().filter(|run| run["group"] == group);
        let mut told: Vec<String> =
            runs.map(|run| format!("{} {} {}", run["target"], run["state"], run["seed"])).collect();
        told.sort();
        told
    };
    assert_eq!((of("g-alone").len(), runs(&place).len()), (3, 6));
    assert_eq!(of("g-alone"), of("g-together"));
    assert!(of("g-alone").iter().all(|told| told.contains("\"complete\" \"7\"")), "{:?}", of("g-alone"));
    let done = place.refuses(&["review", "--resume", "g"]);
    assert!(done.contains("all 6 runs of the group g are complete"), "{done}");
}

/// How many runs the store has by now.
fn runs_of(place: &Place) -> usize {
    if !place.store().exists() {
        return 0;
    }
    let said = place.assay(&["runs", "--format", "json"]);
    if said.code == Some(0) { json(&said.stdout)["runs"].as_array().map_or(0, Vec::len) } else { 0 }
}

/// Killed without a word, the one that starts the others takes them along: none measures on unseen.
#[test]
fn processes_end_with_the_one_that_started_them() {
    let place = Place::new();
    let text = PLAN.replace("number_ios = 2000", "number_ios = 2000000");
    std::fs::write(place.path("acceptance.toml"), text).unwrap();
    let targets = "sim:x25-m#1..2?capacity.user=1GiB";
    let asked = ["review", targets, "--plan", "acceptance.toml", "--jobs", "2", "--group", "g"];
    let mut child = place.command(&asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while runs_of(&place) < 2 && began.elapsed() < testkit::PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = || place.succeeds(&["runs"]);
    while listed().contains("running") && began.elapsed() < testkit::PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(listed().matches("interrupted").count(), 2, "{}", listed());
}

#[test]
fn what_makes_no_sense_for_several_is_refused_before_anything_is_begun() {
    let place = Place::new();
    let plan = plan(&place);
    let refused = |arguments: &[&str], words: &str| {
        let said = place.refuses(&[&["review", "--plan", &plan], arguments].concat());
        assert!(said.contains(words), "{arguments:?}: {said}");
    };
    let two = "sim:x25-m#1..2";
    refused(&[two, "sim:x25-m#2"], "sim:x25-m#2 is named twice");
    refused(&["sim:x25-m#2..1"], "no range of specimens");
    refused(&[two, "--live"], "--live is for a review of one drive");
    refused(&[two, "--metrics", "a.prom"], "--metrics is for a review of one drive");
    refused(&[two, "--jobs", "0"], "at least 1 and at most 1024");
    refused(&[two, "--jobs", "2", "--alone"], "cannot be used with");
    refused(&["sim:x25-m", "sim:x25-m#1"], "sim:x25-m is named twice");
    refused(&[two, "sim:no-such-drive"], "sim:no-such-drive: ");
    refused(&[two, "--group", "../x"], "a letter first");
    assert!(place.refuses(&["review", two, "--resume"]).contains("name one target, or the group"));
    assert!(place.refuses(&["review", two, "--resume", "no-group"]).contains("no run is of the group no-group"));
    refused(&["./a", "./b", "--size", "4m", "--jobs", "1000", "--together"], "cannot be used with");
    let cores =
        place.refuses(&[&["review", "--plan", &plan, "--size", "4m", "--jobs", "400"][..], &many_files(400)].concat());
    assert!(cores.contains("processor cores that this process may use") && cores.contains("give --jobs"), "{cores}");
    assert!(!place.path("file-1").exists(), "nothing is left of what was looked at");
    assert_eq!(runs(&place).len(), 0);
    assert!(place.refuses(&["fleet"]).contains("no groups"));
    assert!(place.refuses(&["fleet", "g", "--output", "x.pdf"]).contains(".html"));
}

fn many_files(count: usize) -> Vec<&'static str> {
    (1..=count).map(|number| &*Box::leak(format!("./file-{number}").into_boxed_str())).collect()
}

#[test]
fn the_difference_between_alone_and_together_is_a_result() {
    let place = Place::new();
    if host::Core::all().len() < 2 {
        return skip("there is one processor core, and each drive has one of its own");
    }
    let plan = plan(&place);
    let asked =
        ["review", "./one.bin", "./two.bin", "--size", "8m", "--plan", &plan, "--alone", "--together", "--group", "g"];
    let said = place.succeeds(&asked);
    assert!(said.contains("Against group g-alone"), "{said}");
    let told = json(&place.succeeds(&["fleet", "g-together", "--against", "g-alone", "--format", "json"]));
    let effects = &told["effects"];
    assert_eq!((effects["drives"].as_u64(), effects["before"].as_str()), (Some(2), Some("group g-alone")));
    assert!(
        effects["figures"].as_array().unwrap().iter().all(|figure| figure["drives"].as_array().unwrap().len() == 2)
    );
    // Only what was measured side by side is marked so, in its conditions and its report.
    let report = |group: &str| {
        let run = runs(&place).into_iter().find(|run| run["group"] == group).unwrap()["run"].to_string();
        let path = place.succeeds(&["report", &run, "--out", "again"]);
        std::fs::read_to_string(path.trim().strip_prefix("Report: ").unwrap()).unwrap()
    };
    assert!(report("g-together").contains("Measured at the same time"));
    assert!(!report("g-alone").contains("Measured at the same time"));
}

#[test]
fn each_device_is_destroyed_by_its_own_consent_alone() {
    let place = Place::new();
    let Some(first) = LoopDevice::new(&place.path("first.img"), 16) else { return };
    let second = LoopDevice::new(&place.path("second.img"), 16).expect("there was room for the first");
    let plan = plan(&place);
    for device in [&first, &second] {
        other("mkfs.ext4", &["-q", "-F", &device.0]);
    }
    let image = || ["first.img", "second.img"].map(|name| std::fs::read(place.path(name)).unwrap());
    let before = image();
    let asked = ["review", &first.0, &second.0, "--size", "8m", "--plan", &plan];
    fn with<'a>(asked: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [asked, more].concat()
    }
    let line = format!("--destroy-data={},{}", first.0, second.0);
    let none = place.refuses(&asked);
    assert!(none.contains("ext4") && none.contains(&format!("\n  {line}")), "{none}");
    let bare = place.refuses(&with(&asked, &["--destroy-data"]));
    assert!(bare.contains("names no drive") && bare.contains(&format!("\n  {line}")), "{bare}");
    let one = place.refuses(&with(&asked, &[&format!("--destroy-data={}", first.0)]));
    assert!(one.contains(&format!("\n  --destroy-data={}", second.0)) && !one.contains(&line), "{one}");
    let wrong = place.refuses(&with(&asked, &[&line, "--destroy-data=S123"]));
    assert!(wrong.contains("names S123, which is none of the targets"), "{wrong}");
    assert!(place.refuses(&with(&asked, &["--destroy-data=@none.txt"])).contains("none.txt"));
    assert!(image() == before, "a refusal changes nothing, not even of the one that was consented to");
    let twice = place.path("again");
    std::os::unix::fs::symlink(&first.0, &twice).unwrap();
    let twice = twice.to_str().unwrap();
    let same = place.refuses(&["review", &first.0, twice, "--plan", &plan]);
    assert!(same.contains("are one and the same"), "{same}");
    std::fs::write(place.path("devices.txt"), format!("# rack 7\n{}\n{} # bay 2\n", first.0, second.0)).unwrap();
    place.succeeds(&with(&asked, &["--destroy-data=@devices.txt"]));
    assert_eq!(runs(&place).iter().filter(|run| run["state"] == "complete").count(), 2);
}

#[test]
fn limits_and_ratings_pass_or_fail_each_drive() {
    let place = Place::new();
    let plan = plan(&place);
    let targets = "sim:x25-m#1..5?capacity.user=1GiB";
    place.succeeds(&["review", targets, "--plan", &plan, "--group", "g"]);
    let passes = place.succeeds(&["fleet", "g", "--limit", "randread-4k-qd1.p99 < 1s"]);
    assert!(passes.contains("5 of 5 drives pass"), "{passes}");
    let fails = place.assay(&["fleet", "--limit", "randread-4k-qd1.p99 < 1us", "--output", "fleet.html"]);
    assert_eq!(fails.code, Some(1), "{}", fails.stderr);
    assert!(fails.stderr.contains("5 of 5 drives: fail"), "{}", fails.stderr);
    let page = std::fs::read_to_string(place.path("fleet.html")).unwrap();
    assert_eq!((page.matches("class=\"sheet\"").count(), page.matches("badge failed").count() >= 5), (5, true));
    let unknown = place.refuses(&["fleet", "--limit", "randread-9k-qd1.p99 < 1us"]);
    assert!(unknown.contains("randread-9k-qd1"), "{unknown}");
    let rated = place.assay(&["fleet", "--rated", "p5520-1920", "--within", "10%", "--format", "csv"]);
    assert!(rated.code == Some(1) && rated.stdout.lines().nth(1).unwrap().contains(",fails,fail,"), "{}", rated.stdout);
    let csv = place.succeeds(&["fleet", "--filter", "group=g", "--format", "csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 10 && csv.starts_with("run,state,serial,"), "{csv}");
    let markdown = place.succeeds(&["fleet", "g", "--format", "markdown"]);
    assert!(markdown.starts_with("# Fleet of 5 drives") && markdown.contains("| Serial number |"), "{markdown}");
}
