//! `assay` alone: what could be done next, as the store has it.

use std::path::Path;

use store::{Run, RunState, Store};

use crate::failure::Failure;
use crate::terminal::say;

/// The column at which the words on a command begin.
const WORDS: usize = 36;

/// What could be typed, and what that would do.
type Hint = (String, &'static str);

/// Says what could be done next.
pub fn run(path: &Path) -> Result<(), Failure> {
    // Who only asks leaves nothing behind.
    let (situation, hints) = hints(&Store::open_to_read(path)?)?;
    let lines: String = hints.iter().map(|(typed, does)| line(typed, does)).collect();
    say(&format!(
        "assay {} benchmarks storage drives.\n\n{situation} Next:\n\n{lines}{}{}",
        env!("CARGO_PKG_VERSION"),
        line("assay doctor", "system requirements"),
        line("assay help", "all commands, with examples"),
    ))
}

/// A command with its words behind it, or above it where it is too long for that.
fn line(typed: &str, does: &str) -> String {
    match 2 + typed.chars().count() < WORDS {
        true => format!("  {typed:<width$}{does}\n", width = WORDS - 2),
        false => format!("  {typed}\n{:WORDS$}{does}\n", ""),
    }
}

/// What to begin with.
fn first() -> (String, Vec<Hint>) {
    let hints = vec![
        ("assay review".to_owned(), "a simulated drive, in a minute"),
        ("assay review FILE --size 2GiB --quick".to_owned(), "a new file on this machine's disk"),
    ];
    ("There are no runs yet.".to_owned(), hints)
}

/// What the runs in the store suggest.
fn hints(store: &Store) -> Result<(String, Vec<Hint>), Failure> {
    let runs = store.runs()?;
    let Some(latest) = runs.last() else { return Ok(first()) };
    let mut hints = Vec::new();
    let situation = match latest.state {
        RunState::Complete => format!("Run {} is the latest: {} on {}.", latest.id, latest.plan, short(&latest.target)),
        RunState::Running => format!("Run {} is in progress in another process.", latest.id),
        _ if latest.plan == super::review::SINGLE => format!("Run {} was interrupted.", latest.id),
        _ => {
            hints.push((format!("assay review --resume {}", latest.id), "continue it"));
            format!("Run {} was interrupted: {} on {}.", latest.id, latest.plan, short(&latest.target))
        }
    };
    hints.push((format!("assay show {}", latest.id), "its figures"));
    hints.push((format!("assay report {}", latest.id), "its report, a page to share"));
    let alike = |run: &&Run| run.id != latest.id && run.plan == latest.plan && run.state == RunState::Complete;
    if let Some(other) = runs.iter().rev().find(alike) {
        hints.push((format!("assay compare {} {}", other.id, latest.id), "compare with a run of the same plan"));
    }
    hints.push(("assay runs".to_owned(), "all runs"));
    hints.push(("assay review TARGET".to_owned(), "another drive, file or sim:DRIVE"));
    Ok((situation, hints))
}

/// The end of a target's name, which is what tells it from others, in so many letters as leave room for the rest.
fn short(target: &str) -> String {
    const LETTERS: usize = 28;
    let letters = target.chars().count();
    if letters <= LETTERS {
        return target.to_owned();
    }
    format!("…{}", target.chars().skip(letters - LETTERS + 1).collect::<String>())
}
