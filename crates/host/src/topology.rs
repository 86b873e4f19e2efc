//! What lies between the processors and a block device: by what drives share, they slow each other down.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::machine::{entries, word};
use crate::{BlockDevice, Mount};

/// As many devices are looked at beneath one that is made of others.
const BENEATH_MAX: usize = 256;

/// What lies between the processors and a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTopology {
    /// The NUMA node that the device is attached to; none where the kernel does not say.
    pub numa_node: Option<u32>,
    /// Where it is plugged in: the bay of an enclosure, a slot that the firmware names, a SATA port, else its PCI function.
    pub slot: Option<String>,
    /// The parts, those nearest to the device first; of a device that is made of several, of each of them.
    pub parts: Vec<HostPart>,
}

/// Something that drives share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPart {
    pub kind: HostPartKind,
    /// What the kernel calls it, which no other part of the kind has.
    pub name: String,
    /// The PCI Express link above it, as fast as it is now: `16.0 GT/s PCIe x4`.
    pub link: Option<String>,
}

/// What kind of part it is, the nearest to the drive first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostPartKind {
    /// A drive, of which partitions and volumes are parts.
    Drive,
    /// A SCSI target or an NVMe controller of several units or namespaces.
    Target,
    /// A SAS expander.
    Expander,
    /// A USB hub.
    Hub,
    /// A host bus adapter: the PCI function that drives hang on.
    Adapter,
    /// A port of a PCI Express switch.
    Switch,
    /// A PCI Express root port.
    RootPort,
}

/// `SAS expander expander-0:0`, `PCIe root port 0000:00:1c.0 (8.0 GT/s PCIe x4)`.
impl fmt::Display for HostPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            HostPartKind::Drive => "drive",
            HostPartKind::Target => "target",
            HostPartKind::Expander => "SAS expander",
            HostPartKind::Hub => "USB hub",
            HostPartKind::Adapter => "controller",
            HostPartKind::Switch => "PCIe switch port",
            HostPartKind::RootPort => "PCIe root port",
        };
        write!(f, "{kind} {}", self.name)?;
        self.link.as_ref().map_or(Ok(()), |link| write!(f, " ({link})"))
    }
}

impl DeviceTopology {
    /// Of the block device, or the device that holds the file, at `path`; empty where the kernel tells nothing of it.
    pub fn of(path: &Path) -> Self {
        holding(path).map_or_else(Self::default, |device| Self::of_numbered(&device))
    }

    /// Of a device that was found.
    pub(crate) fn of_numbered(device: &BlockDevice) -> Self {
        Self::of_device(device, Path::new("/sys"), &holding)
    }

    /// The part nearest to the devices that both lie behind; none where they share none but the processors.
    pub fn shared(&self, other: &Self) -> Option<&HostPart> {
        let is_common =
            |part: &&HostPart| other.parts.iter().any(|one| (one.kind, &one.name) == (part.kind, &part.name));
        self.parts.iter().filter(is_common).min_by_key(|part| part.kind)
    }

    /// Of a device in the tree at `sys`; `holding` says which device a file is on.
    fn of_device(device: &BlockDevice, sys: &Path, holding: &dyn Fn(&Path) -> Option<BlockDevice>) -> Self {
        let mut found = Self::default();
        for leaf in beneath(device, sys, holding) {
            for place in places(&leaf) {
                let one = Self::at(&leaf, &place, sys);
                found.numa_node = found.numa_node.or(one.numa_node);
                found.slot = found.slot.or(one.slot);
                let unknown: Vec<HostPart> = one.parts.into_iter().filter(|part| !found.parts.contains(part)).collect();
                found.parts.extend(unknown);
            }
        }
        found
    }

    /// Of a device that is made of no other, whose place in the tree of devices is this.
    fn at(leaf: &Path, place: &Path, sys: &Path) -> Self {
        let ancestors: Vec<&Path> =
            place.ancestors().take_while(|folder| *folder != sys && folder.parent().is_some()).collect();
        let name = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut parts = vec![part(HostPartKind::Drive, name(leaf), None)];
        let mut hubs: Vec<HostPart> = Vec::new();
        let mut functions: Vec<(&Path, bool)> = Vec::new();
        for folder in &ancestors {
            let word = name(folder);
            if is_pci_function(&word) {
                functions.push((folder, folder.parent().is_some_and(|above| name(above).starts_with("pci"))));
            } else if word.starts_with("target") && word.contains(':') || is_numbered(&word, "nvme") {
                parts.push(part(HostPartKind::Target, word, None));
            } else if word.starts_with("expander-") {
                parts.push(part(HostPartKind::Expander, word, None));
            } else if is_usb_device(&word) {
                hubs.push(part(HostPartKind::Hub, word, None));
            }
        }
        // The innermost is the drive's own.
        parts.extend(hubs.into_iter().skip(1));
        for (at, (folder, is_root)) in functions.iter().enumerate() {
            let kind = match (at, is_root) {
                (0, _) => HostPartKind::Adapter,
                (_, true) => HostPartKind::RootPort,
                (_, false) => HostPartKind::Switch,
            };
            parts.push(part(kind, name(folder), link(folder)));
        }
        let numa = |folder: &&Path| word(&folder.join("numa_node")).and_then(|node| node.parse().ok());
        let functions: Vec<String> = functions.iter().map(|(folder, _)| name(folder)).collect();
        Self { numa_node: ancestors.iter().find_map(numa), slot: slot(leaf, &ancestors, &functions, sys), parts }
    }
}

