//! Whether all of a plan can be carried out, found before anything is changed.

use block::Bytes;
use trial::TrialError;
use workload::{Invalid, Workload};

use crate::LabError;
use crate::plan::{Action, Plan, Point, Rounds, Step};
use crate::subject::{Subject, fill};
use crate::variants::swept;

/// Whether every request of `plan` has its place on `subject`: none begins or ends beyond it, none takes more memory
/// than there is. Cells whose blocks are no whole blocks of the target are left out when their turn comes.
///
/// # Errors
/// [`LabError::DoesNotFit`] with the first that does not. It would be the same however often it is tried.
pub fn fits(plan: &Plan, subject: &dyn Subject) -> Result<(), LabError> {
    let mut misfits = Misfits::default();
    misfits.find(&plan.steps, "", subject);
    // One drive at a time: each takes memory in proportion to its capacity.
    for (changes, last) in swept(plan) {
        match subject.changed(&changes) {
            Ok(changed) => misfits.find(&plan.steps[..=last], &changes, changed.as_ref()),
            Err(error) => misfits.add(error.at(&plan.steps[last].name, &changes)),
        }
    }
    let Misfits { first, more, needed } = misfits;
    let capacity = subject.capacity();
    first.map_or(Ok(()), |first| Err(LabError::DoesNotFit { first: Box::new(first), more, needed, capacity }))
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
        for step in steps {
            if let Action::Purge { method } = step.action
                && let Err(error) = subject.check_purge(method)
            {
                self.add(error.at(&step.name, changes));
            }
        }
        for step in steps.iter().filter(|_| changes.is_empty()) {
            let Action::Trial(trials) = &step.action else { continue };
            if let Err(error) = subject.check_stage() {
                self.add(error.at(&step.name, ""));
            }
            let lacks = |point: &Point| Some((point.key(), trials.experiment.lacks(&point.choices)?));
            if let Some((key, lacking)) = trials.points.iter().find_map(lacks) {
                self.add(LabError::from(TrialError::Lacks(lacking)).at(&step.name, &key));
            }
        }
        for (step, cell, workload) in asked(steps, changes, subject) {
            let Err(error) = subject.check(&workload) else { continue };
            if lies_beyond(&error) {
                self.needed = self.needed.max(Some(end(&workload)));
            }
            self.add(error.at(step, &cell));
        }
    }
}

/// All that `steps` will ask for, by step and cell.
fn asked<'p>(steps: &'p [Step], changes: &str, subject: &dyn Subject) -> Vec<(&'p str, String, Workload)> {
    let mut asked = Vec::new();
    for step in steps {
        let name = step.name.as_str();
        match &step.action {
            Action::Purge { .. } | Action::Idle { .. } | Action::Trial(_) => {}
            Action::Fill { block, queue_depth } => {
                asked.extend(fill(*block, *queue_depth, subject).map(|part| (name, changes.to_owned(), part)));
            }
            Action::Condition(condition) => asked.push((name, changes.to_owned(), condition.workload.clone())),
            Action::Precondition(precondition) => {
                asked.push((name, changes.to_owned(), precondition.on(subject.capacity(), subject.spare())))
            }
            Action::Measure(measure) | Action::Rounds(Rounds { measure, .. }) => {
                let of_this = measure.cells.iter().filter(|cell| cell.changes() == changes);
                let cells = of_this.filter(|cell| cell.workload.unfit(subject.block()).is_none());
                asked.extend(cells.map(|cell| (name, cell.key(), cell.workload.clone())));
            }
        }
    }
    asked
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
    use crate::plan::{Length, catalog, parse};
    use crate::subject::{Keep, Live, Share, Task};

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

        fn measure(&mut self, _: &[Task], _: &Keep, _: &Live) -> Result<(), LabError> {
            panic!("measured")
        }

        fn cost(&self, _: &Workload) -> Nanos {
            Nanos::ZERO
        }

        fn side_by_side(&self) -> u64 {
            1
        }
    }

    fn said(steps: &str, capacity: Bytes) -> String {
        let plan = parse(&format!("name = \"p\"\n{steps}"), Length::Full).unwrap();
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
                "the plan does not fit the target: in step `late` (bs=2m): size 2 MiB holds fewer blocks of 2 MiB than \
                 the 2 workers; give a larger size or a smaller block; nor does 1 more point. Nothing was changed. It \
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
        assert_eq!(said("[[step]]\nname = \"odd\"\nruntime = 1\nbs = 512\noffset = \"1g\"\n", Bytes::from_mib(1)), "");
    }

    #[test]
    fn the_plan_that_comes_with_the_program_says_how_much_it_takes() {
        let source = catalog::find("review").unwrap();
        let plan = parse(&source.text, Length::Quick).unwrap();
        assert!(fits(&plan, &Untouchable(Bytes::from_mib(4))).is_ok());
        let words = fits(&plan, &Untouchable(Bytes::from_mib(2))).unwrap_err().to_string();
        assert!(words.contains("(bs=4m)") && words.contains("at least 4 MiB; this one has 2 MiB"), "{words}");
    }
}
