//! What the program can be told to do.

pub mod aftermath;
pub mod attach;
pub mod baseline;
pub mod calibrate;
pub mod catalogue;
pub mod compare;
pub mod config;
pub mod doctor;
pub mod dry_run;
pub mod fio;
pub mod fleet;
pub mod gate;
pub mod health;
pub mod history;
pub mod import;
mod interleave;
mod jobs;
pub mod next;
mod page;
mod prediction;
pub mod replicate;
pub mod review;
pub mod run;
pub mod runs;
pub mod serve;
pub mod shell;
mod specification;
