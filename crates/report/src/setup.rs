//! The device and the set-up of a review in rounds, as test specifications ask for them at the head of a report.

use block::Bytes;
use host::Environment;
use maud::{Markup, html};
use plan::{Action, Outcome, Site, Step};
use workload::Workload;

use crate::conditions::date;
use crate::number::{count, whole};
use crate::prose;
use crate::rated::of_today;

/// What is not known is said to be so, never left out: a specification asks for it.
const UNKNOWN: &str = "unknown";

/// A name with its value; none where it is not known.
type SetupRow = (&'static str, Option<String>);

/// Whether the report carries this block: the plan measures in rounds, as specifications do.
pub(crate) fn is_wanted(outcome: &Outcome) -> bool {
    outcome.plan.steps.iter().any(|step| matches!(step.action, Action::Rounds(_)))
}

/// The block.
pub(crate) fn setup(outcome: &Outcome) -> Markup {
    let environment: Environment = serde_json::from_str(&outcome.run.environment).unwrap_or_default();
    html! {
        section #setup {
            h2 { "Device and test setup" }
            @for paragraph in outcome.plan.about.split("\n\n").filter(|text| !text.is_empty()) { p { (paragraph) } }
            h3 { "Device" }
            dl { (rows(&device(outcome, &environment))) }
            @if let Some(origin) = of_today(outcome) { p { (origin) } }
            h3 { "Host" }
            dl { (rows(&host(&environment))) }
            h3 { "Test" }
            dl { (rows(&test(outcome, &environment))) dt { "Preconditioning" } dd { (preconditioning(outcome)) } }
        }
    }
}

fn rows(rows: &[SetupRow]) -> Markup {
    html! {
        @for (name, value) in rows {
            dt { (name) }
            dd { @match value { Some(value) => (value), None => span.absent { (UNKNOWN) } } }
        }
    }
}

fn device(outcome: &Outcome, environment: &Environment) -> Vec<SetupRow> {
    let capacity = outcome.capacity.map(|capacity| format!("{capacity} ({} B)", whole(capacity.get())));
    if outcome.run.target.starts_with("sim:") {
        let drive = outcome.drive.as_ref();
        let fact = |name: &str| drive?.fact(name);
        return vec![
            ("Manufacturer and model", Some(format!("{}, simulated", outcome.run.target_identity))),
            ("Serial number", drive.map(|drive| drive.serial.clone())),
            ("Firmware", drive.map(|drive| drive.firmware.clone())),
            ("Capacity", capacity),
            ("Interface", fact("interface").or_else(|| fact("link"))),
            ("Media", fact("flash")),
            ("Write cache", Some("default of the simulated drive".to_owned())),
        ];
    }
    let device = environment.device.clone().unwrap_or_default();
    let mut rows = vec![("Target", Some(outcome.run.target_identity.clone())), ("Capacity", capacity)];
    if environment.file_system.is_some() {
        let held = device.capacity.map(|capacity| format!("a device of {capacity}; the following rows describe it"));
        rows.push(("Stored on", held));
    }
    rows.extend([
        ("Manufacturer and model", device.model),
        ("Serial number", device.serial),
        ("Firmware", device.firmware),
        ("Interface", device.transport),
        (
            "Blocks",
            device.logical_block.map(|logical| match device.physical_block {
                Some(physical) => format!("{logical} logical, {physical} physical"),
                None => format!("{logical} logical"),
            }),
        ),
        ("Write cache", device.write_cache),
        (
            "Page cache",
            Some(
                (if outcome.run.direct { "bypassed (O_DIRECT)" } else { "in use: figures include the host's memory" })
                    .to_owned(),
            ),
        ),
    ]);
    rows
}

fn host(environment: &Environment) -> Vec<SetupRow> {
    let cores = environment.cores.map(|cores| format!(" ({})", count(cores as usize, "processor")));
    vec![
        ("Machine", environment.machine.clone()),
        ("Processor", environment.cpu.clone().map(|cpu| cpu + &cores.unwrap_or_default())),
        ("Memory", environment.memory.map(|memory| memory.to_string())),
        ("Operating system", environment.os.clone()),
        ("Kernel", environment.kernel.clone()),
    ]
}

