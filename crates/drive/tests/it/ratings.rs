//! Drives made of ratings: they meet the ratings, and data sheets are read as they are worded.

use assay_drive::disk::DiskDrive;
use assay_drive::preset::sheet::Ratings;
use assay_drive::preset::{Preset, Spec};
use block::{Bytes, Lba, Op, Request};
use serde::Deserialize;

use crate::disk::{keep, random};
use crate::modern::{in_order, near, preset, scattered, settle};

/// Drives that come with the program, and what their data sheets say beside the rates in their files.
const DRIVES: [(&str, &str); 14] = [
    ("990-pro", "capacity=1TB, interface=PCIe 4.0 x4, nand=V-NAND 3-bit MLC, class=client"),
    ("980-pro-1tb", "capacity=1TB, interface=PCIe Gen 4.0 x4, nand=TLC, class=client"),
    ("980-1tb", "capacity=1TB, interface=PCIe Gen 3.0 x4, nand=TLC, class=client"),
    ("pcie5", "capacity=1TB, interface=PCIe 5.0 x4, nand=TLC, class=client"),
    ("sata-tlc", "capacity=500GB, interface=SATA 6Gb/s, nand=TLC, class=client"),
    ("860-pro-1tb", "capacity=1024GB, interface=SATA 6Gb/s, nand=MLC, class=client"),
    ("870-qvo", "capacity=1TB, interface=SATA 6Gb/s, nand=QLC, class=client"),
    ("pe8110-960", "capacity=960GB, interface=PCIe Gen4 x4, nand=TLC, class=server"),
    ("cm7-r-3840", "capacity=3.84TB, interface=PCIe 5.0 x4, nand=TLC, class=server"),
    ("pm983-960", "capacity=960GB, interface=PCIe 3.0 x4, nand=TLC, class=server"),
    ("p5520-1920", "capacity=1.92TB, interface=PCIe 4.0 x4, nand=TLC, class=server"),
    ("s4610-480", "capacity=480GB, interface=SATA 6Gb/s, nand=TLC, class=server"),
    ("s3700-400", "capacity=400GB, interface=SATA 6Gb/s, nand=MLC, class=server"),
    ("p3700-800", "capacity=800GB, interface=PCIe 3.0 x4, nand=MLC, class=server"),
];

/// A drive made of the ratings of a drive's file.
fn made(name: &str, facts: &str) -> Preset {
    let rated = preset(name).rated;
    let mut text = facts.to_owned();
    let rates = [("sequential-read", rated.sequential_read), ("sequential-write", rated.sequential_write)];
    for (key, rate) in rates {
        text += &rate.map(|rate| format!(", {key}={} MB/s", rate.get() as f64 / 1e6)).unwrap_or_default();
    }
    let counts = [("random-read", rated.random_read_iops), ("random-write", rated.random_write_iops)];
    for (key, count) in counts {
        text += &count.map(|count| format!(", {key}={count} IOPS")).unwrap_or_default();
    }
    text += &rated.random_depth.map(|depth| format!(", random-depth={depth}")).unwrap_or_default();
    let ratings = Ratings::read([&*text]).unwrap_or_else(|error| panic!("{name}: {error}"));
    let file = ratings.file(&name.replace('.', "-")).unwrap_or_else(|error| panic!("{name}: {error}"));
    Preset::parse(&file).unwrap_or_else(|error| panic!("{name}: {error}\n{file}"))
}

/// Whose dies together take more than the controller passes on: what is written is soon no faster than it is rated.
#[test]
fn the_write_buffer_of_a_large_drive_is_no_cache() {
    for (capacity, write) in [("30.72TB", 3_000), ("61.44TB", 3_000), ("122.88TB", 3_200)] {
        let facts = format!(
            "capacity={capacity}, interface=PCIe 5.0 x4, nand=QLC, class=server, sequential-read=14000 MB/s, \
             sequential-write={write} MB/s, random-read=2000K, random-depth=512"
        );
        let file = Ratings::read([&*facts]).unwrap().file("large").unwrap();
        let mut drive = Preset::parse(&file).unwrap().build();
        let found = in_order(&mut drive, Op::Write, Bytes::ZERO, Bytes::from_gib(4));
        assert!((found / f64::from(write) - 1.0).abs() < 0.15, "{capacity}: {found:.0} MB/s, rated {write}");
    }
}

