//! Ctrl-C: a flag for runs that look at one, and words for those of simulated drives, of which nothing sees it.
//!
//! Of a simulated drive each point is stored in one transaction, so the program may end at any time; it only says what is kept first.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};
use store::{RunId, Store};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{complain, is_held};

/// How long a live view has to give the terminal back.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a run of a simulated drive has to end and to be stored.
const RUN_PATIENCE: Duration = Duration::from_secs(5);

/// By what the half of this process that waits passes on that the end was asked for; heard twice it is the same as once.
pub const PASSED_ON: Signal = Signal::USR1;
/// Whether this is the half that works.
static IS_WORKING_HALF: AtomicBool = AtomicBool::new(false);

/// Has runs of this process hear of [`PASSED_ON`].
pub fn hear_other_half() {
    IS_WORKING_HALF.store(true, Ordering::Relaxed);
}

/// Whether this process is the half of one that works, and another waits for it.
pub fn has_other_half() -> bool {
    IS_WORKING_HALF.load(Ordering::Relaxed)
}

/// What Ctrl-C and a polite request to end set. The second Ctrl-C ends the program at once, and with it the processes that end with it.
///
/// # Errors
/// If no handler can be installed.
pub fn stop() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let refused = |error| Failure::failed(format!("cannot install a handler for Ctrl-C: {error}"));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, Exit::Interrupted.code().into(), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(refused)?;
    }
    if has_other_half() {
        flag::register(PASSED_ON.as_raw(), Arc::clone(&stop)).map_err(refused)?;
    }
    Ok(stop)
}

/// From now on Ctrl-C, and a polite request to end, say what is kept of the run and end the program.
///
/// # Errors
/// If no handler can be installed.
pub fn announce(run: RunId, store: PathBuf, resume: Option<String>) -> std::io::Result<()> {
    when_asked(move |signal| end(run, &store, resume.as_deref(), signal))
}

/// A run that looks at [`stop`] and is to end by it; dropped once it has.
#[derive(Debug)]
pub struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Ends the program as [`announce`] does where the run goes on for long after it was asked to end: one step of a simulated
/// drive may be years of idle time, and a series of years takes long to be stored.
///
/// # Errors
/// If no handler can be installed.
pub fn insist(run: RunId, store: PathBuf) -> std::io::Result<Ending> {
    let has_ended = Arc::new(AtomicBool::new(false));
    let ending = Ending(Arc::clone(&has_ended));
    when_asked(move |signal| {
        wait_while(RUN_PATIENCE, || !has_ended.load(Ordering::Relaxed));
        if !has_ended.load(Ordering::Relaxed) {
            end(run, &store, None, signal);
        }
    })?;
    Ok(ending)
}

/// Carries `act` out in a thread of its own when the end is first asked for, with the signal that did.
fn when_asked(act: impl FnOnce(i32) + Send + 'static) -> std::io::Result<()> {
    let (mut asked, asks) = UnixStream::pair()?;
    let which = Arc::new(AtomicUsize::new(0));
    for signal in [SIGINT, SIGTERM] {
        // First which one it is, as actions are carried out in this order.
        flag::register_usize(signal, Arc::clone(&which), signal as usize)?;
        pipe::register(signal, asks.try_clone()?)?;
    }
    let wait = move || {
        if asked.read_exact(&mut [0]).is_ok() {
            act(which.load(Ordering::Relaxed) as i32);
        }
    };
    std::thread::Builder::new().name("interruption".to_owned()).spawn(wait).map(drop)
}

/// Waits until something no longer is so, and no longer than this.
fn wait_while(patience: Duration, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while is_so() && began.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Says what is kept of the run and ends the program.
fn end(run: RunId, store: &Path, resume: Option<&str>, signal: i32) {
    wait_while(PATIENCE, is_held);
    let kept = Store::open_to_read(store).and_then(|store| store.keys(run)).map_or(0, |kept| kept.len());
    complain(words(run, kept, resume));
    // Who started the program sees by which signal it ended, as without a handler.
    emulate_default_handler(signal).ok();
    std::process::exit(Exit::Interrupted.code().into());
}

/// What is kept of an interrupted run, and what to do with it.
pub fn words(run: RunId, kept: usize, resume: Option<&str>) -> String {
    let resume = resume.map(|command| format!("`{command}` continues it, ")).unwrap_or_default();
    format!(
        "Run {run} is interrupted; its {kept} finished measurements are stored. {resume}`assay report {run}` writes a report \
         of them."
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// Says to a process that it is the run.
    const RUN: &str = "ASSAY_TEST_ENDLESS_RUN";

    #[test]
    fn a_run_that_does_not_look_whether_it_is_to_end_is_ended() {
        if std::env::var_os(RUN).is_some() {
            stop().unwrap();
            let _ending = insist(RunId(7), PathBuf::from("no-such-store.sqlite")).unwrap();
            rustix::process::kill_process(rustix::process::getpid(), Signal::TERM).unwrap();
            // In place of a step that takes years.
            std::thread::sleep(Duration::from_secs(600));
            std::process::exit(0);
        }
        let test = "interruption::tests::a_run_that_does_not_look_whether_it_is_to_end_is_ended";
        let output = testkit::process::again(test).env(RUN, "1").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.signal(), Some(SIGTERM), "{said}");
        assert!(said.contains("Run 7 is interrupted; its 0 finished measurements are stored."), "{said}");
    }
}
