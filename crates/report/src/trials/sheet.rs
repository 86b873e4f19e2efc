//! The figures of a step that tries something, point by point.

use lab::TrialOutcome;
use lab::plan::{Action, Trials};
use stats::Interval;
use trial::{Better, Choice, Figure};

use crate::chart::Ground;
use crate::number::three;
use crate::part::Part;

/// The figures of a step: a row for each point, a column for each figure.
pub(crate) struct Sheet<'a> {
    /// What is swept.
    pub(crate) axes: &'a [&'static Choice],
    /// What was measured, in the order in which it was first given.
    pub(crate) columns: Vec<Column>,
    /// The points at which something came of it.
    pub(crate) rows: Vec<Row<'a>>,
}

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) better: Better,
    /// The unit in which it is shown, and how much of it one of the figure's own unit is.
    pub(crate) unit: &'static str,
    pub(crate) scale: f64,
}

/// One point.
pub(crate) struct Row<'a> {
    /// Its place among the points of the step.
    pub(crate) place: usize,
    pub(crate) outcome: &'a TrialOutcome,
    /// What was measured there, by column; none where it was not.
    pub(crate) figures: Vec<Option<Interval>>,
}

impl<'a> Sheet<'a> {
    /// The figures of `trials`; none where nothing came of any.
    pub(crate) fn of(trials: &'a Trials, outcomes: &'a [TrialOutcome]) -> Option<Self> {
        let goes = || outcomes.iter().flat_map(|outcome| &outcome.repeats);
        let mut first: Vec<&Figure> = Vec::new();
        for figure in goes().flat_map(|go| &go.figures) {
            if !first.iter().any(|known| known.name == figure.name) {
                first.push(figure);
            }
        }
        let most = |name: &str| goes().filter_map(|go| go.figure(name)).fold(0.0_f64, |most, one| most.max(one.abs()));
        let columns: Vec<Column> = first.iter().map(|figure| Column::of(figure, most(&figure.name))).collect();
        let row = |(place, outcome): (usize, &'a TrialOutcome)| Row {
            place,
            figures: columns.iter().map(|column| column.figure(outcome)).collect(),
            outcome,
        };
        let told = outcomes.iter().enumerate().filter(|(_, outcome)| !outcome.repeats.is_empty());
        let rows: Vec<Row> = told.map(row).collect();
        (!columns.is_empty() && !rows.is_empty()).then_some(Self { axes: &trials.axes, columns, rows })
    }

    /// The places of the columns that are drawn and spoken of: the first figure of each way of being better.
    pub(crate) fn leading(&self) -> Vec<usize> {
        let first = |better| self.columns.iter().position(|column| column.better == better);
        let mut leading: Vec<usize> = [first(Better::More), first(Better::Less)].into_iter().flatten().collect();
        leading.sort_unstable();
        leading
    }

    /// What is swept at `place`, with the unit of its numbers.
    fn head(&self, place: usize) -> String {
        let unit = match self.axes[place].kind {
            trial::Kind::Bytes => " (B)",
            trial::Kind::Time => " (s)",
            _ => "",
        };
        format!("{}{unit}", self.axes[place].title)
    }

    /// The axis at `along` as what is drawn lies along it.
    pub(crate) fn ground(&self, along: usize) -> Ground {
        let ticks = self.rows.iter().filter_map(|row| Some((row.number(along)?, row.value(along)))).collect();
        Ground::numbers(self.axes[along].title, &self.head(along), ticks)
    }

    /// The different names that `of` gives to rows, in order.
    pub(crate) fn distinct(&self, of: impl Fn(&Row) -> String) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.rows.iter().map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The place of the axis that a step is about: the last whose values are words, other than what is asked of the drive.
    pub(crate) fn subject(&self) -> Option<usize> {
        let is_word =
            |place: &usize| self.axes[*place].name != "rw" && self.rows.iter().any(|row| row.number(*place).is_none());
        (0..self.axes.len()).rev().find(is_word)
    }

