//! Carrying out a plan, step by step, keeping each cell as it is finished.

mod apart;
mod backlog;
mod beside;
mod conditioning;
mod measuring;
mod portion;
mod rounds;
mod trials;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

use block::{Bytes, Nanos, Seed};
use drive::Counters;
use engine::{Clock, CurveWindow, LiveProgress, Measurement, Observer};
use rayon::Scope;
use store::{RunId, Shard, Store};
use trial::Trial;
use workload::Workload;

use self::backlog::{Ahead, Apart, Backlog};
use self::portion::Portion;
use crate::conditioning::{STATES, between_states, timed};
use crate::cost::Place;
use crate::fit::{Checked, fits};
use crate::plan::{Cell, Construction, Measure, Passes, Phase, Plan, Step, Work};
use crate::run_record::RunRecord;
use crate::subject::Subject;
use crate::variants::{Lineage, Variants};
use crate::{LabError, Wear, wears};
use host::Clocks;

/// Who wants to know how far a plan has come.
pub trait Watch: Sync {
    /// The plan begins; in all it takes about this long.
    fn begin(&self, whole: Nanos);
    /// This is what is done now.
    fn step(&self, title: &str);
    /// This is what is done now; it was told before, and is done again in another state of the drive.
    fn back(&self, _title: &str) {}
    /// Work that was expected to take this long has been done.
    fn advance(&self, done: Nanos);
    /// A workload has come so far since it began; all rounds of a conditioning are one.
    fn live(&self, _: LiveProgress) {}
    /// So many rounds of a conditioning are over, of which the last show this.
    fn judged(&self, _rounds: u32, _window: Option<CurveWindow>) {}
    /// A simulated drive has done this in all.
    fn did(&self, _: Counters) {}
    /// So many repeats are in the store already.
    fn had(&self, _repeats: u64) {}
    /// A repeat of a cell was measured and is in the store.
    fn kept(&self, _step: &str, _cell: &str, _measurement: &Measurement) {}
    /// A go of a trial is over and in the store.
    fn tried(&self, _step: &str, _cell: &str, _trial: &Trial) {}
    /// There is a doubt about a cell, a step or the whole, and it is in the store.
    fn found(&self, _step: Option<&str>, _cell: Option<&str>, _finding: &str) {}
}

/// Wants to know nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Watch for Silent {
    fn begin(&self, _: Nanos) {}
    fn step(&self, _: &str) {}
    fn advance(&self, _: Nanos) {}
}

/// What is said of a cell whose last repeat ended before its time.
const INTERRUPTED: &str = "The run was interrupted: the last of these measurements is shorter than requested.";

/// Who hears of the requests of jobs: by the step's place in the plan and the job's among those side by side.
pub type Observers<'a> = HashMap<(usize, usize), &'a dyn Observer>;

/// A plan being carried out for a run of the store.
pub struct Session<'a> {
    record: RunRecord<'a>,
    plan: &'a Plan,
    /// Whether it is known that the plan fits its target.
    is_checked: bool,
    seed: Seed,
    watch: &'a dyn Watch,
    observers: Observers<'a>,
    /// What the store has already: step, cell, repeat.
    have: HashSet<(String, String, u32)>,
    /// The IOPS of those whose precision decides how often they are measured, by step and cell.
    known: HashMap<(String, String), Vec<f64>>,
    /// The steps with loads, by their place, once it is known what all of a load is.
    loaded: Vec<OnceLock<Measure>>,
    /// What of the plan is done.
    portion: Portion,
    /// Whether the clones have been made that measurements run on.
    has_cloned: AtomicBool,
    /// What the target does that is not told yet.
    ahead: Ahead,
    /// The first point that has no figures, as no request of it counts, and why.
    unmeasured: Mutex<Option<LabError>>,
}

