//! What is wrong with a plan, where, and what would be right.

use std::collections::HashSet;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use block::{ParseError, unknown_unit};
use thiserror::Error;

/// A mistake in a plan's text, with the place to underline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// What kind of mistake it is: `plan::unknown-field`.
    pub code: &'static str,
    /// What was found.
    pub message: String,
    /// The bytes of the text to underline.
    pub span: Range<usize>,
    /// The words beside the underline.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
    /// Another place that the mistake is about, with the words beside it.
    pub also: Option<(Range<usize>, String)>,
}

impl Diagnostic {
    /// A mistake at `span`, labelled `given here`.
    pub(crate) fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: "given here".to_owned(), help: None, also: None }
    }

    /// The same with other words beside the underline.
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// The same with a word on what would be right.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same with a second place.
    pub(crate) fn also(self, span: Range<usize>, label: impl Into<String>) -> Self {
        Self { also: Some((span, label.into())), ..self }
    }
}

/// The mistakes found so far, each place and kind once.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    found: Vec<Diagnostic>,
    places: HashSet<(&'static str, usize, usize)>,
}

impl Mistakes {
    /// Adds a mistake, unless its like was found at the same place: a bad default is wrong once, not once a step.
    pub(crate) fn push(&mut self, mistake: Diagnostic) {
        if self.places.insert((mistake.code, mistake.span.start, mistake.span.end)) {
            self.found.push(mistake);
        }
    }

    /// The value, or none and one more mistake.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|mistake| self.push(mistake)).ok()
    }

    /// How many were found.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// All of them in the order of the text.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|mistake| mistake.span.start);
        self.found
    }
}

/// The parts of a message before and behind its semicolon: what was found, what would be right.
pub(super) fn split(said: &str) -> (String, Option<String>) {
    said.split_once("; ").map_or((said.to_owned(), None), |(what, help)| (what.to_owned(), Some(help.to_owned())))
}

/// What was found and what would be right, apart.
pub(super) fn told(error: &ParseError) -> (String, Option<String>) {
    match error {
        ParseError::Empty { example } => ("empty value".to_owned(), Some((*example).to_owned())),
        ParseError::NotANumber { found, example } => {
            (format!("`{found}` is not a number"), Some((*example).to_owned()))
        }
        ParseError::Negative { found, example } => (format!("`{found}` is negative"), Some((*example).to_owned())),
        ParseError::Exponent { found, example } => {
            (format!("`{found}` has an exponent"), Some(format!("give all digits: {example}")))
        }
        ParseError::UnknownUnit { found, unit, units } => {
            (unknown_unit(found, unit), Some(format!("use one of {units}")))
        }
        ParseError::TooLarge { found, max } => {
            (format!("`{found}` is out of range"), Some(format!("at most {max} is possible")))
        }
        ParseError::TooSmall { found, min } => {
            (format!("`{found}` is out of range"), Some(format!("at least {min} is needed")))
        }
        error => (error.to_string(), None),
    }
}

/// The mistakes as a compiler shows them: file, line and column, the words underlined, what would be right.
///
/// `text` is what was parsed and `file_name` where it came from; `color` adds ANSI escapes. Of very many
/// mistakes the first twenty are shown.
pub fn render(diagnostics: &[Diagnostic], file_name: &str, text: &str, color: bool) -> String {
    const SHOWN: usize = 20;
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut all: Vec<String> =
        diagnostics.iter().take(SHOWN).map(|mistake| render_one(mistake, file_name, text, &renderer)).collect();
    if diagnostics.len() > SHOWN {
        all.push(format!("… and {} more", diagnostics.len() - SHOWN));
    }
    all.join("\n\n")
}

fn render_one(mistake: &Diagnostic, file_name: &str, text: &str, renderer: &Renderer) -> String {
    let primary = AnnotationKind::Primary.span(within(&mistake.span, text)).label(printable(&mistake.label));
    let also = mistake
        .also
        .iter()
        .map(|(span, label)| AnnotationKind::Context.span(within(span, text)).label(printable(label)));
    let snippet = Snippet::source(text).path(file_name).annotation(primary).annotations(also);
    let what = Level::ERROR.primary_title(printable(&mistake.message)).id(mistake.code).element(snippet);
    let help = mistake.help.iter().map(|help| Group::with_title(Level::HELP.secondary_title(printable(help))));
    renderer.render(&std::iter::once(what).chain(help).collect::<Vec<_>>())
}

/// `span` moved to whole characters of `text`.
fn within(span: &Range<usize>, text: &str) -> Range<usize> {
    let (mut start, mut end) = (span.start.min(text.len()), span.end.min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end.max(start)
}

/// `words` on one line of bearable length and without control characters, whatever the plan held.
pub(crate) fn printable(words: &str) -> String {
    const LONGEST: usize = 400;
    let mut line: String = words.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if words.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_shows_file_line_column_word_and_remedy() {
        let text = "name = \"x\"\nbs = \"6000\"\n";
        let mistake = Diagnostic::new("plan::workload", 16..22, "block size 5.86 KiB is odd").help("try 4k");
        assert_eq!(
            render(&[mistake], "plans/x.toml", text, false),
            "error[plan::workload]: block size 5.86 KiB is odd\n \
             --> plans/x.toml:2:6\n  \
             |\n\
             2 | bs = \"6000\"\n  \
             |      ^^^^^^ given here\n  \
             |\n\
             help: try 4k"
        );
    }

    #[test]
    fn places_outside_the_text_are_moved_inside() {
        for (text, span) in [("", 0..0), ("é", 1..1), ("é", 5..9), ("a\n", 2..7)] {
            let shown = render(&[Diagnostic::new("plan::x", span, "m")], "f", text, true);
            assert!(shown.contains("given here"), "{shown}");
        }
    }

    #[test]
    fn one_mistake_is_told_once() {
        let mut mistakes = Mistakes::default();
        for message in ["first", "again"] {
            mistakes.push(Diagnostic::new("plan::x", 3..5, message));
        }
        mistakes.push(Diagnostic::new("plan::x", 0..1, "earlier"));
        let told: Vec<String> = mistakes.into_sorted().into_iter().map(|mistake| mistake.message).collect();
        assert_eq!(told, ["earlier", "first"]);
    }
}
