//! How warm a real drive is while it is measured, as the kernel reads it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Environment;

/// Where the kernel tells how warm a drive is.
///
/// Source: Linux, Documentation/hwmon/sysfs-interface.rst: `temp1_input`, in thousandths of a degree Celsius; drivers
/// `nvme` and `drivetemp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thermometer(PathBuf);

impl Thermometer {
    /// That of the drive beneath a target; none where the kernel has none.
    pub fn of(environment: &Environment) -> Option<Self> {
        let device = environment.device.as_ref()?;
        Self::under(&Path::new("/sys/block").join(device.name.replace('/', "!")).join("device"))
    }

    /// The first sensor that hangs on a device: of an NVMe drive right below it, of others one level deeper.
    fn under(device: &Path) -> Option<Self> {
        let entries = |folder: &Path| {
            let mut entries: Vec<PathBuf> =
                fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
            entries.sort();
            entries
        };
        let is_sensor =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hwmon"));
        let sensors = entries(device).into_iter().filter(is_sensor).chain(entries(&device.join("hwmon")));
        sensors.map(|sensor| sensor.join("temp1_input")).find(|file| file.is_file()).map(Self)
    }

    /// How warm it is, in whole degrees Celsius; none if that cannot be read now.
    pub fn read(&self) -> Option<i64> {
        let thousandths: i64 = fs::read_to_string(&self.0).ok()?.trim().parse().ok()?;
        Some(thousandths.div_euclid(1_000))
    }
}

/// How warm a drive was before something and after it, in degrees Celsius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warmth {
    /// Before.
    pub before: Option<i64>,
    /// After.
    pub after: Option<i64>,
}

impl Warmth {
    /// What is to be added to a sentence; empty where nothing is known.
    pub fn words(self) -> String {
        match (self.before, self.after) {
            (Some(before), Some(after)) if after > before => {
                format!("; the temperature rose from {before} °C to {after} °C")
            }
            (_, Some(after)) => format!("; the temperature is {after} °C"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sensor_is_found_right_below_the_device_or_one_level_deeper() {
        for place in ["hwmon3", "hwmon/hwmon7"] {
            let device = tempfile::tempdir().unwrap();
            let folder = device.path().join(place);
            fs::create_dir_all(&folder).unwrap();
            assert_eq!(Thermometer::under(device.path()), None, "a sensor without a temperature");
            fs::write(folder.join("temp1_input"), "44850\n").unwrap();
            assert_eq!(Thermometer::under(device.path()).unwrap().read(), Some(44), "{place}");
        }
        assert_eq!(Thermometer::under(Path::new("/nowhere")), None);
    }

    #[test]
    fn only_what_is_known_is_said() {
        let words = |before, after| Warmth { before, after }.words();
        assert_eq!(words(Some(40), Some(71)), "; the temperature rose from 40 °C to 71 °C");
        assert_eq!(words(Some(71), Some(70)), "; the temperature is 70 °C");
        assert_eq!(words(None, None), "");
    }
}
