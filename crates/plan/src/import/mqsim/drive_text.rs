//! The tables of a drive's file, each with what its values are from.

use toml::Value;

use super::field::{FieldValue, FieldValues};
use crate::printable;

/// The fields of MQSim's configuration that are in force.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) host: FieldValues,
    pub(super) device: FieldValues,
    pub(super) flash: FieldValues,
}

/// A table of a drive's file that is being made.
#[derive(Debug)]
pub(super) struct DriveTable {
    name: &'static str,
    sources: Vec<String>,
    fields: Vec<(&'static str, Value)>,
}

impl DriveTable {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, sources: Vec::new(), fields: Vec::new() }
    }

    /// Adds a field that is made of these of MQSim's; `how` says more, if there is more to say.
    pub(super) fn from(
        mut self,
        field: &'static str,
        value: impl Into<Value>,
        given: &[&FieldValue],
        how: &str,
    ) -> Self {
        let from: Vec<String> = given.iter().map(|value| said(value)).collect();
        let how = if how.is_empty() { String::new() } else { format!(": {how}") };
        self.sources.push(format!("{field}: {}{how}", from.join(", ")));
        self.fields.push((field, value.into()));
        self
    }

    /// Adds a field for which MQSim has none.
    pub(super) fn guess(mut self, field: &'static str, value: impl Into<Value>, why: &str) -> Self {
        self.sources.push(format!("{field}: guess, {why}"));
        self.fields.push((field, value.into()));
        self
    }
}

/// A field of MQSim's with where it stands.
fn said(value: &FieldValue) -> String {
    match value.is_given {
        true => format!("{} (line {})", value.spec.name, value.place.line),
        false => format!("{} (MQSim's default {})", value.spec.name, value.text),
    }
}

/// The text of a drive's file.
pub(super) fn text(name: &str, title: &str, file: &str, comments: &[String], tables: &[DriveTable]) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let mut text: String =
        comments.iter().map(|line| format!("# {}", printable(line)).trim_end().to_owned() + "\n").collect();
    text += &format!("\nname = {}\ntitle = {}\nkind = \"flash\"\n", quoted(name), quoted(title));
    for DriveTable { name, sources, fields } in tables {
        text += &format!("\n[{name}]\nsource = {}\n", quoted(&format!("{file} of MQSim: {}", sources.join("; "))));
        for (field, value) in fields {
            text += &format!("{field} = {value}\n");
        }
    }
    text
}
