//! Several drives as one, behind their controllers.

use serde::{Deserialize, Serialize};

mod construct;
mod controller;
mod layout;
mod power_cut;
mod redundancy;
#[cfg(test)]
mod tests;

use block::{Bytes, Completion, Lba, Nanos, Op, Request, Seed, Status, Tag, Zone, ZoneLimits};
use controller::Controller;
pub use controller::ControllerSpec;
pub use layout::{ArrayLayout, Level, MemberStep};
use redundancy::{CommandRole, Repair};

use crate::cloned::clone_in_place;
use crate::event_queue::EventQueue;
use crate::slab::Slab;
use crate::{Counters, Device, Drive, Health, PowerLoss, Shape, not_before, within};

/// Several simulated drives as one.
///
/// A request becomes commands to members. Each passes its controller, waits in the member's own queue if that is
/// full, and is done when its data is back through the controller. The request is done with the last of them. A
/// write for which old data must be read is done in two rounds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Array {
    layout: ArrayLayout,
    members: Vec<Device>,
    /// Before this nothing completes in each member; later than any time if nothing is in flight there.
    due: Vec<Nanos>,
    /// The member for which that is earliest, and when.
    first: (u32, Nanos),
    /// Commands on their way to each member or in it.
    in_flight: Vec<u32>,
    controllers: Vec<Controller>,
    agenda: EventQueue<ArrayEvent>,
    flights: Slab<ArrayRequest>,
    commands: Slab<MemberCommand>,
    repairs: Slab<Repair>,
    /// Members that are done without, because a write to them failed.
    faulty: Vec<bool>,
    done: EventQueue<(Tag, Status)>,
    now: Nanos,
    counters: Counters,
    /// Empty between requests.
    #[serde(skip)]
    steps: Vec<MemberStep>,
}

/// What happens inside the array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum ArrayEvent {
    /// A command reaches its member.
    Arrive(u32),
    /// All that a flight had to read is there.
    Second(u32),
}

/// A request of the host under way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ArrayRequest {
    tag: Tag,
    request: Request,
    /// Commands of this round that are not done.
    left: u32,
    /// When the last of those that are done was.
    end: Nanos,
    /// Whether what is to be written was read for.
    second: bool,
    status: Status,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct MemberCommand {
    flight: u32,
    member: u32,
    request: Request,
    role: CommandRole,
}

impl Array {
    /// An array of `members` laid out as `layout` has it, dealt in turn to controllers of this kind, which draw from `seed`.
    pub fn new(layout: ArrayLayout, members: Vec<Device>, controllers: ControllerSpec, seed: Seed) -> Self {
        let count = members.len();
        Self {
            layout,
            due: vec![Nanos::MAX; count],
            first: (0, Nanos::MAX),
            in_flight: vec![0; count],
            now: members.iter().map(Drive::now).max().expect("an array has a member"),
            counters: Counters { page: members[0].counters().page, ..Counters::default() },
            members,
            controllers: (0..controllers.count)
                .map(|number| Controller::new(controllers, seed.number(number.into())))
                .collect(),
            agenda: EventQueue::default(),
            flights: Slab::default(),
            commands: Slab::default(),
            repairs: Slab::default(),
            faulty: vec![false; count],
            done: EventQueue::default(),
            steps: Vec::new(),
        }
    }

    /// The drives that it is made of.
    pub fn members(&self) -> &[Device] {
        &self.members
    }

    pub(crate) fn members_mut(&mut self) -> &mut [Device] {
        &mut self.members
    }

    /// The one member, by itself.
    ///
    /// # Panics
    /// If there are several.
    pub fn into_only_member(mut self) -> Device {
        assert_eq!(self.members.len(), 1, "only one drive can be taken out of its host");
        self.members.remove(0)
    }

    /// Whether it has one drive alone, which then is given all requests as they are.
    #[inline]
    fn is_one_drive(&self) -> bool {
        self.controllers.is_empty() && self.layout.is_plain()
    }

    /// Does the next thing that happens inside, if it is at or before `until`; whether there was one.
    ///
    /// What members complete goes before what reaches them at the same time, so that it finds their queues
    /// as they are.
    #[inline]
    fn advance(&mut self, until: Nanos) -> bool {
        let (member, due) = self.first;
        if due <= until.min(self.agenda.next()) && due < Nanos::MAX {
            self.take(member, due);
            return true;
        }
        let Some((at, event)) = self.agenda.take(until) else { return false };
        match event {
            ArrayEvent::Arrive(command) => self.arrive(at, command),
            ArrayEvent::Second(flight) => self.begin_second(at, flight),
        }
        true
    }

