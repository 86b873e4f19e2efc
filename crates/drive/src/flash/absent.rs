//! Pages of the host's that are nowhere, on a drive that was written at random.

use block::Bytes;
use serde::{Deserialize, Serialize};

use super::marks::{is_marked, mark, thin};
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
        mark(&mut absent, 0..pages);
        Self(absent)
    }

    /// Those of so many pages.
    pub fn of(pages: u32, is_absent: impl Fn(Lpn) -> bool) -> Self {
        let mut absent = Table::new(pages.div_ceil(64) as usize);
        for page in (0..pages).filter(|page| is_absent(Lpn(*page))) {
            mark(&mut absent, page..page + 1);
        }
        Self(absent)
    }

    /// Whether a page is one of them.
    #[inline]
    pub fn has(&self, page: Lpn) -> bool {
        is_marked(&self.0, page.0)
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
