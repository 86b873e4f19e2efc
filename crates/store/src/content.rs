//! All that is kept of a run, row by row, as it stands in a store: checked, held against another's, and copied.

use std::collections::{HashMap, HashSet};

use measurement::{Run, RunState};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, Statement, params_from_iter};
use sha2::{Digest as _, Sha256};

use crate::budget::Budget;
use crate::error::Cause;
use crate::{RunId, StoreError, identity, measured, run};

/// The tables with what was found in a run, and what their rows are ordered by. What people added is not among them.
const FOUND: [(&str, &str); 4] = [("measurement", "id"), ("trial", "rowid"), ("health", "rowid"), ("finding", "rowid")];

/// What of a run changes after it has begun.
const CHANGING: [&str; 4] = ["state", "error", "finished_ms", "course"];

/// 256 bits that are the same only for the same content. Source: FIPS 180-4, SHA-256.
pub(crate) type Sum = [u8; 32];

/// What is kept of a run, for comparison.
#[derive(Debug)]
pub(crate) struct Content {
    pub run: Run,
    /// Of all of it but its number and what people added.
    pub sum: Sum,
    /// Of what it began with.
    began: Sum,
    /// Of each measurement and trial, by table, step, cell and repeat.
    repeats: HashMap<(&'static str, String, String, i64), Sum>,
    /// The steps and cells of which there are doubts.
    doubted: HashSet<(String, String)>,
}

impl Content {
    /// Reads all that a store has of a run. What it means is not looked at: it is compared as it stands, and checked where it is
    /// copied.
    pub fn of(connection: &Connection, budget: &Budget, id: RunId) -> Result<Self, Cause> {
        let (mut all, mut began) = (Sha256::new(), Sha256::new());
        let columns = Column::of(connection, "run")?;
        let (run, values) = run_row(connection, &columns, id)?;
        for (column, value) in columns.iter().zip(&values) {
            hash(&mut all, &column.name, value);
            if !CHANGING.contains(&&*column.name) {
                hash(&mut began, &column.name, value);
            }
        }
        let (mut repeats, mut doubted) = (HashMap::new(), HashSet::new());
        let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { String::new() };
        for (table, order) in FOUND {
            let columns = Column::of(connection, table)?;
            let named = |name: &str| columns.iter().position(|column| column.name == name);
            let [step, cell, repeat] = ["step", "cell", "repeat"].map(named);
            each(connection, budget, (table, order), &columns, id, |_, values| {
                let mut one = Sha256::new();
                columns.iter().zip(&values).for_each(|(column, value)| hash(&mut one, &column.name, value));
                let sum: Sum = one.finalize().into();
                all.update(table);
                all.update(sum);
                if let (Some(step), Some(cell)) = (step, cell) {
                    let place = (text(&values[step]), text(&values[cell]));
                    match repeat.map(|repeat| &values[repeat]) {
                        Some(Value::Integer(repeat)) => drop(repeats.insert((table, place.0, place.1, *repeat), sum)),
                        _ => drop(doubted.insert(place)),
                    }
                }
                Ok(())
            })?;
        }
        Ok(Self { run, sum: all.finalize().into(), began: began.finalize().into(), repeats, doubted })
    }

    /// Whether both are of one run: what they began with is the same.
    pub fn began_as(&self, other: &Self) -> bool {
        self.began == other.began
    }

    /// Whether `later` has all that is measured and tried here. A repeat of a cell that is doubted may have been measured again
    /// since: what was cut short is, when a run is resumed.
    pub fn is_within(&self, later: &Self) -> bool {
        let is_doubted = |step: &String, cell: &String| self.doubted.contains(&(step.clone(), cell.clone()));
        self.repeats.iter().all(|(place, sum)| later.repeats.get(place) == Some(sum) || is_doubted(&place.1, &place.2))
    }

    /// How far it has come, for comparison.
    pub fn progress(&self) -> (bool, usize, Option<i64>) {
        (self.run.state == RunState::Complete, self.repeats.len(), self.run.finished_ms)
    }
}

/// Copies all that was found in a run from one store to the run `to` of another, with checks, and its own row where it is not
/// there: the number that it has there. `own` renews the budget of the store that is written.
pub(crate) fn copy(
    (from, budget, id): (&Connection, &Budget, RunId),
    (into, own): (&Connection, impl Fn()),
    to: Option<RunId>,
) -> Result<RunId, Cause> {
    let columns = Column::of(into, "run")?;
    let (_, values) = run_row(from, &columns, id)?;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let to = match to {
        None => {
            insertion(into, "run", &names)?.execute(params_from_iter(values))?;
            RunId(into.last_insert_rowid())
        }
        Some(to) => {
            let set: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
            let sql = format!("UPDATE run SET {} WHERE id = {to}", set.join(", "));
            into.execute(&sql, params_from_iter(values))?;
            FOUND.iter().try_for_each(|(table, _)| {
                into.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [to.0]).map(drop)
            })?;
            to
        }
    };
    for (table, order) in FOUND {
        let columns = Column::of(into, table)?;
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).chain(["run"]).collect();
        let mut insertion = insertion(into, table, &names)?;
        let mut count = 0_u32;
        each(from, budget, (table, order), &columns, id, |row, values| {
            if table == "measurement" {
                measured::stored(row)?;
            }
            // What is written is bounded by what is read.
            if count.is_multiple_of(1024) {
                own();
            }
            count += 1;
            insertion.execute(params_from_iter(values.into_iter().chain([Value::Integer(to.0)])))?;
            Ok(())
        })?;
    }
    Ok(to)
}

