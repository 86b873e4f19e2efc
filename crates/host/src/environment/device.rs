//! A block device, as the kernel describes it.

use std::fs;
use std::path::Path;

use block::Bytes;
use serde::{Deserialize, Serialize};

use crate::BlockDevice;
use crate::machine::word;

/// What the kernel tells of a block device: of the whole of it, where the target is a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceInfo {
    /// The kernel's name: `sda`, `nvme0n1`.
    pub name: String,
    /// The partition that is the target or holds it.
    pub partition: Option<String>,
    /// What it is made of: the file of a loop device, the devices of an array or a volume.
    pub made_of: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
    /// Its world-wide name, which no other drive or namespace has: `eui.…`, `naa.…`.
    pub wwid: Option<String>,
    /// Where it is plugged in: a bay, a slot, a SATA port, a PCI function.
    pub slot: Option<String>,
    /// The revision of its firmware.
    pub firmware: Option<String>,
    /// How it is attached: `SATA`, `NVMe`, `USB`.
    pub transport: Option<String>,
    /// How much it holds.
    pub capacity: Option<Bytes>,
    /// Whether the kernel takes it for a disk that rotates.
    pub rotational: Option<bool>,
    /// The smallest request it takes.
    pub logical_block: Option<Bytes>,
    /// The smallest write that it does without reading first, as it says.
    pub physical_block: Option<Bytes>,
    /// The kernel's scheduler for it.
    pub scheduler: Option<String>,
    /// How many requests the kernel queues for it \[`nr_requests`\].
    pub queue_requests: Option<u32>,
    /// How many commands the drive itself takes at once, where the kernel says.
    pub queue_depth: Option<u32>,
    /// Whether writes are answered from a cache: `write back`, `write through`.
    pub write_cache: Option<String>,
}

impl DeviceInfo {
    /// What is known of this device, which is plugged in there.
    pub(super) fn of(device: &BlockDevice, slot: Option<String>) -> Self {
        let plain = |name: &str| name.replace('!', "/");
        let whole = device.whole();
        let partition = device.is_partition().then(|| plain(&device.name));
        let queue = whole.join("queue");
        let device = whole.join("device");
        Self {
            name: plain(&whole.file_name().unwrap_or_default().to_string_lossy()),
            partition,
            made_of: word(&whole.join("loop/backing_file")).or_else(|| slaves(whole)),
            model: model(&device),
            serial: serial(whole),
            wwid: word(&whole.join("wwid")).or_else(|| word(&device.join("wwid"))),
            slot,
            firmware: first(&device, &["firmware_rev", "rev", "fwrev"]),
            transport: transport(whole),
            capacity: positive(&whole.join("size")).and_then(|sectors| sectors.checked_mul(512)).map(Bytes::new),
            rotational: word(&queue.join("rotational")).and_then(|flag| match flag.as_str() {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            }),
            logical_block: positive(&queue.join("logical_block_size")).map(Bytes::new),
            physical_block: positive(&queue.join("physical_block_size")).map(Bytes::new),
            scheduler: word(&queue.join("scheduler")).and_then(|line| chosen(&line)),
            queue_requests: positive(&queue.join("nr_requests")).and_then(|count| count.try_into().ok()),
            queue_depth: positive(&device.join("queue_depth")).and_then(|count| count.try_into().ok()),
            write_cache: word(&queue.join("write_cache")),
        }
    }

    /// All that is known, for people: a name and a value each.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let device = match &self.partition {
            Some(partition) => format!("{}, partition {partition}", self.name),
            None => self.name.clone(),
        };
        let kind = |rotational| if rotational { "rotating disk" } else { "solid state" };
        let rows = [
            ("Device", Some(device)),
            ("Built on", self.made_of.clone()),
            ("Model", self.model.clone()),
            ("Serial number", self.serial.clone()),
            ("World-wide name", self.wwid.clone()),
            ("Slot", self.slot.clone()),
            ("Firmware", self.firmware.clone()),
            ("Transport", self.transport.clone()),
            ("Capacity", self.capacity.map(|capacity| capacity.to_string())),
            ("Media type reported by the kernel", self.rotational.map(|rotational| kind(rotational).to_owned())),
            ("Logical block", self.logical_block.map(|block| block.to_string())),
            ("Physical block", self.physical_block.map(|block| block.to_string())),
            ("Scheduler", self.scheduler.clone()),
            ("Kernel queue depth (nr_requests)", self.queue_requests.map(|count| count.to_string())),
            ("Device queue depth", self.queue_depth.map(|count| count.to_string())),
            ("Write cache", self.write_cache.clone()),
        ];
        rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// The first of some files that holds anything.
