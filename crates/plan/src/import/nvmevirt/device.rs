//! What the definitions of a header are as a drive.

use block::Bytes;
use toml::Value;

use super::super::Notice;
use super::super::simulator::drive_text::DriveTable;
use super::super::simulator::field::{FieldValue, FieldValues};
use super::capacity::{MEMORY, PAGE, START, Sizes, given_or, sizes};
use super::kind::DriveKind;

/// The unit of the channel model, in bytes (`channel_model.h`).
const UNIT: u64 = 128;

/// The tables of the drive's file, and what it is in a few words; none if it cannot be.
pub(super) fn drive(
    kind: DriveKind,
    values: &FieldValues,
    memory: Option<Bytes>,
    notices: &mut Vec<Notice>,
) -> Option<(String, Vec<DriveTable>)> {
    let sizes = sizes(kind, values, memory.unwrap_or(MEMORY).get(), notices)?;
    let cells = cells(values);
    tell_longer_reads(values, &cells, notices);
    let about = format!("{} channels of {} dies", values.count("NAND_CHANNELS"), values.count("LUNS_PER_NAND_CH"));
    let mut tables: Vec<DriveTable> = zones(&sizes, values).into_iter().collect();
    tables.extend([capacity(&sizes, values, memory), geometry(&sizes, values), nand(values, &cells)]);
    tables.push(controller(values, notices));
    if kind == DriveKind::Conventional {
        let lines = "NVMeVirt's lines, of which it empties the one with the fewest valid pages";
        let start = "NVMeVirt's gc_thres_lines";
        tables.push(DriveTable::new("gc").guess("policy", "superblocks", lines).guess("start", START as i64, start));
    }
    tables.extend([buffer(kind, &sizes, values, notices), link(values)]);
    tables.extend(decode(values));
    if kind == DriveKind::Zoned {
        tables.push(DriveTable::new("power").guess("capacitor", true, "what NVMeVirt has written is not lost"));
    }
    tables.push(identity());
    Some((about, tables))
}

/// The page types that the drive has, by the ends of the names of their times.
fn cells(values: &FieldValues) -> Vec<&'static str> {
    const ENDS: [&str; 3] = ["LSB", "MSB", "CSB"];
    let count = given_or(values, "CELL_MODE", 1).clamp(1, 3) as usize;
    ENDS[..count].to_vec()
}

/// Of types that have a time: it is 0 where it is not used.
fn times<'v>(values: &'v FieldValues, stem: &str, cells: &[&str]) -> Vec<(&'v FieldValue, u64)> {
    let names = cells.iter().map(|end| format!("{stem}_{end}"));
    names.map(|name| (values.of(&name), values.count(&name))).collect()
}

fn mean(times: &[(&FieldValue, u64)]) -> u64 {
    times.iter().map(|(_, time)| time).sum::<u64>() / times.len().max(1) as u64
}

/// Tells where reads of more than 4 KiB take longer in NVMeVirt.
fn tell_longer_reads(values: &FieldValues, cells: &[&str], notices: &mut Vec<Notice>) {
    let [short, long] = ["NAND_4KB_READ_LATENCY", "NAND_READ_LATENCY"].map(|stem| mean(&times(values, stem, cells)));
    if short.abs_diff(long) * 50 > short {
        notices.push(values.of("NAND_READ_LATENCY_LSB").not_honoured(format!(
            "an array read takes {short} ns, as one of 4 KiB does in NVMeVirt; one for more takes {long} ns there"
        )));
    }
    let [short, long] = ["FW_4KB_READ_LATENCY", "FW_READ_LATENCY"].map(|name| values.count(name));
    if short.abs_diff(long) * 50 > short {
        notices.push(values.of("FW_READ_LATENCY").not_honoured(format!(
            "the firmware takes {short} ns for any read; for one of more than 4 KiB a partition {long} ns in NVMeVirt"
        )));
    }
}

fn zones(sizes: &Sizes, values: &FieldValues) -> Option<DriveTable> {
    let (size, capacity, _) = sizes.zones?;
    let [zone, program] = ["ZONE_SIZE", "ONESHOT_PAGE_SIZE"].map(|name| values.of(name));
    let how = "whole flash pages of a block of each die";
    Some(DriveTable::new("zones").from("size", format!("{size} B"), &[zone], "").from(
        "zone_capacity",
        format!("{capacity} B"),
        &[zone, program],
        how,
    ))
}

