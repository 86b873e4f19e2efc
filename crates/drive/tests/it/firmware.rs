//! What the firmware of a flash drive takes: of each command and page, from its buffer, for itself and while it is warm. By
//! count, by the clock and by property.

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use block::{Lba, Nanos, Op, Request, Tag, Temperature};
use proptest::prelude::*;

use crate::support::exact::{self, FLASH_PAGE, filled, fresh, lone, pages, read, takes, write};

fn us(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

fn of_pages(op: Op, page: u64, count: u64) -> Request {
    Request::new(op, Lba::new(page * 8), 8 * count as u32)
}

/// When each of these is done that come at once on a fresh drive, whose reads touch no flash.
fn at_once(drive: &mut FlashDrive, requests: &[Request]) -> Vec<Nanos> {
    let at = drive.now() + us(50_000);
    (0..).zip(requests).for_each(|(tag, request)| drive.submit(at, Tag(tag), *request));
    let mut done = vec![Nanos::ZERO; requests.len()];
    while let Some(completion) = drive.complete(Nanos::MAX) {
        done[completion.tag.0 as usize] = completion.at - at;
    }
    done
}

#[test]
fn as_many_commands_are_worked_on_as_there_are_cores() {
    for cores in [1, 3, 8] {
        let mut drive = fresh(&format!("controller.cores={cores}&controller.command=40us&retire=10us"), "");
        let done = at_once(&mut drive, &[read(5); 24]);
        let rows = (0..24).map(|index| us(40) + us(50).times(index / cores) + exact::sent(drive.spec(), 1));
        // Those of a row go over the link one after the other.
        let link = exact::sent(drive.spec(), 1);
        for (index, (done, row)) in (0..).zip(done.iter().zip(rows)) {
            assert_eq!(*done, row + link.times(index % cores), "{index} of 24 on {cores} cores");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A read's pages and what is left to do of it delay the next command and not itself; a write's pages delay both.
    #[test]
    fn pages_cost_the_next_command_of_reads_and_this_one_of_writes(
        count in 1..60_u64, page in 2..40_u64, update in 0..30_u64, retire in 0..30_u64, continues in any::<bool>(),
    ) {
        let changes = format!("controller.page_read={page}us&page_write={page}us&controller.write={update}us&retire={retire}us");
        let mut drive = fresh(&changes, "");
        let spec = *drive.spec();
        let (command, one) = (spec.command, exact::sent(&spec, 1));
        let reads = at_once(&mut drive, &[of_pages(Op::Read, 0, count), read(100)]);
        prop_assert_eq!(reads[0], command + exact::sent(&spec, count));
        prop_assert_eq!(reads[1], command + us(page * count + retire) + command + one);
        // The second change of the map is of all pages but the first; what goes on where the last write ended is part of its.
        lone(&mut drive, write(99));
        let first = if continues { 100 } else { 200 };
        let changes = if continues { 0 } else { count.min(2) };
        let handled = command + us(page * count + update * changes);
        let writes = at_once(&mut drive, &[of_pages(Op::Write, first, count), read(300)]);
        prop_assert_eq!(writes[0], handled.max(command + exact::sent(&spec, count)));
        prop_assert_eq!(writes[1], handled + us(retire) + command + one);
    }
}

#[test]
fn a_trim_takes_time_for_each_page_that_it_touches_and_delays_the_next_command() {
    let mut drive = fresh("controller.page_trim=30ns", "");
    let spec = *drive.spec();
    for pages in [1, 64, 4_096] {
        let done = at_once(&mut drive, &[of_pages(Op::Trim, 0, pages), read(100)]);
        let handled = spec.command + Nanos::from_nanos(30 * pages);
        assert_eq!(done, [handled + exact::sent(&spec, 0), handled + spec.command + exact::sent(&spec, 1)]);
    }
    assert_eq!(fresh("", "").spec().page_trim, Nanos::from_nanos(10), "where the file does not say");
}

/// A map of 1,024 pages for each mapping page, of which the controller holds two: what trims read of it, and what reads do
/// behind them.
#[test]
fn a_trim_of_a_part_needs_its_mapping_page_and_one_of_all_that_it_describes_does_not() {
    let mut drive =
        fresh("user=24MiB", "[map]\nsource = \"test\"\ncache = \"8 KiB\"\nentry = \"4 B\"\nextent = \"2 KiB\"");
    let scattered = |drive: &mut FlashDrive| {
        for page in (1..6_000).step_by(500).chain((2..6_000).step_by(500)) {
            lone(drive, write(page));
        }
        lone(drive, Request::FLUSH);
    };
    let flash_reads = |drive: &mut FlashDrive, request| {
        let before = drive.counters().pages_read;
        lone(drive, request);
        drive.counters().pages_read - before
    };
    scattered(&mut drive);
    assert_eq!(flash_reads(&mut drive, read(1)), 2, "a page and what describes it");
    assert_eq!(flash_reads(&mut drive, of_pages(Op::Trim, 512, 512)), 1, "the second half of the first 1,024 pages");
    scattered(&mut drive);
    assert_eq!(flash_reads(&mut drive, of_pages(Op::Trim, 0, 1_024)), 0, "all of them");
    assert_eq!(flash_reads(&mut drive, read(1)), 0, "nothing is there, and that is known");
    assert_eq!(flash_reads(&mut drive, of_pages(Op::Trim, 0, 600)), 0, "as little is there to trim");
    lone(&mut drive, write(1));
    lone(&mut drive, Request::FLUSH);
    assert_eq!(flash_reads(&mut drive, read(1)), 1, "a region that begins anew is one extent, which is at hand");
}

/// Lone reads that touch no flash: a factor of the command's time each, whose logarithm is normal.
#[test]
fn commands_take_times_around_their_mean_as_the_file_says() {
    let mut drive = fresh("controller.command=100us&jitter=20%", "");
    let link = exact::sent(drive.spec(), 1);
    let mut times: Vec<f64> = (0..20_000).map(|_| (lone(&mut drive, read(5)) - link).as_micros_f64() / 100.0).collect();
    times.sort_unstable_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / 20_000.0;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
    assert!(
        (mean - 1.0).abs() < 0.005 && (deviation / 0.2 - 1.0).abs() < 0.03,
        "{mean} with a deviation of {deviation}"
    );
    let variance = 1.04_f64.ln();
    for (share, normal) in [(0.01, -2.326), (0.5, 0.0), (0.99, 2.326), (0.999, 3.090)] {
        let wanted = (normal * variance.sqrt() - variance / 2.0).exp();
        let found = times[(20_000.0 * share) as usize];
        assert!((found / wanted - 1.0).abs() < 0.03, "{share}: {found} of the mean, {wanted} wanted");
    }
    times.dedup();
    assert!(times.len() > 10_000, "{} times", times.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the deviation: the same specimen takes the same times, another others, and without one all are alike.
    #[test]
    fn a_specimen_keeps_its_times(jitter in 0..60_u64, command in 1..200_u64) {
        let told = |number| {
            let changes = format!("controller.command={command}us&jitter={jitter}%");
            let mut drive = exact::specimen(&changes, "", number);
            (0..50).map(|_| lone(&mut drive, read(5))).collect::<Vec<_>>()
        };
        let first = told(1);
        prop_assert_eq!(&first, &told(1));
        prop_assert_eq!(first != told(2), jitter > 0);
        prop_assert_eq!(first.iter().all(|time| *time == first[0]), jitter == 0);
    }
}

/// A page of the map is in the buffer until its flash page is full and programmed.
#[test]
fn what_is_in_the_buffer_is_read_without_flash_and_counted_so() {
    for (serves, sensed) in [(true, 0), (false, FLASH_PAGE)] {
        let mut drive = filled(&format!("buffer.serves_reads={serves}"), "");
        let spec = *drive.spec();
        let at = drive.now() + us(50_000);
        (0..FLASH_PAGE).for_each(|page| drive.submit(at, Tag(0), write(page * 7)));
        while drive.complete(at + us(200)).is_some() {}
        let before = drive.counters();
        let took = takes(&mut drive, at + us(200), read(0));
        for page in 1..FLASH_PAGE {
            let at = drive.now();
            takes(&mut drive, at, read(page * 7));
        }
        assert_eq!((drive.counters() - before).pages_read, sensed, "serves_reads = {serves}");
        let quick = spec.command + exact::sent(&spec, 1);
        assert_eq!(took == quick, serves, "{took}");
        assert!(serves || took > us(700), "{took}: it waits for the program");
        assert_eq!(lone(&mut drive, read(0)), exact::beside_sensing(&spec) + spec.nand.read, "then it is in flash");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is written and read: a read is answered without flash in the time of its command, and no other is.
    #[test]
    fn reads_of_the_buffer_are_as_quick_as_they_are_counted(
        seed in any::<u64>(), span in 1..200_u64, writes in 1..4_u64,
    ) {
        let mut drive = filled("buffer.serves_reads=true", "");
        let (mut random, quick) = (testkit::Random::new(seed), drive.spec().command + exact::sent(drive.spec(), 1));
        let (mut last, mut written) = (0, 0);
        for _ in 0..200 {
            let page = random.below(span);
            let at = drive.now() + us(random.below(1_500));
            if random.below(writes + 1) > 0 {
                takes(&mut drive, at, write(page));
                (last, written) = (page, written + 1);
            } else {
                let before = drive.counters().pages_read;
                let took = takes(&mut drive, at, read(page));
                let sensed = drive.counters().pages_read - before;
                prop_assert_eq!(took == quick, sensed == 0, "{} took {}", page, took);
                prop_assert!(sensed <= 1);
            }
        }
        // What was written last is there as long as its flash page is not full.
        let waits = written % FLASH_PAGE > 0;
        prop_assert_eq!(lone(&mut drive, read(last)) == quick, waits, "{} pages written", written);
    }
}

fn task(name: &str, fields: &str) -> String {
    format!("\n[{name}]\nsource = \"test\"\n{fields}\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A journal or checkpoint: as many lone writes wait as there are such amounts in what was written, each for all of it, and
    /// reads for the share that the file says.
    #[test]
    fn writes_wait_as_often_and_as_long_as_a_task_says(
        kib in 1..64_u64, length in 1..3_000_u64, held in 0..=100_u64, name in prop_oneof![Just("journal"), Just("checkpoint"), Just("log")],
    ) {
        let fields = format!("written = \"{} KiB\"\nlength = \"{length} us\"\nholds_reads = true\nreads_held = \"{held}%\"", kib * 4);
        let mut drive = fresh("", &task(name, &fields));
        let quick = drive.spec().command + exact::sent(drive.spec(), 1);
        let mut waits = 0;
        for page in 0..200 {
            let at = drive.now() + us(10_000);
            let took = takes(&mut drive, at, write(page * 3));
            if took > quick {
                waits += 1;
                prop_assert_eq!(took, quick + us(length), "page {}", page);
            } else {
                prop_assert_eq!(took, quick);
            }
        }
        prop_assert_eq!(waits, 200 / kib);
        // A read that comes with the write that brings the next.
        while drive.counters().host_written.get() % (kib * 4096) != (kib - 1) * 4096 {
            lone(&mut drive, write(0));
        }
        let at = drive.now() + us(10_000);
        drive.submit(at, Tag(1), write(5));
        drive.submit(at, Tag(2), read(5_000));
        let mut took = [Nanos::ZERO; 3];
        while let Some(done) = drive.complete(Nanos::MAX) {
            took[done.tag.0 as usize] = done.at - at;
        }
        prop_assert_eq!(took[1], quick + us(length));
        let share = Nanos::from_nanos(length * 1_000 * held / 100);
        prop_assert!(took[2] >= quick + share && took[2] <= quick.times(2) + share, "{} of {}", took[2], share);
    }

    /// The same by time: one task in each period, however often somebody asks.
    #[test]
    fn tasks_by_time_come_once_in_each_period(every in 5..50_u64, length in 400..2_000_u64, gap in 100..300_u64) {
        let fields = format!("every = \"{every} ms\"\nlength = \"{length} us\"");
        let mut drive = fresh("", &task("log", &fields));
        let quick = drive.spec().command + exact::sent(drive.spec(), 1);
        let (periods, mut tasks, mut last) = (20, 0, Nanos::ZERO);
        while drive.now() < Nanos::from_millis(every * periods) {
            let at = drive.now() + us(gap);
            let took = takes(&mut drive, at, write(5));
            prop_assert!(took <= quick + us(length));
            if took > quick {
                let ends = at + took;
                // All that wait for one wait for its end.
                tasks += u64::from(ends > last + us(length));
                last = ends;
            }
        }
        prop_assert!(tasks.abs_diff(periods) <= 1, "{} tasks in {} periods", tasks, periods);
    }
}

/// Blocks that hold data which is never written again are moved for the sake of even wear, and the host waits for that.
#[test]
fn static_wear_levelling_moves_cold_data_and_costs_the_host_time() {
    let told = |levelling: &str| {
        let wear = format!("\n[wear]\nsource = \"test\"\nrated_erases = 3000\nreserve = \"2%\"\n{levelling}");
        let mut drive = filled("", &wear);
        let (before, began) = (drive.counters(), drive.now());
        // The first eighth again and again.
        let span = pages(&drive) / 8;
        for turn in 0..40_000 {
            let at = drive.now();
            takes(&mut drive, at, write(turn % span));
        }
        let wear = drive.health().wear.expect("it wears out");
        (drive.counters() - before, drive.now() - began, wear.erases_max - wear.erases_min)
    };
    let ((plain, quick, uneven), (levelled, slow, even)) = (told(""), told("spread_max = 4\n"));
    assert_eq!(plain.pages_moved, 0, "what is written in order leaves nothing to move");
    assert!(even <= 5 && uneven > 10, "{even} erases between blocks, {uneven} without");
    assert!(levelled.pages_moved > pages(&fresh("", "")) / 2, "{levelled:?}");
    assert_eq!(levelled.blocks_refreshed, 0, "for wear, not for errors");
    // Each page that was moved took its part of a program and of the reads before it.
    let spec = *fresh("", "").spec();
    let each =
        (spec.nand.program + exact::carried(&spec, FLASH_PAGE).times(2) + spec.nand.read.times(3)).as_secs_f64() / 12.0;
    let lost = (slow - quick).as_secs_f64() / each / levelled.pages_moved as f64;
    assert!(
        (0.9..1.6).contains(&lost),
        "{lost} of what the moves and the erases behind them take: {quick}, then {slow}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever share of the drive is written again and again: blocks differ by no more erases than the file allows, and one that is
    /// being written or emptied by one more.
    #[test]
    fn static_wear_levelling_keeps_blocks_as_even_as_the_file_says(spread in 2..24_u32, share in 2..16_u64, seed in any::<u64>()) {
        let wear = format!("\n[wear]\nsource = \"test\"\nrated_erases = 3000\nreserve = \"2%\"\nspread_max = {spread}\n");
        let mut drive = filled("", &wear);
        let (span, mut random) = (pages(&drive) / share, testkit::Random::new(seed));
        for _ in 0..30_000 {
            let at = drive.now();
            takes(&mut drive, at, write(random.below(span)));
        }
        let wear = drive.health().wear.expect("it wears out");
        let uneven = wear.erases_max - wear.erases_min;
        prop_assert!(uneven <= spread + 1, "{} erases between blocks, {} allowed", uneven, spread);
    }

    /// Whatever the drive is made of: it throttles only from the temperature that its file says, takes no longer than the pace
    /// says then, and is no warmer than all its power would make it.
    #[test]
    fn a_drive_throttles_as_warm_as_its_file_says(
        resistance in 1..60_u64, warm in 30..90_u64, pace in 110..400_u64, active in 1..8_u64,
    ) {
        let run = |thermal: bool| {
            let table = format!(
                "\n[thermal]\nsource = \"test\"\nambient = \"25 C\"\nresistance = \"{resistance} K/W\"\nheat_capacity = \"1 J/K\"\n\
                 warm = \"{warm} C\"\nwarm_pace = \"{pace}%\"\nhot = \"{} C\"\nhot_pace = \"{pace}%\"\nhysteresis = \"2 C\"\n", warm + 20
            );
            let mut drive = filled(&format!("power.active={active} W"), if thermal { &table } else { "" });
            for page in 0..300_u64 {
                // A read of 96 pages takes a millisecond or two; the rest between them is as long.
                for _ in 0..10 {
                    let at = drive.now();
                    takes(&mut drive, at, of_pages(Op::Read, page * 17 % 6_000, 96));
                }
            }
            (drive.now(), drive.counters().throttled, drive.health().temperature_max)
        };
        let ((cool, never, _), (elapsed, throttled, warmest)) = (run(false), run(true));
        prop_assert_eq!(never, Nanos::ZERO);
        let warmest = warmest.expect("it has a table").as_celsius();
        let most = Temperature::from_celsius(25 + (1 + active) * resistance).as_celsius();
        prop_assert!(warmest <= most, "{} of {}", warmest, most);
        // It is looked at ten times a second, and so begins and is counted a little later.
        let long = Nanos::from_millis(200);
        prop_assert!(throttled == Nanos::ZERO || warmest >= warm, "{} C, throttled for {}", warmest, throttled);
        prop_assert!(throttled > Nanos::ZERO || warmest < warm + 3, "{} C", warmest);
        prop_assert!(throttled <= elapsed + Nanos::from_millis(100));
        prop_assert!(elapsed > cool || throttled < long, "{} of {}", throttled, elapsed);
        prop_assert!(elapsed == cool || warmest >= warm, "{} C, {} and {} when cool", warmest, elapsed, cool);
        prop_assert!(elapsed.as_nanos() <= cool.as_nanos() * pace / 100 + 1_000_000);
    }
}
