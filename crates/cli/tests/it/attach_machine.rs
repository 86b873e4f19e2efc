//! A simulated drive as the disk of a virtual machine that shares its memory: a small Linux boots, uses it, and says what it
//! found. Run with `--features vhost-user`.
use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use testkit::until;

use crate::support::Place;
use crate::support::guest::Guest;

const DRIVE: &str = "x25-m?capacity.user=1GiB";
/// In the order in which they need each other.
const MODULES: [&str; 6] =
    ["virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk"];

/// Boots a machine with the drive at `socket` as its disk, has it carry out `script`, and gives what it said.
fn boot(place: &Place, guest: &Guest, socket: &str, script: &str) -> String {
    let disk = format!("socket,id=disk,path={socket}");
    let shared =
        ["-object", "memory-backend-memfd,id=memory,size=256M,share=on", "-machine", "q35,memory-backend=memory"];
    let more = ["-chardev", &disk, "-device", "vhost-user-blk-pci,chardev=disk"];
    guest.boot(place, &[], script, "256M", &[shared, more].concat())
}

#[test]
fn a_machine_writes_reads_and_trims_its_disk_and_the_next_one_finds_it_so() {
    let Some(guest) = Guest::find("guest", &MODULES, &["setsid"]) else { return };
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
        "cat /sys/block/vda/size /sys/block/vda/serial /sys/block/vda/queue/write_cache\n\
         dd if=/dev/zero bs=1M count=4 | tr '\\0' x > /x\n\
         dd if=/x of=/dev/vda bs=1M oflag=direct seek=3 conv=fsync\n\
         blkdiscard -o 4194304 -l 1048576 /dev/vda\n\
         dd if=/dev/vda bs=1M skip=3 count=1 iflag=direct | cmp -n 1048576 - /x && echo RESULT written\n\
         dd if=/dev/vda bs=1M skip=4 count=1 iflag=direct | cmp -n 1048576 - /dev/zero && echo RESULT trimmed\n\
         dd if=/dev/vda bs=512 skip=2097152 count=1 2>/dev/null | wc -c",
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
        "dd if=/dev/vda bs=1M skip=5 count=2 | tr -d x | wc -c | sed s/^/LEFT=/\n\
         dd if=/dev/vda bs=4k skip=1024 count=1 iflag=direct || echo RESULT refused",
    );
    assert!(said.contains("LEFT=0") && said.contains("RESULT refused"), "{said}");
    // The server may see a moment later than we do that the machine has ended.
    until("it is detached", || place.assay(&["detach", &socket]).code == Some(0));
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
