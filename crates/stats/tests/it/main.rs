//! The crate's public promise, in one program.

mod change;
mod coverage;
mod known;
