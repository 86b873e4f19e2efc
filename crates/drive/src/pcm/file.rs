//! A drive of phase-change memory as its file describes it.

use block::{Bytes, SECTOR};

use super::PcmSpec;
use super::media::MediaSpec;
use crate::PowerSpec;
use crate::draw::Spread;
use crate::flash::{TaskTable, deviation};
use crate::preset::link::LinkTable;
use crate::preset::power::PowerTable;
use crate::preset::units::{self, percent};
use crate::preset::{HostTable, PresetError, Rated, drive_file, require, table};
use crate::smart::IdentityTable;

drive_file!(
    /// Such a drive's file as it is written.
    PcmFile {
        /// The media, which are written in place
        media: MediaTable,
        /// Wear levelling
        levelling: LevellingTable,
        /// The firmware
        controller: Controller,
        /// The link to the host
        link: LinkTable,
        /// What the drive uses, and what it does without power
        power: Option<PowerTable>,
        /// What it says of itself; follows from name and title without it
        smart: Option<IdentityTable>,
        /// A log of the firmware, which holds commands from time to time
        log: Option<TaskTable>,
        /// The host in which it is measured; by itself without it
        rig: Option<HostTable>,
    }
    #[serde(default)]
    pub rated: Rated,
);

table!(MediaTable {
    /// What the host can store
    capacity: units::Bytes,
    /// Buses between controller and dies, 1 to 1,024; neighbouring accesses are on neighbouring channels
    channels: u32,
    /// Dies on each of them
    dies_per_channel: u32,
    /// Data that a die reads or writes at once, 512 B to 4 KiB. A write of less reads the rest first
    access: units::Bytes,
    /// From the cells into the register
    read: units::Duration,
    /// From the register into the cells
    write: units::Duration,
    /// Rate of each channel
    channel: units::Rate,
    /// Data that may be written at once: writing takes current. Sustained writes are this over `write`
    writes_at_once: units::Bytes,
    /// Share of accesses that are written again with other pulses, below 100%
    rewrites: units::Share = default,
    /// How long that takes
    rewrite: units::Duration = default,
    /// Relative standard deviation of that (log-normal)
    rewrite_deviation: units::Share = default,
    /// Relative standard deviation between dies
    dies: units::Share = default,
    /// Relative standard deviation between reads
    reads: units::Share = default,
    /// Relative standard deviation between writes
    writes: units::Share = default,
});

table!(LevellingTable {
    /// What moves at once, a power of two of accesses, up to 1 MiB
    line: units::Bytes,
    /// Start-Gap: of so many lines written, one is moved into a gap that walks through the media. Write
    /// amplification is 1 + 1/`move_every`
    move_every: u32,
    /// Writes that a line is rated for; SMART's wear is the mean over all lines; without wear if left out
    rated_writes: Option<u32>,
});

table!(Controller {
    /// Commands that the drive takes at once, 1 to 65,536
    queue_depth: u32,
    /// Processors that the firmware runs on, each with one command at a time, 1 to 256; 1 if left out
    cores: Option<u32>,
    /// Firmware time of each command before the media can begin
    command: units::Duration,
    /// Relative standard deviation of `command` from one command to the next
    jitter: units::Share = default,
    /// Firmware time beside, which delays the next command and not this one
    retire: units::Duration,
});

/// The largest access and line: what one transfer over the link carries.
pub(super) const PIECE: Bytes = Bytes::from_kib(4);

impl MediaTable {
    fn spec(&self) -> Result<MediaSpec, PresetError> {
        let Self { channels, dies_per_channel, access, read, write, channel, writes_at_once, rewrite, .. } = *self;
        require(
            [channels, dies_per_channel].iter().all(|count| (1..=1024).contains(count)),
            || format!("media has {channels} channels with {dies_per_channel} dies each"),
            "each is 1 to 1,024",
        )?;
        require(
            access.get().is_power_of_two() && (SECTOR..=PIECE).contains(&access),
            || format!("media.access is {access}"),
            "a die reads and writes 512 B, 1, 2 or 4 KiB at once",
        )?;
        let shares = writes_at_once.div(access);
        require(
            (1..=1024).contains(&shares) && self.capacity >= SECTOR && self.capacity.get().is_multiple_of(SECTOR.get()),
            || format!("media.writes_at_once is {writes_at_once}, media.capacity {}", self.capacity),
            "1 to 1,024 accesses are written at once, and the capacity is whole sectors of 512 B",
        )?;
        require(
            self.rewrites < 1_000_000,
            || format!("media.rewrites is {}", percent(self.rewrites)),
            "less than 100% of the accesses are written again",
        )?;
        Ok(MediaSpec {
            channels,
            dies_per_channel,
            access,
            read,
            write,
            channel,
            writes_at_once: shares as u32,
            rewrites: self.rewrites as u32,
            rewrite,
            rewrite_deviation: deviation("media.rewrite_deviation", self.rewrite_deviation)?,
            die_deviation: deviation("media.dies", self.dies)?,
            read_deviation: deviation("media.reads", self.reads)?,
            write_deviation: deviation("media.writes", self.writes)?,
        })
    }
}

impl PcmFile {
    /// The drive itself.
    ///
    /// # Errors
    /// If the numbers do not make a drive.
    pub fn spec(&self) -> Result<PcmSpec, PresetError> {
        let media = self.media.spec()?;
        let Controller { queue_depth, cores, command, jitter, retire, .. } = self.controller;
        let cores = cores.unwrap_or(1);
        require(
            (1..=1 << 16).contains(&queue_depth) && (1..=256).contains(&cores),
            || format!("controller has a queue of {queue_depth} and {cores} cores"),
            "the queue takes 1 to 65,536 commands, the firmware runs on 1 to 256 cores",
        )?;
        let LevellingTable { line, move_every, rated_writes, .. } = self.levelling;
        require(
            line.get().is_power_of_two() && line >= media.access && line <= Bytes::from_mib(1) && move_every > 0,
            || format!("levelling.line is {line}, levelling.move_every {move_every}"),
            "a line is 1, 2, 4 … accesses, up to 1 MiB, and one moves for every line written or for more",
        )?;
        Ok(PcmSpec {
            capacity: self.media.capacity,
            queue_depth,
            link: self.link.times()?,
            cores,
            command,
            jitter: Spread::new(u64::from(deviation("controller.jitter", jitter)?)),
            retire,
            log: self.log.as_ref().map(|log| log.spec(None)).transpose()?,
            media,
            line,
            move_every,
            rated_writes,
            power: self.power.as_ref().map_or(Ok(PowerSpec::default()), PowerTable::spec)?,
        })
    }
}
