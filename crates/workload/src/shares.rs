//! Shares of a whole in percent: how lists of them are read, and how one is drawn.

use block::{ParseError, parse_percent};
use rand::{Rng, RngExt};
use thiserror::Error;

/// Why a text is no list of shares, such as fio's `bssplit` and `zoned` take.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ListError {
    /// A quantity in it makes no sense.
    #[error(transparent)]
    Quantity(#[from] ParseError),
    /// There are more lists than kinds of requests.
    #[error("{found} lists, but there are only reads, writes and trims; give at most three, separated by commas")]
    TooManyLists {
        /// How many there are.
        found: usize,
    },
    /// An entry that nothing falls to.
    #[error("`{found}` has a share of 0 %; leave the entry out")]
    Nothing {
        /// The list.
        found: String,
    },
    /// The shares are no whole.
    #[error("the shares in `{found}` make {sum} %; they must make 100 %")]
    Sum {
        /// The list.
        found: String,
        /// What they make.
        sum: u32,
    },
    /// The text is not a distribution that is known.
    #[error(
        "`{found}` is not a distribution of offsets; use random, zipf:1.2, pareto:0.2, normal:10 or zoned:90/10:10/90"
    )]
    UnknownDistribution {
        /// The text as given.
        found: String,
    },
    /// The text is not a criterion of a steady state that is known.
    #[error(
        "`{found}` is not a criterion of a steady state; use iops:2%, iops_slope:0.1%, bw:2%, bw_slope:0.1%, lat:2% or \
         lat_slope:0.1%"
    )]
    UnknownCriterion {
        /// The text as given.
        found: String,
    },
    /// The limit of a steady state is none.
    #[error(
        "`{found}` is no limit of a steady state; give a share of the mean with six decimal places at most, such as 0.1%, or {amount}"
    )]
    Limit {
        /// The text as given.
        found: String,
        /// What would be right besides a share.
        amount: &'static str,
    },
    /// A parameter of a distribution is not one that it can have.
    #[error("{law} takes a number {range}, not `{found}`; try {law}:{example}")]
    Parameter {
        /// The distribution.
        law: &'static str,
        /// What it can be.
        range: &'static str,
        /// One that would be right.
        example: &'static str,
        /// The text as given.
        found: String,
    },
}

/// A share as it is written: none where it is left out, as fio has it.
pub(crate) fn share(text: Option<&str>) -> Result<Option<u8>, ParseError> {
    text.filter(|text| !text.trim().is_empty()).map(parse_percent).transpose()
}

/// The shares with those that were left out sharing evenly what the others leave; the last takes the rest of the
/// division. They make 100 %.
pub(crate) fn whole(shares: &[Option<u8>], list: &str) -> Result<Vec<u8>, ListError> {
    let given: u32 = shares.iter().flatten().map(|&share| u32::from(share)).sum();
    let open = shares.iter().filter(|share| share.is_none()).count() as u32;
    let wrong = || ListError::Sum { found: list.to_owned(), sum: given };
    let left = 100_u32.checked_sub(given).ok_or_else(wrong)?;
    if open == 0 && left > 0 {
        return Err(wrong());
    }
    if left < open {
        return Err(ListError::Nothing { found: list.to_owned() });
    }
    let mut unnamed = open;
    let filled = |share: &Option<u8>| {
        share.unwrap_or_else(|| {
            unnamed -= 1;
            let each = left / open;
            (if unnamed == 0 { left - each * (open - 1) } else { each }) as u8
        })
    };
    Ok(shares.iter().map(filled).collect())
}

/// A hundred cards, as many of each entry as it has percent: drawing one is one draw and one look.
#[derive(Clone, Debug)]
pub(crate) struct Deck([u8; 100]);

impl Deck {
    /// The cards of entries whose shares make 100 %.
    pub fn of(shares: impl IntoIterator<Item = u8>) -> Self {
        let mut cards = [0; 100];
        let mut place = 0;
        for (entry, share) in shares.into_iter().enumerate() {
            cards[place..place + usize::from(share)].fill(entry as u8);
            place += usize::from(share);
        }
        assert_eq!(place, 100, "shares make 100 %");
        Self(cards)
    }

    /// The place of the entry drawn.
    pub fn draw(&self, random: &mut impl Rng) -> usize {
        usize::from(self.0[random.random_range(0..100)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_shares_the_rest() {
        assert_eq!(whole(&[Some(60), None, None], ""), Ok(vec![60, 20, 20]));
        assert_eq!(whole(&[None, None, None], ""), Ok(vec![33, 33, 34]));
        assert_eq!(whole(&[None], ""), Ok(vec![100]));
        for (shares, sum) in [(&[Some(60), Some(41)][..], 101), (&[Some(60)], 60), (&[], 0)] {
            assert_eq!(whole(shares, "x"), Err(ListError::Sum { found: "x".into(), sum }), "{shares:?}");
        }
        assert_eq!(whole(&[Some(100), None], "x"), Err(ListError::Nothing { found: "x".into() }));
    }
}
