//! Plans as they are written and as they are understood.

use assay_lab::plan::{
    Action, Axis, Cell, Condition, Field, Fill, Idle, Limit, Measure, Plan, PlanLength, Repetition, Site, Step,
    catalog, parse, render,
};
use block::{Bytes, Nanos};
use stats::SteadyRule;
use workload::{Pattern, Stop, Workload};

fn plan(text: &str, length: PlanLength) -> Plan {
    parse(text, length).unwrap_or_else(|mistakes| panic!("{}", render(&mistakes, "plan.toml", text, false)))
}

fn review(length: PlanLength) -> Plan {
    plan(&catalog::find("review").unwrap().text, length)
}

fn step<'p>(plan: &'p Plan, name: &str) -> &'p Step {
    plan.steps.iter().find(|step| step.name == name).unwrap_or_else(|| panic!("no step {name}"))
}

fn measure<'p>(plan: &'p Plan, name: &str) -> &'p Measure {
    match &step(plan, name).action {
        Action::Measure(measure) => measure,
        other => panic!("{name} does not measure: {other:?}"),
    }
}

fn condition<'p>(plan: &'p Plan, name: &str) -> &'p Condition {
    match &step(plan, name).action {
        Action::Condition(condition) => condition,
        other => panic!("{name} does not condition: {other:?}"),
    }
}

fn powers_of_two(first: Bytes, last: Bytes) -> Vec<Bytes> {
    std::iter::successors(Some(first), |size| Some(size.times(2))).take_while(|size| *size <= last).collect()
}

#[test]
fn the_review_does_its_steps_in_this_order() {
    let names: Vec<String> = review(PlanLength::Full).steps.into_iter().map(|step| step.name).collect();
    assert_eq!(
        names,
        [
            "purge",
            "cache",
            "purge-again",
            "empty-sequential-write",
            "purge-before-random",
            "empty-random-write",
            "purge-before-fill",
            "fill",
            "sequential-read",
            "sequential-write",
            "random-read",
            "depth-read",
            "load-read",
            "access-read",
            "random-write",
            "depth-write",
            "access-write",
            "mix",
            "wear",
            "worn-sequential-read",
            "worn-random-read",
            "worn-access-read",
            "worn-sequential-write",
            "worn-random-write",
            "worn-access-write",
        ]
    );
}

#[test]
fn the_review_sweeps_every_power_of_two() {
    let plan = review(PlanLength::Full);
    let small = Bytes::new(512);
    for worn in ["", "worn-"] {
        for (name, pattern, largest, depth) in [
            ("sequential-read", Pattern::Read, Bytes::from_mib(4), 4),
            ("sequential-write", Pattern::Write, Bytes::from_mib(4), 4),
            ("random-read", Pattern::RandRead, Bytes::from_mib(1), 1),
            ("random-write", Pattern::RandWrite, Bytes::from_mib(1), 1),
        ] {
            let name = format!("{worn}{name}");
            let measure = measure(&plan, &name);
            assert_eq!(
                (measure.axes.as_slice(), measure.repeats),
                ([Axis::Field(Field::Bs)].as_slice(), Repetition { most: 15, until: Some(0.02) }),
                "{name}"
            );
            let sizes: Vec<Bytes> = measure.cells.iter().map(|cell| cell.workload.block).collect();
            assert_eq!(sizes, powers_of_two(small, largest), "{name}");
            for cell in &measure.cells {
                let (stop, ramp) = (Stop::after(Nanos::from_secs(2)), Nanos::from_secs(1));
                let block = cell.workload.block;
                let expected = Workload { pattern, block, queue_depth: depth, stop, ramp, ..Workload::default() };
                assert_eq!(cell.workload, expected, "{name}");
            }
        }
    }
}

