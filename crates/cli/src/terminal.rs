//! What the terminal, or whatever else is written to, takes.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock};

use comfy_table::Table;

use crate::failure::Failure;

/// How much is told on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    /// Why something failed.
    Quiet,
    /// Also what is done.
    Plain,
    /// Also each measurement.
    Verbose,
}

/// Decided once, when the command line is understood.
static VOICE: OnceLock<Voice> = OnceLock::new();

fn voice() -> Voice {
    VOICE.get().copied().unwrap_or(Voice::Plain)
}

/// Decides how much is told.
pub fn speak(quiet: bool, verbose: bool) {
    let voice = match (quiet, verbose) {
        (true, _) => Voice::Quiet,
        (_, true) => Voice::Verbose,
        _ => Voice::Plain,
    };
    VOICE.set(voice).ok();
}

/// Whether nothing is to be told but why something failed.
pub fn is_quiet() -> bool {
    voice() == Voice::Quiet
}

/// Whether more is to be told than what is done.
pub fn is_verbose() -> bool {
    voice() == Voice::Verbose
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
        None => eprintln!("{line}"),
    }
}

/// Holds back what is told from now on, because the terminal is drawn on.
pub fn hold() {
    held().get_or_insert_default();
}

/// Tells what was held back.
pub fn release() {
    held().take().unwrap_or_default().iter().for_each(|line| eprintln!("{line}"));
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

/// How wide what is printed may be: as the terminal is, or `COLUMNS` says, within reason; 80 columns where there is
/// neither.
pub fn width() -> u16 {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns >= 40);
    let is_terminal = std::io::stdout().is_terminal();
    asked.or_else(|| Table::new().width().filter(|_| is_terminal)).unwrap_or(80).min(120)
}

/// Prints to standard output. A reader that has gone away is no error.
pub fn say(text: &str) -> Result<(), Failure> {
    print(text.as_bytes())
}

/// The same for what may be no text.
pub fn print(document: &[u8]) -> Result<(), Failure> {
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
