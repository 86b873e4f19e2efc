//! The file of a store: found, known by what it says of itself, made where there is none.
//!
//! SQLite opens files by name, and writes before it knows what they are. So the name is looked up once by a handle, what
//! it refers to is known to be a store before SQLite may write, and afterwards SQLite is known to have opened that very
//! file.
//!
//! What SQLite keeps beside the file it opens by name too, and as root gives it to the file's owner. So root opens a store
//! only in a folder that others cannot change, and only where what is beside it is its owner's and has no other name.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::open;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::OFlags;

use crate::StoreError;
use crate::budget::Budget;
use crate::error::Cause;
use crate::schema::{self, APPLICATION, SCHEMA, number, version};

/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest value: the series of a year in seconds is shorter.
const VALUE_MAX: i32 = 256 << 20;
/// What SQLite may take of memory in this process.
const HEAP_MAX: i64 = 1 << 30;

/// A regular file that is there.
struct StoreFile {
    named: PathBuf,
    /// Where it is, free of links.
    path: PathBuf,
    handle: File,
    is_empty: bool,
}

/// Opens the store to be written, and makes it where there is none. A finished cell survives the end of this process and a
/// loss of power.
pub(crate) fn connect(path: &Path) -> Result<(Connection, Budget), Cause> {
    let found = match StoreFile::at(path)? {
        Some(found) => found,
        None => {
            make(path)?;
            StoreFile::at(path)?.ok_or_else(|| StoreError::Swapped { path: path.to_owned() })?
        }
    };
    open::protect(&found.handle);
    if found.is_empty {
        found.may_be_filled()?;
        fill(&found.path)?;
    } else {
        found.is_store()?;
    }
    let (mut connection, budget) = found.open(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Until it is known what this is, not even what others left to be done is done.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    found.check(&connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    budget.renew(path);
    schema::bring_up_to_date(&mut connection)?;
    Ok((connection, budget))
}

/// Opens the store to be read, of whatever version, and what version that is. Nothing is changed and nothing made:
/// where
/// there is no store, there is one without runs in memory.
pub(crate) fn connect_to_read(path: &Path) -> Result<(Connection, Budget, i64), Cause> {
    let Some(found) = StoreFile::at(path)?.filter(|found| !found.is_empty) else {
        let mut connection = Connection::open_in_memory()?;
        schema::make(&connection)?;
        let budget = guarded(&mut connection)?;
        return Ok((connection, budget, SCHEMA));
    };
    open::protect(&found.handle);
    found.is_store()?;
    let opened = found.open(OpenFlags::SQLITE_OPEN_READ_ONLY);
    let opened = opened.and_then(|(connection, budget)| Ok((found.check(&connection)?, connection, budget)));
    let (version, connection, budget) = match opened {
        // Where nothing can be made beside it nobody else can write either, unless that left something beside it.
        Err(Cause::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !found.has_log() => {
            let (connection, budget) = found.open_alone()?;
            (found.check(&connection)?, connection, budget)
        }
        other => other?,
    };
    schema::stand_in(&connection, version)?;
    Ok((connection, budget, version))
}

impl StoreFile {
    /// Looks a path up. None where there is nothing.
    fn at(path: &Path) -> Result<Option<Self>, Cause> {
        let unusable = |error| StoreError::Folder { path: path.to_owned(), error };
        let handle = match open::handle(path) {
            Ok(handle) => handle,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match std::fs::read_link(path) {
                    Ok(target) => Err(StoreError::Link { path: path.to_owned(), target }.into()),
                    Err(_) => Ok(None),
                };
            }
            Err(error) => return Err(unusable(error).into()),
        };
        let found = handle.metadata().map_err(unusable)?;
        if !found.is_file() {
            return Err(StoreError::Kind { path: path.to_owned(), kind: kind(&found) }.into());
        }
        if found.nlink() > 1 {
            return Err(StoreError::Names { path: path.to_owned(), names: found.nlink() }.into());
        }
        let place = open::path_of(&handle).map_err(unusable)?;
        check_reach(place.parent().unwrap_or(Path::new("/")), open::is_out_of_reach_but_for_caller)?;
        Ok(Some(Self { named: path.to_owned(), path: place, handle, is_empty: found.len() == 0 }))
    }

    /// An empty file is made a store only where it was named without a link and is the user's own.
    fn may_be_filled(&self) -> Result<(), Cause> {
        let is_ours = open::is_own(&self.handle).unwrap_or(false);
        if is_ours && open::handle_of_no_link(&self.named).is_ok() { Ok(()) } else { Err(self.foreign()) }
    }

    /// Makes sure that this is a store of a version that is known, by its header alone: SQLite is not asked yet. What else
    /// is in the file may make sense only together with what is beside it.
    ///
    /// Source: SQLite's documentation, "Database File Format", §1.3 and §1.6: version at 60, application id at 68, number
    /// of objects in the schema at 103.
    fn is_store(&self) -> Result<(), Cause> {
        const HEADER: usize = 105;
        let mut header = [0; HEADER];
        let read =
            open::again(&self.handle, false, OFlags::empty()).and_then(|file| file.read_exact_at(&mut header, 0));
        if read.is_err() || !header.starts_with(b"SQLite format 3\0") {
            return Err(StoreError::NotAStore { path: self.named.clone() }.into());
        }
        let number =
            |at: usize| i64::from(i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
        match (number(68), number(60)) {
            (APPLICATION, version) => self.known(version),
            // A store of an earlier program that was killed as it made it: all of it is beside the file.
            (0, 0) if header[103..] == [0, 0] && self.has_log() => Ok(()),
            _ => Err(self.foreign()),
        }
    }

    fn known(&self, version: i64) -> Result<(), Cause> {
        let path = || self.named.clone();
        match version {
            1..=SCHEMA => Ok(()),
            found if found > SCHEMA => Err(StoreError::Newer { path: path(), found, known: SCHEMA }.into()),
            found => Err(StoreError::Altered { path: path(), what: format!("its version is {found}") }.into()),
        }
    }

    /// Makes sure, of what SQLite reads together with what is beside the file, that this is a store and as assay makes it,
    /// and that the file is the one that was found; which version it is.
    fn check(&self, connection: &Connection) -> Result<i64, Cause> {
        let transaction = connection.unchecked_transaction()?;
        let version = version(&transaction)?;
        if number(&transaction, "PRAGMA application_id")? != APPLICATION {
            return Err(self.foreign());
        }
        self.known(version)?;
        schema::check(&transaction, version, &self.named)?;
        transaction.finish()?;
        self.is_clean_beside()?;
        let place = open::handle_of_no_link(&self.path).and_then(|place| open::identity(&place));
        let is_same = place.is_ok_and(|place| open::identity(&self.handle).is_ok_and(|found| found == place));
        let is_open = open::is_open_besides(&self.handle).unwrap_or(false);
        if is_same && is_open { Ok(version) } else { Err(StoreError::Swapped { path: self.named.clone() }.into()) }
    }

    fn open(&self, flags: OpenFlags) -> Result<(Connection, Budget), Cause> {
        self.is_clean_beside()?;
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        let budget = guarded(&mut connection)?;
        Ok((connection, budget))
    }

    /// Opens the file as if nobody else could write to it.
    fn open_alone(&self) -> Result<(Connection, Budget), Cause> {
        let escaped = |byte: &u8| match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(*byte).to_string(),
            other => format!("%{other:02x}"),
        };
        let path: String = self.path.as_os_str().as_encoded_bytes().iter().map(escaped).collect();
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let uri = format!("file://{path}?immutable=1");
        let mut connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?;
        let budget = guarded(&mut connection)?;
        Ok((connection, budget))
    }

    /// Whether a log of changes is beside it that are not yet in it.
    fn has_log(&self) -> bool {
        std::fs::symlink_metadata(beside(&self.path, "-wal")).is_ok_and(|log| log.len() > 0)
    }

    /// Makes sure that what SQLite keeps beside the file is the store's own: SQLite follows links there and writes, and a
    /// journal may name any file to be removed.
    fn is_clean_beside(&self) -> Result<(), Cause> {
        for end in ["-wal", "-shm", "-journal"] {
            let file = beside(&self.path, end);
            let found = match open::handle_of_no_link(&file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) if error.raw_os_error() == Some(ELOOP) => Err("a link"),
                Err(_) => Err("not accessible"),
                Ok(_) if end == "-journal" && names_another(&file) => Err("a journal that names another file"),
                Ok(handle) => self.is_own_beside(&handle),
            };
            if let Err(what) = found {
                return Err(StoreError::Beside { path: self.named.clone(), file, what }.into());
            }
        }
        Ok(())
    }

    /// Whether a file beside the store is the store's; otherwise what it is. SQLite as root gives it to the store's owner,
    /// so then it must be theirs already.
    fn is_own_beside(&self, handle: &File) -> Result<(), &'static str> {
        let unknown = |_| "not accessible";
        let (found, store) = (handle.metadata().map_err(unknown)?, self.handle.metadata().map_err(unknown)?);
        let is_ours = || !is_root() && open::is_own(handle).unwrap_or(false);
        if !found.is_file() {
            return Err(kind(&found));
        }
        if found.uid() != store.uid() && !is_ours() {
            return Err("a file of another user");
        }
        if found.nlink() > 1 {
            return Err("a file with more than one name");
        }
        open::protect(handle);
        Ok(())
    }

    fn foreign(&self) -> Cause {
        StoreError::Foreign { path: self.named.clone() }.into()
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes sure, for root, that nobody else can change what is in a folder.
fn check_reach(folder: &Path, is_safe: fn(&Path) -> bool) -> Result<(), Cause> {
    if is_root() && !is_safe(folder) { Err(StoreError::Reach { folder: folder.to_owned() }.into()) } else { Ok(()) }
}

/// Source: Linux, include/uapi/asm-generic/errno.h.
const ELOOP: i32 = 40;

/// A file that SQLite keeps beside a store.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether a journal ends with the name of a second one, which SQLite would remove. assay's own never do.
///
/// Source: SQLite, src/pager.c, `readSuperJournal`, `aJournalMagic`.
fn names_another(journal: &Path) -> bool {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let end = || {
        let (mut file, mut end) = (open::regular(journal).map_err(io::Error::from)?, [0; 8]);
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut end).map(|()| end)
    };
    end().is_ok_and(|end| end == MAGIC)
}

fn kind(found: &Metadata) -> &'static str {
    match found.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_block_device() => "a block device",
        kind if kind.is_char_device() => "a character device",
        kind if kind.is_fifo() => "a FIFO",
        _ => "a socket",
    }
}

