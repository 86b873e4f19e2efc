//! What the HTML report promises, as far as its text shows it.

use assay_report as report;
use std::sync::LazyLock;

use crate::support;
use block::Nanos;
use lab::Metric;
use lab::plan::{Action, catalog};
use store::RunState;

static COMPLETE: LazyLock<String> = LazyLock::new(|| report::html(&support::outcome()));

/// The page without the chart library, which is text of others.
fn own(page: &str) -> String {
    let start = page.find("<script type=\"text/javascript\">").expect("the chart library is there");
    let end = start + page[start..].find("</script>").expect("it ends");
    page[..start].to_owned() + &page[end..]
}

/// The section with this anchor.
fn section<'p>(page: &'p str, anchor: &str) -> &'p str {
    let start = page.find(&format!("id=\"{anchor}\"")).unwrap_or_else(|| panic!("no section {anchor}"));
    let end = page[start..].find("</section>").expect("sections end");
    &page[start..start + end]
}

#[test]
fn every_step_that_measures_has_a_section_with_a_chart_and_a_table() {
    let outcome = support::outcome();
    for step in &outcome.steps {
        let step = &outcome.plan.steps[step.index];
        let section = section(&COMPLETE, &format!("step-{}", step.name));
        assert!(section.contains(&step.title), "{}", step.name);
        assert!(section.contains("<figure>") && section.contains("class=\"chart\""), "{}: no chart", step.name);
        assert!(section.contains("<table>"), "{}: no table", step.name);
    }
}

/// Nothing judged its rounds, and what is measured behind it is of a conditioned drive.
#[test]
fn the_short_way_to_the_steady_state_is_shown_over_time_and_not_judged() {
    // Where lines may be broken is no matter here.
    let page = report::html(&support::preconditioned()).replace('\u{a0}', " ");
    let (short, long) = (section(&page, "step-wear"), section(&COMPLETE, "step-wear"));
    assert!(long.contains("the SNIA rule") && !short.contains("the SNIA rule"));
    assert!(short.contains("over time") && !short.contains("Diamonds"), "{short}");
    assert!(page.contains("7 % of over-provisioning") && page.contains("then random writes of 10 % of the capacity"));
    let worn = section(&page, "step-random-worn");
    assert!(worn.contains("drive conditioned."), "{worn}");
}

#[test]
fn figures_in_tables_are_those_of_the_outcome() {
    let outcome = support::outcome();
    let index = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "access").unwrap();
    let section = section(&COMPLETE, "step-access");
    for cell in &outcome.steps[index].points {
        let iops = cell.figure(Metric::Iops).unwrap().mean;
        let shown = format!("{},{:02}0", (iops / 1000.0).floor(), (iops % 1000.0 / 10.0).round());
        assert!(section.contains(&shown), "{iops} should be shown as {shown}");
        assert!(section.contains("99.99 %"));
    }
}

#[test]
fn where_requests_come_at_a_rate_the_latency_from_submission_stands_beside_the_other() {
    let mut outcome = support::outcome();
    assert!(!section(&COMPLETE, "step-access").contains("Mean service"), "a closed loop has one latency");
    let index = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "access").unwrap();
    for measurement in outcome.steps[index].points.iter_mut().flat_map(|point| &mut point.repeats) {
        let measurement = measurement.measurement_mut().expect("it was measured");
        let requests = measurement.read.requests.max(1);
        (0..requests).for_each(|_| measurement.record_service(block::Op::Read, block::Nanos::from_micros(77)));
    }
    let page = report::html(&outcome);
    let section = section(&page, "step-access");
    assert!(section.contains("Mean service") && section.contains("99 % service"), "{section}");
    assert!(section.contains("77.0"), "{section}");
}

