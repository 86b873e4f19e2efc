//! What the numbered attributes of ATA drives mean, and in which unit.
//!
//! The numbers are the makers' own: 233 is what remains of one drive's life and what another wrote to its flash. smartctl
//! looks the model up and gives each attribute a name that says what it is, so here names decide, never numbers.
//! A model that smartctl does not know gets default names that may be wrong: of such only the attributes are taken that
//! mean the same on all drives.
//!
//! Source: smartmontools 7.3, `drivedb.h`; for the pages of Micron's drives, Micron, TN-FD-22, "Client SATA SSD SMART
//! Attribute Reference": (247 + 248) / 247.

/// What an attribute shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Data that the host wrote, in units of so many bytes.
    HostWritten(u64),
    /// Data that the host read.
    HostRead(u64),
    /// Data that was programmed into flash.
    FlashWritten(u64),
    /// Pages that were programmed for the host, and by the drive for itself.
    HostPages,
    /// See `HostPages`.
    OwnPages,
    /// What remains of its life: the normalised value, in percent.
    LifeLeft,
    /// What is used of its life: the raw value, in percent.
    LifeUsed,
    /// What remains of its reserve: the normalised value, in percent.
    Spare,
    /// Replaced sectors or blocks.
    Reallocated,
    /// Sectors that wait to be replaced.
    Pending,
    /// Data that was lost.
    Uncorrectable,
}

use Shows::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const GB: u64 = 1_000_000_000;
/// Sectors are of 512 bytes here, whatever the drive's own logical block is.
const SECTOR: u64 = 512;

/// Names of smartctl's database, of models that it knows.
const BY_NAME: &[(&str, Shows)] = &[
    ("Total_LBAs_Written", HostWritten(SECTOR)),
    ("Total_LBAs_Read", HostRead(SECTOR)),
    ("Host_Writes_32MiB", HostWritten(32 * MIB)),
    ("Host_Reads_32MiB", HostRead(32 * MIB)),
    ("Host_Writes_MiB", HostWritten(MIB)),
    ("Host_Reads_MiB", HostRead(MIB)),
    ("Host_Writes_GiB", HostWritten(GIB)),
    ("Host_Reads_GiB", HostRead(GIB)),
    ("Lifetime_Writes_GiB", HostWritten(GIB)),
    ("Lifetime_Reads_GiB", HostRead(GIB)),
    ("Total_Writes_GiB", HostWritten(GIB)),
    ("Total_Reads_GiB", HostRead(GIB)),
    ("Total_Writes_GB", HostWritten(GB)),
    ("Total_Reads_GB", HostRead(GB)),
    ("NAND_Writes_1GiB", FlashWritten(GIB)),
    ("NAND_Writes_GiB", FlashWritten(GIB)),
    ("NAND_Writes_32MiB", FlashWritten(32 * MIB)),
    ("Total_NAND_Writes_GiB", FlashWritten(GIB)),
    ("Flash_Writes_GiB", FlashWritten(GIB)),
    ("Flash_Writes_32MiB", FlashWritten(32 * MIB)),
    ("Lifetime_NAND_Prg_GiB", FlashWritten(GIB)),
    ("Total_NAND_Prog_Ct_GiB", FlashWritten(GIB)),
    ("Host_Program_Page_Count", HostPages),
    ("Bckgnd_Program_Page_Cnt", OwnPages),
    ("FTL_Program_Page_Count", OwnPages),
    ("Media_Wearout_Indicator", LifeLeft),
    ("SSD_Life_Left", LifeLeft),
    ("Percent_Lifetime_Remain", LifeLeft),
    ("Percent_Life_Remaining", LifeLeft),
    ("Perc_Rated_Life_Remain", LifeLeft),
    ("Remaining_Lifetime_Perc", LifeLeft),
    ("Wear_Leveling_Count", LifeLeft),
    ("Perc_Rated_Life_Used", LifeUsed),
    ("Percent_Lifetime_Used", LifeUsed),
    ("Percent_Life_Used", LifeUsed),
    ("Available_Reservd_Space", Spare),
    ("Uncorrectable_Error_Cnt", Uncorrectable),
    ("Reported_Uncorrect", Uncorrectable),
];

/// What means the same on all drives.
const BY_NUMBER: &[(u64, Shows)] = &[(5, Reallocated), (197, Pending), (198, Uncorrectable), (187, Uncorrectable)];

/// What the attribute of this number and name shows on a drive that smartctl knows, or does not; none where that is not
/// known.
pub(super) fn shows(number: u64, name: &str, is_known: bool) -> Option<Shows> {
    let by_name = || BY_NAME.iter().find(|(known, _)| *known == name).map(|(_, shows)| *shows);
    let by_number = || BY_NUMBER.iter().find(|(known, _)| *known == number).map(|(_, shows)| *shows);
    // A known drive may have given one of these numbers another meaning.
    let is_other =
        is_known && number != 5 && !["Pending", "Uncorr", "Uncor_", "Unc_"].iter().any(|word| name.contains(word));
    let named = if is_known { by_name() } else { None };
    named.or_else(|| if is_other { None } else { by_number() })
}

/// The words for a unit.
pub(super) fn unit(bytes: u64) -> String {
    match bytes {
        GB => "GB".to_owned(),
        SECTOR => "sectors of 512 B".to_owned(),
        bytes => block::Bytes::new(bytes).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_where_smartctl_knows_the_model_and_nothing_else_is_guessed() {
        assert_eq!(shows(241, "Host_Writes_32MiB", true), Some(HostWritten(32 * MIB)));
        assert_eq!(shows(225, "Host_Writes_32MiB", true), Some(HostWritten(32 * MIB)));
        assert_eq!(shows(241, "Lifetime_Writes_GiB", true), Some(HostWritten(GIB)));
        assert_eq!(shows(233, "Flash_Writes_GiB", true), Some(FlashWritten(GIB)));
        assert_eq!(shows(233, "Media_Wearout_Indicator", true), Some(LifeLeft));
        assert_eq!(shows(241, "Total_LBAs_Written", false), None, "the default name of any drive's 241");
        assert_eq!(shows(231, "Temperature_Celsius", true), None);
        assert_eq!(shows(5, "Retired_Block_Count", true), Some(Reallocated));
        assert_eq!(shows(197, "Current_Pending_Sector", false), Some(Pending));
        assert_eq!(shows(187, "Reported_Uncorrect", false), Some(Uncorrectable));
        assert_eq!(shows(198, "Host_Reads_GiB", true), Some(HostRead(GIB)), "a maker's own use of a usual number");
        assert_eq!(shows(197, "Wear_Range", true), None);
    }
}
