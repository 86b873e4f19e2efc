use block::Seed;
use measurement::{Run, RunId, RunState};
use plan::compare::ContrastSide;
use plan::fleet::{DriveIdentity, FleetDrive, FleetReading, FleetRule};
use plan::gate::Gate;

use super::*;

/// What a drive, or who wrote the store, may call itself.
const HOSTILE: &str = "S1\"><script>x()</script>|=1+1,\nnext";

/// A drive of this serial number whose reads are as fast as `iops` says; none of a run that was cut off.
fn drive(id: i64, serial: &str, iops: Option<f64>) -> FleetDrive {
    let run: Run = serde_json::from_value(serde_json::json!({
        "id": RunId(id), "plan": "p", "plan_text": "", "quick": false, "target": "", "target_identity": "",
        "target_fingerprint": null, "direct": true, "size": null, "seed": Seed::new(1), "repeats": null,
        "state": if iops.is_some() { RunState::Complete } else { RunState::Failed }, "error": iops.is_none().then_some(HOSTILE),
        "started_ms": id, "finished_ms": id + 1, "version": "", "commit": "", "environment": "{}",
    }))
    .unwrap();
    let reading = |iops: f64| FleetReading {
        title: "Random read".to_owned(),
        unit: "IOPS".to_owned(),
        more_is_better: true,
        side: ContrastSide::of_samples([0.999, 1.0, 1.001].map(|one| one * iops).to_vec(), true).unwrap(),
    };
    let identity = DriveIdentity {
        serial: Some(serial.to_owned()),
        slot: Some(format!("bay {id}")),
        model: "M".to_owned(),
        target: format!("/dev/nvme{id}n1"),
        ..DriveIdentity::default()
    };
    FleetDrive { run, identity, readings: iops.map(reading).into_iter().collect(), gate: None, findings: Vec::new() }
}

/// Twelve drives, the third of which is slow and has a name that ends what it stands in, and one that failed.
fn report() -> FleetReport {
    let mut drives: Vec<FleetDrive> =
        (1..=12).map(|id| drive(id, &format!("S{id}x"), Some(1e5 + 100.0 * (id % 5) as f64))).collect();
    drives[2] = drive(3, HOSTILE, Some(7e4));
    drives.push(drive(13, "S13x", None));
    FleetReport { title: "group g".to_owned(), fleet: Fleet::of(drives, FleetRule::default()).unwrap(), effects: None }
}

#[test]
fn every_form_names_the_odd_drive_and_a_strangers_words_end_nothing() {
    let report = report();
    let page = html(&report, "0");
    assert!(!page.contains("<script>x()") && page.contains("S1&quot;&gt;&lt;script&gt;x()"), "names are text");
    assert!(page.contains("1 of 13 drives differs from its peers.") && page.matches("class=\"sheet\"").count() == 13);
    let csv = csv(&report);
    let odd: Vec<&str> = csv.lines().filter(|line| line.ends_with(",worse")).collect();
    assert_eq!(odd.len(), 1, "{csv}");
    assert!(csv.contains("\"S1\"\"><script>x()</script>|=1+1,\nnext\""), "{csv}");
    assert!(csv.contains("13,failed,S13x,,bay 13,,M,/dev/nvme13n1,,incomplete,,,,,,,,,,,\n"), "{csv}");
    let markdown = markdown(&report);
    assert!(markdown.contains(r#"| S1"\>\<script\>x()\</script\>\|=1+1, next | worse |"#), "{markdown}");
    let text = text(&report, 80);
    assert!(text.contains("1 run did not come to an end: S/N S13x in bay 13."), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("/dev/nvme")).count(), 13, "a line a drive: {text}");
    let document: serde_json::Value = serde_json::from_str(&json(&report, "0")).unwrap();
    let verdicts = document["drives"].as_array().unwrap().iter().map(|drive| drive["verdict"].as_str().unwrap());
    assert_eq!(verdicts.filter(|verdict| *verdict == "ok").count(), 11);
    assert_eq!(html(&report, "0"), page, "the same fleet gives the same text");
}

#[test]
fn why_drives_without_a_rated_point_are_inconclusive_is_said_once() {
    let mut report = report();
    for drive in &mut report.fleet.drives[..12] {
        drive.gate = Some(Gate::of(Vec::new(), Vec::new()));
    }
    let why = "Nothing was checked of 12 drives: no point that was measured has a rating.";
    for (form, document) in
        [("text", text(&report, 120)), ("page", html(&report, "0")), ("markdown", markdown(&report))]
    {
        assert_eq!(document.matches(why).count(), 1, "{form}: {document}");
    }
}
