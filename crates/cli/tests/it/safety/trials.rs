//! Texts of plans that reach other programs.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{LoopDevice, Place, Said, skip, tool};

/// A small simulated drive, which the kernel sees while a trial goes on.
const DRIVE: &str = "sim:x25-m?capacity.user=1GiB";

/// A plan with one step that tries this, written to the place; its path.
fn plan(place: &Place, kind: &str, told: &str) -> String {
    let path = place.path("hostile.toml");
    let text = format!("name = \"hostile\"\nrepeats = 1\n[[step]]\nname = \"try\"\ndo = \"{kind}\"\n{told}\n");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// What a plan in a stranger's hand could tell other programs as root, with the word that is refused. `DEVICE` and
/// `FILE`
/// are a bystander's.
const HOSTILE: &[(&str, &str, &str)] = &[
    // Formats another device.
    ("files", r#"fs = "btrfs"; mkfs = "DEVICE""#, "DEVICE"),
    ("files", r#"fs = "btrfs"; mkfs = "-- DEVICE""#, "--"),
    ("metadata", r#"fs = "ext4"; mkfs = "-q DEVICE""#, "DEVICE"),
    ("flood", r#"fs = "xfs"; mkfs = "-f\tDEVICE""#, "-f\\tDEVICE"),
    // Writes a log, a journal or more data onto another device.
    ("files", r#"fs = "xfs"; mkfs = "-l logdev=DEVICE,size=64m""#, "logdev=DEVICE"),
    ("files", r#"fs = "xfs"; mkfs = "-llogdev=DEVICE,size=64m""#, "logdev=DEVICE"),
    ("files", r#"fs = "xfs"; mkfs = "-r rtdev=DEVICE""#, "-r"),
    ("files", r#"fs = "xfs"; mkfs = "-d name=DEVICE""#, "name=DEVICE"),
    ("files", r#"fs = "ext4"; mkfs = "-J device=DEVICE""#, "device=DEVICE"),
    ("cross-check", r#"fs = "ext4"; mkfs = "-O journal_dev""#, "journal_dev"),
    // Reads a folder or a file, and undoes a format.
    ("files", r#"fs = "ext4"; mkfs = "-d FILE""#, "-d"),
    ("files", r#"fs = "ext4"; mkfs = "-qdFILE""#, "d"),
    ("files", r#"fs = "ext4"; mkfs = "-z FILE""#, "-z"),
    ("files", r#"fs = "btrfs"; mkfs = "--rootdir FILE""#, "--rootdir"),
    ("files", r#"fs = "btrfs"; mkfs = "--rootd=FILE""#, "--rootd"),
    ("files", r#"fs = "xfs"; mkfs = "-p FILE""#, "-p"),
    ("files", r#"fs = "xfs"; mkfs = "-c options=FILE""#, "-c"),
    // Makes nothing, so that what is there is mounted.
    ("files", r#"fs = "xfs"; mkfs = "-N""#, "-N"),
    ("files", r#"fs = "ext4"; mkfs = "-n""#, "-n"),
    // Mounts another device, or takes the machine down.
    ("files", r#"fs = "ext4"; mount = "source=DEVICE""#, "source=DEVICE"),
    ("files", r#"fs = "ext4"; mount = "noatime,journal_path=DEVICE""#, "journal_path=DEVICE"),
    ("files", r#"fs = "xfs"; mount = "logdev=DEVICE""#, "logdev=DEVICE"),
    ("files", r#"fs = "btrfs"; mount = "device=DEVICE""#, "device=DEVICE"),
    ("files", r#"fs = "ext4"; mount = "errors=panic""#, "panic"),
    ("files", r#"fs = "ext4"; sweep = { mount = ["noatime", "journal_path=DEVICE"] }"#, "journal_path=DEVICE"),
    // Starts a shell.
    ("database", r#"settings = "archive_mode = on; archive_command = 'touch FILE'""#, "archive_mode"),
    (
        "database",
        r#"settings = "fsync = on\narchive_command = 'touch FILE'""#,
        "fsync = on\\narchive_command = 'touch FILE'",
    ),
    ("database", r#"settings = "shared_preload_libraries = FILE""#, "shared_preload_libraries"),
    ("database", r#"settings = "include = FILE""#, "include"),
    ("database", r#"settings = "work_mem = '1MB'\u000darchive_command = 'touch FILE'""#, "work_mem"),
    ("database", r#"options = "-f FILE""#, "-f"),
    ("database", r#"options = "--file=FILE""#, "--file"),
    ("database", r#"options = "--fil FILE""#, "--fil"),
    ("database", r#"options = "-n --log-pref=FILE""#, "--log-pref"),
    ("database", r#"options = "-h FILE""#, "-h"),
    ("database", r#"options = "FILE""#, "FILE"),
    ("database", r#"mkfs = "-J device=DEVICE""#, "device=DEVICE"),
    ("database", r#"engine = "sqlite"; settings = "temp_store_directory = 'FILE'""#, "temp_store_directory"),
    ("database", r#"engine = "sqlite"; settings = "main.journal_mode = off""#, "main.journal_mode"),
    // Says something to the terminal.
    ("files", r#"fs = "ext4"; mkfs = "-L \u001b[2J""#, "-L"),
];

/// All that must be as it was: a bystander's device and file, and the folder they are in.
fn bystanders(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(place.path("bystander")).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn what_a_plan_may_not_tell_a_program_is_refused_before_anything_begins_and_underlined() {
    let place = Place::new();
    fs::create_dir(place.path("bystander")).unwrap();
    fs::write(place.path("bystander/file"), "kept").unwrap();
    let device = LoopDevice::new(&place.path("bystander/disk"), 96);
    let device = device.as_ref().map_or("/dev/loop0", |device| &device.0);
    let file = place.path("bystander/file").display().to_string();
    let before = bystanders(&place);
    for (kind, told, word) in HOSTILE {
        let fill = |text: &str| text.replace("DEVICE", device).replace("FILE", &file);
        let plan = plan(
            &place,
            kind,
            &fill(told).replace("; mkfs", "\nmkfs").replace("; mount", "\nmount").replace("; s", "\ns"),
        );
        let commands: [&[&str]; 3] = [
            &["review", DRIVE, "--plan", &plan],
            &["review", DRIVE, "--dry-run", "--plan", &plan],
            &["plans", "show", &plan],
        ];
        for command in commands {
            let said = place.refuses(command);
            assert!(said.contains("error[plan::not-permitted]") && said.contains("help: "), "{told}: {said}");
            assert!(!said.contains('\u{1b}'), "{told}: {said:?}");
            is_underlined(&said, &fill(word));
        }
    }
    assert!(bystanders(&place) == before, "a bystander was changed");
    assert!(!place.succeeds(&["runs"]).contains("hostile"), "a run was begun");
}

/// That what is underlined is this word, or a text that it begins where its place cannot be told.
fn is_underlined(said: &str, word: &str) {
    let lines: Vec<&str> = said.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains("refused") && line.contains('^'))
        .unwrap_or_else(|| panic!("{said}"));
    let (start, end) = (lines[at].find('^').unwrap(), lines[at].rfind('^').unwrap());
    let found = &lines[at - 1][start..=end];
    assert!(found == word || found.starts_with('"') && found.contains(word), "{word}: {said}");
}

/// Programs that tell how they were called, try to write to a file of somebody's, and fail, in a folder that is looked in
/// first. They tell it by TCP: they can write to no file.
struct Noted<'p> {
    place: &'p Place,
    listener: TcpListener,
}

impl<'p> Noted<'p> {
    fn new(place: &'p Place, programs: &[&str]) -> Self {
        let folder = place.path("programs");
        fs::create_dir(&folder).unwrap();
        fs::write(place.path("theirs"), "kept").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (port, theirs) = (listener.local_addr().unwrap().port(), place.path("theirs").display().to_string());
        for name in programs {
            let path = folder.join(name);
            let text = format!(
                "#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/{port}\necho {name} \"$@\" >&3\n\
                 stat -c 'promises %u %a' /run/assay/aftermath/$PPID-*.json >&3\necho lost >{theirs}\n\
                 echo no >&2\nexit 1\n"
            );
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { place, listener }
    }

    fn assay(&self, arguments: &[&str]) -> Said {
        let path = format!("{}:{}", self.place.path("programs").display(), std::env::var("PATH").unwrap());
        let mut command = self.place.command(arguments);
        let output = command.env("PATH", path).env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    /// Each line that was told since it was asked last; those who told it have ended.
    fn told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(false).unwrap();
            lines.extend(std::io::read_to_string(stream).unwrap().lines().map(str::to_owned));
        }
        lines
    }

    /// Whether the file of somebody's is as it was, where the kernel keeps a fence.
    fn is_kept(&self) -> bool {
        host::confine::enforcement() == host::Enforcement::None
            || fs::read_to_string(self.place.path("theirs")).unwrap() == "kept"
    }
}

#[test]
fn an_option_that_a_program_refuses_is_looked_for_without_formatting_again() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk"), 96) else { return };
    let noted = Noted::new(&place, &["mkfs.btrfs", "mkfs.ext4", "mkfs.xfs"]);
    let table = [
        ("btrfs", "-n 16384 -m dup", "-f", None),
        ("ext4", "-b 4096 -E stride=16,discard", "-F", Some("-n")),
        ("xfs", "-b size=4096 -d su=64k,sw=4", "-f", Some("-N")),
    ];
    for (fs, mkfs, force, dry) in table {
        let plan = plan(&place, "files", &format!("fs = \"{fs}\"\nmkfs = \"{mkfs}\"\nsize = \"8MiB\""));
        let said = noted.assay(&["review", &device.0, "--plan", &plan]);
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        let told = noted.told();
        let formats: Vec<&String> = told.iter().filter(|line| line.starts_with("mkfs")).collect();
        assert_eq!(*formats[0], format!("mkfs.{fs} {force} {mkfs} -- {}", device.0));
        let is_dry = |line: &&&String| dry.is_some_and(|dry| line.contains(&format!(" {force} {dry} ")));
        assert!(formats[1..].iter().all(|line| is_dry(&line)), "{fs}: {formats:?}");
        assert_eq!(formats.len() > 1, dry.is_some(), "{fs}: {formats:?}");
        assert!(noted.is_kept(), "{fs}: what makes a file system wrote elsewhere");
    }
}

#[test]
fn what_root_has_promised_to_undo_is_not_the_callers_of_sudo_to_change() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk"), 96) else { return };
    let noted = Noted::new(&place, &["mkfs.btrfs"]);
    let plan = plan(&place, "files", "fs = \"btrfs\"\nsize = \"8MiB\"");
    noted.assay(&["review", &device.0, "--plan", &plan]);
    let told = noted.told();
    assert!(told.iter().any(|line| line == "promises 0 600"), "{told:?}");
    let folder = fs::metadata("/run/assay/aftermath").unwrap();
    assert_eq!(folder.permissions().mode() & 0o022, 0, "others can change promises");
}

#[test]
fn a_dry_run_tells_the_commands_of_every_trial() {
    let place = Place::new();
    let table = [
        (
            "files",
            "fs = \"xfs\"\nmkfs = \"-d sunit=128,swidth=4096 -l size=64m\"\nmount = \"noatime,logbufs=8\"",
            &[
                "mkfs.xfs -f -d sunit=128,swidth=4096 -l size=64m -- DEVICE",
                "mount -t xfs -o noatime,logbufs=8 DEVICE FOLDER",
            ][..],
        ),
        (
            "database",
            "options = \"-n -v -M prepared\"\nsettings = \"synchronous_commit = off; work_mem = '8MB'\"",
            &[
                "mkfs.ext4 -F -- DEVICE",
                "initdb -D FOLDER/postgresql ",
                "synchronous_commit = off; work_mem = 8MB",
                "pgbench -i -q -s 100 postgres",
                "pgbench -n -v -M prepared -b tpcb-like",
            ],
        ),
        (
            "cross-check",
            "size = \"64MiB\"",
            &["fio --name=cross-check", "dd if=/dev/zero", "bonnie++ -d FOLDER/bonnie"],
        ),
        ("boot", "bus = \"nvme\"", &["qemu-system-x86_64 -machine q35", "file=DEVICE,if=none", "nvme,drive=drive"]),
    ];
    for (kind, told, commands) in table {
        let plan = plan(&place, kind, told);
        if !rustix::process::geteuid().is_root() {
            return skip("trials need root, and so does their dry run");
        }
        let said = place.assay(&["review", DRIVE, "--dry-run", "--plan", &plan]);
        if said.code != Some(0) && said.stderr.contains("not installed") {
            skip(&said.stderr);
            continue;
        }
        let json = place.succeeds(&["review", DRIVE, "--dry-run", "--format", "json", "--plan", &plan]);
        for command in commands {
            assert!(said.stdout.contains(command), "{command}: {}{}", said.stdout, said.stderr);
            assert!(json.contains(command), "{command}: {json}");
        }
    }
}

#[test]
fn a_database_that_a_plan_sets_up_starts_nothing_else() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place.path("disk"), 600) else { return };
    if tool("pgbench").is_none() && !Path::new("/usr/lib/postgresql").exists() {
        return skip("there is no PostgreSQL");
    }
    let told = "scale = 1\nclients = 2\ntransactions = 5\noptions = \"-n -M prepared\"\n\
                settings = \"synchronous_commit = off; checkpoint_timeout = '1 min'\"\nverify = \"no\"";
    let plan = plan(&place, "database", told);
    place.succeeds(&["review", &device.0, "--plan", &plan]);
}

#[test]
fn promises_that_stand_in_a_strangers_file_are_not_kept() {
    let place = Place::new();
    let (kept, book) = (place.path("kept"), place.path("1-2-0.json"));
    fs::write(&kept, "kept").unwrap();
    fs::write(&book, format!("[{{\"remove\": \"{}\"}}]", kept.display())).unwrap();
    let mut command = place.command(&["aftermath", "1", &book.display().to_string()]);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "it took the promises");
    assert!(String::from_utf8_lossy(&output.stderr).contains("assay starts this command itself"), "{output:?}");
    assert!(kept.exists(), "a stranger's file had a file removed");
}
