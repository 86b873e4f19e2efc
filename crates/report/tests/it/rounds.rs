//! What the report promises of steps that are measured in rounds.

use std::sync::LazyLock;

use crate::support;
use assay_report as report;
use lab::{Metric, Outcome};
use serde_json::Value;
use store::RunState;

static OUTCOME: LazyLock<Outcome> = LazyLock::new(support::in_rounds);
static PAGE: LazyLock<String> = LazyLock::new(|| report::html(&OUTCOME).replace('\u{a0}', " "));

/// The section with this anchor.
fn section<'p>(page: &'p str, anchor: &str) -> &'p str {
    let start = page.find(&format!("id=\"{anchor}\"")).unwrap_or_else(|| panic!("no section {anchor}"));
    let end = page[start..].find("</section>").expect("sections end");
    &page[start..start + end]
}

/// The charts of a section: their titles, and their figures.
fn charts(section: &str) -> Vec<(String, Value)> {
    let between = |text: &str, from: &str, to: &str| {
        let start = text.find(from).expect("it begins") + from.len();
        text[start..start + text[start..].find(to).expect("it ends")].to_owned()
    };
    let panels = section.split("<div class=\"panel\">").skip(1);
    panels
        .map(|panel| {
            let json = between(panel, "<script type=\"application/json\">", "</script>");
            let title = between(panel, "<p class=\"panel-title\">", "</p>");
            (title, serde_json::from_str(&json).expect("figures are JSON"))
        })
        .collect()
}

