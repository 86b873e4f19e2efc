//! A file of Iometer's as a plan, in the words of a reviewer.

use std::path::Path;

use block::{Bytes, Nanos};
use workload::{Workload, amount, duration};

use super::{Import, Job, Step};
use crate::import::words::{self, Fields, Names, Together, quoted, slug};
use crate::plan::{Field, printable};

/// The text of a plan that does what the file asks for, with comments on what it does not.
///
/// `layout` says whether the target is written first.
pub fn plan_text(import: &Import, path: &Path, layout: bool) -> String {
    let file = path.file_name().map_or_else(|| "iometer".into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "iometer".into(), |name| name.to_string_lossy());
    let mut names = Names::new("test");
    let mut text = heading(import, &file);
    text += &format!("name = {}\ntitle = {}\n", quoted(&slug(&stem, "test")), quoted(&printable(&file)));
    if let Some(about) = &import.description {
        text += &format!("about = {}\n", quoted(&printable(about)));
    }
    text += "repeats = 1\n";
    if layout {
        text += &words::layout(&mut names);
    }
    for step in &import.steps {
        text += &match step {
            Step::Idle { time } => words::idle(&names.unique("idle"), *time),
            Step::Run { jobs, sweep } => match &jobs[..] {
                [job] => alone(job, sweep, &mut names),
                _ => {
                    let jobs: Vec<Together> = jobs.iter().map(together).collect();
                    words::side_by_side(&names.unique("side-by-side"), &jobs, "test")
                }
            },
        };
    }
    text
}

/// What is to be known before the plan is run.
fn heading(import: &Import, file: &str) -> String {
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
    words::comment(&lines)
}

/// A job by itself: a step that measures.
fn alone(job: &Job, sweep: &[(Field, Vec<u64>)], names: &mut Names) -> String {
    let mut text = format!("\n[[step]]\nname = {}\n{}", quoted(&names.unique(&job.name)), title(&job.name));
    let swept = |name: &str| sweep.iter().any(|(field, _)| field.name() == name);
    text += &words::lines(fields(&job.workload).iter().filter(|(name, _)| !swept(name)));
    for (field, values) in sweep {
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        text += &format!("sweep.{} = [{}]\n", field.name(), values.join(", "));
    }
    text
}

/// A job beside others.
fn together(job: &Job) -> Together<'_> {
    Together { name: &job.name, about: None, fields: fields(&job.workload) }
}

/// The specification's own name, for people.
fn title(name: &str) -> String {
    match printable(name).trim() {
        "" => String::new(),
        name => format!("title = {}\n", quoted(name)),
    }
}

/// The workload in fio's words, as a plan takes them.
pub(super) fn fields(workload: &Workload) -> Fields {
    let given = |is: bool, name, value: &dyn Fn() -> String| is.then(|| (name, value()));
    let fields = [
        Some(("rw", workload.pattern.to_string())),
        given(workload.sizes.is_none(), "bs", &|| amount(workload.block)),
        Some(("iodepth", workload.queue_depth.to_string())),
        Some(("numjobs", workload.workers.to_string())),
        given(workload.pattern.is_mixed(), "rwmixread", &|| workload.read_percent.to_string()),
        workload.size.map(|size| ("size", amount(size))),
        given(workload.offset > Bytes::ZERO, "offset", &|| amount(workload.offset)),
        workload.stop.time.map(|time| ("runtime", duration(time))),
        given(workload.ramp > Nanos::ZERO, "ramp_time", &|| duration(workload.ramp)),
    ];
    fields.into_iter().flatten().chain(workload.options()).collect()
}
