//! What a disk's data sheet says that no flash drive's does.

use super::super::key::words;
use super::super::ratings::amounts;
use super::super::value::{self, Quantity, quantities};
use super::super::without_brackets;

/// How tracks lie beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    #[default]
    Conventional,
    DriveManaged,
    HostManaged,
}

/// Milliseconds of seeks; none where nobody says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seeks {
    pub track: Option<f64>,
    pub average: Option<f64>,
    pub full: Option<f64>,
}

/// What a data sheet says of a disk beside what all drives have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskRatings {
    pub rpm: Option<f64>,
    /// Half a revolution, in milliseconds.
    latency: Option<f64>,
    /// Before reads, and before writes.
    pub seeks: [Seeks; 2],
    /// Bytes.
    pub cache: Option<f64>,
    /// Bytes a second at the outermost tracks.
    pub transfer: Option<f64>,
    /// The same on average over all tracks, and at the innermost ones.
    pub average: Option<f64>,
    pub inner: Option<f64>,
    /// Under the head, gaps left out.
    pub internal: Option<f64>,
    pub heads: Option<u32>,
    /// Watts.
    pub idle: Option<f64>,
    pub active: Option<f64>,
    /// Bytes of a physical sector.
    pub physical: Option<u32>,
    pub recording: Recording,
    pub has_two_arms: bool,
    /// 2.5 inch and less.
    pub is_small: bool,
    /// Random requests in flight.
    pub depth: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiskField {
    Spindle,
    Latency,
    Seek,
    Cache,
    Transfer,
    Average,
    Internal,
    Heads,
    Idle,
    Active,
    /// What [`DiskRatings::notice`] reads.
    Noticed,
    Unused,
}

/// Words of disks' rows that are read and left out.
const UNUSED: &[&str] = &[
    "acoustic",
    "acoustics",
    "altitude",
    "annualized",
    "areal",
    "availability",
    "bels",
    "contact",
    "cycles",
    "cylinders",
    "density",
    "failure",
    "guaranteed",
    "helium",
    "hours",
    "limit",
    "load",
    "nonrecoverable",
    "odor",
    "peak",
    "port",
    "ports",
    "raid",
    "ready",
    "sound",
    "spin",
    "start",
    "startup",
    "unload",
    "unrecoverable",
    "width",
];

/// What the row of this name says of a disk alone; none if it says what rows of all drives do.
fn of(key: &str, text: &str) -> Option<DiskField> {
    let lower = key.to_lowercase();
    let names: Vec<&str> = words(&lower).collect();
    let has = |known: &[&str]| names.iter().any(|word| known.contains(word));
    let is_power = has(&["power", "watt", "watts", "consumption"])
        || ["(w)", "(w,", "[w]"].iter().any(|unit| lower.contains(unit))
        || quantities(text).first().is_some_and(|found| words(&found.unit).next() == Some("W"));
    let has_rate = has(&["bandwidth", "rate", "speed", "transfer", "transfers"]);
    let is_average = has(&["average", "avg"]);
    // Under a heading of power, or of sound.
    let has_unit = quantities(text).first().is_some_and(|found| words(&found.unit).next().is_some());
    let is_bare = !has_unit && names.iter().all(|name| ["read", "write", "seek", "idle", "operating"].contains(name));
    if has(&["capacity", "capacities", "price", "msrp", "source", "warranty"]) {
        None
    } else if is_power {
        match (has(&["idle"]), has(&["operating", "active", "read", "write", "seek", "random"])) {
            (true, _) => Some(DiskField::Idle),
            (false, true) => Some(DiskField::Active),
            _ => Some(DiskField::Unused),
        }
    } else if is_bare {
        Some(DiskField::Unused)
    } else if has(&["seek", "seeks", "stroke", "track"]) || is_average && has(&["time"]) && has(&["read", "write"]) {
        Some(if has(&["error", "errors", "mode", "noise", "density"]) { DiskField::Unused } else { DiskField::Seek })
    } else if has(&["latency"]) {
        Some(DiskField::Latency)
    } else if has(&["rpm", "spindle", "rotation", "rotational"]) || text.to_lowercase().contains("rpm") {
        Some(DiskField::Spindle)
    } else if has(&["sustained", "sustainable"]) {
        Some(if is_average { DiskField::Average } else { DiskField::Transfer })
    } else if has(&["internal", "media"]) && has_rate {
        Some(DiskField::Internal)
    } else if has(&["interface", "external", "ext", "burst", "buffer", "host"]) && has_rate
        || has(&["buffer", "host"]) && text.contains("/s")
    {
        Some(DiskField::Unused)
    } else if has(&["cache", "buffer"]) {
        Some(DiskField::Cache)
    } else if has(&["heads", "platters", "disks", "discs"]) {
        Some(DiskField::Heads)
    } else if has(&["transfer", "throughput"]) || has(&["rate"]) && has(&["data"]) {
        Some(if is_average { DiskField::Average } else { DiskField::Transfer })
    } else if has(&["recording", "sector", "sectors", "bytes", "fastformat", "actuator", "actuators"])
        || has(&["form"]) && has(&["factor"])
        || has(&["advanced"]) && has(&["format"])
    {
        Some(DiskField::Noticed)
    } else if has(UNUSED) {
        Some(DiskField::Unused)
    } else {
        None
    }
}

