//! How far a run has come, on standard error.
//!
//! A line with the step and the time left; beneath it, while a measurement in real time goes on, what it does now.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use block::Nanos;
use engine::{Lately, Measurement};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::Watch;

use crate::terminal::{is_quiet, is_verbose, line, notice};

/// A bar with the current step and the time left; silent where standard error is no terminal.
pub struct Progress {
    bar: ProgressBar,
    last_step: Mutex<String>,
    /// Where there is no bar, each step gets a line.
    lines: bool,
    /// What a measurement in real time had done when it was last heard of.
    heard: Mutex<engine::Progress>,
}

impl Progress {
    /// A bar that shows nothing yet.
    pub fn new() -> Self {
        Self::on(match is_quiet() {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        })
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(WHOLE));
        Self { lines: bar.is_hidden(), bar, last_step: Mutex::default(), heard: Mutex::default() }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn begin(&self, whole: Nanos) {
        self.bar.set_length(whole.as_nanos() / 1_000_000);
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    fn step(&self, title: &str) {
        let mut last = self.last_step.lock().expect("nothing panics while it holds the title");
        if *last != title {
            if self.lines {
                notice(title);
            }
            title.clone_into(&mut last);
            self.bar.set_style(style(WHOLE));
            self.bar.set_message(line(title));
        }
    }

    fn advance(&self, done: Nanos) {
        self.bar.inc(done.as_nanos() / 1_000_000);
    }

    fn kept(&self, step: &str, cell: &str, measurement: &Measurement) {
        if is_verbose() {
            let (iops, rate) =
                (measurement.iops(), measurement.bytes().get() as f64 / measurement.elapsed.as_secs_f64());
            let words = format!("{step} {cell}: {iops:.0} IOPS, {:.1} MB/s", rate / 1e6);
            self.bar.suspend(|| notice(words));
        }
    }

    fn found(&self, step: Option<&str>, cell: Option<&str>, finding: &str) {
        if is_verbose() {
            let place = [step, cell].into_iter().flatten().collect::<Vec<_>>().join(" ");
            self.bar.suspend(|| notice(format_args!("{place}: {finding}")));
        }
    }

    fn live(&self, now: engine::Progress) {
        let before = std::mem::replace(&mut *self.heard.lock().expect("nothing panics while it holds a number"), now);
        let Some(speed) = Speed::between(before, now) else { return };
        self.bar.set_style(style(LIVE));
        self.bar.set_prefix(speed.to_string());
    }
}

/// What is shown of a run.
const WHOLE: &str = "{wide_msg} {bar:24} {percent:>3} %  {elapsed} gone, {left} left";
/// The same with a line for what a measurement does now.
const LIVE: &str = "{wide_msg} {bar:24} {percent:>3} %  {elapsed} gone, {left} left\n  {prefix}";

fn style(template: &str) -> ProgressStyle {
    let left = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let (done, whole) = (state.pos(), state.len().unwrap_or_default());
        // A text that cannot be written is the terminal's own trouble.
        match time_left(state.elapsed(), done, whole) {
            Some(left) => write!(text, "{}", HumanDuration(left)).ok(),
            None => write!(text, "?").ok(),
        };
    };
    let style = ProgressStyle::with_template(template).expect("a test draws every template");
    style.with_key("left", left).progress_chars("━━╌")
}

/// How long the rest takes if it goes on as it has gone since the beginning; none before anything is done. What is done
/// and the whole are what the plan was expected to cost, which a test holds against what it does cost.
pub fn time_left(elapsed: Duration, done: u64, whole: u64) -> Option<Duration> {
    let left = whole.saturating_sub(done) as f64 / done as f64;
    (done > 0).then(|| elapsed.mul_f64(left))
}

/// How fast a measurement in real time is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub rate: f64,
    /// How long requests took in the last second; none where that has none.
    pub lately: Option<Lately>,
}

