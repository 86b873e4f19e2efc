//! Simulated drives as files: a drive is a TOML table whose every part names its source.

mod base;
pub(crate) mod bounds;
pub(crate) mod change;
mod embedded;
mod error;
pub(crate) mod fields;
mod host;
pub(crate) mod link;
mod mistakes;
mod name;
pub(crate) mod power;
mod price;
mod rated;
pub mod sheet;
pub(crate) mod units;
pub(crate) mod zones;

use block::Bytes;
pub use error::PresetError;
pub(crate) use error::{require, unknown};
pub(crate) use fields::table;
pub(crate) use host::HostTable;
pub use name::{DriveName, changed_name};
pub use price::ListPrice;
pub use rated::{Promise, Rated};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
        facts.extend(self.rated.facts().map(|fact| ("rated", fact)));
        let price = ListPrice::of_file(&self.text);
        facts.extend(price.map(|price| ("price", format!("{} ({}, {})", price.amount, price.date, price.source))));
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
        let plain = Identity::new(&self.name, &self.title, self.capacity(), attributes);
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
    /// The tables of such a drive's file with their fields.
    pub(crate) fn tables(&self) -> &'static [fields::Table] {
        match self {
            Self::Flash(_) => FlashFile::TABLES,
            Self::Rig(_) => RigFile::TABLES,
            Self::Disk(_) => DiskFile::TABLES,
            Self::Dram(_) => DramFile::TABLES,
            Self::Pcm(_) => PcmFile::TABLES,
            Self::Hybrid(_) => HybridFile::TABLES,
        }
    }
}

/// Every drive and every rig that comes with the program: its name and its file.
fn embedded() -> impl Iterator<Item = &'static (&'static str, &'static str)> + Clone {
    EMBEDDED.iter().chain(RIGS)
}

#[cfg(test)]
mod tests {
    use block::{Endurance, Nanos};

    use super::*;

