//! pgbench's transactions on a PostgreSQL server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use block::{Nanos, Seed};
use host::open;

use super::cluster::Cluster;
use super::options::{DatabaseOptions, RunLimit, Transaction};
use super::transactions::Transactions;
use crate::TrialError;

/// How long a database may take to be filled, for each unit of scale: a disk takes a second or two.
const FILL_LIMIT: Duration = Duration::from_secs(60);
/// How long transactions may take beyond the time they were given: each client ends the one that it is in.
const RUN_LIMIT: Duration = Duration::from_secs(600);
/// How long a client's transactions may take each, where their number is given.
const EACH_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct PgbenchResult {
    /// The transactions, of its log.
    pub transactions: Transactions,
    /// What it says itself.
    pub summary: PgbenchSummary,
    /// Its command line.
    pub line: String,
    /// What it wrote.
    pub text: String,
}

/// What pgbench says itself at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PgbenchSummary {
    /// Transactions that were done.
    pub done: u64,
    pub failed: u64,
    /// Transactions a second, without the time it took to connect.
    pub rate: f64,
    /// The same with that time.
    pub rate_with_connecting: f64,
    /// How long it took until all had connected, in seconds.
    pub connecting: f64,
}

/// Fills the database; the command line.
///
/// # Errors
/// If pgbench fails.
pub fn fill(cluster: &Cluster, terms: &DatabaseOptions) -> Result<String, TrialError> {
    let mut command = cluster.client("pgbench")?;
    command.args(fill_words(terms));
    Ok(cluster.run(&mut command, FILL_LIMIT * (terms.scale as u32 + 1))?.1)
}

/// Does transactions as told, with pgbench's log in `folder`, which it takes away.
///
/// # Errors
/// If pgbench fails, or says what is not understood.
pub fn run(cluster: &Cluster, terms: &DatabaseOptions, seed: Seed, folder: &Path) -> Result<PgbenchResult, TrialError> {
    let logs = folder.join("transactions");
    cluster.make_folder(&logs)?;
    let mut command = cluster.client("pgbench")?;
    let limit = match terms.length {
        RunLimit::Runtime(time) => time.to_std() + RUN_LIMIT,
        RunLimit::Transactions(count) => EACH_LIMIT * (count.min(1 << 30) as u32) + RUN_LIMIT,
    };
    // Of the seed, as many bits as pgbench takes.
    let seed = (seed.split("pgbench").get() >> 33).to_string();
    command.args(run_words(terms, &seed, &logs.join("log"))?);
    let (ended, line) = cluster.run(&mut command, limit)?;
    let summary = summary(&ended.stdout).ok_or_else(|| TrialError::Unexpected {
        program: "pgbench".into(),
        found: ended.stdout.lines().last().unwrap_or_default().to_owned(),
    })?;
    let transactions = read(&logs)?;
    fs::remove_dir_all(&logs).map_err(TrialError::at(&logs))?;
    Ok(PgbenchResult { transactions, summary, line, text: ended.stdout })
}

/// The commands by which the database is filled and worked on, as one would type them.
pub fn commands(terms: &DatabaseOptions) -> Vec<String> {
    let run = run_words(terms, "SEED", Path::new("FOLDER/log")).unwrap_or_default();
    [fill_words(terms), run].map(|words| format!("pgbench {}", words.join(" "))).into()
}

fn fill_words(terms: &DatabaseOptions) -> Vec<String> {
    ["-i", "-q", "-s", &terms.scale.to_string(), "postgres"].map(str::to_owned).into()
}

/// What pgbench is told besides where the server is: first what a plan may tell it, then what counts.
fn run_words(terms: &DatabaseOptions, seed: &str, log: &Path) -> Result<Vec<String>, TrialError> {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let threads = Some(terms.choices.count("threads")).filter(|threads| *threads > 0).unwrap_or(processors);
    let builtin = match terms.transaction {
        Transaction::TpcbLike => "tpcb-like",
        Transaction::SimpleUpdate => "simple-update",
        Transaction::SelectOnly => "select-only",
    };
    let (clients, threads) = (terms.clients.to_string(), threads.min(terms.clients).to_string());
    let (length, amount) = match terms.length {
        RunLimit::Runtime(time) => ("-T", time.as_nanos().div_ceil(1_000_000_000)),
        RunLimit::Transactions(count) => ("-t", count),
    };
    let mut words = terms.options()?.words();
    let own = ["-b", builtin, "-c", &clients, "-j", &threads, length, &amount.to_string()];
    words.extend(own.map(str::to_owned));
    let ends =
        [format!("--random-seed={seed}"), "-l".into(), format!("--log-prefix={}", log.display()), "postgres".into()];
    words.extend(ends);
    Ok(words)
}

