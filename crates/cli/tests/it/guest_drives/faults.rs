//! Drives that fail under a run: pulled out, with bad sectors, silent for a while or for good.

use std::fs::File;

use crate::support::{Place, skip};

use super::{Step, does, fails, refuses, take};

/// What the machine has for that: QEMU's monitor as its second serial port, a drive that cannot read sector 20000, and one
/// whose namespace can be detached, for which QEMU wants a subsystem.
pub fn machine(place: &Place) -> Vec<String> {
    let [monitor, image] = ["monitor", "bad"].map(|name| place.path(name).display().to_string());
    File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let options = [
        ("-chardev", format!("socket,id=monitor,path={monitor},server=on,wait=off")),
        ("-mon", "chardev=monitor,mode=readline".to_owned()),
        ("-serial", format!("unix:{monitor}")),
        (
            "-blockdev",
            format!(
                "driver=raw,node-name=bad,file.driver=blkdebug,file.image.driver=file,file.image.filename={image},\
                 file.inject-error.0.event=read_aio,file.inject-error.0.sector=20000,file.inject-error.0.errno=5"
            ),
        ),
        ("-device", "nvme,id=bad,serial=assay-bad,drive=bad".to_owned()),
        ("-blockdev", "driver=null-co,node-name=detached,size=67108864,read-zeroes=on".to_owned()),
        ("-device", "nvme-subsys,id=subsystem".to_owned()),
        ("-device", "nvme,id=managed,serial=assay-managed,subsys=subsystem".to_owned()),
        ("-device", "nvme-ns,drive=detached,bus=managed,nsid=1,shared=off".to_owned()),
    ];
    options.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect()
}

/// Words of the steps' shell: what the monitor is told, and waiting until what runs in the background has begun with something.
/// Before `stty` the line echoes the monitor's prompt back to it, which then stands before the first command, so a line of its
/// own ends that.
pub const SHELL: &str = "stty -F /dev/ttyS1 raw -echo\n\
     monitor() { printf '\\n%s\\n' \"$1\" >/dev/ttyS1; }\n\
     begins() { while kill -0 $! && ! grep -qs \"$1\" out; do sleep 0.2; done; sleep 1; }\n\
     ends() { wait $!; code=$?; cat out; rm out; }";

