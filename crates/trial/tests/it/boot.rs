//! Systems that boot from a loop device and from simulated drives, and nothing that is left behind.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{condition, experiment, left_by, runs, skip};
use assay_trial::{Choices, Cleanup, Procedure, Trial, TrialContext, TrialDevice, TrialError};
use attach::loop_device::LoopDevice;
use block::{Bytes, Nanos, Op, Seed};
use drive::preset::Preset;
use testkit::process::{again, done_apart};
use testkit::{soak, until};
use workload::TraceReader;

fn boot() -> &'static dyn Procedure {
    experiment("boot")
}

fn told(pairs: &[(&str, &str)]) -> Choices {
    let mut choices = Choices::of(boot().choices());
    pairs.iter().for_each(|(name, text)| choices.tell(name, text).unwrap());
    boot().check(&choices).unwrap();
    choices
}

fn micro(more: &[(&str, &str)]) -> Choices {
    told(&[&[("system", "micro"), ("loader", "direct"), ("accel", "tcg")], more].concat())
}

/// Whether a test is to be done here and now: the machine has what it takes, which is said otherwise, and this process
/// boots nothing else.
fn can(choices: &Choices) -> bool {
    let missing = [(!Path::new("/dev/loop-control").exists(), "there is no /dev/loop-control".to_owned())];
    let reason = boot().unavailable(choices).or(missing.into_iter().find(|(is, _)| *is).map(|(_, reason)| reason));
    reason.iter().for_each(|reason| skip(reason));
    reason.is_none() && !done_apart()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn over(file: &Path, size: Bytes) -> LoopDevice {
    File::create(file).unwrap().set_len(size.get()).unwrap();
    LoopDevice::over(file, Bytes::new(512), false).unwrap()
}

fn attached(preset: &str) -> TrialDevice {
    TrialDevice::over_drive(Preset::find(preset).unwrap().build(), preset, 1.0, Arc::default()).unwrap()
}

fn run(choices: &Choices, stage: &TrialDevice) -> Result<Trial, TrialError> {
    boot().run(choices, stage, &TrialContext { seed: Seed::new(1), tell: &|words| eprintln!("{words}") })
}

/// That nothing is left of what process `pid` did.
fn assert_clean(pid: u32) {
    assert_eq!(left_by(pid), Vec::<String>::new());
}

#[test]
fn a_small_system_boots_from_a_loop_device_over_each_bus() {
    if !can(&micro(&[])) {
        return;
    }
    let folder = folder();
    for bus in soak::some(vec!["ahci", "virtio", "nvme"], 1) {
        let size = Bytes::from_mib(64);
        let stage = TrialDevice::file(over(&folder.path().join("disk"), size), size, Arc::default());
        let trial = run(&micro(&[("bus", bus)]), &stage).unwrap();
        let login = trial.figure("Login prompt").unwrap();
        assert!(login > 0.5, "{bus}: {login} s");
        // The 96 files of 128 KiB, and not all of the 40 MiB.
        let read = trial.figure("Read").unwrap();
        assert!((12.0e6..40.0e6).contains(&read), "{bus}: {read} B");
        assert!(trial.figure("Written").unwrap() > 4096.0, "{bus} keeps a log");
        assert!(trial.findings.iter().any(|finding| finding.contains("CPU is emulated")), "{:?}", trial.findings);
        let condition = |name: &str| condition(&trial, name);
        assert!(condition("system").starts_with("BusyBox, Linux "), "{}", condition("system"));
        assert!(condition("command").contains("cache=none"), "{}", condition("command"));
        assert!(condition("loader").contains("not read from the drive"));
        assert_clean(std::process::id());
    }
}

#[test]
fn a_boot_from_a_slower_drive_waits_longer_for_it_and_its_trace_is_a_trace() {
    if !can(&micro(&[])) {
        return;
    }
    if !Path::new("/dev/fuse").exists() {
        return skip("there is no /dev/fuse, by which a simulated drive is attached");
    }
    let busy = ["x25-m?capacity.user=64MiB&spare=150%&link.rate=8 MB/s", "x25-m?capacity.user=64MiB&spare=150%"].map(
        |preset| {
            let trial = run(&micro(&[("trace", "yes")]), &attached(preset)).unwrap();
            let paper = trial.papers.iter().find(|paper| paper.name == "Block trace").unwrap();
            let (trace, _) = TraceReader::default().text(&paper.text).unwrap();
            let reads = trace.requests().filter(|traced| traced.request.op == Op::Read);
            let read: Bytes = reads.map(|traced| traced.request.bytes()).sum();
            let counted = trial.figure("Read").unwrap();
            assert!((read.get() as f64 / counted - 1.0).abs() < 0.05, "{read} in the trace, {counted} B in all");
            assert!(trace.requests().any(|traced| traced.request.op == Op::Flush), "sync flushes");
            let length = trace.requests().last().unwrap().at;
            assert!(length > Nanos::from_millis(100) && length.as_secs_f64() < trial.figure("Login prompt").unwrap());
            trial.figure("Drive busy").unwrap()
        },
    );
    // 12.6 MB at 8 MB/s take 1.6 s; what other processes add to the time of either is not the link's.
    assert!(busy[0] > 1.5 && busy[0] > busy[1] + 1.0, "{busy:?} s");
}

#[test]
fn a_boot_that_is_stopped_or_fails_leaves_nothing() {
    if !can(&micro(&[])) {
        return;
    }
    let (folder, size, stop) = (folder(), Bytes::from_mib(64), Arc::new(AtomicBool::new(false)));
    let stage = TrialDevice::file(over(&folder.path().join("disk"), size), size, Arc::clone(&stop));
    let said = run(&micro(&[("limit", "10ms")]), &stage).unwrap_err().to_string();
    assert!(said.contains("no login prompt within"), "{said}");
    assert_clean(std::process::id());
    let stopping = thread::spawn(move || {
        until("QEMU", || runs(&[&format!("/run/assay/boot-{}-", std::process::id())]));
        stop.store(true, Ordering::Relaxed);
    });
    assert!(matches!(run(&micro(&[]), &stage), Err(TrialError::Interrupted)));
    stopping.join().unwrap();
    assert_clean(std::process::id());
    let small =
        TrialDevice::file(over(&folder.path().join("small"), Bytes::from_mib(8)), Bytes::from_mib(8), Arc::default());
    let said = run(&micro(&[]), &small).unwrap_err().to_string();
    assert!(said.contains("take a larger drive"), "{said}");
    assert_clean(std::process::id());
}

/// Which device the process that is to be killed boots from.
const VICTIM: &str = "ASSAY_TEST_VICTIM";

#[test]
fn a_boot_that_is_killed_leaves_nothing_when_its_promises_are_kept() {
    if let Some(device) = std::env::var_os(VICTIM) {
        let stage = TrialDevice::device(Path::new(&device), Bytes::from_mib(64), Arc::default());
        run(&micro(&[]), &stage).unwrap();
        return;
    }
    if !can(&micro(&[])) {
        return;
    }
    let folder = folder();
    let device = over(&folder.path().join("disk"), Bytes::from_mib(64));
    let mut victim = again("boot::a_boot_that_is_killed_leaves_nothing_when_its_promises_are_kept");
    let mut victim = victim.env(VICTIM, device.path()).spawn().unwrap();
    let pid = victim.id();
    let own = || fs::read_dir("/run/assay").into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let is_victims = |path: &Path| path.display().to_string().starts_with(&format!("/run/assay/boot-{pid}-"));
    until("console", || own().any(|path| is_victims(&path) && path.join("console").exists()));
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(runs(&[&format!("/run/assay/boot-{pid}-")]), "QEMU outlives whoever started it");
    Cleanup::undo_all().unwrap();
    // Another program that looks may have begun to settle it before.
    until("it has left nothing", || left_by(pid).is_empty());
}

/// Builds a Debian, which takes minutes. Its papers go to the folder that `ASSAY_BOOT_PAPERS` names.
#[test]
fn a_debian_boots_from_an_attached_drive_and_tells_what_it_spent_its_time_on() {
    if !soak::is_whole() {
        return skip("it builds a Debian and boots it in an emulated processor, which takes minutes: make soak");
    }
    let preset = std::env::var("ASSAY_BOOT_DRIVE").unwrap_or("x25-m?capacity.user=1GiB".to_owned());
    let choices = told(&[("accel", "tcg"), ("trace", "yes"), ("memory", "512MiB")]);
    if !can(&choices) {
        return;
    }
    let trial = run(&choices, &attached(&preset)).unwrap();
    println!("{:#?}\n{:#?}\n{:#?}", trial.figures, trial.conditions, trial.findings);
    if let Some(folder) = std::env::var_os("ASSAY_BOOT_PAPERS") {
        for paper in &trial.papers {
            fs::write(Path::new(&folder).join(paper.name.replace(' ', "-")), &paper.text).unwrap();
        }
    }
    let figure = |name: &str| trial.figure(name).unwrap_or_else(|| panic!("no figure {name}"));
    assert!(figure("Kernel") > 0.1 && figure("Userspace") > 0.1);
    assert!((figure("Kernel") + figure("Userspace") - figure("Kernel to services")).abs() < 0.01);
    assert!(figure("Firmware and loader") > 0.1 && figure("Firmware and loader") < figure("Login prompt"));
    assert!(figure("Read") > 40e6, "kernel, initial RAM disk and programs: {} B", figure("Read"));
    let paper = |name: &str| &trial.papers.iter().find(|paper| paper.name == name).expect(name).text;
    assert!(paper("systemd-analyze blame").contains(".service"));
    let chain = paper("systemd-analyze critical-chain");
    assert!(chain.contains("multi-user.target") && !chain.contains('\u{1b}'), "{chain}");
    assert!(paper("systemd-analyze plot").contains("<svg") && paper("systemd-analyze plot").contains("</svg>"));
    assert_clean(std::process::id());
}
