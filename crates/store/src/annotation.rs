//! What people added to runs, as rows.

use std::collections::HashMap;

use measurement::{Annotations, RunId};
use rusqlite::{Connection, params};

use crate::budget::Rows;
use crate::error::Cause;

/// Keeps these of a run in place of what it had.
pub(crate) fn put(connection: &Connection, run: RunId, given: &Annotations) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM annotation WHERE run = ?1", [run.0])?;
    let tags = given.tags.iter().map(|tag| ("tag", tag.to_string()));
    let note = given.note.iter().map(|note| ("note", note.to_string()));
    let price = given.price.iter().map(|price| ("price", price.to_string()));
    for (kind, text) in tags.chain(note).chain(price) {
        let sql = "INSERT OR IGNORE INTO annotation (run, kind, text) VALUES (?1, ?2, ?3)";
        connection.execute(sql, params![run.0, kind, text])?;
    }
    Ok(())
}

/// What was added to one run, or to each where none is named. What is not as this program writes it is passed over.
pub(crate) fn get(
    connection: &Connection,
    run: Option<RunId>,
    mut order: Rows,
) -> Result<HashMap<RunId, Annotations>, Cause> {
    let which = if run.is_some() { "run = ?1" } else { "?1 IS NULL" };
    let sql = format!("SELECT run, kind, text, rowid FROM annotation WHERE {which} ORDER BY rowid");
    let mut statement = connection.prepare_cached(&sql)?;
    let (mut rows, mut found) = (statement.query([run.map(|run| run.0)])?, HashMap::<RunId, Annotations>::new());
    while let Some(row) = rows.next()? {
        order.next(row.get(3)?, row)?;
        let (kind, text): (String, String) = (row.get(1)?, row.get(2)?);
        let of_run = found.entry(RunId(row.get(0)?)).or_default();
        match kind.as_str() {
            "tag" => of_run.tags.extend(text.parse().ok()),
            "note" => of_run.note = text.parse().ok(),
            _ => of_run.price = text.parse().ok(),
        }
    }
    found.values_mut().for_each(|one| one.tags.sort());
    Ok(found)
}
