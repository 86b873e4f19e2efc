//! What is not complete of a group, and goes on.

use std::path::Path;

use lab::plan_of;
use store::{Run, RunState, Store};

use super::super::fleet::group_of;
use super::super::review::Arguments;
use super::drives::{self, ManyDrive};
use super::queue::Phase;
use super::{names, workers};
use crate::failure::Failure;
use crate::run_request::absolute;
use crate::terminal::notice;
use crate::{fingerprint, target};

/// The drives of a group whose runs are not complete, and those that are named and have none.
///
/// # Errors
/// If all is complete, or something real is not named.
pub fn phase(arguments: &Arguments, group: &str, store: &Path) -> Result<Phase, Failure> {
    let store = Store::open_to_read(store)?;
    let mut runs = group_of(&store, group)?;
    runs.sort_by_key(|run| run.id);
    let named = names::expanded(&arguments.targets)?;
    let (mut all, mut unnamed) = (Vec::new(), Vec::new());
    for run in runs.iter().filter(|run| run.state != RunState::Complete) {
        match named.iter().find(|name| is_of(run, name)) {
            Some(name) => all.push((name.clone(), Some(run))),
            None if target::is_named_each_time(&run.target) => unnamed.push(run.target.clone()),
            None => all.push((run.target.clone(), Some(run))),
        }
    }
    if !unnamed.is_empty() {
        return Err(Failure::usage(format!(
            "devices and drives' files are named again when they go on: `assay review {} --resume {group}`",
            unnamed.join(" ")
        )));
    }
    let begun = |name: &&String| runs.iter().any(|run| is_of(run, name));
    all.extend(named.iter().filter(|name| !begun(name)).map(|name| (name.clone(), None)));
    if all.is_empty() {
        return Err(Failure::usage(format!(
            "all {} runs of the group {group} are complete, so there is nothing to resume; `assay fleet {group}` reports on them",
            runs.len()
        )));
    }
    let complete = runs.iter().filter(|run| run.state == RunState::Complete).count();
    if complete > 0 {
        notice(format_args!("{complete} runs of the group {group} are complete and stay as they are"));
    }
    let first = runs.first().expect("a group has a run");
    let plan = plan_of(first)?;
    let targets: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let mut drives: Vec<ManyDrive> = drives::named(&targets, arguments)?;
    for (drive, (_, run)) in drives.iter_mut().zip(&all) {
        drive.resume = run.map(|run| run.id);
        drive.like = run.is_none().then_some(first.id);
    }
    let jobs = arguments.many.jobs(drives.len());
    Phase::new(group.to_owned(), jobs, drives, arguments, workers(&plan))
}

/// Whether a run was on what this name leads to now.
fn is_of(run: &Run, name: &str) -> bool {
    absolute(name) == run.target && fingerprint::may_be(run, name) || fingerprint::is_drive_of(run, name)
}
