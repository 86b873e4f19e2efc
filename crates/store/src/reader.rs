//! A store that is read while others write to it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::StoreError;
use crate::database::{APPLICATION, PATIENCE};
use crate::error::Cause;

/// A connection by which nothing can be changed, to a store of this version alone.
pub(crate) fn connect(path: &Path, schema: i64) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (application, found) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    let path = path.to_owned();
    match application {
        APPLICATION if found > schema => Err(StoreError::Newer { path, found, known: schema }.into()),
        APPLICATION if found < schema => Err(StoreError::Older { path, found, known: schema }.into()),
        APPLICATION => Ok(connection),
        _ => Err(StoreError::Foreign { path }.into()),
    }
}
