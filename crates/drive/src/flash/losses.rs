//! Many pages that become invalid at once, anywhere.
//!
//! Each loss finds its page where memory has to be asked. So a unit loses together what it loses while one page in [`PART`] of the
//! drive is written, and all that it takes is at hand. What this leaves out is that a page may be lost that was written
//! meanwhile, and that a block which is emptied meanwhile has not lost all of its yet.

use super::counted::{Counted, Lost};
use super::mapping::Mapping;
use super::marks::NOT_CLOSED;
use crate::draw::{Draws, normal};

/// One page in so many is lost at once.
const PART: u32 = 4096;
/// Fewer of a unit are lost one by one.
const FEWEST: u32 = 16;

/// How many pages a unit loses together.
pub(super) struct Losses {
    /// So many of its slots are drawn on average; who is valid in one is lost.
    mean: u32,
    deviation: u32,
}

impl Losses {
    /// Those of units of so many slots; none if they are too few.
    pub fn new(slots: u32) -> Option<Self> {
        let mean = slots / PART;
        (mean >= FEWEST).then(|| Self { mean, deviation: mean.isqrt() })
    }

    /// More than a drive loses together, but by chance in very long times.
    pub fn most(&self, mapping: &Mapping) -> u64 {
        2 * u64::from(self.mean) * mapping.units.len() as u64
    }

    /// How many slots of a unit are drawn, where each of all units is as likely: their number has a Poisson distribution, which is
    /// as good as normal here.
    fn draw(&self, draws: &mut Draws) -> u32 {
        let off = (i64::from(normal(draws.draw())) * i64::from(self.deviation)) >> 16;
        (i64::from(self.mean) + off).max(0) as u32
    }
}

impl Counted {
    /// Draws pages of the host's, all alike, of which those that are valid are so no longer: of these as many as are in one in
    /// [`PART`] of all slots, of others the same share. The map has no pages of its own.
    pub fn lose_everywhere(&mut self, mapping: &mut Mapping, losses: &Losses) -> Lost {
        let (each, pages) = (mapping.geometry.blocks_per_plane, mapping.geometry.pages_per_block);
        let new = self.share(self.absent, each * pages, losses.mean);
        self.absent -= new;
        let level_max = mapping.level_max;
        let parts = mapping.counts.chunks_mut(each as usize).zip(self.kept.chunks_mut(each as usize));
        let mut all = new;
        for (state, (counts, kept)) in mapping.units.iter_mut().zip(parts) {
            let before = state.valid;
            for _ in 0..losses.draw(&mut self.draws) {
                let (block, page) = self.draws.both_below(each, pages);
                let count = &mut counts[block as usize];
                let valid = *count & !NOT_CLOSED;
                if page >= u32::from(valid) {
                    continue;
                }
                let kept = &mut kept[block as usize];
                *kept -= u16::from(page < u32::from(*kept));
                *count -= 1;
                state.valid -= 1;
                if *count <= level_max && *count <= state.candidates.level() {
                    state.candidates.note(block, *count);
                }
            }
            all += before - state.valid;
        }
        Lost { pages: all, new }
    }

    /// Takes back that so many of these pages were lost, which were written at random before: they are anywhere that there is room.
    pub fn give_back(&mut self, mapping: &mut Mapping, lost: &mut Lost, pages: u32) {
        let blocks = mapping.counts.len() as u32;
        let new = if pages == 0 { 0 } else { self.share(lost.new, lost.pages, pages) };
        self.absent += new;
        *lost = Lost { pages: lost.pages - pages, new: lost.new - new };
        let mut left = pages - new;
        while left > 0 {
            let (block, page) = self.draws.both_below(blocks, mapping.geometry.pages_per_block);
            let unit = mapping.unit_of_block(block);
            if page >= mapping.count(block) && page < mapping.used(unit, block).len() as u32 {
                mapping.counts[block as usize] += 1;
                mapping.units[unit.0 as usize].valid += 1;
                left -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;

    #[test]
    fn as_many_slots_of_a_unit_are_drawn_as_by_single_draws() {
        let (slots, times, mut draws) = (1_u32 << 20, 100_000, Draws::new(Seed::new(3)));
        assert!(Losses::new(slots / 32).is_none());
        let (losses, mean) = (Losses::new(slots).unwrap(), f64::from(slots / PART));
        let drawn: Vec<f64> = (0..times).map(|_| f64::from(losses.draw(&mut draws))).collect();
        let found = drawn.iter().sum::<f64>() / f64::from(times);
        let variance = drawn.iter().map(|drawn| (drawn - found).powi(2)).sum::<f64>() / f64::from(times);
        assert!((found - mean).abs() < 0.6, "{found} on average, {mean} expected");
        assert!((variance / mean - 1.0).abs() < 0.02, "a variance of {variance}, {mean} expected");
    }
}
