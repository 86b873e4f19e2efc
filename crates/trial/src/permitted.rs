//! Which options of other programs a plan may give, and what their values may be.
//!
//! A plan comes from anybody, and what it tells other programs is told them as root. So nothing of its texts reaches a
//! program but what stands in a table, of the type that stands there. No type takes a path, a line feed or a second word.

use plan::Refused;

/// An option, or a key of a list, with what its value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptionRule {
    pub name: &'static str,
    pub value: PermittedValue,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PermittedValue {
    /// There is none.
    Flag,
    /// A whole number.
    Count,
    /// A number, also with a fraction.
    Number,
    /// A whole number with a unit of so many letters or none, all of `bskmgtpe`.
    Size,
    /// 0 or 1.
    Bit,
    Word(&'static [&'static str]),
    /// None, or one of these words.
    Maybe(&'static [&'static str]),
    /// None, or a whole number.
    MaybeCount,
    /// Some of these words with commas between; `^` before one takes it back.
    Features(&'static [&'static str]),
    /// Some of these keys with commas between, each with its value.
    List(&'static [OptionRule]),
}

/// One option that a plan gave: the table's own name, and a value that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PermittedOption {
    pub name: &'static str,
    pub value: Option<String>,
}

/// Numbers of this many digits are in no table's range.
const DIGITS: usize = 19;

pub(crate) const fn rule(name: &'static str, value: PermittedValue) -> OptionRule {
    OptionRule { name, value }
}

/// Reads options as they stand on the command line of `program`.
///
/// # Errors
/// With the first word that is not in the table.
pub(crate) fn options(
    program: &str,
    rules: &'static [OptionRule],
    text: &str,
) -> Result<Vec<PermittedOption>, Refused> {
    let mut given = Vec::new();
    let mut words = words(text);
    while let Some((at, word)) = words.next() {
        if word.starts_with("--") && word.len() > 2 {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let rule = find(program, rules, name, (at, name))?;
            let after = at + name.len() + 1;
            given.push(take(program, rule, value.map(|value| (after, value)), (at, name), &mut words)?);
            continue;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty() && *letters != "-") else {
            return Err(alone(program, word, at));
        };
        cluster(program, rules, (at + 1, letters), &mut words, &mut given)?;
    }
    Ok(given)
}

