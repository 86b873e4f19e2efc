//! What can be typed: the commands, their options, and the help on them.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    aftermath, attach, baseline, calibrate, catalogue, compare, config, doctor, fleet, gate, health, history, import,
    merge, push, replicate, review, run, runs, serve, shell, sweep,
};
use crate::config_file::CONSENT;
use crate::examples;
use crate::exit::Exit;
use crate::settings;

/// The words of a command line of fio's, which are taken before clap sees them: this is what help shows.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Options are fio's, with one dash or two. Output is fio's; --output-format=normal, terse, json or json+. \
                        Options of `assay run` that fio has not are understood too: --overwrite, --destroy-data, --allow-path."
)]
pub struct FioArguments {
    /// Options and job files, as fio takes them; sim:DRIVE runs them on a simulated drive
    #[arg(value_name = "FIO-OPTION|JOB-FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// The widest that help is laid out, in columns.
const WIDTH: usize = 80;

/// Benchmarks storage drives: one command runs a complete drive review on a real drive, a file or a simulated drive,
/// and writes a report that anyone can reproduce.
#[derive(Parser)]
#[command(name = "assay", version, long_version = env!("ASSAY_VERSION"))]
pub struct Cli {
    /// The store of results [default: assay/results.sqlite in the user's data directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub store: Option<PathBuf>,

    /// Overwrite output files that assay did not write, or that were changed since
    #[arg(long, global = true)]
    pub force: bool,

    /// Print only errors on standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Print more on standard error: each measurement as it is stored, and the origin of each setting
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,

    /// What to do; without it the program suggests next steps.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What the program can be told to do.
#[derive(Subcommand)]
pub enum Command {
    /// Run a complete review and write its report
    Review(Box<review::Arguments>),
    /// Carry out a plan's grid of settings on a simulated drive and print a table of its cells
    Sweep(Box<sweep::Arguments>),
    /// Run one workload, with fio's option names, or a fio job file
    Run(Box<run::Arguments>),
    /// Run a fio command line as fio does: alias fio='assay fio'
    Fio(FioArguments),
    /// Turn a file of fio, Iometer, MQSim, FEMU or NVMeVirt into a plan, a drive or figures
    Import(import::Arguments),
    /// Reproduce published reviews on simulated drives and compare every figure
    Replicate(replicate::Arguments),
    /// Fit a simulated drive's parameters to published figures
    Calibrate(calibrate::Arguments),
    /// List the simulated drives, or describe one
    Drives(catalogue::Drives),
    /// List the plans, or show one
    Plans(catalogue::Plans),
    /// List the access profiles
    Profiles,
    /// List the runs in the store
    Runs(runs::Runs),
    /// Add tags, a note or a price to a run
    Tag(runs::Tag),
    /// Show the figures of a run
    Show(history::Show),
    /// Compare runs: what differs, by how much, and whether it is statistically significant
    Compare(compare::Arguments),
    /// Report on many drives: which differ from their peers, and a sheet a drive
    Fleet(Box<fleet::Arguments>),
    /// Keep runs as baselines, by name or as files
    Baseline(baseline::Arguments),
    /// Check a run against a baseline and limits: pass, fail or inconclusive
    Gate(gate::Arguments),
    /// Show a drive's health (SMART): now, or before and after a run
    Health(health::Arguments),
    /// Write the report of a stored run
    Report(history::Report),
    /// Remove runs from the store
    Rm(runs::Remove),
    /// Merge stores: the runs of several files in one
    Merge(merge::Arguments),
    /// Push the runs of the store to an `assay serve --accept`
    Push(push::Arguments),
    /// Serve the store to a browser: search, compare, follow a run live
    Serve(serve::Arguments),
    /// Attach a simulated drive as a block device with the drive's timing
    Attach(attach::Arguments),
    /// List the attached drives and their activity
    Attached,
    /// Detach a drive
    Detach(attach::Detach),
    /// Inject faults into an attached drive: bad sectors, delays, write failures, removal
    Fault(attach::FaultCommand),
    /// Wait for the end of standard input and clean up after a process that was killed
    #[command(hide = true)]
    Aftermath(aftermath::Arguments),
    /// Check system requirements, and how to install what is missing
    Doctor(doctor::Arguments),
    /// Show the default of every option and where it is set
    Config(config::Arguments),
    /// Print a completion script for a shell
    Completions(shell::Completions),
    /// Write the manual pages into a folder
    Man(shell::Manual),
}

/// All that can be typed, as manual pages take it, which have sections of their own for what help puts at its end.
pub fn plain() -> clap::Command {
    Cli::command()
}

/// All that can be typed, each command with its examples.
pub fn command() -> clap::Command {
    let told = |command: clap::Command, name: &str| {
        let before = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
        let more = if examples::of(name).is_empty() { String::new() } else { examples::text(name) };
        command.after_help(format!("{before}{more}"))
    };
    let last = |option: clap::Arg| option.help_heading("General options");
    let mut whole = told(plain(), "").max_term_width(WIDTH);
    for option in ["store", "force", "quiet", "verbose"] {
        whole = whole.mut_arg(option, last);
    }
    // Without a name it is refused with what to type, drive by drive.
    let bare = |option: clap::Arg| option.num_args(0..=1).default_missing_value(crate::target::BARE);
    whole = whole.mut_subcommand("review", |review| review.mut_arg("destroy_data", bare));
    let names: Vec<String> = whole.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        whole = whole.mut_subcommand(&name, |command| settable(told(command, &name)));
    }
    let help = whole.get_after_help().expect("the whole has examples").to_string();
    whole.after_help(format!(
        "{help}\n\nEvery option is also an environment variable (--dry-run: ASSAY_DRY_RUN) and a key of \
         ~/.config/assay/config.toml; `assay config` shows what is set.\n{}",
        Exit::line()
    ))
}

/// The same command with a word in its help on how its options are set once and for all.
fn settable(command: clap::Command) -> clap::Command {
    let name = command.get_name().to_owned();
    let options = command.get_arguments().filter_map(clap::Arg::get_long).filter(|long| !CONSENT.contains(long));
    let options = options.map(str::to_owned).collect::<Vec<_>>();
    let telling = options.iter().find(|option| option.contains('-')).or(options.first());
    let Some(option) = telling else { return command };
    let help = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
    let variable = settings::variable(None, option);
    command.after_help(format!(
        "{help}Every option is also an environment variable (--{option}: {variable}) and a key of config.toml; `assay \
         config {name}` lists them."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_typed_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example_that_names_it() {
        for command in command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let examples = examples::of(name);
            assert!(!examples.is_empty(), "{name} has no example");
            for (typed, _) in examples {
                assert!(typed.starts_with(&format!("assay {name}")), "{typed} is no example of {name}");
            }
        }
    }
}
