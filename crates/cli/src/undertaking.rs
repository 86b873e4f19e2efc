//! A run from its entry in the store to its end.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use block::Seed;
use host::scratch::PLACE;
use host::{Fence, Scratch};
use lab::plan::{Action, Cell, Plan, Point, Step};
use lab::{LabError, Session, Timed, Watch};
use store::{Moment, NewRun, Run, RunId, State, Store, StoreError};
use trial::TrialError;

use crate::bulletin::Crier;
use crate::failure::Failure;
use crate::fingerprint;
use crate::live::{Scene, View};
use crate::metrics::{Metrics, Outlet, Watchers};
use crate::progress::Progress;
use crate::target::Opened;
use crate::terminal::{is_quiet, notice};

/// What is to be run.
pub struct Undertaking<'a> {
    /// The plan, as it will be carried out.
    pub plan: &'a Plan,
    /// Seed of all random choices.
    pub seed: Seed,
    /// Repeats a cell where the command line gave them.
    pub repeats: Option<u32>,
    /// How much of a real target is used, where the command line said.
    pub size: Option<block::Bytes>,
    /// Whether a real target's page cache is passed by.
    pub direct: bool,
    /// Where Prometheus finds what goes on, where that is wanted.
    pub metrics: Option<Outlet>,
    /// Whether the run is shown on the whole of the terminal.
    pub live: bool,
}

/// Why a run did not come to its end, and whether the store knows.
pub struct Broken {
    /// What went wrong.
    pub reason: LabError,
    /// Why the store could not be told how the run ended, if it could not: then the run is listed as unfinished.
    pub untold: Option<StoreError>,
}

impl Broken {
    /// What went wrong, and what became of the run.
    pub fn words(&self, run: RunId) -> String {
        let reason = &self.reason;
        match &self.untold {
            None => format!("{reason}\nRun {run} is marked failed"),
            Some(error) => {
                format!("{reason}\nRun {run} stays marked unfinished, as its end could not be stored: {error}")
            }
        }
    }

