//! A review that is killed again and again: no finished cell is lost, and the figures are those of one that was not.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Place;
use rusqlite::Connection;
use testkit::loops::LoopDevice;
use testkit::soak;
use testkit::{skip, tool};

/// Every kind of step, each so short that the whole takes a fraction of a second.
const PLAN: &str = r#"
name = "tiny"

[[step]]
name = "purge"
do = "purge"

[[step]]
name = "fill"
do = "fill"

[[step]]
name = "read"
rw = "randread"
number_ios = 100
sweep.bs = ["4k", "16k", "64k"]
repeats = 2

[[step]]
name = "precise"
rw = "randread"
number_ios = 50
repeats = { at-most = 6 }

[[step]]
name = "wear"
do = "condition"
rw = "randwrite"
round = "40ms"
at-most = "120ms"

[[step]]
name = "rounds"
do = "rounds"
rw = "randrw"
number_ios = 30
sweep.rwmixread = [100, 50, 0]
rounds = 6
steady = false

[[step]]
name = "jobs"
number_ios = 20
repeats = 2
[[step.job]]
name = "reader"
rw = "randread"
[[step.job]]
name = "writer"
rw = "randwrite"
"#;

/// What identifies a measurement, and all that was measured, by run.
type Kept = BTreeMap<(i64, String, String, i64), String>;

/// All measurements of a store, which must be sound; none where there is no store yet.
fn kept(store: &Path) -> Kept {
    if !store.exists() {
        return Kept::new();
    }
    let connection = Connection::open(store).unwrap();
    let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
    if connection.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'measurement'", [], |row| row.get(0))
        == Ok(0)
    {
        return Kept::new();
    }
    let columns =
        "seed, elapsed_ns, read_requests, write_requests, hex(read_latency), hex(write_latency), hex(series), drive";
    let query = format!("SELECT run, step, cell, repeat, {columns} FROM measurement");
    let mut statement = connection.prepare(&query).unwrap();
    let count = statement.column_count();
    let rows = statement.query_map([], |row| {
        let figures = (4..count).map(|index| format!("{:?}", row.get_ref(index).unwrap())).collect::<Vec<_>>();
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), figures.join("|")))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Kills reviews of `target` at random moments of their first `longest`, each time going on with what was begun, until
/// so many were killed; after each, what was kept before must still be there as it was. The last one is left to end.
fn kill(place: &Place, target: &[&str], plan: &str, times: usize, longest: Duration) -> Kept {
    let (mut before, mut killed, mut ended, mut random) = (Kept::new(), 0, 0, soak::random());
    while killed < times {
        let is_cut_off = place.assay(&["runs"]).stdout.contains("interrupted");
        let begin = [&["review", "--plan", plan], target].concat();
        let arguments: &[&str] = if is_cut_off { &["review", "--resume"] } else { &begin };
        let mut child = place.command(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(longest.mul_f64(random.unit()));
        match child.try_wait().unwrap() {
            Some(status) => {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
                assert!(status.success(), "after {killed} kills a review failed with {status}: {said}");
                ended += 1;
                assert!(ended < 10 * times, "reviews end before they can be killed: {ended} to {killed}");
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
            }
        }
        let now = kept(&place.store());
        for (key, figures) in &before {
            assert_eq!(now.get(key), Some(figures), "{key:?} after {killed} kills");
        }
        before = now;
    }
    if place.assay(&["runs"]).stdout.contains("interrupted") {
        place.succeeds(&["review", "--resume"]);
    }
    kept(&place.store())
}

fn plan(place: &Place) -> String {
    let path = place.path("tiny.toml");
    std::fs::write(&path, PLAN).unwrap();
    path.display().to_string()
}

/// The measurements of one run.
fn of_run(kept: &Kept, run: i64) -> BTreeMap<(&str, &str, i64), &str> {
    let own = kept.iter().filter(|((of, ..), _)| *of == run);
    own.map(|((_, step, cell, repeat), figures)| ((&**step, &**cell, *repeat), &**figures)).collect()
}

#[test]
fn kills_lose_no_finished_cell_and_change_no_figure() {
    const DRIVE: &str = "sim:x25-m?capacity.user=1GiB";
    let whole = Place::new();
    let began = Instant::now();
    whole.succeeds(&["review", DRIVE, "--plan", &plan(&whole)]);
    let length = began.elapsed();
    let expected = kept(&whole.store());

    let cut = Place::new();
    let kept = kill(&cut, &[DRIVE], &plan(&cut), soak::times(25, 200), length.mul_f64(1.1));
    let runs: Vec<i64> =
        kept.keys().map(|(run, ..)| *run).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    assert!(!runs.is_empty());
    for run in runs {
        let (found, whole) = (of_run(&kept, run), of_run(&expected, 1));
        let other = found.keys().chain(whole.keys()).filter(|key| found.get(*key) != whole.get(*key));
        assert_eq!(other.collect::<Vec<_>>(), Vec::<&_>::new(), "run {run} has other figures of these");
    }
}

#[test]
fn a_review_of_a_file_that_is_killed_goes_on_where_it_was() {
    let place = Place::new();
    let target = ["./scratch.bin", "--size", "8m"];
    let whole = Place::new();
    let began = Instant::now();
    whole.succeeds(&[&["review", "--plan", &plan(&whole)], &target[..]].concat());
    let kept = kill(&place, &target, &plan(&place), soak::times(5, 40), began.elapsed());
    let last = kept.keys().map(|(run, ..)| *run).max().unwrap();
    let cells = of_run(&kept, last);
    assert_eq!(cells.keys().filter(|(step, ..)| *step == "rounds").count(), 18);
    assert_eq!(cells.keys().filter(|(step, ..)| *step == "read").count(), 6);
    assert_eq!(cells.keys().filter(|(step, ..)| *step == "jobs").count(), 4);
    assert!((5..=6).contains(&cells.keys().filter(|(step, ..)| *step == "precise").count()));
}

/// A process that is ended when this is dropped.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The memory control groups of a process, of whichever version of the kernel's interface.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn below(folder: &Path, own: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders
            .flat_map(|entry| match entry.file_name().to_string_lossy().starts_with(own) {
                true => vec![entry.path()],
                false => below(&entry.path(), own),
            })
            .collect()
    }
    below(Path::new("/sys/fs/cgroup"), &format!("assay-{pid}-"))
}

