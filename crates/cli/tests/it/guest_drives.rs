//! Real drivers in a virtual machine: NVMe with plain and zoned namespaces, AHCI, SCSI, virtio, and drives that the kernel
//! makes up. What each lacks that a drive has is a table in docs/drivers.md.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::support::guest::Guest;
use crate::support::{Place, skip, tool};

mod doctor;
mod faults;
mod health;
mod power;
mod purge;

/// A command, how it ends, and what it says.
struct Step {
    claim: &'static str,
    command: &'static str,
    code: i32,
    says: &'static [&'static str],
}

const fn fails(claim: &'static str, command: &'static str, says: &'static [&'static str]) -> Step {
    Step { claim, command, code: 1, says }
}

const fn does(claim: &'static str, command: &'static str, says: &'static [&'static str]) -> Step {
    Step { claim, command, code: 0, says }
}

const fn refuses(claim: &'static str, command: &'static str, says: &'static [&'static str]) -> Step {
    Step { claim, command, code: 2, says }
}

/// What the machine's drives are kept in, in images of so many MiB.
const IMAGES: [(&str, u64); 7] =
    [("plain", 64), ("zoned", 64), ("metadata", 64), ("single", 256), ("ahci", 64), ("scsi", 64), ("virtio", 64)];

/// How they are attached: a controller with a plain, a zoned and a namespace with metadata, a controller with a single one
/// of 4 KiB, and a drive each by AHCI, SCSI and virtio.
const DEVICES: [&str; 11] = [
    "nvme,id=many,serial=assay-many",
    "nvme-ns,drive=plain,bus=many,nsid=1,logical_block_size=512",
    "nvme-ns,drive=zoned,bus=many,nsid=2,logical_block_size=4096,physical_block_size=4096,zoned=on,zoned.zone_size=4M,\
     zoned.zone_capacity=3M,zoned.max_open=3,zoned.max_active=5",
    "nvme-ns,drive=metadata,bus=many,nsid=3,logical_block_size=512,ms=8",
    "nvme,id=one,serial=assay-one",
    "nvme-ns,drive=single,bus=one,nsid=1,logical_block_size=4096,physical_block_size=4096",
    "ahci,id=sata",
    "ide-hd,drive=ahci,bus=sata.0,serial=assay-ahci",
    "virtio-scsi-pci,id=scsis",
    "scsi-hd,id=scsi,drive=scsi,bus=scsis.0,serial=assay-scsi",
    "virtio-blk-pci,id=paravirtual,drive=virtio,serial=assay-virtio",
];

/// The programs of this machine that the commands use.
const PROGRAMS: [&str; 7] = ["mkfs.ext4", "smartctl", "dmsetup", "mdadm", "blkid", "fio", "jq"];

