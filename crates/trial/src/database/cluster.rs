//! A PostgreSQL server of our own, on a folder of the drive.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use block::Bytes;
use host::open;
use rustix::process::Signal;

use super::options::DatabaseOptions;
use super::programs::Programs;
use crate::folder::make_for;
use crate::memory::MemoryLimit;
use crate::task::{self, HelperProcess};
use crate::{Cleanup, TrialDevice, TrialError};

/// How long the server has to start or to end: a slow drive has a checkpoint to write, or much to recover from.
const LIMIT: Duration = Duration::from_secs(1800);
/// How often it is looked whether it has started.
const PAUSE: Duration = Duration::from_millis(10);
/// How many lines of its log tell why it failed: what was wrong comes before that it ends for it.
const LAST_WORDS: usize = 3;
/// What `initdb` is told besides where.
const INITDB: [&str; 8] = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
/// Connections beside those of clients.
const CONNECTIONS_SPARE: u64 = 10;

/// A PostgreSQL server of our own, until it is dropped. It hears nothing but a socket in a folder that is closed to all
/// but its user.
#[derive(Debug)]
pub struct Cluster<'s> {
    programs: &'s Programs,
    stage: &'s TrialDevice,
    aftermath: &'s Cleanup,
    memory: Option<&'s MemoryLimit>,
    data: PathBuf,
    socket: PathBuf,
    log: PathBuf,
    server: Option<HelperProcess>,
    /// How it was initialised.
    initdb: String,
}

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All that it has in memory is written first.
    Orderly,
    /// At once, as if it had crashed: the next start recovers.
    Crash,
}

impl<'s> Cluster<'s> {
    /// Initialises one in `home`, a folder on the drive, with its socket and its log in `folder`, which is elsewhere.
    ///
    /// # Errors
    /// If a folder cannot be made, or `initdb` fails.
    pub fn init(
        programs: &'s Programs,
        (stage, aftermath): (&'s TrialDevice, &'s Cleanup),
        (home, folder): (&Path, &Path),
        memory: Option<&'s MemoryLimit>,
        terms: &DatabaseOptions,
    ) -> Result<Self, TrialError> {
        let [data, socket] = [home.join("postgresql"), folder.join("socket")];
        for path in [&data, &socket] {
            make_for(path, programs.uid, programs.gid)?;
        }
        let mut command = programs.command("initdb")?;
        command.arg("-D").arg(&data).args(INITDB);
        if terms.choices.text("checksums") == "yes" {
            command.arg("--data-checksums");
        } else if knows(programs, "--no-data-checksums")? {
            // Since version 18 pages have checksums unless it is told otherwise.
            command.arg("--no-data-checksums");
        }
        let task = HelperProcess::start(aftermath, &mut command)?;
        let initdb = programs.without_user(task.line());
        task.finish(stage, LIMIT)?;
        let log = folder.join("postgresql.log");
        let cluster = Self { programs, stage, aftermath, memory, data, socket, log, server: None, initdb };
        cluster.configure(terms)?;
        Ok(cluster)
    }

    /// Adds what was told to the server's configuration.
    fn configure(&self, terms: &DatabaseOptions) -> Result<(), TrialError> {
        let path = self.data.join("postgresql.conf");
        let mut lines = own_settings(terms);
        lines.extend(max_wal_size(self.stage.capacity(), terms.size()).map(|size| format!("max_wal_size = {size}MB")));
        // What was told comes last, for the last counts.
        lines.extend(terms.settings()?.lines());
        let mut file = open::append(&path).map_err(TrialError::at(&path))?;
        writeln!(file, "{}", lines.join("\n")).and_then(|()| file.sync_all()).map_err(TrialError::at(&path))
    }