    fn flash(name: &str) -> FlashSpec {
        match Preset::find(name).unwrap().spec {
            Spec::Flash(spec) => spec,
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn a_rig_has_the_spare_flash_of_its_drives_and_a_disk_none() {
        let spare = |name| Preset::find(name).unwrap().spare();
        assert!((342_000..343_000).contains(&spare("x25-e-64").unwrap()));
        assert_eq!(spare("toms-x25e-16"), Preset::find("toms-x25e-1").unwrap().spare());
        assert!(spare("toms-x25e-16").is_some());
        assert_eq!((spare("raptor-150"), spare("solid-data-dram")), (None, None));
    }

    #[test]
    fn every_embedded_drive_reads_and_has_its_own_name() {
        for (name, text) in embedded() {
            assert_eq!(Preset::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")).name, *name);
        }
    }

    #[test]
    fn a_rated_endurance_says_where_it_is_from() {
        let rated: Vec<Rated> = Preset::all().map(|preset| preset.rated).collect();
        assert!(rated.iter().all(|rated| rated.endurance.is_some() != rated.endurance_source.is_empty()));
        assert_eq!(
            Preset::find("sata-tlc").unwrap().rated.endurance,
            Some(Endurance::new(Bytes::new(300_000_000_000_000)))
        );
        assert!(rated.iter().filter(|rated| rated.endurance.is_some()).count() >= 7);
    }

    #[test]
    fn what_a_model_was_fitted_to_is_a_figure_that_its_drive_has() {
        for Preset { name, rated, .. } in Preset::all() {
            let has = |promise: &Promise| match promise {
                Promise::SequentialRead => rated.sequential_read.is_some(),
                Promise::SequentialWrite => rated.sequential_write.is_some(),
                Promise::ReadLatency => rated.read_latency.is_some(),
                Promise::RandomReadIops => rated.random_read_iops.is_some(),
                Promise::RandomWriteIops => rated.random_write_iops.is_some(),
            };
            assert!(rated.fitted.iter().all(has), "{name}: {:?}", rated.fitted);
            let is_random = rated.random_read_iops.or(rated.random_write_iops).is_some();
            assert!(!is_random || rated.random_depth.is_some(), "{name}: at which depth?");
        }
    }

    #[test]
    fn the_x25_m_has_the_published_parts() {
        let spec = flash("x25-m");
        assert_eq!(spec.capacity, Bytes::new(80_026_361_856));
        assert_eq!((spec.geometry.channels, spec.geometry.dies_per_channel), (10, 2));
        let raw = spec.geometry.block().times(u64::from(spec.geometry.blocks()));
        let packages = Bytes::from_gib(4).times(20);
        assert!(raw.get().abs_diff(packages.get()) < packages.get() / 2000, "{raw} in twenty packages of 4 GiB");
        assert_eq!(spec.queue_depth, 32);
    }

    #[test]
    fn a_drive_says_who_it_is_as_its_file_has_it() {
        let identity = Preset::find("x25-m").unwrap().identity();
        assert_eq!((&*identity.model, &*identity.device), ("INTEL SSDSA2MH080G1GC", "sim:x25-m"));
        assert_eq!((identity.capacity.sectors(), identity.attributes), (156_301_488, AttributeSet::IntelX25));
        let good = EMBEDDED.iter().find(|(name, _)| *name == "x25-m").unwrap().1;
        let silent = Preset::parse(good.split("[smart]").next().unwrap()).unwrap();
        assert_eq!((&silent.identity().model, silent.identity().attributes), (&silent.title, AttributeSet::Generic));
    }

    #[test]
    fn a_disk_says_how_fast_it_turns_and_keeps_the_attributes_of_disks() {
        for (name, turns) in [("raptor-150", 10_000), ("seagate-7200.11", 7_200), ("st320lt020", 5_400)] {
            let identity = Preset::find(name).unwrap().identity();
            assert_eq!((identity.rotation_rate, identity.attributes), (turns, AttributeSet::Disk), "{name}");
        }
        assert_eq!(Preset::find("x25-m").unwrap().identity().rotation_rate, 0, "flash does not turn");
    }

    #[test]
    fn more_flash_than_can_be_numbered_is_refused() {
        let text = Preset::find("x25-m").unwrap().text;
        for user in ["900 TB", "9000 TB", "80 PB", "9000 PB"] {
            let large = text.replace("80026361856 B", user).replace("\"7.34%\"", "\"1000%\"");
            let said = Preset::parse(&large).expect_err(user).to_string();
            assert!(said.contains("pages can be numbered") || said.contains("spare"), "{user}: {said}");
        }
    }

    #[test]
    fn a_wrong_name_is_corrected() {
        let said = Preset::find("x25m").unwrap_err().to_string();
        assert!(said.contains("did you mean `x25-m`?"), "{said}");
        for (model, first) in [("p5520", "p5520-1920"), ("zn540", "zn540-1tb"), ("PM983", "pm983-960")] {
            let said = Preset::find(model).unwrap_err().to_string();
            assert!(said.contains(&format!("did you mean `{first}`?")), "{said}");
        }
    }

    #[test]
    fn a_wrong_unit_an_unknown_field_and_a_lost_source_are_explained() {
        let good = EMBEDDED.iter().find(|(name, _)| *name == "x25-m").unwrap().1;
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

    #[test]
    fn a_drive_is_changed_by_name() {
        let changed = flash("x25-m?spare=12%&nand.read=25us&channels=8");
        assert_eq!((changed.nand.read, changed.geometry.channels), (Nanos::from_micros(25), 8));
        assert!(changed.geometry.blocks_per_plane > flash("x25-m").geometry.blocks_per_plane);
        assert_eq!(Preset::find("x25-m?spare=12%").unwrap().name, "x25-m?spare=12%");
    }

    #[test]
    fn a_change_may_say_that_it_is_to_the_drive_or_to_the_rig() {
        let long = Preset::find("x25-m?drive.nand.read=25us").unwrap().changed("drive.spare=12%").unwrap();
        assert_eq!(long.spec, Preset::find("x25-m?nand.read=25us&spare=12%").unwrap().spec);
        assert_eq!(long.name, "x25-m?drive.nand.read=25us&drive.spare=12%");
        let said = Preset::find("x25-m?rig.host.cpus=8").unwrap_err().to_string();
        assert!(said.contains("not in a rig"), "{said}");
        let rig = |changes: &str| Preset::find(&format!("toms-x25e-16?{changes}")).unwrap().spec;
        assert_eq!(rig("rig.host.cpus=8&drive.nand.read=25us"), rig("host.cpus=8&drive.nand.read=25us"));
    }

    #[test]
    fn a_change_that_is_none_is_explained() {
        for (change, words) in [
            ("spair=12%", "did you mean `capacity.spare`?"),
            ("nand.reed=1us", "did you mean `nand.read`?"),
            ("read=1us", "`nand.read` or `slc.read`"),
            ("erase=5 parsec", "unknown unit `parsec`"),
            ("erase", "name=value"),
            ("=5", "name=value"),
            (
                "buffer=5",
                "`buffer` is a table; say which field of it: `buffer.size`, `buffer.partial`, `buffer.serves_reads`",
            ),
            ("buffer.=5", "`buffer` is a table"),
            ("channels=99999999999999999999", "expected a whole number"),
            ("channels=x", "channels"),
            ("spare=0.001%", "raise capacity.spare"),
            ("nand.read=50us&nand.read=60us", "`nand.read` is given twice; give it once"),
            ("spare=8%&drive.capacity.spare=9%", "`capacity.spare` is given twice"),
            ("nand.read=inf", "`inf` is not a number"),
            ("nand.read=1e400", "`1e400` has an exponent and no unit; give all digits and a unit, such as `50us`"),
            ("nand.read=1e3us", "`1e3us` has an exponent; give all digits"),
            ("controller.write=5", "`5` has no unit; give the time with one, such as `5us`"),
            ("spare=0", "`0` has no unit; use one of %"),
            ("channels=1.5", "expected a whole number from 0 to 4294967295"),
            ("geometry.sense=0", "geometry.sense is 0 B, geometry.page 4 KiB, geometry.program 4 KiB"),
            ("geometry.program=5KiB", "geometry.program is 5 KiB, geometry.page 4 KiB"),
            ("gc.policy=greedy&gc.burst=5", "gc.burst is 5, gc.pacing not given"),
            ("planes=0", "geometry.channels is 10, dies_per_channel"),
        ] {
            let said = Preset::find(&format!("x25-m?{change}")).unwrap_err().to_string();
            assert!(said.contains(words), "{change}: {said}");
        }
    }

    /// Whatever a field is set to, a message is in the file's terms: units in place of the program's types and numbers.
    #[test]
    fn no_message_shows_a_type_of_the_program() {
        let values = [
            "0",
            "-1",
            "inf",
            "nan",
            "1e400",
            "abc",
            "1.5",
            "0%",
            "99999%",
            "0ns",
            "584d",
            "0B",
            "18446744073709551615",
        ];
        for name in
            ["990-pro", "p5520-1920", "optane-p4800x", "ocz-core-64", "nearline-7200", "solid-data-dram", "sata-host"]
        {
            let preset = Preset::find(name).unwrap();
            let fields =
                preset.spec.tables().iter().flat_map(|(table, fields)| fields.iter().map(move |field| (table, field)));
            for (table, field) in fields {
                for value in values {
                    let change = format!("{table}.{field}={value}");
                    let Err(error) = preset.clone().changed(&change) else { continue };
                    let said = error.to_string();
                    let words =
                        ["Some(", "None", "Bytes(", "Nanos(", "u32", "u64", "millionths (", "struct ", "untagged"];
                    for word in words {
                        assert!(!said.contains(word), "{name}?{change}: {said}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_contradicts_the_rest_of_a_file_is_refused_and_not_passed_over() {
        for (drive, words) in [
            ("990-pro?nand.reads_first=false", "nand.reads_first is false, and the drive has [suspend]"),
            ("990-pro?gc.start=2", "gc.start is 2, and the drive has [wear]"),
            ("x25-m?gc.policy=greedy&gc.idle_free=9", "gc.idle_free is 9, and gc.idle_after not given"),
        ] {
            let said = Preset::find(drive).expect_err(drive).to_string();
            assert!(said.contains(words), "{drive}: {said}");
        }
    }
}
