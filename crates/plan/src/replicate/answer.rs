//! What was published beside what was measured, and how well the two agree.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use block::Seed;
use drive::preset::{Preset, Spec};
use drive::rig::Bottleneck;

use super::catalog::Review;
use super::published::{FigureGroup, Published, PublishedFigure, Use, within};
use crate::{MethodPart, Yield};

/// What was measured, by figure, in the figures' order.
pub type Measured = BTreeMap<String, f64>;

/// What carrying out a part gave.
#[derive(Debug, Default)]
pub struct Carried {
    /// What was measured.
    pub figures: Measured,
    /// What held the rig up, by figure; empty where there is no rig.
    pub limits: BTreeMap<String, Bottleneck>,
}

/// A review that was repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    pub published: Published,
    /// What was done, and where it departs from the review.
    pub about: String,
    /// Random seed.
    pub seed: Seed,
    /// What it was done on.
    pub conditions: Vec<PartCondition>,
    /// The drives, by their presets, that each figure is of, by the figure's name; those of parts that were carried out.
    pub drives: BTreeMap<String, BTreeSet<String>>,
    /// The answer to each published figure, by group and series.
    pub answers: Vec<Vec<Vec<Answer>>>,
    /// What held each rig up while a figure was measured, by the figure's name and in the method's order.
    pub limits: Vec<(String, Bottleneck)>,
    /// What was measured and not published.
    pub besides: Vec<Beside>,
    /// What could not be done.
    pub missing: Vec<MissingPart>,
}

/// What one part of a review was carried out on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartCondition {
    pub part: String,
    /// The drive or rig as it was asked for.
    pub target: String,
    /// What it is.
    pub title: String,
}

/// The answer to a published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was published.
    pub figure: PublishedFigure,
    /// What was measured; none where it was not.
    pub measured: Option<f64>,
}

/// A measurement that no published figure stands beside.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Its name.
    pub id: String,
    pub measured: f64,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
}

/// A part that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPart {
    pub part: String,
    /// What it was to be carried out on.
    pub target: String,
    /// Why it was not.
    pub why: String,
    /// Whether it was tried and failed.
    pub failed: bool,
}

/// How well some figures were met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many were measured and judged.
    pub judged: usize,
    pub met: usize,
    /// The median of the errors without their signs; none where nothing was judged.
    pub median: Option<f64>,
    /// The largest of them.
    pub worst: Option<f64>,
}

/// Whether a group's goals were reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalVerdict {
    /// All were.
    Met,
    /// Some was not.
    NotMet,
    /// So many of its figures were to be measured and were not.
    Incomplete(usize),
    /// None of its figures is to be measured.
    NotTried,
}

impl GoalVerdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Incomplete(_) => "incomplete",
            Self::NotTried => "not measured",
        }
    }
}

impl Answer {
    /// How far the measurement is off, as a share; none where there is none or nothing to compare it with.
    pub fn error(&self) -> Option<f64> {
        Some(self.figure.expect?.error(self.measured?))
    }

    /// Whether the figure is met; none where it was not measured or says nothing.
    pub fn holds(&self) -> Option<bool> {
        Some(self.figure.expect?.holds(self.measured?, self.figure.tolerance))
    }

    /// Whether the figure counts towards a verdict once it is measured.
    pub fn is_judged(&self) -> bool {
        self.figure.odd.is_none() && self.figure.unmeasured.is_none() && self.figure.expect.is_some()
    }
}

impl Tally {
    /// Counts those of `answers` that are judged and, where a use is given, of that use.
    pub fn of<'a>(answers: impl Iterator<Item = &'a Answer>, usage: Option<Use>) -> Self {
        let judged = answers.filter(|answer| answer.is_judged() && usage.is_none_or(|u| answer.figure.usage == u));
        Self::of_errors(judged.filter_map(|answer| answer.error().zip(answer.holds())))
    }

    /// Counts errors, each with whether the figure is met.
    pub fn of_errors(judged: impl Iterator<Item = (f64, bool)>) -> Self {
        let (mut errors, mut met) = (Vec::new(), 0);
        for (error, holds) in judged {
            errors.push(error.abs());
            met += usize::from(holds);
        }
        errors.sort_by(f64::total_cmp);
        let half = errors.len() / 2;
        let median = match errors.len() {
            0 => None,
            n if n % 2 == 1 => Some(errors[half]),
            _ => Some((errors[half - 1] + errors[half]) / 2.0),
        };
        Self { judged: errors.len(), met, median, worst: errors.last().copied() }
    }
}

