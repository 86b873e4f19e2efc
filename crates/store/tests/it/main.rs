//! The crate's public promise, in one program.

mod hostile;
mod listing;
mod merge;
mod processes;
mod store;
mod support;
