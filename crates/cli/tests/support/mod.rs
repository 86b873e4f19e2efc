//! A place of its own for each test, and the program run in it.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod attached;
pub mod browser;
pub mod guest;
pub mod served;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a store and reports of its own, on a real disk.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What the program said and how it ended.
pub struct Said {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target folder can be written") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("results.sqlite")
    }

    /// The program, to be run in this place.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(self.folder.path()).env("ASSAY_STORE", self.store()).env("NO_COLOR", "1").args(arguments);
        command
    }

    pub fn assay(&self, arguments: &[&str]) -> Said {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("the program speaks UTF-8");
        Said { stdout: text(stdout), stderr: text(stderr), code: status.code() }
    }

    /// Runs the program, which must succeed; its standard output.
    pub fn succeeds(&self, arguments: &[&str]) -> String {
        let said = self.assay(arguments);
        assert_eq!(said.code, Some(0), "assay {arguments:?} failed:\n{}", said.stderr);
        said.stdout
    }

    /// Runs the program, which must refuse with exit code 2; its standard error.
    pub fn refuses(&self, arguments: &[&str]) -> String {
        let said = self.assay(arguments);
        assert_eq!(said.code, Some(2), "assay {arguments:?}:\n{}{}", said.stdout, said.stderr);
        said.stderr
    }

    /// Writes a published review that takes a moment to repeat, and gives its path.
    pub fn small_review(&self) -> String {
        std::fs::write(self.path("small.toml"), FIGURES).expect("the folder can be written");
        std::fs::write(self.path("small-method.toml"), METHOD).expect("the folder can be written");
        self.path("small.toml").display().to_string()
    }

    /// Writes a plan that takes about a second, and gives its path.
    pub fn short_plan(&self) -> String {
        let path = self.path("short.toml");
        std::fs::write(&path, SHORT_PLAN).expect("the folder can be written");
        path.display().to_string()
    }
}

/// A published review of one drive.
pub const FIGURES: &str = r#"
review = "small"
title = "A small review"
source = "made up for this test"
method = "small-method.toml"

[[group]]
title = "Reads"
tolerance = "30%"

[[group.series]]
title = "Random reads"
unit = "IOPS"
figures = [
    { id = "small/4k", use = "fit", value = 5500 },
    { id = "small/64k", use = "check", value = 2500 },
]
"#;

/// How it is repeated.
pub const METHOD: &str = r#"
name = "small"

[[part]]
name = "flash"
target = "x25-m"

[part.workload]
size = "64m"

[[part.step]]
name = "fill"
rw = "write"
bs = "1m"
io_size = "64m"

[[part.step]]
name = "read"
rw = "randread"
number_ios = 200
sweep.bs = ["4k", "64k"]
yields.iops = "small/{bs}"
"#;

/// Every kind of step, each as short as can be.
const SHORT_PLAN: &str = r#"
name = "short"
title = "Every kind of step"
repeats = 2

[[step]]
name = "purge"
do = "purge"

[[step]]
name = "fill"
do = "fill"

[[step]]
name = "read"
rw = "randread"
number_ios = 200
sweep.bs = ["4k", "16k"]

[[step]]
name = "wear"
do = "condition"
rw = "randwrite"
round = "20ms"
steady = "snia"
at-least = "100ms"
at-most = "400ms"

[[step]]
name = "worn"
same-as = "read"
beside = "read"
"#;

/// The program on this machine, if it has one.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// fio-plot as `scripts/tools` installs it, or as it is found among the programs.
pub fn fio_plot() -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/fio-plot/bin/fio-plot");
    let runs = |program: &PathBuf| Command::new(program).arg("--help").output().is_ok();
    [Some(ours), tool("fio-plot")].into_iter().flatten().find(runs)
}

/// Says that a test cannot run here.
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Runs another program, which must succeed; its standard output.
pub fn other(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool(program).unwrap_or_else(|| program.into())).args(arguments).output().expect(program);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A loop device over a file, until dropped.
pub struct LoopDevice(pub String);

impl LoopDevice {
    /// Whether this machine makes devices of files; otherwise the reason is said.
    pub fn can_be_made() -> bool {
        let can = rustix::process::geteuid().is_root()
            && tool("losetup").is_some()
            && Path::new("/dev/loop-control").exists();
        if !can {
            skip("loop devices need root, losetup and /dev/loop-control");
        }
        can
    }

    /// A device of so many MiB; none, with the reason said, where this machine cannot.
    pub fn new(file: &Path, mebibytes: u64) -> Option<Self> {
        if !Self::can_be_made() {
            return None;
        }
        std::fs::File::create(file).and_then(|made| made.set_len(mebibytes << 20)).expect("room for the device");
        Some(Self(other("losetup", &["--find", "--show", &file.display().to_string()])))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        Command::new("losetup").args(["--detach", &self.0]).status().ok();
    }
}
