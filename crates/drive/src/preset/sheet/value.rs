//! Quantities as data sheets word them: `Up to 7,000 MB/s`, `1,000K IOPS`, `1.92 TB`, `600 TBW`, `PCIe Gen4 x4, NVMe 1.4`.

/// The longest value, in letters.
pub const VALUE_MAX: usize = 400;

/// What keys have in brackets as units.
pub const UNITS: &[&str] =
    &["mb/s", "mib/s", "mbps", "gb/s", "gib/s", "gbps", "kiops", "k iops", "iops", "tb", "gb", "us", "µs"];

/// A number and what follows it, up to the next number.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    pub number: f64,
    /// Whether the point may part thousands: `85.000`.
    pub is_grouped: bool,
    pub unit: String,
}

/// What drives are connected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Megabytes a second on the wire.
    Sata(u32),
    /// Megabytes a second on the wire.
    Sas(u32),
    Pcie {
        generation: u32,
        lanes: u32,
    },
}

impl Interface {
    /// What it carries at most, in bytes a second, before packets' headers.
    pub fn most(self) -> f64 {
        match self {
            Self::Sata(rate) | Self::Sas(rate) => f64::from(rate) * 1e6,
            Self::Pcie { generation, lanes } => {
                // Gigatransfers a second and lane, less 8b/10b up to PCIe 2.0 and 128b/130b from 3.0 on.
                let lane = [250.0, 500.0, 984.6, 1969.2, 3938.5, 7563.0][generation as usize - 1];
                lane * f64::from(lanes) * 1e6
            }
        }
    }

    /// As people write it.
    pub fn words(self) -> String {
        match self {
            Self::Sata(rate) => format!("SATA {} Gb/s", f64::from(rate) / 100.0),
            Self::Sas(rate) => format!("SAS {} Gb/s", f64::from(rate) / 100.0),
            Self::Pcie { generation, lanes } => format!("PCIe {generation}.0 x{lanes}"),
        }
    }
}

/// Whether a text has a number below zero: one behind a minus sign that stands behind nothing that could be a range's beginning
/// or a word.
pub fn has_negative(text: &str) -> bool {
    let letters: Vec<char> = text.trim().chars().collect();
    let is_sign = |at: usize| "-−".contains(letters[at]) && letters.get(at + 1).is_some_and(char::is_ascii_digit);
    let is_first = |at: usize| at.checked_sub(1).is_none_or(|before| "/,;|=".contains(letters[before]));
    (0..letters.len()).any(|at| is_sign(at) && is_first(at))
}

/// All numbers of a text with what follows each.
pub fn quantities(text: &str) -> Vec<Quantity> {
    let letters: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        if !letters[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < letters.len() && continues(&letters, at) {
            at += 1;
        }
        let digits: String = letters[start..at].iter().filter(|c| !c.is_whitespace()).collect();
        let unit: String = letters[at..].iter().take_while(|c| !c.is_ascii_digit()).collect();
        if let Some(number) = decimal(&digits) {
            let is_grouped = digits.split_once('.').is_some_and(|(_, rest)| rest.len() == 3);
            found.push(Quantity { number, is_grouped, unit: unit.trim().to_owned() });
        }
    }
    found
}

/// The letters of a text that are not in brackets, with their places.
pub fn outside_brackets(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut depth = 0_u32;
    text.char_indices().filter(move |(_, letter)| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    })
}

/// A text without what is in brackets, which explains: `560 MB/s (QD32)`.
pub fn without_brackets(text: &str) -> String {
    outside_brackets(text).map(|(_, letter)| letter).collect()
}

/// Whether a line is an amount and no name: `680,000 IOPS`, `Up to 5,000 MB/s`.
pub fn is_amount(line: &str) -> bool {
    let lower = line.trim_start().to_lowercase();
    let rest = lower.strip_prefix("up to").unwrap_or(&lower).trim_start();
    rest.starts_with(|c: char| c.is_ascii_digit()) && !quantities(rest).is_empty()
}

