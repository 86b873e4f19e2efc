//! What a reader takes away from the page: the data of each chart and table as CSV, made by the browser. Needs
//! Chromium; without it the tests say that they were skipped.

use std::collections::BTreeMap;

use crate::support;
use crate::support::browser::{chromium, telling};
use assay_report as report;
use lab::{Metric, Outcome, PointOutcome};
use serde::Deserialize;

/// Keeps what is saved in place of saving it.
const WATCH: &str = r#"<script>
  window.__errors = [];
  addEventListener("error", (event) => __errors.push(String(event.message)));
  window.__saved = [];
  // The chart library makes addresses of its own.
  const address = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => { window.__blob = blob; return address(blob); };
  HTMLAnchorElement.prototype.click = function () { __saved.push({ name: this.download, blob: __blob }); };
</script>"#;

/// Presses every button that gives data, and tells what came of it and where links lead.
const TELL: &str = r##"<script>
  (async () => {
    const buttons = [...document.querySelectorAll(".take button")];
    buttons.forEach((button) => button.click());
    const texts = await Promise.all(__saved.map(({ blob }) => blob.text()));
    const there = (link) => document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1))) !== null;
    const links = [...document.querySelectorAll('a[href^="#"]')];
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const told = document.createElement("pre");
    told.id = "told";
    const bytes = new TextEncoder().encode(JSON.stringify({
      files: texts.map((text, i) => ({ name: __saved[i].name, text })),
      things: document.querySelectorAll(".panel, main table").length,
      dead: links.filter((link) => !there(link)).map((link) => link.getAttribute("href")),
      twice: ids.filter((id, place) => ids.indexOf(id) !== place),
      rows: document.querySelectorAll(".here").length,
      errors: __errors,
    }));
    told.textContent = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    document.body.append(told);
  })();
</script>"##;

#[derive(Deserialize)]
struct Told {
    files: Vec<File>,
    /// Charts and tables.
    things: usize,
    /// Links that lead nowhere, and places that are there twice.
    dead: Vec<String>,
    twice: Vec<String>,
    /// Links to rows.
    rows: usize,
    errors: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    name: String,
    text: String,
}

type Row = BTreeMap<String, String>;

impl Told {
    /// The rows of the file of this name, by their heads.
    fn rows(&self, name: &str) -> Vec<Row> {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let file =
            self.files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name} in {names:#?}"));
        let mut reader = csv::Reader::from_reader(file.text.as_bytes());
        let heads = reader.headers().expect("it has heads").clone();
        let row = |record: Result<csv::StringRecord, csv::Error>| {
            let record = record.unwrap_or_else(|error| panic!("{name}: {error}"));
            heads.iter().zip(record.iter()).map(|(head, field)| (head.to_owned(), field.to_owned())).collect()
        };
        reader.records().map(row).collect()
    }
}

fn cells<'o>(outcome: &'o Outcome, step: &str) -> &'o [PointOutcome] {
    let index = outcome.plan.steps.iter().position(|one| one.name == step).expect("the plan has the step");
    &outcome.steps.iter().find(|one| one.index == index).expect("it was measured").points
}

/// `text` is `wanted` to nine digits.
fn is(text: &str, wanted: f64) -> bool {
    text.parse::<f64>().is_ok_and(|found| (found / wanted - 1.0).abs() < 1e-8)
}

