use std::fs;
use std::path::Path;

use super::*;
use crate::tools::tests::{asked, fake};

fn drive(name: &str, transport: &str) -> DeviceInfo {
    DeviceInfo { name: name.to_owned(), transport: Some(transport.to_owned()), ..DeviceInfo::default() }
}

/// What hdparm says of a drive whose security is in this state.
fn security(supported: &str, enabled: &str, locked: &str, frozen: &str) -> String {
    format!(
        "ATA device, with non-removable media\nCommands/features:\n\t   *\tSMART feature set\nSecurity: \n\tMaster password \
         revision code = 65534\n\t{supported}supported\n\t{enabled}enabled\n\t{locked}locked\n\t{frozen}frozen\n\tnot\t\
         expired: security count\n\t\tsupported: enhanced erase\n\t2min for SECURITY ERASE UNIT. 8min for ENHANCED \
         SECURITY ERASE UNIT.\nLogical Unit WWN Device Identifier: 5\n"
    )
}

const NOT: &str = "not\t";

/// An hdparm on a drive in `state` that takes a password and erases, but for what `instead` does: cases of a shell.
fn hdparm(folder: &Path, state: String, instead: &str) {
    fs::write(folder.join("state"), state).unwrap();
    fs::write(folder.join("enabled"), security("", "", NOT, NOT)).unwrap();
    fs::write(folder.join("clear"), security("", NOT, NOT, NOT)).unwrap();
    let cases = "-I*) cat state;; *set-pass*) cp enabled state;; *security-erase*|*disable*) cp clear state;;";
    fake(
        folder,
        "hdparm",
        &format!("PATH=/usr/bin:/bin\ncd {}\ncase \"$*\" in {instead} {cases} esac", folder.display()),
    );
}

fn eraser<'a>(device: &'a DeviceInfo, folder: &Path) -> Eraser<'a> {
    Eraser { device: Some(device), is_file: false, tools: Tools::within(folder), against: Box::new(Vec::new) }
}

#[test]
fn a_secure_erase_sets_a_password_erases_and_looks_again() {
    let folder = tempfile::tempdir().unwrap();
    hdparm(folder.path(), security("", NOT, NOT, NOT), "");
    let sda = drive("sda", "SATA");
    let said = eraser(&sda, folder.path()).erase(PurgeMethod::SecureErase).unwrap();
    assert_eq!(said.as_deref(), Some("The drive was purged by ATA secure erase."));
    assert_eq!(
        asked(folder.path()),
        [
            "hdparm -I /dev/sda",
            "hdparm --user-master u --security-set-pass assay /dev/sda",
            "hdparm -I /dev/sda",
            "hdparm --user-master u --security-erase assay /dev/sda",
            "hdparm -I /dev/sda",
        ]
    );
}

#[test]
fn a_drive_that_would_refuse_is_left_as_it_is() {
    let table = [
        (security("", NOT, NOT, ""), "frozen, as firmware does", true),
        (security("", "", NOT, NOT), "a password is set", true),
        (security("", "", "", NOT), "locked by a password", true),
        (security(NOT, NOT, NOT, NOT), "does not support it", true),
        ("ATA device\n".to_owned(), "does not have ATA's security feature set", true),
        (security("", NOT, NOT, NOT), "", false),
    ];
    for (state, words, refused) in table {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state"), state).unwrap();
        fake(folder.path(), "hdparm", &format!("cat {}/state", folder.path().display()));
        let sda = drive("sda", "SATA");
        let checked = eraser(&sda, folder.path()).check(PurgeMethod::SecureErase);
        assert_eq!(checked.is_err(), refused, "{words}");
        assert!(checked.err().is_none_or(|error| error.to_string().contains(words)), "{words}");
        assert_eq!(asked(folder.path()), ["hdparm -I /dev/sda"], "nothing but looked at");
    }
}

#[test]
fn a_drive_that_somebody_uses_by_now_is_only_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("state"), security("", NOT, NOT, NOT)).unwrap();
    fake(folder.path(), "hdparm", &format!("[ \"$1\" != -I ] || cat {}/state", folder.path().display()));
    fake(folder.path(), "nvme", "echo '[   0]:0x1'");
    let drives = [drive("sda", "SATA"), drive("nvme0n1", "NVMe")];
    let methods = [PurgeMethod::SecureErase, PurgeMethod::NvmeFormat, PurgeMethod::Sanitize];
    for (method, device) in methods.into_iter().zip([&drives[0], &drives[1], &drives[1]]) {
        let against: Box<dyn Fn() -> Vec<String>> = Box::new(|| vec!["it is mounted on /mnt".to_owned()]);
        let said = Eraser { against, ..eraser(device, folder.path()) }.erase(method).unwrap_err().to_string();
        assert!(said.contains("it is mounted on /mnt; end that"), "{said}");
    }
    let (list, identify) = ("nvme list-ns /dev/nvme0 --all", "nvme id-ctrl /dev/nvme0 --output-format=json");
    assert_eq!(asked(folder.path()), ["hdparm -I /dev/sda", list, identify, list, identify]);
}

