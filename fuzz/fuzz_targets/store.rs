//! Bytes are a store, whose runs can be listed, shown and compared, or are refused; no byte of the file is changed.

#![no_main]

use lab::compare::{Comparison, Question};
use lab::recall;
use libfuzzer_sys::fuzz_target;
use store::{Filter, RunId, Store};

fn ask(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open_to_read(path)?;
    let _ = (store.runs(), store.listed(&Filter::default(), 0, 50), store.targets(9), store.count(&Filter::default()));
    let outcomes = [recall(&store, RunId(1))?, recall(&store, RunId(2))?];
    for outcome in &outcomes {
        report::summary(outcome, 80, true);
        report::html(outcome);
        report::export::review_csv(outcome);
    }
    let comparison = Comparison::of(outcomes.into(), Question::default())?;
    report::comparison::text(&comparison, 80, true);
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("there is room for a file");
    std::fs::write(file.path(), bytes).expect("the file can be written");
    if let Err(error) = ask(file.path()) {
        assert!(error.to_string().len() < 64 << 10);
    }
    assert_eq!(std::fs::read(file.path()).expect("the file is there"), bytes);
});
