//! A disk as its file describes it.

use block::{Bytes, Nanos, SECTOR};

use super::seek::SeekCurve;
use super::{
    BackgroundSpec, CacheSpec, CommandOrder, DiskSpec, OrderSpec, Platters, SeekTimes, ShingledSpec, SpindleSpec,
    TroubleSpec, VariationSpec,
};
use crate::ZoneRules;
use crate::draw::{Odds, Spread};
use crate::flash::deviation;
use crate::preset::link::LinkTable;
use crate::preset::units::{self, given, percent};
use crate::preset::zones::ZonesTable;
use crate::preset::{HostTable, PresetError, Rated, drive_file, require, table, words};

drive_file!(
    /// A disk's file as it is written.
    DiskFile {
        /// Platters, tracks and arms
        platters: PlattersTable,
        /// What moving the heads takes
        seek: SeekTable,
        /// The firmware
        controller: Controller,
        /// The disk's memory
        cache: CacheTable,
        /// The link to the host
        link: LinkTable,
        /// What the disk uses
        power: PowerTable,
        /// The host in which it is measured; by itself without it
        rig: Option<HostTable>,
        /// How operations differ; they do not without it
        variation: Option<VariationTable>,
        /// What the disk does unasked; nothing without it
        background: Option<BackgroundTable>,
        /// Shingled tracks that the disk manages itself, if it has them
        shingled: Option<ShingledTable>,
        /// Zones that the host manages (ZBC, ZAC), if it has them
        zones: Option<ZonesTable>,
    }
    #[serde(default)]
    pub rated: Rated,
);

words!(CommandOrder);

table!(PlattersTable {
    /// What the host can store
    capacity: units::Bytes,
    /// Revolutions a minute, 1,000 to 50,000
    rpm: u32,
    /// Surfaces that are read and written, 1 to 64
    heads: u32,
    /// Zones of tracks with as many sectors each, 1 to 256
    zones: u32,
    /// What passes under a head on the outermost tracks, before heads and cylinders are changed
    outer: units::Rate,
    /// The same on the innermost tracks
    inner: units::Rate,
    /// Arms that move on their own, each with its share of the heads; 1 if left out
    actuators: Option<u32>,
    /// What the platters keep as one sector, 512 B or 4 KiB, where a write of less reads the rest first; 512 B if
    /// left out
    physical_sector: Option<units::Bytes>,
});

table!(SeekTable {
    /// Seek to the next track, for a read
    read_track: units::Duration,
    /// Seek over a third of the tracks, for a read
    read_average: units::Duration,
    /// Seek over all tracks, for a read
    read_full: units::Duration,
    /// Seek to the next track, for a write, which asks for a calmer head
    write_track: units::Duration,
    /// Seek over a third of the tracks, for a write
    write_average: units::Duration,
    /// Seek over all tracks, for a write
    write_full: units::Duration,
    /// To go on with another head of the same cylinder
    head_switch: units::Duration,
});

table!(Controller {
    /// Commands that the disk takes at once, 1 to 1,024
    queue_depth: u32,
    /// Firmware time of each command, one at a time
    command: units::Duration,
    /// Relative standard deviation of `command` from one command to the next
    jitter: units::Share = default,
    /// A command that has waited so long is served before any that lies nearer
    age_limit: units::Duration,
    /// Which command comes next: the one soonest under a head (`position`), the one on the nearest cylinder
    /// (`seek`), or the next further in (`elevator`); `position` if left out
    order: Option<CommandOrder>,
    /// Commands that are chosen ahead, after which no other can come before them; not with `position`; 0 if left
    /// out
    chosen_ahead: Option<u32>,
    /// Completions that are reported together; each by itself if left out
    report_together: Option<u32>,
    /// Whether the disk queues commands. If not, the host gives it the next once the one before is done; true if
    /// left out
    queuing: Option<bool>,
    /// The firmware counts on missing a sector that comes round sooner than this after the arm has arrived;
    /// `variation.settle` if left out
    margin: Option<units::Duration>,
});

table!(CacheTable {
    /// Segments of the cache for what was read and read ahead
    segments: u32,
    /// Data that each holds
    segment: units::Bytes,
    /// Written data that may wait; 0: every write waits for the platters
    write: units::Bytes,
    /// Separate extents that may wait
    write_extents: u32,
    /// Time without a command after which the disk begins to write what waits
    destage_after: units::Duration,
    /// Extents next in order of position of which the one soonest reached is written; 32 if left out
    destage_choices: Option<u32>,
    /// Extents of a full cache that are written before it takes in more; 0, as if left out: it does as they leave
    destage_batch: Option<u32>,
    /// Data read ahead of a sequential stream before the arm serves anything else; 0 if left out: any command ends
    /// reading ahead
    prefetch: Option<units::Bytes>,
});

