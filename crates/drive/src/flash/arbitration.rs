//! Arbitration: which of the commands that wait for the firmware it takes next.

use std::collections::VecDeque;

use block::{Completion, Nanos, Op, Request, Tag};
use serde::{Deserialize, Serialize};

use super::FlashDrive;
use super::firmware::{Core, Firmware};

/// How reads and other commands share the controller's processors.
///
/// Sources: NVM Express Base Specification, "Command Arbitration" (weighted round robin, weights of 1 to 256 commands a
/// round); D. Kroft, "Lockup-Free Instruction Fetch/Prefetch Cache Organization", ISCA 1981, for caches that do not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArbitrationSpec {
    /// How many reads, and how many other commands, are taken in a round where both wait.
    pub weights: [u32; 2],
    /// Whether a write that waits for its mapping page leaves its processor to other commands meanwhile.
    pub non_blocking: bool,
}

/// The commands that wait for a processor, in a queue of reads and one of the others, each in order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arbiter {
    spec: ArbitrationSpec,
    queues: [VecDeque<(Tag, Request)>; 2],
    /// The queue whose turn it is, and how many commands of it are left of that.
    turn: usize,
    left: u32,
    /// What is to be done for writes that have left their processors.
    parked: Vec<ParkedWork>,
}

/// What a processor goes on with once a mapping page is there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ParkedWork {
    core: usize,
    from: Nanos,
    length: Nanos,
}

const READS: usize = 0;
const OTHERS: usize = 1;

impl Arbiter {
    /// Nothing waits.
    pub fn new(spec: ArbitrationSpec) -> Self {
        Self {
            spec,
            queues: [VecDeque::new(), VecDeque::new()],
            turn: READS,
            left: spec.weights[READS],
            parked: Vec::new(),
        }
    }

    /// How many commands wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Has a command wait.
    pub fn wait(&mut self, tag: Tag, request: Request) {
        self.queues[if request.op == Op::Read { READS } else { OTHERS }].push_back((tag, request));
    }

    /// Takes the command that is next, of the queues for which there `is_free` a processor.
    fn next(&mut self, is_free: [bool; 2]) -> Option<(Tag, Request)> {
        let can = [READS, OTHERS].map(|queue| is_free[queue] && !self.queues[queue].is_empty());
        let queue = match can {
            [false, false] => return None,
            [true, false] => READS,
            [false, true] => OTHERS,
            [true, true] if self.left > 0 => self.turn,
            [true, true] => 1 - self.turn,
        };
        if queue != self.turn || self.left == 0 {
            (self.turn, self.left) = (queue, self.spec.weights[queue]);
        }
        self.left -= 1;
        self.queues[queue].pop_front()
    }

    /// Notes what a processor goes on with `from` then on, for so long.
    fn park(&mut self, work: ParkedWork) {
        let place = self.parked.partition_point(|other| other.from <= work.from);
        self.parked.insert(place, work);
    }

    /// Gives processors back what they can go on with at `now`.
    fn unpark(&mut self, now: Nanos, firmware: &mut Firmware) {
        let due = self.parked.partition_point(|work| work.from <= now);
        self.parked.drain(..due).for_each(|work| firmware.occupy(work.core, work.from, work.length));
    }

    /// Forgets all that waits; how many commands that were.
    pub fn clear(&mut self) -> u32 {
        let count = self.waiting();
        *self = Self::new(self.spec);
        count as u32
    }
}

impl FlashDrive {
    /// Whether nothing is in the drive or waits for it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.queue.is_empty() && self.arbiter.as_ref().is_none_or(|arbiter| arbiter.waiting() == 0)
    }

    /// Takes in a request of a drive with arbitration.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_to_arbiter(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.arbitrate(now);
        if self.is_at_rest() {
            self.rest(now);
        }
        self.now = now;
        let Some(arbiter) = &mut self.arbiter else { return };
        if self.queue.has_room_beside(arbiter.waiting()) {
            arbiter.wait(tag, request);
            self.dispatch(now);
        } else {
            self.queue.wait(tag, request);
        }
    }

    /// Before this nothing completes.
    pub(super) fn next_event_of_arbiter(&self) -> Option<Nanos> {
        self.queue.next().into_iter().chain(self.dispatch_due()).min()
    }

    /// Takes the earliest completion at or before `until`, of a drive with arbitration.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_beside_arbiter(&mut self, until: Nanos) -> Option<Completion> {
        // What is dispatched may complete before what has been so far.
        while let Some(at) = self.dispatch_due().filter(|&at| at <= until.min(self.queue.next().unwrap_or(Nanos::MAX)))
        {
            self.dispatch(at);
        }
        let completion = self.queue.complete(until)?;
        self.now = self.now.max(completion.at);
        if let (Some((tag, request)), Some(arbiter)) = (self.queue.admit(), &mut self.arbiter) {
            arbiter.wait(tag, request);
            self.dispatch(self.now);
        }
        Some(completion)
    }

    /// Has processors take what they would have taken up to `until`.
    pub(super) fn arbitrate(&mut self, until: Nanos) {
        while let Some(at) = self.dispatch_due().filter(|&at| at <= until) {
            self.dispatch(at);
        }
    }

    /// When a processor is free for a command that waits.
    fn dispatch_due(&self) -> Option<Nanos> {
        let queues = self.arbiter.iter().flat_map(|arbiter| arbiter.queues.iter().zip(self.spec.cores_for()));
        let free = queues.filter(|(queue, _)| !queue.is_empty()).map(|(_, cores)| self.firmware.free_at(cores));
        free.min().map(|at| at.max(self.now))
    }

    /// Gives processors that are free at `at` the commands that are next.
    fn dispatch(&mut self, at: Nanos) {
        self.now = at;
        while let Some(arbiter) = &mut self.arbiter {
            self.firmware.release(at);
            arbiter.unpark(at, &mut self.firmware);
            let is_free = self.spec.cores_for().map(|cores| self.firmware.free_at(cores) <= at);
            let Some((tag, request)) = arbiter.next(is_free) else { return };
            self.take_waiting(at, tag, request);
        }
    }

    /// Has a write that waits for its mapping page until `found` leave its processor, which goes on with it from then until
    /// `handled`; whether it does.
    pub(super) fn park(&mut self, core: Core, found: Nanos, handled: Nanos) -> bool {
        let arbiter = self.arbiter.as_mut().filter(|arbiter| arbiter.spec.non_blocking);
        let (Some(arbiter), Some(core)) = (arbiter, self.firmware.number(core)) else { return false };
        arbiter.park(ParkedWork { core, from: found, length: handled - found });
        true
    }
}

