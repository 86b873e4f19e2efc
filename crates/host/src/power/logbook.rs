//! A log as a meter: its entries are matched with a measurement by the time of day.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use block::Nanos;
use jiff::Timestamp;

use super::PowerError;
use super::log;
use super::samples::{Amount, Lack, Samples};
use super::source::Csv;

/// How often is looked for new entries.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// By how much the time of day may be off from one measurement to the next for entries to be matched…
const SET_LEAST: Duration = Duration::from_millis(100);
/// …beside what the kernel itself slows it down or speeds it up by at most, in millionths.
///
/// Source: Linux, include/linux/timex.h, `MAXFREQ`.
const SLEW_MAX: f64 = 500e-6;

/// A log that another program goes on writing.
pub(super) struct Logbook {
    log: Csv,
    /// Both clocks when they were last compared.
    clocks: Mutex<(Instant, SystemTime)>,
}

impl Logbook {
    /// Looks into the log, which may have no entry yet.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn open(log: &Csv) -> Result<Self, PowerError> {
        log::read(log)?;
        Ok(Self { log: log.clone(), clocks: Mutex::new((Instant::now(), SystemTime::now())) })
    }

    pub fn name(&self) -> String {
        format!("log {}", self.log.path.display())
    }

    /// Energy between two moments; waits for the entry behind the later one.
    ///
    /// # Errors
    /// A sentence that says why it is not known.
    pub fn energy(&self, from: Instant, to: Instant) -> Result<Amount, String> {
        let name = self.name();
        let (now, wall) = (Instant::now(), SystemTime::now());
        if let Some(seconds) = self.was_set(now, wall) {
            return Err(format!(
                "The system clock was changed by {seconds:.1} s during the measurements, so {name} cannot be matched \
                 with this one."
            ));
        }
        let at = |moment: Instant| {
            let since = (wall - now.saturating_duration_since(moment)).duration_since(UNIX_EPOCH);
            Nanos::from_std(since.unwrap_or_default())
        };
        let (from, to) = (at(from), at(to));
        let unread = |error: PowerError| format!("Energy unknown: {name} could not be read: {error}.");
        let begun = Instant::now();
        let samples = loop {
            let samples = log::read(&self.log).map_err(unread)?;
            if samples.last() >= Some(to) || begun.elapsed() >= self.log.wait {
                break samples;
            }
            thread::sleep(LOOK_EVERY);
        };
        samples.energy(from, to).map_err(|lack| self.explained(lack, &samples, from, to))
    }

    fn explained(&self, lack: Lack, samples: &Samples, from: Nanos, to: Nanos) -> String {
        let name = self.name();
        match (lack, samples.first().zip(samples.last())) {
            (Lack::NotCovered, None) => format!("Energy unknown: {name} has no entries."),
            (Lack::NotCovered, Some((first, last))) => format!(
                "Energy unknown: {name} covers {} to {}, and the measurement ran from {} to {}; check that the logger \
                 keeps running, that it writes each entry at once (or wait longer, `wait=10s`), and that both clocks \
                 agree.",
                date(first),
                date(last),
                date(from),
                date(to)
            ),
            (Lack::Gap(longest), _) => {
                format!("Energy unknown: {name} has a gap of {longest}.")
            }
            (Lack::Few(entries), _) => format!(
                "Energy unknown: {name} has only {entries} entries in this time; measure longer (--runtime), or log \
                 more often."
            ),
        }
    }

    /// By how many seconds the time of day was set since it was last looked at.
    fn was_set(&self, now: Instant, wall: SystemTime) -> Option<f64> {
        let mut clocks = self.clocks.lock().expect("nothing panics while it holds two times");
        let (then, wall_then) = std::mem::replace(&mut *clocks, (now, wall));
        let steady = now.saturating_duration_since(then).as_secs_f64();
        let seconds = |duration: Duration| duration.as_secs_f64();
        let by_wall = wall.duration_since(wall_then).map_or_else(|back| -seconds(back.duration()), seconds);
        let off = by_wall - steady;
        (off.abs() > SET_LEAST.as_secs_f64() + SLEW_MAX * steady).then_some(off)
    }
}

/// `2026-11-21T16:00:00.5Z`, to the tenth of a second.
fn date(at: Nanos) -> String {
    let tenths = (at.as_nanos() / 100_000_000 * 100) as i64;
    Timestamp::from_millisecond(tenths).map_or_else(|_| at.to_string(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::source::{MeterKind, MeterSource};
    use super::*;

    /// A log of two watts with an entry every 100 ms, from and until so many seconds from now.
    fn logbook(folder: &tempfile::TempDir, from: f64, to: f64) -> Logbook {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let times = (0..).map(|i| from + f64::from(i) * 0.1).take_while(|at| *at <= to);
        let entries: String = times.map(|at| format!("{:.3},2.0\n", now + at)).collect();
        let path = folder.path().join("log.csv");
        std::fs::write(&path, format!("t,p\n{entries}")).unwrap();
        let source: MeterSource = format!("csv:{}?time=t&power=p&wait=1ms", path.display()).parse().unwrap();
        let MeterKind::Csv(log) = &source.kind else { panic!() };
        Logbook::open(log).unwrap()
    }

    /// A stretch of time that is over, from and until so many milliseconds ago.
    fn ago(from: u64, to: u64) -> (Instant, Instant) {
        let now = Instant::now();
        (now - Duration::from_millis(from), now - Duration::from_millis(to))
    }

    #[test]
    fn entries_are_matched_by_the_time_of_day() {
        let folder = tempfile::tempdir().unwrap();
        let book = logbook(&folder, -30.0, 30.0);
        let (from, to) = ago(6_000, 1_000);
        let amount = book.energy(from, to).unwrap();
        assert!((amount.joules - 10.0).abs() < 1e-3 && amount.readings.abs_diff(50) <= 1, "{amount:?}");
    }

    #[test]
    fn what_a_log_does_not_cover_is_told_with_both_times() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = ago(6_000, 1_000);
        let said = logbook(&folder, 10.0, 20.0).energy(from, to).unwrap_err();
        assert!(said.contains("log.csv covers 20") && said.contains("and the measurement ran from 20"), "{said}");
        let said = logbook(&folder, 5.0, 1.0).energy(from, to).unwrap_err();
        assert!(said.contains("has no entries"), "{said}");
        let said = logbook(&folder, -30.0, 30.0).energy(to, to + Duration::from_millis(250)).unwrap_err();
        assert!(said.contains("entries in this time"), "{said}");
    }

    #[test]
    fn a_clock_that_was_set_is_noticed_once() {
        let folder = tempfile::tempdir().unwrap();
        let book = logbook(&folder, -10.0, 20.0);
        let (now, wall) = (Instant::now() + Duration::from_secs(60), SystemTime::now() + Duration::from_secs(57));
        assert!((book.was_set(now, wall).unwrap() + 3.0).abs() < 0.05);
        assert_eq!(book.was_set(now + Duration::from_secs(5), wall + Duration::from_secs(5)), None);
    }
}
