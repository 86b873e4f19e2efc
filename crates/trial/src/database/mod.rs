//! A database on a file system of the drive, and pgbench's transactions on it.

mod balances;
mod bench;
mod cluster;
mod findings;
mod options;
mod pgbench;
mod programs;
mod server;
mod settings;
mod sqlite;
mod transactions;

use std::time::Instant;

use block::{Bytes, Nanos};

use self::balances::Balances;
pub use self::bench::BenchOptions;
use self::options::{CHOICES, DatabaseEngine, DatabaseOptions, RunLimit, Transaction, VerifyMode};
use self::programs::Programs;
pub use self::settings::DatabaseSettings;
use self::sqlite::Embedded;
use self::transactions::Transactions;
use crate::folder::PrivateFolder;
use crate::memory;
use crate::meters::{Meters, Usage};
use crate::mount::{self, FileSystemSpec, MountedFileSystem};
use crate::scheduler::Scheduler;
use crate::{
    Choice, Choices, ChoicesError, Cleanup, Experiment, Figure, Paper, Procedure, Trial, TrialContext, TrialDevice,
    TrialError,
};

/// Where programs of another user find what is not on the drive: sockets, and logs that may be large.
const FOLDER: &str = "/var/tmp";

/// What transactions a second are thought to be before anything is known, on a solid-state drive.
const RATE: u64 = 1000;

/// Transactions on a database.
#[derive(Debug)]
pub struct Database;

/// What was measured, of either database.
#[derive(Debug)]
struct DatabaseMeasurement {
    transactions: Transactions,
    /// Transactions a second without the time it took to connect, and with it.
    rates: [f64; 2],
    failed: u64,
    usage: Usage,
    /// How large the database was when transactions began, and how long it took to fill.
    size: Bytes,
    filling: Nanos,
    /// The share of the pages that its own cache had, in percent; none where that is not known.
    hits: Option<f64>,
    /// Why what is committed may be lost with the power; none if it may not.
    forgets: Option<String>,
    balances: Option<Balances>,
    conditions: Vec<(String, String)>,
    papers: Vec<Paper>,
}

impl Experiment for Database {
    fn name(&self) -> &'static str {
        "database"
    }

    fn about(&self) -> &'static str {
        "pgbench transactions on PostgreSQL or SQLite: rate, latency and drive load."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        options::check(choices)
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        let terms = DatabaseOptions::of(choices);
        let stage = FileSystemSpec::of(choices, None).map_or(Vec::new(), |recipe| recipe.commands().into());
        let settings = || terms.settings().map(|settings| settings.lines()).unwrap_or_default();
        let database = match terms.engine {
            DatabaseEngine::PostgreSql => [cluster::commands(&terms), pgbench::commands(&terms)].concat(),
            DatabaseEngine::Sqlite => {
                settings().iter().map(|line| format!("PRAGMA {line} (SQLite, no program)")).collect()
            }
        };
        [stage, database].concat()
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        let terms = DatabaseOptions::of(choices);
        let server = || if terms.engine == DatabaseEngine::PostgreSql { Programs::find().err() } else { None };
        let memory =
            || terms.memory().and_then(|_| memory::unavailable()).map(|reason| format!("{reason}; leave `memory` out"));
        mount::unavailable(choices.text("fs")).or_else(server).or_else(memory)
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        let terms = DatabaseOptions::of(choices);
        let run = match terms.length {
            RunLimit::Runtime(time) => time,
            RunLimit::Transactions(count) => Nanos::from_secs(count * terms.clients / RATE),
        };
        // A file system and an empty database, and then a second for each unit of scale to fill it and check its books.
        Nanos::from_secs(10 + terms.scale) + run
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        let terms = DatabaseOptions::of(choices);
        let transactions = match (terms.transaction, terms.length) {
            (Transaction::SelectOnly, _) => 0,
            (_, RunLimit::Runtime(time)) => time.as_nanos() / 1_000_000_000 * RATE,
            (_, RunLimit::Transactions(count)) => count * terms.clients,
        };
        // Tables are written to the log, then themselves, and once more when they are vacuumed. A transaction's pages are
        // written to the log whole when they are first changed after a checkpoint.
        // What a file system writes for its journal when it is made depends on the drive: so much on one of 80 GB.
        let journal = Bytes::from_mib(if matches!(choices.text("fs"), "ext3" | "ext4") { 512 } else { 64 });
        journal + Bytes::from_mib(100) + terms.size().times(3) + Bytes::from_kib(16).times(transactions)
    }
}

impl Procedure for Database {
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        if let Some(lacks) = self.unavailable(choices) {
            return Err(TrialError::Lacks(lacks));
        }
        let terms = DatabaseOptions::of(choices);
        let aftermath = Cleanup::begin()?;
        let fs = choices.text("fs");
        (go.tell)(&format!("{fs} on {}", stage.path().display()));
        let scheduler = Scheduler::set(stage, choices.text("scheduler"), &aftermath)?;
        let mounted = MountedFileSystem::make(stage, FileSystemSpec::of(choices, None)?, &aftermath)?;
        let folder = PrivateFolder::new(FOLDER, "assay-database", &aftermath)?;
        // PostgreSQL's user has to come through.
        folder.let_through()?;
        let place = DatabaseVolume { stage, aftermath: &aftermath, mounted: &mounted, folder };
        place.has_room(&terms)?;
        let mut measured = match terms.engine {
            DatabaseEngine::PostgreSql => server::measure(&terms, &place, go)?,
            DatabaseEngine::Sqlite => embedded(&terms, &place, go)?,
        };
        let mut conditions = mounted.conditions();
        drop(place);
        mounted.unmount()?;
        measured.conditions.append(&mut conditions);
        measured.conditions.push(("scheduler".to_owned(), scheduler.words.clone()));
        Ok(trial(measured, &terms))
    }
}

