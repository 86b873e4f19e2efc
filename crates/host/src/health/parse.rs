//! What `smartctl --json -x` prints, as one schema for drives of all kinds.
//!
//! Source: smartmontools 7.3, its JSON output of format version 1.0; NVM Express Base Specification 1.4, §5.14.1.2
//! "SMART / Health Information"; ATA/ATAPI Command Set 3, §A.5 "Device Statistics log".

use block::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::attributes::{self, Shows, shows};
use super::{Health, HealthReading};

/// The bits of smartctl's exit status that say that there is nothing to read: a bad command line, a device that could
/// not be opened.
const NOTHING_READ: u64 = 0b11;

/// What an NVMe drive counts data in: thousands of units of 512 bytes.
const DATA_UNIT: u64 = 512_000;

/// Reads what `smartctl --json -x` printed of `device`.
pub fn of_smartctl(text: &str, device: &str) -> HealthReading {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return HealthReading::Missing(format!(
            "the output of smartctl for {device} is not JSON; smartctl 7.0 or newer is required: `smartctl --version`"
        ));
    };
    let mut health = Health { source: source(&document, device), ..Health::default() };
    common(&document, &mut health);
    let log = document.get("nvme_smart_health_information_log");
    let table = document.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let statistics = document.pointer("/ata_device_statistics/pages").and_then(Value::as_array);
    let is_scsi = document.pointer("/device/protocol").and_then(Value::as_str) == Some("SCSI");
    if is_scsi || ["scsi_grown_defect_list", "scsi_error_counter_log"].iter().any(|name| document.get(name).is_some()) {
        scsi(&document, &mut health);
    }
    let says_anything = health.passed.is_some() || health.temperature.is_some() || !health.origins.is_empty();
    if log.is_none() && table.is_none() && statistics.is_none() && !says_anything {
        return HealthReading::Missing(why_nothing(&document, device));
    }
    if let Some(log) = log {
        nvme(log, &mut health);
    }
    // What the standard defines goes before what each maker makes up.
    if let Some(pages) = statistics {
        device_statistics(pages, number(&document, "/logical_block_size").unwrap_or(512), &mut health);
    }
    if let Some(table) = table {
        let is_known = document.get("in_smartctl_database").and_then(Value::as_bool) == Some(true);
        ata(table, is_known, &mut health);
    }
    let errors = ["extended", "summary"].map(|log| number(&document, &format!("/ata_smart_error_log/{log}/count")));
    let errors = errors.into_iter().flatten().next();
    take(&mut health, "error_log_entries", errors, "ATA error log".to_owned(), |h| &mut h.error_log_entries);
    if health.write_amplification.is_none()
        && let (Some(host), Some(flash)) = (health.host_written, health.flash_written)
        && host > Bytes::ZERO
    {
        health.write_amplification = Some(flash.get() as f64 / host.get() as f64);
        health.from("write_amplification", "flash over host writes, over the drive's life");
    }
    HealthReading::Health(Box::new(health))
}

/// A whole number that is not negative.
fn number(document: &Value, pointer: &str) -> Option<u64> {
    document.pointer(pointer).and_then(Value::as_u64)
}

fn source(document: &Value, device: &str) -> String {
    let version = document.pointer("/smartctl/version").and_then(Value::as_array);
    let version = version.map_or_else(String::new, |parts| {
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        format!(" {}", parts.join("."))
    });
    let model = document.get("model_name").or_else(|| document.get("scsi_model_name")).and_then(Value::as_str);
    let model = model.map_or_else(String::new, |model| format!(" ({model})"));
    format!("smartctl{version} on {device}{model}")
}

/// Why there is nothing to read, in smartctl's own words.
fn why_nothing(document: &Value, device: &str) -> String {
    let messages = document.pointer("/smartctl/messages").and_then(Value::as_array);
    let words: Vec<&str> =
        messages.into_iter().flatten().filter_map(|message| message.get("string").and_then(Value::as_str)).collect();
    let words = words.join("; ");
    let failed = number(document, "/smartctl/exit_status").is_some_and(|status| status & NOTHING_READ != 0);
    if words.contains("Permission denied") {
        return format!(
            "smartctl has no permission to read {device}: {words}; run assay as root, or as a member of \
            the device's group"
        );
    }
    match (words.is_empty(), failed) {
        (false, _) => format!("smartctl cannot read the health of {device}: {words}"),
        (true, true) => format!("smartctl could not open {device}"),
        (true, false) => format!("{device} reports no health that smartctl knows"),
    }
}

/// What smartctl gives alike for drives of all kinds.
fn common(document: &Value, health: &mut Health) {
    health.temperature = document.pointer("/temperature/current").and_then(Value::as_i64);
    let limits = [
        "/temperature/op_limit_max",
        "/nvme_composite_temperature_threshold/warning",
        "/temperature/drive_trip",
        "/scsi_temperature/drive_trip",
    ];
    health.temperature_limit =
        limits.iter().find_map(|place| document.pointer(place).and_then(Value::as_i64)).filter(|limit| *limit > 0);
    health.power_on_hours = number(document, "/power_on_time/hours");
    health.passed = document.pointer("/smart_status/passed").and_then(Value::as_bool);
    health.rotates = number(document, "/rotation_rate").map(|rate| rate > 0);
}