/// As of a drive that answers in so many microseconds and now and then in fifty milliseconds.
#[test]
fn latencies_of_a_row_have_one_unit_in_which_the_least_can_be_read() {
    for (micros, unit) in [(9, "µs"), (90, "µs"), (120, "ms")] {
        let mut outcome = support::outcome();
        let index = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "access").unwrap();
        for repeat in outcome.steps[index].points.iter_mut().flat_map(|point| &mut point.repeats) {
            let measurement = repeat.measurement_mut().expect("it was measured");
            for flow in [&mut measurement.read, &mut measurement.write].into_iter().filter(|flow| flow.requests > 0) {
                flow.latency = stats::Histogram::default();
                (0..800).for_each(|_| flow.latency.record(Nanos::from_micros(micros)));
                (0..400).for_each(|_| flow.latency.record(Nanos::from_millis(50)));
            }
        }
        let page = report::html(&outcome);
        let section = section(&page, "step-access");
        let table = &section[section.find("<table>").expect("it has a table")..];
        let head = &table[..table.find("</thead>").expect("it has a head")];
        assert!(head.matches(&format!("<span class=\"unit\">{unit}</span>")).count() >= 5, "{micros}: {head}");
        assert!(!head.contains(if unit == "ms" { ">µs<" } else { ">ms<" }), "{micros}: {head}");
    }
}

#[test]
fn a_step_beside_another_shows_both_and_how_they_differ() {
    let section = section(&COMPLETE, "step-random-worn");
    for words in ["Filled and steady", "× slower", "random write, filled", "random write, steady"] {
        assert!(section.contains(words), "{words}");
    }
}

#[test]
fn latencies_of_single_cells_stand_beside_each_other() {
    let section = section(&COMPLETE, "step-access-worn");
    for words in [
        "Median latency",
        "99.99 % latency",
        "Maximum latency",
        "× longer",
        "random write, steady",
        "Latency (µs) by percentile",
    ] {
        assert!(section.contains(words), "{words}");
    }
}

#[test]
fn a_conditioning_without_a_rule_is_not_judged() {
    let mut outcome = support::outcome();
    for step in &mut outcome.plan.steps {
        if let Action::Condition(condition) = &mut step.action {
            condition.steady = None;
        }
    }
    let page = report::html(&outcome).replace('\u{a0}', " ");
    let (judged, unjudged) = (section(&COMPLETE, "step-wear"), section(&page, "step-wear"));
    for word in ["class=\"steadiness\"", "the SNIA rule", "steady mean"] {
        assert!(judged.contains(word) && !unjudged.contains(word), "{word}");
    }
    assert!(unjudged.contains("mean of the last rounds") && unjudged.contains("Means of rounds"), "{unjudged}");
}

#[test]
fn what_a_conditioning_settled_at_stands_beside_the_same_request_fresh() {
    let mut outcome = support::outcome();
    let worn = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "random-worn").unwrap();
    outcome.steps.remove(worn);
    let summary = report::summary(&outcome, 80, false);
    let row = summary.lines().find(|line| line.starts_with("Rand. write, 4K, QD32")).expect(&summary);
    assert!(row.contains("17,900") && row.contains("2,510") && row.contains("7.15 × slower"), "{row}");
}

#[test]
fn figures_that_are_not_sure_are_marked_and_listed() {
    assert!(section(&COMPLETE, "step-sequential").contains("▲"), "some figures of this step scatter by more than 2 %");
    assert!(section(&COMPLETE, "findings").contains("with a 95 % interval wider than ±2 %"));
}

#[test]
fn the_words_of_others_are_escaped() {
    let page = own(&COMPLETE);
    for raw in ["<simulated>", "<angle brackets>", "<CPU>"] {
        assert!(!page.contains(raw), "{raw} came through");
    }
    for safe in ["&lt;simulated&gt;", "&lt;angle brackets&gt; &amp; ampersands", "Example &lt;CPU&gt;"] {
        assert!(page.contains(safe), "{safe} is missing");
    }
}

#[test]
fn nothing_is_loaded_from_elsewhere_and_the_file_is_of_a_sensible_size() {
    let page = own(&COMPLETE);
    for address in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(address), "{address}");
    }
    assert!(page.len() < 1_000_000, "{} bytes besides the chart library", page.len());
    assert!(COMPLETE.len() < 6_000_000, "{} bytes in all", COMPLETE.len());
}

