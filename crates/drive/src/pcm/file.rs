//! A drive of phase-change memory as its file describes it.

use block::{Bytes, SECTOR};
use serde::Deserialize;

use super::PcmSpec;
use super::media::MediaSpec;
use crate::PowerSpec;
use crate::draw::Spread;
use crate::flash::{TaskTable, deviation};
use crate::preset::fields::Table;
use crate::preset::link::LinkTable;
use crate::preset::power::PowerTable;
use crate::preset::units::{self, percent};
use crate::preset::{HostTable, ListPrice, PresetError, Rated, require, table};
use crate::smart::IdentityTable;

/// Such a drive's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcmFile {
    pub name: String,
    pub title: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default)]
    pub rated: Rated,
    #[serde(rename = "price")]
    _price: Option<ListPrice>,
    media: MediaTable,
    levelling: LevellingTable,
    controller: Controller,
    link: LinkTable,
    power: Option<PowerTable>,
    log: Option<TaskTable>,
    #[serde(rename = "rig")]
    _rig: Option<HostTable>,
    #[serde(rename = "smart")]
    _smart: Option<IdentityTable>,
}

table!(MediaTable {
    capacity: units::Bytes,
    channels: u32,
    dies_per_channel: u32,
    access: units::Bytes,
    read: units::Duration,
    write: units::Duration,
    channel: units::Rate,
    writes_at_once: units::Bytes,
    #[serde(default)]
    rewrites: units::Share,
    #[serde(default)]
    rewrite: units::Duration,
    #[serde(default)]
    rewrite_deviation: units::Share,
    #[serde(default)]
    dies: units::Share,
    #[serde(default)]
    reads: units::Share,
    #[serde(default)]
    writes: units::Share,
});

table!(LevellingTable {
    line: units::Bytes,
    move_every: u32,
    rated_writes: Option<u32>,
});

table!(Controller {
    queue_depth: u32,
    cores: Option<u32>,
    command: units::Duration,
    #[serde(default)]
    jitter: units::Share,
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
    /// The tables of the file with their fields.
    pub const TABLES: &[Table] = &[
        ("media", MediaTable::FIELDS),
        ("levelling", LevellingTable::FIELDS),
        ("controller", Controller::FIELDS),
        ("link", LinkTable::FIELDS),
        ("power", PowerTable::FIELDS),
        ("smart", IdentityTable::FIELDS),
        ("log", TaskTable::FIELDS),
        ("rig", HostTable::FIELDS),
    ];

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
            log: self.log.as_ref().map(TaskTable::spec).transpose()?,
            media,
            line,
            move_every,
            rated_writes,
            power: self.power.as_ref().map_or(Ok(PowerSpec::default()), PowerTable::spec)?,
        })
    }
}
