//! Steps that tried something above the drive: what came of them as tables, charts and words.

mod chart;
mod section;
mod sheet;
mod text;

pub(crate) use section::{LONG, section};
pub(crate) use sheet::{Column, Row, Sheet, precision, shown, wide};
pub(crate) use text::{lines, verdict};
