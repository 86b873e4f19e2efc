//! Keys of a file of figures that are misspelt, or in a table where nothing reads them.
//!
//! Others than those that are known may stand in such a file: what a source says beside, for readers. One that is nearly a
//! known one is a mistake, for what it says would be missing, as is one that is known in another table.

use block::{nearest, parse_bytes};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{Diagnostic, Mistakes};

const TOP: &[&str] = &["schema_version", "how", "reading", "source", "drive", "qos", "nand", "population"];
const READING: &[&str] = &["id", "text", "promise", "contents", "outside_ns", "ramp_s"];
const SOURCE: &[&str] = &["id", "title", "host"];
const DRIVE: &[&str] =
    &["id", "preset", "host", "model", "split", "interface", "nand", "rated", "arch", "seen", "note", "source"];
const GROUP: &[&str] = &["id", "drive", "source", "cond", "unit", "grade", "read", "seen", "use", "points", "note"];
/// Conditions that change what is simulated: in another table they would be words for readers.
const SIMULATED: &[&str] = &[
    "rw",
    "bs",
    "qd",
    "workers",
    "rwmixread",
    "overwrites",
    "distribution",
    "offered_total_iops",
    "rate_iops",
    "saturated",
    "specimen",
    "runtime_s",
    "ios",
    "state",
    "ramp_s",
    "pattern",
];
/// What conditions say beside, for readers.
const SAID: &[&str] = &["engine", "os", "note", "load", "qos", "consistency", "capacities"];
const POINT: &[&str] = &["q", "v", "lo", "hi", "unit", "use", "rw", "bs", "qd", "overwrites", "unmeasured", "note"];

/// Keys of conditions by fio's names, which are not theirs.
const OF_FIO: &[(&str, &str)] = &[
    ("iodepth", "qd"),
    ("numjobs", "workers"),
    ("runtime", "runtime_s"),
    ("ramp_time", "ramp_s"),
    ("random_distribution", "distribution"),
    ("number_ios", "ios"),
];

/// The same of readings, and of points.
const OF_READING: &[&str] = &["promise", "contents", "outside_ns"];
const OF_POINT: &[&str] = &["q", "v", "lo", "hi", "unmeasured"];
const OF_GROUP: &[&str] = &["cond", "points", "unit", "use", "read"];

/// Whole numbers, with the unit that they are in.
const NUMBERS: &[(&str, &str)] = &[
    ("bs", " of bytes"),
    ("qd", ""),
    ("workers", ""),
    ("rwmixread", " of percent"),
    ("offered_total_iops", ""),
    ("rate_iops", ""),
    ("specimen", ""),
    ("runtime_s", " of seconds"),
    ("ios", ""),
    ("ramp_s", " of seconds"),
];

/// A shorter key is near to too many others.
const SHORTEST: usize = 3;

/// That no key of `text` is nearly a known one, and that the file is of a version that is known. A text that is no TOML has
/// no keys.
pub(super) fn check(text: &str, mistakes: &mut Mistakes) {
    let Ok(document) = DeTable::parse(text) else { return };
    let document = document.get_ref();
    let conditions = [SIMULATED, SAID].concat();
    tables(document, None, TOP, mistakes);
    misplaced(document, "the top of the file", TOP, mistakes);
    for (name, known) in [("reading", READING), ("source", SOURCE), ("drive", DRIVE), ("qos", GROUP)] {
        for table in listed(document, name) {
            tables(table, Some(name), known, mistakes);
            misplaced(table, &format!("`[[{name}]]`"), known, mistakes);
        }
    }
    for reading in listed(document, "reading") {
        numbers(reading, mistakes);
    }
    for group in listed(document, "qos") {
        if let Some(DeValue::Table(condition)) = group.get("cond").map(Spanned::get_ref) {
            tables(condition, Some("cond"), &conditions, mistakes);
            misplaced(condition, "`cond`", &conditions, mistakes);
            numbers(condition, mistakes);
            for key in condition.keys() {
                let Some((_, own)) = OF_FIO.iter().find(|(name, _)| *name == key.get_ref()) else { continue };
                let message = format!("`{}` is no key of `cond`", key.get_ref());
                mistakes.push(Diagnostic::new("qos::key", key.span(), message).help(format!("write `{own}`")));
            }
        }
        for point in listed(group, "points") {
            tables(point, Some("points"), POINT, mistakes);
            misplaced(point, "a point", POINT, mistakes);
            numbers(point, mistakes);
        }
    }
    version(document, mistakes);
}

