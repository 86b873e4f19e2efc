//! Workloads on real block devices: loop devices over sparse files. Needs root; says so where it is skipped.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_engine::{Access, IoEngine, Measurement, Purged, RealError, Submission, Target, TargetError, run_real};
use block::{Bytes, Nanos, Seed};
use rustix::io::Errno;
use tempfile::TempDir;
use workload::{Pattern, Stop, Workload};

/// Runs a program; what it said if it failed or is not installed.
fn tool(program: &str, arguments: &[&str]) -> Result<String, String> {
    let found = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(|place| Path::new(place).join(program));
    let found = found.into_iter().find(|path| path.exists()).ok_or_else(|| format!("{program} is not installed"))?;
    let output = Command::new(found).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(format!("{program}: {}", said(&output.stderr))) }
}

/// Unwraps, or ends the test saying why it was skipped.
macro_rules! needs {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => return eprintln!("skipped: {reason}"),
        }
    };
}

/// A loop device over a sparse file.
struct Loop {
    node: PathBuf,
    directory: TempDir,
}

impl Loop {
    fn new(size: Bytes) -> Result<Self, String> {
        Self::with(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(), size, &[])
    }

    fn with(directory: TempDir, size: Bytes, options: &[&str]) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("loop devices need root".to_owned());
        }
        let image = directory.path().join("image");
        File::create(&image).unwrap().set_len(size.get()).unwrap();
        let image = image.to_str().expect("the build directory has a plain name");
        let node = tool("losetup", &[options, &["--find", "--show", image]].concat())?;
        Ok(Self { node: node.into(), directory })
    }

    fn name(&self) -> &str {
        self.node.to_str().unwrap()
    }

    /// How much of the file behind it is not a hole.
    fn occupied(&self) -> Bytes {
        Bytes::from_sectors(fs::metadata(self.directory.path().join("image")).unwrap().blocks())
    }

    fn open(&self, access: &Access) -> Result<Target, TargetError> {
        Target::open(&self.node, access)
    }

    /// Refused for writing, with these words, with nothing changed; what was said.
    fn refused(&self, access: &Access, words: &str) -> TargetError {
        let before = fs::read(self.directory.path().join("image")).unwrap();
        let error = self.open(access).expect_err(words);
        assert!(error.to_string().contains(words), "wanted {words}: {error}");
        assert!(before == fs::read(self.directory.path().join("image")).unwrap(), "{words}: the device was changed");
        error
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = tool("losetup", &["--detach", self.name()]);
    }
}

/// A place where something is mounted.
struct Mounted(TempDir);

impl Mounted {
    fn new(arguments: &[&str]) -> Result<Self, String> {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        tool("mount", &[arguments, &[place.path().to_str().unwrap()]].concat())?;
        Ok(Self(place))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let place = self.0.path().to_str().unwrap();
        // A loop device over a file in it may take a moment to let go.
        let _ = tool("umount", &[place]).or_else(|_| tool("umount", &["--lazy", place]));
    }
}

/// Partitions made known to the kernel.
struct Partitions(PathBuf);

impl Partitions {
    fn new(device: &Loop) -> Result<Self, String> {
        tool("partx", &["--add", device.name()]).map(|_| Self(device.node.clone()))
    }
}

impl Drop for Partitions {
    fn drop(&mut self) {
        let _ = tool("partx", &["--delete", self.0.to_str().unwrap()]);
    }
}

fn writing() -> Access {
    Access { direct: true, writes: true, ..Access::default() }
}

fn destroying(device: &Loop) -> Access {
    Access { destroy_data: Some(device.node.clone()), ..writing() }
}

fn measure(target: &Target, workload: &Workload) -> Result<Measurement, RealError> {
    run_real(target, workload, Seed::new(7), &|_| {})
}

