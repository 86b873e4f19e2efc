//! A simulated drive as the disk of a virtual machine that shares its memory: a small Linux boots, uses it, and says what it
//! found. Run with `--features vhost-user`.
#![cfg(feature = "vhost-user")]

mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Place, other, skip, tool};

const DRIVE: &str = "x25-m?capacity.user=1GiB";
/// In the order in which they need each other.
const MODULES: [&str; 6] =
    ["virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk"];

/// A kernel with its modules and busybox, which `scripts/tools` fetches from Debian.
fn guest() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guest");
    let parts = MODULES.map(|module| format!("{module}.ko"));
    let missing =
        parts.iter().map(String::as_str).chain(["vmlinuz", "busybox"]).find(|part| !folder.join(part).exists());
    if let Some(part) = missing {
        skip(&format!("there is no target/guest/{part}; scripts/tools fetches it"));
        return None;
    }
    let program = ["qemu-system-x86_64", "setsid"].into_iter().find(|program| tool(program).is_none());
    program.iter().for_each(|program| skip(&format!("there is no {program}")));
    program.is_none().then_some(folder)
}

/// Boots a machine with the drive at `socket` as its disk, has it carry out `script`, and gives what it said.
fn boot(place: &Place, guest: &Path, socket: &str, script: &str) -> String {
    let root = place.path("root");
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::copy(guest.join("busybox"), root.join("bin/busybox")).unwrap();
    for module in MODULES {
        fs::copy(guest.join(format!("{module}.ko")), root.join(format!("{module}.ko"))).unwrap();
    }
    let init = format!(
        "#!/bin/busybox sh\nb=/bin/busybox\n$b mkdir -p /dev /proc /sys\n$b mount -t devtmpfs none /dev\n$b mount -t proc none /proc\n\
         $b mount -t sysfs none /sys\nfor m in {}; do $b insmod /$m.ko; done\n{script}\n$b poweroff -f\n",
        MODULES.join(" ")
    );
    fs::write(root.join("init"), init).unwrap();
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755)).unwrap();
    let pack = "find . | bin/busybox cpio -o -H newc > ../initrd";
    assert!(Command::new("sh").args(["-c", pack]).current_dir(&root).stderr(Stdio::null()).status().unwrap().success());
    let [kernel, initrd] = [guest.join("vmlinuz"), place.path("initrd")].map(|path| path.display().to_string());
    let disk = format!("socket,id=disk,path={socket}");
    other(
        "timeout",
        &[
            &["120", "qemu-system-x86_64", "-accel", "tcg", "-m", "256M", "-nographic", "-nodefaults", "-no-reboot"][..],
            &["-object", "memory-backend-memfd,id=memory,size=256M,share=on", "-machine", "q35,memory-backend=memory"],
            &["-kernel", &kernel, "-initrd", &initrd, "-append", "console=ttyS0 quiet panic=-1", "-serial", "stdio"],
            &["-chardev", &disk, "-device", "vhost-user-blk-pci,chardev=disk"],
        ]
        .concat(),
    )
}

#[test]
fn a_machine_writes_reads_and_trims_its_disk_and_the_next_one_finds_it_so() {
    let Some(guest) = guest() else { return };
    let place = Place::new();
    let [socket, backing] = ["disk.sock", "data"].map(|name| place.path(name).display().to_string());
    place.succeeds(&["attach", DRIVE, "--vhost-user", &socket, "--backing", &backing, "--daemon"]);
    // One that is no monitor keeps none away.
    for length in [1, 12, 500] {
        UnixStream::connect(&socket).unwrap().write_all(&vec![0xa5; length]).ok();
    }
    let said = boot(
        &place,
        &guest,
        &socket,
        "$b cat /sys/block/vda/size /sys/block/vda/serial /sys/block/vda/queue/write_cache\n\
         $b dd if=/dev/zero bs=1M count=4 | $b tr '\\0' x > /x\n\
         $b dd if=/x of=/dev/vda bs=1M oflag=direct seek=3 conv=fsync\n\
         $b blkdiscard -o 4194304 -l 1048576 /dev/vda\n\
         $b dd if=/dev/vda bs=1M skip=3 count=1 iflag=direct | $b cmp -n 1048576 - /x && echo RESULT written\n\
         $b dd if=/dev/vda bs=1M skip=4 count=1 iflag=direct | $b cmp -n 1048576 - /dev/zero && echo RESULT trimmed\n\
         $b dd if=/dev/vda bs=512 skip=2097152 count=1 2>/dev/null | $b wc -c",
    );
    for expected in ["2097152", "assay", "write back", "RESULT written", "RESULT trimmed"] {
        assert!(said.contains(expected), "no {expected:?} in {said}");
    }
    let listed = place.succeeds(&["attached"]);
    assert!(listed.contains(&socket), "{listed}");
    place.succeeds(&["fault", &socket, "read-error@8192-8199"]);
    let said = boot(
        &place,
        &guest,
        &socket,
        "$b dd if=/dev/vda bs=1M skip=5 count=2 | $b tr -d x | $b wc -c | $b sed s/^/LEFT=/\n\
         $b dd if=/dev/vda bs=4k skip=1024 count=1 iflag=direct || echo RESULT refused",
    );
    assert!(said.contains("LEFT=0") && said.contains("RESULT refused"), "{said}");
    place.succeeds(&["detach", &socket]);
    assert!(!Path::new(&socket).exists());
    let again = place.assay(&["attach", DRIVE, "--vhost-user", &socket, "--backing", &backing, "--daemon"]);
    assert!(again.stderr.contains("data.state, after 4 MiB written"), "{}", again.stderr);
    place.succeeds(&["detach", &socket]);
    let data = fs::File::open(&backing).unwrap();
    let at = |offset| {
        let mut byte = [0];
        data.read_exact_at(&mut byte, offset).unwrap();
        byte[0]
    };
    assert_eq!([3 << 20, 4 << 20, 5 << 20, (7 << 20) - 1, 7 << 20].map(at), [b'x', 0, b'x', b'x', 0]);
}
