//! What an attached drive is doing, for whoever looks.

use std::sync::{Arc, Mutex};

use block::{Bytes, Nanos};
use drive::{Counters, Device, Drive, Health};
use serde::{Deserialize, Serialize};

use crate::power::PowerCut;
use crate::request_recorder::RequestRecorder;

/// What an attached drive says of its life, from which its SMART data is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmartData {
    pub counters: Counters,
    pub health: Health,
}

impl SmartData {
    /// That of `drive` as it is now.
    pub fn of(drive: &Device) -> Self {
        Self { counters: drive.counters(), health: drive.health() }
    }
}

/// What an attached drive is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveStats {
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
    /// How long the drive itself took for a request: the median, on the machine's clock.
    #[serde(default)]
    pub own_median: Nanos,
    /// Requests that were answered with an error: the drive's own, that of a fault that was asked for, or the lack of power.
    #[serde(default)]
    pub failed: u64,
    /// Whether a fault that was asked for has made the drive vanish.
    #[serde(default)]
    pub has_vanished: bool,
    /// Whether the model of the drive had a mistake: everything is answered with an error since.
    #[serde(default)]
    pub is_broken: bool,
    /// When the server told of this, on the machine's monotonic clock; zero before it has.
    #[serde(default)]
    pub told: Nanos,
    /// What it cost that the drive's power was cut; none while it has power.
    #[serde(default)]
    pub cut: Option<PowerCut>,
    /// The drive's SMART data; none in entries of a server that does not tell it.
    #[serde(default)]
    pub smart: Option<SmartData>,
}

impl LiveStats {
    /// How much of the drive's own time a request may be late before figures that were measured on it are in doubt: the
    /// median, in percent. It is what the attached drive's own latency may be off by; see docs/attach.md.
    const LATE_MEDIAN_MAX: u64 = 5;
    /// The same of the slowest in a hundred.
    const LATE_99_MAX: u64 = 100;
    /// Fewer requests than this say nothing.
    const REQUESTS_MIN: u64 = 100;

    /// What is to be said of figures that are measured on the drive, if it is answered for too late: nothing otherwise.
    ///
    /// ```
    /// # use assay_attach::LiveStats;
    /// # use block::Nanos;
    /// let live = LiveStats { requests: 1000, own_median: Nanos::from_micros(200), ..LiveStats::default() };
    /// assert_eq!(live.finding(), None);
    /// let late = LiveStats { late_median: Nanos::from_micros(40), ..live };
    /// assert!(late.finding().unwrap().contains("20 % of its own 200 µs"));
    /// ```
    pub fn finding(&self) -> Option<String> {
        let Self { late_median, late_99, own_median, .. } = *self;
        let percent = |late: Nanos| late.as_nanos().saturating_mul(100) / own_median.as_nanos().max(1);
        let is_late = percent(late_median) > Self::LATE_MEDIAN_MAX || percent(late_99) > Self::LATE_99_MAX;
        (self.requests >= Self::REQUESTS_MIN && is_late).then(|| {
            format!(
                "The attached drive answered late: median {late_median}, which is {} % of its own {own_median}, and 99 \
                 % {late_99}; measured latencies are too long by as much. Leave a CPU free, attach it with --busy, or \
                 slow it down with --speed.",
                percent(late_median)
            )
        })
    }
}

/// Written by the server and read by others.
#[derive(Debug, Default)]
pub struct SharedStats {
    live: Mutex<LiveStats>,
    heard: Arc<RequestRecorder>,
}

impl SharedStats {
    /// What was asked of the drive while somebody listened.
    pub fn heard(&self) -> &Arc<RequestRecorder> {
        &self.heard
    }

    /// What was written last.
    pub fn read(&self) -> LiveStats {
        *self.live.lock().expect("nothing panics while it holds the figures")
    }

    /// Puts `live` in its place, unless somebody is reading it just now.
    pub fn write(&self, live: LiveStats) {
        if let Ok(mut shared) = self.live.try_lock() {
            *shared = live;
        }
    }
}

/// Counts what is answered, and tells of it every so often.
#[derive(Debug)]
pub struct StatsCounter {
    live: LiveStats,
    /// When it was told last, and what had been answered by then.
    told: (Nanos, u64, Bytes),
}

impl StatsCounter {
    /// How often it is told.
    const EVERY: Nanos = Nanos::from_millis(500);

    /// Nothing yet, at the machine's time `now`.
    pub fn new(now: Nanos) -> Self {
        Self { live: LiveStats::default(), told: (now, 0, Bytes::ZERO) }
    }

    /// One more request that moved so much.
    pub fn add(&mut self, bytes: Bytes) {
        self.live.requests += 1;
        self.live.bytes += bytes;
    }

    /// One more request that failed.
    pub fn fail(&mut self) {
        self.live.failed += 1;
    }

    /// How many requests were answered.
    pub fn requests(&self) -> u64 {
        self.live.requests
    }

    /// The figures at the machine's time `now`, if it is time to tell; the rest of them is left to the caller.
    pub fn told(&mut self, now: Nanos, smart: impl FnOnce() -> Option<SmartData>) -> Option<&mut LiveStats> {
        let (last, requests, bytes) = self.told;
        let passed = now.since(last);
        if passed < Self::EVERY {
            return None;
        }
        let seconds = passed.as_secs_f64();
        self.live.iops = (self.live.requests - requests) as f64 / seconds;
        self.live.bandwidth = (self.live.bytes - bytes).get() as f64 / seconds;
        let smart = smart();
        self.live.write_amplification = smart.and_then(|smart| smart.counters.write_amplification());
        self.live.smart = smart.or(self.live.smart);
        (self.live.told, self.told) = (now, (now, self.live.requests, self.live.bytes));
        Some(&mut self.live)
    }
}
