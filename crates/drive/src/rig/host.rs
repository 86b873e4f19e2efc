//! The computer that asks.

use std::collections::VecDeque;

use block::{Bytes, Energy, Nanos, Op, Power, Rate, Request, Seed};
use serde::{Deserialize, Serialize};

use crate::DelaySpec;
use crate::delay::{Delay, Wait};
use crate::draw::{Draws, Factor, Spread};

/// What a host costs beside its drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// Processors that serve requests.
    pub cpus: u32,
    /// What a processor takes to hand a command over.
    pub submit: Nanos,
    /// What it takes when the command is done.
    pub complete: Nanos,
    /// What it takes beside to be interrupted; once for all commands that are done by then.
    pub interrupt: Nanos,
    /// How commands are queued; if none, any processor does any work.
    pub queues: Option<QueueSpec>,
    /// How long it takes until a processor that sleeps begins with the work of an interrupt, and, as the rare wait, for how
    /// long any processor is at something else when a command is done.
    pub wake: Option<DelaySpec>,
    /// The standard deviation of how long interrupts and wake-ups take from one second to the next, in millionths.
    pub drift_ppm: u32,
    /// What a program's call takes that reads, beside copying: the system call, the file system, the page cache.
    pub call: Nanos,
    /// The same of one that writes.
    pub call_write: Nanos,
    /// The data of a call; if none, each command has one.
    pub chunk: Option<Bytes>,
    /// How fast a worker copies data, if it does: before a write is handed over, after a read is done.
    pub copy: Option<Rate>,
    /// The most data that one command carries; a larger request is several commands.
    pub transfer: Option<Bytes>,
    /// Commands of one request that are under way at once.
    pub at_once: u32,
    /// What the host uses when it does nothing.
    pub idle: Power,
    /// What each processor uses beside, while it works.
    pub cpu: Power,
    /// What the host uses beside while any request is under way, for it does not sleep as deeply then.
    pub active: Power,
}

/// The pairs of submission and completion queues through which a host speaks to its drives.
///
/// A worker stays on one processor, which hands its commands over through the pair that belongs to it; the completions of a
/// pair are seen to by one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSpec {
    /// One for each processor, or fewer.
    pub pairs: u32,
    /// Commands that each takes; more wait in the host.
    pub depth: u32,
    /// Whether a processor looks for completions all the time, in place of being interrupted.
    pub polled: bool,
}

impl HostSpec {
    /// What a program's calls take, in words; none if that is not followed.
    pub(super) fn calls(&self) -> Option<String> {
        let copied = self.copy.map(|rate| format!("data copied at {rate}"));
        let each = (self.call.max(self.call_write) > Nanos::ZERO).then(|| {
            let chunk = self.chunk.map_or("for each command".to_owned(), |chunk| format!("of {chunk}"));
            format!("{} to read, {} to write {chunk}", self.call, self.call_write)
        });
        each.into_iter().chain(copied).reduce(|each, copied| format!("{each}; {copied}"))
    }
}

impl QueueSpec {
    /// In words: with what an interrupt takes.
    pub(super) fn words(self, interrupt: Nanos) -> String {
        let Self { pairs, depth, polled } = self;
        let how = if polled { "polled".to_owned() } else { format!("{interrupt} per interrupt") };
        format!("{pairs} of {depth} commands, {how}")
    }
}

/// How long interrupts and wake-ups take at a time, of what they take on average: how deeply processors sleep and what else
/// runs on them change slowly.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pace {
    spread: Spread,
    draws: Draws,
    factor: Factor,
    /// When it changes next.
    until: Nanos,
}

impl Pace {
    /// How long one pace lasts.
    const LASTS: Nanos = Nanos::from_secs(1);

    fn new(drift_ppm: u32, seed: Seed) -> Self {
        let until = if drift_ppm == 0 { Nanos::MAX } else { Nanos::ZERO };
        Self { spread: Spread::new(drift_ppm.into()), draws: Draws::new(seed), factor: Factor::ONE, until }
    }

