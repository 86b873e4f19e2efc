//! What a file says, section by section.

use super::access::{Access, Assignment, Portion};
use super::entries::{IcfEntry, IcfLine, entries};
use super::notices::Notices;
use super::setup::Setup;
use super::worker::IcfWorker;

#[derive(Debug, Default)]
pub(super) struct IcfFile<'a> {
    pub(super) version: Option<IcfLine<'a>>,
    pub(super) setup: Setup,
    pub(super) specs: Vec<Access>,
    pub(super) workers: Vec<IcfWorker<'a>>,
    pub(super) managers: usize,
}

/// The part of the file in which a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IcfSection {
    Outside,
    Setup,
    Display,
    Specs,
    Managers,
}

/// The sections by the words that begin and end them.
const SECTIONS: [(&str, &str, IcfSection); 4] = [
    ("TEST SETUP", "END test setup", IcfSection::Setup),
    ("RESULTS DISPLAY", "END results display", IcfSection::Display),
    ("ACCESS SPECIFICATIONS", "END access specifications", IcfSection::Specs),
    ("MANAGER LIST", "END manager list", IcfSection::Managers),
];

pub(super) fn read<'a>(text: &'a str, notices: &mut Notices) -> IcfFile<'a> {
    let (before, entries) = entries(text);
    let mut file =
        IcfFile { version: before.iter().find(|line| line.text.starts_with("Version")).copied(), ..IcfFile::default() };
    let mut section = IcfSection::Outside;
    for entry in &entries {
        if let Some((.., begins)) = SECTIONS.iter().find(|(begin, ..)| entry.is(begin)) {
            section = *begins;
        } else if SECTIONS.iter().any(|(_, end, _)| entry.is(end)) {
            section = IcfSection::Outside;
        } else if !file.take(section, entry, notices) {
            notices.warn(
                "icf::unknown-key",
                entry.key.text,
                entry.key.place(),
                format!("`{}` is not known here", entry.key.text),
                "it is left out with its values",
            );
        }
    }
    file.judge_version(entries.first(), notices);
    file
}

impl<'a> IcfFile<'a> {
    /// Takes one key over; false where the section has none of this name.
    fn take(&mut self, section: IcfSection, entry: &IcfEntry<'a>, notices: &mut Notices) -> bool {
        match section {
            IcfSection::Outside => return false,
            // How Iometer shows what it measures is nothing to a plan.
            IcfSection::Display => {}
            IcfSection::Setup => self.setup.take(entry, notices),
            IcfSection::Specs => return self.take_spec(entry, notices),
            IcfSection::Managers => return self.take_worker(entry, notices),
        }
        true
    }

    fn take_spec(&mut self, entry: &IcfEntry<'a>, notices: &mut Notices) -> bool {
        if entry.is("Access specification name") {
            let line = entry.value().unwrap_or(entry.key);
            let (name, assignment) = named(line.text);
            self.specs.push(Access { name: name.to_owned(), place: line.place(), assignment, portions: Vec::new() });
        } else if entry.is("size,") {
            // Until the middle of 1998 a file had one specification, without a name.
            let is_unnamed = self.specs.is_empty();
            if is_unnamed {
                self.specs.push(Access::unnamed(entry.key.place()));
            }
            let spec = self.specs.last_mut().expect("there is one by now");
            for line in &entry.values {
                spec.portions.extend(Portion::read(line, notices));
            }
            if is_unnamed {
                spec.name = spec.own_name();
            }
        } else {
            return false;
        }
        true
    }

    fn take_worker(&mut self, entry: &IcfEntry<'a>, notices: &mut Notices) -> bool {
        if entry.is("Manager ID") {
            self.managers += 1;
        } else if entry.is("Worker") && entry.key.text.len() == "Worker".len() {
            self.workers.push(IcfWorker::new(entry));
        } else if !entry.is("Manager network address") && !entry.is("End ") {
            return self.workers.last_mut().is_some_and(|worker| worker.take(entry, notices));
        }
        true
    }

    /// Tells where the text is no configuration at all, or older than what is read here.
    fn judge_version(&self, first: Option<&IcfEntry>, notices: &mut Notices) {
        if self.specs.is_empty() {
            let place = self.version.or(first.map(|entry| entry.key)).map_or_else(nowhere, |line| line.place());
            notices.refuse(
                "icf::no-specification",
                "ACCESS SPECIFICATIONS",
                place,
                "there is no access specification".to_owned(),
                "save one with Iometer's \"Save Test Configuration File\", access specifications included",
            );
        }
        let Some(version) = self.version else { return };
        let year = version.words().nth(1).and_then(|word| word.split('.').next()).and_then(|year| year.parse().ok());
        if year.is_some_and(|year: u32| (1900..1998).contains(&year)) {
            notices.warn(
                "icf::version",
                "Version",
                version.place(),
                format!("`{}` is older than the format that is read here", version.text),
                "look at the plan before it is run",
            );
        }
    }
}

/// The place of what is not there at all.
fn nowhere() -> crate::import::SourceRange {
    crate::import::SourceRange { source: 0, span: 0..0, line: 1 }
}

/// An access specification's name, and who has it by default.
fn named(text: &str) -> (&str, Assignment) {
    let Some((name, word)) = text.rsplit_once(',') else { return (text, Assignment::None) };
    let assignment = match word.trim().to_ascii_uppercase().as_str() {
        "NONE" | "0" => Assignment::None,
        "ALL" | "1" | "DISK" | "2" => Assignment::Disk,
        "NET" | "3" => Assignment::Network,
        // Some write the heading again where the assignment belongs.
        "DEFAULT ASSIGNMENT" => Assignment::None,
        _ => return (text, Assignment::None),
    };
    (name.trim(), assignment)
}
