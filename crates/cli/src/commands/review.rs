//! `assay review`: a whole plan on a target, and its report.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use block::Seed;
use lab::plan::{self, Length, Plan, catalog};
use lab::{plan_of, recall};
use store::{Run, RunId, State, Store};

use super::history::{Which, print_summary, write_report};
use crate::failure::Failure;
use crate::target::{self, Opened, RealOptions};
use crate::undertaking::Undertaking;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What to review: sim:DRIVE, a file or a block device [default: sim:x25-m]
    target: Option<String>,

    /// The plan to follow: a name of `assay plans`, or a file
    #[arg(long, value_name = "PLAN", default_value = "review")]
    plan: String,

    /// Shorten durations and repeats, and say so in the report
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    real: RealOptions,

    /// Measure each figure so many times [default: the plan's, 5 in `review`]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,

    /// The origin of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The folder for the report
    #[arg(long, value_name = "DIR", default_value = "assay-reports")]
    out: PathBuf,

    /// Go on with a run that was cut off: the latest, or the one with this number
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    resume: Option<Which>,
}

/// Runs the review and writes its report; the last line says where it is.
pub fn run(arguments: &Arguments, mut store: Store) -> Result<(), Failure> {
    let (run, plan, mut opened, undertaking) = match arguments.resume {
        Some(which) => resume(arguments, which, &mut store)?,
        None => begin(arguments, &mut store)?,
    };
    let undertaking = Undertaking { plan: &plan, ..undertaking.of(&plan) };
    eprintln!("Run {run}: {} on {}", plan.title, opened.identity);
    let (store, done) = undertaking.carry_out(store, run, &mut opened);
    done.map_err(|error| {
        let kept = store.keys(run).map_or(0, |keys| keys.len());
        Failure::failed(format!(
            "{error}\nRun {run} is marked failed; its {kept} finished measurements are kept. \
             `assay review --resume {run}` goes on with it, `assay report {run}` reports what there is."
        ))
    })?;
    finish(&store, run, &arguments.out)
}

/// What a run is done with, apart from its plan.
struct Terms {
    seed: Seed,
    repeats: Option<u32>,
    size: Option<block::Bytes>,
}

impl Terms {
    fn of<'p>(&self, plan: &'p Plan) -> Undertaking<'p> {
        Undertaking { plan, seed: self.seed, repeats: self.repeats, size: self.size }
    }
}

fn begin(arguments: &Arguments, store: &mut Store) -> Result<(RunId, Plan, Opened, Terms), Failure> {
    check_folder(&arguments.out)?;
    let source = catalog::find(&arguments.plan)?;
    let length = if arguments.quick { Length::Quick } else { Length::Full };
    let mut plan = plan::parse(&source.text, length)
        .map_err(|mistakes| Failure::plan(&source.file_name, &source.text, mistakes))?;
    if let Some(repeats) = arguments.repeats {
        plan.repeat(repeats);
    }
    let name = arguments.target.as_deref().unwrap_or(target::DEFAULT);
    if name.starts_with("sim:") && arguments.real.size.is_some() {
        return Err(Failure::usage("--size is for files and devices; a review uses all of a simulated drive"));
    }
    let opened = target::open(name, &arguments.real, plan.changes_data(), true)?;
    let terms = Terms { seed: Seed::new(arguments.seed), repeats: arguments.repeats, size: arguments.real.size };
    let run = terms.of(&plan).begin(store, &opened)?;
    Ok((run, plan, opened, terms))
}

fn resume(arguments: &Arguments, which: Which, store: &mut Store) -> Result<(RunId, Plan, Opened, Terms), Failure> {
    check_folder(&arguments.out)?;
    let run: Run = which.find(store)?;
    if run.state == State::Complete {
        return Err(Failure::usage(format!(
            "run {} is complete, so there is nothing to go on with; `assay report {}` writes its report again",
            run.id, run.id
        )));
    }
    if let Some(target) = arguments.target.as_deref().filter(|target| *target != run.target) {
        return Err(Failure::usage(format!(
            "run {} was on {}, not on {target}; leave the target out to go on with it",
            run.id, run.target
        )));
    }
    let plan = plan_of(&run)?;
    let options = RealOptions { size: arguments.real.size.or(run.size), ..arguments.real.clone() };
    let opened = target::open(&run.target, &options, plan.changes_data(), true)?;
    store.reopen(run.id)?;
    let terms = Terms { seed: run.seed, repeats: run.repeats, size: run.size };
    Ok((run.id, plan, opened, terms))
}

/// A report that could not be written at the end would be a pity: try the folder at the start.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    let tried = std::fs::create_dir_all(folder).and_then(|()| {
        let probe = folder.join(format!(".assay-{}", std::process::id()));
        std::fs::File::create(&probe)?.write_all(b"1")?;
        std::fs::remove_file(&probe)
    });
    tried.map_err(|error| {
        Failure::usage(format!(
            "reports cannot be written to {}: {error}; name another folder with --out",
            folder.display()
        ))
    })
}

fn finish(store: &Store, run: RunId, folder: &Path) -> Result<(), Failure> {
    let outcome = recall(store, run)?;
    print_summary(&outcome, std::io::stdout().is_terminal())?;
    let path = write_report(&outcome, folder)?;
    println!("Report: {}", path.display());
    Ok(())
}
