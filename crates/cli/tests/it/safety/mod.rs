//! Nothing but the named target is ever written, and nothing that a file says is executed: each way round the guard that
//! was ever found, tried as it was found.

mod attach;
mod files;
mod options;
mod outputs;
mod resumed;
mod serve;
mod store;
mod targets;
mod texts;
mod trials;
