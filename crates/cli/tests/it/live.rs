//! The view of a review on the whole of a terminal, as tmux shows it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, skip, tool};

/// A terminal in a server of its own, until dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// A terminal of this size in which a shell runs in `place`; none where there is no tmux.
    fn open(place: &Place, columns: u16, rows: u16) -> Option<Self> {
        if tool("tmux").is_none() {
            skip("tmux is not installed");
            return None;
        }
        let terminal = Self { socket: place.path("tmux").display().to_string() };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let folder = place.path(".").display().to_string();
        let store = format!("ASSAY_STORE={}", place.store().display());
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "-c",
            &folder,
            "-e",
            &store,
        ]);
        terminal.tmux(&["send-keys", "PS1='ready> '; LC_ALL=C.UTF-8; export LC_ALL; stty -a >before; clear", "Enter"]);
        terminal.shows(&["ready> "]);
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux").env_remove("TMUX").args(["-u", "-S", &self.socket]).args(arguments).output();
        let output = output.expect("tmux starts");
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn types(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until all of these are on the screen at once.
    fn shows(&self, parts: &[&str]) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            let missing = parts.iter().find(|part| !screen.contains(*part));
            let Some(missing) = missing else { return screen };
            assert!(began.elapsed() < Duration::from_secs(120), "`{missing}` does not come up:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts a review with a view.
    fn reviews(&self, options: &str) {
        self.types(&format!("clear; {} review {options} --live", env!("CARGO_BIN_EXE_assay")));
    }

    /// Waits for the end of the program, which leaves these on the screen. What is typed on a line of its own the shell
    /// does also after a program that was interrupted.
    fn ends(&self, parts: &[&str], code: i32) {
        self.shows(&[parts, &["\nready>"]].concat());
        self.types("echo ended with $?");
        self.shows(&[&format!("\nended with {code}\n")]);
    }

    /// Makes sure that the terminal is as it was before the view: its settings, its cursor and its screen.
    fn is_given_back(&self, place: &Place) {
        self.types("stty -a >after; echo compared");
        self.shows(&["\ncompared"]);
        // The first line has the size, which tests change.
        let settings = |name| {
            let text = std::fs::read_to_string(place.path(name)).unwrap();
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(settings("before"), settings("after"));
        let state = self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(state.trim(), "0 1", "the first screen with its cursor");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        Command::new("tmux").args(["-S", &self.socket, "kill-server"]).status().ok();
    }
}

/// Reads of a simulated drive that go on for minutes.
const LONG: &str = r#"
name = "long"
title = "Much to be read"
repeats = 50

[[step]]
name = "twin-reads"
title = "Random reads by depth"
rw = "randread"
number_ios = 400000
sweep.iodepth = ["1", "4", "32"]
"#;

#[test]
fn a_simulated_drive_shows_every_part_and_q_ends_the_run() {
    let place = Place::new();
    std::fs::write(place.path("long.toml"), LONG).unwrap();
    let Some(terminal) = Terminal::open(&place, 80, 24) else { return };
    terminal.reviews("--plan ./long.toml");
    let parts = [
        "Run 1: Much to be read on",
        "left",
        "Random reads by depth",
        "── last measurement",
        "IOPS",
        "median",
        "99.99 %",
        "── drive",
        "read ",
        "── steps",
        "── twin-reads, IOPS",
        "iodepth=",
        "█",
        "── findings:",
        "q or Ctrl-C stops the run",
    ];
    terminal.shows(&parts);
    terminal.tmux(&["resize-window", "-x", "44", "-y", "12"]);
    let screen = terminal.shows(&["Random reads by depth", "── twin-reads, IOPS", "q or Ctrl-C stops the run"]);
    assert!(screen.lines().all(|line| line.chars().count() <= 44) && !screen.contains("── drive"), "{screen}");
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    terminal.shows(&parts);
    terminal.tmux(&["send-keys", "q"]);
    terminal.ends(&["Stopping the run", "is interrupted", "finished measurements", "assay review --resume 1"], 130);
    terminal.is_given_back(&place);
    assert!(place.succeeds(&["runs"]).contains("interrupted"));
}

#[test]
fn a_file_shows_what_is_done_now_and_ctrl_c_ends_the_run_in_order() {
    let place = Place::new();
    let plan = "name = \"real\"\ntitle = \"A file\"\nrepeats = 9\n[[step]]\nname = \"fill\"\ndo = \"fill\"\n\
                [[step]]\nname = \"read\"\nrw = \"randread\"\nruntime = \"20s\"\n";
    std::fs::write(place.path("real.toml"), plan).unwrap();
    let Some(terminal) = Terminal::open(&place, 80, 24) else { return };
    terminal.reviews("./scratch.bin --size 64MiB --direct=0 --plan ./real.toml");
    terminal.shows(&["── now", "IOPS, ", "median", "── drive", "q or Ctrl-C"]);
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.ends(&["Stopping the run", "is interrupted", "continues it"], 130);
    terminal.is_given_back(&place);
    let kept = place.succeeds(&["show", "1", "--format", "json"]);
    assert!(kept.contains("\"requests\"") && kept.contains("was interrupted"), "what was measured is kept: {kept}");
}

#[test]
fn a_signal_from_elsewhere_gives_the_terminal_back_too() {
    let place = Place::new();
    std::fs::write(place.path("long.toml"), LONG).unwrap();
    let Some(terminal) = Terminal::open(&place, 80, 24) else { return };
    terminal.types(&format!(
        "clear; sh -c 'echo $$ >pid; exec {} review --plan ./long.toml --live'",
        env!("CARGO_BIN_EXE_assay")
    ));
    terminal.shows(&["q or Ctrl-C stops the run"]);
    let process = std::fs::read_to_string(place.path("pid")).unwrap();
    let process = rustix::process::Pid::from_raw(process.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    terminal.ends(&["Stopping the run"], 143);
    terminal.is_given_back(&place);
}

#[test]
fn a_review_that_comes_to_its_end_leaves_its_summary_on_the_terminal() {
    let place = Place::new();
    let plan = place.short_plan();
    let Some(terminal) = Terminal::open(&place, 100, 40) else { return };
    terminal.reviews(&format!("--plan {plan}"));
    terminal.ends(&["Report: "], 0);
    terminal.is_given_back(&place);
}

#[test]
fn without_a_terminal_the_review_goes_on_as_usual() {
    let place = Place::new();
    let plan = place.short_plan();
    let said = place.assay(&["review", "--plan", &plan, "--live"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stderr.contains("--live is not available") && said.stderr.contains("is not a terminal"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.contains("Report: ") && !said.stdout.contains('\u{1b}'), "{}", said.stdout);
}

#[test]
fn ctrl_c_ends_a_review_whose_view_could_not_be_shown() {
    let place = Place::new();
    std::fs::write(place.path("long.toml"), LONG).unwrap();
    let log = std::fs::File::create(place.path("log")).unwrap();
    let mut review = place.command(&["review", "--plan", "./long.toml", "--live"]);
    let mut review = review.stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let began = Instant::now();
    while !std::fs::read_to_string(place.path("log")).unwrap().contains("--live is not available") {
        assert!(began.elapsed() < Duration::from_secs(60), "the review does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&review), rustix::process::Signal::INT).unwrap();
    let asked = Instant::now();
    let status = loop {
        match review.try_wait().unwrap() {
            Some(status) => break status,
            None if asked.elapsed() > testkit::PATIENCE => {
                review.kill().unwrap();
                panic!("the review takes no notice");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(status.signal(), Some(2), "{status}");
}

/// As a serial console does not, which has nobody behind it who says where the cursor is.
#[test]
fn a_terminal_that_answers_nothing_shows_the_view() {
    if tool("script").is_none() {
        return skip("script is not installed");
    }
    let place = Place::new();
    std::fs::write(place.path("long.toml"), LONG).unwrap();
    let line = format!(
        "stty cols 80 rows 24; exec timeout -s INT 10 {} review --plan ./long.toml --live",
        env!("CARGO_BIN_EXE_assay")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(place.path(".")).env("ASSAY_STORE", place.store());
    let shown = script.env("TERM", "vt100").env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("stops the run") && !shown.contains("--live is not available"), "{shown}");
}
