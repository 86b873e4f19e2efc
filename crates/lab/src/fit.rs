//! Whether all of a plan can be carried out, found before anything is changed.

use block::Bytes;
use engine::RealError;
use trial::TrialError;
use workload::{Invalid, Workload};

use crate::LabError;
use crate::plan::{Cell, Passes, Plan, Step, TrialPoint, Trials, Work};
use crate::subject::Subject;

/// A plan of which it is known that all of it can be carried out on a target, with its shares of that as sizes.
#[derive(Debug)]
pub struct Checked(Plan);

impl Checked {
    /// `plan`, checked on `subject`.
    ///
    /// # Errors
    /// As those of [`fits`].
    pub fn new(plan: &Plan, subject: &dyn Subject) -> Result<Self, LabError> {
        let plan = plan.on(subject.capacity());
        fits(&plan, subject)?;
        Ok(Self(plan))
    }

    pub fn plan(&self) -> &Plan {
        &self.0
    }
}

/// Whether every request of `plan` has its place on `subject`: none begins or ends beyond it, none takes more memory
/// than there is. Cells whose blocks are no whole blocks of the target are left out when their turn comes.
///
/// # Errors
/// [`LabError::DoesNotFit`] with the first that does not. It would be the same however often it is tried. [`LabError::Memory`],
/// which may be otherwise another time.
pub fn fits(plan: &Plan, subject: &dyn Subject) -> Result<(), LabError> {
    let mut misfits = Misfits::default();
    misfits.find(&plan.steps, "", subject);
    // One drive at a time: each takes memory in proportion to its capacity.
    for (changes, last) in plan.swept_drives() {
        match subject.changed(&changes) {
            Ok(changed) => misfits.find(&plan.steps[..=last], &changes, changed.as_ref()),
            Err(error) => misfits.add(error.at(&plan.steps[last].name, &changes)),
        }
    }
    if misfits.first.is_none() {
        misfits.first = nothing_fits(plan, subject);
    }
    let Misfits { first, more, needed } = misfits;
    let capacity = subject.capacity();
    match first {
        Some(first) => Err(LabError::DoesNotFit { first: Box::new(first), more, needed, capacity }),
        None => has_room(plan, subject),
    }
}

/// Whether there is memory for the random states that a plan brings its target into: it is asked before the steps that come
/// first take theirs.
fn has_room(plan: &Plan, subject: &dyn Subject) -> Result<(), LabError> {
    let site = subject.site();
    let is_random =
        |step: &&Step| step.work(&site).constructed(&site).is_some_and(|construction| construction.is_random());
    match plan.steps.iter().find(is_random) {
        Some(step) => subject.check_states().map_err(|error| error.at(&step.name, "")),
        None => Ok(()),
    }
}

/// Why nothing would be measured of a plan: all cells would be left out whose blocks are no whole blocks of the target.
fn nothing_fits(plan: &Plan, subject: &dyn Subject) -> Option<LabError> {
    let (site, unit) = (subject.site(), subject.block());
    let mut first = None;
    for step in &plan.steps {
        let work = step.work(&site);
        for cell in work.runs().filter(|_| work.passes.passes_over_unaligned()) {
            let found = cell.workload.unfit(unit)?;
            first.get_or_insert_with(|| {
                let error = subject.check(&cell.workload).err();
                error.unwrap_or(RealError::NoWholeBlocks { found, unit }.into()).at(&step.name, &cell.key())
            });
        }
        // A trial measures something in any case.
        work.trials().is_none().then_some(())?;
    }
    first
}

/// What has no place.
#[derive(Default)]
struct Misfits {
    first: Option<LabError>,
    more: usize,
    /// Where the last part of a target that is needed ends.
    needed: Option<Bytes>,
}

impl Misfits {
    fn add(&mut self, error: LabError) {
        match self.first {
            None => self.first = Some(error),
            Some(_) => self.more += 1,
        }
    }

    /// Adds what `steps` ask for of the drive with these `changes`, which `subject` is, and it does not have.
    fn find(&mut self, steps: &[Step], changes: &str, subject: &dyn Subject) {
        let site = subject.site();
        for step in steps {
            let work = step.work(&site);
            if let Some(error) = work.purges().and_then(|method| subject.check_purge(method).err()) {
                self.add(error.at(&step.name, changes));
            }
            if let Some(trials) = work.trials().filter(|_| changes.is_empty()) {
                self.find_trials(&step.name, trials, subject);
            }
            for cell in asked(&work, changes, subject.block()) {
                let Err(error) = subject.check(&cell.workload) else { continue };
                if lies_beyond(&error) {
                    self.needed = self.needed.max(Some(end(&cell.workload)));
                }
                let key = cell.key();
                self.add(error.at(&step.name, if key.is_empty() { changes } else { &key }));
            }
        }
    }

