//! What the rows of disks' data sheets are called, and which sheets are of disks.

use super::super::key::{self, Field, Row, words};
use super::super::value::{Quantity, quantities};

/// Revolutions a minute.
pub const RPM: std::ops::RangeInclusive<f64> = 3_000.0..=20_000.0;

/// What a row says of a disk alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskField {
    Spindle,
    Latency,
    Seek,
    Cache,
    /// The rate of the outermost tracks.
    Transfer,
    /// A rate that does not say of what it is.
    Rate,
    Average,
    /// Under the head, gaps left out.
    Internal,
    Heads,
    Idle,
    Active,
    /// The power of reads and writes in order.
    Moving,
    /// What [`super::DiskRatings::notice`] reads.
    Noticed,
    Unused,
}

/// Rows with these words are of sound, currents, sizes and the like, whatever else they name.
const OF_OTHERS: &[&str] = &[
    "acoustic",
    "acoustics",
    "altitude",
    "bels",
    "current",
    "dba",
    "dimensions",
    "dma",
    "efficiency",
    "error",
    "errors",
    "height",
    "humidity",
    "misregistration",
    "mode",
    "modes",
    "noise",
    "per",
    "pio",
    "port",
    "ports",
    "servo",
    "shock",
    "sound",
    "temperature",
    "vibration",
    "voltage",
    "weight",
    "width",
];

/// Words of rows that are read and left out, if they say nothing else.
const UNUSED: &[&str] = &[
    "annualized",
    "areal",
    "availability",
    "contact",
    "cycles",
    "cylinders",
    "density",
    "failure",
    "guaranteed",
    "hard",
    "helium",
    "hours",
    "limit",
    "load",
    "nonrecoverable",
    "odor",
    "peak",
    "raid",
    "ready",
    "spin",
    "start",
    "startup",
    "technology",
    "unload",
    "unrecoverable",
];

/// What the row of this name says of a disk alone; none if it says what rows of all drives do.
pub fn of(key: &str, text: &str) -> Option<DiskField> {
    let (lower, value) = (key.to_lowercase(), text.to_lowercase());
    let names: Vec<&str> = words(&lower).collect();
    let has = |known: &[&str]| names.iter().any(|word| known.contains(word));
    if has(&["capacity", "capacities", "price", "msrp", "source", "warranty"]) {
        return has(&["platter", "platters", "per"]).then_some(DiskField::Unused);
    }
    let is_deep = has(&["depth"]) && !has(&["queue", "random"]);
    if has(OF_OTHERS) || is_deep || ["bels", "dba"].iter().any(|unit| value.contains(unit)) {
        return Some(DiskField::Unused);
    }
    let units: Vec<String> = quantities(text).into_iter().map(|found| found.unit).collect();
    let in_watts =
        |unit: &String| words(unit).next().is_some_and(|word| matches!(word, "W" | "watts" | "Watts" | "mW"));
    let is_power = has(&["power", "watt", "watts", "consumption"])
        || ["(w)", "(w,", "[w]"].iter().any(|unit| lower.contains(unit))
        || units.iter().any(in_watts);
    let has_rate = has(&["bandwidth", "rate", "speed", "transfer", "transfers", "throughput"]);
    let is_average = has(&["average", "avg"]);
    // Below a heading of seeks.
    let is_of_times = !names.is_empty()
        && names.iter().all(|name| ["average", "avg", "typical", "read", "write"].contains(name))
        && units.iter().any(|unit| unit.starts_with("ms"));
    let is_of_seeks = has(&["seek", "seeks"])
        || is_of_times
        || ["track to track", "single track", "full stroke"].iter().any(|name| lower.replace('-', " ").contains(name))
        || is_average && has(&["time"]) && has(&["read", "write"]);
    // Under a heading of power, of sound, or of what else there is.
    let is_bare = units.iter().all(|unit| words(unit).next().is_none()) && names.iter().all(|name| BARE.contains(name));
    let is_of_wire =
        has(&["ata", "burst", "cache", "ext", "external", "interface", "peak", "pata", "sas", "sata", "ultra"])
            || lower.contains("i/o")
            || ["external", "interface", "burst"].iter().any(|word| value.contains(word));
    Some(if is_power {
        match (has(&["idle"]) && !lower.contains("/tb"), has(&["operating", "active", "seek", "random"])) {
            (true, _) => DiskField::Idle,
            (false, true) => DiskField::Active,
            _ if has(&["read", "write", "sequential"]) => DiskField::Moving,
            _ => DiskField::Unused,
        }
    } else if is_bare {
        DiskField::Unused
    } else if is_of_seeks {
        // Between any two tracks at most or at least, beside the usual time.
        let is_bound = has(&["max", "maximum", "min", "minimum"]) && !has(&["typ", "typical", "full"]);
        if !is_bound && is_a_time(&lower, &units, has(&["time"])) { DiskField::Seek } else { DiskField::Unused }
    } else if has(&["latency"]) {
        DiskField::Latency
    } else if has(&["random"]) && (has(&["time", "ms", "access"]) || units.iter().any(|unit| unit.starts_with("ms"))) {
        DiskField::Unused
    } else if has(&["rpm", "spindle", "rotation", "rotational"]) && !has(&["idle", "low"]) || value.contains("rpm") {
        DiskField::Spindle
    } else if has(&["sustained", "sustainable"]) && !has(&["random"]) {
        if is_average { DiskField::Average } else { DiskField::Transfer }
    } else if names == ["transfer"] {
        DiskField::Transfer
    } else if is_average && has_rate && !has(&["random"]) {
        DiskField::Average
    } else if has(&["internal", "media"]) && has_rate {
        DiskField::Internal
    } else if is_of_wire && has_rate
        || has(&["buffer", "host"]) && (has_rate || text.contains("/s"))
        || has(&["cache", "buffer"]) && has(&["nand", "flash"])
    {
        DiskField::Unused
    } else if has(&["cache", "buffer"]) {
        DiskField::Cache
    } else if has(HEADS) {
        if has(&["default", "load", "logical", "parking"]) { DiskField::Unused } else { DiskField::Heads }
    } else if has(&["transfer", "throughput"]) || has(&["rate"]) && has(&["data"]) {
        match units.iter().any(|unit| unit.contains("/s") || unit.contains("ps")) || lower.contains("/s") {
            true if is_average => DiskField::Average,
            true => DiskField::Rate,
            false => DiskField::Unused,
        }
    } else if has(&["recording", "sector", "sectors", "bytes", "fastformat", "actuator", "actuators", "smr", "cmr"])
        || has(&["form"]) && has(&["factor"])
        || has(&["advanced"]) && has(&["format"])
    {
        DiskField::Noticed
    } else if has(UNUSED) && !has(&["interface"]) {
        DiskField::Unused
    } else {
        return None;
    })
}