/// What pgbench says at its end; none if it says something else.
///
/// Until version 13 it gave both rates; since then the one without connecting, and how long that took.
fn summary(text: &str) -> Option<PgbenchSummary> {
    let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let number = |text: &str| text.split([' ', '/']).next()?.parse::<f64>().ok();
    let done = after("number of transactions actually processed: ").and_then(number)?;
    let failed = after("number of failed transactions: ").and_then(number).unwrap_or(0.0);
    let rate_of = |words: &str| {
        text.lines().filter_map(|line| line.strip_prefix("tps = ")).find(|line| line.contains(words)).and_then(number)
    };
    let connecting = after("initial connection time = ").and_then(number).unwrap_or(0.0) / 1e3;
    let without = rate_of("(without initial").or_else(|| rate_of("(excluding"));
    let with = rate_of("(including");
    let rate = without.or(with)?;
    let rate_with_connecting = with.unwrap_or_else(|| done / (done / rate.max(f64::MIN_POSITIVE) + connecting));
    Some(PgbenchSummary { done: done as u64, failed: failed as u64, rate, rate_with_connecting, connecting })
}

/// The transactions in pgbench's logs, of which each of its threads wrote one.
fn read(folder: &Path) -> Result<Transactions, TrialError> {
    let entries = fs::read_dir(folder).map_err(TrialError::at(folder))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut begun = u64::MAX;
    for file in &files {
        let first = lines(file)?.next().transpose().map_err(TrialError::at(file))?;
        begun = first.as_deref().and_then(entry).map_or(begun, |(end, latency)| begun.min(end - latency.min(end)));
    }
    let mut all = Transactions::default();
    for file in &files {
        let mut some = Transactions::default();
        for line in lines(file)? {
            let line = line.map_err(TrialError::at(file))?;
            let Some((end, latency)) = entry(&line) else {
                // A transaction that failed, or was late and left out, has a word in place of its latency.
                if matches!(line.split(' ').nth(2), Some("failed" | "skipped" | "serialization" | "deadlock")) {
                    continue;
                }
                return Err(TrialError::Unexpected { program: "pgbench".into(), found: line });
            };
            some.record(Nanos::from_micros(end.saturating_sub(begun)), Nanos::from_micros(latency));
        }
        all.merge(&some);
    }
    Ok(all)
}

fn lines(file: &Path) -> Result<std::io::Lines<BufReader<File>>, TrialError> {
    // They are in a folder of the server's user, who is not trusted to have left only logs there.
    Ok(BufReader::with_capacity(1 << 18, open::to_read(file).map_err(TrialError::at(file))?).lines())
}

/// When a transaction ended, since 1970, and how long it took, in microseconds; none if the line is not of one that was
/// done: client, number, latency, script, seconds, microseconds.
/// Source: PostgreSQL's manual, "pgbench", section "Per-Transaction Logging".
fn entry(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split(' ').skip(2);
    let latency: u64 = words.next()?.parse().ok()?;
    let seconds: u64 = words.nth(1)?.parse().ok()?;
    let micros: u64 = words.next()?.parse().ok()?;
    Some((seconds * 1_000_000 + micros, latency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rates_are_had_of_old_versions_and_of_new_ones() {
        let new = "number of transactions actually processed: 500/500\nnumber of failed transactions: 2 (0.400%)\n\
                   initial connection time = 250.000 ms\ntps = 1000.000000 (without initial connection time)\n";
        let found = summary(new).unwrap();
        let expected =
            PgbenchSummary { done: 500, failed: 2, rate: 1000.0, rate_with_connecting: 500.0 / 0.75, connecting: 0.25 };
        assert_eq!(found, expected);
        let old = "number of transactions actually processed: 1000000/1000000\n\
                   tps = 1344.524649 (including connections establishing)\n\
                   tps = 1344.802165 (excluding connections establishing)\n";
        let found = summary(old).unwrap();
        assert_eq!((found.rate, found.rate_with_connecting, found.done), (1344.802165, 1344.524649, 1_000_000));
        let each = "number of transactions actually processed: 10\naverage connection time = 2.0 ms\n\
                    tps = 90.5 (including reconnection times)\n";
        assert_eq!(summary(each).unwrap().rate_with_connecting, 90.5);
        assert_eq!(summary("connection to server failed"), None);
    }

    #[test]
    fn logs_of_all_threads_are_one_course_since_the_first_began() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log.7"), "0 1 39602 0 1795291978 563806\n0 2 10000 0 1795291978 612385\n")
            .unwrap();
        fs::write(folder.path().join("log.7.1"), "1 1 30040 0 1795291978 554444\n1 2 failed 0 1795291978 6\n").unwrap();
        let transactions = read(folder.path()).unwrap();
        assert_eq!(transactions.count(), 3);
        assert_eq!(transactions.latency().last().unwrap().value, 0.039_602);
        fs::write(folder.path().join("log.8"), "what is this\n").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("what is this"));
    }
}
