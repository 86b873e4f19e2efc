//! Reading `published/qos.toml`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use block::suggestion;
use drive::preset::{Preset, PresetError};
use serde::Deserialize;
use serde_spanned::Spanned;

use super::condition::{Condition, ConditionFile, Measure, ReadingFile};
use super::quantity::{Kind, Quantity, Sense};
use crate::replicate::Use;
use crate::{Diagnostic, Mistakes};

/// All that was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Qos {
    pub drives: Vec<QosDrive>,
    pub groups: Vec<QosGroup>,
    /// How many facts on NAND stand beside them.
    pub nand_facts: usize,
}

/// A drive of which something was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QosDrive {
    pub id: String,
    /// What it is, in a line.
    pub model: String,
    /// The preset that simulates it.
    pub preset: String,
    /// The host in which it was measured; none for the one that the preset names.
    pub host: Option<String>,
}

impl QosDrive {
    /// What simulates it, which `preset` is but for the host, in the host in which it was measured.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn hosted(&self, preset: Preset) -> Result<Preset, PresetError> {
        let Some(host) = &self.host else { return Ok(preset) };
        let name = preset.name.clone();
        Ok(Preset { name, ..preset.changed(&format!("host={host}"))? })
    }
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct QosGroup {
    pub id: String,
    /// The place of its drive in [`Qos::drives`].
    pub drive: usize,
    /// Who published it: a title.
    pub source: String,
    /// How its numbers were made.
    pub reading: String,
    /// What is run on the drive; each point is of one of these.
    pub measures: Vec<Measure>,
    /// What sets its conditions apart from those of other drives; none where they are its alone.
    pub conditions: Option<String>,
    pub points: Vec<QosPoint>,
}

/// One published number.
#[derive(Clone, Debug, PartialEq)]
pub struct QosPoint {
    /// Its name in its group: `read p99.9`.
    pub name: String,
    pub value: f64,
    /// The least and most over repeats.
    pub range: Option<(f64, f64)>,
    /// `us`, `IOPS` or `%`.
    pub unit: String,
    pub usage: Use,
    pub quantity: Quantity,
    pub sense: Sense,
    /// The place of its workload in [`QosGroup::measures`], or why there is none.
    pub measure: Result<usize, String>,
    /// Why it counts in no bar.
    pub apart: Option<String>,
}

impl QosPoint {
    /// Which bar it counts towards unless it is set apart.
    pub fn kind(&self) -> Kind {
        self.quantity.kind()
    }
}

impl Qos {
    /// The drives whose id or preset is `name`.
    pub fn drive(&self, name: &str) -> Option<usize> {
        self.drives.iter().position(|drive| drive.id == name || drive.preset == name)
    }

    /// The groups of a drive, with their places.
    pub fn of_drive(&self, drive: usize) -> impl Iterator<Item = (usize, &QosGroup)> {
        self.groups.iter().enumerate().filter(move |(_, group)| group.drive == drive)
    }

    /// The same with no points but those for which `keep` holds, and no experiments without any. How long a workload runs
    /// follows from the points that are left.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&QosGroup, &QosPoint) -> bool) -> Self {
        let mut kept = self.clone();
        for group in &mut kept.groups {
            let points = std::mem::take(&mut group.points);
            group.points = points.into_iter().filter(|point| keep(group, point)).collect();
            group.set_lengths();
        }
        kept.groups.retain(|group| !group.points.is_empty());
        kept
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.groups.iter().map(|group| group.points.len()).sum()
    }
}

