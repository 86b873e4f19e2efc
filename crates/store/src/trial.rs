//! What came of trials, as rows.

use rusqlite::{Connection, params};

use crate::RunId;
use crate::budget::Rows;
use crate::error::{Cause, doubled};

/// What came of a trial, with its place in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrial {
    pub step: String,
    /// The point's key.
    pub key: String,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// What came of it, as whoever kept it wrote it.
    pub result: String,
}

pub(crate) fn insert(
    connection: &Connection,
    run: RunId,
    step: &str,
    cell: &str,
    repeat: u32,
    result: &str,
) -> Result<(), Cause> {
    let sql = "INSERT INTO trial (run, step, cell, repeat, result) VALUES (?1, ?2, ?3, ?4, ?5)";
    let inserted = connection.execute(sql, params![run.0, step, cell, repeat, result]);
    inserted.map(drop).map_err(|error| doubled(error, run, step, cell, repeat))
}

pub(crate) fn select(connection: &Connection, run: RunId, mut order: Rows) -> Result<Vec<StoredTrial>, Cause> {
    let sql = "SELECT step, cell, repeat, result, rowid FROM trial WHERE run = ?1 ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let (mut rows, mut tried) = (statement.query([run.0])?, Vec::new());
    while let Some(row) = rows.next()? {
        order.next(row.get(4)?, row)?;
        tried.push(StoredTrial { step: row.get(0)?, key: row.get(1)?, repeat: row.get(2)?, result: row.get(3)? });
    }
    Ok(tried)
}
