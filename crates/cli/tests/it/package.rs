//! Packages: Debian's installs, runs and is removed without a trace; the program takes nothing of its sources with it that
//! it would miss; the static one runs where nothing else is.
//!
//! `make packages` makes what takes an optimised build. Where that was done for the commit at hand it is tried here too.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, other, skip, tool};

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

/// What `make packages` made of the commit at hand: the file of that name in target/package, if `program` makes one of it
/// that says so. Otherwise the reason is said.
fn made(name: &str, program: impl Fn(&Path) -> PathBuf) -> Option<PathBuf> {
    let path = root().join("target/package").join(name);
    let made = path.is_file().then(|| program(&path));
    let version = |program: &Path| other(&program.display().to_string(), &["--version"]);
    let current = made.filter(|made| version(made) == version(Path::new(env!("CARGO_BIN_EXE_assay"))));
    if current.is_none() {
        skip(&format!("there is no target/package/{name} of this commit (`make packages` makes it)"));
    }
    current
}

/// The static program of the commit at hand, unpacked into a folder; without one the reason is said.
pub fn static_program(folder: &Path) -> Option<PathBuf> {
    let name = format!("assay-{}-unknown-linux-musl.tar.gz", std::env::consts::ARCH);
    made(&name, |archive| {
        other("tar", &["-xzf", &archive.display().to_string(), "-C", &folder.display().to_string()]);
        folder.join("assay")
    })
}

/// A system of its own in a folder, with a package manager that knows of nothing.
struct System(PathBuf);

impl System {
    fn new(folder: PathBuf) -> Self {
        for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates"].map(|name| folder.join(name)) {
            fs::create_dir_all(folder).unwrap();
        }
        for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
            fs::write(folder.join(file), "").unwrap();
        }
        Self(folder)
    }

    fn dpkg(&self, arguments: &[&str]) {
        // What it depends on is on this system, not on that one.
        let root = format!("--root={}", self.0.display());
        other("dpkg", &[&[&root, "--force-depends", "--force-script-chrootless"], arguments].concat());
    }

    fn install(&self, package: &Path) {
        self.dpkg(&["--install", &package.display().to_string()]);
        for file in [
            "usr/bin/assay",
            "usr/share/man/man1/assay.1.gz",
            "usr/share/man/man1/assay-review.1.gz",
            "usr/share/bash-completion/completions/assay",
            "usr/share/zsh/vendor-completions/_assay",
            "usr/share/fish/vendor_completions.d/assay.fish",
            "usr/share/doc/assay/copyright",
        ] {
            assert!(self.0.join(file).metadata().is_ok_and(|found| found.len() > 0), "{file} is missing");
        }
    }

    fn program(&self) -> PathBuf {
        self.0.join("usr/bin/assay")
    }

    fn purge(&self) {
        self.dpkg(&["--purge", "assay"]);
        assert_eq!(files(&self.0), Vec::<PathBuf>::new(), "what is left behind");
    }
}

/// Whether a package can be installed here; otherwise the reason is said.
fn installs(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| tool(name).is_none());
    match missing {
        Some(missing) => {
            skip(&format!("{missing} is not installed (`cargo install cargo-deb --locked` brings cargo-deb)"));
        }
        None if !rustix::process::geteuid().is_root() => skip("installing a package takes root"),
        None => return true,
    }
    false
}

