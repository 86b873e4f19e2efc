//! Simulated drives: pure state machines to which time is an argument.
//!
//! A drive reads no clock, no file and no environment, and holds no data, only where data is. The
//! same submissions at the same times give the same answers, bit for bit, on every machine.

/// The example of the page that introduces the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod array;
mod calendar;
mod cloned;
mod counters;
mod delay;
mod device;
pub mod disk;
mod divisor;
pub mod dram;
pub mod draw;
mod energy;
mod event_queue;
pub mod flash;
mod health;
pub mod hybrid;
mod least;
mod link;
mod observed;
pub mod pcm;
mod periodic;
mod power_loss;
pub mod preset;
mod quantiles;
mod queue;
pub mod rig;
mod shared;
mod shared_table;
mod slab;
pub mod smart;
mod sparse;
mod specimen;
mod table;
mod thermal;
mod wear;
mod zones;

use block::{Bytes, Completion, Lba, Nanos, Request, Seed, Tag, Zone, ZoneLimits};
pub use counters::Counters;
pub use delay::DelaySpec;
pub use device::Device;
pub use energy::{LowPower, PowerSpec};
pub use health::Health;
pub use link::LinkTimes;
pub use observed::Observed;
pub use power_loss::PowerLoss;
use serde::{Deserialize, Serialize};
pub use specimen::Specimen;
pub use thermal::{ThermalSpec, Throttle};
pub use wear::{WearSpec, WearSummary};
pub use zones::{ZoneDeed, ZoneRules, Zones, ZonesSpec};

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

/// Guards that a drive which has reached a time is asked for nothing in its past.
///
/// # Panics
/// If it is.
#[inline]
pub(crate) fn not_before(reached: Nanos, now: Nanos) {
    assert!(now >= reached, "asked at {now}, before {reached} which the drive has reached");
}

/// Guards that a request lies within what a host can store.
///
/// # Panics
/// If it does not.
#[inline]
pub(crate) fn within(capacity: Bytes, request: &Request) {
    let end = Lba::at(capacity);
    assert!(request.end() <= end, "sector {} is beyond the drive's {}", request.end().get(), end.get());
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
    fn counters(&self) -> Counters {
        self.counters_at(self.now())
    }

    /// What it will have done at `at` if nothing more is asked of it: from the time that it has reached, what waiting consumes.
    fn counters_at(&self, at: Nanos) -> Counters;

    /// The state it is in: how warm, how worn, how long in use.
    fn health(&self) -> Health {
        Health { power_on: self.now(), power_cycles: 1, ..Health::default() }
    }

    /// Forgets all data, as a secure erase does. No request may be in flight.
    fn purge(&mut self);

    /// Cuts the drive's power at `now` and switches it on again at once. No command in flight is ever answered,
    /// and the next waits until the drive has started. A drive that keeps nothing in volatile memory loses
    /// nothing of its data.
    ///
    /// # Panics
    /// If `now` is before a time already reached.
    fn cut_power(&mut self, _now: Nanos) -> PowerLoss {
        PowerLoss::default()
    }

    /// The sectors of answered writes that a power cut at `now` would lose, in the form of [`PowerLoss::sectors`]; of writes that
    /// were not answered, any. Where these have not reached the drives yet that are put together, it may be more.
    fn unsaved(&self, _now: Nanos) -> Vec<(Lba, Lba)> {
        Vec::new()
    }

    /// Says which worker each tag belongs to from now on, so that a host can keep a worker on one processor. A tag of which
    /// nothing was said is a worker of its own.
    fn bind(&mut self, _workers: &[u32]) {}

    /// Has what is drawn as it happens come from `seed` from now on, joined to the drive's own: two clones that draw from
    /// different seeds have different luck from here.
    fn draw_from(&mut self, _seed: Seed) {}

    /// How many zones may be in use at once; none if the drive has no zones.
    fn zone_limits(&self) -> Option<ZoneLimits> {
        None
    }

    /// Its zones as they are; none if it has none.
    fn zones(&self) -> Vec<Zone> {
        Vec::new()
    }

    /// Says that these requests will be submitted soon. It changes nothing that can be observed; a drive
    /// with large tables uses it to have their entries at hand.
    fn expect(&self, _soon: &[Request]) {}

    /// Says that these, of which it was told before, will be submitted next. What is to be found by those entries can be had
    /// at hand now that memory has answered.
    fn expect_next(&self, _next: &[Request]) {}
}
