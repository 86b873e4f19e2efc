//! What is found of one ability, and of what use that is.

use serde::Serialize;

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
    /// It is not, and nothing done to this machine as it is would bring it: no fault.
    Unavailable {
        /// What was found instead, what would have it, and what does without.
        detail: String,
    },
}

impl Status {
    /// It is there, as this says.
    pub fn ready(detail: impl Into<String>) -> Self {
        Self::Ready { detail: detail.into() }
    }

    /// It cannot be had here, as this says.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { detail: detail.into() }
    }

    /// It is not there, as this says, and what to do about it.
    pub fn missing(detail: impl Into<String>, remedy: impl Into<String>) -> Self {
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
            Self::RealDrives => "Required to review a file or a block device",
            Self::SteadyFigures => "Optional: lower variance",
            Self::DriveFacts => "Optional: identity and health of the drive",
            Self::FileSystems => "Optional: file systems and attached drives",
            Self::Applications => "Optional: applications as workloads",
            Self::Energy => "Optional: power and energy",
            Self::SelfChecks => "Optional: cross-checks of assay",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_flat_object_for_programs() {
        let json = serde_json::to_value(Check {
            name: "fio",
            ability: "for a test",
            purpose: Purpose::RealDrives,
            status: Status::missing("not there", "get it"),
        })
        .unwrap();
        let expected = serde_json::json!({
            "name": "fio", "ability": "for a test", "purpose": "real-drives",
            "status": "missing", "detail": "not there", "remedy": "get it",
        });
        assert_eq!(json, expected);
    }
}
