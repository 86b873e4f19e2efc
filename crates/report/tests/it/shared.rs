//! What is shared of a run outside the page: charts for terminals, Markdown, JSON Lines.

use crate::support;
use assay_report as report;
use block::Nanos;
use report::export::{review_json, review_jsonl, review_markdown};
use serde_json::Value;

/// Counts of rounds of 200 ms are no rates: the terminal's line and the documents take their length into account.
#[test]
fn rounds_shorter_than_a_second_keep_their_rate() {
    let mut outcome = support::outcome();
    let wear = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "wear").unwrap();
    let step = outcome.steps[wear].index;
    let line = |outcome: &lab::Outcome| {
        let charts = report::sparks(outcome, 120);
        charts.lines().find(|line| line.contains("until steady")).unwrap().trim().to_owned()
    };
    let seconds = line(&outcome);
    let lab::plan::Action::Condition(condition) = &mut outcome.plan.steps[step].action else { panic!("it conditions") };
    condition.workload.stop.time = Some(Nanos::from_millis(200));
    let measurement = outcome.steps[wear].points[0].repeats[0].measurement_mut().unwrap();
    // The same counts in a fifth of the time.
    measurement.elapsed = Nanos::from_secs(720);
    let rounds = line(&outcome);
    let ends = |line: &str| -> Vec<f64> {
        let (first, last) = line.rsplit_once(" → ").unwrap();
        let ends = [first.split_whitespace().last(), last.split_whitespace().next()];
        ends.map(|end| end.unwrap().replace(',', "").parse().unwrap()).to_vec()
    };
    for (second, round) in ends(&seconds).into_iter().zip(ends(&rounds)) {
        assert!((round / second - 5.0).abs() < 0.1, "five times as fast:\n{seconds}\n{rounds}");
    }
    let document: Value = serde_json::from_str(&review_json(&outcome)).unwrap();
    let steps = document["steps"].as_array().unwrap();
    let conditioned = &steps.iter().find(|step| step["step"] == "wear").unwrap()["cells"][0]["measurements"][0];
    assert_eq!(conditioned["series_interval_ns"], 200_000_000);
    let second = &conditioned["series"][1];
    assert_eq!((&second["start_ns"], &second["length_ns"]), (&200_000_000.into(), &200_000_000.into()));
}

#[test]
fn the_charts_of_a_terminal_fit_it_also_in_ascii_and_say_which_step_they_are_of() {
    for (outcome, columns) in [support::outcome(), support::cut_off(), support::in_rounds()]
        .into_iter()
        .flat_map(|outcome| [60, 72, 80, 120].map(|columns| (outcome.clone(), columns)))
    {
        let charts = report::sparks(&outcome, columns);
        // An arrow takes two columns in ASCII, an ellipsis three.
        let wide = |line: &str| line.chars().count() + line.matches('→').count() + 2 * line.matches('…').count();
        let widest = charts.lines().map(wide).max().unwrap_or(0);
        assert!(widest <= usize::from(columns), "{widest} of {columns} columns:\n{charts}");
        for line in charts.lines().skip(2) {
            let is_named = |step: &lab::plan::Step| line.starts_with(&step.name) || line.starts_with(&step.title);
            assert!(outcome.plan.steps.iter().any(is_named), "{columns} columns: {line}");
        }
    }
    let charts = report::sparks(&support::outcome(), 80);
    assert!(charts.lines().count() >= 4 && charts.contains('█') && charts.contains(" → "), "{charts}");
    assert!(charts.contains("IOPS"), "{charts}");
}

#[test]
fn every_measurement_is_a_json_line() {
    for outcome in [support::outcome(), support::in_rounds()] {
        let whole: Value = serde_json::from_str(&review_json(&outcome)).unwrap();
        let cells = whole["steps"].as_array().unwrap().iter().flat_map(|step| step["cells"].as_array().unwrap());
        let expected: Vec<&Value> = cells.flat_map(|cell| cell["measurements"].as_array().unwrap()).collect();
        let lines = review_jsonl(&outcome);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() == expected.len() && !lines.is_empty());
        for (line, expected) in lines.iter().zip(expected) {
            for key in ["round", "counted", "elapsed_ns", "read", "write", "workload"] {
                assert_eq!(line[key], expected[key], "{key}");
            }
            assert_eq!(line["run"], outcome.run.id.0);
        }
    }
}

/// As of a sweep each point of which is cut short by the same thing.
#[test]
fn a_finding_of_many_points_is_told_once_in_every_format() {
    let mut outcome = support::outcome();
    let keys = ["1", "2", "4", "8", "16", "31"].map(|depth| format!("rw=randread iodepth={depth}"));
    let found = |(place, key): (usize, &String)| {
        let text = format!("Level shift at second {}: the end of a cache.", 10 + place);
        lab::Finding::of(Some("depth".to_owned()), Some(key.clone()), text)
    };
    outcome.findings = lab::Finding::grouped(keys.iter().enumerate().map(found));
    let (told, once) = ("Level shift at second 10 to 15: the end of a cache.", |text: &str, words: &str| {
        assert_eq!(text.matches(words).count(), 1, "{words} in {text}");
    });
    assert!(report::summary(&outcome, 80, false).contains("1 finding."));
    let markdown = review_markdown(&outcome);
    once(&markdown, told);
    once(&markdown, "Level shift at second 12");
    let page = report::html(&outcome);
    assert_eq!(page.matches(told).count(), 2, "with its step, and among all");
    assert!(page.contains("6 points:") && page.contains("Level shift at second 12:"));
    let json: serde_json::Value = serde_json::from_str(&report::export::review_json(&outcome)).unwrap();
    let [only] = &json["findings"].as_array().unwrap()[..] else { panic!("{}", json["findings"]) };
    assert!(only["text"] == told && only["step"] == "depth", "{only}");
    assert_eq!(only["cells"].as_array().unwrap().len(), 6);
    assert_eq!(only["cells"][2]["cell"], keys[2]);
    assert_eq!(only["cells"][2]["text"], "Level shift at second 12: the end of a cache.");
    let lines = report::export::review_jsonl(&outcome);
    let of_cell = lines.lines().find(|line| line.contains("iodepth=4\"")).unwrap();
    assert!(of_cell.contains("Level shift at second 12: the end of a cache."), "{of_cell}");
}

#[test]
fn markdown_has_the_verdict_whole_tables_and_every_finding() {
    for outcome in [support::outcome(), support::cut_off(), support::in_rounds()] {
        let page = review_markdown(&outcome);
        let mut columns = None;
        for line in page.lines() {
            let is_row = line.starts_with("| ");
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(!is_row || columns.is_none_or(|columns| columns == bars), "{line}\nin:\n{page}");
            columns = is_row.then_some(bars);
        }
        for finding in &outcome.findings {
            assert!(page.contains(&finding.text.replace('_', "\\_")), "{} is missing:\n{page}", finding.text);
        }
    }
    let page = review_markdown(&support::outcome());
    assert!(
        page.starts_with("# ") && page.contains("**4 KiB random reads: ") && page.contains("| Key figure |"),
        "{page}"
    );
}
