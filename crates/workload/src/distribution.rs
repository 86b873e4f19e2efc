//! Where random requests fall.

use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

use block::parse_percent;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::ListError;
use crate::shares::{Deck, share, whole};

/// A number with six decimal places, so that it is kept and compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(u64);

impl Decimal {
    const ONE: u64 = 1_000_000;

    /// The nearest number of floating point.
    pub fn get(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }

    /// A whole number; none of more than 18 trillion.
    pub(crate) fn whole(number: u64) -> Option<Self> {
        number.checked_mul(Self::ONE).map(Self)
    }

    /// Reads a number of up to 18 trillion; none if the text is something else, or has more than six decimal places.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) || fraction.len() > 6 {
            return None;
        }
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
        whole.checked_mul(Self::ONE)?.checked_add(fraction).map(Self)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / Self::ONE, self.0 % Self::ONE);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A part of the span with a share of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressZone {
    /// The share of requests, in percent.
    pub requests: u8,
    /// The share of the span, in percent.
    pub space: u8,
}

/// Where random requests fall: fio's `random_distribution`.
///
/// Under the laws of Zipf and Pareto some blocks are asked for far more often than others; they lie scattered
/// over the span, the same ones for every worker and seed, so that what is hot stays hot from one step to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Distribution {
    /// Everywhere alike: `random`.
    #[default]
    Uniform,
    /// The block of rank k as often as 1/k to the power of theta: `zipf:1.2`.
    Zipf(Decimal),
    /// Self-similar: a share h of the blocks gets all but a share h of the requests: `pareto:0.2`.
    Pareto(Decimal),
    /// Around the middle of the span, with this deviation in percent of the span: `normal:10`.
    Normal(Decimal),
    /// The same of places that lie scattered over the span, as fio's `normal`: `normal-scattered:10`.
    NormalScattered(Decimal),
    /// A share of the requests to each part of the span, in order: `zoned:90/10:10/90`.
    Zoned(Vec<AddressZone>),
}

impl Distribution {
    /// Whether some places are asked for more often than others all over the span.
    pub const fn gathers(&self) -> bool {
        matches!(self, Self::Zipf(_) | Self::Pareto(_) | Self::Normal(_) | Self::NormalScattered(_))
    }
}

impl FromStr for Distribution {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let (law, parameter) = text.split_once(':').unwrap_or((text, ""));
        let number = |law, range, example, allowed: std::ops::RangeInclusive<u64>| {
            let wrong = || ListError::Parameter { law, range, example, found: parameter.to_owned() };
            Decimal::read(parameter).filter(|number| allowed.contains(&number.0)).ok_or_else(wrong)
        };
        let deviation = |law| number(law, "of percent above 0 and up to 100", "10", 1..=100 * Decimal::ONE);
        match law {
            "random" if parameter.is_empty() => Ok(Self::Uniform),
            "zipf" => number("zipf", "above 0 and up to 10", "1.2", 1..=10 * Decimal::ONE).map(Self::Zipf),
            "pareto" => number("pareto", "above 0 and below 1", "0.2", 1..=Decimal::ONE - 1).map(Self::Pareto),
            "normal" => deviation("normal").map(Self::Normal),
            "normal-scattered" => deviation("normal-scattered").map(Self::NormalScattered),
            "zoned" => zones(parameter).map(Self::Zoned),
            _ => Err(ListError::UnknownDistribution { found: text.to_owned() }),
        }
    }
}

fn zones(text: &str) -> Result<Vec<AddressZone>, ListError> {
    let (mut requests, mut spaces) = (Vec::new(), Vec::new());
    for entry in text.split(':') {
        let (share_of_requests, space) = entry.split_once('/').unwrap_or((entry, ""));
        requests.push(Some(parse_percent(share_of_requests)?));
        spaces.push(share(Some(space))?);
    }
    if spaces.contains(&Some(0)) {
        return Err(ListError::Nothing { found: text.to_owned() });
    }
    let (requests, spaces) = (whole(&requests, text)?, whole(&spaces, text)?);
    Ok(requests.into_iter().zip(spaces).map(|(requests, space)| AddressZone { requests, space }).collect())
}

impl TryFrom<String> for Distribution {
    type Error = ListError;

    fn try_from(text: String) -> Result<Self, ListError> {
        text.parse()
    }
}

impl From<Distribution> for String {
    fn from(distribution: Distribution) -> Self {
        distribution.to_string()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("random"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::Pareto(share) => write!(f, "pareto:{share}"),
            Self::Normal(deviation) => write!(f, "normal:{deviation}"),
            Self::NormalScattered(deviation) => write!(f, "normal-scattered:{deviation}"),
            Self::Zoned(zones) => {
                let text: Vec<_> = zones.iter().map(|zone| format!("{}/{}", zone.requests, zone.space)).collect();
                write!(f, "zoned:{}", text.join(":"))
            }
        }
    }
}

