//! fio's job files.
//!
//! A job file, or a command line, is read in three steps: what is written (`lex`, `section`), what it means (`job`), and what that
//! is in a plan (`layout`, `emit`). Nothing here opens a file or looks at the machine: all that is asked of the
//! world goes through `World`.

mod address;
mod clones;
mod command_line;
mod emit;
mod engine;
mod expand;
mod expression;
mod extent;
mod given;
mod idle;
mod job;
mod layout;
mod lex;
mod logs;
mod pace;
mod parts;
mod passes;
mod reading;
mod section;
mod size;
mod steady;
mod table;
#[cfg(test)]
mod tests;
mod trace;
mod units;
mod world;

pub use command_line::{CommandLine, ProgramOption, Takes, is_fios};
pub use emit::plan_text;
pub use job::{ImportedJob, Natural};
pub use layout::{Import, JobGroup, import, import_line};
pub use logs::{FioLog, FioLogs, LogKind};
pub use parts::Part;
pub use section::JobFile;
pub use table::other_word;
pub use units::seconds;
pub use world::World;
