//! Meters of power and energy.

use host::power::Sensors;

use super::check::{Check, Purpose, Status};
use super::machine::Machine;

/// Looks for every kind of meter.
pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    vec![
        Check { name: "RAPL", ability: "CPU energy", purpose: Purpose::Energy, status: processor_meter(machine) },
        Check { name: "hwmon", ability: "power from a sensor", purpose: Purpose::Energy, status: sensor(machine) },
        Check {
            name: "battery",
            ability: "power of the machine on battery",
            purpose: Purpose::Energy,
            status: battery(machine),
        },
        Check {
            name: "SCPI meter",
            ability: "power of a drive from a multimeter",
            purpose: Purpose::Energy,
            status: instrument(machine),
        },
    ]
}

/// The kernel's module for the processors' energy counters, of AMD as of Intel.
const RAPL: &str = "intel_rapl_msr";

/// The processors' own energy counters, which the kernel lets only the superuser read.
fn processor_meter(machine: &Machine) -> Status {
    let Sensors { counters, hidden, .. } = machine.sensors();
    if !counters.is_empty() {
        Status::ready(format!("{} (--power rapl)", counters.join(", ")))
    } else if hidden > 0 {
        Status::missing("only root may read the counters", "put sudo before the command")
    } else if machine.kernel.is_virtual() {
        Status::unavailable("no counter found; virtual machines have none")
    } else if machine.has_module(RAPL) && !machine.kernel.has_loaded(RAPL) {
        Status::missing("no counter found", machine.load(RAPL))
    } else {
        Status::unavailable(format!("no counter found; Intel's since 2011 and AMD's since 2017 have one, by {RAPL}"))
    }
}

/// Sensors on the board, in supplies and in meters.
fn sensor(machine: &Machine) -> Status {
    let Sensors { chips, .. } = machine.sensors();
    if chips.is_empty() {
        Status::unavailable("no sensor found; one that Linux has a driver for can be attached, such as an INA226")
    } else {
        Status::ready(format!("{} (--power hwmon)", chips.join(", ")))
    }
}

/// Batteries that feed the machine, not a mouse.
fn battery(machine: &Machine) -> Status {
    let Sensors { batteries, .. } = machine.sensors();
    let names = batteries.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    if batteries.is_empty() {
        Status::unavailable("no battery found")
    } else if batteries.iter().any(|(_, discharges)| *discharges) {
        Status::ready(format!("{names} (--power battery)"))
    } else {
        Status::missing(format!("{names} does not discharge"), "unplug the power supply")
    }
}

/// Serial lines at which a meter may be; who listens on a network is not asked.
fn instrument(machine: &Machine) -> Status {
    let lines: Vec<String> = ["ttyUSB", "ttyACM"]
        .iter()
        .flat_map(|kind| machine.list("dev", kind))
        .map(|line| format!("/dev/{}", line.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    match lines.first() {
        Some(first) => {
            Status::ready(format!("a meter may be at {} (--power \"scpi:{first}?volts=5\")", lines.join(", ")))
        }
        None => Status::unavailable(
            "no serial line found; a meter on the network needs none: --power \"scpi://HOST:PORT?volts=5\"",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::tests::machine_with;
    use super::*;

    #[test]
    fn a_processor_counter_counts_only_if_it_can_be_read() {
        let name = ("sys/class/powercap/intel-rapl:0/name", "package-0\n");
        let energy = ("sys/class/powercap/intel-rapl:0/energy_uj", "123\n");
        assert_eq!(processor_meter(&machine_with(&[name, energy]).1), Status::ready("package-0 (--power rapl)"));
        let hidden = processor_meter(&machine_with(&[name]).1);
        assert!(matches!(&hidden, Status::Missing { detail, .. } if detail.contains("only root")), "{hidden:?}");
        let index = ("lib/modules/6.12.1-test/modules.dep", "kernel/drivers/powercap/intel_rapl_msr.ko.xz:\n");
        let modprobe = ("bin/modprobe", "");
        let found = |files: &[(&str, &str)]| processor_meter(&machine_with(files).1);
        let load = Status::missing("no counter found", "sudo modprobe intel_rapl_msr");
        assert_eq!(found(&[index, modprobe]), load);
        let guest = ("proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n");
        for files in [&[][..], &[index, modprobe, guest], &[index, modprobe, ("sys/module/intel_rapl_msr/refcnt", "0")]]
        {
            assert!(matches!(found(files), Status::Unavailable { .. }), "{:?}", found(files));
        }
    }

    #[test]
    fn a_sensor_counts_only_if_it_measures_power() {
        let warmth = [("sys/class/hwmon/hwmon0/name", "k10temp"), ("sys/class/hwmon/hwmon0/temp1_input", "41000")];
        let power = [("sys/class/hwmon/hwmon1/name", "ina226\n"), ("sys/class/hwmon/hwmon1/power1_input", "2500000")];
        assert!(matches!(sensor(&machine_with(&warmth).1), Status::Unavailable { .. }));
        assert_eq!(sensor(&machine_with(&[warmth, power].concat()).1), Status::ready("ina226 (--power hwmon)"));
    }

    #[test]
    fn a_battery_counts_while_it_feeds_the_machine() {
        let mouse = [
            ("sys/class/power_supply/hid/type", "Battery"),
            ("sys/class/power_supply/hid/scope", "Device"),
            ("sys/class/power_supply/hid/status", "Discharging"),
        ];
        assert!(
            matches!(battery(&machine_with(&mouse).1), Status::Unavailable { detail } if detail.contains("no battery"))
        );
        let own = ("sys/class/power_supply/BAT0/type", "Battery");
        let with = |status| battery(&machine_with(&[own, ("sys/class/power_supply/BAT0/status", status)]).1);
        assert_eq!(with("Discharging"), Status::ready("BAT0 (--power battery)"));
        assert!(matches!(with("Full"), Status::Missing { remedy, .. } if remedy.contains("unplug")));
    }

    #[test]
    fn a_serial_line_may_have_a_meter_at_its_other_end() {
        let found = instrument(&machine_with(&[("dev/ttyUSB0", ""), ("dev/ttyACM1", "")]).1);
        let words = "a meter may be at /dev/ttyUSB0, /dev/ttyACM1 (--power \"scpi:/dev/ttyUSB0?volts=5\")";
        assert_eq!(found, Status::ready(words));
        assert!(matches!(instrument(&machine_with(&[]).1), Status::Unavailable { .. }));
    }
}
