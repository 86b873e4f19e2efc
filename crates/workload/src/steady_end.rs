//! The steady state at which a workload may end.

use std::fmt;
use std::str::FromStr;

use block::{Bytes, Nanos, parse_bytes, parse_duration};
use serde::{Deserialize, Serialize};

use crate::distribution::Decimal;
use crate::{ListError, amount, duration};

/// No window has more values, eleven days of seconds.
const VALUES_MAX: usize = 1_000_000;

/// A steady state that ends a workload, as fio has it. Field names on the command line and in plans are fio's, given in brackets.
///
/// Source: fio 3.33, HOWTO, `steadystate`, and what the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyEnd {
    /// What is judged, and when it is steady; none if no steady state ends the workload \[`steadystate`\].
    pub criterion: Option<SteadyCriterion>,
    /// Over which time, the latest, it is judged \[`steadystate_duration`\].
    pub window: Nanos,
    /// What is not judged of the time that is counted, at its beginning \[`steadystate_ramp_time`\].
    pub ramp: Nanos,
    /// The time that a value stands for \[`steadystate_check_interval`\].
    pub interval: Nanos,
}

impl Default for SteadyEnd {
    fn default() -> Self {
        Self::NONE
    }
}

impl SteadyEnd {
    /// No steady state ends the workload.
    pub const NONE: Self = Self { criterion: None, window: Nanos::ZERO, ramp: Nanos::ZERO, interval: Self::TICK };
    /// The shortest time that a value can stand for.
    pub const TICK: Nanos = Nanos::from_secs(1);

    pub(crate) fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// How many values a window has.
    pub const fn values(&self) -> usize {
        (self.window.as_nanos() / self.interval.as_nanos()) as usize
    }

    /// Whether the times make sense together: an interval of whole seconds, and a whole number of them in the window.
    pub fn is_sound(&self) -> bool {
        let is_whole = |time: Nanos, of: Nanos| of > Nanos::ZERO && time.as_nanos().is_multiple_of(of.as_nanos());
        match self.criterion {
            Some(_) => {
                is_whole(self.interval, Self::TICK)
                    && is_whole(self.window, self.interval)
                    && (1..=VALUES_MAX).contains(&self.values())
            }
            None => self.is_none(),
        }
    }

    /// When the workload ends, in words; none if no steady state ends it.
    pub fn words(&self) -> Option<String> {
        let criterion = self.criterion?;
        let SteadyCriterion { figure, of, limit, .. } = criterion;
        let (figure, limit, window) = (figure.words(), criterion.shown(limit.to_string(), limit.get()), self.window);
        let each = if self.interval == Self::TICK { "a second".to_owned() } else { format!("in {}", self.interval) };
        let words = match of {
            SteadyMeasure::Deviation => format!("until {figure} stays within {limit} of its mean for {window}"),
            SteadyMeasure::Slope => format!("until {figure} changes by less than {limit} {each} over {window}"),
        };
        Some(match self.ramp {
            Nanos::ZERO => words,
            ramp => format!("{words}, judged after {ramp}"),
        })
    }
}

/// What is judged of a workload, and when it is steady: fio's `iops_slope:0.1%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SteadyCriterion {
    pub figure: SteadyFigure,
    pub of: SteadyMeasure,
    /// Whether the limit is a share of the mean, in percent.
    pub is_percent: bool,
    /// What it is to be less than, in percent, IOPS, bytes a second or nanoseconds.
    pub limit: Decimal,
}

/// What has a value in each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyFigure {
    /// Requests a second.
    Iops,
    /// Data a second.
    Bandwidth,
    /// The mean latency.
    Latency,
}

impl SteadyFigure {
    const ALL: [(&str, Self); 3] = [("iops", Self::Iops), ("bw", Self::Bandwidth), ("lat", Self::Latency)];

    /// fio's word for it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, figure)| *figure == self).expect("every figure has a name").0
    }

    /// An amount of it as a limit has it.
    const fn amount(self) -> &'static str {
        match self {
            Self::Iops => "in IOPS as in iops:250",
            Self::Bandwidth => "in data per second as in bw:10m",
            Self::Latency => "a time with its unit as in lat:20us",
        }
    }

    /// The same for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "bandwidth",
            Self::Latency => "mean latency",
        }
    }
}

/// What of the values in a window is held against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyMeasure {
    /// The largest distance of one from their mean.
    Deviation,
    /// By how much the least-squares line through them rises or falls from one to the next.
    Slope,
}

impl SteadyMeasure {
    /// What fio has behind the figure.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Deviation => "",
            Self::Slope => "_slope",
        }
    }
}

impl SteadyCriterion {
    /// A value that is held against the limit, with its unit; `number` is how it is written where the unit does not say.
    pub fn shown(&self, number: String, value: f64) -> String {
        match (self.is_percent, self.figure) {
            (true, _) => format!("{number} %"),
            (false, SteadyFigure::Iops) => format!("{number} IOPS"),
            (false, SteadyFigure::Bandwidth) => format!("{} per second", Bytes::new(value as u64)),
            (false, SteadyFigure::Latency) => Nanos::from_nanos(value as u64).to_string(),
        }
    }
}

