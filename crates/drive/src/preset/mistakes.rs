//! All that is wrong with a drive's file at once, each with its line.

use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::base::resolved;
use super::embedded::{EMBEDDED, RIGS};
use super::error::plain;
use super::{Head, PresetError, PresetKind};
use crate::disk::DiskFile;
use crate::dram::DramFile;
use crate::flash::FlashFile;
use crate::hybrid::HybridFile;
use crate::pcm::PcmFile;
use crate::rig::RigFile;

/// More than so many are not looked for.
const MOST: usize = 50;
/// The most letters of a line that are shown.
const SHOWN: usize = 60;

/// What is wrong with the words and fields of the file; none where these are right, and what is wrong is something else.
///
/// Reading ends at the first mistake. So what is wrong is replaced, in what was parsed, by what some drive that comes with
/// the program has there, and the file is read again.
pub fn all(text: &str) -> Option<PresetError> {
    let (mut file, unreadable) = DeTable::parse_recoverable(text);
    let mut found: Vec<(usize, String)> = Vec::new();
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    for error in &unreadable {
        found.push((line(error.span().map_or(0, |span| span.start)), error.message().to_owned()));
    }
    if found.is_empty() {
        let whole = resolved(text);
        let is_based = !matches!(whole, Ok(None));
        let head = whole.ok().flatten();
        let kind = toml::from_str::<Head>(head.as_deref().unwrap_or(text)).ok()?.kind;
        let known: Vec<&DeTable> = KNOWN.iter().filter(|(of, _)| *of == kind).map(|(_, file)| file).collect();
        file.get_mut().remove("base");
        // What its bases say, any file of the kind has.
        known.first().filter(|_| is_based).iter().for_each(|other| complete(file.get_mut(), other));
        while let Err(error) = read(&kind, file.clone())
            && found.len() < MOST
        {
            let start = error.span().map_or(0, |span| span.start);
            let said = (line(start), error.message().to_owned());
            // What cannot be replaced is found again.
            if found.contains(&said) {
                break;
            }
            found.push(said);
            repair(file.get_mut(), start, named(error.message(), "missing field `"), &known)?;
        }
    }
    found.sort();
    let shown = |(line, message): &(usize, String)| {
        let words = text.lines().nth(line - 1).unwrap_or_default().trim();
        let cut: String = words.chars().take(SHOWN).collect();
        let dots = if cut.len() < words.len() { "…" } else { "" };
        format!("line {line}, `{cut}{dots}`: {}", plain(message))
    };
    (!found.is_empty()).then(|| PresetError::Mistakes(found.iter().map(shown).collect()))
}

/// The text of every drive and rig that comes with the program, with all that its bases say.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let whole = |(_, text): &(&str, &str)| resolved(text).ok().flatten().unwrap_or_else(|| (*text).to_owned());
    EMBEDDED.iter().chain(RIGS).map(whole).collect()
});

/// What they say.
static KNOWN: LazyLock<Vec<(PresetKind, DeTable<'static>)>> = LazyLock::new(|| {
    let read = |text: &'static String| Some((toml::from_str::<Head>(text).ok()?.kind, DeTable::parse(text).ok()?));
    TEXTS.iter().filter_map(read).map(|(kind, file)| (kind, file.into_inner())).collect()
});

/// Reads the tables and fields of a file of that kind.
fn read(kind: &PresetKind, file: Spanned<DeTable>) -> Result<(), Error> {
    fn of<'de, T: Deserialize<'de>>(file: Spanned<DeTable<'de>>) -> Result<(), Error> {
        T::deserialize(Deserializer::from(file)).map(drop)
    }
    match kind {
        PresetKind::Flash => of::<FlashFile>(file),
        PresetKind::Rig => of::<RigFile>(file),
        PresetKind::Disk => of::<DiskFile>(file),
        PresetKind::Dram => of::<DramFile>(file),
        PresetKind::Pcm => of::<PcmFile>(file),
        PresetKind::Hybrid => of::<HybridFile>(file),
    }
}

/// The name that a message has behind these words.
fn named<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    message.strip_prefix(words)?.split('`').next()
}

