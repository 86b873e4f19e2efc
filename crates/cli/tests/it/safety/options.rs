//! Every option of every command that takes a path, tried on everything that the path must not be.
//!
//! The options are read from the program's own help, so a new one fails this test until it stands in the table.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::Place;
use testkit::loops::{LoopDevice, Mounted};
use testkit::{PATIENCE, attempt, needs, soak};

/// What the words in the help look like that stand for a path.
const PATHS: [&str; 10] =
    ["FILE", "DIR", "PLAN", "DEVICE", "SOCKET", "TARGET", "FOLDER", "PROMISES", "FILE|ADDRESS:PORT", "REVIEW|FILE"];

/// The commands that take a path, with the path as `{}`; the word before it is the option. `.` is the file or folder that
/// is legal there, where something else is asked.
const LINES: &[&str] = &[
    "review {} --plan tiny.toml",
    "review sim:{} --plan tiny.toml",
    "review sim:x25-m?capacity.user=1GiB --plan {}",
    "review sim:x25-m?capacity.user=1GiB --plan tiny.toml --out {}",
    "review sim:x25-m?capacity.user=1GiB --plan tiny.toml --metrics {}",
    "review sim:x25-m?capacity.user=1GiB --plan tiny.toml --allow-path {}",
    "review sim:x25-m?capacity.user=1GiB --plan tiny.toml --power csv:{}",
    "review b.bin --size=1m --plan tiny.toml --destroy-data {}",
    "sweep {} sim:x25-m?capacity.user=1GiB",
    "sweep tiny.toml {}",
    "sweep tiny.toml sim:{}",
    "sweep tiny.toml sim:x25-m?capacity.user=1GiB --allow-path {}",
    "sweep tiny.toml sim:x25-m?capacity.user=1GiB --format csv --output {}",
    "run {} --rw=write --number_ios=1",
    "run sim:{} --rw=write --number_ios=1",
    "run --filename {} --rw=write --number_ios=1",
    "run job.fio {} --number_ios=1",
    "run job.fio {}",
    "run c.bin --size=1m --rw=write --destroy-data {}",
    "run sim:x25-m?capacity.user=1GiB --number_ios=1 --record {}",
    "run sim:x25-m?capacity.user=1GiB --number_ios=1 --read_iolog {}",
    "run job.fio sim:x25-m?capacity.user=1GiB --log-dir {}",
    "run job.fio sim:x25-m?capacity.user=1GiB --allow-path {}",
    "run {}.fio sim:x25-m?capacity.user=1GiB",
    "import {}",
    "import job.fio --output {}",
    "import job.fio --allow-path {}",
    "replicate {}",
    "replicate small.toml --out {}",
    "replicate qos --drive p400m-400 --quick --on {}",
    "replicate qos --drive p400m-400 --quick --on x25-m?capacity.user=1GiB --record {}",
    "calibrate {} --figures small.toml --parameters nand.read=20us..80us --rounds=1",
    "calibrate x25-m --figures {} --parameters nand.read=20us..80us --rounds=1",
    "calibrate x25-m --figures small.toml --parameters nand.read=20us..80us --rounds=1 --out {}",
    "drives show {}",
    "drives new own --from @{}",
    "plans show {}",
    "show last --output {}",
    "compare 1 2 --out {}",
    "compare --interleave sim:x25-m?capacity.user=1GiB sim:x25-m?capacity.user=1GiB --options=--plan=tiny.toml --program-b {}",
    "fleet --filter state=complete --format json --output {}",
    "review sim:x25-m#1..2?capacity.user=1GiB --plan tiny.toml --out {}",
    "merge {}",
    "merge results.sqlite --output {}",
    "push http://127.0.0.1:9 --token-file {}",
    "serve --listen 127.0.0.1:0 --accept --token-file {}",
    "gate last --junit {}",
    "gate last --markdown {}",
    "health {}",
    "report last --out {}",
    "man {}",
    "attach x25-m?capacity.user=1GiB --nbd {}",
    "attach x25-m?capacity.user=1GiB --vhost-user {}",
    "attach x25-m?capacity.user=1GiB --nbd s --backing {}",
    "attach x25-m?capacity.user=1GiB --nbd s --state {}",
    "attach --nbd s --image {} --snapshot",
    "attach --nbd s --image {}",
    "attach {} --nbd s",
    "detach {}",
    "fault {} delay=1ms",
    "aftermath {}",
    "runs --store {}",
    "show last --store {}",
    "report last --store {}",
    "compare 1 2 --store {}",
    "run sim:x25-m?capacity.user=1GiB --number_ios=1 --store {}",
    "review sim:x25-m?capacity.user=1GiB --plan tiny.toml --store {}",
    "health last --store {}",
];

