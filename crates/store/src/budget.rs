//! How much may be done to answer a question: what is in a file bounds what can be read of it.
//!
//! A file that someone has put together can lead from each page to the same next one, and so hold more rows than there are
//! atoms. Nothing in it is wrong on its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::error::Cause;

/// How many steps of SQLite's machine are counted at once.
const STRIDE: i32 = 10_000;
/// What any question may take.
const LEAST: u64 = 20_000_000;
/// The steps for each byte: a row takes a few bytes at least, and scores of steps at most.
const PER_BYTE: u64 = 32;

/// What may be added to a file between the question and its answer.
const ADDED: u64 = 64 << 20;

/// The steps that are left of a question, and the bytes that the file has.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicU64>,
    bytes: AtomicU64,
}

impl Budget {
    /// Has a connection end what takes too many steps.
    pub(crate) fn on(connection: &mut Connection) -> rusqlite::Result<Self> {
        let left = Arc::new(AtomicU64::new(LEAST));
        let counted = Arc::clone(&left);
        let spend = move |left: u64| left.checked_sub(STRIDE as u64);
        let is_spent = move || counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err();
        connection.progress_handler(STRIDE, Some(is_spent))?;
        Ok(Self { left, bytes: AtomicU64::new(ADDED) })
    }

    /// Gives the next question as many steps as the file at `path` could take.
    pub(crate) fn renew(&self, path: &Path) {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let bytes = length(path).saturating_add(length(Path::new(&log)));
        self.bytes.store(bytes.saturating_add(ADDED), Ordering::Relaxed);
        self.left.store(LEAST.saturating_add(bytes.saturating_mul(PER_BYTE)), Ordering::Relaxed);
    }

    /// What the rows of a table must keep to.
    pub(crate) fn rows(&self, table: &'static str) -> Rows {
        Rows { table, last: i64::MIN, bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

/// Rows of a table as they are read: in the order of their numbers, and together no longer than the file.
#[derive(Debug)]
pub(crate) struct Rows {
    table: &'static str,
    last: i64,
    bytes: u64,
}

impl Rows {
    pub(crate) fn next(&mut self, number: i64, row: &Row) -> Result<(), Cause> {
        let mut length = 0;
        for column in 0..row.as_ref().column_count() {
            length += match row.get_ref(column)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
                _ => 0,
            };
        }
        let left = self.bytes.checked_sub(length).filter(|_| number > self.last);
        (self.last, self.bytes) = (number, left.ok_or(Cause::Disorder(self.table))?);
        Ok(())
    }
}
