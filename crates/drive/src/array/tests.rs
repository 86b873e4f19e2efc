//! Where data is, what members are asked to do for it, and in which order.

use std::collections::{BTreeMap, BTreeSet};
use testkit::Random;

use block::{Bytes, Lba, Nanos, Op, Request, Tag};

use super::{Array, ArrayLayout, ControllerSpec, Level, MemberStep};
use crate::preset::Preset;
use crate::{Device, Drive};

const CHUNK: u64 = 4;

/// `rows` rows of chunks of four sectors.
fn layout(level: Level, members: u32, rows: u64) -> ArrayLayout {
    ArrayLayout::new(level, members, Bytes::from_sectors(CHUNK), Bytes::from_sectors(rows * CHUNK))
}

fn request(op: Op, lba: u64, sectors: u64) -> Request {
    Request::new(op, Lba::new(lba), sectors as u32)
}

fn first(layout: &ArrayLayout, request: Request) -> Vec<MemberStep> {
    let mut steps = Vec::new();
    layout.first(&request, &mut steps);
    steps
}

fn second(layout: &ArrayLayout, request: Request) -> Vec<MemberStep> {
    let mut steps = Vec::new();
    layout.second(&request, &mut steps);
    steps
}

/// The places of single sectors that steps touch.
fn places(steps: &[MemberStep], op: Op) -> BTreeSet<(u32, u64)> {
    let of = |step: &MemberStep| {
        let (member, lba) = (step.member, step.lba.get());
        (0..u64::from(step.sectors)).map(move |sector| (member, lba + sector))
    };
    let all: Vec<_> = steps.iter().filter(|step| step.op == op).flat_map(of).collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    assert_eq!(all.len(), distinct.len(), "no sector is touched twice: {steps:?}");
    distinct
}

const EVERY: [(Level, u32, u64); 9] = [
    (Level::None, 1, 1),
    (Level::Raid0, 1, 1),
    (Level::Raid0, 5, 5),
    (Level::Raid1, 2, 1),
    (Level::Raid1, 3, 1),
    (Level::Raid5, 3, 2),
    (Level::Raid5, 8, 7),
    (Level::Raid10, 2, 1),
    (Level::Raid10, 6, 3),
];

#[test]
fn every_sector_has_a_place_of_its_own_and_no_member_has_sectors_without_use() {
    for (level, members, data) in EVERY {
        let layout = layout(level, members, 10);
        let sectors = layout.capacity().sectors();
        assert_eq!(sectors, data * 10 * CHUNK, "{level:?} of {members}");
        let mut seen = BTreeSet::new();
        for lba in 0..sectors {
            let steps = first(&layout, request(Op::Read, lba, 1));
            assert_eq!(steps.len(), 1);
            assert!(seen.insert((steps[0].member, steps[0].lba)), "{level:?}: sector {lba} shares its place");
            assert!(steps[0].lba.get() < 10 * CHUNK, "{level:?}: sector {lba} is beyond its member");
        }
    }
}

/// Source: the md(4) manual page, left-symmetric.
#[test]
fn parity_goes_around_and_data_follows_it() {
    let layout = layout(Level::Raid5, 5, 5);
    let member = |chunk: u64| first(&layout, request(Op::Read, chunk * CHUNK, 1))[0].member;
    let rows: Vec<[u32; 4]> = (0..5).map(|row| std::array::from_fn(|column| member(row * 4 + column as u64))).collect();
    assert_eq!(rows, [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4, 0, 1], [2, 3, 4, 0], [1, 2, 3, 4]]);
}

#[test]
fn a_request_touches_exactly_the_places_of_its_sectors() {
    let mut numbers = Random::new(1);
    for (level, members, _) in EVERY {
        let layout = layout(level, members, 10);
        for _ in 0..500 {
            let lba = numbers.below(layout.capacity().sectors());
            let sectors = 1 + numbers.below(layout.capacity().sectors() - lba);
            let whole = places(&first(&layout, request(Op::Read, lba, sectors)), Op::Read);
            let each =
                (lba..lba + sectors).flat_map(|lba| places(&first(&layout, request(Op::Read, lba, 1)), Op::Read));
            assert_eq!(whole, each.collect(), "{level:?} of {members}: {sectors} sectors at {lba}");
        }
    }
}

