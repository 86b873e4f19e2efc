//! A baseline: what a run gave, as a document that can be kept in a repository.

use host::Environment;
use measurement::{Clock, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use workload::Workload;

use super::{GateQuestion, GateRule};
use crate::compare::{Compared, ContrastSide, KeyPlace, places};
use crate::{Asked, Aspect, Outcome, PointOutcome};

/// What marks a file as a baseline.
const FORMAT: &str = "assay-baseline";
/// The version of its form.
const VERSION: u32 = 1;
/// The longest that one may be, in bytes.
const LONGEST: usize = 16 << 20;
/// The most points that one may have; a plan has a few hundred.
const POINTS: usize = 20_000;
/// The most figures of a point, and the most repeats of a figure.
const FIGURES: usize = 200;
const REPEATS: usize = 10_000;
/// The longest that a name in it may be, in bytes.
const NAME: usize = 500;

/// What a run gave: every figure that can be compared, with its repeats and the conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    format: String,
    version: u32,
    /// The run that it was made of, in the store where it was made.
    pub run: i64,
    pub plan: String,
    pub quick: bool,
    pub target: String,
    pub target_identity: String,
    pub host: Option<String>,
    pub kernel: Option<String>,
    pub processor: Option<String>,
    pub seed: String,
    /// When the run began, in milliseconds since 1970-01-01 UTC.
    pub started_ms: i64,
    /// The version and the commit of the program that measured.
    pub assay: String,
    pub commit: String,
    /// The points, in the order of the plan.
    pub points: Vec<BaselinePoint>,
}

/// A point of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselinePoint {
    pub step: String,
    /// The key of the point in it; empty where there is but one.
    pub cell: String,
    /// What was asked: a workload, or a trial with its choices.
    asked: Value,
    /// Whether it was measured in simulated time.
    pub simulated: bool,
    pub figures: Vec<BaselineFigure>,
}

/// A figure of a point with its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFigure {
    /// The name as people read it.
    pub name: String,
    pub unit: String,
    /// What the key figure is called that it is; none of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub samples: Vec<f64>,
}

/// A difference to the baseline that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    Host,
    Kernel,
    Target,
}

/// Why a text is no baseline.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BaselineError {
    #[error("it is {found} bytes long, and a baseline has at most {LONGEST}")]
    TooLong { found: usize },
    #[error("it is no baseline of assay ({why}); `assay baseline export NAME FILE` writes one")]
    Form { why: String },
    #[error("its form is version {found}, and this assay reads version {VERSION}; export it again")]
    Version { found: u32 },
    #[error("{what}; export it again with `assay baseline export`")]
    Content { what: String },
}

