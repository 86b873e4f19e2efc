//! What a step sweeps, and the cells that this makes.

use std::collections::HashMap;
use std::ops::Range;

use block::field_suggestion;
use toml::de::{DeTable, DeValue};
use workload::Workload;

use super::axis::LOAD;
use super::body::{ALL_FIELDS, setting};
use super::diagnostic::{Diagnostic, Mistakes};
use super::fields::{Setting, names};
use super::value::{Value, entries, quantity, wrong_type};
use super::{Axis, Field};

/// The most cells that all sweeps of a plan may have together.
pub(crate) const CELLS_MAX: usize = 10_000;

/// What begins the name of a part of a simulated drive.
const PARTS: [&str; 2] = ["drive", "rig"];

/// What is varied, with the values that it takes one after another.
#[derive(Clone, Debug)]
pub(super) struct Swept {
    /// What is varied.
    pub(super) axis: Axis,
    /// Where its name stands.
    pub(super) span: Range<usize>,
    /// Its values, in order.
    pub(super) values: Vec<Setting>,
}

impl Swept {
    /// Whether both sweep the same values of the same, as written.
    pub(super) fn matches(&self, other: &Self) -> bool {
        let texts = |swept: &Self| swept.values.iter().map(|value| value.text.clone()).collect::<Vec<_>>();
        self.axis == other.axis && texts(self) == texts(other)
    }
}

/// How many cells `axes` make; none if that is more than can be counted.
pub(super) fn size(axes: &[Swept]) -> Option<usize> {
    axes.iter().try_fold(1_usize, |cells, axis| cells.checked_mul(axis.values.len()))
}

/// The points of a sweep, the first axis varying slowest.
pub(super) fn points(axes: &[Swept]) -> Vec<Vec<(&Axis, &Setting)>> {
    let mut points = vec![Vec::new()];
    for swept in axes {
        points = points
            .iter()
            .flat_map(|point: &Vec<_>| swept.values.iter().map(|value| [&point[..], &[(&swept.axis, value)]].concat()))
            .collect();
    }
    points
}

/// Reads the table of a sweep.
pub(super) fn read(table: &DeTable, span: Range<usize>, mistakes: &mut Mistakes) -> Vec<Swept> {
    if table.is_empty() {
        mistakes.push(Diagnostic::new("plan::empty-sweep", span, "an empty sweep").help(EXAMPLE));
    }
    let known: Vec<&str> = names().into_iter().chain(PARTS).chain([LOAD]).collect();
    let mut axes = Vec::new();
    for (key, span, value) in entries(table) {
        match Field::named(key) {
            Some(field) => {
                let values = values(&Axis::Field(field), value, mistakes);
                axes.push(Swept { axis: Axis::Field(field), span, values });
            }
            None if key == LOAD => {
                let values = values(&Axis::Load, value, mistakes);
                axes.push(Swept { axis: Axis::Load, span, values });
            }
            None if PARTS.contains(&key.split('.').next().unwrap_or(key)) => {
                part(key, span, value, &mut axes, mistakes)
            }
            None => mistakes.push(
                Diagnostic::new("plan::unknown-field", span, format!("`{key}` is not a field of a workload"))
                    .label("cannot be swept")
                    .help(field_suggestion(key, &known, ALL_FIELDS)),
            ),
        }
    }
    axes
}

/// The loads that can be asked for, in percent.
const LOADS: std::ops::RangeInclusive<u32> = 1..=1000;

const EXAMPLE_PART: &str = "name a parameter as in `assay drives show`: `sweep.drive.nand.read = [\"25us\", \"50us\"]`";

const EXAMPLE: &str = "list the values of a field: `sweep.bs = [\"4k\", \"8k\"]`";

/// Reads what is swept of a drive or a rig: `drive.nand.read = ["25us", "50us"]` nests tables, the last of which has
/// the list. Whether the drive has such a part is known only when it is known which drive it is.
fn part(path: &str, span: Range<usize>, value: &Value, axes: &mut Vec<Swept>, mistakes: &mut Mistakes) {
    let is_whole = path.contains('.');
    match value.get_ref() {
        DeValue::Table(inner) => {
            for (key, span, value) in entries(inner) {
                part(&format!("{path}.{key}"), span, value, axes, mistakes);
            }
        }
        DeValue::Array(_) if is_whole => {
            let axis = Axis::Part(path.to_owned());
            let values = values(&axis, value, mistakes);
            axes.push(Swept { axis, span, values });
        }
        _ if is_whole => mistakes.push(wrong_type(value, "a list of values").help(EXAMPLE_PART)),
        _ => mistakes.push(wrong_type(value, "a parameter with its values").help(EXAMPLE_PART)),
    }
}

