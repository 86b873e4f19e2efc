//! Repeated reviews as table, document and page.

use std::collections::BTreeMap;

use assay_report::replication::{html, json, text};
use block::Seed;
use drive::rig::{Bottleneck, RigPart};
use lab::replicate::{Answer, Beside, MissingPart, PartCondition, Replication, parse};
use serde_json::{Value, json as object};

const FIGURES: &str = r#"
review = "r"
title = "A review"
source = "A magazine, 2009"
about = "As printed."

[[group]]
title = "Rates"
tolerance = "10%"
median = "4%"

[[group.series]]
title = "Random reads"
unit = "IOPS"
figures = [
    { id = "r/read/512", use = "check", value = 9115 },
    { id = "r/read/1024", use = "fit", value = 8205 },
    { id = "r/read/2048", use = "check", value = 604, odd = "three times another" },
]

[[group.series]]
title = "Writes <new> over worn"
figures = [
    { id = "r/ratio", use = "check", ratio = ["r/a", "r/b"], at_least = 3 },
    { id = "r/access", use = "check", below = 0.1 },
    { id = "r/lost", use = "check", about = 200 },
    { id = "r/database", use = "check", value = 1344.5, unmeasured = "no database" },
]
"#;

const COMMAND: &str = "assay replicate ./r.toml --seed 7";

fn made() -> Replication {
    let published = parse(FIGURES).unwrap();
    let measured = [Some(9000.0), Some(8205.0), Some(1600.0), Some(2.4), Some(0.09), None, None];
    let mut answers = published.figures().cloned().zip(measured).map(|(figure, measured)| Answer { figure, measured });
    let answers = vec![vec![answers.by_ref().take(3).collect(), answers.collect()]];
    Replication {
        published,
        about: "As it was.".to_owned(),
        seed: Seed::new(7),
        conditions: vec![PartCondition { part: "p".into(), target: "x25-m".into(), title: "Intel X25-M".into() }],
        drives: BTreeMap::new(),
        answers,
        limits: vec![
            ("r/a".into(), Bottleneck { part: RigPart::Host, busy: 98 }),
            ("r/b".into(), Bottleneck { part: RigPart::Drives, busy: 12 }),
            ("r/c".into(), Bottleneck { part: RigPart::Host, busy: 100 }),
        ],
        besides: vec![Beside { id: "r/a".into(), measured: 12.0, unit: "s" }],
        missing: vec![MissingPart {
            part: "q".into(),
            target: "x26-m".into(),
            why: "there is no simulated drive `x26-m`".into(),
            failed: false,
        }],
    }
}

#[test]
fn the_table_has_published_beside_measured_with_fitted_and_checked_errors_apart() {
    let told = text(&[made()], 80, false);
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let line = |start: &str| {
        told.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{told}"))
    };
    let words = |start: &str| line(start).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words("512"), "512 9,115 9,000 −1.3 %");
    assert_eq!(words("1024"), "1024 8,205 8,210 +0 %");
    assert_eq!(words("2048"), "2048 604 1,600 (+165 %)");
    assert_eq!(words("ratio"), "ratio ≥ 3 2.40 ▲ −20 %");
    assert_eq!(words("access"), "access < 0.1 0.0900 holds");
    assert_eq!(words("lost"), "lost about 200 –");
    assert!(
        line("1024").chars().count() < line("512").chars().count(),
        "the checked column stands right of the fitted:\n{told}"
    );
    let told_first = told.lines().nth(1).unwrap();
    assert!(told_first.starts_with("3 of 4 figures met: fitted 1 of 1, checked 2 of 3; worst miss −20 %"), "{told}");
    assert!(told.replace('\n', " ").contains("worst miss −20 %, r/ratio: 2.40, published ≥ 3."), "{told}");
    assert!(told.contains("Fitted: 1 of 1 met") && told.contains("Checked: 2 of 3 met"), "{told}");
    assert!(told.contains("Incomplete: one figure was not measured."), "{told}");
    assert!(told.contains("Excluded: three times another") && told.contains("Not measured: no database"), "{told}");
    assert!(told.contains("there is no simulated drive `x26-m`"), "{told}");
    assert!(told.contains("Bottleneck host CPU, 98 to 100 % busy: r/a, r/c."), "{told}");
    assert!(told.contains("Bottleneck drives: r/b."), "{told}");
    assert!(text(&[made()], 80, true).contains("\x1b[33m"), "what is missed is coloured");
}

