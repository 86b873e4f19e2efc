//! What was meant by an option that a command does not have.

use block::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use lab::import::fio::other_word;

/// Other words for assay's own options. Those for fio's are with fio's.
const OTHER_WORDS: [(&str, &[&str]); 12] = [
    ("store", &["db", "database", "sqlite", "results", "resultsdb", "datastore"]),
    ("out", &["outdir", "outputdir", "reportdir", "dir", "directory", "folder", "output", "html"]),
    ("output", &["out", "outfile", "outputfile", "file", "to"]),
    ("format", &["outputformat", "json", "csv", "text", "markdown"]),
    ("repeats", &["repetitions", "iterations", "count", "times", "loops", "runs"]),
    ("seed", &["randomseed", "rng", "rngseed"]),
    ("destroy-data", &["yes", "wipe", "erase", "confirm", "destroy", "destructive", "iknowwhatimdoing"]),
    ("dry-run", &["simulate", "noop", "preview", "check", "parseonly", "explain"]),
    ("plan", &["profile", "suite", "procedure", "workload", "jobfile"]),
    ("quiet", &["silent", "noprogress", "batch"]),
    ("listen", &["port", "bind", "host", "address"]),
    ("on-error", &["continueonerror", "ignoreerrors", "keepgoing"]),
];

/// The refusal of a command line, with a tip of what was meant by an option that is not known: the option that has the meaning of
/// its name, or one of nearly the same letters.
pub fn told(mut refusal: clap::Error, whole: &Command, words: &[String]) -> clap::Error {
    let unknown = match refusal.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if refusal.kind() == ErrorKind::UnknownArgument => option.clone(),
        _ => return refusal,
    };
    let Some(name) = unknown.strip_prefix("--") else { return refusal };
    let command = words.iter().find_map(|word| whole.find_subcommand(word));
    // What is found by letters alone suggests what has nothing to do with it, and so does the usage with it.
    for kind in [ContextKind::SuggestedArg, ContextKind::Suggested] {
        refusal.remove(kind);
    }
    if let Some(command) = command {
        let own = command.clone().bin_name(format!("{} {}", whole.get_name(), command.get_name())).render_usage();
        refusal.insert(ContextKind::Usage, ContextValue::StyledStr(own));
    }
    let tip = format_of_report(name, whole, command).or_else(|| meant(name, whole, command));
    if let Some(tip) = tip {
        refusal.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    refusal
}

/// The options of assay's own that are meant by another word for the same.
fn other_words(name: &str) -> impl Iterator<Item = &'static str> {
    let word: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    OTHER_WORDS.iter().filter(move |(_, words)| words.contains(&&*word)).map(|(option, _)| *option)
}

fn names(option: &Arg) -> Vec<&str> {
    option.get_long_and_visible_aliases().unwrap_or_default()
}

/// That a report has one format, and which others figures have.
fn format_of_report(name: &str, whole: &Command, command: Option<&Command>) -> Option<String> {
    let is_format = name == "format" || other_words(name).any(|word| word == "format");
    command.filter(|command| is_format && command.get_name() == "report")?;
    let show = whole.find_subcommand("show")?;
    let format = show.get_arguments().find(|option| option.get_long() == Some("format"))?;
    let formats: Vec<String> = format.get_possible_values().iter().map(|one| one.get_name().to_owned()).collect();
    Some(format!("a report is an HTML page; `assay show --format` has {}", formats.join(", ")))
}

/// What was meant by an option of this name, in words.
fn meant(name: &str, whole: &Command, command: Option<&Command>) -> Option<String> {
    let options =
        || command.into_iter().chain([whole]).flat_map(Command::get_arguments).filter(|option| !option.is_hide_set());
    let of_command = |name: &str| options().find(|option| names(option).contains(&name)).and_then(Arg::get_long);
    let by_word: Vec<&str> = other_words(name).chain(other_word(name)).collect();
    if let Some(option) = by_word.iter().find_map(|word| of_command(word)) {
        return Some(format!("did you mean `--{option}`?"));
    }
    let target = command.and_then(|command| command.get_positionals().next()).filter(|_| by_word.contains(&"filename"));
    if let (Some(command), Some(target)) = (command, target) {
        let value = target.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
        return Some(format!("it is named without an option: `assay {} {value}`", command.get_name()));
    }
    let others = |wanted: &str| {
        let has = |other: &&Command| other.get_arguments().any(|option| names(option).contains(&wanted));
        let own = |other: &Command| command.is_some_and(|command| command.get_name() == other.get_name());
        whole.get_subcommands().filter(|other| !other.is_hide_set() && !own(other)).find(has).map(Command::get_name)
    };
    if let Some(near) = nearest(name, options().flat_map(names)) {
        return Some(format!("did you mean `--{near}`?"));
    }
    std::iter::once(name)
        .chain(by_word)
        .find_map(|word| Some((word, others(word)?)))
        .map(|(word, other)| format!("`--{word}` is an option of `assay {other}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    /// The tips of a command line that is refused.
    fn tips(line: &str) -> String {
        let (whole, words): (_, Vec<String>) = (command_line::command(), line.split(' ').map(str::to_owned).collect());
        let refusal = whole.clone().try_get_matches_from(&words).unwrap_err();
        let text = told(refusal, &whole, &words[1..]).to_string();
        text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_tip_has_the_option_of_the_same_meaning() {
        const HTML: &str =
            "a report is an HTML page; `assay show --format` has text, json, csv, jsonl, markdown, parquet";
        for (line, tip) in [
            ("assay review sim:x25-m --db x", "did you mean `--store`?"),
            ("assay runs --database=x", "did you mean `--store`?"),
            ("assay report last --output=x", "did you mean `--out`?"),
            ("assay merge a --out=x", "did you mean `--output`?"),
            ("assay show last --json", "did you mean `--format`?"),
            ("assay review sim:x25-m --iterations=3", "did you mean `--repeats`?"),
            ("assay review --device=/dev/sdx", "it is named without an option: `assay review TARGET`"),
            ("assay serve --port=80", "did you mean `--listen`?"),
            ("assay run sim:x25-m --qd=4", "did you mean `--iodepth`?"),
            ("assay review sim:x25-m --thread", ""),
            ("assay review sim:x25-m --iodepth=4", "`--iodepth` is an option of `assay run`"),
            ("assay review sim:x25-m --qd=4", "`--iodepth` is an option of `assay run`"),
            ("assay review sim:x25-m --sed=4", "did you mean `--seed`?"),
            ("assay doctor --xyzzy", ""),
            ("assay report last --format pdf", HTML),
            ("assay report last --json", HTML),
        ] {
            assert_eq!(tips(line), tip, "{line}");
        }
    }

    #[test]
    fn every_other_word_is_for_an_option_that_there_is() {
        let whole = command_line::command();
        let all: Vec<&str> = whole
            .get_subcommands()
            .chain([&whole])
            .flat_map(Command::get_arguments)
            .filter_map(Arg::get_long)
            .collect();
        for (option, words) in OTHER_WORDS {
            assert!(all.contains(&option), "{option}");
            assert!(words.iter().all(|word| word.chars().all(|letter| letter.is_ascii_lowercase())), "{words:?}");
        }
    }
}