impl Baseline {
    /// What `outcome` gave; `key` are its key figures.
    pub fn of(outcome: &Outcome, key: &[KeyPlace]) -> Self {
        let run = &outcome.run;
        let here = environment(run);
        let points = places(outcome).filter_map(|place| BaselinePoint::of(place.name, place.measured, key)).collect();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            run: run.id.0,
            plan: run.plan.clone(),
            quick: run.quick,
            target: run.target.clone(),
            target_identity: run.target_identity.clone(),
            host: here.hostname,
            kernel: here.kernel,
            processor: here.cpu,
            seed: run.seed.to_string(),
            started_ms: run.started_ms,
            assay: run.version.clone(),
            commit: run.commit.clone(),
            points,
        }
    }

    /// The document: JSON with a line for each point, so that a repository shows what changed.
    pub fn document(&self) -> String {
        let head = Self { points: Vec::new(), ..self.clone() };
        let head = serde_json::to_string_pretty(&head).expect("names and numbers always serialise");
        let head = head.strip_suffix("[]\n}").expect("the points come last");
        let line = |point: &BaselinePoint| serde_json::to_string(point).expect("names and numbers always serialise");
        let lines: Vec<String> = self.points.iter().map(|point| format!("    {}", line(point))).collect();
        match lines.is_empty() {
            true => format!("{head}[]\n}}\n"),
            false => format!("{head}[\n{}\n  ]\n}}\n", lines.join(",\n")),
        }
    }

    /// Reads a document, which may come from a stranger: it is data that is compared, and nothing else.
    ///
    /// # Errors
    /// If it is none, or holds what no run gives.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        if text.len() > LONGEST {
            return Err(BaselineError::TooLong { found: text.len() });
        }
        let form = |error: serde_json::Error| BaselineError::Form { why: error.to_string() };
        let head: Head = serde_json::from_str(text).map_err(form)?;
        if head.format != FORMAT {
            return Err(BaselineError::Form { why: format!("its `format` is not \"{FORMAT}\"") });
        }
        if head.version != VERSION {
            return Err(BaselineError::Version { found: head.version });
        }
        let read: Self = serde_json::from_str(text).map_err(form)?;
        read.checked()
    }

    fn checked(self) -> Result<Self, BaselineError> {
        let content = |what: String| Err(BaselineError::Content { what });
        if self.points.len() > POINTS {
            return content(format!("it has {} points, and a run has at most {POINTS}", self.points.len()));
        }
        let head = [&self.plan, &self.target, &self.target_identity, &self.seed, &self.assay, &self.commit];
        let optional = [&self.host, &self.kernel, &self.processor];
        for name in head.into_iter().chain(optional.into_iter().flatten()) {
            plain(name)?;
        }
        let mut seen = std::collections::HashSet::new();
        for point in &self.points {
            plain(&point.step)?;
            plain(&point.cell)?;
            if !seen.insert((&point.step, &point.cell)) {
                return content(format!("it has the point `{} {}` twice", point.step, point.cell));
            }
            if point.figures.len() > FIGURES {
                return content(format!("`{} {}` has {} figures", point.step, point.cell, point.figures.len()));
            }
            for figure in &point.figures {
                [&figure.name, &figure.unit].into_iter().chain(&figure.key).try_for_each(|name| plain(name))?;
                let is_figure = |sample: &f64| sample.is_finite() && *sample >= 0.0;
                if figure.samples.is_empty() || figure.samples.len() > REPEATS || !figure.samples.iter().all(is_figure)
                {
                    let (step, cell, name) = (&point.step, &point.cell, &figure.name);
                    return content(format!("the repeats of `{name}` of `{step} {cell}` are no figures of a run"));
                }
            }
        }
        Ok(self)
    }

    /// What is other now than when it was measured, and is not allowed to be: one sentence each.
    ///
    /// Host and kernel are of no account to simulated drives.
    pub fn differences(&self, run: &Run, allowed: &[Allowance]) -> Vec<String> {
        let is_simulated = |target: &str| target.starts_with("sim:");
        let here = environment(run);
        let other = |what: &str, was: &str, is: &str| format!("{what} is {is}; the baseline's is {was}");
        let told = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
        let is_real = !(is_simulated(&self.target) && is_simulated(&run.target));
        let mut found = Vec::new();
        if !allowed.contains(&Allowance::Target) {
            // A path may be another on each machine; of a simulated drive the name says what it is.
            let is_other_name = !is_real && self.target != run.target;
            if is_real && self.target_identity != run.target_identity {
                found.push(other("the target", &self.target_identity, &run.target_identity));
            } else if is_other_name {
                found.push(other("the target", &self.target, &run.target));
            }
        }
        if is_real && !allowed.contains(&Allowance::Host) {
            if self.host != here.hostname {
                found.push(other("the host", &told(&self.host), &told(&here.hostname)));
            }
            if self.processor != here.cpu {
                found.push(other("the processor", &told(&self.processor), &told(&here.cpu)));
            }
        }
        if is_real && !allowed.contains(&Allowance::Kernel) && self.kernel != here.kernel {
            found.push(other("the kernel", &told(&self.kernel), &told(&here.kernel)));
        }
        found
    }

    /// What it asks of a run: that each figure is worse by no more than `share`. Those of `steps` and `aspects` where any
    /// are named, else the key figures; all where it has none.
    pub fn questions(&self, outcome: &Outcome, share: f64, steps: &[String], aspects: &[Aspect]) -> Vec<GateQuestion> {
        let all = || self.points.iter().flat_map(|point| point.figures.iter().map(move |figure| (point, figure)));
        let is_narrow = !steps.is_empty() || !aspects.is_empty();
        let has_key = all().any(|(_, figure)| figure.key.is_some());
        let usual = if aspects.is_empty() { Aspect::usual() } else { aspects.to_vec() };
        let is_asked = |(point, figure): &(&BaselinePoint, &BaselineFigure)| {
            let is_of_step = steps.is_empty() || steps.contains(&point.step);
            let aspect = crate::Metric::titled(&figure.name).and_then(crate::Metric::aspect);
            match is_narrow || !has_key {
                true => is_of_step && aspect.map_or(aspects.is_empty(), |aspect| usual.contains(&aspect)),
                false => figure.key.is_some(),
            }
        };
        all().filter(is_asked).filter_map(|(point, figure)| point.question(figure, outcome, share)).collect()
    }
}

