//! The reference of drives' files, which is made of the tables that read them.

use std::fmt::Write;
use std::fs;

use drive::preset::reference::{DriveKind, FieldInfo, KINDS, Kind, Table, range};

use super::page::root;
use crate::support::Place;

const PAGE: &str = "docs/drive-files.md";

/// The last line that is written by hand.
const MARK: &str = "<!-- What follows is made of";

#[test]
fn the_page_on_drive_files_has_every_field() {
    let path = root().join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let by_hand: String = text.split_inclusive('\n').take_while(|line| !line.starts_with(MARK)).collect();
    let mark = text.lines().find(|line| line.starts_with(MARK)).unwrap();
    let right = format!("{by_hand}{mark}\n{}", reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &right).unwrap();
        return;
    }
    let differs = text.lines().zip(right.lines()).find(|(found, right)| found != right);
    assert!(text == right, "{PAGE} is not what the tables say: run its last comment's command; {differs:?}");
}

/// Every table of every kind; of those that are the same, the first in full.
fn reference() -> String {
    let mut text = String::new();
    let mut told: Vec<(DriveKind, Table)> = Vec::new();
    for kind in KINDS {
        write!(text, "\n## {}: {}\n", kind.name, kind.about).unwrap();
        for table in kind.all_tables() {
            let needed = if table.is_required { " Required." } else { "" };
            write!(text, "\n### {} [{}]\n\n{}.{needed}\n", kind.name, table.name, table.about).unwrap();
            let is_same = |other: &&(DriveKind, Table)| rows(&other.1) == rows(&table);
            match told.iter().find(is_same) {
                Some((of, same)) => {
                    let anchor = format!("{}-{}", of.name, same.name);
                    write!(text, "\nIts fields are those of [{} `[{}]`](#{anchor}).\n", of.name, same.name).unwrap();
                }
                None => {
                    text += "\n| field | what | from, to | if left out | meaning |\n| --- | --- | --- | --- | --- |\n";
                    text += &rows(&table);
                    told.push((kind, table));
                }
            }
        }
    }
    text
}

fn rows(table: &Table) -> String {
    table.fields.iter().map(|field| row(table, field)).collect()
}

fn row(table: &Table, field: &FieldInfo) -> String {
    let (kind, _) = field.kind().told();
    let written = match field.kind() {
        Kind::Bool => "`true` or `false`".to_owned(),
        Kind::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
        _ => kind.to_owned(),
    };
    let left_out = match field.default() {
        Some(default) => format!("`{default}`"),
        None if field.is_required => "required".to_owned(),
        None => "optional".to_owned(),
    };
    let range = range(table, field).unwrap_or_default();
    format!("| `{}` | {written} | {range} | {left_out} | {} |\n", field.name, field.about)
}

#[test]
fn the_command_lists_tables_and_describes_fields() {
    let place = Place::new();
    let overview = place.succeeds(&["drives", "fields"]);
    for kind in KINDS {
        assert!(overview.contains(&format!("kind = \"{}\"", kind.name)), "{overview}");
        for table in kind.tables {
            assert!(overview.contains(&format!("[{}]", table.name)), "{overview}");
        }
    }
    let told = place.succeeds(&["drives", "fields", "nand.read"]);
    assert!(told.starts_with("flash.nand: "), "{told}");
    for part in ["read  ", "time, such as \"50us\"; 500 ns to 10 ms; required", "word: greedy, fifo"] {
        let shown = told.clone() + &place.succeeds(&["drives", "fields", "gc.policy"]);
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for line in overview.lines().chain(place.succeeds(&["drives", "fields", "flash"]).lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let wrong = place.assay(&["drives", "fields", "nand.raed"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("did you mean `nand.read`?"), "{}", wrong.stderr);
}

/// A drive stands for its kind, and programs get every field of it.
#[test]
fn the_command_has_all_fields_of_a_drives_kind_for_programs() {
    let place = Place::new();
    let list = place.succeeds(&["drives", "fields", "nearline-7200", "--json"]);
    let list: Vec<serde_json::Value> = serde_json::from_str(&list).unwrap();
    let disk = KINDS.iter().find(|kind| kind.name == "disk").unwrap();
    let fields: usize = disk.all_tables().map(|table| table.fields.len()).sum();
    assert_eq!(list.len(), fields);
    let order = list.iter().find(|field| field["field"] == "order").unwrap();
    assert_eq!(order["words"], serde_json::json!(["position", "seek", "elevator"]));
    assert_eq!(order["required"], false);
}

/// What a field is changed to by name may be a list.
#[test]
fn a_list_is_given_by_name() {
    let place = Place::new();
    let shown = place.succeeds(&["drives", "show", "--toml", "x25-m?read_by_page=[80%, 120%]"]);
    assert!(shown.contains("read_by_page = [\"80%\", \"120%\"]"), "{shown}");
    let rig = place.succeeds(&["drives", "show", "--toml", "toms-x25e-16?drive.nand.read_by_page=[80%, 120%]"]);
    assert!(rig.contains("nand.read_by_page"), "{rig}");
    let wrong = place.assay(&["drives", "show", "x25-m?read_by_page=[80]"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("`80` has no unit"), "{}", wrong.stderr);
}