fn capacity(sizes: &Sizes, values: &FieldValues, memory: Option<Bytes>) -> DriveTable {
    let spare = format!("{}.{:04}%", sizes.spare / 10_000, sizes.spare % 10_000);
    let user = format!("{} B", sizes.user);
    let of = match memory {
        Some(memory) => format!("of the memory that --size gave, {memory}"),
        None => format!("of {MEMORY} of memory, a guess: NVMeVirt's own example; --size gives another (memmap_size)"),
    };
    let table = DriveTable::new("capacity");
    if sizes.zones.is_some() {
        let table = table.from("user", user, &[values.of("ZONE_SIZE")], &format!("what the zones hold, {of}"));
        return table.guess("spare", spare, "no block of NVMeVirt's goes bad");
    }
    let block = if given_or(values, "BLKS_PER_PLN", 0) > 0 { "BLKS_PER_PLN" } else { "BLK_SIZE" };
    table.from("user", user, &[values.of("OP_AREA_PERCENT")], &of).from(
        "spare",
        spare,
        &[values.of("OP_AREA_PERCENT"), values.of(block)],
        "the flash beyond that",
    )
}

fn geometry(sizes: &Sizes, values: &FieldValues) -> DriveTable {
    let [channels, dies, sense, program] =
        ["NAND_CHANNELS", "LUNS_PER_NAND_CH", "FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE"].map(|name| values.of(name));
    let block = match (sizes.zones, given_or(values, "BLKS_PER_PLN", 0)) {
        (Some(_), _) => "ZONE_SIZE",
        (None, 0) => "BLK_SIZE",
        _ => "BLKS_PER_PLN",
    };
    DriveTable::new("geometry")
        .from("channels", values.count("NAND_CHANNELS") as i64, &[channels], "")
        .from("dies_per_channel", values.count("LUNS_PER_NAND_CH") as i64, &[dies], "")
        .guess("planes", 1, "NVMeVirt writes to one plane alone")
        .guess("multi_plane", false, "a die has one plane")
        .guess("page", format!("{PAGE} B"), "an entry of NVMeVirt's map")
        .from("program", format!("{} B", sizes.program), &[program], "")
        .from("sense", format!("{} B", sizes.sense), &[sense], "")
        .from("pages_per_block", sizes.block_pages as i64, &[values.of(block)], "in pages of 4 KiB")
}

/// Bytes a second of the channel model: whole ns for each unit, and the firmware's for 4 KiB.
fn rate(mib: u64, firmware: u64) -> u64 {
    let nanos = UNIT * 1_000_000_000 / (mib << 20) + firmware * UNIT / 4096;
    (UNIT * 1_000_000_000).checked_div(nanos).unwrap_or(1_000_000_000_000)
}

fn nand(values: &FieldValues, cells: &[&str]) -> DriveTable {
    let reads = times(values, "NAND_4KB_READ_LATENCY", cells);
    let given: Vec<&FieldValue> = reads.iter().map(|(value, _)| *value).collect();
    let mean = mean(&reads).max(500);
    let mut table = DriveTable::new("nand").from(
        "read",
        format!("{mean} ns"),
        &given,
        if cells.len() > 1 { "their mean" } else { "" },
    );
    if reads.iter().any(|(_, time)| *time != reads[0].1) {
        let shares = reads.iter().map(|(_, time)| format!("{:.4}%", *time as f64 * 100.0 / mean as f64));
        table = table.from("read_by_page", shares.map(Value::from).collect::<Vec<_>>(), &given, "shares of the mean");
    }
    let time = |name| format!("{} ns", values.count(name).max(1_000));
    let how = |name| if values.count(name) < 1_000 { "no less can be simulated" } else { "" };
    let [program, erase] = ["NAND_PROG_LATENCY", "NAND_ERASE_LATENCY"].map(|name| values.of(name));
    let channel = ["NAND_CHANNEL_BANDWIDTH", "FW_CH_XFER_LATENCY"].map(|name| values.of(name));
    let bandwidth = rate(values.count("NAND_CHANNEL_BANDWIDTH"), values.count("FW_CH_XFER_LATENCY"));
    table
        .from("program", time("NAND_PROG_LATENCY"), &[program], how("NAND_PROG_LATENCY"))
        .from("erase", time("NAND_ERASE_LATENCY"), &[erase], how("NAND_ERASE_LATENCY"))
        .from("channel", format!("{bandwidth} B/s"), &channel, "whole ns for 128 B")
        .guess("copy_back", false, "pages that NVMeVirt moves cross the channel")
        .guess("keeps_page", false, "NVMeVirt reads a page anew for each request")
        .guess("reads_first", false, "NVMeVirt's dies do what they are given in order")
}