/// A distribution made ready to draw from, over a fixed number of cells.
#[derive(Clone, Debug)]
pub(crate) struct AddressSampler {
    cells: u64,
    /// How far apart neighbours in rank lie.
    stride: u64,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Uniform,
    Zipf(Zipf),
    /// The power to which an even number between 0 and 1 is raised.
    Pareto(f64),
    /// The deviation as a share of the span.
    Normal(f64),
    /// The same.
    NormalScattered(f64),
    Zoned {
        deck: Deck,
        ends: Vec<u64>,
    },
}

impl AddressSampler {
    /// The distribution over `cells` places.
    pub fn new(distribution: &Distribution, cells: u64) -> Self {
        assert!(cells > 0, "a span has room for a request");
        let law = match distribution {
            Distribution::Uniform => Law::Uniform,
            Distribution::Zipf(theta) => Law::Zipf(Zipf::new(theta.get(), cells)),
            // Source: fio 3.33, lib/zipf.c, `pareto_init`.
            Distribution::Pareto(share) => Law::Pareto(share.get().ln() / (1.0 - share.get()).ln()),
            Distribution::Normal(deviation) => Law::Normal(deviation.get() / 100.0),
            Distribution::NormalScattered(deviation) => Law::NormalScattered(deviation.get() / 100.0),
            Distribution::Zoned(zones) => {
                let mut end = 0;
                let ends = zones.iter().map(|zone| {
                    end += u64::from(zone.space);
                    (u128::from(cells) * u128::from(end) / 100) as u64
                });
                Law::Zoned { ends: ends.collect(), deck: Deck::of(zones.iter().map(|zone| zone.requests)) }
            }
        };
        let stride = coprime_near((cells as f64 * 0.618_033_988_75) as u64, cells);
        Self { cells, stride, law }
    }

    /// The next place, below `room`, which is as many cells as there are or a little less.
    pub fn draw(&self, room: u64, random: &mut impl Rng) -> u64 {
        let cell = match &self.law {
            Law::Uniform => return random.random_range(0..room),
            Law::Zipf(zipf) => self.scatter(zipf.rank(random)),
            Law::Pareto(power) => {
                let even: f64 = random.random();
                self.scatter(((self.cells - 1) as f64 * even.powf(*power)) as u64)
            }
            Law::Normal(deviation) => self.around_middle(*deviation, random),
            Law::NormalScattered(deviation) => self.scatter(self.around_middle(*deviation, random)),
            Law::Zoned { deck, ends } => {
                let zone = deck.draw(random);
                let start = if zone == 0 { 0 } else { ends[zone - 1] };
                // Of a span with fewer than a hundred cells some zones have none of their own.
                random.random_range(start..ends[zone].max(start + 1)).min(self.cells - 1)
            }
        };
        cell % room
    }

    fn around_middle(&self, deviation: f64, random: &mut impl Rng) -> u64 {
        (middle(deviation, random) * self.cells as f64) as u64
    }

    /// The cell of a rank: a fixed shuffle in which neighbours in rank lie far apart.
    fn scatter(&self, rank: u64) -> u64 {
        (u128::from(rank) * u128::from(self.stride) % u128::from(self.cells)) as u64
    }
}

/// The least number from `start` on that shares no factor with `cells`, so that its multiples reach every cell once.
fn coprime_near(start: u64, cells: u64) -> u64 {
    let greatest_common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (start.max(1)..).find(|&stride| greatest_common(stride, cells) == 1).expect("a prime will do")
}

/// A place between 0 and 1 around the middle, by Box and Muller's method; what would fall outside is drawn anew.
fn middle(deviation: f64, random: &mut impl Rng) -> f64 {
    loop {
        let (radius, angle): (f64, f64) = (random.random(), random.random());
        let place = 0.5 + deviation * (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * angle).cos();
        if (0.0..1.0).contains(&place) {
            return place;
        }
    }
}

/// Zipf's law over any number of ranks without a sum over them.
///
/// Source: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM Transactions on Modeling and Computer Simulation 6(3), 1996.
#[derive(Clone, Debug)]
struct Zipf {
    theta: f64,
    ranks: f64,
    /// The integral up to the end of the first rank, less its share, and up to the end of the last.
    ends: (f64, f64),
    /// How far from its middle a rank is taken without asking further.
    sure: f64,
}

