//! A virtual machine's rings as the port of a drive.

use std::io::{self, PipeReader};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use drive::Shape;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::host::MonitorThread;
use super::request::{VhostRequest, VhostStatus, answer, name, read};
use super::rings::{RingSlot, Rings};
use crate::AttachError;
use crate::port::{IoRequest, IoWork, Port, Received, wait_for};

/// The virtual machine that is connected, if one is.
pub struct VhostMachine {
    rings: Arc<Rings>,
    /// Ends when nobody looks at the rings any more.
    _host: MonitorThread,
}

impl VhostMachine {
    /// Whichever machine's monitor comes to `listener`, one after the other, to use a drive of this shape.
    ///
    /// # Errors
    /// If the kernel has no event or thread for it.
    pub fn new(listener: UnixListener, shape: Shape) -> io::Result<Self> {
        let rings = Arc::new(Rings::new()?);
        let host = MonitorThread::new(listener, Arc::clone(&rings), shape)?;
        Ok(Self { rings, _host: host })
    }
}

/// What stands first in the rings.
fn receive(rings: &Rings) -> Received<RingSlot> {
    let Some(mut place) = rings.next() else { return Received::Nothing };
    match read(&place.chain) {
        VhostRequest::Drive(offset, length, work) => {
            if let IoWork::Write { data, .. } = &work {
                place.holds(data.len() as u64);
            }
            return Received::Request(IoRequest { name: place, offset, length, work });
        }
        VhostRequest::Name => rings.give_back(&place, |chain| answer(chain, &name(), VhostStatus::Done)),
        VhostRequest::Ends(status) => rings.give_back(&place, |chain| answer(chain, &[], status)),
    }
    Received::Other
}

impl Port for VhostMachine {
    type Name = RingSlot;

    fn receive(&mut self) -> Result<Received<RingSlot>, AttachError> {
        Ok(receive(&self.rings))
    }

    fn answer(&mut self, place: RingSlot, result: Result<&[u8], Errno>) -> io::Result<()> {
        let (data, status) = result.map_or((&[][..], VhostStatus::Failed), |data| (data, VhostStatus::Done));
        self.rings.give_back(&place, |chain| answer(chain, data, status));
        Ok(())
    }

