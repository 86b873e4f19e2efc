//! Runs in virtual time, on drives of which every time is known.

use drive::{Counters, Shape};
use workload::{Arrival, ArrivalProcess, Pattern, SteadyEnd, Stop};

use super::*;

/// A drive that serves `depth` requests at once, each in a tenth of a millisecond.
#[derive(Clone)]
struct Steady {
    now: Nanos,
    free: Vec<Nanos>,
    flying: Vec<Completion>,
    requests: u64,
}

impl Steady {
    fn new(depth: usize) -> Self {
        Self { now: Nanos::ZERO, free: vec![Nanos::ZERO; depth], flying: Vec::new(), requests: 0 }
    }
}

impl Drive for Steady {
    fn shape(&self) -> Shape {
        Shape { capacity: Bytes::from_mib(64), block: block::SECTOR, queue_depth: 32 }
    }
    fn submit(&mut self, now: Nanos, tag: Tag, _: Request) {
        let server = self.free.iter_mut().min().expect("a server");
        *server = now.max(*server) + Nanos::from_micros(100);
        self.flying.push(Completion::new(*server, tag));
        self.requests += 1;
    }
    fn next_event(&self) -> Option<Nanos> {
        self.flying.iter().map(|flying| flying.at).min()
    }
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let (at, tag) = self.flying.iter().map(|flying| (flying.at, flying.tag)).min()?;
        if at > until {
            return None;
        }
        self.flying.retain(|flying| flying.tag != tag);
        self.now = at;
        Some(Completion::new(at, tag))
    }
    fn now(&self) -> Nanos {
        self.now
    }
    fn counters_at(&self, _at: Nanos) -> Counters {
        Counters { requests: [self.requests, 0, 0, 0], ..Counters::default() }
    }
    fn purge(&mut self) {}
}

#[test]
fn a_drive_that_is_worn_out_is_an_error_that_says_what_it_took() {
    let tiny = "x25-m?capacity.user=64MiB&spare=150%&rated_erases=10&reserve=2%&spread_max=2";
    let mut drive = drive::preset::Preset::find(tiny).unwrap().build();
    let write = |mib| {
        let stop = Stop::after_bytes(Bytes::from_mib(mib));
        Workload { pattern: Pattern::RandWrite, queue_depth: 8, stop, ..Workload::default() }
    };
    assert!(run_virtual(&mut drive, &write(256), Seed::new(1)).is_ok(), "a tenth of what its flash takes");
    let error = run_virtual(&mut drive, &write(4096), Seed::new(2)).unwrap_err();
    let VirtualError::WornOut { written } = error else { panic!("{error}") };
    assert!((Bytes::from_mib(1000)..Bytes::from_mib(1760)).contains(&written), "{written} of 160 MiB, 11 times");
    assert!(error.to_string().contains("reached its end of life and is read-only after"), "{error}");
    let read = Workload { pattern: Pattern::RandRead, ..write(64) };
    assert!(run_virtual(&mut drive, &read, Seed::new(3)).is_ok(), "what was written can still be read");
}

/// Every seventh request cannot be read.
#[derive(Clone)]
struct Failing(Steady);

impl Drive for Failing {
    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.0.submit(now, tag, request);
    }
    fn next_event(&self) -> Option<Nanos> {
        self.0.next_event()
    }
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let done = self.0.complete(until)?;
        let is_bad = (done.at.as_nanos() / 100_000).is_multiple_of(7);
        Some(Completion { status: if is_bad { Status::UnrecoveredRead } else { Status::Success }, ..done })
    }
    fn now(&self) -> Nanos {
        self.0.now()
    }
    fn counters_at(&self, at: Nanos) -> Counters {
        self.0.counters_at(at)
    }
    fn purge(&mut self) {}
}

