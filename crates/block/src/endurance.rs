//! How much may be written to a drive in its life.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Bytes;
use crate::figure::in_units;

/// How much the host may write to a drive in its life, as its maker promises: "total bytes written", TBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Endurance(Bytes);

impl Endurance {
    /// So much data.
    pub const fn new(written: Bytes) -> Self {
        Self(written)
    }

    /// How much that is.
    pub const fn bytes(self) -> Bytes {
        self.0
    }

    /// What share of it `written` is; 1 for all.
    pub fn share(self, written: Bytes) -> f64 {
        written.get() as f64 / self.0.get() as f64
    }
}

/// `150 TB`, `1.38 PB`: three significant digits, decimal units, as data sheets have it.
impl fmt::Display for Endurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&in_units(self.0.get() as f64, &[(1e9, "GB"), (1e12, "TB"), (1e15, "PB")]))
    }
}
