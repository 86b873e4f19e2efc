//! What a disk's data sheet says that no flash drive's does.

use super::super::key::words;
use super::super::value::{self, Quantity, SEVERAL, amounts, quantities, without_brackets};
use super::names::{self, DENYING, DiskField, RPM};

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

const ONE_EACH: &str = "give a time for reads and one for writes, such as `8.5 ms` and `9.5 ms`";

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
    /// The rate of writes in order, where it is not that of reads.
    pub written: Option<f64>,
    /// A rate that does not say of what it is, and that under the head, gaps left out.
    plain: Option<f64>,
    internal: Option<f64>,
    pub heads: Option<u32>,
    /// Watts: at rest, with random requests, and with requests in order.
    pub idle: Option<f64>,
    pub active: Option<f64>,
    pub moving: [Option<f64>; 2],
    /// Bytes of a physical sector.
    pub physical: Option<u32>,
    pub recording: Recording,
    pub has_two_arms: bool,
    /// 2.5 inch and less.
    pub is_small: bool,
    /// Random requests in flight.
    pub depth: Option<f64>,
}

impl DiskRatings {
    /// Takes note of what a row or a heading says by the way: `512e`, `SMR`, `2.5-inch`, `7200 RPM`.
    pub fn notice(&mut self, row: &str) {
        let lower = row.to_lowercase();
        let names: Vec<&str> = words(&lower).collect();
        let has = |word: &str| names.contains(&word);
        if names.iter().any(|name| DENYING.contains(name)) {
            return;
        }
        let has_large = ["512e", "4kn", "4096"].iter().any(|word| has(word)) || lower.contains("advanced format");
        if has_large {
            self.physical = Some(4096);
        } else if has("512n") {
            self.physical = self.physical.or(Some(512));
        }
        let is_shingled = has("smr") || has("shingled") || has("dmsmr") || has("hmsmr");
        let is_empty = lower.trim_end().ends_with(['–', '—', '-']);
        if is_shingled && !is_empty && !has("cmr") && !has("conventional") {
            let is_of_host =
                lower.contains("host managed") || lower.contains("host-managed") || has("hm") || has("hmsmr");
            self.recording = if is_of_host { Recording::HostManaged } else { Recording::DriveManaged };
        }
        let is_pair = |pair: &[&str]| match pair {
            ["dual" | "two" | "2", "actuator" | "actuators"] => true,
            ["actuator" | "actuators", "dual" | "two" | "2"] => names.len() < 5,
            _ => false,
        };
        self.has_two_arms |= names.windows(2).any(is_pair) || lower.contains("mach.2");
        let small = ["2.5\"", "2.5-inch", "2.5 inch", "2.5in", "2.5”", "2.5″", "2½", "1.8-inch", "1.8 inch"];
        let is_form = (has("form") || has("factor")) && ["2.5", "1.8"].iter().any(|size| lower.contains(size));
        self.is_small |= (is_form || small.iter().any(|size| lower.contains(size))) && !lower.contains("3.5");
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
        let field = names::of(key, text)?;
        match field {
            DiskField::Unused => return Some(Ok(false)),
            DiskField::Noticed => return Some(Ok(true)),
            // The head of a table.
            _ if !text.contains(|c: char| c.is_ascii_digit()) => return Some(Ok(false)),
            _ => {}
        }
        // The cells of several disks, of which nobody has said which is meant.
        let mut cells = text.split(['|', '\t']).map(str::trim).filter(|cell| !cell.is_empty());
        let text = cells.next().unwrap_or_default();
        if cells.any(|cell| cell != text) {
            return Some(Err(SEVERAL.to_owned()));
        }
        if value::has_negative(text) {
            return Some(Err("it is below zero; give it without a minus sign".to_owned()));
        }
        Some(match field {
            DiskField::Unused | DiskField::Noticed => Ok(false),
            DiskField::Spindle => self.take_spindle(text),
            DiskField::Latency => Ok(self.take_latency(text)),
            DiskField::Seek => self.take_seeks(key, text),
            DiskField::Cache => self.take_cache(key, text),
            DiskField::Transfer => self.take_transfer(key, text),
            DiskField::Rate => self.take_plain(key, text),
            DiskField::Average => take_rate(&mut self.average, key, text),
            DiskField::Internal => take_rate(&mut self.internal, key, text),
            DiskField::Heads => Ok(self.take_heads(key, text)),
            DiskField::Idle => Ok(take_power(&mut self.idle, text)),
            DiskField::Active => Ok(take_power(&mut self.active, text)),
            DiskField::Moving => Ok(self.take_moving(key, text)),
        })
    }