/// Whether a unit is one of capacities.
pub fn is_size(unit: &str) -> bool {
    ["gb", "tb"].iter().any(|known| unit.eq_ignore_ascii_case(known))
}

/// The capacity, in bytes, and the rest of a value that is of one capacity of several: `512GB – 7,000/3,900 MB/s`,
/// `1.6TB: up to 17.5PB`, `240GB 500 MB/s`.
pub fn of_a_capacity(text: &str) -> Option<(f64, &str)> {
    let is_of_number = |c: char| c.is_ascii_digit() || ",.".contains(c);
    let behind = text.trim_start_matches(is_of_number);
    let number = quantities(&text[..text.len() - behind.len()]).first()?.number;
    let unit = behind.trim_start();
    let rest = unit.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &unit[..unit.len() - rest.len()];
    let mark = |c: char| "-–—:".contains(c);
    // `14.7 GB/s`.
    if rest.starts_with('/') {
        return None;
    }
    let is_marked = rest.trim_start().starts_with(mark);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || mark(c));
    let of_rest = quantities(rest).first()?.unit.to_lowercase();
    // A rate or requests; of `600 TB (5 years)` the whole is one amount.
    let is_rated = rate_factor(&of_rest).is_ok() && of_rest.contains("/s")
        || ["iops", "k", "m", "tbw", "pbw", "/"].iter().any(|unit| of_rest.starts_with(unit));
    (is_size(unit) && (is_marked || is_rated)).then(|| Some((number * size_factor(unit).ok()?, rest)))?
}

/// Whether the letter is part of a number that began before it or with it.
fn continues(letters: &[char], at: usize) -> bool {
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    match letters[at] {
        '0'..='9' => true,
        ',' | '.' => is_digit(at + 1),
        ' ' | '\u{a0}' | '\u{202f}' => (1..=3).all(|n| is_digit(at + n)) && !is_digit(at + 4) && is_digit(at - 1),
        _ => false,
    }
}

/// A number with separators of thousands, `7,000`, or a decimal comma or point, `6,9`.
fn decimal(digits: &str) -> Option<f64> {
    let groups = |mark: char| digits.split(mark).skip(1).all(|group| group.len() == 3);
    let last = digits.rfind([',', '.']).and_then(|at| digits[at..].chars().next());
    let plain = match (digits.contains(','), digits.contains('.')) {
        (true, true) if last == Some('.') => digits.replace(',', ""),
        (true, true) => digits.replace('.', "").replace(',', "."),
        (true, false) if groups(',') => digits.replace(',', ""),
        (true, false) => digits.replacen(',', ".", 1),
        (false, true) if groups('.') && digits.matches('.').count() > 1 => digits.replace('.', ""),
        _ => digits.to_owned(),
    };
    plain.parse().ok()
}

/// By what a rate's unit multiplies, in bytes a second.
pub fn rate_factor(unit: &str) -> Result<f64, String> {
    let spelled = ["megabytes", "Megabytes", "gigabytes", "Gigabytes"].into_iter().find(|word| unit.starts_with(word));
    let unit = spelled.map_or(unit, |word| if word.to_lowercase().starts_with('m') { "MB" } else { "GB" });
    let letters: Vec<char> = unit.chars().filter(|c| !c.is_whitespace()).collect();
    let lower = letters.iter().collect::<String>().to_lowercase();
    let binary = lower.get(1..3) == Some("ib");
    let factor = match (lower.chars().next(), binary) {
        (Some('k'), false) => 1e3,
        (Some('m'), false) => 1e6,
        (Some('g'), false) => 1e9,
        (Some('m'), true) => f64::from(1 << 20),
        (Some('g'), true) => f64::from(1 << 30),
        _ => return Err("a rate looks like `7,000 MB/s` or `7 GB/s`".to_owned()),
    };
    let byte = letters.get(if binary { 2 } else { 1 }).copied();
    let is_bits = byte == Some('b') && letters[0].is_uppercase() && !lower[1..].starts_with("byte");
    match byte {
        Some('B' | 'b') if !is_bits => Ok(factor),
        Some('b') => Err("it is in bits; give bytes a second, such as `560 MB/s`".to_owned()),
        _ => Err("a rate looks like `7,000 MB/s` or `7 GB/s`".to_owned()),
    }
}

