//! Fitting drives to published latencies and rates, several of a family at once.

use block::Seed;
use drive::preset::{DriveName, Preset};
use plan::replicate::qos::{Kind, Qos, QosAnswer, QosGroup, QosPoint, QosRun, Standing};

use super::{CalibrateError, Calibration, Objective, Search, record};
use crate::replicate::{QosRequest, Tally, Use, replicate_qos};
use crate::{Silent, Watch};

/// What is to be fitted to published latencies and rates, and how hard to search.
#[derive(Clone, Debug)]
pub struct FamilyRequest {
    /// What the figures are called: `qos`, or a file's name.
    pub figures: String,
    /// The drives; each parameter has one value for all of them.
    pub drives: Vec<FamilyDrive>,
    /// Parameters, words that points' names hold, seed and rounds.
    pub search: Search,
    /// Runs of a tenth of the time.
    pub is_quick: bool,
    /// Blocks of each plane that drives are scaled down to; none for as many as suit each.
    pub blocks: Option<u32>,
}

impl FamilyRequest {
    /// The drives, for people.
    fn names(&self) -> String {
        let names: Vec<&str> = self.drives.iter().map(|drive| drive.preset.name.as_str()).collect();
        names.join(", ")
    }
}

/// A drive that is fitted to figures.
#[derive(Clone, Debug)]
pub struct FamilyDrive {
    /// The place in [`Qos::drives`] of the drive that the figures are of.
    place: usize,
    /// What is fitted to them.
    preset: Preset,
}

impl FamilyDrive {
    /// `preset`, fitted to the figures of the drive whose id or preset is that of `name`.
    ///
    /// # Errors
    /// If there are none.
    pub fn named(qos: &Qos, name: &str, preset: Preset) -> Result<Self, CalibrateError> {
        let base = DriveName::read(name)?.base;
        match qos.drive(base) {
            Some(place) => Ok(Self { place, preset }),
            None => {
                let help = block::suggestion(base, &qos.names());
                Err(CalibrateError::NoFigures { drive: base.to_owned(), help })
            }
        }
    }

    /// `preset`, fitted to figures that are of one drive alone.
    ///
    /// # Errors
    /// If they are of several.
    pub fn only(qos: &Qos, preset: Preset) -> Result<Self, CalibrateError> {
        match qos.measured().collect::<Vec<_>>()[..] {
            [place] => Ok(Self { place, preset }),
            _ => Err(CalibrateError::SeveralDrives { drive: preset.name, names: qos.names().join(", ") }),
        }
    }
}

/// The points of some drives that parameters may be fitted to, and nothing else that was published.
#[derive(Clone, Debug)]
pub struct FitPoints(FamilyBench);

/// Points of some drives, and how they are simulated.
#[derive(Clone, Debug)]
struct FamilyBench {
    qos: Qos,
    /// For each drive of the figures, what it is simulated on.
    drives: Vec<Option<Preset>>,
    seed: Seed,
    is_quick: bool,
    blocks: Option<u32>,
}

impl FitPoints {
    /// Those points that are marked so, are of one of the request's drives and, unless words are asked for, have one of them
    /// in their names (`pm9a3-960/load-10k/read p50`). Bounds, maxima and points that count in no bar are left out.
    ///
    /// # Errors
    /// If there are none, a drive's host cannot be, or two drives are of one's figures.
    pub fn of(qos: &Qos, request: &FamilyRequest) -> Result<Self, CalibrateError> {
        let words = &request.search.only;
        let is_asked = |id: &str| words.is_empty() || words.iter().any(|word| id.contains(word.as_str()));
        let bench = FamilyBench::of(qos, request, |group, point| {
            point.usage == Use::Fit && counts(point) && is_asked(&format!("{}/{}", group.id, point.name))
        })?;
        if bench.qos.groups.is_empty() {
            return Err(CalibrateError::NothingToFit { review: request.figures.clone(), drive: request.names() });
        }
        Ok(Self(bench))
    }

    /// The points.
    pub fn points(&self) -> impl Iterator<Item = &QosPoint> {
        self.0.qos.groups.iter().flat_map(|group| &group.points)
    }
}

impl Objective for FitPoints {
    /// The logarithm of simulated over published, in that of the error that is wanted of the kind; ten times too much counts
    /// for no less than a hundred times.
    fn residuals(&self, changes: &str) -> Result<Vec<f64>, CalibrateError> {
        let run = self.0.run(changes, &Silent)?;
        let residual = |(_, _, point, answer): (usize, usize, &QosPoint, &QosAnswer)| {
            let most = 10.0_f64.ln();
            let off = answer.ratio(point).map_or(most, |ratio| ratio.ln().clamp(-most, most));
            off / wanted(point.kind()).ln_1p()
        };
        Ok(run.points(&self.0.qos).map(residual).collect())
    }

