//! Any of the simulated drives.

use block::{Bytes, Completion, Lba, Nanos, Request, Seed, Tag, Zone, ZoneLimits};
use serde::{Deserialize, Serialize};

use crate::disk::DiskDrive;
use crate::dram::DramDrive;
use crate::flash::FlashDrive;
use crate::hybrid::HybridDrive;
use crate::pcm::PcmDrive;
use crate::preset::{Preset, Spec};
use crate::rig::Rig;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen};

/// Any of the simulated drives.
///
/// Its whole state can be written and read with serde, whatever it is doing; it goes on then as if nothing had been, in its
/// own time. The form is that of the fields, so that it is to be read by the version of this crate which wrote it.
#[derive(Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "there are few devices, and one is asked all the time")]
// With a tag of its own, so that it takes a step to tell which it is.
#[repr(u8)]
pub enum Device {
    Flash(FlashDrive),
    /// A host with drives.
    Rig(Rig),
    /// Platters that turn.
    Disk(DiskDrive),
    /// Memory that forgets without power.
    Dram(DramDrive),
    /// Memory that is written in place.
    Pcm(PcmDrive),
    /// Flash of which blocks are mapped.
    Hybrid(HybridDrive),
}

/// Calls a method of whichever drive it is.
macro_rules! each {
    ($device:expr, $drive:ident => $call:expr) => {
        match $device {
            Device::Flash($drive) => $call,
            Device::Rig($drive) => $call,
            Device::Disk($drive) => $call,
            Device::Dram($drive) => $call,
            Device::Pcm($drive) => $call,
            Device::Hybrid($drive) => $call,
        }
    };
}

impl Device {
    /// What it is made of.
    pub fn spec(&self) -> Spec {
        match self {
            Self::Flash(drive) => Spec::Flash(*drive.spec()),
            Self::Rig(rig) => Spec::Rig(rig.spec().clone()),
            Self::Disk(drive) => Spec::Disk(*drive.spec()),
            Self::Dram(drive) => Spec::Dram(*drive.spec()),
            Self::Pcm(drive) => Spec::Pcm(*drive.spec()),
            Self::Hybrid(drive) => Spec::Hybrid(*drive.spec()),
        }
    }

    /// About what a copy of its state takes in memory: that of the map, as all else is small.
    pub fn memory(&self) -> Bytes {
        match self {
            Self::Flash(drive) => drive.memory(),
            Self::Rig(rig) => rig.drives().iter().map(Self::memory).sum(),
            Self::Disk(_) | Self::Dram(_) | Self::Pcm(_) | Self::Hybrid(_) => Bytes::ZERO,
        }
    }

    /// From now on, clones share the largest part of the state until they change it, so that making them costs nothing.
    pub fn lend(&mut self) {
        match self {
            Self::Flash(drive) => drive.lend(),
            Self::Rig(rig) => rig.members_mut().iter_mut().for_each(Self::lend),
            Self::Disk(_) | Self::Dram(_) | Self::Pcm(_) | Self::Hybrid(_) => {}
        }
    }

    /// Gives back what is shared with another. Whether there is memory of its own left for its next clone to be made into:
    /// nothing else is of use in it any more.
    #[must_use = "a drive without a state can only be dropped"]
    pub fn give_back(&mut self) -> bool {
        match self {
            Self::Flash(drive) => drive.give_back(),
            Self::Rig(rig) => rig.members_mut().iter_mut().all(Self::give_back),
            Self::Disk(_) | Self::Dram(_) | Self::Pcm(_) | Self::Hybrid(_) => true,
        }
    }

    /// Whether it is a disk, or has such.
    pub fn is_rotational(&self) -> bool {
        match self {
            Self::Disk(_) => true,
            Self::Rig(rig) => rig.drives().iter().any(Self::is_rotational),
            Self::Flash(_) | Self::Dram(_) | Self::Pcm(_) | Self::Hybrid(_) => false,
        }
    }

