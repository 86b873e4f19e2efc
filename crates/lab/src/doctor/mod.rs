//! What this machine can do, and the command that makes it able to do more.
//!
//! Every check tries the thing itself: a ring is set up, a block is written around the page cache, a
//! program is looked for where the shell would find it. Nothing is installed and nothing is left behind.

mod kernel;
mod machine;
mod meters;
mod programs;

use std::path::Path;

use serde::Serialize;

use machine::Machine;

/// One thing that a machine may be able to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The thing's own name: `io_uring`, `smartctl`.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub ability: &'static str,
    /// Which part of the work needs it.
    pub purpose: Purpose,
    /// Whether it is there.
    #[serde(flatten)]
    pub status: Status,
}

impl Check {
    /// Whether the ability is there.
    pub const fn is_ready(&self) -> bool {
        matches!(self.status, Status::Ready { .. })
    }
}

/// Whether an ability is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Status {
    /// It is.
    Ready {
        /// What was found.
        detail: String,
    },
    /// It is not.
    Missing {
        /// What was found instead.
        detail: String,
        /// The command that installs or enables it, or what to do where no command can.
        remedy: String,
    },
}

impl Status {
    fn ready(detail: impl Into<String>) -> Self {
        Self::Ready { detail: detail.into() }
    }

    fn missing(detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Missing { detail: detail.into(), remedy: remedy.into() }
    }
}

/// The part of the work that needs an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Reviews of files and block devices.
    RealDrives,
    /// Figures that differ less from repeat to repeat.
    SteadyFigures,
    /// Knowing what the drive is and how it fares.
    DriveFacts,
    /// File systems, and devices made of files.
    FileSystems,
    /// Whole applications as workloads.
    Applications,
    /// Power and energy.
    Energy,
    /// Checks of the program itself.
    SelfChecks,
}

impl Purpose {
    /// Every purpose, the most needed first.
    pub const ALL: [Self; 7] = [
        Self::RealDrives,
        Self::SteadyFigures,
        Self::DriveFacts,
        Self::FileSystems,
        Self::Applications,
        Self::Energy,
        Self::SelfChecks,
    ];

    /// The words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::RealDrives => "Needed to review a file or a block device",
            Self::SteadyFigures => "Optional: lower variance",
            Self::DriveFacts => "Optional: identity and health of the drive",
            Self::FileSystems => "Optional: file systems and attached drives",
            Self::Applications => "Optional: applications as workloads",
            Self::Energy => "Optional: power and energy",
            Self::SelfChecks => "Optional: cross-checks of assay",
        }
    }
}

/// Tries everything, for reviews of files in `directory`. The checks come grouped by purpose.
pub fn examine(directory: &Path) -> Vec<Check> {
    let machine = Machine::here();
    let mut checks = kernel::checks(&machine, directory);
    checks.extend(programs::checks(&machine));
    checks.extend(meters::checks(&machine));
    checks.sort_by_key(|check| Purpose::ALL.iter().position(|&purpose| purpose == check.purpose));
    checks
}

/// What can be reviewed on the machine that was examined, in a sentence or two.
pub fn summary(checks: &[Check]) -> String {
    let ready = |name: &str| checks.iter().any(|check| check.name == name && check.is_ready());
    let (mut can, mut cannot) = (vec!["simulated drives"], Vec::new());
    if !ready(kernel::IO_URING) {
        cannot.push("files and block devices need io_uring");
    } else {
        match ready(kernel::O_DIRECT) {
            true => can.push("files in this directory"),
            false => cannot.push("files in this directory need O_DIRECT"),
        }
        match ready(kernel::ROOT) {
            true => can.push("block devices"),
            false => cannot.push("block devices need root"),
        }
    }
    let can = match can.split_last().expect("simulated drives are always possible") {
        (last, []) => (*last).to_owned(),
        (last, rest) => format!("{} and {last}", rest.join(", ")),
    };
    match cannot.join("; ") {
        none if none.is_empty() => format!("This machine can review {can}."),
        cannot => format!("This machine can review {can}; {cannot}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, ready: bool) -> Check {
        let status = if ready { Status::ready("there") } else { Status::missing("not there", "get it") };
        Check { name, ability: "for a test", purpose: Purpose::RealDrives, status }
    }

    fn summary_with(ring: bool, direct: bool, root: bool) -> String {
        summary(&[check(kernel::IO_URING, ring), check(kernel::O_DIRECT, direct), check(kernel::ROOT, root)])
    }

    #[test]
    fn the_summary_says_what_can_and_what_cannot_be_reviewed() {
        let table = [
            ((true, true, true), "can review simulated drives, files in this directory and block devices."),
            ((true, true, false), "simulated drives and files in this directory; block devices need root."),
            ((true, false, true), "simulated drives and block devices; files in this directory need O_DIRECT."),
            ((false, true, true), "can review simulated drives; files and block devices need io_uring."),
        ];
        for ((ring, direct, root), words) in table {
            let said = summary_with(ring, direct, root);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn an_examination_groups_its_checks_and_always_has_the_needed_ones_first() {
        let directory = tempfile::tempdir().unwrap();
        let checks = examine(directory.path());
        let names: Vec<_> = checks.iter().take(3).map(|check| check.name).collect();
        assert_eq!(names, [kernel::IO_URING, kernel::O_DIRECT, kernel::ROOT]);
        let mut purposes: Vec<_> = checks.iter().map(|check| check.purpose).collect();
        purposes.dedup();
        assert_eq!(purposes, Purpose::ALL, "each group appears once and in order");
    }

    #[test]
    fn an_examination_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        examine(directory.path());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_check_says_something_and_what_is_missing_has_a_remedy() {
        for check in examine(Path::new("/nonexistent")) {
            match &check.status {
                Status::Ready { detail } => assert!(!detail.is_empty(), "{}", check.name),
                Status::Missing { detail, remedy } => {
                    assert!(!detail.is_empty() && !remedy.is_empty(), "{}: {detail} / {remedy}", check.name);
                }
            }
        }
    }

    #[test]
    fn a_check_is_one_flat_object_for_programs() {
        let json = serde_json::to_value(check("fio", false)).unwrap();
        let expected = serde_json::json!({
            "name": "fio", "ability": "for a test", "purpose": "real-drives",
            "status": "missing", "detail": "not there", "remedy": "get it",
        });
        assert_eq!(json, expected);
    }
}
