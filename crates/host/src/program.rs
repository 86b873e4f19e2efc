//! The one module that starts programs. A test of the house refuses it elsewhere.
//!
//! A program is found in the absolute folders of the search path, then where administrators' programs are; never in the
//! current folder. It is started with the words it is given, never by a shell.

use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

/// A program that is not installed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{program}` is not installed; `assay doctor` says how to get it")]
pub struct Missing {
    /// Its name.
    pub program: String,
}

/// Where programs are looked for.
pub fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect::<Vec<PathBuf>>();
    own.into_iter().chain(["/usr/sbin".into(), "/sbin".into()]).collect()
}

/// Where a program is; none if it is not installed.
pub fn find(program: &str) -> Option<PathBuf> {
    folders().iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A command of this program.
///
/// # Errors
/// If it is not installed.
pub fn command(program: &str) -> Result<Command, Missing> {
    find(program).map(|path| at(&path)).ok_or_else(|| Missing { program: program.to_owned() })
}

/// A command of the program in this file.
pub fn at(path: &Path) -> Command {
    assert!(path.is_absolute(), "programs are started by absolute paths, not {}", path.display());
    Command::new(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_absolute_paths_alone() {
        assert!(folders().iter().all(|folder| folder.is_absolute()));
        assert!(find("sh").unwrap().is_absolute());
        let missing = command("no-such-program").unwrap_err();
        assert!(missing.to_string().contains("assay doctor"));
    }
}
