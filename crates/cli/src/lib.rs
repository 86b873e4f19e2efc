//! assay puts a storage drive to the proof: the command `assay`, and the same for programs that have it within themselves.

mod annotations;
mod command_line;
mod commands;
mod completion;
mod config_file;
pub mod embedded;
mod examples;
mod exit;
mod failure;
mod fingerprint;
mod fio_line;
mod fio_logs;
mod fio_status;
mod fold;
mod format;
mod http;
mod interruption;
mod job_file;
mod live;
mod manual;
mod metrics;
mod number;
mod outputs;
mod power;
mod progress;
mod progress_message;
mod recorder;
mod report_name;
mod run_filter;
mod run_request;
mod settings;
mod shard;
mod supervision;
mod target;
mod terminal;
mod tips;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use command_line::{Cli, Command};
use commands::{
    aftermath, attach, baseline, calibrate, catalogue, compare, config, doctor, dry_run, fio, fleet, gate, health,
    history, import, many, merge, next, push, replicate, review, run, runs, serve, shell, sweep,
};
use exit::Exit;
pub use failure::Failure;
use settings::OptionSettings;
use store::Store;
use terminal::color;

/// The version, with the commit and its day where they are known.
pub const VERSION: &str = env!("ASSAY_VERSION");

/// Does what the command line asks for, and says how the program ends.
pub fn main() -> ExitCode {
    let ended = carry_out();
    supervision::end();
    ended
}

fn carry_out() -> ExitCode {
    completion::answer(command_line::command);
    let typed: Option<Vec<String>> = std::env::args_os().map(|word| word.into_string().ok()).collect();
    // What is no text is left to clap, which says so.
    let (words, line) = match typed {
        Some(words) => fio_line::take(words),
        None => (std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(), None),
    };
    let (words, order) = match many::take(words) {
        Ok(taken) => taken,
        Err(failure) => return failure.tell(color(std::io::stderr().is_terminal())),
    };
    let (settings, matches) = match understand(&words) {
        Ok(understood) => understood,
        Err(failure) => return failure.tell(color(std::io::stderr().is_terminal())),
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|refusal| refuse(refusal));
    let is_typed = |option: &str| matches.value_source(option) == Some(ValueSource::CommandLine);
    match (is_typed("quiet"), is_typed("verbose")) {
        // clap sees this only where both stand before the command's name, or both behind.
        (true, true) => return end(Err(Failure::usage("--quiet and --verbose exclude each other; give one of them"))),
        // What is typed goes before what is set.
        (false, true) => terminal::speak(false, true),
        // Who started it tells what is done.
        _ if order.is_some() => terminal::speak(true, false),
        (is_quiet, _) => terminal::speak(cli.quiet, cli.verbose && !is_quiet),
    }
    outputs::force(cli.force);
    settings.taken(&command_line::command(), matches.subcommand_name()).iter().for_each(terminal::detail);
    let Some(command) = cli.command else { return end(place(cli.store).and_then(|path| next::run(&path))) };
    end(match command {
        Command::Doctor(arguments) => return doctor::run(arguments, color(std::io::stdout().is_terminal())),
        Command::Config(arguments) => config::run(&arguments, &settings, &command_line::command()),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::manual(&arguments),
        Command::Attach(arguments) => attach::run(&arguments),
        Command::Attached => attach::attached(),
        Command::Detach(arguments) => attach::detach(&arguments),
        Command::Aftermath(arguments) => aftermath::run(&arguments, || open(cli.store)),
        Command::Fault(arguments) => attach::fault(&arguments),
        Command::Drives(arguments) => catalogue::drives(&arguments),
        Command::Plans(arguments) => catalogue::plans(&arguments),
        Command::Replicate(arguments) => replicate::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Profiles => catalogue::profiles(),
        Command::Review(arguments) if arguments.dry_run => dry_run::run(&arguments),
        Command::Review(arguments) => match (order, many::is_asked(&arguments)) {
            (Some(order), _) => {
                let arguments = arguments.of_member(order);
                supervision::apart(arguments.waits_in_calls());
                open(cli.store).and_then(|store| review::run(&arguments, store))
            }
            (None, Err(failure)) => Err(failure),
            (None, Ok(true)) => place(cli.store).and_then(|store| many::run(&arguments, &words, &store)),
            (None, Ok(false)) => {
                supervision::apart(arguments.waits_in_calls());
                open(cli.store).and_then(|store| review::run(&arguments, store))
            }
        },
        Command::Sweep(arguments) => open(cli.store).and_then(|store| sweep::run(&arguments, store)),
        Command::Run(arguments) => match line {
            Some(line) => return fio::run(&line, &arguments, || open(cli.store)),
            None => return run::run(&arguments, || open(cli.store)),
        },
        Command::Fio(_) => Err(Failure::usage("the command line is not UTF-8 text")),
        Command::Runs(arguments) => read(cli.store).and_then(|store| runs::list(&store, &arguments)),
        Command::Tag(arguments) => open(cli.store).and_then(|store| runs::tag(store, &arguments)),
        Command::Rm(arguments) => open(cli.store).and_then(|store| runs::remove(store, &arguments)),
        Command::Compare(arguments) => place(cli.store).and_then(|store| compare::run(&store, &arguments)),
        Command::Fleet(arguments) => read(cli.store).and_then(|store| fleet::run(&store, &arguments)),
        Command::Gate(arguments) => read(cli.store).and_then(|store| gate::run(&store, &arguments)),
        Command::Baseline(arguments) => {
            let store = if arguments.writes() { open(cli.store) } else { read(cli.store) };
            store.and_then(|store| baseline::run(store, &arguments))
        }
        Command::Health(arguments) => health::run(&arguments, || read(cli.store)),
        Command::Show(arguments) => read(cli.store).and_then(|store| history::show(&store, &arguments)),
        Command::Merge(arguments) => {
            place(arguments.destination().or(cli.store)).and_then(|output| merge::run(&output, &arguments))
        }
        Command::Push(arguments) => place(cli.store).and_then(|store| push::run(&store, &arguments)),
        Command::Serve(arguments) => place(cli.store).and_then(|store| serve::run(&store, &arguments)),
        Command::Report(arguments) => read(cli.store).and_then(|store| history::report(&store, &arguments)),
    })
}

