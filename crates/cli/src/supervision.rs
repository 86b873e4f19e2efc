//! Runs whose requests are calls that a device may never end: they are carried out by the half of this process that can be left
//! behind. What waits in such a call keeps its process from ending, even if it is killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host::apart::{self, HalfEnd, WorkingHalf};
use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use crate::exit::Exit;
use crate::interruption;
use crate::terminal::{detail, notice};

/// How often the working half is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Who ends a group of processes signals both halves, within this time.
const SAME: Duration = Duration::from_millis(100);

/// From here on there are two processes if that is needed: one goes on, and the other ends as that does.
///
/// Where it cannot be done the run is none the worse while its device answers.
pub fn apart(is_needed: bool) {
    if !is_needed {
        return;
    }
    match apart::split() {
        Ok(None) => interruption::hear_other_half(),
        Ok(Some(working)) => wait(working),
        Err(error) => detail(format_args!("the run has no process of its own: {error}")),
    }
}

/// Lets go of what the other half's caller waits for, once all is done and told.
pub fn end() {
    if interruption::has_other_half() {
        // Where that is refused whoever reads the output waits for the device too.
        apart::let_go_of_output().ok();
    }
}

/// Ends as the working half does.
fn wait(mut working: WorkingHalf) -> ! {
    let asked = Arc::new(AtomicUsize::new(0));
    for signal in [SIGINT, SIGTERM] {
        if let Err(error) = flag::register_usize(signal, Arc::clone(&asked), signal as usize) {
            detail(format_args!("Ctrl-C ends the run at once: {error}"));
        }
    }
    let mut last = None;
    let ended = loop {
        if let Some(ended) = working.wait(LOOK) {
            break ended;
        }
        if let Some(signal) = asked_since(&asked) {
            // A terminal tells both halves; so the first time it is passed on in a way that counts once.
            let is_again = last.replace(signal).is_some();
            working.signal(if is_again { Signal::TERM } else { interruption::PASSED_ON });
        }
    };
    let HalfEnd { code, signal, left } = ended;
    if let Some(pid) = left {
        notice(format_args!("process {pid} stays behind: the kernel ends it when the device answers, or is removed"));
    }
    let passed_on = |signal: &i32| *signal == interruption::PASSED_ON.as_raw();
    if let Some(signal) = signal {
        // Before it could hear what was passed on it has ended by it.
        let signal = last.filter(|_| passed_on(&signal)).unwrap_or(signal);
        emulate_default_handler(signal).ok();
        std::process::exit(128 + signal);
    }
    std::process::exit(code.unwrap_or(Exit::Failed.code()).into());
}

/// The signal by which the end was asked for since this was last asked.
fn asked_since(asked: &AtomicUsize) -> Option<i32> {
    let signal = asked.swap(0, Ordering::Relaxed);
    if signal == 0 {
        return None;
    }
    std::thread::sleep(SAME);
    asked.store(0, Ordering::Relaxed);
    Some(signal as i32)
}
