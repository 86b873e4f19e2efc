//! Command lines of fio's: which are, and what of them is assay's own.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction};
use lab::import::fio::{CommandLine, Takes, is_fios};

use crate::command_line;
use crate::job_file;

/// A command line of fio's.
#[derive(Clone, Debug, Default)]
pub struct FioLine {
    pub line: CommandLine,
    /// Whether it was given to `assay fio`, which prints what fio prints.
    pub is_fio: bool,
    /// The first option of a job's that only fio has, where `assay run` was given no job.
    pub jobless: Option<String>,
}

/// The words for clap, and the command line of fio's that was taken out of them, if they are one.
///
/// `assay fio` takes nothing else. `assay run` takes one where there is a job file, an option that is fio's alone or is
/// written as fio alone takes it, or a name without a target.
pub fn take(words: Vec<String>) -> (Vec<String>, Option<FioLine>) {
    let Some(at) = command_at(&words).filter(|at| ["fio", "run"].contains(&words[*at].as_str())) else {
        return (words, None);
    };
    let (before, rest) = (&words[..at], &words[at + 1..]);
    let whole = command_line::plain();
    let run = whole.find_subcommand("run").expect("there is such a command");
    let options = || run.get_arguments().chain(whole.get_arguments());
    let is_fio = words[at] == "fio";
    // Of fio one asks the version by -v.
    let is_fios_letter = |name: &str| is_fio && ["v", "h"].contains(&name);
    let own = |name: &str| options().find(|option| is_called(option, name) && !is_fios_letter(name)).map(takes);
    let mut line = CommandLine::read(rest, own);
    if !is_fio && (line.asks("help") || line.asks("version")) {
        return (words, None);
    }
    if line.asks("help") {
        return ([before, &["fio".to_owned(), "--help".to_owned()]].concat(), None);
    }
    let (mut target, mut jobless) = (Vec::new(), None);
    if is_fio {
        line.files.iter_mut().filter(|file| *file == "-").for_each(|file| *file = "/dev/stdin".to_owned());
    } else {
        // fio has no targets but in options; here one stands by itself.
        let (files, others) = line.files.drain(..).partition(|file: &String| job_file::is_one(file));
        (line.files, target) = (files, others);
        let has_target = !target.is_empty() || line.own.iter().any(|word| word.starts_with("sim:"));
        let fios = written_for_fio(rest, &own);
        if line.files.is_empty() && fios.is_none() && (has_target || !line.has_jobs()) {
            return (words, None);
        }
        jobless = fios.filter(|_| !line.has_jobs() && !line.is_refused()).map(str::to_owned);
    }
    let own = std::mem::take(&mut line.own);
    ([before, &["run".to_owned()], &own[..], &target[..]].concat(), Some(FioLine { line, is_fio, jobless }))
}

/// Where the command stands: behind the options of the program as a whole.
fn command_at(words: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += match word.as_str() {
            "--store" => 2,
            word if word.starts_with('-') => 1,
            _ => return Some(at),
        };
    }
    None
}

/// The first word, without its value, which `assay run` by itself would refuse and fio takes.
fn written_for_fio<'w>(words: &'w [String], own: &impl Fn(&str) -> Option<Takes>) -> Option<&'w str> {
    let mut seen = BTreeSet::new();
    let is_repeatable = |name: &str| ["section", "variable", "allow-path", "allow_path"].contains(&name);
    let is_one = |word: &&str| {
        let (dashes, name) = match word.strip_prefix("--") {
            Some(name) => (2, name),
            None => (1, word.strip_prefix('-').unwrap_or_default()),
        };
        if !name.starts_with(char::is_alphabetic) {
            return false;
        }
        let is_single = dashes == 1 && name.len() > 2;
        let is_again = !seen.insert(name.to_owned()) && !is_repeatable(name);
        (is_single || is_again || own(name).is_none()) && is_fios(name)
    };
    words.iter().map(|word| word.split('=').next().unwrap_or_default()).find(is_one)
}

fn is_called(option: &Arg, name: &str) -> bool {
    let is_short = option.get_short().is_some_and(|short| name.chars().eq([short]));
    is_short || option.get_long() == Some(name) || option.get_all_aliases().unwrap_or_default().contains(&name)
}

fn takes(option: &Arg) -> Takes {
    match option.get_action() {
        ArgAction::Set | ArgAction::Append => match option.get_num_args() {
            Some(number) if number.min_values() == 0 => Takes::Perhaps,
            _ => Takes::Value,
        },
        _ => Takes::Nothing,
    }
}
