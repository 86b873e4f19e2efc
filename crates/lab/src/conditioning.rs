//! States of a simulated drive that differ by chance alone, so that repeats are not all measured in one.

use block::{Bytes, Lba, Nanos, Request, Seed, Tag};
use drive::preset::Preset;
use drive::{Device, Drive};
use engine::{VirtualError, run_virtual};
use stats::REPEATS_LEAST;
use workload::{Pattern, Spare, Stop, Workload};

use crate::cost::Place;
use crate::plan::{Construction, Phase};
use crate::wears;

/// In how many states repeats are measured; further ones share the last.
pub(crate) const STATES: u32 = REPEATS_LEAST as u32;

/// What is said where random writes led to a state, and all repeats are measured in that one.
pub(crate) const ONE_STATE: &str = "All repeats start from one state of the drive: ± is the variance within that state, \
    not between independently conditioned drives.";

/// How random writes brought a drive into its state, so that chance had a part in it.
///
/// What tells two such states apart is which block holds how many valid pages. Garbage collection forgets that: once twice
/// as much is written as there is spare flash, nearly all blocks that had few valid pages have been collected, and the
/// following ones were chosen by other writes. So another state of the same kind is had by writing on, with other seeds,
/// far more quickly than by beginning anew. That repeats so made are independent enough is tested (`tests/it/coverage.rs`).
#[derive(Clone, Debug)]
pub(crate) enum Conditioning {
    /// What wrote at random, how much, with its seed, and what was done since.
    Random { workload: Box<Workload>, written: Bytes, seed: Seed, since: Vec<Since> },
    /// Writes of a trace, which cannot be gone on with.
    Trace,
}

/// What was done to a drive after it had been written at random.
#[derive(Clone, Debug)]
pub(crate) enum Since {
    Rest(Nanos),
    Run(Box<Workload>),
}

impl Conditioning {
    /// What is known of the state after `workload` has written so much of so large a drive, which had been conditioned as
    /// `before` says; none where chance has no part in it.
    pub fn after(
        before: Option<Self>,
        workload: &Workload,
        seed: Seed,
        written: Bytes,
        capacity: Bytes,
    ) -> Option<Self> {
        if workload.replay.is_some() && workload.changes_data() {
            return Some(Self::Trace);
        }
        if wears(workload) && workload.replay.is_none() {
            let earlier = if let Some(Self::Random { written, .. }) = before { written } else { Bytes::ZERO };
            // What the order of SPRandom leaves is the steady state of the same writes in any.
            let workload = Box::new(Workload { sprandom: None, ..workload.clone() });
            return Some(Self::Random { workload, written: earlier + written, seed, since: Vec::new() });
        }
        // Written over in order, it is as it would be without.
        let mut conditioning = before.filter(|_| written < capacity)?;
        if let (Self::Random { since, .. }, true) = (&mut conditioning, workload.changes_data()) {
            since.push(Since::Run(Box::new(workload.clone())));
        }
        Some(conditioning)
    }

    /// Notes that the drive was left alone for so long.
    pub fn rest(&mut self, time: Nanos) {
        if let Self::Random { since, .. } = self {
            since.push(Since::Rest(time));
        }
    }

    /// Whether there are other states of the same kind. Where less was written at random before than it takes to come to one, it
    /// is not done: the drive is far from steady, and a short run would become a long one.
    pub fn can_redraw(&self, capacity: Bytes, spare: Spare) -> bool {
        matches!(self, Self::Random { written, .. } if *written >= between_states(capacity, spare))
    }

