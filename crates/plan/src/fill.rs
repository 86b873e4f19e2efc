//! A step that writes the whole target once, in order.

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

/// Whether the drive is full after `step`, which found it so or not.
pub fn leaves_filled(step: &Step, before: bool) -> bool {
    match &step.action {
        Action::Purge { .. } => false,
        Action::Fill { .. } => true,
        Action::Condition(condition) => before || condition.is_fill(),
        _ => before,
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
    use crate::{PlanLength, leaves_filled, parse};

    /// Whether a conditioning with these keys fills the drive.
    fn fills(keys: &str) -> bool {
        let text = format!("name = \"p\"\n[[step]]\nname = \"s\"\ndo = \"condition\"\nround = \"1s\"\n{keys}\n");
        leaves_filled(&parse(&text, PlanLength::Full, &[]).unwrap().steps[0], false)
    }

    #[test]
    fn writing_all_of_the_range_in_order_is_a_fill_however_it_is_asked_for() {
        for (keys, is_fill) in [
            ("rw = 'write'\nsteady = false\nat-most = '200%'", true),
            ("rw = 'write'\nsteady = false\nat-most = '99%'", false),
            ("rw = 'write'\nsteady = false\nat-most = '75%'\nsize = '75%'", true),
            ("rw = 'write'\nsteady = false\nat-most = '1GiB'\nsize = '1g'", true),
            ("rw = 'write'\nsteady = false\nat-most = '1GiB'", false),
            ("rw = 'write'\nsteady = false\nat-most = ['200%', '200ms']", false),
            ("rw = 'write'\nat-most = '200%'", false),
            ("rw = 'write'\nat-least = '100%'\nat-most = '200%'", true),
            ("rw = 'write'\nat-least = ['100%', '1h']\nat-most = '200%'", false),
            ("rw = 'randwrite'\nsteady = false\nat-most = '200%'", false),
        ] {
            assert_eq!(fills(keys), is_fill, "{keys}");
        }
    }

    /// SNIA's preconditioning in order, which quick runs cut short.
    #[test]
    fn snias_preconditioning_is_a_fill_at_full_length_alone() {
        let review = crate::catalog::builtin().iter().find(|(name, _)| *name == "snia-client").unwrap().1;
        let filled = |length| {
            let plan = parse(review, length, &[]).unwrap();
            plan.steps.iter().filter(|step| leaves_filled(step, false)).count()
        };
        assert_eq!((filled(PlanLength::Full), filled(PlanLength::Quick)), (6, 0));
    }
}
