//! The test setup: how long, how many workers, and what is cycled through.

use block::Nanos;
use workload::TIME_MAX;

use super::entries::{IcfEntry, IcfLine};
use super::notices::Notices;
use crate::import::SourceRange;

/// What the section `TEST SETUP` says.
#[derive(Debug, Default)]
pub(super) struct Setup {
    pub(super) description: Option<String>,
    /// None where it is not said, or zero, which for Iometer is without end.
    pub(super) run: Option<Nanos>,
    pub(super) ramp: Nanos,
    pub(super) spawn: Option<(Spawn, SourceRange)>,
    pub(super) test: Option<(IcfTest, SourceRange)>,
    pub(super) workers: Option<Cycle>,
    pub(super) depths: Option<Cycle>,
}

/// How many disk workers there are by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spawn {
    PerProcessor,
    Count(u32),
}

/// What varies from one test to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IcfTest {
    pub(super) targets: bool,
    pub(super) workers: bool,
    pub(super) depths: bool,
}

/// The names of test types; their places are the numbers by which the oldest files have them.
const TESTS: [(&str, IcfTest); 8] = {
    const fn test(targets: bool, workers: bool, depths: bool) -> IcfTest {
        IcfTest { targets, workers, depths }
    }
    [
        ("NORMAL", test(false, false, false)),
        ("CYCLE_TARGETS", test(true, false, false)),
        ("CYCLE_WORKERS", test(false, true, false)),
        ("INCREMENT_TARGETS_PARALLEL", test(true, false, false)),
        ("INCREMENT_TARGETS_SERIAL", test(true, false, false)),
        ("CYCLE_WORKERS_AND_TARGETS", test(true, true, false)),
        ("CYCLE_OUTSTANDING_IOS", test(false, false, true)),
        ("CYCLE_OUTSTANDING_IOS_AND_TARGETS", test(true, false, true)),
    ]
};

/// A row of numbers; the last is not always said.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    start: u64,
    end: Option<u64>,
    step: u64,
    exponential: bool,
    pub(super) place: SourceRange,
}

impl Cycle {
    /// The most numbers that make sense in a plan.
    pub(super) const MOST: usize = 1000;

    /// The numbers up to `last`, unless it says its own; of too many, one more than makes sense.
    pub(super) fn values(&self, last: u64) -> Vec<u64> {
        let end = self.end.unwrap_or(last);
        let next = |value: &u64| match self.exponential {
            true => value.checked_mul(self.step.max(2)),
            false => value.checked_add(self.step.max(1)),
        };
        std::iter::successors(Some(self.start.max(1)), next)
            .take_while(|value| *value <= end)
            .take(Self::MOST + 1)
            .collect()
    }
}

impl Setup {
    /// Takes one key of the section over.
    pub(super) fn take(&mut self, entry: &IcfEntry, notices: &mut Notices) {
        let place = entry.value().map_or(entry.key.place(), |line| line.place());
        let mut numbers = |most: usize| numbers(entry, most, notices);
        if entry.is("Test Description") {
            let lines: Vec<&str> = entry.values.iter().map(|line| line.text).collect();
            self.description = Some(lines.join(" ")).filter(|text| !text.is_empty());
        } else if entry.is("Run Time") {
            let time = numbers(3).iter().fold(0_u64, |sum, part| sum.saturating_mul(60).saturating_add(*part));
            self.run = Some(seconds(time)).filter(|time| *time > Nanos::ZERO);
        } else if entry.is("Ramp Up Time") {
            self.ramp = numbers(1).first().map_or(Nanos::ZERO, |&time| seconds(time));
        } else if entry.is("Default Disk Workers to Spawn") || entry.is("Default Workers to Spawn") {
            let word = entry.value().map_or("", |line| line.text);
            let per_processor = word.eq_ignore_ascii_case("NUMBER_OF_CPUS");
            let count = if per_processor { None } else { numbers(1).first().copied() };
            // The oldest files write zero for one worker a processor; in later ones it means that there are none.
            let spawn = count
                .filter(|&count| count > 0)
                .map_or(Spawn::PerProcessor, |count| Spawn::Count(u32::try_from(count).unwrap_or(u32::MAX)));
            self.spawn = Some((spawn, place));
        } else if entry.is("Worker Cycling") {
            self.workers = cycle(entry, false, notices);
        } else if entry.is("Queue Depth Cycling") {
            self.depths = cycle(entry, true, notices);
        } else if entry.is("Test Type") {
            self.test = test(entry, notices).map(|test| (test, place));
        } else if !["Default Network Workers to Spawn", "Record Results", "Disk Cycling", "Target Cycling"]
            .iter()
            .any(|name| entry.is(name))
        {
            notices.warn(
                "icf::unknown-key",
                entry.key.text,
                entry.key.place(),
                format!("`{}` is not known in a test setup", entry.key.text),
                "it is left out",
            );
        }
    }
}

/// A length of time; what no plan can have is as long as a plan can.
fn seconds(count: u64) -> Nanos {
    Nanos::from_secs(count.min(TIME_MAX.as_nanos() / 1_000_000_000))
}

/// The whole numbers of the first value, at most so many; tells where there are fewer.
fn numbers(entry: &IcfEntry, most: usize, notices: &mut Notices) -> Vec<u64> {
    let words = || entry.value().into_iter().flat_map(|line: IcfLine| line.words().take(most));
    let numbers: Vec<u64> = words().map_while(|word| word.parse().ok()).collect();
    if numbers.len() < most {
        let place = entry.value().map_or(entry.key.place(), |line| line.place());
        let found = words().nth(numbers.len()).map_or("nothing".to_owned(), |word| format!("`{word}`"));
        notices.refuse(
            "icf::number",
            entry.key.text,
            place,
            format!("`{}` has {found} where a whole number belongs", entry.key.text),
            if most == 3 { "give hours, minutes and seconds: 0 1 30" } else { "give a whole number" },
        );
    }
    numbers
}

fn cycle(entry: &IcfEntry, ends: bool, notices: &mut Notices) -> Option<Cycle> {
    let count = if ends { 3 } else { 2 };
    let numbers = numbers(entry, count, notices);
    let (&start, &step) = (numbers.first()?, numbers.get(count - 1)?);
    let line = entry.value()?;
    let kind = line.words().nth(count).unwrap_or("LINEAR");
    let exponential = kind.eq_ignore_ascii_case("EXPONENTIAL") || kind == "1";
    Some(Cycle { start, end: ends.then(|| numbers[1]), step, exponential, place: line.place() })
}

fn test(entry: &IcfEntry, notices: &mut Notices) -> Option<IcfTest> {
    let line = entry.value()?;
    let named = |(number, (name, _)): &(usize, &(&str, IcfTest))| {
        name.eq_ignore_ascii_case(line.text) || line.text == number.to_string()
    };
    let found = TESTS.iter().enumerate().find(named).map(|(_, (_, test))| *test);
    if found.is_none() {
        notices.warn(
            "icf::test-type",
            "Test Type",
            line.place(),
            format!("unknown test type `{}`", line.text),
            "nothing is cycled through, as with NORMAL",
        );
    }
    found
}
