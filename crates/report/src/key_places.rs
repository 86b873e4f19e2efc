//! Where a run measured its key figures.

use plan::Outcome;
use plan::compare::KeyPlace;

use crate::key::Scorecard;
use crate::parts::parts;

/// The key figures of a run, with where each is measured: those of its summary, by which runs are compared.
pub fn key_places(outcome: &Outcome) -> Vec<KeyPlace> {
    let parts = parts(outcome);
    Scorecard::of(&parts).places(&parts)
}
