//! A virtual machine that boots from the stage.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::cache::SystemImage;
use super::console::{self, ConsoleState};
use super::work::{BootTools, command};
use crate::mount::DEVICE;
use crate::task::HelperProcess;
use crate::{Choices, ProgramError, TrialError};

/// The program, and Debian's package of it.
pub const NEEDS: &[(&str, &str)] = &[("qemu-system-x86_64", "qemu-system-x86")];

/// What the kernel is told besides where its root is. On a busy machine it would take the clock of an emulated processor for
/// broken.
pub const KERNEL: &str = "console=ttyS0 quiet panic=-1 no_timer_check";

/// What GRUB says once kernel and initial RAM disk are in memory.
pub const LOADED: &str = "assay: the kernel is loaded";

/// How often the console is looked at, and so how exact the times are.
const PAUSE: Duration = Duration::from_millis(10);

/// A virtual machine, ended when this is dropped.
#[derive(Debug)]
pub struct VirtualMachine<'w> {
    /// What QEMU says it is.
    pub version: String,
    line: String,
    /// Taken when it has ended by itself.
    task: Option<HelperProcess>,
    began: Instant,
    console: PathBuf,
    papers: PathBuf,
    work: &'w BootTools<'w>,
}

/// When what was seen, since the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootTimes {
    /// The kernel was in memory; none where QEMU loads it.
    pub loaded: Option<Duration>,
    /// The system asked for a login.
    pub login: Duration,
}

impl<'w> VirtualMachine<'w> {
    /// Starts it now.
    ///
    /// # Errors
    /// If QEMU is not installed.
    pub fn start(
        choices: &Choices,
        system: &SystemImage,
        accelerator: &str,
        work: &'w BootTools<'w>,
    ) -> Result<Self, TrialError> {
        let version = work.run(command("qemu-system-x86_64")?.arg("--version"), PAUSE * 3000)?;
        let version = version.lines().next().unwrap_or_default().to_owned();
        let (console, papers) = (work.folder().join("console"), work.folder().join("papers"));
        let mut qemu = command("qemu-system-x86_64")?;
        let places = QemuPaths { console: &console, papers: &papers, device: work.stage.path() };
        qemu.args(arguments(choices, accelerator, system.root.as_deref(), &places));
        if choices.text("loader") == "direct" {
            qemu.arg("-kernel").arg(system.kernel()).arg("-initrd").arg(system.initrd());
        }
        let began = Instant::now();
        let task = HelperProcess::start_on((work.stage, &[work.folder()]), work.aftermath, &mut qemu)?;
        let line = task.line().to_owned();
        Ok(Self { version, line, task: Some(task), began, console, papers, work })
    }

    /// The command line.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Waits until the system asks for a login.
    ///
    /// # Errors
    /// If it cannot boot, does not within `limit`, or the stage is stopped.
    pub fn login(&mut self, limit: Duration) -> Result<BootTimes, TrialError> {
        let mut loaded = None;
        loop {
            let text = console::text(&self.console);
            if loaded.is_none() && text.contains(LOADED) {
                loaded = Some(self.began.elapsed());
            }
            match console::said(&text) {
                ConsoleState::Login => return Ok(BootTimes { loaded, login: self.began.elapsed() }),
                ConsoleState::Failed(said) => return Err(self.failed(said)),
                ConsoleState::Nothing => {}
            }
            self.goes_on()?;
            if self.began.elapsed() > limit {
                let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned();
                let seconds = limit.as_secs();
                return Err(self.failed(format!("no login prompt within {seconds} s; last console output: {last}")));
            }
            thread::sleep(PAUSE);
        }
    }

    /// What the system tells of its boot, once that is over.
    ///
    /// # Errors
    /// If it does not tell within `limit`, or the stage is stopped.
    pub fn papers(&mut self, limit: Duration) -> Result<String, TrialError> {
        let mut line = UnixStream::connect(&self.papers).map_err(TrialError::at(&self.papers))?;
        console::ask(&mut line, limit, || self.work.stage.continues())
    }

    /// Says no when the stage is stopped, or the machine has ended.
    fn goes_on(&mut self) -> Result<(), TrialError> {
        self.work.stage.continues()?;
        let Some(mut task) = self.task.take() else { return Err(self.failed("QEMU has ended".to_owned())) };
        if task.ended()?.is_none() {
            self.task = Some(task);
            return Ok(());
        }
        // What it has to say stands in the error; where it has nothing to say, the console has.
        task.finish(self.work.stage, PAUSE)?;
        let text = console::text(&self.console);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        Err(self.failed(format!("the virtual machine powered off; last console line: {last}")))
    }

