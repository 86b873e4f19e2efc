//! A drive with a hybrid translation as its file describes it.

use super::HybridSpec;
use super::translation::Scheme;
use crate::PowerSpec;
use crate::draw::Spread;
use crate::flash::deviation;
use crate::preset::link::LinkTable;
use crate::preset::power::PowerTable;
use crate::preset::units;
use crate::preset::{HostTable, PresetError, Rated, drive_file, require, table, words};
use crate::smart::IdentityTable;

drive_file!(
    /// Such a drive's file as it is written.
    HybridFile {
        /// The flash
        flash: FlashTable,
        /// The map of blocks, and the blocks of the log
        translation: TranslationTable,
        /// The firmware
        controller: Controller,
        /// The link to the host
        link: LinkTable,
        /// What the drive uses, and what it does without power
        power: Option<PowerTable>,
        /// What it says of itself; follows from name and title without it
        smart: Option<IdentityTable>,
        /// The host in which it is measured; by itself without it
        rig: Option<HostTable>,
    }
    #[serde(default)]
    pub rated: Rated,
);

words!(Scheme);

table!(FlashTable {
    /// What the host can store
    capacity: units::Bytes,
    /// Buses between controller and dies, 1 to 1,024
    channels: u32,
    /// Dies on each of them; a block of the map is a block of each die
    dies_per_channel: u32,
    /// A flash page, 512 B to 64 KiB
    page: units::Bytes,
    /// Pages of a block, 1 to 1,024
    pages_per_block: u32,
    /// Array read
    read: units::Duration,
    /// Program of a page
    program: units::Duration,
    /// Erase of a block
    erase: units::Duration,
    /// Rate of each channel
    channel: units::Rate,
    /// Relative standard deviation between programs and between erases
    operations: units::Share = default,
});

table!(TranslationTable {
    /// `bast`: each log block belongs to one data block. `fast`: one takes what begins at the start of a block and
    /// goes on in order, the others all else
    scheme: Scheme,
    /// Log blocks, 1 to 4,096
    log_blocks: u32,
    /// Erases that a block is rated for; without wear if left out
    rated_erases: Option<u32>,
});

table!(Controller {
    /// Commands that the drive takes at once, 1 to 65,536
    queue_depth: u32,
    /// Firmware time of each command before flash can begin
    command: units::Duration,
    /// Relative standard deviation of `command` from one command to the next
    jitter: units::Share = default,
    /// Firmware time beside, which delays the next command and not this one
    retire: units::Duration,
});

impl HybridFile {
    /// The drive itself.
    ///
    /// # Errors
    /// If the numbers do not make a drive.
    pub fn spec(&self) -> Result<HybridSpec, PresetError> {
        let FlashTable {
            capacity,
            channels,
            dies_per_channel,
            page,
            pages_per_block,
            read,
            program,
            erase,
            channel,
            ..
        } = self.flash;
        require(
            [channels, dies_per_channel, pages_per_block].iter().all(|count| (1..=1024).contains(count)),
            || {
                format!(
                    "flash has {channels} channels, {dies_per_channel} dies on each and {pages_per_block} pages a block"
                )
            },
            "each is 1 to 1,024",
        )?;
        require(
            page.get().is_power_of_two() && (1..=128).contains(&page.sectors()),
            || format!("flash.page is {page}"),
            "a page is 512 B, 1, 2, 4 … or 64 KiB",
        )?;
        let Controller { queue_depth, command, jitter, retire, .. } = self.controller;
        let TranslationTable { scheme, log_blocks, rated_erases, .. } = self.translation;
        let spec = HybridSpec {
            capacity,
            queue_depth,
            link: self.link.times()?,
            command,
            jitter: Spread::new(u64::from(deviation("controller.jitter", jitter)?)),
            retire,
            channels,
            dies_per_channel,
            page,
            pages_per_block,
            read,
            program,
            erase,
            channel,
            operation_deviation: deviation("flash.operations", self.flash.operations)?,
            scheme,
            log_blocks,
            rated_erases,
            power: self.power.as_ref().map_or(Ok(PowerSpec::default()), PowerTable::spec)?,
        };
        require(
            (1..=1 << 16).contains(&queue_depth) && (1..=4096).contains(&log_blocks),
            || format!("controller has a queue of {queue_depth}, translation {log_blocks} log blocks"),
            "the queue takes 1 to 65,536 commands, and there are 1 to 4,096 log blocks",
        )?;
        let pages = u128::from(capacity.get().div_ceil(page.get()));
        let beside = u128::from(log_blocks + 2) * u128::from(spec.block_pages());
        require(
            pages > 0 && pages + beside < u128::from(u32::MAX),
            || format!("{} flash pages", pages + beside),
            "one to 4.29 billion pages can be numbered; use larger pages",
        )?;
        Ok(spec)
    }
}