impl Replication {
    /// Puts `measured` beside what `review` published.
    pub fn new(
        review: &Review,
        seed: Seed,
        carried: Carried,
        targets: &[(&MethodPart, String)],
        missing: Vec<MissingPart>,
    ) -> Self {
        let (published, mut measured) = (&review.published, carried.figures);
        complete(review, &mut measured);
        let answer = |figure: &PublishedFigure| {
            let found = measured.get(&figure.id).copied();
            Answer { figure: figure.clone(), measured: found.filter(|_| figure.unmeasured.is_none()) }
        };
        let of_group = |group: &FigureGroup| -> Vec<Vec<Answer>> {
            group.series.iter().map(|series| series.figures.iter().map(answer).collect()).collect()
        };
        let answers = published.groups.iter().map(of_group).collect();
        let yielded = || targets.iter().flat_map(|(part, _)| &part.yields);
        let limit = |given: &Yield| Some((given.id.clone(), *carried.limits.get(&given.id)?));
        let known: HashSet<&str> = published.figures().map(|figure| figure.id.as_str()).collect();
        let besides = yielded().filter(|given| !known.contains(given.id.as_str())).filter_map(|given| {
            let measured = *measured.get(&given.id)?;
            Some(Beside { id: given.id.clone(), measured, unit: given.quantity.unit() })
        });
        let condition = |(part, title): &(&MethodPart, String)| PartCondition {
            part: part.name.clone(),
            target: part.target.clone(),
            title: title.clone(),
        };
        Self {
            published: published.clone(),
            about: review.method.about.clone(),
            seed,
            conditions: targets.iter().map(condition).collect(),
            drives: drives(review, targets),
            answers,
            limits: yielded().filter_map(limit).collect(),
            besides: besides.collect(),
            missing,
        }
    }

    /// The answers of a group, whatever their series.
    pub fn answers_of(&self, group: usize) -> impl Iterator<Item = &Answer> {
        self.answers[group].iter().flatten()
    }

    /// Every answer, in the order of the figures.
    pub fn all(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter().flatten().flatten()
    }

    /// Whether the goals of a group were reached.
    ///
    /// As many figures as the group asks for must be met, and the median error must be small enough on fitted and
    /// on checked figures, each by themselves.
    pub fn verdict(&self, group: usize) -> GoalVerdict {
        let goals = &self.published.groups[group];
        let tally = |usage| Tally::of(self.answers_of(group), usage);
        let expected = self.answers_of(group).filter(|answer| answer.is_judged()).count();
        let all = tally(None);
        if expected == 0 {
            return GoalVerdict::NotTried;
        }
        if all.judged < expected {
            return GoalVerdict::Incomplete(expected - all.judged);
        }
        let close =
            |usage| tally(Some(usage)).median.zip(goals.median).is_none_or(|(median, goal)| within(median, goal));
        match all.met >= goals.within.unwrap_or(expected) && close(Use::Fit) && close(Use::Check) {
            true => GoalVerdict::Met,
            false => GoalVerdict::NotMet,
        }
    }

    /// Whether some part was tried and failed.
    pub fn has_failed(&self) -> bool {
        self.missing.iter().any(|missing| missing.failed)
    }
}

