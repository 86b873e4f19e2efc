//! What a browser makes of the report: no script error, and every chart drawn. Needs Chromium; without
//! it the tests say that they were skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::support;
use crate::support::browser::{browse, chromium, telling};
use assay_report as report;
use block::Seed;
use drive::preset::Preset;
use lab::plan::{PlanLength, catalog, parse};
use lab::{Environment, Outcome, Session, Silent, Simulated, recall};
use serde::Deserialize;
use store::{NewRun, Store};

/// Collects script errors from the first moment on.
const WATCH: &str = r#"<script>
  window.__errors = [];
  addEventListener("error", (event) => __errors.push(String(event.message)));
  addEventListener("unhandledrejection", (event) => __errors.push("promise: " + event.reason));
  console.error = (...words) => __errors.push("console: " + words.join(" "));
</script>"#;

/// Writes what was drawn into the page once every chart is there.
const TELL: &str = r#"<script>
  const tell = (left) => {
    const unfolded = [...document.querySelectorAll(".chart")].filter((chart) => !chart.closest("details:not([open])"));
    const charts = unfolded.map((chart) => {
      const box = chart.querySelector("svg.main-svg")?.getBoundingClientRect();
      const own = chart.getBoundingClientRect();
      return {
        step: chart.closest("section").id,
        width: box ? box.width : 0,
        height: box ? box.height : 0,
        room: own.width,
        marks: chart.querySelectorAll(".scatterlayer path, .heatmaplayer image").length,
        ink: chart._fullLayout ? chart._fullLayout.font.color : "",
      };
    });
    if (left > 0 && charts.some((chart) => chart.marks === 0)) return setTimeout(tell, 50, left - 1);
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const told = document.createElement("pre");
    told.id = "told";
    told.textContent = btoa(JSON.stringify({ charts, errors: __errors, wide }));
    document.body.append(told);
  };
  tell(200);
</script>"#;

/// What the page told.
#[derive(Debug, Deserialize)]
struct Told {
    charts: Vec<Chart>,
    errors: Vec<String>,
    /// How many pixels the page is wider than the window.
    wide: f64,
}

#[derive(Debug, Deserialize)]
struct Chart {
    step: String,
    width: f64,
    height: f64,
    room: f64,
    marks: usize,
    ink: String,
}

/// What the page `html` tells when opened with `options`.
fn told(chromium: &Path, html: &str, options: &[&str]) -> Told {
    telling(chromium, html, WATCH, TELL, options)
}

/// Checks that the report of `outcome` shows a chart for every step and that no script of it fails.
fn every_step_has_a_visible_chart(chromium: &Path, outcome: &Outcome) {
    let told = told(chromium, &report::html(outcome), &["--window-size=1280,2000"]);
    assert!(told.errors.is_empty(), "{:?}", told.errors);
    for step in &outcome.steps {
        let anchor = format!("step-{}", outcome.plan.steps[step.index].name);
        assert!(told.charts.iter().any(|chart| chart.step == anchor), "no chart in {anchor}");
    }
    for chart in &told.charts {
        assert!(chart.width > 300.0 && chart.height > 200.0 && chart.marks > 0, "{chart:?}");
    }
    assert!(told.wide <= 0.0, "the page is {} px wider than the window", told.wide);
}

/// Published percentiles beside simulated ones, on a wide window and a narrow one.
#[test]
fn charts_of_percentiles_are_drawn_on_wide_and_narrow_windows() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    for window in ["--window-size=1280,2000", "--window-size=360,2000"] {
        let told = told(&chromium, &crate::prediction::page(), &[window]);
        assert!(told.errors.is_empty(), "{window}: {:?}", told.errors);
        assert_eq!(told.charts.len(), 2, "{window}: reads and writes");
        for chart in &told.charts {
            assert!(chart.marks >= 8 && chart.width <= chart.room + 1.0, "{window}: {chart:?}");
        }
        assert!(told.wide <= 0.0, "{window}: {} pixels too wide", told.wide);
    }
}

#[test]
fn every_step_of_a_made_up_review_has_a_visible_chart_and_no_script_fails() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    every_step_has_a_visible_chart(&chromium, &support::outcome());
}

#[test]
fn every_step_of_a_review_in_rounds_has_a_visible_chart_and_no_script_fails() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let outcome = support::in_rounds();
    every_step_has_a_visible_chart(&chromium, &outcome);
    let narrow = told(&chromium, &report::html(&outcome), &["--window-size=500,2000"]);
    assert!(narrow.errors.is_empty() && narrow.wide <= 0.0, "{:?}, {} px too wide", narrow.errors, narrow.wide);
}

