//! A drive that is attached for a test.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{PATIENCE, until};

use super::{Place, other, skip, tool};

/// A small X25-M.
pub const DRIVE: &str = "x25-m?capacity.user=1GiB";

/// Whether drives can be attached on this machine; otherwise the reason is said.
pub fn can_attach() -> bool {
    let missing = [
        (!rustix::process::geteuid().is_root(), "attaching needs root"),
        (!Path::new("/dev/fuse").exists(), "there is no /dev/fuse"),
        (!Path::new("/dev/loop-control").exists(), "there is no /dev/loop-control"),
        (tool("losetup").is_none(), "there is no losetup"),
        (tool("setsid").is_none(), "there is no setsid"),
    ];
    let reason = missing.into_iter().find(|(is_missing, _)| *is_missing);
    reason.iter().for_each(|(_, reason)| skip(reason));
    reason.is_none()
}

/// A drive that is attached in the background, and taken away at the end.
pub struct Attached<'p> {
    pub place: &'p Place,
    pub device: String,
}

impl<'p> Attached<'p> {
    pub fn new(place: &'p Place, more: &[&str]) -> Self {
        Self::other(place, DRIVE, more)
    }

    pub fn other(place: &'p Place, drive: &str, more: &[&str]) -> Self {
        let device = place.succeeds(&[&["attach", drive, "--daemon"], more].concat());
        Self { place, device: device.trim().to_owned() }
    }

    pub fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.device).unwrap()
    }

    /// Opens it past the page cache.
    pub fn open_direct(&self) -> File {
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        File::options().read(true).write(true).custom_flags(flags).open(&self.device).unwrap()
    }

    /// What is entered of what it does.
    pub fn live(&self, figure: &str) -> serde_json::Value {
        self.entry()["live"][figure].clone()
    }

    /// Waits until something is so.
    pub fn until(&self, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "it never is so: {}", self.entry());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the server has told of what it does twice more, and so done what it was asked for before.
    pub fn settles(&self) {
        for _ in 0..2 {
            let told = self.live("told");
            self.until(|| self.live("told") != told);
        }
    }

    /// What is entered of it.
    pub fn entry(&self) -> serde_json::Value {
        let name = self.device.trim_start_matches("/dev").trim_matches('/').replace('/', "-");
        let entry = fs::read_to_string(format!("/run/assay/{name}.json")).unwrap();
        serde_json::from_str(&entry).unwrap()
    }

    /// The process that answers.
    pub fn pid(&self) -> u32 {
        self.entry()["pid"].as_u64().unwrap() as u32
    }

    /// Has its power cut.
    pub fn cut_power(&self) {
        other("kill", &["-USR1", &self.pid().to_string()]);
    }

    /// What the cut of its power cost, as soon as that is known.
    pub fn cut(&self) -> serde_json::Value {
        let began = Instant::now();
        loop {
            let cut = self.entry()["live"]["cut"].clone();
            if !cut.is_null() {
                return cut;
            }
            assert!(began.elapsed() < PATIENCE, "its power was not cut");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Writes the first sectors of the device past the page cache, filled with a letter.
    pub fn fill(&self, place: &Place, sectors: usize, letter: &str, more: &[&str]) {
        let file = place.path("letters").display().to_string();
        fs::write(&file, letter.repeat(512 * sectors)).unwrap();
        let [from, to] = [format!("if={file}"), format!("of={}", self.device)];
        other("dd", &[&["bs=512", "oflag=direct", "conv=notrunc", "status=none", &from, &to], more].concat());
    }

    /// A letter for each of the first sectors of the device.
    pub fn letters(&self, sectors: usize) -> String {
        let mut data = vec![0; 512 * sectors];
        self.open().read_exact(&mut data).unwrap();
        data.chunks(512).map(|sector| char::from(sector[0])).collect()
    }
}

impl Attached<'_> {
    /// Takes the drive away; its device may be another's from then on.
    pub fn detach(self) {
        self.place.succeeds(&["detach", &self.device]);
        std::mem::forget(self);
    }

    /// Waits until nobody has the device alone any more, as the kernel or udev may for a moment after a file system was on it.
    pub fn until_free(&self) {
        let alone = rustix::fs::OFlags::EXCL.bits() as i32;
        until("it is free", || File::options().read(true).custom_flags(alone).open(&self.device).is_ok());
    }

    /// Takes the drive away once nobody has its device alone any more.
    pub fn detach_once_free(self) {
        until("it is detached", || self.place.assay(&["detach", &self.device]).code == Some(0));
        std::mem::forget(self);
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.place.assay(&["detach", &self.device]);
    }
}

/// What of a process that served a drive is still there.
pub fn left_behind(pid: u32) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut left: Vec<String> =
        mounts.lines().filter(|line| line.contains(&format!("drive-{pid}-"))).map(str::to_owned).collect();
    let files = fs::read_dir("/run/assay").unwrap().map(|file| file.unwrap().path());
    left.extend(
        files
            .filter(|path| path.to_string_lossy().contains(&format!("drive-{pid}-")))
            .map(|path| path.display().to_string()),
    );
    // Its device may be another drive's by now, but none is over its file.
    let file = format!("/drive-{pid}-");
    left.extend(other("losetup", &["--all"]).lines().filter(|line| line.contains(&file)).map(str::to_owned));
    // One that has ended and waits for its parent to hear of it has no command line any more.
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    left.extend((!command.is_empty()).then(|| format!("process {pid}")));
    left
}
