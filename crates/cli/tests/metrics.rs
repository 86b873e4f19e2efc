//! What Prometheus reads of a review.

mod support;

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Place, skip, tool};

/// The samples of a text, each by its name; a line that is none of the format's ends the test.
fn samples(text: &str) -> HashMap<String, f64> {
    let mut found = HashMap::new();
    let mut family = String::new();
    assert!(text.ends_with("# EOF\n"), "the text is whole:\n{text}");
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            family = rest.split(' ').next().unwrap().to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert_eq!(rest, format!("{family} gauge"));
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), family, "{line}");
            let is_new = found.insert(family.clone(), value.parse().unwrap()).is_none();
            assert!(is_new, "{family} stands twice");
        }
    }
    found
}

#[test]
fn a_finished_review_leaves_its_figures() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan, "--metrics", "assay.prom"]);
    let text = std::fs::read_to_string(place.path("assay.prom")).unwrap();
    let samples = samples(&text);
    assert_eq!((samples["assay_running"], samples["assay_progress_ratio"]), (0.0, 1.0), "{text}");
    let measured = place.succeeds(&["show", "last", "--format", "jsonl"]).lines().count();
    assert_eq!(samples["assay_measurements"], measured as f64, "{text}");
    assert!(samples["assay_last_iops"] > 0.0 && samples["assay_last_latency_p99_seconds"] < 1.0, "{text}");
    assert!(text.contains("plan=\"short\"") && text.contains("target=\"sim:x25-m\""), "{text}");
    let left = std::fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.filter(|name| name.to_string_lossy().starts_with("assay.prom")).count() == 1, "no half is left");

    let Some(promtool) = tool("promtool") else { return skip("promtool is not installed") };
    let mut check = Command::new(promtool).args(["check", "metrics"]).stdin(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success(), "promtool refuses:\n{text}");
}

#[test]
fn a_review_under_way_tells_how_far_it_is() {
    let place = Place::new();
    let mut review = place.command(&["review", "--metrics", "assay.prom"]);
    let mut review = review.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let told = loop {
        let text = std::fs::read_to_string(place.path("assay.prom")).unwrap_or_default();
        let told = if text.is_empty() { HashMap::new() } else { samples(&text) };
        if told.get("assay_progress_ratio").is_some_and(|share| *share > 0.0) {
            break told;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is told: {text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    review.kill().unwrap();
    review.wait().unwrap();
    assert_eq!(told["assay_running"], 1.0);
    assert!(told["assay_progress_ratio"] < 1.0 && told["assay_left_seconds"] > 0.0, "{told:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_at_once() {
    let place = Place::new();
    let said = place.refuses(&["review", "--metrics", "no/such/folder/assay.prom"]);
    assert!(said.contains("no/such/folder/assay.prom") && said.contains("name another file"), "{said}");
    assert!(place.refuses(&["show", "last"]).contains("no run"), "nothing was begun");
}
