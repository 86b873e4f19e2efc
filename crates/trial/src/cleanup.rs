//! What has to be undone when a trial is over, however it ends.
//!
//! Each change to the machine is promised before it is made. A promise that is dropped is kept: the change is undone. The
//! promises stand in a file until then, so that another process can keep them for one that was killed: a guard that
//! waits for its end, or the next program that looks.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use attach::registry::Registry;
use attach::{Process, ProcessMark};
use block::Bytes;
use host::{Mount, RUNTIME_FOLDER, Scratch, mounting, open, program};
use serde::{Deserialize, Serialize};

use crate::{TrialError, memory};

/// Where promises stand. They end with the machine's run, as what they are about does.
const FOLDER: &str = "/run/assay/aftermath";
/// How long a killed process has until it is gone, a mount to be let go of, and a group to be left.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a guard looks whether the process it watches over is ending and cannot.
const LOOK: Duration = Duration::from_millis(500);
/// The book of this process, while anybody promises anything.
static BOOK: Mutex<Weak<Mutex<CleanupRecord>>> = Mutex::new(Weak::new());
/// The program that guards promises, and the words that make it do so.
static GUARD: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

/// One change to the machine, as what undoes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleanupAction {
    /// Unmount what is mounted here.
    Unmount(PathBuf),
    /// Free the loop devices over a file.
    FreeLoops {
        file: PathBuf,
        /// Those that were over it before and stay.
        others: Vec<PathBuf>,
    },
    /// Clear up the drives that a process has attached and the loop devices that it was just making, once it is gone.
    ClearUp(Process),
    /// End the programs with this mark.
    End(ProcessMark),
    /// Write `text` to a setting of the kernel.
    Restore {
        /// The setting's file, below `/sys` or `/proc`.
        path: PathBuf,
        /// What it was.
        text: String,
    },
    /// Move what is in a control group to another one and remove it.
    LeaveGroup {
        /// The group's folder.
        group: PathBuf,
        /// That of the group that its processes came from.
        home: PathBuf,
        /// The memory that the process which promises this leaves itself there; none where only programs of it are inside.
        #[serde(default)]
        own_limit: Option<Bytes>,
    },
    /// Remove a file, or a folder with all that is in it, but nothing that is mounted there.
    Remove(PathBuf),
}

/// The promises of this process.
#[derive(Clone, Debug)]
pub struct Cleanup {
    book: Arc<Mutex<CleanupRecord>>,
}

#[derive(Debug)]
struct CleanupRecord {
    path: PathBuf,
    next: u64,
    promises: Vec<(u64, CleanupAction)>,
    guard: Option<Child>,
}

/// What was found of processes that were killed.
#[derive(Debug, Default)]
pub struct Settled {
    /// How many promises they left, which are kept now.
    pub promises: usize,
    /// Why they were killed, as far as their promises tell.
    pub causes: Vec<String>,
}

/// A change that is undone when this is dropped.
#[derive(Debug)]
#[must_use = "what is promised is undone when this is dropped"]
pub struct CleanupGuard {
    aftermath: Cleanup,
    number: u64,
}

