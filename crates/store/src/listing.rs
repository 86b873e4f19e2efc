//! Runs in a list: some of many, found without reading the plans and environments that are kept with them.
//!
//! All that is asked here is answered from the index `run_listed` alone. It begins with the number of the run, so the
//! latest come first without being sorted, and a page of a list ends the search.

use measurement::{Counted, Filter, KnownDrive, Listed, Run};
use rusqlite::{Row, ToSql};

use crate::error::Cause;
use crate::run::{group_name, moment, plan_name, state_name, state_of};
use crate::{RunId, RunState, Store, StoreError, whole};

const TEXT: &str = "(plan || ' ' || target || ' ' || target_identity)";

/// Shards of a run that is listed itself.
const JOINED: &str = "id IN (SELECT part.id FROM run AS part WHERE part.whole IS NOT NULL AND EXISTS \
                      (SELECT 1 FROM run AS joined WHERE joined.uuid = part.whole AND joined.shards IS NOT NULL))";

/// The serial number of the drive that a run was on. A file is no drive: what holds it holds others too. What a stranger's file has
/// in place of JSON has none.
const SERIAL: &str = "CASE WHEN json_valid(environment) AND json_extract(environment, '$.file_system') IS NULL \
    THEN nullif(CAST(json_extract(environment, '$.device.serial') AS TEXT), '') END";

/// What tells drives apart that have no serial number. The first specimen of a simulated drive has two names.
const MODEL: &str = "CASE WHEN target LIKE 'sim:%#1' THEN substr(target, 1, length(target) - 2) ELSE target END";

/// The condition of a filter in SQL, with what stands for its question marks. Of the runs that the store has as running, these
/// are carried out by a process.
fn sql(filter: &Filter, owned: &[RunId]) -> (String, Vec<Box<dyn ToSql>>) {
    let (mut sql, mut values): (String, Vec<Box<dyn ToSql>>) = ("TRUE".into(), Vec::new());
    for word in &filter.words {
        let escaped: String =
            word.chars().flat_map(|c| matches!(c, '\\' | '%' | '_').then_some('\\').into_iter().chain([c])).collect();
        sql += &format!(" AND ({TEXT} LIKE ? ESCAPE '\\' OR CAST(id AS TEXT) = ?)");
        values.push(Box::new(format!("%{escaped}%")));
        values.push(Box::new(word.clone()));
    }
    if let Some(state @ (RunState::Running | RunState::Interrupted)) = filter.state {
        let owned: Vec<String> = owned.iter().map(ToString::to_string).collect();
        let not = if state == RunState::Running { "" } else { "NOT " };
        sql += &format!(" AND id {not}IN ({})", owned.join(","));
    }
    let state = filter.state.map(|state| state_name(state).to_owned());
    let columns =
        [("target", &filter.target), ("target_identity", &filter.model), ("plan", &filter.plan), ("state", &state)];
    for (column, value) in columns {
        if let Some(value) = value {
            sql += &format!(" AND {column} = ?");
            values.push(Box::new(value.clone()));
        }
    }
    // What a stranger's file has in place of JSON has no host.
    for (place, value) in [("hostname", &filter.host), ("device.serial", &filter.serial)] {
        if let Some(value) = value {
            sql +=
                &format!(" AND CASE WHEN json_valid(environment) THEN json_extract(environment, '$.{place}') END = ?");
            values.push(Box::new(value.clone()));
        }
    }
    if let Some(tag) = &filter.tag {
        sql += " AND id IN (SELECT note.run FROM annotation AS note WHERE note.kind = 'tag' AND note.text = ?)";
        values.push(Box::new(tag.clone()));
    }
    if let Some(group) = &filter.group {
        sql += " AND id IN (SELECT member.id FROM run AS member WHERE member.group_name = ?)";
        values.push(Box::new(group.clone()));
    }
    (sql, values)
}

