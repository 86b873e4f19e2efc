//! A workload on a real target, in real time.

use std::fs;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use block::{Bytes, Nanos, Seed};
use rustix::io::Errno;
use workload::{Pattern, Workload};

use crate::uring::{BLOCK_MAX, PAGE};
use crate::worker::{Shared, Worker};
use crate::{Clock, Measurement, RealError, Target, kernel};

/// How often the caller is told of progress.
const WATCH_EVERY: Duration = Duration::from_millis(250);

/// The mappings of memory that a worker takes at most: its stack, that for signals, the guards of both, the kernel's
/// side of its queue, its buffers and its histograms.
const MAPS_EACH: u64 = 16;

/// How many mappings a process may have where the system does not say.
/// Source: Linux, include/linux/mm.h, `DEFAULT_MAX_MAP_COUNT`.
const MAPS_DEFAULT: u64 = 65_530;

/// How far a run has come, what is not counted included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed.
    pub requests: u64,
    /// The data that they moved.
    pub bytes: Bytes,
    /// The time since the first was submitted.
    pub elapsed: Nanos,
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
/// Without O_DIRECT the page cache is emptied of the target first, as fio does, unless it is to be kept; it is used from then on.
///
/// # Errors
/// If the workload does not fit the target, the kernel refuses what is needed, a request fails, or none is
/// completed. A failure of one worker ends them all.
pub fn run_real(
    target: &Target,
    workload: &Workload,
    seed: Seed,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Measurement, RealError> {
    check(target, workload)?;
    if !target.direct() && !target.keeps_cache() {
        target.drop_cache();
    }
    let shared = Shared::new(target, workload, seed);
    let (start, end) = (Gate::default(), Gate::default());
    let run = Run { shared: &shared, start: &start, end: &end, watch };
    let (measurement, began) = thread::scope(|scope| {
        let (sender, receiver) = channel();
        for index in 0..workload.workers {
            let (sender, run) = (sender.clone(), &run);
            let spawned = thread::Builder::new().name(format!("worker {index}"));
            if let Err(error) = spawned.spawn_scoped(scope, move || run.work(index, sender)) {
                start.open(None);
                return Err(RealError::Threads { workers: workload.workers, errno: errno(&error) });
            }
        }
        drop(sender);
        run.coordinate(&receiver)
    })?;
    if measurement.requests() == 0 {
        let time = Nanos::from_std(began.elapsed());
        return Err(match workload.ramp > time {
            true => RealError::OverInRamp { time, ramp: workload.ramp },
            false => RealError::NothingCompleted { time },
        });
    }
    Ok(measurement)
}

/// What of a workload can be seen to be impossible before anything is started.
fn check(target: &Target, workload: &Workload) -> Result<(), RealError> {
    workload.span(target.capacity())?;
    check_workers(workload.workers)?;
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
    if workload.pattern.changes_data() && !target.is_writable() {
        return Err(RealError::ReadOnly { path: target.path().to_owned() });
    }
    if matches!(workload.pattern, Pattern::Trim | Pattern::RandTrim) {
        return Ok(());
    }
    let block = workload.block_max();
    if block > BLOCK_MAX {
        return Err(RealError::BlockTooLarge { found: block, max: BLOCK_MAX });
    }
    if buffers(workload) > memory_available() { Err(memory_error(workload)) } else { Ok(()) }
}

/// Whether there is room for a thread with a queue for each worker. Without, a thread that cannot have the stack on
/// which it would handle signals ends the whole program.
fn check_workers(workers: u32) -> Result<(), RealError> {
    let count = |text: String| text.trim().parse::<u64>().ok();
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(count).unwrap_or(MAPS_DEFAULT);
    let used = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count() as u64);
    let max = limit.saturating_sub(used) / MAPS_EACH;
    if u64::from(workers) > max { Err(RealError::TooManyWorkers { workers, max }) } else { Ok(()) }
}

/// The memory of all requests that may be in flight.
fn buffers(workload: &Workload) -> Bytes {
    workload.block_max().round_up(PAGE).times(u64::from(workload.queue_depth) * u64::from(workload.workers))
}

