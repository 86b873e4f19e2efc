//! Workloads on a real target, in real time.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use block::{Bytes, Nanos, Seed, Zone, ZoneLimits};
use host::{BlockDevice, DiskCounters, Machine};
use stats::Bins;
use workload::{Invalid, Workload};

use crate::crew::{CrewThread, Deposit, crew};
use crate::error::errno;
use crate::shortage::{buffers, ledger_error, memory_available};
use crate::steady::{self, SteadyPart};
use crate::uring::BLOCK_MAX;
use crate::worker::{Left, SharedRun, Silence, Worker};
use crate::zone_queue::ZoneQueue;
use crate::{Clock, Cpu, DiskUse, Job, Lately, Measurement, RealError, Target, kernel, ledger};

/// How often the caller is told of progress.
const WATCH_EVERY: Duration = Duration::from_millis(250);
/// How long the coordinator waits at first for workers that end.
const PAUSE: Duration = Duration::from_millis(1);
/// A coordinator that wakes up so much later than it wanted to was not let run, and nor were the workers.
const HALT: Duration = Duration::from_secs(1);

/// The mappings of memory that a worker takes at most: its stack, that for signals, the guards of both, the kernel's
/// side of its queue, its buffers and its histograms.
const MAPS_EACH: u64 = 16;

/// How far a run has come, what is not counted included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveProgress {
    /// By which clock.
    pub clock: Clock,
    /// Requests completed.
    pub requests: u64,
    /// The data that they moved.
    pub bytes: Bytes,
    /// The time since the first was submitted.
    pub elapsed: Nanos,
    /// How long requests took in the latest interval that is over, of those that are counted; none before the first is,
    /// and where nothing was completed in it.
    pub lately: Option<Lately>,
}

/// Runs `workload` on `target` and tells `watch` of its progress about four times a second, from this thread.
///
/// Each worker is a thread with an io_uring of its own. In a closed loop it keeps its queue depth in flight, and
/// latency runs from submission to the moment the worker takes up the completion, which is also when it submits
/// the next request. Where requests come at a rate, latency runs from when they came: waiting for room in the
/// queue, and a worker that wakes late, are part of it. A time limit ends the measurement with the first completion at or after it, as on a
/// simulated drive, so that neither a slow stream is cut short nor a stall at the end forgotten; what is still in
/// flight then is waited for but not counted. Processor time is that of the whole process while requests are
/// counted, for the kernel does some of the work in threads of its own that are charged to the process.
///
/// The page cache is emptied of the target first, as fio does, unless it is to be kept: what is in it would answer
/// buffered reads, and costs direct ones time. Without O_DIRECT it is used from then on.
///
/// # Errors
/// If the workload does not fit the target, the kernel refuses what is needed, a request fails, or none is
/// completed. A failure of one worker ends them all.
pub fn run_real(
    target: &Target,
    workload: &Workload,
    seed: Seed,
    watch: &(dyn Fn(LiveProgress) + Sync),
) -> Result<Measurement, RealError> {
    let jobs = [Job { name: "", workload, seed, observer: None }];
    let mut measured = run_real_together(target, &jobs, watch)?;
    Ok(measured.pop().expect("every job is measured"))
}

/// Runs `jobs` side by side on `target`; what each measured, in their order. `watch` hears of all of them together.
///
/// All workers of all jobs begin together; apart from that, each job runs as by [`run_real`], and ends by its own
/// limits. Processor time cannot be told apart by job: each is given all that the process used while the job's
/// requests were counted.
///
/// # Errors
/// As those of [`run_real`], with the name of the job. A failure of one worker ends all jobs. A job that completes nothing is no
/// error where another completes something.
pub fn run_real_together(
    target: &Target,
    jobs: &[Job],
    watch: &(dyn Fn(LiveProgress) + Sync),
) -> Result<Vec<Measurement>, RealError> {
    run_real_apart(&vec![target; jobs.len()], jobs, watch)
}