/// What a row is called below a heading of power or sound.
const BARE: &[&str] = &["read", "write", "seek", "idle", "operating", "avg", "average", "typical", "max"];

const HEADS: &[&str] = &["head", "heads", "platter", "platters", "disks", "discs"];

/// Whether amounts are times: in milliseconds, or in nothing where the row says that it is a time.
fn is_a_time(lower: &str, units: &[String], is_named: bool) -> bool {
    let is_short = |unit: &str| unit.starts_with("ms") || unit.starts_with(['µ', 'μ']) || unit.starts_with("us");
    let of_text: Vec<String> =
        units.iter().map(|unit| words(&unit.to_lowercase()).next().unwrap_or_default().to_owned()).collect();
    let is_in_key = words(lower).any(is_short);
    match of_text.iter().find(|unit| !unit.is_empty() && !matches!(unit.as_str(), "read" | "write" | "typical")) {
        Some(_) => of_text.iter().any(|unit| is_short(unit)),
        None => is_in_key || is_named,
    }
}

/// Whether a line of this name has its value in the next one: `Cache`, and below it `256 MB`.
pub fn is_named(line: &str) -> bool {
    let by_times = of(line, "1 ms").is_some_and(|field| field == DiskField::Seek);
    by_times || of(line, "").is_some_and(|field| !matches!(field, DiskField::Unused | DiskField::Noticed))
}

/// The name and the value of a line without a separator: `Cache (MB) 64`, `Average seek <9.0 ms`.
pub fn parted(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let mut before = [' ', ' '];
    for (at, letter) in line.char_indices() {
        depth += i32::from("([".contains(letter)) - i32::from(")]".contains(letter));
        let is_apart =
            before[1].is_whitespace() || before[1] == ')' || "<≤~".contains(before[1]) && before[0].is_whitespace();
        if depth == 0 && letter.is_ascii_digit() && is_apart && at > 0 {
            let (name, text) =
                (line[..at].trim_end_matches(|c: char| c.is_whitespace() || "<≤~".contains(c)), &line[at..]);
            let is_known = of(name, text).is_some() || key::of(name) == Some(Field::Years);
            return is_known.then_some((name, text));
        }
        before = [before[1], letter];
    }
    None
}

/// Words of rows that say of what a drive is none.
pub const DENYING: &[&str] = &["no", "non", "not", "than", "unlike", "without"];

/// Whether rows are of a disk: one says how fast it turns or seeks, or how it records.
pub fn is_of_a_disk(rows: &[Row]) -> bool {
    let next = rows.iter().skip(1).map(|row| row.1.is_none().then_some(row.0.as_str())).chain([None]);
    rows.iter().zip(next).any(|((key, value), next)| {
        let value = value.as_deref().or(next).unwrap_or_default();
        let row = format!("{key} {value}").to_lowercase();
        let names: Vec<&str> = words(&row).collect();
        let has = |word: &str| names.contains(&word);
        let is_of_turns = ["rpm", "rotation", "rotational", "spindle"].into_iter().any(has);
        let in_rpm = |found: &Quantity| found.unit.to_lowercase().trim_start_matches('-').starts_with("rpm");
        let in_thousands = |found: &Quantity| found.unit.to_lowercase().starts_with('k');
        let is_turning = |found: &Quantity| {
            let is_named = in_rpm(found) || is_of_turns;
            is_named && (found.number >= 10.0 || in_thousands(found) && found.number >= 3.0)
        };
        let turns = quantities(&row).iter().any(is_turning);
        let seeks = has("seek") && of(key, value) == Some(DiskField::Seek);
        let is_kind = has("cmr") || has("smr") || has("hdd");
        let is_named =
            ["recording", "technology", "type", "kind", "class", "category", "title", "model", "drive", "description"];
        let records = is_kind && (names.len() < 4 || is_named.iter().any(|name| has(name)));
        !names.iter().any(|name| DENYING.contains(name)) && !has("vibration") && (turns || seeks || records)
    })
}
