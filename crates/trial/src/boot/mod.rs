//! How long a Linux system takes to boot from the drive.
//!
//! The system's image is written to the stage, a virtual machine (QEMU) starts from it, and the time until it asks for a
//! login is taken. A Debian then tells by `systemd-analyze` what it spent the time on.

mod accelerator;
mod analysis;
mod cache;
mod console;
mod debian;
mod disk;
mod machine;
mod micro;
mod work;

use std::path::PathBuf;

use block::{Bytes, Nanos};
use host::RUNTIME_FOLDER;
use workload::to_timed;

use self::accelerator::Accelerator;
use self::cache::SystemImage;
use self::machine::VirtualMachine;
use self::work::BootTools;
use crate::cleanup;
use crate::meters::{Meters, Usage};
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Cleanup, Experiment, Figure, Paper, Procedure, Tools, Trial,
    TrialContext, TrialDevice, TrialError,
};

/// The experiment `boot`.
#[derive(Debug)]
pub struct Boot;

const CHOICES: &[Choice] = &[
    Choice {
        name: "system",
        title: "System",
        about: "the system: a small Debian with systemd, or a kernel with BusyBox, built in seconds",
        kind: ChoiceKind::Word(&["debian", "micro"]),
        default: "debian",
    },
    Choice {
        name: "bus",
        title: "Bus",
        about: "the drive's interface in the virtual machine",
        kind: ChoiceKind::Word(&["ahci", "virtio", "nvme"]),
        default: "ahci",
    },
    Choice {
        name: "loader",
        title: "Loader",
        about: "the boot loader: GRUB from the drive, or QEMU directly from the host; micro has no GRUB",
        kind: ChoiceKind::Word(&["grub", "direct"]),
        default: "grub",
    },
    Choice {
        name: "accel",
        title: "Processor",
        about: "emulated (tcg), virtualised (kvm), or kvm where a kernel boots with it (auto)",
        kind: ChoiceKind::Word(&["auto", "tcg", "kvm"]),
        default: "auto",
    },
    Choice {
        name: "cpus",
        title: "Processors",
        about: "number of CPUs of the virtual machine",
        kind: ChoiceKind::Count(1, 64),
        default: "2",
    },
    Choice {
        name: "memory",
        title: "Memory",
        about: "memory of the virtual machine",
        kind: ChoiceKind::Bytes,
        default: "1GiB",
    },
    Choice { name: "limit", title: "Limit", about: "time limit of a boot", kind: ChoiceKind::Time, default: "10m" },
    Choice {
        name: "trace",
        title: "Trace",
        about: "whether the requests are recorded as a trace for replay; attached simulated drives only",
        kind: ChoiceKind::Word(&["no", "yes"]),
        default: "no",
    },
];

/// The least memory in which both systems boot.
const MEMORY_MIN: Bytes = Bytes::from_mib(256);

impl Experiment for Boot {
    fn name(&self) -> &'static str {
        "boot"
    }

    fn about(&self) -> &'static str {
        "Boot time of a Linux system in a virtual machine from the drive, by phase."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        if choices.text("system") == "micro" && choices.text("loader") == "grub" {
            return Err("system = \"micro\" has no GRUB; say loader = \"direct\" as well".to_owned().into());
        }
        let memory = choices.bytes("memory");
        if memory < MEMORY_MIN {
            return Err(format!("memory = {memory} is too little to boot in; give {MEMORY_MIN} or more").into());
        }
        Ok(())
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        vec![format!("qemu-system-x86_64 {}", machine::told_beforehand(choices).join(" "))]
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("writing a system to a device needs root; run assay as root".to_owned());
        }
        let built = if cache::is_built(choices.text("system")) { &[][..] } else { needed(choices.text("system")) };
        let missing = machine::NEEDS.iter().chain(built).find(|(program, _)| !Tools::of_system().has(program));
        missing
            .map(|(program, package)| format!("`{program}` is not installed; Debian has it in the package {package}"))
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        let seconds = if choices.text("system") == "micro" { 20 } else { 90 };
        Nanos::from_secs(seconds)
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        let known = cache::length(choices.text("system"));
        known.unwrap_or(Bytes::from_mib(if choices.text("system") == "micro" { 64 } else { 512 }))
    }
}