#[test]
fn mirrors_are_written_and_trimmed_alike() {
    for (level, members, copies) in [(Level::Raid1, 3, 3), (Level::Raid10, 4, 2)] {
        let layout = layout(level, members, 10);
        for op in [Op::Write, Op::Trim] {
            let steps = first(&layout, request(op, 2, 1));
            assert_eq!(steps.iter().map(|step| step.member).collect::<Vec<_>>(), (0..copies).collect::<Vec<_>>());
            assert!(steps.iter().all(|step| (step.op, step.lba.get(), step.sectors) == (op, 2, 1)));
        }
    }
}

#[test]
fn a_partial_stripe_is_read_as_little_as_can_be_and_a_full_one_not_at_all() {
    //  members, sectors, reads first, then writes; chunks of four sectors, from sector 0.
    let table = [
        (5, 1, 2, 2), // old data and parity
        (5, 4, 2, 2),
        (5, 8, 2, 3),  // two chunks change: the two that stay, rather than three
        (5, 12, 1, 4), // three change: the one that stays
        (3, 1, 1, 2),  // the one that stays, rather than two
        (9, 12, 4, 4), // three of eight change: they and the parity
    ];
    for (members, sectors, reads, writes) in table {
        let layout = layout(Level::Raid5, members, 10);
        let write = request(Op::Write, 0, sectors);
        let (before, after) = (first(&layout, write), second(&layout, write));
        assert!(before.iter().all(|step| step.op == Op::Read) && after.iter().all(|step| step.op == Op::Write));
        assert_eq!((before.len(), after.len()), (reads, writes), "{sectors} sectors on {members} members");
    }
    let layout = layout(Level::Raid5, 5, 10);
    let full = request(Op::Write, 16, 32);
    assert_eq!(places(&first(&layout, full), Op::Write).len(), 40, "two rows with their parity");
    assert_eq!((first(&layout, full).len(), second(&layout, full).len()), (10, 0), "at once");
}

/// Whatever is written: all of it and the parity over it, once, after reads that suffice for the parity.
#[test]
fn parity_is_always_right() {
    let mut numbers = Random::new(2);
    for members in [3, 4, 5, 8] {
        let layout = layout(Level::Raid5, members, 10);
        for _ in 0..1_000 {
            let lba = numbers.below(layout.capacity().sectors());
            let sectors = 1 + numbers.below((layout.capacity().sectors() - lba).min(5 * u64::from(members)));
            let write = request(Op::Write, lba, sectors);
            let mut steps = first(&layout, write);
            steps.extend(second(&layout, write));
            let data = places(&first(&layout, request(Op::Read, lba, sectors)), Op::Read);
            let (read, written) = (places(&steps, Op::Read), places(&steps, Op::Write));
            let mut columns: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            data.iter().for_each(|(member, lba)| _ = columns.entry(*lba).or_default().insert(*member));
            let mut expected = data.clone();
            for (lba, changed) in columns {
                let parity = members - 1 - (lba / CHUNK % u64::from(members)) as u32;
                expected.insert((parity, lba));
                let has = |member: u32| read.contains(&(member, lba));
                let modified = has(parity) && changed.iter().all(|member| has(*member));
                let stays = (0..members).filter(|member| *member != parity && !changed.contains(member));
                let rebuilt = stays.clone().all(has);
                assert!(modified || rebuilt, "the parity of {write:?} at {lba} cannot be known from {read:?}");
            }
            assert_eq!(written, expected, "{write:?} on {members}");
        }
    }
}

#[test]
fn with_parity_only_whole_rows_are_trimmed() {
    let layout = layout(Level::Raid5, 5, 10);
    assert_eq!(first(&layout, request(Op::Trim, 1, 30)), []);
    let steps = first(&layout, request(Op::Trim, 1, 47));
    assert_eq!(steps.len(), 5);
    assert!(steps.iter().all(|step| (step.lba.get(), step.sectors) == (4, 8)), "the second and third row: {steps:?}");
}

/// Small drives whose answers are easy to reckon: unwritten pages are read without flash.
fn drives(count: u32) -> Vec<Device> {
    let preset = Preset::find("x25-m?capacity.user=64MiB&spare=100%").unwrap();
    (0..count).map(|_| preset.build()).collect()
}

fn array(level: Level, members: u32) -> Array {
    let drives = drives(members);
    let capacity = drives[0].shape().capacity;
    let layout = ArrayLayout::new(level, members, Bytes::from_kib(64), capacity);
    Array::new(layout, drives, ControllerSpec::default(), block::Seed::new(1))
}

