//! The store itself: a file with runs in it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use measurement::{Annotations, Measurement};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::annotation;
use crate::baseline;
use crate::budget::Budget;
use crate::error::Cause;
use crate::health::{self, HealthMoment};
use crate::measured::{self, StoredMeasurement};
use crate::owner::{self, Owner, ProgressChannel};
use crate::schema::SCHEMA;
use crate::trial::{self, StoredTrial};
use crate::{NewRun, Run, RunId, RunState, StoreError, file, run, whole};

/// A file of runs and their measurements.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// The runs that were begun or reopened here and have not ended.
    owned: Vec<Owner>,
    /// Whether its runs have an index, which stores of earlier versions that are only read have not.
    pub(crate) has_index: bool,
    pub(crate) budget: Budget,
}

/// A doubt about a run or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredFinding {
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
        let (connection, budget) = file::connect(path).map_err(|cause| cause.at(path))?;
        Ok(Self { connection, path: path.to_owned(), owned: Vec::new(), has_index: true, budget })
    }

    /// Opens a store of this version or an earlier one to read it alone: no byte of it is changed, and nothing is made.
    /// Where there is none it is as if there was one without runs.
    ///
    /// # Errors
    /// If it cannot be read, is something else, or is of a newer version.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let (connection, budget, version) = file::connect_to_read(path).map_err(|cause| cause.at(path))?;
        Ok(Self { connection, path: path.to_owned(), owned: Vec::new(), has_index: version == SCHEMA, budget })
    }

    /// Where a user's results are kept: under `XDG_DATA_HOME`, or `.local/share` of `HOME`.
    pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
        Some(data.join("assay/results.sqlite"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does all of `work` or none of it.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Cause>) -> Result<T, StoreError> {
        self.budget.renew(&self.path);
        let done = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        done().map_err(|cause: Cause| cause.at(&self.path))
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Cause>) -> Result<T, StoreError> {
        self.budget.renew(&self.path);
        work(&self.connection).map_err(|cause| cause.at(&self.path))
    }

    /// Enters a run that begins now. It belongs to this store until it ends.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&mut self, run: &NewRun) -> Result<RunId, StoreError> {
        let path = self.path.clone();
        let owner = self.write(|connection| {
            let id = run::insert(connection, run)?;
            // Before anybody else can see it.
            Ok(Owner::of(id, &path)?)
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
        self.write(|connection| trial::insert(connection, run, step, cell, repeat, result))
    }

    /// All that came of the trials of a run, in the order in which it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tried(&self, run: RunId) -> Result<Vec<StoredTrial>, StoreError> {
        self.read(|connection| {
            let mut all = Vec::new();
            for run in whole::runs(connection, run)? {
                all.append(&mut trial::select(connection, run, self.budget.rows("trial"))?);
            }
            Ok(all)
        })
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
    pub fn keep_health(&mut self, run: RunId, moment: HealthMoment, reading: &str) -> Result<(), StoreError> {
        self.write(|connection| Ok(health::insert(connection, run, moment, reading)?))
    }

    /// What was seen of the drive's health; none where nobody looked.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn health(&self, run: RunId, moment: HealthMoment) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            for run in whole::runs(connection, run)? {
                if let Some(reading) = health::select(connection, run, moment)? {
                    return Ok(Some(reading));
                }
            }
            Ok(None)
        })
    }

    /// Keeps a baseline under a name, in place of one that had it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_baseline(&mut self, name: &str, document: &str) -> Result<(), StoreError> {
        self.write(|connection| Ok(baseline::put(connection, name, document)?))
    }

    /// The baseline of this name; none where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn baseline(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| Ok(baseline::get(connection, name)?))
    }

    /// The names of all baselines, in their order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn baselines(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| baseline::names(connection, self.budget.rows("baseline")))
    }

    /// Removes a baseline; whether there was one of this name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn remove_baseline(&mut self, name: &str) -> Result<bool, StoreError> {
        self.write(|connection| Ok(baseline::remove(connection, name)?))
    }

    /// Keeps what people added to a run, in place of what was there.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be written.
    pub fn annotate(&mut self, run: RunId, annotations: &Annotations) -> Result<(), StoreError> {
        self.run(run)?;
        self.write(|connection| Ok(annotation::put(connection, run, annotations)?))
    }

    /// Removes a run with all that is kept of it. Its number is not given to another.
    ///
    /// # Errors
    /// If there is no such run, a process carries it out, or it cannot be written.
    pub fn remove(&mut self, run: RunId) -> Result<(), StoreError> {
        self.own(run)?;
        let removed = self.write(|connection| {
            let whole = whole::of_shard(connection, run)?;
            for run in whole::all_shards(connection, run)?.into_iter().chain([run]) {
                run::remove(connection, run)?;
            }
            match whole {
                Some(whole) if whole::is_joined(connection, whole)? => whole::refresh(connection, whole, None),
                _ => Ok(()),
            }
        });
        self.owned.retain(|owner| owner.run != run);
        removed.map(drop)
    }

    /// Keeps when how much of a run was done.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_course(&mut self, run: RunId, course: &str) -> Result<(), StoreError> {
        self.write(|connection| {
            connection.execute("UPDATE run SET course = ?2 WHERE id = ?1", params![run.0, course])?;
            Ok(())
        })
    }

    /// When how much of the last complete run was done that did what `run` does, on the same target and by the same
    /// program; none where there was no such run.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn course_like(&self, run: RunId) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT other.course FROM run JOIN run AS other USING \
                 (plan_text, quick, simulated, target, target_identity, direct, version, git_commit) \
                 WHERE run.id = ?1 AND other.id <> run.id AND other.state = 'complete' AND other.course IS NOT NULL \
                 AND other.shards IS run.shards AND other.size_bytes IS run.size_bytes AND other.repeats IS run.repeats \
                 AND other.target_fingerprint IS run.target_fingerprint ORDER BY other.id DESC LIMIT 1";
            Ok(connection.query_row(sql, [run.0], |row| row.get(0)).optional()?)
        })
    }

    /// Enters how a run ended.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be written.
    pub fn finish(
        &mut self,
        run: RunId,
        state: RunState,
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
    pub fn teller(&self, run: RunId) -> Option<ProgressChannel> {
        self.owned.iter().find(|owner| owner.run == run)?.progress_channel()
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
        self.progress(run, RunState::Running, None, None)
    }

    fn progress(
        &mut self,
        run: RunId,
        state: RunState,
        error: Option<&str>,
        finished_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            let found = connection.execute(
                "UPDATE run SET state = ?2, error = ?3, finished_ms = ?4 WHERE id = ?1",
                params![run.0, run::state_name(state), error, finished_ms],
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
            let mut order = self.budget.rows("run");
            let mut statement = connection.prepare("SELECT * FROM run ORDER BY id")?;
            let mut annotations = annotation::get(connection, None, self.budget.rows("annotation"))?;
            let (mut rows, mut runs) = (statement.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                order.next(row.get("id")?, row)?;
                let run = run::of_row(row)?;
                let state = self.state(run.id, run.state);
                runs.push(Run { annotations: annotations.remove(&run.id).unwrap_or_default(), state, ..run });
            }
            Ok(runs)
        })
    }

    /// One run.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn run(&self, id: RunId) -> Result<Run, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT * FROM run WHERE id = ?1")?;
            let found = statement.query_row([id.0], run::of_row).optional()?;
            let Some(run) = found else { return Err(absent(connection, id)?.into()) };
            self.annotated(connection, run)
        })
    }

    /// The run with what people added to it.
    fn annotated(&self, connection: &Connection, run: Run) -> Result<Run, Cause> {
        let mut found = annotation::get(connection, Some(run.id), self.budget.rows("annotation"))?;
        let state = self.state(run.id, run.state);
        Ok(Run { annotations: found.remove(&run.id).unwrap_or_default(), state, ..run })
    }

    /// The state of a run of which the store says this: one that no process carries out was cut off.
    pub(crate) fn state(&self, run: RunId, stored: RunState) -> RunState {
        match stored {
            RunState::Running if self.told(run).is_none() => RunState::Interrupted,
            stored => stored,
        }
    }

    /// A run's simulated drive as it was when the run began, as JSON; none of a real target, and none in stores of earlier
    /// versions. It is apart from [`Run`], as only who reads the figures of a run needs it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn drive(&self, run: RunId) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let found = connection.query_row("SELECT drive FROM run WHERE id = ?1", [run.0], |row| row.get(0));
            Ok(found.optional()?.flatten())
        })
    }

    /// The run that began last; not a shard of a run that is here too.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn latest(&self) -> Result<Option<Run>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT * FROM run WHERE whole IS NULL OR NOT EXISTS \
                 (SELECT 1 FROM run AS joined WHERE joined.uuid = run.whole AND joined.shards IS NOT NULL) ORDER BY id DESC LIMIT 1";
            let latest = connection.query_row(sql, [], run::of_row);
            latest.optional()?.map(|run| self.annotated(connection, run)).transpose()
        })
    }

    /// All that was measured in a run, in the order in which it was kept.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn measured(&self, run: RunId) -> Result<Vec<StoredMeasurement>, StoreError> {
        self.read(|connection| {
            let (mut all, mut known) = (Vec::new(), HashSet::new());
            for run in whole::runs(connection, run)? {
                let measured = measured::select(connection, run, self.budget.rows("measurement"))?;
                // Shards measure some of what they have in common.
                let is_new = |one: &StoredMeasurement| known.insert((one.step.clone(), one.key.clone(), one.repeat));
                all.extend(measured.into_iter().filter(is_new));
            }
            Ok(all)
        })
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
            let mut all = HashSet::new();
            for run in whole::runs(connection, run)? {
                let keys = statement.query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
                all.extend(keys.collect::<Result<Vec<_>, _>>()?);
            }
            Ok(all)
        })
    }

    /// The doubts about a run, in the order in which they came up.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn notes(&self, run: RunId) -> Result<Vec<StoredFinding>, StoreError> {
        let some = |text: String| (!text.is_empty()).then_some(text);
        self.read(|connection| {
            let sql = "SELECT step, cell, text, rowid FROM finding WHERE run = ?1 ORDER BY rowid";
            let mut statement = connection.prepare(sql)?;
            let lack = whole::lack(connection, run)?;
            let mut notes: Vec<_> =
                lack.into_iter().map(|text| StoredFinding { step: None, cell: None, text }).collect();
            let mut known: HashSet<StoredFinding> = HashSet::new();
            for run in whole::runs(connection, run)? {
                let (mut order, mut rows) = (self.budget.rows("finding"), statement.query([run.0])?);
                while let Some(row) = rows.next()? {
                    order.next(row.get(3)?, row)?;
                    let note = StoredFinding { step: some(row.get(0)?), cell: some(row.get(1)?), text: row.get(2)? };
                    // Shards may have the same doubt.
                    if known.insert(note.clone()) {
                        notes.push(note);
                    }
                }
            }
            Ok(notes)
        })
    }
}

/// That there is no run of this number, and which there are.
fn absent(connection: &Connection, run: RunId) -> Result<StoreError, Cause> {
    let newest: Option<i64> = connection.query_row("SELECT max(id) FROM run", [], |row| row.get(0))?;
    Ok(StoreError::NoSuchRun { run, newest: newest.map(RunId) })
}

#[cfg(test)]
mod tests;
