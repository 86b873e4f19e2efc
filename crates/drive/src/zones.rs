//! The zones of a drive: states, write pointers, limits. They know no time and no media.
//!
//! Source: NVM Express Zoned Namespace Command Set Specification 1.1, §2.1.1 (states, transitions, resources) and figures 16 and
//! 17 (status values); T10 ZBC-2, §4.4.3, for host-managed disks. Where the two differ, the disk's rule is that of
//! [`ZoneRules::Zbc`]. Where a drive is free to choose: an implicitly open zone is closed when the open resources run out,
//! the one that was opened longest ago; no zone is finished to make room for another; a read may not pass the end of a
//! zone, and what was never written can be read.

use std::collections::VecDeque;

use block::{Bytes, Lba, Op, Request, Status, Zone, ZoneAction, ZoneLimits, ZoneState};
use serde::{Deserialize, Serialize};

/// Whose command set it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneRules {
    /// NVMe: has append; a zone that is closed without data stays closed.
    Zns,
    /// SCSI and ATA: has no append; a zone that is closed without data is empty.
    Zbc,
}

/// How a drive is divided into zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZonesSpec {
    pub rules: ZoneRules,
    /// How many.
    pub count: u32,
    /// From the start of one to the start of the next.
    pub size: Bytes,
    /// How much of that can be written.
    pub capacity: Bytes,
    /// How many of the first have no write pointer.
    pub conventional: u32,
    /// How many can be open, and how many open or closed; none without a limit.
    pub max_open: Option<u32>,
    pub max_active: Option<u32>,
}

impl ZonesSpec {
    /// What the host can address.
    pub fn space(&self) -> Bytes {
        self.size.times(u64::from(self.count))
    }

    /// What it can write before it must reset.
    pub fn writable(&self) -> Bytes {
        self.capacity.times(u64::from(self.count))
    }

    /// The zones in words.
    pub fn fact(&self) -> String {
        let limit = |most: Option<u32>| most.map_or("any number".to_owned(), |most| format!("at most {most}"));
        let conventional = match self.conventional {
            0 => String::new(),
            count => format!(", the first {count} conventional"),
        };
        format!(
            "{} of {} with {} each{conventional}; {} open, {} active",
            self.count,
            self.size,
            self.capacity,
            limit(self.max_open),
            limit(self.max_active)
        )
    }
}

/// What a drive must do for a command that its zones allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneDeed {
    /// This, which is a read or a write where it goes.
    Transfer(Request),
    /// Nothing but to note it.
    Noted,
    /// Leave what is not written of a zone, of which so many sectors are.
    Finished(u32, u64),
    /// Forget what was written of a zone, so many sectors.
    Emptied(u32, u64),
}

/// The zones of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zones {
    spec: ZonesSpec,
    states: Vec<ZoneState>,
    /// Sectors written of each, from its start.
    written: Vec<u64>,
    /// Those that a write has opened, the first opened first.
    implicit: VecDeque<u32>,
    open: u32,
    active: u32,
    resets: u64,
}

impl Zones {
    /// All zones empty.
    pub fn new(spec: ZonesSpec) -> Self {
        let count = spec.count as usize;
        let mut states = vec![ZoneState::Empty; count];
        states[..spec.conventional as usize].fill(ZoneState::Conventional);
        Self { spec, states, written: vec![0; count], implicit: VecDeque::new(), open: 0, active: 0, resets: 0 }
    }

    pub const fn spec(&self) -> &ZonesSpec {
        &self.spec
    }

    /// Zones that were reset while something was written in them.
    pub const fn resets(&self) -> u64 {
        self.resets
    }

    /// The zone that a sector lies in.
    #[inline]
    pub fn zone_of(&self, sector: Lba) -> u32 {
        (sector.get() / self.spec.size.sectors()) as u32
    }

    /// Sectors written of a zone.
    #[inline]
    pub fn written(&self, zone: u32) -> u64 {
        self.written[zone as usize]
    }

    /// Whether the zone that a sector lies in has a write pointer.
    pub fn has_pointer(&self, sector: Lba) -> bool {
        self.states[self.zone_of(sector) as usize] != ZoneState::Conventional
    }

