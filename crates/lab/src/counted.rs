//! How far a workload has come on a simulated drive.

use std::time::{Duration, Instant};

use block::{Bytes, Nanos, Op, Request, Tag};
use drive::{Drive, Observed};
use engine::{Clock, LiveProgress};
use workload::Workload;

use crate::subject::Share;

/// How often it is told, over the whole of a workload.
const TIMES: u64 = 1000;
/// How fast it is is told no more often than this.
const PAUSE: Duration = Duration::from_millis(100);

/// `drive` as it is to a workload that ends after so much data or time, where `share` hears every so often how far that has
/// come; nothing of one that ends otherwise. What it hears changes nothing of what is simulated.
pub(crate) fn counted<'a>(
    drive: &'a mut dyn Drive,
    workload: &Workload,
    share: &'a Share,
) -> Observed<'a, impl FnMut(Nanos, Tag, Request)> {
    let whole = workload.stop.bytes.unwrap_or(Bytes::new(u64::MAX));
    let length = workload.stop.time.map_or(Nanos::MAX, |time| workload.lead() + time);
    let (step, tick) = (Bytes::new(whole.get() / TIMES), Nanos::from_nanos(length.as_nanos() / TIMES));
    let began = drive.now();
    let (mut next, mut next_at) = (step, began + tick.min(Nanos::from_nanos(u64::MAX / 4)));
    let mut asked = LiveProgress { clock: Clock::Virtual, ..LiveProgress::default() };
    let mut told: Option<Instant> = None;
    Observed::new(drive, move |now, _, request: Request| {
        asked.requests += u64::from(request.op != Op::Flush);
        asked.bytes += request.bytes();
        if asked.bytes >= next || now >= next_at {
            (next, next_at) = (asked.bytes + step, now + tick.min(Nanos::from_nanos(u64::MAX / 4)));
            asked.elapsed = now.since(began);
            let is_due = told.is_none_or(|told| told.elapsed() >= PAUSE);
            let done = (asked.bytes.get() as f64 / whole.get() as f64)
                .max(asked.elapsed.as_nanos() as f64 / length.as_nanos() as f64);
            if is_due {
                told = Some(Instant::now());
            }
            share(done.min(1.0), is_due.then_some(asked));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use block::Seed;
    use drive::preset::Preset;
    use engine::run_virtual;
    use workload::{Pattern, Stop};

    use super::*;

    #[test]
    fn a_long_write_is_told_in_many_steps_and_runs_as_it_would_unheard() {
        let mut drive = Preset::find("x25-m?capacity.user=64MiB&spare=100%").unwrap().build();
        let mut other = drive.clone();
        let workload = Workload {
            pattern: Pattern::RandWrite,
            queue_depth: 8,
            stop: Stop::after_bytes(Bytes::from_mib(40)),
            ..Workload::default()
        };
        let heard = Mutex::new(Vec::new());
        let lively = Mutex::new(Vec::new());
        let tell = |share: f64, now: Option<LiveProgress>| {
            heard.lock().unwrap().push(share);
            lively.lock().unwrap().extend(now);
        };
        let told = run_virtual(&mut counted(&mut drive, &workload, &tell), &workload, Seed::new(1)).unwrap();
        let unheard = run_virtual(&mut other, &workload, Seed::new(1)).unwrap();
        assert_eq!((told.elapsed, told.drive), (unheard.elapsed, unheard.drive));
        let heard = heard.into_inner().unwrap();
        assert!((900..=1001).contains(&heard.len()) && heard.is_sorted(), "{} times", heard.len());
        assert!((0.49..0.51).contains(&heard[heard.len() / 2]) && *heard.last().unwrap() > 0.99, "{heard:?}");
        let first = lively.into_inner().unwrap()[0];
        assert!(first.clock == Clock::Virtual && first.requests > 0 && first.elapsed < told.elapsed, "{first:?}");
        let heard = Mutex::new(Vec::new());
        let tell = |share: f64, _: Option<LiveProgress>| heard.lock().unwrap().push(share);
        let timed = Workload { stop: Stop::after(Nanos::from_millis(200)), ..workload };
        run_virtual(&mut counted(&mut drive, &timed, &tell), &timed, Seed::new(1)).unwrap();
        let heard = heard.into_inner().unwrap();
        assert!(heard.len() > 100 && heard.is_sorted() && *heard.last().unwrap() <= 1.0, "{} times", heard.len());
    }
}
