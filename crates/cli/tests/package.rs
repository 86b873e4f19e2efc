//! Packages: Debian's installs, runs and is removed without a trace; the static one is made with musl's compiler.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Place, skip, tool};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// All files below a folder, apart from the package manager's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("var/lib/dpkg") => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn the_package_installs_runs_and_is_removed_cleanly() {
    let missing = ["cargo-deb", "dpkg", "gzip"].into_iter().find(|name| tool(name).is_none());
    if let Some(missing) = missing {
        return skip(&format!("{missing} is not installed (`cargo install cargo-deb --locked` brings cargo-deb)"));
    }
    if !rustix::process::geteuid().is_root() {
        return skip("installing a package takes root");
    }
    let made = Command::new("bash").arg(root().join("scripts/package")).args(["deb", "dev"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let package = root().join(String::from_utf8(made.stdout).unwrap().lines().last().unwrap().trim());

    let place = Place::new();
    let other = place.path("system");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        fs::create_dir_all(other.join(folder)).unwrap();
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        fs::write(other.join(file), "").unwrap();
    }
    let dpkg = |arguments: &[&str]| {
        // What it depends on is on this system, not on that one.
        let root = format!("--root={}", other.display());
        let out = Command::new(tool("dpkg").unwrap())
            .args([root.as_str(), "--force-depends", "--force-script-chrootless"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    dpkg(&["--install", &package.display().to_string()]);
    for file in [
        "usr/bin/assay",
        "usr/share/man/man1/assay.1.gz",
        "usr/share/man/man1/assay-review.1.gz",
        "usr/share/bash-completion/completions/assay",
        "usr/share/zsh/vendor-completions/_assay",
        "usr/share/fish/vendor_completions.d/assay.fish",
        "usr/share/doc/assay/copyright",
    ] {
        assert!(other.join(file).metadata().is_ok_and(|found| found.len() > 0), "{file} is missing");
    }
    let run = Command::new(other.join("usr/bin/assay"))
        .args(["run", "--number_ios=100", "--format=json"])
        .env("ASSAY_STORE", place.store())
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    dpkg(&["--purge", "assay"]);
    assert_eq!(files(&other), Vec::<PathBuf>::new(), "what is left behind");
}

/// A copy of `scripts/package` in a place of its own, with a cargo that makes `assay` of the compiler that it is told of: how
/// `static` ends and what it says, where rustup has `targets`.
fn static_package(place: &Place, targets: &str) -> (Option<i32>, String) {
    for folder in ["scripts", "bin"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    fs::copy(root().join("scripts/package"), place.path("scripts/package")).unwrap();
    let cargo =
        "for word; do target=$word; done\nmkdir -p target/$target/dist\nenv | grep ^CC_ > target/$target/dist/assay";
    let rustup = format!("echo {targets}");
    for (name, script) in [("cargo", cargo), ("rustup", &rustup), ("musl-gcc", ""), ("file", "echo static")] {
        let path = place.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let run = Command::new("bash").arg(place.path("scripts/package")).arg("static").env("PATH", path).output().unwrap();
    (run.status.code(), String::from_utf8([run.stdout, run.stderr].concat()).unwrap())
}

#[test]
fn the_static_package_is_made_with_musls_compiler() {
    let place = Place::new();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let (code, said) = static_package(&place, "x86_64-unknown-linux-gnu");
    assert!(code == Some(3) && said.contains(&format!("rustup target add {target}")), "{said}");
    let (code, said) = static_package(&place, &target);
    assert_eq!((code, said), (Some(0), format!("target/package/assay-{target}.tar.gz\n")));
    let made = fs::read_to_string(place.path(&format!("target/{target}/dist/assay"))).unwrap();
    assert_eq!(made.trim(), format!("CC_{}=musl-gcc", target.replace('-', "_")));
}
