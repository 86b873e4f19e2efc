//! Where plans come from: those that are built in, and files.

use std::io;
use std::path::PathBuf;

use block::suggestion;
use host::open::{TextError, text};
use host::{Within, WithinError};
use thiserror::Error;

/// The plans that are built in: a name and a text each.
const BUILTIN: &[(&str, &str)] = &[
    ("review", include_str!("../../../plans/review.toml")),
    ("fragmentation", include_str!("../../../plans/fragmentation.toml")),
    ("snia-enterprise", include_str!("../../../plans/snia-enterprise.toml")),
    ("snia-client", include_str!("../../../plans/snia-client.toml")),
    ("block-sizes", include_str!("../../../plans/block-sizes.toml")),
    ("queue-depth", include_str!("../../../plans/queue-depth.toml")),
    ("queue-depth-links", include_str!("../../../plans/queue-depth-links.toml")),
    ("mixed", include_str!("../../../plans/mixed.toml")),
    ("iometer", include_str!("../../../plans/iometer.toml")),
    ("arrays", include_str!("../../../plans/arrays.toml")),
    ("transactions", include_str!("../../../plans/transactions.toml")),
    ("life", include_str!("../../../plans/life.toml")),
    ("access-time", include_str!("../../../plans/access-time.toml")),
    ("dd", include_str!("../../../plans/dd.toml")),
    ("power", include_str!("../../../plans/power.toml")),
    ("file-systems", include_str!("../../../plans/file-systems.toml")),
    ("schedulers", include_str!("../../../plans/schedulers.toml")),
    ("database", include_str!("../../../plans/database.toml")),
    ("boot", include_str!("../../../plans/boot.toml")),
    ("boot-qemu", include_str!("../../../plans/boot-qemu.toml")),
];

/// The largest file that is read as a plan.
const FILE_MAX: u64 = 1 << 20;

/// A plan's text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSource {
    /// The file to name when a mistake is shown.
    pub file_name: String,
    /// What it holds.
    pub text: String,
}

/// Why there is no such plan.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum CatalogError {
    /// No built-in plan has this name.
    #[error("there is no plan `{name}` (a file's name ends in `.toml` or holds a `/`); {}", suggestion(name, &names()))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read the plan {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// The file is not one that another may name.
    #[error("{} was not read: {error}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: WithinError,
    },
    /// The file is not a plan at all.
    #[error("{} is not a plan: {found}; a plan is UTF-8 text of at most 1 MiB", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: &'static str,
    },
}

/// The plans that are built in: a name and a text each.
pub fn builtin() -> &'static [(&'static str, &'static str)] {
    BUILTIN
}

/// The plan that a user names: a file if the name ends in `.toml` or holds a `/`, else one that is built in.
///
/// # Errors
/// Says what is missing or wrong, and which plans there are.
pub fn find(name_or_path: &str) -> Result<PlanSource, CatalogError> {
    if name_or_path.ends_with(".toml") || name_or_path.contains('/') {
        return read_file(PathBuf::from(name_or_path));
    }
    match BUILTIN.iter().find(|(name, _)| *name == name_or_path) {
        Some((name, text)) => Ok(PlanSource { file_name: format!("plans/{name}.toml"), text: (*text).to_owned() }),
        None => Err(CatalogError::Unknown { name: name_or_path.to_owned() }),
    }
}

fn names() -> Vec<&'static str> {
    BUILTIN.iter().map(|(name, _)| *name).collect()
}

/// The text of a file that is small enough to have been written by hand.
pub(crate) fn read_file(path: PathBuf) -> Result<PlanSource, CatalogError> {
    let read = text(&path, FILE_MAX);
    source(path, read)
}

/// The same of a file that another names, which must be within.
pub(crate) fn read_within(path: PathBuf, within: &Within) -> Result<PlanSource, CatalogError> {
    match within.text(&path, FILE_MAX) {
        Err(WithinError::Text(error)) => source(path, Err(error)),
        Err(error) => Err(CatalogError::Refused { path, error }),
        Ok(text) => source(path, Ok(text)),
    }
}

fn source(path: PathBuf, read: Result<String, TextError>) -> Result<PlanSource, CatalogError> {
    match read {
        Ok(text) => Ok(PlanSource { file_name: path.display().to_string(), text }),
        Err(TextError::Long(_)) => Err(CatalogError::NotText { path, found: "more than 1 MiB" }),
        Err(TextError::NotText) => Err(CatalogError::NotText { path, found: "bytes that are not UTF-8" }),
        Err(error) => Err(CatalogError::Unreadable { path, error: error.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let said = |name: &str| find(name).unwrap_err().to_string();
        assert!(said("reveiw").contains("did you mean `review`?"), "{}", said("reveiw"));
        assert!(said("nothing-like-it").contains("use one of review"), "{}", said("nothing-like-it"));
    }

    #[test]
    fn a_path_is_read_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("own.toml"), "name = \"own\"").unwrap();
        assert_eq!(
            find(&path("own.toml")).unwrap(),
            PlanSource { file_name: path("own.toml"), text: "name = \"own\"".into() }
        );
        std::fs::write(path("bytes"), [0xff, 0xfe]).unwrap();
        std::fs::write(path("large"), vec![b'#'; 1 + (1 << 20)]).unwrap();
        for (name, words) in [
            ("missing.toml", "cannot read the plan"),
            ("bytes", "bytes that are not UTF-8"),
            ("large", "more than 1 MiB"),
            ("", "cannot read the plan"),
        ] {
            let said = find(&path(name)).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
