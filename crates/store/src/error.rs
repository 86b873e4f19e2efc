//! Why results could not be kept or read.

use std::path::PathBuf;

use thiserror::Error;

use crate::RunId;

/// Why results could not be kept or read.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder for the file cannot be made.
    #[error("results cannot be kept in {}: {error}; name a file elsewhere with --store FILE", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is not a store of results (it is not an SQLite database); name another file with --store FILE", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The file is an SQLite database, but of another program.
    #[error("{} is an SQLite database of another program; name another file with --store FILE", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer version.
    #[error("{} was written by a newer assay (schema {found}, this one knows {known}); update assay or name another file with --store FILE", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema's version.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// The file cannot be opened or written.
    #[error("the store {} cannot be used: {error}; free some space or name a file elsewhere with --store FILE", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: rusqlite::Error,
    },
    /// SQLite refused.
    #[error("the store refused ({0}); is its disk full, read-only, or another program holding it?")]
    Database(#[from] rusqlite::Error),
    /// There is no such run.
    #[error("there is no run {run}; {}", match newest { Some(newest) => format!("the latest is {newest}: `assay runs` lists them"), None => "the store is empty: `assay review` makes the first".to_owned() })]
    NoSuchRun {
        /// What was asked for.
        run: RunId,
        /// The latest there is.
        newest: Option<RunId>,
    },
    /// What is stored is not what was written.
    #[error("the stored {what} of step `{step}` ({cell}) is damaged; measure it again or restore the store from a backup")]
    Damaged {
        /// Which part.
        what: &'static str,
        /// The step.
        step: String,
        /// The cell's key.
        cell: String,
    },
}