    fn wait(&mut self, woken: Option<&PipeReader>, timeout: &Timespec) -> io::Result<()> {
        let mut sources = vec![PollFd::new(self.rings.bell(), PollFlags::IN)];
        sources.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        wait_for(&mut sources, timeout)?;
        self.rings.heard();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use vhost_user_backend::{VringRwLock, VringT};
    use vm_memory::{Bytes as _, GuestAddress, GuestAddressSpace, GuestMemoryAtomic, GuestMemoryMmap};

    use super::*;

    // Where a machine's driver has its ring, what it asks for, and room for data.
    const DESCRIPTORS: u64 = 0;
    const OFFERED: u64 = 0x2000;
    const USED: u64 = 0x3000;
    const ASKED: u64 = 0x4000;
    const STATUS: u64 = 0x5000;
    const DATA: u64 = 0x10_0000;
    const SIZE: u16 = 128;
    const MEMORY: usize = 64 << 20;

    /// The driver of a machine, as bad as can be.
    struct Driver {
        memory: GuestMemoryAtomic<GuestMemoryMmap>,
        offered: u16,
    }

    impl Driver {
        fn new(rings: &Rings) -> Self {
            let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY)]).unwrap();
            let memory = GuestMemoryAtomic::new(memory);
            let ring = VringRwLock::new(memory.clone(), SIZE).unwrap();
            ring.set_queue_info(DESCRIPTORS, OFFERED, USED).unwrap();
            ring.set_queue_size(SIZE);
            ring.set_queue_ready(true);
            ring.set_enabled(true);
            rings.remember(memory.clone());
            rings.ring(&[ring]);
            Self { memory, offered: 0 }
        }

        fn put<const N: usize>(&self, at: u64, bytes: [u8; N]) {
            self.memory.memory().write_slice(&bytes, GuestAddress(at)).unwrap();
        }

        /// Describes pieces of memory, each by its place and length, and whether it is for the device to write, as one request.
        fn describe(&self, kind: u32, pieces: &[(u64, u32, bool)]) {
            self.put(ASKED, [0; 16]);
            self.put(ASKED, kind.to_le_bytes());
            let all = [&[(ASKED, 16, false)], pieces, &[(STATUS, 1, true)]].concat();
            for (index, (place, length, writes)) in all.iter().enumerate() {
                let goes_on = u16::from(index + 1 < all.len());
                let flags = goes_on | u16::from(*writes) << 1;
                let next = (index as u16 + 1) * goes_on;
                let at = DESCRIPTORS + 16 * index as u64;
                self.put(at, place.to_le_bytes());
                self.put(at + 8, length.to_le_bytes());
                self.put(at + 12, flags.to_le_bytes());
                self.put(at + 14, next.to_le_bytes());
            }
        }

        /// Offers the request once more.
        fn offer(&mut self) {
            self.put(OFFERED + 4 + 2 * u64::from(self.offered % SIZE), 0_u16.to_le_bytes());
            self.offered = self.offered.wrapping_add(1);
            self.put(OFFERED + 2, self.offered.to_le_bytes());
        }

        fn status(&self) -> u8 {
            self.memory.memory().read_obj(GuestAddress(STATUS)).unwrap()
        }
    }

    /// What is taken of a request that is offered so often.
    fn taken(rings: &Rings, driver: &mut Driver, times: u32) -> Vec<IoRequest<RingSlot>> {
        let mut taken = Vec::new();
        for _ in 0..times {
            driver.offer();
            while let Received::Request(wanted) = receive(rings) {
                taken.push(wanted);
            }
        }
        taken
    }

    #[test]
    fn a_machine_that_offers_a_write_without_end_makes_no_more_be_held_than_there_may_be() {
        let rings = Rings::new().unwrap();
        let mut driver = Driver::new(&rings);
        driver.describe(1, &[(DATA, 16 << 20, false)]);
        let first = taken(&rings, &mut driver, 100);
        let held = |taken: &[IoRequest<RingSlot>]| taken.iter().map(|wanted| wanted.length).sum::<u64>();
        assert_eq!((first.len(), held(&first)), (4, 64 << 20));
        // A machine that leaves and comes again has no more.
        rings.renew();
        let mut next = Driver::new(&rings);
        next.describe(1, &[(DATA, 16 << 20, false)]);
        assert!(taken(&rings, &mut next, 100).is_empty());
        first.into_iter().for_each(|wanted| rings.give_back(&wanted.name, |_| 0));
        assert_eq!(held(&taken(&rings, &mut next, 1)), 64 << 20, "the others were waiting");
    }

    #[test]
    fn a_machine_that_offers_reads_without_end_has_no_more_in_flight_than_its_ring_has_places() {
        let rings = Rings::new().unwrap();
        let mut driver = Driver::new(&rings);
        driver.describe(0, &[(DATA, 4096, true)]);
        let first = taken(&rings, &mut driver, 10 * u32::from(SIZE));
        assert_eq!(first.len(), usize::from(SIZE));
    }

    #[test]
    fn requests_that_are_too_long_or_lie_outside_of_the_memory_fail_and_the_next_is_taken() {
        let rings = Rings::new().unwrap();
        let mut driver = Driver::new(&rings);
        let many = vec![(DATA, 512, false); 127];
        let doubled = [(DATA, u32::MAX, false), (DATA, u32::MAX, false)];
        for pieces in [
            &[(DATA, 33 << 20, false)][..],
            &[(MEMORY as u64 - 512, 1024, false)],
            &[(u64::MAX - 511, 512, false)],
            &doubled,
            &many,
        ] {
            driver.put(STATUS, [255]);
            driver.describe(1, pieces);
            assert!(taken(&rings, &mut driver, 1).is_empty(), "{pieces:?}");
            // Where its memory makes no sense, a machine is told nothing.
            assert!([1, 255].contains(&driver.status()), "{pieces:?}: {}", driver.status());
        }
        driver.describe(1, &[(DATA, 4096, false)]);
        assert_eq!(taken(&rings, &mut driver, 1).len(), 1);
    }
}
