//! Published reviews, repeated in virtual time: what was published beside what the simulated drives do.
//!
//! A review is two files. `published/REVIEW.toml` holds its figures, each marked as one that parameters may be
//! fitted to or as one that is only checked. `plans/replicate/REVIEW.toml` holds its method: plans on drives and
//! rigs, and which figure each cell yields.

mod answer;
mod carry;
pub mod catalog;
mod known;
mod layout;
mod published;

pub(crate) use answer::complete;
pub use answer::{Answer, Beside, Condition, Missing, Replication, Tally, Verdict};
pub use carry::replicate;
pub(crate) use carry::{Measured, carry_out};

pub use catalog::{Review, ReviewError};
pub use known::{KnownFigure, known_figures, leaves_filled};
pub use layout::{Column, Layout};
pub use published::{Expect, Figure, Group, Most, Published, Series, Use, parse};
