//! A review from the command line to its report, on a simulated drive, a file and a block device.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::{LoopDevice, Place, other};
use rustix::process::{Pid, Signal};
use store::Store;

#[test]
fn a_review_of_a_simulated_drive_prints_a_summary_writes_a_report_and_keeps_all() {
    let place = Place::new();
    let output = place.succeeds(&["review", "--quick", "--out", "reports"]);
    assert!(output.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Report: ")), "{output}");
    assert!(output.contains("Rand. read, 4K"), "{output}");
    let path = output.lines().last().unwrap().strip_prefix("Report: ").expect("the last line says where the report is");
    let html = std::fs::read_to_string(path).unwrap();
    assert!(
        html.contains("X25-M") && html.contains("--quick"),
        "the report says what was tested and that it was short"
    );
    // The plan calls some of its steps so, whatever the state in which they find the drive.
    let said = output.to_lowercase().replace("\nworn-", "\n");
    assert!(!said.contains("worn") && output.contains("Briefly written"), "{output}");
    assert!(html.contains("Later figures are not of a conditioned drive"), "the wear was too short to be one");
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
fn what_was_measured_in_rounds_is_told_and_every_round_can_be_had_as_a_document() {
    const PLAN: &str = "name = \"rounds\"\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"mix\"\n\
        title = \"Mix\"\ndo = \"rounds\"\nrw = \"randrw\"\nnumber_ios = 200\nsweep.bs = [\"8k\", \"4k\"]\n\
        watch = \"bs=4k\"\nrounds = 7\nsteady = { rounds = 6, spread = \"1%\", slope = \"1%\" }\n";
    let place = Place::new();
    std::fs::write(place.path("rounds.toml"), PLAN).unwrap();
    let plan = place.path("rounds.toml");
    let text = place.succeeds(&["review", "sim:x25-m?capacity.user=1GiB", "--plan", plan.to_str().unwrap()]);
    assert!(text.contains("Measured in rounds") && text.contains("not reached in 7 rounds"), "{text}");
    let csv = place.succeeds(&["show", "last", "--format", "csv"]);
    let row = |round: u32, counted: &str| format!("mix,not_reached,bs=4k,{round},{counted},sim:x25-m");
    assert!(csv.contains(&row(1, "no")) && csv.contains(&row(2, "yes")) && csv.contains(&row(7, "yes")), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&place.succeeds(&["show", "last", "--format", "json"])).unwrap();
    assert_eq!(json["steps"][0]["rounds"]["determination"][0]["first_round"], 2);
    assert_eq!(json["steps"][0]["cells"][1]["measurements"].as_array().unwrap().len(), 7);
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
    assert!(said.stderr.contains("in step `far`: offset 1 PiB is beyond the end of the target"), "{}", said.stderr);
    assert!(said.stderr.contains("Nothing was changed."), "{}", said.stderr);
    assert_eq!(figures(&place), "", "nothing was measured before");
    place.refuses(&["review", "./new.bin", "--size", "4m", "--plan", &plan]);
    assert!(!place.path("new.bin").exists(), "a file that was made for it is taken away again");
    let small = place.refuses(&["run", "--rw=read", "--bs=1m", "--offset=1p", "--number_ios=1"]);
    assert!(small.contains("offset 1 PiB is beyond"), "{small}");
}

#[test]
fn a_failure_that_would_recur_is_not_said_to_be_resumed() {
    let place = Place::new();
    let plan = place.path("ramp.toml");
    let text = "name = \"ramp\"\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"read\"\n\
                io_size = \"40k\"\nramp_time = \"60s\"\n";
    std::fs::write(&plan, text).unwrap();
    let said = place.assay(&["review", "./new.bin", "--size", "4m", "--plan", &plan.display().to_string()]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("`assay report 1`") && !said.stderr.contains("--resume"), "{}", said.stderr);
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
    assert!(cut.succeeds(&["runs"]).contains("interrupted"));
    let kept = figures(&cut).lines().count();
    assert!((4..figures(&whole).lines().count()).contains(&kept), "{kept} measurements were kept");
    assert!(cut.succeeds(&["show", "last"]).contains("short"), "an interrupted run can be shown");

    cut.succeeds(&["review", "--resume"]);
    assert_eq!(figures(&cut), figures(&whole));
    assert!(cut.refuses(&["review", "--resume"]).contains("every review in the store is complete"));
    assert!(cut.refuses(&["review", "--resume", "1"]).contains("run 1 is complete"));
}

/// The text between two others, as a browser shows it.
fn shown<'p>(page: &'p str, before: &str, after: &str) -> String {
    let rest: &'p str = page.split_once(before).unwrap_or_else(|| panic!("no {before}")).1;
    let text = rest.split_once(after).expect("it ends").0;
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (a, b)| text.replace(a, b))
}

