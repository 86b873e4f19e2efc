//! A run while it is under way: how far it has come, and every step's figures and charts as they are kept.
//!
//! The page is whole without scripts, and then loads itself again now and then. With scripts it asks for [`live_state`]
//! and puts in place what has changed, a step at a time.

use block::Nanos;
use maud::{Markup, html};
use measurement::{Curve, Run, RunState};
use plan::{Outcome, Plan, Site, Step};
use serde::Serialize;

use super::curve::drawn;
use super::frame::{Charts, SiteSection, framed};
use crate::conditions::date;
use crate::number::whole;
use crate::page::{NO_SCRIPT, Page};
use crate::part::anchor;
use crate::parts::parts;
use crate::section::section;

/// What the process that carries a run out has told last, as far as it has told anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSnapshot {
    /// The title of the step that is carried out.
    pub step: Option<String>,
    /// The share of the whole work that is done, from 0 to 1.
    pub share: Option<f64>,
    /// The time since it began, or went on.
    pub gone: Option<Nanos>,
    /// About the time until it ends.
    pub left: Option<Nanos>,
    /// What the workload that is carried out does now.
    pub speed: Option<String>,
    /// How fast the step was over its time; that of an earlier one where the step has none.
    pub curve: Option<Curve>,
}

/// How far a run has come, for the page's script and other programs.
#[derive(Serialize)]
struct LiveDocument<'t> {
    /// Whether there is more to come.
    goes_on: bool,
    state: &'static str,
    /// The title of the step that is carried out.
    step: Option<&'t str>,
    share: f64,
    line: String,
    speed: &'t str,
    curve: Option<&'t Curve>,
    steps: Vec<StepProgress>,
}

/// How far a step has come.
#[derive(Serialize)]
struct StepProgress {
    anchor: String,
    title: String,
    /// Repeats that are kept.
    kept: u64,
    /// `6 of 16`; empty where a step keeps nothing.
    words: String,
    /// `done`, `now` or `waits`.
    mark: &'static str,
}

/// Repeats that a step keeps when it is done; none where it keeps none. The second says whether fewer may do.
fn whole_of(step: &Step) -> Option<(u64, bool)> {
    step.work(&Site::ANY).kept()
}

/// How far each step has come. Steps follow one another, so what lies before one that has begun is done.
fn progress(plan: &Plan, kept: &[(String, u64)], now: Option<&LiveSnapshot>, is_complete: bool) -> Vec<StepProgress> {
    let kept_of = |step: &Step| kept.iter().find(|(name, _)| *name == step.name).map_or(0, |(_, count)| *count);
    let is_full = |step: &Step| whole_of(step).is_some_and(|(most, _)| kept_of(step) >= most);
    let begun = plan.steps.iter().rposition(|step| kept_of(step) > 0);
    let title = now.and_then(|now| now.step.as_deref());
    let named = |place: &usize| title == Some(plan.steps[*place].title.as_str()) && !is_full(&plan.steps[*place]);
    let current = now.and_then(|_| (0..plan.steps.len()).find(named).or(begun));
    let mark = |place: usize, step: &Step| match () {
        () if is_complete || is_full(step) => "done",
        () if current == Some(place) => "now",
        () if current.max(begun).is_some_and(|reached| place < reached) => "done",
        () => "waits",
    };
    let words = |step: &Step, done: u64| match whole_of(step) {
        None => String::new(),
        Some((most, true)) => format!("{} of up to {}", whole(done), whole(most)),
        Some((most, false)) => format!("{} of {}", whole(done), whole(most)),
    };
    let steps = plan.steps.iter().enumerate();
    steps
        .map(|(place, step)| StepProgress {
            anchor: anchor(&step.name),
            title: step.title.clone(),
            kept: kept_of(step),
            words: words(step, kept_of(step)),
            mark: mark(place, step),
        })
        .collect()
}

