//! Requests that failed while the run went on.

use std::fmt;
use std::str::FromStr;

use block::{Bytes, Nanos, Op, Status};
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
    /// The system's number of the reason; none where less was moved than was asked, or a simulated drive says why.
    pub errno: Option<i32>,
    /// How a simulated drive ended them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// How many.
    pub count: u64,
    /// The request, where it is one that was never answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

/// A request that the device had not answered when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What it was to do.
    pub op: Op,
    /// Where in its file or device it begins.
    pub offset: Bytes,
    /// How much data it concerns.
    pub length: Bytes,
    /// For how long it had been in flight.
    pub waited: Nanos,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, offset, length, waited } = self;
        match op {
            Op::Flush => write!(f, "flush, after {waited}"),
            _ => write!(f, "{op} of {length} at offset {}, after {waited}", offset.get()),
        }
    }
}

/// The reason of a request that was never answered, as Linux numbers it.
const ETIMEDOUT: i32 = 110;
/// What the kernel makes of a drive's medium error. Source: Linux, block/blk-core.c, `blk_errors`.
const ENODATA: i32 = 61;
/// So many of these are named; the rest are counted.
const NAMED: usize = 10;

impl Failure {
    /// The reason in words.
    pub fn reason(&self) -> String {
        if let Some(missing) = self.missing {
            return format!("no answer to the {missing}");
        }
        let reason = |errno: i32| {
            let said = std::io::Error::from_raw_os_error(errno);
            // What block devices mean by it, which the system's words do not say.
            if errno == ENODATA { format!("medium error: {said}") } else { said.to_string() }
        };
        let said = self.status.map(|status| status.to_string());
        said.or_else(|| self.errno.map(reason)).unwrap_or_else(|| "short transfer".to_owned())
    }
}

/// Requests that failed, by kind and reason, in the order in which they first did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Adds a request that failed; without the system's number of the reason it moved less than was asked.
    pub fn record(&mut self, op: Op, errno: Option<i32>) {
        self.add(Failure { op, errno, status: None, count: 1, missing: None });
    }

    /// Adds a request that a simulated drive ended with an error.
    pub fn record_status(&mut self, op: Op, status: Status) {
        self.add(Failure { op, errno: None, status: Some(status), count: 1, missing: None });
    }

    /// Adds a request that was never answered.
    pub fn record_missing(&mut self, missing: Missing) {
        let (op, errno) = (missing.op, Some(ETIMEDOUT));
        self.add(Failure { op, errno, status: None, count: 1, missing: Some(missing) });
    }

    fn add(&mut self, failure: Failure) {
        let named = self.0.iter().filter(|known| known.missing.is_some()).count();
        let failure = Failure { missing: failure.missing.filter(|_| named < NAMED), ..failure };
        let kind = |failure: &Failure| (failure.op, failure.errno, failure.status, failure.missing);
        let same = self.0.iter_mut().find(|known| kind(known) == kind(&failure) && known.missing.is_none());
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
        let words = |failure: &Failure| match failure.missing {
            Some(_) => failure.reason(),
            None => format!("{} {}s: {}", failure.count, failure.op, failure.reason()),
        };
        self.0.iter().map(words).collect::<Vec<_>>().join("; ")
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

    #[test]
    fn requests_that_were_never_answered_are_named_up_to_ten_of_them() {
        let missing = |place: u64| Missing {
            op: Op::Read,
            offset: Bytes::from_kib(4 * place),
            length: Bytes::from_kib(4),
            waited: Nanos::from_secs(61),
        };
        let (mut one, mut other) = (Failures::default(), Failures::default());
        (0..7).for_each(|place| one.record_missing(missing(place)));
        (7..15).for_each(|place| other.record_missing(missing(place)));
        one.merge(&other);
        assert_eq!((one.total(), one.iter().count()), (15, 11));
        let said = one.finding().unwrap();
        assert!(
            said.contains("15 requests failed (no answer to the read of 4 KiB at offset 0, after 61 s; "),
            "{said}"
        );
        assert!(said.contains("; 5 reads: Connection timed out"), "{said}");
        let stored = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Failures>(&stored).unwrap(), one);
        let before = r#"[{"op":"read","errno":5,"count":2}]"#;
        assert_eq!(serde_json::from_str::<Failures>(before).unwrap().total(), 2, "as it was stored before");
    }
}
