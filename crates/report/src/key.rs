//! The figures by which a drive is judged at a glance, chosen from what the plan measures.

use std::fmt;

use block::{Bytes, Nanos};
use plan::compare::KeyPlace;
use plan::{Metric, Rounds};
use stats::Interval;
use workload::{Pattern, Workload};

use crate::change::FigureChange;
use crate::figure::{CellFigure, CellFigures};
use crate::number::capital;
use crate::part::MeasuredStep;
use crate::state::DriveState;
use crate::timeline::Timeline;

/// What a plain workload asks for, however long: what must agree for two figures to be compared.
///
/// Access specifications are no key figures: their steps have tables of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRequest {
    /// Operations and order.
    pub(crate) pattern: Pattern,
    /// The share of reads in percent.
    pub(crate) reads: u8,
    /// The size.
    pub(crate) block: Bytes,
    /// In flight by each worker.
    pub(crate) queue_depth: u32,
    pub(crate) workers: u32,
}

impl KeyRequest {
    /// What `workload` asks for; a mix of nothing but reads, or but writes, is no mix.
    pub(crate) fn of(workload: &Workload) -> Self {
        let &Workload { pattern, block, queue_depth, workers, .. } = workload;
        let pattern = match (pattern, workload.reads()) {
            (Pattern::RandRw, 100) => Pattern::RandRead,
            (Pattern::RandRw, 0) => Pattern::RandWrite,
            (Pattern::ReadWrite, 100) => Pattern::Read,
            (Pattern::ReadWrite, 0) => Pattern::Write,
            (other, _) => other,
        };
        Self { pattern, reads: workload.reads(), block, queue_depth, workers }
    }

    /// How many are in flight at once.
    pub(crate) const fn in_flight(&self) -> u32 {
        self.queue_depth * self.workers
    }

    /// `Random read, 4 KiB, queue depth 32`.
    pub(crate) fn name(&self) -> String {
        let mut name = capital(self.pattern.words());
        if self.pattern.is_mixed() {
            name += &format!(" {} % reads", self.reads);
        }
        name += &format!(", {}, queue depth {}", self.block, self.queue_depth);
        if self.workers > 1 {
            name += &format!(" × {} workers", self.workers);
        }
        name
    }
}

/// A figure in the table of key figures.
#[derive(Clone, Debug)]
pub(crate) struct KeyFigure {
    /// What was asked.
    pub(crate) request: KeyRequest,
    /// What was read off.
    pub(crate) metric: Metric,
    /// The figure in each of [`Scorecard::states`]; none where the plan does not measure it in that state.
    pub(crate) entries: Vec<Option<KeyEntry>>,
    /// Whether all that there is of it is what a conditioning settled at.
    pub(crate) is_sustained: bool,
}

/// A figure and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct KeyEntry {
    pub(crate) figure: CellFigure,
    /// The place in the page of the step that measured it.
    pub(crate) anchor: String,
}

impl KeyFigure {
    /// Its first column that has a value.
    pub(crate) fn base(&self) -> Option<&Interval> {
        self.entries.iter().flatten().find_map(|entry| entry.figure.interval())
    }

    /// `Random read, 4 KiB, queue depth 1: 99.99 % latency`; throughput goes without saying.
    pub(crate) fn name(&self) -> String {
        let request = self.request.name();
        match self.metric {
            metric if metric.is_throughput() && self.is_sustained => format!("{request}, sustained"),
            metric if metric.is_throughput() => request,
            metric => format!("{request}: {}", metric.title().to_lowercase()),
        }
    }

    /// The place in the page of the step that measured it.
    pub(crate) fn anchor(&self) -> Option<&str> {
        self.entries.iter().flatten().map(|entry| entry.anchor.as_str()).next()
    }
}

/// How a key figure changed from one state to a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateChange {
    /// The earlier state and its figure.
    pub(crate) before: (DriveState, Interval),
    /// The later state and its figure.
    pub(crate) after: (DriveState, Interval),
    pub(crate) change: FigureChange,
    /// Whether these are the first and the last state of the table.
    pub(crate) is_whole: bool,
}

