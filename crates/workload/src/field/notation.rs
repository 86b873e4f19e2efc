//! How the values of fields are read from text, written exactly, and shown to people.

use block::{Bytes, Nanos, ParseError, parse_bytes, parse_count, parse_duration, parse_percent, separated};

use super::FieldError;
use crate::{Distribution, Pattern, RandomShare, Sizes, Spare, SteadyCriterion, Workload, amount, duration, profile};

/// The largest size, offset or amount of data: more than any target holds, and far from overflow.
pub const BYTES_MAX: Bytes = Bytes::from_gib(1 << 30);
/// The longest duration: ten years.
pub const TIME_MAX: Nanos = Nanos::from_secs(10 * 365 * 86_400);
/// The most requests of a worker.
pub const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// What a field's values are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// They are words, or have no unit.
    None,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Percent of a whole, from 0 to 100.
    Percent,
}

/// A field as text, whatever its type.
pub(super) trait Access: Sync {
    /// Sets the field to what `text` says.
    fn set(&self, workload: &mut Workload, text: &str) -> Result<(), FieldError>;
    /// The value as [`Access::set`] takes it; none where the workload has none.
    fn get(&self, workload: &Workload) -> Option<String>;
    /// The value as a number; none where it has no order.
    fn number(&self, workload: &Workload) -> Option<f64>;
    /// The value for people.
    fn shown(&self, workload: &Workload) -> Option<String>;
    /// What its numbers are counted in.
    fn unit(&self) -> Unit;
}

/// How values of one type are read and written.
pub(super) struct Notation<T: 'static> {
    pub(super) unit: Unit,
    pub(super) read: fn(&str) -> Result<T, FieldError>,
    pub(super) write: fn(&T) -> String,
    pub(super) shown: fn(&T) -> String,
    pub(super) number: fn(&T) -> Option<f64>,
}

/// A field whose value has a notation.
pub(super) struct Value<T: 'static> {
    pub(super) of: &'static Notation<T>,
    pub(super) get: fn(&Workload) -> Option<T>,
    pub(super) set: fn(&mut Workload, T),
}

impl<T> Access for Value<T> {
    fn set(&self, workload: &mut Workload, text: &str) -> Result<(), FieldError> {
        (self.of.read)(text).map(|value| (self.set)(workload, value))
    }

    fn get(&self, workload: &Workload) -> Option<String> {
        (self.get)(workload).as_ref().map(self.of.write)
    }

    fn number(&self, workload: &Workload) -> Option<f64> {
        (self.get)(workload).as_ref().and_then(self.of.number)
    }

    fn shown(&self, workload: &Workload) -> Option<String> {
        (self.get)(workload).as_ref().map(self.of.shown)
    }

    fn unit(&self) -> Unit {
        self.of.unit
    }
}

/// A field that is on or off.
pub(super) struct Switch {
    /// The words for off, then those for on; the first and the last are written.
    pub(super) words: &'static [&'static str],
    /// How many of them mean off.
    pub(super) off: usize,
    /// Off and on for people.
    pub(super) shown: [&'static str; 2],
    pub(super) get: fn(&Workload) -> bool,
    pub(super) set: fn(&mut Workload, bool),
}

/// The words of a switch that has none of its own.
pub(super) const OFF_ON: &[&str] = &["0", "1"];

impl Access for Switch {
    fn set(&self, workload: &mut Workload, text: &str) -> Result<(), FieldError> {
        let place = self.words.iter().position(|word| *word == text);
        let unknown = || FieldError::UnknownWord { found: text.to_owned(), known: self.words };
        place.ok_or_else(unknown).map(|place| (self.set)(workload, place >= self.off))
    }

    fn get(&self, workload: &Workload) -> Option<String> {
        let word = if (self.get)(workload) { self.words.last() } else { self.words.first() };
        word.map(|word| (*word).to_owned())
    }

    fn number(&self, _: &Workload) -> Option<f64> {
        None
    }

    fn shown(&self, workload: &Workload) -> Option<String> {
        Some(self.shown[usize::from((self.get)(workload))].to_owned())
    }

    fn unit(&self) -> Unit {
        Unit::None
    }
}

/// An amount of data, or a share of the target or the span in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Bytes(Bytes),
    Percent(u32),
}