/// What somebody does on the first day with a program `assay` that `command` starts in a folder, of which the program says
/// that it is called `folder`. Nothing of the environment is handed on but a home, which is empty.
fn first_day(command: impl Fn() -> Command, home: &Path, folder: &str) {
    let assay = |arguments: &[&str]| {
        let mut command = command();
        let out = command
            .args(arguments)
            .env_clear()
            .envs([("HOME", folder), ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "assay {arguments:?}: {stderr}");
        String::from_utf8(out.stdout).unwrap()
    };
    let first = assay(&[]);
    assert!(first.contains("There are no runs yet."), "{first}");
    let found = assay(&["doctor"]);
    assert!(found.contains("This machine can review simulated drives"), "{found}");

    let printed = assay(&["review", "sim:x25-m?capacity.user=1GiB", "--quick"]);
    let report = printed.lines().last().unwrap().rsplit('/').next().unwrap();
    let html = fs::read_to_string(home.join("assay-reports").join(report)).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Random reads"), "{} bytes", html.len());
    assert!(home.join(".local/share/assay/results.sqlite").is_file(), "where the results are");
    let read = assay(&["run", "./scratch.bin", "--size=8m", "--rw=randread", "--number_ios=100", "--format=json"]);
    assert!(read.contains("\"iops\""), "{read}");

    for (arguments, said) in [
        (["drives", "show", "x25-m"], "Intel X25-M"),
        (["plans", "show", "snia-client"], "SNIA"),
        (["replicate", "ocaholic-x25m", "--format=json"], "ocaholic-x25m/"),
    ] {
        assert!(assay(&arguments).contains(said), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(assay(&["completions", shell]).contains("assay"), "{shell}");
    }
    assay(&["man", "pages"]);
    assert!(home.join("pages/assay-review.1").is_file());
}

/// A first day with a program from which the sources that it was built of are hidden, if this machine can hide them.
fn away_from_the_sources(program: &Path) {
    let hides = |command: &mut Command| command.output().is_ok_and(|out| out.status.success());
    if !hides(Command::new("unshare").args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])) {
        return skip("hiding the sources takes root, and unshare and mount of util-linux");
    }
    let place = Place::new();
    let home = place.path("home");
    fs::create_dir(&home).unwrap();
    fs::copy(program, place.path("assay")).unwrap();
    let kept = [root().join("target"), root().join(".git")];
    let sources = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let hidden: Vec<PathBuf> = sources.filter(|path| path.is_dir() && !kept.contains(path)).collect();
    assert!(hidden.contains(&root().join("drives")) && hidden.contains(&root().join("plans")), "{hidden:?}");
    let script = "program=$1; shift; while [ \"$1\" != -- ]; do mount -t tmpfs none \"$1\" || exit 99; shift; done\n\
                  shift; exec \"$program\" \"$@\"";
    let command = || {
        let mut command = Command::new(tool("unshare").unwrap());
        command.args(["--mount", "/bin/sh", "-c", script, "sh"]).arg(place.path("assay")).args(&hidden).arg("--");
        command.current_dir(&home);
        command
    };
    first_day(command, &home, &home.display().to_string());
}

#[test]
fn the_debian_package_installs_runs_and_is_removed_cleanly() {
    if !installs(&["cargo-deb", "dpkg", "gzip"]) {
        return;
    }
    let made = other("bash", &[&root().join("scripts/package").display().to_string(), "deb", "dev"]);
    let place = Place::new();
    let system = System::new(place.path("system"));
    system.install(&root().join(made.lines().last().unwrap()));
    let run = Command::new(system.program())
        .args(["run", "--number_ios=100", "--format=json"])
        .env("ASSAY_STORE", place.store())
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    system.purge();
}

#[test]
fn the_debian_package_of_this_commit_needs_no_sources() {
    if !installs(&["dpkg"]) {
        return;
    }
    let place = Place::new();
    let system = System::new(place.path("system"));
    let name = format!("assay_{}-1_{}.deb", env!("CARGO_PKG_VERSION"), other("dpkg", &["--print-architecture"]));
    let install = |package: &Path| {
        system.install(package);
        system.program()
    };
    if let Some(program) = made(&name, install) {
        away_from_the_sources(&program);
        system.purge();
    }
}

#[test]
fn the_program_needs_no_sources() {
    away_from_the_sources(Path::new(env!("CARGO_BIN_EXE_assay")));
}

#[test]
fn what_cargo_installed_of_this_commit_needs_no_sources() {
    if let Some(program) = made("installed/bin/assay", Path::to_owned) {
        away_from_the_sources(&program);
    }
}

#[test]
fn the_static_program_of_this_commit_runs_where_nothing_else_is() {
    let place = Place::new();
    if static_program(&place.path(".")).is_none() {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skip("a root of its own takes root");
    }
    let home = place.path(".");
    let command = || {
        let mut command = Command::new(tool("chroot").unwrap());
        command.arg(&home).arg("/assay");
        command
    };
    first_day(command, &home, "/");
}

/// A copy of `scripts/package` in a place of its own, with a cargo that makes `assay` of the compiler that it is told of:
/// how `static` ends and what it says, where rustup has `targets`.
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
