//! What is to be said of an option that is not taken over as it stands.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{ImportSource, SourceRange};
use crate::printable;

/// How much a notice weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The job is run as it was written, which may not be what was meant.
    Note,
    /// The job can be run, but not in every respect as it was written.
    Warning,
    /// The job cannot be run.
    Error,
}

/// What was found at a place of a job file, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it weighs.
    pub severity: Severity,
    /// What kind it is: `fio::unknown-option`.
    pub code: &'static str,
    /// The option, by the name that was written; a section's name where it is about the section.
    pub option: String,
    /// What was found.
    pub message: String,
    /// What follows, or what would be right.
    pub help: Option<String>,
    /// Where.
    pub place: SourceRange,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, ": {help}"))
    }
}

/// The notices as a compiler shows them: file, line and column, the words underlined, what follows.
///
/// `color` adds ANSI escapes. Of very many the first hundred are shown.
pub fn render(notices: &[Notice], sources: &[ImportSource], color: bool) -> String {
    const SHOWN: usize = 100;
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut all: Vec<String> =
        notices.iter().take(SHOWN).map(|notice| render_one(notice, sources, &renderer)).collect();
    if notices.len() > SHOWN {
        all.push(format!("… and {} more", notices.len() - SHOWN));
    }
    all.join("\n\n")
}

/// The ends of the kinds of notices whose second sentence says what follows or why, not what would be right.
const REASONS: [&str; 6] = ["default", "not-honoured", "refused", "rounded", "suspension", "unknown-field"];

fn render_one(notice: &Notice, sources: &[ImportSource], renderer: &Renderer) -> String {
    let ImportSource { name, text } = &sources[notice.place.source];
    let snippet = Snippet::source(text).path(name).annotation(AnnotationKind::Primary.span(notice.place.span.clone()));
    let level = match notice.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let what = level.primary_title(printable(&notice.message)).id(notice.code).element(snippet);
    let words = if is_reason(notice.code) { Level::NOTE } else { Level::HELP };
    let help = notice.help.iter().map(|help| Group::with_title(words.clone().secondary_title(printable(help))));
    renderer.render(&std::iter::once(what).chain(help).collect::<Vec<_>>())
}

fn is_reason(code: &str) -> bool {
    code.rsplit("::").next().is_some_and(|end| REASONS.contains(&end))
}
