//! A drive that was written down and read again goes on as if nothing had been.

use assay_drive::preset::Preset;
use assay_drive::{Counters, Device, Drive, Health, PowerLoss};
use block::{Completion, Lba, Nanos, Op, Request, Seed, Tag};
use testkit::Random;

/// Drives of every kind; of two, so little that blocks must be emptied.
const DRIVES: &[&str] = &[
    "x25-m?capacity.user=1GiB",
    "x25-e-64?capacity.user=4GiB",
    "intel-520?capacity.user=16GiB",
    "870-qvo?capacity.user=64GiB",
    "sata-tlc?capacity.user=32GiB",
    "p5316-15360?capacity.user=16GiB&pages_per_block=16&capacitor=false",
    "980-1tb?capacity.user=32GiB&pages_per_block=256&fixed=1GiB&dynamic=4GiB&cache=16KiB&lookup=16KiB&hmb=64KiB",
    "ocz-core-64?flash.capacity=1GiB&pages_per_block=4&scheme=fast",
    "raptor-150",
    "st320lt020",
    "solid-data-dram",
    "optane-p4800x?rewrites=5%&capacitor=false&move_every=3",
    "lenovo-x220i?drive.capacity.user=16GiB",
    "lenovo-x220i-disk",
    "nvme-host?array.drive=x25-e-64&drive.capacity.user=4GiB&rare=5%&queues.depth=4",
    "toms-x25e-16?drive.capacity.user=4GiB",
    "toms-x25e-1?drive.capacity.user=4GiB&array.drives=4&array.level=raid5&array.stripe=64KiB",
];

/// A drive at work: requests of every kind, so many of them in flight.
struct AtWork {
    drive: Device,
    numbers: Random,
    in_flight: u32,
    next: u32,
}

/// What can be seen of a drive at work.
type Seen = (Vec<Completion>, PowerLoss, Counters, Health);

impl AtWork {
    fn new(drive: Device, seed: Seed) -> Self {
        Self { drive, numbers: Random::new(seed.get()), in_flight: 0, next: 0 }
    }

    fn request(&mut self) -> Request {
        let numbers = &mut self.numbers;
        let last = self.drive.shape().capacity.sectors() / 8 - 64;
        let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Write, Op::Trim, Op::Flush][numbers.below(7) as usize];
        // A part of the drive is written again and again, so that there is something to collect.
        let first = if numbers.below(2) == 0 { numbers.below(last.min(4096)) } else { numbers.below(last) };
        let (offset, sectors) = if numbers.below(4) == 0 { (3, 5) } else { (0, 8 + 8 * numbers.below(32) as u32) };
        match op {
            Op::Flush => Request::FLUSH,
            _ => Request { durable: numbers.below(8) == 0, ..Request::new(op, Lba::new(8 * first + offset), sectors) },
        }
    }

    /// Completes so many more requests.
    fn work(&mut self, requests: u32) -> Vec<Completion> {
        let completed = (0..requests).map(|_| {
            while self.in_flight < 24 {
                let request = self.request();
                let pause = if self.numbers.below(50) == 0 { Nanos::from_millis(40) } else { Nanos::ZERO };
                // What is due by then must have been asked for.
                let now = self.drive.now() + if self.in_flight == 0 { pause } else { Nanos::ZERO };
                self.drive.submit(now, Tag(self.next), request);
                (self.in_flight, self.next) = (self.in_flight + 1, self.next + 1);
            }
            self.in_flight -= 1;
            self.drive.complete(Nanos::MAX).expect("some are in flight")
        });
        completed.collect()
    }

    /// Goes on for a while, then loses its power and goes on again.
    fn go_on(mut self) -> Seen {
        let mut completed = self.work(600);
        let lost = self.drive.cut_power(self.drive.now() + Nanos::from_micros(100));
        self.in_flight -= lost.unanswered;
        while self.in_flight > 0 {
            completed.extend(self.drive.complete(Nanos::MAX));
            self.in_flight -= 1;
        }
        completed.extend(self.work(300));
        (completed, lost, self.drive.counters(), self.drive.health())
    }
}

#[test]
fn a_drive_saved_at_any_moment_goes_on_as_one_that_never_was() {
    for name in DRIVES {
        let preset = Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        for seed in 0..2 {
            let seed = Seed::new(seed).split(name);
            let mut one = AtWork::new(preset.build(), seed);
            one.work(200 + seed.split("moment").get() as u32 % 1500);
            let written = postcard::to_allocvec(&one.drive).unwrap();
            let drive: Device = postcard::from_bytes(&written).unwrap();
            assert!(drive.spec() == preset.spec, "{name}");
            assert!(written == postcard::to_allocvec(&drive).unwrap(), "{name}: what was read is written the same");
            let other = AtWork { drive, numbers: one.numbers.clone(), ..one };
            let (one, other) = (one.go_on(), other.go_on());
            assert!(one == other, "{name}, {seed:?}: {:?} and {:?}", one.1, other.1);
        }
    }
}

#[test]
fn a_fresh_drive_takes_little_room_however_large_it_is() {
    let drive = Preset::find("x25-m").unwrap().build();
    let written = postcard::to_allocvec(&drive).unwrap();
    assert!(written.len() < 4 << 20, "{} bytes", written.len());
}
