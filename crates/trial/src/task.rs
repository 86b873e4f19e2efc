//! A program that runs beside this one, and does not outlive it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use attach::ProcessMark;
use rustix::process::Signal;

use crate::{Cleanup, CleanupAction, CleanupGuard, Ended, ProgramError, TrialDevice, TrialError};
use host::Running;

/// A program that runs beside this one, ended when this is dropped with all those that it has started.
#[derive(Debug)]
pub struct HelperProcess {
    line: String,
    running: Running,
    /// That it is ended even if this process is killed.
    _promise: CleanupGuard,
}

impl HelperProcess {
    /// Starts a program whose output is kept, in a process group of its own: Ctrl-C is for this one to pass on.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(aftermath: &Cleanup, command: &mut Command) -> Result<Self, TrialError> {
        Self::begin(aftermath, command, Running::start)
    }

    /// The same of a program that may write to the stage's device, and to these folders of its own, alone.
    ///
    /// # Errors
    /// If it does not start.
    pub(crate) fn start_on(
        (stage, folders): (&TrialDevice, &[&Path]),
        aftermath: &Cleanup,
        command: &mut Command,
    ) -> Result<Self, TrialError> {
        let paths = [&[stage.path()], folders].concat();
        Self::begin(aftermath, command, |command, program| Running::start_on(command, program, &paths))
    }

    /// The same with its output to a file.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_with_log(aftermath: &Cleanup, command: &mut Command, log: &File) -> Result<Self, TrialError> {
        Self::begin(aftermath, command, |command, program| Running::start_with_log(command, program, log))
    }

    fn begin(
        aftermath: &Cleanup,
        command: &mut Command,
        start: impl FnOnce(&mut Command, &str) -> Result<Running, ProgramError>,
    ) -> Result<Self, TrialError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let line = line(command);
        let mark = ProcessMark::new();
        let promise = aftermath.promise(CleanupAction::End(mark.clone()))?;
        let running = start(mark.put_on(command).process_group(0), &program)?;
        Ok(Self { line, running, _promise: promise })
    }

    /// Its command line.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// How it has ended; none while it runs.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, TrialError> {
        Ok(self.running.ended()?)
    }

    /// Sends it a signal; one that has ended hears none.
    pub fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    /// Waits until it has ended, without regard to how.
    ///
    /// # Errors
    /// If the stage is stopped, or it takes longer than `limit`.
    pub fn wait(&mut self, stage: &TrialDevice, limit: Duration) -> Result<ExitStatus, TrialError> {
        self.running.wait(limit, || stage.continues())
    }

    /// Waits until it has ended, without regard to how; what it left.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    pub fn end(mut self, stage: &TrialDevice, limit: Duration) -> Result<Ended, TrialError> {
        Ok(Ended::of(self.wait(stage, limit)?, self.running.said()))
    }

    /// Waits until it has ended well; what it wrote.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait), and if it failed.
    pub fn finish(self, stage: &TrialDevice, limit: Duration) -> Result<Ended, TrialError> {
        let line = self.line.clone();
        let ended = self.end(stage, limit)?;
        if ended.code == Some(0) {
            return Ok(ended);
        }
        Err(TrialError::Failed { command: line, said: complaint(&ended) })
    }
}

/// A command as it would be typed.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=,:@+%".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// What a program that failed complained of first, for what follows from that follows it; its last words if of nothing.
fn complaint(ended: &Ended) -> String {
    let complains = |line: &&str| {
        line.starts_with("E: ") || ["error:", "fatal:"].iter().any(|word| line.to_lowercase().contains(word))
    };
    ended.stderr.lines().find(complains).map_or_else(|| ended.last_words(), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use block::Bytes;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn place() -> (tempfile::TempDir, Cleanup, TrialDevice, Arc<AtomicBool>) {
        let folder = tempfile::tempdir().unwrap();
        let aftermath = Cleanup::within(folder.path()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stage = TrialDevice::device(Path::new("/dev/null"), Bytes::ZERO, Arc::clone(&stop));
        (folder, aftermath, stage, stop)
    }

    #[test]
    fn what_a_program_says_is_kept_and_its_failure_told() {
        let (_folder, aftermath, stage, _) = place();
        let mut shell = Command::new("sh");
        let task = HelperProcess::start(&aftermath, shell.args(["-c", "echo yes"])).unwrap();
        assert_eq!(task.finish(&stage, LONG).unwrap().stdout, "yes\n");
        let mut shell = Command::new("sh");
        let task = HelperProcess::start(&aftermath, shell.args(["-c", "echo no >&2; exit 1"])).unwrap();
        let said = task.finish(&stage, LONG).unwrap_err().to_string();
        assert_eq!(said, "`sh -c 'echo no >&2; exit 1'` failed: no");
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo 'x: error: full' >&2; echo 'x: error: given up' >&2; echo hint >&2; exit 1"]);
        let said = HelperProcess::start(&aftermath, &mut shell).unwrap().finish(&stage, LONG).unwrap_err().to_string();
        assert!(said.ends_with("failed: x: error: full"), "{said}");
        let mut apt = Command::new("sh");
        apt.args(["-c", "echo 'W: old' >&2; echo 'E: no lists' >&2; echo 'E: not opened' >&2; exit 100"]);
        let said = HelperProcess::start(&aftermath, &mut apt).unwrap().finish(&stage, LONG).unwrap_err().to_string();
        assert!(said.ends_with("failed: E: no lists"), "{said}");
    }

    #[test]
    fn a_program_ends_when_the_stage_is_stopped_and_when_it_takes_too_long() {
        let (folder, aftermath, stage, stop) = place();
        let start = || HelperProcess::start(&aftermath, Command::new("sleep").arg("98765")).unwrap();
        let task = start();
        let pid = task.running.pid();
        let said = task.finish(&stage, Duration::from_millis(30)).unwrap_err().to_string();
        assert!(said.contains("did not end"), "{said}");
        stop.store(true, Ordering::Relaxed);
        let task = start();
        assert!(matches!(task.finish(&stage, LONG), Err(TrialError::Interrupted)));
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no promise is left");
    }

    #[test]
    fn a_program_that_is_stopped_takes_those_with_it_that_it_has_started() {
        let (folder, aftermath, stage, stop) = place();
        let told = folder.path().join("pid");
        let script = format!("sleep 98764 & echo $! >{}; wait", told.display());
        let task = HelperProcess::start(&aftermath, Command::new("sh").args(["-c", &script])).unwrap();
        let began = std::time::Instant::now();
        let pid = loop {
            let pid = std::fs::read_to_string(&told).unwrap_or_default();
            if pid.ends_with('\n') {
                break pid.trim().to_owned();
            }
            assert!(began.elapsed() < LONG, "it does not say whom it has started");
        };
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(task.end(&stage, LONG), Err(TrialError::Interrupted)));
        // Whoever inherits it asks how it has ended, and until then its name is still there.
        let is_there = || !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default().is_empty();
        while is_there() {
            assert!(began.elapsed() < LONG, "{pid} goes on");
        }
    }
}
