//! Public command lines and job files of fio's, and what becomes of each.
//!
//! `corpus/outcomes.toml` is the table of the lines, `corpus/job-outcomes.toml` that of the files. With `ASSAY_RECORD=1` in the
//! environment they are written anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support::corpus::{corpus, hold};
use crate::support::{Place, Said, skip};

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

/// What fio itself answers.
#[derive(Deserialize)]
struct Fios {
    lines: Vec<Answer>,
    jobs: Vec<FileAnswer>,
}

#[derive(Deserialize)]
struct Answer {
    line: String,
    accepted: bool,
}

#[derive(Deserialize)]
struct FileAnswer {
    file: String,
    accepted: bool,
}

/// What of the list of job files is needed here.
#[derive(Deserialize)]
struct Files {
    variables: BTreeMap<String, String>,
    repository: Vec<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    name: String,
    files: Vec<JobFile>,
}

#[derive(Deserialize)]
struct JobFile {
    path: String,
    #[serde(default)]
    fragment: bool,
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

fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every line that is not broken in itself, by file, with its placeholders filled.
pub fn lines() -> Vec<(String, String, String)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(corpus("lines")).unwrap().map(|entry| entry.unwrap().path()).collect();
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
    let fios: Fios = read(&corpus("fio-3.33.toml"));
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

fn outcome_of_line(place: &Place, line: &str) -> Outcome {
    // What a shell takes for the end of the command is not a part of it.
    let words = shlex::split(line.trim_end().trim_end_matches(';')).unwrap_or_else(|| panic!("{line} is no words"));
    outcome(place, &words.iter().skip(1).map(String::as_str).collect::<Vec<_>>())
}

/// What becomes of these words of a command line.
fn outcome(place: &Place, words: &[&str]) -> Outcome {
    let said = place.assay(&[&["fio"], words, &["--parse-only"]].concat());
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

/// The table as it is kept: `heading` says of what, and each row has the fields before its outcome.
fn table(heading: &str, rows: &[(String, Outcome)]) -> String {
    let mut text = format!(
        "# {heading}\n# written by the test `fio_corpus` with ASSAY_RECORD=1. `same`: it is run and means the same; \
         `announced`: it is run, and says\n# what of these options is not honoured; `refused`: it is not run, for this reason.\n\n"
    );
    let counts = |wanted: fn(&Outcome) -> bool| rows.iter().filter(|(_, outcome)| wanted(outcome)).count();
    let _ = writeln!(
        text,
        "same = {}\nannounced = {}\nrefused = {}\n",
        counts(|outcome| *outcome == Outcome::Same),
        counts(|outcome| matches!(outcome, Outcome::Announced(_))),
        counts(|outcome| matches!(outcome, Outcome::Refused(_)))
    );
    text += "rows = [\n";
    for (fields, outcome) in rows {
        let told = match outcome {
            Outcome::Same => "same = true".to_owned(),
            Outcome::Announced(names) => {
                format!("announced = [{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
            }
            Outcome::Refused(why) => format!("refused = {}", quoted(why)),
        };
        let _ = writeln!(text, "  {{ {fields}, {told} }},");
    }
    text + "]\n"
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The rows of a table that is kept.
fn rows(name: &str) -> Vec<toml::Value> {
    let mut kept: toml::Table = read(&corpus(name));
    let Some(toml::Value::Array(rows)) = kept.remove("rows") else { panic!("{name} has no rows") };
    rows
}

/// The engines that read and write files and block devices, as one machine does.
fn is_for_files_and_devices(line: &str) -> bool {
    let foreign = [
        "rbd", "rados", "libpmem", "external", "http", "nfs", "nbd", "net", "rdma", "cpuio", "xnvme", "spdk",
        "libiscsi",
    ];
    let is_foreign =
        |name: &&str| line.contains(&format!("ioengine={name}")) || line.contains(&format!("ioengine {name}"));
    let alone = ["--server", "--client", "--profile", "--cmdhelp", "--enghelp", "--merge_blktrace"];
    !foreign.iter().any(is_foreign) && !alone.iter().any(|option| line.contains(option))
}

/// Makes sure that nearly all are taken: of `all`, at most so many in a hundred are refused.
fn nearly_all(all: usize, refused: &[String], percent: usize) {
    let most = all * percent / 100;
    assert!(
        refused.len() <= most,
        "{} of {all} are refused, at most {most} may be:\n{}",
        refused.len(),
        refused.join("\n")
    );
}

#[test]
fn every_public_line_has_the_outcome_that_is_kept_for_it() {
    let place = Place::new();
    let done = |(file, line, filled): (String, String, String)| {
        (format!("file = {}, line = {}", quoted(&file), quoted(&line)), outcome_of_line(&place, &filled))
    };
    let outcomes: Vec<_> = lines().into_iter().map(done).collect();
    hold("outcomes.toml", &table("What becomes of each line of lines/ under `assay fio`:", &outcomes));
}

#[test]
fn every_public_job_file_has_the_outcome_that_is_kept_for_it() {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/corpus/jobs");
    if !fetched.is_dir() {
        return skip("the public job files are not here (scripts/corpus fetch)");
    }
    let (place, files) = (Place::new(), read::<Files>(&corpus("jobs.toml")));
    let variables: Vec<String> =
        files.variables.iter().map(|(name, value)| format!("--variable={name}={value}")).collect();
    let of = |(repository, file): (&Repository, &JobFile)| {
        let path = fetched.join(repository.name.replace('/', "+")).join(&file.path);
        let path = path.to_str().unwrap();
        // Most need a device, whose size some of them have shares of.
        let words = [path, "sim:x25-m?capacity.user=64GiB"];
        let words: Vec<&str> = words.into_iter().chain(variables.iter().map(String::as_str)).collect();
        let told = match outcome(&place, &words) {
            Outcome::Refused(why) => Outcome::Refused(why.replace(path, &file.path)),
            told => told,
        };
        (format!("file = {}", quoted(&format!("{}/{}", repository.name, file.path))), told)
    };
    let all =
        files.repository.iter().flat_map(|repository| repository.files.iter().map(move |file| (repository, file)));
    let all: Vec<_> = all.filter(|(_, file)| !file.fragment).collect();
    // Each is a program of its own; several at a time take the time of one.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(threads));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(|| part.iter().copied().map(of).collect::<Vec<_>>())).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let heading =
        "What becomes of each job file of jobs.toml under `assay fio`, with a simulated drive named behind it:";
    hold("job-outcomes.toml", &table(heading, &outcomes));
}

#[test]
fn nearly_every_line_for_files_and_devices_that_fio_takes_is_taken() {
    let taken = fios_answers();
    let (mut all, mut refused) = (0, Vec::new());
    for row in rows("outcomes.toml") {
        let line = row["line"].as_str().unwrap();
        if !is_for_files_and_devices(line) || taken.get(line) != Some(&true) {
            continue;
        }
        all += 1;
        refused.extend(row.get("refused").map(|why| format!("{line}: {}", why.as_str().unwrap())));
    }
    assert!(all > 150, "{all} lines");
    nearly_all(all, &refused, 5);
}

#[test]
fn nearly_every_job_file_for_files_and_devices_that_fio_takes_is_taken() {
    let fios: Fios = read(&corpus("fio-3.33.toml"));
    let taken: BTreeMap<&str, bool> = fios.jobs.iter().map(|answer| (answer.file.as_str(), answer.accepted)).collect();
    let (mut all, mut refused) = (0, Vec::new());
    for row in rows("job-outcomes.toml") {
        let (file, why) = (row["file"].as_str().unwrap(), row.get("refused").map(|why| why.as_str().unwrap()));
        // fio runs nothing of a file without a job either; its other engines do something else than read and write a drive.
        let is_other = why.is_some_and(|why| why == "there is no job" || why.contains("ioengine"));
        if is_other || taken.get(file) != Some(&true) {
            continue;
        }
        all += 1;
        refused.extend(why.map(|why| format!("{file}: {why}")));
    }
    assert!(all > 250, "{all} files");
    nearly_all(all, &refused, 7);
}
