//! What a store is made of, in this version and in the earlier ones.
//!
//! A store may come from a stranger. So nothing of it is read before its tables are known to be those that assay makes: a
//! view, a trigger, a virtual table or a generated column would be a program that runs when it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Cause;
use crate::{StoreError, identity};

/// Marks the file as this program's ("assa" in ASCII).
pub(crate) const APPLICATION: i64 = 0x6173_7361;
/// The version of `schema.sql`.
pub(crate) const SCHEMA: i64 = 14;
/// What is made.
const TABLES: &str = include_str!("schema.sql");
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
/// What a store of the tenth version lacks: reading a run looked its simulated drive up.
const FROM_TENTH: &str = "ALTER TABLE run ADD COLUMN capacity_bytes INTEGER; ALTER TABLE run ADD COLUMN drive TEXT;";
/// What a store of the eleventh version lacks: nothing was kept to hold runs against.
const FROM_ELEVENTH: &str = "CREATE TABLE baseline (name TEXT NOT NULL PRIMARY KEY, document TEXT NOT NULL);";
/// What a store of the twelfth version lacks: nobody could add anything to a run.
const FROM_TWELFTH: &str = "CREATE TABLE annotation (
    run INTEGER NOT NULL REFERENCES run (id), kind TEXT NOT NULL CHECK (kind IN ('tag', 'note', 'price')),
    text TEXT NOT NULL, UNIQUE (run, kind, text));";
/// What a store of the thirteenth version lacks: a run was known by its number in its store alone.
const FROM_THIRTEENTH: &str = "ALTER TABLE run ADD COLUMN uuid TEXT; ALTER TABLE run ADD COLUMN group_name TEXT;
    ALTER TABLE run ADD COLUMN whole TEXT; ALTER TABLE run ADD COLUMN shard INTEGER;
    ALTER TABLE run ADD COLUMN shards INTEGER;
    CREATE UNIQUE INDEX run_identified ON run (uuid); CREATE INDEX run_grouped ON run (group_name);
    CREATE INDEX run_joined ON run (whole, shard);";
/// What the stores of the first version lack, then those of the second, and so on.
const STEPS: [&str; 13] = [
    FROM_FIRST,
    FROM_SECOND,
    FROM_THIRD,
    FROM_FOURTH,
    FROM_FIFTH,
    FROM_SIXTH,
    FROM_SEVENTH,
    FROM_EIGHTH,
    FROM_NINTH,
    FROM_TENTH,
    FROM_ELEVENTH,
    FROM_TWELFTH,
    FROM_THIRTEENTH,
];

/// Makes the tables in an empty database.
pub(crate) fn make(connection: &Connection) -> Result<(), Cause> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    Ok(connection.pragma_update(None, "user_version", SCHEMA)?)
}

/// Gives a store of an earlier version what it lacks, unless another process was faster.
pub(crate) fn bring_up_to_date(connection: &mut Connection) -> Result<(), Cause> {
    if version(connection)? == SCHEMA {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (earlier, lacks) in (1..).zip(STEPS) {
        if version(&transaction)? == earlier {
            transaction.execute_batch(lacks)?;
            transaction.pragma_update(None, "user_version", earlier + 1)?;
        }
    }
    identity::complete(&transaction)?;
    Ok(transaction.commit()?)
}

/// Puts before the tables of an earlier version what looks like those of this one, in the connection alone: the file stays
/// as it is.
pub(crate) fn stand_in(connection: &Connection, found: i64) -> Result<(), Cause> {
    let lacking = (1..).zip(STEPS).filter(|(earlier, _)| *earlier >= found).map(|(_, lacks)| lacks);
    let mut columns: BTreeMap<&str, String> = BTreeMap::new();
    for statement in lacking.flat_map(statements) {
        match statement {
            SchemaObject::Column { table, definition } => {
                let name = definition.split(' ').next().unwrap_or_default();
                let value = definition.split_once(" DEFAULT ").map_or("NULL", |(_, value)| value);
                *columns.entry(table).or_default() += &format!(", {value} AS {name}");
            }
            SchemaObject::Object { sql, .. } if sql.starts_with("CREATE TABLE") => {
                connection.execute_batch(&sql.replacen("CREATE TABLE", "CREATE TEMP TABLE", 1))?;
            }
            // What stands before a table has no index, and `Listed` goes without.
            SchemaObject::Object { .. } => {}
        }
    }
    for (table, added) in columns {
        connection.execute_batch(&format!("CREATE TEMP VIEW {table} AS SELECT *{added} FROM main.{table}"))?;
    }
    Ok(())
}

/// Makes sure that a store's tables are those that its version makes, each column as it is made, and nothing else.
pub(crate) fn check(connection: &Connection, version: i64, path: &Path) -> Result<(), Cause> {
    let altered = |what: String| Cause::Said(StoreError::Altered { path: path.to_owned(), what });
    let wanted = wanted(version);
    let mut statement = connection.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut found = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (kind, name, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let is_plain = matches!(&*kind, "table" | "index");
        // What SQLite keeps for itself: counters, statistics, the indices of UNIQUE.
        if is_plain && name.starts_with("sqlite_") && !sql.to_uppercase().contains("VIRTUAL") {
            continue;
        }
        let is_as_made = is_plain && wanted.get(&*name).is_some_and(|wanted| definition(&sql).as_ref() == Some(wanted));
        if !is_as_made {
            let a = if kind == "index" { "an" } else { "a" };
            return Err(altered(format!("it has {a} {kind} `{name}` that is not part of the schema")));
        }
        found.insert(name);
    }
    match wanted.keys().find(|name| !found.contains(**name)) {
        Some(missing) => Err(altered(format!("it has no `{missing}`"))),
        None => Ok(()),
    }
}

/// The version that a store says it is of.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    number(connection, "PRAGMA user_version")
}

