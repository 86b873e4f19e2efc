//! What a flash drive reads before it is asked for: by count and by the clock.

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use assay_drive::preset::Preset;
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use proptest::prelude::*;
use testkit::Random;

use crate::support;

/// A filled drive of 1 GiB with these changes, whose link and firmware take next to nothing.
fn filled(changes: &str) -> FlashDrive {
    let name = "860-pro-1tb?capacity.user=1GiB&spare=200%&jitter=0%&controller.command=1us&controller.retire=1us&read_ahead=128KiB&read_streams=1";
    let changed = Preset::find(name).and_then(|preset| preset.changed(changes.trim_start_matches('&')));
    support::filled(&changed.unwrap_or_else(|error| panic!("{error}")))
}

/// So many reads of a page each, one at a time, of streams that begin so many MiB apart and take turns; how long they take.
fn streams(drive: &mut FlashDrive, count: u64, reads: u64) -> Nanos {
    let began = drive.now();
    for turn in 0..reads {
        for stream in 0..count {
            let first = Lba::new(stream * Bytes::from_mib(100).sectors() + turn * 8);
            drive.submit(drive.now(), Tag(0), Request::new(Op::Read, first, 8));
            drive.complete(Nanos::MAX).expect("it completes");
        }
    }
    drive.now() - began
}

#[test]
fn pages_that_are_read_ahead_are_counted_and_those_in_vain_too() {
    let mut drive = filled("&read_streams=2");
    streams(&mut drive, 2, 1_000);
    let counters = drive.counters();
    // From the second read of each on, 32 pages beyond the last.
    assert_eq!(counters.pages_read_ahead, 2 * (998 + 32));
    assert_eq!(counters.read_ahead_wasted, 0);
    assert_eq!(
        counters.pages_read,
        counters.pages_read_ahead + 4,
        "the first two reads of each went to flash themselves"
    );
    // Two reads elsewhere take the places of both streams.
    for first in [900, 950] {
        drive.submit(drive.now(), Tag(0), Request::new(Op::Read, Lba::at(Bytes::from_mib(first)), 8));
        drive.complete(Nanos::MAX).expect("it completes");
    }
    assert_eq!(drive.counters().read_ahead_wasted, 2 * 32);
}

#[test]
fn two_streams_are_as_fast_as_one_where_the_firmware_follows_two() {
    let [alone, one, two] = [(1, ""), (2, ""), (2, "&read_streams=2")].map(|(count, changes)| {
        let mut drive = filled(changes);
        streams(&mut drive, count, 2_000 / count)
    });
    assert!(one.as_nanos() > two.as_nanos() * 2, "{one} where one is followed, {two} where two are");
    assert!(two.as_nanos() < alone.as_nanos() * 11 / 10, "{two} for two streams, {alone} for one of as many reads");
}

/// What so many reads of so many pages each take, in order at each of a thousand random places, but for what a read takes after its dies,
/// in which they finish what they read ahead; and how many pages were read ahead in vain.
fn runs(reads: u64, pages: u32, changes: &str) -> (Nanos, u64) {
    let mut drive = filled(&format!("&decode=0us{changes}"));
    let sectors = drive.shape().capacity.sectors();
    let began = drive.now();
    for turn in 0..1_000 {
        let first = turn * 7_919 * 1_024 % (sectors - 2_048);
        for read in 0..reads {
            let place = Lba::new(first + read * u64::from(8 * pages));
            drive.submit(drive.now(), Tag(0), Request::new(Op::Read, place, 8 * pages));
            drive.complete(Nanos::MAX).expect("it completes");
        }
    }
    (drive.now() - began, drive.counters().read_ahead_wasted)
}

