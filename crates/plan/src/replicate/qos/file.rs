//! Reading a file of latencies and rates: `published/qos.toml`, or one of the user's own.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use block::suggestion;
use serde::Deserialize;
use serde_spanned::Spanned;

use super::condition::{Measure, OwnCondition, Unmeasurable};
use super::drive::QosDrive;
use super::keys;
use super::quantity::{Kind, Quantity, Sense};
use super::stated::{
    Condition, ConditionFile, IN_FLIGHT_MAX, Reading, ReadingFile, Stated, block_size, count, overwrites,
};
use crate::replicate::Use;
use crate::{Diagnostic, Mistakes};

/// All that was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Qos {
    pub drives: Vec<QosDrive>,
    pub groups: Vec<QosGroup>,
    /// How many facts on NAND stand beside them.
    pub nand_facts: usize,
    pub(super) readings: Vec<Reading>,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct QosGroup {
    pub id: String,
    /// The place of its drive in [`Qos::drives`].
    pub drive: usize,
    /// Who published it: a title.
    pub source: String,
    /// Where it stands there; empty where that is not said.
    pub seen: String,
    /// A: an exact number of a table or a log, B: an approximate one of a text; empty where that is not said.
    pub grade: String,
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
    /// The drive with figures whose id or preset is `name`.
    pub fn drive(&self, name: &str) -> Option<usize> {
        let is_meant = |drive: &QosDrive| drive.id == name || drive.preset.as_deref() == Some(name);
        self.measured().find(|drive| is_meant(&self.drives[*drive]))
    }

    /// The drives of which there are figures: of others the file has facts alone.
    pub fn measured(&self) -> impl Iterator<Item = usize> {
        (0..self.drives.len()).filter(|drive| self.of_drive(*drive).next().is_some())
    }

    /// The names of those in tables.
    pub fn names(&self) -> Vec<&str> {
        self.measured().map(|drive| self.drives[drive].name()).collect()
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
        read(include_str!("../../../../../published/qos.toml"), None).expect("a test reads the embedded figures")
    });
    &QOS
}

/// Whether a text is a file of such figures, and not one of a review.
pub fn is_figures(text: &str) -> bool {
    match toml::de::DeTable::parse(text) {
        Ok(document) => document.get_ref().contains_key("qos"),
        // What is wrong is told by who reads it.
        Err(_) => text.lines().any(|line| line.trim().starts_with("[[qos]]")),
    }
}

#[derive(Deserialize)]
struct QosFile {
    #[serde(default)]
    reading: Vec<Spanned<ReadingFile>>,
    /// The same in one table: names and texts.
    #[serde(default)]
    how: BTreeMap<String, String>,
    #[serde(default)]
    source: Vec<SourceFile>,
    #[serde(default)]
    drive: Vec<DriveFile>,
    qos: Vec<GroupFile>,
    #[serde(default)]
    nand: Vec<NandFile>,
}

#[derive(Deserialize)]
struct SourceFile {
    id: String,
    title: String,
    #[serde(default)]
    host: String,
}

#[derive(Deserialize)]
struct DriveFile {
    id: Spanned<String>,
    preset: Option<String>,
    model: Option<String>,
    host: Option<String>,
}

/// A fact: it needs a source, and a name that no other has.
#[derive(Deserialize)]
struct NandFile {
    id: Spanned<String>,
    #[expect(dead_code, reason = "a fact without a source is refused")]
    source: String,
}

/// Where a number stands is for readers of the file, and may be left out of one's own.
#[derive(Deserialize)]
struct GroupFile {
    id: Spanned<String>,
    drive: Spanned<String>,
    source: Option<Spanned<String>>,
    cond: Spanned<ConditionFile>,
    unit: Spanned<String>,
    grade: Option<Spanned<String>>,
    read: Option<Spanned<String>>,
    #[serde(default)]
    seen: String,
    #[serde(rename = "use")]
    usage: Option<Spanned<String>>,
    points: Vec<PointFile>,
}

#[derive(Deserialize)]
struct PointFile {
    q: Spanned<String>,
    v: Spanned<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
    unit: Option<Spanned<String>>,
    #[serde(rename = "use")]
    usage: Option<Spanned<String>>,
    rw: Option<String>,
    bs: Option<Stated>,
    qd: Option<Stated>,
    overwrites: Option<f64>,
    unmeasured: Option<String>,
    /// All others: words are for readers of the file.
    #[serde(flatten)]
    others: BTreeMap<String, toml::Value>,
}

