//! What the programs that a process has started bear, so that another process finds them.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::process;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::Process;

/// The variable that holds it.
const NAME: &str = "ASSAY_MARK";
/// How long programs have to end when they are asked to, and again when they are made to.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked who is still there.
const PAUSE: Duration = Duration::from_millis(10);

/// A mark in the environment of programs.
///
/// It is known before a program is started, as a number of its process is not: what is to be ended can be written down
/// first. All that the program starts inherits it, also what leaves its group and its session, as the workers of fio do,
/// or outlives it. And no later process that happens to have the same number bears it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessMark(String);

impl ProcessMark {
    /// One that nothing bears yet.
    pub fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Self(of_this) = Self::of(Process::this());
        Self(format!("{of_this}-{}", NUMBER.fetch_add(1, Ordering::Relaxed)))
    }

    /// That of the programs which make devices for this process.
    pub fn of(process: Process) -> Self {
        Self(format!("{}-{}", process.pid, process.started))
    }

    /// Has what is started by `command` bear it.
    pub fn put_on<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env(NAME, &self.0)
    }

    /// Ends all that bears it: first politely, and then by force. Nothing happens where nothing does.
    pub fn end(&self) {
        self.end_within(PATIENCE);
    }

    /// The same, with so much patience for each of both.
    fn end_within(&self, patience: Duration) {
        for signal in [Signal::TERM, Signal::KILL] {
            let (began, mut told) = (Instant::now(), BTreeSet::new());
            while began.elapsed() < patience {
                // Looked for twice: one that was just being started by one that has ended since may have been missed.
                let found = Some(self.bearers()).filter(|found| !found.is_empty()).unwrap_or_else(|| self.bearers());
                if found.is_empty() {
                    return;
                }
                // Once is enough: some take a second word for a sign of impatience.
                for (_, process) in found.iter().filter(|(pid, _)| told.insert(pid.as_raw_nonzero())) {
                    // One that has ended meanwhile hears none.
                    pidfd_send_signal(process, signal).ok();
                }
                thread::sleep(PAUSE);
            }
        }
    }

    /// The processes that bear it, each by its number and by what stays its own when another has that.
    fn bearers(&self) -> Vec<(Pid, OwnedFd)> {
        let marked = process::all().filter(|pid| self.is_on(*pid));
        let held = marked.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
        // Held, it can be another's number no more.
        held.filter(|(pid, _)| self.is_on(*pid)).collect()
    }

    fn is_on(&self, pid: Pid) -> bool {
        process::environment(pid).split(|byte| *byte == 0).any(|entry| {
            let value = entry.strip_prefix(NAME.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            value == Some(self.0.as_bytes())
        })
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// Whether a process still runs; one whose end nobody has asked for yet does not.
    fn runs(pid: u32) -> bool {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    #[test]
    fn what_bears_a_mark_is_ended_and_nothing_else() {
        let (mark, other) = (ProcessMark::new(), ProcessMark::new());
        assert_ne!(mark, other);
        let start = |mark: &ProcessMark| mark.put_on(Command::new("sleep").arg("100")).spawn().unwrap();
        let (mut ended, mut left) = (start(&mark), start(&other));
        mark.end();
        assert!(!ended.wait().unwrap().success());
        assert!(left.try_wait().unwrap().is_none());
        other.end();
        left.wait().unwrap();
        other.end();
    }

    #[test]
    fn one_that_has_left_its_group_and_outlived_its_parent_and_hears_no_request_is_ended() {
        let mark = ProcessMark::new();
        let mut shell = Command::new("sh");
        let script = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & wait";
        let mut parent = mark.put_on(shell.args(["-c", script])).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(parent.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let child: u32 = line.trim().parse().unwrap();
        parent.kill().unwrap();
        parent.wait().unwrap();
        assert!(runs(child));
        mark.end_within(Duration::from_millis(500));
        assert!(!runs(child), "{child} goes on");
    }
}
