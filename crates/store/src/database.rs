//! The store itself: a file with runs in it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use block::{Bytes, Seed};
use engine::Measurement;
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::error::Cause;
use crate::health::{self, Moment};
use crate::measured::{self, Stored};
use crate::owner::{self, Owner, Teller};
use crate::reader;
use crate::tried::{self, Tried};
use crate::{Run, RunId, State, StoreError};

/// Marks the file as this program's ("assa" in ASCII).
pub(crate) const APPLICATION: i64 = 0x6173_7361;
/// The version of `schema.sql`.
const SCHEMA: i64 = 9;
/// What a store of the first version lacks: flushes were not counted.
const FROM_FIRST: &str = "ALTER TABLE measurement ADD COLUMN flush_requests INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE measurement ADD COLUMN flush_latency BLOB;";
/// What a store of the second version lacks: it did not know a target from another of its name.
const FROM_SECOND: &str = "ALTER TABLE run ADD COLUMN direct INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE run ADD COLUMN target_fingerprint TEXT;";
/// What a store of the third version lacks: latencies had one start, no request failed, and no data was checked.
const FROM_THIRD: &str = "ALTER TABLE measurement ADD COLUMN read_service BLOB;
    ALTER TABLE measurement ADD COLUMN write_service BLOB;
    ALTER TABLE measurement ADD COLUMN trim_service BLOB;
    ALTER TABLE measurement ADD COLUMN failures TEXT;
    ALTER TABLE measurement ADD COLUMN verified TEXT;";
/// What a store of the fourth version lacks: plans had no lengths of their own for simulated drives.
const FROM_FOURTH: &str = "ALTER TABLE run ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;";
/// What a store of the fifth version lacks: only simulated drives said what they consumed.
const FROM_FIFTH: &str = "ALTER TABLE measurement ADD COLUMN energy TEXT;";
/// What a store of the sixth version lacks: nobody looked at the health of drives.
const FROM_SIXTH: &str = "CREATE TABLE health (
    run INTEGER NOT NULL REFERENCES run (id), moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    reading TEXT NOT NULL, UNIQUE (run, moment));";
/// What a store of the seventh version lacks: nothing above the drive was tried.
const FROM_SEVENTH: &str = "CREATE TABLE trial (
    run INTEGER NOT NULL REFERENCES run (id), step TEXT NOT NULL, cell TEXT NOT NULL, repeat INTEGER NOT NULL,
    result TEXT NOT NULL, UNIQUE (run, step, cell, repeat));";
/// What a store of the eighth version lacks: to list some of its runs, all had to be read.
const FROM_EIGHTH: &str =
    "CREATE INDEX run_listed ON run (id, plan, quick, target, target_identity, state, started_ms, finished_ms);";
/// How long to wait for another process that is writing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A file of runs and their measurements.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The runs that were begun or reopened here and have not ended.
    owned: Vec<Owner>,
}

