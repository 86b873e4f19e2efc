//! So many drives at a time, each in a process and on cores of its own.

use std::collections::VecDeque;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;

use host::{Core, CorePool, SideBySide};
use store::Store;

use super::super::review::Arguments;
use super::drives::ManyDrive;
use super::member::Member;
use super::order::MemberOrder;
use super::view::View;
use crate::failure::Failure;
use crate::interruption;
use crate::progress_message::ProgressMessage;

/// How often the processes are looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Drives that are reviewed in one group, so many at a time.
#[derive(Clone, Debug)]
pub struct Phase {
    pub group: String,
    jobs: usize,
    drives: Vec<ManyDrive>,
    cores: Vec<Core>,
    /// How many cores each drive has.
    share: usize,
    /// The most workers of the plan.
    workers: usize,
}

impl Phase {
    /// The drives on the cores that this process may use.
    ///
    /// # Errors
    /// If there are fewer cores than real drives at a time.
    pub fn new(
        group: String,
        jobs: usize,
        drives: Vec<ManyDrive>,
        arguments: &Arguments,
        workers: usize,
    ) -> Result<Self, Failure> {
        let allowed = arguments.real.processors();
        let cores: Vec<Core> = Core::all()
            .into_iter()
            .filter(|core| allowed.is_none_or(|cpus| core.cpus.iter().any(|cpu| cpus.contains(*cpu))))
            .collect();
        let is_real = drives.iter().any(|drive| drive.is_real);
        if is_real && jobs > cores.len() {
            return Err(Failure::usage(format!(
                "{jobs} drives at a time are more than the {} processor cores that this process may use, and workers of two drives \
                 would share one; give --jobs {} or fewer",
                cores.len(),
                cores.len().max(1)
            )));
        }
        // Simulated time does not depend on the processor, so simulated drives may share.
        let share = (cores.len() / jobs.max(1)).max(1);
        Ok(Self { group, jobs, drives, cores, share, workers })
    }

    /// Whether there is anything to do.
    pub fn is_left(&self) -> bool {
        !self.drives.is_empty()
    }

    /// `Group rack-7: 24 drives, 8 at a time`.
    pub fn heading(&self) -> String {
        let drives = self.drives.len();
        let noun = if drives == 1 { "drive" } else { "drives" };
        let at_once = match self.jobs {
            1 if drives == 1 => String::new(),
            1 => ", one after the other".to_owned(),
            jobs => format!(", {} at a time", jobs.min(drives)),
        };
        format!("Group {}: {drives} {noun}{at_once}", self.group)
    }

    /// What is measured at the same time as a drive, and the doubts that follow; nothing where drives are measured one after the
    /// other, or are simulated.
    fn beside(&self, at: usize, cores: &[Core]) -> (Option<SideBySide>, Vec<String>) {
        let drive = &self.drives[at];
        let others: Vec<&ManyDrive> =
            (0..self.drives.len()).filter(|other| *other != at).map(|other| &self.drives[other]).collect();
        let real = others.iter().filter(|other| other.is_real).count();
        let at_once = (self.jobs - 1).min(real);
        if !drive.is_real || at_once == 0 {
            return (None, Vec::new());
        }
        let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
        for other in &others {
            let Some(part) = drive.shared(other).map(ToString::to_string) else { continue };
            match parts.iter_mut().find(|(known, _)| *known == part) {
                Some((_, with)) => with.push(&other.label),
                None => parts.push((part, vec![&other.label])),
            }
        }
        let shared: Vec<String> =
            parts.iter().map(|(part, with)| format!("{part}, with {}", with.join(", "))).collect();
        let mut findings: Vec<String> = shared
            .iter()
            .map(|part| format!("Measured at the same time as up to {at_once} other drives of the group, with which it shares the {part}. A run with --alone shows the drive by itself."))
            .collect();
        if self.workers > cores.len() {
            findings.push(format!(
                "The plan has up to {} workers, and {} processor cores were this drive's: workers shared cores.",
                self.workers,
                cores.len()
            ));
        }
        if drive
            .topology
            .numa_node
            .is_some_and(|node| cores.iter().any(|core| core.node.is_some_and(|near| near != node)))
        {
            findings
                .push("Not all of its processor cores were on the NUMA node that the drive is attached to.".to_owned());
        }
        let cpus = cores.iter().flat_map(|core| &core.cpus).map(u32::to_string).collect::<Vec<_>>().join(",");
        (Some(SideBySide { others: at_once as u32, shared, cpus }), findings)
    }
}

/// How the drives of a group ended.
#[derive(Clone, Debug, Default)]
pub struct QueueEnd {
    complete: usize,
    /// Each drive whose run failed, with why.
    broken: Vec<(String, String)>,
    /// Drives that were not begun.
    left: usize,
    pub is_interrupted: bool,
}

impl QueueEnd {
    /// Where nothing of this was begun.
    pub fn not_begun(phase: &Phase) -> Self {
        Self { left: phase.drives.len(), ..Self::default() }
    }

    /// Adds those of another group.
    pub fn and(&mut self, other: Self) {
        self.complete += other.complete;
        self.broken.extend(other.broken);
        self.left += other.left;
        self.is_interrupted |= other.is_interrupted;
    }

