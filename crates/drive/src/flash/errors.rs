//! Raw bit errors, and what it takes to read a page in spite of them.

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::geometry::Geometry;
use super::pages::{PAGE_TYPES_MAX, PageTypes, WordLine};
use super::variation::number;
use crate::divisor::Divisor;
use crate::draw::{Draws, NORMAL_MAX, normal};

/// How many raw bit errors flash has, and what its controller does about them.
///
/// The raw bit error rate of a page is `fresh`, times what erases, time and reads make of it, times what its place draws. As
/// long as it is no more than `correctable`, one read suffices. Each retry moves the read voltages and has `gain` as few
/// errors; after `steps` of them comes soft decoding, which corrects what is within another `soft_gain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorsSpec {
    /// Raw bit errors of a fresh block that was just programmed, the median page, in millionths of the bits.
    pub fresh: u32,
    /// What hard decoding corrects, in millionths of the bits.
    pub correctable: u32,
    /// How many times as many errors there are after so many erases.
    pub worn: Growth,
    /// How many times as many after so much time, in units of 2³⁰ ns; in between it grows as the logarithm of time.
    pub retained: Growth,
    /// How many times as many after so many reads of the block.
    pub disturbed: Growth,
    /// The binary logarithm of how many times as many the pages of each type have, in 2⁻¹⁶.
    pub by_page: [i32; PAGE_TYPES_MAX],
    /// The standard deviation of the binary logarithm between word lines, in 2⁻¹⁶.
    pub spread: u32,
    /// The same between one read of a page and the next.
    pub noise: u32,
    /// From the end of a read's transfer until its data is corrected; neither die nor channel are busy with it.
    pub decode: Nanos,
    /// How many retries there can be.
    pub steps: u32,
    /// The binary logarithm of the factor by which each lowers the errors, in 2⁻¹⁶.
    pub gain: u32,
    /// What a retry takes beside another array read and transfer: setting the voltages, decoding.
    pub step: Nanos,
    /// What soft decoding takes, its array reads included.
    pub soft: Nanos,
    /// The binary logarithm of the factor that it corrects beyond the last retry, in 2⁻¹⁶.
    pub soft_gain: u32,
    /// Retries from which on the block's data is moved; none if it never is.
    pub refresh: Option<u32>,
}

/// How something grows: `times` as much at `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// In 2⁻¹⁶.
    pub times: u32,
    pub full: u32,
}

/// What it takes to read a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadEffort {
    /// Array reads and transfers beyond the first.
    pub retries: u32,
    /// Whether soft decoding was needed, or even that did not help.
    pub soft: bool,
    pub uncorrectable: bool,
    /// Whether the block's data is to be moved.
    pub refresh: bool,
}

/// The state of the errors of a drive's flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Errors {
    rates: ErrorRates,
    blocks: Vec<BlockStress>,
    places: Seed,
    draws: Draws,
    pub counted: ErrorCounts,
}

/// What follows from what is specified.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "ErrorsSpec", into = "ErrorsSpec")]
struct ErrorRates {
    spec: ErrorsSpec,
    worn: GrowthLine,
    retained: GrowthLine,
    disturbed: GrowthLine,
    /// How far the median fresh page is from what can be corrected, as a binary logarithm in 2⁻¹⁶.
    margin: i64,
    /// The most that a block may have grown, in the same units, for no draw to take a retry.
    calm: i64,
    /// The same for no [common](is_common) draw.
    calm_to_common: i64,
    /// The most that so many bits of erases, of time and of reads make a block grow.
    most_by_bits: [[i64; BITS]; 3],
}

/// Numbers of 32 bits have none to all of them.
const BITS: usize = u32::BITS as usize + 1;

/// What happened, for the drive's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts {
    pub retries: u64,
    pub soft_decodes: u64,
    pub uncorrectable: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct BlockStress {
    erases: u32,
    /// When it was last programmed, in units of 2³⁰ ns.
    programmed: u32,
    /// Reads since it was erased.
    reads: u32,
}

impl BlockStress {
    /// How long its data has been there at `now`, in units of 2³⁰ ns.
    #[inline]
    fn retained(self, now: Nanos) -> u32 {
        age(now).saturating_sub(self.programmed)
    }
}

