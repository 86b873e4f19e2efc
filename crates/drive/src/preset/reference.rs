//! What a drive's file may say, for people and programs.

use super::bounds;
pub use super::fields::{FieldInfo, Kind, Table};
use super::price::ListPrice;
use super::rated::Rated;
use crate::disk::DiskFile;
use crate::dram::DramFile;
use crate::flash::FlashFile;
use crate::hybrid::HybridFile;
use crate::pcm::PcmFile;
use crate::rig::RigFile;

/// A kind of drive, as its file has it: `kind = "flash"`.
#[derive(Clone, Copy, Debug)]
pub struct DriveKind {
    pub name: &'static str,
    pub about: &'static str,
    /// Its tables, of which every field can be changed by name.
    pub tables: &'static [Table],
    /// Facts about it, of which nothing follows for the model.
    pub facts: &'static [Table],
}

/// Facts that a drive's file may have.
const FACTS: &[Table] = &[Rated::TABLE, ListPrice::TABLE];

pub const FLASH: DriveKind = of("flash", "page-mapped flash drives", FlashFile::TABLES, FACTS);
pub const DISK: DriveKind = of("disk", "hard disk drives", DiskFile::TABLES, FACTS);
pub const PCM: DriveKind = of("pcm", "drives whose media are written in place", PcmFile::TABLES, FACTS);
pub const HYBRID: DriveKind = of("hybrid", "flash drives that map blocks", HybridFile::TABLES, FACTS);
pub const DRAM: DriveKind = of("dram", "DRAM drives", DramFile::TABLES, FACTS);
pub const RIG: DriveKind = of("rig", "hosts and arrays with drives in them", RigFile::TABLES, &[ListPrice::TABLE]);

/// All kinds.
pub const KINDS: [DriveKind; 6] = [FLASH, DISK, PCM, HYBRID, DRAM, RIG];

impl DriveKind {
    /// All tables that its file may have, the facts behind the others.
    pub fn all_tables(&self) -> impl Iterator<Item = Table> + use<> {
        self.tables.iter().chain(self.facts).copied()
    }
}

const fn of(name: &'static str, about: &'static str, tables: &'static [Table], facts: &'static [Table]) -> DriveKind {
    DriveKind { name, about, tables, facts }
}

/// From what to what a field can be; none where its text or the drive as a whole says so.
pub fn range(table: &Table, field: &FieldInfo) -> Option<String> {
    bounds::range(table.name, field.name)
}

#[cfg(test)]
mod tests {
    use super::super::fields::words_of;
    use super::*;
    use crate::preset::Preset;

    /// Texts of several lines are joined by a space each, and none ends in a full stop.
    #[test]
    fn every_field_says_what_it_is() {
        for kind in KINDS {
            for table in kind.all_tables() {
                for (name, about) in
                    table.fields.iter().map(|field| (field.name, field.about)).chain([(table.name, table.about)])
                {
                    let is_plain = !about.is_empty() && !about.contains("  ") && !about.contains('\n');
                    assert!(is_plain && !about.ends_with('.'), "{}.{}.{name}: {about}", kind.name, table.name);
                }
            }
        }
    }

    #[test]
    fn what_may_be_left_out_and_what_holds_then_is_known() {
        let flash = FLASH.tables;
        let field = |table: &str, field: &str| {
            let table = flash.iter().find(|known| known.name == table).unwrap();
            *table.fields.iter().find(|known| known.name == field).unwrap()
        };
        for (table, name, is_required, default) in [
            ("nand", "read", true, None),
            ("nand", "keeps_page", false, None),
            ("nand", "read_by_page", false, Some("[]")),
            ("nand", "cache_program", false, Some("false")),
            ("controller", "jitter", false, Some("0")),
            ("errors", "worn_erases", false, Some("3000")),
            ("rig", "changes", false, Some("\"\"")),
        ] {
            let field = field(table, name);
            assert_eq!((field.is_required, field.default().as_deref()), (is_required, default), "{table}.{name}");
        }
        assert!(flash.iter().find(|table| table.name == "nand").unwrap().is_required);
        assert!(!flash.iter().find(|table| table.name == "slc").unwrap().is_required);
        let Kind::Word(policies) = field("gc", "policy").kind() else { panic!("a policy is a word") };
        assert!(policies.contains(&"cost-benefit") && policies.contains(&"superblocks"), "{policies:?}");
        assert!(words_of::<String>().is_empty(), "any text is not some words");
    }

    /// The example of a kind is one that is read.
    #[test]
    fn examples_of_kinds_are_read() {
        for (change, kind) in [
            ("nand.read", Kind::Time),
            ("controller.read_ahead", Kind::Bytes),
            ("link.rate", Kind::Rate),
            ("capacity.spare", Kind::Share),
            ("power.active", Kind::Power),
            ("power.page_read", Kind::Energy),
            ("thermal.ambient", Kind::Temperature),
            ("thermal.resistance", Kind::ThermalResistance),
            ("thermal.heat_capacity", Kind::HeatCapacity),
            ("controller.queue_depth", Kind::Count),
            ("nand.read_by_page", Kind::Shares),
        ] {
            let example = kind.told().1.expect("quantities have an example");
            let drive = format!("990-pro?{change}={}", example.trim_matches('"'));
            let drive = if kind == Kind::Shares { drive + "&errors.by_page=[\"100%\", \"100%\"]" } else { drive };
            assert!(Preset::find(&drive).is_ok(), "{drive}: {}", Preset::find(&drive).unwrap_err());
        }
        assert!(block::parse_endurance(Kind::Endurance.told().1.unwrap().trim_matches('"')).is_ok());
    }

    #[test]
    fn facts_are_those_that_are_read() {
        for (table, read) in [(Rated::TABLE, words_of::<Rated>()), (ListPrice::TABLE, words_of::<ListPrice>())] {
            let told: Vec<&str> = table.names().collect();
            let read: Vec<&str> = read.iter().copied().filter(|name| *name != "source").collect();
            assert_eq!(told, read);
        }
    }
}
