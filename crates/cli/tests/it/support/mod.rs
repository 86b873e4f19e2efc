//! A place of its own for each test, and the program run in it.

pub mod attached;
pub mod corpus;
pub mod guest;
pub mod served;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use testkit::loops::LoopDevice;
pub use testkit::{other, skip, tool};

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

/// Whether a line fits a terminal of 80 columns. The names of targets and files are not broken.
pub fn is_narrow(line: &str) -> bool {
    line.chars().count() <= 80 || line.starts_with("Report: ") || line.contains("sim:")
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
    { id = "small/4k", use = "fit", value = 4500 },
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

/// fio-plot as `scripts/tools` installs it, or as it is found among the programs.
pub fn fio_plot() -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/fio-plot/bin/fio-plot");
    let runs = |program: &PathBuf| Command::new(program).arg("--help").output().is_ok();
    [Some(ours), tool("fio-plot")].into_iter().flatten().find(runs)
}