    /// The place of the axis along which figures are drawn: the last that is made of numbers.
    pub(crate) fn along(&self) -> Option<usize> {
        let is_number = |place: &usize| self.rows.iter().all(|row| row.number(*place).is_some());
        let values = |place: usize| {
            let mut values: Vec<&str> = self.rows.iter().map(|row| row.value(place)).collect();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        (0..self.axes.len()).rev().find(|place| is_number(place) && values(*place) > 2)
    }
}

/// The figures of a step whose interval is wide: the point, the figure, the interval.
pub(crate) fn wide(part: &Part) -> Vec<(String, Column, Interval)> {
    let Action::Trial(trials) = &part.step.action else { return Vec::new() };
    let Some(sheet) = Sheet::of(trials, part.trials) else { return Vec::new() };
    let mut wide = Vec::new();
    for row in &sheet.rows {
        for (column, found) in sheet.columns.iter().zip(&row.figures) {
            wide.extend(found.filter(Interval::is_imprecise).map(|interval| (row.name(), column.clone(), interval)));
        }
    }
    wide
}

/// How many figures of trials have an interval, and how many of these are wide.
pub(crate) fn precision(parts: &[Part]) -> (usize, usize) {
    let of = |part: &Part| {
        let Action::Trial(trials) = &part.step.action else { return 0 };
        let figures =
            |sheet: Sheet| sheet.rows.iter().flat_map(|row| row.figures.clone()).flatten().collect::<Vec<_>>();
        let all = Sheet::of(trials, part.trials).map(figures).unwrap_or_default();
        all.iter().filter(|interval| interval.half_width.is_some()).count()
    };
    (parts.iter().map(of).sum(), parts.iter().map(|part| wide(part).len()).sum())
}

impl Column {
    /// The column of `figure`, which is at most `most`: in the unit that suits.
    fn of(figure: &Figure, most: f64) -> Self {
        let (unit, scale) = match figure.unit.as_str() {
            "s" if most < 1e-3 => ("µs", 1e6),
            "s" if most < 1.0 => ("ms", 1e3),
            "s" => ("s", 1.0),
            "B/s" => ("MB/s", 1e-6),
            "B" if most < 1e6 => ("kB", 1e-3),
            "B" => ("MB", 1e-6),
            // What the word says already.
            "1/s" if figure.name == "IOPS" => ("", 1.0),
            "1/s" => ("1/s", 1.0),
            "%" => ("%", 1.0),
            _ => ("", 1.0),
        };
        Self { name: figure.name.clone(), better: figure.better, unit, scale }
    }

    fn figure(&self, outcome: &TrialOutcome) -> Option<Interval> {
        outcome.figure(&self.name).map(|found| self.scaled(&found))
    }

    /// A figure in the unit in which the column is shown.
    pub(crate) fn scaled(&self, found: &Interval) -> Interval {
        let half_width = found.half_width.map(|half| half * self.scale);
        Interval { mean: found.mean * self.scale, half_width, ..*found }
    }

    /// What is measured, with its unit: `Transactions (1/s)`.
    pub(crate) fn head(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }

    /// The heading of a panel: `Transactions (1/s), more is better`.
    pub(crate) fn title(&self) -> String {
        self.head() + self.way()
    }

    /// Which way is better, to be put behind a heading: `, more is better`.
    pub(crate) const fn way(&self) -> &'static str {
        match self.better {
            Better::More => ", more is better",
            Better::Less => ", less is better",
            Better::Neither => "",
        }
    }

    /// `12,300 a second`.
    pub(crate) fn told(&self, interval: &Interval) -> String {
        let unit = if self.unit == "1/s" { "a second" } else { self.unit };
        format!("{} {unit}", three(interval.mean)).trim_end().to_owned()
    }
}

impl Row<'_> {
    /// The value of an axis as the plan writes it.
    pub(crate) fn value(&self, place: usize) -> &str {
        &self.outcome.point.values[place].1
    }

    /// The same as a number; none where it is none.
    pub(crate) fn number(&self, place: usize) -> Option<f64> {
        let (choice, text) = &self.outcome.point.values[place];
        match choice.kind {
            trial::Kind::Count(..) => text.parse().ok(),
            trial::Kind::Bytes => block::parse_bytes(text).ok().map(|bytes| bytes.get() as f64),
            trial::Kind::Time => block::parse_duration(text).ok().map(|time| time.as_secs_f64()),
            trial::Kind::Word(_) | trial::Kind::Text => None,
        }
    }

    /// The value of an axis where nothing else says of what: `ext4`, `threads 8`.
    pub(crate) fn told(&self, place: usize) -> String {
        let (choice, text) = &self.outcome.point.values[place];
        match choice.kind {
            trial::Kind::Count(..) => format!("{} {text}", choice.title.to_lowercase()),
            _ => shown(text).to_owned(),
        }
    }

    /// What sets it apart: `ext4, threads 8`; of one point alone nothing.
    pub(crate) fn name(&self) -> String {
        (0..self.outcome.point.values.len()).map(|place| self.told(place)).collect::<Vec<_>>().join(", ")
    }

    /// What sets its line apart from others along the axis at `along`.
    pub(crate) fn line(&self, along: usize) -> String {
        let others = (0..self.outcome.point.values.len()).filter(|place| *place != along);
        others.map(|place| self.told(place)).collect::<Vec<_>>().join(", ")
    }
}

/// A value as people read it: that there is none is said.
pub(crate) fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}
