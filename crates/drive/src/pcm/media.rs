//! How long phase-change memory takes.

use block::{Bytes, Nanos, Rate, Seed};
use serde::{Deserialize, Serialize};

use crate::calendar::Calendar;
use crate::divisor::Divisor;
use crate::draw::{Draws, Odds, Spread};
use crate::least::first_least;
use crate::quantiles::Quantiles;

/// The media of a drive that is written in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaSpec {
    /// Buses between controller and media.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// What a die reads or writes at once, on neighbouring channels in turn.
    pub access: Bytes,
    /// From the cells into the die's register, in the mean.
    pub read: Nanos,
    /// From the register into the cells, in the mean.
    pub write: Nanos,
    /// Between a die's register and the controller.
    pub channel: Rate,
    /// How many accesses' worth of data may be written at once: writing takes current, of which there is only so much.
    pub writes_at_once: u32,
    /// How often a write must be repeated with other pulses, because cells did not take their state, in a million accesses.
    pub rewrites: u32,
    /// What that takes beside, in the mean.
    pub rewrite: Nanos,
    /// Relative standard deviation of that, in millionths.
    pub rewrite_deviation: u32,
    /// That of reads and writes between dies.
    pub die_deviation: u32,
    /// That between one read and the next.
    pub read_deviation: u32,
    /// That between one write and the next.
    pub write_deviation: u32,
}

/// The dies and channels of a drive, each with the time up to which it is booked.
///
/// A die does what it is given in order. A channel serves whichever of its dies is ready first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    spec: MediaSpec,
    transfer: Nanos,
    /// When each is free, and how many there are.
    dies: Vec<Nanos>,
    die_count: Divisor,
    channels: Vec<Calendar>,
    /// When each share of the current is free.
    writing: Vec<Nanos>,
    lasting: Vec<LastingDie>,
    read_spread: Quantiles,
    write_spread: Quantiles,
    rewrite_spread: Spread,
    rewrites: Odds,
    draws: Draws,
    pub reads: u64,
    pub writes: u64,
}

/// What a die takes in the mean, and the channel that it is on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LastingDie {
    read: Nanos,
    write: Nanos,
    channel: u32,
}

impl Media {
    /// Idle media, made by `seed`.
    pub fn new(spec: MediaSpec, seed: Seed) -> Self {
        let mut made = Draws::new(seed.split("dies"));
        let die = Spread::new(u64::from(spec.die_deviation));
        let dies = spec.channels * spec.dies_per_channel;
        let lasting = |number| {
            let factor = die.factor(made.draw());
            LastingDie { read: factor.of(spec.read), write: factor.of(spec.write), channel: number % spec.channels }
        };
        Self {
            transfer: spec.channel.time_for(spec.access),
            dies: vec![Nanos::ZERO; dies as usize],
            die_count: Divisor::from(u64::from(dies)),
            channels: vec![Calendar::default(); spec.channels as usize],
            writing: vec![Nanos::ZERO; spec.writes_at_once as usize],
            lasting: (0..dies).map(lasting).collect(),
            read_spread: Spread::new(u64::from(spec.read_deviation)).into(),
            write_spread: Spread::new(u64::from(spec.write_deviation)).into(),
            rewrite_spread: Spread::new(u64::from(spec.rewrite_deviation)),
            rewrites: Odds::per_million(u64::from(spec.rewrites)),
            draws: Draws::new(seed.split("operations")),
            reads: 0,
            writes: 0,
            spec,
        }
    }

    /// Has what operations draw from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.draws.join(seed);
    }

    /// Reads the access of this number, starting at `ready` at the earliest; when it is with the controller.
    #[inline]
    pub fn read(&mut self, now: Nanos, ready: Nanos, access: u64) -> Nanos {
        let die = self.die_count.split(access).1 as usize;
        let LastingDie { read, channel, .. } = self.lasting[die];
        let sensing = self.read_spread.vary(&mut self.draws, read);
        let start = self.dies[die].max(ready);
        let done = self.channels[channel as usize].reserve(now, start + sensing, self.transfer);
        self.dies[die] = done;
        self.reads += 1;
        done
    }

    /// Writes the access of this number, whose data is there at `ready`; when it is in the cells.
    #[inline]
    pub fn write(&mut self, now: Nanos, ready: Nanos, access: u64) -> Nanos {
        let die = self.die_count.split(access).1 as usize;
        let LastingDie { write, channel, .. } = self.lasting[die];
        let mut writing = self.write_spread.vary(&mut self.draws, write);
        if self.rewrites != Odds::NEVER && self.draws.happens(self.rewrites) {
            writing += self.rewrite_spread.vary(&mut self.draws, self.spec.rewrite);
        }
        let loaded = self.channels[channel as usize].reserve(now, ready, self.transfer).max(self.dies[die]);
        let share = share_for(&self.writing, loaded);
        let done = self.writing[share].max(loaded) + writing;
        self.writing[share] = done;
        self.dies[die] = done;
        self.writes += 1;
        done
    }

    /// Stops everything, to go on at `from`.
    pub fn restart(&mut self, from: Nanos) {
        self.dies.fill(from);
        self.writing.fill(from);
        self.channels.fill(Calendar::default());
    }
}