    /// Notes before when nothing completes in a member to which something happened.
    #[inline]
    fn note_due(&mut self, member: u32) {
        let due = self.members[member as usize].next_event().unwrap_or(Nanos::MAX);
        self.due[member as usize] = due;
        if due < self.first.1 {
            self.first = (member, due);
        } else if member == self.first.0 {
            self.first = (0, self.due[0]);
            for (member, &due) in (0..).zip(&self.due) {
                if due < self.first.1 {
                    self.first = (member, due);
                }
            }
        }
    }

    /// Asks a member for what it completes up to `due`.
    #[inline]
    fn take(&mut self, member: u32, due: Nanos) {
        let completion = self.members[member as usize].complete(due);
        self.note_due(member);
        let Some(Completion { at, tag, status }) = completion else {
            assert!(self.due[member as usize] > due, "member {member} did what it had to do up to {due}");
            return;
        };
        self.in_flight[member as usize] -= 1;
        let command = *self.commands.at(tag.0);
        let MemberCommand { flight, request, role, .. } = command;
        self.commands.free(tag.0);
        let end = match (request.op, self.controller(member)) {
            (Op::Read, Some(controller)) => controller.transfer(at, at, request.bytes()),
            _ => at,
        };
        match status.is_success() && role == CommandRole::Asked {
            true => self.finish(at, flight, end, Status::Success),
            false => self.settle(at, command, end, status),
        }
    }

    /// Notes that one command of a flight is done at `end`, which was decided at `now`.
    fn finish(&mut self, now: Nanos, number: u32, end: Nanos, status: Status) {
        let flight = self.flights.at(number);
        flight.left -= 1;
        flight.end = flight.end.max(end);
        flight.status = flight.status.or(status);
        let (tag, end, status) = (flight.tag, flight.end, flight.status);
        if flight.left > 0 {
            return;
        }
        self.steps.clear();
        if !flight.second && status.is_success() {
            self.layout.second(&flight.request, &mut self.steps);
        }
        if self.steps.is_empty() {
            self.flights.free(number);
            self.counters.count_end(status);
            self.done.note(end, (tag, status));
        } else if end > now {
            self.agenda.note(end, ArrayEvent::Second(number));
        } else {
            self.begin_second(now, number);
        }
    }

    /// Writes what was read for.
    fn begin_second(&mut self, now: Nanos, number: u32) {
        let flight = self.flights.at(number);
        flight.second = true;
        self.steps.clear();
        self.layout.second(&flight.request, &mut self.steps);
        self.issue(now, number);
    }

    /// Sends the commands that are in `steps` on their way.
    fn issue(&mut self, now: Nanos, number: u32) {
        if self.faulty.contains(&true) {
            return self.issue_without(now, number);
        }
        let flight = self.flights.at(number);
        flight.left = self.steps.len() as u32;
        let whole = flight.request;
        for index in 0..self.steps.len() {
            let MemberStep { member, op, lba, sectors } = self.steps[index];
            let member = if op == Op::Read { self.least_busy(member) } else { member };
            let request = Request { op, lba, sectors, ..whole };
            self.send(now, MemberCommand { flight: number, member, request, role: CommandRole::Asked });
        }
    }

    /// Sends a command on its way.
    #[inline]
    fn send(&mut self, now: Nanos, command: MemberCommand) {
        let MemberCommand { member, request, .. } = command;
        self.in_flight[member as usize] += 1;
        let command = self.commands.put(command);
        let at = match self.controller(member) {
            Some(controller) => {
                let passed = controller.command(now);
                let data = if request.op.writes() { request.bytes() } else { Bytes::ZERO };
                controller.transfer(now, passed, data)
            }
            None => now,
        };
        match at > now {
            true => self.agenda.note(at, ArrayEvent::Arrive(command)),
            false => self.arrive(now, command),
        }
    }

    /// Of the members that have the data that `first` has, the one with the fewest commands in flight.
    #[inline]
    fn least_busy(&self, first: u32) -> u32 {
        match self.layout.copies() {
            1 => first,
            copies => (first..first + copies)
                .min_by_key(|&member| (self.faulty[member as usize], self.in_flight[member as usize]))
                .expect("there is at least one copy"),
        }
    }

    /// Hands a command to its member.
    #[inline]
    fn arrive(&mut self, at: Nanos, number: u32) {
        let MemberCommand { member, request, .. } = *self.commands.at(number);
        self.members[member as usize].submit(at, Tag(number), request);
        self.note_due(member);
    }

    /// The controller to which a member was dealt.
    #[inline]
    fn controller(&mut self, member: u32) -> Option<&mut Controller> {
        let count = self.controllers.len() as u32;
        (count > 0).then(|| &mut self.controllers[(member % count) as usize])
    }