    /// The rate of the outermost tracks, where a row says so, or that of reads in order, or what comes next to it.
    pub fn outer(&self, sequential: Option<f64>) -> Option<f64> {
        self.transfer.or(sequential).or(self.plain).or(self.internal)
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
        let turns =
            |Quantity { number, unit, .. }: Quantity| match number < 100.0 && unit.to_lowercase().starts_with('k') {
                true => number * 1000.0,
                false => number,
            };
        let all: Vec<f64> = quantities(text).into_iter().map(turns).collect();
        let Some(first) = all.first().copied() else { return Ok(false) };
        if !RPM.contains(&first) {
            return Err("a disk turns 3,000 to 20,000 times a minute, such as `7200 RPM`".to_owned());
        }
        if all.iter().any(|other| RPM.contains(other) && *other != first) {
            return Err(SEVERAL.to_owned());
        }
        match self.rpm.replace(first) {
            Some(before) if before != first => Err(format!("it is {before} elsewhere; give the values of one drive")),
            _ => Ok(true),
        }
    }

    fn take_latency(&mut self, text: &str) -> bool {
        let found = quantities(text).first().map(|found| found.number).filter(|time| (1.0..=10.0).contains(time));
        self.latency = self.latency.or(found);
        found.is_some()
    }

    /// Seeks of one kind, or of several: `8.5 ms, track-to-track 0.8 ms, full stroke 18 ms`.
    fn take_seeks(&mut self, key: &str, text: &str) -> Result<bool, String> {
        if quantities(text).len() < 3 {
            return self.take_seek(key, text);
        }
        let mut parts = text.split([',', ';']);
        self.take_seek(key, parts.next().unwrap_or_default())?;
        for part in parts {
            match names::parted(part.trim()) {
                Some((key, text)) => self.take_seek(key, text)?,
                None => {
                    return Err(ONE_EACH.to_owned());
                }
            };
        }
        Ok(true)
    }

