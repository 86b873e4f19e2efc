//! How long it takes to move pages from one block of a unit to another.

use std::slice::Iter;

use block::Nanos;

use super::super::channel::Channel;
use super::super::die::Suspension;
use super::super::geometry::Unit;
use super::super::operation::Moved;
use super::{NOTHING, Nand, NandTimes, OperationKind};

impl Nand {
    pub(super) fn move_pages(&mut self, now: Nanos, unit: Unit, moved: Moved) -> Nanos {
        let number = self.die_of_unit[unit.0 as usize] as usize;
        let start = self.dies[number].free.max(now);
        let Moved { pages, reads, programs, to, .. } = moved;
        self.pages_read += u64::from(pages);
        self.count_programs(now, to.0, programs);
        // Errors, and what is suspended, tell the reads of a move from its programs.
        let is_page_by_page = self.program_pages == 1
            && reads == programs
            && !self.times.copy_back
            && self.errors.is_none()
            && self.suspension.as_ref().is_none_or(Suspension::is_never);
        let end = if is_page_by_page {
            self.move_page_by_page(now, number, start, moved)
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

    /// Moves pages one after the other, each over the channel and back; when the last of them is programmed.
    fn move_page_by_page(&mut self, now: Nanos, number: usize, start: Nanos, moved: Moved) -> Nanos {
        let Moved { programs, to, .. } = moved;
        let read = self.varied(self.times.read);
        self.draw_programs(number, programs, to);
        let Self { dies, channels, programming, fill, .. } = self;
        let die = &mut dies[number];
        let (channel, lane, both) = (&mut channels[die.channel as usize], die.lane, *fill + *fill);
        let mut programming = programming.iter();
        let end = if die.is_scheduled() {
            let mut begun = start;
            let next = |moved| {
                let end = moved + drawn(&mut programming);
                die.note(now, OperationKind::Reads(moved - begun), begun, moved, false);
                die.note(now, OperationKind::Program, moved, end, false);
                begun = end;
                end + read
            };
            channel.reserve_each(now, lane, start + read, both, programs, next)
        } else {
            channel
                .reserve_each(now, lane, start + read, both, programs, |moved| moved + drawn(&mut programming) + read)
        };
        end - read
    }

    /// The reads of a move; when they are over.
    fn move_reads(&mut self, now: Nanos, number: usize, start: Nanos, moved: Moved) -> Nanos {
        let Moved { pages, reads, from, .. } = moved;
        let read = self.varied(self.times.read);
        let carried = if self.times.copy_back { Nanos::ZERO } else { self.carried(pages, reads) };
        let die = &mut self.dies[number];
        let end = bring(&mut self.channels[die.channel as usize], now, die.lane, start, read, carried, reads);
        let end = match &mut self.errors {
            Some(errors) => end + errors.read_to_move(now, from, reads, &self.times.pages, read + carried),
            None => end,
        };
        if reads > 0 && die.is_scheduled() {
            let step = Nanos::from_nanos((end - start).as_nanos().div_ceil(u64::from(reads)));
            die.note(now, OperationKind::Reads(step), start, end, false);
        }
        end
    }

    /// So many programs of a move, the last of them of this block's page, whose data is there from `from` on; when they are over.
    fn move_programs(&mut self, now: Nanos, number: usize, from: Nanos, count: u32, to: (u32, u32)) -> Nanos {
        self.draw_programs(number, count, to);
        let Self { dies, channels, fill, times, programming, .. } = self;
        let die = &mut dies[number];
        let (channel, lane) = (&mut channels[die.channel as usize], die.lane);
        let mut programming = programming.iter();
        let mut program = |start: Nanos| {
            let end = start + drawn(&mut programming);
            die.note(now, OperationKind::Program, start, end, false);
            end
        };
        match times.copy_back {
            true => (0..count).fold(from, |end, _| program(end)),
            false => channel.reserve_each(now, lane, from, *fill, count, program),
        }
    }

    /// Draws what so many programs of a move take, the last of them of this block's page. The others take the pages before; in a
    /// block with too few of those, its first.
    fn draw_programs(&mut self, number: usize, count: u32, (block, last): (u32, u32)) {
        let NandTimes { program, pages, .. } = self.times;
        let places = (0..count).map(|index| (last + 1 + index).saturating_sub(count));
        self.programming.clear();
        match &mut self.variation {
            Some(variation) => {
                let in_block = variation.in_block(number as u32, block, program);
                let program = |place| {
                    let line = pages.line(place);
                    variation.program(line.number, pages.program(line, in_block))
                };
                self.programming.extend(places.map(program));
            }
            None => self.programming.extend(places.map(|place| pages.program(pages.line(place), program))),
        }
    }

    /// What so many pages take on the channel for each of the array reads that bring them.
    fn carried(&self, pages: u32, reads: u32) -> Nanos {
        let page = *self.transfer.last().expect("a page has a sector");
        // Division is slow, and most often there is one read for each page.
        if pages == reads {
            page.times(u64::from(pages.min(1)))
        } else {
            page.times(u64::from(pages.div_ceil(reads.max(1))))
        }
    }
}

/// Reads so many times from `start` on, each followed by what it brings over the channel; when the last of that is there. With
/// nothing left to read, what an array read before this move has at hand is carried alone.
fn bring(channel: &mut Channel, now: Nanos, lane: u32, start: Nanos, read: Nanos, carried: Nanos, reads: u32) -> Nanos {
    match (carried, reads) {
        (Nanos::ZERO, _) => start + read.times(u64::from(reads)),
        (_, 0) => channel.reserve(now, lane, start, carried),
        _ => channel.reserve_each(now, lane, start + read, carried, reads, |end| end + read) - read,
    }
}

/// What the next program of a move takes.
#[inline(always)]
fn drawn(programming: &mut Iter<Nanos>) -> Nanos {
    *programming.next().expect("there is one for each program")
}
