//! Work without the interpreter's lock, which Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use assay_cli::Failure;
use assay_cli::embedded::Host;
use lab::{News, Show, Snapshot};
use pyo3::prelude::*;

use crate::error::{failed, raised};

/// How often the interpreter is asked for signals, and progress is told.
const LOOK: Duration = Duration::from_millis(50);
/// How long what is interrupted has to end in good order.
const PATIENCE: Duration = Duration::from_secs(2);
/// Room for what a plan needs, as a program's first thread has.
const STACK: usize = 8 << 20;

/// The group of what nothing else ends.
pub const ALONE: u64 = 0;

/// How far work is.
#[derive(Clone, Debug, Default)]
struct Reached {
    /// Of seconds of work, how many are done, how many there are, and what is done now.
    seconds: (f64, f64),
    step: String,
}

#[derive(Default)]
struct Board(Mutex<Reached>);

impl Show for Board {
    fn show(&self, snapshot: &Snapshot, _: News) {
        let mut reached = self.0.lock().expect("nothing panics while it holds the board");
        reached.seconds = (snapshot.done.as_secs_f64(), snapshot.whole.as_secs_f64());
        if reached.step != snapshot.step {
            reached.step.clone_from(&snapshot.step);
        }
    }
}

/// What is under way, by the group that it is of.
static UNDER_WAY: Mutex<Vec<(u64, Weak<AtomicBool>)>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<(u64, Weak<AtomicBool>)>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells all work of this group in this process to end.
#[pyfunction]
pub fn interrupt(group: u64) {
    let all = under_way();
    let of_group = all.iter().filter(|(other, _)| *other == group).filter_map(|(_, stop)| stop.upgrade());
    of_group.for_each(|stop| stop.store(true, Ordering::Relaxed));
}

/// Does `work`, which is of a group, in a thread of its own without the interpreter's lock. `progress` is called with the seconds of work that are
/// done, those of the whole, and the step, several times a second.
///
/// # Errors
/// What the work fails with; what a handler of a signal raises, as Ctrl-C does: then the work is told to end, and given some
/// time for it.
pub fn supervised<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    group: u64,
    work: impl FnOnce(&Host) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (stop, board) = (Arc::new(AtomicBool::new(false)), Arc::new(Board::default()));
    let mut all = under_way();
    all.retain(|(_, stop)| stop.strong_count() > 0);
    all.push((group, Arc::downgrade(&stop)));
    drop(all);
    let (end, ended) = channel();
    let host = (Arc::clone(&stop), Arc::clone(&board));
    let spawned = thread::Builder::new().name("assay".to_owned()).stack_size(STACK).spawn(move || {
        let (stop, board) = host;
        // Nobody waits any more for what was interrupted long ago.
        end.send(work(&Host { stop, show: &*board })).ok();
    });
    spawned.map_err(|error| failed(py, format!("no thread can be started: {error}")))?;
    let ended = Mutex::new(ended);
    loop {
        match py.detach(|| next(&ended, LOOK)) {
            Ok(done) => return done.map_err(|failure| raised(py, &failure)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(failed(py, "assay failed by a mistake of its own, which is told on standard error"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let told = py.check_signals().and_then(|()| {
            let Some(progress) = progress else { return Ok(()) };
            let reached = board.0.lock().expect("nothing panics while it holds the board").clone();
            progress.call1((reached.seconds.0, reached.seconds.1, reached.step)).map(drop)
        });
        if let Err(raised) = told {
            stop.store(true, Ordering::Relaxed);
            py.detach(|| {
                let since = Instant::now();
                while since.elapsed() < PATIENCE && matches!(next(&ended, LOOK), Err(RecvTimeoutError::Timeout)) {}
            });
            return Err(raised);
        }
    }
}

fn next<T>(ended: &Mutex<Receiver<T>>, most: Duration) -> Result<T, RecvTimeoutError> {
    ended.lock().expect("only one thread waits").recv_timeout(most)
}
