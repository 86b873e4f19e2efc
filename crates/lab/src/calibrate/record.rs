//! A drive's file with what was fitted, and the fit told in the `source` of each table it changed.

use std::collections::BTreeMap;

use block::Seed;
use drive::preset::Preset;
use toml::Table;
use toml_edit::{DocumentMut, Item, value};

use super::Fitted;
use crate::replicate::Tally;

/// What is told of a fit.
pub struct Record<'a> {
    /// The review that was fitted to.
    pub review: &'a str,
    /// The origin of the search's random choices.
    pub seed: Seed,
    /// How well its figures are met.
    pub fitted: Tally,
}

impl Record<'_> {
    /// The file `text` with every value in which `changed` differs, laid out and commented as it was.
    pub fn write(&self, text: &str, changed: &str) -> String {
        let (Ok(mut file), Ok(before), Ok(after)) =
            (text.parse::<DocumentMut>(), text.parse::<Table>(), changed.parse::<Table>())
        else {
            unreachable!("both texts were read as a drive");
        };
        for (table, fields) in after.iter().filter_map(|(name, table)| Some((name, table.as_table()?))) {
            let old = before.get(table).and_then(|table| table.as_table());
            let differs = |field: &&String| old.and_then(|old| old.get(*field)) != fields.get(*field);
            let names: Vec<&String> = fields.keys().filter(|name| *name != "source").filter(differs).collect();
            if names.is_empty() {
                continue;
            }
            for &name in &names {
                let new = match &fields[name] {
                    toml::Value::Integer(number) => value(*number),
                    other => value(other.as_str().unwrap_or_default()),
                };
                put(&mut file[table][name], new);
            }
            let source = fields.get("source").and_then(|source| source.as_str()).unwrap_or_default();
            put(&mut file[table]["source"], value(self.told(source, &names)));
        }
        file.to_string()
    }

    /// A class of drives that says what was fitted to all of `drives`, and nothing else.
    pub fn class(&self, drives: &[Preset], fitted: &[Fitted]) -> String {
        let names: Vec<&str> = drives.iter().map(|drive| drive.name.as_str()).collect();
        let names = names.join(", ");
        let kind = drives[0].text.parse::<Table>().ok().and_then(|file| Some(file.get("kind")?.as_str()?.to_owned()));
        let mut tables: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
        for one in fitted {
            let (table, field) = one.parameter.name.split_once('.').expect("a parameter's name has its table");
            tables.entry(table).or_default().push((field, one.parameter.text(one.value)));
        }
        let mut text = format!("# What {names} share, fitted together.\n\nkind = \"{}\"\n", kind.unwrap_or_default());
        for (table, fields) in tables {
            let told: Vec<String> = fields.iter().map(|(field, _)| (*field).to_owned()).collect();
            let source = self.told(&format!("{names}:"), &told.iter().collect::<Vec<_>>());
            text += &format!("\n[{table}]\nsource = {}\n", toml::Value::String(source));
            for (field, value) in fields {
                // Counts are numbers, all else has a unit.
                let quoted = if value.parse::<u64>().is_ok() { value } else { format!("\"{value}\"") };
                text += &format!("{field} = {quoted}\n");
            }
        }
        text
    }

    /// `source` with what was fitted; an earlier fit of the same review is replaced.
    fn told(&self, source: &str, names: &[&String]) -> String {
        let mark = format!(" Fitted to `{}`", self.review);
        let own = source.split(&mark).next().unwrap_or(source).trim_end();
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let percent = |share: Option<f64>| format!("{:.1} %", 100.0 * share.unwrap_or_default());
        format!(
            "{own}{mark} by `assay calibrate` (seed {}): {}; median error of its {} fit figures {}, largest {}",
            self.seed,
            names.join(", "),
            self.fitted.judged,
            percent(self.fitted.median),
            percent(self.fitted.worst),
        )
    }
}

/// Puts a value in the place of another, with the space and comment around it kept.
fn put(place: &mut Item, new: Item) {
    let decor = place.as_value().map(|value| value.decor().clone());
    *place = new;
    if let (Some(decor), Some(value)) = (decor, place.as_value_mut()) {
        *value.decor_mut() = decor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# A drive.\nname = \"x\"\n\n[nand]\nsource = \"a datasheet.\"\nread = \"50 us\"     # to be fitted\nerase = \"2 ms\"\n\n[geometry]\nsource = \"guess: ten\"\nchannels = 10\n";

    fn record() -> Record<'static> {
        let fitted = Tally { judged: 8, met: 8, median: Some(0.0213), worst: Some(0.08) };
        Record { review: "solid-data", seed: Seed::new(1), fitted }
    }

    #[test]
    fn what_was_fitted_is_written_and_told_and_the_rest_is_left_as_it_was() {
        let changed = "name = \"x\"\n[geometry]\nchannels = 10\nsource = \"guess: ten\"\n[nand]\nerase = \"2 ms\"\nread = \"43000 ns\"\nsource = \"a datasheet.\"\n";
        let written = record().write(FILE, changed);
        let told = "a datasheet. Fitted to `solid-data` by `assay calibrate` (seed 1): read; \
                    median error of its 8 fit figures 2.1 %, largest 8.0 %";
        let expected = FILE.replace("\"50 us\"", "\"43000 ns\"").replace("a datasheet.", told);
        assert_eq!(written, expected);
        assert_eq!(record().write(&written, &written.replace("43000", "44000")), expected.replace("43000", "44000"));
    }

    #[test]
    fn counts_stay_numbers() {
        let written = record().write(FILE, &FILE.replace("channels = 10", "channels = 8"));
        assert!(written.contains("channels = 8\n") && written.contains("guess: ten Fitted to"), "{written}");
    }
}
