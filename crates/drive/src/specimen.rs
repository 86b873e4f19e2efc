//! Which drive of its model one is.

use block::Seed;
use serde::{Deserialize, Serialize};

/// One drive of a model, and the origin of all that is drawn for it.
///
/// Two specimens have the same parts and other luck: what their parts are like is drawn once, and what happens to them as
/// it happens, both from [`seed`](Self::seed). The same specimen of the same model is the same drive, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specimen {
    number: u32,
    seed: Seed,
}

impl Specimen {
    /// The highest number, so that the drives of a rig of any number have numbers too.
    pub const MAX: u32 = 1_000_000;

    /// The drive of this number, counted from one, of those that its file calls `model`.
    ///
    /// # Panics
    /// If the number is zero.
    pub fn new(model: &str, number: u32) -> Self {
        assert!(number > 0, "specimens are counted from one");
        Self { number, seed: Seed::new(u64::from(number)).split(model) }
    }

    /// Its number, counted from one.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The origin of its random streams, each of which is split from it by name.
    pub const fn seed(self) -> Seed {
        self.seed
    }

    /// The origin of what was drawn before drives had specimens: the first has what every drive had then.
    pub(crate) const fn seed_by_number(self) -> Seed {
        Seed::new(self.number as u64 - 1)
    }
}

/// The first of a model without a name.
impl Default for Specimen {
    fn default() -> Self {
        Self::new("", 1)
    }
}