/// Whether a line of this name has its value in the next one: `Cache`, and below it `256 MB`.
pub fn is_named(line: &str) -> bool {
    of(line, "").is_some_and(|field| !matches!(field, DiskField::Unused | DiskField::Noticed))
}

/// The name and the value of a line without a separator: `Cache (MB) 64`, `Spindle speed 7200 rpm`.
pub fn parted(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        depth += i32::from("([".contains(letter)) - i32::from(")]".contains(letter));
        if depth == 0 && letter.is_ascii_digit() && (before.is_whitespace() || before == ')') && at > 0 {
            let (key, text) = (line[..at].trim_end(), &line[at..]);
            return of(key, text).map(|_| (key, text));
        }
        before = letter;
    }
    None
}

impl DiskRatings {
    /// Takes note of what a row or a heading says by the way: `512e`, `SMR`, `2.5-inch`, `7200 RPM`.
    pub fn notice(&mut self, row: &str) {
        let lower = row.to_lowercase();
        let names: Vec<&str> = words(&lower).collect();
        let has = |word: &str| names.contains(&word);
        let has_large = ["512e", "4kn", "4096"].iter().any(|word| has(word)) || lower.contains("advanced format");
        if has_large {
            self.physical = Some(4096);
        } else if has("512n") {
            self.physical = self.physical.or(Some(512));
        }
        let is_shingled = has("smr") || has("shingled") || has("dmsmr") || has("hmsmr");
        if is_shingled && !has("cmr") && !has("conventional") {
            let is_of_host =
                lower.contains("host managed") || lower.contains("host-managed") || has("hm") || has("hmsmr");
            self.recording = if is_of_host { Recording::HostManaged } else { Recording::DriveManaged };
        }
        let is_dual = has("dual") || has("two") || has("2");
        self.has_two_arms |= (has("actuator") || has("actuators")) && is_dual || lower.contains("mach.2");
        let small = ["2.5\"", "2.5-inch", "2.5 inch", "2.5in", "2.5”", "2.5″", "2½", "1.8-inch", "1.8 inch"];
        let is_form = (has("form") || has("factor")) && ["2.5", "1.8"].iter().any(|size| lower.contains(size));
        self.is_small |= is_form || small.iter().any(|size| lower.contains(size));
        let turns = quantities(&lower).into_iter().find(|found| found.unit.trim_start_matches('-').starts_with("rpm"));
        self.rpm = self.rpm.or(turns.map(|found| found.number).filter(|number| RPM.contains(number)));
        if self.depth.is_none() && has("random") {
            self.depth = depth(&lower);
        }
    }

    /// Takes note of one value: whether it is of use; none if the row is none of disks alone.
    pub fn take(&mut self, key: &str, text: &str) -> Option<Result<bool, String>> {
        if text.is_empty() || text.chars().count() > value::VALUE_MAX {
            return None;
        }
        let field = of(key, text)?;
        if field != DiskField::Unused && value::has_negative(text) {
            return Some(Err("it is below zero; give it without a minus sign".to_owned()));
        }
        Some(match field {
            DiskField::Unused => Ok(false),
            DiskField::Noticed => Ok(true),
            DiskField::Spindle => self.take_spindle(text),
            DiskField::Latency => Ok(self.take_latency(text)),
            DiskField::Seek => self.take_seek(key, text),
            DiskField::Cache => self.take_cache(key, text),
            DiskField::Transfer => self.take_transfer(key, text),
            DiskField::Average => take_rate(&mut self.average, key, text),
            DiskField::Internal => take_rate(&mut self.internal, key, text),
            DiskField::Heads => Ok(self.take_heads(key, text)),
            DiskField::Idle => Ok(take_power(&mut self.idle, text)),
            DiskField::Active => Ok(take_power(&mut self.active, text)),
        })
    }

