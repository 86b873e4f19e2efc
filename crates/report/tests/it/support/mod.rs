//! Made-up reviews with steps of every kind, the same whenever they are made.

pub mod browser;

use block::{Bytes, Nanos, Op, Seed};
use drive::Counters;
use drive::preset::Preset;
use engine::{Clock, Measurement};
use lab::plan::{
    Action, Axis, Cell, Condition, Field, Fill, Idle, Limit, Measure, Plan, Precondition, Purge, Repetition, Step,
};
use lab::{DriveRecord, Finding, Outcome, PointOutcome, Repeat, StepOutcome};
use stats::SteadyRule;
use store::{Run, RunId, RunState};
use testkit::Random;
use workload::{Pattern, Stop, Workload};

/// Repeats of every cell.
pub const REPEATS: u32 = 3;

/// How the made-up drive behaves: a lone request takes `base` and moves at `rate`; `ways` are served at once.
#[derive(Clone, Copy)]
struct Behaviour {
    base_micros: f64,
    bytes_per_micro: f64,
    ways: f64,
}

/// What the made-up drive does with a workload.
fn behaviour(workload: &Workload, worn: bool) -> Behaviour {
    let random = workload.pattern.is_random();
    let read = f64::from(workload.reads()) / 100.0;
    let write_base = match (random, worn) {
        (true, true) => 420.0,
        (true, false) => 78.0,
        (false, true) => 95.0,
        (false, false) => 70.0,
    };
    let read_base = if random { 165.0 } else { 62.0 };
    Behaviour {
        base_micros: read * read_base + (1.0 - read) * write_base,
        bytes_per_micro: read * 255.0 + (1.0 - read) * if worn { 62.0 } else { 79.0 },
        ways: read * 7.2 + (1.0 - read) * 1.4,
    }
}

/// Measures nothing, but gives what the made-up drive would.
fn measured(workload: &Workload, worn: bool, repeat: u32, requests: u64) -> Measurement {
    let behaviour = behaviour(workload, worn);
    let depth = f64::from(workload.queue_depth * workload.workers);
    let scatter = 1.0 + 0.006 * (f64::from(repeat) - 1.0) * f64::from(workload.block.sectors() as u32 % 7 + 1) / 4.0;
    let transfer = workload.block.get() as f64 / behaviour.bytes_per_micro;
    let between = (behaviour.base_micros / behaviour.ways.min(depth)).max(transfer) * scatter;
    let mut measurement = Measurement::new(workload.clone(), Seed::new(42).number(u64::from(repeat)), Clock::Virtual);
    let mut draws = Random::new(u64::from(repeat) + 1);
    for i in 1..=requests {
        let tail = -draws.unit().ln();
        let latency = between * depth * (0.8 + 0.2 * tail);
        let op = match workload.reads() {
            100 => Op::Read,
            0 => Op::Write,
            share if draws.unit() * 100.0 < f64::from(share) => Op::Read,
            _ => Op::Write,
        };
        let at = Nanos::from_nanos((between * 1e3 * i as f64) as u64);
        measurement.record(op, workload.block, at, Nanos::from_nanos((latency * 1e3) as u64));
    }
    measurement.drive = Some(counters(&measurement, if worn { 7 } else { 1 }));
    measurement
}

fn counters(measurement: &Measurement, amplification: u64) -> Counters {
    let page = Bytes::from_kib(4);
    let written = measurement.write.bytes;
    Counters {
        host_written: written,
        pages_programmed: written.get() * amplification / page.get(),
        pages_moved: written.get() * (amplification - 1) / page.get(),
        page,
        ..Counters::default()
    }
}

