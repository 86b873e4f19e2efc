//! The plans of these trials: every value in them is one of its choice, and what is asked for makes sense.

use assay_trial::{Choices, EXPERIMENTS, Experiment};
use toml::{Table, Value};

/// What a step says of itself and not of its trial.
const OF_STEP: &[&str] = &["name", "do", "title", "about", "sweep", "quick"];

const PLANS: &[(&str, &str)] = &[
    ("file-systems", include_str!("../../../plans/file-systems.toml")),
    ("schedulers", include_str!("../../../plans/schedulers.toml")),
];

/// A value as a choice is told it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Tells all of these at once.
fn tell(choices: &mut Choices, told: &Table, place: &str) {
    for (key, value) in told.iter().filter(|(key, _)| !OF_STEP.contains(&key.as_str())) {
        choices.tell(key, &text(value)).unwrap_or_else(|error| panic!("{place}: {error}"));
    }
}

/// Every combination of the values of a sweep.
fn cells(sweep: &Table) -> Vec<Table> {
    sweep.iter().fold(vec![Table::new()], |cells, (key, values)| {
        let values = values.as_array().expect("a sweep is of lists");
        let with = |cell: &Table, value: &Value| {
            let mut cell = cell.clone();
            cell.insert(key.clone(), value.clone());
            cell
        };
        cells.iter().flat_map(|cell| values.iter().map(|value| with(cell, value)).collect::<Vec<Table>>()).collect()
    })
}

#[test]
fn every_cell_of_the_plans_is_something_that_can_be_done() {
    for (plan, source) in PLANS {
        let table: Table = source.parse().unwrap();
        assert_eq!(table["name"].as_str(), Some(*plan));
        for step in table["step"].as_array().unwrap() {
            let step = step.as_table().unwrap();
            let place = format!("{plan}, {}", step["name"]);
            let is_asked = |experiment: &&&dyn Experiment| Some(experiment.name()) == step["do"].as_str();
            let experiment = EXPERIMENTS.iter().find(is_asked).unwrap_or_else(|| panic!("{place}: {}", step["do"]));
            for quick in [None, step.get("quick").and_then(Value::as_table)] {
                let sweep = quick.and_then(|quick| quick.get("sweep")).unwrap_or(&step["sweep"]);
                for cell in cells(sweep.as_table().unwrap()) {
                    let mut choices = Choices::of(experiment.choices());
                    tell(&mut choices, step, &place);
                    tell(&mut choices, &cell, &place);
                    quick.iter().for_each(|quick| tell(&mut choices, quick, &place));
                    experiment.check(&choices).unwrap_or_else(|error| panic!("{place}, {cell}: {error}"));
                }
            }
        }
    }
}