    /// Revolutions a minute: said, or of half a revolution.
    pub fn turns(&self) -> Option<f64> {
        const USUAL: [f64; 8] = [3600.0, 4200.0, 5400.0, 5700.0, 5900.0, 7200.0, 10_000.0, 15_000.0];
        let by_latency = |latency: f64| {
            let turns = 30_000.0 / latency;
            USUAL.into_iter().find(|usual| (turns / usual - 1.0).abs() < 0.02).unwrap_or((turns / 10.0).round() * 10.0)
        };
        self.rpm.or(self.latency.map(by_latency))
    }

    fn take_spindle(&mut self, text: &str) -> Result<bool, String> {
        let Some(Quantity { number, unit, .. }) = quantities(text).into_iter().next() else { return Ok(false) };
        let turns = if number < 100.0 && unit.to_lowercase().starts_with('k') { number * 1000.0 } else { number };
        if !RPM.contains(&turns) {
            return Err("a disk turns 3,000 to 20,000 times a minute, such as `7200 RPM`".to_owned());
        }
        match self.rpm.replace(turns) {
            Some(before) if before != turns => Err(format!("it is {before} elsewhere; give the values of one drive")),
            _ => Ok(true),
        }
    }

    fn take_latency(&mut self, text: &str) -> bool {
        let found = quantities(text).first().map(|found| found.number).filter(|time| (1.0..=10.0).contains(time));
        self.latency = self.latency.or(found);
        found.is_some()
    }

    fn take_seek(&mut self, key: &str, text: &str) -> Result<bool, String> {
        let lower = key.to_lowercase();
        let names: Vec<&str> = words(&lower).collect();
        let has = |word: &str| names.contains(&word);
        let is_full = has("full") || has("stroke");
        let is_track = has("track") && !is_full;
        let found = quantities(text);
        let times: Vec<f64> = found.iter().map(|found| found.number * in_milliseconds(&found.unit)).collect();
        let most = if is_track { 10.0 } else { 60.0 };
        let (read, write) = match (&times[..], has("read"), has("write")) {
            ([], ..) => return Ok(false),
            ([one], true, false) => (Some(*one), None),
            ([one], false, true) => (None, Some(*one)),
            ([one], ..) => (Some(*one), Some(*one)),
            ([read, write], read_said, write_said) if read_said == write_said => (Some(*read), Some(*write)),
            _ => return Err("give a time for reads and one for writes, such as `8.5 ms` and `9.5 ms`".to_owned()),
        };
        if times.iter().any(|time| !(0.02..=most).contains(time)) {
            return Err(format!("a seek takes up to {most} ms, such as `8.5 ms`"));
        }
        for (seeks, time) in self.seeks.iter_mut().zip([read, write]) {
            let place = match (is_track, is_full) {
                (true, _) => &mut seeks.track,
                (_, true) => &mut seeks.full,
                _ => &mut seeks.average,
            };
            // What is said of reads and writes apart goes before what is said of both.
            *place = time.or(*place);
        }
        Ok(true)
    }

    fn take_cache(&mut self, key: &str, text: &str) -> Result<bool, String> {
        let text = without_brackets(text);
        let Some(Quantity { number, unit, .. }) = quantities(&text).into_iter().next() else { return Ok(false) };
        let key = key.to_lowercase();
        let of_key = ["gb", "gib", "mb", "mib", "kb", "kib"].into_iter().find(|unit| key.contains(&format!("({unit}")));
        let unit = if unit.is_empty() { of_key.unwrap_or_default().to_owned() } else { unit.to_lowercase() };
        let shift = match unit.chars().next() {
            Some('k') => 10,
            // Shops leave it out.
            Some('m') | None => 20,
            Some('g') => 30,
            _ => return Err("a disk's cache looks like `256 MB`".to_owned()),
        };
        let size = number * f64::from(1 << shift);
        if !(64.0 * 1024.0..=16.0 * f64::from(1 << 30)).contains(&size) {
            return Err("a disk's cache has 64 KB to 16 GB".to_owned());
        }
        match self.cache.replace(size) {
            Some(before) if before != size => Err("it is given twice, with another value; give it once".to_owned()),
            _ => Ok(true),
        }
    }