table!(PowerTable {
    /// Turning, with nothing else to do; waiting for a sector to come round is this too
    idle: units::Power,
    /// While the arm moves
    seek: units::Power,
    /// While data comes off the platters
    read: units::Power,
    /// While data goes onto the platters
    write: units::Power,
    /// Standing still
    standby: units::Power,
    /// While it is brought up to speed
    spin_up: units::Power,
    /// How long that takes
    spin_up_time: units::Duration,
    /// Time without a command after which the platters are stopped; never if left out
    standby_after: Option<units::Duration>,
});

table!(VariationTable {
    /// Standard deviation of the time that a head takes to settle after a move
    settle: Option<units::Duration>,
    /// Share of reads that need another turn
    read_retry: Option<units::Share>,
    /// Share of writes that need another turn
    write_retry: Option<units::Share>,
    /// Share of those that need one more, at most 90%
    retry_again: Option<units::Share>,
    /// Share of reads that need the whole procedure of recovery
    read_recovery: Option<units::Share>,
    /// The same of writes
    write_recovery: Option<units::Share>,
    /// Mean length of a recovery; with `read_recovery` or `write_recovery`
    recovery: Option<units::Duration>,
    /// Relative standard deviation of that, at most 200%
    recovery_deviation: Option<units::Share>,
});

table!(BackgroundTable {
    /// Time from one calibration of the servo to the next, whatever waits
    recalibrate_every: Option<units::Duration>,
    /// How long that takes
    recalibrate_time: Option<units::Duration>,
    /// Time without a command after which the disk reads its platters for errors until one comes
    scan_after: Option<units::Duration>,
    /// What it reads in one go; a command that comes meanwhile waits for the end
    scan_step: Option<units::Duration>,
});

table!(ShingledTable {
    /// What is written in order or anew, 1 MiB to 1 GiB
    band: units::Bytes,
    /// Room for what is not written in order
    media_cache: units::Bytes,
    /// The most separate extents in the media cache
    extents: u32,
    /// Time without a command after which the disk begins to move data from there into its bands
    clean_after: units::Duration,
});

