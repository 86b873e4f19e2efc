//! How far each drive has come: a table on a terminal, lines elsewhere.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::site::LiveSnapshot;
use store::RunId;

use crate::terminal::{is_quiet, is_verbose, line, notice};

/// The steps of a bar.
const WHOLE: u64 = 1000;
/// The widest name of a drive that is shown.
const NAME_MAX: usize = 28;

/// A row a drive.
pub struct View {
    rows: Vec<Row>,
    all: MultiProgress,
    is_lines: bool,
}

struct Row {
    target: String,
    bar: ProgressBar,
    step: String,
    began: bool,
}

impl View {
    /// Nothing is begun yet.
    pub fn of(targets: &[String]) -> Self {
        let target = if is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(4) };
        Self::on(target, targets)
    }

    fn on(target: ProgressDrawTarget, targets: &[String]) -> Self {
        let all = MultiProgress::with_draw_target(target);
        let is_lines = all.is_hidden();
        let room = targets.iter().map(|target| target.chars().count()).max().unwrap_or(0).min(NAME_MAX);
        let style = format!("{{prefix:{room}.{room}}} {{bar:12}} {{percent:>3}} % {{wide_msg}}");
        let style = ProgressStyle::with_template(&style).expect("a test draws it").progress_chars("━━╌");
        let row = |target: &String| {
            let bar = all.add(ProgressBar::new(WHOLE).with_style(style.clone()).with_prefix(short(target)));
            Row { target: target.clone(), bar, step: String::new(), began: false }
        };
        Self { rows: targets.iter().map(row).collect(), all, is_lines }
    }

    /// A drive's process was started.
    pub fn begun(&mut self, at: usize) {
        let row = &mut self.rows[at];
        row.began = true;
        row.bar.set_message("begins");
        row.bar.enable_steady_tick(Duration::from_millis(500));
        if self.is_lines {
            notice(format_args!("{}: begins", row.target));
        }
    }

    /// What a drive's process tells.
    pub fn progress(&mut self, at: usize, now: &LiveSnapshot) {
        let row = &mut self.rows[at];
        row.bar.set_position((now.share.unwrap_or(0.0) * WHOLE as f64) as u64);
        let step = now.step.clone().unwrap_or_default();
        let left = now.left.map_or_else(String::new, |left| format!("{left} left, "));
        row.bar.set_message(line(&format!("{left}{step}")));
        if self.is_lines && is_verbose() && step != row.step {
            notice(format_args!("{}: {step}", row.target));
        }
        row.step = step;
    }

    /// A drive's process has ended, with these words on standard error.
    pub fn ended(&mut self, at: usize, run: Option<RunId>, words: &str, is_complete: bool) {
        let row = &self.rows[at];
        let run = run.map_or_else(String::new, |run| format!("run {run} "));
        let first = words.trim_start_matches("error: ").lines().next().unwrap_or_default();
        let told = match is_complete {
            true => format!("{run}is complete"),
            false => format!("{run}failed: {first}"),
        };
        if is_complete {
            row.bar.set_position(WHOLE);
        }
        row.bar.abandon_with_message(line(&told));
        if self.is_lines {
            notice(format_args!("{}: {told}", row.target));
        }
        if is_complete && !words.is_empty() {
            self.all.suspend(|| notice(format_args!("{}: {words}", row.target)));
        }
    }

    /// All of them have ended, or are not begun any more. The table stays.
    pub fn finish(&self) {
        for row in self.rows.iter().filter(|row| !row.began) {
            row.bar.abandon_with_message("not begun");
        }
    }
}

/// A name that fits its column, of which the end tells more.
fn short(target: &str) -> String {
    let length = target.chars().count();
    match length > NAME_MAX {
        true => std::iter::once('…').chain(target.chars().skip(length - NAME_MAX + 1)).collect(),
        false => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::*;

    #[test]
    fn a_terminal_shows_a_row_a_drive() {
        let terminal = InMemoryTerm::new(10, 80);
        let targets =
            ["sim:p5520#1", "/dev/nvme1n1", "/dev/disk/by-id/nvme-a-very-long-name-S12345"].map(str::to_owned);
        let mut view = View::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())), &targets);
        view.begun(0);
        view.begun(1);
        let now = LiveSnapshot { step: Some("Random reads".to_owned()), share: Some(0.4), ..LiveSnapshot::default() };
        view.progress(0, &now);
        view.ended(1, Some(RunId(7)), "error: it was unplugged\nRun 7 is marked failed", false);
        view.finish();
        let shown = terminal.contents();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines.iter().any(|line| line.starts_with("sim:p5520#1 ") && line.contains(" 40 % Random reads")),
            "{shown}"
        );
        assert!(lines.iter().any(|line| line.contains("run 7 failed: it was unplugged")), "{shown}");
        assert!(
            lines.iter().any(|line| line.starts_with("…") && line.contains("S12345") && line.contains("not begun")),
            "{shown}"
        );
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{shown}");
    }
}
