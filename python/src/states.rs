//! What a process keeps from one cell to the next: states of conditioned drives, and threads.
//!
//! Executors fork: a child has its parent's memory and none of its threads. So threads are known by the process that
//! started them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_cli::{Failure, embedded};
use attach::{state_from_bytes, state_to_bytes};
use drive::Device;
use drive::preset::Preset;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// What all states together may take as bytes; those used least recently go first.
const BYTES_MAX: usize = 1 << 30;

/// The simulated drive of this name.
pub fn preset(name: &str) -> Result<Preset, Failure> {
    embedded::preset(name)
}

/// The threads of this process.
///
/// # Errors
/// If none can be started.
pub fn pool() -> Result<Arc<ThreadPool>, Failure> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let (process, mut pool) = (std::process::id(), locked(&POOL));
    if let Some((owner, pool)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let made = threads(0)?;
    // One of a parent's has no threads to be told to end.
    std::mem::forget(pool.replace((process, Arc::clone(&made))));
    Ok(made)
}

/// So many threads; 0 for one a processor.
///
/// # Errors
/// If they cannot be started.
pub fn threads(count: usize) -> Result<Arc<ThreadPool>, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("assay-{number}")).build();
    pool.map(Arc::new).map_err(|error| Failure::failed(format!("no threads can be started: {error}")))
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between any two changes.
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Conditioned drives, by what made them.
struct States {
    /// The one that was used last, ready to be cloned.
    last: Option<(String, State)>,
    /// Those before it, the one used last behind.
    saved: Vec<Saved>,
}

/// A drive in a state, and doubts about that.
#[derive(Clone)]
pub struct State {
    pub device: Device,
    pub findings: Vec<String>,
}

/// The same as bytes.
struct Saved {
    recipe: String,
    bytes: Vec<u8>,
    findings: Vec<String>,
}

static STATES: Mutex<States> = Mutex::new(States { last: None, saved: Vec::new() });
static MADE: AtomicU64 = AtomicU64::new(0);

/// How many states were made in this process.
pub fn made() -> u64 {
    MADE.load(Ordering::Relaxed)
}

/// The drive in the state that `recipe` leads to, which `make` makes where it is not kept; whether it was made. One at a time:
/// who needs the same state waits for it.
///
/// # Errors
/// As those of `make`.
pub fn state(
    recipe: &str,
    like: impl FnOnce() -> Device,
    make: impl FnOnce() -> Result<State, Failure>,
) -> Result<(State, bool), Failure> {
    let mut states = locked(&STATES);
    if let Some((known, state)) = &states.last
        && known == recipe
    {
        return Ok((state.clone(), false));
    }
    let saved = states.saved.iter().position(|saved| saved.recipe == recipe);
    let found = saved.and_then(|place| {
        let Saved { bytes, findings, .. } = states.saved.remove(place);
        Some(State { device: state_from_bytes(&bytes, recipe, &like()).ok()?, findings })
    });
    let is_made = found.is_none();
    let mut state = found.map_or_else(make, Ok)?;
    MADE.fetch_add(u64::from(is_made), Ordering::Relaxed);
    state.device.lend();
    if let Some((recipe, State { device, findings })) = states.last.replace((recipe.to_owned(), state.clone())) {
        let bytes = state_to_bytes(&recipe, &device);
        states.saved.push(Saved { recipe, bytes, findings });
        while states.saved.iter().map(|saved| saved.bytes.len()).sum::<usize>() > BYTES_MAX {
            states.saved.remove(0);
        }
    }
    Ok((state, is_made))
}