impl StateChange {
    /// `filled to steady`; none where these are the first and the last state of the table.
    pub(crate) fn states(&self) -> Option<String> {
        (!self.is_whole).then(|| format!("{} to {}", self.before.0.name(), self.after.0.name()))
    }
}

/// `7.49 × slower`, `1.66 × slower (filled to steady)`.
impl fmt::Display for StateChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change.fmt(f)?;
        self.states().map_or(Ok(()), |states| write!(f, " ({states})"))
    }
}

/// The table of key figures.
#[derive(Clone, Debug)]
pub(crate) struct Scorecard {
    /// The states that its columns stand for.
    pub(crate) states: Vec<DriveState>,
    /// Its rows: in sequence, at random, mixed, latency, sustained.
    pub(crate) rows: Vec<KeyFigure>,
}

impl Scorecard {
    /// The key figures of a review.
    ///
    /// In sequence the size nearest 128 KiB, as data sheets have it; at random 4 KiB, at the least and
    /// the greatest depth and at any that is measured in two states; mixed the share of reads nearest two
    /// thirds at 8 KiB; latency of lone 4 KiB requests; and what a conditioning settled at, unless the same
    /// was measured in the state that it left.
    pub(crate) fn of(parts: &[MeasuredStep]) -> Self {
        let survey = Survey::of(parts);
        let mut rows = Vec::new();
        for pattern in [Pattern::Read, Pattern::Write, Pattern::Trim] {
            let nearest = survey.nearest(pattern, Bytes::from_kib(128));
            rows.extend(
                nearest.iter().max_by_key(|request| survey.rank(request)).map(|r| survey.row(r, Metric::Bandwidth)),
            );
        }
        for pattern in [Pattern::RandRead, Pattern::RandWrite, Pattern::RandTrim] {
            rows.extend(survey.by_depth(pattern).iter().map(|request| survey.row(request, Metric::Iops)));
        }
        for pattern in [Pattern::ReadWrite, Pattern::RandRw] {
            let nearest = survey.nearest(pattern, Bytes::from_kib(8));
            let two_thirds =
                |request: &&KeyRequest| (request.reads.abs_diff(67), std::cmp::Reverse(survey.rank(request)));
            rows.extend(nearest.iter().min_by_key(two_thirds).map(|request| survey.row(request, Metric::Iops)));
        }
        for pattern in [Pattern::RandRead, Pattern::RandWrite] {
            rows.extend(survey.latency_rows(pattern));
        }
        survey.add_sustained(&mut rows);
        Self { states: survey.states, rows }
    }

    /// Where each key figure is measured by repeats, as comparisons and gates take them: one for each state.
    pub(crate) fn places(&self, parts: &[MeasuredStep]) -> Vec<KeyPlace> {
        self.places_of_rows(parts).into_iter().flat_map(|(_, places)| places).collect()
    }

    /// Each key figure with where it is measured in the first of the states that have it.
    pub(crate) fn first_places(&self, parts: &[MeasuredStep]) -> Vec<(&KeyFigure, KeyPlace)> {
        let first = |(row, places): (_, Vec<KeyPlace>)| Some((row, places.into_iter().next()?));
        self.places_of_rows(parts).into_iter().filter_map(first).collect()
    }

    fn places_of_rows(&self, parts: &[MeasuredStep]) -> Vec<(&KeyFigure, Vec<KeyPlace>)> {
        let survey = Survey::of(parts);
        let has_states = self.states.len() > 1;
        let place = |row: &KeyFigure, state: DriveState| {
            let (part, reading) = survey.measured(&row.request, state, row.metric)?;
            let state = if has_states { format!(", {}", state.name()) } else { String::new() };
            let (step, cell) = (part.step.name.clone(), reading.point.key());
            Some(KeyPlace { step, cell, metric: row.metric, title: row.name() + &state })
        };
        let repeated = self.rows.iter().filter(|row| !row.is_sustained);
        repeated.map(|row| (row, self.states.iter().filter_map(|state| place(row, *state)).collect())).collect()
    }

