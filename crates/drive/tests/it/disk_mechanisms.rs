//! What a disk's mechanisms do that a file switches on: each counted, timed, and under any mix of requests.

use assay_drive::disk::{DiskDrive, DiskSpec};
use assay_drive::{Drive, PowerLoss, Specimen};
use block::{Nanos, Op, Request, Tag};
use testkit::Random;

use crate::disk::{ask, keep, media_less_skew, plain, random, read, story, stream, try_plain, uncached, write};

/// The laptop disk, its file changed.
fn changed(changes: &str) -> DiskSpec {
    plain(&format!("st320lt020?{changes}"))
}

/// All that can be switched on, in groups that go together.
const EVERYTHING: [&str; 5] = [
    "settle=200us&read_retry=3%&write_retry=3%&retry_again=30%&read_recovery=0.2%&write_recovery=0.2%&recovery=100ms\
     &recovery_deviation=50%&recalibrate_every=2s&recalibrate_time=50ms&scan_after=20ms&scan_step=10ms&margin=300us",
    "physical_sector=4KiB&order=seek&chosen_ahead=4&destage_choices=1&destage_batch=4&prefetch=256KiB&settle=100us",
    "actuators=2&physical_sector=4KiB&order=elevator&chosen_ahead=2&destage_batch=3&prefetch=512KiB&read_retry=1%\
     &scan_after=20ms&scan_step=5ms&recalibrate_every=1s&recalibrate_time=20ms",
    "shingled.band=8MiB&media_cache=16MiB&extents=400&clean_after=50ms&physical_sector=4KiB&destage_choices=1&settle=100us\
     &prefetch=256KiB&write_retry=1%",
    "order=elevator&report_together=5&queuing=false&prefetch=256KiB&destage_batch=3&settle=100us&read_retry=1%&recalibrate_every=1s&recalibrate_time=20ms",
];

#[test]
fn with_everything_on_each_request_is_completed_once_and_one_seed_tells_one_story() {
    for changes in EVERYTHING {
        let spec = changed(changes);
        for depth in [1, 7, 40] {
            let run = |seed: u64| story(&mut DiskDrive::of(spec, Specimen::new("disk", seed as u32)), 5, 3_000, depth);
            let (completed, counters) = run(1);
            assert_eq!((completed.len(), counters.requests.iter().sum::<u64>()), (3_000, 3_000), "{changes}");
            assert_eq!(run(1), (completed.clone(), counters), "{changes}: one seed, two runs");
            assert_ne!(run(2).0, completed, "{changes}: another disk of the model");
        }
    }
}

#[test]
fn with_everything_on_a_power_cut_leaves_nothing_behind() {
    for changes in EVERYTHING {
        let mut drive = DiskDrive::new(changed(changes));
        let mut numbers = Random::new(3);
        let far = drive.shape().capacity.sectors();
        for round in 0..20 {
            let began = drive.now();
            for tag in 0..40 {
                let sector = numbers.below(far - 300);
                drive.submit(began, Tag(tag), if tag % 3 == 0 { read(sector, 9) } else { write(sector, 9) });
            }
            // One that lies under both arms, where there are two.
            drive.submit(began, Tag(40), Request { durable: true, ..write(far / 2 - 4, 8) });
            let cut = began + Nanos::from_millis(20 + round * 13);
            let answered = std::iter::from_fn(|| drive.complete(cut)).count();
            let at_risk = drive.unsaved(cut);
            let PowerLoss { unanswered, sectors, .. } = drive.cut_power(cut);
            assert_eq!(answered + unanswered as usize, 41, "{changes}");
            assert_eq!(sectors, at_risk, "{changes}");
            ask(&mut drive, [Request::FLUSH, read(0, 8)]);
        }
    }
}

