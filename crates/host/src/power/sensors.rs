//! What Linux itself meters: the processors' counters, sensors on the board, batteries.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::PowerError;
use super::gauge::Gauge;
use super::samples::MeterUnit;
use crate::machine::entries;

/// The processors' energy counters, added up.
///
/// Source: linux/Documentation/power/powercap/powercap.rst.
pub(super) struct Rapl {
    zones: Vec<Zone>,
    every: Duration,
}

/// One counter that begins anew when it is full.
struct Zone {
    name: String,
    counter: PathBuf,
    /// Where it begins anew, in microjoules.
    range: u64,
    /// What it showed last.
    last: u64,
    /// All that it has counted since it was opened, in microjoules.
    total: u64,
}

impl Rapl {
    /// The counters of all processor packages, or of the zone of this name.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(root: &Path, wanted: Option<&str>, every: Duration) -> Result<Self, PowerError> {
        let named = zones(root);
        let is_wanted = |(name, folder): &&(String, PathBuf)| match wanted {
            // Parts of a package, such as its cores, are in the package's own counter.
            None => name.starts_with("package"),
            Some(wanted) => name == wanted || file_name(folder) == wanted,
        };
        let zones = named.iter().filter(is_wanted).map(|(name, folder)| Zone::open(name, folder));
        let zones = zones.collect::<Result<Vec<_>, _>>()?;
        if zones.is_empty() {
            let wanted =
                wanted.map_or("energy counter of a processor (RAPL)".into(), |name| format!("RAPL zone {name}"));
            let found = named.into_iter().map(|(name, folder)| format!("{name} ({})", file_name(&folder))).collect();
            return Err(PowerError::Absent { wanted, found });
        }
        Ok(Self { zones, every })
    }
}

impl Zone {
    fn open(name: &str, folder: &Path) -> Result<Self, PowerError> {
        let (counter, range) = (folder.join("energy_uj"), number(&folder.join("max_energy_range_uj"))?);
        Ok(Self { name: name.to_owned(), last: number(&counter)?, counter, range, total: 0 })
    }

    /// All that has been counted, in microjoules. Between two readings the counter is full once at most: a package that
    /// uses 100 W takes 43 minutes for the usual 262 kJ.
    fn read(&mut self) -> Result<u64, PowerError> {
        let now = number(&self.counter)?;
        self.total += if now >= self.last { now - self.last } else { self.range.saturating_sub(self.last) + now };
        self.last = now;
        Ok(self.total)
    }
}

impl Gauge for Rapl {
    fn name(&self) -> String {
        format!("RAPL {}", self.zones.iter().map(|zone| zone.name.as_str()).collect::<Vec<_>>().join(" + "))
    }

    fn unit(&self) -> MeterUnit {
        MeterUnit::Joules
    }

    fn pause(&self) -> Duration {
        self.every
    }

    fn read(&mut self) -> Result<f64, PowerError> {
        let all = self.zones.iter_mut().map(Zone::read).sum::<Result<u64, _>>()?;
        Ok(all as f64 / 1e6)
    }
}

/// A sensor of power on the board, in a supply or in a meter.
///
/// Source: linux/Documentation/hwmon/sysfs-interface.rst, "power[1-*]_input", "power[1-*]_average": microwatts.
pub(super) struct Sensor {
    name: String,
    input: PathBuf,
    every: Duration,
}

impl Sensor {
    /// The channel of the chip of this name, or the only one there is.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn open(root: &Path, chip: Option<&str>, channel: Option<u32>, every: Duration) -> Result<Self, PowerError> {
        let found = sensors(root);
        let words = |(name, folder, (number, _)): &(String, String, (u32, PathBuf))| {
            format!("{name} ({folder}), channel {number}")
        };
        let is_wanted = |(name, folder, (number, _)): &&(String, String, (u32, PathBuf))| {
            chip.is_none_or(|chip| chip == name || chip == folder) && channel.is_none_or(|channel| channel == *number)
        };
        let fitting: Vec<_> = found.iter().filter(is_wanted).collect();
        match &fitting[..] {
            [(name, _, (number, input))] => {
                Ok(Self { name: format!("hwmon {name}, channel {number}"), input: input.clone(), every })
            }
            [] => {
                let wanted =
                    chip.map_or_else(|| "sensor of power (hwmon)".into(), |chip| format!("sensor of power in {chip}"));
                Err(PowerError::Absent { wanted, found: found.iter().map(words).collect() })
            }
            [(_, folder, (number, _)), ..] => Err(PowerError::Several {
                wanted: "hwmon".into(),
                example: format!("hwmon:{folder}?channel={number}"),
                found: fitting.into_iter().map(words).collect(),
            }),
        }
    }
}

