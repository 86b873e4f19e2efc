//! SCSI's sanitize, by sg_sanitize.
//!
//! Source: sg_sanitize(8), sg_opcodes(8), sg3_utils(8) "EXIT STATUS"; T10, SBC-4 r15, §5.30 "SANITIZE command".

use std::time::Duration;

use super::{EraseError, Eraser, MOMENT, PurgeMethod};

const METHOD: PurgeMethod = PurgeMethod::Sanitize;

/// The longest that an erasure is waited for, which the command itself is given, and what is added for the program to end.
const LIMIT: Duration = Duration::from_secs(12 * 3600);

/// SANITIZE with the service action of a block erase.
const OPCODE: &str = "--opcode=0x48,2";

/// Whether the drive would take the command, as it says itself; one that reports no supported commands is let through, for
/// many do not and have the command. The path of the drive.
pub(super) fn check(eraser: &Eraser) -> Result<String, EraseError> {
    let device = eraser.drive(METHOD, &["SAS", "SCSI", "virtio"])?;
    let path = format!("/dev/{}", device.name);
    if !eraser.tools.has("sg_sanitize") {
        return Err(crate::ProgramError::Missing { program: "sg_sanitize".to_owned() }.into());
    }
    let told = eraser.tools.run("sg_opcodes", &[OPCODE, &path], MOMENT)?.stdout.to_ascii_lowercase();
    match told.contains("command is not supported") {
        true => Err(eraser.refused(METHOD, "the drive has no SANITIZE with block erase; use discard".to_owned())),
        false => Ok(path),
    }
}

/// Erases by blocks, and waits within the command: only then does the program's end say how the erasure ended.
pub(super) fn sanitize(eraser: &Eraser) -> Result<String, EraseError> {
    let path = check(eraser)?;
    eraser.ask_again(METHOD)?;
    let timeout = format!("--timeout={}", LIMIT.as_secs());
    eraser.run(METHOD, "sg_sanitize", &["--block", "--quick", "--wait", &timeout, &path], LIMIT + MOMENT)?;
    Ok("The drive was purged by SCSI sanitize with block erase.".to_owned())
}