#[test]
fn a_retry_takes_a_turn_and_comes_as_often_as_it_should() {
    let (still, shaky) = (changed(""), changed("read_retry=10%"));
    let (calm, _) = random(&mut DiskDrive::new(still), Op::Read, 1, 20_000);
    let mut drive = DiskDrive::new(shaky);
    let (rate, _) = random(&mut drive, Op::Read, 1, 20_000);
    let (retries, recoveries) = drive.troubles();
    assert!((1_850..2_150).contains(&retries) && recoveries == 0, "{retries} of 2,000 expected");
    let lost = 1.0 / rate - 1.0 / calm;
    let turns = lost * 20_000.0 / retries as f64 / still.platters.revolution.as_secs_f64();
    assert!((turns - 1.0).abs() < 0.05, "{turns} turns each");
}

#[test]
fn a_recovery_is_rare_and_long() {
    let mut drive = DiskDrive::new(changed("read_recovery=0.1%&recovery=300ms"));
    let (_, longest) = random(&mut drive, Op::Read, 1, 20_000);
    let (_, recoveries) = drive.troubles();
    assert!((8..35).contains(&recoveries), "{recoveries} of 20 expected");
    assert!((Nanos::from_millis(300)..Nanos::from_millis(345)).contains(&longest), "{longest}");
}

#[test]
fn settling_that_varies_and_a_margin_for_it_cost_a_queue_turns() {
    let rate = |changes: &str| random(&mut DiskDrive::new(changed(changes)), Op::Read, 32, 20_000).0;
    let (exact, shaky, careful) = (rate(""), rate("settle=300us&margin=0s"), rate("margin=900us"));
    assert!((0.85..0.96).contains(&(shaky / exact)), "{shaky:.0} a second where moves vary, {exact:.0} where not");
    assert!((0.8..0.95).contains(&(careful / exact)), "{careful:.0} where what comes round soon is left for later");
    let alone = |changes: &str| random(&mut DiskDrive::new(changed(changes)), Op::Read, 1, 20_000).0;
    let aware = rate("settle=300us");
    assert!(aware > shaky, "{aware:.0} where the firmware knows how much moves vary, {shaky:.0} where not");
    let lost = 1.0 - alone("settle=300us") / alone("");
    assert!(lost.abs() < 0.01, "alone, the wait for the sector takes it up: {lost}");
}

#[test]
fn recalibration_stops_all_for_its_time_in_each_period() {
    let (still, busy) = (changed(""), changed("recalibrate_every=1s&recalibrate_time=200ms"));
    let (calm, _) = random(&mut DiskDrive::new(still), Op::Read, 1, 2_000);
    let mut drive = DiskDrive::new(busy);
    let (rate, longest) = random(&mut drive, Op::Read, 1, 2_000);
    let seconds = drive.now().as_secs_f64();
    let (recalibrations, _) = drive.background();
    assert!((recalibrations as f64 - seconds).abs() <= 1.0, "{recalibrations} in {seconds:.1} s");
    assert!((rate / calm / 0.8 - 1.0).abs() < 0.03, "{rate:.1} of {calm:.1} a second: a fifth of the time is gone");
    assert!(longest > Nanos::from_millis(200) && longest < Nanos::from_millis(260), "{longest}");
}

#[test]
fn a_scan_delays_the_first_command_after_a_pause_by_a_step_at_most() {
    let mut drive = DiskDrive::new(changed("scan_after=500ms&scan_step=60ms"));
    let mut numbers = Random::new(8);
    let mut after = |pause: u64| {
        let began = drive.now() + Nanos::from_millis(pause);
        drive.submit(began, Tag(0), read(numbers.below(70_000_000) * 8, 8));
        (drive.complete(Nanos::MAX).unwrap().at - began, drive.background().1)
    };
    let mean = |times: &[Nanos]| times.iter().copied().sum::<Nanos>().as_secs_f64() / times.len() as f64;
    let soon: Vec<Nanos> = (0..300).map(|_| after(400).0).collect();
    assert_eq!(after(0).1, 0, "no pause was long enough");
    let late: Vec<Nanos> = (0..300).map(|index| after(1_000 + index).0).collect();
    let (delay, steps) = (mean(&late) - mean(&soon), after(0).1);
    assert!((0.022..0.038).contains(&delay), "half a step of 60 ms in the mean: {delay} s");
    assert!(late.iter().all(|time| *time < Nanos::from_millis(60 + 35)), "one step at most");
    assert!((2_700..3_700).contains(&steps), "{steps} steps in 300 pauses of 650 ms in the mean");
}