    fn take_seek(&mut self, key: &str, text: &str) -> Result<bool, String> {
        let lower = key.to_lowercase();
        let names: Vec<&str> = words(&lower).collect();
        let has = |word: &str| names.contains(&word);
        let is_full = has("full") || has("stroke");
        let is_track = has("track") && !is_full;
        let mut found = quantities(text);
        // The usual time and the longest.
        if (has("typical") || has("typ")) && (has("max") || has("maximum")) {
            found.truncate(1);
        }
        // Milliseconds, where no unit is said.
        let in_milliseconds = |unit: &str| value::time_factor(unit).map_or(1.0, |micros| micros / 1e3);
        let times: Vec<f64> = found.iter().map(|found| found.number * in_milliseconds(&found.unit)).collect();
        let most = if is_track { 10.0 } else { 60.0 };
        let (read, write) = match (&times[..], has("read"), has("write")) {
            ([], ..) => return Ok(false),
            ([one], true, false) => (Some(*one), None),
            ([one], false, true) => (None, Some(*one)),
            ([one], ..) => (Some(*one), Some(*one)),
            ([read, write], read_said, write_said) if read_said == write_said => (Some(*read), Some(*write)),
            _ => return Err(ONE_EACH.to_owned()),
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
        let is_size =
            |found: &Quantity| matches!(found.unit.chars().next(), None | Some('k' | 'K' | 'm' | 'M' | 'g' | 'G'));
        if quantities(&text).iter().any(|other| is_size(other) && other.number != number) {
            return Err(SEVERAL.to_owned());
        }
        let key = key.to_lowercase();
        let of_key = ["gb", "gib", "mb", "mib", "kb", "kib"].into_iter().find(|unit| key.contains(&format!("({unit}")));
        let unit = if unit.is_empty() { of_key.unwrap_or_default().to_owned() } else { unit.to_lowercase() };
        let shift = match unit.chars().next() {
            Some('k') => 10,
            // Shops leave it out.
            Some('m') | None => 20,
            Some('g') => 30,
            Some('b') => 0,
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
        let lower = key.to_lowercase();
        let is_of_both = ["read", "write"].iter().all(|op| words(&lower).any(|word| word == *op));
        match amounts(text, key, value::rate_factor) {
            Ok(found) if found.len() == 2 && is_of_both => {
                (self.transfer, self.written) = (Some(found[0]), Some(found[1]));
                Ok(true)
            }
            Ok(found) if found.len() == 2 && is_range && found[0] != found[1] => {
                self.transfer = Some(found[0].max(found[1]));
                self.inner = Some(found[0].min(found[1]));
                Ok(true)
            }
            _ => take_rate(&mut self.transfer, key, text),
        }
    }

    /// The power of reads and of writes in order: `1.7 W / 1.8 W`, or a row for each.
    fn take_moving(&mut self, key: &str, text: &str) -> bool {
        let lower = key.to_lowercase();
        let [reads, writes] = ["read", "write"].map(|op| words(&lower).any(|word| word == op));
        let second = text.split_once(['/', ',']).map_or(text, |(_, second)| second);
        let [read, write] = &mut self.moving;
        match (reads, writes) {
            (true, false) => take_power(read, text),
            (false, true) => take_power(write, text),
            _ => take_power(read, text) && take_power(write, second),
        }
    }

    /// A rate that is not said to be one of the platters: what links carry is none of these.
    fn take_plain(&mut self, key: &str, text: &str) -> Result<bool, String> {
        const LINKS: [f64; 10] = [33.0, 66.0, 100.0, 133.0, 150.0, 300.0, 320.0, 375.0, 600.0, 1200.0];
        let mut found = self.plain;
        let taken = take_rate(&mut found, key, text)?;
        if !taken || found.is_some_and(|rate| LINKS.contains(&(rate / 1e6))) {
            return Ok(false);
        }
        self.plain = found;
        Ok(true)
    }

    /// Heads, or twice as many as platters: `Heads/Disks: 18/9`, `Number of disks: 9`.
    fn take_heads(&mut self, key: &str, text: &str) -> bool {
        let lower = key.to_lowercase();
        let found = quantities(text);
        let has_unit = |found: &Quantity| found.unit.to_lowercase().starts_with(['g', 't', 'm', '%', '"']);
        if found.iter().any(has_unit) {
            return false;
        }
        let numbers: Vec<f64> = found.iter().map(|found| found.number).collect();
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

/// Takes a rate, which a sheet may have in megabytes and again in mebibytes, `285, 272` of a row `(MB/s, MiB/s)`, or in megabits.
fn take_rate(rate: &mut Option<f64>, key: &str, text: &str) -> Result<bool, String> {
    let in_megabits = |words: &str| {
        let lower = words.to_lowercase();
        lower.contains("mbit") || words.contains("Mb/s") || lower.contains("megabit")
    };
    let all = quantities(text);
    let most = all.iter().map(|found| found.number).fold(0.0, f64::max);
    let found = match all.first() {
        // From the innermost to the outermost tracks, if there are several.
        Some(_) if all.iter().any(|found| in_megabits(&found.unit)) => vec![most * 1e6 / 8.0],
        Some(Quantity { unit, .. }) if in_megabits(key) && !unit.contains("B/s") => vec![most * 1e6 / 8.0],
        // On the wire.
        Some(Quantity { unit, .. }) if unit.to_lowercase().contains("gbit") || unit.contains("Gb/s") => {
            return Ok(false);
        }
        _ => amounts(text, key, value::rate_factor)?,
    };
    if found.iter().any(|other| (other / found[0] - 1.0).abs() > 0.06) {
        return Err(SEVERAL.to_owned());
    }
    // Of several rows one is of reads and one of writes.
    *rate = Some(rate.unwrap_or_default().max(found[0]));
    Ok(true)
}

/// Takes a power, of which the first counts: `Idle A (W): 5.4`. A range is none.
fn take_power(power: &mut Option<f64>, text: &str) -> bool {
    let found = quantities(text);
    let is_range = found.first().is_some_and(|found| matches!(found.unit.as_str(), "-" | "–" | "to"));
    let watts = |found: &Quantity| if found.unit.starts_with("mW") { found.number / 1e3 } else { found.number };
    let watts = found.first().map(watts).filter(|watts| (0.05..=40.0).contains(watts) && !is_range);
    *power = power.or(watts);
    watts.is_some()
}

#[cfg(test)]
mod tests {
    use super::super::names::parted;
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
            ("Data transfer rate, media to/from buffer (max)", "400 MB/sec"),
            ("I/O data-transfer rate", "300MB/s max"),
            ("Data transfer rate (max)", "300 MB/s"),
            ("Seek acoustics", "2.8 bels"),
            ("Average seek (dBA)", "9"),
            ("Seek current (A)", "0.6"),
            ("Number of seeks", "5"),
            ("Default sectors per track", "63"),
            ("Default read/write heads", "16"),
            ("Platter size", "25GB"),
            ("Depth (mm/in, max)", "147mm/5.787in"),
            ("Rotation Vibration (20-1500 Hz)", "5500"),
            ("Power consumption efficiency at idle (W/TB)", "0.31"),
            ("Idle power", "0.2-0.6W"),
            ("Features", "Dual-stage actuator, no SMR"),
            ("Max seek time", "22 ms"),
            ("Minimum seek", "0.6 ms"),
            ("Read (avg)", "1.4"),
            ("Capacity per platter", "667 GB"),
            ("SMR", "No"),
            ("Random Write 4K QD 32", "560 IOPS"),
        ]);
        assert_eq!((fast.transfer, fast.inner, fast.internal), (Some(202e6), Some(151e6), Some(400e6)));
        assert_eq!((fast.plain, fast.heads, fast.idle, fast.rpm), (None, None, None, None));
        assert_eq!((fast.recording, fast.has_two_arms), (Recording::Conventional, false));
        assert_eq!((fast.seeks[0].average, fast.seeks[1].average, fast.depth), (None, Some(3.1), Some(32.0)));
        assert_eq!(fast.cache, Some(f64::from(64 << 20)));
        assert_eq!(parted("Cache (MB) 64"), Some(("Cache (MB)", "64")));
        assert_eq!(parted("Operating, Average (W)9.23"), Some(("Operating, Average (W)", "9.23")));
        assert_eq!(parted("Average Seek <9.0 ms"), Some(("Average Seek", "9.0 ms")));
        assert_eq!(parted("Model 7200"), None);
        let all = taken(&[("Average seek time", "8.5 ms, track-to-track 0.8 ms, full stroke 18 ms")]).seeks[0];
        assert_eq!(all, Seeks { track: Some(0.8), average: Some(8.5), full: Some(18.0) });
        let bits =
            taken(&[("Sustained transfer rate", "1600 Mbit/s"), ("Media transfer rate (Mbits/sec, max)", "2000")]);
        assert_eq!((bits.transfer, bits.internal), (Some(200e6), Some(250e6)));
        let both = taken(&[
            ("Sustained data rate (read/write)", "180/175 MB/s"),
            ("Internal transfer rate", "363 - 952.8 Mbits/s typical"),
            ("Seek time, write (typical/max)", "8.5 / 9.9 ms"),
            ("Read/Write", "1.7 W / 1.8 W"),
            ("Read average", "9.9 ms"),
        ]);
        assert_eq!((both.transfer, both.written, both.internal), (Some(180e6), Some(175e6), Some(119.1e6)));
        assert_eq!((both.seeks[0].average, both.seeks[1].average), (Some(9.9), Some(8.5)));
        assert_eq!(both.moving, [Some(1.7), Some(1.8)]);
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
            ("Cache", "256 MB\t64 MB", "several values"),
            ("Cache", "32 MB (1TB), 64 MB (2TB/3TB)", "several values"),
            ("Spindle speed", "7200 RPM, 5400 RPM", "several values"),
            ("Seek time", "-8 ms", "below zero"),
        ] {
            let said = DiskRatings::default().take(key, text).unwrap().expect_err(key);
            assert!(said.contains(words), "{key}: {text}: {said}");
        }
    }
}
