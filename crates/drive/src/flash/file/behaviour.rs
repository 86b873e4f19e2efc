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
    #[serde(default)]
    dies: units::Share,
    #[serde(default)]
    blocks: units::Share,
    #[serde(default)]
    word_lines: units::Share,
    #[serde(default)]
    programs: units::Share,
    #[serde(default)]
    erases: units::Share,
    #[serde(default)]
    reads: units::Share,
});

table!(pub(super) ErrorsTable {
    fresh: units::Share,
    correctable: units::Share,
    worn: Option<units::Share>,
    #[serde(default = "rated_erases")]
    worn_erases: u32,
    retained: Option<units::Share>,
    retained_for: Option<units::Duration>,
    disturbed: Option<units::Share>,
    #[serde(default = "disturbing_reads")]
    disturbed_reads: u32,
    #[serde(default)]
    by_page: units::Shares,
    #[serde(default)]
    spread: units::Share,
    #[serde(default)]
    noise: units::Share,
    #[serde(default)]
    decode: units::Duration,
    steps: u32,
    gain: units::Share,
    #[serde(default)]
    step: units::Duration,
    soft: units::Duration,
    soft_gain: units::Share,
    refresh: Option<u32>,
});

table!(pub(super) SuspendTable {
    program_step: units::Duration,
    #[serde(default)]
    exponential: bool,
    erase_step: units::Duration,
    #[serde(default)]
    latency: units::Duration,
    #[serde(default)]
    resume: units::Duration,
    limit: u32,
});

table!(pub(crate) TaskTable {
    written: Option<units::Bytes>,
    every: Option<units::Duration>,
    length: units::Duration,
    #[serde(default)]
    length_deviation: units::Share,
    #[serde(default)]
    length_per_mib: units::Duration,
    length_from: Option<units::Bytes>,
    length_max: Option<units::Duration>,
    #[serde(default)]
    holds_reads: bool,
    reads_held: Option<units::Share>,
    beside: Option<units::Duration>,
    after_idle: Option<units::Duration>,
    catch_up: Option<units::Share>,
});

table!(pub(super) PatrolTable {
    every: Option<units::Duration>,
    over: Option<units::Duration>,
});

/// Erases after which `errors.worn` holds, where the file does not say.
fn rated_erases() -> u32 {
    3_000
}

/// Reads after which `errors.disturbed` holds, where the file does not say.
fn disturbing_reads() -> u32 {
    1_000_000
}

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
    pub(crate) fn spec(&self) -> Result<TaskSpec, PresetError> {
        let Self { written, every, length, length_deviation: ppm, length_per_mib, holds_reads, reads_held, .. } = *self;
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
        Ok(TaskSpec {
            written,
            every,
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
