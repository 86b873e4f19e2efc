//! Carrying out the method of a review on simulated drives.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use block::{Nanos, Seed};
use drive::preset::Preset;
use engine::{Clock, Measurement};
use workload::Workload;

use super::{Carried, MissingPart, Replication, Review};
use crate::cost::Place;
use crate::plan::{MethodPart, Phase, Step};
use crate::{LabError, Simulated, Subject, Traces, Watch};

/// Repeats `reviews`: every part of each starts from a new drive, and all processors take parts.
///
/// A drive that there is not, or a part that fails, is told among what is missing; the others are carried out.
pub fn replicate(reviews: &[Review], seed: Seed, watch: &dyn Watch) -> Vec<Replication> {
    let parts: Vec<(usize, &MethodPart, Result<Preset, String>)> = reviews
        .iter()
        .enumerate()
        .flat_map(|(index, review)| review.method.parts.iter().map(move |part| (index, part)))
        .map(|(index, part)| (index, part, Preset::find(&part.target).map_err(|error| error.to_string())))
        .collect();
    let found = parts.iter().filter_map(|(_, part, preset)| Some((part, Place::simulated(preset.as_ref().ok()?))));
    let weights =
        |(part, place): (&&MethodPart, Place)| part.plan.steps.iter().map(|step| weight(step, &place)).sum::<Nanos>();
    watch.begin(found.map(weights).sum());
    let next = AtomicUsize::new(0);
    let done: Mutex<HashMap<usize, Result<Carried, LabError>>> = Mutex::default();
    rayon::broadcast(|_| {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((review, part, preset)) = parts.get(index)
        {
            let Ok(preset) = preset else { continue };
            let seed = seed.split(&reviews[*review].method.name);
            let measured = carry_out(part, preset, seed, &|_| true, watch);
            done.lock().expect("nothing panics while it holds what is done").insert(index, measured);
        }
    });
    let mut done = done.into_inner().expect("nothing panics while it holds what is done");
    let of_review = |(index, review): (usize, &Review)| {
        let (mut carried, mut missing, mut targets) = (Carried::default(), Vec::new(), Vec::new());
        for (place, (_, part, preset)) in parts.iter().enumerate().filter(|(_, (of, ..))| *of == index) {
            let lost =
                |why: String, failed| MissingPart { part: part.name.clone(), target: part.target.clone(), why, failed };
            match (preset, done.remove(&place)) {
                (Err(why), _) => missing.push(lost(why.clone(), false)),
                (Ok(_), Some(Err(error))) => missing.push(lost(error.to_string(), true)),
                (Ok(_), None) => missing.push(lost("it was not run".to_owned(), true)),
                (Ok(preset), Some(Ok(mut more))) => {
                    carried.figures.append(&mut more.figures);
                    carried.limits.append(&mut more.limits);
                    targets.push((*part, preset.title.clone()));
                }
            }
        }
        Replication::new(review, seed, carried, &targets, missing)
    };
    reviews.iter().enumerate().map(of_review).collect()
}

/// Carries out a part on a new drive, step by step up to the last that yields anything `wanted`.
///
/// # Errors
/// At the first failure.
pub(crate) fn carry_out(
    part: &MethodPart,
    preset: &Preset,
    seed: Seed,
    wanted: &dyn Fn(&str) -> bool,
    watch: &dyn Watch,
) -> Result<Carried, LabError> {
    let (mut subject, place) = (Simulated::new(preset.clone()), Place::simulated(preset));
    let mut plan = part.plan.clone();
    Traces::give_builtin(&mut plan)?;
    let seed = seed.split(&part.name);
    let mut carried = Carried::default();
    let yields: Vec<_> = part.yields.iter().filter(|yielded| wanted(&yielded.id)).collect();
    let is_wanted = |step: &Step| yields.iter().any(|yielded| yielded.step == step.name);
    let Some(last) = plan.steps.iter().rposition(is_wanted) else { return Ok(carried) };
    for step in &plan.steps[..=last] {
        watch.step(&format!("{}: {}", part.target, step.title));
        carry_out_step(step, &mut subject, seed.split(&step.name), &mut |cell, measurement| {
            let limit = measurement.drive.and_then(|done| done.limit(measurement.elapsed));
            for yielded in yields.iter().filter(|yielded| yielded.step == step.name && yielded.cell == cell) {
                carried.figures.extend(yielded.quantity.of(measurement).map(|figure| (yielded.id.clone(), figure)));
                carried.limits.extend(limit.map(|limit| (yielded.id.clone(), limit)));
            }
        })?;
        watch.advance(weight(step, &place));
    }
    Ok(carried)
}

/// Carries out one step on the drive itself, so that every cell leaves its traces for the next, as they did for
/// the reviewer. `keep` hears of each cell that measures.
fn carry_out_step(
    step: &Step,
    subject: &mut Simulated,
    seed: Seed,
    keep: &mut dyn FnMut(&str, &Measurement),
) -> Result<(), LabError> {
    for phase in step.work(&subject.site()).phases {
        match phase {
            Phase::Purge(method) => subject.purge_by(method).map(drop),
            Phase::Rest(time) => {
                let before = subject.counters();
                subject.idle(time);
                let mut rest = Measurement::new(Workload::default(), seed, Clock::Virtual);
                (rest.elapsed, rest.drive) = (time, Some(subject.counters() - before));
                keep("", &rest);
                Ok(())
            }
            Phase::Run { cells, keeps: false, .. } => {
                cells.iter().try_for_each(|cell| subject.run(&cell.workload, seed, &|_, _| {}).map(drop))
            }
            Phase::Run { cells, keeps: true, .. } => cells.iter().try_for_each(|cell| {
                let (key, workload) = (cell.key(), &cell.workload);
                let run = subject.run(workload, seed.split(&key), &|_, _| {});
                keep(&key, &run.map_err(|error| error.at(&step.name, &key))?);
                Ok(())
            }),
            Phase::Trial(..) => unreachable!("a method that tries anything is refused when it is read"),
        }
        .map_err(|error| error.at(&step.name, ""))?;
    }
    Ok(())
}

/// What a step, whose cells are measured once each, adds to the progress.
fn weight(step: &Step, place: &Place) -> Nanos {
    place.pass(&step.work(&place.site())).host
}
