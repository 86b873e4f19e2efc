//! A process, told apart from later ones that have its number.

use std::fs;

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

    /// Whether it is still there.
    pub fn is_alive(self) -> bool {
        started(self.pid) == Some(self.started)
    }

    /// Sends it a signal; one that has ended hears none.
    pub(crate) fn signal(self, signal: Signal) {
        let number = i32::try_from(self.pid).ok().and_then(Pid::from_raw).filter(|_| self.is_alive());
        number.map(|number| kill_process(number, signal));
    }
}

/// When the process of this number was started; none if there is none, or it has ended and nobody has asked how.
///
/// Source: proc_pid_stat(5); the name, in brackets, may hold anything.
fn started(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    // The state is the third field, the time of the start the 22nd.
    if matches!(state, "Z" | "X") { None } else { fields.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_alive_until_it_has_ended_also_before_anybody_asks_how() {
        let this = Process::this();
        assert!(this.is_alive() && this.started > 0);
        assert!(!Process { started: this.started + 1, ..this }.is_alive(), "one that had the number before");
        let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        // Its end of the pipe closes when it ends.
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
