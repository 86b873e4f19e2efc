//! `assay attach`, `attached` and `detach`: a simulated drive as a block device, or behind a socket.

mod attached;
mod headroom;
mod image;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use attach::registry::Registry;
use attach::{AttachError, AttachOptions, Attachment, DataFile, Fault, FaultError, Resumed, StateFile};
use block::{Bytes, Nanos, Seed};
use clap::ValueHint;
use drive::preset::Preset;
use drive::{Device, Drive};
use host::program;
use indicatif::HumanDuration;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use workload::{Pattern, Stop, Workload};

pub use self::attached::{Detach, FaultCommand, attached, detach, fault};
use self::headroom::Quickest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::number;
use crate::progress;
use crate::target;
use crate::terminal::{complain, notice, say};

/// What is said of a drive once it is attached.
const TIMING: &str = " has the timing of ";
/// How often it is looked whether it is time to end.
const LOOK: Duration = Duration::from_millis(50);

/// The options of `assay attach`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The drive: a name of `assay drives` or the path of a drive's file, with or without sim: [default with --image: x25-m]
    #[arg(required_unless_present = "image")]
    drive: Option<String>,

    /// A raw disk image: the drive takes its size and contents
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "backing")]
    image: Option<PathBuf>,

    /// Do not modify the image: writes are lost when the drive is detached
    #[arg(long, requires = "image")]
    snapshot: bool,

    /// The file that holds the data, created if missing [default: a temporary file]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    backing: Option<PathBuf>,

    /// Use an existing --backing file that assay did not create: it is extended to the drive's size, and its contents
    /// become the drive's
    #[arg(long, requires = "backing")]
    overwrite: bool,

    /// The file of the drive's internal state, such as its mapping table and wear: loaded now, and saved when the drive
    /// is detached [default: the name of --backing with .state appended]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,

    /// Speed of the drive relative to real time: 0.25 makes it four times slower
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = target::speed)]
    speed: f64,

    /// Attach the drive conditioned: filled sequentially, then overwritten by random writes
    #[arg(long)]
    worn: bool,

    /// Poll for requests instead of sleeping; takes a whole CPU
    #[arg(long)]
    busy: bool,

    /// Create devices for its partitions
    #[arg(long)]
    partitions: bool,

    /// Serve it on a Unix socket by the NBD protocol instead; needs no root
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    nbd: Option<PathBuf>,

    /// Serve it to virtual machines on a Unix socket by vhost-user-blk instead
    #[cfg(feature = "vhost-user")]
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath, conflicts_with = "nbd")]
    vhost_user: Option<PathBuf>,

    /// Attach it by the kernel's ublk driver instead of FUSE and a loop device
    #[cfg(feature = "ublk")]
    #[arg(long, conflicts_with = "nbd")]
    #[cfg_attr(feature = "vhost-user", arg(conflicts_with = "vhost_user"))]
    ublk: bool,

    /// Cut the drive's power after this many completed requests, including the kernel's own
    #[arg(long, value_name = "N", value_parser = number::within::<u64>(0..=u64::MAX))]
    power_cut_after: Option<u64>,

    /// Inject a fault: read-error@SECTORS, write-error@SECTORS, delay=TIME, read-only, read-only-after=SIZE,
    /// vanish, vanish-after=N; with every=N for one request in N. May be given several times
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault_of)]
    faults: Vec<Fault>,

    /// Continue in the background once the device exists
    #[arg(long)]
    daemon: bool,
}

impl Arguments {
    /// The socket that it is to be served on, in whatever way; none for a block device.
    fn socket(&self) -> Option<&Path> {
        #[cfg(feature = "vhost-user")]
        if self.vhost_user.is_some() {
            return self.vhost_user.as_deref();
        }
        self.nbd.as_deref()
    }

    /// Attaches a drive of this name in the way that was asked for.
    fn attach(&self, name: &str, drive: Device, terms: &AttachOptions) -> Result<Attachment, AttachError> {
        let registry = Registry::open()?;
        #[cfg(feature = "vhost-user")]
        if let Some(socket) = &self.vhost_user {
            return Attachment::by_vhost_user(&registry, name, drive, terms, socket);
        }
        #[cfg(feature = "ublk")]
        if self.ublk {
            return Attachment::by_ublk(&registry, name, drive, terms);
        }
        match &self.nbd {
            Some(socket) => Attachment::by_nbd(&registry, name, drive, terms, socket),
            None => Attachment::new(&registry, name, drive, terms),
        }
    }
}

