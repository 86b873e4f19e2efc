//! `assay run JOB.fio`: a job file, run as the plan that it is.

use std::io::IsTerminal;
use std::path::Path;

use block::{Bytes, Seed};
use lab::import::Import;
use lab::import::fio::plan_text;
use lab::recall;
use store::{RunId, Store};

use super::history::print_summary;
use super::run::parsed;
use crate::failure::Failure;
use crate::job_file::{self, Reading};
use crate::target::{self, RealOptions};
use crate::undertaking::Undertaking;

/// A job file, what to run it on, and how.
pub struct Asked<'a> {
    /// The job file.
    pub file: &'a str,
    /// The target, if it is not to be the job's own file.
    pub target: Option<&'a str>,
    /// How the job file is read.
    pub reading: &'a Reading,
    /// How a real target may be used.
    pub real: &'a RealOptions,
    /// The origin of all random choices.
    pub seed: Seed,
}

/// What was run.
pub struct Done {
    /// The job file as it was read.
    pub import: Import,
    /// The run in the store.
    pub run: RunId,
    /// Whether the page cache was passed by.
    pub direct: bool,
    /// The store.
    pub store: Store,
}

/// Runs the job file; `suits` refuses what cannot be shown as is wanted, before anything is touched.
pub fn measure(
    asked: &Asked,
    mut store: Store,
    suits: impl FnOnce(&Import) -> Result<(), Failure>,
) -> Result<Done, Failure> {
    let capacity = asked.real.size.map_or_else(|| capacity(asked.target), |size| Ok(Some(size)))?;
    let import = job_file::read(asked.file, asked.reading, capacity)?;
    suits(&import)?;
    let name = asked.target.or(import.target.as_deref()).ok_or_else(|| {
        Failure::usage(format!(
            "the jobs of {file} are on several files, which become parts of one target: name it, as in \
             `assay run {file} TARGET`",
            file = asked.file
        ))
    })?;
    let text = |layout| plan_text(&import, Path::new(asked.file), layout);
    // What makes no sense wherever it is done is told before a target is made or touched.
    parsed(&text(import.uses_data))?;
    let direct = asked.real.direct.map_or(import.direct, |direct| direct == 1);
    let size = asked.real.size.or(import.size.filter(|_| !name.starts_with("sim:")));
    let access = RealOptions { size, direct: Some(u8::from(direct)), ..asked.real.clone() };
    let writes = import.jobs().any(|job| job.workload.changes_data());
    let mut opened = target::open(name, &access, writes, access.size.is_some())?;
    let plan = parsed(&text(import.uses_data && opened.needs_layout))?;
    opened.fits(&plan)?;
    let undertaking = Undertaking { plan: &plan, seed: asked.seed, repeats: None, size, direct };
    let run = undertaking.begin(&mut store, &opened)?;
    eprintln!("Run {run}: {} on {}", plan.title, opened.identity);
    let (store, done) = undertaking.carry_out(store, run, &mut opened);
    done.map_err(|broken| Failure::failed(broken.words(run)))?;
    Ok(Done { import, run, direct, store })
}

/// How long the target is that was named, so that the shares of it which jobs use are known.
fn capacity(target: Option<&str>) -> Result<Option<Bytes>, Failure> {
    let Some(target) = target else { return Ok(None) };
    match target.strip_prefix("sim:") {
        Some(preset) => Ok(Some(target::preset(preset)?.capacity())),
        None => Ok(job_file::length(Path::new(target))),
    }
}

/// Shows what came of it.
pub fn show(done: &Done) -> Result<(), Failure> {
    print_summary(&recall(&done.store, done.run)?, std::io::stdout().is_terminal())?;
    eprintln!("`assay report {}` writes the report.", done.run);
    Ok(())
}
