//! Files that a command line asks for.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::Place;
use testkit::loops::{LoopDevice, Mounted};
use testkit::{attempt, needs};

/// Every option by which a command writes a file, before the file's name.
fn commands(place: &Place) -> Vec<Vec<String>> {
    let lines = [
        "run sim:x25-m?capacity.user=1GiB --rw=read --number_ios=10 --record",
        "show last --format=json --output",
        "import job.fio --output",
        "calibrate x25-m --figures small.toml --parameters nand.read=20us..80us --rounds=1 --out",
        "review sim:x25-m?capacity.user=1GiB --plan short.toml --metrics",
    ];
    fs::write(place.path("job.fio"), "[a]\nrw=read\nsize=16m\nnumber_ios=10\n").unwrap();
    place.small_review();
    place.short_plan();
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// Everything that an output must not be, as (name, kind): each holds something that must stay.
fn bystanders(place: &Place) -> Vec<&'static str> {
    fs::write(place.path("theirs.txt"), "years of work").unwrap();
    symlink(place.path("theirs.txt"), place.path("link")).unwrap();
    symlink(place.path("not-there"), place.path("dangling")).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("folder/inside"), "kept").unwrap();
    fs::write(place.path("results.sqlite-wal"), "").unwrap();
    vec![
        "theirs.txt",
        "link",
        "dangling",
        "folder",
        "results.sqlite",
        "results.sqlite-wal",
        "/dev/zero",
        "/dev/urandom",
    ]
}

/// What must be the same before and after.
fn state(place: &Place) -> Vec<Option<Vec<u8>>> {
    ["theirs.txt", "not-there", "folder/inside"].iter().map(|name| fs::read(place.path(name)).ok()).collect()
}

#[test]
fn every_option_that_names_a_file_refuses_what_is_not_its_own() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    let (commands, named) = (commands(&place), bystanders(&place));
    let before = state(&place);
    for command in &commands {
        for name in &named {
            let words: Vec<&str> = command.iter().map(String::as_str).chain([*name]).collect();
            for force in [&[][..], &["--force"]] {
                // By force a regular file may be lost, which is what that is for.
                if !force.is_empty() && *name == "theirs.txt" {
                    continue;
                }
                let said = place.assay(&[&words[..], force].concat());
                assert_ne!(said.code, Some(0), "{words:?} {force:?} was done");
                assert!(state(&place) == before, "{words:?} {force:?}: {}", said.stderr);
            }
        }
    }
    assert!(place.succeeds(&["runs"]).contains("x25-m"), "the store is whole");
    assert!(!place.path("link").symlink_metadata().unwrap().is_file(), "the link is still one");
}

#[test]
fn an_output_is_replaced_as_long_as_it_is_what_assay_wrote() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    let shown = ["show", "last", "--format=json", "--output", "figures.json"];
    place.succeeds(&shown);
    let first = fs::read(place.path("figures.json")).unwrap();
    place.succeeds(&shown);
    assert!(fs::read(place.path("figures.json")).unwrap() == first);
    fs::write(place.path("figures.json"), "my notes").unwrap();
    assert!(place.refuses(&shown).contains("--force"));
    assert_eq!(fs::read_to_string(place.path("figures.json")).unwrap(), "my notes");
    place.succeeds(&[&shown[..], &["--force"]].concat());
    assert!(fs::read(place.path("figures.json")).unwrap() == first);
}

#[test]
fn the_target_is_no_output_even_by_force() {
    let place = Place::new();
    place.succeeds(&["run", "a.bin", "--rw=write", "--bs=1m", "--size=4m"]);
    let said = place.assay(&["run", "a.bin", "--rw=read", "--record", "a.bin", "--force"]);
    assert_ne!(said.code, Some(0));
    assert_eq!(fs::metadata(place.path("a.bin")).unwrap().len(), 4 << 20, "{}", said.stderr);
}

#[test]
fn streams_are_written_and_full_ones_are_an_error() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    let shown = place.succeeds(&["show", "last", "--format=json", "--output", "-"]);
    assert!(shown.starts_with('{'), "{shown}");
    place.succeeds(&["show", "last", "--format=json", "--output", "/dev/null"]);
    let full = place.assay(&["show", "last", "--format=json", "--output", "/dev/full"]);
    assert!(full.code == Some(1) && full.stderr.contains("No space"), "{}", full.stderr);
}

#[test]
fn a_device_is_never_an_output() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    fs::write(place.path("image"), vec![0; 16 << 20]).unwrap();
    let device = needs!(LoopDevice::over(&place.path("image")));
    needs!(attempt("mkfs.ext4", &["-q", &device.0]));
    symlink(&device.0, place.path("link-to-device")).unwrap();
    let before = fs::read(place.path("image")).unwrap();
    for command in commands(&place) {
        for name in [device.0.as_str(), "link-to-device"] {
            let words: Vec<&str> = command.iter().map(String::as_str).chain([name, "--force"]).collect();
            assert_ne!(place.assay(&words).code, Some(0), "{words:?}");
        }
    }
    assert!(fs::read(place.path("image")).unwrap() == before, "the device was written");
    let mounted = needs!(Mounted::on(&device.0, &place.path("mnt")));
    assert_ne!(place.assay(&["show", "last", "--output", &device.0, "--force"]).code, Some(0));
    drop(mounted);
}

#[test]
fn the_report_of_a_run_with_a_hostile_name_stays_in_its_folder() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    let evil = place.path("elsewhere");
    fs::create_dir(&evil).unwrap();
    let name = format!("{}/trav", evil.display());
    let sql = format!(
        "UPDATE run SET plan = '{name}', plan_text = replace(plan_text, 'name = \"run\"', 'name = \"{name}\"')"
    );
    needs!(attempt("sqlite3", &[place.store().to_str().unwrap(), &sql]));
    let said = place.assay(&["report", "last", "--out", "out"]);
    assert!(fs::read_dir(&evil).unwrap().next().is_none(), "{}{}", said.stdout, said.stderr);
    if said.code == Some(0) {
        assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
    }
}
