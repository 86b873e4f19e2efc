//! Runs held against each other, from the command line.

use crate::support::{Place, is_narrow};
use serde_json::Value;
use testkit::alike;

/// One request at a time, so that an answer time that grows by a share slows the drive by it; four, for scatter.
const PLAN: &str = r#"
name = "guard"
title = "Guard"
repeats = 8

[workload]
size = "64m"

[[step]]
name = "fill"
do = "fill"
bs = "1m"

[[step]]
name = "read"
title = "Random reads by queue depth"
rw = "randread"
bs = "4k"
number_ios = 1000
sweep.iodepth = [1, 4]

[[step]]
name = "stream"
title = "Sequential reads"
rw = "read"
bs = "128k"
iodepth = 4
number_ios = 200
"#;

const X25_M: &str = alike!("sim:x25-m?capacity.user=1GiB&");
/// A 4 KiB read takes the X25-M 192 us, of which its flash has 46: these make it 1 % and 5 % longer.
const ONE_PERCENT: &str = alike!("sim:x25-m?capacity.user=1GiB&", "nand.read=47.92us");
const FIVE_PERCENT: &str = alike!("sim:x25-m?capacity.user=1GiB&", "nand.read=55.6us");

struct Runs {
    place: Place,
    plan: String,
}

impl Runs {
    fn new(text: &str) -> Self {
        let place = Place::new();
        let plan = place.path("guard.toml");
        std::fs::write(&plan, text).unwrap();
        Self { plan: plan.display().to_string(), place }
    }

    fn add(&self, target: &str, seed: &str) {
        self.place.succeeds(&["review", target, "--plan", &self.plan, "--seed", seed]);
    }

    fn document(&self, arguments: &[&str]) -> Value {
        let arguments = [&["compare"], arguments, &["--format", "json"]].concat();
        let said = self.place.assay(&arguments);
        assert!(matches!(said.code, Some(0 | 1)), "{arguments:?}: {}", said.stderr);
        serde_json::from_str(&said.stdout).unwrap()
    }
}

/// The change of a figure in percent.
fn change(document: &Value, cell: &str, aspect: &str) -> (f64, String) {
    let comparisons = document["comparisons"].as_array().unwrap();
    let is_it = |one: &&Value| one["step"] == "read" && one["cell"] == cell && one["aspect"] == aspect;
    let one = comparisons.iter().find(is_it).expect("the cell is compared");
    (100.0 * (one["ratio"].as_f64().unwrap() - 1.0), one["verdict"].as_str().unwrap().to_owned())
}

#[test]
fn differences_of_one_five_and_no_percent_are_told_for_what_they_are() {
    let runs = Runs::new(PLAN);
    runs.add(X25_M, "1");
    runs.add(ONE_PERCENT, "2");
    runs.add(FIVE_PERCENT, "3");
    runs.add(X25_M, "4");
    for (run, expected, verdict) in [("2", -1.0, "worse"), ("3", -4.76, "worse"), ("4", 0.0, "not shown")] {
        let document = runs.document(&["1", run]);
        let (found, said) = change(&document, "iodepth=1", "throughput");
        assert!((found - expected).abs() < 0.1 && said == verdict, "run {run}: {found} %, {said}");
        let (found, said) = change(&document, "iodepth=4", "throughput");
        assert!((found - expected).abs() < 1.5, "run {run}: {found} %; waiting in the queue hides some of it");
        assert!(said == verdict || expected > -2.0, "run {run}: {said}");
        let wrong = document["comparisons"].as_array().unwrap().iter().filter(|one| one["verdict"] == "better");
        assert_eq!(wrong.count(), 0, "run {run} is nowhere faster: {document:#}");
    }
    // The link sets the pace of streams, whatever the flash does.
    let told = runs.place.succeeds(&["compare", "1", "4"]);
    assert!(told.contains("None of 5 key figures of run 4 differs significantly from run 1"), "{told}");
}

#[test]
fn a_guard_fails_on_what_is_surely_worse_and_passes_what_is_surely_not() {
    let runs = Runs::new(PLAN);
    runs.add(X25_M, "1");
    runs.add(ONE_PERCENT, "2");
    runs.add(FIVE_PERCENT, "3");
    let guard = |run: &str, share: &str| {
        let said = runs.place.assay(&["compare", "1", run, "--fail-if-worse", share, "--format", "json"]);
        (said.code, said.stderr)
    };
    let (code, said) = guard("2", "5%");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = guard("3", "2%");
    assert!(code == Some(1) && said.contains("Gate: fail."), "{said}");
    assert!(said.contains("fail          read iodepth=1.throughput: 4,960 IOPS, −4.76 %; allowed −2 %"), "{said}");
    assert_eq!(guard("3", "20%").0, Some(0));
    let (code, said) = guard("2", "0.5%");
    assert_eq!(code, Some(1), "one percent is more than a half: {said}");
    let faster = runs.place.assay(&["compare", "3", "1", "--fail-if-worse", "0.5%", "--format", "json"]);
    assert_eq!(faster.code, Some(0), "what is better fails no guard: {}", faster.stderr);
    let document = runs.document(&["1", "3", "--fail-if-worse", "2%"]);
    assert!(document["guard"]["worse"].as_u64().unwrap() >= 2 && document["guard"]["fail_if_worse"] == 0.02);
    assert_eq!(document["guard"]["outcome"], "fail");
}

