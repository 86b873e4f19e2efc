//! What a shell offers while somebody types: commands, options, and the names of drives, plans, profiles and reviews.
//!
//! The shells' scripts ask the program itself, so that they never fall behind it.

use clap::Command;
use clap_complete::env::{EnvCompleter, Fish, Zsh};
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate};
use drive::preset::Preset;
use lab::plan::{catalog, profile};
use lab::replicate;

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
    command
        .mut_subcommand("review", |review| offer(offer(review, "target", targets), "plan", plans))
        .mut_subcommand("run", |run| offer(offer(run, "target", targets), "profile", profiles))
        .mut_subcommand("health", |health| offer(health, "subject", targets))
        .mut_subcommand("attach", |attach| offer(attach, "drive", drives))
        .mut_subcommand("calibrate", |calibrate| offer(offer(calibrate, "drive", drives), "figures", reviews))
        .mut_subcommand("replicate", |replicate| offer(replicate, "reviews", reviews))
        .mut_subcommand("drives", |listed| of_drives("smart", of_drives("show", listed)))
        .mut_subcommand("plans", |listed| listed.mut_subcommand("show", |show| offer(show, "name", plans)))
}

fn offer(command: Command, argument: &'static str, names: fn() -> Vec<CompletionCandidate>) -> Command {
    command.mut_arg(argument, |argument| argument.add(ArgValueCandidates::new(names)))
}

/// A name, and what it stands for.
fn candidate(name: String, title: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(title.to_owned().into()))
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
