//! Simulated drives as files: a drive is a TOML table whose every part names its source.

use block::{Bytes, Nanos, ParseError, Rate, parse_bytes, parse_duration, parse_rate, parse_share};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::LinkTimes;
use crate::flash::{FlashDrive, FlashSpec, Geometry, NandTimes};

/// The drives that come with the program, by name.
const EMBEDDED: [(&str, &str); 1] = [("x25-m", include_str!("../../../drives/flash/x25-m.toml"))];

/// A drive as its file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// The word by which it is asked for.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// What its maker promises.
    pub rated: Rated,
    /// What it is made of.
    pub spec: FlashSpec,
    /// The file, whole.
    pub text: String,
}

/// What a drive's maker promises.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rated {
    /// Where the figures are from.
    pub source: String,
    /// Sequential reads.
    #[serde(deserialize_with = "rate")]
    pub sequential_read: Rate,
    /// Sequential writes.
    #[serde(deserialize_with = "rate")]
    pub sequential_write: Rate,
    /// Latency of a read.
    #[serde(deserialize_with = "duration")]
    pub read_latency: Nanos,
    /// Random reads of 4 KiB a second.
    pub random_read_iops: u64,
    /// Random writes of 4 KiB a second.
    pub random_write_iops: u64,
}

/// Why a drive cannot be had.
#[non_exhaustive]
#[derive(Clone, Debug, Error)]
pub enum PresetError {
    /// No drive has this name.
    #[error("there is no simulated drive `{name}`; {}known: {known}", nearest.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// The file is not a drive.
    #[error("the drive's file cannot be read: {0}")]
    Text(#[from] toml::de::Error),
    /// The numbers do not make a drive.
    #[error("the drive's numbers do not fit together: {found}; {right}")]
    Numbers {
        /// What was found.
        found: String,
        /// What would be right.
        right: &'static str,
    },
}

impl Preset {
    /// All drives that come with the program.
    pub fn all() -> impl Iterator<Item = Self> {
        EMBEDDED.into_iter().map(|(_, text)| Self::parse(text).expect("a test reads every embedded drive"))
    }

    /// The drive that comes with the program under this name.
    ///
    /// # Errors
    /// If there is none; the message has the nearest name.
    pub fn find(name: &str) -> Result<Self, PresetError> {
        if let Some((_, text)) = EMBEDDED.iter().find(|(known, _)| *known == name) {
            return Self::parse(text);
        }
        let similarity = |known: &str| strsim::jaro_winkler(known, &name.to_lowercase());
        let nearest = EMBEDDED.iter().map(|(known, _)| *known).max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        Err(PresetError::Unknown {
            name: name.to_owned(),
            nearest: nearest.filter(|known| similarity(known) > 0.6),
            known: EMBEDDED.map(|(known, _)| known).join(", "),
        })
    }

    /// Reads a drive's file.
    ///
    /// # Errors
    /// If it is not TOML, lacks a field, has one that is not known, or its numbers make no drive.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        let file: File = toml::from_str(text)?;
        let spec = file.spec()?;
        Ok(Self { name: file.name, title: file.title, rated: file.rated, spec, text: text.to_owned() })
    }

    /// The drive itself, as it leaves the factory.
    pub fn build(&self) -> FlashDrive {
        FlashDrive::new(self.spec)
    }
}

/// A drive's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    #[serde(rename = "kind")]
    _kind: Kind,
    rated: Rated,
    capacity: Capacity,
    geometry: GeometryTable,
    nand: NandTable,
    controller: Controller,
    buffer: BufferTable,
    link: LinkTable,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Flash,
}

/// Declares a table of a drive's file: every one has a `source`, which is required but not used further.
macro_rules! table {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty,)* }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            #[serde(rename = "source")]
            _source: String,
            $($(#[$attribute])* $field: $kind,)*
        }
    };
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

table!(LinkTable {
    #[serde(deserialize_with = "rate")]
    rate: Rate,
    #[serde(deserialize_with = "bytes")]
    frame: Bytes,
    #[serde(deserialize_with = "duration")]
    frame_overhead: Nanos,
    #[serde(deserialize_with = "duration")]
    command: Nanos,
});

impl File {
    fn spec(&self) -> Result<FlashSpec, PresetError> {
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
        require(
            self.controller.queue_depth > 0 && self.link.frame > Bytes::ZERO,
            || "controller.queue_depth or link.frame is zero".to_owned(),
            "both are at least 1",
        )?;
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
            link: LinkTimes {
                rate: self.link.rate,
                frame: self.link.frame,
                frame_overhead: self.link.frame_overhead,
                command: self.link.command,
            },
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

fn require(holds: bool, found: impl FnOnce() -> String, right: &'static str) -> Result<(), PresetError> {
    if holds { Ok(()) } else { Err(PresetError::Numbers { found: found(), right }) }
}

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    read(deserializer, parse_bytes)
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    read(deserializer, parse_duration)
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    read(deserializer, parse_rate)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    read(deserializer, parse_share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_drive_reads_and_has_its_own_name() {
        for (name, text) in EMBEDDED {
            assert_eq!(Preset::parse(text).unwrap().name, name);
        }
    }

    #[test]
    fn the_x25_m_has_the_published_parts() {
        let spec = Preset::find("x25-m").unwrap().spec;
        assert_eq!(spec.capacity, Bytes::new(80_026_361_856));
        assert_eq!((spec.geometry.channels, spec.geometry.dies_per_channel), (10, 2));
        let raw = spec.geometry.block().times(u64::from(spec.geometry.blocks()));
        let packages = Bytes::from_gib(4).times(20);
        assert!(raw.get().abs_diff(packages.get()) < packages.get() / 2000, "{raw} in twenty packages of 4 GiB");
        assert_eq!(spec.queue_depth, 32);
    }

    #[test]
    fn a_wrong_name_is_corrected() {
        let said = Preset::find("x25m").unwrap_err().to_string();
        assert!(said.contains("did you mean `x25-m`?"), "{said}");
    }

    #[test]
    fn a_wrong_unit_an_unknown_field_and_a_lost_source_are_explained() {
        let good = EMBEDDED[0].1;
        for (from, to, words) in [
            ("erase = \"2 ms\"", "erase = \"2 parsec\"", "unknown unit `parsec`"),
            ("planes = 1", "plains = 1", "unknown field `plains`"),
            ("spare = \"7.34%\"", "spare = \"0.001%\"", "raise capacity.spare"),
            ("channels = 10", "channels = 0", "each is 1 to 1,024"),
            ("[buffer]\nsource", "[buffer]\nsauce", "unknown field `sauce`"),
        ] {
            assert!(good.contains(from), "{from}");
            let said = Preset::parse(&good.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