/// What was typed, with the settings in place of defaults.
fn understand(words: &[String]) -> Result<(OptionSettings, ArgMatches), Failure> {
    // Help is there also where a setting is wrong.
    let typed = command_line::command().ignore_errors(true).try_get_matches_from(words);
    let typed = typed.unwrap_or_else(|refusal| refuse(refusal));
    let whole = command_line::command();
    let settings = OptionSettings::of_process(&whole)?;
    let whole = settings.on(whole, typed.subcommand_name())?;
    Ok((settings, whole.try_get_matches_from(words).unwrap_or_else(|refusal| refuse(refusal))))
}

/// How the program ends once a command is through.
fn end(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => Exit::Done.into(),
        Err(failure) => failure.tell(color(std::io::stderr().is_terminal())),
    }
}

/// Tells why the command line makes no sense, also to a program that reads standard output, and ends.
fn refuse(refusal: clap::Error) -> ! {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let refusal = tips::told(refusal, &command_line::command(), &words);
    let asks_for = |format: &str| {
        ["--format", "--output-format"].iter().any(|option| {
            words.iter().any(|word| *word == format!("{option}={format}"))
                || words.windows(2).any(|pair| pair[0] == *option && pair[1] == format)
        })
    };
    if refusal.use_stderr() && words.iter().any(|word| word == "run") && (asks_for("json") || asks_for("fio")) {
        let text = refusal.to_string();
        let document = serde_json::json!({ "error": text.trim_start_matches("error: ").trim_end() });
        terminal::say(&format!("{document}\n")).ok();
    }
    if !refusal.use_stderr() {
        refusal.exit();
    }
    let styled = refusal.render();
    match color(std::io::stderr().is_terminal()) {
        true => terminal::complain(styled.ansi().to_string().trim_end()),
        false => terminal::complain(styled.to_string().trim_end()),
    }
    std::process::exit(refusal.exit_code())
}

/// Opens the store that was asked for, or the user's own, to read it alone; one that is not there has no runs.
fn read(asked_for: Option<PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open_to_read(&place(asked_for)?)?)
}

/// Opens the store that was asked for, or the user's own, and makes it where there is none.
fn open(asked_for: Option<PathBuf>) -> Result<Store, Failure> {
    Ok(Store::open(&place(asked_for)?)?)
}

/// Where the store is that was asked for, or the user's own.
fn place(asked_for: Option<PathBuf>) -> Result<PathBuf, Failure> {
    asked_for.or_else(|| Store::default_path(|name| std::env::var_os(name))).ok_or_else(|| {
        Failure::usage("results cannot be stored: neither XDG_DATA_HOME nor HOME is set; name a file with --store FILE")
    })
}
