//! How long the rest of a plan takes, by what its parts have taken so far.

use std::cell::Cell as Slot;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use block::Nanos;
use rustix::time::{ClockId, clock_gettime};

use crate::plan::Cell;
use crate::session::Watch;

/// What is said of the rest before this share of a part is done follows from what was expected of it.
const TELLING: f64 = 0.01;

/// Work of one kind that a step is made of.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its kind: parts with equal keys take equally long.
    pub key: String,
    /// How long it is expected to take each time, before anything like it was done.
    pub expected: Nanos,
    /// How often it is to be done. What is done side by side with others counts as that much less.
    pub times: f64,
}

/// What a drive does for these cells at once, whatever the step that wants it.
pub(crate) fn key(cells: &[Cell]) -> String {
    format!("{:?}", cells.iter().map(|cell| (cell.changes(), &cell.workload)).collect::<Vec<_>>())
}

/// What processors do is learnt as it is done, and told to a watcher as the share that it is of all.
///
/// The measure is the processor's time: unlike the time that passes, it does not depend on what else a machine does. Where
/// the plan says how long things take, on real targets, nothing is learnt.
pub(crate) struct Outlook<'a> {
    watch: &'a dyn Watch,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    learns: bool,
    /// What is left of each step.
    left: Vec<Vec<Part>>,
    /// What parts take, in seconds, by their keys.
    known: HashMap<String, Known>,
    /// How much longer parts took than in rehearsals, which store nothing, in seconds, in order: the middle one is what
    /// others will.
    surplus: Vec<f64>,
    /// What all that is done has taken, in seconds.
    spent: f64,
    /// What of that the watcher knows.
    told: Nanos,
    /// The step at hand that tells how far it is.
    at_hand: usize,
    /// How far that is: shares, with what they took in seconds.
    course: Vec<(f64, f64)>,
}

/// What a part takes.
#[derive(Clone, Copy)]
enum Known {
    /// In a rehearsal, in seconds.
    Rehearsed(f64),
    /// When it was done last, in seconds.
    Done(f64),
}

impl<'a> Outlook<'a> {
    pub(crate) fn new(watch: &'a dyn Watch) -> Self {
        Self { watch, state: Mutex::default() }
    }

    /// The plan begins: these are its steps' parts, and whether what they take is to be learnt.
    pub(crate) fn begin(&self, left: Vec<Vec<Part>>, learns: bool) {
        let whole = {
            let mut state = self.state();
            *state = State { learns, left, ..State::default() };
            nanos(state.whole())
        };
        self.watch.begin(whole);
    }

    /// Parts with this key took so long in a rehearsal.
    pub(crate) fn learn(&self, key: &str, each: Nanos) {
        self.state().known.insert(key.to_owned(), Known::Rehearsed(each.as_secs_f64()));
    }

    /// Whether anything like this was done.
    pub(crate) fn knows(&self, key: &str) -> bool {
        self.state().known.contains_key(key)
    }

    /// Something that is no part of a step has taken so long.
    pub(crate) fn spend(&self, took: Nanos) {
        self.tell(|state| state.spent += took.as_secs_f64());
    }

    /// This share of `step`, which is of one part, is done, and took so long.
    pub(crate) fn reach(&self, step: usize, share: f64, took: Nanos) {
        self.tell(|state| {
            let took = if state.learns { took.as_secs_f64() } else { share * state.step_takes(step) };
            state.at_hand = step;
            state.course.push((share, took));
        });
    }

    /// A part of `step` was done so often, and took so long each time.
    pub(crate) fn done(&self, step: usize, key: &str, times: f64, each: Nanos) {
        self.tell(|state| state.done(step, key, times, each.as_secs_f64()));
    }

    /// A part of `step` was done `times`, which is enough whatever was expected, and took so long each time.
    pub(crate) fn enough(&self, step: usize, key: &str, times: f64, each: Nanos) {
        self.tell(|state| {
            let times = if state.learns { times } else { f64::INFINITY };
            state.done(step, key, times, each.as_secs_f64());
            state.take(step, key, f64::INFINITY);
        });
    }

    /// A part of `step` needs not be done.
    pub(crate) fn skip(&self, step: usize, key: &str) {
        self.tell(|state| {
            state.take(step, key, f64::INFINITY);
        });
    }

