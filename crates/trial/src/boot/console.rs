//! What a machine says on its serial lines.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::TrialError;

/// What a system that cannot go on says.
const LAST_WORDS: [&str; 6] =
    ["Kernel panic", "emergency mode", "grub rescue>", "No bootable device", "(initramfs)", "cannot open root device"];
/// How often the system is asked until it says something.
const AGAIN: Duration = Duration::from_secs(3);

/// What the system has said so far.
#[derive(Debug, PartialEq, Eq)]
pub enum ConsoleState {
    /// It asks for a login.
    Login,
    /// It cannot go on, and says why.
    Failed(String),
    /// Neither yet.
    Nothing,
}

/// What a system that has written `text` has said.
pub fn said(text: &str) -> ConsoleState {
    if text.contains(" login:") {
        return ConsoleState::Login;
    }
    let failed = text.lines().find(|line| LAST_WORDS.iter().any(|words| line.contains(words)));
    failed.map_or(ConsoleState::Nothing, |line| ConsoleState::Failed(line.trim().to_owned()))
}

/// All that was written to a console that is kept in a file.
pub fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Asks on a serial line for what the system can tell, until the line `=== end`. `goes_on` is asked now and then.
///
/// # Errors
/// If nothing comes within `limit`, or `goes_on` says no.
pub fn ask(
    line: &mut UnixStream,
    limit: Duration,
    goes_on: impl Fn() -> Result<(), TrialError>,
) -> Result<String, TrialError> {
    let failed = || TrialError::at("the serial line");
    line.set_read_timeout(Some(Duration::from_millis(100))).map_err(failed())?;
    let (began, mut asked, mut told, mut part) = (Instant::now(), None::<Instant>, Vec::new(), [0; 1 << 14]);
    loop {
        goes_on()?;
        // Whoever is to answer may not listen yet.
        if told.is_empty() && asked.is_none_or(|asked| asked.elapsed() > AGAIN) {
            line.write_all(b"papers\n").map_err(failed())?;
            asked = Some(Instant::now());
        }
        match line.read(&mut part) {
            Ok(count) if count > 0 => told.extend_from_slice(&part[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Ok(_) => return Err(failed()(ErrorKind::UnexpectedEof.into())),
            Err(error) => return Err(failed()(error)),
        }
        if told.ends_with(b"=== end\n") || told.ends_with(b"=== end\r\n") {
            return Ok(String::from_utf8_lossy(&told).replace('\r', ""));
        }
        if began.elapsed() > limit {
            let found = format!("nothing whole within {} s, but {} B", limit.as_secs(), told.len());
            return Err(TrialError::Unexpected { program: "systemd-analyze".to_owned(), found });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_and_a_failure_are_told_apart() {
        assert_eq!(said("Debian GNU/Linux 12 assay ttyS0\n\nassay login: "), ConsoleState::Login);
        assert_eq!(said("[ 1.0] Run /init as init process\n"), ConsoleState::Nothing);
        let panic = "[ 4.1] Kernel panic - not syncing: VFS: Unable to mount root fs";
        assert_eq!(said(&format!("x\n{panic}\r\ny\n")), ConsoleState::Failed(panic.to_owned()));
    }

    #[test]
    fn a_system_that_does_not_listen_yet_is_asked_again() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let system = std::thread::spawn(move || {
            let mut heard = [0; 14];
            there.read_exact(&mut heard).unwrap();
            there.write_all(b"=== time\r\nStartup\r\n=== e").unwrap();
            there.write_all(b"nd\r\n").unwrap();
            heard
        });
        let told = ask(&mut here, Duration::from_secs(60), || Ok(())).unwrap();
        assert_eq!(told, "=== time\nStartup\n=== end\n");
        assert_eq!(&system.join().unwrap(), b"papers\npapers\n");
        let (mut here, _there) = UnixStream::pair().unwrap();
        let said = ask(&mut here, Duration::ZERO, || Ok(())).unwrap_err().to_string();
        assert!(said.contains("nothing whole"), "{said}");
        assert!(matches!(ask(&mut here, AGAIN, || Err(TrialError::Interrupted)), Err(TrialError::Interrupted)));
    }
}
