//! What differs from one operation to the next, and what a disk does unasked.

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::spindle::SpindleActivity;
use crate::draw::{Draws, Odds, Spread, normal};
use crate::periodic::Periodic;

/// How operations of a disk differ from each other. With all of it zero they do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariationSpec {
    /// The standard deviation of the time that a head takes to settle after a move.
    pub settle: Nanos,
    pub read: TroubleSpec,
    pub write: TroubleSpec,
    /// How likely one more turn is not enough either.
    pub again: Odds,
    /// The mean length of a recovery.
    pub recovery: Nanos,
    /// How much its length varies.
    pub recovery_spread: Spread,
}

/// How often an operation does not succeed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TroubleSpec {
    /// It needs another turn, as the head was off the track or the data had too many errors.
    pub retry: Odds,
    /// It needs the whole procedure of recovery, with other settings turn after turn.
    pub recovery: Odds,
}

/// What a disk does unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundSpec {
    /// Every so often it calibrates its servo anew, whatever waits; if ever.
    pub recalibrate_every: Option<Nanos>,
    /// How long that takes.
    pub recalibrate_time: Nanos,
    /// After so long without a command it begins to read its platters for errors, if ever, until one comes.
    pub scan_after: Option<Nanos>,
    /// What it reads in one go; a command that comes meanwhile waits for the end.
    pub scan_step: Nanos,
}

/// The variation of one arm, with its own streams of draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variation {
    spec: VariationSpec,
    settle: Draws,
    trouble: Draws,
    retries: u64,
    recoveries: u64,
}

impl Variation {
    /// The variation of an arm with this seed.
    pub fn new(spec: VariationSpec, seed: Seed) -> Self {
        let draws = |name| Draws::new(seed.split(name));
        Self { spec, settle: draws("settle"), trouble: draws("trouble"), retries: 0, recoveries: 0 }
    }

    /// Has what is drawn from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.settle.join(seed);
        self.trouble.join(seed);
    }

    /// How long a move of that length takes this time: at least half of it.
    #[inline]
    pub fn moving(&mut self, moving: Nanos) -> Nanos {
        if self.spec.settle == Nanos::ZERO || moving == Nanos::ZERO {
            return moving;
        }
        let more = (self.spec.settle.as_nanos() as i64 * i64::from(normal(self.settle.draw()))) >> 16;
        let moving = moving.as_nanos();
        Nanos::from_nanos(moving.saturating_add_signed(more).max(moving / 2))
    }

    /// How many more turns an operation takes until it has succeeded.
    #[inline]
    pub fn turns(&mut self, work: SpindleActivity, revolution: Nanos) -> u64 {
        let TroubleSpec { retry, recovery } = match work {
            SpindleActivity::Write => self.spec.write,
            SpindleActivity::Read | SpindleActivity::Seek => self.spec.read,
        };
        let mut turns = 0;
        if retry != Odds::NEVER && self.trouble.happens(retry) {
            turns += 1;
            // However likely: nobody turns for ever.
            while turns < 64 && self.trouble.happens(self.spec.again) {
                turns += 1;
            }
            self.retries += 1;
        }
        if recovery != Odds::NEVER && self.trouble.happens(recovery) {
            let length = self.spec.recovery_spread.factor(self.trouble.draw()).of(self.spec.recovery);
            turns += length.as_nanos().div_ceil(revolution.as_nanos());
            self.recoveries += 1;
        }
        turns
    }

    /// How many operations needed another turn, and how many a recovery.
    pub fn troubles(&self) -> (u64, u64) {
        (self.retries, self.recoveries)
    }
}

/// When an arm does what nobody asked it for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Background {
    spec: BackgroundSpec,
    recalibration: Periodic,
    recalibrations: u64,
    scanned: u64,
}

impl Background {
    /// An arm whose first recalibration is at a time drawn from within the first period.
    pub fn new(spec: BackgroundSpec, seed: Seed) -> Self {
        let draw = Draws::new(seed.split("recalibrate")).draw();
        let recalibration = Periodic::new(spec.recalibrate_every, draw);
        Self { spec, recalibration, recalibrations: 0, scanned: 0 }
    }

    /// Until when an arm that is free since `free` recalibrates, if it still does at `at`. One that fell into a time without
    /// work is over.
    pub fn recalibrates(&mut self, free: Nanos, at: Nanos) -> Option<Nanos> {
        let (latest, times) = self.recalibration.last(at)?;
        self.recalibrations += times;
        let end = latest.max(free) + self.spec.recalibrate_time;
        (end > at).then_some(end)
    }

    /// Until when an arm that nobody has needed since `idle` reads its platters for errors, if it does at `at`; and how many
    /// steps it has done.
    pub fn scans(&mut self, idle: Nanos, at: Nanos) -> Option<(Nanos, u64)> {
        let began = idle + self.spec.scan_after?;
        if at <= began {
            return None;
        }
        let steps = at.since(began).as_nanos().div_ceil(self.spec.scan_step.as_nanos());
        self.scanned += steps;
        Some((began + self.spec.scan_step.times(steps), self.scanned))
    }

