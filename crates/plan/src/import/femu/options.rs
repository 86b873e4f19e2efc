//! The options of a device, with the places that their values are from.

use std::ops::Range;

use super::super::simulator::field::{Fate, FieldSpec, FoundField};
use super::super::simulator::lines::Lines;
use super::super::simulator::mistake;
use super::super::{Notice, Severity};
use super::FEMU;
use super::variables::Piece;

/// The most options of a device, of which FEMU has some ninety.
const OPTIONS_MAX: usize = 512;

/// The option that is a size, which can have a unit.
const SIZE: &str = "zns_zone_cap";

/// The text of pieces, and where each of its bytes is from.
struct Joined<'a> {
    text: String,
    pieces: &'a [Piece],
    /// Where each piece begins in the text.
    starts: Vec<usize>,
}

impl<'a> Joined<'a> {
    fn of(pieces: &'a [Piece]) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for piece in pieces {
            starts.push(text.len());
            // What is not known stands there as a letter that no option has.
            text.push_str(if piece.unknown.is_some() { "\0" } else { &piece.text });
        }
        Self { text, pieces, starts }
    }

    fn piece(&self, at: usize) -> (usize, &Piece) {
        let index = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        (self.starts[index], &self.pieces[index])
    }

    /// Where in the file the byte here is from, up to the end of its piece or `length`.
    fn span(&self, at: usize, length: usize) -> Range<usize> {
        let (start, piece) = self.piece(at);
        if piece.text.len() != piece.span.len() {
            return piece.span.clone();
        }
        let begins = piece.span.start + (at - start);
        begins..(begins + length).min(piece.span.end).max(begins)
    }

    /// Why a part of the text is not known, if it is not.
    fn unknown(&self, within: &str, at: usize) -> Option<&str> {
        let inside = within.find('\0')?;
        self.piece(at + inside).1.unknown.as_deref()
    }
}

/// The options of a device. Tells of those that are not known, but for those that make no difference.
pub(super) fn options(
    device: &[Piece],
    tables: &[&'static [FieldSpec]],
    lines: &Lines,
    notices: &mut Vec<Notice>,
) -> Vec<FoundField> {
    let joined = Joined::of(device);
    let mut found: Vec<FoundField> = Vec::new();
    for (at, item) in items(&joined.text).into_iter().skip(1) {
        if item.is_empty() {
            continue;
        }
        let name = item.split('=').next().unwrap_or("");
        let value = item.get(name.len() + 1..);
        let span = joined.span(at, item.len());
        if name.contains('\0') {
            let why = joined.unknown(name, at).unwrap_or("it is not known");
            let message = "what stands here is not known, and may be options".to_owned();
            let (severity, code) = (Severity::Warning, FEMU.codes.not_honoured);
            let (option, place) = ("options".to_owned(), lines.place(span));
            notices.push(Notice { severity, code, option, message, help: Some(why.to_owned()), place });
            continue;
        }
        if found.len() == OPTIONS_MAX {
            let message = format!("the device has more than {OPTIONS_MAX} options");
            notices.push(mistake("femu::too-long", "options", message, "FEMU has some ninety", lines.place(span)));
            break;
        }
        let Some(value) = value else {
            found.push(FoundField { name: name.to_owned(), text: "on".to_owned(), place: lines.place(span) });
            continue;
        };
        let begins = at + name.len() + 1;
        if let Some(why) = joined.unknown(value, begins) {
            let spec = tables.iter().copied().flatten().find(|spec| spec.name == name);
            if !spec.is_some_and(|spec| matches!(spec.fate, Fate::Unused)) {
                let message = format!("the value of `{name}` is not known");
                let help = format!("{why}; write the value in its place");
                notices.push(mistake("femu::unknown-value", name, message, &help, lines.place(span)));
            }
            continue;
        }
        let span = if value.is_empty() { span } else { joined.span(begins, value.len()) };
        found.push(FoundField { name: name.to_owned(), text: plain(name, value), place: lines.place(span) });
    }
    found
}

/// The texts between commas, with their places; two commas are one of the text's own.
fn items(text: &str) -> Vec<(usize, String)> {
    let mut items = vec![(0, String::new())];
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_comma = letter == ',';
        if is_comma && letters.next_if(|(_, next)| *next == ',').is_none() {
            items.push((at + 1, String::new()));
        } else {
            items.last_mut().expect("there is one").1.push(letter);
        }
    }
    items
}

/// A number as QEMU reads one, in digits: `0x7ff`, and `64M` of a size.
fn plain(name: &str, value: &str) -> String {
    let whole = value.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let sized = || {
        let units = [('k', 10), ('m', 20), ('g', 30)];
        units.iter().filter(|_| name == SIZE).find_map(|(unit, shift)| {
            let digits = value.strip_suffix([*unit, unit.to_ascii_uppercase()])?;
            digits.parse::<u64>().ok()?.checked_mul(1 << shift)
        })
    };
    whole.or_else(sized).map_or_else(|| value.to_owned(), |number| number.to_string())
}
