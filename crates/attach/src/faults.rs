//! Faults on demand: what an attached drive does wrong because somebody asked for it.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, Nanos, Op, Request, Status, parse_bytes, parse_duration};
use thiserror::Error;

/// A fault as it is asked for, such as `read-error@2048-4095` or `delay=50ms every=1000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    /// The sectors that it concerns; all without.
    range: Option<Sectors>,
    /// It strikes each request of so many that it concerns.
    every: u64,
}

/// The longest delay: a year.
const DELAY_MAX: Nanos = Nanos::from_secs(365 * 24 * 3600);

/// The first sector of 512 bytes and the one after the last.
type Sectors = (Lba, Lba);

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultKind {
    /// Reads fail, as of sectors that cannot be read.
    ReadError,
    /// Writes fail.
    WriteError,
    /// Reads and writes take longer by this.
    Delay(Nanos),
    /// After so much was written, as at the end of its life, no write is taken any more.
    ReadOnly(Bytes),
    /// After so many requests the drive is not there any more.
    Vanish(u64),
}

/// Why something is no fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FaultError {
    /// There is no such kind.
    #[error(
        "`{found}` is not a fault; there are read-error@SECTORS, write-error@SECTORS, delay=TIME, read-only, \
         read-only-after=SIZE, vanish, vanish-after=N, and none to remove all"
    )]
    Unknown {
        /// What was asked for.
        found: String,
    },
    /// A part of it cannot be read.
    #[error("`{part}` in the fault `{fault}`: {why}")]
    Part {
        part: String,
        /// All of it.
        fault: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// It concerns sectors that the drive has not got.
    #[error(
        "sector {last} in the fault `{fault}` is beyond the end of the drive: {capacity} are the 512-byte sectors 0 to {end}",
        end = capacity.sectors().saturating_sub(1)
    )]
    Beyond {
        fault: Fault,
        /// The last sector that it names.
        last: u64,
        /// What the drive holds.
        capacity: Bytes,
    },
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let refuse = |part: &str, why: String| FaultError::Part { part: part.to_owned(), fault: text.to_owned(), why };
        let mut parts = text.split([' ', ',']).filter(|part| !part.is_empty());
        let head = parts.next().unwrap_or_default();
        let (what, mut range) = sectors(head).map_err(|why| refuse(head, why))?;
        let (name, value) = what.split_once('=').map_or((what, None), |(name, value)| (name, Some(value)));
        let kind = match (name, value) {
            ("read-error", None) => FaultKind::ReadError,
            ("write-error", None) => FaultKind::WriteError,
            ("read-only", None) => FaultKind::ReadOnly(Bytes::ZERO),
            ("vanish", None) => FaultKind::Vanish(0),
            ("delay", Some(time)) => {
                let time = parse_duration(time).map_err(|error| refuse(head, error.to_string()))?;
                if time > DELAY_MAX {
                    return Err(refuse(head, "a delay is at most 365d".into()));
                }
                FaultKind::Delay(time)
            }
            ("read-only-after", Some(size)) => {
                FaultKind::ReadOnly(parse_bytes(size).map_err(|error| refuse(head, error.to_string()))?)
            }
            ("vanish-after", Some(count)) => {
                let count =
                    count.parse().map_err(|_| refuse(head, "give a number of requests, such as 1000".into()))?;
                FaultKind::Vanish(count)
            }
            ("delay" | "read-only-after" | "vanish-after", None) => {
                return Err(refuse(head, format!("`{name}` needs a value: {name}=…")));
            }
            ("read-error" | "write-error" | "read-only" | "vanish", Some(_)) => {
                return Err(refuse(head, format!("`{name}` takes no value; give the sectors as @SECTORS")));
            }
            _ => return Err(FaultError::Unknown { found: text.to_owned() }),
        };
        let mut every = 1;
        for part in parts {
            match (part.split_once('='), part.strip_prefix('@')) {
                (Some(("every", count)), _) => {
                    let why = || refuse(part, "give a number of requests, such as every=1000".into());
                    every = count.parse().ok().filter(|count| *count > 0).ok_or_else(why)?;
                }
                (_, Some(_)) => range = sectors(part).map_err(|why| refuse(part, why))?.1,
                _ => return Err(refuse(part, "only every=N and @SECTORS may follow".into())),
            }
        }
        if (range.is_some() || every > 1) && matches!(kind, FaultKind::ReadOnly(_) | FaultKind::Vanish(_)) {
            return Err(refuse(head, "it applies to the whole drive: leave out every= and @".into()));
        }
        Ok(Self { kind, range, every })
    }
}

