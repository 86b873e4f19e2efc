//! How far a run has come, on standard error.

use std::sync::Mutex;
use std::time::Duration;

use block::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::Watch;

/// A bar with the current step and the time left; silent where standard error is no terminal.
pub struct Progress {
    bar: ProgressBar,
    last_step: Mutex<String>,
    /// Where there is no bar, each step gets a line.
    lines: bool,
}

impl Progress {
    /// A bar that shows nothing yet.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("{wide_msg} {bar:24} {percent:>3} %  {elapsed} gone, {eta} left")
            .expect("the template is a constant that a test draws")
            .progress_chars("━━╌");
        bar.set_style(style);
        Self { lines: bar.is_hidden(), bar, last_step: Mutex::default() }
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
                eprintln!("{title}");
            }
            title.clone_into(&mut last);
            self.bar.set_message(title.to_owned());
        }
    }

    fn advance(&self, done: Nanos) {
        self.bar.inc(done.as_nanos() / 1_000_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
