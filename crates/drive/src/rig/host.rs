//! The computer that asks.

use block::{Bytes, Energy, Nanos, Op, Power, Rate, Request};
use serde::{Deserialize, Serialize};

/// What a host costs beside its drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// Processors that serve requests.
    pub cpus: u32,
    /// What a processor takes to hand a command over.
    pub submit: Nanos,
    /// What it takes when the command is done.
    pub complete: Nanos,
    /// How fast a processor copies data, if it does: before a write is handed over, after a read is done.
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

/// A host's processors. Each piece of work goes to whichever is free first, in the order in which it comes up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    pub spec: HostSpec,
    free: Vec<Nanos>,
    /// How long they worked, summed over them.
    pub busy: Nanos,
    requests: u32,
    /// When the first of them began.
    since: Nanos,
    /// How long there were any, before `since`.
    active: Nanos,
}

impl Host {
    /// An idle host.
    pub fn new(spec: HostSpec) -> Self {
        Self {
            free: vec![Nanos::ZERO; spec.cpus as usize],
            busy: Nanos::ZERO,
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
    }

    /// Does the work of handing over; when it is done.
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: &Request) -> Nanos {
        self.work(now, self.spec.submit + self.copying(command, Op::Write))
    }

    /// Does the work of a command that is done; when that is done.
    #[inline]
    pub fn complete(&mut self, now: Nanos, command: &Request) -> Nanos {
        self.work(now, self.spec.complete + self.copying(command, Op::Read))
    }

    /// What was used up to `now`, counted from time zero.
    pub fn energy(&self, now: Nanos) -> Energy {
        let active = self.active + if self.requests > 0 { now.since(self.since) } else { Nanos::ZERO };
        self.spec.idle.over(now) + self.spec.active.over(active) + self.spec.cpu.over(self.busy)
    }

    fn copying(&self, command: &Request, op: Op) -> Nanos {
        match self.spec.copy {
            Some(rate) if command.op == op => rate.time_for(command.bytes()),
            _ => Nanos::ZERO,
        }
    }

    #[inline]
    fn work(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if time == Nanos::ZERO {
            return now;
        }
        let free = self.free.iter_mut().min().expect("a host has a processor");
        *free = now.max(*free) + time;
        self.busy += time;
        *free
    }
}