#[test]
fn the_review_covers_depths_shares_and_access_time() {
    let plan = review(PlanLength::Full);
    for (name, pattern) in [("depth-read", Pattern::RandRead), ("depth-write", Pattern::RandWrite)] {
        let cells = &measure(&plan, name).cells;
        let depths: Vec<u32> = cells.iter().map(|cell| cell.workload.queue_depth).collect();
        assert_eq!(depths, [1, 2, 4, 8, 16, 31, 32], "{name}");
        assert!(cells.iter().all(|cell| cell.workload.pattern == pattern && cell.workload.block == Bytes::from_kib(4)));
    }
    let mix = &measure(&plan, "mix").cells;
    let shares: Vec<u8> = mix.iter().map(|cell| cell.workload.reads()).collect();
    assert_eq!(shares, [100, 80, 67, 50, 20, 0]);
    assert!(mix.iter().all(|cell| cell.workload.block == Bytes::from_kib(8)));
    for (name, pattern) in [
        ("access-read", Pattern::RandRead),
        ("access-write", Pattern::RandWrite),
        ("worn-access-read", Pattern::RandRead),
        ("worn-access-write", Pattern::RandWrite),
    ] {
        let (stop, ramp) = (Stop::after(Nanos::from_secs(30)), Nanos::from_secs(1));
        let workload = Workload { pattern, stop, ramp, ..Workload::default() };
        assert_eq!(measure(&plan, name).cells, [Cell { point: Vec::new(), workload }], "{name}");
    }
}

#[test]
fn the_review_wears_the_drive_by_snias_rule() {
    let workload = Workload {
        pattern: Pattern::RandWrite,
        queue_depth: 32,
        stop: Stop::after(Nanos::from_secs(60)),
        ..Workload::default()
    };
    let hours = |hours: u64| Limit::Time(Nanos::from_secs(hours * 3600));
    let (at_least, at_most) = (vec![Limit::Percent(100), hours(4)], vec![Limit::Percent(300), hours(12)]);
    let expected = Condition { workload, steady: Some(SteadyRule::SNIA), at_least, at_most, construct: true };
    assert_eq!(condition(&review(PlanLength::Full), "wear"), &expected);
    let workload = Workload { stop: Stop::after(Nanos::from_secs(1)), ..expected.workload };
    let (at_least, at_most) = (vec![Limit::Time(Nanos::from_secs(5))], vec![Limit::Time(Nanos::from_secs(15))]);
    assert_eq!(condition(&review(PlanLength::Quick), "wear"), &Condition { workload, at_least, at_most, ..expected });
}

#[test]
fn every_table_after_conditioning_stands_beside_the_same_cells_before() {
    for length in [PlanLength::Full, PlanLength::Quick] {
        let plan = review(length);
        let wear = plan.steps.iter().position(|step| step.name == "wear").unwrap();
        let after = &plan.steps[wear + 1..];
        assert_eq!(after.len(), 6);
        for worn in after {
            let fresh = worn.name.strip_prefix("worn-").unwrap();
            let worn = measure(&plan, &worn.name);
            assert_eq!(worn.beside.as_deref(), Some(fresh));
            assert_eq!(worn.cells, measure(&plan, fresh).cells);
        }
    }
}

#[test]
fn a_quick_review_measures_for_less_than_165_seconds() {
    let plan = review(PlanLength::Quick);
    assert!(plan.quick);
    let seconds: f64 = plan
        .steps
        .iter()
        .map(|step| match &step.action {
            Action::Measure(measure) => {
                let cells = measure.cells.iter().map(|cell| cell.workload.stop.time.unwrap().as_secs_f64());
                cells.sum::<f64>() * f64::from(measure.repeats.most)
            }
            Action::Condition(Condition { at_most, .. }) => match at_most[..] {
                [Limit::Time(time)] => time.as_secs_f64(),
                _ => panic!("a quick review ends by time"),
            },
            Action::Saturate(saturate) => {
                let work = step.work(&Site::of(Bytes::from_gib(1024)));
                let writes: f64 = work.cells().map(|cell| cell.workload.stop.time.unwrap().as_secs_f64()).sum();
                writes + saturate.idle.iter().map(|time| time.as_secs_f64()).sum::<f64>()
            }
            Action::Purge { .. } | Action::Fill { .. } => 0.0,
            other => panic!("how long does this take? {other:?}"),
        })
        .sum();
    assert!((130.0..165.0).contains(&seconds), "{seconds} s");
}

