//! Programs and erases that are suspended for the host's reads, in a whole drive: by count, by the clock and by property.

use assay_drive::flash::FlashDrive;
use assay_drive::{Counters, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag, ZoneAction};
use proptest::prelude::*;
use testkit::Random;

use crate::support::{self, exact};

const SUSPEND: &str = r#"
[suspend]
source = "test"
program_step = "100 us"
erase_step = "500 us"
latency = "20 us"
resume = "10 us"
limit = 3
"#;

/// A zone is a block.
const ZONES: &str = r#"
[zones]
source = "test"
size = "384 KiB"
max_open = 2
max_active = 2
"#;

fn us(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

/// An operation of a die that reads come in the way of, and another behind it.
#[derive(Clone, Copy, Debug)]
enum Busy {
    Program,
    Erase,
}

impl Busy {
    /// A filled drive of one die that does such things.
    fn drive(self, tables: &str) -> FlashDrive {
        match self {
            Self::Program => exact::filled("controller.cores=64", tables),
            Self::Erase => exact::filled("controller.cores=64&capacitor=true", &format!("{ZONES}{tables}")),
        }
    }

    /// What the host asks for it, the first or the second.
    fn request(self, number: u64) -> Request {
        match self {
            Self::Program => exact::durable(number),
            Self::Erase => Request::new(Op::Zone(ZoneAction::Reset), Lba::new(number * exact::BLOCK * 8), 0),
        }
    }

    fn length(self, drive: &FlashDrive) -> Nanos {
        match self {
            Self::Program => drive.spec().nand.program,
            Self::Erase => drive.spec().nand.erase,
        }
    }

    /// From the end of what the die did before until such a request is answered.
    fn behind(self, drive: &FlashDrive) -> Nanos {
        let spec = drive.spec();
        match self {
            Self::Program => exact::carried(spec, exact::FLASH_PAGE) + spec.nand.program,
            Self::Erase => spec.nand.erase + spec.link.command,
        }
    }

    fn suspensions(self, counted: &Counters) -> (u64, u64) {
        match self {
            Self::Program => (counted.program_suspensions, counted.erase_suspensions),
            Self::Erase => (counted.erase_suspensions, counted.program_suspensions),
        }
    }
}

/// What reads take that come so long after the operation has begun, by how much the one that comes with the last of them ends
/// later than the die's own work says, and how often the first was suspended.
fn beside(busy: Busy, tables: &str, reads: &[Nanos]) -> (Vec<Nanos>, Nanos, u64) {
    let mut drive = busy.drive(tables);
    let spec = *drive.spec();
    let alone = exact::lone(&mut drive.clone(), busy.request(0));
    let at = drive.now() + us(50_000);
    let ends = match busy {
        Busy::Program => at + alone,
        Busy::Erase => at + alone - spec.link.command,
    };
    let begins = ends - busy.length(&drive);
    drive.submit(at, Tag(100), busy.request(0));
    let asked: Vec<Nanos> = reads.iter().map(|&after| begins + after - spec.command).collect();
    for (tag, at) in (0..).zip(&asked) {
        // Of other blocks than those that are written or erased.
        drive.submit(*at, Tag(tag), exact::read(500 + 97 * u64::from(tag)));
    }
    drive.submit(asked[reads.len() - 1], Tag(101), busy.request(1));
    let (mut took, mut behind) = (vec![Nanos::ZERO; reads.len()], Nanos::ZERO);
    while let Some(done) = drive.complete(Nanos::MAX) {
        match done.tag.0 {
            100 => assert_eq!(done.at, at + alone, "it was answered for when it was begun"),
            101 => behind = done.at.since(ends + busy.behind(&drive)),
            tag => took[tag as usize] = done.at - asked[tag as usize],
        }
    }
    let (suspended, of_the_other) = busy.suspensions(&drive.counters());
    assert_eq!(of_the_other, 0);
    (took, behind, suspended)
}

/// What an array read and its transfer take.
fn own(busy: Busy) -> Nanos {
    let drive = busy.drive("");
    drive.spec().nand.read + exact::carried(drive.spec(), 1)
}

#[test]
fn a_read_waits_for_the_end_of_a_step_and_what_is_behind_for_all_of_it() {
    for (busy, step) in [(Busy::Program, 100), (Busy::Erase, 500)] {
        let drive = busy.drive("");
        let lone = exact::beside_sensing(drive.spec()) + drive.spec().nand.read;
        let (took, behind, suspended) = beside(busy, SUSPEND, &[us(step + 40)]);
        assert_eq!((took[0], suspended), (lone + us(step - 40 + 20), 1), "{busy:?}: the step and the latency");
        assert_eq!(behind, us(20) + own(busy) + us(10), "{busy:?}: the latency, the read and resuming");
        // Another finds it suspended.
        let (took, behind, suspended) = beside(busy, SUSPEND, &[us(step + 40), us(step + 60)]);
        assert_eq!((took[1], suspended), (lone + us(step - 60 + 20) + own(busy), 1), "{busy:?}");
        assert_eq!(behind, us(20) + own(busy).times(2) + us(10), "{busy:?}");
        // Without the table it waits for the end.
        let (took, behind, suspended) = beside(busy, "", &[us(step + 40)]);
        let rest = busy.length(&drive) - us(step + 40);
        assert_eq!((took[0], behind, suspended), (lone + rest, own(busy), 0), "{busy:?}");
    }
}

#[test]
fn an_operation_is_suspended_as_often_as_the_limit_allows() {
    for (busy, step, every) in [(Busy::Program, 100, 200), (Busy::Erase, 500, 900)] {
        for limit in [0, 1, 2, 3] {
            let table = SUSPEND.replace("limit = 3", &format!("limit = {limit}"));
            let reads: Vec<Nanos> = (0..5).map(|turn| us(30 + turn * every)).collect();
            let (took, behind, suspended) = beside(busy, &table, &reads);
            assert_eq!(suspended, limit, "{busy:?}");
            assert_eq!(behind, own(busy).times(5) + us(30).times(limit), "{busy:?}, up to {limit}");
            let longest = *took.iter().max().unwrap();
            assert!(longest > us(step + 200), "{busy:?}, up to {limit}: the rest waits for the end, {longest}");
        }
    }
}

fn busy() -> impl Strategy<Value = Busy> {
    prop_oneof![Just(Busy::Program), Just(Busy::Erase)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the table says and whenever reads come: what is behind is later by the reads and by what each suspension costs,
    /// there are no more of those than the limit, and no read is answered before it could be.
    #[test]
    fn no_time_is_lost_and_none_is_won(
        busy in busy(), steps in (10..400_u64, 10..2_000_u64), exponential in any::<bool>(), costs in (0..60_u64, 0..60_u64), limit in 0..5_u32,
        mut reads in prop::collection::vec(10..850_u64, 1..12),
    ) {
        reads.sort_unstable();
        let scale = if matches!(busy, Busy::Erase) { 4 } else { 1 };
        let reads: Vec<Nanos> = reads.into_iter().map(|after| us(after * scale)).collect();
        let table = format!(
            "\n[suspend]\nsource = \"test\"\nprogram_step = \"{} us\"\nerase_step = \"{} us\"\nexponential = {exponential}\n\
             latency = \"{} us\"\nresume = \"{} us\"\nlimit = {limit}\n", steps.0, steps.1, costs.0, costs.1
        );
        let (took, behind, suspended) = beside(busy, &table, &reads);
        prop_assert!(suspended <= u64::from(limit).min(reads.len() as u64));
        prop_assert_eq!(behind, own(busy).times(reads.len() as u64) + us(costs.0 + costs.1).times(suspended));
        let least = own(busy) + exact::beside_sensing(busy.drive("").spec()) - exact::carried(busy.drive("").spec(), 1);
        prop_assert!(took.iter().all(|&took| took >= least), "{took:?}, {least} at least");
    }
}

/// A drive of four dies with these changes that was overwritten at random.
fn collecting(changes: &str, tables: &str) -> FlashDrive {
    let small = format!("capacity.user=48MiB&capacity.spare=60%&channels=2&dies_per_channel=2&{changes}");
    let mut drive = exact::filled(&small, tables);
    drive.write_at_random(2 * exact::pages(&drive), Bytes::from_kib(4), Seed::new(1));
    drive
}

/// A flush ends at once where a capacitor keeps what was written, and the buffer goes to flash behind it: no read waits for more than the
/// program under way.
#[test]
fn reads_go_before_what_a_flush_leaves_in_the_buffer() {
    let mut drive = exact::filled("controller.cores=64&capacitor=true", SUSPEND);
    let (spec, lone) = (*drive.spec(), exact::lone(&mut drive, exact::read(0)));
    // 16 flash pages in order, for one die.
    for page in (0..16 * exact::FLASH_PAGE).step_by(exact::FLASH_PAGE as usize) {
        let at = drive.now();
        exact::takes(&mut drive, at, Request { sectors: exact::FLASH_PAGE as u32 * 8, ..exact::write(page) });
    }
    let at = drive.now();
    assert!(exact::takes(&mut drive, at, Request::FLUSH) < lone);
    let left = |drive: &FlashDrive| drive.counters().program_suspensions;
    let (began, mut took) = (drive.now(), vec![]);
    while drive.now() < began + spec.nand.program.times(10) {
        let at = drive.now() + us(70);
        took.push(exact::takes(&mut drive, at, exact::read(40 * exact::BLOCK)));
    }
    // All of it is being programmed still: a program is suspended three times, and its rest waited for then.
    assert!(left(&drive) > 3 * 5, "{}", left(&drive));
    let longest = took.iter().max().unwrap();
    assert!(*longest < lone + spec.nand.program + exact::carried(&spec, exact::FLASH_PAGE), "{longest}");
    let soon = took.iter().filter(|took| **took <= lone + us(100 + 20)).count();
    assert!(soon > took.len() / 2, "{soon} of {} wait for no more than a step", took.len());
}

/// What random writes and reads suspend on a drive that collects, and how long reads take.
fn under_load(tables: &str) -> (Counters, Vec<Nanos>) {
    let mut drive = collecting("controller.cores=4", tables);
    let (mut random, mut asked, mut took) = (Random::new(3), [Nanos::ZERO; 16], Vec::new());
    let before = drive.counters();
    let pages = exact::pages(&drive);
    for turn in 0..12_000_u32 {
        let tag = match turn {
            0..16 => Tag(turn),
            _ => {
                let done = drive.complete(Nanos::MAX).expect("16 are in flight");
                if done.tag.0.is_multiple_of(2) {
                    took.push(done.at - asked[done.tag.0 as usize]);
                }
                done.tag
            }
        };
        let page = random.below(pages);
        asked[tag.0 as usize] = drive.now();
        drive.submit(drive.now(), tag, if tag.0.is_multiple_of(2) { exact::read(page) } else { exact::write(page) });
    }
    took.sort_unstable();
    (drive.counters() - before, took)
}

#[test]
fn a_drive_that_collects_suspends_programs_and_erases_and_its_reads_wait_for_less() {
    let (plain, waiting) = under_load("");
    let (counted, quick) = under_load(SUSPEND);
    assert_eq!((plain.program_suspensions, plain.erase_suspensions), (0, 0));
    let (programs, erases) = (counted.pages_programmed / exact::FLASH_PAGE, counted.blocks_erased);
    assert!((programs / 10..=3 * programs).contains(&counted.program_suspensions), "{counted:?}");
    assert!((erases / 10..=3 * erases).contains(&counted.erase_suspensions), "{counted:?}");
    let of = |times: &[Nanos], percent: usize| times[times.len() * percent / 100];
    assert!(of(&quick, 95) < of(&waiting, 95), "{} with suspension, {} without", of(&quick, 95), of(&waiting, 95));
}

/// Whatever is asked: requests are completed once and in order, and each reading of the counters holds what the one before did.
#[test]
fn suspended_or_not_every_request_is_completed() {
    for seed in 0..4_u64 {
        let table = SUSPEND.replace("limit = 3", &format!("limit = {seed}\nexponential = {}", seed.is_multiple_of(2)));
        let mut drive = collecting("controller.cores=2", &table);
        let before = drive.counters();
        let any_request = |numbers: &mut Random, capacity: Bytes| {
            let op = [Op::Read, Op::Read, Op::Write, Op::Trim][numbers.place(4)];
            let sectors = 1 + numbers.below(60);
            Request::new(op, Lba::new(numbers.below(capacity.sectors() - sectors)), sectors as u32)
        };
        let (completed, counted) = support::story(&mut drive, any_request, |_| Nanos::ZERO, seed, 3_000, 24);
        let counted = counted - before;
        assert_eq!((completed.len(), counted.requests.iter().sum::<u64>()), (3_000, 3_000));
        assert_eq!(counted.program_suspensions + counted.erase_suspensions > 0, seed > 0, "{counted:?}");
        let before = drive.counters();
        support::story(&mut drive, any_request, |_| Nanos::ZERO, seed + 9, 500, 24);
        assert_eq!((drive.counters() - before) + before, drive.counters());
    }
}
