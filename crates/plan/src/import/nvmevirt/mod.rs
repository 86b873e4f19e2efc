//! NVMeVirt's `ssd_config.h` as a drive.
//!
//! The file is read as C's preprocessor reads it, for one of the drives that it has (`preprocessor`): conditions, definitions and
//! expressions of whole numbers, and nothing else. What the definitions are is a table (`fields`), and what a drive is by
//! them is in `kind`, `capacity` and `device`.
//!
//! Source: snu-csl/nvmevirt, commit 61c90f7: `ssd_config.h` for names, `ssd.c`, `conv_ftl.c`, `zns_ftl.c` and `channel_model.c` for what
//! they do.

mod capacity;
mod device;
mod fields;
mod import;
mod kind;
mod preprocessor;
#[cfg(test)]
mod tests;

pub use import::{NvmevirtRequest, import, is_header, table};

use super::simulator::{Simulator, notice_codes};

static NVMEVIRT: Simulator = Simulator {
    name: "NVMeVirt",
    unknown: "NVMeVirt has no use for it, unless a version of its own has; what that does is not known here",
    twice: "leave one; the compiler takes the last",
    codes: notice_codes!("nvmevirt"),
};