/// The share of the current that has been free for the shortest time by then; if none is, the one that is free first.
#[inline]
fn share_for(free: &[Nanos], then: Nanos) -> usize {
    // The nearer, the less, and whatever is free by then is less than what is not.
    let distance = |free: &Nanos| {
        let since = then.as_nanos().wrapping_sub(free.as_nanos());
        since ^ ((since as i64 >> 63) as u64 >> 1)
    };
    first_least(free.iter().map(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of two dies; 1 µs to read, 10 µs to write, half a microsecond to transfer.
    const SPEC: MediaSpec = MediaSpec {
        channels: 2,
        dies_per_channel: 2,
        access: Bytes::new(512),
        read: Nanos::from_micros(1),
        write: Nanos::from_micros(10),
        channel: Rate::from_megabytes_per_second(1_024),
        writes_at_once: 2,
        rewrites: 0,
        rewrite: Nanos::ZERO,
        rewrite_deviation: 0,
        die_deviation: 0,
        read_deviation: 0,
        write_deviation: 0,
    };

    fn media(spec: MediaSpec) -> Media {
        Media::new(spec, Seed::new(1))
    }

    fn us(nanos: Nanos) -> f64 {
        nanos.as_nanos() as f64 / 1e3
    }

    #[test]
    fn dies_read_side_by_side_and_share_their_channel() {
        let mut media = media(SPEC);
        let ends: Vec<f64> = (0..5).map(|access| us(media.read(Nanos::ZERO, Nanos::ZERO, access))).collect();
        // The third shares the channel of the first, the fifth its die.
        assert_eq!(ends, [1.5, 1.5, 2.0, 2.0, 3.0]);
    }

    #[test]
    fn only_so_much_is_written_at_once() {
        let mut media = media(SPEC);
        let ends: Vec<f64> = (0..4).map(|access| us(media.write(Nanos::ZERO, Nanos::ZERO, access))).collect();
        assert_eq!(ends, [10.5, 10.5, 20.5, 20.5]);
        assert_eq!((media.reads, media.writes), (0, 4));
    }

    #[test]
    fn the_share_that_is_free_last_before_a_moment_is_taken_and_else_the_first_after_it() {
        let free = [30, 10, 20, 40].map(Nanos::from_micros);
        for (then, share) in [(5, 1), (10, 1), (15, 1), (20, 2), (29, 2), (35, 0), (99, 3)] {
            assert_eq!(share_for(&free, Nanos::from_micros(then)), share, "at {then} us");
        }
        assert_eq!(share_for(&[Nanos::from_nanos(7); 3], Nanos::ZERO), 0, "the first of those alike");
    }

    #[test]
    fn as_many_writes_are_repeated_as_the_odds_say_and_take_longer() {
        let spec = MediaSpec { rewrites: 20_000, rewrite: Nanos::from_micros(100), rewrite_deviation: 300_000, ..SPEC };
        let mut media = media(spec);
        let (mut repeated, mut beside) = (0, 0.0);
        for index in 0..50_000 {
            let at = Nanos::from_millis(index);
            let took = us(media.write(at, at, index) - at);
            assert!(took == 10.5 || took > 20.0, "{took}");
            repeated += u32::from(took > 20.0);
            beside += took - 10.5;
        }
        assert!((900..1_100).contains(&repeated), "{repeated} of 50,000");
        assert!((beside / f64::from(repeated) - 100.0).abs() < 5.0, "{}", beside / f64::from(repeated));
    }

    #[test]
    fn a_die_that_is_made_slow_stays_so_and_another_specimen_has_others() {
        let spec = MediaSpec { die_deviation: 100_000, ..SPEC };
        let lone = |seed: u64| {
            let mut media = Media::new(spec, Seed::new(seed));
            [0, 1, 2, 3, 0].map(|access| {
                let at = media.dies.iter().copied().max().unwrap();
                media.read(at, at, access) - at
            })
        };
        let first = lone(1);
        assert_eq!((first, first[0]), (lone(1), first[4]));
        assert!(first[0] != first[1] && lone(2) != first);
    }
}
