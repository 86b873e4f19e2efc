use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn what_a_program_says_is_kept_even_if_it_is_much() {
    let ended = Tools::of_system().run("sh", &["-c", "yes | head -c 300000; echo no >&2; exit 3"], LONG).unwrap();
    assert_eq!((ended.stdout.len(), ended.stderr.as_str(), ended.code), (300_000, "no\n", Some(3)));
}

#[test]
fn a_program_that_is_not_there_or_does_not_end_is_told() {
    let said = Tools::of_system().run::<&str>("no-such-program", &[], LONG).unwrap_err().to_string();
    assert!(said.contains("not installed") && said.contains("assay doctor"), "{said}");
    let said =
        Tools::of_system().run("sh", &["-c", "exec sleep 100"], Duration::from_millis(20)).unwrap_err().to_string();
    assert!(said.contains("did not end"), "{said}");
}

/// A program in `folder` that notes what it was asked and then does this.
pub fn fake(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    let folder = folder.display();
    fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >> {folder}/asked\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the programs in `folder` were asked, in order.
pub fn asked(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("asked")).unwrap_or_default().lines().map(str::to_owned).collect()
}
