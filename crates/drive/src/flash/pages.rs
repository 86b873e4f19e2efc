//! The pages of a word line: each bit of a cell is one, and they differ.

use block::Nanos;
use serde::{Deserialize, Serialize};

use crate::draw::Factor;

/// Bits of a cell at most.
pub const PAGE_TYPES_MAX: usize = 4;

/// What the page types of a word line take, as factors of the mean: lower, middle, upper, top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTypes {
    /// How many there are; they follow one another in a block.
    pub count: u32,
    pub read: [Factor; PAGE_TYPES_MAX],
    pub program: [Factor; PAGE_TYPES_MAX],
}

/// A word line of a block, and one of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLine {
    pub number: u32,
    pub page_type: u32,
}

impl PageTypes {
    /// All pages alike.
    pub const ALIKE: Self = Self { count: 1, read: [Factor::ONE; 4], program: [Factor::ONE; 4] };

    /// Where the page is that the block's array read `sense` brings.
    #[inline]
    pub const fn line(&self, sense: u32) -> WordLine {
        // Dividing by a number that is not known takes long, whatever it is.
        match self.count {
            1 => WordLine { number: sense, page_type: 0 },
            2 => WordLine { number: sense >> 1, page_type: sense & 1 },
            count => WordLine { number: sense / count, page_type: sense % count },
        }
    }

    /// What reading a page takes, where that is `mean` of all types.
    #[inline]
    pub const fn read(&self, line: WordLine, mean: Nanos) -> Nanos {
        self.of(&self.read, line, mean)
    }

    /// The same of programming it.
    #[inline]
    pub const fn program(&self, line: WordLine, mean: Nanos) -> Nanos {
        self.of(&self.program, line, mean)
    }

    #[inline]
    const fn of(&self, factors: &[Factor; PAGE_TYPES_MAX], line: WordLine, mean: Nanos) -> Nanos {
        if self.count == 1 { mean } else { factors[line.page_type as usize].of(mean) }
    }
}

#[cfg(test)]
mod tests {
    use testkit::Random;

    use super::*;

    fn factors(percent: [u64; PAGE_TYPES_MAX]) -> [Factor; PAGE_TYPES_MAX] {
        percent.map(|percent| Factor::from_units((percent as u32 * 65_536).div_ceil(100)))
    }

    #[test]
    fn four_pages_of_a_word_line_follow_one_another_and_each_has_its_own_times() {
        let types = PageTypes { count: 4, read: factors([80, 107, 107, 106]), program: factors([40, 80, 120, 160]) };
        let lines: Vec<(u32, u32)> =
            (0..9).map(|sense| types.line(sense)).map(|line| (line.number, line.page_type)).collect();
        assert_eq!(lines, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0)]);
        let mean = Nanos::from_micros(100);
        let micros = |of: fn(&PageTypes, WordLine, Nanos) -> Nanos| {
            [0, 1, 2, 3].map(|sense| (of(&types, types.line(sense), mean).as_nanos() as f64 / 1e3).round() as u64)
        };
        assert_eq!(micros(PageTypes::read), [80, 107, 107, 106]);
        assert_eq!(micros(PageTypes::program), [40, 80, 120, 160]);
        assert_eq!(PageTypes::ALIKE.program(WordLine { number: 7, page_type: 0 }, mean), mean);
    }

    /// Whatever the types, each page of a block is another page of a word line, and a word line's pages take the mean.
    #[test]
    fn word_lines_have_each_page_once_and_take_the_mean_together() {
        let mut random = Random::new(3);
        for _ in 0..200 {
            let count = 1 + random.below(4) as u32;
            let mut percent = [100; PAGE_TYPES_MAX];
            let moved = random.below(90);
            if count > 1 {
                percent[0] -= moved;
                percent[count as usize - 1] += moved;
            }
            let types = PageTypes { count, read: factors(percent), program: factors(percent) };
            let mean = Nanos::from_micros(10 + random.below(3_000));
            let word_lines = 1 + random.below(300) as u32;
            let mut seen = vec![0_u32; word_lines as usize];
            let mut all = Nanos::ZERO;
            for sense in 0..word_lines * count {
                let line = types.line(sense);
                seen[line.number as usize] |= 1 << line.page_type;
                all += types.read(line, mean);
                assert_eq!(types.read(line, mean), types.program(line, mean));
            }
            assert!(seen.iter().all(|&pages| pages == (1 << count) - 1), "{count} types");
            let wanted = mean.times(u64::from(word_lines * count)).as_nanos() as f64;
            assert!((all.as_nanos() as f64 / wanted - 1.0).abs() < 1e-4, "{all:?}, {wanted} ns wanted");
        }
    }
}