/// The values of an axis as a plan writes them, and how they change a workload.
type Values<'a> = (Field, &'a [&'a str]);

fn set(workload: &mut Workload, field: Field, value: &str) {
    match field {
        Field::Rw => workload.pattern = value.parse().unwrap(),
        Field::Bs => workload.block = block::parse_bytes(value).unwrap(),
        Field::Iodepth => workload.queue_depth = value.parse().unwrap(),
        Field::Rwmixread => workload.read_percent = value.parse().unwrap(),
        other => unreachable!("no step here sweeps {other:?}"),
    }
}

/// The cells of a sweep; the last axis varies fastest.
fn cells(base: &Workload, axes: &[Values]) -> Vec<Cell> {
    let mut cells = vec![Cell { point: Vec::new(), workload: base.clone() }];
    for (field, values) in axes {
        let grown = cells.iter().flat_map(|cell| {
            values.iter().map(|value| {
                let mut cell = cell.clone();
                set(&mut cell.workload, *field, value);
                cell.point.push((Axis::Field(*field), (*value).to_owned()));
                cell
            })
        });
        cells = grown.collect();
    }
    cells
}

fn measure(name: &str, title: &str, base: &Workload, axes: &[Values], beside: Option<&str>) -> Step {
    let measure = Measure {
        cells: cells(base, axes),
        axes: axes.iter().map(|values| Axis::Field(values.0)).collect(),
        repeats: Repetition::times(REPEATS),
        beside: beside.map(str::to_owned),
        load_of: None,
        keep_state: false,
    };
    let about = Some(format!("What the step `{name}` is for, in a sentence."));
    Step { name: name.to_owned(), title: title.to_owned(), about, action: Action::Measure(measure) }
}

fn plain(name: &str, title: &str, action: Action) -> Step {
    Step { name: name.to_owned(), title: title.to_owned(), about: None, action }
}

const LARGE: &[&str] = &["512", "1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k", "256k", "512k", "1m", "2m", "4m"];
const SMALL: &[&str] = &["512", "2k", "4k", "8k", "16k", "64k", "256k", "1m"];
const DEPTHS: &[&str] = &["1", "2", "4", "8", "16", "31", "32"];

/// The plan: a step of every kind, some in two states.
pub fn plan() -> Plan {
    let base = Workload { stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() };
    let deep = Workload { queue_depth: 32, ..base.clone() };
    let mixed = Workload { pattern: Pattern::RandRw, block: Bytes::from_kib(8), ..deep.clone() };
    let (ordered, scattered): (&[&str], &[&str]) = (&["read", "write"], &["randread", "randwrite"]);
    let worn = Workload { pattern: Pattern::RandWrite, stop: Stop::after(Nanos::from_secs(60)), ..deep.clone() };
    let condition = Condition {
        workload: worn,
        steady: Some(SteadyRule::SNIA),
        at_least: vec![Limit::Percent(200)],
        at_most: vec![Limit::Percent(800)],
        construct: false,
    };
    let steps = vec![
        plain("purge", "Purge", Action::Purge(Purge { method: lab::PurgeMethod::Discard })),
        plain("fill", "Fill", Action::Fill(Fill { block: Bytes::from_kib(128), queue_depth: 32, construct: true })),
        measure("sequential", "Sequential by block size", &base, &[(Field::Rw, ordered), (Field::Bs, LARGE)], None),
        measure("random", "Random by block size", &deep, &[(Field::Rw, scattered), (Field::Bs, SMALL)], None),
        measure(
            "depth",
            "Random 4 KiB by queue depth",
            &base,
            &[(Field::Rw, scattered), (Field::Iodepth, DEPTHS)],
            None,
        ),
        measure(
            "mix",
            "Reads and writes mixed",
            &mixed,
            &[(Field::Rwmixread, &["100", "80", "67", "50", "20", "0"])],
            None,
        ),
        measure("access", "Access time", &base, &[(Field::Rw, scattered)], None),
        plain("rest", "Rest", Action::Idle(Idle { time: Nanos::from_secs(300) })),
        plain("wear", "Random writes until steady", Action::Condition(condition)),
        measure(
            "random-worn",
            "Random by block size, worn",
            &deep,
            &[(Field::Rw, scattered), (Field::Bs, SMALL)],
            Some("random"),
        ),
        measure("access-worn", "Access time, worn", &base, &[(Field::Rw, scattered)], Some("access")),
        measure("mix-worn", "One mixed workload, worn", &Workload { read_percent: 67, ..mixed }, &[], None),
    ];
    Plan {
        name: "review".to_owned(),
        title: "Review".to_owned(),
        about: "What a buyer wants to know, fresh and worn.".to_owned(),
        repeats: Repetition::times(REPEATS),
        quick: false,
        simulated: false,
        has_simulated_lengths: false,
        steps,
        text: "name = \"review\"\n# a plan with <angle brackets> & ampersands\n".to_owned(),
    }
}

/// Sixty rounds of a minute: from fresh down to a steady level.
fn conditioned(condition: &Condition) -> Measurement {
    let mut all = Measurement::new(condition.workload.clone(), Seed::new(42), Clock::Virtual);
    let (mut draws, mut tails) = (Random::new(7), Random::new(11));
    for second in 0..3_600_u64 {
        let level = 24.0 + 155.0 * (-(second as f64) / 500.0).exp() + 3.0 * draws.unit();
        let mut tick = engine::Tick { writes: level as u64 * 100, ..engine::Tick::default() };
        tick.bytes = Bytes::from_kib(4).times(tick.writes);
        tick.latency_total = Nanos::from_micros((32e6 / 100.0) as u64 * 100);
        tick.latency_max = Nanos::from_micros((4e5 / level * (1.0 + 2.0 * draws.unit())) as u64 * 10);
        let mut fiftieth = stats::Bins::default();
        for _ in 0..tick.writes / 50 {
            fiftieth.record(Nanos::from_micros((32e4 / level * (0.5 + tails.unit().powi(4))) as u64));
        }
        (0..50).for_each(|_| tick.latencies.merge(&fiftieth));
        all.write.requests += tick.writes;
        all.write.bytes += tick.bytes;
        all.series.push(tick);
        for _ in 0..10 {
            all.write.latency.record(Nanos::from_micros((32e4 / level * (0.5 + draws.unit())) as u64));
        }
    }
    all.elapsed = Nanos::from_secs(3_600);
    all.drive = Some(counters(&all, 7));
    all
}

fn repeats(step: &Step, cell: &Cell, worn: bool) -> Vec<Measurement> {
    let requests = if step.name.starts_with("access") { 12_000 } else { 1_200 };
    (0..REPEATS).map(|repeat| measured(&cell.workload, worn, repeat, requests)).collect()
}

/// A complete review of a made-up drive.
pub fn outcome() -> Outcome {
    let plan = plan();
    let mut worn = false;
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        match &step.action {
            Action::Measure(measure) => {
                let point = |cell: &Cell| {
                    PointOutcome::measured(cell.point.clone(), cell.workload.clone(), repeats(step, cell, worn))
                };
                steps.push(StepOutcome { index, points: measure.cells.iter().map(point).collect() });
            }
            Action::Condition(condition) => {
                worn = true;
                let (workload, repeats) = (condition.workload.clone(), vec![conditioned(condition)]);
                steps.push(StepOutcome { index, points: vec![PointOutcome::measured(Vec::new(), workload, repeats)] });
            }
            Action::Purge { .. } | Action::Fill { .. } | Action::Idle { .. } => {}
            Action::Rounds(_) | Action::Saturate(_) | Action::Precondition(_) | Action::Trial(_) => {}
        }
    }
    Outcome {
        run: run(&plan),
        capacity: Some(Bytes::from_gib(40)),
        drive: Preset::find("x25-m").ok().map(|preset| DriveRecord::of(&preset)),
        plan,
        steps,
        health: lab::health::HealthRecord::default(),
        findings: findings(),
        pooled: Vec::new(),
    }
}