/// The channels of a chip that measure power, each with its file: the reading of the moment, or else the average.
fn channels(folder: &Path) -> Vec<(u32, PathBuf)> {
    let channel = |path: &PathBuf, ending| file_name(path).strip_prefix("power")?.strip_suffix(ending)?.parse().ok();
    let files = entries(folder, "power");
    let of = |ending: &'static str| files.iter().filter_map(move |path| Some((channel(path, ending)?, path.clone())));
    let mut all: Vec<(u32, PathBuf)> = of("_input").collect();
    for (number, path) in of("_average") {
        if !all.iter().any(|(known, _)| *known == number) {
            all.push((number, path));
        }
    }
    all.sort();
    all
}

impl Gauge for Sensor {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn unit(&self) -> MeterUnit {
        MeterUnit::Watts
    }

    fn pause(&self) -> Duration {
        self.every
    }

    fn read(&mut self) -> Result<f64, PowerError> {
        Ok(number(&self.input)? as f64 / 1e6)
    }
}

/// The batteries that feed the machine, added up.
///
/// Source: linux/Documentation/ABI/testing/sysfs-class-power: microwatts, microamperes, microvolts.
pub(super) struct Battery {
    folders: Vec<PathBuf>,
    every: Duration,
}

impl Battery {
    /// All batteries of the machine, or the one of this name.
    ///
    /// # Errors
    /// If there is none. Whether it discharges is seen when it is read.
    pub fn open(root: &Path, wanted: Option<&str>, every: Duration) -> Result<Self, PowerError> {
        let all = batteries(root);
        let is_wanted = |folder: &&PathBuf| wanted.is_none_or(|wanted| file_name(folder) == wanted);
        let folders: Vec<PathBuf> = all.iter().filter(is_wanted).cloned().collect();
        if folders.is_empty() {
            let wanted = wanted.map_or_else(|| "battery".to_owned(), |name| format!("battery {name}"));
            return Err(PowerError::Absent { wanted, found: all.iter().map(|folder| file_name(folder)).collect() });
        }
        Ok(Self { folders, every })
    }
}

/// What a battery gives at the moment, in watts; none where it gives nothing because another does.
fn given(folder: &Path) -> Result<Option<f64>, PowerError> {
    if text(&folder.join("status"))? != "Discharging" {
        return Ok(None);
    }
    // Some drivers give a sign to what flows out.
    let micro = |name: &str| signed(&folder.join(name)).map(|value| value.unsigned_abs() as f64 / 1e6);
    if folder.join("power_now").exists() {
        return micro("power_now").map(Some);
    }
    Ok(Some(micro("current_now")? * micro("voltage_now")?))
}

impl Gauge for Battery {
    fn name(&self) -> String {
        let names: Vec<String> = self.folders.iter().map(|folder| file_name(folder)).collect();
        format!("battery {}", names.join(" + "))
    }

    fn unit(&self) -> MeterUnit {
        MeterUnit::Watts
    }

    fn pause(&self) -> Duration {
        self.every
    }

    fn read(&mut self) -> Result<f64, PowerError> {
        let all = self.folders.iter().map(|folder| given(folder)).collect::<Result<Vec<_>, _>>()?;
        let giving: Vec<f64> = all.into_iter().flatten().collect();
        if giving.is_empty() {
            let folder = &self.folders[0];
            return Err(PowerError::NotDischarging {
                battery: file_name(folder),
                status: text(&folder.join("status"))?,
            });
        }
        Ok(giving.iter().sum())
    }
}

/// What this machine has that meters power, whether or not it can be read now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sensors {
    /// The names of the processors' energy counters that can be read.
    pub counters: Vec<String>,
    /// How many counters there are that only the superuser can read.
    pub hidden: usize,
    /// The names of the chips with a sensor of power.
    pub chips: Vec<String>,
    /// The names of the batteries that feed the machine, and whether each discharges.
    pub batteries: Vec<(String, bool)>,
}

