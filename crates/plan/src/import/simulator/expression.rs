//! Arithmetic as configurations have it: numbers, names, `+ - * / ( )`, comparisons, and C's suffixes of numbers.
//!
//! A name stands for another expression, so that what an expression costs is not bounded by its length: both the depth of names and
//! parentheses and the number of operations are limited.

use std::cell::Cell;

/// The most that names and parentheses may be nested.
const DEPTH_MAX: usize = 64;
/// The most numbers, names and operators of a whole file.
const STEPS_MAX: u32 = 100_000;

/// Functions that configurations multiply by, with what they stand for.
const UNITS: [(&str, i128); 6] =
    [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// A number of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Number {
    Whole(i128),
    Real(f64),
}

/// What names stand for.
pub(in super::super) struct Arithmetic<'a> {
    /// The text of a name's expression.
    pub(in super::super) meaning: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a name that stands for nothing is 0, as in a condition of C's preprocessor.
    pub(in super::super) is_condition: bool,
    pub(in super::super) steps: &'a Cell<u32>,
}

struct Reader<'a, 't> {
    arithmetic: &'a Arithmetic<'a>,
    rest: &'t str,
    depth: usize,
}

impl Arithmetic<'_> {
    /// The value of an expression, or what of it is not understood.
    pub(in super::super) fn value(&self, text: &str) -> Result<Number, String> {
        self.value_at(text, 0)
    }

    fn value_at(&self, text: &str, depth: usize) -> Result<Number, String> {
        let mut reader = Reader { arithmetic: self, rest: text.trim(), depth };
        if reader.rest.is_empty() {
            return Err("there is no value".to_owned());
        }
        let value = reader.level(0)?;
        match reader.rest.chars().next() {
            None => Ok(value),
            Some(found) => Err(format!("`{found}` is not understood here")),
        }
    }
}

/// Operators from the loosest to the tightest; of those that begin alike the longer stands first.
const LEVELS: [&[&str]; 6] = [&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/"]];

impl Reader<'_, '_> {
    fn level(&mut self, at: usize) -> Result<Number, String> {
        let Some(operators) = LEVELS.get(at) else { return self.term() };
        let mut left = self.level(at + 1)?;
        loop {
            self.rest = self.rest.trim_start();
            let is_shift = self.rest.starts_with("<<") || self.rest.starts_with(">>");
            let found = operators.iter().find(|operator| self.rest.starts_with(**operator) && !is_shift);
            let Some(operator) = found else { return Ok(left) };
            self.rest = &self.rest[operator.len()..];
            let right = self.level(at + 1)?;
            left = applied(operator, left, right)?;
        }
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(format!("names and parentheses are more than {DEPTH_MAX} deep")),
            false => Ok(()),
        }
    }

    fn term(&mut self) -> Result<Number, String> {
        let steps = self.arithmetic.steps.get() + 1;
        self.arithmetic.steps.set(steps.min(STEPS_MAX + 1));
        if steps > STEPS_MAX {
            return Err(format!("the file's expressions take more than {STEPS_MAX} operations"));
        }
        self.rest = self.rest.trim_start();
        let first =
            self.rest.chars().next().ok_or_else(|| "the expression ends where a number should stand".to_owned())?;
        match first {
            '(' => self.parenthesis(),
            '-' | '!' | '+' => {
                self.deeper()?;
                self.rest = &self.rest[1..];
                let value = self.term()?;
                self.depth -= 1;
                match first {
                    '-' => applied("-", Number::Whole(0), value),
                    '!' => applied("==", Number::Whole(0), value),
                    _ => Ok(value),
                }
            }
            '0'..='9' | '.' => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => self.name(),
            other => Err(format!("`{other}` is not understood here")),
        }
    }

    fn parenthesis(&mut self) -> Result<Number, String> {
        self.deeper()?;
        self.rest = &self.rest[1..];
        let value = self.level(0)?;
        self.depth -= 1;
        self.closed()?;
        Ok(value)
    }

    fn closed(&mut self) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().ok_or_else(|| "a parenthesis is not closed".to_owned())?;
        self.rest = self.rest.strip_prefix(')').ok_or_else(|| format!("`{found}` is not understood here"))?;
        Ok(())
    }

    fn taken(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn number(&mut self) -> Result<Number, String> {
        let word = self.taken(|c| c.is_ascii_alphanumeric() || c == '.');
        let wrong = || format!("`{word}` is no number that is understood");
        if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
            return i64::from_str_radix(digits, 16).map(|whole| Number::Whole(whole.into())).map_err(|_| wrong());
        }
        let plain = word.trim_end_matches(['u', 'U', 'l', 'L']);
        if plain.contains('.') {
            let is_plain = plain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            return plain.parse().ok().filter(|_| is_plain).map(Number::Real).ok_or_else(wrong);
        }
        plain.parse::<i64>().map(|whole| Number::Whole(whole.into())).map_err(|_| wrong())
    }

    fn name(&mut self) -> Result<Number, String> {
        let word = self.taken(|c| c.is_ascii_alphanumeric() || c == '_');
        if word == "defined" && self.arithmetic.is_condition {
            return self.defined();
        }
        let is_call = self.rest.trim_start().starts_with('(');
        if is_call {
            let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == word) else {
                return Err(format!("`{word}(…)` is not understood; KB, MB and GB are"));
            };
            self.rest = self.rest.trim_start();
            let value = self.parenthesis()?;
            return applied("*", Number::Whole(*unit), value);
        }
        let Some(meaning) = (self.arithmetic.meaning)(&word) else {
            return match self.arithmetic.is_condition {
                true => Ok(Number::Whole(0)),
                false => Err(format!("`{word}` is not defined in the file")),
            };
        };
        self.deeper()?;
        let value = self.arithmetic.value_at(&meaning, self.depth).map_err(|why| match why.contains(" (in `") {
            true => why,
            false => format!("{why} (in `{word}`)"),
        });
        self.depth -= 1;
        value
    }

    fn defined(&mut self) -> Result<Number, String> {
        self.rest = self.rest.trim_start();
        let is_closed = self.rest.starts_with('(');
        self.rest = self.rest.trim_start_matches(['(', ' ']);
        let word = self.taken(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_closed {
            self.closed()?;
        }
        Ok(Number::Whole((self.arithmetic.meaning)(&word).is_some().into()))
    }
}

