//! What holds for every kind of drive whatever it is made of and asked: laws over random parameters and requests.

use std::cell::Cell;

use assay_drive::disk::DiskDrive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag};
use proptest::prelude::*;
use testkit::Random;

use crate::{disk, support};

fn device(name: &str) -> Device {
    Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}")).build()
}

/// A drive's story: when its requests completed, and what it has counted.
type Story = (Vec<(Nanos, Tag)>, Counters);

/// Any requests of a drive, `depth` at a time: all are completed once and in order, the same drive does the same again, and a
/// clone goes on as the original does.
fn lives(name: &str, seed: u64, requests: u32, depth: u32) -> Story {
    let pause =
        |numbers: &mut Random| Nanos::from_micros(if numbers.below(8) == 0 { numbers.below(60_000) } else { 0 });
    let story =
        |drive: &mut Device, seed, requests| support::story(drive, disk::any_request, pause, seed, requests, depth);
    let mut drive = device(name);
    let told = story(&mut drive, seed, requests);
    assert_eq!(told.0.len(), requests as usize, "{name}");
    assert_eq!(told.1.requests.iter().sum::<u64>(), u64::from(requests), "{name}");
    assert_eq!(story(&mut device(name), seed, requests), told, "{name}: one drive, two stories");
    let mut clone = drive.clone();
    assert_eq!(story(&mut clone, seed ^ 1, 100), story(&mut drive, seed ^ 1, 100), "{name}: a clone");
    told
}

/// One of these.
fn one<T: Copy + std::fmt::Debug + 'static>(of: &'static [T]) -> impl Strategy<Value = T> {
    (0..of.len()).prop_map(|place| of[place])
}

/// Reads of single pages at random of a drive without DRAM, and what they took of flash and time.
fn looked_up(hmb: &str, lookup: u64, entry: u64, seed: u64) -> (u64, Nanos) {
    let name = format!(
        "980-1tb?capacity.user=1GiB&spare=60%&slc.fixed=0B&slc.dynamic=0B&channels=1&dies_per_channel=2&pages_per_block=192\
         &jitter=0%&variation.reads=0%&read_ahead=0B&lookup={lookup}KiB&map.entry={entry}B&hmb={hmb}"
    );
    let mut drive = support::filled(&Preset::find(&name).unwrap_or_else(|error| panic!("{error}")));
    let (mut random, before, mut all) = (Random::new(seed), drive.counters().pages_read, Nanos::ZERO);
    for _ in 0..300 {
        let at = drive.now() + Nanos::from_millis(1);
        drive.submit(at, Tag(0), Request::new(Op::Read, Lba::new(random.below(1 << 18) * 8), 8));
        all += drive.complete(Nanos::MAX).expect("it is answered").at - at;
    }
    (drive.counters().pages_read - before, all)
}

/// A small flash drive of these parts, made of a drive for clients.
fn small_flash(units: u64, blocks: u64, pages: u64, spare: u64, more: &str) -> Result<Preset, String> {
    let user = units * blocks * pages * 4096;
    let name = format!(
        "x25-m?capacity.user={user}B&spare={spare}%&channels={units}&dies_per_channel=1&pages_per_block={pages}\
         &map.cache=64KiB&{more}"
    );
    Preset::find(&name).map_err(|error| error.to_string())
}

