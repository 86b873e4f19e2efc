//! The one writer of plans: what the command line and the importers ask for, as a reviewer would write it.

use std::fmt;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};
use workload::Field;

use super::printable;

/// A plan that is being written.
#[derive(Clone, Debug, Default)]
pub struct PlanText(DocumentMut);

/// A step of it, or a job of a step.
#[derive(Debug)]
pub struct StepText<'p>(&'p mut Table);

impl PlanText {
    /// A plan of this name without a step.
    pub fn new(name: &str) -> Self {
        let mut text = Self::default();
        text.set("name", name);
        text
    }

    /// Gives a key of the plan itself.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0[key] = Item::Value(value.into());
    }

    /// Puts lines above all, as a comment.
    pub(crate) fn comment(&mut self, lines: &[String]) {
        let name = self.0.key_mut("name");
        name.expect("every plan has a name").leaf_decor_mut().set_prefix(commented(lines) + "\n");
    }

    /// Adds a step of this name behind the others.
    pub fn step(&mut self, name: &str) -> StepText<'_> {
        StepText::added(self.0.as_table_mut(), "step", name)
    }
}

impl fmt::Display for PlanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'p> StepText<'p> {
    /// Another table at the end of the array `key` of `table`.
    fn added(table: &'p mut Table, key: &str, name: &str) -> Self {
        let array = table.entry(key).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let array = array.as_array_of_tables_mut().expect("nothing else is written by this key");
        array.push(Table::from_iter([("name", name)]));
        Self(array.get_mut(array.len() - 1).expect("one was added"))
    }

    /// Gives a key.
    #[must_use]
    pub fn with(self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = Item::Value(value.into());
        self
    }

    /// Gives fields of the workload.
    pub fn fields<'f>(self, fields: impl IntoIterator<Item = &'f (Field, String)>) -> Self {
        fields.into_iter().fold(self, |step, (field, value)| step.with(field.name(), value))
    }

    #[must_use]
    pub(crate) fn sweep(self, field: Field, values: &[u64]) -> Self {
        let values = values.iter().map(|&value| i64::try_from(value).unwrap_or(i64::MAX)).collect::<Array>();
        let sweep = self.0.entry("sweep").or_insert_with(|| {
            let mut table = Table::new();
            table.set_dotted(true);
            Item::Table(table)
        });
        sweep[field.name()] = Item::Value(values.into());
        self
    }

    /// Adds a job of this name, which runs beside the others; `about` is told above it.
    pub(crate) fn job(&mut self, name: &str, about: Option<&str>) -> StepText<'_> {
        let job = StepText::added(self.0, "job", name);
        if let Some(about) = about {
            job.0.decor_mut().set_prefix(format!("\n{}", commented(&[about.to_owned()])));
        }
        job
    }
}

fn commented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("# {}", printable(line)).trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanLength, parse};

    #[test]
    fn a_plan_is_written_as_a_reviewer_would_and_reads_back() {
        let mut plan = PlanText::new("written");
        plan.set("title", "A \"quoted\" title");
        plan.set("repeats", 1);
        plan.comment(&["From a file.".to_owned(), String::new(), "To run it:".to_owned()]);
        let _ = plan.step("rest").with("do", "idle").with("time", "1s");
        let fields = [(Field::Rw, "randread".to_owned()), (Field::Runtime, "2s".to_owned())];
        let _ = plan.step("swept").fields(&fields).sweep(Field::Iodepth, &[1, 32]).sweep(Field::Numjobs, &[1]);
        let mut beside = plan.step("beside").with("runtime", "1s");
        let _ = beside.job("one", None).with("rw", "read");
        let _ = beside.job("two", Some("Writes\nbeside.")).with("rw", "write");
        let text = plan.to_string();
        assert_eq!(
            text,
            "# From a file.\n#\n# To run it:\n\n\
             name = \"written\"\ntitle = 'A \"quoted\" title'\nrepeats = 1\n\n\
             [[step]]\nname = \"rest\"\ndo = \"idle\"\ntime = \"1s\"\n\n\
             [[step]]\nname = \"swept\"\nrw = \"randread\"\nruntime = \"2s\"\nsweep.iodepth = [1, 32]\nsweep.numjobs = [1]\n\n\
             [[step]]\nname = \"beside\"\nruntime = \"1s\"\n\n\
             [[step.job]]\nname = \"one\"\nrw = \"read\"\n\n\
             # Writes beside.\n[[step.job]]\nname = \"two\"\nrw = \"write\"\n"
        );
        assert_eq!(parse(&text, PlanLength::Full, &[]).unwrap().steps.len(), 3);
    }
}
