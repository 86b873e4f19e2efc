//! A rig as its file describes it.

use std::collections::BTreeMap;

use block::{Bytes, Nanos, Power};
use serde::Deserialize;
use toml::{Table as Toml, Value};

use super::{HostSpec, QueueSpec, RigSpec};
use crate::DelaySpec;
use crate::array::{ControllerSpec, Level};
use crate::draw::Spread;
use crate::flash::deviation;
use crate::preset::units::{self, given, percent};
use crate::preset::{Preset, PresetError, RIGS, Spec, bounds, change, drive_file, require, table, unknown, words};

/// The largest standard deviation of wake-ups from one second to the next, in millionths.
const DRIFT_MAX: u64 = 500_000;

drive_file!(
    /// A rig's file as it is written.
    RigFile {
        /// The host
        host: HostTable,
        /// Queues between host and drive (NVMe); any processor does any work without it
        queues: Option<QueueTable>,
        /// How long an interrupt waits for its processor; not at all without it
        wake: Option<WakeTable>,
        /// Controllers between host and drives, if there are any
        controller: Option<ControllerTable>,
        /// The drives, and how data is spread over them
        array: ArrayTable,
        /// What the host uses; nothing without it
        power: Option<PowerTable>,
    }
    #[serde(default)]
    drive: DriveTable,
);

words!(Level);

table!(HostTable {
    /// Processors that serve requests
    cpus: u32,
    /// What a processor takes to hand a command over
    submit: units::Duration,
    /// What it takes when a command is done
    complete: units::Duration,
    /// With `[queues]`: what an interrupt costs beside `complete`, once for all commands that are done by then; 0
    /// if left out
    interrupt: Option<units::Duration>,
    /// What a call of a program takes that reads through the file system; 0 if left out
    call: Option<units::Duration>,
    /// The same of one that writes; `call` if left out
    call_write: Option<units::Duration>,
    /// Data of a call; if left out, each command has one
    chunk: Option<units::Bytes>,
    /// Rate at which a worker copies data: before a write is handed over, after a read is done; it does not if
    /// left out
    copy: Option<units::Rate>,
    /// The most data of one command; a larger request is several commands; no limit if left out
    transfer: Option<units::Bytes>,
    /// Commands of one request that are under way at once; all if left out
    at_once: Option<u32>,
});

table!(QueueTable {
    /// Pairs of submission and completion queues, 1 to `host.cpus`
    pairs: u32,
    /// Commands that a pair takes, 1 to 65,535; more wait in the host
    depth: u32,
    /// Whether processors look for completions all the time: no interrupt, no wake-up, full power while anything
    /// is under way
    polled: bool = default,
});

table!(WakeTable {
    /// How long a processor that sleeps takes to begin with an interrupt, at most 20 ms
    mean: units::Duration,
    /// Standard deviation of that as a share of the mean (log-normal), at most 300%
    spread: units::Share,
    /// Share of completions whose processor is at something else
    rare: units::Share,
    /// For how long that is, in the mean, at most 20 ms
    rare_mean: units::Duration,
    /// Standard deviation of a factor on interrupts and wake-ups that is drawn every second, at most 50%
    drift: units::Share = default,
});

table!(ControllerTable {
    /// Controllers, to which the drives are dealt in turn
    count: u32,
    /// What a controller takes to pass on a command, one at a time
    command: units::Duration,
    /// Relative standard deviation of that from one command to the next
    jitter: units::Share = default,
    /// Rate of the data of all its drives, in both directions together; no limit if left out
    bandwidth: Option<units::Rate>,
});

table!(ArrayTable {
    /// How data is spread over the drives
    level: Level,
    /// A built-in drive, by name
    drive: String,
    /// How many of it there are
    drives: u32,
    /// Data on one drive before the next, whole sectors; not needed with one drive or RAID 1
    stripe: Option<units::Bytes>,
});

