//! `assay review`: a whole plan on a target, and its report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use block::{Endurance, Seed, parse_endurance};
use clap::{Args as _, FromArgMatches as _};
use host::{FileMark, Within};
use lab::forecast::forecast;
use lab::plan::{self, Plan, PlanLength, catalog};
use lab::{DriveRecord, LabError, Outcome, PurgeMethod, RunRecord, plan_of};
use report::Report;
use store::{Annotations, HealthMoment, Run, RunId, RunState, Shard, Sharding, Store};

use super::history::{Which, print_summary, write_report_to};
use super::many::{ManyOptions, MemberNews, MemberOrder, Resume};
use super::page;
use crate::annotations::AnnotationOptions;
use crate::format::Format;
use crate::interruption;
use crate::metrics;
use crate::number;
use crate::outputs::ReportFolder;
use crate::power::PowerOptions;
use crate::run_request::{RunRequest, absolute, failure, judge};
use crate::target::{self, Cpus, OpenedTarget, RealOptions};
use crate::terminal::{notice, say};
use crate::{failure::Failure, fingerprint};

/// The name of the plan of a single workload, which `assay run` makes.
pub const SINGLE: &str = "run";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What to review: sim:DRIVE, a file or a block device [default: sim:x25-m]. Several are a group of runs;
    /// sim:p5520#1..24 stands for 24 specimens
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// The plan to follow: a name of `assay plans`, or a file
    #[arg(long, value_name = "PLAN", default_value = "review")]
    plan: String,

    /// Shorten durations and repeats; the report says so
    #[arg(long)]
    pub quick: bool,

    /// On a simulated drive, use the plan's durations for real devices
    #[arg(long)]
    pub full_length: bool,

    #[command(flatten)]
    pub real: RealOptions,

    #[command(flatten)]
    power: PowerOptions,

    /// Number of repeats of each measurement [default: the plan's; in `review` 5, and up to 15 until IOPS are within ±2
    /// %]
    #[arg(long, value_parser = number::within::<u32>(1..=1000))]
    pub repeats: Option<u32>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = number::seed)]
    pub seed: u64,

    /// The folder for the report
    #[arg(long, value_name = "DIR", default_value = "assay-reports")]
    out: PathBuf,

    /// Continue an interrupted review with its original options: the latest, the run with this number, or all of a group
    /// that is not complete. A device, a drive's file and meters (--power) must be named again
    #[arg(long, value_name = "RUN|GROUP", num_args = 0..=1, default_missing_value = "last",
        conflicts_with_all = ["plan", "quick", "full_length", "repeats", "seed", "size", "direct"])]
    pub resume: Option<Resume>,

    #[command(flatten)]
    pub many: ManyOptions,

    /// Do a part of the measurements: I/N, such as 3/64; slurm (a task of a job array); kubernetes/N (a pod of an indexed
    /// job). `assay merge` makes one run of the N stores
    #[arg(long, value_name = "I/N", value_parser = crate::shard::read, conflicts_with_all = ["resume", "dry_run"])]
    pub shard: Option<Shard>,

    /// Print what each step does, the data it writes and its duration, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,

    #[command(flatten)]
    pub annotations: AnnotationOptions,

    /// Output format: the summary and where the report is, or the run as `assay show --format json` has it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Purge method of a real drive: discard, secure-erase, nvme-format, sanitize, or none [default: the plan's,
    /// discard in `review`]
    #[arg(long, value_name = "METHOD")]
    pub purge: Option<PurgeMethod>,

    /// Attach a simulated drive at this speed relative to real time and scale figures back: 0.25 for a drive that is
    /// faster than the attachment
    #[arg(long, value_name = "FACTOR", value_parser = target::speed)]
    pub speed: Option<f64>,

    /// Export metrics for Prometheus: to a file for the textfile collector, rewritten about once a second (assay.prom),
    /// or on an HTTP address (127.0.0.1:9187)
    #[arg(long, value_name = "FILE|ADDRESS:PORT")]
    metrics: Option<metrics::MetricsSink>,

    /// Allow --metrics on an address that other machines reach, under any host name
    #[arg(long)]
    metrics_public: bool,

    /// Full-screen live view: charts, IOPS, latencies, drive counters, findings
    #[arg(long)]
    pub live: bool,

    /// Allow the plan to read traces from this folder as well as its own; may be given several times
    #[arg(long, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,

    /// Rated endurance of the drive (TBW) from its data sheet: 150TB, 1.2PB
    #[arg(long, value_name = "TBW", value_parser = parse_endurance)]
    pub rated_endurance: Option<Endurance>,

    /// What this process does of a review of several drives.
    #[arg(skip)]
    pub member: Option<MemberOrder>,
}

