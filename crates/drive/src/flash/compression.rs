//! Data that is made smaller before it is stored.

use serde::{Deserialize, Serialize};

use super::operation::FlashOp;

/// A controller that compresses what it stores (SandForce).
///
/// Flash pages are programmed only as often as what is left of the data fills them. The map goes on in
/// whole pages: how much less space compressed data takes up, and so how much spare it adds, is not
/// followed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Compression {
    /// What is always left, in percent.
    floor: u32,
    /// Percent of a flash page that waits to be programmed: of the host's data and of data that is moved.
    host: u32,
    moved: u32,
    /// What is left of what is stored, in percent, as a moving average in 256ths.
    mean: u32,
}

impl Compression {
    /// Nothing is stored yet. At least `floor` percent of anything is left.
    pub fn new(floor: u32) -> Self {
        Self { floor, host: 0, moved: 0, mean: 100 << 8 }
    }

    /// Notes a page of which `entropy` percent is left.
    #[inline]
    pub fn note(&mut self, entropy: u8) {
        let left = u32::from(entropy).max(self.floor);
        // A share of 1/64 each: an average over the last few hundred KiB.
        self.mean = self.mean - (self.mean >> 6) + ((left << 8) >> 6);
    }

    /// Takes out of `plan` what need not be done; whether the host's page, its last, is still programmed.
    pub fn shrink(&mut self, plan: &mut Vec<FlashOp>) -> bool {
        let left = (self.mean >> 8).clamp(self.floor, 100);
        for op in plan.iter_mut() {
            if let FlashOp::Move(_, moved) = op {
                self.moved += moved.programs * left;
                moved.programs = self.moved / 100;
                self.moved %= 100;
            }
        }
        if !matches!(plan.last(), Some(FlashOp::Program(..))) {
            return false;
        }
        self.host += left;
        if self.host < 100 {
            plan.pop();
            return false;
        }
        self.host -= 100;
        true
    }

    /// Notes so many pages of the host's in a row, each `together` of which fill a flash page, and takes out what need not
    /// be programmed; how many flash pages are.
    pub fn store(&mut self, pages: u32, together: u32, entropy: u8) -> u32 {
        let mut programs = 0;
        for _ in 0..pages / together {
            (0..together).for_each(|_| self.note(entropy));
            self.host += (self.mean >> 8).clamp(self.floor, 100);
            programs += self.host / 100;
            self.host %= 100;
        }
        programs
    }

    /// How many of `sectors` are left when stored, at least one.
    #[inline]
    pub fn stored(&self, sectors: u32) -> u32 {
        (sectors * (self.mean >> 8).clamp(self.floor, 100)).div_ceil(100)
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::Unit;
    use super::super::operation::{Cells, PageLocation};
    use super::*;

    const PLACE: PageLocation = PageLocation { unit: Unit(0), cells: Cells::Native, block: 0, sense: 0 };

    fn programmed(entropy: u8, floor: u32) -> usize {
        let mut compression = Compression::new(floor);
        (0..1_000).for_each(|_| compression.note(entropy));
        let write = |_: &i32| compression.shrink(&mut vec![FlashOp::Program(PLACE)]);
        (0..1_000).filter(write).count()
    }

    #[test]
    fn what_halves_is_programmed_half_as_often() {
        assert_eq!(programmed(100, 10), 1_000);
        assert!((480..=520).contains(&programmed(50, 10)));
        assert!((90..=110).contains(&programmed(0, 10)), "a tenth is always left");
    }
}