fn part(kind: HostPartKind, name: String, link: Option<String>) -> HostPart {
    HostPart { kind, name, link }
}

/// The folders of the whole devices that a device is made of in the end: itself, or what volumes, arrays and loop devices
/// lie on.
fn beneath(device: &BlockDevice, sys: &Path, holding: &dyn Fn(&Path) -> Option<BlockDevice>) -> Vec<PathBuf> {
    let (mut left, mut known, mut leaves) = (vec![device.whole().to_owned()], Vec::new(), Vec::new());
    while let Some(whole) = left.pop().filter(|_| known.len() < BENEATH_MAX) {
        if known.contains(&whole) {
            continue;
        }
        let of_file = word(&whole.join("loop/backing_file")).and_then(|file| holding(Path::new(&file)));
        let slaves = entries(&whole.join("slaves"), "").into_iter().filter_map(|slave| {
            let (major, minor) = word(&slave.join("dev"))?.split_once(':').map(|(a, b)| (a.parse(), b.parse()))?;
            BlockDevice::under(sys, (major.ok()?, minor.ok()?))
        });
        let made_of: Vec<BlockDevice> = slaves.chain(of_file).collect();
        match made_of.is_empty() {
            true => leaves.push(whole.clone()),
            false => left.extend(made_of.iter().map(|device| device.whole().to_owned())),
        }
        known.push(whole);
    }
    leaves.sort();
    leaves
}

/// Where a device is in the tree: its own folder; of an NVMe namespace that several controllers may lead to, which has none of
/// its own there, that of each controller.
///
/// Source: Linux, drivers/nvme/host/multipath.c and core.c: a subsystem's folder links to its controllers.
fn places(leaf: &Path) -> Vec<PathBuf> {
    let subsystem =
        leaf.parent().filter(|above| above.parent().is_some_and(|folder| folder.ends_with("nvme-subsystem")));
    let is_controller = |path: &PathBuf| is_numbered(&path.file_name().unwrap_or_default().to_string_lossy(), "nvme");
    let links = subsystem.map_or_else(Vec::new, |folder| entries(folder, "nvme"));
    let controllers: Vec<PathBuf> =
        links.into_iter().filter(is_controller).filter_map(|link| link.canonicalize().ok()).collect();
    if controllers.is_empty() { vec![leaf.to_owned()] } else { controllers }
}

/// Where a device is plugged in.
///
/// Source: Linux, Documentation/PCI/sysfs-pci.rst and drivers/pci/slot.c on slots' addresses; drivers/misc/enclosure.c on
/// `enclosure_device:`.
fn slot(leaf: &Path, ancestors: &[&Path], functions: &[String], sys: &Path) -> Option<String> {
    const BAY: &str = "enclosure_device:";
    let bay = entries(&leaf.join("device"), BAY).into_iter().next();
    let bay = bay.and_then(|link| Some(link.file_name()?.to_string_lossy().strip_prefix(BAY)?.trim().to_owned()));
    let is_of = |slot: &&PathBuf| {
        let address = word(&slot.join("address"));
        address.is_some_and(|address| {
            functions.iter().any(|function| function.rsplit_once('.').is_some_and(|one| one.0 == address))
        })
    };
    let named = entries(&sys.join("bus/pci/slots"), "");
    let named = named.iter().find(is_of).and_then(|slot| Some(format!("slot {}", slot.file_name()?.to_string_lossy())));
    let ports = ancestors.iter().filter_map(|folder| folder.file_name()?.to_str());
    let port = ports.clone().find(|name| is_numbered(name, "ata")).map(str::to_owned);
    bay.or(named).or(port).or_else(|| functions.first().map(|function| format!("PCI {function}")))
}

/// How fast a PCI Express link is now.
fn link(function: &Path) -> Option<String> {
    let speed = word(&function.join("current_link_speed")).filter(|speed| speed != "Unknown")?;
    let width = word(&function.join("current_link_width")).filter(|width| width != "0")?;
    Some(format!("{speed} x{width}"))
}

/// The block device at `path`, or the one that holds the file there.
fn holding(path: &Path) -> Option<BlockDevice> {
    let path = crate::block_path(path);
    let path = path.canonicalize().or_else(|_| path.parent().unwrap_or(&path).canonicalize()).ok()?;
    let found = fs::metadata(&path).ok()?;
    if found.rdev() != 0 {
        return BlockDevice::find(found.rdev());
    }
    BlockDevice::find(found.dev()).or_else(|| {
        // Some file systems (btrfs, overlay) give files a number of their own; then the mount names its device.
        let mounts = Mount::all().ok()?;
        let source = fs::metadata(&Mount::holding(&mounts, &path)?.source).ok().filter(|source| source.rdev() != 0)?;
        BlockDevice::find(source.rdev())
    })
}

/// `0000:3b:00.0`; behind a volume management device the domain has five digits.
fn is_pci_function(name: &str) -> bool {
    let hex = |part: &str, length: std::ops::RangeInclusive<usize>| {
        length.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = name.split([':', '.']).collect();
    matches!(parts[..], [domain, bus, device, function] if hex(domain, 4..=8) && hex(bus, 2..=2) && hex(device, 2..=2) && hex(function, 1..=1))
}

/// `usb2`, a root hub, or `2-1.4`, what is plugged into port 4 of the hub in port 1.
fn is_usb_device(name: &str) -> bool {
    let ports =
        |text: &str| text.split('.').all(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    is_numbered(name, "usb")
        || name.split_once('-').is_some_and(|(bus, port)| !bus.contains('.') && ports(bus) && ports(port))
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}
