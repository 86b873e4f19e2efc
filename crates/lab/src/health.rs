//! The health of a simulated drive, from its own counters, also of one that is attached.

use std::path::Path;

use attach::SmartData;
use attach::registry::{AttachedEntry, Registry};
use block::Bytes;
use drive::preset::Preset;
use drive::{Counters, Health as State};
use host::Environment;

pub use host::health::*;

/// The health of the drive beneath a target: that of a simulated drive where one is attached, otherwise as [`of_device`].
pub fn of_target(environment: &Environment) -> HealthReading {
    match attached(environment) {
        Some(entry) => of_attached(&entry),
        None => of_device(environment),
    }
}

/// The entry of the simulated drive beneath a target; none if there is no such drive, or another user attached it.
pub fn attached(environment: &Environment) -> Option<AttachedEntry> {
    let device = environment.device.as_ref().filter(|device| device.transport.as_deref() == Some("virtual"))?;
    attached_at(&Path::new("/dev").join(&device.name))
}

/// The entry of the drive that is attached as this device or socket.
pub fn attached_at(device: &Path) -> Option<AttachedEntry> {
    Registry::open().ok()?.entry_of(device).ok()?
}

/// The health of an attached drive, as its server tells it.
pub fn of_attached(entry: &AttachedEntry) -> HealthReading {
    let device = entry.device.display();
    if !entry.is_alive() {
        return HealthReading::Missing(format!("the server of {device} is gone; `assay detach {device}` cleans up"));
    }
    let entry = Registry::open().map_or_else(|_| entry.clone(), |registry| registry.up_to_date(entry.clone()));
    let Some(SmartData { counters, health }) = entry.live.smart else {
        return HealthReading::Missing(format!(
            "the server of {device} has not told it yet; `assay attached` shows its state"
        ));
    };
    let title = Preset::find(&entry.drive).map_or_else(|_| entry.drive.clone(), |preset| preset.title);
    HealthReading::Health(Box::new(of_simulated(
        &format!("{title}, simulated and attached as {device}"),
        &counters,
        &health,
    )))
}

/// The health of a simulated drive that has done `counters` and is in this `state`.
pub fn of_simulated(name: &str, counters: &Counters, state: &State) -> Health {
    let has_flash = counters.page > Bytes::ZERO;
    let wear = state.wear;
    let mut health = Health {
        source: format!("counters of {name}"),
        host_written: Some(counters.host_taken()),
        host_read: Some(counters.host_read),
        flash_written: has_flash.then(|| counters.page.times(counters.pages_programmed)),
        write_amplification: counters.write_amplification(),
        wear_percent: wear.map(|wear| 100.0 * f64::from(wear.erases_mean) / f64::from(wear.rated.max(1))),
        reallocated: wear.map(|wear| u64::from(wear.retired)),
        uncorrectable: has_flash.then_some(counters.uncorrectable),
        spare_percent: wear
            .filter(|wear| wear.reserve > 0)
            .map(|wear| u64::from(wear.reserve.saturating_sub(wear.retired)) * 100 / u64::from(wear.reserve)),
        temperature: state.temperature.map(|warm| warm.as_celsius() as i64),
        power_on_hours: Some(state.power_on.as_nanos() / 3_600_000_000_000),
        passed: wear.map(|wear| !wear.read_only),
        ..Health::default()
    };
    let known = [
        ("host_written_bytes", health.host_written.is_some()),
        ("host_read_bytes", health.host_read.is_some()),
        ("flash_written_bytes", health.flash_written.is_some()),
        ("write_amplification", health.write_amplification.is_some()),
        ("wear_percent", health.wear_percent.is_some()),
        ("reallocated", health.reallocated.is_some()),
        ("uncorrectable", health.uncorrectable.is_some()),
        ("spare_percent", health.spare_percent.is_some()),
        ("temperature_celsius", health.temperature.is_some()),
        ("power_on_hours", health.power_on_hours.is_some()),
        ("passed", health.passed.is_some()),
    ];
    for (field, _) in known.into_iter().filter(|(_, is_known)| *is_known) {
        health.from(field, "counters of the model");
    }
    health
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_drive_has_the_same_schema_and_a_record_comes_back() {
        let preset = drive::preset::Preset::find("sata-tlc").unwrap();
        let drive = preset.build();
        let health = of_simulated(&preset.title, &drive::Drive::counters(&drive), &drive::Drive::health(&drive));
        assert_eq!((health.host_written, health.flash_written), (Some(Bytes::ZERO), Some(Bytes::ZERO)));
        assert_eq!((health.wear_percent, health.reallocated, health.write_amplification), (Some(0.0), Some(0), None));
        assert_eq!(health.pending, None, "a model that has no such thing does not call it zero");
        let fields = serde_json::to_value(&health).unwrap();
        let is_figure =
            |field: &&String| !["source", "origins"].contains(&field.as_str()) && !fields[field.as_str()].is_null();
        let known: Vec<&String> = fields.as_object().unwrap().keys().filter(is_figure).collect();
        assert!(known.iter().all(|field| health.origins.contains_key(*field)), "{known:?} of {:?}", health.origins);
        assert_eq!(health.origins.len(), known.len(), "and of nothing that is not known: {:?}", health.origins);
        let record = HealthRecord {
            before: Some(HealthReading::Missing("no".into())),
            after: Some(HealthReading::Health(Box::new(health))),
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<HealthRecord>(&text).unwrap(), record);
        assert_eq!(serde_json::from_str::<HealthRecord>("{}").unwrap(), HealthRecord::default());
    }
}
