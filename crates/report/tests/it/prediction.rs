//! How well drives predict, as table, document and page.

use assay_report::prediction::{html, text};
use block::Seed;
use lab::replicate::qos::{Qos, QosAnswer, QosRun, QosTarget, Simulated, parse};
use testkit::figures::{drive, experiment};

const COMMAND: &str = "assay replicate qos --drive drive-1 --seed 3";

/// Six experiments on one drive, of reads and writes, and one on another.
fn figures() -> Qos {
    let mut text = String::new();
    for number in 1..=2 {
        text += &drive(&format!("drive-{number}"), &format!("drive-{number}"), &format!("Drive {number}"));
    }
    let loads = [(1, 20), (1, 30), (1, 40), (1, 50), (1, 60), (1, 70), (2, 20)];
    for (number, load) in loads {
        let points: String =
            ["read p50", "read p99", "read p99.9", "write p50", "write p99", "write p99.9", "read max"]
                .iter()
                .map(|name| format!("{{ q = \"{name}\", v = {load} }}, "))
                .collect();
        let conditions = format!("rw = \"randrw\", bs = 4096, overwrites = 1, offered_total_iops = {load}000");
        text += &experiment(
            &format!("drive-{number}/load-{load}k"),
            &format!("drive-{number}"),
            "check",
            &conditions,
            &points,
        );
    }
    parse(&text).unwrap()
}

/// The first drive simulated, twice as slow as published; the second not.
pub fn made() -> (Qos, QosRun) {
    let qos = figures();
    let answers = qos.groups.iter().map(|group| {
        let answer = |point: &lab::replicate::qos::QosPoint| {
            let simulated = Simulated { value: 2.0 * point.value, rests_on: None };
            QosAnswer::new(point, if group.drive == 0 { Ok(Some(simulated)) } else { Err("it is lost".to_owned()) })
        };
        group.points.iter().map(answer).collect()
    });
    let target = QosTarget {
        name: "drive-1".to_owned(),
        title: "Drive".to_owned(),
        host: Some("nvme-host".to_owned()),
        digest: String::new(),
        blocks: None,
        write_amplification: None,
    };
    let answers = answers.collect();
    let drives = vec![Some(Ok(target)), Some(Err("it is lost".to_owned()))];
    let run = QosRun { seed: Seed::new(3), is_quick: false, drives, answers };
    (qos, run)
}

pub fn page() -> String {
    let (qos, run) = made();
    html(&qos, &run, COMMAND, "0")
}

#[test]
fn percentiles_are_drawn_published_and_simulated_of_the_first_and_last_experiment_and_two_between() {
    let page = page();
    assert_eq!(
        page.matches("latency (µs) by percentile, less is better").count(),
        4,
        "reads and writes, each seen and said"
    );
    let chart = page.split("type=\"application/json\">").nth(1).unwrap().split("</script>").next().unwrap();
    let plot: serde_json::Value = serde_json::from_str(chart).unwrap();
    let lines: Vec<(&str, &str)> = plot["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["name"].as_str().unwrap(), line["line"]["dash"].as_str().unwrap()))
        .collect();
    assert_eq!(lines[..2], [("load-20k, published", "solid"), ("load-20k, simulated", "dash")]);
    let drawn: Vec<&str> = lines.iter().step_by(2).map(|line| line.0.split(',').next().unwrap()).collect();
    assert_eq!(drawn, ["load-20k", "load-30k", "load-50k", "load-70k"]);
    let numbers = |line: usize, axis: &str| -> Vec<f64> {
        plot["data"][line][axis].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert_eq!((numbers(0, "x"), numbers(0, "y")), (vec![2.0, 100.0, 1000.0], vec![20.0; 3]));
    assert_eq!(numbers(1, "y"), [40.0; 3]);
    assert_eq!(plot["layout"]["yaxis"]["type"], "log");
    assert_eq!(page.matches("class=\"chart\"").count(), 2, "none of the drive that was not simulated");
}

#[test]
fn the_page_says_how_to_repeat_it_and_the_text_what_was_not_simulated() {
    assert!(page().contains(COMMAND));
    let (qos, run) = made();
    let told = text(&qos, &run, 80);
    assert!(told.contains("Not simulated: it is lost.") && told.contains("not simulated"), "{told}");
    assert!(!told.contains("no preset"), "{told}");
}

#[test]
fn long_names_are_broken_and_not_cut() {
    let (qos, mut run) = made();
    let long = "drive-1?capacity.user=256MiB&spare=20%";
    run.drives[0].as_mut().unwrap().as_mut().unwrap().name = long.to_owned();
    let told = text(&qos, &run, 80);
    assert!(told.lines().any(|line| line == long), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let group = format!("drive-1/reads of all sizes {}", "and queue depths ".repeat(3).trim_end());
    let text_of = |id: &str| {
        drive("drive-1", "x", "D") + &experiment(id, "drive-1", "check", "bs = 4096", "{ q = \"mean\", v = 9 }")
    };
    let qos = parse(&text_of(&group)).unwrap();
    let answers = vec![vec![QosAnswer::new(&qos.groups[0].points[0], Err("`it` is lost".to_owned()))]];
    run = QosRun { drives: vec![run.drives.swap_remove(0)], answers, ..run };
    let told = text(&qos, &run, 80);
    assert!(told.contains("  reads of all sizes and queue depths and queue\n  depths"), "{told}");
    assert!(html(&qos, &run, COMMAND, "1").contains("Not simulated, <code>it</code> is lost"), "quoted as code");
}
