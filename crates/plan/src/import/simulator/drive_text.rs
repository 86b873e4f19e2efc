//! The tables of a drive's file, each with what its values are from.

use std::path::Path;

use drive::preset::Preset;
use toml::Value;

use super::super::words::slug;
use super::super::{Notice, SourceRange};
use super::field::FieldValue;
use super::{Simulator, mistake};
use crate::printable;

/// A table of a drive's file that is being made.
#[derive(Debug)]
pub(in super::super) struct DriveTable {
    name: &'static str,
    sources: Vec<String>,
    fields: Vec<(&'static str, Value)>,
}

impl DriveTable {
    pub(in super::super) fn new(name: &'static str) -> Self {
        Self { name, sources: Vec::new(), fields: Vec::new() }
    }

    /// Adds a field that is made of these of the simulator's; `how` says more, if there is more to say.
    pub(in super::super) fn from(
        mut self,
        field: &'static str,
        value: impl Into<Value>,
        given: &[&FieldValue],
        how: &str,
    ) -> Self {
        let from: Vec<String> = given.iter().map(|value| value.source()).collect();
        let how = if how.is_empty() { String::new() } else { format!(": {how}") };
        self.sources.push(format!("{field}: {}{how}", from.join(", ")));
        self.fields.push((field, value.into()));
        self
    }

    /// Adds a field for which the simulator has none.
    pub(in super::super) fn guess(mut self, field: &'static str, value: impl Into<Value>, why: &str) -> Self {
        self.sources.push(format!("{field}: guess, {why}"));
        self.fields.push((field, value.into()));
        self
    }
}

/// A drive's file that is being made.
pub(in super::super) struct DriveFile<'a> {
    pub(in super::super) simulator: &'static Simulator,
    /// The file that it is made of.
    pub(in super::super) path: &'a Path,
    /// Its name, where it is not that of the file.
    pub(in super::super) name: Option<&'a str>,
    /// What it is, behind the name of the file and the simulator.
    pub(in super::super) about: String,
    pub(in super::super) tables: Vec<DriveTable>,
    /// Where the configuration begins.
    pub(in super::super) place: SourceRange,
}

impl DriveFile<'_> {
    /// Its text, if the model can have such a drive; tells why not.
    pub(in super::super) fn text(&self, notices: &mut Vec<Notice>) -> Option<String> {
        notices.sort_by_key(|notice| notice.place.span.start);
        let simulator = self.simulator.name;
        let [file, stem] = [self.path.file_name(), self.path.file_stem()]
            .map(|part| part.map_or_else(|| "drive".into(), |part| part.to_string_lossy()));
        let name = Value::from(slug(self.name.unwrap_or(&stem), "drive"));
        let title = Value::from(format!("{file} of {simulator} ({})", self.about));
        let mut text: String = self
            .heading(&file, notices)
            .iter()
            .map(|line| format!("# {}", printable(line)).trim_end().to_owned() + "\n")
            .collect();
        text += &format!("\nname = {name}\ntitle = {title}\nkind = \"flash\"\n");
        for DriveTable { name, sources, fields } in &self.tables {
            let source = Value::from(format!("{file} of {simulator}: {}", sources.join("; ")));
            text += &format!("\n[{name}]\nsource = {source}\n");
            for (field, value) in fields {
                text += &format!("{field} = {value}\n");
            }
        }
        match Preset::parse(&text) {
            Ok(_) => Some(text),
            Err(error) => {
                let help = "a drive's file has to hold for the model; change the fields that the message is about";
                let message = format!("the configuration makes no drive: {error}");
                notices.push(mistake(self.simulator.codes.refused, "drive", message, help, self.place.clone()));
                None
            }
        }
    }

    /// What is to be known of the drive.
    fn heading(&self, file: &str, notices: &[Notice]) -> Vec<String> {
        let simulator = self.simulator.name;
        let mut lines = vec![
            format!("Imported from {simulator}'s configuration {file}."),
            String::new(),
            "To see and to run it:".to_owned(),
            "  assay drives show ./THIS-FILE".to_owned(),
            "  assay run sim:./THIS-FILE --rw=randread".to_owned(),
        ];
        if !notices.is_empty() {
            lines.extend([String::new(), format!("Differences from {simulator}:")]);
            lines.extend(notices.iter().map(|notice| format!("  line {}: {notice}", notice.place.line)));
        }
        lines
    }
}
