//! A drive that is as large as a disk image.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use attach::DataFile;
use block::{Bytes, SECTOR};
use drive::preset::{Preset, Spec};

use crate::failure::Failure;

/// What else is changed in a drive that is to be small, until its parts fit together: flash has blocks of some size on many
/// dies, a disk zones of many tracks.
const SMALLER: [&str; 3] = ["capacity.spare=50%", "capacity.spare=300%", "capacity.spare=3000%"];

/// The same drive, as large as an image.
pub fn drive_for(image: &DataFile, preset: Preset) -> Result<Preset, Failure> {
    let (size, path) = (size_of(image)?, image.path());
    let name = preset.name.clone();
    let (field, smaller): (_, &[&str]) = match preset.spec {
        Spec::Flash(_) => ("capacity.user", &SMALLER),
        Spec::Disk(_) => ("platters.capacity", &["platters.zones=1"]),
        Spec::Dram(_) => ("memory.capacity", &[]),
        Spec::Pcm(_) => ("media.capacity", &[]),
        Spec::Hybrid(_) => ("flash.capacity", &[]),
        Spec::Rig(_) => {
            return Err(Failure::usage(format!(
                "{name} is a rig, whose capacity is fixed by its drives; give a single drive with --image, such as \
                 x25-m"
            )));
        }
    };
    let change = format!("{field}={} B", size.get());
    let changed = preset.clone().changed(&change);
    let refused = match changed {
        Ok(changed) => return Ok(changed),
        Err(refused) => refused,
    };
    let small = smaller.iter().find_map(|more| preset.clone().changed(&format!("{change}&{more}")).ok());
    small.ok_or_else(|| Failure::usage(format!("{name} cannot be resized to {}, {size}: {refused}", path.display())))
}

/// How large a raw image is.
fn size_of(image: &DataFile) -> Result<Bytes, Failure> {
    let refuse = |why: String| Failure::usage(format!("{}: {why}", image.path().display()));
    let mut magic = [0; 4];
    if image.file().read_exact_at(&mut magic, 0).is_ok() && &magic == b"QFI\xfb" {
        return Err(refuse("it is in QEMU's format; `qemu-img convert -O raw` makes a raw image of it".to_owned()));
    }
    let size = image.length();
    if size == Bytes::ZERO {
        return Err(refuse("it is empty; give a raw disk image".to_owned()));
    }
    if !size.is_multiple_of(SECTOR) {
        return Err(refuse(format!("its size of {} B is not a multiple of 512 B", size.get())));
    }
    Ok(size)
}

/// The devices of partitions, as they are told.
pub fn told(partitions: &[PathBuf]) -> String {
    let paths: Vec<String> = partitions.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { String::new() } else { format!("Its partitions: {}. ", paths.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_drive_is_made_as_large_as_an_image_however_small_that_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        for (size, name) in [
            (8 << 20, "x25-m"),
            (100 << 20, "x25-m"),
            (3 << 30, "x25-m"),
            (1 << 30, "raptor-150"),
            (1 << 20, "solid-data-dram"),
        ] {
            File::create(&path).unwrap().set_len(size).unwrap();
            let image = DataFile::image(&path).unwrap();
            let preset = drive_for(&image, Preset::find(name).unwrap())
                .unwrap_or_else(|error| panic!("{name}, {size}: {}", error.words(false)));
            assert_eq!(preset.capacity().get(), size, "{name}");
        }
        let refused = |name| {
            let preset = Preset::find(name).unwrap();
            drive_for(&DataFile::image(&path).unwrap(), preset).unwrap_err().words(false)
        };
        assert!(refused("toms-x25e-16").contains("give a single drive with --image"));
        File::create(&path).unwrap().set_len(1000).unwrap();
        assert!(refused("x25-m").contains("its size of 1000 B is not a multiple"));
        File::create(&path).unwrap();
        assert!(refused("x25-m").contains("it is empty"));
        std::fs::write(&path, b"QFI\xfb and so on").unwrap();
        assert!(refused("x25-m").contains("qemu-img convert -O raw"));
    }
}
