//! Configurations of other simulators of drives: their fields, read by tables, and the drive's file that is made of them.
//!
//! A simulator has a module of its own that finds the fields in its kind of file and says what a drive is by them. What each field can
//! hold, what the simulator takes where it is missing and what becomes of it is a row of a table ([`field`]); a drive's file
//! is written with what each of its values is from ([`drive_text`]).

mod drive_import;
pub(super) mod drive_text;
pub(super) mod expression;
pub(super) mod field;
pub(super) mod lines;
mod reference;

pub use drive_import::DriveImport;
pub(super) use reference::row;

use super::{Notice, Severity, SourceRange};

/// A simulator whose files are imported.
#[derive(Debug)]
pub(super) struct Simulator {
    /// Its name, as it is told.
    pub(super) name: &'static str,
    /// What it does with a field that it does not know.
    pub(super) unknown: &'static str,
    /// What follows where a field is there twice.
    pub(super) twice: &'static str,
    /// The kinds of its notices.
    pub(super) codes: NoticeCodes,
}

/// The kinds of notices on a field.
#[derive(Debug)]
pub(super) struct NoticeCodes {
    pub(super) bad_value: &'static str,
    pub(super) default: &'static str,
    pub(super) duplicate: &'static str,
    pub(super) missing: &'static str,
    pub(super) not_honoured: &'static str,
    pub(super) refused: &'static str,
    pub(super) unknown_field: &'static str,
}

/// The kinds of notices under a simulator's prefix.
macro_rules! notice_codes {
    ($prefix:literal) => {
        $crate::import::simulator::NoticeCodes {
            bad_value: concat!($prefix, "::bad-value"),
            default: concat!($prefix, "::default"),
            duplicate: concat!($prefix, "::duplicate"),
            missing: concat!($prefix, "::missing"),
            not_honoured: concat!($prefix, "::not-honoured"),
            refused: concat!($prefix, "::refused"),
            unknown_field: concat!($prefix, "::unknown-field"),
        }
    };
}
pub(super) use notice_codes;

/// What cannot be taken over, and what would be right.
pub(super) fn mistake(code: &'static str, option: &str, message: String, help: &str, place: SourceRange) -> Notice {
    Notice { severity: Severity::Error, code, option: option.to_owned(), message, help: Some(help.to_owned()), place }
}

/// Whether there is a mistake for which a file cannot be used.
pub(super) fn is_refused(notices: &[Notice]) -> bool {
    notices.iter().any(|notice| notice.severity == Severity::Error)
}
