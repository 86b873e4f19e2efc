//! How far a drive has been worn: how much of it was written at random.

use std::fmt;

use block::Bytes;
use workload::{Pattern, Workload};

/// How much of a drive was written at random since it was purged.
///
/// A drive leaves its fresh state once the room that it has in store is used up, which takes about as much as it holds.
/// Figures can be steady long before, on the level of a drive that still has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wear {
    pub written: Bytes,
    /// How much data the drive takes.
    pub capacity: Bytes,
}

/// What the finding begins with.
const UNWORN: &str = "Later figures are not of a conditioned drive";

impl Wear {
    /// Whether a finding about a step says that the drive was not worn behind it.
    pub fn is_doubted_by(finding: &str) -> bool {
        finding.starts_with(UNWORN)
    }

    /// Whether the drive may be called worn: nine tenths of what it holds were written, for a last round may fall
    /// a little short.
    pub fn is_whole(self) -> bool {
        u128::from(self.written.get()) * 10 >= u128::from(self.capacity.get()) * 9
    }

    /// What is to be said about figures that are measured after it; none if the drive may be called worn.
    pub fn finding(self) -> Option<String> {
        (!self.is_whole()).then(|| {
            format!(
                "{UNWORN}: they were measured after {self}. Write the whole capacity first, with at-least = \"100%\" and \
                 without --quick."
            )
        })
    }
}

/// Whether a workload wears a drive: by random writes. In order it is a fill.
pub const fn wears(workload: &Workload) -> bool {
    match workload.pattern {
        Pattern::RandWrite => true,
        Pattern::RandRw => workload.read_percent < 100,
        _ => false,
    }
}

impl fmt::Display for Wear {
    /// `320 MiB of random writes (0.4 % of the drive)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written, capacity } = *self;
        let percent = 100.0 * written.get() as f64 / (capacity.get() as f64).max(1.0);
        let share = match percent {
            ..0.05 => "less than 0.1 %".to_owned(),
            ..10.0 => format!("{percent:.1} %"),
            _ => format!("{percent:.0} %"),
        };
        write!(f, "{written} of random writes ({share} of the drive)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_worn_once_about_all_of_it_was_written() {
        let capacity = Bytes::from_gib(80);
        let table = [
            (Bytes::from_mib(10), false, "10 MiB of random writes (less than 0.1 % of the drive)"),
            (Bytes::from_mib(320), false, "320 MiB of random writes (0.4 % of the drive)"),
            (Bytes::from_gib(40), false, "40 GiB of random writes (50 % of the drive)"),
            (Bytes::from_gib(72), true, "72 GiB of random writes (90 % of the drive)"),
            (Bytes::from_gib(240), true, "240 GiB of random writes (300 % of the drive)"),
        ];
        for (written, is_whole, words) in table {
            let wear = Wear { written, capacity };
            assert_eq!((wear.is_whole(), wear.to_string().as_str()), (is_whole, words));
            assert_eq!(wear.finding().is_none(), is_whole, "{words}");
            assert!(wear.finding().is_none_or(|finding| Wear::is_doubted_by(&finding)), "{words}");
        }
    }
}