impl Cleanup {
    /// The promises of this process. Everybody who asks while there are any gets the same, so that all are kept in one
    /// order. With [`Cleanup::guarded_by`] a guard is started with them.
    ///
    /// # Errors
    /// If they cannot be written down, which needs root, or the guard does not start.
    pub fn begin() -> Result<Self, TrialError> {
        let mut known = BOOK.lock().expect("nothing panics while it holds the book");
        if let Some(book) = known.upgrade() {
            return Ok(Self { book });
        }
        place()?;
        let begun = Self::within(Path::new(FOLDER))?;
        if let Some(gathered) = Scratch::gathered() {
            // Whoever gathers removes it; so nobody holds this promise, which is for one that is killed.
            let mut book = begun.book();
            let number = book.next;
            book.promises.push((number, CleanupAction::Remove(gathered)));
            book.next += 1;
        }
        if let Some((program, words)) = GUARD.get() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            begun.guard_by(program, &words)?;
        }
        *known = Arc::downgrade(&begun.book);
        Ok(begun)
    }

    /// From now on, promises of this process are guarded by `program` with these words, which must end in
    /// [`Cleanup::guard`]: a process of its own keeps them if this one is killed.
    pub fn guarded_by(program: &Path, words: &[&str]) {
        GUARD.get_or_init(|| (program.to_owned(), words.iter().map(|word| (*word).to_owned()).collect()));
    }

    /// The same, written down in `folder`: what stands there is carried out as this user.
    ///
    /// # Errors
    /// If they cannot be written down, or others could change them.
    pub fn within(folder: &Path) -> Result<Self, TrialError> {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        open::own_folder(folder).map_err(TrialError::at(folder))?;
        let (number, this) = (NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed), Process::this());
        let path = folder.join(format!("{}-{}-{number}.json", this.pid, this.started));
        let book = CleanupRecord { path, next: 0, promises: Vec::new(), guard: None };
        Ok(Self { book: Arc::new(Mutex::new(book)) })
    }

    /// Starts a process that keeps the promises if this one is killed: `program` with the file of promises behind
    /// `words`, which must end in [`Cleanup::guard`].
    ///
    /// # Errors
    /// If it does not start.
    fn guard_by(&self, program: &Path, words: &[&str]) -> Result<(), TrialError> {
        let mut book = self.book();
        let mut command = program::at(program);
        command.args(words).arg(&book.path).stdin(Stdio::piped()).stdout(Stdio::null());
        // Ctrl-C is for those who have something to end, not for who cleans up behind them.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        book.guard = Some(host::program::start_guard(&mut command).map_err(TrialError::at(program))?);
        Ok(())
    }

    /// Waits until the process at the other end of standard input has ended, and keeps the promises in `path` that it
    /// left. Gives why it was killed, where the promises tell, and whether they could be kept.
    ///
    /// # Errors
    /// If it is no file that promises are written to.
    pub fn guard(path: &Path) -> Result<(Option<String>, Result<(), TrialError>), TrialError> {
        if path.parent() != Some(Path::new(FOLDER)) || owner(path).is_none() {
            let words = format!(
                "{}: cleanup records are only in {FOLDER}, and assay starts this command itself",
                path.display()
            );
            return Err(TrialError::Lacks(words));
        }
        let owner = owner(path);
        let (other_end, closed) = mpsc::channel::<()>();
        thread::spawn(move || {
            io::copy(&mut io::stdin().lock(), &mut io::sink()).ok();
            drop(other_end);
        });
        while closed.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            // One that waits for its own drive cannot end: what answers it has ended already.
            if let Some(owner) = owner.filter(|owner| owner.is_ending()) {
                attach::release(&Registry::open()?, owner).ok();
            }
        }
        let cause = cause_of_end(path);
        Ok((cause, settle(path)))
    }

    /// Keeps the promises of processes that are no more.
    ///
    /// # Errors
    /// If some could not be kept.
    pub fn undo_all() -> Result<Settled, TrialError> {
        if Path::new(FOLDER).exists() {
            [RUNTIME_FOLDER, FOLDER]
                .iter()
                .try_for_each(|path| open::own_folder(Path::new(path)).map_err(TrialError::at(path)))?;
        }
        let mut settled = Settled::default();
        for file in fs::read_dir(FOLDER).into_iter().flatten().filter_map(Result::ok) {
            let path = file.path();
            let is_alive = owner(&path).is_some_and(Process::is_alive);
            if !is_alive && path.extension().is_some_and(|extension| extension == "json") {
                settled.promises += read(&path).len();
                settled.causes.extend(cause_of_end(&path));
                settle(&path)?;
            }
        }
        Ok(settled)
    }

    /// Promises to undo a change that is about to be made, or has just been.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn promise(&self, undo: CleanupAction) -> Result<CleanupGuard, TrialError> {
        let mut book = self.book();
        let number = book.next;
        book.next += 1;
        book.promises.push((number, undo));
        book.write()?;
        drop(book);
        Ok(CleanupGuard { aftermath: self.clone(), number })
    }

    fn book(&self) -> std::sync::MutexGuard<'_, CleanupRecord> {
        self.book.lock().expect("nothing panics while it holds the promises")
    }
}

