//! What the terminal, or whatever else is written to, takes.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock};

use comfy_table::Table;

use crate::failure::Failure;
use crate::fold::folded;

/// How much is told on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verbosity {
    /// Why something failed.
    Quiet,
    /// Also what is done.
    Plain,
    /// Also each measurement.
    Verbose,
}

/// Decided once, when the command line is understood.
static VOICE: OnceLock<Verbosity> = OnceLock::new();

fn voice() -> Verbosity {
    VOICE.get().copied().unwrap_or(Verbosity::Plain)
}

/// Decides how much is told.
pub fn speak(quiet: bool, verbose: bool) {
    let voice = match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Plain,
    };
    VOICE.set(voice).ok();
}

/// Whether nothing is to be told but why something failed.
pub fn is_quiet() -> bool {
    voice() == Verbosity::Quiet
}

/// Whether more is to be told than what is done.
pub fn is_verbose() -> bool {
    voice() == Verbosity::Verbose
}

/// Tells what is done, unless that is not wanted.
pub fn notice(words: impl Display) {
    if !is_quiet() {
        tell(words.to_string());
    }
}

/// Tells more than what is done, if that is wanted.
pub fn detail(words: impl Display) {
    if is_verbose() {
        tell(words.to_string());
    }
}

/// What is to be told once the terminal is free again; none while it is.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> std::sync::MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().expect("nothing panics while it holds the lines")
}

fn tell(line: String) {
    match held().as_mut() {
        Some(lines) => lines.push(line),
        None => to_stderr(&line),
    }
}

/// Tells why something failed, however much else is told.
pub fn complain(words: impl Display) {
    to_stderr(&words.to_string());
}

/// The one way to standard error.
fn to_stderr(line: &str) {
    let is_terminal = io::stderr().is_terminal();
    let clean = plain(line, color(is_terminal));
    // Programs read messages by the line, people in a terminal of some width.
    let folded = if is_terminal { folded(&clean, width_of(true, Table::new().use_stderr())).into() } else { clean };
    // Nobody can be told that nobody can be told.
    writeln!(io::stderr().lock(), "{folded}").ok();
}

/// Holds back what is told from now on, because the terminal is drawn on.
pub fn hold() {
    held().get_or_insert_default();
}

/// Whether it is held back now.
pub fn is_held() -> bool {
    held().is_some()
}

/// Tells what was held back.
pub fn release() {
    held().take().unwrap_or_default().iter().for_each(|line| to_stderr(line));
}

/// Whether to colour what goes to a terminal or to something else: never where `NO_COLOR` is set, always where
/// `CLICOLOR_FORCE` is, else on terminals that can.
///
/// Source: no-color.org; bixense.com/clicolors.
pub fn color(is_terminal: bool) -> bool {
    decide(is_terminal, |name| std::env::var_os(name))
}

/// The text in letters that the user's locale can show: in ASCII where it is said to have no others.
pub fn spelled(text: String) -> String {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    if has_unicode(locale.as_deref()) { text } else { in_ascii(&text) }
}

/// Whether a locale has all letters; one that is not named is taken to.
fn has_unicode(locale: Option<&str>) -> bool {
    locale.is_none_or(|name| {
        let name = name.to_lowercase();
        name.contains("utf-8") || name.contains("utf8")
    })
}

fn in_ascii(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '±' => plain.push_str("+-"),
            '→' => plain.push_str("->"),
            '…' => plain.push_str(".."),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            'µ' | 'μ' => plain.push('u'),
            '×' => plain.push('x'),
            '–' | '−' | '─' | '━' | '╌' | '·' => plain.push('-'),
            '\u{a0}' => plain.push(' '),
            '▁'..='█' => plain.push(b"_.:-=+*#"[letter as usize - '▁' as usize] as char),
            other if other.is_ascii() => plain.push(other),
            _ => plain.push('?'),
        }
    }
    plain
}

/// How wide what is printed may be: as the terminal is (a serial line does not say), or `COLUMNS` says, within reason; 80 columns where there is
/// neither.
pub fn width() -> u16 {
    width_of(std::io::stdout().is_terminal(), &Table::new())
}

/// The same of what `table` would be printed to.
fn width_of(is_terminal: bool, table: &Table) -> u16 {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns >= 40);
    asked.or_else(|| table.width().filter(|columns| is_terminal && *columns > 0)).unwrap_or(80).min(120)
}

