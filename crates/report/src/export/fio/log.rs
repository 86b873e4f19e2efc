//! fio's logs: a line for each request, or for each interval.
//!
//! A line of an interval of `bw` and `iops` ends at a multiple of the interval from the job's beginning, and what is left at the
//! end has none; fio's come when its helper thread wakes. Those of latencies come with the first request after the interval's
//! end, as fio's do.
//!
//! Source: fio 3.33, `stat.c`, `add_log_sample` and `__add_samples`; `iolog.c`, `flush_samples` and `flush_hist_samples`;
//! `HOWTO.rst`, "Log File Formats".

use std::collections::BTreeMap;
use std::fmt::Write;

use block::{Bytes, Nanos, Op};
use measurement::Completed;
use plan::import::fio::{FioLogs, LogKind};

/// fio's classes of latencies.
const CLASSES: usize = 29 * 64;

/// What one worker has in the logs of its job.
#[derive(Debug)]
pub struct WorkerLogs {
    asked: FioLogs,
    /// Where a log has a line for each.
    requests: Vec<LoggedRequest>,
    /// In the order of the logs that are asked for.
    series: Vec<Series>,
}

/// What a line for a request says.
#[derive(Clone, Copy, Debug)]
struct LoggedRequest {
    at: Nanos,
    latency: Nanos,
    service: Nanos,
    submission: Option<Nanos>,
    offset: Bytes,
    bytes: u32,
    direction: u8,
}

/// What a log is made of as requests are completed.
#[derive(Debug)]
enum Series {
    Each,
    Values([Values; 3], Vec<Sample>),
    Amounts(Amounts, Vec<Sample>),
    Histograms([Counts; 3], Vec<HistogramLine>),
}

#[derive(Debug)]
struct Sample {
    at: Nanos,
    value: u64,
    direction: u8,
}

/// The values of one direction in the interval under way.
#[derive(Debug, Default)]
struct Values {
    since: Nanos,
    count: u64,
    sum: u128,
    max: u64,
}

/// What was moved in the interval under way, by direction.
#[derive(Debug, Default)]
struct Amounts {
    interval: u64,
    moved: [u64; 3],
}

/// The latencies of one direction in the interval under way.
#[derive(Debug, Default)]
struct Counts {
    since: Option<Nanos>,
    classes: BTreeMap<usize, u64>,
}

#[derive(Debug)]
struct HistogramLine {
    at: Nanos,
    direction: u8,
    bytes: u32,
    classes: BTreeMap<usize, u64>,
}

impl WorkerLogs {
    pub fn new(asked: &FioLogs) -> Self {
        let series = asked.logs.iter().map(|log| match (log.kind, log.every) {
            (LogKind::Histogram, _) => Series::Histograms(Default::default(), Vec::new()),
            (_, None) => Series::Each,
            (LogKind::Bandwidth | LogKind::Iops, _) => Series::Amounts(Amounts::default(), Vec::new()),
            _ => Series::Values(Default::default(), Vec::new()),
        });
        Self { series: series.collect(), asked: asked.clone(), requests: Vec::new() }
    }

    /// Whether each request is kept, which takes memory.
    pub fn keeps_each(&self) -> bool {
        self.series.iter().any(|series| matches!(series, Series::Each))
    }

    /// Adds a request, in the order of time; `keeps` is whether there is room for a line of its own.
    pub fn add(&mut self, completed: &Completed, keeps: bool) {
        let Completed { at, request, latency, service, submission } = *completed;
        let Some(direction) = direction(request.op) else { return };
        let bytes = u32::try_from(request.bytes().get()).unwrap_or(u32::MAX);
        if keeps && self.keeps_each() {
            let offset = request.lba.offset();
            self.requests.push(LoggedRequest { at, latency, service, submission, offset, bytes, direction });
        }
        let maximum = self.asked.maximum;
        for (log, series) in self.asked.logs.iter().zip(&mut self.series) {
            let every = log.every.unwrap_or_default();
            match series {
                Series::Each => {}
                Series::Values(values, samples) => {
                    let value = match log.kind {
                        LogKind::Latency => Some(latency),
                        LogKind::Submission => submission,
                        _ => Some(service),
                    };
                    let Some(value) = value else { continue };
                    let value = values[usize::from(direction)].add(at, value.as_nanos(), every, maximum);
                    samples.extend(value.map(|value| Sample { at, value, direction }));
                }
                Series::Amounts(amounts, samples) => {
                    let moved = if log.kind == LogKind::Bandwidth { request.bytes().get() } else { 1 };
                    amounts.go_to(at, every, log.kind, samples);
                    amounts.moved[usize::from(direction)] += moved;
                }
                Series::Histograms(counts, lines) => {
                    let classes = counts[usize::from(direction)].add(at, service, every);
                    lines.extend(classes.map(|classes| HistogramLine { at, direction, bytes, classes }));
                }
            }
        }
    }