    fn failed(&self, said: String) -> TrialError {
        TrialError::Failed { command: self.line.clone(), said }
    }
}

struct QemuPaths<'p> {
    console: &'p Path,
    papers: &'p Path,
    device: &'p Path,
}

/// What QEMU is told besides which kernel it loads: words of the choices, numbers, and paths of our own.
fn arguments(choices: &Choices, accelerator: &str, root: Option<&str>, places: &QemuPaths) -> Vec<String> {
    let memory = format!("{}M", choices.bytes("memory").get() >> 20);
    let console = format!("file,id=console,path={}", escaped(places.console));
    let papers = format!("socket,id=papers,path={},server=on,wait=off", escaped(places.papers));
    let lines = ["-chardev", &console, "-serial", "chardev:console", "-chardev", &papers, "-serial", "chardev:papers"];
    let size = ["-smp", choices.text("cpus"), "-m", &memory];
    let told = size.into_iter().chain(lines).map(str::to_owned);
    let mut all: Vec<String> = plain(accelerator).into_iter().chain(told).collect();
    all.extend(drive(places.device, choices.text("bus")));
    if choices.text("loader") == "direct" {
        let root = root.unwrap_or(bus(choices.text("bus")).0);
        all.extend(["-append".to_owned(), format!("root={root} ro {KERNEL}")]);
    }
    all
}

/// The same before anything of it is there.
pub fn told_beforehand(choices: &Choices) -> Vec<String> {
    let [console, papers, device] = ["FOLDER/console", "FOLDER/papers", DEVICE].map(Path::new);
    let accelerator = if choices.text("accel") == "auto" { "kvm|tcg" } else { choices.text("accel") };
    let root = (choices.text("system") == "debian").then_some("UUID=SYSTEM");
    let mut all = arguments(choices, accelerator, root, &QemuPaths { console, papers, device });
    if choices.text("loader") == "direct" {
        all.extend(["-kernel", "SYSTEM/vmlinuz", "-initrd", "SYSTEM/initrd.img"].map(str::to_owned));
    }
    all
}

/// A path as the value of one of QEMU's keys, in which a comma would begin another.
/// Source: qemu(1), "-drive file=file": "If the filename contains comma, you must double it".
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

/// What every virtual machine is told, with what carries out its instructions.
pub fn plain(accelerator: &str) -> Vec<String> {
    let accelerator = if accelerator == "tcg" { "tcg,thread=multi" } else { accelerator };
    let words = ["-machine", "q35", "-accel", accelerator, "-nodefaults", "-display", "none", "-no-reboot"];
    words.map(str::to_owned).to_vec()
}

/// The root as the kernel names it on a bus, and QEMU's device.
fn bus(bus: &str) -> (&'static str, &'static str) {
    match bus {
        "virtio" => ("/dev/vda1", "virtio-blk-pci,drive=drive,bootindex=1"),
        "nvme" => ("/dev/nvme0n1p1", "nvme,drive=drive,serial=assay,bootindex=1"),
        // The controller of this machine is an AHCI.
        _ => ("/dev/sda1", "ide-hd,drive=drive,bus=ide.0,bootindex=1"),
    }
}

/// The device at `path`, past the page cache of the host.
fn drive(path: &Path, on: &str) -> Vec<String> {
    let drive = format!("file={},if=none,id=drive,format=raw,cache=none,aio=native", escaped(path));
    vec!["-drive".to_owned(), drive, "-device".to_owned(), bus(on).1.to_owned()]
}

/// Whether a kernel boots with this accelerator: whether it comes to the point where it finds no root, within `limit`.
///
/// # Errors
/// If QEMU is not installed, or the stage is stopped.
pub fn boots(kernel: &Path, accelerator: &str, work: &BootTools, limit: Duration) -> Result<bool, TrialError> {
    let console = work.folder().join("probe");
    let mut qemu = command("qemu-system-x86_64")?;
    qemu.args(plain(accelerator)).args(["-m", "256M", "-chardev"]);
    qemu.arg(format!("file,id=console,path={}", escaped(&console))).args(["-serial", "chardev:console"]);
    qemu.arg("-kernel").arg(kernel).args(["-append", KERNEL]);
    match work.run(&mut qemu, limit) {
        // After its panic it is to start anew, which ends QEMU.
        Ok(_) => Ok(console::text(&console).contains("Kernel panic")),
        Err(TrialError::Program(ProgramError::Slow { .. }) | TrialError::Failed { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_in_a_path_begins_no_other_key() {
        let words = drive(Path::new("/dev/x,snapshot=on,file=/dev/sda"), "nvme");
        assert!(words[1].starts_with("file=/dev/x,,snapshot=on,,file=/dev/sda,if=none,"), "{}", words[1]);
    }
}
