//! A flash drive of which every time is said and none is drawn: what a host sees follows from its file.

use assay_drive::Drive;
use assay_drive::flash::{FlashDrive, FlashSpec};
use assay_drive::preset::{Preset, Spec};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};

/// One die with word lines of three pages of 16 KiB, whose block has 96 pages of the map.
const EXACT: &str = r#"
name = "exact"
title = "Flash whose times are exact"
kind = "flash"

[capacity]
source = "test"
user = "24 MiB"
spare = "50%"

[geometry]
source = "test"
channels = 1
dies_per_channel = 1
planes = 1
multi_plane = false
page = "4 KiB"
program = "48 KiB"
sense = "16 KiB"
pages_per_block = 96

[nand]
source = "test"
read = "60 us"
program = "900 us"
erase = "4 ms"
channel = "400 MB/s"
copy_back = false
keeps_page = false
reads_first = false
read_by_page = ["100%"]
program_by_page = ["100%"]

[controller]
source = "test"
queue_depth = 256
command = "5 us"
retire = "0 us"

[buffer]
source = "test"
size = "1 MiB"
partial = "64 KiB"

[link]
source = "test"
rate = "4 GB/s"
frame = "4 KiB"
frame_overhead = "0 ns"
command = "1 us"
duplex = true

[power]
source = "test"
idle = "1 W"
active = "1 W"
capacitor = false
"#;

/// What an array read brings, and a flash page, in pages of the map.
pub const SENSE: u64 = 4;
pub const FLASH_PAGE: u64 = 12;
pub const BLOCK: u64 = 96;

/// The drive with these changes by name and these tables beside.
pub fn fresh(changes: &str, tables: &str) -> FlashDrive {
    specimen(changes, tables, 1)
}

/// The same of a certain specimen.
pub fn specimen(changes: &str, tables: &str, number: u32) -> FlashDrive {
    with(EXACT, changes, tables, number)
}

/// The same with such shares of the page types, in reads and where pages are programmed one by one.
pub fn by_page(reads: &[u64], programs: &[u64], changes: &str) -> FlashDrive {
    let list = |percent: &[u64]| percent.iter().map(|share| format!("\"{share}%\"")).collect::<Vec<_>>().join(", ");
    let text = [("read", reads), ("program", programs)].iter().fold(EXACT.to_owned(), |text, (what, percent)| {
        text.replace(&format!("{what}_by_page = [\"100%\"]"), &format!("{what}_by_page = [{}]", list(percent)))
    });
    with(&text, changes, "", 1)
}

fn with(text: &str, changes: &str, tables: &str, number: u32) -> FlashDrive {
    // What is suspended makes way for reads.
    let text = if tables.contains("[suspend]") { &text.replace("reads_first = false\n", "") } else { text };
    let plain = Preset::parse(text).and_then(|preset| preset.changed(changes));
    let preset = plain.and_then(|preset| Preset::parse(&format!("{}{tables}", preset.text)));
    let preset = preset.unwrap_or_else(|error| panic!("{error}"));
    let Spec::Flash(spec) = preset.spec else { panic!("it is flash") };
    FlashDrive::of(spec, assay_drive::Specimen::new("exact", number))
}

/// The same, filled in order: its pages are in flash one after the other, a flash page for each unit in turn.
pub fn filled(changes: &str, tables: &str) -> FlashDrive {
    let mut drive = fresh(changes, tables);
    fill(&mut drive);
    drive
}

pub fn fill(drive: &mut FlashDrive) {
    let end = Lba::at(drive.shape().capacity);
    drive.fill_untimed(Lba::new(0), end, Bytes::from_kib(48), 100);
}

pub fn pages(drive: &FlashDrive) -> u64 {
    drive.shape().capacity.get() / 4096
}

pub fn read(page: u64) -> Request {
    Request::new(Op::Read, Lba::new(page * 8), 8)
}

pub fn write(page: u64) -> Request {
    Request { op: Op::Write, ..read(page) }
}

pub fn durable(page: u64) -> Request {
    Request { durable: true, ..write(page) }
}

/// What a request takes that comes at `at`, when nothing else is under way.
pub fn takes(drive: &mut FlashDrive, at: Nanos, request: Request) -> Nanos {
    drive.submit(at, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it was submitted").at - at
}

/// The same after a rest in which the flash has done what it was given.
pub fn lone(drive: &mut FlashDrive, request: Request) -> Nanos {
    let at = drive.now() + Nanos::from_millis(50);
    takes(drive, at, request)
}

/// What so many pages take between die and controller.
pub fn carried(spec: &FlashSpec, pages: u64) -> Nanos {
    spec.nand.channel.time_for(Bytes::from_kib(4 * pages))
}

/// What a lone read of a page takes beside having it in the register of its die.
pub fn beside_sensing(spec: &FlashSpec) -> Nanos {
    spec.command + carried(spec, 1) + sent(spec, 1)
}

/// What an answer with so many pages takes on the link.
pub fn sent(spec: &FlashSpec, pages: u64) -> Nanos {
    spec.link.command + spec.link.rate.time_for(Bytes::from_kib(4 * pages))
}
