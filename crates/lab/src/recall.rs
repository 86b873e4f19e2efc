//! A run as the store has it, put back into the order of its plan.

use std::collections::HashMap;

use block::Bytes;
use drive::preset::Preset;
use engine::Measurement;
use store::{HealthMoment, Run, RunId, Store, StoreError};
use trial::Trial;

use crate::health::HealthRecord;
use crate::plan::{Cell, Passes, Plan, PlanLength, Site, TrialPoint, few_requests, leaves_as_found, parse};
use crate::{DriveRecord, Environment, Finding, LabError, Outcome, PointOutcome, PurgeMethod, Repeat, StepOutcome};

/// Everything the store has of `run`, whether it was finished or not.
///
/// # Errors
/// If there is no such run, or what is stored of it cannot be read.
pub fn recall(store: &Store, run: RunId) -> Result<Outcome, LabError> {
    let run = store.run(run)?;
    let mut plan = plan_of(&run)?;
    let mut measured: HashMap<(String, String), Vec<(u32, Measurement)>> = HashMap::new();
    for stored in store.measured(run.id)? {
        measured.entry((stored.step, stored.key)).or_default().push((stored.repeat, stored.measurement));
    }
    let mut repeats_of = |step: &str, key: &str| {
        let mut repeats = measured.remove(&(step.to_owned(), key.to_owned())).unwrap_or_default();
        repeats.sort_by_key(|(repeat, _)| *repeat);
        repeats.into_iter().map(|(_, measurement)| measurement).collect()
    };
    let mut tried = trials_of(store, run.id)?;
    let capacity = capacity_of(&run);
    let drive = drive_of(store, &run)?;
    let of_all = capacity.unwrap_or(Site::ANY.capacity);
    let writable = drive.as_ref().map_or(of_all, |drive| drive.writable(of_all));
    let site = Site { writable, ..Site::of(of_all) };
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter_mut().enumerate() {
        let work = step.work(&site);
        if work.kept().is_none() {
            continue;
        }
        let measured = |cell: &Cell| measured_at(cell, repeats_of(&step.name, &cell.key()), work.passes);
        let mut points: Vec<PointOutcome> = work.cells().map(measured).collect();
        if let Some(trials) = work.trials() {
            let mut goes_of = |key: &str| tried.remove(&(step.name.clone(), key.to_owned())).unwrap_or_default();
            let outcome =
                |point: &TrialPoint| PointOutcome::tried(trials.experiment.name(), point, goes_of(&point.key()));
            points.extend(trials.points.iter().map(outcome));
        }
        // What a trace asked for, which may be gone by now, is known from its measurements.
        let measured = points.iter().filter_map(PointOutcome::workload);
        for (workload, measured) in step.action.kind_mut().workloads_mut().into_iter().zip(measured) {
            if workload.replay.is_some() {
                *workload = measured.clone();
            }
        }
        steps.push(StepOutcome { index, points });
    }
    let mut findings = findings_of(store, run.id, &plan)?;
    findings.extend(few_requests(&plan, &steps));
    leave_out_purges(&mut plan, &findings);
    let health = health_of(store, run.id)?;
    Ok(Outcome { capacity, drive, run, plan, steps, health, findings, pooled: Vec::new() })
}

/// The doubts about the run, those about steps in the order of the plan: steps of a simulated drive are done side by side. What
/// has one reason in several cells of a step is one.
fn findings_of(store: &Store, run: RunId, plan: &Plan) -> Result<Vec<Finding>, StoreError> {
    let notes = store.notes(run)?.into_iter();
    let mut findings: Vec<Finding> = notes.map(|note| Finding::of(note.step, note.cell, note.text)).collect();
    let first = findings.iter().position(|finding| finding.step.is_some()).unwrap_or(findings.len());
    let place = |name: &String| plan.steps.iter().position(|step| step.name == *name);
    findings[first..].sort_by_key(|finding| finding.step.as_ref().and_then(place).unwrap_or(plan.steps.len()));
    Ok(Finding::grouped(findings))
}

