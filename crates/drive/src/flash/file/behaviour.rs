//! The tables of a flash drive's file for how its flash differs, errs and is suspended, and what its firmware does for itself.

use block::{Bytes, Nanos};

use crate::flash::errors::log2;
use crate::flash::pacing::BEHIND;
use crate::flash::patrol::places;
use crate::flash::{
    ErrorsSpec, Geometry, Growth, NandTimes, PageTypes, PatrolSpec, SuspendSpec, TaskSpec, VariationSpec,
};
use crate::preset::units::{self, given, percent};
use crate::preset::{PresetError, require, table};

table!(pub(super) VariationTable {
    /// Relative standard deviation of program and erase times between dies
    dies: units::Share = default,
    /// The same between the blocks of a die
    blocks: units::Share = default,
    /// The same of program times between the word lines of a block: a word line's factor follows from its position
    /// and is the same in all blocks
    word_lines: units::Share = default,
    /// The same between one program of a word line and the next
    programs: units::Share = default,
    /// The same between one erase of a block and the next
    erases: units::Share = default,
    /// The same between one array read and the next
    reads: units::Share = default,
});

table!(pub(super) ErrorsTable {
    /// Raw bit error rate of the median page just programmed in a new block: `"0.02%"`
    fresh: units::Share,
    /// Rate that hard decoding corrects: 72 bits of 1 KiB are `"0.88%"`
    correctable: units::Share,
    /// How many times as many errors after `worn_erases`, in proportion before: 100% (as many) to 100000%; 100% if
    /// left out
    worn: Option<units::Share>,
    /// Erases after which `worn` holds
    worn_erases: u32 = 3_000,
    /// How many times as many errors after `retained_for`, growing as the logarithm of time; 100% if left out
    retained: Option<units::Share>,
    /// Time after which `retained` holds; a year if left out
    retained_for: Option<units::Duration>,
    /// How many times as many errors after `disturbed_reads`, in proportion; 100% if left out
    disturbed: Option<units::Share>,
    /// Reads of the block since its erase after which `disturbed` holds
    disturbed_reads: u32 = 1_000_000,
    /// Factors of the page types, as many as `nand.read_by_page`
    by_page: units::Shares = default,
    /// One standard deviation between word lines, as a factor less one
    spread: units::Share = default,
    /// One standard deviation between one read and the next, as a factor less one
    noise: units::Share = default,
    /// From the end of a read's transfer until its data is corrected; neither die nor channel are busy with it
    decode: units::Duration = default,
    /// Retries at most, up to 64
    steps: u32,
    /// How many times fewer errors each retry has, above 100%
    gain: units::Share,
    /// What a retry takes beside another array read and transfer
    step: units::Duration = default,
    /// What soft decoding takes, once the retries have not helped
    soft: units::Duration,
    /// How many times as many errors that corrects
    soft_gain: units::Share,
    /// Retries from which on the block's data is moved: a flash page with each such read of its unit, in idle time
    /// (`gc.idle_after`), and beside the host's writes, so that the block is empty when half of what the unit
    /// takes before it has to collect is written (a guess); never if left out
    refresh: Option<u32>,
});

table!(pub(super) SuspendTable {
    /// Length of a step of a program, at the end of which it can be suspended
    program_step: units::Duration,
    /// Whether steps are of exponentially distributed length, and those their means; if not, all alike
    exponential: bool = default,
    /// Length of a step of an erase
    erase_step: units::Duration,
    /// From the end of the step until the array can read
    latency: units::Duration = default,
    /// What a suspended operation takes beside to go on
    resume: units::Duration = default,
    /// Suspensions of one operation; after that reads wait for its end
    limit: u32,
});

table!(pub(crate) TaskTable {
    /// From one to the next: data that the host writes
    written: Option<units::Bytes>,
    /// From one to the next: time. Either this or `written`
    every: Option<units::Duration>,
    /// Data that it writes to flash, in whole flash pages with one bit a cell, each in another unit, and not twice while no command
    /// comes; at most 64 MiB
    data: units::Bytes = default,
    /// Mean length: so long it holds writes
    length: units::Duration,
    /// Relative standard deviation of that
    length_deviation: units::Share = default,
    /// How much longer it takes for each mebibyte that was written since the last one; of each write 4 KiB count
    /// at most, since it changes one place of the map. While writes are paced for more than a millisecond this
    /// part is done beside them and holds nothing up
    length_per_mib: units::Duration = default,
    /// So much of what was written makes it no longer; 0 if left out
    length_from: Option<units::Bytes>,
    /// It never takes longer than this; no limit if left out
    length_max: Option<units::Duration>,
    /// Whether reads wait as well
    holds_reads: bool = default,
    /// For which share of it reads wait; 100% if left out and `holds_reads` is true
    reads_held: Option<units::Share>,
    /// It is done beside commands and holds nothing if the last 64 writes or so waited for the pace of the flash
    /// (`gc.pacing`) for no longer than this in the mean, less than 1 ms, or for more than a millisecond, when the
    /// flash limits them and there is no `catch_up`. What a task itself held them for does not count. If left out,
    /// it always holds commands
    beside: Option<units::Duration>,
    /// It is done beside commands and holds nothing unless no command has come for this long when it begins. If
    /// left out, it always holds commands
    after_idle: Option<units::Duration>,
    /// While it holds writes, the flash goes on with what is in the buffer; what the drive has taken and would
    /// answer only behind its beginning is held, too. Behind it writes are taken at this share of the time from
    /// one page to the next, until they have caught up: what the flash sustains stays the same, however many are
    /// in flight. If left out, the time for which a drive near saturation is held is lost. Needs `gc.pacing`
    catch_up: Option<units::Share>,
});

