//! The figures of a run in files of other programs' kinds.

use crate::support::Place;

/// A place with a short review in its store.
fn reviewed() -> Place {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    place
}

#[test]
fn a_file_holds_what_would_have_been_printed() {
    let place = reviewed();
    for format in ["text", "json", "csv", "jsonl", "markdown"] {
        let printed = place.succeeds(&["show", "last", "--format", format]);
        let said = place.succeeds(&["show", "last", "--format", format, "--output", "figures"]);
        assert_eq!(said, "", "{format}");
        assert_eq!(std::fs::read_to_string(place.path("figures")).unwrap(), printed, "{format}");
    }
    let said = place.assay(&["show", "last", "--output", "no/such/folder/figures"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("no/such/folder/figures") && said.stderr.contains("name another"), "{}", said.stderr);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_parquet_says_how_to_get_one_with_it() {
    let place = Place::new();
    let said = place.refuses(&["show", "last", "--format", "parquet", "--output", "run.parquet"]);
    assert!(said.contains("--features parquet") && said.contains("--format csv"), "{said}");
    assert!(!place.path("run.parquet").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_to_a_file_and_nowhere_else() {
    let place = reviewed();
    place.succeeds(&["show", "last", "--format", "parquet", "--output", "run.parquet"]);
    let table = std::fs::read(place.path("run.parquet")).unwrap();
    // Source: Apache Parquet, "File Format": both ends have the four bytes `PAR1`.
    assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
    assert!(place.refuses(&["show", "last", "--format", "parquet"]).contains("--output FILE"));
}
