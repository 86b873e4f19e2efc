//! How specimens, dies, blocks and operations of flash differ, in a whole drive: by count, by the clock and by property.

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use block::{Bytes, Nanos, Op, Request, Seed};
use proptest::prelude::*;

use crate::support::{self, exact};
use exact::{FLASH_PAGE, carried, durable, lone, pages, read};

fn variation(fields: &str) -> String {
    format!("\n[variation]\nsource = \"test\"\n{fields}\n")
}

/// What so many durable writes program, one after the other, each a flash page.
fn programs(drive: &mut FlashDrive, count: u64) -> Vec<Nanos> {
    let spec = *drive.spec();
    let rest = spec.command + exact::sent(&spec, 1) + carried(&spec, FLASH_PAGE);
    (0..count).map(|page| lone(drive, durable(page)) - rest).collect()
}

#[test]
fn each_die_keeps_the_time_of_its_programs_and_another_specimen_has_its_own() {
    let four = "channels=2&dies_per_channel=2";
    let told = |number| programs(&mut exact::specimen(four, &variation("dies = \"10%\""), number), 80);
    let times = told(1);
    assert_eq!(times, told(1));
    assert!(times.chunks(4).all(|turn| turn == &times[..4]), "a time for each die: {times:?}");
    let mut dies = [&times[..4], &told(2)[..4]].concat();
    dies.sort_unstable();
    dies.dedup();
    assert_eq!(dies.len(), 8, "no two of eight dies are alike: {dies:?}");
    let mean = exact::fresh("", "").spec().nand.program.as_micros_f64();
    assert!(dies.iter().all(|time| (time.as_micros_f64() / mean - 1.0).abs() < 0.4), "{dies:?}");
}

/// A word line programs slowly in every block; a block's factor holds for all its word lines.
#[test]
fn word_lines_keep_their_time_in_every_block_and_blocks_theirs_on_every_word_line() {
    let rows = exact::BLOCK / FLASH_PAGE;
    let lines = programs(&mut exact::fresh("", &variation("word_lines = \"10%\"")), 4 * rows);
    assert!(lines.chunks(rows as usize).all(|block| block == &lines[..rows as usize]), "{lines:?}");
    let blocks = programs(&mut exact::fresh("", &variation("blocks = \"10%\"")), 4 * rows);
    for block in blocks.chunks(rows as usize) {
        assert!(block.iter().all(|time| time == &block[0]), "{blocks:?}");
    }
    let distinct = |mut times: Vec<Nanos>| {
        times.sort_unstable();
        times.dedup();
        times.len()
    };
    assert_eq!((distinct(lines), distinct(blocks)), (rows as usize, 4));
}

/// The mean and the relative deviation of times.
fn shape(times: &[Nanos]) -> (f64, f64) {
    let (count, all) = (times.len() as f64, times.iter().map(|time| time.as_micros_f64()));
    let mean = all.clone().sum::<f64>() / count;
    (mean, (all.map(|time| (time - mean).powi(2)).sum::<f64>() / count).sqrt() / mean)
}

#[test]
fn operations_take_their_mean_time_with_the_deviation_of_the_file() {
    let mut drive = exact::filled("", &variation("reads = \"10%\""));
    let (spec, mut random) = (*drive.spec(), testkit::Random::new(2));
    let rest = exact::beside_sensing(&spec);
    let all = pages(&drive);
    let times: Vec<Nanos> = (0..10_000).map(|_| lone(&mut drive, read(random.below(all))) - rest).collect();
    let ((mean, deviation), wanted) = (shape(&times), spec.nand.read.as_micros_f64());
    assert!((mean / wanted - 1.0).abs() < 0.004 && (deviation / 0.1 - 1.0).abs() < 0.04, "{mean} µs, {deviation}");
    let times = programs(&mut exact::fresh("capacity.user=96MiB", &variation("programs = \"10%\"")), 2_000);
    let ((mean, deviation), wanted) = (shape(&times), spec.nand.program.as_micros_f64());
    assert!((mean / wanted - 1.0).abs() < 0.01 && (deviation / 0.1 - 1.0).abs() < 0.08, "{mean} µs, {deviation}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever varies: nothing is decided by it, the same specimen does the same, another run of it draws other times for
    /// what is drawn from operation to operation alone, and times stay around their means.
    #[test]
    fn what_varies_are_times_and_nothing_else(
        percent in prop::collection::vec(0..20_u64, 6), number in 2..9_u32, seed in any::<u64>(),
    ) {
        let fields: Vec<String> = ["dies", "blocks", "word_lines", "programs", "erases", "reads"]
            .iter().zip(&percent).map(|(field, percent)| format!("{field} = \"{percent}%\"")).collect();
        let table = variation(&fields.join("\n"));
        let story = |number, draws: Option<u64>| {
            let mut drive = exact::specimen("capacity.user=12MiB&capacity.spare=90%&channels=2", &table, number);
            exact::fill(&mut drive);
            if let Some(draws) = draws {
                drive.draw_from(Seed::new(draws));
            }
            let any_request = |numbers: &mut testkit::Random, capacity: Bytes| {
                let op = [Op::Read, Op::Write][numbers.place(2)];
                Request::new(op, block::Lba::new(numbers.below(capacity.sectors() / 8) * 8), 8)
            };
            let (completed, counters) = support::story(&mut drive, any_request, |_| Nanos::ZERO, seed, 1_500, 1);
            let last = completed.last().expect("there are some").0;
            (completed, assay_drive::Counters { energy_nj: 0, ..counters }, drive.digest(), last)
        };
        let (one, again, other, drawn) = (story(1, None), story(1, None), story(number, None), story(1, Some(7)));
        prop_assert!(one == again, "the same specimen told two stories");
        prop_assert_eq!((one.1, one.2), (other.1, other.2));
        prop_assert_eq!((one.1, one.2), (drawn.1, drawn.2));
        let varies = percent[3..].iter().any(|percent| *percent > 0);
        let is_drawn = if percent[5] > 0 { one.0 != drawn.0 } else { varies || one.0 == drawn.0 };
        prop_assert!(is_drawn, "by {percent:?}");
        let ratio = one.3.as_secs_f64() / other.3.as_secs_f64();
        prop_assert!((0.67..1.5).contains(&ratio), "{} and {}", one.3, other.3);
    }
}