#[test]
fn two_streams_at_once_share_the_media_where_the_firmware_recognises_them() {
    let two_streams = |changes: &str| {
        let mut drive = DiskDrive::new(changed(changes));
        let request = |index: u64| read((index % 2) * 300_000_000 + index / 2 * 128, 128);
        let (rate, _) = keep(&mut drive, 1, 8_000, request);
        (rate * 65_536.0, drive.seeks())
    };
    let (alternating, seeks_alternating) = two_streams("");
    let (recognised, seeks_recognised) = two_streams("segment=1MiB&prefetch=1MiB");
    assert!(seeks_alternating > 7_900, "{seeks_alternating} seeks for 8,000 requests");
    assert!(seeks_recognised < 1_100, "{seeks_recognised} seeks, about one for 16 requests");
    assert!(recognised > 3.0 * alternating, "{recognised:.0} B/s, {alternating:.0} without");
    let spec = changed("");
    let alone = media_less_skew(&spec, spec.platters.outer);
    assert!(recognised < 0.8 * alone, "less than one stream alone, {alone:.0} B/s");
    for depth in [1, 2, 4] {
        let one = |spec| stream(&mut DiskDrive::new(spec), Op::Read, 0, 256, depth, 2_000);
        let ratio = one(changed("prefetch=256KiB")) / one(changed(""));
        assert!((ratio - 1.0).abs() < 0.02, "a stream alone is as fast at depth {depth}: {ratio}");
    }
    let (mixed, plain) = (changed("prefetch=512KiB"), changed(""));
    let rate = |spec| random(&mut DiskDrive::new(spec), Op::Read, 4, 5_000).0;
    assert_eq!(rate(mixed), rate(plain), "no stream is seen in random reads");
}

/// What has passed under the head when the firmware has its choice is not waited for: the arm goes on where it is.
#[test]
fn a_queue_of_large_reads_goes_on_where_reading_ahead_has_come_to() {
    for (order, depth) in
        [("position", 1), ("position", 2), ("position", 8), ("position", 32), ("seek", 32), ("elevator", 32)]
    {
        let rate = |prefetch: &str| {
            let mut drive = DiskDrive::new(changed(&format!("order={order}&prefetch={prefetch}")));
            (stream(&mut drive, Op::Read, 0, 1_024, depth, 1_000), drive.seeks())
        };
        let ((ahead, seeks), (plain, _)) = (rate("256KiB"), rate("0B"));
        let ratio = ahead / plain;
        assert!((ratio - 1.0).abs() < 0.02 && seeks < 10, "by {order} at depth {depth}: {ratio}, {seeks} seeks");
    }
}

#[test]
fn no_read_is_answered_before_its_data_has_passed() {
    for prefetch in ["0B", "256KiB"] {
        let spec = changed(&format!("prefetch={prefetch}"));
        let alone = ask(&mut DiskDrive::new(spec), [read(100_000_000, 256)]);
        let mut drive = DiskDrive::new(spec);
        let later = Nanos::from_micros(200);
        // The same again; a part of it; and what begins within it, while the arm is on its way.
        for (tag, at, request) in [
            (0, Nanos::ZERO, read(100_000_000, 256)),
            (1, Nanos::ZERO, read(100_000_000, 256)),
            (2, later, read(100_000_100, 8)),
            (3, later, read(100_000_128, 256)),
        ] {
            drive.submit(at, Tag(tag), request);
        }
        let completed: Vec<_> = std::iter::from_fn(|| drive.complete(Nanos::MAX)).collect();
        assert_eq!(drive.seeks(), 1, "all are read in one go");
        let at = |tag| completed.iter().find(|done| done.tag == Tag(tag)).unwrap().at;
        // Behind 100 of 256 sectors more than a millisecond passes.
        let part = alone - Nanos::from_millis(1);
        assert!(at(0) >= alone && at(1) > at(0) && at(3) > at(0), "{completed:?}, {alone} alone");
        assert!(at(2) > part.min(alone), "{completed:?}");
        let turn = spec.platters.revolution;
        assert!(completed.iter().all(|done| done.at < alone + turn), "none waits for another turn: {completed:?}");
    }
}

