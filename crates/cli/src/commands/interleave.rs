//! Reviews of two targets, or of one in two ways, run alternately.

use std::path::{Path, PathBuf};

use host::program;
use store::{RunId, Store};

use crate::failure::Failure;
use crate::number;
use crate::terminal::{detail, notice};

/// How runs are made alternately.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Alternating runs")]
pub struct InterleaveOptions {
    /// Review two targets alternately and compare them in pairs: assay compare --interleave A B
    #[arg(long, conflicts_with = "paired")]
    pub interleave: bool,

    /// How many pairs of reviews are made
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = number::within::<u32>(2..=1000), requires = "interleave")]
    rounds: u32,

    /// Options of the reviews of A alone: '--size 1GiB'
    #[arg(long, value_name = "OPTIONS", requires = "interleave", allow_hyphen_values = true)]
    options_a: Option<String>,

    /// Options of the reviews of B alone
    #[arg(long, value_name = "OPTIONS", requires = "interleave", allow_hyphen_values = true)]
    options_b: Option<String>,

    /// Another assay that makes the reviews of B: a build to be compared with this one
    #[arg(long, value_name = "FILE", requires = "interleave")]
    program_b: Option<PathBuf>,

    /// Options of every review: '--plan review --quick'; separated by blanks
    #[arg(long, value_name = "OPTIONS", requires = "interleave", allow_hyphen_values = true)]
    options: Option<String>,
}

/// One of the two sides.
struct Side {
    program: PathBuf,
    target: String,
    options: Vec<String>,
    runs: Vec<RunId>,
}

/// Makes the reviews, and gives the runs of each side in the order of their pairs.
///
/// Each pair has one seed, and every second one is made the other way round, so that neither what comes first in a pair
/// nor a steady drift favours a side.
pub fn run(options: &InterleaveOptions, targets: &[String], store: &Path) -> Result<[Vec<RunId>; 2], Failure> {
    let [first, second] = targets else {
        return Err(Failure::usage(format!(
            "--interleave takes two targets, and {} were given: assay compare --interleave A B",
            targets.len()
        )));
    };
    let own =
        std::env::current_exe().map_err(|error| Failure::failed(format!("assay does not find itself: {error}")))?;
    let other = match &options.program_b {
        Some(path) => std::fs::canonicalize(path)
            .map_err(|error| Failure::usage(format!("--program-b {}: {error}", path.display())))?,
        None => own.clone(),
    };
    let words = |text: &Option<String>| {
        let all = options.options.iter().chain(text).flat_map(|text| text.split_whitespace());
        all.map(str::to_owned).collect::<Vec<String>>()
    };
    let mut sides = [
        Side { program: own, target: first.clone(), options: words(&options.options_a), runs: Vec::new() },
        Side { program: other, target: second.clone(), options: words(&options.options_b), runs: Vec::new() },
    ];
    for round in 0..options.rounds {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for place in order {
            let side = &mut sides[place];
            let run = side.review(round, store)?;
            side.runs.push(run);
            let name = ["A", "B"][place];
            notice(format_args!("Pair {} of {}: run {run} on {name}, {}", round + 1, options.rounds, side.target));
        }
    }
    Ok(sides.map(|side| side.runs))
}

impl Side {
    /// Makes the review of this round, each point once; its run.
    fn review(&self, round: u32, store: &Path) -> Result<RunId, Failure> {
        let seed = u64::from(round) + 1;
        let before = latest(store);
        let mut command = program::at(&self.program);
        command.arg("--store").arg(store).args(["review", &self.target, "--repeats", "1", "--seed", &seed.to_string()]);
        command.args(&self.options);
        let said = program::output(&mut command)
            .map_err(|error| Failure::failed(format!("{} does not start: {error}", self.program.display())))?;
        let told = String::from_utf8_lossy(&said.stderr);
        let told = told.trim_end();
        if !said.status.success() {
            let ended = match said.status.code() {
                Some(code) => format!("ended with {code}"),
                None => "was killed".to_owned(),
            };
            return Err(Failure::failed(format!(
                "the review of {} in pair {} {ended}; the runs before it are stored\n{told}",
                self.target,
                round + 1
            )));
        }
        detail(told);
        // Others may write to the same store: it is the first run of this seed since.
        let runs = Store::open_to_read(store)?.runs()?;
        let is_own = |run: &&store::Run| run.id > before && run.seed.get() == seed && run.target == self.target;
        let mut own: Vec<RunId> = runs.iter().filter(is_own).map(|run| run.id).collect();
        own.sort();
        own.first()
            .copied()
            .ok_or_else(|| Failure::failed(format!("the review of {} left no run in {}", self.target, store.display())))
    }
}

/// The latest run; below all where there is none yet.
fn latest(store: &Path) -> RunId {
    let found = Store::open_to_read(store).ok().and_then(|store| store.latest().ok().flatten());
    found.map_or(RunId(0), |run| run.id)
}
