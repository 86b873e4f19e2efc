//! Stages for tests, and what must be as it was after one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_trial::{Choices, EXPERIMENTS, Procedure, Tools, Trial, TrialContext, TrialDevice, TrialError};
use block::{Bytes, Seed};
use drive::preset::Preset;
use tempfile::TempDir;
pub use testkit::skip;

/// Whether this machine has what tests with devices need; if not, that is said.
pub fn can_stage(programs: &[&str]) -> bool {
    let tools = Tools::of_system();
    let missing = programs.iter().find(|program| !tools.has(program)).map(|program| format!("there is no {program}"));
    let missing = missing.or_else(|| (!rustix::process::geteuid().is_root()).then(|| "needs root".to_owned()));
    let of = |path: &str| (!Path::new(path).exists()).then(|| format!("there is no {path}"));
    let missing = missing.or_else(|| of("/dev/fuse")).or_else(|| of("/dev/loop-control"));
    missing.iter().for_each(|reason| skip(reason));
    missing.is_none()
}

/// A stage of its own for a test.
pub struct Staged {
    pub stage: TrialDevice,
    pub stop: Arc<AtomicBool>,
    // Removed after the stage.
    folder: Option<TempDir>,
}

impl Staged {
    /// A loop device over a sparse file.
    pub fn on_file(capacity: Bytes) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let staged = Self::on_file_in(folder.path(), capacity);
        Self { folder: Some(folder), ..staged }
    }

    /// The same over a file in a folder that somebody else removes.
    pub fn on_file_in(folder: &Path, capacity: Bytes) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let path = folder.join("disk");
        fs::File::create_new(&path).unwrap().set_len(capacity.get()).unwrap();
        Self { stage: TrialDevice::over_file(&path, capacity, Arc::clone(&stop)).unwrap(), stop, folder: None }
    }

    /// A simulated drive that is attached.
    pub fn on_drive(preset: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let drive = Preset::find(preset).unwrap().build();
        let stage = TrialDevice::over_drive(drive, preset, 1.0, Arc::clone(&stop)).unwrap();
        Self { stage, stop, folder: None }
    }

    /// Where the stage's file is.
    pub fn folder(&self) -> &Path {
        self.folder.as_ref().expect("it has one of its own").path()
    }
}

/// The kind of trial of this name.
pub fn experiment(name: &str) -> &'static dyn Procedure {
    *EXPERIMENTS.iter().find(|experiment| experiment.name() == name).expect("it is one of the experiments")
}

/// What it is told: `fs=ext4 bs=4k`, words with blanks in them as `mkfs=-l+size=128m`.
pub fn choices(name: &str, told: &str) -> Choices {
    let mut choices = Choices::of(experiment(name).choices());
    for (key, value) in told.split_whitespace().map(|word| word.split_once('=').unwrap()) {
        choices.tell(key, &value.replace('+', " ")).unwrap();
    }
    choices
}

/// Does it once.
pub fn attempt(stage: &TrialDevice, name: &str, told: &str) -> Result<Trial, TrialError> {
    let (experiment, choices) = (experiment(name), choices(name, told));
    experiment.check(&choices).unwrap();
    assert_eq!(experiment.unavailable(&choices), None);
    let go = TrialContext { seed: Seed::new(42), tell: &|words| println!("… {words}") };
    experiment.run(&choices, stage, &go)
}

/// Does it once, and it must succeed; every figure is a number.
pub fn done(stage: &TrialDevice, name: &str, told: &str) -> Trial {
    let trial = attempt(stage, name, told).unwrap_or_else(|error| panic!("{name} {told}: {error}"));
    for figure in &trial.figures {
        println!("{told}: {} {} {}", figure.name, figure.value, figure.unit);
        assert!(figure.value.is_finite() && figure.value >= 0.0, "{told}: {figure:?}");
    }
    trial.findings.iter().for_each(|finding| println!("{told}: {finding}"));
    trial
}

/// The value of a figure, which must be there and more than nothing.
pub fn figure(trial: &Trial, name: &str) -> f64 {
    let value = trial.figure(name).unwrap_or_else(|| panic!("no {name} among {:?}", trial.figures));
    assert!(value > 0.0, "{name} is {value}");
    value
}

/// The words of a condition.
pub fn condition<'t>(trial: &'t Trial, name: &str) -> &'t str {
    let found = trial.conditions.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no {name} among {:?}", trial.conditions)).1
}

/// What the process of this number has left on the machine: mounts, folders, control groups, promises, and programs that
/// still work on them.
pub fn left_by(pid: u32) -> Vec<String> {
    let own = ["mnt", "boot", "drive", "assay-database", "assay-drive", "assay"].map(|start| format!("{start}-{pid}-"));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let is_mount = |line: &&str| own.iter().any(|own| line.contains(&format!("/run/assay/{own}")));
    let mounts = mounts.lines().filter(is_mount).map(str::to_owned);
    let programs = command_lines().into_iter().filter(|line| own.iter().any(|own| line.contains(&format!("/{own}"))));
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).collect::<Vec<PathBuf>>()
    };
    let is_own = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_promise = path.starts_with("/run/assay/aftermath") && name.starts_with(&format!("{pid}-"));
        is_promise || own.iter().any(|own| name.starts_with(own))
    };
    let files = ["/run/assay", "/run/assay/aftermath", "/var/tmp"].into_iter().flat_map(names);
    let files = files.chain(groups_below(Path::new("/sys/fs/cgroup"))).filter(is_own);
    mounts.chain(programs).chain(files.map(|path| path.display().to_string())).collect()
}

/// The command lines of all processes.
fn command_lines() -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// Whether a process has these words in its command line.
pub fn runs(words: &[&str]) -> bool {
    command_lines().iter().any(|line| words.iter().all(|word| line.contains(word)))
}

/// Every control group.
fn groups_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    own.flat_map(|group| [groups_below(&group), vec![group]].concat()).collect()
}

/// The loop devices over files in this folder.
pub fn loops_over(folder: &Path) -> Vec<String> {
    let output = Command::new("losetup").args(["--list", "--noheadings", "--output=NAME,BACK-FILE"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains(folder.to_str().unwrap())).map(str::to_owned).collect()
}
