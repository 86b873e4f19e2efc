//! A stored run is self-contained: it is read the same whatever becomes of its drive, and so are runs of earlier versions.

use std::path::Path;

use crate::support::Place;
use rusqlite::Connection;

/// A store of schema 10, made by the version before, with what that version made of it: `show --format csv` of each run, and
/// `compare 1 2 --format json`. Runs 1 and 2 are on a drive's own file, 3 is in rounds on a changed drive, 4 is on one that
/// comes with the program, 5 on a rig, 6 on a file.
const BEFORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored");

/// Fills, reads, writes a hundredth of the drive at random, reads.
const BRIEF: &str = "name = \"brief\"\nrepeats = 2\n[[step]]\nname = \"purge\"\ndo = \"purge\"\n\
    [[step]]\nname = \"fill\"\ndo = \"fill\"\n\
    [[step]]\nname = \"fresh\"\nrw = \"randread\"\nnumber_ios = 200\nsweep.iodepth = [1, 32]\n\
    [[step]]\nname = \"stream\"\nrw = \"read\"\nbs = \"128k\"\niodepth = 32\nnumber_ios = 100\n\
    [[step]]\nname = \"rounds\"\ndo = \"rounds\"\nrw = \"randread\"\nnumber_ios = 50\nsweep.iodepth = [1, 8]\nrounds = 2\n\
    steady = false\n\
    [[step]]\nname = \"wear\"\ndo = \"condition\"\nrw = \"randwrite\"\niodepth = 32\nround = \"1ms\"\nsteady = false\n\
    at-least = \"5ms\"\nat-most = \"5ms\"\n\
    [[step]]\nname = \"after\"\nsame-as = \"fresh\"\nbeside = \"fresh\"\n";

/// Writes the plan and a drive's own file of 1 GiB; the plan's path.
fn described(place: &Place) -> String {
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives/flash/x25-m.toml");
    let drive = std::fs::read_to_string(drive).unwrap();
    let small: Vec<&str> =
        drive.lines().map(|line| if line.starts_with("user = ") { "user = \"1 GiB\"" } else { line }).collect();
    std::fs::write(place.path("my-drive.toml"), small.join("\n")).unwrap();
    let plan = place.path("brief.toml");
    std::fs::write(&plan, BRIEF).unwrap();
    plan.display().to_string()
}

/// The report of a run.
fn report(place: &Place, run: &str) -> String {
    let said = place.succeeds(&["report", run, "--out", "reports"]);
    std::fs::read_to_string(place.path(said.trim().strip_prefix("Report: ").unwrap())).unwrap()
}

#[test]
fn a_run_on_a_drives_own_file_stays_as_it_was_when_the_file_changes_or_goes() {
    let place = Place::new();
    let plan = described(&place);
    place.succeeds(&["review", "sim:./my-drive.toml", "--plan", &plan]);
    let before = (report(&place, "1"), place.succeeds(&["show", "1"]));
    let drive = std::fs::read_to_string(place.path("my-drive.toml")).unwrap();
    let other = drive.replace("user = \"1 GiB\"", "user = \"2 GiB\"").replace("250 MB/s", "500 MB/s");
    assert_ne!(other, drive);
    std::fs::write(place.path("my-drive.toml"), other).unwrap();
    assert!((report(&place, "1"), place.succeeds(&["show", "1"])) == before, "it changed with its drive's file");
    std::fs::remove_file(place.path("my-drive.toml")).unwrap();
    assert!((report(&place, "1"), place.succeeds(&["show", "1"])) == before, "it changed when its drive's file went");
    let (page, summary) = before;
    for words in ["<dd>1 GiB (1,073,741,824 B)</dd>", "<dd>SIM", ">Rated</th>", "data-v=\"250\""] {
        assert!(page.contains(words), "{words}");
    }
    assert!(summary.contains("Briefly written") && !summary.contains("Worn"), "written for 5 ms: {summary}");
}