#[test]
fn drives_made_of_ratings_meet_them() {
    let mut off = Vec::new();
    println!(
        "{:<14} {:>22} {:>22} {:>24} {:>24}",
        "drive", "read, MB/s", "write, MB/s", "random reads", "random writes"
    );
    for (name, facts) in DRIVES {
        let whole = made(name, facts);
        let rated = whole.rated.clone();
        let is_server = facts.contains("class=server");
        let depth = u64::from(rated.random_depth.unwrap());
        let mut drive = whole.build();
        let span = Bytes::from_gib(1);
        let write = in_order(&mut drive, Op::Write, Bytes::ZERO, span);
        settle(&mut drive);
        let read = in_order(&mut drive, Op::Read, Bytes::ZERO, span);
        let reads = scattered(&mut drive, Op::Read, span, depth, 100_000);
        // A drive for servers is rated at what it sustains, for which it would have to be overwritten.
        let writes = (!is_server).then(|| scattered(&mut drive, Op::Write, span, depth, 100_000));
        let rate = |rate: Option<block::Rate>| rate.unwrap().get() as f64 / 1e6;
        let mut line = format!("{name:<14}");
        for (what, found, rated, width) in [
            ("sequential read", Some(read), rate(rated.sequential_read), 6),
            ("sequential write", Some(write), rate(rated.sequential_write), 6),
            ("random reads", Some(reads), rated.random_read_iops.unwrap() as f64, 8),
            ("random writes", writes, rated.random_write_iops.unwrap() as f64, 8),
        ] {
            let Some(found) = found else { continue };
            let by = found / rated * 100.0 - 100.0;
            line += &format!(" {found:>width$.0} {rated:>width$.0} {by:>+6.1} %");
            if by.abs() > 15.0 {
                off.push(format!("{name}, {what}: {found:.0}, rated {rated:.0}"));
            }
        }
        println!("{line}");
    }
    assert!(off.is_empty(), "more than 15 % off: {off:#?}");
}

/// Where reads of 4 KiB nearly fill the link, what a command takes of it is less than usual.
#[test]
fn a_drive_whose_random_reads_are_as_fast_as_its_link_meets_them() {
    for (rated, text) in [
        (
            5.5e6,
            "capacity=7.68TB, interface=PCIe 6.0 x4, nand=TLC, class=server, sequential-read=28 GB/s, random-read=5.5 million",
        ),
        (
            3.3e6,
            "capacity=7.68TB, interface=PCIe 5.0 x4, nand=TLC, class=server, sequential-read=14 GB/s, random-read=3.3 million",
        ),
        (
            1.2e6,
            "capacity=2TB, interface=PCIe 4.0 x4, nand=TLC, class=client, sequential-read=4 GB/s, random-read=1.2 million",
        ),
    ] {
        let file = Ratings::read([text]).and_then(|ratings| ratings.file("mine"));
        let mut drive = Preset::parse(&file.unwrap_or_else(|error| panic!("{text}: {error}"))).unwrap().build();
        let span = Bytes::from_gib(1);
        in_order(&mut drive, Op::Write, Bytes::ZERO, span);
        settle(&mut drive);
        let reads = scattered(&mut drive, Op::Read, span, 1024, 200_000);
        assert!((rated * 0.9..rated * 1.15).contains(&reads), "{text}: {reads:.0} a second");
    }
}