/// What is known of a run when it begins; see [`Run`] for what each means.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "`Run` says what they are")]
pub struct NewRun {
    pub plan: String,
    pub plan_text: String,
    pub quick: bool,
    pub simulated: bool,
    pub target: String,
    pub target_identity: String,
    pub target_fingerprint: Option<String>,
    pub direct: bool,
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
    /// If it cannot be made or written, is something else (which is left as it was), or is of a newer version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| StoreError::Folder { path: path.to_owned(), error })?;
        }
        let connection = Self::connect(path).map_err(|cause| cause.at(path))?;
        Ok(Self { connection, path: path.to_owned(), owned: Vec::new() })
    }

    /// Opens a store that is there, to read it alone.
    ///
    /// # Errors
    /// If it cannot be read, is something else, or is not of this program's version, to which [`Store::open`] brings it.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let connection = reader::connect(path, SCHEMA).map_err(|cause| cause.at(path))?;
        Ok(Self { connection, path: path.to_owned(), owned: Vec::new() })
    }

    /// Where a user's results are kept: under `XDG_DATA_HOME`, or `.local/share` of `HOME`.
    pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
        Some(data.join("assay/results.sqlite"))
    }

    /// A connection by which a finished cell survives the end of this process and a loss of power.
    fn connect(path: &Path) -> Result<Connection, Cause> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // One transaction, so that another process that fills the file is seen before or after, not between.
        let transaction = connection.transaction()?;
        let is_empty = Self::is_empty(&transaction, path)?;
        transaction.finish()?;
        if is_empty {
            Self::fill(&mut connection, path)?;
        } else {
            Self::bring_up_to_date(&mut connection)?;
        }
        Ok(connection)
    }

    /// Gives a store of an earlier version what it lacks, unless another process was faster.
    fn bring_up_to_date(connection: &mut Connection) -> Result<(), Cause> {
        let version =
            |connection: &Connection| connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
        if version(connection)? == SCHEMA {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let steps =
            [FROM_FIRST, FROM_SECOND, FROM_THIRD, FROM_FOURTH, FROM_FIFTH, FROM_SIXTH, FROM_SEVENTH, FROM_EIGHTH];
        for (earlier, lacks) in (1..).zip(steps) {
            if version(&transaction)? == earlier {
                transaction.execute_batch(lacks)?;
                transaction.pragma_update(None, "user_version", earlier + 1)?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Whether the file is new. One that holds anything but a store of a known version is an error.
    fn is_empty(transaction: &Transaction, path: &Path) -> Result<bool, Cause> {
        let number = |sql| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
        let version = number("PRAGMA user_version")?;
        let path = || path.to_owned();
        match number("PRAGMA application_id")? {
            APPLICATION if version > SCHEMA => {
                Err(StoreError::Newer { path: path(), found: version, known: SCHEMA }.into())
            }
            APPLICATION => Ok(false),
            0 if version == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(true),
            _ => Err(StoreError::Foreign { path: path() }.into()),
        }
    }

    /// Makes the tables, unless another process was faster.
    fn fill(connection: &mut Connection, path: &Path) -> Result<(), Cause> {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            // Another process opens the new file too and sets the same; the mode stays with the file.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            other => other?,
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if Self::is_empty(&transaction, path)? {
            transaction.execute_batch(include_str!("schema.sql"))?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", SCHEMA)?;
        }
        Ok(transaction.commit()?)
    }

    /// Does all of `work` or none of it.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Cause>) -> Result<T, StoreError> {
        let done = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        done().map_err(|cause: Cause| cause.at(&self.path))
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Cause>) -> Result<T, StoreError> {
        work(&self.connection).map_err(|cause| cause.at(&self.path))
    }

    /// Enters a run that begins now. It belongs to this store until it ends.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&mut self, run: &NewRun) -> Result<RunId, StoreError> {
        let path = self.path.clone();
        let owner = self.write(|connection| {
            connection.execute(
                "INSERT INTO run (plan, plan_text, quick, target, target_identity, size_bytes, seed, repeats, state, \
                 started_ms, version, git_commit, environment, direct, target_fingerprint, simulated) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running', ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
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
                    run.direct,
                    run.target_fingerprint,
                    run.simulated,
                ],
            )?;
            // Before anybody else can see it.
            Ok(Owner::of(RunId(connection.last_insert_rowid()), &path)?)
        })?;
        let run = owner.run;
        self.owned.push(owner);
        Ok(run)
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
        self.write(|connection| {
            let mut repeats = repeats.iter();
            repeats.try_for_each(|(repeat, one)| measured::insert(connection, run, step, cell, *repeat, one))
        })
    }

    /// Keeps repeats of all cells of a point, all or none of them. Several are jobs that ran side by side: what is there
    /// already of a repeat of some of them is replaced, so that the figures kept of it are of one and the same time.
    ///
    /// # Errors
    /// If they cannot be written, or the point is one cell and has one of the repeats already.
    pub fn record_point(
        &mut self,
        run: RunId,
        step: &str,
        cells: &[(String, Vec<(u32, Measurement)>)],
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            for (cell, repeats) in cells {
                for (repeat, one) in repeats {
                    if cells.len() > 1 {
                        measured::delete(connection, run, step, cell, *repeat)?;
                    }
                    measured::insert(connection, run, step, cell, *repeat, one)?;
                }
            }
            Ok(())
        })
    }

    /// Keeps what came of a trial.
    ///
    /// # Errors
    /// If it cannot be written, or is there already.
    pub fn record_trial(
        &mut self,
        run: RunId,
        step: &str,
        cell: &str,
        repeat: u32,
        result: &str,
    ) -> Result<(), StoreError> {
        self.write(|connection| tried::insert(connection, run, step, cell, repeat, result))
    }

    /// All that came of the trials of a run, in the order in which it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tried(&self, run: RunId) -> Result<Vec<Tried>, StoreError> {
        self.read(|connection| Ok(tried::select(connection, run)?))
    }

    /// Takes back the last repeat of a cell together with the doubt about it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn retract(&mut self, run: RunId, step: &str, cell: &str, doubt: &str) -> Result<(), StoreError> {
        self.write(|connection| {
            connection.execute(
                "DELETE FROM measurement WHERE run = ?1 AND step = ?2 AND cell = ?3 AND repeat = \
                 (SELECT max(repeat) FROM measurement WHERE run = ?1 AND step = ?2 AND cell = ?3)",
                params![run.0, step, cell],
            )?;
            connection.execute(
                "DELETE FROM finding WHERE run = ?1 AND step = ?2 AND cell = ?3 AND text = ?4",
                params![run.0, step, cell, doubt],
            )?;
            Ok(())
        })
    }

    /// Keeps a doubt; one that is there already is not doubled.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&mut self, run: RunId, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), StoreError> {
        let none = "";
        self.write(|connection| {
            connection.execute(
                "INSERT OR IGNORE INTO finding (run, step, cell, text) VALUES (?1, ?2, ?3, ?4)",
                params![run.0, step.unwrap_or(none), cell.unwrap_or(none), text],
            )?;
            Ok(())
        })
    }

    /// Keeps what was seen of the drive's health. Of a run that is resumed, what was seen when it began stays.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_health(&mut self, run: RunId, moment: Moment, reading: &str) -> Result<(), StoreError> {
        self.write(|connection| Ok(health::insert(connection, run, moment, reading)?))
    }

    /// What was seen of the drive's health; none where nobody looked.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn health(&self, run: RunId, moment: Moment) -> Result<Option<String>, StoreError> {
        self.read(|connection| Ok(health::select(connection, run, moment)?))
    }

    /// Enters how a run ended.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be written.
    pub fn finish(
        &mut self,
        run: RunId,
        state: State,
        error: Option<&str>,
        finished_ms: i64,
    ) -> Result<(), StoreError> {
        self.progress(run, state, error, Some(finished_ms))?;
        self.owned.retain(|owner| owner.run != run);
        Ok(())
    }

    /// Makes a run that was cut off this store's own, until it ends.
    ///
    /// # Errors
    /// If there is no such run, or another process carries it out.
    pub fn own(&mut self, run: RunId) -> Result<(), StoreError> {
        self.run(run)?;
        self.owned.push(Owner::of(run, &self.path)?);
        Ok(())
    }

    /// By which the owner of a run tells others how far it has come; none where the run is not this store's own.
    pub fn teller(&self, run: RunId) -> Option<Teller> {
        self.owned.iter().find(|owner| owner.run == run)?.teller()
    }

    /// What the process that carries a run out told last, which may be nothing yet; none where no process does.
    pub fn told(&self, run: RunId) -> Option<String> {
        owner::told(run, &self.path)
    }

    /// Enters that a run goes on.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be written.
    pub fn reopen(&mut self, run: RunId) -> Result<(), StoreError> {
        self.progress(run, State::Running, None, None)
    }

    fn progress(
        &mut self,
        run: RunId,
        state: State,
        error: Option<&str>,
        finished_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            let found = connection.execute(
                "UPDATE run SET state = ?2, error = ?3, finished_ms = ?4 WHERE id = ?1",
                params![run.0, state.name(), error, finished_ms],
            )?;
            if found == 0 { Err(absent(connection, run)?.into()) } else { Ok(()) }
        })
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare("SELECT * FROM run ORDER BY id")?;
            Ok(statement.query_map([], run_of)?.collect::<Result<_, _>>()?)
        })
    }

    /// One run.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn run(&self, id: RunId) -> Result<Run, StoreError> {
        self.read(|connection| {
            let found = connection.query_row("SELECT * FROM run WHERE id = ?1", [id.0], run_of).optional()?;
            found.map_or_else(|| Err(absent(connection, id)?.into()), Ok)
        })
    }

    /// The run that began last.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn latest(&self) -> Result<Option<Run>, StoreError> {
        self.read(|connection| {
            Ok(connection.query_row("SELECT * FROM run ORDER BY id DESC LIMIT 1", [], run_of).optional()?)
        })
    }

    /// All that was measured in a run, in the order in which it was kept.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn measured(&self, run: RunId) -> Result<Vec<Stored>, StoreError> {
        self.read(|connection| measured::select(connection, run))
    }

    /// Step, cell and repeat of all that was measured or tried in a run.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn keys(&self, run: RunId) -> Result<HashSet<(String, String, u32)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT step, cell, repeat FROM measurement WHERE run = ?1 \
                 UNION SELECT step, cell, repeat FROM trial WHERE run = ?1",
            )?;
            let keys = statement.query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }

    /// The doubts about a run, in the order in which they came up.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn notes(&self, run: RunId) -> Result<Vec<Note>, StoreError> {
        let some = |text: String| (!text.is_empty()).then_some(text);
        self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT step, cell, text FROM finding WHERE run = ?1 ORDER BY rowid")?;
            let notes = statement.query_map([run.0], |row| {
                Ok(Note { step: some(row.get(0)?), cell: some(row.get(1)?), text: row.get(2)? })
            })?;
            Ok(notes.collect::<Result<_, _>>()?)
        })
    }
}

