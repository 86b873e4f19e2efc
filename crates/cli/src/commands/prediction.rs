//! `assay replicate qos` and `assay replicate FILE`: published latencies and rates of single drives, or the user's own, beside
//! what their presets do.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use block::{Bytes, Seed, parse_bytes, suggestion};
use drive::preset::Preset;
use lab::StateCache;
use lab::plan::catalog::PlanSource;
use lab::plan::quoted;
use lab::replicate::qos::{self, Qos, QosDrive};
use lab::replicate::{QosRequest, replicate_qos, write_qos};

use super::page::deliver;
use crate::failure::Failure;
use crate::fingerprint;
use crate::format::Format;
use crate::number;
use crate::outputs;
use crate::progress::with_bar;
use crate::target;
use crate::terminal::{notice, say, width};

/// The word by which the figures are asked for.
pub const NAME: &str = "qos";

/// How much of states is kept where nothing is said.
const STATES_MAX: Bytes = Bytes::from_gib(2);

/// No record of drives is longer.
const RECORD_MAX: u64 = 1 << 20;

/// What only these figures take.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// With `qos` or a file of latencies: only this drive, by its preset or its id in the file; may be given several times
    #[arg(long, value_name = "NAME")]
    drive: Vec<String>,

    /// With `qos` or a file of latencies, and one drive: simulate it on this drive, by name or file, with changes after a `?`,
    /// in the host that it names
    #[arg(long, value_name = "SIM")]
    on: Option<String>,

    /// With `qos` or a file of latencies: a tenth of the duration; tail percentiles are not resolved
    #[arg(long)]
    quick: bool,

    /// With `qos` or a file of latencies: scale drives down to this many blocks per flash plane [default: 48 to 96, and at least 8 GiB]
    #[arg(long, value_name = "COUNT", value_parser = number::within::<u32>(16..=1_000_000))]
    blocks: Option<u32>,

    /// With `qos` or a file of latencies: cache up to this much of conditioned drive states for later runs; 0 for none [default: 2GiB,
    /// in $XDG_CACHE_HOME/assay/states]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    state_cache: Option<Bytes>,

    /// Write into this file how well each drive predicts, as `assay drives show` tells it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

impl Options {
    /// That none was given where reviews are repeated.
    ///
    /// # Errors
    /// If one was.
    pub fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--drive", !self.drive.is_empty()),
            ("--on", self.on.is_some()),
            ("--quick", self.quick),
            ("--blocks", self.blocks.is_some()),
            ("--state-cache", self.state_cache.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let known = "`assay replicate qos` and files of latencies";
                Err(Failure::usage(format!("{option} belongs to {known}; leave it out")))
            }
            None => Ok(()),
        }
    }

    /// The record that was asked for, tried before anything is simulated.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn record(&self) -> Result<Option<Record>, Failure> {
        self.record.as_deref().map(Record::at).transpose()
    }

    /// The command that gives the same of `figures`.
    fn command(&self, figures: &Figures, seed: Seed) -> String {
        let mut words = vec![format!("assay replicate {}", quoted(&figures.name))];
        words.extend(self.drive.iter().map(|name| format!("--drive {}", quoted(name))));
        words.extend(self.on.iter().map(|name| format!("--on {}", quoted(name))));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.blocks.map(|count| format!("--blocks {count}")));
        words.push(format!("--seed {seed}"));
        words.join(" ")
    }
}

/// Latencies and rates that are compared.
pub struct Figures {
    /// As they were asked for: `qos`, or a path.
    name: String,
    qos: Cow<'static, Qos>,
}

impl Figures {
    /// Those that come with the program.
    pub fn builtin() -> Self {
        Self { name: NAME.to_owned(), qos: Cow::Borrowed(qos::builtin()) }
    }

    /// Those of a file, asked for by this name.
    ///
    /// # Errors
    /// If it has mistakes.
    pub fn of(name: &str, source: PlanSource) -> Result<Self, Failure> {
        match qos::parse(&source.text) {
            Ok(qos) => Ok(Self { name: name.to_owned(), qos: Cow::Owned(qos) }),
            Err(mistakes) => Err(Failure::plan(&source.file_name, &source.text, mistakes)),
        }
    }

    /// What a fit to them is said to be of: the file's own name, wherever it lies.
    pub fn label(&self) -> String {
        Path::new(&self.name).file_name().map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// The figures.
    pub fn qos(&self) -> &Qos {
        &self.qos
    }

    /// What the report's file is called: `replicate-qos.html`.
    fn report_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem().map_or(Cow::Borrowed(NAME), |stem| stem.to_string_lossy());
        outputs::file_name(&format!("replicate-{stem}.html"))
    }
}