    fn tell(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let so_far = nanos(state.so_far());
        let done = so_far.since(std::mem::replace(&mut state.told, so_far));
        // Told while nobody else can, so that what is told last is the latest.
        self.watch.advance(done);
        self.watch.expect(nanos(state.whole()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds what is left")
    }
}

impl State {
    /// How long a part takes each time, in seconds.
    fn takes(&self, part: &Part) -> f64 {
        match self.known.get(&part.key) {
            Some(Known::Done(took)) => *took,
            Some(Known::Rehearsed(took)) => {
                took + self.surplus.get(self.surplus.len() / 2).copied().unwrap_or_default()
            }
            None => part.expected.as_secs_f64(),
        }
    }

    /// How long a step of one part takes, in seconds.
    fn step_takes(&self, step: usize) -> f64 {
        self.left[step].first().map_or(0.0, |part| self.takes(part))
    }

    /// Takes a part off what is left; how often it was to be done of that, and how long it was expected to take, in seconds.
    fn take(&mut self, step: usize, key: &str, times: f64) -> (f64, f64) {
        let Some(part) = self.left[step].iter_mut().find(|part| part.key == key) else { return (0.0, 0.0) };
        let taken = times.min(part.times);
        part.times -= taken;
        let part = part.clone();
        (taken, self.takes(&part))
    }

    fn done(&mut self, step: usize, key: &str, times: f64, each: f64) {
        let (taken, expected) = self.take(step, key, times);
        if self.learns {
            if let Some(Known::Rehearsed(rehearsed)) = self.known.insert(key.to_owned(), Known::Done(each)) {
                let place = self.surplus.partition_point(|less| *less < each - rehearsed);
                self.surplus.insert(place, each - rehearsed);
            }
            self.spent += each * times;
        } else {
            self.spent += expected * taken;
        }
        if step == self.at_hand {
            self.course.clear();
        }
    }

    /// What is done, in seconds.
    fn so_far(&self) -> f64 {
        self.spent + self.course.last().map_or(0.0, |(_, took)| *took)
    }

    /// What all takes, in seconds.
    fn whole(&self) -> f64 {
        let left: f64 = self.left.iter().flatten().map(|part| part.times * self.takes(part)).sum();
        self.spent + left + self.course.last().map_or(0.0, |_| self.at_hand_takes() - self.step_takes(self.at_hand))
    }

    /// What the step at hand takes in the end, in seconds, if its rest goes as the latter half of what was done.
    fn at_hand_takes(&self) -> f64 {
        let Some(&(share, took)) = self.course.last() else { return 0.0 };
        if share < TELLING {
            return took + (1.0 - share) * self.step_takes(self.at_hand);
        }
        let half = self.course.partition_point(|(before, _)| *before < share / 2.0);
        let (from, until) = self.course.get(half).filter(|(from, _)| *from < share).copied().unwrap_or_default();
        took + (1.0 - share).max(0.0) * (took - until) / (share - from)
    }
}

/// What the processor has done for this thread up to a moment.
#[derive(Clone, Copy)]
pub(crate) struct Spent(Duration);

thread_local! {
    /// When this thread began what it does.
    static BEGAN: Slot<Option<Spent>> = const { Slot::new(None) };
}

impl Spent {
    /// Until now.
    pub(crate) fn now() -> Self {
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        Self(Duration::new(spent.tv_sec.unsigned_abs(), spent.tv_nsec as u32))
    }

    /// What it has done since.
    pub(crate) fn passed(self) -> Nanos {
        Nanos::from_std(Self::now().0.saturating_sub(self.0))
    }

    /// This thread begins a piece of work.
    pub(crate) fn begin() {
        BEGAN.set(Some(Self::now()));
    }

    /// What this thread has done since it began its piece of work; nothing if it began none.
    pub(crate) fn of_work() -> Nanos {
        BEGAN.get().map_or(Nanos::ZERO, Self::passed)
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos::from_nanos((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what was told last: what is done and the whole, in seconds.
    #[derive(Default)]
    struct Last(Mutex<(f64, f64)>);

    impl Watch for Last {
        fn begin(&self, whole: Nanos) {
            self.expect(whole);
        }

        fn step(&self, _: &str) {}

        fn advance(&self, done: Nanos) {
            self.0.lock().unwrap().0 += done.as_secs_f64();
        }

        fn expect(&self, whole: Nanos) {
            self.0.lock().unwrap().1 = whole.as_secs_f64();
        }
    }

    fn steps() -> Vec<Vec<Part>> {
        let part = |key: &str, seconds, times| Part { key: key.to_owned(), expected: Nanos::from_secs(seconds), times };
        vec![vec![part("wear", 100, 1.0)], vec![part("read", 10, 3.0)], vec![part("read", 10, 2.0)]]
    }

    #[test]
    fn a_step_goes_on_as_its_latter_half_and_what_was_done_takes_as_long_again() {
        let (last, seconds) = (Last::default(), Nanos::from_secs);
        let outlook = Outlook::new(&last);
        outlook.begin(steps(), true);
        let told = || *last.0.lock().unwrap();
        assert_eq!(told(), (0.0, 150.0), "nothing is known but what was expected");
        outlook.reach(0, 0.2, seconds(2));
        outlook.reach(0, 0.4, seconds(10));
        assert_eq!(told(), (10.0, 10.0 + 0.6 * 40.0 + 50.0));
        outlook.done(0, "wear", 1.0, seconds(34));
        outlook.learn("read", seconds(2));
        outlook.enough(1, "read", 5.0, seconds(3));
        assert_eq!(told(), (34.0 + 15.0, 34.0 + 15.0 + 2.0 * 3.0), "five were needed, and two like them are left");
        outlook.skip(2, "read");
        assert_eq!(told(), (49.0, 49.0));
    }

    #[test]
    fn where_the_plan_says_how_long_things_take_nothing_else_counts() {
        let (last, seconds) = (Last::default(), Nanos::from_secs);
        let outlook = Outlook::new(&last);
        outlook.begin(steps(), false);
        outlook.reach(0, 0.5, seconds(1));
        outlook.done(0, "wear", 1.0, seconds(3));
        outlook.enough(1, "read", 3.0, seconds(1));
        assert_eq!(*last.0.lock().unwrap(), (130.0, 150.0));
    }
}
