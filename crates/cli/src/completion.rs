//! What a shell offers while somebody types: commands, options, and the names of drives, plans, profiles, reviews, runs and
//! attached drives.
//!
//! The shells' scripts ask the program itself, so that they never fall behind it.

use std::path::PathBuf;

use attach::registry::Registry;
use clap::Command;
use clap_complete::env::{EnvCompleter, Fish, Zsh};
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate};
use drive::preset::Preset;
use lab::plan::{catalog, profile};
use lab::{PurgeMethod, replicate};
use store::{Filter, Store};
use workload::Pattern;

use crate::command_line;
use crate::settings::OptionSettings;
use crate::terminal::line;

/// How many of the latest runs are offered.
const RUNS: u64 = 30;
/// The variable by which a script asks for what could come next.
const ASKED: &str = "ASSAY_COMPLETE";

/// A shell for which there is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// For bash, at least 4.4
    Bash,
    /// For zsh
    Zsh,
    /// For fish
    Fish,
}

impl Shell {
    /// The script that makes the shell ask the program.
    pub fn script(self) -> String {
        let of = |completer: &dyn EnvCompleter| {
            let mut script = Vec::new();
            completer
                .write_registration(ASKED, "assay", "assay", "assay", &mut script)
                .expect("memory takes what is written");
            String::from_utf8(script).expect("scripts are text")
        };
        match self {
            Self::Bash => BASH.to_owned(),
            Self::Zsh => of(&Zsh),
            Self::Fish => of(&Fish),
        }
    }
}

/// bash cuts words at colons and equals signs, which targets and options have, so the line is cut anew here, and of each
/// answer that part is left out which bash takes to stand already.
const BASH: &str = r#"# Completion of assay in bash: offers what the program itself says could come next.
_assay() {
    local line=${COMP_LINE:0:COMP_POINT} words current typed
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    current=${words[-1]}
    typed=${current%"${current##*[:=]}"}
    local IFS=$'\n'
    COMPREPLY=($(_CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) ASSAY_COMPLETE=bash \
        assay -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$typed"}")
}
complete -o nosort -o bashdefault -o default -F _assay assay
"#;

/// Answers a shell's script and ends, if it is one that asks.
pub fn answer(command: impl Fn() -> Command) {
    CompleteEnv::with_factory(|| with_names(command())).var(ASKED).complete();
}

/// The same command line with the names that its arguments take.
fn with_names(command: Command) -> Command {
    let of_drives = |name: &str, command: Command| command.mut_subcommand(name, |show| offer(show, "name", drives));
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let commands = names.clone();
    let mut command = command
        .mut_subcommand("review", |review| {
            let review = offer(offer(review, "targets", targets), "plan", plans);
            offer(offer(review, "resume", runs), "purge", || words(PurgeMethod::ALL.map(|(name, _)| name)))
        })
        .mut_subcommand("run", |run| {
            let run = offer(offer(run, "target", targets), "profile", profiles);
            offer(run, "rw", || words(Pattern::ALL.map(|(name, _)| name)))
        })
        .mut_subcommand("health", |health| offer(health, "subject", || runs().into_iter().chain(targets()).collect()))
        .mut_subcommand("show", |show| offer(show, "run", runs))
        .mut_subcommand("report", |report| offer(report, "run", runs))
        .mut_subcommand("tag", |tag| offer(tag, "run", runs))
        .mut_subcommand("rm", |rm| offer(rm, "runs", runs))
        .mut_subcommand("compare", |compare| offer(compare, "runs", runs))
        .mut_subcommand("gate", |gate| offer(gate, "run", runs))
        .mut_subcommand("detach", |detach| offer(detach, "device", attached))
        .mut_subcommand("fault", |fault| offer(fault, "device", attached))
        .mut_subcommand("config", |config| offer(config, "command", move || words(&commands)))
        .mut_subcommand("attach", |attach| offer(attach, "drive", drives))
        .mut_subcommand("calibrate", |calibrate| offer(offer(calibrate, "drives", drives), "figures", reviews))
        .mut_subcommand("replicate", |replicate| offer(replicate, "reviews", reviews))
        .mut_subcommand("drives", |listed| of_drives("smart", of_drives("show", listed)))
        .mut_subcommand("plans", |listed| listed.mut_subcommand("show", |show| offer(show, "name", plans)));
    for name in names {
        command = command.mut_subcommand(name, with_choices);
    }
    command
}

