//! `assay replicate qos`: published latencies and rates of single drives, beside what their presets do.

use std::path::{Path, PathBuf};
use std::time::Instant;

use block::{Bytes, Seed, parse_bytes, suggestion};
use drive::preset::Preset;
use lab::StateCache;
use lab::replicate::qos::{self, Qos, QosDrive, QosRun};
use lab::replicate::{QosRequest, replicate_qos};

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
    /// With `qos`: only this drive, by its preset or its name in published/qos.toml; may be given several times
    #[arg(long, value_name = "NAME")]
    drive: Vec<String>,

    /// With `qos` and one --drive: simulate it on this drive, by name or file, with changes after a `?`
    #[arg(long, value_name = "SIM")]
    on: Option<String>,

    /// With `qos`: a tenth of the duration; tail percentiles are not resolved
    #[arg(long)]
    quick: bool,

    /// With `qos`: scale drives down to this many blocks per flash plane [default: 48 to 96, and at least 8 GiB]
    #[arg(long, value_name = "COUNT", value_parser = number::within::<u32>(16..=1_000_000))]
    blocks: Option<u32>,

    /// With `qos`: cache up to this much of conditioned drive states for later runs; 0 for none [default: 2GiB,
    /// in $XDG_CACHE_HOME/assay/states]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    state_cache: Option<Bytes>,

    /// With `qos`: write into this file how well each drive predicts, as `assay drives show` tells it
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
            ("--record", self.record.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                Err(Failure::usage(format!("{option} belongs to `assay replicate qos`; leave it out")))
            }
            None => Ok(()),
        }
    }

    /// The command that gives the same figures.
    fn command(&self, seed: Seed) -> String {
        let mut words = vec!["assay replicate qos".to_owned()];
        words.extend(self.drive.iter().map(|name| format!("--drive {}", quoted(name))));
        words.extend(self.on.iter().map(|name| format!("--on {}", quoted(name))));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.blocks.map(|count| format!("--blocks {count}")));
        words.push(format!("--seed {seed}"));
        words.join(" ")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./:,=+%".contains(letter));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Simulates the drives, prints what came of it, and writes the report and the record.
pub fn run(options: &Options, seed: Seed, format: Format, out: Option<&Path>) -> Result<(), Failure> {
    let figures = qos::builtin();
    let drives = drives(options, figures)?;
    let record = options.record.as_deref().map(Record::at).transpose()?;
    let began = Instant::now();
    let states = states(options.state_cache);
    let request = QosRequest { qos: figures, drives, seed, is_quick: options.quick, blocks: options.blocks, states };
    let done = with_bar(|watch| replicate_qos(&request, watch));
    notice(format!("Simulated in {:.0} s.", began.elapsed().as_secs_f64()));
    match format {
        Format::Json => say(&format!("{}\n", report::prediction::json(figures, &done, env!("CARGO_PKG_VERSION"))))?,
        Format::Text => say(&report::prediction::text(figures, &done, width().min(100)))?,
    }
    deliver(format == Format::Text, out, "replicate-qos.html", || {
        report::prediction::html(figures, &done, &options.command(seed), env!("CARGO_PKG_VERSION"))
    })?;
    record.map_or(Ok(()), |record| record.write(figures, &done))
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
    let mut wanted = vec![options.drive.is_empty(); figures.drives.len()];
    for name in &options.drive {
        let found = figures.drive(name).ok_or_else(|| {
            let known: Vec<&str> = figures.drives.iter().map(|drive| drive.preset.as_str()).collect();
            Failure::usage(format!("no figures of a drive `{name}`; {}", suggestion(name, &known)))
        })?;
        wanted[found] = true;
    }
    let on = match (&options.on, &options.drive[..]) {
        (None, _) => None,
        (Some(on), [_]) => Some(target::preset(on.strip_prefix("sim:").unwrap_or(on))?),
        (Some(_), _) => return Err(Failure::usage("--on takes the place of one drive; name that with --drive")),
    };
    let preset = |drive: &QosDrive| match &on {
        Some(on) => Ok(on.clone()),
        None => Preset::find(&drive.preset).and_then(|preset| drive.hosted(preset)).map_err(|error| error.to_string()),
    };
    let drives = figures.drives.iter().zip(wanted);
    Ok(drives.map(|(drive, is_wanted)| is_wanted.then(|| preset(drive))).collect())
}

/// The file that says how well each drive predicts.
struct Record {
    output: host::Output,
    path: PathBuf,
    /// What it says so far.
    before: String,
}

impl Record {
    /// The record at `path`, tried before anything is simulated.
    fn at(path: &Path) -> Result<Self, Failure> {
        let existed = path.exists();
        let output = outputs::at(path)?;
        // What is said to a stream is read by somebody else.
        let is_there = existed && !output.is_stream();
        let refuse = |error| Failure::usage(format!("the record {} cannot be read: {error}", path.display()));
        let before = if is_there { host::open::text(path, RECORD_MAX).map_err(refuse)? } else { String::new() };
        Ok(Self { output, path: path.to_owned(), before })
    }

    fn write(mut self, figures: &Qos, done: &QosRun) -> Result<(), Failure> {
        let text = qos::write_record(&self.before, figures, done)
            .map_err(|error| Failure::usage(format!("{} is no record of drives: {error}", self.path.display())))?;
        self.output.write(text.as_bytes()).map_err(Failure::failed)?;
        notice(format!("Record: {}", self.path.display()));
        Ok(())
    }
}
