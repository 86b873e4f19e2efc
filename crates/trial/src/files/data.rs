//! The data that is measured: files of a file system, or parts of a raw device, in equal pieces.

use block::{Bytes, Seed};
use engine::{Access, Cpu, Job, Measurement, Target, TargetError, run_real_apart};
use workload::{Pattern, Stop, Workload};

use super::prepared::PreparedDevice;
use crate::{TrialContext, TrialError};

/// The request by which data is laid out, where the pieces are not smaller.
const LAYOUT: Bytes = Bytes::from_mib(1);
/// How many of them are in flight.
const LAYOUT_DEPTH: u32 = 8;

/// Data in so many pieces of equal size: files, or parts of a raw device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestData {
    /// What its files are called, before their number.
    pub name: &'static str,
    pub pieces: u32,
    /// How long each is.
    pub each: Bytes,
    /// Where it begins on a raw device.
    pub offset: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Whether data is changed.
    pub writes: bool,
    /// Whether space for a new file is not promised before it is written.
    pub sparse: bool,
}

impl Opening {
    /// Past the page cache, to write.
    pub(super) const WRITE: Self = Self { direct: true, writes: true, sparse: false };
}

#[derive(Debug)]
pub(super) struct OpenData {
    targets: Vec<Target>,
    data: TestData,
}

impl TestData {
    /// `size` in so many pieces, each a whole number of requests.
    pub(super) fn new(name: &'static str, pieces: u32, size: Bytes, block: Bytes) -> Self {
        let each = Bytes::new(size.get() / u64::from(pieces));
        let unit = if each >= LAYOUT { LAYOUT.max(block) } else { block };
        Self { name, pieces, each: each.round_down(unit), offset: Bytes::ZERO }
    }

    /// All pieces together.
    pub(super) fn size(&self) -> Bytes {
        self.each.times(u64::from(self.pieces))
    }

    /// Opens it; files that are not there are made.
    ///
    /// # Errors
    /// If a file cannot be made or opened in this way.
    pub(super) fn open(&self, place: &PreparedDevice, opening: Opening) -> Result<OpenData, TrialError> {
        let Opening { direct, writes, sparse } = opening;
        let access = Access { direct, writes, sparse, ..Access::default() };
        let open = |name: &str, access: Access| -> Result<Target, TrialError> {
            let mut target = Target::open(&place.path(name), &access).map_err(refused)?;
            target.stop_when(place.stage().stop());
            Ok(target)
        };
        let targets = match place.folder() {
            None => {
                let destroy_data = writes.then(|| place.stage().path().to_owned());
                vec![open("", Access { destroy_data, ..access })?]
            }
            Some(_) => {
                let access = Access { size: Some(self.each), overwrite: writes, ..access };
                let name = |piece| format!("{}-{piece}", self.name);
                (0..self.pieces).map(|piece| open(&name(piece), access.clone())).collect::<Result<_, _>>()?
            }
        };
        Ok(OpenData { targets, data: self.clone() })
    }

    /// Writes all of it once, past the page cache where that is bypassed later as well, and forgets what the kernel holds
    /// of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn lay_out(
        &self,
        place: &PreparedDevice,
        like: &Workload,
        direct: bool,
        go: &TrialContext,
    ) -> Result<(), TrialError> {
        (go.tell)(&format!("lay out {}", self.size()));
        let block = if self.each >= LAYOUT { LAYOUT.max(like.block) } else { like.block };
        let depth = (64 / self.pieces).clamp(1, LAYOUT_DEPTH);
        let workload = Workload {
            pattern: Pattern::Write,
            block,
            queue_depth: depth,
            stop: Stop::after_bytes(self.each),
            compressible: like.compressible,
            ..Workload::default()
        };
        let open = self.open(place, Opening { direct, ..Opening::WRITE })?;
        open.measure(&workload, go.seed.split("layout"))?;
        drop(open);
        place.empty_cache()?;
        place.stage().continues()
    }
}

impl OpenData {
    /// Jobs of this workload, one for each piece; its limits are those of one piece.
    pub(super) fn jobs(&self, workload: &Workload, seed: Seed) -> Vec<(&Target, Workload, Seed)> {
        self.jobs_on(&self.data, workload, seed)
    }

    /// The same on other data, which must be on the same raw device, or in the same files.
    pub(super) fn jobs_on(&self, data: &TestData, workload: &Workload, seed: Seed) -> Vec<(&Target, Workload, Seed)> {
        let job = |piece: u32| {
            let target = &self.targets[if self.targets.len() > 1 { piece as usize } else { 0 }];
            let on_device = target.is_device().then(|| data.offset + data.each.times(u64::from(piece)));
            let offset = on_device.unwrap_or_default();
            (target, Workload { offset, size: Some(data.each), ..workload.clone() }, seed.number(u64::from(piece)))
        };
        (0..data.pieces).map(job).collect()
    }

    /// Runs the workload on every piece at once; all that was measured together.
    ///
    /// # Errors
    /// If a request fails or nothing is completed.
    pub(super) fn measure(&self, workload: &Workload, seed: Seed) -> Result<Measurement, TrialError> {
        let measured = run(&self.jobs(workload, seed))?;
        Ok(together(measured))
    }
}

/// Why data cannot be opened, in the words of these trials.
fn refused(error: TargetError) -> TrialError {
    match error {
        TargetError::NoDirect { .. } => TrialError::Lacks(
            "the file system does not support O_DIRECT with these options; choose others, or cache = \"drop\" \
             or \"limit\" where there is such a choice"
                .to_owned(),
        ),
        error => error.into(),
    }
}

/// Runs jobs side by side, each on its target.
///
/// # Errors
/// If a request fails or nothing is completed.
pub(super) fn run(placed: &[(&Target, Workload, Seed)]) -> Result<Vec<Measurement>, TrialError> {
    let targets: Vec<&Target> = placed.iter().map(|(target, ..)| *target).collect();
    let jobs: Vec<Job> =
        placed.iter().map(|(_, workload, seed)| Job { name: "", workload, seed: *seed, observer: None }).collect();
    match run_real_apart(&targets, &jobs, &|_| {}) {
        // It was stopped before anything counted.
        Err(_) if targets.iter().any(|target| target.is_stopped()) => Err(TrialError::Interrupted),
        measured => Ok(measured?),
    }
}

/// What several jobs measured at the same time. Each was given the processor time of the whole process, which is that of
/// the job that ran the longest.
pub(super) fn together(measured: Vec<Measurement>) -> Measurement {
    let cpu: Option<Cpu> = measured.iter().filter_map(|one| one.cpu.clone()).max_by_key(Cpu::total);
    let mut all = measured.into_iter();
    let mut first = all.next().expect("there is a job");
    all.for_each(|other| first.merge(&other));
    first.cpu = cpu;
    first
}
