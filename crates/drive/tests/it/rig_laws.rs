//! What holds for any drive in any host: what a host adds, what it allows at most, and that one seed tells one story.

use assay_drive::preset::Preset;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag};
use proptest::prelude::*;
use testkit::Random;

/// A SATA host, in microseconds and tenths of a percent.
#[derive(Clone, Debug)]
struct Sata {
    cpus: u32,
    submit: u64,
    complete: u64,
    interrupt: u64,
    wake: u64,
    spread: u64,
    rare: u64,
    drift: u64,
    polled: bool,
    depth: u32,
    /// The link's rate in MB/s.
    rate: u64,
    drive: &'static str,
}

/// The first answers faster than a host asks, and has no link.
const DRIVES: [&str; 4] = [
    "solid-data-dram&drive.service.read=1us&drive.service.write=1us&drive.read_rate=2GB/s&drive.write_rate=2GB/s\
     &drive.memory.queue_depth=256",
    "x25-e-64&drive.capacity.user=64MiB&drive.spare=60%",
    "m4-64&drive.capacity.user=128MiB&drive.spare=300%",
    "st320lt020",
];

fn any_sata() -> impl Strategy<Value = Sata> {
    let times = (0..20_u64, 0..20_u64, 0..10_u64, 0..30_u64);
    // Nothing is drawn in every second of them.
    let chance = (0..100_u64, 0..50_u64, 0..30_u64, any::<bool>())
        .prop_map(|(spread, rare, drift, is_drawn)| if is_drawn { (spread, rare, drift) } else { (0, 0, 0) });
    (times, chance, any::<bool>(), 1..5_u32, 1..33_u32, 0..4_usize, (0..3_usize).prop_map(|rate| [150, 300, 600][rate]))
        .prop_map(|(times, (spread, rare, drift), polled, cpus, depth, drive, rate)| {
            let (submit, complete, interrupt, wake) = times;
            let drive = DRIVES[drive];
            Sata { cpus, submit, complete, interrupt, wake, spread, rare, drift, polled, depth, rate, drive }
        })
}

impl Sata {
    /// The rig's name, of which the specimen is so numbered.
    fn build(&self, number: u32) -> Device {
        let Self { cpus, submit, complete, interrupt, wake, spread, rare, drift, polled, depth, rate, drive } = self;
        let name = format!(
            "sata-host#{number}?array.drive={drive}&cpus={cpus}&host.submit={submit}us&host.complete={complete}us\
             &interrupt={interrupt}us&wake.mean={wake}us&spread={spread}%&rare={rare}%&drift={drift}%&polled={polled}\
             &queues.depth={depth}{}",
            if self.has_link() { format!("&drive.link.rate={rate}MB/s") } else { String::new() }
        );
        Preset::find(&name).unwrap_or_else(|error| panic!("{name}: {error}")).build()
    }

    fn has_link(&self) -> bool {
        self.drive != DRIVES[0]
    }

    /// The drive alone.
    fn alone(&self, rig: &Device) -> Device {
        let Device::Rig(rig) = rig else { panic!("it is a rig") };
        rig.drives()[0].clone()
    }

    fn work(&self) -> Nanos {
        Nanos::from_micros(self.submit + self.complete)
    }
}

fn any_request(random: &mut Random) -> Request {
    let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Trim][random.place(5)];
    let sectors = [1, 8, 8, 64, 256][random.place(5)];
    Request::new(op, Lba::new(random.below(120_000)), sectors)
}

