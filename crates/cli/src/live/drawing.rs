//! How a run that goes on is shown: what is done now on top, the charts of its steps, and what is in doubt.

use indicatif::HumanDuration;
use lab::{Bar, Chart, Metric, Snapshot};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use report::bars;

use crate::terminal::spelled;

/// The narrowest screen on which two things stand side by side, in columns.
const BOTH: u16 = 60;
/// The fewest rows of a curve.
const CURVE: usize = 3;
/// The rows of a section that says what is done now, with its title.
const NOW: u16 = 6;

/// What is shown besides the progress.
pub struct ViewFrame<'a> {
    /// Which run it is.
    pub title: &'a str,
    /// What a real drive did since it began, in lines; none for a simulated one.
    pub device: Option<Vec<String>>,
    /// Whether there are colours.
    pub color: bool,
}

/// Draws all that has room.
pub fn draw(frame: &mut Frame, snapshot: &Snapshot, moment: &ViewFrame) {
    let drawing = Drawing { snapshot, moment };
    let area = frame.area();
    let rest = area.height.saturating_sub(4);
    let now = if rest >= NOW { NOW } else { 0 };
    let doubts = if rest >= NOW + 6 { ((rest - NOW) / 3).max(3) } else { 0 };
    let rows = [3, now, rest - now - doubts, doubts, 1].map(Constraint::Length);
    let [head, now, charts, doubts, foot] = Layout::vertical(rows).areas(area);
    let halves = |area: Rect| match area.width >= BOTH {
        true => Layout::horizontal([Constraint::Fill(1), Constraint::Length(2), Constraint::Fill(1)]).areas(area),
        false => [area, Rect::default(), Rect::default()],
    };
    drawing.head(frame, head);
    let [left, _, right] = halves(now);
    drawing.section(frame, left, drawing.now_title(), &drawing.now(left.width.into()));
    drawing.section(frame, right, "drive".to_owned(), &drawing.drive());
    let [left, _, right] = halves(charts);
    let (cells, steps) = if right.is_empty() { (left, right) } else { (right, left) };
    drawing.section(frame, steps, "steps, axes from 0".to_owned(), &drawing.steps(steps));
    drawing.section(frame, cells, drawing.cells_title(), &drawing.cells(cells));
    let title = format!("findings: {}", snapshot.findings.len());
    drawing.section(frame, doubts, title, &drawing.doubts(doubts));
    let keys = "q or Ctrl-C stops the run; finished measurements are stored";
    frame.render_widget(Paragraph::new(keys).style(drawing.faint()), foot);
    // The locale may have no more than ASCII.
    for cell in &mut frame.buffer_mut().content {
        if !cell.symbol().is_ascii() {
            let symbol = spelled(cell.symbol().to_owned());
            cell.set_symbol(&symbol[..symbol.chars().next().map_or(0, char::len_utf8)]);
        }
    }
}

struct Drawing<'a> {
    snapshot: &'a Snapshot,
    moment: &'a ViewFrame<'a>,
}

