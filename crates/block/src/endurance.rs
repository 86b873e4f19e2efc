//! How much may be written to a drive in its life.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Bytes;
use crate::nanos::three_digits;

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
        let text = match self.0.get() as f64 {
            bytes if bytes < 1e12 => format!("{} GB", three_digits(bytes / 1e9)),
            bytes if bytes < 1e15 => format!("{} TB", three_digits(bytes / 1e12)),
            bytes => format!("{} PB", three_digits(bytes / 1e15)),
        };
        f.pad(&text)
    }
}