impl Errors {
    /// Fresh flash of this layout, made by `seed`.
    pub fn new(spec: ErrorsSpec, geometry: &Geometry, seed: Seed) -> Self {
        Self {
            rates: spec.into(),
            blocks: vec![BlockStress::default(); geometry.blocks() as usize],
            places: seed.split("places"),
            draws: Draws::new(seed.split("reads")),
            counted: ErrorCounts::default(),
        }
    }

    /// Has what reads draw from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }

    /// Notes that a page of `block` is programmed at `now`.
    #[inline(never)]
    pub fn programmed(&mut self, now: Nanos, block: u32) {
        self.blocks[block as usize].programmed = age(now);
    }

    /// Notes that `block` is erased.
    #[inline]
    pub fn erased(&mut self, block: u32) {
        let stress = &mut self.blocks[block as usize];
        *stress = BlockStress { erases: stress.erases + 1, programmed: 0, reads: 0 };
    }

    /// Notes that there is no data at `now`: what comes next is no older.
    pub fn blank(&mut self, now: Nanos) {
        for stress in &mut self.blocks {
            *stress = BlockStress { erases: stress.erases, programmed: age(now), reads: 0 };
        }
    }

    /// Reads a page of a word line; what that takes.
    #[inline]
    pub fn read(&mut self, now: Nanos, block: u32, line: WordLine) -> ReadEffort {
        let stress = &mut self.blocks[block as usize];
        stress.reads = stress.reads.saturating_add(1);
        let stress = *stress;
        let drawn = self.draw(block, line);
        if is_common(drawn) && self.rates.grown_at_most(now, stress) <= self.rates.calm_to_common {
            return ReadEffort::default();
        }
        self.effort(self.rates.grown(now, stress), drawn, line)
    }

    /// Makes so many array reads of a block whose pages are moved, up to this one; what their retries take in all, each of which takes
    /// `again`. What they cannot correct is counted.
    pub fn read_to_move(&mut self, now: Nanos, upto: (u32, u32), reads: u32, pages: &PageTypes, again: Nanos) -> Nanos {
        let (block, last) = upto;
        let grown = self.rates.grown(now, self.blocks[block as usize]);
        if grown <= self.rates.calm {
            return Nanos::ZERO;
        }
        let is_calm = grown <= self.rates.calm_to_common;
        let senses = (last + 1).saturating_sub(reads)..=last;
        senses.fold(Nanos::ZERO, |all, sense| {
            let line = pages.line(sense);
            let drawn = self.draw(block, line);
            if is_calm && is_common(drawn) {
                return all;
            }
            let effort = self.effort(grown, drawn, line);
            all + self.time(effort, again)
        })
    }

    /// What a page's place has drawn, and what a read of it draws.
    #[inline]
    fn draw(&mut self, block: u32, line: WordLine) -> [u32; 2] {
        [number(self.places, block, line.number), self.draws.draw()]
    }

    /// What it takes to read a page of a block that has grown so much.
    #[inline(never)]
    fn effort(&mut self, grown: i64, [place, noise]: [u32; 2], line: WordLine) -> ReadEffort {
        let ErrorRates { spec, margin, .. } = &self.rates;
        let place = (i64::from(normal(place)) * i64::from(spec.spread)) >> 16;
        let noise = (i64::from(normal(noise)) * i64::from(spec.noise)) >> 16;
        let beyond = grown + i64::from(spec.by_page[line.page_type as usize]) + place + noise - margin;
        if beyond <= 0 { ReadEffort::default() } else { self.recover(beyond) }
    }

    /// What it takes to read a page whose errors are so far beyond what one read corrects.
    #[cold]
    fn recover(&mut self, beyond: i64) -> ReadEffort {
        let spec = &self.rates.spec;
        let gain = i64::from(spec.gain).max(1);
        let wanted = u64::try_from((beyond + gain - 1) / gain).unwrap_or(0);
        let retries = wanted.min(u64::from(spec.steps)) as u32;
        let soft = wanted > u64::from(spec.steps);
        let uncorrectable = soft && beyond - gain * i64::from(spec.steps) > i64::from(spec.soft_gain);
        self.counted.retries += u64::from(retries);
        self.counted.soft_decodes += u64::from(soft);
        self.counted.uncorrectable += u64::from(uncorrectable);
        let refresh = spec.refresh.is_some_and(|from| retries >= from);
        ReadEffort { retries, soft, uncorrectable, refresh }
    }

