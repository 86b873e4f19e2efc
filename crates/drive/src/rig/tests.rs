//! What a host, its largest transfer and its controllers cost, by arithmetic; and rigs as files.

use block::{Bytes, Lba, Nanos, Op, Request, Tag};

use super::{Bottleneck, Rig, RigPart, RigSpec};
use crate::preset::{Preset, Spec};
use crate::{Counters, Drive};

fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

/// The rig of a name, with its changes one after the other: what is given twice is what is given last.
fn spec(name: &str) -> RigSpec {
    let (name, changes) = name.split_once('?').unwrap_or((name, ""));
    let changes: Vec<&str> = changes.split('&').filter(|change| !change.is_empty()).collect();
    let key = |change: &str| change.split_once('=').map(|(key, _)| key.to_owned());
    let is_last = |(index, change): &(usize, &&str)| changes[index + 1..].iter().all(|later| key(later) != key(change));
    let last: Vec<&str> = changes.iter().enumerate().filter(is_last).map(|(_, change)| *change).collect();
    match Preset::find(&format!("{name}?{}", last.join("&"))).unwrap_or_else(|error| panic!("{error}")).spec {
        Spec::Rig(spec) => spec,
        other => panic!("{name} is {other:?}"),
    }
}

/// A rig that costs nothing beside its four small drives, which answer in a microsecond or two.
const FREE: &str = "toms-x25e-16?drives=4&host.cpus=2&submit=0us&host.complete=0us&count=0&drive.capacity.user=64MiB\
                    &drive.spare=60%&drive.controller.command=1us&drive.retire=0us&drive.link.command=0us";

/// Drives of which all cells and operations are alike.
const ALIKE: &str = "&drive.jitter=0%&drive.variation.dies=0%&drive.variation.blocks=0%&drive.variation.word_lines=0%\
                     &drive.variation.programs=0%&drive.variation.erases=0%&drive.variation.reads=0%";

fn rig(changes: &str) -> Rig {
    Rig::new(spec(&format!("{FREE}{ALIKE}{changes}")))
}

/// A read that no other drive's turn comes into: the `index`-th chunk.
fn read(index: u64, kib: u64) -> Request {
    Request::new(Op::Read, Lba::at(Bytes::from_kib(64).times(index)), Bytes::from_kib(kib).sectors() as u32)
}

/// Submits `count` reads of 4 KiB, each to the next drive, all at once; when the last is done.
fn burst(rig: &mut Rig, count: u64) -> Nanos {
    (0..count).for_each(|index| rig.submit(Nanos::ZERO, Tag(0), read(index, 4)));
    let ends: Vec<Nanos> = std::iter::from_fn(|| rig.complete(Nanos::MAX)).map(|completion| completion.at).collect();
    assert_eq!(ends.len() as u64, count);
    ends[ends.len() - 1]
}

#[test]
fn processors_serve_so_many_requests_a_second_and_no_more() {
    let mut rig = rig("&submit=30us&host.complete=20us");
    assert_eq!(burst(&mut rig, 100), micros(100 * (30 + 20) / 2), "two processors, never idle");
    let counters = rig.counters();
    assert_eq!(counters.host_busy, micros(100 * 50));
    let limit = counters.limit(micros(2_500)).unwrap();
    assert_eq!(
        (limit, limit.to_string()),
        (Bottleneck { part: RigPart::Host, busy: 100 }, "host CPU, 100 % busy".to_owned())
    );
    let one_of_two = Counters { host_busy: micros(2_500), host_busiest: micros(2_400), ..counters };
    let limit = one_of_two.limit(micros(2_500)).unwrap();
    assert_eq!((limit.part, limit.busy), (RigPart::Host, 96), "one worker has one processor");
    assert_eq!(counters.limit(micros(2_300)).unwrap().busy, 100, "what is in flight at the end is counted in full");
}

#[test]
fn a_lone_request_waits_for_its_own_processor_time_only() {
    let bare = burst(&mut rig(""), 1);
    assert_eq!(burst(&mut rig("&submit=30us&host.complete=20us"), 1), bare + micros(50));
    let copied = burst(&mut rig("&host.copy=1024 MB/s"), 1);
    assert_eq!(copied, bare + micros(4), "4 KiB are copied when they are there");
}