    /// # Errors
    /// If a drive failed or was not begun, with what to do.
    pub fn judge(&self, group: &str) -> Result<(), Failure> {
        if self.broken.is_empty() && self.left == 0 {
            return Ok(());
        }
        let all = self.complete + self.broken.len() + self.left;
        let mut told = match self.is_interrupted {
            true => format!("interrupted: {} of {all} drives are complete", self.complete),
            false => format!("{} of {all} drives failed", self.broken.len()),
        };
        for (target, why) in &self.broken {
            told += &format!("\n       {target}: {}", why.trim_start_matches("error: "));
        }
        if self.left > 0 {
            told += &format!("\n       {} were not begun", self.left);
        }
        told += &format!(
            "\n`assay review TARGET... --resume {group}` continues what is not complete, with the targets named again"
        );
        Err(if self.is_interrupted { Failure::interrupted(told) } else { Failure::failed(told) })
    }
}

/// The drives of a group on their way.
pub struct Queue<'p> {
    phase: &'p Phase,
    words: &'p [String],
    store: &'p Path,
    pool: CorePool,
    waiting: VecDeque<usize>,
    running: Vec<Running>,
    view: View,
    end: QueueEnd,
}

/// A drive under way.
struct Running {
    at: usize,
    member: Member,
    cores: Vec<Core>,
}

impl<'p> Queue<'p> {
    /// Nothing is begun yet.
    pub fn new(phase: &'p Phase, words: &'p [String], store: &'p Path) -> Self {
        let labels: Vec<String> = phase.drives.iter().map(|drive| drive.target.clone()).collect();
        Self {
            phase,
            words,
            store,
            pool: CorePool::of(phase.cores.clone()),
            waiting: (0..phase.drives.len()).collect(),
            running: Vec::new(),
            view: View::of(&labels),
            end: QueueEnd::default(),
        }
    }

    /// Reviews all of them, each whatever becomes of the others.
    pub fn carry_out(mut self) -> Result<QueueEnd, Failure> {
        let stop = interruption::stop()?;
        let mut is_told = false;
        // Others only read what the processes write.
        let store = Store::open_to_read(self.store)?;
        while !self.running.is_empty() || (!self.waiting.is_empty() && !stop.load(Ordering::Relaxed)) {
            while !stop.load(Ordering::Relaxed) && self.running.len() < self.phase.jobs {
                let Some(at) = self.waiting.pop_front() else { break };
                self.start(at)?;
            }
            if stop.load(Ordering::Relaxed) && !is_told {
                is_told = true;
                self.running.iter().for_each(|one| one.member.stop());
            }
            self.look(&store)?;
            std::thread::sleep(PAUSE);
        }
        self.view.finish();
        self.end.left = self.waiting.len();
        self.end.is_interrupted = stop.load(Ordering::Relaxed);
        Ok(self.end)
    }

    fn start(&mut self, at: usize) -> Result<(), Failure> {
        let drive = &self.phase.drives[at];
        let cores = self.pool.take(self.phase.share, drive.topology.numa_node);
        // Simulated drives may be more than cores.
        let (own, cores) = cores.map_or((self.phase.cores.clone(), Vec::new()), |cores| (cores.clone(), cores));
        let (beside, findings) = self.phase.beside(at, &own);
        let order = MemberOrder {
            words: self.words.to_vec(),
            target: drive.target.clone(),
            group: self.phase.group.clone(),
            consent: drive.consent,
            cpus: own.iter().flat_map(|core| core.cpus.clone()).collect(),
            workers: own.iter().filter_map(|core| core.cpus.first().copied()).collect(),
            beside,
            findings,
            resume: drive.resume,
            like: drive.like,
        };
        let member = Member::start(&order)?;
        self.running.push(Running { at, member, cores });
        self.view.begun(at);
        Ok(())
    }

    /// Hears from each process, and takes leave of those that have ended.
    fn look(&mut self, store: &Store) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.running.len() {
            let one = &mut self.running[at];
            let ended = one.member.ended()?;
            one.member.hear();
            if let Some(told) =
                one.member.run.and_then(|run| store.told(run)).and_then(|text| ProgressMessage::read(&text))
            {
                self.view.progress(one.at, &told.now());
            }
            match ended {
                None => at += 1,
                Some(status) => {
                    let one = self.running.swap_remove(at);
                    self.take_leave(one, status);
                }
            }
        }
        Ok(())
    }

    fn take_leave(&mut self, mut one: Running, status: ExitStatus) {
        let complaints = one.member.last_words();
        self.pool.give_back(std::mem::take(&mut one.cores));
        match status.success() {
            true => {
                self.end.complete += 1;
                self.view.ended(one.at, one.member.run, &complaints, true);
            }
            false => {
                let why = match complaints.is_empty() {
                    true => format!("its process ended with {status}"),
                    false => complaints,
                };
                self.view.ended(one.at, one.member.run, &why, false);
                self.end.broken.push((self.phase.drives[one.at].target.clone(), why));
            }
        }
    }
}
