//! What a run is in every store that has it.

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use crate::error::Cause;

/// The name space of UUIDs that are made from what a run began with; itself drawn at random once.
const NAMES: Uuid = Uuid::from_u128(0x6d4f_0d5c_92a1_4a7e_8c35_61b7_0f0e_a941);

/// A UUID for a run that begins.
pub(crate) fn new() -> Uuid {
    Uuid::new_v4()
}

/// The UUID of a row; of a run of before there were any, one made from its number and what it began with, which is the
/// same in every copy of its store.
pub(crate) fn of_row(row: &Row) -> rusqlite::Result<Uuid> {
    uuid(row, "uuid")?.map_or_else(|| derived(row), Ok)
}

/// The UUID that a column holds, if it holds one.
pub(crate) fn uuid(row: &Row, column: &str) -> rusqlite::Result<Option<Uuid>> {
    let at = row.as_ref().column_index(column)?;
    let unlike = |error| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(error));
    row.get::<_, Option<String>>(at)?.map(|text| Uuid::try_parse(&text).map_err(unlike)).transpose()
}

/// The UUID of the run that is made of shards such as the one of this row: the same wherever the same is begun, and another
/// where any of it differs.
pub(crate) fn of_whole(row: &Row) -> rusqlite::Result<Uuid> {
    const SAME: [&str; 17] = [
        "plan",
        "plan_text",
        "quick",
        "simulated",
        "target",
        "target_identity",
        "target_fingerprint",
        "direct",
        "size_bytes",
        "capacity_bytes",
        "drive",
        "seed",
        "repeats",
        "version",
        "git_commit",
        "group_name",
        "shards",
    ];
    let fact = |column: &str| {
        Ok(match row.get_ref(column)? {
            ValueRef::Integer(number) => serde_json::Value::from(number),
            ValueRef::Text(text) => serde_json::Value::from(String::from_utf8_lossy(text)),
            _ => serde_json::Value::Null,
        })
    };
    Ok(of(SAME.into_iter().map(fact).collect::<rusqlite::Result<Vec<_>>>()?))
}

/// Gives every run its UUID that has none.
pub(crate) fn complete(connection: &Connection) -> Result<(), Cause> {
    let mut statement = connection.prepare("SELECT * FROM run WHERE uuid IS NULL ORDER BY id")?;
    let (mut rows, mut found) = (statement.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        found.push((row.get::<_, i64>("id")?, derived(row)?));
    }
    for (id, uuid) in found {
        connection.execute("UPDATE run SET uuid = ?2 WHERE id = ?1", params![id, uuid.to_string()])?;
    }
    Ok(())
}

fn derived(row: &Row) -> rusqlite::Result<Uuid> {
    let text = |column| row.get::<_, String>(column);
    let plan = (text("plan")?, text("plan_text")?, row.get::<_, i64>("quick")?, text("seed")?);
    let target = (text("target")?, text("target_identity")?, row.get::<_, Option<i64>>("size_bytes")?);
    let program = (text("version")?, text("git_commit")?, text("environment")?);
    Ok(of((row.get::<_, i64>("id")?, row.get::<_, i64>("started_ms")?, plan, target, program)))
}

/// A UUID that is the same wherever the facts are.
fn of(facts: impl serde::Serialize) -> Uuid {
    let facts = serde_json::to_vec(&facts).expect("names and numbers always serialise");
    Uuid::new_v5(&NAMES, &facts)
}