/// What is before an `@`, and the sectors behind it: `2048`, or `2048-4095` with the last one in it.
fn sectors(part: &str) -> Result<(&str, Option<Sectors>), String> {
    let Some((what, range)) = part.split_once('@') else { return Ok((part, None)) };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let sector = |text: &str| {
        let explain =
            || format!("`{text}` is not a sector; give a number of 512-byte sectors, such as @2048 or @2048-4095");
        text.parse::<u64>().ok().filter(|sector| *sector < u64::MAX / 512).ok_or_else(explain)
    };
    let (first, last) = (sector(first)?, sector(last)?);
    if last < first {
        return Err(format!("the last sector, {last}, is before the first, {first}"));
    }
    Ok((what, Some((Lba::new(first), Lba::new(last + 1)))))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::ReadError => f.write_str("read-error")?,
            FaultKind::WriteError => f.write_str("write-error")?,
            FaultKind::Delay(time) => write!(f, "delay={}ns", time.as_nanos())?,
            FaultKind::ReadOnly(after) => write!(f, "read-only-after={}B", after.get())?,
            FaultKind::Vanish(after) => write!(f, "vanish-after={after}")?,
        }
        if let Some((first, end)) = self.range {
            let last = end.get() - 1;
            if first == Lba::new(last) { write!(f, "@{last}")? } else { write!(f, "@{}-{last}", first.get())? }
        }
        if self.every > 1 { write!(f, " every={}", self.every) } else { Ok(()) }
    }
}

/// What faults do to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultEffect {
    /// How it is answered: with an error, it does nothing.
    pub status: Status,
    /// It is answered later by this, in the drive's time.
    pub delay: Nanos,
}

/// The faults of a drive, and how far each has come.
#[derive(Debug, Default)]
pub struct Faults {
    faults: Vec<(Fault, u64)>,
    has_vanished: bool,
}

impl Faults {
    /// Adds a fault, or takes all away without one. A drive that has vanished is there again then.
    pub fn change(&mut self, fault: Option<Fault>) {
        match fault {
            Some(fault) => self.faults.push((fault, 0)),
            None => *self = Self::default(),
        }
        self.has_vanished |= self.faults.iter().any(|(fault, _)| fault.kind == FaultKind::Vanish(0));
    }

    /// Whether the drive is not there any more: nothing is answered but with an error.
    pub fn has_vanished(&self) -> bool {
        self.has_vanished
    }

    /// What becomes of a request that has come.
    pub fn judge(&mut self, request: &Request) -> FaultEffect {
        let mut verdict = FaultEffect::default();
        for (fault, come) in &mut self.faults {
            if !fault.concerns(request) {
                continue;
            }
            match fault.kind {
                FaultKind::ReadOnly(after) => {
                    if *come + request.bytes().get() > after.get() {
                        verdict.status = verdict.status.or(Status::WriteFault);
                    }
                    *come = come.saturating_add(request.bytes().get());
                    continue;
                }
                FaultKind::Vanish(after) => {
                    *come += 1;
                    self.has_vanished |= *come > after;
                    continue;
                }
                FaultKind::ReadError | FaultKind::WriteError | FaultKind::Delay(_) => *come += 1,
            }
            if come.is_multiple_of(fault.every) {
                match fault.kind {
                    FaultKind::Delay(time) => verdict.delay += time,
                    FaultKind::ReadError => verdict.status = verdict.status.or(Status::UnrecoveredRead),
                    _ => verdict.status = verdict.status.or(Status::WriteFault),
                }
            }
        }
        verdict
    }
}

impl Fault {
    /// Refuses sectors that a drive which holds so much has not got: nothing would ever come of them.
    ///
    /// # Errors
    /// [`FaultError::Beyond`].
    pub fn check(self, capacity: Bytes) -> Result<(), FaultError> {
        match self.range {
            Some((_, end)) if end > Lba::at(capacity) => {
                Err(FaultError::Beyond { fault: self, last: end.get() - 1, capacity })
            }
            _ => Ok(()),
        }
    }

    fn concerns(&self, request: &Request) -> bool {
        let is_such = match self.kind {
            FaultKind::ReadError => request.op == Op::Read,
            FaultKind::WriteError => request.op == Op::Write,
            FaultKind::Delay(_) => matches!(request.op, Op::Read | Op::Write),
            FaultKind::ReadOnly(_) => matches!(request.op, Op::Write | Op::Trim),
            FaultKind::Vanish(_) => true,
        };
        is_such && self.range.is_none_or(|(first, end)| request.lba < end && first < request.end())
    }
}

/// Faults that are asked for while a drive is served.
#[derive(Debug, Default)]
pub struct FaultQueue {
    list: Mutex<Vec<Option<Fault>>>,
    is_new: AtomicBool,
}

impl FaultQueue {
    /// Asks for a fault, or for none any more.
    pub fn give(&self, fault: Option<Fault>) {
        self.list.lock().expect("nothing panics while it holds the list").push(fault);
        self.is_new.store(true, Ordering::Release);
    }

