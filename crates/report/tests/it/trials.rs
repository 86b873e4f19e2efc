//! Trials in the report of a run and in a comparison of runs.

use crate::support;
use assay_report as report;
use block::{Bytes, Nanos};
use lab::compare::{Comparison, Question, Significance};
use lab::gate::{Gate, GateOutcome};
use lab::plan::{Action, Step, TrialPoint, Trials};
use lab::{Asked, Outcome, PointOutcome, StepOutcome};
use store::RunId;
use trial::{Choice, ChoiceKind, Choices, ChoicesError, Experiment, Figure, Trial};

/// Serving web pages, made up.
#[derive(Debug)]
struct Pages;

const CHOICES: &[Choice] = &[
    Choice { name: "fs", title: "File system", about: "", kind: ChoiceKind::Word(&["ext4", "xfs"]), default: "ext4" },
    Choice { name: "kind", title: "Pages", about: "", kind: ChoiceKind::Word(&["small", "large"]), default: "small" },
    Choice { name: "clients", title: "Clients", about: "", kind: ChoiceKind::Count(1, 64), default: "1" },
];

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
    fn check(&self, _: &Choices) -> Result<(), ChoicesError> {
        Ok(())
    }
    fn commands(&self, _: &Choices) -> Vec<String> {
        Vec::new()
    }
    fn unavailable(&self, _: &Choices) -> Option<String> {
        None
    }
    fn cost(&self, _: &Choices) -> Nanos {
        Nanos::ZERO
    }
    fn writes(&self, _: &Choices) -> Bytes {
        Bytes::ZERO
    }
}

/// A point with these values of the first choices.
fn point(values: &[&str]) -> TrialPoint {
    let values: Vec<_> = CHOICES.iter().zip(values).map(|(choice, value)| (choice, (*value).to_owned())).collect();
    let mut choices = Choices::of(CHOICES);
    values.iter().for_each(|(choice, value)| choices.tell(choice.name, value).expect("it is a value of the choice"));
    TrialPoint { values, choices }
}

/// What came of six goes at a point, of about this many pages a second.
fn tried(point: &TrialPoint, rate: f64) -> PointOutcome {
    let trial = |rate: f64| Trial {
        figures: vec![Figure::more("Pages", "1/s", rate), Figure::less("Latency", "s", 0.5 / rate)],
        ..Trial::default()
    };
    let repeats = (0..6).map(|repeat| trial(rate * (1.0 + 0.004 * f64::from(repeat)))).collect();
    PointOutcome::tried(Pages.name(), point, repeats)
}

/// A run of one step that tried `points`, each with its rate.
fn run_of(id: i64, target: &str, axes: usize, points: Vec<(TrialPoint, f64)>) -> Outcome {
    let mut outcome = support::outcome();
    let measured = points.iter().map(|(point, rate)| tried(point, *rate)).collect();
    let points = points.into_iter().map(|(point, _)| point).collect();
    let axes = CHOICES[..axes].iter().collect();
    let action = Action::Trial(Trials { experiment: &Pages, points, axes, repeats: 6 });
    let (name, title) = ("web-server".to_owned(), "Web server".to_owned());
    outcome.plan.steps = vec![Step { name, title, about: None, action }];
    outcome.steps = vec![StepOutcome { index: 0, points: measured }];
    outcome.findings.clear();
    (outcome.run.id, outcome.run.target) = (RunId(id), target.to_owned());
    outcome
}

/// A run that tried both file systems six times each; `rates` are about their pages a second.
fn run(id: i64, target: &str, rates: [f64; 2]) -> Outcome {
    run_of(id, target, 1, vec![(point(&["ext4"]), rates[0]), (point(&["xfs"]), rates[1])])
}

