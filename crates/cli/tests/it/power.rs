//! Power and energy from the meter to the document, on a file and on a simulated drive.

use crate::support::Place;
use serde_json::Value;
use testkit::multimeter::{Manner, Multimeter};

/// One workload on a file for so long, with these options; the document.
fn run(place: &Place, time: &str, options: &[&str]) -> Value {
    let fixed = ["run", "./scratch.bin", "--rw=randwrite", "--size=8m", "--time_based", "--runtime", time];
    let document = place.succeeds(&[&fixed[..], &["--format=json"], options].concat());
    serde_json::from_str(&document).unwrap_or_else(|error| panic!("{error} in: {document}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_energy_of_a_run_is_that_of_current_voltage_and_time() {
    let (place, meter) = (Place::new(), Multimeter::new(Manner::Amperes(0.42)));
    let document = run(&place, "1s", &["--power", &meter.at("volts=5"), "--power-baseline=1s"]);
    let (energy, elapsed) = (&document["energy"], number(&document["elapsed_ns"]) / 1e9);
    let expected = 5.0 * 0.42 * elapsed;
    assert!((number(&energy["joules"]) / expected - 1.0).abs() < 0.01, "{energy} for {expected} J");
    assert!((number(&energy["watts_idle"]) / 2.1 - 1.0).abs() < 0.01, "{energy}");
    assert!(number(&energy["joules_above_idle"]).abs() < 0.02 * expected, "the same current flows at rest: {energy}");
    let gib = number(&document["write"]["bytes"]) / f64::from(1 << 30);
    assert!((number(&energy["joules_per_gib"]) * gib / expected - 1.0).abs() < 0.01, "{energy}");
    let thousands = number(&document["write"]["requests"]) / 1e3;
    assert!((number(&energy["joules_per_thousand_requests"]) * thousands / expected - 1.0).abs() < 0.01, "{energy}");
    assert_eq!(energy["meter"], "FLUKE 8846A at 5 V");
    assert_eq!(
        document["findings"].as_array().unwrap().iter().filter(|text| text.to_string().contains("energy")).count(),
        0
    );
    let shown = place.succeeds(&["show", "1"]);
    assert!(shown.contains("Power and energy") && shown.contains("At rest, W"), "{shown}");
}

#[test]
fn people_read_power_and_energy_below_the_figures() {
    let (place, meter) = (Place::new(), Multimeter::new(Manner::Amperes(0.42)));
    let (power, more) = (meter.at("volts=5"), Multimeter::new(Manner::Amperes(0.1)));
    let fixed = ["run", "./scratch.bin", "--rw=randwrite", "--size=8m", "--time_based", "--runtime=1s"];
    let text = place.succeeds(&[&fixed[..], &["--power", &power, "--power", &more.at("volts=12")]].concat());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Power: 3.30 W on average, metered by FLUKE 8846A at 5 V + FLUKE 8846A at 12 V"), "{text}");
    assert!(words.contains("J per GiB") && words.contains("J per 1,000 requests"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_meter_that_fails_midway_costs_the_energy_and_not_the_measurement() {
    let (place, meter) = (Place::new(), Multimeter::new(Manner::Until(8, 0.42)));
    let document = run(&place, "500ms", &["--power", &meter.at("volts=5")]);
    assert!(number(&document["write"]["iops"]) > 0.0);
    assert_eq!((&document["energy"]["joules"], &document["energy"]["watts_mean"]), (&Value::Null, &Value::Null));
    let findings = document["findings"].to_string();
    assert!(findings.contains("FLUKE 8846A at 5 V failed while this was measured"), "{findings}");
}

#[test]
fn a_log_that_does_not_cover_the_time_is_a_finding() {
    let place = Place::new();
    std::fs::write(place.path("log.csv"), "when,watts\n1700000000,2.5\n1700000001,2.5\n").unwrap();
    let document = run(&place, "200ms", &["--power=csv:log.csv?time=when&power=watts&wait=1ms"]);
    assert_eq!(document["energy"]["joules"], Value::Null);
    let findings = document["findings"].to_string();
    assert!(findings.contains("log log.csv goes from 2023-11-14T22:13:20Z to 2023-11-14T22:13:21Z"), "{findings}");
}

#[test]
fn a_simulated_drive_tells_its_own_energy_alike() {
    let place = Place::new();
    let document = place.succeeds(&["run", "sim:x25-m", "--number_ios=5000", "--power-baseline=10s", "--format=json"]);
    let document: Value = serde_json::from_str(&document).unwrap();
    let energy = &document["energy"];
    assert_eq!(energy["meter"], "the simulated drive's own supply");
    assert!((number(&energy["watts_idle"]) - 0.06).abs() < 1e-3, "60 mW by its file: {energy}");
    assert!(number(&energy["watts_mean"]) > 0.06 && number(&energy["joules_above_idle"]) > 0.0, "{energy}");
    assert_eq!(energy["readings"], Value::Null, "its account is exact");
}

#[test]
fn a_meter_where_it_makes_no_sense_is_refused_before_anything_is_touched() {
    let place = Place::new();
    let said = place.refuses(&["run", "sim:x25-m", "--power=rapl"]);
    assert!(said.contains("--power is for files and devices"), "{said}");
    let said = place.refuses(&["run", "./new.bin", "--size=8m", "--power-baseline=1s"]);
    assert!(said.contains("--power-baseline takes a meter"), "{said}");
    let said = place.refuses(&["run", "./new.bin", "--size=8m", "--power=csv:none.csv?time=t&power=p"]);
    assert!(said.contains("none.csv cannot be read"), "{said}");
    let said = place.refuses(&["review", "./new.bin", "--size=8m", "--power=wattmeter"]);
    assert!(said.contains("`wattmeter` is no power meter"), "{said}");
    assert!(!place.path("new.bin").exists());
}

/// A plan whose rest takes the place of `--power-baseline`; a part of it is measured by a process that is interrupted.
#[test]
fn a_review_that_goes_on_with_its_meter_has_the_same_rest() {
    let (place, meter) = (Place::new(), Multimeter::new(Manner::Amperes(0.42)));
    let step =
        |name: &str, time: &str| format!("[[step]]\nname = \"{name}\"\nrw = \"randwrite\"\nruntime = \"{time}\"\n");
    let rest = "[[step]]\nname = \"rest\"\ndo = \"idle\"\ntime = \"1s\"\n";
    let plan = format!("name = \"p\"\nrepeats = 1\n{rest}{}{}", step("first", "1s"), step("second", "4s"));
    std::fs::write(place.path("plan.toml"), plan).unwrap();
    let arguments = ["review", "./scratch.bin", "--size=8m", "--plan=plan.toml", "--power", &meter.at("volts=5")];
    let mut child = place.command(&arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !meter.heard().iter().any(|line| line == "READ?") || begun.elapsed().as_millis() < 3_500 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    child.wait().unwrap();
    let said = place.succeeds(&["review", "--resume", "--power", &meter.at("volts=5")]);
    let row = said.lines().find(|line| line.starts_with("Second")).unwrap_or_else(|| panic!("{said}"));
    let figures: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(figures[1..3], ["2.10", "2.10"], "at rest and at work: {said}");
}

#[test]
fn the_plan_of_power_runs_on_simulated_and_real_drives() {
    let (place, meter) = (Place::new(), Multimeter::new(Manner::Amperes(0.42)));
    let simulated = place.succeeds(&["review", "sim:x25-m", "--plan=power", "--quick"]);
    let real = ["review", "./scratch.bin", "--size=16m", "--plan=power", "--quick", "--repeats=1"];
    let real = place.succeeds(&[&real[..], &["--power", &meter.at("volts=5")]].concat());
    for said in [simulated, real] {
        for step in ["Sequential reads", "Sequential writes", "Random reads", "Random writes", "Database"] {
            let row =
                said.lines().skip_while(|line| !line.contains("Power and energy")).find(|line| line.contains(step));
            assert!(row.is_some_and(|row| !row.contains('–')), "{step}: {said}");
        }
    }
    let report = std::fs::read_dir(place.path("assay-reports")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<String> = report.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(pages.len(), 2);
    for meter in ["the simulated drive's own supply", "FLUKE 8846A at 5 V"] {
        assert!(pages.iter().any(|page| page.contains(&format!("Power and energy, metered by {meter}"))), "{meter}");
    }
}
