//! A device that never answers some requests: a run on it ends all the same.

use assay_attach::registry::Registry;
use assay_attach::{AttachOptions, Attachment, Fault};
use block::{Bytes, Nanos, Op, Seed};
use drive::preset::Preset;
use engine::{Access, IoEngine, Measurement, Submission, Target, run_real};
use workload::{Pattern, Stop, Workload};

use crate::scratch::can_attach;

/// From this sector on no read is answered, as far as a test is concerned.
const DEAD: u64 = 2048;

/// A drive that answers no read from [`DEAD`] on.
fn dead() -> Attachment {
    let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
    let fault: Fault = format!("delay=1h@{DEAD}-{}", (1 << 21) - 1).parse().unwrap();
    let terms = AttachOptions { faults: vec![fault], held: true, ..AttachOptions::default() };
    Attachment::new(&Registry::open().unwrap(), "a drive that hangs", drive, &terms).unwrap()
}

fn measured(attachment: &Attachment, engine: IoEngine, queue_depth: u32, stop: Stop) -> Measurement {
    let submission = Submission { engine, ..Submission::default() };
    let patience = Some(Nanos::from_millis(100));
    let target =
        Target::open(attachment.device(), &Access { direct: true, submission, patience, ..Access::default() }).unwrap();
    let workload = Workload { pattern: Pattern::Read, queue_depth, stop, ..Workload::default() };
    run_real(&target, &workload, Seed::new(7), &|_| {}).unwrap()
}

#[test]
fn a_run_on_a_device_that_does_not_answer_ends_with_what_it_has_and_names_what_is_missing() {
    if !can_attach() {
        return;
    }
    // A ring that is full with requests has room for what wakes its worker too. At depth 1 a worker of psync is in the call.
    for (engine, depth) in [(IoEngine::IoUring, 4), (IoEngine::IoUring, 1), (IoEngine::Psync, 4), (IoEngine::Psync, 1)]
    {
        let attachment = dead();
        let measured = measured(&attachment, engine, depth, Stop::after(Nanos::from_secs(2)));
        // Linux may have joined the first that hangs to those right before it.
        assert!((DEAD / 8 - 3..=DEAD / 8).contains(&measured.requests()), "{engine:?}: {}", measured.requests());
        assert!(measured.elapsed >= Nanos::from_secs(2), "the silence is part of it: {}", measured.elapsed);
        let missing: Vec<_> = measured.failures.iter().map(|failure| failure.missing.unwrap()).collect();
        let mut places: Vec<u64> = missing.iter().map(|missing| missing.offset.get() >> 12).collect();
        places.sort();
        assert_eq!(
            places,
            (0..u64::from(depth)).map(|place| measured.requests() + place).collect::<Vec<_>>(),
            "{engine:?}"
        );
        assert!(missing.iter().all(|missing| (missing.op, missing.length) == (Op::Read, Bytes::from_kib(4))));
        assert!(missing.iter().all(|missing| missing.waited >= Nanos::from_millis(100)), "{missing:?}");
    }
}

#[test]
fn without_a_time_limit_a_run_ends_when_the_device_has_been_silent_for_as_long_as_it_is_given() {
    if !can_attach() {
        return;
    }
    for (engine, depth) in [(IoEngine::IoUring, 4), (IoEngine::Psync, 4), (IoEngine::Psync, 1)] {
        let attachment = dead();
        let measured = measured(&attachment, engine, depth, Stop::after_requests(10_000));
        assert!((DEAD / 8 - 3..=DEAD / 8).contains(&measured.requests()), "{engine:?}: {}", measured.requests());
        let missing = measured.failures.iter().filter(|failure| failure.missing.is_some()).count();
        assert_eq!(missing, depth as usize, "{engine:?}: {:?}", measured.failures);
    }
}