#[test]
fn a_request_that_fails_ends_the_run_or_is_counted_apart() {
    let stop = Stop::after_requests(700);
    let workload = Workload { pattern: Pattern::RandRead, stop, ..Workload::default() };
    let jobs = [Job { name: "reader", workload: &workload, seed: Seed::new(1), observer: None }];
    let mut drive = Failing(Steady::new(1));
    let error = run_virtual_together(&mut drive, &jobs, OnError::Stop).unwrap_err();
    assert_eq!(drive.counters().requests[0], 7, "nothing follows the one that failed");
    let said = error.to_string();
    assert!(said.starts_with("job `reader`: read of 4 KiB at offset "), "{said}");
    assert!(said.contains("failed: unrecovered read error; --on-error=count"), "{said}");
    let mut drive = Failing(Steady::new(1));
    let measured = run_virtual_together(&mut drive, &jobs, OnError::Count).unwrap().remove(0);
    assert_eq!((measured.requests(), measured.read.latency.count(), measured.failures.total()), (600, 600, 100));
    assert_eq!(measured.elapsed, Nanos::from_millis(70), "the time of what failed passes all the same");
    assert_eq!(measured.failures.words(), "100 reads: unrecovered read error");
    assert!(measured.is_impaired(), "it is a finding");
}

fn measure(workload: Workload, servers: usize) -> Measurement {
    let workload = Workload { pattern: Pattern::RandRead, ..workload };
    run_virtual(&mut Steady::new(servers), &workload, Seed::new(1)).unwrap()
}

#[test]
fn depth_gives_throughput_until_the_drive_is_busy_and_then_latency() {
    for (depth, iops, latency) in [(1, 10_000.0, 100.0), (4, 40_000.0, 100.0), (16, 40_000.0, 400.0)] {
        let workload = Workload { queue_depth: depth, stop: Stop::after(Nanos::from_secs(1)), ..Workload::default() };
        let measurement = measure(workload, 4);
        assert_eq!(measurement.service(), None, "a closed loop has one latency");
        assert!((measurement.iops() / iops - 1.0).abs() < 0.001, "depth {depth}: {} IOPS", measurement.iops());
        let mean = measurement.read.latency.mean() / 1e3;
        assert!((mean / latency - 1.0).abs() < 0.01, "depth {depth}: {mean} µs");
    }
}

#[test]
fn requests_of_each_worker_and_bytes_of_all_are_exact() {
    let each = Workload { workers: 3, queue_depth: 4, stop: Stop::after_requests(1000), ..Workload::default() };
    assert_eq!(measure(each, 2).requests(), 3000);
    let bytes = Workload { workers: 3, stop: Stop::after_bytes(Bytes::from_mib(1)), ..Workload::default() };
    assert_eq!(measure(bytes, 2).bytes(), Bytes::from_mib(1));
}

#[test]
fn the_series_has_as_many_intervals_as_seconds_and_the_ramp_is_not_counted() {
    let stop = Stop::after(Nanos::from_secs(3));
    let workload = Workload { ramp: Nanos::from_secs(2), stop, ..Workload::default() };
    let measurement = measure(workload, 1);
    assert_eq!(measurement.series.len(), 3);
    assert_eq!(measurement.elapsed, Nanos::from_secs(3));
    assert_eq!(measurement.requests(), 30_000);
}

#[test]
fn one_seed_gives_one_series_bit_for_bit() {
    let arrival = Arrival { rate: 9_000, process: ArrivalProcess::Poisson, ..Arrival::default() };
    let workload = Workload { arrival, stop: Stop::after(Nanos::from_secs(3)), ..Workload::default() };
    let run = |seed| {
        let workload = Workload { pattern: Pattern::RandRead, ..workload.clone() };
        run_virtual(&mut Steady::new(1), &workload, Seed::new(seed)).unwrap()
    };
    let bits = |measured: &Measurement| -> Vec<Vec<u8>> {
        measured.series.iter().map(|tick| tick.latencies.to_bytes().into_owned()).collect()
    };
    for seed in 0..4 {
        let (one, two) = (run(seed), run(seed));
        assert_eq!((&one.series, bits(&one)), (&two.series, bits(&two)), "seed {seed} gave two different series");
        assert!(one.series.iter().all(|tick| tick.percentile(99.0) > tick.percentile(50.0)), "seed {seed}");
    }
    assert_ne!(bits(&run(0)), bits(&run(1)));
}