/// The figures that come with the program.
pub fn builtin() -> &'static Qos {
    static QOS: LazyLock<Qos> = LazyLock::new(|| {
        parse(include_str!("../../../../../published/qos.toml")).expect("a test reads the embedded figures")
    });
    &QOS
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QosFile {
    reading: Vec<ReadingFile>,
    source: Vec<SourceFile>,
    drive: Vec<DriveFile>,
    qos: Vec<GroupFile>,
    #[serde(default)]
    nand: Vec<NandFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceFile {
    id: String,
    title: String,
    host: String,
}

#[derive(Deserialize)]
struct DriveFile {
    id: Spanned<String>,
    preset: String,
    model: String,
    host: Option<String>,
}

/// A fact: it needs a source, and a name that no other has.
#[derive(Deserialize)]
struct NandFile {
    id: Spanned<String>,
    #[expect(dead_code, reason = "a fact without a source is refused")]
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupFile {
    id: Spanned<String>,
    drive: Spanned<String>,
    source: Spanned<String>,
    cond: Spanned<ConditionFile>,
    unit: Spanned<String>,
    grade: Spanned<String>,
    read: Spanned<String>,
    #[expect(dead_code, reason = "for readers of the file, who must find it with every group")]
    seen: String,
    #[serde(rename = "use")]
    usage: Option<Spanned<String>>,
    points: Vec<PointFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointFile {
    q: Spanned<String>,
    v: Spanned<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
    unit: Option<Spanned<String>>,
    #[serde(rename = "use")]
    usage: Option<Spanned<String>>,
    rw: Option<Spanned<String>>,
    qd: Option<u32>,
    unmeasured: Option<String>,
}

/// Reads the file of figures.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text.
pub fn parse(text: &str) -> Result<Qos, Vec<Diagnostic>> {
    let file: QosFile = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        vec![Diagnostic::new("qos::syntax", span, error.message()).label("here")]
    })?;
    let mut mistakes = Mistakes::default();
    unique(file.drive.iter().map(|drive| &drive.id), "drives", &mut mistakes);
    unique(file.qos.iter().map(|group| &group.id), "groups", &mut mistakes);
    unique(file.nand.iter().map(|fact| &fact.id), "facts", &mut mistakes);
    let groups = file.qos.iter().filter_map(|group| group.read(&file, &mut mistakes)).collect();
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let drive = |drive: DriveFile| {
        let DriveFile { id, preset, model, host } = drive;
        QosDrive { id: id.into_inner(), model, preset, host }
    };
    Ok(Qos { groups, nand_facts: file.nand.len(), drives: file.drive.into_iter().map(drive).collect() })
}

/// That no name is given twice.
fn unique<'f>(names: impl Iterator<Item = &'f Spanned<String>>, what: &str, mistakes: &mut Mistakes) {
    let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
    for name in names {
        if let Some(first) = seen.insert(name.get_ref(), name.span()) {
            let message = format!("there are two {what} `{}`", name.get_ref());
            mistakes.push(
                Diagnostic::new("qos::duplicate", name.span(), message)
                    .label("again")
                    .also(first, "first here")
                    .help("give each its own name"),
            );
        }
    }
}

/// The one of `known` that is written; none and one more mistake where it is none of them.
fn one_of(word: &Spanned<String>, known: &[&str], what: &str, mistakes: &mut Mistakes) -> Option<usize> {
    let found = known.iter().position(|known| known == word.get_ref());
    if found.is_none() {
        let message = format!("`{}` is not {what}", word.get_ref());
        mistakes.push(Diagnostic::new("qos::unknown", word.span(), message).help(suggestion(word.get_ref(), known)));
    }
    found
}

impl GroupFile {
    fn read(&self, file: &QosFile, mistakes: &mut Mistakes) -> Option<QosGroup> {
        let ids: Vec<&str> = file.drive.iter().map(|drive| drive.id.get_ref().as_str()).collect();
        let drive = one_of(&self.drive, &ids, "a drive of this file", mistakes);
        let ids: Vec<&str> = file.source.iter().map(|source| source.id.as_str()).collect();
        let source = one_of(&self.source, &ids, "a source of this file", mistakes);
        let ids: Vec<&str> = file.reading.iter().map(|reading| reading.id.as_str()).collect();
        let reading = one_of(&self.read, &ids, "a reading of this file", mistakes);
        one_of(&self.grade, &["A", "B", "C"], "a grade", mistakes);
        let condition = mistakes.keep(self.cond.get_ref().read(self.cond.span()))?;
        let (reading, source) = (&file.reading[reading?], &file.source[source?]);
        let mut group = QosGroup {
            id: self.id.get_ref().clone(),
            drive: drive?,
            source: format!("{} ({})", source.title, source.host),
            reading: reading.id.clone(),
            measures: Vec::new(),
            conditions: condition.shared(&reading.id),
            points: Vec::new(),
        };
        let points: Vec<Draft> =
            self.points.iter().filter_map(|point| point.read(self, reading, &condition, mistakes)).collect();
        for draft in points {
            let measure = draft.measure.map(|measure| {
                let place = group.measures.iter().position(|known| *known == measure);
                place.unwrap_or_else(|| {
                    group.measures.push(measure.clone());
                    group.measures.len() - 1
                })
            });
            group.points.push(QosPoint { measure, ..draft.point });
        }
        group.set_lengths();
        Some(group)
    }
}

impl QosGroup {
    /// Sets how long each workload runs, by what is asked of it.
    fn set_lengths(&mut self) {
        for (place, measure) in self.measures.iter_mut().enumerate() {
            let own = || self.points.iter().filter(|point| point.measure == Ok(place));
            let rate = own().find(|point| point.quantity == Quantity::Rate(None)).map(|point| point.value);
            measure.last(own().map(|point| point.quantity), rate);
        }
    }
}

/// A point whose workload has no place yet.
struct Draft {
    point: QosPoint,
    measure: Result<Measure, String>,
}

