//! assay puts a storage drive to the proof.

mod bulletin;
mod commands;
mod failure;
mod fingerprint;
mod job_file;
mod power;
mod progress;
mod recorder;
mod target;
mod undertaking;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use commands::{
    attach, calibrate, catalogue, compare, doctor, dry_run, health, history, import, replicate, review, run, serve,
};
use failure::Failure;
use store::Store;

/// Puts a storage drive to the proof: one command runs the whole method of a drive review on a real
/// drive, a file or a simulated drive, and writes a report that anyone can repeat.
#[derive(Parser)]
#[command(name = "assay", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    /// Where results are kept [default: assay/results.sqlite in the user's data directory]
    #[arg(long, global = true, env = "ASSAY_STORE", value_name = "FILE")]
    store: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  assay review                                    a simulated drive, in under a minute
  assay review ./scratch.bin --size 2GiB --quick  a file on this machine's disk
  assay run sim:x25-m --rw=randread --iodepth=32 --runtime=10s
  assay show last                                 the figures of the latest run";

#[derive(Subcommand)]
enum Command {
    /// Run a whole review and write its report
    Review(review::Arguments),
    /// Run one workload, with options named as fio's are, or a fio job file
    Run(Box<run::Arguments>),
    /// Turn a fio job file into a plan
    Import(import::Arguments),
    /// Repeat published reviews on simulated drives, figure beside figure
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
    Runs,
    /// Show the figures of a run
    Show(history::Show),
    /// Hold runs against each other: what differs, by how much, and whether it is more than chance
    Compare(compare::Arguments),
    /// Show what a drive says of its health: now, or before and after a run
    Health(health::Arguments),
    /// Write a run's report again
    Report(history::Report),
    /// Show the store in a browser: search, compare, follow a run while it goes on
    Serve(serve::Arguments),
    /// Make a simulated drive a block device that answers as the drive would
    Attach(attach::Arguments),
    /// List the attached drives with what they are doing
    Attached,
    /// Take an attached drive away
    Detach(attach::Detach),
    /// Wait for the end of standard input and undo what a process that was killed has left
    #[command(hide = true)]
    Aftermath {
        /// The file of its promises
        promises: PathBuf,
    },
    /// Have an attached drive do something wrong: bad sectors, delays, no writes, no drive
    Fault(attach::Order),
    /// Say what this machine can do, and how to get what is missing
    Doctor(doctor::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|refusal| refuse(&refusal));
    let done = match cli.command {
        Command::Doctor(arguments) => return doctor::run(arguments, color(std::io::stdout().is_terminal())),
        Command::Attach(arguments) => attach::run(&arguments),
        Command::Attached => attach::attached(),
        Command::Detach(arguments) => attach::detach(&arguments),
        Command::Aftermath { promises } => trial::Aftermath::guard(&promises).map_err(Failure::failed),
        Command::Fault(arguments) => attach::fault(&arguments),
        Command::Drives(arguments) => catalogue::drives(&arguments),
        Command::Plans(arguments) => catalogue::plans(&arguments),
        Command::Replicate(arguments) => replicate::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Profiles => catalogue::profiles(),
        Command::Review(arguments) if arguments.dry_run => dry_run::run(&arguments),
        Command::Review(arguments) => open(cli.store).and_then(|store| review::run(&arguments, store)),
        Command::Run(arguments) => return run::run(&arguments, || open(cli.store)),
        Command::Runs => open(cli.store).and_then(|store| history::runs(&store)),
        Command::Compare(arguments) => open(cli.store).and_then(|store| compare::run(&store, &arguments)),
        Command::Health(arguments) => health::run(&arguments, || open(cli.store)),
        Command::Show(arguments) => open(cli.store).and_then(|store| history::show(&store, &arguments)),
        Command::Serve(arguments) => path(cli.store).and_then(|store| serve::run(&store, &arguments)),
        Command::Report(arguments) => open(cli.store).and_then(|store| history::report(&store, &arguments)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(color(std::io::stderr().is_terminal())),
    }
}

/// Tells why the command line makes no sense, also to a program that reads standard output, and ends.
fn refuse(refusal: &clap::Error) -> ! {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asks_for = |format: &str| {
        ["--format", "--output-format"].iter().any(|option| {
            words.iter().any(|word| *word == format!("{option}={format}"))
                || words.windows(2).any(|pair| pair[0] == *option && pair[1] == format)
        })
    };
    if refusal.use_stderr() && words.iter().any(|word| word == "run") && (asks_for("json") || asks_for("fio")) {
        let text = refusal.to_string();
        println!("{}", serde_json::json!({ "error": text.trim_start_matches("error: ").trim_end() }));
    }
    refusal.exit()
}

/// Opens the store that was asked for, or the user's own.
fn open(asked_for: Option<PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open(&path(asked_for)?)?)
}

/// Where that store is.
fn path(asked_for: Option<PathBuf>) -> Result<PathBuf, Failure> {
    asked_for.or_else(|| Store::default_path(|name| std::env::var_os(name))).ok_or_else(|| {
        Failure::usage(
            "there is no place to keep results: neither XDG_DATA_HOME nor HOME is set; name a file with --store FILE",
        )
    })
}

/// Whether to colour what goes to a terminal or to something else. See no-color.org.
fn color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