    /// Adds what the trials of a step need and there is not.
    fn find_trials(&mut self, step: &str, trials: &Trials, subject: &dyn Subject) {
        if let Err(error) = subject.check_stage() {
            self.add(error.at(step, ""));
        }
        let lacks = |point: &TrialPoint| Some((point.key(), trials.experiment.unavailable(&point.choices)?));
        if let Some((key, lacking)) = trials.points.iter().find_map(lacks) {
            self.add(LabError::from(TrialError::Lacks(lacking)).at(step, &key));
        }
    }
}

/// All that `work` runs on the drive with these `changes`, whose block is of this size.
fn asked<'w>(work: &'w Work, changes: &str, block: Bytes) -> impl Iterator<Item = &'w Cell> {
    let is_of_this = move |cell: &&Cell| !matches!(work.passes, Passes::Sampled(_)) || cell.changes() == changes;
    let is_passed_over =
        move |cell: &&Cell| work.passes.passes_over_unaligned() && cell.workload.unfit(block).is_some();
    work.runs().filter(is_of_this).filter(move |cell| !is_passed_over(cell))
}

/// Whether a larger target would do.
fn lies_beyond(error: &LabError) -> bool {
    let (LabError::Virtual(engine::VirtualError::Invalid(invalid))
    | LabError::Real(engine::RealError::Invalid(invalid))) = error
    else {
        return false;
    };
    matches!(
        invalid,
        Invalid::OffsetBeyond { .. }
            | Invalid::TooLarge { .. }
            | Invalid::TooSmall { .. }
            | Invalid::TraceBeyond { .. }
    )
}

/// Where the last of the target that `workload` needs ends.
fn end(workload: &Workload) -> Bytes {
    let trace = workload.replay.as_ref().and_then(|replay| replay.digest).map(|digest| digest.end);
    let least = trace.unwrap_or_else(|| workload.block_max().times(u64::from(workload.workers)));
    workload.offset + workload.size.unwrap_or(least).max(least)
}

#[cfg(test)]
mod tests {
    use block::{Nanos, Seed};
    use engine::Measurement;

    use super::*;
    use crate::cost::Place;
    use crate::plan::{PlanLength, catalog, parse};
    use crate::subject::{Keep, LiveCallback, MeasureTask, Share};

    /// A target of so much, in blocks of 4 KiB, that nothing may be done to.
    struct Untouchable(Bytes);

    impl Subject for Untouchable {
        fn capacity(&self) -> Bytes {
            self.0
        }

        fn block(&self) -> Bytes {
            Bytes::from_kib(4)
        }

        fn check(&self, workload: &Workload) -> Result<(), LabError> {
            workload.span(self.0)?;
            Ok(())
        }

        fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError> {
            Err(LabError::NotSimulated { changes: changes.to_owned() })
        }

        fn record_to(&mut self, _: std::sync::Arc<engine::Record>) {
            panic!("recorded")
        }

        fn purge(&mut self) -> Result<Option<String>, LabError> {
            panic!("purged")
        }

        fn idle(&mut self, _: Nanos) {
            panic!("left alone")
        }

        fn run(&mut self, _: &Workload, _: Seed, _: &Share) -> Result<Measurement, LabError> {
            panic!("run")
        }

        fn measure(&mut self, _: &[MeasureTask], _: &Keep, _: &LiveCallback) -> Result<(), LabError> {
            panic!("measured")
        }

        fn place(&self) -> Place {
            panic!("estimated")
        }
    }

    /// Whatever the step does with them, before the first of them has changed anything.
    #[test]
    fn blocks_that_are_no_whole_blocks_of_the_target_are_refused_in_steps_of_all_kinds() {
        let drive = crate::Simulated::new(drive::preset::Preset::find("zn540-1tb").unwrap());
        let write = "rw = \"write\"\nzonemode = \"zbd\"\n";
        for step in [
            format!("do = \"condition\"\n{write}round = \"1s\"\nat-most = \"10%\"\n"),
            format!("do = \"saturate\"\n{write}at-most = \"10%\"\n"),
            format!("{write}runtime = \"1s\"\n"),
        ] {
            let with = |block: &str| {
                let text = format!("name = \"p\"\n[[step]]\nname = \"first\"\n{step}bs = \"{block}\"\n");
                fits(&parse(&text, PlanLength::Full).unwrap_or_else(|errors| panic!("{step}: {errors:?}")), &drive)
            };
            assert!(with("8k").is_ok(), "{step}");
            let said = with("6k").unwrap_err().to_string();
            assert!(
                said.contains("block size 6 KiB is not a multiple") && said.contains("Nothing was changed"),
                "{said}"
            );
        }
    }

