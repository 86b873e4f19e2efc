//! The tables of fields as the documentation has them.

use super::field::{Fate, FieldSpec};

/// A field and what becomes of it, as a row of a table in Markdown: name, default, what becomes of it.
pub(in super::super) fn row(spec: &FieldSpec) -> String {
    let default = spec.default.map_or("—".to_owned(), |default| format!("`{default}`"));
    let becomes = match spec.fate {
        Fate::Taken | Fate::Optional => spec.becomes.to_owned(),
        Fate::Unused => format!("no effect: {}", spec.becomes),
        Fate::Lost(_) => format!("not honoured: {}", spec.becomes),
    };
    format!("| `{}` | {default} | {becomes} |", spec.name)
}
