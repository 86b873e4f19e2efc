//! Running rounds of one workload until a drive is as wanted.

use std::sync::Mutex;

use block::{Bytes, Nanos, Seed};
use engine::{CurveWindow, LiveProgress, Measurement};

use super::Session;
use crate::plan::{Condition, Limit};
use crate::variants::Lineage;
use crate::{LabError, level};
use host::Clocks;

impl Session<'_> {
    /// Runs rounds until the drive is as wanted; keeps them as one measurement, and gives how much was written.
    pub(super) fn condition(
        &self,
        name: &str,
        condition: &Condition,
        lineage: &mut Lineage,
        cost: Nanos,
    ) -> Result<Bytes, LabError> {
        let seed = self.seed.split(name);
        let constructed = self.construct_least(name, condition, lineage, seed)?;
        let since = Clocks::now();
        let mut rounds: Vec<f64> = Vec::new();
        let mut intervals: Vec<Vec<f64>> = Vec::new();
        let mut whole: Option<Measurement> = None;
        let mut told = Nanos::ZERO;
        let is_heard = lineage.is_heard();
        let mut heard = LiveProgress::default();
        let mut ends: Vec<f64> = Vec::new();
        let steady = loop {
            let before = whole.as_ref().map_or(Bytes::ZERO, Measurement::bytes);
            let latest = Mutex::new(heard);
            let hear = |_, now: Option<LiveProgress>| {
                for now in now.into_iter().filter(|_| is_heard) {
                    let now = after(heard, now);
                    *latest.lock().expect("nothing panics while it holds the progress") = now;
                    self.tell_live(now);
                }
            };
            let round = lineage
                .subject
                .run(&condition.workload.resumed(before), seed.number(rounds.len() as u64), &hear)
                .map_err(|error| error.at(name, &format!("round {}", rounds.len() + 1)))?;
            rounds.push(round.iops());
            intervals.push(level::intervals(&round));
            match &mut whole {
                None => whole = Some(round),
                Some(whole) => whole.append(&round),
            }
            let so_far = whole.as_ref().expect("a round was just added");
            heard = latest.into_inner().expect("nothing panics while it holds the progress");
            if is_heard {
                heard = at_least(heard, so_far);
                self.tell_live(heard);
            }
            ends.push(heard.elapsed.as_secs_f64());
            let writable = lineage.subject.writable();
            let share = |limit: &Limit| share_of(*limit, so_far, constructed, writable);
            let reached = condition.at_least.iter().map(share).reduce(f64::max).unwrap_or(1.0);
            let most = condition.at_most.iter().map(share).fold(0.0, f64::max);
            // Without a rule nothing ends it before the most.
            let sure = if condition.steady.is_some() { reached } else { most };
            let share = Nanos::from_nanos((cost.as_nanos() as f64 * sure.min(1.0)) as u64);
            self.watch.advance(share.since(told));
            told = share.max(told);
            let window = condition.steady.and_then(|rule| Some((rule, rule.judge(&rounds)?)));
            let steady = condition.steady.map(|_| window.is_some_and(|(_, found)| found.steady));
            if is_heard && !self.ahead.is_ahead() {
                let window = window.map(|(rule, found)| CurveWindow {
                    begin: ends.len().checked_sub(rule.rounds + 1).map_or(0.0, |before| ends[before]),
                    end: heard.elapsed.as_secs_f64(),
                    rule,
                    found,
                });
                self.watch.judged(rounds.len() as u32, window);
            }
            if reached >= 1.0 && steady == Some(true) {
                break steady;
            }
            if most >= 1.0 {
                break steady;
            }
        };
        if steady == Some(false) {
            let rounds = rounds.len();
            self.note(
                Some(name),
                lineage.cell(),
                &format!(
                    "Steady state not reached in {rounds} rounds; later figures are of a drive that is still changing."
                ),
            )?;
        }
        let whole = whole.expect("at least one round was run");
        self.note_all(name, lineage.changes, whole.target_findings())?;
        self.note_disturbances(since, whole.clock, name, lineage.changes)?;
        if let Some(rule) = condition.steady.filter(|_| steady == Some(true)) {
            let window = intervals[intervals.len() - rule.rounds..].concat();
            self.note_all(name, lineage.changes, level::window_finding(&window, rule.rounds).into_iter().collect())?;
        }
        self.note_all(name, lineage.changes, level::throttled(&whole).into_iter().collect())?;
        let written = constructed + whole.write.bytes;
        self.keep_series(name, "", lineage, whole)?;
        Ok(written)
    }

    /// Puts a drive that can be behind the writes with which its conditioning begins; how much these are.
    fn construct_least(
        &self,
        name: &str,
        condition: &Condition,
        lineage: &mut Lineage,
        seed: Seed,
    ) -> Result<Bytes, LabError> {
        let Some(construction) = condition.constructed(&lineage.subject.site()) else { return Ok(Bytes::ZERO) };
        let made = lineage.subject.construct(&construction.direct, seed).map_err(|error| error.at(name, ""))?;
        Ok(made.map_or(Bytes::ZERO, |made| made.bytes()))
    }

    /// Keeps what bringing the target itself into its state has given, unless the store has it already.
    pub(super) fn keep_series(
        &self,
        name: &str,
        cell: &str,
        lineage: &Lineage,
        whole: Measurement,
    ) -> Result<(), LabError> {
        if lineage.is_target() && !self.have.contains(&(name.to_owned(), cell.to_owned(), 0)) {
            self.watch.kept(name, cell, &whole);
            self.record.keep(name, cell, 0, whole)?;
        }
        Ok(())
    }
}

/// How far rounds have come together: those `over` and the one under way.
fn after(over: LiveProgress, now: LiveProgress) -> LiveProgress {
    LiveProgress {
        requests: over.requests + now.requests,
        bytes: over.bytes + now.bytes,
        elapsed: over.elapsed + now.elapsed,
        ..now
    }
}

/// What was heard of rounds that are over, and no less than was measured: the end of a round may not have been heard.
fn at_least(heard: LiveProgress, measured: &Measurement) -> LiveProgress {
    LiveProgress {
        clock: measured.clock,
        requests: heard.requests.max(measured.requests()),
        bytes: heard.bytes.max(measured.bytes()),
        elapsed: heard.elapsed.max(measured.elapsed),
        lately: heard.lately,
    }
}

/// What share of `limit` has been reached, after so much that was not measured; 1 when it has.
fn share_of(limit: Limit, so_far: &Measurement, constructed: Bytes, writable: Bytes) -> f64 {
    let share = |done: u64, of: u64| if of == 0 { 1.0 } else { done as f64 / of as f64 };
    let stop = limit.stop(writable);
    let time = stop.time.map(|time| share(so_far.elapsed.as_nanos(), time.as_nanos()));
    time.or(stop.bytes.map(|bytes| share((constructed + so_far.bytes()).get(), bytes.get()))).unwrap_or(1.0)
}
