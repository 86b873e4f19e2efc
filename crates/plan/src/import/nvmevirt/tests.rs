use std::path::Path;

use block::Bytes;
use drive::preset::Preset;

use super::super::{DriveImport, Severity, render};
use super::*;

/// A header with a conventional drive and one in zones, in the way of NVMeVirt's.
const HEADER: &str = "\
// SPDX-License-Identifier: GPL-2.0-only
#ifndef _CONFIG_H
#define _CONFIG_H
#define FAST 0
#define CONV 1 /* a drive */
#define ZONES 2
#define CELL_MODE_MLC 2
#if (BASE_SSD == FAST)
#define NS_SSD_TYPE_0 SSD_TYPE_NVM
#elif (BASE_SSD == CONV)
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define CELL_MODE (CELL_MODE_MLC)
#define SSD_PARTITIONS (4)
#define NAND_CHANNELS (8)
#define LUNS_PER_NAND_CH (2)
#define FLASH_PAGE_SIZE KB(32)
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 1)
#define BLKS_PER_PLN (1024)
#define NAND_CHANNEL_BANDWIDTH (800ull) //MB/s
#define PCIE_BANDWIDTH (3200ull)
#define NAND_4KB_READ_LATENCY_LSB (36000 - 6000) //ns
#define NAND_4KB_READ_LATENCY_MSB (36000 + 6000)
#define NAND_4KB_READ_LATENCY_CSB (0)
#define NAND_READ_LATENCY_LSB (36000 - 6000)
#define NAND_READ_LATENCY_MSB (36000 + 6000)
#define NAND_READ_LATENCY_CSB (0)
#define NAND_PROG_LATENCY (185000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (20000)
#define FW_READ_LATENCY (20000)
#define FW_WBUF_LATENCY0 (4000)
#define FW_WBUF_LATENCY1 (460)
#define FW_CH_XFER_LATENCY (0)
#define OP_AREA_PERCENT (0.07)
#define GLOBAL_WB_SIZE (NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)
#define WRITE_EARLY_COMPLETION 1
#elif (BASE_SSD == ZONES)
#define NS_SSD_TYPE_0 SSD_TYPE_ZNS
#define NAND_CHANNELS (8)
#define LUNS_PER_NAND_CH (4)
#define DIES_PER_ZONE (NAND_CHANNELS * LUNS_PER_NAND_CH)
#define FLASH_PAGE_SIZE KB(32)
#if 0
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 3)
#define ZONE_SIZE MB(96)
#else
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 2)
#define ZONE_SIZE MB(64)
#endif
static_assert((ONESHOT_PAGE_SIZE % FLASH_PAGE_SIZE) == 0);
#define NAND_CHANNEL_BANDWIDTH (450ull)
#define PCIE_BANDWIDTH (3050ull)
#define NAND_4KB_READ_LATENCY_LSB (50000)
#define NAND_4KB_READ_LATENCY_MSB (50000)
#define NAND_4KB_READ_LATENCY_CSB (50000)
#define NAND_READ_LATENCY_LSB (50000)
#define NAND_READ_LATENCY_MSB (50000)
#define NAND_READ_LATENCY_CSB (50000)
#define NAND_PROG_LATENCY (561000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (20000)
#define FW_READ_LATENCY (20000)
#define FW_WBUF_LATENCY0 (5600)
#define FW_WBUF_LATENCY1 (600)
#define FW_CH_XFER_LATENCY (0)
#define OP_AREA_PERCENT (0)
#define ZONE_WB_SIZE (10 * ONESHOT_PAGE_SIZE)
#define GLOBAL_WB_SIZE (0)
#define WRITE_EARLY_COMPLETION 1
#define BLKS_PER_PLN 0
#define BLK_SIZE (ZONE_SIZE / DIES_PER_ZONE)
#endif
#define NS_SSD_TYPE(ns) (ns_ssd_type[ns])
#endif
";

fn read(text: &str, drive: Option<&str>) -> DriveImport {
    import(Path::new("ssd_config.h"), text, NvmevirtRequest { drive, memory: Some(Bytes::from_gib(4)) })
}

fn told(import: &DriveImport) -> String {
    render(&import.notices, &import.sources, false)
}

fn drive(text: &str, name: &str) -> String {
    let import = read(text, Some(name));
    import.drive.clone().unwrap_or_else(|| panic!("{}", told(&import)))
}

fn refused(text: &str, name: Option<&str>) -> String {
    let import = read(text, name);
    assert!(import.is_refused() && import.drive.is_none(), "{}", told(&import));
    assert!(told(&import).contains("--> ssd_config.h:"), "{}", told(&import));
    told(&import)
}

