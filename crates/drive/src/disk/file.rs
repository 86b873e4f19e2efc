//! A disk as its file describes it.

use block::{Bytes, Nanos, Power, Rate};
use serde::Deserialize;

use super::seek::SeekCurve;
use super::{CacheSpec, DiskSpec, Platters, SeekTimes, SpindleSpec};
use crate::preset::fields::Table;
use crate::preset::link::LinkTable;
use crate::preset::units::{bytes, duration, power, rate, some_duration};
use crate::preset::{HostTable, PresetError, Rated, require, table};

/// A disk's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskFile {
    pub name: String,
    pub title: String,
    #[serde(rename = "kind")]
    _kind: String,
    pub rated: Rated,
    platters: PlattersTable,
    seek: SeekTable,
    controller: Controller,
    cache: CacheTable,
    link: LinkTable,
    power: PowerTable,
    #[serde(rename = "rig")]
    _rig: Option<HostTable>,
}

table!(PlattersTable {
    #[serde(deserialize_with = "bytes")]
    capacity: Bytes,
    rpm: u32,
    heads: u32,
    zones: u32,
    #[serde(deserialize_with = "rate")]
    outer: Rate,
    #[serde(deserialize_with = "rate")]
    inner: Rate,
});

table!(SeekTable {
    #[serde(deserialize_with = "duration")]
    read_track: Nanos,
    #[serde(deserialize_with = "duration")]
    read_average: Nanos,
    #[serde(deserialize_with = "duration")]
    read_full: Nanos,
    #[serde(deserialize_with = "duration")]
    write_track: Nanos,
    #[serde(deserialize_with = "duration")]
    write_average: Nanos,
    #[serde(deserialize_with = "duration")]
    write_full: Nanos,
    #[serde(deserialize_with = "duration")]
    head_switch: Nanos,
});

table!(Controller {
    queue_depth: u32,
    #[serde(deserialize_with = "duration")]
    command: Nanos,
    #[serde(deserialize_with = "duration")]
    age_limit: Nanos,
});

table!(CacheTable {
    segments: u32,
    #[serde(deserialize_with = "bytes")]
    segment: Bytes,
    #[serde(deserialize_with = "bytes")]
    write: Bytes,
    write_extents: u32,
    #[serde(deserialize_with = "duration")]
    destage_after: Nanos,
});

table!(PowerTable {
    #[serde(deserialize_with = "power")]
    idle: Power,
    #[serde(deserialize_with = "power")]
    seek: Power,
    #[serde(deserialize_with = "power")]
    read: Power,
    #[serde(deserialize_with = "power")]
    write: Power,
    #[serde(deserialize_with = "power")]
    standby: Power,
    #[serde(deserialize_with = "power")]
    spin_up: Power,
    #[serde(deserialize_with = "duration")]
    spin_up_time: Nanos,
    #[serde(default, deserialize_with = "some_duration")]
    standby_after: Option<Nanos>,
});

impl DiskFile {
    /// The tables of the file with their fields.
    pub const TABLES: &[Table] = &[
        ("platters", PlattersTable::FIELDS),
        ("seek", SeekTable::FIELDS),
        ("controller", Controller::FIELDS),
        ("cache", CacheTable::FIELDS),
        ("link", LinkTable::FIELDS),
        ("power", PowerTable::FIELDS),
        ("rig", HostTable::FIELDS),
    ];

    /// The disk itself.
    ///
    /// # Errors
    /// If the numbers do not make a disk.
    pub fn spec(&self) -> Result<DiskSpec, PresetError> {
        let (platters, link) = (self.platters.platters()?, self.link.times()?);
        require(
            link.rate > self.platters.outer,
            || format!("link.rate is {}, platters.outer {}", link.rate, self.platters.outer),
            "the link is faster than the platters",
        )?;
        let Controller { queue_depth, command, age_limit, .. } = self.controller;
        require(
            (1..=1024).contains(&queue_depth),
            || format!("controller.queue_depth is {queue_depth}"),
            "it is 1 to 1,024",
        )?;
        let (read_seek, write_seek) = self.seek.times(platters)?;
        Ok(DiskSpec {
            platters,
            read_seek,
            write_seek,
            head_switch: self.seek.head_switch,
            link,
            queue_depth,
            command,
            age_limit,
            cache: self.cache.spec()?,
            spindle: self.power.spec()?,
        })
    }
}

