//! The fields of MQSim's configuration: what each can be, what MQSim takes where it is missing, and what becomes of it.
//!
//! Names are spelled as MQSim reads them, `Page_Metadat_Capacity` among them.

use super::super::simulator::field::FieldKind::{Count, Real, Switch, Word};
use super::super::simulator::field::{Fate, FieldKind, FieldSpec, taken};

const LONGEST: u64 = 1_000_000_000;

const fn unused(name: &'static str, kind: FieldKind, default: &'static str, why: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: Some(default), fate: Fate::Unused, becomes: why }
}

const fn lost(
    name: &'static str,
    kind: FieldKind,
    default: &'static str,
    same: &'static [&'static str],
    follows: &'static str,
) -> FieldSpec {
    FieldSpec { name, kind, default: Some(default), fate: Fate::Lost(same), becomes: follows }
}

/// `Host_Parameter_Set`.
pub(super) const HOST: &[FieldSpec] = &[
    taken(
        "PCIe_Lane_Bandwidth",
        Real(0.001, 1000.0),
        "0.4",
        "`link.rate`: times the lanes, and 128 of 156 B of a packet",
    ),
    taken("PCIe_Lane_Count", Count(1, 64), "4", "`link.rate`"),
    taken("SATA_Processing_Delay", Count(0, 100_000_000), "0", "`link.command` on SATA, in ns"),
    unused("Enable_ResponseTime_Logging", Switch, "false", "each measurement has its latencies"),
    unused("ResponseTime_Logging_Period_Length", Count(0, u64::MAX), "400000", "each measurement has its latencies"),
];

/// `Device_Parameter_Set`.
pub(super) const DEVICE: &[FieldSpec] = &[
    unused("Seed", Count(0, u64::MAX), "123", "`--seed` of the run"),
    lost(
        "Enabled_Preconditioning",
        Switch,
        "true",
        &["false"],
        "a plan says what a drive is in before it is measured: `do = \"fill\"`, `do = \"precondition\"`",
    ),
    taken("Memory_Type", Word(&["FLASH"]), "FLASH", "`kind`"),
    taken("HostInterface_Type", Word(&["NVME", "SATA"]), "NVME", "`link`"),
    taken("IO_Queue_Depth", Count(1, 65_535), "1024", "`controller.queue_depth` on SATA; of NVMe at most"),
    taken("Queue_Fetch_Size", Count(1, 65_535), "512", "`controller.queue_depth` on NVMe"),
    lost(
        "Caching_Mechanism",
        Word(&["SIMPLE", "ADVANCED"]),
        "ADVANCED",
        &["ADVANCED"],
        "the buffer is the same for both",
    ),
    lost(
        "Data_Cache_Sharing_Mode",
        Word(&["SHARED", "EQUAL_PARTITIONING"]),
        "SHARED",
        &["SHARED"],
        "all jobs share the one buffer",
    ),
    taken(
        "Data_Cache_Capacity",
        Count(0, 1 << 40),
        "536870912",
        "`buffer.size`, of at most a page a plane: MQSim sends no more to flash at a time, and writes data to flash when it is \
         first written",
    ),
    taken("Data_Cache_DRAM_Row_Size", Count(1, 1 << 30), "8192", "`controller.page_write`"),
    taken("Data_Cache_DRAM_Data_Rate", Count(1, 1_000_000), "800", "`controller.page_write`"),
    taken("Data_Cache_DRAM_Data_Busrt_Size", Count(1, 4096), "4", "`controller.page_write`"),
    taken("Data_Cache_DRAM_tRCD", Count(0, 1_000_000), "13", "`controller.page_write`"),
    taken("Data_Cache_DRAM_tCL", Count(0, 1_000_000), "13", "`controller.page_write`"),
    taken("Data_Cache_DRAM_tRP", Count(0, 1_000_000), "13", "`controller.page_write`"),
    lost(
        "Address_Mapping",
        Word(&["PAGE_LEVEL", "HYBRID"]),
        "PAGE_LEVEL",
        &["PAGE_LEVEL"],
        "the map is one of pages; of HYBRID MQSim has no more than the name",
    ),
    taken("Ideal_Mapping_Table", Switch, "false", "`true`: no `[map]`"),
    taken("CMT_Capacity", Count(0, 1 << 40), "2097152", "`map.cache`, `map.lookup`"),
    lost(
        "CMT_Sharing_Mode",
        Word(&["SHARED", "EQUAL_PARTITIONING"]),
        "SHARED",
        &["SHARED"],
        "all jobs share the one cache of the map",
    ),
    lost(
        "Plane_Allocation_Scheme",
        Word(&["CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW"]),
        "CWDP",
        &["CWDP", "CDWP"],
        "a page goes to the next channel, then the next die, then the next plane, in the order in which pages are written, \
         where MQSim's logical address decides",
    ),
    lost(
        "Transaction_Scheduling_Policy",
        Word(&["OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER"]),
        "OUT_OF_ORDER",
        &["OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER"],
        "reads of the host go before what a die has not begun (`nand.reads_first`), and flows have no priorities",
    ),
    taken(
        "Overprovisioning_Ratio",
        Real(0.0, 0.99),
        "0.07",
        "`capacity.user`, `capacity.spare`: r of the flash is r / (1 − r) of the capacity",
    ),
    taken(
        "GC_Exec_Threshold",
        Real(0.0, 1.0),
        "0.05",
        "`gc.start`: times the blocks of a plane, 10 or more as in MQSim",
    ),
    taken(
        "GC_Block_Selection_Policy",
        Word(&["GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO"]),
        "RGA",
        "`gc.policy`: `greedy`, `choices` of log2 of the blocks of a plane, `random` (of full blocks), `fifo`",
    ),
    taken("Use_Copyback_for_GC", Switch, "false", "`nand.copy_back`"),
    lost(
        "Preemptible_GC_Enabled",
        Switch,
        "true",
        &["false"],
        "a block is collected a few pages for each that the host writes, and reads go between",
    ),
    unused("GC_Hard_Threshold", Real(0.0, 1.0), "0.005", "it is of preemptible collection"),
    taken("Dynamic_Wearleveling_Enabled", Switch, "true", "`wear.least_worn_first`"),
    taken("Static_Wearleveling_Enabled", Switch, "true", "`wear.spread_max`"),
    taken("Static_Wearleveling_Threshold", Count(1, 1 << 24), "100", "`wear.spread_max`"),
    unused("Preferred_suspend_erase_time_for_read", Count(0, LONGEST), "700000", SUSPENSION),
    unused("Prefered_suspend_erase_time_for_read", Count(0, LONGEST), "700000", SUSPENSION),
    unused("Preferred_suspend_erase_time_for_write", Count(0, LONGEST), "700000", SUSPENSION),
    unused("Preferred_suspend_write_time_for_read", Count(0, LONGEST), "100000", SUSPENSION),
    taken("Flash_Channel_Count", Count(1, 1024), "8", "`geometry.channels`"),
    taken("Flash_Channel_Width", Count(1, 64), "1", "`nand.channel`"),
    taken("Channel_Transfer_Rate", Count(1, 1_000_000), "300", "`nand.channel`: MT/s times the width in bytes"),
    taken("Chip_No_Per_Channel", Count(1, 1024), "4", "`geometry.dies_per_channel`"),
    taken(
        "Flash_Comm_Protocol",
        Word(&["NVDDR2"]),
        "NVDDR2",
        "`nand.channel`; cycles for commands and addresses take no time",
    ),
];