impl<'t> LiveDocument<'t> {
    /// `now` is none where no process carries the run out.
    fn of(run: &Run, plan: &Plan, kept: &[(String, u64)], now: Option<&'t LiveSnapshot>) -> Self {
        let now = now.filter(|_| run.state == RunState::Running);
        let steps = progress(plan, kept, now, run.state == RunState::Complete);
        Self {
            goes_on: now.is_some(),
            state: run.state.name(),
            step: now.and_then(|now| now.step.as_deref()),
            share: match run.state {
                RunState::Complete => 1.0,
                _ => now.and_then(|now| now.share).unwrap_or_else(|| share(plan, kept)),
            },
            line: line(run, now),
            speed: now.and_then(|now| now.speed.as_deref()).unwrap_or_default(),
            curve: now.and_then(|now| now.curve.as_ref()),
            steps,
        }
    }
}

/// The share of all repeats that is kept, for want of better.
fn share(plan: &Plan, kept: &[(String, u64)]) -> f64 {
    let most: u64 = plan.steps.iter().filter_map(whole_of).map(|(most, _)| most).sum();
    let done: u64 = kept.iter().map(|(_, count)| count).sum();
    if most == 0 { 0.0 } else { (done as f64 / most as f64).min(1.0) }
}

/// How far it has come, in a line.
fn line(run: &Run, now: Option<&LiveSnapshot>) -> String {
    let Some(now) = now else {
        return match run.state {
            RunState::Complete => "Complete.".to_owned(),
            RunState::Failed => format!("Failed: {}", run.error.as_deref().unwrap_or("unknown reason")),
            RunState::Running => "Starting.".to_owned(),
            RunState::Interrupted => format!(
                "The run was interrupted and no process is running it. Finished measurements are kept; assay review \
                 --resume {} continues it.",
                run.id
            ),
        };
    };
    let share = now.share.map(|share| format!("{:.0} %", share * 100.0));
    let gone = now.gone.map(|gone| format!("{} elapsed", rough(gone)));
    let left = now.left.map(|left| format!("about {} left", rough(left)));
    share.into_iter().chain(gone).chain(left).collect::<Vec<_>>().join(" · ")
}

