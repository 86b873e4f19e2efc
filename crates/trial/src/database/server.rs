//! PostgreSQL, measured.

use std::time::Instant;

use block::{Bytes, Nanos};

use super::balances::{Balances, QUERY};
use super::cluster::{Cluster, Ending};
use super::options::{DatabaseOptions, VerifyMode};
use super::programs::Programs;
use super::{DatabaseMeasurement, DatabaseVolume, pgbench};
use crate::memory::MemoryLimit;
use crate::{Paper, TrialContext, TrialError};

/// Measures PostgreSQL.
pub fn measure(
    terms: &DatabaseOptions,
    place: &DatabaseVolume,
    go: &TrialContext,
) -> Result<DatabaseMeasurement, TrialError> {
    let programs = Programs::find().map_err(TrialError::Lacks)?;
    let memory = terms.memory().map(|memory| MemoryLimit::make(memory, place.aftermath)).transpose()?;
    (go.tell)("PostgreSQL, initdb");
    let (home, folder) = (place.mounted.folder(), place.folder.path());
    let on = (place.stage, place.aftermath);
    let mut cluster = Cluster::init(&programs, on, (home, folder), memory.as_ref(), terms)?;
    cluster.start()?;
    (go.tell)(&format!("pgbench, filling to scale {}", terms.scale));
    let began = Instant::now();
    let fill = pgbench::fill(&cluster, terms)?;
    let filling = Nanos::from_std(began.elapsed());
    // What filling left to be written is written now, and not while transactions are timed.
    cluster.query("checkpoint")?;
    let [size] = cluster.numbers("select pg_database_size(current_database())")?;
    let pages_before = pages(&cluster)?;
    (go.tell)(&format!("pgbench, {} clients", terms.clients));
    let before = place.meters()?;
    let benched = pgbench::run(&cluster, terms, go.seed, folder)?;
    let usage = place.meters()?.since(&before);
    let after = pages(&cluster)?;
    let [hit, missed] = [after[0] - pages_before[0], after[1] - pages_before[1]];
    let mut conditions = cluster.conditions()?;
    conditions
        .extend([("filled by", fill), ("transactions by", benched.line)].map(|(name, line)| (name.to_owned(), line)));
    let forgets = forgets(&cluster)?;
    let balances = books(&mut cluster, terms, place, go)?;
    cluster.stop(Ending::Crash)?;
    Ok(DatabaseMeasurement {
        rates: [benched.summary.rate, benched.summary.rate_with_connecting],
        transactions: benched.transactions,
        failed: benched.summary.failed,
        usage,
        size: Bytes::new(size.unsigned_abs()),
        filling,
        hits: Some(100.0 * hit as f64 / (hit + missed).max(1) as f64),
        forgets,
        balances,
        conditions,
        papers: vec![Paper { name: "pgbench".into(), media: "text/plain".into(), text: benched.text }],
    })
}

/// How many pages were found in shared buffers since the server began, and how many were not.
fn pages(cluster: &Cluster) -> Result<[i64; 2], TrialError> {
    cluster.numbers("select blks_hit, blks_read from pg_stat_database where datname = current_database()")
}

/// Why what is committed may be lost with the power; none if it may not.
fn forgets(cluster: &Cluster) -> Result<Option<String>, TrialError> {
    for name in ["fsync", "synchronous_commit", "full_page_writes"] {
        if cluster.query(&format!("show {name}"))? == "off" {
            return Ok(Some(format!("{name} = off")));
        }
    }
    Ok(None)
}

/// The sums over the tables, as they are read from the drive after the server has ended and begun again.
fn books(
    cluster: &mut Cluster,
    terms: &DatabaseOptions,
    place: &DatabaseVolume,
    go: &TrialContext,
) -> Result<Option<Balances>, TrialError> {
    let ending = match terms.verify {
        VerifyMode::Restart => Ending::Orderly,
        VerifyMode::Crash => Ending::Crash,
        VerifyMode::No => return Ok(None),
    };
    (go.tell)("PostgreSQL, checking the books");
    cluster.stop(ending)?;
    place.mounted.empty_cache()?;
    cluster.start()?;
    cluster.numbers(QUERY).map(|numbers| Some(Balances::of(numbers)))
}
