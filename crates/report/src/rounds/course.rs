//! How rounds went: the window, and what it shows of the cells that decide.

use measurement::Measurement;
use plan::{Metric, Rounds};
use stats::{Steadiness, SteadyRule};

use crate::number::{count, percent, significant, three, with_unit};
use crate::part::MeasuredStep;
use crate::table::cell_name;

/// How the rounds of a step went.
pub(crate) struct RoundsCourse<'p> {
    /// The plan's rounds.
    pub(crate) rounds: &'p Rounds,
    /// How many there were; of a run that was cut off, the last may lack cells.
    pub(crate) done: usize,
    /// The windows of the cells that decide, as far as they can be judged.
    pub(crate) windows: Vec<Window>,
    /// How many cells were to decide.
    deciding: usize,
}

/// The last rounds of a cell, held against the rule.
pub(crate) struct Window {
    /// The cell's place in its step.
    pub(crate) place: usize,
    /// What sets it apart from the others of its step; empty where it is alone.
    pub(crate) name: String,
    /// What is judged.
    pub(crate) metric: Metric,
    pub(crate) rule: SteadyRule,
    /// The number of its first round, counted from 1.
    pub(crate) first: usize,
    /// The figure in each of its rounds.
    pub(crate) values: Vec<f64>,
    /// What they show.
    pub(crate) found: Steadiness,
}

/// What came of judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SteadyVerdict {
    /// The plan asks for no steady state.
    NotAsked,
    /// There are too few rounds, or a cell that decides was not measured.
    NotJudged,
    /// All cells that decide are steady.
    Steady,
    /// The last round that the plan allows was reached first.
    NotReached,
    /// The run ended first.
    CutOff,
}

impl SteadyVerdict {
    /// The word for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NotAsked => "not_asked",
            Self::NotJudged => "not_judged",
            Self::Steady => "steady",
            Self::NotReached => "not_reached",
            Self::CutOff => "cut_off",
        }
    }
}

impl<'p> RoundsCourse<'p> {
    /// The course of a step's rounds; none where it is no such step.
    pub(crate) fn of(part: &'p MeasuredStep<'p>) -> Option<Self> {
        let rounds = part.rounds()?;
        let done = part.readings.iter().map(|reading| reading.cell().rounds().count()).max().unwrap_or_default();
        let watched = rounds.watched.iter().filter(|_| rounds.steady.is_some());
        let windows = watched.clone().filter_map(|&place| Window::of(part, rounds, place)).collect();
        Some(Self { rounds, done, windows, deciding: watched.count() })
    }

    /// What came of judging.
    pub(crate) fn verdict(&self) -> SteadyVerdict {
        match self.rounds.steady {
            None => SteadyVerdict::NotAsked,
            Some(_) if self.windows.len() < self.deciding => SteadyVerdict::NotJudged,
            Some(_) if self.windows.iter().all(|window| window.found.steady) => SteadyVerdict::Steady,
            Some(_) if self.done < self.rounds.at_most as usize => SteadyVerdict::CutOff,
            Some(_) => SteadyVerdict::NotReached,
        }
    }

    /// The numbers of the first and the last round whose figures count, from 1; none where there is no round.
    pub(crate) fn counted(&self) -> Option<(usize, usize)> {
        let window = (self.rounds.measure.repeats.most as usize).min(self.done);
        (window > 0).then(|| (self.done - window + 1, self.done))
    }

    /// What came of judging, in a sentence or two.
    pub(crate) fn said(&self) -> String {
        let (rounds, rule) = (count(self.done, "round"), self.rounds.rule());
        match self.verdict() {
            SteadyVerdict::NotAsked => {
                format!("{rounds}, all in the measurement window: the plan has no steady-state rule.")
            }
            SteadyVerdict::NotJudged if self.done < rule.rounds => format!(
                "Steady state not judged: the rule needs {} and there {} {}.",
                count(rule.rounds, "round"),
                if self.done == 1 { "is" } else { "are" },
                self.done
            ),
            SteadyVerdict::NotJudged => {
                "Steady state not judged: a tracking point was not measured on this target.".to_owned()
            }
            SteadyVerdict::Steady => format!("Steady state after {rounds} by {}: {}", name(&rule), self.shown(true)),
            SteadyVerdict::NotReached => format!(
                "Steady state not reached in {rounds}: {} Figures are from the last {} rounds, in which the drive was \
                 still changing.",
                self.shown(false),
                rule.rounds
            ),
            SteadyVerdict::CutOff => {
                format!("The run ended after {rounds}, before steady state: {}", self.shown(false))
            }
        }
    }

