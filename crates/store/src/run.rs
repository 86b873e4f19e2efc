//! A run as it is kept.

use block::{Bytes, Seed};
use measurement::{Annotations, Run, RunId, RunState, Shard, Sharding};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

use crate::{annotation, identity};

/// What is known of a run when it begins; see [`Run`] for what each means, and [`Store::drive`](crate::Store::drive).
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "`Run` says what they are")]
pub struct NewRun {
    pub plan: String,
    pub plan_text: String,
    pub quick: bool,
    pub simulated: bool,
    pub target: String,
    pub target_identity: String,
    pub target_fingerprint: Option<String>,
    pub direct: bool,
    pub size: Option<Bytes>,
    pub capacity: Option<Bytes>,
    pub drive: Option<String>,
    pub seed: Seed,
    pub repeats: Option<u32>,
    pub started_ms: i64,
    pub version: String,
    pub commit: String,
    pub environment: String,
    pub annotations: Annotations,
    pub group: Option<String>,
    /// Which part of the run this is, where it is carried out in parts.
    pub shard: Option<Shard>,
}

/// Enters a run that begins.
pub(crate) fn insert(connection: &Connection, run: &NewRun) -> rusqlite::Result<RunId> {
    connection.execute(
        "INSERT INTO run (plan, plan_text, quick, target, target_identity, size_bytes, seed, repeats, state, \
         started_ms, version, git_commit, environment, direct, target_fingerprint, simulated, capacity_bytes, drive, uuid, \
         group_name, shard, shards) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running', ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
         ?18, ?19, ?20, ?21)",
        params![
            run.plan,
            run.plan_text,
            run.quick,
            run.target,
            run.target_identity,
            run.size.map(|size| size.get() as i64),
            run.seed.to_string(),
            run.repeats,
            run.started_ms,
            run.version,
            run.commit,
            run.environment,
            run.direct,
            run.target_fingerprint,
            run.simulated,
            run.capacity.map(|capacity| capacity.get() as i64),
            run.drive,
            identity::new().to_string(),
            run.group,
            run.shard.map(Shard::number),
            run.shard.map(Shard::count),
        ],
    )?;
    let id = RunId(connection.last_insert_rowid());
    if run.shard.is_some() {
        let whole = connection.query_row("SELECT * FROM run WHERE id = ?1", [id.0], identity::of_whole)?;
        connection.execute("UPDATE run SET whole = ?2 WHERE id = ?1", params![id.0, whole.to_string()])?;
    }
    annotation::put(connection, id, &run.annotations)?;
    Ok(id)
}

/// Every table with something of a run, the run itself last.
const TABLES: [(&str, &str); 6] = [
    ("measurement", "run"),
    ("trial", "run"),
    ("health", "run"),
    ("finding", "run"),
    ("annotation", "run"),
    ("run", "id"),
];

/// Removes all that is kept of a run; whether there was one.
pub(crate) fn remove(connection: &Connection, run: RunId) -> rusqlite::Result<bool> {
    let remove = |(table, column)| connection.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [run.0]);
    TABLES.into_iter().map(remove).try_fold(false, |_, removed| Ok(removed? > 0))
}

/// The run of a row with all columns; what people added to it is elsewhere.
pub(crate) fn of_row(row: &Row) -> rusqlite::Result<Run> {
    let state: String = row.get("state")?;
    Ok(Run {
        id: RunId(row.get("id")?),
        plan: plan_name(row)?,
        plan_text: row.get("plan_text")?,
        quick: row.get("quick")?,
        simulated: row.get("simulated")?,
        target: row.get("target")?,
        target_identity: row.get("target_identity")?,
        target_fingerprint: row.get("target_fingerprint")?,
        direct: row.get("direct")?,
        size: some_bytes(row, "size_bytes")?,
        capacity: some_bytes(row, "capacity_bytes")?,
        seed: seed_of(row)?,
        repeats: row.get("repeats")?,
        state: state_of(&state),
        error: row.get("error")?,
        started_ms: moment(row, "started_ms")?.unwrap_or_default(),
        finished_ms: moment(row, "finished_ms")?,
        version: row.get("version")?,
        commit: row.get("git_commit")?,
        environment: row.get("environment")?,
        annotations: Annotations::default(),
        uuid: identity::of_row(row)?,
        group: group_name(row)?,
        sharding: sharding(row)?,
    })
}

