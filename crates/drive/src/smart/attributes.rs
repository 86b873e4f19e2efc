//! The numbered attributes of ATA drives.

use block::Bytes;
use serde::Serialize;

use super::identity::AttributeSet;
use super::{hours, minutes, percent_used, spare_percent};
use crate::{Counters, Health};

/// An attribute as smartctl prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attribute {
    id: u8,
    name: &'static str,
    value: u64,
    worst: u64,
    thresh: u64,
    when_failed: &'static str,
    flags: Flags,
    raw: Raw,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Flags {
    value: u16,
    string: String,
    prefailure: bool,
    updated_online: bool,
    performance: bool,
    error_rate: bool,
    event_count: bool,
    auto_keep: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Raw {
    value: u64,
    string: String,
}

/// What an attribute shows.
#[derive(Clone, Copy)]
enum Shows {
    /// Something that a simulated drive has none of.
    Nothing,
    PowerOnHours,
    PowerCycles,
    UnsafeShutdowns,
    /// Data that the host wrote, that it read, or that flash took, in such units.
    Written(u64),
    Read(u64),
    FlashWritten(u64),
    /// Pages that could not be corrected.
    Uncorrectable,
    /// Blocks that went bad in use; those from the factory; what is left of the reserve.
    Retired,
    FactoryBad,
    ReserveLeft,
    /// Life left or used, in percent; used in 1,024ths of a percent.
    LifeLeft,
    LifeUsed,
    MediaWear,
    /// Erases of a block in the mean, and between the least and the most worn.
    MeanErases,
    EraseRange,
    /// The share of reads among the requests, in percent; minutes since power on.
    ReadShare,
    Minutes,
    Temperature,
}

use Shows::*;

type AttributeRow = (u8, &'static str, Shows);

const KIB: u64 = 1 << 10;
const MIB_32: u64 = 32 << 20;
const GIB: u64 = 1 << 30;
const SECTOR: u64 = 512;

const GENERIC: &[AttributeRow] = &[
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (174, "Unexpect_Power_Loss_Ct", UnsafeShutdowns),
    (177, "Wear_Leveling_Count", MeanErases),
    (194, "Temperature_Celsius", Temperature),
    (232, "Available_Reservd_Space", ReserveLeft),
    (233, "Media_Wearout_Indicator", LifeLeft),
    (241, "Total_LBAs_Written", Written(SECTOR)),
    (242, "Total_LBAs_Read", Read(SECTOR)),
];

const INTEL_X25: &[AttributeRow] = &[
    (3, "Spin_Up_Time", Nothing),
    (4, "Start_Stop_Count", Nothing),
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (192, "Unsafe_Shutdown_Count", UnsafeShutdowns),
    (225, "Host_Writes_32MiB", Written(MIB_32)),
    (226, "Intel_Internal", MediaWear),
    (227, "Intel_Internal", ReadShare),
    (228, "Intel_Internal", Minutes),
    (232, "Available_Reservd_Space", ReserveLeft),
    (233, "Media_Wearout_Indicator", LifeLeft),
];

const INTEL_320: &[AttributeRow] = &[
    (3, "Spin_Up_Time", Nothing),
    (4, "Start_Stop_Count", Nothing),
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (170, "Reserve_Block_Count", ReserveLeft),
    (171, "Program_Fail_Count", Nothing),
    (172, "Erase_Fail_Count", Retired),
    (184, "End-to-End_Error", Nothing),
    (187, "Reported_Uncorrect", Uncorrectable),
    (192, "Unsafe_Shutdown_Count", UnsafeShutdowns),
    (225, "Host_Writes_32MiB", Written(MIB_32)),
    (226, "Workld_Media_Wear_Indic", MediaWear),
    (227, "Workld_Host_Reads_Perc", ReadShare),
    (228, "Workload_Minutes", Minutes),
    (232, "Available_Reservd_Space", ReserveLeft),
    (233, "Media_Wearout_Indicator", LifeLeft),
    (241, "Host_Writes_32MiB", Written(MIB_32)),
    (242, "Host_Reads_32MiB", Read(MIB_32)),
];

const INTEL_520: &[AttributeRow] = &[
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours_and_Msec", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (170, "Available_Reservd_Space", ReserveLeft),
    (171, "Program_Fail_Count", Nothing),
    (172, "Erase_Fail_Count", Retired),
    (174, "Unexpect_Power_Loss_Ct", UnsafeShutdowns),
    (187, "Uncorrectable_Error_Cnt", Uncorrectable),
    (225, "Host_Writes_32MiB", Written(MIB_32)),
    (226, "Workld_Media_Wear_Indic", MediaWear),
    (227, "Workld_Host_Reads_Perc", ReadShare),
    (228, "Workload_Minutes", Minutes),
    (232, "Available_Reservd_Space", ReserveLeft),
    (233, "Media_Wearout_Indicator", LifeLeft),
    (241, "Host_Writes_32MiB", Written(MIB_32)),
    (242, "Host_Reads_32MiB", Read(MIB_32)),
    (249, "NAND_Writes_1GiB", FlashWritten(GIB)),
];

const SANDFORCE: &[AttributeRow] = &[
    (5, "Retired_Block_Count", Retired),
    (9, "Power_On_Hours_and_Msec", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (170, "Reserve_Block_Count", ReserveLeft),
    (171, "Program_Fail_Count", Nothing),
    (172, "Erase_Fail_Count", Retired),
    (174, "Unexpect_Power_Loss_Ct", UnsafeShutdowns),
    (177, "Wear_Range_Delta", EraseRange),
    (194, "Temperature_Celsius", Temperature),
    (231, "SSD_Life_Left", LifeLeft),
    (233, "SandForce_Internal", FlashWritten(GIB)),
    (241, "Lifetime_Writes_GiB", Written(GIB)),
    (242, "Lifetime_Reads_GiB", Read(GIB)),
];

const CRUCIAL_M4: &[AttributeRow] = &[
    (1, "Raw_Read_Error_Rate", Nothing),
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (170, "Grown_Failing_Block_Ct", Retired),
    (171, "Program_Fail_Count", Nothing),
    (172, "Erase_Fail_Count", Retired),
    (173, "Wear_Leveling_Count", MeanErases),
    (174, "Unexpect_Power_Loss_Ct", UnsafeShutdowns),
    (187, "Reported_Uncorrect", Uncorrectable),
    (189, "Factory_Bad_Block_Ct", FactoryBad),
    (194, "Temperature_Celsius", Temperature),
    (202, "Perc_Rated_Life_Used", LifeUsed),
];

const SAMSUNG: &[AttributeRow] = &[
    (5, "Reallocated_Sector_Ct", Retired),
    (9, "Power_On_Hours", PowerOnHours),
    (12, "Power_Cycle_Count", PowerCycles),
    (177, "Wear_Leveling_Count", MeanErases),
    (179, "Used_Rsvd_Blk_Cnt_Tot", Retired),
    (181, "Program_Fail_Cnt_Total", Nothing),
    (182, "Erase_Fail_Count_Total", Retired),
    (183, "Runtime_Bad_Block", Retired),
    (187, "Uncorrectable_Error_Cnt", Uncorrectable),
    (190, "Airflow_Temperature_Cel", Temperature),
    (235, "POR_Recovery_Count", UnsafeShutdowns),
    (241, "Total_LBAs_Written", Written(SECTOR)),
];

const DISK: &[AttributeRow] = &[
    (1, "Raw_Read_Error_Rate", Nothing),
    (4, "Start_Stop_Count", PowerCycles),
    (5, "Reallocated_Sector_Ct", Nothing),
    (7, "Seek_Error_Rate", Nothing),
    (9, "Power_On_Hours", PowerOnHours),
    (10, "Spin_Retry_Count", Nothing),
    (12, "Power_Cycle_Count", PowerCycles),
    (192, "Power-Off_Retract_Count", UnsafeShutdowns),
    (194, "Temperature_Celsius", Temperature),
    (197, "Current_Pending_Sector", Nothing),
    (198, "Offline_Uncorrectable", Nothing),
    (241, "Total_LBAs_Written", Written(SECTOR)),
    (242, "Total_LBAs_Read", Read(SECTOR)),
];

/// The attributes of a drive; none where it keeps none.
pub fn table(set: AttributeSet, counters: &Counters, health: &Health) -> Vec<Attribute> {
    let rows = match set {
        AttributeSet::Generic => GENERIC,
        AttributeSet::IntelX25 => INTEL_X25,
        AttributeSet::Intel320 => INTEL_320,
        AttributeSet::Intel520 => INTEL_520,
        AttributeSet::Sandforce => SANDFORCE,
        AttributeSet::CrucialM4 => CRUCIAL_M4,
        AttributeSet::Samsung => SAMSUNG,
        AttributeSet::Disk => DISK,
        AttributeSet::Nvme => &[],
    };
    let has = |row: &&AttributeRow| !matches!(row.2, Temperature) || health.temperature.is_some();
    rows.iter().filter(has).map(|row| Attribute::of(row, counters, health)).collect()
}

impl Attribute {
    fn of(&(id, name, shows): &AttributeRow, counters: &Counters, health: &Health) -> Self {
        let raw = shows.raw(counters, health);
        let value = shows.value(health);
        // Only the reserve foretells a failure; all others are kept for information.
        let (thresh, flags) = if matches!(shows, ReserveLeft) { (10, 0x33) } else { (0, 0x32) };
        Self {
            id,
            name,
            value,
            worst: if matches!(shows, Temperature) { coolness(health.temperature_max) } else { value },
            thresh,
            when_failed: if thresh > 0 && value <= thresh { "now" } else { "" },
            flags: Flags::of(flags),
            raw: Raw { value: raw, string: raw.to_string() },
        }
    }

    /// Whether its value is at its threshold or below.
    pub fn has_failed(&self) -> bool {
        !self.when_failed.is_empty()
    }
}

impl Shows {
    /// The number itself.
    fn raw(self, counters: &Counters, health: &Health) -> u64 {
        let wear = health.wear.unwrap_or_default();
        let units = |bytes: Bytes, unit: u64| bytes.get() / unit;
        match self {
            Nothing => 0,
            PowerOnHours => hours(health.power_on),
            PowerCycles => health.power_cycles,
            UnsafeShutdowns => counters.unsafe_shutdowns,
            Written(unit) => units(counters.host_taken(), unit),
            Read(unit) => units(counters.host_read, unit),
            FlashWritten(unit) => units(counters.page.times(counters.pages_programmed), unit),
            Uncorrectable => counters.uncorrectable,
            Retired => u64::from(wear.retired),
            FactoryBad => u64::from(wear.factory_bad),
            ReserveLeft | LifeLeft => 0,
            LifeUsed => percent_used(health),
            MediaWear => u64::from(wear.erases_mean) * 100 * KIB / u64::from(wear.rated.max(1)),
            MeanErases => u64::from(wear.erases_mean),
            EraseRange => u64::from(wear.erases_max - wear.erases_min),
            ReadShare => {
                let [reads, writes, ..] = counters.requests;
                reads * 100 / (reads + writes).max(1)
            }
            Minutes => minutes(health.power_on),
            Temperature => health.temperature.map_or(0, |warm| warm.as_celsius()),
        }
    }

    /// The same as a mark: 100 is as good as new.
    fn value(self, health: &Health) -> u64 {
        match self {
            ReserveLeft => spare_percent(health).max(1),
            LifeLeft | LifeUsed | MeanErases => 100_u64.saturating_sub(percent_used(health)).max(1),
            Temperature => coolness(health.temperature),
            _ => 100,
        }
    }
}

/// The mark for a temperature, as most drives give it: 100 less the degrees.
fn coolness(temperature: Option<block::Temperature>) -> u64 {
    100_u64.saturating_sub(temperature.map_or(0, |warm| warm.as_celsius())).max(1)
}

impl Flags {
    /// Bits 0 to 5, with smartctl's letters for them.
    fn of(value: u16) -> Self {
        let bit = |bit: u16| value >> bit & 1 == 1;
        let letters = "POSRCK".chars().enumerate();
        let string = letters.map(|(index, letter)| if bit(index as u16) { letter } else { '-' }).chain([' ']).collect();
        Self {
            value,
            string,
            prefailure: bit(0),
            updated_online: bit(1),
            performance: bit(2),
            error_rate: bit(3),
            event_count: bit(4),
            auto_keep: bit(5),
        }
    }
}