    /// How `row`, one of the rows, changed; none where fewer than two states have a figure.
    pub(crate) fn change(&self, row: &KeyFigure) -> Option<StateChange> {
        let figures = self.figures(row);
        self.between(row, *figures.first()?, *figures.last().filter(|_| figures.len() > 1)?)
    }

    /// The same state by state: through those before random writes, and on to the last that these led to.
    pub(crate) fn changes(&self, row: &KeyFigure) -> Vec<StateChange> {
        let (written, mut figures): (Vec<_>, Vec<_>) =
            self.figures(row).into_iter().partition(|(state, _)| state.is_written());
        figures.extend(written.last());
        figures.windows(2).filter_map(|pair| self.between(row, pair[0], pair[1])).collect()
    }

    /// The states that have a figure of `row`, with it.
    fn figures(&self, row: &KeyFigure) -> Vec<(DriveState, Interval)> {
        let measured =
            |(state, entry): (&DriveState, &Option<KeyEntry>)| Some((*state, *entry.as_ref()?.figure.interval()?));
        self.states.iter().zip(&row.entries).filter_map(measured).collect()
    }

    fn between(
        &self,
        row: &KeyFigure,
        before: (DriveState, Interval),
        after: (DriveState, Interval),
    ) -> Option<StateChange> {
        let change = FigureChange::between(row.metric, &before.1, &after.1)?;
        let is_whole = self.states.first() == Some(&before.0) && self.states.last() == Some(&after.0);
        Some(StateChange { before, after, change, is_whole })
    }

    /// Whether any row has figures in two states.
    pub(crate) fn has_change(&self) -> bool {
        self.rows.iter().any(|row| self.change(row).is_some())
    }

    /// Of which states the changes are; none where all are from the first to the last.
    pub(crate) fn about_changes(&self) -> Option<String> {
        let is_part = |row: &KeyFigure| self.change(row).is_some_and(|change| !change.is_whole);
        if !self.rows.iter().any(is_part) {
            return None;
        }
        let mut about = "Change: from the first state with a figure to the last.".to_owned();
        let empty = self.states.iter().position(|state| *state == DriveState::Empty);
        let is_unread = |place: usize| {
            let is_read = |row: &&KeyFigure| matches!(row.request.pattern, Pattern::Read | Pattern::RandRead);
            let reads = || self.rows.iter().filter(is_read);
            reads().next().is_some() && reads().all(|row| row.entries[place].is_none())
        };
        if empty.is_some_and(is_unread) {
            about += " Reads of an empty drive need not access its media and are not measured.";
        }
        Some(about)
    }

    /// Rows of one pattern and figure, by depth.
    pub(crate) fn of_pattern(&self, pattern: Pattern, metric: Metric) -> impl Iterator<Item = &KeyFigure> {
        self.rows.iter().filter(move |row| row.request.pattern == pattern && row.metric == metric && !row.is_sustained)
    }
}

/// All that the parts measured, by what was asked.
struct Survey<'p> {
    parts: &'p [MeasuredStep<'p>],
    states: Vec<DriveState>,
    asked: Vec<(KeyRequest, DriveState)>,
}

