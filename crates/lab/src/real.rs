//! A plan on a file or a block device, in real time.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use block::{Bytes, Nanos, Op, Seed};
use engine::{Measurement, Purged, RealError, Record, Target, TargetError, run_real, run_real_together};
use host::{Eraser, Tools};
use rustix::io::Errno;
use trial::TrialDevice;
use workload::Workload;

use crate::cost::{Pace, Place};
use crate::health::{HealthReading, of_target};
use crate::plan::{CANNOT_PURGE, PURGE_LEFT_OUT};
use crate::subject::{Keep, LiveCallback, MeasureTask, Part, Repeats, Share, Subject, iops, needs_root};
use crate::{Environment, LabError, PurgeMethod, Thermometer};

/// What is to be said where parts of a file that is read are holes.
const UNWRITTEN: &str = "Reads hit parts of the file that were never written, or not since the purge; the file system \
    answers these without the drive. Fill the file first.";

/// A file or a block device.
pub struct Real {
    target: Target,
    /// Where measurements note what they submit, if anyone wants to know.
    record: Option<Arc<Record>>,
    /// What the host has of memory, if that is known.
    memory: Option<Bytes>,
}

impl Real {
    /// The plan's steps will change this target.
    pub fn new(target: Target) -> Self {
        Self { target, record: None, memory: Environment::of_host().memory }
    }

    /// The host, and what lies beneath the very target that is open, whatever its name leads to by now.
    fn environment(&self) -> Environment {
        Environment::with_handle(self.target.handle())
    }

    /// What erases the drive by a command of its own.
    fn eraser<'e>(&'e self, environment: &'e Environment) -> Eraser<'e> {
        let device = environment.device.as_ref();
        let against = Box::new(move || device.map_or_else(Vec::new, |device| self.against_erasing(&device.name)));
        Eraser { device, is_file: !self.target.is_device(), tools: Tools::of_system(), against }
    }

    /// What uses the target's device by now, and whether the programs that erase it by this name would reach another.
    fn against_erasing(&self, name: &str) -> Vec<String> {
        let node = Path::new("/dev").join(name);
        let Ok(found) = self.target.handle().metadata() else {
            return vec!["the kernel does not identify the device".to_owned()];
        };
        if !host::is_same(&node, found.rdev()) {
            return vec![format!("{} is not the device that was opened", node.display())];
        }
        let device = host::BlockDevice::find(found.rdev());
        device.map_or_else(|| vec!["the kernel no longer knows it".to_owned()], |device| host::uses(&device))
    }

    /// Whether the workload may read what was never written.
    fn reads_nothing(&self, workload: &Workload) -> bool {
        let span = workload.span(self.target.capacity());
        workload.ops().contains(&Op::Read)
            && !workload.verify.only
            && span.is_ok_and(|span| self.target.has_holes(span))
    }

    /// The repeats of a task, as far as they are not interrupted; the last of them may then be shorter than was asked. With
    /// them why nothing counts of those that are missing.
    fn repeats(&self, task: &MeasureTask, live: &LiveCallback) -> Result<(Repeats, Option<LabError>), LabError> {
        let (mut measured, mut done) = (Vec::new(), Vec::new());
        for &repeat in &task.repeats {
            match run_real_together(&self.target, &task.jobs(repeat), live) {
                Ok(together) => {
                    done.push(iops(&together));
                    measured.push((repeat, together));
                }
                // It was stopped before anything counted.
                Err(error) if error.counted_nothing() && self.target.is_stopped() => {}
                Err(error) if error.counted_nothing() => return Ok((measured, Some(error.into()))),
                Err(error) => return Err(error.into()),
            }
            if self.target.is_stopped() || task.is_enough(&done) {
                break;
            }
        }
        Ok((measured, None))
    }
}

impl Subject for Real {
    fn settle(&mut self) {
        self.target.settle();
    }

    fn handle(&self) -> Option<&std::fs::File> {
        Some(self.target.handle())
    }

    fn capacity(&self) -> Bytes {
        self.target.capacity()
    }

    fn block(&self) -> Bytes {
        self.target.block()
    }

