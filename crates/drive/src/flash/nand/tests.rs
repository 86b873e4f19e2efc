use block::Bytes;

use super::super::operation::Moved;
use super::*;
use crate::draw::Factor;

const TIMES: NandTimes = NandTimes {
    read: Nanos::from_micros(50),
    program: Nanos::from_micros(900),
    erase: Nanos::from_millis(2),
    channel: Rate::from_bytes_per_second(40_960_000),
    single: CellTimes { read: Nanos::from_micros(25), program: Nanos::from_micros(200) },
    copy_back: false,
    cache_program: false,
    keeps_page: false,
    pages: PageTypes::ALIKE,
};
const START: Nanos = Nanos::ZERO;

fn nand(multi_plane: bool, copy_back: bool) -> Nand {
    nand_with(multi_plane, copy_back, NandBehaviour::default())
}

fn nand_with(multi_plane: bool, copy_back: bool, behaviour: NandBehaviour) -> Nand {
    let geometry = Geometry {
        channels: 2,
        dies_per_channel: 2,
        planes: 2,
        multi_plane,
        blocks_per_plane: 8,
        pages_per_block: 64,
        page: Bytes::from_kib(4),
        program_pages: 1,
        sense_pages: 1,
    };
    Nand::new(&geometry, NandTimes { copy_back, ..TIMES }, behaviour, true, Seed::new(1))
}

fn native(unit: u32) -> PageLocation {
    PageLocation { unit: Unit(unit), cells: Cells::Native, block: 8 * unit, sense: 0 }
}

fn moves(unit: u32, pages: u32) -> FlashOp {
    let moved = Moved { pages, reads: pages, programs: pages, from: (8 * unit, pages), to: (8 * unit + 1, pages) };
    FlashOp::Move(Unit(unit), moved)
}

fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us)
}

#[test]
fn a_lone_read_takes_array_and_transfer_and_half_a_page_half_the_transfer() {
    assert_eq!(nand(false, false).read(START, START, native(0), 8), micros(150));
    assert_eq!(nand(false, false).read(START, START, native(0), 4), micros(100));
}

#[test]
fn two_dies_of_a_channel_read_together_and_transfer_in_turn() {
    let mut nand = nand(false, false);
    assert_eq!(nand.read(START, START, native(0), 8), micros(150));
    assert_eq!(nand.read(START, START, native(2), 8), micros(250), "the other die of the same channel");
    assert_eq!(nand.read(START, START, native(1), 8), micros(150), "another channel");
    assert_eq!(nand.read(START, START, native(0), 8), micros(350), "the same die: read while the other transfers");
}

#[test]
fn a_die_under_collection_does_not_hold_up_its_neighbour() {
    let mut nand = nand(false, false);
    nand.book(START, START, &[moves(0, 10)]);
    assert_eq!(nand.read(START, START, native(2), 8), micros(350), "it waits for one page's transfer only");
}

/// Where nothing is suspended, too.
#[test]
fn reads_that_go_first_share_the_channel() {
    let mut nand = nand(false, false);
    assert_eq!(nand.read_first(START, START, native(0), 8), micros(150));
    assert_eq!(nand.read_first(START, START, native(2), 8), micros(250), "the other die of the same channel");
    assert_eq!(nand.read_first(START, START, native(1), 8), micros(150), "another channel");
    let last = (0..400).map(|read| nand.read_first(START, START, native(read % 4), 8)).max().unwrap();
    assert!(last >= micros(250 + 199 * 100), "200 pages through each channel, each of 100 us: {last}");
}

/// A page is there and back after 250 us, and programmed after 1,150.
#[test]
fn a_read_that_goes_first_waits_for_one_step_of_a_move_and_puts_off_the_others() {
    for (into, waits) in [(150, 100), (300, 850)] {
        let mut nand = nand(false, false);
        let moved = nand.book(START, START, &[moves(0, 10)]);
        assert_eq!(moved, micros(10 * 1150));
        let ready = micros(2 * 1150 + into);
        assert_eq!(nand.read_first(ready, ready, native(0), 8), ready + micros(waits + 150));
        assert_eq!(nand.book(START, START, &[FlashOp::Erase(Unit(0), 0)]), moved + micros(150 + 2000));
    }
}

/// Where nothing is suspended, whatever takes longer than a page moved and whatever takes less.
#[test]
fn a_read_that_goes_first_waits_for_all_of_an_erase_and_for_one_of_many_short_programs() {
    let mut erasing = nand(false, false);
    erasing.book(START, START, &[FlashOp::Erase(Unit(0), 0), moves(0, 1)]);
    assert_eq!(erasing.read_first(micros(100), micros(100), native(0), 8), micros(2000 + 150));
    let mut programming = nand(false, false);
    let short = FlashOp::Program(PageLocation { cells: Cells::Single, ..native(0) });
    programming.book(START, START, &[short; 20]);
    assert_eq!(programming.read_first(micros(50), micros(50), native(0), 8), micros(50 + 150), "before it begins");
    let ready = micros(20 * 300 - 250);
    assert!(programming.read_first(ready, ready, native(0), 8) <= ready + micros(200 + 150 + 100));
}

