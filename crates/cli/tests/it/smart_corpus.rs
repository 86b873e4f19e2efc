//! Public outputs of smartctl's, and what is read of each.
//!
//! `corpus/smart-outcomes.toml` is the table. With `ASSAY_RECORD=1` in the environment it is written anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use lab::health::{HealthReading, HealthRecord, of_smartctl, rows};

use crate::support::corpus::hold;
use crate::support::skip;

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

/// A text for TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[test]
fn every_public_output_gives_the_health_that_is_written_down_for_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../target/corpus/smart");
    let files = files(&folder);
    if files.is_empty() {
        return skip("there is no target/corpus/smart; scripts/corpus fetch brings it");
    }
    let mut table = "# What is read of each output of smart.toml, as `assay health` shows it: written by the test \
                     `smart_corpus` with\n# ASSAY_RECORD=1. `passed` is the drive's own verdict; `missing` says why \
                     there is nothing.\n\nrows = [\n"
        .to_owned();
    for path in files {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let reading = of_smartctl(&String::from_utf8_lossy(&fs::read(&path).unwrap()), "/dev/drive");
        let _ = write!(table, "  {{ file = {}", quoted(&name));
        match &reading {
            HealthReading::Missing(why) => table += &format!(", missing = {}", quoted(why)),
            HealthReading::Health(health) => {
                if let Some(passed) = health.passed {
                    table += &format!(", passed = {passed}");
                }
                for row in rows(&HealthRecord { before: None, after: Some(reading.clone()) }) {
                    table += &format!(", {} = {}", quoted(row.name), quoted(&row.after));
                }
            }
        }
        table += " },\n";
    }
    table += "]\n";
    hold("smart-outcomes.toml", &table);
}