/// Tables of a drive whose blocks hold one bit a cell for a while.
fn with_one_bit(preset: &Preset, bits: u64, fixed: u64, dynamic: u64, fold: &str) -> Result<Preset, String> {
    let slc = format!(
        "[slc]\nsource = \"test\"\nbits = {bits}\nfixed = \"{fixed} B\"\ndynamic = \"{dynamic} B\"\n{fold}\
         read = \"25 us\"\nprogram = \"100 us\"\n"
    );
    Preset::parse(&format!("{}\n{slc}", preset.text)).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever flash a drive is made of that is not refused: it takes writes at random for as long as it is asked to, with and
    /// without blocks of one bit a cell, by any policy and paced or not.
    #[test]
    fn no_drive_that_is_not_refused_runs_out_of_blocks(
        units in one(&[1_u64, 2, 4]), blocks in 14..60_u64, pages in 2..130_u64, spare in 8..70_u64,
        gc in one(&["greedy", "greedy", "fifo", "cost-benefit", "choices&gc.choices=4", "superblocks"]),
        more in one(&["", "&gc.start=3", "&gc.pacing=97%&gc.burst=3", "&gc.pacing=97%&gc.at_once=1"]),
        bits in one(&[0_u64, 2, 3, 4]), shares in (0..40_u64, 0..100_u64), fold in one(&["", "fold_at = \"50%\"\n"]),
        seed in any::<u64>(),
    ) {
        let plain = small_flash(units, blocks, pages, spare, &format!("gc.policy={gc}{more}"));
        let capacity = units * blocks * pages * 4096 / bits.max(1);
        let (fixed, dynamic) = (capacity * shares.0 / 100, capacity * shares.1 / 100);
        let preset = match bits {
            0 => plain,
            _ => plain.and_then(|preset| with_one_bit(&preset, bits, fixed, dynamic, if gc == "greedy" { fold } else { "" })),
        };
        let Ok(preset) = preset else { return Ok(()) };
        let (mut drive, writes) = (preset.build(), 5 * units * blocks * pages);
        let write = |numbers: &mut Random, capacity: Bytes| {
            Request::new(Op::Write, Lba::new(numbers.below(capacity.sectors() / 8) * 8), 8)
        };
        let (done, counters) = support::story(&mut drive, write, |_| Nanos::ZERO, seed, writes as u32, 16);
        prop_assert_eq!(done.len() as u64, writes);
        prop_assert_eq!(counters.host_rejected, Bytes::ZERO);
        prop_assert!(counters.write_amplification().is_some_and(|times| times > 0.9), "{:?}", counters);
        let mut constructed = preset.build();
        if constructed.can_write_at_random(Bytes::from_kib(4)) {
            constructed.write_at_random(writes, Bytes::from_kib(4), Seed::new(seed));
            let (_, counters) = support::story(&mut constructed, write, |_| Nanos::ZERO, seed, 1_000, 16);
            prop_assert_eq!(counters.host_rejected, Bytes::ZERO);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A larger buffer in the host never has more of the map read, and no read takes more than one table beside its page.
    #[test]
    fn a_larger_host_memory_buffer_never_costs_reads(
        lookup in one(&[8_u64, 32, 64]), kib in 1..900_u64, entry in one(&[4_u64, 8]), seed in any::<u64>(),
    ) {
        let [none, some, more] = ["0", &format!("{kib}KiB"), "64MiB"].map(|hmb| looked_up(hmb, lookup, entry, seed));
        prop_assert!(none.0 >= some.0 && some.0 >= more.0, "{} {} {} pages read", none.0, some.0, more.0);
        prop_assert!(none.1 >= some.1 && some.1 >= more.1, "in {} {} {}", none.1, some.1, more.1);
        prop_assert!((300..=600).contains(&more.0) && none.0 <= 600);
        prop_assert!(more.0 < none.0 && more.1 < none.1, "of 512 tables at most, some are looked up again");
    }

    /// Units of whatever size: a write programs no more units than it touches, and a part of one is read for the rest at most once.
    #[test]
    fn writes_cost_the_units_that_they_touch(
        kib in one(&[4_u64, 8, 16, 32, 64]), seed in any::<u64>(), sectors in 1..200_u64,
    ) {
        let small = "capacity.user=512MiB&spare=80%&channels=2&dies_per_channel=2&pages_per_block=32&partial=256KiB";
        let name = format!("p5316-15360?{small}&geometry.page={kib}KiB");
        let mut drive = support::filled(&Preset::find(&name).unwrap_or_else(|error| panic!("{error}")));
        let (unit, touched, before) = (kib * 2, Cell::new(0), drive.counters());
        let write = |numbers: &mut Random, capacity: Bytes| {
            let sectors = 1 + numbers.below(sectors);
            let first = numbers.below(capacity.sectors() - sectors);
            touched.set(touched.get() + (first + sectors).div_ceil(unit) - first / unit);
            Request::new(Op::Write, Lba::new(first), sectors as u32)
        };
        support::story(&mut drive, write, |_| Nanos::ZERO, seed, 600, 16);
        drive.submit(drive.now(), Tag(0), Request::FLUSH);
        drive.complete(Nanos::MAX);
        let done = drive.counters() - before;
        let (programmed, read) = (done.pages_programmed - done.pages_moved, done.pages_read - done.pages_moved);
        prop_assert!(programmed <= touched.get(), "{} of {} units", programmed, touched.get());
        prop_assert!(read <= touched.get());
        prop_assert!(done.page == Bytes::from_kib(kib) && done.host_written <= done.page.times(touched.get()));
    }

    /// Block-mapped drives of any scheme: every write programs its pages, and merges only add to that.
    #[test]
    fn block_mapped_drives_write_what_they_are_asked(
        scheme in one(&["bast", "fast"]), logs in 1..12_u32, pages in one(&[8_u32, 16, 32]), seed in any::<u64>(),
    ) {
        let small = "flash.capacity=64MiB&dies_per_channel=2";
        let name = format!("ocz-core-64?{small}&pages_per_block={pages}&scheme={scheme}&log_blocks={logs}");
        let (_, done) = lives(&name, seed, 250, 1);
        let written = done.host_written.get().div_ceil(done.page.get());
        prop_assert!(done.pages_programmed >= done.pages_moved + written, "{:?}", done);
        prop_assert!(done.pages_programmed <= done.pages_moved + written + 2 * done.requests[1], "{:?}", done);
        prop_assert!(done.write_amplification().is_some_and(|times| times >= 1.0));
    }

    /// Media that are written in place: a request takes what it took when they were new, whatever was written before.
    #[test]
    fn media_written_in_place_are_as_fast_as_new(
        dies in 1..5_u32, every in 50..400_u64, page in 0..60_000_u64, seed in any::<u64>(),
    ) {
        let exact = "rewrites=0%&media.dies=0%&media.reads=0%&media.writes=0%&jitter=0%&log.every=10h&log.length=0s";
        let name = format!("optane-p4800x?media.capacity=256MiB&dies_per_channel={dies}&move_every={every}&{exact}");
        let lone = |drive: &mut Device, op| {
            let at = drive.now() + Nanos::from_millis(1);
            drive.submit(at, Tag(0), Request::new(op, Lba::new(page * 8), 8));
            drive.complete(Nanos::MAX).expect("it is answered").at - at
        };
        let mut drive = device(&name);
        let (fresh_read, fresh_write) = (lone(&mut drive, Op::Read), lone(&mut drive, Op::Write));
        support::story(&mut drive, disk::any_request, |_| Nanos::ZERO, seed, 400, 8);
        let (read, write) = (lone(&mut drive, Op::Read), lone(&mut drive, Op::Write));
        // Lines have moved: the accesses of a request may be on other channels than they were.
        let close = |one: Nanos, other: Nanos| one.as_nanos().abs_diff(other.as_nanos()) < 2_000;
        prop_assert!(close(read, fresh_read), "{}, {} when new", read, fresh_read);
        prop_assert!(close(write, fresh_write), "{}, {} when new", write, fresh_write);
        lives(&name, seed, 300, 8);
    }
}

/// The laptop disk, whose settling varies, with these changes.
fn disk_named(changes: &str) -> String {
    format!("st320lt020?settle=100us&{changes}")
}

fn disk_with(changes: &str) -> DiskDrive {
    let preset = Preset::find(&disk_named(changes)).unwrap_or_else(|error| panic!("{error}"));
    let Spec::Disk(spec) = preset.spec else { panic!("it is a disk") };
    DiskDrive::new(spec)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// Shingled tracks behind a media cache of any size.
    #[test]
    fn shingled_disks_answer_everything(
        band in one(&[1_u64, 8, 32]), cache in 2..20_u64, extents in 64..500_u64, idle in 10..200_u64,
        seed in any::<u64>(), depth in 1..32_u32,
    ) {
        let changes = format!("shingled.band={band}MiB&media_cache={}MiB&extents={extents}&clean_after={idle}ms", cache.max(2 * band));
        lives(&disk_named(&changes), seed, 300, depth);
    }

    /// One or two arms, physical sectors of either size, destaging and streams of any settings.
    #[test]
    fn disks_answer_everything(
        arms in 1..3_u32, physical in one(&["512B", "4KiB"]), choices in 1..8_u32, batch in 1..8_u32, prefetch in one(&[64_u64, 256, 512]),
        seed in any::<u64>(), depth in 1..32_u32,
    ) {
        let changes = format!(
            "actuators={arms}&physical_sector={physical}&destage_choices={choices}&destage_batch={batch}&prefetch={prefetch}KiB"
        );
        let name = disk_named(&changes);
        lives(&name, seed, 300, depth);
    }

    /// Writes of whole physical sectors never read first; of parts of them each does that is alone.
    #[test]
    fn parts_of_physical_sectors_are_read_first_and_nothing_else_is(seed in any::<u64>(), shift in 0..8_u64) {
        let (mut drive, mut random) = (disk_with("physical_sector=4KiB&cache.write=0B"), Random::new(seed));
        for _ in 0..40 {
            disk::ask(&mut drive, [disk::write(random.below(70_000_000) * 8 + shift, 8)]);
        }
        prop_assert_eq!(drive.rewrites(), if shift == 0 { 0 } else { 40 });
    }

    /// A second arm makes no lone request slower, and many at once no fewer a second.
    #[test]
    fn another_arm_never_costs(seed in any::<u64>(), depth in 2..24_u32) {
        let rate = |changes: &str| {
            let (mut drive, mut random) = (disk_with(changes), Random::new(seed));
            disk::keep(&mut drive, depth, 600, |_| disk::read(random.below(70_000_000) * 8, 8)).0
        };
        let (one, two) = (rate("actuators=1"), rate("actuators=2"));
        prop_assert!(two > one, "{} and {} a second", one, two);
    }

    /// The more streams a disk recognises, the fewer seeks: each goes on in its own segment, and all of the data is sent.
    #[test]
    fn streams_that_are_recognised_seek_less(streams in 2..6_u64, seed in 0..1_000_u64) {
        let seeks = |changes: &str| {
            let mut drive = disk_with(changes);
            let request = |index: u64| disk::read(seed * 1_000 + (index % streams) * 90_000_000 + index / streams * 128, 128);
            let (rate, _) = disk::keep(&mut drive, 1, 400, request);
            (drive.seeks(), rate)
        };
        let ((alternating, slow), (recognised, quick)) = (seeks("actuators=1"), seeks("segment=1MiB&prefetch=1MiB"));
        prop_assert!(recognised * 4 < alternating, "{} seeks, then {}", alternating, recognised);
        prop_assert!(quick > 2.0 * slow, "{} a second, then {}", slow, quick);
    }

    /// However a disk destages, a flush waits until all is on the platters, and nothing is at risk behind it.
    #[test]
    fn what_was_flushed_is_on_the_platters(
        choices in 1..16_u32, batch in 1..16_u32, seed in any::<u64>(), writes in 1..60_u64,
    ) {
        let changes = format!("destage_choices={choices}&destage_batch={batch}");
        let (mut drive, mut random) = (disk_with(&changes), Random::new(seed));
        let mut at_risk = 0;
        for _ in 0..writes {
            disk::ask(&mut drive, [disk::write(random.below(70_000_000) * 8, 8)]);
            at_risk = at_risk.max(drive.unsaved(drive.now()).len());
        }
        prop_assert!(at_risk > 0, "the cache holds what is on its way");
        disk::ask(&mut drive, [Request::FLUSH]);
        prop_assert!(drive.unsaved(drive.now()).is_empty());
    }
}
