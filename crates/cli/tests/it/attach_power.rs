//! File systems on a drive whose power is cut under load: whole when it is back, and with every file that was synced.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::attached::{Attached, can_attach};
use crate::support::{Place, other, skip, tool};
use testkit::soak;

/// Firmware that answers as soon as data has arrived, before flash of four times its time has programmed it: there is
/// always something to lose.
const RISKY: &str = "x25-m?capacity.user=1GiB&controller.write=0us&controller.page_write=0us&nand.program=4ms";
/// A disk, whose cache is volatile, of the size of its first zone.
const DISK: &str = "raptor-150?platters.capacity=1GiB&platters.zones=1&power.spin_up_time=100ms";

/// How a file system is made, and found to be whole after its log was replayed.
struct LoadKind {
    name: &'static str,
    make: &'static [&'static str],
    /// What replays the log, if mounting is not to.
    replay: Option<&'static [&'static str]>,
    check: &'static [&'static str],
}

const EXT4: LoadKind = LoadKind {
    name: "ext4",
    make: &["mkfs.ext4", "-q", "-J", "size=4"],
    replay: Some(&["e2fsck", "-p"]),
    check: &["fsck.ext4", "-f", "-n"],
};
const XFS: LoadKind =
    LoadKind { name: "xfs", make: &["mkfs.xfs", "-q", "-f"], replay: None, check: &["xfs_repair", "-n"] };
const BTRFS: LoadKind = LoadKind {
    name: "btrfs",
    make: &["mkfs.btrfs", "-q", "-f"],
    replay: None,
    check: &["btrfs", "check", "--readonly"],
};

/// A file system on a drive whose power is cut under load.
struct Loaded {
    kind: &'static LoadKind,
    drive: &'static str,
    place: Place,
    backing: String,
    point: PathBuf,
    /// Files that were synced, whose content is their name over and over.
    kept: Vec<String>,
    sectors_lost: u64,
}

impl Loaded {
    /// A fresh one; none if this machine cannot.
    fn new(kind: &'static LoadKind, drive: &'static str) -> Option<Self> {
        if !can_attach() {
            return None;
        }
        let missing = [kind.make[0], kind.check[0]].into_iter().find(|program| tool(program).is_none());
        if let Some(program) = missing {
            skip(&format!("there is no {program}"));
            return None;
        }
        Command::new("modprobe").arg(kind.name).output().ok();
        let known = fs::read_to_string("/proc/filesystems").unwrap();
        if !known.lines().any(|line| line.trim_start_matches("nodev").trim() == kind.name) {
            skip(&format!("the kernel has no {}", kind.name));
            return None;
        }
        let place = Place::new();
        let backing = place.path("data").display().to_string();
        let point = place.path("mounted");
        fs::create_dir(&point).unwrap();
        let attached = Attached::other(&place, drive, &["--backing", &backing]);
        run(kind.make, &attached);
        attached.detach_once_free();
        Some(Self { kind, drive, place, backing, point, kept: Vec::new(), sectors_lost: 0 })
    }

