//! A run's outcome with what all its documents are made from.

use plan::Outcome;

use crate::key::Scorecard;
use crate::part::MeasuredStep;
use crate::parts::parts;
use crate::{page, sparks, summary};

/// A run's outcome with its figures worked out: once, for however many documents are made of it.
#[derive(Debug)]
pub struct Report<'o> {
    pub(crate) outcome: &'o Outcome,
    pub(crate) parts: Vec<MeasuredStep<'o>>,
    pub(crate) scorecard: Scorecard,
}

impl<'o> Report<'o> {
    /// Of this outcome.
    pub fn of(outcome: &'o Outcome) -> Self {
        let parts = parts(outcome);
        Self { outcome, scorecard: Scorecard::of(&parts), parts }
    }

    /// What [`html`](crate::html) gives.
    pub fn html(&self) -> String {
        page::page(self).contained()
    }

    /// What [`summary`](crate::summary) gives.
    pub fn summary(&self, width: u16, color: bool) -> String {
        summary::of_report(self, width, color)
    }

    /// What [`sparks`](crate::sparks) gives.
    pub fn sparks(&self, width: u16) -> String {
        sparks::of_report(self, width)
    }
}