    /// What the retries of a read take whose array read and transfer take so long.
    #[inline]
    pub fn time(&self, effort: ReadEffort, again: Nanos) -> Nanos {
        let ErrorsSpec { soft, step, .. } = self.rates.spec;
        let soft = if effort.soft { soft } else { Nanos::ZERO };
        (again + step).times(u64::from(effort.retries)) + soft
    }
}

/// No draw as small as this lies far out: see [`normal`].
const COMMON: u32 = 1 << 24;

/// Whether neither draw is among the 1 in 256 that lie farthest out: then a page of a block with little stress takes no retry,
/// whatever they are.
#[inline]
fn is_common([place, noise]: [u32; 2]) -> bool {
    place.min(noise) >= COMMON
}

impl ErrorRates {
    /// How many times as many errors a block has as a fresh one, as a binary logarithm in 2⁻¹⁶.
    #[inline]
    fn grown(&self, now: Nanos, stress: BlockStress) -> i64 {
        let retained = log2(1 + u64::from(stress.retained(now))) as u64;
        self.worn.at(stress.erases.into()) + self.retained.at(retained) + self.disturbed.at(stress.reads.into())
    }

    /// No less than that.
    #[inline]
    fn grown_at_most(&self, now: Nanos, stress: BlockStress) -> i64 {
        let [worn, retained, disturbed] = &self.most_by_bits;
        worn[bits(stress.erases)] + retained[bits(stress.retained(now))] + disturbed[bits(stress.reads)]
    }
}

impl From<ErrorsSpec> for ErrorRates {
    fn from(spec: ErrorsSpec) -> Self {
        let margin = log2(u64::from(spec.correctable)) - log2(u64::from(spec.fresh));
        let (worn, retained, disturbed) =
            (spec.worn.by_count(), spec.retained.by_logarithm(), spec.disturbed.by_count());
        let count = |bits: usize| (1_u64 << bits) - 1;
        let by_bits = |most: &dyn Fn(usize) -> i64| std::array::from_fn(|bits| most(bits) + SLACK);
        Self {
            most_by_bits: [
                by_bits(&|bits| worn.at(count(bits))),
                by_bits(&|bits| retained.at((bits as u64) << 16)),
                by_bits(&|bits| disturbed.at(count(bits))),
            ],
            calm: margin - spec.drawn_at_most(NORMAL_MAX),
            calm_to_common: margin - spec.drawn_at_most(normal(COMMON | 1)),
            spec,
            worn,
            retained,
            disturbed,
            margin,
        }
    }
}

impl From<ErrorRates> for ErrorsSpec {
    fn from(rates: ErrorRates) -> Self {
        rates.spec
    }
}

/// How many bits a number takes.
#[inline]
const fn bits(number: u32) -> usize {
    (u32::BITS - number.leading_zeros()) as usize
}

impl ErrorsSpec {
    /// The most that a page's type, its place and a read of it add to the binary logarithm of its errors, in 2⁻¹⁶, where neither
    /// draws more deviations than so many.
    fn drawn_at_most(&self, deviations: i32) -> i64 {
        let by_page = self.by_page.iter().copied().max().unwrap_or_default().max(0);
        let drawn = i64::from(deviations) * (i64::from(self.spread) + i64::from(self.noise));
        i64::from(by_page) + (drawn >> 16)
    }
}

impl Growth {
    /// No growth.
    pub const NONE: Self = Self { times: 1 << 16, full: 1 };

    /// In proportion to what is counted.
    fn by_count(self) -> GrowthLine {
        GrowthLine { beyond: self.beyond(), full: Divisor::from(u64::from(self.full)) }
    }

    /// In proportion to the logarithm of one more than what is counted.
    fn by_logarithm(self) -> GrowthLine {
        GrowthLine { beyond: self.beyond(), full: Divisor::from(log2(1 + u64::from(self.full)) as u64) }
    }

    fn beyond(self) -> u64 {
        u64::from(self.times.saturating_sub(1 << 16))
    }
}

/// A growth in proportion to a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct GrowthLine {
    /// How many times more at `full`, in 2⁻¹⁶.
    beyond: u64,
    full: Divisor,
}

