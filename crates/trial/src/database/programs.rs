//! PostgreSQL's programs, and the user they run as.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host::program;

use crate::{ProgramError, Tools, TrialError};

/// Where Debian has each version's programs.
const FOLDER: &str = "/usr/lib/postgresql";
const NEEDED: [&str; 4] = ["initdb", "postgres", "pgbench", "psql"];
/// Who they run as, by preference: PostgreSQL refuses to be run by root.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// PostgreSQL's programs, and the user they run as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
    pub user: String,
    /// The user's number.
    pub uid: u32,
    /// The number of the user's group.
    pub gid: u32,
}

impl Programs {
    /// The newest that are installed.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub fn find() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("a database needs a file system of its own, which only root can mount; run it as root".into());
        }
        let folder = newest(Path::new(FOLDER)).or_else(on_path);
        let folder = folder.ok_or("PostgreSQL is not installed; it is in Debian's package postgresql")?;
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = USERS.iter().find_map(|name| user(&users, name));
        let (user, uid, gid) = user.ok_or("there is neither a user postgres nor nobody for PostgreSQL to run as")?;
        if let Some(program) = ["setpriv", "unshare"].into_iter().find(|program| !Tools::of_system().has(program)) {
            return Err(format!("`{program}` is not installed; it is in Debian's package util-linux"));
        }
        Ok(Self { folder, user, uid, gid })
    }

    /// What a program says of its version: `15.18 (Debian 15.18-0+deb12u1)`.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn version(&self) -> Result<String, TrialError> {
        let ended = Tools::within(&self.folder).run("postgres", &["--version"], Duration::from_secs(20))?;
        Ok(ended.stdout.trim().trim_start_matches("postgres (PostgreSQL) ").to_owned())
    }

    /// A command of one of these programs as this user, that ends if the thread that started it does.
    ///
    /// Its shared memory of System V is in a namespace that ends with its processes: a server that is killed would leave
    /// it.
    ///
    /// # Errors
    /// If what does that is not installed.
    pub fn command(&self, program: &str) -> Result<Command, TrialError> {
        let tools = Tools::of_system();
        let mut command = tools.command("unshare")?;
        let setpriv = tools.find("setpriv").ok_or_else(|| ProgramError::Missing { program: "setpriv".into() })?;
        command.arg("--ipc").arg(setpriv).args(self.words());
        // A server that ends by this is through with its file system when its first process has ended.
        command.arg(format!("--pdeathsig={}", if program == "postgres" { "QUIT" } else { "KILL" }));
        command.arg(self.folder.join(program)).current_dir("/");
        // What whoever calls has set for a server of theirs is not for this one.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// The words of `setpriv` that make a program run as this user.
    fn words(&self) -> [String; 3] {
        [format!("--reuid={}", self.uid), format!("--regid={}", self.gid), "--clear-groups".into()]
    }

    /// A command line without what makes it run as this user: as one would type it.
    pub fn without_user(&self, line: &str) -> String {
        let folder = format!("{}/", self.folder.display());
        line.split_once(&folder).map_or(line, |(_, typed)| typed).to_owned()
    }
}

/// The folder of the newest version below `folder` that has all programs.
fn newest(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let version: u32 = path.file_name()?.to_str()?.parse().ok()?;
        Some((version, path.join("bin")))
    });
    versions.filter(|(_, path)| has_all(path)).max().map(|(_, path)| path)
}

/// The first folder of the search path that has all programs.
fn on_path() -> Option<PathBuf> {
    program::folders().into_iter().find(|folder| has_all(folder))
}

fn has_all(folder: &Path) -> bool {
    NEEDED.iter().all(|program| folder.join(program).is_file())
}

/// A user's name, number and group, of the text of `/etc/passwd`.
fn user(users: &str, name: &str) -> Option<(String, u32, u32)> {
    let words = users.lines().map(|line| line.split(':').collect::<Vec<&str>>()).find(|words| words[0] == name)?;
    Some((name.to_owned(), words.get(2)?.parse().ok()?, words.get(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_is_complete_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for (version, programs) in [("9", &NEEDED[..]), ("15", &NEEDED[..]), ("17", &NEEDED[..3]), ("x", &NEEDED[..])] {
            let bin = folder.path().join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            programs.iter().for_each(|program| fs::write(bin.join(program), "").unwrap());
        }
        assert_eq!(newest(folder.path()), Some(folder.path().join("15/bin")));
        assert_eq!(newest(&folder.path().join("none")), None);
    }

    #[test]
    fn users_are_found_by_their_whole_name() {
        let users = "postgresx:x:1:2::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\n";
        assert_eq!(user(users, "postgres"), Some(("postgres".to_owned(), 101, 104)));
        assert_eq!(user(users, "nobody"), None);
    }

    #[test]
    fn a_command_line_is_told_as_it_would_be_typed() {
        let programs = Programs { folder: "/usr/lib/postgresql/15/bin".into(), user: "x".into(), uid: 1, gid: 2 };
        let Ok(mut command) = programs.command("pgbench") else {
            println!("skipped: there is no unshare or no setpriv");
            return;
        };
        let line = crate::task::line(command.args(["-c", "4"]));
        assert!(line.starts_with('/') && line.contains("setpriv --reuid=1 "), "{line}");
        assert_eq!(programs.without_user(&line), "pgbench -c 4");
    }
}