/// One word of short options: flags, and behind them an option with its value, which may be the next word.
fn cluster<'t>(
    program: &str,
    rules: &'static [OptionRule],
    (at, letters): (usize, &'t str),
    words: &mut impl Iterator<Item = (usize, &'t str)>,
    given: &mut Vec<PermittedOption>,
) -> Result<(), Refused> {
    for (place, letter) in letters.char_indices() {
        let (name, rest) = (format!("-{letter}"), place + letter.len_utf8());
        // The first one stands behind the dash.
        let part = if place == 0 { (at - 1, name.as_str()) } else { (at + place, &letters[place..rest]) };
        let rule = find(program, rules, &name, part)?;
        if rule.value == PermittedValue::Flag {
            given.push(PermittedOption { name: rule.name, value: None });
            continue;
        }
        let value = Some((at + rest, &letters[rest..])).filter(|(_, value)| !value.is_empty());
        given.push(take(program, rule, value, part, words)?);
        break;
    }
    Ok(())
}

/// An option with its value, which stands there already or is the next word.
fn take<'t>(
    program: &str,
    rule: &'static OptionRule,
    value: Option<(usize, &'t str)>,
    (at, part): (usize, &str),
    words: &mut impl Iterator<Item = (usize, &'t str)>,
) -> Result<PermittedOption, Refused> {
    let name = rule.name;
    if rule.value == PermittedValue::Flag {
        return match value {
            None => Ok(PermittedOption { name, value: None }),
            Some((at, text)) => {
                Err(wrong(format!("`{name}` of {program} takes no value"), "leave it out".into(), at, text))
            }
        };
    }
    let Some((at, text)) = value.or_else(|| words.next()) else {
        let help = format!("give {}", rule.value.wanted());
        return Err(wrong(format!("`{name}` of {program} has no value"), help, at, part));
    };
    rule.value.check(&format!("{program} {name}"), at, text)?;
    Ok(PermittedOption { name, value: Some(text.to_owned()) })
}

/// Reads a list of keys with commas between, some of them with values.
///
/// # Errors
/// With the first that is in neither table.
pub(crate) fn list(
    of: &str,
    rules: &[&'static [OptionRule]],
    start: usize,
    text: &str,
) -> Result<Vec<PermittedOption>, Refused> {
    let mut given = Vec::new();
    let mut at = start;
    for part in text.split(',') {
        let place = at;
        at += part.len() + 1;
        let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
        let Some(rule) = rules.iter().flat_map(|rules| rules.iter()).find(|rule| rule.name == key) else {
            let known: Vec<&str> = rules.iter().flat_map(|rules| rules.iter()).map(|rule| rule.name).collect();
            return Err(not_permitted(of, key, &known, place, part));
        };
        let value_at = place + key.len() + 1;
        match (rule.value, value) {
            (PermittedValue::Flag | PermittedValue::Maybe(_) | PermittedValue::MaybeCount, None) => {}
            (PermittedValue::Flag, Some(text)) => {
                return Err(wrong(format!("`{key}` of {of} takes no value"), "leave it out".into(), value_at, text));
            }
            (kind, None) => {
                let help = format!("give {}", kind.wanted());
                return Err(wrong(format!("`{key}` of {of} has no value"), help, place, part));
            }
            (kind, Some(text)) => kind.check(&format!("{of} {key}"), value_at, text)?,
        }
        given.push(PermittedOption { name: rule.name, value: value.map(str::to_owned) });
    }
    Ok(given)
}

/// The names in a table and in the lists that it holds, for documentation.
pub(crate) fn names(rules: &'static [OptionRule]) -> Vec<&'static str> {
    let inner = |value: PermittedValue| match value {
        PermittedValue::List(rules) => names(rules),
        PermittedValue::Features(words) => words.to_vec(),
        _ => Vec::new(),
    };
    rules.iter().flat_map(|rule| [vec![rule.name], inner(rule.value)].concat()).collect()
}

impl PermittedValue {
    /// Whether `text`, which begins at `at`, is such a value of what is called `of`.
    pub(crate) fn check(self, of: &str, at: usize, text: &str) -> Result<(), Refused> {
        let is_number = |text: &str| !text.is_empty() && text.len() <= DIGITS && all(text, |c| c.is_ascii_digit());
        let fits = match self {
            Self::Flag => false,
            Self::Count | Self::MaybeCount => is_number(text),
            Self::Number => {
                let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
                is_number(whole) && is_number(part)
            }
            Self::Size => {
                let unit = text.chars().last().filter(|unit| "bskmgtpeBSKMGTPE".contains(*unit));
                is_number(unit.map_or(text, |_| &text[..text.len() - 1]))
            }
            Self::Bit => matches!(text, "0" | "1"),
            Self::Word(words) | Self::Maybe(words) => words.contains(&text),
            Self::Features(known) => return features(of, known, at, text),
            Self::List(rules) => return list(of, &[rules], at, text).map(drop),
        };
        if fits {
            return Ok(());
        }
        Err(wrong(format!("`{}` is not a value of {of}", shown(text)), format!("give {}", self.wanted()), at, text))
    }

    /// What would be right.
    fn wanted(self) -> String {
        match self {
            Self::Flag => "no value".to_owned(),
            Self::Count | Self::MaybeCount => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Size => "a size, such as 4096 or 128m".to_owned(),
            Self::Bit => "0 or 1".to_owned(),
            Self::Word(words) | Self::Maybe(words) | Self::Features(words) => format!("one of {}", words.join(", ")),
            Self::List(rules) => {
                format!("some of {}", rules.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn features(of: &str, known: &[&str], start: usize, text: &str) -> Result<(), Refused> {
    let mut at = start;
    for part in text.split(',') {
        let place = at;
        at += part.len() + 1;
        if !known.contains(&part.strip_prefix('^').unwrap_or(part)) {
            return Err(not_permitted(of, part, known, place, part));
        }
    }
    Ok(())
}

/// The rule of this name, which stands in the text as `part`.
fn find(
    program: &str,
    rules: &'static [OptionRule],
    name: &str,
    (at, part): (usize, &str),
) -> Result<&'static OptionRule, Refused> {
    let known = || rules.iter().map(|rule| rule.name).collect::<Vec<_>>();
    rules.iter().find(|rule| rule.name == name).ok_or_else(|| not_permitted(program, name, &known(), at, part))
}

/// That a word is in no table: with the nearest that is, or all of them.
pub(crate) fn not_permitted(of: &str, word: &str, known: &[&str], at: usize, part: &str) -> Refused {
    // A word of two letters is near to all others.
    let help = match block::nearest(word, known).filter(|_| word.len() > 2) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("permitted are {}", known.join(", ")),
    };
    wrong(format!("a plan may not give {of} `{}`", shown(word)), help, at, part)
}

fn alone(program: &str, word: &str, at: usize) -> Refused {
    let found = format!("`{}` is not an option of {program}", shown(word));
    wrong(found, "leave it out: the plan's target is the only device".to_owned(), at, word)
}

pub(crate) fn wrong(found: String, help: String, at: usize, word: &str) -> Refused {
    Refused { found, help, at: at..at + word.len() }
}

/// The words of a text, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (place(word), word))
}

/// A word as it can stand in a message, whatever it holds.
pub(crate) fn shown(word: &str) -> String {
    const LONGEST: usize = 60;
    let mut line: String = word.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if word.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

fn all(text: &str, is: impl Fn(char) -> bool) -> bool {
    text.chars().all(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[OptionRule] = &[
        rule("-q", PermittedValue::Flag),
        rule("-K", PermittedValue::Flag),
        rule("-b", PermittedValue::Size),
        rule("-m", PermittedValue::Number),
        rule(
            "-d",
            PermittedValue::List(&[
                rule("su", PermittedValue::Size),
                rule("noalign", PermittedValue::Flag),
                rule("sw", PermittedValue::Count),
            ]),
        ),
        rule("-O", PermittedValue::Features(&["bigalloc", "64bit"])),
        rule("--nodesize", PermittedValue::Size),
    ];

    fn read(text: &str) -> Result<String, Refused> {
        let given = options("mkfs", RULES, text)?;
        let words = given.into_iter().flat_map(|given| [Some(given.name.to_owned()), given.value]);
        Ok(words.flatten().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        let table = [
            ("", ""),
            (" -q\n-b  4k ", "-q -b 4k"),
            ("-qKb4096 -m 0.5", "-q -K -b 4096 -m 0.5"),
            ("-d su=64k,noalign,sw=4 -O ^bigalloc,64bit", "-d su=64k,noalign,sw=4 -O ^bigalloc,64bit"),
            ("--nodesize=16k --nodesize 4k", "--nodesize 16k --nodesize 4k"),
        ];
        for (text, words) in table {
            assert_eq!(read(text).as_deref(), Ok(words), "{text}");
        }
    }

    #[test]
    fn what_is_in_no_table_is_refused_with_its_place_and_what_would_be_right() {
        let table = [
            ("-q /dev/sda", "/dev/sda", "the only device"),
            ("-q --", "--", "the only device"),
            ("-", "-", "the only device"),
            ("-x", "-x", "permitted are -q, -K, -b"),
            ("-qx 1", "x", "permitted are"),
            ("--nodesiz 4k", "--nodesiz", "did you mean `--nodesize`?"),
            ("--node=4k", "--node", "permitted are"),
            ("-b", "-b", "give a size"),
            ("-b -q", "-q", "give a size"),
            ("-b 4kk", "4kk", "give a size"),
            ("-b /x", "/x", "give a size"),
            ("-m 5%", "5%", "give a number"),
            ("-d su=1,name=/dev/sda", "name=/dev/sda", "permitted are su, noalign, sw"),
            ("-d su", "su", "give a size"),
            ("-d noalign=/x", "/x", "leave it out"),
            ("-d su=4k,,sw=1", "", "permitted are"),
            ("-O bigallok", "bigallok", "did you mean `bigalloc`?"),
            ("--nodesize=/x", "/x", "give a size"),
        ];
        for (text, word, help) in table {
            let refused = read(text).expect_err(text);
            assert_eq!(&text[refused.at.clone()], word, "{text}: {refused}");
            assert!(refused.to_string().contains(help), "{text}: {refused}");
        }
    }

    #[test]
    fn whatever_a_word_holds_its_message_is_a_line() {
        let said = read(&format!("-b \u{1b}[2J{}", "x".repeat(1 << 20))).unwrap_err().to_string();
        assert!(said.len() < 200 && !said.contains('\u{1b}'), "{said}");
        let said = read(&"é".repeat(1 << 20)).unwrap_err().to_string();
        assert!(said.len() < 400, "{said}");
    }

    #[test]
    fn a_value_is_of_its_type_and_nothing_else() {
        let check = |value: PermittedValue, text: &str| value.check("it", 0, text).is_ok();
        assert!(check(PermittedValue::Bit, "1") && !check(PermittedValue::Bit, "2"));
        assert!(
            check(PermittedValue::Count, "0")
                && !check(PermittedValue::Count, "-1")
                && !check(PermittedValue::Count, "99999999999999999999")
        );
        assert!(
            !check(PermittedValue::Number, ".")
                && !check(PermittedValue::Number, "1.2.3")
                && !check(PermittedValue::Number, "٣")
        );
    }
}
