//! How well each drive predicts, as `assay replicate` last found it: `published/qos-record.toml` of latencies and rates, and
//! `published/review-record.toml` of the figures of reviews.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use block::Seed;
use drive::preset::Preset;
use serde::{Deserialize, Serialize};

use super::answer::Replication;
use super::published::{Expect, Use};
use super::qos::{Kind, Qos, QosRun, Tallied};

/// How well one preset predicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionRecord {
    /// What [`digest`] gave then.
    pub digest: String,
    pub seed: u64,
    /// By kind, points that may be fitted to.
    #[serde(default)]
    pub fit: BTreeMap<String, KindRecord>,
    /// By kind, points that only check.
    #[serde(default)]
    pub check: BTreeMap<String, KindRecord>,
}

/// How well one kind of points is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindRecord {
    pub points: usize,
    /// The median of simulated over published or its inverse, whichever is larger.
    pub factor: f64,
}

impl KindRecord {
    fn of(found: &Tallied) -> Self {
        Self { points: found.points, factor: (found.factor_median * 1e3).round() / 1e3 }
    }
}

impl PredictionRecord {
    /// How many points there are of this use.
    pub fn points(&self, usage: Use) -> usize {
        self.of(usage).values().map(|kind| kind.points).sum()
    }

    /// By kind, whose title is given, in the order of tables.
    pub fn kinds(&self, usage: Use) -> impl Iterator<Item = (&'static str, KindRecord)> {
        let kinds =
            Kind::ALL.map(|kind| (kind.name(), kind.title())).into_iter().chain([(REVIEW, "figures of reviews")]);
        kinds.filter_map(move |(name, title)| Some((title, *self.of(usage).get(name)?)))
    }

    const fn of(&self, usage: Use) -> &BTreeMap<String, KindRecord> {
        match usage {
            Use::Fit => &self.fit,
            Use::Check => &self.check,
        }
    }
}

/// The kind of all figures of reviews.
const REVIEW: &str = "review";

/// The records that come with the program.
const EMBEDDED: [&str; 2] =
    [include_str!("../../../../published/qos-record.toml"), include_str!("../../../../published/review-record.toml")];

/// What comes with the program of this preset; nothing where nothing was published of it, or nobody has run it.
pub fn kept(preset: &str) -> impl Iterator<Item = &'static PredictionRecord> {
    static KEPT: LazyLock<[BTreeMap<String, PredictionRecord>; 2]> =
        LazyLock::new(|| EMBEDDED.map(|text| read(text).expect("a test reads the embedded records")));
    KEPT.iter().filter_map(move |record| record.get(preset))
}

/// A digest of all that a preset's drive is made of, in hexadecimal: words in its file may change.
pub fn digest(preset: &Preset) -> String {
    format!("{:016x}", Seed::new(0).split(&format!("{:?}", preset.spec)).get())
}

fn read(text: &str) -> Result<BTreeMap<String, PredictionRecord>, toml::de::Error> {
    toml::from_str(text)
}

/// The record with what these reviews found, by the drive that each figure is of: theirs anew, all others as they are in
/// `before`. A figure of two drives counts for both.
///
/// # Errors
/// If `before` is no such record.
pub fn write_reviews(before: &str, reviews: &[Replication]) -> Result<String, toml::de::Error> {
    let mut record = read(before)?;
    let presets: BTreeSet<&String> = reviews.iter().flat_map(|review| review.drives.values()).flatten().collect();
    for name in presets {
        let Ok(preset) = Preset::find(name) else { continue };
        let is_of = |review: &Replication, id: &str| review.drives.get(id).is_some_and(|drives| drives.contains(name));
        let ratio = |review: &Replication, usage| {
            let judged = review.all().filter(move |answer| answer.is_judged() && answer.figure.usage == usage);
            let of_it: Vec<f64> = judged
                .filter(|answer| is_of(review, &answer.figure.id))
                .filter_map(|answer| match answer.figure.expect? {
                    Expect::Value { value, .. } => Some(answer.measured? / value),
                    Expect::Bounds { .. } => None,
                })
                .collect();
            of_it
        };
        let of = |usage| {
            let ratios: Vec<f64> = reviews.iter().flat_map(|review| ratio(review, usage)).collect();
            Tallied::of(&ratios).map(|found| (REVIEW.to_owned(), KindRecord::of(&found))).into_iter().collect()
        };
        let seed = reviews.first().map_or(0, |review| review.seed.get());
        let found = PredictionRecord { digest: digest(&preset), seed, fit: of(Use::Fit), check: of(Use::Check) };
        record.insert(name.clone(), found);
    }
    Ok(told(
        "# How well each preset meets the figures of reviews that are judged and are a number: how many, and the median of\n\
         # simulated over published or its inverse, whichever is larger. Written by `assay replicate --record FILE`.\n\n",
        &record,
    ))
}

fn told(head: &str, record: &BTreeMap<String, PredictionRecord>) -> String {
    head.to_owned() + &toml::to_string(record).expect("names and numbers always serialise")
}

