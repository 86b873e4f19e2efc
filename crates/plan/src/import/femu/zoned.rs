//! What a drive of FEMU's in zones (`femu_mode=3`) is as a drive.

use super::super::Notice;
use super::super::simulator::drive_text::DriveTable;
use super::super::simulator::field::FieldValues;
use super::black_box::{controller, identity, link};

/// A page of flash and one of the map (`zns.h`).
const FLASH_PAGE: u64 = 16 << 10;
const PAGE: u64 = 4 << 10;
/// Zones of a FEMU that has `zns_read` (`zns.c` of before 2024), whose pages have 4 KiB.
const OLD_ZONE: u64 = 128 << 20;
/// Write caches of FEMU's (`zns.h`).
const CACHES: u64 = 3;
/// Times of array reads, programs and erases in ns, by bits of a cell (`zns.h`, `nand.h`).
const TIMES: [(u64, [u64; 3]); 3] =
    [(1, [4_000, 75_000, 2_000_000]), (3, [32_000, 937_500, 3_000_000]), (4, [85_000, 12_196_000, 3_000_000])];

/// Options that go before those.
const OWN_TIMES: [&str; 3] = ["zns_pg_rd_lat", "zns_pg_wr_lat", "zns_blk_er_lat"];

struct Layout {
    planes: u64,
    /// In bytes; a flash page is what is programmed at once.
    program: u64,
    sense: u64,
    block: u64,
    /// Of a zone, in bytes.
    size: u64,
    capacity: u64,
    zones: u64,
    dies: u64,
    times: [u64; 3],
    is_old: bool,
}

/// The tables of the drive's file, and what it is in a few words; none if it cannot be.
pub(super) fn drive(
    common: &FieldValues,
    values: &FieldValues,
    notices: &mut Vec<Notice>,
) -> Option<(String, Vec<DriveTable>)> {
    let layout = layout(common, values, notices)?;
    let about = format!(
        "{} zones of {} MiB on {} channels of {} dies",
        layout.zones,
        layout.size >> 20,
        values.count("zns_num_ch"),
        values.count("zns_num_lun")
    );
    let tables = vec![
        zones(&layout, values),
        capacity(&layout, common),
        geometry(&layout, values),
        nand(&layout, values),
        write_time(&layout, controller(common)),
        buffer(&layout, values),
        link(common),
        DriveTable::new("power").guess("capacitor", true, "what FEMU has written is not lost"),
        identity(),
    ];
    Some((about, tables))
}

fn layout(common: &FieldValues, values: &FieldValues, notices: &mut Vec<Notice>) -> Option<Layout> {
    let count = |name| values.count(name);
    let size = common.of("devsz_mb");
    let dies = count("zns_num_ch") * count("zns_num_lun");
    let device = common.count("devsz_mb") << 20;
    let is_old = ["zns_read", "zns_write"].iter().any(|name| values.of(name).is_given);
    let bits = count("zns_flash_type");
    let known = TIMES.iter().find(|(of, _)| *of == bits).map(|(_, times)| *times);
    let is_told = OWN_TIMES.iter().all(|name| values.of(name).is_given);
    let Some(times) = known.or((is_old || is_told).then_some([40_000, 200_000, 2_000_000])) else {
        notices.push(values.of("zns_flash_type").refused("FEMU has times for 1 (SLC), 3 (TLC) and 4 (QLC)"));
        return None;
    };
    let (planes, program, sense, block) = match is_old {
        true => (1, PAGE, PAGE, OLD_ZONE / dies / PAGE * PAGE),
        false => {
            let pages = device / FLASH_PAGE / (dies * count("zns_num_blk"));
            (count("zns_num_plane"), FLASH_PAGE * bits, FLASH_PAGE, pages * FLASH_PAGE)
        }
    };
    let size_of_zone = dies * planes * block;
    let whole = block / program * program;
    if whole == 0 || size_of_zone > device {
        notices.push(size.refused(format!(
            "a zone is a block of each of {planes} planes of {dies} dies, and the device is too small for one; give it more MiB, or fewer \
             blocks (`zns_num_blk`)"
        )));
        return None;
    }
    if whole < block {
        notices.push(values.of("zns_flash_type").not_honoured(format!(
            "a block of {} KiB is no whole number of flash pages of {} KiB; the rest of it is not written",
            block >> 10,
            program >> 10
        )));
    }
    let asked = count("zns_zone_cap");
    let capacity = match asked {
        0 => dies * planes * whole,
        asked => asked.min(dies * planes * whole) / PAGE * PAGE,
    };
    let times = match is_old {
        true => [read_or(values, "zns_read", 40_000), read_or(values, "zns_write", 200_000), times[2]],
        false => [0, 1, 2].map(|at| read_or(values, OWN_TIMES[at], times[at])),
    };
    let zones = device / size_of_zone;
    Some(Layout { planes, program, sense, block: whole, size: size_of_zone, capacity, zones, dies, times, is_old })
}

