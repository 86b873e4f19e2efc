//! `assay attached`, `detach` and `fault`: drives that another process attached.

use std::path::{Path, PathBuf};

use attach::registry::{Entry, Registry};
use attach::{AttachError, Fault};

use crate::failure::Failure;

/// What to detach.
#[derive(Clone, Debug, clap::Args)]
pub struct Detach {
    /// The device or the socket, as `assay attach` printed it
    device: PathBuf,

    /// End a server that does not answer: all that waits for the drive gets an I/O error
    #[arg(long)]
    abort: bool,
}

/// What is to go wrong.
#[derive(Clone, Debug, clap::Args)]
pub struct Order {
    /// The device or the socket, as `assay attach` printed it
    device: PathBuf,

    /// The fault: read-error@SECTORS, write-error@SECTORS, delay=TIME, read-only, read-only-after=SIZE, vanish,
    /// vanish-after=N; with every=N for one request of so many; none takes all away
    #[arg(required = true, num_args = 1.., value_name = "FAULT")]
    fault: Vec<String>,
}

/// Lists what is attached.
pub fn attached() -> Result<(), Failure> {
    let entries = Registry::open()?.entries().map_err(AttachError::Broken)?;
    if entries.is_empty() {
        println!("No drive is attached. `assay attach x25-m` attaches one.");
        return Ok(());
    }
    let names = entries.iter().map(|entry| entry.device.display().to_string().len());
    let width = names.max().unwrap_or_default().max(10);
    println!(
        "{:<width$} {:<15} {:>7} {:>7} {:>7} {:>5} {:>5} {:>7} {:>9}",
        "device", "drive", "size", "IOPS", "MB/s", "depth", "WA", "late", "late 99 %"
    );
    for entry in entries {
        let live = &entry.live;
        let device = entry.device.display().to_string();
        if !entry.is_alive() {
            println!("{device:<width$} {:<15} its server is gone: `assay detach {device}` clears up", entry.drive);
            continue;
        }
        if let Some(silence) = entry.silence() {
            println!(
                "{device:<width$} {:<15} its server has not answered for {} s: `assay detach --abort {device}` ends it",
                entry.drive,
                silence.as_secs()
            );
            continue;
        }
        if live.has_vanished {
            println!(
                "{device:<width$} {:<15} vanished, as was asked for: `assay fault {device} none` brings it back",
                entry.drive
            );
            continue;
        }
        if let Some(cut) = live.cut {
            println!(
                "{device:<width$} {:<15} without power after {} answers: `assay detach {device}`",
                entry.drive, cut.answered
            );
            continue;
        }
        let amplification = live.write_amplification.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        println!(
            "{device:<width$} {:<15} {:>7} {:>7.0} {:>7.1} {:>5} {amplification:>5} {:>7} {:>9}",
            entry.drive,
            entry.capacity.to_string(),
            live.iops,
            live.bandwidth / 1e6,
            live.in_flight,
            live.late_median.to_string(),
            live.late_99.to_string(),
        );
        if let Some(finding) = live.finding() {
            eprintln!("warning: {device}: {finding}");
        }
    }
    Ok(())
}

/// Detaches a drive.
pub fn detach(arguments: &Detach) -> Result<(), Failure> {
    let registry = Registry::open()?;
    let entry = found(&registry, &arguments.device)?;
    if arguments.abort {
        attach::abort(&entry)?;
    }
    Ok(attach::detach(&registry, &entry)?)
}

/// Has a drive do something wrong, or nothing any more.
pub fn fault(arguments: &Order) -> Result<(), Failure> {
    let words = arguments.fault.join(" ");
    let fault = if words == "none" { None } else { Some(words.parse::<Fault>().map_err(Failure::usage)?) };
    let entry = found(&Registry::open()?, &arguments.device)?;
    Ok(attach::order(&entry, fault)?)
}

/// The entry of a device, or of a socket by whatever path leads there.
fn found(registry: &Registry, device: &Path) -> Result<Entry, Failure> {
    let entries = registry.entries().map_err(AttachError::Broken)?;
    let path = std::path::absolute(device).unwrap_or_else(|_| device.to_owned());
    let nothing = || Failure::usage(format!("{} is no attached drive; `assay attached` lists them", device.display()));
    entries.into_iter().find(|entry| entry.device == path).ok_or_else(nothing)
}
