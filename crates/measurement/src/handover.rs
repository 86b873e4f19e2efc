//! How requests were handed to the kernel.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way in which requests are handed to the kernel, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A ring whose completions the waiting thread handles itself, all at once.
    Deferred,
    /// A ring as every kernel with io_uring has it.
    Plain,
    /// A ring of commands to a namespace of NVMe, which pass the kernel's block layer by.
    Commands,
    /// Threads that wait for one request each.
    Threads,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deferred => "io_uring",
            Self::Plain => "io_uring without deferred completions",
            Self::Commands => "io_uring with NVMe commands",
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
        if let Some(code) = self.refusal {
            return Some(format!(
                "The kernel refused a faster submission method ({}); requests used {}, with more CPU time per request. \
                 `assay doctor` shows what is missing.",
                std::io::Error::from_raw_os_error(code),
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
