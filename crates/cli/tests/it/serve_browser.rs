//! `assay serve` in a browser: from the list to a report and a comparison, and a run that is followed as it goes on.

use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::Place;
use crate::support::served::Served;
use testkit::attempt;
use testkit::browser::Browser;

/// What is drawn of points and lines on the page.
const MARKS: &str = "document.querySelectorAll('.scatterlayer path').length";

/// How many results the charts of the steps are of.
const SHOWN: &str =
    "[...document.querySelectorAll('[data-step]')].reduce((sum, step) => sum + Number(step.dataset.kept), 0)";

/// Two runs of a plan, in a place of their own.
fn reviewed() -> Place {
    let place = Place::new();
    let plan = place.short_plan();
    for seed in ["1", "2"] {
        place.succeeds(&[
            "review",
            "sim:x25-m?capacity.user=1GiB",
            "--plan",
            &plan,
            "--seed",
            seed,
            "--out",
            "reports",
        ]);
    }
    place.succeeds(&["run", "sim:x25-e-32", "--rw=randread", "--number_ios=100"]);
    place
}

#[test]
fn a_reader_finds_runs_opens_one_and_compares_two() {
    let Some(mut browser) = Browser::start() else { return };
    let place = reviewed();
    let served = Served::new(&place, &[]);
    browser.look(1280, 900, false);
    browser.go(&served.url("/"));
    assert_eq!(browser.ask("document.querySelectorAll('table.list tbody tr').length"), 3);

    browser.ask("document.querySelector('#plan').value = 'short'");
    browser.ask("document.querySelector('#q').value = 'x25'");
    browser.ask("document.querySelector('.search button').click()");
    browser.until("location.search.includes('plan=short') && document.readyState === 'complete'", "the filter");
    assert_eq!(browser.ask("document.querySelectorAll('table.list tbody tr').length"), 2);
    assert_eq!(browser.ask("document.querySelector('#plan').value"), "short", "the form shows what was asked for");

    browser.follow("document.querySelector('a[href=\"/run/1\"]').click()", "/run/1");
    browser.until(&format!("{MARKS} > 0"), "a chart of the report");
    browser.ask("history.back()");
    browser.until("location.pathname === '/' && document.readyState === 'complete'", "back");
    browser.ask("document.querySelectorAll('table.list .tick input').forEach((tick) => tick.click())");
    browser.follow("document.querySelector('.bar button').click()", "/compare");
    assert_eq!(browser.ask("document.querySelector('h1').textContent"), "Run 2 compared with run 1");
    browser.until(&format!("{MARKS} > 0"), "a chart of the comparison");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn every_page_can_be_read_on_a_phone_a_tablet_and_a_desk_by_day_and_by_night() {
    let Some(mut browser) = Browser::start() else { return };
    let (place, nobody) = (reviewed(), Place::new());
    place.succeeds(&["replicate", &place.small_review(), "--out", "reports"]);
    let served = Served::new(&place, &[]);
    let empty = Served::new(&nobody, &[]);
    let guarded = Served::new(&nobody, &["--token", "a-token-of-20-letters"]);
    let own = [
        "/",
        "/?q=nothing&runs=1,2",
        "/run/1",
        "/run/3",
        "/compare?runs=1,2",
        "/live/1",
        "/drive?target=sim:x25-m%3Fcapacity.user=1GiB",
        "/fleet",
        "/plans",
        "/drives",
        "/run/99",
    ];
    let mut pages: Vec<String> = own.map(|page| served.url(page)).into();
    pages.extend([empty.url("/"), guarded.url("/"), guarded.url("/?token=wrong")]);
    let reports = std::fs::read_dir(place.path("reports")).unwrap().map(|entry| entry.unwrap().path());
    let files = reports.filter(|path| path.extension().is_some_and(|ending| ending == "html"));
    pages.extend(files.map(|path| format!("file://{}", path.display())));
    assert_eq!(pages.len(), own.len() + 3 + 3, "two reports and a replication are files: {pages:?}");
    for page in &pages {
        browser.look(360, 900, false);
        browser.go(page);
        // Charts follow a window that changes, so that each page is opened once.
        for (width, dark) in [360, 820, 1280].into_iter().flat_map(|width| [(width, false), (width, true)]) {
            browser.look(width, 900, dark);
            let faults = browser.faults();
            assert!(faults.is_empty(), "{page} at {width}, {}: {faults:#?}", if dark { "dark" } else { "light" });
            let paper = browser.ask("getComputedStyle(document.body).backgroundColor");
            assert_eq!(paper == "rgb(255, 255, 255)", !dark, "{page} at {width}: {paper}");
        }
    }
    browser.errors.retain(|error| !error.contains("404") && !error.contains("401"));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn with_a_token_a_browser_is_let_in_once_and_for_all() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::new(&place, &["--token", "a-token-of-20-letters"]);
    browser.go(&served.url("/"));
    assert_eq!(browser.ask("document.querySelector('h1').textContent"), "Access token required");
    browser.ask("document.querySelector('#token').value = 'a-token-of-20-letters'");
    browser.ask("document.querySelector('form.token button').click()");
    browser.until("document.querySelector('h1').textContent === 'Runs'", "the list");
    assert_eq!(browser.ask("location.search"), "", "the token is not in the address");
    browser.go(&served.url("/plans"));
    assert_eq!(browser.ask("document.querySelector('h1').textContent"), "Plans");
}

/// A review that takes some seconds, of steps that are kept one after another.
const LONG_PLAN: &str = r#"
name = "long"
title = "Some seconds of reads and writes"
repeats = 10

[[step]]
name = "fill"
title = "Fill"
do = "fill"

[[step]]
name = "read"
title = "Random reads"
rw = "randread"
runtime = "40s"
sweep.iodepth = [1, 2, 4, 8, 16, 32]

[[step]]
name = "write"
title = "Random writes"
rw = "randwrite"
runtime = "40s"
sweep.iodepth = [1, 4, 16, 32]

[[step]]
name = "mixed"
title = "Random reads and writes"
rw = "randrw"
runtime = "40s"
sweep.iodepth = [1, 4, 16, 32]
"#;

/// A review that goes on, until dropped.
struct Review(Child);

impl Drop for Review {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_run_is_followed_and_its_charts_grow_until_it_is_complete() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::new(&place, &[]);
    std::fs::write(place.path("long.toml"), LONG_PLAN).unwrap();
    let mut review =
        place.command(&["review", "sim:x25-m?capacity.user=1GiB", "--plan", "long.toml", "--out", "reports"]);
    let mut review = Review(review.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    while served.get("/api/runs/1/live").status != 200 {
        assert!(review.0.try_wait().unwrap().is_none(), "the review ended before it began");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(served.get("/").body.contains("badge running"), "the list tells that it goes on");
    // The review stands still while it is looked at, until the page shows all that is kept, however busy the machine is.
    let process = review.0.id().to_string();
    let signal = |name: &str| drop(attempt("kill", &[name, &process]));
    // Where it was stopped in the midst of a write to the store, nobody can read there, and the server says so when it has
    // waited: the review goes on and is stopped again.
    let mut stop = || loop {
        signal("-STOP");
        let answer = served.get("/api/runs/1/live");
        if answer.status == 200 {
            let told: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
            let kept = told["steps"].as_array().unwrap().iter().map(|step| step["kept"].as_u64().unwrap()).sum::<u64>();
            return (told["goes_on"] == true, kept);
        }
        assert!(review.0.try_wait().unwrap().is_none(), "the review ended, and still: {}", answer.body);
        eprintln!("stopped again: {}", answer.body);
        signal("-CONT");
        std::thread::sleep(Duration::from_millis(20));
    };
    stop();
    browser.look(1280, 900, false);
    browser.go(&served.url("/live/1"));
    assert_eq!(browser.ask("document.querySelector('#state').textContent"), "running");

    let (mut grown, mut shares, mut shown) = (vec![browser.ask(MARKS).as_u64().unwrap()], Vec::new(), 0);
    loop {
        signal("-CONT");
        std::thread::sleep(Duration::from_millis(20));
        let (goes_on, now) = stop();
        if !goes_on {
            break;
        }
        if now < shown + 30 {
            continue;
        }
        shown = now;
        browser.until(&format!("{SHOWN} === {now}"), "all that is kept");
        let marks = browser.ask(MARKS).as_u64().unwrap();
        if marks > *grown.last().unwrap() {
            grown.push(marks);
        }
        let share = browser.ask("document.querySelector('progress').value").as_f64().unwrap();
        assert!(shares.last().is_none_or(|last| share >= *last), "progress went back: {shares:?}, {share}");
        shares.push(share);
    }
    browser.until("document.querySelector('#state').textContent === 'complete'", "the end");
    assert!(grown.len() >= 3, "charts grew more than once: {grown:?}");
    assert!(shares.iter().any(|share| *share > 0.0 && *share < 1.0), "{shares:?}");
    browser.until("document.querySelector('#report').textContent === 'Report'", "the end");
    let kept = browser.ask("[...document.querySelectorAll('.kept')].map((kept) => kept.textContent).join()");
    assert_eq!(kept, ",60 of 60,40 of 40,40 of 40");
    for step in ["read", "write", "mixed"] {
        let chart = format!("[data-step=step-{step}] .chart .scatterlayer path");
        browser.until(&format!("document.querySelector('{chart}')"), "a chart of each step");
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
    assert_eq!(served.get("/api/runs/1/live").body.matches("\"mark\":\"done\"").count(), 4);
}
