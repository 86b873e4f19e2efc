//! `assay run`: one workload, with options that are named as fio's are, or a fio job file.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use block::{Bytes, Seed};
use clap::ValueEnum;
use lab::plan::{self, Field, PlanLength, PlanText};
use lab::{DriveRecord, Outcome};
use report::export::{self, FioJob, Single};
use store::{Annotations, Store};
use workload::{Workload, amount};

use super::specification::{Fields, Record};
use crate::annotations::AnnotationOptions;
use crate::color;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job_file::JobFileOptions;
use crate::number;
use crate::power::PowerOptions;
use crate::recorder::Recorder;
use crate::run_request::{RunRequest, failure, insist, judge};
use crate::supervision;
use crate::target::{self, OpenedTarget, RealOptions};
use crate::terminal::say;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Sizes: 512, 4k, 1m, 2GiB (powers of 1024). Durations: 10 (seconds), 500ms, 2m.")]
pub struct Arguments {
    /// What to run on: sim:DRIVE, a file or a block device [default: sim:x25-m]; or a job file, JOB.fio
    pub target: Option<String>,

    /// Target of a job file [default: the file that it names]
    #[arg(value_name = "TARGET")]
    pub on: Option<String>,

    /// The same as TARGET
    #[arg(long, value_name = "TARGET")]
    pub filename: Option<String>,

    #[command(flatten)]
    pub reading: JobFileOptions,

    /// Write the logs that a job file asks for (write_iolog, write_bw_log, ...) to this folder, by their file names
    #[arg(long, value_name = "DIR")]
    pub log_dir: Option<PathBuf>,

    /// The name of the job in the output [default: run]
    #[arg(long)]
    pub name: Option<String>,

    #[command(flatten)]
    fields: Fields,

    /// Run for the whole runtime, however much data is transferred
    #[arg(long = "time_based", visible_alias = "time-based", num_args = 0..=1, default_missing_value = "1", value_parser = number::switch)]
    time_based: Option<u8>,

    #[command(flatten)]
    pub real: RealOptions,

    #[command(flatten)]
    pub power: PowerOptions,

    #[command(flatten)]
    pub record: Record,

    #[command(flatten)]
    pub annotations: AnnotationOptions,

    /// Random seed
    #[arg(long, visible_alias = "randseed", default_value_t = 1, value_parser = number::seed)]
    pub seed: u64,

    /// Output format: text, JSON, CSV, or fio's JSON
    #[arg(long, visible_alias = "output-format", value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// A header and a line for reads, writes and trims
    Csv,
    /// A header and a line for every second
    Series,
    /// The JSON that fio prints
    Fio,
}

/// Runs the workload and prints one document, also where it fails and a program is to read it.
pub fn run(arguments: &Arguments, open_store: impl FnOnce() -> Result<Store, Failure>) -> ExitCode {
    let trims = arguments.fields.workload().pattern.trims();
    supervision::apart(arguments.real.waits_in_calls(arguments.target(), trims));
    let measured = open_store().and_then(|store| measure(arguments, store));
    let failure = match measured.and_then(|(document, judged)| say(&document).map(|()| judged)) {
        Ok(Ok(())) => return Exit::Done.into(),
        // The document tells it too, so that there is no other.
        Ok(Err(failure)) => return failure.tell(color(std::io::stderr().is_terminal())),
        Err(failure) => failure,
    };
    tell(&failure, matches!(arguments.format, RunFormat::Json | RunFormat::Fio))
}

/// How the program ends for a failure, of which there is a document too where a program is to read one.
pub fn tell(failure: &Failure, as_document: bool) -> ExitCode {
    if as_document && !failure.is_interruption() {
        let document = serde_json::json!({ "error": failure.words(false) });
        // The exit code and standard error tell the same, should this fail too.
        say(&format!("{document}\n")).ok();
    }
    failure.tell(color(std::io::stderr().is_terminal()))
}

/// The document to print, and whether what was asked was done in full.
type Printed = (String, Result<(), Failure>);

