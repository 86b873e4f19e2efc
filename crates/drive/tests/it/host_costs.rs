//! What a host costs beside its drive, whatever it is made of: by count, by the clock and by property.

use assay_drive::Drive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::rig::Rig;
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use proptest::prelude::*;

/// A host with queues around a DRAM drive, which takes the same time for every read.
fn host(changes: &str) -> Rig {
    let name = format!("nvme-host?array.drive=solid-data-dram&wake.spread=0%&rare=0%&drift=0%&{changes}");
    match Preset::find(&name).unwrap_or_else(|error| panic!("{error}")).spec {
        Spec::Rig(spec) => Rig::new(spec),
        _ => panic!("it is a rig"),
    }
}

fn read(index: u64) -> Request {
    Request::new(Op::Read, Lba::at(Bytes::from_kib(64).times(index)), 8)
}

/// What a read takes that comes when nothing else is under way.
fn lone(rig: &mut Rig) -> Nanos {
    let at = rig.now() + Nanos::from_millis(1);
    rig.submit(at, Tag(0), read(3));
    rig.complete(Nanos::MAX).expect("it is answered").at - at
}

fn us(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

/// So many processors and pairs of queues, and what each of them costs: to submit, to complete, to be interrupted, to wake up.
fn settings([cpus, pairs]: [u64; 2], costs: &[u64]) -> String {
    let [submit, complete, interrupt, wake] = costs else { panic!("four costs: {costs:?}") };
    format!(
        "cpus={cpus}&pairs={pairs}&host.submit={submit}us&host.complete={complete}us&interrupt={interrupt}us&wake.mean={wake}us"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A lone read waits for all that its host does, and for an interrupt and the wake-up only where it is not polled; the
    /// processors work for as long as they are said to.
    #[test]
    fn a_lone_read_takes_what_its_host_adds(
        cpus in 1..9_u64, costs in prop::collection::vec(0..40_u64, 4), polled in any::<bool>(),
    ) {
        let bare = lone(&mut host(&settings([1, 1], &[0; 4])));
        let mut rig = host(&format!("{}&polled={polled}", settings([cpus; 2], &costs)));
        let worked = us(costs[0] + costs[1] + if polled { 0 } else { costs[2] });
        let waits = if polled { Nanos::ZERO } else { us(costs[3]) };
        for reads in 1..6 {
            prop_assert_eq!(lone(&mut rig), bare + worked + waits);
            prop_assert_eq!(rig.counters().host_busy, worked.times(reads));
            prop_assert_eq!(rig.counters().host_busiest, worked.times(reads), "one worker has one processor");
        }
    }

    /// Whatever the queues and the workers: each command is answered once, the processors work as long as commands and
    /// interrupts say, and of the latter there are no more than commands.
    #[test]
    fn processors_work_for_commands_and_for_interrupts(
        cpus in 1..7_u64, pairs in 1..7_u64, depth in 1..40_u64, costs in prop::collection::vec(1..20_u64, 4),
        workers in prop::collection::vec(0..6_u32, 24), polled in any::<bool>(),
    ) {
        let pairs = pairs.min(cpus);
        let mut rig = host(&format!("{}&queues.depth={depth}&polled={polled}", settings([cpus, pairs], &costs)));
        rig.bind(&workers);
        let count = workers.len() as u64;
        (0..count).for_each(|tag| rig.submit(us(tag), Tag(tag as u32), read(tag)));
        let mut answered: Vec<u32> = Vec::new();
        let mut last = Nanos::ZERO;
        while let Some(done) = rig.complete(Nanos::MAX) {
            prop_assert!(done.at >= last);
            (last, _) = (done.at, answered.push(done.tag.0));
        }
        answered.sort_unstable();
        prop_assert_eq!(answered, (0..count as u32).collect::<Vec<_>>());
        let counters = rig.counters();
        let commands = us(costs[0] + costs[1]).times(count);
        let interrupts = counters.host_busy.since(commands).as_nanos() / us(costs[2]).as_nanos();
        prop_assert_eq!(counters.host_busy, commands + us(costs[2]).times(interrupts));
        prop_assert!(if polled { interrupts == 0 } else { (1..=count).contains(&interrupts) }, "{} interrupts", interrupts);
        prop_assert!(counters.host_busiest <= counters.host_busy && counters.host_busy <= counters.host_busiest.times(cpus));
        prop_assert!(counters.host_busiest <= last, "no processor works for longer than it took");
        // Each worker stays on a processor, so the one with most commands is busy for theirs at least.
        let most = (0..cpus as u32).map(|cpu| workers.iter().filter(|worker| **worker % cpus as u32 == cpu).count() as u64).max();
        prop_assert!(last >= us(costs[0]).times(most.unwrap_or(0)));
    }

    /// A faster host is never slower: for lone reads and for so many at once.
    #[test]
    fn more_of_a_cost_never_makes_it_quicker(
        costs in prop::collection::vec(0..20_u64, 4), which in 0..4_usize, more in 1..20_u64,
    ) {
        let all = |costs: &[u64]| {
            let mut rig = host(&settings([2, 2], costs));
            rig.bind(&[0, 1, 0, 1]);
            let alone = lone(&mut rig);
            let at = rig.now();
            (0..32).for_each(|tag| rig.submit(at, Tag(tag % 4), read(u64::from(tag))));
            (alone, std::iter::from_fn(|| rig.complete(Nanos::MAX)).last().expect("they are answered").at - at)
        };
        let mut slower = costs.clone();
        slower[which] += more;
        let ((alone, many), (alone_slower, many_slower)) = (all(&costs), all(&slower));
        prop_assert_eq!(alone_slower, alone + us(more));
        // An interrupt that comes later may be for more commands.
        prop_assert!(many_slower + us(if which < 2 { 0 } else { 40 }) >= many, "{} and {}", many, many_slower);
    }
}

/// At an AHCI port one processor sees to all completions, whoever asked, and 32 commands are under way at most.
#[test]
fn a_sata_port_has_one_queue_and_one_processor_for_its_completions() {
    let sata = |changes: &str| {
        let name = format!(
            "sata-host?array.drive=x25-e-64&drive.capacity.user=64MiB&drive.spare=60%&wake.mean=0us&spread=0%&rare=0%{changes}"
        );
        match Preset::find(&name).unwrap_or_else(|error| panic!("{error}")).spec {
            Spec::Rig(spec) => Rig::new(spec),
            _ => panic!("it is a rig"),
        }
    };
    let run = |rig: &mut Rig, workers: &[u32]| {
        rig.bind(workers);
        (0..64).for_each(|tag| rig.submit(Nanos::ZERO, Tag(tag % workers.len() as u32), read(u64::from(tag) % 900)));
        std::iter::from_fn(|| rig.complete(Nanos::MAX)).last().expect("they are answered").at
    };
    let workers: Vec<u32> = (0..64).map(|tag| tag % 4).collect();
    let mut rig = sata("&cpus=4&host.submit=0us&host.complete=50us&interrupt=0us");
    let took = run(&mut rig, &workers);
    let counters = rig.counters();
    assert_eq!((counters.host_busy, counters.host_busiest), (us(64 * 50), us(64 * 50)), "whoever asked");
    assert!((us(64 * 50)..us(64 * 50 + 200)).contains(&took), "{took}");
    // A port that takes one command at a time answers one after the other.
    let one = run(&mut sata("&cpus=4&host.submit=0us&host.complete=0us&interrupt=0us&queues.depth=1"), &workers);
    let all = run(&mut sata("&cpus=4&host.submit=0us&host.complete=0us&interrupt=0us"), &workers);
    assert!(one.times(2) > all.times(3), "{one} one at a time, {all} up to 32");
}