/// What came of trials, by step and key, in the order of the repeats.
fn trials_of(store: &Store, run: RunId) -> Result<HashMap<(String, String), Vec<Trial>>, LabError> {
    let mut tried = store.tried(run)?;
    tried.sort_by_key(|one| one.repeat);
    let mut trials: HashMap<(String, String), Vec<Trial>> = HashMap::new();
    for one in tried {
        let damaged = |_| StoreError::Damaged {
            what: "result of a trial",
            step: one.step.clone(),
            cell: one.key.clone(),
            repeat: one.repeat,
        };
        let trial = serde_json::from_str(&one.result).map_err(damaged)?;
        trials.entry((one.step, one.key)).or_default().push(trial);
    }
    Ok(trials)
}

/// Marks the purges that the command line left out or the target could not do, which the plan's text does not know.
fn leave_out_purges(plan: &mut Plan, findings: &[Finding]) {
    let left_out = |name: &str| {
        findings.iter().any(|finding| finding.step.as_deref() == Some(name) && leaves_as_found(&finding.text))
    };
    for step in plan.steps.iter_mut().filter(|step| left_out(&step.name)) {
        step.action.kind_mut().purge_by(PurgeMethod::None);
    }
}

/// What was asked of a cell and what came of it. What a trace asked for, and what the target decided, is known from its
/// measurements.
fn measured_at(cell: &Cell, mut repeats: Vec<Measurement>, passes: Passes) -> PointOutcome {
    let is_decided_there = cell.workload.replay.is_some() || cell.load().is_some() || matches!(passes, Passes::Once);
    let measured = repeats.first().filter(|_| is_decided_there);
    let workload = measured.map_or(&cell.workload, |measured| &measured.workload).clone();
    // The last rounds are those that count.
    let counted = match passes {
        Passes::Rounds(rounds) => rounds.measure.repeats.most as usize,
        _ => repeats.len(),
    };
    let last = repeats.split_off(repeats.len().saturating_sub(counted));
    let before = repeats.into_iter().map(Repeat::from).collect();
    PointOutcome { before, ..PointOutcome::measured(cell.point.clone(), workload, last) }
}

/// The drive's health before a run and after. What this version cannot read is as if nobody had looked.
fn health_of(store: &Store, run: RunId) -> Result<HealthRecord, LabError> {
    let reading = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
    let [before, after] =
        [store.health(run, HealthMoment::Before)?, store.health(run, HealthMoment::After)?].map(reading);
    Ok(HealthRecord { before, after })
}

/// How much the run's target holds, as far as it was used. A run that did not keep it is taken to be on the drive as it is
/// now.
fn capacity_of(run: &Run) -> Option<Bytes> {
    if run.capacity.is_some() {
        return run.capacity;
    }
    if let Some(name) = run.target.strip_prefix("sim:") {
        return Preset::find(name).ok().map(|preset| preset.capacity());
    }
    run.size.or_else(|| serde_json::from_str::<Environment>(&run.environment).ok()?.capacity())
}

/// The plan that a run followed, with the repeats it was given on the command line.
///
/// # Errors
/// If the stored text is not a plan of this version of the program.
pub fn plan_of(run: &store::Run) -> Result<Plan, LabError> {
    let length = PlanLength::of(run.quick, run.simulated);
    let mut plan = parse(&run.plan_text, length).map_err(|mistakes| LabError::Plan {
        run: run.id,
        reason: mistakes.first().map(ToString::to_string).unwrap_or_default(),
    })?;
    if let Some(repeats) = run.repeats {
        plan.repeat(repeats);
    }
    Ok(plan)
}

/// The simulated drive of a run. The drive that comes with the program today is asked only for a run that kept no record.
fn drive_of(store: &Store, run: &Run) -> Result<Option<DriveRecord>, LabError> {
    let Some(text) = store.drive(run.id)? else { return Ok(DriveRecord::of_today(&run.target)) };
    let damaged = |error| LabError::Drive { run: run.id, reason: format!("{error}") };
    DriveRecord::from_json(&text).map(Some).map_err(damaged)
}
