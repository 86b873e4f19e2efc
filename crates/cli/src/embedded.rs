//! The commands for a program that has assay within itself: what is asked are a command line's words, with its names, its checks
//! and its refusals; what comes of it are values.
//!
//! Nothing is printed, no handler of a signal is installed, and the program is not ended.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use clap::error::ErrorKind;
use clap::{Arg, FromArgMatches};
use drive::preset::Preset;
use lab::{Outcome, Show};
use store::{HealthMoment, Store};

use crate::command_line::{Cli, Command, command};
use crate::commands::{review, run};
use crate::failure::Failure;
use crate::run_request::{RunRequest, failure};
use crate::target::{self, OpenedTarget};
use crate::terminal;

/// What an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// On or off: a flag that is given or left out, or a field that is 1 or 0.
    Switch(bool),
    /// As it is typed.
    Text(String),
    /// Of an option that may be given several times.
    Several(Vec<String>),
}

/// Who carries out what is asked.
pub struct Host<'h> {
    /// Ends a run when it is set.
    pub stop: Arc<AtomicBool>,
    /// Hears how far a run is.
    pub show: &'h dyn Show,
}

/// Options of commands that are for a terminal or a file of its own, with what a program has in their place.
const NOT_HERE: [(&str, &str); 12] = [
    ("jobs", "`assay review A B --jobs 2` has it"),
    ("alone", "`assay review A B --alone` has it"),
    ("together", "`assay review A B --together` has it"),
    ("format", "what is returned has all figures"),
    ("live", "give progress=True"),
    ("metrics", "`assay review --metrics` has it"),
    ("metrics-public", "`assay review --metrics` has it"),
    ("out", "the report of what is returned is written where it is asked for"),
    ("dry-run", "`assay review --dry-run` has it"),
    ("resume", "`assay review --resume` has it"),
    ("record", "`assay run --record` has it"),
    ("log-dir", "`assay run JOB.fio` has it"),
];

/// The words of a command line that begins with this command and sets these options, by their names as they are typed, with
/// underscores for hyphens where wanted; `named` stands behind all options.
///
/// # Errors
/// If an option is one that only a terminal has a use for.
pub fn words(name: &str, options: &[(String, OptionValue)], named: &str) -> Result<Vec<String>, Failure> {
    let whole = command();
    let known = whole.find_subcommand(name).expect("there is such a command");
    let mut words = vec!["assay".to_owned(), name.to_owned()];
    for (option, value) in options {
        let argument = known.get_arguments().find(|argument| is_called(argument, option));
        let long = argument.and_then(Arg::get_long).unwrap_or(option);
        if let Some((_, instead)) = NOT_HERE.iter().find(|(other, _)| *other == long) {
            return Err(Failure::usage(format!("there is no option {option} here: {instead}")));
        }
        let is_flag = argument.is_some_and(|argument| !argument.get_action().takes_values());
        match value {
            OptionValue::Switch(is_on) if is_flag => words.extend(is_on.then(|| format!("--{long}"))),
            OptionValue::Switch(is_on) => words.push(format!("--{long}={}", u8::from(*is_on))),
            OptionValue::Text(text) => words.push(format!("--{long}={text}")),
            OptionValue::Several(texts) => words.extend(texts.iter().map(|text| format!("--{long}={text}"))),
        }
    }
    words.extend(["--".to_owned(), named.to_owned()]);
    Ok(words)
}

/// Whether an option has this name, with hyphens or underscores.
fn is_called(argument: &Arg, name: &str) -> bool {
    let aliases = argument.get_all_aliases().unwrap_or_default();
    let mut names = argument.get_long().into_iter().chain(aliases);
    names.any(|one| one.replace('-', "_") == name.replace('-', "_"))
}

/// What was asked for, as the command line has it.
fn understood(words: &[String]) -> Result<Command, Failure> {
    terminal::speak(true, false);
    let asked = command().try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches));
    let refused = |refusal: clap::Error| match refusal.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Failure::usage("help and version are no options here"),
        _ => Failure::usage(refusal.to_string().trim_start_matches("error: ").trim_end()),
    };
    Ok(asked.map_err(refused)?.command.expect("the first word is a command"))
}

