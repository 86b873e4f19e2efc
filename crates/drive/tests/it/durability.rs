//! What was promised to survive a loss of power does, on drives of any parameters, and no promise is given too early.

use assay_drive::flash::FlashDrive;
use assay_drive::{Device, Drive};
use block::{Lba, Nanos, Op, Request, Seed, Tag};
use proptest::prelude::*;
use testkit::Random;

use crate::power_cut_all::Written;
use crate::support::exact;

/// One of these.
fn one<T: Copy + std::fmt::Debug + 'static>(of: &'static [T]) -> impl Strategy<Value = T> {
    (0..of.len()).prop_map(|place| of[place])
}

const ONE_BIT: &str = r#"
[slc]
source = "test"
bits = 3
fixed = "KIB KiB"
dynamic = "0 B"
read = "20 us"
program = "150 us"
"#;

/// A flash drive without chance.
fn any_flash(capacitor: bool) -> impl Strategy<Value = (String, String)> {
    let form = (1..4_u32, 1..4_u32, one(&[(16, 48), (16, 96), (16, 16), (4, 4)]), one(&[8_u64, 64, 256]), 1..9_u64);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    (form, switches, 0..8_u64).prop_map(move |(form, (journal, retire, through), one_bit)| {
        let (channels, dies, (sense, program), partial, buffer) = form;
        let units = u64::from(channels * dies);
        let changes = format!(
            "channels={channels}&dies_per_channel={dies}&sense={sense}KiB&geometry.program={program}KiB&pages_per_block=96\
             &capacitor={capacitor}&flush_journal={journal}&buffer.partial={partial}KiB&buffer.size={}KiB&retire={}us\
             &write_through={through}&spare=150%&capacity.user={}MiB",
            partial + program * (buffer + units),
            if retire { 7 } else { 0 },
            8 * units
        );
        let table = ONE_BIT.replace("KIB", &(one_bit * 384 * units).to_string());
        (changes, if one_bit == 0 { String::new() } else { table })
    })
}

/// A request of a few pages near the beginning, whole or in part; `durable` of eight writes are.
fn any_request(random: &mut Random, durable: u64) -> Request {
    let first = random.below(160);
    match random.below(16) {
        0..2 => Request::FLUSH,
        2..4 => Request::new(Op::Read, Lba::new(first * 8), 8),
        _ => {
            let whole = random.below(3) > 0;
            let (lba, sectors) = if whole {
                (first * 8, 8 * (1 + random.below(20)))
            } else {
                (random.below(1_300), 1 + random.below(30))
            };
            Request { durable: random.below(8) < durable, ..Request::new(Op::Write, Lba::new(lba), sectors as u32) }
        }
    }
}

/// Writes, durable ones and flushes, `depth` at a time. Whatever a durable write or a flush promises is programmed by the time at which
/// the journal behind it began, and no durable write takes less than both.
fn acknowledges_no_sooner(drive: FlashDrive, seed: u64, depth: usize) {
    let spec = *drive.spec();
    let program = spec.slc.map_or(spec.nand.program, |_| spec.nand.single.program.min(spec.nand.program));
    let journal = if spec.flush_journal { spec.nand.single.program } else { Nanos::ZERO };
    let mut written = Written::of(Device::Flash(drive.clone()), Seed::new(seed));
    (written.span, written.depth, written.watched) = (1_300, depth, Some(journal));
    written.cut(250, Nanos::ZERO);
    let (mut drive, mut random) = (drive, Random::new(seed));
    let mut submitted = Vec::new();
    let mut durable = 0;
    for number in 0..=120_u32 {
        let is_last = number == 120;
        let at =
            if is_last { Nanos::MAX } else { drive.now() + Nanos::from_micros(random.below(2) * random.below(900)) };
        while let Some(done) = drive.complete(at) {
            let (came, request): (Nanos, Request) = submitted[done.tag.0 as usize];
            if request.op == Op::Write && (request.durable || spec.write_through) {
                assert!(done.at >= came + program + journal, "seed {seed}: a durable write in {}", done.at - came);
                durable += 1;
            }
        }
        if !is_last {
            let request = any_request(&mut random, 4);
            submitted.push((at, request));
            drive.submit(at, Tag(number), request);
        }
    }
    assert!(durable > 5, "{durable} durable writes");
}

/// Which sectors have been written since when, as far as the host was promised anything.
#[derive(Default)]
struct Promised {
    /// The pages that must be there, and those of which nothing was ever written.
    kept: std::collections::BTreeSet<u64>,
    written: std::collections::BTreeSet<u64>,
}