    /// Tells each member of its share of some requests together, by where they begin, so that their loads overlap.
    fn tell_members(&self, requests: &[Request], tell: impl Fn(&Device, &[Request])) {
        const BATCH: usize = 32;
        if let [only] = &self.members[..] {
            return tell(only, requests);
        }
        for batch in requests.chunks(BATCH) {
            let mut places = [Request::FLUSH; BATCH];
            let mut order = [(u32::MAX, 0); BATCH];
            for (index, request) in batch.iter().enumerate() {
                if let Some(MemberStep { member, op, lba, sectors }) = self.layout.pieces(request).next() {
                    places[index] = Request { op, lba, sectors, ..*request };
                    order[index] = (member, index);
                }
            }
            let order = &mut order[..batch.len()];
            order.sort_unstable();
            for share in order.chunk_by(|(one, _), (other, _)| one == other).filter(|share| share[0].0 < u32::MAX) {
                let mut theirs = [Request::FLUSH; BATCH];
                share.iter().zip(&mut theirs).for_each(|((_, index), place)| *place = places[*index]);
                tell(&self.members[share[0].0 as usize], &theirs[..share.len()]);
            }
        }
    }
}

impl Drive for Array {
    fn shape(&self) -> Shape {
        let shapes = || self.members.iter().map(Drive::shape);
        Shape {
            capacity: self.layout.capacity(),
            block: shapes().map(|shape| shape.block).max().expect("an array has a member"),
            queue_depth: shapes().map(|shape| shape.queue_depth).sum(),
        }
    }

    #[inline]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.layout.capacity(), &request);
        if self.is_one_drive() {
            self.now = now;
            self.counters.count(&request);
            return self.members[0].submit(now, tag, request);
        }
        while self.advance(now) {}
        self.now = now;
        self.counters.count(&request);
        self.steps.clear();
        self.layout.first(&request, &mut self.steps);
        if self.steps.is_empty() {
            self.done.note(now, (tag, Status::Success));
            return;
        }
        let status = Status::Success;
        let flight = self.flights.put(ArrayRequest { tag, request, left: 0, end: now, second: false, status });
        self.issue(now, flight);
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        if self.is_one_drive() {
            return self.members[0].next_event();
        }
        let next = self.first.1.min(self.agenda.next()).min(self.done.next());
        (next < Nanos::MAX).then_some(next)
    }

    #[inline]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        if self.is_one_drive() {
            let completion = self.members[0].complete(until)?;
            self.now = self.now.max(completion.at);
            self.counters.count_end(completion.status);
            return Some(completion);
        }
        while self.advance(until.min(self.done.next())) {}
        let (at, (tag, status)) = self.done.take(until)?;
        self.now = self.now.max(at);
        Some(Completion { at, tag, status })
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        let members = self.members.iter().map(|member| member.counters_at(at)).reduce(|sum, member| sum + member);
        let mut counters = members.expect("an array has a member").asked_as(&self.counters);
        counters.repaired += self.counters.repaired;
        for controller in &self.controllers {
            counters.controller_commands_busy += controller.commands_busy;
            counters.controller_data_busy += controller.data_busy;
        }
        counters
    }

    fn health(&self) -> Health {
        let members = self.members.iter().map(Drive::health).reduce(Health::with);
        Health { power_on: self.now, ..members.expect("an array has a member") }
    }

    fn purge(&mut self) {
        assert!(self.flights.is_empty() && self.done.is_empty(), "an array is purged only when nothing is in flight");
        self.members.iter_mut().for_each(Drive::purge);
        self.now = self.members.iter().map(Drive::now).fold(self.now, Nanos::max);
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        self.lose_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.at_risk(now)
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        self.members[0].zone_limits()
    }

    fn zones(&self) -> Vec<Zone> {
        self.members[0].zones()
    }

    fn draw_from(&mut self, seed: Seed) {
        let seeds = || (0..).map(|member| seed.number(member));
        self.members.iter_mut().zip(seeds()).for_each(|(member, seed)| member.draw_from(seed));
        self.controllers.iter_mut().zip(seeds()).for_each(|(controller, seed)| controller.draw_from(seed));
    }

    fn expect(&self, soon: &[Request]) {
        self.tell_members(soon, Device::expect);
    }

    fn expect_next(&self, next: &[Request]) {
        self.tell_members(next, Device::expect_next);
    }
}

// Into the members' memory.
clone_in_place!(Array {
    layout,
    members,
    due,
    first,
    in_flight,
    controllers,
    agenda,
    flights,
    commands,
    repairs,
    faulty,
    done,
    now,
    counters,
    steps,
});