/// A run that tried both file systems with pages of both kinds and 1 to 64 clients.
fn by_clients(id: i64, target: &str, factor: f64) -> Outcome {
    let mut points = Vec::new();
    for (place, fs) in ["ext4", "xfs"].into_iter().enumerate() {
        for (at, kind) in ["small", "large"].into_iter().enumerate() {
            for clients in [1_u32, 4, 16, 64] {
                let rate = 100.0 * f64::from(clients).powf(0.6) / (1.0 + at as f64) * (1.0 - 0.2 * place as f64);
                let gain = if fs == "ext4" { factor } else { 1.0 + (factor - 1.0) / f64::from(clients) / 40.0 };
                points.push((point(&[fs, kind, &clients.to_string()]), rate * gain));
            }
        }
    }
    run_of(id, target, 3, points)
}

#[test]
fn runs_are_compared_by_what_they_tried_with_the_statistics_of_cells() {
    let runs = vec![run(1, "/dev/sda", [100.0, 200.0]), run(2, "/dev/sdb", [310.0, 200.2])];
    let comparison = Comparison::of(runs, Question::default()).expect("they share a step");
    assert_eq!((comparison.contrasts.len(), comparison.tests(false)), (4, 4), "two figures at two points");
    let verdicts: Vec<Significance> = comparison.contrasts.iter().map(lab::compare::Contrast::verdict).collect();
    assert_eq!(verdicts, [Significance::Better, Significance::Better, Significance::NotShown, Significance::NotShown]);
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
fn a_guard_judges_trials_by_the_way_that_is_better_for_each_figure() {
    let compared = |rates: [f64; 2]| {
        let runs = vec![run(1, "/dev/sda", [100.0, 200.0]), run(2, "/dev/sdb", rates)];
        Comparison::of(runs, Question::default()).expect("they share a step")
    };
    let slower = compared([90.0, 200.2]);
    let failed =
        |comparison: &Comparison, share: f64| Gate::of_comparison(comparison, share).with(GateOutcome::Fail).count();
    assert_eq!(failed(&slower, 0.05), 2, "fewer pages, and a longer latency, on ext4 alone");
    let near = Gate::of_comparison(&slower, 0.105);
    let open = near.with(GateOutcome::Inconclusive).count();
    assert_eq!((near.outcome(), open), (GateOutcome::Inconclusive, 2), "a tenth fewer pages take a ninth longer");
    assert_eq!(failed(&slower, 0.2), 0);
    assert_eq!(report::gate::verdict(&Gate::of_comparison(&slower, 0.05)), "Gate: fail. 2 of 4 checks failed.");
    let faster = compared([110.0, 200.2]);
    assert_eq!(failed(&faster, 0.0), 0, "what is better fails no guard, nor what may be chance");
    assert_eq!(report::gate::verdict(&Gate::of_comparison(&faster, 0.05)), "Gate: pass. 0 of 4 checks failed.");
    let document = report::comparison::json(&slower, Some(0.05), "0.1.0");
    let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    let fails: Vec<&serde_json::Value> =
        document["trials"].as_array().unwrap().iter().map(|one| &one["fails_guard"]).collect();
    assert_eq!(fails, [true, true, false, false]);
    assert_eq!(document["guard"]["worse"], 2);
}

/// Tells what was tried at a point something else.
fn tell(point: &mut PointOutcome, choice: &str, value: &str) {
    let Asked::Trial { choices, .. } = &mut point.asked else { panic!("nothing was tried") };
    choices.tell(choice, value).unwrap();
}

#[test]
fn points_that_ask_for_something_else_under_the_same_name_are_not_compared() {
    let mut other = run(2, "/dev/sdb", [100.0, 200.0]);
    tell(&mut other.steps[0].points[0], "kind", "large");
    other.steps[0].points[1].repeats.clear();
    let runs = vec![run(1, "/dev/sda", [100.0, 200.0]), other];
    let said = Comparison::of(runs.clone(), Question::default()).unwrap_err().to_string();
    assert!(said.contains("runs 1 and 2 share no point") && said.contains("`web-server`"), "{said}");
    let third = run(3, "/dev/sdc", [100.0, 200.0]);
    let runs = vec![runs[0].clone(), third, runs[1].clone()];
    let said = Comparison::of(runs, Question::default()).unwrap_err().to_string();
    assert!(said.contains("runs 1 and 2 share no point"), "{said}");
    let mut other = run(2, "/dev/sdb", [100.0, 200.0]);
    tell(&mut other.steps[0].points[0], "kind", "large");
    let runs = vec![run(1, "/dev/sda", [100.0, 200.0]), other];
    let comparison = Comparison::of(runs, Question::default()).expect("they share a point");
    assert_eq!(comparison.contrasts.len(), 2, "those of xfs");
    let page = report::comparison::html(&comparison, "0.1.0");
    assert!(page.contains("Step web-server: 1 point not compared with run 2: the other run has another workload"));
}

#[test]
fn every_step_has_charts_of_all_runs_side_by_side() {
    let runs = vec![by_clients(1, "/dev/sda", 1.0), by_clients(2, "/dev/sdb", 3.1), by_clients(3, "/dev/sdc", 0.7)];
    let comparison = Comparison::of(runs, Question::default()).expect("they share a step");
    let page = report::comparison::html(&comparison, "0.1.0").replace('\u{a0}', " ");
    let charts = page.matches("class=\"chart\"").count();
    assert_eq!(charts, 16, "of two figures four lines each, in runs and against the first");
    assert!(page.contains("ext4, small: Pages (1/s), more is better"));
    assert!(page.contains("ext4, small: Pages, ratio to run 1 (/dev/sda), more is better"));
    assert!(page.contains("xfs, large: Latency (ms), less is better"));
    assert!(page.contains("1 more chart: xfs, large"), "three are shown, and the rest can be opened");
    assert!(page.contains("filled where it is significant"), "the caption says how it is read");
    assert!(page.contains("Pages (1/s) by Clients: run 1 (/dev/sda) 101 to 1,"), "and words for who cannot see it");
    assert!(page.contains("× run 1 (/dev/sda) by Clients: run 2 (/dev/sdb) 3.10"), "of the ratios too");
    for color in ["--series-1", "--series-2", "--series-3"] {
        assert!(page.contains(&format!("var({color})")), "each run has its colour: {color}");
    }
}

/// A run that tried pages first and measured all else after it.
fn mixed(id: i64, target: &str, rate: f64) -> Outcome {
    let mut outcome = support::outcome();
    let mut tried = run(id, target, [rate, rate]);
    outcome.plan.steps.insert(0, tried.plan.steps.remove(0));
    outcome.steps.iter_mut().for_each(|step| step.index += 1);
    outcome.steps.insert(0, tried.steps.remove(0));
    (outcome.run.id, outcome.run.target) = (RunId(id), target.to_owned());
    outcome
}

#[test]
fn contents_and_sections_of_a_comparison_follow_the_plan() {
    let runs = vec![mixed(1, "/dev/sda", 100.0), mixed(2, "/dev/sdb", 310.0)];
    let plan: Vec<String> = runs[0].plan.steps.iter().map(|step| format!("step-{}", step.name)).collect();
    let comparison = Comparison::of(runs, Question::default()).expect("they share steps");
    let page = report::comparison::html(&comparison, "0.1.0");
    let (contents, rest) = page.split_once("</nav>").expect("the page has contents");
    let named = |text: &str, mark: &str| -> Vec<String> {
        let ends = text.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
        ends.map(str::to_owned).filter(|name| plan.contains(name)).collect()
    };
    let contents = contents.rsplit("<nav").next().expect("it begins somewhere");
    let linked = named(contents, "href=\"#");
    assert!(linked.len() > 3 && linked[0] == "step-web-server", "{linked:?}");
    assert_eq!(linked, named(rest, "<section class=\"step\" id=\""), "in one order");
    let place = |name: &String| plan.iter().position(|step| step == name);
    assert!(linked.windows(2).all(|two| place(&two[0]) < place(&two[1])), "{linked:?} in {plan:?}");
    assert!(page.contains("<h1>Run 2 (/dev/sdb) compared with run 1 (/dev/sda)</h1>"), "the drives are named");
}

#[test]
fn too_few_repeats_leave_the_means_to_be_told_as_such() {
    let of = |id: i64, target: &str| {
        let mut outcome = support::outcome();
        (outcome.run.id, outcome.run.target) = (RunId(id), target.to_owned());
        for cell in outcome.steps.iter_mut().flat_map(|step| &mut step.points) {
            cell.repeats.truncate(2);
        }
        outcome
    };
    let runs = vec![of(1, "/dev/sda"), of(2, "/dev/sdb")];
    let comparison = Comparison::of(runs, Question::default()).expect("they share cells");
    let text = report::comparison::text(&comparison, 400, false);
    assert!(text.contains("of run 2 can differ significantly: there are too few repeats."), "{text}");
    let said = "By the means alone, /dev/sdb is 1.00 × /dev/sda in throughput and 1.00 × in mean latency";
    assert!(text.contains(said), "{text}");
}

#[test]
fn a_click_on_a_point_leads_to_its_row() {
    let comparison = Comparison::of(vec![by_clients(1, "a", 1.0), by_clients(2, "b", 2.0)], Question::default());
    let page = report::comparison::html(&comparison.expect("they share a step"), "0.1.0");
    let place = "fs-ext4-kind-small-clients-16";
    assert!(page.contains(&format!("id=\"step-web-server:{place}\"")), "the row");
    assert!(page.contains(&format!("\"{place}\"")), "the point names it");
    let own = report::html(&by_clients(1, "a", 1.0));
    assert!(own.contains(&format!("id=\"step-web-server:{place}\"")) && own.contains(&format!("\"{place}\"")));
}

#[test]
fn points_without_an_order_are_held_against_the_best_of_them() {
    let page = report::html(&run(1, "/dev/sda", [130.0, 100.0])).replace('\u{a0}', " ");
    assert!(page.contains("ext4 is 1.30 × xfs (1.29–1.31)."), "the verdict says by how much");
    let alike = report::html(&run(1, "/dev/sda", [100.1, 100.0])).replace('\u{a0}', " ");
    assert!(alike.contains("ext4 is 1.00 × xfs (not significant)."));
}

#[test]
fn a_run_of_trials_that_was_cut_off_says_how_far_it_came() {
    let mut outcome = run(1, "/dev/sda", [130.0, 100.0]);
    outcome.run.state = store::RunState::Interrupted;
    outcome.steps[0].points[1].repeats.clear();
    let page = report::html(&outcome);
    assert!(page.contains("The run was interrupted: 1 of 2 points measured."));
}

/// Opens all that is folded, waits until it is drawn, and tells how many points each chart shows and what failed.
const TELL: &str = r#"<script>
  const failed = [];
  addEventListener("error", ({ message }) => failed.push(message));
  addEventListener("load", () => setTimeout(() => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    setTimeout(() => {
      const points = [...document.querySelectorAll(".chart")].map((chart) => chart.querySelectorAll(".point").length);
      const told = document.createElement("pre");
      told.id = "told";
      told.textContent = btoa(JSON.stringify([points, failed.length]));
      document.body.append(told);
    }, 3000);
  }, 3000));
</script>"#;

#[test]
fn a_browser_draws_every_chart_of_a_comparison_of_trials() {
    let Some(chromium) = support::browser::chromium() else {
        return println!("skipped: no Chromium (apt install chromium)");
    };
    let comparison = Comparison::of(vec![by_clients(1, "a", 1.0), by_clients(2, "b", 2.0)], Question::default());
    let page = report::comparison::html(&comparison.expect("they share a step"), "0.1.0");
    let options = ["--window-size=1280,2000"];
    let (points, failed): (Vec<usize>, usize) = support::browser::telling(&chromium, &page, "", TELL, &options);
    assert_eq!((points.len(), failed), (16, 0));
    assert!(points.iter().all(|points| *points >= 4), "each has a point for each number of clients: {points:?}");
}
