//! How long flash takes for what was decided.

use block::{Nanos, Rate, SECTOR};

use super::geometry::{Die, Geometry, Unit};
use super::mapping::FlashOp;
use crate::calendar::Calendar;

/// What the parts of a flash die and its bus cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTimes {
    /// From the array into the die's register.
    pub read: Nanos,
    /// From the register into the array, with what the controller does on the way for each page.
    pub program: Nanos,
    /// One block.
    pub erase: Nanos,
    /// Between a die's register and the controller.
    pub channel: Rate,
    /// Whether a page that collection moves stays inside its die (copy-back) or crosses the channel
    /// twice to be checked and corrected.
    pub copy_back: bool,
}

/// The dies and channels of a drive, each with the time up to which it is booked.
///
/// A die does what it is given in order, so one register tells when it is free. A channel serves
/// whichever of its dies is ready first, so it keeps a [`Calendar`].
#[derive(Clone, Debug)]
pub struct Nand {
    times: NandTimes,
    multi_plane: bool,
    dies: Vec<DieState>,
    channels: Vec<Calendar>,
    die_of_unit: Vec<u32>,
    /// What a number of sectors takes on the channel, up to a page's worth.
    transfer: Vec<Nanos>,
    pub(super) pages_read: u64,
    pub(super) pages_programmed: u64,
    pub(super) blocks_erased: u64,
}

#[derive(Clone, Debug)]
struct DieState {
    free: Nanos,
    channel: u32,
    /// The unit and start of the program that ends at `free`, which other planes may still join.
    joinable: Option<(Unit, Nanos)>,
}

impl Nand {
    /// Idle flash of this `geometry`.
    pub fn new(geometry: &Geometry, times: NandTimes) -> Self {
        let die = |die| DieState { free: Nanos::ZERO, channel: geometry.channel_of(Die(die)), joinable: None };
        Self {
            times,
            multi_plane: geometry.multi_plane,
            dies: (0..geometry.dies()).map(die).collect(),
            channels: vec![Calendar::default(); geometry.channels as usize],
            die_of_unit: (0..geometry.units()).map(|unit| geometry.die_of(Unit(unit)).0).collect(),
            transfer: transfers(times.channel, geometry.page.sectors()),
            pages_read: 0,
            pages_programmed: 0,
            blocks_erased: 0,
        }
    }

    /// What is booked from now on takes these times; what is booked already keeps its own.
    pub fn set_times(&mut self, times: NandTimes) {
        self.transfer = transfers(times.channel, self.transfer.len() as u64 - 1);
        self.times = times;
    }

    /// Reads `sectors` of a page of `unit`, starting at `ready` at the earliest; when they are with the controller.
    #[inline]
    pub fn read(&mut self, now: Nanos, ready: Nanos, unit: Unit, sectors: u32) -> Nanos {
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        let in_register = die.free.max(ready) + self.times.read;
        let done = self.channels[die.channel as usize].reserve(now, in_register, self.transfer[sectors as usize]);
        die.free = done;
        die.joinable = None;
        self.pages_read += 1;
        done
    }

    /// Does what `plan` says in its order; data of the host is there from `ready` on. When the last of it ends.
    pub fn book(&mut self, now: Nanos, ready: Nanos, plan: &[FlashOp]) -> Nanos {
        let mut end = ready;
        for op in plan {
            end = match *op {
                FlashOp::Program(unit) => self.program(now, ready, unit),
                FlashOp::Move(unit, pages) => self.move_pages(now, unit, pages),
                FlashOp::Erase(unit) => self.erase(now, unit),
            };
        }
        end
    }

    fn program(&mut self, now: Nanos, ready: Nanos, unit: Unit) -> Nanos {
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        let channel = &mut self.channels[die.channel as usize];
        let transfer = *self.transfer.last().expect("a page has a sector");
        self.pages_programmed += 1;
        // Another plane joins a program for which it has data by the time that one would begin.
        let joins = |&(other, start): &(Unit, Nanos)| self.multi_plane && other < unit && ready <= start;
        let earliest = die.joinable.filter(joins).map_or(die.free.max(ready), |(_, start)| start);
        let start = channel.reserve(now, earliest, transfer);
        die.free = die.free.max(start + self.times.program);
        die.joinable = Some((unit, start));
        die.free
    }