impl CleanupGuard {
    /// Undoes the change now, and says if that fails.
    ///
    /// # Errors
    /// If it cannot be undone.
    pub fn keep(self) -> Result<(), TrialError> {
        self.settle()
    }

    /// Forgets the change, which was not made after all.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub(crate) fn withdraw(self) -> Result<(), TrialError> {
        let mut book = self.aftermath.book();
        book.promises.retain(|(number, _)| *number != self.number);
        book.write()
    }

    fn settle(&self) -> Result<(), TrialError> {
        let mut book = self.aftermath.book();
        let Some(place) = book.promises.iter().position(|(number, _)| *number == self.number) else { return Ok(()) };
        let (_, undo) = book.promises.remove(place);
        let kept = undo.carry_out();
        book.write()?;
        kept
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        self.settle().ok();
    }
}

impl CleanupRecord {
    fn write(&self) -> Result<(), TrialError> {
        if self.promises.is_empty() {
            fs::remove_file(&self.path).ok();
            return Ok(());
        }
        let undo: Vec<&CleanupAction> = self.promises.iter().map(|(_, undo)| undo).collect();
        let text = serde_json::to_string_pretty(&undo).expect("paths and numbers serialise");
        let draft = draft(&self.path);
        // Nobody else writes here, and this one has only one: what stands there it left itself.
        let left = fs::remove_file(&draft);
        left.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
            .and_then(|()| open::write_new(&draft, text.as_bytes(), 0o600))
            .and_then(|()| fs::rename(&draft, &self.path))
            .map_err(TrialError::at(&self.path))
    }
}

impl Drop for CleanupRecord {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            guard.wait().ok();
        }
    }
}

/// The process whose promises are in this file; none if its name says none.
fn owner(path: &Path) -> Option<Process> {
    let numbers: Vec<u64> = path.file_stem()?.to_str()?.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    match numbers[..] {
        [pid, started, _] => Some(Process { pid: pid.try_into().ok()?, started }),
        // As versions before 0.1.0 named it: whoever has the number now, if it had it when this was written.
        [pid, _] => {
            let written = fs::metadata(path).and_then(|found| found.modified()).ok()?;
            Process::of(pid.try_into().ok()?).filter(|process| process.was_there(written))
        }
        _ => None,
    }
}

/// Why the process that left the promises in this file was killed, as far as they tell.
fn cause_of_end(path: &Path) -> Option<String> {
    read(path).iter().find_map(|undo| match undo {
        CleanupAction::LeaveGroup { group, own_limit: Some(limit), .. } => memory::cause_of_end(group, *limit),
        _ => None,
    })
}

