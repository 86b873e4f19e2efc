//! A job's options, each read as what it holds.

use std::cell::RefCell;

use block::{Bytes, Nanos};

use super::super::{Notice, Severity};
use super::given::{FioOption, FioSection};
use super::units::{self, Base, UnitError};

/// The kinds of requests that a job makes, which pick from lists of values for reads, writes and trims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FioDirection {
    Read,
    Write,
    Trim,
    /// Reads and writes mixed.
    Mixed,
}

/// A value for each kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Each<T> {
    pub(super) reads: T,
    pub(super) writes: T,
    pub(super) trims: T,
}

impl<T: Copy + PartialEq> Each<T> {
    /// The value that counts in this direction, and whether there is only one.
    pub(super) fn of(&self, direction: FioDirection) -> (T, bool) {
        match direction {
            FioDirection::Read => (self.reads, true),
            FioDirection::Write => (self.writes, true),
            FioDirection::Trim => (self.trims, true),
            FioDirection::Mixed => (self.reads, self.reads == self.writes),
        }
    }
}

/// A size as fio takes it: so many bytes, or a share of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FioAmount {
    Bytes(Bytes),
    Percent(u32),
}

/// Reads the options of one job, and takes down what is found on the way.
pub(super) struct OptionReader<'s> {
    section: &'s FioSection,
    base: Base,
    notices: RefCell<Vec<Notice>>,
}

impl<'s> OptionReader<'s> {
    pub(super) fn new(section: &'s FioSection) -> Self {
        let mut reading = Self { section, base: Base::Old, notices: RefCell::default() };
        if let Some(given) = reading.option("kb_base") {
            match given.text() {
                "1024" => {}
                "1000" => reading.base = Base::Standard,
                other => reading.tell(given.bad(format!("`{other}` is neither 1000 nor 1024"))),
            }
        }
        reading
    }

    pub(super) fn tell(&self, notice: Notice) {
        self.notices.borrow_mut().push(notice);
    }

    pub(super) fn into_notices(self) -> Vec<Notice> {
        self.notices.into_inner()
    }

    /// Whether nothing was found so far that keeps the job from being run.
    pub(super) fn sound(&self) -> bool {
        self.notices.borrow().iter().all(|notice| notice.severity < Severity::Error)
    }

    pub(super) fn option(&self, name: &str) -> Option<&'s FioOption> {
        self.section.option(name)
    }

    /// The value, or none and one more mistake.
    fn keep<T>(&self, given: &FioOption, read: Result<T, UnitError>) -> Option<T> {
        read.map_err(|error| self.tell(given.bad(error.to_string()))).ok()
    }

    pub(super) fn size(&self, given: &FioOption, text: &str) -> Option<Bytes> {
        self.keep(given, units::size(text, self.base))
    }

    /// A size, or a share of one in percent; `zones` says how much so many of a drive's zones are.
    pub(super) fn amount(&self, name: &str, zones: impl Fn(&FioOption, u32) -> Option<Bytes>) -> Option<FioAmount> {
        let given = self.option(name)?;
        if let Some(percent) = units::percent(given.text()) {
            return Some(FioAmount::Percent(percent));
        }
        match units::zones(given.text()) {
            Some(count) => zones(given, count),
            None => self.size(given, given.text()),
        }
        .map(FioAmount::Bytes)
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        let given = self.option(name)?;
        self.keep(given, units::count(given.text(), self.base))
    }

    /// A count that is put into 32 bits.
    pub(super) fn small(&self, name: &str) -> Option<u32> {
        let given = self.option(name)?;
        let count = self.keep(given, units::count(given.text(), self.base))?;
        let small = u32::try_from(count).ok().filter(|&count| count <= 1_000_000_000);
        if small.is_none() {
            self.tell(given.bad(format!("`{}` is out of range; at most 1e9 is possible", given.text())));
        }
        small
    }

    /// A time whose unit without a suffix is so many nanoseconds long.
    pub(super) fn time(&self, name: &str, bare: f64) -> Option<Nanos> {
        let given = self.option(name)?;
        self.keep(given, units::time(given.text(), bare))
    }

    /// Whether a switch is on; as in fio it may be bare, or any number.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        let given = self.option(name)?;
        let number: Result<i64, _> = given.text().parse();
        if number.is_err() {
            self.tell(given.bad(format!("`{}` is neither 0 nor 1", given.text())));
        }
        number.ok().map(|number| number != 0)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.switch(name).unwrap_or(false)
    }

    /// One of a few words.
    pub(super) fn word(&self, name: &str, known: &[&'static str]) -> Option<&'static str> {
        let given = self.option(name)?;
        let found = known.iter().find(|word| **word == given.text()).copied();
        if found.is_none() {
            self.tell(given.bad(format!(
                "`{}` is not one of its values; use one of {}",
                given.text(),
                known.join(", ")
            )));
        }
        found
    }

    /// Values for reads, writes and trims with commas between. The last stands for those that follow; a comma behind it, or an
    /// empty value, leaves what follows, or what it stands for, at the `default`.
    ///
    /// Source: fio 3.33, `parse.c`, `handle_option`.
    pub(super) fn each<T: Copy>(
        &self,
        name: &str,
        default: T,
        read: impl Fn(&FioOption, &str) -> Option<T>,
    ) -> Option<Each<T>> {
        let given = self.option(name)?;
        let texts = apart(given.text());
        if texts.len() > 3 {
            let message = format!("{} values, but there are only reads, writes and trims", texts.len());
            self.tell(given.bad(message));
            return None;
        }
        let mut values = [default; 3];
        for (place, text) in texts.iter().map(|text| text.trim()).enumerate() {
            if text.is_empty() && texts.len() > 1 {
                continue;
            }
            let value = read(given, text)?;
            let stands_for = if place + 1 == texts.len() { place..3 } else { place..place + 1 };
            values[stands_for].fill(value);
        }
        let [reads, writes, trims] = values;
        Some(Each { reads, writes, trims })
    }

    /// A share in percent, perhaps one for each kind of request.
    pub(super) fn share(&self, given: &FioOption, text: &str) -> Option<u8> {
        // Of a fraction fio takes the whole number before it.
        let number = text.strip_suffix('%').unwrap_or(text);
        let whole = number.split_once('.').map_or(number, |(whole, part)| {
            if part.bytes().all(|digit| digit.is_ascii_digit()) { whole } else { number }
        });
        let share = whole.parse().ok().filter(|&share: &u8| share <= 100);
        if share.is_none() {
            self.tell(given.bad(format!("`{text}` is not a share from 0 to 100 %")));
        }
        share
    }

    pub(super) fn number(&self, given: &FioOption, text: &str) -> Option<u64> {
        self.keep(given, units::count(text, self.base))
    }
}

/// Values for reads, writes and trims, which commas part, or else colons, or else dashes; in a sum none of these does but a comma.
///
/// Source: fio 3.33, `parse.c`, `__handle_option`; `--bs=4k-512k` reads 4 KiB and writes 512 KiB.
fn apart(text: &str) -> Vec<&str> {
    let part = [',', ':', '-'].into_iter().find(|part| text.contains(*part));
    match part.filter(|part| *part == ',' || !text.contains('(')) {
        Some(part) => text.split(part).collect(),
        None => vec![text],
    }
}
