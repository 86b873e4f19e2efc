//! The pages of a word line and cells of one bit, in a whole drive: by count, by the clock and by property.

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use block::{Bytes, Lba, Nanos};
use proptest::prelude::*;

use crate::support::exact::{
    self, BLOCK, FLASH_PAGE, SENSE, by_page, carried, durable, fill, fresh, lone, pages, read,
};

/// Two to four shares whose mean is 100 %.
fn shares() -> impl Strategy<Value = Vec<u64>> {
    (2..=4_usize, prop::collection::vec(1..30_u64, 3)).prop_map(|(count, steps)| {
        let mut percent = vec![100; count];
        for (page, step) in steps.into_iter().take(count - 1).enumerate() {
            percent[page] -= step;
            percent[count - 1] += step;
        }
        percent
    })
}

/// What a page that was written in order takes to sense: flash pages go to the dies in turn, and the array reads of a block go
/// through the types.
fn sensing(drive: &FlashDrive, page: u64) -> Nanos {
    let (nand, dies) = (&drive.spec().nand, u64::from(drive.spec().geometry.dies()));
    let sense = page / FLASH_PAGE / dies * (FLASH_PAGE / SENSE) + page % FLASH_PAGE / SENSE;
    nand.pages.read[(sense % (BLOCK / SENSE) % u64::from(nand.pages.count)) as usize].of(nand.read)
}

