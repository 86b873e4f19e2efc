//! Simulated drives as files: a drive is a TOML table whose every part names its source.

mod base;
pub(crate) mod bounds;
pub(crate) mod change;
mod embedded;
mod error;
pub(crate) mod fields;
mod file;
mod host;
pub(crate) mod link;
mod mistakes;
mod name;
pub(crate) mod power;
mod price;
mod rated;
pub mod reference;
pub mod sheet;
mod title;
pub(crate) mod units;
pub(crate) mod zones;

use block::Bytes;
pub use error::PresetError;
pub(crate) use error::{require, unknown};
pub(crate) use fields::{plain, table, words};
pub(crate) use file::drive_file;
pub(crate) use host::HostTable;
use name::is_name;
pub use name::{DriveName, changed_name};
pub use price::ListPrice;
pub use rated::{Promise, Rated};
use reference::DriveKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use title::{is_file_of_changed, of_unchanged, original as original_title};

use self::embedded::EMBEDDED;
pub(crate) use self::embedded::RIGS;
use crate::disk::{DiskDrive, DiskFile, DiskSpec};
use crate::dram::{DramDrive, DramFile, DramSpec};
use crate::flash::{FlashDrive, FlashFile, FlashSpec};
use crate::hybrid::{HybridDrive, HybridFile, HybridSpec};
use crate::pcm::{PcmDrive, PcmFile, PcmSpec};
use crate::rig::{self, Rig, RigFile, RigSpec};
use crate::smart::{AttributeSet, Identity, IdentityTable};
use crate::{Device, Specimen, ZonesSpec};

/// A drive as its file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// The word by which it is asked for, with its number where that is not one, and any changes to it.
    pub name: String,
    /// The name that its file has.
    pub model: String,
    /// Which drive of its model it is, counted from one.
    pub specimen: u32,
    /// What it is, in a line.
    pub title: String,
    /// What its maker promises.
    pub rated: Rated,
    /// What it is made of.
    pub spec: Spec,
    /// The file, whole.
    pub text: String,
}

/// What a drive is made of.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there are as many as a command line names")]
pub enum Spec {
    Flash(FlashSpec),
    /// A host with drives.
    Rig(RigSpec),
    /// Platters that turn.
    Disk(DiskSpec),
    /// Memory that forgets without power.
    Dram(DramSpec),
    /// Memory that is written in place.
    Pcm(PcmSpec),
    /// Flash of which blocks are mapped.
    Hybrid(HybridSpec),
}

/// The part of every drive's file that says how to read the rest.
#[derive(Deserialize)]
struct Head {
    kind: PresetKind,
}

#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PresetKind {
    Flash,
    Rig,
    Disk,
    Dram,
    Pcm,
    Hybrid,
}

impl Preset {
    /// All drives that come with the program, then all rigs.
    pub fn all() -> impl Iterator<Item = Self> {
        embedded().map(|(_, text)| Self::parse(text).expect("a test reads every embedded drive"))
    }

    /// The drive that comes with the program under this name, with the number of a specimen after a `#` and changes after
    /// a `?`: `x25-m#2?capacity.spare=12%&buffer.size=1MiB`.
    ///
    /// # Errors
    /// If there is none; the message has the nearest name. If a change names nothing in the drive or makes no drive.
    pub fn find(name: &str) -> Result<Self, PresetError> {
        let DriveName { base, specimen, changes } = DriveName::read(name)?;
        match embedded().find(|(known, _)| *known == base) {
            Some((_, text)) => Self::parse(text)?.numbered(specimen)?.changed(changes),
            None => Err(unknown(base, embedded().map(|(known, _)| *known))),
        }
    }

    /// The drive of a file with all changes made, which is asked for by `name`.
    ///
    /// # Errors
    /// If the file is no drive's, or the name has a number that is none.
    pub fn named(name: &str, text: &str) -> Result<Self, PresetError> {
        let specimen = DriveName::read(name)?.specimen;
        Ok(Self { name: name.to_owned(), ..Self::parse(text)?.numbered(specimen)? })
    }