/// Where the promises of a file are written before they take the place of those that stand there.
fn draft(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// The promises in a file, the earliest first; none if it holds none, or others could have written it.
fn read(path: &Path) -> Vec<CleanupAction> {
    let is_ours = |found: fs::Metadata| found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
    let file = open::to_read(path).ok().filter(|file| file.metadata().is_ok_and(is_ours));
    file.and_then(|file| io::read_to_string(file).ok())
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Makes sure that the folder of mounts and promises is there, and that nobody else can change it.
pub(crate) fn place() -> Result<(), TrialError> {
    open::own_folder(Path::new(RUNTIME_FOLDER)).map_err(TrialError::at(RUNTIME_FOLDER))
}

/// Keeps the promises in a file, the latest first, and removes it; what failed first is told after all were tried.
fn settle(path: &Path) -> Result<(), TrialError> {
    let kept: Vec<Result<(), TrialError>> = read(path).iter().rev().map(CleanupAction::carry_out).collect();
    // A promise that was just being written down was for a change that was never made.
    for file in [path, &draft(path)] {
        fs::remove_file(file).ok();
    }
    kept.into_iter().collect()
}

impl CleanupAction {
    /// Undoes it; nothing happens where it has been undone already.
    ///
    /// # Errors
    /// If it cannot be undone.
    pub fn carry_out(&self) -> Result<(), TrialError> {
        match self {
            Self::Unmount(point) => let_go(point),
            Self::FreeLoops { file, others } => {
                let mut devices =
                    attach::loop_device::all_over(file).into_iter().filter(|device| !others.contains(device));
                Ok(devices.try_for_each(|device| attach::loop_device::detach(&device))?)
            }
            Self::ClearUp(process) => clear_up(*process),
            Self::End(mark) => {
                mark.end();
                Ok(())
            }
            Self::Restore { path, text } => open::set(path, text).map_err(TrialError::at(path)),
            Self::LeaveGroup { group, home, .. } => leave(group, home),
            Self::Remove(path) => remove(path),
        }
    }
}

/// Removes a file, a link itself, or a folder with all that is in it; a file system that is mounted there is left
/// alone.
fn remove(path: &Path) -> Result<(), TrialError> {
    if is_mounted_within(&Mount::all().map_err(TrialError::at(Mount::TABLE))?, path) {
        let cause = io::Error::new(io::ErrorKind::ResourceBusy, "something is still mounted there; unmount it");
        return Err(TrialError::at(path)(cause));
    }
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    match if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) } {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TrialError::at(path)(error)),
        _ => Ok(()),
    }
}

fn is_mounted_within(mounts: &[Mount], path: &Path) -> bool {
    mounts.iter().any(|mount| mount.point.starts_with(path))
}

/// Unmounts, waiting for whoever is just ending; a mount that nobody lets go of is taken out of sight.
fn let_go(point: &Path) -> Result<(), TrialError> {
    let began = Instant::now();
    loop {
        match mounting::unmount(point, false) {
            Ok(()) => {}
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => return Ok(()),
            Err(rustix::io::Errno::BUSY) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
            Err(_) => return mounting::unmount(point, true).map_err(|error| TrialError::at(point)(error.into())),
        }
    }
}

/// Moves every process in a control group to another and removes it, once the kernel has seen the last one go.
fn leave(group: &Path, home: &Path) -> Result<(), TrialError> {
    let began = Instant::now();
    loop {
        let inside = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        // One that ends meanwhile cannot be moved, and need not be.
        inside.lines().for_each(|pid| open::set(&home.join("cgroup.procs"), pid).unwrap_or_default());
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && began.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(20));
            }
            removed => return removed.map_err(TrialError::at(group)),
        }
    }
}

