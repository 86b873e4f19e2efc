//! The short way to the steady state of random writing, as a step of a plan.

use std::borrow::Cow;

use block::Bytes;
use workload::{Mark, Pattern, Spare, Stop, Workload};

use super::body::Body;
use super::diagnostic::Diagnostic;
use super::draft::Draft;
use super::fields::Settings;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Phase, Site};
use super::{Action, Cell, Field};

/// As much written as the target has flash, in the order that leaves it as endless random writing would, and a little
/// at random behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// Size, depth, workers and content of the writes.
    pub workload: Workload,
    /// How much flash the target has beyond its capacity; none for what it is known to have.
    pub spare: Option<Spare>,
    /// How much is written at random behind it, in percent of the capacity: what is still other than the drive's own
    /// collection would have it is gone with that.
    pub settle: u32,
    /// Whether a simulated drive decides where the row of writes goes without simulating how long it takes.
    pub construct: bool,
}

/// What the step takes of a workload's fields. The rest is decided by what it does.
pub(super) fn fields() -> impl Iterator<Item = Field> {
    [Field::Bs, Field::Iodepth, Field::Numjobs].into_iter().chain(Field::all(Mark::Content))
}

/// What is written at random unless the plan says otherwise. With a tenth the write amplification of simulated drives
/// is within 3 % of that after long writing: see docs/method.md.
const SETTLE: u32 = 10;

pub(super) const FORM: Form = Form {
    name: "precondition",
    numbers: || fields().map(Field::name).chain(["spare", "settle", "construct"]).collect(),
    more: &["quick", "simulated"],
    build: |frame, draft, body, mistakes| {
        mistakes.keep(Precondition::of(draft, body, frame.workload).map(Action::Precondition))
    },
};

impl StepKind for Precondition {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, site: &Site) -> Vec<Phase<'s>> {
        let cell = Cell { point: Vec::new(), workload: self.on(site.capacity, site.spare) };
        vec![Phase::Run { cells: Cow::Owned(vec![cell]), keeps: true, construct: self.construct }]
    }

    fn doubt(&self, site: &Site) -> Option<String> {
        self.spare.or(site.spare).is_none().then(|| {
            let spare = Spare::USUAL;
            format!(
                "The target's over-provisioning is unknown; {spare} was assumed, the usual minimum. If it has more, give the \
                 step `spare`: otherwise the drive does not reach its steady state."
            )
        })
    }

    fn sentence(&self, say: &Phrases) -> String {
        let spare =
            self.spare.map_or("its over-provisioning".to_owned(), |spare| format!("{spare} of over-provisioning"));
        format!(
            "Precondition by SPRandom: write the capacity and {spare} once, in the order that leaves the steady state of \
             random writes: {}; then random writes of {} % of the capacity",
            (say.workloads)(&[&self.workload]),
            self.settle
        )
    }
}

impl Precondition {
    /// What `draft` describes with the numbers of `body`, over the fields of all `common` workloads.
    pub(super) fn of(draft: &Draft, body: &Body, common: &Settings) -> Result<Self, Diagnostic> {
        let mut fields = body.fields.over(common);
        let taken: Vec<Field> = self::fields().collect();
        Field::ALL.into_iter().filter(|field| !taken.contains(field)).for_each(|field| fields.clear(field));
        let base = Workload {
            pattern: Pattern::RandWrite,
            queue_depth: 32,
            // Any will do to see whether the rest makes sense.
            sprandom: Some(Spare::USUAL),
            stop: Stop::after_requests(1),
            ..Workload::default()
        };
        let workload = fields.workload(base, &draft.place)?;
        Ok(Self {
            workload,
            spare: body.spare,
            settle: body.settle.unwrap_or(SETTLE),
            construct: body.construct.unwrap_or(true),
        })
    }

    /// What is written to a target of this capacity that is known to have so much to spare, if that is known.
    pub fn on(&self, capacity: Bytes, known: Option<Spare>) -> Workload {
        let Workload { block, workers, .. } = self.workload;
        let spare = self.spare.or(known).unwrap_or(Spare::USUAL);
        let blocks = capacity.div(block);
        let settling = u128::from(blocks) * u128::from(self.settle) / 100;
        let writes = spare.flash(blocks) + settling as u64;
        let each = writes.div_ceil(u64::from(workers));
        let stop = Stop { bytes: Some(block.times(each * u64::from(workers))), ..Stop::after_requests(each) };
        Workload { sprandom: Some(spare), stop, ..self.workload.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanLength, parse};

    fn step(keys: &str) -> Precondition {
        let text =
            format!("name = \"p\"\n[workload]\nrw = \"read\"\nruntime = \"1s\"\n[[step]]\nname = \"age\"\n{keys}");
        match parse(&text, PlanLength::Full, &[]).unwrap().steps.remove(0).action {
            Action::Precondition(found) => found,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn as_much_is_written_as_there_is_flash_and_a_tenth_more() {
        let written = |keys: &str, known: Option<&str>| {
            let known = known.map(|text| text.parse().unwrap());
            let workload = step(&format!("do = \"precondition\"\n{keys}")).on(Bytes::from_mib(4000), known);
            assert_eq!(workload.pattern, Pattern::RandWrite, "the plan's own pattern is of other steps");
            (workload.sprandom.unwrap().to_string(), workload.stop.bytes.unwrap().div(Bytes::from_mib(1)))
        };
        assert_eq!(written("spare = \"25%\"", None), ("25 %".to_owned(), 5400));
        assert_eq!(written("", Some("25%")), ("25 %".to_owned(), 5400), "what is known need not be said");
        assert_eq!(written("spare = \"50%\"", Some("25%")), ("50 %".to_owned(), 6400), "what is said counts");
        assert_eq!(written("settle = \"0%\"\nspare = \"25%\"\nnumjobs = 4", None), ("25 %".to_owned(), 5000));
        assert_eq!(written("", None), ("7.3741 %".to_owned(), 4694), "what no drive goes without");
    }

    #[test]
    fn each_worker_makes_an_equal_part() {
        let workload = step("do = \"precondition\"\nnumjobs = 3\nspare = \"28%\"").on(Bytes::from_kib(4000), None);
        assert_eq!((workload.stop.requests, workload.stop.bytes), (Some(460), Some(Bytes::from_kib(4 * 1380))));
    }
}
