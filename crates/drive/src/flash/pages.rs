//! The pages of a word line: each bit of a cell is one, and they differ.

use block::Nanos;
use serde::{Deserialize, Serialize};

use crate::draw::Factor;

/// Bits of a cell at most.
pub const PAGE_TYPES_MAX: usize = 4;

/// What the page types of a word line take, as factors of the mean: lower, middle, upper, top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTypes {
    /// How many there are.
    pub count: u32,
    /// How they follow one another in a block.
    pub order: PageOrder,
    pub read: [Factor; PAGE_TYPES_MAX],
    pub program: [Factor; PAGE_TYPES_MAX],
}

/// In which order the pages of a block are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOrder {
    /// All pages of a word line, then those of the next.
    WordLines,
    /// The next page of a word line once its neighbour has the one before, so that little is programmed beside a word line that is
    /// complete: L0, L1, M0, L2, M1, U0, L3, M2, U1 and so on.
    ///
    /// Source: K.-T. Park et al., "A Zeroing Cell-to-Cell Interference Page Architecture With Temporary LSB Storing and Parallel MSB
    /// Program Scheme for MLC NAND Flash Memories", IEEE JSSC 43(4), 2008.
    Shadow { word_lines: u32 },
}

/// A word line of a block, and one of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLine {
    pub number: u32,
    pub page_type: u32,
}

impl PageTypes {
    /// All pages alike.
    pub const ALIKE: Self =
        Self { count: 1, order: PageOrder::WordLines, read: [Factor::ONE; 4], program: [Factor::ONE; 4] };

    /// Where the page is that the block's array read `sense` brings.
    #[inline]
    pub const fn line(&self, sense: u32) -> WordLine {
        if let PageOrder::Shadow { word_lines } = self.order {
            return shadow(self.count, word_lines, sense);
        }
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

/// The page that is programmed so many others after the first of a block, with so many types, no more than word lines.
///
/// Those for which word line and type come to the same number are programmed one after the other. In the middle of a block there
/// is one of each type; at its ends there are fewer, at the last ones of the same types as at the first, seen from behind.
const fn shadow(count: u32, word_lines: u32, place: u32) -> WordLine {
    let ends = count * (count - 1) / 2;
    let pages = count * word_lines;
    if place < ends {
        let mut first = 0;
        let mut sum = 0;
        while first + sum < place {
            first += sum + 1;
            sum += 1;
        }
        return WordLine { number: sum - (place - first), page_type: place - first };
    }
    if place + ends >= pages {
        let WordLine { number, page_type } = shadow(count, word_lines, pages - 1 - place);
        return WordLine { number: word_lines - 1 - number, page_type: count - 1 - page_type };
    }
    let (row, page_type) = ((place - ends) / count, (place - ends) % count);
    WordLine { number: row + count - 1 - page_type, page_type }
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
        let types = PageTypes {
            count: 4,
            read: factors([80, 107, 107, 106]),
            program: factors([40, 80, 120, 160]),
            ..PageTypes::ALIKE
        };
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

    #[test]
    fn in_shadow_order_a_page_follows_the_one_before_it_on_the_next_word_line() {
        let order = |count, word_lines| {
            let types = PageTypes { count, order: PageOrder::Shadow { word_lines }, ..PageTypes::ALIKE };
            let names = (0..count * word_lines).map(|place| types.line(place));
            let name = |line: WordLine| format!("{}{}", ["L", "M", "U", "T"][line.page_type as usize], line.number);
            names.map(name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(order(1, 3), "L0 L1 L2");
        assert_eq!(order(2, 4), "L0 L1 M0 L2 M1 L3 M2 M3");
        assert_eq!(order(3, 5), "L0 L1 M0 L2 M1 U0 L3 M2 U1 L4 M3 U2 M4 U3 U4");
        assert_eq!(order(3, 3), "L0 L1 M0 L2 M1 U0 M2 U1 U2");
        assert_eq!(order(4, 4), "L0 L1 M0 L2 M1 U0 L3 M2 U1 T0 M3 U2 T1 U3 T2 T3");
    }

    /// A word line's pages are programmed from the lower one on, each when the next word line has the one before it.
    #[test]
    fn in_shadow_order_nothing_but_its_last_page_is_programmed_beside_a_word_line_that_is_complete() {
        for (count, word_lines) in (2..=4).flat_map(|count| (count..40).map(move |word_lines| (count, word_lines))) {
            let types = PageTypes { count, order: PageOrder::Shadow { word_lines }, ..PageTypes::ALIKE };
            let mut programmed = vec![0; word_lines as usize];
            for place in 0..count * word_lines {
                let WordLine { number, page_type } = types.line(place);
                assert_eq!(programmed[number as usize], page_type, "in order on its word line");
                programmed[number as usize] += 1;
                let next = programmed.get(number as usize + 1);
                assert!(next.is_none_or(|&next| next >= page_type && next < count), "{count} of {word_lines}");
                if let (true, Some(&next)) = (page_type + 1 == count, next) {
                    assert_eq!(next + 1, count, "one page is left to be programmed beside it");
                }
            }
        }
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
            let word_lines = count + random.below(300) as u32;
            let order = [PageOrder::WordLines, PageOrder::Shadow { word_lines }][random.below(2) as usize];
            let types = PageTypes { count, order, read: factors(percent), program: factors(percent) };
            let mean = Nanos::from_micros(10 + random.below(3_000));
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