#[test]
fn a_time_limit_shorter_than_a_request_still_counts_it_and_its_whole_time() {
    let measurement = measure(Workload { stop: Stop::after(Nanos::from_micros(10)), ..Workload::default() }, 1);
    assert_eq!((measurement.requests(), measurement.elapsed), (1, Nanos::from_micros(100)));
}

fn at_rate(rate: u32, process: ArrivalProcess, requests: u64) -> Workload {
    let arrival = Arrival { rate, process, ..Arrival::default() };
    Workload { arrival, queue_depth: 4, stop: Stop::after_requests(requests), ..Workload::default() }
}

#[test]
fn requests_at_a_rate_that_the_drive_serves_take_its_time_alone() {
    let workload = Workload { workers: 3, ..at_rate(1000, ArrivalProcess::Linear, 1000) };
    let measurement = measure(workload, 1);
    assert_eq!(measurement.requests(), 3000);
    assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100));
    // The last of 3,000 a third of a millisecond apart comes after 2,999 of them.
    assert_eq!(measurement.elapsed, Nanos::from_nanos(2999 * 1_000_000 / 3 + 100_000));
}

/// One comes every 50 µs and takes 100: number k is completed at 100 × (k + 1) and came at 50 × k.
#[test]
fn requests_at_a_rate_beyond_the_drive_count_all_that_they_wait() {
    let measurement = measure(at_rate(20_000, ArrivalProcess::Linear, 1000), 1);
    assert_eq!(measurement.elapsed, Nanos::from_millis(100));
    assert_eq!(measurement.read.latency.max(), Nanos::from_micros(100 * 1000 - 50 * 999));
    let mean = measurement.read.latency.mean() / 1e3;
    assert!((mean - (100.0 + 50.0 * 999.0 / 2.0)).abs() < 1.0, "{mean} µs");
    // From submission it is the time of the four in flight, but for the first of them.
    let service = measurement.service().unwrap();
    assert_eq!((service.count(), service.max()), (1000, Nanos::from_micros(400)));
    assert!((service.percentile(50.0).as_micros_f64() / 400.0 - 1.0).abs() < 0.01);
}

#[test]
fn a_drive_without_data_cannot_be_asked_to_check_it() {
    let verify = workload::Verify { stamps: true, ..workload::Verify::default() };
    let workload =
        Workload { pattern: Pattern::RandWrite, verify, stop: Stop::after_requests(1), ..Workload::default() };
    let error = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap_err();
    assert_eq!(error, VirtualError::HoldsNoData);
    assert!(error.to_string().contains("a simulated drive stores no data"), "{error}");
}

/// A queue of random arrivals, half busy, waits half a service time: Pollaczek and Khinchine, ρ ÷ 2(1 − ρ).
#[test]
fn random_arrivals_wait_as_queueing_theory_says() {
    let measurement = measure(at_rate(5_000, ArrivalProcess::Poisson, 500_000), 1);
    let mean = measurement.read.latency.mean() / 1e3;
    assert!((mean / 150.0 - 1.0).abs() < 0.02, "{mean} µs");
    assert!((measurement.iops() / 5_000.0 - 1.0).abs() < 0.01, "{} IOPS", measurement.iops());
}

#[test]
fn the_time_in_which_nothing_comes_counts() {
    let workload = Workload { stop: Stop::after(Nanos::from_secs(1)), ..at_rate(10, ArrivalProcess::Linear, 0) };
    let measurement = measure(workload, 1);
    assert_eq!((measurement.requests(), measurement.elapsed), (10, Nanos::from_secs(1)));
}

/// Four requests of 100 µs, one after another, then a millisecond of thought, a hundred times.
#[test]
fn a_burst_is_completed_before_the_pause_begins() {
    let arrival = Arrival { think: Nanos::from_millis(1), burst: 4, ..Arrival::default() };
    let workload = Workload { arrival, queue_depth: 32, stop: Stop::after_requests(400), ..Workload::default() };
    let measurement = measure(workload, 1);
    assert_eq!(measurement.elapsed, Nanos::from_micros(100 * 1_400 - 1_000));
    assert_eq!(measurement.read.latency.max(), Nanos::from_micros(400));
}