impl PlattersTable {
    fn platters(&self) -> Result<Platters, PresetError> {
        let Self { capacity, rpm, heads, zones, outer, inner, .. } = *self;
        require((1_000..=50_000).contains(&rpm), || format!("platters.rpm is {rpm}"), "it is 1,000 to 50,000")?;
        require(
            (1..=64).contains(&heads) && (1..=256).contains(&zones),
            || format!("platters has {heads} heads and {zones} zones"),
            "there are 1 to 64 heads and 1 to 256 zones",
        )?;
        let revolution = Nanos::from_nanos((60_000_000_000 + u64::from(rpm) / 2) / u64::from(rpm));
        let sectors = [outer, inner].map(|rate| Platters::track_sectors(rate, revolution));
        require(
            sectors[0] >= sectors[1] && sectors[1] >= 8 && sectors[0] <= 1 << 20,
            || format!("platters.outer and inner make {} and {} sectors a track", sectors[0], sectors[1]),
            "outer tracks have at least as many sectors as inner ones, and those at least 8",
        )?;
        let [outer, inner] = sectors.map(|sectors| sectors as u32);
        let platters = Platters { sectors: capacity.sectors(), heads, zones, revolution, outer, inner };
        require(
            capacity > Bytes::ZERO && (16..1 << 24).contains(&platters.cylinders()),
            || format!("platters.capacity of {capacity} takes {} tracks a surface", platters.cylinders()),
            "a surface has 16 to 16 million tracks; more heads or denser tracks make fewer",
        )?;
        Ok(platters)
    }
}

impl SeekTable {
    /// The times before reading and before writing.
    fn times(&self, platters: Platters) -> Result<(SeekTimes, SeekTimes), PresetError> {
        let read = SeekTimes { track: self.read_track, average: self.read_average, full: self.read_full };
        let write = SeekTimes { track: self.write_track, average: self.write_average, full: self.write_full };
        for (op, times) in [("read", read), ("write", write)] {
            let SeekTimes { track, average, full } = times;
            require(
                SeekCurve::fit(times, platters.cylinders() as u32).is_some(),
                || format!("seek.{op}_track is {track}, {op}_average {average}, {op}_full {full}"),
                "no seek curve from track to full has this average; it must be near the middle of the two",
            )?;
        }
        require(
            self.head_switch < platters.revolution,
            || format!("seek.head_switch is {}", self.head_switch),
            "it takes less than a revolution",
        )?;
        Ok((read, write))
    }
}

impl CacheTable {
    fn spec(&self) -> Result<CacheSpec, PresetError> {
        let Self { segments, segment, write, write_extents, destage_after, .. } = *self;
        require(
            (1..=4096).contains(&segments) && segment >= Bytes::from_kib(4),
            || format!("cache has {segments} segments of {segment}"),
            "there are 1 to 4,096 segments of at least 4 KiB",
        )?;
        require(
            (1..=1 << 16).contains(&write_extents),
            || format!("cache.write_extents is {write_extents}"),
            "it is 1 to 65,536; without a write cache, set cache.write to 0 B",
        )?;
        Ok(CacheSpec { segments, segment, write, write_extents, destage_after })
    }
}

impl PowerTable {
    fn spec(&self) -> Result<SpindleSpec, PresetError> {
        let Self { idle, seek, read, write, standby, spin_up, spin_up_time, standby_after, .. } = *self;
        require(
            standby_after.is_none_or(|after| after >= Nanos::from_secs(1)),
            || format!("power.standby_after is {}", standby_after.unwrap_or_default()),
            "a disk stops after a second without a command at the earliest",
        )?;
        Ok(SpindleSpec { idle, seek, read, write, standby, spin_up, spin_up_time, standby_after })
    }
}
