//! What quantities a drive's file can have: far beyond those of any drive, so that only a mistaken unit is refused.

use std::fmt;

use block::{
    Bytes, Energy, Nanos, Power, Rate, Temperature, parse_duration, parse_energy, parse_heat_capacity, parse_power,
    parse_rate, parse_rated_bytes, parse_share, parse_temperature, parse_thermal_resistance,
};
use toml::{Table as Toml, Value};

use super::PresetError;
use super::error::require;
use super::units::percent;

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
    Bytes(Bytes, Bytes),
    Count(i64, i64),
    /// In millionths.
    Share(u64),
    Power(Power),
    Energy(Energy),
    Temperature(Temperature),
    /// In thousandths of a kelvin a watt.
    Resistance(u64),
    /// In thousandths of a joule a kelvin.
    HeatCapacity(u64),
}

impl Range {
    /// Whether it holds what is given. What is none of the kind is told of by its field.
    fn holds(&self, given: &str) -> bool {
        fn is<T, E>(read: Result<T, E>, within: impl Fn(T) -> bool) -> bool {
            read.map_or(true, within)
        }
        match self {
            // A number without a unit is told of by its field; nothing at all needs none.
            Self::Time(..) if given.trim().parse::<f64>().is_ok_and(|number| number != 0.0) => true,
            Self::Time(least, most) => is(parse_duration(given), |time| *least <= time && time <= *most),
            Self::Rate(least, most) => is(parse_rate(given), |rate| *least <= rate && rate <= *most),
            Self::Bytes(least, most) => is(parse_rated_bytes(given), |bytes| *least <= bytes && bytes <= *most),
            Self::Count(least, most) => is(given.parse(), |count: i64| *least <= count && count <= *most),
            Self::Share(most) => is(parse_share(given), |share| share <= *most),
            Self::Power(most) => is(parse_power(given), |power| power <= *most),
            Self::Energy(most) => is(parse_energy(given), |energy| energy <= *most),
            Self::Temperature(most) => is(parse_temperature(given), |temperature| temperature <= *most),
            Self::Resistance(most) => is(parse_thermal_resistance(given), |resistance| resistance <= *most),
            Self::HeatCapacity(most) => is(parse_heat_capacity(given), |capacity| capacity <= *most),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_thousand = |value: u64| value as f64 / 1_000.0;
        match self {
            Self::Time(least, most) => write!(f, "{least} to {most}"),
            Self::Rate(least, most) => write!(f, "{least} to {most}"),
            Self::Bytes(least, most) => write!(f, "{least} to {most}"),
            Self::Count(least, most) => write!(f, "{least} to {most}"),
            Self::Share(most) => write!(f, "0% to {}", percent(*most)),
            Self::Power(most) => write!(f, "0 W to {most}"),
            Self::Energy(most) => write!(f, "0 J to {most}"),
            Self::Temperature(most) => write!(f, "0 C to {most}"),
            Self::Resistance(most) => write!(f, "0 K/W to {} K/W", per_thousand(*most)),
            Self::HeatCapacity(most) => write!(f, "0 J/K to {} J/K", per_thousand(*most)),
        }
    }
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
            "page_trim",
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
    Bound {
        tables: &["gc", "power", "journal", "checkpoint", "log", "patrol", "errors", "cache", "background", "shingled"],
        fields: &[
            "idle_after",
            "light_after",
            "deep_after",
            "standby_after",
            "every",
            "after_idle",
            "over",
            "retained_for",
            "destage_after",
            "recalibrate_every",
            "scan_after",
            "clean_after",
        ],
        range: time(0, Nanos::from_secs(100 * 365 * 86_400)),
        words: "it is at most 36500d, a hundred years; check its unit",
    },
    Bound {
        tables: &["background", "variation", "controller"],
        fields: &["recalibrate_time", "scan_step", "settle", "recovery", "age_limit", "margin"],
        range: time(0, Nanos::from_secs(3_600)),
        words: "it is at most 1h; check its unit",
    },
    Bound {
        tables: &["power"],
        fields: &["idle", "active", "light", "deep", "seek", "read", "write", "standby", "spin_up", "cpu"],
        range: Range::Power(Power::from_milliwatts(10_000_000)),
        words: "it is at most 10000 W; check its unit",
    },
    Bound {
        tables: &["power"],
        fields: &["page_read", "page_program", "block_erase", "byte_sent"],
        range: Range::Energy(Energy::from_picojoules(1_000_000_000_000)),
        words: "it takes at most 1 J; check its unit",
    },
    Bound {
        tables: &["thermal"],
        fields: &["ambient", "warm", "hot", "hysteresis"],
        range: Range::Temperature(Temperature::from_celsius(1_000)),
        words: "it is at most 1000 C; check its unit",
    },
    Bound {
        tables: &["thermal"],
        fields: &["resistance"],
        range: Range::Resistance(1_000_000),
        words: "it is at most 1000 K/W; check its unit",
    },
    Bound {
        tables: &["thermal"],
        fields: &["heat_capacity"],
        range: Range::HeatCapacity(1_000_000_000),
        words: "it is at most 1000000 J/K; check its unit",
    },
    Bound {
        tables: &["link"],
        fields: &["frame"],
        range: Range::Bytes(Bytes::new(16), Bytes::from_mib(16)),
        words: "a frame carries 16 B to 16 MiB; check its unit",
    },
    Bound {
        tables: &["slc"],
        fields: &["fixed", "dynamic"],
        range: Range::Bytes(Bytes::ZERO, Bytes::from_gib(256 << 10)),
        words: "a cache holds at most 256 TiB; check its unit",
    },
    Bound {
        tables: &["capacity"],
        fields: &["spare"],
        range: Range::Share(100_000_000),
        words: "there is at most a hundred times as much flash as the host sees, 10000%",
    },
    Bound {
        tables: &["wear"],
        fields: &["early_failures"],
        range: Range::Count(0, 100_000_000),
        words: "at most 100000000 of 10^9 erases fail early",
    },
    Bound {
        tables: &["gc"],
        fields: &["idle_free"],
        range: Range::Count(0, 1_000_000),
        words: "at most 1000000 blocks of each unit are kept free",
    },
    Bound {
        tables: &["levelling", "translation"],
        fields: &["rated_writes", "rated_erases"],
        range: Range::Count(1, u32::MAX as i64),
        words: "it is 1 or more; leave it out where nothing wears",
    },
    Bound {
        tables: &["memory"],
        fields: &["queue_depth"],
        range: Range::Count(1, 1 << 16),
        words: "a drive takes 1 to 65536 commands at once",
    },
];

/// From what to what this field of a table can be; none where nothing is said of it here.
pub fn range(table: &str, field: &str) -> Option<String> {
    let bound = ALL.iter().find(|bound| bound.tables.contains(&table) && bound.fields.contains(&field));
    bound.map(|bound| bound.range.to_string())
}

/// That what the file says can be. What is no time or rate where there should be one is told when the file is read.
///
/// # Errors
/// With the first that cannot, and what can.
pub fn check(text: &str) -> Result<(), PresetError> {
    let file: Toml = toml::from_str(text)?;
    for Bound { tables, fields, range, words } in ALL {
        for (table, field) in tables.iter().flat_map(|table| fields.iter().map(move |field| (*table, *field))) {
            let given = match file.get(table).and_then(|table| table.get(field)) {
                Some(Value::String(text)) => text.clone(),
                Some(number @ (Value::Integer(_) | Value::Float(_))) => number.to_string(),
                _ => continue,
            };
            require(range.holds(&given), || format!("{table}.{field} is {given}"), words)?;
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
            ("990-pro?power.active=18e12 W", "has an exponent"),
            ("990-pro?power.active=18000000 W", "power.active is 18000000 W; it is at most 10000 W; check its unit"),
            ("solid-data-dram?power.idle=20000 W", "at most 10000 W"),
            ("nearline-7200?power.seek=20000 W", "at most 10000 W"),
            ("990-pro?power.page_read=5 J", "it takes at most 1 J"),
            ("990-pro?thermal.hot=5000 C", "at most 1000 C"),
            ("990-pro?thermal.resistance=5000000 K/W", "at most 1000 K/W"),
            ("990-pro?thermal.heat_capacity=5000000 J/K", "at most 1000000 J/K"),
            ("990-pro?link.frame=1B", "link.frame is 1B; a frame carries 16 B to 16 MiB"),
            ("990-pro?link.frame=1GiB", "a frame carries"),
            ("990-pro?slc.dynamic=1PiB", "at most 256 TiB"),
            ("990-pro?capacity.spare=99999%", "10000%"),
            ("990-pro?wear.early_failures=4294967295", "fail early"),
            ("990-pro?gc.idle_free=4294967295", "kept free"),
            ("990-pro?power.deep_after=18446744073s", "a hundred years"),
            ("optane-p4800x?levelling.rated_writes=0", "1 or more"),
            ("solid-data-dram?memory.queue_depth=4294967295", "1 to 65536 commands"),
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
                let is_known = known.iter().any(|table| tables.contains(&table.name) && table.has(field));
                assert!(is_known, "{tables:?} have no {field}");
            }
        }
    }
}
