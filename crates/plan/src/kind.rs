//! The kinds of steps. Each is a file beside this one: the keys that it takes, how it is built from them, and what it does.
//! The next kind is such a file and a line in the table below.

use host::PurgeMethod;
use workload::Workload;

use super::body::Body;
use super::build::Frame;
use super::diagnostic::Mistakes;
use super::draft::Draft;
use super::work::{Passes, Phase, Site};
use super::{Experiment, Experiments, Repetition, measure, trials};

/// What a kind of step has to say of itself.
pub trait StepKind {
    /// The word after `do`.
    fn name(&self) -> &'static str;

    /// What is done on such a target in each pass, in order.
    fn phases<'s>(&'s self, site: &Site) -> Vec<Phase<'s>>;

    /// How one pass follows another.
    fn passes(&self) -> Passes<'_> {
        Passes::Once
    }

    /// What is to be doubted of it on such a target, in a sentence.
    fn doubt(&self, _: &Site) -> Option<String> {
        None
    }

    /// The workloads as the plan gives them, whose shares of the target become amounts: first those that are kept.
    fn workloads_mut(&mut self) -> Vec<&mut Workload> {
        Vec::new()
    }

    /// Repeats what it measures so often, whatever the plan says.
    fn repeat(&mut self, _: Repetition) {}

    /// Purges by this method, whatever the plan says.
    fn purge_by(&mut self, _: PurgeMethod) {}

    /// What it does, in a few words.
    fn brief(&self) -> String {
        self.name().to_owned()
    }

    /// What it does, in a line.
    fn sentence(&self, say: &Phrases) -> String;
}

/// How workloads and numbers are put into words.
#[derive(Clone, Copy)]
pub struct Phrases {
    /// What several workloads have in common.
    pub workloads: fn(&[&Workload]) -> String,
    /// `1 cell`, `1,024 cells`.
    pub count: fn(usize, &str) -> String,
    /// `3 times`.
    pub times: fn(Repetition) -> String,
}

/// How a kind of step is written in a plan.
pub(super) struct Form {
    /// The word after `do`; of trials, that of the experiment stands in its place.
    pub(super) name: &'static str,
    /// The numbers that it takes; its `quick` takes the same.
    pub(super) numbers: fn() -> Vec<&'static str>,
    /// The other keys that it takes.
    pub(super) more: &'static [&'static str],
    /// The step that a draft describes; none, with mistakes, if it makes no sense.
    pub(super) build: fn(&Frame, &Draft, &Body, &mut Mistakes) -> Option<Action>,
}

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident($module:ident::$step:ident),)+) => {
        /// What a step does.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "a plan has few steps, and they are not moved about")]
        pub enum Action {
            $($(#[$about])* $kind(crate::$module::$step),)+
        }

        impl Action {
            /// What its kind has to say of it.
            pub fn kind(&self) -> &dyn StepKind {
                match self { $(Self::$kind(step) => step,)+ }
            }

            /// The same, to be changed.
            pub fn kind_mut(&mut self) -> &mut dyn StepKind {
                match self { $(Self::$kind(step) => step,)+ }
            }
        }

        /// How they are written, in the order of the documentation.
        static FORMS: &[Form] = &[$(crate::$module::FORM,)+];
    };
}

kinds! {
    /// Forget all data: reset of a simulated drive, discard of a device, a new file, or what the drive itself has for it.
    Purge(purge::Purge),
    /// Write the whole span once, sequentially.
    Fill(fill::Fill),
    /// Leave the drive alone.
    Idle(idle::Idle),
    /// Measure each cell of a sweep, repeated. On a simulated drive every repeat starts from a clone of
    /// the state that the last state-changing step left, and leaves that state as it was.
    Measure(measure::Measure),
    /// Run one workload in rounds, keep its series, and leave the drive in the state that this brings about.
    Condition(condition::Condition),
    /// Measure the cells of a sweep one after another on the drive as each leaves it, in rounds, until those are steady.
    Rounds(rounds::Rounds),
    /// Write until the write cache is full, and again after idle times; keep all series.
    Saturate(saturate::Saturate),
    /// Bring the drive to the steady state of random writing by the fewest writes that do, and keep their series.
    Precondition(precondition::Precondition),
    /// Try what stands above the drive: file systems, databases, a system that boots. What is on the target is
    /// overwritten; a simulated drive is attached, and left as it was.
    Trial(trials::Trials),
}

/// What `do` names.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    form: &'static Form,
    /// What it tries above the drive, if it does.
    pub(super) experiment: Option<&'static dyn Experiment>,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What every step takes.
const COMMON: [&str; 4] = ["name", "do", "title", "about"];

impl Kind {
    /// Every kind, with trials of these, in the order of the documentation.
    pub(super) fn all(experiments: Experiments) -> impl Iterator<Item = Self> {
        let (trials, others): (Vec<_>, Vec<_>) = FORMS.iter().partition(|form| form.name == trials::FORM.name);
        let others = others.into_iter().map(|form| Self { form, experiment: None });
        let tries = |form| experiments.iter().map(move |experiment| Self { form, experiment: Some(*experiment) });
        others.chain(trials.into_iter().flat_map(tries))
    }

    /// Their names.
    pub(super) fn names(experiments: Experiments) -> Vec<&'static str> {
        Self::all(experiments).map(Self::name).collect()
    }

    /// The kind of this name.
    pub(super) fn named(name: &str, experiments: Experiments) -> Option<Self> {
        Self::all(experiments).find(|kind| kind.name() == name)
    }

    /// What a step is that does not say.
    pub(super) fn unsaid() -> Option<Self> {
        Self::named(measure::FORM.name, &[])
    }

    /// The word after `do`.
    pub(super) fn name(self) -> &'static str {
        self.experiment.map_or(self.form.name, |experiment| experiment.name())
    }

    /// The numbers that a step of this kind takes; its `quick` takes the same.
    pub(super) fn numbers(self) -> Vec<&'static str> {
        let told = self.experiment.into_iter().flat_map(|experiment| experiment.choices());
        told.map(|choice| choice.name).chain((self.form.numbers)()).collect()
    }

    /// All keys of a step of this kind.
    pub(super) fn keys(self) -> Vec<&'static str> {
        [&COMMON, &self.numbers()[..], self.form.more].concat()
    }

    /// Whether a step of this kind takes `key`.
    pub(super) fn takes(self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// The kinds of steps that take `key`.
    pub(super) fn that_take(key: &str, experiments: Experiments) -> Vec<&'static str> {
        Self::all(experiments).filter(|kind| kind.takes(key)).map(Self::name).collect()
    }

    /// The step that `draft` describes with these numbers.
    pub(super) fn build(self, frame: &Frame, draft: &Draft, body: &Body, mistakes: &mut Mistakes) -> Option<Action> {
        (self.form.build)(frame, draft, body, mistakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Field;

    #[test]
    fn a_measurement_takes_every_field() {
        for field in Field::ALL {
            assert!(Kind::unsaid().unwrap().takes(field.name()), "{field:?}");
        }
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in Kind::all(&[]) {
            assert_eq!(Kind::named(kind.name(), &[]).map(Kind::name), Some(kind.name()));
        }
        assert!(Kind::named("mesure", &[]).is_none() && Kind::named(trials::FORM.name, &[]).is_none());
    }
}