/// By what the unit of requests a second multiplies.
pub fn iops_factor(unit: &str) -> Result<f64, String> {
    match unit.trim().to_lowercase() {
        unit if rate_factor(&unit).is_ok() && unit.contains("/s") => {
            Err("it is in bytes a second; give requests a second, such as `98,000 IOPS`".to_owned())
        }
        unit if unit.starts_with('k') => Ok(1e3),
        unit if unit.starts_with('m') => Ok(1e6),
        unit if unit.is_empty()
            || unit.starts_with('i')
            || unit.starts_with("per s")
            || unit.starts_with(['/', '@', ',', '(', '*']) =>
        {
            Ok(1.0)
        }
        _ => Err("requests a second look like `98,000 IOPS`, `1,000K` or `1.2M`".to_owned()),
    }
}

/// Whether a unit with a thousand in it is of requests: `K`, `K IOPS`.
pub fn is_of_requests(unit: &str) -> bool {
    let unit = unit.trim().to_lowercase();
    unit.starts_with('k') && rate_factor(&unit).is_err()
}

/// By what the unit of an amount of data multiplies, in bytes; decimal, as on data sheets.
pub fn size_factor(unit: &str) -> Result<f64, String> {
    match unit.trim().to_lowercase() {
        unit if unit.starts_with("byte") => Ok(1.0),
        unit if unit.starts_with("gib") => Ok(f64::from(1 << 30)),
        unit if unit.starts_with("tib") => Ok((1_u64 << 40) as f64),
        unit if unit.starts_with("mb") => Ok(1e6),
        unit if unit.starts_with('g') => Ok(1e9),
        unit if unit.starts_with('t') => Ok(1e12),
        unit if unit.starts_with('p') => Ok(1e15),
        _ => Err("an amount looks like `960 GB`, `1.92 TB` or `600 TBW`".to_owned()),
    }
}

/// Whether a unit is one of data written: `TBW`, `PB`.
pub fn is_endurance(unit: &str) -> bool {
    let word = unit.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    matches!(&*word, "tb" | "tbw" | "pb" | "pbw")
}

/// By what the unit of a time multiplies, in microseconds.
pub fn time_factor(unit: &str) -> Result<f64, String> {
    match unit.trim().to_lowercase() {
        unit if unit.starts_with("ns") => Ok(1e-3),
        unit if unit.starts_with(['u', 'µ', 'μ']) => Ok(1.0),
        unit if unit.starts_with("ms") => Ok(1e3),
        _ => Err("a latency looks like `75 us`".to_owned()),
    }
}