    /// How long what takes `time` on average takes at `now`.
    #[inline]
    fn of(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if now >= self.until {
            self.factor = self.spread.factor(self.draws.draw());
            self.until = now + Self::LASTS;
        }
        self.factor.of(time)
    }
}

/// A host's processors. Without queues, each piece of work goes to whichever is free first, in the order in which it comes up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    pub spec: HostSpec,
    free: Vec<Nanos>,
    /// Until when each sees to completions, so that one more needs no interrupt.
    reaping: Vec<Nanos>,
    /// Commands in each pair of queues.
    queued: Vec<u32>,
    /// Commands that wait for room in it.
    waiting: Vec<VecDeque<u32>>,
    /// The worker of each tag.
    workers: Vec<u32>,
    /// When each worker is done with its calls: a program's thread makes one after the other.
    called: Vec<Nanos>,
    wake: Option<Delay>,
    draws: Draws,
    pace: Pace,
    /// How long each worked.
    pub busy: Vec<Nanos>,
    requests: u32,
    /// When the first of them began.
    since: Nanos,
    /// How long there were any, before `since`.
    active: Nanos,
}

impl Host {
    /// An idle host, whose waits are drawn from `seed`.
    pub fn new(spec: HostSpec, seed: Seed) -> Self {
        let pairs = spec.queues.map_or(0, |queues| queues.pairs as usize);
        Self {
            free: vec![Nanos::ZERO; spec.cpus as usize],
            reaping: vec![Nanos::ZERO; spec.cpus as usize],
            queued: vec![0; pairs],
            waiting: vec![VecDeque::new(); pairs],
            workers: Vec::new(),
            called: Vec::new(),
            wake: spec.wake.map(Delay::new),
            draws: Draws::new(seed),
            pace: Pace::new(spec.drift_ppm, seed.split("drift")),
            busy: vec![Nanos::ZERO; spec.cpus as usize],
            requests: 0,
            since: Nanos::ZERO,
            active: Nanos::ZERO,
            spec,
        }
    }

    /// Notes that a request is made at `now`.
    #[inline]
    pub fn begin(&mut self, now: Nanos) {
        if self.requests == 0 {
            self.since = now;
        }
        self.requests += 1;
    }

    /// Notes that one is answered at `now`.
    #[inline]
    pub fn end(&mut self, now: Nanos) {
        self.requests -= 1;
        if self.requests == 0 {
            self.active += now - self.since;
        }
    }

    /// Notes that power was cut at `now`: nothing is under way any more.
    pub fn restart(&mut self, now: Nanos) {
        if self.requests > 0 {
            self.active += now - self.since;
        }
        self.requests = 0;
        self.free.fill(Nanos::ZERO);
        self.reaping.fill(Nanos::ZERO);
        self.called.clear();
        self.queued.fill(0);
        self.waiting.iter_mut().for_each(VecDeque::clear);
    }

    /// Notes to which worker each tag belongs.
    pub fn bind(&mut self, workers: &[u32]) {
        self.workers.clear();
        self.workers.extend_from_slice(workers);
    }