    /// Reads a drive's file: the first specimen of its model.
    ///
    /// # Errors
    /// If it is not TOML, lacks a field, has one that is not known, its base is none, or its numbers make no drive.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        Self::read(text).map_err(|error| mistakes::all(text).unwrap_or(error))
    }

    fn read(text: &str) -> Result<Self, PresetError> {
        let preset = match base::resolved(text)? {
            Some(whole) => Self::parse_whole(&whole).map_err(base::refused),
            None => Self::parse_whole(text),
        }?;
        preset.host()?;
        Ok(preset)
    }

    /// Reads a file that is based on no other.
    fn parse_whole(text: &str) -> Result<Self, PresetError> {
        let head: Head = toml::from_str(text)?;
        bounds::check(text)?;
        Self::parse_kind(head.kind, text)
    }

    fn parse_kind(kind: PresetKind, text: &str) -> Result<Self, PresetError> {
        let (name, title, rated, spec) = match kind {
            PresetKind::Flash => {
                let file: FlashFile = toml::from_str(text)?;
                let spec = Spec::Flash(file.spec()?);
                (file.name, file.title, file.rated, spec)
            }
            PresetKind::Rig => {
                let file: RigFile = toml::from_str(text)?;
                let spec = Spec::Rig(file.spec()?);
                (file.name, file.title, Rated::default(), spec)
            }
            PresetKind::Disk => {
                let file: DiskFile = toml::from_str(text)?;
                let spec = Spec::Disk(file.spec()?);
                (file.name, file.title, file.rated, spec)
            }
            PresetKind::Dram => {
                let file: DramFile = toml::from_str(text)?;
                let spec = Spec::Dram(file.spec()?);
                (file.name, file.title, file.rated, spec)
            }
            PresetKind::Pcm => {
                let file: PcmFile = toml::from_str(text)?;
                let spec = Spec::Pcm(file.spec()?);
                (file.name, file.title, file.rated, spec)
            }
            PresetKind::Hybrid => {
                let file: HybridFile = toml::from_str(text)?;
                let spec = Spec::Hybrid(file.spec()?);
                (file.name, file.title, file.rated, spec)
            }
        };
        require(
            is_name(&name),
            || format!("the name is {:?}", name.chars().take(70).collect::<String>()),
            "a drive's name is up to 64 lower-case letters, digits, hyphens and dots, such as my-drive",
        )?;
        Ok(Self { model: name.clone(), name, specimen: 1, title, rated, spec, text: text.to_owned() })
    }

    /// The drive of this number among those of its model, counted from one; of a rig, one with other drives.
    ///
    /// # Errors
    /// If so many of its blocks are bad from the factory that the rest cannot hold its data.
    pub fn numbered(mut self, specimen: u32) -> Result<Self, PresetError> {
        let DriveName { base, changes, .. } = DriveName::read(&self.name)?;
        let number = if specimen > 1 { format!("#{specimen}") } else { String::new() };
        let joint = if changes.is_empty() { "" } else { "?" };
        self.name = format!("{base}{number}{joint}{changes}");
        self.specimen = specimen;
        self.check_specimen()?;
        Ok(self)
    }

    fn check_specimen(&self) -> Result<(), PresetError> {
        let (spec, mut numbers) = match &self.spec {
            Spec::Rig(rig) => (&rig.member.spec, rig.members(self.specimen)),
            spec => (spec, self.specimen..self.specimen + 1),
        };
        let Spec::Flash(flash) = spec else { return Ok(()) };
        let full = numbers.find(|&number| number > 1 && !flash.has_room(number));
        require(
            full.is_none(),
            || format!("specimen {} of the drive has too many bad blocks from the factory", full.unwrap_or_default()),
            "the good ones must hold the user data, and gc.start and three more in each plane; take another specimen or \
             raise capacity.spare",
        )
    }

    /// This drive with `changes` made to its file: `capacity.spare=12%&nand.read=25us`. The table's name may
    /// be left out where only one table has such a field. `drive.nand.read=25us` changes the drives of a rig, and
    /// a single drive all the same; `rig.host.cpus=8` is the long form of `host.cpus=8` in a rig, and of a single drive
    /// changes the host in which it is measured.
    ///
    /// # Errors
    /// If one names nothing in the drive or makes no drive.
    pub fn changed(self, changes: &str) -> Result<Self, PresetError> {
        let changed = self.altered(changes)?;
        changed.host().map_err(|error| change::refused(changes, &error))?;
        Ok(changed)
    }

    /// The same of a drive whose host is not asked for.
    pub(crate) fn altered(self, changes: &str) -> Result<Self, PresetError> {
        if changes.is_empty() {
            return Ok(self);
        }
        let text = match self.spec {
            Spec::Rig(_) => rig::change(&self.text, changes)?,
            _ => {
                let (own, of_host) = host::of_single(changes);
                let changed = match own.is_empty() {
                    true => self.text.clone(),
                    false => change::apply(&self.text, &own, self.spec.tables())?,
                };
                host::apply(&changed, &of_host, RigFile::TABLES)?
            }
        };
        let text = title::retitled(&text, &self.text, &self.title, &self.told(changes));
        let capacity = self.capacity();
        let changed = Self::parse_whole(&text).and_then(|changed| match changed.capacity() == capacity {
            true => Ok(changed),
            // A drive of another size has another price.
            false => Self::parse_whole(&price::without(&text)),
        });
        let changed = changed.and_then(|changed| changed.numbered(self.specimen));
        let mut changed = changed.map_err(|error| change::refused(changes, &error))?;
        changed.name = changed_name(&self.name, changes);
        Ok(changed)
    }

    /// Each of `changes` as the field that it names, with its table, and the value.
    fn told<'a>(&self, changes: &'a str) -> Vec<(String, &'a str)> {
        let (own, host) = (self.spec.tables(), RigFile::TABLES);
        let told = |change: &'a str| match (change.trim_start().split_once('.'), &self.spec) {
            (Some(("drive", rest)), Spec::Rig(rig)) => change::told(rest, rig.member.spec.tables(), "drive."),
            (Some(("rig", rest)), Spec::Rig(_)) | (Some(("drive", rest)), _) => change::told(rest, own, ""),
            (Some(("rig", rest)), _) if !host::is_of_table(rest) => change::told(rest, host, "rig."),
            _ => change::told(change, own, ""),
        };
        changes.split('&').map(told).collect()
    }

    /// Whether fields of it were changed by name, so that ratings and price are those of the drive before that.
    pub fn is_changed(&self) -> bool {
        title::is_changed(&self.title)
    }

    /// What the host can store.
    pub fn capacity(&self) -> Bytes {
        match &self.spec {
            Spec::Flash(spec) => spec.capacity,
            Spec::Rig(spec) => spec.layout().capacity(),
            Spec::Disk(spec) => spec.capacity(),
            Spec::Dram(spec) => spec.capacity,
            Spec::Pcm(spec) => spec.capacity,
            Spec::Hybrid(spec) => spec.capacity,
        }
    }

    /// How much data it takes, which is less than its addresses where zones cannot be written to their end.
    pub fn writable(&self) -> Bytes {
        self.zones().map_or(self.capacity(), |zones| zones.writable())
    }

    /// What a copy of its state takes in memory once all of it was written at random.
    pub fn memory(&self) -> Bytes {
        match &self.spec {
            Spec::Flash(spec) => spec.map_memory(),
            Spec::Rig(spec) => spec.member.memory().times(u64::from(spec.drives)),
            Spec::Disk(_) | Spec::Dram(_) | Spec::Pcm(_) | Spec::Hybrid(_) => Bytes::ZERO,
        }
    }

    /// The same of a clone that measurements write to, if what it is a clone of was lent.
    pub fn memory_of_clone(&self) -> Bytes {
        match &self.spec {
            Spec::Flash(spec) => spec.clone_memory(),
            Spec::Rig(spec) => spec.member.memory_of_clone().times(u64::from(spec.drives)),
            Spec::Disk(_) | Spec::Dram(_) | Spec::Pcm(_) | Spec::Hybrid(_) => Bytes::ZERO,
        }
    }

    /// How it is divided into zones: the drive of a rig, in a rig. None if it is not.
    pub fn zones(&self) -> Option<ZonesSpec> {
        match &self.spec {
            Spec::Flash(spec) => spec.zones,
            Spec::Rig(spec) => spec.member.zones(),
            Spec::Disk(spec) => spec.zones,
            Spec::Dram(_) | Spec::Pcm(_) | Spec::Hybrid(_) => None,
        }
    }

    /// Flash beyond what the host can store, as a share of it in millionths: that of each drive, in a rig. None
    /// without flash.
    pub fn spare(&self) -> Option<u64> {
        match &self.spec {
            Spec::Flash(spec) if spec.zones.is_some() => None,
            Spec::Flash(spec) => Some(spec.geometry.spare_over(spec.capacity)),
            Spec::Rig(spec) => spec.member.spare(),
            Spec::Disk(_) | Spec::Dram(_) | Spec::Pcm(_) | Spec::Hybrid(_) => None,
        }
    }

    /// Whether it is a disk, or has such.
    pub fn is_rotational(&self) -> bool {
        match &self.spec {
            Spec::Disk(_) => true,
            Spec::Rig(spec) => spec.member.is_rotational(),
            Spec::Flash(_) | Spec::Dram(_) | Spec::Pcm(_) | Spec::Hybrid(_) => false,
        }
    }

    /// Whether it can be put behind writes in order, without their time: see [`Device::fill`](crate::Device::fill).
    pub fn fills_untimed(&self) -> bool {
        match &self.spec {
            Spec::Flash(_) | Spec::Pcm(_) | Spec::Disk(_) => true,
            Spec::Rig(spec) => match (spec.level.has_parity(), &spec.member.spec) {
                (true, Spec::Disk(disk)) => disk.writes_in_place(),
                (has_parity, _) => !has_parity && spec.member.fills_untimed(),
            },
            Spec::Dram(_) | Spec::Hybrid(_) => false,
        }
    }

    /// Whether it can be put behind writes at random, without their time: all but zones, parity, memory alone and hybrid drives.
    pub fn overwrites_untimed(&self) -> bool {
        match &self.spec {
            Spec::Flash(spec) => spec.zones.is_none(),
            Spec::Disk(spec) => spec.zones.is_none(),
            Spec::Pcm(_) => true,
            Spec::Rig(spec) => !spec.level.has_parity() && spec.member.overwrites_untimed(),
            Spec::Dram(_) | Spec::Hybrid(_) => false,
        }
    }

    /// What the drive is, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = match &self.spec {
            Spec::Flash(spec) => spec.facts(),
            Spec::Rig(spec) => spec.facts(),
            Spec::Disk(spec) => spec.facts(),
            Spec::Dram(spec) => spec.facts(),
            Spec::Pcm(spec) => spec.facts(),
            Spec::Hybrid(spec) => spec.facts(),
        };
        facts.extend(self.host_fact().map(|fact| ("host", fact)));
        facts.extend((self.specimen > 1).then(|| ("specimen", format!("{} of this model", self.specimen))));
        let original = of_unchanged(self.is_changed());
        facts.extend(self.rated.facts().map(|fact| ("rated", format!("{fact}{original}"))));
        let price = ListPrice::of_file(&self.text);
        let told = |price: ListPrice| format!("{} ({}, {}){original}", price.amount, price.date, price.source);
        facts.extend(price.map(|price| ("price", told(price))));
        facts
    }

    /// Who the drive says it is: what its file's `[smart]` table has, or else its title and what such drives keep.
    pub fn identity(&self) -> Identity {
        #[derive(Deserialize)]
        struct PresetPart {
            smart: Option<IdentityTable>,
        }
        let (attributes, rotation_rate) = match &self.spec {
            Spec::Disk(spec) => (AttributeSet::Disk, spec.turns()),
            _ => (AttributeSet::Generic, 0),
        };
        let plain = Identity::new(&self.name, title::original(&self.title), self.capacity(), attributes);
        let plain = Identity { rotation_rate, ..plain };
        let part: PresetPart = toml::from_str(&self.text).expect("the file was read before");
        match part.smart {
            Some(table) => plain.with(table),
            None => plain,
        }
    }

    /// The rig that stands for the host in which such a drive is measured, around it. None where it is measured by itself.
    ///
    /// # Errors
    /// If there is no such rig, or it has several drives.
    pub fn host(&self) -> Result<Option<RigSpec>, PresetError> {
        let Some(table) = self.host_table()? else { return Ok(None) };
        table.rig().map(|host| rig::host_of(host, table.changes(), self.clone())).transpose()
    }

    /// The name of that rig: what the file's `[rig]` table says.
    ///
    /// # Errors
    /// If the table is no such.
    pub fn host_name(&self) -> Result<Option<String>, PresetError> {
        Ok(self.host_table()?.as_ref().and_then(HostTable::rig).map(str::to_owned))
    }

    fn host_table(&self) -> Result<Option<HostTable>, PresetError> {
        #[derive(Deserialize)]
        struct PresetPart {
            rig: Option<HostTable>,
        }
        match self.spec {
            Spec::Rig(_) => Ok(None),
            _ => Ok(toml::from_str::<PresetPart>(&self.text)?.rig),
        }
    }

    /// The host in words, if the drive has one.
    fn host_fact(&self) -> Option<String> {
        let host = self.host().ok()??;
        let facts = host.facts().into_iter().skip_while(|(label, _)| *label != "host");
        let words: Vec<String> =
            facts.map(|(label, fact)| if label == "host" { fact } else { format!("{label} {fact}") }).collect();
        Some(words.join("; "))
    }

    /// The drive in its host, if it has one, as it leaves the factory: what runs measure.
    pub fn build_in_host(&self) -> Device {
        match self.host().expect("it was asked for when the file was read") {
            Some(mut rig) => {
                // As the rig has it, the drive of the rig of a number has that number.
                rig.member.specimen = 1;
                Device::Rig(Rig::of(rig, Specimen::new(&self.model, self.specimen)))
            }
            None => self.build(),
        }
    }

    /// The drive itself, as it leaves the factory.
    pub fn build(&self) -> Device {
        self.build_numbered(self.specimen)
    }

    /// Another of its model, as it leaves the factory.
    pub(crate) fn build_numbered(&self, number: u32) -> Device {
        let specimen = Specimen::new(&self.model, number);
        match &self.spec {
            Spec::Flash(spec) => Device::Flash(FlashDrive::of(*spec, specimen)),
            Spec::Rig(spec) => Device::Rig(Rig::of(spec.clone(), specimen)),
            Spec::Disk(spec) => Device::Disk(DiskDrive::of(*spec, specimen)),
            Spec::Dram(spec) => Device::Dram(DramDrive::new(*spec)),
            Spec::Pcm(spec) => Device::Pcm(PcmDrive::of(*spec, specimen)),
            Spec::Hybrid(spec) => Device::Hybrid(HybridDrive::of(*spec, specimen)),
        }
    }
}

/// As its name, which has its number, and its file.
impl Serialize for Preset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.name, &self.text).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Preset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, text) = <(String, String)>::deserialize(deserializer)?;
        Self::named(&name, &text).map_err(serde::de::Error::custom)
    }
}

impl Spec {
    /// What kind of drive that is, and what its file may say.
    pub fn kind(&self) -> DriveKind {
        match self {
            Self::Flash(_) => reference::FLASH,
            Self::Rig(_) => reference::RIG,
            Self::Disk(_) => reference::DISK,
            Self::Dram(_) => reference::DRAM,
            Self::Pcm(_) => reference::PCM,
            Self::Hybrid(_) => reference::HYBRID,
        }
    }

    /// The tables of such a drive's file with their fields.
    pub(crate) fn tables(&self) -> &'static [fields::Table] {
        self.kind().tables
    }
}

/// Every drive and every rig that comes with the program: its name and its file.
fn embedded() -> impl Iterator<Item = &'static (&'static str, &'static str)> + Clone {
    EMBEDDED.iter().chain(RIGS)
}

#[cfg(test)]
mod tests;
