//! The I/O scheduler of the stage, and how it is restored.

use std::fs;
use std::path::{Path, PathBuf};

use host::open;

use crate::{Choice, ChoiceKind, Cleanup, CleanupAction, CleanupGuard, TrialDevice, TrialError};

/// What may be asked for: the schedulers of today's kernels, or to leave it as it is.
pub(crate) const SCHEDULER: Choice = Choice {
    name: "scheduler",
    title: "Scheduler",
    about: "the I/O scheduler of the device; restored afterwards",
    kind: ChoiceKind::Word(&["as-found", "none", "mq-deadline", "kyber", "bfq"]),
    default: "as-found",
};

/// The scheduler of a device, set until this is dropped.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Which one it is now, and what else is offered, for people.
    pub words: String,
    _restore: Option<CleanupGuard>,
}

impl Scheduler {
    /// Has the kernel schedule the stage's requests by `wanted`, or leaves that as it is.
    ///
    /// # Errors
    /// If the kernel does not offer it for this device: with those that it offers.
    pub(crate) fn set(stage: &TrialDevice, wanted: &str, aftermath: &Cleanup) -> Result<Self, TrialError> {
        let Some(setting) = stage.queue().map(|queue| queue.join("scheduler")).filter(|path| path.exists()) else {
            return match wanted {
                "as-found" => Ok(Self { words: "the device has none".to_owned(), _restore: None }),
                _ => Err(TrialError::Lacks(format!("{} has no scheduler to choose", stage.path().display()))),
            };
        };
        Self::at(&setting, wanted, aftermath, stage.path())
    }

    fn at(setting: &Path, wanted: &str, aftermath: &Cleanup, device: &Path) -> Result<Self, TrialError> {
        let offered = || fs::read_to_string(setting).map_err(TrialError::at(setting));
        let found = offered()?;
        let before = current(&found).unwrap_or("none").to_owned();
        if wanted == "as-found" || wanted == before {
            return Ok(Self { words: format!("{before}, as found"), _restore: None });
        }
        let restore =
            aftermath.promise(CleanupAction::Restore { path: PathBuf::from(setting), text: before.clone() })?;
        // The kernel loads the module of one that it does not offer yet.
        let written = open::set(setting, wanted);
        let now = offered()?;
        if written.is_err() || current(&now) != Some(wanted) {
            return Err(not_offered(wanted, &found, device));
        }
        Ok(Self { words: format!("{wanted}, where {before} was found"), _restore: Some(restore) })
    }
}

fn not_offered(wanted: &str, setting: &str, device: &Path) -> TrialError {
    let (device, offered) = (device.display(), names(setting).collect::<Vec<&str>>().join(", "));
    TrialError::Lacks(format!("the kernel has no scheduler {wanted} for {device}; choose one of {offered}"))
}

/// The names in a setting such as `none [mq-deadline] bfq`.
fn names(setting: &str) -> impl Iterator<Item = &str> {
    setting.split_whitespace().map(|word| word.trim_matches(['[', ']']))
}

/// The one that is set; it stands in brackets where there are several.
fn current(setting: &str) -> Option<&str> {
    let marked = setting.split_whitespace().find(|word| word.starts_with('['));
    marked.map(|word| word.trim_matches(['[', ']'])).or_else(|| names(setting).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_brackets_is_the_one_that_is_set() {
        assert_eq!(current("none [mq-deadline] kyber bfq\n"), Some("mq-deadline"));
        assert_eq!(current("none\n"), Some("none"));
        assert_eq!(names("none [mq-deadline]\n").collect::<Vec<&str>>(), ["none", "mq-deadline"]);
    }

    #[test]
    fn a_scheduler_that_the_kernel_does_not_take_is_told_with_those_that_it_offers() {
        let folder = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(folder.path()).unwrap();
        // What is written there is not there afterwards, as with a word that the kernel does not take.
        let refused = Scheduler::at(Path::new("/dev/null"), "bfq", &aftermath, Path::new("/dev/x"));
        assert!(refused.is_err());
        let said = not_offered("bfq", "none [mq-deadline]\n", Path::new("/dev/x")).to_string();
        assert!(said.contains("bfq for /dev/x; choose one of none, mq-deadline"), "{said}");
    }
}
