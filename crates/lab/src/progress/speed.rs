//! How fast a measurement in real time is.

use std::fmt;

use engine::{Lately, LiveProgress};

/// How fast a measurement in real time is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub rate: f64,
    /// How long requests took in the last second; none where that has none.
    pub lately: Option<Lately>,
}

impl Speed {
    /// Between two times; none where nothing can be told of it.
    pub(super) fn between(before: LiveProgress, now: LiveProgress) -> Option<Self> {
        let seconds = now.elapsed.since(before.elapsed).as_secs_f64();
        let requests = now.requests.checked_sub(before.requests)? as f64;
        let bytes = now.bytes.get().checked_sub(before.bytes.get())? as f64;
        (seconds > 0.0).then(|| Self { iops: requests / seconds, rate: bytes / seconds, lately: now.lately })
    }
}

/// `61200 IOPS, 250.7 MB/s; last second: median 512 µs, 99 % 1.2 ms`. Latencies are left out where the last second has
/// none.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} IOPS, {:.1} MB/s", self.iops, self.rate / 1e6)?;
        match self.lately {
            Some(lately) => write!(f, "; last second: median {}, 99 % {}", lately.median, lately.p99),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos};

    use super::*;

    #[test]
    fn the_speed_is_that_since_it_was_last_heard_of() {
        let at = |requests, millis| LiveProgress {
            requests,
            bytes: Bytes::from_kib(4).times(requests),
            elapsed: Nanos::from_millis(millis),
            ..LiveProgress::default()
        };
        let speed = |before, now| Speed::between(before, now).map(|speed| speed.to_string());
        assert_eq!(speed(at(1000, 500), at(3000, 1000)).unwrap(), "4000 IOPS, 16.4 MB/s");
        assert_eq!(speed(at(10, 10), at(10, 10)), None);
    }
}
