use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

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

/// A program in `folder` that notes what it was asked and then does this.
fn fake(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    let folder = folder.display();
    fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >> {folder}/asked\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn eraser<'a>(device: &'a DeviceInfo, folder: &Path) -> Eraser<'a> {
    Eraser { device: Some(device), is_file: false, tools: Tools::within(folder), against: Box::new(Vec::new) }
}

fn asked(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("asked")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_secure_erase_sets_a_password_erases_and_looks_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("state"), security("", NOT, NOT, NOT)).unwrap();
    fake(folder.path(), "hdparm", &format!("[ \"$1\" != -I ] || cat {}/state", folder.path().display()));
    let sda = drive("sda", "SATA");
    let said = eraser(&sda, folder.path()).erase(PurgeMethod::SecureErase).unwrap();
    assert_eq!(said.as_deref(), Some("The drive was purged by ATA secure erase."));
    assert_eq!(
        asked(folder.path()),
        [
            "hdparm -I /dev/sda",
            "hdparm --user-master u --security-set-pass assay /dev/sda",
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
    let list = "nvme list-ns /dev/nvme0 --all";
    assert_eq!(asked(folder.path()), ["hdparm -I /dev/sda", list, list]);
}

#[test]
fn an_erasure_that_fails_takes_its_password_away_or_names_it() {
    for (disable, words) in [("0", "is removed again"), ("5", "--security-disable assay /dev/sda` removes it")] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state"), security("", NOT, NOT, NOT)).unwrap();
        let script = format!(
            "case \"$*\" in -I*) cat {}/state;; *--security-erase*) echo 'SECURITY_ERASE: I/O error' >&2; exit 5;; \
             *disable*) exit {disable};; esac",
            folder.path().display()
        );
        fake(folder.path(), "hdparm", &script);
        let sda = drive("sda", "SATA");
        let said = eraser(&sda, folder.path()).erase(PurgeMethod::SecureErase).unwrap_err().to_string();
        assert!(said.contains("I/O error") && said.contains(words), "{said}");
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
            "nvme format /dev/nvme0n1 -s1 --force",
            "nvme list-ns /dev/nvme0 --all",
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
    let table = [
        (Some(&partition), false, PurgeMethod::SecureErase, "the partition sda1"),
        (Some(&sata), true, PurgeMethod::SecureErase, "the target is a file"),
        (Some(&nvme), false, PurgeMethod::SecureErase, "attached by NVMe"),
        (Some(&usb), false, PurgeMethod::SecureErase, "attached by USB"),
        (Some(&sata), false, PurgeMethod::Sanitize, "a whole NVMe drive"),
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
