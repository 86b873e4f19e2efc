//! What the summary for terminals promises.

use crate::support;
use assay_report as report;
use block::{Bytes, Nanos, Op};
use lab::plan::{Action, Axis, Limit};
use lab::{DriveRecord, Finding, Outcome, Repeat, Wear};

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_summary_fits_eighty_columns_without_colour_codes() {
    for outcome in [support::outcome(), support::cut_off()] {
        let text = report::summary(&outcome, 80, false);
        println!("{text}");
        assert!(widest(&text) <= 80, "{} columns:\n{text}", widest(&text));
        assert!(!text.contains('\x1b'), "{text}");
    }
}

#[test]
fn a_summary_has_target_verdict_figures_and_doubts() {
    let text = report::summary(&support::outcome(), 80, false);
    for words in [
        "sim:x25-m",
        "seed 42",
        "2026-01-01 00:00 UTC",
        "complete",
        "4 KiB random reads:",
        "× slower",
        "±",
        "MB/s",
        "2 findings",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
}

#[test]
fn colour_is_there_when_asked_for_and_changes_no_word() {
    let outcome = support::outcome();
    let colored = report::summary(&outcome, 80, true);
    assert!(colored.contains('\x1b'));
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(start) = rest.find('\x1b') {
        plain += &rest[..start];
        rest = &rest[start..][rest[start..].find('m').expect("a colour code ends in m") + 1..];
    }
    let bare = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(bare(&(plain + rest)), bare(&report::summary(&outcome, 80, false)));
}

#[test]
fn a_drive_that_was_written_only_in_part_is_not_called_steady() {
    let mut outcome = support::outcome();
    let steady = report::summary(&outcome, 80, false);
    assert!(steady.contains("In steady state,") && steady.contains("Steady"), "{steady}");
    let wear = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "wear").unwrap();
    let written = outcome.steps[wear].points[0].repeats[0].measurement().unwrap().write.bytes;
    outcome.capacity = Some(written.times(250));
    // A step that is to write more writes more, measured or not.
    let index = outcome.steps[wear].index;
    let Action::Condition(condition) = &mut outcome.plan.steps[index].action else { panic!("it conditions") };
    condition.at_least = vec![Limit::Bytes(written)];
    let words = format!("{written} of random writes (0.4 % of the drive)");
    let brief = report::summary(&outcome, 80, false);
    assert!(!brief.to_lowercase().contains("steady"), "{brief}");
    assert!(brief.contains("Briefly written"), "{brief}");
    let html = report::html(&outcome).replace('\u{a0}', " ");
    assert!(!html.contains("In steady state,") && !html.contains("drive steady."), "{words}");
    assert!(html.contains(&format!("After {words}, ")), "the verdict says {words}");
    assert!(html.contains(&format!("drive after {words}.")), "the steps behind it say {words}");
    outcome.capacity = None;
    assert_eq!(report::summary(&outcome, 80, false), steady, "the plan is taken at its word");
}

/// As on a disk that is written at random for an hour: `at-least` is of a time, too.
#[test]
fn a_conditioning_that_a_time_ended_is_of_what_it_wrote() {
    let mut outcome = support::outcome();
    let wear = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "wear").unwrap();
    let written = outcome.steps[wear].points[0].repeats[0].measurement().unwrap().write.bytes;
    let capacity = written.times(24);
    outcome.capacity = Some(capacity);
    let index = outcome.steps[wear].index;
    let text = Wear { written, capacity }.finding().expect("that is little");
    outcome.findings.push(Finding::of(Some("wear".to_owned()), None, text));
    for (percent, is_constructed, share) in [(100, true, "4.2 %"), (50, false, "4.2 %"), (50, true, "54 %")] {
        let Action::Condition(condition) = &mut outcome.plan.steps[index].action else { panic!("it conditions") };
        condition.at_least = vec![Limit::Percent(percent), Limit::Time(Nanos::from_secs(3600))];
        condition.construct = is_constructed;
        let told = report::summary(&outcome, 80, false).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("of random writes ({share} of the drive)")), "{share}: {told}");
        assert!(told.contains("Briefly written") && !told.contains("steady"), "{told}");
    }
}