#[test]
fn what_was_not_measured_is_said_and_never_a_zero() {
    let page = report::html(&support::cut_off());
    let random = section(&page, "step-random");
    assert!(random.contains("not measured") && random.contains("class=\"chart\""));
    assert!(section(&page, "step-wear").contains("Not measured"));
    assert!(!section(&page, "step-wear").contains("class=\"chart\""));
    let summary = section(&page, "summary");
    assert!(summary.contains("The run failed: the target is full"), "{summary}");
    assert!(!own(&page).contains(">0 <span"), "a figure of zero");
}

#[test]
fn a_run_with_nothing_measured_still_has_a_report() {
    let mut outcome = support::cut_off();
    outcome.run.state = RunState::Interrupted;
    outcome.steps.iter_mut().flat_map(|step| &mut step.points).for_each(|cell| cell.repeats.clear());
    let page = report::html(&outcome);
    assert!(section(&page, "summary").contains("0 of 86 points measured"), "{}", section(&page, "summary"));
    assert!(report::summary(&outcome, 80, false).contains("not measured"));
}

#[test]
fn the_command_to_repeat_names_what_it_reads() {
    let told = |plan: &str, text: &str, target: &str| {
        let mut outcome = support::outcome();
        (outcome.run.plan, outcome.run.plan_text) = (plan.to_owned(), text.to_owned());
        outcome.run.target = target.to_owned();
        section(&report::html(&outcome), "repeat").to_owned()
    };
    let builtin = |name: &str| catalog::find(name).unwrap().text;
    let plain = told("review", &builtin("review"), "sim:x25-m");
    assert!(plain.contains("assay review sim:x25-m --seed 42") && !plain.contains("save the text below"), "{plain}");
    let other = told("mixed", &builtin("mixed"), "sim:x25-m");
    assert!(other.contains("assay review sim:x25-m --plan mixed --seed 42"), "{other}");
    for plan in ["own", "review"] {
        let own = told(plan, "name = \"own\"", "sim:x25-m");
        assert!(own.contains(&format!("assay review sim:x25-m --plan ./{plan}.toml --seed 42")), "{own}");
        assert!(own.contains(&format!("save the text below, which is the plan of this run, as <code>./{plan}.toml")));
    }
    let file = told("mixed", &builtin("mixed"), "sim:my drive.toml#2?controller.jitter=1%");
    assert!(file.contains("assay review 'sim:my drive.toml#2?controller.jitter=1%' --plan mixed"), "{file}");
    assert!(file.contains("The drive is read from <code>my drive.toml</code>"), "{file}");
    assert!(file.contains("<summary>The drive</summary><pre><code>") && !other.contains("The drive"), "{file}");
}

#[test]
fn what_is_rated_stands_beside_the_figures_of_a_simulated_drive_and_says_what_was_fitted() {
    let summary = section(&COMPLETE, "summary");
    assert!(summary.contains(">Rated</th>") && summary.contains("Source: Intel, X25-M product manual"), "{summary}");
    let row = |name: &str| {
        let start = summary.find(&format!(">{name}</a>")).unwrap_or_else(|| panic!("no {name} in {summary}"));
        &summary[start..start + summary[start..].find("</tr>").expect("rows end")]
    };
    let written = row("Sequential write, 128 KiB, queue depth 1");
    assert!(written.contains("data-v=\"70\"") && written.contains("†"), "fitted to it: {written}");
    let random = row("Random write, 4 KiB, queue depth 32");
    assert!(random.contains("data-v=\"3300\"") && !random.contains("†"), "foretold: {random}");
    assert!(!row("Random read, 4 KiB, queue depth 1").contains("data-v=\"35000\""), "rated at depth 32");
    for target in ["/dev/sdx", "sim:x25-m?nand.read=60us"] {
        assert!(!section(&report::html(&support::on(target)), "summary").contains(">Rated</th>"), "{target}");
    }
}