/// As on a busy machine: the figures of a run are replaced by some that scatter.
#[test]
fn what_the_repeats_cannot_tell_passes_no_guard() {
    let runs = Runs::new(&PLAN.replace("repeats = 8", "repeats = 3"));
    runs.add(X25_M, "1");
    runs.add(X25_M, "2");
    let store = rusqlite::Connection::open(runs.place.store()).unwrap();
    let noisy = "UPDATE measurement SET elapsed_ns = elapsed_ns * (CASE repeat WHEN 0 THEN 3 WHEN 1 THEN 5 ELSE 13 END) / 10 \
                 WHERE run = 2";
    assert!(store.execute(noisy, []).unwrap() > 0);
    drop(store);
    let said = runs.place.assay(&["compare", "1", "2", "--fail-if-worse", "5%", "--metric", "throughput"]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(
        said.stderr.contains("Gate: inconclusive.") && said.stderr.contains("repeats would decide"),
        "{}",
        said.stderr
    );
}

#[test]
fn key_figures_answer_where_the_many_others_cannot() {
    let runs = Runs::new(&PLAN.replace("repeats = 8", "repeats = 3"));
    runs.add(X25_M, "1");
    runs.add(FIVE_PERCENT, "2");
    let told = runs.place.succeeds(&["compare", "1", "2"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Of 5 key figures, run 2 is significantly worse than run 1 in"), "{told}");
    assert!(told.contains("Random read, 4 KiB, QD 1, IOPS 5,210 4,960 0.952 ▼"), "{told}");
    let document = runs.document(&["1", "2"]);
    let of = |cell: &str, aspect: &str| {
        let all = document["comparisons"].as_array().unwrap();
        let found = all.iter().find(|one| one["step"] == "read" && one["cell"] == cell && one["aspect"] == aspect);
        let one = found.unwrap();
        (one["key"].is_string(), one["test"].as_str().unwrap_or("none").to_owned(), one["verdict"].clone())
    };
    let (is_key, test, verdict) = of("iodepth=1", "throughput");
    assert!(is_key && test == "exact" && verdict == "worse", "it is simulated and does not scatter");
    let (is_key, test, verdict) = of("iodepth=4", "throughput");
    assert!(is_key && test == "means" && verdict == "worse", "{test} {verdict}");
    let (is_key, test, verdict) = of("iodepth=4", "p99");
    assert!(!is_key && (test == "exact" || verdict == "cannot be shown"), "{test} {verdict}");
}

#[test]
fn fewer_figures_may_be_asked_for_and_tails_beyond_the_usual() {
    let runs = Runs::new(&PLAN.replace("repeats = 8", "repeats = 4"));
    runs.add(X25_M, "1");
    runs.add(FIVE_PERCENT, "2");
    let narrow = ["1", "2", "--step", "stream", "--metric", "throughput"];
    let document = runs.document(&narrow);
    assert_eq!((document["key_tests"].as_u64(), document["exploratory_tests"].as_u64()), (Some(1), Some(0)));
    let document = runs.document(&["1", "2", "--step", "read", "--metric", "p99.9"]);
    let all = document["comparisons"].as_array().unwrap();
    assert!(all.len() == 2 && all.iter().all(|one| one["metric"] == "latency999"), "{document:#}");
    let said = runs.place.refuses(&["compare", "1", "2", "--step", "reed"]);
    assert!(said.contains("no step `reed`") && said.contains("`read`, `stream`"), "{said}");
}

#[test]
fn runs_are_pooled_and_paired() {
    let runs = Runs::new(&PLAN.replace("repeats = 8", "repeats = 1"));
    for (target, seed) in
        [(X25_M, "1"), (FIVE_PERCENT, "1"), (FIVE_PERCENT, "2"), (X25_M, "2"), (X25_M, "3"), (FIVE_PERCENT, "3")]
    {
        runs.add(target, seed);
    }
    let document = runs.document(&["1,4,5", "2,3,6", "--paired"]);
    assert_eq!(document["paired"], true);
    assert_eq!(document["runs"][0]["pooled"], serde_json::json!([1, 4, 5]));
    let all = document["comparisons"].as_array().unwrap();
    let deep = all.iter().find(|one| one["cell"] == "iodepth=4" && one["aspect"] == "throughput").unwrap();
    assert_eq!(deep["before"]["samples"].as_array().unwrap().len(), 3);
    assert_eq!((deep["test"].as_str(), deep["verdict"].as_str()), (Some("means"), Some("worse")), "{deep:#}");
    let told = runs.place.succeeds(&["compare", "1,4,5", "2,3,6"]);
    assert!(told.contains("runs 2…6") && told.lines().all(is_narrow), "{told}");
    let refused = |arguments: &[&str]| runs.place.refuses(&[&["compare"], arguments].concat());
    assert!(refused(&["1,4", "2,3,6", "--paired"]).contains("as many runs on each side"));
    assert!(refused(&["1,4", "4,2"]).contains("run 4 was given twice"));
    assert!(refused(&["1,4", "2,x"]).contains("a run is a number"));
}

#[test]
fn two_targets_are_reviewed_alternately_and_compared_in_pairs() {
    let runs = Runs::new(PLAN);
    let interleave = ["compare", "--interleave", "--rounds", "2", X25_M, FIVE_PERCENT, "--format", "json"];
    let options = format!("--plan {}", runs.plan);
    let said = runs.place.assay(&[&interleave[..], &["--options", &options]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&document["runs"][0]["pooled"], &document["runs"][1]["pooled"]),
        (&serde_json::json!([1, 4]), &serde_json::json!([2, 3]))
    );
    assert!(said.stderr.contains("`assay compare --paired 1,4 2,3` repeats this comparison"), "{}", said.stderr);
    assert_eq!(change(&document, "iodepth=1", "throughput").1, "worse");
    let again = runs.document(&["--paired", "1,4", "2,3"]);
    assert_eq!(again["comparisons"], document["comparisons"]);
    let refused = |arguments: &[&str]| runs.place.refuses(&[&["compare", "--interleave"], arguments].concat());
    assert!(refused(&[X25_M]).contains("takes two targets, and 1 were given"));
    let failed = runs.place.assay(&["compare", "--interleave", "sim:nothing", X25_M]);
    assert!(failed.code == Some(1) && failed.stderr.contains("no simulated drive `nothing`"), "{}", failed.stderr);
    let other = runs.place.path("other");
    let missing = refused(&[X25_M, X25_M, "--program-b", other.to_str().unwrap()]);
    assert!(missing.contains("--program-b"), "{missing}");
}

#[test]
fn the_report_has_every_run_in_each_chart_and_the_text_fits_a_terminal() {
    let runs = Runs::new(PLAN);
    runs.add(X25_M, "1");
    runs.add(FIVE_PERCENT, "2");
    runs.add(ONE_PERCENT, "3");
    let told = runs.place.succeeds(&["compare", "1", "2", "last"]);
    assert!(told.lines().all(is_narrow), "{told}");
    assert!(told.contains("depth 1") && told.contains("▼"), "{told}");
    let path = told.lines().last().unwrap().strip_prefix("Report: ").expect("the last line says where the report is");
    assert!(path.contains("/compare-1-2-3-"), "{path}");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains("Runs 2 and 3 compared with run 1"));
    let charts: Vec<&str> =
        page.split("application/json\">").skip(1).map(|rest| rest.split("</script>").next().unwrap()).collect();
    assert_eq!(charts.len(), 4 + 2, "two figures of the sweep twice, and two of the single cell");
    for chart in charts {
        assert!(chart.contains("\"run 2 (sim:") && chart.contains("\"run 3 (sim:"), "{chart}");
    }
    assert_eq!(runs.place.succeeds(&["compare", "1", "2", "last"]), told, "the same runs give the same words");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let runs = Runs::new(PLAN);
    runs.add(X25_M, "1");
    runs.add(X25_M, "2");
    let refused = |arguments: &[&str]| runs.place.refuses(&[&["compare"], arguments].concat());
    assert!(refused(&["1"]).contains("a comparison needs two"));
    assert!(refused(&["1", "1"]).contains("run 1 was given twice"));
    assert!(refused(&["1", "7"]).contains('7'));
    assert!(refused(&["1", "2", "--fail-if-worse", "much"]).contains("such as 5%"));
    runs.place.succeeds(&["review", X25_M, "--plan", &runs.place.short_plan()]);
    let said = refused(&["1", "3"]);
    assert!(said.contains("runs 1 and 3 share no point") && said.contains("step `read`"), "{said}");
    let store = rusqlite::Connection::open(runs.place.store()).unwrap();
    store.execute("UPDATE run SET state = 'running' WHERE id = 2", []).unwrap();
    assert!(refused(&["1", "2"]).contains("run 2 was interrupted"));
    store.execute("UPDATE run SET state = 'failed', error = 'the disk is gone' WHERE id = 2", []).unwrap();
    let said = refused(&["1", "2"]);
    assert!(said.contains("run 2 failed: the disk is gone") && said.contains("--resume 2"), "{said}");
}

#[test]
fn cells_that_are_not_shared_are_named() {
    let runs = Runs::new(PLAN);
    runs.add(X25_M, "1");
    std::fs::write(&runs.plan, PLAN.replace("number_ios = 200", "number_ios = 300")).unwrap();
    runs.add(X25_M, "2");
    let told = runs.place.succeeds(&["compare", "1", "2"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("Step stream: 1 point not compared with run 2: the other run has another workload"),
        "{told}"
    );
    let document = runs.document(&["1", "2"]);
    assert_eq!(document["not_compared"][0]["step"], "stream");
    let usual = |one: &&Value| ["throughput", "latency", "p99"].contains(&one["aspect"].as_str().unwrap());
    assert_eq!(document["comparisons"].as_array().unwrap().iter().filter(usual).count(), 6);
}
