//! A review from the command line to its report, on a simulated drive, a file and a block device.

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use support::{LoopDevice, Place, other};

#[test]
fn a_review_of_a_simulated_drive_prints_a_summary_writes_a_report_and_keeps_all() {
    let place = Place::new();
    let output = place.succeeds(&["review", "--quick", "--out", "reports"]);
    assert!(output.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Report: ")), "{output}");
    assert!(output.contains("Random read, 4 KiB"), "{output}");
    let path = output.lines().last().unwrap().strip_prefix("Report: ").expect("the last line says where the report is");
    let html = std::fs::read_to_string(path).unwrap();
    assert!(
        html.contains("X25-M") && html.contains("--quick"),
        "the report says what was tested and that it was short"
    );
    assert!(!output.to_lowercase().contains("worn") && output.contains("Briefly written"), "{output}");
    assert!(
        html.contains("The figures from here on are not those of a worn drive"),
        "the wear was too short to be one"
    );
    assert!(place.succeeds(&["runs"]).contains("review (quick)"));
    assert_eq!(
        place.succeeds(&["show", "last"]),
        output.lines().filter(|line| !line.starts_with("Report: ")).map(|line| format!("{line}\n")).collect::<String>()
    );
    let again = place.succeeds(&["report", "1", "--out", "again"]);
    let again = std::fs::read_to_string(again.trim().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(again == html, "the same run gives the same report");
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_its_first_step() {
    let place = Place::new();
    let plan = place.short_plan();
    let mut text = std::fs::read_to_string(&plan).unwrap();
    text += "\n[[step]]\nname = \"far\"\nruntime = 1\noffset = \"1p\"\n";
    std::fs::write(&plan, text).unwrap();
    let said = place.assay(&["review", "--plan", &plan]);
    assert_ne!(said.code, Some(0));
    assert!(said.stderr.contains("in step `far`: offset 1 PiB is beyond the target's"), "{}", said.stderr);
    assert!(said.stderr.contains("Nothing was done."), "{}", said.stderr);
    assert_eq!(figures(&place), "", "nothing was measured before");
    let small = place.refuses(&["run", "--rw=read", "--bs=1m", "--offset=1p", "--number_ios=1"]);
    assert!(small.contains("offset 1 PiB is beyond"), "{small}");
}

/// What was measured in the latest run, apart from when and under which number.
fn figures(place: &Place) -> String {
    let columns = "step, cell, repeat, seed, elapsed_ns, iops, latency_mean_ns, hex(read_latency), hex(write_latency), hex(series), drive";
    let query = format!("SELECT {columns} FROM measurement ORDER BY step, cell, repeat");
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    let mut statement = connection.prepare(&query).unwrap();
    let count = statement.column_count();
    let rows = statement.query_map([], |row| {
        Ok((0..count).map(|index| format!("{:?}", row.get_ref(index).unwrap())).collect::<Vec<_>>().join("|"))
    });
    rows.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_killed_review_keeps_its_cells_and_a_resumed_one_gives_the_same_figures_bit_for_bit() {
    let whole = Place::new();
    let plan = whole.short_plan();
    whole.succeeds(&["review", "--plan", &plan]);

    let cut = Place::new();
    let mut child =
        cut.command(&["review", "--plan", &plan]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let worn = |line: &String| line.contains("wear") || line.contains("Wear");
    assert!(lines.any(|line| worn(&line.unwrap())), "the step is announced");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(cut.succeeds(&["runs"]).contains("unfinished"));
    let kept = figures(&cut).lines().count();
    assert!((4..figures(&whole).lines().count()).contains(&kept), "{kept} measurements were kept");
    assert!(cut.succeeds(&["show", "last"]).contains("short"), "an unfinished run can be shown");

    cut.succeeds(&["review", "--resume"]);
    assert_eq!(figures(&cut), figures(&whole));
    assert!(cut.refuses(&["review", "--resume"]).contains("complete"));
}

#[test]
fn one_seed_gives_one_result_and_another_another() {
    let plan = Place::new();
    let plan_path = plan.short_plan();
    let run = |seed| {
        let place = Place::new();
        place.succeeds(&["review", "--plan", &plan_path, "--seed", seed]);
        figures(&place)
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn a_file_is_reviewed_through_the_same_plan() {
    let place = Place::new();
    let plan = place.short_plan();
    let output = place.succeeds(&["review", "./scratch.bin", "--size", "16m", "--plan", &plan]);
    assert!(output.contains("scratch.bin"), "{output}");
    let report = std::fs::read_to_string(output.lines().last().unwrap().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(
        report.contains("twice the host") || report.contains("less than twice"),
        "it says that caches may have answered"
    );
    place.succeeds(&["review", "./scratch.bin", "--size", "16m", "--plan", &plan]);
    assert!(figures(&place).lines().count() >= 18, "its own file may be used again");
}

#[test]
fn a_block_device_is_reviewed_and_one_with_data_is_refused() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk.img"), 64) else { return };
    let plan = place.short_plan();
    let output = place.succeeds(&["review", &device.0, "--size", "16m", "--plan", &plan]);
    assert!(output.contains(&device.0), "{output}");

    other("mkfs.ext4", &["-q", "-F", &device.0]);
    let before = std::fs::read(place.path("disk.img")).unwrap();
    let refusal = place.refuses(&["review", &device.0, "--plan", &plan]);
    assert!(refusal.contains("ext4") && refusal.contains(&format!("--destroy-data {}", device.0)), "{refusal}");
    assert!(std::fs::read(place.path("disk.img")).unwrap() == before, "a refusal changes nothing");
    let wrong = place.refuses(&["review", &device.0, "--plan", &plan, "--destroy-data", "/dev/null"]);
    assert!(wrong.contains("/dev/null"), "{wrong}");
    place.succeeds(&["review", &device.0, "--size", "16m", "--plan", &plan, "--destroy-data", &device.0]);
}

#[test]
fn a_failing_step_ends_the_run_as_failed_and_keeps_what_was_finished() {
    let place = Place::new();
    let plan = place.path("fails.toml");
    // The last step fails only once it is tried: all of its requests are made before the first that would count.
    let text = "name = \"fails\"\ntitle = \"Too short\"\nrepeats = 1\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n\
                [[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 10\n\
                [[step]]\nname = \"idle\"\ndo = \"idle\"\ntime = \"1ms\"\n\
                [[step]]\nname = \"late\"\nrw = \"randread\"\nramp_time = \"5s\"\nnumber_ios = 10\n";
    std::fs::write(&plan, text).unwrap();
    let said = place.assay(&["review", "./small.bin", "--size", "4m", "--plan", &plan.display().to_string()]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("`late`") && said.stderr.contains("--resume 1"), "{}", said.stderr);
    assert!(place.succeeds(&["runs"]).contains("failed"));
    assert_eq!(figures(&place).lines().count(), 1);
    place.succeeds(&["report", "1"]);
}
