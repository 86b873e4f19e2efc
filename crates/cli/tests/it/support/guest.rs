//! A small Linux in a virtual machine that is emulated: a kernel, its modules, busybox, and a script.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Place, other, skip, tool};

/// After so many seconds a machine is ended: one that does all that it is asked takes a tenth of it.
const PATIENCE: &str = "900";

/// How some modules are loaded: NVMe with poll queues, and what makes drives up with none.
const PARAMETERS: [(&str, &str); 3] =
    [("nvme", "poll_queues=1"), ("null_blk", "nr_devices=0"), ("scsi_debug", "add_host=0")];

/// What the kernel is told. On a busy machine it would take an emulated clock for broken.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 no_timer_check";

/// A kernel with its modules and busybox, which `scripts/tools` fetches from Debian.
pub struct Guest {
    folder: PathBuf,
    /// In the order in which they need each other.
    modules: Vec<String>,
}

/// What a command in a machine said on both streams, and how it ended.
pub struct Ended {
    pub said: String,
    pub code: i32,
}

/// Before what a command says, and before how it ended.
const BEGINS: &str = "@begin";
const ENDS: &str = "@end";

/// Why there is no kernel with modules in this folder of `target`, if there is none.
pub fn lacking(folder: &str) -> Option<String> {
    let order = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(folder).join("order");
    let why = || format!("there is no target/{folder}/order; scripts/tools fetches kernel and modules");
    (!order.exists()).then(why)
}

