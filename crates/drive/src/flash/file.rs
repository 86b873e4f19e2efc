//! A flash drive as its file describes it.

use block::{Bytes, Nanos, Rate};
use serde::Deserialize;

use super::{FlashSpec, Geometry, NandTimes};
use crate::preset::fields::Table;
use crate::preset::link::LinkTable;
use crate::preset::units::{bytes, duration, rate, share};
use crate::preset::{PresetError, Rated, require, table};

/// A drive's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashFile {
    pub name: String,
    pub title: String,
    #[serde(rename = "kind")]
    _kind: String,
    pub rated: Rated,
    capacity: Capacity,
    geometry: GeometryTable,
    nand: NandTable,
    controller: Controller,
    buffer: BufferTable,
    link: LinkTable,
}

table!(Capacity {
    #[serde(deserialize_with = "bytes")]
    user: Bytes,
    #[serde(deserialize_with = "share")]
    spare: u64,
});

table!(GeometryTable {
    channels: u32,
    dies_per_channel: u32,
    planes: u32,
    multi_plane: bool,
    #[serde(deserialize_with = "bytes")]
    page: Bytes,
    pages_per_block: u32,
});

table!(NandTable {
    #[serde(deserialize_with = "duration")]
    read: Nanos,
    #[serde(deserialize_with = "duration")]
    program: Nanos,
    #[serde(deserialize_with = "duration")]
    erase: Nanos,
    #[serde(deserialize_with = "rate")]
    channel: Rate,
    copy_back: bool,
});

table!(Controller {
    queue_depth: u32,
    #[serde(deserialize_with = "duration")]
    command: Nanos,
    #[serde(deserialize_with = "duration")]
    retire: Nanos,
    #[serde(deserialize_with = "duration")]
    page_write: Nanos,
});

table!(BufferTable {
    #[serde(deserialize_with = "bytes")]
    size: Bytes,
    #[serde(deserialize_with = "bytes")]
    partial: Bytes,
});

impl FlashFile {
    /// The tables of the file with their fields.
    pub const TABLES: &[Table] = &[
        ("capacity", Capacity::FIELDS),
        ("geometry", GeometryTable::FIELDS),
        ("nand", NandTable::FIELDS),
        ("controller", Controller::FIELDS),
        ("buffer", BufferTable::FIELDS),
        ("link", LinkTable::FIELDS),
    ];

    /// The drive itself.
    ///
    /// # Errors
    /// If the numbers do not make a drive.
    pub fn spec(&self) -> Result<FlashSpec, PresetError> {
        let table = &self.geometry;
        let sectors = table.page.sectors();
        require(
            table.page.is_multiple_of(block::SECTOR) && (1..=64).contains(&sectors),
            || format!("geometry.page is {}", table.page),
            "a page is 512 B to 32 KiB, in whole sectors",
        )?;
        require(
            (1..=16_384).contains(&table.pages_per_block),
            || format!("geometry.pages_per_block is {}", table.pages_per_block),
            "a block has 1 to 16,384 pages",
        )?;
        let units = [table.channels, table.dies_per_channel, table.planes];
        require(
            units.iter().all(|count| (1..=1024).contains(count)),
            || format!("geometry has {units:?} channels, dies and planes"),
            "each is 1 to 1,024",
        )?;
        require(self.controller.queue_depth > 0, || "controller.queue_depth is zero".to_owned(), "it is at least 1")?;
        let buffer = (self.buffer.size.div(table.page), self.buffer.partial.div(table.page));
        require(
            buffer.1 >= 1 && buffer.1 < buffer.0 && buffer.0 <= 1 << 24,
            || format!("the buffer has {} pages, {} of them partial", buffer.0, buffer.1),
            "1 ≤ partial < size ≤ 16 million pages",
        )?;
        let geometry = Geometry {
            channels: table.channels,
            dies_per_channel: table.dies_per_channel,
            planes: table.planes,
            multi_plane: table.multi_plane,
            blocks_per_plane: 0,
            pages_per_block: table.pages_per_block,
            page: table.page,
        }
        .with_spare(self.capacity.user, self.capacity.spare);
        self.check_room(&geometry)?;
        Ok(FlashSpec {
            capacity: self.capacity.user,
            queue_depth: self.controller.queue_depth,
            link: self.link.times()?,
            command: self.controller.command,
            retire: self.controller.retire,
            buffer_pages: buffer.0 as u32,
            buffer_partial_pages: buffer.1 as u32,
            geometry,
            nand: NandTimes {
                read: self.nand.read,
                program: self.nand.program + self.controller.page_write,
                erase: self.nand.erase,
                channel: self.nand.channel,
                copy_back: self.nand.copy_back,
            },
        })
    }

    /// Whether what is beyond the user's capacity suffices for the blocks that writing keeps open.
    fn check_room(&self, geometry: &Geometry) -> Result<(), PresetError> {
        let pages = geometry.blocks() as u64 * u64::from(geometry.pages_per_block.next_power_of_two().max(64));
        require(
            pages < u64::from(u32::MAX),
            || format!("{pages} flash pages"),
            "at most 4.29 billion pages can be numbered; use larger pages",
        )?;
        let user = self.capacity.user.get().div_ceil(geometry.page.get());
        let per_unit = u64::from(geometry.blocks_per_plane) * u64::from(geometry.pages_per_block);
        let working = 5 * u64::from(geometry.pages_per_block);
        require(
            per_unit >= user.div_ceil(u64::from(geometry.units())) + working,
            || format!("capacity.spare leaves {} blocks a plane", geometry.blocks_per_plane),
            "each plane needs five blocks beyond its share of the user's data; raise capacity.spare",
        )
    }
}
