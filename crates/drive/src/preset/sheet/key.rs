//! What the rows of data sheets are called.

use super::value::{self, Quantity};

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Title,
    Source,
    Capacity,
    Interface,
    Nand,
    /// Reads and writes in one row.
    Sequential,
    SequentialRead,
    SequentialWrite,
    /// Reads and writes in one row.
    Random,
    RandomRead,
    RandomWrite,
    /// Reads and writes in one row whose name does not say of what kind.
    Rates,
    Depth,
    ReadLatency,
    Years,
    Endurance,
    Market,
    Price,
    /// Whether there is DRAM, or a buffer of the host's in its place.
    Dram,
    /// What the model has no use for.
    Unused,
}

/// The names that a mistake lists.
pub const KNOWN: &str = "capacity, interface, nand, sequential-read, sequential-write, random-read, random-write, \
    random-depth, read-latency, endurance, warranty, dram, class, price, source, title; of disks also rpm, cache, seek, \
    read-seek, write-seek, heads, recording, idle-power";

/// Words of rows that are read and left out.
const UNUSED: &[&str] = &[
    "expectancy",
    "mtbf",
    "mttf",
    "afr",
    "uber",
    "form",
    "dimensions",
    "weight",
    "height",
    "length",
    "width",
    "size",
    "power",
    "consumption",
    "temperature",
    "humidity",
    "shock",
    "vibration",
    "dram",
    "cache",
    "buffer",
    "controller",
    "encryption",
    "security",
    "trim",
    "smart",
    "firmware",
    "certifications",
    "voltage",
    "ecc",
    "layers",
    "protocol",
    "reliability",
    "brand",
    "manufacturer",
    "maker",
    "configuration",
    "hmb",
    "tier",
    "color",
    "software",
    "operating",
    "led",
    "part",
    "protection",
    "workload",
    "compatibility",
    "compatible",
    "connectivity",
    "contents",
    "content",
    "country",
    "date",
    "device",
    "ean",
    "features",
    "feature",
    "heatsink",
    "installation",
    "noise",
    "package",
    "provisioning",
    "rohs",
    "rotational",
    "series",
    "sku",
    "specification",
    "specifications",
    "upc",
    "used",
];

/// A row's name and value; no value where a line is a name alone.
pub type Row = (String, Option<String>);

/// The words of a text, of letters and digits.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a text is of one request at a time, which ratings are not: `Random read (4 KB, QD1)`, `22,000 IOPS @ QD 1`.
pub fn is_of_one_request(text: &str) -> bool {
    let lower = text.to_lowercase().replace("queue depth", "qd");
    let mut words = words(&lower).peekable();
    let mut is_one = false;
    while let Some(word) = words.next() {
        let is_split = word == "qd" && words.peek() == Some(&"1");
        is_one |= is_split || matches!(word, "qd1" | "q1" | "q1t1" | "qd1t1");
    }
    is_one
}

/// What a drive on another bus than those of drives' sheets has in its rows: a memory card, or a drive behind USB.
const OF_OTHERS: &[&str] = &["usb", "microsd", "microsdhc", "microsdxc", "sdhc", "sdxc", "emmc"];

/// Whether a text is of a drive on another bus.
pub fn is_of_another_bus(text: &str) -> bool {
    words(&text.to_lowercase()).any(|word| OF_OTHERS.contains(&word))
}

/// Whether the row is of reads and writes together: `Random 70/30 R/W`.
fn is_mixed(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| matches!(*word, "mix" | "mixed"))
        || ["70/30", "70:30", "30/70"].iter().any(|share| lower.contains(share))
}

/// Whether a row of random requests, or the brackets of its value, say that they are of another size than 4 KiB: `16K Rand Write`,
/// `43,800 IOPS (16 KB)`. An amount of requests has a K too, so that of the value only a size in bytes counts.
pub fn is_of_another_size(key: &str, value: &str) -> bool {
    let size = |Quantity { number, unit, .. }: &Quantity, is_key: bool| {
        let unit = unit.to_lowercase();
        let word = unit.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        match word {
            "k" if is_key => Some(*number),
            "kb" | "kib" | "kbyte" => Some(*number),
            "b" | "byte" | "bytes" => Some(*number / 1024.0),
            _ => None,
        }
    };
    let of =
        |text: &str, is_key| value::quantities(text).iter().filter_map(|found| size(found, is_key)).collect::<Vec<_>>();
    let sizes = [of(key, true), of(value, false)].concat();
    !sizes.is_empty() && !sizes.contains(&4.0)
}

