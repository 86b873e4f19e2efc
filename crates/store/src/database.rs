//! The store itself: a file with runs in it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use block::{Bytes, Seed};
use engine::Measurement;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};

use crate::measured::{self, Stored};
use crate::{Run, RunId, State, StoreError};

/// Marks the file as this program's ("assa" in ASCII).
const APPLICATION: i64 = 0x6173_7361;
/// The version of `schema.sql`.
const SCHEMA: i64 = 1;
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file of runs and their measurements.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

/// What is known of a run when it begins; see [`Run`] for what each means.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "`Run` says what they are")]
pub struct NewRun {
    pub plan: String,
    pub plan_text: String,
    pub quick: bool,
    pub target: String,
    pub target_identity: String,
    pub size: Option<Bytes>,
    pub seed: Seed,
    pub repeats: Option<u32>,
    pub started_ms: i64,
    pub version: String,
    pub commit: String,
    pub environment: String,
}

/// A doubt about a run or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The step; none for the whole run.
    pub step: Option<String>,
    /// The cell's key; none for the whole step.
    pub cell: Option<String>,
    /// The words.
    pub text: String,
}

impl Store {
    /// Opens the store in this file, making it if there is none.
    ///
    /// # Errors
    /// If it cannot be made or written, is something else, or is of a newer version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| StoreError::Folder { path: path.to_owned(), error })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let unusable = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotAStore { path: path.to_owned() },
            _ => StoreError::Unusable { path: path.to_owned(), error },
        };
        let mut connection = Connection::open_with_flags(path, flags).map_err(unusable)?;
        Self::prepare(&mut connection).map_err(unusable)?;
        Self::adopt(&mut connection, path, unusable)?;
        Ok(Self { connection })
    }

    /// Where a user's results are kept: under `XDG_DATA_HOME`, or `.local/share` of `HOME`.
    pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
        Some(data.join("assay/results.sqlite"))
    }

    /// A finished cell must survive the end of this process and, the disk permitting, of the machine.
    fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")
    }

    /// Makes the tables in an empty file; refuses those of others.
    fn adopt(
        connection: &mut Connection,
        path: &Path,
        unusable: impl Fn(rusqlite::Error) -> StoreError,
    ) -> Result<(), StoreError> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&unusable)?;
        let number = |sql| transaction.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(&unusable);
        let application = number("PRAGMA application_id")?;
        let version = number("PRAGMA user_version")?;
        let tables = number("SELECT count(*) FROM sqlite_schema")?;
        if tables == 0 {
            transaction.execute_batch(include_str!("schema.sql")).map_err(&unusable)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(&unusable)?;
            transaction.pragma_update(None, "user_version", SCHEMA).map_err(&unusable)?;
            return transaction.commit().map_err(unusable);
        }
        if application != APPLICATION {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        if version > SCHEMA {
            return Err(StoreError::Newer { path: path.to_owned(), found: version, known: SCHEMA });
        }
        Ok(())
    }

    /// Enters a run that begins now.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&mut self, run: &NewRun) -> Result<RunId, StoreError> {
        self.connection.execute(
            "INSERT INTO run (plan, plan_text, quick, target, target_identity, size_bytes, seed, repeats, state, \
             started_ms, version, git_commit, environment) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running', ?9, ?10, ?11, ?12)",
            params![
                run.plan,
                run.plan_text,
                run.quick,
                run.target,
                run.target_identity,
                run.size.map(|size| size.get() as i64),
                run.seed.to_string(),
                run.repeats,
                run.started_ms,
                run.version,
                run.commit,
                run.environment,
            ],
        )?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    /// Keeps repeats of a cell, all or none of them.
    ///
    /// # Errors
    /// If they cannot be written, or one of them is there already.
    pub fn record_cell(
        &mut self,
        run: RunId,
        step: &str,
        cell: &str,
        repeats: &[(u32, Measurement)],
    ) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for (repeat, measurement) in repeats {
            measured::insert(&transaction, run, step, cell, *repeat, measurement)?;
        }
        Ok(transaction.commit()?)
    }

    /// Keeps a doubt; one that is there already is not doubled.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&mut self, run: RunId, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), StoreError> {
        let none = "";
        self.connection.execute(
            "INSERT OR IGNORE INTO finding (run, step, cell, text) VALUES (?1, ?2, ?3, ?4)",
            params![run.0, step.unwrap_or(none), cell.unwrap_or(none), text],
        )?;
        Ok(())
    }

    /// Enters how a run ended.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&mut self, run: RunId, state: State, error: Option<&str>, finished_ms: i64) -> Result<(), StoreError> {
        self.connection.execute(
            "UPDATE run SET state = ?2, error = ?3, finished_ms = ?4 WHERE id = ?1",
            params![run.0, state.name(), error, finished_ms],
        )?;
        Ok(())
    }

    /// Enters that a run goes on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn reopen(&mut self, run: RunId) -> Result<(), StoreError> {
        self.connection.execute(
            "UPDATE run SET state = 'running', error = NULL, finished_ms = NULL WHERE id = ?1",
            params![run.0],
        )?;
        Ok(())
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        let mut statement = self.connection.prepare("SELECT * FROM run ORDER BY id")?;
        Ok(statement.query_map([], run_of)?.collect::<Result<_, _>>()?)
    }

    /// One run.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn run(&self, id: RunId) -> Result<Run, StoreError> {
        let found = self.connection.query_row("SELECT * FROM run WHERE id = ?1", [id.0], run_of).optional()?;
        match found {
            Some(run) => Ok(run),
            None => Err(StoreError::NoSuchRun { run: id, newest: self.latest()?.map(|run| run.id) }),
        }
    }

    /// The run that began last.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn latest(&self) -> Result<Option<Run>, StoreError> {
        Ok(self.connection.query_row("SELECT * FROM run ORDER BY id DESC LIMIT 1", [], run_of).optional()?)
    }

    /// All that was measured in a run, in the order in which it was kept.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn measured(&self, run: RunId) -> Result<Vec<Stored>, StoreError> {
        measured::select(&self.connection, run)
    }

    /// Step, cell and repeat of all that was measured in a run.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn keys(&self, run: RunId) -> Result<HashSet<(String, String, u32)>, StoreError> {
        let mut statement = self.connection.prepare("SELECT step, cell, repeat FROM measurement WHERE run = ?1")?;
        let keys = statement.query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// The doubts about a run, in the order in which they came up.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn notes(&self, run: RunId) -> Result<Vec<Note>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT step, cell, text FROM finding WHERE run = ?1 ORDER BY rowid")?;
        let some = |text: String| (!text.is_empty()).then_some(text);
        let notes = statement.query_map([run.0], |row| {
            Ok(Note { step: some(row.get(0)?), cell: some(row.get(1)?), text: row.get(2)? })
        })?;
        Ok(notes.collect::<Result<_, _>>()?)
    }
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }
}

fn run_of(row: &Row) -> rusqlite::Result<Run> {
    let state: String = row.get("state")?;
    Ok(Run {
        id: RunId(row.get("id")?),
        plan: row.get("plan")?,
        plan_text: row.get("plan_text")?,
        quick: row.get("quick")?,
        target: row.get("target")?,
        target_identity: row.get("target_identity")?,
        size: row.get::<_, Option<i64>>("size_bytes")?.map(|size| Bytes::new(size as u64)),
        seed: measured::seed(row, "seed")?,
        repeats: row.get("repeats")?,
        state: match state.as_str() {
            "complete" => State::Complete,
            "failed" => State::Failed,
            _ => State::Running,
        },
        error: row.get("error")?,
        started_ms: row.get("started_ms")?,
        finished_ms: row.get("finished_ms")?,
        version: row.get("version")?,
        commit: row.get("git_commit")?,
        environment: row.get("environment")?,
    })
}
