//! What this machine can do, and the command that makes it able to do more.
//!
//! Every check tries the thing itself: a ring is set up, a block is written around the page cache, a
//! program is looked for where the shell would find it. Nothing is installed and nothing is left behind.

use std::path::Path;

use super::check::{Check, Purpose};
use super::machine::Machine;
use super::{kernel, meters, programs};

/// Tries everything, for reviews of files in `directory`. The checks come grouped by purpose.
pub fn examine(directory: &Path) -> Vec<Check> {
    let machine = Machine::here();
    let mut checks = kernel::checks(&machine, directory);
    checks.extend(programs::checks(&machine));
    checks.extend(meters::checks(&machine));
    checks.sort_by_key(|check| Purpose::ALL.iter().position(|&purpose| purpose == check.purpose));
    checks
}

/// What can be reviewed on the machine that was examined, in a sentence or two.
pub fn summary(checks: &[Check]) -> String {
    let ready = |name: &str| checks.iter().any(|check| check.name == name && check.is_ready());
    let (mut can, mut cannot) = (vec!["simulated drives"], Vec::new());
    if !ready(kernel::IO_URING) {
        cannot.push("files and block devices need io_uring");
    } else {
        match ready(kernel::O_DIRECT) {
            true => can.push("files in this directory"),
            false => cannot.push("files in this directory need O_DIRECT"),
        }
        match ready(kernel::ROOT) {
            true => can.push("block devices"),
            false => cannot.push("block devices need root"),
        }
    }
    let can = match can.split_last().expect("simulated drives are always possible") {
        (last, []) => (*last).to_owned(),
        (last, rest) => format!("{} and {last}", rest.join(", ")),
    };
    match cannot.join("; ") {
        none if none.is_empty() => format!("This machine can review {can}."),
        cannot => format!("This machine can review {can}; {cannot}."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::Status;
    use super::*;

    fn check(name: &'static str, ready: bool) -> Check {
        let status = if ready { Status::ready("there") } else { Status::missing("not there", "get it") };
        Check { name, ability: "for a test", purpose: Purpose::RealDrives, status }
    }

    fn summary_with(ring: bool, direct: bool, root: bool) -> String {
        summary(&[check(kernel::IO_URING, ring), check(kernel::O_DIRECT, direct), check(kernel::ROOT, root)])
    }

    #[test]
    fn the_summary_says_what_can_and_what_cannot_be_reviewed() {
        let table = [
            ((true, true, true), "can review simulated drives, files in this directory and block devices."),
            ((true, true, false), "simulated drives and files in this directory; block devices need root."),
            ((true, false, true), "simulated drives and block devices; files in this directory need O_DIRECT."),
            ((false, true, true), "can review simulated drives; files and block devices need io_uring."),
        ];
        for ((ring, direct, root), words) in table {
            let said = summary_with(ring, direct, root);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn an_examination_groups_its_checks_and_always_has_the_needed_ones_first() {
        let directory = tempfile::tempdir().unwrap();
        let checks = examine(directory.path());
        let names: Vec<_> = checks.iter().take(3).map(|check| check.name).collect();
        assert_eq!(names, [kernel::IO_URING, kernel::O_DIRECT, kernel::ROOT]);
        let mut purposes: Vec<_> = checks.iter().map(|check| check.purpose).collect();
        purposes.dedup();
        assert_eq!(purposes, Purpose::ALL, "each group appears once and in order");
    }

    #[test]
    fn an_examination_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        examine(directory.path());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_check_says_something_and_what_is_missing_has_a_remedy() {
        for check in examine(Path::new("/nonexistent")) {
            match &check.status {
                Status::Ready { detail } | Status::Unavailable { detail } => {
                    assert!(!detail.is_empty(), "{}", check.name);
                }
                Status::Missing { detail, remedy } => {
                    assert!(!detail.is_empty() && !remedy.is_empty(), "{}: {detail} / {remedy}", check.name);
                }
            }
        }
    }
}