impl Arguments {
    /// A review of this target by this plan, with all else as where nothing else is typed.
    pub fn of(target: &str, plan: &str) -> Self {
        let command = Self::augment_args(clap::Command::new("review").no_binary_name(true));
        let words = [&format!("--plan={plan}"), "--", target];
        let matches = command.try_get_matches_from(words).expect("both are texts, and nothing else is needed");
        Self::from_arg_matches(&matches).expect("clap has checked it")
    }

    /// What to review.
    pub fn target(&self) -> &str {
        self.targets.first().map_or(target::DEFAULT, String::as_str)
    }

    /// The folder for the reports.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Whether metrics are asked for.
    pub const fn is_metered(&self) -> bool {
        self.metrics.is_some()
    }

    /// Whether requests are made by calls that a device may never end.
    pub fn waits_in_calls(&self) -> bool {
        self.targets.iter().any(|target| self.real.waits_in_calls(target, false))
    }

    /// Whether a power meter is named.
    pub fn has_power(&self) -> bool {
        self.power.is_given()
    }

    /// What is asked of one drive, of what is asked of all.
    pub fn of_member(mut self, member: MemberOrder) -> Self {
        self.targets = vec![member.target.clone()];
        self.resume = member.resume.map(|run| Resume::Run(Which::Number(run)));
        self.real = self.real.consenting(member.consent.then(|| PathBuf::from(&member.target)));
        if !member.target.starts_with("sim:") {
            self.real.use_processors(Cpus::of(&member.workers));
        }
        self.member = Some(member);
        self
    }

    /// The group that the run is one of.
    fn group(&self) -> Option<String> {
        self.member.as_ref().map(|member| member.group.clone()).or_else(|| self.many.group.clone())
    }