    /// The text of each log, in the order in which they are asked for. Times count from `epoch`; the job took `elapsed`.
    pub fn texts(&mut self, epoch: Nanos, elapsed: Nanos) -> impl Iterator<Item = String> {
        (0..self.series.len()).map(move |place| self.text(place, epoch, elapsed))
    }

    fn text(&mut self, place: usize, epoch: Nanos, elapsed: Nanos) -> String {
        let Self { asked, requests, series } = self;
        let (kind, every) = (asked.logs[place].kind, asked.logs[place].every.unwrap_or_default());
        let mut text = String::new();
        let mut line = |at: Nanos, value: u64, direction: u8, bytes: u32, offset: Bytes| {
            let _ = write!(text, "{}, {value}, {direction}, {bytes}, ", milliseconds(epoch + at));
            if asked.offsets {
                let _ = write!(text, "{}, ", offset.get());
            }
            text += if asked.priorities { "0x0000\n" } else { "0\n" };
        };
        let none = Bytes::ZERO;
        match &mut series[place] {
            Series::Each => {
                let valued = requests.iter().filter_map(|one| Some((one, one.value(kind)?)));
                valued.for_each(|(one, value)| line(one.at, value, one.direction, one.bytes, one.offset));
            }
            Series::Values(values, samples) => {
                samples.iter().for_each(|sample| line(sample.at, sample.value, sample.direction, 0, none));
                let rest = values
                    .iter_mut()
                    .zip(0..)
                    .filter_map(|(values, direction)| Some((values.take(asked.maximum)?, direction)));
                rest.for_each(|(value, direction)| line(elapsed, value, direction, 0, none));
            }
            Series::Amounts(amounts, samples) => {
                amounts.go_to(elapsed, every, kind, samples);
                samples.iter().for_each(|sample| line(sample.at, sample.value, sample.direction, 0, none));
            }
            Series::Histograms(_, lines) => {
                lines.iter().for_each(|line| line.write(&mut text, epoch, asked.coarseness))
            }
        }
        text
    }
}

/// fio's number of what a request does; none for what is not logged.
const fn direction(op: Op) -> Option<u8> {
    match op {
        Op::Read => Some(0),
        Op::Write | Op::Append => Some(1),
        Op::Trim => Some(2),
        Op::Flush | Op::Zone(_) => None,
    }
}

const fn milliseconds(time: Nanos) -> u64 {
    time.as_nanos() / 1_000_000
}

impl LoggedRequest {
    fn value(&self, kind: LogKind) -> Option<u64> {
        Some(match kind {
            // Bytes a millisecond, as fio has it here, and KiB/s for intervals.
            LogKind::Bandwidth => u64::from(self.bytes) * 1_000_000 / self.service.as_nanos().max(1),
            LogKind::Iops => 1,
            LogKind::Latency => self.latency.as_nanos(),
            LogKind::Submission => self.submission?.as_nanos(),
            LogKind::Completion | LogKind::Histogram => self.service.as_nanos(),
        })
    }
}

impl Values {
    /// Adds a value; what the interval comes to if that has ended.
    fn add(&mut self, at: Nanos, value: u64, every: Nanos, maximum: bool) -> Option<u64> {
        self.count += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
        if at.since(self.since) < every {
            return None;
        }
        self.since = Nanos::from_nanos(at.as_nanos() - at.as_nanos() % every.as_nanos().max(1));
        self.take(maximum)
    }

