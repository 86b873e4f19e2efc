//! A drive's self-test on request: begun, waited for, and its outcome as the drive logs it. It reads the whole drive and
//! changes no data; a drive goes on with other requests meanwhile, more slowly.
//!
//! Source: smartctl(8), "-t TEST" and "-l selftest"; nvme-device-self-test(1), nvme-self-test-log(1); NVM Express Base
//! Specification 1.4, §5.8 "Device Self-test" and figure 201 "Self-test Result Data Structure"; ATA/ATAPI Command Set 3,
//! §9.17 "SMART self-test log"; T10, SPC-4 r37, §7.3.21 "Self-Test Results log page".

mod ata;
mod nvme;
mod scsi;

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use thiserror::Error;

use super::smartctl;
use crate::{DeviceInfo, Ended, Environment, ProgramError, Tools};

/// What a drive answers within a moment.
const MOMENT: Duration = Duration::from_secs(60);

/// Which of its tests a drive does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SelfTest {
    /// Some minutes at most.
    Short,
    /// All of the medium, for hours; NVMe and ATA call it extended.
    Long,
}

impl SelfTest {
    /// All of them, by the names that smartctl gives them.
    pub const ALL: [(&str, Self); 2] = [("short", Self::Short), ("long", Self::Long)];

    /// Its name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// The longest that it is waited for.
    ///
    /// Source: NVM Express Base Specification 1.4, §8.11: a short test takes two minutes at most; ATA drives report up to
    /// 65,535 minutes for a long one, of which disks of 20 TB take about 2,500.
    const fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Self::Short => 3600,
            Self::Long => 7 * 24 * 3600,
        })
    }
}

impl std::str::FromStr for SelfTest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.iter().find(|(name, _)| *name == text);
        named.map(|(_, test)| *test).ok_or_else(|| "give short or long".to_owned())
    }
}

/// How a self-test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SelfTestOutcome {
    /// The drive found nothing wrong.
    Passed,
    /// The drive found itself defective.
    Failed,
    /// It was ended before its end, and tells nothing.
    Aborted,
}

/// A self-test that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelfTestEnd {
    /// Which it was.
    pub test: SelfTest,
    /// The drive: `/dev/sda`.
    pub device: String,
    /// The program that asked for it.
    pub by: &'static str,
    /// How it ended.
    pub outcome: SelfTestOutcome,
    /// The same in the words of the program or of the standard.
    pub words: String,
}

/// Why there is no outcome of a self-test.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SelfTestError {
    /// There is no drive to test.
    #[error("no self-test: {0}")]
    NoDrive(String),
    /// The drive does not have it.
    #[error("{device} has no self-test that can be followed: {why}")]
    Unsupported {
        /// The drive.
        device: String,
        /// What it lacks, and what else there is.
        why: String,
    },
    /// It does one already.
    #[error("{device} is doing a self-test already, {done} % done; wait for its end, or end it with `{abort}`")]
    UnderWay {
        /// The drive.
        device: String,
        /// How far it is, in percent.
        done: u8,
        /// The command that ends it.
        abort: String,
    },
    /// The program or the drive refused.
    #[error("the self-test of {device} failed to run: `{command}` said: {said}")]
    Refused {
        /// The drive.
        device: String,
        /// What was asked.
        command: String,
        /// The answer.
        said: String,
    },
    /// It took longer than any drive does.
    #[error("the self-test of {device} did not end within {} h; end it with `{abort}`", limit.as_secs() / 3600)]
    Slow {
        /// The drive.
        device: String,
        /// How long it was waited for.
        limit: Duration,
        /// The command that ends it.
        abort: String,
    },
    /// The program that asks for it is not there, or did not end.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// What a drive says of its self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Look {
    /// It is under way: percent done.
    UnderWay(u8),
    /// The latest has ended so; none where there has never been one.
    Ended(Option<(SelfTestOutcome, String)>),
}

/// A drive that is asked for self-tests, in the words of its command set.
trait Tested {
    /// The program that asks.
    fn program(&self) -> &'static str;
    /// The command that ends a test, for people.
    fn abort(&self) -> String;
    /// Whether it has self-tests and a log of them.
    fn check(&self) -> Result<(), SelfTestError>;
    /// Begins one.
    fn begin(&self, test: SelfTest) -> Result<(), SelfTestError>;
    /// What it says of the latest.
    fn look(&self) -> Result<Look, SelfTestError>;
}