/// As on a file of a busy machine: no figure within ±2 %, and a conditioning that its rule does not call steady.
#[test]
fn what_is_too_noisy_to_tell_states_apart_is_said_to_be() {
    let mut outcome = support::outcome();
    let wear = outcome.steps.iter().find(|step| outcome.plan.steps[step.index].name == "wear").unwrap().index;
    let Action::Condition(condition) = &mut outcome.plan.steps[wear].action else { panic!("it conditions") };
    let rule = stats::SteadyRule { spread: 1e-9, ..stats::SteadyRule::SNIA };
    condition.steady = Some(rule);
    let sure = report::summary(&outcome, 80, false).replace('\n', " ");
    assert!(!sure.contains("oo noisy"), "the figures do not scatter: {sure}");
    for step in outcome.steps.iter_mut().filter(|step| step.index != wear) {
        for (place, repeat) in step.points.iter_mut().flat_map(|point| point.repeats.iter_mut().enumerate()) {
            let Some(measurement) = repeat.measurement_mut() else { continue };
            measurement.elapsed = measurement.elapsed.times(10 + place as u64);
        }
    }
    let noisy = report::summary(&outcome, 80, false).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(noisy.contains("Too noisy to tell") && noisy.contains("throughput figures exceed ±2 %"), "{noisy}");
    assert!(!noisy.contains("× slower)") && !noisy.contains("× faster)"), "{noisy}");
}

#[test]
fn key_figures_come_from_what_steps_measure_and_not_from_their_names() {
    let mut outcome = support::outcome();
    let table =
        |text: &str| text.lines().skip_while(|line| !line.starts_with("Key figure")).collect::<Vec<_>>().join("\n");
    let before = table(&report::summary(&outcome, 80, false));
    for (place, step) in outcome.plan.steps.iter_mut().enumerate() {
        (step.name, step.title) = (format!("own-{place}"), format!("My step {place}"));
    }
    assert_eq!(table(&report::summary(&outcome, 80, false)), before);
}

/// A review whose step `access` was carried out by two jobs side by side.
fn with_jobs() -> Outcome {
    let mut outcome = support::outcome();
    let index = outcome.plan.steps.iter().position(|step| step.name == "access").expect("it is in the plan");
    let Action::Measure(measure) = &mut outcome.plan.steps[index].action else { panic!("it measures") };
    let measured = outcome.steps.iter_mut().find(|step| step.index == index).expect("it was measured");
    measure.axes = vec![Axis::Job];
    for ((cell, outcome), name) in measure.cells.iter_mut().zip(&mut measured.points).zip(["reader", "writer"]) {
        cell.point = vec![(Axis::Job, name.to_owned())];
        outcome.point.clone_from(&cell.point);
    }
    outcome
}

#[test]
fn jobs_have_a_row_each_and_one_together_and_stand_for_no_key_figure() {
    let text = report::summary(&with_jobs(), 80, false);
    assert!(widest(&text) <= 80, "{text}");
    let head = text.lines().find(|line| line.starts_with("Access time ")).expect("jobs have a table");
    assert!(head.contains("IOPS") && head.contains("99 %, µs"), "{head}");
    for job in ["reader", "writer"] {
        let row = text.lines().find(|line| line.starts_with(job)).unwrap_or_else(|| panic!("no {job}:\n{text}"));
        assert!(row.chars().any(|letter| letter.is_ascii_digit()), "{row}");
    }
    let figure = |name: &str| {
        let row = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}:\n{text}"));
        let figures = row[name.len()..].split_whitespace().find(|word| !word.starts_with('±'));
        figures.unwrap().replace(',', "").parse::<f64>().unwrap()
    };
    // Each made as many requests, and all of them took as long as the slower.
    let all = 2.0 * figure("reader").min(figure("writer"));
    assert!((figure("all jobs") / all - 1.0).abs() < 0.01, "{text}");
    for page in [report::html(&with_jobs()), report::export::review_markdown(&with_jobs())] {
        assert_eq!(page.matches("all jobs").count(), 1, "{page}");
    }
    let of_lone_reads =
        |text: &str| text.lines().find(|line| line.starts_with("Rand. read, 4K: median")).map(str::to_owned);
    let without = of_lone_reads(&report::summary(&support::outcome(), 80, false));
    assert!(without.is_some() && of_lone_reads(&text) != without, "{text}");
}

