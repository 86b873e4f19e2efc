//! Workloads on simulated drives with zones: by count and by the drive's own clock.

use std::sync::Arc;

use assay_engine::{Job, Measurement, OnError, VirtualError, run_virtual, run_virtual_together};
use block::{Bytes, Nanos, Seed, ZoneState};
use drive::preset::Preset;
use drive::{Device, Drive};
use workload::{Arrival, Pattern, Replay, ReplayPace, Stop, TraceReader, Workload, ZonedAccess};

/// Ten zones of 48 MiB with 40 MiB each, in the host in which such drives are measured.
const ZNS: &str = "zn540-1tb?channels=2&dies_per_channel=2&pages_per_block=1536&zones.size=48MiB&zones.zone_capacity=40MiB&\
                   max_open=3&max_active=5&capacity.user=400MiB&capacity.spare=0%";

fn drive() -> Device {
    Preset::find(ZNS).unwrap_or_else(|error| panic!("{error}")).build_in_host()
}

fn workload(pattern: Pattern, kib: u64, depth: u32, stop: Stop) -> Workload {
    Workload { pattern, block: Bytes::from_kib(kib), queue_depth: depth, stop, ..Workload::default() }
}

fn run(drive: &mut Device, workload: &Workload) -> Measurement {
    run_virtual(drive, workload, Seed::new(3)).unwrap_or_else(|error| panic!("{error}"))
}

fn states(drive: &Device) -> Vec<ZoneState> {
    drive.zones().iter().map(|zone| zone.state).collect()
}

#[test]
fn once_over_all_addresses_is_once_over_all_that_can_be_written() {
    let mut drive = drive();
    let stop = Stop::after_bytes(drive.shape().capacity);
    let measured = run(&mut drive, &workload(Pattern::Write, 128, 8, stop));
    assert_eq!(measured.write.bytes, Bytes::from_mib(400));
    assert_eq!(states(&drive), [ZoneState::Full; 10]);
    let did = measured.drive.unwrap();
    assert_eq!((did.zone_resets, did.failed, did.pages_moved), (0, 0, 0));
    let again = run(&mut drive, &workload(Pattern::Write, 128, 8, stop));
    assert_eq!((again.write.bytes, again.drive.unwrap().zone_resets), (Bytes::from_mib(400), 10));
    // A reset is no request of the workload.
    assert_eq!((again.requests(), again.write.latency.count()), (3_200, 3_200));
    // A rest too small for a request is finished.
    drive.purge();
    let odd = run(&mut drive, &workload(Pattern::Write, 768, 1, Stop::after_requests(60)));
    assert_eq!((odd.requests(), odd.drive.unwrap().failed), (60, 0));
    assert_eq!(states(&drive)[..2], [ZoneState::Full, ZoneState::ImplicitlyOpen]);
}

#[test]
fn a_trim_is_the_reset_of_its_zone_and_counted_as_a_trim() {
    let mut drive = drive();
    let all = Stop::after_bytes(drive.shape().capacity);
    run(&mut drive, &workload(Pattern::Write, 128, 8, all));
    let zone = drive.zones()[0].end.offset();
    let trims = Workload { block: zone, ..workload(Pattern::Trim, 4, 1, Stop::after_requests(10)) };
    let measured = run(&mut drive, &trims);
    let did = measured.drive.unwrap();
    assert_eq!((measured.trim.requests, measured.trim.bytes), (10, zone.times(10)));
    assert_eq!((did.zone_resets, did.host_trimmed), (10, Bytes::ZERO), "no trim besides");
    assert_eq!(states(&drive), [ZoneState::Empty; 10]);
}

