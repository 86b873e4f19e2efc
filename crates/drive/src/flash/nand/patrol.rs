//! How long it takes to read flash in the background.

use block::Nanos;

use super::super::operation::PageLocation;
use super::{Nand, OperationKind};

impl Nand {
    /// Reads the `pages` that one array read brings and has them checked by the controller, at `at` or when the die has done
    /// what it was given by then. `now` is the time that has been reached: what was over by then is in nobody's way, and is
    /// not booked. When it is over.
    pub fn patrol(&mut self, now: Nanos, at: Nanos, place: PageLocation, pages: u32) -> Nanos {
        let number = self.die_of_unit[place.unit.0 as usize] as usize;
        let page = *self.transfer.last().expect("a page has a sector");
        let transfer = page.times(u64::from(pages));
        let sensing = self.sensing(at, number, place, transfer);
        self.pages_read += u64::from(pages);
        let die = &mut self.dies[number];
        let start = die.free.max(at);
        if start + sensing + transfer <= now {
            return start + sensing + transfer;
        }
        let done = self.channels[die.channel as usize].reserve(now, die.lane, start + sensing, transfer);
        die.note(now, OperationKind::Reads(done - start), start, done, false);
        die.free = done;
        die.joinable = None;
        done
    }
}
