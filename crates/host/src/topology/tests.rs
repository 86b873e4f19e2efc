//! Trees of sysfs as the kernel lays them out: Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-bus-pci,
//! drivers/scsi/scsi_transport_sas.c, drivers/nvme/host/multipath.c, drivers/pci/slot.c.

use std::os::unix::fs::symlink;

use super::*;

/// A tree of sysfs that is made up.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(tree.path("dev/block")).unwrap();
        tree
    }

    fn path(&self, place: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(place)
    }

    fn file(&self, place: &str, text: &str) -> &Self {
        let path = self.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A block device of this number at a place beneath `devices`.
    fn device(&self, number: &str, place: &str) -> &Self {
        let place = format!("devices/{place}");
        self.file(&format!("{place}/dev"), &format!("{number}\n"));
        symlink(self.path(&place), self.path("dev/block").join(number)).unwrap();
        self
    }

    /// Makes the device at `place` be made of the devices at `of`.
    fn made_of(&self, place: &str, of: &[&str]) -> &Self {
        let slaves = self.path(&format!("devices/{place}/slaves"));
        fs::create_dir_all(&slaves).unwrap();
        for one in of {
            let one = self.path(&format!("devices/{one}"));
            symlink(&one, slaves.join(one.file_name().unwrap())).unwrap();
        }
        self
    }

    fn topology(&self, number: &str) -> DeviceTopology {
        let sys = self.path("");
        let numbered = |number: &str| {
            let (major, minor) = number.split_once(':').unwrap();
            BlockDevice::under(&sys, (major.parse().unwrap(), minor.parse().unwrap()))
        };
        // The files of loop devices lie on the device whose number their name begins with.
        let holding = |file: &Path| numbered(file.file_name()?.to_str()?.split('-').next()?);
        DeviceTopology::of_device(&numbered(number).expect("the tree has it"), sys.as_path(), &holding)
    }

    /// The nearest part that two devices share, in words.
    fn shared(&self, one: &str, other: &str) -> Option<String> {
        let [one, other] = [one, other].map(|number| self.topology(number));
        assert_eq!(one.shared(&other), other.shared(&one));
        one.shared(&other).map(HostPart::to_string)
    }
}

#[test]
fn nvme_drives_behind_a_switch_share_its_upstream_port() {
    let tree = Tree::new();
    let root = "pci0000:20/0000:20:01.0";
    let switch = format!("{root}/0000:21:00.0");
    tree.device("259:0", &format!("{switch}/0000:22:00.0/0000:23:00.0/nvme/nvme0/nvme0n1"))
        .device("259:1", &format!("{switch}/0000:22:01.0/0000:24:00.0/nvme/nvme1/nvme1n1"))
        .device("259:2", &format!("{root}0/0000:30:00.0/nvme/nvme2/nvme2n1"))
        .device("259:3", "pci0000:20/0000:20:02.0/0000:31:00.0/nvme/nvme3/nvme3n1")
        .file(&format!("devices/{switch}/current_link_speed"), "8.0 GT/s PCIe\n")
        .file(&format!("devices/{switch}/current_link_width"), "4\n")
        .file(&format!("devices/{switch}/0000:22:00.0/0000:23:00.0/numa_node"), "1\n")
        .file("bus/pci/slots/12/address", "0000:23:00\n")
        .file("bus/pci/slots/7/address", "0000:31:00\n");
    assert_eq!(tree.shared("259:0", "259:1").as_deref(), Some("PCIe switch port 0000:21:00.0 (8.0 GT/s PCIe x4)"));
    assert_eq!(tree.shared("259:0", "259:3"), None, "another root port of the same host bridge");
    let drive = tree.topology("259:0");
    assert_eq!((drive.numa_node, drive.slot.as_deref()), (Some(1), Some("slot 12")));
    let kinds: Vec<HostPartKind> = drive.parts.iter().map(|part| part.kind).collect();
    use HostPartKind::{Adapter, Drive, RootPort, Switch, Target};
    assert_eq!(kinds, [Drive, Target, Adapter, Switch, Switch, RootPort]);
    assert_eq!(tree.topology("259:1").slot.as_deref(), Some("PCI 0000:24:00.0"), "the firmware names no slot");
    assert_eq!(tree.topology("259:3").slot.as_deref(), Some("slot 7"));
}

