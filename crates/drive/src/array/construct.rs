//! What writes leave behind on the members of an array, without their time.

use block::{Bytes, Lba, Nanos, Op, Request, Seed};

use super::{Array, MemberStep};
use crate::{Counters, Device, Drive};

/// The most requests that are dealt out to the members together.
const BATCH: usize = 1 << 20;

impl Array {
    /// Whether nothing is under way, and no member is done without.
    fn is_at_rest(&self) -> bool {
        self.flights.is_empty() && self.done.is_empty() && !self.faulty.contains(&true)
    }

    /// Whether members can be brought into the state that writes in order leave. Parity may be written several times, which only
    /// disks forget.
    pub(crate) fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let forgets = |member: &Device| matches!(member, Device::Disk(disk) if disk.writes_in_place());
        let mut all = self.members.iter().zip(self.layout.shares(first, end));
        self.is_at_rest()
            && end <= Lba::at(self.layout.capacity())
            && (!self.layout.has_parity() || self.members.iter().all(forgets))
            && all.all(|(member, (first, end))| first == end || member.can_fill(first, end))
    }

    /// Brings members into that state: see [`Device::fill`].
    pub(crate) fn fill(&mut self, first: Lba, end: Lba, block: Bytes, entropy: u8) {
        let (shares, piece) = (self.layout.shares(first, end), block.min(self.layout.chunk()));
        for (member, (first, end)) in self.members.iter_mut().zip(shares).filter(|(_, (first, end))| first < end) {
            member.fill(first, end, piece, entropy);
        }
        self.counters.count_fill(&self.members[0].zones(), first, end, block);
        self.now = self.members.iter().map(Drive::now).fold(self.now, Nanos::max);
    }

    /// Whether [`write_untimed`](Self::write_untimed) can bring about what a write from `first` to `end` leaves: it is of one chunk,
    /// without parity, of members that can.
    pub(crate) fn can_write_untimed(&self, first: Lba, end: Lba) -> bool {
        let sectors = u32::try_from(end.get() - first.get()).ok();
        let step = sectors.and_then(|sectors| self.layout.only_piece(&Request::new(Op::Write, first, sectors)));
        self.is_at_rest()
            && !self.layout.has_parity()
            && step.is_some_and(|MemberStep { member, lba, sectors, .. }| {
                let end = Lba::new(lba.get() + u64::from(sectors));
                self.layout.group(member).all(|member| self.members[member as usize].can_write_untimed(lba, end))
            })
    }

    /// Brings members into the state that these writes would leave: see [`Device::write_untimed`]. What was asked.
    ///
    /// # Panics
    /// If one of them is of several chunks.
    pub(crate) fn write_untimed(&mut self, requests: impl IntoIterator<Item = Request>) -> Counters {
        let layout = self.layout;
        self.change_members(|members| {
            if let [only] = members {
                return only.write_untimed(requests);
            }
            let mut requests = requests.into_iter().peekable();
            let copies = layout.copies() as usize;
            let mut shares = vec![Vec::new(); members.len() / copies];
            while requests.peek().is_some() {
                for request in requests.by_ref().take(BATCH) {
                    let step = layout.only_piece(&request).expect("whether it can be was asked");
                    shares[step.member as usize / copies].push(Request { lba: step.lba, ..request });
                }
                for (member, share) in members.chunks_mut(copies).zip(&mut shares) {
                    member.iter_mut().for_each(|member| member.write_untimed(share.iter().copied()));
                    share.clear();
                }
            }
        })
    }

    /// Whether [`write_at_random`](Self::write_at_random) can: there is no parity, each write is of one chunk, and members can.
    pub(crate) fn can_write_at_random(&self, block: Bytes) -> bool {
        self.is_at_rest()
            && !self.layout.has_parity()
            && block > Bytes::ZERO
            && self.layout.chunk().get().is_multiple_of(block.get())
            && self.members.iter().all(|member| member.can_write_at_random(block))
    }

    /// Brings members into a state that so many random writes of `block` each leave, of which each has an equal share: see
    /// [`Device::write_at_random`]. What was asked.
    pub(crate) fn write_at_random(&mut self, writes: u64, block: Bytes, seed: Seed) -> Counters {
        let copies = self.layout.copies() as usize;
        self.change_members(|members| {
            if let [only] = members {
                return only.write_at_random(writes, block, seed);
            }
            let columns = (members.len() / copies) as u64;
            for (column, members) in (0..).zip(members.chunks_mut(copies)) {
                let share = writes / columns + u64::from(column < writes % columns);
                members.iter_mut().for_each(|member| member.write_at_random(share, block, seed.number(column)));
            }
        })
    }

    /// Changes members by writes that take no time, each of which goes to one member and to those that have the same data.
    fn change_members(&mut self, change: impl FnOnce(&mut [Device])) -> Counters {
        let copies = self.layout.copies() as usize;
        let asked = |members: &[Device]| {
            let all = members.iter().step_by(copies).map(Drive::counters);
            all.reduce(|sum, member| sum + member).expect("an array has a member")
        };
        let before = asked(&self.members);
        change(&mut self.members);
        let written = Counters::default().asked_as(&(asked(&self.members) - before));
        self.counters = self.counters + written;
        self.now = self.members.iter().map(Drive::now).fold(self.now, Nanos::max);
        written
    }
}
