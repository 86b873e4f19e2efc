//! Which line of the media holds each line of data: wear levelling without a table.

use block::GOLDEN;
use serde::{Deserialize, Serialize};

/// Start-Gap: the media have one line more than the data, the *gap*. A step moves the line before the gap into it; once the
/// gap has come through all lines, every line has moved on by one. Where a line is follows from two registers.
///
/// Source: M. Qureshi, J. Karidis, M. Franceschini, V. Srinivasan, L. Lastras, B. Abali, "Enhancing lifetime and security
/// of PCM-based main memory with Start-Gap wear leveling", MICRO 2009, §3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartGap {
    lines: u64,
    start: u64,
    gap: u64,
}

impl StartGap {
    /// For so many lines of data, none of which has moved.
    pub const fn new(lines: u64) -> Self {
        Self { lines, start: 0, gap: lines }
    }

    /// The line of the media that holds this line of data.
    #[inline]
    pub const fn place_of(&self, line: u64) -> u64 {
        // Both are below `lines`.
        let moved = line + self.start;
        let at = if moved >= self.lines { moved - self.lines } else { moved };
        if at >= self.gap { at + 1 } else { at }
    }

    /// Moves a line of the media: from where to where.
    pub const fn step(&mut self) -> (u64, u64) {
        if self.gap > 0 {
            self.gap -= 1;
            return (self.gap, self.gap + 1);
        }
        self.gap = self.lines;
        self.start = (self.start + 1) % self.lines;
        (self.lines, 0)
    }

    /// As so many [steps](Self::step).
    pub const fn steps(&mut self, count: u64) {
        let gone = self.lines - self.gap + count % ((self.lines + 1) * self.lines);
        self.start = (self.start + gone / (self.lines + 1)) % self.lines;
        self.gap = self.lines - gone % (self.lines + 1);
    }

    /// A number that is equal for equal places of all lines.
    pub const fn digest(&self) -> u64 {
        (self.start ^ self.gap.rotate_left(32)).wrapping_mul(GOLDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every step moves one line into the gap, and the registers say where all lines are: none is lost.
    #[test]
    fn lines_are_where_their_moves_took_them() {
        let mut levelling = StartGap::new(7);
        let mut media: [Option<u64>; 8] = std::array::from_fn(|line| Some(line as u64).filter(|&line| line < 7));
        for step in 0..200 {
            for line in 0..7 {
                assert_eq!(media[levelling.place_of(line) as usize], Some(line), "after {step} steps");
            }
            let (from, to) = levelling.step();
            assert_eq!(media[to as usize], None, "step {step} goes to the gap");
            media[to as usize] = media[from as usize].take();
        }
    }

    #[test]
    fn many_steps_at_once_are_the_same_as_one_by_one() {
        for count in [0, 1, 6, 7, 8, 9, 55, 56, 57, 1_000] {
            let (mut one_by_one, mut at_once) = (StartGap::new(7), StartGap::new(7));
            at_once.steps(3);
            (0..3 + count).for_each(|_| {
                one_by_one.step();
            });
            at_once.steps(count);
            assert_eq!(one_by_one, at_once, "{count}");
        }
    }
}