#[test]
fn long_latencies_of_a_table_are_in_milliseconds() {
    let mut outcome = with_jobs();
    let index = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "access").unwrap();
    for repeat in outcome.steps[index].points.iter_mut().flat_map(|point| &mut point.repeats) {
        let measurement = repeat.measurement_mut().expect("it was measured");
        (0..4_000).for_each(|_| measurement.read.latency.record(Nanos::from_millis(50)));
        measurement.write.latency = stats::Histogram::default();
        (0..4_000).for_each(|_| measurement.write.latency.record(Nanos::from_millis(2)));
    }
    let text = report::summary(&outcome, 80, false);
    let mut table = text.lines().skip_while(|line| !line.starts_with("Access time "));
    let head = table.next().expect("jobs have a table");
    assert!(head.contains("99 %, ms"), "{head}");
    let row = table.find(|line| line.starts_with("reader")).expect("it has a row");
    assert!(row.contains(" 50.0") || row.contains(" 50.1"), "{row}");
}

/// As with `fsync`: rates without flushes would contradict the latencies.
#[test]
fn flushes_have_figures_wherever_there_were_any() {
    let mut outcome = support::outcome();
    let shown = |outcome: &Outcome| {
        [report::summary(outcome, 80, false), report::export::review_markdown(outcome), report::html(outcome)]
    };
    assert!(
        shown(&outcome).iter().all(|text| !text.contains("ean flush") && !text.contains("Flushes, ")),
        "none was made"
    );
    let index = outcome.steps.iter().position(|step| outcome.plan.steps[step.index].name == "access").unwrap();
    for repeat in outcome.steps[index].points.iter_mut().flat_map(|point| &mut point.repeats) {
        let measurement = repeat.measurement_mut().expect("it was measured");
        let at = measurement.elapsed;
        (0..200).for_each(|_| measurement.record(Op::Flush, Bytes::ZERO, at, Nanos::from_micros(440)));
    }
    let [text, markdown, page] = shown(&outcome);
    assert!(widest(&text) <= 80, "{text}");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Flushes: Access time  "));
    let head = lines.next().unwrap_or_else(|| panic!("no table:\n{text}"));
    assert!(["Flushes, 1/s", "Mean, µs", "99 %, µs"].iter().all(|column| head.contains(column)), "{head}");
    let row = lines.nth(1).unwrap();
    assert!(row.starts_with("random read ") && row.matches("440").count() == 2, "{row}");
    assert!(markdown.contains("| Flushes, 1/s | Mean flush latency, µs | 99 % flush latency, µs |"), "{markdown}");
    let (_, table) = page.split_once("<caption>Flushes. ").expect("they have a table of their own");
    let (table, _) = table.split_once("</table>").unwrap();
    for column in ["Flushes, <span class=\"unit\">1/s</span>", "Mean, <span", "99 %, <span", "440"] {
        assert!(table.contains(column), "{column}: {table}");
    }
    assert!(!page.contains("Mean flush, <span"), "the table of requests is without them");
    assert_eq!(page.matches("<caption>Reads and writes. ").count(), 2, "so are those of the two mixed steps");
}

#[test]
fn a_report_says_what_each_job_did() {
    let page = report::html(&with_jobs());
    for words in ["concurrently: reader (random read, ", "; writer (random write, "] {
        assert!(page.contains(words), "{words}");
    }
}

