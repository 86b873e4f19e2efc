//! Options of pgbench that a plan may give.

use crate::Refused;
use crate::permitted::{
    self, OptionRule, PermittedOption,
    PermittedValue::{Count, Flag, Number, Word},
    rule,
};

const PROTOCOLS: &[&str] = &["simple", "extended", "prepared"];

/// What is left of pgbench's options without those that assay gives itself, and those that name a file, a host or a
/// database. Source: PostgreSQL's manual, "pgbench", versions 8.3 to 18.
const RULES: &[OptionRule] = &[
    rule("-n", Flag),
    rule("--no-vacuum", Flag),
    rule("-v", Flag),
    rule("--vacuum-all", Flag),
    rule("-C", Flag),
    rule("--connect", Flag),
    rule("-M", Word(PROTOCOLS)),
    rule("--protocol", Word(PROTOCOLS)),
    rule("-r", Flag),
    rule("--report-latencies", Flag),
    rule("--report-per-command", Flag),
    rule("-R", Number),
    rule("--rate", Number),
    rule("-L", Number),
    rule("--latency-limit", Number),
    rule("-P", Count),
    rule("--progress", Count),
    rule("--progress-timestamp", Flag),
    rule("--max-tries", Count),
    rule("--failures-detailed", Flag),
    rule("--verbose-errors", Flag),
    rule("--exit-on-abort", Flag),
];

/// Options that a plan gave to pgbench, each in its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchOptions {
    given: Vec<PermittedOption>,
}

impl BenchOptions {
    /// Reads options as they stand on pgbench's command line. Long ones are spelled out: an abbreviation that is right
    /// today may be another option's tomorrow.
    ///
    /// # Errors
    /// With the first word that is not permitted.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let given = permitted::options("pgbench", RULES, text).map_err(|refused| explained(refused, text))?;
        Ok(Self { given })
    }

    /// The options that a plan may give.
    pub fn permitted() -> Vec<&'static str> {
        permitted::names(RULES)
    }

    /// The words of the command line.
    pub fn words(&self) -> Vec<String> {
        self.given.iter().flat_map(|given| [Some(given.name.to_owned()), given.value.clone()]).flatten().collect()
    }
}

/// A refusal with the reason where there is one besides that it stands in no table.
fn explained(refused: Refused, text: &str) -> Refused {
    let word = text.get(refused.at.clone()).unwrap_or_default();
    let letter = Some(word.strip_prefix('-').unwrap_or(word)).filter(|letter| letter.chars().count() == 1);
    let is = |letters: &str, starts: &[&str]| {
        letter.is_some_and(|letter| letters.contains(letter)) || starts.iter().any(|start| word.starts_with(start))
    };
    let help = if is("f", &["--file"]) {
        "pgbench's scripts start programs by \\setshell and \\shell; `transaction` chooses one of its own"
    } else if is("hpUd", &["--host", "--port", "--username", "--dbname"]) {
        "the server is a private one that assay starts"
    } else if is("bcijlNsStTD", OWN) {
        "assay sets it; use the step's own key"
    } else {
        return refused;
    };
    Refused { help: help.to_owned(), ..refused }
}

/// The starts of options by which assay says what other keys tell it.
const OWN: &[&str] = &[
    "--aggregate",
    "--builtin",
    "--client",
    "--init",
    "--jobs",
    "--log",
    "--random",
    "--sampling",
    "--scale",
    "--select",
    "--skip",
    "--time",
    "--transactions",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_names_is_permitted() {
        let given = BenchOptions::parse("-n -v -M prepared --rate=100.5 -P 5 -C --report-per-command").unwrap();
        let words = ["-n", "-v", "-M", "prepared", "--rate", "100.5", "-P", "5", "-C", "--report-per-command"];
        assert_eq!(given.words(), words);
    }

    #[test]
    fn scripts_connections_and_abbreviations_are_refused_with_the_reason() {
        let table = [
            ("-f /tmp/script", "\\setshell"),
            ("-nf/tmp/script", "\\setshell"),
            ("-n --file=/tmp/script", "\\setshell"),
            ("--fil /tmp/script", "permitted are"),
            ("--fi=/tmp/script", "permitted are"),
            ("-h /tmp", "a private one"),
            ("--host=x", "a private one"),
            ("-d postgres", "a private one"),
            ("--dbname=host=/tmp", "a private one"),
            ("-l", "the step's own key"),
            ("--log-prefix=/x", "the step's own key"),
            ("-D x=1", "the step's own key"),
            ("--prot prepared", "permitted are"),
            ("postgres", "the only device"),
            ("-M /x", "one of simple"),
            ("-R 1;x", "give a number"),
        ];
        for (text, help) in table {
            let refused = BenchOptions::parse(text).expect_err(text);
            assert!(refused.help.contains(help), "{text}: {refused}");
        }
    }
}
