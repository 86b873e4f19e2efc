//! A simulated drive as a block device by the ublk driver, in a virtual machine whose kernel has it. Run with
//! `--features ublk`.
use std::path::Path;

use crate::support::guest::Guest;
use crate::support::{Place, skip, tool};

/// What the scripts of all machines use. `at N FILE`: half a mebibyte of the device is what FILE begins with. The shell
/// takes busybox's own programs before others, which are called by their paths.
const WORDS: &str = r#"
attach() {
  device=$(assay attach 'x25-m?capacity.user=1GiB' --ublk --daemon "$@" 2>/run/said)
  cat /run/said
  pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' /run/assay/ublkb0.json)
  [ "$device" = /dev/ublkb0 ]
}
at() { dd if=$device bs=512k skip=$1 count=1 iflag=direct | cmp -s -n 524288 - $2; }
read_all() { dd if=$device of=/dev/null bs=4k iflag=direct & reader=$!; sleep 1; }
format() { mke2fs -q $device >/dev/null && mount $device /mnt; }
letters() { tr '\0' $1 </dev/zero | head -c $(($2 * 512)); }
gone() { ! ls /dev/ublk[bc]* && [ -z "$(ls /run/assay)" ]; }
"#;

/// Boots a machine that carries out these commands, each of which must succeed.
fn try_all(steps: &[(&str, &str)]) {
    let Some(guest) = Guest::find("guest-ublk", &["ublk_drv"], &["blkdiscard", "dd"]) else { return };
    let place = Place::new();
    let mut script = WORDS.to_owned();
    for (claim, command) in steps {
        script += &format!("if {command}; then echo 'DONE {claim}.'; else echo 'FAILED {claim}.'; fi\n");
    }
    let [discard, copy] = ["blkdiscard", "dd"].map(|name| tool(name).unwrap());
    let said = guest.boot(&place, &[Path::new(env!("CARGO_BIN_EXE_assay")), &discard, &copy], &script, "1G", &[]);
    for (claim, _) in steps {
        assert!(said.contains(&format!("DONE {claim}.")), "not done: {claim}\n{said}");
    }
}

#[test]
fn without_the_driver_it_is_told_what_to_do() {
    let place = Place::new();
    let refused = place.refuses(&["attach", "x25-m", "--ublk", "--nbd", "drive.sock"]);
    assert!(refused.contains("cannot be used with"), "{refused}");
    if Path::new("/dev/ublk-control").exists() {
        return skip("the driver is there");
    }
    let said = place.assay(&["attach", "x25-m?capacity.user=1GiB", "--ublk"]);
    assert!(said.stderr.contains("modprobe ublk_drv"), "{}", said.stderr);
    assert_eq!((said.stdout.as_str(), said.code), ("", Some(1)));
}