/// Replaces what is wrong at `start`, or adds the field that is missing there, by what one of the `known` files has.
/// None where none has it and it cannot be left out.
fn repair<'t>(file: &mut DeTable<'t>, start: usize, missing: Option<&str>, known: &[&DeTable<'t>]) -> Option<()> {
    let is_at = |span: std::ops::Range<usize>| span.contains(&start);
    let place = file.iter().find(|(key, value)| is_at(key.span()) || is_at(value.span()) || holds(value, start));
    let Some(table) = place.map(|(key, _)| key.get_ref().to_string()) else {
        let (key, value) = known.iter().find_map(|other| other.get_key_value(missing?))?;
        file.insert(key.clone(), value.clone());
        return Some(());
    };
    let of_known = |field: Option<&str>| {
        known.iter().find_map(|other| {
            let (key, value) = other.get_key_value(&*table)?;
            match field {
                None => Some((key, value)),
                Some(field) => value.get_ref().as_table()?.get_key_value(field),
            }
        })
    };
    let (own_key, own) = file.iter_mut().find(|(key, _)| *key.get_ref() == *table)?;
    let header = own_key.span();
    let own = own.get_mut();
    let field = match own {
        DeValue::Table(fields) => missing.map(str::to_owned).or_else(|| {
            let at = fields.iter().find(|(key, value)| is_at(key.span()) || is_at(value.span()));
            at.map(|(key, _)| key.get_ref().to_string())
        }),
        _ => None,
    };
    match (field, own) {
        (Some(field), DeValue::Table(fields)) => {
            fields.remove(&*field);
            // What is wrong with what is added is told of its table.
            if let Some((key, value)) = of_known(Some(&field)) {
                fields.insert(key.clone(), Spanned::new(header, value.get_ref().clone()));
            }
        }
        _ => {
            file.remove(&*table);
            if let Some((key, value)) = of_known(None) {
                file.insert(key.clone(), value.clone());
            }
        }
    }
    Some(())
}

/// Adds the tables and fields that this file lacks and the other has.
fn complete<'t>(file: &mut DeTable<'t>, other: &DeTable<'t>) {
    for (key, value) in other {
        match (file.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(fields)), DeValue::Table(others)) => complete(fields, others),
            (Some(_), _) => {}
            (None, _) => drop(file.insert(key.clone(), value.clone())),
        }
    }
}

/// Whether a field of this table is there.
fn holds(value: &Spanned<DeValue>, start: usize) -> bool {
    let of =
        |(key, value): (&Spanned<_>, &Spanned<DeValue>)| key.span().contains(&start) || value.span().contains(&start);
    value.get_ref().as_table().is_some_and(|fields| fields.iter().any(of))
}

#[cfg(test)]
mod tests {
    use crate::preset::Preset;

    fn said(text: &str) -> String {
        Preset::parse(text).expect_err(text).to_string()
    }

    /// An embedded drive's file with `changes` made to its text.
    fn altered(changes: &[(&str, &str)]) -> String {
        let mut text = Preset::find("x25-m").unwrap().text;
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        text
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text = altered(&[
            ("erase = \"2 ms\"", "erase = \"2 parsec\"\nplains = 1\ncolour = \"red\""),
            ("channels = 10\n", ""),
            ("[buffer]\nsource", "[buffer]\nsauce"),
            ("planes = 1", "planes = \"one\""),
        ]);
        let said = said(&text);
        let line = |words: &str| text.lines().position(|line| line.contains(words)).unwrap() + 1;
        for expected in [
            "7 mistakes".to_owned(),
            format!("line {}, `erase = \"2 parsec\"`: unknown unit `parsec`", line("parsec")),
            format!("line {}, `plains = 1`: unknown field `plains`", line("plains")),
            format!("line {}, `colour = \"red\"`: unknown field `colour`", line("colour")),
            format!("line {}, `[geometry]`: missing field `channels`", line("[geometry]")),
            format!("line {}, `sauce = ", line("sauce")),
            format!(
                "line {}, `planes = \"one\"`: invalid type: string \"one\", expected a whole number from 0",
                line("\"one\"")
            ),
        ] {
            assert!(said.contains(&expected), "{expected}\n{said}");
        }
    }

    #[test]
    fn tables_that_are_unknown_or_missing_are_told() {
        let without: String = {
            let text = Preset::find("x25-m").unwrap().text;
            let start = text.find("[link]").unwrap();
            let end = start + text[start + 1..].find("\n[").unwrap() + 2;
            format!("{}{}\n[colours]\nred = 1\n", &text[..start], &text[end..])
        };
        let said = said(&without);
        assert!(said.contains("missing field `link`") && said.contains("unknown field `colours`"), "{said}");
    }

    #[test]
    fn words_that_are_no_toml_are_all_told() {
        let said = said("name = \"a\nkind = flash\ntitle = = 7\n");
        for line in ["line 1", "line 2", "line 3"] {
            assert!(said.contains(line), "{said}");
        }
    }

    #[test]
    fn a_file_with_a_base_need_not_say_what_its_base_says() {
        let text = "name = \"own\"\ntitle = \"Own\"\nbase = \"x25-m\"\n[rated]\nsource = \"none\"\n\
            [geometry]\nsource = \"half\"\nchanels = 5\nplanes = \"two\"\n[nand]\nsource = \"guess\"\nread = \"5 parsec\"\n";
        let said = said(text);
        assert!(said.contains("3 mistakes"), "{said}");
        for expected in ["line 8, `chanels = 5`", "line 9, `planes = \"two\"`", "line 12, `read = \"5 parsec\"`"] {
            assert!(said.contains(expected), "{expected}\n{said}");
        }
    }
}