fn controller(values: &FieldValues, notices: &mut Vec<Notice>) -> DriveTable {
    let [read, write] = ["FW_4KB_READ_LATENCY", "FW_WBUF_LATENCY0"].map(|name| values.of(name));
    let [of_read, of_write] = ["FW_4KB_READ_LATENCY", "FW_WBUF_LATENCY0"].map(|name| values.count(name));
    if of_write > of_read {
        notices.push(write.not_honoured(format!(
            "the firmware takes {of_read} ns for a write as for a read, {} ns less than in NVMeVirt",
            of_write - of_read
        )));
    }
    let common = format!("{} ns", of_read.min(of_write));
    let page = format!("{} ns", values.count("FW_WBUF_LATENCY1"));
    DriveTable::new("controller")
        .guess("queue_depth", 65_536, "72 queues of 1,024 entries in NVMeVirt")
        .guess("cores", 256, "NVMeVirt's firmware takes time and makes no command wait")
        .from("command", common, &[read, write], "the less of both")
        .guess("retire", "0 ns", "NVMeVirt has no such time")
        .from("page_write", page, &[values.of("FW_WBUF_LATENCY1")], "")
}

/// The firmware's time of a read beyond that of a write, which occupies nothing.
fn decode(values: &FieldValues) -> Option<DriveTable> {
    let [read, write] = ["FW_4KB_READ_LATENCY", "FW_WBUF_LATENCY0"].map(|name| values.count(name));
    let rest = read.checked_sub(write).filter(|rest| *rest > 0)?;
    let given = ["FW_4KB_READ_LATENCY", "FW_WBUF_LATENCY0"].map(|name| values.of(name));
    let none = "NVMeVirt's flash has no errors; as few as can be";
    let how = "what the firmware takes for a read beyond a write; it stands here because it occupies nothing";
    Some(
        DriveTable::new("errors")
            .from("decode", format!("{rest} ns"), &given, how)
            .guess("fresh", "0.0001%", none)
            .guess("correctable", "1%", none)
            .guess("steps", 1, none)
            .guess("gain", "200%", none)
            .guess("soft", "0 ns", none)
            .guess("soft_gain", "200%", none),
    )
}

fn buffer(kind: DriveKind, sizes: &Sizes, values: &FieldValues, notices: &mut Vec<Notice>) -> DriveTable {
    let names = ["GLOBAL_WB_SIZE", "ZONE_WB_SIZE"];
    let name = names.into_iter().find(|name| given_or(values, name, 0) > 0).unwrap_or(names[0]);
    let asked = given_or(values, name, 0) / PAGE * PAGE;
    // What the model needs: its partial page, and a flash page of each zone that may be active.
    let active = sizes.zones.map_or(1, |(_, _, zones)| zones + 1);
    let least = active * sizes.program + 2 * PAGE;
    let how =
        if asked < least { "and as much as the model needs, a flash page of each zone that may be active" } else { "" };
    let given: Vec<&FieldValue> = Some(values.of(name)).filter(|value| value.is_given).into_iter().collect();
    let size = format!("{} B", asked.max(least));
    let table = match given.is_empty() {
        true => DriveTable::new("buffer").guess("size", size, "as little as the model needs"),
        false => DriveTable::new("buffer").from("size", size, &given, how),
    };
    let table = table.guess("partial", format!("{PAGE} B"), "NVMeVirt joins no parts of pages").guess(
        "serves_reads",
        false,
        "NVMeVirt reads from flash",
    );
    let early = values.of("WRITE_EARLY_COMPLETION");
    let waits = values.count("WRITE_EARLY_COMPLETION") == 0;
    if kind == DriveKind::Zoned {
        if waits {
            let follows = "a write to a zone is done when it is in the buffer; in NVMeVirt when it is programmed";
            notices.push(early.not_honoured(follows));
        }
        return table;
    }
    table.from("write_through", waits, &[early], "")
}

fn link(values: &FieldValues) -> DriveTable {
    let bandwidth = rate(values.count("PCIE_BANDWIDTH"), 0);
    DriveTable::new("link")
        .from("rate", format!("{bandwidth} B/s"), &[values.of("PCIE_BANDWIDTH")], "whole ns for 128 B")
        .guess("frame", format!("{UNIT} B"), "the unit of the channel model of NVMeVirt")
        .guess("frame_overhead", "0 ns", "in the rate")
        .guess("command", "0 ns", "in the firmware's times")
        .guess("duplex", false, "NVMeVirt has one rate for both ways")
}

fn identity() -> DriveTable {
    DriveTable::new("smart")
        .guess("model", "NVMeVirt", "what it says of itself")
        .guess("firmware", "1", "what it says of itself")
        .guess("attributes", "nvme", "what drives of its kind have")
}