/// The values of an axis; mistakes for an empty list and for values that are the same.
fn values(axis: &Axis, list: &Value, mistakes: &mut Mistakes) -> Vec<Setting> {
    let DeValue::Array(array) = list.get_ref() else {
        mistakes.push(wrong_type(list, "a list of values").help(EXAMPLE));
        return Vec::new();
    };
    if array.is_empty() {
        mistakes.push(Diagnostic::new("plan::empty-sweep", list.span(), "a sweep without values").help(EXAMPLE));
    }
    let mut seen: HashMap<String, Range<usize>> = HashMap::new();
    let mut values = Vec::new();
    for value in array.iter() {
        let read = match axis {
            Axis::Field(field) => setting(*field, value),
            Axis::Load => share(value),
            Axis::Part(_) | Axis::Job | Axis::Idle | Axis::Choice(_) => value_of_part(value),
        };
        let Some(setting) = mistakes.keep(read) else { continue };
        let Some(meaning) = meaning(axis, &setting) else { continue };
        match seen.insert(meaning, value.span()) {
            Some(first) => mistakes.push(
                Diagnostic::new("plan::repeated-value", value.span(), format!("`{}` is swept twice", setting.text))
                    .label("again")
                    .also(first, "first here")
                    .help("leave one out; to measure a point more often, raise `repeats`"),
            ),
            None => values.push(setting),
        }
    }
    values
}

/// What a value comes to, so that the same is not measured twice; none where that cannot be told.
fn meaning(axis: &Axis, setting: &Setting) -> Option<String> {
    match axis {
        Axis::Field(field) => {
            let mut workload = Workload::default();
            setting.apply(*field, &mut workload).ok()?;
            Some(format!("{workload:?}"))
        }
        Axis::Part(_) | Axis::Job | Axis::Load | Axis::Idle | Axis::Choice(_) => Some(setting.text.clone()),
    }
}

/// A share of the most IOPS that another step reached.
fn share(value: &Value) -> Result<Setting, Diagnostic> {
    let text = quantity(value)?;
    let percent =
        text.trim().trim_end_matches('%').trim_end().parse::<u32>().ok().filter(|share| LOADS.contains(share));
    match percent {
        Some(percent) => Ok(Setting { text: format!("{percent}%"), span: value.span() }),
        None => Err(Diagnostic::new("plan::bad-value", value.span(), format!("`{text}` is not a load"))
            .help("a load is a whole share of the most IOPS of another step, from 1% to 1000%: `\"50%\"`")),
    }
}

/// The value of a part, as the drive's file would have it.
fn value_of_part(value: &Value) -> Result<Setting, Diagnostic> {
    let text = match value.get_ref() {
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        _ => quantity(value)?,
    };
    if text.trim().is_empty() || text.contains('&') {
        return Err(Diagnostic::new(
            "plan::bad-value",
            value.span(),
            format!("`{text}` is not a value of a parameter"),
        )
        .help("write it as the drive's file has it: `\"25 us\"`, `12`, `\"fifo\"`"));
    }
    Ok(Setting { text, span: value.span() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(field: Field, texts: &[&str]) -> Swept {
        let values = texts.iter().map(|text| Setting { text: (*text).to_owned(), span: 0..0 }).collect();
        Swept { axis: Axis::Field(field), span: 0..0, values }
    }

    #[test]
    fn the_first_axis_varies_slowest() {
        let axes = [swept(Field::Rw, &["read", "write"]), swept(Field::Bs, &["4k", "8k"])];
        let names: Vec<String> = points(&axes)
            .iter()
            .map(|point| point.iter().map(|(_, value)| value.text.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(names, ["read 4k", "read 8k", "write 4k", "write 8k"]);
        assert_eq!(size(&axes), Some(4));
    }

    #[test]
    fn no_axis_makes_one_cell() {
        assert!(matches!(points(&[])[..], [ref point] if point.is_empty()));
        assert_eq!(size(&[]), Some(1));
    }
}
