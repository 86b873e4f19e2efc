//! A drive that a program attaches for itself: listed while it lives, and cleared up after it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use assay_attach::registry::{AttachedEntry, Registry};
use assay_attach::{AttachError, Attachment, detach};
use drive::preset::Preset;
use testkit::process::again;

/// Whether drives can be attached on this machine; otherwise the reason is said.
pub fn can_attach() -> bool {
    let missing = [
        (!rustix::process::geteuid().is_root(), "attaching needs root"),
        (!Path::new("/dev/fuse").exists(), "there is no /dev/fuse"),
        (!Path::new("/dev/loop-control").exists(), "there is no /dev/loop-control"),
    ];
    let reason = missing.into_iter().find(|(is_missing, _)| *is_missing);
    reason.iter().for_each(|(_, reason)| testkit::skip(reason));
    reason.is_none()
}

fn attached() -> Attachment {
    let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
    Attachment::scratch("a test's X25-M", drive, 1.0).unwrap()
}

/// What is entered of a device; none if nothing is.
fn entry(device: &Path) -> Option<AttachedEntry> {
    Registry::open().unwrap().entries().unwrap().into_iter().find(|entry| entry.device == device)
}

#[test]
fn it_is_there_for_as_long_as_the_program_wants_it() {
    if !can_attach() {
        return;
    }
    let (one, other) = (attached(), attached());
    assert_ne!(one.device(), other.device(), "a program may have several");
    let device = fs::File::options().read(true).write(true).open(one.device()).unwrap();
    device.write_all_at(&[7; 4096], 1 << 20).unwrap();
    device.sync_all().unwrap();
    drop(device);
    let found = entry(one.device()).expect("it is listed");
    assert!(found.is_alive() && found.content.is_none() && found.drive == "a test's X25-M");
    let refused = detach(&Registry::open().unwrap(), &found).unwrap_err();
    assert!(matches!(refused, AttachError::Held { .. }), "{refused}");
    let path = one.device().to_owned();
    one.detach().unwrap();
    assert!(!found.place.exists());
    assert!(entry(&path).is_none_or(|now| now.place != found.place));
}

#[test]
#[ignore = "is run by another test, which kills it"]
fn attach_and_wait() {
    let attachment = attached();
    println!("\n{}", attachment.device().display());
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn what_a_killed_program_leaves_is_cleared_up() {
    if !can_attach() {
        return;
    }
    let mut program = again("scratch::attach_and_wait").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map_while(Result::ok);
    let device = PathBuf::from(lines.find(|line| line.starts_with("/dev/")).expect("it attached a drive"));
    let found = entry(&device).expect("it is listed");
    assert_eq!(found.process.pid, program.id());
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(!found.is_alive());
    detach(&Registry::open().unwrap(), &found).unwrap();
    assert!(!found.place.exists());
    assert!(host::loop_device::backing_file(&device).is_none_or(|file| file != found.place));
    assert!(entry(&device).is_none_or(|now| now.place != found.place));
}
