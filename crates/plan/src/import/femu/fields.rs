//! The options of FEMU's device: what each can be, what FEMU takes where it is missing, and what becomes of it.

use super::super::simulator::field::FieldKind::{Count, Text};
use super::super::simulator::field::{Fate, FieldSpec, optional, taken, unused};

const LONGEST: u64 = 1_000_000_000;

const fn lost(
    name: &'static str,
    default: &'static str,
    same: &'static [&'static str],
    follows: &'static str,
) -> FieldSpec {
    FieldSpec { name, kind: Text, default: Some(default), fate: Fate::Lost(same), becomes: follows }
}

/// Of every mode.
pub(super) const COMMON: &[FieldSpec] = &[
    taken("devsz_mb", Count(1, 1 << 26), "1024", "`capacity.user`, in MiB"),
    taken(
        "femu_mode",
        Count(0, 5),
        "2",
        "what the device is: 1 a flash drive, 3 one in zones, 4 one that computes, of which the flash is taken; of others no drive is made",
    ),
    lost("namespaces", "1", &["1"], "the drive has one namespace, of all of `devsz_mb`"),
    lost("namespace_sizes", "", &[], "the drive has one namespace, of all of `devsz_mb`"),
    lost("namespace_modes", "", &[], "the drive has one namespace, of `femu_mode`"),
    taken("queues", Count(1, 2047), "8", "`controller.queue_depth`: times `entries`"),
    taken(
        "entries",
        Count(1, 65_535),
        "2047",
        "`controller.queue_depth`: one more for each of the queues, 65,536 at most",
    ),
    taken("pcie_bandwidth_mbps", Count(0, 1_000_000), "0", "`link.rate`, in MB/s; with 0 next to no time"),
    taken("pcie_prop_delay_ns", Count(0, 100_000_000), "0", "`link.command`, once for each command"),
    taken("fw_cpu_ns", Count(0, 100_000_000), "0", "`controller.command`, of one core"),
    lost("lba_index", "0", &["0"], "a sector has 512 B"),
    lost("lbads", "9", &["9"], "a sector has 512 B"),
    lost("err_read_unc_ppm", "0", &["0"], "no error is injected"),
    lost("err_write_fail_ppm", "0", &["0"], "no error is injected"),
    lost("subsys", "", &[], "writes have no placement (FDP)"),
    unused("mdts", "commands are not divided"),
    unused("multipoller_enabled", POLLING),
    unused("poller_ratio", POLLING),
    unused("hiops_inline", POLLING),
    unused("serial", NAMING),
    unused("id", NAMING),
    unused("drive", NAMING),
    unused("bus", NAMING),
    unused("addr", NAMING),
    unused("vid", NAMING),
    unused("did", NAMING),
    unused("nlbaf", IDENTIFYING),
    unused("oacs", IDENTIFYING),
    unused("oncs", IDENTIFYING),
    unused("meta", IDENTIFYING),
    unused("ms", IDENTIFYING),
    unused("cmbsz", "queues are in the host's memory"),
    unused("fdm_size", COMPUTING),
    unused("nr_cu", COMPUTING),
    unused("nr_thread", COMPUTING),
    unused("time_slice", COMPUTING),
    unused("context_switch_time", COMPUTING),
    unused("csf_runtime_scale", COMPUTING),
    unused("debug_ftl", "it prints"),
    unused("nand_bad_blocks", "no block is bad from the beginning"),
];

const COMPUTING: &str = "what a drive computes is not simulated";
const POLLING: &str = "the time that FEMU's threads take is the host's";
const NAMING: &str = "a name or a place in the virtual machine";
const IDENTIFYING: &str = "what the controller says of itself";