#[test]
fn a_worker_makes_its_calls_one_after_the_other_and_two_use_two_processors() {
    let (bare, calls) = (burst(&mut rig(""), 1), "&host.call=10us&call_write=25us&chunk=1KiB");
    let mut one = rig(calls);
    assert_eq!(burst(&mut one, 100), bare + micros(100 * 40), "four calls each, though a processor is idle");
    assert_eq!(one.counters().host_busy, micros(100 * 40));
    let mut two = rig(calls);
    two.bind(&[0, 1]);
    (0..100).for_each(|index| two.submit(Nanos::ZERO, Tag(index % 2), read(u64::from(index), 4)));
    let last = std::iter::from_fn(|| two.complete(Nanos::MAX)).last().unwrap().at;
    assert!((bare + micros(50 * 40)..bare + micros(50 * 40 + 20)).contains(&last), "{last}");
    let write = |changes: &str| {
        let mut rig = rig(changes);
        rig.submit(Nanos::ZERO, Tag(0), Request::new(Op::Write, Lba::new(0), 8));
        rig.complete(Nanos::MAX).unwrap().at
    };
    assert_eq!(write(calls), write("") + micros(4 * 25), "before the write is handed over");
    assert_eq!(write("&host.call=3us"), write("") + micros(3), "one for a command, to write as to read");
}

/// More of anything takes no less, and the time that processors worked is that of all calls.
#[test]
fn calls_are_conserved_whatever_they_take() {
    for seed in 0..20 {
        let mut numbers = testkit::Random::new(seed);
        let (call, chunk) = (1 + numbers.below(40), 512 << numbers.below(4));
        let queues = ["", "&queues.pairs=2&queues.depth=64"][numbers.place(2)];
        let mut rig = rig(&format!("&host.call={call}us&chunk={chunk}B{queues}"));
        rig.bind(&[0, 1, 2]);
        let mut calls = 0;
        for index in 0..200 {
            let kib = 4 << numbers.below(4);
            calls += kib * 1024 / chunk;
            rig.submit(rig.now(), Tag(index % 3), read(numbers.below(500), kib));
            if numbers.below(2) == 0 {
                rig.complete(Nanos::MAX);
            }
        }
        while rig.complete(Nanos::MAX).is_some() {}
        assert_eq!(rig.counters().host_busy, micros(calls * call), "seed = {seed}");
        assert!(rig.now() >= micros(calls * call / 2), "seed = {seed}: two processors in {}", rig.now());
    }
}

#[test]
fn a_controller_passes_on_one_command_at_a_time() {
    let bare = burst(&mut rig(""), 1);
    let mut one = rig("&count=1&controller.command=40us&bandwidth=100 GB/s");
    let moved = Nanos::from_nanos(41);
    assert_eq!(burst(&mut one, 100), micros(100 * 40) + bare + moved);
    assert_eq!(one.counters().controller_commands_busy, micros(100 * 40));
    let limit = one.counters().limit(one.now()).unwrap();
    assert_eq!(limit.part, RigPart::Controllers);
    let mut two = rig("&count=2&controller.command=40us&bandwidth=100 GB/s");
    assert_eq!(burst(&mut two, 100), micros(50 * 40) + bare + moved, "drives are dealt evenly");
}

#[test]
fn a_controller_moves_so_much_data_a_second_and_no_more() {
    let bare = burst(&mut rig(""), 1);
    let mut one = rig("&count=1&controller.command=0us&bandwidth=102400 kB/s");
    assert_eq!(burst(&mut one, 64), bare + micros(64 * 40), "never idle from the first data on");
    let limit = one.counters().limit(one.now()).unwrap();
    assert_eq!((limit.part, limit.busy), (RigPart::Bandwidth, 99));
    let written = Request::new(Op::Write, Lba::new(0), 8);
    let mut free = rig("");
    let (mut bounded, began) = (rig("&count=1&controller.command=0us&bandwidth=102400 kB/s"), Nanos::ZERO);
    bounded.submit(began, Tag(0), written);
    free.submit(began, Tag(0), written);
    let (slow, fast) = (bounded.complete(Nanos::MAX).unwrap().at, free.complete(Nanos::MAX).unwrap().at);
    assert_eq!(slow, fast + micros(40), "a write's data passes the controller first");
}

