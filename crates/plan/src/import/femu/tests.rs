use std::path::Path;

use drive::preset::Preset;

use super::super::{DriveImport, Severity, render};
use super::*;

/// A script as FEMU's `run-blackbox.sh` puts its options together.
const SCRIPT: &str = r#"#!/bin/bash
IMGDIR=$HOME/images
secsz=512 # sector size in bytes
secs_per_pg=8
pgs_per_blk=256
blks_per_pl=64
luns_per_ch=2
nchs=2
ssd_size=192
pg_rd_lat=40000
pg_wr_lat=200000

FEMU_OPTIONS="-device femu"
FEMU_OPTIONS=${FEMU_OPTIONS}",devsz_mb=${ssd_size}"
FEMU_OPTIONS=${FEMU_OPTIONS}",femu_mode=1,secsz=${secsz},secs_per_pg=$secs_per_pg"
FEMU_OPTIONS+=",pgs_per_blk=${pgs_per_blk},blks_per_pl=${blks_per_pl}"
FEMU_OPTIONS+=",luns_per_ch=${luns_per_ch}"",nchs=${nchs}"
FEMU_OPTIONS=${FEMU_OPTIONS}",pg_rd_lat=${pg_rd_lat},pg_wr_lat=${pg_wr_lat}"
echo ${FEMU_OPTIONS}
if [[ ! -e "$IMGDIR" ]]; then
	exit
fi
sudo ./qemu-system-x86_64 \
    -name "FEMU" -m 4G \
    -drive file=$IMGDIR/a.qcow2,if=none,id=hd0 \
    ${FEMU_OPTIONS} \
    -qmp unix:./qmp-sock,server,nowait 2>&1 | tee log
"#;

fn read(text: &str) -> DriveImport {
    import(Path::new("run.sh"), text)
}

fn told(import: &DriveImport) -> String {
    render(&import.notices, &import.sources, false)
}

fn drive(text: &str) -> String {
    let import = read(text);
    import.drive.clone().unwrap_or_else(|| panic!("{}", told(&import)))
}

fn refused(text: &str) -> String {
    let import = read(text);
    assert!(import.is_refused() && import.drive.is_none(), "{text}");
    let shown = told(&import);
    assert!(shown.contains("--> run.sh:"), "{shown}");
    shown
}

#[test]
fn a_script_becomes_a_drive_with_the_lines_of_its_variables() {
    let text = drive(SCRIPT);
    for line in [
        "channels = 2",
        "dies_per_channel = 2",
        "page = \"4096 B\"",
        "pages_per_block = 256",
        "user = \"201326592 B\"",
        // 4 dies of 64 blocks of 1 MiB are 256 MiB.
        "spare = \"33.3333%\"",
        "read = \"40000 ns\"",
        "program = \"200000 ns\"",
        "write_through = true",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("read: pg_rd_lat (line 10)"), "{text}");
    assert!(text.contains("erase: blk_er_lat (FEMU's default 2000000)"), "{text}");
    Preset::parse(&text).unwrap();
}

#[test]
fn a_line_of_options_alone_is_the_same_drive() {
    let line = "-device femu,devsz_mb=192,femu_mode=1,blks_per_pl=64,luns_per_ch=2,nchs=2";
    let of = |text: &str| {
        text.lines()
            .filter(|line| !line.contains("source"))
            .skip_while(|line| *line != "[capacity]")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&drive(line)), of(&drive(SCRIPT)));
}

#[test]
fn collection_begins_where_femu_finds_an_eighth_of_stale_pages() {
    // 256 blocks of 16 GiB, of which 12 GiB are the host's 192: a quarter are free at 75 %, 12 at 95 %. A fifteenth of
    // the host's, 12, is stale before a superblock has an eighth: 256 - 192 - 3 - 12 = 49.
    let start = |options: &str| {
        let text = drive(&format!("-device femu,femu_mode=1,{options}"));
        text.lines().find_map(|line| line.strip_prefix("start = ")).unwrap().to_owned()
    };
    assert_eq!(start("devsz_mb=12288"), "49");
    assert_eq!(start("devsz_mb=4096"), "64");
    assert_eq!(start("devsz_mb=12288,gc_thres_pcent=90"), "25");
    // 15 GiB: no room for an eighth, and 13 blocks to the end of what can be.
    assert_eq!(start("devsz_mb=15360"), "12");
    let other = drive("-device femu,femu_mode=1,devsz_mb=12288,gc_policy=cost-benefit");
    assert!(other.contains("policy = \"cost-benefit\""), "{other}");
    assert_eq!(start("devsz_mb=12288,gc_thres_pcent=100,gc_thres_pcent_high=100"), "2");
}