impl Sensors {
    /// Those of the machine whose files lie under `root`.
    pub fn under(root: &Path) -> Self {
        let (readable, hidden): (Vec<_>, Vec<_>) =
            zones(root).into_iter().partition(|(_, folder)| text(&folder.join("energy_uj")).is_ok());
        let mut chips: Vec<String> =
            sensors(root).into_iter().filter(|(.., (_, input))| text(input).is_ok()).map(|(name, ..)| name).collect();
        chips.dedup();
        let discharges = |folder: &Path| text(&folder.join("status")).is_ok_and(|status| status == "Discharging");
        let batteries = batteries(root).iter().map(|folder| (file_name(folder), discharges(folder))).collect();
        Self { counters: readable.into_iter().map(|(name, _)| name).collect(), hidden: hidden.len(), chips, batteries }
    }
}

/// The processors' energy counters, each with its name and its folder.
fn zones(root: &Path) -> Vec<(String, PathBuf)> {
    let folders = entries(&root.join("sys/class/powercap"), "intel-rapl:");
    folders.into_iter().filter_map(|folder| Some((text(&folder.join("name")).ok()?, folder))).collect()
}

/// The channels that measure power, each with the name of its chip, the chip's folder, its number and its file.
fn sensors(root: &Path) -> Vec<(String, String, (u32, PathBuf))> {
    let chips = entries(&root.join("sys/class/hwmon"), "hwmon").into_iter();
    let of = |chip: PathBuf| {
        let (name, folder) = (text(&chip.join("name")).unwrap_or_default(), file_name(&chip));
        channels(&chip).into_iter().map(move |channel| (name.clone(), folder.clone(), channel))
    };
    chips.flat_map(of).collect()
}