impl Speed {
    /// Between two times; none where nothing can be told of it.
    pub fn between(before: engine::Progress, now: engine::Progress) -> Option<Self> {
        // What is less than before is of another measurement.
        let before = if now.elapsed < before.elapsed { engine::Progress::default() } else { before };
        let seconds = now.elapsed.since(before.elapsed).as_secs_f64();
        let requests = now.requests.checked_sub(before.requests)? as f64;
        let bytes = now.bytes.get().checked_sub(before.bytes.get())? as f64;
        (seconds > 0.0).then(|| Self { iops: requests / seconds, rate: bytes / seconds, lately: now.lately })
    }
}

/// `61200 IOPS, 250.7 MB/s; last second: median 512 µs, 99 % 1.2 ms`. Latencies are left out where the last second has
/// none.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} IOPS, {:.1} MB/s", self.iops, self.rate / 1e6)?;
        match self.lately {
            Some(lately) => write!(f, "; last second: median {}, 99 % {}", lately.median, lately.p99),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;
    use indicatif::InMemoryTerm;

    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_was_done() {
        let seconds = Duration::from_secs;
        assert_eq!(time_left(seconds(30), 25, 100), Some(seconds(90)));
        assert_eq!(time_left(seconds(30), 120, 100), Some(seconds(0)), "more was done than was expected");
        assert_eq!(time_left(seconds(30), 0, 100), None);
    }

    #[test]
    fn the_speed_is_that_since_it_was_last_heard_of() {
        let at = |requests, millis| engine::Progress {
            requests,
            bytes: Bytes::from_kib(4).times(requests),
            elapsed: Nanos::from_millis(millis),
            lately: None,
        };
        let speed = |before, now| Speed::between(before, now).map(|speed| speed.to_string());
        assert_eq!(speed(at(1000, 500), at(3000, 1000)).unwrap(), "4000 IOPS, 16.4 MB/s");
        assert_eq!(speed(at(9000, 5000), at(500, 250)).unwrap(), "2000 IOPS, 8.2 MB/s", "the next measurement");
        assert_eq!(speed(at(10, 10), at(10, 10)), None);
    }

    /// What is on a terminal of 80 columns after half a second of a measurement.
    #[test]
    fn a_live_measurement_shows_its_speed_and_latencies_within_80_columns() {
        let terminal = InMemoryTerm::new(10, 80);
        let progress = Progress::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        progress.begin(Nanos::from_secs(10));
        progress.step("Random reads and writes, 4 KiB, by queue depth");
        progress.advance(Nanos::from_secs(4));
        let lately = engine::Lately { median: Nanos::from_nanos(514_560), p99: Nanos::from_nanos(122_400_000) };
        let requests = 1_061_200;
        let bytes = Bytes::from_kib(4).times(requests);
        progress.live(engine::Progress { requests, bytes, elapsed: Nanos::from_millis(500), lately: Some(lately) });
        progress.bar.tick();
        let shown = terminal.contents();
        let [whole, live] = shown.lines().collect::<Vec<_>>()[..] else { panic!("two lines, not {shown}") };
        assert!(whole.starts_with("Random reads and writes") && whole.contains(" 40 %"), "{shown}");
        assert_eq!(live, "  2122400 IOPS, 8693.4 MB/s; last second: median 515 µs, 99 % 122 ms");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        progress.step("Rest");
        progress.bar.tick();
        assert_eq!(terminal.contents().lines().count(), 1, "what is over is not shown: {}", terminal.contents());
        progress.finish();
    }

    #[test]
    fn the_bar_draws_and_counts_what_is_done() {
        let progress = Progress::new();
        progress.begin(Nanos::from_secs(10));
        progress.step("Random reads");
        progress.advance(Nanos::from_secs(4));
        assert_eq!(progress.bar.position(), 4_000);
        assert_eq!(progress.bar.message(), "Random reads");
        progress.finish();
    }
}
