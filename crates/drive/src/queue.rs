//! The commands that a drive has taken and those that wait for it.

use std::collections::VecDeque;

use block::{Completion, Nanos, Request, Tag};
use serde::{Deserialize, Serialize};

/// A drive's command queue: so many commands in the drive, the rest waiting in the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandQueue {
    depth: usize,
    /// When each command in the drive completes, earliest first; equal times in order of submission. Those before number
    /// `over` have.
    taken: Vec<Completion>,
    over: usize,
    waiting: VecDeque<(Tag, Request)>,
}

/// So many that have completed are kept before they are dropped together.
const OVER_MAX: usize = 64;

impl CommandQueue {
    /// An empty queue that takes `depth` commands at once.
    pub fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self { depth, taken: Vec::with_capacity(2 * OVER_MAX), over: 0, waiting: VecDeque::new() }
    }

    /// Whether the drive can take another command.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.has_room_beside(0)
    }

    /// The same beside so many commands that it has and does not know the end of.
    #[inline]
    pub fn has_room_beside(&self, others: usize) -> bool {
        self.taken.len() - self.over + others < self.depth
    }

    /// Keeps a request that the drive has no room for.
    pub fn wait(&mut self, tag: Tag, request: Request) {
        self.waiting.push_back((tag, request));
    }

    /// Notes a command that the drive has taken and will complete then.
    #[inline(always)]
    pub fn take(&mut self, completion: Completion) {
        self.taken.push(completion);
        let in_drive = &mut self.taken[self.over..];
        let mut index = in_drive.len() - 1;
        while index > 0 && in_drive[index - 1].at > completion.at {
            in_drive[index] = in_drive[index - 1];
            index -= 1;
        }
        in_drive[index] = completion;
    }

    /// When the earliest completion is.
    #[inline]
    pub fn next(&self) -> Option<Nanos> {
        self.taken.get(self.over).map(|completion| completion.at)
    }

    /// Takes the earliest completion if it is at or before `until`.
    #[inline]
    pub fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let completion = *self.taken.get(self.over).filter(|completion| completion.at <= until)?;
        self.over += 1;
        if self.over >= OVER_MAX {
            self.drop_over();
        }
        Some(completion)
    }

    #[cold]
    fn drop_over(&mut self) {
        self.taken.drain(..self.over);
        self.over = 0;
    }

    /// The request that can be taken in place of what has just completed; most often nothing waits.
    #[inline]
    pub fn admit(&mut self) -> Option<(Tag, Request)> {
        if self.waiting.is_empty() { None } else { self.waiting.pop_front() }
    }

    /// Forgets all commands; how many there were.
    pub fn clear(&mut self) -> u32 {
        let count = self.taken.len() - self.over + self.waiting.len();
        (self.taken, self.over) = (Vec::new(), 0);
        self.waiting.clear();
        count as u32
    }

    /// Whether nothing is in the drive or waits for it.
    pub fn is_empty(&self) -> bool {
        self.taken.len() == self.over && self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_come_in_order_of_time_then_of_submission() {
        let mut queue = CommandQueue::new(4);
        for (tag, at) in [(0, 30), (1, 10), (2, 20), (3, 10)] {
            queue.take(Completion::new(Nanos::from_micros(at), Tag(tag)));
        }
        assert!(!queue.has_room());
        queue.wait(Tag(4), Request::FLUSH);
        let mut order = Vec::new();
        while let Some(completion) = queue.complete(Nanos::MAX) {
            order.push((completion.tag.0, queue.admit().map(|(tag, _)| tag.0)));
        }
        assert_eq!(order, [(1, Some(4)), (3, None), (2, None), (0, None)]);
        assert!(queue.is_empty());
    }
}
