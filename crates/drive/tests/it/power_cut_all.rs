//! What drives of every kind lose when their power is cut: never what was flushed, and what they said they would.

use std::collections::{BTreeMap, BTreeSet};

use assay_drive::preset::Preset;
use assay_drive::{Device, Drive, PowerLoss};
use block::{Lba, Nanos, Op, Request, Seed, Tag};
use testkit::Random;

/// Drives with something to lose.
const VOLATILE: &[&str] = &[
    "x25-m?capacity.user=1GiB",
    "p5316-15360?capacity.user=16GiB&pages_per_block=16&capacitor=false&partial=128KiB",
    "980-1tb?capacity.user=32GiB&pages_per_block=256&fixed=1GiB&dynamic=4GiB&cache=16KiB&lookup=8KiB&hmb=16KiB",
    "ocz-core-64?flash.capacity=1GiB&pages_per_block=4",
    "raptor-150",
    "st320lt020",
    "optane-p4800x?rewrites=5%&capacitor=false",
    "lenovo-x220i-disk",
    "sata-3g-desktop?array.drive=raptor-150&array.drives=4&array.level=raid10&array.stripe=64KiB",
    "sata-3g-desktop?array.drive=raptor-150&array.drives=3&array.level=raid5&array.stripe=8KiB",
    "toms-x25e-16?drive.capacity.user=4GiB",
    "sata-host?array.drive=x25-e-64&drive.capacity.user=4GiB&queues.depth=4",
];

/// A drive that is written to, and what of that may be lost.
pub struct Written {
    pub drive: Device,
    /// Of so many sectors at its start.
    pub span: u64,
    /// So many requests are in flight.
    pub depth: usize,
    /// If what is promised is compared with what the drive would lose each time: how long before the answer it must be on the
    /// media, which is what a journal takes.
    pub watched: Option<Nanos>,
    numbers: Random,
    in_flight: BTreeMap<u32, Request>,
    next: u32,
    /// The writes of each sector that no flush covers and that no later one came after: of those in flight together, any may be the
    /// last.
    dirty: BTreeMap<u64, BTreeSet<u32>>,
    answered: BTreeSet<u32>,
    /// What each flush in flight covers: the writes that were answered before it came.
    covers: BTreeMap<u32, BTreeSet<u32>>,
}

impl Written {
    pub fn new(name: &str, seed: Seed) -> Self {
        Self::of(Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}")).build(), seed)
    }

    pub fn of(drive: Device, seed: Seed) -> Self {
        Self {
            drive,
            span: 3_000,
            depth: 8,
            watched: None,
            numbers: Random::new(seed.get()),
            in_flight: BTreeMap::new(),
            next: 0,
            dirty: BTreeMap::new(),
            answered: BTreeSet::new(),
            covers: BTreeMap::new(),
        }
    }

    fn submit(&mut self) {
        let kind = self.numbers.below(40);
        let request = match kind {
            0 => Request::FLUSH,
            _ => {
                let (first, sectors) = (self.numbers.below(self.span), 1 + self.numbers.below(40) as u32);
                let op = if kind < 8 { Op::Read } else { Op::Write };
                Request { durable: kind == 9, ..Request::new(op, Lba::new(first), sectors) }
            }
        };
        let number = self.next;
        self.next += 1;
        match request.op {
            Op::Write => (request.lba.get()..request.end().get()).for_each(|sector| {
                let last = self.dirty.entry(sector).or_default();
                last.retain(|write| self.in_flight.contains_key(write));
                last.insert(number);
            }),
            Op::Flush => drop(self.covers.insert(number, self.answered.clone())),
            _ => {}
        }
        self.in_flight.insert(number, request);
        self.drive.submit(self.drive.now(), Tag(number), request);
    }

    fn complete(&mut self) {
        let Some(done) = self.drive.complete(Nanos::MAX) else { panic!("some are in flight") };
        let number = done.tag.0;
        let request = self.in_flight.remove(&number).expect("it was in flight");
        let covered = match request.op {
            Op::Flush => self.covers.remove(&number).expect("it was noted"),
            Op::Write if request.durable => [number].into(),
            _ => BTreeSet::new(),
        };
        self.dirty.retain(|_, last| {
            last.retain(|write| !covered.contains(write));
            !last.is_empty()
        });
        if request.op == Op::Write {
            self.answered.insert(number);
        }
        if let Some(journal) = self.watched.filter(|_| !covered.is_empty()) {
            for sector in sectors(&self.drive.unsaved(done.at - journal)) {
                assert!(self.dirty.contains_key(&sector), "sector {sector} was promised at {}", done.at);
            }
        }
    }

