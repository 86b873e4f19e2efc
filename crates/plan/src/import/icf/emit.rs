//! A file of Iometer's as a plan, in the words of a reviewer.

use std::path::Path;

use super::{IcfJob, IcfStep, Import};
use crate::import::words::{self, Together, UniqueNames, slug};
use crate::{Field, PlanText, printable};

/// The text of a plan that does what the file asks for, with comments on what it does not.
///
/// `layout` says whether the target is written first.
pub fn plan_text(import: &Import, path: &Path, layout: bool) -> String {
    let file = path.file_name().map_or_else(|| "iometer".into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "iometer".into(), |name| name.to_string_lossy());
    let mut names = UniqueNames::new("test");
    let mut plan = PlanText::new(&slug(&stem, "test"));
    plan.set("title", printable(&file));
    if let Some(about) = &import.description {
        plan.set("about", printable(about));
    }
    plan.set("repeats", 1);
    plan.comment(&heading(import, &file));
    if layout {
        words::layout(&mut plan, &mut names);
    }
    for step in &import.steps {
        match step {
            IcfStep::Idle { time } => words::idle(&mut plan, &names.unique("idle"), *time),
            IcfStep::Run { jobs, sweep } => match &jobs[..] {
                [job] => alone(&mut plan, job, sweep, &mut names),
                _ => {
                    let jobs: Vec<Together> = jobs.iter().map(together).collect();
                    words::side_by_side(&mut plan, &names.unique("side-by-side"), &jobs, "test");
                }
            },
        }
    }
    plan.to_string()
}

/// What is to be known before the plan is run.
fn heading(import: &Import, file: &str) -> Vec<String> {
    let version = import.version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
    let mut lines = vec![
        format!("Imported from Iometer's file {file}{version}."),
        String::new(),
        "To run it:".to_owned(),
        "  assay review --plan THIS-FILE TARGET".to_owned(),
    ];
    if !import.notices.is_empty() {
        lines.extend([String::new(), "Differences from Iometer:".to_owned()]);
        lines.extend(import.notices.iter().map(|notice| format!("  line {}: {notice}", notice.place.line)));
    }
    lines
}

/// Adds a job by itself: a step that measures.
fn alone(plan: &mut PlanText, job: &IcfJob, sweep: &[(Field, Vec<u64>)], names: &mut UniqueNames) {
    let is_fixed = |(field, _): &&(Field, String)| sweep.iter().all(|(swept, _)| swept != field);
    let step = words::said(plan.step(&names.unique(&job.name)), "title", Some(&job.name));
    let step = step.fields(job.workload.fields().iter().filter(is_fixed));
    let _ = sweep.iter().fold(step, |step, (field, values)| step.sweep(*field, values));
}

/// A job beside others.
fn together(job: &IcfJob) -> Together<'_> {
    Together { name: &job.name, about: None, fields: job.workload.fields() }
}