    /// The same in a few words: `after 12 rounds`.
    pub(crate) fn briefly(&self) -> String {
        let rounds = count(self.done, "round");
        match self.verdict() {
            SteadyVerdict::NotAsked => format!("no rule, {rounds}"),
            SteadyVerdict::NotJudged => format!("not judged, {rounds}"),
            SteadyVerdict::Steady => format!("after {rounds}"),
            SteadyVerdict::NotReached => format!("not reached in {rounds}"),
            SteadyVerdict::CutOff => format!("not yet, {rounds}"),
        }
    }

    /// What the windows show, the widest of those that are (or are not) steady: the excursions beside those allowed.
    fn shown(&self, steady: bool) -> String {
        let of_kind = || self.windows.iter().filter(|window| window.found.steady == steady);
        let most = |of: fn(&Steadiness) -> f64| of_kind().map(|window| of(&window.found).abs()).fold(0.0, f64::max);
        let (spread, slope, rule) = (most(|found| found.spread), most(|found| found.slope), self.rounds.rule());
        let who = match of_kind().collect::<Vec<_>>().as_slice() {
            [one] if one.name.is_empty() => {
                format!("{} data excursion {}", figure(one.metric), percent(spread))
            }
            [one] => format!("{} data excursion at {}: {}", figure(one.metric), one.name, percent(spread)),
            all => format!(
                "{} data excursion of {}: up to {}",
                figure(self.rounds.by),
                count(all.len(), "point"),
                percent(spread)
            ),
        };
        format!(
            "over the last {} rounds, {who} (limit {}), slope excursion {} (limit {}).",
            rule.rounds,
            percent(rule.spread),
            percent(slope),
            percent(rule.slope)
        )
    }
}

impl Window {
    /// The window of the cell at `place`; none where it has too few rounds.
    fn of(part: &MeasuredStep, rounds: &Rounds, place: usize) -> Option<Self> {
        let reading = part.readings.get(place)?;
        let (rule, watched) = (rounds.rule(), rounds.watch(place, reading.cell().rounds()));
        let found = watched.steadiness?;
        let first = watched.rounds.len().checked_sub(rule.rounds)?;
        Some(Self {
            place,
            name: cell_name(part, reading),
            metric: rounds.by,
            rule,
            first: first + 1,
            values: watched.rounds[first..].to_vec(),
            found,
        })
    }

    /// The number of its last round.
    pub(crate) fn last(&self) -> usize {
        self.first + self.values.len() - 1
    }

    /// How much the fitted line rises from one round to the next.
    pub(crate) fn slope(&self) -> f64 {
        self.found.slope * self.found.mean / (self.values.len() - 1).max(1) as f64
    }

    /// The fitted line at round 0.
    pub(crate) fn intercept(&self) -> f64 {
        self.found.mean - self.slope() * (self.first + self.last()) as f64 / 2.0
    }

    /// The fitted line at a round.
    pub(crate) fn fitted(&self, round: usize) -> f64 {
        self.intercept() + self.slope() * round as f64
    }

    /// `IOPS = 12.4 × round + 4,030`.
    pub(crate) fn formula(&self) -> String {
        let (slope, intercept) = (self.slope(), self.intercept());
        let sign = if intercept < 0.0 { "−" } else { "+" };
        let minus = if slope < 0.0 { "−" } else { "" };
        let (slope, intercept) = (three(slope.abs()), significant(intercept.abs(), 5));
        format!("{minus}{slope} × round {sign} {intercept}")
    }

    /// A share of the mean as an amount: `12 % of the mean, 494 IOPS`.
    pub(crate) fn share(&self, share: f64) -> String {
        let minus = if share < 0.0 { "−" } else { "" };
        let amount = with_unit(self.metric, share.abs() * self.found.mean);
        format!("{minus}{} ({minus}{amount})", percent(share.abs()))
    }
}

/// Whose rule it is.
pub(crate) fn name(rule: &SteadyRule) -> &'static str {
    if *rule == SteadyRule::SNIA { "the SNIA rule" } else { "the plan's rule" }
}

/// A figure within a sentence.
pub(crate) fn figure(metric: Metric) -> String {
    match metric {
        Metric::Iops => "IOPS".to_owned(),
        other => other.title().to_lowercase(),
    }
}

/// A figure in each round of a cell, with the round's number; rounds that do not give it are left out.
pub(crate) fn figures<'m>(
    metric: Metric,
    rounds: impl IntoIterator<Item = &'m Measurement>,
) -> impl Iterator<Item = (usize, f64)> {
    rounds.into_iter().enumerate().filter_map(move |(place, round)| Some((place + 1, metric.of(round)?)))
}
