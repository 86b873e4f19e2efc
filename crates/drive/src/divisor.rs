//! Division by the same number again and again.

use serde::{Deserialize, Serialize};

/// A number that others are divided by: a multiplication does it where that gives the same.
///
/// Source: A. D. Robison, "N-bit unsigned division via N-bit multiply-add", ARITH-17, 2005, §3: with the inverse in 64 bits,
/// rounded down, the quotient is exact where one more than the dividend, times the divisor, is at most 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Divisor {
    by: u64,
    /// The multiplication is exact below it, too.
    inverse: u64,
}

impl Divisor {
    /// # Panics
    /// If it is zero.
    pub const fn new(by: u64) -> Self {
        Self { by, inverse: u64::MAX / by }
    }

    /// The number itself.
    #[inline]
    pub const fn get(self) -> u64 {
        self.by
    }

    /// How often it goes into `number`.
    #[inline]
    pub const fn divide(self, number: u64) -> u64 {
        if number < self.inverse { self.multiply(number) } else { number / self.by }
    }

    /// The same of a number for which the multiplication is always exact.
    #[inline]
    pub const fn divide_word(self, number: u32) -> u32 {
        debug_assert!(self.by <= 1 << 32);
        self.multiply(number as u64) as u32
    }

    /// How often it goes into such a number, and what is left.
    #[inline]
    pub const fn split_word(self, number: u32) -> (u32, u32) {
        let quotient = self.divide_word(number);
        (quotient, number - quotient * self.by as u32)
    }

    #[inline]
    const fn multiply(self, number: u64) -> u64 {
        (((number + 1) as u128 * self.inverse as u128) >> 64) as u64
    }

    /// How often it goes into `number`, and what is left.
    #[inline]
    pub const fn split(self, number: u64) -> (u64, u64) {
        let quotient = self.divide(number);
        (quotient, number - quotient * self.by)
    }
}

impl Default for Divisor {
    fn default() -> Self {
        Self::new(1)
    }
}

impl From<u64> for Divisor {
    fn from(by: u64) -> Self {
        Self::new(by.max(1))
    }
}

impl From<Divisor> for u64 {
    fn from(divisor: Divisor) -> Self {
        divisor.by
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_as_the_processor_does() {
        let mut random = testkit::Random::new(11);
        let divisors = (1..200).chain([1 << 20, (1 << 20) + 1, 8_333_333, u64::from(u32::MAX), u64::MAX / 2, u64::MAX]);
        for by in divisors {
            let divisor = Divisor::new(by);
            let edges = [0, 1, by - 1, by, by.saturating_add(1), u64::MAX / by, u64::MAX / by - 1, u64::MAX];
            let near = |number: u64| [number / by * by, (number / by * by).wrapping_sub(1), number];
            let drawn = (0..2_000).flat_map(|bits| near(random.below(u64::MAX) >> (bits % 64)));
            for number in edges.into_iter().chain(drawn) {
                assert_eq!(divisor.split(number), (number / by, number % by), "{number} by {by}");
            }
        }
    }
}