    /// Each zone, as the host asks for it.
    pub fn report(&self) -> Vec<Zone> {
        let (size, capacity) = (self.spec.size.sectors(), self.spec.capacity.sectors());
        let zone = |index: u32| {
            let (start, state) = (u64::from(index) * size, self.states[index as usize]);
            let pointer = if state == ZoneState::Full { capacity } else { self.written[index as usize] };
            Zone {
                start: Lba::new(start),
                writable: Lba::new(start + capacity),
                end: Lba::new(start + size),
                state,
                pointer: Lba::new(start + pointer),
            }
        };
        (0..self.spec.count).map(zone).collect()
    }

    /// What the host may have in use at once.
    pub fn limits(&self) -> ZoneLimits {
        ZoneLimits { open: self.spec.max_open, active: self.spec.max_active, append: self.spec.rules == ZoneRules::Zns }
    }

    /// Carries a command out, as far as zones are concerned; what the drive must do for it.
    ///
    /// # Errors
    /// With how the command ends if the zone does not allow it; then nothing has changed.
    pub fn command(&mut self, request: Request) -> Result<ZoneDeed, Status> {
        match request.op {
            Op::Read => self.read(request),
            Op::Write => self.write(request, request.lba),
            Op::Append if self.spec.rules == ZoneRules::Zbc => Err(Status::InvalidOpcode),
            Op::Append => self.append(request),
            // Such a command names a zone by its first sector.
            Op::Zone(_) if !request.lba.get().is_multiple_of(self.spec.size.sectors()) => Err(Status::InvalidField),
            Op::Zone(action) => self.manage(self.zone_of(request.lba), action),
            Op::Trim | Op::Flush => Ok(ZoneDeed::Transfer(request)),
        }
    }

    /// Where the zone ends for a transfer: what lies behind cannot be addressed.
    fn check_end(&self, zone: u32, request: &Request) -> Result<(), Status> {
        let start = u64::from(zone) * self.spec.size.sectors();
        let end = start + self.spec.capacity.sectors();
        if request.end().get() > end { Err(Status::ZoneBoundary) } else { Ok(()) }
    }

    fn read(&self, request: Request) -> Result<ZoneDeed, Status> {
        let zone = self.zone_of(request.lba);
        self.check_end(zone, &request)?;
        match self.states[zone as usize] {
            ZoneState::Offline => Err(Status::ZoneIsOffline),
            _ => Ok(ZoneDeed::Transfer(request)),
        }
    }

    fn append(&mut self, request: Request) -> Result<ZoneDeed, Status> {
        let zone = self.zone_of(request.lba);
        let start = u64::from(zone) * self.spec.size.sectors();
        if self.states[zone as usize] == ZoneState::Conventional || request.lba.get() != start {
            return Err(Status::InvalidField);
        }
        let place = Lba::new(start + self.written[zone as usize]);
        let there = Request { op: Op::Write, lba: place, ..request };
        if self.states[zone as usize] == ZoneState::Full {
            return Err(Status::ZoneIsFull);
        }
        self.write(there, place)
    }

    fn write(&mut self, request: Request, at: Lba) -> Result<ZoneDeed, Status> {
        let zone = self.zone_of(at);
        self.check_end(zone, &request)?;
        let start = u64::from(zone) * self.spec.size.sectors();
        match self.states[zone as usize] {
            ZoneState::Conventional => return Ok(ZoneDeed::Transfer(request)),
            ZoneState::Full => return Err(Status::ZoneIsFull),
            ZoneState::ReadOnly => return Err(Status::ZoneIsReadOnly),
            ZoneState::Offline => return Err(Status::ZoneIsOffline),
            _ if at.get() != start + self.written[zone as usize] => return Err(Status::ZoneInvalidWrite),
            ZoneState::Empty | ZoneState::Closed => self.open(zone, ZoneState::ImplicitlyOpen)?,
            ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen => {}
        }
        self.written[zone as usize] += u64::from(request.sectors);
        if self.written[zone as usize] == self.spec.capacity.sectors() {
            self.enter(zone, ZoneState::Full);
        }
        Ok(ZoneDeed::Transfer(request))
    }

