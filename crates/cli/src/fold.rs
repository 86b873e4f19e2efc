//! Messages broken into lines of a terminal's width.

use report::{bare, columns, hanging};

/// Each line of `text` broken between words so that none is longer than `width` columns, unless a word is. What follows is
/// indented as the line is, and two columns more; source text that a message quotes with its line number stays as it is.
pub fn folded(text: &str, width: u16) -> String {
    text.split('\n').map(|line| folded_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn folded_line(line: &str, width: u16) -> String {
    if columns(line) <= width.into() || is_quoted(line) {
        return line.to_owned();
    }
    let words = line.trim_start_matches(' ');
    let indent = &line[..line.len() - words.len()];
    let room = width.saturating_sub(indent.len() as u16);
    let lines = hanging(words, room, 2).into_iter().map(|line| format!("{indent}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line is source text with its number, what is underlined in it, or the place of it.
fn is_quoted(line: &str) -> bool {
    let behind = bare(line);
    let behind = behind.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit());
    ["|", "-->", ":::", "...", "╭", "│"].iter().any(|mark| behind.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_in_the_next_line_and_quoted_source_does_not() {
        for (text, told) in [
            ("short", "short"),
            ("error: one two three four", "error: one two\n  three four"),
            ("  - one two three four", "  - one two\n    three four"),
            ("one\n\ntwo three four five six", "one\n\ntwo three four\n  five six"),
            ("/a/word/of/one/piece/which/is/long and more", "/a/word/of/one/piece/which/is/long\n  and more"),
            ("12 | rw = \"randread\" and more", "12 | rw = \"randread\" and more"),
            ("  --> plans/a/long/name.toml:2:6 x", "  --> plans/a/long/name.toml:2:6 x"),
            ("\x1b[1;31merror\x1b[0m: one two three", "\x1b[1;31merror\x1b[0m: one two\n  three"),
        ] {
            assert_eq!(folded(text, 16), told);
        }
    }
}