#[test]
fn a_third_of_the_pages_is_of_each_type_and_takes_its_time() {
    let mut drive = by_page(&[75, 95, 130], &[100; 3], "");
    fill(&mut drive);
    let rest = exact::beside_sensing(drive.spec());
    let mut counts = [0; 3];
    for page in 0..BLOCK {
        let took = lone(&mut drive, read(page)) - rest;
        let page_type =
            [45_000, 57_000, 78_000].iter().position(|&type_takes| took.as_nanos().abs_diff(type_takes) < 2);
        counts[page_type.unwrap_or_else(|| panic!("page {page} was sensed in {took}"))] += 1;
    }
    assert_eq!(counts, [BLOCK / 3; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the types, in flash of any number of dies: each page takes what its place in the order of programs says.
    #[test]
    fn each_page_takes_what_its_place_in_the_block_says(percent in shares(), dies in 1..4_u32, seed in any::<u64>()) {
        let mut drive = by_page(&percent, &vec![100; percent.len()], &format!("dies_per_channel={dies}"));
        fill(&mut drive);
        let rest = exact::beside_sensing(drive.spec());
        let mut random = testkit::Random::new(seed);
        for _ in 0..60 {
            let page = random.below(pages(&drive));
            prop_assert_eq!(lone(&mut drive, read(page)), rest + sensing(&drive, page), "page {} of {:?}", page, percent);
        }
    }

    /// Where pages are programmed one by one, they are in the order of their types, block after block; or in shadow order, where
    /// the first of a word line waits for nothing, and each other one until the next word line has the one before.
    #[test]
    fn pages_are_programmed_in_the_order_of_their_types(percent in shares(), shadow in any::<bool>()) {
        let order = if shadow { "shadow" } else { "word-lines" };
        let mut drive = by_page(&percent, &percent, &format!("geometry.program=16KiB&nand.page_order={order}"));
        let types = percent.len();
        let mut lines: Vec<(usize, usize)> = (0..24 / types).flat_map(|line| (0..types).map(move |of| (line, of))).collect();
        // Of those that may be programmed, that of the lowest type, which is on the latest word line, has waited for the shortest.
        if shadow {
            lines.sort_by_key(|&(line, page_type)| (line + page_type, page_type));
        }
        let spec = *drive.spec();
        let times: Vec<Nanos> = (0..60).map(|page| lone(&mut drive, durable(page * 7))).collect();
        let nand = &spec.nand;
        for (turn, took) in times.into_iter().enumerate() {
            // Of a block's 24, and so on with the next.
            let page_type = lines[turn % 24].1;
            let rest = took - nand.pages.program[page_type].of(nand.program);
            let alone = spec.command + exact::sent(&spec, 1) + carried(&spec, SENSE);
            prop_assert_eq!(rest, alone, "program {} of {:?}", turn, percent);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever number of array reads a block has, of which the last word line may have a part: the drive is written over and read.
    #[test]
    fn in_shadow_order_blocks_of_any_length_are_written_moved_and_read(
        percent in shares(), senses in 13..60_u64, seed in any::<u64>(),
    ) {
        let shares = percent.iter().map(|share| format!("{share}%")).collect::<Vec<_>>().join(", ");
        let changes = format!(
            "nand.read_by_page=[{shares}]&nand.program_by_page=[{shares}]&geometry.program=16KiB&nand.page_order=shadow\
             &pages_per_block={}",
            senses * 4
        );
        let mut drive = fresh(&changes, VARIED);
        fill(&mut drive);
        let mut random = testkit::Random::new(seed);
        for _ in 0..3_000 {
            let page = random.below(pages(&drive));
            lone(&mut drive, [read(page), durable(page)][random.below(2) as usize]);
        }
        prop_assert!(drive.counters().pages_moved > 0);
    }
}

/// Word lines that differ, and errors that make some reads take longer.
const VARIED: &str = r#"
[variation]
source = "test"
word_lines = "10%"

[errors]
source = "test"
fresh = "0.3%"
correctable = "0.5%"
spread = "100%"
noise = "50%"
steps = 10
gain = "150%"
step = "15 us"
soft = "600 us"
soft_gain = "200%"
refresh = 3
"#;

const ONE_BIT: &str = r#"
[slc]
source = "test"
bits = 3
fixed = "1536 KiB"
dynamic = "0 B"
read = "20 us"
program = "150 us"
"#;

/// Flash pages of a block of one bit: a third of 96 pages, and so three of twelve.
const SINGLE: u64 = (BLOCK / 3).div_ceil(FLASH_PAGE);

#[test]
fn one_bit_blocks_are_programmed_and_read_in_their_own_time_until_they_run_out() {
    let mut drive = fresh("", ONE_BIT);
    let spec = *drive.spec();
    let rest = spec.command + exact::sent(&spec, 1) + carried(&spec, FLASH_PAGE);
    let times: Vec<Nanos> = (0..100).map(|page| lone(&mut drive, durable(page)) - rest).collect();
    let single = times.iter().filter(|&&time| time == spec.nand.single.program).count();
    let native = times.iter().filter(|&&time| time == spec.nand.program).count();
    let blocks = spec.slc.expect("it has one-bit blocks").fixed as usize;
    assert_eq!((single, native), (blocks * SINGLE as usize, 100 - single));
    assert!(times[..single].iter().all(|&time| time == spec.nand.single.program), "first of all");
    let rest = exact::beside_sensing(&spec);
    assert_eq!(lone(&mut drive, read(0)), rest + spec.nand.single.read);
    assert_eq!(lone(&mut drive, read(99)), rest + spec.nand.read);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever share of a drive is of one bit and is filled: a page takes the time of the cells that it was written to.
    #[test]
    fn a_page_takes_the_time_of_its_cells(fixed in 1..12_u64, filled in 1..200_u64, seed in any::<u64>()) {
        let mut drive = fresh("", &ONE_BIT.replace("1536", &(fixed * 128).to_string()));
        let spec = *drive.spec();
        let (rest, end) = (exact::beside_sensing(&spec), filled * FLASH_PAGE);
        drive.fill_untimed(Lba::new(0), Lba::new(end * 8), Bytes::from_kib(48), 100);
        let single = u64::from(spec.slc.expect("it has one-bit blocks").fixed) * SINGLE * FLASH_PAGE;
        let mut random = testkit::Random::new(seed);
        for _ in 0..40 {
            let page = random.below(end);
            let cells = if page < single { spec.nand.single.read } else { spec.nand.read };
            prop_assert_eq!(lone(&mut drive, read(page)), rest + cells, "page {} of {}, {} of one bit", page, end, single);
        }
        prop_assert_eq!(drive.counters().pages_moved, 0);
    }
}