fn test(outcome: &Outcome, environment: &Environment) -> Vec<SetupRow> {
    let run = &outcome.run;
    let built = if run.commit.is_empty() { String::new() } else { format!(" ({})", run.commit) };
    vec![
        ("Program", Some(format!("assay {}{built}", run.version))),
        ("Date", Some(date(run.started_ms))),
        ("Tester, sponsor, auditor", None),
        ("Active range", range(outcome)),
        ("Data", Some(data(outcome))),
        ("Purge", Some(purge(outcome, environment))),
    ]
}

/// The workloads that write or measure.
fn workloads(outcome: &Outcome) -> impl Iterator<Item = &Workload> {
    outcome.plan.steps.iter().flat_map(|step| match &step.action {
        Action::Condition(condition) => vec![&condition.workload],
        action => action.measure().into_iter().flat_map(|measure| &measure.cells).map(|cell| &cell.workload).collect(),
    })
}

/// From which address to which the target was used; none where its size is not known.
fn range(outcome: &Outcome) -> Option<String> {
    let all = outcome.run.size.or(outcome.capacity)?;
    let sector = block::SECTOR;
    let end = |workload: &Workload| workload.size.map_or(all, |size| workload.offset + size).min(all);
    let first = workloads(outcome).map(|workload| workload.offset).min().unwrap_or(Bytes::ZERO);
    let last = workloads(outcome).map(end).max().unwrap_or(all);
    let how = if first == Bytes::ZERO && last == all { "100 %" } else { "a part" };
    let lba = |place: Bytes| whole(place.get() / sector.get());
    Some(format!("{how}: LBA {} to {}, counted in blocks of {sector}", lba(first), lba(last - sector)))
}

/// What was written.
fn data(outcome: &Outcome) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for workload in workloads(outcome).filter(|workload| workload.changes_data()) {
        let kind = match (workload.compressible, workload.duplicates) {
            (0, 0) => "random: not compressible, no duplicates".to_owned(),
            (100, _) => "zeroes".to_owned(),
            (share, 0) => format!("{share} % compressible, the rest random"),
            (share, repeated) => format!("{share} % compressible, {repeated} % duplicate blocks"),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() { "none written".to_owned() } else { kinds.join("; ") }
}

/// How the drive was purged, and how often.
fn purge(outcome: &Outcome, environment: &Environment) -> String {
    let times = outcome.plan.steps.iter().filter(|step| matches!(step.action, Action::Purge { .. })).count();
    let by = match () {
        () if times == 0 => return "none".to_owned(),
        () if outcome.run.target.starts_with("sim:") => "reset of the simulated drive to its factory state",
        () if environment.file_system.is_none() => return format!("{}, {}", methods(outcome), count(times, "time")),
        () => "new file",
    };
    format!("{by}, {}", count(times, "time"))
}

/// The methods by which the plan's steps purge a device.
fn methods(outcome: &Outcome) -> String {
    let mut names: Vec<&str> = Vec::new();
    for step in &outcome.plan.steps {
        if let Some(method) = step.work(&Site::ANY).purges()
            && !names.contains(&method.name())
        {
            names.push(method.name());
        }
    }
    names.join(", ")
}

/// What was done before the measurements to bring the drive into a state.
fn preconditioning(outcome: &Outcome) -> Markup {
    let is_one =
        |step: &&Step| matches!(step.action, Action::Condition(_) | Action::Precondition(_) | Action::Fill { .. });
    let steps: Vec<&Step> = outcome.plan.steps.iter().filter(is_one).collect();
    html! {
        @if steps.is_empty() { "none other than the rounds themselves" }
        @else { ul { @for step in steps { li { (step.title) ": " (prose::action(step)) } } } }
    }
}
