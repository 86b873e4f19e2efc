//! What a flash drive of FEMU's (`femu_mode=1`) is as a drive.

use super::super::Notice;
use super::super::simulator::drive_text::DriveTable;
use super::super::simulator::field::FieldValues;

/// Blocks of a die that writing and collection keep open, beside `gc.start`.
const OPEN_BLOCKS: u64 = 3;
/// What `gc.start` can be.
const START_MIN: u64 = 2;
const START_MAX: u64 = 1024;
/// Stale pages that FEMU wants of a superblock before it empties it ahead of need, as a share of its own: an eighth
/// (`select_victim_line`). Under uniform writes the least filled has so many where a fifteenth of what is valid is stale in all:
/// (1 + s) / 2s is 8.
const STALE_SHARE: u64 = 15;
/// So much memory that no write waits for it.
const BUFFER: u64 = 64 << 20;

struct Sizes {
    dies: u64,
    /// Of a die.
    blocks: u64,
    page: u64,
    /// In bytes.
    user: u64,
    /// Blocks of a die that the host's data takes.
    of_user: u64,
}

/// The tables of the drive's file, and what it is in a few words; none if it cannot be.
pub(super) fn drive(
    common: &FieldValues,
    values: &FieldValues,
    notices: &mut Vec<Notice>,
) -> Option<(String, Vec<DriveTable>)> {
    let count = |name| values.count(name);
    let sizes = sizes(common, values, notices)?;
    let about = format!("{} channels of {} dies of {} blocks", count("nchs"), count("luns_per_ch"), sizes.blocks);
    let tables = vec![
        capacity(&sizes, common, values, notices),
        geometry(&sizes, values),
        nand(values),
        controller(common),
        collection(&sizes, values, notices),
        buffer(&sizes),
        link(common),
        identity(),
    ];
    Some((about, tables))
}

fn sizes(common: &FieldValues, values: &FieldValues, notices: &mut Vec<Notice>) -> Option<Sizes> {
    let count = |name| values.count(name);
    let dies = count("nchs") * count("luns_per_ch");
    let blocks = count("blks_per_pl") * count("pls_per_lun");
    let page = count("secsz") * count("secs_per_pg");
    let pages = u128::from(dies) * u128::from(blocks) * u128::from(count("pgs_per_blk"));
    let flash = pages * u128::from(page);
    let (given, user) = match values.of("op_pcent") {
        share if share.is_given && values.count("op_pcent") > 0 => {
            (share, flash * 100 / u128::from(100 + values.count("op_pcent")))
        }
        _ => (common.of("devsz_mb"), u128::from(common.count("devsz_mb")) << 20),
    };
    let user_pages = user / u128::from(page);
    if user > flash {
        notices.push(given.refused(format!(
            "the flash of this geometry has {} MiB ({dies} dies of {blocks} blocks of {} pages of {page} B), and FEMU writes past its end; \
             if this FEMU has another geometry in its source, add it: `blks_per_pl=…`",
            flash >> 20,
            count("pgs_per_blk"),
        )));
        return None;
    }
    let of_user = user_pages.div_ceil(u128::from(dies)).div_ceil(u128::from(count("pgs_per_blk")));
    let [user, of_user] = [user_pages * u128::from(page), of_user].map(|size| u64::try_from(size).unwrap_or(u64::MAX));
    Some(Sizes { dies, blocks, page, user, of_user })
}

fn capacity(sizes: &Sizes, common: &FieldValues, values: &FieldValues, notices: &mut Vec<Notice>) -> DriveTable {
    let layout = ["nchs", "luns_per_ch", "pls_per_lun", "blks_per_pl", "pgs_per_blk"].map(|name| values.of(name));
    let size = match values.of("op_pcent") {
        share if share.is_given => share,
        _ => common.of("devsz_mb"),
    };
    let blocks = sizes.blocks.max(sizes.of_user.saturating_add(OPEN_BLOCKS + START_MIN));
    if blocks > sizes.blocks {
        notices.push(size.not_honoured(format!(
            "a die has {} blocks more than in FEMU, which the model needs to write at all; FEMU stops once all lines are in use",
            blocks - sizes.blocks
        )));
    }
    let block = u128::from(sizes.page) * u128::from(values.count("pgs_per_blk"));
    let raw = block * u128::from(blocks) * u128::from(sizes.dies);
    // Rounded down, so that a die has as many blocks as in FEMU and no more.
    let millionths = (raw * 1_000_000 / u128::from(sizes.user.max(1))).saturating_sub(1_000_000);
    let spare = format!("{}.{:04}%", millionths / 10_000, millionths % 10_000);
    DriveTable::new("capacity").from("user", format!("{} B", sizes.user), &[size], "").from(
        "spare",
        spare,
        &layout,
        "the flash beyond that",
    )
}

fn geometry(sizes: &Sizes, values: &FieldValues) -> DriveTable {
    let count = |name| values.count(name) as i64;
    let [channels, dies, planes, pages] =
        ["nchs", "luns_per_ch", "pls_per_lun", "pgs_per_blk"].map(|name| values.of(name));
    let page = ["secsz", "secs_per_pg"].map(|name| values.of(name));
    DriveTable::new("geometry")
        .from("channels", count("nchs"), &[channels], "")
        .from("dies_per_channel", count("luns_per_ch"), &[dies], "")
        .from("planes", 1, &[planes], "FEMU lets a die do one thing at a time")
        .guess("multi_plane", false, "a die has one plane")
        .from("page", format!("{} B", sizes.page), &page, "")
        .from("pages_per_block", count("pgs_per_blk"), &[pages], "")
}