/// A length of time as people say it: `43 s`, `3 min 20 s`, `2 h 5 min`.
fn rough(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// What has changed of a run, for the page's script.
pub fn live_state(run: &Run, plan: &Plan, kept: &[(String, u64)], now: Option<&LiveSnapshot>) -> String {
    serde_json::to_string(&LiveDocument::of(run, plan, kept, now)).expect("words and numbers always serialise")
}

/// The section of the step at this place of the page, as it is now; none if there is none, or nothing is kept of it.
pub fn live_step(outcome: &Outcome, place: &str) -> Option<String> {
    let parts = parts(outcome);
    let index = parts.iter().position(|part| part.anchor() == place && part.is_measured())?;
    Some(section(outcome, &parts, index).into_string())
}

/// The curve of the step that is carried out, as it is now; empty where there is none.
pub fn live_curve(run: &Run, now: Option<&LiveSnapshot>) -> String {
    let curve = now.filter(|_| run.state == RunState::Running).and_then(|now| now.curve.as_ref());
    curve.map(|curve| drawn(curve).into_string()).unwrap_or_default()
}

/// A run as it goes on. `now` is none where no process carries it out.
pub fn live(outcome: &Outcome, kept: &[(String, u64)], now: Option<&LiveSnapshot>) -> String {
    let run = &outcome.run;
    let told = LiveDocument::of(run, &outcome.plan, kept, now);
    let parts = parts(outcome);
    let heading = html! {
        p.kicker { (outcome.plan.title) }
        h1 { (run.target_identity) }
        p.facts {
            span #state class={ "badge " (told.state) } { (told.state) }
            @if run.quick { span.badge.quick { "quick" } }
            span { code { (run.target) } }
            span { "run " (run.id) }
            span { "began " (date(run.started_ms)) }
        }
    };
    let main = html! {
        section #progress aria-label="Progress" data-run=(run.id) data-goes-on[told.goes_on] {
            h2 #step { (told.step.unwrap_or_default()) }
            progress max="1" value=(told.share) aria-label="Progress" {}
            p #line role="status" { (told.line) }
            p #speed { (told.speed) }
            p { a #report href={ "/run/" (run.id) } { @if told.goes_on { "Partial report" } @else { "Report" } } }
            div #curve { @if let Some(curve) = told.curve { (drawn(curve)) } }
            (steps(&told))
        }
        (NO_SCRIPT)
        // The step that is carried out comes first.
        div.growing {
            @for (index, part) in parts.iter().enumerate() {
                @let step = told.steps.iter().find(|step| step.anchor == part.anchor());
                div data-step=(part.anchor()) data-kept=(step.map_or(0, |step| step.kept)) data-mark=[step.map(|step| step.mark)] {
                    @if part.is_measured() { (section(outcome, &parts, index)) }
                }
            }
        }
    };
    let page = Page {
        title: format!("Run {} – {}", run.id, run.target_identity),
        version: run.version.clone(),
        heading,
        name: format!("run-{}", run.id),
        main,
    };
    framed(&page, SiteSection::Runs, Charts::Growing)
}

/// The steps with how far each has come.
fn steps(told: &LiveDocument) -> Markup {
    html! {
        ol.course {
            @for step in &told.steps { li data-of=(step.anchor) data-mark=(step.mark) {
                @if step.words.is_empty() { span { (step.title) } } @else { a href={ "#" (step.anchor) } { (step.title) } }
                span.kept { (step.words) }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{PlanLength, parse};

    use super::*;

    const PLAN: &str = "name = \"p\"\ntitle = \"P\"\nrepeats = 2\n\
        [[step]]\nname = \"purge\"\ntitle = \"Purge\"\ndo = \"purge\"\n\
        [[step]]\nname = \"read\"\ntitle = \"Reads\"\nrw = \"randread\"\nruntime = \"1s\"\nsweep.bs = [\"4k\", \"8k\"]\n\
        [[step]]\nname = \"idle\"\ntitle = \"Rest\"\ndo = \"idle\"\ntime = \"1s\"\n\
        [[step]]\nname = \"write\"\ntitle = \"Writes\"\nrw = \"randwrite\"\nruntime = \"1s\"\n";

    fn marks(kept: &[(&str, u64)], step: Option<&str>) -> Vec<(&'static str, String)> {
        let plan = parse(PLAN, PlanLength::Full, &[]).unwrap();
        let kept: Vec<(String, u64)> = kept.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let now = step.map(|title| LiveSnapshot { step: Some(title.to_owned()), ..LiveSnapshot::default() });
        progress(&plan, &kept, now.as_ref(), false).into_iter().map(|step| (step.mark, step.words)).collect()
    }

    #[test]
    fn steps_before_the_one_that_is_carried_out_are_done_and_those_after_it_wait() {
        let words = |marks: [(&'static str, &str); 4]| marks.map(|(mark, words)| (mark, words.to_owned())).to_vec();
        assert_eq!(
            marks(&[], Some("Purge")),
            words([("now", ""), ("waits", "0 of 4"), ("waits", ""), ("waits", "0 of 2")])
        );
        assert_eq!(
            marks(&[("read", 3)], Some("Reads")),
            words([("done", ""), ("now", "3 of 4"), ("waits", ""), ("waits", "0 of 2")])
        );
        assert_eq!(
            marks(&[("read", 4)], Some("Rest")),
            words([("done", ""), ("done", "4 of 4"), ("now", ""), ("waits", "0 of 2")])
        );
        assert_eq!(
            marks(&[("read", 3)], None),
            words([("done", ""), ("waits", "3 of 4"), ("waits", ""), ("waits", "0 of 2")]),
            "nobody carries it out"
        );
    }

    #[test]
    fn what_nobody_told_is_guessed_from_what_is_kept() {
        let plan = parse(PLAN, PlanLength::Full, &[]).unwrap();
        assert_eq!(share(&plan, &[("read".to_owned(), 3)]), 0.5);
        assert_eq!(
            [43.2, 200.0, 7500.0].map(|seconds| rough(Nanos::from_nanos((seconds * 1e9) as u64))),
            ["43 s", "3 min 20 s", "2 h 5 min"]
        );
    }
}
