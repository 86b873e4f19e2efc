//! What a drive says of itself, in the words of `smartctl --json`.
//!
//! Source for names and shape: smartmontools 7.3, its `drivedb.h` and its JSON output, format version 1.0;
//! for the health log, the log page of that name in the NVM Express Base Specification 1.4.

mod attributes;
mod identity;

use block::{Bytes, Nanos, SECTOR};
use serde::Serialize;

use self::attributes::Attribute;
pub(crate) use self::identity::IdentityTable;
pub use self::identity::{AttributeSet, Identity};
use crate::{Counters, Health};

/// What `smartctl --json -a` prints of a drive, as far as a simulated drive has an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Smart {
    json_format_version: [u32; 2],
    smartctl: Smartctl,
    device: DeviceName,
    model_name: String,
    serial_number: String,
    firmware_version: String,
    user_capacity: Capacity,
    logical_block_size: u64,
    rotation_rate: u32,
    smart_status: SmartStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    ata_smart_attributes: Option<Attributes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nvme_smart_health_information_log: Option<HealthLog>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<Current>,
    power_cycle_count: u64,
    power_on_time: PowerOnTime,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Smartctl {
    version: [u32; 2],
    build_info: &'static str,
    exit_status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct DeviceName {
    name: String,
    info_name: String,
    r#type: &'static str,
    protocol: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Capacity {
    blocks: u64,
    bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SmartStatus {
    passed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Attributes {
    revision: u32,
    table: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Current {
    current: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PowerOnTime {
    hours: u64,
}

/// The log page that every NVMe drive has. Times are in minutes, but for the hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct HealthLog {
    critical_warning: u32,
    temperature: u64,
    available_spare: u64,
    available_spare_threshold: u64,
    percentage_used: u64,
    data_units_read: u64,
    data_units_written: u64,
    host_reads: u64,
    host_writes: u64,
    controller_busy_time: u64,
    power_cycles: u64,
    power_on_hours: u64,
    unsafe_shutdowns: u64,
    media_errors: u64,
    num_err_log_entries: u64,
    warning_temp_time: u64,
    critical_comp_time: u64,
}

/// Below this share of its reserve, in percent, a drive warns.
const SPARE_THRESHOLD: u64 = 10;

/// What smartctl's exit status says of a drive that has failed: its bit 3.
const FAILING: u32 = 8;

impl Smart {
    /// What a drive that is `identity`, has done `counters` and is in `health` says of itself.
    pub fn of(identity: &Identity, counters: &Counters, health: &Health) -> Self {
        let is_nvme = identity.attributes == AttributeSet::Nvme;
        let table = attributes::table(identity.attributes, counters, health);
        let log = is_nvme.then(|| HealthLog::of(counters, health));
        let read_only = health.wear.is_some_and(|wear| wear.read_only);
        let warned = log.as_ref().is_some_and(|log| log.critical_warning != 0);
        let passed = !read_only && !warned && table.iter().all(|attribute| !attribute.has_failed());
        let (kind, protocol) = if is_nvme { ("nvme", "NVMe") } else { ("sat", "ATA") };
        Self {
            json_format_version: [1, 0],
            smartctl: Smartctl {
                version: [7, 3],
                build_info: "(simulated by assay)",
                exit_status: if passed { 0 } else { FAILING },
            },
            device: DeviceName {
                name: identity.device.clone(),
                info_name: identity.device.clone(),
                r#type: kind,
                protocol,
            },
            model_name: identity.model.clone(),
            serial_number: identity.serial.clone(),
            firmware_version: identity.firmware.clone(),
            user_capacity: Capacity { blocks: identity.capacity.sectors(), bytes: identity.capacity },
            logical_block_size: SECTOR.get(),
            rotation_rate: identity.rotation_rate,
            smart_status: SmartStatus { passed },
            ata_smart_attributes: (!is_nvme).then_some(Attributes { revision: 16, table }),
            nvme_smart_health_information_log: log,
            temperature: health.temperature.map(|warm| Current { current: warm.as_celsius() }),
            power_cycle_count: health.power_cycles,
            power_on_time: PowerOnTime { hours: hours(health.power_on) },
        }
    }
}

impl HealthLog {
    fn of(counters: &Counters, health: &Health) -> Self {
        let spare = spare_percent(health);
        let read_only = health.wear.is_some_and(|wear| wear.read_only);
        Self {
            critical_warning: u32::from(spare < SPARE_THRESHOLD) | u32::from(read_only) << 3,
            temperature: health.temperature.map_or(0, |warm| warm.as_celsius()),
            available_spare: spare,
            available_spare_threshold: SPARE_THRESHOLD,
            percentage_used: percent_used(health).min(255),
            data_units_read: data_units(counters.host_read),
            data_units_written: data_units(counters.host_taken()),
            host_reads: counters.requests[0],
            host_writes: counters.requests[1],
            controller_busy_time: minutes(health.busy),
            power_cycles: health.power_cycles,
            power_on_hours: hours(health.power_on),
            unsafe_shutdowns: counters.unsafe_shutdowns,
            media_errors: counters.uncorrectable,
            num_err_log_entries: counters.failed,
            // A simulated drive slows down where it would warn.
            warning_temp_time: minutes(counters.throttled),
            critical_comp_time: 0,
        }
    }
}

/// Thousands of units of 512 bytes, rounded up as the specification says.
fn data_units(bytes: Bytes) -> u64 {
    bytes.get().div_ceil(512_000)
}

fn hours(time: Nanos) -> u64 {
    time.as_nanos() / 3_600_000_000_000
}

fn minutes(time: Nanos) -> u64 {
    time.as_nanos() / 60_000_000_000
}

/// What is left of the reserve of blocks, in percent; all where none is kept account of.
fn spare_percent(health: &Health) -> u64 {
    health.wear.map_or(100, |wear| match wear.reserve {
        0 => u64::from(!wear.read_only) * 100,
        reserve => u64::from(reserve.saturating_sub(wear.retired)) * 100 / u64::from(reserve),
    })
}

/// How much of its rated life the flash has behind it, in percent; may exceed 100.
fn percent_used(health: &Health) -> u64 {
    health.wear.map_or(0, |wear| u64::from(wear.erases_mean) * 100 / u64::from(wear.rated.max(1)))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