/// Runs one workload, as `assay run` does, and keeps it in the store.
///
/// # Errors
/// As those of the command, in the same words.
pub fn run(words: &[String], store: &Path, host: &Host) -> Result<Outcome, Failure> {
    let Command::Run(mut arguments) = understood(words)? else { unreachable!("the words are of `run`") };
    if arguments.target.as_deref().is_some_and(|target| target.ends_with(".fio")) {
        return Err(Failure::usage("a job file has jobs, and this runs one workload; `assay run JOB.fio` runs it"));
    }
    arguments.real.stop = Some(Arc::clone(&host.stop));
    let _alone = alone(arguments.target.as_deref());
    let (mut opened, request) = run::prepare(&arguments)?;
    let store = Mutex::new(Store::open(store)?);
    let record = request.begin(&store, &opened)?;
    match request.carry_out_shown(record, &mut opened, host.show) {
        Ok(()) => Ok(record.recall()?),
        Err(broken) => Err(failure(&broken, broken.words(record.id()))),
    }
}

/// Carries out a plan, as `assay review` does, and keeps it in the store.
///
/// # Errors
/// As those of the command, in the same words.
pub fn review(words: &[String], store: &Path, host: &Host) -> Result<Outcome, Failure> {
    let Command::Review(mut arguments) = understood(words)? else { unreachable!("the words are of `review`") };
    if arguments.plan()?.has_trials() {
        return Err(Failure::usage(
            "this plan attaches and mounts drives, which only a process of its own can clean up after; `assay review` carries it out",
        ));
    }
    arguments.real.stop = Some(Arc::clone(&host.stop));
    let _alone = alone(Some(arguments.target()));
    let (opened, request) = review::begin(&arguments, None)?;
    reviewed(opened, &request, &Mutex::new(Store::open(store)?), host)
}

/// Carries out what was begun, with a look at the drive's health before and after.
fn reviewed(
    mut opened: OpenedTarget,
    request: &RunRequest,
    store: &Mutex<Store>,
    host: &Host,
) -> Result<Outcome, Failure> {
    let record = request.begin(store, &opened)?;
    record.keep_health(HealthMoment::Before, opened.subject.health())?;
    let done = request.carry_out_shown(record, &mut opened, host.show);
    let looked = record.keep_health(HealthMoment::After, opened.subject.health());
    done.map_err(|broken| failure(&broken, broken.words(record.id())))?;
    looked?;
    Ok(record.recall()?)
}

/// The simulated drive of this name, or of the file at this path, with changes after a `?`, as targets have it behind `sim:`.
///
/// # Errors
/// If there is none, or the changes make no drive.
pub fn preset(name: &str) -> Result<Preset, Failure> {
    target::preset(name)
}

/// Real targets are measured one at a time: two would disturb each other, and there is one fence.
fn alone(target: Option<&str>) -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    let is_real = target.is_some_and(|target| !target.starts_with("sim:"));
    is_real.then(|| ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(all: &[(&str, OptionValue)]) -> Vec<(String, OptionValue)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn options_are_those_of_the_command_line_by_any_of_their_names() {
        let text = |text: &str| OptionValue::Text(text.to_owned());
        let all = [
            ("readwrite", text("randread")),
            ("time_based", OptionValue::Switch(true)),
            ("on_error", text("count")),
            ("overwrite", OptionValue::Switch(false)),
            ("destroy_data", OptionValue::Several(vec!["a".to_owned(), "b".to_owned()])),
            ("unheard", text("of")),
        ];
        let words = words("run", &options(&all), "--odd").unwrap();
        let expected = "assay run --rw=randread --time_based=1 --on-error=count --destroy-data=a --destroy-data=b --unheard=of -- --odd";
        assert_eq!(words.join(" "), expected);
        let said = understood(&words).map(drop).unwrap_err().words(false);
        assert!(said.starts_with("unexpected argument '--unheard' found"), "{said}");
    }

    #[test]
    fn what_only_a_terminal_has_a_use_for_is_refused_with_what_is_there_instead() {
        let whole = command();
        for (name, _) in NOT_HERE {
            let commands = ["run", "review"].map(|name| whole.find_subcommand(name).unwrap().clone());
            let is_there = commands.iter().any(|one| one.get_arguments().any(|it| it.get_long() == Some(name)));
            assert!(is_there, "no command has --{name} any more");
        }
        let said = words("review", &options(&[("dry_run", OptionValue::Switch(true))]), "sim:x25-m").unwrap_err();
        assert!(said.words(false).contains("`assay review --dry-run` has it"), "{}", said.words(false));
    }
}
