//! What share of a workload has been asked of a simulated drive.

use block::{Bytes, Nanos, Request, Tag};
use drive::{Drive, Observed};
use workload::Workload;

use crate::subject::Share;

/// How often it is told, over the whole of a workload.
const TIMES: u64 = 200;

/// `drive` as it is to a workload that ends after so much data, where `share` hears every so often how far that has
/// come; nothing of one that ends otherwise.
pub(crate) fn counted<'a>(
    drive: &'a mut dyn Drive,
    workload: &Workload,
    share: &'a Share,
) -> Observed<'a, impl FnMut(Nanos, Tag, Request)> {
    let whole = workload.stop.bytes.unwrap_or(Bytes::new(u64::MAX));
    let step = Bytes::new(whole.get() / TIMES);
    let (mut asked, mut next) = (Bytes::ZERO, step);
    Observed::new(drive, move |_, _, request| {
        asked += request.bytes();
        if asked >= next {
            next += step;
            share((asked.get() as f64 / whole.get() as f64).min(1.0), None);
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
        let tell = |share: f64, _: Option<engine::RealProgress>| heard.lock().unwrap().push(share);
        let told = run_virtual(&mut counted(&mut drive, &workload, &tell), &workload, Seed::new(1)).unwrap();
        let unheard = run_virtual(&mut other, &workload, Seed::new(1)).unwrap();
        assert_eq!((told.elapsed, told.drive), (unheard.elapsed, unheard.drive));
        let heard = heard.into_inner().unwrap();
        assert!((195..=201).contains(&heard.len()) && heard.is_sorted(), "{} times", heard.len());
        assert!((0.49..0.51).contains(&heard[heard.len() / 2]) && *heard.last().unwrap() > 0.99, "{heard:?}");
        let timed = Workload { stop: Stop::after(Nanos::from_millis(10)), ..workload };
        run_virtual(&mut counted(&mut drive, &timed, &|_, _| panic!("told")), &timed, Seed::new(1)).unwrap();
    }
}
