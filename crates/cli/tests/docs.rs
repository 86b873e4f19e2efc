//! Every command in the documentation on workloads does what it says, on a simulated drive.

mod support;

use std::process::Command;

use support::Place;

/// The blocks of shell in a page, each with the line on which it begins.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line) {
            (None, "```sh") => open = Some((index + 2, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, block)), line) => *block += &format!("{line}\n"),
            _ => {}
        }
    }
    blocks
}

#[test]
fn every_example_of_the_page_on_workloads_runs() {
    let page = include_str!("../../../docs/workloads.md");
    let place = Place::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("the program is in a directory");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let blocks = blocks(page);
    assert!(blocks.len() > 10, "the page has examples");
    for (line, block) in blocks {
        let mut shell = Command::new("bash");
        shell.args(["-euc", &block]).current_dir(place.path(".")).env("PATH", &path);
        let output = shell.env("ASSAY_STORE", place.store()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docs/workloads.md:{line}:\n{block}\n{said}");
        assert!(!output.stdout.is_empty() || block.contains("import"), "docs/workloads.md:{line} prints nothing");
    }
}