table!(pub(super) PatrolTable {
    /// Time from one array read to the next. Patrol takes at most a quarter of the dies' time for array reads
    every: Option<units::Duration>,
    /// Time in which all flash is read once. Either this or `every`
    over: Option<units::Duration>,
});

/// What a task may write to flash each time.
const DATA_MAX: Bytes = Bytes::from_mib(64);

/// A deviation as it is kept.
pub(crate) fn deviation(name: &'static str, ppm: u64) -> Result<u32, PresetError> {
    require(ppm <= 1_000_000, || format!("{name} is {}", percent(ppm)), "a relative deviation is at most 100%")?;
    Ok(ppm as u32)
}

impl VariationTable {
    pub(super) fn spec(&self) -> Result<VariationSpec, PresetError> {
        Ok(VariationSpec {
            die: deviation("variation.dies", self.dies)?,
            block: deviation("variation.blocks", self.blocks)?,
            word_line: deviation("variation.word_lines", self.word_lines)?,
            program: deviation("variation.programs", self.programs)?,
            erase: deviation("variation.erases", self.erases)?,
            read: deviation("variation.reads", self.reads)?,
        })
    }
}

impl ErrorsTable {
    pub(super) fn spec(&self, pages: &PageTypes) -> Result<ErrorsSpec, PresetError> {
        let Self { fresh, correctable, by_page, steps, gain, soft_gain, spread, noise, .. } = self;
        require(
            *fresh >= 1 && fresh < correctable && *correctable < 500_000,
            || format!("errors.fresh is {} of the bits, errors.correctable {}", percent(*fresh), percent(*correctable)),
            "a page just programmed has fewer errors than can be corrected, at least 0.0001% and less than 50% of its \
             bits",
        )?;
        let growths = [self.worn, self.retained, self.disturbed].map(|share| share.unwrap_or(1_000_000));
        let names = ["worn", "retained", "disturbed", "gain", "soft_gain"];
        let mut all = names.into_iter().zip(growths.iter().chain([gain, soft_gain]));
        let wrong = all.find(|(_, share)| !(1_000_000..=1_000_000_000).contains(*share));
        require(
            wrong.is_none(),
            || wrong.map_or_else(String::new, |(name, share)| format!("errors.{name} is {}", percent(*share))),
            "it says how many times as many errors: 100% (as many) to 100000%",
        )?;
        require(
            *steps <= 64 && *gain > 1_000_000 && self.worn_erases > 0 && self.disturbed_reads > 0,
            || {
                format!(
                    "errors.steps is {steps}, errors.gain {}, worn_erases {}, disturbed_reads {}",
                    percent(*gain),
                    self.worn_erases,
                    self.disturbed_reads
                )
            },
            "there are up to 64 retries, each of which lowers the errors (gain above 100%), and counts are above zero",
        )?;
        require(
            by_page.is_empty() || by_page.len() == pages.count as usize && by_page.iter().all(|&share| share >= 10_000),
            || format!("errors.by_page has {} page types, nand.read_by_page {}", by_page.len(), pages.count),
            "as many as nand.read_by_page, each 1% or more",
        )?;
        // Binary logarithms in 2⁻¹⁶ of shares in millionths.
        let doublings = |share: u64| (log2(share) - log2(1_000_000)) as i32;
        let growth = |share: u64, full: u32| Growth { times: ((share << 16) / 1_000_000) as u32, full };
        let year = Nanos::from_secs(365 * 86_400);
        let retained_for = (self.retained_for.unwrap_or(year).as_nanos() >> 30).clamp(1, u64::from(u32::MAX)) as u32;
        Ok(ErrorsSpec {
            fresh: *fresh as u32,
            correctable: *correctable as u32,
            worn: growth(growths[0], self.worn_erases),
            retained: growth(growths[1], retained_for),
            disturbed: growth(growths[2], self.disturbed_reads),
            by_page: std::array::from_fn(|page| by_page.get(page).map_or(0, |&share| doublings(share))),
            spread: doublings(1_000_000 + spread) as u32,
            noise: doublings(1_000_000 + noise) as u32,
            steps: *steps,
            gain: doublings(*gain) as u32,
            step: self.step,
            soft: self.soft,
            soft_gain: doublings(*soft_gain) as u32,
            decode: self.decode,
            refresh: self.refresh,
        })
    }
}