#[test]
fn writes_at_random_obey_pointers_and_limits_at_any_depth() {
    for (workers, depth, max_open) in [(1, 1, 0), (1, 32, 0), (4, 8, 2)] {
        let mut drive = drive();
        let zoned = ZonedAccess { max_open, ..ZonedAccess::default() };
        let stop = Stop::after_bytes(Bytes::from_mib(900));
        let random = Workload { workers, zoned, ..workload(Pattern::RandWrite, 64, depth, stop) };
        let measured = run(&mut drive, &random);
        let did = measured.drive.unwrap();
        assert_eq!((did.failed, measured.write.bytes), (0, Bytes::from_mib(900)));
        assert!(did.zone_resets >= 12, "{did:?}");
        let open = states(&drive).iter().filter(|state| state.is_active()).count();
        assert!(open <= if max_open == 0 { 3 } else { max_open as usize }, "{open}");
    }
}

/// A reset takes none of the times at which requests come: the write that needs it waits for it, and its latency counts from
/// when it came.
#[test]
fn what_comes_at_a_rate_waits_for_the_reset_of_its_zone() {
    let mut drive = drive();
    let all = Stop::after_bytes(drive.shape().capacity);
    run(&mut drive, &workload(Pattern::Write, 128, 8, all));
    let arrival = Arrival { rate: 100, ..Arrival::default() };
    let stop = Stop { time: Some(Nanos::from_secs(10)), ..Stop::default() };
    let measured = run(&mut drive, &Workload { arrival, ..workload(Pattern::Write, 1024, 4, stop) });
    assert_eq!(measured.requests(), 1_000, "all that came");
    let did = measured.drive.unwrap();
    assert_eq!((did.zone_resets, did.requests[1]), (25, 1_000), "a zone of 40 MiB takes 40 of them");
    let worst = measured.write.latency.max();
    let median = measured.write.latency.percentile(0.5);
    assert!(worst > median + Nanos::from_millis(1), "{worst} with a reset, {median} without");
}

#[test]
fn a_replay_on_zones_does_all_that_was_recorded() {
    let lines: Vec<String> = (0..400_u64).map(|n| format!("{} 90 write {} 256", n * 5_000, n * 256)).collect();
    let text = format!("assay trace 1\n{}\n2000000 90 read 0 8\n2000010 90 flush 0 0\n", lines.join("\n"));
    let (trace, format) = TraceReader::default().text(&text).unwrap();
    let digest = trace.digest(format);
    let trace = Arc::new(trace);
    for pace in [ReplayPace::Recorded { percent: 100 }, ReplayPace::Think] {
        let mut drive = drive();
        let all = Stop::after_bytes(drive.shape().capacity);
        run(&mut drive, &workload(Pattern::Write, 128, 8, all));
        let replay = Some(Replay { pace, ..Replay::of("t.log") });
        let replay = Workload { replay, queue_depth: 4, ..Workload::default() }.replaying(Arc::clone(&trace), digest);
        let measured = run(&mut drive, &replay);
        let did = [measured.write.requests, measured.read.requests, measured.flush.requests];
        // The first zone is reset twice: its 48 MiB of addresses hold 40 MiB.
        assert_eq!((did, measured.drive.unwrap().zone_resets), ([400, 1, 1], 3), "{pace:?}");
    }
}

#[test]
fn reads_go_to_what_was_written_and_nothing_written_is_an_error() {
    let mut drive = drive();
    let some = Stop::after_requests(1_000);
    let error = run_virtual(&mut drive, &workload(Pattern::RandRead, 4, 4, some), Seed::new(1)).unwrap_err();
    assert_eq!(error, VirtualError::ZonesEmpty);
    run(&mut drive, &workload(Pattern::Write, 128, 1, Stop::after_bytes(Bytes::from_mib(90))));
    let before = drive.counters();
    let measured = run(&mut drive, &workload(Pattern::RandRead, 4, 4, some));
    assert_eq!((measured.requests(), (drive.counters() - before).failed), (1_000, 0));
    let did = measured.drive.unwrap();
    // The buffer of 16 MiB holds what was written last.
    assert!(did.pages_read >= 750, "{} of 1,000 from flash, not of what was never written", did.pages_read);
    let in_order = run(&mut drive, &workload(Pattern::Read, 128, 1, Stop::after_bytes(Bytes::from_mib(400))));
    assert_eq!((in_order.requests(), in_order.drive.unwrap().failed), (3_200, 0));
}

