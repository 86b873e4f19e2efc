//! The jobs of a step, which are measured side by side.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Field;
use super::body::{Body, unknown_key};
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::word;
use super::fields::{Settings, names};
use super::value::{Value, table, wrong_type};

/// One of the jobs of a step, as it was written.
#[derive(Clone, Debug)]
pub(super) struct JobDraft {
    /// The word that names it.
    pub(super) name: String,
    /// Where the name stands.
    pub(super) place: Range<usize>,
    /// The fields in which it differs from its step.
    pub(super) fields: Settings,
    /// Those in which it differs under `--quick`.
    pub(super) quick: Settings,
}

impl JobDraft {
    /// Forgets `field`, because it is swept.
    pub(super) fn clear(&mut self, field: Field) {
        self.fields.clear(field);
        self.quick.clear(field);
    }
}

const EXAMPLE: &str = "begin each job with `[[step.job]]` and give it a name: `name = \"reader\"`";

/// Reads the list of a step's jobs.
pub(super) fn read(list: &Value, mistakes: &mut Mistakes) -> Vec<JobDraft> {
    let DeValue::Array(array) = list.get_ref() else {
        mistakes.push(wrong_type(list, "a list of jobs").help(EXAMPLE));
        return Vec::new();
    };
    if array.is_empty() {
        mistakes.push(Diagnostic::new("plan::no-job", list.span(), "an empty list of jobs").help(EXAMPLE));
    }
    let mut jobs: Vec<JobDraft> = Vec::new();
    for value in array.iter() {
        let Some(job) = table(value, mistakes).and_then(|table| job(table, value.span(), mistakes)) else { continue };
        if let Some(first) = jobs.iter().find(|first| first.name == job.name) {
            mistakes.push(
                Diagnostic::new("plan::duplicate-job", job.place, format!("there are two jobs `{}`", first.name))
                    .label("again")
                    .also(first.place.clone(), "first here")
                    .help("figures are stored by job name: give each its own"),
            );
        } else {
            jobs.push(job);
        }
    }
    jobs
}

fn job(entries: &DeTable, span: Range<usize>, mistakes: &mut Mistakes) -> Option<JobDraft> {
    let fields = read_fields(entries, &["name", "quick"], "a job", mistakes);
    let quick = match entries.get("quick").map(|value| table(value, mistakes)) {
        Some(Some(quick)) => read_fields(quick, &[], "`quick` of a job", mistakes),
        _ => Settings::default(),
    };
    let Some(value) = entries.get("name") else {
        let missing = Diagnostic::new("plan::missing", span, "this job has no name").label("this job");
        mistakes.push(missing.help("add `name = \"…\"`"));
        return None;
    };
    Some(JobDraft { name: mistakes.keep(word(value))?, place: value.span(), fields, quick })
}

/// The fields of a workload in `entries`, which may have `others` besides.
fn read_fields(entries: &DeTable, others: &[&str], place: &str, mistakes: &mut Mistakes) -> Settings {
    let fields = names();
    let known = [others, &fields].concat();
    for key in entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
        let mistake = unknown_key(key.get_ref(), key.span(), &known, place);
        mistakes.push(match key.get_ref().as_ref() {
            "repeats" | "sweep" => mistake.help("jobs run together: repeats and sweep belong to the step"),
            _ => mistake,
        });
    }
    Body::read(entries, &fields, mistakes).fields
}