    /// Draws the waits from here on from `seed` too.
    pub fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
        self.pace.draws.join(seed);
    }

    /// The worker of a tag.
    #[inline]
    pub fn worker(&self, tag: u32) -> u32 {
        self.workers.get(tag as usize).copied().unwrap_or(tag)
    }

    /// Does the work of handing over what `worker` asks; when it is done.
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: &Request, worker: u32) -> Nanos {
        let now = self.call(now, command, Op::Write, worker);
        if self.spec.queues.is_none() {
            return self.work(now, self.spec.submit);
        }
        self.work_on((worker % self.spec.cpus) as usize, now, self.spec.submit)
    }

    /// Whether there is room for a command in the queue of `worker`, which it has then; if not, it waits for some.
    #[inline]
    pub fn enqueue(&mut self, command: u32, worker: u32) -> bool {
        let Some(QueueSpec { pairs, depth, .. }) = self.spec.queues else { return true };
        let pair = (worker % self.spec.cpus % pairs) as usize;
        let has_room = self.queued[pair] < depth;
        if has_room {
            self.queued[pair] += 1;
        } else {
            self.waiting[pair].push_back(command);
        }
        has_room
    }

    /// The command that has the room now which one of `worker` leaves.
    #[inline]
    pub fn dequeue(&mut self, worker: u32) -> Option<u32> {
        let pair = (worker % self.spec.cpus % self.spec.queues?.pairs) as usize;
        let next = self.waiting[pair].pop_front();
        self.queued[pair] -= u32::from(next.is_none());
        next
    }

    /// Does the work of a command of `worker` that is done; when that is done.
    #[inline]
    pub fn complete(&mut self, now: Nanos, command: &Request, worker: u32) -> Nanos {
        let seen = self.reap(now, worker);
        self.call(seen, command, Op::Read, worker)
    }

    /// Sees to a completion.
    #[inline]
    fn reap(&mut self, now: Nanos, worker: u32) -> Nanos {
        let time = self.spec.complete;
        let Some(queues) = self.spec.queues else { return self.work(now, time) };
        let processor = (worker % self.spec.cpus % queues.pairs) as usize;
        let (wait, free) = (self.draw(), self.free[processor]);
        let (from, interrupt) = if queues.polled || now < self.reaping[processor] {
            (now.max(free), Nanos::ZERO)
        } else {
            let interrupt = self.pace.of(now, self.spec.interrupt);
            if now < free { (free, interrupt) } else { (now + self.pace.of(now, wait.usual), interrupt) }
        };
        let end = from + wait.rare + interrupt + time;
        (self.free[processor], self.reaping[processor]) = (end, end);
        self.busy[processor] += interrupt + time;
        end
    }

    /// Makes the calls of `worker` that a command of this kind stands for, one after the other; when they are done.
    #[inline]
    fn call(&mut self, now: Nanos, command: &Request, op: Op, worker: u32) -> Nanos {
        let time = if command.op == op { self.calling(command) } else { Nanos::ZERO };
        if time == Nanos::ZERO {
            return now;
        }
        let worker = worker as usize;
        if self.called.len() <= worker {
            self.called.resize(worker + 1, Nanos::ZERO);
        }
        let from = now.max(self.called[worker]);
        let end = match self.spec.queues {
            None => self.work(from, time),
            Some(_) => self.work_on(worker % self.spec.cpus as usize, from, time),
        };
        self.called[worker] = end;
        end
    }

    /// What the calls of a read or write take that move its data.
    fn calling(&self, command: &Request) -> Nanos {
        let each = if command.op == Op::Write { self.spec.call_write } else { self.spec.call };
        let calls = self.spec.chunk.map_or(1, |chunk| command.bytes().get().div_ceil(chunk.get()));
        each.times(calls) + self.spec.copy.map_or(Nanos::ZERO, |rate| rate.time_for(command.bytes()))
    }

    #[inline]
    fn draw(&mut self) -> Wait {
        let Some(wake) = &self.wake else { return Wait { usual: Nanos::ZERO, rare: Nanos::ZERO } };
        wake.draw(&mut self.draws)
    }

    /// What was used up to `now`, counted from time zero.
    pub fn energy(&self, now: Nanos) -> Energy {
        let active = self.active + if self.requests > 0 { now.since(self.since) } else { Nanos::ZERO };
        // One that looks for completions works all the while.
        let is_polling = self.spec.queues.is_some_and(|queues| queues.polled);
        let busy: Nanos = self.busy.iter().copied().sum();
        let busy = if is_polling { busy.max(active) } else { busy };
        self.spec.idle.over(now) + self.spec.active.over(active) + self.spec.cpu.over(busy)
    }

    #[inline]
    fn work(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if time == Nanos::ZERO {
            return now;
        }
        let free = self.free.iter().enumerate().min_by_key(|(_, free)| **free);
        let (processor, _) = free.expect("a host has a processor");
        self.work_on(processor, now, time)
    }

    /// Has this processor work for so long, from `now` on or when it is free; when that is done.
    #[inline]
    fn work_on(&mut self, processor: usize, now: Nanos, time: Nanos) -> Nanos {
        let free = &mut self.free[processor];
        *free = now.max(*free) + time;
        self.busy[processor] += time;
        *free
    }
}