fn first(folder: &Path, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| word(&folder.join(name)))
}

/// A whole number above zero.
fn positive(path: &Path) -> Option<u64> {
    word(path)?.parse().ok().filter(|number| *number > 0)
}

/// The model; SCSI keeps the maker apart, and has `ATA` there for every SATA drive.
fn model(device: &Path) -> Option<String> {
    let model = first(device, &["model", "name"])?;
    let vendor = word(&device.join("vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map_or(model.clone(), |vendor| format!("{vendor} {model}")))
}

/// The serial number, wherever the kind of device has it.
fn serial(whole: &Path) -> Option<String> {
    let device = whole.join("device");
    let page = || fs::read(device.join("vpd_pg80")).ok().and_then(|page| scsi_serial(&page));
    first(&device, &["serial"]).or_else(|| first(whole, &["serial"])).or_else(page)
}

/// The serial number in a SCSI "unit serial number" page: four bytes of header, the last two the length.
///
/// Source: T10, SPC-4 r37, §7.8.15 "Unit Serial Number VPD page".
fn scsi_serial(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let serial = String::from_utf8_lossy(page.get(4..4 + length)?).trim().to_owned();
    (!serial.is_empty()).then_some(serial)
}

/// The word in brackets: `none [mq-deadline] kyber`.
fn chosen(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    rest.split_once(']').map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty())
}

/// The devices that an array or a volume is made of.
fn slaves(whole: &Path) -> Option<String> {
    let mut names: Vec<String> = fs::read_dir(whole.join("slaves"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    (!names.is_empty()).then(|| names.join(", "))
}

/// How the device is attached, by the buses on its place in the tree, the nearest to the device first.
fn transport(whole: &Path) -> Option<String> {
    let is_numbered = |part: &str, prefix: &str| {
        part.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let parts = || whole.ancestors().filter_map(|place| place.file_name()?.to_str());
    let name = parts().find_map(|part| match part {
        "nvme" | "nvme-subsystem" | "nvme-fabrics" => Some("NVMe"),
        "virtual" => Some("virtual"),
        "mmc_host" => Some("MMC"),
        part if is_numbered(part, "nvme") => Some("NVMe"),
        part if is_numbered(part, "ata") => Some("SATA"),
        part if is_numbered(part, "usb") => Some("USB"),
        part if is_numbered(part, "virtio") => Some("virtio"),
        part if part.starts_with("end_device-") => Some("SAS"),
        _ => None,
    });
    // Every SCSI disk has a target between it and its host, whatever bus lies between.
    let name = name.or_else(|| parts().any(|part| part.starts_with("target")).then_some("SCSI"));
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A tree with the device `number` at `place` with these files.
    fn tree(number: &str, place: &str, files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let whole = sys.path().join("devices").join(place);
        for (path, bytes) in files {
            let path = whole.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        fs::create_dir_all(&whole).unwrap();
        fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        symlink(whole, sys.path().join("dev/block").join(number)).unwrap();
        sys
    }

    /// What is known of the device with this number, `8:1`, in the tree at `sys`.
    fn numbered(sys: &Path, number: &str) -> Option<DeviceInfo> {
        let (major, minor) = number.split_once(':').unwrap();
        BlockDevice::under(sys, (major.parse().unwrap(), minor.parse().unwrap()))
            .map(|device| DeviceInfo::of(&device, None))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_partition_leads_to_its_sata_drive() {
        let place = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        let sys = tree(
            "8:0",
            place,
            &[
                ("size", b"156301488\n"),
                ("device/model", b"INTEL SSDSA2MH08\n"),
                ("device/vendor", b"ATA     \n"),
                ("device/rev", b"8820\n"),
                ("device/vpd_pg80", b"\0\x80\0\x14  CVEM8523001N080JGN"),
                ("device/wwid", b"t10.ATA     INTEL SSDSA2MH080G1GC CVEM8523001N080JGN\n"),
                ("device/queue_depth", b"31\n"),
                ("queue/rotational", b"0\n"),
                ("queue/logical_block_size", b"512\n"),
                ("queue/physical_block_size", b"512\n"),
                ("queue/scheduler", b"none [mq-deadline] kyber\n"),
                ("queue/nr_requests", b"64\n"),
                ("queue/write_cache", b"write back\n"),
                ("sda1/partition", b"1\n"),
            ],
        );
        symlink(sys.path().join("devices").join(place).join("sda1"), sys.path().join("dev/block/8:1")).unwrap();
        let drive = DeviceInfo {
            name: "sda".to_owned(),
            partition: None,
            made_of: None,
            model: some("INTEL SSDSA2MH08"),
            serial: some("CVEM8523001N080JGN"),
            wwid: some("t10.ATA     INTEL SSDSA2MH080G1GC CVEM8523001N080JGN"),
            slot: None,
            firmware: some("8820"),
            transport: some("SATA"),
            capacity: Some(Bytes::from_sectors(156_301_488)),
            rotational: Some(false),
            logical_block: Some(Bytes::new(512)),
            physical_block: Some(Bytes::new(512)),
            scheduler: some("mq-deadline"),
            queue_requests: Some(64),
            queue_depth: Some(31),
            write_cache: some("write back"),
        };
        assert_eq!(numbered(sys.path(), "8:0").as_ref(), Some(&drive));
        let partition = DeviceInfo { partition: some("sda1"), ..drive };
        assert_eq!(numbered(sys.path(), "8:1").as_ref(), Some(&partition));
        assert_eq!(partition.rows()[0], ("Device", "sda, partition sda1".to_owned()));
    }

    #[test]
    fn an_nvme_drive_names_itself_in_its_own_files() {
        let files: &[(&str, &[u8])] = &[
            ("device/model", b"Samsung SSD 990 PRO 2TB                 \n"),
            ("device/serial", b"S6Z2NJ0TB12345A     \n"),
            ("wwid", b"eui.002538b441a0c5d1\n"),
            ("device/firmware_rev", b"4B2QJXD7\n"),
            ("queue/scheduler", b"[none] mq-deadline\n"),
        ];
        let sys = tree("259:0", "pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", files);
        let found = numbered(sys.path(), "259:0").unwrap();
        assert_eq!(
            found,
            DeviceInfo {
                name: "nvme0n1".to_owned(),
                model: some("Samsung SSD 990 PRO 2TB"),
                serial: some("S6Z2NJ0TB12345A"),
                wwid: some("eui.002538b441a0c5d1"),
                firmware: some("4B2QJXD7"),
                transport: some("NVMe"),
                scheduler: some("none"),
                ..DeviceInfo::default()
            }
        );
    }

    #[test]
    fn what_is_empty_zero_or_odd_is_none() {
        let files: &[(&str, &[u8])] = &[
            ("size", b"0\n"),
            ("serial", b"\n"),
            ("device/vendor", b"0x1af4\n"),
            ("device/vpd_pg80", b"\0\x80\0\xff1"),
            ("queue/rotational", b"7\n"),
            ("queue/nr_requests", b"0\n"),
            ("queue/scheduler", b"none\n"),
        ];
        let sys = tree("254:0", "pci0000:00/0000:00:02.0/virtio1/block/vda", files);
        let found = numbered(sys.path(), "254:0").unwrap();
        let transport = some("virtio");
        assert_eq!(found, DeviceInfo { name: "vda".to_owned(), transport, ..DeviceInfo::default() });
        assert_eq!(numbered(sys.path(), "254:1"), None);
    }

    #[test]
    fn arrays_and_loops_say_what_they_are_made_of() {
        let sys = tree("9:0", "virtual/block/md0", &[("slaves/sdb", b""), ("slaves/sda", b"")]);
        let array = numbered(sys.path(), "9:0").unwrap();
        assert_eq!((array.made_of, array.transport), (some("sda, sdb"), some("virtual")));
        let sys = tree("7:0", "virtual/block/loop0", &[("loop/backing_file", b"/srv/disk.img\n")]);
        assert_eq!(numbered(sys.path(), "7:0").unwrap().made_of, some("/srv/disk.img"));
    }

    #[test]
    fn the_bus_nearest_to_the_device_is_its_transport() {
        for (place, transport) in [
            ("/sys/devices/pci0000:00/ata3/host2/target2:0:0/2:0:0:0/block/sdb", Some("SATA")),
            ("/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdc", Some("USB")),
            ("/sys/devices/pci0000:00/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sdd", Some("SAS")),
            ("/sys/devices/platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0", Some("MMC")),
            ("/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", Some("NVMe")),
            ("/sys/devices/pseudo_0/adapter0/host7/target7:0:0/7:0:0:0/block/sdc", Some("SCSI")),
            ("/sys/devices/platform/atari/block/xd", None),
        ] {
            assert_eq!(super::transport(&PathBuf::from(place)).as_deref(), transport, "{place}");
        }
    }
}