/// The values of the trace of this name in a chart.
fn trace(chart: &Value, name: &str) -> Vec<f64> {
    let traces = chart["data"].as_array().expect("a chart has traces");
    let found = traces.iter().find(|trace| trace["name"] == name).unwrap_or_else(|| panic!("no trace {name}"));
    found["y"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// IOPS of all rounds of the cell with this key.
fn rates(step: &str, key: &[&str]) -> Vec<f64> {
    let step = OUTCOME.steps.iter().find(|one| OUTCOME.plan.steps[one.index].name == step).expect("it measured");
    let is_it = |cell: &&lab::PointOutcome| cell.point.iter().map(|(_, value)| value.as_str()).eq(key.iter().copied());
    let cell = step.points.iter().find(is_it).expect("the cell is there");
    cell.rounds().map(|round| Metric::Iops.of(round).expect("it has a rate")).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-3
}

#[test]
fn a_matrix_says_after_how_many_rounds_it_was_steady_and_by_which_rule() {
    let section = section(&PAGE, "step-iops");
    assert!(
        section.contains(
            "Steady state after 7 rounds by the SNIA rule: over the last 5 rounds, IOPS data excursion of \
            2 points: up to"
        ),
        "{section}"
    );
    for words in ["100/0", "65/35", "0/100", "Block size", "64 KiB", "Reads/writes, %"] {
        assert!(section.contains(words), "{words} in the matrix");
    }
    assert!(section.contains("figures of the last 5 of 7 rounds"));
}

#[test]
fn a_matrix_has_its_means_coloured_by_how_large_they_are() {
    let section = section(&PAGE, "step-iops");
    let depths: Vec<u32> = section
        .split("--heat:")
        .skip(1)
        .map(|rest| rest.split('%').next().unwrap().parse().expect("a depth is a number"))
        .collect();
    assert_eq!(depths.len(), 9, "every cell has a ground");
    assert!(depths.contains(&0) && depths.iter().all(|&depth| depth <= 40), "{depths:?}");
    assert!(depths[6] > depths[0], "small reads are more than large ones: {depths:?}");
}

#[test]
fn every_block_size_of_a_share_of_reads_that_decides_is_drawn_from_round_to_round() {
    let charts = charts(section(&PAGE, "step-iops"));
    let titles: Vec<&str> =
        charts.iter().map(|(title, _)| title.as_str()).filter(|t| t.starts_with("IOPS by round")).collect();
    assert_eq!(titles, ["IOPS by round, 65 % reads; more is better", "IOPS by round, 0 % reads; more is better"]);
    let (_, writes) = charts.iter().find(|(title, _)| title.contains(", 0 % reads; ")).expect("it is drawn");
    assert_eq!(writes["data"].as_array().unwrap().len(), 3, "a line for each size");
    let (drawn, measured) = (trace(writes, "4 KiB"), rates("iops", &["0", "4k"]));
    assert!(drawn.len() == 7 && drawn.iter().zip(&measured).all(|(one, other)| close(*one, *other)), "{drawn:?}");
    let band = &writes["layout"]["shapes"][0];
    assert_eq!((band["x0"].as_f64(), band["x1"].as_f64()), (Some(2.5), Some(7.5)), "the window is shaded");
}

#[test]
fn the_window_has_its_mean_its_lines_and_its_slope() {
    let charts = charts(section(&PAGE, "step-iops"));
    let windows: Vec<_> = charts.iter().filter(|(title, _)| title.starts_with("IOPS in rounds 3 to 7")).collect();
    assert_eq!(windows.len(), 2, "one for each cell that decides");
    let (title, window) = windows[0];
    assert_eq!(title, "IOPS in rounds 3 to 7, 0 % reads, 4 KiB");
    let measured = &rates("iops", &["0", "4k"])[2..];
    let mean = measured.iter().sum::<f64>() / 5.0;
    assert!(trace(window, "mean").iter().all(|&level| close(level, mean)));
    let sides: Vec<f64> = window["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|trace| trace["name"] == "90 %, 110 %")
        .map(|trace| trace["y"][0].as_f64().unwrap())
        .collect();
    assert!(close(sides[0], 1.1 * mean) && close(sides[1], 0.9 * mean), "{sides:?} beside {mean}");
    let slope = (-2.0 * measured[0] - measured[1] + measured[3] + 2.0 * measured[4]) / 10.0;
    let fit = trace(window, "best fit");
    assert!(((fit[1] - fit[0]) / 5.0 - slope).abs() < mean * 1e-3, "{fit:?} should rise by {slope} a round");
}

#[test]
fn the_determination_says_what_is_allowed_what_was_found_and_whether_it_is_met() {
    let steady = section(&PAGE, "step-iops");
    let words = [
        "Steady-state determination by the SNIA rule",
        "3 to 7",
        "Data excursion, limit",
        "Slope excursion, measured",
        " × round + ",
    ];
    for words in words {
        assert!(steady.contains(words), "{words}");
    }
    assert_eq!(steady.matches(">met<").count(), 2);
    let unsteady = section(&PAGE, "step-latency");
    assert!(unsteady.contains(">not met<") && !unsteady.contains(">met<"));
    assert!(unsteady.contains(
        "Steady state not reached in 6 rounds: over the last 5 rounds, mean latency data \
        excursion"
    ));
    assert!(charts(unsteady).iter().any(|(title, _)| title == "Mean latency (µs) in rounds 2 to 6"));
}

#[test]
fn rounds_without_a_rule_are_shown_and_not_judged() {
    let section = section(&PAGE, "step-waits");
    assert!(
        section.contains("4 rounds, all in the measurement window: the plan has no steady-state rule."),
        "{section}"
    );
    assert!(section.contains("The drive was idle for 5 s after each round."));
    assert!(!section.contains("determination") && !section.contains("Steady state after"));
}

#[test]
fn a_run_that_was_cut_off_says_that_it_was_not_yet_steady() {
    let mut outcome = support::in_rounds();
    outcome.run.state = RunState::Interrupted;
    for (step, rounds) in [(0, 5), (1, 3)] {
        for cell in &mut outcome.steps[step].points {
            let mut all: Vec<_> = cell.before.drain(..).chain(cell.repeats.drain(..)).take(rounds).collect();
            cell.repeats = all.split_off(all.len().saturating_sub(5));
            cell.before = all;
        }
    }
    for point in &mut outcome.steps[0].points {
        let first = point.repeats[0].measurement_mut().expect("it was measured");
        first.elapsed = first.elapsed.times(3);
    }
    let page = report::html(&outcome);
    assert!(section(&page, "step-iops").contains("The run ended after 5 rounds, before steady state"));
    assert!(
        section(&page, "step-latency").contains("Steady state not judged: the rule needs 5 rounds and there are 3.")
    );
    let summary = report::summary(&outcome, 80, false);
    assert!(summary.contains("not yet, 5 rounds") && summary.contains("not judged, 3 rounds"), "{summary}");
}

#[test]
fn saturation_is_drawn_over_the_data_written_with_the_capacity() {
    let charts = charts(section(&PAGE, "step-wear"));
    let (_, written) = charts.iter().find(|(title, _)| title.starts_with("IOPS by data written")).expect("it is drawn");
    let gib = 1.073_741_824;
    let lines: Vec<f64> =
        written["layout"]["shapes"].as_array().unwrap().iter().map(|line| line["x0"].as_f64().unwrap()).collect();
    let total = 4096.0 * OUTCOME.steps[2].points[0].repeats[0].measurement().unwrap().write.requests as f64 / 1e9;
    assert_eq!(lines.len(), lines.iter().filter(|&&line| line <= total).count(), "{lines:?} within {total} GB");
    assert!(lines.len() > 1 && close(lines[1] / lines[0], 2.0), "{lines:?} are multiples");
    assert!((lines[0] / gib).fract() < 1e-9, "{lines:?} are multiples of the capacity");
}

#[test]
fn steps_in_a_row_on_one_drive_are_drawn_as_one_course() {
    let section = section(&PAGE, "step-waits");
    let charts = charts(section);
    let (_, row) = charts.iter().find(|(title, _)| title.contains("over consecutive steps")).expect("it is drawn");
    let names: Vec<&str> =
        row["data"].as_array().unwrap().iter().map(|trace| trace["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["1. Latency", "2. Write saturation", "3. Waits &lt;5 s>"]);
    let ends = |trace: &Value| {
        let x = trace["x"].as_array().unwrap();
        (x[0].as_f64().unwrap(), x[x.len() - 1].as_f64().unwrap())
    };
    assert!(ends(&row["data"][0]).1 < ends(&row["data"][1]).0 && ends(&row["data"][1]).1 < ends(&row["data"][2]).0);
    assert!(!self::section(&PAGE, "step-iops").contains("steps in a row"), "a matrix is no course");
}

#[test]
fn many_steps_in_a_row_are_numbered_and_what_all_titles_begin_with_is_left_out() {
    let mut outcome = support::in_rounds();
    let waits = outcome.plan.steps.iter().position(|step| step.name == "waits").expect("it is in the plan");
    let cells = outcome.steps.iter().find(|step| step.index == waits).expect("it was measured").points.clone();
    for number in 1..=5 {
        let (name, title) = (format!("more-{number}"), format!("Rest: {number} s"));
        outcome.plan.steps.push(lab::plan::Step { name, title, ..outcome.plan.steps[waits].clone() });
        outcome.steps.push(lab::StepOutcome { index: outcome.plan.steps.len() - 1, points: cells.clone() });
    }
    let page = report::html(&outcome);
    assert!(!section(&page, "step-more-4").contains("over consecutive steps"), "it is drawn after the last of them");
    let charts = charts(section(&page, "step-more-5"));
    let (_, row) = charts.iter().find(|(title, _)| title.contains("over consecutive steps")).expect("it is drawn");
    assert_eq!((&row["data"][0]["name"], &row["data"][4]["name"]), (&"1. 1 s".into(), &"5. 5 s".into()));
    let numbers: Vec<&Value> =
        row["layout"]["annotations"].as_array().unwrap().iter().map(|one| &one["text"]).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5"]);
    assert_eq!(row["layout"]["showlegend"], false, "five names would be larger than the chart");
}

#[test]
fn a_cell_that_was_measured_once_has_its_response_times() {
    let mut outcome = support::in_rounds();
    let waits = outcome.steps.iter_mut().find(|step| outcome.plan.steps[step.index].name == "waits").unwrap();
    waits.points[0].repeats.truncate(1);
    let page = report::html(&outcome);
    let section = section(&page, "step-waits");
    assert!(charts(section)[0].0.starts_with("Response times: 1 worker, queue depth 32, "), "{section}");
    assert!(!section.contains("by round"), "one round is no course");
}

#[test]
fn demand_has_its_tables_its_curve_and_the_response_times_of_three_points() {
    let section = section(&PAGE, "step-demand");
    for words in ["99.999 % latency (µs)", "Minimum IOPS", "Maximum IOPS", "Queue depth", "Workers"] {
        assert!(section.contains(words), "{words}");
    }
    let charts = charts(section);
    let (_, curve) = charts.iter().find(|(title, _)| title.starts_with("Mean latency (µs) by IOPS")).expect("a curve");
    assert_eq!(curve["data"].as_array().unwrap().len(), 2, "a line for each number of workers");
    assert_eq!(curve["data"][0]["x"].as_array().unwrap().len(), 3, "a point for each depth");
    let (title, most) = charts.iter().find(|(title, _)| title.starts_with("Maximum IOPS: ")).expect("a histogram");
    let marks = most["layout"]["annotations"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["text"].as_str().unwrap().starts_with("99.999 %")), "{title}: {marks:?}");
}

#[test]
fn the_device_and_the_set_up_are_told_and_what_is_unknown_is_said_to_be() {
    let setup = section(&PAGE, "setup");
    for words in [
        "No conformance is claimed.",
        "100 %: LBA 0 to 2,097,151, counted in blocks of 512 B",
        "random: not compressible, no duplicates",
        "reset of the simulated drive to its factory state, 1 time",
        "Write cache",
        "Firmware",
        "assay 0.1.0 (0123abc)",
        "6.12",
        "Write saturation: Run in rounds: random write",
    ] {
        assert!(setup.contains(words), "{words} in {setup}");
    }
    assert!(setup.contains("Tester, sponsor, auditor</dt><dd><span class=\"absent\">unknown"), "{setup}");
    assert!(!report::html(&support::outcome()).contains("id=\"setup\""), "only reviews in rounds carry it");
}

#[test]
fn the_summary_gives_small_random_requests_of_a_matrix_and_how_its_rounds_ended() {
    let text = report::summary(&OUTCOME, 80, false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for start in ["Rand. read, 4K, QD", "Rand. write, 4K, QD"] {
        assert!(text.lines().any(|line| line.starts_with(start)), "{start}:\n{text}");
    }
    let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
    assert!(row("IOPS ").contains("after 7 rounds"), "{text}");
    assert!(row("  0 % reads, 4 KiB").contains("met"), "{text}");
    assert!(row("Latency ").contains("not reached in 6 rounds"), "{text}");
    assert!(row("Waits <5 s>").contains("no rule, 4 rounds"), "{text}");
    assert_eq!(text.matches("Briefly written").count(), 1, "one column, however much each step wrote:\n{text}");
    assert!(!text.contains("Filled"), "the rounds wear the drive of which they give the figures:\n{text}");
}

#[test]
fn documents_hold_every_round_and_mark_those_that_count() {
    let document: Value = serde_json::from_str(&report::export::review_json(&OUTCOME)).unwrap();
    let iops = &document["steps"][0];
    assert_eq!((&iops["do"], &iops["rounds"]["steady_state"]), (&"rounds".into(), &"steady".into()));
    let cell = iops["cells"].as_array().unwrap().iter().find(|cell| cell["cell"] == "rwmixread=0 bs=4k").unwrap();
    let rounds = cell["measurements"].as_array().unwrap();
    let counted: Vec<bool> = rounds.iter().map(|round| round["counted"].as_bool().unwrap()).collect();
    assert_eq!(counted, [false, false, true, true, true, true, true]);
    for (round, rate) in rounds.iter().zip(rates("iops", &["0", "4k"])) {
        assert!(close(round["write"]["iops"].as_f64().unwrap(), rate));
    }
    let found = &iops["rounds"]["determination"][0];
    let at = |round: f64| found["slope"].as_f64().unwrap() * round + found["intercept"].as_f64().unwrap();
    assert!(close(at(5.0), found["mean"].as_f64().unwrap()), "the line goes through the mean: {found}");
    assert_eq!(document["steps"][1]["rounds"]["steady_state"], "not_reached");
    assert_eq!(document["steps"][3]["rounds"]["rule"], Value::Null);

    let csv = report::export::review_csv(&OUTCOME);
    let of_cell: Vec<&str> = csv.lines().filter(|line| line.starts_with("iops,steady,rwmixread=0 bs=4k,")).collect();
    assert_eq!(of_cell.len(), 7, "{of_cell:?}");
    assert!(of_cell[1].starts_with("iops,steady,rwmixread=0 bs=4k,2,no,"));
    assert!(of_cell[2].starts_with("iops,steady,rwmixread=0 bs=4k,3,yes,"));
    let widths: Vec<usize> = csv.lines().take(3).map(|line| line.split(',').count()).collect();
    assert!(widths.iter().all(|&width| width == widths[0]), "{widths:?}");
}
