//! Runs that are made of shards: which shards are here, and what they make together.
//!
//! Shards stay as they are, each a run. The whole has a row of its own from when stores are merged, and no measurements: what
//! is asked of it is answered from the best of each shard, so that it does not matter in which order they came.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;

use measurement::{RunId, RunState, Sharding};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::error::Cause;
use crate::{identity, run};

/// A shard that is here.
struct Member {
    run: RunId,
    state: RunState,
}

/// The shards that are here of a whole, by their numbers: of those that are here several times the one that is complete, or else
/// has most.
fn members(connection: &Connection, whole: Uuid, count: u32) -> Result<BTreeMap<u32, Member>, Cause> {
    members_within(connection, whole, count, 1..=count)
}

/// The same of these numbers.
fn members_within(
    connection: &Connection,
    whole: Uuid,
    count: u32,
    numbers: RangeInclusive<u32>,
) -> Result<BTreeMap<u32, Member>, Cause> {
    let sql =
        "SELECT id, shard, state FROM run WHERE whole = ?1 AND shards = ?2 AND shard BETWEEN ?3 AND ?4 ORDER BY uuid";
    let mut statement = connection.prepare_cached(sql)?;
    let asked = params![whole.to_string(), count, numbers.start(), numbers.end()];
    let (mut rows, mut members) = (statement.query(asked)?, BTreeMap::new());
    while let Some(row) = rows.next()? {
        let number: u32 = row.get(1)?;
        let new = Member { run: RunId(row.get(0)?), state: run::state_of(&row.get::<_, String>(2)?) };
        match members.entry(number) {
            Entry::Vacant(vacant) => drop(vacant.insert(new)),
            // What they have is counted only where there are several: it takes a look at all of it.
            Entry::Occupied(mut known) if new.standing(connection)? > known.get().standing(connection)? => {
                known.insert(new);
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(members)
}

impl Member {
    /// How far it came, for comparison with another attempt.
    fn standing(&self, connection: &Connection) -> rusqlite::Result<(bool, i64)> {
        let sql =
            "SELECT (SELECT count(*) FROM measurement WHERE run = ?1) + (SELECT count(*) FROM trial WHERE run = ?1)";
        let mut statement = connection.prepare_cached(sql)?;
        Ok((self.state == RunState::Complete, statement.query_row([self.run.0], |row| row.get(0))?))
    }
}

/// Enters what the shards that are here make together, of which `new` has just come, where one has.
pub(crate) fn refresh(connection: &Connection, whole: Uuid, new: Option<RunId>) -> Result<(), Cause> {
    // The same of all, as it is a part of the whole's UUID.
    let sql = "SELECT shards FROM run WHERE whole = ?1 LIMIT 1";
    let count: Option<u32> = connection.query_row(sql, [whole.to_string()], |row| row.get(0)).optional()?;
    let facts = |row: &Row| Ok((row.get::<_, u32>(0)?, row.get::<_, Option<u32>>(1)?));
    let sql = "SELECT count(DISTINCT shard), min(shard) FROM run WHERE whole = ?1";
    let (present, least) = connection.query_row(sql, [whole.to_string()], facts)?;
    let is_whole = count == Some(present);
    // Nearly all of many shards come while others are missing. Then nothing but the first of them is read.
    let members = match (count, least) {
        (Some(count), _) if is_whole => members_within(connection, whole, count, 1..=count)?,
        (Some(count), Some(least)) => members_within(connection, whole, count, least..=least)?,
        _ => Default::default(),
    };
    let (Some(count), Some(first)) = (count, members.values().next()) else {
        connection
            .execute("DELETE FROM run WHERE uuid = ?1 AND whole IS NULL AND shards IS NOT NULL", [whole.to_string()])?;
        return Ok(());
    };
    let is_new = connection.execute(
        "INSERT INTO run (plan, plan_text, quick, target, target_identity, size_bytes, seed, repeats, state, started_ms, \
         version, git_commit, environment, direct, target_fingerprint, simulated, capacity_bytes, drive, group_name, uuid, \
         shards) SELECT plan, plan_text, quick, target, target_identity, size_bytes, seed, repeats, 'running', started_ms, \
         version, git_commit, environment, direct, target_fingerprint, simulated, capacity_bytes, drive, group_name, ?2, \
         shards FROM run WHERE id = ?1 ON CONFLICT (uuid) DO NOTHING",
        params![first.run.0, whole.to_string()],
    )? > 0;
    let is_complete = is_whole && is_complete(&members, count);
    let state = if is_complete { RunState::Complete } else { RunState::Running };
    // When the others began is known already.
    let new = new.filter(|_| !is_whole && !is_new).map(|run| run.0);
    connection.execute(
        "UPDATE run SET state = ?2, started_ms = CASE WHEN ?5 IS NULL THEN (SELECT min(started_ms) FROM run WHERE whole = ?1) \
         ELSE (SELECT min(run.started_ms, new.started_ms) FROM run AS new WHERE new.id = ?5) END, \
         finished_ms = CASE WHEN ?3 THEN (SELECT max(finished_ms) FROM run WHERE whole = ?1) END, \
         environment = (SELECT environment FROM run WHERE id = ?4) \
         WHERE uuid = ?1 AND whole IS NULL AND shards IS NOT NULL",
        params![whole.to_string(), run::state_name(state), is_complete, first.run.0, new],
    )?;
    Ok(())
}

fn is_complete(members: &BTreeMap<u32, Member>, count: u32) -> bool {
    members.len() == count as usize && members.values().all(|member| member.state == RunState::Complete)
}

/// The whole that this run is, and of how many shards; none if it is not made of shards.
fn of_run(connection: &Connection, id: RunId) -> Result<Option<(Uuid, u32)>, Cause> {
    let mut statement = connection.prepare_cached("SELECT * FROM run WHERE id = ?1 AND shards IS NOT NULL")?;
    let mut rows = statement.query([id.0])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    match run::sharding(row)? {
        Some(Sharding::Whole { count }) => Ok(Some((identity::of_row(row)?, count))),
        _ => Ok(None),
    }
}

/// The runs that have what was measured in this one: its shards that are here, or itself.
pub(crate) fn runs(connection: &Connection, id: RunId) -> Result<Vec<RunId>, Cause> {
    match of_run(connection, id)? {
        Some((whole, count)) => Ok(members(connection, whole, count)?.into_values().map(|member| member.run).collect()),
        None => Ok(vec![id]),
    }
}

/// Every run that is a shard of this one, those among them that are here several times; none where it is not made of shards.
pub(crate) fn all_shards(connection: &Connection, id: RunId) -> Result<Vec<RunId>, Cause> {
    let Some((whole, _)) = of_run(connection, id)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached("SELECT id FROM run WHERE whole = ?1")?;
    let ids = statement.query_map([whole.to_string()], |row| row.get(0).map(RunId))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// What a whole lacks, in a sentence; none if it lacks nothing, and of every other run.
pub(crate) fn lack(connection: &Connection, id: RunId) -> Result<Option<String>, Cause> {
    let Some((whole, count)) = of_run(connection, id)? else { return Ok(None) };
    let members = members(connection, whole, count)?;
    if is_complete(&members, count) {
        return Ok(None);
    }
    let missing: Vec<u32> = (1..=count).filter(|number| !members.contains_key(number)).collect();
    let unfinished = members.iter().filter(|(_, member)| member.state != RunState::Complete);
    let unfinished: Vec<u32> = unfinished.map(|(number, _)| *number).collect();
    let said = [(missing, "missing"), (unfinished, "not complete")];
    let said = said.into_iter().filter(|(numbers, _)| !numbers.is_empty()).map(|(numbers, what)| match &numbers[..] {
        [one] => format!("shard {one} of {count} is {what}"),
        _ => format!("shards {} of {count} are {what}", spans(&numbers)),
    });
    let said = said.collect::<Vec<_>>().join(", ");
    Ok(Some(format!("The run is not complete: {said}; merge the stores that have them.")))
}

/// `1, 3–5` for numbers in their order.
fn spans(numbers: &[u32]) -> String {
    let spans = numbers.chunk_by(|one, next| one + 1 == *next).map(|span| match span {
        [one] => one.to_string(),
        [one, .., last] => format!("{one}–{last}"),
        [] => String::new(),
    });
    spans.collect::<Vec<_>>().join(", ")
}

/// The whole that a run is a shard of.
pub(crate) fn of_shard(connection: &Connection, id: RunId) -> Result<Option<Uuid>, Cause> {
    let mut statement = connection.prepare_cached("SELECT * FROM run WHERE id = ?1")?;
    let mut rows = statement.query([id.0])?;
    rows.next()?.map_or(Ok(None), |row| Ok(identity::uuid(row, "whole")?))
}

/// Whether the row of the whole is here.
pub(crate) fn is_joined(connection: &Connection, whole: Uuid) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM run WHERE uuid = ?1 AND shards IS NOT NULL)",
        [whole.to_string()],
        |row| row.get(0),
    )
}
