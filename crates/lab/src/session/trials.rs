//! Trying what stands above the drive, point by point.

use attach::LiveStats;
use engine::Clock;
use trial::{Trial, TrialContext, TrialError, procedure};

use super::Session;
use crate::LabError;
use crate::plan::{Step, TrialPoint, Trials};
use crate::subject::Subject;
use host::Clocks;

impl Session<'_> {
    /// Tries every point as often as is wanted and keeps what comes of each go at once.
    ///
    /// The goes of a point are spread over the step: each point has its first before any has its second, so that what
    /// changes on the machine with time tells on all of them alike. What a target does not have, or a program refuses, at
    /// one point, another may do without: that is a finding, unless nothing comes of any point.
    pub(super) fn trials(&self, index: usize, trials: &Trials, subject: &mut dyn Subject) -> Result<(), LabError> {
        let step = &self.plan.steps[index];
        let mut kept = self.have.iter().any(|(name, ..)| *name == step.name);
        let (mut refused, mut latest) = (None, None);
        let points = || trials.points.iter().enumerate().filter(|(at, _)| self.portion.has(index, *at));
        for (repeat, point) in (0..trials.repeats).flat_map(|repeat| points().map(move |(_, point)| (repeat, point))) {
            let key = point.key();
            if !self.have.contains(&(step.name.clone(), key.clone(), repeat)) {
                let since = Clocks::now();
                match self.try_once(step, trials, point, repeat, subject) {
                    Ok((tried, live)) => {
                        latest = latest
                            .into_iter()
                            .chain(live)
                            .max_by(|one, other| lateness(one).total_cmp(&lateness(other)));
                        self.keep_trial(step, &key, repeat, tried)?;
                        self.note_disturbances(since, Clock::Real, &step.name, &key)?;
                        kept = true;
                    }
                    Err(LabError::Trial(error @ (TrialError::Lacks(_) | TrialError::Failed { .. }))) => {
                        self.note_all(&step.name, &key, vec![format!("Not measured: {error}.")])?;
                        refused = Some(LabError::from(error).at(&step.name, &key));
                    }
                    Err(error) => return Err(error.at(&step.name, &key)),
                }
            }
            self.watch.advance(trials.experiment.cost(&point.choices));
        }
        // The worst of all goes stands for them.
        if let Some(finding) = latest.as_ref().and_then(LiveStats::finding) {
            self.note(Some(&step.name), None, &finding)?;
        }
        refused.filter(|_| !kept).map_or(Ok(()), Err)
    }

    fn keep_trial(&self, step: &Step, key: &str, repeat: u32, tried: Trial) -> Result<(), LabError> {
        let text = serde_json::to_string(&tried).expect("figures and texts always serialise");
        self.record.keep_trial(&step.name, key, repeat, &text)?;
        self.watch.tried(&step.name, key, &tried);
        self.note_all(&step.name, key, tried.findings)
    }

    fn try_once(
        &self,
        step: &Step,
        trials: &Trials,
        point: &TrialPoint,
        repeat: u32,
        subject: &mut dyn Subject,
    ) -> Result<(Trial, Option<LiveStats>), LabError> {
        let key = point.key();
        let place = if key.is_empty() { step.title.clone() } else { format!("{}: {key}", step.title) };
        self.watch.step(&place);
        let stage = subject.stage()?;
        let seed = self.seed.split(&step.name).split(&key).number(u64::from(repeat));
        let tell = |what: &str| self.watch.step(&format!("{place}: {what}"));
        let tried = procedure(trials.experiment).run(&point.choices, &stage, &TrialContext { seed, tell: &tell });
        let (is_stopped, speed) = (stage.is_stopped(), stage.speed());
        let live = stage.live();
        drop(stage);
        let left = subject.leave_stage();
        let tried = tried.map_err(|error| match error {
            TrialError::Interrupted => LabError::Interrupted,
            _ if is_stopped => LabError::Interrupted,
            error => error.into(),
        });
        let mut tried = tried?.at_full_speed(speed);
        left?;
        tried.conditions.extend(live.as_ref().map(late_by));
        tried.findings.extend((speed != 1.0).then(|| slowed(speed)));
        Ok((tried, live))
    }
}

/// How late an attached drive's answers were beside its own time: what decides which go was the worst.
fn lateness(live: &LiveStats) -> f64 {
    live.late_99.as_secs_f64() / live.own_median.as_secs_f64().max(1e-9)
}

fn late_by(live: &LiveStats) -> (String, String) {
    let late = format!("median {}, 99 % {}", live.late_median, live.late_99);
    ("completions of the drive late by".to_owned(), late)
}

fn slowed(speed: f64) -> String {
    format!(
        "The drive ran at {speed} of its speed, and figures are scaled back: times by {speed}, rates by {:.3}. CPU time of the machine is scaled too and so understated.",
        1.0 / speed
    )
}
