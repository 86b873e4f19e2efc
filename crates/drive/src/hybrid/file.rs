//! A drive with a hybrid translation as its file describes it.

use serde::Deserialize;

use super::HybridSpec;
use super::translation::Scheme;
use crate::PowerSpec;
use crate::draw::Spread;
use crate::flash::deviation;
use crate::preset::fields::Table;
use crate::preset::link::LinkTable;
use crate::preset::power::PowerTable;
use crate::preset::units;
use crate::preset::{HostTable, ListPrice, PresetError, Rated, plain, require, table};
use crate::smart::IdentityTable;

/// Such a drive's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridFile {
    pub name: String,
    pub title: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default)]
    pub rated: Rated,
    #[serde(rename = "price")]
    _price: Option<ListPrice>,
    flash: FlashTable,
    translation: TranslationTable,
    controller: Controller,
    link: LinkTable,
    power: Option<PowerTable>,
    #[serde(rename = "rig")]
    _rig: Option<HostTable>,
    #[serde(rename = "smart")]
    _smart: Option<IdentityTable>,
}

plain!(Scheme);

table!(FlashTable {
    capacity: units::Bytes,
    channels: u32,
    dies_per_channel: u32,
    page: units::Bytes,
    pages_per_block: u32,
    read: units::Duration,
    program: units::Duration,
    erase: units::Duration,
    channel: units::Rate,
    #[serde(default)]
    operations: units::Share,
});

table!(TranslationTable {
    scheme: Scheme,
    log_blocks: u32,
    rated_erases: Option<u32>,
});

table!(Controller {
    queue_depth: u32,
    command: units::Duration,
    #[serde(default)]
    jitter: units::Share,
    retire: units::Duration,
});

impl HybridFile {
    /// The tables of the file with their fields.
    pub const TABLES: &[Table] = &[
        ("flash", FlashTable::FIELDS),
        ("translation", TranslationTable::FIELDS),
        ("controller", Controller::FIELDS),
        ("link", LinkTable::FIELDS),
        ("power", PowerTable::FIELDS),
        ("smart", IdentityTable::FIELDS),
        ("rig", HostTable::FIELDS),
    ];

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
