//! The doctor's advice on packages, followed to the letter in a Debian that nothing was installed in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Place, skip, tool};
use serde_json::Value;

/// Runs a line of a shell in the system at `root`, with processes of its own.
fn inside(root: &Path, line: &str) -> Output {
    let proc = format!("--mount-proc={}", root.join("proc").display());
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", &proc, "chroot"]).arg(root).args(["sh", "-c", line]);
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
    command.env("DEBIAN_FRONTEND", "noninteractive").output().unwrap()
}

/// What the doctor calls missing: name and remedy.
fn missing(root: &Path) -> Vec<(String, String)> {
    let found = inside(root, "cd /root && assay doctor --format json");
    let document: Value = serde_json::from_slice(&found.stdout).unwrap_or_else(|error| panic!("{error}: {found:?}"));
    let checks = document["checks"].as_array().unwrap();
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    checks
        .iter()
        .filter(|check| check["status"] == "missing")
        .map(|check| (text(check, "name"), text(check, "remedy")))
        .collect()
}

#[test]
fn the_advice_on_packages_leads_a_fresh_debian_to_all_green() {
    if !testkit::soak::is_whole() {
        return skip(testkit::soak::WHOLE);
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |key: &str| release.lines().find_map(|line| line.strip_prefix(key));
    let (Some("debian"), Some(suite)) = (value("ID="), value("VERSION_CODENAME=")) else {
        return skip("the machine is no Debian, whose libraries the program was linked with");
    };
    if tool("mmdebstrap").is_none() || !rustix::process::geteuid().is_root() {
        return skip("it takes root and mmdebstrap");
    }
    let place = Place::new();
    let root = place.path("debian");
    let made = Command::new("mmdebstrap").args(["--variant=minbase", suite]).arg(&root).output().unwrap();
    if !made.status.success() {
        return skip(&format!("no Debian could be made: {}", String::from_utf8_lossy(&made.stderr)));
    }
    fs::copy(env!("CARGO_BIN_EXE_assay"), root.join("usr/local/bin/assay")).unwrap();
    fs::copy("/etc/resolv.conf", root.join("etc/resolv.conf")).unwrap();
    let first = missing(&root);
    assert!(first.len() > 8, "nearly all is missing: {first:?}");
    assert!(first.iter().any(|(_, remedy)| remedy == "apt-get update && apt-get install smartmontools"), "{first:?}");
    // A second round has what only shows once something else is there.
    for _ in 0..2 {
        for (name, remedy) in missing(&root) {
            let done = inside(&root, &format!("yes | ( {remedy} )"));
            assert!(done.status.success(), "{name}: {remedy}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
    assert_eq!(missing(&root), []);
}
