//! Purges by the real tools: what each driver's drive has is done, and what it has not is refused before anything is changed.

use crate::support::skip;

use super::{Step, does, fails, refuses, take};

const PURGES: [Step; 8] = [
    does(
        "there are data, and a plan that purges",
        "printf 'name = \"p\"\\nrepeats = 1\\n[[step]]\\nname = \"purge\"\\ndo = \"purge\"\\n[[step]]\\nname = \"r\"\\nrw = \"randread\"\\n\
         number_ios = 4\\n' >p.toml; for d in nvme1n1 sda sdb vda; do mkfs.ext4 -qF /dev/$d || exit; done",
        &[],
    ),
    refuses(
        "nothing is purged without consent",
        "assay review /dev/nvme1n1 --plan p.toml --purge nvme-format; code=$?; blkid /dev/nvme1n1; exit $code",
        &["--destroy-data /dev/nvme1n1", "TYPE=\"ext4\""],
    ),
    refuses(
        "a controller without Sanitize is told before the run begins",
        "assay review /dev/nvme1n1 --plan p.toml --purge sanitize --destroy-data /dev/nvme1n1; code=$?; blkid /dev/nvme1n1; exit $code",
        &[
            "its controller has no Sanitize command (SANICAP 0); use nvme-format",
            "Nothing was changed",
            "TYPE=\"ext4\"",
        ],
    ),
    refuses(
        "so is a SATA drive without the security feature set",
        "assay review /dev/sda --plan p.toml --purge secure-erase --destroy-data /dev/sda; code=$?; blkid /dev/sda; exit $code",
        &["the drive does not have ATA's security feature set", "Nothing was changed", "TYPE=\"ext4\""],
    ),
    refuses(
        "and a SCSI drive that reports no SANITIZE",
        "rmmod scsi_debug; insmod /modules/scsi_debug.ko dev_size_mb=64; until [ -b /dev/sdc ]; do sleep 0.2; done\n\
         assay review /dev/sdc --plan p.toml --purge sanitize --destroy-data /dev/sdc",
        &["the drive has no SANITIZE with block erase; use discard", "Nothing was changed"],
    ),
    fails(
        "one that does not report its commands refuses itself",
        "assay review /dev/sdb --plan p.toml --purge sanitize --destroy-data /dev/sdb; code=$?; blkid /dev/sdb; exit $code",
        &["`sg_sanitize --block --quick --wait", "Illegal request, Invalid opcode", "TYPE=\"ext4\""],
    ),
    does(
        "a format is done, and the report says so",
        "assay review /dev/nvme1n1 --plan p.toml --purge nvme-format --destroy-data /dev/nvme1n1 && ! blkid /dev/nvme1n1 && \
         assay report last --out r && grep -l 'purged by NVMe format with user data erase' r/*.html",
        &["r/p-"],
    ),
    does(
        "what is discarded by virtio reads as zeroes",
        "assay review /dev/vda --plan p.toml --destroy-data /dev/vda && cmp -s -n 67108864 /dev/vda /dev/zero",
        &[],
    ),
];

#[test]
fn each_driver_purges_what_it_can_and_refuses_the_rest_before_the_run() {
    if !testkit::soak::is_whole() {
        return skip(testkit::soak::WHOLE);
    }
    take(&[&PURGES]);
}
