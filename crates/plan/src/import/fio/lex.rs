//! The lines of a job file.

use std::ops::Range;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word<'t> {
    /// `[name]` begins a section.
    Section(&'t str),
    /// `include FILE` stands for what that file says.
    Include(&'t str),
    /// `name=value`, or a bare `name`.
    Option(&'t str, Option<&'t str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FioLine<'t> {
    /// Its number, counted from one.
    pub(super) number: usize,
    /// The bytes of the text that it is made of, without blanks and comments.
    pub(super) span: Range<usize>,
    /// What it says.
    pub(super) word: Word<'t>,
}

/// The lines of `text` that say something, in order.
///
/// As in fio, `;` and `#` begin a comment wherever they stand, and blanks around names and values do not count.
pub(super) fn lines(text: &str) -> impl Iterator<Item = FioLine<'_>> {
    let mut start = 0;
    text.split('\n').enumerate().filter_map(move |(index, whole)| {
        let from = start;
        start += whole.len() + 1;
        let said = whole.split([';', '#']).next().unwrap_or(whole);
        let begin = from + (said.len() - said.trim_start().len());
        let said = said.trim();
        (!said.is_empty()).then(|| FioLine { number: index + 1, span: begin..begin + said.len(), word: word(said) })
    })
}

fn word(said: &str) -> Word<'_> {
    if let Some(name) = said.strip_prefix('[') {
        return Word::Section(name.strip_suffix(']').unwrap_or(name));
    }
    if let Some(file) = said.strip_prefix("include").filter(|rest| rest.starts_with(char::is_whitespace)) {
        return Word::Include(file.trim());
    }
    match said.split_once('=') {
        Some((name, value)) => Word::Option(name.trim_end(), Some(value.trim_start())),
        None => Word::Option(said, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(usize, Word<'_>)> {
        lines(text).map(|line| (line.number, line.word)).collect()
    }

    #[test]
    fn comments_and_blanks_do_not_count() {
        let text = "# about\n\n[global] ; all\r\n  size = 4g # each\n\tthread\ninclude  more.fio\n;rw=read\nbs=\n";
        assert_eq!(
            words(text),
            [
                (3, Word::Section("global")),
                (4, Word::Option("size", Some("4g"))),
                (5, Word::Option("thread", None)),
                (6, Word::Include("more.fio")),
                (8, Word::Option("bs", Some(""))),
            ]
        );
    }

    #[test]
    fn a_line_knows_its_place() {
        let text = "[a]\n  bs=4k ; small\n";
        let spans: Vec<&str> = lines(text).map(|line| &text[line.span]).collect();
        assert_eq!(spans, ["[a]", "bs=4k"]);
    }

    #[test]
    fn a_value_may_hold_an_equals_sign_and_brackets() {
        assert_eq!(words("uri=a?b=c")[0].1, Word::Option("uri", Some("a?b=c")));
        assert_eq!(words("[a b]")[0].1, Word::Section("a b"));
        assert_eq!(words("includes")[0].1, Word::Option("includes", None));
    }
}
