//! The example jobs that Debian's fio comes with: each is taken over, or it is said precisely why not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_lab::import::fio::{World, import, plan_text};
use assay_lab::import::{Import, Severity};
use assay_lab::plan::{self, PlanLength};
use block::Bytes;

/// A machine with no variables and no drives.
struct Bare;

impl World for Bare {
    fn file(&self, path: &Path) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn page_size(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        8192
    }

    fn processors(&self) -> u64 {
        4
    }

    fn capacity(&self, _: &str, _: bool) -> Option<Bytes> {
        None
    }

    fn zone(&self, _: &str, _: bool) -> Option<Bytes> {
        None
    }
}

/// How many example jobs fio 3.33 has.
const KNOWN: usize = 86;

/// Where the examples are: installed, or fetched by `scripts/tools`.
fn examples() -> Option<Vec<PathBuf>> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fio-examples");
    let folder = [PathBuf::from("/usr/share/doc/fio/examples"), fetched].into_iter().find(|folder| folder.is_dir())?;
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut jobs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "fio")).collect();
    jobs.sort();
    (!jobs.is_empty()).then_some(jobs)
}

#[test]
fn every_example_is_taken_over_or_refused_with_an_option_and_a_line() {
    let Some(examples) = examples() else {
        println!(
            "skipped: fio's example jobs are neither installed nor in target/fio-examples; scripts/tools fetches them"
        );
        return;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in &examples {
        let text = std::fs::read_to_string(path).unwrap();
        let import = import(path, &text, &[], &Bare);
        *counts.entry(outcome(&import)).or_default() += 1;
        for notice in &import.notices {
            let line = text.lines().nth(notice.place.line - 1).unwrap();
            assert!(line.contains(&notice.option), "{}: {notice} is not about `{line}`", path.display());
        }
        if !import.refused() {
            is_a_plan(&import, path);
        }
    }
    if examples.len() != KNOWN {
        println!("skipped: the counts are of fio 3.33's {KNOWN} example jobs, and here are {}", examples.len());
        return;
    }
    let counts: Vec<_> = counts.into_iter().collect();
    assert_eq!(counts, [("as it is", 14), ("refused", 41), ("with notices", 31)]);
}

fn outcome(import: &Import) -> &'static str {
    match import.notices.iter().map(|notice| notice.severity).max() {
        None | Some(Severity::Note) => "as it is",
        Some(Severity::Warning) => "with notices",
        Some(Severity::Error) => "refused",
    }
}

/// That its plan reads back with the same workloads.
fn is_a_plan(import: &Import, path: &Path) {
    assert!(import.jobs().count() > 0, "{} has no job", path.display());
    let text = plan_text(import, path, import.layout());
    if import.groups.iter().all(|group| group.jobs.len() == 1) {
        let plan = plan::parse(&text, PlanLength::Full).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let read = plan.steps.iter().filter_map(|step| match &step.action {
            plan::Action::Measure(measure) => Some(measure.cells[0].workload.clone()),
            _ => None,
        });
        let asked: Vec<_> = import.jobs().map(|job| job.workload.clone()).collect();
        assert_eq!(read.collect::<Vec<_>>(), asked, "{}", path.display());
    }
}