impl Zipf {
    fn new(theta: f64, ranks: u64) -> Self {
        let mut zipf = Self { theta, ranks: ranks as f64, ends: (0.0, 0.0), sure: 0.0 };
        zipf.ends = (zipf.integral(1.5) - 1.0, zipf.integral(zipf.ranks + 0.5));
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - 2_f64.powf(-theta));
        zipf
    }

    /// A rank from 0 on.
    fn rank(&self, random: &mut impl Rng) -> u64 {
        let (first, last) = self.ends;
        loop {
            let even: f64 = random.random();
            let area = last + even * (first - last);
            let place = self.inverse(area);
            let rank = place.round().clamp(1.0, self.ranks);
            if rank - place <= self.sure || area >= self.integral(rank + 0.5) - rank.powf(-self.theta) {
                return rank as u64 - 1;
            }
        }
    }

    /// The integral of x to the power of −theta, from 1; continuous at theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let (log, power) = (x.ln(), (1.0 - self.theta) * x.ln());
        if power.abs() > 1e-8 { power.exp_m1() / power * log } else { (1.0 + power / 2.0) * log }
    }

    /// What `integral` gives `area` for.
    fn inverse(&self, area: f64) -> f64 {
        let power = (area * (1.0 - self.theta)).max(-1.0);
        let log = if power.abs() > 1e-8 { power.ln_1p() / power } else { 1.0 - power / 2.0 };
        (log * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const DRAWS: u64 = 100_000;

    fn counts(text: &str, cells: u64) -> Vec<u64> {
        let places = AddressSampler::new(&text.parse().unwrap(), cells);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut counts = vec![0; cells as usize];
        (0..DRAWS).for_each(|_| counts[places.draw(cells, &mut random) as usize] += 1);
        counts
    }

    fn share(counts: &[u64]) -> f64 {
        counts.iter().sum::<u64>() as f64 / DRAWS as f64
    }

    #[test]
    fn zipf_gives_each_rank_its_share() {
        for (text, theta) in [("zipf:0.5", 0.5_f64), ("zipf:1", 1.0), ("zipf:1.2", 1.2), ("zipf:2.5", 2.5)] {
            let mut counts = counts(text, 1000);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-theta)).sum();
            for rank in 1..=3_u32 {
                let (found, expected) = (share(&counts[rank as usize - 1..][..1]), f64::from(rank).powf(-theta) / sum);
                // Five standard deviations of so many draws.
                let tolerance = 5.0 * (expected / DRAWS as f64).sqrt();
                assert!((found - expected).abs() < tolerance, "{text}, rank {rank}: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn pareto_gives_a_fifth_of_the_blocks_four_fifths_of_the_requests() {
        let mut counts = counts("pareto:0.2", 1000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let found = share(&counts[..200]);
        assert!((found - 0.8).abs() < 0.01, "{found}");
    }

    #[test]
    fn normal_keeps_two_thirds_within_a_deviation_of_the_middle() {
        let found = share(&counts("normal:10", 1000)[400..600]);
        assert!((found - 0.6827).abs() < 0.006, "{found}");
        assert!(counts("normal:100", 50).iter().all(|&count| count > 0), "a wide one reaches everywhere");
    }

    #[test]
    fn zones_get_their_shares_in_order() {
        let counts = counts("zoned:60/10:30/20:8/30:2/40", 1000);
        for (part, expected) in [(0..100, 0.60), (100..300, 0.30), (300..600, 0.08), (600..1000, 0.02)] {
            let found = share(&counts[part.clone()]);
            assert!((found - expected).abs() < 0.006, "{part:?}: {found}, expected {expected}");
        }
    }

    #[test]
    fn scattered_ranks_reach_every_cell_once() {
        for cells in [1, 2, 3, 10, 97, 1000, 4096] {
            let places = AddressSampler::new(&Distribution::Uniform, cells);
            let mut reached: Vec<u64> = (0..cells).map(|rank| places.scatter(rank)).collect();
            reached.sort_unstable();
            assert!(reached.iter().copied().eq(0..cells), "{cells} cells");
        }
    }

    #[test]
    fn few_cells_are_enough_for_any_law() {
        for text in ["zipf:1.2", "pareto:0.2", "normal:1", "zoned:60/10:30/20:8/30:2/40", "random"] {
            for cells in [1, 2, 3] {
                assert_eq!(counts(text, cells).iter().sum::<u64>(), DRAWS, "{text} over {cells}");
            }
        }
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in ["random", "zipf:1.2", "zipf:0.000001", "pareto:0.2", "normal:33.3", "zoned:90/10:10/90"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        assert_eq!("zoned:90/10:10".parse::<Distribution>().unwrap().to_string(), "zoned:90/10:10/90");
    }

    #[test]
    fn what_is_no_distribution_is_told_why() {
        for (text, words) in [
            ("gauss:1", "use random, zipf:1.2"),
            ("random:1", "use random, zipf:1.2"),
            ("zipf", "zipf takes a number above 0 and up to 10, not ``; try zipf:1.2"),
            ("zipf:0", "above 0"),
            ("zipf:1.2:0.5", "not `1.2:0.5`"),
            ("pareto:1", "below 1"),
            ("normal:101", "up to 100"),
            ("zoned:60/10:30/90", "make 90 %"),
            ("zoned:60/0:40/100", "leave the entry out"),
            ("zoned:sixty", "sixty"),
        ] {
            let said = text.parse::<Distribution>().expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
