//! What the tests of whole drives share.

pub mod exact;

use std::collections::HashMap;

use assay_drive::flash::FlashDrive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Drive};
use block::{Bytes, Lba, Nanos, Request, Seed, Tag};
use testkit::Random;

/// A flash drive that was filled in order.
pub fn filled(preset: &Preset) -> FlashDrive {
    let Spec::Flash(spec) = preset.spec else { panic!("{} is flash", preset.name) };
    let mut drive = FlashDrive::new(spec);
    drive.fill_untimed(Lba::new(0), Lba::at(spec.capacity), Bytes::from_mib(1), 100);
    drive
}

/// Keeps `depth` requests in flight, each made by `any_request`, with a `pause` where none is; the completions' times and
/// tags, and the drive's counters.
pub fn story(
    drive: &mut impl Drive,
    any_request: impl Fn(&mut Random, Bytes) -> Request,
    pause: impl Fn(&mut Random) -> Nanos,
    seed: u64,
    requests: u32,
    depth: u32,
) -> (Vec<(Nanos, Tag)>, Counters) {
    let mut numbers = Random::new(Seed::new(seed).split("requests").get());
    let capacity = drive.shape().capacity;
    let (mut submitted, mut completed) = (HashMap::new(), Vec::new());
    let mut next = 0;
    loop {
        while next < requests && submitted.len() < depth as usize {
            let pause = if submitted.is_empty() { pause(&mut numbers) } else { Nanos::ZERO };
            let at = drive.now() + pause;
            submitted.insert(Tag(next), at);
            drive.submit(at, Tag(next), any_request(&mut numbers, capacity));
            next += 1;
        }
        let Some(announced) = drive.next_event() else { break };
        assert_eq!(drive.complete(announced - Nanos::from_nanos(1)), None, "seed = {seed}: nothing comes earlier");
        let before = drive.now();
        let completion = drive.complete(Nanos::MAX).expect("one was announced");
        assert!(announced <= completion.at, "seed = {seed}: nothing comes before what was announced");
        let at = submitted.remove(&completion.tag).expect("a request completes once, and only if submitted");
        assert!(completion.at >= at, "seed = {seed}: completed before it was submitted");
        assert!(completion.at >= before, "seed = {seed}: time ran backwards");
        completed.push((completion.at, completion.tag));
    }
    assert!(submitted.is_empty(), "seed = {seed}: {} requests were lost", submitted.len());
    (completed, drive.counters())
}