fn fault_of(text: &str) -> Result<Fault, FaultError> {
    text.parse()
}

/// Attaches a drive and prints its device's path, first of all; ends when it is told to and nothing uses the drive.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.daemon {
        return in_background(arguments);
    }
    // A worn drive takes a while.
    if let Some(socket) = arguments.socket().filter(|_| arguments.partitions) {
        return Err(AttachError::NoPartitions { socket: socket.to_owned() }.into());
    }
    let asked = arguments.drive.as_deref().unwrap_or("x25-m");
    let name = asked.strip_prefix("sim:").unwrap_or(asked);
    let named = target::preset(name)?;
    let Files { mut kept, image } = Files::open(arguments)?;
    let preset = match image.as_ref().or(kept.as_ref()).filter(|_| arguments.image.is_some()) {
        Some(image) => image::drive_for(image, named)?,
        None => named,
    };
    // Before a drive is conditioned for it.
    for fault in &arguments.faults {
        fault.check(preset.capacity()).map_err(Failure::usage)?;
    }
    let state = arguments.state.as_deref().map(StateFile::at);
    let state = state.or_else(|| arguments.backing.as_deref().map(StateFile::beside));
    let (drive, from) = begun(&preset, state.as_ref(), arguments, kept.as_mut())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&stop)).map_err(Failure::failed)?;
    }
    let quickest = Quickest::of(&drive)?;
    let terms = AttachOptions {
        content: kept,
        image,
        speed: arguments.speed,
        busy: arguments.busy,
        partitions: arguments.partitions,
        power_cut_after: arguments.power_cut_after,
        faults: arguments.faults.clone(),
        held: false,
    };
    let mut attachment = arguments.attach(name, drive, &terms)?;
    let found = image::told(&attachment.partitions());
    if let Some(switch) = attachment.switch() {
        flag::register(SIGUSR1, switch.flag).map_err(Failure::failed)?;
        pipe::register(SIGUSR1, switch.waker).map_err(Failure::failed)?;
    }
    let device = attachment.device().to_owned();
    say(&format!("{}\n", device.display()))?;
    let way = match attachment.floor() {
        Some(floor) => format!(
            "the attachment adds {} per read and {} per write, which is subtracted. {}",
            floor.read,
            floor.write,
            quickest.warning(floor, arguments.speed).map(|words| words + " ").unwrap_or_default()
        ),
        None => "the latency of the attachment is unknown and adds to the drive's. ".to_owned(),
    };
    tell(format_args!("{}{TIMING}{name}; {way}{found}{from}", device.display()));
    serve(&attachment, &stop);
    let mut drive = attachment.detach()?;
    match state {
        Some(state) => state.save(&preset.name, &mut drive, terms.content.as_ref()).map_err(Failure::failed),
        None => Ok(()),
    }
}

/// The files that a drive's data comes from, each opened once.
struct Files {
    /// The one whose data is still there when the drive is detached, if there is one.
    kept: Option<DataFile>,
    /// An image that stays as it is.
    image: Option<DataFile>,
}

impl Files {
    fn open(arguments: &Arguments) -> Result<Self, Failure> {
        let (mut kept, mut image) = (None, None);
        match (&arguments.image, &arguments.backing) {
            (Some(path), _) if arguments.snapshot => image = Some(DataFile::image_to_read(path)?),
            (Some(path), _) => kept = Some(DataFile::image(path)?),
            (None, Some(path)) => kept = Some(DataFile::backing(path, arguments.overwrite)?),
            (None, None) => {}
        }
        Ok(Self { kept, image })
    }
}

/// The drive as it begins, and from where it goes on, in words.
fn begun(
    preset: &Preset,
    state: Option<&StateFile>,
    arguments: &Arguments,
    kept: Option<&mut DataFile>,
) -> Result<(Device, String), Failure> {
    let fresh = |kept: Option<&mut DataFile>| {
        // Before anything that takes a while.
        kept.map_or(Ok(()), |data| data.fit(preset.capacity()))?;
        Ok((prepared(preset, arguments.image.is_some() || arguments.worn, arguments.worn)?, String::new()))
    };
    let Some(state) = state else { return fresh(kept) };
    state.prepare().map_err(Failure::usage)?;
    let path = state.path().display();
    if !state.exists() {
        return fresh(kept);
    }
    if arguments.worn {
        return Err(Failure::usage(format!(
            "--worn conditions a new drive, and {path} has the state of an existing one: leave out --worn, remove \
             {path}, or give another --state"
        )));
    }
    let Resumed { drive, is_behind, knows_data } = state.resume(preset, kept.as_deref()).map_err(Failure::usage)?;
    kept.filter(|_| knows_data).map(DataFile::is_vouched_for);
    let written = drive.counters().host_written;
    let behind = if is_behind {
        " The data is newer than the saved state, as after a killed server; the drive does not know these writes."
    } else {
        ""
    };
    Ok((drive, format!("It continues from {path}, after {written} written.{behind} ")))
}