    fn attach(&self) -> Attached<'_> {
        Attached::other(&self.place, self.drive, &["--backing", &self.backing])
    }

    fn mount(&self, drive: &Attached) {
        other("mount", &[&drive.device, &self.point.display().to_string()]);
    }

    fn unmount(&self) {
        other("umount", &[&self.point.display().to_string()]);
    }

    fn content(name: &str) -> Vec<u8> {
        name.repeat(1 + name.len() * 7919 % 5000).into_bytes()
    }

    /// Writes files and has each synced, and the folder with it, until one cannot be; those that were.
    fn write_synced(&self, cut: usize) -> Vec<String> {
        let write = |name: &String| {
            let mut file = File::create(self.point.join(name))?;
            file.write_all(&Self::content(name))?;
            file.sync_all()?;
            File::open(&self.point)?.sync_all()
        };
        (0..)
            .map(|number| format!("{}-{cut}-{number}", "kept".repeat(1 + number % 9)))
            .take_while(|name| write(name).is_ok())
            .collect()
    }

    /// Writes over a file again and again without having it synced, past the page cache and through it.
    fn write_loose(&self, cut: usize, stop: &AtomicBool) {
        let mut memory = vec![b'-'; 3 * 4096];
        let start = memory.as_ptr().align_offset(4096);
        let data = &mut memory[start..start + 8192];
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        let direct =
            File::options().write(true).create(true).truncate(false).custom_flags(flags).open(self.point.join("loose"));
        let Ok(direct) = direct else { return };
        for round in 0_u64.. {
            let done = direct.write_all_at(data, round * 7919 % 2000 * 4096);
            let also = fs::write(self.point.join(format!("loose-{cut}-{}", round % 50)), &*data);
            if stop.load(Ordering::Relaxed) || done.is_err() || also.is_err() {
                return;
            }
        }
    }

    /// Cuts the power after a while of writing; then the file system is whole, and everything that was synced is there.
    fn survives(&mut self, cut: usize, after: Duration) {
        let this = &*self;
        let drive = this.attach();
        this.mount(&drive);
        let stop = AtomicBool::new(false);
        let (mut kept, lost) = thread::scope(|scope| {
            let synced = [0, 1].map(|writer| scope.spawn(move || this.write_synced(2 * cut + writer)));
            scope.spawn(|| this.write_loose(cut, &stop));
            thread::sleep(after);
            drive.cut_power();
            let lost = drive.cut()["sectors"].as_u64().unwrap();
            stop.store(true, Ordering::Relaxed);
            (synced.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>(), lost)
        });
        this.unmount();
        drive.detach_once_free();
        let drive = this.attach();
        this.is_whole(cut, &drive);
        this.mount(&drive);
        for name in kept.iter().chain(&this.kept) {
            let found = fs::read(this.point.join(name)).unwrap_or_default();
            assert!(found == Self::content(name), "cut {cut}: {name} was synced and has {} bytes", found.len());
        }
        this.unmount();
        drive.detach_once_free();
        self.kept.append(&mut kept);
        self.sectors_lost += lost;
    }

    /// Replays the log and has the file system checked.
    fn is_whole(&self, cut: usize, drive: &Attached) {
        match self.kind.replay {
            Some(replay) => {
                let mut command = Command::new(tool(replay[0]).unwrap());
                let replayed = command.args(&replay[1..]).arg(&drive.device).output().unwrap();
                assert!(matches!(replayed.status.code(), Some(0 | 1)), "cut {cut}: {replayed:?}");
            }
            None => {
                self.mount(drive);
                self.unmount();
            }
        }
        drive.until_free();
        run(self.kind.check, drive);
    }
}

/// Runs a program on a device, which must succeed.
fn run(words: &[&str], drive: &Attached) {
    other(words[0], &[&words[1..], &[&*drive.device]].concat());
}

/// Cuts the power so many times, at moments that the seed gives.
fn survives(kind: &'static LoadKind, drive: &'static str, cuts: usize) {
    let Some(mut loaded) = Loaded::new(kind, drive) else { return };
    let mut random = soak::random();
    // On a machine that is busy some cuts find nothing to lose; those are no proof.
    for cut in 0.. {
        let is_proof = loaded.kept.len() > cuts && loaded.sectors_lost > 0;
        if cut >= cuts && is_proof {
            break;
        }
        assert!(cut < cuts + 30, "{} files synced, {} sectors lost", loaded.kept.len(), loaded.sectors_lost);
        loaded.survives(cut, Duration::from_millis(100 + random.below(300)));
    }
    let (kept, lost) = (loaded.kept.len(), loaded.sectors_lost);
    eprintln!("{}, {cuts} power cuts: {kept} files synced, {lost} sectors lost", kind.name);
}

#[test]
fn ext4_loses_no_synced_file_when_the_power_is_cut() {
    survives(&EXT4, RISKY, soak::times(2, 100));
}

#[test]
fn xfs_loses_no_synced_file_when_the_power_is_cut() {
    survives(&XFS, RISKY, soak::times(2, 100));
}

#[test]
fn btrfs_loses_no_synced_file_when_the_power_is_cut() {
    survives(&BTRFS, RISKY, soak::times(2, 100));
}

#[test]
fn no_synced_file_is_lost_on_a_disk_with_a_volatile_cache() {
    survives(&EXT4, DISK, soak::times(2, 50));
}