/// Keeps `depth` of one worker's requests in flight; when each was submitted and done, in order of completion, and its request.
fn story(drive: &mut Device, seed: u64, depth: usize, count: u32) -> Vec<(Nanos, Nanos, Request)> {
    let mut random = Random::new(seed);
    drive.bind(&vec![0; count as usize]);
    let (mut submitted, mut done, mut inside) = (Vec::new(), Vec::new(), 0);
    for tag in 0..count {
        if inside == depth {
            let completion = drive.complete(Nanos::MAX).expect("some are in flight");
            done.push((completion.tag.0 as usize, completion.at));
            inside -= 1;
        }
        let request = any_request(&mut random);
        submitted.push((drive.now(), request));
        drive.submit(drive.now(), Tag(tag), request);
        inside += 1;
    }
    done.extend(std::iter::from_fn(|| drive.complete(Nanos::MAX)).map(|done| (done.tag.0 as usize, done.at)));
    done.into_iter().map(|(tag, at)| (submitted[tag].0, at, submitted[tag].1)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A lone request takes what the drive alone takes that is handed it, and the host's parts: exactly those that are not drawn, and
    /// no less than these where others are.
    #[test]
    fn a_lone_request_takes_the_drive_and_the_host_parts(sata in any_sata(), seed in any::<u64>()) {
        let mut rig = sata.build(1);
        let (mut alone, mut random) = (sata.alone(&rig), Random::new(seed));
        for _ in 0..60 {
            let (at, request) = (rig.now() + Nanos::from_millis(1 + random.below(40)), any_request(&mut random));
            rig.submit(at, Tag(0), request);
            let done = rig.complete(Nanos::MAX).expect("it is answered").at;
            alone.submit(at + Nanos::from_micros(sata.submit), Tag(0), request);
            let handed = alone.complete(Nanos::MAX).expect("it is answered").at;
            let interrupt = if sata.polled || sata.drift > 0 { 0 } else { sata.interrupt };
            let least = handed + Nanos::from_micros(sata.complete + interrupt);
            prop_assert!(done >= least, "{} in the host, {} the drive's and the processor's", done - at, least - at);
            if sata.rare == 0 && sata.drift == 0 && (sata.spread == 0 || sata.polled) {
                prop_assert_eq!(done, least + Nanos::from_micros(if sata.polled { 0 } else { sata.wake }));
            }
        }
    }

    /// A worker's requests take its processor one after the other, so that no more are answered than that allows; the processor's time
    /// is that of all of them and of no more interrupts than requests.
    #[test]
    fn a_processor_serves_no_more_than_its_time_allows(
        sata in any_sata(), seed in any::<u64>(), depth in 1..48_usize,
    ) {
        let mut rig = sata.build(1);
        let told = story(&mut rig, seed, depth, 200);
        let last = told.iter().map(|(_, done, _)| *done).max().unwrap();
        let counters = rig.counters();
        let (all, interrupts) = (sata.work().times(200), counters.host_busy - sata.work().times(200));
        prop_assert!(counters.host_busy >= all, "{} of {}", counters.host_busy, all);
        // Drift is a factor of a second's interrupts that lies this side of four deviations.
        let most = Nanos::from_micros(200 * sata.interrupt * (100 + 5 * sata.drift) / 100);
        prop_assert!(interrupts <= most, "{} of interrupts, {} at most", interrupts, most);
        prop_assert!(!sata.polled || interrupts == Nanos::ZERO);
        prop_assert!(last >= all, "{} requests in {}, each of which takes {}", told.len(), last, sata.work());
        for (index, (submitted, done, _)) in told.iter().enumerate() {
            prop_assert!(*done >= *submitted + sata.work(), "request {}", index);
        }
    }

    /// What is read or written since the start has passed the link, in whole or as frames.
    #[test]
    fn no_more_data_comes_than_the_link_carries(sata in any_sata(), seed in any::<u64>(), depth in 1..48_usize) {
        let sata = if sata.has_link() { sata } else { Sata { drive: DRIVES[1], ..sata } };
        let told = story(&mut sata.build(1), seed, depth, 200);
        let carried = |op: Op, until: Nanos| -> u64 {
            told.iter().filter(|(_, done, request)| *done <= until && request.op == op).map(|(.., request)| request.bytes().get()).sum()
        };
        for (_, done, _) in &told {
            let data = carried(Op::Read, *done) + carried(Op::Write, *done);
            let least = Nanos::from_nanos(data * 1_000 / sata.rate);
            prop_assert!(*done >= least, "{} by {}, {} at {} MB/s", Bytes::new(data), done, least, sata.rate);
        }
    }

    /// So many commands are in the drive and no more: where each takes a certain time in it, no more are done within such a time.
    #[test]
    fn no_more_commands_are_in_the_drive_than_it_has_slots(
        slots in 1..33_u32, service in 20..400_u64, depth in 1..80_usize, seed in any::<u64>(),
    ) {
        let name = format!(
            "sata-host?array.drive=solid-data-dram&host.submit=0us&host.complete=0us&interrupt=0us&wake.mean=0us&rare=0%&drift=0%\
             &queues.depth={slots}&drive.memory.queue_depth=256&drive.service.read={service}us&drive.service.write={service}us"
        );
        let mut rig = Preset::find(&name).unwrap_or_else(|error| panic!("{name}: {error}")).build();
        let mut done: Vec<Nanos> = story(&mut rig, seed, depth, 300).iter().map(|(_, done, _)| *done).collect();
        done.sort_unstable();
        for window in done.windows(slots as usize + 1) {
            let within = window[slots as usize] - window[0];
            prop_assert!(within >= Nanos::from_micros(service), "{} and one more done within {}", slots, within);
        }
        // And the slots are used.
        let rate = 300.0 / done[299].as_secs_f64() * service as f64 / 1e6;
        let most = f64::from(slots).min(depth as f64);
        prop_assert!(rate <= most + 0.01, "{:.1} at once of {}", rate, most);
    }

    /// The same rig tells the same story, and another of its model another wherever anything is drawn.
    #[test]
    fn one_rig_tells_one_story(sata in any_sata(), seed in any::<u64>(), depth in 1..40_usize) {
        let told = story(&mut sata.build(1), seed, depth, 150);
        prop_assert_eq!(&story(&mut sata.build(1), seed, depth, 150), &told);
        if sata.wake > 0 && sata.spread > 0 && !sata.polled && depth == 1 {
            prop_assert_ne!(&story(&mut sata.build(2), seed, depth, 150), &told);
        }
        let drawn = |number: u64| {
            let mut rig = sata.build(1);
            rig.draw_from(Seed::new(number));
            story(&mut rig, seed, depth, 150)
        };
        prop_assert_eq!(drawn(7), drawn(7));
    }
}
