//! What the host is short of, or does not allow.

use block::Bytes;
use host::Machine;
use rustix::io::Errno;
use workload::Workload;

use crate::RealError;
use crate::buffers::PAGE;

/// The memory of all requests that may be in flight.
pub(crate) fn buffers(workload: &Workload) -> Bytes {
    workload.block_max().round_up(PAGE).times(u64::from(workload.queue_depth) * u64::from(workload.workers))
}

/// More memory is asked for than there is.
pub(crate) fn memory_error(workload: &Workload) -> RealError {
    RealError::Memory { needed: buffers(workload), available: memory_available() }
}

/// There is no room to remember what every block should hold.
pub(crate) fn ledger_error(needed: Bytes) -> RealError {
    RealError::LedgerMemory { needed, available: memory_available() }
}

/// The kernel refuses a ring, or to go on with it.
pub(crate) fn uring_error(errno: Errno) -> RealError {
    RealError::Uring { errno, disabled: Machine::here().io_uring_disabled() }
}

/// What can be had without swapping; everything where the kernel does not say.
pub(crate) fn memory_available() -> Bytes {
    Machine::here().memory_available().unwrap_or(Bytes::new(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_how_much_memory_there_is() {
        let available = memory_available();
        assert!(available > Bytes::from_mib(1) && available < Bytes::new(u64::MAX), "{available}");
    }
}