const FAULTS: [Step; 14] = [
    fails(
        "a drive that is pulled out ends the review, which keeps what it has",
        "printf 'name = \"p\"\\ntitle = \"p\"\\nrepeats = 1\\n[[step]]\\nname = \"short\"\\nrw = \"randread\"\\nnumber_ios = 9\\n\
         [[step]]\\nname = \"long\"\\nrw = \"randread\"\\niodepth = 4\\nruntime = \"20s\"\\n' >p.toml\n\
         assay review /dev/sdb --plan p.toml >out 2>&1 &\n\
         begins Long; monitor 'device_del scsi'; ends; assay show last | head -n 6; exit $code",
        &[
            "in step `long`: /dev/sdb is gone: the kernel removed the device during the run, and read of 4 KiB at offset",
            "its 1 finished measurements are stored. `assay review /dev/sdb --resume 1` continues it",
            "1 of 2 points measured",
        ],
    ),
    refuses("without the drive it does not go on", "assay review /dev/sdb --resume 1", &["/dev/sdb"]),
    refuses("nor on another", "assay review /dev/vda --resume 1", &["/dev/vda"]),
    does(
        "when it is attached again it does",
        "monitor 'device_add scsi-hd,id=again,drive=scsi,bus=scsis.0,serial=assay-scsi'\n\
         until [ -b /dev/sdb ]; do sleep 0.2; done; assay review /dev/sdb --resume 1 && assay runs",
        &["complete"],
    ),
    fails(
        "a sector that cannot be read ends a run, with what the drive says of it",
        "assay run /dev/nvme2n1 --rw=read --bs=4k --offset=8m --size=4m",
        &[
            "read of 4 KiB at offset 10240000 of /dev/nvme2n1 failed: No data available",
            "cannot read or write its medium there",
        ],
    ),
    fails(
        "or is counted",
        "assay run /dev/nvme2n1 --rw=read --bs=4k --offset=8m --size=4m --on-error=count",
        &["1 requests failed (1 reads: medium error: No data available", "All figures exclude"],
    ),
    fails(
        "so is one of a SCSI disk",
        "rmmod scsi_debug; insmod /modules/scsi_debug.ko dev_size_mb=64 opts=2; until [ -b /dev/sdc ]; do sleep 0.2; done\n\
         assay run /dev/sdc --rw=read --bs=4k --offset=2m --size=1m",
        &["offset 2383872 of /dev/sdc failed: No data available", "cannot read or write its medium there"],
    ),
    fails(
        "a drive that answers no more ends a run after --io-timeout, which names what is missing",
        "assay run /dev/vda --rw=randread --bs=4k --iodepth=4 --runtime=8 --time_based --io-timeout=3s >out 2>&1 &\n\
         begins Running; monitor 'block_set_io_throttle virtio 1 0 0 0 0 0'; ends; exit $code",
        &["4 requests failed (no answer to the read of 4 KiB at offset", "its figures are stored with a finding"],
    ),
    refuses(
        "until it answers nobody else may have it",
        "assay run /dev/vda --rw=randwrite --bs=4k --number_ios=9",
        &["/dev/vda is locked by another process"],
    ),
    does(
        "then it is measured as before",
        "monitor 'block_set_io_throttle virtio 0 0 0 0 0 0'\n\
         for second in 1 2 3 4 5 6 7 8 9; do assay run /dev/vda --rw=randread --bs=4k --number_ios=9 && exit; sleep 1; done; exit 1",
        &["reads"],
    ),
    does(
        "one that is silent for longer than --io-timeout in the middle of a run is waited for, and its latency counts",
        "dmsetup create silent --table '0 8192 linear /dev/vda 0'\n\
         assay run /dev/dm-0 --rw=randread --bs=4k --iodepth=4 --runtime=12 --time_based --io-timeout=2s >out 2>&1 &\n\
         begins Running; dmsetup suspend --nolockfs --noflush silent; sleep 5; dmsetup resume silent; \
         wait $! || exit; dmsetup remove silent; grep -E '^reads .* ([5-9]|1[0-9])[.0-9]* s$' out; code=$?; rm out; exit $code",
        &["reads"],
    ),
    fails(
        "drives of other drivers that are pulled out are told, also where failures are counted",
        "assay run /dev/vda --rw=randread --bs=4k --iodepth=4 --runtime=600 --time_based >out 2>&1 &\n\
         begins Running; monitor 'device_del paravirtual'; ends\n\
         assay run /dev/nvme2n1 --rw=randwrite --bs=4k --iodepth=4 --size=8m --runtime=600 --time_based --on-error=count >out 2>&1 &\n\
         begins Running; monitor 'device_del bad'; ends; exit $code",
        &["/dev/vda is gone", "/dev/nvme2n1 is gone", "write of 4 KiB"],
    ),
    fails(
        "so are controllers whose namespaces are devices of their own, under commands too",
        "assay run /dev/nvme1n1 --rw=randwrite --bs=64k --iodepth=64 --runtime=600 --time_based >out 2>&1 &\n\
         begins Running; monitor 'device_del one'; ends\n\
         assay run /dev/ng0n1 --hipri --rw=randread --bs=4k --iodepth=16 --runtime=600 --time_based >out 2>&1 &\n\
         begins Running; monitor 'device_del many'; ends; exit $code",
        &["/dev/nvme1n1 is gone", "/dev/ng0n1 is gone"],
    ),
    fails(
        "so is a namespace that is detached from a controller that stays",
        "assay run /dev/nvme3n1 --rw=randread --bs=4k --iodepth=4 --runtime=600 --time_based >out 2>&1 &\n\
         begins Running; nvme detach-ns /dev/nvme3 -n 1 -c 0; ends; ls /dev/nvme3; exit $code",
        &["/dev/nvme3n1 is gone", "/dev/nvme3"],
    ),
];

#[test]
fn a_drive_that_fails_ends_its_run_and_what_was_measured_is_kept() {
    if !testkit::soak::is_asked() {
        return skip(testkit::soak::PART);
    }
    take(&[&FAULTS]);
}