    fn fill_spans(&self) -> Option<Vec<(Bytes, Bytes)>> {
        self.target.fill_spans()
    }

    fn check(&self, workload: &Workload) -> Result<(), LabError> {
        workload.span(self.capacity())?;
        self.target.check(workload)?;
        let unit = self.block();
        if let Some(found) = workload.unfit(unit) {
            return Err(RealError::UnalignedBlock { found, unit }.into());
        }
        if !workload.offset.is_multiple_of(unit) {
            return Err(RealError::UnalignedOffset { found: workload.offset, unit }.into());
        }
        // What is free now may not be so later; what the host does not have it never will.
        let carries_data = workload.ops().iter().any(|op| *op != Op::Trim);
        let needed = workload.block_max().times(u64::from(workload.queue_depth) * u64::from(workload.workers));
        match self.memory {
            Some(available) if carries_data && needed > available => {
                Err(RealError::Memory { needed, available }.into())
            }
            _ => Ok(()),
        }
    }

    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError> {
        Err(LabError::NotSimulated { changes: changes.to_owned() })
    }

    fn record_to(&mut self, record: Arc<Record>) {
        self.record = Some(record);
    }

    fn withdraw(&mut self) -> Result<(), LabError> {
        Ok(self.target.withdraw()?)
    }

    fn purge(&mut self) -> Result<Option<String>, LabError> {
        let purged = self.target.purge()?;
        Ok(matches!(purged, Purged::NotSupported).then(|| CANNOT_PURGE.to_owned()))
    }

    fn health(&self) -> HealthReading {
        of_target(&self.environment())
    }

    fn check_purge(&self, method: PurgeMethod) -> Result<(), LabError> {
        let environment = self.environment();
        Ok(self.eraser(&environment).check(method)?)
    }

    fn purge_by(&mut self, method: PurgeMethod) -> Result<Option<String>, LabError> {
        match method {
            PurgeMethod::Discard => self.purge(),
            PurgeMethod::None => Ok(Some(PURGE_LEFT_OUT.to_owned())),
            _ if !self.target.is_writable() => self.purge(),
            _ => {
                let environment = self.environment();
                Ok(self.eraser(&environment).erase(method)?)
            }
        }
    }

    fn thermometer(&self) -> Option<Thermometer> {
        Thermometer::of(&self.environment())
    }

    fn check_stage(&self) -> Result<(), LabError> {
        if self.target.count() > 1 {
            return Err(LabError::Several { count: self.target.count() });
        }
        if !self.target.is_whole() {
            return Err(LabError::NotWhole { path: self.target.path().to_owned(), size: self.target.capacity() });
        }
        needs_root(if self.target.is_device() { "a device" } else { "a file" })
    }

    fn stage(&mut self) -> Result<TrialDevice, LabError> {
        let (path, capacity, stop) = (self.target.node(), self.target.capacity(), self.target.stop());
        self.target.lend()?;
        if self.target.is_device() {
            return Ok(TrialDevice::device(&path, capacity, stop));
        }
        let stage = TrialDevice::over_file(&path, capacity, stop)?;
        if host::is_loop_over(stage.path(), self.target.handle()) {
            return Ok(stage);
        }
        // Nothing has been written to it yet.
        Err(TargetError::Io { path, doing: "find again", errno: Errno::STALE }.into())
    }

    fn leave_stage(&mut self) -> Result<(), LabError> {
        Ok(self.target.claim()?)
    }

    fn idle(&mut self, time: Nanos) {
        std::thread::sleep(time.to_std());
    }

    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError> {
        let heard = |progress: engine::LiveProgress| share(done(workload, &progress), Some(progress));
        let measured = run_real(&self.target, workload, seed, &heard);
        if self.target.is_stopped() { Err(LabError::Interrupted) } else { Ok(measured?) }
    }

