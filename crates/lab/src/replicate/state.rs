//! The states of drives that published experiments begin from.

use block::{Bytes, Lba, Nanos, Seed, separated};
use drive::preset::{Preset, Spec};
use drive::{Device, Drive};
use engine::{VirtualError, run_virtual};
use workload::{Distribution, Pattern, Stop, Workload};

use crate::{StateCache, conditioning};

/// The queue depth at which a drive is filled and overwritten.
const DEPTH: u32 = 32;
const FILL_BLOCK: Bytes = Bytes::from_mib(1);
/// The same where every write is simulated, which takes sixteen times fewer of them.
const FILL_BLOCK_SIMULATED: Bytes = Bytes::from_mib(16);
const OVERWRITE_BLOCK: Bytes = Bytes::from_kib(4);

/// So many random writes are simulated at most where a state is not constructed: as measured on an AMD EPYC, half a minute.
const WRITES_MAX: u64 = 20_000_000;
/// The same of shingled disks, which take 0.1 ms for each once the media cache is full.
const WRITES_MAX_SHINGLED: u64 = 1_000_000;
/// So many pages are programmed by them at most: as measured, about a minute of flash of which blocks are mapped.
const PAGES_MAX: f64 = 1e9;
/// The writes that tell how long the others will take.
const PILOT: u64 = 256;

/// What writes before leave behind on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    /// Nothing but time: disks and DRAM.
    Nothing,
    /// A state that is reached quickly, of a drive that is scaled down; whether it is read only where it was written.
    Scaled { is_flash: bool },
    /// A state to which every write has to be simulated, so many at most; whether it is read only where it was written.
    Slow { is_flash: bool, most: u64 },
    /// How far each zone is written.
    Zones,
}

impl Trace {
    fn of(preset: &Preset) -> Self {
        let (spec, is_array) = match &preset.spec {
            Spec::Rig(rig) => (&rig.member.spec, rig.drives > 1),
            spec => (spec, false),
        };
        match spec {
            Spec::Flash(spec) if spec.zones.is_some() => Self::Zones,
            Spec::Disk(spec) if spec.zones.is_some() => Self::Zones,
            Spec::Disk(spec) if spec.shingled.is_some() => Self::Slow { is_flash: false, most: WRITES_MAX_SHINGLED },
            Spec::Hybrid(_) => Self::Slow { is_flash: true, most: WRITES_MAX },
            Spec::Flash(_) if is_array => Self::Slow { is_flash: true, most: WRITES_MAX },
            Spec::Flash(_) => Self::Scaled { is_flash: true },
            Spec::Pcm(_) => Self::Scaled { is_flash: false },
            _ => Self::Nothing,
        }
    }

    /// How often it is overwritten where nothing is said: what was never written is not read of flash and of zones.
    fn unsaid(self) -> Option<u32> {
        match self {
            Self::Scaled { is_flash } | Self::Slow { is_flash, .. } => is_flash.then_some(0),
            Self::Zones => Some(0),
            Self::Nothing => None,
        }
    }
}

/// A drive in the state that experiments begin from. This is the one place where such states are made.
pub(super) struct DriveState<'c> {
    device: Device,
    trace: Trace,
    cache: Option<&'c StateCache>,
    /// All that was done to it.
    recipe: String,
    /// How much was written at random since it was filled, in hundredths of the capacity; none before.
    overwritten: Option<u32>,
    write_amplification: Option<f64>,
}