    /// Has `faults` do what was asked for since the last time.
    pub fn take(&self, faults: &mut Faults) {
        if self.is_new.load(Ordering::Relaxed) && self.is_new.swap(false, Ordering::Acquire) {
            let orders = std::mem::take(&mut *self.list.lock().expect("nothing panics while it holds the list"));
            orders.into_iter().for_each(|fault| faults.change(fault));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(specs: &[&str]) -> Faults {
        let mut faults = Faults::default();
        specs.iter().for_each(|spec| faults.change(Some(spec.parse().unwrap_or_else(|error| panic!("{error}")))));
        faults
    }

    fn request(op: Op, first: u64, sectors: u32) -> Request {
        Request::new(op, Lba::new(first), sectors)
    }

    /// Of reads and writes of eight sectors there, which fail: r, w, or nothing.
    fn failing(faults: &mut Faults, first: u64) -> String {
        let ops = [(Op::Read, "r"), (Op::Write, "w")];
        ops.iter()
            .filter(|(op, _)| !faults.judge(&request(*op, first, 8)).status.is_success())
            .map(|(_, letter)| *letter)
            .collect()
    }

    #[test]
    fn bad_sectors_fail_requests_that_touch_them() {
        let mut faults = faults(&["read-error@100-107", "write-error@200"]);
        let found: Vec<String> = [92, 93, 107, 108, 192, 193, 200, 201].map(|first| failing(&mut faults, first)).into();
        assert_eq!(found, ["", "r", "r", "", "", "w", "w", ""]);
    }

    #[test]
    fn a_delay_strikes_one_of_so_many() {
        let mut faults = faults(&["delay=50ms every=3", "delay=1ms@1000-1999"]);
        let delays = [0, 0, 0, 0, 1000, 1000].map(|first| faults.judge(&request(Op::Read, first, 8)).delay.as_nanos());
        assert_eq!(delays.map(|delay| delay / 1_000_000), [0, 0, 50, 0, 1, 51]);
        assert_eq!(faults.judge(&Request::FLUSH), FaultEffect::default());
    }

    #[test]
    fn at_the_end_of_its_life_a_drive_is_read_and_not_written() {
        let mut worn = faults(&["read-only-after=8KiB"]);
        assert_eq!([failing(&mut worn, 0), failing(&mut worn, 0), failing(&mut worn, 0)], ["", "", "w"]);
        assert_eq!(failing(&mut faults(&["read-only"]), 0), "w");
    }

    #[test]
    fn a_drive_vanishes_at_once_or_after_so_many_requests_until_nothing_is_wrong() {
        assert!(faults(&["vanish"]).has_vanished());
        let mut faults = faults(&["vanish-after=2"]);
        let vanished = [0; 3].map(|_| {
            faults.judge(&Request::FLUSH);
            faults.has_vanished()
        });
        assert_eq!(vanished, [false, false, true]);
        faults.change(None);
        assert!(!faults.has_vanished());
    }

    #[test]
    fn what_is_no_fault_is_explained() {
        for (spec, words) in [
            ("red-error", "there are read-error@SECTORS"),
            ("", "there are read-error@SECTORS"),
            ("delay", "needs a value: delay=…"),
            ("delay=50 parsec", "in the fault `delay=50 parsec`"),
            ("delay=366d", "a delay is at most 365d"),
            ("read-error=7", "takes no value"),
            ("read-error@7-", "`` is not a sector"),
            ("read-error@7-3", "the last sector, 3, is before the first, 7"),
            ("delay=1ms every=0", "such as every=1000"),
            ("delay=1ms often", "only every=N and @SECTORS may follow"),
            ("read-only@5", "applies to the whole drive"),
            ("vanish-after=soon", "such as 1000"),
        ] {
            let said = spec.parse::<Fault>().expect_err(spec).to_string();
            assert!(said.contains(words), "{spec}: {said}");
        }
    }

    #[test]
    fn sectors_beyond_the_end_of_the_drive_are_refused_with_its_last_one() {
        let gib = Bytes::from_gib(1);
        let check = |spec: &str| spec.parse::<Fault>().unwrap().check(gib).map_err(|error| error.to_string());
        for spec in ["read-error", "read-error@2097151", "delay=1ms@0-2097151", "read-only-after=2GiB", "vanish"] {
            assert_eq!(check(spec), Ok(()), "{spec}");
        }
        for (spec, last) in [("read-error@2097152", 2_097_152), ("delay=1s @7-99999999999 every=2", 99_999_999_999_u64)]
        {
            let said = check(spec).unwrap_err();
            assert!(said.contains(&format!("sector {last} in the fault")), "{said}");
            assert!(said.contains("1 GiB are the 512-byte sectors 0 to 2097151"), "{said}");
        }
    }

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        for spec in [
            "read-error@2048-4095",
            "write-error@7 every=2",
            "delay=50ms, every=1000 @5-9",
            "read-only",
            "vanish-after=3",
        ] {
            let fault: Fault = spec.parse().unwrap();
            assert_eq!(fault.to_string().parse(), Ok(fault), "{spec}");
        }
    }
}