table!(PowerTable {
    /// What the host uses when it does nothing
    idle: units::Power,
    /// What each processor uses beside, while it works
    cpu: units::Power,
    /// What the host uses beside while any request is under way, since it does not sleep as deeply then; 0 if left
    /// out
    active: Option<units::Power>,
});

impl ControllerTable {
    fn spec(&self) -> Result<ControllerSpec, PresetError> {
        let jitter = Spread::new(u64::from(deviation("controller.jitter", self.jitter)?));
        Ok(ControllerSpec { count: self.count, command: self.command, jitter, bandwidth: self.bandwidth })
    }
}

/// What is other in this rig's drives than in the drive's own file, by name: `"link.rate" = "300 MB/s"`.
#[derive(Default, Deserialize)]
struct DriveTable {
    #[serde(rename = "source")]
    _source: String,
    #[serde(flatten)]
    changes: BTreeMap<String, Value>,
}

/// The part of a rig's file that names its drive.
#[derive(Deserialize)]
struct DriveOf {
    array: NamedDrive,
}

#[derive(Deserialize)]
struct NamedDrive {
    drive: String,
}

impl RigFile {
    /// The rig itself.
    ///
    /// # Errors
    /// If the numbers do not make a rig, or its drive cannot be had.
    pub fn spec(&self) -> Result<RigSpec, PresetError> {
        self.around(drive(&self.array.drive)?)
    }

    /// The rig with another drive, of which only what the rig's own drives have in common is changed.
    ///
    /// # Errors
    /// If the numbers do not make a rig, or the drive does not belong in it.
    pub fn around(&self, drive: Preset) -> Result<RigSpec, PresetError> {
        let (host, array) = (&self.host, &self.array);
        require((1..=256).contains(&host.cpus), || format!("host.cpus is {}", host.cpus), "a host has 1 to 256")?;
        let transfer = host.transfer.unwrap_or(Bytes::from_sectors(1));
        require(
            transfer.is_multiple_of(block::SECTOR) && transfer > Bytes::ZERO && host.at_once != Some(0),
            || format!("host.transfer is {transfer}, host.at_once {}", given(host.at_once)),
            "a transfer is whole sectors of 512 B, with at least one command in flight",
        )?;
        let call_max = host.call.max(host.call_write).unwrap_or_default();
        require(
            call_max <= Nanos::from_millis(1) && host.chunk != Some(Bytes::ZERO),
            || format!("host.call is up to {call_max}, host.chunk {}", host.chunk.unwrap_or_default()),
            "a call takes 1 ms at most and moves a byte at least; leave out host.chunk for a call for each command",
        )?;
        let controllers = self.controller.as_ref().map_or(Ok(ControllerSpec::default()), ControllerTable::spec)?;
        require(
            array.level.takes(array.drives) && array.drives <= 1024,
            || format!("{} is asked of {} drives", array.level, array.drives),
            array.level.wants(),
        )?;
        require(
            array.drives == 1 || drive.zones().is_none(),
            || format!("an array of {} drives with zones", array.drives),
            "a zoned drive cannot be a member of an array; use a level of one drive",
        )?;
        require(
            controllers.count <= array.drives,
            || format!("{} controllers have {} drives", controllers.count, array.drives),
            "each has one or more",
        )?;
        let member = self.member(drive)?;
        let stripe = array.stripe.unwrap_or(Bytes::ZERO);
        require(
            !array.level.stripes()
                || stripe.is_multiple_of(block::SECTOR) && (block::SECTOR..=member.capacity()).contains(&stripe),
            || format!("array.stripe is {stripe} on drives of {}", member.capacity()),
            "a stripe is whole sectors of 512 B, and no larger than the drive",
        )?;
        Ok(RigSpec {
            host: HostSpec {
                cpus: host.cpus,
                submit: host.submit,
                complete: host.complete,
                interrupt: host.interrupt.unwrap_or_default(),
                queues: self.queues()?,
                wake: self.wake()?,
                drift_ppm: self.drift() as u32,
                call: host.call.unwrap_or_default(),
                call_write: host.call_write.or(host.call).unwrap_or_default(),
                chunk: host.chunk,
                copy: host.copy,
                transfer: host.transfer,
                at_once: host.at_once.unwrap_or(u32::MAX),
                idle: self.power.as_ref().map_or(Power::ZERO, |table| table.idle),
                cpu: self.power.as_ref().map_or(Power::ZERO, |table| table.cpu),
                active: self.power.as_ref().and_then(|table| table.active).unwrap_or(Power::ZERO),
            },
            controllers,
            level: array.level,
            drives: array.drives,
            stripe,
            member: Box::new(member),
        })
    }

