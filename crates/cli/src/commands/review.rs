//! `assay review`: a whole plan on a target, and its report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use block::{Endurance, Seed, parse_endurance};
use host::{Mark, Within};
use lab::forecast::forecast;
use lab::plan::{self, Length, Plan, catalog};
use lab::{DriveRecord, PurgeMethod, RunRecord, plan_of};
use report::Report;
use store::{Moment, Run, RunId, State, Store};

use super::history::{Which, print_summary, write_report_to};
use crate::format::Format;
use crate::metrics;
use crate::number;
use crate::outputs::Pages;
use crate::power::PowerOptions;
use crate::target::{self, Opened, RealOptions};
use crate::terminal::{notice, say};
use crate::undertaking::{Undertaking, absolute, failure, judge};
use crate::{failure::Failure, fingerprint};

/// The name of the plan of a single workload, which `assay run` makes.
pub const SINGLE: &str = "run";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What to review: sim:DRIVE, a file or a block device [default: sim:x25-m]
    pub target: Option<String>,

    /// The plan to follow: a name of `assay plans`, or a file
    #[arg(long, value_name = "PLAN", default_value = "review")]
    plan: String,

    /// Shorten durations and repeats, and say so in the report
    #[arg(long)]
    quick: bool,

    /// On a simulated drive, take the durations that the plan has for devices, even where it has others for such drives
    #[arg(long)]
    full_length: bool,

    #[command(flatten)]
    pub real: RealOptions,

    #[command(flatten)]
    power: PowerOptions,

    /// Measure each figure so many times [default: the plan's; in `review` 5, and up to 15 until
    /// IOPS are known within 2 %]
    #[arg(long, value_parser = number::within::<u32>(1..=1000))]
    repeats: Option<u32>,

    /// The origin of all random choices
    #[arg(long, default_value_t = 1, value_parser = number::seed)]
    seed: u64,

    /// The folder for the report
    #[arg(long, value_name = "DIR", default_value = "assay-reports")]
    out: PathBuf,

    /// Go on with a review that was cut off, as it was begun: the latest, or the run with this number. A device, a drive's
    /// file and meters (--power) must be named again
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last",
        conflicts_with_all = ["plan", "quick", "full_length", "repeats", "seed", "size", "direct"])]
    pub resume: Option<Which>,

    /// Print what each step does, writes and takes, and do nothing
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,

    /// How to print that: for people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "dry_run")]
    pub format: Format,

    /// How a real drive is purged: discard, or by name secure-erase, nvme-format, sanitize, or none [default: the plan's,
    /// discard in `review`]
    #[arg(long, value_name = "METHOD")]
    pub purge: Option<PurgeMethod>,

    /// Attach a simulated drive at so many of its seconds in each of the machine's, and scale figures back: 0.25 for one that
    /// is faster than the way to it
    #[arg(long, value_name = "FACTOR", value_parser = target::speed)]
    pub speed: Option<f64>,

    /// Tell Prometheus what goes on: in a file for its textfile collector, written about once a second (assay.prom), or at
    /// an address of this machine where it may ask (127.0.0.1:9187)
    #[arg(long, value_name = "FILE|ADDRESS:PORT")]
    metrics: Option<metrics::Place>,

    /// Let the address of --metrics be one that other machines reach, and answer to any name of it
    #[arg(long)]
    metrics_public: bool,

    /// Show the review on the whole terminal while it goes on: charts, speed, latencies, what the drive counts, findings
    #[arg(long)]
    live: bool,

    /// Let the plan name traces in this folder besides its own; may be given several times
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,

    /// How much may be written to the drive in its life, as its data sheet has it: 150TB, 1.2PB
    #[arg(long, value_name = "TBW", value_parser = parse_endurance)]
    pub rated_endurance: Option<Endurance>,
}

impl Arguments {
    /// What to review.
    pub fn target(&self) -> &str {
        self.target.as_deref().unwrap_or(target::DEFAULT)
    }

    /// The plan to follow, with all that it names.
    pub fn plan(&self) -> Result<Plan, Failure> {
        let source = catalog::find(&self.plan)?;
        let length = Length::of(self.quick, self.target().starts_with("sim:") && !self.full_length);
        let mut plan = plan::parse(&source.text, length)
            .map_err(|mistakes| Failure::plan(&source.file_name, &source.text, mistakes))?;
        if let Some(repeats) = self.repeats {
            plan.repeat(repeats);
        }
        if let Some(method) = self.purge {
            plan.purge_by(method);
        }
        // What a plan names stands beside it.
        let within = Within::folder_of(Path::new(&source.file_name)).allowing(&self.allow_path);
        lab::Traces::within(within).give(&mut plan)?;
        Ok(plan)
    }
}

