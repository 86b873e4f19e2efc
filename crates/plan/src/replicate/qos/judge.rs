//! How well simulated drives predict what was published: errors, factors, orderings, and the bars they are held to.

use block::Seed;
use drive::preset::changed_name;
use stats::median;

use super::file::{Qos, QosPoint};
use super::quantity::{Kind, Sense, Simulated};
use crate::replicate::Use;
use crate::replicate::published::within;

/// Two published numbers that differ by less say nothing of an order.
const ORDER: f64 = 1.2;

/// What came of simulating published experiments.
#[derive(Clone, Debug, PartialEq)]
pub struct QosRun {
    /// Random seed.
    pub seed: Seed,
    /// Whether runs were cut to a tenth.
    pub is_quick: bool,
    /// What each drive of the file was simulated on, or why it was not; none where it was not asked for.
    pub drives: Vec<Option<Result<QosTarget, String>>>,
    /// The answer to each point, by group.
    pub answers: Vec<Vec<QosAnswer>>,
}

/// What a drive was simulated on.
#[derive(Clone, Debug, PartialEq)]
pub struct QosTarget {
    /// The preset as it was asked for.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The rig that stood for its host; none where it was measured by itself.
    pub host: Option<String>,
    /// A digest of what it is made of ([`digest`](crate::replicate::digest)).
    pub digest: String,
    /// Blocks of a plane as simulated and as the preset has them; none where nothing was scaled down.
    pub blocks: Option<(u32, u32)>,
    /// Programmed over written pages of the last random overwrite; none where there was none.
    pub write_amplification: Option<f64>,
}

impl QosTarget {
    /// What a run is to name to measure the same: `sim:pm9a3-960?host=nvme-host-busy`.
    pub fn target(&self) -> String {
        let Self { name, host, .. } = self;
        let hosted = host.as_ref().map(|host| changed_name(name, &format!("host={host}")));
        format!("sim:{}", hosted.as_ref().unwrap_or(name))
    }
}

/// The answer to a published point.
#[derive(Clone, Debug, PartialEq)]
pub struct QosAnswer {
    pub simulated: Option<Simulated>,
    pub standing: Standing,
}

/// What a point counts towards.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The bar of its kind.
    Counts,
    /// A promise or a bound, which holds or does not.
    Bound,
    /// Nothing, because of what was published.
    Apart(String),
    /// Nothing, because it [rests on](Simulated::rests_on) only so many of our requests.
    Unresolved(f64),
    /// Nothing: it was not simulated.
    Unmeasured(String),
}

impl QosAnswer {
    /// The answer to `point`, given what was simulated or why nothing was.
    pub fn new(point: &QosPoint, simulated: Result<Option<Simulated>, String>) -> Self {
        let (simulated, standing) = match (simulated, &point.apart) {
            (Err(why), _) => (None, Standing::Unmeasured(why)),
            (Ok(None), _) => (None, Standing::Unmeasured("nothing of the kind was completed".to_owned())),
            (Ok(Some(simulated)), apart) => {
                let standing = match (simulated.rests_on, apart) {
                    (_, Some(why)) => Standing::Apart(why.clone()),
                    (Some(requests), None) if requests < point.quantity.rests_on_least() => {
                        Standing::Unresolved(requests)
                    }
                    _ if point.sense != Sense::Value => Standing::Bound,
                    _ => Standing::Counts,
                };
                (Some(simulated), standing)
            }
        };
        Self { simulated, standing }
    }

    /// Simulated over published.
    pub fn ratio(&self, point: &QosPoint) -> Option<f64> {
        Some(self.simulated?.value / point.value)
    }

    /// Whether a bound holds; none where the point is none, or was not simulated.
    pub fn holds(&self, point: &QosPoint) -> Option<bool> {
        let value = self.simulated?.value;
        match point.sense {
            Sense::Value => None,
            Sense::AtMost => Some(value <= point.value),
            Sense::AtLeast => Some(value >= point.value),
        }
    }
}

/// How well some points are met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tallied {
    pub points: usize,
    /// The median of the errors without their signs, as a share.
    pub error_median: f64,
    /// The share of points within 25 %.
    pub within_25: f64,
    /// The median of simulated over published or its inverse, whichever is larger.
    pub factor_median: f64,
    /// The share of points within a factor of 1.5.
    pub factor_15: f64,
    /// The share within 1.6.
    pub factor_16: f64,
}

