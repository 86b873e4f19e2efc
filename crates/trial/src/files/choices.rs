//! What the trials of this folder can all be told: the file system, how it is mounted, and the scheduler below it.

use block::{Bytes, Nanos, Rate};

use crate::mount::{FileSystemSpec, MKFS, MOUNT};
use crate::{Choice, ChoiceKind, Choices, ChoicesError, mount};

/// What a drive is taken to move in a second, to say beforehand about how long something takes.
const USUAL: Rate = Rate::from_megabytes_per_second(200);
/// What making a file system, mounting and unmounting take, about.
const SET_UP: Nanos = Nanos::from_secs(2);

/// The file system; the raw device is the baseline that it is held against.
pub(super) const FS: Choice = Choice {
    about: "the file system created on the device; none measures the raw device",
    kind: ChoiceKind::Word(&["ext2", "ext3", "ext4", "xfs", "btrfs", "none"]),
    ..mount::FS
};

/// The size of its blocks.
pub(super) const FS_BLOCK: Choice = Choice {
    name: "fs-block",
    title: "File-system block",
    about: "block size of the file system; 0 for the default of mkfs",
    kind: ChoiceKind::Bytes,
    default: "0",
};

/// Whether what concerns the file system makes sense together.
///
/// # Errors
/// What was found, what would be right and what to do.
pub(super) fn check(choices: &Choices) -> Result<(), ChoicesError> {
    if let Some(recipe) = recipe(choices) {
        return recipe.map(drop);
    }
    let idle = [MKFS.name, MOUNT.name].into_iter().find(|name| !choices.text(name).is_empty());
    let idle = idle.or_else(|| (fs_block(choices) > Bytes::ZERO).then_some(FS_BLOCK.name));
    idle.map_or(Ok(()), |name| {
        Err(format!("`{name}` does not apply to a device without a file system; leave it out").into())
    })
}

/// What this machine lacks to make and mount the file system.
pub(super) fn unavailable(choices: &Choices) -> Option<String> {
    match choices.text("fs") {
        "none" if !rustix::process::geteuid().is_root() => {
            Some("changing settings of a device needs root; run it as root".to_owned())
        }
        "none" => None,
        fs => mount::unavailable(fs),
    }
}

/// How the file system is made and mounted; none for a raw device.
pub(super) fn recipe(choices: &Choices) -> Option<Result<FileSystemSpec, ChoicesError>> {
    let block = Some(fs_block(choices)).filter(|block| *block > Bytes::ZERO);
    (choices.text("fs") != "none").then(|| FileSystemSpec::of(choices, block))
}

/// The commands by which it is made and mounted; none for a raw device.
pub(super) fn commands(choices: &Choices) -> Vec<String> {
    recipe(choices).and_then(Result::ok).map_or(Vec::new(), |recipe| recipe.commands().into())
}

fn fs_block(choices: &Choices) -> Bytes {
    choices.bytes("fs-block")
}

/// About how long it takes to set up, move so much, and measure for so long.
pub(super) fn cost(moved: Bytes, measured: Nanos) -> Nanos {
    SET_UP + USUAL.time_for(moved) + measured
}

/// About how much a drive moves in so long.
pub(super) fn moved_in(time: Nanos) -> Bytes {
    Bytes::new((USUAL.get() as f64 * time.as_secs_f64()) as u64)
}