/// Everything that is to stay as it is.
struct Bystanders {
    device: LoopDevice,
    _mounted: Mounted,
    _mounted_device: LoopDevice,
    named: Vec<(&'static str, PathBuf)>,
    kept: Vec<PathBuf>,
}

impl Bystanders {
    fn make(place: &Place) -> Result<Self, String> {
        let path = |name: &str| place.path(name);
        let formatted = |name: &str| -> Result<LoopDevice, String> {
            fs::write(path(name), vec![0; 8 << 20]).unwrap();
            let device = LoopDevice::over(&path(name))?;
            attempt("mkfs.ext4", &["-q", &device.0])?;
            Ok(device)
        };
        let (device, mounted_device) = (formatted("image")?, formatted("mounted-image")?);
        let folder = path("mnt");
        fs::create_dir(&folder).unwrap();
        // Read-only, so that the kernel itself changes nothing.
        attempt("mount", &["-o", "ro", &mounted_device.0, folder.to_str().unwrap()])?;
        let mounted = Mounted::at(&folder);
        symlink(&device.0, path("link-to-device")).unwrap();
        fs::write(path("theirs.txt"), "years of work\n").unwrap();
        symlink(path("theirs.txt"), path("link")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("folder/inside"), "kept").unwrap();
        place.succeeds(&["run", "measured.bin", "--rw=write", "--bs=1m", "--size=2m"]);
        attempt("mkfifo", &[path("fifo").to_str().unwrap()])?;
        let kept = ["image", "mounted-image", "theirs.txt", "folder/inside", "measured.bin"].map(path).into();
        let named = vec![
            ("a device with ext4", device.0.clone().into()),
            ("a mounted device", mounted_device.0.clone().into()),
            ("a link to a device", path("link-to-device")),
            ("a stranger's file", path("theirs.txt")),
            ("a link to it", path("link")),
            ("a target", path("measured.bin")),
            ("the store", place.store()),
            ("a FIFO", path("fifo")),
            ("a full device", "/dev/full".into()),
            ("a folder", path("folder")),
        ];
        Ok(Self { device, _mounted: mounted, _mounted_device: mounted_device, named, kept })
    }