impl Drawing<'_> {
    fn faint(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn strong(&self, color: Color) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        if self.moment.color { style.fg(color) } else { style }
    }

    /// Which run it is, how far it has come, and what it does.
    fn head(&self, frame: &mut Frame, area: Rect) {
        let Snapshot { elapsed, step, measurements, .. } = self.snapshot;
        let left = match self.snapshot.left() {
            Some(left) => format!("{} left", HumanDuration(left)),
            None => "time left unknown".to_owned(),
        };
        let share = self.snapshot.share().unwrap_or(0.0);
        let gone = HumanDuration(*elapsed);
        let words = format!(" {:>3.0} %  {gone} elapsed, {left}", (share * 100.0).floor());
        let room = usize::from(area.width).saturating_sub(words.chars().count()).min(40);
        let full = (share * room as f64) as usize;
        let bar = "━".repeat(full) + &"╌".repeat(room - full);
        let step = if step.is_empty() { "Starting" } else { step };
        let kept = if *measurements == 1 { "1 measurement".to_owned() } else { format!("{measurements} measurements") };
        let lines = vec![
            Line::styled(self.moment.title, self.strong(Color::Reset)),
            Line::styled(bar + &words, self.strong(Color::Cyan)),
            Line::raw(format!("{step} · {kept}")),
        ];
        frame.render_widget(Paragraph::new(lines), area);
    }

    /// A title with a rule, and as many of the lines beneath as have room.
    fn section(&self, frame: &mut Frame, area: Rect, title: String, lines: &[String]) {
        let rule = "─".repeat(usize::from(area.width).saturating_sub(title.chars().count() + 4));
        let head = Line::styled(format!("── {title} {rule}"), self.strong(Color::Cyan));
        let lines = std::iter::once(head).chain(lines.iter().map(|line| Line::raw(line.as_str())));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
    }

    fn now_title(&self) -> String {
        match (&self.snapshot.now, &self.snapshot.last) {
            (None, Some(_)) => "last measurement".to_owned(),
            _ => "now".to_owned(),
        }
    }

    /// How fast it is, how long requests take, and how that has gone.
    fn now(&self, width: usize) -> Vec<String> {
        let history: Vec<f64> = self.snapshot.history.iter().copied().collect();
        let history = bars(&history[history.len().saturating_sub(width)..]);
        if let Some(speed) = self.snapshot.now {
            let lately = speed.lately.map(|lately| format!("median {}, 99 % {}", lately.median, lately.p99));
            let latency = lately.unwrap_or_else(|| "latencies after the first second".to_owned());
            return vec![format!("{:.0} IOPS, {:.1} MB/s", speed.iops, speed.rate / 1e6), latency, history];
        }
        let Some(last) = &self.snapshot.last else { return vec!["no measurements yet".to_owned()] };
        let figure = |metric: Metric| last.figure(metric);
        let speed = [(Metric::Iops, 0, " IOPS"), (Metric::Bandwidth, 1, " MB/s")];
        let speed = speed.map(|(of, digits, unit)| figure(of).map(|value| format!("{value:.digits$}{unit}")));
        let words = [
            [(Metric::LatencyMedian, "median"), (Metric::Latency99, "99 %")],
            [(Metric::LatencyMean, "mean"), (Metric::Latency9999, "99.99 %")],
        ];
        let micros = |value: f64| block::Nanos::from_nanos((value * 1e3) as u64);
        let latency = |(of, word)| figure(of).map(|value| format!("{word} {}", micros(value)));
        let joined = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        let [usual, rare] = words.map(|pair| joined(&pair.map(latency)));
        let place = format!("{} {}", last.step, last.cell);
        vec![shortened(place.trim_end(), width), joined(&speed), usual, rare, history]
    }

    /// What the drive did.
    fn drive(&self) -> Vec<String> {
        if let Some(lines) = &self.moment.device {
            return lines.clone();
        }
        let Some(counters) = self.snapshot.counters else { return vec!["no counters yet".to_owned()] };
        let mut lines = vec![format!("read {}, written {}", counters.host_read, counters.host_written)];
        if counters.pages_programmed > 0 || counters.pages_read > 0 {
            lines.push(format!("programmed {}", counters.page.times(counters.pages_programmed)));
            let amplification = counters.write_amplification();
            lines.extend(amplification.map(|times| format!("write amplification {times:.2}")));
            lines.push(format!("{} blocks erased, {} pages moved", counters.blocks_erased, counters.pages_moved));
        }
        if counters.throttled > block::Nanos::ZERO {
            lines.push(format!("throttled for {}", counters.throttled));
        }
        lines
    }

    /// A line for each of the latest steps: how its cells go.
    fn steps(&self, area: Rect) -> Vec<String> {
        let charts = self.latest(&self.snapshot.charts, area);
        let name = charts.iter().map(|chart| chart.step.chars().count()).max().unwrap_or(0).min(16);
        let line = |chart: &Chart| {
            let values: Vec<f64> = chart.bars.iter().map(|bar| bar.mean).collect();
            let ends = match (values.first(), values.last()) {
                (Some(first), Some(last)) if values.len() > 1 => {
                    format!("{} → {} {}", number(*first), number(*last), unit(chart))
                }
                (Some(first), _) => format!("{} {}", number(*first), unit(chart)),
                _ => String::new(),
            };
            let room = usize::from(area.width).saturating_sub(name + ends.chars().count() + 2);
            let shown = &values[values.len().saturating_sub(room)..];
            format!("{:<name$} {} {ends}", shortened(&chart.step, name), bars(shown))
        };
        charts.iter().map(line).collect()
    }

    fn cells_title(&self) -> String {
        let chart = self.snapshot.charts.last();
        chart.map_or_else(|| "cells".to_owned(), |chart| format!("{}, {}", chart.step, chart.figure))
    }

    /// A bar for each of the latest cells of the latest step.
    fn cells(&self, area: Rect) -> Vec<String> {
        let width = usize::from(area.width);
        let Some(chart) = self.snapshot.charts.last() else {
            return self.curve(width, usize::from(area.height).saturating_sub(1));
        };
        let cells = self.latest(&chart.bars, area);
        let name = cells.iter().map(|bar| bar.cell.chars().count()).max().unwrap_or(0).min(width / 2);
        let highest = chart.bars.iter().map(|bar| bar.mean).fold(0.0, f64::max);
        let digits = chart.bars.iter().map(|bar| number(bar.mean).len()).max().unwrap_or(0);
        let room = width.saturating_sub(name + digits + 2);
        let line = |bar: &Bar| {
            let full = if highest > 0.0 { (bar.mean / highest * room as f64).round() as usize } else { 0 };
            format!("{:<name$} {:>digits$} {}", shortened(&bar.cell, name), number(bar.mean), "█".repeat(full))
        };
        let lines: Vec<String> = cells.iter().map(line).collect();
        let room = usize::from(area.height).saturating_sub(lines.len() + 1);
        lines.into_iter().chain(self.curve(width, room)).collect()
    }

    /// The IOPS of the measurement under way, or by second of the last one, in so many rows; nothing where there are fewer
    /// than three or nothing is known.
    fn curve(&self, width: usize, rows: usize) -> Vec<String> {
        let history: Vec<f64> = self.snapshot.history.iter().copied().collect();
        let highest = history.iter().copied().fold(0.0, f64::max);
        if rows < CURVE + 2 || history.len() < 2 || highest <= 0.0 {
            return Vec::new();
        }
        let title = match self.snapshot.now {
            Some(_) => format!("now, IOPS from 0 to {}", number(highest)),
            None => format!("last measurement by second, IOPS from 0 to {}", number(highest)),
        };
        [String::new(), title].into_iter().chain(plotted(&history, width, rows - 2)).collect()
    }

    /// The latest findings first, each on as many lines as it takes.
    fn doubts(&self, area: Rect) -> Vec<String> {
        if self.snapshot.findings.is_empty() {
            return vec!["none so far".to_owned()];
        }
        let latest = self.snapshot.findings.iter().rev().take(area.height.into());
        latest.flat_map(|finding| wrapped(finding, area.width.into())).collect()
    }

    /// As many of the last of `all` as an area has rows beneath its title.
    fn latest<'t, T>(&self, all: &'t [T], area: Rect) -> &'t [T] {
        &all[all.len().saturating_sub(area.height.saturating_sub(1).into())..]
    }
}

