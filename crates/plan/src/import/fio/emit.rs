//! A job file as a plan, in the words of a reviewer.

use std::path::Path;

use block::Nanos;
use workload::amount;

use super::super::SourceRange;
use super::job::Natural;
use super::{Import, ImportedJob};
use crate::import::words::{self, Together, UniqueNames, slug};
use crate::{PlanText, printable, shell};

/// The text of a plan that does what the job file asks for, with comments on what it does not.
///
/// `layout` says whether the target is written first.
pub fn plan_text(import: &Import, path: &Path, layout: bool) -> String {
    let file = path.file_name().map_or_else(|| "job".into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "job".into(), |name| name.to_string_lossy());
    let mut names = UniqueNames::new("job");
    let mut plan = PlanText::new(&slug(&stem, "job"));
    plan.set("title", printable(&file));
    plan.set("repeats", 1);
    plan.comment(&heading(import, &file));
    if layout {
        words::layout(&mut plan, &mut names);
    }
    for (index, group) in import.groups.iter().enumerate() {
        if group.delay > Nanos::ZERO {
            words::idle(&mut plan, &names.unique(&format!("delay-{}", index + 1)), group.delay);
        }
        let step = match &group.jobs[..] {
            [job] => {
                let step = words::said(plan.step(&names.unique(&job.name)), "title", Some(&job.name));
                words::said(step, "about", job.about.as_deref()).fields(&job.workload.fields())
            }
            jobs => {
                let jobs: Vec<Together> = jobs.iter().map(together).collect();
                words::side_by_side(&mut plan, &names.unique(&format!("group-{}", index + 1)), &jobs, "job")
            }
        };
        // What fio does next finds what this has written.
        if index + 1 < import.groups.len() && group.jobs.iter().any(|job| job.workload.changes_data()) {
            let _ = step.with("keep-state", true);
        }
    }
    plan.to_string()
}

/// What is to be known before the plan is run.
fn heading(import: &Import, file: &str) -> Vec<String> {
    let mut lines = vec![format!("Imported from the fio job file {file}."), String::new(), "To run it:".to_owned()];
    let target = import.target.as_deref().map_or_else(|| "TARGET".to_owned(), shell::file_name);
    let size = import.size.map(|size| format!(" --size={}", amount(size))).unwrap_or_default();
    lines.push(format!("  assay review --plan THIS-FILE {target}{size} --direct={}", u8::from(import.direct)));
    let at = |source: usize, line: usize| match source {
        0 => format!("  line {line}"),
        other => format!("  {} line {line}", import.sources[other].name),
    };
    if !import.notices.is_empty() {
        lines.extend([String::new(), "Differences from fio:".to_owned()]);
        lines.extend(import.notices.iter().map(|notice| {
            let SourceRange { source, line, .. } = notice.place;
            format!("{}: {notice}", at(source, line))
        }));
    }
    if !import.natural.is_empty() {
        lines.extend([String::new(), "Options without effect:".to_owned()]);
        lines.extend(
            import
                .natural
                .iter()
                .map(|Natural { source, line, option, why }| format!("{}: `{option}`: {why}", at(*source, *line))),
        );
    }
    for record in import.jobs().filter_map(|job| job.record.as_deref()) {
        let words = format!("`assay run {file} --log-dir DIR` writes the log {record} there; a plan writes none.");
        lines.extend([String::new(), words]);
    }
    let draws = |job: &ImportedJob| job.workload.pattern.is_random() && !job.workload.no_repeat;
    let once = |job: &ImportedJob| draws(job) && job.section.option("norandommap").is_none();
    if import.jobs().any(once) {
        lines.extend([
            String::new(),
            "Random addresses of several sizes, or that are not spread evenly, may repeat before all others have come \
             once, as with fio's `norandommap`."
                .to_owned(),
        ]);
    }
    lines
}

/// A job beside others.
fn together(job: &ImportedJob) -> Together<'_> {
    Together { name: &job.name, about: job.about.as_deref(), fields: job.workload.fields() }
}