/// Runs the review and writes its report; the last line says where it is.
pub fn run(arguments: &Arguments, mut store: Store) -> Result<(), Failure> {
    let metrics = arguments.metrics.as_ref().map(|place| place.open(arguments.metrics_public)).transpose()?;
    let pages = Pages::checked(&arguments.out)?;
    let (begun, mut opened, undertaking) = match arguments.resume {
        Some(which) => {
            let (run, opened, undertaking) = resume(arguments, which, &mut store)?;
            (Some(run), opened, undertaking)
        }
        None => begin(arguments).map(|(opened, undertaking)| (None, opened, undertaking))?,
    };
    let undertaking = Undertaking { metrics, live: arguments.live, ..undertaking };
    let store = Mutex::new(store);
    let record = match &begun {
        Some(run) => RunRecord::go_on(&store, run, opened.real, &opened.findings)?,
        None => undertaking.begin(&store, &opened)?,
    };
    let run = record.id();
    notice(format_args!("Run {run}: {} on {}", undertaking.plan().title, opened.identity));
    undertaking.guard(&record)?;
    record.keep_health(Moment::Before, opened.subject.health())?;
    let done = undertaking.carry_out(record, &mut opened);
    // What went wrong on the way is told before that the drive could not be looked at afterwards.
    let looked = record.keep_health(Moment::After, opened.subject.health());
    done.map_err(|broken| {
        let (words, kept) = (broken.words(run), record.kept().map_or(0, |kept| kept.len()));
        let resume = match broken.reason.would_recur() {
            true => String::new(),
            false => format!("`{}` goes on with it, ", again(run, &opened.name)),
        };
        let words = format!(
            "{words}; its {kept} finished measurements are kept. {resume}`assay report {run}` reports what there is."
        );
        failure(&broken, words)
    })?;
    looked?;
    finish(record, &pages)
}

/// What is typed to go on with a run.
fn again(run: RunId, target: &str) -> String {
    match target::is_named_each_time(target) {
        true => format!("assay review {target} --resume {run}"),
        false => format!("assay review --resume {run}"),
    }
}

/// What is to be run, on what.
fn begin(arguments: &Arguments) -> Result<(Opened, Undertaking), Failure> {
    let plan = arguments.plan()?;
    let name = arguments.target();
    if name.starts_with("sim:") && arguments.real.size.is_some() {
        return Err(Failure::usage("--size is for files and devices; a review uses all of a simulated drive"));
    }
    let metering = arguments.power.open(name)?;
    let mut opened = metering.of(target::open(name, &arguments.real, plan.changes_data(), true)?);
    let checked = opened.check(&plan)?;
    opened.ready(&plan, arguments.speed)?;
    tell_cost(arguments, &plan, &opened);
    let (size, direct) = (arguments.real.size, arguments.real.is_direct());
    let seed = Seed::new(arguments.seed);
    let undertaking =
        Undertaking { checked, seed, repeats: arguments.repeats, size, direct, metrics: None, live: false };
    Ok((opened, undertaking))
}

/// Says what a review of something real that is written to will cost, before it is begun.
fn tell_cost(arguments: &Arguments, plan: &Plan, opened: &Opened) {
    if opened.real && plan.changes_data() {
        let place = opened.place(arguments.rated_endurance);
        for sentence in report::forecast::sentences(&forecast(plan, &place)) {
            notice(sentence);
        }
    }
}

/// What goes on, from which run.
fn resume(arguments: &Arguments, which: Which, store: &mut Store) -> Result<(Run, Opened, Undertaking), Failure> {
    let id = cut_off(which, store)?;
    store.own(id)?;
    let run = store.run(id)?;
    if run.state == State::Complete {
        return Err(Failure::usage(format!(
            "run {} is complete, so there is nothing to go on with; `assay report {}` writes its report again",
            run.id, run.id
        )));
    }
    let is_named = check_named(&run, arguments.target.as_deref())?;
    let mut plan = plan_of(&run)?;
    if let Some(method) = arguments.purge {
        plan.purge_by(method);
    }
    lab::Traces::within(Within::folder(Path::new("")).allowing(&arguments.allow_path)).give(&mut plan)?;
    let options =
        RealOptions { resume: true, size: run.size, direct: Some(u8::from(run.direct)), ..arguments.real.clone() };
    let (power, lack) = arguments.power.or_of(&run);
    let metering = power.open(&run.target)?.going_on(store, id)?;
    let mut opened = metering.of(target::open(&run.target, &options, plan.changes_data(), true)?);
    if !is_named {
        check_opened(&run, &opened)?;
    }
    lack.iter().for_each(notice);
    opened.findings.extend(lack);
    if run.target_fingerprint.is_none() && opened.identity != run.target_identity {
        return Err(changed(&run, &run.target_identity, &opened.identity));
    }
    check_drive(store, &run, &opened)?;
    let checked = opened.check(&plan)?;
    opened.ready(&plan, arguments.speed)?;
    let (seed, repeats, size, direct) = (run.seed, run.repeats, run.size, run.direct);
    let undertaking = Undertaking { checked, seed, repeats, size, direct, metrics: None, live: false };
    Ok((run, opened, undertaking))
}

