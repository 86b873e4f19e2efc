//! Reading a meter in a thread of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use block::Nanos;

use super::PowerError;
use super::gauge::Gauge;
use super::samples::{Amount, Lack, Samples};

/// How long a meter that has failed is left alone before it is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long is waited for the reading behind a measurement, if a meter neither answers nor fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the thread is waited for at the end, so that it leaves its meter in order.
const FAREWELL: Duration = Duration::from_secs(1);

/// A meter that is read until this is dropped.
pub(super) struct Sampler {
    /// The meter's own name.
    pub name: String,
    origin: Instant,
    shared: Arc<SharedSamples>,
}

struct SharedSamples {
    state: Mutex<SamplerState>,
    changed: Condvar,
}

struct SamplerState {
    samples: Samples,
    /// When a reading failed last, and why.
    failure: Option<(Nanos, String)>,
    /// Whether nobody wants more.
    stop: bool,
    /// Whether the thread has let go of the meter.
    ended: bool,
}

impl Sampler {
    /// Begins to read `gauge`; times count from `origin`. The first reading is there when this returns.
    ///
    /// # Errors
    /// If it cannot be read even once, or there is no thread to be had.
    pub fn begin(mut gauge: Box<dyn Gauge>, origin: Instant) -> Result<Self, PowerError> {
        let name = gauge.name();
        let mut samples = Samples::new(gauge.unit());
        let (at, value) = read(gauge.as_mut(), origin)?;
        samples.add(at, value);
        let state = SamplerState { samples, failure: None, stop: false, ended: false };
        let shared = Arc::new(SharedSamples { state: Mutex::new(state), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("power meter".to_owned());
        thread
            .spawn(move || {
                theirs.read_on(gauge.as_mut(), origin);
                drop(gauge);
                theirs.state().ended = true;
                theirs.changed.notify_all();
            })
            .map_err(|error| PowerError::Thread { error })?;
        Ok(Self { name, origin, shared })
    }

    /// Energy between two moments, the later of which is not in the future: waits for the reading behind it.
    ///
    /// # Errors
    /// A sentence that says why it is not known.
    pub fn energy(&self, from: Instant, to: Instant) -> Result<Amount, String> {
        let at = |moment: Instant| Nanos::from_std(moment.saturating_duration_since(self.origin));
        let (from, to) = (at(from), at(to));
        let waits = |state: &mut SamplerState| {
            let last = state.samples.last();
            let has_failed = state.failure.as_ref().is_some_and(|(failed, _)| Some(*failed) > last);
            last.is_none_or(|last| last < to) && !has_failed
        };
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(self.shared.state(), PATIENCE, waits)
            .expect("nothing panics while it holds the readings");
        let name = &self.name;
        state.samples.energy(from, to).map_err(|lack| match (&state.failure, lack) {
            (Some((failed, words)), Lack::NotCovered | Lack::Gap(_)) if *failed >= from => {
                format!("Energy unknown: {name} failed during the measurement: {words}.")
            }
            (_, Lack::NotCovered) => {
                format!("Energy unknown: {name} gave no reading before or after the measurement.")
            }
            (_, Lack::Gap(longest)) => {
                format!("Energy unknown: {name} gave no reading for {longest}.")
            }
            (_, Lack::Few(readings)) => format!(
                "Energy unknown: {name} gave only {readings} readings in this time; measure longer (--runtime), or \
                 read it more often (`every=`, or `nplc=` of a multimeter)."
            ),
        })
    }

    /// Drops the readings that are needed only for times before `moment`.
    pub fn forget_before(&self, moment: Instant) {
        let moment = Nanos::from_std(moment.saturating_duration_since(self.origin));
        self.shared.state().samples.forget_before(moment);
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.stop = true;
        self.shared.changed.notify_all();
        // A meter that does not answer is not waited for.
        drop(self.shared.changed.wait_timeout_while(state, FAREWELL, |state| !state.ended));
    }
}

impl SharedSamples {
    fn state(&self) -> MutexGuard<'_, SamplerState> {
        self.state.lock().expect("nothing panics while it holds the readings")
    }

    /// Reads until nobody wants more.
    fn read_on(&self, gauge: &mut dyn Gauge, origin: Instant) {
        let mut next = Instant::now() + gauge.pause();
        let mut is_broken = false;
        while self.rests_until(next) {
            let begun = Instant::now();
            let done = if is_broken { gauge.reopen() } else { Ok(()) }.and_then(|()| read(gauge, origin));
            let mut state = self.state();
            is_broken = done.is_err();
            match done {
                Ok((at, value)) => state.samples.add(at, value),
                Err(error) => state.failure = Some((Nanos::from_std(origin.elapsed()), error.to_string())),
            }
            next = match is_broken {
                true => Instant::now() + AGAIN_AFTER,
                // What took too long is not made up for.
                false => (next + gauge.pause()).max(begun),
            };
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits until `moment`; false if nobody wants more.
    fn rests_until(&self, moment: Instant) -> bool {
        let mut state = self.state();
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if state.stop || left.is_zero() {
                return !state.stop;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect("nothing panics while it holds the readings").0;
        }
    }
}

/// A reading with its time, the middle of what it took.
fn read(gauge: &mut dyn Gauge, origin: Instant) -> Result<(Nanos, f64), PowerError> {
    let begun = origin.elapsed();
    let value = gauge.read()?;
    Ok((Nanos::from_std((begun + origin.elapsed()) / 2), value))
}