#[test]
fn a_rig_that_waits_for_its_drives_says_so() {
    let mut rig = rig("&submit=1us&host.complete=1us&drive.controller.command=100us");
    burst(&mut rig, 64);
    assert_eq!(rig.counters().limit(rig.now()).unwrap().to_string(), "drives");
}

const SINGLE: &str = "toms-x25e-1?submit=2us&host.complete=3us&count=0&transfer=64KiB&at_once=1";

#[test]
fn a_large_request_is_several_commands() {
    let alone = |kib| {
        let mut rig = Rig::new(spec(&format!("{SINGLE}{ALIKE}")));
        rig.submit(Nanos::ZERO, Tag(7), read(0, kib));
        let done = rig.complete(Nanos::MAX).unwrap();
        assert_eq!((done.tag, rig.complete(Nanos::MAX)), (Tag(7), None), "it completes once");
        let reads = rig.drives()[0].counters().requests[0];
        assert_eq!((rig.counters().requests[0], rig.counters().host_busy), (1, micros(5 * reads)));
        (done.at, reads)
    };
    let (whole, part) = (alone(64), alone(32));
    assert_eq!((whole.1, part.1), (1, 1));
    assert_eq!(alone(160), (whole.0 + whole.0 + part.0, 3), "one after the other");
    let mut beside = Rig::new(spec(&format!("{SINGLE}{ALIKE}&at_once=3")));
    beside.submit(Nanos::ZERO, Tag(0), read(0, 160));
    assert!(beside.complete(Nanos::MAX).unwrap().at < alone(160).0, "side by side");
    assert_eq!(beside.drives()[0].counters().requests[0], 3);
}

#[test]
fn a_trim_is_never_cut() {
    let mut rig = Rig::new(spec(&format!("{SINGLE}{ALIKE}")));
    rig.submit(Nanos::ZERO, Tag(0), Request::new(Op::Trim, Lba::new(0), 1 << 20));
    rig.complete(Nanos::MAX);
    assert_eq!(rig.drives()[0].counters().requests, [0, 0, 1, 0]);
}

#[test]
fn a_host_uses_power_for_being_on_and_for_working() {
    let mut rig = Rig::new(spec(&format!("{SINGLE}&power.idle=10W&power.cpu=5W")));
    let drive = |rig: &Rig| rig.drives()[0].counters_at(rig.now()).energy_nj;
    rig.submit(Nanos::ZERO, Tag(0), read(0, 4));
    let at = rig.complete(Nanos::MAX).unwrap().at;
    assert_eq!(
        rig.counters().energy_nj,
        10 * at.as_nanos() + 5 * 5_000 + drive(&rig),
        "a watt is a nanojoule a nanosecond"
    );
}

#[test]
fn a_host_uses_more_while_any_request_is_under_way_however_many() {
    let mut rig = Rig::new(spec(&format!("{SINGLE}&power.idle=10W&power.active=3W&power.cpu=0W")));
    let own = |rig: &Rig| rig.counters().energy_nj - rig.drives()[0].counters_at(rig.now()).energy_nj;
    (0..3).for_each(|index| rig.submit(Nanos::ZERO, Tag(0), read(index, 4)));
    let first = rig.complete(Nanos::MAX).unwrap().at;
    assert_eq!(own(&rig), 13 * first.as_nanos(), "two are still under way");
    let last = [(); 2].map(|()| rig.complete(Nanos::MAX).unwrap().at)[1];
    let again = last + micros(1_000);
    rig.submit(again, Tag(0), read(3, 4));
    let end = rig.complete(Nanos::MAX).unwrap().at;
    assert_eq!(own(&rig), 10 * end.as_nanos() + 3 * (last + (end - again)).as_nanos(), "not between");
}