#[test]
fn a_write_into_what_is_being_read_is_not_answered_by_the_old_data() {
    let mut drive = DiskDrive::new(uncached(changed("")));
    drive.submit(Nanos::ZERO, Tag(0), read(100_000_000, 256));
    drive.submit(Nanos::from_micros(100), Tag(1), write(100_000_100, 8));
    while drive.complete(Nanos::MAX).is_some() {}
    let seeks = drive.seeks();
    assert!(ask(&mut drive, [read(100_000_100, 8)]) > Nanos::from_millis(1), "from the platters again");
    assert_eq!((drive.seeks(), drive.cache_hits()), (seeks, 0));
}

#[test]
fn destaging_in_order_of_position_takes_a_short_move_and_half_a_turn() {
    let rate = |spec: DiskSpec| random(&mut DiskDrive::new(spec), Op::Write, 4, 20_000).0;
    let (ordered, exact) = (changed("destage_choices=1"), changed(""));
    let (by_position, by_time) = (rate(ordered), rate(exact));
    let half_a_turn = ordered.platters.revolution.as_secs_f64() / 2.0;
    let each = 1.0 / by_position - half_a_turn;
    let track = ordered.write_seek.track.as_secs_f64();
    assert!(each > track && each < track + 0.003, "{:.2} ms to move, a track is {:.2}", each * 1e3, track * 1e3);
    assert!(by_time > 1.3 * by_position, "{by_time:.0} a second with the angle known, {by_position:.0} without");
}

#[test]
fn a_full_cache_gives_room_back_batch_by_batch() {
    let waits = |changes: &str| {
        let mut drive = DiskDrive::new(changed(changes));
        let (mut numbers, mut waited) = (Random::new(4), Vec::new());
        for _ in 0..4_000 {
            let request = write(numbers.below(70_000_000) * 8, 8);
            waited.push(ask(&mut drive, [request]));
        }
        waited.drain(..1_000);
        let long = waited.iter().filter(|time| **time > Nanos::from_millis(1)).count();
        (long, waited.iter().copied().sum::<Nanos>().as_secs_f64() / 3_000.0)
    };
    let (single, mean_single) = waits("destage_choices=1&destage_batch=1");
    let (batched, mean_batched) = waits("destage_choices=1&destage_batch=5");
    assert!(single > 2_700, "{single} of 3,000 wait for one to be written");
    assert!((480..620).contains(&batched), "{batched} of 3,000 wait for five to be written");
    assert!((mean_batched / mean_single - 1.0).abs() < 0.1, "{mean_batched} and {mean_single} s: the work is the same");
}

#[test]
fn a_write_of_part_of_a_physical_sector_reads_first_and_loses_a_turn() {
    let physical = uncached(changed("physical_sector=4KiB"));
    let rate = |spec: DiskSpec, shift: u64| {
        let (mut drive, mut numbers) = (DiskDrive::new(spec), Random::new(9));
        let (rate, _) = keep(&mut drive, 1, 5_000, |_| write(numbers.below(70_000_000) * 8 + shift, 8));
        (1.0 / rate, drive.rewrites())
    };
    let (plain, none) = rate(uncached(plain("st320lt020")), 1);
    let (aligned, still_none) = rate(physical, 0);
    let (shifted, all) = rate(physical, 1);
    assert_eq!((none, still_none, all), (0, 0, 5_000));
    assert!((aligned / plain - 1.0).abs() < 0.01);
    let turns = (shifted - aligned) / physical.platters.revolution.as_secs_f64();
    assert!((turns - 1.0).abs() < 0.02, "{turns} turns more");
    let mut drive = DiskDrive::new(changed("physical_sector=4KiB"));
    ask(&mut drive, (0..1_000).map(|index| write(50_000_001 + index * 8, 8)));
    ask(&mut drive, [Request::FLUSH]);
    assert!(drive.rewrites() <= 20, "joined in the cache, only the ends are partial: {}", drive.rewrites());
}

