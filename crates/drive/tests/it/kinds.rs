//! Kinds of flash drives: large indirection units, a host memory buffer in place of DRAM, flushes with and without power-loss
//! protection, temperatures.

use assay_drive::flash::{FlashDrive, FlashSpec};
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag, Temperature};
use testkit::Random;

use crate::modern::{in_order, near};

fn spec(name: &str) -> FlashSpec {
    let preset = Preset::find(name).unwrap_or_else(|error| panic!("{error}"));
    let Spec::Flash(spec) = preset.spec else { panic!("{name} is flash") };
    spec
}

fn drive(name: &str) -> FlashDrive {
    FlashDrive::new(spec(name))
}

/// The time of a request that comes when nothing else is under way.
fn lone(drive: &mut FlashDrive, request: Request) -> Nanos {
    let began = drive.now() + Nanos::from_millis(20);
    drive.submit(began, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it was submitted").at - began
}

fn write(lba: u64, sectors: u32) -> Request {
    Request::new(Op::Write, Lba::new(lba), sectors)
}

fn read(lba: u64, sectors: u32) -> Request {
    Request::new(Op::Read, Lba::new(lba), sectors)
}

/// Sectors of a unit of 64 KiB.
const UNIT: u64 = 128;

/// A small drive that is mapped in units of 64 KiB, filled; without anything that is drawn.
fn large_units(changes: &str) -> (FlashDrive, u64) {
    let exact = "jitter=0%&variation.dies=0%&blocks=0%&word_lines=0%&programs=0%&erases=0%&reads=0%&journal.length_deviation=0%&journal.data=0B";
    let small = "capacity.user=4GiB&channels=2&dies_per_channel=4&pages_per_block=32&factory_bad=0%";
    let mut drive = drive(&format!("p5316-15360?{small}&{exact}{changes}"));
    let sectors = Bytes::from_gib(4).sectors();
    drive.fill_untimed(Lba::new(0), Lba::new(sectors), Bytes::from_mib(1), 100);
    (drive, sectors)
}

fn scattered(drive: &mut FlashDrive, count: u64, sectors: u32, span: u64) -> Counters {
    let (before, mut numbers) = (drive.counters(), Random::new(5));
    let places = span / u64::from(sectors);
    for index in 0..count + 32 {
        if index >= 32 {
            drive.complete(Nanos::MAX).expect("some are in flight");
        }
        if index < count {
            drive.submit(drive.now(), Tag(index as u32), write(numbers.below(places) * u64::from(sectors), sectors));
        }
    }
    drive.counters() - before
}

/// A write below the unit reads the unit and programs it: 16 times as much for 4 KiB, beside what collection moves.
#[test]
fn small_writes_cost_whole_units() {
    let (mut small, span) = large_units("&partial=128KiB");
    let done = scattered(&mut small, 20_000, 8, span);
    // Two wait in the buffer at the end, and one in 32,768 is to a unit that waits there.
    let units = done.pages_programmed - done.pages_moved;
    assert!((19_900..=20_000).contains(&units), "{units} units");
    assert!(done.write_amplification().unwrap() > 16.0 * 0.995);
    // But for those that are still in the buffer.
    let spared = units - (done.pages_read - done.pages_moved);
    let buffered = 20_000 * u64::from(small.spec().buffer_pages) / span.div_ceil(UNIT);
    assert!((1..=buffered).contains(&spared), "each was read for its rest but {spared}, not {buffered}");
    let (mut whole, span) = large_units("&partial=128KiB");
    let done = scattered(&mut whole, 20_000, UNIT as u32, span);
    assert_eq!(done.pages_programmed - done.pages_moved, 20_000);
    assert_eq!(done.pages_read, done.pages_moved, "what is written whole is not read");
}

/// Where reads go first, so do those for the rest of a page: a write waits for no more than the flash needs for one more array
/// read, not for all that has been given to two dies.
#[test]
fn what_is_read_for_the_rest_of_a_page_goes_first() {
    let small = "capacity.user=896MiB&capacity.spare=28%&pages_per_block=64&slc.fixed=0B&slc.dynamic=0B";
    let mut full = drive(&format!("990-pro?{small}"));
    let span = full.spec().capacity.sectors();
    full.fill_untimed(Lba::new(0), Lba::new(span), Bytes::from_mib(1), 100);
    full.write_at_random(500_000, Bytes::from_kib(4), block::Seed::new(1));
    let [parts, pages] = [1, 8].map(|sectors| {
        let (mut drive, began) = (full.clone(), full.now());
        scattered(&mut drive, 30_000, sectors, span);
        (drive.now() - began).as_secs_f64()
    });
    assert!((1.02..1.25).contains(&(parts / pages)), "{parts} s for parts of pages, {pages} s for pages");
}

/// What lies together is put together before it is programmed.
#[test]
fn small_writes_in_order_fill_units() {
    let (mut drive, _) = large_units("");
    let before = drive.counters();
    (0..16 * 100).for_each(|index| {
        lone(&mut drive, write(index * 8, 8));
    });
    let done = drive.counters() - before;
    assert_eq!((done.pages_programmed, done.pages_read), (100, 0));
}

#[test]
fn a_part_of_a_unit_is_read_by_itself_and_written_after_the_whole_was_read() {
    let (mut drive, _) = large_units("&capacitor=false&boot=0s&journal.length=0s");
    let spec = *drive.spec();
    let transfer = |sectors: u64| spec.nand.channel.time_for(Bytes::from_sectors(sectors));
    let sent = |sectors: u64| spec.link.rate.time_for(Bytes::from_sectors(sectors));
    // Which of a word line's pages it is is not known.
    let sensing = |page_type: usize| spec.nand.pages.read[page_type].of(spec.nand.read);
    let is_one_of = |time: Nanos, rest: Nanos, within: u64| {
        (0..spec.nand.pages.count as usize)
            .any(|page_type| time.as_nanos().abs_diff((sensing(page_type) + rest).as_nanos()) < within)
    };
    let part = lone(&mut drive, read(UNIT * 1_000 + 40, 8));
    let whole = lone(&mut drive, read(UNIT * 2_001, UNIT as u32));
    let decode = spec.behaviour.errors.expect("cells of four bits err").decode;
    let common = spec.command + decode + spec.link.command;
    for (time, sectors) in [(part, 8), (whole, UNIT)] {
        let rest = common + transfer(sectors) + sent(sectors);
        assert!(is_one_of(time, rest, 100), "{sectors} sectors: {time}, {rest} without sensing");
    }
    lone(&mut drive, write(UNIT * 777 + 16, 8));
    let flushed = lone(&mut drive, Request::FLUSH);
    // Flash begins while the firmware looks at the command.
    let rest = transfer(UNIT) + decode + transfer(UNIT) + spec.nand.program + spec.link.command;
    assert!(is_one_of(flushed, rest, 200), "{flushed}, {rest} without sensing");
}

/// A DRAM-less drive with a map of `8 GiB` in 2,048 tables of 4 KiB, of which the controller holds 16.
fn without_dram(hmb: &str) -> FlashDrive {
    let small =
        "capacity.user=8GiB&dies_per_channel=2&pages_per_block=512&slc.fixed=0B&slc.dynamic=0B&jitter=0%&lookup=64KiB";
    let mut drive = drive(&format!("980-1tb?{small}&hmb={hmb}"));
    drive.fill_untimed(Lba::new(0), Lba::at(Bytes::from_gib(8)), Bytes::from_mib(1), 100);
    drive
}

/// Array reads beside those of the data, and the mean time, of lone reads spread evenly.
fn looked_up(drive: &mut FlashDrive, reads: u64) -> (u64, Nanos) {
    let (before, mut numbers) = (drive.counters(), Random::new(9));
    let pages = Bytes::from_gib(8).div(Bytes::from_kib(4));
    let times = (0..reads).map(|_| lone(drive, read(numbers.below(pages) * 8, 8)));
    let sum: Nanos = times.fold(Nanos::ZERO, |sum, time| sum + time);
    ((drive.counters() - before).pages_read - reads, Nanos::from_nanos(sum.as_nanos() / reads))
}

#[test]
fn a_host_memory_buffer_spares_reads_of_the_map() {
    let (mut with, mut half, mut without) = (without_dram("64MiB"), without_dram("4MiB"), without_dram("0"));
    // Every table is brought from flash once; with room for half of them, half of the look-ups find theirs.
    looked_up(&mut with, 20_000);
    looked_up(&mut half, 20_000);
    let reads = 10_000;
    let ((none, quick), (some, _), (all, slow)) =
        (looked_up(&mut with, reads), looked_up(&mut half, reads), looked_up(&mut without, reads));
    assert_eq!(none, 0);
    assert!((4_700..5_300).contains(&some), "{some} of 10,000");
    // The controller itself holds 16 of 2,048.
    assert!((9_880..9_950).contains(&all), "{all} of 10,000");
    let spec = *without.spec();
    let page = Bytes::from_kib(4);
    let decode = spec.behaviour.errors.map_or(Nanos::ZERO, |errors| errors.decode);
    let from_flash = spec.nand.read + spec.nand.channel.time_for(page) + decode;
    let from_host = Nanos::from_nanos(900) + spec.link.rate.time_for(page);
    let expected = (from_flash - from_host).as_nanos() * 992 / 1_000;
    let lost = (slow - quick).as_nanos();
    assert!(lost.abs_diff(expected) < expected / 20, "{lost} ns a read are lost, not {expected}");
}

/// Tables of what was written in order are in all dies, as the data is.
#[test]
fn many_reads_at_a_time_look_tables_up_side_by_side() {
    let mut drive = without_dram("0");
    let (_, lone) = looked_up(&mut drive, 2_000);
    let (began, mut numbers) = (drive.now(), Random::new(10));
    let pages = Bytes::from_gib(8).div(Bytes::from_kib(4));
    for number in 0..20_000 {
        if number >= 16 {
            drive.complete(Nanos::MAX).expect("16 are in flight");
        }
        drive.submit(drive.now(), Tag(number), read(numbers.below(pages) * 8, 8));
    }
    let each = Nanos::from_nanos((drive.now() - began).as_nanos() / 20_000);
    assert!(lone.as_nanos() > 4 * each.as_nanos(), "a lone read takes {lone}, of 16 at a time each {each}");
}

#[test]
fn a_drive_that_lost_its_power_looks_its_map_up_anew() {
    let mut drive = without_dram("64MiB");
    let (first, _) = looked_up(&mut drive, 500);
    assert!(first > 400, "{first}");
    assert!(looked_up(&mut drive, 500).0 == 0);
    drive.cut_power(drive.now());
    assert_eq!(looked_up(&mut drive, 500).0, first);
}

/// A flush of what is on its way takes its program and a page of the journal; of nothing, the command; with power-loss
/// protection always the command.
#[test]
fn a_flush_takes_what_a_power_cut_would_lose() {
    let changes = "?jitter=0%&dies=0%&blocks=0%&word_lines=0%&programs=0%&light_after=10h&deep_after=20h";
    let mut client = drive(&format!("990-pro{changes}"));
    let spec = *client.spec();
    let bare = spec.command + spec.link.command;
    let page = spec.nand.channel.time_for(Bytes::from_kib(16)) + spec.nand.single.program;
    let near = |time: Nanos, expected: Nanos, what: &str| {
        assert!(time.as_nanos().abs_diff(expected.as_nanos()) < 1_000, "{what}: {time}, not {expected}");
    };
    // Flash begins while the firmware looks at the command.
    let sent = spec.link.command;
    let plain = lone(&mut client, write(0, 8));
    near(lone(&mut client, Request::FLUSH), page + page + sent, "data and journal");
    near(lone(&mut client, Request::FLUSH), bare, "nothing is left to be written");
    let durable = Request { durable: true, ..write(64, 8) };
    near(lone(&mut client, durable), plain + page + page, "FUA");
    near(lone(&mut client, Request::FLUSH), bare, "nothing is left after FUA");
    // A second one that comes meanwhile does not answer before the journal of the first is there.
    lone(&mut client, write(128, 8));
    let began = client.now() + Nanos::from_millis(50);
    client.submit(began, Tag(0), write(0, 8));
    let written = client.complete(Nanos::MAX).expect("it is in flight").at;
    (1..3).for_each(|tag| client.submit(written, Tag(tag), Request::FLUSH));
    let [first, second] = [(); 2].map(|()| client.complete(Nanos::MAX).expect("both are in flight").at);
    near(first - written, page + page + sent, "the first of two flushes");
    near(second - written, page + page + sent, "the second");
    let mut without = drive(&format!("990-pro{changes}&flush_journal=false"));
    lone(&mut without, write(0, 8));
    near(lone(&mut without, Request::FLUSH), page + sent, "data alone");
    let mut protected = drive(&format!("990-pro{changes}&capacitor=true"));
    lone(&mut protected, write(0, 8));
    near(lone(&mut protected, Request::FLUSH), bare, "what the capacitor keeps");
    near(lone(&mut protected, durable), plain, "FUA costs nothing");
    assert_eq!(
        protected.counters().pages_programmed,
        0,
        "flash pages are filled by what comes next, and there is no journal"
    );
}

/// What durable writes of 4 KiB do a second with so many in flight, and how many pages are programmed for each.
fn durable(name: &str, depth: u64) -> (f64, f64) {
    const COUNT: u64 = 8_000;
    let mut drive = drive(name);
    let (mut numbers, began) = (Random::new(9), drive.now());
    let mut latest = began;
    for index in 0..COUNT + depth {
        if index >= depth {
            latest = drive.complete(Nanos::MAX).expect("some are in flight").at;
        }
        if index < COUNT {
            let request = Request { durable: true, ..write(numbers.below(1 << 17) * 8, 8) };
            drive.submit(drive.now(), Tag(index as u32), request);
        }
    }
    (COUNT as f64 / (latest - began).as_secs_f64(), drive.counters().pages_programmed as f64 / COUNT as f64)
}

/// With power-loss protection durable writes are writes like any other; without it each takes a flash page and one of the journal,
/// and those in flight are programmed side by side.
#[test]
fn durable_writes_cost_what_has_to_be_programmed_and_go_side_by_side() {
    for name in ["7450-pro-960", "pm9a3-960", "s3700-400"] {
        let (rate, programmed) = durable(name, 32);
        assert!(rate > 35_000.0 && programmed < 1.1, "{name}: {rate:.0} a second, {programmed} pages for each");
    }
    for name in ["990-pro", "970-pro", "sata-tlc"] {
        let [(one, pages), (many, _)] = [1, 32].map(|depth| durable(name, depth));
        assert!(many > 4.0 * one, "{name}: {many:.0} a second with 32 in flight, {one:.0} with one");
        let flash_page = drive(name).spec().geometry.program_pages;
        assert_eq!(pages, f64::from(2 * flash_page), "{name}: data and journal");
    }
}

/// A page of the journal is programmed by the die of its data, so that all dies are at work: each does two programs a write.
#[test]
fn durable_writes_keep_all_dies_at_work() {
    for name in ["990-pro", "sata-tlc"] {
        let spec = *drive(name).spec();
        let page = spec.nand.channel.time_for(spec.geometry.page.times(spec.geometry.program_pages.into()));
        let each = (page + spec.nand.single.program).times(2).as_secs_f64();
        let (rate, _) = durable(name, 16 * u64::from(spec.geometry.units()));
        let busy = rate * each / f64::from(spec.geometry.units());
        assert!((0.65..1.05).contains(&busy), "{name}: {rate:.0} a second are {busy:.2} of what dies can do");
    }
}

/// Blocks of the journal are erased while nobody waits.
#[test]
fn no_durable_write_waits_for_an_erase() {
    for name in ["990-pro", "sata-tlc"] {
        let mut drive = drive(name);
        let write = |number: u64| Request { durable: true, ..write(number * 64 % (1 << 20), 8) };
        let longest = (0..3_000).map(|number| lone(&mut drive, write(number))).max().unwrap();
        let counters = drive.counters();
        assert!(counters.blocks_erased > 5, "{name}: {} blocks", counters.blocks_erased);
        assert!(longest < drive.spec().nand.erase, "{name}: {longest}");
    }
}

/// Flushes that come while a page of the journal is programmed share the next, so that those who write and flush by turns do more
/// together than a journal with a page for each would.
#[test]
fn flushes_share_pages_of_the_journal() {
    let flushed = |name: &str, workers: u32| {
        let (mut drive, mut numbers) = (drive(name), Random::new(3));
        let began = drive.now();
        let mut next = |write_next: bool| match write_next {
            true => write(numbers.below(1 << 17) * 8, 8),
            false => Request::FLUSH,
        };
        let mut writes_next = vec![false; workers as usize];
        (0..workers).for_each(|tag| drive.submit(began, Tag(tag), next(true)));
        let mut flushes = 0_u32;
        while flushes < 4_000 {
            let done = drive.complete(Nanos::MAX).expect("some are in flight");
            let is_write = &mut writes_next[done.tag.0 as usize];
            flushes += u32::from(*is_write);
            drive.submit(done.at, done.tag, next(*is_write));
            *is_write = !*is_write;
        }
        f64::from(flushes) / (drive.now() - began).as_secs_f64()
    };
    for name in ["990-pro", "sata-tlc"] {
        let program = drive(name).spec().nand.single.program.as_secs_f64();
        let [one, four, many] = [1, 4, 32].map(|workers| flushed(name, workers));
        assert!(one < 1.0 / (2.0 * program) && four > 1.2 * one, "{name}: {one:.0} and {four:.0} a second");
        assert!(many > 3.0 / program, "{name}: {many:.0} a second with 32, where each alone takes {program} s");
    }
}

/// With the volatile write cache off each write is one with FUA, also where a capacitor would spare it that, and a flush finds nothing
/// to do.
#[test]
fn without_a_write_cache_each_write_is_programmed_before_it_is_done() {
    let take = |name: &str, durable: bool, depth: usize| -> Vec<Nanos> {
        let mut drive = drive(name);
        let (mut random, mut done) = (Random::new(7), Vec::new());
        for number in 0..300 {
            let request = Request { durable, ..write(random.below(1 << 20) * 4, 1 + random.below(32) as u32) };
            drive.submit(drive.now(), Tag(number), request);
            if number as usize >= depth {
                done.push(drive.complete(Nanos::MAX).unwrap().at);
            }
        }
        done
    };
    for name in ["990-pro", "x25-m", "sata-tlc"] {
        for depth in [0, 8] {
            let through = take(&format!("{name}?write_through=true"), false, depth);
            assert_eq!(through, take(name, true, depth), "{name}, {depth} in flight");
        }
    }
    let spec = spec("pm9a3-960");
    let [mut with, mut without] = ["pm9a3-960", "pm9a3-960?write_through=true"].map(drive);
    let [fast, slow] = [&mut with, &mut without].map(|drive| lone(drive, write(0, 8)));
    assert!(fast < Nanos::from_micros(50) && slow > spec.nand.program, "{fast}, {slow}");
    let mut fresh = drive("990-pro");
    let mut through = drive("990-pro?write_through=true&jitter=0%");
    let nothing = lone(&mut drive("990-pro?jitter=0%"), Request::FLUSH);
    let _ = lone(&mut through, write(0, 8));
    assert!(lone(&mut fresh, write(0, 8)) < Nanos::from_micros(50));
    assert_eq!(lone(&mut through, Request::FLUSH), nothing, "all is in flash");
}

/// Writes in order of a family: as many dies, as much flash can do, until the controller's own rate is reached. A lone write does
/// not notice that.
#[test]
fn siblings_write_as_fast_as_their_dies_up_to_what_the_controller_passes_on() {
    for (name, rated) in [
        ("m4-64", 95.0),
        ("m4-128", 175.0),
        ("m4-256", 260.0),
        ("ssd-320", 205.0),
        ("ssd-320-80", 90.0),
        ("ssd-320-160", 165.0),
        ("samsung-830", 392.0),
        ("samsung-830-64", 160.0),
        ("samsung-830-128", 320.0),
        ("samsung-830-512", 400.0),
    ] {
        let mut device = Preset::find(name).unwrap().build();
        let rate = in_order(&mut device, Op::Write, Bytes::ZERO, Bytes::from_gib(2));
        near(&format!("{name}, writes in order, MB/s"), rate, rated, 0.08);
    }
    let (mut with, mut without) = (drive("m4-256"), drive("m4-256?write_rate=100 GB/s"));
    assert_eq!(lone(&mut with, write(0, 8)), lone(&mut without, write(0, 8)));
    // A page of 4 KiB takes 2,048 us at 2 MB/s: a flush waits for it before it is programmed.
    let mut slow = drive("m4-256?write_rate=2 MB/s&dies=0%&blocks=0%&word_lines=0%&programs=0%&jitter=0%");
    lone(&mut slow, write(0, 8));
    slow.submit(slow.now(), Tag(0), Request::FLUSH);
    let flushed = slow.complete(Nanos::MAX).unwrap().at;
    slow.submit(flushed, Tag(0), write(64, 8));
    let began = slow.complete(Nanos::MAX).unwrap().at;
    slow.submit(began, Tag(0), Request::FLUSH);
    let took = slow.complete(Nanos::MAX).unwrap().at - began;
    let least = Nanos::from_micros(2_048 + 1_300);
    assert!((least..least + Nanos::from_micros(300)).contains(&took), "{took}");
}

/// Warning and critical composite temperatures of drives for clients: none slows down in a short run from room temperature,
/// and all do when heat has nowhere to go.
#[test]
fn drives_for_clients_throttle_when_they_are_warm_and_not_before() {
    for (name, warm, hot) in [("970-pro", 81, 85), ("990-pro", 82, 85), ("980-pro-1tb", 82, 85), ("pcie5", 83, 87)] {
        let throttled = |changes: &str| {
            let mut drive = drive(&format!("{name}{changes}"));
            let thermal = drive.spec().thermal.expect("it has a thermal table");
            let at = thermal.throttle.map(|throttle| throttle.at);
            assert_eq!(at, [warm, hot].map(Temperature::from_celsius), "{name}");
            for index in 0..40_000 {
                if index >= 32 {
                    drive.complete(Nanos::MAX).expect("some are in flight");
                }
                drive.submit(drive.now(), Tag(index as u32), write(index * 256, 256));
            }
            drive.counters().throttled
        };
        assert_eq!(throttled(""), Nanos::ZERO, "{name}: 5 GB");
        let insulated = throttled("?thermal.resistance=200 K/W&thermal.heat_capacity=0.05 J/K");
        assert!(insulated > Nanos::ZERO, "{name} never slows down");
    }
}

#[test]
fn what_makes_no_such_drive_is_explained() {
    for (name, words) in [
        ("990-pro?page=128KiB", "1, 2, 4 … or 64 KiB"),
        ("x25-m?hmb=1MiB", "map.lookup"),
        ("980-1tb?hmb=17GiB", "at most 16 GiB"),
    ] {
        let said = Preset::find(name).unwrap_err().to_string();
        assert!(said.contains(words), "{name}: {said}");
    }
}
