//! Nothing but the named target is ever written, and nothing that a file says is executed: each way round the guard that
//! was ever found, tried as it was found.

#[path = "../support/mod.rs"]
mod support;

mod attach;
mod files;
mod options;
mod outputs;
mod resumed;
mod serve;
mod store;
mod targets;
mod texts;
mod trials;

use std::path::Path;
use std::process::Command;

/// Ends a test here where something is missing, and says so.
#[macro_export]
macro_rules! needs {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => {
                println!("skipped: {reason}");
                return;
            }
        }
    };
}

/// Runs a program; what it said, or why it could not.
pub fn tool(program: &str, words: &[&str]) -> Result<String, String> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).env("PATH", path).args(words).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(format!("{program}: {}", said(&output.stderr))) }
}

/// A loop device over a file, until it is dropped.
pub struct Loop(pub String);

impl Loop {
    /// One over this file.
    pub fn over(file: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("loop devices need root".to_owned());
        }
        tool("losetup", &["--find", "--show", file.to_str().unwrap()]).map(Self)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = tool("losetup", &["--detach", &self.0]);
    }
}

/// Something mounted on a folder, until it is dropped.
pub struct Mounted(String);

impl Mounted {
    /// What is mounted there by now.
    pub fn at(folder: &Path) -> Self {
        Self(folder.to_str().unwrap().to_owned())
    }

    /// This device, on a folder that is made.
    pub fn on(device: &str, folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).unwrap();
        let folder = folder.to_str().unwrap();
        tool("mount", &[device, folder]).map(|_| Self(folder.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = tool("umount", &[&self.0]).or_else(|_| tool("umount", &["--lazy", &self.0]));
    }
}