#[test]
fn a_drive_in_zones_has_a_block_of_each_plane_to_a_zone() {
    let text =
        drive("-device femu,devsz_mb=4096,femu_mode=3,zns_num_ch=8,zns_num_lun=4,zns_max_open=8,zns_max_active=8");
    // 4 GiB over 32 dies, 32 blocks and 16 KiB are 256 pages; times 32 dies, 2 planes and 16 KiB are 256 MiB.
    for line in [
        "size = \"268435456 B\"",
        "max_open = 8",
        "program = \"65536 B\"",
        "pages_per_block = 1024",
        "read = \"85000 ns\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let old =
        drive("-device femu,devsz_mb=4096,femu_mode=3,zns_num_ch=8,zns_num_lun=4,zns_read=40000,zns_write=200000");
    assert!(old.contains("size = \"134217728 B\"") && old.contains("read = \"40000 ns\""), "{old}");
    assert!(
        refused("-device femu,devsz_mb=4096,femu_mode=3,zns_flash_type=2").contains("1 (SLC), 3 (TLC) and 4 (QLC)")
    );
    let own = ",zns_pg_rd_lat=48000,zns_pg_wr_lat=850000,zns_blk_er_lat=3000000";
    let own = drive(&format!("-device femu,devsz_mb=4096,femu_mode=3,zns_flash_type=2{own}"));
    assert!(own.contains("read = \"48000 ns\"") && own.contains("erase: zns_blk_er_lat (line 1)"), "{own}");
    let three = "-device femu,devsz_mb=4096,femu_mode=3,zns_flash_type=3";
    assert!(told(&read(three)).contains("no whole number of flash pages"), "{}", told(&read(three)));
    drive(three);
}

#[test]
fn what_makes_no_drive_is_refused_with_the_reason() {
    for (text, words) in [
        ("-device femu,devsz_mb=4096", "no flash and no model of time"),
        ("-device femu,devsz_mb=4096,femu_mode=0", "the translation layer of an open-channel drive is the host's"),
        ("-device femu,devsz_mb=4096,femu_mode=5", "stores keys and values"),
        ("-device femu,devsz_mb=32768,femu_mode=1", "add it: `blks_per_pl=…`"),
        ("-device femu,devsz_mb=4k,femu_mode=1", "give a whole number"),
        ("-device femu,devsz_mb=-1,femu_mode=1", "give a whole number"),
        ("-device femu,devsz_mb=1,devsz_mb=2,femu_mode=1", "is given twice, first in line 1"),
        ("-device femu,femu_mode=1,secsz=512,secs_per_pg=7", "a page is"),
        ("-device femu,femu_mode=1,devsz_mb=$1", "an argument of the script's is not carried out"),
        ("-device femu,femu_mode=1,devsz_mb=$SIZE", "no environment variable is read"),
        ("-device femu,femu_mode=1,devsz_mb=$(cat size)", "a command's output is not carried out"),
        ("-device femu,femu_mode=1,devsz_mb=`cat size`", "a command's output is not carried out"),
        ("a=1024\nif true; then a=2048; fi\n-device femu,femu_mode=1,devsz_mb=$a", "assigned under a condition"),
        ("a=1024\n[ -z $b ] && a=2048\n-device femu,femu_mode=1,devsz_mb=$a", "assigned under a condition"),
        ("for a in 1 2; do\n-device femu,femu_mode=1,devsz_mb=$a\ndone", "`for` changes it"),
        ("read a\n-device femu,femu_mode=1,devsz_mb=$a", "`read` changes it"),
        ("f() { a=1024; }\n-device femu,femu_mode=1,devsz_mb=$a", "assigned under a condition"),
        ("a=(1 2)\n-device femu,femu_mode=1,devsz_mb=$a", "a list is not carried out"),
        ("-device femu,femu_mode=1,devsz_mb=1\n-device femu,femu_mode=1,devsz_mb=2", "not all are alike"),
        ("echo -device femu,femu_mode=1\ncat <<EOF\n-device femu,femu_mode=1\nEOF", "there is no device of FEMU's"),
        ("# -device femu,femu_mode=1", "there is no device of FEMU's"),
        ("", "there is no device of FEMU's"),
    ] {
        let shown = refused(text);
        assert!(shown.contains(words), "{text}\n{shown}");
    }
}

#[test]
fn what_is_not_known_of_a_name_alone_makes_no_difference() {
    let text = "-device femu,devsz_mb=4096,femu_mode=1,serial=$(uuidgen),id=$NAME";
    drive(text);
    let text = "EXTRA=$1\n-device femu,devsz_mb=4096,femu_mode=1$EXTRA";
    assert!(read(text).is_refused(), "the mode may be any: {}", told(&read(text)));
    let text = "-device femu,devsz_mb=4096,femu_mode=1,$EXTRA";
    assert!(told(&read(text)).contains("may be options"), "{}", told(&read(text)));
    drive(text);
}

#[test]
fn defaults_arithmetic_and_numbers_of_qemus_are_understood() {
    let text = "size=${SIZE:-1024}\nblocks=$((size / 4))\n\
                -device femu,devsz_mb=$size,femu_mode=1,nchs=2,luns_per_ch=4,entries=0x3ff,blks_per_pl=$blocks";
    let text = drive(text);
    assert!(text.contains("user = \"1073741824 B\"") && text.contains("queue_depth = 8192"), "{text}");
    assert!(
        text.contains(
            "spare: nchs (line 3), luns_per_ch (line 3), pls_per_lun (FEMU's default 1), blks_per_pl (line 2)"
        )
    );
}

#[test]
fn what_femu_has_and_the_model_has_not_is_told_with_its_line() {
    for (option, words) in [
        ("ch_xfer_lat=100", "neither does the drive"),
        ("namespaces=2", "one namespace"),
        ("gc_policy=oldest", "FEMU takes `greedy` for what it does not know"),
        ("subsys=a", "writes have no placement"),
        ("pg_rd_lta=4", "did you mean `pg_rd_lat`?"),
        ("stream_support=on", "is no field of FEMU's here"),
    ] {
        let import = read(&format!("a=1\n-device femu,devsz_mb=12288,femu_mode=1,{option}"));
        let found: Vec<_> = import.notices.iter().filter(|notice| notice.severity == Severity::Warning).collect();
        let [only] = &found[..] else { panic!("{option}: {}", told(&import)) };
        assert!(only.to_string().contains(words) && only.place.line == 2, "{option}: {only}");
        assert!(import.drive.unwrap().contains(words), "{option} is not in the file's comments");
    }
    let import = read("-device femu,devsz_mb=12288,femu_mode=4,nr_cu=2");
    assert!(told(&import).contains("what it computes is not simulated") && !import.is_refused(), "{}", told(&import));
    let import = read("source env.sh\n-device femu,devsz_mb=12288,femu_mode=1");
    assert!(told(&import).contains("another file is run here, which is not read"), "{}", told(&import));
}

#[test]
fn a_variable_that_doubles_is_refused_before_it_fills_memory() {
    let doubling = "a=femu\n".to_owned() + &"a=$a$a\n".repeat(64) + "-device $a,femu_mode=1";
    assert!(refused(&doubling).contains("more than 4 MiB"));
    let many = "a=".to_owned() + &"x".repeat(4096) + "\n" + &"b=$a\n".repeat(100_000);
    assert!(refused(&many).contains("more than 4 MiB"));
    let options = "-device femu,".to_owned() + &"a=1,".repeat(100_000);
    assert!(refused(&options).contains("more than 512 options"));
    let open = "\"$(${`$((".repeat(50_000);
    let _ = refused(&open);
    let _ = refused(&"if ".repeat(200_000));
    let arithmetic = format!("-device femu,femu_mode=1,devsz_mb=$(({}1))", "(".repeat(100_000));
    let _ = refused(&arithmetic);
}

#[test]
fn whatever_is_cut_out_or_put_in_is_refused_or_makes_what_can_be_used() {
    let put = ["", "0", "-", "999999999999", "$", "${", "$(", "`", "\"", "'", "\\", "é", ",,", "=", "<<", ";if"];
    let zoned = "-device femu,devsz_mb=4096,femu_mode=3,zns_num_ch=8,zns_num_lun=4,zns_num_blk=32,zns_flash_type=4\n";
    let mut count = [0; 2];
    for (text, (at, put)) in [SCRIPT, zoned]
        .iter()
        .flat_map(|text| (0..text.len()).step_by(3).zip(put.iter().cycle()).map(move |at| (text, at)))
    {
        for length in [0, 1, 5] {
            let end = (at + length).min(text.len());
            let changed = format!("{}{put}{}", &text[..at], &text[end..]);
            let import = read(&changed);
            count[usize::from(import.is_refused())] += 1;
            assert_eq!(import.is_refused(), import.drive.is_none(), "{changed}");
            assert!(!told(&import).is_empty() || !import.is_refused());
            import.drive.iter().for_each(|drive| drop(Preset::parse(drive).unwrap()));
        }
    }
    assert!(count.iter().all(|count| *count > 50), "{count:?}");
}
