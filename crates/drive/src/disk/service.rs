//! How commands go through a disk: what memory answers, what waits for an arm, and what an arm does next.

use block::{Bytes, Completion, Lba, Nanos, Op, Request, Status, Tag};

use super::actuator::Actuator;
use super::arm::SectorTransfer;
use super::spindle::SpindleActivity;
use super::{DiskDrive, LINK_PIECE};

/// The most sectors that are taken from the write cache to the platters in one go, so that a command that comes
/// meanwhile does not wait long.
const DESTAGE_PIECE: u64 = 1024;
/// How many reads in a row make a sequential stream, the first included.
const STREAM_READS: u32 = 3;

impl DiskDrive {
    /// Takes a command into the disk at `now`.
    pub(super) fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.inside += 1;
        let command = if self.has_turn(request.op) { Nanos::ZERO } else { self.command() };
        self.firmware_free = self.firmware_free.max(now) + command;
        self.arriving.push_back((self.firmware_free, tag, request));
        self.counters.count(&request);
    }

    /// Whether the firmware works on a command when it has its turn, not when it comes. Writes wait in the cache and not for it.
    fn has_turn(&self, op: Op) -> bool {
        !self.spec.queuing && op == Op::Read
    }

    /// What the firmware takes for the command at hand.
    fn command(&mut self) -> Nanos {
        self.spec.jitter.vary(&mut self.pace_draws, self.spec.command)
    }

    /// What it takes for one when that has its turn.
    fn command_in_turn(&mut self, op: Op) -> Nanos {
        if self.has_turn(op) { self.command() } else { Nanos::ZERO }
    }

    /// When something happens inside next: a command reaches the caches, or an arm can begin something.
    #[inline]
    pub(super) fn next_inside(&self) -> Option<Nanos> {
        let arrival = self.arriving.front().map(|(at, ..)| *at);
        let arms = (0..self.actuators.len()).filter_map(|index| self.next_of(index));
        arrival.into_iter().chain(arms).min()
    }

    /// When an arm can begin something.
    #[inline]
    fn next_of(&self, index: usize) -> Option<Nanos> {
        let actuator = &self.actuators[index];
        let wanted = match actuator.ready() {
            _ if !self.blocked.is_empty() && (!actuator.cache.is_clean() || self.is_clean()) => Some(Nanos::ZERO),
            None if !actuator.cache.is_empty() => Some(self.destages_from(index)),
            None => {
                actuator.shingles.as_ref().and_then(|shingles| shingles.cleans_at(actuator.idle_from(self.busy_at)))
            }
            ready => ready,
        };
        wanted.map(|wanted| wanted.max(actuator.arm.free()).max(self.now))
    }

    /// From when on an arm that no command wants writes out its cache: when none has come for a while, or at once if that drains, but
    /// behind what it reads ahead of a stream, which answers the next reads.
    fn destages_from(&self, index: usize) -> Nanos {
        let actuator = &self.actuators[index];
        let ahead = actuator.arm.ahead_until().filter(|(segment, _)| self.segments.run(*segment) >= STREAM_READS);
        let idle = self.busy_at + self.spec.cache.destage_after;
        if actuator.cache.drains() { idle.min(ahead.map_or(Nanos::ZERO, |(_, ends)| ends)) } else { idle }
    }

    /// Does what is due inside at `at`.
    pub(super) fn step(&mut self, at: Nanos) {
        self.now = at;
        let arriving = self.arriving.pop_front_if(|(arrival, ..)| *arrival == at);
        let due = match arriving {
            Some(_) => None,
            None if self.actuators.len() == 1 => Some(0),
            None => (0..self.actuators.len()).find(|index| self.next_of(*index) == Some(at)),
        };
        for actuator in &mut self.actuators {
            if actuator.arm.free() <= at {
                actuator.release();
            }
        }
        self.note_scattered(at);
        match arriving {
            Some((_, tag, request)) => self.arrive(at, tag, request),
            None => self.decide(at, due.expect("something is due")),
        }
        if !self.unreported.is_empty() {
            self.report();
        }
    }

    /// A command has reached the caches: what needs no arm is answered.
    fn arrive(&mut self, at: Nanos, tag: Tag, request: Request) {
        self.note_read(at);
        self.spindle.touch(at);
        self.busy_at = at;
        let request = match self.allowed(request) {
            Ok(request) => request,
            Err(status) => return self.refuse(at, tag, status),
        };
        // From when on memory can answer it.
        let taken = at + self.command_in_turn(request.op);
        match request.op {
            Op::Read if self.is_held(&request) => self.answer(taken, tag, request),
            Op::Read if self.is_being_read(&request) && self.answer_in_passing(taken, tag, request) => {}
            Op::Read => self.enqueue(tag, request, at),
            Op::Write if !request.durable && self.takes(&request) => {
                self.blocked.push_back((tag, request));
                self.admit(at);
            }
            Op::Write => self.write_through(at, tag, request),
            Op::Trim | Op::Append | Op::Zone(_) => self.finish(at, tag),
            Op::Flush => {
                self.blocked.push_back((tag, request));
                self.admit(at);
            }
        }
    }

    /// Notes in the segments what has passed under the heads since.
    fn note_read(&mut self, at: Nanos) {
        for actuator in &self.actuators {
            if let Some((segment, reached)) = actuator.arm.reading_ahead(at) {
                self.segments.fill(segment, reached);
                self.spindle.touch(actuator.arm.time_ahead(at).map_or(at, |(_, end)| end.min(at)));
            }
        }
    }

    /// Whether all that was written is on the platters.
    pub(super) fn is_clean(&self) -> bool {
        self.actuators.iter().all(|actuator| actuator.cache.is_clean())
    }

    fn is_held(&self, request: &Request) -> bool {
        self.segments.held(request.lba) >= request.end()
            || self.all_parts(request, |index, first, end| self.actuators[index].cache.covers(first, end))
    }

    fn is_being_read(&self, request: &Request) -> bool {
        self.actuators.iter().any(|actuator| actuator.arm.is_reading(request.lba, request.end()))
    }

    /// Whether the write cache can ever take such a write.
    fn takes(&self, request: &Request) -> bool {
        self.all_parts(request, |index, first, end| self.actuators[index].cache.takes(end.get() - first.get()))
    }

    /// Whether something holds for what lies under each arm.
    fn all_parts(&self, request: &Request, holds: impl Fn(usize, Lba, Lba) -> bool) -> bool {
        let parts = self.actuators.iter().map(|actuator| actuator.part(request.lba, request.end()));
        parts.enumerate().all(|(index, part)| part.is_none_or(|(first, end)| holds(index, first, end)))
    }

    /// Has a command wait for its arm, or for each of those above parts of it.
    fn enqueue(&mut self, tag: Tag, request: Request, ready: Nanos) {
        let mut parts = 0;
        for actuator in &mut self.actuators {
            if let Some((first, end)) = actuator.part(request.lba, request.end()) {
                let part = Request { lba: first, sectors: (end.get() - first.get()) as u32, ..request };
                let from = match request.op {
                    Op::Read => actuator.arm.certain_from(self.now, self.segments.held(first)),
                    _ => first,
                };
                let from = from.min(Lba::new(end.get() - 1));
                actuator.enqueue(&self.spec, tag, part, from, ready);
                parts += 1;
            }
        }
        if parts > 1 {
            self.spanning.push((tag, parts, Nanos::ZERO));
        }
    }

    /// Completes a command at `at`, or the part of it that lies under one arm.
    pub(super) fn complete_part(&mut self, at: Nanos, tag: Tag) {
        if self.spanning.is_empty() {
            return self.done(at, tag);
        }
        let Some(index) = self.spanning.iter().position(|(spanning, ..)| *spanning == tag) else {
            return self.done(at, tag);
        };
        let (_, left, last) = &mut self.spanning[index];
        (*left, *last) = (*left - 1, at.max(*last));
        if *left == 0 {
            let (tag, _, at) = self.spanning.swap_remove(index);
            self.done(at, tag);
        }
    }

    /// Completes a command that is done, or keeps it until others are.
    fn done(&mut self, at: Nanos, tag: Tag) {
        let done = Completion::new(at, tag);
        if self.spec.report == 0 { self.queue.take(done) } else { self.unreported.push(done) }
    }

    /// Completes commands that are done together, if they are as many as are reported together or no other waits.
    fn report(&mut self) {
        let waiting = || self.actuators.iter().map(Actuator::waiting).sum::<usize>() + self.arriving.len();
        if self.unreported.len() < self.spec.report as usize && waiting() > 0 {
            return;
        }
        let at = self.unreported.iter().fold(self.now, |last, done| last.max(done.at));
        self.unreported.drain(..).for_each(|done| self.queue.take(Completion { at, ..done }));
    }

    /// The command as the zones have it, where there are any.
    fn allowed(&mut self, request: Request) -> Result<Request, Status> {
        match (&mut self.zones, request.op) {
            (None, Op::Append | Op::Zone(_)) => Err(Status::InvalidOpcode),
            (None, _) => Ok(request),
            // ZBC: whole physical sectors. What a write that does not begin with one ends with, its write pointer says.
            (Some(zones), Op::Write)
                if zones.has_pointer(request.lba) && !request.end().get().is_multiple_of(self.spec.physical.into()) =>
            {
                Err(Status::ZoneInvalidWrite)
            }
            (Some(zones), _) => zones.command(request).map(|_| request),
        }
    }

    /// Ends a command with an error.
    fn refuse(&mut self, at: Nanos, tag: Tag, status: Status) {
        let at = self.link.send(at, at, 0, true);
        self.counters.failed += 1;
        self.queue.take(Completion { at, tag, status });
    }

    /// Completes a command whose answer is a status alone.
    fn finish(&mut self, at: Nanos, tag: Tag) {
        let at = self.link.send(at, at, 0, true);
        self.queue.take(Completion::new(at, tag));
    }

    /// Answers a read from memory, and lets reading ahead go on for as much as was used.
    fn answer(&mut self, at: Nanos, tag: Tag, request: Request) {
        self.cache_hits += 1;
        let done = self.send(at, request, request.lba, None);
        self.complete_part(done, tag);
        if self.segments.held(request.lba) < request.end() {
            return;
        }
        let segment = self.segments.claim(request.lba);
        let (limit, low) = (self.ahead_of(request.end()), self.segments.size() / 2);
        for actuator in &mut self.actuators {
            if actuator.arm.reading_ahead(at).is_some_and(|(ahead, _)| ahead == segment) {
                let (_, end) = actuator.arm.layout().sectors();
                actuator.arm.read_further(at, limit.min(end), request.end(), low, &mut self.spindle);
            }
        }
    }

    /// Where reading ahead of a request that ends at `end` ends: not beyond what lies in its place.
    fn ahead_of(&self, end: Lba) -> Lba {
        let limit = Lba::new((end.get() + self.segments.size()).min(self.spec.platters.sectors));
        let cached = self.actuators[0].shingles.as_ref().map(|shingles| shingles.next_cached(end));
        cached.map_or(limit, |cached| cached.min(limit))
    }

    /// Sends a read's data: what lies before `missing` is in memory, the rest comes as it passes under the heads.
    pub(super) fn send(
        &mut self,
        at: Nanos,
        request: Request,
        missing: Lba,
        passing: Option<(usize, SectorTransfer)>,
    ) -> Nanos {
        let mut done = at;
        let (mut from, mut is_first) = (request.lba, true);
        while from < request.end() {
            let stop = if from < missing && passing.is_some() { missing } else { request.end() };
            let end = stop.min(Lba::new(from.get() + LINK_PIECE.sectors()));
            let ready = match passing {
                Some((index, passing)) if from >= missing => passing.passed(self.actuators[index].arm.layout(), end),
                _ => at,
            };
            done = self.link.send(at, ready, (end.get() - from.get()) as u32, is_first);
            (from, is_first) = (end, false);
        }
        done
    }

    /// Brings a write's data over the link; when its first piece and when all of it is here.
    fn receive(&mut self, at: Nanos, request: Request) -> (Nanos, Nanos) {
        let (mut left, mut first, mut last) = (u64::from(request.sectors), None, at);
        while left > 0 {
            let piece = left.min(LINK_PIECE.sectors());
            last = self.link.receive(at, at, piece as u32, first.is_none());
            first.get_or_insert(last);
            left -= piece;
        }
        self.note_read(at);
        self.segments.forget(request.lba, request.end());
        for actuator in &mut self.actuators {
            // What is written anew while it is read in several places.
            actuator.scattered.take_if(|read| read.first < request.end() && request.lba < read.end);
            let Some((segment, reached)) = actuator.arm.reading_ahead(at) else { continue };
            let is_to_come = reached < request.end() && actuator.arm.is_reading(request.lba, request.end());
            if is_to_come || !self.segments.reaches(segment, reached) {
                actuator.arm.stop(at, &mut self.spindle);
            }
        }
        (first.unwrap_or(at), last)
    }

    /// Takes in a write that completes on the platters. They can begin with its first piece: the link is faster.
    fn write_through(&mut self, at: Nanos, tag: Tag, request: Request) {
        let (ready, _) = self.receive(at, request);
        self.actuators.iter_mut().for_each(|actuator| actuator.cache.forget(request.lba, request.end()));
        self.enqueue(tag, request, ready);
    }

    /// Takes writes into the cache while there is room, and answers flushes when it is clean, in order.
    fn admit(&mut self, at: Nanos) {
        while let Some(&(tag, request)) = self.blocked.front() {
            match request.op {
                Op::Write if self.has_room(&request) => {
                    let (_, done) = self.receive(at, request);
                    for actuator in &mut self.actuators {
                        if let Some((first, end)) = actuator.part(request.lba, request.end()) {
                            actuator.cache.put(first, end);
                        }
                    }
                    self.queue.take(Completion::new(done, tag));
                }
                Op::Flush if self.is_clean() => self.finish(at, tag),
                _ => return,
            }
            self.blocked.pop_front();
        }
    }

    fn has_room(&self, request: &Request) -> bool {
        self.all_parts(request, |index, first, end| {
            let actuator = &self.actuators[index];
            actuator.batch == 0 && actuator.cache.has_room(end.get() - first.get())
        })
    }

    /// An arm is free: gives it the command that comes next by its order, or something of the write cache. They take
    /// turns when both cannot wait. A cache that can wait does so while a command wants the arm, and, if it does
    /// not drain, until none has come for a while.
    fn decide(&mut self, at: Nanos, index: usize) {
        self.admit(at);
        let actuator = &self.actuators[index];
        let command = actuator.choose(&self.spec, at);
        let is_wanted = !self.blocked.is_empty() || command.is_none() && at >= self.destages_from(index);
        let is_cache_due = is_wanted && !actuator.cache.is_empty();
        if command.is_none() && !is_cache_due {
            return self.clean_if_idle(at, index);
        }
        if self.is_kept(at, index) {
            return;
        }
        let actuator = &mut self.actuators[index];
        match command {
            Some(chosen) if !(is_cache_due && actuator.cache_next) => {
                actuator.cache_next = true;
                let pending = actuator.take(&self.spec, at, chosen);
                let command = self.command_in_turn(pending.request.op);
                self.serve(at + command, index, pending.tag, pending.request);
            }
            _ => {
                actuator.cache_next = false;
                self.destage(at, index);
            }
        }
    }

    /// Whether an arm that is wanted does something of its own until later.
    fn is_kept(&mut self, at: Nanos, index: usize) -> bool {
        if let Some((until, sector)) = self.actuators[index].unasked(&self.spec, at) {
            self.stop_reading_ahead(at, index);
            self.actuators[index].arm.occupy(until, sector);
            return true;
        }
        false
    }

    fn serve(&mut self, at: Nanos, index: usize, tag: Tag, request: Request) {
        self.note_read(at);
        let missing = self.segments.held(request.lba);
        if request.op == Op::Read && missing >= request.end() {
            return self.answer(at, tag, request);
        }
        self.stop_reading_ahead(at, index);
        if request.op == Op::Write {
            self.segments.forget(request.lba, request.end());
            self.write_out(at, index, (request.lba, request.end()));
            return self.complete_part(self.actuators[index].arm.free(), tag);
        }
        let segment = self.claim(at, index, request.lba);
        if self.actuators[index]
            .shingles
            .as_ref()
            .is_some_and(|shingles| shingles.next_cached_of(missing) < request.end())
        {
            return self.serve_scattered(at, index, (tag, request), segment);
        }
        let turning = self.spindle.turning(at);
        let actuator = &mut self.actuators[index];
        let work = SpindleActivity::Read;
        let passing = actuator.arm.transfer(turning, (missing, request.end()), work, 0, &mut self.spindle);
        let done = self.send(at, request, missing, Some((index, passing)));
        self.complete_part(done, tag);
        self.read_on(at, index, segment, &request, (missing, passing));
    }

    /// The segment that data from `first` on goes into; no other arm reads into it any longer.
    fn claim(&mut self, at: Nanos, index: usize, first: Lba) -> usize {
        let segment = self.segments.claim(first);
        for (other, actuator) in self.actuators.iter_mut().enumerate() {
            if other != index && actuator.arm.reading_ahead(at).is_some_and(|(ahead, _)| ahead == segment) {
                actuator.arm.stop(at, &mut self.spindle);
            }
        }
        segment
    }

    /// Lets an arm read on behind a read whose missing data passes now: of a sequential stream a certain amount, whatever else
    /// waits.
    fn read_on(
        &mut self,
        at: Nanos,
        index: usize,
        segment: usize,
        request: &Request,
        (missing, passing): (Lba, SectorTransfer),
    ) {
        let is_stream = self.segments.run(segment) >= STREAM_READS;
        let more = if is_stream { self.spec.cache.prefetch } else { Bytes::ZERO };
        let (_, last) = self.actuators[index].arm.layout().sectors();
        let limit = self.ahead_of(request.end()).min(last);
        let certain = limit.min(Lba::new(request.end().get() + more.sectors()));
        let actuator = &mut self.actuators[index];
        actuator.arm.read_on(segment, (missing, passing), certain, limit);
        actuator.shorten(request.lba, certain);
        while let Some(pending) = self.actuators[index].take_within(request.lba, certain) {
            let is_answered = self.answer_in_passing(at, pending.tag, pending.request);
            assert!(is_answered, "what lies within passes for certain");
        }
    }

    /// Answers a read whose data an arm is certain to read, as it passes.
    fn answer_in_passing(&mut self, at: Nanos, tag: Tag, request: Request) -> bool {
        let held = self.segments.held(request.lba);
        let promise = |actuator: &Actuator| actuator.arm.promises(self.now, held, request.end());
        let Some((index, passing)) =
            self.actuators.iter().enumerate().find_map(|(index, actuator)| Some((index, promise(actuator)?)))
        else {
            return false;
        };
        let done = self.send(at, request, held, Some((index, passing)));
        self.complete_part(done, tag);
        true
    }

    pub(super) fn stop_reading_ahead(&mut self, at: Nanos, index: usize) {
        if let Some((segment, reached)) = self.actuators[index].arm.stop(at, &mut self.spindle) {
            self.segments.fill(segment, reached);
        }
    }

    /// Writes a stretch of an arm's cache to the platters. To the log of shingled tracks, where one goes behind the other, it brings as
    /// many as make a piece: for each alone the arm would go there and back.
    fn destage(&mut self, at: Nanos, index: usize) {
        self.stop_reading_ahead(at, index);
        let turning = self.spindle.turning(at);
        let actuator = &mut self.actuators[index];
        if actuator.batch == 0 && !actuator.cache.has_room(1) {
            actuator.batch = self.spec.cache.destage_batch;
        }
        let mut room = DESTAGE_PIECE;
        loop {
            let actuator = &mut self.actuators[index];
            let choice = actuator.destage_choice(&self.spec, turning);
            let taken = actuator.cache.take(choice, room);
            self.write_out(turning, index, (taken.first, taken.end));
            room -= taken.sectors();
            let actuator = &self.actuators[index];
            if actuator.shingles.is_none() || room == 0 || actuator.cache.is_empty() {
                return;
            }
        }
    }

    /// Writes sectors to the platters, wherever they go.
    fn write_out(&mut self, at: Nanos, index: usize, (first, end): (Lba, Lba)) {
        if self.actuators[index].shingles.is_none() {
            return self.write_at(at, index, (first, end));
        }
        let (mut from, mut plan) = (first, Vec::new());
        while from < end {
            let until = end.min(Lba::new(from.get() + DESTAGE_PIECE));
            while self.shingles(index).is_full(until.get() - from.get()) {
                self.clean(self.actuators[index].arm.free().max(at), index);
            }
            self.shingles(index).write(from, until, &mut plan);
            for stretch in plan.drain(..) {
                self.write_at(self.actuators[index].arm.free().max(at), index, stretch);
            }
            from = until;
        }
    }

    /// Writes sectors where they lie, after reading those that the platters keep as one with others.
    fn write_at(&mut self, at: Nanos, index: usize, (first, end): (Lba, Lba)) {
        let turning = self.spindle.turning(at);
        // The log of shingled tracks is written in whole physical sectors.
        let is_home = first.get() < self.spec.platters.sectors;
        let turns = if is_home { self.turns_to_rewrite(first, end) } else { 0 };
        self.rewrites += u64::from(turns > 0);
        let work = SpindleActivity::Write;
        self.actuators[index].arm.transfer(turning, (first, end), work, turns, &mut self.spindle);
    }

    /// How many turns a write takes more because it begins or ends within what the platters keep as one, which is read first
    /// and written when it comes round again.
    fn turns_to_rewrite(&self, first: Lba, end: Lba) -> u64 {
        let is_partial = |edge: Lba| !edge.get().is_multiple_of(self.spec.physical.into());
        let is_far = end.get() - first.get() > u64::from(self.spec.platters.outer);
        match (is_partial(first), is_partial(end)) {
            (false, false) => 0,
            (true, true) if is_far => 2,
            _ => 1,
        }
    }
}