/// Writes, durable ones, flushes and losses of power, one at a time; then reads what is there.
fn keeps_what_it_promised(drive: &mut FlashDrive, seed: u64) {
    let mut random = Random::new(seed);
    let (mut promised, mut answered) = (Promised::default(), Vec::new());
    for _ in 0..6 {
        for _ in 0..1 + random.below(30) {
            let request = any_request(&mut random, 2);
            let pages = request.lba.get() / 8..request.end().get().div_ceil(8);
            exact::takes(drive, drive.now(), request);
            match request.op {
                Op::Write => {
                    promised.written.extend(pages.clone());
                    if request.durable { promised.kept.extend(pages) } else { answered.extend(pages) }
                }
                Op::Flush => promised.kept.extend(answered.drain(..)),
                _ => {}
            }
        }
        let cut = drive.now() + Nanos::from_micros(random.below(3) * random.below(4_000));
        drive.cut_power(cut);
        if drive.spec().power.capacitor || drive.spec().write_through {
            promised.kept.extend(answered.drain(..));
        }
        answered.clear();
        for page in 0..190 {
            let before = drive.counters().pages_read;
            exact::lone(drive, exact::read(page));
            let is_there = drive.counters().pages_read > before;
            assert!(is_there || !promised.kept.contains(&page), "seed {seed}: page {page} was promised and is gone");
            assert!(!is_there || promised.written.contains(&page), "seed {seed}: page {page} was never written");
        }
    }
}

/// A disk of any cache, with shingled tracks or two arms or neither.
fn any_disk() -> impl Strategy<Value = String> {
    let cache = (one(&[0_u64, 64, 256, 4_096]), 1..64_u32, one(&[1_u32, 4, 32]), 0..4_u32, 1..60_u64);
    let kind = one(&[
        "",
        "&actuators=2",
        "&shingled.band=1MiB&media_cache=2MiB&extents=70&clean_after=30ms&physical_sector=4KiB",
        "&order=elevator&report_together=3",
        "&order=seek&chosen_ahead=3&queuing=false",
        "&physical_sector=4KiB&write_retry=5%&settle=200us",
    ]);
    (cache, kind).prop_map(|((write, extents, choices, batch, after), kind)| {
        let batch = batch.min(extents);
        // A translation layer needs a write cache.
        let write = if kind.contains("shingled") { write.max(64) } else { write };
        format!(
            "st320lt020?cache.write={write}KiB&write_extents={extents}&destage_choices={choices}&destage_batch={batch}\
             &destage_after={after}ms{kind}"
        )
    })
}

/// A flash drive of any presets with random parts.
fn any_preset() -> impl Strategy<Value = String> {
    let flash = (one(&["x25-m", "ocz-core-64", "optane-p4800x", "980-1tb"]), 1..4_u32, any::<bool>());
    flash.prop_map(|(name, dies, other)| match name {
        "x25-m" => format!("x25-m?capacity.user=1GiB&dies_per_channel={dies}&capacitor={}", dies == 3),
        "ocz-core-64" => format!("ocz-core-64?flash.capacity=1GiB&pages_per_block={}&scheme={}", 2 << dies,
            if other { "bast" } else { "fast" }),
        "optane-p4800x" => format!("optane-p4800x?rewrites={dies}%&capacitor={other}"),
        _ => format!(
            "980-1tb?host=none&capacity.user=32GiB&pages_per_block=256&fixed={}GiB&dynamic=4GiB&cache=16KiB&lookup=8KiB&hmb=16KiB\
             &flush_journal={other}",
            dies
        ),
    })
}

/// Requests and losses of power on a drive that is watched.
fn survives(name: &str, seed: u64, span: u64) {
    let mut written = Written::new(name, Seed::new(seed));
    (written.span, written.watched) = (span, Some(Nanos::ZERO));
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let later = random.below(4) * random.below(20_000);
        written.cut(20 + random.below(120), Nanos::from_micros(later));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Neither a durable write nor a flush is answered before the pages that it promises can have been programmed, with the journal
    /// behind them, however many are in flight.
    #[test]
    fn nothing_is_promised_before_it_is_programmed(
        (changes, tables) in any_flash(false), seed in any::<u64>(), depth in 1..12_usize,
    ) {
        acknowledges_no_sooner(exact::fresh(&changes, &tables), seed, depth);
    }

    /// Pages of which something was promised are in flash after a loss of power, and no others than those that were written.
    #[test]
    fn flash_has_what_it_promised_after_a_loss_of_power(
        (changes, tables) in any::<bool>().prop_flat_map(any_flash), seed in any::<u64>(),
    ) {
        keeps_what_it_promised(&mut exact::fresh(&changes, &tables), seed);
    }

    #[test]
    fn a_disk_never_loses_what_it_promised(name in any_disk(), seed in any::<u64>(), span in one(&[300_u64, 3_000, 30_000])) {
        survives(&name, seed, span);
    }

    #[test]
    fn no_other_drive_loses_what_it_promised(name in any_preset(), seed in any::<u64>(), span in one(&[300_u64, 3_000, 30_000])) {
        survives(&name, seed, span);
    }
}
