//! A process, told apart from later ones that have its number.

use std::fs;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A process, told apart from later ones that have its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in ticks of the kernel's clock since the machine was.
    pub started: u64,
}

impl Process {
    /// This one.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self { pid, started: started(pid).unwrap_or_default() }
    }

    /// The one of this number now; none if there is none.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, started: fields(pid)?.get(STARTED)?.parse().ok()? })
    }

    /// Whether it is ending by force or by itself, and can no more be kept from it; a thread that waits for an answer of a
    /// drive may still keep it there.
    ///
    /// Source: Linux, include/linux/sched.h, `PF_EXITING`; kernel/signal.c, where each thread is given the signal.
    pub fn is_ending(self) -> bool {
        let Some(fields) = fields(self.pid) else { return true };
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
        let (is_exiting, is_killed) = (number(FLAGS) & 0x4 != 0, number(PENDING) & (1 << 8) != 0);
        number(STARTED) != self.started || matches!(fields[0].as_str(), "Z" | "X") || is_exiting || is_killed
    }

    /// Whether it is still there.
    pub fn is_alive(self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// How many threads it has; none if there is none.
    pub fn threads(self) -> Option<u64> {
        fields(self.pid)?.get(THREADS)?.parse().ok()
    }

    /// How its first thread has ended, as wait(2) has it, where nobody has asked yet how all of it did; none while it runs.
    pub fn first_ended(self) -> Option<i32> {
        let fields = fields(self.pid)?;
        let is_it = fields.get(STARTED)?.parse() == Ok(self.started);
        (is_it && fields[0] == "Z").then(|| fields.get(EXIT_CODE)?.parse().ok()).flatten()
    }

    /// Whether it had been started by this moment, to the second.
    pub fn was_there(self, moment: SystemTime) -> bool {
        let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
        let uptime: f64 = uptime.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or_default();
        let age = uptime - self.started as f64 / rustix::param::clock_ticks_per_second() as f64;
        let since = SystemTime::now().duration_since(moment).unwrap_or_default();
        since.as_secs_f64() <= age + 1.0
    }

    /// Sends it a signal; one that has ended hears none.
    pub fn signal(self, signal: Signal) {
        let number = i32::try_from(self.pid).ok().and_then(Pid::from_raw).filter(|_| self.is_alive());
        number.map(|number| kill_process(number, signal));
    }
}

/// How long a program may take from its first moment until it has an environment; a busy machine takes its time.
const MOMENT: Duration = Duration::from_secs(10);

/// The numbers of all processes.
pub fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// The environment that a process was started with; empty if it has ended, or is the kernel's own.
///
/// One that is just becoming another program has neither that nor a command line for a moment, which is waited for.
pub fn environment(pid: Pid) -> Vec<u8> {
    let began = Instant::now();
    let file = |name: &str| fs::read(format!("/proc/{}/{name}", pid.as_raw_nonzero())).unwrap_or_default();
    let is_program = || fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero())).is_ok();
    loop {
        let found = file("environ");
        let is_starting = found.is_empty() && file("cmdline").is_empty() && is_program();
        if !is_starting || began.elapsed() > MOMENT {
            return found;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Where in [`fields`] the kernel's flags are, the number of threads, the time of the start, the signals that the first thread
/// has to hear, and how it has ended.
const FLAGS: usize = 6;
const THREADS: usize = 17;
const STARTED: usize = 19;
const PENDING: usize = 28;
const EXIT_CODE: usize = 49;

/// What the kernel tells of a process, from its state on; none if there is none.
///
/// Source: proc_pid_stat(5), the third field and those behind; the name before them, in brackets, may hold anything.
fn fields(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// When the process of this number was started; none if there is none, or it has ended and nobody has asked how.
fn started(pid: u32) -> Option<u64> {
    let fields = fields(pid)?;
    if matches!(fields[0].as_str(), "Z" | "X") { None } else { fields.get(STARTED)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_alive_until_it_has_ended_also_before_anybody_asks_how() {
        let this = Process::this();
        assert!(this.is_alive() && this.started > 0 && !this.is_ending());
        assert_eq!(Process::of(this.pid), Some(this));
        assert!(!Process { started: this.started + 1, ..this }.is_alive(), "one that had the number before");
        let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        // Its end of the pipe closes when it ends.
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        let ended = Process::of(child.id()).unwrap();
        assert!(ended.is_ending());
        assert_eq!((ended.first_ended(), this.first_ended()), (Some(0), None));
        child.wait().unwrap();
        assert!(ended.is_ending() && Process::of(child.id()).is_none_or(|other| other != ended));
    }
}