impl Extent {
    /// Of what a workload keeps apart.
    pub(super) fn of(bytes: Option<Bytes>, percent: Option<impl Into<u32>>) -> Option<Self> {
        percent.map(|percent| Self::Percent(percent.into())).or(bytes.map(Self::Bytes))
    }

    pub(super) fn bytes(self) -> Option<Bytes> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The share, which is one of up to 100 % where `EXTENT` read it.
    pub(super) fn percent<N: TryFrom<u32>>(self) -> Option<N> {
        if let Self::Percent(percent) = self { N::try_from(percent).ok() } else { None }
    }

    fn write(&self) -> String {
        match self {
            Self::Bytes(bytes) => amount(*bytes),
            Self::Percent(percent) => format!("{percent}%"),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Bytes(bytes) => bytes.to_string(),
            Self::Percent(percent) => format!("{percent} %"),
        }
    }

    fn number(&self) -> Option<f64> {
        self.bytes().map(|bytes| bytes.get() as f64)
    }
}

pub(super) const BYTES: Notation<Bytes> = Notation {
    unit: Unit::Bytes,
    read: |text| Ok(bytes(text)?),
    write: |bytes| amount(*bytes),
    shown: Bytes::to_string,
    number: |bytes| Some(bytes.get() as f64),
};

/// So much, or that share of the target.
pub(super) const EXTENT: Notation<Extent> = Notation {
    unit: Unit::Bytes,
    read: |text| match text.ends_with('%') {
        true => Ok(Extent::Percent(parse_percent(text)?.into())),
        false => Ok(Extent::Bytes(bytes(text)?)),
    },
    write: Extent::write,
    shown: Extent::shown,
    number: Extent::number,
};

/// So much, or a share of the span that may be more than all of it.
pub(super) const MOVED: Notation<Extent> = Notation {
    read: |text| match text.strip_suffix('%') {
        Some(share) => {
            let share = at_most(1_000_000, "1000000 %", text, parse_count(share))?;
            Ok(Extent::Percent(share as u32))
        }
        None => Ok(Extent::Bytes(bytes(text)?)),
    },
    ..EXTENT
};

pub(super) const TIME: Notation<Nanos> = Notation {
    unit: Unit::Seconds,
    read: |text| Ok(time(text)?),
    write: |time| duration(*time),
    shown: Nanos::to_string,
    number: |time| Some(time.as_secs_f64()),
};

/// A bare number is in microseconds, as fio has it for `thinktime`.
pub(super) const PAUSE: Notation<Nanos> = Notation {
    read: |text| {
        let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(if is_bare { time(&format!("{text}us"))? } else { time(text)? })
    },
    ..TIME
};

/// A count, of which the bound only keeps the number within its type.
pub(super) const COUNT: Notation<u32> = Notation {
    unit: Unit::None,
    read: |text| Ok(up_to_a_billion(text, BILLION)?),
    write: u32::to_string,
    shown: u32::to_string,
    number: |count| Some(f64::from(*count)),
};

/// A count of requests in flight or workers: [`Workload::check`] knows how many are too many together.
pub(super) const DEPTH: Notation<u32> = Notation { read: |text| Ok(up_to_a_billion(text, "65536")?), ..COUNT };

/// The same of what may be many.
pub(super) const MANY: Notation<u32> = Notation { shown: |count| separated(&count.to_string()), ..COUNT };

/// How many percent of a recorded speed.
pub(super) const SPEED: Notation<u32> = Notation {
    read: |text| Ok(up_to_a_billion(text.strip_suffix('%').unwrap_or(text).trim_end(), BILLION)?),
    shown: |percent| format!("{} %", separated(&percent.to_string())),
    ..COUNT
};

/// A count of requests of any size.
pub(super) const REQUESTS: Notation<u64> = Notation {
    unit: Unit::None,
    read: |text| Ok(at_most(COUNT_MAX, "1e15", text, parse_count(text))?),
    write: u64::to_string,
    shown: |count| separated(&count.to_string()),
    number: |count| Some(*count as f64),
};

pub(super) const PERCENT: Notation<u8> = Notation {
    unit: Unit::Percent,
    read: |text| Ok(parse_percent(text)?),
    write: u8::to_string,
    shown: u8::to_string,
    number: |percent| Some(f64::from(*percent)),
};

/// One for all kinds of requests, or one for each.
pub(super) const RANDOM_SHARE: Notation<RandomShare> = Notation {
    unit: Unit::Percent,
    read: |text| Ok(text.parse()?),
    write: RandomShare::to_string,
    shown: RandomShare::shown,
    number: |share| share.same().map(f64::from),
};