fn offer<F>(command: Command, argument: &'static str, names: F) -> Command
where
    F: Fn() -> Vec<CompletionCandidate> + Send + Sync + 'static,
{
    command.mut_arg(argument, |argument| argument.add(ArgValueCandidates::new(names)))
}

/// The same command with the words of those options that take one of a few, as their help names them: `<stop|count>`.
fn with_choices(command: Command) -> Command {
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    command.mut_args(|argument| {
        let named = argument.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
        let choices: Vec<String> = named.unwrap_or_default().split('|').map(str::to_owned).collect();
        let is_choice = choices.len() > 1 && choices.iter().all(|choice| is_word(choice));
        if is_choice { argument.add(ArgValueCandidates::new(move || words(&choices))) } else { argument }
    })
}

fn words<'a>(all: impl IntoIterator<Item = &'a (impl AsRef<str> + ?Sized + 'a)>) -> Vec<CompletionCandidate> {
    all.into_iter().map(|word| CompletionCandidate::new(word.as_ref())).collect()
}

/// A name, and what it stands for.
fn candidate(name: String, title: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(line(title).into()))
}

fn targets() -> Vec<CompletionCandidate> {
    Preset::all().map(|preset| candidate(format!("sim:{}", preset.name), &preset.title)).collect()
}

fn drives() -> Vec<CompletionCandidate> {
    Preset::all().map(|preset| candidate(preset.name.clone(), &preset.title)).collect()
}

fn plans() -> Vec<CompletionCandidate> {
    catalog::builtin().iter().map(|(name, _)| CompletionCandidate::new(name)).collect()
}

fn profiles() -> Vec<CompletionCandidate> {
    profile::all().iter().map(|profile| candidate(profile.name.to_owned(), &profile.title)).collect()
}

fn reviews() -> Vec<CompletionCandidate> {
    replicate::catalog::names().into_iter().map(CompletionCandidate::new).collect()
}

/// The latest runs, the last first. Where there is no store, or none that can be read, nothing is offered, and none is made.
fn runs() -> Vec<CompletionCandidate> {
    let Some(store) = store().and_then(|path| Store::open_to_read(&path).ok()) else { return Vec::new() };
    let listed = store.listed(&Filter::default(), 0, RUNS).unwrap_or_default();
    let title = |run: &store::Listed| format!("{} on {}, {}", run.plan, run.target, report::date(run.started_ms));
    let last = (!listed.is_empty()).then(|| candidate("last".to_owned(), "the latest run"));
    last.into_iter().chain(listed.iter().map(|run| candidate(run.id.to_string(), &title(run)))).collect()
}

/// The store that is meant: as typed so far, or as it is set.
fn store() -> Option<PathBuf> {
    let typed: Vec<String> = std::env::args().collect();
    let behind = typed.windows(2).find(|pair| pair[0] == "--store").map(|pair| pair[1].clone());
    let named = behind.or_else(|| typed.iter().find_map(|word| word.strip_prefix("--store=").map(str::to_owned)));
    let set = || {
        let whole = command_line::command();
        let settings = OptionSettings::of_process(&whole).ok()?.all(&whole, None);
        settings.into_iter().find(|setting| setting.option == "store")?.values.into_iter().next()
    };
    let path = named.or_else(set).map(PathBuf::from);
    path.or_else(|| Store::default_path(|name| std::env::var_os(name))).filter(|path| path.is_file())
}

fn attached() -> Vec<CompletionCandidate> {
    let entries = Registry::open().and_then(|registry| registry.entries().map_err(attach::AttachError::Broken));
    let entries = entries.unwrap_or_default();
    entries.iter().map(|entry| candidate(entry.device.display().to_string(), &entry.drive)).collect()
}
