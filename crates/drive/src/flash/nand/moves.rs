//! How long it takes to move pages from one block of a unit to another.

use block::Nanos;

use super::super::geometry::Unit;
use super::super::operation::Moved;
use super::{NOTHING, Nand, NandTimes, OperationKind};

impl Nand {
    pub(super) fn move_pages(&mut self, now: Nanos, unit: Unit, moved: Moved) -> Nanos {
        let number = self.die_of_unit[unit.0 as usize] as usize;
        let uniform = self.variation.is_none() && self.suspend.is_none() && self.times.pages.count == 1;
        let start = self.dies[number].free.max(now);
        let Moved { pages, programs, to, .. } = moved;
        self.pages_read += u64::from(pages);
        self.count_programs(now, to.0, programs);
        let end = if uniform {
            self.move_alike(now, number, start, moved)
        } else {
            let read_all = self.move_reads(now, number, start, moved);
            self.move_programs(now, number, read_all, programs, to)
        };
        let die = &mut self.dies[number];
        die.free = end;
        die.loaded = end;
        die.joinable = None;
        die.holds = NOTHING;
        end
    }

    /// Moves pages where every read and program takes the same; when the last of it ends.
    fn move_alike(&mut self, now: Nanos, die: usize, start: Nanos, moved: Moved) -> Nanos {
        let NandTimes { read, program, .. } = self.times;
        let Moved { pages, reads, programs, .. } = moved;
        let carried = self.carried(pages, reads);
        let die = &self.dies[die];
        let channel = &mut self.channels[die.channel as usize];
        if self.times.copy_back {
            return start + read.times(u64::from(reads)) + program.times(u64::from(programs));
        }
        if self.program_pages == 1 && reads == programs {
            let both = self.fill + self.fill;
            return channel.reserve_each(now, die.lane, start + read, both, program + read, programs) + program;
        }
        let read_all = channel.reserve_each(now, die.lane, start + read, carried, read, reads);
        match programs {
            0 => read_all,
            _ => channel.reserve_each(now, die.lane, read_all, self.fill, program, programs) + program,
        }
    }

    /// The reads of a move; when they are over.
    fn move_reads(&mut self, now: Nanos, number: usize, start: Nanos, moved: Moved) -> Nanos {
        let Moved { pages, reads, .. } = moved;
        let read = self.varied(self.times.read);
        let carried = if self.times.copy_back { Nanos::ZERO } else { self.carried(pages, reads) };
        let die = &mut self.dies[number];
        let end = match carried {
            Nanos::ZERO => start + read.times(u64::from(reads)),
            _ => self.channels[die.channel as usize].reserve_each(now, die.lane, start + read, carried, read, reads),
        };
        if reads > 0 {
            let step = Nanos::from_nanos((end - start).as_nanos().div_ceil(u64::from(reads)));
            die.note(now, OperationKind::Reads(step), start, end, false);
        }
        end
    }

    /// So many programs of a move, the last of them of this block's page, whose data is there from `from` on; when they are over.
    fn move_programs(&mut self, now: Nanos, number: usize, from: Nanos, count: u32, to: (u32, u32)) -> Nanos {
        let (block, last) = (to.0, self.times.pages.line(to.1));
        let in_block = |nand: &mut Self, page_type| {
            let mean = nand.program_mean(page_type);
            nand.variation.as_mut().map_or(mean, |variation| variation.in_block(number as u32, block, mean))
        };
        let usual = in_block(self, last.page_type);
        // The others take the word lines before; in a block with too few of those, its first page.
        let first = if count > last.number + 1 { in_block(self, 0) } else { usual };
        let (die, mut end) = (&mut self.dies[number], from);
        let channel = &mut self.channels[die.channel as usize];
        for back in (0..count).rev() {
            let (line, mean) = last.number.checked_sub(back).map_or((0, first), |line| (line, usual));
            let programming = match &mut self.variation {
                Some(variation) => variation.program(block, line, mean),
                None => mean,
            };
            let start = match self.times.copy_back {
                true => end,
                false => channel.reserve(now, die.lane, end, self.fill),
            };
            end = start + programming;
            die.note(now, OperationKind::Program, start, end, false);
        }
        end
    }

    /// What so many pages take on the channel for each of the array reads that bring them.
    fn carried(&self, pages: u32, reads: u32) -> Nanos {
        let page = *self.transfer.last().expect("a page has a sector");
        page.times(u64::from(pages).div_ceil(u64::from(reads.max(1))))
    }
}
