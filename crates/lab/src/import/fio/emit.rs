//! A job file as a plan, in the words of a reviewer.

use std::path::Path;

use block::{Bytes, Nanos};
use workload::{Workload, amount, duration};

use super::super::Place;
use super::job::Natural;
use super::{Import, Job};
use crate::import::words::{self, Fields, Names, Together, quoted, slug};
use crate::plan::printable;

/// The text of a plan that does what the job file asks for, with comments on what it does not.
///
/// `layout` says whether the target is written first.
pub fn plan_text(import: &Import, path: &Path, layout: bool) -> String {
    let file = path.file_name().map_or_else(|| "job".into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "job".into(), |name| name.to_string_lossy());
    let mut names = Names::new("job");
    let mut text = heading(import, &file);
    text += &format!("name = {}\n", quoted(&slug(&stem, "job")));
    text += &format!("title = {}\nrepeats = 1\n", quoted(&printable(&file)));
    if layout {
        text += &words::layout(&mut names);
    }
    for (index, group) in import.groups.iter().enumerate() {
        if group.delay > Nanos::ZERO {
            text += &words::idle(&names.unique(&format!("delay-{}", index + 1)), group.delay);
        }
        text += &match &group.jobs[..] {
            [job] => step(job, &mut names),
            jobs => {
                let jobs: Vec<Together> = jobs.iter().map(together).collect();
                words::side_by_side(&names.unique(&format!("group-{}", index + 1)), &jobs, "job")
            }
        };
    }
    text
}

/// What is to be known before the plan is run.
fn heading(import: &Import, file: &str) -> String {
    let mut lines = vec![format!("Imported from the fio job file {file}."), String::new(), "To run it:".to_owned()];
    let target = import.target.as_deref().map_or_else(|| "TARGET".to_owned(), typed);
    let size = import.size.map(|size| format!(" --size={}", amount(size))).unwrap_or_default();
    lines.push(format!("  assay review --plan THIS-FILE {target}{size} --direct={}", u8::from(import.direct)));
    let at = |source: usize, line: usize| match source {
        0 => format!("  line {line}"),
        other => format!("  {} line {line}", import.sources[other].name),
    };
    if !import.notices.is_empty() {
        lines.extend([String::new(), "Differences from fio:".to_owned()]);
        lines.extend(import.notices.iter().map(|notice| {
            let Place { source, line, .. } = notice.place;
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
    let draws = |job: &Job| job.workload.pattern.is_random() && !job.workload.no_repeat;
    let once = |job: &Job| draws(job) && job.section.option("norandommap").is_none();
    if import.jobs().any(once) {
        lines.extend([
            String::new(),
            "Random addresses of several sizes, or that are not spread evenly, may repeat before all others have come \
             once, as with fio's `norandommap`."
                .to_owned(),
        ]);
    }
    words::comment(&lines)
}

/// A file's name as a shell takes it for one word, and assay for no option.
fn typed(name: &str) -> String {
    let word = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
    let is_plain = |c: char| c.is_alphanumeric() || "./:=_-+,@%".contains(c);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A job by itself: a step that measures.
fn step(job: &Job, names: &mut Names) -> String {
    let mut text = format!("\n[[step]]\nname = {}\n", quoted(&names.unique(&job.name)));
    text += &described(job);
    text + &words::lines(&fields(&job.workload))
}

/// A job beside others.
fn together(job: &Job) -> Together<'_> {
    Together { name: &job.name, about: job.about.as_deref(), fields: fields(&job.workload) }
}

/// The job's own name and words, for people.
fn described(job: &Job) -> String {
    let title = Some(printable(&job.name)).filter(|title| !title.trim().is_empty());
    let about = job.about.as_deref().map(printable).filter(|about| !about.trim().is_empty());
    let line = |key: &str, text: Option<String>| text.map(|text| format!("{key} = {}\n", quoted(&text)));
    line("title", title).into_iter().chain(line("about", about)).collect()
}

/// The workload in fio's words, as a plan takes them.
fn fields(workload: &Workload) -> Fields {
    let plain = Workload::default();
    let (stop, replays) = (&workload.stop, workload.replay.is_some());
    let given = |is: bool, name, value: &dyn Fn() -> String| is.then(|| (name, value()));
    let some = |name, bytes: Option<Bytes>| bytes.map(|bytes| (name, amount(bytes)));
    let fields = [
        given(!replays, "rw", &|| workload.rw()),
        given(!replays && workload.sizes.is_none(), "bs", &|| amount(workload.block)),
        Some(("iodepth", workload.queue_depth.to_string())),
        given(workload.workers != plain.workers, "numjobs", &|| workload.workers.to_string()),
        given(workload.pattern.is_mixed(), "rwmixread", &|| workload.read_percent.to_string()),
        some("size", workload.size),
        given(workload.offset > Bytes::ZERO, "offset", &|| amount(workload.offset)),
        stop.time.map(|time| ("runtime", duration(time))),
        stop.requests.map(|requests| ("number_ios", requests.to_string())),
        some("io_size", stop.bytes),
        stop.span.map(|percent| ("io_size", format!("{percent}%"))),
        given(workload.ramp > Nanos::ZERO, "ramp_time", &|| duration(workload.ramp)),
    ];
    fields.into_iter().flatten().chain(workload.options()).collect()
}
