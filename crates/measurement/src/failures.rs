//! Requests that failed while the run went on.

use std::str::FromStr;

use block::Op;
use serde::{Deserialize, Serialize};

/// What a failed request means for the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It ends with an error.
    #[default]
    Stop,
    /// It goes on, and failures are counted.
    Count,
}

impl FromStr for OnError {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stop" => Ok(Self::Stop),
            "count" => Ok(Self::Count),
            _ => Err("give stop, to end a run with its first failed request, or count".to_owned()),
        }
    }
}

/// Requests of one kind that failed for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What they were to do.
    pub op: Op,
    /// The system's number of the reason; none where less was moved than was asked.
    pub errno: Option<i32>,
    /// How many.
    pub count: u64,
}

impl Failure {
    /// The reason in words.
    pub fn reason(&self) -> String {
        let reason = |errno: i32| std::io::Error::from_raw_os_error(errno).to_string();
        self.errno.map_or_else(|| "short transfer".to_owned(), reason)
    }
}

/// Requests that failed, by kind and reason, in the order in which they first did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Adds a request that failed; without the system's number of the reason it moved less than was asked.
    pub fn record(&mut self, op: Op, errno: Option<i32>) {
        self.add(Failure { op, errno, count: 1 });
    }

    fn add(&mut self, failure: Failure) {
        let same = self.0.iter_mut().find(|known| (known.op, known.errno) == (failure.op, failure.errno));
        match same {
            Some(known) => known.count += failure.count,
            None => self.0.push(failure),
        }
    }

    /// Adds those of another worker or another run.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|failure| self.add(*failure));
    }

    /// Each kind and reason.
    pub fn iter(&self) -> std::slice::Iter<'_, Failure> {
        self.0.iter()
    }

    /// Whether none failed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many failed.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|failure| failure.count).sum()
    }

    /// How many failed of each kind and for what reason: `3 writes: No space left on device (os error 28)`.
    pub fn words(&self) -> String {
        let each = self.0.iter().map(|failure| format!("{} {}s: {}", failure.count, failure.op, failure.reason()));
        each.collect::<Vec<_>>().join("; ")
    }

    /// What is to be said of them; none if none failed.
    pub(crate) fn finding(&self) -> Option<String> {
        (!self.is_empty())
            .then(|| format!("{} requests failed ({}). All figures exclude them.", self.total(), self.words()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's `ENOSPC`.
    const NO_SPACE: i32 = 28;

    #[test]
    fn failures_are_counted_by_kind_and_reason() {
        let mut failures = Failures::default();
        assert_eq!(failures.finding(), None);
        for _ in 0..3 {
            failures.record(Op::Write, Some(NO_SPACE));
        }
        failures.record(Op::Read, None);
        let mut all = failures.clone();
        all.merge(&failures);
        assert_eq!((all.total(), all.iter().count()), (8, 2));
        let said = all.finding().unwrap();
        assert!(said.contains("8 requests failed") && said.contains("6 writes: No space left"), "{said}");
        assert!(said.contains("2 reads: short transfer"), "{said}");
    }
}
