use std::fs;
use std::path::Path;

use super::*;
use crate::tools::tests::{asked, fake};

fn drive(name: &str, transport: &str) -> DeviceInfo {
    DeviceInfo { name: name.to_owned(), transport: Some(transport.to_owned()), ..DeviceInfo::default() }
}

fn asks(folder: &Path, device: &DeviceInfo, test: SelfTest) -> (Result<SelfTestEnd, SelfTestError>, Vec<u8>) {
    let mut told = Vec::new();
    let asked = Asked::of(device, Tools::within(folder));
    let end = asked.carry_out(test, Duration::ZERO, &mut |done| told.push(done));
    (end, told)
}

/// A program that answers what `cases` of a shell say, and whose `next` prints the texts one after the other, from when
/// `begun` was done.
fn program(folder: &Path, name: &str, cases: &str, texts: &[&str]) {
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.join(format!("{}.text", number + 1)), text).unwrap();
    }
    let script = "PATH=/usr/bin:/bin\nbegun() { touch begun; }\n\
                  next() { number=1; [ ! -e begun ] || { echo >> begun; number=$(($(wc -l < begun) + 1)); }; cat $number.text; }";
    fake(folder, name, &format!("cd {}\n{script}\ncase \"$*\" in {cases} esac", folder.display()));
}

/// What smartctl 7.3 says of an ATA drive whose status byte is this.
fn ata(supported: bool, value: u64, words: &str) -> String {
    serde_json::json!({
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": "/dev/sda", "info_name": "/dev/sda [SAT]", "type": "sat", "protocol": "ATA"},
        "ata_smart_data": {
            "self_test": {"status": {"value": value, "string": words}, "polling_minutes": {"short": 2, "extended": 54}},
            "capabilities": {"values": [25, 3], "self_tests_supported": supported},
        },
    })
    .to_string()
}

#[test]
fn an_ata_drive_is_followed_to_the_end_of_its_test() {
    let before = ata(true, 0, "completed without error");
    let middle = [ata(true, 249, "in progress, 90% remaining"), ata(true, 241, "in progress, 10% remaining")];
    let table = [
        (0, "completed without error", SelfTestOutcome::Passed),
        (25, "was aborted by the host", SelfTestOutcome::Aborted),
        (33, "was interrupted by the host with a reset", SelfTestOutcome::Aborted),
        (121, "completed with read failure", SelfTestOutcome::Failed),
        (53, "could not complete due to a fatal or unknown error", SelfTestOutcome::Failed),
    ];
    for (value, words, outcome) in table {
        let folder = tempfile::tempdir().unwrap();
        let after = ata(true, value, words);
        program(folder.path(), "smartctl", "-t*) begun;; *) next;;", &[&before, &middle[0], &middle[1], &after]);
        let (end, told) = asks(folder.path(), &drive("sda", "SATA"), SelfTest::Long);
        let end = end.unwrap();
        assert_eq!((end.outcome, end.words.as_str(), end.by), (outcome, words, "smartctl"));
        assert_eq!(told, [10, 90]);
        assert!(asked(folder.path()).contains(&"smartctl -t long /dev/sda".to_owned()));
    }
}

#[test]
fn a_drive_that_cannot_or_does_already_is_not_asked() {
    let table = [
        (ata(false, 0, ""), "its SMART capabilities have none"),
        (
            ata(true, 244, "in progress, 40% remaining"),
            "already, 60 % done; wait for its end, or end it with `smartctl -X",
        ),
        (r#"{"device":{"protocol":"ATA"}}"#.to_owned(), "`smartctl -s on` enables it"),
        (
            r#"{"smartctl":{"messages":[{"string":"Smartctl open device: /dev/sda failed: Permission denied"}]}}"#
                .to_owned(),
            "`smartctl -c /dev/sda` said: Smartctl open device: /dev/sda failed: Permission denied",
        ),
        ("no JSON".to_owned(), "said: no JSON"),
    ];
    for (text, words) in table {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "smartctl", "*) next;;", &[&text]);
        let said = asks(folder.path(), &drive("sda", "SATA"), SelfTest::Short).0.unwrap_err().to_string();
        assert!(said.contains(words), "{words}: {said}");
        assert!(!asked(folder.path()).iter().any(|line| line.contains(" -t ")));
    }
    let folder = tempfile::tempdir().unwrap();
    for (device, program) in [(drive("sda", "SATA"), "smartctl"), (drive("nvme0n1", "NVMe"), "nvme")] {
        let said = asks(folder.path(), &device, SelfTest::Short).0.unwrap_err().to_string();
        assert!(said.contains(&format!("`{program}` is not installed")), "{said}");
    }
}

/// What nvme-cli prints of a log; 15 is the result of an entry that was never used.
fn nvme(operation: u64, completion: u64, results: &[u64]) -> String {
    let reports: Vec<_> = results
        .iter()
        .map(|result| serde_json::json!({"Self test result": result, "Self test code": 1, "Power on hours": 9}))
        .collect();
    serde_json::json!({
        "Current Device Self-Test Operation": operation, "Current Device Self-Test Completion": completion,
        "List of Valid Reports": reports,
    })
    .to_string()
}

