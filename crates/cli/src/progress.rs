//! How far a run has come, on standard error.
//!
//! A line with the step and the time left; beneath it, while a measurement in real time goes on, what it does now.

use std::fmt::Write;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::{Metric, News, Progress, Show, Snapshot, Tracker, Watch};

use crate::terminal::{is_quiet, is_verbose, line, notice};

/// A bar with the current step and the time left; lines of text where standard error is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// Where there is no bar, each step gets a line, and so does a long run.
    lines: Option<Lines>,
}

/// A run takes long from here on.
pub const LONG: Duration = Duration::from_secs(60);

/// What is told of a long run where nothing is drawn.
struct Lines {
    /// When it is told next, since the run began.
    next: Mutex<Duration>,
}

impl Lines {
    fn new() -> Self {
        Self { next: Mutex::new(LONG) }
    }

    /// How long all of it takes, if that is long.
    fn whole(snapshot: &Snapshot) -> Option<String> {
        let whole = snapshot.whole.to_std();
        (whole >= LONG).then(|| format!("About {} in all", HumanDuration(whole)))
    }

    /// How far it is, after one minute, two, four and so on.
    fn course(&self, snapshot: &Snapshot) -> Option<String> {
        let mut next = self.next.lock().expect("nothing panics while it holds it");
        if snapshot.elapsed < *next {
            return None;
        }
        while *next <= snapshot.elapsed {
            *next *= 2;
        }
        let (share, left) = (snapshot.share()?, snapshot.left()?);
        Some(format!("{}: {:.0} % of all done, about {} left", snapshot.step, 100.0 * share, HumanDuration(left)))
    }
}

impl Bar {
    /// A bar that shows nothing yet.
    pub fn new() -> Self {
        Self::on(match is_quiet() {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        })
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(WHOLE));
        Self { lines: bar.is_hidden().then(Lines::new), bar }
    }
}

/// Does `work` that has no run in the store, with a bar for as long as it goes on.
pub fn with_bar<T>(work: impl FnOnce(&dyn Watch) -> T) -> T {
    let bar = Bar::new();
    let tracker = Tracker::new(&Progress::default(), vec![&bar]);
    let done = work(&tracker);
    tracker.finish();
    done
}

impl Show for Bar {
    fn show(&self, snapshot: &Snapshot, news: News) {
        match news {
            News::Begun => {
                if self.lines.is_some() {
                    Lines::whole(snapshot).iter().for_each(notice);
                }
                self.bar.set_length(snapshot.whole.as_nanos() / 1_000_000);
                self.bar.enable_steady_tick(Duration::from_millis(250));
            }
            News::Step => {
                if self.lines.is_some() {
                    notice(&snapshot.step);
                }
                self.bar.set_style(style(WHOLE));
                self.bar.set_message(line(&snapshot.step));
            }
            News::Advanced => {
                self.lines.as_ref().and_then(|lines| lines.course(snapshot)).iter().for_each(notice);
                self.bar.set_position(snapshot.done.as_nanos() / 1_000_000);
            }
            News::Live => {
                if let Some(speed) = snapshot.now {
                    self.bar.set_style(style(LIVE));
                    self.bar.set_prefix(speed.to_string());
                }
            }
            News::Kept if is_verbose() => self.bar.suspend(|| notice(kept(snapshot))),
            News::Found if is_verbose() => {
                self.bar.suspend(|| notice(snapshot.findings.last().map_or("", |found| found)))
            }
            News::Kept | News::Tried | News::Found => {}
            News::Over => self.bar.finish_and_clear(),
        }
    }
}

/// `read bs=4k: 5480 IOPS, 22.4 MB/s`.
fn kept(snapshot: &Snapshot) -> String {
    let Some(last) = &snapshot.last else { return String::new() };
    let mut words = format!("{} {}", last.step, last.cell).trim_end().to_owned();
    let figures = [(Metric::Iops, 0, "IOPS"), (Metric::Bandwidth, 1, "MB/s")];
    let figures = figures.into_iter().filter_map(|(of, digits, unit)| Some((last.figure(of)?, digits, unit)));
    for (place, (value, digits, unit)) in figures.enumerate() {
        write!(words, "{} {value:.digits$} {unit}", if place == 0 { ":" } else { "," }).expect("memory takes it");
    }
    words
}

