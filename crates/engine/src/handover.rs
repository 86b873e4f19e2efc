//! How requests are handed to the kernel.

use std::str::FromStr;

use measurement::Method;
use rustix::io::Errno;

/// The way that was asked for, by fio's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoEngine {
    /// By io_uring, or by threads where that is forbidden.
    #[default]
    IoUring,
    /// By io_uring, as commands to the character device of a namespace of NVMe.
    UringCommands,
    /// By threads that each call `pread` or `pwrite`, as many as the queue is deep.
    Psync,
}

impl FromStr for IoEngine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "io_uring" => Ok(Self::IoUring),
            "io_uring_cmd" => Ok(Self::UringCommands),
            "psync" => Ok(Self::Psync),
            _ => Err("known: io_uring, io_uring_cmd, psync".to_owned()),
        }
    }
}

/// How requests are to be handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// The way.
    pub engine: IoEngine,
    /// Whether the worker asks the device for completions instead of being interrupted by it.
    pub hipri: bool,
    /// Whether a thread of the kernel looks for requests, so that none needs a call.
    pub sqthread_poll: bool,
    /// How many requests and completions a call is for.
    pub batch: Batch,
    /// The processors that workers may use; empty for all.
    pub cpus: Vec<usize>,
    /// Whether each worker gets one of these, in turn, instead of all sharing them.
    pub split: bool,
}

/// How many requests are handed over by a call, and how many completions a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// At most so many requests a call; none for a few at a time, or all where calls complete what they hand over.
    pub submit: Option<u32>,
    /// A wait ends with so many completions, or all that are in flight where these are fewer. More than one holds
    /// completions back until the last of them has come.
    pub complete_min: u32,
    /// At most so many completions are taken up at a time; none for all that are there.
    pub complete_max: Option<u32>,
}

impl Batch {
    /// No completion is held back.
    pub const DEFAULT: Self = Self { submit: None, complete_min: 1, complete_max: None };
}

impl Default for Batch {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Submission {
    /// The ways to try, the best first.
    pub(crate) fn methods(&self) -> &'static [Method] {
        match (self.engine, self.sqthread_poll) {
            (IoEngine::IoUring, false) => &[Method::Deferred, Method::Plain, Method::Threads],
            // A ring that the kernel looks into by itself has no thread to defer completions to.
            (IoEngine::IoUring, true) => &[Method::Plain, Method::Threads],
            (IoEngine::UringCommands, _) => &[Method::Commands],
            (IoEngine::Psync, _) => &[Method::Threads],
        }
    }

    /// The processors of worker number `index`; none for all that there are.
    pub(crate) fn cpus_of(&self, index: u32) -> Option<&[usize]> {
        match self.cpus.len() {
            0 => None,
            count if self.split => self.cpus.get(index as usize % count..).map(|from| &from[..1]),
            _ => Some(&self.cpus),
        }
    }
}

/// The first of `methods` that the kernel grants, with the first refusal on the way to it.
///
/// Only what says that the kernel does not have a method, or does not allow it, leads on to the next: what is short
/// now would be short for the next as well.
pub(crate) fn first_granted<Q>(
    methods: &[Method],
    mut attempt: impl FnMut(Method) -> Result<Q, Errno>,
) -> Result<(Q, Method, Option<Errno>), Errno> {
    let mut refusal = None;
    for (place, &method) in methods.iter().enumerate() {
        match attempt(method) {
            Ok(queue) => return Ok((queue, method, refusal)),
            Err(errno @ (Errno::INVAL | Errno::PERM | Errno::ACCESS | Errno::NOSYS)) if place + 1 < methods.len() => {
                refusal.get_or_insert(errno);
            }
            Err(errno) => return Err(errno),
        }
    }
    Err(refusal.unwrap_or(Errno::NOSYS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is granted by a kernel that refuses the first `refused` ways for this reason.
    fn granted(refused: usize, errno: Errno) -> Result<(Method, Option<Errno>), Errno> {
        let mut left = refused;
        let attempt = |_| match left {
            0 => Ok(()),
            _ => {
                left -= 1;
                Err(errno)
            }
        };
        first_granted(Submission::default().methods(), attempt).map(|((), method, refusal)| (method, refusal))
    }

    #[test]
    fn what_the_kernel_refuses_is_replaced_by_the_next_best() {
        assert_eq!(granted(0, Errno::INVAL), Ok((Method::Deferred, None)));
        assert_eq!(granted(1, Errno::INVAL), Ok((Method::Plain, Some(Errno::INVAL))));
        assert_eq!(granted(2, Errno::PERM), Ok((Method::Threads, Some(Errno::PERM))));
        assert_eq!(granted(3, Errno::PERM), Err(Errno::PERM));
    }

    #[test]
    fn what_is_short_is_not_made_good_by_another_way() {
        assert_eq!(granted(1, Errno::NOMEM), Err(Errno::NOMEM));
        assert_eq!(granted(1, Errno::MFILE), Err(Errno::MFILE));
    }

    #[test]
    fn processors_are_shared_or_dealt_out_in_turn() {
        let shared = Submission { cpus: vec![2, 5], ..Submission::default() };
        assert_eq!((shared.cpus_of(0), shared.cpus_of(3)), (Some(&[2, 5][..]), Some(&[2, 5][..])));
        let split = Submission { split: true, ..shared };
        assert_eq!((split.cpus_of(0), split.cpus_of(3)), (Some(&[2][..]), Some(&[5][..])));
        assert_eq!(Submission::default().cpus_of(0), None);
    }
}
