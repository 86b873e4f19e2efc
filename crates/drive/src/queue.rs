//! The commands that a drive has taken and those that wait for it.

use std::collections::VecDeque;

use block::{Completion, Nanos, Request, Tag};
use serde::{Deserialize, Serialize};

/// A drive's command queue: so many commands in the drive, the rest waiting in the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommandQueue {
    depth: usize,
    /// When each command in the drive completes, earliest first; equal times in order of submission.
    taken: VecDeque<Completion>,
    waiting: VecDeque<(Tag, Request)>,
}

impl CommandQueue {
    /// An empty queue that takes `depth` commands at once.
    pub fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self { depth, taken: VecDeque::with_capacity(depth), waiting: VecDeque::new() }
    }

    /// Whether the drive can take another command.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.taken.len() < self.depth
    }

    /// Keeps a request that the drive has no room for.
    pub fn wait(&mut self, tag: Tag, request: Request) {
        self.waiting.push_back((tag, request));
    }

    /// Notes a command that the drive has taken and will complete then.
    #[inline]
    pub fn take(&mut self, completion: Completion) {
        let mut index = self.taken.len();
        while index > 0 && self.taken[index - 1].at > completion.at {
            index -= 1;
        }
        self.taken.insert(index, completion);
    }

    /// When the earliest completion is.
    #[inline]
    pub fn next(&self) -> Option<Nanos> {
        self.taken.front().map(|completion| completion.at)
    }

    /// Takes the earliest completion if it is at or before `until`, with the request that can be taken in
    /// its place.
    #[inline]
    pub fn complete(&mut self, until: Nanos) -> Option<(Completion, Option<(Tag, Request)>)> {
        let completion = self.taken.pop_front_if(|completion| completion.at <= until)?;
        Some((completion, self.waiting.pop_front()))
    }

    /// Forgets all commands; how many there were.
    pub fn clear(&mut self) -> u32 {
        let count = self.taken.len() + self.waiting.len();
        self.taken.clear();
        self.waiting.clear();
        count as u32
    }

    /// Whether nothing is in the drive or waits for it.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.waiting.is_empty()
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
        while let Some((completion, next)) = queue.complete(Nanos::MAX) {
            order.push((completion.tag.0, next.map(|(tag, _)| tag.0)));
        }
        assert_eq!(order, [(1, Some(4)), (3, None), (2, None), (0, None)]);
        assert!(queue.is_empty());
    }
}
