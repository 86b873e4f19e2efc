//! A run from its entry in the store to its end.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use block::Seed;
use host::scratch::PLACE;
use host::{Fence, Scratch};
use lab::plan::{Plan, Site};
use lab::{Broken, Checked, LabError, Observers, Outcome, Progress, RunRecord, Session, Show, Tracker, now_ms};
use store::{Annotations, NewRun, RunId, Shard, Store};
use trial::{Cleanup, TrialError, procedure};

use crate::failure::Failure;
use crate::fingerprint;
use crate::interruption;
use crate::live::{View, ViewSource};
use crate::metrics::{Metrics, OpenMetricsSink};
use crate::progress::Bar;
use crate::progress_message::ProgressPublisher;
use crate::target::OpenedTarget;
use crate::terminal::{is_quiet, notice};

pub struct RunRequest {
    /// The plan, of which it is known that it fits the target.
    pub checked: Checked,
    /// Random seed.
    pub seed: Seed,
    /// Repeats a cell where the command line gave them.
    pub repeats: Option<u32>,
    /// How much of a real target is used, where the command line said.
    pub size: Option<block::Bytes>,
    /// Whether a real target's page cache is passed by.
    pub direct: bool,
    /// Where Prometheus finds what goes on, where that is wanted.
    pub metrics: Option<OpenMetricsSink>,
    /// Whether the run is shown on the whole of the terminal.
    pub live: bool,
    /// What people add to it.
    pub annotations: Annotations,
    /// The name of the runs that this command starts, where it starts several.
    pub group: Option<String>,
    /// The part of the plan that is done here, where it is not all.
    pub shard: Option<Shard>,
}

/// How the program ends for a run that broke off, saying `words`: as an interruption where someone asked for the end.
pub fn failure(broken: &Broken, words: String) -> Failure {
    if broken.reason.is_interruption() { Failure::interrupted(words) } else { Failure::failed(words) }
}

/// The name of a target by which it is found from any directory.
pub fn absolute(target: &str) -> String {
    match target.starts_with("sim:") {
        true => target.to_owned(),
        false => std::path::absolute(target).unwrap_or_else(|_| PathBuf::from(target)).display().to_string(),
    }
}

/// Has Ctrl-C end a run on a simulated drive in good time; a real one's requests are waited for.
pub fn insist(record: &RunRecord, opened: &OpenedTarget) -> Result<Option<interruption::Ending>, Failure> {
    let path = || record.store().path().to_owned();
    let ending = (!opened.real).then(|| interruption::insist(record.id(), path())).transpose();
    ending.map_err(Failure::failed)
}

impl RunRequest {
    /// A run of all of the plan as it is, on all of the target, which nobody watches.
    pub fn of(checked: Checked, seed: Seed, direct: bool) -> Self {
        Self {
            checked,
            seed,
            repeats: None,
            size: None,
            direct,
            metrics: None,
            live: false,
            annotations: Annotations::default(),
            group: None,
            shard: None,
        }
    }

    pub fn plan(&self) -> &Plan {
        self.checked.plan()
    }

    /// Whether Ctrl-C sets a flag that the run sees; else it ends the program.
    pub fn ends_in_order(&self, opened: &OpenedTarget) -> bool {
        opened.real || self.plan().has_trials()
    }

