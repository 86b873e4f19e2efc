//! A cell of a sweep: one workload on a simulated drive in a known state.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use assay_cli::Failure;
use assay_cli::embedded::Host;
use block::Seed;
use drive::preset::Preset;
use lab::plan::{Field, Plan, PlanLength, PlanText, parse};
use lab::{Checked, LabError, MeasureTask, RunRecord, Session, Simulated, Subject, Tracker, now_ms};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use store::{Annotations, NewRun, Store};

use crate::error::refused;
use crate::interruption::supervised;
use crate::measurement::figures;
use crate::states::{State, preset, state, threads};

/// How long a steady drive is measured where nothing else ends it, in simulated time.
const RUNTIME: &str = "10s";

/// The fields of a workload that a steady state depends on: what is written where, and not how fast.
const STATE_FIELDS: [Field; 11] = [
    Field::Bs,
    Field::Bssplit,
    Field::PercentageRandom,
    Field::Blockalign,
    Field::RandomDistribution,
    Field::BufferCompressPercentage,
    Field::ZeroBuffers,
    Field::DedupePercentage,
    Field::Size,
    Field::Offset,
    Field::Zonemode,
];

/// What came of a cell.
#[derive(Default)]
struct Found {
    figures: Vec<(String, f64)>,
    findings: Vec<String>,
    /// Whether its state had to be made.
    is_made: bool,
}

/// What is measured, as plain data.
struct Asked {
    preset: Preset,
    fields: Vec<(Field, String)>,
    is_steady: bool,
    is_filled: bool,
    seed: Seed,
    key: String,
}

/// Measures a cell: its figures by name, doubts about it, and whether its state had to be made.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "this is what a cell is")]
pub fn measure_cell<'py>(
    py: Python<'py>,
    target: &str,
    changes: &str,
    fields: Vec<(String, String)>,
    until: Option<&str>,
    seed: u64,
    key: String,
    scratch: PathBuf,
    group: u64,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>, bool)> {
    let asked =
        Asked::new(target, changes, fields, until, seed, key).map_err(|failure| crate::error::raised(py, &failure))?;
    let measured = move |host: &Host| threads(1)?.install(|| asked.measured(&scratch, host));
    let Found { figures, findings, is_made } = supervised(py, None, group, measured)?;
    let all = PyDict::new(py);
    figures.into_iter().try_for_each(|(name, value)| all.set_item(name, value))?;
    if all.is_empty() {
        return Err(refused(py, "nothing was measured"));
    }
    Ok((all, findings, is_made))
}

/// How many conditioned states were made in this process.
#[pyfunction]
pub fn states_made() -> u64 {
    crate::states::made()
}

impl Asked {
    fn new(
        target: &str,
        changes: &str,
        fields: Vec<(String, String)>,
        until: Option<&str>,
        seed: u64,
        key: String,
    ) -> Result<Self, Failure> {
        let name = target.strip_prefix("sim:").ok_or_else(|| {
            Failure::usage(format!(
                "{target} is no simulated drive, and a sweep has its cells measured anywhere in any order; for a real target \
                 write a plan with a sweep and give it to review()"
            ))
        })?;
        let preset = preset(name)?.changed(changes)?;
        let field = |(name, text): (String, String)| match Field::named(&name) {
            Some(field) => Ok((field, text)),
            None => {
                let known = Field::ALL.map(Field::name);
                let help = block::suggestion(&name, &known);
                Err(Failure::usage(format!("`{name}` is not a field of a workload; {help}")))
            }
        };
        let fields = fields.into_iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let (is_steady, is_filled) = match until {
            None => (false, false),
            Some("filled") => (false, true),
            Some("steady") => (true, true),
            Some(other) => {
                return Err(Failure::usage(format!(
                    "until is {other:?}; give \"steady\", \"filled\", or None for a new drive"
                )));
            }
        };
        Ok(Self { preset, fields, is_steady, is_filled, seed: Seed::new(seed), key })
    }

    /// The cell as a plan of one step.
    fn plan(&self) -> Result<Plan, Failure> {
        let mut text = PlanText::new("cell");
        text.set("repeats", 1);
        let step = text.step("cell").fields(&self.fields);
        let ends = [Field::Runtime, Field::NumberIos, Field::IoSize, Field::ReadIolog];
        let is_ended = self.fields.iter().any(|(field, _)| ends.contains(field));
        if !is_ended {
            let _ = step.with(Field::Runtime.name(), RUNTIME);
        }
        let mut plan = parsed(&text)?;
        // A trace is named by whoever wrote the sweep, and a cell comes from there.
        lab::Traces::anywhere().give(&mut plan)?;
        Ok(plan)
    }

