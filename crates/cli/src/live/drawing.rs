//! How a run that goes on is shown: what is done now on top, the charts of its steps, and what is in doubt.

use block::Nanos;
use engine::CurveWindow;
use indicatif::HumanDuration;
use lab::{Bar, Chart, Metric, Snapshot};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use report::{bars, hanging};

use crate::terminal::spelled;

/// The narrowest screen on which two things stand side by side, in columns.
const BOTH: u16 = 60;
/// The fewest rows of a curve.
const CURVE: usize = 3;
/// A step is not named by fewer letters than this.
const NAME_LEAST: usize = 12;
/// The most rows of a curve with its title.
const CURVE_MOST: u16 = 18;
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
    let said = drawing.doubts(area.width, rest.into()).len() as u16 + 1;
    let doubts = if rest >= NOW + 6 { said.min(((rest - NOW) / 3).max(3)) } else { 0 };
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
    let curve = drawing.curve(cells.width.into());
    // What changes the drive has the first place while it goes on, and what is left of the room otherwise.
    let (first, then) = if drawing.is_changing() { (curve, None) } else { (None, curve) };
    let (beneath, last) = if steps.is_empty() { (None, then) } else { (then, None) };
    drawing.column(frame, steps, std::iter::once(drawing.steps(steps)).chain(beneath));
    drawing.column(frame, cells, first.into_iter().chain(drawing.cells(cells)).chain(last));
    let title = format!("findings: {}", snapshot.findings.len());
    drawing.section(frame, doubts, title, &drawing.doubts(doubts.width, doubts.height.into()));
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

/// What stands in a column beneath a title of its own.
enum Block {
    /// Lines, as many as have room.
    Lines(String, Vec<String>),
    /// A curve over as many rows as have room, with what is said beneath it.
    Curve(String, Vec<f64>, Option<String>),
}

