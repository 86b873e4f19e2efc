//! The conditions of an experiment as a file of figures states them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use block::{Bytes, Nanos};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use workload::Distribution;

use crate::Diagnostic;

/// The probe's rate where a load is offered.
pub(super) const PROBE_IOPS: u32 = 10_000;
/// The workers beside it.
pub(super) const BACKGROUND_WORKERS: u32 = 6;
/// Requests in flight at most, of all workers together.
pub(super) const IN_FLIGHT_MAX: u64 = 65_536;
/// The largest request.
const BLOCK_MAX: i64 = 64 << 20;
/// The highest rate that can be asked for.
const RATE_MAX: i64 = 100_000_000;
/// Overwrites of a drive that is said to be in steady state, in hundredths of its capacity: as of SSD-iq's drives.
const STEADY: u32 = 300;
/// How a pattern begins that needs no `distribution`.
const PLAIN_PATTERNS: [&str; 3] = ["uniform", "random", "sequential"];

/// A whole number, or what the source says in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    Number(i64),
    Text,
}

impl<'de> Deserialize<'de> for Stated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StatedVisitor;
        impl Visitor<'_> for StatedVisitor {
            type Value = Stated;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number, or words that say why there is none")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Stated, E> {
                Ok(Stated::Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Stated, E> {
                Ok(Stated::Number(i64::try_from(number).unwrap_or(i64::MAX)))
            }

            fn visit_i128<E: Error>(self, number: i128) -> Result<Stated, E> {
                Err(E::custom(format!("{number} is out of range")))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Stated, E> {
                match text.trim().parse::<f64>() {
                    Ok(_) => Err(E::custom(format!("\"{text}\" is text; write the number without quotation marks"))),
                    Err(_) => Ok(Stated::Text),
                }
            }
        }
        deserializer.deserialize_any(StatedVisitor)
    }
}

/// The number `name`, if one is stated.
///
/// # Errors
/// If it is out of `range`.
pub(super) fn number(
    name: &str,
    stated: Option<&Stated>,
    range: RangeInclusive<i64>,
    span: &Range<usize>,
) -> Result<Option<u64>, Diagnostic> {
    match stated {
        Some(Stated::Number(number)) if range.contains(number) => Ok(Some(*number as u64)),
        Some(Stated::Number(number)) => {
            let help = format!("give {} to {}", range.start(), range.end());
            Err(wrong(span.clone(), format!("`{name}` is {number}"), &help))
        }
        Some(Stated::Text) | None => Ok(None),
    }
}

/// The same of one that fits 32 bits.
pub(super) fn count(
    name: &str,
    stated: Option<&Stated>,
    range: RangeInclusive<u32>,
    span: &Range<usize>,
) -> Result<Option<u32>, Diagnostic> {
    let (start, end) = range.into_inner();
    let found = number(name, stated, i64::from(start)..=i64::from(end), span)?;
    Ok(found.map(|number| number as u32))
}

/// The size of a request.
pub(super) fn block_size(stated: Option<&Stated>, span: &Range<usize>) -> Result<Option<Bytes>, Diagnostic> {
    let Some(bytes) = number("bs", stated, 0..=BLOCK_MAX, span)?.map(Bytes::new) else { return Ok(None) };
    if bytes == Bytes::ZERO || !bytes.is_multiple_of(block::SECTOR) {
        let message = format!("requests of {} B are not whole sectors", bytes.get());
        return Err(wrong(span.clone(), message, "give a multiple of 512"));
    }
    Ok(Some(bytes))
}

pub(super) fn wrong(span: Range<usize>, message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::new("qos::condition", span, message).label("in these conditions").help(help)
}

/// How the numbers of some sources were made, as a file has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ReadingFile {
    pub(super) id: String,
    #[serde(rename = "text")]
    _text: String,
    #[serde(default)]
    pub(super) promise: bool,
    pub(super) contents: Option<String>,
    outside_ns: Option<Stated>,
    ramp_s: Option<Stated>,
}

/// The same, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) id: String,
    /// Whether its numbers are promises.
    pub(super) promise: bool,
    /// Why it is not known what the drive held before.
    pub(super) contents: Option<String>,
    /// What the load generator takes for a request outside of the latency that it prints.
    pub(super) outside: Nanos,
    /// Run before the measurement and not counted.
    pub(super) ramp: Option<Nanos>,
}

impl ReadingFile {
    pub(super) fn read(self, span: &Range<usize>) -> Result<Reading, Diagnostic> {
        let outside = count("outside_ns", self.outside_ns.as_ref(), 0..=1_000_000_000, span)?.unwrap_or(0);
        Ok(Reading {
            outside: Nanos::from_nanos(u64::from(outside)),
            ramp: ramp(self.ramp_s.as_ref(), span)?,
            id: self.id,
            promise: self.promise,
            contents: self.contents,
        })
    }
}

fn ramp(stated: Option<&Stated>, span: &Range<usize>) -> Result<Option<Nanos>, Diagnostic> {
    Ok(number("ramp_s", stated, 0..=600, span)?.map(Nanos::from_secs))
}

