//! What times and rates a drive's file can have: far beyond those of any drive, so that only a mistaken unit is refused.

use block::{Nanos, Rate, parse_duration, parse_rate};
use toml::Table as Toml;

use super::PresetError;
use super::error::require;

/// Fields of some tables, and from what to what they can be.
struct Bound {
    tables: &'static [&'static str],
    fields: &'static [&'static str],
    range: Range,
    /// The same in words.
    words: &'static str,
}

enum Range {
    Time(Nanos, Nanos),
    Rate(Rate, Rate),
}

const fn time(least: u64, most: Nanos) -> Range {
    Range::Time(Nanos::from_nanos(least), most)
}

const ALL: &[Bound] = &[
    Bound {
        tables: &["nand", "slc", "flash"],
        fields: &["read"],
        range: time(500, Nanos::from_millis(10)),
        words: "flash is read in 500 ns to 10 ms; check its unit",
    },
    Bound {
        tables: &["nand", "slc", "flash"],
        fields: &["program"],
        range: time(1_000, Nanos::from_millis(100)),
        words: "flash is programmed in 1 us to 100 ms; check its unit",
    },
    Bound {
        tables: &["nand", "flash"],
        fields: &["erase"],
        range: time(1_000, Nanos::from_secs(1)),
        words: "a block is erased in 1 us to 1 s; check its unit",
    },
    Bound {
        tables: &["media", "service"],
        fields: &["read", "write", "rewrite"],
        range: time(0, Nanos::from_millis(100)),
        words: "it takes at most 100 ms; check its unit",
    },
    Bound {
        tables: &["seek"],
        fields: &[
            "read_track",
            "read_average",
            "read_full",
            "write_track",
            "write_average",
            "write_full",
            "head_switch",
        ],
        range: time(0, Nanos::from_secs(1)),
        words: "a seek takes at most 1 s; check its unit",
    },
    Bound {
        tables: &["link", "host", "controller", "suspend", "map"],
        fields: &[
            "command",
            "command_write",
            "frame_overhead",
            "call",
            "call_write",
            "complete",
            "interrupt",
            "submit",
            "retire",
            "retire_write",
            "write",
            "page_write",
            "page_read",
            "read_ahead_page",
            "hmb_access",
            "journal",
            "erase_step",
            "program_step",
            "latency",
            "resume",
        ],
        range: time(0, Nanos::from_millis(100)),
        words: "it takes at most 100 ms for each request; check its unit",
    },
    Bound {
        tables: &["errors"],
        fields: &["decode", "step", "soft"],
        range: time(0, Nanos::from_millis(100)),
        words: "a page is decoded and read again in at most 100 ms each; check its unit",
    },
    Bound {
        tables: &["journal", "checkpoint", "log"],
        fields: &["length", "length_max", "length_per_mib"],
        range: time(0, Nanos::from_secs(10)),
        words: "the firmware holds commands for at most 10 s; check its unit",
    },
    Bound {
        tables: &["power"],
        fields: &["spin_up_time", "boot", "light_exit", "deep_exit"],
        range: time(0, Nanos::from_secs(300)),
        words: "it takes at most 5 minutes; check its unit",
    },
    Bound {
        tables: &["link", "nand", "flash", "media", "controller", "service"],
        fields: &["rate", "channel", "read_rate", "write_rate", "bandwidth"],
        range: Range::Rate(Rate::from_bytes_per_second(100_000), Rate::from_megabytes_per_second(1_000_000)),
        words: "it is 100 kB/s to 1,000 GB/s; check its unit",
    },
    Bound {
        tables: &["platters"],
        fields: &["outer", "inner"],
        range: Range::Rate(Rate::from_bytes_per_second(10_000), Rate::from_megabytes_per_second(10_000)),
        words: "a track passes at 10 kB/s to 10 GB/s; check its unit",
    },
];

/// That what the file says can be. What is no time or rate where there should be one is told when the file is read.
///
/// # Errors
/// With the first that cannot, and what can.
pub fn check(text: &str) -> Result<(), PresetError> {
    let file: Toml = toml::from_str(text)?;
    for Bound { tables, fields, range, words } in ALL {
        for (table, field) in tables.iter().flat_map(|table| fields.iter().map(move |field| (*table, *field))) {
            let Some(given) = file.get(table).and_then(|table| table.get(field)?.as_str()) else { continue };
            // A number without a unit is told of by its field; nothing at all needs none.
            if given.trim().parse::<f64>().is_ok_and(|number| number != 0.0) {
                continue;
            }
            let holds = match range {
                Range::Time(least, most) => parse_duration(given).map_or(true, |time| *least <= time && time <= *most),
                Range::Rate(least, most) => parse_rate(given).map_or(true, |rate| *least <= rate && rate <= *most),
            };
            require(holds, || format!("{table}.{field} is {given}"), words)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    #[test]
    fn a_mistaken_unit_is_told_and_every_field_is_one_of_some_drive() {
        for (drive, words) in [
            ("x25-m?nand.read=50", "`50` has no unit; give the time with one, such as `50us`"),
            ("x25-m?nand.read=50s", "nand.read is 50s; flash is read in 500 ns to 10 ms; check its unit"),
            ("x25-m?nand.read=50ns", "check its unit"),
            ("x25-m?nand.read=0", "nand.read is 0; flash is read in 500 ns to 10 ms"),
            ("ssd-320?controller.write_rate=1 B/s", "controller.write_rate is 1 B/s; it is 100 kB/s to"),
            ("x25-m?nand.erase=2h", "a block is erased in 1 us to 1 s"),
            ("x25-m?nand.channel=40 B/s", "100 kB/s to 1,000 GB/s"),
            ("nearline-7200?seek.read_average=8s", "a seek takes at most 1 s"),
            ("optane-p4800x?media.read=1s", "at most 100 ms"),
            ("sata-host?drive.nand.read=50s", "flash is read in"),
            ("990-pro?rig.host.submit=2s", "at most 100 ms for each request"),
            ("990-pro?errors.decode=1h", "errors.decode is 1h; a page is decoded and read again in at most 100 ms"),
            ("p5520-1920?journal.length=1h", "at most 10 s"),
            ("980-1tb?map.hmb_access=1h", "at most 100 ms"),
            ("990-pro?controller.page_read=1h", "at most 100 ms"),
            ("990-pro?controller.read_ahead=1TiB", "a drive reads at most 64 MiB ahead; check its unit"),
        ] {
            let said = Preset::find(drive).expect_err(drive).to_string();
            assert!(said.contains(words), "{drive}: {said}");
        }
        let known: Vec<_> = [
            crate::flash::FlashFile::TABLES,
            crate::disk::DiskFile::TABLES,
            crate::pcm::PcmFile::TABLES,
            crate::hybrid::HybridFile::TABLES,
            crate::rig::RigFile::TABLES,
            crate::dram::DramFile::TABLES,
        ]
        .concat();
        for Bound { tables, fields, .. } in ALL {
            for field in *fields {
                let is_known = known.iter().any(|(table, all)| tables.contains(table) && all.contains(field));
                assert!(is_known, "{tables:?} have no {field}");
            }
        }
    }
}
