//! Public inputs, and tables of what becomes of each.

use std::path::{Path, PathBuf};

/// A file of the corpus.
pub fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

/// Holds a table against the one that is kept, or keeps it.
pub fn hold(name: &str, found: &str) {
    let path = corpus(name);
    if std::env::var_os("ASSAY_RECORD").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(found.lines()).find(|(kept, found)| kept != found);
    assert!(kept == found, "{name} says otherwise; record it with ASSAY_RECORD=1 if it is right now:\n{differs:#?}");
}