impl<'a> Session<'a> {
    /// Will carry out what the store does not yet have of `run`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn new(
        store: &'a Mutex<Store>,
        run: RunId,
        plan: &'a Plan,
        seed: Seed,
        watch: &'a dyn Watch,
    ) -> Result<Self, LabError> {
        Self::over(RunRecord::of(store, run), plan, seed, watch)
    }

    /// The same of a plan that is known to fit the target: it is not checked again.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(record: RunRecord<'a>, checked: &'a Checked, seed: Seed, watch: &'a dyn Watch) -> Result<Self, LabError> {
        Ok(Self { is_checked: true, ..Self::over(record, checked.plan(), seed, watch)? })
    }

    fn over(record: RunRecord<'a>, plan: &'a Plan, seed: Seed, watch: &'a dyn Watch) -> Result<Self, LabError> {
        // What was cut short is measured again, whole.
        record.retract(INTERRUPTED)?;
        let have = record.kept()?;
        let until = |step: &Step| step.action.measure().is_some_and(|measure| measure.repeats.until.is_some());
        let is_known = !have.is_empty() && plan.steps.iter().any(until);
        let known = if is_known { record.iops()? } else { HashMap::new() };
        let loaded = plan.steps.iter().map(|_| OnceLock::new()).collect();
        let (observers, has_cloned) = (Observers::new(), AtomicBool::new(false));
        let (portion, ahead, is_checked, unmeasured) = (Portion::default(), Ahead::default(), false, Mutex::default());
        Ok(Self {
            record,
            plan,
            is_checked,
            seed,
            watch,
            observers,
            have,
            known,
            loaded,
            portion,
            has_cloned,
            ahead,
            unmeasured,
        })
    }

    /// The same where these hear of the requests that are measured.
    #[must_use]
    pub fn observed_by(self, observers: Observers<'a>) -> Self {
        Self { observers, ..self }
    }

    /// The same of a shard of the plan; of all of it where there is none.
    #[must_use]
    pub fn shard(self, shard: Option<Shard>) -> Self {
        Self { portion: Portion::of(self.plan, shard), ..self }
    }

    /// Carries out the plan on `subject`, if all of it fits there.
    ///
    /// Steps that change the state of a simulated drive are done again when a run is resumed, because only
    /// their measurements were kept; on a real target its state was kept by the target.
    ///
    /// # Errors
    /// At the first failure, every cell finished before it being in the store. At the end, if no request counts of a point.
    pub fn carry_out(&self, subject: &mut dyn Subject, state_survives: bool) -> Result<(), LabError> {
        if !self.is_checked {
            fits(self.plan, subject)?;
        }
        let mut whole = Lineage::of(subject, "", state_survives);
        self.watch.begin(self.whole_weight(&whole));
        self.watch.had(self.have.len() as u64);
        let resumed_at = if state_survives { self.last_state_change_done() } else { None };
        let steps = &self.plan.steps[..self.portion.steps(self.plan.steps.len())];
        let apart = Apart::default();
        rayon::in_place_scope(|scope| {
            let change = |steps, whole: &mut Lineage| self.change_all(steps, whole, resumed_at, &apart, scope);
            self.carry_out_steps(steps, &mut whole, change)
        })?;
        apart.outcome()?;
        let (place, site) = (&whole.place, whole.subject.site());
        let left = self.plan.steps[steps.len()..].iter();
        left.for_each(|step| self.watch.advance(place.weight(&step.work(&site))));
        let unmeasured = self.unmeasured.lock().expect("nothing panics while it holds an error").take();
        unmeasured.map_or(Ok(()), Err)
    }

    /// Carries out the first steps of the plan; `change` carries out those that change the target's state.
    fn carry_out_steps(
        &self,
        steps: &[Step],
        whole: &mut Lineage,
        change: impl Fn(Range<usize>, &mut Lineage) -> Result<(), LabError> + Sync,
    ) -> Result<(), LabError> {
        let mut variants = Variants::default();
        let (mut index, mut backlog) = (0, None);
        while index < steps.len() {
            let changing = index + steps[index..].iter().take_while(|step| changes(step)).count();
            self.beside(backlog.take(), &mut variants, || change(index..changing, whole))?;
            index = changing;
            match steps.get(index).map(|step| step.action.kind().passes()) {
                Some(Passes::Trials(trials)) => {
                    self.trials(index, trials, whole.subject)?;
                    index += 1;
                }
                Some(_) => {
                    let measured = index
                        + steps[index..].iter().take_while(|step| !changes(step) && sampled(step).is_some()).count();
                    // What changes the target next can go on beside, if something does.
                    let is_left = steps.get(measured).is_some_and(changes);
                    let copy = if is_left { whole.subject.fork(self.groups(index..measured)) } else { None };
                    match copy {
                        Some(copy) => backlog = Some(Backlog { steps: index..measured, copy, written: whole.written }),
                        None => self.measure_all(index..measured, whole, &mut variants)?,
                    }
                    index = measured;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Carries out steps that change the target's state, except those up to `resumed_at` that were done before.
    fn change_all<'s>(
        &'s self,
        steps: Range<usize>,
        whole: &mut Lineage,
        resumed_at: Option<usize>,
        apart: &'s Apart,
        scope: &Scope<'s>,
    ) -> Result<(), LabError> {
        for index in steps {
            let step = &self.plan.steps[index];
            // Rounds and repeats that were cut off go on where they were.
            let goes_on =
                |last| index == last && matches!(step.action.kind().passes(), Passes::Rounds(_) | Passes::Sampled(_));
            if resumed_at.is_some_and(|last| index <= last && !goes_on(last)) {
                self.watch.advance(whole.place.weight(&step.work(&whole.subject.site())));
                continue;
            }
            if !self.do_apart(index, whole, apart, scope)? {
                self.tell_change(&step.title);
                self.change(index, whole)?;
                self.tell_counters(whole);
            }
        }
        Ok(())
    }

    /// Carries out step number `index`, which changes the drive's state.
    fn change(&self, index: usize, lineage: &mut Lineage) -> Result<(), LabError> {
        let step = &self.plan.steps[index];
        let site = lineage.subject.site();
        if let Some(doubt) = step.action.kind().doubt(&site) {
            self.note(Some(&step.name), lineage.cell(), &doubt)?;
        }
        let work = step.work(&site);
        let weight = lineage.share(lineage.place.weight(&work));
        let written = match work.passes {
            Passes::Sampled(measure) if measure.keep_state => self.measure_and_keep(index, lineage)?,
            Passes::Sampled(_) | Passes::Trials(_) => return Ok(()),
            Passes::Once => {
                let mut moved = Bytes::ZERO;
                return work.phases.iter().try_for_each(|phase| {
                    moved += self.once(&step.name, phase, moved, lineage)?;
                    self.tell_counters(lineage);
                    Ok(())
                });
            }
            Passes::Rounds(rounds) => self.rounds(&step.name, rounds, lineage, weight)?,
            Passes::Condition(condition) => self.condition(&step.name, condition, lineage, weight)?,
        };
        if work.wears() {
            lineage.written += written;
            let wear = Wear { written: lineage.written, capacity: lineage.subject.writable() };
            if let (Passes::Condition(_), Some(finding)) = (work.passes, wear.finding()) {
                self.note(Some(&step.name), lineage.cell(), &finding)?;
            }
        }
        Ok(())
    }

    /// Tells what the target has done so far, where it counts that.
    fn tell_counters(&self, lineage: &Lineage) {
        let counters = lineage.subject.counters().filter(|_| lineage.is_heard() && !self.ahead.is_ahead());
        counters.into_iter().for_each(|did| self.watch.did(did));
    }

    /// Carries out a phase of a step that is done once, on the drive itself; how much it moved of what is kept. A workload that is
    /// kept goes on behind those before, which have `moved` so much: to write over what is in a write cache would free it.
    fn once(&self, step: &str, phase: &Phase, moved: Bytes, lineage: &mut Lineage) -> Result<Bytes, LabError> {
        let at = |error: LabError| error.at(step, lineage.changes);
        let weight = lineage.share(lineage.place.phase_weight(phase));
        match phase {
            Phase::Purge(method) => {
                lineage.written = Bytes::ZERO;
                if let Some(finding) = lineage.subject.purge_by(*method).map_err(at)? {
                    self.note(Some(step), lineage.cell(), &finding)?;
                }
                self.watch.advance(weight);
            }
            Phase::Rest(time) => {
                lineage.subject.idle(*time);
                self.watch.advance(weight);
            }
            Phase::Run { cells, keeps, construct } => {
                let [cell @ Cell { workload, .. }] = &cells[..] else { unreachable!("jobs side by side are sampled") };
                let seed = match &cell.key()[..] {
                    "" => self.seed.split(step),
                    key => self.seed.split(step).split(key),
                };
                let made = if *construct { lineage.subject.construct(workload, seed).map_err(at)? } else { None };
                if made.is_some() && wears(workload) {
                    lineage.written += made.as_ref().map_or(Bytes::ZERO, Construction::bytes);
                }
                let left = match &made {
                    Some(Construction { rest: None, .. }) => {
                        self.watch.advance(weight);
                        return Ok(Bytes::ZERO);
                    }
                    Some(Construction { rest: Some(rest), .. }) => rest,
                    None => workload,
                };
                let since = Clocks::now();
                let left = if *keeps { left.resumed(moved) } else { left.clone() };
                let mut done = self.run(lineage, &left, seed, weight).map_err(at)?;
                // It stands for the whole, of which it is the end.
                done.workload = workload.clone();
                if wears(workload) {
                    lineage.written += done.write.bytes;
                }
                self.note_all(step, lineage.changes, done.target_findings())?;
                self.note_disturbances(since, done.clock, step, lineage.changes)?;
                if *keeps {
                    let moved = done.bytes();
                    self.keep_series(step, &cell.key(), lineage, done)?;
                    return Ok(moved);
                }
            }
            Phase::Trial(..) => unreachable!("trials are repeated"),
        }
        Ok(Bytes::ZERO)
    }

    /// The last state-changing step that can be left out because a later measurement is in the store.
    fn last_state_change_done(&self) -> Option<usize> {
        let measured = |name: &str| self.have.iter().any(|(step, _, _)| step == name);
        self.plan.steps.iter().rposition(|step| measured(&step.name))
    }

    /// Runs a workload, telling the watcher of its progress.
    fn run(
        &self,
        lineage: &mut Lineage,
        workload: &Workload,
        seed: Seed,
        cost: Nanos,
    ) -> Result<Measurement, LabError> {
        let told = Mutex::new(Nanos::ZERO);
        let is_heard = lineage.is_heard();
        let tell = |share: f64, now: Option<LiveProgress>| {
            now.into_iter().filter(|_| is_heard).for_each(|now| self.tell_live(now));
            let reached = Nanos::from_nanos((cost.as_nanos() as f64 * share) as u64);
            let mut told = told.lock().expect("nothing panics while it holds the progress");
            self.watch.advance(reached.since(*told));
            *told = reached.max(*told);
        };
        let measurement = lineage.subject.run(workload, seed, &tell)?;
        tell(1.0, None);
        Ok(measurement)
    }

    /// Keeps doubts about a cell.
    fn note_all(&self, step: &str, cell: &str, findings: Vec<String>) -> Result<(), LabError> {
        let cell = Some(cell).filter(|cell| !cell.is_empty());
        findings.iter().try_for_each(|finding| self.note(Some(step), cell, finding))
    }

    /// Keeps what happened to the machine since then, if this was measured by its clock.
    fn note_disturbances(&self, since: Clocks, clock: Clock, step: &str, cell: &str) -> Result<(), LabError> {
        if clock == Clock::Virtual {
            return Ok(());
        }
        let disturbances = since.disturbances(&Clocks::now());
        self.note_all(step, cell, disturbances.iter().map(ToString::to_string).collect())
    }

    fn note(&self, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), LabError> {
        self.record.note(step, cell, text)?;
        self.watch.found(step, cell, text);
        Ok(())
    }

    /// What all of the plan adds to the progress.
    fn whole_weight(&self, lineage: &Lineage) -> Nanos {
        let (place, site) = (&lineage.place, lineage.subject.site());
        let works: Vec<Work> = self.plan.steps.iter().map(|step| step.work(&site)).collect();
        let target: Nanos = works.iter().map(|work| place.weight(work)).sum();
        let groups = (0..works.len()).filter(|&step| step == 0 || !is_sampled(&works[step - 1]));
        let states =
            groups.filter(|&step| is_sampled(&works[step])).map(|step| states_weight(place, &works[..step])).sum();
        let again = self.plan.swept_drives().into_iter().flat_map(|(_, last)| &works[..last]);
        let again = again.filter(|work| !work.passes.leaves_no_trace()).map(|work| place.weight(work));
        let cloned = works.iter().any(|work| matches!(work.passes, Passes::Sampled(_)));
        let cloning = if cloned { place.copying().times(FIRST_CLONE) } else { Nanos::ZERO };
        let target: Nanos = target + states;
        target + cloning + again.map(|weight| Nanos::from_nanos(weight.as_nanos() / place.side_by_side())).sum()
    }
}

/// What it takes to make the states of their own in which repeats are measured behind these steps.
fn states_weight(place: &Place, before: &[Work]) -> Nanos {
    let Some(spare) = place.spare.filter(|_| place.is_simulated) else { return Nanos::ZERO };
    let written = before.iter().fold(Bytes::ZERO, |written, work| match work.purges() {
        Some(_) => Bytes::ZERO,
        None if work.wears() => written + place.cost(work).written.least,
        None => written,
    });
    let amount = between_states(place.capacity, spare);
    if written < amount { Nanos::ZERO } else { place.redrawing(amount, timed(amount)).times(u64::from(STATES) - 1) }
}

/// The sweep of a step that is measured on clones.
fn sampled(step: &Step) -> Option<&Measure> {
    if let Passes::Sampled(measure) = step.action.kind().passes() { Some(measure) } else { None }
}

/// Whether a step changes the target's state.
fn changes(step: &Step) -> bool {
    !step.action.kind().passes().leaves_no_trace()
}

fn is_sampled(work: &Work) -> bool {
    matches!(work.passes, Passes::Sampled(Measure { keep_state: false, .. }))
}

/// How much longer the first clone of a drive takes than one that takes an old one's place. Source: measured on simulated
/// drives of 80 and 500 GB; the memory is touched for the first time.
const FIRST_CLONE: u64 = 18;

fn unaligned(found: Bytes, needed: Bytes) -> String {
    format!("Not measured: requests of {found} are not multiples of the target's {needed} blocks.")
}