impl BaselinePoint {
    fn of(step: &str, point: &PointOutcome, key: &[KeyPlace]) -> Option<Self> {
        let cell = point.key();
        let figures: Vec<BaselineFigure> = Compared::of(point, &Aspect::all(), true)
            .into_iter()
            .filter_map(|figure| {
                let side = figure.side(point)?;
                let is_it = |one: &&KeyPlace| {
                    one.step == step
                        && one.cell == cell
                        && figure.metric.is_some_and(|(_, metric)| metric == one.metric)
                };
                let key = key.iter().find(is_it).map(|one| one.title.clone());
                Some(BaselineFigure { name: figure.name, unit: figure.unit, key, samples: side.samples })
            })
            .collect();
        let simulated = point.measurements().next().is_some_and(|one| one.clock == Clock::Virtual);
        let point = Self { step: step.to_owned(), cell, asked: asked(&point.asked), simulated, figures };
        (!point.figures.is_empty()).then_some(point)
    }

    /// What is asked of the same figure in `outcome`; none of what no figure is called.
    fn question(&self, figure: &BaselineFigure, outcome: &Outcome, share: f64) -> Option<GateQuestion> {
        let found = places(outcome).find(|place| place.name == self.step && place.measured.key() == self.cell);
        let missing = |why: &str| Err(why.to_owned());
        let measured = match &found {
            None => missing("the run does not measure this point"),
            Some(place) if !self.is_asked_alike(place.measured) => {
                missing("the run has another workload or duration there")
            }
            Some(place) => Ok(place.measured),
        };
        let metric = crate::Metric::titled(&figure.name);
        let compared = match metric {
            Some(metric) => Compared::by(metric),
            None => {
                let all = measured.as_ref().map(|point| Compared::of(point, &[], true)).unwrap_or_default();
                all.into_iter().find(|one| one.name == figure.name)?
            }
        };
        let after = measured.and_then(|point| {
            compared.side(point).ok_or_else(|| "the run's repeats do not give this figure".to_owned())
        });
        let name = compared.metric.map_or(figure.name.as_str(), |(aspect, _)| aspect.name());
        Some(GateQuestion {
            step: self.step.clone(),
            cell: self.cell.clone(),
            title: format!("{}.{name}", format!("{} {}", self.step, self.cell).trim_end()),
            unit: figure.unit.clone(),
            more_is_better: compared.more_is_better,
            rule: GateRule::NoWorse(share),
            before: ContrastSide::of_samples(figure.samples.clone(), self.simulated),
            after,
            paired: false,
        })
    }

    fn is_asked_alike(&self, point: &PointOutcome) -> bool {
        match &point.asked {
            Asked::Workload(workload) => {
                serde_json::from_value::<Workload>(self.asked.clone()).is_ok_and(|asked| asked == *workload)
            }
            trial => asked(trial) == self.asked,
        }
    }
}

