//! Lists of names with what each is.

use report::wrapped;

use crate::terminal::width;

/// A name in so many columns, and what it is beside it, within the width of the terminal.
pub fn entry(name: &str, columns: usize, text: &str) -> String {
    let room = width().saturating_sub(columns as u16);
    let lines = wrapped(text, room).into_iter().flat_map(|line| cut(&line, room.into()));
    let first = std::iter::once(name).chain(std::iter::repeat(""));
    first.zip(lines).map(|(name, line)| format!("{name:<columns$}{line}\n")).collect()
}

/// A line in pieces of at most `room` letters, cut behind colons: a list of shares is one word, however long.
fn cut(line: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for part in line.split_inclusive(':') {
        let last = pieces.last_mut().expect("there is always one");
        match last.chars().count() + part.trim_end().chars().count() <= room || last.is_empty() {
            true => last.push_str(part),
            false => pieces.push(part.to_owned()),
        }
    }
    pieces
}