#[test]
fn a_review_without_a_miss_names_its_largest_error() {
    let mut replication = made();
    replication.answers[0][1][0].measured = Some(3.1);
    let told = text(&[replication], 200, false).replace('\u{a0}', " ");
    let first = told.lines().nth(1).unwrap();
    let expected = "4 of 4 figures met: fitted 1 of 1, checked 3 of 3; largest error −1.3 %, r/read/512: 9,000, \
        published 9,115.";
    assert_eq!(first, expected);
    let mut nothing = made();
    nothing.answers.iter_mut().flatten().flatten().for_each(|answer| answer.measured = None);
    assert!(text(&[nothing], 200, false).contains("No published figure was measured."));
}

#[test]
fn a_document_has_every_figure_with_its_error() {
    let document: Value = serde_json::from_str(&json(&[made()], "0.1.0")).unwrap();
    let figures = document["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 7);
    let first = &figures[0];
    assert_eq!(
        (&first["id"], &first["use"], &first["unit"]),
        (&object!("r/read/512"), &object!("check"), &object!("IOPS"))
    );
    assert_eq!(
        (&first["published"], &first["measured"], &first["met"]),
        (&object!(9115.0), &object!(9000.0), &object!(true))
    );
    assert!((first["error"].as_f64().unwrap() - (9000.0 / 9115.0 - 1.0)).abs() < 1e-12);
    assert_eq!(figures[2]["odd"], "three times another");
    assert_eq!((&figures[3]["expect"], &figures[3]["met"]), (&object!({ "at_least": 3.0 }), &object!(false)));
    assert_eq!(figures[4]["expect"], object!({ "below": 0.1 }));
    assert_eq!(
        (&figures[5]["measured"], &figures[5]["error"], &figures[5]["met"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let review = &document["reviews"][0];
    assert_eq!(review["limits"][0], object!({ "id": "r/a", "part": "host CPU", "busy_percent": 98 }));
    assert_eq!((&review["seed"], &review["conditions"][0]["target"]), (&object!(7), &object!("sim:x25-m")));
    assert_eq!(review["groups"][0]["verdict"], "incomplete");
    assert_eq!(review["groups"][0]["fit"]["judged"], 1);
    assert_eq!(
        (&review["missing"][0]["target"], &review["measured_besides"][0]["id"]),
        (&object!("sim:x26-m"), &object!("r/a"))
    );
}

#[test]
fn a_page_has_a_section_a_chart_and_every_figure() {
    let page = html(&[made()], COMMAND, "0.1.0");
    assert!(page.contains("<section class=\"step\" id=\"r\">"), "a section for the review");
    assert_eq!(page.matches("<div class=\"chart\"").count(), 1);
    for figure in made().all() {
        assert!(page.contains(&format!("title=\"{}\"", figure.figure.id)), "{} is in a table", figure.figure.id);
    }
    assert!(page.contains("Writes &lt;new&gt; over worn") && !page.contains("<new>"), "names are no markup");
    let summary = &page[page.find("id=\"summary\"").unwrap()..page.find("<table").unwrap()].replace('\u{a0}', " ");
    assert!(summary.contains("3 of 4 figures met: fitted 1 of 1"), "the sentence stands before every table: {summary}");
    assert!(page.contains(COMMAND));
    assert_eq!(page, html(&[made()], COMMAND, "0.1.0"), "the same gives the same page");
}

#[test]
fn a_table_is_laid_out_as_published_with_ours_and_the_error_beside_each_figure() {
    let layout = r#"
[[table]]
title = "Table 1"
rows = "Size"
columns = [{ head = "Reads", series = "Random reads" }]
"#;
    let mut replication = made();
    replication.published = parse(&format!("{FIGURES}{layout}")).unwrap();
    let page = html(&[replication], COMMAND, "0.1.0").replace('\u{a0}', " ");
    let start = page.find("<caption>Table 1, IOPS</caption>").expect("the table is there");
    let table = &page[start..start + page[start..].find("</table>").expect("it ends")];
    assert_eq!(page.matches("title=\"r/read/512\"").count(), 1, "a series that is laid out is in no other table");
    let row = |label: &str| {
        let start =
            table.find(&format!("<th scope=\"row\">{label}</th>")).unwrap_or_else(|| panic!("{label}: {table}"));
        &table[start..start + table[start..].find("</tr>").expect("rows end")]
    };
    assert!(row("512").contains("9,115") && row("512").contains("9,000") && row("512").contains("−1.3 %"));
    assert!(row("512").contains("off low") && !row("512").contains("†"), "too low, checked: {}", row("512"));
    assert!(row("1024").contains("†"), "fitted: {}", row("1024"));
    assert!(row("2048").contains("(+165 %)") && !row("2048").contains("class=\"number off"), "excluded");
    assert!(row("Fitted †").contains("1 of 1 met") && row("Checked").contains("1 of 1 met; median 1.3 %"), "{table}");
    let missed = page.split("title=\"r/ratio\"").nth(1).expect("it is in a table");
    assert!(missed[..missed.find("</tr>").unwrap()].contains("aria-label=\"not met\""), "{missed}");
}