impl DiskFile {
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
        let Controller { queue_depth, command, jitter, age_limit, report_together, .. } = self.controller;
        let report = report_together.unwrap_or(0);
        require(
            (1..=1024).contains(&queue_depth),
            || format!("controller.queue_depth is {queue_depth}"),
            "it is 1 to 1,024",
        )?;
        require(
            report <= queue_depth,
            || format!("controller.report_together is {report}, and controller.queue_depth {queue_depth}"),
            "at most as many commands are reported together as the disk takes at once",
        )?;
        let (actuators, physical) = self.platters.parts()?;
        let capacity = Bytes::from_sectors(platters.sectors);
        let zones = self.zones.as_ref().map(|table| table.spec(ZoneRules::Zbc, capacity)).transpose()?;
        require(
            zones.is_none_or(|zones| zones.size == zones.capacity && self.shingled.is_none()),
            || "a disk with zones and [shingled], or with zones.zone_capacity".to_owned(),
            "zones of a disk are written from end to end, by the host: leave out the one and the other",
        )?;
        let shingled = self.shingled.as_ref().map(|table| table.spec(platters, actuators)).transpose()?;
        let variation = self.variation.as_ref().map_or(Ok(VariationSpec::default()), VariationTable::spec)?;
        let mut spec = DiskSpec {
            platters,
            actuators,
            physical,
            read_seek: SeekTimes::default(),
            write_seek: SeekTimes::default(),
            head_switch: self.seek.head_switch,
            link,
            queue_depth,
            report,
            command,
            jitter: Spread::new(u64::from(deviation("controller.jitter", jitter)?)),
            queuing: self.controller.queuing.unwrap_or(true),
            age_limit,
            order: self.controller.order(variation.settle)?,
            cache: self.cache.spec()?,
            spindle: self.power.spec()?,
            variation,
            background: self.background.as_ref().map_or(Ok(BackgroundSpec::default()), BackgroundTable::spec)?,
            shingled,
            zones,
        };
        (spec.read_seek, spec.write_seek) = self.seek.times(spec.under_an_arm())?;
        Ok(spec)
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

impl PlattersTable {
    /// How many arms there are, and how many sectors the platters keep as one.
    fn parts(&self) -> Result<(u32, u32), PresetError> {
        let (actuators, heads) = (self.actuators.unwrap_or(1), self.heads);
        require(
            actuators == 1
                || actuators > 0
                    && heads.is_multiple_of(actuators)
                    && self.capacity.sectors().is_multiple_of(8 * u64::from(actuators)),
            || format!("platters.actuators is {actuators}, with {heads} heads and {} B", self.capacity.get()),
            "heads and blocks of 4 KiB are shared out evenly among the arms",
        )?;
        let physical = self.physical_sector.unwrap_or(SECTOR);
        require(
            physical == SECTOR || physical == Bytes::from_kib(4),
            || format!("platters.physical_sector is {physical}"),
            "platters keep 512 B or 4 KiB as one sector",
        )?;
        Ok((actuators, physical.sectors() as u32))
    }
}

impl Controller {
    fn order(&self, settle: Nanos) -> Result<OrderSpec, PresetError> {
        let (by, ahead) = (self.order.unwrap_or_default(), self.chosen_ahead.unwrap_or(0));
        require(
            ahead == 0 || by != CommandOrder::Position,
            || format!("controller.chosen_ahead is {ahead}, and its order `position`"),
            "a disk that chooses ahead does not know the angle at which it will be: set order to \"seek\" or \"elevator\"",
        )?;
        require(ahead <= 1024, || format!("controller.chosen_ahead is {ahead}"), "it is at most 1,024")?;
        Ok(OrderSpec { by, ahead, margin: self.margin.unwrap_or(settle) })
    }
}

impl VariationTable {
    fn spec(&self) -> Result<VariationSpec, PresetError> {
        let odds = |share: Option<u64>| Odds::per_million(share.unwrap_or(0));
        let (again, deviation) = (self.retry_again.unwrap_or(0), self.recovery_deviation.unwrap_or(0));
        require(
            again <= 900_000 && deviation <= 2_000_000,
            || format!("variation.retry_again is {}, recovery_deviation {}", percent(again), percent(deviation)),
            "they are at most 90% and 200%",
        )?;
        let is_recovering = self.read_recovery.or(self.write_recovery).is_some();
        require(
            is_recovering == self.recovery.is_some(),
            || "variation.recovery is given without how often, or how often without it".to_owned(),
            "give variation.recovery with read_recovery or write_recovery, or none of them",
        )?;
        Ok(VariationSpec {
            settle: self.settle.unwrap_or_default(),
            read: TroubleSpec { retry: odds(self.read_retry), recovery: odds(self.read_recovery) },
            write: TroubleSpec { retry: odds(self.write_retry), recovery: odds(self.write_recovery) },
            again: Odds::per_million(again),
            recovery: self.recovery.unwrap_or_default(),
            recovery_spread: Spread::new(deviation),
        })
    }
}

impl ShingledTable {
    fn spec(&self, platters: Platters, actuators: u32) -> Result<ShingledSpec, PresetError> {
        let Self { band, media_cache, extents, clean_after, .. } = *self;
        require(
            actuators == 1,
            || format!("platters.actuators is {actuators}, with shingled tracks"),
            "shingled tracks are modelled under one arm",
        )?;
        require(
            band >= Bytes::from_mib(1) && band <= Bytes::from_gib(1) && band.sectors() <= platters.sectors,
            || format!("shingled.band is {band}"),
            "a band has 1 MiB to 1 GiB, and is no larger than the disk",
        )?;
        require(
            media_cache >= band && media_cache.sectors() <= platters.sectors && extents >= 64,
            || format!("shingled.media_cache is {media_cache}, extents {extents}"),
            "the media cache has room for a band, is no larger than the disk, and keeps at least 64 stretches apart",
        )?;
        Ok(ShingledSpec { band, media_cache, extents, clean_after })
    }
}

impl BackgroundTable {
    fn spec(&self) -> Result<BackgroundSpec, PresetError> {
        let &Self { recalibrate_every, recalibrate_time, scan_after, scan_step, .. } = self;
        let is_whole = |when: Option<Nanos>, long: Option<Nanos>| match (when, long) {
            (Some(when), Some(long)) => long > Nanos::ZERO && when > long,
            (when, long) => when.is_none() && long.is_none(),
        };
        require(
            is_whole(recalibrate_every, recalibrate_time),
            || {
                format!(
                    "background.recalibrate_every is {}, recalibrate_time {}",
                    given(recalibrate_every),
                    given(recalibrate_time)
                )
            },
            "both are given or none, and the time is above zero and shorter than the period",
        )?;
        require(
            scan_after.is_some() == scan_step.is_some() && scan_step != Some(Nanos::ZERO),
            || format!("background.scan_after is {}, scan_step {}", given(scan_after), given(scan_step)),
            "both are given or none, and the step is above zero",
        )?;
        Ok(BackgroundSpec {
            recalibrate_every,
            recalibrate_time: recalibrate_time.unwrap_or_default(),
            scan_after,
            scan_step: scan_step.unwrap_or_default(),
        })
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
        let (choices, batch) = (self.destage_choices.unwrap_or(32), self.destage_batch.unwrap_or(0));
        require(
            (1..=1 << 16).contains(&choices) && batch <= write_extents,
            || format!("cache.destage_choices is {choices}, destage_batch {batch}"),
            "choices are 1 to 65,536, a batch is at most write_extents",
        )?;
        let prefetch = self.prefetch.unwrap_or(Bytes::ZERO);
        require(
            prefetch <= segment,
            || format!("cache.prefetch is {prefetch}, a segment {segment}"),
            "what is read ahead fits into a segment",
        )?;
        Ok(CacheSpec {
            segments,
            segment,
            write,
            write_extents,
            destage_after,
            destage_choices: choices,
            destage_batch: batch,
            prefetch,
        })
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