/// The batteries that feed the machine. Mice and headsets have batteries of their own, which feed nothing else.
fn batteries(root: &Path) -> Vec<PathBuf> {
    let says = |folder: &Path, file: &str, word: &str| text(&folder.join(file)).is_ok_and(|found| found == word);
    let mut supplies = entries(&root.join("sys/class/power_supply"), "");
    supplies.retain(|folder| says(folder, "type", "Battery") && !says(folder, "scope", "Device"));
    supplies
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a file holds, without the space around it.
fn text(path: &Path) -> Result<String, PowerError> {
    let read = fs::read_to_string(path).map(|text| text.trim().to_owned());
    read.map_err(|error| PowerError::Unreadable { path: path.to_owned(), error })
}

fn signed(path: &Path) -> Result<i64, PowerError> {
    let found = text(path)?;
    found.parse().map_err(|_| PowerError::NotANumber { path: path.to_owned(), found })
}

fn number(path: &Path) -> Result<u64, PowerError> {
    let found = text(path)?;
    found.parse().map_err(|_| PowerError::NotANumber { path: path.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_millis(100);

    /// A machine with these files, each with what it holds.
    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            set(&root, path, text);
        }
        root
    }

    fn set(root: &tempfile::TempDir, path: &str, text: &str) {
        let path = root.path().join("sys/class").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn zone<'a>(folder: &str, name: &'a str, energy: &'a str) -> [(String, &'a str); 3] {
        let file = |file: &str| format!("powercap/{folder}/{file}");
        [(file("name"), name), (file("energy_uj"), energy), (file("max_energy_range_uj"), "262143328850")]
    }

    fn processors() -> tempfile::TempDir {
        let zones = [
            zone("intel-rapl:0", "package-0", "262143000000"),
            zone("intel-rapl:0:0", "core", "5"),
            zone("intel-rapl:1", "package-1", "7000000"),
        ];
        let files: Vec<(&str, &str)> = zones.iter().flatten().map(|(path, text)| (path.as_str(), *text)).collect();
        machine(&files)
    }

    #[test]
    fn the_packages_add_up_and_a_full_counter_goes_on() {
        let root = processors();
        let mut rapl = Rapl::open(root.path(), None, EVERY).unwrap();
        assert_eq!((rapl.name().as_str(), rapl.unit()), ("RAPL package-0 + package-1", MeterUnit::Joules));
        assert_eq!(rapl.read().unwrap(), 0.0);
        set(&root, "powercap/intel-rapl:1/energy_uj", "9500000");
        assert_eq!(rapl.read().unwrap(), 2.5);
        set(&root, "powercap/intel-rapl:0/energy_uj", "671150");
        assert_eq!(rapl.read().unwrap(), 3.5, "0.32885 J up to the end of the range, 0.67115 J from its beginning");
        let core = Rapl::open(root.path(), Some("core"), EVERY).unwrap();
        assert_eq!(core.name(), "RAPL core");
    }

    #[test]
    fn a_counter_that_is_not_there_is_told_with_those_that_are() {
        let said = Rapl::open(processors().path(), Some("dram"), EVERY).err().unwrap().to_string();
        assert!(said.contains("no RAPL zone dram") && said.contains("core (intel-rapl:0:0)"), "{said}");
        let said = Rapl::open(machine(&[]).path(), None, EVERY).err().unwrap().to_string();
        assert!(said.contains("no energy counter of a processor") && said.contains("assay doctor"), "{said}");
        let broken = machine(&[
            ("powercap/intel-rapl:0/name", "package-0"),
            ("powercap/intel-rapl:0/max_energy_range_uj", "lots"),
        ]);
        let said = Rapl::open(broken.path(), None, EVERY).err().unwrap().to_string();
        assert!(said.contains("max_energy_range_uj holds `lots`, where a whole number"), "{said}");
        let hidden =
            machine(&[("powercap/intel-rapl:0/name", "package-0"), ("powercap/intel-rapl:0/max_energy_range_uj", "1")]);
        let said = Rapl::open(hidden.path(), None, EVERY).err().unwrap().to_string();
        assert!(said.contains("energy_uj cannot be read"), "{said}");
    }

    #[test]
    fn a_sensor_gives_its_input_or_else_its_average() {
        let root = machine(&[
            ("hwmon/hwmon0/name", "k10temp"),
            ("hwmon/hwmon0/temp1_input", "41000"),
            ("hwmon/hwmon1/name", "ina226"),
            ("hwmon/hwmon1/power1_input", "2500000"),
            ("hwmon/hwmon1/power1_average", "9900000"),
            ("hwmon/hwmon1/power2_average", "750000"),
        ]);
        let open = |chip, channel| Sensor::open(root.path(), chip, channel, EVERY);
        assert_eq!(open(None, Some(1)).unwrap().read().unwrap(), 2.5);
        let mut second = open(Some("ina226"), Some(2)).unwrap();
        assert_eq!((second.name().as_str(), second.read().unwrap()), ("hwmon ina226, channel 2", 0.75));
        let said = open(None, None).err().unwrap().to_string();
        assert!(said.contains("ina226 (hwmon1), channel 2") && said.contains("`hwmon:hwmon1?channel=1`"), "{said}");
        let said = open(Some("k10temp"), None).err().unwrap().to_string();
        assert!(said.contains("no sensor of power in k10temp") && said.contains("there is ina226"), "{said}");
    }

    #[test]
    fn a_battery_tells_power_or_current_and_voltage_while_it_feeds_the_machine() {
        let root = machine(&[
            ("power_supply/AC/type", "Mains"),
            ("power_supply/mouse/type", "Battery"),
            ("power_supply/mouse/scope", "Device"),
            ("power_supply/BAT0/type", "Battery"),
            ("power_supply/BAT0/status", "Discharging"),
            ("power_supply/BAT0/power_now", "8250000"),
            ("power_supply/BAT1/type", "Battery"),
            ("power_supply/BAT1/status", "Discharging"),
            ("power_supply/BAT1/current_now", "-500000"),
            ("power_supply/BAT1/voltage_now", "12000000"),
        ]);
        let mut both = Battery::open(root.path(), None, EVERY).unwrap();
        assert_eq!((both.name().as_str(), both.read().unwrap()), ("battery BAT0 + BAT1", 14.25));
        set(&root, "power_supply/BAT1/status", "Not charging");
        assert_eq!(both.read().unwrap(), 8.25, "one rests while the other gives");
        let mut first = Battery::open(root.path(), Some("BAT0"), EVERY).unwrap();
        set(&root, "power_supply/BAT0/status", "Charging");
        let said = first.read().unwrap_err().to_string();
        assert!(said.contains("BAT0 is not discharging (status `Charging`)") && said.contains("unplug"), "{said}");
        let said = Battery::open(root.path(), Some("BAT7"), EVERY).err().unwrap().to_string();
        assert!(said.contains("no battery BAT7") && said.contains("there is BAT0, BAT1"), "{said}");
    }
}