/// The same with a target for each job, in their order, such as files of one file system.
///
/// # Errors
/// As those of [`run_real_together`]. What ends one run early, by [`Target::stop_when`], ends them all.
///
/// # Panics
/// If there are not as many targets as jobs.
pub fn run_real_apart(
    targets: &[&Target],
    jobs: &[Job],
    watch: &(dyn Fn(LiveProgress) + Sync),
) -> Result<Vec<Measurement>, RealError> {
    assert_eq!(targets.len(), jobs.len(), "every job has a target");
    let placed = || targets.iter().copied().zip(jobs);
    placed().try_for_each(|(target, job)| check(target, job.workload).map_err(|error| error.of(job)))?;
    let workers = jobs.iter().map(|job| job.workload.workers).sum();
    check_workers(workers)?;
    check_memory(targets, jobs)?;
    // Those of one target follow one another.
    let mut distinct = targets.to_vec();
    distinct.dedup_by(|one, other| std::ptr::eq(*one, *other));
    distinct.iter().filter(|target| !target.keeps_cache()).for_each(|target| target.drop_cache());
    for (target, job) in placed().filter(|(_, job)| job.workload.changes_data()) {
        target.begin_writing(job.workload.span(target.capacity())?);
    }
    let zones: Vec<(&Target, Option<ZoneQueue>)> =
        distinct.iter().map(|target| Ok((*target, zone_queue(target)?))).collect::<Result<_, RealError>>()?;
    let steady = steady::watches(jobs);
    let shared: Vec<SharedRun> = placed()
        .enumerate()
        .map(|(place, (target, job))| shared_run(target, job, &zones, steady::part(&steady, jobs, place)))
        .collect::<Result<_, _>>()?;
    let (start, end) = (Gate::default(), Gate::default());
    let run = RealRun { jobs, shared: &shared, start: &start, end: &end, watch };
    let counts = crew(|crew| {
        let (sender, receiver) = channel();
        let mut threads = Vec::new();
        for (job, index) in run.workers() {
            let (sender, run, deposit) = (sender.clone(), &run, Arc::<WorkerDeposit>::default());
            let own = Arc::clone(&deposit);
            let life = move || run.work(job, index, own, sender);
            match crew.spawn(format!("worker {index}"), Arc::clone(&deposit), life) {
                Ok(thread) => threads.push((WorkerWatch::new(job, index, deposit), thread)),
                Err(error) => {
                    start.open(None);
                    return Err(RealError::Threads { workers, errno: errno(&error) });
                }
            }
        }
        drop(sender);
        let (mut counts, began) = run.coordinate(&receiver, &mut threads)?;
        run.read_back(threads, &mut counts, began)?;
        Ok(counts)
    })?;
    let is_any_done = counts.iter().any(|count| count.measurement.requests() > 0);
    counts
        .into_iter()
        .zip(jobs)
        .map(|(count, job)| count.measured(is_any_done).map_err(|error| error.of(job)))
        .collect()
}

/// What the workers of a job share, with the zones of its target.
fn shared_run<'r>(
    target: &'r Target,
    job: &Job<'r>,
    zones: &'r [(&Target, Option<ZoneQueue>)],
    steady: Option<SteadyPart<'r>>,
) -> Result<SharedRun<'r>, RealError> {
    let zones = zones.iter().find(|(known, _)| std::ptr::eq(*known, target)).and_then(|(_, zones)| zones.as_ref());
    SharedRun::new(target, job, zones, steady).map_err(|error| error.of(job))
}

/// What of a workload can be seen to be impossible before anything is started.
fn check(target: &Target, workload: &Workload) -> Result<(), RealError> {
    let span = workload.span(target.capacity())?;
    target.check(workload)?;
    let unit = target.block();
    if let Some(found) = workload.unfit(unit) {
        return Err(match workload.align == Some(found) {
            true => RealError::UnalignedPlaces { found, unit },
            false => RealError::UnalignedBlock { found, unit },
        });
    }
    if !workload.offset.is_multiple_of(unit) {
        return Err(RealError::UnalignedOffset { found: workload.offset, unit });
    }
    if let Some(part) = target.parts_in(span).find(|part| workload.changes_data() && !part.writable) {
        return Err(RealError::ReadOnly { path: part.path().to_owned() });
    }
    check_parts(target, workload, span)?;
    let block = workload.block_max();
    if block > BLOCK_MAX && !workload.pattern.trims() {
        return Err(RealError::BlockTooLarge { found: block, max: BLOCK_MAX });
    }
    Ok(())
}

