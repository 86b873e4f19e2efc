//! File systems and I/O schedulers: rates and latencies of data and of names, reads under a flood of writes, and the same
//! by programs that others wrote.

mod choices;
mod cross_check;
mod data;
mod figures;
mod flood;
mod metadata;
mod prepared;
mod tools;
mod transfer;

pub(crate) use cross_check::CrossCheck;
pub(crate) use flood::Flood;
pub(crate) use metadata::Metadata;
pub(crate) use transfer::Files;
