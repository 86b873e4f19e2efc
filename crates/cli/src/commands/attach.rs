//! `assay attach`, `attached` and `detach`: a simulated drive as a block device, or behind a socket.

mod headroom;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attach::registry::{Entry, Registry};
use attach::{AttachError, Attachment, Terms};
use block::{Bytes, Seed};
use clap::ValueHint;
use drive::preset::Preset;
use drive::{Device, Drive};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use workload::{Pattern, Stop, Workload};

use self::headroom::Quickest;
use crate::failure::Failure;

/// How often the figures of an attached drive are written anew.
const TELL: Duration = Duration::from_millis(500);
/// How often it is looked whether it is time to end.
const LOOK: Duration = Duration::from_millis(50);

/// The options of `assay attach`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The drive, by a name of `assay drives`, with or without sim: before it
    drive: String,

    /// The file that holds the data, made if it is not there [default: one that is removed afterwards]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    backing: Option<PathBuf>,

    /// Seconds of the drive for each second of the machine: 0.25 makes a drive four times slower
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed)]
    speed: f64,

    /// Attach it worn: written full, and then over again at random
    #[arg(long)]
    worn: bool,

    /// Look for requests all the time instead of sleeping, which takes a processor
    #[arg(long)]
    busy: bool,

    /// Make devices for the partitions of what is on it
    #[arg(long)]
    partitions: bool,

    /// Serve it on a Unix socket by the NBD protocol instead, which needs no root
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath, conflicts_with = "partitions")]
    nbd: Option<PathBuf>,

    /// Serve it to virtual machines on a Unix socket by vhost-user-blk instead
    #[cfg(feature = "vhost-user")]
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath, conflicts_with_all = ["partitions", "nbd"])]
    vhost_user: Option<PathBuf>,

    /// Cut the drive's power after it has answered so many requests, the kernel's own among them
    #[arg(long, value_name = "N")]
    power_cut_after: Option<u64>,

    /// Go on in the background once the device is there
    #[arg(long)]
    daemon: bool,
}

impl Arguments {
    /// The socket that it is to be served on, in whatever way; none for a block device.
    fn socket(&self) -> Option<&PathBuf> {
        #[cfg(feature = "vhost-user")]
        if self.vhost_user.is_some() {
            return self.vhost_user.as_ref();
        }
        self.nbd.as_ref()
    }

    /// Attaches a drive of this name in the way that was asked for, at `mount`.
    fn attach(&self, drive: Device, name: &str, mount: &Path, terms: &Terms) -> Result<Attachment, AttachError> {
        #[cfg(feature = "vhost-user")]
        if self.vhost_user.is_some() {
            return Attachment::by_vhost_user(drive, mount, terms);
        }
        if self.nbd.is_some() {
            return Attachment::by_nbd(drive, name, mount, terms);
        }
        Attachment::new(drive, mount, terms)
    }
}

/// What to detach.
#[derive(Clone, Debug, clap::Args)]
pub struct Detach {
    /// The device or the socket, as `assay attach` printed it
    device: PathBuf,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "give a number, such as 0.25".to_owned())?;
    if speed > 0.0 && speed <= 1.0 { Ok(speed) } else { Err("give more than 0 and at most 1".to_owned()) }
}

/// Attaches a drive and prints its device's path, first of all; ends when it is told to and nothing uses the drive.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.daemon {
        return in_background(arguments);
    }
    let name = arguments.drive.strip_prefix("sim:").unwrap_or(&arguments.drive);
    let preset = Preset::find(name)?;
    let drive = prepared(&preset, arguments.worn)?;
    let registry = Registry::open()?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let own = registry.mount_point().with_extension("data");
    let content = arguments.backing.as_ref().map_or_else(|| own.clone(), absolute);
    let socket = arguments.socket().map(absolute);
    let mount = socket.clone().unwrap_or_else(|| registry.mount_point());
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&stop)).map_err(Failure::failed)?;
    }
    let capacity = drive.shape().capacity;
    let quickest = Quickest::of(&drive)?;
    let terms = Terms {
        content: content.clone(),
        speed: arguments.speed,
        busy: arguments.busy,
        partitions: arguments.partitions,
        power_cut_after: arguments.power_cut_after,
    };
    let forget_content = || {
        if arguments.backing.is_none() {
            std::fs::remove_file(&own).ok();
        }
    };
    let mut attachment = arguments.attach(drive, name, &mount, &terms).inspect_err(|_| forget_content())?;
    if let Some(switch) = attachment.switch() {
        flag::register(SIGUSR1, switch.flag).map_err(Failure::failed)?;
        pipe::register(SIGUSR1, switch.waker).map_err(Failure::failed)?;
    }
    let mut entry = Entry {
        device: attachment.device().to_owned(),
        drive: name.to_owned(),
        capacity,
        pid: std::process::id(),
        mount,
        content,
        speed: arguments.speed,
        live: attachment.live(),
    };
    registry.enter(&entry)?;
    println!("{}", entry.device.display());
    std::io::stdout().flush().ok();
    let way = match attachment.floor() {
        Some(floor) => format!(
            "the way there costs {} a read and {} a write, which is taken off. {}",
            floor.read,
            floor.write,
            quickest.warning(floor, arguments.speed).unwrap_or_default()
        ),
        None => "what the way there costs is not known, and comes on top.".to_owned(),
    };
    tell(format_args!("{} answers as {name} would; {way}", entry.device.display()));
    let served = serve(&attachment, &mut entry, &registry, &stop);
    // The device may be somebody else's as soon as it is free.
    registry.forget(&entry);
    let detached = attachment.detach().map(drop);
    forget_content();
    served?;
    Ok(detached?)
}

