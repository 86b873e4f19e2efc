//! A small review, repeated on a small drive.

use assay_lab::Silent;
use assay_lab::plan::catalog::PlanSource;
use assay_lab::replicate::{GoalVerdict, Replication, Review, Tally, Use, replicate};
use block::Seed;

fn source(text: &str) -> PlanSource {
    PlanSource { file_name: "small.toml".to_owned(), text: text.to_owned() }
}

const FIGURES: &str = r#"
review = "small"
title = "A small review"
source = "made up for this test"

[[group]]
title = "Reads"
tolerance = "10%"

[[group.series]]
title = "Random reads"
unit = "IOPS"
figures = [
    { id = "small/read/4k", use = "fit", value = 6000 },
    { id = "small/read/64k", use = "check", value = 1 },
]

[[group]]
title = "Story"
tolerance = "0%"

[[group.series]]
title = "Writes, new over worn"
figures = [
    { id = "small/story", use = "check", ratio = ["small/new", "small/worn"], at_least = 1.5 },
    { id = "small/time", use = "check", at_least = 0.001 },
]

[[group]]
title = "Elsewhere"
tolerance = "10%"

[[group.series]]
title = "Another drive"
figures = [{ id = "small/other", use = "check", value = 1 }]
"#;

const METHOD: &str = r#"
name = "small"
about = "As small as can be."

[[part]]
name = "flash"
target = "x25-m?capacity.user=800MB"

[[part.step]]
name = "idle"
do = "idle"
time = "1s"

[[part.step]]
name = "fill"
do = "fill"

[[part.step]]
name = "read"
rw = "randread"
number_ios = 300
sweep.bs = ["4k", "64k"]
yields.iops = "small/read/{bs}"

[[part.step]]
name = "new"
rw = "randwrite"
bs = "4k"
number_ios = 2000
yields = { iops = "small/new", elapsed = "small/new-time" }

[[part.step]]
name = "wear"
rw = "randwrite"
bs = "4k"
iodepth = 8
io_size = "2g"

[[part.step]]
name = "worn"
same-as = "new"
yields = { iops = "small/worn", elapsed = "small/worn-time" }

[[part]]
name = "other"
target = "x26-m"

[[part.step]]
name = "read"
rw = "randread"
number_ios = 10
yields.iops = "small/other"

[[total]]
id = "small/time"
of = ["small/new-time", "small/worn-time"]
"#;

fn repeat(method: &str, seed: u64) -> Replication {
    let review = Review::new(source(FIGURES), source(method)).unwrap();
    replicate(&[review], Seed::new(seed), &Silent).remove(0)
}

#[test]
fn what_was_published_stands_beside_what_was_measured() {
    let done = repeat(METHOD, 1);
    let found = |id: &str| done.all().find(|answer| answer.figure.id == id).and_then(|answer| answer.measured);
    let read = found("small/read/4k").unwrap();
    assert!((3_000.0..8_000.0).contains(&read), "{read} reads of 4 KiB a second");
    let (fitted, checked) =
        (Tally::of(done.answers_of(0), Some(Use::Fit)), Tally::of(done.answers_of(0), Some(Use::Check)));
    assert_eq!((fitted.judged, checked.judged, checked.met), (1, 1, 0));
    assert_eq!(done.verdict(0), GoalVerdict::NotMet);
    assert_eq!(
        done.besides.iter().map(|beside| &*beside.id).collect::<Vec<_>>(),
        ["small/new", "small/new-time", "small/worn", "small/worn-time"]
    );
}

#[test]
fn a_step_leaves_its_traces_for_the_next() {
    let done = repeat(METHOD, 1);
    let story = done.answers_of(1).next().unwrap();
    assert!(story.measured.unwrap() > 1.5, "worn drives write more slowly: {story:?}");
    assert_eq!(done.verdict(1), GoalVerdict::Met);
    let rested = repeat(&METHOD.replace("\"2g\"", "\"1m\""), 1);
    assert!(rested.answers_of(1).next().unwrap().measured.unwrap() < 1.5, "without the wear there is no story");
}

#[test]
fn a_drive_that_there_is_not_is_named_and_the_rest_is_done() {
    let done = repeat(METHOD, 1);
    assert_eq!(done.verdict(2), GoalVerdict::Incomplete(1));
    let [missing] = &done.missing[..] else { panic!("{:?}", done.missing) };
    assert_eq!((&*missing.target, missing.failed), ("x26-m", false));
    assert!(missing.why.contains("did you mean `x25-m`?"), "{}", missing.why);
    assert_eq!(done.conditions.len(), 1);
}

#[test]
fn a_part_that_fails_is_told_and_is_a_failure() {
    let done =
        repeat(&METHOD.replace("bs = \"4k\"\nnumber_ios = 2000", "bs = \"4k\"\nsize = \"1t\"\nnumber_ios = 2000"), 1);
    assert!(done.has_failed());
    assert!(
        done.missing[0].why.contains("step `new`") && done.missing[0].why.contains("smaller size"),
        "{:?}",
        done.missing
    );
}

#[test]
fn one_seed_tells_one_story_and_another_another() {
    assert_eq!(repeat(METHOD, 7), repeat(METHOD, 7));
    let reads = |seed| repeat(METHOD, seed).all().next().unwrap().measured;
    assert_ne!(reads(7), reads(8));
}
