//! How exactly the engine measures a device whose every latency is known: a simulated drive, attached and slowed until the
//! way to it keeps up, notes each request as it had it. Called by `benches/engine-exactness.sh`, which says more.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use assay_attach::registry::Registry;
use assay_attach::{AttachOptions, Attachment, RecordedRequest};
use block::{Bytes, Nanos, Op, Seed};
use drive::preset::Preset;
use drive::{Device, Drive};
use engine::{Access, Target, run_real, run_virtual};
use stats::Histogram;
use workload::{Pattern, Stop, Workload};

/// A drive of next to no latency, of which a request takes the way and hardly more.
const QUICK: &str = "solid-data-dram";

/// What one run found, in nanoseconds of the machine.
struct Found {
    measured: Histogram,
    /// As the drive had it.
    own: Histogram,
    /// Requests that the drive had, on average.
    depth: f64,
}

/// Reads at random for so long, `depth` at a time.
fn read(drive: Device, speed: f64, depth: u32, time: Duration) -> Found {
    let terms = AttachOptions { speed, held: true, ..AttachOptions::default() };
    let attachment = Attachment::new(&Registry::open().unwrap(), "engine exactness", drive, &terms).unwrap();
    let target = Target::open(attachment.device(), &Access { direct: true, ..Access::default() }).unwrap();
    let stop = Stop::after(Nanos::from_std(time));
    let workload = Workload { pattern: Pattern::RandRead, queue_depth: depth, stop, ..Workload::default() };
    attachment.heard().listen();
    let measurement = run_real(&target, &workload, Seed::new(1), &|_| {}).unwrap();
    let heard: Vec<RecordedRequest> =
        attachment.heard().take().into_iter().filter(|(.., request)| request.op == Op::Read).collect();
    let (mut own, mut busy) = (Histogram::new(), 0.0);
    // What was begun while the engine filled and emptied its queue says nothing of its depth.
    let last_came = heard.last().map_or(0.0, |(came, ..)| came.as_secs_f64());
    let first_done = heard.iter().map(|(_, done, _)| done.as_secs_f64()).fold(f64::MAX, f64::min);
    for (came, done, _) in &heard {
        own.record(Nanos::from_nanos((done.since(*came).as_nanos() as f64 / speed) as u64));
        busy += (done.as_secs_f64().min(last_came) - came.as_secs_f64().max(first_done)).max(0.0);
    }
    Found { measured: measurement.latency(), own, depth: busy / (last_came - first_done) }
}

/// The drive, written once from end to end.
fn filled(name: &str) -> Device {
    let mut drive = Preset::find(name).unwrap_or_else(|error| panic!("{error}")).build();
    let stop = Stop::after_bytes(drive.shape().capacity);
    let fill =
        Workload { pattern: Pattern::Write, block: Bytes::from_mib(1), queue_depth: 4, stop, ..Workload::default() };
    run_virtual(&mut drive, &fill, Seed::new(1)).unwrap();
    drive
}

/// Whether a figure is as the drive had it, within 2 % and what the way costs.
fn judge(words: &str, measured: f64, own: f64, way: f64) -> bool {
    let (off, bar) = ((measured - own).abs(), 0.02 * own + way);
    let verdict = if off <= bar { "met" } else { "MISSED" };
    println!(
        "  {words:<5} {:10.1} µs : {:10.1} µs  {:+6.2} %  (within 2 % + {:.1} µs)  {verdict}",
        measured / 1e3,
        own / 1e3,
        100.0 * (measured / own - 1.0),
        way / 1e3
    );
    off <= bar
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (Some(name), Some(speed), Some(seconds)) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: engine_exactness DRIVE SPEED SECONDS");
        return ExitCode::from(2);
    };
    let (speed, seconds): (f64, u64) = (speed.parse().expect("a number"), seconds.parse().expect("whole seconds"));
    let quick = read(filled(QUICK), 1.0, 1, Duration::from_secs(2));
    let way = (quick.measured.mean() - quick.own.mean()).abs();
    println!("the way's own cost, of a drive of no latency: mean {:.1} µs", way / 1e3);
    let drive = filled(&name);
    let mut is_met = true;
    for depth in [1, 8, 32, 128] {
        let found = read(drive.clone(), speed, depth, Duration::from_secs(seconds));
        let p99 = |latency: &Histogram| latency.percentile(99.0).as_nanos() as f64;
        let share = found.depth / f64::from(depth);
        println!("depth {depth}, {} requests: measured : as the drive had it", found.measured.count());
        is_met &= judge("mean", found.measured.mean(), found.own.mean(), way);
        is_met &= judge("99 %", p99(&found.measured), p99(&found.own), way);
        println!(
            "  depth {:9.2} of {depth}, {share:.3} (>= 0.98)  {}",
            found.depth,
            if share >= 0.98 { "met" } else { "MISSED" }
        );
        is_met &= share >= 0.98;
    }
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
