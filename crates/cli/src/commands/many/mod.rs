//! `assay review` of several targets: a process a drive, so many at a time, one group of runs in the store.

mod consent;
mod drives;
mod member;
mod names;
mod options;
mod order;
mod queue;
mod resumed;
mod summary;
mod view;

use std::path::Path;

use lab::plan::Plan;
use store::Store;

pub use self::options::{ManyOptions, Resume};
pub use self::order::{MemberNews, MemberOrder, take};
use self::queue::{Queue, QueueEnd};
use super::review::Arguments;
use crate::failure::Failure;
use crate::terminal::notice;

/// Whether a review is of several targets, or of a group.
pub fn is_asked(arguments: &Arguments) -> Result<bool, Failure> {
    let is_group = matches!(arguments.resume, Some(Resume::Group(_)));
    Ok(is_group || arguments.many.is_asked() || names::expanded(&arguments.targets)?.len() > 1)
}

/// The targets with those spelled out that `#1..24` stands for.
pub fn targets(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    names::expanded(&arguments.targets)
}

/// Reviews every target, and reports on them together. `words` is the whole command line.
///
/// # Errors
/// If anything is wrong with a target before the first is begun, or a drive's run did not come to its end.
pub fn run(arguments: &Arguments, words: &[String], store: &Path) -> Result<(), Failure> {
    check(arguments)?;
    // What the processes open is made once, and not by several at a time.
    drop(Store::open(store)?);
    let (name, phases) = match &arguments.resume {
        Some(Resume::Group(group)) => (group.clone(), resumed::phases(arguments, group, store)?),
        _ => begun(arguments, store)?,
    };
    let mut end = QueueEnd::default();
    for phase in phases.iter().filter(|phase| phase.is_left()) {
        if end.is_interrupted {
            end.and(QueueEnd::not_begun(phase));
            continue;
        }
        notice(phase.heading());
        end.and(Queue::new(phase, words, store).carry_out()?);
    }
    let groups: Vec<&str> = phases.iter().map(|phase| phase.group.as_str()).collect();
    let told = summary::tell(store, &groups, arguments);
    end.judge(&name)?;
    told
}

/// Refuses what is for one drive.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.shard.is_some() {
        return Err(Failure::usage(
            "--shard is for a review of one drive: shards of several are commands of their own, with a store each",
        ));
    }
    let one = [("--live", arguments.live), ("--metrics", arguments.is_metered()), ("--power", arguments.has_power())];
    if let Some(Resume::Run(_)) = arguments.resume {
        return Err(Failure::usage(
            "--resume continues one run on one target, or with the name of a group all of it that is not complete; name \
             one target, or the group",
        ));
    }
    match one.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format!(
            "{option} is for a review of one drive; `assay serve` shows several while they are measured"
        ))),
        None => Ok(()),
    }
}

/// What a review that begins is called, and its phases: one, or first each drive alone and then all together.
fn begun(arguments: &Arguments, store: &Path) -> Result<(String, Vec<queue::Phase>), Failure> {
    let plan = arguments.plan()?;
    let targets = names::expanded(&arguments.targets)?;
    let drives = drives::checked(&targets, arguments, &plan)?;
    let name = arguments.many.group_name(&plan, &Store::open_to_read(store)?)?;
    let phase = |(group, pace)| {
        let jobs = arguments.many.jobs(pace, drives.len());
        queue::Phase::new(group, jobs, drives.clone(), arguments, workers(&plan))
    };
    let phases = arguments.many.phases(&name).into_iter().map(phase).collect::<Result<_, _>>()?;
    Ok((name, phases))
}

/// The most workers that the plan has at a time.
fn workers(plan: &Plan) -> usize {
    let works = plan.steps.iter().map(|step| step.work(&lab::plan::Site::ANY));
    let most = works.map(|work| work.runs().map(|cell| cell.workload.workers).max().unwrap_or(1)).max();
    most.map_or(1, |most| most as usize)
}