#[test]
fn an_nvme_drive_is_followed_by_its_log() {
    let (before, middle) = (nvme(0, 0, &[15, 15]), nvme(1, 37, &[15, 15]));
    for (result, outcome) in [(0, SelfTestOutcome::Passed), (4, SelfTestOutcome::Aborted), (7, SelfTestOutcome::Failed)]
    {
        let folder = tempfile::tempdir().unwrap();
        let after = nvme(0, 0, &[result, 15]);
        let cases = "id-ctrl*) echo '{\"oacs\":23}';; device-self-test*) begun;; self-test-log*) next;;";
        program(folder.path(), "nvme", cases, &[&before, &middle, &after]);
        let (end, told) = asks(folder.path(), &drive("nvme0n1", "NVMe"), SelfTest::Short);
        assert_eq!(end.unwrap().outcome, outcome);
        assert_eq!(told, [37]);
        let asked = asked(folder.path());
        assert_eq!(asked[2], "nvme device-self-test /dev/nvme0n1 --self-test-code=1", "{asked:?}");
    }
}

#[test]
fn a_controller_without_self_tests_is_told() {
    // QEMU 7.2 by nvme-cli 2.3.
    let table = [
        ("id-ctrl*) echo '{\"oacs\":266}';;", "no Device Self-test command (OACS)"),
        ("id-ctrl*) echo '/dev/nvme0n1: Permission denied' >&2; exit 1;;", "Permission denied"),
        (
            "id-ctrl*) echo '{\"oacs\":23}';; self-test-log*) echo 'NVMe status: Invalid Field in Command' >&2; exit 1;;",
            "Invalid Field",
        ),
    ];
    for (cases, words) in table {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path(), "nvme", cases, &[]);
        let said = asks(folder.path(), &drive("nvme0n1", "NVMe"), SelfTest::Short).0.unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
        assert!(!asked(folder.path()).iter().any(|line| line.contains("device-self-test")));
    }
}

/// What smartctl 7.3 prints of a SCSI drive's log whose newest entry is this.
fn scsi(remaining: Option<u8>, result: &str) -> String {
    let remaining =
        remaining.map_or(String::new(), |left| format!("Self-test execution status:\t\t{left}% of test remaining\n"));
    format!(
        "=== START OF READ SMART DATA SECTION ===\n{remaining}SMART Self-test log\nNum  Test              Status        \
         segment  LifeTime  LBA_first_err [SK ASC ASQ]\n# 1  Background short  {result:<25}   -    4711                 - \
         [-   -    -]\n# 2  Background long   Failed in first segment     -      10                 - [-   -    -]\n"
    )
}

#[test]
fn a_scsi_drive_is_followed_by_its_log() {
    let (before, middle) = ("No self-tests have been logged\n", scsi(Some(60), "Self test in progress ..."));
    let started = scsi(None, "Self test in progress ...");
    for (result, outcome) in [
        ("Completed", SelfTestOutcome::Passed),
        ("Completed, segment failed", SelfTestOutcome::Failed),
        ("Failed in second segment", SelfTestOutcome::Failed),
        ("Aborted (by user command)", SelfTestOutcome::Aborted),
        ("Aborted (device reset ?)", SelfTestOutcome::Aborted),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cases = "*-c*) echo '{\"device\":{\"protocol\":\"SCSI\"}}';; -t*) begun;; -l*) next;;";
        program(folder.path(), "smartctl", cases, &[before, &started, &middle, &scsi(None, result)]);
        let (end, told) = asks(folder.path(), &drive("sdb", "SAS"), SelfTest::Short);
        assert_eq!(end.unwrap().outcome, outcome, "{result}");
        assert_eq!(told, [0, 40]);
    }
}

#[test]
fn a_scsi_drive_without_a_log_is_not_begun() {
    // scsi_debug of Linux 6.1, and the SCSI disk of QEMU 7.2, by smartctl 7.3.
    let folder = tempfile::tempdir().unwrap();
    let cases = "*-c*) echo '{\"device\":{\"protocol\":\"SCSI\"}}';; *) next; exit 4;;";
    program(folder.path(), "smartctl", cases, &["Device does not support Self Test logging\n"]);
    let said = asks(folder.path(), &drive("sdb", "virtio"), SelfTest::Short).0.unwrap_err().to_string();
    assert!(said.contains("keeps no log of self-tests"), "{said}");
    assert!(!asked(folder.path()).iter().any(|line| line.contains(" -t ")));
}

#[test]
fn what_is_no_drive_has_no_self_test() {
    let said = self_test(&Environment::default(), SelfTest::Short, &mut |_| ()).unwrap_err().to_string();
    assert!(said.starts_with("no self-test: no underlying block device"), "{said}");
    assert_eq!("extended".parse::<SelfTest>().unwrap_err(), "give short or long");
    for (name, test) in SelfTest::ALL {
        assert_eq!((name.parse(), test.name()), (Ok(test), name));
    }
}