#[test]
fn each_chart_and_table_gives_its_figures_with_all_digits_units_and_intervals() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let outcome = support::outcome();
    let told: Told = telling(&chromium, &report::html(&outcome), WATCH, TELL, &["--window-size=1280,2000"]);
    assert!(told.errors.is_empty(), "{:?}", told.errors);
    assert_eq!(told.files.len(), told.things, "a file of every chart and table");

    let chart = told.rows("run-17-random-iops-more-is-better.csv");
    let table = told.rows("run-17-random-all-figures.csv");
    for cell in cells(&outcome, "random") {
        let iops = cell.figure(Metric::Iops).unwrap();
        let (low, high) = iops.bounds().unwrap();
        let size = cell.workload().unwrap().block;
        let of_cell = |row: &&Row| row["Block size (B)"] == size.get().to_string() && is_like(&row["Series"], cell);
        let own: Vec<&Row> = chart.iter().filter(of_cell).collect();
        let means: Vec<&&Row> = own.iter().filter(|row| row["Kind"] == "mean").collect();
        assert_eq!((means.len(), own.len()), (1, 1 + cell.repeats.len()), "{size}: {own:?}");
        let mean = means[0];
        assert!(
            is(&mean["IOPS"], iops.mean) && is(&mean["IOPS, 95 % low"], low) && is(&mean["IOPS, 95 % high"], high),
            "{mean:?} should be {iops:?}"
        );
        for repeat in cell.measurements() {
            let wanted = Metric::Iops.of(repeat).unwrap();
            assert!(
                own.iter().any(|row| row["Kind"] == "single repeat" && is(&row["IOPS"], wanted)),
                "{wanted}: {own:?}"
            );
        }
        let latency = cell.figure(Metric::LatencyMean).unwrap();
        let row = table.iter().find(|row| row["Block size"] == size.to_string() && is_like(&row["Group"], cell));
        let row = row.unwrap_or_else(|| panic!("no row of {size} in {table:?}"));
        // Long latencies are in milliseconds.
        let (unit, scale) = if row.contains_key("Mean, ms") { ("ms", 1e-3) } else { ("µs", 1.0) };
        let (mean, high) = (format!("Mean, {unit}"), format!("Mean, {unit}, 95 % high"));
        assert!(is(&row["IOPS"], iops.mean) && is(&row[&mean], latency.mean * scale), "{row:?}");
        assert!(is(&row[&high], latency.bounds().unwrap().1 * scale), "{row:?}");
    }
}

#[test]
fn a_map_of_latencies_holds_every_request_of_each_stretch_of_time() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    let page = report::html(&support::outcome());
    let told: Told = telling(&chromium, &page, WATCH, TELL, &["--window-size=1280,2000"]);
    let rows = told.rows("run-17-wear-latency-us-over-time-by-share-of-requests-lower-is-better.csv");
    let number = |row: &Row, head: &str| row[head].parse::<f64>().unwrap_or_else(|_| panic!("{head} of {row:?}"));
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for row in &rows {
        assert!(number(row, "Latency (µs), from") < number(row, "Latency (µs), to"), "{row:?}");
        *shares.entry(row["Time (min), from"].clone()).or_default() += number(row, "Share of requests (%)");
    }
    assert!((60..=120).contains(&shares.len()), "an hour in {} columns", shares.len());
    assert!(shares.values().all(|all| (all - 100.0).abs() < 0.1), "{shares:?}");
}

/// Whether a line or a group is of what the cell does.
fn is_like(name: &str, cell: &PointOutcome) -> bool {
    name.to_lowercase().contains(if cell.workload().unwrap().reads() == 0 { "write" } else { "read" })
}

#[test]
fn every_link_leads_somewhere_and_findings_lead_to_their_cell() {
    let Some(chromium) = chromium() else { return println!("skipped: no Chromium here (apt install chromium)") };
    for outcome in [support::outcome(), support::in_rounds(), support::cut_off()] {
        let told: Told = telling(&chromium, &report::html(&outcome), WATCH, TELL, &["--window-size=500,2000"]);
        assert!(
            told.dead.is_empty() && told.twice.is_empty() && told.errors.is_empty(),
            "{:?} {:?}",
            told.dead,
            told.twice
        );
        assert_eq!(told.files.len(), told.things);
        assert!(told.rows > 0);
        let mut names: Vec<&str> = told.files.iter().map(|file| file.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), told.files.len(), "two files have one name: {names:#?}");
    }
    let mut outcome = support::outcome();
    let cell = Some("rw=randread bs=4k".to_owned());
    outcome.findings.push(lab::Finding::of(Some("random".to_owned()), cell, "doubtful".to_owned()));
    assert!(report::html(&outcome).contains("href=\"#step-random:rw-randread-bs-4k\""));
}