#[test]
fn an_erasure_that_fails_takes_its_password_away_or_names_it() {
    for (disable, words) in [("0", "is removed again"), ("5", "--security-disable assay /dev/sda` removes it")] {
        let folder = tempfile::tempdir().unwrap();
        let instead =
            format!("*security-erase*) echo 'SECURITY_ERASE: I/O error' >&2; exit 5;; *disable*) exit {disable};;");
        hdparm(folder.path(), security("", NOT, NOT, NOT), &instead);
        let sda = drive("sda", "SATA");
        let said = eraser(&sda, folder.path()).erase(PurgeMethod::SecureErase).unwrap_err().to_string();
        assert!(said.contains("I/O error") && said.contains(words), "{said}");
    }
}

/// What hdparm 9.65 said of a command that the drive of QEMU 7.2 refused, and ended with 0.
const REFUSED: &str = "echo 'SG_IO: bad/missing sense data, sb[]:  70 00 0b 00' >&2;;";

#[test]
fn a_command_that_the_drive_refused_is_no_purge_though_hdparm_ends_well() {
    let sda = drive("sda", "SATA");
    let table = [
        (format!("*set-pass*) {REFUSED}"), "did not take the password for the erase; hdparm said: SG_IO: bad", 3),
        (format!("*security-erase*) {REFUSED}"), "a password is set", 6),
    ];
    for (instead, words, asks) in table {
        let folder = tempfile::tempdir().unwrap();
        hdparm(folder.path(), security("", NOT, NOT, NOT), &instead);
        let said = eraser(&sda, folder.path()).erase(PurgeMethod::SecureErase).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
        assert_eq!(asked(folder.path()).len(), asks, "{:?}", asked(folder.path()));
    }
}

#[test]
fn scsi_sanitize_waits_within_the_command() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "sg_opcodes", "echo '  Command is supported [conforming to SCSI standard]'");
    fake(folder.path(), "sg_sanitize", "");
    for transport in ["SAS", "SCSI"] {
        let sdb = drive("sdb", transport);
        let said = eraser(&sdb, folder.path()).erase(PurgeMethod::Sanitize).unwrap();
        assert_eq!(said.as_deref(), Some("The drive was purged by SCSI sanitize with block erase."));
    }
    let asked = asked(folder.path());
    assert_eq!(
        asked[..2],
        ["sg_opcodes --opcode=0x48,2 /dev/sdb", "sg_sanitize --block --quick --wait --timeout=43200 /dev/sdb"]
    );
    assert_eq!(asked.len(), 4);
}

#[test]
fn a_scsi_drive_without_sanitize_is_only_asked() {
    // sg_opcodes 1.46 and sg_sanitize 1.46 on scsi_debug of Linux 6.1 and on the SCSI disk of QEMU 7.2.
    let not_supported = "echo '  Opcode=0x48  Service_action=0x0002'; echo '  Command is NOT supported'";
    let no_report = "echo 'Report supported operation codes: Illegal request, Invalid opcode' >&2; exit 9";
    let refused = "echo 'sg_sanitize failed: Illegal request, Invalid opcode' >&2; exit 9";
    for (opcodes, words, asks) in
        [(not_supported, "has no SANITIZE with block erase", 1), (no_report, "Illegal request, Invalid opcode", 2)]
    {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "sg_opcodes", opcodes);
        fake(folder.path(), "sg_sanitize", refused);
        let sdb = drive("sdb", "SAS");
        let said = eraser(&sdb, folder.path()).erase(PurgeMethod::Sanitize).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
        assert_eq!(asked(folder.path()).len(), asks);
    }
}