/// What the data sheets of disks that come with the program say beside the rates in their files.
const DISKS: [(&str, &str); 5] = [
    ("exos-2x18", "capacity=18TB, class=server, interface=SATA 6Gb/s, rpm=7200, actuators=2, cache=256MB"),
    ("nearline-7200", "capacity=18TB, class=server, interface=SATA 6Gb/s, rpm=7200, cache=256MB"),
    ("seagate-7200.11", "capacity=1.5TB, interface=SATA 3Gb/s, rpm=7200, read-seek=8.5ms, write-seek=9.5ms, heads=8"),
    ("raptor-150", "capacity=150GB, interface=SATA 1.5Gb/s, rpm=10000, seek=4.6ms / 5.2ms, cache=16MB"),
    ("st320lt020", "capacity=320GB, interface=SATA 3Gb/s, rpm=5400, form-factor=2.5, heads=2"),
];

#[test]
fn disks_made_of_ratings_meet_them() {
    for (name, facts) in DISKS {
        let made = made(name, facts);
        let rated = made.rated.clone();
        let Spec::Disk(spec) = made.spec else { panic!("{name} is no disk") };
        let arms = u64::from(spec.actuators);
        let share = spec.platters.sectors / arms / 8 * 8;
        let mut drive = DiskDrive::new(spec);
        let at = |index: u64| index % arms * share + index / arms * 256;
        let request = |index| Request::new(Op::Read, Lba::new(at(index)), 256);
        let rate = keep(&mut drive, 32, 10_000, request).0 * 131_072.0;
        near(&format!("{name}, MB/s"), rate / 1e6, rated.sequential_read.unwrap().get() as f64 / 1e6, 0.03);
        for (op, iops) in [(Op::Read, rated.random_read_iops), (Op::Write, rated.random_write_iops)] {
            let Some(iops) = iops else { continue };
            let mut drive = DiskDrive::new(spec);
            // The cache is empty at first.
            random(&mut drive, op, 16, 10_000);
            near(&format!("{name}, random {op}s"), random(&mut drive, op, 16, 10_000).0, iops as f64, 0.05);
        }
    }
}

/// How well disks are predicted of which nothing but the data sheet is known.
///
/// Published: random reads and writes of 4 KiB a second in published/qos.toml (`wd740gd-74`, `samsung-f1-1tb`), of which the
/// guesses of a disk's firmware are from the latter.
#[test]
fn the_data_sheets_of_two_disks_predict_what_was_measured() {
    for (sheet, reads, writes) in [
        (
            "capacity=74GB, interface=SATA 1.5Gb/s, rpm=10000, platters=2, cache=8MB, read-seek=4.5ms, write-seek=5.9ms, transfer=72MB/s",
            [(1, 123.0), (4, 123.0), (8, 141.0), (16, 160.0), (32, 179.0)],
            [(1, 228.0), (4, 222.0), (8, 221.0)],
        ),
        (
            "capacity=1TB, interface=SATA 3Gb/s, rpm=7200, disks=3, cache=32MB, seek=8.9ms, transfer=118MB/s",
            [(1, 72.1), (4, 75.4), (8, 86.5), (16, 111.0), (32, 131.0)],
            [(1, 148.0), (4, 152.0), (8, 152.0)],
        ),
    ] {
        let file = Ratings::read([sheet]).and_then(|ratings| ratings.file("mine")).unwrap();
        let Spec::Disk(spec) = Preset::parse(&file).unwrap().spec else { panic!("{sheet} is no disk") };
        for (op, published) in [(Op::Read, &reads[..]), (Op::Write, &writes[..])] {
            for &(depth, published) in published {
                let mut drive = DiskDrive::new(spec);
                random(&mut drive, op, depth, 2_000);
                let found = random(&mut drive, op, depth, 8_000).0;
                println!(
                    "{op}s, {depth} in flight: {found:.0} a second, {published} published, {:.2}",
                    found / published
                );
                near(&format!("{sheet}: random {op}s, {depth} in flight"), found, published, 0.35);
            }
        }
    }
}

