//! A run as columns: what is written reads back, field by field, as the lines for a spreadsheet have it.
use std::collections::BTreeMap;
use std::fs::File;

use crate::support;
use assay_report::export::{review_csv, review_parquet};
use lab::plan::Action;
use lab::{Outcome, PointOutcome, StepOutcome};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use trial::{Figure, Trial};

/// The rows of a table, each value by its column's name; what a row does not have is left out.
fn written(outcome: &Outcome) -> Vec<BTreeMap<String, Field>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    std::fs::write(&path, review_parquet(outcome).unwrap()).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert!(reader.metadata().file_metadata().created_by().unwrap().starts_with("assay "));
    let columns = |row: parquet::record::Row| {
        let fields = row.into_columns().into_iter();
        fields.filter(|(_, field)| *field != Field::Null).collect()
    };
    reader.get_row_iter(None).unwrap().map(|row| columns(row.unwrap())).collect()
}

/// A line of the spreadsheet in the types of columns.
fn holds(row: &BTreeMap<String, Field>, column: &str, text: &str) -> bool {
    match row.get(column) {
        None => text.is_empty(),
        Some(Field::Str(value)) => value == text,
        Some(Field::Long(value)) => value.to_string() == text,
        Some(Field::Double(value)) => value.to_string() == text,
        Some(Field::Bool(value)) => text == if *value { "yes" } else { "no" },
        Some(_) => false,
    }
}

#[test]
fn every_measurement_reads_back_as_the_spreadsheet_has_it() {
    for outcome in [support::outcome(), support::in_rounds()] {
        let rows = written(&outcome);
        let csv = review_csv(&outcome);
        let mut lines = csv::Reader::from_reader(csv.as_bytes());
        let head = lines.headers().unwrap().clone();
        let lines: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
        assert!(lines.len() > 20, "{}", lines.len());
        assert_eq!(rows.len(), lines.len());
        for (row, line) in rows.iter().zip(&lines) {
            for (column, text) in head.iter().zip(line) {
                assert!(holds(row, column, text), "{column} is {text:?} in {line:?}, and {:?}", row.get(column));
            }
            assert!(!row.contains_key("figure"), "no trial was made");
        }
    }
}

#[test]
fn figures_of_trials_have_rows_of_their_own() {
    let mut outcome = support::outcome();
    let measured = written(&outcome).len();
    let figure = |value| Figure::less("Latency, 99 %", "s", value);
    let repeats = [0.25, 0.5].map(|value| Trial { figures: vec![figure(value)], ..Trial::default() });
    let text = "name = \"t\"\n[[step]]\nname = \"bench\"\ndo = \"database\"\n";
    let plan = lab::plan::parse(text, lab::plan::PlanLength::Full).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let Action::Trial(trials) = &plan.steps[0].action else { panic!("no trial") };
    let tried = PointOutcome::tried(trials.experiment.name(), &trials.points[0], repeats.to_vec());
    let index = outcome.plan.steps.len();
    outcome.plan.steps.extend(plan.steps.clone());
    outcome.steps.push(StepOutcome { index, points: vec![tried] });
    let rows = written(&outcome);
    assert_eq!(rows.len(), measured + 2);
    let [first, second] = &rows[measured..] else { panic!("two rows") };
    assert_eq!((&first["step"], &first["unit"]), (&Field::Str("bench".into()), &Field::Str("s".into())));
    assert_eq!((&first["repeat"], &first["value"]), (&Field::Long(1), &Field::Double(0.25)));
    assert_eq!((&second["repeat"], &second["value"]), (&Field::Long(2), &Field::Double(0.5)));
    assert_eq!(second["better"], Field::Str("less".into()));
    assert!(!second.contains_key("iops"), "what a row does not have is null: {second:?}");
}

#[test]
fn numbers_are_numbers_and_seeds_are_not() {
    let rows = written(&support::in_rounds());
    let row = &rows[0];
    let of = |name: &str| &row[name];
    assert!(matches!(of("latency_p99_ns"), Field::Long(1..)), "{row:?}");
    assert!(matches!(of("iops"), Field::Double(iops) if *iops > 0.0), "{row:?}");
    assert!(matches!(of("counted"), Field::Bool(_)), "{row:?}");
    assert!(matches!(of("seed"), Field::Str(_)), "{row:?}");
    let counted = rows.iter().filter(|row| row["counted"] == Field::Bool(true)).count();
    assert!(counted > 0 && counted < rows.len(), "{counted} of {}", rows.len());
}
