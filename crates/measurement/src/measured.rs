//! What was measured.

use block::{Bytes, Nanos, Op, Seed};
use drive::Counters;
use serde::{Deserialize, Serialize};
use stats::{Bins, Histogram};
use workload::{SteadyEnd, Workload};

use crate::{Consumption, DiskUse, Failures, Handover, SubmissionTimes, Verified};

/// The length of an interval of [`Measurement::series`].
pub const TICK: Nanos = SteadyEnd::TICK;

/// What is shorter says nothing of the host: starting and ending are too much of it, and its clocks too coarse.
const TELLING: Nanos = Nanos::from_millis(100);

/// Workers that are busy for this share of the time leave none to wait for the target.
const HOST_LIMIT: f64 = 0.95;

/// Where requests come at a rate and this share of them is done in time, nothing was the limit.
const KEPT_UP: f64 = 0.95;

/// Which clock a measurement was taken by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// A simulated drive's own time.
    Virtual,
    /// The host's monotonic clock.
    #[default]
    Real,
}

/// One workload run once: counts, bytes, latencies, series, with the conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What was asked.
    pub workload: Workload,
    /// The seed of its random choices.
    pub seed: Seed,
    /// Whose time it is.
    pub clock: Clock,
    /// From the first counted submission to the last counted completion.
    pub elapsed: Nanos,
    pub read: Flow,
    /// What was written.
    pub write: Flow,
    /// What was trimmed.
    pub trim: Flow,
    /// Flushes, which move no data and are counted apart.
    pub flush: Flow,
    /// One entry a [`TICK`] of the time counted; the last may cover less.
    pub series: Vec<Tick>,
    /// The host's processor time, that for jobs beside this one included; none on a virtual clock.
    pub cpu: Option<Cpu>,
    /// Requests that failed, which are counted nowhere else; those of the time that is not counted included.
    pub failures: Failures,
    /// What came of checking written data; none where it was not asked for.
    pub verified: Option<Verified>,
    /// What the simulated drive did meanwhile, for jobs beside this one too; none on a real one.
    pub drive: Option<Counters>,
    /// What was consumed meanwhile, for jobs beside this one too; none where nobody metered it.
    pub energy: Option<Consumption>,
    /// When `elapsed` begins by the host's clock, so that a meter can be asked about just that time; none on a virtual
    /// clock and in what was stored.
    pub began: Option<std::time::Instant>,
}

/// The requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// How many were completed.
    pub requests: u64,
    /// How much data they moved.
    pub bytes: Bytes,
    /// How long each took, from submission to completion; from when it came where requests come at a rate.
    pub latency: Histogram,
    /// How long each took from submission to completion; none where `latency` says just that.
    pub service: Option<Box<Histogram>>,
}

impl Flow {
    /// Adds completed requests of `bytes` each.
    #[inline]
    fn record_all(&mut self, bytes: Bytes, latencies: &[Nanos]) {
        self.requests += latencies.len() as u64;
        self.bytes += bytes.times(latencies.len() as u64);
        self.latency.record_all(latencies);
    }

    /// Adds how long a request that came before it was submitted took from then on.
    #[inline]
    pub fn record_service(&mut self, latency: Nanos) {
        self.service.get_or_insert_default().record(latency);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        if let Some(service) = &other.service {
            self.service.get_or_insert_default().merge(service);
        }
    }
}

/// What was completed in one interval of the series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Trims completed.
    pub trims: u64,
    /// Data transferred by all of them.
    pub bytes: Bytes,
    /// The sum of their latencies.
    pub latency_total: Nanos,
    /// The longest of their latencies.
    pub latency_max: Nanos,
    /// How they lie; empty where that was not kept, as in series from before it was.
    pub latencies: Bins,
}

impl Tick {
    /// Adds one completed request.
    pub fn record(&mut self, op: Op, bytes: Bytes, latency: Nanos) {
        self.record_all(op, bytes, &[latency]);
    }

