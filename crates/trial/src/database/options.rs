//! What a trial of a database was told.

use block::{Bytes, Nanos};

use super::bench::BenchOptions;
use super::settings::DatabaseSettings;
use crate::mount::{FS, FileSystemSpec, MKFS, MOUNT};
use crate::scheduler::SCHEDULER;
use crate::{Choice, ChoiceKind, Choices, ChoicesError, Refused};

/// What it can be told.
pub const CHOICES: &[Choice] = &[
    word("engine", "Database", "the database", &["postgresql", "sqlite"]),
    word("transaction", "Transaction", "the pgbench script", TRANSACTIONS),
    Choice {
        name: "scale",
        title: "Scale",
        about: "pgbench scale factor: branches with 10 tellers and 100,000 accounts each, about 15 MB",
        kind: ChoiceKind::Count(1, 20_000),
        default: "100",
    },
    Choice {
        name: "clients",
        title: "Clients",
        about: "number of concurrent clients",
        kind: ChoiceKind::Count(1, 1000),
        default: "16",
    },
    Choice {
        name: "threads",
        title: "Threads",
        about: "pgbench threads that the clients share; 0 for one per CPU",
        kind: ChoiceKind::Count(0, 1000),
        default: "0",
    },
    Choice {
        name: "runtime",
        title: "Time",
        about: "duration of the transactions",
        kind: ChoiceKind::Time,
        default: "60s",
    },
    Choice {
        name: "transactions",
        title: "Transactions",
        about: "transactions per client, without a time limit; 0 for a runtime",
        kind: ChoiceKind::Count(0, 1_000_000_000),
        default: "0",
    },
    Choice { name: "options", title: "Options", about: "more options of pgbench", kind: ChoiceKind::Text, default: "" },
    Choice {
        name: "settings",
        title: "Settings",
        about: "settings of postgresql.conf, or SQLite PRAGMAs without the word; separated by lines or semicolons",
        kind: ChoiceKind::Text,
        default: "",
    },
    Choice {
        name: "shared-buffers",
        title: "Shared buffers",
        about: "PostgreSQL's buffer cache",
        kind: ChoiceKind::Bytes,
        default: "128MiB",
    },
    Choice {
        name: "memory",
        title: "Memory",
        about: "memory limit of PostgreSQL and its page cache; 0 for none",
        kind: ChoiceKind::Bytes,
        default: "0",
    },
    word("checksums", "Page checksums", "data checksums of PostgreSQL", &["no", "yes"]),
    word("journal", "Journal", "SQLite's journal mode", &["wal", "delete", "truncate", "persist"]),
    word("synchronous", "Synchronous", "SQLite's synchronous mode", &["full", "extra", "normal", "off"]),
    word(
        "verify",
        "Verification",
        "what happens to the database before its balances are verified",
        &["restart", "crash", "no"],
    ),
    Choice { about: "the file system of the database", ..FS },
    MKFS,
    MOUNT,
    SCHEDULER,
];

const TRANSACTIONS: &[&str] = &["tpcb-like", "simple-update", "select-only"];