    /// Starts it, and waits until it can be asked.
    ///
    /// # Errors
    /// If it does not start, with its last words.
    pub fn start(&mut self) -> Result<(), TrialError> {
        let log = open::append(&self.log).map_err(TrialError::at(&self.log))?;
        let mut command = self.programs.command("postgres")?;
        command.arg("-D").arg(&self.data);
        let socket = format!("unix_socket_directories={}", self.socket.display());
        let closed = "unix_socket_permissions=0700";
        // Its namespace has all of its shared memory if that is System V's.
        let shared = "dynamic_shared_memory_type=sysv";
        for setting in ["listen_addresses=", &socket, closed, "port=5432", "logging_collector=off", shared] {
            command.args(["-c", setting]);
        }
        if let Some(memory) = self.memory {
            command = memory.around(&command);
        }
        let mut server = HelperProcess::start_with_log(self.aftermath, &mut command, &log)?;
        let began = Instant::now();
        while !self.is_ready() {
            if let Some(status) = server.ended()? {
                let said = self.last_words().unwrap_or_else(|| status.to_string());
                return Err(TrialError::Failed { command: self.programs.without_user(server.line()), said });
            }
            if self.stage.is_stopped() {
                self.server = Some(server);
                return Err(TrialError::Interrupted);
            }
            if began.elapsed() > LIMIT {
                return Err(crate::ProgramError::Slow { program: "postgres".into(), limit: LIMIT }.into());
            }
            thread::sleep(PAUSE);
        }
        self.server = Some(server);
        Ok(())
    }

    /// Whether it takes connections: the last line of its file says so.
    /// Source: PostgreSQL, src/include/utils/pidfile.h, `LOCK_FILE_LINE_PM_STATUS`.
    fn is_ready(&self) -> bool {
        let text = fs::read_to_string(self.data.join("postmaster.pid")).unwrap_or_default();
        text.lines().nth(7).is_some_and(|line| line.trim() == "ready")
    }

    /// The last lines of its log, without when and by which process they were written.
    fn last_words(&self) -> Option<String> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(|line| line.split_once("] ").map_or(line, |(_, said)| said)).collect();
        (!lines.is_empty()).then(|| lines[lines.len().saturating_sub(LAST_WORDS)..].join("; "))
    }

    /// Ends it.
    ///
    /// # Errors
    /// If it does not end, or says that it failed.
    pub fn stop(&mut self, ending: Ending) -> Result<(), TrialError> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        server.signal(if ending == Ending::Orderly { Signal::INT } else { Signal::QUIT });
        match server.wait(self.stage, LIMIT) {
            Ok(status) if status.success() || ending == Ending::Crash => Ok(()),
            Ok(status) => {
                let said = self.last_words().unwrap_or_else(|| status.to_string());
                Err(TrialError::Failed { command: self.programs.without_user(server.line()), said })
            }
            Err(error) => {
                self.server = Some(server);
                Err(error)
            }
        }
    }

    /// A program of PostgreSQL's that talks to it, as far as its options of where and who.
    ///
    /// # Errors
    /// If what runs it is not installed.
    pub fn client(&self, program: &str) -> Result<Command, TrialError> {
        let mut command = self.programs.command(program)?;
        command.arg("-h").arg(&self.socket).args(["-p", "5432", "-U", "postgres"]);
        Ok(command)
    }

    /// Runs a program that talks to it to its end: what it wrote, and its command line.
    ///
    /// # Errors
    /// If it fails, or takes longer than `limit`.
    pub fn run(&self, command: &mut Command, limit: Duration) -> Result<(crate::Ended, String), TrialError> {
        let task = HelperProcess::start(self.aftermath, command)?;
        let line = self.programs.without_user(task.line());
        match task.finish(self.stage, limit) {
            Ok(ended) => Ok((ended, line)),
            Err(TrialError::Failed { said, .. }) => {
                let said = [Some(said), self.misfortune()].into_iter().flatten().collect::<Vec<String>>().join("; ");
                Err(TrialError::Failed { command: line, said })
            }
            Err(error) => Err(error),
        }
    }

    /// What befell the server, where something did: all that its clients say of it is that it is gone.
    fn misfortune(&self) -> Option<String> {
        let killed = self.memory.map_or(0, MemoryLimit::killed);
        if killed > 0 {
            let words = "server processes were killed for exceeding the `memory` limit; give more";
            return Some(format!("{killed} {words}"));
        }
        let text = fs::read_to_string(&self.log).ok()?;
        let line = text.lines().find(|line| line.contains("PANIC: ") || line.contains("was terminated by signal"))?;
        Some(line.split_once("] ").map_or(line, |(_, said)| said).to_owned())
    }

    /// Makes a folder that the server's user, as whom its programs run as well, can write to.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn make_folder(&self, path: &Path) -> Result<(), TrialError> {
        make_for(path, self.programs.uid, self.programs.gid)
    }

    /// What a query answers: rows as lines, columns apart by `|`.
    ///
    /// # Errors
    /// If it fails.
    pub fn query(&self, sql: &str) -> Result<String, TrialError> {
        let mut command = self.client("psql")?;
        command.args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", sql]);
        Ok(self.run(&mut command, LIMIT)?.0.stdout.trim_end().to_owned())
    }

    /// The whole numbers that a query answers with.
    ///
    /// # Errors
    /// If it fails, or answers with something else.
    pub fn numbers<const N: usize>(&self, sql: &str) -> Result<[i64; N], TrialError> {
        let answer = self.query(sql)?;
        let numbers: Option<Vec<i64>> = answer.split(['|', '\n']).map(|word| word.trim().parse().ok()).collect();
        numbers
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or_else(|| TrialError::Unexpected { program: "psql".into(), found: format!("{answer} to {sql}") })
    }

    /// The conditions under which it runs: its version, how it was initialised, and what is not as it comes.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn conditions(&self) -> Result<Vec<(String, String)>, TrialError> {
        let told = "select name || ' = ' || current_setting(name) from pg_settings where source in ('configuration file', \
                    'command line') and name !~ '^(lc_|Date|Time|log_timezone|default_text|listen|unix_|port|application)' \
                    order by name";
        let shown = |name: &str| self.query(&format!("show {name}"));
        Ok([
            ("PostgreSQL", self.programs.version()?),
            ("initdb", self.initdb.clone()),
            ("settings", self.query(told)?.replace('\n', "; ")),
            ("shared buffers", shown("shared_buffers")?),
            ("page checksums", shown("data_checksums")?),
            ("write-ahead log", "on the same file system as the tables".to_owned()),
            ("runs as", self.programs.user.clone()),
        ]
        .map(|(name, text)| (name.to_owned(), text))
        .into())
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        // At once, but so that its other processes end first; if it does not, its task ends it.
        if let Some(server) = &mut self.server {
            server.signal(Signal::QUIT);
            let began = Instant::now();
            while matches!(server.ended(), Ok(None)) && began.elapsed() < Duration::from_secs(20) {
                thread::sleep(PAUSE);
            }
        }
    }
}

