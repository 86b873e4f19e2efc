//! A job file, run by either program in a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::job::JobText;
use super::line::ScaledLine;
use crate::support::{Place, tool};

/// What is compared with.
const VERSION: &str = "fio-3.33";

/// What both are told to print.
const OUTPUT: [&str; 2] = ["--output-format=json", "--output=out"];

/// A request of a log: what it does, to which file, where, and how much.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    pub file: String,
    pub op: String,
    pub offset: u64,
    pub length: u64,
}

/// What came of a job file.
#[derive(Debug, Default)]
pub struct Ran {
    /// Whether it was run.
    pub is_done: bool,
    /// Whether it had to be killed.
    pub is_endless: bool,
    pub stderr: String,
    /// What each section asked for, in order; of clones those of one file in order.
    pub logs: BTreeMap<String, Vec<Request>>,
    pub json: Value,
    /// The options that are announced not to be honoured, by section.
    pub announced: BTreeMap<String, BTreeSet<String>>,
}

/// Whether fio is here in the version that is compared with, or else why not.
pub fn fio_or_reason() -> Result<(), String> {
    let path = tool("fio").ok_or("fio is not installed")?;
    let said = Command::new(path).arg("--version").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if version == VERSION { Ok(()) } else { Err(format!("{version} is installed, not {VERSION}")) }
}

/// Where a job file is run by both.
pub struct Bench<'t> {
    text: &'t JobText,
    /// What stands on the command line besides what is asked of all.
    words: Vec<&'t str>,
    place: Place,
}

impl<'t> Bench<'t> {
    pub fn new(text: &'t JobText) -> Self {
        Self::with(text, vec!["job.fio"])
    }

    /// For a command line in place of a job file.
    pub fn of_line(line: &'t ScaledLine) -> Self {
        Self::with(&line.text, line.words.iter().map(String::as_str).collect())
    }

    fn with(text: &'t JobText, words: Vec<&'t str>) -> Self {
        let place = Place::new();
        fs::create_dir(place.path("fio")).unwrap();
        fs::write(place.path("fio/job.fio"), text.text()).unwrap();
        fs::write(place.path("job.fio"), text.text()).unwrap();
        for (name, length) in &text.files {
            fs::write(place.path("fio").join(name), vec![7; *length as usize]).unwrap();
            // One that assay made, so that it is not a stranger's.
            let words = [format!("--filename={name}"), format!("--size={length}"), "--bs=64k".to_owned()];
            place.succeeds(&["fio", "--name=make", "--rw=write", "--output=made", &words[0], &words[1], &words[2]]);
        }
        Self { text, words, place }
    }

    /// What fio does.
    pub fn fio(&self) -> Ran {
        let folder = self.place.path("fio");
        // A log of each clone, where they would write into one another's.
        let logs = ["--kill-after=1", "60", "fio", "--write_bw_log=c", "--log_offset=1", "--per_job_logs=1"];
        let words = [&logs[..], &self.words, &OUTPUT].concat();
        let said = Command::new("timeout").args(words).current_dir(&folder).output().unwrap();
        let mut ran = Ran {
            is_done: said.status.success(),
            is_endless: matches!(said.status.code(), Some(124) | None),
            stderr: String::from_utf8_lossy(&said.stderr).into_owned(),
            json: document(&folder.join("out")),
            ..Ran::default()
        };
        let mut number = 0;
        for section in &self.text.sections {
            let clones = section.number("numjobs", 1);
            let mut log = read_iolog(&folder.join(format!("{}.log", section.name)));
            if clones > 1 {
                log = (0..clones)
                    .flat_map(|clone| {
                        let own = format!("{}.{clone}.0", section.name);
                        let file = section.get("filename").unwrap_or(&own).to_owned();
                        read_bandwidth_log(&folder.join(format!("c_bw.{}.log", number + clone + 1)), &file)
                    })
                    .collect();
            }
            number += clones;
            ran.logs.insert(section.name.clone(), log);
        }
        ran
    }

    /// What assay does.
    pub fn assay(&self) -> Ran {
        let said = self.place.assay(&[&["fio", "--log-dir", "."], &self.words[..], &OUTPUT].concat());
        let mut ran = Ran {
            is_done: said.code == Some(0),
            json: document(&self.place.path("out")),
            announced: self.announced(&said.stderr),
            stderr: said.stderr,
            ..Ran::default()
        };
        for section in &self.text.sections {
            let log = read_iolog(&self.place.path(&format!("{}.log", section.name)));
            ran.logs.insert(section.name.clone(), log);
        }
        ran
    }

    /// The options that a message names, by the section of its line.
    fn announced(&self, stderr: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut announced: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let lines: Vec<&str> = stderr.lines().collect();
        for pair in lines.windows(2) {
            let Some(option) = pair[0].strip_prefix("warning").and_then(|rest| rest.split('`').nth(1)) else {
                continue;
            };
            let line = pair[1].split(':').nth(1).and_then(|line| line.parse().ok());
            let section = match &self.text.sections[..] {
                [only] => Some(only),
                _ => line.and_then(|line| self.text.section_of(line)),
            };
            let section = section.unwrap_or_else(|| panic!("no line in {pair:?}"));
            let name = option.split('=').next().unwrap_or_default().trim_start_matches('-').to_owned();
            announced.entry(section.name.clone()).or_default().insert(name);
        }
        announced
    }
}

/// fio may say something before its document.
fn document(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_default();
    let begin = text.find('{').unwrap_or(text.len());
    serde_json::from_str(&text[begin..]).unwrap_or(Value::Null)
}

/// The requests of a log of version 3.
pub fn read_iolog(path: &PathBuf) -> Vec<Request> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let request = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, file, op, ref rest @ ..] = words[..] else { return None };
        let number = |place: usize| rest.get(place).and_then(|word| word.parse().ok()).unwrap_or(0);
        let op = match op {
            "read" | "write" | "trim" => op,
            "sync" | "datasync" => "sync",
            _ => return None,
        };
        let (offset, length) = if op == "sync" { (0, 0) } else { (number(0), number(1)) };
        Some(Request { file: file.to_owned(), op: op.to_owned(), offset, length })
    };
    text.lines().filter_map(request).collect()
}

/// The requests of a log of bandwidths with offsets, which has no flushes.
fn read_bandwidth_log(path: &PathBuf, file: &str) -> Vec<Request> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let request = |line: &str| {
        let numbers: Vec<u64> = line.split(',').filter_map(|word| word.trim().parse().ok()).collect();
        let op = ["read", "write", "trim"][*numbers.get(2)? as usize].to_owned();
        Some(Request { file: file.to_owned(), op, offset: *numbers.get(4)?, length: *numbers.get(3)? })
    };
    text.lines().filter_map(request).collect()
}
