//! `assay drives fields`: what a drive's file may say.

use drive::preset::reference::{DriveKind, FieldInfo, KINDS, Table, range};
use serde_json::{Value, json};

use super::entries::entry;
use crate::failure::Failure;
use crate::target::named;
use crate::terminal::{line, say};

/// A field and where it is.
struct Place {
    kind: DriveKind,
    table: Table,
    field: FieldInfo,
}

/// Prints the fields that `name` means: of a kind of drive, a table, one field, or a drive's kind; the tables of all kinds if
/// there is none.
pub fn fields(name: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let found = name.map_or_else(|| Ok(all()), of)?;
    if as_json {
        let list: Vec<Value> = found.iter().map(Place::json).collect();
        return say(&(serde_json::to_string_pretty(&list).expect("there are only names for keys") + "\n"));
    }
    say(&if name.is_none() { overview() } else { told(&found) })
}

/// Every field of every kind.
fn all() -> Vec<Place> {
    let of_table = |kind: DriveKind, table: Table| table.fields.iter().map(move |&field| Place { kind, table, field });
    let of_kind = |kind: DriveKind| kind.all_tables().flat_map(move |table| of_table(kind, table));
    KINDS.into_iter().flat_map(of_kind).collect()
}

/// The fields that a name means.
fn of(name: &str) -> Result<Vec<Place>, Failure> {
    let asked: Vec<&str> = name.split('.').collect();
    let is_meant = |place: &Place| place.path().windows(asked.len()).any(|part| part == asked);
    let found: Vec<Place> = all().into_iter().filter(is_meant).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    match named(name) {
        Ok(preset) => Ok(all().into_iter().filter(|place| place.kind.name == preset.spec.kind().name).collect()),
        Err(_) => Err(unknown(name, asked.len())),
    }
}

/// That there is no such field, and what is most like it.
fn unknown(name: &str, parts: usize) -> Failure {
    let names: Vec<String> = all().iter().flat_map(|place| joined(&place.path(), parts)).collect();
    let near = block::nearest(name, names.iter().map(String::as_str));
    let hint =
        near.map_or("`assay drives fields` lists the tables".to_owned(), |near| format!("did you mean `{near}`?"));
    Failure::usage(format!("`{}` is no kind of drive, table, field or drive; {hint}", line(name)))
}

/// Each so many parts of a path that follow each other, as one name.
fn joined(path: &[&str], parts: usize) -> Vec<String> {
    path.windows(parts).map(|part| part.join(".")).collect()
}

/// The tables of all kinds.
fn overview() -> String {
    let mut text = String::new();
    for kind in KINDS {
        text += &format!("kind = \"{}\": {}\n", kind.name, kind.about);
        for table in kind.all_tables() {
            let needed = if table.is_required { "; required" } else { "" };
            text += &entry(&format!("  [{}]", table.name), 16, &format!("{}{needed}", table.about));
        }
        text.push('\n');
    }
    let rest = "`assay drives fields NAME` describes the fields of a kind, a table or a drive's kind, or one field: flash, \
        flash.nand, x25-m, nand.read. Every table also has a `source`, the file itself `name`, `title` and `kind`; `[drive]` of a \
        rig changes fields of its drive.";
    text + &entry("", 0, rest)
}

/// Fields in words, by table.
fn told(found: &[Place]) -> String {
    let mut text = String::new();
    for of_table in found.chunk_by(|one, other| one.path()[..2] == other.path()[..2]) {
        let Place { kind, table, .. } = of_table[0];
        let needed = if table.is_required { "required" } else { "optional" };
        text += &entry("", 0, &format!("{}.{}: {}; {needed}", kind.name, table.name, table.about));
        for place in of_table {
            text += &entry(&format!("  {}", place.field.name), COLUMNS, place.field.about);
            text += &entry("", COLUMNS, &place.form().join("; "));
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// How wide the names of fields are.
const COLUMNS: usize = 24;

impl Place {
    fn path(&self) -> [&'static str; 3] {
        [self.kind.name, self.table.name, self.field.name]
    }

    /// What it is written as, what it can be, and what holds where it is left out.
    fn form(&self) -> Vec<String> {
        let (kind, example) = self.field.kind().told();
        let words = self.field.kind().words().map(|words| format!("{kind}: {}", words.join(", ")));
        let like = example.map(|example| format!("{kind}, such as {example}"));
        let written = words.or(like).unwrap_or_else(|| kind.to_owned());
        let needed = match self.field.default() {
            Some(default) => format!("default: {default}"),
            None if self.field.is_required => "required".to_owned(),
            None => "optional".to_owned(),
        };
        let range = range(&self.table, &self.field);
        [Some(written), range, Some(needed)].into_iter().flatten().collect()
    }

    fn json(&self) -> Value {
        let (kind, example) = self.field.kind().told();
        json!({
            "kind": self.kind.name,
            "table": self.table.name,
            "table_about": self.table.about,
            "table_required": self.table.is_required,
            "field": self.field.name,
            "about": self.field.about,
            "type": kind,
            "example": example,
            "words": self.field.kind().words(),
            "range": range(&self.table, &self.field),
            "required": self.field.is_required,
            "default": self.field.default(),
        })
    }
}
