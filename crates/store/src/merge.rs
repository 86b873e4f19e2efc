//! Runs of other stores, taken into this one: each once, whole or not at all.
//!
//! A run is known by its UUID. The same content changes nothing, so that whatever was interrupted is simply done again. Of two
//! states of one run the one that has come further stays; two contents of which neither is a later state of the other are
//! refused, and what was here stays.

use std::collections::BTreeSet;

use measurement::{Annotations, RunNote, Sharding};
use rusqlite::OptionalExtension;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::content::{self, Content};
use crate::error::Cause;
use crate::owner::Owner;
use crate::{RunId, Store, StoreError, annotation, whole};

/// What became of a run that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Merged {
    /// It is new here.
    Added(RunId),
    /// An earlier state of it was here, and made room.
    Continued(RunId),
    /// It was here already, as far or further.
    Known(RunId),
}

impl Store {
    /// Takes over a run of another store with all that is kept of it, in one transaction. What people added here stays, and what
    /// they added there comes to it. Of a run that is made of shards, which come by themselves, only that is taken.
    ///
    /// # Errors
    /// If either cannot be read or this one not written, the run there is damaged, a process carries it out here, or what is
    /// here under its UUID is another run.
    pub fn merge(&mut self, from: &Self, run: RunId) -> Result<Merged, StoreError> {
        let theirs = from.run(run)?;
        let path = self.path().to_owned();
        let budget = &self.budget;
        let renew = || budget.renew(&path);
        renew();
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(|error| Cause::from(error).at(&path))?;
        let done = || -> Result<Merged, Cause> {
            let into = &transaction;
            let found = find(into, theirs.uuid)?;
            let merged = match (theirs.sharding, found) {
                (Some(Sharding::Whole { .. }), Some(here)) => Merged::Known(here),
                (Some(Sharding::Whole { .. }), None) => {
                    // Its shards bring it with them.
                    return Err(StoreError::ShardsFirst { run }.into());
                }
                (_, None) => Merged::Added(
                    from.snapshot(|source| content::copy((source, &from.budget, run), (into, renew), None))?,
                ),
                (_, Some(here)) => {
                    let there = from.snapshot(|source| Content::of(source, &from.budget, run))?;
                    let ours = Content::of(into, budget, here)?;
                    if goes_on(&ours, &there)? {
                        let _owner = Owner::of(here, &path)?;
                        from.snapshot(|source| content::copy((source, &from.budget, run), (into, renew), Some(here)))?;
                        Merged::Continued(here)
                    } else {
                        Merged::Known(here)
                    }
                }
            };
            let (Merged::Added(here) | Merged::Continued(here) | Merged::Known(here)) = merged;
            let had = annotation::get(into, Some(here), budget.rows("annotation"))?.remove(&here).unwrap_or_default();
            let both = union(&had, &theirs.annotations);
            if both != had {
                annotation::put(into, here, &both)?;
            }
            if let Some(Sharding::Shard { of, .. }) = theirs.sharding {
                whole::refresh(into, of, Some(here))?;
            }
            Ok(merged)
        };
        let merged = done().map_err(|cause| cause.at(&path))?;
        transaction.commit().map_err(|error| Cause::from(error).at(&path))?;
        Ok(merged)
    }

    /// The runs to offer to another store, the oldest first: those that are made of shards after all others.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn offered(&self) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id FROM run ORDER BY (whole IS NULL AND shards IS NOT NULL), id";
            let mut statement = connection.prepare(sql)?;
            let ids = statement.query_map([], |row| row.get(0).map(RunId))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// The shards that are here of a run that is made of shards, by their numbers; of any other run itself.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn shards(&self, run: RunId) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| whole::runs(connection, run))
    }

    /// The run with this UUID, if it is here. Of a store of an earlier version that is only read none is found.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn find(&self, uuid: Uuid) -> Result<Option<RunId>, StoreError> {
        self.read(|connection| find(connection, uuid))
    }

    /// 64 hexadecimal digits that are the same for the same content of a run, in whatever store: SHA-256 of all but its number
    /// there.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be read.
    pub fn digest(&self, run: RunId) -> Result<String, StoreError> {
        let added = serde_json::to_vec(&self.run(run)?.annotations).expect("names and numbers always serialise");
        let found = self.snapshot(|connection| Content::of(connection, &self.budget, run))?;
        let sum = Sha256::new().chain_update(found.sum).chain_update(added).finalize();
        Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Reads from one state of the store, whatever others write meanwhile.
    fn snapshot<T>(&self, work: impl FnOnce(&rusqlite::Connection) -> Result<T, Cause>) -> Result<T, StoreError> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let read = work(&transaction)?;
            transaction.finish()?;
            Ok(read)
        })
    }
}

fn find(connection: &rusqlite::Connection, uuid: Uuid) -> Result<Option<RunId>, Cause> {
    let sql = "SELECT id FROM run WHERE uuid = ?1";
    Ok(connection.query_row(sql, [uuid.to_string()], |row| row.get(0).map(RunId)).optional()?)
}

/// Whether `theirs` is a later state of the run than `ours`.
fn goes_on(ours: &Content, theirs: &Content) -> Result<bool, StoreError> {
    if ours.sum == theirs.sum {
        return Ok(false);
    }
    let uuid = ours.run.uuid;
    if !ours.began_as(theirs) {
        return Err(StoreError::OtherRun { uuid });
    }
    let (further, has_more) = (theirs.progress() > ours.progress(), theirs.progress().0 != ours.progress().0);
    let is_final = ours.progress().0 && !has_more;
    match further {
        true if !is_final && ours.is_within(theirs) => Ok(true),
        false if !is_final && theirs.is_within(ours) => Ok(false),
        _ => Err(StoreError::Diverged { uuid }),
    }
}

/// What both say: all tags, every line of both notes, and the price that is here where there are two.
fn union(ours: &Annotations, theirs: &Annotations) -> Annotations {
    let mut tags = [&ours.tags[..], &theirs.tags].concat();
    tags.sort();
    tags.dedup();
    let note = match (&ours.note, &theirs.note) {
        (Some(one), Some(other)) => {
            let lines: BTreeSet<&str> = [one, other].into_iter().flat_map(|note| note.as_str().lines()).collect();
            let is_in = |note: &RunNote| lines.iter().all(|line| note.as_str().lines().any(|known| known == *line));
            match (is_in(one), is_in(other)) {
                (true, _) => Some(one.clone()),
                (_, true) => Some(other.clone()),
                // Where both are too long for one note, ours stays.
                _ => Vec::from_iter(lines).join("\n").parse().ok().or_else(|| Some(one.clone())),
            }
        }
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    Annotations { tags, note, price: ours.price.or(theirs.price) }
}