impl GrowthLine {
    /// The binary logarithm of one and the growth at `number`, in 2⁻¹⁶.
    #[inline]
    fn at(self, number: u64) -> i64 {
        match self.beyond * number {
            0 => 0,
            product => log2((1 << 16) + self.full.divide(product)) - (16 << 16),
        }
    }
}

/// A time in units of 2³⁰ ns.
#[inline]
fn age(time: Nanos) -> u32 {
    u32::try_from(time.as_nanos() >> 30).unwrap_or(u32::MAX)
}

/// More than two logarithms are wrong by, in 2⁻¹⁶: an estimate of the most is not to be below what it is the most of.
const SLACK: i64 = 1 << 7;

/// The binary logarithm of a number that is not zero, in 2⁻¹⁶, within 0.0005: a parabola and its correction between powers
/// of two.
#[inline]
pub fn log2(number: u64) -> i64 {
    let whole = i64::from(number.ilog2());
    let part = ((number << number.leading_zeros() << 1) >> 48) as i64;
    let rest = (1 << 16) - part;
    let bow = (part * rest) >> 16;
    // x + x(1 − x)(0.4427 − 0.1640 x − 0.0834 x (1 − x)): with the logarithm's slopes at both ends and its middle.
    let factor = 29_013 - ((part * 10_748) >> 16) - ((bow * 5_466) >> 16);
    (whole << 16) + part + ((bow * factor) >> 16)
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    const GEOMETRY: Geometry = Geometry {
        channels: 1,
        dies_per_channel: 1,
        planes: 1,
        multi_plane: false,
        blocks_per_plane: 8,
        pages_per_block: 64,
        page: Bytes::from_kib(4),
        program_pages: 1,
        sense_pages: 1,
    };

    /// A factor's binary logarithm in 2⁻¹⁶.
    fn doubling(factor: f64) -> u32 {
        (factor.log2() * 65_536.0) as u32
    }

    fn times(times: u32, full: u32) -> Growth {
        Growth { times: times << 16, full }
    }

    /// A tenth of what can be corrected when fresh; ten times that after a thousand erases, a year or a million reads.
    const YEAR: u32 = 29_370;
    fn spec() -> ErrorsSpec {
        ErrorsSpec {
            fresh: 880,
            correctable: 8_800,
            worn: times(10, 1_000),
            retained: times(10, YEAR),
            disturbed: times(10, 1_000_000),
            by_page: [0; PAGE_TYPES_MAX],
            spread: 0,
            noise: 0,
            steps: 8,
            gain: doubling(1.5),
            step: Nanos::from_micros(20),
            soft: Nanos::from_micros(400),
            soft_gain: doubling(2.0),
            decode: Nanos::ZERO,
            refresh: Some(5),
        }
    }

    const LINE: WordLine = WordLine { number: 3, page_type: 0 };

    fn flash(spec: ErrorsSpec) -> Errors {
        Errors::new(spec, &GEOMETRY, Seed::new(1))
    }

    #[test]
    fn binary_logarithms_are_right_to_half_a_thousandth() {
        for number in (1..200_000).step_by(7).chain([1 << 40, u64::MAX]) {
            let found = log2(number) as f64 / 65_536.0;
            assert!((found - (number as f64).log2()).abs() < 5e-4, "{found} of {number}");
        }
    }

    #[test]
    fn fresh_pages_take_one_read_and_stress_adds_up_to_retries() {
        let mut errors = flash(spec());
        assert_eq!(errors.read(Nanos::ZERO, 0, LINE), ReadEffort::default());
        (0..1_000).for_each(|_| errors.erased(0));
        assert_eq!(errors.read(Nanos::ZERO, 0, LINE).retries, 0, "ten times as many is just what can be corrected");
        let years = |years: u64| Nanos::from_nanos((years * u64::from(YEAR)) << 30);
        assert_eq!(errors.read(years(1), 1, LINE).retries, 0);
        let both = errors.read(years(1), 0, LINE);
        // Ten times what can be corrected: 1.5⁶ is 11.4.
        assert_eq!((both.retries, both.soft, both.refresh), (6, false, true));
        assert_eq!(errors.time(both, Nanos::from_micros(80)), Nanos::from_micros(600));
        for _ in 0..1_000_000 {
            errors.read(years(1), 0, LINE);
        }
        let all = errors.read(years(1), 0, LINE);
        assert_eq!((all.retries, all.soft, all.uncorrectable), (8, true, true), "a hundred times");
        assert_eq!(errors.time(all, Nanos::from_micros(80)), Nanos::from_micros(8 * 100 + 400));
        assert!(errors.counted.uncorrectable >= 1 && errors.counted.retries > 6_000_000);
        errors.erased(0);
        errors.programmed(years(1), 0);
        assert_eq!(
            errors.read(years(1), 0, LINE).retries,
            1,
            "programmed again: what is left is the wear, a little more"
        );
    }

    #[test]
    fn page_types_and_places_differ_as_they_should() {
        let by_page = [0, doubling(10.0) as i32 + 64, doubling(15.0) as i32 + 64, 0];
        let mut typed = flash(ErrorsSpec { by_page, ..spec() });
        let mut of = |page_type| typed.read(Nanos::ZERO, 0, WordLine { page_type, ..LINE }).retries;
        assert_eq!([of(0), of(1), of(2)], [0, 1, 2]);
        // A deviation of one doubling: what is beyond log2(10) deviations takes a retry, 0.0446 %.
        let mut spread = flash(ErrorsSpec { spread: 1 << 16, disturbed: Growth::NONE, ..spec() });
        let count = |errors: &mut Errors, of: &dyn Fn(u32) -> u32| {
            let line = |number| WordLine { number: of(number), page_type: 0 };
            (0..1_000_000).filter(|&number| errors.read(Nanos::ZERO, 0, line(number)).retries > 0).count()
        };
        let found = count(&mut spread, &|number| number);
        assert!((400..=490).contains(&found), "{found} of a million");
        let same = count(&mut spread, &|_| 3);
        assert!(same == 0 || same == 1_000_000, "a word line keeps what it has: {same}");
        let mut noisy = flash(ErrorsSpec { noise: 1 << 16, disturbed: Growth::NONE, ..spec() });
        let found = count(&mut noisy, &|_| 3);
        assert!((400..=490).contains(&found), "{found} of a million");
    }

    #[test]
    fn pages_that_are_moved_take_their_retries_and_fresh_ones_draw_nothing() {
        let noisy = ErrorsSpec { fresh: 8, noise: 1 << 14, spread: 1 << 14, ..spec() };
        let mut errors = flash(noisy);
        let (again, last) = (Nanos::from_micros(80), (0, 11));
        let moved = |errors: &mut Errors, now, reads| errors.read_to_move(now, last, reads, &PageTypes::ALIKE, again);
        assert_eq!(moved(&mut errors, Nanos::ZERO, 8), Nanos::ZERO);
        let noise = |errors: &mut Errors| errors.draws.draw();
        assert_eq!(noise(&mut errors), noise(&mut flash(noisy)), "no noise was drawn for what is far from a retry");
        // As many reads of the host of the same pages, by another drive that draws the same.
        let year = Nanos::from_nanos(u64::from(YEAR) << 30);
        let mut by_move = flash(ErrorsSpec { fresh: 4_000, ..noisy });
        (0..2_000).for_each(|_| by_move.erased(0));
        let mut by_host = by_move.clone();
        let efforts = (4..=11).map(|number| by_host.read(year, 0, WordLine { number, page_type: 0 }));
        let efforts: Vec<ReadEffort> = efforts.collect();
        let wanted: Nanos = efforts.iter().map(|&effort| by_host.time(effort, again)).sum();
        assert_eq!(moved(&mut by_move, year, 8), wanted);
        assert!(by_move.counted.retries >= 8, "{:?}", by_move.counted);
        assert_eq!(by_move.counted, by_host.counted);
    }

    /// More stress of any kind never takes fewer retries.
    #[test]
    fn retries_only_grow_with_stress() {
        let mut random = testkit::Random::new(5);
        for _ in 0..2_000 {
            let mut errors = flash(spec());
            let (erases, age) = (random.below(5_000), random.below(2 * u64::from(YEAR)));
            let now = |age: u64| Nanos::from_nanos(age << 30);
            errors.blocks[0].erases = erases as u32;
            let before = errors.read(now(age), 0, LINE);
            errors.blocks[0].erases += random.below(500) as u32;
            let after = errors.read(now(age + random.below(1_000)), 0, LINE);
            assert!(after.retries >= before.retries && after.soft >= before.soft, "{before:?} then {after:?}");
        }
    }
}
