//! The examples of the documentation do what they are shown to do.

mod support;

use support::Place;

/// What stands in the document's fenced blocks of this kind.
fn blocks<'d>(document: &'d str, kind: &str) -> Vec<&'d str> {
    let fence = format!("```{kind}\n");
    document.split(&*fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn every_example_of_a_workload_runs_in_the_order_of_the_page() {
    let page = include_str!("../../../docs/workloads.md");
    let place = Place::new();
    let commands: Vec<&str> = blocks(page, "console")
        .iter()
        .flat_map(|block| block.lines())
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "assay", "{command}");
        place.succeeds(&words[1..]);
    }
    for (number, plan) in blocks(page, "toml").into_iter().enumerate() {
        let path = place.path(&format!("example-{number}.toml"));
        std::fs::write(&path, plan).unwrap();
        place.succeeds(&["review", "--quick", "--plan", path.to_str().unwrap()]);
    }
}