fn requests(array: &Array) -> Vec<[u64; 4]> {
    array.members().iter().map(|member| member.counters().requests).collect()
}

fn one(drive: &mut impl Drive, request: Request) -> Nanos {
    let began = drive.now();
    drive.submit(began, Tag(0), request);
    drive.complete(Nanos::MAX).expect("one is in flight").at.since(began)
}

#[test]
fn a_read_goes_to_the_mirror_with_the_fewest_in_flight_then_to_the_first() {
    let mut array = array(Level::Raid1, 3);
    for tag in 0..4 {
        array.submit(Nanos::ZERO, Tag(tag), request(Op::Read, 0, 8));
    }
    assert_eq!(requests(&array).iter().map(|[reads, ..]| *reads).collect::<Vec<_>>(), [2, 1, 1]);
    let first = array.complete(Nanos::MAX).unwrap().at;
    array.submit(first, Tag(4), request(Op::Read, 0, 8));
    assert_eq!(array.members()[0].counters().requests[0], 2, "the first still has one, the others have none");
}

#[test]
fn a_request_is_done_with_the_last_of_its_members() {
    let mut alone = array(Level::None, 1);
    let lone = one(&mut alone, request(Op::Read, 0, 128));
    let mut striped = array(Level::Raid0, 4);
    assert_eq!(one(&mut striped, request(Op::Read, 0, 4 * 128)), lone, "four chunks on four drives side by side");
    assert_eq!(requests(&striped), [[1, 0, 0, 0]; 4]);
    let half = one(&mut alone, request(Op::Read, 0, 64));
    assert!(half < lone);
    assert_eq!(one(&mut striped, request(Op::Read, 64, 128)), half, "two halves of chunks");
}

#[test]
fn a_small_write_with_parity_reads_before_it_writes() {
    let mut alone = array(Level::None, 1);
    let (read, write) = (one(&mut alone, request(Op::Read, 0, 8)), one(&mut alone, request(Op::Write, 0, 8)));
    let mut array = array(Level::Raid5, 5);
    array.submit(Nanos::ZERO, Tag(0), request(Op::Write, 0, 8));
    assert_eq!(array.next_event(), Some(read), "the reads come first");
    assert_eq!(array.complete(read + write - Nanos::from_nanos(1)), None);
    assert_eq!(array.complete(Nanos::MAX).unwrap().at, read + write);
    assert_eq!(requests(&array), [[1, 1, 0, 0], [0; 4], [0; 4], [0; 4], [1, 1, 0, 0]], "data and parity");
    assert_eq!(array.counters().requests, [0, 1, 0, 0], "the host asked once");
    assert_eq!(array.counters().host_written, Bytes::from_kib(4));
}

#[test]
fn a_flush_goes_to_all_and_a_trim_of_nothing_whole_is_done_at_once() {
    let mut array = array(Level::Raid5, 3);
    one(&mut array, Request::FLUSH);
    assert_eq!(requests(&array), [[0, 0, 0, 1]; 3]);
    assert_eq!(one(&mut array, request(Op::Trim, 0, 8)), Nanos::ZERO);
    assert_eq!(requests(&array), [[0, 0, 0, 1]; 3], "the parity would no longer be right");
}

/// Each sector of the array is found again from where its data is, and no other.
#[test]
fn sectors_of_members_lead_back_to_those_of_the_array() {
    for (level, members) in
        [(Level::None, 1), (Level::Raid0, 3), (Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid10, 4)]
    {
        let layout = ArrayLayout::new(level, members, Bytes::from_sectors(8), Bytes::from_sectors(100));
        let sectors = layout.capacity().sectors();
        for sector in 0..sectors {
            let request = Request::new(Op::Read, Lba::new(sector), 1);
            let step = layout.pieces(&request).next().unwrap();
            let back: Vec<_> = layout.backwards(step.member, (step.lba, Lba::new(step.lba.get() + 1))).collect();
            assert_eq!(back, [(Lba::new(sector), Lba::new(sector + 1))], "{level:?}");
        }
        let all = (0..members).flat_map(|member| layout.backwards(member, (Lba::new(0), Lba::new(100))));
        let count: u64 = all.map(|(from, until)| until.get() - from.get()).sum();
        assert_eq!(count, sectors, "{level:?}: each once, whether members are alike or hold parity");
    }
}
