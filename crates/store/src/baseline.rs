//! Named baselines: documents that runs are held against.

use rusqlite::{Connection, OptionalExtension, params};

use crate::budget::Rows;
use crate::error::Cause;

/// Keeps a document under a name, in place of one that had it.
pub(crate) fn put(connection: &Connection, name: &str, document: &str) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO baseline (name, document) VALUES (?1, ?2)";
    connection.execute(sql, params![name, document]).map(|_| ())
}

/// The document of this name; none where there is none.
pub(crate) fn get(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT document FROM baseline WHERE name = ?1", [name], |row| row.get(0)).optional()
}

/// Every name, in their order.
pub(crate) fn names(connection: &Connection, mut order: Rows) -> Result<Vec<String>, Cause> {
    let mut statement = connection.prepare("SELECT name, rowid FROM baseline ORDER BY rowid")?;
    let (mut rows, mut names) = (statement.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        order.next(row.get(1)?, row)?;
        names.push(row.get(0)?);
    }
    names.sort();
    Ok(names)
}

/// Removes a name; whether there was one.
pub(crate) fn remove(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection.execute("DELETE FROM baseline WHERE name = ?1", [name]).map(|removed| removed > 0)
}