#[test]
fn both_a_rig_and_its_drives_are_changed_by_name() {
    let changed = spec("toms-x25e-16?host.cpus=8&drive.nand.read=20us&drive.spare=50%&level=raid5");
    assert_eq!(changed.host.cpus, 8);
    let Spec::Flash(drive) = &changed.member.spec else { panic!("an X25-E is flash") };
    assert_eq!(drive.nand.read, micros(20));
    assert_eq!(changed.layout().capacity(), Bytes::new(64_023_257_088).round_down(Bytes::from_kib(64)).times(15));
    assert_eq!(Preset::find("toms-x25e-16?cpus=8").unwrap().name, "toms-x25e-16?cpus=8");
    let port = spec("sata-3g-desktop?array.drive=x25-e-64&drive.rate=150 MB/s");
    let Spec::Flash(drive) = &port.member.spec else { panic!("an X25-E is flash") };
    assert_eq!(drive.link.rate.get(), 150_000_000, "over what the rig's file changes");
}

#[test]
fn a_rig_of_fewer_drives_has_no_controller_without_one() {
    assert_eq!(spec("toms-x25e-16?drives=1").controllers.count, 1);
    assert_eq!(spec("toms-x25e-16?rig.array.drives=4").controllers.count, 2);
    assert!(Preset::find("toms-x25e-16?drives=1&count=2").is_err(), "two were asked for");
}

#[test]
fn a_change_that_is_none_is_explained() {
    for (name, words) in [
        ("toms-x25e-16?hots.cpus=8", "did you mean `host.cpus`?"),
        ("toms-x25e-16?drive.nand.reed=1us", "did you mean `nand.read`?"),
        ("toms-x25e-16?nand.read=1us", "its drive has `drive.nand.read`"),
        ("toms-x25e-16?level=raid6", "unknown variant `raid6`"),
        ("toms-x25e-16?drives=0", "one drive or more"),
        ("toms-x25e-16?level=raid10&drives=15", "an even number of drives"),
        ("toms-x25e-16?count=17", "17 controllers have 16 drives"),
        ("toms-x25e-16?stripe=100B", "a stripe is whole sectors"),
        ("toms-x25e-16?cpus=0", "a host has 1 to 256"),
        ("toms-x25e-16?array.drive=x25e-64", "did you mean `x25-e-64`?"),
        ("toms-x25e-16?array.drive=toms-x25e-1", "a rig is made of drives"),
        ("toms-x25e-16?drive.spare=0.001%", "raise capacity.spare"),
        ("solid-data-hots", "did you mean `solid-data-host`?"),
    ] {
        let said = Preset::find(name).unwrap_err().to_string();
        assert!(said.contains(words), "{name}: {said}");
    }
}

/// A host of four processors with queues around one small DRAM drive, which answers in a microsecond or two.
const QUEUED: &str = "nvme-host?array.drive=solid-data-dram&cpus=4&pairs=4&submit=2us&host.complete=3us&interrupt=5us\
                      &wake.mean=0us&spread=0%&rare=0%&drift=0%";

fn queued(changes: &str) -> Rig {
    Rig::new(spec(&format!("{QUEUED}{changes}")))
}

/// When a read at `at` of each worker in `workers` is done, in the order of completion.
fn ends(rig: &mut Rig, at: Nanos, workers: &[u32]) -> Vec<Nanos> {
    rig.bind(workers);
    (0..workers.len()).for_each(|tag| rig.submit(at, Tag(tag as u32), read(tag as u64, 4)));
    std::iter::from_fn(|| rig.complete(Nanos::MAX)).map(|completion| completion.at).collect()
}

/// What the drive itself takes for a lone read of 4 KiB.
fn lone() -> Nanos {
    ends(&mut queued("&submit=0us&host.complete=0us&interrupt=0us"), Nanos::ZERO, &[0])[0]
}