impl PointFile {
    fn read(
        &self,
        group: &GroupFile,
        reading: &ReadingFile,
        condition: &Condition,
        mistakes: &mut Mistakes,
    ) -> Option<Draft> {
        let Some((quantity, mut sense)) = Quantity::parse(self.q.get_ref()).or(self.unread()) else {
            let message = format!("`{}` names no quantity", self.q.get_ref());
            let help = "write one like `read p99.9`, `IOPS`, `mean`, `latency std dev` or `min IOPS (1 s)`, or say with \
                        `unmeasured` why it cannot be simulated";
            mistakes.push(Diagnostic::new("qos::quantity", self.q.span(), message).help(help));
            return None;
        };
        let unit = self.unit.as_ref().unwrap_or(&group.unit);
        one_of(unit, &["us", "IOPS", "%"], "a unit of these figures", mistakes)?;
        let value = self.value(mistakes)?;
        let Some(usage) = self.usage.as_ref().or(group.usage.as_ref()) else {
            let message = format!("neither this point nor its group `{}` says its use", group.id.get_ref());
            let help = "add `use = \"fit\"` or `use = \"check\"`";
            mistakes.push(Diagnostic::new("qos::use", self.q.span(), message).label("this point").help(help));
            return None;
        };
        let usage = [Use::Fit, Use::Check][one_of(usage, &["fit", "check"], "a use of a figure", mistakes)?];
        if reading.promise {
            sense = if unit.get_ref() == "us" { Sense::AtMost } else { Sense::AtLeast };
        }
        let apart = condition.apart(quantity, reading.contents.as_deref(), group.requests());
        let measure = match &self.unmeasured {
            Some(why) => Err(why.clone()),
            None => {
                let (name, span) = (self.q.get_ref(), group.cond.span());
                Ok(mistakes.keep(condition.measure(name, self.rw.as_ref(), self.qd, reading, span))?)
            }
        };
        let point = QosPoint {
            name: self.q.get_ref().clone(),
            value,
            range: self.lo.zip(self.hi),
            unit: unit.get_ref().clone(),
            usage,
            quantity,
            sense,
            measure: Err(String::new()),
            apart,
        };
        Some(Draft { point, measure })
    }

    /// What stands for the quantity of a point that is not measured.
    fn unread(&self) -> Option<(Quantity, Sense)> {
        self.unmeasured.is_some().then_some((Quantity::NearMean, Sense::Value))
    }

    fn value(&self, mistakes: &mut Mistakes) -> Option<f64> {
        let value = *self.v.get_ref();
        let refuse = |message: String, help: &str| Diagnostic::new("qos::range", self.v.span(), message).help(help);
        if !(value.is_finite() && value > 0.0) {
            mistakes.push(refuse(format!("{value} is not a valid figure"), "ratios are taken, so it must be above 0"));
            return None;
        }
        match (self.lo, self.hi) {
            (None, None) => Some(value),
            (Some(lo), Some(hi)) if lo <= value && value <= hi => Some(value),
            (Some(lo), Some(hi)) => {
                mistakes.push(refuse(format!("{value} is not within {lo} to {hi}"), "check `v`, `lo` and `hi`"));
                None
            }
            _ => {
                mistakes.push(refuse("a range has one end".to_owned(), "give both `lo` and `hi`, or neither"));
                None
            }
        }
    }
}