/// A text as a terminal may be given it: whatever in it came from a file, a store, a drive or the network, nothing moves the
/// cursor, changes the terminal, or has the text read otherwise than it is written. What would is spelled out, `\u001b`,
/// which in JSON and TOML is the same letter. With `colored`, colours and weights pass, which assay itself uses.
///
/// Source: ECMA-48, §5.3 (C0, C1), §8.3.117 (SGR); Unicode 15, §23.2 "Layout Controls", Bidi_Control.
pub fn plain(text: &str, colored: bool) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_control) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let style = if colored { style(rest) } else { 0 };
        // Spreadsheets and the network end lines with both.
        let passed = if rest.starts_with("\r\n") { 2 } else { style };
        let letter = rest.chars().next().expect("it was found");
        match passed {
            0 => clean.push_str(&format!("\\u{:04x}", u32::from(letter))),
            passed => clean.push_str(&rest[..passed]),
        }
        rest = &rest[passed.max(letter.len_utf8())..];
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// A name as a part of a line: its line ends and tabs are spelled out too.
pub fn line(name: &str) -> String {
    plain(name, false).replace('\n', "\\u000a").replace('\t', "\\u0009").replace('\r', "\\u000d")
}

fn is_control(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        letter => letter.is_control(),
    }
}

/// How long the colour or weight is that a text begins with; 0 if it begins with something else.
fn style(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\x1b[") else { return 0 };
    let Some(end) = inner.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|end| *end <= 16) else { return 0 };
    // No blinking, no reversing, nothing hidden.
    let is_ours =
        |code: &str| matches!(code.parse(), Ok(0..=4 | 22..=24 | 30..=39 | 48..=49 | 90..=97)) || code.is_empty();
    let of_palette = |codes: &str| codes.strip_prefix("38;5;").is_some_and(|color| color.parse::<u8>().is_ok());
    let codes = &inner[..end];
    let is_style = inner[end..].starts_with('m') && (codes.split(';').all(is_ours) || of_palette(codes));
    if is_style { 2 + end + 1 } else { 0 }
}

/// Prints to standard output. A reader that has gone away is no error.
pub fn say(text: &str) -> Result<(), Failure> {
    write(plain(text, color(io::stdout().is_terminal())).as_bytes())
}

/// Prints a document that programs read, which may be no text. A terminal is given it as a text.
pub fn print(document: &[u8]) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => say(&String::from_utf8_lossy(document)),
        false => write(document),
    }
}

/// The one way to standard output.
fn write(document: &[u8]) -> Result<(), Failure> {
    match io::stdout().lock().write_all(document) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn decide(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match (set("NO_COLOR"), set("CLICOLOR_FORCE")) {
        (Some(_), _) => false,
        (None, Some(force)) if force != "0" => true,
        _ => is_terminal && set("CLICOLOR").is_none_or(|wish| wish != "0") && set("TERM").is_none_or(|is| is != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_without_unicode_gets_ascii() {
        assert!(has_unicode(None) && has_unicode(Some("en_GB.UTF-8")) && has_unicode(Some("C.utf8")));
        assert!(!has_unicode(Some("C")) && !has_unicode(Some("de_DE.ISO-8859-1")));
        assert_eq!(in_ascii("285 ±0 % · ▁▄█ 1 → 192 µs, 4 × 8…"), "285 +-0 % - _-# 1 -> 192 us, 4 x 8..");
    }

    #[test]
    fn nothing_but_a_style_of_our_own_reaches_a_terminal() {
        for (text, told) in [
            ("285 µs\n\tof 3\r\n", "285 µs\n\tof 3\r\n"),
            ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
            ("\x1b[2Jgone\x1b[1;1H", "\\u001b[2Jgone\\u001b[1;1H"),
            ("over\rwritten\x08\x7f\0", "over\\u000dwritten\\u0008\\u007f\\u0000"),
            ("\u{9b}31m\u{202e}txt\u{2066}\u{feff}", "\\u009b31m\\u202etxt\\u2066\\ufeff"),
            ("\x1b[8mhidden\x1b[7m\x1b[5m", "\\u001b[8mhidden\\u001b[7m\\u001b[5m"),
            ("\x1b[31", "\\u001b[31"),
        ] {
            assert_eq!(plain(text, true), told);
            assert_eq!(plain(text, false), told);
        }
        let ours = "\x1b[1;31merror\x1b[0m\x1b[38;5;12m\x1b[m";
        assert_eq!(plain(ours, true), ours);
        assert!(!plain(ours, false).contains('\x1b'));
    }

    #[test]
    fn colour_is_for_terminals_and_for_those_who_insist() {
        //            terminal  variables                                     coloured
        let table = [
            (true, vec![], true),
            (false, vec![], false),
            (true, vec![("NO_COLOR", "1")], false),
            (true, vec![("NO_COLOR", "")], true),
            (false, vec![("CLICOLOR_FORCE", "1")], true),
            (false, vec![("CLICOLOR_FORCE", "0")], false),
            (true, vec![("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
            (true, vec![("CLICOLOR", "0")], false),
            (true, vec![("TERM", "dumb")], false),
        ];
        for (is_terminal, variables, colored) in table {
            let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(decide(is_terminal, variable), colored, "{is_terminal} {variables:?}");
        }
    }
}
