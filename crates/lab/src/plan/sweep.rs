//! The fields that a step sweeps, and the cells that this makes.

use std::collections::HashMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use workload::Workload;

use super::Field;
use super::body::setting;
use super::diagnostic::{Diagnostic, Mistakes, suggestion};
use super::fields::Setting;
use super::value::{Value, entries, wrong_type};

/// The most cells that all sweeps of a plan may have together.
pub(super) const CELLS_MAX: usize = 10_000;

/// A field with the values that it takes one after another.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The field.
    pub(super) field: Field,
    /// Where its name stands.
    pub(super) span: Range<usize>,
    /// Its values, in order.
    pub(super) values: Vec<Setting>,
}

impl Axis {
    /// Whether both sweep the same values of the same field, as written.
    pub(super) fn matches(&self, other: &Self) -> bool {
        let texts = |axis: &Self| axis.values.iter().map(|value| value.text.clone()).collect::<Vec<_>>();
        self.field == other.field && texts(self) == texts(other)
    }
}

/// How many cells `axes` make; none if that is more than can be counted.
pub(super) fn size(axes: &[Axis]) -> Option<usize> {
    axes.iter().try_fold(1_usize, |cells, axis| cells.checked_mul(axis.values.len()))
}

/// The points of a sweep, the first axis varying slowest.
pub(super) fn points(axes: &[Axis]) -> Vec<Vec<(Field, &Setting)>> {
    let mut points = vec![Vec::new()];
    for axis in axes {
        points = points
            .iter()
            .flat_map(|point: &Vec<_>| axis.values.iter().map(|value| [&point[..], &[(axis.field, value)]].concat()))
            .collect();
    }
    points
}

/// Reads the table of a sweep.
pub(super) fn read(table: &DeTable, span: Range<usize>, mistakes: &mut Mistakes) -> Vec<Axis> {
    if table.is_empty() {
        mistakes.push(Diagnostic::new("plan::empty-sweep", span, "a sweep over nothing").help(EXAMPLE));
    }
    let fields = Field::names();
    let mut axes = Vec::new();
    for (key, span, value) in entries(table) {
        match Field::named(key) {
            Some(field) => {
                let values = values(field, value, mistakes);
                axes.push(Axis { field, span, values });
            }
            None => mistakes.push(
                Diagnostic::new("plan::unknown-field", span, format!("`{key}` is no field of a workload"))
                    .label("cannot be swept")
                    .help(suggestion(key, &fields)),
            ),
        }
    }
    axes
}

const EXAMPLE: &str = "list the values of a field: `sweep.bs = [\"4k\", \"8k\"]`";

/// The values of an axis; mistakes for an empty list and for values that are the same.
fn values(field: Field, list: &Value, mistakes: &mut Mistakes) -> Vec<Setting> {
    let DeValue::Array(array) = list.get_ref() else {
        mistakes.push(wrong_type(list, "a list of values").help(EXAMPLE));
        return Vec::new();
    };
    if array.is_empty() {
        mistakes.push(Diagnostic::new("plan::empty-sweep", list.span(), "a sweep over no values").help(EXAMPLE));
    }
    let mut seen: HashMap<String, Range<usize>> = HashMap::new();
    let mut values = Vec::new();
    for value in array.iter() {
        let Some(setting) = mistakes.keep(setting(field, value)) else { continue };
        let mut workload = Workload::default();
        if setting.apply(field, &mut workload).is_err() {
            continue;
        }
        match seen.insert(format!("{workload:?}"), value.span()) {
            Some(first) => mistakes.push(
                Diagnostic::new("plan::repeated-value", value.span(), format!("`{}` is swept twice", setting.text))
                    .label("again")
                    .also(first, "first here")
                    .help("leave one out; to measure a cell more often, raise `repeats`"),
            ),
            None => values.push(setting),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(field: Field, texts: &[&str]) -> Axis {
        let values = texts.iter().map(|text| Setting { text: (*text).to_owned(), span: 0..0 }).collect();
        Axis { field, span: 0..0, values }
    }

    #[test]
    fn the_first_axis_varies_slowest() {
        let axes = [axis(Field::Rw, &["read", "write"]), axis(Field::Bs, &["4k", "8k"])];
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
