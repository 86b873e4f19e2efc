//! What a newcomer meets: the program alone, the help with its examples, the exit codes.

use std::io::Write;
use std::path::Path;

use crate::support;
use crate::support::{Place, Said, skip};

/// A job file for the examples that name one.
const JOB: &str = "[job]\nrw=randread\nbs=4k\nsize=16m\nnumber_ios=100\n";

fn fits_80_columns(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

/// The commands that `assay --help` lists.
fn commands(place: &Place) -> Vec<String> {
    let help = place.succeeds(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// What a command's help shows as examples.
fn examples(place: &Place, command: &str) -> Vec<String> {
    let help = place.succeeds(&[command, "--help"]);
    let shown = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    let typed = shown.filter_map(|line| line.strip_prefix("  assay "));
    typed.map(|line| format!("assay {}", line.split("   ").next().unwrap().split("  ").next().unwrap())).collect()
}

#[test]
fn the_program_alone_says_what_to_do_next() {
    let place = Place::new();
    let first = place.succeeds(&[]);
    assert!(first.contains("There are no runs yet.") && first.contains("assay review  "), "{first}");
    assert!(!place.store().exists(), "who only asks leaves nothing behind");
    fits_80_columns(&first);

    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    let one = place.succeeds(&[]);
    assert!(one.contains("Run 1 is the latest: short on sim:x25-m."), "{one}");
    assert!(one.contains("assay show 1") && one.contains("assay report 1") && !one.contains("compare"), "{one}");

    place.succeeds(&["review", "--plan", &plan, "--seed", "2"]);
    let two = place.succeeds(&[]);
    assert!(two.contains("assay compare 1 2"), "{two}");
    fits_80_columns(&two);
}

#[test]
fn a_review_that_was_cut_off_is_to_be_resumed() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    connection.execute("UPDATE run SET state = 'running', finished_ms = NULL", []).unwrap();
    drop(connection);
    let said = place.succeeds(&[]);
    assert!(said.contains("Run 1 was interrupted") && said.contains("assay review --resume 1"), "{said}");
    place.succeeds(&["review", "--resume", "1"]);
    assert!(place.succeeds(&[]).contains("Run 1 is the latest"));
}

#[test]
fn help_fits_80_columns() {
    let place = Place::new();
    fits_80_columns(&place.succeeds(&["--help"]));
    for command in commands(&place) {
        // An example that is longer must be typed as it stands.
        let help = place.succeeds(&[&command, "--help"]);
        let laid_out: Vec<&str> = help.lines().filter(|line| !line.starts_with("  assay ")).collect();
        fits_80_columns(&laid_out.join("\n"));
    }
}

#[test]
fn every_example_of_the_help_runs() {
    let place = Place::new();
    let plan = "name = \"guard\"\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n[[step]]\nname = \"depth-read\"\n\
                rw = \"randread\"\nnumber_ios = 50\nrepeats = 8\nsweep.iodepth = [1, 32]\n";
    std::fs::write(place.path("guard.toml"), plan).unwrap();
    std::fs::write(place.path("job.fio"), JOB).unwrap();
    std::fs::write(place.path("ssdconfig.xml"), "<Execution_Parameter_Set/>").unwrap();
    std::fs::write(place.path("run-blackbox.sh"), "qemu-system-x86_64 -device femu,devsz_mb=4096,femu_mode=1\n")
        .unwrap();
    std::fs::write(place.path("ssd_config.h"), SSD_CONFIG).unwrap();
    place.small_review();
    for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    for seed in ["1", "2"] {
        place.succeeds(&["review", "--plan", "guard.toml", "--seed", seed]);
    }
    let drives = "sim:x25-m#1..2?capacity.user=1GiB";
    place.succeeds(&["review", drives, "--plan", "guard.toml", "--group", "rack-7"]);
    let all = commands(&place);
    assert!(all.len() >= 17, "{all:?}");
    for command in all {
        let examples = examples(&place, &command);
        assert!(!examples.is_empty(), "{command} has no example");
        if ["attach", "attached", "detach", "fault", "push", "serve"].contains(&command.as_str()) {
            continue;
        }
        for example in examples {
            let began = std::time::Instant::now();
            run(&place, &example);
            println!("{:5.1} s  {example}", began.elapsed().as_secs_f64());
        }
    }
}

/// A header of NVMeVirt's with one drive, of no real one's times.
const SSD_CONFIG: &str = "\
#if (BASE_SSD == SAMSUNG_970PRO)
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define NAND_CHANNELS (8)
#define LUNS_PER_NAND_CH (2)
#define FLASH_PAGE_SIZE KB(32)
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 1)
#define BLKS_PER_PLN (1024)
#define NAND_CHANNEL_BANDWIDTH (800ull)
#define PCIE_BANDWIDTH (3200ull)
#define NAND_4KB_READ_LATENCY_LSB (30000)
#define NAND_4KB_READ_LATENCY_MSB (40000)
#define NAND_4KB_READ_LATENCY_CSB (0)
#define NAND_READ_LATENCY_LSB (30000)
#define NAND_READ_LATENCY_MSB (40000)
#define NAND_READ_LATENCY_CSB (0)
#define NAND_PROG_LATENCY (200000)
#define NAND_ERASE_LATENCY (3000000)
#define FW_4KB_READ_LATENCY (20000)
#define FW_READ_LATENCY (20000)
#define FW_WBUF_LATENCY0 (4000)
#define FW_WBUF_LATENCY1 (500)
#define FW_CH_XFER_LATENCY (0)
#define OP_AREA_PERCENT (0.07)
#define WRITE_EARLY_COMPLETION 1
#endif
";

#[test]
fn every_example_of_attached_drives_runs() {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        return skip("attaching needs root and /dev/fuse");
    }
    let place = Place::new();
    let said = run(&place, &examples(&place, "attach")[0]);
    let device = said.stdout.trim();
    let listed = run(&place, &examples(&place, "attached")[0]);
    let detached = place.assay(&["detach", device]);
    assert!(listed.stdout.contains(device), "{}", listed.stdout);
    assert_eq!(detached.code, Some(0), "{}", detached.stderr);
    assert_eq!(examples(&place, "detach"), ["assay detach /dev/loop0"], "as it was run, with another device");
}

