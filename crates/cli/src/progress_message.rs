//! How far a run has come, told to other processes: whoever carries it out writes it beside the store, and
//! `assay serve` shows it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use block::Nanos;
use engine::Curve;
use lab::{News, Show, Snapshot, now_ms};
use report::site::LiveSnapshot;
use serde::{Deserialize, Serialize};
use store::ProgressChannel;

/// How often it is told at most, unless a step begins.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest title that is told whole, in characters: all must fit into what is told at once.
const TITLE: usize = 160;

/// The largest share of the work that is told to be done while something is done still.
const SHARE_MOST: f64 = 0.99;

/// What is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressMessage {
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
    curve: Option<Curve>,
}

impl ProgressMessage {
    /// What was told, unless that was by a program that tells it otherwise.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// What is told of a run at this time.
    fn of(snapshot: &Snapshot, told_ms: i64) -> Self {
        Self {
            began_ms: told_ms - snapshot.elapsed.as_millis() as i64,
            told_ms,
            whole: snapshot.whole,
            done: snapshot.done,
            step: snapshot.step.chars().take(TITLE).collect(),
            speed: snapshot.now.map(|speed| speed.to_string()).unwrap_or_default(),
            curve: Some(short(&snapshot.curve)).filter(|curve| !curve.points.is_empty()),
        }
    }

    /// The same for people. The time left supposes that the rest goes on as fast as what is done; work that takes longer
    /// than was expected is as good as done, and nobody knows for how long.
    pub fn now(&self) -> LiveSnapshot {
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let gone = u64::try_from(self.told_ms - self.began_ms).ok().map(Nanos::from_millis);
        let elapsed = gone.unwrap_or_default().to_std();
        let told = Snapshot { elapsed, done: self.done, whole: self.whole, ..Snapshot::default() };
        let share = told.share().map(|share| share.min(SHARE_MOST));
        let left = gone.filter(|_| share.is_some_and(|share| share < SHARE_MOST)).and(told.left()).map(Nanos::from_std);
        LiveSnapshot { step: some(&self.step), share, gone, left, speed: some(&self.speed), curve: self.curve.clone() }
    }
}

/// A curve with as many digits as are seen of it: all must fit into what is told at once.
fn short(curve: &Curve) -> Curve {
    let rounded = |(end, iops): &(f64, f64)| {
        ((end * 1e4).round() / 1e4, if *iops < 1e3 { (iops * 10.0).round() / 10.0 } else { iops.round() })
    };
    let step = curve.step.chars().take(TITLE).collect();
    Curve { step, points: curve.points.iter().map(rounded).collect(), ..curve.clone() }
}

/// Tells others what it is shown.
pub struct ProgressPublisher {
    teller: ProgressChannel,
    /// When it told last.
    told: Mutex<Option<Instant>>,
}

impl ProgressPublisher {
    /// Tells by `teller`.
    pub fn new(teller: ProgressChannel) -> Self {
        Self { teller, told: Mutex::default() }
    }
}

impl Show for ProgressPublisher {
    fn show(&self, snapshot: &Snapshot, news: News) {
        let mut told = self.told.lock().expect("nothing panics while it tells");
        let at_once = matches!(news, News::Begun | News::Step);
        if at_once || told.is_none_or(|told| told.elapsed() >= PAUSE) {
            *told = Some(Instant::now());
            let bulletin = ProgressMessage::of(snapshot, now_ms());
            let written = |bulletin: &_| serde_json::to_string(bulletin).expect("words and numbers always serialise");
            // A title of strange letters may leave no room for the curve.
            if !self.teller.tell(&written(&bulletin)) {
                self.teller.tell(&written(&ProgressMessage { curve: None, ..bulletin }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_what_is_done() {
        let bulletin = ProgressMessage {
            began_ms: 1_000,
            told_ms: 31_000,
            whole: Nanos::from_secs(400),
            done: Nanos::from_secs(100),
            step: "Random reads".to_owned(),
            speed: String::new(),
            curve: None,
        };
        let now = ProgressMessage::read(&serde_json::to_string(&bulletin).unwrap()).unwrap().now();
        assert_eq!((now.step.as_deref(), now.share, now.speed), (Some("Random reads"), Some(0.25), None));
        assert_eq!((now.gone, now.left), (Some(Nanos::from_secs(30)), Some(Nanos::from_secs(90))));
        let late = ProgressMessage { done: Nanos::from_secs(500), ..bulletin }.now();
        assert_eq!((late.share, late.left), (Some(0.99), None), "it is not done before it has ended");
        let nothing = ProgressMessage::default().now();
        assert_eq!((nothing.share, nothing.left), (None, None), "nothing is known of it yet");
        assert_eq!(ProgressMessage::read("cut of"), None);
    }
}