impl fmt::Display for SteadyCriterion {
    /// As fio takes it, without rounding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { figure, of, is_percent, limit } = self;
        write!(f, "{}{}:", figure.name(), of.suffix())?;
        match (is_percent, figure) {
            (true, _) => write!(f, "{limit}%"),
            (false, SteadyFigure::Iops) => write!(f, "{limit}"),
            (false, SteadyFigure::Bandwidth) => f.write_str(&amount(Bytes::new(limit.get() as u64))),
            (false, SteadyFigure::Latency) => f.write_str(&duration(Nanos::from_nanos(limit.get() as u64))),
        }
    }
}

impl FromStr for SteadyCriterion {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let unknown = || ListError::UnknownCriterion { found: text.to_owned() };
        let (name, limit) =
            text.split_once(':').map(|(name, limit)| (name.trim(), limit.trim())).ok_or_else(unknown)?;
        let (name, of) = match name.strip_suffix("_slope") {
            Some(name) => (name, SteadyMeasure::Slope),
            None => (name, SteadyMeasure::Deviation),
        };
        let (_, figure) = SteadyFigure::ALL.into_iter().find(|(own, _)| *own == name).ok_or_else(unknown)?;
        let share = limit.strip_suffix('%');
        // Without a unit it would be in seconds here and in microseconds in fio.
        let is_bare = limit.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let read = match (share, figure) {
            (Some(share), _) => Decimal::read(share.trim_end()),
            (None, SteadyFigure::Iops) => Decimal::read(limit),
            (None, SteadyFigure::Bandwidth) => parse_bytes(limit).ok().and_then(|bytes| Decimal::whole(bytes.get())),
            (None, SteadyFigure::Latency) if is_bare => None,
            (None, SteadyFigure::Latency) => {
                parse_duration(limit).ok().and_then(|time| Decimal::whole(time.as_nanos()))
            }
        };
        let limit = read.ok_or_else(|| ListError::Limit { found: limit.to_owned(), amount: figure.amount() })?;
        Ok(Self { figure, of, is_percent: share.is_some(), limit })
    }
}

impl TryFrom<String> for SteadyCriterion {
    type Error = ListError;

    fn try_from(text: String) -> Result<Self, ListError> {
        text.parse()
    }
}

impl From<SteadyCriterion> for String {
    fn from(criterion: SteadyCriterion) -> Self {
        criterion.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(criterion: &str, window: u64, interval: u64) -> SteadyEnd {
        let [window, interval] = [window, interval].map(Nanos::from_secs);
        SteadyEnd { criterion: Some(criterion.parse().unwrap()), window, interval, ..SteadyEnd::default() }
    }

    #[test]
    fn criteria_are_read_and_written_as_fio_has_them() {
        for text in ["iops:2%", "iops_slope:0.1%", "bw:10m", "bw_slope:0.3%", "iops:250.5", "lat:5%", "lat_slope:20us"]
        {
            assert_eq!(text.parse::<SteadyCriterion>().unwrap().to_string(), text);
        }
        let said = |text: &str| text.parse::<SteadyCriterion>().expect_err(text).to_string();
        for text in ["iops", "latency:5%", "iops_slop:1", ""] {
            assert!(said(text).contains("use iops:2%"), "{text}: {}", said(text));
        }
        for text in ["iops:", "iops:%", "iops:-1", "bw:x", "bw:0.3", "lat:1y", "lat:20", "iops:1e3", "iops:5.0000001%"]
        {
            assert!(said(text).contains("is no limit of a steady state"), "{text}: {}", said(text));
        }
    }

    #[test]
    fn the_end_is_told_in_words() {
        let told = |end: SteadyEnd| end.words().unwrap();
        assert_eq!(told(ends("iops:2%", 30, 1)), "until IOPS stays within 2 % of its mean for 30 s");
        assert_eq!(
            told(SteadyEnd { ramp: Nanos::from_secs(10), ..ends("bw_slope:10m", 300, 10) }),
            "until bandwidth changes by less than 10 MiB per second in 10 s over 5 min, judged after 10 s"
        );
        assert_eq!(
            told(ends("lat_slope:0.1%", 60, 1)),
            "until mean latency changes by less than 0.1 % a second over 60 s"
        );
        assert_eq!(SteadyEnd::default().words(), None);
    }

    #[test]
    fn a_window_has_whole_intervals_of_whole_seconds() {
        assert!(ends("iops:2%", 30, 10).is_sound() && SteadyEnd::default().is_sound());
        let odd = SteadyEnd { interval: Nanos::from_millis(1500), ..ends("iops:2%", 30, 1) };
        let alone = SteadyEnd { criterion: None, ..ends("iops:2%", 30, 1) };
        for unsound in [ends("iops:2%", 25, 10), ends("iops:2%", 0, 1), odd, alone] {
            assert!(!unsound.is_sound(), "{unsound:?}");
        }
        assert!(!ends("iops:2%", 10 * 365 * 86_400, 1).is_sound(), "more values than anybody keeps");
        assert!(!SteadyEnd { interval: Nanos::ZERO, ..ends("iops:2%", 30, 1) }.is_sound());
    }
}