fn nvme(log: &Value, health: &mut Health) {
    let entry = |name: &str| log.get(name).and_then(Value::as_u64);
    let data = |name: &str| entry(name).and_then(|units| units.checked_mul(DATA_UNIT)).map(Bytes::new);
    health.host_written = data("data_units_written");
    health.host_read = data("data_units_read");
    health.wear_percent = entry("percentage_used").map(|percent| percent as f64);
    health.uncorrectable = entry("media_errors");
    health.error_log_entries = entry("num_err_log_entries");
    health.spare_percent = entry("available_spare");
    health.spare_threshold_percent = entry("available_spare_threshold");
    health.critical_warning = entry("critical_warning");
    health.power_on_hours = health.power_on_hours.or_else(|| entry("power_on_hours"));
    health.temperature = health.temperature.or_else(|| log.get("temperature").and_then(Value::as_i64));
    let names = [
        ("host_written_bytes", "data_units_written", health.host_written.is_some()),
        ("host_read_bytes", "data_units_read", health.host_read.is_some()),
        ("wear_percent", "percentage_used", health.wear_percent.is_some()),
        ("uncorrectable", "media_errors", health.uncorrectable.is_some()),
        ("error_log_entries", "num_err_log_entries", health.error_log_entries.is_some()),
    ];
    for (field, name, is_there) in names {
        if is_there {
            let unit = if name.starts_with("data_units") { ", in units of 512,000 B" } else { "" };
            health.from(field, format!("NVMe health log, {name}{unit}"));
        }
    }
}

/// The statistics that the standard defines, where the drive says that they hold.
fn device_statistics(pages: &[Value], sector: u64, health: &mut Health) {
    let find = |page: u64, name: &str| {
        let page = pages.iter().find(|entry| number(entry, "/number") == Some(page))?;
        let table = page.get("table")?.as_array()?;
        let entry = table.iter().find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))?;
        let is_valid = entry.pointer("/flags/valid").and_then(Value::as_bool) == Some(true);
        entry.get("value").and_then(Value::as_u64).filter(|_| is_valid)
    };
    let sectors = |count: Option<u64>| count.and_then(|count| count.checked_mul(sector)).map(Bytes::new);
    health.host_written = sectors(find(1, "Logical Sectors Written"));
    health.host_read = sectors(find(1, "Logical Sectors Read"));
    health.wear_percent = find(7, "Percentage Used Endurance Indicator").map(|percent| percent as f64);
    let origin = "device statistics of the ATA standard";
    if health.host_written.is_some() {
        health.from("host_written_bytes", format!("{origin}, in logical sectors of {sector} B"));
    }
    if health.host_read.is_some() {
        health.from("host_read_bytes", format!("{origin}, in logical sectors of {sector} B"));
    }
    if health.wear_percent.is_some() {
        health.from("wear_percent", origin);
    }
}

/// An attribute as smartctl prints it.
#[derive(Deserialize)]
struct Attribute {
    id: u64,
    #[serde(default)]
    name: String,
    value: Option<u64>,
    thresh: Option<u64>,
    raw: Option<Raw>,
}

#[derive(Deserialize)]
struct Raw {
    value: Option<u64>,
    string: Option<String>,
}

impl Attribute {
    /// The first number of the text. Some attributes keep several numbers in their 48 bits, `12 (0 3)`, which smartctl
    /// takes apart in the text alone.
    fn raw(&self) -> Option<u64> {
        let raw = self.raw.as_ref()?;
        let digits = |text: &String| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let text = raw.string.as_ref().map(digits).filter(|digits| !digits.is_empty());
        text.map_or(raw.value, |digits| digits.parse().ok())
    }
}