#[test]
fn namespaces_share_their_controller_and_those_of_a_subsystem_are_found_by_its_links() {
    let tree = Tree::new();
    let controller = "pci0000:00/0000:00:03.0/0000:05:00.0/nvme/nvme4";
    tree.device("259:8", &format!("{controller}/nvme4n1")).device("259:9", &format!("{controller}/nvme4n2"));
    assert_eq!(tree.shared("259:8", "259:9").as_deref(), Some("target nvme4"));
    let other = "pci0000:80/0000:80:01.0/0000:81:00.0/nvme/nvme5";
    let subsystem = "virtual/nvme-subsystem/nvme-subsys5";
    tree.file(&format!("devices/{other}/address"), "0000:81:00.0\n")
        .file("devices/pci0000:80/0000:80:01.0/0000:81:00.0/numa_node", "-1\n")
        .device("259:10", &format!("{subsystem}/nvme5n1"));
    symlink(tree.path(&format!("devices/{other}")), tree.path(&format!("devices/{subsystem}/nvme5"))).unwrap();
    let found = tree.topology("259:10");
    let names: Vec<&str> = found.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["nvme5n1", "nvme5", "0000:81:00.0", "0000:80:01.0"]);
    assert_eq!((found.numa_node, found.slot.as_deref()), (None, Some("PCI 0000:81:00.0")));
}

#[test]
fn sas_drives_behind_an_expander_share_it_and_have_bays() {
    let tree = Tree::new();
    let host = "pci0000:17/0000:17:00.0/0000:18:00.0/host6/port-6:0";
    let drive = |expander: usize, at: usize| {
        let end = format!("{host}/expander-6:{expander}/port-6:{expander}:{at}/end_device-6:{expander}:{at}");
        format!("{end}/target6:0:{at}/6:0:{at}:0/block/sd{}", ["a", "b", "c", "d"][at])
    };
    for (at, expander) in [0, 0, 1, 1].into_iter().enumerate() {
        tree.device(&format!("8:{}", at * 16), &drive(expander, at));
    }
    fs::create_dir_all(tree.path(&format!("devices/{}/device/enclosure_device:Slot 03", drive(0, 0)))).unwrap();
    assert_eq!(tree.shared("8:0", "8:16").as_deref(), Some("SAS expander expander-6:0"));
    assert_eq!(tree.shared("8:0", "8:32").as_deref(), Some("controller 0000:18:00.0"));
    assert_eq!(tree.topology("8:0").slot.as_deref(), Some("Slot 03"));
    // Two actuators of one drive are two logical units of one target.
    tree.device("8:64", &drive(0, 0).replace("6:0:0:0/block/sda", "6:0:0:1/block/sde"));
    assert_eq!(tree.shared("8:0", "8:64").as_deref(), Some("target target6:0:0"));
}

