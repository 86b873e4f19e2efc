//! The doctor's advice, followed to the letter in a machine that has only been booted.

use crate::support::skip;

use super::{Step, does, take};

/// What the machine lacks is its package manager; `doctor.rs` of the tests follows its advice on packages in a fresh Debian.
const DOCTOR: [Step; 3] = [
    does(
        "what the kernel could have is advised",
        "d=/lib/modules/$(uname -r); mkdir -p $d/kernel; cp /spare/*.ko $d/kernel; depmod\n\
         assay doctor; assay doctor --format json | jq -rM '.checks[] | select(.status == \"missing\").remedy'",
        &[
            "missing O_DIRECT bypass the page cache: rootfs does not support O_DIRECT",
            "remedy: modprobe loop",
            "remedy: modprobe fuse",
            "none ublk",
            "none RAPL CPU energy: no counter found; virtual machines have none",
            "ok governor fixed CPU frequency: not adjustable on this machine",
            "ok nvme identify and format an NVMe drive: /sbin/nvme",
            "ok sg3_utils erase a SCSI drive: /sbin/sg_sanitize",
        ],
    ),
    does(
        "followed, it leads to all that the machine can have, but for packages",
        "mkfs.ext4 -qF /dev/vda && mount /dev/vda /mnt && cd /mnt\n\
         remedies() { assay doctor --format json | jq -rM '.checks[] | select(.status == \"missing\").remedy' | \
         grep -v \"with this system's package manager$\"; }\n\
         remedies >/tmp/first; cat /tmp/first; sh -e /tmp/first || exit; remedies; [ -z \"$(remedies)\" ]",
        &["modprobe loop modprobe fuse"],
    ),
    does(
        "of a kernel without the modules it is said, and nothing advised",
        "rm -r /lib/modules; rmmod loop fuse; rm -f /dev/fuse /dev/loop-control; assay doctor",
        &["none loop", "none FUSE", "a kernel with CONFIG_FUSE_FS has it"],
    ),
];

#[test]
fn the_doctors_advice_on_a_fresh_kernel_is_right_to_the_letter() {
    if !testkit::soak::is_whole() {
        return skip(testkit::soak::WHOLE);
    }
    take(&[&DOCTOR]);
}
