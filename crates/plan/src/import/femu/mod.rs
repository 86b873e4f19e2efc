//! FEMU's run scripts, or the options of its device alone, as a drive.
//!
//! A script is read as text, in four steps: its commands (`shell`), the values of its variables and the devices that its commands are given
//! (`variables`), the options of the one that is FEMU's (`options`) by tables of them (`fields`), and what a drive is by these:
//! one with a translation layer of its own (`black_box`) or one in zones (`zoned`). Nothing is carried out, no variable of
//! the environment is read, and no other file.
//!
//! Source: MoatLab/FEMU, commit 99ce4fb: `hw/femu/femu.c` for names and defaults, `bbssd`, `zns` and `nand` below it for what they
//! do; `zns/zns.c` of halfseal/femu, commit 1809f58, for drives in zones with `zns_read`.

mod black_box;
mod fields;
mod import;
mod options;
mod shell;
#[cfg(test)]
mod tests;
mod variables;
mod zoned;

pub use import::{import, is_script, table};

use super::simulator::{Simulator, notice_codes};

static FEMU: Simulator = Simulator {
    name: "FEMU",
    unknown: "FEMU refuses it, unless a version of its own has it; what that does is not known here",
    twice: "leave one; QEMU takes the last",
    codes: notice_codes!("femu"),
};