    /// What there is of values, which are gone then.
    fn take(&mut self, maximum: bool) -> Option<u64> {
        let Self { count, sum, max, since } = std::mem::take(self);
        self.since = since;
        if count == 0 {
            return None;
        }
        let half = u128::from(count) / 2;
        let mean = u64::try_from((sum + half) / u128::from(count)).expect("a mean is no larger than the largest");
        Some(if maximum { max } else { mean })
    }
}

impl Amounts {
    /// Ends the interval under way if `at` is behind it.
    fn go_to(&mut self, at: Nanos, every: Nanos, kind: LogKind, samples: &mut Vec<Sample>) {
        let interval = at.as_nanos() / every.as_nanos().max(1);
        if interval == self.interval {
            return;
        }
        let end = every.times(self.interval + 1);
        let unit = if kind == LogKind::Bandwidth { 1024 } else { 1 };
        let moved = std::mem::take(&mut self.moved);
        for (moved, direction) in moved.into_iter().zip(0..).filter(|(moved, _)| *moved > 0) {
            let a_second = u128::from(moved) * 1_000_000_000 / u128::from(every.as_nanos().max(1));
            let value = u64::try_from(a_second / unit).unwrap_or(u64::MAX);
            samples.push(Sample { at: end, value, direction });
        }
        self.interval = interval;
    }
}

impl Counts {
    /// Adds a latency; all of the interval if that has ended. As in fio it begins with the first latency.
    fn add(&mut self, at: Nanos, latency: Nanos, every: Nanos) -> Option<BTreeMap<usize, u64>> {
        if every == Nanos::ZERO {
            return None;
        }
        *self.classes.entry(class(latency)).or_default() += 1;
        let since = *self.since.get_or_insert(at);
        if at.since(since) < every {
            return None;
        }
        self.since = Some(since + every);
        Some(std::mem::take(&mut self.classes))
    }
}

impl HistogramLine {
    fn write(&self, text: &mut String, epoch: Nanos, coarseness: u32) {
        let _ = write!(text, "{}, {}, {}", milliseconds(epoch + self.at), self.direction, self.bytes);
        let columns = CLASSES >> coarseness;
        let mut sums = vec![0; columns];
        self.classes.iter().for_each(|(class, count)| sums[(class >> coarseness).min(columns - 1)] += count);
        sums.iter().for_each(|sum| *text += &format!(", {sum}"));
        text.push('\n');
    }
}

