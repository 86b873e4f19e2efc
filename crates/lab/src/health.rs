//! The health of a simulated drive, from its own counters.

use block::Bytes;
use drive::{Counters, Health as State};

pub use host::health::*;

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
    for field in ["host_written_bytes", "host_read_bytes", "flash_written_bytes", "wear_percent", "reallocated"] {
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
        let record = HealthRecord {
            before: Some(HealthReading::Missing("no".into())),
            after: Some(HealthReading::Health(Box::new(health))),
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<HealthRecord>(&text).unwrap(), record);
        assert_eq!(serde_json::from_str::<HealthRecord>("{}").unwrap(), HealthRecord::default());
    }
}