    /// The rate of the outermost tracks, or from there to the innermost: `202 to 151 MB/s`.
    fn take_transfer(&mut self, key: &str, text: &str) -> Result<bool, String> {
        let text = &*text.replace(" to ", "–");
        let is_range = ["-", "–"].iter().any(|mark| text.contains(mark));
        match amounts(text, key, value::rate_factor) {
            Ok(found) if found.len() == 2 && is_range && found[0] != found[1] => {
                self.transfer = Some(found[0].max(found[1]));
                self.inner = Some(found[0].min(found[1]));
                Ok(true)
            }
            _ => take_rate(&mut self.transfer, key, text),
        }
    }

    /// Heads, or twice as many as platters: `Heads/Disks: 18/9`, `Number of disks: 9`.
    fn take_heads(&mut self, key: &str, text: &str) -> bool {
        let lower = key.to_lowercase();
        let numbers: Vec<f64> = quantities(text).iter().map(|found| found.number).collect();
        let heads_at = lower.find("head");
        let disks_at = ["disk", "disc", "platter"].iter().filter_map(|word| lower.find(word)).min();
        let heads = match (&numbers[..], heads_at, disks_at) {
            ([one], Some(_), None) => Some(*one),
            ([one], None, Some(_)) => Some(one * 2.0),
            ([first, second], Some(heads), Some(disks)) => Some(if heads < disks { *first } else { *second }),
            _ => None,
        };
        let heads =
            heads.filter(|count| count.fract() == 0.0 && (1.0..=64.0).contains(count)).map(|count| count as u32);
        self.heads = self.heads.or(heads);
        heads.is_some()
    }
}

/// Revolutions a minute of disks.
const RPM: std::ops::RangeInclusive<f64> = 3_000.0..=20_000.0;

/// By what the unit of a seek multiplies; milliseconds where none is said.
fn in_milliseconds(unit: &str) -> f64 {
    let word = unit.trim_start().to_lowercase();
    if word.starts_with(['u', 'µ', 'μ']) { 1e-3 } else { 1.0 }
}

/// How many requests are in flight: `QD16`, `QD=32`, `Q16`.
fn depth(lower: &str) -> Option<f64> {
    let plain = lower.replace("queue depth", "qd");
    let mut names = words(&plain).peekable();
    while let Some(name) = names.next() {
        let digits = match name.strip_prefix("qd").or_else(|| name.strip_prefix('q')) {
            Some("") => names.peek().copied().unwrap_or_default(),
            Some(digits) => digits,
            None => continue,
        };
        let depth: Option<f64> = digits.parse().ok();
        if depth.is_some_and(|depth| (1.0..=1024.0).contains(&depth)) {
            return depth;
        }
    }
    None
}

/// Takes a rate, which a sheet may have in megabytes and again in mebibytes: `285, 272` of a row `(MB/s, MiB/s)`.
fn take_rate(rate: &mut Option<f64>, key: &str, text: &str) -> Result<bool, String> {
    let found = match amounts(text, key, value::rate_factor) {
        Ok(found) => found,
        // On the wire.
        Err(_) if text.contains("b/s") && !text.contains("B/s") || text.contains("bit") => return Ok(false),
        Err(why) => return Err(why),
    };
    if found.iter().any(|other| (other / found[0] - 1.0).abs() > 0.06) {
        return Err(
            "these are several values; give that of one drive, or beside the sheet which capacity it has, such as \
             `capacity=20TB`"
                .to_owned(),
        );
    }
    match rate.replace(found[0]) {
        Some(before) if before != found[0] => {
            // Of several rows the first is of the outermost tracks, or of reads.
            *rate = Some(before.max(found[0]));
            Ok(true)
        }
        _ => Ok(true),
    }
}