/// That there is no run of this number, and which there are.
fn absent(connection: &Connection, run: RunId) -> Result<StoreError, Cause> {
    let newest: Option<i64> = connection.query_row("SELECT max(id) FROM run", [], |row| row.get(0))?;
    Ok(StoreError::NoSuchRun { run, newest: newest.map(RunId) })
}

fn run_of(row: &Row) -> rusqlite::Result<Run> {
    let state: String = row.get("state")?;
    Ok(Run {
        id: RunId(row.get("id")?),
        plan: row.get("plan")?,
        plan_text: row.get("plan_text")?,
        quick: row.get("quick")?,
        simulated: row.get("simulated")?,
        target: row.get("target")?,
        target_identity: row.get("target_identity")?,
        target_fingerprint: row.get("target_fingerprint")?,
        direct: row.get("direct")?,
        size: row.get::<_, Option<i64>>("size_bytes")?.map(|size| Bytes::new(size as u64)),
        seed: seed_of(row)?,
        repeats: row.get("repeats")?,
        state: State::named(&state),
        error: row.get("error")?,
        started_ms: row.get("started_ms")?,
        finished_ms: row.get("finished_ms")?,
        version: row.get("version")?,
        commit: row.get("git_commit")?,
        environment: row.get("environment")?,
    })
}

/// Seeds are kept as text; SQLite's integers have a sign.
fn seed_of(row: &Row) -> rusqlite::Result<Seed> {
    let (column, text) = (row.as_ref().column_index("seed")?, row.get::<_, String>("seed")?);
    let unlike = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    text.parse().map(Seed::new).map_err(unlike)
}

#[cfg(test)]
mod tests;