fn nand(values: &FieldValues) -> DriveTable {
    let time = |name, least: u64| format!("{} ns", values.count(name).max(least));
    let how = |name, least: u64| match values.count(name) < least {
        true => "no less can be simulated",
        false => "",
    };
    let [read, program, erase] = ["pg_rd_lat", "pg_wr_lat", "blk_er_lat"].map(|name| values.of(name));
    DriveTable::new("nand")
        .from("read", time("pg_rd_lat", 500), &[read], how("pg_rd_lat", 500))
        .from("program", time("pg_wr_lat", 1_000), &[program], how("pg_wr_lat", 1_000))
        .from("erase", time("blk_er_lat", 1_000), &[erase], how("blk_er_lat", 1_000))
        .from("channel", "1000 GB/s", &[values.of("ch_xfer_lat")], "FEMU's channels take no time")
        .guess("copy_back", true, "pages that FEMU moves take no time on a channel")
        .guess("keeps_page", false, "FEMU reads a page anew each time")
        .guess("reads_first", false, "FEMU's dies do what they are given in order")
}

/// What the controller takes, of both kinds of drives.
pub(super) fn controller(common: &FieldValues) -> DriveTable {
    let depth = common.count("queues").saturating_mul(common.count("entries") + 1).min(65_536);
    let queues = ["queues", "entries"].map(|name| common.of(name));
    let time = format!("{} ns", common.count("fw_cpu_ns"));
    DriveTable::new("controller")
        .from("queue_depth", depth as i64, &queues, "one more for each of the queues, 65,536 at most")
        .from("command", time, &[common.of("fw_cpu_ns")], "one command at a time")
        .guess("retire", "0 ns", "FEMU has no such time")
}

fn collection(sizes: &Sizes, values: &FieldValues, notices: &mut Vec<Notice>) -> DriveTable {
    let [low, high] = ["gc_thres_pcent", "gc_thres_pcent_high"].map(|name| values.of(name));
    let [asked, least] =
        ["gc_thres_pcent", "gc_thres_pcent_high"].map(|name| sizes.blocks * (100 - values.count(name)) / 100);
    let room = sizes.blocks.saturating_sub(sizes.of_user + OPEN_BLOCKS);
    let ahead = asked.min(room.saturating_sub(sizes.of_user / STALE_SHARE));
    let start = ahead.max(least.min(room)).clamp(START_MIN, START_MAX);
    if start < least {
        notices.push(high.not_honoured(format!(
            "collection begins at {start} free blocks of a die, the most that can be; FEMU empties any block below {least}"
        )));
    }
    let blocks = values.of("blks_per_pl");
    let how =
        "no more than leave FEMU superblocks with an eighth of stale pages, and no fewer than the higher threshold";
    let policy = values.of("gc_policy");
    let (name, of) = match &*policy.text {
        "greedy" => ("superblocks", "FEMU's lines, of which it empties the one with the fewest valid pages"),
        "random" => ("random", "of single blocks, where FEMU empties whole lines"),
        "cost-benefit" => ("cost-benefit", "of single blocks, where FEMU empties whole lines"),
        _ => {
            let follows = "FEMU takes `greedy` for what it does not know: the superblock with the fewest valid pages";
            notices.push(policy.not_honoured(follows));
            ("superblocks", "greedy")
        }
    };
    DriveTable::new("gc").from("policy", name, &[policy], of).from("start", start as i64, &[low, high, blocks], how)
}

fn buffer(sizes: &Sizes) -> DriveTable {
    DriveTable::new("buffer")
        .guess("size", format!("{BUFFER} B"), "FEMU has none; no write waits for it")
        .guess("partial", format!("{} B", sizes.page), "FEMU joins no parts of pages")
        .guess("serves_reads", false, "FEMU reads from flash")
        .guess("write_through", true, "a write of FEMU's is done when it is programmed")
}

/// The link, of both kinds of drives.
pub(super) fn link(common: &FieldValues) -> DriveTable {
    let (rate, how) = match common.count("pcie_bandwidth_mbps") {
        0 => ("1000 GB/s".to_owned(), "0 takes no time"),
        rate => (format!("{rate} MB/s"), ""),
    };
    let delay = format!("{} ns", common.count("pcie_prop_delay_ns"));
    DriveTable::new("link")
        .from("rate", rate, &[common.of("pcie_bandwidth_mbps")], how)
        .guess("frame", "4096 B", "FEMU has no frames")
        .guess("frame_overhead", "0 ns", "FEMU has no frames")
        .from("command", delay, &[common.of("pcie_prop_delay_ns")], "")
        .guess("duplex", true, "FEMU's link sends both ways")
}

pub(super) fn identity() -> DriveTable {
    DriveTable::new("smart")
        .guess("model", "FEMU", "FEMU's drives have no names")
        .guess("firmware", "1", "FEMU's drives have no names")
        .guess("attributes", "nvme", "what drives of its kind have")
}