    /// Whether [`fill`](Self::fill) can bring about what writes in order from `first` to `end` leave.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        match self {
            Self::Flash(drive) => drive.can_write_untimed(first, end),
            Self::Rig(rig) => rig.can_fill(first, end),
            Self::Pcm(drive) => drive.can_fill(first, end),
            Self::Disk(drive) => drive.can_fill(first, end),
            Self::Dram(_) | Self::Hybrid(_) => false,
        }
    }

    /// Brings the drive into the state in which writes of `block` each from `first` to `end`, without a pause, would leave
    /// it at rest, in no time of its own but that of a flush: see [`FlashDrive::fill_untimed`].
    ///
    /// # Panics
    /// If it [cannot](Self::can_fill), as DRAM, whose state is nothing but time, never can.
    pub fn fill(&mut self, first: Lba, end: Lba, block: Bytes, entropy: u8) {
        match self {
            Self::Flash(drive) => drive.fill_untimed(first, end, block, entropy),
            Self::Rig(rig) => rig.fill(first, end, block, entropy),
            Self::Pcm(drive) => drive.fill_untimed(first, end, block),
            Self::Disk(drive) => drive.fill_untimed(first, end, block),
            Self::Dram(_) | Self::Hybrid(_) => panic!("it cannot be filled without time"),
        }
    }

    /// Whether [`write_untimed`](Self::write_untimed) can bring about what writes between `first` and `end` leave: it is of
    /// flash or of phase-change memory, or an array of such without parity, where they are of one stripe.
    pub fn can_write_untimed(&self, first: Lba, end: Lba) -> bool {
        match self {
            // Zones are filled, but not written in any order.
            Self::Flash(drive) => drive.zone_limits().is_none() && drive.can_write_untimed(first, end),
            Self::Pcm(drive) => drive.can_fill(first, end),
            Self::Rig(rig) => rig.can_write_untimed(first, end),
            Self::Disk(_) | Self::Dram(_) | Self::Hybrid(_) => false,
        }
    }

    /// Brings it into the state that these writes would leave, as [`FlashDrive::write_untimed`] does.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_untimed).
    pub fn write_untimed(&mut self, requests: impl IntoIterator<Item = Request>) {
        match self {
            Self::Flash(drive) => drive.write_untimed(requests),
            Self::Pcm(drive) => drive.write_untimed(requests),
            Self::Rig(rig) => rig.write_untimed(requests),
            Self::Disk(_) | Self::Dram(_) | Self::Hybrid(_) => panic!("it cannot be written without time"),
        }
    }

    /// Whether [`write_at_random`](Self::write_at_random) can: it is of flash, of phase-change memory or a disk, or an array of such
    /// without parity, whose stripes are whole blocks. See [`FlashDrive::can_write_at_random`].
    pub fn can_write_at_random(&self, block: Bytes) -> bool {
        match self {
            Self::Flash(drive) => drive.can_write_at_random(block),
            Self::Pcm(drive) => drive.can_write_at_random(block),
            Self::Disk(drive) => drive.can_write_at_random(block),
            Self::Rig(rig) => rig.can_write_at_random(block),
            Self::Dram(_) | Self::Hybrid(_) => false,
        }
    }

    /// Brings it into a state that so many random writes of `block` each leave, as [`FlashDrive::write_at_random`] does.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_at_random).
    pub fn write_at_random(&mut self, writes: u64, block: Bytes, seed: Seed) {
        match self {
            Self::Flash(drive) => drive.write_at_random(writes, block, seed),
            Self::Pcm(drive) => drive.write_at_random(writes, block),
            Self::Disk(drive) => drive.write_at_random(writes, block, seed),
            Self::Rig(rig) => rig.write_at_random(writes, block, seed),
            Self::Dram(_) | Self::Hybrid(_) => panic!("it cannot be written without time"),
        }
    }
}

impl Device {
    /// Which drive of its model it is; none of memory, which is all alike.
    pub fn specimen(&self) -> Option<Specimen> {
        match self {
            Self::Flash(drive) => Some(drive.specimen()),
            Self::Rig(rig) => Some(rig.specimen()),
            Self::Disk(drive) => Some(drive.specimen()),
            Self::Pcm(drive) => Some(drive.specimen()),
            Self::Hybrid(drive) => Some(drive.specimen()),
            Self::Dram(_) => None,
        }
    }
}

impl Device {
    /// The drive of this preset without the host around it, if that is asked for by the preset and not a rig itself.
    pub fn out_of_host(self, preset: &Preset) -> Self {
        match self {
            Self::Rig(rig) if !matches!(preset.spec, Spec::Rig(_)) => rig.into_only_drive(),
            other => other,
        }
    }
}

impl Drive for Device {
    fn shape(&self) -> Shape {
        each!(self, drive => drive.shape())
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        each!(self, drive => drive.submit(now, tag, request));
    }

    fn next_event(&self) -> Option<Nanos> {
        each!(self, drive => drive.next_event())
    }

    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        each!(self, drive => drive.complete(until))
    }

    fn now(&self) -> Nanos {
        each!(self, drive => drive.now())
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        each!(self, drive => drive.counters_at(at))
    }

    fn health(&self) -> Health {
        each!(self, drive => drive.health())
    }

    fn purge(&mut self) {
        each!(self, drive => drive.purge());
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        each!(self, drive => drive.cut_power(now))
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        each!(self, drive => drive.unsaved(now))
    }

    fn bind(&mut self, workers: &[u32]) {
        each!(self, drive => drive.bind(workers));
    }

    fn draw_from(&mut self, seed: Seed) {
        each!(self, drive => drive.draw_from(seed));
    }

    fn zone_limits(&self) -> Option<ZoneLimits> {
        each!(self, drive => drive.zone_limits())
    }

    fn zones(&self) -> Vec<Zone> {
        each!(self, drive => drive.zones())
    }

    fn expect(&self, soon: &[Request]) {
        each!(self, drive => drive.expect(soon));
    }

    fn expect_next(&self, next: &[Request]) {
        each!(self, drive => drive.expect_next(next));
    }
}

impl Clone for Device {
    fn clone(&self) -> Self {
        match self {
            Self::Flash(drive) => Self::Flash(drive.clone()),
            Self::Rig(rig) => Self::Rig(rig.clone()),
            Self::Disk(drive) => Self::Disk(drive.clone()),
            Self::Dram(drive) => Self::Dram(drive.clone()),
            Self::Pcm(drive) => Self::Pcm(drive.clone()),
            Self::Hybrid(drive) => Self::Hybrid(drive.clone()),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::Flash(mine), Self::Flash(other)) => mine.clone_from(other),
            (Self::Rig(mine), Self::Rig(other)) => mine.clone_from(other),
            (mine, other) => *mine = other.clone(),
        }
    }
}