/// Says something to whoever listens; in the background nobody does.
fn tell(words: std::fmt::Arguments) {
    complain(words);
}

/// Waits until it is time to end, and tells what happens meanwhile.
fn serve(attachment: &Attachment, stop: &AtomicBool) {
    let device = attachment.device().display();
    let mut had_power = true;
    while attachment.is_served() {
        if stop.swap(false, Ordering::Relaxed) {
            if !attach::in_use(attachment.device()) {
                return;
            }
            tell(format_args!(
                "{device} is in use: unmount it or disconnect its clients first; nothing is unmounted by force"
            ));
        }
        if let Some(cut) = attachment.live().cut.filter(|_| had_power) {
            had_power = false;
            tell(format_args!(
                "{device}: power cut after {} completions; requests in flight that failed: {}; sectors with old data: \
                 {}. Detach it, and attach it again with the same --backing.",
                cut.answered, cut.unanswered, cut.sectors
            ));
        }
        std::thread::sleep(LOOK);
    }
}

/// The drive as new, or written once in order, and then as much again at random.
fn prepared(preset: &Preset, filled: bool, worn: bool) -> Result<Device, Failure> {
    let mut drive = preset.build();
    let capacity = drive.shape().capacity;
    let block = Bytes::from_mib(1).min(capacity);
    let fill = Workload { pattern: Pattern::Write, block, ..Workload::default() };
    let wear = Workload { pattern: Pattern::RandWrite, ..Workload::default() };
    let wanted = [(fill, filled), (wear, worn)].into_iter().filter(|(_, is_wanted)| *is_wanted);
    let whole = |(workload, _)| Workload { queue_depth: 32, stop: Stop::after_bytes(capacity), ..workload };
    let workloads: Vec<Workload> = wanted.map(whole).collect();
    let time =
        workloads.iter().map(|workload| lab::conditioning::time_to_write(preset, workload)).sum::<Nanos>().to_std();
    if time >= progress::LONG {
        notice(format_args!("About {} to condition {}", HumanDuration(time), preset.name));
    }
    for workload in &workloads {
        lab::conditioning::write(&mut drive, workload, Seed::new(1)).map_err(Failure::failed)?;
    }
    Ok(drive)
}

/// Starts this program again without `--daemon`, and ends when it has attached.
fn in_background(_: &Arguments) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("cannot go into the background: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let words = std::env::args_os().skip(1).filter(|word| word != "--daemon");
    let mut command = program::command("setsid").map_err(Failure::failed)?;
    command.arg(program).args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program::start(&mut command).map_err(failed)?;
    let told = BufReader::new(child.stderr.take().expect("it was piped"));
    let (mut error, mut way) = (String::new(), None);
    for line in told.lines() {
        match line.map_err(failed)? {
            line if !error.is_empty() || line.starts_with("error: ") => error += &(line + "\n"),
            line if line.contains(TIMING) => {
                way = Some(line);
                break;
            }
            // It may take a while.
            line => tell(format_args!("{line}")),
        }
    }
    let mut device = String::new();
    BufReader::new(child.stdout.take().expect("it was piped")).read_line(&mut device).map_err(failed)?;
    let Some(way) = way.filter(|_| !device.is_empty()) else {
        let words = error.trim_start_matches("error: ").trim_end().to_owned();
        let code = child.wait().map_err(failed)?.code();
        let is_refused = code == Some(i32::from(Exit::Refused.code()));
        return Err(if is_refused { Failure::usage(words) } else { Failure::failed(words) });
    };
    print!("{device}");
    tell(format_args!("{way}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The real host adds its own time.
    #[test]
    fn an_attached_drive_is_in_no_host() {
        for name in ["990-pro", "sata-tlc", "7450-pro-960"] {
            let preset = Preset::find(name).unwrap();
            assert!(matches!(preset.build_in_host(), Device::Rig(_)), "{name} is measured in a host");
            assert!(matches!(prepared(&preset, false, false).unwrap(), Device::Flash(_)), "{name}");
        }
    }
}