#[test]
fn a_review_that_is_killed_for_memory_is_told_so_in_the_run_and_at_the_terminal() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk"), 400) else { return };
    if tool("mkfs.ext4").is_none() {
        return skip("there is no mkfs.ext4");
    }
    let plan = place.path("limited.toml");
    let step = "do = \"files\"\ncache = \"limit\"\nmemory = \"32MiB\"\nsize = \"64MiB\"\nrw = \"randwrite\"\nruntime = \"600s\"";
    std::fs::write(&plan, format!("name = \"limited\"\nrepeats = 1\n[[step]]\nname = \"try\"\n{step}\n")).unwrap();
    let plan = plan.display().to_string();
    let said = place.assay(&["review", &device.0, "--plan", &plan, "--dry-run"]);
    if said.stderr.contains("memory cannot be limited here") {
        return skip(&said.stderr);
    }
    let mut command = place.command(&["review", &device.0, "--plan", &plan]);
    let mut review = Doomed(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let pid = review.0.id();
    let is_inside = |group: &PathBuf| {
        let inside = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        inside.lines().any(|line| line == pid.to_string())
    };
    let until = Instant::now() + Duration::from_secs(60);
    let group = loop {
        if let Some(group) = groups_of(pid).into_iter().find(is_inside) {
            break group;
        }
        assert!(review.0.try_wait().unwrap().is_none() && Instant::now() < until, "it does not limit its memory");
        std::thread::sleep(Duration::from_millis(20));
    };
    // Another takes all that the group has, and the kernel is to end the review for it.
    std::fs::write(format!("/proc/{pid}/oom_score_adj"), "1000").unwrap();
    let taker = "echo $$ >\"$0/cgroup.procs\"; exec dd if=/dev/zero of=/dev/null bs=256M count=1";
    let mut taker = Doomed(Command::new("sh").args(["-c", taker]).arg(&group).stderr(Stdio::null()).spawn().unwrap());
    let ended = loop {
        if let Some(ended) = review.0.try_wait().unwrap() {
            break ended;
        }
        assert!(taker.0.try_wait().unwrap().is_none() && Instant::now() < until, "the kernel does not end the review");
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(taker);
    // What undoes its changes holds the other end, so that this is after that.
    let mut told = String::new();
    review.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(ended.signal(), Some(9), "{told}");
    for words in ["for want of memory", "limits it to 32 MiB (cache = \"limit\"", "Run 1 is marked failed"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(groups_of(pid), [] as [PathBuf; 0]);
    assert!(place.succeeds(&["runs"]).contains("failed"));
    let shown = place.succeeds(&["show", "1"]).replace('\n', " ");
    assert!(shown.contains("for want of memory") && shown.contains("32 MiB"), "{shown}");
}
