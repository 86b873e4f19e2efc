//! A bit for each slot or page: marking, finding and drawing them.

use std::ops::Range;

use crate::draw::Draws;

/// Set in a block's count of valid pages while the block is open, free or being collected: it is not chosen to be emptied then.
pub(super) const NOT_CLOSED: u16 = 0x8000;

/// Whether the bit of a slot is set.
#[inline]
pub(super) fn is_marked(marks: &[u64], slot: u32) -> bool {
    marks[(slot >> 6) as usize] >> (slot & 63) & 1 == 1
}

/// The place of the bit that so many bits are before.
pub(super) fn select(words: &[u64], before: u32) -> u32 {
    let mut before = before;
    for (word, number) in words.iter().zip(0..) {
        let here = word.count_ones();
        if before < here {
            let rest = (0..before).fold(*word, |rest, _| rest & (rest - 1));
            return number << 6 | rest.trailing_zeros();
        }
        before -= here;
    }
    unreachable!("as many bits are set as pages were dealt")
}

/// The slots whose bits are set, ascending.
pub(super) fn valid_slots(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            rest &= rest.checked_sub(1)?;
            Some((index as u32) << 6 | bit)
        })
    })
}

/// Marks the pages in some slots as valid.
pub(super) fn mark(marks: &mut [u64], slots: Range<u32>) {
    words(slots).for_each(|(word, bits)| marks[word] |= bits);
}

/// The words that some slots have bits in, and those bits.
#[inline]
pub(super) fn words(slots: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let mut slot = slots.start;
    std::iter::from_fn(move || {
        let at = slot;
        (at < slots.end).then(|| {
            let count = (64 - (at & 63)).min(slots.end - at);
            slot += count;
            ((at >> 6) as usize, (u64::MAX >> (64 - count)) << (at & 63))
        })
    })
}

/// Draws so many of the `used` slots of a block, none of which is marked yet, and marks them.
pub(super) fn draw_valid(marks: &mut [u64], used: Range<u32>, count: u32, draws: &mut Draws) {
    let all = used.end - used.start;
    // Those are drawn that are fewer, the valid or the others.
    let are_few = count <= all / 2;
    if !are_few {
        mark(marks, used.clone());
    }
    let mut left = if are_few { count } else { all - count };
    while left > 0 {
        let slot = used.start + draws.below(all);
        let (word, bit) = (&mut marks[(slot >> 6) as usize], 1 << (slot & 63));
        if (*word & bit == 0) == are_few {
            *word ^= bit;
            left -= 1;
        }
    }
}

/// How many bits are set.
pub(super) fn ones(marks: &[u64]) -> u32 {
    marks.iter().map(|word| word.count_ones()).sum()
}

/// Leaves so many of the marks, all as likely.
pub(super) fn thin(marks: &mut [u64], keep: u32, draws: &mut Draws) {
    let all = ones(marks);
    let (mut keep, mut left) = (keep, all);
    if keep < all {
        thin_by(marks, &mut keep, &mut left, draws);
    }
}

/// Leaves marks by chance, each as likely: `keep` of those that are `left` here and elsewhere. How many it leaves.
pub(super) fn thin_by(marks: &mut [u64], keep: &mut u32, left: &mut u32, draws: &mut Draws) -> u32 {
    let before = *keep;
    for word in marks.iter_mut().filter(|word| **word != 0) {
        let mut rest = *word;
        while rest != 0 {
            let mark = rest & rest.wrapping_neg();
            rest ^= mark;
            let is_kept = draws.below(*left) < *keep;
            *keep -= u32::from(is_kept);
            *left -= 1;
            *word ^= if is_kept { 0 } else { mark };
        }
    }
    before - *keep
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;

    /// As many are valid as are to be, none elsewhere, and each as often as any other.
    #[test]
    fn so_many_slots_are_drawn_each_as_likely() {
        let (mut draws, used) = (Draws::new(Seed::new(4)), 37..187);
        for count in [0, 1, 40, 75, 76, 149, 150] {
            let mut seen = [0_u32; 256];
            for _ in 0..4_000 {
                let mut marks = [0; 4];
                draw_valid(&mut marks, used.clone(), count, &mut draws);
                assert_eq!(valid_slots(&marks).count() as u32, count);
                valid_slots(&marks).for_each(|slot| seen[slot as usize] += 1);
            }
            let expected = 4_000.0 * f64::from(count) / 150.0;
            let near = |times: u32| (f64::from(times) - expected).abs() < 5.0 * expected.max(1.0).sqrt();
            assert!((0..256).all(|slot| if used.contains(&slot) {
                near(seen[slot as usize])
            } else {
                seen[slot as usize] == 0
            }));
        }
    }

    #[test]
    fn marks_are_left_each_as_likely() {
        let mut draws = Draws::new(Seed::new(5));
        for keep in [0, 1, 40, 99, 100] {
            let mut seen = [0_u32; 128];
            for _ in 0..4_000 {
                let mut marks = [u64::MAX, u64::MAX >> 28];
                thin(&mut marks, keep, &mut draws);
                assert_eq!(ones(&marks), keep);
                valid_slots(&marks).for_each(|slot| seen[slot as usize] += 1);
            }
            let expected = f64::from(40 * keep);
            let near = |times: &u32| (f64::from(*times) - expected).abs() < 5.0 * expected.max(1.0).sqrt();
            assert!(seen[..100].iter().all(near) && seen[100..].iter().all(|times| *times == 0), "{keep}: {seen:?}");
        }
    }
}