/// The drives that figures are of: those of the parts that give them or what they are reckoned from.
fn drives(review: &Review, targets: &[(&MethodPart, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut drives: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (part, _) in targets {
        let Ok(preset) = Preset::find(&part.target) else { continue };
        let name = match &preset.spec {
            Spec::Rig(rig) => &rig.member.name,
            _ => &preset.name,
        };
        // A drive with changes is of its preset.
        let name = name.split('?').next().unwrap_or(name);
        for given in &part.yields {
            drives.entry(given.id.clone()).or_default().insert(name.to_owned());
        }
    }
    let totals = review.method.totals.iter().map(|total| (&total.id, total.parts().collect::<Vec<_>>()));
    let ratios = review.published.figures().map(|figure| (&figure.id, figure.ratio.iter().flatten().collect()));
    for (id, parts) in totals.chain(ratios) {
        let is_part = |name: &String| {
            parts.iter().any(|part| part.strip_suffix('*').map_or(*part == name, |start| name.starts_with(start)))
        };
        let of: BTreeSet<String> =
            drives.iter().filter(|(name, _)| is_part(name)).flat_map(|(_, of)| of).cloned().collect();
        if !of.is_empty() {
            drives.entry(id.clone()).or_default().extend(of);
        }
    }
    drives
}

/// Adds the sums of the method and the ratios of the figures to what the cells gave.
pub fn complete(review: &Review, measured: &mut Measured) {
    for total in &review.method.totals {
        if let Some(sum) = total.sum(measured) {
            measured.insert(total.id.clone(), sum);
        }
    }
    for figure in review.published.figures() {
        if let Some([one, other]) = &figure.ratio
            && let Some((one, other)) = measured.get(one).zip(measured.get(other))
        {
            let ratio = one / other;
            measured.insert(figure.id.clone(), ratio);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicate::parse;

    fn answers(published: &str, measured: &[Option<f64>]) -> Replication {
        let published = parse(published).unwrap();
        let figures: Vec<PublishedFigure> = published.figures().cloned().collect();
        let answers =
            figures.into_iter().zip(measured).map(|(figure, &measured)| Answer { figure, measured }).collect();
        Replication {
            published,
            about: String::new(),
            seed: Seed::new(1),
            conditions: Vec::new(),
            drives: BTreeMap::new(),
            answers: vec![vec![answers]],
            limits: Vec::new(),
            besides: Vec::new(),
            missing: Vec::new(),
        }
    }

    const FIVE: &str = "review = \"r\"\ntitle = \"t\"\nsource = \"s\"\n[[group]]\ntitle = \"g\"\ntolerance = \"10%\"\nmedian = \"4%\"\n\
        [[group.series]]\ntitle = \"s\"\nfigures = [\n{ id = \"r/a\", use = \"fit\", value = 100 },\n{ id = \"r/b\", use = \"fit\", value = 100 },\n\
        { id = \"r/c\", use = \"check\", value = 100 },\n{ id = \"r/d\", use = \"check\", value = 100, odd = \"why\" },\n\
        { id = \"r/e\", use = \"check\", value = 100, unmeasured = \"why\" },\n]\n";

    #[test]
    fn fitted_and_checked_figures_are_counted_apart_and_odd_ones_not_at_all() {
        let made = answers(FIVE, &[Some(102.0), Some(94.0), Some(97.0), Some(900.0), None]);
        let tally = |usage| Tally::of(made.all(), usage);
        let close = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-12;
        let fitted = tally(Some(Use::Fit));
        assert_eq!((fitted.judged, fitted.met), (2, 2));
        assert!(close(fitted.median, 0.04) && close(fitted.worst, 0.06), "{fitted:?}");
        assert_eq!(tally(Some(Use::Check)).judged, 1);
        assert_eq!(tally(None).judged, 3);
        assert_eq!(made.verdict(0), GoalVerdict::Met);
    }

    #[test]
    fn a_group_is_met_only_if_every_goal_is() {
        let verdict = |text: &str, measured: [f64; 3]| {
            let [a, b, c] = measured.map(Some);
            answers(text, &[a, b, c, None, None]).verdict(0)
        };
        assert_eq!(verdict(FIVE, [102.0, 98.0, 111.0]), GoalVerdict::NotMet, "one is beyond its tolerance");
        assert_eq!(verdict(FIVE, [102.0, 98.0, 106.0]), GoalVerdict::NotMet, "the checked median is beyond 4 %");
        let two = FIVE.replace("median = \"4%\"", "within = 2");
        assert_eq!(verdict(&two, [102.0, 98.0, 150.0]), GoalVerdict::Met, "two of three are enough");
        assert_eq!(answers(FIVE, &[Some(100.0), None, None, None, None]).verdict(0), GoalVerdict::Incomplete(2));
    }
}
