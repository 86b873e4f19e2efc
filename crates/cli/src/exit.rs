//! How the program ends: the one table of its exit codes.

use std::process::ExitCode;

/// How the program ends. `docs/exit-codes.md` has the same table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// What was asked is done.
    Done = 0,
    /// It was tried and failed; what was measured is kept.
    Failed = 1,
    /// It makes no sense or is refused; nothing was changed.
    Refused = 2,
    /// It was done, and the answer is that nothing can be told.
    Inconclusive = 3,
    /// Ctrl-C or a polite request to end: 128 and the number of SIGINT, by the shells' convention.
    Interrupted = 130,
}

impl Exit {
    /// Every way to end, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Done, Self::Failed, Self::Refused, Self::Inconclusive, Self::Interrupted];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What it means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "success",
            Self::Failed => "failed",
            Self::Refused => "refused or invalid",
            Self::Inconclusive => "inconclusive",
            Self::Interrupted => "interrupted",
        }
    }

    /// All of them in a line of a command's help.
    pub fn line() -> String {
        let all: Vec<String> = Self::ALL.iter().map(|exit| format!("{} {}", exit.code(), exit.meaning())).collect();
        format!("Exit codes: {}.", all.join(", "))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_exit_codes_has_this_table() {
        let page = include_str!("../../../docs/exit-codes.md");
        let rows: Vec<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
            .filter(|(code, _)| code.parse::<u8>().is_ok_and(|code| code != 101))
            .map(|(code, meaning)| format!("{code} {}", meaning.split(':').next().unwrap()))
            .collect();
        let table = Exit::ALL.map(|exit| format!("{} {}", exit.code(), exit.meaning()));
        assert_eq!(rows, table);
    }
}
