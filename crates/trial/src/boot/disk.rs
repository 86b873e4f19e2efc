//! A disk with one partition: how it is made, and how it gets onto a drive.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use block::Bytes;
use host::open;
use rustix::fs::OFlags;

use super::work::{BootTools, command};
use crate::TrialError;

/// Where the partition begins, in sectors; before it is room for GRUB.
const FIRST: u32 = 2048;
/// How much is copied at once.
const CHUNK: usize = 1 << 20;
/// How long a program that makes a file system may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Makes the disk `image` whose partition has an ext4 of `size` with what is in `root`, known by `uuid`.
///
/// # Errors
/// If mkfs fails or the image cannot be written.
pub fn make(image: &Path, root: &Path, size: Bytes, uuid: &str, work: &BootTools) -> Result<(), TrialError> {
    let offset = u64::from(FIRST) * 512;
    let at = TrialError::at;
    let mut file = open::new_private(image, 0o644).map_err(at(image))?;
    file.set_len(offset + size.get()).map_err(at(image))?;
    file.write_all(&label((size.get() / 512) as u32)).map_err(at(image))?;
    let mut mkfs = command("mkfs.ext4")?;
    mkfs.args(["-q", "-F", "-U", uuid, "-E", &format!("offset={offset}"), "-d"]).arg(root).arg(image);
    mkfs.arg(format!("{}k", size.get() / 1024));
    work.run(&mut mkfs, LIMIT).map(drop)
}

/// The first sector: a partition table with one bootable partition of so many sectors.
/// Source: UEFI Specification 2.10, §5.2.1, "Legacy Master Boot Record".
fn label(sectors: u32) -> [u8; 512] {
    let mut label = [0; 512];
    // Places that cylinders, heads and sectors cannot name are given as the last that they can.
    label[446..454].copy_from_slice(&[0x80, 0xfe, 0xff, 0xff, 0x83, 0xfe, 0xff, 0xff]);
    label[454..458].copy_from_slice(&FIRST.to_le_bytes());
    label[458..462].copy_from_slice(&sectors.to_le_bytes());
    label[510..].copy_from_slice(&[0x55, 0xaa]);
    label
}

/// Puts GRUB before the partition: `boot` into the first sector up to the disk's signature, `core` behind it.
///
/// # Errors
/// If they do not fit, or the image cannot be written.
pub fn add_grub(image: &Path, boot: &Path, core: &Path) -> Result<(), TrialError> {
    let at = TrialError::at;
    let (boot, core) = (fs::read(boot).map_err(at(boot))?, fs::read(core).map_err(at(core))?);
    let room = (FIRST as usize - 1) * 512;
    if core.len() > room {
        let found = format!("GRUB takes {} B, and there is room for {room} B", core.len());
        return Err(TrialError::Unexpected { program: "grub-mkimage".to_owned(), found });
    }
    let mut file = open::own_file(image).map_err(at(image))?;
    let written = file.write_all(&boot[..440.min(boot.len())]).and_then(|()| file.seek(SeekFrom::Start(512)));
    written.and_then(|_| file.write_all(&core)).map_err(at(image))
}

/// Copies `image` to the stage, past the page cache, and has the drive keep it.
///
/// # Errors
/// If the stage is too small or cannot be written, or is stopped.
pub fn copy(image: &Path, work: &BootTools) -> Result<(), TrialError> {
    let stage = work.stage;
    let length = fs::metadata(image).map_err(TrialError::at(image))?.len();
    if length > stage.capacity().get() {
        return Err(TrialError::Lacks(format!(
            "the system takes {} and {} has {}; take a larger drive, or system = \"micro\"",
            Bytes::new(length),
            stage.path().display(),
            stage.capacity()
        )));
    }
    let mut from = File::open(image).map_err(TrialError::at(image))?;
    let mut onto = stage.open(OFlags::DIRECT)?;
    // Memory must begin where a page does.
    let mut memory = vec![0; CHUNK + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let chunk = &mut memory[start..start + CHUNK];
    let mut left = length as usize;
    while left > 0 {
        work.stage.continues()?;
        let part = &mut chunk[..left.min(CHUNK)];
        from.read_exact(part).map_err(TrialError::at(image))?;
        onto.write_all(part).map_err(TrialError::at(stage.path()))?;
        left -= part.len();
    }
    onto.sync_all().map_err(TrialError::at(stage.path()))
}