#[test]
fn a_disk_that_cannot_be_is_refused_with_what_would_be_right() {
    for (ratings, words) in [
        ("rpm=7200", "the capacity is missing"),
        ("rpm=7200, capacity=200TB", "1 GB to 100 TB"),
        ("rpm=72, capacity=1TB", "3,000 to 20,000 times a minute"),
        ("rpm=7200, capacity=1TB, transfer=7000MB/s", "2 to 800 MB/s"),
        ("rpm=7200, capacity=1TB, interface=SATA 1.5Gb/s, transfer=150MB/s", "more than SATA 1.5 Gb/s carries"),
        ("rpm=7200, capacity=1TB, interface=PCIe 4.0 x4", "SATA or SAS"),
        ("rpm=7200, capacity=1TB, random-read=900, random-depth=4", "7200 rpm answer"),
        ("rpm=7200, capacity=1TB, seek=8ms, full-stroke=7ms", "that shorter than one over all tracks"),
        ("rpm=7200, capacity=1TB, seek=85 ms", "up to 60 ms"),
        ("rpm=7200, capacity=1TB, cache=x1TB", "looks like `256 MB`"),
        ("rpm=7200, capacity=1TB, colour=red", "of disks also rpm, cache, seek"),
        (
            "rpm=7200, capacity=1TB, heads=1, transfer=150MB/s, seek=8ms, track-to-track=7.9ms",
            "these ratings make no disk",
        ),
        ("title=x SSHD, rpm=7200, capacity=1TB", "a disk with flash"),
    ] {
        let made = Ratings::read([ratings]).and_then(|ratings| ratings.file("mine"));
        let said = made.expect_err(ratings).to_string();
        assert!(said.contains(words), "{ratings}: {said}");
    }
    // Odd rows are read or refused, in no way with a panic.
    for word in
        ["seek 8 ms ", "9 rpm ", "(((", "1TB|", "SMR ", "heads 9/", "q", "qd 16 random ", "🖴9 ", "<9 ms ", "MB/s – "]
    {
        for rows in [word.repeat(2_000), word.repeat(20), format!("Seek time: {word}\n{word}\nCache\n{word}")] {
            _ = Ratings::read([&*format!("RPM: 7200\nCapacity: 1TB\n{rows}")]).and_then(|ratings| ratings.file("mine"));
        }
    }
}

/// A data sheet as it is worded, and what became of it.
#[derive(Deserialize)]
struct Sheet {
    source: String,
    text: String,
    /// What is given beside it: of which of its capacities the drive is.
    #[serde(default)]
    beside: String,
    /// What the file has; empty where the sheet is refused.
    #[serde(default)]
    has: Vec<String>,
    /// Why it is refused.
    #[serde(default)]
    refused: String,
}

#[derive(Deserialize)]
struct Corpus {
    sheet: Vec<Sheet>,
}

#[test]
fn data_sheets_are_read_as_they_are_worded() {
    let corpus: Corpus = toml::from_str(include_str!("ratings-corpus.toml")).unwrap();
    let mut off = Vec::new();
    for Sheet { source, text, beside, has, refused } in &corpus.sheet {
        let made = Ratings::read([&**text, &**beside]).and_then(|ratings| ratings.file("mine"));
        match made {
            Ok(file) => {
                Preset::parse(&file).unwrap_or_else(|error| panic!("{source}: {error}\n{file}"));
                let missing: Vec<&String> = has.iter().filter(|line| !file.contains(*line)).collect();
                if has.is_empty() || !missing.is_empty() {
                    off.push(format!("{source}: {missing:?} not in\n{file}"));
                }
            }
            Err(error) if !refused.is_empty() && error.to_string().contains(refused) => {}
            Err(error) => off.push(format!("{source}: {error}")),
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
    assert!(corpus.sheet.len() >= 20);
}
