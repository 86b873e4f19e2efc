//! How well each drive predicts, as `assay replicate qos` last found it: `published/qos-record.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use block::Seed;
use drive::preset::Preset;
use serde::{Deserialize, Serialize};

use super::file::Qos;
use super::judge::{QosRun, Tallied};
use super::quantity::Kind;
use crate::replicate::Use;

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

impl PredictionRecord {
    /// How many points there are of this use.
    pub fn points(&self, usage: Use) -> usize {
        self.of(usage).values().map(|kind| kind.points).sum()
    }

    /// By kind, in the order of tables.
    pub fn kinds(&self, usage: Use) -> impl Iterator<Item = (Kind, KindRecord)> {
        Kind::ALL.into_iter().filter_map(move |kind| Some((kind, *self.of(usage).get(kind.name())?)))
    }

    const fn of(&self, usage: Use) -> &BTreeMap<String, KindRecord> {
        match usage {
            Use::Fit => &self.fit,
            Use::Check => &self.check,
        }
    }
}

/// What comes with the program of this preset; none where nothing was published of it, or nobody has run it.
pub fn kept(preset: &str) -> Option<&'static PredictionRecord> {
    static KEPT: LazyLock<BTreeMap<String, PredictionRecord>> = LazyLock::new(|| {
        read(include_str!("../../../../../published/qos-record.toml")).expect("a test reads the embedded record")
    });
    KEPT.get(preset)
}

/// A digest of all that a preset's drive is made of, in hexadecimal: words in its file may change.
pub fn digest(preset: &Preset) -> String {
    format!("{:016x}", Seed::new(0).split(&format!("{:?}", preset.spec)).get())
}

fn read(text: &str) -> Result<BTreeMap<String, PredictionRecord>, toml::de::Error> {
    toml::from_str(text)
}

/// The record with what `run` found: its own drives anew, all others as they are in `before`.
///
/// # Errors
/// If `before` is no such record.
pub fn write(before: &str, qos: &Qos, run: &QosRun) -> Result<String, toml::de::Error> {
    let mut record = read(before)?;
    for (drive, target) in run.drives.iter().enumerate() {
        let Some(Ok(target)) = target else { continue };
        let of = |usage| {
            let kind = |kind: Kind| {
                let Tallied { points, factor_median, .. } = Tallied::of(&run.ratios(qos, Some(drive), kind, usage))?;
                let factor = (factor_median * 1e3).round() / 1e3;
                Some((kind.name().to_owned(), KindRecord { points, factor }))
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
    let head = "# How well each preset meets the points of qos.toml that count: how many, and the median of simulated over\n\
                # published or its inverse, whichever is larger. Written by `assay replicate qos --record FILE`.\n\n";
    Ok(head.to_owned() + &toml::to_string(&record).expect("names and numbers always serialise"))
}

#[cfg(test)]
mod tests {
    use testkit::figures::{drive, experiment};

    use super::super::{QosAnswer, QosTarget, Simulated, builtin, parse};
    use super::*;

    #[test]
    fn the_embedded_record_is_of_drives_with_figures() {
        let record = read(include_str!("../../../../../published/qos-record.toml")).unwrap();
        assert!(!record.is_empty());
        for name in record.keys() {
            assert!(builtin().drive(name).is_some(), "nothing was published of `{name}`");
            assert!(Preset::find(name).is_ok(), "there is no preset `{name}`");
        }
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
        let record = read(&write(before, &qos, &run).unwrap()).unwrap();
        assert_eq!(record["other"].digest, "1");
        let found = &record["x25-m"];
        assert_eq!(
            (found.digest.as_str(), found.seed, found.points(Use::Fit), found.points(Use::Check)),
            ("12", 7, 2, 0)
        );
        let kinds: Vec<_> = found.kinds(Use::Fit).collect();
        assert_eq!(
            kinds,
            [(Kind::Typical, KindRecord { points: 2, factor: 1.625 })],
            "2 and 1.25; extremes are not kept"
        );
        assert!(write("[x25-m]\nseed = true\n", &qos, &run).is_err());
    }
}