/// A share of the capacity as fio has it, `0.07`, or in percent.
pub(super) const SPARE: Notation<Spare> = Notation {
    unit: Unit::None,
    read: |text| Ok(spare(text)?),
    write: |spare| spare.share().to_string(),
    shown: Spare::to_string,
    number: |spare| Some(spare.share() * 100.0),
};

pub(super) const TEXT: Notation<String> = Notation {
    unit: Unit::None,
    read: |text| Ok(text.to_owned()),
    write: String::clone,
    shown: String::clone,
    number: |_| None,
};

pub(super) const SIZES: Notation<Sizes> = Notation {
    unit: Unit::None,
    read: |text| Ok(text.parse()?),
    write: Sizes::to_string,
    shown: Sizes::to_string,
    number: |_| None,
};

pub(super) const DISTRIBUTION: Notation<Distribution> = Notation {
    unit: Unit::None,
    read: |text| Ok(text.parse()?),
    write: Distribution::to_string,
    shown: Distribution::to_string,
    number: |_| None,
};

pub(super) const CRITERION: Notation<SteadyCriterion> = Notation {
    unit: Unit::None,
    read: |text| Ok(text.parse()?),
    write: SteadyCriterion::to_string,
    shown: SteadyCriterion::to_string,
    number: |_| None,
};

pub(super) const PROFILE: Notation<&profile::Profile> = Notation {
    unit: Unit::None,
    read: profile::named,
    write: |profile| profile.name.to_owned(),
    shown: |profile| profile.name.to_owned(),
    number: |_| None,
};

/// A pattern, and how much a sequence passes over after each request: `read`, `read:60k`.
pub(super) const PATTERN: Notation<(Pattern, Bytes)> = Notation {
    unit: Unit::None,
    read: |text| {
        let (name, skip) = text.split_once(':').map_or((text, None), |(name, skip)| (name, Some(skip)));
        let pattern = name.parse().map_err(|()| FieldError::UnknownPattern { found: name.to_owned() })?;
        Ok((pattern, skip.map_or(Ok(Bytes::ZERO), bytes)?))
    },
    write: |(pattern, skip)| match *skip {
        Bytes::ZERO => pattern.to_string(),
        skip => format!("{pattern}:{}", amount(skip)),
    },
    shown: |(pattern, skip)| match *skip {
        Bytes::ZERO => pattern.words().to_owned(),
        skip => format!("{}, skipping {skip}", pattern.words()),
    },
    number: |_| None,
};

fn bytes(text: &str) -> Result<Bytes, ParseError> {
    at_most(BYTES_MAX, "1 EiB", text, parse_bytes(text))
}

fn time(text: &str) -> Result<Nanos, ParseError> {
    at_most(TIME_MAX, "10 years", text, parse_duration(text))
}

/// A billion in words.
const BILLION: &str = "1000000000";

/// A larger number is told what is `possible`.
fn up_to_a_billion(text: &str, possible: &'static str) -> Result<u32, ParseError> {
    at_most(1_000_000_000, possible, text, parse_count(text)).map(|count| count as u32)
}

fn spare(text: &str) -> Result<Spare, ParseError> {
    if text.trim_end().ends_with('%') {
        return text.parse();
    }
    let (found, example) = (text.to_owned(), "over-provisioning looks like `0.07` or `7%` of the capacity");
    match text.trim().parse::<f64>() {
        Ok(share) if share > 10.0 => Err(ParseError::TooLarge { found, max: "10" }),
        Ok(share) if share < 0.0 => Err(ParseError::Negative { found, example }),
        Ok(share) => {
            Spare::from_millionths((share * 1e6).round() as u64).ok_or(ParseError::TooSmall { found, min: "0.001" })
        }
        Err(_) => Err(ParseError::NotANumber { found, example }),
    }
}

fn at_most<T: PartialOrd>(
    most: T,
    max: &'static str,
    text: &str,
    read: Result<T, ParseError>,
) -> Result<T, ParseError> {
    match read {
        Ok(value) if value <= most => Ok(value),
        Ok(_) | Err(ParseError::TooLarge { .. }) => Err(ParseError::TooLarge { found: text.to_owned(), max }),
        Err(error) => Err(error),
    }
}