#[test]
fn appends_to_one_zone_go_together_where_writes_go_one_by_one() {
    let iops = |append: bool| {
        let mut drive = drive();
        let zoned = ZonedAccess { append, max_open: 1, ..ZonedAccess::default() };
        let one = Workload { zoned, ..workload(Pattern::Write, 4, 16, Stop::after_requests(5_000)) };
        let measured = run(&mut drive, &one);
        assert_eq!(measured.drive.unwrap().failed, 0);
        measured.iops()
    };
    let (appends, writes) = (iops(true), iops(false));
    assert!(appends > 2.0 * writes, "{appends} appends, {writes} writes a second");
}

#[test]
fn requests_that_know_nothing_of_zones_fail_as_the_drive_has_it() {
    let raw = ZonedAccess { raw: true, ..ZonedAccess::default() };
    let random = Workload { zoned: raw, ..workload(Pattern::RandWrite, 4, 1, Stop::after_requests(300)) };
    let error = run_virtual(&mut drive(), &random, Seed::new(1)).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("failed: zone "), "{said}");
    let jobs = [Job { name: "", workload: &random, seed: Seed::new(1), observer: None }];
    let error = run_virtual_together(&mut drive(), &jobs, OnError::Count).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("all requests failed") && said.contains("writes: zone invalid write"), "{said}");
    let in_order = Workload { zoned: raw, ..workload(Pattern::Write, 128, 1, Stop::after_requests(400)) };
    let jobs = [Job { name: "", workload: &in_order, seed: Seed::new(1), observer: None }];
    let measured = run_virtual_together(&mut drive(), &jobs, OnError::Count).unwrap().remove(0);
    // 40 MiB of each 48 MiB are written.
    assert_eq!((measured.requests(), measured.failures.total()), (336, 64));
    assert_eq!(measured.failures.words(), "64 writes: zone boundary error");
    let long = workload(Pattern::Write, 64 << 10, 1, Stop::after_requests(1));
    let said = run_virtual(&mut drive(), &long, Seed::new(1)).unwrap_err().to_string();
    assert!(said.contains("requests of 64 MiB do not fit into zones that hold 40 MiB"), "{said}");
}

#[test]
fn one_seed_tells_one_story_and_a_host_managed_disk_takes_the_same_workloads() {
    let mixed = Workload {
        workers: 3,
        zoned: ZonedAccess { reset_threshold: 30, reset_frequency: 5, ..ZonedAccess::default() },
        ..workload(Pattern::RandRw, 64, 4, Stop::after(Nanos::from_secs(1)))
    };
    let story = || {
        let mut drive = drive();
        run(&mut drive, &workload(Pattern::Write, 128, 1, Stop::after_bytes(Bytes::from_mib(90))));
        let measured = run(&mut drive, &mixed);
        (measured.requests(), measured.drive, measured.read.latency.max(), drive.zones())
    };
    let (one, other) = (story(), story());
    assert_eq!(one, other);
    assert!(one.1.unwrap().zone_resets > 0);
    let disk = "hc620-14tb?platters.capacity=64MiB&platters.heads=1&platters.zones=1&zones.size=1MiB&conventional=2&max_open=3";
    let mut disk = Preset::find(disk).unwrap().build_in_host();
    let stop = Stop::after_bytes(disk.shape().capacity);
    let filled = run(&mut disk, &workload(Pattern::Write, 64, 4, stop));
    assert_eq!((filled.write.bytes, filled.drive.unwrap().failed), (Bytes::from_mib(64), 0));
    for pattern in [Pattern::RandWrite, Pattern::RandRead, Pattern::RandRw] {
        let measured = run(&mut disk, &workload(pattern, 4, 8, Stop::after_requests(500)));
        assert_eq!((measured.requests(), measured.drive.unwrap().failed), (500, 0), "{pattern:?}");
    }
}
