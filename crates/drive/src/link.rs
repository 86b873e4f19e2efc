//! The cable between host and drive.

use block::{Bytes, Nanos, Rate, SECTOR};
use serde::{Deserialize, Serialize};

use crate::calendar::Calendar;

/// What a link costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTimes {
    /// Data transferred a second once coding is taken off: 300 MB/s for SATA 3 Gb/s with 8b/10b.
    pub rate: Rate,
    /// The most data that one frame carries.
    pub frame: Bytes,
    /// What each full frame costs beside its data: header, check, turnaround.
    pub frame_overhead: Nanos,
    /// What each command costs beside its data: command, set-up and status frames.
    pub command: Nanos,
    /// The same for one that brings data: the host must be told to send it first.
    pub command_write: Nanos,
    /// Whether both directions carry data at once, as PCIe does and SATA does not.
    pub duplex: bool,
}

/// A link that carries one thing at a time in either direction, or in each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Link {
    times: LinkTimes,
    /// What a number of sectors costs, up to a page's worth.
    by_sectors: Vec<Nanos>,
    calendar: Calendar,
    /// Of what comes from the host where that has wires of its own.
    inward: Calendar,
}

impl Link {
    /// An idle link over which at most `piece` is sent at once.
    pub fn new(times: LinkTimes, piece: Bytes) -> Self {
        let cost = |sectors: u64| {
            let bytes = SECTOR.times(sectors);
            let share = times.frame_overhead.as_nanos() * bytes.get() / times.frame.get();
            times.rate.time_for(bytes) + Nanos::from_nanos(share)
        };
        Self {
            times,
            by_sectors: (0..=piece.sectors()).map(cost).collect(),
            calendar: Calendar::default(),
            inward: Calendar::default(),
        }
    }

    /// Sends to the host data that is ready at `ready`, with the frames of its command if it is the first of
    /// it; when it is through.
    ///
    /// Those frames go in one with the data. Sent on their own they would need a gap for themselves between
    /// transfers that are booked but have not begun, and which in truth would give way by a microsecond.
    #[inline]
    pub fn send(&mut self, now: Nanos, ready: Nanos, sectors: u32, is_first: bool) -> Nanos {
        self.calendar.reserve(now, ready, self.cost(sectors, is_first, self.times.command))
    }

    /// Receives data that the host has at `ready`, likewise.
    #[inline]
    pub fn receive(&mut self, now: Nanos, ready: Nanos, sectors: u32, is_first: bool) -> Nanos {
        let cost = self.cost(sectors, is_first, self.times.command_write);
        let calendar = if self.times.duplex { &mut self.inward } else { &mut self.calendar };
        calendar.reserve(now, ready, cost)
    }

    #[inline]
    fn cost(&self, sectors: u32, is_first: bool, command: Nanos) -> Nanos {
        let command = if is_first { command } else { Nanos::ZERO };
        command + self.by_sectors[sectors as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SATA_3G: LinkTimes = LinkTimes {
        rate: Rate::from_megabytes_per_second(300),
        frame: Bytes::from_kib(8),
        frame_overhead: Nanos::from_micros(1),
        command: Nanos::from_nanos(6_800),
        command_write: Nanos::from_nanos(9_100),
        duplex: false,
    };

    #[test]
    fn a_page_costs_its_bytes_and_half_a_frame() {
        let mut link = Link::new(SATA_3G, Bytes::from_kib(4));
        assert_eq!(link.send(Nanos::ZERO, Nanos::ZERO, 8, false), Nanos::from_nanos(13_654 + 500));
    }

    #[test]
    fn the_first_piece_carries_the_frames_of_the_command() {
        let mut link = Link::new(SATA_3G, Bytes::from_kib(4));
        assert_eq!(link.send(Nanos::ZERO, Nanos::ZERO, 0, true), SATA_3G.command);
    }

    #[test]
    fn a_command_that_brings_data_costs_more_frames() {
        for (is_first, nanos) in [(true, 9_100 + 13_654 + 500), (false, 13_654 + 500)] {
            let mut link = Link::new(SATA_3G, Bytes::from_kib(4));
            assert_eq!(link.receive(Nanos::ZERO, Nanos::ZERO, 8, is_first), Nanos::from_nanos(nanos));
        }
    }

    #[test]
    fn two_senders_take_turns() {
        let mut link = Link::new(SATA_3G, Bytes::from_kib(4));
        let first = link.send(Nanos::ZERO, Nanos::ZERO, 8, false);
        let second = link.send(Nanos::ZERO, Nanos::ZERO, 8, false);
        assert_eq!(second.as_nanos(), 2 * first.as_nanos());
    }

    #[test]
    fn directions_share_the_wires_or_have_their_own() {
        for (duplex, times) in [(false, 2), (true, 1)] {
            let mut link = Link::new(LinkTimes { duplex, ..SATA_3G }, Bytes::from_kib(4));
            let out = link.send(Nanos::ZERO, Nanos::ZERO, 8, false);
            assert_eq!(link.receive(Nanos::ZERO, Nanos::ZERO, 8, false).as_nanos(), times * out.as_nanos());
        }
    }
}
