//! What an array does about members that fail: reads are made good from the others, and a member that takes no more data is
//! done without.
//!
//! Source: the md(4) manual page, "RECOVERY", and drivers/md/raid1.c, `fix_read_error`: what cannot be read is read from the
//! other members and written to the one that failed, so that it may be remapped, before the request is answered; a member on
//! which a write fails is marked faulty.

use block::{Nanos, Op, Request, Status};
use serde::{Deserialize, Serialize};

use super::{Array, MemberCommand};

/// Why a command was sent to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandRole {
    /// It is a part of what the host asked for.
    Asked,
    /// It reads for this repair.
    Rebuild(u32),
    /// It writes what a repair has made good.
    Rewrite,
}

/// A part of a request that one member could not read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Repair {
    flight: u32,
    /// The member, and what it was asked.
    member: u32,
    request: Request,
    /// Reads of other members that are not done.
    left: u32,
    /// When the last of those that are done was, and whether all could be read.
    end: Nanos,
    status: Status,
}

impl Array {
    /// A member has ended a command with an error, or what a command was for is not simply done.
    #[cold]
    pub(super) fn settle(&mut self, now: Nanos, command: MemberCommand, end: Nanos, status: Status) {
        let MemberCommand { flight, member, request, role } = command;
        match role {
            CommandRole::Rebuild(repair) => self.rebuilt(now, repair, end, status),
            CommandRole::Rewrite => {
                if !status.is_success() {
                    self.faulty[member as usize] |= self.can_do_without(member);
                }
                self.finish(now, flight, end, Status::Success);
            }
            CommandRole::Asked if request.op == Op::Read => self.rebuild(now, flight, member, request, status),
            CommandRole::Asked if self.can_do_without(member) => {
                self.faulty[member as usize] = true;
                self.finish(now, flight, end, Status::Success);
            }
            CommandRole::Asked => self.finish(now, flight, end, status),
        }
    }

    /// Reads from other members what `member` cannot give; the request ends with `status` where they have not got it.
    fn rebuild(&mut self, now: Nanos, flight: u32, member: u32, request: Request, status: Status) {
        let Some(peers) = self.peers(member) else { return self.finish(now, flight, now, status) };
        let left = peers.len() as u32;
        let repair = Repair { flight, member, request, left, end: now, status: Status::Success };
        let number = self.repairs.put(repair);
        for peer in peers {
            self.send(now, MemberCommand { flight, member: peer, request, role: CommandRole::Rebuild(number) });
        }
    }

    /// One of the reads of a repair is done.
    fn rebuilt(&mut self, now: Nanos, number: u32, end: Nanos, status: Status) {
        let repair = self.repairs.at(number);
        repair.left -= 1;
        (repair.end, repair.status) = (repair.end.max(end), repair.status.or(status));
        let Repair { flight, member, request, left, end, status } = *repair;
        if left > 0 {
            return;
        }
        self.repairs.free(number);
        if !status.is_success() || self.faulty[member as usize] {
            return self.finish(now, flight, end, status);
        }
        self.counters.repaired += 1;
        let request = Request { op: Op::Write, ..request };
        self.send(now, MemberCommand { flight, member, request, role: CommandRole::Rewrite });
    }

    /// Sends the commands that are in `steps` where some members are done without.
    #[cold]
    pub(super) fn issue_without(&mut self, now: Nanos, number: u32) {
        let whole = self.flights.at(number).request;
        self.flights.at(number).left = self.steps.len() as u32 + 1;
        for index in 0..self.steps.len() {
            let step = self.steps[index];
            let request = Request { op: step.op, lba: step.lba, sectors: step.sectors, ..whole };
            let member = if step.op == Op::Read { self.least_busy(step.member) } else { step.member };
            match (self.faulty[member as usize], step.op) {
                (true, Op::Read) => self.rebuild(now, number, member, request, Status::UnrecoveredRead),
                (true, _) => self.flights.at(number).left -= 1,
                (false, _) => {
                    self.send(now, MemberCommand { flight: number, member, request, role: CommandRole::Asked });
                }
            }
        }
        self.finish(now, number, now, Status::Success);
    }

    /// The members from which together the data of this one can be told; none where there are none.
    fn peers(&self, member: u32) -> Option<Vec<u32>> {
        let is_sound = |peer: &u32| *peer != member && !self.faulty[*peer as usize];
        let group = self.layout.group(member);
        let sound: Vec<u32> = group.clone().filter(is_sound).collect();
        let wanted = if self.layout.copies() > 1 { 1 } else { group.len() - 1 };
        (wanted > 0 && sound.len() >= wanted).then(|| sound[..wanted].to_vec())
    }

    /// Whether the others have all that `member` has.
    fn can_do_without(&self, member: u32) -> bool {
        self.peers(member).is_some()
    }
}