fn ata(table: &[Value], is_known: bool, health: &mut Health) {
    let attributes = table.iter().filter_map(|entry| Attribute::deserialize(entry).ok());
    let (mut host_pages, mut own_pages) = (None, None);
    for attribute in attributes {
        let Some(shown) = shows(attribute.id, &attribute.name, is_known) else { continue };
        let raw = attribute.raw();
        let data = |unit: u64| raw.and_then(|count| count.checked_mul(unit)).map(Bytes::new);
        let origin = format!("attribute {} {}", attribute.id, attribute.name);
        let in_unit = |unit: u64| format!("{origin}, in {}, by smartctl's database", attributes::unit(unit));
        let left = attribute.value.filter(|left| *left <= 100);
        match shown {
            Shows::HostWritten(unit) => {
                take(health, "host_written_bytes", data(unit), in_unit(unit), |h| &mut h.host_written)
            }
            Shows::HostRead(unit) => take(health, "host_read_bytes", data(unit), in_unit(unit), |h| &mut h.host_read),
            Shows::FlashWritten(unit) => {
                take(health, "flash_written_bytes", data(unit), in_unit(unit), |h| &mut h.flash_written);
            }
            Shows::HostPages => host_pages = raw,
            Shows::OwnPages => own_pages = raw,
            Shows::LifeLeft => {
                let used = left.map(|left| (100 - left) as f64);
                take(health, "wear_percent", used, format!("{origin}, 100 less its value"), |h| &mut h.wear_percent);
            }
            Shows::LifeUsed => {
                take(health, "wear_percent", raw.map(|used| used as f64), origin, |h| &mut h.wear_percent);
            }
            Shows::Spare => {
                take(health, "spare_percent", left, format!("{origin}, its value"), |h| &mut h.spare_percent);
                health.spare_threshold_percent = health.spare_threshold_percent.or(attribute.thresh);
            }
            Shows::Reallocated => take(health, "reallocated", raw, origin, |h| &mut h.reallocated),
            Shows::Pending => take(health, "pending", raw, origin, |h| &mut h.pending),
            Shows::Uncorrectable => take(health, "uncorrectable", raw, origin, |h| &mut h.uncorrectable),
        }
    }
    if let (Some(host), Some(own)) = (host_pages, own_pages)
        && host > 0
    {
        health.write_amplification = Some((host + own) as f64 / host as f64);
        health.from("write_amplification", "attributes 247 and 248, pages programmed for the host and in all");
    }
}

/// Takes a figure that is known, unless a better one was found before.
fn take<T>(
    health: &mut Health,
    field: &str,
    value: Option<T>,
    origin: String,
    slot: fn(&mut Health) -> &mut Option<T>,
) {
    if let Some(value) = value
        && slot(health).is_none()
    {
        *slot(health) = Some(value);
        health.from(field, origin);
    }
}

/// What `nvme smart-log --output-format=json` prints, for where there is no smartctl: the same log under other names, the
/// temperature in kelvins, and counts of 128 bits as text by some versions.
///
/// Source: nvme-cli 2.3 and 3.0-rc1.
pub fn of_nvme_cli(text: &str, device: &str) -> HealthReading {
    const NAMES: [(&str, &str); 3] = [
        ("avail_spare", "available_spare"),
        ("spare_thresh", "available_spare_threshold"),
        ("percent_used", "percentage_used"),
    ];
    let Ok(Value::Object(printed)) = serde_json::from_str::<Value>(text) else {
        return HealthReading::Missing(format!(
            "the output of `nvme smart-log` for {device} is not JSON; install smartctl, which reads the health of every drive"
        ));
    };
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let entries = printed.iter().filter_map(|(name, value)| {
        let value = number(value)?;
        match name.as_str() {
            "temperature" => Some(("temperature", value.checked_sub(273)?)),
            name => Some((NAMES.iter().find(|(own, _)| *own == name).map_or(name, |(_, known)| known), value)),
        }
    });
    let log: Value =
        entries.map(|(name, value)| (name.to_owned(), value.into())).collect::<serde_json::Map<_, _>>().into();
    let mut health = Health { source: format!("nvme-cli on {device}"), ..Health::default() };
    nvme(&log, &mut health);
    health.passed = health.critical_warning.map(|warning| warning == 0);
    match health.critical_warning {
        Some(_) => HealthReading::Health(Box::new(health)),
        None => HealthReading::Missing(format!("`nvme smart-log` shows no health log of {device}")),
    }
}

/// Source: smartmontools 7.3 and 7.4, whose `gigabytes_processed` is a text of 10^9 bytes with three decimals; a temperature of
/// 0 is what they print for drives that tell none.
fn scsi(document: &Value, health: &mut Health) {
    let environment = "/scsi_environmental_reports/temperature_1/current";
    health.temperature = [health.temperature, document.pointer(environment).and_then(Value::as_i64)]
        .into_iter()
        .flatten()
        .find(|celsius| *celsius != 0);
    let data = |kind: &str| {
        let place = format!("/scsi_error_counter_log/{kind}/gigabytes_processed");
        let megabytes: u64 = document.pointer(&place)?.as_str()?.replace('.', "").parse().ok()?;
        megabytes.checked_mul(1_000_000).map(Bytes::new).filter(|data| *data > Bytes::ZERO)
    };
    let origin = || "error counter log, in units of 10⁹ B".to_owned();
    take(health, "host_written_bytes", data("write"), origin(), |h| &mut h.host_written);
    take(health, "host_read_bytes", data("read"), origin(), |h| &mut h.host_read);
    let errors = |kind: &str| number(document, &format!("/scsi_error_counter_log/{kind}/total_uncorrected_errors"));
    let defects = number(document, "/scsi_grown_defect_list");
    take(health, "reallocated", defects, "grown defect list".to_owned(), |h| &mut h.reallocated);
    let lost = ["read", "write", "verify"].map(errors).into_iter().flatten().reduce(|sum, count| sum + count);
    take(health, "uncorrectable", lost, "error counter log, uncorrected".to_owned(), |h| &mut h.uncorrectable);
    let used = number(document, "/scsi_percentage_used_endurance_indicator").map(|percent| percent as f64);
    take(health, "wear_percent", used, "endurance indicator".to_owned(), |h| &mut h.wear_percent);
}
