//! Every command in the documentation on workloads and method does what it says, on a simulated drive.

mod support;

use std::process::Command;

use support::Place;

/// The blocks of this kind in a page, each with the line on which it begins.
fn blocks(page: &str, kind: &str) -> Vec<(usize, String)> {
    let fence = format!("```{kind}");
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line) {
            (None, line) if line == fence => open = Some((index + 2, String::new())),
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
    assert!(blocks(page, "sh").len() > 10, "the page has examples");
    run_all(page, "workloads.md");
}

#[test]
fn every_example_of_the_page_on_method_runs() {
    run_all(include_str!("../../../docs/method.md"), "method.md");
}

#[test]
fn every_step_in_the_pages_on_trials_can_be_read() {
    let pages = [
        ("file-systems.md", include_str!("../../../docs/file-systems.md")),
        ("database.md", include_str!("../../../docs/database.md")),
    ];
    for (name, page) in pages {
        let steps = blocks(page, "toml");
        assert!(!steps.is_empty(), "docs/{name} has an example");
        for (line, steps) in steps {
            let text = if steps.starts_with("[[") { format!("name = \"p\"\n{steps}") } else { steps };
            let read = lab::plan::parse(&text, lab::plan::Length::Full);
            assert!(read.is_ok(), "docs/{name}:{line}: {}", lab::plan::render(&read.unwrap_err(), name, &text, false));
        }
    }
}

#[test]
fn what_the_page_on_contributing_says_can_be_done_in_its_order() {
    run_all(include_str!("../../../docs/contributing.md"), "contributing.md");
}

#[test]
fn every_example_of_the_page_on_booting_runs() {
    run_all(include_str!("../../../docs/boot.md"), "boot.md");
}

#[test]
fn every_example_of_the_pages_on_settings_and_exit_codes_runs() {
    run_all(include_str!("../../../docs/configuration.md"), "configuration.md");
    run_all(include_str!("../../../docs/exit-codes.md"), "exit-codes.md");
}

#[test]
fn every_example_of_the_page_on_serving_runs() {
    if support::tool("curl").is_none() {
        return support::skip("no curl here (apt install curl)");
    }
    let page = include_str!("../../../docs/serve.md");
    assert_eq!(blocks(page, "sh").len(), 1, "the page has an example");
    run_all(page, "serve.md");
}

#[test]
fn every_example_of_the_page_on_what_goes_on_runs() {
    run_all(include_str!("../../../docs/live.md"), "live.md");
}

/// Runs every block of commands of a page, and reviews by every plan.
fn run_all(page: &str, name: &str) {
    let place = Place::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_assay")).parent().expect("the program is in a directory");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for (line, block) in blocks(page, "sh") {
        let mut bash = Command::new("bash");
        bash.args(["-euc", &block]).current_dir(place.path(".")).env("PATH", &path);
        let output = bash.env("ASSAY_STORE", place.store()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docs/{name}:{line}:\n{block}\n{said}");
        assert!(!output.stdout.is_empty() || block.contains("import"), "docs/{name}:{line} prints nothing");
    }
    for (line, plan) in blocks(page, "toml") {
        std::fs::write(place.path("example.toml"), plan).unwrap();
        let said = place.assay(&["review", "--quick", "--plan", "example.toml"]);
        assert_eq!(said.code, Some(0), "docs/{name}:{line}:\n{}", said.stderr);
    }
}
