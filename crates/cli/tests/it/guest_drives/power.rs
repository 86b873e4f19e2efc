//! The power of a whole machine is cut while a store on its ext4 takes the results of runs. The disk is a simulated drive
//! behind NBD, which answers before flash is programmed: what was not flushed is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use testkit::soak;

use crate::support::attached::Attached;
use crate::support::guest::Guest;
use crate::support::{Place, skip, tool};

const DISK: &str = "x25-m?capacity.user=1GiB&controller.write=0us&controller.page_write=0us&nand.program=4ms";
const PROGRAMS: [&str; 2] = ["mkfs.ext4", "e2fsck"];
/// A plan that is still under way when the power is cut.
const PLAN: &str = "name = \"long\"\nrepeats = 1\n[[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 3000\n\
    sweep.iodepth = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]\n\
    [[step]]\nname = \"again\"\nsame-as = \"read\"\n[[step]]\nname = \"third\"\nsame-as = \"read\"\n";

/// Before the cut: each run whose command has ended well is told to the host by a line. One that is not stored because the
/// store was busy for long ends badly, and is not; three in a row are the cut.
const LOAD: &str = "until [ -b /dev/vda ]; do sleep 0.1; done\n\
    mkfs.ext4 -q -J size=4 /dev/vda && mount /dev/vda /mnt; export ASSAY_STORE=/mnt/store.sqlite; cd /tmp\n\
    assay review 'sim:x25-m?capacity.user=1GiB' --plan /long.toml >out 2>&1 &\n\
    until grep -q '^Run' out; do sleep 0.1; done\n\
    left=3; while [ $left -gt 0 ]; do if assay run sim:maxtor-160 --rw=randread --number_ios=20 >/dev/null 2>error; then\n\
    left=3; echo kept >/dev/ttyS1; else left=$((left - 1)); fi; done\n\
    cat error; wait $!; cat out";

/// Afterwards: the file system, what the store has, and whether the review goes on.
const LOOK: &str = "until [ -b /dev/vda ]; do sleep 0.1; done\n\
    e2fsck -p /dev/vda; [ $? -le 1 ] && echo RESULT replayed\n\
    e2fsck -fn /dev/vda && echo RESULT whole\n\
    mount /dev/vda /mnt; export ASSAY_STORE=/mnt/store.sqlite; cd /tmp\n\
    assay runs >runs 2>&1; cat runs; echo RESULT $(grep -c ' run .*complete' runs) runs\n\
    assay review --resume; assay runs | grep ' long ' | grep complete && echo RESULT resumed\n\
    umount /mnt";

/// What a machine with this disk says to this script; `told` has what it wrote to its second serial port.
fn boot(place: &Place, guest: &Guest, disk: &Attached, told: &Path, script: &str) -> String {
    let mut programs: Vec<PathBuf> = PROGRAMS.iter().filter_map(|name| tool(name)).collect();
    programs.push(env!("CARGO_BIN_EXE_assay").into());
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    fs::create_dir_all(place.path("root")).unwrap();
    fs::write(place.path("root/long.toml"), PLAN).unwrap();
    let drive = format!("file=nbd+unix:///?socket={},if=virtio,format=raw", disk.device);
    let serial = format!("file:{}", told.display());
    let more = ["-smp", "2", "-drive", &drive, "-serial", &serial];
    guest.boot(place, &programs, &format!("dmesg -n 1\n{script}"), "1G", &more)
}

/// How many runs the machine has told of.
fn kept(told: &Path) -> usize {
    fs::read_to_string(told).map_or(0, |told| told.matches("kept").count())
}

#[test]
fn a_machine_whose_power_is_cut_loses_no_run_that_was_told_of() {
    if !soak::is_asked() {
        return skip(soak::PART);
    }
    let Some(guest) = Guest::find("guest-drives", &[], &["mkfs.ext4", "e2fsck", "setsid"]) else { return };
    let mut random = soak::random();
    for cut in 0..soak::times(1, 8) {
        let place = Place::new();
        let [socket, backing] = ["disk.sock", "data"].map(|name| place.path(name).display().to_string());
        let attach = || Attached::other(&place, DISK, &["--nbd", &socket, "--backing", &backing]);
        let (runs, after) = (1 + random.place(6), Duration::from_millis(random.place(2000) as u64));
        let told = place.path("told");
        let disk = attach();
        let (said, lost) = thread::scope(|scope| {
            let machine = scope.spawn(|| boot(&place, &guest, &disk, &told, LOAD));
            let began = Instant::now();
            while kept(&told) < runs && !machine.is_finished() {
                assert!(began.elapsed() < Duration::from_secs(600), "no {runs} runs: {:?}", fs::read_to_string(&told));
                thread::sleep(Duration::from_millis(20));
            }
            thread::sleep(after);
            disk.cut_power();
            let lost = disk.cut()["sectors"].as_u64().unwrap();
            (machine.join().unwrap(), lost)
        });
        disk.detach_once_free();
        let kept = kept(&told);
        eprintln!("cut {cut}: after {kept} runs and {after:?}, {lost} sectors lost");
        assert!(kept >= runs, "{said}");
        let disk = attach();
        let found = boot(&place, &guest, &disk, &place.path("none"), LOOK);
        let result = |words: &str| found.lines().find_map(|line| line.split_once("RESULT ")?.1.strip_suffix(words));
        for words in ["replayed", "whole", "resumed"] {
            assert!(result(words).is_some(), "cut {cut}: not {words}: {found}\nbefore: {said}");
        }
        let stored: usize = result(" runs").unwrap().trim().parse().unwrap();
        assert!(stored >= kept, "cut {cut}: {stored} of {kept} runs are stored: {found}\nbefore: {said}");
    }
}