#[test]
fn what_a_run_keeps_of_its_drive_goes_before_what_the_program_has() {
    let place = Place::new();
    let plan = place.path("fresh.toml");
    std::fs::write(&plan, BRIEF.split("[[step]]\nname = \"wear\"").next().unwrap()).unwrap();
    place.succeeds(&["review", "sim:x25-m", "--plan", plan.to_str().unwrap()]);
    let page = report(&place, "1");
    assert!(page.contains("data-v=\"250\"") && page.contains("data-v=\"5156\"") && page.contains("id=\"published\""));
    // As if the drive had been another when the run began.
    let store = Connection::open(place.store()).unwrap();
    let changed = "UPDATE run SET drive = replace(replace(replace(drive, '250 MB/s', '123 MB/s'), '5156.0', '4321.0'), \
         '\"serial\":\"SIM', '\"serial\":\"WAS'), capacity_bytes = 3 << 30";
    assert_eq!(store.execute(changed, []).unwrap(), 1);
    drop(store);
    let page = report(&place, "1");
    for (words, is_there) in [
        ("data-v=\"123\"", true),
        ("data-v=\"250\"", false),
        ("data-v=\"4321\"", true),
        ("data-v=\"5156\"", false),
        ("<dd>WAS", true),
        ("<dd>3 GiB (3,221,225,472 B)</dd>", true),
        ("by an earlier version", false),
    ] {
        assert_eq!(page.contains(words), is_there, "{words}");
    }
}

#[test]
fn a_run_does_not_go_on_with_a_drive_whose_description_has_changed() {
    let place = Place::new();
    let plan = described(&place);
    place.succeeds(&["review", "sim:./my-drive.toml", "--plan", &plan]);
    let cut_off = || {
        let store = Connection::open(place.store()).unwrap();
        store.execute_batch("UPDATE run SET state = 'running'; DELETE FROM measurement WHERE step = 'after'").unwrap();
    };
    cut_off();
    place.succeeds(&["review", "sim:./my-drive.toml", "--resume", "1"]);
    cut_off();
    let drive = std::fs::read_to_string(place.path("my-drive.toml")).unwrap();
    std::fs::write(place.path("my-drive.toml"), drive.replace("user = \"1 GiB\"", "user = \"2 GiB\"")).unwrap();
    let said = place.refuses(&["review", "sim:./my-drive.toml", "--resume", "1"]);
    assert!(said.contains("sim:./my-drive.toml is not the target of run 1"), "{said}");
}

#[test]
fn a_store_of_the_version_before_is_read_shown_and_compared_as_before() {
    let place = Place::new();
    let kept = |name: &str| std::fs::read(Path::new(BEFORE).join(name)).unwrap();
    let store = kept("version-10.sqlite");
    std::fs::write(place.store(), &store).unwrap();
    for run in 1..=6 {
        let csv = place.succeeds(&["show", &run.to_string(), "--format", "csv"]);
        assert!(csv.as_bytes() == kept(&format!("run-{run}.csv")), "run {run}:\n{csv}");
    }
    let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    let compared = place.succeeds(&["compare", "1", "2", "--format", "json"]);
    assert_eq!(read(compared.as_bytes()), read(&kept("compare.json")));
    // By the drives of today, as before, which is said.
    let rounds = report(&place, "3");
    assert!(rounds.contains("<dd>SIMB55A26D45266</dd>") && rounds.contains("<dd>1 GiB (1,073,741,824 B)</dd>"));
    let own = report(&place, "4");
    assert!(own.contains("data-v=\"250\"") && own.contains("data-v=\"5156\""));
    for page in [rounds, own] {
        assert!(page.contains("stored by an earlier version without its drive's description"));
    }
    assert!(!report(&place, "6").contains("stored by an earlier version"), "it is of a file");
    assert!(std::fs::read(place.store()).unwrap() == store, "reading changed it");
    // What is written next has its drive, and what was there is read as before.
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--number_ios", "10"]);
    assert_ne!(std::fs::read(place.store()).unwrap(), store);
    let csv = place.succeeds(&["show", "1", "--format", "csv"]);
    assert!(csv.as_bytes() == kept("run-1.csv"), "{csv}");
}