/// Whether a text is of a flash drive: more than a word that disks' sheets have too, as of `NVMe: no` or of a controller's flash.
pub fn is_of_flash(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["ssd", "solid state", "solid-state", "3d nand", "v-nand", "tlc", "qlc", "mlc"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a text is of a disk with flash in front of it.
pub fn is_of_a_hybrid(text: &str) -> bool {
    words(&text.to_lowercase()).any(|word| matches!(word, "sshd" | "hybrid"))
}

/// A word without the number of a footnote, as web pages' text has it: `Capacity2`, `write¹`.
fn without_footnote(word: &str) -> &str {
    let plain = word.trim_end_matches(char::is_numeric);
    if plain.len() >= 3 && plain.chars().all(char::is_alphabetic) { plain } else { word }
}

/// What the row of this name says; none if nobody knows.
pub fn of(key: &str) -> Option<Field> {
    let lower = key.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).map(without_footnote).filter(|word| !word.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // A letter alone is as often a part of a product's name, or a unit of power.
    let has_letters =
        has(&["r"]) && has(&["w"]) || has(&["random", "rand", "rnd", "iops", "4k", "seq", "sequential", "speed"]);
    let read = has(&["read", "reads", "reading"]) || has_letters && has(&["r"]);
    let write = has(&["write", "writes", "writing"]) || has_letters && has(&["w"]);
    let of = |both, reads, writes| match (read, write) {
        (true, true) => Some(both),
        (true, false) => Some(reads),
        (false, true) => Some(writes),
        (false, false) => None,
    };
    if has(&["price", "msrp"]) {
        Some(Field::Price)
    } else if has(&["source"]) {
        Some(Field::Source)
    } else if has(&["title", "product", "model", "name"])
        && !has(&["dimensions", "weight", "line", "type", "category", "uses"])
    {
        Some(Field::Title)
    } else if has(&["latency"]) {
        Some(if read && !write && !has(&["qos", "sequential", "seq"]) { Field::ReadLatency } else { Field::Unused })
    } else if has(&["warranty"]) {
        Some(Field::Years)
    } else if has(&["endurance", "tbw", "pbw", "dwpd", "dw", "lifetime", "written"]) || write && has(&["day"]) {
        Some(Field::Endurance)
    } else if has(&["active", "idle", "error", "errors", "qos", "ahead"])
        || has(&["interface", "bus", "link"]) && has(&["speed", "rate", "transfer", "bandwidth"])
    {
        Some(Field::Unused)
    } else if has(&["interface", "interfaces", "bus", "pcie", "link"]) {
        Some(Field::Interface)
    } else if !has(&["slc"]) && (has(&["dram", "dramless", "hmb", "cache", "buffer"]) || lower.contains("host memory"))
    {
        Some(Field::Dram)
    } else if has(UNUSED) {
        Some(Field::Unused)
    } else if has(&["depth", "qd"]) && !read && !write {
        Some(Field::Depth)
    } else if is_mixed(&lower, &words) {
        Some(Field::Unused)
    } else if has(&["random", "rand", "rnd", "iops", "4k", "4kb", "4kib", "kiops"]) {
        of(Field::Random, Field::RandomRead, Field::RandomWrite).or(Some(Field::Random))
    } else if let Some(field) = of(Field::Sequential, Field::SequentialRead, Field::SequentialWrite) {
        Some(field)
    } else if has(&["performance", "transfer", "speed", "speeds", "throughput", "bandwidth"]) {
        Some(Field::Rates)
    } else if has(&["capacity", "density", "capacities"]) && !has(&["platter", "platters"]) {
        Some(Field::Capacity)
    } else if has(&["nand", "flash", "media", "memory", "cell", "cells", "components", "lithography"]) {
        Some(Field::Nand)
    } else if has(&["class", "market", "segment", "usage", "application"]) {
        Some(Field::Market)
    } else {
        None
    }
}