    fn median_error(&self, changes: &str) -> Result<f64, CalibrateError> {
        Ok(self.0.tally(&self.0.run(changes, &Silent)?, Use::Fit).median.unwrap_or(f64::INFINITY))
    }
}

/// Whether the point is a value that some bar counts.
fn counts(point: &QosPoint) -> bool {
    let is_value = point.sense == plan::replicate::qos::Sense::Value;
    is_value && point.apart.is_none() && point.measure.is_ok() && point.kind() != Kind::Extreme
}

/// The error that is wanted of a kind of points.
const fn wanted(kind: Kind) -> f64 {
    match kind {
        Kind::Rate => 0.10,
        Kind::Typical => 0.15,
        Kind::Tail => 0.30,
        Kind::Consistency | Kind::Extreme => 0.50,
    }
}

impl FamilyBench {
    fn of(
        qos: &Qos,
        request: &FamilyRequest,
        keep: impl Fn(&QosGroup, &QosPoint) -> bool,
    ) -> Result<Self, CalibrateError> {
        let mut drives: Vec<Option<Preset>> = vec![None; qos.drives.len()];
        for FamilyDrive { place, preset } in &request.drives {
            let hosted = qos.drives[*place].hosted(preset.clone())?;
            if let Some(before) = drives[*place].replace(hosted) {
                let (first, second) = (before.name, preset.name.clone());
                return Err(CalibrateError::Twice { first, second, figures: qos.drives[*place].name().to_owned() });
            }
        }
        let qos = qos.only(|group, point| drives[group.drive].is_some() && keep(group, point));
        let FamilyRequest { is_quick, blocks, .. } = *request;
        Ok(Self { qos, drives, seed: request.search.seed, is_quick, blocks })
    }

    /// Simulates all drives with `changes`.
    fn run(&self, changes: &str, watch: &dyn Watch) -> Result<QosRun, CalibrateError> {
        let changed = |preset: &Preset| {
            let preset = preset.clone();
            if changes.is_empty() { Ok(preset) } else { preset.changed(changes) }
        };
        let drives = self.drives.iter().map(|drive| drive.as_ref().map(changed).transpose());
        let drives = drives.map(|drive| Ok(drive?.map(Ok))).collect::<Result<_, CalibrateError>>()?;
        let Self { seed, is_quick, blocks, .. } = *self;
        Ok(replicate_qos(&QosRequest { qos: &self.qos, drives, seed, is_quick, blocks, states: None }, watch))
    }

    /// How well the points of this use are met: within the errors that are wanted of their kinds.
    fn tally(&self, run: &QosRun, usage: Use) -> Tally {
        let own = run.points(&self.qos).filter(|(.., point, answer)| {
            point.usage == usage && answer.standing == Standing::Counts && point.kind() != Kind::Extreme
        });
        let errors = own.filter_map(|(.., point, answer)| {
            let error = (answer.ratio(point)? - 1.0).abs();
            Some((error, error <= wanted(point.kind())))
        });
        Tally::of_errors(errors)
    }
}

/// Fits drives to the `fit` points of `qos`, with one value of each parameter for all.
///
/// # Errors
/// If the drives, the parameters or the points do not fit together.
pub fn calibrate_family(qos: &Qos, request: &FamilyRequest, watch: &dyn Watch) -> Result<Calibration, CalibrateError> {
    let presets: Vec<Preset> = request.drives.iter().map(|drive| drive.preset.clone()).collect();
    let fit = FitPoints::of(qos, request)?;
    let found = request.search.carry_out(&fit, &presets, watch)?;
    watch.step("All points, before and after");
    let all = FamilyBench::of(qos, request, |_, _| true)?;
    let changed = found.changes();
    let (before, after) = (all.run("", &Silent)?, all.run(&changed, &Silent)?);
    let tallies = |usage| [all.tally(&before, usage), all.tally(&after, usage)];
    let (fitted, checked) = (tallies(Use::Fit), tallies(Use::Check));
    let record = record::Record { review: &request.figures, seed: request.search.seed, fitted: fitted[1] };
    let text = match &presets[..] {
        [one] => record.write(&one.text, &one.clone().changed(&changed)?.text),
        _ => record.class(&presets, &found.fitted),
    };
    Ok(Calibration {
        drive: request.names(),
        review: request.figures.clone(),
        seed: request.search.seed,
        evaluations: found.evaluations,
        parameters: found.fitted,
        fitted,
        checked,
        text,
    })
}
