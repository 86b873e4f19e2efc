//! Simulated requests a second of processor time: the 80 GB drive worn in, timing and histograms included.

use std::hint::black_box;

use assay_engine::run_virtual;
use block::{Bytes, Nanos, Seed};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use drive::Device;
use drive::preset::Preset;
use workload::{Pattern, Stop, Workload};

const REQUESTS: u64 = 1_000_000;

fn workload(pattern: Pattern, requests: u64) -> Workload {
    Workload { pattern, queue_depth: 32, stop: Stop::after_requests(requests), ..Workload::default() }
}

/// The drive filled once and overwritten at random with twice its capacity.
fn worn(name: &str) -> Device {
    let preset = Preset::find(name).expect("it comes with the program");
    let mut drive = preset.build();
    let pages = preset.capacity().div(Bytes::from_kib(4));
    let fill = Workload { block: Bytes::from_mib(1), ..workload(Pattern::Write, pages / 256) };
    for workload in [fill, workload(Pattern::RandWrite, 2 * pages)] {
        run_virtual(&mut drive, &workload, Seed::new(1)).expect("it fits the drive");
    }
    drive
}

fn simulated(criterion: &mut Criterion) {
    measure(criterion, "4 KiB on a worn 80 GB drive, map in memory", worn("x25-m?map.cache=128MiB"));
    measure(criterion, "4 KiB on a worn 80 GB drive, map in flash", worn("x25-m"));
}

fn measure(criterion: &mut Criterion, title: &str, mut drive: Device) {
    let mut group = criterion.benchmark_group(title);
    group
        .throughput(Throughput::Elements(REQUESTS))
        .sample_size(10)
        .measurement_time(std::time::Duration::from_secs(8));
    for pattern in [Pattern::RandWrite, Pattern::RandRead] {
        let mut seed = 0;
        group.bench_function(pattern.to_string(), |bencher| {
            bencher.iter_batched(
                || {
                    seed += 1;
                    Seed::new(seed)
                },
                |seed| {
                    let measured = run_virtual(&mut drive, &workload(pattern, REQUESTS), seed).expect("it fits");
                    assert!(measured.elapsed > Nanos::ZERO);
                    black_box(measured)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, simulated);
criterion_main!(benches);