impl SuspendTable {
    pub(super) const fn spec(&self) -> SuspendSpec {
        let Self { program_step, exponential, erase_step, latency, resume, limit, .. } = *self;
        SuspendSpec { program_step, exponential, erase_step, latency, resume, limit }
    }
}

impl PatrolTable {
    pub(super) fn spec(&self, geometry: &Geometry, nand: &NandTimes) -> Result<PatrolSpec, PresetError> {
        let Self { every, over, .. } = *self;
        require(
            every.is_some() ^ over.is_some(),
            || format!("patrol.every is {}, patrol.over {}", given(every), given(over)),
            "either the time from one patrol read to the next (every) or the time in which all flash is read (over)",
        )?;
        let over = over.map(|over| Nanos::from_nanos(over.as_nanos() / places(geometry)));
        let every = every.or(over).unwrap_or_default();
        let least = Nanos::from_nanos(nand.read.as_nanos() * 4 / u64::from(geometry.dies())).max(Nanos::from_nanos(1));
        require(
            every >= least,
            || format!("patrol reads flash every {every}"),
            "patrol reads leave three quarters of the dies' time to others: four times nand.read over the dies, or more",
        )?;
        Ok(PatrolSpec { every })
    }
}

impl TaskTable {
    /// What it says of a drive that writes a `flash_page` at once, where there is flash.
    pub(crate) fn spec(&self, flash_page: Option<Bytes>) -> Result<TaskSpec, PresetError> {
        let Self {
            written, every, data, length, length_deviation: ppm, length_per_mib, holds_reads, reads_held, ..
        } = *self;
        let Self { length_from, length_max, beside, after_idle, catch_up, .. } = *self;
        require(
            length_max.is_none_or(|most| most >= length) && (length_from.is_none() || length_per_mib > Nanos::ZERO),
            || {
                format!(
                    "a journal, checkpoint or log has a length of {length}, length_max {}, length_per_mib {length_per_mib}, \
                     length_from {}",
                    given(length_max),
                    given(length_from)
                )
            },
            "length_max is no less than length, and length_from is of a length_per_mib",
        )?;
        let period = every.unwrap_or(Nanos::MAX);
        require(
            (written.is_some_and(|each| each > Bytes::ZERO) ^ every.is_some()) && length < period,
            || {
                format!(
                    "a journal, checkpoint or log has written {}, every {}, and a length of {length}",
                    given(written),
                    given(every)
                )
            },
            "it comes again after so much data written or after so much time, one of the two, and is shorter than that time",
        )?;
        let share = reads_held.unwrap_or(if holds_reads { 1_000_000 } else { 0 });
        require(
            share <= 1_000_000 && (holds_reads || reads_held.is_none()),
            || format!("a journal, checkpoint or log has holds_reads = {holds_reads}, reads_held {}", percent(share)),
            "reads are held for at most 100%, where holds_reads says that they are",
        )?;
        require(
            beside.is_none_or(|most| most < BEHIND),
            || format!("a journal, checkpoint or log has beside {}", given(beside)),
            "writes that wait for the flash for 1 ms or more are limited by it: give less",
        )?;
        require(
            catch_up.is_none_or(|share| (10_000..=1_000_000).contains(&share)),
            || format!("a journal, checkpoint or log has catch_up {}", given(catch_up.map(percent))),
            "behind it writes are taken in 1% to 100% of the time from one page to the next",
        )?;
        require(
            data <= if flash_page.is_some() { DATA_MAX } else { Bytes::ZERO },
            || format!("a journal, checkpoint or log has data = {data}"),
            "it writes at most 64 MiB each time, and nothing where the media is no flash",
        )?;
        Ok(TaskSpec {
            written,
            every,
            pages: flash_page.map_or(0, |page| data.get().div_ceil(page.get()) as u32),
            length,
            length_per_mib,
            length_from: length_from.unwrap_or(Bytes::ZERO),
            length_max: length_max.unwrap_or(Nanos::MAX),
            deviation: deviation("length_deviation", ppm)?,
            reads_held: share as u32,
            beside,
            after_idle,
            catch_up: catch_up.map(|share| share as u32),
        })
    }
}