/// The conditions of a group, checked.
pub(super) struct Condition {
    pub(super) rw: Option<String>,
    pub(super) bs: Option<Bytes>,
    pub(super) depth: Option<u32>,
    pub(super) workers: Option<u32>,
    pub(super) read_percent: Option<u8>,
    pub(super) overwrites: Option<u32>,
    pub(super) distribution: Distribution,
    /// As it was written.
    pub(super) stated_distribution: String,
    pub(super) offered: Option<u32>,
    pub(super) rate: Option<u32>,
    pub(super) is_saturated: bool,
    pub(super) specimen: u64,
    pub(super) runtime: Option<Nanos>,
    pub(super) ios: Option<u64>,
    pub(super) ramp: Option<Nanos>,
    pub(super) is_state_unknown: bool,
    /// Why none of it can be simulated.
    pub(super) lacks: Option<String>,
}

/// The conditions as a file has them.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ConditionFile {
    rw: Option<String>,
    bs: Option<Stated>,
    qd: Option<Stated>,
    workers: Option<Stated>,
    rwmixread: Option<Stated>,
    overwrites: Option<f64>,
    distribution: Option<String>,
    offered_total_iops: Option<Stated>,
    rate_iops: Option<Stated>,
    #[serde(default)]
    saturated: bool,
    specimen: Option<Stated>,
    runtime_s: Option<Stated>,
    ios: Option<Stated>,
    state: Option<String>,
    ramp_s: Option<Stated>,
    pattern: Option<String>,
    /// All others: words are for readers of the file.
    #[serde(flatten)]
    others: BTreeMap<String, toml::Value>,
}

/// Random writes before, in hundredths of the capacity, of what is stated in capacities.
pub(super) fn overwrites(times: Option<f64>, span: &Range<usize>) -> Result<Option<u32>, Diagnostic> {
    match times {
        Some(times) if !(0.0..=100.0).contains(&times) => {
            Err(wrong(span.clone(), format!("{times} overwrites are out of range"), "give 0 to 100 capacities"))
        }
        times => Ok(times.map(|times| (times * 100.0).round() as u32)),
    }
}

impl ConditionFile {
    pub(super) fn read(&self, span: Range<usize>) -> Result<Condition, Diagnostic> {
        let offered_least = PROBE_IOPS + BACKGROUND_WORKERS;
        let rates = 1..=RATE_MAX as u32;
        let (bs, qd, workers) = (self.bs.as_ref(), self.qd.as_ref(), self.workers.as_ref());
        let (distribution, unlike) = self.distribution(&span)?;
        let condition = Condition {
            rw: self.rw.clone(),
            bs: block_size(bs, &span)?,
            depth: count("qd", qd, 1..=IN_FLIGHT_MAX as u32, &span)?,
            workers: count("workers", workers, 1..=IN_FLIGHT_MAX as u32, &span)?,
            read_percent: number("rwmixread", self.rwmixread.as_ref(), 0..=100, &span)?.map(|percent| percent as u8),
            overwrites: self.overwrites(&span)?,
            distribution,
            offered: count(
                "offered_total_iops",
                self.offered_total_iops.as_ref(),
                offered_least..=*rates.end(),
                &span,
            )?,
            rate: count("rate_iops", self.rate_iops.as_ref(), rates, &span)?,
            is_saturated: self.saturated,
            specimen: number("specimen", self.specimen.as_ref(), 1..=i64::MAX, &span)?.unwrap_or(1),
            runtime: number("runtime_s", self.runtime_s.as_ref(), 1..=604_800, &span)?.map(Nanos::from_secs),
            ios: number("ios", self.ios.as_ref(), 1..=i64::MAX, &span)?,
            ramp: ramp(self.ramp_s.as_ref(), &span)?,
            is_state_unknown: self.state.as_deref() == Some("not stated"),
            lacks: unlike.or_else(|| self.unknown()),
            stated_distribution: self.distribution.clone().unwrap_or_default(),
        };
        Ok(condition)
    }

    /// Random writes before, in hundredths of the capacity: as many as of SSD-iq's drives where a steady state is all that is
    /// said.
    fn overwrites(&self, span: &Range<usize>) -> Result<Option<u32>, Diagnostic> {
        let steady = || self.state.as_ref().filter(|state| state.starts_with("steady")).map(|_| STEADY);
        Ok(overwrites(self.overwrites, span)?.or_else(steady))
    }

    /// Where requests fall, or also why that cannot be simulated.
    fn distribution(&self, span: &Range<usize>) -> Result<(Distribution, Option<String>), Diagnostic> {
        if let Some(text) = &self.distribution {
            let refuse = |error| wrong(span.clone(), format!("distribution `{text}`: {error}"), "write `zipf:0.8`");
            return Ok((text.parse().map_err(|error| refuse(format!("{error}")))?, None));
        }
        let Some(pattern) = &self.pattern else { return Ok((Distribution::Uniform, None)) };
        // `zipf 0.8 shuffled`, in the words of a source.
        let mut words = pattern.split([' ', ',']);
        let theta = words.next().filter(|word| *word == "zipf").and_then(|_| words.next());
        if let Some(distribution) = theta.and_then(|theta| format!("zipf:{theta}").parse().ok()) {
            return Ok((distribution, None));
        }
        let is_plain = PLAIN_PATTERNS.iter().any(|plain| pattern.to_lowercase().starts_with(plain));
        let unlike = || format!("the pattern `{pattern}` is not known; add `distribution`, like `zipf:0.8`");
        Ok((Distribution::Uniform, (!is_plain).then(unlike)))
    }

    /// What else is stated as a number and would change the workload in a way that is not known.
    fn unknown(&self) -> Option<String> {
        let mut others = self.others.iter().filter(|(_, value)| !value.is_str());
        let (name, _) = others.next()?;
        Some(format!("the condition `{name}` is not known; leave it out, or say it in `note` if it changes nothing"))
    }
}