impl<'c> DriveState<'c> {
    pub(super) fn new(preset: &Preset, cache: Option<&'c StateCache>) -> Self {
        let (device, trace) = (preset.build_in_host(), Trace::of(preset));
        Self { device, trace, cache, recipe: String::new(), overwritten: None, write_amplification: None }
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Programmed over written pages of the last random overwrite; none where there was none.
    pub(super) fn write_amplification(&self) -> Option<f64> {
        self.write_amplification
    }

    /// Fills the drive in order and overwrites it at random by so many hundredths of its capacity; where nothing is said, as
    /// [`Trace::unsaid`] has it. `filled` keeps the drive as it is once filled.
    ///
    /// # Errors
    /// Why it cannot come to that state, and what to do.
    pub(super) fn reach(
        &mut self,
        overwrites: Option<u32>,
        distribution: &Distribution,
        filled: &mut Option<Device>,
        seed: Seed,
    ) -> Result<(), String> {
        if self.trace == Trace::Nothing {
            return Ok(());
        }
        let Some(percent) = overwrites.or(self.trace.unsaid()) else { return Ok(()) };
        let stopped = |error: VirtualError| format!("the state cannot be reached: {error}");
        if percent > 0 && self.trace == Trace::Zones {
            return Err(
                "its zones are written in order and cannot be overwritten at random; leave `overwrites` out, and \
                        `state`, for a drive that is filled once, in order"
                    .to_owned(),
            );
        }
        self.fill(filled, seed).map_err(stopped)?;
        let Some((workload, seed)) = self.random_writes(percent, distribution, seed) else { return Ok(()) };
        if let Trace::Slow { most, .. } = self.trace {
            self.afford(percent, &workload, most, seed)?;
        }
        self.overwrite(percent, &workload, seed).map_err(stopped)
    }

    /// Writes the whole drive in order, once.
    fn fill(&mut self, filled: &mut Option<Device>, seed: Seed) -> Result<(), VirtualError> {
        if self.overwritten.is_some() {
            return Ok(());
        }
        self.overwritten = Some(0);
        self.recipe = format!("filled, seed {seed}");
        if let Some(filled) = filled {
            self.device.clone_from(filled);
            return Ok(());
        }
        let capacity = self.device.shape().capacity;
        let is_simulated = !self.device.can_fill(Lba::at(Bytes::ZERO), Lba::at(capacity));
        let large = if is_simulated { FILL_BLOCK_SIMULATED } else { FILL_BLOCK };
        let whole = capacity.round_down(large);
        for (offset, length, block) in [(Bytes::ZERO, whole, large), (whole, capacity - whole, capacity - whole)] {
            let stop = Stop::after_bytes(length);
            let (pattern, size) = (Pattern::Write, Some(length));
            let workload = Workload { pattern, block, queue_depth: DEPTH, offset, size, stop, ..Workload::default() };
            if length > Bytes::ZERO {
                self.write(&workload, seed.split("fill"))?;
            }
        }
        *filled = Some(self.device.clone());
        Ok(())
    }

    /// Writes of 4 KiB at random until so many hundredths of the capacity have been since it was filled, and their seed;
    /// none where as many have been.
    fn random_writes(&self, percent: u32, distribution: &Distribution, seed: Seed) -> Option<(Workload, Seed)> {
        let done = self.overwritten.expect("a drive is filled before it is overwritten");
        let bytes = self.device.shape().capacity.get() / 100 * u64::from(percent.saturating_sub(done));
        let bytes = Bytes::new(bytes).round_down(OVERWRITE_BLOCK);
        let workload = Workload {
            pattern: Pattern::RandWrite,
            block: OVERWRITE_BLOCK,
            queue_depth: DEPTH,
            distribution: distribution.clone(),
            stop: Stop::after_bytes(bytes),
            ..Workload::default()
        };
        (bytes > Bytes::ZERO).then(|| (workload, seed.split("overwrite").number(u64::from(done))))
    }

    /// That so many writes are soon simulated, by the first of them.
    ///
    /// # Errors
    /// How long the drive would take itself, and how much can be asked for.
    fn afford(&self, percent: u32, workload: &Workload, most: u64, seed: Seed) -> Result<(), String> {
        let writes = workload.stop.bytes.unwrap_or_default().div(OVERWRITE_BLOCK);
        let mut pilot = self.device.clone();
        let (began, before) = (pilot.now(), pilot.counters());
        let first = Workload { stop: Stop::after_bytes(OVERWRITE_BLOCK.times(PILOT.min(writes))), ..workload.clone() };
        run_virtual(&mut pilot, &first, seed).map_err(|error| format!("the state cannot be reached: {error}"))?;
        let pages = (pilot.counters() - before).write_amplification().unwrap_or(1.0).max(1.0);
        let most = most.min((PAGES_MAX / pages) as u64);
        if writes <= most {
            return Ok(());
        }
        let each = pilot.now().since(began).as_secs_f64() / PILOT.min(writes) as f64;
        let hours = (each * writes as f64 / 3600.0).ceil() as u64;
        let hundredths = most * OVERWRITE_BLOCK.get() / (self.device.shape().capacity.get() / 100).max(1);
        let instead = match hundredths {
            0 => "give `overwrites = 0`, for a drive that is filled once, in order".to_owned(),
            most => format!("give `overwrites` of at most {}, for the state that so many leave", most as f64 / 100.0),
        };
        Err(format!(
            "{} overwrites are {} random writes, about {} h of the drive's time, and of this kind of drive each is simulated; \
             {instead}",
            f64::from(percent) / 100.0,
            separated(&writes.to_string()),
            separated(&hours.to_string()),
        ))
    }

    /// Writes what is to be written before so many hundredths of the capacity have been.
    fn overwrite(&mut self, percent: u32, workload: &Workload, seed: Seed) -> Result<(), VirtualError> {
        let before = self.device.counters();
        self.recipe += &format!("; {workload:?}, seed {seed}");
        match self.cache.and_then(|cache| cache.find(&self.recipe, &self.device)) {
            Some(found) => self.device = found,
            None => {
                self.write(workload, seed)?;
                self.cache.iter().for_each(|cache| cache.keep(&self.recipe, &self.device));
            }
        }
        self.overwritten = Some(percent);
        self.write_amplification = (self.device.counters() - before).write_amplification();
        Ok(())
    }

    /// Leaves the device as a workload does once all of it has reached the media.
    fn write(&mut self, workload: &Workload, seed: Seed) -> Result<(), VirtualError> {
        conditioning::write(&mut self.device, workload, seed)?;
        conditioning::rest(&mut self.device, Nanos::ZERO);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tails::scaled;
    use super::*;

    fn reached(name: &str, overwrites: Option<u32>) -> Result<DriveState<'static>, String> {
        let mut state = DriveState::new(&Preset::find(name).unwrap(), None);
        state.reach(overwrites, &Distribution::Uniform, &mut None, Seed::new(1)).map(|()| state)
    }

    #[test]
    fn write_amplification_does_not_change_with_the_scale() {
        let preset = Preset::find("x25-m?capacity.user=2GiB").unwrap();
        let factor = |blocks| {
            let (small, scale) = scaled(&preset, Some(blocks)).unwrap();
            assert!(scale.is_some(), "there are more than {blocks} blocks");
            let mut state = DriveState::new(&small, None);
            for percent in [200, 300] {
                state.reach(Some(percent), &Distribution::Uniform, &mut None, Seed::new(1)).unwrap();
            }
            state.write_amplification.unwrap()
        };
        let (half, whole) = (factor(48), factor(96));
        assert!((half / whole - 1.0).abs() < 0.05, "{half} and {whole}");
    }

    #[test]
    fn what_keeps_no_state_is_written_nothing() {
        for name in ["nearline-7200", "wd740gd", "solid-data-dram"] {
            for overwrites in [None, Some(0), Some(300)] {
                let written = reached(name, overwrites).unwrap().device.counters().host_written;
                assert_eq!(written, Bytes::ZERO, "{name}: {overwrites:?}");
            }
        }
    }

    #[test]
    fn zones_are_filled_in_order_and_not_overwritten_at_random() {
        for name in ["zn540-1tb", "zn540-1tb?host=nvme-host"] {
            let state = reached(name, None).unwrap();
            assert!(state.device.zones().iter().all(|zone| zone.pointer == zone.writable), "{name}");
            let why = reached(name, Some(100)).err().expect("zones are written in order");
            assert!(why.contains("cannot be overwritten at random") && why.contains("leave `overwrites` out"), "{why}");
        }
    }

    #[test]
    fn what_would_take_days_is_refused_with_an_estimate_and_what_can_be_asked_for() {
        let state = reached("ocz-core-64", None).unwrap();
        assert!(state.device.counters().host_written > Bytes::ZERO, "flash of which blocks are mapped is filled, too");
        for (name, most) in [
            ("ocz-core-64", "at most 0.01"),
            ("toms-x25e-16?drive.capacity.user=8GiB", "at most 0.5"),
            ("archive-8tb", "give `overwrites = 0`"),
        ] {
            let why = reached(name, Some(100)).err().expect("it takes too long");
            assert!(why.starts_with("1 overwrites are") && why.contains(" h of the drive's time"), "{name}: {why}");
            assert!(why.contains(most), "{name}: {why}");
        }
    }
}