#[test]
fn every_step_of_a_review_of_the_x25_m_has_a_visible_chart_and_no_script_fails() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let folder = tempfile::tempdir().expect("a folder for the store");
    let mut store = Store::open(&folder.path().join("results.sqlite")).expect("the store can be made");
    let source = catalog::find("review").expect("the plan is built in");
    let plan = parse(&source.text, PlanLength::Quick).expect("the plan has no mistake");
    let run = store
        .begin(&NewRun {
            plan: plan.name.clone(),
            plan_text: plan.text.clone(),
            quick: true,
            simulated: false,
            target: "sim:x25-m".to_owned(),
            target_identity: "the simulated X25-M".to_owned(),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: None,
            drive: None,
            seed: Seed::new(1),
            repeats: None,
            started_ms: 0,
            version: "0".to_owned(),
            commit: String::new(),
            environment: serde_json::to_string(&Environment::of_host()).expect("it serialises"),
            annotations: store::Annotations::default(),
            group: None,
            shard: None,
        })
        .expect("the run can be entered");
    let drive = Preset::find("x25-m").expect("the drive is built in");
    let store = Mutex::new(store);
    let session = Session::new(&store, run, &plan, Seed::new(1), &Silent).expect("the store can be read");
    session.carry_out(&mut Simulated::new(drive), false).expect("the plan can be carried out");
    let outcome = recall(&store.into_inner().expect("nothing panicked"), run).expect("what was kept can be read");
    assert_eq!(outcome.steps.len(), 20, "the plan's measuring steps");
    every_step_has_a_visible_chart(&chromium, &outcome);
}

#[test]
fn charts_follow_a_dark_page_and_a_narrow_one() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let page = report::html(&support::cut_off());
    let light = told(&chromium, &page, &["--window-size=1280,2000", "--blink-settings=preferredColorScheme=1"]);
    let dark = told(&chromium, &page, &["--window-size=500,2000", "--blink-settings=preferredColorScheme=0"]);
    assert!(light.errors.is_empty() && dark.errors.is_empty(), "{:?} {:?}", light.errors, dark.errors);
    assert_eq!(light.charts.len(), dark.charts.len());
    for (light, dark) in light.charts.iter().zip(&dark.charts) {
        assert_ne!(light.ink, dark.ink, "{}", light.step);
        assert!(dark.width > 0.0 && dark.width <= dark.room + 1.0, "{dark:?}");
    }
    assert!(dark.wide <= 0.0, "the page is {} px wider than the window", dark.wide);
}

/// What a page of 360 pixels tells; a window cannot be so narrow, but a frame in it can.
const PHONE: &str = r#"<script>
  const frame = document.createElement("iframe");
  frame.width = 360;
  frame.height = 800;
  frame.srcdoc = document.getElementById("page").textContent.replaceAll("<\\/script", "</script");
  frame.onload = () => setTimeout(() => {
    const page = frame.contentDocument;
    const wide = page.documentElement.scrollWidth - page.documentElement.clientWidth;
    const silent = [...page.querySelectorAll(".chart")].filter((chart) => (chart.getAttribute("aria-label") ?? "").length < 20);
    const reached = [...page.querySelectorAll("button, summary, .scroll, a[href]")].every((one) => one.tabIndex >= 0);
    const covered = [...page.querySelectorAll("table.key tbody .unit")].filter((unit) => {
      unit.scrollIntoView({ block: "center", behavior: "instant" });
      const { left, right, top, bottom } = unit.getBoundingClientRect();
      return page.elementFromPoint((left + right) / 2, (top + bottom) / 2) !== unit;
    });
    const crossed = [...page.querySelectorAll(".chart")].flatMap((chart) => {
      const boxes = [...chart.querySelectorAll(".xtick text, .annotation-text")].map((text) => text.getBoundingClientRect());
      return boxes.flatMap((one, i) => boxes.slice(i + 1).filter((two) => one.left < two.right - 2 && two.left < one.right - 2
        && one.top < two.bottom - 6 && two.top < one.bottom - 6));
    });
    const told = document.createElement("pre");
    told.id = "told";
    told.textContent = btoa(JSON.stringify({ wide, silent: silent.length, reached, first: page.querySelector("a").className,
      covered: covered.length, crossed: crossed.length }));
    document.body.append(told);
  }, 500);
  document.body.append(frame);
</script>"#;