/// What is set for every server, before what was told.
fn own_settings(terms: &DatabaseOptions) -> Vec<String> {
    vec![
        format!("shared_buffers = {}kB", terms.choices.bytes("shared-buffers").get().div_ceil(1024)),
        format!("max_connections = {}", (terms.clients + CONNECTIONS_SPARE).max(100)),
    ]
}

/// The commands by which a server is made, as one would type them, with what its configuration says.
pub fn commands(terms: &DatabaseOptions) -> Vec<String> {
    let checksums = if terms.choices.text("checksums") == "yes" { " --data-checksums" } else { "" };
    let told = terms.settings().map(|settings| settings.lines()).unwrap_or_default();
    let settings = [own_settings(terms), told].concat().join("; ");
    vec![
        format!("initdb -D FOLDER/postgresql {}{checksums}", INITDB.join(" ")),
        format!("postgres -D FOLDER/postgresql, with {settings} in postgresql.conf"),
    ]
}

/// Whether this version's `initdb` has an option.
fn knows(programs: &Programs, option: &str) -> Result<bool, TrialError> {
    let mut command = programs.command("initdb")?;
    let said = host::program::output(command.arg("--help")).map_err(TrialError::at(task::line(&command)))?;
    Ok(String::from_utf8_lossy(&said.stdout).contains(option))
}

/// The most that the write-ahead log may take before a checkpoint, in megabytes, where PostgreSQL's own 1 GB might not go
/// on the drive beside the tables.
fn max_wal_size(capacity: Bytes, tables: Bytes) -> Option<u64> {
    let left = capacity.get().saturating_sub(2 * tables.get());
    // It is a soft limit, and there are times when twice as much stands.
    let size = Bytes::new(left / 4).get() >> 20;
    (size < 1024).then_some(size.max(64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_as_large_as_it_comes_unless_the_drive_is_small() {
        assert_eq!(max_wal_size(Bytes::from_gib(80), Bytes::from_gib(2)), None);
        assert_eq!(max_wal_size(Bytes::from_gib(1), Bytes::from_mib(12)), Some(250));
        assert_eq!(max_wal_size(Bytes::from_mib(300), Bytes::from_mib(200)), Some(64));
    }
}