    fn manage(&mut self, zone: u32, action: ZoneAction) -> Result<ZoneDeed, Status> {
        use ZoneState::{Closed, Conventional, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
        let (state, written) = (self.states[zone as usize], self.written[zone as usize]);
        match (action, state) {
            (_, Conventional) => return Err(Status::InvalidField),
            (_, ReadOnly | Offline) => return Err(Status::InvalidZoneTransition),
            (ZoneAction::Open, Empty | Closed | ImplicitlyOpen) => self.open(zone, ExplicitlyOpen)?,
            (ZoneAction::Open, ExplicitlyOpen) | (ZoneAction::Close, Closed) => {}
            (ZoneAction::Close, ImplicitlyOpen | ExplicitlyOpen) => self.close(zone),
            (ZoneAction::Open, Full) | (ZoneAction::Close, Empty | Full) => return Err(Status::InvalidZoneTransition),
            (ZoneAction::Finish, Full) | (ZoneAction::Reset, Empty) => {}
            (ZoneAction::Finish, _) => {
                self.enter(zone, Full);
                return Ok(ZoneDeed::Finished(zone, written));
            }
            (ZoneAction::Reset, _) => {
                self.enter(zone, Empty);
                self.written[zone as usize] = 0;
                self.resets += u64::from(written > 0);
                return Ok(ZoneDeed::Emptied(zone, written));
            }
        }
        Ok(ZoneDeed::Noted)
    }

    /// Closes an open zone.
    fn close(&mut self, zone: u32) {
        let is_blank = self.written[zone as usize] == 0 && self.spec.rules == ZoneRules::Zbc;
        self.enter(zone, if is_blank { ZoneState::Empty } else { ZoneState::Closed });
    }

    /// Opens a zone that is no more than closed or implicitly open, within the limits.
    fn open(&mut self, zone: u32, how: ZoneState) -> Result<(), Status> {
        let state = self.states[zone as usize];
        if !state.is_active() && self.spec.max_active.is_some_and(|most| self.active >= most) {
            return Err(Status::TooManyActiveZones);
        }
        if !state.is_open() && self.spec.max_open.is_some_and(|most| self.open >= most) {
            let Some(&first) = self.implicit.front() else { return Err(Status::TooManyOpenZones) };
            self.close(first);
        }
        self.enter(zone, how);
        Ok(())
    }

    /// Changes a zone's state, and what is counted of it.
    fn enter(&mut self, zone: u32, state: ZoneState) {
        let old = std::mem::replace(&mut self.states[zone as usize], state);
        self.open = self.open + u32::from(state.is_open()) - u32::from(old.is_open());
        self.active = self.active + u32::from(state.is_active()) - u32::from(old.is_active());
        if old == ZoneState::ImplicitlyOpen {
            self.implicit.retain(|open| *open != zone);
        }
        if state == ZoneState::ImplicitlyOpen {
            self.implicit.push_back(zone);
        }
    }

    /// Has a zone lost for writes, or for all, as when its media fail.
    pub fn fail(&mut self, zone: u32, is_readable: bool) {
        self.enter(zone, if is_readable { ZoneState::ReadOnly } else { ZoneState::Offline });
    }

    /// What a loss of power leaves: open zones are closed, those without data empty.
    pub fn power_on(&mut self) {
        for zone in 0..self.spec.count {
            if self.states[zone as usize].is_open() {
                let is_blank = self.written[zone as usize] == 0;
                self.enter(zone, if is_blank { ZoneState::Empty } else { ZoneState::Closed });
            }
        }
    }

    /// Forgets all data.
    pub fn clear(&mut self) {
        *self = Self { resets: self.resets, ..Self::new(self.spec) };
    }

    /// Whether writes in order from `first` to `end` are allowed by the zones as they are: each from its start, or none of it.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let size = self.spec.size.sectors();
        let whole = first.get().is_multiple_of(size) && end.get().is_multiple_of(size);
        let is_usable = |zone: u32| matches!(self.states[zone as usize], ZoneState::Empty | ZoneState::Conventional);
        whole && (self.zone_of(first)..self.zone_of(end)).all(is_usable)
    }

    /// Has the zones from `first` to `end` full.
    pub fn fill(&mut self, first: Lba, end: Lba) {
        for zone in self.zone_of(first)..self.zone_of(end) {
            if self.states[zone as usize] == ZoneState::Empty {
                self.enter(zone, ZoneState::Full);
                self.written[zone as usize] = self.spec.capacity.sectors();
            }
        }
    }
}