#[test]
fn two_arms_stream_at_twice_the_rate_and_read_twice_as_much_at_random() {
    let (one, two) = (changed(""), changed("actuators=2"));
    let half = two.platters.sectors / 2;
    let streams = |spec: DiskSpec| {
        let mut drive = DiskDrive::new(spec);
        // The first and the last quarter of each half would be slower: both begin at an outermost track.
        keep(&mut drive, 4, 8_000, |index| read((index % 2) * half + index / 2 * 256, 256)).0
    };
    let alone = stream(&mut DiskDrive::new(two), Op::Read, 0, 256, 2, 4_000) / (256.0 * 512.0);
    assert!((streams(two) / alone / 2.0 - 1.0).abs() < 0.02, "each arm has its own stream");
    assert!(streams(one) < 0.5 * alone, "one arm goes to and fro");
    let rate = |spec: DiskSpec| random(&mut DiskDrive::new(spec), Op::Read, 16, 20_000).0;
    let ratio = rate(two) / rate(one);
    assert!((1.6..2.0).contains(&ratio), "{ratio:.2} times the random reads at depth 16");
}

#[test]
fn what_lies_under_two_arms_is_answered_once_when_both_have_done_their_part() {
    let spec = changed("actuators=2");
    let half = spec.platters.sectors / 2;
    for spec in [spec, uncached(spec)] {
        let mut drive = DiskDrive::new(spec);
        for request in [read(half - 100, 200), write(half - 8, 16), read(half - 8, 16), Request::FLUSH] {
            let took = ask(&mut drive, [request]);
            assert!(drive.complete(Nanos::MAX).is_none(), "once");
            assert!(took < Nanos::from_millis(70), "{took}");
        }
    }
}

/// The laptop disk with shingled tracks.
fn shingled(changes: &str) -> DiskSpec {
    changed(&format!("shingled.band=16MiB&media_cache=64MiB&extents=20000&clean_after=1s{changes}"))
}

#[test]
fn shingled_tracks_take_streams_as_others_do() {
    let rate = |spec: DiskSpec| {
        let mut drive = DiskDrive::new(spec);
        (stream(&mut drive, Op::Write, 0, 1_024, 4, 2_000), drive.bands_cleaned())
    };
    let ((plain, _), (ordered, cleaned)) = (rate(changed("")), rate(shingled("")));
    assert_eq!(cleaned, 0, "all of it is appended");
    assert!((ordered / plain - 1.0).abs() < 0.01, "{ordered:.0} and {plain:.0} B/s");
}

#[test]
fn random_writes_run_fast_until_the_media_cache_is_full_and_then_at_the_pace_of_bands() {
    let spec = shingled("&destage_choices=1");
    let filled = |spec| {
        let mut drive = DiskDrive::new(spec);
        stream(&mut drive, Op::Write, 0, 1_024, 4, 2_000);
        drive
    };
    // Within the 1,000 MiB that have been written: 63 bands.
    let mut numbers = Random::new(6);
    let mut next = |_: u64| write(numbers.below(250_000) * 8, 8);
    let mut drive = filled(spec);
    let (burst, _) = keep(&mut drive, 4, 12_000, &mut next);
    assert_eq!(drive.bands_cleaned(), 0, "48 MiB fit into the media cache");
    let (mut plain, mut later) = (filled(changed("destage_choices=1")), Random::new(7));
    let (in_place, _) = keep(&mut plain, 4, 12_000, |_| write(later.below(250_000) * 8, 8));
    assert!(burst > 1.5 * in_place, "{burst:.0} a second into the log, {in_place:.0} in place");
    let before = drive.now();
    let (full, longest) = keep(&mut drive, 4, 16_000, &mut next);
    let bands = drive.bands_cleaned();
    let each = (drive.now().since(before).as_secs_f64() - 16_000.0 / burst) / bands as f64;
    assert!(full < 0.7 * burst, "{full:.0} a second when it is full, {burst:.0} before");
    let twice = 2.0 * 16.0 * 1_048_576.0 / media_less_skew(&spec, spec.platters.outer);
    assert!(each > twice, "a band takes {each:.2} s, to read and write it {twice:.2}");
    assert!(longest > Nanos::from_millis(300), "{longest}: who comes meanwhile waits");
    assert!((30..200).contains(&bands), "{bands} bands of 63 that were written to");
}