    /// How often it has recalibrated, and how many steps it has read for errors.
    pub fn counts(&self) -> (u64, u64) {
        (self.recalibrations, self.scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: Nanos = Nanos::from_millis(6);

    #[test]
    fn nothing_is_drawn_where_nothing_varies() {
        let mut still = Variation::new(VariationSpec::default(), Seed::new(1));
        let before = (still.settle.clone(), still.trouble.clone());
        assert_eq!(still.moving(TURN), TURN);
        assert_eq!(still.turns(SpindleActivity::Read, TURN), 0);
        assert_eq!((still.settle, still.trouble), before);
    }

    #[test]
    fn moves_vary_by_the_deviation_given() {
        let spec = VariationSpec { settle: Nanos::from_micros(200), ..VariationSpec::default() };
        let mut variation = Variation::new(spec, Seed::new(2));
        let moves: Vec<f64> = (0..100_000).map(|_| variation.moving(TURN).as_micros_f64() - 6_000.0).collect();
        let mean = moves.iter().sum::<f64>() / 1e5;
        let deviation = (moves.iter().map(|by| by * by).sum::<f64>() / 1e5).sqrt();
        assert!(mean.abs() < 2.0 && (deviation / 200.0 - 1.0).abs() < 0.02, "{mean} and {deviation} µs");
        let wild = VariationSpec { settle: Nanos::from_millis(60), ..VariationSpec::default() };
        let mut wild = Variation::new(wild, Seed::new(2));
        assert!((0..10_000).all(|_| wild.moving(TURN) >= Nanos::from_millis(3)), "at least half");
        assert_eq!(wild.moving(Nanos::ZERO), Nanos::ZERO, "who does not move does not settle");
    }

    #[test]
    fn retries_and_recoveries_come_as_often_and_last_as_long_as_they_should() {
        let read = TroubleSpec { retry: Odds::per_million(20_000), recovery: Odds::per_million(1_000) };
        let recovery = Nanos::from_millis(300);
        let spec = VariationSpec {
            read,
            again: Odds::per_million(500_000),
            recovery,
            recovery_spread: Spread::new(300_000),
            ..VariationSpec::default()
        };
        let mut variation = Variation::new(spec, Seed::new(3));
        let turns: Vec<u64> = (0..200_000).map(|_| variation.turns(SpindleActivity::Read, TURN)).collect();
        let (retries, recoveries) = variation.troubles();
        assert!((3_800..4_200).contains(&retries) && (160..240).contains(&recoveries), "{retries}, {recoveries}");
        let short: u64 = turns.iter().filter(|turns| **turns < 10).sum();
        assert!((1.8..2.2).contains(&(short as f64 / retries as f64)), "two turns in the mean, not {short}");
        let long: u64 = turns.iter().filter(|turns| **turns >= 10).sum();
        assert!((45.0..56.0).contains(&(long as f64 / recoveries as f64)), "50.5 turns in the mean, not {long}");
        assert_eq!(variation.turns(SpindleActivity::Write, TURN), 0, "writes have their own odds");
    }

    #[test]
    fn recalibration_comes_with_its_period_and_is_over_where_nobody_needed_the_arm() {
        let seconds = Nanos::from_secs;
        let spec = BackgroundSpec {
            recalibrate_every: Some(seconds(100)),
            recalibrate_time: seconds(2),
            ..BackgroundSpec::default()
        };
        let mut background = Background::new(spec, Seed::new(1));
        let due = background.recalibration.due();
        assert!(due < seconds(100));
        assert_eq!(background.recalibrates(Nanos::ZERO, due + seconds(1)), Some(due + seconds(2)), "a second is left");
        assert_eq!(background.recalibrates(Nanos::ZERO, due + seconds(3)), None, "done");
        let late = due + seconds(101);
        assert_eq!(background.recalibrates(late, late), Some(late + seconds(2)), "it waited for the arm");
        assert_eq!(background.recalibrates(late, due + seconds(1_050)), None, "those missed are over");
        assert_eq!(background.counts().0, 11, "one in each period");
    }

    #[test]
    fn a_scan_goes_step_by_step_while_nobody_needs_the_arm() {
        let millis = Nanos::from_millis;
        let spec =
            BackgroundSpec { scan_after: Some(millis(500)), scan_step: millis(100), ..BackgroundSpec::default() };
        let mut background = Background::new(spec, Seed::new(1));
        assert_eq!(background.scans(millis(1_000), millis(1_500)), None);
        assert_eq!(background.scans(millis(1_000), millis(1_730)), Some((millis(1_800), 3)));
        assert_eq!(background.scans(millis(2_000), millis(2_510)), Some((millis(2_600), 4)), "it goes on where it was");
    }
}