#[test]
fn wake_ups_and_interrupts_drift_from_second_to_second_and_nothing_else_does() {
    const SECONDS: u64 = 2_000;
    let mut rig = queued("&wake.mean=15us&drift=10%");
    let mut beyond = |at: Nanos| ends(&mut rig, at, &[0])[0].since(at + lone() + micros(2 + 3)).as_micros_f64();
    let starts = (0..SECONDS).map(|second| Nanos::from_secs(2 * second));
    let times: Vec<f64> = starts
        .map(|start| {
            let (early, late) = (beyond(start), beyond(start + Nanos::from_millis(900)));
            assert!((early - late).abs() < 0.01, "within a second it is the same: {early} and {late} µs");
            early
        })
        .collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64).sqrt();
    assert!((mean / 20.0 - 1.0).abs() < 0.01, "15 µs to wake up and 5 of the interrupt, not {mean} µs");
    assert!((deviation / 2.0 - 1.0).abs() < 0.1, "10 % of them, not {deviation} µs");
    let error = crate::preset::Preset::find("nvme-host?drift=51%").expect_err("too much").to_string();
    assert!(error.contains("wake.drift is 51%"), "{error}");
}

#[test]
fn a_lone_request_waits_for_the_processor_the_interrupt_and_the_wake_up() {
    assert_eq!(ends(&mut queued(""), Nanos::ZERO, &[0]), [lone() + micros(2 + 3 + 5)]);
    assert_eq!(ends(&mut queued("&wake.mean=20us"), Nanos::ZERO, &[0]), [lone() + micros(2 + 3 + 5 + 20)]);
    assert_eq!(ends(&mut queued("&wake.mean=20us&polled=true"), Nanos::ZERO, &[0]), [lone() + micros(2 + 3)]);
    let mut always = queued("&rare=100%&rare_mean=50us");
    assert!(ends(&mut always, Nanos::ZERO, &[0])[0] > lone() + micros(2 + 3 + 5));
}

#[test]
fn a_worker_stays_on_its_processor_and_two_workers_use_two() {
    let count = |workers: &[u32]| {
        let mut rig = queued("&submit=50us&interrupt=0us");
        (*ends(&mut rig, Nanos::ZERO, workers).last().unwrap(), rig.counters().host_busy)
    };
    let (one, busy) = count(&[0; 8]);
    assert_eq!(one, micros(8 * 50 + 3) + lone(), "the processor sees to completions only when it has handed all over");
    assert_eq!(busy, micros(8 * (50 + 3)));
    let (two, busy_of_two) = count(&[0, 1, 0, 1, 0, 1, 0, 1]);
    assert!(two < one && two >= micros(4 * 50), "{two} by two workers, {one} by one");
    assert_eq!(busy_of_two, busy);
    assert_eq!(count(&[1, 5, 1, 5, 1, 5, 1, 5]).0, one, "both of them on the same processor");
}

#[test]
fn one_interrupt_is_for_all_that_is_done_by_then() {
    let mut rig = queued("&submit=0us&wake.mean=1ms");
    ends(&mut rig, Nanos::ZERO, &[0; 16]);
    assert_eq!(rig.counters().host_busy, micros(16 * 3 + 5), "all sixteen were done before the processor was awake");
    let mut polled = queued("&submit=0us&wake.mean=1ms&polled=true");
    ends(&mut polled, Nanos::ZERO, &[0; 16]);
    assert_eq!(polled.counters().host_busy, micros(16 * 3));
}

#[test]
fn a_full_queue_makes_commands_wait_and_loses_none() {
    let at_once = |changes: &str| {
        let mut rig = queued(&format!("&submit=0us&interrupt=0us&host.complete=0us&pairs=1{changes}"));
        ends(&mut rig, Nanos::ZERO, &[0; 64])
    };
    let (deep, one) = (at_once("&queues.depth=64"), at_once("&queues.depth=1"));
    assert_eq!((deep.len(), one.len()), (64, 64));
    assert_eq!(*one.last().unwrap(), lone().times(64), "one after the other");
    assert!(deep.last() < one.last());
}