    fn measure(&mut self, tasks: &[MeasureTask], keep: &Keep, live: &LiveCallback) -> Result<(), LabError> {
        for (index, task) in tasks.iter().enumerate() {
            let nothing = task.cells.iter().any(|cell| self.reads_nothing(&cell.workload));
            self.target.record_to(self.record.clone());
            let measured = self.repeats(task, live).map_err(|error| task.failed(error));
            self.target.record_to(None);
            let ((measured, failure), is_cut_off) = (measured?, self.target.is_stopped());
            let finding = nothing.then_some(UNWRITTEN);
            keep(index, Part { measured, finding, is_last: true, is_cut_off, failure })?;
            if is_cut_off {
                return Err(task.failed(LabError::Interrupted));
            }
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place::real(self.capacity(), self.writable(), Pace::of(&self.environment()))
    }
}

/// What share of a workload has been done, by whichever of its limits is nearest.
fn done(workload: &Workload, progress: &engine::LiveProgress) -> f64 {
    let stop = workload.stop;
    let share = |done: u64, of: u64| done as f64 / of.max(1) as f64;
    let recorded = workload.replay.as_ref().and_then(|replay| replay.digest).map(|digest| digest.requests);
    let requests = stop.requests.map(|each| each * u64::from(workload.workers)).into_iter().chain(recorded);
    let shares = requests.map(|requests| share(progress.requests, requests));
    let shares = shares.chain(stop.bytes.map(|bytes| share(progress.bytes.get(), bytes.get())));
    let time = stop.time.map(|time| share(progress.elapsed.as_nanos(), (workload.lead() + time).as_nanos()));
    shares.chain(time).fold(0.0, f64::max).min(1.0)
}

#[cfg(test)]
mod tests {
    use engine::Access;
    use workload::Stop;

    use super::*;

    #[test]
    fn what_can_never_be_run_is_known_before_anything_is_run() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let real = Real::new(Target::open(file.path(), &Access::default()).unwrap());
        let unit = real.block();
        let fitting = Workload { block: unit.times(8), stop: Stop::after_requests(1), ..Workload::default() };
        assert!(real.check(&fitting).is_ok());
        let cases = [
            (Workload { offset: Bytes::new(1 << 40), ..fitting.clone() }, "is beyond the end of the target, 1 TiB"),
            (Workload { block: Bytes::from_gib(1), queue_depth: 65_536, ..fitting }, "need 64 TiB of memory"),
        ];
        for (workload, words) in cases {
            let said = real.check(&workload).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
    }

    /// Loop devices over new files; none where they cannot be made. They go when this is dropped.
    struct Loops(Vec<String>);

    impl Loops {
        fn over(files: &[&Path]) -> Option<Self> {
            let mut made = Self(Vec::new());
            for file in files {
                std::fs::write(file, vec![0; 1 << 20]).unwrap();
                let told = losetup(&["--find", "--show", file.to_str().unwrap()]);
                if !told.status.success() {
                    return None;
                }
                made.0.push(String::from_utf8(told.stdout).unwrap().trim().to_owned());
            }
            Some(made)
        }
    }

    impl Drop for Loops {
        fn drop(&mut self) {
            self.0.iter().for_each(|device| drop(losetup(&["--detach", device])));
        }
    }

    fn losetup(words: &[&str]) -> std::process::Output {
        host::program::command("losetup").unwrap().args(words).output().unwrap()
    }

    #[test]
    fn the_drive_to_erase_is_the_one_that_was_opened_also_when_its_link_was_moved() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        let Some(Loops(devices)) = &Loops::over(&[&one, &other]) else {
            println!("skipped: no loop device can be made");
            return;
        };
        let name = |at: usize| devices[at].trim_start_matches("/dev/").to_owned();
        std::os::unix::fs::symlink(&devices[0], &link).unwrap();
        let access = Access { writes: true, destroy_data: Some(link.clone()), direct: false, ..Access::default() };
        let real = Real::new(Target::open(&link, &access).unwrap());
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&devices[1], &link).unwrap();
        let said = real.check_purge(PurgeMethod::SecureErase).unwrap_err().to_string();
        assert!(said.contains(&name(0)) && !said.contains(&name(1)), "{said}");
        let HealthReading::Missing(said) = real.health() else { panic!("a loop device has no health") };
        assert!(said.contains(&name(0)), "{said}");
        assert_eq!(real.against_erasing(&name(0)), [""; 0]);
        assert_eq!(real.against_erasing(&name(1)), [format!("{} is not the device that was opened", devices[1])]);
    }
}