impl Guest {
    /// That of a folder in `target`, with these modules in the order in which they need each other. If it or one of these
    /// programs is missing, that is said.
    pub fn find(folder: &str, modules: &[&str], programs: &[&str]) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(folder);
        // Where `scripts/tools` has written the order down, it has taken all that these need.
        let order = fs::read_to_string(path.join("order"));
        let modules = match &order {
            Ok(order) => order.lines().map(|module| format!("modules/{module}")).collect(),
            Err(_) if modules.is_empty() => {
                skip(&lacking(folder)?);
                return None;
            }
            Err(_) => modules.iter().map(|module| (*module).to_owned()).collect::<Vec<_>>(),
        };
        let parts = modules.iter().map(|module| format!("{module}.ko"));
        let mut parts = parts.chain(["vmlinuz", "busybox"].map(str::to_owned));
        if let Some(part) = parts.find(|part| !path.join(part).exists()) {
            skip(&format!("there is no target/{folder}/{part}; scripts/tools fetches it"));
            return None;
        }
        let mut programs = programs.iter().chain(&["qemu-system-x86_64"]);
        if let Some(program) = programs.find(|program| tool(program).is_none()) {
            skip(&format!("there is no {program}"));
            return None;
        }
        Some(Self { folder: path, modules })
    }

    /// The programs and libraries beside the kernel.
    pub fn programs(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let is_other = |path: &PathBuf| ["vmlinuz", "busybox", "order"].iter().any(|name| path.ends_with(name));
        files.filter(|path| path.is_file() && !is_other(path)).collect()
    }

    /// Boots a machine as [`boot`](Self::boot), which does `prepare` and then these commands of a shell, each in a shell of
    /// its own; how each ended.
    pub fn carry_out(
        &self,
        place: &Place,
        programs: &[&Path],
        (prepare, commands): (&str, &[String]),
        memory: &str,
        more: &[&str],
    ) -> Vec<Ended> {
        let mut script = format!("dmesg -n 1\n{prepare}\n");
        for (number, command) in commands.iter().enumerate() {
            let path = place.path("root/commands").join(number.to_string());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, command).unwrap();
            script += &format!(
                "echo '{BEGINS} {number}'; sh /commands/{number} 2>&1 </dev/null; echo \"{ENDS} {number} $?\"\n"
            );
        }
        let said = self.boot(place, programs, &script, memory, more).replace('\r', "\n");
        let ended = |number: usize| {
            let (_, rest) = said.split_once(&format!("{BEGINS} {number}\n"))?;
            let (own, rest) = rest.split_once(&format!("{ENDS} {number} "))?;
            Some(Ended { said: own.to_owned(), code: rest.split_whitespace().next()?.parse().ok()? })
        };
        let command = |number: usize| &commands[number];
        (0..commands.len())
            .map(|number| ended(number).unwrap_or_else(|| panic!("no end of {}:\n{said}", command(number))))
            .collect()
    }

    /// Boots a machine with this memory and more of QEMU's options, in whose `/sbin` are these programs of this machine, has it
    /// carry out `script`, and gives what it said.
    pub fn boot(&self, place: &Place, programs: &[&Path], script: &str, memory: &str, more: &[&str]) -> String {
        let root = place.path("root");
        for folder in ["bin", "sbin", "dev", "proc", "sys", "run", "mnt", "tmp", "var/tmp"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::copy(self.folder.join("busybox"), root.join("bin/busybox")).unwrap();
        fs::create_dir_all(root.join("modules")).unwrap();
        for module in &self.modules {
            fs::copy(self.folder.join(format!("{module}.ko")), root.join(format!("{module}.ko"))).unwrap();
        }
        fs::create_dir_all(root.join("parameters")).unwrap();
        // What is loaded on demand, where `modprobe` would look for it once its name of the kernel is known.
        for module in fs::read_dir(self.folder.join("spare")).into_iter().flatten() {
            fs::create_dir_all(root.join("spare")).unwrap();
            let module = module.unwrap();
            fs::copy(module.path(), root.join("spare").join(module.file_name())).unwrap();
        }
        for (module, parameters) in PARAMETERS {
            fs::write(root.join("parameters").join(module), parameters).unwrap();
        }
        programs.iter().for_each(|program| take(program, &root));
        let init = format!(
            "#!/bin/busybox sh\n/bin/busybox --install -s /bin\nexport PATH=/sbin:/bin HOME=/tmp\nmount -t devtmpfs none /dev\n\
             mount -t proc none /proc\nmount -t sysfs none /sys\nmount -t tmpfs -o size=3g none /run\n\
             export ASSAY_STORE=/tmp/store.sqlite NO_COLOR=1\n\
             for m in {}; do insmod /$m.ko $(cat /parameters/${{m##*/}} 2>/dev/null); done\n{script}\npoweroff -f\n",
            self.modules.join(" ")
        );
        fs::write(root.join("init"), init).unwrap();
        fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755)).unwrap();
        let pack = "find . | bin/busybox cpio -o -H newc > ../initrd";
        let packed = Command::new("sh").args(["-c", pack]).current_dir(&root).stderr(Stdio::null()).status();
        assert!(packed.unwrap().success());
        let [kernel, initrd] =
            [self.folder.join("vmlinuz"), place.path("initrd")].map(|path| path.display().to_string());
        let machine = [
            &[PATIENCE, "qemu-system-x86_64", "-accel", "tcg", "-m", memory, "-nographic", "-nodefaults", "-no-reboot"]
                [..],
            &["-kernel", &kernel, "-initrd", &initrd, "-append", KERNEL, "-serial", "stdio"],
            more,
        ];
        other("timeout", &machine.concat())
    }
}

/// Copies a program of this machine, without what only a debugger needs, and the libraries that it is linked with.
fn take(program: &Path, root: &Path) {
    let name = program.file_name().unwrap();
    let is_library = name.to_string_lossy().contains(".so");
    let folder = root.join(if is_library { "usr/lib/x86_64-linux-gnu" } else { "sbin" });
    fs::create_dir_all(&folder).unwrap();
    let copy = folder.join(name);
    let stripped = tool("strip").map(|strip| Command::new(strip).arg("-o").args([&copy, program]).status());
    if !stripped.is_some_and(|status| status.unwrap().success()) {
        fs::copy(program, &copy).unwrap();
    }
    let linked = other("ldd", &[&program.display().to_string()]);
    let libraries: BTreeSet<_> = linked.split_whitespace().filter(|word| word.starts_with('/')).collect();
    for library in libraries {
        let copy = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
}
