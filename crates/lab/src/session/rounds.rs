//! Measuring in rounds, on the drive as each measurement leaves it.

use block::{Bytes, Nanos};
use engine::Measurement;

use super::{Session, unaligned};
use crate::LabError;
use crate::plan::{Cell, Rounds};
use crate::variants::Lineage;
use host::Clocks;

impl Session<'_> {
    /// Measures all cells round by round until those that decide are steady; how much was written.
    ///
    /// Each measurement is stored as soon as it is done. Where the target kept its state while the run was cut off,
    /// what is stored is not measured again; a simulated drive goes through all of it, which gives the same figures.
    pub(super) fn rounds(
        &self,
        name: &str,
        rounds: &Rounds,
        lineage: &mut Lineage,
        cost: Nanos,
    ) -> Result<Bytes, LabError> {
        let mut cells = Vec::new();
        for (place, cell) in rounds.measure.cells.iter().enumerate() {
            match cell.workload.unfit(lineage.subject.block()) {
                Some(found) => self.note(Some(name), Some(&cell.key()), &unaligned(found, lineage.subject.block()))?,
                None => cells.push(MeasuredCell { place, cell, key: cell.key(), rounds: Vec::new() }),
            }
        }
        let mut stored = StoredRounds::of(self, name, lineage)?;
        let all = (cells.len() as u64 * u64::from(rounds.at_most)).max(1);
        let each = Nanos::from_nanos(cost.as_nanos() / all);
        let mut written = Bytes::ZERO;
        let mut done = 0;
        let (mut judged, mut is_steady) = (0, rounds.steady.map(|_| false));
        while done < rounds.at_most && is_steady != Some(true) && !cells.is_empty() {
            // A round that was cut off is gone on with after the writes that it began with.
            if let Some(workload) = rounds.pre_writes.as_ref().filter(|_| !stored.has_round(done)) {
                let seed = self.seed.split(name).split("pre-writes").number(u64::from(done));
                let place = || format!("pre-writes of round {}", done + 1);
                let one = lineage.subject.run(workload, seed, &|_, _| {}).map_err(|error| error.at(name, &place()))?;
                written += one.write.bytes;
            }
            for measured in &mut cells {
                let one = match stored.take(&measured.key, done) {
                    Some(one) => {
                        self.watch.advance(each);
                        one
                    }
                    None => self.measure_once(name, measured, done, rounds.rest, lineage, each)?,
                };
                written += one.write.bytes;
                measured.rounds.push(one);
            }
            done += 1;
            if rounds.steady.is_some() {
                let watched = cells.iter().filter(|measured| rounds.watched.contains(&measured.place));
                let verdicts: Vec<bool> =
                    watched.map(|measured| rounds.watch(measured.place, &measured.rounds).is_steady()).collect();
                judged = verdicts.len();
                is_steady = Some(judged == rounds.watched.len() && verdicts.into_iter().all(|steady| steady));
            }
        }
        self.watch.advance(each.times(all - u64::from(done) * cells.len() as u64));
        if is_steady == Some(false) {
            self.note(Some(name), lineage.cell(), &not_steady(done, rounds, judged))?;
        }
        Ok(written)
    }

    /// Measures one cell in one round, keeps it, and leaves the drive alone for as long as was asked.
    fn measure_once(
        &self,
        name: &str,
        measured: &MeasuredCell,
        round: u32,
        rest: Nanos,
        lineage: &mut Lineage,
        cost: Nanos,
    ) -> Result<Measurement, LabError> {
        let MeasuredCell { cell, key, .. } = measured;
        let since = Clocks::now();
        let seed = self.seed.split(name).split(key).number(u64::from(round));
        let place = || format!("{} round {}", cell.place(), round + 1).trim_start().to_owned();
        // What is read or written in order goes on through the target, and comes to all of it in the end.
        let moved = measured.rounds.iter().map(Measurement::bytes).sum();
        let workload = cell.workload.resumed(moved);
        let mut one = self.run(lineage, &workload, seed, cost).map_err(|error| error.at(name, &place()))?;
        one.workload.begin = Bytes::ZERO;
        if rest > Nanos::ZERO {
            lineage.subject.idle(rest);
        }
        self.note_all(name, key, one.target_findings())?;
        self.note_disturbances(since, one.clock, name, key)?;
        if !self.have.contains(&(name.to_owned(), key.clone(), round)) {
            self.record.keep(name, key, round, one.clone())?;
            self.watch.kept(name, key, &one);
        }
        Ok(one)
    }
}

/// A cell with its measurements so far.
struct MeasuredCell<'p> {
    /// Its place among the step's cells.
    place: usize,
    cell: &'p Cell,
    key: String,
    rounds: Vec<Measurement>,
}

/// What the store has of a step whose target is as these measurements left it.
struct StoredRounds(Vec<store::StoredMeasurement>);

impl StoredRounds {
    fn of(session: &Session, step: &str, lineage: &Lineage) -> Result<Self, LabError> {
        if !lineage.survives || !session.have.iter().any(|(name, ..)| name == step) {
            return Ok(Self(Vec::new()));
        }
        let all = session.record.measured()?;
        Ok(Self(all.into_iter().filter(|stored| stored.step == step).collect()))
    }

    fn has_round(&self, round: u32) -> bool {
        self.0.iter().any(|stored| stored.repeat == round)
    }

    fn take(&mut self, key: &str, round: u32) -> Option<Measurement> {
        let place = self.0.iter().position(|stored| stored.key == key && stored.repeat == round)?;
        Some(self.0.swap_remove(place).measurement)
    }
}

/// What is said of rounds that ended without being steady, of which so many cells could be judged.
fn not_steady(done: u32, rounds: &Rounds, judged: usize) -> String {
    if judged < rounds.watched.len() {
        return "Steady state not judged: a tracking point could not be measured on this target.".to_owned();
    }
    format!(
        "Steady state not reached in {done} rounds; figures are from the last {}, in which the drive was still \
         changing.",
        rounds.measure.repeats.most.min(done)
    )
}
