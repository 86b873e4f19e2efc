//! How requests are handed to the kernel.

use std::fmt;
use std::str::FromStr;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// The way that was asked for, by fio's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoEngine {
    /// By io_uring, or by threads where that is forbidden.
    #[default]
    IoUring,
    /// By threads that each call `pread` or `pwrite`, as many as the queue is deep.
    Psync,
}

impl FromStr for IoEngine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "io_uring" => Ok(Self::IoUring),
            "psync" => Ok(Self::Psync),
            _ => Err("known: io_uring, psync".to_owned()),
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
    /// The processors that workers may use; empty for all.
    pub cpus: Vec<usize>,
    /// Whether each worker gets one of these, in turn, instead of all sharing them.
    pub split: bool,
}

impl Submission {
    /// The ways to try, the best first.
    pub(crate) fn methods(&self) -> &'static [Method] {
        match (self.engine, self.sqthread_poll) {
            (IoEngine::IoUring, false) => &[Method::Deferred, Method::Plain, Method::Threads],
            // A ring that the kernel looks into by itself has no thread to defer completions to.
            (IoEngine::IoUring, true) => &[Method::Plain, Method::Threads],
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

/// A way in which requests are handed to the kernel, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A ring whose completions the waiting thread handles itself, all at once.
    Deferred,
    /// A ring as every kernel with io_uring has it.
    Plain,
    /// Threads that wait for one request each.
    Threads,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deferred => "io_uring",
            Self::Plain => "io_uring without deferred completions",
            Self::Threads => "threads that call pread and pwrite",
        })
    }
}

/// How requests were handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// The way.
    pub method: Method,
    /// Whether the kernel knew the buffers beforehand, which spares it work with every request.
    pub registered: bool,
    /// The error by which the kernel refused a better way.
    pub refusal: Option<i32>,
}

impl Handover {
    /// What is to be said of the lesser of two workers' ways.
    #[must_use]
    pub fn lesser(self, other: Self) -> Self {
        let registered = self.registered && other.registered;
        Self { registered, ..if other.method > self.method { other } else { self } }
    }

    /// What is to be said where the best way was not to be had.
    pub fn finding(self) -> Option<String> {
        let reason = |code| Errno::from_raw_os_error(code);
        if let Some(code) = self.refusal {
            return Some(format!(
                "The kernel refused a faster submission method ({}); requests used {}, with more CPU time per request. \
                 `assay doctor` shows what is missing.",
                reason(code),
                self.method
            ));
        }
        (self.method != Method::Threads && !self.registered).then(|| {
            "The kernel refused to register the buffers, which costs CPU time per request. Raise the limit of locked \
             memory (`ulimit -l`)."
                .to_owned()
        })
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
    fn a_lesser_way_is_told_with_its_reason_and_the_best_one_needs_no_words() {
        let best = Handover { method: Method::Deferred, registered: true, refusal: None };
        assert_eq!(best.finding(), None);
        let threads = Handover { method: Method::Threads, registered: false, refusal: Some(1) };
        let said = best.lesser(threads).finding().unwrap();
        assert!(said.contains("Operation not permitted") && said.contains("pread"), "{said}");
        let asked = Handover { refusal: None, ..threads };
        assert_eq!(asked.finding(), None, "threads that were asked for are no fallback");
        let unregistered = Handover { registered: false, ..best };
        assert!(unregistered.finding().unwrap().contains("ulimit -l"));
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
