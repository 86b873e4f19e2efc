//! The fence around a run: what carries a plan out, and the programs that it starts, can write to nothing but what the
//! fence names. The kernel keeps it, by Landlock.
//!
//! What a fenced thread cannot do (mounting, settings of the kernel, placing an output) is asked of the thread that waits
//! outside for its end. It does only what this crate's functions ask, each of which is one typed request with checks of its
//! own; no other code reaches it.
//!
//! Source: Linux, Documentation/userspace-api/landlock.rst.

use std::any::Any;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, make_bitflags,
};

use crate::open;

/// What writing means to the fence: all that changes files and folders, but not the commands of devices, which programs
/// that only look need as well.
const WRITING: ABI = ABI::V3;
/// The part of it that there is to a file.
const OF_FILES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{WriteFile | Truncate});
/// Devices that hold nothing, which any program may write to.
const HARMLESS: [&str; 8] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts", "/dev/kvm", "/dev/fuse", "/dev/loop-control"];
/// Room for what a plan needs, as a program's first thread has.
const STACK: usize = 8 << 20;

/// Who waits outside.
struct Gate {
    requests: Sender<ConfineRequest>,
    thread: ThreadId,
}

type ConfineRequest = Box<dyn FnOnce() + Send>;

static GATE: Mutex<Option<Gate>> = Mutex::new(None);

/// What may be written to, while a fence stands.
#[derive(Debug, Default)]
pub struct Fence {
    files: Vec<File>,
    folders: Vec<File>,
}

/// Whether a fence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// The kernel refuses all that the fence does not name.
    Full,
    /// The kernel is too old to refuse all of it.
    Partial,
    /// The kernel has no Landlock, or does not use it.
    None,
}

impl Fence {
    /// Nothing may be written to but devices that hold nothing.
    pub fn new() -> Self {
        let mut fence = Self::default();
        for path in HARMLESS {
            fence = if Path::new(path).is_dir() { fence.folder(Path::new(path)) } else { fence.file(Path::new(path)) };
        }
        fence
    }

    /// This file or device as well, if it is there.
    #[must_use]
    pub fn file(mut self, path: &Path) -> Self {
        self.files.extend(open::handle(path).ok());
        self
    }

    /// What is open, or referred to, by this descriptor as well.
    #[must_use]
    pub fn handle(mut self, file: &File) -> Self {
        self.files.extend(file.try_clone().ok());
        self
    }

    /// This folder as well, if it is there, with all that is in it, will be in it, and is mounted below it.
    #[must_use]
    pub fn folder(mut self, path: &Path) -> Self {
        self.folders
            .extend(open::handle(path).ok().filter(|handle| handle.metadata().is_ok_and(|found| found.is_dir())));
        self
    }

    /// Does `work` behind the fence, in a thread of its own, whose threads and programs are behind it too. Where the kernel
    /// has no Landlock it is done all the same.
    ///
    /// # Panics
    /// If `work` does.
    pub fn around<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let (requests, inbox) = channel::<ConfineRequest>();
        let end = requests.clone();
        *lock() = Some(Gate { requests, thread: thread::current().id() });
        let done = thread::scope(|scope| {
            let fenced = || {
                // Where it cannot be had, nothing is refused: that is what `enforcement` tells.
                let _ = self.close();
                let done = catch_unwind(AssertUnwindSafe(work));
                *lock() = None;
                drop(end);
                done
            };
            let spawned = thread::Builder::new().name("run".to_owned()).stack_size(STACK).spawn_scoped(scope, fenced);
            let thread = spawned.expect("a process that has just begun may have a second thread");
            serve(&inbox);
            thread.join().unwrap_or_else(Err)
        });
        done.unwrap_or_else(|panic: Box<dyn Any + Send>| resume_unwind(panic))
    }

    /// Closes the fence around the calling thread and all that it starts from now on.
    fn close(&self) -> Result<Enforcement, landlock::RulesetError> {
        let writing = AccessFs::from_write(WRITING);
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(writing)?.create()?;
        let files = self.files.iter().map(|file| Ok(PathBeneath::new(file, OF_FILES)));
        let folders = self.folders.iter().map(|folder| Ok(PathBeneath::new(folder, writing)));
        let ruleset = ruleset.add_rules(files.chain(folders).collect::<Vec<Result<_, landlock::RulesetError>>>())?;
        Ok(match ruleset.restrict_self()?.ruleset {
            RulesetStatus::FullyEnforced => Enforcement::Full,
            RulesetStatus::PartiallyEnforced => Enforcement::Partial,
            RulesetStatus::NotEnforced => Enforcement::None,
        })
    }
}

