//! What limits drives from outside: a host, its controllers, and how its drives are put together.

use std::ops::Range;

use serde::{Deserialize, Serialize};

mod bottleneck;
mod file;
mod host;
#[cfg(test)]
mod tests;

use block::{Bytes, Completion, Lba, Nanos, Op, Request, Seed, Status, Tag, Zone, ZoneLimits};
pub use bottleneck::{Bottleneck, RigPart};
pub(crate) use file::{RigFile, change, host_of};
use host::Host;
pub use host::{HostSpec, QueueSpec};

use crate::array::{Array, ArrayLayout, ControllerSpec, Level};
use crate::cloned::clone_in_place;
use crate::draw::Spread;
use crate::event_queue::EventQueue;
use crate::preset::Preset;
use crate::slab::Slab;
use crate::{Counters, Device, Drive, Health, PowerLoss, Shape, Specimen, not_before};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigSpec {
    /// The computer.
    pub host: HostSpec,
    pub controllers: ControllerSpec,
    /// How the drives are put together.
    pub level: Level,
    /// How many.
    pub drives: u32,
    /// How much goes to one drive before the next one's turn.
    pub stripe: Bytes,
    /// Each of them.
    pub member: Box<Preset>,
}

impl RigSpec {
    /// Where data is.
    pub fn layout(&self) -> ArrayLayout {
        ArrayLayout::new(self.level, self.drives, self.stripe, self.member.capacity())
    }

    /// Which drives of their model its drives are, where it is the rig of this number: no two of any two rigs are the same.
    pub(crate) fn members(&self, number: u32) -> Range<u32> {
        let first = self.member.specimen + (number - 1) * self.drives;
        first..first + self.drives
    }

    /// What the rig is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let (host, controllers) = (&self.host, &self.controllers);
        let transfer = host.transfer.map_or("of any size".to_owned(), |most| format!("of up to {most}"));
        let mut facts = vec![
            ("capacity", self.layout().capacity().to_string()),
            ("host", format!("{} CPUs, {} + {} per command {transfer}", host.cpus, host.submit, host.complete)),
        ];
        facts.extend(host.queues.map(|queues| ("queues", queues.words(host.interrupt))));
        facts.extend(host.calls().map(|calls| ("calls", calls)));
        facts.extend(host.wake.map(|wake| ("wake-up", wake.words())));
        if host.drift_ppm > 0 {
            let percent = f64::from(host.drift_ppm) / 1e4;
            facts.push(("drift", format!("± {percent} % of wake-up and interrupt from second to second")));
        }
        if controllers.count > 0 {
            let bandwidth = controllers.bandwidth.map_or("no limit".to_owned(), |rate| rate.to_string());
            let ControllerSpec { count, command, jitter, .. } = controllers;
            let varies = if *jitter == Spread::NONE { "" } else { " on average" };
            facts.push(("controller", format!("{count} × {command}{varies} per command, {bandwidth} of data")));
        }
        let stripe = if !self.level.stripes() { String::new() } else { format!(" in stripes of {}", self.stripe) };
        facts.push(("array", format!("{} × sim:{}, {}{stripe}", self.drives, self.member.name, self.level)));
        facts
    }
}

/// A simulated host with simulated drives, which is a drive to what runs on it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rig {
    spec: RigSpec,
    specimen: Specimen,
    host: Host,
    array: Array,
    /// Before this nothing completes in the array; later than any time if nothing is in flight there.
    array_due: Nanos,
    agenda: EventQueue<RigEvent>,
    flights: Slab<RigRequest>,
    commands: Slab<RigCommand>,
    done: EventQueue<(Tag, Status)>,
    now: Nanos,
    counters: Counters,
}

