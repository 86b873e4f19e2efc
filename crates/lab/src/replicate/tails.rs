//! Published tails and rates, beside what simulated drives do under the same conditions.

use std::borrow::Cow;

use block::{Bytes, Nanos, Seed};
use drive::flash::FlashSpec;
use drive::preset::{Preset, PresetError, Spec};
use drive::{Device, Drive, Observed};
use engine::{Job, Measurement, OnError, VirtualError, run_virtual_together};
use plan::replicate::digest;
use plan::replicate::qos::{Measure, Qos, QosAnswer, QosPoint, QosRun, QosTarget, WINDOW};
use rayon::prelude::*;
use workload::{Distribution, Workload};

use super::state::DriveState;
use crate::{StateCache, Watch};

/// Blocks of each plane that a drive is scaled down to; docs/calibration.md has the figures of a drive at several scales.
const BLOCKS: u32 = 384;
/// As many where so many blocks would be more than [`CAPACITY_MAX`]: rates are then up to a tenth off.
const BLOCKS_LEAST: u32 = 48;
/// Blocks of each plane beyond its share of the data, at least: of fewer, those that are open would be most.
const SPARE_LEAST: u64 = 4;
/// A scaled drive holds no more unless [`BLOCKS_LEAST`] do; more would take minutes to overwrite.
const CAPACITY_MAX: Bytes = Bytes::from_gib(40);
/// It holds no less: its write buffer must stay a small part of it.
const CAPACITY_LEAST: Bytes = Bytes::from_gib(8);
/// So many times its write buffer.
const BUFFERS: u64 = 100;

/// What is to be simulated, and how.
#[derive(Clone, Debug)]
pub struct QosRequest<'q> {
    /// What was published.
    pub qos: &'q Qos,
    /// For each of its drives what it is simulated on, or why it is not; none to leave it out.
    pub drives: Vec<Option<Result<Preset, String>>>,
    /// Random seed.
    pub seed: Seed,
    /// Runs of a tenth of the time: tails are not resolved, all else is less sure.
    pub is_quick: bool,
    /// Blocks of each plane that drives are scaled down to; none for as many as suit the drive.
    pub blocks: Option<u32>,
    /// Where states are looked for that were made before; none to make all.
    pub states: Option<StateCache>,
}

/// What one drive gave.
struct Simulated {
    target: QosTarget,
    /// The answers of its groups, with their places.
    answers: Vec<(usize, Vec<QosAnswer>)>,
}

/// One workload of a group, with the group's place and its own.
type Task<'q> = (usize, usize, Cow<'q, Measure>);

/// What a workload gave: its jobs over all runs, and the requests of all jobs in each [`WINDOW`] of each run.
/// Or why it gave nothing.
type Taken = Result<(Vec<Measurement>, Vec<Vec<u64>>), String>;

/// Simulates every group of the drives that are asked for; drives, and groups on clones of a drive's state, are shared
/// out over all processors. The same request gives the same, bit for bit.
pub fn replicate_qos(request: &QosRequest, watch: &dyn Watch) -> QosRun {
    let qos = request.qos;
    let found = |drive: usize| request.drives[drive].as_ref().and_then(|preset| preset.as_ref().ok());
    let tasks = |drive| qos.of_drive(drive).map(|(_, group)| group.measures.len() as u64).sum::<u64>();
    let all: u64 = (0..qos.drives.len()).filter(|drive| found(*drive).is_some()).map(tasks).sum();
    watch.begin(Nanos::from_secs(all));
    let simulated: Vec<Option<Result<Simulated, String>>> = (0..qos.drives.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|drive| {
            let preset = request.drives[drive].as_ref()?;
            Some(preset.clone().and_then(|preset| of_drive(request, drive, &preset, watch)))
        })
        .collect();
    let mut run = QosRun { seed: request.seed, is_quick: request.is_quick, drives: Vec::new(), answers: Vec::new() };
    let unmeasured = |drive: usize, why: &str| -> Vec<(usize, Vec<QosAnswer>)> {
        let answer = |point: &QosPoint| QosAnswer::new(point, Err(why.to_owned()));
        qos.of_drive(drive).map(|(place, group)| (place, group.points.iter().map(answer).collect())).collect()
    };
    run.answers.resize(qos.groups.len(), Vec::new());
    for (drive, simulated) in simulated.into_iter().enumerate() {
        let (target, answers) = match simulated {
            None => (None, unmeasured(drive, "it was not selected")),
            Some(Err(why)) => (Some(Err(why.clone())), unmeasured(drive, &why)),
            Some(Ok(done)) => (Some(Ok(done.target)), done.answers),
        };
        run.drives.push(target);
        for (place, answers) in answers {
            run.answers[place] = answers;
        }
    }
    run
}

