//! Nothing but the named target is ever written, and nothing that a file says is executed: each way round the guard that
//! was ever found, tried as it was found.

#[path = "../support/mod.rs"]
mod support;

mod attach;
mod files;
mod outputs;
mod serve;
mod store;
mod targets;
mod trials;
