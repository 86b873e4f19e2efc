//! Public command lines of fio's, and what becomes of each.
//!
//! `corpus/outcomes.toml` is the table. With `ASSAY_RECORD=1` in the environment it is written anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support::{Place, Said};

/// What of a page is needed here; `corpus/README.md` has the rest.
#[derive(Deserialize)]
struct Lines {
    page: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    with: BTreeMap<String, String>,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    line: String,
    #[serde(default)]
    with: BTreeMap<String, String>,
    broken: Option<String>,
}

#[derive(Deserialize)]
struct Fios {
    lines: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    line: String,
    accepted: bool,
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is run, and means the same.
    Same,
    /// It is run, and these options are told not to be honoured.
    Announced(Vec<String>),
    /// It is not run, for this reason.
    Refused(String),
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every line that is not broken in itself, by file, with its placeholders filled.
pub fn lines() -> Vec<(String, String, String)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(corpus().join("lines")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for page in read::<Lines>(&file).page {
            for line in page.lines.into_iter().filter(|line| line.broken.is_none()) {
                let mut values: Vec<(String, String)> = page.with.clone().into_iter().chain(line.with).collect();
                values.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
                let filled =
                    values.iter().fold(line.line.clone(), |text, (name, value)| text.replace(name.as_str(), value));
                all.push((name.clone(), line.line, filled));
            }
        }
    }
    all
}

/// Whether fio 3.33 takes each line.
pub fn fios_answers() -> BTreeMap<String, bool> {
    let fios: Fios = read(&corpus().join("fio-3.33.toml"));
    fios.lines.into_iter().map(|answer| (answer.line, answer.accepted)).collect()
}

/// The words between backquotes at the beginning of each message of this kind, up to their values.
fn named(said: &Said, kind: &str) -> Vec<String> {
    let lines = said.stderr.lines().filter(|line| line.starts_with(kind));
    let name = |line: &str| {
        let quoted = line.split('`').nth(1)?;
        Some(quoted.split('=').next().unwrap_or_default().trim_start_matches('-').to_owned())
    };
    let mut names: Vec<String> = lines.filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}

fn outcome(place: &Place, line: &str) -> Outcome {
    // What a shell takes for the end of the command is not a part of it.
    let words = shlex::split(line.trim_end().trim_end_matches(';')).unwrap_or_else(|| panic!("{line} is no words"));
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).chain(["--parse-only"]).collect();
    let said = place.assay(&[&["fio"], &words[..]].concat());
    if said.code != Some(0) {
        let errors = said.stderr.lines().filter_map(|line| line.split_once("error"));
        let first = errors.map(|(_, message)| message).next().unwrap_or_default();
        let message =
            first.trim_start_matches(|c: char| c == '[' || c == ']' || c == ':' || c.is_alphanumeric() || c == '-');
        return Outcome::Refused(message.trim_start_matches([':', ' ']).to_owned());
    }
    match named(&said, "warning") {
        names if names.is_empty() => Outcome::Same,
        names => Outcome::Announced(names),
    }
}

/// The table as it is kept.
fn table(outcomes: &[(String, String, Outcome)]) -> String {
    let mut text = "# What becomes of each line of lines/ under `assay fio`: written by the test `fio_corpus` with \
                    ASSAY_RECORD=1.\n# \"same\": it is run and means the same; `announced`: it is run, and says what \
                    of these options is not\n# honoured; `refused`: it is not run, for this reason.\n\n"
        .to_owned();
    let counts = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|(.., outcome)| wanted(outcome)).count();
    let _ = writeln!(
        text,
        "same = {}\nannounced = {}\nrefused = {}\n",
        counts(|outcome| *outcome == Outcome::Same),
        counts(|outcome| matches!(outcome, Outcome::Announced(_))),
        counts(|outcome| matches!(outcome, Outcome::Refused(_)))
    );
    text += "lines = [\n";
    for (file, line, outcome) in outcomes {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let told = match outcome {
            Outcome::Same => "same = true".to_owned(),
            Outcome::Announced(names) => {
                format!("announced = [{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
            }
            Outcome::Refused(why) => format!("refused = {}", quoted(why)),
        };
        let _ = writeln!(text, "  {{ file = {}, line = {}, {told} }},", quoted(file), quoted(line));
    }
    text + "]\n"
}

/// The engines that read and write files and block devices, as one machine does.
fn is_for_files_and_devices(line: &str) -> bool {
    let foreign =
        ["rbd", "rados", "libpmem", "external", "http", "nfs", "net", "rdma", "cpuio", "xnvme", "spdk", "libiscsi"];
    let is_foreign =
        |name: &&str| line.contains(&format!("ioengine={name}")) || line.contains(&format!("ioengine {name}"));
    let alone = ["--server", "--client", "--profile", "--cmdhelp", "--enghelp", "--merge_blktrace"];
    !foreign.iter().any(is_foreign) && !alone.iter().any(|option| line.contains(option))
}

#[test]
fn every_public_line_has_the_outcome_that_is_kept_for_it() {
    let place = Place::new();
    let done = |(file, line, filled): (String, String, String)| (file, line, outcome(&place, &filled));
    let outcomes: Vec<_> = lines().into_iter().map(done).collect();
    let (path, found) = (corpus().join("outcomes.toml"), table(&outcomes));
    if std::env::var_os("ASSAY_RECORD").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(found.lines()).find(|(kept, found)| kept != found);
    assert!(
        kept == found,
        "outcomes.toml says otherwise; record it with ASSAY_RECORD=1 if it is right now:\n{differs:#?}"
    );
}

#[test]
fn nearly_every_line_for_files_and_devices_that_fio_takes_is_taken() {
    let taken = fios_answers();
    let kept: toml::Table = read(&corpus().join("outcomes.toml"));
    let (mut all, mut refused) = (0, Vec::new());
    for row in kept["lines"].as_array().unwrap() {
        let line = row["line"].as_str().unwrap();
        if !is_for_files_and_devices(line) || taken.get(line) != Some(&true) {
            continue;
        }
        all += 1;
        refused.extend(row.get("refused").map(|why| format!("{line}: {}", why.as_str().unwrap())));
    }
    let most = all / 20;
    assert!(all > 150, "{all} lines");
    assert!(
        refused.len() <= most,
        "{} of {all} are refused, at most {most} may be:\n{}",
        refused.len(),
        refused.join("\n")
    );
}