/// Reading ahead is not free: its pages occupy dies and channels, and the firmware where it takes time for them.
#[test]
fn a_read_waits_for_pages_that_are_read_ahead_in_vain() {
    // The second of 64 KiB brings twice as much, all that may be read ahead, and nothing follows.
    let ((none, _), (ahead, wasted)) = (runs(2, 16, "&read_ahead=0"), runs(2, 16, ""));
    assert!(wasted > 999 * 30, "{wasted}");
    assert!(ahead > none, "{none} without reading ahead, {ahead} with it");
    // So does the sixth of a page.
    let ((ahead, wasted), (costly, _)) = (runs(6, 1, ""), runs(6, 1, "&read_ahead_page=5us"));
    assert!(wasted > 999 * 30, "{wasted}");
    // 32 pages of 5 µs hold up the next command, less what the dies hold it up anyway.
    assert!(costly > ahead + Nanos::from_micros(50 * 1_000), "{ahead} for nothing, {costly} at 5 µs a page");
}

#[test]
fn two_neighbours_among_random_reads_bring_next_to_nothing() {
    let ((none, _), (ahead, wasted)) = (runs(2, 1, "&read_ahead=0"), runs(2, 1, ""));
    assert!((1_990..=2_000).contains(&wasted), "{wasted}");
    assert!(ahead.as_nanos() < none.as_nanos() * 21 / 20, "{none} without reading ahead, {ahead} with it");
}

#[test]
fn a_mistake_in_it_says_what_would_be_right() {
    for drive in [
        "860-pro-1tb?read_streams=0",
        "860-pro-1tb?read_streams=65",
        "860-pro-1tb?read_ahead=1KiB",
        "x25-m?read_streams=2",
        "x25-m?read_ahead_page=1us",
    ] {
        let said = Preset::find(drive).unwrap_err().to_string();
        assert!(said.contains("1 to 64 sequential streams"), "{drive}: {said}");
    }
    Preset::find("860-pro-1tb?read_ahead=0").expect("what the class says of streams is without effect then");
}

/// A lone reader of today's drives does not wait for flash, in order; at random it does.
#[test]
fn todays_drives_read_ahead() {
    for drive in ["990-pro", "pm983-960", "870-qvo", "s3700-400"] {
        let changed = Preset::find(&format!("{drive}?capacity.user=8GiB&spare=200%"));
        let mut drive = support::filled(&changed.unwrap_or_else(|error| panic!("{error}")));
        let in_order = streams(&mut drive, 1, 1_000);
        let began = drive.now();
        for turn in 0..1_000 {
            drive.submit(drive.now(), Tag(0), Request::new(Op::Read, Lba::new(turn * 7_919 % 200_000 * 8), 8));
            drive.complete(Nanos::MAX).expect("it completes");
        }
        let at_random = drive.now() - began;
        assert!(at_random.as_nanos() > 2 * in_order.as_nanos(), "{in_order} in order, {at_random} at random");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is read: each page that the host asks for comes from flash once, be it before or when it is asked for, and what was
    /// read ahead was used, was in vain, or is what the streams still hold.
    #[test]
    fn every_page_read_ahead_is_used_in_vain_or_still_there(
        ahead in 0..64_u64, streams in 1..5_u64, longest in 1..40_u64, seed in any::<u64>(),
    ) {
        let mut drive = filled(&format!("&read_ahead={}KiB&read_streams={streams}", ahead * 4));
        let (mut random, mut asked) = (Random::new(seed), 0);
        let pages = drive.shape().capacity.sectors() / 8;
        for _ in 0..60 {
            let first = random.below(pages - 200);
            let stride = 1 + random.below(2) * random.below(3);
            for turn in 0..1 + random.below(longest) {
                let count = 1 + random.below(3);
                let at = Lba::new((first + turn * count * stride) * 8);
                drive.submit(drive.now(), Tag(0), Request::new(Op::Read, at, count as u32 * 8));
                drive.complete(Nanos::MAX).expect("it completes");
                asked += count;
            }
        }
        let counters = drive.counters();
        let direct = counters.pages_read - counters.pages_read_ahead;
        prop_assert!(direct <= asked, "{} read when asked for, of {}", direct, asked);
        let left = counters.pages_read_ahead.checked_sub(counters.read_ahead_wasted + asked - direct);
        prop_assert!(left.is_some_and(|left| left <= streams * ahead), "{:?} held, {:?}", left, counters);
        prop_assert!(ahead > 0 || counters.pages_read_ahead == 0);
    }
}
