//! The one module that starts programs. A test of the house refuses it elsewhere.
//!
//! A program is found in the absolute folders of the search path, then where administrators' programs are; never in the
//! current folder. It is started with the words it is given, never by a shell.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

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

/// Programs that are started outside the fence of a run, for they make devices, load modules, command drives or install a
/// system. Each gets words of types that cannot name anything else: docs/safety.md lists them.
const FREE: [&str; 10] = [
    "losetup",
    "partx",
    "modprobe",
    "nvme",
    "hdparm",
    "sg_sanitize",
    "sg_opcodes",
    "mmdebstrap",
    "apt-get",
    "blkdiscard",
];

/// Starts a program. Where a run is fenced it may write to what the run may, but for those that make devices and the like.
///
/// # Errors
/// If the system refuses.
pub fn start(command: &mut Command) -> io::Result<Child> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    if !FREE.iter().any(|free| *free == name) {
        return command.spawn();
    }
    start_guard(command)
}

/// Starts a program that may write to these devices and folders alone: what the run has made since it was fenced.
///
/// # Errors
/// If the system refuses.
pub fn start_on(command: &mut Command, paths: &[&Path]) -> io::Result<Child> {
    let add = |fence: Fence, path: &&Path| if path.is_dir() { fence.folder(path) } else { fence.file(path) };
    let fence = paths.iter().fold(Fence::new(), add);
    moved(command, |mut taken| {
        confine::apart(fence, move || {
            let child = taken.spawn();
            (taken, child)
        })
    })
}

/// Starts a program of assay's own outside the fence: it undoes what the run has done, should that be killed.
///
/// # Errors
/// If the system refuses.
pub fn start_guard(command: &mut Command) -> io::Result<Child> {
    moved(command, |mut taken| {
        confine::outside(move || {
            let child = taken.spawn();
            (taken, child)
        })
    })
}

/// Runs a program to its end.
///
/// # Errors
/// If the system refuses.
pub fn output(command: &mut Command) -> io::Result<Output> {
    start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?.wait_with_output()
}

/// Has `work` use the command itself, which is back in its place afterwards.
fn moved<T>(command: &mut Command, work: impl FnOnce(Command) -> (Command, T)) -> T {
    let taken = std::mem::replace(command, Command::new("/"));
    let (taken, done) = work(taken);
    *command = taken;
    done
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
