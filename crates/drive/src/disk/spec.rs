//! What a disk is made of.

use block::{Bytes, Nanos, SECTOR};
use serde::{Deserialize, Serialize};

use super::layout::{DiskLayout, Platters, Skew};
use super::seek::SeekTimes;
use super::shingled::ShingledSpec;
use super::spindle::SpindleSpec;
use super::variation::{BackgroundSpec, VariationSpec};
use crate::ZonesSpec;
use crate::draw::Spread;
use crate::link::LinkTimes;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpec {
    pub platters: Platters,
    /// Arms that move on their own, each with its share of the heads and of the sectors, in order.
    pub actuators: u32,
    /// What the platters keep and check as one, in sectors.
    pub physical: u32,
    /// How long seeks take before reading.
    pub read_seek: SeekTimes,
    /// How long they take before writing, which asks for a calmer head.
    pub write_seek: SeekTimes,
    /// To go on with another head of the same cylinder.
    pub head_switch: Nanos,
    /// The cable.
    pub link: LinkTimes,
    /// Commands that the disk takes at once.
    pub queue_depth: u32,
    /// Commands for an arm whose completion is reported together, once so many are done or no other waits for an arm; none: each
    /// by itself.
    pub report: u32,
    /// What the controller's firmware takes for each command before anything else, one at a time.
    pub command: Nanos,
    /// How much that differs from one command to the next.
    pub jitter: Spread,
    /// Whether the disk queues commands. If not, the queue is the host's, which gives it the next once the one before is done: no
    /// command's firmware time is in parallel with an arm then.
    pub queuing: bool,
    /// A command that has waited so long is served before any that lies nearer.
    pub age_limit: Nanos,
    pub order: OrderSpec,
    pub cache: CacheSpec,
    /// What turns, and what it consumes.
    pub spindle: SpindleSpec,
    pub variation: VariationSpec,
    pub background: BackgroundSpec,
    /// If tracks overlap.
    pub shingled: Option<ShingledSpec>,
    /// If the host is to write them in order.
    pub zones: Option<ZonesSpec>,
}

/// How the firmware orders what needs an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderSpec {
    /// Which command comes next.
    pub by: CommandOrder,
    /// How many commands are chosen ahead, after which no other can come before them.
    pub ahead: u32,
    /// The firmware counts on missing a sector that comes round sooner than this after the arm has arrived.
    pub margin: Nanos,
}

/// Which command comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandOrder {
    /// The one soonest under a head: move and rotation.
    #[default]
    Position,
    /// The one on the nearest cylinder.
    Seek,
    /// The next one further in, and from the innermost back to the outermost.
    Elevator,
}

/// The memory of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSpec {
    /// Segments for what was read and what is read ahead.
    pub segments: u32,
    /// How much each holds.
    pub segment: Bytes,
    /// How much written data may wait; if none, every write waits for the platters.
    pub write: Bytes,
    /// In how many separate stretches.
    pub write_extents: u32,
    /// After how long without a command the disk begins to write what waits.
    pub destage_after: Nanos,
    /// How many stretches next in order of position are looked at for the one soonest reached; with one they are written in
    /// that order. Those passed over are met again on the next sweep.
    pub destage_choices: u32,
    /// How many stretches of a full cache are written before it takes in more; with none, it does as they leave.
    pub destage_batch: u32,
    /// How much is read ahead of a sequential stream before the arm serves anything else; if none, any command
    /// ends reading ahead.
    pub prefetch: Bytes,
}

impl DiskSpec {
    /// What lies under each arm, the media cache of shingled tracks included.
    pub(super) fn under_an_arm(&self) -> Platters {
        let media = self.shingled.map_or(0, |shingled| shingled.media_cache.sectors());
        let share = self.platters.share(self.actuators);
        Platters { sectors: share.sectors + media, ..share }
    }

    /// The share of the platters under each arm, which begins at `first`, on a spindle of this phase.
    pub(super) fn layout(&self, first: u64, phase: Nanos) -> DiskLayout {
        // Tracks begin just late enough for whichever takes longer to get there, a read or a write.
        let cylinder = self.read_seek.track.max(self.write_seek.track);
        let skew = Skew { track: self.head_switch, cylinder };
        DiskLayout::new(self.under_an_arm(), skew, first, phase)
    }

    /// What the host can store.
    pub fn capacity(&self) -> Bytes {
        Bytes::from_sectors(self.platters.sectors)
    }

    /// Whether each sector has its place for good: there are neither zones nor shingled tracks.
    pub const fn writes_in_place(&self) -> bool {
        self.zones.is_none() && self.shingled.is_none()
    }

    /// How often the platters turn in a minute, to the nearest whole number.
    pub fn turns(&self) -> u32 {
        let revolution = self.platters.revolution.as_nanos();
        ((60_000_000_000 + revolution / 2) / revolution) as u32
    }

    /// What the disk is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Platters { heads, zones, outer, inner, .. } = self.platters;
        let ([fast, slow], turns) = (self.layout(0, Nanos::ZERO).sustained(), self.turns());
        let SeekTimes { track, average, full } = self.read_seek;
        let CacheSpec { segments, segment, write, .. } = self.cache;
        let (link, queue, command) = (self.link.rate, self.queue_depth, self.command);
        vec![
            ("capacity", self.capacity().to_string()),
            ("platters", format!("{turns} rpm, {heads} heads, {zones} zones, {outer} to {inner} sectors a track")),
            ("stream", format!("{fast} on the outermost tracks, {slow} on the innermost")),
            ("seek", format!("{track} to the next track, {average} on average, {full} at most")),
            ("cache", format!("{segments} segments of {segment} for reads, {write} for writes")),
            ("interface", format!("{link} link, queue depth {queue}, {command} per command")),
        ]
        .into_iter()
        .chain((self.actuators > 1).then(|| ("arms", format!("{} that move on their own", self.actuators))))
        .chain(self.zones.map(|zones| ("zones", zones.fact())))
        .chain((self.physical > 1).then(|| ("sectors", format!("{} physical", SECTOR.times(self.physical.into())))))
        .collect()
    }
}
