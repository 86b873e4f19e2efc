//! When slots of the write buffer are free, the earliest at hand.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// Groups of slots that are free at one time each, of which the earliest is found at once.
///
/// A tournament: each group has a leaf of a binary tree, and each node the earlier of the two below it. A group that is added
/// goes up from its leaf against one other on each level, all of which the processor can have at hand before it knows who wins;
/// in a heap, where each comparison says which is the next, it waits for one after the other. In a buffer that is full, the group
/// that was taken last makes way for the one that is given back next: one way up for both.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FreeSlots {
    /// A power of two.
    leaves: u32,
    /// The root at 1, those below node `n` at `2n` and `2n + 1`, the leaves last. The groups' times and leaves.
    nodes: Vec<(Nanos, u32)>,
    /// How many slots the group of each leaf has.
    counts: Vec<u32>,
    /// Leaves without a group. That of a group of which the last slot was taken is not among them while it stays the first.
    vacant: Vec<u32>,
    /// Whether the first group is such a one.
    is_taken: bool,
}

/// Leaves at first: as many as a small buffer has slots.
const LEAVES: u32 = 64;

impl Default for FreeSlots {
    fn default() -> Self {
        Self::with(LEAVES)
    }
}

impl FreeSlots {
    /// No groups, and room for so many.
    fn with(leaves: u32) -> Self {
        let nodes = (0..2 * leaves).map(|node| (Nanos::MAX, node % leaves)).collect();
        let vacant = (0..leaves).rev().collect();
        Self { leaves, nodes, counts: vec![0; leaves as usize], vacant, is_taken: false }
    }

    /// When the first slot is free; none if there is no slot.
    #[inline]
    pub fn first(&self) -> Option<Nanos> {
        let (at, leaf) = self.nodes[1];
        let first = if self.is_taken { self.second(leaf) } else { at };
        (first < Nanos::MAX).then_some(first)
    }

    /// The earliest of all groups but that of a leaf.
    #[cold]
    fn second(&self, leaf: u32) -> Nanos {
        let (mut node, mut first) = (self.leaves + leaf, Nanos::MAX);
        while node > 1 {
            first = first.min(self.nodes[(node ^ 1) as usize].0);
            node >>= 1;
        }
        first
    }

    /// Takes the slot that is free first.
    #[inline]
    pub fn take(&mut self) {
        if self.is_taken {
            self.clear_taken();
        }
        let count = &mut self.counts[self.nodes[1].1 as usize];
        *count -= 1;
        self.is_taken = *count == 0;
    }

    /// Lets the next group be the first in place of one that has no slots.
    #[cold]
    fn clear_taken(&mut self) {
        let leaf = self.nodes[1].1;
        self.is_taken = false;
        self.vacant.push(leaf);
        self.place(leaf, Nanos::MAX);
    }

    /// Adds so many slots that are free from `at` on.
    #[inline]
    pub fn add(&mut self, at: Nanos, count: u32) {
        let leaf = if std::mem::take(&mut self.is_taken) { self.nodes[1].1 } else { self.vacate() };
        self.counts[leaf as usize] = count;
        self.place(leaf, at);
    }

    /// A leaf without a group.
    #[cold]
    fn vacate(&mut self) -> u32 {
        if self.vacant.is_empty() {
            let grown = Self::with(2 * self.leaves);
            let small = std::mem::replace(self, grown);
            let leaves = small.nodes[small.leaves as usize..].iter().map(|(at, _)| *at);
            leaves.zip(small.counts).for_each(|(at, count)| self.add(at, count));
        }
        self.vacant.pop().expect("there is room for as many again")
    }

    /// Has the group of a leaf be free at `at`.
    #[inline]
    fn place(&mut self, leaf: u32, at: Nanos) {
        let (nodes, mut node) = (&mut self.nodes[..], (self.leaves + leaf) as usize);
        let (mut at, mut leaf) = (at, leaf);
        nodes[node] = (at, leaf);
        while node > 1 {
            // Who wins is by chance: not a question to ask a processor, which would guess.
            let (other_at, other_leaf) = nodes[node ^ 1];
            leaf = std::hint::select_unpredictable(other_at < at, other_leaf, leaf);
            at = at.min(other_at);
            node >>= 1;
            nodes[node] = (at, leaf);
        }
    }

    /// When its groups are free.
    pub fn times(&self) -> impl Iterator<Item = Nanos> + '_ {
        let groups = self.nodes[self.leaves as usize..].iter().zip(&self.counts);
        groups.filter(|(_, count)| **count > 0).map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;

    /// The same as a heap that is asked for one slot after the other, whatever comes when, and however many there are.
    #[test]
    fn the_earliest_is_taken_whatever_was_added() {
        let mut random = testkit::Random::new(11);
        for most in [1, 3, 64, 300] {
            let (mut slots, mut heap, mut groups) = (FreeSlots::default(), BinaryHeap::new(), 0);
            for step in 0..20_000 {
                assert_eq!(slots.first(), heap.peek().map(|&Reverse(at)| at), "step {step}");
                if random.below(3) > 0 && groups < most {
                    let (at, count) = (Nanos::from_nanos(step / 2 + random.below(100)), 1 + random.below(3) as u32);
                    slots.add(at, count);
                    heap.extend((0..count).map(|_| Reverse(at)));
                    groups += 1;
                } else if let Some(Reverse(at)) = heap.pop() {
                    slots.take();
                    groups -= usize::from(!slots.times().any(|time| time == at));
                }
                assert_eq!(slots.times().max(), heap.iter().map(|&Reverse(at)| at).max(), "step {step}");
            }
        }
    }
}