#[test]
fn reads_that_go_first_wait_for_each_other() {
    let mut nand = nand(false, false);
    let done: Vec<Nanos> = (0..30).map(|_| nand.read_first(START, START, native(0), 8)).collect();
    assert_eq!(done, (1..=30).map(|read| micros(read * 150)).collect::<Vec<_>>());
}

#[test]
fn moving_a_page_is_a_read_two_transfers_and_a_program() {
    let plan = [moves(0, 3), FlashOp::Erase(Unit(0), 0)];
    assert_eq!(nand(false, false).book(START, START, &plan), micros(3 * (50 + 200 + 900) + 2000));
    assert_eq!(nand(false, true).book(START, START, &plan), micros(3 * (50 + 900) + 2000), "inside the die");
}

/// Between the transfers of a page and those of the next, the other die has the channel.
#[test]
fn where_nothing_deviates_pages_that_vary_are_moved_as_those_that_do_not() {
    let varied = NandBehaviour { variation: Some(VariationSpec::default()), ..NandBehaviour::default() };
    let ends = [NandBehaviour::default(), varied].map(|behaviour| {
        let mut nand = nand_with(false, false, behaviour);
        let ends = [(0, 5), (2, 3), (0, 1), (2, 8)].map(|(unit, pages)| nand.book(START, START, &[moves(unit, pages)]));
        (ends, nand.read(START, START, native(0), 8))
    });
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn each_page_that_is_moved_is_programmed_as_its_type_and_place_say() {
    let half = Factor::from_units(1 << 15);
    let program = [half, Factor::from_units(3 << 15), Factor::ONE, Factor::ONE];
    let mut nand = nand(false, true);
    nand.times.pages = PageTypes { count: 2, program, ..PageTypes::ALIKE };
    // Up to an upper page, one more that is lower, and up to the same upper page again.
    let ends = [(4, 7, 2 * (450 + 1350)), (1, 8, 450), (3, 9, 1350 + 450 + 1350)];
    for (pages, last, programs) in ends {
        let moved = Moved { pages, reads: pages, programs: pages, from: (8, 63), to: (9, last) };
        let from = nand.free_at(Unit(1));
        let took = nand.book(START, START, &[FlashOp::Move(Unit(1), moved)]) - from;
        assert_eq!(took, micros(u64::from(pages) * 50 + programs), "up to page {last}");
    }
}

#[test]
fn planes_program_together_where_they_can() {
    let plan = [FlashOp::Program(native(0)), FlashOp::Program(native(1))];
    assert_eq!(nand(true, false).book(START, START, &plan), micros(100 + 100 + 900));
    let plan = [FlashOp::Program(native(0)), FlashOp::Program(native(4))];
    assert_eq!(
        nand(false, false).book(START, START, &plan),
        micros(2 * (100 + 900)),
        "the same die, one after the other"
    );
}

#[test]
fn cells_of_one_bit_are_quicker() {
    assert_eq!(
        nand(false, false).read(START, START, PageLocation { cells: Cells::Single, ..native(0) }, 8),
        micros(125)
    );
    let plan = [FlashOp::Program(PageLocation { cells: Cells::Single, ..native(0) })];
    assert_eq!(nand(false, false).book(START, START, &plan), micros(300));
}

#[test]
fn a_die_that_can_takes_the_next_page_while_it_programs() {
    let plan = [FlashOp::Program(native(0)); 3];
    assert_eq!(nand(false, false).book(START, START, &plan), micros(3 * (100 + 900)));
    let mut cached = nand(false, false);
    cached.times.cache_program = true;
    assert_eq!(cached.book(START, START, &plan), micros(100 + 3 * 900));
}

#[test]
fn a_die_that_keeps_what_it_read_reads_a_flash_page_once_until_it_does_something_else() {
    let mut nand = nand(false, false);
    nand.times.keeps_page = true;
    assert_eq!(nand.read(START, START, native(0), 8), micros(150));
    assert_eq!(nand.read(START, START, native(0), 8), micros(250), "another part of the same flash page");
    let other = PageLocation { sense: 9, ..native(0) };
    assert_eq!(nand.read(START, START, other, 8), micros(400));
    assert_eq!(nand.read(START, START, native(0), 8), micros(550), "the first has gone");
    nand.book(START, START, &[FlashOp::Erase(Unit(0), 0)]);
    assert_eq!(nand.read(START, START, native(0), 8), micros(550 + 2000 + 150));
}

#[test]
fn a_flash_page_of_four_is_programmed_once_and_read_once() {
    let mut nand = nand(false, false);
    (nand.program_pages, nand.fill) = (4, micros(400));
    assert_eq!(nand.book(START, START, &[FlashOp::Program(native(0))]), micros(400 + 900));
    let moved = FlashOp::Move(Unit(1), Moved { pages: 4, reads: 2, programs: 1, from: (8, 1), to: (9, 0) });
    assert_eq!(nand.book(START, START, &[moved]), micros(2 * (50 + 200) + 400 + 900));
    assert_eq!((nand.pages_read, nand.pages_programmed), (4, 8));
}
