//! The page on the store in a browser.

use super::page::Page;
use super::shell::{Instead, Shell};

/// A port that is free, and an end.
const INSTEAD: [Instead; 2] = [
    ("$ assay serve\n", "$ assay serve --listen 127.0.0.1:7878\n"),
    ("$ assay serve --listen", "timeout --signal=INT --preserve-status 2 assay serve --listen"),
];

/// A line with each port as the page has it, and what is different each time as dots.
fn plain(line: &str, home: &str) -> String {
    let line = line.replace(home, "/home/you");
    let (before, after) = line.split_once("?token=").unwrap_or((&line, ""));
    let token = if after.is_empty() { String::new() } else { format!("?token={}", ".".repeat(after.len())) };
    match before.split_once("://").and_then(|(way, rest)| Some((way, rest.split_once(':')?.0))) {
        Some((way, host)) => format!("{way}://{host}:7878/{token}"),
        None => before.to_owned(),
    }
}

pub fn page(page: Page) {
    let shell = Shell::new(&INSTEAD);
    let home = shell.place.path(".").canonicalize().unwrap().display().to_string();
    for block in page.blocks().into_iter().filter(|block| block.is_transcript()) {
        let (typed, shown) = block.text.split_once('\n').unwrap();
        let typed = shell.scaled(&format!("{typed}\n")).replace(":7878", ":0");
        let printed = shell.types(&typed);
        assert_eq!(printed.code, Some(0), "{}: {}", block.at, printed.err);
        let said = printed.out + &printed.err;
        for line in shown.lines().map(|line| plain(line, "/home/you")) {
            let found = said.lines().any(|said| plain(said, &home) == line);
            assert!(found, "{}: `{line}` is not in:\n{said}", block.at);
        }
    }
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}
