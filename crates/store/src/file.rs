//! The file of a store: known by what it says of itself, made where there is none, and brought up to date.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::error::Cause;

/// Marks the file as this program's ("assa" in ASCII).
const APPLICATION: i64 = 0x6173_7361;
/// The version of `schema.sql`.
const SCHEMA: i64 = 10;
/// What a store of the first version lacks: flushes were not counted.
const FROM_FIRST: &str = "ALTER TABLE measurement ADD COLUMN flush_requests INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE measurement ADD COLUMN flush_latency BLOB;";
/// What a store of the second version lacks: it did not know a target from another of its name.
const FROM_SECOND: &str = "ALTER TABLE run ADD COLUMN direct INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE run ADD COLUMN target_fingerprint TEXT;";
/// What a store of the third version lacks: latencies had one start, no request failed, and no data was checked.
const FROM_THIRD: &str = "ALTER TABLE measurement ADD COLUMN read_service BLOB;
    ALTER TABLE measurement ADD COLUMN write_service BLOB;
    ALTER TABLE measurement ADD COLUMN trim_service BLOB;
    ALTER TABLE measurement ADD COLUMN failures TEXT;
    ALTER TABLE measurement ADD COLUMN verified TEXT;";
/// What a store of the fourth version lacks: plans had no lengths of their own for simulated drives.
const FROM_FOURTH: &str = "ALTER TABLE run ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;";
/// What a store of the fifth version lacks: only simulated drives said what they consumed.
const FROM_FIFTH: &str = "ALTER TABLE measurement ADD COLUMN energy TEXT;";
/// What a store of the sixth version lacks: nobody looked at the health of drives.
const FROM_SIXTH: &str = "CREATE TABLE health (
    run INTEGER NOT NULL REFERENCES run (id), moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    reading TEXT NOT NULL, UNIQUE (run, moment));";
/// What a store of the seventh version lacks: nothing above the drive was tried.
const FROM_SEVENTH: &str = "CREATE TABLE trial (
    run INTEGER NOT NULL REFERENCES run (id), step TEXT NOT NULL, cell TEXT NOT NULL, repeat INTEGER NOT NULL,
    result TEXT NOT NULL, UNIQUE (run, step, cell, repeat));";
/// What a store of the eighth version lacks: to list some of its runs, all had to be read.
const FROM_EIGHTH: &str =
    "CREATE INDEX run_listed ON run (id, plan, quick, target, target_identity, state, started_ms, finished_ms);";
/// What a store of the ninth version lacks: nobody noted when how much of a run was done.
const FROM_NINTH: &str = "ALTER TABLE run ADD COLUMN course TEXT;";
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection by which a finished cell survives the end of this process and a loss of power.
pub(crate) fn connect(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // One transaction, so that another process that fills the file is seen before or after, not between.
    let transaction = connection.transaction()?;
    let is_empty = is_empty(&transaction, path)?;
    transaction.finish()?;
    if is_empty {
        fill(&mut connection, path)?;
    } else {
        bring_up_to_date(&mut connection)?;
    }
    Ok(connection)
}

/// Gives a store of an earlier version what it lacks, unless another process was faster.
fn bring_up_to_date(connection: &mut Connection) -> Result<(), Cause> {
    let version = |connection: &Connection| number(connection, "PRAGMA user_version");
    if version(connection)? == SCHEMA {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let steps = [
        FROM_FIRST,
        FROM_SECOND,
        FROM_THIRD,
        FROM_FOURTH,
        FROM_FIFTH,
        FROM_SIXTH,
        FROM_SEVENTH,
        FROM_EIGHTH,
        FROM_NINTH,
    ];
    for (earlier, lacks) in (1..).zip(steps) {
        if version(&transaction)? == earlier {
            transaction.execute_batch(lacks)?;
            transaction.pragma_update(None, "user_version", earlier + 1)?;
        }
    }
    Ok(transaction.commit()?)
}

/// Whether the file is new. One that holds anything but a store of a known version is an error.
fn is_empty(transaction: &Transaction, path: &Path) -> Result<bool, Cause> {
    let version = number(transaction, "PRAGMA user_version")?;
    let path = || path.to_owned();
    match number(transaction, "PRAGMA application_id")? {
        APPLICATION if version > SCHEMA => {
            Err(StoreError::Newer { path: path(), found: version, known: SCHEMA }.into())
        }
        APPLICATION => Ok(false),
        0 if version == 0 && number(transaction, "SELECT count(*) FROM sqlite_schema")? == 0 => Ok(true),
        _ => Err(StoreError::Foreign { path: path() }.into()),
    }
}

/// Makes the tables, unless another process was faster.
fn fill(connection: &mut Connection, path: &Path) -> Result<(), Cause> {
    match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
        // Another process opens the new file too and sets the same; the mode stays with the file.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
        other => other?,
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_empty(&transaction, path)? {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    Ok(transaction.commit()?)
}

/// A connection by which nothing can be changed, to a store of this version alone.
pub(crate) fn connect_to_read(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let path = || path.to_owned();
    match (number(&connection, "PRAGMA application_id")?, number(&connection, "PRAGMA user_version")?) {
        (APPLICATION, SCHEMA) => Ok(connection),
        (APPLICATION, found @ ..SCHEMA) => Err(StoreError::Older { path: path(), found, known: SCHEMA }.into()),
        (APPLICATION, found) => Err(StoreError::Newer { path: path(), found, known: SCHEMA }.into()),
        _ => Err(StoreError::Foreign { path: path() }.into()),
    }
}

/// The number that a question is answered by.
fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}