/// What a row says of shards.
pub(crate) fn sharding(row: &Row) -> rusqlite::Result<Option<Sharding>> {
    let (number, count): (Option<u32>, Option<u32>) = (row.get("shard")?, row.get("shards")?);
    let Some(count) = count else { return Ok(None) };
    let wrong = |number: u32| {
        let column = row.as_ref().column_index("shards").unwrap_or_default();
        rusqlite::Error::IntegralValueOutOfRange(column, number.into())
    };
    let Some(of) = identity::uuid(row, "whole")? else {
        let whole = Shard::new(1, count).map(|_| Sharding::Whole { count });
        return whole.map(Some).ok_or_else(|| wrong(count));
    };
    let shard = Shard::new(number.unwrap_or_default(), count).ok_or_else(|| wrong(count))?;
    Ok(Some(Sharding::Shard { of, shard }))
}

/// The longest name of a plan or a group. A plan's own rule is 64 letters, digits and hyphens; a few more may have been
/// meant once.
const NAME_MAX: usize = 128;

/// The word for a state in a store. Only a lock tells a run that is carried out from one that was cut off.
pub(crate) const fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running | RunState::Interrupted => RunState::Running.name(),
        over => over.name(),
    }
}

/// The state of this word, as far as the word tells it.
pub(crate) fn state_of(word: &str) -> RunState {
    RunState::named(word).unwrap_or(RunState::Running)
}

/// The name of a run's plan, which becomes a part of files' names.
pub(crate) fn plan_name(row: &Row) -> rusqlite::Result<String> {
    let (column, name) = (row.as_ref().column_index("plan")?, row.get::<_, String>("plan")?);
    if name.len() > NAME_MAX || name.contains(|c: char| c == '/' || c.is_control()) {
        let words = "the name of a plan is short and holds no `/`".into();
        return Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, words));
    }
    Ok(name)
}

/// The name of a run's group.
pub(crate) fn group_name(row: &Row) -> rusqlite::Result<Option<String>> {
    let (column, name) = (row.as_ref().column_index("group_name")?, row.get::<_, Option<String>>("group_name")?);
    if name.as_ref().is_some_and(|name| name.len() > NAME_MAX || name.contains(char::is_control)) {
        let words = "the name of a group is one line of at most 128 bytes".into();
        return Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, words));
    }
    Ok(name)
}

/// The most that any count of requests or bytes can be: 2 EiB, of which a few can be added up.
const FIGURE_MAX: i64 = 1 << 61;
/// The last millisecond of the year 9999, since 1970.
const MOMENT_MAX: i64 = 253_402_300_799_999;

/// A count of a row.
pub(crate) fn figure(row: &Row, column: &str) -> rusqlite::Result<u64> {
    let (at, number) = (row.as_ref().column_index(column)?, row.get::<_, i64>(column)?);
    let in_range = u64::try_from(number).ok().filter(|_| number <= FIGURE_MAX);
    in_range.ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number))
}

/// An amount of data of a row, where it has one.
fn some_bytes(row: &Row, column: &str) -> rusqlite::Result<Option<Bytes>> {
    row.get::<_, Option<i64>>(column)?.map(|_| figure(row, column)).transpose().map(|bytes| bytes.map(Bytes::new))
}

/// When something was, in milliseconds since 1970-01-01 UTC.
pub(crate) fn moment(row: &Row, column: &str) -> rusqlite::Result<Option<i64>> {
    let (at, number) = (row.as_ref().column_index(column)?, row.get::<_, Option<i64>>(column)?);
    match number.filter(|number| !(0..=MOMENT_MAX).contains(number)) {
        Some(wrong) => Err(rusqlite::Error::IntegralValueOutOfRange(at, wrong)),
        None => Ok(number),
    }
}

/// Seeds are kept as text; SQLite's integers have a sign.
fn seed_of(row: &Row) -> rusqlite::Result<Seed> {
    let (column, text) = (row.as_ref().column_index("seed")?, row.get::<_, String>("seed")?);
    let unlike = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    text.parse().map(Seed::new).map_err(unlike)
}