/// The review as if it had been of this target.
pub fn on(target: &str) -> Outcome {
    let preset = target.strip_prefix("sim:").map(|name| Preset::find(name).unwrap());
    let mut outcome = outcome();
    (outcome.run.target, outcome.drive) = (target.to_owned(), preset.map(|preset| DriveRecord::of(&preset)));
    outcome
}

/// The same review with the short way to the steady state in place of the long one.
#[allow(dead_code, reason = "not every test wants it")]
pub fn preconditioned() -> Outcome {
    let mut outcome = outcome();
    for step in &mut outcome.plan.steps {
        if let Action::Condition(Condition { workload, .. }) = &step.action {
            let (workload, spare) = (workload.clone(), "7%".parse().ok());
            step.action = Action::Precondition(Precondition { workload, spare, settle: 10, construct: true });
        }
    }
    outcome
}

/// The same review, ended by an error in the middle of its step `random`.
pub fn cut_off() -> Outcome {
    let mut outcome = outcome();
    outcome.run.state = RunState::Failed;
    outcome.run.error = Some("the target is full: 0 B of 2 GiB are free".to_owned());
    outcome.steps[1].points[5..].iter_mut().for_each(|cell| cell.repeats.clear());
    outcome.steps[2..].iter_mut().flat_map(|step| &mut step.points).for_each(|cell| cell.repeats.clear());
    outcome
}

fn run(plan: &Plan) -> Run {
    Run {
        id: RunId(17),
        plan: plan.name.clone(),
        plan_text: plan.text.clone(),
        quick: false,
        simulated: false,
        target: "sim:x25-m".to_owned(),
        target_identity: "Example 80 GB <simulated>".to_owned(),
        target_fingerprint: None,
        direct: true,
        size: None,
        capacity: None,
        seed: Seed::new(42),
        repeats: None,
        state: RunState::Complete,
        error: None,
        started_ms: 1_767_225_600_000,
        finished_ms: Some(1_767_225_643_000),
        version: "0.1.0".to_owned(),
        commit: "0123abc".to_owned(),
        environment:
            r#"{"host":{"name":"bench","memory":8589934592,"cpus":2,"cpu_model":"Example <CPU>"},"kernel":"6.12"}"#
                .to_owned(),
        annotations: measurement::Annotations::default(),
        uuid: measurement::Uuid::nil(),
        group: None,
        sharding: None,
    }
}