#[test]
fn what_a_controller_does_not_have_is_told_before_it_is_asked_for() {
    use PurgeMethod::{NvmeFormat, Sanitize};
    // Of QEMU 7.2: `"oacs":266, "sanicap":0`.
    let table = [
        (Sanitize, r#"{"oacs":266,"sanicap":0}"#, "no Sanitize command (SANICAP 0); use nvme-format"),
        (Sanitize, r#"{"oacs":23,"sanicap":1}"#, "Sanitize by crypto erase alone"),
        (Sanitize, r#"{"oacs":23,"sanicap":3221225477}"#, "Sanitize by crypto erase and overwrite alone"),
        (NvmeFormat, r#"{"oacs":16,"sanicap":2}"#, "no Format NVM command"),
        (NvmeFormat, r#"{"oacs":266,"sanicap":0}"#, ""),
        (Sanitize, r#"{"oacs":16,"sanicap":2684354563}"#, ""),
        (Sanitize, "an nvme-cli without JSON", ""),
    ];
    for (method, identified, words) in table {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "nvme", &format!("[ \"$1\" != id-ctrl ] || echo '{identified}'"));
        let nvme = drive("nvme0n1", "NVMe");
        let checked = eraser(&nvme, folder.path()).check(method);
        match checked {
            Ok(()) => assert_eq!(words, ""),
            Err(error) => assert!(!words.is_empty() && error.to_string().contains(words), "{words}: {error}"),
        }
    }
}

/// Of public outputs of `hdparm -I`: a laptop's drive whose firmware freezes it, one without the enhanced erase, one with
/// a password set, one that takes longer than the field can say. Written anew by hdparm's format; the README of the corpus has their sources.
#[test]
fn the_time_an_erasure_takes_is_read_in_each_of_hdparms_forms() {
    for (line, minutes) in [
        ("2min for SECURITY ERASE UNIT. 2min for ENHANCED SECURITY ERASE UNIT.", Some(2)),
        ("92min for SECURITY ERASE UNIT. ", Some(92)),
        ("more than 508min for SECURITY ERASE UNIT. more than 508min for ENHANCED SECURITY ERASE UNIT.", Some(508)),
        ("", None),
    ] {
        assert_eq!(ata::minutes(&format!("\tnot\tfrozen\n\t{line}\n")), minutes, "{line}");
    }
}

#[test]
fn nvme_format_and_sanitize_are_asked_for_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let script = "case $1 in list-ns) echo '[   0]:0x1';; sanitize-log) echo 'Sanitize Progress (SPROG) :  65535'; \
                  echo 'Sanitize Status                        (SSTAT) :  0x101';; esac";
    fake(folder.path(), "nvme", script);
    let nvme = drive("nvme0n1", "NVMe");
    eraser(&nvme, folder.path()).erase(PurgeMethod::NvmeFormat).unwrap();
    let said = eraser(&nvme, folder.path()).erase(PurgeMethod::Sanitize).unwrap();
    assert!(said.unwrap().contains("sanitize with block erase"));
    assert_eq!(
        asked(folder.path()),
        [
            "nvme list-ns /dev/nvme0 --all",
            "nvme id-ctrl /dev/nvme0 --output-format=json",
            "nvme format /dev/nvme0n1 -s1 --force",
            "nvme list-ns /dev/nvme0 --all",
            "nvme id-ctrl /dev/nvme0 --output-format=json",
            "nvme sanitize /dev/nvme0 --sanact=2",
            "nvme sanitize-log /dev/nvme0",
        ]
    );
}

#[test]
fn a_controller_with_other_namespaces_and_a_failed_sanitize_are_told() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "nvme", "echo '[   0]:0x1'; echo '[   1]:0x2'");
    let nvme = drive("nvme0n1", "NVMe");
    let said = eraser(&nvme, folder.path()).erase(PurgeMethod::NvmeFormat).unwrap_err().to_string();
    assert!(said.contains("2 namespaces") && asked(folder.path()).len() == 1, "{said}");
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "nvme", "case $1 in sanitize-log) echo 'Sanitize Status (SSTAT) : 0x3';; esac");
    let said = eraser(&nvme, folder.path()).erase(PurgeMethod::Sanitize).unwrap_err().to_string();
    assert!(said.contains("last sanitize failed"), "{said}");
}

#[test]
fn files_partitions_other_drives_and_missing_programs_are_refused_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let partition = DeviceInfo { partition: Some("sda1".to_owned()), ..drive("sda", "SATA") };
    let (sata, nvme, usb) = (drive("sda", "SATA"), drive("nvme0n1", "NVMe"), drive("sdb", "USB"));
    let sas = drive("sdc", "SAS");
    let table = [
        (Some(&partition), false, PurgeMethod::SecureErase, "the partition sda1"),
        (Some(&sata), true, PurgeMethod::SecureErase, "the target is a file"),
        (Some(&nvme), false, PurgeMethod::SecureErase, "attached by NVMe"),
        (Some(&usb), false, PurgeMethod::SecureErase, "attached by USB"),
        (Some(&sata), false, PurgeMethod::Sanitize, "a whole NVMe or SCSI drive"),
        (Some(&sas), false, PurgeMethod::Sanitize, "`sg_sanitize` is not installed"),
        (None, false, PurgeMethod::NvmeFormat, "not a drive that the kernel describes"),
        (Some(&sata), false, PurgeMethod::SecureErase, "`hdparm` is not installed"),
        (Some(&nvme), false, PurgeMethod::NvmeFormat, "`nvme` is not installed"),
    ];
    for (device, is_file, method, words) in table {
        let against: Box<dyn Fn() -> Vec<String>> = Box::new(Vec::new);
        let eraser = Eraser { device, is_file, tools: Tools::within(folder.path()), against };
        let said = eraser.check(method).unwrap_err().to_string();
        assert!(said.contains(words), "{words}: {said}");
        assert_eq!(eraser.erase(method).unwrap_err().to_string(), said);
    }
}

#[test]
fn every_method_has_its_name() {
    for (name, method) in PurgeMethod::ALL {
        assert_eq!((PurgeMethod::named(name), method.name()), (Some(method), name));
    }
    assert_eq!(PurgeMethod::named("shred"), None);
}
