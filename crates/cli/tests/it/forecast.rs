//! What a review will cost, told before it is begun.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{LoopDevice, Place};
use serde_json::Value;

fn json(place: &Place, arguments: &[&str]) -> Value {
    let all = [&["review", "--dry-run", "--format", "json"], arguments].concat();
    serde_json::from_str(&place.succeeds(&all)).unwrap()
}

#[test]
fn a_dry_run_tells_every_step_and_does_nothing() {
    let place = Place::new();
    let plan = place.short_plan();
    let said = place.succeeds(&["review", "new.bin", "--size", "8m", "--plan", &plan, "--dry-run"]);
    for words in ["Purge", "Fill", "Wear", "8 MiB", "≈", "is unknown; give the data sheet's figure with"] {
        assert!(said.contains(words), "{words}:\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert!(!place.path("new.bin").exists() && !place.store().exists(), "nothing was made");
    assert!(!place.path("assay-reports").exists(), "nor a folder for reports");
    std::fs::write(place.path("old.bin"), vec![7; 8 << 20]).unwrap();
    place.succeeds(&["review", "old.bin", "--plan", &plan, "--dry-run"]);
    assert_eq!(std::fs::read(place.path("old.bin")).unwrap(), vec![7; 8 << 20], "an existing file is as it was");
}

#[test]
fn programs_are_told_the_same_in_bytes_and_nanoseconds() {
    let place = Place::new();
    let plan = place.short_plan();
    let told = json(&place, &["new.bin", "--size", "8m", "--plan", &plan, "--rated-endurance", "1GB"]);
    assert_eq!(told["steps"][1]["written_bytes"]["least"], 8 << 20);
    assert_eq!(told["steps"][1]["written_bytes"]["estimate"], false);
    let most = told["written_bytes"]["most"].as_f64().unwrap();
    let share = told["rated_endurance"]["share_most"].as_f64().unwrap();
    assert!((share * 1e9 / most - 1.0).abs() < 1e-9, "{share} of 1 GB is not {most}");
    assert_eq!(told["host_time_ns"], Value::Null);
    assert_eq!(json(&place, &["new.bin", "--size", "8m", "--plan", &plan])["rated_endurance"], Value::Null);
    let simulated = json(&place, &["sim:sata-tlc", "--plan", &plan]);
    assert_eq!(simulated["rated_endurance"]["bytes"], 300_000_000_000_000_u64);
    assert!(simulated["rated_endurance"]["source"].as_str().unwrap().contains("pcworld"));
    assert!(simulated["host_time_ns"].as_u64() > Some(0));
}

#[test]
fn what_a_dry_run_foretells_of_a_file_is_what_is_then_written() {
    let place = Place::new();
    std::fs::write(place.path("fill.toml"), "name = \"fill\"\n[[step]]\nname = \"f\"\ndo = \"fill\"\n[[step]]\nname = \"w\"\nrw = \"randwrite\"\nnumber_ios = 100\nrepeats = 3\n").unwrap();
    let arguments = ["new.bin", "--size", "8m", "--plan", "fill.toml"];
    let told = json(&place, &arguments)["written_bytes"]["most"].as_u64();
    assert_eq!(told, Some((8 << 20) + 3 * 100 * 4096));
    let said = place.assay(&[&["review"], &arguments[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("The plan writes 9.17 MiB and takes"), "told before it begins: {}", said.stderr);
    let foretold = said.stderr.find("The plan writes").unwrap();
    assert!(foretold < said.stderr.find("Run 1:").unwrap(), "{}", said.stderr);
}

#[test]
fn a_wrong_endurance_is_explained_and_a_simulated_review_needs_no_warning() {
    let place = Place::new();
    let plan = place.short_plan();
    assert!(place.refuses(&["review", "--rated-endurance", "150"]).contains("GB, TB, PB"));
    let said = place.assay(&["review", "--plan", &plan]);
    assert!(said.code == Some(0) && !said.stderr.contains("The plan writes"), "{}", said.stderr);
}

#[test]
fn a_dry_run_leaves_a_device_alone() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("device.img"), 16) else { return };
    let plan = place.short_plan();
    std::fs::write(place.path("device.img"), vec![5; 16 << 20]).unwrap();
    let told = json(&place, &[&device.0, "--plan", &plan]);
    assert_eq!(told["capacity_bytes"], 16 << 20);
    assert_eq!(std::fs::read(place.path("device.img")).unwrap(), vec![5; 16 << 20]);
}

/// What a command says first on standard error, which is no terminal; it is ended then.
fn first_words(place: &Place, arguments: &[&str]) -> String {
    let mut command = place.command(arguments);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(running.stderr.take().unwrap()).read_line(&mut told).unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    told
}

/// Parity is written more than once, so that the array cannot be put into the state that a fill leaves.
#[test]
fn a_long_fill_of_an_array_with_parity_is_told_before_it_is_simulated() {
    let place = Place::new();
    let array = "toms-x25e-1?rig.array.level=raid5&rig.array.drives=64&rig.array.stripe=64KiB";
    let told = first_words(&place, &["run", &format!("sim:{array}"), "--rw=randread", "--number_ios=10"]);
    assert!(told.starts_with("About ") && told.contains("minutes in all"), "{told}");
    let told = first_words(&place, &["attach", array, "--worn", "--nbd", "socket"]);
    assert!(told.starts_with("About ") && told.contains("to condition toms-x25e-1"), "{told}");
    let stripes = "sim:toms-x25e-1?rig.array.level=raid0&rig.array.drives=64&rig.array.stripe=64KiB";
    let told = first_words(&place, &["run", stripes, "--rw=randread", "--number_ios=10"]);
    assert_eq!(told, "Fill\n", "it is put into that state");
}
