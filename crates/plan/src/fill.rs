//! A step that writes the whole target once, in order.

use std::fmt;

use block::Bytes;
use workload::{Pattern, Stop, Workload};

use super::kind::{Form, Phrases, StepKind};
use super::work::{Phase, Site};
use super::{Action, Step};

/// Writes the whole target once, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// The size of a request.
    pub block: Bytes,
    /// Requests in flight.
    pub queue_depth: u32,
    /// Whether a simulated drive may be put into the state that this leaves, in place of being written.
    pub construct: bool,
}

/// What of a drive was written in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilledRange {
    /// So much of its addresses.
    Bytes(Bytes),
    /// This share of them.
    Percent(u8),
    /// All from this offset on.
    From(Bytes),
    /// All.
    Whole,
}

/// `1 GiB of it`, `75 % of it`, `all from 1 GiB on`.
impl fmt::Display for FilledRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} of it"),
            Self::Percent(percent) => write!(f, "{percent} % of it"),
            Self::From(offset) => write!(f, "all from {offset} on"),
            Self::Whole => f.write_str("all of it"),
        }
    }
}

impl FilledRange {
    /// What `step` fills; none where it fills nothing.
    pub fn of(step: &Step) -> Option<Self> {
        match &step.action {
            Action::Fill { .. } => Some(Self::Whole),
            Action::Condition(condition) => condition.fills(),
            _ => None,
        }
    }

    /// The same on a drive that holds so much.
    #[must_use]
    pub fn on(self, capacity: Bytes) -> Self {
        match self {
            Self::Bytes(bytes) if bytes >= capacity => Self::Whole,
            range => range,
        }
    }
}

/// Whether the drive is full after `step`, which found it so or not.
pub fn leaves_filled(step: &Step, before: bool) -> bool {
    match &step.action {
        Action::Purge { .. } => false,
        _ => before || FilledRange::of(step) == Some(FilledRange::Whole),
    }
}

pub(super) const FORM: Form = Form {
    name: "fill",
    numbers: || vec!["bs", "iodepth", "construct"],
    more: &["quick", "simulated"],
    build: |_, draft, body, mistakes| mistakes.keep(super::build::fill(draft, body)),
};

impl StepKind for Fill {
    fn name(&self) -> &'static str {
        FORM.name
    }

    /// Requests of the step's size, then one for what is left at the end. Less than the target's own block is left out,
    /// because no request could reach it.
    fn phases<'s>(&'s self, site: &Site) -> Vec<Phase<'s>> {
        let part = |offset, length, block| {
            let (queue_depth, stop) = (self.queue_depth, Stop::after_bytes(length));
            let pattern = Pattern::Write;
            let size = Some(length);
            let workload = Workload { pattern, block, queue_depth, offset, size, stop, ..Workload::default() };
            Phase::prepare(workload, self.construct)
        };
        let Some(unit) = site.block else { return vec![part(Bytes::ZERO, site.capacity, self.block)] };
        let whole = [(Bytes::ZERO, site.capacity)];
        let spans = site.fill_spans.as_deref().unwrap_or(&whole).iter();
        let phases = spans.flat_map(|(start, length)| {
            let whole = length.round_down(unit);
            let block = self.block.min(whole).max(unit);
            let blocks = whole.round_down(block);
            let rest = whole - blocks;
            let tail = (rest > Bytes::ZERO).then(|| part(*start + blocks, rest, rest));
            std::iter::once(part(*start, blocks, block)).chain(tail)
        });
        phases.collect()
    }

    fn sentence(&self, _: &Phrases) -> String {
        let simulated = if self.construct { "" } else { ", simulated in full" };
        format!(
            "Fill the active range once sequentially, {} at queue depth {}{simulated}",
            self.block, self.queue_depth
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanLength, parse};

    /// What a conditioning with these keys fills.
    fn fills(keys: &str) -> Option<FilledRange> {
        let text = format!("name = \"p\"\n[[step]]\nname = \"s\"\ndo = \"condition\"\nround = \"1s\"\n{keys}\n");
        FilledRange::of(&parse(&text, PlanLength::Full, &[]).unwrap().steps[0])
    }

    #[test]
    fn writing_all_of_a_range_in_order_fills_that_range_however_it_is_asked_for() {
        let (whole, gib) = (Some(FilledRange::Whole), Bytes::from_gib(1));
        for (keys, range) in [
            ("rw = 'write'\nsteady = false\nat-most = '200%'", whole),
            ("rw = 'write'\nsteady = false\nat-most = '99%'", None),
            ("rw = 'write'\nsteady = false\nat-most = '75%'\nsize = '75%'", Some(FilledRange::Percent(75))),
            ("rw = 'write'\nsteady = false\nat-most = '100%'\nsize = '100%'", whole),
            ("rw = 'write'\nsteady = false\nat-most = '1GiB'\nsize = '1g'", Some(FilledRange::Bytes(gib))),
            ("rw = 'write'\nsteady = false\nat-most = '200%'\noffset = '1g'", Some(FilledRange::From(gib))),
            ("rw = 'write'\nsteady = false\nat-most = '200%'\noffset = '40%'", Some(FilledRange::Percent(60))),
            ("rw = 'write'\nsteady = false\nat-most = '1GiB'", None),
            ("rw = 'write'\nsteady = false\nat-most = ['200%', '200ms']", None),
            ("rw = 'write'\nat-most = '200%'", None),
            ("rw = 'write'\nat-least = '100%'\nat-most = '200%'", whole),
            ("rw = 'write'\nat-least = ['100%', '1h']\nat-most = '200%'", None),
            ("rw = 'randwrite'\nsteady = false\nat-most = '200%'", None),
        ] {
            assert_eq!(fills(keys), range, "{keys}");
        }
        assert_eq!(FilledRange::Bytes(gib).on(gib), FilledRange::Whole);
        assert_eq!(FilledRange::Bytes(gib).on(Bytes::from_gib(2)), FilledRange::Bytes(gib));
    }

    /// SNIA's preconditioning in order, which quick runs cut short; the second half of it of three quarters of the drive.
    #[test]
    fn snias_preconditioning_is_a_fill_at_full_length_alone() {
        let review = crate::catalog::builtin().iter().find(|(name, _)| *name == "snia-client").unwrap().1;
        let filled = |length| {
            let plan = parse(review, length, &[]).unwrap();
            let ranges: Vec<FilledRange> = plan.steps.iter().filter_map(FilledRange::of).collect();
            [FilledRange::Whole, FilledRange::Percent(75)]
                .map(|range| ranges.iter().filter(|one| **one == range).count())
        };
        assert_eq!((filled(PlanLength::Full), filled(PlanLength::Quick)), ([3, 3], [0, 0]));
    }
}