#[test]
fn an_idle_shingled_disk_brings_its_data_home_and_reads_it_in_one_go_then() {
    let mut drive = DiskDrive::new(shingled(""));
    stream(&mut drive, Op::Write, 0, 1_024, 4, 200);
    ask(&mut drive, [Request::FLUSH]);
    let mut numbers = Random::new(2);
    ask(&mut drive, (0..20).map(|_| write(1_000 + numbers.below(100) * 16, 8)));
    ask(&mut drive, [Request::FLUSH]);
    let read_all = |drive: &mut DiskDrive, after: Nanos| {
        let (began, seeks) = (drive.now() + after, drive.seeks());
        drive.submit(began, Tag(0), read(1_000, 1_600));
        let took = drive.complete(Nanos::MAX).unwrap().at - began;
        (took, drive.seeks() - seeks)
    };
    let (scattered, seeks) = read_all(&mut drive, Nanos::ZERO);
    assert!(seeks >= 20, "to the media cache and back for each: {seeks}");
    assert_eq!(drive.bands_cleaned(), 0);
    // The write is there so that the second read is not answered from what the first left in memory.
    ask(&mut drive, [write(2_000, 8), Request::FLUSH]);
    let (whole, seeks) = read_all(&mut drive, Nanos::from_secs(10));
    assert_eq!(drive.bands_cleaned(), 1);
    assert!(seeks <= 4, "{seeks}, three of them to bring it home");
    assert!(whole.times(5) < scattered, "{whole} at home, {scattered} scattered");
}

#[test]
fn commands_that_are_chosen_stay_in_their_order() {
    let order = |changes: &str| {
        let mut drive = DiskDrive::new(changed(changes));
        let mut numbers = Random::new(5);
        (0..8).for_each(|tag| drive.submit(Nanos::ZERO, Tag(tag), read(numbers.below(70_000_000) * 8, 8)));
        std::iter::from_fn(|| drive.complete(Nanos::MAX)).map(|done| done.tag.0).collect::<Vec<_>>()
    };
    let arrival: Vec<u32> = (0..8).collect();
    assert_eq!(order("order=seek&chosen_ahead=8"), arrival, "all are chosen as they come");
    let some = order("order=seek&chosen_ahead=3");
    assert_eq!(some[..3], arrival[..3], "the first three are");
    assert_ne!(some[3..], arrival[3..], "the others wait for the nearest");
    let rate = |changes: &str| random(&mut DiskDrive::new(changed(changes)), Op::Read, 32, 10_000).0;
    let (exact, near, swept, fixed) =
        (rate(""), rate("order=seek"), rate("order=elevator"), rate("order=seek&chosen_ahead=32"));
    assert!(exact > 1.1 * near && swept > 1.5 * fixed, "{exact:.0}, {near:.0}, {swept:.0}, {fixed:.0} a second");
    assert!((near / swept - 1.0).abs() < 0.1, "{near:.0} by the nearest, {swept:.0} in sweeps");
}

/// A factor of the command's time each, whose logarithm is normal.
#[test]
fn writes_to_memory_take_times_around_their_mean() {
    let times = |jitter: &str, count: u32| {
        let mut drive = DiskDrive::new(changed(&format!("controller.command=100us&jitter={jitter}")));
        (0..count).map(|_| ask(&mut drive, [write(1_000, 8)]).as_micros_f64()).collect::<Vec<f64>>()
    };
    let (times, exact) = (times("20%", 5_000), times("0%", 1)[0]);
    let mean = times.iter().sum::<f64>() / 5_000.0;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 5_000.0).sqrt();
    assert!((deviation / 20.0 - 1.0).abs() < 0.05, "a deviation of {deviation} us of {mean}");
    assert!((mean - exact).abs() < 1.0, "{mean} us, and {exact} where nothing varies");
}