    /// Brings `drive`, which is in the state that is known, into state number `number`, if there are others; whether it did.
    ///
    /// # Errors
    /// If the drive is too worn for that.
    pub fn redraw(&self, drive: &mut Device, number: u32, spare: Spare) -> Result<bool, VirtualError> {
        let amount = between_states(drive.shape().capacity, spare);
        let Self::Random { workload, seed, since, .. } = self else { return Ok(false) };
        if !self.can_redraw(drive.shape().capacity, spare) {
            return Ok(false);
        }
        let seed = seed.split("state").number(u64::from(number));
        // By how much more is chance too: else all states would have filled as much of the blocks that are open.
        let more = ((u128::from(seed.split("amount").get()) * u128::from(amount.get() / MORE)) >> 64) as u64;
        let amount = (amount + Bytes::new(more)).round_down(workload.block);
        let stop = Stop::after_bytes(amount.max(workload.block_mean()));
        drive.draw_from(seed.split("luck"));
        let writes = Workload { stop, ramp: Nanos::ZERO, ..(**workload).clone() };
        write(drive, &writes, seed.split("writes"))?;
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

/// How much is written at random to bring a drive from one state to the next: twice its spare flash, and at least 5 % of what it
/// holds.
pub(crate) fn between_states(capacity: Bytes, spare: Spare) -> Bytes {
    let share = (2.0 * spare.share()).clamp(0.05, 2.0);
    Bytes::new((capacity.get() as f64 * share) as u64)
}

/// What is written beyond that is chance, up to one part in so many of it.
const MORE: u64 = 8;

/// Puts `drive` behind a workload, as far as that can be done without simulating its time: whether it was.
pub(crate) fn construct(drive: &mut Device, workload: &Workload, seed: Seed) -> bool {
    let capacity = drive.shape().capacity;
    let Some(Construction { direct, rest: None }) = Construction::of(workload, capacity) else { return false };
    let (Ok((start, length)), entropy) = (direct.span(capacity), 100 - direct.compressible) else { return false };
    let written = direct.stop.bytes.unwrap_or(length);
    if direct.pattern == Pattern::RandWrite {
        let can = drive.can_write_at_random(direct.block);
        if can {
            drive.write_at_random(written.div(direct.block), direct.block, seed);
        }
        return can;
    }
    let (first, end) = (Lba::at(start), Lba::at(start + written));
    let can = drive.can_fill(first, end);
    if can {
        drive.fill(first, end, direct.block, entropy);
    }
    can
}

/// Leaves `drive` as a workload does, without simulating its time where that can be. The last of random writes are simulated,
/// so that buffers are as full and parts as busy as they would be.
///
/// # Errors
/// If the drive is too worn for it.
pub fn write(drive: &mut Device, workload: &Workload, seed: Seed) -> Result<(), VirtualError> {
    let bytes = workload.stop.bytes.unwrap_or(Bytes::ZERO);
    let first = match workload.pattern {
        Pattern::RandWrite => (bytes - timed(bytes)).round_down(workload.block),
        _ => bytes,
    };
    let of = |bytes| Workload { stop: Stop::after_bytes(bytes), ..workload.clone() };
    let constructed = first > Bytes::ZERO && construct(drive, &of(first), seed.split("constructed"));
    match constructed {
        true if first == bytes => {}
        true => drop(run_virtual(drive, &of(bytes - first), seed)?),
        false => drop(run_virtual(drive, workload, seed)?),
    }
    Ok(())
}

/// About how long [`write()`] takes on an idle machine.
pub fn time_to_write(preset: &Preset, workload: &Workload) -> Nanos {
    Place::simulated(preset).phase_weight(&Phase::prepare(workload.clone(), true))
}

/// How much of what is written at random, the last of it, is simulated in time: one part in twenty, and no more than fills any
/// buffer and gives all parts their work many times over.
pub(crate) fn timed(bytes: Bytes) -> Bytes {
    const TIMED: u64 = 20;
    const TIMED_MOST: Bytes = Bytes::from_gib(4);
    Bytes::new(bytes.get() - bytes.get() / TIMED * (TIMED - 1)).min(TIMED_MOST)
}

/// Leaves a drive alone for so long, with nothing left to be written.
pub(crate) fn rest(drive: &mut Device, time: Nanos) {
    drive.submit(drive.now() + time, Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX);
}

#[cfg(test)]
mod tests {
    use drive::preset::Preset;

    use super::*;

    fn worn() -> (Device, Conditioning, Spare) {
        let preset = Preset::find("x25-m?capacity.user=64MiB&spare=50%&channels=2").unwrap();
        let (mut drive, capacity) = (preset.build(), preset.capacity());
        let write = |pattern| Workload { pattern, stop: Stop::after_bytes(capacity), ..Workload::default() };
        let mut conditioning = None;
        for (seed, pattern) in (1..).zip([Pattern::Write, Pattern::RandWrite]) {
            let (workload, seed) = (write(pattern), Seed::new(seed));
            let written = run_virtual(&mut drive, &workload, seed).unwrap().write.bytes;
            conditioning = Conditioning::after(conditioning, &workload, seed, written, capacity);
            assert_eq!(conditioning.is_some(), pattern == Pattern::RandWrite, "chance has no part in a fill");
        }
        (drive, conditioning.unwrap(), preset.spare().and_then(Spare::from_millionths).unwrap())
    }

    fn digest(drive: &Device) -> u64 {
        let Device::Flash(flash) = drive else { panic!("an X25-M is flash") };
        flash.digest()
    }

    #[test]
    fn every_state_is_another_and_the_same_number_the_same() {
        let (drive, conditioning, spare) = worn();
        let state = |number| {
            let mut clone = drive.clone();
            assert_eq!(conditioning.redraw(&mut clone, number, spare), Ok(true));
            let written = (clone.counters() - drive.counters()).host_written;
            (digest(&clone), written.get() * 100 / drive.shape().capacity.get())
        };
        let states = [state(1), state(2), state(3)];
        assert_eq!(states[0], state(1));
        assert!(states[0].0 != states[1].0 && states[1].0 != states[2].0 && states[0].0 != digest(&drive));
        assert!(
            states.iter().all(|(_, percent)| (95..=120).contains(percent)),
            "twice the spare flash and more: {states:?}"
        );
    }

    #[test]
    fn what_was_done_since_is_done_again_and_a_fill_ends_it() {
        let (drive, mut conditioning, spare) = worn();
        conditioning.rest(Nanos::from_secs(60));
        let mut clone = drive.clone();
        conditioning.redraw(&mut clone, 1, spare).unwrap();
        assert!(clone.now() - drive.now() > Nanos::from_secs(60));
        let fill = Workload { pattern: Pattern::Write, ..Workload::default() };
        let capacity = drive.shape().capacity;
        let partly = Conditioning::after(Some(conditioning), &fill, Seed::new(1), Bytes::from_mib(1), capacity);
        assert!(matches!(&partly, Some(Conditioning::Random { since, .. }) if since.len() == 2));
        assert!(Conditioning::after(partly, &fill, Seed::new(1), capacity, capacity).is_none());
        let read = Workload { pattern: Pattern::RandRead, ..Workload::default() };
        assert!(Conditioning::after(None, &read, Seed::new(1), Bytes::ZERO, capacity).is_none());
    }
}