    /// Works for so many requests, then loses its power a little later; what that cost.
    pub fn cut(&mut self, requests: u64, later: Nanos) -> PowerLoss {
        for _ in 0..requests {
            while self.in_flight.len() < self.depth {
                self.submit();
            }
            self.complete();
        }
        let now = self.drive.now() + later;
        let unsaved = self.drive.unsaved(now);
        let lost = self.drive.cut_power(now);
        // Of what was not answered, a rig may have been asked before it reached the drives, whose caches it moves on.
        let in_flight = |sector: &u64| {
            let holds = |request: &Request| (request.lba..request.end()).contains(&Lba::new(*sector));
            self.in_flight.values().any(holds)
        };
        let (found, said) = (sectors(&lost.sectors), sectors(&unsaved));
        assert_eq!(found.difference(&said).find(|sector| !in_flight(sector)), None, "it loses only what it said");
        if !matches!(self.drive, Device::Rig(_)) {
            assert_eq!(found, said, "it loses what it said it would");
        }
        assert_eq!(lost.unanswered as usize, self.in_flight.len());
        assert_eq!(self.drive.next_event(), None, "nothing is answered any more");
        for sector in sectors(&lost.sectors) {
            assert!(self.dirty.contains_key(&sector), "sector {sector} was flushed, or never written");
        }
        self.in_flight.clear();
        self.covers.clear();
        self.dirty.clear();
        lost
    }
}

fn sectors(runs: &[(Lba, Lba)]) -> BTreeSet<u64> {
    runs.iter().flat_map(|(from, until)| from.get()..until.get()).collect()
}

#[test]
fn what_was_flushed_or_forced_to_the_medium_is_never_lost() {
    for name in VOLATILE {
        let mut lost = 0;
        for seed in 0..4 {
            let mut written = Written::new(name, Seed::new(seed).split(name));
            for cut in 0..5 {
                let later = [0, 20, 400, 9_000, 2_000_000][(seed as usize + cut) % 5];
                lost += written.cut(40 + 97 * cut as u64, Nanos::from_micros(later)).sectors.len();
            }
            assert!(written.drive.counters().unsafe_shutdowns >= 5 && written.drive.health().power_cycles >= 6);
        }
        assert!(lost > 0, "{name} never lost anything");
    }
}

#[test]
fn a_disk_spins_up_before_it_answers_again() {
    let mut disk = Preset::find("raptor-150").unwrap().build();
    let cut = Nanos::from_millis(10);
    disk.cut_power(cut);
    disk.submit(cut, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
    let answered = disk.complete(Nanos::MAX).unwrap().at;
    assert!(answered - cut >= Nanos::from_secs(8) && answered - cut < Nanos::from_millis(8_100), "{answered}");
}

#[test]
fn a_disk_that_has_been_left_alone_has_written_what_it_held() {
    let mut disk = Preset::find("raptor-150").unwrap().build();
    disk.submit(Nanos::ZERO, Tag(0), Request::new(Op::Write, Lba::new(100), 8));
    let answered = disk.complete(Nanos::MAX).unwrap().at;
    let run = vec![(Lba::new(100), Lba::new(108))];
    assert_eq!(disk.unsaved(answered), run);
    assert_eq!(disk.unsaved(answered + Nanos::from_secs(1)), [], "it writes 20 ms after the last command");
    assert_eq!(disk.cut_power(answered).sectors, run);
}

#[test]
fn memory_keeps_all_on_a_battery_and_nothing_without() {
    for (name, gone) in [("solid-data-dram", 0), ("solid-data-dram?power.battery=false", 1)] {
        let mut drive = Preset::find(name).unwrap().build();
        drive.submit(Nanos::ZERO, Tag(0), Request::new(Op::Write, Lba::new(0), 8));
        drive.submit(Nanos::ZERO, Tag(1), Request::FLUSH);
        let lost = drive.cut_power(Nanos::from_micros(10));
        let all = (Lba::new(0), Lba::at(drive.shape().capacity));
        assert_eq!((lost.unanswered, lost.sectors, lost.gone), (2, vec![], vec![all; gone]), "{name}");
        let now = drive.now();
        drive.submit(now, Tag(2), Request::new(Op::Read, Lba::new(0), 8));
        assert!(drive.complete(Nanos::MAX).unwrap().at > now);
    }
}
