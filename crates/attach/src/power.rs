//! The power of an attached drive, which can be cut.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::Lba;
use drive::PowerLoss;
use serde::{Deserialize, Serialize};

/// What a cut of the drive's power cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// Requests that had been answered.
    pub answered: u64,
    /// Sectors of 512 bytes that the drive had taken and that are what they were before, or zero.
    pub sectors: u64,
    /// Requests that were answered with an error in place of the drive.
    pub unanswered: usize,
}

impl PowerCut {
    /// A cut after so many answers, with so many requests in flight.
    pub fn new(answered: u64, lost: &PowerLoss, unanswered: usize) -> Self {
        let length = |&(from, until): &(Lba, Lba)| until.get() - from.get();
        Self { answered, sectors: lost.sectors.iter().chain(&lost.gone).map(length).sum(), unanswered }
    }
}

/// What cuts the power of a drive, also from within the handler of a signal.
#[derive(Debug)]
pub struct Switch {
    /// Set it first.
    pub flag: Arc<AtomicBool>,
    /// Then write a byte here or close it, so that a server which sleeps looks at once.
    pub waker: PipeWriter,
}

#[derive(Debug, Default)]
pub struct PowerCutTrigger {
    flag: Arc<AtomicBool>,
    woken: Option<PipeReader>,
    after: Option<u64>,
    cut: Option<PowerCut>,
}

impl PowerCutTrigger {
    /// Power that is cut by the switch, or after so many answers.
    ///
    /// # Errors
    /// If no pipe can be made.
    pub fn new(after: Option<u64>) -> io::Result<(Self, Switch)> {
        let (woken, waker) = io::pipe()?;
        let flag = Arc::new(AtomicBool::new(false));
        Ok((Self { flag: Arc::clone(&flag), woken: Some(woken), after, cut: None }, Switch { flag, waker }))
    }

    /// What can be read from once the switch was used; none when that does not matter any more.
    pub fn woken(&self) -> Option<&PipeReader> {
        self.woken.as_ref()
    }

    /// Whether it is to be cut now that so many requests were answered.
    pub fn is_to_be_cut(&self, answered: u64) -> bool {
        self.cut.is_none() && (self.flag.load(Ordering::Relaxed) || self.after.is_some_and(|after| answered >= after))
    }

    /// Notes that it was cut; it stays so.
    pub fn note(&mut self, cut: PowerCut) {
        (self.cut, self.woken) = (Some(cut), None);
    }

    /// What the cut cost; none while there is power.
    pub fn cut(&self) -> Option<PowerCut> {
        self.cut
    }
}
