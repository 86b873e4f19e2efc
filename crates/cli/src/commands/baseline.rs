//! `assay baseline`: what runs are held against, by name or as a file.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use host::open::{TextError, text};
use lab::gate::Baseline;
use lab::recall;
use store::{RunState, Store};

use super::history::Which;
use crate::failure::Failure;
use crate::outputs;
use crate::terminal::{line, notice, say, width};

/// The longest file that is read as a baseline, in bytes.
const FILE_MAX: u64 = 16 << 20;
/// The longest name.
const NAME_MAX: usize = 64;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "A baseline keeps every figure of a run with its repeats and conditions, so it outlives the run. \
                        `assay gate --baseline NAME` holds a run against it."
)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Make a run a baseline, in place of one of that name
    Set {
        /// The name: letters, digits, dots, dashes and underscores
        #[arg(value_parser = name)]
        name: String,
        /// The run: a number of `assay runs`, or `last`
        #[arg(default_value = "last")]
        run: Which,
    },
    /// List the baselines
    List,
    /// Show where a baseline comes from and what it holds
    Show {
        /// A name of `assay baseline list`, or a file
        #[arg(value_name = "NAME|FILE")]
        name: String,
    },
    /// Remove a baseline
    Rm {
        /// A name of `assay baseline list`
        name: String,
    },
    /// Write a baseline to a file that can be kept in a repository
    Export {
        /// A name of `assay baseline list`
        name: String,
        /// The file
        file: PathBuf,
    },
}

impl Arguments {
    /// Whether the store is written to.
    pub const fn writes(&self) -> bool {
        matches!(self.action, Action::Set { .. } | Action::Rm { .. })
    }
}

/// Does what was asked.
pub fn run(mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.action {
        Action::Set { name, run } => set(&mut store, name, *run),
        Action::List => list(&store),
        Action::Show { name } => show(&find(&store, name)?),
        Action::Rm { name } if store.remove_baseline(name)? => {
            notice(format_args!("Baseline {name} is removed."));
            Ok(())
        }
        Action::Rm { name } => Err(unknown(&store, name)),
        Action::Export { name, file } => {
            outputs::write(file, find(&store, name)?.document().as_bytes())?;
            say(&format!("Baseline {name} is written to {}.\n", line(&file.display().to_string())))
        }
    }
}

/// The baseline in a file, or of this name in the store.
///
/// # Errors
/// If it is not there, or is none.
pub fn find(store: &Store, name: &str) -> Result<Baseline, Failure> {
    let is_file = name.contains('/') || name.ends_with(".json");
    let (document, origin) = match is_file {
        true => (read(Path::new(name))?, name.to_owned()),
        false => {
            let kept = store.baseline(name)?.ok_or_else(|| unknown(store, name))?;
            (kept, format!("the baseline {name} of the store"))
        }
    };
    Baseline::parse(&document).map_err(|error| Failure::usage(format!("{origin}: {error}")))
}

fn read(path: &Path) -> Result<String, Failure> {
    text(path, FILE_MAX).map_err(|error| {
        let why = match error {
            TextError::Long(_) => "it is longer than 16 MiB, and a baseline is not".to_owned(),
            TextError::NotText => "it is not UTF-8 text, and a baseline is JSON".to_owned(),
            other => std::io::Error::from(other).to_string(),
        };
        Failure::usage(format!("the baseline {} cannot be read: {why}", path.display()))
    })
}

fn unknown(store: &Store, name: &str) -> Failure {
    let known = store.baselines().unwrap_or_default();
    let known = match known.is_empty() {
        true => "the store has none; `assay baseline set NAME RUN` makes one".to_owned(),
        false => format!("the store has {}", line(&known.join(", "))),
    };
    Failure::usage(format!("there is no baseline `{}`: {known}", line(name)))
}

fn set(store: &mut Store, name: &str, which: Which) -> Result<(), Failure> {
    let run = which.find(store)?;
    if run.state != RunState::Complete {
        return Err(Failure::usage(format!("run {} is not complete; a baseline is made of a complete run", run.id)));
    }
    let outcome = recall(store, run.id)?;
    let baseline = Baseline::of(&outcome, &report::key_places(&outcome));
    if baseline.points.is_empty() {
        return Err(Failure::usage(format!("run {} measured nothing that can be compared", run.id)));
    }
    store.keep_baseline(name, &baseline.document())?;
    say(&format!("Baseline {name} is run {} ({}).\n", run.id, line(&run.target)))
}

fn list(store: &Store) -> Result<(), Failure> {
    let names = store.baselines()?;
    if names.is_empty() {
        return say("The store has no baselines; `assay baseline set NAME RUN` makes one.\n");
    }
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(["baseline", "run", "started", "plan", "target", "host"]);
    for name in names {
        let row = match find(store, &name) {
            Ok(found) => [
                found.run.to_string(),
                report::date(found.started_ms),
                line(&found.plan),
                line(&found.target),
                line(found.host.as_deref().unwrap_or("–")),
            ],
            Err(_) => ["damaged", "", "", "", ""].map(str::to_owned),
        };
        table.add_row(std::iter::once(line(&name)).chain(row));
    }
    say(&format!("{}\n", table.trim_fmt()))
}

fn show(baseline: &Baseline) -> Result<(), Failure> {
    let told = |name: &Option<String>| line(name.as_deref().unwrap_or("unknown"));
    let facts = [
        ("run", baseline.run.to_string()),
        ("started", report::date(baseline.started_ms)),
        ("plan", line(&baseline.plan) + if baseline.quick { " (quick)" } else { "" }),
        ("target", format!("{}, {}", line(&baseline.target), line(&baseline.target_identity))),
        ("host", told(&baseline.host)),
        ("kernel", told(&baseline.kernel)),
        ("processor", told(&baseline.processor)),
        ("seed", line(&baseline.seed)),
        ("assay", format!("{} {}", line(&baseline.assay), line(&baseline.commit))),
    ];
    let mut text: String = facts.iter().map(|(name, fact)| format!("{name:<10} {}\n", fact.trim_end())).collect();
    let figures: usize = baseline.points.iter().map(|point| point.figures.len()).sum();
    text += &format!(
        "{:<10} {figures} of {} points\n\nKey figures, mean over the repeats\n",
        "figures",
        baseline.points.len()
    );
    for point in &baseline.points {
        for (figure, key) in point.figures.iter().filter_map(|figure| Some((figure, figure.key.as_ref()?))) {
            let mean = figure.samples.iter().sum::<f64>() / figure.samples.len() as f64;
            text += &format!("  {}: {mean:.4e} {} ({} repeats)\n", line(key), line(&figure.unit), figure.samples.len());
        }
    }
    say(&text)
}

/// A name that is no path, no option and no file.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_name = (1..=NAME_MAX).contains(&text.len())
        && text.chars().all(is_plain)
        && !text.starts_with(['.', '-'])
        && !text.ends_with(".json");
    match is_name {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a name has up to {NAME_MAX} letters, digits, dots, dashes and underscores, starts with none of the marks \
             and does not end in .json"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path_no_option_and_no_file() {
        for fine in ["main", "v1.2", "nightly_2026-11-22"] {
            assert_eq!(name(fine).as_deref(), Ok(fine));
        }
        for wrong in ["", "../x", "a/b", "-f", ".hidden", "main.json", "two words", "\u{1b}[2J", &"x".repeat(65)] {
            assert!(name(wrong).is_err_and(|error| error.contains("letters")), "{wrong}");
        }
    }
}