impl Tallied {
    /// Of `ratios`, simulated over published; none where there are none.
    pub fn of(ratios: &[f64]) -> Option<Self> {
        let share = |is_in: &dyn Fn(f64) -> bool| {
            ratios.iter().filter(|ratio| is_in(**ratio)).count() as f64 / ratios.len() as f64
        };
        let factor = |ratio: f64| ratio.max(1.0 / ratio);
        Some(Self {
            points: ratios.len(),
            error_median: median(ratios.iter().map(|ratio| (ratio - 1.0).abs()))?,
            within_25: share(&|ratio| within((ratio - 1.0).abs(), 0.25)),
            factor_median: median(ratios.iter().map(|ratio| factor(*ratio)))?,
            factor_15: share(&|ratio| within(factor(ratio), 1.5)),
            factor_16: share(&|ratio| within(factor(ratio), 1.6)),
        })
    }
}

/// A pair of points of two drives under the same conditions, of which one was published 20 % larger or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// The larger published one: its group and its place there.
    pub larger: (usize, usize),
    pub smaller: (usize, usize),
    /// Fitted if a parameter may have been fitted to either.
    pub usage: Use,
    /// Whether the simulated ones are in the same order.
    pub is_same: bool,
}

/// What is wanted of a kind of points, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// What is counted; none for orderings.
    pub kind: Option<Kind>,
    pub usage: Use,
    /// How many points, or pairs.
    pub points: usize,
    /// Of points.
    pub tallied: Option<Tallied>,
    /// Of pairs: how many are in the published order.
    pub same: usize,
    pub verdict: BarVerdict,
}

/// Whether a bar is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarVerdict {
    Met,
    NotMet,
    /// There is nothing to judge.
    Empty,
}

impl BarVerdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Empty => "no points",
        }
    }

    fn of(is_met: Option<bool>) -> Self {
        is_met.map_or(Self::Empty, |is_met| if is_met { Self::Met } else { Self::NotMet })
    }
}

impl Bar {
    /// What is wanted.
    pub const fn wanted(kind: Option<Kind>) -> &'static str {
        match kind {
            Some(Kind::Rate) => "median error ≤ 10 %, 9 of 10 within 25 %",
            Some(Kind::Typical) => "median error ≤ 15 %",
            Some(Kind::Tail) => "median factor ≤ 1.3, 4 of 5 within 1.6",
            Some(Kind::Consistency) => "each within a factor of 1.5",
            Some(Kind::Extreme) => "",
            None => "9 of 10 in the published order",
        }
    }

    fn of_kind(kind: Kind, usage: Use, ratios: &[f64]) -> Self {
        let tallied = Tallied::of(ratios);
        let is_met = tallied.map(|tallied| match kind {
            Kind::Rate => within(tallied.error_median, 0.1) && tallied.within_25 >= 0.9,
            Kind::Typical => within(tallied.error_median, 0.15),
            Kind::Tail => within(tallied.factor_median, 1.3) && tallied.factor_16 >= 0.8,
            Kind::Consistency => tallied.factor_15 == 1.0,
            Kind::Extreme => true,
        });
        Self { kind: Some(kind), usage, points: ratios.len(), tallied, same: 0, verdict: BarVerdict::of(is_met) }
    }

    fn of_pairs(usage: Use, orderings: &[Ordering]) -> Self {
        let own = || orderings.iter().filter(|ordering| ordering.usage == usage);
        let (points, same) = (own().count(), own().filter(|ordering| ordering.is_same).count());
        let verdict = BarVerdict::of((points > 0).then(|| same * 10 >= points * 9));
        Self { kind: None, usage, points, tallied: None, same, verdict }
    }
}

impl QosRun {
    /// Simulated over published of the points of this kind and use that count, of one drive or of all.
    pub fn ratios(&self, qos: &Qos, drive: Option<usize>, kind: Kind, usage: Use) -> Vec<f64> {
        let counted = self.points(qos).filter(|(group, _, point, answer)| {
            drive.is_none_or(|drive| qos.groups[*group].drive == drive)
                && answer.standing == Standing::Counts
                && (point.kind(), point.usage) == (kind, usage)
        });
        counted.filter_map(|(_, _, point, answer)| answer.ratio(point)).collect()
    }

