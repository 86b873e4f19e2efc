//! How much may be done to answer a question: what is in a file bounds what can be read of it.
//!
//! A file that someone has put together can lead from each page to the same next one, and so hold more rows than there are
//! atoms. Nothing in it is wrong on its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

/// How many steps of SQLite's machine are counted at once.
const STRIDE: i32 = 10_000;
/// What any question may take.
const LEAST: u64 = 20_000_000;
/// The steps for each byte: a row takes a few bytes at least, and scores of steps at most.
const PER_BYTE: u64 = 32;

/// The steps that are left of a question.
#[derive(Debug)]
pub(crate) struct Budget(Arc<AtomicU64>);

impl Budget {
    /// Has a connection end what takes too many steps.
    pub(crate) fn on(connection: &mut Connection) -> rusqlite::Result<Self> {
        let left = Arc::new(AtomicU64::new(LEAST));
        let counted = Arc::clone(&left);
        let spend = move |left: u64| left.checked_sub(STRIDE as u64);
        let is_spent = move || counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err();
        connection.progress_handler(STRIDE, Some(is_spent))?;
        Ok(Self(left))
    }

    /// Gives the next question as many steps as the file at `path` could take.
    pub(crate) fn renew(&self, path: &Path) {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let bytes = length(path).saturating_add(length(Path::new(&log)));
        self.0.store(LEAST.saturating_add(bytes.saturating_mul(PER_BYTE)), Ordering::Relaxed);
    }
}