/// Boots a machine that takes these steps, each of which must end and say as it is claimed.
fn take(steps: &[&[Step]]) {
    let Some(guest) = Guest::find("guest-drives", &[], &PROGRAMS) else { return };
    let place = Place::new();
    let mut options: Vec<String> = ["-smp", "2"].map(str::to_owned).to_vec();
    for (name, mib) in IMAGES {
        File::create(place.path(name)).unwrap().set_len(mib << 20).unwrap();
        let path = place.path(name).display().to_string();
        // These stay when their device is pulled out; only a `-drive` can be slowed down.
        options.extend(match name {
            "virtio" => ["-drive".to_owned(), format!("file={path},if=none,id={name},format=raw,discard=unmap")],
            _ => {
                let node = format!("driver=raw,node-name={name},discard=unmap,file.driver=file,file.filename={path}");
                ["-blockdev".to_owned(), node]
            }
        });
    }
    options.extend(DEVICES.iter().flat_map(|device| ["-device".to_owned(), (*device).to_owned()]));
    options.extend(faults::machine(&place));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut programs: Vec<PathBuf> = PROGRAMS.iter().filter_map(|name| tool(name)).collect();
    programs.extend(guest.programs());
    programs.push(env!("CARGO_BIN_EXE_assay").into());
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    let steps: Vec<&Step> = steps.iter().copied().flatten().collect();
    let commands: Vec<String> =
        steps.iter().map(|step| format!("cd /tmp\n{}\n{}", faults::SHELL, step.command)).collect();
    let ended = guest.carry_out(&place, &programs, ("", &commands), "1G", &options);
    let mut wrong = Vec::new();
    for (step, ended) in steps.iter().zip(&ended) {
        let lacks: Vec<_> = step.says.iter().filter(|words| !plain(&ended.said).contains(**words)).collect();
        if ended.code != step.code || !lacks.is_empty() {
            let Step { claim, command, code, .. } = step;
            wrong.push(format!(
                "{claim}: {command}\nended with {} for {code}, lacks {lacks:?}:\n{}",
                ended.code, ended.said
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What was said in one line: where it is broken depends on how wide it was printed.
fn plain(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

const COMMANDS: [Step; 11] = [
    does(
        "commands read",
        "assay run /dev/ng0n1 --rw=randread --bs=4k --iodepth=8 --number_ios=100 --size=16m",
        &["io_uring with NVMe commands", "reads"],
    ),
    does(
        "what commands write the block device reads",
        "assay run /dev/ng0n1 --rw=randwrite --bs=4k --iodepth=8 --size=2m --io_size=2m --verify=crc32c && \
         assay run /dev/nvme0n1 --rw=randwrite --bs=4k --iodepth=8 --size=2m --io_size=2m --verify=crc32c --verify_only",
        &["data only read", "blocks, no mismatch"],
    ),
    does(
        "what the block device writes commands read",
        "assay run /dev/nvme0n1 --rw=randwrite --bs=8k --iodepth=4 --offset=8m --size=2m --io_size=2m --verify=crc32c && \
         assay run /dev/ng0n1 --rw=randwrite --bs=8k --iodepth=4 --offset=8m --size=2m --io_size=2m --verify=crc32c --verify_only",
        &["data only read", "blocks, no mismatch"],
    ),
    does(
        "writes are durable, and flushed",
        "assay run /dev/ng0n1 --rw=randwrite --bs=4k --number_ios=32 --fsync=8 --sync=1 --size=8m",
        &["durable writes", "flush"],
    ),
    does(
        "what is deallocated reads as zeroes",
        "! cmp -s -n 2097152 /dev/nvme0n1 /dev/zero && \
         assay run /dev/ng0n1 --rw=trim --bs=512k --iodepth=4 --size=2m --io_size=2m && \
         dd if=/dev/nvme0n1 bs=1M count=2 iflag=direct | cmp -s -n 2097152 - /dev/zero",
        &["trims"],
    ),
    does(
        "a polled run is not interrupted",
        "count() { awk '/nvme0q/ { for (i = 2; i <= 3; i++) sum += $i } END { print sum }' /proc/interrupts; }\n\
         before=$(count); assay run /dev/ng0n1 --hipri --rw=randread --bs=4k --number_ios=400; after=$(count)\n\
         echo $((after - before)) interrupts; [ $((after - before)) -lt 100 ]",
        &["reads"],
    ),
    refuses("metadata is refused", "assay run /dev/ng0n3 --rw=randread --bs=4k --number_ios=9", &["8 B of metadata"]),
    refuses(
        "a block device takes no commands",
        "assay run /dev/nvme0n1 --ioengine=io_uring_cmd --rw=randread --bs=4k --number_ios=9",
        &["name /dev/ng0n1"],
    ),
    refuses(
        "another drive takes none either",
        "assay run /dev/sda --ioengine=io_uring_cmd --rw=randread --bs=4k --number_ios=9",
        &["use ioengine=io_uring"],
    ),
    refuses(
        "threads send no commands",
        "assay run /dev/ng0n1 --ioengine=psync --rw=randread --bs=4k --number_ios=9",
        &["leave out ioengine=psync"],
    ),
    refuses(
        "a command has a longest length",
        "assay run /dev/ng0n1 --rw=randread --bs=8m --number_ios=9",
        &["more than the 512 KiB that /dev/ng0n1 takes"],
    ),
];

const ZONES: [Step; 13] = [
    fails(
        "there is nothing to read yet",
        "assay run /dev/nvme0n2 --rw=read --bs=4k --number_ios=9",
        &["nothing is written in the zones of this span of /dev/nvme0n2"],
    ),
    refuses(
        "a block is a logical block at least",
        "assay run /dev/nvme0n2 --rw=write --bs=512 --number_ios=9",
        &["block size 512 B is not a multiple of the device's logical block of 4 KiB; try 4 KiB"],
    ),
    refuses(
        "writes do not go through the page cache",
        "assay run /dev/nvme0n2 --rw=write --bs=4k --number_ios=9 --direct=0",
        &["leave out --direct=0"],
    ),
    refuses(
        "places are not checked that move",
        "assay run /dev/nvme0n2 --rw=write --bs=4k --number_ios=9 --verify=crc32c",
        &["leave verify out"],
    ),
    does(
        "zones are written in order",
        "assay run /dev/nvme0n2 --rw=write --bs=64k --iodepth=4 --io_size=20m && nvme zns report-zones /dev/nvme0n2 -d 8",
        &["SLBA: 0x1400 WP: 0xffffffffffffffff", "SLBA: 0x1800 WP: 0x1a00", "SLBA: 0x1c00 WP: 0x1c00"],
    ),
    does(
        "once over the drive is once over what can be written",
        "nvme zns reset-zone /dev/nvme0n2 -a && assay run /dev/nvme0n2 --rw=write --bs=128k --io_size=64m && nvme zns report-zones /dev/nvme0n2 -d 16 | grep -c 'State: 0xe0'",
        &[" 16"],
    ),
    does(
        "three workers obey pointers and limits",
        "assay run /dev/nvme0n2 --rw=randwrite --bs=64k --iodepth=8 --numjobs=3 --io_size=24m --runtime=60",
        &["writes"],
    ),
    does(
        "the same by commands, whose resets are queued",
        "assay run /dev/ng0n2 --rw=randwrite --bs=64k --iodepth=8 --numjobs=3 --io_size=24m --runtime=60",
        &["io_uring with NVMe commands"],
    ),
    does(
        "appends go to the zones that may be open",
        "nvme zns reset-zone /dev/nvme0n2 -a && \
         assay run /dev/ng0n2 --rw=randwrite --bs=64k --iodepth=16 --zone_append=1 --max_open_zones=2 --io_size=4m && \
         nvme zns report-zones /dev/nvme0n2 -d 16 | grep -c 'State: 0x[234]0'",
        &["zone append"],
    ),
    does(
        "reads go to what is written",
        "assay run /dev/nvme0n2 --rw=randread --bs=4k --iodepth=8 --number_ios=200",
        &["reads"],
    ),
    does(
        "fio's line is fio's",
        "fio --name=a --filename=/dev/nvme0n2 --direct=1 --zonemode=zbd --ioengine=io_uring --iodepth=8 --rw=randwrite \
         --bs=64k --number_ios=100 --max_open_zones=2 >/dev/null && \
         assay fio --name=a --filename=/dev/nvme0n2 --destroy-data=/dev/nvme0n2 --direct=1 --zonemode=zbd --ioengine=io_uring \
         --iodepth=8 --rw=randwrite --bs=64k --number_ios=100 --max_open_zones=2 >out 2>err && cat out && ! grep warning err",
        &["issued rwts: total=0,100,0,0"],
    ),
    does(
        "fio's line with commands is fio's",
        "assay fio --name=a --filename=/dev/ng0n1 --ioengine=io_uring_cmd --cmd_type=nvme --nonvectored=1 --fixedbufs=1 --rw=randread \
         --bs=4k --iodepth=4 --number_ios=50 --size=10m >out 2>err && cat out && ! grep warning err",
        &["issued rwts: total=50,0,0,0"],
    ),
    does(
        "zones are purged by resets",
        "printf 'name = \"p\"\\ntitle = \"p\"\\n[[step]]\\nname = \"purge\"\\ndo = \"purge\"\\n[[step]]\\nname = \"w\"\\nrw = \"write\"\\n\
         bs = \"64k\"\\nnumber_ios = 4\\nrepeats = 1\\n' >p.toml && assay review /dev/nvme0n2 --plan p.toml && \
         nvme zns report-zones /dev/nvme0n2 -d 16 | grep -c 'State: 0x10'",
        &[" 15"],
    ),
];

const GUARDS: [Step; 7] = [
    does("there is a file system", "mkfs.ext4 -qF /dev/nvme0n1", &[]),
    refuses(
        "it is told, and not written without consent",
        "assay run /dev/ng0n1 --rw=randwrite --bs=4k --number_ios=9",
        &["ext2, ext3 or ext4 file system on nvme0n1", "--destroy-data /dev/ng0n1"],
    ),
    refuses(
        "consent names the same device",
        "assay run /dev/ng0n1 --rw=randwrite --bs=4k --number_ios=9 --destroy-data /dev/nvme0n1",
        &["is not the target /dev/ng0n1"],
    ),
    refuses(
        "a mounted drive takes no commands that write",
        "mount /dev/nvme0n1 /mnt; assay run /dev/ng0n1 --rw=randwrite --bs=4k --number_ios=9 --destroy-data /dev/ng0n1",
        &["nvme0n1 is mounted on /mnt"],
    ),
    refuses(
        "nor is it formatted",
        "assay review /dev/nvme0n1 --purge nvme-format --quick --destroy-data /dev/nvme0n1; code=$?; umount /mnt; exit $code",
        &["nvme0n1 is mounted on /mnt"],
    ),
    refuses(
        "a drive that device-mapper holds is not formatted",
        "dmsetup create held --table '0 8192 linear /dev/nvme1n1 0'\n\
         assay review /dev/nvme1n1 --purge nvme-format --quick --destroy-data /dev/nvme1n1; code=$?; dmsetup remove held; exit $code",
        &["nvme1n1 is part of dm-0"],
    ),
    refuses(
        "with several namespaces none is formatted",
        "assay review /dev/nvme0n1 --purge nvme-format --quick --destroy-data /dev/nvme0n1",
        &["its controller has 3 namespaces"],
    ),
];

/// Several drives by one command, as the kernel names and describes them.
const GROUPS: [Step; 5] = [
    does(
        "two drives hold data",
        "mkfs.ext4 -qF /dev/nvme1n1; mkfs.ext4 -qF /dev/vda\n\
         printf 'name = \"p\"\\n[[step]]\\nname = \"write\"\\nrw = \"randwrite\"\\nbs = \"4k\"\\nnumber_ios = 20\\nrepeats = 2\\n' > p.toml",
        &[],
    ),
    refuses(
        "consent without a name says what to type, by serial numbers",
        "assay review /dev/nvme1n1 /dev/vda --plan p.toml --size 4m --destroy-data",
        &["--destroy-data=assay-one,assay-virtio"],
    ),
    refuses(
        "one that was not consented to keeps both from being begun",
        "assay review /dev/nvme1n1 /dev/vda --plan p.toml --size 4m --destroy-data=assay-one",
        &["ext2, ext3 or ext4 file system on vda", "Nothing was begun", "--destroy-data=assay-virtio"],
    ),
    refuses(
        "two names of a drive are one drive",
        "assay review /dev/nvme1n1 /dev/ng1n1 --plan p.toml --size 4m --destroy-data=assay-one",
        &["two paths to one drive"],
    ),
    does(
        "each is written by its own consent, and is known by its serial number and place",
        "assay review /dev/nvme1n1 /dev/vda --plan p.toml --size 4m --jobs 2 --destroy-data=assay-one,assay-virtio --group g && \
         assay fleet g --format csv && assay report last --out r && grep -l 'Measured at the same time' r/*.html",
        &[",complete,assay-one,nvme.", ",complete,assay-virtio,", ",slot ", " r/p-"],
    ),
];

#[test]
fn a_machine_sends_commands_writes_zones_guards_both_and_reviews_several() {
    take(&[&COMMANDS, &ZONES, &GUARDS, &GROUPS]);
}

/// More drives, and what takes long in an emulated processor.
const DRIVES: [Step; 9] = [
    does(
        "every bus is measured",
        "for d in sda sdb vda nvme1n1; do assay run /dev/$d --rw=randrw --bs=4k --iodepth=8 --number_ios=50 || exit; done",
        &["/dev/vda"],
    ),
    does(
        "null_blk has zones, of which two are conventional",
        "rmmod null_blk; insmod /modules/null_blk.ko nr_devices=1 gb=1 zoned=1 zone_size=4 zone_nr_conv=2 zone_max_open=4 \
         zone_max_active=6 && assay run /dev/nullb0 --rw=randwrite --bs=64k --iodepth=16 --size=64m --io_size=128m && \
         assay run /dev/nullb0 --rw=read --bs=64k --iodepth=16 --size=64m --io_size=32m",
        &["writes", "reads"],
    ),
    does(
        "a SCSI disk has zones",
        "rmmod scsi_debug; insmod /modules/scsi_debug.ko zbc=managed zone_size_mb=4 dev_size_mb=64 zone_nr_conv=1 zone_max_open=4 \
         sector_size=4096 && sleep 2 && grep host-managed /sys/block/sdc/queue/zoned && \
         assay run /dev/sdc --rw=randwrite --bs=64k --iodepth=8 --io_size=80m && assay run /dev/sdc --rw=randread --bs=4k --number_ios=99",
        &["writes", "reads"],
    ),
    refuses(
        "a partition that is mounted keeps the drive from being formatted",
        "printf 'o\\nn\\np\\n1\\n\\n\\nw\\n' | fdisk /dev/nvme1n1; mkfs.ext4 -qF /dev/nvme1n1p1; mount /dev/nvme1n1p1 /mnt\n\
         assay review /dev/nvme1n1 --purge nvme-format --quick --destroy-data /dev/nvme1n1; code=$?; umount /mnt; exit $code",
        &["nvme1n1p1 is mounted on /mnt"],
    ),
    refuses(
        "so does md",
        "mdadm --create /dev/md0 --run --force --level=1 --raid-devices=2 --metadata=1.2 /dev/nvme1n1p1 missing\n\
         assay review /dev/nvme1n1 --purge nvme-format --quick --destroy-data /dev/nvme1n1; code=$?; mdadm --stop /dev/md0; exit $code",
        &["nvme1n1p1 is part of md0"],
    ),
    does(
        "a drive is formatted",
        "printf 'name = \"p\"\\ntitle = \"p\"\\n[[step]]\\nname = \"purge\"\\ndo = \"purge\"\\n[[step]]\\nname = \"r\"\\nrw = \"randread\"\\n\
         number_ios = 4\\n' >p.toml && ! cmp -s /dev/nvme1n1 /dev/zero -n 4194304 && \
         assay review /dev/nvme1n1 --plan p.toml --purge nvme-format --destroy-data /dev/nvme1n1 && \
         cmp -s -n 268435456 /dev/nvme1n1 /dev/zero",
        &[],
    ),
    does(
        "a drive is reviewed",
        "assay review /dev/nvme1n1 --purge nvme-format --quick --destroy-data /dev/nvme1n1 && assay show last | head -n 40",
        &["QEMU NVMe Ctrl"],
    ),
    refuses(
        "without poll queues nothing is polled",
        "rmmod nvme && insmod /modules/nvme.ko && sleep 2 && assay run /dev/ng0n1 --hipri --rw=randread --bs=4k --number_ios=9",
        &["modprobe nvme poll_queues=N"],
    ),
    does(
        "commands need none without --hipri",
        "assay run /dev/ng0n1 --rw=randread --bs=4k --number_ios=9",
        &["io_uring with NVMe commands"],
    ),
];

#[test]
fn every_drive_of_a_machine_is_measured_and_one_is_formatted() {
    if !testkit::soak::is_asked() {
        return skip(testkit::soak::PART);
    }
    take(&[&DRIVES]);
}
