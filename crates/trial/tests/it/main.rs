//! The crate's public promise, in one program.

mod boot;
mod database;
mod files;
mod killed;
mod memory;
mod support;