/// An interface: `PCIe Gen4 x4, NVMe 1.4`, `SATA 6Gb/s`, `SAS 12Gb/s`. Of NVMe without a generation, none is given.
pub fn interface(text: &str) -> Result<Option<Interface>, String> {
    let plain = text.to_lowercase().replace('×', "x");
    let mut known = String::new();
    for word in plain.split_whitespace() {
        // `Gen4 1x4` is not a generation of two digits.
        if known.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit()) {
            known.push(' ');
        }
        known.extend(word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '.' | '/')));
    }
    let has = |word: &str| known.contains(word);
    let is_sas = plain.split(|c: char| !c.is_alphanumeric()).any(|word| word == "sas");
    if is_sas && (has("sata") || has("serialata")) {
        return Err("it is of two interfaces; give that of the drive, such as `interface=SAS 12 Gb/s`".to_owned());
    }
    if has("sata") || has("serialata") {
        let rate = match () {
            () if has("ata300") => 300,
            () if has("ata150") => 150,
            () if has("6g") || has("6.0g") || has("/600") => 600,
            () if has("/300")
                || has("3g")
                || has("3.0g")
                || has("sata2")
                || has("revision2")
                || has("sataii") && !has("sataiii") =>
            {
                300
            }
            () if has("1.5g") || has("/150") => 150,
            () => 600,
        };
        return Ok(Some(Interface::Sata(rate)));
    }
    if has("pci") || has("nvme") || known.starts_with("gen") {
        return Ok(generation(&known)?.map(|generation| Interface::Pcie { generation, lanes: lanes(&known) }));
    }
    if has("sas") || has("attachedscsi") {
        return Ok(Some(Interface::Sas(match () {
            () if has("24g") || has("24.0g") || has("22.5g") || has("sas4") => 2400,
            () if has("12g") || has("12.0g") || has("sas3.0") || has("sas3") && !has("sas3g") => 1200,
            () if has("3g") || has("3.0g") => 300,
            () => 600,
        })));
    }
    Err("an interface looks like `PCIe 4.0 x4`, `PCIe Gen4 x4, NVMe 1.4`, `SATA 6 Gb/s` or `SAS 12 Gb/s`".to_owned())
}

/// The generation of PCIe that is named behind `gen` or the bus itself.
fn generation(known: &str) -> Result<Option<u32>, String> {
    for word in ["gen", "express", "pcie", "pci"] {
        for (at, _) in known.match_indices(word) {
            let rest = known[at + word.len()..]
                .trim_start_matches("eration")
                .trim_start_matches("nvme")
                .trim_start_matches('g')
                .trim_start_matches('.');
            // `PCIe x4` names lanes alone.
            let digit = rest.chars().next().and_then(|c| c.to_digit(10));
            match digit {
                Some(generation @ 1..=6) if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                    return Ok(Some(generation));
                }
                Some(_) => return Err("PCIe has generations 1 to 6, such as `PCIe 4.0 x4`".to_owned()),
                None => {}
            }
        }
    }
    Ok(None)
}

/// How many lanes are named; four where none are.
fn lanes(known: &str) -> u32 {
    let is_count = |text: &str| text.chars().next().and_then(|c| c.to_digit(10)).filter(|n| [1, 2, 4, 8].contains(n));
    let behind = known.match_indices('x').find_map(|(at, _)| is_count(&known[at + 1..]));
    // `PCI-E 5.0 2x`
    let before =
        || known.split(' ').find_map(|word| word.strip_suffix('x').filter(|count| count.len() == 1).and_then(is_count));
    behind.or_else(before).unwrap_or(4)
}

/// How many bits a cell holds: `3D TLC`, `V-NAND 3-bit MLC`, `QLC`. None where the text does not say.
pub fn bits(text: &str) -> Result<Option<u32>, String> {
    let words = text.to_lowercase();
    let has = |word: &str| words.contains(word);
    if has("xpoint") || has("optane") || has("dram") || has("plc") {
        return Err("a drive made of ratings has flash of one to four bits a cell: slc, mlc, tlc or qlc".to_owned());
    }
    let named = [("4-bit", 4), ("4bit", 4), ("3-bit", 3), ("3bit", 3), ("2-bit", 2), ("2bit", 2)];
    let cells = [("qlc", 4), ("quad", 4), ("tlc", 3), ("triple", 3), ("mlc", 2), ("multi", 2), ("slc", 1)];
    Ok(named.iter().chain(&cells).find(|(word, _)| has(word)).map(|(_, bits)| *bits))
}