/// The unit of a chart's figure.
fn unit(chart: &Chart) -> &str {
    chart.figure.rsplit(", ").next().unwrap_or_default()
}

/// Values as columns from 0 to the highest, over the whole width, in so many rows: the highest first.
fn plotted(values: &[f64], width: usize, rows: usize) -> Vec<String> {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let column = |at: usize| values[at * values.len() / width];
    let cell = |row: usize, at: usize| {
        let eighths = (column(at) / highest * (rows * 8) as f64).round() as usize;
        LEVELS[eighths.saturating_sub(row * 8).min(8)]
    };
    (0..rows).rev().map(|row| (0..width).map(|at| cell(row, at)).collect()).collect()
}

/// A figure in whole numbers, or with the decimals that tell small ones apart.
fn number(value: f64) -> String {
    if value.abs() < 100.0 && value.fract() != 0.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// A text with an ellipsis at its end where there is no room for all of it.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).take(room).collect()
}

/// A text in lines of at most `width` columns, broken between words; those after the first are set in.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn a_curve_fills_its_room_and_begins_at_zero() {
        assert_eq!(plotted(&[0.0, 4.0, 8.0, 16.0], 8, 2), ["      ██", "  ▄▄████"]);
        assert_eq!(plotted(&[0.0; 3], 3, 1), ["   "]);
    }

    use block::{Bytes, Nanos, Op, Seed};
    use drive::Counters;
    use engine::{Clock, Measurement};
    use lab::{Progress, Tracker, Watch};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use workload::Workload;

    use super::*;

    fn tracked() -> (Progress, Tracker<'static>) {
        let progress = Progress::default();
        let tracker = Tracker::new(&progress, Vec::new());
        (progress, tracker)
    }

    /// A run with two steps, a drive's counters and a finding, and what tells of more.
    fn run() -> (Progress, Tracker<'static>) {
        let (progress, tracker) = tracked();
        tracker.begin(Nanos::from_secs(100));
        tracker.advance(Nanos::from_secs(40));
        tracker.step("Random reads by queue depth");
        for (step, cell, each) in [("write", "", 100), ("read", "iodepth=1", 200), ("read", "iodepth=32", 400)] {
            let mut measurement = Measurement::new(Workload::default(), Seed::new(1), Clock::Virtual);
            for read in 1..=each * 3 {
                let at = Nanos::from_nanos(read * 1_000_000_000 / each);
                measurement.record(Op::Read, Bytes::from_kib(4), at, Nanos::from_micros(100));
            }
            let page = Bytes::from_kib(4);
            measurement.drive = Some(Counters {
                host_written: Bytes::from_mib(8),
                pages_programmed: 3072,
                page,
                blocks_erased: 5,
                ..Counters::default()
            });
            tracker.kept(step, cell, &measurement);
        }
        tracker.found(Some("read"), Some("iodepth=32"), "The host was busy, so the figures may say more of it.");
        (progress, tracker)
    }

    /// What is shown half a minute after the beginning.
    fn shown(progress: &Progress, device: Option<Vec<String>>, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let moment = ViewFrame { title: "Run 7: A drive review on Intel X25-M", device, color: true };
        let snapshot = Snapshot { elapsed: Duration::from_secs(30), ..progress.look(Snapshot::clone) };
        terminal.draw(|frame| draw(frame, &snapshot, &moment)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let rows = cells.chunks(width.into()).map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
        rows.map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn a_terminal_of_80_columns_and_24_rows_has_room_for_every_part() {
        let text = shown(&run().0, None, 80, 24);
        for part in [
            "Run 7: A drive review on Intel X25-M",
            " 40 %  30 seconds elapsed, 45 seconds left",
            "Random reads by queue depth · 3 measurements",
            "── last measurement",
            "400 IOPS, 1.6 MB/s",
            "median 100 µs, 99 % 100 µs",
            "mean 100 µs, 99.99 % 100 µs",
            "── drive",
            "written 24 MiB",
            "write amplification 1.50",
            "15 blocks erased",
            "── steps, axes from 0",
            "▄█ 200 → 400",
            "── read, IOPS",
            "iodepth=1  200 ██",
            "iodepth=32 400 ████",
            "── findings: 1",
            "read iodepth=32: The host was busy",
            "q or Ctrl-C stops the run",
        ] {
            assert!(text.contains(part), "`{part}` is missing:\n{text}");
        }
    }

    #[test]
    fn what_a_real_drive_does_now_takes_the_place_of_the_last_measurement() {
        let (progress, tracker) = run();
        let lately = Some(engine::Lately { median: Nanos::from_micros(80), p99: Nanos::from_millis(2) });
        let heard = |requests| engine::RealProgress {
            requests,
            bytes: Bytes::from_kib(4).times(requests),
            elapsed: Nanos::from_millis(requests),
            lately,
        };
        tracker.live(heard(250));
        tracker.live(heard(500));
        let text = shown(&progress, Some(vec!["7 in flight".to_owned()]), 80, 24);
        for part in ["── now", "1000 IOPS, 4.1 MB/s", "median 80 µs, 99 % 2 ms", "██", "7 in flight"] {
            assert!(text.contains(part), "`{part}` is missing:\n{text}");
        }
    }

    #[test]
    fn every_smaller_terminal_shows_what_has_room() {
        let (progress, _) = run();
        for width in 1..=100 {
            for height in 1..=40 {
                let text = shown(&progress, None, width, height);
                let has_step = text.contains("Random reads by");
                assert_eq!(has_step, width >= 15 && height >= 4, "{width} × {height}:\n{text}");
            }
        }
        let narrow = shown(&progress, None, 40, 20);
        assert!(narrow.contains("iodepth=32 400") && narrow.contains("findings: 1"), "{narrow}");
    }

    #[test]
    fn before_anything_is_measured_that_is_what_is_said() {
        let text = shown(&tracked().0, None, 80, 24);
        for part in ["Starting", "time left unknown", "no measurements yet", "no counters yet", "none so far"] {
            assert!(text.contains(part), "`{part}` is missing:\n{text}");
        }
    }
}