    fn move_pages(&mut self, now: Nanos, unit: Unit, pages: u32) -> Nanos {
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        let (start, NandTimes { read, program, .. }) = (die.free.max(now), self.times);
        die.free = if self.times.copy_back {
            start + (read + program).times(u64::from(pages))
        } else {
            let transfer = *self.transfer.last().expect("a page has a sector");
            let channel = &mut self.channels[die.channel as usize];
            channel.reserve_each(now, start + read, transfer + transfer, program + read, pages) + program
        };
        die.joinable = None;
        self.pages_read += u64::from(pages);
        self.pages_programmed += u64::from(pages);
        die.free
    }

    fn erase(&mut self, now: Nanos, unit: Unit) -> Nanos {
        let die = &mut self.dies[self.die_of_unit[unit.0 as usize] as usize];
        die.free = die.free.max(now) + self.times.erase;
        die.joinable = None;
        self.blocks_erased += 1;
        die.free
    }
}

/// What each number of sectors up to a page's worth takes on the channel.
fn transfers(channel: Rate, page_sectors: u64) -> Vec<Nanos> {
    (0..=page_sectors).map(|sectors| channel.time_for(SECTOR.times(sectors))).collect()
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    const TIMES: NandTimes = NandTimes {
        read: Nanos::from_micros(50),
        program: Nanos::from_micros(900),
        erase: Nanos::from_millis(2),
        channel: Rate::from_bytes_per_second(40_960_000),
        copy_back: false,
    };
    const START: Nanos = Nanos::ZERO;

    fn nand(multi_plane: bool, copy_back: bool) -> Nand {
        let geometry = Geometry {
            channels: 2,
            dies_per_channel: 2,
            planes: 2,
            multi_plane,
            blocks_per_plane: 8,
            pages_per_block: 64,
            page: Bytes::from_kib(4),
        };
        Nand::new(&geometry, NandTimes { copy_back, ..TIMES })
    }

    fn micros(us: u64) -> Nanos {
        Nanos::from_micros(us)
    }

    #[test]
    fn a_lone_read_takes_array_and_transfer_and_half_a_page_half_the_transfer() {
        assert_eq!(nand(false, false).read(START, START, Unit(0), 8), micros(150));
        assert_eq!(nand(false, false).read(START, START, Unit(0), 4), micros(100));
    }

    #[test]
    fn two_dies_of_a_channel_read_together_and_transfer_in_turn() {
        let mut nand = nand(false, false);
        assert_eq!(nand.read(START, START, Unit(0), 8), micros(150));
        assert_eq!(nand.read(START, START, Unit(2), 8), micros(250), "the other die of the same channel");
        assert_eq!(nand.read(START, START, Unit(1), 8), micros(150), "another channel");
        assert_eq!(nand.read(START, START, Unit(0), 8), micros(350), "the same die: read while the other transfers");
    }

    #[test]
    fn a_die_under_collection_does_not_hold_up_its_neighbour() {
        let mut nand = nand(false, false);
        nand.book(START, START, &[FlashOp::Move(Unit(0), 10)]);
        assert_eq!(nand.read(START, START, Unit(2), 8), micros(350), "it waits for one page's transfer only");
    }

    #[test]
    fn moving_a_page_is_a_read_two_transfers_and_a_program() {
        let plan = [FlashOp::Move(Unit(0), 3), FlashOp::Erase(Unit(0))];
        assert_eq!(nand(false, false).book(START, START, &plan), micros(3 * (50 + 200 + 900) + 2000));
        assert_eq!(nand(false, true).book(START, START, &plan), micros(3 * (50 + 900) + 2000), "inside the die");
    }

    #[test]
    fn planes_program_together_where_they_can() {
        let plan = [FlashOp::Program(Unit(0)), FlashOp::Program(Unit(1))];
        assert_eq!(nand(true, false).book(START, START, &plan), micros(100 + 100 + 900));
        let plan = [FlashOp::Program(Unit(0)), FlashOp::Program(Unit(4))];
        assert_eq!(
            nand(false, false).book(START, START, &plan),
            micros(2 * (100 + 900)),
            "the same die, one after the other"
        );
    }
}