/// Whether a row says that a drive has no DRAM: `DRAM: no`, `DRAM-less: yes`, `HMB: 64 MB`, `Cache: HMB`.
pub fn has_no_dram(key: &str, text: &str) -> bool {
    let (key, text) = (key.to_lowercase(), text.to_lowercase());
    let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or("no");
    let is_no = ["no", "none", "not", "n", "na", "false", "0", "without", "unsupported"].contains(&word);
    let is_host = |words: &str| words.contains("hmb") || words.contains("host memory");
    let is_less = |words: &str| ["dramless", "dram-less", "dram less"].iter().any(|less| words.contains(less));
    if is_less(&key) || is_host(&key) {
        return !is_no;
    }
    let names_none = is_less(&text) || ["no dram", "without dram"].iter().any(|none| text.contains(none));
    names_none || is_host(&text) && !text.contains("no h") || is_no && key.contains("dram")
}

/// What a mistake says of cells of several drives.
pub const SEVERAL: &str = "these are several values; give that of one drive, or beside the sheet which capacity it has, such as \
    `capacity=960GB`, and commas or lines between facts";

/// The unit that a key has for values without one: `Random read (K IOPS)`.
pub fn hint(key: &str, units: &[&str]) -> String {
    let key = key.to_lowercase();
    let has = units.iter().find(|unit| key.contains(*unit));
    has.map(|unit| (*unit).to_owned()).unwrap_or_default()
}

