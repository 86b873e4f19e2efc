//! The definitions of NVMeVirt's `ssd_config.h`: what each can be, and what becomes of it.

use super::super::simulator::field::FieldKind::{Count, Real, Text};
use super::super::simulator::field::{Fate, FieldKind, FieldSpec, optional, unused};

const fn taken(name: &'static str, kind: FieldKind, becomes: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Taken, becomes }
}

const fn lost(name: &'static str, same: &'static [&'static str], follows: &'static str) -> FieldSpec {
    FieldSpec { name, kind: Text, default: None, fate: Fate::Lost(same), becomes: follows }
}

const TIME: FieldKind = Count(0, 100_000_000);
const SIZE: FieldKind = Count(0, 1 << 46);

/// The definitions of a drive.
pub(super) const DRIVE: &[FieldSpec] = &[
    optional(
        "NS_SSD_TYPE_0",
        Text,
        "`SSD_TYPE_CONV` is a flash drive, `SSD_TYPE_ZNS` one with `[zones]`; of others no drive is made",
    ),
    lost("NS_CAPACITY_0", &["0"], "the drive has one namespace, of all memory"),
    lost("NR_NAMESPACES", &["1"], "the drive has one namespace, of all memory"),
    unused("NS_SSD_TYPE_1", "it is of a second namespace"),
    unused("NS_CAPACITY_1", "it is of a second namespace"),
    unused("MDTS", "commands are not divided"),
    unused("LBA_BITS", "a sector has 512 B"),
    unused("LBA_SIZE", "a sector has 512 B"),
    optional(
        "CELL_MODE",
        Count(0, 4),
        "`nand.read`, `nand.read_by_page`: which of the times count: LSB; LSB and MSB; and CSB",
    ),
    optional("SSD_PARTITIONS", Count(1, 1024), "`geometry.pages_per_block`, which is rounded up in each of them"),
    taken("NAND_CHANNELS", Count(1, 1024), "`geometry.channels`"),
    taken("LUNS_PER_NAND_CH", Count(1, 1024), "`geometry.dies_per_channel`"),
    lost("PLNS_PER_LUN", &["1"], "a die has one plane, as NVMeVirt writes to one alone"),
    taken("FLASH_PAGE_SIZE", Count(4096, 1 << 24), "`geometry.sense`"),
    taken("ONESHOT_PAGE_SIZE", Count(4096, 1 << 26), "`geometry.program`"),
    optional(
        "BLKS_PER_PLN",
        Count(0, 1 << 24),
        "`geometry.pages_per_block`: the memory over the blocks of all dies; with 0 it is `BLK_SIZE`",
    ),
    optional("BLK_SIZE", SIZE, "`geometry.pages_per_block`"),
    unused("MAX_CH_XFER_SIZE", "data goes on to the host as it comes from a channel"),
    unused("WRITE_UNIT_SIZE", "a write has any number of sectors"),
    taken(
        "NAND_CHANNEL_BANDWIDTH",
        Count(1, 1_000_000),
        "`nand.channel`: in MiB/s, of whole ns for 128 B as in NVMeVirt",
    ),
    taken("PCIE_BANDWIDTH", Count(1, 1_000_000), "`link.rate`, likewise"),
    taken("FW_CH_XFER_LATENCY", TIME, "`nand.channel`: in ns for 4 KiB"),
    taken("NAND_4KB_READ_LATENCY_LSB", TIME, "`nand.read`, `nand.read_by_page`"),
    taken("NAND_4KB_READ_LATENCY_MSB", TIME, "`nand.read`, `nand.read_by_page`"),
    taken("NAND_4KB_READ_LATENCY_CSB", TIME, "`nand.read`, `nand.read_by_page`"),
    taken("NAND_READ_LATENCY_LSB", TIME, LONGER),
    taken("NAND_READ_LATENCY_MSB", TIME, LONGER),
    taken("NAND_READ_LATENCY_CSB", TIME, LONGER),
    taken("NAND_PROG_LATENCY", TIME, "`nand.program`; 1 µs at least"),
    taken("NAND_ERASE_LATENCY", Count(0, 1_000_000_000), "`nand.erase`; 1 µs at least"),
    taken(
        "FW_4KB_READ_LATENCY",
        TIME,
        "`controller.command` as far as writes take as long, and `errors.decode` for the rest, which occupies nothing",
    ),
    taken("FW_READ_LATENCY", TIME, "not in the drive: firmware time of reads of more than 4 KiB a partition"),
    taken("FW_WBUF_LATENCY0", TIME, "`controller.command`: firmware time of a write"),
    taken("FW_WBUF_LATENCY1", TIME, "`controller.page_write`: the same for each 4 KiB"),
    taken("OP_AREA_PERCENT", Real(0.0, 10.0), "`capacity.user`: the memory over whole percent more than 100"),
    optional("GLOBAL_WB_SIZE", SIZE, "`buffer.size`"),
    optional(
        "ZONE_WB_SIZE",
        SIZE,
        "`buffer.size` where there is no `GLOBAL_WB_SIZE`: of each zone in NVMeVirt, of all here",
    ),
    taken("WRITE_EARLY_COMPLETION", Count(0, 1), "`buffer.write_through`, where it is 0"),
    optional("ZONE_SIZE", SIZE, "`zones.size`; a block of each die is that over the dies"),
    optional("DIES_PER_ZONE", Count(1, 1 << 20), "not in the drive: a zone lies on all dies"),
    lost("MAX_ZRWA_ZONES", &["0"], "zones have no random write area"),
    lost("ZRWAFG_SIZE", &["0"], "zones have no random write area"),
    lost("ZRWA_SIZE", &["0"], "zones have no random write area"),
    lost("ZRWA_BUFFER_SIZE", &["0"], "zones have no random write area"),
];

const LONGER: &str = "not in the drive: array read for more than 4 KiB; told where it differs by more than 2 %";