const SUSPENSION: &str = "an operation that is nearly over is not suspended";

/// `Flash_Parameter_Set`.
pub(super) const FLASH: &[FieldSpec] = &[
    taken(
        "Flash_Technology",
        Word(&["SLC", "MLC", "TLC"]),
        "MLC",
        "which of the times count: LSB; LSB and MSB; all three",
    ),
    taken(
        "CMD_Suspension_Support",
        Word(&["NONE", "ERASE", "PROGRAM", "PROGRAM_ERASE"]),
        "ERASE",
        "`[suspend]`, with `limit = 0` for NONE; MQSim itself never suspends (its scheduler returns before it does)",
    ),
    taken("Page_Read_Latency_LSB", READ, "75000", "`nand.read`, `nand.read_by_page`"),
    taken("Page_Read_Latency_CSB", READ, "75000", "`nand.read`, `nand.read_by_page`"),
    taken("Page_Read_Latency_MSB", READ, "75000", "`nand.read`, `nand.read_by_page`"),
    taken("Page_Program_Latency_LSB", PROGRAM, "750000", "`nand.program`, `nand.program_by_page`"),
    taken("Page_Program_Latency_CSB", PROGRAM, "750000", "`nand.program`, `nand.program_by_page`"),
    taken("Page_Program_Latency_MSB", PROGRAM, "750000", "`nand.program`, `nand.program_by_page`"),
    taken("Block_Erase_Latency", Count(1_000, LONGEST), "3800000", "`nand.erase`"),
    taken("Block_PE_Cycles_Limit", Count(1, 1 << 24), "10000", "`wear.rated_erases`; MQSim never counts up to it"),
    taken("Suspend_Erase_Time", Count(0, 100_000_000), "700000", "`suspend.latency`"),
    taken("Suspend_Program_Time", Count(0, 100_000_000), "100000", "`suspend.latency`"),
    taken("Die_No_Per_Chip", Count(1, 1024), "2", "`geometry.dies_per_channel`: times the chips"),
    taken("Plane_No_Per_Die", Count(1, 1024), "2", "`geometry.planes`, `geometry.multi_plane`"),
    taken("Block_No_Per_Plane", Count(1, 1 << 24), "2048", "`capacity`"),
    taken("Page_No_Per_Block", Count(1, 16_384), "256", "`geometry.pages_per_block`"),
    taken("Page_Capacity", Count(512, 65_536), "8192", "`geometry.page`"),
    unused(
        "Page_Metadat_Capacity",
        Count(0, 1 << 20),
        "1872",
        "what is beside the data is not transferred, in MQSim neither",
    ),
];

/// Times in nanoseconds within which a drive's file can have them.
const READ: FieldKind = Count(500, 10_000_000);
const PROGRAM: FieldKind = Count(1_000, 100_000_000);
