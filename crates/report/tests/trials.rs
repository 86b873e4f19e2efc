//! Trials in the report of a run and in a comparison of runs.

mod support;

use assay_report as report;
use block::{Bytes, Nanos};
use lab::compare::{Comparison, Question, Verdict};
use lab::plan::{Action, Point, Step, Trials};
use lab::{Outcome, StepOutcome, TrialOutcome};
use store::RunId;
use trial::{Choice, Choices, Experiment, Figure, Go, Kind, Stage, Trial, TrialError};

/// Serving web pages, made up.
#[derive(Debug)]
struct Pages;

const CHOICES: &[Choice] =
    &[Choice { name: "fs", title: "File system", about: "", kind: Kind::Word(&["ext4", "xfs"]), default: "ext4" }];

impl Experiment for Pages {
    fn name(&self) -> &'static str {
        "pages"
    }
    fn about(&self) -> &'static str {
        "Serves pages."
    }
    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }
    fn check(&self, _: &Choices) -> Result<(), String> {
        Ok(())
    }
    fn lacks(&self, _: &Choices) -> Option<String> {
        None
    }
    fn cost(&self, _: &Choices) -> Nanos {
        Nanos::ZERO
    }
    fn writes(&self, _: &Choices) -> Bytes {
        Bytes::ZERO
    }
    fn run(&self, _: &Choices, _: &Stage, _: &Go) -> Result<Trial, TrialError> {
        unreachable!("nothing is run here")
    }
}

/// A run that tried both file systems six times each; `rates` are about their pages a second.
fn run(id: i64, target: &str, rates: [f64; 2]) -> Outcome {
    let point = |fs: &str| Point { values: vec![(&CHOICES[0], fs.to_owned())], choices: Choices::of(CHOICES) };
    let points = vec![point("ext4"), point("xfs")];
    let trial = |rate: f64| Trial {
        figures: vec![Figure::more("Pages", "1/s", rate), Figure::less("Latency", "s", 0.5 / rate)],
        ..Trial::default()
    };
    let of_point = |(point, rate): (&Point, f64)| TrialOutcome {
        point: point.clone(),
        repeats: (0..6).map(|repeat| trial(rate * (1.0 + 0.004 * f64::from(repeat)))).collect(),
    };
    let trials = points.iter().zip(rates).map(of_point).collect();
    let mut outcome = support::outcome();
    let action = Action::Trial(Trials { experiment: &Pages, points, axes: vec![&CHOICES[0]], repeats: 6 });
    let (name, title) = ("web-server".to_owned(), "Web server".to_owned());
    outcome.plan.steps = vec![Step { name, title, about: None, action }];
    outcome.steps = vec![StepOutcome { index: 0, cells: Vec::new(), trials }];
    outcome.findings.clear();
    (outcome.run.id, outcome.run.target) = (RunId(id), target.to_owned());
    outcome
}

#[test]
fn runs_are_compared_by_what_they_tried_with_the_statistics_of_cells() {
    let runs = vec![run(1, "/dev/sda", [100.0, 200.0]), run(2, "/dev/sdb", [310.0, 200.2])];
    let comparison = Comparison::of(runs, Question::default()).expect("they share a step");
    assert_eq!((comparison.trials.len(), comparison.tests()), (4, 4), "two figures at two points");
    let verdicts: Vec<Verdict> = comparison.trials.iter().map(lab::compare::Tried::verdict).collect();
    assert_eq!(verdicts, [Verdict::Better, Verdict::Better, Verdict::NotShown, Verdict::NotShown]);
    let sentence = "/dev/sdb is 3.10 × /dev/sda (3.07–3.13) in pages on Web server (fs=ext4).";
    let page = report::comparison::html(&comparison, "0.1.0").replace('\u{a0}', " ");
    assert!(page.contains(sentence), "{}", report::comparison::text(&comparison, 100, false));
    assert!(page.contains("id=\"step-web-server\"") && page.contains("id=\"step-web-server:fs-ext4\""));
    assert!(page.contains("of 4 figures") || page.contains("Of 4 figures"), "they count in the verdict");
    let text = report::comparison::text(&comparison, 100, false);
    assert!(text.contains("fs=ext4: Pages of /dev/sdb is 3.10 × /dev/sda (3.07–3.13) ▲"), "{text}");
    let document: serde_json::Value =
        serde_json::from_str(&report::comparison::json(&comparison, None, "0.1.0")).expect("it is JSON");
    let first = &document["trials"][0];
    assert_eq!((&first["point"], &first["verdict"]), (&"fs=ext4".into(), &"better".into()));
    assert!((first["ratio"].as_f64().unwrap() - 3.1).abs() < 1e-9, "{first}");
}

#[test]
fn points_without_an_order_are_held_against_the_best_of_them() {
    let page = report::html(&run(1, "/dev/sda", [130.0, 100.0])).replace('\u{a0}', " ");
    assert!(page.contains("ext4 is 1.30 × xfs (1.29–1.31)."), "the verdict says by how much");
    let alike = report::html(&run(1, "/dev/sda", [100.1, 100.0])).replace('\u{a0}', " ");
    assert!(alike.contains("ext4 is 1.00 × xfs (may be chance)."));
}
