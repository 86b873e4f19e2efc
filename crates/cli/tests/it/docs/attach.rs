//! The page on attached drives: what stands behind a prompt is typed, and what is printed is as the page shows it, but for
//! figures, the number of the device and where things are.

use std::fs;
use std::time::{Duration, Instant};

use super::page::{Block, Page};
use super::shell::{Instead, Shell};
use crate::support::attached::can_attach;
use crate::support::{other, skip, tool};

/// A drive that is soon full, shorter reads, a machine that is asked to end, and a load that keeps what it says to
/// itself.
const INSTEAD: [Instead; 6] = [
    ("x25-m --state", "'x25-m?capacity.user=1GiB' --state"),
    ("has the timing of x25-m; … It continues", "has the timing of x25-m?capacity.user=1GiB; … It continues"),
    ("after 160 GB", "after 2 GiB"),
    ("--runtime=10 ", "--runtime=1 "),
    ("if=virtio\n", "if=virtio -display none -monitor stdio <<<quit\n"),
    ("some-load /mnt &", "some-load /mnt >load.log 2>&1 &"),
];

/// How long anything may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command of a transcript, and what the page shows of what it prints.
struct Typed {
    command: String,
    shows: Vec<String>,
}

fn transcript(block: &Block) -> Vec<Typed> {
    let mut all: Vec<Typed> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Typed { command: format!("{command}\n"), shows: Vec::new() }),
            (None, Some(last)) if last.command.ends_with("\\\n") => last.command += &format!("{line}\n"),
            (None, last) => last.expect("it begins with a prompt").shows.push(line.to_owned()),
        }
    }
    all
}

/// Whether a line says what the page shows: word for word, with `…` for whatever is left out, and other figures.
fn says(shown: &[&str], said: &[&str]) -> bool {
    let figure =
        |word: &str| word.replace(',', "").parse::<f64>().is_ok() || ["–", "ns", "µs", "ms", "s"].contains(&word);
    match (shown.split_first(), said.split_first()) {
        (Some((&"…", rest)), _) => (0..=said.len()).any(|left_out| says(rest, &said[left_out..])),
        (Some((shown, rest)), Some((said, more))) => {
            (shown == said || figure(shown) && figure(said)) && says(rest, more)
        }
        (shown, said) => shown.is_none() && said.is_none(),
    }
}

/// The drive of a transcript, and where it is mounted; both are given up at the end, whatever comes.
struct Session<'s> {
    shell: &'s Shell,
    /// What the page calls `/dev/loop0` or `/home/me/drive.sock`.
    device: Option<String>,
    mounted: String,
}

impl<'s> Session<'s> {
    fn new(shell: &'s Shell) -> Self {
        let mounted = shell.place.path("mounted").display().to_string();
        fs::create_dir_all(&mounted).unwrap();
        Self { shell, device: None, mounted }
    }

    /// The words of the page with this machine's names.
    fn here(&self, words: &str) -> String {
        let device = self.device.as_deref().unwrap_or("/dev/loop0");
        let home = self.shell.place.path("").display().to_string();
        let words = self.shell.scaled(words).replace(" /mnt", &format!(" {}", self.mounted));
        let words = words.replace("/home/me/", &home).replace("/dev/loop0", device);
        words.replace("/loop0.json", &format!("/{}.json", device.trim_start_matches("/dev/")))
    }

    /// Types a command and holds what is printed against what the page shows.
    fn types(&mut self, typed: &Typed, at: &str) {
        let began = Instant::now();
        let command = self.here(&typed.command);
        let printed = self.shell.types(&format!("set +e\n{command}"));
        assert_eq!(printed.code, Some(0), "{at}: {command}{}{}", printed.out, printed.err);
        if command.starts_with("assay attach ") {
            self.device = printed.out.lines().next().map(str::to_owned);
        }
        if command.contains("assay detach ") {
            self.device = None;
        }
        let said = printed.out + &printed.err;
        for shown in typed.shows.iter().map(|line| self.here(line)) {
            let shown: Vec<&str> = shown.split_whitespace().collect();
            let found = said.lines().any(|line| says(&shown, &line.split_whitespace().collect::<Vec<_>>()));
            assert!(found, "{at}: {command}does not print `{}` but:\n{said}", shown.join(" "));
        }
        println!("{:5.1} s  {at}: {}", began.elapsed().as_secs_f64(), command.trim_end());
    }

