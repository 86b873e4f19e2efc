//! Job files of other programs, read as plans.

pub mod figures;
pub mod fio;
pub mod icf;
mod notice;
mod source;
mod words;

pub use fio::Import;
pub use notice::{Notice, Severity, render};
pub use source::{ImportSource, SourceRange};