/// What happens inside the host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum RigEvent {
    /// A processor has handed a command over.
    HandedOver(u32),
    /// The command before it is done with, and this one's turn has come.
    Turn(u32),
    /// There is room in its queue for a command that waited for that.
    Room(u32),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RigRequest {
    tag: Tag,
    /// What was not made into commands yet.
    rest: Request,
    under_way: u32,
    /// When the last of the commands that are done was.
    end: Nanos,
    status: Status,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RigCommand {
    flight: u32,
    worker: u32,
    request: Request,
}

impl Rig {
    /// An idle rig whose drives are as they leave the factory, time at zero.
    pub fn new(spec: RigSpec) -> Self {
        Self::of(spec, Specimen::default())
    }

    /// The same of a certain specimen.
    pub fn of(spec: RigSpec, specimen: Specimen) -> Self {
        let members = spec.members(specimen.number()).map(|number| spec.member.build_numbered(number)).collect();
        let array = Array::new(spec.layout(), members, spec.controllers, specimen.seed().split("controllers"));
        Self {
            host: Host::new(spec.host, specimen.seed().split("host")),
            now: array.now(),
            array,
            array_due: Nanos::MAX,
            agenda: EventQueue::default(),
            flights: Slab::default(),
            commands: Slab::default(),
            done: EventQueue::default(),
            counters: Counters::default(),
            specimen,
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &RigSpec {
        &self.spec
    }

    /// Which rig of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// The one drive of a host, without it.
    ///
    /// # Panics
    /// If there are several.
    pub(crate) fn into_only_drive(self) -> Device {
        self.array.into_only_member()
    }

    pub fn drives(&self) -> &[Device] {
        self.array.members()
    }

    pub(crate) fn members_mut(&mut self) -> &mut [Device] {
        self.array.members_mut()
    }

    /// Whether all its drives can be filled without time, and data is spread over them as it comes.
    pub(crate) fn can_fill(&self, first: Lba, end: Lba) -> bool {
        self.is_at_rest() && self.array.can_fill(first, end)
    }

    /// Fills them: see [`Device::fill`].
    pub(crate) fn fill(&mut self, first: Lba, end: Lba, block: Bytes, entropy: u8) {
        self.array.fill(first, end, block, entropy);
        self.counters.count_fill(&self.array.zones(), first, end, block);
        self.now = self.now.max(self.array.now());
    }

    /// Whether all its drives can be written so without time: see [`Device::can_write_untimed`].
    pub(crate) fn can_write_untimed(&self, first: Lba, end: Lba) -> bool {
        self.is_at_rest() && self.array.can_write_untimed(first, end)
    }

    /// Writes so: see [`Device::write_untimed`].
    pub(crate) fn write_untimed(&mut self, requests: impl IntoIterator<Item = Request>) {
        let asked = self.array.write_untimed(requests);
        self.count_untimed(asked);
    }

    /// Whether all its drives can be written at random without time: see [`Device::can_write_at_random`].
    pub(crate) fn can_write_at_random(&self, block: Bytes) -> bool {
        self.is_at_rest() && self.array.can_write_at_random(block)
    }

    /// Writes so: see [`Device::write_at_random`].
    pub(crate) fn write_at_random(&mut self, writes: u64, block: Bytes, seed: Seed) {
        let asked = self.array.write_at_random(writes, block, seed);
        self.count_untimed(asked);
    }

    fn is_at_rest(&self) -> bool {
        self.flights.is_empty() && self.done.is_empty()
    }

    /// Counts what was asked of its drives without time.
    fn count_untimed(&mut self, asked: Counters) {
        self.counters = self.counters + asked;
        self.now = self.now.max(self.array.now());
    }

    /// Does the next thing that happens inside, if it is at or before `until`; whether there was one.
    #[inline]
    fn advance(&mut self, until: Nanos) -> bool {
        let limit = until.min(self.agenda.next());
        if self.array_due <= limit && self.array_due < Nanos::MAX {
            let completion = self.array.complete(limit);
            self.array_due = self.array.next_event().unwrap_or(Nanos::MAX);
            if let Some(Completion { at, tag, status }) = completion {
                self.finish(at, tag.0, status);
            }
            return true;
        }
        match self.agenda.take(until) {
            Some((at, RigEvent::HandedOver(command))) => self.hand_over(at, command),
            Some((at, RigEvent::Turn(command))) => self.begin(at, command),
            Some((at, RigEvent::Room(command))) => self.pass_on(at, command),
            None => return false,
        }
        true
    }

    /// Makes the next command of what is left of a flight.
    fn cut(&mut self, number: u32) -> u32 {
        let flight = self.flights.at(number);
        let most = match (flight.rest.op, self.spec.host.transfer) {
            (Op::Read | Op::Write, Some(most)) => most.sectors().min(u64::from(u32::MAX)) as u32,
            _ => u32::MAX,
        };
        let request = Request { sectors: flight.rest.sectors.min(most), ..flight.rest };
        flight.rest.lba = request.end();
        flight.rest.sectors -= request.sectors;
        flight.under_way += 1;
        let worker = self.host.worker(flight.tag.0);
        self.commands.put(RigCommand { flight: number, worker, request })
    }

    /// Has a processor hand a command over.
    fn begin(&mut self, now: Nanos, command: u32) {
        let RigCommand { request, worker, .. } = *self.commands.at(command);
        let at = self.host.submit(now, &request, worker);
        match at > now {
            true => self.agenda.note(at, RigEvent::HandedOver(command)),
            false => self.hand_over(now, command),
        }
    }

    #[inline]
    fn hand_over(&mut self, at: Nanos, command: u32) {
        let worker = self.commands.at(command).worker;
        if self.host.enqueue(command, worker) {
            self.pass_on(at, command);
        }
    }

    #[inline]
    fn pass_on(&mut self, at: Nanos, command: u32) {
        let request = self.commands.at(command).request;
        self.array.submit(at, Tag(command), request);
        self.array_due = self.array.next_event().unwrap_or(Nanos::MAX);
    }

    /// A command is done at `now`; its request is when a processor has seen to that of every command.
    fn finish(&mut self, now: Nanos, command: u32, status: Status) {
        let RigCommand { flight: number, request, worker } = *self.commands.at(command);
        self.commands.free(command);
        let end = self.host.complete(now, &request, worker);
        if let Some(next) = self.host.dequeue(worker) {
            self.agenda.note(end, RigEvent::Room(next));
        }
        let flight = self.flights.at(number);
        flight.end = flight.end.max(end);
        flight.status = flight.status.or(status);
        flight.under_way -= 1;
        if flight.rest.sectors > 0 {
            let next = self.cut(number);
            self.agenda.note(end, RigEvent::Turn(next));
        } else if flight.under_way == 0 {
            let (end, tag, status) = (flight.end, flight.tag, flight.status);
            self.flights.free(number);
            self.counters.count_end(status);
            self.done.note(end, (tag, status));
        }
    }
}

impl Drive for Rig {
    fn shape(&self) -> Shape {
        self.array.shape()
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        while self.advance(now) {}
        self.now = now;
        self.counters.count(&request);
        self.host.begin(now);
        let flight =
            self.flights.put(RigRequest { tag, rest: request, under_way: 0, end: now, status: Status::Success });
        for _ in 0..self.spec.host.at_once {
            let command = self.cut(flight);
            let is_last = self.flights.at(flight).rest.sectors == 0;
            self.begin(now, command);
            if is_last {
                break;
            }
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        let next = self.array_due.min(self.agenda.next()).min(self.done.next());
        (next < Nanos::MAX).then_some(next)
    }

    #[inline(never)]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        while self.advance(until.min(self.done.next())) {}
        let (at, (tag, status)) = self.done.take(until)?;
        self.now = self.now.max(at);
        self.host.end(at);
        Some(Completion { at, tag, status })
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        let inside = self.array.counters_at(at);
        Counters {
            host_busy: self.host.busy.iter().copied().sum(),
            host_busiest: self.host.busy.iter().copied().max().unwrap_or_default(),
            host_cpus: self.spec.host.cpus,
            controllers: self.spec.controllers.count,
            energy_nj: inside.energy_nj + self.host.energy(at.max(self.now)).as_nanojoules(),
            ..inside.asked_as(&self.counters)
        }
    }

    fn health(&self) -> Health {
        Health { power_on: self.now, ..self.array.health() }
    }

    fn purge(&mut self) {
        assert!(self.flights.is_empty() && self.done.is_empty(), "a rig is purged only when nothing is in flight");
        self.array.purge();
        self.now = self.now.max(self.array.now());
    }

    /// The drives lose what they lose; that the host starts again is not simulated.
    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        while self.advance(now) {}
        self.now = now;
        let unanswered = self.flights.in_use() + self.done.count();
        let lost = self.array.cut_power(now.max(self.array.now()));
        self.array_due = Nanos::MAX;
        self.host.restart(now);
        (self.agenda, self.flights, self.commands, self.done) = Default::default();
        PowerLoss { unanswered, ..lost }
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.array.unsaved(now.max(self.array.now()))
    }

    fn bind(&mut self, workers: &[u32]) {
        self.host.bind(workers);
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        self.array.zone_limits()
    }

    fn zones(&self) -> Vec<Zone> {
        self.array.zones()
    }

    fn draw_from(&mut self, seed: Seed) {
        self.host.draw_from(seed);
        self.array.draw_from(seed);
    }

    #[inline]
    fn expect(&self, soon: &[Request]) {
        self.array.expect(soon);
    }

    #[inline]
    fn expect_next(&self, next: &[Request]) {
        self.array.expect_next(next);
    }
}

// Into the memory of the drives.
clone_in_place!(Rig { spec, specimen, host, array, array_due, agenda, flights, commands, done, now, counters });
