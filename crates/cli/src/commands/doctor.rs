//! `assay doctor`: what this machine can do, and the command that installs what is missing.

mod check;
mod examination;
mod kernel;
mod machine;
mod meters;
mod programs;

use std::path::Path;
use std::process::ExitCode;

use report::wrapped;
use serde::Serialize;

use check::{Check, Purpose, Status};
use examination::{examine, summary};

use crate::exit::Exit;
use crate::format::Format;
use crate::terminal::say;

/// The longest line for people, in characters.
const LINE: u16 = 80;
/// Where a check's words begin: after `  missing  PostgreSQL  `.
const WORDS: usize = 23;
/// Where a remedy begins: after `  missing  `.
const REMEDY: usize = 11;

/// What was asked on the command line.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Examines this machine and the current directory, and prints what was found on standard output.
///
/// `none` marks what this machine cannot have, which is no fault. What is missing is an answer, not an error: only output that cannot be written fails.
pub fn run(arguments: Arguments, color: bool) -> ExitCode {
    let checks = examine(Path::new("."));
    let document = match arguments.format {
        Format::Text => text(&checks, color),
        Format::Json => json(&checks),
    };
    match say(&document) {
        Err(failure) => failure.tell(color),
        Ok(()) => Exit::Done.into(),
    }
}

/// One JSON object: every check, and what can be reviewed.
fn json(checks: &[Check]) -> String {
    #[derive(Serialize)]
    struct Document<'c> {
        checks: &'c [Check],
        summary: String,
    }
    let document = Document { checks, summary: summary(checks) };
    serde_json::to_string_pretty(&document).expect("strings and lists always serialise") + "\n"
}

/// The checks by purpose, within 80 columns, and a closing sentence.
fn text(checks: &[Check], color: bool) -> String {
    let paint = Paint { color };
    let mut page = String::new();
    for purpose in Purpose::ALL {
        let mut group = checks.iter().filter(|check| check.purpose == purpose).peekable();
        if group.peek().is_some() {
            page += &format!("{}\n", paint.bold(purpose.title()));
            group.for_each(|check| page += &lines(check, paint));
            page += "\n";
        }
    }
    page + &indented(&summary(checks), 0) + "\n"
}

/// A check in a few lines: mark, name, what it is for, what was found, what to do.
fn lines(check: &Check, paint: Paint) -> String {
    let (mark, detail, remedy) = match &check.status {
        Status::Ready { detail } => (paint.green("ok     "), detail, None),
        Status::Missing { detail, remedy } if check.purpose == Purpose::RealDrives => {
            (paint.red("missing"), detail, Some(remedy))
        }
        Status::Missing { detail, remedy } => (paint.yellow("missing"), detail, Some(remedy)),
        Status::Unavailable { detail } => ("none   ".to_owned(), detail, None),
    };
    let words = indented(&format!("{}: {detail}", check.ability), WORDS);
    let mut lines = format!("  {mark}  {:<10}  {words}\n", check.name);
    if let Some(remedy) = remedy {
        let remedy = indented(&format!("remedy: {remedy}"), REMEDY);
        lines += &format!("{:REMEDY$}{remedy}\n", "");
    }
    lines
}

/// `text` in lines that begin at a column; what stands before the first is the caller's.
fn indented(text: &str, column: usize) -> String {
    wrapped(text, LINE - column as u16).join(&format!("\n{:column$}", ""))
}

/// Colours words, or leaves them alone.
#[derive(Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn bold(self, words: &str) -> String {
        self.with(1, words)
    }

    fn red(self, words: &str) -> String {
        self.with(31, words)
    }

    fn green(self, words: &str) -> String {
        self.with(32, words)
    }

    fn yellow(self, words: &str) -> String {
        self.with(33, words)
    }

    /// Source: ECMA-48, 5th edition, §8.3.117, "SGR - Select Graphic Rendition".
    fn with(self, code: u8, words: &str) -> String {
        if self.color { format!("\x1b[{code}m{words}\x1b[0m") } else { words.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        let ready = Status::Ready { detail: "Linux 6.1".to_owned() };
        let missing = Status::Missing {
            detail: "no initdb, no pg_ctl, no pgbench found".to_owned(),
            remedy: "sudo dnf install postgresql-server postgresql-contrib".to_owned(),
        };
        vec![
            Check {
                name: "io_uring",
                ability: "asynchronous I/O with many requests in flight",
                purpose: Purpose::RealDrives,
                status: ready,
            },
            Check {
                name: "PostgreSQL",
                ability: "database as a workload",
                purpose: Purpose::Applications,
                status: missing,
            },
        ]
    }

    #[test]
    fn people_read_groups_with_remedies_and_a_closing_sentence() {
        let expected = "\
Required to review a file or a block device
  ok       io_uring    asynchronous I/O with many requests in flight: Linux 6.1

Optional: applications as workloads
  missing  PostgreSQL  database as a workload: no initdb, no pg_ctl, no pgbench
                       found
           remedy: sudo dnf install postgresql-server postgresql-contrib

This machine can review simulated drives; files in this directory need O_DIRECT;
block devices need root.
";
        assert_eq!(text(&checks(), false), expected);
    }

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        let mut checks = examine(Path::new("."));
        for check in &mut checks {
            let words = "a rather long account of what was found ".repeat(5);
            check.status = Status::Missing { detail: words.clone(), remedy: words };
        }
        let page = text(&checks, false);
        let longest = page.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= LINE.into(), "{longest}");
    }

    #[test]
    fn colour_changes_no_words() {
        let painted = text(&checks(), true);
        let mut plain = painted.clone();
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
            plain = plain.replace(code, "");
        }
        assert_ne!(painted, plain);
        assert_eq!(plain, text(&checks(), false));
    }

    #[test]
    fn programs_read_one_object_with_every_check_and_the_summary() {
        let document: serde_json::Value = serde_json::from_str(&json(&checks())).unwrap();
        assert_eq!(document["checks"][0]["status"], "ready");
        assert_eq!(document["checks"][1]["remedy"], "sudo dnf install postgresql-server postgresql-contrib");
        assert_eq!(document["summary"], summary(&checks()));
    }
}