#[test]
fn a_rating_for_a_smaller_queue_depth_says_so() {
    let mut outcome = support::outcome();
    let preset = drive::preset::Preset::find("exos-2x18").expect("it comes with the program");
    outcome.drive = Some(lab::DriveRecord::of(&preset));
    let page = report::html(&outcome);
    let summary = section(&page, "summary");
    let row = summary.find(">Random read, 4 KiB, queue depth 32</a>").expect("it is a key figure");
    let row = &summary[row..row + summary[row..].find("</tr>").expect("rows end")];
    let rated = &row[row.find("data-state=\"Rated\"").expect("it is rated")..];
    let rated = &rated[..rated.find("</td>").expect("cells end")];
    assert!(rated.contains("304") && rated.contains("QD16") && !rated.contains('%'), "{rated}");
    assert!(summary.contains("A rating for a smaller queue depth"), "{summary}");
    assert!(!section(&COMPLETE, "summary").contains("A rating for a smaller queue depth"));
}

#[test]
fn the_conditions_say_where_random_writes_go_on_a_drive_with_zones() {
    let conditions = |drive: &str| {
        let mut outcome = support::outcome();
        let preset = drive::preset::Preset::find(drive).expect("it comes with the program");
        outcome.drive = Some(lab::DriveRecord::of(&preset));
        section(&report::html(&outcome), "conditions").replace('\u{a0}', " ")
    };
    let flash = conditions("zn540-1tb");
    assert!(flash.contains("goes to the write pointer of a zone chosen at random"), "{flash}");
    assert!(
        flash.contains("Percentages of the drive are of what its zones hold, 951 GiB; its addresses are 1.77 TiB."),
        "{flash}"
    );
    let disk = conditions("hc620-14tb");
    assert!(
        disk.contains("goes to the write pointer of a zone") && !disk.contains("Percentages of the drive"),
        "{disk}"
    );
    assert!(!conditions("x25-m").contains("write pointer"));
}

#[test]
fn a_published_figure_stands_beside_the_same_request_of_the_same_fresh_drive_alone() {
    let summary = section(&COMPLETE, "summary");
    assert!(summary.contains(">Published</th>") && summary.contains("February 2009, tables 1 to 4"), "{summary}");
    let rows: Vec<&str> = summary.split("<tr>").filter(|row| row.contains("href=\"#published\"")).collect();
    let [row] = rows[..] else { panic!("one row has a published figure: {rows:?}") };
    assert!(row.contains(">Random read, 4 KiB, queue depth 1</a>") && row.contains("data-v=\"5156\""), "{row}");
    assert!(row.contains(">fitted</a>"), "and what it was for: {row}");
    let note = &summary[summary.find("id=\"published\"").expect("the column is explained")..];
    for told in ["Random read, 4 KiB, queue depth 1: fitted", "in an unnamed host", "not on a single drive", "512 B"] {
        assert!(note.contains(told), "{told}: {note}");
    }
    let without = |change: &dyn Fn(&mut lab::Outcome)| {
        let mut outcome = support::outcome();
        change(&mut outcome);
        !section(&report::html(&outcome), "summary").contains(">Published</th>")
    };
    for target in ["sim:x25-e-32", "sim:x25-m?nand.read=60us", "/dev/sdx"] {
        assert!(without(&|outcome| *outcome = support::on(target)), "{target}");
    }
    let unfilled = |outcome: &mut lab::Outcome| {
        let lab::plan::Action::Fill { .. } = outcome.plan.steps[1].action else { panic!("the second step fills") };
        outcome.plan.steps[1].action = lab::plan::Action::Idle(lab::plan::Idle { time: block::Nanos::from_secs(1) });
    };
    assert!(without(&unfilled), "a drive that was not written first");
    let smaller = |outcome: &mut lab::Outcome| {
        let cells = outcome.steps.iter_mut().flat_map(|step| &mut step.points);
        cells.for_each(|cell| {
            let lab::Asked::Workload(workload) = &mut cell.asked else { panic!("it was measured") };
            workload.size = Some(block::Bytes::from_gib(1));
        });
    };
    assert!(without(&smaller), "on a part of the drive");
}

#[test]
fn one_outcome_gives_one_page() {
    assert!(report::html(&support::outcome()) == *COMPLETE, "two pages of one outcome differ");
}