/// What is asked, on what: all that is known before anything is run.
pub fn prepare(arguments: &Arguments) -> Result<(OpenedTarget, RunRequest), Failure> {
    arguments.name_one_target()?;
    let name = arguments.target();
    let mut traces = lab::Traces::anywhere();
    let asked = arguments.asked(&mut traces)?;
    let access = arguments.access().stoppable()?;
    // What makes no sense wherever it is done is told before a target is made or touched.
    let least = arguments.real.size.unwrap_or(asked.block_max());
    let parsed = |text: &str| plan::parse(text, PlanLength::Full).map_err(Failure::own_plan);
    parsed(&plan_text(arguments, &asked, false, holding(&asked, least)?))?;
    let metering = arguments.power.open(name)?;
    let opened = target::open(name, &access, asked.changes_data(), access.size.is_some() && !asked.verify.only)?;
    let mut opened = metering.of(opened);
    let span = holding(&asked, arguments.span(opened.subject.capacity())?)?;
    let mut plan = parsed(&plan_text(arguments, &asked, opened.needs_layout, span))?;
    traces.give(&mut plan)?;
    let checked = opened.check(&plan)?;
    let request = RunRequest {
        size: access.size,
        annotations: arguments.annotations.on(Annotations::default()),
        ..RunRequest::of(checked, Seed::new(arguments.seed), access.is_direct())
    };
    Ok((opened, request))
}

/// Runs the workload.
fn measure(arguments: &Arguments, store: Store) -> Result<Printed, Failure> {
    let (mut opened, undertaking) = prepare(arguments)?;
    let record = arguments.record.record.as_deref();
    let recorder = record.map(|path| Recorder::begin(path, opened.subject.as_mut())).transpose()?;
    let store = Mutex::new(store);
    let record = undertaking.begin(&store, &opened)?;
    let ending = insist(&record, &opened)?;
    let done = undertaking.carry_out(record, &mut opened);
    recorder.map_or(Ok(()), |recorder| recorder.write(&opened.name))?;
    let name = arguments.name.as_deref().unwrap_or("run");
    let outcome = record.recall();
    drop(ending);
    let document = |outcome: &Outcome| {
        document(arguments.format, name, Some(arguments.target()), arguments.real.is_direct(), outcome)
    };
    let Err(broken) = done else {
        let outcome = outcome?;
        return Ok((document(&outcome)?, judge(&outcome)));
    };
    if broken.reason.is_interruption()
        && let Ok(document) = outcome.map_err(Failure::from).and_then(|outcome| document(&outcome))
    {
        say(&document)?;
    }
    Err(failure(&broken, broken.words(record.id())))
}

/// The span, if it holds a block at all.
fn holding(asked: &Workload, span: Bytes) -> Result<Bytes, Failure> {
    let block = asked.block_max();
    if span >= block {
        return Ok(span);
    }
    // Rounded, both may look alike.
    let [block, span] = match block.to_string() == span.to_string() {
        true => [block, span].map(|bytes| format!("{} B", bytes.get())),
        false => [block, span].map(|bytes| bytes.to_string()),
    };
    Err(Failure::usage(format!(
        "a block of {block} is larger than the active range of {span}; give a smaller --bs, or a larger --size"
    )))
}

impl Arguments {
    /// The target as it was asked for.
    fn target(&self) -> &str {
        self.target.as_ref().or(self.filename.as_ref()).map_or(target::DEFAULT, String::as_str)
    }

    /// Refuses what only a job file has a use for, and a target that is named twice.
    fn name_one_target(&self) -> Result<(), Failure> {
        if self.reading.is_asked() || self.log_dir.is_some() {
            return Err(Failure::usage(
                "--section, --strict, --variable, --allow-path and --log-dir are for job files; name one, as in `assay run \
                 JOB.fio`",
            ));
        }
        match (&self.target, self.on.as_ref().or(self.filename.as_ref())) {
            (Some(first), Some(second)) => Err(Failure::usage(format!(
                "{first} and {second} are two targets; name one, or a job file that ends in .fio before the target"
            ))),
            _ => Ok(()),
        }
    }

    /// Where the span begins.
    fn offset(&self) -> Bytes {
        self.fields.workload().offset
    }

    /// How the target is to be opened: fio's `size` counts from the offset, so that the target must reach so much
    /// further.
    fn access(&self) -> RealOptions {
        let end = |size: Bytes| match size {
            Bytes::ZERO => size,
            size => Bytes::new(size.get().saturating_add(self.offset().get())),
        };
        RealOptions { size: self.real.size.map(end), ..self.real.clone() }
    }