/// Clears up what a process has left of its drives; this one does that itself.
fn clear_up(process: Process) -> Result<(), TrialError> {
    if process == Process::this() {
        return Ok(());
    }
    let registry = Registry::open()?;
    // It lets go of what it has before it is gone.
    let began = Instant::now();
    while process.is_alive() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
    // What was mounted on a drive and taken out of sight may go on using it for a moment.
    let began = Instant::now();
    loop {
        match attach::clear_up(&registry, process) {
            Err(_) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
            cleared => return Ok(cleared?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn what_was_promised_is_undone_the_latest_first_and_then_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        // A setting of the kernel's that each thread has of its own.
        let setting = PathBuf::from("/proc/thread-self/comm");
        fs::write(&setting, "new").unwrap();
        let aftermath = Cleanup::within(&folder.path().join("book")).unwrap();
        let restore = |text: &str| CleanupAction::Restore { path: setting.clone(), text: text.to_owned() };
        let promise = aftermath.promise(restore("old")).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("book")).unwrap().count(), 1);
        promise.keep().unwrap();
        assert_eq!(fs::read_to_string(&setting).unwrap(), "old\n");
        assert_eq!(fs::read_dir(folder.path().join("book")).unwrap().count(), 0);
    }

    #[test]
    fn the_promises_of_a_process_that_is_gone_are_kept_by_another() {
        let folder = tempfile::tempdir().unwrap();
        let (setting, file) = (PathBuf::from("/proc/thread-self/comm"), folder.path().join("file"));
        fs::write(&file, "left").unwrap();
        let left = [
            CleanupAction::Remove(file.clone()),
            CleanupAction::Restore { path: setting.clone(), text: "first".into() },
            CleanupAction::Restore { path: setting.clone(), text: "later".into() },
        ];
        let book = folder.path().join("1-0.json");
        fs::write(&book, serde_json::to_string(&left).unwrap()).unwrap();
        settle(&book).unwrap();
        assert_eq!(fs::read_to_string(&setting).unwrap(), "first\n", "the earliest is undone last");
        assert!(!file.exists() && !book.exists());
    }

    #[test]
    fn a_file_that_is_no_setting_is_not_restored_and_a_link_is_removed_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("kept")).unwrap();
        fs::write(path("kept/file"), "kept").unwrap();
        std::os::unix::fs::symlink(path("kept"), path("link")).unwrap();
        let restore = CleanupAction::Restore { path: path("kept/file"), text: "lost".into() };
        assert!(restore.carry_out().unwrap_err().to_string().contains("not a kernel setting"));
        CleanupAction::Remove(path("link")).carry_out().unwrap();
        assert!(!path("link").is_symlink());
        assert_eq!(fs::read_to_string(path("kept/file")).unwrap(), "kept");
        let mounts = Mount::listed("36 35 98:0 / /run/assay/mnt-1/x rw - ext4 /dev/sda1 rw\n");
        assert!(is_mounted_within(&mounts, Path::new("/run/assay/mnt-1")));
        assert!(!is_mounted_within(&mounts, Path::new("/run/assay/mnt-2")));
    }

    #[test]
    fn what_was_not_made_after_all_is_not_undone() {
        let folder = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(folder.path()).unwrap();
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, "kept").unwrap();
        aftermath.promise(CleanupAction::Remove(theirs.clone())).unwrap().withdraw().unwrap();
        assert!(theirs.exists());
    }

    #[test]
    fn a_later_process_with_the_number_of_one_that_is_gone_keeps_no_promises_for_it() {
        let this = Process::this();
        let file = |pid: u32, started: u64| owner(Path::new(&format!("/x/{pid}-{started}-0.json")));
        assert_eq!(file(this.pid, this.started), Some(this));
        assert!(!file(this.pid, this.started + 1).unwrap().is_alive());
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join(format!("{}-0.json", this.pid));
        fs::write(&old, "[]").unwrap();
        assert_eq!(owner(&old), Some(this));
        fs::File::options().write(true).open(&old).unwrap().set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(owner(&old), None, "it was written by a process that had the number before");
        assert_eq!(owner(Path::new("/x/y-0.json")), None);
    }

    #[test]
    fn promises_that_others_could_change_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Cleanup::within(&place).unwrap_err().to_string().contains("other users can modify"));
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        Cleanup::within(&folder.path().join("link")).unwrap_err();
        let (book, kept) = (folder.path().join("1-2-0.json"), folder.path().join("kept"));
        fs::write(&kept, "kept").unwrap();
        fs::write(&book, serde_json::to_string(&[CleanupAction::Remove(kept.clone())]).unwrap()).unwrap();
        // Wherever else it lies, it is nobody's promise to keep.
        assert!(Cleanup::guard(&book).unwrap_err().to_string().contains("only in /run/assay/aftermath"));
        fs::set_permissions(&book, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        settle(&book).unwrap();
        assert!(kept.exists());
    }

    #[test]
    fn a_program_that_was_started_just_before_the_kill_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (mark, book) = (ProcessMark::new(), folder.path().join("1-0.json"));
        fs::write(&book, serde_json::to_string(&[CleanupAction::End(mark.clone())]).unwrap()).unwrap();
        let mut child = mark.put_on(Command::new("sleep").arg("100")).spawn().unwrap();
        settle(&book).unwrap();
        assert!(!child.wait().unwrap().success());
        CleanupAction::End(mark).carry_out().unwrap();
    }

    #[test]
    fn a_promise_that_was_just_being_written_down_is_no_remnant() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("1-0.json");
        fs::write(draft(&book), "[{\"remove\"").unwrap();
        settle(&book).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
