//! Erasing a real drive by a command of its own: ATA secure erase, NVMe format, NVMe and SCSI sanitize.
//!
//! A discard tells a drive which blocks need not be kept, and leaves to it what it does with them. These commands take it
//! back to how it was delivered, all of it. They are carried out only where a plan or the command line names them, and
//! only on a whole drive that the guards have let through.

mod ata;
mod nvme;
mod scsi;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{DeviceInfo, Ended, ProgramError, Tools};

/// How a target is made to forget its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeMethod {
    /// Discard of all blocks; a file is made anew.
    #[default]
    Discard,
    /// ATA's SECURITY ERASE UNIT, by hdparm.
    SecureErase,
    /// NVMe's Format NVM with user data erase, by nvme-cli.
    NvmeFormat,
    /// Sanitize with block erase: NVMe's by nvme-cli, SCSI's by sg_sanitize.
    Sanitize,
    /// Nothing: the state is the one it was found in.
    None,
}

impl PurgeMethod {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 5] = [
        ("discard", Self::Discard),
        ("secure-erase", Self::SecureErase),
        ("nvme-format", Self::NvmeFormat),
        ("sanitize", Self::Sanitize),
        ("none", Self::None),
    ];

    /// The method of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl std::str::FromStr for PurgeMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text).ok_or_else(|| "give discard, secure-erase, nvme-format, sanitize or none".to_owned())
    }
}

/// Why a drive is not erased by a command of its own.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EraseError {
    /// The target is not the kind of drive that has the command.
    #[error("purge by {} is a command of a whole {kind} drive, and the target is {found}; use discard, or name the drive", method.name())]
    NotSuch {
        /// What was asked for.
        method: PurgeMethod,
        /// The kind that has it.
        kind: &'static str,
        /// What the target is.
        found: String,
    },
    /// The drive is in a state in which it refuses, or must not be asked.
    #[error("{device} cannot be purged by {}: {why}", method.name())]
    Refused {
        /// What was asked for.
        method: PurgeMethod,
        /// The drive.
        device: String,
        /// Why not, and what helps.
        why: String,
    },
    /// The program that does it is not there, or did not end.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// A drive to be erased, with the programs that do it.
pub struct Eraser<'a> {
    /// The drive beneath the target; none where the target is a file, or nothing is known of it.
    pub device: Option<&'a DeviceInfo>,
    /// Whether the target is a file.
    pub is_file: bool,
    /// Where programs are looked for.
    pub tools: Tools,
    /// All that speaks against erasing the drive now: asked right before it is.
    pub against: Box<dyn Fn() -> Vec<String> + 'a>,
}

/// What a drive answers within a moment.
const MOMENT: Duration = Duration::from_secs(60);

impl Eraser<'_> {
    /// Whether the target can be erased by this method, without changing anything.
    ///
    /// # Errors
    /// If it is a file, a partition or another kind of drive; if the program is missing; if the drive would refuse.
    pub fn check(&self, method: PurgeMethod) -> Result<(), EraseError> {
        match method {
            PurgeMethod::Discard | PurgeMethod::None => Ok(()),
            PurgeMethod::SecureErase => ata::check(self).map(|_| ()),
            PurgeMethod::Sanitize if self.is_scsi() => scsi::check(self).map(|_| ()),
            PurgeMethod::NvmeFormat | PurgeMethod::Sanitize => nvme::check(self, method).map(|_| ()),
        }
    }

    /// Erases the drive; what is to be said of it. Checks again first.
    ///
    /// # Errors
    /// As [`check`](Self::check), and if the drive fails to do it.
    pub fn erase(&self, method: PurgeMethod) -> Result<Option<String>, EraseError> {
        match method {
            PurgeMethod::Discard | PurgeMethod::None => Ok(None),
            PurgeMethod::SecureErase => ata::erase(self).map(Some),
            PurgeMethod::NvmeFormat => nvme::format(self).map(Some),
            PurgeMethod::Sanitize if self.is_scsi() => scsi::sanitize(self).map(Some),
            PurgeMethod::Sanitize => nvme::sanitize(self).map(Some),
        }
    }

    /// Whether the target is a drive that takes SCSI commands itself: neither ATA behind a translation, nor USB.
    fn is_scsi(&self) -> bool {
        self.device.is_some_and(|device| {
            device.name.starts_with("sd") && matches!(device.transport.as_deref(), Some("SAS" | "SCSI" | "virtio"))
        })
    }

    /// The whole drive, attached in one of these ways.
    fn drive(&self, method: PurgeMethod, transports: &[&str]) -> Result<&DeviceInfo, EraseError> {
        let kind = match method {
            PurgeMethod::SecureErase => "SATA",
            PurgeMethod::Sanitize => "NVMe or SCSI",
            _ => "NVMe",
        };
        let not_such = |found: String| Err(EraseError::NotSuch { method, kind, found });
        match self.device {
            _ if self.is_file => not_such("a file".to_owned()),
            None => not_such("not a drive that the kernel describes".to_owned()),
            Some(DeviceInfo { partition: Some(partition), .. }) => not_such(format!("the partition {partition}")),
            Some(device) if !device.transport.as_deref().is_some_and(|transport| transports.contains(&transport)) => {
                let transport = device.transport.as_deref().unwrap_or("by an unknown transport");
                not_such(format!("{}, attached by {transport}", device.name))
            }
            Some(device) => Ok(device),
        }
    }

    /// Makes sure that nothing has come to speak against erasing the drive since the guards let it through.
    fn ask_again(&self, method: PurgeMethod) -> Result<(), EraseError> {
        match &(self.against)()[..] {
            [] => Ok(()),
            by => Err(self.refused(method, format!("{}; end that, and run it again", by.join(", ")))),
        }
    }

    /// Runs a program that must succeed.
    fn run(
        &self,
        method: PurgeMethod,
        program: &str,
        arguments: &[&str],
        limit: Duration,
    ) -> Result<Ended, EraseError> {
        let ended = self.tools.run(program, arguments, limit)?;
        match ended.code {
            Some(0) => Ok(ended),
            _ => Err(self.refused(method, format!("`{program} {}` said: {}", arguments.join(" "), ended.last_words()))),
        }
    }

    fn refused(&self, method: PurgeMethod, why: String) -> EraseError {
        let device = self.device.map(|device| device.name.clone()).unwrap_or_default();
        EraseError::Refused { method, device, why }
    }
}

#[cfg(test)]
mod tests;