#[test]
fn flushes_take_time_but_are_counted_apart() {
    for arrival in [Arrival::default(), Arrival { rate: 1_000, ..Arrival::default() }] {
        let stop = Stop::after_requests(100);
        let workload = Workload { pattern: Pattern::Write, fdatasync: 4, arrival, stop, ..Workload::default() };
        let measured = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap();
        assert_eq!((measured.requests(), measured.write.latency.count()), (100, 100));
        assert_eq!((measured.flush.requests, measured.flush.bytes), (24, Bytes::ZERO), "none follows the last");
        assert_eq!(measured.flush.latency.max(), Nanos::from_micros(100));
        let expected = if arrival.is_open() { 99_100 } else { 12_400 };
        assert_eq!(measured.elapsed, Nanos::from_micros(expected));
    }
}

#[test]
fn requests_of_several_sizes_stop_short_of_the_bytes_that_may_be_moved() {
    let stop = Stop::after_bytes(Bytes::from_mib(10));
    let workload = Workload { sizes: Some("4k/50:64k/50".parse().unwrap()), stop, ..Workload::default() };
    let moved = measure(workload, 1).bytes();
    assert!(moved <= Bytes::from_mib(10) && moved > Bytes::from_mib(10) - Bytes::from_kib(64), "{moved}");
}

#[test]
fn nothing_counted_is_an_error() {
    let workload = Workload {
        pattern: Pattern::RandRead,
        ramp: Nanos::from_secs(1),
        stop: Stop::after_bytes(Bytes::from_kib(20)),
        ..Workload::default()
    };
    let error = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap_err();
    assert!(matches!(error, VirtualError::OverInRamp { .. }), "{error}");
}

/// What `workload` has a disk consume that idles at 5.3 W, in watts.
fn power(workload: &Workload) -> f64 {
    let mut disk = drive::preset::Preset::find("nearline-7200").unwrap().build();
    let measured = run_virtual(&mut disk, workload, Seed::new(1)).unwrap();
    let done = measured.drive.unwrap();
    assert!(done.requests[0].abs_diff(measured.requests()) <= 1, "of the ramp none but what was in flight at its end");
    done.energy_nj as f64 / measured.elapsed.as_nanos() as f64
}

#[test]
fn what_the_drive_does_in_the_ramp_is_no_part_of_the_figures() {
    let workload =
        Workload { pattern: Pattern::RandRead, stop: Stop::after(Nanos::from_secs(2)), ..Workload::default() };
    let [without, with] = [0, 10].map(|ramp| power(&Workload { ramp: Nanos::from_secs(ramp), ..workload.clone() }));
    assert!((with / without - 1.0).abs() < 0.03, "{with} and {without} W");
}

/// Requests in flight when time is over go on, and what they take then is no part of the power until then.
#[test]
fn what_comes_after_the_last_request_that_counts_is_no_part_of_the_figures() {
    let reads = Workload {
        pattern: Pattern::RandRead,
        block: Bytes::from_mib(1),
        queue_depth: 512,
        stop: Stop::after(Nanos::from_millis(500)),
        ..Workload::default()
    };
    let mut drive = drive::preset::Preset::find("x25-m?power.page_read=0nJ&power.byte_sent=0nJ").unwrap().build();
    let measured = run_virtual(&mut drive, &reads, Seed::new(1)).unwrap();
    let done = measured.drive.expect("it is simulated");
    let watts = done.energy_nj as f64 / measured.elapsed.as_nanos() as f64;
    assert!((watts / 0.76 - 1.0).abs() < 1e-3, "{watts} W, of 0.06 idle and 0.7 active");
}