/// Types an example into a shell; it must succeed.
fn run(place: &Place, example: &str) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    if example.contains("--resume") {
        let connection = rusqlite::Connection::open(place.store()).unwrap();
        connection.execute("UPDATE run SET state = 'failed' WHERE id = 2", []).unwrap();
    }
    if example.starts_with("assay merge ") {
        for name in ["a.sqlite", "b.sqlite"] {
            std::fs::copy(place.store(), place.path(name)).unwrap();
        }
    }
    if example.contains("--baseline") {
        place.succeeds(&["baseline", "set", "main", "last"]);
    }
    let output = shell
        .args(["-ec", example])
        .current_dir(place.path("."))
        .env("PATH", path)
        .env("HOME", place.path("."))
        .env("ASSAY_STORE", place.store())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = Said { stdout: text(&output.stdout), stderr: text(&output.stderr), code: output.status.code() };
    // A gate and a limit answer too where so short a run cannot tell.
    let is_judged = example.contains(" gate ") || example.contains("--limit");
    let is_answered = said.code == Some(0) || (is_judged && said.code == Some(3));
    assert!(is_answered, "{example}: {:?}\n{}", said.code, said.stderr);
    assert!(
        !said.stdout.is_empty() || example.contains("--output") || example.contains(" > "),
        "{example} prints nothing"
    );
    said
}

#[test]
fn the_program_ends_with_the_codes_that_it_documents() {
    let place = Place::new();
    let code = |arguments: &[&str]| place.assay(arguments).code;
    assert_eq!(code(&["drives"]), Some(0));
    assert_eq!(code(&["show", "last"]), Some(2), "an empty store");
    assert_eq!(code(&["run", "--no-such-option"]), Some(2));
    assert_eq!(code(&["run", "/no/such/file"]), Some(2));
    std::fs::File::create(place.path("reports")).unwrap().write_all(b"a file").unwrap();
    assert_eq!(code(&["run", "--number_ios=10"]), Some(0));
    assert_eq!(code(&["report", "1", "--out", "reports"]), Some(1), "no folder to write to");
}

#[test]
fn a_politely_ended_run_says_130() {
    let place = Place::new();
    let mut child = place
        .command(&["run", "./scratch", "--size=16m", "--rw=randread", "--runtime=60", "--time_based"])
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    // The file grows to its size before it is read, so that the run is under way.
    while std::fs::metadata(place.path("scratch")).map_or(0, |found| found.len()) < 16 << 20 {
        assert!(began.elapsed().as_secs() < 30, "the run does not begin");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    support::other("kill", &["-TERM", &child.id().to_string()]);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn each_command_tells_how_its_options_are_set_for_good() {
    let place = Place::new();
    let has_options = |name: &String| place.succeeds(&["config", name]).contains(&format!("\nassay {name}\n"));
    for command in commands(&place).into_iter().filter(has_options) {
        let help = place.succeeds(&[&command, "--help"]);
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("Every option is also an environment variable")
                && words.contains(&format!("`assay config {command}`"))
        );
        // What every command has stands together, behind what the command itself has.
        let general: Vec<&str> = help.lines().skip_while(|line| *line != "General options:").skip(1).collect();
        let options = general.iter().take_while(|line| !line.starts_with(|c: char| c.is_alphabetic()));
        let named = options.filter(|line| line.trim_start().starts_with('-')).count();
        assert_eq!(named, 4, "{help}");
    }
}

#[test]
fn a_drive_that_is_named_without_sim_is_recognised() {
    let place = Place::new();
    for command in ["review", "run"] {
        let said = place.refuses(&[command, "x25-m"]);
        assert!(said.contains("x25-m does not exist") && said.contains("drive of this name give sim:x25-m"), "{said}");
    }
    assert!(!place.refuses(&["review", "x25-n"]).contains("sim:"));
}

#[test]
fn a_number_that_is_none_is_told_with_what_would_be_right() {
    let place = Place::new();
    for (option, right) in [("--seed=abc", "at least 0"), ("--repeats=2.5", "at most 1000"), ("--direct=yes", "0 or 1")]
    {
        let said = place.refuses(&["review", option]);
        assert!(said.contains("give ") && said.contains(right) && !said.contains("digit"), "{said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    for command in ["attached", "config", "doctor", "drives", "help", "plans", "profiles", "runs"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(&[command]).stdout(writer).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}