/// What is shown of a run.
const WHOLE: &str = "{wide_msg} {bar:20} {percent:>3} %  {elapsed}, {left} left";
/// The same with a line for what a measurement does now.
const LIVE: &str = "{wide_msg} {bar:20} {percent:>3} %  {elapsed}, {left} left\n  {prefix}";

fn style(template: &str) -> ProgressStyle {
    let left = |state: &ProgressState, text: &mut dyn Write| {
        let millis = block::Nanos::from_millis;
        let (done, whole) = (millis(state.pos()), millis(state.len().unwrap_or_default()));
        let drawn = Snapshot { elapsed: state.elapsed(), done, whole, ..Snapshot::default() };
        // A text that cannot be written is the terminal's own trouble.
        match drawn.left() {
            Some(left) => write!(text, "{}", HumanDuration(left)).ok(),
            None => write!(text, "?").ok(),
        };
    };
    let style = ProgressStyle::with_template(template).expect("a test draws every template");
    style.with_key("left", left).progress_chars("━━╌")
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos};
    use indicatif::InMemoryTerm;

    use super::*;

    /// What has hands on the progress of a run that is shown on this bar.
    fn tracked(bar: &Bar) -> Tracker<'_> {
        Tracker::new(&Progress::default(), vec![bar])
    }

    /// What is on a terminal of 80 columns after half a second of a measurement.
    #[test]
    fn a_live_measurement_shows_its_speed_and_latencies_within_80_columns() {
        let terminal = InMemoryTerm::new(10, 80);
        let bar = Bar::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        let progress = tracked(&bar);
        progress.begin(Nanos::from_secs(10));
        progress.step("Random reads and writes, 4 KiB, by queue depth");
        progress.advance(Nanos::from_secs(4));
        let lately = engine::Lately { median: Nanos::from_nanos(514_560), p99: Nanos::from_nanos(122_400_000) };
        let requests = 1_061_200;
        let bytes = Bytes::from_kib(4).times(requests);
        progress.live(engine::LiveProgress {
            requests,
            bytes,
            elapsed: Nanos::from_millis(500),
            lately: Some(lately),
            ..Default::default()
        });
        bar.bar.tick();
        let shown = terminal.contents();
        let [whole, live] = shown.lines().collect::<Vec<_>>()[..] else { panic!("two lines, not {shown}") };
        assert!(whole.starts_with("Random reads and writes") && whole.contains(" 40 %"), "{shown}");
        assert_eq!(live, "  2122400 IOPS, 8693.4 MB/s; last second: median 515 µs, 99 % 122 ms");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        progress.step("Rest");
        bar.bar.tick();
        assert_eq!(terminal.contents().lines().count(), 1, "what is over is not shown: {}", terminal.contents());
        progress.finish();
    }

    #[test]
    fn a_long_run_without_a_terminal_tells_how_long_it_takes_and_ever_more_rarely_how_far_it_is() {
        let of = |whole| Snapshot { whole: Nanos::from_secs(whole), ..Snapshot::default() };
        assert_eq!(Lines::whole(&of(59)), None);
        assert_eq!(Lines::whole(&of(600)).as_deref(), Some("About 10 minutes in all"));
        let lines = Lines::new();
        let told = |elapsed| {
            let elapsed = Duration::from_secs(elapsed);
            let done = Nanos::from_secs(elapsed.as_secs());
            lines.course(&Snapshot { elapsed, done, step: "Fill".to_owned(), ..of(600) })
        };
        let seconds: Vec<u64> = (0..600).step_by(10).filter(|elapsed| told(*elapsed).is_some()).collect();
        assert_eq!(seconds, [60, 120, 240, 480]);
        assert_eq!(told(960).as_deref(), Some("Fill: 100 % of all done, about 0 seconds left"));
        assert_eq!(Lines::new().course(&Snapshot { elapsed: LONG, ..of(600) }), None, "nothing is known yet");
    }

    #[test]
    fn the_bar_draws_and_counts_what_is_done() {
        let bar = Bar::new();
        let progress = tracked(&bar);
        progress.begin(Nanos::from_secs(10));
        progress.step("Random reads");
        progress.advance(Nanos::from_secs(3));
        progress.advance(Nanos::from_secs(1));
        assert_eq!(bar.bar.position(), 4_000);
        assert_eq!(bar.bar.message(), "Random reads");
        progress.finish();
    }
}
