//! Runs a workload against a drive: in virtual time on a simulated one, in real time on a real one.
//!
//! Both give the same [`Measurement`].

mod measurement;

pub use measurement::{Clock, Cpu, Flow, Measurement, TICK, Tick};