    /// How much is used of a target of this capacity: the size, or what lies behind the offset.
    fn span(&self, capacity: Bytes) -> Result<Bytes, Failure> {
        match capacity.get().checked_sub(self.offset().get()) {
            None | Some(0) => {
                Err(Failure::usage(workload::Invalid::OffsetBeyond { offset: self.offset(), capacity }.to_string()))
            }
            Some(rest) => Ok(self.real.size.unwrap_or(Bytes::new(rest))),
        }
    }

    /// What they ask for, with the requests of a trace, before it is known where they are asked.
    fn asked(&self, traces: &mut lab::Traces) -> Result<Workload, Failure> {
        let mut workload = self.fields.workload();
        let shares = [(Field::Offset, workload.place.is_some()), (Field::IoSize, workload.stop.span.is_some())];
        if let Some((field, _)) = shares.into_iter().find(|(_, is_share)| *is_share) {
            let name = field.name();
            return Err(Failure::usage(format!(
                "--{name} is given in bytes, as in --{name}=1g; a share is for a plan"
            )));
        }
        if workload.replay.as_ref().is_some_and(|replay| !replay.source.is_empty()) {
            traces.give_to(&mut workload)?;
        }
        Ok(workload)
    }
}

/// The workload as a plan, so that it is kept, shown and reported like any other.
///
/// What would be read is written first where nothing was, as fio lays out its files.
fn plan_text(arguments: &Arguments, asked: &Workload, layout: bool, span: Bytes) -> String {
    let reads = !asked.verify.only && (!asked.pattern.changes_data() || asked.pattern.is_mixed());
    let mut plan = PlanText::new("run");
    plan.set("title", "One workload");
    plan.set("repeats", 1);
    if reads && layout {
        let title = "Fill";
        let _ = plan.step("layout").with("title", title).with("do", "fill").with("bs", "1m").with("iodepth", 4);
    }
    let given = arguments.fields.given().filter(|(field, _)| *field != Field::IoSize);
    let mut step =
        given.fold(plan.step("run").with("title", "Running"), |step, (field, text)| step.with(field.name(), text));
    if let Some(size) = arguments.real.size {
        step = step.with("size", amount(size));
    }
    let each = match (asked.stop.bytes, &asked.replay) {
        // A replay ends with its trace.
        (None, Some(_)) => None,
        (size, _) => Some(size.unwrap_or(span)),
    };
    if let Some(each) = each.filter(|_| arguments.time_based != Some(1)) {
        let _ = step.with("io_size", amount(each.times(u64::from(asked.workers))));
    }
    plan.to_string()
}

/// What was measured, as a document; `target` is how it was asked for, if that is not how the run has it.
pub fn document(
    format: RunFormat,
    name: &str,
    target: Option<&str>,
    direct: bool,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let run = outcome.run.id;
    let measurement = outcome
        .steps
        .iter()
        .flat_map(|step| &step.points)
        .find_map(|point| point.measurements().next())
        .ok_or_else(|| Failure::failed(format!("run {run} measured nothing; `assay show {run}` shows why")))?;
    let findings: Vec<String> = outcome.findings.iter().map(|finding| finding.text.clone()).collect();
    let single = Single {
        name,
        target: target.unwrap_or(&outcome.run.target),
        version: &outcome.run.version,
        timestamp_ms: outcome.run.started_ms,
        seed: outcome.run.seed,
        direct,
        measurement,
        findings: &findings,
    };
    Ok(match format {
        RunFormat::Text => changed(outcome) + &export::text(&single),
        RunFormat::Json => export::json(&single),
        RunFormat::Csv => export::csv(&single),
        RunFormat::Series => export::series(&single),
        RunFormat::Fio => export::fio(&[FioJob::alone(single)], true),
    })
}

/// What a changed simulated drive is and what is other in it, before its name; nothing of any other target.
fn changed(outcome: &Outcome) -> String {
    match outcome.drive.as_ref().is_some_and(DriveRecord::is_changed) {
        true => report::wrapped(&outcome.run.target_identity, 80).join("\n") + "\n",
        false => String::new(),
    }
}
