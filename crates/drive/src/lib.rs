//! Simulated drives: pure state machines to which time is an argument.
//!
//! A drive reads no clock, no file and no environment, and holds no data, only where data is. The
//! same submissions at the same times give the same answers, bit for bit, on every machine.

mod calendar;
mod counters;
mod device;
pub mod disk;
pub mod dram;
pub mod flash;
mod link;
pub mod preset;
mod queue;

use block::{Bytes, Completion, Nanos, Request, Tag};
pub use counters::Counters;
pub use device::Device;
pub use link::LinkTimes;
use serde::{Deserialize, Serialize};

/// What a host learns when it asks a drive to identify itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// How much the host can store.
    pub capacity: Bytes,
    /// The smallest request.
    pub block: Bytes,
    /// How many commands the drive takes at once; more wait in the host.
    pub queue_depth: u32,
}

/// A simulated drive.
pub trait Drive {
    /// What the host can know of it.
    fn shape(&self) -> Shape;

    /// Hands over a request. The drive first does all it would have done since it was last touched.
    ///
    /// # Panics
    /// If `now` is before a time already reached, or the request is not whole blocks within the capacity.
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request);

    /// Before this, nothing completes unless something more is submitted; none if nothing is in flight.
    fn next_event(&self) -> Option<Nanos>;

    /// Takes the earliest completion at or before `until`, moving the drive's time to it. None if there is
    /// no such; the drive may then have done what it does inside up to `until`, so that submitting before
    /// that would be too late.
    fn complete(&mut self, until: Nanos) -> Option<Completion>;

    /// The time that the drive has reached.
    fn now(&self) -> Nanos;

    /// What the drive has done since it was made.
    fn counters(&self) -> Counters;

    /// Forgets all data, as a secure erase does. No request may be in flight.
    fn purge(&mut self);

    /// Says that these requests will be submitted soon. It changes nothing that can be observed; a drive
    /// with large tables uses it to have their entries at hand.
    fn expect(&self, _soon: &[Request]) {}
}