#[test]
fn waiting_for_the_end_consumes_what_idling_does() {
    let arrival = Arrival { rate: 1, ..Arrival::default() };
    let stop = Stop::after(Nanos::from_millis(1_900));
    let idle = power(&Workload { pattern: Pattern::RandRead, arrival, stop, ..Workload::default() });
    let short = power(&Workload {
        pattern: Pattern::RandRead,
        arrival,
        stop: Stop::after(Nanos::from_millis(1_100)),
        ..Workload::default()
    });
    // Two requests each, the second at one second, and for the rest nothing but turning.
    assert!((idle * 1.9 - short * 1.1 - 0.8 * 5.3).abs() < 0.01, "{idle} and {short} W");
}

/// A minute at most, and no longer than until `criterion` is met over `window` seconds after two.
fn until_steady(criterion: &str, window: u64) -> Workload {
    let [window, ramp] = [window, 2].map(Nanos::from_secs);
    let steady = SteadyEnd { criterion: criterion.parse().ok(), window, ramp, ..SteadyEnd::default() };
    Workload { stop: Stop { steady, ..Stop::after(Nanos::from_secs(60)) }, ..Workload::default() }
}

#[test]
fn a_job_ends_once_it_is_steady_and_otherwise_when_its_time_is_over() {
    let run = |workload: &Workload| run_virtual(&mut Steady::new(1), workload, Seed::new(1)).unwrap();
    let soon = run(&until_steady("iops:1%", 3));
    assert_eq!((soon.elapsed, soon.requests()), (Nanos::from_secs(5), 50_000));
    let settling = soon.settling().unwrap();
    assert_eq!((settling.is_attained(), settling.seen()), (true, Nanos::from_secs(5)));
    let random = Arrival { rate: 50, process: ArrivalProcess::Poisson, ..Arrival::default() };
    let never = run(&Workload { arrival: random, ..until_steady("iops:0.1", 3) });
    assert_eq!(never.elapsed, Nanos::from_secs(60));
    assert_eq!(never.settling().map(|settling| settling.is_attained()), Some(false));
    let ramp = Nanos::from_millis(1500);
    let ramped = run(&Workload { ramp, delay: ramp, ..until_steady("bw_slope:1%", 3) });
    assert_eq!((ramped.elapsed, ramped.requests()), (Nanos::from_secs(5), 50_000));
}

#[test]
fn a_worker_that_rests_ends_with_the_steady_state_too() {
    let rare = Arrival { think: Nanos::from_secs(7), ..Arrival::default() };
    let workload = Workload { arrival: rare, ..until_steady("iops:1", 4) };
    let measured = run_virtual(&mut Steady::new(1), &workload, Seed::new(1)).unwrap();
    // The first, and that at seven seconds, which is not judged any more.
    assert_eq!((measured.elapsed, measured.requests()), (Nanos::from_secs(6), 1));
}

#[test]
fn jobs_of_one_criterion_end_together_and_others_go_on() {
    let slow = Arrival { rate: 10, ..Arrival::default() };
    let workloads = [
        until_steady("iops:1%", 3),
        Workload { arrival: slow, ..until_steady("iops:1%", 3) },
        Workload { stop: Stop::after(Nanos::from_secs(9)), ..Workload::default() },
        Workload { delay: Nanos::from_secs(1), arrival: slow, ..until_steady("iops:1%", 3) },
        Workload { delay: Nanos::from_secs(31), arrival: slow, ..until_steady("iops:1%", 3) },
    ];
    let jobs: Vec<Job> =
        workloads.iter().map(|workload| Job { name: "", workload, seed: Seed::new(1), observer: None }).collect();
    let measured = run_virtual_together(&mut Steady::new(8), &jobs, OnError::Stop).unwrap();
    let times: Vec<Nanos> = measured.iter().map(|measured| measured.elapsed).collect();
    assert_eq!(times, [36, 36, 9, 35, 5].map(Nanos::from_secs), "no state is judged before all count");
    let settled = Settling::of_each(&measured.iter().collect::<Vec<_>>());
    let seen: Vec<_> = settled.iter().map(|one| one.as_ref().map(|one| (one.is_attained(), one.seen()))).collect();
    let group = Some((true, Nanos::from_secs(5)));
    assert_eq!(seen, [group, group, None, group, group]);
}