#[test]
fn a_clean_device_is_read_written_trimmed_and_purged() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    let mut target = device.open(&writing()).unwrap();
    assert_eq!((target.capacity(), target.block()), (Bytes::from_mib(16), Bytes::new(512)));
    assert!(
        target.is_device()
            && target.direct()
            && !target.has_holes((Bytes::ZERO, target.capacity()))
            && !target.needs_layout()
    );
    let identity = target.identity();
    assert!(identity.starts_with("block device loop") && identity.ends_with("16 MiB"), "{identity}");
    for (pattern, workers) in
        [(Pattern::Write, 1), (Pattern::RandRead, 2), (Pattern::RandWrite, 2), (Pattern::RandRw, 2)]
    {
        let stop = Stop::after_bytes(Bytes::from_mib(16));
        let workload = Workload { pattern, queue_depth: 8, workers, stop, ..Workload::default() };
        assert_eq!(measure(&target, &workload).unwrap().requests(), 4096, "{pattern}");
    }
    let full = device.occupied();
    assert!(full >= Bytes::from_mib(16), "{full}");
    let stop = Stop::after_requests(64);
    let trims =
        Workload { pattern: Pattern::Trim, block: Bytes::from_kib(64), queue_depth: 4, stop, ..Workload::default() };
    let measurement = measure(&target, &trims).unwrap();
    assert_eq!((measurement.trim.requests, measurement.trim.bytes), (64, Bytes::from_mib(4)));
    assert_eq!(full - device.occupied(), Bytes::from_mib(4));
    assert_eq!(target.purge(), Ok(Purged::Discarded(Bytes::from_mib(16))));
    assert!(device.occupied() < Bytes::from_kib(64), "{}", device.occupied());
}

/// Makes something on a device, and the word by which it should be known.
type Content = (&'static str, &'static [&'static str], &'static str);

const CONTENTS: [Content; 9] = [
    ("mkfs.ext4", &["-q"], "ext2, ext3 or ext4"),
    ("mkfs.xfs", &["-q"], "XFS"),
    ("mkfs.btrfs", &["-q"], "Btrfs"),
    ("mkfs.vfat", &[], "FAT"),
    ("mkfs.minix", &[], "minix (says blkid)"),
    ("mkswap", &[], "swap"),
    ("pvcreate", &["-q", "--config", "devices/use_devicesfile=0"], "LVM"),
    ("sfdisk-gpt", &[], "GPT"),
    ("sfdisk-dos", &[], "MBR"),
];

#[test]
fn whatever_is_on_a_device_is_found_and_kept_until_the_device_is_named_again() {
    for (program, options, words) in CONTENTS {
        let device = needs!(Loop::new(Bytes::from_mib(320)));
        let made = match program.strip_prefix("sfdisk-") {
            Some(label) => partition(&device, label),
            None => tool(program, &[options, &[device.name()]].concat()).map(|_| ()),
        };
        if let Err(reason) = made {
            eprintln!("skipped: {words}: {reason}");
            continue;
        }
        let error = device.refused(&writing(), words);
        assert!(error.to_string().contains(&format!("--destroy-data {}", device.name())), "{error}");
        let other = Access { destroy_data: Some("/dev/null".into()), ..writing() };
        device.refused(&other, "not the target");
        assert!(device.open(&Access::default()).is_ok(), "reading harms nothing");
        let mut target = device.open(&destroying(&device)).unwrap();
        assert!(matches!(target.purge(), Ok(Purged::Discarded(_))));
        drop(target);
        assert!(device.open(&writing()).is_ok(), "after a purge nothing of {words} is left");
    }
}

fn partition(device: &Loop, label: &str) -> Result<(), String> {
    let script = device.directory.path().join("script");
    fs::write(&script, format!("label: {label}\nsize=100MiB\nsize=100MiB\n")).unwrap();
    let script = script.to_str().unwrap();
    tool("sh", &["-c", &format!("sfdisk -q --no-reread {} < {script}", device.name())]).map(|_| ())
}

#[test]
fn a_mounted_device_is_refused_even_when_named_again() {
    let device = needs!(Loop::new(Bytes::from_mib(128)));
    for program in ["mkfs.ext4", "mkfs.btrfs"] {
        needs!(tool("wipefs", &["-qa", device.name()]));
        needs!(tool(program, &["-q", device.name()]));
        let mounted = needs!(Mounted::new(&[device.name()]));
        let error = device.open(&destroying(&device)).unwrap_err().to_string();
        assert!(error.contains(&format!("is mounted on {}", mounted.0.path().display())), "{error}");
        assert!(fs::read_dir(mounted.0.path()).is_ok());
        drop(mounted);
        assert!(device.open(&destroying(&device)).is_ok());
    }
}

#[test]
fn swap_in_use_is_refused_even_when_named_again() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    needs!(tool("mkswap", &[device.name()]));
    needs!(tool("swapon", &[device.name()]));
    let result = device.open(&destroying(&device));
    needs!(tool("swapoff", &[device.name()]));
    assert!(result.unwrap_err().to_string().contains("is swap in use"));
}

