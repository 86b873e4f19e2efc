//! What was pushed to a ring and not yet submitted: when that is due, and how long it takes.

use block::{Nanos, Op, Tag};

use crate::SubmissionTimes;

/// A drive is handed at most so many requests at a time where many are ready, the first of them alone: it begins with that
/// while the others are made ready.
const AT_A_TIME: u32 = 4;
/// One wait in so many has its submission timed, by a call of its own: all others are one call with the wait.
const TIMED_EACH: u32 = 64;
/// After so many waits it is looked again whether requests are completed as they are submitted.
const LOOKED_EACH: u32 = 16;

#[derive(Debug)]
pub(crate) struct Fresh {
    /// At most so many requests a call, where that was asked for.
    most: Option<u32>,
    /// Whether requests are completed while they are submitted, as from the page cache. Then one call for all is best.
    is_immediate: bool,
    /// How many there are.
    count: u32,
    /// How many were submitted since the last wait.
    submitted: u32,
    /// How many were completed by it: about as many follow.
    completed: u32,
    /// Of these: reads, writes, trims.
    ops: [u32; 3],
    /// Which they are, where each is timed.
    tags: Vec<Tag>,
    /// How long the submission of each tag's request took, where each is timed; empty elsewhere.
    took: Vec<Nanos>,
    times: SubmissionTimes,
    /// How many waits there have been.
    waits: u32,
}

impl Fresh {
    /// Of a queue of this depth, with at most so many requests a call.
    pub fn new(depth: u32, most: Option<u32>, times_each: bool) -> Self {
        Self {
            most,
            is_immediate: false,
            count: 0,
            submitted: 0,
            completed: depth,
            ops: [0; 3],
            tags: Vec::new(),
            took: if times_each { vec![Nanos::ZERO; depth as usize] } else { Vec::new() },
            times: SubmissionTimes::default(),
            waits: 0,
        }
    }

    /// One more; whether it is time to submit them.
    pub fn push(&mut self, tag: Tag, op: Op) -> bool {
        match op {
            Op::Read => self.ops[0] += 1,
            Op::Write => self.ops[1] += 1,
            Op::Trim => self.ops[2] += 1,
            Op::Flush | Op::Append | Op::Zone(_) => {}
        }
        if self.times_each() {
            self.tags.push(tag);
        }
        self.count += 1;
        match self.most {
            Some(most) => self.count >= most,
            None if self.is_immediate => false,
            None => {
                // The last go with the wait.
                let follows = self.submitted + self.count < self.completed;
                follows && self.count >= self.submitted.clamp(1, AT_A_TIME)
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// They were submitted, by a call that took so long where it was timed, and so many completions were there at its end.
    pub fn submitted(&mut self, took: Option<Nanos>, completed: usize) {
        if let Some(took) = took {
            let SubmissionTimes { read, write, trim } = &mut self.times;
            for (times, count) in [read, write, trim].into_iter().zip(self.ops) {
                times.record(took, count.into());
            }
            self.tags.drain(..).for_each(|tag| self.took[tag.0 as usize] = took);
        }
        self.is_immediate = completed >= self.count as usize;
        self.submitted += self.count;
        self.clear();
    }

    /// They were submitted by the call that waited, and so many were completed by then.
    pub fn waited(&mut self, completed: u32) {
        self.clear();
        (self.submitted, self.completed) = (0, completed);
        self.waits = self.waits.wrapping_add(1);
        if self.waits.is_multiple_of(LOOKED_EACH) {
            self.is_immediate = false;
        }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.ops = [0; 3];
        self.tags.clear();
    }

    /// Whether each submission is timed.
    pub fn times_each(&self) -> bool {
        !self.took.is_empty()
    }

    /// Whether those before the next wait are.
    pub fn is_timed(&self) -> bool {
        self.times_each() || self.waits % TIMED_EACH == TIMED_EACH - 1
    }

    /// How long the submission of this tag's request took, where each is timed.
    pub fn took(&self, tag: Tag) -> Option<Nanos> {
        self.took.get(tag.0 as usize).copied()
    }

    /// How long submissions took, of those that were timed.
    pub fn times(&self) -> SubmissionTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many requests are pushed before each call, where as many were completed by the wait before, and so many of
    /// a call are completed at its end.
    fn calls(fresh: &mut Fresh, requests: u32, completed: impl Fn(u32) -> u32) -> Vec<u32> {
        let mut calls = Vec::new();
        fresh.waited(requests);
        for tag in 0..requests {
            if fresh.push(Tag(tag), Op::Read) {
                calls.push(fresh.count);
                fresh.submitted(None, completed(fresh.count) as usize);
            }
        }
        calls.push(fresh.count);
        calls
    }

    #[test]
    fn a_drive_gets_the_first_request_alone_and_then_a_few_at_a_time() {
        let mut fresh = Fresh::new(32, None, false);
        assert_eq!(calls(&mut fresh, 13, |_| 0), [1, 1, 2, 4, 4, 1]);
        assert_eq!(calls(&mut fresh, 8, |_| 0), [1, 1, 2, 4], "the last go with the wait");
        assert_eq!(calls(&mut fresh, 1, |_| 0), [1], "alone, it goes with the wait");
    }

    #[test]
    fn the_page_cache_gets_all_by_one_call_but_is_tried_again() {
        let mut fresh = Fresh::new(32, None, false);
        assert_eq!(calls(&mut fresh, 32, |count| count), [1, 31]);
        for _ in 2..LOOKED_EACH {
            assert_eq!(calls(&mut fresh, 32, |count| count), [32]);
        }
        assert_eq!(calls(&mut fresh, 9, |_| 0), [1, 1, 2, 4, 1]);
    }

    #[test]
    fn so_many_as_were_asked_for_go_by_a_call() {
        let mut fresh = Fresh::new(32, Some(8), false);
        assert_eq!(calls(&mut fresh, 20, |count| count), [8, 8, 4]);
    }

    #[test]
    fn every_request_of_a_timed_wait_is_timed() {
        let mut fresh = Fresh::new(8, None, false);
        for _ in 0..2 * TIMED_EACH {
            for tag in 0..8 {
                if fresh.push(Tag(tag), Op::Write) {
                    fresh.submitted(fresh.is_timed().then_some(Nanos::from_micros(5)), 0);
                }
            }
            if fresh.is_timed() {
                // As the queue does before a wait that is timed.
                fresh.submitted(Some(Nanos::from_micros(5)), 0);
            }
            fresh.waited(8);
        }
        assert_eq!(fresh.times().write.count, 2 * 8);
    }
}
