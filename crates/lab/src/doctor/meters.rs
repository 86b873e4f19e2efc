//! Meters of power and energy.

use std::path::PathBuf;

use super::machine::Machine;
use super::{Check, Purpose, Status};

/// Looks for every kind of meter.
pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    vec![
        Check {
            name: "RAPL",
            ability: "measure the processors' energy",
            purpose: Purpose::Energy,
            status: processor_meter(machine),
        },
        Check {
            name: "hwmon",
            ability: "measure power with a sensor",
            purpose: Purpose::Energy,
            status: sensor(machine),
        },
    ]
}

/// The processors' own energy counters, which the kernel lets only the superuser read.
///
/// Source: linux/Documentation/power/powercap/powercap.rst.
fn processor_meter(machine: &Machine) -> Status {
    let zones = machine.list("sys/class/powercap", "intel-rapl:");
    let readable = |zone: &&PathBuf| machine.read(zone.join("energy_uj")).is_some();
    let names: Vec<_> = zones.iter().filter(readable).filter_map(|zone| machine.read(zone.join("name"))).collect();
    if !names.is_empty() {
        Status::ready(names.join(", "))
    } else if zones.is_empty() {
        let remedy = machine.as_root("modprobe intel_rapl_msr");
        Status::missing("no counter found; virtual machines have none", remedy)
    } else {
        Status::missing("only root may read the counters", "put sudo before the command")
    }
}

/// Sensors on the board, in supplies and in meters.
///
/// Source: linux/Documentation/hwmon/sysfs-interface.rst, "power[1-*]_input".
fn sensor(machine: &Machine) -> Status {
    let has_power = |chip: &&PathBuf| {
        let inputs = machine.list(chip, "power");
        inputs.iter().any(|input| input.to_string_lossy().ends_with("_input") && machine.read(input).is_some())
    };
    let chips = machine.list("sys/class/hwmon", "hwmon");
    let names: Vec<_> = chips.iter().filter(has_power).filter_map(|chip| machine.read(chip.join("name"))).collect();
    if names.is_empty() {
        Status::missing("no sensor found", "attach one that Linux has a driver for, such as an INA226")
    } else {
        Status::ready(names.join(", "))
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
        assert_eq!(processor_meter(&machine_with(&[name, energy]).1), Status::ready("package-0"));
        let hidden = processor_meter(&machine_with(&[name]).1);
        assert!(matches!(&hidden, Status::Missing { detail, .. } if detail.contains("only root")), "{hidden:?}");
        let absent = processor_meter(&machine_with(&[]).1);
        assert!(matches!(&absent, Status::Missing { remedy, .. } if remedy.contains("modprobe")), "{absent:?}");
    }

    #[test]
    fn a_sensor_counts_only_if_it_measures_power() {
        let warmth = [("sys/class/hwmon/hwmon0/name", "k10temp"), ("sys/class/hwmon/hwmon0/temp1_input", "41000")];
        let power = [("sys/class/hwmon/hwmon1/name", "ina226\n"), ("sys/class/hwmon/hwmon1/power1_input", "2500000")];
        assert!(matches!(sensor(&machine_with(&warmth).1), Status::Missing { .. }));
        assert_eq!(sensor(&machine_with(&[warmth, power].concat()).1), Status::ready("ina226"));
    }
}
