//! A drive's health before a review and after, as a smartctl that the tests bring along tells it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support;
use crate::support::Place;
use crate::support::attached::{Attached, DRIVE, can_attach};
use serde_json::Value;

/// A smartctl that prints the first text when it is first asked, and the second from then on.
fn fake(place: &Place, first: &str, second: &str) -> PathBuf {
    let folder = place.path("bin");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("first.json"), first).unwrap();
    fs::write(folder.join("second.json"), second).unwrap();
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 9\necho \"$@\" >> asked\n\
                  if [ -e again ]; then cat second.json; else touch again; cat first.json; fi\nexit 4\n";
    fs::write(folder.join("smartctl"), script).unwrap();
    fs::set_permissions(folder.join("smartctl"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn nvme(written: u64, used: u64, errors: u64) -> String {
    serde_json::json!({
        "smartctl": {"version": [7, 4], "exit_status": 4}, "model_name": "Samsung SSD 990 PRO 1TB",
        "smart_status": {"passed": true}, "temperature": {"current": 44},
        "nvme_smart_health_information_log": {
            "critical_warning": 0, "available_spare": 100, "available_spare_threshold": 10, "percentage_used": used,
            "data_units_read": 7, "data_units_written": written, "power_on_hours": 100, "media_errors": errors,
        },
    })
    .to_string()
}

/// Reviews a new file with the programs of this folder before all others.
fn review(place: &Place, folder: &Path) -> Output {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let plan = place.short_plan();
    let arguments = ["review", "new.bin", "--size", "8m", "--plan", &plan];
    place.command(&arguments).env("PATH", path).output().unwrap()
}

/// Whether the tests' folder lies on something that has a drive's name; on a tmpfs there is none to be asked about.
fn lies_on_a_drive(place: &Place) -> bool {
    let environment = lab::Environment::with_target(&place.path("new.bin"));
    let found = environment.device.is_some_and(|device| device.transport.as_deref() != Some("virtual"));
    if !found {
        support::skip("the tests' folder lies on no drive");
    }
    found
}

fn health(place: &Place) -> Value {
    serde_json::from_str(&place.succeeds(&["health", "last", "--format", "json"])).unwrap()
}

#[test]
fn what_a_review_did_to_a_drive_is_kept_shown_and_found() {
    let place = Place::new();
    if !lies_on_a_drive(&place) {
        return;
    }
    let folder = fake(&place, &nvme(1_000, 3, 0), &nvme(3_000, 4, 2));
    let output = review(&place, &folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 2, "once before and once after: {asked}");
    assert!(asked.lines().all(|line| line.starts_with("--json -x /dev/")), "{asked}");
    let record = health(&place);
    assert_eq!(record["before"]["health"]["host_written_bytes"], 512_000_000);
    assert_eq!(record["after"]["health"]["host_written_bytes"], 1_536_000_000);
    assert_eq!(record["after"]["health"]["pending"], Value::Null, "not known is not zero");
    let findings = record["findings"].to_string();
    for words in ["uncorrectable errors rose from 0 to 2", "4 % of the rated life is used, 3 % before the run"] {
        assert!(findings.contains(words), "{findings}");
    }
    let report = place.succeeds(&["report", "last", "--out", "again"]);
    let html = fs::read_to_string(report.trim().strip_prefix("Report: ").unwrap()).unwrap();
    for words in ["Health of the drive", "uncorrectable errors rose from 0 to 2", "in units of 512,000 B", "1.43 GiB"] {
        assert!(html.contains(words), "{words}");
    }
    let text = place.succeeds(&["health", "last"]);
    assert!(text.contains("Host writes") && text.contains("+977 MiB"), "{text}");
}

/// The drive that ended the run, not as it was before the step that wore it out.
#[test]
fn a_simulated_drive_that_wore_out_says_so() {
    let place = Place::new();
    let plan = "name = \"life\"\nrepeats = 1\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"w\"\nrw = \"randwrite\"\n\
                bs = \"4k\"\niodepth = 32\nio_size = \"60GiB\"\nkeep-state = true\n";
    fs::write(place.path("life.toml"), plan).unwrap();
    let small = "capacity.user=1GiB&pages_per_block=192&channels=4&dies_per_channel=2&wear.rated_erases=10";
    let said = place.assay(&["review", &format!("sim:pm983-960?{small}"), "--plan", "life.toml"]);
    assert!(said.code != Some(0) && said.stderr.contains("is read-only"), "{}", said.stderr);
    let record = health(&place);
    let after = &record["after"]["health"];
    assert_eq!((&record["before"]["health"]["passed"], &after["passed"]), (&Value::Bool(true), &Value::Bool(false)));
    assert!(
        after["host_written_bytes"].as_u64() > Some(1 << 30) && after["wear_percent"].as_f64() > Some(60.0),
        "{after}"
    );
    assert!(record["findings"].to_string().contains("is failing since this run"), "{record}");
}

#[test]
fn why_a_drives_health_is_not_known_is_told_and_hinders_nothing() {
    let place = Place::new();
    if !lies_on_a_drive(&place) {
        return;
    }
    let denied = r#"{"smartctl":{"exit_status":2,"messages":[{"string":"open failed: Permission denied"}]}}"#;
    let output = review(&place, &fake(&place, denied, denied));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = place.succeeds(&["health", "last"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Permission denied") && text.contains("as root"), "{text}");
    assert_eq!(health(&place)["findings"], serde_json::json!([]));
}

#[test]
fn a_simulated_drive_tells_of_itself_in_the_same_schema() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "sim:x25-m", "--plan", &plan]);
    let record = health(&place);
    assert_eq!(record["before"]["health"]["host_written_bytes"], 0);
    let written = record["after"]["health"]["host_written_bytes"].as_u64().unwrap();
    assert!(written >= 80_026_361_856, "the fill alone is all of the drive, not {written}");
    assert!(record["write_amplification"].as_f64().unwrap() >= 0.99, "{record}");
    let now: Value = serde_json::from_str(&place.succeeds(&["health", "sim:sata-tlc", "--format", "json"])).unwrap();
    assert_eq!(now["after"]["health"]["wear_percent"], 0.0);
    assert!(place.refuses(&["health", "nowhere"]).contains("neither a run nor a target"));
}

/// A smartctl that says this of the drive's self-test once one was begun.
fn tested(place: &Place, value: u64, words: &str) -> std::process::Output {
    let folder = place.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let text = |value: u64, words: &str| {
        serde_json::json!({
            "device": {"protocol": "ATA"}, "smart_status": {"passed": true}, "temperature": {"current": 31},
            "ata_smart_data": {"self_test": {"status": {"value": value, "string": words}},
                               "capabilities": {"self_tests_supported": true}},
        })
        .to_string()
    };
    fs::write(folder.join("before"), text(0, "completed without error")).unwrap();
    fs::write(folder.join("after"), text(value, words)).unwrap();
    let script =
        "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 9\ncase \"$*\" in -t*) cp after before;; *) cat before;; esac\n";
    fs::write(folder.join("smartctl"), script).unwrap();
    fs::set_permissions(folder.join("smartctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    fs::write(place.path("file"), "").unwrap();
    place.command(&["health", "file", "--self-test", "short"]).env("PATH", path).output().unwrap()
}

#[test]
fn a_self_test_passes_fails_or_is_cut_short_and_the_exit_code_says_so() {
    let place = Place::new();
    if !lies_on_a_drive(&place) {
        return;
    }
    let environment = lab::Environment::with_target(&place.path("file"));
    if environment.device.is_some_and(|device| device.transport.as_deref() == Some("NVMe")) {
        return support::skip("the tests' folder lies on an NVMe drive, which nvme-cli is asked about");
    }
    for (value, words, code, said) in [
        (0, "completed without error", 0, "passed (completed without error)"),
        (121, "completed with read failure", 1, "failed its self-test (completed with read failure): back up its data"),
        (25, "was aborted by the host", 1, "did not come to its end (was aborted by the host); run it again"),
    ] {
        let output = tested(&place, value, words);
        let all = [output.stdout, output.stderr].concat();
        let all = String::from_utf8_lossy(&all).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(code) && all.contains(said), "{all}");
        assert!(all.contains("Temperature 31 °C"), "its health is shown whatever came of it: {all}");
    }
}

#[test]
fn only_a_drive_tests_itself() {
    let place = Place::new();
    let table =
        [("last", "name the drive"), ("sim:x25-m", "no self-test; name a device"), ("nowhere", "neither a run nor")];
    for (subject, words) in table {
        assert!(place.refuses(&["health", subject, "--self-test", "short"]).contains(words), "{subject}");
    }
    assert!(place.refuses(&["health", "last", "--self-test", "extended"]).contains("give short or long"));
}

#[test]
fn an_attached_drive_has_the_health_of_the_simulated_one() {
    if !can_attach() {
        return;
    }
    let place = Place::new();
    let drive = Attached::new(&place, &[]);
    drive.fill(&place, 4096, "a", &[]);
    let shown =
        || -> Value { serde_json::from_str(&place.succeeds(&["health", &drive.device, "--format", "json"])).unwrap() };
    assert_eq!(shown()["after"]["health"]["host_written_bytes"], 4096 * 512, "as it is now");
    let source = shown()["after"]["health"]["source"].to_string();
    assert!(source.contains("X25-M") && source.contains(&format!("attached as {}", drive.device)), "{source}");
    let said = place.refuses(&["health", &drive.device, "--self-test", "short"]);
    assert!(said.contains("which has no self-test"), "{said}");
    let plan = place.short_plan();
    place.succeeds(&["review", &drive.device, "--destroy-data", &drive.device, "--plan", &plan]);
    let record = health(&place);
    let written = |moment: &str| record[moment]["health"]["host_written_bytes"].as_u64().unwrap();
    assert!(written("after") > written("before"), "a review reads it before and after: {record}");
}

#[test]
fn an_attached_drive_behind_a_socket_has_its_health_too() {
    if support::tool("setsid").is_none() {
        return support::skip("there is no setsid");
    }
    let place = Place::new();
    place.succeeds(&["attach", DRIVE, "--nbd", "drive.sock", "--daemon"]);
    let text = place.succeeds(&["health", "drive.sock"]);
    place.succeeds(&["detach", "drive.sock"]);
    assert!(text.contains("simulated and attached as") && text.contains("Host writes"), "{text}");
}
