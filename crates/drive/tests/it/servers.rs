//! Drives for servers, beside what their files and their makers say of them.
//!
//! Every figure that is expected here is in the drive's file, with its source. A rating that its file does not list as
//! fitted is a promise, which the parts may keep or not: docs/models-modern.md has both.

use assay_drive::flash::FlashSpec;
use assay_drive::preset::{Preset, Promise, Rated, Spec};
use assay_drive::rig::RigPart;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};

use crate::modern::{in_order, near, preset, scattered, settle};
use testkit::Random;

pub fn flash(preset: &Preset) -> FlashSpec {
    match preset.spec {
        Spec::Flash(spec) => spec,
        ref other => panic!("{} is {other:?}", preset.name),
    }
}

/// How a drive's file reckons its flash, and what holds its random writes.
struct Server {
    name: &'static str,
    /// Dies, or planes that count as dies.
    units: u32,
    /// Flash that the file says there is, in GiB; zero where it says that nobody knows.
    raw_gib: u64,
    /// Of that, in percent, what is there for the user's data and spare: the rest is parity.
    used: f64,
    /// What the file has as spare, in percent.
    spare: f64,
    holds: Holds,
}

/// What holds a drive's random writes.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// Programs, a share of which moves what collection finds.
    Flash,
    /// The firmware, so that they are as many when fresh.
    Firmware,
}
use Holds::{Firmware, Flash};

const fn row(name: &'static str, units: u32, raw_gib: u64, used: f64, spare: f64, holds: Holds) -> Server {
    Server { name, units, raw_gib, used, spare, holds }
}

#[rustfmt::skip]
const SERVERS: [Server; 21] = [
    //  name             units raw GiB  used  spare holds
    row("pm9a3-960",        32,     0, 100.0,  15.0, Flash),
    row("p5520-1920",      128,     0, 100.0,  19.8, Flash),
    row("7450-pro-960",     64,     0, 100.0,  18.0, Flash),
    row("7450-max-800",     64,     0, 100.0,  41.6, Flash),
    row("sn640-960",        32,  1024, 100.0,  12.9, Flash),
    row("p3700-800",       144,     0, 100.0,  14.2, Flash),
    row("s3700-400",        64,   528,  97.0,  37.4, Firmware),
    row("s4610-480",        64,   576, 100.0,  28.8, Flash),
    row("s4500-480",        48,   576, 100.0,  18.5, Flash),
    row("s3500-m2-80",       8,    88, 100.0,  18.1, Flash),
    row("pm983-960",        32,  1024, 100.0,  11.3, Flash),
    row("p400m-400",        80,   680, 93.75,  71.1, Firmware),
    row("pe8110-960",       64,  1024, 100.0,  12.8, Flash),
    row("cm7-r-3840",      256,  4096, 100.0,  14.5, Flash),
    row("9100-max-2400",   256,  4096, 93.75,  71.8, Firmware),
    row("p4510-1tb",       144,  1152, 100.0,  18.5, Flash),
    row("pm883-480",        16,   512, 100.0,  14.5, Flash),
    row("dc500m-960",      128,     0, 100.0,  39.0, Firmware),
    row("s3610-480",        32,   528, 100.0,  18.1, Flash),
    row("optimus-eco-400",  64,   512, 100.0,  37.4, Firmware),
    row("sm843-480",        64,   512, 100.0,   7.8, Flash),
];

#[test]
fn dies_raw_flash_and_spare_are_what_the_files_say() {
    for Server { name, units, raw_gib, used, spare, .. } in SERVERS {
        let spec = flash(&preset(name));
        assert_eq!(spec.geometry.units(), units, "{name}");
        let has = spec.geometry.spare_over(spec.capacity) as f64 / 1e4;
        assert!(
            (spare..spare + 0.6).contains(&has),
            "{name}: {has} % of spare in whole blocks, its file has {spare} %"
        );
        if raw_gib > 0 {
            let most =
                Bytes::from_gib(raw_gib).get() as f64 * used / 100.0 / spec.capacity.get() as f64 * 100.0 - 100.0;
            assert!(spare <= most + 0.1, "{name}: {spare} % of spare of the {most:.1} % that {raw_gib} GiB leave");
        }
        assert!(spec.power.capacitor, "{name} keeps what it took");
        assert!(spec.map_cache.is_none() && spec.geometry.page == Bytes::from_kib(4), "{name} has its map in memory");
    }
}

/// Blocks of each die that are no spare, since they are open or kept free: gc.start of a drive that wears, and three.
const WORKING_BLOCKS: u64 = 7;