    fn types_all(&mut self, block: &Block) {
        transcript(block).iter().for_each(|typed| self.types(typed, &block.at));
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        if mounts.contains(&self.mounted) {
            self.shell.types(&format!("umount '{}'", self.mounted));
        }
        if let Some(device) = self.device.take() {
            let detached = self.shell.types(&format!("assay detach '{device}'"));
            assert!(detached.code == Some(0) || std::thread::panicking(), "{device}: {}", detached.err);
        }
    }
}

/// The page in its order, each transcript with a drive of its own.
pub fn page(page: Page) {
    if !can_attach() {
        return;
    }
    let shell = Shell::new(&INSTEAD);
    assert_eq!(shell.types("truncate --size 64M disk.img").code, Some(0));
    for block in page.blocks().into_iter().filter(Block::is_transcript) {
        let kinds = ["--image", "--nbd", "--vhost-user", "--ublk", "kill -USR1"];
        let kind = kinds.into_iter().find(|kind| block.text.contains(kind));
        let needs: &[&str] = match kind {
            Some("--image") => &["sfdisk", "mkfs.ext4", "partx"],
            Some("--nbd") => &["nbdcopy", "fio", "qemu-system-x86_64"],
            Some("--vhost-user") => &["qemu-system-x86_64"],
            Some("kill -USR1") => &["mkfs.ext4", "fsck.ext4", "jq"],
            _ => &["mkfs.ext4"],
        };
        match (needs.iter().find(|program| tool(program).is_none()), kind) {
            (Some(missing), _) => skip(&format!("{}: there is no {missing}", block.at)),
            (None, Some("--image")) => image(&shell, &block),
            (None, Some("--vhost-user")) => machine(&shell, &block),
            (None, Some("--ublk"))
                if !cfg!(feature = "ublk") || shell.types("modprobe --dry-run --quiet ublk_drv").code != Some(0) =>
            {
                skip(&format!("{}: no ublk driver here, or none in this build", block.at));
            }
            (None, Some("kill -USR1")) => power(&shell, &block),
            (None, _) => Session::new(&shell).types_all(&block),
        }
    }
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}

/// An image with three partitions, a file system on the third.
fn image(shell: &Shell, block: &Block) {
    let made = shell.types(
        "printf 'label: gpt\\nsize=16MiB\\nsize=16MiB\\nsize=16MiB\\n' | sfdisk --quiet disk.img\n\
         mkfs.ext4 -q -E offset=$((33 << 20)) disk.img 16M",
    );
    assert_eq!(made.code, Some(0), "{}", made.err);
    Session::new(shell).types_all(block);
}

/// A machine that shares its memory, in a build that can serve one.
fn machine(shell: &Shell, block: &Block) {
    if !cfg!(feature = "vhost-user") {
        return skip("this build has no feature `vhost-user`");
    }
    let mut session = Session::new(shell);
    for mut typed in transcript(block) {
        // Whatever else the machine is to have.
        typed.command = typed.command.replace(" ...\n", " -display none -monitor stdio <<<quit\n");
        session.types(&typed, &block.at);
    }
}

/// A file system under load, whose drive loses its power.
fn power(shell: &Shell, block: &Block) {
    shell.program(
        "some-load",
        "touch ~/loading\nn=0; while dd if=/dev/zero of=$1/$n bs=64k count=4 conv=fsync; do n=$((n + 1)); done\nrm ~/loading",
    );
    let loading = shell.place.path("loading");
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "{}: {what} takes too long", block.at);
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let mut session = Session::new(shell);
    for (index, typed) in transcript(block).iter().enumerate() {
        if typed.command.starts_with("umount") {
            wait("the end of the load", &|| !loading.exists());
        }
        session.types(typed, &block.at);
        if index == 0 {
            // The page mounts what was made some time before.
            other("mkfs.ext4", &["-q", session.device.as_deref().unwrap()]);
        }
        if typed.command.starts_with("mount") {
            wait("the load", &|| shell.place.path("mounted/3").exists());
        }
    }
}