    /// Not only when it comes to that, behind steps that have taken time and memory.
    #[test]
    fn memory_for_random_states_is_asked_for_before_anything_is_done() {
        let preset = drive::preset::Preset::find("x25-m?capacity.user=1GiB").unwrap();
        let states = |count| preset.memory().times(count);
        let fits_in = |memory, steps: &str| {
            let plan = parse(&format!("name = \"p\"\n{steps}"), PlanLength::Full).unwrap();
            fits(&plan, &crate::Simulated::new(preset.clone()).within(memory))
        };
        let read = "[[step]]\nname = \"a\"\nrw = \"randread\"\nruntime = \"1s\"\n";
        let write = "rw = \"randwrite\"\nbs = \"4k\"\nround = \"1s\"\nat-most = \"200%\"";
        for random in [format!("do = \"condition\"\nat-least = \"100%\"\n{write}"), "do = \"precondition\"".to_owned()]
        {
            let steps = format!("{read}[[step]]\nname = \"random\"\n{random}\n");
            let LabError::At { source, step, .. } = fits_in(states(2), &steps).unwrap_err() else { panic!("{random}") };
            assert!(matches!(*source, LabError::Memory { .. }) && step == "random", "{step}: {source}");
            assert!(fits_in(states(4), &steps).is_ok());
        }
        let simulated = format!("do = \"condition\"\nat-least = \"100%\"\nconstruct = false\n{write}");
        for steps in [read.to_owned(), format!("{read}[[step]]\nname = \"random\"\n{simulated}\n")] {
            assert!(fits_in(states(1), &steps).is_ok(), "nothing is constructed");
        }
    }

    fn said(steps: &str, capacity: Bytes) -> String {
        let plan = parse(&format!("name = \"p\"\n{steps}"), PlanLength::Full).unwrap();
        fits(&plan, &Untouchable(capacity)).err().map_or_else(String::new, |error| error.to_string())
    }

    const FILL: &str = "[[step]]\nname = \"fill\"\ndo = \"fill\"\n";

    #[test]
    fn all_that_does_not_fit_is_found_with_the_size_that_would_do() {
        let sweep =
            "[[step]]\nname = \"late\"\nruntime = \"1s\"\nnumjobs = 2\nsweep.bs = [\"512\", \"1m\", \"2m\", \"4m\"]\n";
        let table = [
            (Bytes::from_mib(8), ""),
            (
                Bytes::from_mib(2),
                "the plan does not fit the target: in step `late` (bs=4m): size 2 MiB holds fewer blocks of 4 MiB than \
                 the 2 workers; give a larger size or a smaller block. Nothing was changed. It \
                 needs a target of at least 8 MiB; this one has 2 MiB",
            ),
        ];
        for (capacity, words) in table {
            assert_eq!(said(&format!("{FILL}{sweep}"), capacity), words, "{capacity}");
        }
    }

    #[test]
    fn a_conditioning_and_a_cell_beyond_the_end_are_found() {
        let wear = "[[step]]\nname = \"wear\"\ndo = \"condition\"\nrw = \"randwrite\"\nround = 1\nat-most = \"1s\"\n";
        let words = said(&format!("{FILL}{wear}offset = \"6m\"\nsize = \"4m\"\n"), Bytes::from_mib(8));
        assert!(words.contains("in step `wear`: size 4 MiB from offset 6 MiB"), "{words}");
        assert!(words.contains("at least 10 MiB"), "{words}");
        let far = "[[step]]\nname = \"far\"\nruntime = 1\noffset = \"1g\"\n";
        assert!(said(far, Bytes::from_gib(1)).contains("in step `far`: offset 1 GiB is beyond"));
    }

    #[test]
    fn a_fill_needs_one_block_of_the_target_and_cells_of_less_than_one_are_left_out() {
        assert_eq!(said(FILL, Bytes::from_kib(4)), "");
        assert!(said(FILL, Bytes::from_kib(2)).contains("in step `fill`"));
        let odd = "[[step]]\nname = \"odd\"\nruntime = 1\nbs = 512\noffset = \"1g\"\n";
        let even = "[[step]]\nname = \"even\"\nruntime = 1\n";
        assert_eq!(said(&format!("{odd}{even}"), Bytes::from_mib(1)), "");
        assert!(said(odd, Bytes::from_mib(1)).contains("in step `odd`"), "nothing at all would be measured");
    }

    #[test]
    fn the_plan_that_comes_with_the_program_says_how_much_it_takes() {
        let source = catalog::find("review").unwrap();
        let plan = parse(&source.text, PlanLength::Quick).unwrap();
        assert!(fits(&plan, &Untouchable(Bytes::from_mib(4))).is_ok());
        let words = fits(&plan, &Untouchable(Bytes::from_mib(2))).unwrap_err().to_string();
        assert!(words.contains("(bs=4m)") && words.contains("at least 4 MiB; this one has 2 MiB"), "{words}");
    }
}