/// The tables of an array.
fn listed<'d, 'i>(table: &'d DeTable<'i>, name: &str) -> Vec<&'d DeTable<'i>> {
    let Some(DeValue::Array(array)) = table.get(name).map(Spanned::get_ref) else { return Vec::new() };
    array.iter().filter_map(|value| value.get_ref().as_table()).collect()
}

fn tables(table: &DeTable, what: Option<&str>, known: &[&str], mistakes: &mut Mistakes) {
    for key in table.keys().filter(|key| key.get_ref().len() >= SHORTEST && !known.contains(&key.get_ref().as_ref())) {
        if OF_FIO.iter().any(|(name, _)| *name == key.get_ref()) {
            continue;
        }
        let Some(near) = nearest(key.get_ref(), known) else { continue };
        let place = what.map(|what| format!(" of `{what}`")).unwrap_or_default();
        let message = format!("`{}` is no key{place}", key.get_ref());
        mistakes.push(Diagnostic::new("qos::key", key.span(), message).help(format!("did you mean `{near}`?")));
    }
}

/// That no key of `table`, which is `place` and reads those of `known`, is one that is read elsewhere.
fn misplaced(table: &DeTable, place: &str, known: &[&str], mistakes: &mut Mistakes) {
    for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
        let name = key.get_ref().as_ref();
        let of_fio = OF_FIO.iter().find(|(fio, _)| *fio == name && place != "`cond`");
        let right = of_fio.map_or(name, |(_, own)| own);
        let home = match right {
            _ if SIMULATED.contains(&right) => "the experiment's `cond = { … }`",
            _ if OF_READING.contains(&right) => "the `[[reading]]` that `read` names",
            _ if OF_POINT.contains(&right) => "an entry of `points`",
            _ if OF_GROUP.contains(&right) => "the experiment's `[[qos]]`, above any `[qos.cond]`",
            _ => continue,
        };
        let message = format!("`{name}` is not read in {place}");
        let help = format!("write `{right}` into {home}");
        mistakes.push(Diagnostic::new("qos::place", key.span(), message).label("without effect here").help(help));
    }
}

/// That what is to be a whole number is none with a unit. Other words may say why there is none.
fn numbers(table: &DeTable, mistakes: &mut Mistakes) {
    for (key, unit) in NUMBERS {
        let Some(value) = table.get(*key) else { continue };
        let Some(text) = value.get_ref().as_str() else { continue };
        let bytes = parse_bytes(text).ok().filter(|_| *key == "bs" && text.parse::<f64>().is_err());
        let is_number = text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(' ');
        if bytes.is_none() && (!is_number || text.parse::<f64>().is_ok()) {
            continue;
        }
        let message = format!("`{key}` is the text \"{text}\", and is to be a whole number{unit}");
        let help = match bytes {
            Some(bytes) => format!("write `{key} = {}`", bytes.get()),
            None => format!("write the number alone, without quotation marks: `{key} = 4`"),
        };
        mistakes.push(Diagnostic::new("qos::number", value.span(), message).label("here").help(help));
    }
}

fn version(document: &DeTable, mistakes: &mut Mistakes) {
    let Some(version) = document.get("schema_version") else { return };
    if version.get_ref().as_integer().and_then(|version| version.as_str().parse().ok()) != Some(1) {
        let message = "only version 1 of the format is known";
        let help = "write `schema_version = 1`, or leave it out, if the file is of that";
        mistakes.push(Diagnostic::new("qos::version", version.span(), message).help(help));
    }
}