/// Says something to whoever listens; in the background nobody does.
fn tell(words: std::fmt::Arguments) {
    writeln!(std::io::stderr(), "{words}").ok();
}

/// Keeps the entry up to date until it is time to end.
fn serve(attachment: &Attachment, entry: &mut Entry, registry: &Registry, stop: &AtomicBool) -> Result<(), Failure> {
    loop {
        let began = Instant::now();
        while began.elapsed() < TELL && attachment.is_served() && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
        }
        if !attachment.is_served() {
            return Ok(());
        }
        if stop.swap(false, Ordering::Relaxed) {
            if !attach::in_use(&entry.device) {
                return Ok(());
            }
            tell(format_args!(
                "{} is in use: unmount what is on it, or end its clients, first; nothing is unmounted by force",
                entry.device.display()
            ));
        }
        let had_power = entry.live.cut.is_none();
        entry.live = attachment.live();
        if let Some(cut) = entry.live.cut.filter(|_| had_power) {
            tell(format_args!(
                "{}: the power was cut after {} answers; requests in flight that failed: {}; sectors that are what they were \
                 before: {}. Detach it, and attach it again with the same --backing.",
                entry.device.display(),
                cut.answered,
                cut.unanswered,
                cut.sectors
            ));
        }
        registry.enter(entry)?;
    }
}

/// The drive as new, or written once in order and then as much again at random.
fn prepared(preset: &Preset, worn: bool) -> Result<Device, Failure> {
    let mut drive = preset.build();
    let capacity = drive.shape().capacity;
    let block = Bytes::from_mib(1).min(capacity);
    let (fill, wear) = (
        Workload { pattern: Pattern::Write, block, ..Workload::default() },
        Workload { pattern: Pattern::RandWrite, ..Workload::default() },
    );
    for workload in [fill, wear].into_iter().filter(|_| worn) {
        let workload = Workload { queue_depth: 32, stop: Stop::after_bytes(capacity), ..workload };
        engine::run_virtual(&mut drive, &workload, Seed::new(1)).map_err(Failure::failed)?;
    }
    Ok(drive)
}

/// Starts this program again without `--daemon`, and ends when it has attached.
fn in_background(_: &Arguments) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("cannot go into the background: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let words = std::env::args_os().skip(1).filter(|word| word != "--daemon");
    let mut command = Command::new("setsid");
    command.arg(program).args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut device = String::new();
    BufReader::new(child.stdout.take().expect("it was piped")).read_line(&mut device).map_err(failed)?;
    let mut told = BufReader::new(child.stderr.take().expect("it was piped"));
    if device.is_empty() {
        let mut words = String::new();
        std::io::Read::read_to_string(&mut told, &mut words).map_err(failed)?;
        return Err(Failure::failed(words.trim_start_matches("error: ").trim_end().to_owned()));
    }
    print!("{device}");
    // What it says of the way there.
    let mut words = String::new();
    told.read_line(&mut words).map_err(failed)?;
    tell(format_args!("{}", words.trim_end()));
    Ok(())
}

/// Lists what is attached.
pub fn attached() -> Result<(), Failure> {
    let entries = Registry::open()?.entries().map_err(AttachError::Broken)?;
    if entries.is_empty() {
        println!("No drive is attached. `assay attach x25-m` attaches one.");
        return Ok(());
    }
    println!(
        "{:<12} {:<20} {:>8} {:>9} {:>8} {:>5} {:>6} {:>9}",
        "device", "drive", "size", "IOPS", "MB/s", "depth", "WA", "late"
    );
    for entry in entries {
        let live = &entry.live;
        let device = entry.device.display().to_string();
        if !entry.is_alive() {
            println!("{device:<12} {:<20} its server is gone: `assay detach {device}` clears up", entry.drive);
            continue;
        }
        if let Some(cut) = live.cut {
            println!(
                "{device:<12} {:<20} without power after {} answers: `assay detach {device}`",
                entry.drive, cut.answered
            );
            continue;
        }
        let amplification = live.write_amplification.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        println!(
            "{device:<12} {:<20} {:>8} {:>9.0} {:>8.1} {:>5} {amplification:>6} {:>9}",
            entry.drive,
            entry.capacity.to_string(),
            live.iops,
            live.bandwidth / 1e6,
            live.in_flight,
            live.late_median.to_string(),
        );
    }
    Ok(())
}

/// Detaches a drive.
pub fn detach(arguments: &Detach) -> Result<(), Failure> {
    let registry = Registry::open()?;
    let entries = registry.entries().map_err(AttachError::Broken)?;
    let device = std::path::absolute(&arguments.device).unwrap_or_else(|_| arguments.device.clone());
    let Some(entry) = entries.iter().find(|entry| entry.device == device) else {
        return Err(Failure::usage(format!(
            "{} is no attached drive; `assay attached` lists them",
            arguments.device.display()
        )));
    };
    Ok(attach::detach(&registry, entry)?)
}