#[test]
fn what_a_report_says_repeats_a_run_of_ones_own_files() {
    const PLAN: &str = "name = \"own\"\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"read\"\n\
        rw = \"randread\"\nnumber_ios = 200\nrepeats = 2\n";
    const JOBS: &str = "[one]\nrw=randread\nsize=8m\n[two]\nrw=randwrite\nsize=8m\noffset=8m\n";
    const TARGET: &str = "sim:./my drive.toml?capacity.user=1GiB";
    let first = Place::new();
    std::fs::write(first.path("my drive.toml"), first.succeeds(&["drives", "show", "--toml", "x25-m"])).unwrap();
    std::fs::create_dir(first.path("plans")).unwrap();
    std::fs::write(first.path("plans/one's own.toml"), PLAN).unwrap();
    std::fs::write(first.path("jobs.fio"), JOBS).unwrap();
    for words in [&["review", TARGET, "--plan", "plans/one's own.toml"][..], &["run", "jobs.fio", TARGET]] {
        let store = first.path("one.sqlite");
        let _ = std::fs::remove_file(&store);
        let at = ["--store", store.to_str().unwrap()];
        first.succeeds(&[words, &at].concat());
        let report = first.succeeds(&[&["report", "last"], &at[..]].concat());
        let page = std::fs::read_to_string(report.trim().strip_prefix("Report: ").unwrap()).unwrap();
        let page = page.split_once("id=\"repeat\"").expect("it says how to repeat it").1;
        let command = shown(page, "<pre class=\"command\"><code>", "</code>");
        let file = shown(page, "save the text below, which is the plan of this run, as <code>", "</code>");
        let again = Place::new();
        std::fs::write(again.path(&file), shown(page, "<summary>The plan</summary><pre><code>", "</code>")).unwrap();
        let drive = shown(page, "<summary>The drive</summary><pre><code>", "</code>");
        std::fs::write(again.path(&shown(page, "The drive is read from <code>", "</code>")), drive).unwrap();
        let command = command.replacen("assay", &format!("'{}'", env!("CARGO_BIN_EXE_assay")), 1);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command]).current_dir(again.path("")).env("ASSAY_STORE", again.store());
        let said = shell.output().expect("there is a shell");
        assert!(said.status.success(), "{command}: {}", String::from_utf8_lossy(&said.stderr));
        std::fs::rename(&store, first.store()).unwrap();
        assert_eq!(figures(&again), figures(&first), "{command}");
    }
}

/// Zones of 2 GiB that hold 1,077 MiB each.
#[test]
fn a_share_of_a_drive_with_zones_is_of_what_these_hold() {
    const PLAN: &str = "name = \"z\"\n[[step]]\nname = \"wear\"\ndo = \"condition\"\nrw = \"randwrite\"\nbs = \"1m\"\n\
        iodepth = 4\nround = \"200ms\"\nsteady = false\nat-most = \"50%\"\n";
    let place = Place::new();
    std::fs::write(place.path("z.toml"), PLAN).unwrap();
    let target = "sim:zn540-1tb?capacity.user=17232MiB";
    let said = place.succeeds(&["review", target, "--plan", "z.toml"]);
    let document = place.succeeds(&["show", "last", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let written = &document["steps"][0]["cells"][0]["measurements"][0]["write"]["bytes"];
    let share = written.as_f64().unwrap() / (16.0 * 1077.0 * f64::from(1 << 20));
    assert!((0.5..0.55).contains(&share), "{share}");
    let percent = format!("({:.0} % of the drive)", share * 100.0);
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(&percent), "{percent}: {said}");
    let dry = place.succeeds(&["review", target, "--plan", "z.toml", "--dry-run"]);
    assert!(dry.lines().any(|line| line.contains("Wear  8.41 GiB")), "{dry}");
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
                [[step]]\nname = \"late\"\nrw = \"randread\"\nramp_time = \"5s\"\nio_size = \"40k\"\n";
    std::fs::write(&plan, text).unwrap();
    let said = place.assay(&["review", "./small.bin", "--size", "4m", "--plan", &plan.display().to_string()]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("`late`") && !said.stderr.contains("--resume"), "{}", said.stderr);
    assert!(place.succeeds(&["runs"]).contains("failed"));
    assert_eq!(figures(&place).lines().count(), 1);
    place.succeeds(&["report", "1"]);
}

/// A review of a target, cut off while it measures its last step.
///
/// The last step would take a minute, so that none of its cells is kept before the program is killed.
fn cut_off(place: &Place, target: &[&str]) {
    let mut child = at_last_step(place, target);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The same while it runs.
fn at_last_step(place: &Place, target: &[&str]) -> Child {
    let text = "name = \"long\"\ntitle = \"Long\"\nrepeats = 1\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n\
                [[step]]\nname = \"first\"\nrw = \"randread\"\nnumber_ios = 10\n\
                [[step]]\nname = \"idle\"\ndo = \"idle\"\ntime = \"1ms\"\n\
                [[step]]\nname = \"endless\"\nrw = \"randread\"\nruntime = \"60s\"\n";
    std::fs::write(place.path("long.toml"), text).unwrap();
    let arguments = [&["review", "--plan", "./long.toml"], target].concat();
    let mut child = place.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("Endless")), "the step is announced");
    child
}