/// fio's class of a latency: 64 to each power of two, and one to each nanosecond below 128.
///
/// Source: fio 3.33, `stat.c`, `plat_val_to_idx`.
fn class(latency: Nanos) -> usize {
    let ns = latency.as_nanos();
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(6);
    let class = (u64::from(shift) << 6) + (ns >> shift);
    (class as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use block::{Lba, Request};
    use plan::import::fio::FioLog;

    use super::*;

    fn asked(kind: LogKind, every: Option<u64>) -> FioLogs {
        let log = FioLog { kind, prefix: "x".to_owned(), is_typed: true, every: every.map(Nanos::from_millis) };
        FioLogs { logs: vec![log], per_job: true, ..FioLogs::default() }
    }

    /// Reads of 4 KiB that take a millisecond, at so many milliseconds, and writes of 8 KiB that take two.
    fn log(asked: &FioLogs, reads: &[u64], writes: &[u64]) -> Vec<String> {
        let mut logs = WorkerLogs::new(asked);
        let of = |at: &u64, op, sectors, ms| Completed {
            at: Nanos::from_millis(*at),
            request: Request::new(op, Lba::new(16), sectors),
            latency: Nanos::from_millis(ms + 1),
            service: Nanos::from_millis(ms),
            submission: (op == Op::Write).then_some(Nanos::from_micros(3)),
        };
        let reads = reads.iter().map(|at| of(at, Op::Read, 8, 1));
        let mut all: Vec<Completed> = reads.chain(writes.iter().map(|at| of(at, Op::Write, 16, 2))).collect();
        all.sort_by_key(|completed| completed.at);
        all.iter().for_each(|completed| logs.add(completed, true));
        let end = all.last().unwrap().at;
        let text: String = logs.texts(Nanos::ZERO, end).collect();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_request_has_a_line() {
        let table = [
            (LogKind::Bandwidth, "4096", "4096"),
            (LogKind::Iops, "1", "1"),
            (LogKind::Latency, "2000000", "3000000"),
            (LogKind::Completion, "1000000", "2000000"),
        ];
        for (kind, read, write) in table {
            let lines = log(&asked(kind, None), &[1], &[2]);
            assert_eq!(lines, [format!("1, {read}, 0, 4096, 0"), format!("2, {write}, 1, 8192, 0")], "{kind:?}");
        }
        let all = FioLogs { offsets: true, priorities: true, ..asked(LogKind::Iops, None) };
        assert_eq!(log(&all, &[1], &[]), ["1, 1, 0, 4096, 8192, 0x0000"]);
        assert_eq!(
            log(&asked(LogKind::Submission, None), &[1], &[2]),
            ["2, 3000, 1, 8192, 0"],
            "those that were timed"
        );
    }

    #[test]
    fn rates_of_intervals_are_those_of_whole_ones() {
        let reads: Vec<u64> = (0..25).map(|n| n * 100).collect();
        let lines = log(&asked(LogKind::Iops, Some(500)), &reads, &[700]);
        let expected =
            ["500, 10, 0, 0, 0", "1000, 10, 0, 0, 0", "1000, 2, 1, 0, 0", "1500, 10, 0, 0, 0", "2000, 10, 0, 0, 0"];
        assert_eq!(lines, expected, "what is left at 2.4 s is no whole interval");
        assert_eq!(log(&asked(LogKind::Bandwidth, Some(500)), &reads, &[])[0], "500, 40, 0, 0, 0");
    }

    #[test]
    fn latencies_of_an_interval_are_their_mean_or_the_largest() {
        let mut one = Values::default();
        let add = |values: &mut Values, ms, value, maximum| {
            values.add(Nanos::from_millis(ms), value, Nanos::from_millis(10), maximum)
        };
        assert_eq!(
            [add(&mut one, 1, 10, false), add(&mut one, 9, 11, false), add(&mut one, 12, 12, false)],
            [None, None, Some(11)]
        );
        assert_eq!(one.since, Nanos::from_millis(10), "the next interval begins at a multiple");
        assert_eq!([add(&mut one, 13, 5, true), add(&mut one, 20, 3, true)], [None, Some(5)]);
        let lines = log(&asked(LogKind::Completion, Some(10)), &[1, 12, 15], &[]);
        assert_eq!(lines, ["12, 1000000, 0, 0, 0", "15, 1000000, 0, 0, 0"], "what is left at the end has a line too");
    }

    #[test]
    fn a_histogram_has_the_latencies_of_its_interval_in_fio_s_classes() {
        let every = FioLogs { coarseness: 0, ..asked(LogKind::Histogram, Some(10)) };
        let lines = log(&every, &[1, 2, 11, 12, 30], &[]);
        assert_eq!(lines.len(), 2, "what is left has none, as in fio");
        let columns: Vec<u64> = lines[0].split(", ").map(|column| column.parse().unwrap()).collect();
        assert_eq!((columns.len(), &columns[..3]), (3 + 1856, &[11, 0, 4096][..]));
        assert_eq!(columns[3 + class(Nanos::from_millis(1))], 3);
        assert_eq!(columns[3..].iter().sum::<u64>(), 3);
        let coarse = log(&FioLogs { coarseness: 6, ..every }, &[1, 11], &[]);
        assert_eq!(coarse[0].split(", ").count(), 3 + 29);
    }

    #[test]
    fn classes_are_fio_s() {
        // The ends of classes, by its formula.
        let table = [(0, 0), (127, 127), (128, 128), (130, 129), (255, 191), (256, 192), (u64::MAX, CLASSES - 1)];
        table.iter().for_each(|(ns, expected)| assert_eq!(class(Nanos::from_nanos(*ns)), *expected, "{ns} ns"));
    }
}