fn findings() -> Vec<Finding> {
    let finding = |step: Option<&str>, cell: Option<&str>, text: &str| {
        Finding::of(step.map(str::to_owned), cell.map(str::to_owned), text.to_owned())
    };
    vec![
        finding(None, None, "The active range is less than twice the host's memory."),
        finding(Some("depth"), Some("rw=randread iodepth=31"), "One repeat lies far from the others."),
    ]
}

const IN_ROUNDS: &str = r#"
name = "rounds"
title = "Rounds <all>"
about = "Follows parts of a specification. No conformance is claimed."

[workload]
runtime = "1s"

[[step]]
name = "purge"
do = "purge"

[[step]]
name = "iops"
do = "rounds"
title = "IOPS"
rw = "randrw"
iodepth = 16
numjobs = 2
sweep.rwmixread = [100, 65, 0]
sweep.bs = ["64k", "8k", "4k"]
watch = ["rwmixread=0 bs=4k", "rwmixread=65 bs=64k"]

[[step]]
name = "latency"
do = "rounds"
title = "Latency"
rw = "randwrite"
by = "latency"
rounds = 6

[[step]]
name = "wear"
do = "condition"
title = "Write saturation"
rw = "randwrite"
iodepth = 32
round = "60s"
steady = false
at-most = "400%"

[[step]]
name = "waits"
do = "rounds"
title = "Waits <5 s>"
rw = "randwrite"
iodepth = 32
steady = false
rest = "5s"
rounds = 4

[[step]]
name = "demand"
do = "rounds"
title = "Demand"
rw = "randrw"
rwmixread = 65
sweep.numjobs = [4, 1]
sweep.iodepth = [8, 2, 1]
watch = "numjobs=4 iodepth=8"
"#;

/// How much longer a round takes than it would on the level that the made-up drive comes to.
fn drag(step: &str, round: u32) -> f64 {
    match step {
        "iops" => 1.0 / (1.0 + 0.8 * (-f64::from(round)).exp()),
        "latency" => 1.0 + 0.1 * f64::from(round),
        _ => 1.0,
    }
}

/// One cell in one round: later rounds of some steps are slower, as on a drive that is being worn.
fn in_round(step: &str, workload: &Workload, round: u32) -> Measurement {
    let requests = if step == "demand" { 25_000 } else { 400 };
    let drag = drag(step, round);
    let mut all = measured(workload, true, 1 + round % 2, requests);
    all.elapsed = Nanos::from_nanos((all.elapsed.as_nanos() as f64 * drag) as u64);
    if step == "latency" {
        (0..40 * requests).for_each(|_| all.write.latency.record(Nanos::from_nanos((420_000.0 * drag) as u64)));
    }
    all
}

/// A review in rounds of the made-up drive: a matrix that becomes steady, latency that does not, saturation with waits
/// after it, and demand.
pub fn in_rounds() -> Outcome {
    let plan = lab::plan::parse(IN_ROUNDS, lab::plan::PlanLength::Full).expect("the plan has no mistake");
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let points = match &step.action {
            Action::Rounds(rounds) => {
                let done = match step.name.as_str() {
                    "iops" => 7,
                    "demand" => 5,
                    _ => rounds.at_most,
                };
                let window = done - rounds.measure.repeats.most.min(done);
                let cell = |cell: &Cell| {
                    let of = |rounds: std::ops::Range<u32>| {
                        rounds.map(|round| in_round(&step.name, &cell.workload, round)).collect::<Vec<_>>()
                    };
                    let before = of(0..window).into_iter().map(Repeat::from).collect();
                    let (point, workload) = (cell.point.clone(), cell.workload.clone());
                    PointOutcome { before, ..PointOutcome::measured(point, workload, of(window..done)) }
                };
                rounds.measure.cells.iter().map(cell).collect()
            }
            Action::Condition(condition) => {
                let (workload, repeats) = (condition.workload.clone(), vec![conditioned(condition)]);
                vec![PointOutcome::measured(Vec::new(), workload, repeats)]
            }
            _ => continue,
        };
        steps.push(StepOutcome { index, points });
    }
    Outcome {
        run: run(&plan),
        capacity: Some(Bytes::from_gib(1)),
        drive: Preset::find("x25-m").ok().map(|preset| DriveRecord::of(&preset)),
        plan,
        steps,
        health: lab::health::HealthRecord::default(),
        findings: findings(),
        pooled: Vec::new(),
    }
}
