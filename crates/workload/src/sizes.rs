//! Requests of several sizes.

use std::fmt;
use std::str::FromStr;

use block::{Bytes, Op, parse_bytes};
use serde::{Deserialize, Serialize};

use crate::ListError;
use crate::shares::{share, whole};

/// A size with the share of requests that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighted {
    pub size: Bytes,
    /// The share of requests, in percent.
    pub percent: u8,
}

/// The sizes that requests have, with the share of each: fio's `bssplit`.
///
/// Written `4k/60:64k/40`, or with a list each for reads, writes and trims: `4k/100,4k/50:8k/50`. A share that is
/// left out is an even part of what the others leave. Kinds without a list of their own have the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sizes {
    reads: Vec<Weighted>,
    writes: Vec<Weighted>,
    trims: Vec<Weighted>,
}

impl Sizes {
    /// The sizes of requests of this kind; a flush has none, and gets those of writes.
    pub fn of(&self, op: Op) -> &[Weighted] {
        match op {
            Op::Read => &self.reads,
            Op::Write | Op::Append | Op::Flush | Op::Zone(_) => &self.writes,
            Op::Trim => &self.trims,
        }
    }
}

impl FromStr for Sizes {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let lists: Vec<Vec<Weighted>> = text.split(',').map(list).collect::<Result<_, _>>()?;
        match &lists[..] {
            [all] => Ok(Self { reads: all.clone(), writes: all.clone(), trims: all.clone() }),
            [reads, writes] => Ok(Self { reads: reads.clone(), writes: writes.clone(), trims: writes.clone() }),
            [reads, writes, trims] => Ok(Self { reads: reads.clone(), writes: writes.clone(), trims: trims.clone() }),
            more => Err(ListError::TooManyLists { found: more.len() }),
        }
    }
}

fn list(text: &str) -> Result<Vec<Weighted>, ListError> {
    let mut sizes = Vec::new();
    let mut shares = Vec::new();
    for entry in text.split(':') {
        let (size, percent) = entry.split_once('/').map_or((entry, None), |(size, share)| (size, Some(share)));
        sizes.push(parse_bytes(size)?);
        shares.push(share(percent)?);
    }
    if shares.contains(&Some(0)) {
        return Err(ListError::Nothing { found: text.to_owned() });
    }
    let shares = whole(&shares, text)?;
    Ok(sizes.into_iter().zip(shares).map(|(size, percent)| Weighted { size, percent }).collect())
}

impl TryFrom<String> for Sizes {
    type Error = ListError;

    fn try_from(text: String) -> Result<Self, ListError> {
        text.parse()
    }
}

impl From<Sizes> for String {
    fn from(sizes: Sizes) -> Self {
        sizes.to_string()
    }
}

impl fmt::Display for Sizes {
    /// As fio takes it and as it is read, with no more lists than differ.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |list: &[Weighted]| {
            let entries = list.iter().map(|entry| format!("{}/{}", crate::quantity::amount(entry.size), entry.percent));
            entries.collect::<Vec<_>>().join(":")
        };
        f.write_str(&text(&self.reads))?;
        if self.writes != self.reads || self.trims != self.writes {
            write!(f, ",{}", text(&self.writes))?;
        }
        if self.trims != self.writes {
            write!(f, ",{}", text(&self.trims))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<(u64, u8)> {
        let sizes: Sizes = text.parse().unwrap();
        sizes.of(Op::Read).iter().map(|entry| (entry.size.get(), entry.percent)).collect()
    }

    #[test]
    fn shares_may_be_left_out() {
        assert_eq!(sizes("512/10:4k/60:64k/30"), [(512, 10), (4096, 60), (65_536, 30)]);
        assert_eq!(sizes("4k/50:8k/:16k"), [(4096, 50), (8192, 25), (16_384, 25)]);
        assert_eq!(sizes("4k"), [(4096, 100)]);
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in ["512/10:1k/90", "4k/100,4k/50:8k/50", "4k/100,8k/100,1m/100", "4k/100,4k/100,1m/100"] {
            let sizes: Sizes = text.parse().unwrap();
            assert_eq!(sizes.to_string(), text);
            assert_eq!(sizes.of(Op::Trim)[0].size == Bytes::from_mib(1), text.ends_with("1m/100"));
        }
        assert_eq!("4k,4k,4k".parse::<Sizes>().unwrap().to_string(), "4k/100");
    }

    #[test]
    fn what_is_no_list_is_told_why() {
        for (text, words) in [
            ("4k/60:64k/30", "make 90 %; they must make 100 %"),
            ("4k/60:64k/50", "make 110 %"),
            ("4k/100:8k", "leave the entry out"),
            ("4k/0:8k/100", "leave the entry out"),
            ("4q/100", "unknown unit `q`"),
            ("4k/101", "at most 100 %"),
            ("4k/half:8k", "half"),
            ("", "empty value"),
            ("4k,4k,4k,4k", "at most three"),
        ] {
            let said = text.parse::<Sizes>().expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
