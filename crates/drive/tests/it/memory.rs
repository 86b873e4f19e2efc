//! What a simulated drive takes in memory.

use std::fs;

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use assay_drive::preset::{Preset, Spec};
use block::{Lba, Nanos, Op, Request, Tag};
use testkit::Random;

/// What this process takes in memory, in MiB; none where the system does not tell.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

/// The map of 3.2 TB takes 3 GB once all of it is written. A few thousand pages here and there take little of that, in a drive and
/// in its clones.
#[test]
fn a_large_drive_of_which_little_is_written_takes_little_memory() {
    if testkit::process::done_apart() {
        return;
    }
    let Some(before) = resident() else { return };
    let Spec::Flash(spec) = Preset::find("7450-max-3200").unwrap().spec else { panic!("it is flash") };
    let mut drive = FlashDrive::new(spec);
    let mut random = Random::new(1);
    let mut write = |drive: &mut FlashDrive| {
        for _ in 0..25_000 {
            let page = random.below(spec.capacity.get() / 4096);
            drive.submit(drive.now(), Tag(0), Request::new(Op::Write, Lba::new(page * 8), 8));
            drive.complete(Nanos::MAX).expect("it completes");
        }
    };
    write(&mut drive);
    let mut clone = drive.clone();
    write(&mut clone);
    let took = resident().expect("as before") - before;
    assert!(took < 1_500, "{took} MiB");
}
