//! Which part of a rig holds the rest up.

use std::fmt;

use block::Nanos;

use super::RigSpec;
use crate::Counters;

/// A part of a rig that can hold the rest up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The host's processors.
    Host,
    /// The controllers' processors.
    Controllers,
    /// The controllers' bandwidth.
    Bandwidth,
    /// None of these: the drives, or how much is asked of them at once.
    Drives,
}

/// Which part of a rig holds the rest up, and how busy the busiest part outside the drives was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part.
    pub part: Part,
    /// The busiest part outside the drives, in percent of the time.
    pub busy: u64,
}

/// A part that is busy for this share of the time or more, in percent, is what limits.
const BUSY: u64 = 90;

impl RigSpec {
    /// Which part holds the rest up, given what was `done` in `elapsed`.
    pub fn limit(&self, done: &Counters, elapsed: Nanos) -> Limit {
        let share = |busy: Nanos, of: u32| {
            let whole = elapsed.times(u64::from(of)).as_nanos();
            (u128::from(busy.as_nanos()) * 100).checked_div(u128::from(whole)).unwrap_or(0) as u64
        };
        let parts = [
            (share(done.host_busy, self.host.cpus), Part::Host),
            (share(done.controller_commands_busy, self.controllers.count), Part::Controllers),
            (share(done.controller_data_busy, self.controllers.count), Part::Bandwidth),
        ];
        // Of parts that are equally busy, the one nearest the host.
        let (busy, part) = parts.into_iter().rev().max_by_key(|(busy, _)| *busy).expect("there are three");
        Limit { part: if busy >= BUSY { part } else { Part::Drives }, busy }
    }
}

/// `host CPU, 98 % busy`, `drives`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.part {
            Part::Host => "host CPU",
            Part::Controllers => "controllers' processors",
            Part::Bandwidth => "controllers' bandwidth",
            Part::Drives => return f.pad("drives"),
        };
        f.pad(&format!("{name}, {} % busy", self.busy))
    }
}