impl Block {
    /// How many rows it takes of so many, with its title.
    fn rows(&self, room: u16) -> u16 {
        match self {
            Self::Lines(_, lines) => room.min(lines.len() as u16 + 1),
            Self::Curve(..) if usize::from(room) < CURVE + 2 => 0,
            Self::Curve(..) => room.min(CURVE_MOST),
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

    /// Blocks one beneath another, as far as they have room.
    fn column(&self, frame: &mut Frame, area: Rect, blocks: impl Iterator<Item = Block>) {
        let mut rest = area;
        for block in blocks {
            let rows = block.rows(rest.height);
            if rows < 2 {
                continue;
            }
            let area = Rect { height: rows, ..rest };
            let width = usize::from(area.width);
            match block {
                Block::Lines(title, lines) => self.section(frame, area, title, &lines),
                Block::Curve(title, values, said) => {
                    let said = said.map_or_else(Vec::new, |said| hanging(&said, area.width, 2));
                    let high = usize::from(rows - 1).saturating_sub(said.len()).max(CURVE);
                    let lines: Vec<String> = plotted(&values, width, high).into_iter().chain(said).collect();
                    self.section(frame, area, title, &lines);
                }
            }
            rest = Rect { y: rest.y + rows, height: rest.height - rows, ..rest };
        }
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
            // A simulated drive tells latencies with the measurement.
            let waits = self.moment.device.is_some().then(|| "latencies after the first second".to_owned());
            let speed = format!("{} IOPS, {:.1} MB/s", number(speed.iops), speed.rate / 1e6);
            return [Some(speed), lately.or(waits), Some(history)].into_iter().flatten().collect();
        }
        let Some(last) = &self.snapshot.last else { return vec!["no measurements yet".to_owned()] };
        let figure = |metric: Metric| last.figure(metric);
        let speed = [(Metric::Iops, 0, " IOPS"), (Metric::Bandwidth, 1, " MB/s")];
        let amount = |value: f64, digits| if digits == 0 { number(value.round()) } else { format!("{value:.digits$}") };
        let speed = speed.map(|(of, digits, unit)| figure(of).map(|value| amount(value, digits) + unit));
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
    fn steps(&self, area: Rect) -> Block {
        let charts = self.latest(&self.snapshot.charts, area);
        let name = charts.iter().map(|chart| chart.step.chars().count()).max().unwrap_or(0).min(22);
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
        Block::Lines("steps, axes from 0".to_owned(), charts.iter().map(line).collect())
    }

    /// Bars for the cells of the latest step, and of those before it.
    fn cells(&self, area: Rect) -> impl Iterator<Item = Block> {
        self.snapshot.charts.iter().rev().map(move |chart| {
            let width = usize::from(area.width);
            let cells = self.latest(&chart.bars, area);
            let name = cells.iter().map(|bar| bar.cell.chars().count()).max().unwrap_or(0).min(width / 2);
            let highest = chart.bars.iter().map(|bar| bar.mean).fold(0.0, f64::max);
            let digits = chart.bars.iter().map(|bar| number(bar.mean).len()).max().unwrap_or(0);
            let room = width.saturating_sub(name + digits + 2);
            let line = |bar: &Bar| {
                let full = if highest > 0.0 { (bar.mean / highest * room as f64).round() as usize } else { 0 };
                format!("{:<name$} {:>digits$} {}", shortened(&bar.cell, name), number(bar.mean), "█".repeat(full))
            };
            Block::Lines(format!("{}, {}", chart.step, chart.figure), cells.iter().map(line).collect())
        })
    }

    /// Whether the drive is brought into another state, of which no figure is kept before its end.
    fn is_changing(&self) -> bool {
        let snapshot = self.snapshot;
        snapshot.now.is_some()
            && (snapshot.curve.rounds > 0 || snapshot.charts.is_empty() || self.moment.device.is_none())
    }

    /// The IOPS of the workload under way, or of the last that was heard of, over its time; else of the last measurement by
    /// second. None where nothing is known.
    fn curve(&self, width: usize) -> Option<Block> {
        let Snapshot { curve, history, .. } = self.snapshot;
        let (step, values) = match curve.points.len() {
            0 | 1 => ("last measurement by second", history.iter().copied().collect()),
            _ => (curve.step.as_str(), over_time(&curve.points, width)),
        };
        let highest = values.iter().copied().fold(0.0, f64::max);
        if values.len() < 2 || highest <= 0.0 {
            return None;
        }
        let length = Nanos::from_nanos((curve.end() * 1e9) as u64);
        let time = if curve.points.len() < 2 { String::new() } else { format!(" in {length}") };
        let axis = format!("IOPS from 0 to {}{time}", number(highest));
        // A name of which little would be left stands above anyway.
        let room = width.saturating_sub(axis.chars().count() + 6);
        let is_named = room >= step.chars().count().min(NAME_LEAST);
        let name = if is_named { shortened(step, room) + ", " } else { String::new() };
        let said = curve.window.filter(|_| !time.is_empty()).map(|CurveWindow { rule, found, .. }| {
            format!(
                "{} rounds; last {}: spread {:.0} % (limit {:.0} %), slope {:.0} % (limit ±{:.0} %): {}",
                curve.rounds,
                rule.rounds,
                found.spread * 100.0,
                rule.spread * 100.0,
                found.slope * 100.0,
                rule.slope * 100.0,
                if found.steady { "steady" } else { "not steady" }
            )
        });
        Some(Block::Curve(format!("{name}{axis}"), values, said))
    }

    /// The latest findings first, each on as many lines as it takes.
    fn doubts(&self, width: u16, rows: usize) -> Vec<String> {
        if self.snapshot.findings.is_empty() {
            return vec!["none so far".to_owned()];
        }
        self.snapshot.findings.iter().rev().take(rows).flat_map(|finding| hanging(finding, width, 2)).collect()
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

/// The IOPS of spans of time, each from the end of the one before, at so many times of the same distance.
fn over_time(points: &[(f64, f64)], columns: usize) -> Vec<f64> {
    let end = points.last().map_or(0.0, |(end, _)| *end);
    let time = |column: usize| end * (column as f64 + 0.5) / columns as f64;
    let at = |time: f64| points[points.partition_point(|(end, _)| *end < time).min(points.len() - 1)].1;
    (0..columns).map(|column| at(time(column))).collect()
}

/// A figure with three digits at least: `38,912`, `252`, `79.1`, `4.03`.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        low if low.fract() == 0.0 => 0,
        low if low < 10.0 => 2,
        low if low < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    let whole = text.find('.').unwrap_or(text.len());
    let parts = |(place, letter): (usize, char)| {
        let is_apart = place > 0 && place < whole && (whole - place) % 3 == 0 && !text[..place].ends_with('-');
        is_apart.then_some(',').into_iter().chain([letter])
    };
    text.char_indices().flat_map(parts).collect()
}

/// A text with an ellipsis at its end where there is no room for all of it.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).take(room).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn a_curve_fills_its_room_and_begins_at_zero() {
        assert_eq!(plotted(&[0.0, 4.0, 8.0, 16.0], 8, 2), ["      ██", "  ▄▄████"]);
        assert_eq!(plotted(&[0.0; 3], 3, 1), ["   "]);
    }

    use block::{Bytes, Op, Seed};
    use drive::Counters;
    use engine::{Clock, Measurement};
    use lab::{Progress, Tracker, Watch};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use workload::{Pattern, Workload};

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
            let workload = Workload { pattern: Pattern::RandRead, ..Workload::default() };
            let mut measurement = Measurement::new(workload, Seed::new(1), Clock::Virtual);
            for read in 1..=each * 3 {
                let at = Nanos::from_nanos(read * 1_000_000_000 / each);
                measurement.record(Op::Read, Bytes::from_kib(4), at, Nanos::from_micros(100));
            }
            tracker.kept(step, cell, &measurement);
        }
        tracker.did(Counters {
            host_written: Bytes::from_mib(24),
            pages_programmed: 9216,
            page: Bytes::from_kib(4),
            blocks_erased: 15,
            ..Counters::default()
        });
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
        let heard = |requests| engine::LiveProgress {
            requests,
            bytes: Bytes::from_kib(4).times(requests),
            elapsed: Nanos::from_millis(requests),
            lately,
            ..engine::LiveProgress::default()
        };
        tracker.live(heard(250));
        tracker.live(heard(500));
        let text = shown(&progress, Some(vec!["7 in flight".to_owned()]), 80, 24);
        for part in ["── now", "1,000 IOPS, 4.1 MB/s", "median 80 µs, 99 % 2 ms", "██", "7 in flight"] {
            assert!(text.contains(part), "`{part}` is missing:\n{text}");
        }
    }

    #[test]
    fn while_a_drive_is_conditioned_its_curve_comes_first_with_how_it_is_judged() {
        let (progress, tracker) = run();
        tracker.step("Random writes until steady");
        let heard = |second: u64| engine::LiveProgress {
            clock: Clock::Virtual,
            requests: 20_000 * second.min(60) + 5_000 * second.saturating_sub(60),
            elapsed: Nanos::from_secs(second),
            ..engine::LiveProgress::default()
        };
        (1..=120).for_each(|second| tracker.live(heard(second)));
        let rule = stats::SteadyRule::SNIA;
        let window =
            CurveWindow { begin: 20.0, end: 120.0, rule, found: rule.judge(&[9.0, 9.0, 5.0, 5.0, 5.0]).unwrap() };
        tracker.judged(6, Some(window));
        for (width, height) in [(80, 24), (160, 50)] {
            let text = shown(&progress, None, width, height);
            let title = text.lines().find(|line| line.contains("IOPS from 0 to 20,000 in"));
            assert!(title.is_some_and(|title| title.contains("120 s") || title.contains("2 min")), "{text}");
            assert!(text.contains("6 rounds; last 5: spread 61 %"), "{text}");
            // A quarter of the height after half of the time.
            assert!(text.contains("████ ") || text.contains("████\n"), "{text}");
        }
        let wide = shown(&progress, None, 160, 50);
        assert!(
            wide.contains("── read, IOPS") && wide.contains("── write, IOPS"),
            "earlier steps fill the room:\n{wide}"
        );
    }

    #[test]
    fn figures_have_three_digits_and_thousands_apart() {
        let told = [0.0, 4.026, 79.13, 252.4, 24_661.0, 1_234_567.8].map(number);
        assert_eq!(told, ["0", "4.03", "79.1", "252", "24,661", "1,234,568"]);
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
