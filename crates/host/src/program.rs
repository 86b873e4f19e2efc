//! The one module that starts programs. A test of the house refuses it elsewhere.
//!
//! A program is found in the absolute folders of the search path, then where administrators' programs are; never in the
//! current folder. It is started with the words it is given, never by a shell.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use thiserror::Error;

use crate::confine::{self, Fence};

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

/// What a program may write to, where the run that starts it is fenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What the run may write to.
    Fenced,
    /// These devices and folders, and nothing else: what the run has made since it was fenced.
    To(Vec<PathBuf>),
    /// Whatever its words make it write to: it makes devices, loads modules or installs a system. Its words must all be of
    /// types that cannot name anything else.
    Free,
}

/// Starts a program.
///
/// # Errors
/// If the system refuses.
pub fn start(command: &mut Command, reach: Reach) -> io::Result<Child> {
    if reach == Reach::Fenced {
        return command.spawn();
    }
    let mut taken = std::mem::replace(command, Command::new("/"));
    let work = move || {
        let child = taken.spawn();
        (taken, child)
    };
    let (taken, child) = match reach {
        Reach::To(paths) => {
            let add = |fence: Fence, path: &PathBuf| if path.is_dir() { fence.folder(path) } else { fence.file(path) };
            confine::apart(paths.iter().fold(Fence::new(), add), work)
        }
        _ => confine::outside(work),
    };
    *command = taken;
    child
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
