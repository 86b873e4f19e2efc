//! Iometer's configuration files.
//!
//! A file is read in four steps: its keys with their values (`entries`), what Iometer would take from them
//! (`file`), what each access specification asks of a drive (`access`), and which of them run, one after another
//! and side by side (`steps`). `emit` writes that as a plan. Nothing here opens a file or looks at the machine.
//!
//! The format is that of Iometer 1.1.0, which its versions of 1998 to 2014 share but for keys that came later.
//!
//! Source: Iometer 1.1.0, `PageSetup.cpp`, `AccessSpecList.cpp`, `Manager.cpp` and `Worker.cpp` (`LoadConfig`) for the
//! format; `IOGrunt.cpp` and `IOAccess.cpp` for what it does; its user's guide for the words.

mod access;
mod emit;
mod entries;
mod file;
mod import;
mod notices;
mod setup;
mod steps;
#[cfg(test)]
mod tests;
mod worker;

pub use emit::plan_text;
pub use import::{Import, import};
pub use steps::{IcfJob, IcfStep};