#[test]
fn a_device_that_another_program_has_claimed_is_refused() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    let claim = File::options().read(true).custom_flags(libc::O_EXCL).open(&device.node).unwrap();
    device.refused(&destroying(&device), "another program has claimed it");
    drop(claim);
    assert!(device.open(&writing()).is_ok());
}

#[test]
fn a_device_whose_last_holder_is_about_to_let_go_is_waited_for() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    let claim = File::options().read(true).custom_flags(libc::O_EXCL).open(&device.node).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(claim);
        });
        assert!(device.open(&writing()).is_ok());
    });
}

#[test]
fn a_device_is_free_as_soon_as_a_run_on_it_has_ended() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    for _ in 0..5 {
        let target = device.open(&writing()).unwrap();
        let stop = Stop::after_requests(1);
        let workload = Workload { pattern: Pattern::Write, queue_depth: 64, workers: 2, stop, ..Workload::default() };
        measure(&target, &workload).unwrap();
        drop(target);
        let claim = File::options().read(true).custom_flags(libc::O_EXCL).open(&device.node);
        assert!(claim.is_ok(), "{claim:?}");
    }
}

#[test]
fn a_device_is_not_free_while_one_of_its_partitions_is_mounted() {
    let device = needs!(Loop::new(Bytes::from_mib(320)));
    needs!(partition(&device, "gpt"));
    let _partitions = needs!(Partitions::new(&device));
    let second = format!("{}p2", device.name());
    needs!(tool("mkfs.ext4", &["-q", &second]));
    let free = device.refused(&writing(), "GPT partition table").to_string();
    assert!(free.contains("ext4 file system on loop") && free.contains("p2;"), "{free}");
    let _mounted = needs!(Mounted::new(&[&second]));
    device.refused(&destroying(&device), "p2 is mounted on");
    let first = Target::open(Path::new(&format!("{}p1", device.name())), &writing()).unwrap();
    assert_eq!(first.capacity(), Bytes::from_mib(100), "an empty partition beside it is free");
}

#[test]
fn requests_smaller_than_the_logical_block_are_refused_with_the_nearest_sizes() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let device = needs!(Loop::with(directory, Bytes::from_mib(16), &["--sector-size", "4096"]));
    let target = device.open(&writing()).unwrap();
    assert_eq!(target.block(), Bytes::from_kib(4));
    let stop = Stop::after_requests(1);
    for (block, offset, words) in [(512, 0, "try 4 KiB,"), (6144, 0, "try 4 KiB or 8 KiB"), (4096, 512, "offset 512 B")]
    {
        let workload = Workload { block: Bytes::new(block), offset: Bytes::new(offset), stop, ..Workload::default() };
        let error = measure(&target, &workload).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    drop(target);
    let target = device.open(&Access { direct: false, ..writing() }).unwrap();
    assert_eq!(
        measure(&target, &Workload { block: Bytes::new(512), stop, ..Workload::default() }).unwrap().requests(),
        1
    );
}

#[test]
fn a_read_only_device_may_be_read_and_a_size_beyond_its_end_may_not() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let device = needs!(Loop::with(directory, Bytes::from_mib(16), &["--read-only"]));
    device.refused(&writing(), "read-only");
    device.refused(&Access { size: Some(Bytes::from_mib(17)), ..Access::default() }, "more than");
    let target = device.open(&Access { direct: true, size: Some(Bytes::from_mib(8)), ..Access::default() }).unwrap();
    let stop = Stop::after_requests(64);
    let measurement = measure(&target, &Workload { pattern: Pattern::RandRead, stop, ..Workload::default() }).unwrap();
    assert_eq!((measurement.requests(), target.capacity()), (64, Bytes::from_mib(8)));
}

