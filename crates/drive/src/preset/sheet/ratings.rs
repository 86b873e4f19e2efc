//! What a data sheet says of a drive.

use super::disk::DiskRatings;
use super::value::Interface;

/// The longest text of ratings, in bytes.
pub const TEXT_MAX: usize = 64 << 10;

/// Why ratings make no drive: each mistake with what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", match self.0.as_slice() {
    [one] => one.clone(),
    all => format!("{} mistakes in the ratings:\n  {}", all.len(), all.join("\n  ")),
})]
pub struct RatingsError(pub(super) Vec<String>);

/// Whom a drive is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Market {
    Client,
    Server,
}

/// What a data sheet says of a drive; rates in bytes a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratings {
    pub(super) title: Option<String>,
    /// Bytes as the sheet has them: a terabyte is 10¹².
    pub(super) capacity: Option<f64>,
    pub(super) interface: Option<Interface>,
    pub(super) bits: Option<u32>,
    pub(super) sequential_read: Option<f64>,
    pub(super) sequential_write: Option<f64>,
    /// Requests of 4 KiB a second.
    pub(super) random_read: Option<f64>,
    pub(super) random_write: Option<f64>,
    pub(super) depth: Option<f64>,
    /// Microseconds.
    pub(super) read_latency: Option<f64>,
    /// Bytes that may be written.
    pub(super) endurance: Option<f64>,
    /// Drive writes a day.
    pub(super) daily: Option<f64>,
    pub(super) years: Option<f64>,
    pub(super) market: Option<Market>,
    /// Amount and date.
    pub(super) price: Option<(String, String)>,
    pub(super) source: Option<String>,
    pub(super) has_no_dram: bool,
    /// What is said of disks alone; none of a flash drive.
    pub(super) disk: Option<DiskRatings>,
    /// What was said that a drive's file has no place for.
    pub(super) unused: Vec<String>,
}

/// A line of at most so many letters, without marks of direction and width that pages' text has.
pub(super) fn clean(text: &str, most: usize) -> String {
    let is_mark =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let text = text.replace(is_mark, "");
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(most).collect::<String>().trim().to_owned()
}