#[derive(Debug, Deserialize)]
struct OnPhone {
    wide: f64,
    silent: usize,
    reached: bool,
    first: String,
    /// How many units of key figures lie under something.
    covered: usize,
    /// How many labels of charts lie over each other.
    crossed: usize,
}

#[test]
fn a_phone_of_360_pixels_scrolls_no_page_sideways_and_everything_is_reached_by_keyboard() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    for outcome in [support::outcome(), support::in_rounds()] {
        let page = report::html(&outcome).replace("</script", "<\\/script");
        let frame =
            format!("<html><head></head><body><script type=\"text/plain\" id=\"page\">{page}</script></body></html>");
        let told: OnPhone = telling(&chromium, &frame, "", PHONE, &["--window-size=500,900"]);
        assert!(told.wide <= 0.0, "the page is {} px wider than the phone", told.wide);
        assert_eq!((told.silent, told.reached), (0, true), "{told:?}");
        assert_eq!((told.covered, told.crossed), (0, 0), "{told:?}");
        assert_eq!(told.first, "skip", "the first thing that a keyboard comes to skips to the content");
    }
}

#[test]
fn on_paper_every_step_stands_with_its_chart_and_no_paragraph_is_parted() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let folder = tempfile::tempdir().expect("a folder for the browser");
    let [page, print] = ["report.html", "report.pdf"].map(|name| folder.path().join(name));
    let mut outcome = support::outcome();
    // Long enough to lie across the end of a page wherever a step begins.
    let about = "What such requests are for, and who waits for them. ".repeat(40);
    outcome.plan.steps.iter_mut().for_each(|step| step.about = Some(about.clone()));
    std::fs::write(&page, report::html(&outcome)).expect("the page is written");
    let options = [&format!("--print-to-pdf={}", print.display())[..], "--no-pdf-header-footer"];
    browse(&chromium, folder.path(), &options, &page);
    let Ok(text) = Command::new("pdftotext").arg(&print).arg("-").output() else {
        return println!("skipped: no pdftotext here (apt install poppler-utils)");
    };
    let text = String::from_utf8(text.stdout).expect("it is text");
    let words: Vec<String> =
        text.split('\u{c}').map(|page| page.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(words.len() > 3, "a review has several pages");
    for step in &outcome.steps {
        let step = &outcome.plan.steps[step.index];
        let begins = format!("{} {}", step.title, about.trim_end());
        let pages: Vec<&String> = words.iter().filter(|page| page.contains(begins.trim_end())).collect();
        assert!(
            pages.iter().any(|page| page.contains("is better")),
            "{} is parted from its chart: {words:#?}",
            step.title
        );
    }
    let all = words.join(" ");
    assert!(!all.contains("Data as CSV") && !all.contains("Skip to the content"), "paper has no buttons");
}

/// Leaves pictures of the report for a look by eye where `ASSAY_REPORT_PICTURES` names a folder.
#[test]
#[ignore = "makes pictures to look at; run with ASSAY_REPORT_PICTURES=FOLDER"]
fn pictures_can_be_taken() {
    let folder =
        PathBuf::from(std::env::var_os("ASSAY_REPORT_PICTURES").expect("ASSAY_REPORT_PICTURES names a folder"));
    let chromium = chromium().expect("pictures need Chromium");
    let scratch = tempfile::tempdir().expect("a folder for the browser");
    for (name, outcome) in
        [("complete", support::outcome()), ("cut-off", support::cut_off()), ("rounds", support::in_rounds())]
    {
        let page = folder.join(format!("{name}.html"));
        std::fs::write(&page, report::html(&outcome)).expect("the page is written");
        let frame = folder.join(format!("{name}-phone.html"));
        let phone = format!(
            "<body style='margin:0'><iframe src='{name}.html' width=390 height=14000 style='border:0'></iframe>"
        );
        std::fs::write(&frame, phone).expect("the frame is written");
        for (look, page, size, scheme) in
            [("light", &page, "1280,11000", 1), ("dark", &page, "1280,11000", 0), ("phone", &frame, "500,14000", 1)]
        {
            let picture = format!("--screenshot={}", folder.join(format!("{name}-{look}.png")).display());
            let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
            browse(&chromium, scratch.path(), &[&picture, &format!("--window-size={size}"), &scheme], page);
        }
        let print = format!("--print-to-pdf={}", folder.join(format!("{name}.pdf")).display());
        browse(&chromium, scratch.path(), &[&print, "--no-pdf-header-footer"], &page);
    }
}