/// The summary of the made-up review with other figures, its lines joined.
fn summed_up(change: impl Fn(&lab::plan::Step, &mut engine::Measurement)) -> String {
    let mut outcome = support::outcome();
    for step in &mut outcome.steps {
        let of = &outcome.plan.steps[step.index];
        let repeats = step.points.iter_mut().flat_map(|point| &mut point.repeats).filter_map(Repeat::measurement_mut);
        repeats.for_each(|repeat| change(of, repeat));
    }
    report::summary(&outcome, 80, false).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_verdict_says_what_limited_the_drive_where_the_figures_show_it() {
    let saturated = |from: u64| {
        summed_up(|step, one| {
            if step.name.starts_with("depth") {
                one.elapsed =
                    Nanos::from_nanos(one.requests() * 1_000_000 / u64::from(one.workload.queue_depth).min(from));
            }
        })
    };
    assert!(saturated(8).contains("4 KiB random reads scale up to queue depth 8"), "{}", saturated(8));
    let between = "4 KiB random reads gain 25 % from queue depth 16 to 32";
    assert!(saturated(20).contains(between), "{}", saturated(20));
    assert!(saturated(99).contains("4 KiB random reads still scale at queue depth 32"), "{}", saturated(99));
    assert!(saturated(1).contains("4 KiB random reads gain nothing from queue depth"), "{}", saturated(1));
    let held_up = summed_up(|_, one| {
        let (host_busy, host_busiest) = (one.elapsed, one.elapsed);
        let rig = drive::Counters { host_busy, host_busiest, host_cpus: 2, controllers: 1, ..Default::default() };
        one.drive = Some(rig);
    });
    assert!(held_up.contains("host CPU, 100 % busy"), "{held_up}");
    let idle = |thousandths: u64| {
        summed_up(|_, one| {
            let busy = Nanos::from_nanos(one.elapsed.as_nanos() * thousandths / 1000);
            let (host_busy, host_busiest) = (busy, busy);
            let rig = drive::Counters { host_busy, host_busiest, host_cpus: 2, controllers: 1, ..Default::default() };
            one.drive = Some(rig);
        })
    };
    for (thousandths, told) in [(0, "busier than 1 %"), (4, "busier than 1 %"), (126, "busier than 13 %")] {
        assert!(idle(thousandths).contains(told), "{thousandths}: {}", idle(thousandths));
    }
}

#[test]
fn the_highest_rate_is_that_of_all_jobs_together() {
    let mut outcome = with_jobs();
    for step in &mut outcome.steps {
        let is_of_jobs = outcome.plan.steps[step.index].name == "access";
        let repeats = step.points.iter_mut().flat_map(|point| &mut point.repeats).filter_map(Repeat::measurement_mut);
        for one in repeats.filter(|_| is_of_jobs) {
            let host_busy = one.elapsed;
            let rig = drive::Counters {
                host_busy,
                host_busiest: host_busy,
                host_cpus: 2,
                controllers: 1,
                ..Default::default()
            };
            one.drive = Some(rig);
        }
    }
    let text = report::summary(&outcome, 80, false);
    let rate = |line: &str| {
        line.split_whitespace().find(|word| word.ends_with(|end: char| end.is_ascii_digit())).map(str::to_owned)
    };
    let all = text.lines().find_map(|line| rate(line.strip_prefix("all jobs")?)).unwrap();
    assert!(text.contains(&format!("Bottleneck at the highest rate, {all} IOPS")), "{text}");
}

/// The summary of the made-up review as one of `drive` that programs so many pages and moves so many for each that it is given.
fn amplified(drive: &str, capacity: Option<Bytes>, [programmed, moved]: [u64; 2]) -> String {
    let mut outcome = support::outcome();
    for step in outcome.plan.steps.iter_mut().filter(|_| capacity.is_some()) {
        if let Action::Condition(condition) = &mut step.action {
            condition.at_least = vec![Limit::Bytes(Bytes::from_mib(1))];
        }
    }
    outcome.drive = Some(DriveRecord::of(&drive::preset::Preset::find(drive).expect("it comes with the program")));
    outcome.capacity = capacity.or(outcome.capacity);
    let repeats = outcome.steps.iter_mut().flat_map(|step| &mut step.points).flat_map(|point| &mut point.repeats);
    for one in repeats.filter_map(Repeat::measurement_mut) {
        let page = Bytes::from_kib(4);
        let counters = drive::Counters {
            host_written: page,
            page,
            pages_programmed: programmed,
            pages_moved: moved,
            ..Default::default()
        };
        one.drive = Some(counters);
    }
    report::summary(&outcome, 80, false).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_cause_of_write_amplification_is_told_where_it_is_known() {
    let table = [
        ("x25-m", [14, 13], "limited by garbage collection (write amplification 14.0)"),
        ("ocz-core-64", [14, 13], "limited by merges of blocks (write amplification 14.0)"),
        // Its pages are also moved out of one-bit blocks.
        ("980-1tb", [14, 13], "limited by a write amplification of 14.0"),
        // What is written along with 4 KiB is not moved.
        ("p5316-15360", [16, 0], "limited by a write amplification of 16.0"),
        ("x25-m", [16, 0], "limited by a write amplification of 16.0"),
        ("zn540-1tb", [2, 0], "limited by a write amplification of 2.00"),
    ];
    for (drive, pages, told) in table {
        let summary = amplified(drive, None, pages);
        assert!(summary.contains(&format!("Sustained 4 KiB random writes are {told}.")), "{drive}: {summary}");
        assert!(summary.contains(&format!(" on the filled drive, {told}.")), "{drive}: {summary}");
    }
    assert!(!amplified("x25-m", None, [1, 0]).contains("limited by"), "{}", amplified("x25-m", None, [1, 0]));
    let brief = amplified("x25-m", Some(Bytes::from_gib(40_000)), [14, 13]);
    assert!(brief.contains("of the drive), 4 KiB random writes are limited by"), "{brief}");
    assert!(!brief.contains("Sustained"), "{brief}");
}

/// The made-up review with writes of its step `random` to the empty drive before the fill.
fn with_empty_writes() -> Outcome {
    let mut outcome = support::outcome();
    let fill = outcome.plan.steps.iter().position(|step| step.name == "fill").expect("it is in the plan");
    let filled = outcome.plan.steps.iter().position(|step| step.name == "random").expect("it is in the plan");
    let mut step = outcome.plan.steps[filled].clone();
    step.name = "empty-write".to_owned();
    let Action::Measure(measure) = &mut step.action else { panic!("it measures") };
    let is_write = |point: &[(Axis, String)]| point.iter().any(|(_, value)| value == "randwrite");
    measure.cells.retain(|cell| is_write(&cell.point));
    let mut measured = outcome.steps.iter().find(|step| step.index == filled).expect("it was measured").clone();
    measured.points.retain(|point| is_write(&point.point));
    measured.index = fill;
    outcome.plan.steps.insert(fill, step);
    outcome.steps.iter_mut().filter(|step| step.index >= fill).for_each(|step| step.index += 1);
    outcome.steps.insert(0, measured);
    outcome
}

#[test]
fn what_is_not_measured_on_the_empty_drive_changes_from_the_filled_one() {
    let outcome = with_empty_writes();
    let text = report::summary(&outcome, 160, false);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(row("Key figure").contains("Empty") && row("Key figure").contains("Change"), "{text}");
    assert!(row("Rand. write, 4K, QD1 ").ends_with(" × slower (filled to steady)"), "{text}");
    assert!(row("Rand. write, 4K, QD32").ends_with("× slower"), "{text}");
    let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("IOPS (5.38 × slower)") && told.contains("on the filled drive to"), "{told}");
    assert!(told.contains("% of their rate on the filled drive"), "{told}");
    let page = report::html(&outcome).replace('\u{a0}', " ");
    assert!(page.contains("filled to steady") && page.contains("Reads of an empty drive need not access its media"));
}
