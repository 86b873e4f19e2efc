//! Health and self-tests by the real smartctl and nvme-cli, of drives by each driver.

use crate::support::skip;

use super::{Step, does, fails, refuses, take};

const HEALTH: [Step; 11] = [
    does(
        "an NVMe drive's health is read by smartctl",
        "assay health /dev/nvme1n1",
        &[
            "By smartctl",
            "on /dev/nvme1n1 (QEMU NVMe Ctrl)",
            "Percentage used 0 %",
            "Temperature 50 °C",
            "Error log entries 0",
        ],
    ),
    does(
        "without smartctl by nvme-cli, which says the same",
        "health() { assay health /dev/nvme1n1 --format json | jq -cM '.after.health | [.temperature_celsius, .wear_percent, \
         .uncorrectable, .spare_percent, .error_log_entries, .passed]'; }\n\
         one=$(health); mv /sbin/smartctl /tmp; two=$(health); assay health /dev/nvme1n1; mv /tmp/smartctl /sbin\n\
         echo \"$one $two\"; [ \"$one\" = \"$two\" ]",
        &["By nvme-cli on /dev/nvme1n1", "[50,0,0,0,0,true] [50,0,0,0,0,true]"],
    ),
    does(
        "a SATA drive's is read",
        "assay health /dev/sda",
        &["on /dev/sda (QEMU HARDDISK)", "Reallocated 0", "Temperature 31 °C", "Error log entries 0"],
    ),
    does(
        "a SCSI drive's temperature is read from its environment",
        "rmmod scsi_debug; insmod /modules/scsi_debug.ko dev_size_mb=64; until [ -b /dev/sdc ]; do sleep 0.2; done\n\
         assay health /dev/sdc",
        &["on /dev/sdc (Linux scsi_debug)", "Temperature 40 °C"],
    ),
    does(
        "one that tells nothing is told",
        "assay health /dev/sdb",
        &["/dev/sdb reports no health that smartctl knows"],
    ),
    does(
        "what a run writes is in the health after it, and what the drive warns of meanwhile is a finding",
        "printf 'name = \"p\"\\nrepeats = 1\\n[[step]]\\nname = \"write\"\\nrw = \"write\"\\nbs = \"64k\"\\nio_size = \"8m\"\\n\
         [[step]]\\nname = \"read\"\\nrw = \"randread\"\\nruntime = \"5s\"\\n' >p.toml\n\
         assay review /dev/nvme2n1 --plan p.toml >out 2>&1 &\n\
         begins Read; monitor 'qom-set /machine/peripheral/bad smart_critical_warning 4'; ends\n\
         assay health last; exit $code",
        &[
            "Host writes 0 B 8.",
            "The drive gives a critical warning (0x04), since this run: the reliability is degraded by media or internal",
            "The drive reports that it is failing since this run",
        ],
    ),
    does(
        "a SATA drive tests itself, and logs it",
        "assay health /dev/sda --self-test short && assay health /dev/sda --self-test long --format json | jq -cM .self_test && \
         smartctl -l selftest /dev/sda",
        &[
            "Self-test (short) of /dev/sda by smartctl: passed (completed without error).",
            "{\"by\":\"smartctl\",\"device\":\"/dev/sda\",\"outcome\":\"passed\",\"test\":\"long\",\"words\":\"completed without error\"}",
            "# 1 Extended offline Completed without error",
            "# 2 Short offline Completed without error",
        ],
    ),
    refuses(
        "an NVMe controller without self-tests is told",
        "assay health /dev/nvme1n1 --self-test short",
        &["/dev/nvme1n1 has no self-test that can be followed: its controller has no Device Self-test command (OACS)"],
    ),
    refuses(
        "so is a SCSI drive that logs none, before one is begun",
        "assay health /dev/sdc --self-test short",
        &["/dev/sdc has no self-test that can be followed: it keeps no log of self-tests"],
    ),
    refuses(
        "a drive of the kernel's own has none",
        "dmsetup create linear --table '0 8192 linear /dev/vda 0'; assay health /dev/dm-0 --self-test short; code=$?\n\
         dmsetup remove linear; exit $code",
        &["no self-test: dm-0 is a virtual device of the kernel (built on vda)"],
    ),
    fails(
        "one that smartctl cannot ask is told in its words",
        "assay health /dev/vda --self-test short",
        &["the self-test of /dev/vda failed to run", "smartctl"],
    ),
];

#[test]
fn drives_of_each_driver_tell_their_health_and_test_themselves() {
    if !testkit::soak::is_whole() {
        return skip(testkit::soak::WHOLE);
    }
    take(&[&HEALTH]);
}