#[test]
fn every_figure_of_the_review_is_explained() {
    for step in review(PlanLength::Full).steps {
        if matches!(step.action, Action::Measure(_) | Action::Condition(_)) {
            let about = step.about.unwrap_or_default();
            assert!(about.len() > 60 && !about.contains('\n'), "{}: {about}", step.name);
        }
    }
}

#[test]
fn fields_come_from_the_nearest_place_that_gives_them() {
    let text = "\
name = \"p\"
repeats = 7
[quick]
repeats = 2
runtime = \"100ms\"
[workload]
bs = \"8k\"
runtime = 9
[[step]]
name = \"plain\"
[[step]]
name = \"own\"
repeats = 4
runtime = 3
bs = 512
quick = { runtime = \"1s\", repeats = 3 }
[[step]]
name = \"again\"
same-as = \"own\"
bs = \"4k\"
";
    let figures = |length: PlanLength| {
        let plan = plan(text, length);
        ["plain", "own", "again"].map(|name| {
            let measure = measure(&plan, name);
            let workload = &measure.cells[0].workload;
            (workload.block.get(), workload.stop.time.unwrap(), measure.repeats.most)
        })
    };
    let seconds = Nanos::from_secs;
    assert_eq!(figures(PlanLength::Full), [(8192, seconds(9), 7), (512, seconds(3), 4), (4096, seconds(3), 4)]);
    assert_eq!(
        figures(PlanLength::Quick),
        [(8192, Nanos::from_millis(100), 2), (512, seconds(1), 3), (4096, seconds(1), 3)]
    );
}

#[test]
fn a_step_that_follows_another_may_change_what_it_sweeps() {
    let text = "\
name = \"p\"
[[step]]
name = \"both\"
runtime = 1
sweep.rw = [\"read\", \"write\"]
sweep.bs = [\"4k\", 8192]
[[step]]
name = \"fixed\"
same-as = \"both\"
bs = \"1m\"
[[step]]
name = \"other\"
same-as = \"fixed\"
sweep.bs = [512]
";
    let plan = plan(text, PlanLength::Full);
    let keys = |name| measure(&plan, name).cells.iter().map(Cell::key).collect::<Vec<_>>();
    assert_eq!(keys("both"), ["rw=read bs=4k", "rw=read bs=8192", "rw=write bs=4k", "rw=write bs=8192"]);
    assert_eq!(keys("fixed"), ["rw=read", "rw=write"]);
    assert_eq!(keys("other"), ["bs=512"]);
    assert_eq!(step(&plan, "fixed").title, "Both");
}

#[test]
fn steps_that_do_not_measure_have_their_own_defaults() {
    let text = "\
name = \"p\"
[workload]
bs = 512
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"rest\"
do = \"idle\"
time = \"2min\"
quick = { time = \"1s\" }
[[step]]
name = \"wear\"
do = \"condition\"
rw = \"write\"
round = \"10s\"
at-most = \"20GiB\"
steady = { rounds = 4, slope = \"5%\" }
";
    let full = plan(text, PlanLength::Full);
    assert_eq!((full.repeats, full.title.as_str(), full.about.as_str()), (Repetition::times(5), "P", ""));
    assert_eq!(full.steps[0].action, Action::Fill(Fill { block: Bytes::from_mib(1), queue_depth: 4, construct: true }));
    assert_eq!(full.steps[1].action, Action::Idle(Idle { time: Nanos::from_secs(120) }));
    assert_eq!(plan(text, PlanLength::Quick).steps[1].action, Action::Idle(Idle { time: Nanos::from_secs(1) }));
    let wear = condition(&full, "wear");
    assert_eq!(wear.steady, Some(SteadyRule { rounds: 4, spread: 0.2, slope: 0.05 }));
    assert_eq!((&wear.at_least[..], &wear.at_most[..]), (&[][..], &[Limit::Bytes(Bytes::from_gib(20))][..]));
    assert_eq!(wear.workload.block, Bytes::new(512));
    let never = text.replace("{ rounds = 4, slope = \"5%\" }", "false");
    assert_eq!(condition(&plan(&never, PlanLength::Full), "wear").steady, None);
}

/// The documentation's one whole example, the only block of TOML in it that names a plan.
#[test]
fn the_documented_example_is_a_plan() {
    let page = include_str!("../../../../docs/plans.md");
    let examples: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .filter(|block| block.contains("\nname =") || block.starts_with("name ="))
        .filter(|block| block.contains("[workload]"))
        .collect();
    assert_eq!(examples.len(), 1);
    let (full, quick) = (plan(examples[0], PlanLength::Full), plan(examples[0], PlanLength::Quick));
    let kinds = |plan: &Plan| plan.steps.iter().map(|step| std::mem::discriminant(&step.action)).collect::<Vec<_>>();
    assert_eq!(kinds(&full), kinds(&quick));
    let distinct: std::collections::HashSet<_> = kinds(&full).into_iter().collect();
    assert_eq!(distinct.len(), 6, "the example shows every kind of step");
}

/// All of the documentation's examples that are plans can be carried out as they stand.
#[test]
fn every_documented_plan_can_be_read() {
    let page = include_str!("../../../../docs/plans.md");
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let plans: Vec<Plan> =
        blocks.filter(|block| block.starts_with("name =")).map(|block| plan(block, PlanLength::Quick)).collect();
    let with_jobs = plans.iter().find(|plan| plan.name == "reads-beside-writes").expect("jobs have an example");
    let keys: Vec<String> = measure(with_jobs, "mixed").cells.iter().map(|cell| cell.key()).collect();
    assert_eq!(keys, ["bs=4k job=reader", "bs=4k job=writer", "bs=64k job=reader", "bs=64k job=writer"]);
}

/// What the documentation says of keys is what the reader takes.
#[test]
fn every_field_is_documented() {
    let page = include_str!("../../../../docs/plans.md");
    let keys = [
        "do", "sweep", "job", "beside", "same-as", "quick", "time", "round", "steady", "at-least", "at-most",
        "repeats", "spare", "settle",
    ];
    for key in Field::ALL.iter().map(|field| field.name()).chain(keys) {
        assert!(page.contains(&format!("| `{key}` |")), "docs/plans.md does not explain `{key}`");
    }
}

/// The workloads of a plan's first step that has these lines, with `above` before it.
fn cells(above: &str, lines: &str) -> Vec<Workload> {
    let text = format!("name = \"p\"\n{above}\n[[step]]\nname = \"a\"\nruntime = 1\n{lines}\n");
    measure(&plan(&text, PlanLength::Full), "a").cells.iter().map(|cell| cell.workload.clone()).collect()
}

fn options(workload: &Workload) -> String {
    let words = workload.options().into_iter().map(|(name, value)| format!("{name}={value}"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn access_specifications_are_fixed_and_swept() {
    let swept = cells(
        "[workload]\nrw = \"randrw\"\nbssplit = \"4k/50:8k/50\"",
        "percentage_random = 80\nsweep.random_distribution = [\"random\", \"zipf:1.2\"]\nsweep.rate_iops = [500, 1000]",
    );
    assert_eq!(
        swept.iter().map(options).collect::<Vec<_>>(),
        [
            "bssplit=4k/50:8k/50 percentage_random=80 rate_iops=500",
            "bssplit=4k/50:8k/50 percentage_random=80 rate_iops=1000",
            "bssplit=4k/50:8k/50 percentage_random=80 random_distribution=zipf:1.2 rate_iops=500",
            "bssplit=4k/50:8k/50 percentage_random=80 random_distribution=zipf:1.2 rate_iops=1000",
        ]
    );
    let sized = cells("[workload]\nbssplit = \"4k/50:8k/50\"", "sweep.bs = [\"512\", \"1m\"]");
    assert!(sized.iter().all(Workload::is_plain), "a nearer size takes the place of several");
}

#[test]
fn a_profile_decides_unless_a_field_beside_it_does() {
    let above = "[workload]\nrw = \"read\"\nbs = \"1m\"\nnumjobs = 2\niodepth = 8";
    let profile = &cells(above, "profile = \"workstation\"")[0];
    assert_eq!((profile.pattern, profile.block, profile.workers), (Pattern::RandRw, Bytes::from_kib(8), 4));
    assert_eq!((profile.queue_depth, profile.random_share), (8, 80.into()));
    let changed = &cells(above, "profile = \"file-server\"\nnumjobs = 1\nbs = \"4k\"")[0];
    assert_eq!((changed.read_percent, changed.workers, changed.sizes.is_none()), (80, 1, true));
    let swept = cells(above, "sweep.profile = [\"database\", \"streaming-reads\"]\nnumjobs = 1");
    assert_eq!(
        swept.iter().map(|w| (w.pattern, w.workers)).collect::<Vec<_>>(),
        [(Pattern::RandRw, 1), (Pattern::Read, 1)]
    );
}

#[test]
fn a_trace_decides_what_farther_words_would_and_is_paced_by_nearer_ones() {
    let above =
        "[workload]\nrw = \"randwrite\"\nbs = \"1m\"\nnumjobs = 2\nfsync = 4\nrate_iops = 5\nramp_time = \"1ms\"";
    let swept = cells(above, "read_iolog = \"t.log\"\nsweep.replay_time_scale = [50, 200]");
    assert_eq!(
        swept.iter().map(options).collect::<Vec<_>>(),
        ["read_iolog=t.log replay_time_scale=50", "read_iolog=t.log replay_time_scale=200"]
    );
    let plain = Workload::default();
    for cell in &swept {
        assert_eq!((cell.workers, cell.block, cell.pattern), (plain.workers, plain.block, plain.pattern));
        assert_eq!((cell.queue_depth, cell.ramp), (32, Nanos::from_millis(1)));
    }
    let fast =
        &cells("", "read_iolog = \"t.log\"\nreplay_no_stall = 1\nreplay_think = 0\niodepth = 4\nreplay_scale = 8")[0];
    assert_eq!((options(fast).as_str(), fast.queue_depth), ("read_iolog=t.log replay_no_stall=1 replay_scale=8", 4));
    let endless = "name = \"p\"\n[[step]]\nname = \"a\"\nread_iolog = \"t.log\"\n";
    assert_eq!(measure(&plan(endless, PlanLength::Full), "a").cells[0].workload.stop, Stop::default());
}

#[test]
fn a_conditioning_is_no_replay() {
    let text = "name = \"p\"\n[workload]\nread_iolog = \"t.log\"\n[[step]]\nname = \"a\"\ndo = \"condition\"\n\
                rw = \"randwrite\"\nround = 1\nat-most = \"10s\"\n";
    assert_eq!(condition(&plan(text, PlanLength::Full), "a").workload.replay, None);
}

#[test]
fn rounds_of_reads_change_data_where_each_begins_with_writes() {
    let rounds = |more: &str| {
        let step = "[[step]]\nname = \"r\"\ndo = \"rounds\"\nrw = \"randread\"\nruntime = \"1s\"\n";
        plan(&format!("name = \"p\"\n{step}{more}"), PlanLength::Full)
    };
    assert!(!rounds("").changes_data());
    assert!(rounds("pre-writes = \"1s\"\n").changes_data());
}

#[test]
fn a_plan_that_was_given_no_traces_is_not_carried_out() {
    let text = "name = \"p\"\n[[step]]\nname = \"a\"\nread_iolog = \"t.log\"\n";
    let preset = drive::preset::Preset::find("x25-m?capacity.user=64MiB&spare=150%").unwrap();
    let said =
        assay_lab::fits(&plan(text, PlanLength::Full), &assay_lab::Simulated::new(preset)).unwrap_err().to_string();
    assert!(said.contains("in step `a`: the trace t.log has not been read"), "{said}");
}

#[test]
fn a_simulated_drive_alone_may_be_told_to_keep_a_state() {
    let text = "name = \"p\"\n[[step]]\nname = \"wear\"\nrw = \"randwrite\"\nruntime = \"1s\"\nsimulated = { keep-state = true }\n";
    let keeps = |length| measure(&plan(text, length), "wear").keep_state;
    assert_eq!([PlanLength::Full, PlanLength::of(false, true)].map(keeps), [false, true]);
}