    /// Enters the run in the store.
    pub fn begin<'s>(&self, store: &'s Mutex<Store>, opened: &OpenedTarget) -> Result<RunRecord<'s>, Failure> {
        let plan = self.plan();
        let target = absolute(&opened.name);
        let fingerprint = opened.real.then(|| fingerprint::of(Path::new(&target)).ok()).flatten();
        let run = NewRun {
            plan: plan.name.clone(),
            plan_text: plan.text.clone(),
            quick: plan.quick,
            simulated: plan.simulated,
            target,
            target_identity: opened.identity.clone(),
            target_fingerprint: fingerprint,
            direct: self.direct,
            size: self.size,
            capacity: Some(opened.subject.capacity()),
            drive: opened.subject.drive_record().map(|drive| drive.to_json()),
            seed: self.seed,
            repeats: self.repeats,
            started_ms: now_ms(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("ASSAY_COMMIT").to_owned(),
            environment: serde_json::to_string(&opened.environment).expect("names, numbers and lists always serialise"),
            annotations: self.annotations.clone(),
            group: self.group.clone(),
            shard: self.shard,
        };
        Ok(RunRecord::begin(store, &run, &opened.findings)?)
    }

    /// From now on a process of its own undoes what this one has changed on the machine, and enters why it was killed, should
    /// it be.
    pub fn guard(&self, record: &RunRecord) -> Result<(), Failure> {
        if !self.plan().has_trials() {
            return Ok(());
        }
        let program = std::env::current_exe().map_err(Failure::failed)?;
        let store = std::path::absolute(record.store().path()).map_err(Failure::failed)?;
        let store =
            store.to_str().ok_or_else(|| Failure::usage("the store's path is no text; name another by --store"))?;
        Cleanup::guarded_by(&program, &["--store", store, "aftermath", &record.id().to_string()]);
        Ok(())
    }

    /// Carries the plan out, from wherever the store says it got to, and enters how it ended.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn carry_out(&self, record: RunRecord, opened: &mut OpenedTarget) -> Result<(), Box<Broken>> {
        self.carry_out_observed(record, opened, &Observers::new())
    }

    /// The same where these hear of the requests that are measured.
    ///
    /// # Errors
    /// As there.
    pub fn carry_out_observed(
        &self,
        record: RunRecord,
        opened: &mut OpenedTarget,
        observers: &Observers,
    ) -> Result<(), Box<Broken>> {
        let (run, plan) = (record.id(), self.plan());
        let teller = record.store().teller(run);
        let is_whole = record.kept().is_ok_and(|kept| kept.is_empty());
        let labels = || {
            let named = [("run", run.to_string()), ("plan", plan.name.clone()), ("target", opened.name.clone())];
            named.into_iter().chain([("version", env!("CARGO_PKG_VERSION").to_owned())]).collect()
        };
        let progress = Progress::of(plan, record.course_like());
        let metrics = self.metrics.as_ref().and_then(|outlet| Metrics::new(outlet, labels(), &progress));
        if let Some(time) = opened.rest {
            notice(format_args!("Measuring idle power for {time}"));
            opened.subject.meter_rest(time);
        }
        let view = self.live.then(|| self.view(run, opened, &progress)).flatten();
        let bar = view.is_none().then(Bar::new);
        let crier = teller.map(ProgressPublisher::new);
        let metrics = metrics.iter().map(|one| one as &dyn Show);
        let shows = metrics.chain(bar.iter().map(|one| one as &dyn Show));
        let tracker = Tracker::new(&progress, shows.chain(crier.iter().map(|one| one as &dyn Show)).collect());
        let done = self.behind_fence(record, opened, observers, &tracker);
        // Before the store says that it is complete: nobody goes on with a run that is.
        opened.subject.settle();
        let course = is_whole.then(|| progress.course());
        tracker.finish();
        drop(view);
        record.end(done, course.as_ref())
    }

    /// The same within another program, which sees itself to what is shown.
    ///
    /// # Errors
    /// As there.
    pub fn carry_out_shown(
        &self,
        record: RunRecord,
        opened: &mut OpenedTarget,
        show: &dyn Show,
    ) -> Result<(), Box<Broken>> {
        let progress = Progress::of(self.plan(), record.course_like());
        let tracker = Tracker::new(&progress, vec![show]);
        let done = match opened.real {
            true => self.behind_fence(record, opened, &Observers::new(), &tracker),
            // It writes to no file, and what a program of threads runs side by side cannot share one fence.
            false => Session::of(record, &self.checked, self.seed, &tracker)
                .and_then(|session| session.carry_out(opened.subject.as_mut(), false)),
        };
        opened.subject.settle();
        tracker.finish();
        record.end(done, Some(&progress.course()))
    }

    /// Carries the plan out where nothing can be written to but what it is carried out on.
    fn behind_fence(
        &self,
        record: RunRecord,
        opened: &mut OpenedTarget,
        observers: &Observers,
        tracker: &Tracker,
    ) -> Result<(), LabError> {
        let (fence, _gathered) = fence(opened, self.plan())?;
        let (subject, is_real) = (opened.subject.as_mut(), opened.real);
        fence.around(|| {
            let session = Session::of(record, &self.checked, self.seed, tracker)?;
            session.observed_by(observers.clone()).shard(self.shard).carry_out(subject, is_real)
        })
    }

    /// Takes the terminal to show the run there. Where that cannot be done it is said, and the run goes on as it would have.
    fn view(&self, run: RunId, opened: &OpenedTarget, progress: &Progress) -> Option<View> {
        let scene = ViewSource {
            title: format!("Run {run}: {} on {}", self.plan().title, opened.identity),
            target: opened.real.then(|| (Path::new(&opened.name), opened.subject.thermometer())),
            progress: progress.clone(),
        };
        let told = |why: &String| notice(format_args!("--live is not available: {why}; the run continues without it"));
        if is_quiet() { None } else { View::open(scene).inspect_err(told).ok() }
    }
}

/// What carrying out a plan may write to: the target, and for trials the folders that are theirs, with the one that gathers
/// what is else made for them. The store is open by now, and outputs are written from outside.
fn fence(opened: &OpenedTarget, plan: &Plan) -> Result<(Fence, Option<Scratch>), TrialError> {
    let target = opened.subject.handle();
    let mut fence = target.map_or_else(Fence::new, |target| Fence::new().handle(target));
    let works = plan.steps.iter().map(|step| step.work(&Site::ANY));
    for trials in works.filter_map(|work| work.trials()) {
        fence = procedure(trials.experiment).folders()?.iter().fold(fence, |fence, folder| fence.folder(folder));
    }
    if !plan.has_trials() {
        return Ok((fence, None));
    }
    let gathered = Scratch::gather().map_err(TrialError::at(PLACE))?;
    Ok((fence.folder(gathered.path()), Some(gathered)))
}

/// Says that what was asked of a finished run was not done in full, because requests failed or data was damaged.
///
/// # Errors
/// With how many; the figures are kept, and marked.
pub fn judge(outcome: &Outcome) -> Result<(), Failure> {
    let run = outcome.run.id;
    let (mut failed, mut damaged) = (0, 0);
    for measurement in outcome.steps.iter().flat_map(|step| &step.points).flat_map(|point| point.rounds()) {
        failed += measurement.failures.total();
        damaged += measurement.verified.as_ref().map_or(0, |verified| verified.damaged);
    }
    let told = |count: u64, noun: &str, verb: &str| (count > 0).then(|| format!("{count} {noun} {verb}"));
    let all = [told(failed, "requests", "failed"), told(damaged, "blocks", "failed verification")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!("{} in run {run}; its figures are stored with a finding", all.join(", and "))))
}
