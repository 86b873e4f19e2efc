//! Pages of the host's that are nowhere, on a drive that was written at random.

use block::Bytes;
use serde::{Deserialize, Serialize};

use super::marks::thin;
use super::operation::Lpn;
use crate::draw::Draws;
use crate::table::Table;

/// A bit for each page that was never written, or was trimmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Absent(Table<u64>);

impl Absent {
    /// None of so many pages is anywhere.
    pub fn all(pages: u32) -> Self {
        let mut absent = Table::new(pages.div_ceil(64) as usize);
        absent.fill(u64::MAX);
        if let (Some(last), rest @ 1..) = (absent.last_mut(), pages % 64) {
            *last = (1 << rest) - 1;
        }
        Self(absent)
    }

    /// Those of so many pages.
    pub fn of(pages: u32, is_absent: impl Fn(Lpn) -> bool) -> Self {
        let mut absent = Table::new(pages.div_ceil(64) as usize);
        for page in (0..pages).filter(|page| is_absent(Lpn(*page))) {
            absent[(page >> 6) as usize] |= 1 << (page & 63);
        }
        Self(absent)
    }

    /// Whether a page is one of them.
    #[inline]
    pub fn has(&self, page: Lpn) -> bool {
        self.0.get((page.0 >> 6) as usize).is_some_and(|word| word >> (page.0 & 63) & 1 == 1)
    }

    /// So many of them, all as likely; none if that is none.
    pub fn thinned(mut self, keep: u32, draws: &mut Draws) -> Option<Self> {
        thin(&mut self.0, keep, draws);
        (keep > 0).then_some(self)
    }

    /// About what they take in memory.
    pub fn memory(&self) -> Bytes {
        self.0.memory()
    }
}