/// Simulates the drives, prints what came of it, and writes the report and the record.
pub fn run(options: &Options, asked: &Figures, seed: Seed, format: Format, out: Option<&Path>) -> Result<(), Failure> {
    let figures = &*asked.qos;
    let drives = drives(options, figures)?;
    let record = options.record()?;
    let began = Instant::now();
    let states = states(options.state_cache);
    let request = QosRequest { qos: figures, drives, seed, is_quick: options.quick, blocks: options.blocks, states };
    let done = with_bar(|watch| replicate_qos(&request, watch));
    notice(format!("Simulated in {:.0} s.", began.elapsed().as_secs_f64()));
    match format {
        Format::Json => say(&format!("{}\n", report::prediction::json(figures, &done, env!("CARGO_PKG_VERSION"))))?,
        Format::Text => say(&report::prediction::text(figures, &done, width().min(100)))?,
    }
    deliver(format == Format::Text, out, &asked.report_name(), || {
        report::prediction::html(figures, &done, &options.command(asked, seed), env!("CARGO_PKG_VERSION"))
    })?;
    record.map_or(Ok(()), |record| record.write(|before| write_qos(before, figures, &done)))
}

/// The user's cache of states, of so much at most; none where there is no place for one, without which all goes on as well.
fn states(most: Option<Bytes>) -> Option<StateCache> {
    let most = most.unwrap_or(STATES_MAX);
    let folder = StateCache::default_path(|name| std::env::var_os(name)).filter(|_| most > Bytes::ZERO)?;
    // Another program of the same commit may be another model: what it is tells its file.
    let program = std::env::current_exe().and_then(|path| fingerprint::of(&path)).unwrap_or_default();
    let told = |error: &std::io::Error| {
        notice(format_args!("States of drives are not kept in {}: {error}", folder.display()));
    };
    StateCache::at(&folder, most, &format!("{} {program}", env!("ASSAY_VERSION"))).inspect_err(told).ok()
}

/// What each drive of the figures is simulated on; none for those that were not asked for.
fn drives(options: &Options, figures: &Qos) -> Result<Vec<Option<Result<Preset, String>>>, Failure> {
    let mut wanted = vec![false; figures.drives.len()];
    let measured: Vec<usize> = figures.measured().collect();
    for name in &options.drive {
        let found = figures.drive(name).ok_or_else(|| no_figures(figures, name))?;
        wanted[found] = true;
    }
    if options.drive.is_empty() {
        measured.iter().for_each(|drive| wanted[*drive] = true);
    }
    let is_one = options.drive.len() == 1 || options.drive.is_empty() && measured.len() == 1;
    let on = match &options.on {
        None => None,
        Some(on) if is_one => Some(target::preset(on.strip_prefix("sim:").unwrap_or(on))?),
        Some(_) => return Err(Failure::usage("--on takes the place of one drive; name that with --drive")),
    };
    let preset = |drive: &QosDrive| on.as_ref().map_or_else(|| drive.simulated(), |on| Ok(on.clone()));
    let drives = figures.drives.iter().zip(wanted);
    Ok(drives.map(|(drive, is_wanted)| is_wanted.then(|| preset(drive))).collect())
}

/// That there are no figures of a drive, and what is known of it.
fn no_figures(figures: &Qos, name: &str) -> Failure {
    let is_meant = |drive: &&QosDrive| drive.id == name || drive.name() == name;
    Failure::usage(match figures.drives.iter().find(is_meant) {
        Some(_) => format!("there are no figures of `{name}`, but facts alone; give a file of your own figures of it"),
        None => format!("no figures of a drive `{name}`; {}", suggestion(name, &figures.names())),
    })
}

/// The file that says how well each drive predicts.
pub struct Record {
    output: host::Output,
    path: PathBuf,
    /// What it says so far.
    before: String,
}

impl Record {
    /// The record at `path`.
    fn at(path: &Path) -> Result<Self, Failure> {
        let existed = path.exists();
        let output = outputs::at(path)?;
        // What is said to a stream is read by somebody else.
        let is_there = existed && !output.is_stream();
        let refuse = |error| Failure::usage(format!("the record {} cannot be read: {error}", path.display()));
        let before = if is_there { host::open::text(path, RECORD_MAX).map_err(refuse)? } else { String::new() };
        Ok(Self { output, path: path.to_owned(), before })
    }

    /// Writes what `told` makes of what it said before.
    ///
    /// # Errors
    /// If it was no record, or cannot be written.
    pub fn write<E: std::fmt::Display>(mut self, told: impl FnOnce(&str) -> Result<String, E>) -> Result<(), Failure> {
        let text = told(&self.before)
            .map_err(|error| Failure::usage(format!("{} is no record of drives: {error}", self.path.display())))?;
        self.output.write(text.as_bytes()).map_err(Failure::failed)?;
        notice(format!("Record: {}", self.path.display()));
        Ok(())
    }
}