#[test]
fn a_host_draws_its_waits_from_its_own_seed() {
    let times = |name: &str, seed: Option<u64>| {
        let mut device = Preset::find(name).unwrap().build_in_host();
        if let Some(seed) = seed {
            device.draw_from(block::Seed::new(seed));
        }
        let mut ends = Vec::new();
        for index in 0..500 {
            device.submit(device.now(), Tag(0), read(index, 4));
            ends.push(device.complete(Nanos::MAX).unwrap().at);
        }
        ends
    };
    let hosted = "solid-data-dram?host=nvme-host";
    assert_eq!(times(hosted, None), times(hosted, None));
    assert_ne!(times(hosted, None), times("solid-data-dram#2?host=nvme-host", None));
    assert_ne!(times(hosted, None), times(hosted, Some(1)));
    assert_eq!(times(hosted, Some(1)), times(hosted, Some(1)));
    assert_ne!(times(hosted, Some(1)), times(hosted, Some(2)));
    let bare = times("solid-data-dram", None);
    assert_eq!(bare, times("solid-data-dram?host=none", None));
    assert_eq!(bare, times("solid-data-dram#2", Some(3)), "a drive that draws nothing has no luck");
    let mean = |ends: &[Nanos]| ends[499].as_nanos() / 500;
    let more = mean(&times(hosted, None)) - mean(&bare);
    assert!((4_300..5_100).contains(&more), "{more} ns more a request, of 4.64 µs and rare waits");
}