/// The zones of a target as they are now; none if it has none.
fn zone_queue(target: &Target) -> Result<Option<ZoneQueue>, RealError> {
    let Some((part, device)) = target.zoned() else { return Ok(None) };
    let report = kernel::report_zones(part.fd())
        .map_err(|errno| RealError::ZoneReport { path: part.path().to_owned(), errno })?;
    let [open, active] = device.zone_limits();
    // Not every drive closes a zone to open another.
    let active = open.into_iter().chain(active).min();
    // What is used of a device may be less than all of it.
    let used: Vec<Zone> = report.into_iter().filter(|zone| zone.start.offset() < part.length).collect();
    Ok(Some(ZoneQueue::new(&used, ZoneLimits { open, active, append: target.takes_commands() })))
}

/// Whether the span of a workload lies on files alone, where a target is several. A replay only goes where its trace goes.
fn check_parts(target: &Target, workload: &Workload, (offset, length): (Bytes, Bytes)) -> Result<(), RealError> {
    let parts = || target.parts_in((offset, length));
    let covered: Bytes = parts().filter_map(|part| part.overlap((offset, length))).map(|(_, length)| length).sum();
    if covered < length && workload.replay.is_none() {
        let before = target.part_at(offset);
        return Err(RealError::BesidesFiles { offset, length, path: before.path().to_owned(), end: before.end() });
    }
    let of_kind = |device| parts().find(|part| part.is_device() == device).map(|part| part.path().to_owned());
    match (of_kind(false), of_kind(true)) {
        (Some(file), Some(device)) if workload.pattern.trims() => Err(RealError::TrimOfBoth { file, device }),
        _ => Ok(()),
    }
}

/// Whether there is room for all requests that move data.
fn check_memory(targets: &[&Target], jobs: &[Job]) -> Result<(), RealError> {
    let placed = targets.iter().zip(jobs);
    let ledgers = placed.map(|(target, job)| ledger::memory(job.workload, target.capacity()));
    let ledgers: Bytes = ledgers.sum::<Result<Bytes, Invalid>>()?;
    if ledgers > memory_available() {
        return Err(ledger_error(ledgers));
    }
    let needed = jobs.iter().map(|job| job.workload).filter(|workload| !workload.pattern.trims()).map(buffers).sum();
    let available = memory_available();
    if needed > available { Err(RealError::Memory { needed, available }) } else { Ok(()) }
}

/// Whether there is room for a thread with a queue for each worker. Without, a thread that cannot have the stack on
/// which it would handle signals ends the whole program.
fn check_workers(workers: u32) -> Result<(), RealError> {
    let max = Machine::here().mappings_left() / MAPS_EACH;
    if u64::from(workers) > max { Err(RealError::TooManyWorkers { workers, max }) } else { Ok(()) }
}

/// Holds the workers until all are ready, so that they start together, or until all have ended.
#[derive(Default)]
struct Gate {
    /// Outer: whether it has been opened; inner: when the run began, or none if it will not.
    state: Mutex<Option<Option<Instant>>>,
    opened: Condvar,
}

impl Gate {
    fn open(&self, began: Option<Instant>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(began);
        self.opened.notify_all();
    }

    fn wait(&self) -> Option<Instant> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.opened.wait_while(state, |state| state.is_none()).unwrap_or_else(PoisonError::into_inner);
        state.flatten()
    }
}

/// What a worker tells the coordinator.
enum News {
    Ready,
    /// A worker of this job has ended.
    Ended(usize, Result<Box<Measurement>, RealError>),
}

struct RealRun<'r> {
    jobs: &'r [Job<'r>],
    /// What the workers of each job share.
    shared: &'r [SharedRun<'r>],
    start: &'r Gate,
    /// Behind it workers are taken down, which is no part of what is measured.
    end: &'r Gate,
    watch: &'r (dyn Fn(LiveProgress) + Sync),
}

