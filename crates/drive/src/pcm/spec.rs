//! What a drive of phase-change memory is made of.

use block::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use super::media::MediaSpec;
use crate::draw::Spread;
use crate::flash::TaskSpec;
use crate::{LinkTimes, PowerSpec};

/// All that a drive of phase-change memory is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcmSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// The cable.
    pub link: LinkTimes,
    /// Processors of the controller, each with one command at a time.
    pub cores: u32,
    /// What the firmware takes for each command before the media can begin.
    pub command: Nanos,
    /// How much that differs from one command to the next.
    pub jitter: Spread,
    /// What it takes beside, which delays the next command but not this one.
    pub retire: Nanos,
    /// What the firmware does for itself.
    pub log: Option<TaskSpec>,
    /// The memory.
    pub media: MediaSpec,
    /// What wear levelling moves together.
    pub line: Bytes,
    /// Of how many lines' worth of data written one is moved.
    pub move_every: u32,
    /// Writes that a line is rated for; none where wear is not kept account of.
    pub rated_writes: Option<u32>,
    /// What it consumes.
    pub power: PowerSpec,
}

impl PcmSpec {
    /// What the drive is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let MediaSpec { channels, dies_per_channel, access, read, write, writes_at_once, .. } = self.media;
        let budget = access.times(u64::from(writes_at_once));
        vec![
            ("capacity", format!("{} user capacity, written in place", self.capacity)),
            (
                "media",
                format!("{channels} channels × {dies_per_channel} dies, {access} an access, {budget} written at once"),
            ),
            ("times", format!("read {read}, write {write} an access, channel {}", self.media.channel)),
            ("levelling", format!("a line of {} moves for every {} lines written", self.line, self.move_every)),
            (
                "interface",
                format!("{} link, queue depth {}, {} per command", self.link.rate, self.queue_depth, self.command),
            ),
        ]
    }
}
