//! The commands of a shell script, as words that are not expanded yet.
//!
//! A small part of a shell's grammar: what stands for itself, quotes, `$name`, `${name}`, `${name:-text}`, `$((…))`, comments and lines
//! that go on. All else is kept as something that is not understood, with its name, and nothing is ever carried out.

use std::ops::Range;

/// A command: assignments, or words.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Whether it depends on a condition, a loop or a call whether it is carried out.
    pub(super) is_conditional: bool,
}

/// A word, before it is expanded.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    pub(super) span: Range<usize>,
    pub(super) is_quoted: bool,
}

/// What a part is.
#[derive(Debug)]
pub(super) enum PartKind {
    Text(String),
    /// A variable, and what stands for it where it has no value.
    Variable(String, Option<String>),
    /// `$((…))`.
    Arithmetic(String),
    /// What is not understood.
    Other(&'static str),
}

/// Words behind which a list of commands may or may not be carried out, and those that end it.
const OPENING: [&str; 7] = ["if", "while", "until", "for", "case", "select", "{"];
const CLOSING: [&str; 4] = ["fi", "done", "esac", "}"];
/// Words before a command.
const BEFORE: [&str; 7] = ["then", "do", "else", "elif", "!", "time", "in"];

struct Reader<'t> {
    text: &'t str,
    at: usize,
    commands: Vec<Command>,
    words: Vec<Word>,
    /// Conditions and loops that are open.
    depth: usize,
    /// Whether `&&`, `||` or `|` stands before the command.
    is_linked: bool,
    /// Delimiters of texts that begin with the next line.
    texts: Vec<String>,
}

/// The commands of a script, in its order.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let (commands, words) = (Vec::new(), Vec::new());
    let mut reader = Reader { text, at: 0, commands, words, depth: 0, is_linked: false, texts: Vec::new() };
    reader.read();
    reader.commands
}

