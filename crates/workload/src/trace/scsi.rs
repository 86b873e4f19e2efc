//! SCSI's commands.
//! Source: T10, "SCSI Block Commands - 4", table 33.

use block::Op;

/// What a command asks of a drive, by its first byte; none where it moves no data to a place that it names.
pub(super) const fn op(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}