    /// Every point with its answer, and the places of both.
    pub fn points<'q>(&'q self, qos: &'q Qos) -> impl Iterator<Item = (usize, usize, &'q QosPoint, &'q QosAnswer)> {
        let groups = qos.groups.iter().zip(&self.answers).enumerate();
        groups.flat_map(|(place, (group, answers))| {
            group.points.iter().zip(answers).enumerate().map(move |(at, (point, answer))| (place, at, point, answer))
        })
    }

    /// Each bar, fitted points and checked ones apart.
    pub fn bars(&self, qos: &Qos) -> Vec<Bar> {
        let orderings = self.orderings(qos);
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Extreme).map(Some).chain([None]);
        kinds
            .flat_map(|kind| [Use::Fit, Use::Check].map(|usage| (kind, usage)))
            .map(|(kind, usage)| match kind {
                Some(kind) => Bar::of_kind(kind, usage, &self.ratios(qos, None, kind, usage)),
                None => Bar::of_pairs(usage, &orderings),
            })
            .collect()
    }

    /// All pairs of drives under the same conditions whose published points differ by a fifth or more.
    pub fn orderings(&self, qos: &Qos) -> Vec<Ordering> {
        let counted: Vec<_> = self
            .points(qos)
            .filter(|(.., point, answer)| answer.standing == Standing::Counts && point.kind() != Kind::Extreme)
            .filter_map(|(group, at, point, answer)| {
                let conditions = qos.groups[group].conditions.as_deref()?;
                Some((group, at, point, answer.simulated?.value, conditions))
            })
            .collect();
        let mut orderings = Vec::new();
        for (place, one) in counted.iter().enumerate() {
            for other in &counted[place + 1..] {
                let is_pair = (one.4, &one.2.name, &one.2.unit) == (other.4, &other.2.name, &other.2.unit)
                    && qos.groups[one.0].drive != qos.groups[other.0].drive;
                let (larger, smaller) = if one.2.value >= other.2.value { (one, other) } else { (other, one) };
                if !is_pair || larger.2.value < ORDER * smaller.2.value {
                    continue;
                }
                let is_checked = [larger, smaller].iter().all(|of| of.2.usage == Use::Check);
                orderings.push(Ordering {
                    larger: (larger.0, larger.1),
                    smaller: (smaller.0, smaller.1),
                    usage: if is_checked { Use::Check } else { Use::Fit },
                    is_same: larger.3 > smaller.3,
                });
            }
        }
        orderings
    }
}

#[cfg(test)]
mod tests {
    use testkit::figures::{drive, experiment};

    use super::*;
    use crate::replicate::qos::parse;

    /// Two drives, and experiments on them.
    fn figures(groups: &[String]) -> String {
        drive("a", "x25-m", "A") + &drive("b", "x25-e-64", "B") + &groups.concat()
    }

    fn group(drive: &str, points: &str) -> String {
        experiment(
            &format!("{drive}/r"),
            drive,
            "check",
            "rw = \"randread\", bs = 4096, qd = 1, overwrites = 0",
            points,
        )
    }

    fn run(qos: &Qos, simulated: &[&[f64]]) -> QosRun {
        let answer = |(point, value): (&QosPoint, &f64)| {
            QosAnswer::new(point, Ok(Some(Simulated { value: *value, rests_on: Some(1000.0) })))
        };
        let answers = qos.groups.iter().zip(simulated);
        let answers = answers.map(|(group, values)| group.points.iter().zip(*values).map(answer).collect()).collect();
        QosRun { seed: Seed::new(1), is_quick: false, drives: vec![None; qos.drives.len()], answers }
    }

    #[test]
    fn a_tally_is_what_counting_by_hand_gives() {
        let tallied = Tallied::of(&[1.1, 0.5, 1.0, 1.55]).unwrap();
        assert_eq!(tallied.points, 4);
        assert!((tallied.error_median - 0.3).abs() < 1e-9, "errors 0, 0.1, 0.5, 0.55");
        assert!((tallied.factor_median - 1.325).abs() < 1e-9, "factors 1, 1.1, 1.55, 2");
        assert_eq!((tallied.within_25, tallied.factor_15, tallied.factor_16), (0.5, 0.5, 0.75));
        assert_eq!(Tallied::of(&[]), None);
        assert_eq!(Tallied::of(&[1.25, 1.6]).unwrap().factor_16, 1.0, "a bound is within");
    }

    #[test]
    fn each_bar_is_met_or_not_by_its_own_rule() {
        let met = |kind, ratios: &[f64]| Bar::of_kind(kind, Use::Fit, ratios).verdict == BarVerdict::Met;
        assert!(met(Kind::Rate, &[1.1, 0.9, 1.0]) && !met(Kind::Rate, &[1.11, 0.88, 1.2]));
        assert!(!met(Kind::Rate, &[1.0, 1.0, 1.0, 1.3]), "three of four are less than nine of ten");
        assert!(met(Kind::Typical, &[1.15, 0.85, 3.0]) && !met(Kind::Typical, &[1.2]));
        assert!(met(Kind::Tail, &[1.3, 1.2, 1.0, 1.6, 9.0]) && !met(Kind::Tail, &[1.0, 1.0, 1.0, 0.5, 2.0]));
        assert!(met(Kind::Consistency, &[1.5, 0.7]) && !met(Kind::Consistency, &[1.0, 1.0, 1.51]));
        assert_eq!(Bar::of_kind(Kind::Rate, Use::Fit, &[]).verdict, BarVerdict::Empty);
    }