/// Has a connection take what is in a file for figures and for nothing else: no function of SQL runs because a schema says
/// so, no value is longer than makes sense, a page that contradicts itself is an error, and no question takes for ever.
fn guarded(connection: &mut Connection) -> rusqlite::Result<Budget> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        // Those that the connection makes for itself are there all the same.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update_and_check(None, "hard_heap_limit", HEAP_MAX, |_| Ok(()))?;
    connection.busy_timeout(PATIENCE)?;
    Budget::on(connection)
}

/// Makes a store under a name of its own, and gives it its name when it is whole: whoever opens it finds a store.
fn make(path: &Path) -> Result<(), Cause> {
    let failed = |error| StoreError::Folder { path: path.to_owned(), error };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::path::absolute(folder).map_err(failed)?;
    let there = there.ancestors().find_map(|folder| folder.canonicalize().ok()).unwrap_or("/".into());
    check_reach(&there, open::is_way_out_of_reach_but_for_caller)?;
    open::make_folder(folder).map_err(failed)?;
    // Where it is, free of links, which nobody exchanges any more.
    let folder = folder.canonicalize().map_err(failed)?;
    check_reach(&folder, open::is_out_of_reach_but_for_caller)?;
    let named = folder.join(path.file_name().ok_or(io::ErrorKind::InvalidInput.into()).map_err(failed)?);
    let draft = folder.join(open::random_name("store"));
    drop(open::new_file(&draft, 0o666).map_err(failed)?);
    let filled = fill(&draft).and_then(|()| match open::name_new(&draft, &named) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => Ok(named.map_err(failed)?),
    });
    // It has its name by now, or nobody needs it.
    let _ = std::fs::remove_file(&draft);
    filled
}

/// Makes an empty file a store, unless another process was faster.
fn fill(path: &Path) -> Result<(), Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path.canonicalize().unwrap_or_else(|_| path.to_owned()), flags)?;
    guarded(&mut connection)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    if number(&transaction, "SELECT count(*) FROM sqlite_schema")? == 0 {
        schema::make(&transaction)?;
    }
    transaction.commit()?;
    match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
        // Another process opens the new file too and sets the same; the mode stays with the file.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        other => Ok(other?),
    }
}