fn read_or(values: &FieldValues, name: &str, otherwise: u64) -> u64 {
    if values.of(name).is_given { values.count(name) } else { otherwise }
}

fn zones(layout: &Layout, values: &FieldValues) -> DriveTable {
    let given = ["zns_num_ch", "zns_num_lun", "zns_num_plane", "zns_num_blk"].map(|name| values.of(name));
    let how = match layout.is_old {
        true => "128 MiB in a FEMU that has zns_read",
        false => "a block of each plane",
    };
    let mut table = DriveTable::new("zones").from("size", format!("{} B", layout.size), &given, how).from(
        "zone_capacity",
        format!("{} B", layout.capacity),
        &[values.of("zns_zone_cap")],
        "0 is all of the zone",
    );
    for (field, name) in [("max_open", "zns_max_open"), ("max_active", "zns_max_active")] {
        if values.count(name) > 0 {
            table = table.from(field, values.count(name) as i64, &[values.of(name)], "");
        }
    }
    table
}

fn capacity(layout: &Layout, common: &FieldValues) -> DriveTable {
    let user = layout.zones * layout.capacity;
    DriveTable::new("capacity")
        .from("user", format!("{user} B"), &[common.of("devsz_mb")], "what the zones hold that fit into it")
        .guess("spare", "0%", "no block of FEMU's goes bad")
}

fn geometry(layout: &Layout, values: &FieldValues) -> DriveTable {
    let count = |name| values.count(name) as i64;
    let [channels, dies, planes, kind] =
        ["zns_num_ch", "zns_num_lun", "zns_num_plane", "zns_flash_type"].map(|name| values.of(name));
    DriveTable::new("geometry")
        .from("channels", count("zns_num_ch"), &[channels], "")
        .from("dies_per_channel", count("zns_num_lun"), &[dies], "")
        .from("planes", layout.planes as i64, &[planes], "")
        .from("multi_plane", layout.planes > 1, &[planes], "FEMU programs all of a die")
        .guess("page", format!("{PAGE} B"), "FEMU's map is one of 4 KiB")
        .from("program", format!("{} B", layout.program), &[kind], "so many pages of 16 KiB")
        .guess("sense", format!("{} B", layout.sense), "a page of FEMU's flash")
        .from("pages_per_block", (layout.block / PAGE) as i64, &[values.of("zns_num_blk")], "")
}

fn nand(layout: &Layout, values: &FieldValues) -> DriveTable {
    let kind = values.of("zns_flash_type");
    let [read, program, erase] = layout.times.map(|time| format!("{time} ns"));
    let old = ["zns_read", "zns_write", "zns_flash_type"];
    let [of_read, of_program, of_erase] = [0, 1, 2].map(|at| match values.of(OWN_TIMES[at]) {
        own if own.is_given && !layout.is_old => (own, ""),
        _ if layout.is_old && at < 2 => (values.of(old[at]), ""),
        _ => (kind, "FEMU's time of this kind"),
    });
    DriveTable::new("nand")
        .from("read", read, &[of_read.0], of_read.1)
        .from("program", program, &[of_program.0], of_program.1)
        .from("erase", erase, &[of_erase.0], of_erase.1)
        .guess("channel", "1000 GB/s", "FEMU's channels take no time")
        .guess("copy_back", false, "FEMU moves no pages")
        .guess("keeps_page", false, "FEMU reads a page anew each time")
        .guess("reads_first", false, "FEMU's planes do what they are given in order")
}

/// What a write takes into FEMU's cache.
fn write_time(layout: &Layout, controller: DriveTable) -> DriveTable {
    match layout.is_old {
        true => controller,
        false => controller.guess("page_write", "1 us", "FEMU's time of a page into its write cache"),
    }
}

fn buffer(layout: &Layout, values: &FieldValues) -> DriveTable {
    let stripe = layout.program * 2 * layout.dies;
    let active = match values.count("zns_max_active") {
        0 => layout.zones,
        active => active,
    };
    // What the model needs: a flash page for each active zone, and more.
    let least = (active + 2) * layout.program + 2 * PAGE;
    let size = (CACHES * stripe).max(least);
    let given = ["zns_num_ch", "zns_num_lun", "zns_flash_type"].map(|name| values.of(name));
    DriveTable::new("buffer")
        .from(
            "size",
            format!("{size} B"),
            &given,
            "FEMU's three write caches, or a flash page of each zone that may be active",
        )
        .guess("partial", format!("{PAGE} B"), "FEMU joins no parts of pages")
        .guess("serves_reads", true, "what FEMU has in its write cache takes no time to read")
}
