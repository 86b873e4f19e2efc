//! How well each drive predicts, as `assay replicate qos` last found it: `published/qos-record.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::file::Qos;
use super::judge::{QosRun, Tallied};
use super::quantity::Kind;
use crate::replicate::Use;

/// How well one preset predicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionRecord {
    /// A digest of the preset's file as it was then, in hexadecimal.
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
        let digest = format!("{:016x}", target.digest);
        let found = PredictionRecord { digest, seed: run.seed.get(), fit: of(Use::Fit), check: of(Use::Check) };
        record.insert(target.name.clone(), found);
    }
    let head = "# How well each preset meets the points of qos.toml that count: how many, and the median of simulated over\n\
                # published or its inverse, whichever is larger. Written by `assay replicate qos --record FILE`.\n\n";
    Ok(head.to_owned() + &toml::to_string(&record).expect("names and numbers always serialise"))
}

#[cfg(test)]
mod tests {
    use drive::preset::Preset;

    use super::*;

    #[test]
    fn the_embedded_record_is_of_drives_with_figures() {
        let record = read(include_str!("../../../../../published/qos-record.toml")).unwrap();
        for name in record.keys() {
            assert!(super::super::builtin().drive(name).is_some(), "nothing was published of `{name}`");
            assert!(Preset::find(name).is_ok(), "there is no preset `{name}`");
        }
    }
}
