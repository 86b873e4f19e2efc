//! One-bit blocks that are folded while the host writes: by count and by the clock.

use assay_drive::preset::Preset;
use assay_drive::{Counters, Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};

fn drive(changes: &str) -> Device {
    let small = "capacity.user=2GiB&spare=100%&slc.fixed=64MiB&dynamic=192MiB&pages_per_block=256";
    Preset::find(&format!("870-qvo?{small}{changes}")).unwrap_or_else(|error| panic!("{error}")).build()
}

/// Writes in order, four at a time; the data rate in MB/s, and what was counted.
fn write(drive: &mut Device, first: Bytes, length: Bytes) -> (f64, Counters) {
    let (began, before, block) = (drive.now(), drive.counters(), Bytes::from_kib(128).sectors());
    let mut inside = 0;
    for turn in 0..length.sectors() / block {
        if inside == 4 {
            drive.complete(Nanos::MAX).expect("some are inside");
            inside -= 1;
        }
        let lba = Lba::new(first.sectors() + turn * block);
        drive.submit(drive.now(), Tag(turn as u32), Request::new(Op::Write, lba, block as u32));
        inside += 1;
    }
    while drive.complete(Nanos::MAX).is_some() {}
    (length.get() as f64 / (drive.now() - began).as_secs_f64() / 1e6, drive.counters() - before)
}

#[test]
fn folding_beside_the_host_moves_pages_and_takes_of_its_rate() {
    let beyond = |changes: &str| {
        let mut drive = drive(changes);
        let (within, first) = write(&mut drive, Bytes::ZERO, Bytes::from_mib(100));
        write(&mut drive, Bytes::from_mib(100), Bytes::from_mib(200));
        (within, first.pages_moved, write(&mut drive, Bytes::from_mib(512), Bytes::from_mib(512)))
    };
    let (within, moved, (rate, counters)) = beyond("");
    let (within_folding, moved_folding, (rate_folding, counters_folding)) = beyond("&fold_at=90%");
    assert_eq!((moved, moved_folding, counters.pages_moved), (0, 0, 0));
    assert_eq!(within, within_folding, "the cache has room");
    let pages = Bytes::from_mib(512).get() / 4096;
    assert!((pages / 2..=pages).contains(&counters_folding.pages_moved), "{} of {pages}", counters_folding.pages_moved);
    assert!(rate_folding < rate * 0.95, "{rate:.0} MB/s, {rate_folding:.0} beside folding");
}

#[test]
fn what_is_filled_untimed_is_folded_alike() {
    let mut timed = drive("&fold_at=50%");
    let mut untimed = timed.clone();
    let length = Bytes::from_mib(1024);
    write(&mut timed, Bytes::ZERO, length);
    untimed.fill(Lba::new(0), Lba::at(length), Bytes::from_kib(128), 100);
    let [timed, untimed] = [timed, untimed].map(|drive| match drive {
        Device::Flash(drive) => (drive.digest(), drive.counters().pages_moved),
        _ => panic!("it is flash"),
    });
    assert!(timed.1 > 0);
    assert_eq!(timed, untimed);
}

#[test]
fn a_mistake_in_it_says_what_would_be_right() {
    for changes in ["fold_at=101%", "fold_at=50%&gc.policy=fifo"] {
        let said = Preset::find(&format!("870-qvo?{changes}")).unwrap_err().to_string();
        assert!(said.contains("at most 100% of the one-bit blocks"), "{changes}: {said}");
    }
}

/// The planes of a die have its time by turns: what half of it suffices for is done in half of each, and the host has as much of
/// its cache again, which it uses in all of them.
#[test]
fn in_idle_time_the_planes_of_a_die_fold_by_turns() {
    let small = "capacity.user=1GiB&spare=100%&slc.fixed=16MiB&dynamic=112MiB&pages_per_block=64&channels=1&factory_bad=0%\
         &planes=2&multi_plane=true&geometry.program=16KiB";
    let quick = |rest: u64| {
        let mut drive = Preset::find(&format!("870-evo-250?{small}")).unwrap_or_else(|error| panic!("{error}")).build();
        write(&mut drive, Bytes::ZERO, Bytes::from_mib(128));
        drive.submit(drive.now() + Nanos::from_millis(rest), Tag(0), Request::FLUSH);
        drive.complete(Nanos::MAX).expect("a flush in flight");
        let step = Bytes::from_mib(4);
        (0..32).map(|at| write(&mut drive, Bytes::from_mib(256) + step.times(at), step).0).collect::<Vec<f64>>()
    };
    let quick = [4, 8, 12].map(|seconds| quick(seconds * 1_000).into_iter().filter(|&rate| rate > 100.0).count());
    assert!(quick.windows(2).all(|pair| (8..=12).contains(&(pair[1] - pair[0]))), "{quick:?} times 4 MiB");
}