    fn queues(&self) -> Result<Option<QueueSpec>, PresetError> {
        let Some(QueueTable { pairs, depth, polled, .. }) = self.queues else { return Ok(None) };
        require(
            (1..=self.host.cpus).contains(&pairs),
            || format!("queues.pairs is {pairs}, host.cpus {}", self.host.cpus),
            "a host has one pair of queues or more, and no more than processors",
        )?;
        require(
            (1..=65_535).contains(&depth),
            || format!("queues.depth is {depth}"),
            "a queue takes 1 to 65,535 commands",
        )?;
        Ok(Some(QueueSpec { pairs, depth, polled }))
    }

    /// In millionths.
    fn drift(&self) -> u64 {
        self.wake.as_ref().map_or(0, |wake| wake.drift)
    }

    fn wake(&self) -> Result<Option<DelaySpec>, PresetError> {
        let Some(WakeTable { mean, spread, rare, rare_mean, .. }) = self.wake else { return Ok(None) };
        require(
            self.queues.is_some(),
            || "there is [wake] and no [queues]".to_owned(),
            "which processor is woken follows from the queues; add [queues]",
        )?;
        require(
            spread <= DelaySpec::SPREAD_MAX.into() && rare <= 1_000_000,
            || format!("wake.spread is {}, wake.rare {}", percent(spread), percent(rare)),
            "a spread is at most 300% of the mean, and a rare wait as frequent as all at most",
        )?;
        require(
            self.drift() <= DRIFT_MAX,
            || format!("wake.drift is {}", percent(self.drift())),
            "wake-ups deviate by 50% at most from one second to the next",
        )?;
        require(
            mean.max(rare_mean) <= Nanos::from_millis(20),
            || format!("wake.mean is {mean}, wake.rare_mean {rare_mean}"),
            "each is 20 ms at most",
        )?;
        Ok(Some(DelaySpec { mean, spread_ppm: spread as u32, rare_ppm: rare as u32, rare_mean }))
    }

    /// `member` with what is other in it here.
    fn member(&self, member: Preset) -> Result<Preset, PresetError> {
        let written = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let changes = self.drive.changes.iter().map(|(name, value)| format!("{name}={}", written(value)));
        let changes = changes.collect::<Vec<_>>().join("&");
        // Two names of one field could otherwise contradict each other.
        let short = self.drive.changes.keys().find(|name| !name.contains('.'));
        require(
            short.is_none(),
            || format!("[drive] has `{}`", short.map_or("", |name| name)),
            "table and field: link.rate",
        )?;
        member.altered(&changes)
    }
}

/// The drive of this name, which must not be a rig.
fn drive(name: &str) -> Result<Preset, PresetError> {
    let member = Preset::find(name)?;
    let single = !matches!(member.spec, Spec::Rig(_));
    require(single, || format!("array.drive is `{name}`, a rig"), "a rig is made of drives")?;
    Ok(member)
}

