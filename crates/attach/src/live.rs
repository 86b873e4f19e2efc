//! What an attached drive is doing, for whoever looks.

use std::sync::{Arc, Mutex};

use block::{Bytes, Nanos};
use drive::Counters;
use serde::{Deserialize, Serialize};

use crate::heard::Heard;
use crate::power::Cut;

/// What an attached drive is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// Requests answered since it was attached.
    pub requests: u64,
    /// Data that they moved.
    pub bytes: Bytes,
    /// Requests a second of late.
    pub iops: f64,
    /// Bytes a second of late.
    pub bandwidth: f64,
    /// Requests in flight.
    pub in_flight: usize,
    /// Data programmed into flash for each byte written; none where the drive does not say.
    pub write_amplification: Option<f64>,
    /// How much later than the drive would have been a request was answered, in nanoseconds: the median.
    pub late_median: Nanos,
    /// The same of the slowest in a hundred.
    pub late_99: Nanos,
    /// What it cost that the drive's power was cut; none while it has power.
    #[serde(default)]
    pub cut: Option<Cut>,
}

/// Written by the server and read by others.
#[derive(Debug, Default)]
pub struct Shared {
    live: Mutex<Live>,
    heard: Arc<Heard>,
}

impl Shared {
    /// What was asked of the drive while somebody listened.
    pub fn heard(&self) -> &Arc<Heard> {
        &self.heard
    }

    /// What was written last.
    pub fn read(&self) -> Live {
        *self.live.lock().expect("nothing panics while it holds the figures")
    }

    /// Puts `live` in its place, unless somebody is reading it just now.
    pub fn write(&self, live: Live) {
        if let Ok(mut shared) = self.live.try_lock() {
            *shared = live;
        }
    }
}

/// Counts what is answered, and tells of it every so often.
#[derive(Debug)]
pub struct Count {
    live: Live,
    /// When it was told last, and what had been answered by then.
    told: (Nanos, u64, Bytes),
}

impl Count {
    /// How often it is told.
    const EVERY: Nanos = Nanos::from_millis(500);

    /// Nothing yet, at the machine's time `now`.
    pub fn new(now: Nanos) -> Self {
        Self { live: Live::default(), told: (now, 0, Bytes::ZERO) }
    }

    /// One more request that moved so much.
    pub fn add(&mut self, bytes: Bytes) {
        self.live.requests += 1;
        self.live.bytes += bytes;
    }

    /// How many requests were answered.
    pub fn requests(&self) -> u64 {
        self.live.requests
    }

    /// The figures at the machine's time `now`, if it is time to tell; the rest of them is left to the caller.
    pub fn told(&mut self, now: Nanos, counters: impl FnOnce() -> Counters) -> Option<&mut Live> {
        let (last, requests, bytes) = self.told;
        let passed = now.since(last);
        if passed < Self::EVERY {
            return None;
        }
        let seconds = passed.as_secs_f64();
        self.live.iops = (self.live.requests - requests) as f64 / seconds;
        self.live.bandwidth = (self.live.bytes - bytes).get() as f64 / seconds;
        self.live.write_amplification = counters().write_amplification();
        self.told = (now, self.live.requests, self.live.bytes);
        Some(&mut self.live)
    }
}
