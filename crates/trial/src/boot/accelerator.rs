//! What carries out a virtual machine's instructions.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use host::open;
use rustix::fs::OFlags;

use super::cache::SystemImage;
use super::machine;
use super::work::BootTools;
use crate::{TrialContext, TrialError};

/// How long a kernel may take to come up on the machine's own processor, which it does in a second or two.
const LIMIT: Duration = Duration::from_secs(20);

/// What was found of this machine, so that it is tried once.
static FOUND: Mutex<Option<Accelerator>> = Mutex::new(None);

/// What carries out a virtual machine's instructions, and why that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accelerator {
    word: &'static str,
    reason: &'static str,
}

const TOLD_TCG: Accelerator = Accelerator { word: "tcg", reason: "emulated (TCG), as in the plan" };
const TOLD_KVM: Accelerator = Accelerator { word: "kvm", reason: "KVM, as in the plan" };
const KVM: Accelerator = Accelerator { word: "kvm", reason: "KVM" };
const NO_KVM: Accelerator = Accelerator { word: "tcg", reason: "emulated (TCG): /dev/kvm cannot be opened" };
const DEAD_KVM: Accelerator =
    Accelerator { word: "tcg", reason: "emulated (TCG): /dev/kvm can be opened, but no kernel boots on it" };

impl Accelerator {
    /// The one that a plan asks for: `tcg`, `kvm`, or by `auto` the machine's own processor if a kernel boots on it.
    ///
    /// # Errors
    /// If that cannot be tried.
    pub fn chosen(asked: &str, system: &SystemImage, work: &BootTools, go: &TrialContext) -> Result<Self, TrialError> {
        match asked {
            "tcg" => return Ok(TOLD_TCG),
            "kvm" => return Ok(TOLD_KVM),
            _ => {}
        }
        let mut found = FOUND.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(found) = *found {
            return Ok(found);
        }
        let tried = if open::character_device(Path::new("/dev/kvm"), OFlags::empty()).is_err() {
            NO_KVM
        } else {
            (go.tell)("checking whether a kernel boots under KVM");
            if machine::boots(&system.kernel(), "kvm", work, LIMIT)? { KVM } else { DEAD_KVM }
        };
        Ok(*found.insert(tried))
    }

    /// QEMU's word for it.
    pub const fn word(&self) -> &'static str {
        self.word
    }

    /// What it is and why.
    pub const fn reason(&self) -> &'static str {
        self.reason
    }

    /// Whether there is none but a program.
    pub fn is_emulated(&self) -> bool {
        self.word == "tcg"
    }
}
