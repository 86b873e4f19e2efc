//! Whether what is written is checked.

use serde::{Deserialize, Serialize};

/// Whether a workload checks what it has written. Field names on the command line and in plans are fio's, given in
/// brackets.
///
/// With it each worker has a part of the span to itself and never has two requests for one block in flight, so that
/// there is one answer to the question of what a block should hold. A limit of data is shared out evenly among the
/// workers, so that what each of them writes follows from the workload and the seed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// Whether each block that is written carries a [`Stamp`](crate::Stamp), by which every read of it is checked
    /// \[`verify=crc32c`\].
    pub stamps: bool,
    /// Whether every block that was written is read back once the workload has ended \[`do_verify`\].
    pub read_back: bool,
    /// Whether nothing is written, and what an earlier run of the same workload and seed wrote is read
    /// \[`verify_only`\].
    pub only: bool,
    /// Whether the first damage ends the run \[`verify_fatal`\].
    pub fatal: bool,
}

/// Nothing is checked; if it were, all of it would be read back.
impl Default for Verify {
    fn default() -> Self {
        Self { stamps: false, read_back: true, only: false, fatal: false }
    }
}
