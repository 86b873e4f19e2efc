//! A program that runs beside this one, and does not outlive it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::gather;
use crate::{Aftermath, Ended, ProgramError, Promise, Stage, TrialError, Undo};

/// How often a program is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that runs beside this one, ended when this is dropped.
#[derive(Debug)]
pub struct Task {
    line: String,
    child: Child,
    output: Option<[JoinHandle<String>; 2]>,
    /// That it is ended even if this process is killed.
    _promise: Promise,
}

impl Task {
    /// Starts a program whose output is kept, in a process group of its own: Ctrl-C is for this one to pass on.
    ///
    /// `mark` is a part of its command line that no other program's has.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(aftermath: &Aftermath, command: &mut Command, mark: &str) -> Result<Self, TrialError> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut task = Self::begin(aftermath, command, mark)?;
        task.output = Some([gather(task.child.stdout.take()), gather(task.child.stderr.take())]);
        Ok(task)
    }

    /// The same with its output to a file.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_with_log(
        aftermath: &Aftermath,
        command: &mut Command,
        mark: &str,
        log: &File,
    ) -> Result<Self, TrialError> {
        let cannot = || TrialError::at("the log");
        command.stdout(log.try_clone().map_err(cannot())?).stderr(log.try_clone().map_err(cannot())?);
        Self::begin(aftermath, command, mark)
    }

    fn begin(aftermath: &Aftermath, command: &mut Command, mark: &str) -> Result<Self, TrialError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let line = line(command);
        let mut child = command.stdin(Stdio::null()).process_group(0).env("LC_ALL", "C").spawn().map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                ProgramError::Missing { program }
            } else {
                ProgramError::Start { program, reason: error.to_string() }
            }
        })?;
        match aftermath.promise(Undo::End { pid: child.id(), command: mark.to_owned() }) {
            Ok(promise) => Ok(Self { line, child, output: None, _promise: promise }),
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                Err(error)
            }
        }
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
        self.child.try_wait().map_err(TrialError::at("/proc"))
    }

    /// Sends it a signal; one that has ended hears none.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        pid.map(|pid| kill_process(pid, signal));
    }

    /// Waits until it has ended, without regard to how.
    ///
    /// # Errors
    /// If the stage is stopped, or it takes longer than `limit`.
    pub fn wait(&mut self, stage: &Stage, limit: Duration) -> Result<ExitStatus, TrialError> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if stage.is_stopped() {
                return Err(TrialError::Interrupted);
            }
            if began.elapsed() > limit {
                let program = self.line.split(' ').next().unwrap_or_default().to_owned();
                return Err(ProgramError::Slow { program, limit }.into());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Waits until it has ended well; what it wrote.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait), and if it failed.
    pub fn finish(mut self, stage: &Stage, limit: Duration) -> Result<Ended, TrialError> {
        let status = self.wait(stage, limit)?;
        let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
        let [stdout, stderr] = self.output.take().map(|output| output.map(text)).unwrap_or_default();
        let ended = Ended { stdout, stderr, code: status.code() };
        if status.success() {
            return Ok(ended);
        }
        Err(TrialError::Failed { command: self.line.clone(), said: complaint(&ended) })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().ok();
        }
        self.child.wait().ok();
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
    let complains = |line: &&str| ["error:", "fatal:"].iter().any(|word| line.to_lowercase().contains(word));
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

    fn place() -> (tempfile::TempDir, Aftermath, Stage, Arc<AtomicBool>) {
        let folder = tempfile::tempdir().unwrap();
        let aftermath = Aftermath::within(folder.path()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stage = Stage::device(Path::new("/dev/null"), Bytes::ZERO, Arc::clone(&stop));
        (folder, aftermath, stage, stop)
    }

    #[test]
    fn what_a_program_says_is_kept_and_its_failure_told() {
        let (_folder, aftermath, stage, _) = place();
        let mut shell = Command::new("sh");
        let task = Task::start(&aftermath, shell.args(["-c", "echo yes"]), "echo yes").unwrap();
        assert_eq!(task.finish(&stage, LONG).unwrap().stdout, "yes\n");
        let mut shell = Command::new("sh");
        let task = Task::start(&aftermath, shell.args(["-c", "echo no >&2; exit 1"]), "echo no").unwrap();
        let said = task.finish(&stage, LONG).unwrap_err().to_string();
        assert_eq!(said, "`sh -c 'echo no >&2; exit 1'` failed: no");
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo 'x: error: full' >&2; echo 'x: error: given up' >&2; echo hint >&2; exit 1"]);
        let said = Task::start(&aftermath, &mut shell, "full").unwrap().finish(&stage, LONG).unwrap_err().to_string();
        assert!(said.ends_with("failed: x: error: full"), "{said}");
    }

    #[test]
    fn a_program_ends_when_the_stage_is_stopped_and_when_it_takes_too_long() {
        let (folder, aftermath, stage, stop) = place();
        let start = || Task::start(&aftermath, Command::new("sleep").arg("98765"), "98765").unwrap();
        let task = start();
        let pid = task.child.id();
        let said = task.finish(&stage, Duration::from_millis(30)).unwrap_err().to_string();
        assert!(said.contains("did not end"), "{said}");
        stop.store(true, Ordering::Relaxed);
        let task = start();
        assert!(matches!(task.finish(&stage, LONG), Err(TrialError::Interrupted)));
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no promise is left");
    }
}
