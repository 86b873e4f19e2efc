//! Steps that tried something above the drive: what came of them as tables, charts and words.

mod chart;
mod section;
mod sheet;
mod text;

pub(crate) use section::section;
pub(crate) use sheet::TrialSheet;
pub(crate) use text::{lines, verdict};
