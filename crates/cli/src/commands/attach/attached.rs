//! `assay attached`, `detach` and `fault`: drives that another process attached.

use std::path::{Path, PathBuf};

use attach::registry::{AttachedEntry, Registry};
use attach::{AttachError, Fault};

use crate::failure::Failure;
use crate::terminal::{complain, say};

/// What to detach.
#[derive(Clone, Debug, clap::Args)]
pub struct Detach {
    /// The device or the socket, as `assay attach` printed it
    device: PathBuf,

    /// Kill a server that does not answer: pending requests get an I/O error
    #[arg(long)]
    abort: bool,
}

/// The fault to inject.
#[derive(Clone, Debug, clap::Args)]
pub struct FaultCommand {
    /// The device or the socket, as `assay attach` printed it
    device: PathBuf,

    /// The fault: read-error@SECTORS, write-error@SECTORS, delay=TIME, read-only, read-only-after=SIZE, vanish,
    /// vanish-after=N; with every=N for one request in N; none removes all
    #[arg(required = true, num_args = 1.., value_name = "FAULT")]
    fault: Vec<String>,
}

/// Lists what is attached.
pub fn attached() -> Result<(), Failure> {
    let entries = Registry::open()?.entries().map_err(AttachError::Broken)?;
    if entries.is_empty() {
        return say("No drive is attached. `assay attach x25-m` attaches one.\n");
    }
    let names = entries.iter().map(|entry| entry.device.display().to_string().len());
    let width = names.max().unwrap_or_default().max(10);
    let head = format!(
        "{:<width$} {:<15} {:>7} {:>7} {:>7} {:>5} {:>5} {:>7} {:>9}\n",
        "device", "drive", "size", "IOPS", "MB/s", "depth", "WA", "late", "late 99 %"
    );
    let row = |entry: &AttachedEntry| {
        let (device, drive) = (entry.device.display().to_string(), &entry.drive);
        format!("{device:<width$} {drive:<15} {}\n", trouble(entry).unwrap_or_else(|| figures(entry)))
    };
    say(&entries.iter().map(row).fold(head, |text, row| text + &row))?;
    for entry in entries.iter().filter(|entry| trouble(entry).is_none()) {
        if let Some(finding) = entry.live.finding() {
            complain(format_args!("warning: {}: {finding}", entry.device.display()));
        }
    }
    Ok(())
}

/// Why a drive is not doing what it should, and what to do; none if it is.
fn trouble(entry: &AttachedEntry) -> Option<String> {
    let device = entry.device.display();
    if !entry.is_alive() {
        return Some(format!("its server is gone: `assay detach {device}` cleans up"));
    }
    if let Some(silence) = entry.silence() {
        let silence = silence.as_secs();
        return Some(format!("its server has not answered for {silence} s: `assay detach --abort {device}` ends it"));
    }
    if entry.live.is_broken {
        return Some(format!("stopped by a bug in assay, and returns errors: `assay detach {device}`"));
    }
    if entry.live.has_vanished {
        return Some(format!("removed by an injected fault: `assay fault {device} none` restores it"));
    }
    let cut = entry.live.cut?;
    Some(format!("without power after {} completions: `assay detach {device}`", cut.answered))
}

/// What a drive is doing, as the head of the list has it.
fn figures(entry: &AttachedEntry) -> String {
    let live = &entry.live;
    let amplification = live.write_amplification.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    format!(
        "{:>7} {:>7.0} {:>7.1} {:>5} {amplification:>5} {:>7} {:>9}",
        entry.capacity.to_string(),
        live.iops,
        live.bandwidth / 1e6,
        live.in_flight,
        live.late_median.to_string(),
        live.late_99.to_string(),
    )
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
pub fn fault(arguments: &FaultCommand) -> Result<(), Failure> {
    let words = arguments.fault.join(" ");
    let fault = if words == "none" { None } else { Some(words.parse::<Fault>().map_err(Failure::usage)?) };
    let entry = found(&Registry::open()?, &arguments.device)?;
    Ok(attach::order(&entry, fault)?)
}

/// The entry of a device, or of a socket by whatever path leads there.
fn found(registry: &Registry, device: &Path) -> Result<AttachedEntry, Failure> {
    let nothing =
        || Failure::usage(format!("{} is not an attached drive; `assay attached` lists them", device.display()));
    registry.entry_of(device).map_err(AttachError::Broken)?.ok_or_else(nothing)
}