impl<'p> Survey<'p> {
    fn of(parts: &'p [MeasuredStep<'p>]) -> Self {
        let mut asked = Vec::new();
        let mut states: Vec<DriveState> = Vec::new();
        for part in parts.iter().filter(|part| gives_levels(part)) {
            states.push(part.state_of_figures);
            let plain = part.readings.iter().filter(|reading| is_key(reading));
            asked.extend(plain.map(|reading| (KeyRequest::of(reading.cell().workload), part.state_of_figures)));
        }
        states.extend(parts.iter().filter(|part| wears(part).is_some()).map(|part| part.state_of_figures));
        // A part of the drive is filled for what is measured there, which is a key figure only if it asks for nothing else.
        states.retain(|state| !matches!(state, DriveState::PartlyFilled(_)) || asked.iter().any(|(_, of)| of == state));
        states.sort();
        states.dedup();
        Self { parts, states, asked }
    }

    /// In how many states it is measured; then how many are in flight.
    fn rank(&self, request: &KeyRequest) -> (usize, u32) {
        let states = self.states.iter().filter(|&&state| self.asked.contains(&(*request, state)));
        (states.count(), request.in_flight())
    }

    /// All that is asked in this pattern with the block size nearest `block`.
    fn nearest(&self, pattern: Pattern, block: Bytes) -> Vec<KeyRequest> {
        let distance = |request: &KeyRequest| (request.block.get() as f64 / block.get() as f64).log2().abs();
        let all: Vec<KeyRequest> =
            self.asked.iter().map(|(request, _)| *request).filter(|request| request.pattern == pattern).collect();
        let least = all.iter().map(distance).fold(f64::MAX, f64::min);
        let mut nearest: Vec<KeyRequest> = Vec::new();
        for request in all {
            if distance(&request) <= least && !nearest.contains(&request) {
                nearest.push(request);
            }
        }
        nearest
    }

    /// The least and the greatest depth at 4 KiB, those at which that is so of reads or writes beside it, and those
    /// measured in two states.
    fn by_depth(&self, pattern: Pattern) -> Vec<KeyRequest> {
        let beside = match pattern {
            Pattern::RandRead => self.at_random(Pattern::RandWrite),
            Pattern::RandWrite => self.at_random(Pattern::RandRead),
            _ => Vec::new(),
        };
        let ends = [beside.first(), beside.last()];
        let is_beside = |request: &KeyRequest| {
            let alike = |other: &KeyRequest| KeyRequest { pattern, reads: request.reads, ..*other } == *request;
            ends.iter().flatten().any(|other| alike(other))
        };
        let all = self.at_random(pattern);
        let last = all.len().saturating_sub(1);
        let is_wanted = |(i, request): &(usize, KeyRequest)| {
            *i == 0 || *i == last || is_beside(request) || self.rank(request).0 > 1
        };
        all.into_iter().enumerate().filter(is_wanted).map(|(_, request)| request).collect()
    }

    /// What is asked of 4 KiB in this pattern, the least depth first.
    fn at_random(&self, pattern: Pattern) -> Vec<KeyRequest> {
        let mut all = self.nearest(pattern, Bytes::from_kib(4));
        all.sort_by_key(|request| (request.in_flight(), request.workers));
        all
    }

    /// Median and the farthest percentile that can be told, of requests made one at a time.
    fn latency_rows(&self, pattern: Pattern) -> Vec<KeyFigure> {
        let nearest = self.nearest(pattern, Bytes::from_kib(4));
        let Some(alone) = nearest.iter().find(|request| request.in_flight() == 1) else { return Vec::new() };
        let [tail, nearer] = [Metric::Latency9999, Metric::Latency99].map(|metric| self.row(alone, metric));
        let is_told = tail.base().is_some() || nearer.base().is_none();
        vec![self.row(alone, Metric::LatencyMedian), if is_told { tail } else { nearer }]
    }

    /// Puts what each conditioning settled at beside the same request in the first state, unless the plan
    /// measures it in the state that this left; in a row of its own where there is no such request.
    fn add_sustained(&self, rows: &mut Vec<KeyFigure>) {
        for part in self.parts {
            let Some(place) = self.states.iter().position(|&state| state == part.state_of_figures) else { continue };
            let Some(request) = wears(part).filter(|workload| workload.is_plain()).map(KeyRequest::of) else {
                continue;
            };
            let figure = part.readings.first().map_or(CellFigure::NotMeasured, |reading| sustained(part, reading));
            let entry = Some(KeyEntry { figure, anchor: part.anchor() });
            match rows.iter_mut().find(|row| row.request == request && row.metric == Metric::Iops) {
                Some(row) if row.entries[place].is_none() => row.entries[place] = entry,
                Some(_) => {}
                None => {
                    let mut entries = vec![None; self.states.len()];
                    entries[place] = entry;
                    rows.push(KeyFigure { request, metric: Metric::Iops, entries, is_sustained: true });
                }
            }
        }
    }

    fn row(&self, request: &KeyRequest, metric: Metric) -> KeyFigure {
        let entries = self.states.iter().map(|&state| self.entry(request, state, metric)).collect();
        KeyFigure { request: *request, metric, entries, is_sustained: false }
    }

    /// The figure in one state. Of several steps that give it, one that was measured counts before one that
    /// was not; for latency the one that sweeps least (it is about that), otherwise one that is compared
    /// with another.
    fn entry(&self, request: &KeyRequest, state: DriveState, metric: Metric) -> Option<KeyEntry> {
        let (part, reading) = self.measured(request, state, metric)?;
        Some(KeyEntry { figure: reading.figure(metric), anchor: part.anchor() })
    }

    /// Where it is measured.
    fn measured(
        &self,
        request: &KeyRequest,
        state: DriveState,
        metric: Metric,
    ) -> Option<(&'p MeasuredStep<'p>, &'p CellFigures<'p>)> {
        let is_latency = !metric.is_throughput();
        let preference = |part: &MeasuredStep, reading: &CellFigures| {
            let paired = part.beside.is_some() || part.is_base;
            let other = if is_latency { part.readings.len() } else { usize::from(!paired) };
            (reading.figure(metric).interval().is_none(), other)
        };
        let candidates = self.parts.iter().filter(|part| gives_levels(part) && part.state_of_figures == state);
        candidates
            .flat_map(|part| part.readings.iter().map(move |reading| (part, reading)))
            .filter(|(_, reading)| is_key(reading))
            .filter(|(_, reading)| KeyRequest::of(reading.cell().workload) == *request)
            .min_by_key(|(part, reading)| preference(part, reading))
    }
}

