//! The power of an attached drive, which can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::Lba;
use drive::Lost;
use serde::{Deserialize, Serialize};

/// What a cut of the drive's power cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Requests that had been answered.
    pub answered: u64,
    /// Sectors of 512 bytes that the drive had taken and that are what they were before.
    pub sectors: u64,
    /// Requests that were answered with an error in place of the drive.
    pub unanswered: usize,
}

impl Cut {
    /// A cut after so many answers, with so many requests in flight.
    pub fn new(answered: u64, lost: &Lost, unanswered: usize) -> Self {
        let length = |&(from, until): &(Lba, Lba)| until.get() - from.get();
        Self { answered, sectors: lost.sectors.iter().map(length).sum(), unanswered }
    }
}

/// When the power is to be cut.
#[derive(Clone, Debug, Default)]
pub struct Power {
    switch: Arc<AtomicBool>,
    after: Option<u64>,
    cut: Option<Cut>,
}

impl Power {
    /// Power that is cut when `switch` is set, or after so many answers.
    pub fn new(switch: Arc<AtomicBool>, after: Option<u64>) -> Self {
        Self { switch, after, cut: None }
    }

    /// Whether it is to be cut now that so many requests were answered.
    pub fn is_to_be_cut(&self, answered: u64) -> bool {
        self.cut.is_none() && (self.switch.load(Ordering::Relaxed) || self.after.is_some_and(|after| answered >= after))
    }

    /// Notes that it was cut; it stays so.
    pub fn note(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    /// What the cut cost; none while there is power.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }
}
