//! The same transactions on a SQLite database, each client a thread with a connection of its own.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use block::{Nanos, Seed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};

use super::balances::{Balances, QUERY};
use super::options::{ACCOUNTS, DatabaseOptions, RunLimit, TELLERS, Transaction};
use super::transactions::Transactions;
use crate::{TrialDevice, TrialError};

/// How long a transaction waits for another to let go of the database before it has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most that a transaction changes a balance by, as pgbench has it.
const DELTA_MOST: i64 = 5000;

/// pgbench's tables.
/// Source: PostgreSQL's manual, "pgbench", section "What Is the Transaction Actually Performed in pgbench?".
const TABLES: &str = "
    create table pgbench_branches (bid integer primary key, bbalance integer not null, filler text);
    create table pgbench_tellers (tid integer primary key, bid integer, tbalance integer not null, filler text);
    create table pgbench_accounts (aid integer primary key, bid integer, abalance integer not null, filler text);
    create table pgbench_history (tid integer, bid integer, aid integer, delta integer, mtime text, filler text);";

/// A SQLite database in a file.
#[derive(Clone, Debug)]
pub struct Embedded<'t> {
    path: PathBuf,
    terms: &'t DatabaseOptions<'t>,
}

/// What the clients did.
#[derive(Debug)]
pub struct ClientResults {
    pub transactions: Transactions,
    /// Those that waited too long for others.
    pub failed: u64,
    /// How long it took until all had connected.
    pub connecting: Duration,
    /// How long they worked.
    pub working: Duration,
}

impl<'t> Embedded<'t> {
    /// The database in `folder`, which is made with [`fill`](Self::fill).
    pub fn in_folder(folder: &Path, terms: &'t DatabaseOptions<'t>) -> Self {
        Self { path: folder.join("pgbench.sqlite"), terms }
    }

