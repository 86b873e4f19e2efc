//! How storing and merging grow with the number of measurements: `benches/store-scale.sh` runs it.
//!
//! Then how merging grows with the number of shards of a run, each of ten measurements.
//!
//! Measurements have 2,000 latencies between 60 µs and 2 ms and a series of 10 s, five repeats a cell and 200 cells a run, each cell
//! in a transaction of its own, as reviews keep them.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use assay_store::{Merged, NewRun, RunState, Shard, Store};
use block::{Bytes, Nanos, Op, Seed};
use measurement::{Annotations, Clock, Measurement};
use workload::Workload;

const REPEATS: u32 = 5;
const CELLS: u64 = 200;

fn measurement(number: u64) -> Measurement {
    let mut one = Measurement::new(Workload::default(), Seed::new(number), Clock::Virtual);
    for at in 0..2_000 {
        let spread = Seed::new(number).number(at).get();
        let latency = Nanos::from_nanos(60_000 + (spread % 2_000).pow(2) / 2);
        one.record(Op::Read, Bytes::from_kib(4), Nanos::from_millis(at * 5), latency);
    }
    one
}

fn run(number: u64) -> NewRun {
    NewRun {
        plan: "scale".to_owned(),
        plan_text: "name = \"scale\"\n".to_owned(),
        quick: false,
        simulated: false,
        target: "sim:x25-m".to_owned(),
        target_identity: "Intel X25-M".to_owned(),
        target_fingerprint: None,
        direct: true,
        size: None,
        capacity: None,
        drive: None,
        seed: Seed::new(number),
        repeats: None,
        started_ms: 1_767_225_600_000,
        version: "0".to_owned(),
        commit: String::new(),
        environment: "{}".to_owned(),
        annotations: Annotations::default(),
        group: None,
        shard: None,
    }
}

/// Writes a store with so many measurements; how many seconds that took.
fn fill(path: &Path, count: u64) -> Result<f64, Box<dyn Error>> {
    let some: Vec<Measurement> = (0..64).map(measurement).collect();
    let mut store = Store::open(path)?;
    let began = Instant::now();
    for number in 0..count / (CELLS * u64::from(REPEATS)) {
        let id = store.begin(&run(number))?;
        for cell in 0..CELLS {
            let one = |repeat: u32| (repeat, some[(cell as usize + repeat as usize) % some.len()].clone());
            store.record_cell(id, "read", &format!("iodepth={cell}"), &(0..REPEATS).map(one).collect::<Vec<_>>())?;
        }
        store.finish(id, RunState::Complete, None, 1_767_225_700_000)?;
    }
    Ok(began.elapsed().as_secs_f64())
}

/// Merges a store into another; how many seconds that took, and how many runs were new.
fn merge(from: &Path, into: &Path) -> Result<(f64, usize), Box<dyn Error>> {
    let (from, mut into) = (Store::open_to_read(from)?, Store::open(into)?);
    let began = Instant::now();
    let mut added = 0;
    for run in from.offered()? {
        added += usize::from(matches!(into.merge(&from, run)?, Merged::Added(_)));
    }
    Ok((began.elapsed().as_secs_f64(), added))
}

/// Merges a store with so many shards of one run into another; how many seconds that took.
fn merge_shards(from: &Path, into: &Path, count: u32) -> Result<f64, Box<dyn Error>> {
    let some: Vec<(u32, Measurement)> = (0..10).map(|repeat| (repeat, measurement(repeat.into()))).collect();
    let mut store = Store::open(from)?;
    for number in 1..=count {
        let id = store.begin(&NewRun { shard: Shard::new(number, count), ..run(0) })?;
        store.record_cell(id, "read", &format!("iodepth={number}"), &some)?;
        store.finish(id, RunState::Complete, None, 1_767_225_700_000)?;
    }
    drop(store);
    let (seconds, added) = merge(from, into)?;
    assert_eq!(added, count as usize);
    Ok(seconds)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut folder =
        || words.next().map(std::path::PathBuf::from).ok_or("name a folder for stores, and one to merge into");
    let (sources, outputs) = (folder()?, folder()?);
    println!("measurements    store s  MB     µs each  merge s  µs each  again s  µs each");
    for count in words {
        let count: u64 = count.parse()?;
        let (from, into) = (sources.join(format!("from-{count}.sqlite")), outputs.join(format!("into-{count}.sqlite")));
        let stored = fill(&from, count)?;
        let megabytes = std::fs::metadata(&from)?.len() as f64 / 1e6;
        let (merged, added) = merge(&from, &into)?;
        let (again, none) = merge(&from, &into)?;
        assert_eq!((added as u64, none), (count / (CELLS * u64::from(REPEATS)), 0));
        let each = |seconds: f64| seconds * 1e6 / count as f64;
        println!(
            "{count:<15} {stored:<8.1} {megabytes:<6.0} {:<8.0} {merged:<8.1} {:<8.0} {again:<8.1} {:.0}",
            each(stored),
            each(merged),
            each(again)
        );
        [from, into].iter().try_for_each(std::fs::remove_file)?;
    }
    println!("shards          merge s  µs each");
    for count in [64, 256, 1024, 4096] {
        let [from, into] = [&sources, &outputs].map(|folder| folder.join(format!("shards-{count}.sqlite")));
        let into = into.with_extension("merged.sqlite");
        let merged = merge_shards(&from, &into, count)?;
        println!("{count:<15} {merged:<8.2} {:.0}", merged * 1e6 / f64::from(count));
        [from, into].iter().try_for_each(std::fs::remove_file)?;
    }
    Ok(())
}