#[test]
fn without_queuing_the_firmware_takes_its_time_between_commands() {
    let rate = |changes: &str, depth| random(&mut DiskDrive::new(changed(changes)), Op::Read, depth, 10_000).0;
    // In order of arrival, so that only the firmware tells the depths apart.
    let fixed = "order=seek&chosen_ahead=32&controller.command=2ms";
    let [one, queued, unqueued] = [rate(fixed, 1), rate(fixed, 8), rate(&format!("{fixed}&queuing=false"), 8)];
    assert!((unqueued / one - 1.0).abs() < 0.01, "{unqueued:.1} a second at depth 8, {one:.1} at depth 1");
    let saved = 1e3 / one - 1e3 / queued;
    // The link's part is in parallel, too.
    assert!(
        (2.0..2.25).contains(&saved),
        "a command takes {saved:.2} ms less where its 2 ms are in parallel with the arm"
    );
    assert_eq!(rate(&format!("{fixed}&queuing=false"), 1), one);
    // What has been read ahead once the firmware is ready is answered from memory, and reading ahead goes on.
    let mut drive = DiskDrive::new(changed("queuing=false&controller.command=900us"));
    let rate = stream(&mut drive, Op::Read, 0, 128, 1, 2_000);
    assert!(rate > 0.8 * 65_536.0 / 1.15e-3, "{rate:.0} B/s: the command, the link, and hardly a turn");
}

#[test]
fn commands_that_are_reported_together_complete_together_and_are_served_as_others_are() {
    let completions = |changes: &str, count: u32| {
        let mut drive = DiskDrive::new(changed(changes));
        let mut numbers = Random::new(5);
        (0..count).for_each(|tag| drive.submit(Nanos::ZERO, Tag(tag), read(numbers.below(70_000_000) * 8, 8)));
        std::iter::from_fn(|| drive.complete(Nanos::MAX)).collect::<Vec<_>>()
    };
    assert_eq!(completions("report_together=8", 1), completions("", 1), "one alone waits for no other");
    let (together, alone) = (completions("report_together=4", 10), completions("", 10));
    let groups: Vec<_> = together.chunk_by(|one, other| one.at == other.at).map(<[_]>::len).collect();
    assert_eq!(groups, [4, 4, 2], "{together:?}");
    for last in [3, 7, 9] {
        assert_eq!(together[last].at, alone[last].at, "the last of each group waits for nobody");
    }
    // Nobody waits for a write that its cache has taken.
    let mut drive = DiskDrive::new(changed("report_together=8"));
    drive.submit(Nanos::ZERO, Tag(0), read(1_000_000, 8));
    drive.submit(Nanos::ZERO, Tag(1), write(9_000_000, 8));
    let tags: Vec<_> = std::iter::from_fn(|| drive.complete(Nanos::MAX)).map(|done| done.tag.0).collect();
    assert_eq!(tags, [1, 0]);
}

#[test]
fn what_makes_no_disk_is_explained() {
    for (change, words) in [
        ("actuators=3", "shared out evenly"),
        ("physical_sector=1KiB", "512 B or 4 KiB"),
        ("chosen_ahead=4", "set order to"),
        ("report_together=33", "as the disk takes at once"),
        ("order=guess", "unknown variant"),
        ("destage_choices=0", "1 to 65,536"),
        ("destage_batch=1000", "at most write_extents"),
        ("prefetch=1MiB", "fits into a segment"),
        ("recovery=1s", "read_recovery or write_recovery"),
        ("retry_again=95%", "at most 90%"),
        ("recalibrate_every=1s", "both are given or none"),
        ("scan_after=1s", "both are given or none"),
        ("shingled.band=1KiB&media_cache=1GiB&extents=100&clean_after=1s", "1 MiB to 1 GiB"),
        ("shingled.band=1MiB&media_cache=1KiB&extents=100&clean_after=1s", "has room for a band"),
        ("actuators=2&shingled.band=1MiB&media_cache=1GiB&extents=100&clean_after=1s", "under one arm"),
    ] {
        let said = try_plain(&format!("st320lt020?{change}")).map_err(|error| error.to_string());
        assert!(said.as_ref().is_err_and(|said| said.contains(words)), "{change}: {said:?}");
    }
}

