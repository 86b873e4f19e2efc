//! What the copies that measurements are made on did and went through, as a part of what the drive was asked for.

use drive::{Counters, Device, Drive, Health, WearSummary};

/// Of all copies so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub counters: Counters,
    gone: Health,
}

/// A state that nothing has led to yet.
fn nothing() -> Health {
    Health { wear: Some(WearSummary::default()), ..Health::default() }
}

impl Default for Measured {
    fn default() -> Self {
        Self { counters: Counters::default(), gone: nothing() }
    }
}

impl Measured {
    /// A copy was measured, and came from one state to the other.
    pub fn add(&mut self, before: &Device, after: &Device) {
        self.counters = self.counters + (after.counters() - before.counters());
        self.gone = self.gone.gone(&before.health(), &after.health());
    }

    /// The state of a drive that went through it all itself.
    pub fn health(&self, state: Health) -> Health {
        state.gone(&nothing(), &self.gone)
    }
}
