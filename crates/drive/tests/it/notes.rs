//! What the firmware's tasks write to flash: by count, by the clock and by property.

use assay_drive::Drive;
use block::{Bytes, Nanos};
use proptest::prelude::*;
use testkit::Random;

use crate::support::exact::{self, BLOCK, FLASH_PAGE, lone, pages, read, takes, write};

/// A task whose length is nothing, so that only what it writes is seen.
fn task(name: &str, when: &str, data: &str) -> String {
    format!("\n[{name}]\nsource = \"test\"\n{when}\nlength = \"0 us\"\ndata = \"{data}\"\n")
}

#[test]
fn a_journal_writes_its_pages_each_time_and_they_count_as_write_amplification() {
    let programmed = |tables: &str| {
        let mut drive = exact::fresh("", tables);
        (0..1_536).for_each(|page| {
            lone(&mut drive, write(page));
        });
        drive.counters()
    };
    let plain = programmed("");
    assert_eq!(plain.pages_programmed, 1_536);
    // Six mebibytes; 60 KiB are two flash pages.
    let journaled = programmed(&task("journal", "written = \"1 MiB\"", "60 KiB"));
    assert_eq!(journaled.pages_programmed, 1_536 + 6 * 2 * FLASH_PAGE);
    assert_eq!(journaled.pages_moved, 0);
    let amplification = journaled.write_amplification().unwrap();
    assert!((amplification - (1.0 + 144.0 / 1_536.0)).abs() < 1e-9, "{amplification}");
}

#[test]
fn a_read_waits_for_the_page_that_its_die_is_given() {
    let mut drive = exact::filled("", &task("log", "every = \"1 s\"", "1 KiB"));
    let spec = *drive.spec();
    let plain = exact::beside_sensing(&spec) + spec.nand.read;
    // In each of two seconds the first read meets the page, and the others do not.
    let begun = Nanos::from_secs(2);
    let mut waits = Vec::new();
    let logical = pages(&drive);
    for step in 0..2_000 {
        let took = takes(&mut drive, begun + Nanos::from_millis(step), read(step % logical));
        if took > plain {
            waits.push(took - plain);
        }
    }
    assert_eq!(waits.len(), 2, "{waits:?}");
    let programs = exact::carried(&spec, FLASH_PAGE) + spec.nand.program;
    assert!(waits.iter().all(|&wait| wait <= programs && wait + Nanos::from_millis(1) > programs), "{waits:?}");
}

/// What nobody was there to see is not made up for.
#[test]
fn after_a_long_rest_a_task_writes_once() {
    let mut drive = exact::filled("", &task("log", "every = \"1 s\"", "1 KiB"));
    let programmed = |drive: &mut assay_drive::flash::FlashDrive, secs| {
        takes(drive, Nanos::from_secs(secs), read(0));
        drive.counters().pages_programmed
    };
    let before = programmed(&mut drive, 2);
    assert_eq!(programmed(&mut drive, 3_600), before + FLASH_PAGE);
}

/// The notes have blocks of their own, which are erased when they are full.
#[test]
fn a_full_block_of_notes_is_erased_before_the_next_page() {
    let mut drive = exact::filled("", &task("log", "every = \"100 ms\"", "1 KiB"));
    let erased = |drive: &mut assay_drive::flash::FlashDrive, turns: u64, from: u64| {
        (from..from + turns).for_each(|turn| {
            takes(drive, Nanos::from_millis(100 * turn), read(0));
        });
        drive.counters().blocks_erased
    };
    let block = BLOCK / FLASH_PAGE;
    let first = erased(&mut drive, block, 1);
    assert_eq!(first, 0, "a block has room for {block}");
    assert_eq!(erased(&mut drive, 1, block + 1), 1);
    assert_eq!(erased(&mut drive, 3 * block, block + 2), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever a task writes, and whatever else the drive does: its pages come on top of those that the drive programs without it,
    /// where they change nothing about which blocks are emptied.
    #[test]
    fn pages_of_notes_come_on_top_of_all_others(
        each in 64..2_000_u64, data in 1..400_u64, dies in 1..5_u64, seed in any::<u64>(), depth in 1..3_u64,
    ) {
        let changes = format!("geometry.dies_per_channel={dies}");
        let did = |tables: &str| {
            let mut drive = exact::fresh(&changes, tables);
            let mut random = Random::new(seed);
            let logical = pages(&drive);
            for turn in 0..3_000 {
                let at = drive.now() + Nanos::from_millis(turn % depth);
                takes(&mut drive, at, write(random.below(logical)));
            }
            (drive.counters(), drive.digest())
        };
        let (plain, digest) = did("");
        let when = format!("written = \"{each} KiB\"");
        let (noted, same) = did(&task("checkpoint", &when, &format!("{data} KiB")));
        let tasks = Bytes::from_kib(3_000 * 4).get() / Bytes::from_kib(each).get();
        prop_assert_eq!(noted.pages_programmed - plain.pages_programmed, tasks * data.div_ceil(4 * FLASH_PAGE) * FLASH_PAGE);
        prop_assert_eq!((noted.pages_moved, same), (plain.pages_moved, digest));
    }
}