impl Procedure for Boot {
    fn folders(&self) -> Result<Vec<PathBuf>, TrialError> {
        cleanup::place()?;
        Ok(vec![RUNTIME_FOLDER.into(), cache::ready_home()?])
    }

    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let aftermath = Cleanup::begin()?;
        let work = BootTools::new(stage, &aftermath)?;
        let system = cache::ready(choices.text("system"), &work, go)?;
        let accelerator = Accelerator::chosen(choices.text("accel"), &system, &work, go)?;
        (go.tell)("copying the system to the drive");
        disk::copy(&system.disk(), &work)?;
        let before = Meters::read(stage)?;
        let heard = stage.heard().filter(|_| choices.text("trace") == "yes");
        heard.inspect(|heard| heard.listen());
        (go.tell)("booting");
        let mut machine = VirtualMachine::start(choices, &system, accelerator.word(), &work)?;
        let limit = std::time::Duration::from_nanos(choices.time("limit").as_nanos());
        let seen = machine.login(limit)?;
        let usage = Meters::read(stage)?.since(&before);
        let trace = heard.map(|heard| to_timed(&heard.take()));
        let mut trial = Trial::default();
        trial.figures.push(Figure::less("Login prompt", "s", seen.login.as_secs_f64()));
        let loaded = seen.loaded.map(|loaded| Figure::less("Firmware and loader", "s", loaded.as_secs_f64()));
        trial.figures.extend(loaded);
        if system.tells() {
            (go.tell)("reading the boot phases");
            let told = machine.papers(limit)?;
            analysis::add(&told, &mut trial)?;
        }
        trial.figures.extend(moved(&usage));
        conditions(&mut trial, choices, &system, &accelerator, &machine);
        findings(&mut trial, choices, stage, &accelerator);
        let paper = |text| Paper { name: "Block trace".to_owned(), media: "text/plain".to_owned(), text };
        trial.papers.extend(trace.map(paper));
        Ok(trial)
    }
}

/// What the drive did meanwhile.
fn moved(usage: &Usage) -> [Figure; 3] {
    [
        Figure::neither("Read", "B", usage.bytes_read.get() as f64),
        Figure::neither("Written", "B", usage.bytes_written.get() as f64),
        Figure::less("Drive busy", "s", usage.busy.as_secs_f64()),
    ]
}

/// The programs that build a system, and Debian's packages of them.
fn needed(system: &str) -> &'static [(&'static str, &'static str)] {
    if system == "micro" { micro::NEEDS } else { debian::NEEDS }
}

fn conditions(
    trial: &mut Trial,
    choices: &Choices,
    system: &SystemImage,
    accelerator: &Accelerator,
    machine: &VirtualMachine<'_>,
) {
    let mut add = |name: &str, text: String| trial.conditions.push((name.to_owned(), text));
    add("system", system.about.clone());
    add("image", format!("{}, built {}", system.length(), system.built));
    let loader = match choices.text("loader") {
        "direct" => "QEMU, from the host; kernel and initrd are not read from the drive",
        _ => "GRUB, which reads kernel and initrd from the drive by the BIOS",
    };
    add("loader", loader.to_owned());
    add("processor", accelerator.reason().to_owned());
    add("QEMU", machine.version.clone());
    add("command", machine.line().to_owned());
}

fn findings(trial: &mut Trial, choices: &Choices, stage: &TrialDevice, accelerator: &Accelerator) {
    if accelerator.is_emulated() {
        trial.findings.push(
            "The virtual machine's CPU is emulated. Boot times compare drives on the same CPU; they are longer than on \
             real hardware, where the drive has a larger share."
                .to_owned(),
        );
    }
    if choices.text("trace") == "yes" && stage.heard().is_none() {
        trial.findings.push(
            "No trace was recorded: only attached simulated drives record their requests. For other devices use \
             blktrace, whose text can be replayed too."
                .to_owned(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&str, &str)]) -> Choices {
        let mut choices = Choices::of(Boot.choices());
        pairs.iter().for_each(|(name, text)| choices.tell(name, text).unwrap());
        choices
    }

    #[test]
    fn the_defaults_are_values_of_their_choices_and_make_sense_together() {
        CHOICES.iter().for_each(|choice| choice.check(choice.default).unwrap());
        Boot.check(&told(&[])).unwrap();
    }

    #[test]
    fn what_cannot_boot_is_refused_with_what_would() {
        let said = Boot.check(&told(&[("system", "micro")])).unwrap_err().to_string();
        assert!(said.contains("loader = \"direct\""), "{said}");
        Boot.check(&told(&[("system", "micro"), ("loader", "direct")])).unwrap();
        let said = Boot.check(&told(&[("memory", "64m")])).unwrap_err().to_string();
        assert!(said.contains("256 MiB or more"), "{said}");
    }
}
