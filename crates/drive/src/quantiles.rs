//! A spread that is drawn from with every operation, its quantiles in a table of their own.

use block::Nanos;
use serde::{Deserialize, Serialize};

use crate::draw::{Draws, ENTRIES, Factor, Spread, interpolate};

/// Draws what a [`Spread`] draws, from a table of its factors, with less work and without a branch: where a draw lies is by
/// chance.
///
/// Error: each factor within 0.1 % of what the spread has for that draw, for relative deviations up to 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Spread", into = "Spread")]
pub struct Quantiles {
    spread: Spread,
    /// Below the median and above it, by the share of all that lies further out on that side; between them, a line.
    factors: [[u32; ENTRIES]; 2],
}

impl Quantiles {
    /// A time of this mean. What does not vary draws nothing.
    #[inline(always)]
    pub fn vary(&self, draws: &mut Draws, mean: Nanos) -> Nanos {
        if self.spread == Spread::NONE { mean } else { self.factor(draws.draw()).of(mean) }
    }

    /// The factor of a draw, whose lowest bit is the side and the rest the share further out.
    #[inline(always)]
    pub fn factor(&self, draw: u32) -> Factor {
        Factor::from_units(interpolate(&self.factors[(draw & 1) as usize], draw | 1))
    }
}

impl From<Spread> for Quantiles {
    fn from(spread: Spread) -> Self {
        Self { spread, factors: spread.entries() }
    }
}

impl From<Quantiles> for Spread {
    fn from(quantiles: Quantiles) -> Self {
        quantiles.spread
    }
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;

    #[test]
    fn the_table_draws_what_the_spread_draws() {
        for deviation in [0, 10_000, 50_000, 200_000, 1_000_000] {
            let spread = Spread::new(deviation);
            let quantiles = Quantiles::from(spread);
            let mut draws = Draws::new(Seed::new(deviation));
            let ends = [0, 1, 2, 3, 17, 1 << 16, 1 << 31, (1 << 31) - 1, u32::MAX - 1, u32::MAX];
            for draw in (0..1_000_000).map(|_| draws.draw()).chain(ends) {
                let [found, wanted] =
                    [quantiles.factor(draw), spread.factor(draw)].map(|factor| f64::from(factor.units()));
                // A factor is a whole number of units.
                assert!((found - wanted).abs() < 1e-3 * wanted + 2.0, "{found}, {wanted} wanted, for {draw}");
            }
        }
    }

    #[test]
    fn what_does_not_vary_draws_nothing() {
        let mut draws = Draws::new(Seed::new(1));
        let before = draws.clone();
        let mean = Nanos::from_micros(70);
        assert_eq!(Quantiles::from(Spread::NONE).vary(&mut draws, mean), mean);
        assert_eq!(draws, before);
        assert_ne!(Quantiles::from(Spread::new(50_000)).vary(&mut draws, mean), mean);
        assert_ne!(draws, before);
    }
}
