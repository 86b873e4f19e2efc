//! What reviews published of the very drive that a run is of, beside what was measured.

use drive::preset::{Preset, Spec};
use lab::plan::{Action, Part as Method, Step};
use lab::replicate::{Expect, Published, Use, catalog};
use lab::{Metric, Outcome, Quantity};
use maud::{Markup, html};
use workload::Workload;

use crate::key::{KeyFigure, Request, Scorecard, is_key};
use crate::number::{kept, three};
use crate::part::{Part, is_alike};
use crate::state::State;

/// The published figures of the drive that a run is of, in the state in which all drives are alike: fresh.
///
/// How a drive was worn is each reviewer's own way, so that figures of worn drives match no others.
pub(crate) struct Reviewed {
    known: Vec<Known>,
    /// The place of the fresh drive's column.
    fresh: usize,
}

/// A figure that a review published, with its conditions.
struct Known {
    workload: Workload,
    metric: Metric,
    value: f64,
    usage: Use,
    /// Who published it.
    source: String,
    /// The rig in which the drive was, if it was in one.
    rig: Option<String>,
}

impl Reviewed {
    /// Of a drive that comes with the program, as it is; none of another, and none where no figure fits.
    pub(crate) fn of(outcome: &Outcome, parts: &[Part], scorecard: &Scorecard) -> Option<Self> {
        let name = outcome.run.target.strip_prefix("sim:")?;
        let preset = Preset::all().find(|preset| preset.name == name)?;
        let fresh = scorecard.states.iter().position(|state| *state == State::Fresh)?;
        let is_asked = |known: &Known| {
            let own = parts.iter().filter(|part| part.state_of_figures == State::Fresh && is_filled(outcome, part));
            own.flat_map(|part| &part.readings).any(|reading| {
                is_key(reading) && is_alike(&reading.cell.workload, &Workload { align: None, ..known.workload.clone() })
            })
        };
        let reviews = catalog::names().into_iter().filter_map(|name| catalog::find(name).ok());
        let known = reviews.flat_map(|review| {
            let of_part = |part: &Method| figures(part, &review.published, &preset);
            review.method.parts.iter().flat_map(of_part).collect::<Vec<_>>()
        });
        let known: Vec<Known> = known.filter(is_asked).collect();
        let found = Self { known, fresh };
        scorecard.rows.iter().any(|row| found.find(row).is_some()).then_some(found)
    }

    fn find(&self, row: &KeyFigure) -> Option<&Known> {
        let is_it = |known: &&Known| known.metric == row.metric && Request::of(&known.workload) == row.request;
        self.known.iter().find(is_it).filter(|_| !row.is_sustained)
    }

    /// What was published for `row` as a cell of the scorecard; empty where nothing was.
    pub(crate) fn cell(&self, row: &KeyFigure) -> Markup {
        let Some(known) = self.find(row) else { return html! { td.rated data-state="Published" {} } };
        let measured = row.entries[self.fresh].as_ref().and_then(|entry| entry.figure.interval());
        html! {
            td.number.rated data-state="Published" data-v=(kept(known.value)) {
                (three(known.value)) " "
                span.spread {
                    @if let Some(measured) = measured { (format!("{:.0} %, ", measured.mean / known.value * 100.0)) }
                    a href="#published" { (word(known.usage)) }
                }
            }
        }
    }

    /// Where the figures are from, and what the column means.
    pub(crate) fn note(&self, scorecard: &Scorecard) -> Markup {
        let told: Vec<(String, &Known)> =
            scorecard.rows.iter().filter_map(|row| Some((row.name(), self.find(row)?))).collect();
        html! {
            p.trust #published {
                "Published: a review's figure for the same request on the fresh drive, and ours as a share of it. "
                "Fitted: a parameter of the model was fitted to it, so agreement is no evidence; checked: no parameter \
                 was. "
                @for (name, known) in told {
                    (name) ": " (word(known.usage)) "; " (known.source)
                    @if let Some(rig) = &known.rig { "; measured on " (rig) ", not on a single drive" }
                    @if let Some(align) = known.workload.align { "; assumed alignment " (align) }
                    ". "
                }
            }
        }
    }
}

/// What a figure is for, in a word.
fn word(usage: Use) -> &'static str {
    match usage {
        Use::Fit => "fitted",
        Use::Check => "checked",
    }
}

/// Whether the plan had filled the drive when it came to this step.
fn is_filled(outcome: &Outcome, part: &Part) -> bool {
    let before = outcome.plan.steps.iter().take_while(|step| step.name != part.step.name);
    before.fold(false, |is_filled, step| filled(step, is_filled))
}

/// Whether the drive is full after `step`, which found it so or not.
fn filled(step: &Step, before: bool) -> bool {
    match step.action {
        Action::Purge { .. } => false,
        Action::Fill { .. } => true,
        _ => before,
    }
}

/// The figures that a part of a review's method has of `preset`, alone or in a rig, while it is filled once and nothing
/// else was written to it.
fn figures(part: &Method, published: &Published, preset: &Preset) -> Vec<Known> {
    let rig = match Preset::find(&part.target) {
        Ok(target) if target == *preset => None,
        Ok(Preset { title, spec: Spec::Rig(rig), .. }) if rig.drives == 1 && *rig.member == *preset => Some(title),
        _ => return Vec::new(),
    };
    let (mut found, mut is_filled) = (Vec::new(), false);
    for step in &part.plan.steps {
        is_filled = filled(step, is_filled);
        let Some(measure) = step.action.measure() else { continue };
        for cell in &measure.cells {
            let key = cell.key();
            for yielded in part.yields.iter().filter(|one| is_filled && one.step == step.name && one.cell == key) {
                let Quantity::Of(metric) = yielded.quantity else { continue };
                let Some(figure) = published.figures().find(|figure| figure.id == yielded.id) else { continue };
                let (Some(Expect::Value { value, .. }), None) = (figure.expect, &figure.odd) else { continue };
                let (workload, source, rig) = (cell.workload.clone(), published.source.clone(), rig.clone());
                found.push(Known { workload, metric, value, usage: figure.usage, source, rig });
            }
            if cell.workload.reads() < 100 {
                return found;
            }
        }
    }
    found
}