/// Where a database is measured.
struct DatabaseVolume<'p> {
    stage: &'p TrialDevice,
    aftermath: &'p Cleanup,
    mounted: &'p MountedFileSystem,
    folder: PrivateFolder,
}

impl DatabaseVolume<'_> {
    /// Whether the database goes on the file system, with as much again for its log and for what it grows by.
    fn has_room(&self, terms: &DatabaseOptions) -> Result<(), TrialError> {
        let beside = Bytes::from_mib(150);
        let (free, needed) = (self.mounted.free()?, terms.size().times(2) + beside);
        if free >= needed {
            return Ok(());
        }
        let most = (free.get().saturating_sub(beside.get()) / 2 / (terms.size().get() / terms.scale)).max(1);
        let scale = terms.scale;
        Err(TrialError::Lacks(format!(
            "scale {scale} needs {needed} and there is room for {free}; give scale = {most}"
        )))
    }

    /// The counters of the machine and of the drive.
    fn meters(&self) -> Result<Meters, TrialError> {
        Meters::read(self.stage)
    }
}

/// Measures SQLite.
fn embedded(
    terms: &DatabaseOptions,
    place: &DatabaseVolume,
    go: &TrialContext,
) -> Result<DatabaseMeasurement, TrialError> {
    let database = Embedded::in_folder(place.mounted.folder(), terms);
    (go.tell)(&format!("SQLite, filling to scale {}", terms.scale));
    let began = Instant::now();
    database.fill(place.stage)?;
    let filling = Nanos::from_std(began.elapsed());
    let size = Bytes::new(database.size()?);
    (go.tell)(&format!("SQLite, {} clients", terms.clients));
    let conditions = database.conditions()?;
    let before = place.meters()?;
    let served = database.run(place.stage, go.seed)?;
    let usage = place.meters()?.since(&before);
    if terms.verify != VerifyMode::No {
        if terms.verify == VerifyMode::Restart {
            database.close()?;
        }
        place.mounted.empty_cache()?;
    }
    let balances = (terms.verify != VerifyMode::No).then(|| database.balances()).transpose()?;
    let done = served.transactions.count() as f64;
    let rate = |time: std::time::Duration| done / time.as_secs_f64().max(1e-9);
    let synchronous = terms.choices.text("synchronous");
    // Source: SQLite's manual, "PRAGMA synchronous".
    let forgets = match (synchronous, terms.choices.text("journal")) {
        ("off", _) => Some("synchronous = off"),
        ("normal", "wal") => Some("synchronous = normal with a write-ahead log"),
        _ => None,
    };
    Ok(DatabaseMeasurement {
        rates: [rate(served.working), rate(served.working + served.connecting)],
        transactions: served.transactions,
        failed: served.failed,
        usage,
        size,
        filling,
        hits: None,
        forgets: forgets.map(str::to_owned),
        balances,
        conditions,
        papers: Vec::new(),
    })
}

/// What is stored of what was measured.
fn trial(measured: DatabaseMeasurement, terms: &DatabaseOptions) -> Trial {
    let done = measured.transactions.count().max(1) as f64;
    let usage = &measured.usage;
    let each = |name: &str, unit: &str, amount: u64| Figure::less(name, unit, amount as f64 / done);
    let mut figures = vec![
        Figure::more("Transactions", "1/s", measured.rates[0]),
        Figure::more("Transactions, with connecting", "1/s", measured.rates[1]),
    ];
    figures.extend(measured.transactions.latency());
    figures.extend([
        Figure::neither("Processors, user", "%", usage.user),
        Figure::neither("Processors, system", "%", usage.system),
        Figure::neither("Processors, waiting for the drive", "%", usage.waiting),
        Figure::neither("Drive busy", "%", usage.busy_percent()),
        each("Reads of the drive a transaction", "", usage.reads),
        each("Writes to the drive a transaction", "", usage.writes),
        each("Read from the drive a transaction", "B", usage.bytes_read.get()),
        each("Written to the drive a transaction", "B", usage.bytes_written.get()),
    ]);
    figures.extend(usage.flushes.map(|flushes| each("Flushes of the drive a transaction", "", flushes)));
    figures.extend(measured.hits.map(|hits| Figure::neither("Pages found in shared buffers", "%", hits)));
    figures.push(Figure::neither("Database", "B", measured.size.get() as f64));
    figures.push(Figure::less("Time to fill it", "s", measured.filling.as_secs_f64()));
    figures.push(Figure::less("Failed transactions", "", measured.failed as f64));
    let findings = findings::of(&measured, terms);
    let mut conditions = measured.conditions;
    conditions.push(("database size".to_owned(), measured.size.to_string()));
    if let Some(balances) = measured.balances.filter(|_| findings.is_empty()) {
        let what = if terms.verify == VerifyMode::Crash { "a crash" } else { "a restart" };
        conditions.push(("books".to_owned(), format!("agree after {what}: {} changes", balances.changes)));
    }
    Trial { figures, courses: measured.transactions.courses().into(), conditions, papers: measured.papers, findings }
}