fn applied(operator: &str, left: Number, right: Number) -> Result<Number, String> {
    let too_large = || "a number is too large".to_owned();
    let (Number::Whole(a), Number::Whole(b)) = (left, right) else {
        let [a, b] = [left, right].map(Number::real);
        return Ok(match operator {
            "+" => Number::Real(a + b),
            "-" => Number::Real(a - b),
            "*" => Number::Real(a * b),
            "/" => Number::Real(a / b),
            other => Number::Whole(compared(other, a, b).into()),
        });
    };
    let value = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" if b == 0 => return Err("it divides by 0".to_owned()),
        "/" => a.checked_div(b),
        "||" => Some((a != 0 || b != 0).into()),
        "&&" => Some((a != 0 && b != 0).into()),
        other => Some(compared(other, a, b).into()),
    };
    value.filter(|value| value.unsigned_abs() < 1 << 100).map(Number::Whole).ok_or_else(too_large)
}

fn compared<T: PartialOrd>(operator: &str, a: T, b: T) -> bool {
    match operator {
        "==" => a == b,
        "!=" => a != b,
        "<=" => a <= b,
        ">=" => a >= b,
        "<" => a < b,
        _ => a > b,
    }
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    pub(in super::super) fn is_true(self) -> bool {
        self.real() != 0.0
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(f),
            Self::Real(real) => real.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Number, String> {
        let meaning = |name: &str| match name {
            "PAGE" => Some("KB(32)".to_owned()),
            "SELF" => Some("SELF + 1".to_owned()),
            "WIDE" => Some("(SELF2 + SELF2)".to_owned()),
            "SELF2" => Some("(WIDE + WIDE)".to_owned()),
            _ => None,
        };
        let steps = Cell::new(0);
        Arithmetic { meaning: &meaning, is_condition: false, steps: &steps }.value(text)
    }

    #[test]
    fn whole_numbers_and_units_are_computed_as_in_c() {
        for (text, whole) in [
            ("(35760 - 6000)", 29_760),
            ("8 * 2 * PAGE * 2", 1 << 20),
            ("GB(2ULL) / (8 * 4)", 64 << 20),
            ("7 / 2 - -1", 4),
            ("0x10", 16),
            ("800ull", 800),
            ("1 == 1 && 2 > 1 || 0", 1),
        ] {
            assert_eq!(value(text), Ok(Number::Whole(whole)), "{text}");
        }
        assert_eq!(value("(0.07)"), Ok(Number::Real(0.07)));
    }

    #[test]
    fn what_is_not_understood_is_said_and_nothing_runs_away() {
        let deep = "(".repeat(100_000);
        for (text, words) in [
            ("", "there is no value"),
            ("1 << 9", "`<` is not understood"),
            ("sizeof(int)", "`sizeof(…)` is not understood"),
            ("X", "`X` is not defined in the file"),
            ("1 +", "the expression ends"),
            ("1 / 0", "divides by 0"),
            ("(1", "not closed"),
            ("9999999999999999999", "no number"),
            ("4000000000000000000 * 4000000000000000000", "too large"),
            ("SELF", "more than 64 deep"),
            ("WIDE", "deep"),
            (&deep, "more than 64 deep"),
        ] {
            let error = value(text).expect_err(text.get(..20).unwrap_or(text));
            assert!(error.contains(words), "{}: {error}", text.get(..20).unwrap_or(text));
        }
    }
}
