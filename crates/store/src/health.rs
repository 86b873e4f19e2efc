//! The health of a run's drive, as it was before and after.

use rusqlite::{Connection, OptionalExtension, params};

use crate::RunId;

/// When a drive was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HealthMoment {
    /// Before the first step of a run.
    Before,
    /// After its last.
    After,
}

impl HealthMoment {
    const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// Keeps a reading: the first of those before a run, the last of those after.
pub(crate) fn insert(connection: &Connection, run: RunId, moment: HealthMoment, reading: &str) -> rusqlite::Result<()> {
    let sql = match moment {
        HealthMoment::Before => "INSERT OR IGNORE INTO health (run, moment, reading) VALUES (?1, ?2, ?3)",
        HealthMoment::After => "INSERT OR REPLACE INTO health (run, moment, reading) VALUES (?1, ?2, ?3)",
    };
    connection.execute(sql, params![run.0, moment.name(), reading]).map(|_| ())
}

/// The reading of a run; none where nobody looked.
pub(crate) fn select(connection: &Connection, run: RunId, moment: HealthMoment) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT reading FROM health WHERE run = ?1 AND moment = ?2";
    connection.query_row(sql, params![run.0, moment.name()], |row| row.get(0)).optional()
}