/// A column of a table, save what says which row it is.
struct Column {
    name: String,
    kind: String,
    is_needed: bool,
}

impl Column {
    /// The columns of a table of this version, in the order of their names, which is the same in every store.
    fn of(connection: &Connection, table: &str) -> Result<Vec<Self>, Cause> {
        let mut statement = connection.prepare(&format!("PRAGMA table_info({table})"))?;
        let mut columns = statement
            .query_map([], |row| {
                Ok(Self { name: row.get("name")?, kind: row.get("type")?, is_needed: row.get("notnull")? })
            })?
            .collect::<Result<Vec<_>, _>>()?;
        columns.retain(|column| !matches!(&*column.name, "id" | "run"));
        columns.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(columns)
    }

    /// What a row has here, if it is of the column's kind: SQLite keeps anything in any column.
    fn value(&self, row: &Row, table: &'static str) -> Result<Value, Cause> {
        let found = row.get_ref(&*self.name)?;
        let fits = match found {
            ValueRef::Null => !self.is_needed,
            ValueRef::Integer(_) => matches!(&*self.kind, "INTEGER" | ""),
            ValueRef::Real(_) => matches!(&*self.kind, "REAL" | ""),
            ValueRef::Text(_) => matches!(&*self.kind, "TEXT" | ""),
            ValueRef::Blob(_) => matches!(&*self.kind, "BLOB" | ""),
        };
        match fits {
            true => Ok(row.get(&*self.name)?),
            false => Err(StoreError::WrongType { table, column: self.name.clone() }.into()),
        }
    }
}

/// The row of a run, checked, with the values of these columns.
fn run_row(connection: &Connection, columns: &[Column], id: RunId) -> Result<(Run, Vec<Value>), Cause> {
    let mut statement = connection.prepare("SELECT * FROM run WHERE id = ?1")?;
    let mut rows = statement.query([id.0])?;
    let Some(row) = rows.next()? else { return Err(StoreError::NoSuchRun { run: id, newest: None }.into()) };
    let value = |column: &Column| match &*column.name {
        "uuid" => Ok(Value::Text(identity::of_row(row)?.to_string())),
        _ => column.value(row, "run"),
    };
    let whole = identity::uuid(row, "whole")?;
    if whole.is_some() && whole != identity::of_whole(row).ok() {
        return Err(StoreError::WrongType { table: "run", column: "whole".to_owned() }.into());
    }
    Ok((run::of_row(row)?, columns.iter().map(value).collect::<Result<_, Cause>>()?))
}

/// Hands on each row of a run with what these columns have in it.
fn each(
    connection: &Connection,
    budget: &Budget,
    (table, order): (&'static str, &str),
    columns: &[Column],
    id: RunId,
    mut take: impl FnMut(&Row, Vec<Value>) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let mut rows_in_order = budget.rows(table);
    let number = if order == "id" { String::new() } else { format!(", {order} AS id") };
    let sql = measured::in_order(&format!("*{number}"), table, order);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([id.0])?;
    while let Some(row) = rows.next()? {
        rows_in_order.next(row.get("id")?, row)?;
        take(row, columns.iter().map(|column| column.value(row, table)).collect::<Result<_, _>>()?)?;
    }
    Ok(())
}

fn insertion<'c>(into: &'c Connection, table: &str, names: &[&str]) -> rusqlite::Result<Statement<'c>> {
    let marks = vec!["?"; names.len()].join(", ");
    into.prepare(&format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", ")))
}

/// Adds a value under its name. What is null adds nothing, so that a column which later versions add changes no sum.
fn hash(sum: &mut Sha256, name: &str, value: &Value) {
    let mut add = |kind: u8, bytes: &[u8]| {
        sum.update([kind, name.len() as u8]);
        sum.update(name);
        sum.update((bytes.len() as u64).to_le_bytes());
        sum.update(bytes);
    };
    match value {
        Value::Null => {}
        Value::Integer(number) => add(1, &number.to_le_bytes()),
        Value::Real(number) => add(2, &number.to_bits().to_le_bytes()),
        Value::Text(text) => add(3, text.as_bytes()),
        Value::Blob(bytes) => add(4, bytes),
    }
}