/// The drive with so few channels and with blocks of so few pages, or a few more, and how many times as many channels
/// the whole drive has, which is how many times as fast its flash is. It has `least` for the user, or as many blocks in
/// each die as the whole drive if that is less; with fewer blocks those that are open count for more, which spare makes
/// up for. Erases are as much shorter as blocks are smaller.
fn small(name: &str, channels: u32, least: Bytes, pages: u32) -> (Preset, u32) {
    smaller(preset(name), channels, least, pages)
}

/// The same of a drive that has been read.
pub fn smaller(whole: Preset, channels: u32, least: Bytes, pages: u32) -> (Preset, u32) {
    let spec = flash(&whole);
    let geometry = spec.geometry;
    let times = geometry.channels / channels;
    let few = pages.next_multiple_of(geometry.program_pages);
    let shrink = u64::from(geometry.pages_per_block / few);
    let same_blocks = spec.capacity.get() / u64::from(times) / shrink;
    let user = same_blocks.min(least.get()) / (128 << 10) * (128 << 10);
    let working = |user: u64, block: u64, units: u32| (WORKING_BLOCKS * u64::from(units) * block) as f64 / user as f64;
    let (block, units) = (geometry.block().get(), geometry.units());
    let more = working(user, block / shrink, units / times) - working(spec.capacity.get(), block, units);
    let spare = geometry.spare_over(spec.capacity) as f64 / 1e4 + more * 100.0;
    let erase = spec.nand.erase.as_nanos() / shrink;
    let changes = format!(
        "channels={channels}&capacity.user={user}B&spare={spare:.3}%&pages_per_block={few}&nand.erase={erase}ns"
    );
    (whole.changed(&changes).unwrap_or_else(|error| panic!("{error}")), times)
}

#[test]
fn fresh_drives_for_servers_meet_the_ratings_that_they_were_fitted_to() {
    for Server { name, holds, .. } in SERVERS {
        let spec = flash(&preset(name));
        let (small, _) = small(name, spec.geometry.channels, Bytes::from_gib(4), 24);
        let Rated { sequential_read, sequential_write, random_read_iops, random_write_iops, ref fitted, .. } =
            small.rated;
        let depth = u64::from(small.rated.random_depth.expect("random ratings have a depth"));
        let mut drive = small.build();
        let span = Bytes::new(small.capacity().get().min(512 << 20) / (128 << 10) * (128 << 10));
        let is = |promise| fitted.contains(&promise);
        let written = in_order(&mut drive, Op::Write, Bytes::ZERO, span);
        if is(Promise::SequentialWrite) {
            near(
                &format!("{name}, writes in order, MB/s"),
                written,
                sequential_write.unwrap().get() as f64 / 1e6,
                0.15,
            );
        }
        settle(&mut drive);
        if is(Promise::SequentialRead) {
            let rate = in_order(&mut drive, Op::Read, Bytes::ZERO, span);
            near(&format!("{name}, reads in order, MB/s"), rate, sequential_read.unwrap().get() as f64 / 1e6, 0.15);
        }
        if is(Promise::RandomReadIops) {
            let iops = scattered(&mut drive, Op::Read, span, depth, 50_000);
            near(&format!("{name}, random reads a second"), iops, random_read_iops.unwrap() as f64, 0.15);
        }
        if is(Promise::RandomWriteIops) && holds == Firmware {
            let iops = scattered(&mut drive, Op::Write, span, depth, 50_000);
            near(&format!("{name}, random writes a second"), iops, random_write_iops.unwrap() as f64, 0.15);
        }
    }
}

/// The flash of either could move several times as much.
#[test]
fn a_controller_moves_no_more_pages_for_more_dies() {
    for dies in [2, 4] {
        let small = format!("dies_per_channel={dies}&capacity.user=512MiB&spare=20%&pages_per_block=96&factory_bad=0%");
        let mut drive = preset(&format!("pm983-960?{small}&gc.page_move=100us")).build();
        let all = Bytes::from_mib(512);
        in_order(&mut drive, Op::Write, Bytes::ZERO, all);
        scattered(&mut drive, Op::Write, all, 64, 200_000);
        let (before, began) = (drive.counters(), drive.now());
        scattered(&mut drive, Op::Write, all, 64, 100_000);
        let moved = (drive.counters() - before).pages_moved as f64;
        let busy = moved * 100e-6 / (drive.now() - began).as_secs_f64();
        assert!(moved > 100_000.0 && (busy - 1.0).abs() < 0.02, "{dies}: {moved} pages take {busy} of the time");
    }
}