#[test]
fn a_device_that_fails_ends_the_run_with_the_place_and_the_reason() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: mounting needs root");
    }
    let memory = needs!(Mounted::new(&["-t", "tmpfs", "-o", "size=4m", "assay-test"]));
    let directory = tempfile::tempdir_in(memory.0.path()).unwrap();
    let device = needs!(Loop::with(directory, Bytes::from_mib(64), &[]));
    let target = device.open(&writing()).unwrap();
    let stop = Stop::after(Nanos::from_secs(600));
    let workload = Workload { pattern: Pattern::Write, workers: 2, queue_depth: 4, stop, ..Workload::default() };
    let error = measure(&target, &workload).unwrap_err();
    let RealError::Io { offset, .. } = &error else { panic!("{error}") };
    assert!(*offset > Bytes::ZERO && error.to_string().contains("write of 4 KiB at offset"), "{error}");
}

#[test]
fn a_file_system_without_o_direct_is_refused_and_nothing_left_behind() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: mounting needs root");
    }
    let memory = needs!(Mounted::new(&["-t", "ramfs", "assay-test"]));
    let path = memory.0.path().join("new.bin");
    let access = Access { size: Some(Bytes::from_mib(1)), ..writing() };
    let error = Target::open(&path, &access).unwrap_err().to_string();
    assert!(error.contains("on ramfs does not support O_DIRECT; add --direct=0"), "{error}");
    assert!(!path.exists());
}

#[test]
fn a_device_that_loses_its_medium_during_the_run_ends_it_with_the_kernels_reason() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    for engine in [IoEngine::IoUring, IoEngine::Psync] {
        let submission = Submission { engine, ..Submission::default() };
        let target = device.open(&Access { direct: true, submission, ..Access::default() }).unwrap();
        let image = File::options().write(true).open(device.directory.path().join("image")).unwrap();
        image.set_len(4 << 20).unwrap();
        let workload = Workload {
            pattern: Pattern::RandRead,
            queue_depth: 8,
            stop: Stop::after(Nanos::from_secs(600)),
            ..Workload::default()
        };
        let error = measure(&target, &workload).unwrap_err();
        assert!(matches!(error, RealError::Io { errno: Errno::IO, .. }), "{error}");
        assert!(error.to_string().contains("see `dmesg`"), "{error}");
        image.set_len(16 << 20).unwrap();
    }
}

#[test]
fn a_device_under_another_loop_device_or_over_the_same_file_is_in_use() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    let image = device.directory.path().join("image");
    let above = needs!(tool("losetup", &["--find", "--show", "--offset", "4194304", device.name()]));
    let said = device.refused(&writing(), "is behind").to_string();
    assert!(said.contains(&above), "{said}");
    device.refused(&destroying(&device), "is behind");
    needs!(tool("losetup", &["--detach", &above]));
    let beside = needs!(tool("losetup", &["--find", "--show", "--offset", "4194304", image.to_str().unwrap()]));
    let said = device.refused(&writing(), "is also the backing device of").to_string();
    assert!(said.contains(&beside), "{said}");
    let holder = File::open(&beside).unwrap();
    needs!(tool("losetup", &["--detach", &beside]));
    let letting_go = std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(holder);
    });
    assert!(device.open(&writing()).is_ok(), "a detached loop device stays until nobody has it open");
    letting_go.join().unwrap();
}

#[test]
fn root_takes_no_device_by_a_name_that_others_can_change() {
    let device = needs!(Loop::new(Bytes::from_mib(16)));
    let folder = device.directory.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&device.node, folder.join("link")).unwrap();
    drop(Target::open(&folder.join("link"), &writing()).unwrap());
    std::os::unix::fs::chown(&folder, Some(65_534), Some(65_534)).unwrap();
    let said = Target::open(&folder.join("link"), &writing()).unwrap_err().to_string();
    assert!(said.contains("other users can change"), "{said}");
    drop(Target::open(&folder.join("link"), &Access::default()).unwrap());
}