const fn word(name: &'static str, title: &'static str, about: &'static str, words: &'static [&'static str]) -> Choice {
    Choice { name, title, about, kind: ChoiceKind::Word(words), default: words[0] }
}

/// Rows of the accounts table for each unit of scale, and of the tellers'.
/// Source: PostgreSQL's manual, "pgbench", section "Initialization Options".
pub const ACCOUNTS: u64 = 100_000;
/// See [`ACCOUNTS`].
pub const TELLERS: u64 = 10;

/// Memory that a server takes beside shared buffers, and for each client, whose process is killed where there is no
/// more:
/// 100 clients did not go into 256 MiB with 128 MiB of shared buffers, 128 went into 512 MiB (PostgreSQL 15, 64 bits).
const MEMORY_SPARE: Bytes = Bytes::from_mib(64);
/// See [`MEMORY_SPARE`].
const MEMORY_EACH: Bytes = Bytes::from_mib(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseEngine {
    /// A server with processes of its own.
    PostgreSql,
    /// A library within the program.
    Sqlite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Changes an account, a teller and a branch, and adds to the history.
    TpcbLike,
    /// Changes an account and adds to the history.
    SimpleUpdate,
    /// Reads the balance of an account.
    SelectOnly,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunLimit {
    /// After so long.
    Runtime(Nanos),
    /// When each client has done so many.
    Transactions(u64),
}

/// What the database goes through before its balances are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    /// It is ended in an orderly way, and started again.
    Restart,
    /// It is ended as by a crash, and recovers.
    Crash,
    /// It is not looked at.
    No,
}

/// What a trial was told, besides texts that are passed on.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseOptions<'c> {
    /// The database.
    pub engine: DatabaseEngine,
    pub transaction: Transaction,
    /// The size of the database.
    pub scale: u64,
    /// How many ask at the same time.
    pub clients: u64,
    /// When it ends.
    pub length: RunLimit,
    /// What the database goes through afterwards.
    pub verify: VerifyMode,
    /// Everything as it was told.
    pub choices: &'c Choices,
}

impl<'c> DatabaseOptions<'c> {
    /// What these say.
    pub fn of(choices: &'c Choices) -> Self {
        let engine =
            if choices.text("engine") == "sqlite" { DatabaseEngine::Sqlite } else { DatabaseEngine::PostgreSql };
        let transaction = match choices.text("transaction") {
            "simple-update" => Transaction::SimpleUpdate,
            "select-only" => Transaction::SelectOnly,
            _ => Transaction::TpcbLike,
        };
        let length = match choices.count("transactions") {
            0 => RunLimit::Runtime(choices.time("runtime")),
            count => RunLimit::Transactions(count),
        };
        let verify = match choices.text("verify") {
            "crash" => VerifyMode::Crash,
            "no" => VerifyMode::No,
            _ => VerifyMode::Restart,
        };
        let [scale, clients] = ["scale", "clients"].map(|name| choices.count(name));
        Self { engine, transaction, scale, clients, length, verify, choices }
    }

    /// The settings, each in the table of what a plan may give.
    ///
    /// # Errors
    /// With the one that is not.
    pub fn settings(&self) -> Result<DatabaseSettings, ChoicesError> {
        DatabaseSettings::of(self.engine, self.choices.text("settings")).map_err(text("settings"))
    }

    /// The options for pgbench, each in the table of what a plan may give.
    ///
    /// # Errors
    /// With the one that is not.
    pub fn options(&self) -> Result<BenchOptions, ChoicesError> {
        BenchOptions::parse(self.choices.text("options")).map_err(text("options"))
    }

    /// The limit of memory; none if there is none.
    pub fn memory(&self) -> Option<Bytes> {
        Some(self.choices.bytes("memory")).filter(|memory| *memory > Bytes::ZERO)
    }

    /// About how large the database is: a row of an account takes about 130 bytes and its index 22.
    pub fn size(&self) -> Bytes {
        Bytes::new(self.scale * ACCOUNTS * 155)
    }
}

fn text(choice: &'static str) -> impl Fn(Refused) -> ChoicesError {
    move |refused| ChoicesError::Text { choice, refused }
}

/// Whether what was told makes sense, and may be told to other programs.
///
/// # Errors
/// What does not, and what would be right.
pub fn check(choices: &Choices) -> Result<(), ChoicesError> {
    let terms = DatabaseOptions::of(choices);
    if let Some(words) = nonsense(choices) {
        return Err(words.into());
    }
    FileSystemSpec::of(choices, None)?;
    terms.settings()?;
    terms.options().map(drop)
}

/// What makes no sense of what was told; none if all does.
fn nonsense(choices: &Choices) -> Option<String> {
    let terms = DatabaseOptions::of(choices);
    let foreign: &[&str] = match terms.engine {
        DatabaseEngine::PostgreSql => &["journal", "synchronous"],
        DatabaseEngine::Sqlite => &["threads", "options", "shared-buffers", "memory", "checksums"],
    };
    let (engine, other) = match terms.engine {
        DatabaseEngine::PostgreSql => ("PostgreSQL", "`settings = \"synchronous_commit = off\"` has the same effect"),
        DatabaseEngine::Sqlite => ("SQLite", "`settings = \"cache_size = -2000\"` and other PRAGMAs take its place"),
    };
    if let Some(name) = foreign.iter().find(|name| choices.is_set(name)) {
        return Some(format!("{engine} has no `{name}`; leave it out: {other}"));
    }
    if choices.count("transactions") > 0 && choices.is_set("runtime") {
        return Some("`transactions` and `runtime` exclude each other; leave one out, or set transactions = 0".into());
    }
    if matches!(terms.length, RunLimit::Runtime(time) if time < Nanos::from_secs(1)) {
        return Some(format!("`runtime = \"{}\"` is too short; give at least 1s", choices.text("runtime")));
    }
    let least = choices.bytes("shared-buffers") + MEMORY_SPARE + MEMORY_EACH.times(terms.clients);
    if terms.memory().is_some_and(|memory| memory < least) {
        let clients = terms.clients;
        return Some(format!("`memory` is too small for shared buffers and {clients} clients; give at least {least}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&str, &str)]) -> Choices {
        let mut choices = Choices::of(CHOICES);
        pairs.iter().for_each(|(name, text)| choices.tell(name, text).unwrap());
        choices
    }

    #[test]
    fn every_default_is_a_value_of_its_choice_and_they_make_sense_together() {
        for choice in CHOICES {
            choice.check(choice.default).unwrap();
        }
        check(&told(&[])).unwrap();
        check(&told(&[("engine", "sqlite")])).unwrap();
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_would() {
        let table: [(&[(&str, &str)], &str); 10] = [
            (&[("synchronous", "off")], "synchronous_commit"),
            (&[("engine", "sqlite"), ("shared-buffers", "1MiB")], "cache_size"),
            (&[("transactions", "10"), ("runtime", "2s")], "leave one out"),
            (&[("runtime", "200ms")], "at least 1s"),
            (&[("options", "-n -c 5")], "assay sets it"),
            (&[("options", "--log-prefix=x")], "assay sets it"),
            (&[("settings", "archive_command = 'touch /x'")], "the setting `archive_command`"),
            (&[("engine", "sqlite"), ("settings", "fsync = on")], "may not give SQLite the setting `fsync`"),
            (&[("mkfs", "-J device=/dev/x")], "mkfs.ext4 -J `device`"),
            (&[("memory", "100MiB"), ("clients", "4")], "give at least 200 MiB"),
        ];
        for (pairs, said) in table {
            let found = check(&told(pairs)).unwrap_err().to_string();
            assert!(found.contains(said), "{pairs:?}: {found}");
        }
        check(&told(&[("transactions", "10"), ("options", "-n -v -M prepared")])).unwrap();
    }
}
