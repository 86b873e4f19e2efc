//! What is not complete of a group, and goes on.

use std::path::Path;

use lab::plan_of;
use store::{Filter, Run, RunState, Store};

use super::super::fleet::no_group;
use super::super::review::Arguments;
use super::drives::{self, ManyDrive};
use super::options::{Pace, both};
use super::queue::Phase;
use super::{names, workers};
use crate::failure::Failure;
use crate::run_request::absolute;
use crate::terminal::notice;
use crate::{fingerprint, target};

/// The phases of a group that goes on. In each are the drives whose runs are not complete, and those that have none there: of what
/// is measured alone and together, a drive may have its run of the one and not of the other.
///
/// # Errors
/// If all is complete, or something real is not named.
pub fn phases(arguments: &Arguments, group: &str, store: &Path) -> Result<Vec<Phase>, Failure> {
    let store = Store::open_to_read(store)?;
    let groups = groups(arguments, group, &store)?;
    let mut runs: Vec<&Run> = groups.iter().flat_map(|group| &group.runs).collect();
    runs.sort_by_key(|run| run.id);
    let first = *runs.first().expect("a group has a run");
    // Whatever has a run in one of the groups has one in each.
    let named = names::expanded(&arguments.targets)?;
    let mut targets: Vec<String> = Vec::new();
    for run in &runs {
        let target = named.iter().find(|name| is_of(run, name)).unwrap_or(&run.target);
        if !targets.contains(target) {
            targets.push(target.clone());
        }
    }
    targets.extend(named.iter().filter(|name| !runs.iter().any(|run| is_of(run, name))).cloned());
    let left: Vec<_> = groups.iter().map(|group| (group, group.left(&targets))).collect();
    let is_left = |target: &String| left.iter().flat_map(|(_, drives)| drives).any(|(name, _)| name == target);
    let is_unnamed = |target: &&String| target::is_named_each_time(target) && !named.contains(target);
    let unnamed: Vec<&str> =
        targets.iter().filter(|target| is_left(target)).filter(is_unnamed).map(String::as_str).collect();
    if !unnamed.is_empty() {
        return Err(Failure::usage(format!(
            "devices and drives' files are named again when they go on: `assay review {} --resume {group}`",
            unnamed.join(" ")
        )));
    }
    if !targets.iter().any(is_left) {
        let last = &groups.last().expect("there is a group").name;
        return Err(Failure::usage(format!(
            "all {} runs of the group {group} are complete, so there is nothing to resume; `assay fleet {last}` reports on them",
            runs.len()
        )));
    }
    let complete = runs.iter().filter(|run| run.state == RunState::Complete).count();
    if complete > 0 {
        notice(format_args!("{complete} runs of the group {group} are complete and stay as they are"));
    }
    let workers = workers(&plan_of(first)?);
    let phase = |(group, left): (&Begun, Vec<(String, Option<&Run>)>)| {
        let targets: Vec<String> = left.iter().map(|(target, _)| target.clone()).collect();
        let mut drives: Vec<ManyDrive> = drives::named(&targets, arguments)?;
        for (drive, (_, run)) in drives.iter_mut().zip(&left) {
            drive.resume = run.map(|run| run.id);
            drive.like = run.is_none().then_some(first.id);
        }
        let jobs = arguments.many.jobs(group.pace, drives.len());
        Phase::new(group.name.clone(), jobs, drives, arguments, workers)
    };
    left.into_iter().map(phase).collect()
}

/// A group that goes on, with the runs that it has.
struct Begun {
    name: String,
    pace: Pace,
    runs: Vec<Run>,
}

impl Begun {
    fn of(store: &Store, (name, pace): (String, Pace)) -> Result<Self, Failure> {
        let filter = Filter { group: Some(name.clone()), ..Filter::default() };
        let mut runs = store.wanted(&filter, 0, i64::MAX.unsigned_abs())?;
        runs.reverse();
        Ok(Self { name, pace, runs })
    }

    /// Those of these drives whose run is not complete, with the run, and those without one.
    fn left<'r>(&'r self, targets: &[String]) -> Vec<(String, Option<&'r Run>)> {
        let of = |target: &String| (target.clone(), self.runs.iter().rev().find(|run| is_of(run, target)));
        let is_open = |run: &Option<&Run>| run.is_none_or(|run| run.state != RunState::Complete);
        targets.iter().map(of).filter(|(_, run)| is_open(run)).collect()
    }
}

/// The groups that a name stands for: its own, or those of the drives alone and together, where they were measured both ways under
/// that name.
fn groups(arguments: &Arguments, group: &str, store: &Store) -> Result<Vec<Begun>, Failure> {
    let own = Begun::of(store, (group.to_owned(), Pace::Asked))?;
    if own.runs.is_empty() || arguments.many.is_both() {
        let both = both(group).map(|one| Begun::of(store, one)).into_iter().collect::<Result<Vec<_>, _>>()?;
        if both.iter().any(|one| !one.runs.is_empty()) {
            return Ok(both);
        }
    }
    if own.runs.is_empty() { Err(no_group(store, group)?) } else { Ok(vec![own]) }
}

/// Whether a run was on what this name leads to now.
fn is_of(run: &Run, name: &str) -> bool {
    absolute(name) == run.target && fingerprint::may_be(run, name) || fingerprint::is_drive_of(run, name)
}