/// The rig of this name with `changes` to itself and `member` in it, as the host of one drive.
///
/// # Errors
/// If there is no such rig, it has several drives, or a change makes no rig.
pub fn host_of(name: &str, changes: &str, member: Preset) -> Result<RigSpec, PresetError> {
    let known = RIGS.iter().map(|(known, _)| *known).chain(["none"]);
    let (_, text) = RIGS.iter().find(|(known, _)| *known == name).ok_or_else(|| unknown(name, known))?;
    let mut text = (*text).to_owned();
    if !changes.is_empty() {
        text = change::apply(&text, changes, RigFile::TABLES)?;
        bounds::check(&text)?;
    }
    let rig = toml::from_str::<RigFile>(&text)?.around(member)?;
    require(
        rig.drives == 1,
        || format!("rig.host is `{name}`, a rig of {} drives", rig.drives),
        "a host has one drive",
    )?;
    Ok(rig)
}

/// The file `text` with `changes` made: to the rig's own fields, as they are or after `rig.`, or after `drive.` to those
/// of its drive.
pub fn change(text: &str, changes: &str) -> Result<String, PresetError> {
    let (inner, own): (Vec<&str>, Vec<&str>) =
        changes.split('&').partition(|change| change.trim_start().starts_with("drive."));
    let own: Vec<&str> = own.into_iter().map(str::trim_start).collect();
    let own = own.iter().map(|change| change.strip_prefix("rig.").unwrap_or(change)).collect::<Vec<_>>().join("&");
    let text = match own.is_empty() {
        true => text.to_owned(),
        false => {
            let changed = change::apply(text, &own, RigFile::TABLES).map_err(|error| hint(text, error))?;
            if sets(&own, "count") { changed } else { with_fewer_controllers(changed)? }
        }
    };
    if inner.is_empty() {
        return Ok(text);
    }
    let DriveOf { array } = toml::from_str(&text)?;
    let member = drive(&array.drive)?;
    let mut file: Toml = toml::from_str(&text)?;
    let entry = file.entry("drive").or_insert_with(change::own_table);
    let mut changed = Vec::new();
    for change in inner {
        let refuse = |why| PresetError::Change { change: change.to_owned(), why };
        let rest = change.trim_start().trim_start_matches("drive.");
        let (table, field, value) = change::part(rest, member.spec.tables()).map_err(refuse)?;
        change::once((table, field), &mut changed).map_err(refuse)?;
        let table_of_rig =
            entry.as_table_mut().ok_or_else(|| refuse("`drive` is not a table of the file".to_owned()))?;
        table_of_rig.insert(format!("{table}.{field}"), Value::String(value.to_owned()));
    }
    Ok(toml::to_string(&file).expect("what was read from TOML can be written as TOML"))
}

/// Whether one of `changes` is to the field of this name.
fn sets(changes: &str, field: &str) -> bool {
    let names = changes.split('&').filter_map(|change| change.split('=').next());
    names.into_iter().any(|name| name.trim().rsplit('.').next() == Some(field))
}

/// The file `text` without the controllers for which fewer drives, asked for by name, leave no drive.
fn with_fewer_controllers(text: String) -> Result<String, PresetError> {
    let mut file: Toml = toml::from_str(&text)?;
    let Some(drives) = file.get("array").and_then(|array| array.get("drives")).and_then(Value::as_integer) else {
        return Ok(text);
    };
    match file.get_mut("controller").and_then(|controller| controller.get_mut("count")) {
        Some(count) if drives > 0 && count.as_integer().is_some_and(|count| count > drives) => {
            *count = Value::Integer(drives);
        }
        _ => return Ok(text),
    }
    Ok(toml::to_string(&file).expect("what was read from TOML can be written as TOML"))
}

/// Adds to the error that the rig has no such field that its drive has.
fn hint(text: &str, error: PresetError) -> PresetError {
    let drive = toml::from_str(text).ok().and_then(|file: DriveOf| drive(&file.array.drive).ok());
    match (error, drive) {
        (PresetError::Change { change, why }, Some(drive)) => {
            let why = match change::part(&change, drive.spec.tables()) {
                Ok((table, field, _)) => format!("the rig has no such field; its drive has `drive.{table}.{field}`"),
                Err(_) => why,
            };
            PresetError::Change { change, why }
        }
        (error, _) => error,
    }
}
