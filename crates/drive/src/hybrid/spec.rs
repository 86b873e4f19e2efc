//! What a drive with a hybrid translation is made of.

use block::{Bytes, Nanos, Rate};
use serde::{Deserialize, Serialize};

use super::translation::Scheme;
use crate::draw::Spread;
use crate::{LinkTimes, PowerSpec};

/// All that a drive with a hybrid translation is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HybridSpec {
    /// What the host can store.
    pub capacity: Bytes,
    /// Commands that the drive takes at once.
    pub queue_depth: u32,
    /// The cable.
    pub link: LinkTimes,
    /// What the firmware takes for each command before flash can begin.
    pub command: Nanos,
    /// How much that differs from one command to the next.
    pub jitter: Spread,
    /// What it takes beside, which delays the next command but not this one.
    pub retire: Nanos,
    /// Buses between controller and flash.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Data of a flash page.
    pub page: Bytes,
    /// Flash pages of a block of one die.
    pub pages_per_block: u32,
    /// From the array into the die's register.
    pub read: Nanos,
    /// From the register into the array.
    pub program: Nanos,
    /// One block.
    pub erase: Nanos,
    /// Between a die's register and the controller.
    pub channel: Rate,
    /// Relative standard deviation from one program or erase to the next, in millionths.
    pub operation_deviation: u32,
    /// How log blocks are used.
    pub scheme: Scheme,
    /// How many there are.
    pub log_blocks: u32,
    /// Erases that a block is rated for; none where wear is not kept account of.
    pub rated_erases: Option<u32>,
    /// What it consumes.
    pub power: PowerSpec,
}

impl HybridSpec {
    /// Dies, all of which a block is spread over.
    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Pages of a block of the map.
    pub const fn block_pages(&self) -> u32 {
        self.dies() * self.pages_per_block
    }

    /// What the drive is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { capacity, channels, dies_per_channel, page, log_blocks, read, program, erase, channel, .. } = self;
        let block = page.times(u64::from(self.block_pages()));
        let scheme = match self.scheme {
            Scheme::Bast => "BAST, each of one data block",
            Scheme::Fast => "FAST, shared",
        };
        vec![
            ("capacity", format!("{capacity} user capacity, mapped in blocks of {block}")),
            ("flash", format!("{channels} channels × {dies_per_channel} dies, pages of {page}")),
            ("log blocks", format!("{log_blocks} ({scheme})")),
            ("times", format!("read {read}, program {program}, erase {erase}, channel {channel}")),
            (
                "interface",
                format!("{} link, queue depth {}, {} per command", self.link.rate, self.queue_depth, self.command),
            ),
        ]
    }
}