/// The amounts of a text: each number with its unit, or else the next number's, or else the key's.
pub fn amounts(text: &str, key: &str, factor: fn(&str) -> Result<f64, String>) -> Result<Vec<f64>, String> {
    let text = without_brackets(text);
    if has_negative(&text) {
        return Err("it is below zero; give it without a minus sign".to_owned());
    }
    let found = quantities(&text);
    let is_bare = |unit: &str| unit.trim_matches(|c: char| "/–-,;|~*".contains(c) || c.is_whitespace()).is_empty();
    let mut amounts = Vec::new();
    for (index, Quantity { number, is_grouped, unit }) in found.iter().enumerate() {
        let named = found[index..]
            .iter()
            .map(|quantity| &*quantity.unit)
            .find(|unit| !is_bare(unit))
            .filter(|unit| factor(unit).is_ok())
            .map(str::to_owned);
        let unit = if is_bare(unit) { named.unwrap_or_else(|| hint(key, UNITS)) } else { unit.clone() };
        match factor(&unit) {
            // There are no parts of a request, and none are rated by the thousandth of a thousand: `1.000K`.
            Ok(1.0) if *is_grouped => amounts.push(number * 1000.0),
            Ok(1e3) if *is_grouped && *number < 10.0 && is_of_requests(&unit) => amounts.push(number * 1e6),
            Ok(factor) => amounts.push(number * factor),
            // A depth or a size of requests behind what was asked for: `98,000 IOPS @ QD32`.
            Err(_) if !amounts.is_empty() => {}
            Err(why) if unit.is_empty() => return Err(format!("{number} has no unit; {why}")),
            Err(why) => return Err(why),
        }
    }
    match amounts.iter().all(|amount| *amount > 0.0 && *amount < 1e18) && !amounts.is_empty() {
        true => Ok(amounts),
        false => Err(factor("?").err().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_data_sheets_write_them() {
        for (text, number, unit) in [
            ("Up to 7,000 MB/s", 7000.0, "MB/s"),
            ("1,000K IOPS", 1000.0, "K IOPS"),
            ("1.92 TB", 1.92, "TB"),
            ("6,9 GByte/s", 6.9, "GByte/s"),
            ("14 000 MB/s", 14_000.0, "MB/s"),
            ("1.300.000 IOPS", 1_300_000.0, "IOPS"),
            ("~ 1,150,000", 1_150_000.0, ""),
            ("960GB GB", 960.0, "GB GB"),
        ] {
            let found = &quantities(text)[0];
            assert_eq!((found.number, &*found.unit), (number, unit), "{text}");
        }
        assert_eq!(quantities("560/530 MB/s").len(), 2);
        assert!(quantities("none").is_empty());
    }

    #[test]
    fn drives_without_dram_are_known_by_what_data_sheets_say() {
        for (key, text, expected) in [
            ("DRAM", "no", true),
            ("DRAM cache", "None", true),
            ("DRAM", "–", true),
            ("Cache", "HMB (Host Memory Buffer)", true),
            ("DRAM-less", "yes", true),
            ("Host memory buffer", "64 MB", true),
            ("Buffer", "DRAM-less design", true),
            ("HMB", "not supported", false),
            ("DRAM", "1 GB LPDDR4 (no HMB)", false),
            ("Cache", "512 MB", false),
            ("Cache", "none", false),
        ] {
            assert_eq!(has_no_dram(key, text), expected, "{key}: {text}");
        }
    }

    #[test]
    fn units_of_rates_are_bytes() {
        for (unit, factor) in [
            ("MB/s", 1e6),
            ("GBps", 1e9),
            ("mb/s", 1e6),
            ("MByte/s", 1e6),
            ("Mbyte/s", 1e6),
            ("Megabytes Per Second", 1e6),
        ] {
            assert_eq!(rate_factor(unit), Ok(factor), "{unit}");
        }
        for wrong in ["Gb/s", "Mbps", "", "IOPS"] {
            assert!(rate_factor(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn interfaces_are_read_as_data_sheets_word_them() {
        let pcie = |generation, lanes| Ok(Some(Interface::Pcie { generation, lanes }));
        for (text, is) in [
            ("PCIe Gen4 x4, NVMe 1.4", pcie(4, 4)),
            ("x4 PCIe 4.0/NVMe", pcie(4, 4)),
            ("NVMe (PCIe Gen4 ×4)", pcie(4, 4)),
            ("PCI Express 3.0 x2", pcie(3, 2)),
            ("SATA Revision 2.6", Ok(Some(Interface::Sata(300)))),
            ("PCIe® 5.0 x4, NVMe™ 2.0", pcie(5, 4)),
            ("PCI-Express NVMe Gen 3.0 x 4", pcie(3, 4)),
            ("pcie3x8", pcie(3, 8)),
            ("PCIe Gen4 1x4 or 2x2", pcie(4, 4)),
            ("M.2 NVMe", Ok(None)),
            ("SATA 6Gb/s", Ok(Some(Interface::Sata(600)))),
            ("SATA III 6.0 Gb/s (backwards compatible with 3.0 Gb/s)", Ok(Some(Interface::Sata(600)))),
            ("SATA3 6 GB/s", Ok(Some(Interface::Sata(600)))),
            ("SATA 3Gb/s", Ok(Some(Interface::Sata(300)))),
            ("12Gb/s SAS", Ok(Some(Interface::Sas(1200)))),
            ("SAS 12.0 Gbit/s", Ok(Some(Interface::Sas(1200)))),
            ("SAS 3Gb/s", Ok(Some(Interface::Sas(300)))),
            ("Serial ATA-150", Ok(Some(Interface::Sata(150)))),
            ("SATA-300", Ok(Some(Interface::Sata(300)))),
        ] {
            assert_eq!(interface(text), is, "{text}");
        }
        assert!(interface("SATA 6 Gb/s or SAS 12 Gb/s").is_err());
        assert!(interface("USB 3.2").is_err() && interface("PCIe 9.0").is_err());
    }

    #[test]
    fn cells_are_read_as_data_sheets_word_them() {
        for (text, is) in [
            ("3D TLC", Some(3)),
            ("Samsung V-NAND 3-bit MLC", Some(3)),
            ("2-bit MLC", Some(2)),
            ("144-layer QLC 3D NAND", Some(4)),
            ("SLC", Some(1)),
            ("3D NAND", None),
        ] {
            assert_eq!(bits(text), Ok(is), "{text}");
        }
        assert!(bits("3D XPoint").is_err());
    }
}
