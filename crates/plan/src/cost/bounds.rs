//! A quantity known to lie between two others.

use std::ops::Add;

use block::{Bytes, Nanos};

/// A quantity that will be at least so much and at most so much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds<T> {
    /// At least this.
    pub least: T,
    /// At most this; as much as `least` where that is all there is to say.
    pub most: T,
    /// Whether it follows from how fast the target is taken to be, and not from the plan alone.
    pub is_estimate: bool,
}

impl<T: Copy + Add<Output = T> + Ord> Bounds<T> {
    /// Just so much, by the plan's own words.
    pub fn exact(value: T) -> Self {
        Self { least: value, most: value, is_estimate: false }
    }

    /// About so much.
    pub fn estimated(value: T) -> Self {
        Self { least: value, most: value, is_estimate: true }
    }

    /// This and then the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            least: self.least + other.least,
            most: self.most + other.most,
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }

    /// Whichever is more.
    pub fn max(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            most: self.most.max(other.most),
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }

    /// From this on up to the other.
    pub fn to(self, most: Self) -> Self {
        Self {
            least: self.least.min(most.most),
            most: most.most.max(self.least),
            is_estimate: self.is_estimate || most.is_estimate,
        }
    }
}

impl Bounds<Bytes> {
    /// So often.
    pub fn times(self, count: u64) -> Self {
        Self { least: self.least.times(count), most: self.most.times(count), ..self }
    }
}

impl Bounds<Nanos> {
    /// So often.
    pub fn times(self, count: u64) -> Self {
        Self { least: self.least.times(count), most: self.most.times(count), ..self }
    }
}