/// More memory is asked for than there is.
pub(crate) fn memory_error(workload: &Workload) -> RealError {
    RealError::Memory { needed: buffers(workload), available: memory_available() }
}

/// The kernel refuses a ring, or to go on with it.
pub(crate) fn uring_error(errno: Errno) -> RealError {
    let setting = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok();
    RealError::Uring { errno, disabled: setting.and_then(|text| text.trim().parse().ok()) }
}

/// What can be had without swapping; everything where the kernel does not say.
fn memory_available() -> Bytes {
    let table = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kib.map_or(Bytes::new(u64::MAX), Bytes::from_kib)
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::AGAIN)
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
    Ended(Result<Box<Measurement>, RealError>),
}

struct Run<'r> {
    shared: &'r Shared<'r>,
    start: &'r Gate,
    /// Behind it workers are taken down, which is no part of what is measured.
    end: &'r Gate,
    watch: &'r (dyn Fn(Progress) + Sync),
}

impl Run<'_> {
    /// The life of worker number `index`. Nobody listens any more only when the run is being given up.
    fn work(&self, index: u32, news: Sender<News>) {
        let mut worker = match Worker::new(self.shared, index) {
            Ok(worker) => worker,
            Err(error) => {
                let _ = news.send(News::Ended(Err(error)));
                return;
            }
        };
        let _ = news.send(News::Ready);
        let Some(began) = self.start.wait() else { return };
        let ended = worker.run(began);
        if ended.is_err() {
            self.shared.over.store(true, Ordering::Relaxed);
        }
        let _ = news.send(News::Ended(ended.map(Box::new)));
        // Who still holds it is still running: the coordinator must not wait for those that have ended.
        drop(news);
        self.end.wait();
    }

    /// Starts the workers together and gathers what they measured; the first failure is the one to tell.
    fn coordinate(&self, news: &Receiver<News>) -> Result<(Measurement, Instant), RealError> {
        for _ in 0..self.shared.workload.workers {
            if let Ok(News::Ended(Err(error))) = news.recv() {
                self.start.open(None);
                return Err(error);
            }
        }
        let began = Instant::now();
        let mut cpu = kernel::cpu_time();
        self.start.open(Some(began));
        let mut measurement = Measurement::new(self.shared.workload.clone(), self.shared.seed, Clock::Real);
        let mut running = self.shared.workload.workers;
        let mut failure = None;
        // When counting begins, the processor time is read anew.
        let mut ramp = Some(self.shared.counted_from).filter(|from| *from > Nanos::ZERO);
        while running > 0 {
            let left = ramp.map(|from| from.since(Nanos::from_std(began.elapsed())));
            let patience = left.map_or(WATCH_EVERY, |left| left.to_std().min(WATCH_EVERY));
            match news.recv_timeout(patience) {
                Ok(News::Ready) => {}
                Ok(News::Ended(Ok(measured))) => {
                    measurement.merge(&measured);
                    running -= 1;
                }
                Ok(News::Ended(Err(error))) => {
                    failure.get_or_insert(error);
                    running -= 1;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.shared.target.is_stopped() {
                        self.shared.over.store(true, Ordering::Relaxed);
                    }
                    (self.watch)(self.progress(began));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if ramp.is_some_and(|from| Nanos::from_std(began.elapsed()) >= from) {
                (cpu, ramp) = (kernel::cpu_time(), None);
            }
        }
        measurement.cpu.get_or_insert_default().add(kernel::cpu_time().since(cpu));
        self.end.open(None);
        (self.watch)(self.progress(began));
        failure.map_or(Ok((measurement, began)), Err)
    }

    fn progress(&self, began: Instant) -> Progress {
        let requests = self.shared.requests.load(Ordering::Relaxed);
        let bytes = Bytes::new(self.shared.bytes.load(Ordering::Relaxed));
        Progress { requests, bytes, elapsed: Nanos::from_std(began.elapsed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_how_much_memory_there_is() {
        let available = memory_available();
        assert!(available > Bytes::from_mib(1) && available < Bytes::new(u64::MAX), "{available}");
    }

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