/// The run to go on with: without a number the latest review that has not come to its end.
fn cut_off(which: Which, store: &Store) -> Result<RunId, Failure> {
    if let Which::Number(id) = which {
        return Ok(id);
    }
    let is_review = |run: &&Run| run.plan != SINGLE;
    let runs = store.runs()?;
    let reviews = || runs.iter().rev().filter(is_review);
    match (reviews().find(|run| run.state != State::Complete), reviews().next()) {
        (Some(run), _) => Ok(run.id),
        (None, Some(latest)) => Err(Failure::usage(format!(
            "every review in the store is complete, so there is nothing to go on with; `assay report {}` writes the \
             latest one's report again",
            latest.id
        ))),
        (None, None) => Err(Failure::usage("the store has no review yet; `assay review` makes the first")),
    }
}

/// Makes sure, before anything opens the target, that it is the one that the run was on, and that it was named on the
/// command line unless a store may choose it: a simulated drive of ours, or a file that bears assay's mark. Whether it was
/// named.
fn check_named(run: &Run, named: Option<&str>) -> Result<bool, Failure> {
    let target = &run.target;
    if let Some(named) = named.filter(|named| absolute(named) != *target) {
        return Err(Failure::usage(format!(
            "run {} was on {target}, not on {named}; name that to go on with it",
            run.id
        )));
    }
    let (is_named, is_real) = (named.is_some(), !target.starts_with("sim:"));
    if !is_named && target::is_named_each_time(target) {
        return Err(unnamed(run, "a device or a drive's file"));
    }
    if is_real {
        check_same(run)?;
    }
    if is_named || !is_real {
        return Ok(is_named);
    }
    let mark = host::open::handle(Path::new(target)).map(|handle| Mark::of(&handle));
    match (&run.target_fingerprint, mark) {
        (None, _) => Err(unnamed(run, "a file of which the store does not say what tells it from others")),
        (Some(_), Ok(Mark::Fits | Mark::Writing)) => Ok(false),
        (Some(_), _) => Err(unnamed(run, "a file that does not bear assay's mark")),
    }
}

/// Why a run does not go on with a target that the store alone names.
fn unnamed(run: &Run, what: &str) -> Failure {
    Failure::usage(format!(
        "run {id} was on {target}, {what}, and that stands in the store alone; if you mean it, name it, with a meter by \
         --power where it had one: `assay review {target} --resume {id}`",
        id = run.id,
        target = run.target
    ))
}

/// Makes sure that a target which the store names is, now that it is open, what was checked by its name.
fn check_opened(run: &Run, opened: &Opened) -> Result<(), Failure> {
    let (Some(handle), Some(was)) = (opened.subject.handle(), &run.target_fingerprint) else { return Ok(()) };
    let found = fingerprint::of_open(handle).map_err(Failure::failed)?;
    if found == *was { Ok(()) } else { Err(changed(run, was, &found)) }
}

/// Makes sure that a simulated drive is still what the run began on: the steps that change its state are done again, and the
/// figures that are kept were measured on that drive.
fn check_drive(store: &Store, run: &Run, opened: &Opened) -> Result<(), Failure> {
    let Some(text) = store.drive(run.id)? else { return Ok(()) };
    let was = DriveRecord::from_json(run.id, &text)?;
    match opened.subject.drive_record().is_some_and(|is| is.files == was.files) {
        true => Ok(()),
        false => Err(changed(run, "the drive as the run keeps it", "one whose description has changed since")),
    }
}

/// Makes sure that a real target is the one that the run was on, before anything opens it to write.
fn check_same(run: &Run) -> Result<(), Failure> {
    let target = &run.target;
    let found = fingerprint::of(Path::new(target)).map_err(|error| {
        Failure::usage(format!(
            "{target}, which run {} was on, cannot be found: {error}; put it back, or begin a new review of another",
            run.id
        ))
    })?;
    match &run.target_fingerprint {
        Some(was) if *was != found => Err(changed(run, was, &found)),
        _ => Ok(()),
    }
}

fn changed(run: &Run, was: &str, found: &str) -> Failure {
    Failure::usage(format!(
        "{target} is not what run {id} was on: that was {was}, this is {found}; put back what was there, or begin a \
         new review of what is there now: `assay review {target}`",
        target = run.target,
        id = run.id
    ))
}

fn finish(record: RunRecord, pages: &Pages) -> Result<(), Failure> {
    let outcome = record.recall()?;
    // First the report: nobody may be there to read the summary.
    let report = Report::of(&outcome);
    let path = write_report_to(&report, &outcome.run, pages)?;
    print_summary(&report, std::io::stdout().is_terminal())?;
    say(&format!("Report: {}\n", path.display()))?;
    judge(&outcome)
}