/// Has the drive beneath a target test itself, and waits for the end; `told` hears how many percent are done.
///
/// # Errors
/// If there is no drive, it has no self-tests or no log of them, does one already, or refuses.
pub fn self_test(
    environment: &Environment,
    test: SelfTest,
    told: &mut dyn FnMut(u8),
) -> Result<SelfTestEnd, SelfTestError> {
    let device = smartctl::drive(environment).map_err(SelfTestError::NoDrive)?;
    Asked::of(device, Tools::of_system()).carry_out(test, Duration::from_secs(5), told)
}

/// A drive with the programs that it is asked by.
struct Asked {
    path: String,
    is_nvme: bool,
    tools: Tools,
}

impl Asked {
    fn of(device: &DeviceInfo, tools: Tools) -> Self {
        let is_nvme = device.transport.as_deref() == Some("NVMe");
        Self { path: format!("/dev/{}", device.name), is_nvme, tools }
    }

    fn carry_out(
        &self,
        test: SelfTest,
        pause: Duration,
        told: &mut dyn FnMut(u8),
    ) -> Result<SelfTestEnd, SelfTestError> {
        let drive = self.tested()?;
        let (device, abort) = (self.path.clone(), drive.abort());
        drive.check()?;
        if let Look::UnderWay(done) = drive.look()? {
            return Err(SelfTestError::UnderWay { device, done, abort });
        }
        drive.begin(test)?;
        let begun = Instant::now();
        while begun.elapsed() < test.limit() {
            match drive.look()? {
                Look::UnderWay(done) => told(done),
                Look::Ended(Some((outcome, words))) => {
                    return Ok(SelfTestEnd { test, device, by: drive.program(), outcome, words });
                }
                Look::Ended(None) => {
                    return Err(self.unsupported("it took the command and has logged no self-test"));
                }
            }
            thread::sleep(pause);
        }
        Err(SelfTestError::Slow { device, limit: test.limit(), abort })
    }

    /// The drive by its command set: NVMe by nvme-cli, for smartctl has its self-tests only since 7.4; others as smartctl
    /// reaches them, which may be ATA behind USB.
    fn tested(&self) -> Result<Box<dyn Tested + '_>, SelfTestError> {
        if self.is_nvme {
            return Ok(Box::new(nvme::Drive(self)));
        }
        let document = self.json("smartctl", &["--json", "-c", &self.path])?;
        match document.pointer("/device/protocol").and_then(serde_json::Value::as_str) {
            Some("ATA") => Ok(Box::new(ata::Drive(self))),
            Some("SCSI") => Ok(Box::new(scsi::Drive(self))),
            _ => {
                let messages = document.pointer("/smartctl/messages/0/string").and_then(serde_json::Value::as_str);
                Err(self.refused(
                    "smartctl",
                    &["-c", &self.path],
                    messages.unwrap_or("nothing of the drive").to_owned(),
                ))
            }
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<Ended, SelfTestError> {
        Ok(self.tools.run(program, arguments, MOMENT)?)
    }

    /// Runs a program that must succeed.
    fn command(&self, program: &str, arguments: &[&str]) -> Result<Ended, SelfTestError> {
        let ended = self.run(program, arguments)?;
        match ended.code {
            Some(0) => Ok(ended),
            _ => Err(self.refused(program, arguments, ended.last_words())),
        }
    }

    /// Runs a program that prints JSON, whatever it ends with: smartctl's code tells more than whether it succeeded.
    fn json(&self, program: &str, arguments: &[&str]) -> Result<serde_json::Value, SelfTestError> {
        let ended = self.run(program, arguments)?;
        serde_json::from_str(&ended.stdout).map_err(|_| self.refused(program, arguments, ended.last_words()))
    }

    fn refused(&self, program: &str, arguments: &[&str], said: String) -> SelfTestError {
        let command = format!("{program} {}", arguments.join(" "));
        SelfTestError::Refused { device: self.path.clone(), command, said }
    }

    fn unsupported(&self, why: &str) -> SelfTestError {
        SelfTestError::Unsupported { device: self.path.clone(), why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests;