    /// What brings the drive into its state; none for a new drive.
    fn preparation(&self, reads: bool) -> Option<PlanText> {
        if !self.is_filled && !reads {
            return None;
        }
        let mut text = PlanText::new("state");
        let _ = text.step("fill").with("do", "fill").with("bs", "1m").with("iodepth", 4);
        if self.is_steady {
            let is_sequential = self.fields.iter().any(|(field, text)| *field == Field::Rw && text == "write");
            let step = text.step("condition").with("do", "condition").with("round", "2s").with("steady", "snia");
            let step = step.with("at-least", "200%").with("at-most", "400%").with("iodepth", 32);
            let step = step.with("rw", if is_sequential { "write" } else { "randwrite" });
            let _ = step.fields(self.fields.iter().filter(|(field, _)| STATE_FIELDS.contains(field)));
        }
        Some(text)
    }

    /// Measures it, on the drive in its state.
    fn measured(self, scratch: &Path, host: &Host) -> Result<Found, Failure> {
        let plan = self.plan()?;
        let site = lab::plan::Site::ANY;
        let works: Vec<_> = plan.steps.iter().map(|step| step.work(&site)).collect();
        let reads = works
            .iter()
            .flat_map(|work| work.runs())
            .any(|cell| !cell.workload.pattern.changes_data() || cell.workload.pattern.is_mixed());
        let new = Simulated::new(self.preset.clone()).stop_when(host.stop.clone());
        let (mut drive, mut findings, is_made) = match self.preparation(reads) {
            None => (new, Vec::new(), false),
            Some(text) => {
                let recipe = format!("{:?} {:?}\n{}\n{text}", self.preset.spec, self.preset.specimen, self.seed);
                let like = || self.preset.build_in_host();
                let (state, is_made) = state(&recipe, like, || self.prepared(&text, scratch, host))?;
                (new.in_state(state.device), state.findings, is_made)
            }
        };
        let checked = Checked::new(&plan, &drive)?;
        let steps: Vec<_> = checked.plan().steps.iter().map(|step| step.work(&drive.site())).collect();
        let cells: Vec<_> = steps.iter().flat_map(|work| work.runs()).cloned().collect();
        let task = MeasureTask {
            step: 0,
            name: "cell",
            cells: &cells,
            seed: self.seed.split("cell").split(&self.key),
            keeps_state: false,
            repeats: vec![0],
            enough: None,
            known: Vec::new(),
            observers: Vec::new(),
        };
        let found = Mutex::new(Vec::new());
        let keep = |_, part: lab::Part| -> Result<(), LabError> {
            found.lock().expect("nothing panics while it holds the figures").extend(part.measured);
            Ok(())
        };
        drive.measure(&[task], &keep, &|_| ()).map_err(told)?;
        let found = found.into_inner().expect("nothing panics while it holds the figures");
        let measured = found.into_iter().flat_map(|(_, measured)| measured).next();
        let Some(measured) = measured else { return Ok(Found::default()) };
        findings.extend(measured.target_findings());
        Ok(Found { figures: figures(&measured), findings, is_made })
    }

    /// The drive in the state that this plan leaves, with doubts about how it came there.
    fn prepared(&self, text: &PlanText, scratch: &Path, host: &Host) -> Result<State, Failure> {
        let mut drive = Simulated::new(self.preset.clone()).stop_when(host.stop.clone());
        let checked = Checked::new(&parsed(text)?, &drive)?;
        let plan = checked.plan();
        let path = scratch.join(format!("{}-{}.sqlite", std::process::id(), crate::states::made()));
        let store = Mutex::new(Store::open(&path)?);
        let run = NewRun {
            plan: plan.name.clone(),
            plan_text: plan.text.clone(),
            quick: false,
            simulated: true,
            target: format!("sim:{}", self.preset.name),
            target_identity: self.preset.title.clone(),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: Some(drive.capacity()),
            drive: None,
            seed: self.seed,
            repeats: None,
            started_ms: now_ms(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: String::new(),
            environment: "{}".to_owned(),
            annotations: Annotations::default(),
            group: None,
            shard: None,
        };
        let record = RunRecord::begin(&store, &run, &[])?;
        let progress = lab::Progress::of(plan, lab::Course::default());
        let tracker = Tracker::new(&progress, vec![host.show]);
        let seed = self.seed.split("state");
        let done =
            Session::of(record, &checked, seed, &tracker).and_then(|session| session.carry_out(&mut drive, false));
        done.map_err(told)?;
        let notes = record.store().notes(record.id())?;
        let findings = notes.into_iter().map(|note| note.text).collect();
        Ok(State { device: drive.into_state(), findings })
    }
}

fn parsed(text: &PlanText) -> Result<Plan, Failure> {
    parse(&text.to_string(), PlanLength::Full).map_err(Failure::own_plan)
}

/// The error as the command line has it.
fn told(error: LabError) -> Failure {
    if error.is_interruption() { Failure::interrupted(error) } else { error.into() }
}
