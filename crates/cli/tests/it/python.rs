//! The wheel for Python: `scripts/python` builds it and tries all of it. Where that was done for the commit at hand, what is short
//! of its tests is done here too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{other, skip};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A Python in which `scripts/python` has installed the wheel of the commit at hand; otherwise the reason is said.
fn python() -> Option<PathBuf> {
    let places = std::fs::read_dir(root().join("target/python")).into_iter().flatten().flatten();
    let mut pythons: Vec<PathBuf> = places.map(|place| place.path().join("bin/python")).collect();
    pythons.sort();
    let wanted = other(env!("CARGO_BIN_EXE_assay"), &["--version"]);
    let build = |python: &PathBuf| {
        let said = Command::new(python).args(["-c", "import assay._assay as a; print('assay', a.__build__)"]).output();
        said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default()
    };
    let found = pythons.into_iter().rfind(|python| python.exists() && build(python).trim() == wanted.trim());
    if found.is_none() {
        skip("target/python has no wheel of this commit (`scripts/python` builds and tests it)");
    }
    found
}

#[test]
fn the_module_for_python_does_what_the_command_does() {
    let Some(python) = python() else { return };
    let words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long"];
    let pytest = Command::new(&python)
        .args(words)
        // Beside the sources the package without its native part would be found.
        .current_dir(root().join("python/tests"))
        .env("ASSAY_PROGRAM", env!("CARGO_BIN_EXE_assay"))
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&pytest.stdout);
    assert!(pytest.status.success(), "{said}{}", String::from_utf8_lossy(&pytest.stderr));
    println!("{said}");
}
