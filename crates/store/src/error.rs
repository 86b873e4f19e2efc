//! Why results could not be kept or read.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE;
use thiserror::Error;

use crate::RunId;

/// Why results could not be kept or read.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder for the file cannot be made.
    #[error("results cannot be stored in {}: {error}; name another file with --store FILE", path.display())]
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
    /// What was named is no file.
    #[error("{} is {kind}, which cannot be a store; name a file with --store FILE", path.display())]
    Kind {
        /// What was named.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// Others can change what root would open.
    #[error("root does not open a store in {}: other users can modify that folder and redirect writes of root. Give it \
        and its parent folders to root, or to yourself with sudo, with mode 755 (chown, chmod go-w), run assay as its \
        owner, or name another file with --store FILE", folder.display())]
    Reach {
        /// The folder that the store is in, or would be.
        folder: PathBuf,
    },
    /// The file has more than one name.
    #[error("{} has {names} hard links, and its journal is beside only one of them; copy it (cp) and name the copy \
        with --store FILE", path.display())]
    Names {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        names: u64,
    },
    /// A link that leads nowhere.
    #[error("{} is a dangling symbolic link to {}; a store is created only under its own name: name that with --store \
        FILE", path.display(), target.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// What is in the file is not what assay makes.
    #[error("{} does not have the schema of a store: {what}; restore it from a backup or name another file with \
        --store FILE", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// What is otherwise.
        what: String,
    },
    /// Something stands where SQLite would write.
    #[error("{} beside the store {} is {what}, which SQLite would follow; find out who created it, and remove it", file.display(), path.display())]
    Beside {
        /// The store.
        path: PathBuf,
        /// What is beside it.
        file: PathBuf,
        /// What that is.
        what: &'static str,
    },
    /// The file was exchanged as it was opened.
    #[error("{} was replaced while it was opened; try again, and find out who writes to its folder", path.display())]
    Swapped {
        /// The file.
        path: PathBuf,
    },
    /// Rows of a table stand in an order in which SQLite never writes them.
    #[error("the rows of {table} in {} are out of order: the store is damaged; restore it from a backup or name \
        another file with --store FILE", path.display())]
    Disorder {
        /// The file.
        path: PathBuf,
        table: &'static str,
    },
    /// Reading takes longer than what is in the file could.
    #[error("reading {} takes more steps than its size allows: the store is damaged; restore it from a backup or name \
        another file with --store FILE", path.display())]
    Endless {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened, read or written.
    #[error("the store {} cannot be used: {error}; {} or name another file with --store FILE", path.display(), remedy(error))]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: rusqlite::Error,
    },
    /// There is no such run.
    #[error("there is no run {run}; {}", match newest {
        Some(RunId(1)) => "the store has only run 1".to_owned(),
        Some(newest) => format!("the store has runs 1 to {newest}: `assay runs` lists them"),
        None => "the store is empty: `assay review` creates the first run".to_owned(),
    })]
    NoSuchRun {
        /// What was asked for.
        run: RunId,
        /// The latest there is; runs are numbered from 1.
        newest: Option<RunId>,
    },
    /// Another process carries the run out.
    #[error("run {run} is in progress in another process; wait for it, or stop it first")]
    Owned { run: RunId },
    /// It cannot be made sure that no other process carries the run out.
    #[error("the lock {} cannot be created: {error}; make its folder writable or name another store with --store FILE", path.display())]
    Lock {
        /// The file that would be locked.
        path: PathBuf,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// Something else stands in a column than assay writes there.
    #[error("`{column}` of {table} has a value of another type: the store is damaged; restore it from a backup")]
    WrongType { table: &'static str, column: String },
    /// A run that is offered has the UUID of another.
    #[error(
        "the run {uuid} is in both stores and began differently in each: one of them was altered; what was here stays"
    )]
    OtherRun { uuid: uuid::Uuid },
    /// Two contents of a run, of which neither continues the other.
    #[error(
        "the run {uuid} was continued differently in two stores; what was here stays. To keep the other, remove this \
        one (assay rm) and merge again"
    )]
    Diverged { uuid: uuid::Uuid },
    /// A run of shards is offered of which no shard is here.
    #[error("run {run} is made of shards, none of which is here: merge the stores that have them")]
    ShardsFirst { run: RunId },
    /// A repeat of a cell is there already.
    #[error(
        "repeat {repeat} of step `{step}` ({cell}) of run {run} is already stored; if another assay continues the same \
         run, let it finish"
    )]
    Doubled {
        run: RunId,
        step: String,
        /// The cell's key.
        cell: String,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// What is stored is not what was written.
    #[error(
        "the stored {what} of step `{step}` ({cell}), repeat {repeat}, is damaged; measure it again or restore the store from a backup"
    )]
    Damaged {
        /// Which part.
        what: &'static str,
        step: String,
        /// The cell's key.
        cell: String,
        /// The repeat, from 0.
        repeat: u32,
    },
}

/// What to do where SQLite refuses.
fn remedy(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space on its disk",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "make it writable",
        Some(ErrorCode::CannotOpen) => "make it a file that can be written",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "let the other program that writes to it finish",
        Some(ErrorCode::SystemIoFailure) => "check its disk",
        _ => "restore it from a backup",
    }
}

/// What went wrong in a transaction, before the file is named.
#[derive(Debug)]
pub(crate) enum Cause {
    /// SQLite refused.
    Sqlite(rusqlite::Error),
    /// Rows of a table are out of order.
    Disorder(&'static str),
    Said(StoreError),
}

impl Cause {
    /// The error, with the file that it concerns.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                StoreError::NotAStore { path: path.to_owned() }
            }
            Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                StoreError::Endless { path: path.to_owned() }
            }
            Self::Sqlite(error) => StoreError::Unusable { path: path.to_owned(), error },
            Self::Disorder(table) => StoreError::Disorder { path: path.to_owned(), table },
            Self::Said(error) => error,
        }
    }
}

/// The cause of a row that could not be entered: where there is one of this repeat already, that.
pub(crate) fn doubled(error: rusqlite::Error, run: RunId, step: &str, cell: &str, repeat: u32) -> Cause {
    match error.sqlite_error() {
        Some(code) if code.extended_code == SQLITE_CONSTRAINT_UNIQUE => {
            StoreError::Doubled { run, step: step.to_owned(), cell: cell.to_owned(), repeat }.into()
        }
        _ => Cause::Sqlite(error),
    }
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Said(error)
    }
}