/// The record with what `run` found: its own drives anew, all others as they are in `before`.
///
/// # Errors
/// If `before` is no such record.
pub fn write_qos(before: &str, qos: &Qos, run: &QosRun) -> Result<String, toml::de::Error> {
    let mut record = read(before)?;
    for (drive, target) in run.drives.iter().enumerate() {
        let Some(Ok(target)) = target else { continue };
        let of = |usage| {
            let kind = |kind: Kind| {
                let found = Tallied::of(&run.ratios(qos, Some(drive), kind, usage))?;
                Some((kind.name().to_owned(), KindRecord::of(&found)))
            };
            Kind::ALL.into_iter().filter(|kind| *kind != Kind::Extreme).filter_map(kind).collect()
        };
        let found = PredictionRecord {
            digest: target.digest.clone(),
            seed: run.seed.get(),
            fit: of(Use::Fit),
            check: of(Use::Check),
        };
        record.insert(target.name.clone(), found);
    }
    Ok(told(
        "# How well each preset meets the points of qos.toml that count: how many, and the median of simulated over\n\
         # published or its inverse, whichever is larger. Written by `assay replicate qos --record FILE`.\n\n",
        &record,
    ))
}

#[cfg(test)]
mod tests {
    use testkit::figures::{drive, experiment};

    use super::super::answer::Carried;
    use super::super::catalog;
    use super::super::qos::{QosAnswer, QosTarget, Simulated, builtin, parse};
    use super::*;

    #[test]
    fn the_embedded_records_are_of_drives_with_figures() {
        let [qos, reviews] = EMBEDDED.map(|text| read(text).unwrap());
        assert!(!qos.is_empty() && !reviews.is_empty());
        for name in qos.keys() {
            assert!(builtin().drive(name).is_some(), "nothing was published of `{name}`");
        }
        for name in qos.keys().chain(reviews.keys()) {
            assert!(Preset::find(name).is_ok(), "there is no preset `{name}`");
        }
        assert!(reviews["x25-m"].points(Use::Check) > 20 && reviews["x25-m"].points(Use::Fit) > 15);
        assert_eq!(kept("x25-m").count(), 1);
    }

    #[test]
    fn a_record_keeps_other_drives_and_has_what_a_run_found() {
        let points = "{ q = \"p50\", v = 100 }, { q = \"p99\", v = 100 }, { q = \"max\", v = 100 }";
        let group = experiment("d/a", "d", "fit", "rw = \"read\", bs = 4096, qd = 1", points);
        let qos = parse(&(drive("d", "x25-m", "D") + &group)).unwrap();
        let answer = |(point, value)| QosAnswer::new(point, Ok(Some(Simulated { value, rests_on: None })));
        let answers = vec![qos.groups[0].points.iter().zip([50.0, 125.0, 9.0]).map(answer).collect()];
        let (name, title, digest) = ("x25-m".to_owned(), String::new(), "12".to_owned());
        let target = QosTarget { name, title, host: None, digest, blocks: None, write_amplification: None };
        let run = QosRun { seed: Seed::new(7), is_quick: false, drives: vec![Some(Ok(target))], answers };
        let before = "[other]\ndigest = \"1\"\nseed = 1\n[x25-m]\ndigest = \"9\"\nseed = 1\n";
        let record = read(&write_qos(before, &qos, &run).unwrap()).unwrap();
        assert_eq!(record["other"].digest, "1");
        let found = &record["x25-m"];
        assert_eq!(
            (found.digest.as_str(), found.seed, found.points(Use::Fit), found.points(Use::Check)),
            ("12", 7, 2, 0)
        );
        let kinds: Vec<_> = found.kinds(Use::Fit).collect();
        assert_eq!(
            kinds,
            [("p50 and p99", KindRecord { points: 2, factor: 1.625 })],
            "2 and 1.25; extremes are not kept"
        );
        assert!(write_qos("[x25-m]\nseed = true\n", &qos, &run).is_err());
    }

    /// As if each figure of what was published had come out a tenth too high.
    #[test]
    fn figures_of_reviews_count_for_the_drives_that_they_are_of() {
        let all: Vec<Replication> = catalog::names()
            .into_iter()
            .map(|name| {
                let review = catalog::find(name).unwrap();
                let targets: Vec<_> = review.method.parts.iter().map(|part| (part, String::new())).collect();
                let mut done = Replication::new(&review, Seed::new(3), Carried::default(), &targets, Vec::new());
                for answer in done.answers.iter_mut().flatten().flatten() {
                    if let Some(Expect::Value { value, .. }) = answer.figure.expect {
                        answer.measured = Some(value * 1.1);
                    }
                    let is_measured = answer.is_judged() && answer.measured.is_some();
                    assert!(!is_measured || done.drives.contains_key(&answer.figure.id), "{}", answer.figure.id);
                }
                done
            })
            .collect();
        let record = read(&write_reviews("[other]\ndigest = \"1\"\nseed = 1\n", &all).unwrap()).unwrap();
        assert_eq!(record["other"].digest, "1");
        for (name, usage) in
            [("x25-m", Use::Check), ("intel-520", Use::Check), ("st320lt020", Use::Check), ("x25-m", Use::Fit)]
        {
            let found: Vec<_> = record[name].kinds(usage).collect();
            assert!(
                matches!(found[..], [("figures of reviews", KindRecord { points: 2.., factor: 1.1 })]),
                "{found:?}"
            );
        }
        assert_eq!(record["x25-m"].seed, 3);
        assert_eq!(record["x25-m"].digest, digest(&Preset::find("x25-m").unwrap()));
    }
}
