//! States of a simulated drive that differ by chance alone, so that repeats are not all measured in one.

use block::{Bytes, Nanos, Request, Seed, Tag};
use drive::{Device, Drive};
use engine::{VirtualError, run_virtual};
use stats::REPEATS_LEAST;
use workload::{Stop, Workload};

use crate::wears;

/// In how many states repeats are measured; further ones share the last.
pub(crate) const STATES: u32 = REPEATS_LEAST as u32;

/// What is said where random writes led to a state, and all repeats are measured in that one.
pub(crate) const ONE_STATE: &str = "All repeats are of one state of the drive: ± is the spread within that state, not over \
                                    drives that were conditioned anew.";

/// How a drive came into a state in which chance had a part: by random writes.
///
/// What tells two such states apart is which block holds how many valid pages. Garbage collection forgets that: once twice
/// as much is written as there is spare flash, nearly all blocks that had few valid pages have been collected, and the
/// following ones were chosen by other writes. So another state of the same kind is had by writing on, with other seeds,
/// far more quickly than by beginning anew. That repeats so made are independent enough is tested (`tests/it/coverage.rs`).
#[derive(Clone, Debug)]
pub(crate) enum Churn {
    /// What wrote at random, how much, with its seed, and what was done since.
    Known { workload: Box<Workload>, written: Bytes, seed: Seed, since: Vec<Since> },
    /// It wrote in an order that cannot be gone on with.
    Unknown,
}

/// What was done to a drive after it had been written at random.
#[derive(Clone, Debug)]
pub(crate) enum Since {
    Rest(Nanos),
    Run(Box<Workload>),
}

impl Churn {
    /// What is known of the state after `workload` has written so much of so large a drive, which before was as `churn` has
    /// it; none where chance has no part in it.
    pub fn after(
        churn: Option<Self>,
        workload: &Workload,
        seed: Seed,
        written: Bytes,
        capacity: Bytes,
    ) -> Option<Self> {
        if wears(workload) || workload.sprandom.is_some() || workload.replay.is_some() && workload.changes_data() {
            let before = match &churn {
                Some(Self::Known { written, .. }) => *written,
                _ => Bytes::ZERO,
            };
            return Some(match workload.sprandom.is_some() || workload.replay.is_some() {
                true => Self::Unknown,
                false => {
                    let (workload, written) = (Box::new(workload.clone()), before + written);
                    Self::Known { workload, written, seed, since: Vec::new() }
                }
            });
        }
        match churn? {
            // Written over in order, it is as it would be without.
            _ if written >= capacity => None,
            Self::Known { workload: own, written, seed, mut since } if workload.changes_data() => {
                since.push(Since::Run(Box::new(workload.clone())));
                Some(Self::Known { workload: own, written, seed, since })
            }
            other => Some(other),
        }
    }

    /// Notes that the drive was left alone for so long.
    pub fn rest(&mut self, time: Nanos) {
        if let Self::Known { since, .. } = self {
            since.push(Since::Rest(time));
        }
    }

    /// Brings `drive`, which is in the state before, into state number `number`, by writing as much as twice its spare flash,
    /// of which it has so many millionths, and at least 5 % of what it holds; whether it could. Where less was written at
    /// random before, it is not done: the drive is far from steady, and a short run would become a long one.
    ///
    /// # Errors
    /// If the drive is too worn for that.
    pub fn stir(&self, drive: &mut Device, number: u32, spare: u64) -> Result<bool, VirtualError> {
        let Self::Known { workload, written, seed, since } = self else { return Ok(false) };
        let seed = seed.split("state").number(u64::from(number));
        let share = (2 * spare).clamp(50_000, 2_000_000);
        let amount = drive.shape().capacity.get() / 1_000_000 * share;
        if *written < Bytes::new(amount) {
            return Ok(false);
        }
        let stop = Stop::after_bytes(Bytes::new(amount).max(workload.block_mean()));
        drive.draw_from(seed.split("luck"));
        run_virtual(drive, &Workload { stop, ramp: Nanos::ZERO, ..(**workload).clone() }, seed.split("writes"))?;
        for (index, since) in (0..).zip(since) {
            match since {
                Since::Rest(time) => rest(drive, *time),
                Since::Run(workload) => drop(run_virtual(drive, workload, seed.split("since").number(index))?),
            }
        }
        rest(drive, Nanos::ZERO);
        Ok(true)
    }
}

/// Leaves a drive alone for so long, with nothing left to be written.
pub(crate) fn rest(drive: &mut Device, time: Nanos) {
    drive.submit(drive.now() + time, Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX);
}

#[cfg(test)]
mod tests {
    use drive::preset::Preset;
    use workload::Pattern;

    use super::*;

    fn worn() -> (Device, Churn, u64) {
        let preset = Preset::find("x25-m?capacity.user=64MiB&spare=50%&channels=2").unwrap();
        let (mut drive, capacity) = (preset.build(), preset.capacity());
        let write = |pattern| Workload { pattern, stop: Stop::after_bytes(capacity), ..Workload::default() };
        let mut churn = None;
        for (seed, pattern) in (1..).zip([Pattern::Write, Pattern::RandWrite]) {
            let (workload, seed) = (write(pattern), Seed::new(seed));
            let written = run_virtual(&mut drive, &workload, seed).unwrap().write.bytes;
            churn = Churn::after(churn, &workload, seed, written, capacity);
            assert_eq!(churn.is_some(), pattern == Pattern::RandWrite, "chance has no part in a fill");
        }
        (drive, churn.unwrap(), preset.spare().unwrap())
    }

    fn digest(drive: &Device) -> u64 {
        let Device::Flash(flash) = drive else { panic!("an X25-M is flash") };
        flash.digest()
    }

    #[test]
    fn every_state_is_another_and_the_same_number_the_same() {
        let (drive, churn, spare) = worn();
        let state = |number| {
            let mut clone = drive.clone();
            assert_eq!(churn.stir(&mut clone, number, spare), Ok(true));
            let written = (clone.counters() - drive.counters()).host_written;
            (digest(&clone), written.get() * 100 / drive.shape().capacity.get())
        };
        let states = [state(1), state(2), state(3)];
        assert_eq!(states[0], state(1));
        assert!(states[0].0 != states[1].0 && states[1].0 != states[2].0 && states[0].0 != digest(&drive));
        assert!(states.iter().all(|(_, percent)| (95..=105).contains(percent)), "twice the spare flash: {states:?}");
    }

    #[test]
    fn what_was_done_since_is_done_again_and_a_fill_ends_it() {
        let (drive, mut churn, spare) = worn();
        churn.rest(Nanos::from_secs(60));
        let mut clone = drive.clone();
        churn.stir(&mut clone, 1, spare).unwrap();
        assert!(clone.now() - drive.now() > Nanos::from_secs(60));
        let fill = Workload { pattern: Pattern::Write, ..Workload::default() };
        let capacity = drive.shape().capacity;
        let partly = Churn::after(Some(churn), &fill, Seed::new(1), Bytes::from_mib(1), capacity);
        assert!(matches!(&partly, Some(Churn::Known { since, .. }) if since.len() == 2));
        assert!(Churn::after(partly, &fill, Seed::new(1), capacity, capacity).is_none());
        let read = Workload { pattern: Pattern::RandRead, ..Workload::default() };
        assert!(Churn::after(None, &read, Seed::new(1), Bytes::ZERO, capacity).is_none());
    }
}