impl Word {
    /// What stands there, if it is a single text without quotes.
    pub(super) fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part { kind: PartKind::Text(text), is_quoted: false, .. }] => Some(text),
            _ => None,
        }
    }

    /// The name that is assigned to, how long that part is, and whether the value is appended.
    pub(super) fn assigned(&self) -> Option<(&str, usize, bool)> {
        let Some(Part { kind: PartKind::Text(text), is_quoted: false, .. }) = self.parts.first() else { return None };
        let (before, _) = text.split_once('=')?;
        let name = before.strip_suffix('+').unwrap_or(before);
        is_name(name).then_some((name, before.len() + 1, before.len() > name.len()))
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && !text.as_bytes()[0].is_ascii_digit() && text.bytes().all(is_part)
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Passes over this where it stands next.
    fn takes(&mut self, words: &str) -> bool {
        let is_there = self.rest().starts_with(words);
        self.at += if is_there { words.len() } else { 0 };
        is_there
    }

    fn read(&mut self) {
        while let Some(next) = self.next() {
            match next {
                ' ' | '\t' | '\r' => self.at += 1,
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\n' => {
                    self.at += 1;
                    self.end(false);
                    self.skip_texts();
                }
                ';' | '(' | ')' => {
                    self.at += 1;
                    self.end(false);
                }
                '&' | '|' => {
                    self.at += self.rest().find(|c| c != '&' && c != '|').unwrap_or(self.rest().len());
                    self.end(true);
                }
                '<' | '>' => self.redirection(),
                _ if self.takes("\\\n") || self.takes("\\\r\n") => {}
                _ => {
                    let word = self.word();
                    self.words.push(word);
                }
            }
        }
        self.end(false);
    }

    /// Ends a command. `is_linked` says whether the next depends on it.
    fn end(&mut self, is_linked: bool) {
        let was_linked = std::mem::replace(&mut self.is_linked, is_linked);
        let mut words = std::mem::take(&mut self.words);
        let mut begins = 0;
        while let Some(first) = words.get(begins).and_then(Word::plain) {
            if CLOSING.contains(&first) {
                self.depth = self.depth.saturating_sub(1);
            } else if OPENING.contains(&first) {
                self.depth += 1;
                // The name of a loop varies in it.
                if matches!(first, "for" | "select") {
                    break;
                }
            } else if !BEFORE.contains(&first) {
                break;
            }
            begins += 1;
        }
        words.drain(..begins);
        if !words.is_empty() {
            self.commands.push(Command { words, is_conditional: self.depth > 0 || was_linked });
        }
    }

    fn redirection(&mut self) {
        if self.takes("<<<") || !self.takes("<<") {
            self.at += usize::from(matches!(self.next(), Some('<' | '>')));
            return;
        }
        let _ = self.takes("-");
        while matches!(self.next(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let word = self.word();
        let texts = word.parts.into_iter().filter_map(|part| match part.kind {
            PartKind::Text(text) => Some(text),
            _ => None,
        });
        self.texts.push(texts.collect());
    }

    /// Passes over texts that commands are given, up to their delimiters.
    fn skip_texts(&mut self) {
        for delimiter in std::mem::take(&mut self.texts) {
            while self.at < self.text.len() {
                let line = self.rest().split_inclusive('\n').next().unwrap_or("");
                let is_end = line.trim() == delimiter;
                self.at += line.len();
                if is_end {
                    break;
                }
            }
        }
    }

    /// A word up to what ends it; takes at least one letter.
    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(next) = self.next() {
            match next {
                '(' if word.parts.len() == 1
                    && word.assigned().is_some_and(|(_, length, _)| self.ends_at(&word, length)) =>
                {
                    self.other(&mut word, "a list", 1, ')');
                }
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    let start = self.at + 1;
                    let length = self.text[start..].find('\'').unwrap_or(self.text.len() - start);
                    self.at = (start + length + 1).min(self.text.len());
                    push(&mut word, &self.text[start..start + length], start, true);
                }
                '"' => self.quoted(&mut word),
                _ => self.unit(&mut word, false),
            }
        }
        if word.parts.is_empty() {
            // An empty pair of quotes, or an end of the text behind an operator.
            word.parts.push(Part { kind: PartKind::Text(String::new()), span: self.at..self.at, is_quoted: true });
        }
        word
    }

    fn ends_at(&self, word: &Word, length: usize) -> bool {
        word.plain().is_some_and(|text| text.len() == length)
    }

    fn quoted(&mut self, word: &mut Word) {
        self.at += 1;
        while let Some(next) = self.next() {
            if next == '"' {
                self.at += 1;
                return;
            }
            self.unit(word, true);
        }
    }

    /// A letter, an escaped one, or what begins with `$`.
    fn unit(&mut self, word: &mut Word, is_quoted: bool) {
        let start = self.at;
        if self.takes("\\\n") || self.takes("\\\r\n") {
            return;
        }
        match self.next() {
            Some('\\') => {
                self.at += 1;
                let Some(letter) = self.next() else { return };
                let stays = is_quoted && !matches!(letter, '$' | '`' | '"' | '\\');
                self.at += letter.len_utf8();
                push(word, &self.text[if stays { start } else { start + 1 }..self.at], start, is_quoted);
            }
            Some('`') => self.other(word, "a command's output", 1, '`'),
            Some('$') => self.expansion(word, is_quoted),
            Some(letter) => {
                self.at += letter.len_utf8();
                push(word, &self.text[start..self.at], start, is_quoted);
            }
            None => {}
        }
    }

    /// What begins with `$`.
    fn expansion(&mut self, word: &mut Word, is_quoted: bool) {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("$((") {
            return self.arithmetic(word, is_quoted);
        }
        if rest.starts_with("$(") {
            return self.other(word, "a command's output", 2, ')');
        }
        let kind = if let Some(inner) = rest.strip_prefix("${") {
            let Some(length) = inner.find('}') else { return self.other(word, "a `${` that is not closed", 2, '\n') };
            let inner = inner[..length].to_owned();
            self.at += length + 3;
            let (name, default) = match inner.split_once(":-").or_else(|| inner.split_once('-')) {
                Some((name, default)) if !default.contains(['$', '`']) => (name, Some(default.to_owned())),
                _ => (&*inner, None),
            };
            match is_name(name) {
                true => PartKind::Variable(name.to_owned(), default),
                false => PartKind::Other("an expansion other than `${name}` and `${name:-text}`"),
            }
        } else {
            let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len() - 1);
            let name = rest[1..=end].to_owned();
            if is_name(&name) {
                self.at += name.len() + 1;
                PartKind::Variable(name, None)
            } else if end == 0 && !rest[1..].starts_with(['@', '*', '?', '$', '#', '!', '-']) {
                self.at += 1;
                return push(word, "$", start, is_quoted);
            } else {
                self.at += 2;
                PartKind::Other("an argument of the script's")
            }
        };
        word.parts.push(Part { kind, span: start..self.at, is_quoted });
    }

    fn arithmetic(&mut self, word: &mut Word, is_quoted: bool) {
        let start = self.at;
        let Some(length) = self.rest().find("))") else {
            return self.other(word, "a `$((` that is not closed", 3, '\n');
        };
        // The last of the parentheses end it: `$(((1 + 2)))`.
        let inner_end =
            start + length + self.text[start + length..].bytes().take_while(|byte| *byte == b')').count() - 2;
        self.at = inner_end + 2;
        let kind = PartKind::Arithmetic(self.text[start + 3..inner_end].replace('$', ""));
        word.parts.push(Part { kind, span: start..self.at, is_quoted });
    }

    /// Passes over what is not understood, up to `end`, which may be nested where it is a parenthesis.
    fn other(&mut self, word: &mut Word, what: &'static str, opening: usize, end: char) {
        let start = self.at;
        self.at += opening;
        let mut open = 1;
        while let Some(next) = self.next() {
            self.at += next.len_utf8();
            if next == end {
                open -= 1;
            } else if next == '(' && end == ')' {
                open += 1;
            }
            if open == 0 {
                break;
            }
        }
        word.parts.push(Part { kind: PartKind::Other(what), span: start..self.at, is_quoted: false });
    }
}

/// Adds a text to a word, to its last part where that is one of the same kind.
fn push(word: &mut Word, text: &str, start: usize, is_quoted: bool) {
    let end = start + text.len();
    if let Some(Part { kind: PartKind::Text(last), span, is_quoted: was }) = word.parts.last_mut()
        && *was == is_quoted
        && span.end == start
    {
        last.push_str(text);
        span.end = end;
        return;
    }
    word.parts.push(Part { kind: PartKind::Text(text.to_owned()), span: start..end, is_quoted });
}