/// Makes the last step of all stored plans a short one.
fn shorten(place: &Place) {
    let store = rusqlite::Connection::open(place.store()).unwrap();
    store.execute("UPDATE run SET plan_text = replace(plan_text, '60s', '10ms')", []).unwrap();
}

#[test]
fn a_review_goes_on_with_its_own_file_alone() {
    let place = Place::new();
    let file = place.path("scratch.bin");
    cut_off(&place, &["./scratch.bin", "--size", "4m"]);
    shorten(&place);

    std::fs::rename(&file, place.path("kept.bin")).unwrap();
    let said = place.refuses(&["review", "--resume"]);
    assert!(said.contains("scratch.bin") && said.contains("cannot be found"), "{said}");
    assert!(!file.exists(), "a refused file is not made");

    std::fs::write(&file, vec![0; 4 << 20]).unwrap();
    let said = place.refuses(&["review", "--resume", "--overwrite"]);
    assert!(said.contains("is not the target of run 1") && said.contains("inode"), "{said}");

    std::fs::rename(place.path("kept.bin"), &file).unwrap();
    OpenOptions::new().write(true).open(&file).and_then(|file| file.set_len(1 << 20)).unwrap();
    let said = place.refuses(&["review", "--resume"]);
    assert!(said.contains("4194304 bytes") && said.contains("1048576 bytes"), "{said}");
    assert_eq!(file.metadata().unwrap().len(), 1 << 20, "it is not made longer");

    OpenOptions::new().write(true).open(&file).and_then(|file| file.set_len(4 << 20)).unwrap();
    assert!(place.succeeds(&["runs"]).contains("interrupted"));
    place.succeeds(&["review", "./scratch.bin", "--resume", "1"]);
    assert!(place.succeeds(&["runs"]).contains("complete"));
}