#[test]
fn sata_ports_share_their_controller_and_usb_drives_their_hub() {
    let tree = Tree::new();
    let ahci = "pci0000:00/0000:00:1f.2";
    tree.device("8:0", &format!("{ahci}/ata1/host0/target0:0:0/0:0:0:0/block/sda"))
        .device("8:16", &format!("{ahci}/ata2/host1/target1:0:0/1:0:0:0/block/sdb"));
    assert_eq!(tree.shared("8:0", "8:16").as_deref(), Some("controller 0000:00:1f.2"));
    assert_eq!(tree.topology("8:16").slot.as_deref(), Some("ata2"));
    let usb = "pci0000:00/0000:00:14.0/usb2";
    tree.device("8:32", &format!("{usb}/2-1/2-1.1/2-1.1:1.0/host6/target6:0:0/6:0:0:0/block/sdc"))
        .device("8:48", &format!("{usb}/2-1/2-1.4/2-1.4:1.0/host7/target7:0:0/7:0:0:0/block/sdd"))
        .device("8:64", &format!("{usb}/2-2/2-2:1.0/host8/target8:0:0/8:0:0:0/block/sde"));
    assert_eq!(tree.shared("8:32", "8:48").as_deref(), Some("USB hub 2-1"));
    assert_eq!(tree.shared("8:32", "8:64").as_deref(), Some("USB hub usb2"));
    assert_eq!(tree.shared("8:32", "8:0"), None, "two controllers of one host bridge");
}

#[test]
fn partitions_volumes_arrays_and_loops_lead_to_the_drives_beneath() {
    let tree = Tree::new();
    let sda = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    let nvme = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1";
    let other = "pci0000:00/0000:00:02.0/0000:02:00.0/nvme/nvme1/nvme1n1";
    tree.device("8:0", sda).device("8:1", &format!("{sda}/sda1")).device("8:2", &format!("{sda}/sda2"));
    tree.file(&format!("devices/{sda}/sda1/partition"), "1\n").file(&format!("devices/{sda}/sda2/partition"), "2\n");
    tree.device("259:0", nvme).device("259:1", other);
    assert_eq!(tree.shared("8:1", "8:2").as_deref(), Some("drive sda"));
    // A volume on a partition; an array of it and a drive; a loop device over a file on the array.
    tree.device("253:0", "virtual/block/dm-0").made_of("virtual/block/dm-0", &[&format!("{sda}/sda2")]);
    tree.device("9:0", "virtual/block/md0").made_of("virtual/block/md0", &["virtual/block/dm-0", nvme]);
    tree.device("7:0", "virtual/block/loop0")
        .file("devices/virtual/block/loop0/loop/backing_file", "/srv/9:0-disk.img\n");
    assert_eq!(tree.shared("253:0", "8:1").as_deref(), Some("drive sda"));
    assert_eq!(tree.shared("9:0", "259:0").as_deref(), Some("drive nvme0n1"));
    assert_eq!(tree.shared("7:0", "8:0").as_deref(), Some("drive sda"));
    assert_eq!(tree.shared("7:0", "259:1"), None);
    assert_eq!(tree.topology("9:0").parts.iter().filter(|part| part.kind == HostPartKind::Drive).count(), 2);
    // A file that lies on a device of its own making leads in a circle.
    tree.device("7:1", "virtual/block/loop1").file("devices/virtual/block/loop1/loop/backing_file", "/7:1-self\n");
    assert_eq!(tree.topology("7:1"), DeviceTopology::default());
}

#[test]
fn drives_behind_volume_management_hang_on_its_root_ports() {
    let tree = Tree::new();
    let vmd = "pci0000:5d/0000:5d:05.5/pci10000:00";
    tree.device("259:0", &format!("{vmd}/10000:00:02.0/10000:01:00.0/nvme/nvme0/nvme0n1"))
        .device("259:1", &format!("{vmd}/10000:00:03.0/10000:02:00.0/nvme/nvme1/nvme1n1"));
    assert_eq!(tree.shared("259:0", "259:1").as_deref(), Some("PCIe root port 0000:5d:05.5"));
}

#[test]
fn this_machine_is_read_without_surprise() {
    for device in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let path = Path::new("/dev").join(device.file_name());
        let found = DeviceTopology::of(&path);
        assert!(
            found.shared(&found).is_none_or(|part| part.kind == HostPartKind::Drive),
            "{}: {found:?}",
            path.display()
        );
    }
    assert_eq!(DeviceTopology::of(Path::new("/nowhere/at/all")), DeviceTopology::default());
}