impl RealRun<'_> {
    /// Every worker: its job's place, and its number there.
    fn workers(&self) -> impl Iterator<Item = (usize, u32)> {
        (0..).zip(self.jobs).flat_map(|(place, job)| (0..job.workload.workers).map(move |index| (place, index)))
    }

    /// Has every worker of every job stop.
    fn give_up(&self) {
        self.shared.iter().for_each(|shared| shared.over.store(true, Ordering::Relaxed));
    }

    /// The life of a worker. Nobody listens any more only when the run is being given up. Where written data is to be
    /// checked that is done once all that is measured has ended, and gives what was found.
    fn work(&self, job: usize, index: u32, deposit: Arc<WorkerDeposit>, news: Sender<News>) -> ReadBack {
        let blame = |error: RealError| error.of(&self.jobs[job]);
        let mut worker = match Worker::new(&self.shared[job], index, deposit) {
            Ok(worker) => worker,
            Err(error) => {
                let _ = news.send(News::Ended(job, Err(blame(error))));
                return None;
            }
        };
        let _ = news.send(News::Ready);
        let began = self.begin(self.start.wait()?, job);
        let ended = worker.run(began);
        let is_whole = ended.is_ok();
        if ended.is_err() {
            self.give_up();
        }
        let _ = news.send(News::Ended(job, ended.map(Box::new).map_err(blame)));
        // Who still holds it is still running: the coordinator must not wait for those that have ended.
        drop(news);
        self.end.wait().filter(|_| is_whole).and_then(|_| worker.verify(began))
    }

    /// Waits for the begin of a job in a run that began at `began`, unless the run is given up before; when that is.
    fn begin(&self, began: Instant, job: usize) -> Instant {
        let (begin, shared) = (began + self.jobs[job].workload.delay.to_std(), &self.shared[job]);
        let left = || begin.saturating_duration_since(Instant::now());
        while !left().is_zero() && !shared.over.load(Ordering::Relaxed) && !shared.target.is_stopped() {
            thread::sleep(left().min(WATCH_EVERY));
        }
        if !left().is_zero() {
            shared.over.store(true, Ordering::Relaxed);
        }
        begin
    }

    /// Starts the workers together and gathers what they measured, with when that was; the first failure is the one to tell.
    fn coordinate(
        &self,
        news: &Receiver<News>,
        threads: &mut [(WorkerWatch, CrewThread<ReadBack>)],
    ) -> Result<(Vec<WorkerCount>, Instant), RealError> {
        let mut running = self.workers().count();
        for _ in 0..running {
            if let Ok(News::Ended(_, Err(error))) = news.recv() {
                self.start.open(None);
                return Err(error);
            }
        }
        // Before anybody begins: to look for devices takes as long as the first requests.
        let disks: Vec<_> = self.shared.iter().map(|shared| counted(shared.target.devices())).collect();
        let began = Instant::now();
        let elapsed = || Nanos::from_std(began.elapsed());
        let cpu = kernel::cpu_time();
        self.start.open(Some(began));
        let placed = self.jobs.iter().zip(disks);
        let mut counts: Vec<WorkerCount> =
            placed.map(|(job, disks)| WorkerCount::new(job, disks, began, &cpu)).collect();
        let mut failure = None;
        while running > 0 {
            let left = counts.iter().filter_map(|count| count.lead).min().map(|from| from.since(elapsed()));
            let patience = left.map_or(WATCH_EVERY, |left| left.to_std().min(WATCH_EVERY));
            let asleep = Instant::now();
            let heard = news.recv_timeout(patience);
            let late = asleep.elapsed().saturating_sub(patience);
            if late >= HALT {
                let counting = counts.iter_mut().filter(|count| count.lead.is_none());
                counting.for_each(|count| count.halted += Nanos::from_std(late));
            }
            match heard {
                Ok(News::Ready) => {}
                Ok(News::Ended(job, ended)) => {
                    let (measured, error) = (ended.as_deref().ok(), ended.as_ref().err());
                    counts[job].gather(measured, elapsed());
                    failure = failure.or(error.cloned());
                    running -= 1;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.shared.iter().any(|shared| shared.target.is_stopped()) {
                        self.give_up();
                    }
                    for (watch, _) in &mut *threads {
                        if let Some(measured) = watch.left_behind(&self.shared[watch.job], elapsed()) {
                            counts[watch.job].gather(Some(&measured), elapsed());
                            running -= 1;
                        }
                    }
                    (self.watch)(self.progress(began));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = elapsed();
            counts.iter_mut().for_each(|count| count.begin(now));
        }
        for SharedRun { target, workload, .. } in self.shared {
            if !target.direct() && workload.verify.stamps {
                // What is read back is to come from the drive.
                target.drop_cache();
            }
        }
        self.end.open(failure.is_none().then_some(began));
        (self.watch)(self.progress(began));
        failure.map_or(Ok((counts, began)), Err)
    }

    /// Adds what workers find that read back what they have written, until all have ended or are left behind; the first failure
    /// is the one to tell.
    fn read_back(
        &self,
        mut threads: Vec<(WorkerWatch, CrewThread<ReadBack>)>,
        counts: &mut [WorkerCount],
        began: Instant,
    ) -> Result<(), RealError> {
        let (mut pause, mut failure) = (PAUSE, None);
        loop {
            threads.retain_mut(|(watch, thread)| {
                let job = watch.job;
                let (has_ended, found) = match thread.ended() {
                    Some(found) => (true, found),
                    None => {
                        let found = watch.left_behind(&self.shared[job], Nanos::from_std(began.elapsed()));
                        (watch.is_gone, found.map(|found| Ok(*found)))
                    }
                };
                match found {
                    Some(Ok(found)) => counts[job].measurement.merge_doubts(&found),
                    Some(Err(error)) => failure = failure.take().or(Some(error.of(&self.jobs[job]))),
                    None => {}
                }
                !has_ended
            });
            if threads.is_empty() {
                return failure.map_or(Ok(()), Err);
            }
            thread::sleep(pause);
            pause = WATCH_EVERY.min(pause * 2);
        }
    }

    fn progress(&self, began: Instant) -> LiveProgress {
        let sum = |of: fn(&SharedRun) -> u64| self.shared.iter().map(of).sum();
        let mut latencies = Bins::default();
        self.shared.iter().for_each(|shared| shared.live.add_to(&mut latencies));
        LiveProgress {
            clock: Clock::Real,
            requests: sum(|shared| shared.requests.load(Ordering::Relaxed)),
            bytes: Bytes::new(sum(|shared| shared.bytes.load(Ordering::Relaxed))),
            elapsed: Nanos::from_std(began.elapsed()),
            lately: Lately::of(&latencies),
        }
    }
}

/// What a worker found that read back what it had written; none where it did not.
type ReadBack = Option<Result<Measurement, RealError>>;
/// Where a worker leaves what it has measured while it makes a request itself.
type WorkerDeposit = Deposit<Box<Left>>;

/// A worker as the coordinator sees it while it makes requests itself.
struct WorkerWatch {
    job: usize,
    /// Its number there.
    index: u32,
    deposit: Arc<WorkerDeposit>,
    silence: Silence,
    /// The number of the call in which it was when it was last looked at.
    call: u64,
    /// Whether it was left behind.
    is_gone: bool,
}

impl WorkerWatch {
    fn new(job: usize, index: u32, deposit: Arc<WorkerDeposit>) -> Self {
        Self { job, index, deposit, silence: Silence::default(), call: 0, is_gone: false }
    }

    /// Leaves the worker behind if its device does not answer; what it has measured.
    fn left_behind(&mut self, run: &SharedRun, now: Nanos) -> Option<Box<Measurement>> {
        let now = now.since(run.workload.delay);
        let (silence, known) = (&mut self.silence, &mut self.call);
        let left = self.deposit.take_if(|call, left| {
            if std::mem::replace(known, call) != call {
                *silence = Silence::default();
            }
            silence.is_over(run, now, left.ops())
        })?;
        self.is_gone = true;
        let measured = left.measured(run, now);
        if let Some(part) = run.steady {
            part.leave(self.index, &measured.series, now.since(run.counted_from));
        }
        Some(measured)
    }
}

/// What the workers of a job have measured so far.
struct WorkerCount {
    measurement: Measurement,
    /// How many have not ended.
    running: u32,
    /// When counting begins; none once it has.
    lead: Option<Nanos>,
    /// The process's time when it began.
    cpu: Cpu,
    /// The devices beneath the target, with what they had done by then.
    disks: Vec<(BlockDevice, DiskCounters)>,
    /// When that was.
    counted_from: Nanos,
    /// For how long nothing ran since counting began.
    halted: Nanos,
    /// When the last ended.
    ended: Nanos,
}

impl WorkerCount {
    fn new(job: &Job, disks: Vec<(BlockDevice, DiskCounters)>, began: Instant, cpu: &Cpu) -> Self {
        let Job { workload, seed, .. } = *job;
        let counted_from = began + workload.lead().to_std();
        let measurement = Measurement::new(workload.clone(), seed, Clock::Real);
        Self {
            measurement: Measurement { began: Some(counted_from), ..measurement },
            running: workload.workers,
            lead: Some(workload.lead()).filter(|lead| *lead > Nanos::ZERO),
            cpu: cpu.clone(),
            disks,
            counted_from: Nanos::ZERO,
            halted: Nanos::ZERO,
            ended: Nanos::ZERO,
        }
    }

    /// Reads the processor time anew when counting begins.
    fn begin(&mut self, now: Nanos) {
        if self.lead.is_some_and(|from| now >= from) {
            (self.cpu, self.lead, self.counted_from) = (kernel::cpu_time(), None, now);
            self.disks = counted(self.disks.drain(..).map(|(device, _)| device));
        }
    }

    /// Adds what a worker that ended `now` has measured, if it did not fail.
    fn gather(&mut self, measured: Option<&Measurement>, now: Nanos) {
        measured.into_iter().for_each(|measured| self.measurement.merge(measured));
        self.running -= 1;
        if self.running == 0 {
            (self.ended, self.lead) = (now, None);
            let time = now.since(self.counted_from);
            let disks = self.disks.iter().filter_map(|(device, before)| disk_use(device, *before, time)).collect();
            let taken = Cpu { halted: self.halted, disks, ..kernel::cpu_time().since(&self.cpu) };
            self.measurement.cpu.get_or_insert_default().add(&taken);
        }
    }

    /// The whole job's measurement, unless nothing was completed by it, nor by any other job.
    fn measured(self, is_any_done: bool) -> Result<Measurement, RealError> {
        let Workload { delay, ramp, .. } = self.measurement.workload;
        let time = self.ended.since(delay);
        match self.measurement.requests() {
            0 if !self.measurement.failures.is_empty() => {
                Err(RealError::AllFailed { words: self.measurement.failures.words() })
            }
            0 if is_any_done => Ok(self.measurement),
            0 if ramp > time => Err(RealError::OverInRamp { time, ramp }),
            0 => Err(RealError::NothingCompleted { time }),
            _ => Ok(self.measurement),
        }
    }
}

/// Devices with what they have done by now; those of which the kernel counts nothing are left out.
fn counted(devices: impl IntoIterator<Item = BlockDevice>) -> Vec<(BlockDevice, DiskCounters)> {
    devices.into_iter().filter_map(|device| device.counters().map(|counters| (device, counters))).collect()
}

/// What a device has done in this time, since it had done what was `before`.
fn disk_use(device: &BlockDevice, before: DiskCounters, time: Nanos) -> Option<DiskUse> {
    let done = device.counters()?.since(before);
    Some(DiskUse {
        name: device.name.clone(),
        reads: done.reads,
        writes: done.writes,
        reads_merged: done.reads_merged,
        writes_merged: done.writes_merged,
        read_time: done.read_time,
        write_time: done.write_time,
        queued: done.queued,
        busy: done.busy,
        time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_the_gate_before_it_opens_and_all_learn_the_same() {
        let gate = Gate::default();
        let began = Instant::now();
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.wait())).collect();
            gate.open(Some(began));
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap() == Some(began)));
        });
    }
}
