//! How far a run has come, told to other processes: whoever carries it out writes it beside the store, and
//! `assay serve` shows it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use block::Nanos;
use engine::Progress as Live;
use lab::{Watch, now_ms};
use report::site::Now;
use serde::{Deserialize, Serialize};
use store::Teller;

use crate::progress::{Speed, time_left};

/// How often it is told at most, unless a step begins.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest title that is told whole, in characters: all must fit into what is told at once.
const TITLE: usize = 160;

/// The largest share of the work that is told to be done while something is done still.
const SHARE_MOST: f64 = 0.99;

/// What is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bulletin {
    /// When the work began, or went on, in milliseconds since 1970-01-01 UTC.
    began_ms: i64,
    /// When this was told.
    told_ms: i64,
    /// What all of it takes, by the plan.
    whole: Nanos,
    /// What of that is done.
    done: Nanos,
    step: String,
    speed: String,
}

impl Bulletin {
    /// What was told, unless that was by a program that tells it otherwise.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The same for people. The time left supposes that the rest goes on as fast as what is done; work that takes longer
    /// than was expected is as good as done, and nobody knows for how long.
    pub fn now(&self) -> Now {
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let gone = u64::try_from(self.told_ms - self.began_ms).ok().map(Nanos::from_millis);
        let share = self.done.as_secs_f64() / self.whole.as_secs_f64();
        let share = share.is_finite().then_some(share.min(SHARE_MOST));
        let left = gone.filter(|_| share.is_some_and(|share| share < SHARE_MOST)).and_then(|gone| {
            time_left(Duration::from_nanos(gone.as_nanos()), self.done.as_nanos(), self.whole.as_nanos())
        });
        let left = left.map(|left| Nanos::from_nanos(left.as_nanos() as u64));
        Now { step: some(&self.step), share, gone, left, speed: some(&self.speed) }
    }
}

/// Tells others what it is told itself.
pub struct Crier {
    teller: Teller,
    last: Mutex<Last>,
}

/// What was told last, and what a measurement in real time had done when it was last heard of.
struct Last {
    bulletin: Bulletin,
    told: Option<Instant>,
    heard: Live,
}

impl Crier {
    /// Tells by `teller`.
    pub fn new(teller: Teller) -> Self {
        let last = Last { bulletin: Bulletin::default(), told: None, heard: Live::default() };
        Self { teller, last: Mutex::new(last) }
    }

    fn tell(&self, at_once: bool, change: impl FnOnce(&mut Last)) {
        let mut last = self.last.lock().expect("nothing panics while it holds what was told");
        change(&mut last);
        if at_once || last.told.is_none_or(|told| told.elapsed() >= PAUSE) {
            last.told = Some(Instant::now());
            last.bulletin.told_ms = now_ms();
            self.teller.tell(&serde_json::to_string(&last.bulletin).expect("words and numbers always serialise"));
        }
    }
}

impl Watch for Crier {
    fn begin(&self, whole: Nanos) {
        self.tell(true, |last| {
            last.bulletin = Bulletin { began_ms: now_ms(), whole, ..Bulletin::default() };
        });
    }

    fn step(&self, title: &str) {
        self.tell(true, |last| {
            last.bulletin.step = title.chars().take(TITLE).collect();
            last.bulletin.speed.clear();
        });
    }

    fn advance(&self, done: Nanos) {
        self.tell(false, |last| last.bulletin.done += done);
    }

    fn live(&self, now: Live) {
        self.tell(false, |last| {
            let before = std::mem::replace(&mut last.heard, now);
            last.bulletin.speed = Speed::between(before, now).map(|speed| speed.to_string()).unwrap_or_default();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_what_is_done() {
        let bulletin = Bulletin {
            began_ms: 1_000,
            told_ms: 31_000,
            whole: Nanos::from_secs(400),
            done: Nanos::from_secs(100),
            step: "Random reads".to_owned(),
            speed: String::new(),
        };
        let now = Bulletin::read(&serde_json::to_string(&bulletin).unwrap()).unwrap().now();
        assert_eq!((now.step.as_deref(), now.share, now.speed), (Some("Random reads"), Some(0.25), None));
        assert_eq!((now.gone, now.left), (Some(Nanos::from_secs(30)), Some(Nanos::from_secs(90))));
        let late = Bulletin { done: Nanos::from_secs(500), ..bulletin }.now();
        assert_eq!((late.share, late.left), (Some(0.99), None), "it is not done before it has ended");
        let nothing = Bulletin::default().now();
        assert_eq!((nothing.share, nothing.left), (None, None), "nothing is known of it yet");
        assert_eq!(Bulletin::read("cut of"), None);
    }
}
