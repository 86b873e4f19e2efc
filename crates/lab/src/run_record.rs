//! The life of a run in the store: it begins or goes on, keeps what is found and measured, and ends.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Measurement;
use store::{HealthMoment, NewRun, Run, RunId, RunState, Store, StoreError, StoredMeasurement};

use crate::health::{HealthReading, HealthRecord};
use crate::{Course, LabError, Outcome, recall};

/// A run in the store, from its beginning to its end. Threads may keep what they measure side by side.
#[derive(Clone, Copy, Debug)]
pub struct RunRecord<'s> {
    store: &'s Mutex<Store>,
    id: RunId,
}

/// Why a run did not come to its end, and whether the store knows.
#[derive(Debug)]
pub struct Broken {
    /// What went wrong.
    pub reason: LabError,
    /// Why the end could not be entered, if it could not: then the run is listed as interrupted.
    pub unrecorded: Option<StoreError>,
}

impl Broken {
    /// What went wrong, and what became of the run.
    pub fn words(&self, run: RunId) -> String {
        let reason = &self.reason;
        match &self.unrecorded {
            None if reason.is_interruption() => format!("{reason}\nRun {run} is interrupted"),
            None => format!("{reason}\nRun {run} is marked failed"),
            Some(error) => {
                format!("{reason}\nRun {run} stays marked interrupted, as its end could not be stored: {error}")
            }
        }
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl<'s> RunRecord<'s> {
    /// A run that was begun before.
    pub fn of(store: &'s Mutex<Store>, id: RunId) -> Self {
        Self { store, id }
    }

    /// Enters a run that begins, with doubts about it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(store: &'s Mutex<Store>, run: &NewRun, doubts: &[String]) -> Result<Self, StoreError> {
        let id = lock(store).begin(run)?;
        let record = Self { store, id };
        record.doubt(doubts)?;
        Ok(record)
    }

    /// Enters that a run goes on which this store owns, with the doubts that have come up since it began. On a real target
    /// another run may have changed what it finds.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn go_on(store: &'s Mutex<Store>, run: &Run, is_real: bool, doubts: &[String]) -> Result<Self, StoreError> {
        let record = Self { store, id: run.id };
        record.doubt(doubts)?;
        let runs = if is_real { lock(store).runs()? } else { Vec::new() };
        if let Some(other) = runs.iter().rfind(|other| other.id > run.id && other.target == run.target) {
            record.doubt(&[format!(
                "Run {} used the target between the parts of this run, so the drive's state changed between earlier and \
                 later steps.",
                other.id
            )])?;
        }
        lock(store).reopen(run.id)?;
        Ok(record)
    }

    /// The number of the run.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Keeps what was seen of the drive's health; after the run, with doubts about what it has done to the drive.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_health(&self, moment: HealthMoment, reading: HealthReading) -> Result<(), StoreError> {
        let text = serde_json::to_string(&reading).expect("names and numbers always serialise");
        self.store().keep_health(self.id, moment, &text)?;
        if moment == HealthMoment::Before {
            return Ok(());
        }
        let before =
            self.store().health(self.id, HealthMoment::Before)?.and_then(|text| serde_json::from_str(&text).ok());
        self.doubt(&HealthRecord { before, after: Some(reading) }.findings())
    }

    /// Keeps doubts about the run as a whole.
    fn doubt(&self, doubts: &[String]) -> Result<(), StoreError> {
        doubts.iter().try_for_each(|doubt| self.note(None, None, doubt))
    }

    /// Keeps a doubt.
    pub(crate) fn note(&self, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), StoreError> {
        self.store().note(self.id, step, cell, text)
    }

    /// Takes back the last repeat of each cell of which it was said that it was `cut_short`.
    pub(crate) fn retract(&self, cut_short: &str) -> Result<(), StoreError> {
        let notes = self.store().notes(self.id)?;
        for note in notes.into_iter().filter(|note| note.text == cut_short) {
            let [step, cell] = [note.step, note.cell].map(Option::unwrap_or_default);
            self.store().retract(self.id, &step, &cell, cut_short)?;
        }
        Ok(())
    }

    /// Step, cell and repeat of all that is kept.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn kept(&self) -> Result<HashSet<(String, String, u32)>, StoreError> {
        self.store().keys(self.id)
    }

    pub(crate) fn measured(&self) -> Result<Vec<StoredMeasurement>, StoreError> {
        self.store().measured(self.id)
    }

    /// The IOPS of all repeats that are kept, by step and cell.
    pub(crate) fn iops(&self) -> Result<HashMap<(String, String), Vec<f64>>, StoreError> {
        let mut iops: HashMap<(String, String), Vec<f64>> = HashMap::new();
        for stored in self.measured()? {
            iops.entry((stored.step, stored.key)).or_default().push(stored.measurement.iops());
        }
        Ok(iops)
    }

    /// Keeps repeats of all cells of a point, all or none.
    pub(crate) fn keep_point(&self, step: &str, cells: &[(String, Vec<(u32, Measurement)>)]) -> Result<(), StoreError> {
        self.store().record_point(self.id, step, cells)
    }

    pub(crate) fn keep(&self, step: &str, cell: &str, repeat: u32, one: Measurement) -> Result<(), StoreError> {
        self.store().record_cell(self.id, step, cell, &[(repeat, one)])
    }

    /// Keeps what came of a trial.
    pub(crate) fn keep_trial(&self, step: &str, cell: &str, repeat: u32, result: &str) -> Result<(), StoreError> {
        self.store().record_trial(self.id, step, cell, repeat, result)
    }

    /// When how much of the last run like this was done; of what cannot be read nothing is known.
    pub fn course_like(&self) -> Course {
        let like = self.store().course_like(self.id).ok().flatten();
        like.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Enters how the run ended, and when how much of it was done.
    ///
    /// # Errors
    /// What went wrong, which may be that the end cannot be entered.
    pub fn end(&self, done: Result<(), LabError>, course: Option<&Course>) -> Result<(), Box<Broken>> {
        let complete = || -> Result<(), StoreError> {
            let mut store = self.store();
            if let Some(course) = course {
                let text = serde_json::to_string(course).expect("numbers always serialise");
                store.keep_course(self.id, &text)?;
            }
            store.finish(self.id, RunState::Complete, None, now_ms())
        };
        // All was measured; that it could not be entered is what went wrong then.
        let Err(reason) = done.and_then(|()| complete().map_err(LabError::from)) else { return Ok(()) };
        let state = if reason.is_interruption() { RunState::Interrupted } else { RunState::Failed };
        let unrecorded = self.store().finish(self.id, state, Some(&reason.to_string()), now_ms()).err();
        Err(Box::new(Broken { reason, unrecorded }))
    }

    /// Enters why the process was killed that carried the run out, unless another goes on with it.
    ///
    /// # Errors
    /// If it cannot be written, or another process goes on with it.
    pub fn killed(&self, cause: &str) -> Result<(), StoreError> {
        let mut store = self.store();
        store.own(self.id)?;
        if store.run(self.id)?.state == RunState::Running {
            store.finish(self.id, RunState::Failed, Some(cause), now_ms())?;
        }
        Ok(())
    }

    /// All that is kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn recall(&self) -> Result<Outcome, LabError> {
        recall(&self.store(), self.id)
    }

    /// The store, whichever thread asks.
    pub fn store(&self) -> MutexGuard<'s, Store> {
        lock(self.store)
    }
}

fn lock(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    store.lock().expect("nothing panics while it holds the store")
}