/// Takes a power, of which the first counts: `Idle A (W): 5.4`.
fn take_power(power: &mut Option<f64>, text: &str) -> bool {
    let found = quantities(text).first().map(|found| found.number).filter(|watts| (0.05..=40.0).contains(watts));
    *power = power.or(found);
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rows: &[(&str, &str)]) -> DiskRatings {
        let mut disk = DiskRatings::default();
        for (key, text) in rows {
            disk.notice(&format!("{key} {text}"));
            if let Some(Err(why)) = disk.take(key, text) {
                panic!("{key}: {text}: {why}");
            }
        }
        disk
    }

    #[test]
    fn rows_of_disks_are_read_as_their_makers_word_them() {
        let seagate = taken(&[
            ("Standard Model FastFormat (512e/4Kn)", "ST20000NM007D"),
            ("Spindle Speed (RPM)", "7200"),
            ("Interface Access Speed (Gb/s)", "6.0"),
            ("Max. Sustained Transfer Rate OD (MB/s, MiB/s)", "285, 272"),
            ("Random Read/Write 4K QD16 WCD (IOPS)", "168/550"),
            ("Average Latency (ms)", "4.16"),
            ("Interface Ports", "Single"),
            ("Cache (MB)", "256"),
            ("Idle A (W) Average", "5.4W"),
            ("Max Operating, Random Read/Write 4K/16Q (W)", "9.4, 6.4"),
        ]);
        assert_eq!((seagate.rpm, seagate.transfer, seagate.depth), (Some(7200.0), Some(285e6), Some(16.0)));
        assert_eq!((seagate.cache, seagate.physical), (Some(f64::from(256 << 20)), Some(4096)));
        assert_eq!((seagate.idle, seagate.active), (Some(5.4), Some(9.4)));
        let toshiba = taken(&[
            ("Rotation Speed", "7,200 rpm"),
            ("Buffer Size", "512 MiB"),
            ("Maximum Data Transfer Speed (Sustained)(Typ.)", "268 MiB/s"),
            ("Interface Speed", "6.0 Gbit/s"),
            ("Average Seek Time Read", "8.5 ms"),
            ("Average Seek Time Write", "9.5 ms"),
            ("Track-to-track seek time", "0.9 / 1.1 ms"),
            ("Heads/Disks", "18/9"),
        ]);
        assert_eq!(toshiba.transfer, Some(268.0 * f64::from(1 << 20)));
        assert_eq!(toshiba.seeks[0], Seeks { track: Some(0.9), average: Some(8.5), full: None });
        assert_eq!(toshiba.seeks[1], Seeks { track: Some(1.1), average: Some(9.5), full: None });
        assert_eq!(toshiba.heads, Some(18));
        let western = taken(&[
            ("Performance Class", "5400 RPM Class"),
            ("Form factor", "2.5-inch"),
            ("Host to/from drive (sustained)", "140 MB/s"),
            ("Buffer to host", "6 Gb/s"),
            ("Recording Technology", "SMR"),
        ]);
        assert_eq!((western.rpm, western.transfer, western.is_small), (Some(5400.0), Some(140e6), true));
        assert_eq!(western.recording, Recording::DriveManaged);
        let fast = taken(&[
            ("Sustained transfer rate, outer to inner diameter", "202 to 151 MB/s"),
            ("Average Write Time", "3.1 ms"),
            ("Seek", "3.2"),
            ("Data buffer (MB)", "64"),
            ("Data transfer rate, media to/from buffer (max)", "300 MB/sec"),
            ("Random Write 4K QD 32", "560 IOPS"),
        ]);
        assert_eq!((fast.transfer, fast.inner, fast.internal), (Some(202e6), Some(151e6), Some(300e6)));
        assert_eq!((fast.seeks[0].average, fast.seeks[1].average, fast.depth), (None, Some(3.1), Some(32.0)));
        assert_eq!(fast.cache, Some(f64::from(64 << 20)));
        assert_eq!(parted("Cache (MB) 64"), Some(("Cache (MB)", "64")));
        assert_eq!(parted("Operating, Average (W)9.23"), Some(("Operating, Average (W)", "9.23")));
        assert_eq!(parted("Model 7200"), None);
        assert_eq!(taken(&[("Average latency", "4.17 ms")]).turns(), Some(7200.0));
        assert_eq!(taken(&[("Type", "Host-managed SMR")]).recording, Recording::HostManaged);
        assert!(taken(&[("Actuators", "2")]).has_two_arms && taken(&[("Design", "dual actuator")]).has_two_arms);
    }

    #[test]
    fn what_no_disk_has_is_refused() {
        for (key, text, words) in [
            ("Spindle speed", "72 rpm", "3,000 to 20,000"),
            ("Cache", "1 TB", "looks like `256 MB`"),
            ("Average seek", "85 ms", "up to 60 ms"),
            ("Average seek", "8 9 10 ms", "one for writes"),
            ("Max sustained transfer rate", "285 MB/s 249 MB/s", "several values"),
            ("Seek time", "-8 ms", "below zero"),
        ] {
            let said = DiskRatings::default().take(key, text).unwrap().expect_err(key);
            assert!(said.contains(words), "{key}: {text}: {said}");
        }
    }
}