    /// Adds completed requests of one kind and of `bytes` each.
    #[inline]
    fn record_all(&mut self, op: Op, bytes: Bytes, latencies: &[Nanos]) {
        let count = latencies.len() as u64;
        match op {
            Op::Read => self.reads += count,
            Op::Write | Op::Append => self.writes += count,
            Op::Trim => self.trims += count,
            Op::Flush | Op::Zone(_) => {}
        }
        self.bytes += bytes.times(count);
        for &latency in latencies {
            self.latency_total = added(self.latency_total, latency);
            self.latency_max = self.latency_max.max(latency);
        }
        self.latencies.record_all(latencies);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.trims += other.trims;
        self.bytes += other.bytes;
        self.latency_total = added(self.latency_total, other.latency_total);
        self.latency_max = self.latency_max.max(other.latency_max);
        self.latencies.merge(&other.latencies);
    }

    pub const fn requests(&self) -> u64 {
        self.reads + self.writes + self.trims
    }

    /// The latency that `percent` of the requests did not exceed (50.0 is the median), within 1.6 %; none where nothing
    /// was completed, or where it was not kept for every request.
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let is_known = self.latencies.count() == self.requests();
        let found = self.latencies.percentile(percent).filter(|_| is_known)?;
        Some(found.min(self.latency_max))
    }
}

/// Both together, or as much as 64 bits hold, 585 years: millions of requests that come at once and wait for hours are more.
#[inline]
fn added(one: Nanos, other: Nanos) -> Nanos {
    Nanos::from_nanos(one.as_nanos().saturating_add(other.as_nanos()))
}

/// What a run took of the host, and how requests were handed to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// In the program.
    pub user: Nanos,
    /// In the kernel on the program's behalf.
    pub system: Nanos,
    /// How often a thread gave its processor up to wait.
    #[serde(default)]
    pub switches_voluntary: u64,
    /// How often a thread was made to leave its processor to another.
    #[serde(default)]
    pub switches_involuntary: u64,
    /// How requests were handed to the kernel; none where all were trims of a device, each a call of its own.
    #[serde(default)]
    pub handover: Option<Handover>,
    /// For how long the program did not run at all although it would have: it was suspended, or had no processor.
    #[serde(default)]
    pub halted: Nanos,
    /// How long submissions took; none where that was not timed.
    #[serde(default)]
    pub submission: Option<SubmissionTimes>,
    /// What the devices beneath the target did; none where the kernel does not say.
    #[serde(default)]
    pub disks: Vec<DiskUse>,
}

impl Cpu {
    /// The time of both kinds together.
    pub fn total(&self) -> Nanos {
        self.user + self.system
    }

    /// What has been added since `before`.
    #[must_use]
    pub fn since(self, before: &Self) -> Self {
        Self {
            user: self.user.since(before.user),
            system: self.system.since(before.system),
            switches_voluntary: self.switches_voluntary - before.switches_voluntary,
            switches_involuntary: self.switches_involuntary - before.switches_involuntary,
            handover: self.handover,
            halted: self.halted.since(before.halted),
            submission: self.submission,
            disks: self.disks,
        }
    }

