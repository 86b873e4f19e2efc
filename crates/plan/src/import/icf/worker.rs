//! Workers: what each runs, on what, and how many requests it keeps in flight.

use super::entries::{IcfEntry, IcfLine};
use super::notices::Notices;
use crate::import::SourceRange;

/// What the section `MANAGER LIST` says of a worker.
#[derive(Debug)]
pub(super) struct IcfWorker<'a> {
    pub(super) disk: bool,
    /// Requests in flight at each target.
    pub(super) depth: u32,
    /// In sectors of 512 B; zero for all there is.
    pub(super) length: u64,
    /// In sectors of 512 B.
    pub(super) start: u64,
    pub(super) data: Data,
    /// The names of its access specifications, one a test.
    pub(super) assigned: Vec<IcfLine<'a>>,
    pub(super) targets: Vec<IcfLine<'a>>,
    pub(super) place: SourceRange,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Data {
    /// The file is older than the choice.
    Unsaid,
    /// One byte again and again, another one for each request.
    Repeating,
    /// The same random bytes for each request.
    OneBuffer,
    /// Random bytes of its own for each request.
    Random,
}

impl<'a> IcfWorker<'a> {
    /// A worker of which nothing has been said but that there is one.
    pub(super) fn new(entry: &IcfEntry<'a>) -> Self {
        Self {
            disk: true,
            depth: 1,
            length: 0,
            start: 0,
            data: Data::Unsaid,
            assigned: Vec::new(),
            targets: Vec::new(),
            place: entry.value().unwrap_or(entry.key).place(),
        }
    }

    /// Takes one key over, unless the worker has none of this name.
    pub(super) fn take(&mut self, entry: &IcfEntry<'a>, notices: &mut Notices) -> bool {
        if entry.is("Worker type") {
            self.disk = entry.value().is_none_or(|line| line.text.eq_ignore_ascii_case("DISK"));
        } else if entry.is("Number of outstanding IOs") {
            let depth = number(entry, 0, notices);
            self.depth = u32::try_from(depth.max(1)).unwrap_or(u32::MAX);
            self.connections(entry, notices);
        } else if entry.is("Disk maximum size,starting sector") {
            (self.length, self.start) = (number(entry, 0, notices), number(entry, 1, notices));
            if entry.key.fields().nth(2).is_some() {
                self.data = data(number(entry, 2, notices));
            }
        } else if entry.is("Assigned access specs") {
            self.assigned.extend(&entry.values);
        } else if entry.is("Target type") {
            // A worker of disks has no other targets.
        } else if entry.is("Target") && entry.key.text.len() == "Target".len() {
            self.targets.extend(entry.value());
        } else {
            return ["Target assignments", "Default target settings", "End "].iter().any(|name| entry.is(name));
        }
        true
    }

    /// Tells of connections that are opened anew now and then, which plans do not know.
    fn connections(&self, entry: &IcfEntry, notices: &mut Notices) {
        let Some(line) = entry.value() else { return };
        if line.fields().nth(1).is_some_and(|word| word.eq_ignore_ascii_case("ENABLED")) {
            notices.warn(
                "icf::connection-rate",
                "test connection rate",
                line.place(),
                "the target is reopened after so many transactions".to_owned(),
                "assay opens it once; the cost of opening is not measured",
            );
        }
    }
}

fn data(pattern: u64) -> Data {
    match pattern {
        0 => Data::Repeating,
        1 => Data::OneBuffer,
        _ => Data::Random,
    }
}

/// The whole number at this place of the first value; zero, which is told, where there is none.
fn number(entry: &IcfEntry, at: usize, notices: &mut Notices) -> u64 {
    let field = entry.value().and_then(|line| line.fields().nth(at));
    let number = field.and_then(|field| field.parse().ok());
    number.unwrap_or_else(|| {
        notices.refuse(
            "icf::number",
            entry.key.text,
            entry.value().unwrap_or(entry.key).place(),
            match field {
                Some(found) => format!("`{found}` is no whole number"),
                None => format!("there are fewer than {} numbers", at + 1),
            },
            "give whole numbers, with commas between them",
        );
        0
    })
}