impl Store {
    /// The runs by their index, where there is one.
    const fn listed_runs(&self) -> &'static str {
        if self.has_index { "run AS listed INDEXED BY run_listed" } else { "run AS listed" }
    }

    /// The condition of a filter, without shards of a run that is listed itself. Which runs are carried out is asked only where
    /// it matters.
    fn condition(&self, filter: &Filter) -> Result<(String, Vec<Box<dyn ToSql>>), StoreError> {
        let owned = match filter.state {
            Some(RunState::Running | RunState::Interrupted) => self.read(|connection| {
                let of = format!("SELECT id FROM {} WHERE state = 'running'", self.listed_runs());
                let mut statement = connection.prepare(&of)?;
                let all = statement.query_map([], |row| row.get(0).map(RunId))?.collect::<Result<Vec<_>, _>>()?;
                Ok(all.into_iter().filter(|run| self.told(*run).is_some()).collect())
            })?,
            _ => Vec::new(),
        };
        let (sql, values) = sql(filter, &owned);
        // Stores of earlier versions have no shards.
        Ok(if self.has_index { (format!("{sql} AND NOT {JOINED}"), values) } else { (sql, values) })
    }

    /// The wanted runs, the latest first: `most` of them after the first `skip`.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn listed(&self, filter: &Filter, skip: u64, most: u64) -> Result<Vec<Listed>, StoreError> {
        let (condition, mut values) = self.condition(filter)?;
        values.push(Box::new(most as i64));
        values.push(Box::new(skip as i64));
        let sql = format!(
            "SELECT id, plan, quick, target, target_identity, state, started_ms, finished_ms, \
             (SELECT one.group_name FROM run AS one WHERE one.id = listed.id) AS group_name FROM {} WHERE {condition} ORDER BY id DESC LIMIT ? OFFSET ?",
            self.listed_runs()
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let (mut order, mut listed) = (self.budget.rows("run"), Vec::new());
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                let mut run = listed_of(row)?;
                run.state = self.state(run.id, run.state);
                // The latest comes first.
                order.next(run.id.0.saturating_neg(), row)?;
                listed.push(run);
            }
            Ok(listed)
        })
    }

    /// The wanted runs in full, the latest first: `most` of them after the first `skip`.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn wanted(&self, filter: &Filter, skip: u64, most: u64) -> Result<Vec<Run>, StoreError> {
        self.listed(filter, skip, most)?.iter().map(|listed| self.run(listed.id)).collect()
    }

    /// How many runs are wanted.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        let (condition, values) = self.condition(filter)?;
        let sql = format!("SELECT count(*) FROM {} WHERE {condition}", self.listed_runs());
        self.read(|connection| {
            let count: i64 = connection.query_row(&sql, rusqlite::params_from_iter(values), |row| row.get(0))?;
            Ok(count as u64)
        })
    }

    /// The drives of the wanted runs, that of the latest run first: `most` of them. Each specimen of a simulated drive
    /// is a drive, and so is a file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn drives(&self, filter: &Filter, most: u64) -> Result<Vec<KnownDrive>, StoreError> {
        let (condition, mut values) = self.condition(filter)?;
        values.push(Box::new(most as i64));
        // What stands beside a max() is of the row that has it.
        let sql = format!(
            "SELECT max(id) AS id, count(*) AS runs, serial, target, target_identity, started_ms FROM (\
             SELECT id, target, target_identity, started_ms, {SERIAL} AS serial FROM {} WHERE {condition}) \
             GROUP BY serial, CASE WHEN serial IS NULL THEN {MODEL} END ORDER BY 1 DESC LIMIT ?",
            self.listed_runs()
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let drive = |row: &Row| {
                Ok(KnownDrive {
                    serial: row.get("serial")?,
                    target: row.get("target")?,
                    model: row.get("target_identity")?,
                    latest: RunId(row.get("id")?),
                    started_ms: moment(row, "started_ms")?.unwrap_or_default(),
                    runs: row.get::<_, i64>("runs")? as u64,
                })
            };
            let rows = statement.query_map(rusqlite::params_from_iter(values), drive)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What was run on, that of the latest run first: `most` of them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn targets(&self, most: u64) -> Result<Vec<Counted>, StoreError> {
        self.read(|connection| counted(connection, self.listed_runs(), "target", most))
    }

    /// The plans that were followed, that of the latest run first: `most` of them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn plans(&self, most: u64) -> Result<Vec<Counted>, StoreError> {
        self.read(|connection| counted(connection, self.listed_runs(), "plan", most))
    }

    /// How many repeats are kept of each step of a run that has any, whether they were measured or tried.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn kept(&self, run: RunId) -> Result<Vec<(String, u64)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT step, count(*) FROM measurement WHERE run = ?1 GROUP BY step \
                 UNION ALL SELECT step, count(*) FROM trial WHERE run = ?1 GROUP BY step",
            )?;
            let mut kept: Vec<(String, u64)> = Vec::new();
            for run in whole::runs(connection, run)? {
                let mut rows = statement.query([run.0])?;
                while let Some(row) = rows.next()? {
                    let (step, count): (String, i64) = (row.get(0)?, row.get(1)?);
                    match kept.iter_mut().find(|(known, _)| *known == step) {
                        Some((_, sum)) => *sum += count as u64,
                        None => kept.push((step, count as u64)),
                    }
                }
            }
            Ok(kept)
        })
    }
}

/// The values of a column, that of the latest run first, with how many runs have each.
fn counted(connection: &rusqlite::Connection, runs: &str, column: &str, most: u64) -> Result<Vec<Counted>, Cause> {
    let sql = format!("SELECT {column}, count(*) FROM {runs} GROUP BY {column} ORDER BY max(id) DESC LIMIT ?1");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement
        .query_map([most as i64], |row| Ok(Counted { name: row.get(0)?, runs: row.get::<_, i64>(1)? as u64 }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn listed_of(row: &Row) -> rusqlite::Result<Listed> {
    let state: String = row.get(5)?;
    Ok(Listed {
        id: RunId(row.get(0)?),
        plan: plan_name(row)?,
        quick: row.get(2)?,
        target: row.get(3)?,
        target_identity: row.get(4)?,
        state: state_of(&state),
        started_ms: moment(row, "started_ms")?.unwrap_or_default(),
        finished_ms: moment(row, "finished_ms")?,
        group: group_name(row)?,
    })
}
