//! How a run is repeated: the command, and the files that it reads.

use block::Bytes;
use drive::preset::DriveName;
use maud::{Markup, html};
use measurement::Run;
use plan::{Outcome, PointOutcome, catalog, quoted};
use workload::Workload;

/// The section of a report.
pub(crate) fn section(outcome: &Outcome) -> Markup {
    let plan_file = plan_file(&outcome.run);
    html! {
        section #repeat {
            h2 { "Repeat this" }
            p { "The same command runs the same plan with the same random seed"
                @if is_simulated(&outcome.run) { " and, with the same version, gives the same figures" }
                ":"
            }
            pre.command { code { (command(outcome, plan_file.as_deref())) } }
            @if let Some(file) = &plan_file {
                p { "The plan does not come with the program: save the text below, which is the plan of this run, as " code { (file) }
                    @if replays(outcome) { ", beside the traces that it replays" }
                    "."
                }
            }
            @if let Some(file) = drive_file(&outcome.run) {
                p { "The drive is read from " code { (file) } ". If that has changed since the run, save the drive below in its place." }
            }
            @if !outcome.plan.text.is_empty() {
                details { summary { "The plan" } pre { code { (outcome.plan.text) } } }
            }
            @for (title, file) in drive_files(outcome) {
                details { summary { (title) } pre { code { (file) } } }
            }
        }
    }
}

/// Whether the run was on a simulated drive.
pub(crate) fn is_simulated(run: &Run) -> bool {
    run.target.starts_with("sim:")
}

/// Whether it is a workload of the command line, whose options say all of it.
fn is_single(run: &Run) -> bool {
    run.plan == "run"
}

/// The file that the command reads the plan from; none for one that comes with the program as it was run.
fn plan_file(run: &Run) -> Option<String> {
    let is_builtin = catalog::builtin().contains(&(&run.plan, &run.plan_text));
    (!is_builtin && !is_single(run)).then(|| format!("./{}.toml", run.plan))
}

/// The path of the simulated drive's file; none of one that comes with the program, or of a real target.
fn drive_file(run: &Run) -> Option<&str> {
    let name = DriveName::read(run.target.strip_prefix("sim:")?).ok()?;
    name.is_of_file().then_some(name.base)
}

/// What the drive's file held when the run began, and that of the drives of a rig, each with its title.
fn drive_files(outcome: &Outcome) -> Vec<(&'static str, &str)> {
    let recorded = drive_file(&outcome.run).and(outcome.drive.as_ref());
    let files = recorded.into_iter().flat_map(|drive| &drive.files).map(String::as_str);
    ["The drive", "The drives of the rig"].into_iter().zip(files).collect()
}

/// Whether any workload of the run replays a trace.
fn replays(outcome: &Outcome) -> bool {
    let mut workloads = outcome.steps.iter().flat_map(|step| &step.points).filter_map(PointOutcome::workload);
    workloads.any(|workload| workload.replay.is_some())
}

/// The command that does the same again.
fn command(outcome: &Outcome, plan_file: Option<&str>) -> String {
    let run = &outcome.run;
    let single = outcome.steps.first().and_then(|step| step.points.first()?.workload()).filter(|_| is_single(run));
    let mut words = vec!["assay".to_owned()];
    match single {
        Some(workload) => {
            words.extend(["run".to_owned(), quoted(&run.target)]);
            words.extend(options(workload));
        }
        None => {
            words.extend(["review".to_owned(), quoted(&run.target)]);
            let plan = plan_file.unwrap_or(&run.plan);
            if plan != "review" {
                words.push(format!("--plan {}", quoted(plan)));
            }
        }
    }
    // A workload's own span is among its options.
    let size = run.size.filter(|_| single.is_none_or(|workload| workload.size.is_none()));
    words.extend(size.map(|size| format!("--size {}", workload::amount(size))));
    words.extend(run.quick.then(|| "--quick".to_owned()));
    let is_full = run.target.starts_with("sim:") && !run.simulated && outcome.plan.has_simulated_lengths;
    words.extend(is_full.then(|| "--full-length".to_owned()));
    words.extend(run.repeats.map(|repeats| format!("--repeats {repeats}")));
    words.push(format!("--seed {}", run.seed));
    words.join(" ")
}

/// A workload as options of the command line.
fn options(workload: &Workload) -> Vec<String> {
    let mut workload = workload.clone();
    // The command line has it of each worker.
    workload.stop.bytes = workload.stop.bytes.map(|bytes| Bytes::new(bytes.get() / u64::from(workload.workers.max(1))));
    let fields = workload.fields().into_iter().map(|(field, value)| quoted(&format!("--{}={value}", field.name())));
    let is_timed = workload.stop.time.is_some() && workload.stop.bytes.is_none();
    fields.chain(is_timed.then(|| "--time_based".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use block::Nanos;
    use workload::Stop;

    use super::*;

    #[test]
    fn a_command_line_keeps_amounts_exact_and_words_whole() {
        let time =
            Workload { stop: Stop::after(Nanos::from_millis(1500)), offset: Bytes::from_gib(2), ..Workload::default() };
        let options = super::options(&time).join(" ");
        assert_eq!(options, "--rw=read --bs=4k --iodepth=1 --offset=2g --runtime=1500ms --time_based");
        let each = Stop::after_bytes(Bytes::from_mib(8));
        let options = super::options(&Workload { stop: each, workers: 2, ..Workload::default() }).join(" ");
        assert!(options.ends_with("--numjobs=2 --io_size=4m"), "{options}");
    }
}
