//! Files of other programs, read as plans and as drives.

pub mod femu;
pub mod figures;
pub mod fio;
pub mod icf;
pub mod mqsim;
mod notice;
pub mod nvmevirt;
mod simulator;
mod source;
mod words;

pub use fio::Import;
pub use notice::{Notice, Severity, render};
pub use simulator::DriveImport;
pub use source::{ImportSource, SourceRange};