/// The number that a question is answered by.
pub(crate) fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// What a statement makes.
enum SchemaObject<'s> {
    /// A table or an index.
    Object { name: &'s str, sql: &'s str },
    /// A column of a table that is there.
    Column { table: &'s str, definition: String },
}

/// What each statement of one of our own texts makes.
fn statements(text: &str) -> impl Iterator<Item = SchemaObject<'_>> {
    let starts = ["CREATE ", "ALTER "].into_iter().flat_map(|word| text.match_indices(word)).map(|(at, _)| at);
    starts.filter_map(|at| {
        let rest = &text[at..];
        let mut words = rest.split_whitespace();
        let (verb, kind, mut name) = (words.next()?, words.next()?, words.next()?);
        if kind == "UNIQUE" {
            name = words.next()?;
        }
        if verb == "ALTER" {
            let (_, definition) = rest.split(';').next()?.split_once(" COLUMN ")?;
            return Some(SchemaObject::Column { table: name, definition: one_line(definition) });
        }
        // Comments inside a table have no such end.
        Some(SchemaObject::Object { name, sql: &rest[..=rest.find(");")?] })
    })
}

/// How a table or an index is made: what stands before its parentheses, and between them the definitions in any order, as
/// columns that were added later stand elsewhere.
type Definition = (String, BTreeSet<String>);

/// The tables and indices of a version.
fn wanted(version: i64) -> BTreeMap<&'static str, Definition> {
    let mut wanted = BTreeMap::new();
    for made in statements(TABLES) {
        if let SchemaObject::Object { name, sql } = made {
            wanted.insert(name, definition(sql).expect("our own text can be read"));
        }
    }
    for made in (1..).zip(STEPS).filter(|(earlier, _)| *earlier >= version).flat_map(|(_, lacks)| statements(lacks)) {
        match made {
            SchemaObject::Object { name, .. } => drop(wanted.remove(name)),
            SchemaObject::Column { table, definition } => {
                let had = wanted.get_mut(table).is_some_and(|(_, columns)| columns.remove(&definition));
                assert!(had, "`{definition}` of {table} stands in schema.sql as it is added");
            }
        }
    }
    wanted
}

/// How a statement makes a table or an index, each part on one line; none if it makes anything that has more to it.
fn definition(sql: &str) -> Option<Definition> {
    let plain: String = sql.lines().map(|line| line.split("--").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let (head, body) = plain.split_once('(')?;
    let (body, tail) = body.rsplit_once(')')?;
    if !tail.trim().is_empty() {
        return None;
    }
    let (mut depth, mut from, mut parts) = (0_i32, 0, BTreeSet::new());
    for (at, letter) in body.char_indices().chain([(body.len(), ',')]) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.insert(one_line(&body[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    Some((one_line(head), parts))
}

/// A text with one blank between its words.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_version_lacks_stands_in_the_newest() {
        assert_eq!(wanted(1).keys().copied().collect::<Vec<_>>(), ["finding", "measurement", "run"]);
        let newest = wanted(SCHEMA);
        let tables = ["annotation", "baseline", "finding", "health", "measurement", "run"];
        let indices = ["run_grouped", "run_identified", "run_joined", "run_listed"];
        let all = [&tables[..], &indices[..], &["trial"]].concat();
        assert_eq!(newest.keys().copied().collect::<Vec<_>>(), all);
        assert!(newest["run"].1.contains("course TEXT") && !wanted(9)["run"].1.contains("course TEXT"));
        assert!(newest["run"].1.contains("state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'failed'))"));
        assert_eq!((&*newest["run_listed"].0, newest["run_listed"].1.len()), ("CREATE INDEX run_listed ON run", 8));
    }

    #[test]
    fn what_looks_like_a_table_of_ours_is_told_from_it() {
        let wanted = &wanted(SCHEMA)["health"];
        let ours = "CREATE TABLE health ( -- as it was\n reading TEXT NOT NULL, run INTEGER NOT NULL REFERENCES run (id),\
            moment TEXT NOT NULL CHECK (moment IN ('before', 'after')), UNIQUE (run, moment))";
        assert_eq!(definition(ours).as_ref(), Some(wanted));
        for (ours_is, theirs) in [
            ("TABLE health", "VIEW health"),
            ("TABLE", "VIRTUAL TABLE"),
            ("reading TEXT NOT NULL", "reading TEXT NOT NULL AS (hex(zeroblob(1e9)))"),
            ("reading TEXT NOT NULL", "reading TEXT NOT NULL, x"),
            ("reading TEXT NOT NULL", "reading /* , */ TEXT NOT NULL"),
            ("moment))", "moment)) WITHOUT ROWID"),
            ("moment))", "moment)) WHERE (1)"),
        ] {
            assert_ne!(definition(&ours.replacen(ours_is, theirs, 1)).as_ref(), Some(wanted), "{theirs}");
        }
    }
}