/// Behind a SAS adapter the adapter limits what SATA drives read with 32 in flight; it was fitted to two of them as one, of which
/// `published/qos.toml` has 63,100 and 74,000 a second. At an AHCI port they do what they are rated at.
#[test]
fn a_sas_adapter_limits_the_reads_of_sata_drives() {
    let reads = |name: &str, host: &str| {
        let small = "capacity.user=512MiB&pages_per_block=16&factory_bad=0%&capacity.spare=30%";
        let mut drive = preset(&format!("{name}?host={host}&{small}")).build_in_host();
        let capacity = drive.shape().capacity;
        drive.fill(Lba::new(0), Lba::at(capacity), Bytes::from_mib(1), 100);
        let (before, began) = (drive.counters(), drive.now());
        let rate = scattered(&mut drive, Op::Read, capacity, 32, 50_000);
        (rate, (drive.counters() - before).limit(drive.now() - began).map(|limit| limit.part))
    };
    let behind = ["s4610-480", "860-pro-1tb"].map(|name| reads(name, "sas-hba-host"));
    near("behind the adapter", (behind[0].0 * behind[1].0).sqrt(), (63_100.0_f64 * 74_000.0).sqrt(), 0.01);
    assert_eq!(behind.map(|(_, part)| part), [Some(RigPart::Controllers); 2]);
    let (port, part) = reads("s4610-480", "sata-host");
    near("at a port", port, 96_000.0, 0.05);
    assert_ne!(part, Some(RigPart::Controllers));
}

/// 256 writes in flight wait for their turn for some 4 ms. A checkpoint of 4 ms meets those of them that have it behind its beginning: none
/// is answered before its end.
#[test]
fn writes_that_wait_for_their_turn_are_held_too() {
    let small = "capacity.user=1GiB&spare=60%&pages_per_block=96&factory_bad=0%&channels=4&nand.erase=600us";
    let checkpoint = "checkpoint.length=4ms&checkpoint.length_deviation=0%&journal.length=0us&log.length=0us";
    let mut drive = preset(&format!("p5520-1920?{small}&{checkpoint}&host=none")).build();
    let all = drive.shape().capacity;
    drive.fill(Lba::new(0), Lba::at(all), Bytes::from_mib(1), 100);
    scattered(&mut drive, Op::Write, all, 256, 300_000);
    let (mut random, mut last) = (Random::new(3), drive.now());
    let mut write = |drive: &mut Device, tag: Tag| {
        drive.submit(drive.now(), tag, Request::new(Op::Write, Lba::new(random.below(all.sectors() / 8) * 8), 8));
    };
    (0..256).for_each(|tag| write(&mut drive, Tag(tag)));
    let mut gaps: Vec<Nanos> = (0..20_000)
        .map(|_| {
            let done = drive.complete(Nanos::MAX).expect("256 in flight");
            write(&mut drive, done.tag);
            done.at - std::mem::replace(&mut last, done.at)
        })
        .collect();
    gaps.sort_unstable();
    // 20,000 writes take some 300 ms, in which there are 25 checkpoints.
    let longest = &gaps[gaps.len() - 15..];
    assert!(longest.iter().all(|gap| *gap > Nanos::from_micros(3_900)), "{longest:?}");
}

/// The firmware of the P5520 holds writes for a part of 12 ms once they wait for the flash. This goes on meanwhile, so that as many are taken
/// with few in flight, which its buffer could hold, as with so many that the flash always has some before it.
#[test]
fn what_a_checkpoint_holds_is_caught_up_with() {
    let sustained = |catch_up: &str, depth: u64| {
        let small = "capacity.user=1GiB&spare=60%&pages_per_block=96&factory_bad=0%&channels=4&nand.erase=600us";
        // Nothing but the checkpoint makes a write wait for more than its turn.
        let steady = "gc.burst=1&journal.written=64MiB&journal.length=21us&journal.data=0B&checkpoint.length=3500us";
        let mut drive = preset(&format!("p5520-1920?{small}&{steady}&checkpoint.catch_up={catch_up}")).build();
        let all = drive.shape().capacity;
        drive.fill(Lba::new(0), Lba::at(all), Bytes::from_mib(1), 100);
        scattered(&mut drive, Op::Write, all, 256, 300_000);
        scattered(&mut drive, Op::Write, all, depth, 100_000)
    };
    let [few, many] = [16, 256].map(|depth| sustained("66%", depth));
    let lost = sustained("100%", 16);
    println!("{few:.0} writes a second, {many:.0} with many in flight; {lost:.0} where nothing is caught up with");
    assert!((few / many - 1.0).abs() < 0.04, "{few:.0} and {many:.0}");
    assert!((0.6..0.85).contains(&(lost / few)), "{lost:.0} of {few:.0}");
}