    /// How the program ends for it, saying `words`: as an interruption where someone asked for the end.
    pub fn failure(&self, words: String) -> Failure {
        if self.reason.is_interruption() { Failure::interrupted(words) } else { Failure::failed(words) }
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The name of a target by which it is found from any directory.
pub fn absolute(target: &str) -> String {
    match target.starts_with("sim:") {
        true => target.to_owned(),
        false => std::path::absolute(target).unwrap_or_else(|_| PathBuf::from(target)).display().to_string(),
    }
}

impl Undertaking<'_> {
    /// Enters the run in the store.
    pub fn begin(&self, store: &mut Store, opened: &Opened) -> Result<RunId, Failure> {
        let target = absolute(&opened.name);
        let fingerprint = opened.real.then(|| fingerprint::of(Path::new(&target)).ok()).flatten();
        let run = store.begin(&NewRun {
            plan: self.plan.name.clone(),
            plan_text: self.plan.text.clone(),
            quick: self.plan.quick,
            simulated: self.plan.simulated,
            target,
            target_identity: opened.identity.clone(),
            target_fingerprint: fingerprint,
            direct: self.direct,
            size: self.size,
            seed: self.seed,
            repeats: self.repeats,
            started_ms: now_ms(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("ASSAY_COMMIT").to_owned(),
            environment: serde_json::to_string(&opened.environment).expect("names, numbers and lists always serialise"),
        })?;
        note(store, run, &opened.findings)?;
        Ok(run)
    }

    /// Enters that a run of this store goes on, with the doubts that have come up since it began.
    pub fn go_on(store: &mut Store, run: &Run, opened: &Opened) -> Result<(), Failure> {
        note(store, run.id, &opened.findings)?;
        if opened.real
            && let Some(other) = store.runs()?.iter().rfind(|other| other.id > run.id && other.target == run.target)
        {
            let words = format!(
                "Run {} used the target between the parts of this run, so the drive's state changed between earlier \
                 and later steps.",
                other.id
            );
            note(store, run.id, &[words])?;
        }
        Ok(store.reopen(run.id)?)
    }

    /// Looks at the drive's health and keeps what is seen; after the run, with doubts about what it has done to the
    /// drive.
    pub fn keep_health(store: &mut Store, run: RunId, opened: &Opened, moment: Moment) -> Result<(), Failure> {
        let reading = opened.subject.health();
        let text = serde_json::to_string(&reading).expect("names and numbers always serialise");
        store.keep_health(run, moment, &text)?;
        if moment == Moment::After {
            note(store, run, &lab::recall(store, run)?.health.findings())?;
        }
        Ok(())
    }

    /// Carries the plan out, from wherever the store says it got to, and enters how it ended. Gives the
    /// store back either way.
    pub fn carry_out(&self, store: Store, run: RunId, opened: &mut Opened) -> (Store, Result<(), Broken>) {
        let teller = store.teller(run);
        // Both are for the time left alone: what cannot be read is as good as not there.
        let like = store.course_like(run).ok().flatten();
        let like = like.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let is_whole = store.keys(run).is_ok_and(|keys| keys.is_empty());
        let store = Mutex::new(store);
        let labels = || {
            let named = [("run", run.to_string()), ("plan", self.plan.name.clone()), ("target", opened.name.clone())];
            named.into_iter().chain([("version", env!("CARGO_PKG_VERSION").to_owned())]).collect()
        };
        let metrics = self.metrics.as_ref().map(|outlet| Metrics::new(outlet, labels()));
        let plan = self.plan.on(opened.subject.capacity());
        if let Some(time) = opened.rest {
            notice(format_args!("Measuring idle power for {time}"));
            opened.subject.meter_rest(time);
        }
        let view = self.live.then(|| self.view(run, opened)).flatten();
        let progress = view.is_none().then(Progress::new);
        let crier = teller.map(Crier::new);
        let watchers = Watchers(
            metrics
                .iter()
                .map(|one| one as &dyn Watch)
                .chain(view.iter().map(|one| one as &dyn Watch))
                .chain(progress.iter().map(|one| one as &dyn Watch))
                .chain(crier.iter().map(|one| one as &dyn Watch))
                .collect(),
        );
        let timed = Timed::new(&watchers, like);
        let fenced = fence(opened, &plan);
        let (subject, is_real) = (opened.subject.as_mut(), opened.real);
        let session = || Session::new(&store, run, &plan, self.seed, &timed)?.carry_out(subject, is_real);
        let done = match fenced {
            Ok((fence, _gathered)) => fence.around(session),
            Err(error) => Err(error.into()),
        };
        // Before the store says that it is complete: nobody goes on with a run that is.
        opened.subject.settle();
        let course = is_whole.then(|| serde_json::to_string(&timed.course()).expect("numbers always serialise"));
        progress.iter().for_each(Progress::finish);
        drop(view);
        metrics.iter().for_each(Metrics::finish);
        let mut store = store.into_inner().expect("nothing panics while it holds the store");
        let kept = |store: &mut Store| course.map_or(Ok(()), |course| store.keep_course(run, &course));
        let ended = match done {
            Ok(()) => match kept(&mut store).and_then(|()| store.finish(run, State::Complete, None, now_ms())) {
                Ok(()) => Ok(()),
                // All was measured; that it could not be entered is what went wrong, and is told as the reason.
                Err(error) => Err(broken(&mut store, run, error.into())),
            },
            Err(reason) => Err(broken(&mut store, run, reason)),
        };
        (store, ended)
    }

    /// Takes the terminal to show the run there. Where that cannot be done it is said, and the run goes on as it would
    /// have.
    fn view(&self, run: RunId, opened: &Opened) -> Option<View> {
        let scene = Scene {
            title: format!("Run {run}: {} on {}", self.plan.title, opened.identity),
            target: opened.real.then(|| (Path::new(&opened.name), opened.subject.thermometer())),
            cells: self.plan.steps.iter().map(|step| (step.name.clone(), cells(step))).collect(),
            ends_in_order: opened.real || self.plan.has_trials(),
        };
        let told = |why: &String| notice(format_args!("--live is not available: {why}; the run continues without it"));
        if is_quiet() { None } else { View::open(scene).inspect_err(told).ok() }
    }
}

/// What carrying out a plan may write to: the target, and for trials the folders that are theirs, with the one that
/// gathers
/// what is else made for them. The store is open by now, and outputs are written from outside.
fn fence(opened: &Opened, plan: &Plan) -> Result<(Fence, Option<Scratch>), TrialError> {
    let target = opened.subject.handle();
    let mut fence = target.map_or_else(Fence::new, |target| Fence::new().handle(target));
    let trials = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Trial(trials) => Some(trials),
        _ => None,
    });
    for trials in trials {
        fence = trials.folders()?.iter().fold(fence, |fence, folder| fence.folder(folder));
    }
    if !plan.has_trials() {
        return Ok((fence, None));
    }
    let gathered = Scratch::gather().map_err(TrialError::at(PLACE))?;
    Ok((fence.folder(gathered.path()), Some(gathered)))
}

/// The cells of a step, in order.
fn cells(step: &Step) -> Vec<String> {
    match &step.action {
        Action::Trial(trials) => trials.points.iter().map(Point::key).collect(),
        action => action.measure().map(|measure| measure.cells.iter().map(Cell::key).collect()).unwrap_or_default(),
    }
}

/// Says that what was asked of a finished run was not done in full, because requests failed or data was damaged.
///
/// # Errors
/// With how many; the figures are kept, and marked.
pub fn judge(store: &Store, run: RunId) -> Result<(), Failure> {
    let (mut failed, mut damaged) = (0, 0);
    for stored in store.measured(run)? {
        failed += stored.measurement.failures.total();
        damaged += stored.measurement.verified.map_or(0, |verified| verified.damaged);
    }
    let told = |count: u64, noun: &str, verb: &str| (count > 0).then(|| format!("{count} {noun} {verb}"));
    let all = [told(failed, "requests", "failed"), told(damaged, "blocks", "failed verification")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!("{} in run {run}; its figures are stored with a finding", all.join(", and "))))
}

/// Enters that the run failed, as far as that can be done.
fn broken(store: &mut Store, run: RunId, reason: LabError) -> Broken {
    let untold = store.finish(run, State::Failed, Some(&reason.to_string()), now_ms()).err();
    Broken { reason, untold }
}

/// Keeps doubts about a run as a whole.
fn note(store: &mut Store, run: RunId, findings: &[String]) -> Result<(), Failure> {
    for finding in findings {
        store.note(run, None, None, finding)?;
    }
    Ok(())
}