    #[test]
    fn orderings_are_of_drives_that_differ_by_a_fifth_under_the_same_conditions() {
        let first =
            "{ q = \"p50\", v = 100 }, { q = \"p99\", v = 200 }, { q = \"p99.9\", v = 300 }, { q = \"max\", v = 1 }";
        let second = "{ q = \"p50\", v = 119 }, { q = \"p99\", v = 240 }, { q = \"p99.9\", v = 100, use = \"fit\" }, \
                      { q = \"max\", v = 9 }";
        let text = figures(&[group("a", first), group("b", second)]);
        let qos = parse(&text).unwrap();
        let orderings = run(&qos, &[&[1.0, 9.0, 5.0, 1.0], &[1.0, 8.0, 4.0, 1.0]]).orderings(&qos);
        let told: Vec<_> = orderings.iter().map(|one| (one.larger, one.usage, one.is_same)).collect();
        assert_eq!(told, [((1, 1), Use::Check, false), ((0, 2), Use::Fit, true)], "p50 is too close, max is no bar");
        let other = qos_with_depth(&text);
        assert_eq!(run(&other, &[&[1.0; 4], &[1.0; 4]]).orderings(&other), [], "other conditions");
    }

    fn qos_with_depth(text: &str) -> Qos {
        let (first, second) = text.rsplit_once("qd = 1").unwrap();
        parse(&format!("{first}qd = 2{second}")).unwrap()
    }

    #[test]
    fn a_target_is_what_a_run_takes() {
        for (name, host, target) in [
            ("x25-m", None, "sim:x25-m"),
            ("pm9a3-960", Some("nvme-host-busy"), "sim:pm9a3-960?host=nvme-host-busy"),
            ("pm9a3-960?nand.read=50us", Some("nvme-host"), "sim:pm9a3-960?nand.read=50us&host=nvme-host"),
        ] {
            let [name, title, digest] = [name, "", ""].map(str::to_owned);
            let host = host.map(str::to_owned);
            let said = QosTarget { name, title, host, digest, blocks: None, write_amplification: None }.target();
            assert_eq!(said, target);
            drive::preset::Preset::find(&said["sim:".len()..]).unwrap_or_else(|error| panic!("{said}: {error}"));
        }
    }

    #[test]
    fn what_counts_is_neither_apart_nor_unresolved_nor_a_bound() {
        let points = "{ q = \"p99.9\", v = 100 }, { q = \"p99, at most\", v = 100 }, { q = \"p50\", v = 9 }, \
            { q = \"one-second averages within 1 % of the mean\", v = 90, unit = \"%\" }";
        let qos = parse(&figures(&[group("a", points)])).unwrap();
        let [tail, bound, median, near] = &qos.groups[0].points[..] else { panic!("four points") };
        let simulated = |value, requests| Ok(Some(Simulated { value, rests_on: Some(requests) }));
        assert_eq!(QosAnswer::new(tail, simulated(90.0, 49.0)).standing, Standing::Unresolved(49.0));
        assert_eq!(QosAnswer::new(tail, simulated(90.0, 50.0)).standing, Standing::Counts);
        assert_eq!(QosAnswer::new(near, simulated(90.0, 99.0)).standing, Standing::Unresolved(99.0));
        assert_eq!(QosAnswer::new(near, simulated(90.0, 100.0)).standing, Standing::Counts);
        let answer = QosAnswer::new(bound, simulated(101.0, 99.0));
        assert_eq!((answer.holds(bound), &answer.standing), (Some(false), &Standing::Bound));
        let apart = QosPoint { apart: Some("why".to_owned()), ..median.clone() };
        assert_eq!(QosAnswer::new(&apart, simulated(9.0, 99.0)).standing, Standing::Apart("why".to_owned()));
        let lost = QosAnswer::new(median, Err("no preset".to_owned()));
        assert_eq!((lost.ratio(median), lost.holds(median)), (None, None));
    }

    #[test]
    fn fitted_and_checked_points_have_bars_of_their_own() {
        let text = figures(&[group("a", "{ q = \"p50\", v = 100 }, { q = \"p99\", v = 100, use = \"fit\" }")]);
        let qos = parse(&text).unwrap();
        let bars = run(&qos, &[&[110.0, 300.0]]).bars(&qos);
        let of = |usage| bars.iter().find(|bar| (bar.kind, bar.usage) == (Some(Kind::Typical), usage)).unwrap();
        assert_eq!((of(Use::Check).verdict, of(Use::Check).points), (BarVerdict::Met, 1));
        assert_eq!(of(Use::Fit).verdict, BarVerdict::NotMet);
        assert_eq!(bars.len(), 10, "four kinds and the orderings, each twice");
    }
}
