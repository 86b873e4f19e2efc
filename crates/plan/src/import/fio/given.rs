//! Options as they were given, and those that are in force for a job.

use std::sync::Arc;

use super::super::{Notice, Severity, SourceRange};
use super::table::FioOptionSpec;

/// An option as it was written.
#[derive(Clone, Debug)]
pub(super) struct FioOption {
    /// Which one it is.
    pub(super) known: &'static FioOptionSpec,
    /// The name by which it was written.
    pub(super) name: String,
    /// Its value, with everything put in place; none for a bare option.
    pub(super) value: Option<String>,
    /// Where it stands.
    pub(super) place: SourceRange,
    /// Whether that is the command line, and no file.
    pub(super) is_typed: bool,
}

impl FioOption {
    /// Its value; a bare option is switched on.
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// `name=value` as it was written, shortened if it must be.
    pub(super) fn written(&self) -> String {
        const LONGEST: usize = 60;
        let whole = self.value.as_ref().map_or_else(|| self.name.clone(), |value| format!("{}={value}", self.name));
        match whole.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &whole[..end]),
            None => whole,
        }
    }

    /// That the option is not honoured, and what follows.
    pub(super) fn lost(&self, follows: impl Into<String>) -> Notice {
        let message = format!("`{}` is not honoured", self.written());
        self.notice(Severity::Warning, "fio::not-honoured", message, Some(follows.into()))
    }

    /// What fio takes its unit for, where that is not what it says.
    pub(super) fn thousands(&self) -> Option<String> {
        let text = self.text().to_ascii_lowercase();
        let letter = text.strip_suffix("ib")?.chars().last().filter(|letter| "kmgtp".contains(*letter))?;
        let unit = format!("{}iB", letter.to_ascii_uppercase());
        Some(format!("fio counts `{unit}` in thousands and `{letter}` in steps of 1,024, unless it has `kb_base=1000`"))
    }

    /// That the option does what it does in fio, which is not what its words promise.
    pub(super) fn noted(&self, what: impl Into<String>, help: impl Into<String>) -> Notice {
        let message = format!("`{}`: {}", self.written(), what.into());
        self.notice(Severity::Note, "fio::note", message, Some(help.into()))
    }

    /// That the job cannot be run with the option, and why.
    pub(super) fn refused(&self, why: impl Into<String>) -> Notice {
        let message = format!("a job with `{}` cannot be run", self.written());
        self.notice(Severity::Error, "fio::refused", message, Some(why.into()))
    }

    /// That the value makes no sense.
    pub(super) fn bad(&self, what: impl Into<String>) -> Notice {
        let message = format!("`{}`: {}", self.name, what.into());
        self.notice(Severity::Error, "fio::bad-value", message, self.thousands())
    }

    pub(super) fn notice(
        &self,
        severity: Severity,
        code: &'static str,
        message: String,
        help: Option<String>,
    ) -> Notice {
        Notice { severity, code, option: self.name.clone(), message, help, place: self.place.clone() }
    }
}

/// A job's section, with the options that are in force for it: its own and, where it is silent, those of the global
/// sections above it. Each option once, in the order of the text.
#[derive(Clone, Debug)]
pub(super) struct FioSection {
    /// The name between the brackets.
    pub(super) name: String,
    /// Where that stands.
    pub(super) place: SourceRange,
    /// Whether that is the command line, and no file.
    pub(super) is_typed: bool,
    /// The options in force.
    pub(super) options: Vec<Arc<FioOption>>,
}

impl FioSection {
    /// The option of this name, if it is in force.
    pub(super) fn option(&self, name: &str) -> Option<&FioOption> {
        self.options.iter().find(|given| given.known.name == name).map(Arc::as_ref)
    }
}