/// Reads a file of figures. Drives and readings of ids that the built-in file has too need no more than their id.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text.
pub fn parse(text: &str) -> Result<Qos, Vec<Diagnostic>> {
    read(text, Some(builtin()))
}

/// The same, with what is `known` of drives and readings that have no entry of their own.
fn read(text: &str, known: Option<&Qos>) -> Result<Qos, Vec<Diagnostic>> {
    let mut mistakes = Mistakes::default();
    keys::check(text, &mut mistakes);
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let mut file: QosFile = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        vec![Diagnostic::new("qos::syntax", span, error.message()).label("here")]
    })?;
    if file.qos.is_empty() {
        let help = "an experiment begins with `[[qos]]`: docs/calibration.md has an example";
        return Err(vec![Diagnostic::new("qos::empty", 0..text.len(), "there are no experiments").help(help)]);
    }
    unique(file.drive.iter().map(|drive| &drive.id), "drives", &mut mistakes);
    unique(file.qos.iter().map(|group| &group.id), "groups", &mut mistakes);
    unique(file.nand.iter().map(|fact| &fact.id), "facts", &mut mistakes);
    let readings = readings(&mut file, known, &mut mistakes);
    let groups = file.qos.iter().filter_map(|group| group.read(&file, &readings, &mut mistakes)).collect();
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let drives = file.drive.into_iter().map(|drive| drive.read(known)).collect();
    Ok(Qos { groups, readings, nand_facts: file.nand.len(), drives })
}

/// The readings of both forms. What the built-in file knows of one with the same id, a text alone cannot say.
fn readings(file: &mut QosFile, known: Option<&Qos>, mistakes: &mut Mistakes) -> Vec<Reading> {
    let listed = std::mem::take(&mut file.reading);
    let listed = listed.into_iter().filter_map(|reading| {
        let span = reading.span();
        mistakes.keep(reading.into_inner().read(&span))
    });
    let mut readings: Vec<Reading> = listed.collect();
    for id in file.how.keys() {
        let known = known.and_then(|known| known.readings.iter().find(|reading| reading.id == *id));
        readings.push(known.cloned().unwrap_or_else(|| Reading { id: id.clone(), ..Reading::default() }));
    }
    readings
}