/// The header with the value of a definition of the conventional drive changed.
fn changed(name: &str, value: &str) -> String {
    let (first, rest) = HEADER.split_once(&format!("#define {name} ")).unwrap();
    format!("{first}#define {name} {value}\n{}", rest.split_once('\n').unwrap().1)
}

#[test]
fn a_conventional_drive_has_the_sizes_and_times_of_its_definitions() {
    let text = drive(HEADER, "CONV");
    for line in [
        "name = \"conv\"",
        "channels = 8",
        "dies_per_channel = 2",
        // 1 GiB of a partition over 1,024 blocks of 4 dies are 256 KiB, 64 pages.
        "pages_per_block = 64",
        "program = \"32768 B\"",
        // 4 GiB · 100 / 107, in whole pages.
        "user = \"4013985792 B\"",
        "read = \"36000 ns\"",
        "read_by_page = [\"83.3333%\", \"116.6667%\"]",
        // 128 B in 152 ns: 128 s / 800 MiB, rounded down.
        "channel = \"842105263 B/s\"",
        "erase = \"1000 ns\"",
        "command = \"4000 ns\"",
        "decode = \"16000 ns\"",
        "size = \"1048576 B\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let slower = drive(&changed("FW_CH_XFER_LATENCY", "(413)"), "CONV");
    // 413 ns for 4 KiB are 12 for 128 B, in whole ns.
    assert!(slower.contains("channel = \"780487804 B/s\""), "{slower}");
    assert!(text.contains("program: NAND_PROG_LATENCY (line 27)"), "{text}");
}

#[test]
fn a_drive_in_zones_has_a_block_of_each_die_to_a_zone() {
    let text = drive(HEADER, "ZONES");
    for line in
        ["size = \"67108864 B\"", "zone_capacity = \"67108864 B\"", "pages_per_block = 512", "program = \"65536 B\""]
    {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn one_drive_is_chosen_by_its_name_or_by_the_header() {
    let several = refused(HEADER, None);
    assert!(several.contains("the file has 2 drives: CONV, ZONES") && several.contains("--base-ssd CONV"), "{several}");
    assert!(refused(HEADER, Some("COMV")).contains("did you mean `CONV`?"));
    assert!(refused(HEADER, Some("FAST")).contains("no flash and no model of it"));
    let named = HEADER.replace("#define FAST 0", "#define FAST 0\n#define BASE_SSD ZONES");
    assert!(read(&named, None).drive.unwrap().contains("name = \"zones\""));
    assert!(read(&named, Some("CONV")).drive.unwrap().contains("name = \"conv\""));
    let only = HEADER.replace("#elif (BASE_SSD == CONV)", "#else");
    let only = only.split("#elif (BASE_SSD == ZONES)").next().unwrap().to_owned() + "#endif\n#endif\n";
    let import = read(&only, None);
    assert!(told(&import).contains("there is no drive with flash") || import.drive.is_some(), "{}", told(&import));
}

#[test]
fn conditions_are_those_of_the_preprocessor() {
    for (condition, is_taken) in [
        ("1", true),
        ("0", false),
        ("NOT_DEFINED", false),
        ("!NOT_DEFINED", true),
        ("defined(FAST) && !defined(SLOW)", true),
        ("(BASE_SSD == FAST || BASE_SSD == CONV)", true),
        ("BASE_SSD != CONV", false),
        ("ZONES > CONV", true),
    ] {
        let header = changed(
            "NAND_PROG_LATENCY",
            &format!("1000\n#if {condition}\n#undef NAND_PROG_LATENCY\n#define NAND_PROG_LATENCY 77000\n#endif"),
        );
        assert_eq!(drive(&header, "CONV").contains("program = \"77000 ns\""), is_taken, "{condition}");
        let other = header.replace("#undef NAND", "#elif 1\n#else\n#undef NAND");
        assert!(drive(&other, "CONV").contains("program = \"1000 ns\""), "{condition}: another part was taken");
    }
    let header =
        changed("NAND_PROG_LATENCY", "1000\n#if __has_include(<a.h>)\n#define NAND_PROG_LATENCY 77000\n#endif");
    let import = read(&header, Some("CONV"));
    assert!(told(&import).contains("the condition is not understood"), "{}", told(&import));
}

#[test]
fn what_a_definition_cannot_be_is_refused_with_what_would_be_right() {
    for (name, value, words) in [
        ("NAND_CHANNELS", "(0)", "from 1 to 1024"),
        ("NAND_CHANNELS", "(8 << 1)", "`<` is not understood here"),
        ("NAND_CHANNELS", "channels()", "`channels(…)` is not understood"),
        ("NAND_CHANNELS", "NAND_CHANNELS + 1", "more than 64 deep"),
        ("NAND_CHANNELS", "(6)", "a number that divides NAND_CHANNELS"),
        ("NAND_PROG_LATENCY", "UNKNOWN_TIME", "`UNKNOWN_TIME` is not defined in the file"),
        ("NAND_PROG_LATENCY", "(-5)", "give a whole number"),
        ("NAND_PROG_LATENCY", "1.5", "give a whole number"),
        ("ONESHOT_PAGE_SIZE", "KB(48)", "whole flash pages"),
        ("FLASH_PAGE_SIZE", "5000", "whole pages"),
        ("BLKS_PER_PLN", "(0)\n#define BLK_SIZE GB(1024)", "16384 at most; give a smaller --size"),
        ("OP_AREA_PERCENT", "(1 / 0)", "divides by 0"),
        ("OP_AREA_PERCENT", "-0.5", "give a number"),
    ] {
        let shown = refused(&changed(name, value), Some("CONV"));
        assert!(shown.contains(words), "{name} {value}\n{shown}");
    }
    let missing = HEADER.replacen("#define NAND_PROG_LATENCY (185000)\n", "", 1);
    assert!(refused(&missing, Some("CONV")).contains("`NAND_PROG_LATENCY` is not given"));
    assert!(refused("#pragma once\nint a;\n", None).contains("there is no drive with flash"));
}

#[test]
fn what_nvmevirt_has_and_the_model_has_not_is_told_with_its_line() {
    for (name, value, words) in [
        ("NAND_READ_LATENCY_LSB", "60000", "one for more takes"),
        ("FW_READ_LATENCY", "30490", "30490 ns in NVMeVirt"),
        ("FW_WBUF_LATENCY0", "30000", "10000 ns less than in NVMeVirt"),
        ("SSD_PARTITIONS", "(4)\n#define PLNS_PER_LUN (2)", "a die has one plane"),
        ("SSD_PARTITIONS", "(4)\n#define SLC_PORTION (2)", "`SLC_PORTION` is no field of NVMeVirt's here"),
        (
            "NS_SSD_TYPE_0 SSD_TYPE_CONV\n#define CELL_MODE",
            "(CELL_MODE_MLC)\n#undef NS_SSD_TYPE_0\n#define NS_SSD_TYPE_0 SSD_TYPE_FDP",
            "no kind of NVMeVirt's own",
        ),
    ] {
        let import = read(&changed(name, value), Some("CONV"));
        let found: Vec<_> = import.notices.iter().filter(|notice| notice.severity == Severity::Warning).collect();
        let [only] = &found[..] else { panic!("{name}: {}", told(&import)) };
        assert!(only.to_string().contains(words), "{name}: {only}");
        assert!(import.drive.unwrap().contains(words), "{name} is not in the file's comments");
    }
}

#[test]
fn a_block_larger_than_the_models_is_several() {
    let import = read(&changed("BLKS_PER_PLN", "(2)"), Some("CONV"));
    assert!(told(&import).contains("a block has 32768 pages of 4 KiB"), "{}", told(&import));
    assert!(import.drive.unwrap().contains("pages_per_block = 16384"));
}

#[test]
fn a_header_that_runs_away_is_refused() {
    let doubling: String = (1..26).map(|n| format!("#define A{n} (A{} + A{})\n", n - 1, n - 1)).collect();
    let header = changed("NAND_PROG_LATENCY", "A25") + "#define A0 1\n" + &doubling;
    assert!(refused(&header, Some("CONV")).contains("more than 100000 operations"));
    let deep = "#if (BASE_SSD == X)\n".repeat(20_000);
    let _ = refused(&deep, None);
    let _ = refused(&("#define A \\\n".repeat(20_000) + "1"), None);
    let many: String =
        (0..20_000).map(|n| format!("#if BASE_SSD == D{n}\n#define NAND_CHANNELS 8\n#endif\n")).collect();
    let _ = refused(&many, None);
}

#[test]
fn whatever_is_cut_out_or_put_in_is_refused_or_makes_what_can_be_used() {
    let put = ["", "0", "-", "999999999999", "/*", "//", "\"", "\\\n", "#endif\n", "é", "(", ")", "<<", "KB("];
    let mut count = [0; 2];
    for (at, put) in (0..HEADER.len()).step_by(3).zip(put.iter().cycle()) {
        for (length, name) in [(0, "CONV"), (1, "ZONES"), (5, "CONV")] {
            let end = (at + length).min(HEADER.len());
            let changed = format!("{}{put}{}", &HEADER[..at], &HEADER[end..]);
            let import = read(&changed, Some(name));
            count[usize::from(import.is_refused())] += 1;
            assert_eq!(import.is_refused(), import.drive.is_none(), "{changed}");
            assert!(!told(&import).is_empty() || !import.is_refused());
            import.drive.iter().for_each(|drive| drop(Preset::parse(drive).unwrap()));
        }
    }
    assert!(count.iter().all(|count| *count > 50), "{count:?}");
}