/// All groups of one drive.
fn of_drive(request: &QosRequest, drive: usize, preset: &Preset, watch: &dyn Watch) -> Result<Simulated, String> {
    let (qos, seed) = (request.qos, request.seed.split(&request.qos.drives[drive].id));
    let (scaled, blocks) = scaled(preset, request.blocks).map_err(|error| error.to_string())?;
    let share = blocks.map_or(1.0, |(now, before)| f64::from(now) / f64::from(before));
    // A drive that is scaled down is further on after the same time.
    let is_flash = matches!(member(preset), Spec::Flash(_));
    let aging = |measure: &'_ Measure| (is_flash && measure.ages()).then(|| measure.aging(share, request.is_quick));
    let tasks = qos.of_drive(drive).flat_map(|(place, group)| {
        let measures = group.measures.iter().enumerate();
        measures.map(move |(at, measure)| (place, at, aging(measure).map_or(Cow::Borrowed(measure), Cow::Owned)))
    });
    let mut tasks: Vec<Task> = tasks.collect();
    // What was written evenly first, then less written before more.
    tasks.sort_by_key(|(place, at, measure)| (spread(measure), measure.overwrites, *place, *at));
    let mut taken: Vec<(usize, usize, Taken)> = Vec::new();
    let mut write_amplification = None;
    let mut filled = None;
    for alike in tasks.chunk_by(|one, other| spread(&one.2) == spread(&other.2)) {
        let mut state = DriveState::new(&scaled, request.states.as_ref());
        for level in alike.chunk_by(|one, other| one.2.overwrites == other.2.overwrites) {
            let (place, _, first) = &level[0];
            watch.step(&format!("{}: {}", preset.name, qos.groups[*place].id));
            let reached = state.reach(first.overwrites, &first.distribution, &mut filled, seed);
            write_amplification = state.write_amplification().or(write_amplification);
            let measured = |(place, at, measure): &Task| {
                let seed = seed.split(&qos.groups[*place].id).number(*at as u64);
                let taken = reached.clone().and_then(|()| take(state.device(), measure, seed, request.is_quick, share));
                watch.advance(Nanos::from_secs(1));
                (*place, *at, taken)
            };
            taken.par_extend(level.par_iter().with_max_len(1).map(measured));
        }
    }
    let of = |place: usize, point: &QosPoint| {
        let at = point.measure.clone()?;
        let taken = taken.iter().find(|(of, number, _)| (*of, *number) == (place, at));
        let (jobs, runs) = taken.expect("every workload was run").2.as_ref().map_err(String::clone)?;
        Ok(point.quantity.of(jobs, runs))
    };
    let answer = |place| move |point: &QosPoint| QosAnswer::new(point, of(place, point));
    let answers = qos.of_drive(drive).map(|(place, group)| (place, group.points.iter().map(answer(place)).collect()));
    let target = QosTarget {
        name: preset.name.clone(),
        title: preset.title.clone(),
        host: preset.host_name().map_err(|error| error.to_string())?,
        digest: digest(preset),
        blocks,
        write_amplification,
    };
    Ok(Simulated { answers: answers.collect(), target })
}

