//! Published reviews: what was published beside what simulated drives do. They are repeated above, where drives run.
//!
//! A review is two files. `published/REVIEW.toml` holds its figures, each marked as one that parameters may be
//! fitted to or as one that is only checked. `plans/replicate/REVIEW.toml` holds its method: plans on drives and
//! rigs, and which figure each cell yields.

mod answer;
pub mod catalog;
mod known;
mod layout;
mod published;
pub mod qos;
mod record;

pub use answer::{
    Answer, Beside, Carried, GoalVerdict, Measured, MissingPart, PartCondition, Replication, Tally, complete,
};
pub use catalog::{Review, ReviewError};
pub use known::{KnownFigure, known_figures};
pub use layout::{Column, Layout};
pub use published::{Expect, FigureGroup, Most, Published, PublishedFigure, Series, Use, parse};
pub use record::{KindRecord, PredictionRecord, digest, kept, write_qos, write_reviews};