impl GroupFile {
    /// How many requests the published numbers rest on, where that is known: counted, or the rate times the time.
    fn requests(&self) -> Option<f64> {
        let condition = self.cond.get_ref();
        let rate = self.points.iter().find(|point| point.q.get_ref() == "IOPS").map(|point| *point.v.get_ref());
        condition.ios.map(|ios| ios as f64).or_else(|| Some(rate? * f64::from(condition.runtime_s?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"
[[reading]]
id = "log"
text = "a log"
[[reading]]
id = "sheet"
text = "a promise"
promise = true
[[source]]
id = "s"
title = "S"
host = "h"
[[drive]]
id = "d"
preset = "x25-m"
model = "D"
[[qos]]
id = "d/a"
drive = "d"
source = "s"
cond = { rw = "randread", bs = 4096, qd = 4, workers = 2, overwrites = 0, ios = 100000 }
unit = "us"
grade = "A"
read = "log"
seen = "page 1"
use = "fit"
points = [
  { q = "p50", v = 64, lo = 60, hi = 70 },
  { q = "p99.9", v = 90 },
  { q = "p99.99", v = 99, use = "check" },
  { q = "IOPS", v = 9000, unit = "IOPS" },
]
"#;

    #[test]
    fn a_group_is_read_with_its_workload_and_what_its_points_rest_on() {
        let qos = parse(HEAD).unwrap();
        let group = &qos.groups[0];
        assert_eq!((group.measures.len(), group.points.len(), qos.points()), (1, 4, 4));
        let [(_, workload)] = &group.measures[0].jobs[..] else { panic!("one job") };
        assert_eq!((workload.queue_depth, workload.workers), (4, 2));
        assert_eq!((group.points[0].range, group.points[2].usage), (Some((60.0, 70.0)), Use::Check));
        assert_eq!(group.points[1].apart, None, "a hundred requests lie beyond");
        assert!(group.points[2].apart.as_ref().unwrap().contains("10 requests"), "{:?}", group.points[2].apart);
    }

    #[test]
    fn a_promise_is_a_bound_and_a_point_may_say_why_it_is_not_measured() {
        let text = HEAD.replace("read = \"log\"", "read = \"sheet\"").replace(
            "{ q = \"p99.9\", v = 90 }",
            "{ q = \"writes within its specification\", v = 90, unit = \"%\", unmeasured = \"it is not stated\" }",
        );
        let points = &parse(&text).unwrap().groups[0].points;
        assert_eq!((points[0].sense, points[3].sense), (Sense::AtMost, Sense::AtLeast));
        assert_eq!(points[1].measure, Err("it is not stated".to_owned()));
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_what_would_be_right() {
        for (from, to, code, words) in [
            ("v = 64", "v = \"64\"", "qos::syntax", "invalid type"),
            ("v = 64", "vv = 64", "qos::syntax", "unknown field `vv`"),
            ("v = 64", "v = 0", "qos::range", "not a valid figure"),
            ("v = 64", "v = 80", "qos::range", "not within 60 to 70"),
            (", hi = 70", "", "qos::range", "one end"),
            ("q = \"p50\"", "q = \"middle\"", "qos::quantity", "names no quantity"),
            ("use = \"fit\"", "use = \"fti\"", "qos::unknown", "`fti` is not a use"),
            ("use = \"fit\"\n", "", "qos::use", "says its use"),
            ("unit = \"us\"", "unit = \"ms\"", "qos::unknown", "`ms` is not a unit"),
            ("drive = \"d\"", "drive = \"e\"", "qos::unknown", "not a drive"),
            ("source = \"s\"", "source = \"t\"", "qos::unknown", "not a source"),
            ("read = \"log\"", "read = \"lag\"", "qos::unknown", "not a reading"),
            ("grade = \"A\"", "grade = \"Z\"", "qos::unknown", "not a grade"),
            ("rw = \"randread\"", "rw = \"randred\"", "qos::condition", "`randred` is not a pattern"),
            ("rw = \"randread\", ", "", "qos::condition", "no `rw`"),
            ("bs = 4096, ", "", "qos::condition", "no `bs`"),
            ("bs = 4096", "bs = 4097", "qos::condition", "4097"),
            ("qd = 4, ", "", "qos::condition", "no `qd`"),
            ("qd = 4", "qd = 0", "qos::condition", "`qd` is 0"),
            ("qd = 4", "qdd = 4", "qos::syntax", "unknown field `qdd`"),
            ("overwrites = 0", "overwrites = -1", "qos::condition", "-1"),
            ("qd = 4", "qd = 4, runtime_s = 0", "qos::condition", "`runtime_s` is 0"),
            ("qd = 4", "offered_total_iops = 9000", "qos::condition", "9000"),
            ("qd = 4", "qd = 4, distribution = \"zip:1\"", "qos::condition", "zip:1"),
            (
                "id = \"d\"\npreset",
                "id = \"d\"\nmodel = \"E\"\npreset = \"y\"\n[[drive]]\nid = \"d\"\npreset",
                "qos::duplicate",
                "two drives",
            ),
        ] {
            assert!(HEAD.contains(from), "{from}");
            let text = HEAD.replacen(from, to, 1);
            let mistakes = parse(&text).expect_err(to);
            let first = &mistakes[0];
            assert_eq!(first.code, code, "{to}: {mistakes:?}");
            assert!(first.message.contains(words), "{to}: {first}");
            assert!(!text[first.span.clone()].is_empty(), "{to}: the place is underlined");
        }
    }

    #[test]
    fn the_embedded_figures_are_all_there() {
        let qos = builtin();
        assert_eq!((qos.drives.len(), qos.groups.len(), qos.points(), qos.nand_facts), (16, 112, 1068, 41));
        let of = |usage| qos.groups.iter().flat_map(|group| &group.points).filter(|point| point.usage == usage).count();
        assert_eq!(of(Use::Fit) + of(Use::Check), 1068);
        for group in &qos.groups {
            for (_, workload) in group.measures.iter().flat_map(|measure| &measure.jobs) {
                workload.span(block::Bytes::from_gib(64)).unwrap_or_else(|error| panic!("{}: {error}", group.id));
            }
        }
    }
}
