//! What is to be said of a file, as it is found.

use crate::import::{Notice, Severity, SourceRange};

#[derive(Debug, Default)]
pub(super) struct Notices(pub(super) Vec<Notice>);

impl Notices {
    /// What is not taken over as it stands, and what follows.
    pub(super) fn warn(&mut self, code: &'static str, option: &str, place: SourceRange, found: String, follows: &str) {
        self.say(Severity::Warning, code, option, place, found, follows);
    }

    /// What cannot be taken over, and what would be right.
    pub(super) fn refuse(&mut self, code: &'static str, option: &str, place: SourceRange, found: String, right: &str) {
        self.say(Severity::Error, code, option, place, found, right);
    }

    fn say(
        &mut self,
        severity: Severity,
        code: &'static str,
        option: &str,
        place: SourceRange,
        message: String,
        help: &str,
    ) {
        self.0.push(Notice { severity, code, option: option.to_owned(), message, help: Some(help.to_owned()), place });
    }
}
