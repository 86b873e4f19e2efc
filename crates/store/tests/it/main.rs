//! The crate's public promise, in one program.

mod hostile;
mod listing;
mod processes;
mod store;
mod support;