/// Whether the kernel would keep a fence: tried on a thread that does nothing else.
pub fn enforcement() -> Enforcement {
    let tried = thread::spawn(|| Fence::default().close().unwrap_or(Enforcement::None));
    tried.join().unwrap_or(Enforcement::None)
}

/// Does `work` in a thread that may write to nothing but this, and gives what came of it. It is for starting a program that
/// has to write to a device which was not there when the fence was closed.
pub(crate) fn apart<T: Send + 'static>(fence: Fence, work: impl FnOnce() -> T + Send + 'static) -> T {
    outside(move || {
        let thread = thread::spawn(move || {
            let _ = fence.close();
            work()
        });
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Does `work` outside the fence; where there is none, here.
pub(crate) fn outside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let requests =
        lock().as_ref().filter(|gate| gate.thread != thread::current().id()).map(|gate| gate.requests.clone());
    let Some(requests) = requests else { return work() };
    let (answer, answered) = channel();
    let request = move || {
        // Whoever asked waits for the answer.
        let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
    };
    requests.send(Box::new(request)).expect("it serves for as long as anybody can ask");
    let done = answered.recv().expect("every request is answered");
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Does what is asked until nobody can ask any more.
fn serve(inbox: &Receiver<ConfineRequest>) {
    inbox.iter().for_each(|request| request());
}

fn lock() -> std::sync::MutexGuard<'static, Option<Gate>> {
    GATE.lock().expect("nothing panics while it holds the gate")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program;
    use std::fs;

    /// One fence at a time, as in a program.
    static ONE: Mutex<()> = Mutex::new(());

    fn has_landlock() -> bool {
        if enforcement() == Enforcement::None {
            println!("skipped: this kernel has no Landlock");
            return false;
        }
        true
    }

    #[test]
    fn a_fenced_thread_and_its_programs_write_to_what_is_named_alone() {
        let _one = ONE.lock();
        if !has_landlock() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["target", "other"] {
            fs::write(path(name), "kept").unwrap();
        }
        fs::create_dir(path("own")).unwrap();
        let fence = Fence::new().file(&path("target")).folder(&path("own"));
        let tried = fence.around(|| {
            let shell =
                |words: String| program::command("sh").unwrap().args(["-c", &words]).output().unwrap().status.success();
            let denied =
                |tried: std::io::Result<()>| tried.is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
            [
                fs::write(path("target"), "written").is_ok(),
                fs::write(path("own/new"), "written").is_ok(),
                denied(fs::write(path("other"), "lost")),
                denied(fs::write(path("new"), "made")),
                denied(fs::remove_file(path("other"))),
                denied(fs::rename(path("own/new"), path("other"))),
                thread::spawn({
                    let other = path("other");
                    move || fs::write(other, "lost").is_err()
                })
                .join()
                .unwrap(),
                !shell(format!("echo lost > {}", path("other").display())),
                shell(format!("echo > /dev/null && echo kept > {}", path("own/shell").display())),
                fs::read_to_string(path("other")).is_ok(),
            ]
        });
        assert_eq!(tried, [true; 10]);
        assert_eq!(fs::read_to_string(path("other")).unwrap(), "kept");
        fs::write(path("other"), "mine again").unwrap();
    }

    #[test]
    fn what_is_asked_of_outside_is_done_there_also_from_other_threads_and_a_panic_comes_back() {
        let _one = ONE.lock();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("placed");
        let here = thread::current().id();
        Fence::new().around(|| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| assert!(outside(|| thread::current().id()) == here));
                }
            });
            let path = path.clone();
            outside(move || fs::write(path, "placed")).unwrap();
        });
        assert_eq!(fs::read_to_string(path).unwrap(), "placed");
        assert!(outside(|| thread::current().id()) == here, "without a fence it is done where it is asked");
        let panicked = catch_unwind(|| Fence::new().around(|| panic!("told")));
        assert!(panicked.is_err_and(|panic| panic.downcast_ref() == Some(&"told")));
    }
}
