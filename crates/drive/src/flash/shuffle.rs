//! All numbers below a bound, each once, in an order that looks like chance, without a list of them.

use block::Seed;

use crate::divisor::Divisor;
use crate::draw::lasting;

/// The numbers below a bound in the order of a seed.
///
/// A Feistel network moves the cells of a table that is as square as can be and hardly larger than the bound; what comes to lie
/// beyond the bound is moved again until it lies below, which keeps the rest one to one.
/// Source for the method: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
///
/// By how much a row moves depends on its column alone, and the other way round, so that all moves are drawn beforehand: they
/// are as many as the root of the bound.
pub struct Shuffle {
    bound: u32,
    rows: u32,
    columns: Divisor,
    /// For each pair of moves: by how much that of each column moves a row, and that of each row a column.
    moves: [(Vec<u32>, Vec<u32>); PAIRS],
}

/// Moves of a row and then of a column.
const PAIRS: usize = 2;

impl Shuffle {
    /// The order of `seed` of the numbers below `bound`, of which there is one at least.
    pub fn new(bound: u32, seed: Seed) -> Self {
        let columns = u64::from(bound).isqrt().max(1) as u32;
        let rows = bound.div_ceil(columns);
        let draw = |round: usize, count: u32, limit: u32| -> Vec<u32> {
            let key = seed.number(round as u64);
            (0..count).map(|index| below(lasting(key, u64::from(index)), limit)).collect()
        };
        let moves = std::array::from_fn(|pair| (draw(2 * pair, columns, rows), draw(2 * pair + 1, rows, columns)));
        Self { bound, rows, columns: Divisor::from(u64::from(columns)), moves }
    }

    pub const fn bound(&self) -> u32 {
        self.bound
    }

    /// The number that comes at `index`, which is below the bound too.
    #[inline]
    pub fn at(&self, index: u32) -> u32 {
        let mut cell = u64::from(index);
        loop {
            cell = self.moved(cell as u32);
            if cell < u64::from(self.bound) {
                return cell as u32;
            }
        }
    }

    #[inline]
    fn moved(&self, cell: u32) -> u64 {
        let columns = self.columns.get() as u32;
        let (mut row, mut column) = self.columns.split_word(cell);
        for (by_column, by_row) in &self.moves {
            row = shifted(row, by_column[column as usize], self.rows);
            column = shifted(column, by_row[row as usize], columns);
        }
        u64::from(row) * u64::from(columns) + u64::from(column)
    }
}

/// A number below `limit` from a draw.
const fn below(draw: u32, limit: u32) -> u32 {
    ((draw as u64 * limit as u64) >> 32) as u32
}

/// `number` moved on by so much, round and round below `limit`.
#[inline]
const fn shifted(number: u32, by: u32, limit: u32) -> u32 {
    let left = limit - number;
    if by >= left { by - left } else { number + by }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bound: u32, seed: u64) -> Vec<u32> {
        let order = Shuffle::new(bound, Seed::new(seed));
        (0..bound).map(|index| order.at(index)).collect()
    }

    #[test]
    fn every_number_comes_once() {
        for bound in [1, 2, 3, 7, 100, 101, 4096, 65_537] {
            let mut sorted = all(bound, bound.into());
            sorted.sort_unstable();
            assert_eq!(sorted, (0..bound).collect::<Vec<u32>>());
        }
    }

    /// Of neighbours, the distances are as of independent draws: below a tenth of the bound in 19 % of cases.
    #[test]
    fn neighbours_come_apart() {
        for (bound, seed) in [(10_000, 1), (250_000, 2)] {
            let all = all(bound, seed);
            for lag in [1, 2, bound.isqrt() as usize] {
                let close =
                    all.iter().zip(&all[lag..]).filter(|(one, other)| one.abs_diff(**other) < bound / 10).count();
                let share = close as f64 / (all.len() - lag) as f64;
                assert!((share - 0.19).abs() < 0.015, "{bound} at {lag}: {share}");
            }
        }
    }
}