/// Of a flash drive with its translation layer (`femu_mode=1`).
pub(super) const BLACK_BOX: &[FieldSpec] = &[
    taken("secsz", Count(512, 4096), "512", "`geometry.page`: times `secs_per_pg`"),
    taken("secs_per_pg", Count(1, 128), "8", "`geometry.page`"),
    taken("pgs_per_blk", Count(1, 16_384), "256", "`geometry.pages_per_block`"),
    taken("blks_per_pl", Count(1, 1 << 24), "256", "`capacity.spare`: the flash beyond `devsz_mb`"),
    taken(
        "pls_per_lun",
        Count(1, 256),
        "1",
        "`capacity.spare`: times the blocks; a die has one plane, as FEMU lets it do one thing at a time",
    ),
    taken("luns_per_ch", Count(1, 1024), "8", "`geometry.dies_per_channel`"),
    taken("nchs", Count(1, 1024), "8", "`geometry.channels`"),
    taken("pg_rd_lat", Count(0, 10_000_000), "40000", "`nand.read`, in ns; 500 ns at least"),
    taken("pg_wr_lat", Count(0, 100_000_000), "200000", "`nand.program`, in ns; 1 µs at least"),
    taken("blk_er_lat", Count(0, LONGEST), "2000000", "`nand.erase`, in ns; 1 µs at least"),
    lost("ch_xfer_lat", "0", &["0"], "FEMU reads it and takes no time on a channel; neither does the drive"),
    taken(
        "gc_thres_pcent",
        Count(0, 100),
        "75",
        "`gc.start`: what is left of a hundred, of the blocks of a die; fewer where FEMU finds no block with an eighth of stale pages",
    ),
    taken("gc_thres_pcent_high", Count(0, 100), "95", "`gc.start`, at least: below it FEMU empties any block"),
    taken(
        "gc_policy",
        Text,
        "greedy",
        "`gc.policy`: `superblocks`; `random` and `cost-benefit` likewise, of single blocks",
    ),
    lost("gc_strategy", "0", &["0"], "the superblock with the fewest valid pages is emptied"),
    optional("op_pcent", Count(0, 10_000), "`capacity.user`, in place of `devsz_mb`: all flash less that share of it"),
    lost("read_cache_mb", "0", &["0"], "reads fill no cache"),
    lost("cache_evict", "", &[], "reads fill no cache"),
    lost("mapping", "page", &["page"], "the map is one of pages, all of it in memory"),
    lost("mapping_cache_mb", "0", &["0"], "the map is one of pages, all of it in memory"),
    lost("nand_cell_type", "0", &["0"], "all pages take the times of `pg_rd_lat` and `pg_wr_lat`"),
    lost("cell_pages", "0", &["0"], "all pages take the times of `pg_rd_lat` and `pg_wr_lat`"),
    lost("pgtype_lat", "0", &["0"], "all pages take the times of `pg_rd_lat` and `pg_wr_lat`"),
    lost("ecc_step_ns", "0", &["0"], "no read is corrected"),
    lost("cmd_addr_lat", "0", &["0"], "commands take no time on a channel"),
    lost("pg_xfer_lat", "0", &["0"], "pages take next to no time on a channel"),
    lost("status_lat", "0", &["0"], "commands take no time on a channel"),
    lost("tplpbsy", "0", &["0"], "a die has one plane"),
    lost("tplrbsy", "0", &["0"], "a die has one plane"),
    lost("tplebsy", "0", &["0"], "a die has one plane"),
    lost("trcbsy", "0", &["0"], "a page is read at a time"),
    lost("trim_lat_ns", "0", &["0"], "a trim takes `controller.page_trim`"),
    lost("fdp_trim_erase_all", "0", &["0"], "writes have no placement (FDP)"),
];

/// Of a drive in zones (`femu_mode=3`).
pub(super) const ZONED: &[FieldSpec] = &[
    taken("zns_num_ch", Count(1, 255), "2", "`geometry.channels`"),
    taken("zns_num_lun", Count(1, 255), "4", "`geometry.dies_per_channel`"),
    taken("zns_num_plane", Count(1, 255), "2", "`geometry.planes`, which program together; `zones.size`"),
    taken(
        "zns_num_blk",
        Count(1, 255),
        "32",
        "`zones.size`: a block of each plane, of `devsz_mb` over the dies and these",
    ),
    taken(
        "zns_flash_type",
        Count(1, 5),
        "4",
        "`geometry.program`: so many pages of 16 KiB; `nand`: FEMU's times of 1 (SLC), 3 (TLC) and 4 (QLC)",
    ),
    optional("zns_pg_rd_lat", Count(500, 10_000_000), "`nand.read`, in ns, in place of FEMU's time"),
    optional("zns_pg_wr_lat", Count(1_000, 100_000_000), "`nand.program`, in ns, likewise"),
    optional("zns_blk_er_lat", Count(1_000, LONGEST), "`nand.erase`, in ns, likewise"),
    optional(
        "zns_read",
        Count(500, 10_000_000),
        "`nand.read`, in ns, of a FEMU of before 2024, whose zones have 128 MiB",
    ),
    optional("zns_write", Count(1_000, 100_000_000), "`nand.program`, in ns, likewise"),
    taken("zns_max_active", Count(0, 1 << 24), "0", "`zones.max_active`; 0 is no limit"),
    taken("zns_max_open", Count(0, 1 << 24), "0", "`zones.max_open`; 0 is no limit"),
    taken("zns_zone_cap", Count(0, 1 << 48), "0", "`zones.zone_capacity`; 0 is all of the zone"),
    lost("zns_num_conv_zones", "0", &["0"], "all zones are written in order"),
    lost("zns_chnls_per_zone", "0", &["0"], "a zone has a block of each plane of all channels"),
    lost("zns_zrwa_size", "0", &["0"], "zones have no random write area"),
    lost("zns_zrwafg_size", "0", &["0"], "zones have no random write area"),
    lost("zns_zrwa_num", "0", &["0"], "zones have no random write area"),
    lost("zns_zd_ext_size", "0", &["0"], "zones have no descriptor extension"),
    unused("zns_zasl_bs", IDENTIFYING),
    unused("zns_cross_zone_read", "a read may cross zones"),
    unused("flash_type", "FEMU's drive in zones goes by `zns_flash_type`"),
    unused("cell_type", "FEMU's drive in zones goes by `zns_flash_type`"),
];
