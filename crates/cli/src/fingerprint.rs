//! What tells a real target from another that has its name.
//!
//! A file that was deleted and made again, and a device behind a name that was another's, look the same to whom
//! asks by name and size. A run that goes on must be on what it began on.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::UNIX_EPOCH;

use lab::Environment;
use store::Run;

/// What is at `path`, in words that are the same as long as it is the same.
///
/// # Errors
/// If there is nothing, or it cannot be asked.
pub fn of(path: &Path) -> io::Result<String> {
    let path = &host::block_path(path);
    let found = fs::metadata(path)?;
    if found.file_type().is_block_device() { of_device(path) } else { Ok(format!("a file ({})", of_file(&found))) }
}

/// The same of a file that is open; of anything else its kind alone.
///
/// # Errors
/// If it cannot be asked.
pub fn of_open(file: &File) -> io::Result<String> {
    let found = file.metadata()?;
    if found.is_file() { Ok(format!("a file ({})", of_file(&found))) } else { Ok("no regular file".to_owned()) }
}

/// Whether what a run was on may be at this path: it is, or nothing tells it from others.
pub fn may_be(run: &Run, path: &str) -> bool {
    let found = || of(Path::new(path)).ok();
    run.target_fingerprint.as_ref().is_none_or(|was| found().is_some_and(|found| found == *was))
}

/// Whether a run was on the drive that is at this path now, by its serial number: names in /dev change with the order in
/// which drives are found.
pub fn is_drive_of(run: &Run, path: &str) -> bool {
    const SERIAL: &str = "serial ";
    let was = run.target_fingerprint.as_ref().filter(|was| was.starts_with("a block device") && was.contains(SERIAL));
    was.is_some_and(|was| of(Path::new(path)).is_ok_and(|found| found == *was))
}

/// Inode and time of birth: a file in the place of a deleted one may get its inode, but is younger. The device
/// that holds the file is left out, because the kernel may number it anew when the machine starts.
fn of_file(found: &Metadata) -> String {
    let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let born = born.map_or(String::new(), |born| format!("created {}.{:09}, ", born.as_secs(), born.subsec_nanos()));
    format!("inode {}, {born}{} bytes", found.ino(), found.len())
}

/// What the device says of itself. Its name is left out: it may change with the order in which devices are found.
fn of_device(path: &Path) -> io::Result<String> {
    let bytes = File::open(path)?.seek(SeekFrom::End(0))?;
    let device = Environment::with_target(path).device.unwrap_or_default();
    let backing = device.made_of.as_ref().map(|made_of| match fs::metadata(made_of) {
        Ok(file) if file.is_file() => format!("{made_of} ({})", of_file(&file)),
        _ => made_of.clone(),
    });
    let partition = device.partition.as_deref().map(|name| name.strip_prefix(&device.name).unwrap_or(name).to_owned());
    let facts = [("model", device.model), ("serial", device.serial), ("made of", backing), ("partition", partition)];
    let facts = facts.into_iter().filter_map(|(name, fact)| Some(format!("{name} {}, ", fact?)));
    Ok(format!("a block device ({}{bytes} bytes)", facts.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stays_itself_when_it_is_written_and_is_another_when_made_again_or_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scratch.bin");
        fs::write(&path, [1; 4096]).unwrap();
        let first = of(&path).unwrap();
        assert!(first.starts_with("a file (inode ") && first.ends_with(", 4096 bytes)"), "{first}");
        File::options()
            .write(true)
            .open(&path)
            .and_then(|mut file| io::Write::write_all(&mut file, &[2; 4096]))
            .unwrap();
        assert_eq!(of(&path).unwrap(), first);
        File::options().write(true).open(&path).and_then(|file| file.set_len(512)).unwrap();
        assert_ne!(of(&path).unwrap(), first, "it was cut");
        // Both are there at once, so that the new one cannot have the old one's inode.
        fs::write(folder.path().join("other.bin"), [1; 4096]).unwrap();
        fs::rename(folder.path().join("other.bin"), &path).unwrap();
        assert_ne!(of(&path).unwrap(), first, "it was made again");
        fs::remove_file(&path).unwrap();
        assert_eq!(of(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