/// A key figure for tests, with what it is in each state.
#[cfg(test)]
pub(crate) fn row<const STATES: usize>(
    pattern: Pattern,
    kib: u64,
    queue_depth: u32,
    metric: Metric,
    means: [Option<f64>; STATES],
) -> KeyFigure {
    let reads = if matches!(pattern, Pattern::Read | Pattern::RandRead) { 100 } else { 0 };
    let request = KeyRequest { pattern, reads, block: Bytes::from_kib(kib), queue_depth, workers: 1 };
    let entry = |mean: f64| KeyEntry {
        figure: CellFigure::Measured(Interval { mean, half_width: Some(mean / 200.0), repeats: 5 }),
        anchor: "step-some".to_owned(),
    };
    KeyFigure { request, metric, entries: means.map(|mean| mean.map(entry)).into(), is_sustained: false }
}

/// Whether the figures of a step are levels at which a drive stays: not those of a conditioning, nor of rounds that
/// let it rest or count all the way to wherever they came.
fn gives_levels(part: &MeasuredStep) -> bool {
    let is_level = |rounds: &Rounds| rounds.steady.is_some() && rounds.rest == Nanos::ZERO;
    !part.is_conditioning() && !part.is_saturation() && part.rounds().is_none_or(is_level)
}

/// Whether it can stand for its workload: a figure of a job says as much of what ran beside it.
pub(crate) fn is_key(reading: &CellFigures) -> bool {
    reading.is_plain() && reading.point.job().is_none()
}

/// The workload of a conditioning with random writes.
fn wears<'a>(part: &MeasuredStep<'a>) -> Option<&'a Workload> {
    part.condition().filter(|condition| plan::wears(&condition.workload)).map(|condition| &condition.workload)
}

/// The mean of a conditioning's last rounds; of all of it where it has too few. One run has no interval.
fn sustained(part: &MeasuredStep, reading: &CellFigures) -> CellFigure {
    let steadiness = part.condition().zip(reading.point.measurements().next());
    let steadiness = steadiness.and_then(|(condition, measured)| Timeline::of(condition, measured).steadiness);
    match steadiness {
        Some(steadiness) => CellFigure::Measured(Interval {
            mean: steadiness.mean,
            half_width: None,
            repeats: reading.point.repeats.len(),
        }),
        None => reading.figure(Metric::Iops),
    }
}