/// A host hands over a request in parts, which reach the disk together.
#[test]
fn a_stream_that_the_host_divides_loses_no_turn() {
    for order in ["position", "seek", "elevator"] {
        for (offset, kib) in [(98_000_u64, 512_u64), (98_000, 1_024), (120_011, 1_024), (3, 1_024)] {
            let rate = |parts: u64, depth: u64| {
                let mut drive = DiskDrive::new(changed(&format!("order={order}")));
                let (first, size) = (offset * 2_048, kib * 2);
                let (mut next, mut left, count) = (0, Vec::new(), 200_000_000 / (kib * 1_024));
                let mut now = Nanos::ZERO;
                while next < count || !left.is_empty() {
                    while next < count && left.len() < depth as usize {
                        for part in 0..parts {
                            let tag = Tag((next * parts + part) as u32);
                            drive.submit(
                                now,
                                tag,
                                read(first + next * size + part * (size / parts), size as u32 / parts as u32),
                            );
                        }
                        left.push((next, parts));
                        next += 1;
                    }
                    let done = drive.complete(Nanos::MAX).unwrap();
                    now = done.at;
                    let index = left.iter().position(|(number, _)| *number == u64::from(done.tag.0) / parts).unwrap();
                    left[index].1 -= 1;
                    if left[index].1 == 0 {
                        left.remove(index);
                    }
                }
                now.as_secs_f64()
            };
            let (whole, divided) = (rate(1, 2), rate(kib / 128, 2));
            assert!(
                (divided / whole - 1.0).abs() < 0.02,
                "{order}, {kib} KiB at {offset} MiB: {divided} s in place of {whole}"
            );
        }
    }
}

/// Shingled: some sectors are in the media cache, the others in their band.
#[test]
fn a_read_of_several_places_is_held_once_all_of_it_has_passed() {
    let mut drive = DiskDrive::new(changed("shingled.band=8MiB&media_cache=16MiB&extents=400&clean_after=10s"));
    ask(&mut drive, [write(0, 2_048), Request::FLUSH]);
    ask(&mut drive, [300, 100, 500].map(|first| write(first, 8)));
    ask(&mut drive, [Request::FLUSH]);
    let began = drive.now() + Nanos::from_secs(1);
    drive.submit(began, Tag(0), read(0, 800));
    drive.submit(began + Nanos::from_millis(4), Tag(1), read(0, 800));
    let [first, second] = [(); 2].map(|()| drive.complete(Nanos::MAX).expect("both are in flight"));
    assert!(first.at - began > Nanos::from_millis(30), "{}: it goes to seven places", first.at - began);
    assert_eq!((first.tag, second.tag, drive.cache_hits()), (Tag(0), Tag(1), 1), "the second is answered from memory");
    assert!(second.at >= first.at, "at {} and {}", first.at, second.at);
    assert!(ask(&mut drive, [read(200, 400)]) < Nanos::from_millis(3) && drive.cache_hits() == 2);
    // What is written meanwhile is not what has been read.
    let began = drive.now() + Nanos::from_secs(1);
    ask(&mut drive, [read(1_000_000, 8)]);
    drive.submit(began, Tag(0), read(20, 700));
    assert!(drive.complete(Nanos::MAX).is_some() && drive.cache_hits() == 3, "still there");
    ask(&mut drive, [write(40, 8)]);
    let began = drive.now() + Nanos::from_secs(1);
    drive.submit(began, Tag(0), read(20, 700));
    drive.submit(began + Nanos::from_millis(4), Tag(1), write(700, 8));
    while drive.complete(Nanos::MAX).is_some() {}
    ask(&mut drive, [Request::FLUSH]);
    let hits = drive.cache_hits();
    assert!(ask(&mut drive, [read(600, 120)]) > Nanos::from_millis(3) && drive.cache_hits() == hits);
}
