//! What reviews published of the very drive that a run is of, beside what was measured.

use maud::{Markup, html};
use plan::Outcome;
use plan::replicate::{KnownFigure, Use};
use workload::Workload;

use crate::key::{KeyFigure, KeyRequest, Scorecard, is_key};
use crate::number::{Scaled, kept};
use crate::part::{MeasuredStep, has_same_axes};
use crate::rated::of_today;
use crate::state::DriveState;

/// The published figures of the drive that a run is of, in the state in which all drives are alike: filled once.
///
/// How a drive was worn is each reviewer's own way, so that figures of worn drives match no others.
pub(crate) struct Reviewed {
    known: Vec<KnownFigure>,
    /// The place of the filled drive's column.
    filled: usize,
    /// What is to be said of where they are from.
    origin: Option<&'static str>,
}

impl Reviewed {
    /// Of a drive that comes with the program, as it is; none of another, and none where no figure fits.
    pub(crate) fn of(outcome: &Outcome, parts: &[MeasuredStep], scorecard: &Scorecard) -> Option<Self> {
        let drive = outcome.drive.as_ref()?;
        let filled = scorecard.states.iter().position(|state| *state == DriveState::Filled)?;
        let is_asked = |known: &KnownFigure| {
            let own = parts.iter().filter(|part| part.state_of_figures == DriveState::Filled);
            own.flat_map(|part| &part.readings).any(|reading| {
                is_key(reading)
                    && has_same_axes(reading.cell().workload, &Workload { align: None, ..known.workload.clone() })
            })
        };
        let known: Vec<KnownFigure> = drive.published().into_iter().filter(is_asked).collect();
        let found = Self { known, filled, origin: of_today(outcome) };
        scorecard.rows.iter().any(|row| found.find(row).is_some()).then_some(found)
    }

    fn find(&self, row: &KeyFigure) -> Option<&KnownFigure> {
        let is_it = |known: &&KnownFigure| known.metric == row.metric && KeyRequest::of(&known.workload) == row.request;
        self.known.iter().find(is_it).filter(|_| !row.is_sustained)
    }

    /// What was published for `row`.
    pub(crate) fn value(&self, row: &KeyFigure) -> Option<f64> {
        Some(self.find(row)?.value)
    }

    /// What was published for `row`, in the unit of that, as a cell of the scorecard; empty where nothing was.
    pub(crate) fn cell(&self, row: &KeyFigure, scaled: Scaled) -> Markup {
        let Some(known) = self.find(row) else { return html! { td.rated data-state="Published" {} } };
        let measured = row.entries[self.filled].as_ref().and_then(|entry| entry.figure.interval());
        html! {
            td.number.rated data-state="Published" data-v=(kept(known.value * scaled.scale)) {
                (scaled.three(known.value)) " "
                span.spread {
                    @if let Some(measured) = measured { (format!("{:.0} %, ", measured.mean / known.value * 100.0)) }
                    a href="#published" { (word(known.usage)) }
                }
            }
        }
    }

    /// Where the figures are from, and what the column means.
    pub(crate) fn note(&self, scorecard: &Scorecard) -> Markup {
        let told: Vec<(String, &KnownFigure)> =
            scorecard.rows.iter().filter_map(|row| Some((row.name(), self.find(row)?))).collect();
        html! {
            p.trust #published {
                "Published: a review's figure for the same request on the filled drive, and the measured figure as a \
                 share of it. "
                "Fitted: a parameter of the model was fitted to it, so agreement is no evidence; checked: no parameter \
                 was. "
                @for (name, known) in told {
                    (name) ": " (word(known.usage)) "; " (known.source)
                    @if let Some(rig) = &known.rig { "; measured on " (rig) ", not on a single drive" }
                    @if let Some(align) = known.workload.align { "; assumed alignment " (align) }
                    ". "
                }
                @if let Some(origin) = self.origin { (origin) }
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
