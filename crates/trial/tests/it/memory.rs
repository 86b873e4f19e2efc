//! A limit to the memory of the process, which has to be one of its own: the limit would bind other tests as well.

use std::fs;

use crate::support::{Staged, can_stage, choices, condition, done, experiment, figure, left_by, skip};
use block::Bytes;
use testkit::process::done_apart;

#[test]
fn memory_is_limited_for_a_trial_and_free_again() {
    if !can_stage(&["mkfs.ext4", "losetup"]) {
        return;
    }
    let told = "cache=limit size=128MiB rw=randread bs=4k runtime=1s";
    if let Some(reason) = experiment("files").unavailable(&choices("files", told)) {
        return skip(&reason);
    }
    if done_apart() {
        return;
    }
    let before = fs::read_to_string("/proc/self/cgroup").unwrap();
    let staged = Staged::on_file(Bytes::from_mib(400));
    let trial = done(&staged.stage, "files", told);
    assert!(condition(&trial, "page cache").starts_with("used, with 64 MiB of memory (cgroup) for 128 MiB of data"));
    figure(&trial, "Rate");
    let trial = done(&staged.stage, "files", "cache=limit memory=32MiB size=96MiB rw=write");
    assert!(condition(&trial, "page cache").starts_with("used, with 32 MiB"));
    figure(&trial, "Flush at the end");
    assert_eq!(fs::read_to_string("/proc/self/cgroup").unwrap(), before);
    drop(staged);
    assert_eq!(left_by(std::process::id()), [] as [String; 0]);
}