    /// The version of the library.
    pub fn version() -> &'static str {
        rusqlite::version()
    }

    /// A connection with the settings that were told.
    fn connect(&self) -> Result<Connection, TrialError> {
        let connection = Connection::open(&self.path).map_err(failed("open"))?;
        connection.busy_timeout(PATIENCE).map_err(failed("busy_timeout"))?;
        let choices = self.terms.choices;
        let told = self.terms.settings()?.lines().into_iter();
        let journal = format!("journal_mode = {}", choices.text("journal"));
        // What sets the size of pages comes before the journal, which makes the file.
        for setting in told.chain([journal, format!("synchronous = {}", choices.text("synchronous"))]) {
            connection.execute_batch(&format!("pragma {setting}")).map_err(failed(&format!("pragma {setting}")))?;
        }
        Ok(connection)
    }

    /// What it says of settings that matter, as conditions.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn conditions(&self) -> Result<Vec<(String, String)>, TrialError> {
        let connection = self.connect()?;
        let mut conditions = vec![("SQLite".to_owned(), Self::version().to_owned())];
        for name in ["journal_mode", "synchronous", "page_size", "cache_size", "wal_autocheckpoint", "mmap_size"] {
            let value: Result<rusqlite::types::Value, _> =
                connection.query_row(&format!("pragma {name}"), [], |row| row.get(0));
            let text = match value {
                Ok(rusqlite::types::Value::Integer(number)) => number.to_string(),
                Ok(rusqlite::types::Value::Text(text)) => text,
                // Where files are not mapped into memory there is no answer.
                _ => continue,
            };
            conditions.push((name.to_owned(), text));
        }
        Ok(conditions)
    }

    /// Makes the tables and fills them.
    ///
    /// # Errors
    /// If the file cannot be written, or the stage is stopped.
    pub fn fill(&self, stage: &TrialDevice) -> Result<(), TrialError> {
        let mut connection = self.connect()?;
        connection.execute_batch(TABLES).map_err(failed("create table"))?;
        for branch in 1..=self.terms.scale as i64 {
            stage.continues()?;
            fill_branch(&mut connection, branch).map_err(failed("insert"))?;
        }
        self.checkpoint(&connection)
    }

    /// Has all that is in the write-ahead log written to the database, where there is one.
    fn checkpoint(&self, connection: &Connection) -> Result<(), TrialError> {
        connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).map_err(failed("wal_checkpoint"))
    }

    /// Does transactions as told.
    ///
    /// # Errors
    /// If one fails for another reason than that others take long, or the stage is stopped.
    pub fn run(&self, stage: &TrialDevice, seed: Seed) -> Result<ClientResults, TrialError> {
        let began = Instant::now();
        // The last one to connect, and this thread, let all begin.
        let gate = Barrier::new(self.terms.clients as usize + 1);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let client = |number: u64| {
                let (gate, is_over) = (&gate, &is_over);
                let seed = seed.split("sqlite").number(number);
                scope.spawn(move || {
                    let connection = self.connect();
                    gate.wait();
                    let served = connection.and_then(|connection| self.serve(connection, stage, seed, is_over));
                    // Where one cannot go on, nobody does.
                    served.inspect_err(|_| is_over.store(true, Ordering::Relaxed))
                })
            };
            let clients: Vec<_> = (0..self.terms.clients).map(client).collect();
            gate.wait();
            let (connecting, started) = (began.elapsed(), Instant::now());
            let mut served =
                ClientResults { transactions: Transactions::default(), failed: 0, connecting, working: connecting };
            for client in clients {
                let (transactions, failed) = client.join().expect("a client does not panic")?;
                served.transactions.merge(&transactions);
                served.failed += failed;
            }
            served.working = started.elapsed();
            stage.continues().map(|()| served)
        })
    }

    /// One client's transactions, and how many failed.
    fn serve(
        &self,
        mut connection: Connection,
        stage: &TrialDevice,
        seed: Seed,
        is_over: &AtomicBool,
    ) -> Result<(Transactions, u64), TrialError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
        let (mut transactions, mut failures) = (Transactions::default(), 0);
        let began = Instant::now();
        let goes_on = |done: u64| match self.terms.length {
            RunLimit::Runtime(time) => began.elapsed() < time.to_std(),
            RunLimit::Transactions(count) => done < count,
        };
        let mut tried = 0;
        while goes_on(tried) && !stage.is_stopped() && !is_over.load(Ordering::Relaxed) {
            let started = Instant::now();
            match self.transact(&mut connection, &mut random) {
                Ok(()) => {
                    let latency = Nanos::from_std(started.elapsed());
                    transactions.record(Nanos::from_std(began.elapsed()), latency);
                }
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => failures += 1,
                Err(error) => return Err(failed("transaction")(error)),
            }
            tried += 1;
        }
        // Closing the last one would write the log to the database, which is not part of any transaction.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed("close"))?;
        Ok((transactions, failures))
    }

    fn transact(&self, connection: &mut Connection, random: &mut Xoshiro256PlusPlus) -> rusqlite::Result<()> {
        let scale = self.terms.scale;
        let [account, teller, branch] =
            [scale * ACCOUNTS, scale * TELLERS, scale].map(|most| random.random_range(1..=most as i64));
        let delta = random.random_range(-DELTA_MOST..=DELTA_MOST);
        let balance = |connection: &Connection| -> rusqlite::Result<i64> {
            let mut select = connection.prepare_cached("select abalance from pgbench_accounts where aid = ?")?;
            select.query_row([account], |row| row.get(0))
        };
        if self.terms.transaction == Transaction::SelectOnly {
            return balance(connection).map(drop);
        }
        // One that reads first and wants to write later would fail whenever another has written in between.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let change = |sql: &str, number: i64| transaction.prepare_cached(sql)?.execute(params![delta, number]);
        change("update pgbench_accounts set abalance = abalance + ? where aid = ?", account)?;
        balance(&transaction)?;
        if self.terms.transaction == Transaction::TpcbLike {
            change("update pgbench_tellers set tbalance = tbalance + ? where tid = ?", teller)?;
            change("update pgbench_branches set bbalance = bbalance + ? where bid = ?", branch)?;
        }
        let sql = "insert into pgbench_history values (?, ?, ?, ?, current_timestamp, null)";
        transaction.prepare_cached(sql)?.execute(params![teller, branch, account, delta])?;
        transaction.commit()
    }

    /// Ends it in an orderly way: all that is in the log is written to the database.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn close(&self) -> Result<(), TrialError> {
        self.checkpoint(&self.connect()?)
    }

    /// The sums over its tables.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn balances(&self) -> Result<Balances, TrialError> {
        let row = |row: &rusqlite::Row| -> rusqlite::Result<[i64; 5]> {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
        };
        self.connect()?.query_row(QUERY, [], row).map(Balances::of).map_err(failed("balances"))
    }

    /// How large its file is, in bytes.
    ///
    /// # Errors
    /// If there is none.
    pub fn size(&self) -> Result<u64, TrialError> {
        std::fs::metadata(&self.path).map(|file| file.len()).map_err(TrialError::at(&self.path))
    }
}

/// Adds a branch with its tellers and accounts, in one transaction.
fn fill_branch(connection: &mut Connection, branch: i64) -> rusqlite::Result<()> {
    let filler = " ".repeat(84);
    let numbers = |each: u64| (branch - 1) * each as i64 + 1..=branch * each as i64;
    let transaction = connection.transaction()?;
    transaction.execute("insert into pgbench_branches values (?, 0, ?)", params![branch, filler])?;
    for (table, each) in [("tellers", TELLERS), ("accounts", ACCOUNTS)] {
        let mut insert = transaction.prepare(&format!("insert into pgbench_{table} values (?, ?, 0, ?)"))?;
        for number in numbers(each) {
            insert.execute(params![number, branch, filler])?;
        }
    }
    transaction.commit()
}

/// That SQLite failed at something.
fn failed(what: &str) -> impl FnOnce(rusqlite::Error) -> TrialError {
    let command = format!("SQLite: {what}");
    move |error| TrialError::Failed { command, said: error.to_string() }
}
