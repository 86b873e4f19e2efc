//! Text broken into lines of a terminal's width.

use crate::number::{BINDING, bound};

/// `text` broken between words so that no line is longer than `width` columns, unless a word is. A number stays with its unit.
pub fn wrapped(text: &str, width: u16) -> Vec<String> {
    hanging(text, width, 0)
}

/// The same, with every line but the first indented by so many columns.
pub fn hanging(text: &str, width: u16, indent: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for word in bound(text).split(' ') {
        let wide = columns(word);
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
            taken = wide;
        } else if taken + 1 + wide <= usize::from(width) {
            last.push(' ');
            last.push_str(word);
            taken += 1 + wide;
        } else {
            lines.push(" ".repeat(indent) + word);
            taken = indent + wide;
        }
    }
    lines.into_iter().map(|line| line.replace(BINDING, " ")).collect()
}

/// How many columns a text takes: colours and weights take none.
pub fn columns(text: &str) -> usize {
    bare(text).chars().count()
}

/// The text without colours and weights.
pub fn bare(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |bare, part| bare + part.split_once('m').map_or(part, |(_, behind)| behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_there_is_room_and_a_number_stays_with_its_unit() {
        for (text, indent, lines) in [
            ("", 0, vec![""]),
            ("one two three", 0, vec!["one two", "three"]),
            ("one two three", 2, vec!["one two", "  three"]),
            ("averylongword two", 2, vec!["averylongword", "  two"]),
            ("it took 12 ms", 0, vec!["it took", "12 ms"]),
            ("\x1b[1;31mone\x1b[0m two three", 0, vec!["\x1b[1;31mone\x1b[0m two", "three"]),
        ] {
            assert_eq!(hanging(text, 10, indent), lines);
        }
    }
}