#[test]
fn programs_use_it_as_a_disk_and_it_goes_on_where_it_was() {
    try_all(&[
        ("the doctor finds the driver", "assay doctor | grep 'ok *ublk'"),
        ("it is attached", "attach --backing /run/data"),
        ("it is as large as the drive", "[ $(cat /sys/block/ublkb0/size) = 2097152 ]"),
        ("it has a cache", "[ \"$(cat /sys/block/ublkb0/queue/write_cache)\" = 'write back' ]"),
        ("it takes durable writes", "[ $(cat /sys/block/ublkb0/queue/fua) = 1 ]"),
        ("the data has been", "letters x 8192 >/run/x"),
        ("it is written", "dd if=/run/x of=$device bs=1M seek=3 oflag=direct conv=fsync"),
        ("it is trimmed", "blkdiscard -o 4194304 -l 1048576 $device"),
        ("it is filled with zeroes", "/sbin/blkdiscard -z -o 5242880 -l 524288 $device"),
        ("what was written is read", "at 6 /run/x && at 7 /run/x && at 11 /run/x && at 13 /run/x"),
        ("what was trimmed reads as zeroes", "at 8 /dev/zero && at 9 /dev/zero"),
        ("zeroes are read", "at 10 /dev/zero"),
        (
            "it takes many requests at once, each with its own data",
            "assay run $device --destroy-data $device --rw=randrw --bs=4k --iodepth=200 --number_ios=1000 --offset=64m \
             --size=64m --verify=crc32c 2>/dev/null",
        ),
        ("it is listed", "assay attached | grep $device"),
        (
            "it fails as it is told to",
            "assay fault $device read-error@8192-8199 && ! dd if=$device bs=4k skip=1024 count=1 iflag=direct",
        ),
        ("it is mended", "assay fault $device none && dd if=$device bs=4k skip=1024 count=1 iflag=direct >/dev/null"),
        ("it is not taken from a file system", "format && ! assay detach $device && kill -TERM $pid && sleep 1"),
        ("it is still served", "echo 1 >/mnt/file && sync && umount /mnt"),
        ("it is detached", "assay detach $device && gone"),
        ("its data is kept", "dd if=/run/data bs=1M skip=6 count=1 | cmp -s -n 1048576 - /run/x"),
        ("it is attached again", "attach --backing /run/data && grep 'continues from /run/data.state' /run/said"),
        ("its file system is there", "mount $device /mnt && [ $(cat /mnt/file) = 1 ] && umount /mnt"),
        ("it has partitions", "printf 'o\\nn\\np\\n1\\n\\n\\nw\\n' | fdisk $device && [ -b ${device}p1 ]"),
        ("it is detached with them", "assay detach $device && gone"),
        (
            "they are found again",
            "attach --backing /run/data --partitions && grep 'artition: /dev/ublkb0p1\\|artitions: /dev/ublkb0p1' /run/said",
        ),
        ("nothing is left", "assay detach $device && gone"),
    ]);
}

#[test]
fn what_is_left_of_a_server_that_is_killed_or_hangs_is_cleared_up() {
    try_all(&[
        ("it is read", "attach --backing /run/data && read_all"),
        ("a reader fails when the server is killed", "kill -9 $pid && ! wait $reader"),
        ("the disk is gone", "sleep 1; [ ! -e /dev/ublkb0 ] && [ -e /dev/ublkc0 ]"),
        ("that is told", "assay attached | grep 'its server is gone'"),
        ("it is cleared up", "assay detach $device && gone"),
        ("another one is mounted", "attach --backing /run/data --overwrite && format"),
        (
            "it is not cleared up while it is mounted",
            "kill -9 $pid && sleep 1 && ! assay detach $device && [ -e /dev/ublkc0 ]",
        ),
        ("it is cleared up when it is not", "umount /mnt; assay detach $device && gone"),
        ("another one is read", "attach --backing /run/data --overwrite && read_all"),
        ("its server hangs, which is told", "kill -STOP $pid && sleep 6 && assay attached | grep 'has not answered'"),
        ("it is not detached", "! assay detach $device"),
        ("it is ended", "assay detach --abort $device && gone"),
        ("who waited goes on", "wait $reader; true"),
    ]);
}

#[test]
fn a_power_cut_takes_back_what_was_neither_flushed_nor_durable() {
    try_all(&[
        ("it is attached", "attach --backing /run/data"),
        ("eight sectors are flushed", "letters a 8 | dd of=$device bs=4k iflag=fullblock oflag=direct conv=fsync"),
        ("two are durable", "letters c 2 | /sbin/dd of=$device bs=1k seek=8 iflag=fullblock oflag=direct,dsync"),
        ("three are neither", "letters b 3 | dd of=$device bs=1536 iflag=fullblock oflag=direct"),
        ("its power is cut", "kill -USR1 $pid && sleep 1 && ! dd if=$device bs=512 count=1 iflag=direct"),
        ("that is told", "assay attached | grep 'without power'"),
        ("it is attached again", "assay detach $device && attach --backing /run/data"),
        (
            "what must be there is",
            "[ $(dd if=$device bs=512 count=24 | tr '\\0' . | fold -w 512 | cut -c1 | tr -d '\\n') = aaaaaaaa........cc...... ]",
        ),
        ("it is detached", "assay detach $device && gone"),
    ]);
}