#[cfg(test)]
mod tests {
    use block::Lba;
    use proptest::prelude::*;

    use super::*;

    fn arbiter(reads: u32, others: u32) -> Arbiter {
        Arbiter::new(ArbitrationSpec { weights: [reads, others], non_blocking: true })
    }

    fn command(op: Op) -> Request {
        Request::new(op, Lba::new(0), 8)
    }

    #[test]
    fn where_both_wait_they_are_taken_by_their_weights_and_else_in_order_of_arrival() {
        let mut arbiter = arbiter(3, 2);
        for tag in 0..10 {
            arbiter.wait(Tag(tag), command(if tag % 2 == 0 { Op::Read } else { Op::Write }));
        }
        let order: Vec<u32> = std::iter::from_fn(|| arbiter.next([true; 2])).map(|(tag, _)| tag.0).collect();
        assert_eq!(order, [0, 2, 4, 1, 3, 6, 8, 5, 7, 9]);
    }

    #[test]
    fn a_queue_without_a_processor_is_passed_over() {
        let mut arbiter = arbiter(1, 1);
        for (tag, op) in [(0, Op::Write), (1, Op::Flush), (2, Op::Read)] {
            arbiter.wait(Tag(tag), command(op));
        }
        assert_eq!(arbiter.next([true, false]).map(|(tag, _)| tag.0), Some(2));
        assert_eq!(arbiter.next([true, false]), None);
        assert_eq!(arbiter.next([false, true]).map(|(tag, _)| tag.0), Some(0));
        assert_eq!((arbiter.waiting(), arbiter.clear(), arbiter.waiting()), (1, 1, 0));
    }

    #[test]
    fn parked_work_occupies_its_processor_once_it_can_go_on() {
        let us = Nanos::from_micros;
        let (mut arbiter, mut firmware) = (arbiter(1, 1), Firmware::new(2));
        for (core, from) in [(1, 50), (0, 30)] {
            arbiter.park(ParkedWork { core, from: us(from), length: us(7) });
        }
        let free = |arbiter: &mut Arbiter, firmware: &mut Firmware, now| {
            arbiter.unpark(us(now), firmware);
            [1, 2].map(|cores| firmware.free_at(cores).as_nanos() / 1000)
        };
        assert_eq!(free(&mut arbiter, &mut firmware, 29), [0, 0]);
        assert_eq!(free(&mut arbiter, &mut firmware, 30), [37, 0]);
        assert_eq!(free(&mut arbiter, &mut firmware, 60), [37, 37], "the other is free at 57");
    }

    proptest! {
        /// Whatever comes and whichever processors are free: commands of a queue are taken in order and none is lost, one is
        /// taken whenever one can be, and none waits for more of the other queue than that has weight.
        #[test]
        fn each_queue_is_served_in_order_and_within_the_other_s_weight(
            weights in (1..5_u32, 1..5_u32),
            steps in prop::collection::vec((0..4_u8, any::<[bool; 2]>()), 1..300),
        ) {
            let (mut arbiter, weights) = (arbiter(weights.0, weights.1), [weights.0, weights.1]);
            let (mut came, mut taken, mut row) = ([0, 0], [0, 0], [0, 0]);
            for (step, is_free) in steps {
                if step < 2 {
                    let queue = usize::from(step);
                    arbiter.wait(Tag(came[queue]), command([Op::Read, Op::Write][queue]));
                    came[queue] += 1;
                    continue;
                }
                let can = [0, 1].map(|queue| is_free[queue] && came[queue] > taken[queue]);
                let next = arbiter.next(is_free);
                prop_assert_eq!(next.is_some(), can[0] || can[1]);
                let Some((tag, request)) = next else { continue };
                let queue = usize::from(request.op != Op::Read);
                prop_assert!(can[queue]);
                prop_assert_eq!(tag.0, taken[queue]);
                taken[queue] += 1;
                row[queue] = if can[1 - queue] { row[queue] + 1 } else { 0 };
                row[1 - queue] = 0;
                prop_assert!(row[queue] <= weights[queue], "{row:?}");
            }
            prop_assert_eq!(arbiter.waiting() as u32, came[0] + came[1] - taken[0] - taken[1]);
        }
    }
}