#[test]
fn every_request_is_answered_once_and_in_order_whatever_the_host_is() {
    for (seed, name) in ["nvme-host", "nvme-host-polled", "sata-host", "sata-3g-desktop"].into_iter().enumerate() {
        let mut random = testkit::Random::new(seed as u64);
        let rare = if name.ends_with("desktop") { "" } else { "&rare=2%&spread=200%" };
        let member = "drive.capacity.user=64MiB&drive.spare=60%";
        let mut rig = Rig::new(spec(&format!("{name}?array.drive=x25-e-64&{member}{rare}")));
        rig.bind(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
        let (mut submitted, mut answered) = ([None; 16], 0);
        let mut last = Nanos::ZERO;
        for _ in 0..4_000 {
            let tag = random.below(16) as usize;
            if submitted[tag].is_none() {
                let op = [Op::Read, Op::Write][random.below(2) as usize];
                let now = last + Nanos::from_nanos(random.below(20_000));
                while let Some(completion) = rig.complete(now) {
                    assert!(completion.at >= last && submitted[completion.tag.0 as usize].take() < Some(completion.at));
                    (last, answered) = (completion.at, answered + 1);
                }
                let lba = Lba::new(random.below(120_000));
                last = now;
                rig.submit(now, Tag(tag as u32), Request::new(op, lba, 1 + random.below(2_000) as u32));
                submitted[tag] = Some(now);
            } else if let Some(completion) = rig.complete(Nanos::MAX) {
                assert!(
                    completion.at >= last && submitted[completion.tag.0 as usize].take() < Some(completion.at),
                    "{name}"
                );
                (last, answered) = (completion.at, answered + 1);
            }
        }
        while let Some(completion) = rig.complete(Nanos::MAX) {
            assert!(submitted[completion.tag.0 as usize].take() < Some(completion.at));
            answered += 1;
        }
        assert_eq!((submitted, answered), ([None; 16], rig.counters().requests.iter().sum::<u64>()), "{name}");
    }
}

#[test]
fn a_drive_is_measured_in_the_host_that_its_file_names() {
    let hosted = Preset::find("990-pro?host=nvme-host").unwrap();
    assert_eq!(
        hosted,
        Preset::find("990-pro?rig.host=nvme-host").map(|named| Preset { name: hosted.name.clone(), ..named }).unwrap()
    );
    assert!(
        hosted.facts().iter().any(|(label, fact)| *label == "host" && fact.contains("8 CPUs")),
        "{:?}",
        hosted.facts()
    );
    assert!(matches!(hosted.build(), crate::Device::Flash(_)), "by itself, as when it is attached");
    let device = hosted.build_in_host();
    assert!(matches!(device, crate::Device::Rig(_)));
    assert!(matches!(device.out_of_host(&hosted), crate::Device::Flash(_)));
    assert!(matches!(Preset::find("990-pro?host=none").unwrap().build_in_host(), crate::Device::Flash(_)));
    let Some(port) = Preset::find("x25-e-64?host=sata-3g-desktop&rate=600 MB/s").unwrap().host().unwrap() else {
        panic!("it has a host")
    };
    let Spec::Flash(drive) = &port.member.spec else { panic!("an X25-E is flash") };
    assert_eq!(drive.link.rate.get(), 300_000_000, "as the host's port has it");
    let text = format!("{}\n[rig]\nsource = \"test\"\nhost = \"sata-host\"\n", Preset::find("x25-m").unwrap().text);
    assert_eq!(Preset::parse(&text).unwrap().host().unwrap().unwrap().host.queues.unwrap().depth, 32);
    for (name, words) in [
        ("x25-m?host=nvme-hots", "did you mean `nvme-host`?"),
        ("x25-m?host=toms-x25e-16", "a rig of 16 drives"),
        ("x25-m?rig.cpus=4", "name one beside it, as `host=nvme-host&rig.cpus=4`"),
        ("x25-m?host=none&rig.cpus=4", "measured without a host"),
        ("970-pro?rig.host.sumbit=1us", "did you mean `host.submit`?"),
        ("970-pro?rig.submit=1us&rig.host.submit=2us", "`host.submit` is given twice"),
        ("970-pro?rig.array.drive=x25-m", "the drive in its host is this one"),
        ("970-pro?rig.drives=2&rig.level=raid0&rig.stripe=64KiB", "a host has one drive"),
        ("970-pro?rig.pairs=9", "no more than processors"),
        ("nvme-host?pairs=9", "no more than processors"),
        ("nvme-host?queues.depth=0", "1 to 65,535"),
        ("nvme-host?spread=301%", "at most 300%"),
        ("nvme-host?wake.mean=1s", "20 ms at most"),
    ] {
        let said = Preset::find(name).unwrap_err().to_string();
        assert!(said.contains(words), "{name}: {said}");
    }
}

#[test]
fn the_host_of_a_drive_is_changed_by_name() {
    let host =
        |name: &str| Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}")).host().unwrap().unwrap();
    let expected = host("970-pro").host;
    let long = host("970-pro?rig.host.submit=5us").host;
    assert_ne!(long, expected);
    assert_eq!(long.submit, Nanos::from_micros(5));
    for same in [
        "970-pro?rig.submit=5us",
        "970-pro?host=nvme-host&rig.host.submit=5us",
        "970-pro?rig.host.submit=5us&host=nvme-host",
        "970-pro?rig.host.submit=5us&drive.capacity.spare=9%",
        "970-pro?rig.changes=host.submit=5us",
        "970-pro?rig.changes=host.submit=9us&rig.submit=5us",
    ] {
        assert_eq!(host(same).host, long, "{same}");
    }
    let Spec::Rig(rig) = Preset::find("nvme-host?array.drive=970-pro&host.submit=5us").unwrap().spec else {
        panic!("it is a rig")
    };
    assert_eq!(rig.host, long);
    let again = Preset::find("970-pro?rig.host.submit=9us&rig.pairs=4").unwrap().changed("rig.submit=5us").unwrap();
    let spec = again.host().unwrap().unwrap();
    assert_eq!((spec.host.submit, spec.host.queues.unwrap().pairs), (long.submit, 4));
    assert_eq!(again.spec, Preset::find("970-pro").unwrap().spec, "the drive itself stays as it was");
    assert_eq!(Preset::named(&again.name, &again.text).unwrap(), again, "as it is kept with a run");
}

#[test]
fn calls_that_make_no_sense_are_refused() {
    for changes in ["host.call=2ms", "host.call_write=90ms", "host.chunk=0 B"] {
        let error = Preset::find(&format!("lenovo-x220i?{changes}")).unwrap_err().to_string();
        assert!(error.contains("a call takes 1 ms at most and moves a byte at least"), "{changes}: {error}");
    }
}