/// What was asked at a point, as a document has it.
fn asked(asked: &Asked) -> Value {
    match asked {
        Asked::Workload(workload) => serde_json::to_value(workload).expect("a workload always serialises"),
        Asked::Trial { experiment, choices } => {
            let choices: serde_json::Map<String, Value> =
                choices.all().map(|(choice, text)| (choice.name.to_owned(), text.into())).collect();
            serde_json::json!({ "experiment": experiment, "choices": choices })
        }
    }
}

fn environment(run: &Run) -> Environment {
    serde_json::from_str(&run.environment).unwrap_or_default()
}

/// A name that can be shown: not long, and without control characters.
fn plain(name: &str) -> Result<(), BaselineError> {
    let is_shown = |c: char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match name.len() <= NAME && name.chars().all(is_shown) {
        true => Ok(()),
        false => {
            let shown: String = name.chars().filter(|c| is_shown(*c)).take(40).collect();
            Err(BaselineError::Content {
                what: format!("the name `{shown}…` is longer than {NAME} bytes or cannot be shown"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let figure =
            BaselineFigure { name: "IOPS".into(), unit: "IOPS".into(), key: None, samples: vec![100.0, 101.5] };
        let point = BaselinePoint {
            step: "read".into(),
            cell: "iodepth=1".into(),
            asked: asked(&Asked::Workload(Workload::default())),
            simulated: false,
            figures: vec![figure],
        };
        Baseline {
            format: FORMAT.into(),
            version: VERSION,
            run: 3,
            plan: "guard".into(),
            quick: false,
            target: "/dev/sdb".into(),
            target_identity: "Some drive, 1 TB".into(),
            host: Some("bench".into()),
            kernel: Some("6.1".into()),
            processor: None,
            seed: "1".into(),
            started_ms: 0,
            assay: "0.1.0".into(),
            commit: String::new(),
            points: vec![point.clone(), BaselinePoint { cell: "iodepth=4".into(), ..point }],
        }
    }

    #[test]
    fn a_baseline_reads_back_and_has_a_line_for_each_point() {
        let document = baseline().document();
        assert_eq!(Baseline::parse(&document), Ok(baseline()));
        assert_eq!(document.lines().filter(|line| line.contains("\"samples\":[100.0,101.5]")).count(), 2, "{document}");
        let empty = Baseline { points: Vec::new(), ..baseline() };
        assert_eq!(Baseline::parse(&empty.document()), Ok(empty));
    }

    #[test]
    fn a_strangers_file_is_refused_with_what_is_wrong() {
        let document = baseline().document();
        let long = "x".repeat(600);
        let table = [
            (String::new(), "no baseline of assay"),
            ("{}".to_owned(), "no baseline of assay"),
            ("[".repeat(100_000), "no baseline of assay"),
            (document.replace(FORMAT, "other"), "its `format` is not"),
            (document.replace("\"version\": 1", "\"version\": 2"), "version 2, and this assay reads version 1"),
            (document.replace("\"run\": 3", "\"run\": 3, \"exec\": \"sh\""), "unknown field `exec`"),
            (document.replace("[100.0,101.5]", "[]"), "are no figures of a run"),
            (document.replace("100.0", "-1.0"), "are no figures of a run"),
            (document.replace("100.0", "1e999"), "no baseline of assay"),
            (document.replace("iodepth=4", "iodepth=1"), "twice"),
            (document.replace("guard", "gu\\u001b[2Jard"), "cannot be shown"),
            (document.replace("guard", &long), "longer than 500 bytes"),
            (" ".repeat(LONGEST + 1), "at most 16777216"),
        ];
        for (text, words) in table {
            let said = Baseline::parse(&text).unwrap_err().to_string();
            assert!(said.contains(words), "{words}: {said}");
            assert!(!said.contains('\u{1b}'), "{said}");
        }
    }
}