#[test]
fn a_review_goes_on_from_any_directory_with_the_page_cache_as_it_began() {
    let place = Place::new();
    cut_off(&place, &["./scratch.bin", "--size", "4m", "--direct", "0"]);
    shorten(&place);
    // Another use of the file since is told.
    place.succeeds(&["run", "./scratch.bin", "--rw=write", "--size=1m", "--overwrite"]);
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let output = place.command(&["review", "--resume"]).current_dir(&elsewhere).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!elsewhere.join("scratch.bin").exists());
    let store = rusqlite::Connection::open(place.store()).unwrap();
    let findings = |like: &str| {
        let query = "SELECT count(*) FROM finding WHERE run = 1 AND text LIKE ?1";
        store.query_row(query, [like], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(findings("%page cache was in use%"), 1);
    assert_eq!(findings("Run 2 used the target%"), 1);
}

#[test]
fn a_review_does_not_go_on_with_another_device_of_its_name() {
    let place = Place::new();
    let Some(first) = LoopDevice::new(&place.path("first.img"), 16) else { return };
    let second = LoopDevice::new(&place.path("second.img"), 16).expect("there was room for the first");
    let name = place.path("disk");
    std::os::unix::fs::symlink(&first.0, &name).unwrap();
    cut_off(&place, &["./disk"]);
    shorten(&place);
    std::fs::remove_file(&name).and_then(|()| std::os::unix::fs::symlink(&second.0, &name)).unwrap();
    let said = place.refuses(&["review", "--resume"]);
    assert!(said.contains("which only the store names"), "{said}");
    let said = place.refuses(&["review", "./disk", "--resume"]);
    assert!(said.contains("first.img") && said.contains("second.img"), "{said}");
    assert!(std::fs::read(place.path("second.img")).unwrap() == vec![0; 16 << 20], "nothing was written to it");
    std::fs::remove_file(&name).and_then(|()| std::os::unix::fs::symlink(&first.0, &name)).unwrap();
    place.succeeds(&["review", "./disk", "--resume"]);
}

#[test]
fn a_run_that_goes_on_is_not_taken_over() {
    let place = Place::new();
    let mut child = at_last_step(&place, &["./scratch.bin", "--size", "4m"]);
    for which in [&["review", "--resume"][..], &["review", "--resume", "1"]] {
        assert!(place.refuses(which).contains("in progress"));
    }
    assert!(place.succeeds(&["runs"]).contains("running"), "it is not marked failed");
    child.kill().unwrap();
    child.wait().unwrap();
    shorten(&place);
    place.succeeds(&["review", "--resume"]);
}

#[test]
fn resuming_takes_the_latest_review_that_was_cut_off_not_what_came_after_it() {
    let place = Place::new();
    cut_off(&place, &["./scratch.bin", "--size", "4m"]);
    shorten(&place);
    place.succeeds(&["run", "--number_ios=10"]);
    place.succeeds(&["review", "--plan", &place.short_plan()]);
    place.succeeds(&["review", "--resume"]);
    let said = place.refuses(&["review", "--resume"]);
    assert!(said.contains("every review in the store is complete") && said.contains("assay report 3"), "{said}");
}

#[test]
fn a_report_is_written_although_nobody_reads_the_summary() {
    let place = Place::new();
    let plan = place.short_plan();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command(&["review", "--plan", &plan]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
    assert_eq!(reports(&place), 1);

    // A reader that has gone away is no error: the pipe has no other end when the program writes to it.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command(&["review", "--plan", &plan]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(reports(&place), 2);
}

/// How many reports there are of the short plan on the usual drive.
fn reports(place: &Place) -> usize {
    let names = std::fs::read_dir(place.path("assay-reports")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with("short-sim-x25-m-")).count()
}

#[test]
fn a_target_with_a_long_name_has_a_report() {
    let place = Place::new();
    let plan = place.short_plan();
    let name = format!("./{}.bin", "n".repeat(240));
    let output = place.succeeds(&["review", &name, "--size", "4m", "--plan", &plan]);
    let report = output.lines().last().unwrap().strip_prefix("Report: ").unwrap();
    assert!(report.contains(&format!("/short-{}-20", "n".repeat(80))), "{report}");
    assert!(std::path::Path::new(report).exists());
}

/// A column that has another name for a while refuses what a full disk would.
#[test]
fn a_run_whose_end_cannot_be_entered_is_not_said_to_be_marked() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m", "--number_ios=1"]);
    let long = "name = \"long\"\nrepeats = 3\n[[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 300000\n";
    std::fs::write(place.path("long.toml"), long).unwrap();
    let review =
        place.command(&["review", "--plan", "long.toml"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let store = rusqlite::Connection::open(place.store()).unwrap();
    let begun = || store.query_row("SELECT max(id) FROM run", [], |row| row.get::<_, i64>(0)).unwrap() == 2;
    while !begun() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    store.execute_batch("ALTER TABLE run RENAME COLUMN finished_ms TO other").unwrap();
    let output = review.wait_with_output().unwrap();
    store.execute_batch("ALTER TABLE run RENAME COLUMN other TO finished_ms").unwrap();
    drop(store);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stays marked interrupted") && said.contains("no such column"), "{said}");
    assert!(!said.contains("marked failed"), "{said}");
    assert!(place.succeeds(&["runs"]).contains("interrupted"));
}

#[test]
fn what_ctrl_c_cut_short_is_measured_again_whole_when_the_review_is_resumed() {
    const PLAN: &str = "name = \"long\"\nrepeats = 1\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n\
                        [[step]]\nname = \"read\"\nrw = \"randread\"\nruntime = \"3s\"\nsweep.iodepth = [1, 2]\n";
    let place = Place::new();
    std::fs::write(place.path("long.toml"), PLAN).unwrap();
    let arguments = ["review", "--plan", "long.toml", "./scratch.bin", "--size=8m"];
    let mut child = place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(words.any(|line| line.unwrap().trim() == "Read"), "the program ended early");
    std::thread::sleep(Duration::from_millis(300));
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let rest: Vec<String> = words.map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let elapsed = || {
        let store = Store::open(&place.store()).unwrap();
        let run = store.latest().unwrap().unwrap().id;
        let notes = store.notes(run).unwrap().into_iter().filter(|note| note.text.contains("interrupted")).count();
        let measured = store.measured(run).unwrap();
        (measured.iter().map(|one| one.measurement.elapsed.as_secs_f64()).collect::<Vec<_>>(), notes)
    };
    let (first, marked) = elapsed();
    assert!(matches!(first[..], [short] if short < 2.9) && marked == 1, "{first:?}, {marked}");
    place.succeeds(&["review", "--resume"]);
    let (all, marked) = elapsed();
    assert!(matches!(all[..], [one, two] if one >= 2.9 && two >= 2.9) && marked == 0, "{all:?}, {marked}");
}
