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
    match step.action {
        Action::Purge { .. } => false,
        Action::Fill { .. } => true,
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