    /// Adds what another worker or another run took.
    pub fn add(&mut self, other: &Self) {
        self.user += other.user;
        self.system += other.system;
        self.switches_voluntary += other.switches_voluntary;
        self.switches_involuntary += other.switches_involuntary;
        self.halted += other.halted;
        DiskUse::add_all(&mut self.disks, &other.disks);
        if let Some(submission) = &other.submission {
            self.submission.get_or_insert_default().add(submission);
        }
        self.handover = match (self.handover, other.handover) {
            (Some(mine), Some(theirs)) => Some(mine.lesser(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

/// No series is longer, four months: what comes later is in its last interval, or a trace of a few lines could take all
/// memory. The store keeps no longer one either.
pub const TICKS_MAX: usize = 10_000_000;

impl Measurement {
    /// A measurement to which nothing has been added yet.
    pub fn new(workload: Workload, seed: Seed, clock: Clock) -> Self {
        Self {
            workload,
            seed,
            clock,
            elapsed: Nanos::ZERO,
            read: Flow::default(),
            write: Flow::default(),
            trim: Flow::default(),
            flush: Flow::default(),
            series: Vec::new(),
            cpu: None,
            failures: Failures::default(),
            verified: None,
            drive: None,
            energy: None,
            began: None,
        }
    }

    /// Adds one request that completed `at` after the first counted submission.
    #[inline]
    pub fn record(&mut self, op: Op, bytes: Bytes, at: Nanos, latency: Nanos) {
        self.record_all(op, bytes, at, &[latency]);
    }

    /// Adds requests of one kind and of `bytes` each that completed within one [`TICK`], the last of them `at` after the first
    /// counted submission: the same as to add one after another.
    #[inline]
    pub fn record_all(&mut self, op: Op, bytes: Bytes, at: Nanos, latencies: &[Nanos]) {
        let flow = match op {
            Op::Read => &mut self.read,
            Op::Write | Op::Append => &mut self.write,
            Op::Trim => &mut self.trim,
            Op::Flush => return self.flush.record_all(bytes, latencies),
            // What a host does to a zone is no request of the workload.
            Op::Zone(_) => return,
        };
        flow.record_all(bytes, latencies);
        let tick = ((at.as_nanos() / TICK.as_nanos()) as usize).min(TICKS_MAX - 1);
        if tick >= self.series.len() {
            self.begin(tick);
        }
        self.series[tick].record_all(op, bytes, latencies);
        self.elapsed = self.elapsed.max(at);
    }

    /// Begins an interval, which ends the one before.
    #[cold]
    fn begin(&mut self, tick: usize) {
        let latencies = self.series.last_mut().map(|last| last.latencies.close()).unwrap_or_default();
        self.series.resize(tick, Tick::default());
        self.series.push(Tick { latencies, ..Tick::default() });
    }

    /// Adds how long a request took from submission, where its latency counts from when it came.
    #[inline]
    pub fn record_service(&mut self, op: Op, latency: Nanos) {
        match op {
            Op::Read => self.read.record_service(latency),
            Op::Write | Op::Append => self.write.record_service(latency),
            Op::Trim => self.trim.record_service(latency),
            // A flush comes when it is submitted.
            Op::Flush | Op::Zone(_) => {}
        }
    }

    /// Adds what another worker measured at the same time.
    pub fn merge(&mut self, other: &Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.trim.merge(&other.trim);
        self.flush.merge(&other.flush);
        if other.series.len() > self.series.len() {
            self.series.resize(other.series.len(), Tick::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.merge(theirs);
        }
        self.elapsed = self.elapsed.max(other.elapsed);
        self.merge_doubts(other);
        if let Some(cpu) = &other.cpu {
            self.cpu.get_or_insert_default().add(cpu);
        }
    }

    /// Adds what the same workload measured next: the times follow one another.
    pub fn append(&mut self, next: &Self) {
        self.read.merge(&next.read);
        self.write.merge(&next.write);
        self.trim.merge(&next.trim);
        self.flush.merge(&next.flush);
        self.series.extend_from_slice(&next.series);
        self.elapsed += next.elapsed;
        self.merge_doubts(next);
        if let Some(next) = &next.cpu {
            self.cpu.get_or_insert_default().add(next);
        }
        self.drive = match (self.drive, next.drive) {
            (Some(mine), Some(next)) => Some(mine + next),
            (mine, next) => mine.or(next),
        };
        self.energy = Consumption::one_after_another(self.energy.take(), next.energy.as_ref());
    }

    /// Adds what failed and what was checked elsewhere, apart from all figures.
    pub fn merge_doubts(&mut self, other: &Self) {
        self.failures.merge(&other.failures);
        if let Some(verified) = &other.verified {
            self.verified.get_or_insert_default().merge(verified);
        }
    }

    /// Whether requests failed or data was damaged, so that what was asked was not done in full.
    pub fn is_impaired(&self) -> bool {
        !self.failures.is_empty() || self.verified.as_ref().is_some_and(|verified| verified.damaged > 0)
    }

    /// Doubts about the target: what failed, what it did not keep, and why it is not known what it consumed.
    pub fn target_findings(&self) -> Vec<String> {
        let verified = self.verified.iter().flat_map(Verified::findings);
        let unmetered = self.energy.iter().flat_map(|energy| energy.doubts.clone());
        self.failures.finding().into_iter().chain(verified).chain(unmetered).collect()
    }

    /// Doubts about the host's part in it: whether it was the limit, and whether it did its work in a lesser way.
    /// All workers of all jobs together can keep so many `cores` busy. A worker that is in time waits actively for the next
    /// request, which is no limit.
    pub fn host_findings(&self, cores: u32) -> Vec<String> {
        let Some(cpu) = &self.cpu else { return Vec::new() };
        let busy = cpu.total().as_secs_f64() / (self.elapsed.as_secs_f64() * f64::from(cores));
        let limit = (self.elapsed >= TELLING && busy >= HOST_LIMIT && !self.keeps_up()).then(|| {
            format!(
                "Bottleneck: the host CPU, not the target. The workers used {:.0} % of their CPU time. Use more \
                 workers (--numjobs) if there are more cores, or larger requests.",
                busy * 100.0
            )
        });
        let halted = (cpu.halted > Nanos::ZERO).then(|| {
            format!(
                "assay was not running for {} of this measurement: it was suspended (by a signal, a debugger or a \
                 paused virtual machine) or got no CPU. Figures and latencies include that time; measure again.",
                cpu.halted
            )
        });
        limit.into_iter().chain(halted).chain(cpu.handover.and_then(Handover::finding)).collect()
    }

    /// Whether requests came at a rate and were done at it.
    fn keeps_up(&self) -> bool {
        let Workload { arrival, workers, .. } = &self.workload;
        let offered = arrival.requests_a_second(self.workload.block_mean().get() as f64) * f64::from(*workers);
        arrival.is_open() && self.iops() >= KEPT_UP * offered
    }

    /// Requests of all kinds but flushes.
    pub const fn requests(&self) -> u64 {
        self.read.requests + self.write.requests + self.trim.requests
    }

    /// Why it has no figures, where it has none: it is a job's beside others that have some.
    pub fn why_unmeasured(&self) -> Option<String> {
        let since = match self.workload.ramp {
            Nanos::ZERO => String::new(),
            ramp => format!(" after its ramp time of {ramp}"),
        };
        let is_none = self.requests() == 0 && !self.workload.verify.only;
        is_none.then(|| {
            format!("it completed no request{since}; give it a longer runtime, or a larger number_ios or io_size")
        })
    }

    /// Data of all kinds of requests.
    pub fn bytes(&self) -> Bytes {
        self.read.bytes + self.write.bytes + self.trim.bytes
    }

    /// Latencies of all kinds of requests but flushes together.
    pub fn latency(&self) -> Histogram {
        let mut all = self.read.latency.clone();
        all.merge(&self.write.latency);
        all.merge(&self.trim.latency);
        all
    }

    /// The same from submission; none where that is what the latencies are.
    pub fn service(&self) -> Option<Histogram> {
        let mut flows = [&self.read, &self.write, &self.trim].into_iter().filter_map(|flow| flow.service.as_deref());
        let first = flows.next()?.clone();
        Some(flows.fold(first, |mut all, service| {
            all.merge(service);
            all
        }))
    }

    /// Requests a second; zero when no time has passed.
    pub fn iops(&self) -> f64 {
        per_second(self.requests() as f64, self.elapsed)
    }

    /// Bytes a second; zero when no time has passed.
    pub fn bandwidth(&self) -> f64 {
        per_second(self.bytes().get() as f64, self.elapsed)
    }
}

fn per_second(amount: f64, elapsed: Nanos) -> f64 {
    if elapsed == Nanos::ZERO { 0.0 } else { amount / elapsed.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(requests: u64, each: Nanos) -> Measurement {
        let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        for i in 1..=requests {
            measurement.record(Op::Read, Bytes::from_kib(4), each.times(i), each);
        }
        measurement
    }

    #[test]
    fn requests_fall_into_their_second() {
        let measurement = measured(2500, Nanos::from_millis(1));
        assert_eq!(measurement.iops(), 1000.0);
        let reads: Vec<u64> = measurement.series.iter().map(|tick| tick.reads).collect();
        assert_eq!(reads, [999, 1000, 501]);
    }

    #[test]
    fn an_interval_tells_the_percentiles_of_its_requests() {
        let mut measurement = measured(999, Nanos::from_millis(1));
        measurement.record(Op::Write, Bytes::from_kib(4), Nanos::from_millis(999), Nanos::from_millis(70));
        measurement.record(Op::Read, Bytes::from_kib(4), Nanos::from_millis(2500), Nanos::from_micros(80));
        let near = |tick: usize, percent, wanted: Nanos| {
            let found = measurement.series[tick].percentile(percent).unwrap();
            let error = (found.as_micros_f64() / wanted.as_micros_f64() - 1.0).abs();
            assert!(error <= 0.016, "second {tick}, {percent} %: {found}, not {wanted}");
        };
        near(0, 50.0, Nanos::from_millis(1));
        near(0, 99.9, Nanos::from_millis(1));
        near(0, 99.99, Nanos::from_millis(70));
        near(2, 50.0, Nanos::from_micros(80));
        assert_eq!(measurement.series[0].percentile(100.0), Some(Nanos::from_millis(70)), "no more than the longest");
        assert_eq!(measurement.series[1].percentile(50.0), None, "nothing was completed");
        let unknown = Tick { reads: 5, ..Tick::default() };
        assert_eq!(unknown.percentile(50.0), None, "not zero");
    }

    #[test]
    fn the_series_of_workers_add_up_to_that_of_one_who_did_it_all() {
        let empty = || Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
        let (mut whole, mut parts) = (empty(), [empty(), empty(), empty()]);
        for i in 0..9_000_u64 {
            let (at, latency) = (Nanos::from_micros(i * 400), Nanos::from_nanos(50_000 + (i * i) % 900_000));
            whole.record(Op::Read, Bytes::from_kib(4), at, latency);
            parts[(i * i / 7) as usize % 3].record(Op::Read, Bytes::from_kib(4), at, latency);
        }
        let [mut sum, one, two] = parts;
        sum.merge(&one);
        sum.merge(&two);
        assert_eq!(sum.series.len(), 4);
        assert_eq!(sum.series, whole.series);
    }

    /// What is said of a second of reads that took this share of two cores, where so many could be kept busy.
    fn busy(percent: u64, cores: u32) -> Vec<String> {
        let mut measurement = measured(1000, Nanos::from_millis(1));
        let (user, system) = (Nanos::from_millis(5 * percent), Nanos::from_millis(15 * percent));
        measurement.cpu = Some(Cpu { user, system, ..Cpu::default() });
        measurement.host_findings(cores)
    }

    #[test]
    fn a_host_without_time_to_spare_was_the_limit() {
        assert_eq!(busy(94, 2), [""; 0]);
        let said = busy(96, 2);
        assert!(matches!(&said[..], [one] if one.contains("96 %") && one.contains("--numjobs")), "{said:?}");
        assert_eq!(busy(48, 1).len(), 1, "all of one core where there is no other");
        let mut short = measured(10, Nanos::from_millis(1));
        short.cpu = Some(Cpu { user: Nanos::from_millis(10), ..Cpu::default() });
        assert_eq!(short.host_findings(1), [""; 0], "ten milliseconds tell nothing");
    }

    #[test]
    fn waiting_for_requests_that_come_at_a_rate_is_no_limit() {
        let said = |rate| {
            let mut measurement = measured(1000, Nanos::from_millis(1));
            measurement.workload.arrival.rate = rate;
            measurement.cpu = Some(Cpu { user: Nanos::from_secs(1), ..Cpu::default() });
            measurement.host_findings(1).len()
        };
        assert_eq!((said(1000), said(1040)), (0, 0), "as many were done as came");
        assert_eq!((said(0), said(1100)), (1, 1), "more came than were done, or as soon as there was room");
    }

    #[test]
    fn workers_add_side_by_side_and_rounds_one_after_another() {
        let (one, two) = (measured(1000, Nanos::from_millis(1)), measured(1000, Nanos::from_millis(1)));
        let mut beside = one.clone();
        beside.merge(&two);
        assert_eq!((beside.iops(), beside.elapsed), (2000.0, Nanos::from_secs(1)));
        let mut after = one;
        after.append(&two);
        assert_eq!((after.iops(), after.elapsed), (1000.0, Nanos::from_secs(2)));
        assert_eq!(after.read.latency.count(), 2000);
        let (last, next) = (after.series.len() - two.series.len(), two.series.len());
        assert_eq!(after.series[last..][..next], two.series[..]);
    }
}
