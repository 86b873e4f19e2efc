//! Purges by name: refused where they have no place, before anything is done.

mod support;

use support::{LoopDevice, Place};

const PLAN: &str =
    "name = \"p\"\n[[step]]\nname = \"empty\"\ndo = \"purge\"\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n";

#[test]
fn a_file_and_a_loop_device_are_refused_before_anything_is_done() {
    let place = Place::new();
    std::fs::write(place.path("p.toml"), PLAN).unwrap();
    let said = place.refuses(&["review", "new.bin", "--size", "8m", "--plan", "p.toml", "--purge", "secure-erase"]);
    assert!(
        said.contains("in step `empty`")
            && said.contains("the target is a file")
            && said.contains("Nothing was changed"),
        "{said}"
    );
    assert!(!place.path("new.bin").exists(), "a file that was made for it is taken away again");
    let named = PLAN.replace("do = \"purge\"", "do = \"purge\"\npurge = \"nvme-format\"");
    std::fs::write(place.path("named.toml"), named).unwrap();
    let said = place.refuses(&["review", "new.bin", "--size", "8m", "--plan", "named.toml"]);
    assert!(said.contains("a whole NVMe drive"), "a plan asks by name as the command line does: {said}");
    let Some(device) = LoopDevice::new(&place.path("device.img"), 16) else { return };
    let said = place.refuses(&["review", &device.0, "--plan", "p.toml", "--purge", "sanitize"]);
    assert!(said.contains("attached by virtual"), "{said}");
    assert!(std::fs::read(place.path("device.img")).unwrap().iter().all(|byte| *byte == 0), "nothing was written");
}

#[test]
fn a_purge_that_is_left_out_is_told_and_the_state_is_not_called_fresh() {
    let place = Place::new();
    std::fs::write(place.path("p.toml"), PLAN).unwrap();
    let output = place.succeeds(&["review", "new.bin", "--size", "8m", "--plan", "p.toml", "--purge", "none"]);
    let path = output.lines().last().unwrap().strip_prefix("Report: ").unwrap();
    let html = std::fs::read_to_string(path).unwrap();
    assert!(html.contains("No purge (--purge none)") && html.contains("No purge"));
}

#[test]
fn a_simulated_drive_is_reset_whatever_the_name_and_a_wrong_name_is_explained() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "sim:x25-m", "--plan", &plan, "--purge", "secure-erase"]);
    assert!(place.refuses(&["review", "--purge", "shred"]).contains("secure-erase, nvme-format, sanitize or none"));
    std::fs::write(place.path("wrong.toml"), PLAN.replace("do = \"purge\"", "do = \"purge\"\npurge = \"sanitise\""))
        .unwrap();
    let said = place.refuses(&["review", "--plan", "wrong.toml"]);
    assert!(said.contains("unknown purge method `sanitise`") && said.contains("did you mean `sanitize`"), "{said}");
}