impl DriveFile {
    fn read(self, known: Option<&Qos>) -> QosDrive {
        let Self { id, preset, model, host } = self;
        let id = id.into_inner();
        let known = known.and_then(|known| known.drives.iter().find(|drive| drive.id == id));
        let (preset, host) = match (preset, known) {
            (None, Some(known)) => (known.preset.clone(), host.or(known.host.clone())),
            (preset, _) => (preset, host),
        };
        QosDrive { model: model.unwrap_or_else(|| id.clone()), id, preset, host }
    }
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

/// The entry of a table of the file that `key` names; `help` is for a file that has none.
fn entry(
    (key, table): (&str, &str),
    word: &Spanned<String>,
    ids: &[&str],
    help: &str,
    mistakes: &mut Mistakes,
) -> Option<usize> {
    if ids.is_empty() {
        let message = format!("`{key}` names a `[[{table}]]` of this file, which has none: `{}`", word.get_ref());
        mistakes.push(Diagnostic::new("qos::unknown", word.span(), message).help(help));
        return None;
    }
    one_of(word, ids, &format!("a {table} of this file"), mistakes)
}

impl GroupFile {
    fn read(&self, file: &QosFile, readings: &[Reading], mistakes: &mut Mistakes) -> Option<QosGroup> {
        let ids: Vec<&str> = file.drive.iter().map(|drive| drive.id.get_ref().as_str()).collect();
        let help = "add `[[drive]]` with this `id`, and with `preset`, a name of `assay drives`";
        let drive = entry(("drive", "drive"), &self.drive, &ids, help, mistakes);
        let ids: Vec<&str> = file.source.iter().map(|source| source.id.as_str()).collect();
        let help = "add `[[source]]` with `id`, `title` and `host`, and name its id; or leave `source` out and say it in a `note`";
        let source = self.source.as_ref().map(|source| entry(("source", "source"), source, &ids, help, mistakes));
        let ids: Vec<&str> = readings.iter().map(|reading| reading.id.as_str()).collect();
        let help = "add `[[reading]]` with `id` and `text`, or the id and its text to `[how]`; or leave `read` out";
        let reading = self.read.as_ref().map(|read| entry(("read", "reading"), read, &ids, help, mistakes));
        if let Some(grade) = &self.grade {
            one_of(grade, &["A", "B", "C"], "a grade", mistakes);
        }
        if self.points.is_empty() {
            let message = format!("the experiment `{}` has no points", self.id.get_ref());
            let help = "add what was measured: `points = [{ q = \"p99\", v = 90 }]`";
            mistakes.push(Diagnostic::new("qos::empty", self.id.span(), message).help(help));
        }
        let condition = mistakes.keep(self.cond.get_ref().read(self.cond.span()))?;
        let unsaid = Reading::default();
        let reading = reading.map_or(Some(&unsaid), |place| Some(&readings[place?]))?;
        let title = |source: &SourceFile| format!("{} ({})", source.title, source.host).replace(" ()", "");
        let source = source.map_or(Some(String::new()), |place| Some(title(&file.source[place?])))?;
        let mut group = QosGroup {
            id: self.id.get_ref().clone(),
            drive: drive?,
            source,
            seen: self.seen.clone(),
            grade: self.grade.as_ref().map(|grade| grade.get_ref().clone()).unwrap_or_default(),
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
        reading: &Reading,
        condition: &Condition,
        mistakes: &mut Mistakes,
    ) -> Option<Draft> {
        let name = self.q.get_ref();
        let parsed = Quantity::parse(name);
        // What stands for a quantity that is not simulated.
        let (quantity, mut sense) = parsed.unwrap_or((Quantity::NearMean, Sense::Value));
        let unit = self.unit.as_ref().unwrap_or(&group.unit);
        one_of(unit, &["us", "IOPS", "%"], "a unit of these figures", mistakes)?;
        let value = self.value(mistakes)?;
        if let Some((quantity, _)) = parsed.filter(|(quantity, _)| quantity.unit() != unit.get_ref()) {
            let (unit, right) = (unit.get_ref(), quantity.unit());
            let message = format!("`{name}` is compared in {right}, and its unit is {unit}");
            let help = format!("add `unit = \"{right}\"` to the point, with `v` in {right}");
            mistakes.push(Diagnostic::new("qos::unit", self.q.span(), message).label("this point").help(help));
            return None;
        }
        let Some(usage) = self.usage.as_ref().or(group.usage.as_ref()) else {
            let message = format!("neither this point nor its group `{}` says its use", group.id.get_ref());
            let help = "add `use = \"fit\"` if the drive's parameters were fitted to it, otherwise `use = \"check\"`";
            mistakes.push(Diagnostic::new("qos::use", self.q.span(), message).label("this point").help(help));
            return None;
        };
        let usage = [Use::Fit, Use::Check][one_of(usage, &["fit", "check"], "a use of a figure", mistakes)?];
        if reading.promise {
            sense = if unit.get_ref() == "us" { Sense::AtMost } else { Sense::AtLeast };
        }
        let apart = condition.apart(quantity, reading.contents.as_deref(), group.requests(condition));
        let measure = match (&self.unmeasured, self.unknown(parsed)) {
            (Some(why), _) => Err(why.clone()),
            (None, Some(why)) => Err(why),
            (None, None) => match self.measure(group, reading, condition) {
                Ok(measure) => Ok(measure),
                Err(Unmeasurable::Reason(why)) => Err(why),
                Err(Unmeasurable::Mistake(mistake)) => return mistakes.keep(Err(mistake)),
            },
        };
        let point = QosPoint {
            name: name.clone(),
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

    /// What is not known of it, so that it is not simulated.
    fn unknown(&self, quantity: Option<(Quantity, Sense)>) -> Option<String> {
        if quantity.is_none() {
            let like = "`read p99.9`, `IOPS`, `mean`, `latency std dev` or `min IOPS (1 s)`";
            return Some(format!("`{}` names no quantity that is simulated; write one like {like}", self.q.get_ref()));
        }
        let (name, _) = self.others.iter().find(|(_, value)| !value.is_str())?;
        Some(format!("`{name}` of its point is not known; leave it out if it changes nothing"))
    }

    fn measure(&self, group: &GroupFile, reading: &Reading, condition: &Condition) -> Result<Measure, Unmeasurable> {
        let (name, span) = (self.q.get_ref(), group.cond.span());
        let own = OwnCondition {
            rw: self.rw.as_deref(),
            bs: block_size(self.bs.as_ref(), &self.q.span())?,
            depth: count("qd", self.qd.as_ref(), 1..=IN_FLIGHT_MAX as u32, &self.q.span())?.or(Quantity::depth(name)),
            overwrites: overwrites(self.overwrites, &self.q.span())?,
        };
        condition.measure(name, &own, reading, &span)
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
            (Some(lo), Some(hi)) if lo <= value && value <= hi && hi.is_finite() => Some(value),
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
    /// How many requests the published numbers rest on, where that is known.
    fn requests(&self, condition: &Condition) -> Option<f64> {
        let rate = self.points.iter().find(|point| point.q.get_ref() == "IOPS").map(|point| *point.v.get_ref());
        condition.requests(rate)
    }
}

#[cfg(test)]
mod tests {
    use testkit::figures::FIGURES;

    use super::*;

    #[test]
    fn a_group_is_read_with_its_workload_and_what_its_points_rest_on() {
        let qos = parse(FIGURES).unwrap();
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
        let text = FIGURES.replace("read = \"log\"", "read = \"sheet\"").replace(
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
            ("v = 64", "vv = 64", "qos::syntax", "missing field `v`"),
            ("v = 64", "v = 0", "qos::range", "not a valid figure"),
            ("v = 64", "v = 80", "qos::range", "not within 60 to 70"),
            (", hi = 70", "", "qos::range", "one end"),
            ("use = \"fit\"", "use = \"fti\"", "qos::unknown", "`fti` is not a use"),
            ("use = \"fit\"\n", "", "qos::use", "says its use"),
            ("unit = \"us\"", "unit = \"ms\"", "qos::unknown", "`ms` is not a unit"),
            ("drive = \"d\"", "drive = \"e\"", "qos::unknown", "not a drive"),
            ("source = \"s\"", "source = \"t\"", "qos::unknown", "not a source"),
            ("read = \"log\"", "read = \"lag\"", "qos::unknown", "not a reading"),
            ("grade = \"A\"", "grade = \"Z\"", "qos::unknown", "not a grade"),
            ("rw = \"randread\"", "rw = \"randred\"", "qos::condition", "`randred` is not a pattern"),
            ("bs = 4096", "bs = 4097", "qos::condition", "4097"),
            ("qd = 4", "qd = 0", "qos::condition", "`qd` is 0"),
            ("qd = 4", "qdd = 4", "qos::key", "`qdd` is no key of `cond`"),
            ("workers = 2", "wrokers = 2", "qos::key", "`wrokers` is no key"),
            ("drive = \"d\"", "dirve = \"d\"", "qos::key", "`dirve` is no key of `qos`"),
            ("preset = \"x25-m\"", "presset = \"x25-m\"", "qos::key", "`presset` is no key of `drive`"),
            ("[[reading]]", "[[raeding]]", "qos::key", "`raeding` is no key"),
            ("hi = 70", "hi = 70, unti = \"us\"", "qos::key", "`unti` is no key of `points`"),
            ("qd = 4", "qd = 99999999999", "qos::condition", "`qd` is 99999999999"),
            ("qd = 4", "qd = 99999999999999999999", "qos::syntax", "out of range"),
            ("qd = 4", "qd = \"4\"", "qos::syntax", "without quotation marks"),
            ("qd = 4", "qd = 1.5", "qos::syntax", "whole number"),
            ("qd = 4", "qd = 60000", "qos::condition", "too many"),
            ("bs = 4096", "bs = 1000000000000", "qos::condition", "`bs` is 1000000000000"),
            ("qd = 4", "qd = 4, ramp_s = 1000000", "qos::condition", "`ramp_s` is 1000000"),
            ("qd = 4", "qd = 4, rate_iops = 4000000000", "qos::condition", "`rate_iops` is"),
            ("v = 64", "v = 1e999", "qos::syntax", "float"),
            ("v = 64", "v = inf", "qos::range", "not a valid figure"),
            ("hi = 70", "hi = inf", "qos::range", "not within"),
            ("q = \"p50\"", "qd = 0, q = \"p50\"", "qos::condition", "`qd` is 0"),
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
            assert!(FIGURES.contains(from), "{from}");
            let text = FIGURES.replacen(from, to, 1);
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
        assert_eq!((qos.measured().count(), qos.groups.len(), qos.points(), qos.nand_facts), (16, 112, 1068, 41));
        assert_eq!(qos.drives.len(), 27, "of eleven there are facts alone");
        let of = |usage| qos.groups.iter().flat_map(|group| &group.points).filter(|point| point.usage == usage).count();
        assert_eq!(of(Use::Fit) + of(Use::Check), 1068);
        for group in &qos.groups {
            for (_, workload) in group.measures.iter().flat_map(|measure| &measure.jobs) {
                workload.span(block::Bytes::from_gib(64)).unwrap_or_else(|error| panic!("{}: {error}", group.id));
            }
        }
    }
}