/// Where a state's random writes fall; even ones first.
fn spread(measure: &Measure) -> String {
    match &measure.distribution {
        Distribution::Uniform => String::new(),
        other => other.to_string(),
    }
}

/// Runs what `measure` says as many times as it says, on clones of `device` that draw differently.
fn take(device: &Device, measure: &Measure, seed: Seed, is_quick: bool, share: f64) -> Taken {
    let timed =
        |(name, workload): &(&'static str, Workload)| (*name, timed(workload, measure.shrinks, is_quick, share));
    let jobs: Vec<(&str, Workload)> = measure.jobs.iter().map(timed).collect();
    let (mut measured, counts) = run_once(&mut device.clone(), &jobs, seed).map_err(|error| told(&error))?;
    let mut runs = vec![counts];
    for run in 1..measure.runs {
        let (mut clone, seed) = (device.clone(), seed.number(u64::from(run)));
        clone.draw_from(seed);
        let (next, counts) = run_once(&mut clone, &jobs, seed).map_err(|error| told(&error))?;
        measured.iter_mut().zip(&next).for_each(|(before, next)| before.append(next));
        runs.push(counts);
    }
    Ok((measured, runs))
}

/// Why a run gave nothing, with what a file of figures can say: its messages name options of other commands.
fn told(error: &VirtualError) -> String {
    match error {
        error if error.counted_nothing() => {
            "no request was completed in the time that it is run for; leave out `--quick`, or check the conditions"
                .to_owned()
        }
        VirtualError::Zones(misfit) => {
            let misfit = misfit.to_string();
            let found = misfit.split_once(';').map_or(&*misfit, |(found, _)| found);
            format!("its zones do not take this workload: {found}")
        }
        error => error.to_string(),
    }
}

/// Runs these side by side; what each measured, and the requests of all in each [`WINDOW`].
fn run_once(
    device: &mut Device,
    jobs: &[(&str, Workload)],
    seed: Seed,
) -> Result<(Vec<Measurement>, Vec<u64>), VirtualError> {
    let first = &jobs[0].1;
    let from = device.now() + first.ramp;
    let windows = first.stop.time.map_or(0, |time| time.as_nanos() / WINDOW.as_nanos()) as usize;
    let mut counts = vec![0; windows];
    let mut seen = Observed::new(device, |now: Nanos, _, _| {
        if now >= from
            && let Some(count) = counts.get_mut((now.since(from).as_nanos() / WINDOW.as_nanos()) as usize)
        {
            *count += 1;
        }
    });
    let jobs: Vec<Job> =
        jobs.iter().map(|(name, workload)| Job { name, workload, seed: seed.split(name), observer: None }).collect();
    let measured = run_virtual_together(&mut seen, &jobs, OnError::Stop)?;
    Ok((measured, counts))
}

/// The workload with the times that it is run for.
fn timed(workload: &Workload, shrinks: bool, is_quick: bool, share: f64) -> Workload {
    let by = |time: Nanos, factor: f64| Nanos::from_nanos((time.as_nanos() as f64 * factor) as u64);
    let mut workload = workload.clone();
    let factor = if shrinks {
        share
    } else if is_quick {
        0.1
    } else {
        1.0
    };
    if shrinks {
        workload.ramp = by(workload.ramp, share);
    }
    workload.stop.time = workload.stop.time.map(|time| by(time, factor).max(Nanos::from_millis(20)));
    workload
}

/// The drive with `blocks` blocks in each plane and all else as it is, and the blocks of a plane now and before; none
/// where it has no more, or no flash.
///
/// Free blocks that each plane keeps for collection do not shrink with it: so that data fills the rest as densely as
/// before, the capacity shrinks by the blocks beside those. Of few blocks a plane has none or several that are bad from the
/// start, which would make it much slower than the others: so there are none, and as much more data.
pub(super) fn scaled(preset: &Preset, blocks: Option<u32>) -> Result<(Preset, Option<(u32, u32)>), PresetError> {
    let drive = member(preset);
    let Spec::Flash(spec) = drive else { return Ok((written_in_place(preset, drive)?, None)) };
    let before = spec.geometry.blocks_per_plane;
    let blocks = blocks.unwrap_or_else(|| suitable(spec));
    // Of a drive with zones, the addresses are not what its flash holds.
    if before <= blocks || spec.zones.is_some() {
        return Ok((preset.clone(), None));
    }
    let kept = kept(spec);
    let bad = spec.wear.map_or(0.0, |wear| f64::from(wear.factory_bad_ppm) / 1e6);
    let share = f64::from(blocks - kept) / (f64::from(before) * (1.0 - bad) - f64::from(kept));
    let user = Bytes::new((spec.capacity.get() as f64 * share) as u64).round_down(Bytes::from_kib(64));
    let raw = spec.geometry.block().times(u64::from(spec.geometry.units()) * u64::from(blocks));
    let spare = (u128::from(raw.get()) - u128::from(user.get())) * 1_000_000 / u128::from(user.get());
    let percent = format!("{}.{:04}%", spare / 10_000, spare % 10_000);
    let mut changes = format!("drive.capacity.user={} B&drive.capacity.spare={percent}", user.get());
    if bad > 0.0 {
        changes += "&drive.wear.factory_bad=0%";
    }
    // What is sized by the drive shrinks with it.
    let smaller = |size: u64| (size as f64 * f64::from(blocks) / f64::from(before)).ceil() as u64;
    if let Some(slc) = spec.slc {
        let row = spec.geometry.block().get() / u64::from(slc.bits) * u64::from(spec.geometry.units());
        for (field, blocks) in [("fixed", slc.fixed), ("dynamic", slc.dynamic)] {
            changes += &format!("&drive.slc.{field}={} B", smaller(u64::from(blocks)) * row);
        }
    }
    if let Some(map) = spec.map_cache {
        changes += &format!("&drive.map.cache={} B", smaller(map.size.get()).next_multiple_of(map.page.get()));
    }
    Ok((preset.clone().changed(&changes)?, Some((blocks, before))))
}

/// The drive itself, alone or in a host.
fn member(preset: &Preset) -> &Spec {
    match &preset.spec {
        Spec::Rig(rig) => &rig.member.spec,
        spec => spec,
    }
}

/// A drive without flash as it is; of memory that is written in place, one that is soon written, since its size is no part of
/// what it does.
fn written_in_place(preset: &Preset, drive: &Spec) -> Result<Preset, PresetError> {
    match drive {
        Spec::Pcm(spec) if spec.capacity > CAPACITY_LEAST => {
            preset.clone().changed(&format!("drive.media.capacity={} B", CAPACITY_LEAST.get()))
        }
        _ => Ok(preset.clone()),
    }
}

/// Blocks that each plane keeps free for collection.
fn kept(spec: &FlashSpec) -> u32 {
    spec.collection.start + 1
}

/// As many blocks of each plane as suit a drive: enough for its figures not to change, few enough to be quick.
fn suitable(spec: &FlashSpec) -> u32 {
    let row = spec.capacity.get() / u64::from(spec.geometry.blocks_per_plane).max(1);
    let buffer = spec.geometry.page.times(u64::from(spec.buffer_pages));
    let most = (CAPACITY_MAX.get() / row).clamp(u64::from(BLOCKS_LEAST), u64::from(BLOCKS));
    let least = CAPACITY_LEAST.max(buffer.times(BUFFERS)).get().div_ceil(row);
    let roomy = u64::from(kept(spec))
        + SPARE_LEAST
        + (SPARE_LEAST * 1_000_000).div_ceil(spec.geometry.spare_over(spec.capacity).max(1));
    u32::try_from(most.max(least).max(roomy)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use plan::replicate::qos::Standing;
    use testkit::figures::{drive, experiment};

    use super::*;

    fn geometry(preset: &Preset) -> (u32, u64, Bytes) {
        let Spec::Flash(spec) = &preset.spec else { panic!("a flash drive") };
        (spec.geometry.blocks_per_plane, spec.geometry.spare_over(spec.capacity), spec.capacity)
    }

    #[test]
    fn a_scaled_drive_has_so_many_blocks_and_keeps_its_free_ones_apart() {
        for name in ["p4500-1tb", "x25-m", "990-pro"] {
            let preset = Preset::find(name).unwrap();
            let (small, blocks) = scaled(&preset, Some(64)).unwrap();
            let (before, spare, capacity) = geometry(&preset);
            let (now, small_spare, small_capacity) = geometry(&small);
            assert_eq!((now, blocks), (64, Some((64, before))), "{name}");
            let (Spec::Flash(spec), Spec::Flash(of_small)) = (&preset.spec, &small.spec) else { panic!("flash") };
            let kept = f64::from(spec.collection.start + 1);
            let bad = spec.wear.map_or(0.0, |wear| f64::from(wear.factory_bad_ppm) / 1e6);
            let dense = |capacity: Bytes, blocks: f64| capacity.get() as f64 / (blocks - kept);
            let ratio = dense(small_capacity, f64::from(now)) / dense(capacity, f64::from(before) * (1.0 - bad));
            assert_eq!(of_small.wear.map_or(0, |wear| wear.factory_bad_ppm), 0, "{name}: few blocks are all good");
            assert!((ratio - 1.0).abs() < 0.001, "{name}: {ratio}");
            assert!(small_spare > spare, "{name}: {small_spare} and {spare} ppm");
            assert_eq!((of_small.nand, of_small.geometry.units()), (spec.nand, spec.geometry.units()), "{name}");
            let share = 64.0 / f64::from(before);
            if let Some((slc, small)) = spec.slc.zip(of_small.slc) {
                assert_eq!(small.dynamic, (f64::from(slc.dynamic) * share).ceil() as u32, "{name}");
            }
            if let Some((map, small)) = spec.map_cache.zip(of_small.map_cache) {
                assert!(
                    small.size.get().abs_diff((map.size.get() as f64 * share) as u64) <= 2 * map.page.get(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_small_drive_and_a_disk_are_left_as_they_are() {
        for name in ["x25-m?capacity.user=1GiB&spare=50%", "raptor-150"] {
            let preset = Preset::find(name).unwrap();
            assert_eq!(scaled(&preset, Some(4096)).unwrap(), (preset, None), "{name}");
        }
    }

    #[test]
    fn blocks_are_as_many_as_keep_a_drive_quick_and_its_buffer_small() {
        let of = |name: &str| {
            let Spec::Flash(spec) = Preset::find(name).unwrap().spec else { panic!("a flash drive") };
            (suitable(&spec), spec)
        };
        let row = |spec: &FlashSpec| spec.capacity.get() / u64::from(spec.geometry.blocks_per_plane);
        let (blocks, spec) = of("p4500-1tb");
        let held = row(&spec) * u64::from(blocks);
        assert!((39 << 30..=40 << 30).contains(&held) && blocks > BLOCKS_LEAST, "{blocks} blocks of {held} B");
        assert_eq!(of("p4500-1tb?pages_per_block=512").0, BLOCKS);
        let (blocks, spec) = of("p4500-1tb?pages_per_block=16384");
        assert_eq!(blocks, BLOCKS_LEAST, "{} of a row", Bytes::new(row(&spec)));
        let (blocks, spec) = of("p4500-1tb?pages_per_block=16384&spare=5%");
        let spare = f64::from(blocks) * spec.geometry.spare_over(spec.capacity) as f64 / 1e6;
        assert!(blocks > BLOCKS_LEAST && spare > 4.0, "{blocks} blocks, {spare} of them spare");
        let in_place = scaled(&Preset::find("optane-p4800x").unwrap(), None).unwrap();
        assert_eq!((in_place.0.capacity(), in_place.1), (CAPACITY_LEAST, None));
        let large = of("p4500-1tb?buffer.size=1GiB").0;
        assert!(large > 500, "{large} blocks hold a hundred times the buffer");
    }

    /// Experiments on a drive and on one that there is not.
    fn figures() -> String {
        let load = "rw = \"randrw\", bs = 4096, overwrites = 1, offered_total_iops = 10600";
        let deep = "rw = \"randwrite\", bs = 4096, qd = 4, workers = 2, overwrites = 0.5, distribution = \"zipf:0.8\"";
        let writes = "{ q = \"read p50\", v = 64 }, { q = \"achieved writes/s\", v = 5000, unit = \"IOPS\" }, \
                      { q = \"read p99.999\", v = 64 }";
        let rates = "{ q = \"mean\", v = 64 }, { q = \"IOPS\", v = 60000, unit = \"IOPS\" }, \
                     { q = \"min IOPS (0.5 s samples)\", v = 64, unit = \"IOPS\" }";
        let any = "rw = \"randread\", bs = 4096, qd = 1, overwrites = 0";
        [
            drive("d", "x25-m", "D"),
            drive("lost", "lost", "L"),
            experiment("d/load", "d", "fit", load, writes),
            experiment("d/deep", "d", "check", deep, rates),
            experiment("lost/any", "lost", "check", any, "{ q = \"p50\", v = 64 }"),
        ]
        .concat()
    }

    fn run(seed: u64) -> QosRun {
        run_with(seed, None)
    }

    fn run_with(seed: u64, states: Option<StateCache>) -> QosRun {
        let qos = plan::replicate::qos::parse(&figures()).unwrap();
        let tiny = Preset::find("optane-p4800x?media.capacity=64MiB").unwrap();
        let drives = vec![Some(Ok(tiny)), Some(Err("no such drive".to_owned()))];
        let request = QosRequest { qos: &qos, drives, seed: Seed::new(seed), is_quick: true, blocks: None, states };
        replicate_qos(&request, &crate::Silent)
    }

    #[test]
    fn a_small_drive_answers_every_point_and_one_seed_tells_one_story() {
        let done = run(1);
        assert_eq!(done, run(1));
        assert_ne!(done.answers, run(2).answers);
        let value = |group: usize, at: usize| done.answers[group][at].simulated.unwrap().value;
        assert!(value(0, 1) > 4_000.0, "half of the probe's requests and nearly all of 600 others are writes");
        assert!(matches!(done.answers[0][2].standing, Standing::Unresolved(requests) if requests < 1.0));
        let (mean, rate) = (value(1, 0), value(1, 1));
        assert!((mean * rate / 8e6 - 1.0).abs() < 0.01, "Little: {mean} µs times {rate} a second are eight in flight");
        assert!((value(1, 2) - rate).abs() < 0.5 * rate, "a closed loop's slowest half second");
        assert_eq!(done.answers[2][0].standing, Standing::Unmeasured("no such drive".to_owned()));
        let target = done.drives[0].as_ref().unwrap().as_ref().unwrap();
        assert_eq!(target.blocks, None, "it is small enough");
        assert!(target.write_amplification.is_some_and(|factor| factor >= 1.0));
    }

    #[test]
    fn states_from_the_cache_give_the_same() {
        let home = tempfile::tempdir().unwrap();
        let cache = StateCache::at(&home.path().join("states"), Bytes::from_gib(1), "1").unwrap();
        let (made, kept) = (run_with(1, Some(cache.clone())), run_with(1, Some(cache)));
        assert_eq!((&made, &kept), (&run(1), &made));
        assert_eq!(std::fs::read_dir(home.path().join("states")).unwrap().count(), 2, "one for each distribution");
    }
}
