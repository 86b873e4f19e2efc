//! Job files made at random, run by fio and by assay: what each asks of the files is the same, or assay says what is not.
//!
//! What is compared is known from the job alone, and what is not from assay's own messages: where it says that an option which
//! decides requests is not honoured, the job of that line is only held to its bounds.

mod compare;
mod job;
mod line;
mod run;

use testkit::{Random, soak};

use self::job::JobText;
use self::line::ScaledLine;
use self::run::{Bench, fio_or_reason};

/// Runs job files with both programs and compares them; what differs, with the job files.
fn differences(texts: &[JobText]) -> Vec<String> {
    let told = |text: &JobText| {
        let found = difference(&Bench::new(text), text);
        (!found.is_empty()).then(|| format!("{}\n{}", text.text(), found.join("\n")))
    };
    texts.iter().filter_map(told).collect()
}

fn difference(bench: &Bench, text: &JobText) -> Vec<String> {
    let (theirs, ours) = (bench.fio(), bench.assay());
    compare::differences(text, &theirs, &ours)
}

#[test]
fn job_files_made_at_random_ask_the_same_of_both_programs() {
    if let Err(reason) = fio_or_reason() {
        return testkit::skip(&reason);
    }
    let mut random: Random = soak::random();
    let texts: Vec<JobText> = (0..soak::times(20, 100)).map(|_| JobText::drawn(&mut random)).collect();
    let found = differences(&texts);
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), texts.len(), found.join("\n----\n"));
}

/// Details in which the two once differed, each the smallest job file that shows it.
#[test]
fn details_that_differed_once_are_equal_or_announced() {
    if let Err(reason) = fio_or_reason() {
        return testkit::skip(&reason);
    }
    let texts: Vec<JobText> = job::DETAILS.iter().map(|options| JobText::of(options)).collect();
    let found = differences(&texts);
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), texts.len(), found.join("\n----\n"));
}

/// Of public command lines, scaled down to a small file by options at their end.
#[test]
fn public_lines_ask_the_same_of_both_programs() {
    if let Err(reason) = fio_or_reason() {
        return testkit::skip(&reason);
    }
    let lines = soak::some(line::all(), 30);
    assert!(lines.len() >= 30, "{} lines", lines.len());
    let told = |line: &ScaledLine| {
        let found = difference(&Bench::of_line(line), &line.text);
        (!found.is_empty()).then(|| format!("{}\nfio {}\n{}", line.line, line.words.join(" "), found.join("\n")))
    };
    let found: Vec<String> = lines.iter().filter_map(told).collect();
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), lines.len(), found.join("\n----\n"));
}