    /// The plan to follow, with all that it names.
    pub fn plan(&self) -> Result<Plan, Failure> {
        let source = catalog::find(&self.plan)?;
        let length = PlanLength::of(self.quick, self.target().starts_with("sim:") && !self.full_length);
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
pub fn run(arguments: &Arguments, store: Store) -> Result<(), Failure> {
    let pages = ReportFolder::checked(&arguments.out)?;
    told(arguments, store, |outcome| finish(outcome, &pages, arguments))
}

/// Runs the review, and has `tell` say what came of it.
pub fn told(
    arguments: &Arguments,
    mut store: Store,
    tell: impl FnOnce(&Outcome) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let metrics = arguments.metrics.as_ref().map(|place| place.open(arguments.metrics_public)).transpose()?;
    let (begun, mut opened, undertaking) = match arguments.resume {
        Some(Resume::Run(which)) => {
            let (run, opened, undertaking) = resume(arguments, which, &mut store)?;
            (Some(run), opened, undertaking)
        }
        Some(Resume::Group(_)) | None => {
            let like = arguments.member.as_ref().and_then(|member| member.like);
            let like = like.map(|run| store.run(run)).transpose()?;
            begin(arguments, like.as_ref()).map(|(opened, undertaking)| (None, opened, undertaking))?
        }
    };
    if let Some(member) = &arguments.member {
        opened.findings.extend(member.findings.clone());
        opened.environment.beside = member.beside.clone();
    }
    let undertaking = RunRequest { metrics, live: arguments.live, ..undertaking };
    let store = Mutex::new(store);
    let record = match &begun {
        Some(run) => RunRecord::go_on(&store, run, opened.real, &opened.findings)?,
        None => undertaking.begin(&store, &opened)?,
    };
    let run = record.id();
    notice(format_args!("Run {run}: {} on {}", undertaking.plan().title, opened.identity));
    if arguments.member.is_some() {
        MemberNews { run }.tell()?;
    }
    undertaking.guard(&record)?;
    // Asked while the target is there: a drive may be gone at the end.
    let again = again(run, &opened.name);
    if !undertaking.ends_in_order(&opened) {
        let path = record.store().path().to_owned();
        interruption::announce(run, path, Some(again.clone())).map_err(Failure::failed)?;
    }
    record.keep_health(HealthMoment::Before, opened.subject.health())?;
    let done = undertaking.carry_out(record, &mut opened);
    // What went wrong on the way is told before that the drive could not be looked at afterwards.
    let looked = record.keep_health(HealthMoment::After, opened.subject.health());
    done.map_err(|broken| {
        let (words, kept) = (broken.words(run), record.kept().map_or(0, |kept| kept.len()));
        let resume = match broken.reason.would_recur() {
            true => String::new(),
            false => format!("`{again}` continues it, "),
        };
        let words = format!(
            "{words}; its {kept} finished measurements are stored. {resume}`assay report {run}` writes a report of them."
        );
        failure(&broken, words)
    })?;
    looked?;
    let outcome = record.recall()?;
    tell(&outcome)?;
    judge(&outcome)
}

/// What is typed to go on with a run.
fn again(run: RunId, target: &str) -> String {
    match target::is_named_each_time(target) {
        true => format!("assay review {target} --resume {run}"),
        false => format!("assay review --resume {run}"),
    }
}

/// What is to be run, on what.
pub fn begin(arguments: &Arguments, like: Option<&Run>) -> Result<(OpenedTarget, RunRequest), Failure> {
    let mut arguments = arguments.clone();
    let plan = match like {
        Some(run) => {
            arguments.real.size = run.size;
            arguments.real.direct = Some(u8::from(run.direct));
            (arguments.seed, arguments.repeats) = (run.seed.get(), run.repeats);
            let mut plan = plan_of(run)?;
            lab::Traces::within(Within::folder(Path::new("")).allowing(&arguments.allow_path)).give(&mut plan)?;
            plan
        }
        None => arguments.plan()?,
    };
    let name = arguments.target();
    if name.starts_with("sim:") && arguments.real.size.is_some() {
        return Err(Failure::usage("--size is for files and devices; a review uses the whole simulated drive"));
    }
    let metering = arguments.power.open(name)?;
    let mut opened = metering.of(target::open(name, &arguments.real, plan.changes_data(), true)?);
    let checked = opened.check(&plan)?;
    opened.ready(&plan, arguments.speed)?;
    tell_cost(&arguments, &plan, &opened);
    let undertaking = RunRequest {
        repeats: arguments.repeats,
        size: arguments.real.size,
        annotations: arguments.annotations.on(Annotations::default()),
        group: arguments.group(),
        shard: arguments.shard,
        ..RunRequest::of(checked, Seed::new(arguments.seed), arguments.real.is_direct())
    };
    Ok((opened, undertaking))
}

/// Says what a review of something real that is written to will cost, before it is begun.
fn tell_cost(arguments: &Arguments, plan: &Plan, opened: &OpenedTarget) {
    if opened.real && plan.changes_data() {
        let place = opened.place(arguments.rated_endurance);
        for sentence in report::forecast::sentences(&forecast(plan, &place)) {
            notice(sentence);
        }
    }
}

/// What goes on, from which run.
fn resume(arguments: &Arguments, which: Which, store: &mut Store) -> Result<(Run, OpenedTarget, RunRequest), Failure> {
    let id = cut_off(which, store)?;
    store.own(id)?;
    let run = store.run(id)?;
    if let Some(Sharding::Whole { count }) = run.sharding {
        return Err(Failure::usage(format!(
            "run {} is made of {count} shards; resume those in their own stores, or do them again, and merge the stores again",
            run.id
        )));
    }
    let named = arguments.targets.first().map(String::as_str);
    // A drive that is found under another name is the drive that it was.
    let now = named.filter(|named| fingerprint::is_drive_of(&run, named)).map(absolute);
    let run = Run { target: now.unwrap_or_else(|| run.target.clone()), ..run };
    if run.state == RunState::Complete {
        return Err(Failure::usage(format!(
            "run {} is complete, so there is nothing to resume; `assay report {}` writes its report again",
            run.id, run.id
        )));
    }
    let is_named = check_named(&run, named)?;
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
    if !arguments.annotations.is_empty() {
        store.annotate(id, &arguments.annotations.on(run.annotations.clone()))?;
    }
    let checked = opened.check(&plan)?;
    opened.ready(&plan, arguments.speed)?;
    let (seed, repeats, size, direct) = (run.seed, run.repeats, run.size, run.direct);
    let annotations = arguments.annotations.on(run.annotations.clone());
    let shard = match run.sharding {
        Some(Sharding::Shard { shard, .. }) => Some(shard),
        _ => None,
    };
    let undertaking = RunRequest { repeats, size, annotations, shard, ..RunRequest::of(checked, seed, direct) };
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
    match (reviews().find(|run| run.state != RunState::Complete), reviews().next()) {
        (Some(run), _) => Ok(run.id),
        (None, Some(latest)) => Err(Failure::usage(format!(
            "every review in the store is complete, so there is nothing to resume; `assay report {}` writes the \
             latest one's report again",
            latest.id
        ))),
        (None, None) => Err(Failure::usage("the store has no reviews; `assay review` creates the first")),
    }
}

/// Makes sure, before anything opens the target, that it is the one that the run was on, and that it was named on the
/// command line unless a store may choose it: a simulated drive of ours, or a file that bears assay's mark. Whether it was
/// named.
fn check_named(run: &Run, named: Option<&str>) -> Result<bool, Failure> {
    let target = &run.target;
    if let Some(named) = named.filter(|named| absolute(named) != *target) {
        return Err(Failure::usage(format!(
            "run {} was on {target}, not on {named}; name that target to resume it",
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
    let mark = host::open::handle(Path::new(target)).map(|handle| FileMark::of(&handle));
    match (&run.target_fingerprint, mark) {
        (None, _) => Err(unnamed(run, "a file that the store cannot identify")),
        (Some(_), Ok(FileMark::Fits | FileMark::Writing)) => Ok(false),
        (Some(_), _) => Err(unnamed(run, "a file without assay's mark")),
    }
}

/// Why a run does not go on with a target that the store alone names.
fn unnamed(run: &Run, what: &str) -> Failure {
    Failure::usage(format!(
        "run {id} was on {target}, {what}, which only the store names; to resume, name the target, and its meter with --power if it had one: `assay review {target} --resume {id}`",
        id = run.id,
        target = run.target
    ))
}

/// Makes sure that a target which the store names is, now that it is open, what was checked by its name.
fn check_opened(run: &Run, opened: &OpenedTarget) -> Result<(), Failure> {
    let (Some(handle), Some(was)) = (opened.subject.handle(), &run.target_fingerprint) else { return Ok(()) };
    let found = fingerprint::of_open(handle).map_err(Failure::failed)?;
    if found == *was { Ok(()) } else { Err(changed(run, was, &found)) }
}

/// Makes sure that a simulated drive is still what the run began on: the steps that change its state are done again, and the
/// figures that are kept were measured on that drive.
fn check_drive(store: &Store, run: &Run, opened: &OpenedTarget) -> Result<(), Failure> {
    let Some(text) = store.drive(run.id)? else { return Ok(()) };
    let was =
        DriveRecord::from_json(&text).map_err(|error| LabError::Drive { run: run.id, reason: format!("{error}") })?;
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
            "the target {target} of run {} cannot be found: {error}; restore it, or start a new review",
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
        "{target} is not the target of run {id}: that was {was}, this is {found}; restore the former, or start a new review: `assay review {target}`",
        target = run.target,
        id = run.id
    ))
}

fn finish(outcome: &Outcome, pages: &ReportFolder, arguments: &Arguments) -> Result<(), Failure> {
    // First the report: nobody may be there to read the summary.
    let report = Report::of(outcome);
    let path = write_report_to(&report, &outcome.run, pages)?;
    if arguments.member.is_some() {
        return Ok(());
    }
    match arguments.format {
        Format::Text => {
            print_summary(&report, std::io::stdout().is_terminal())?;
            say(&format!("{}\n", page::line(&path)))
        }
        Format::Json => {
            say(&report::export::review_json(outcome))?;
            notice(page::line_on_stderr(&path));
            Ok(())
        }
    }
}