    fn state(&self) -> Vec<Vec<u8>> {
        self.kept.iter().map(|path| fs::read(path).unwrap()).collect()
    }
}

/// Runs a command to its end; one that goes on, as an attached drive does, is ended. What it said.
fn tried(place: &Place, words: &[&str]) -> String {
    let mut child =
        place.command(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        stderr.read_to_end(&mut said).ok();
        String::from_utf8_lossy(&said).into_owned()
    });
    let mut stdout = child.stdout.take().unwrap();
    let is_serving = Arc::new(AtomicBool::new(false));
    let serves = Arc::clone(&is_serving);
    std::thread::spawn(move || {
        // The first word of a drive that is attached is its address.
        serves.store(stdout.read_exact(&mut [0]).is_ok(), Ordering::Relaxed);
        std::io::copy(&mut stdout, &mut std::io::sink()).ok();
    });
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        // One that waits for something else has had its time after a while.
        let is_up = is_serving.load(Ordering::Relaxed) || began.elapsed() > Duration::from_secs(2);
        if matches!(words[0], "attach" | "serve") && is_up {
            end(&mut child);
        }
        assert!(began.elapsed() < PATIENCE, "{words:?} does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().unwrap()
}

fn end(child: &mut Child) {
    attempt("kill", &["-INT", &child.id().to_string()]).ok();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn no_path_of_any_option_is_written_that_is_something_else() {
    let place = Place::new();
    let tiny = "name = \"tiny\"\nrepeats = 1\n[[step]]\nname = \"a\"\nrw = \"randread\"\nnumber_ios = 5\n";
    fs::write(place.path("tiny.toml"), tiny).unwrap();
    place.small_review();
    fs::write(place.path("job.fio"), "[a]\nrw=read\nsize=16m\nnumber_ios=1\nwrite_iolog=log\n").unwrap();
    for _ in 0..2 {
        place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=read", "--number_ios=10"]);
    }
    let bystanders = needs!(Bystanders::make(&place));
    let before = bystanders.state();
    let unchanged = |words: &str, said: &str| {
        assert!(!said.contains("panicked"), "{words}: {said}");
        for (kept, (now, was)) in bystanders.kept.iter().zip(bystanders.state().iter().zip(&before)) {
            assert!(now == was, "{words} changed {}: {said}", kept.display());
        }
        assert!(Path::new(&bystanders.device.0).exists());
    };
    let (fifos, others): (Vec<_>, Vec<_>) = bystanders.named.iter().partition(|(what, _)| *what == "a FIFO");
    let pairs: Vec<_> = LINES.iter().flat_map(|line| others.iter().map(move |other| (line, other))).collect();
    for (line, (what, path)) in soak::some(pairs, 2 * LINES.len()) {
        // A target is for being measured.
        let is_named =
            ["review {}", "run {}", "--filename {}", "run job.fio {}"].iter().any(|named| line.contains(named));
        if *what == "a target" && is_named {
            continue;
        }
        let written = line.replace("{}", path.to_str().unwrap());
        let said = tried(&place, &written.split(' ').collect::<Vec<&str>>());
        unchanged(&format!("{written} ({what})"), &said);
    }
    let kept = || assert!(place.succeeds(&["runs"]).contains("x25-m"), "the store is lost");
    kept();
    // Whoever writes to a FIFO that nobody reads waits for a while; so all do it at once.
    std::thread::scope(|scope| {
        for line in LINES {
            let (place, unchanged) = (&place, &unchanged);
            let written = line.replace("{}", fifos[0].1.to_str().unwrap());
            scope.spawn(move || {
                let said = tried(place, &written.split(' ').collect::<Vec<&str>>());
                unchanged(&format!("{written} (a FIFO)"), &said);
            });
        }
    });
    kept();
    assert!(fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(place.path("fifo")).unwrap().file_type().is_fifo());
}

/// The options and arguments of a command's help that stand for a path.
fn paths_of(help: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in help.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let stands_for_path = |word: &&str| {
            let bare = word.trim_matches(['<', '>', '[', ']', '.']);
            word.starts_with(['<', '[']) && PATHS.contains(&bare)
        };
        match &words[..] {
            [.., option, value] | [.., option, value, _] | [option, value, ..]
                if option.starts_with("--") && stands_for_path(value) =>
            {
                found.insert((*option).to_owned());
            }
            [option, value, ..] if option.starts_with("--") && stands_for_path(value) => {
                found.insert((*option).to_owned());
            }
            [_, option, value, ..] if option.starts_with("--") && stands_for_path(value) => {
                found.insert((*option).to_owned());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_option_that_takes_a_path_is_tried() {
    let place = Place::new();
    let help = place.succeeds(&["--help"]);
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands = commands.map_while(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let commands: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(commands.len() > 15, "{commands:?}");
    let (mut known, mut missing) = (0, Vec::new());
    for command in commands {
        for option in paths_of(&place.succeeds(&[command, "--help"])) {
            let is_tried = |line: &&&str| {
                let before = line.split("{}").next().unwrap().trim_end_matches("csv:").trim_end();
                (line.starts_with(command) || option == "--store") && before.ends_with(&option)
            };
            known += 1;
            if LINES.iter().find(is_tried).is_none() {
                missing.push(format!("{command} {option}"));
            }
        }
    }
    assert!(missing.is_empty(), "add to LINES: {missing:?}");
    assert!(known > 30, "only {known} were found: is help still written as --option <FILE>?");
}
