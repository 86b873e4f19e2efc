//! What a simulated drive's maker promises, beside what was measured.

use block::Bytes;
use drive::preset::{Promise, Rated};
use maud::{Markup, html};
use plan::{DriveRecord, Metric, Outcome};
use workload::Pattern;

use crate::key::{KeyFigure, Scorecard};
use crate::number::{kept, three};

/// The promises of the drive that a run is of.
pub(crate) struct RatedSheet {
    rated: Rated,
    /// What is to be said of where they are from.
    origin: Option<&'static str>,
}

/// A promise for the very request of a key figure.
pub(crate) struct RatedValue {
    /// In the unit of the key figure.
    pub(crate) value: f64,
    /// The queue depth that it is for, where the figure is measured deeper.
    pub(crate) depth: Option<u32>,
    /// Whether a parameter of the model was chosen by it.
    is_fitted: bool,
    /// What was measured first over what is promised, at a like depth.
    ratio: Option<f64>,
}

/// What a drive is rated for a row.
pub(crate) struct Rating {
    /// In the unit of the row.
    pub(crate) value: f64,
    promise: Promise,
    /// The queue depth that it is for, where the row's is greater.
    pub(crate) depth: Option<u32>,
}

impl RatedSheet {
    /// Of a simulated drive as its file has it; none of a real one, and none of a changed one.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        let drive = outcome.drive.as_ref().filter(|_| !is_changed(outcome))?;
        let rated = drive.rated().filter(|rated| !rated.source.is_empty())?;
        Some(Self { rated, origin: of_today(outcome) })
    }

    /// What is promised for `row`.
    pub(crate) fn promised(&self, row: &KeyFigure) -> Option<RatedValue> {
        let Rating { value, promise, depth } = rating(&self.rated, row)?;
        let ratio = row.base().filter(|_| depth.is_none()).map(|measured| measured.mean / value);
        Some(RatedValue { value, depth, is_fitted: self.rated.fitted.contains(&promise), ratio })
    }

    /// What is promised of reads in sequence, in MB/s.
    pub(crate) fn sequential_read(&self) -> Option<f64> {
        Some(self.rated.sequential_read?.get() as f64 / 1e6)
    }

    /// Whether these are its promises.
    pub(crate) fn is_of(&self, rated: &Rated) -> bool {
        self.rated == *rated
    }

    /// Whether anything in the scorecard is promised.
    pub(crate) fn is_wanted(&self, scorecard: &Scorecard) -> bool {
        scorecard.rows.iter().any(|row| self.promised(row).is_some())
    }

    /// Where the promises are from, and what the column means.
    pub(crate) fn note(&self, scorecard: &Scorecard) -> Markup {
        let is_fitted = scorecard.rows.iter().filter_map(|row| self.promised(row)).any(|promised| promised.is_fitted);
        let has_depth = scorecard.rows.iter().filter_map(|row| self.promised(row)).any(|one| one.depth.is_some());
        html! {
            p.trust #rated {
                "Rated: the manufacturer's specification for the same request, and the row's first figure as a share \
                 of it. Specifications of sequential requests leave the queue depth open. "
                @if has_depth { "A rating for a smaller queue depth than the row's has its own (QD) and no share. " }
                @if is_fitted {
                    "† The simulated drive was fitted to this figure, so the agreement is no evidence. "
                }
                "Source: " (self.rated.source) "."
                @if let Some(origin) = self.origin { " " (origin) }
            }
        }
    }
}

/// Whether a run's drive was changed by name. Runs of earlier versions have that in the target's name alone.
pub(crate) fn is_changed(outcome: &Outcome) -> bool {
    outcome.run.target.contains('?') || outcome.drive.as_ref().is_some_and(DriveRecord::is_changed)
}

/// That a changed drive has no column of ratings; none where there would be none anyway.
pub(crate) fn left_out(outcome: &Outcome) -> Option<&'static str> {
    let has_ratings = outcome.drive.as_ref()?.rated().is_some_and(|rated| !rated.source.is_empty());
    let words = "The drive was changed: ratings and published figures of the unchanged drive are left out.";
    (has_ratings && is_changed(outcome)).then_some(words)
}

/// What a drive is rated for `row`, in the unit of that: as data sheets have it 128 KiB and more in order, 4 KiB at random at
/// the depth that the drive's file names, or deeper.
pub(crate) fn rating(rated: &Rated, row: &KeyFigure) -> Option<Rating> {
    let request = &row.request;
    let is_streamed = row.metric == Metric::Bandwidth && request.block >= Bytes::from_kib(128);
    let is_deep = rated.random_depth.is_some_and(|depth| request.in_flight() >= depth);
    let is_scattered =
        row.metric == Metric::Iops && request.block == Bytes::from_kib(4) && is_deep && !row.is_sustained;
    let rate = |rate: Option<block::Rate>| Some(rate?.get() as f64 / 1e6);
    let count = |count: Option<u64>| Some(count? as f64);
    let (value, promise) = match request.pattern {
        Pattern::Read if is_streamed => (rate(rated.sequential_read), Promise::SequentialRead),
        Pattern::Write if is_streamed => (rate(rated.sequential_write), Promise::SequentialWrite),
        Pattern::RandRead if is_scattered => (count(rated.random_read_iops), Promise::RandomReadIops),
        Pattern::RandWrite if is_scattered => (count(rated.random_write_iops), Promise::RandomWriteIops),
        _ => return None,
    };
    let depth = rated.random_depth.filter(|depth| is_scattered && *depth < request.in_flight());
    Some(Rating { value: value?, promise, depth })
}

/// What is to be said where a run kept no record of its drive.
pub(crate) fn of_today(outcome: &Outcome) -> Option<&'static str> {
    const TODAY: &str = "The run was stored by an earlier version without its drive's description; these are the \
        ratings of the current built-in drive.";
    outcome.drive.as_ref().filter(|drive| drive.is_of_today()).map(|_| TODAY)
}

/// A promise as a cell of the scorecard; empty where there is none.
pub(crate) fn cell(promised: Option<RatedValue>) -> Markup {
    let Some(RatedValue { value, depth, is_fitted, ratio }) = promised else {
        return html! { td.rated data-state="Rated" {} };
    };
    html! {
        td.number.rated data-state="Rated" data-v=(kept(value)) {
            (three(value))
            @if is_fitted { a href="#rated" aria-label="fitted: the model was fitted to it" { "†" } }
            @if let Some(depth) = depth { " " span.spread { (format!("QD{depth}")) } }
            @if let Some(ratio) = ratio { " " span.spread { (format!("{:.0} %", ratio * 100.0)) } }
        }
    }
}
