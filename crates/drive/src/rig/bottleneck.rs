//! Which part of a rig holds the rest up.

use std::fmt;

use block::Nanos;

use crate::Counters;

/// A part of a rig that can hold the rest up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RigPart {
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
pub struct Bottleneck {
    pub part: RigPart,
    /// The busiest part outside the drives, in percent of the time.
    pub busy: u64,
}

/// A part that is busy for this share of the time or more, in percent, is what limits.
const BUSY: u64 = 90;

impl Counters {
    /// Which part of a rig held the rest up while this was done in `elapsed`; none where there is no rig.
    pub fn limit(&self, elapsed: Nanos) -> Option<Bottleneck> {
        let share = |busy: Nanos, of: u32| {
            let whole = elapsed.times(u64::from(of)).as_nanos();
            let percent = (u128::from(busy.as_nanos()) * 100).checked_div(u128::from(whole)).unwrap_or(0);
            // Requests that are still in flight at the end have all of their time counted.
            percent.min(100) as u64
        };
        let parts = [
            // A worker keeps to one processor.
            (share(self.host_busiest, 1), RigPart::Host),
            (share(self.controller_commands_busy, self.controllers), RigPart::Controllers),
            (share(self.controller_data_busy, self.controllers), RigPart::Bandwidth),
        ];
        // Of parts that are equally busy, the one nearest the host.
        let (busy, part) = parts.into_iter().rev().max_by_key(|(busy, _)| *busy)?;
        let part = if busy >= BUSY { part } else { RigPart::Drives };
        (self.host_cpus > 0).then_some(Bottleneck { part, busy })
    }
}

impl RigPart {
    /// The words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host CPU",
            Self::Controllers => "controllers' processors",
            Self::Bandwidth => "controllers' bandwidth",
            Self::Drives => "drives",
        }
    }
}

/// `host CPU, 98 % busy`, `drives`.
impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            RigPart::Drives => f.pad(self.part.name()),
            part => f.pad(&format!("{}, {} % busy", part.name(), self.busy)),
        }
    }
}
