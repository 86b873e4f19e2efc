//! Public run scripts of FEMU and headers of NVMeVirt, and of derivatives of both, and what becomes of each.
//!
//! `corpus/femu.toml` and `corpus/nvmevirt.toml` have what the files say, `…-outcomes.toml` what becomes of them. With `ASSAY_RECORD=1` in
//! the environment the latter are written anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use lab::import::nvmevirt::{self, NvmevirtRequest};
use lab::import::{DriveImport, Severity, femu, mqsim};
use toml::{Table, Value};

use crate::support::Place;
use crate::support::corpus::{corpus, hold};

fn tables(corpus_file: &str, name: &str) -> Vec<Table> {
    let text = std::fs::read_to_string(corpus(corpus_file)).unwrap();
    let corpus: Table = toml::from_str(&text).unwrap();
    corpus[name].as_array().unwrap().iter().map(|table| table.as_table().unwrap().clone()).collect()
}

fn text_of(table: &Table, key: &str) -> String {
    table[key].as_str().unwrap().to_owned()
}

/// The script of each source, as FEMU's scripts are built.
fn scripts() -> Vec<(String, String)> {
    let forms = tables("femu.toml", "form");
    let strings = |table: &Table| -> Vec<String> {
        table["options"].as_array().unwrap().iter().map(|option| option.as_str().unwrap().to_owned()).collect()
    };
    let mut all = Vec::new();
    for script in tables("femu.toml", "script") {
        let form = script.get("form").map(|name| forms.iter().find(|form| form["name"] == *name).unwrap());
        let mut variables = form.map_or_else(Table::new, |form| form["variables"].as_table().unwrap().clone());
        variables.extend(script.get("variables").into_iter().flat_map(|own| own.as_table().unwrap().clone()));
        let mut text = "#!/bin/bash\n".to_owned();
        for (name, value) in &variables {
            writeln!(text, "{name}={} # {name}", value.as_str().unwrap()).unwrap();
        }
        let options = strings(form.unwrap_or(&script));
        let device = match form {
            Some(_) => {
                text += "FEMU_OPTIONS=\"-device femu\"\n";
                for option in options {
                    writeln!(text, "FEMU_OPTIONS=${{FEMU_OPTIONS}}\",{option}\"").unwrap();
                }
                "echo ${FEMU_OPTIONS}\nsudo ./qemu-system-x86_64 -m 4G \\\n    ${FEMU_OPTIONS}".to_owned()
            }
            None => format!("sudo ./qemu-system-x86_64 -m 4G \\\n    -device femu,{}", options.join(",")),
        };
        writeln!(text, "{device} \\\n    -nographic 2>&1 | tee log").unwrap();
        all.push((text_of(&script, "source"), text));
    }
    all
}

/// What `now` has in place of `before`: `false` is not there.
fn changed(before: &Table, now: &Table) -> Table {
    let mut all = before.clone();
    for (name, value) in now {
        match value.as_str() {
            Some(_) => drop(all.insert(name.clone(), value.clone())),
            None => drop(all.remove(name)),
        }
    }
    all
}

fn defined(definitions: &Table) -> String {
    let line = |(name, value): (&String, &Value)| format!("#define {name} {}\n", value.as_str().unwrap());
    definitions.iter().map(line).collect()
}

/// The header of each source, and the names of its drives.
fn headers() -> Vec<(String, String, Vec<String>)> {
    let (mut shared, mut first): (Table, Vec<(String, Table)>) = (Table::new(), Vec::new());
    let mut all = Vec::new();
    for header in tables("nvmevirt.toml", "header") {
        let definitions = changed(&shared, header["definitions"].as_table().unwrap());
        let mut text = format!("#ifndef _SSD_CONFIG_H\n#define _SSD_CONFIG_H\n{}", defined(&definitions));
        let mut drives = Vec::new();
        for drive in header["drive"].as_array().unwrap().iter().map(|drive| drive.as_table().unwrap()) {
            let name = text_of(drive, "name");
            let before = first.iter().find(|(known, _)| *known == name).map(|(_, drive)| drive.clone());
            let own = changed(&before.unwrap_or_default(), drive["definitions"].as_table().unwrap());
            let word = if drives.is_empty() { "if" } else { "elif" };
            write!(text, "#{word} (BASE_SSD == {name}) /* a drive */\n{}", defined(&own)).unwrap();
            drives.push((name, own));
        }
        text += "#endif\n#endif\n";
        all.push((text_of(&header, "source"), text, drives.iter().map(|(name, _)| name.clone()).collect()));
        if first.is_empty() {
            (shared, first) = (definitions, drives);
        }
    }
    all
}

/// NVMeVirt's own header.
pub fn header() -> String {
    headers().into_iter().find(|(source, ..)| source.starts_with("snu-csl/nvmevirt@")).unwrap().1
}

/// What becomes of a file, as the end of a row of the outcomes.
fn outcome(import: &DriveImport) -> String {
    let of = |severity| import.notices.iter().filter(move |notice| notice.severity == severity);
    if let Some(first) = of(Severity::Error).next() {
        return format!("refused = {}", Value::String(first.message.clone()));
    }
    let told: BTreeSet<&str> = of(Severity::Warning).map(|notice| &*notice.option).collect();
    format!("drive = {:?}", told.iter().collect::<Vec<_>>())
}

fn compared(name: &str, rows: &[String]) {
    let mut text = format!(
        "# What becomes of each file of {name}.toml: the drive that is made, with what of it is told not to be as the simulator has it,\n\
         # or why none is. Written by the test `simulator_corpus` with ASSAY_RECORD=1.\n\nrows = [\n"
    );
    rows.iter().for_each(|row| writeln!(text, "  {{ {row} }},").unwrap());
    text += "]\n";
    hold(&format!("{name}-outcomes.toml"), &text);
}

#[test]
fn what_becomes_of_the_worlds_scripts_of_femu() {
    let row = |(source, text): (String, String)| {
        assert!(femu::is_script(&text), "{source}");
        format!("source = {}, {}", Value::String(source), outcome(&femu::import(Path::new("run.sh"), &text)))
    };
    compared("femu", &scripts().into_iter().map(row).collect::<Vec<_>>());
}

#[test]
fn what_becomes_of_the_worlds_headers_of_nvmevirt() {
    let mut rows = Vec::new();
    for (source, text, drives) in headers() {
        assert!(nvmevirt::is_header(&text), "{source}");
        for drive in drives {
            let request = NvmevirtRequest { drive: Some(&drive), memory: None };
            let import = nvmevirt::import(Path::new("ssd_config.h"), &text, request);
            let [source, drive] = [&source, &drive].map(|text| Value::String(text.clone()));
            rows.push(format!("source = {source}, base_ssd = {drive}, {}", outcome(&import)));
        }
    }
    compared("nvmevirt", &rows);
}

/// The latency of each request that a drive is given one by one, in ns: least, mean and most.
fn latency(place: &Place, drive: &str, rw: &str) -> [f64; 3] {
    let rw_option = format!("--rw=rand{rw}");
    let arguments = ["run", drive, &rw_option, "--bs=4k", "--iodepth=1", "--number_ios=1000", "--format=json"];
    let json: serde_json::Value = serde_json::from_str(&place.succeeds(&arguments)).unwrap();
    ["min", "mean", "max"].map(|name| json[rw]["latency_ns"][name].as_f64().unwrap())
}

fn runs(place: &Place, drive: &str) {
    for rw in ["--rw=randread", "--rw=randwrite"] {
        place.succeeds(&["run", drive, rw, "--bs=4k", "--iodepth=32", "--number_ios=20000"]);
    }
}

#[test]
fn femus_drive_takes_the_times_of_its_script() {
    let place = Place::new();
    let all = scripts();
    let of = |name: &str| {
        &all.iter().find(|(source, _)| source.starts_with("MoatLab/") && source.ends_with(name)).unwrap().1
    };
    std::fs::write(place.path("run-blackbox.sh"), of("run-blackbox.sh")).unwrap();
    let said = place.assay(&["import", "run-blackbox.sh", "-o", "drive.toml", "--strict"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{}", said.stderr);
    assert!(said.stderr.contains("note[femu::default]"), "{}", said.stderr);
    let shown = place.succeeds(&["drives", "show", "./drive.toml"]);
    assert!(shown.contains("8 channels × 8 dies"), "{shown}");
    // Reads: pg_rd_lat, and 4,096 B at 1,000 GB/s on a channel and the link, 5 ns each. Writes: the same with pg_wr_lat.
    assert_eq!(latency(&place, "sim:./drive.toml", "read"), [40_010.0; 3]);
    assert_eq!(latency(&place, "sim:./drive.toml", "write"), [200_010.0; 3]);
    runs(&place, "sim:./drive.toml");
    std::fs::write(place.path("run-zns.sh"), of("run-zns.sh")).unwrap();
    place.succeeds(&["import", "run-zns.sh", "-o", "zones.toml"]);
    // FEMU's 85 µs of QLC.
    assert_eq!(latency(&place, "sim:./zones.toml", "read"), [85_010.0; 3]);
    runs(&place, "sim:./zones.toml");
    let said = place.refuses(&["import", "run-zns.sh", "--size=1g"]);
    assert!(said.contains("leave them out"), "{said}");
    let said = place.refuses(&["import", "run-zns.sh", "--base-ssd=A"]);
    assert!(said.contains("--base-ssd is for NVMeVirt's ssd_config.h"), "{said}");
}

#[test]
fn nvmevirts_drive_takes_the_times_of_its_header() {
    let place = Place::new();
    std::fs::write(place.path("ssd_config.h"), header()).unwrap();
    let said = place.refuses(&["import", "ssd_config.h"]);
    assert!(said.contains("the file has 3 drives: SAMSUNG_970PRO, ZNS_PROTOTYPE, WD_ZN540"), "{said}");
    let import = |name: &str| {
        let file = format!("{name}.toml");
        place.succeeds(&["import", "ssd_config.h", "--base-ssd", name, "--size=16g", "-o", &file]);
        format!("sim:./{file}")
    };
    let drive = import("SAMSUNG_970PRO");
    // FW_4KB_READ_LATENCY 21,500; NAND_4KB_READ_LATENCY 35,760 ± 6,000; 32 · 128 B in 152 ns each on a channel of 800 MiB/s,
    // and in 36 ns on PCIe at 3,360 MiB/s: 63,276 ns in the mean of both page types.
    let [least, mean, most] = latency(&place, &drive, "read");
    let arithmetic = 21_500.0 + 35_760.0 + 32.0 * 152.0 + 32.0 * 36.0;
    assert!(
        (least - (arithmetic - 6_000.0)).abs() <= 10.0 && (most - (arithmetic + 6_000.0)).abs() <= 10.0,
        "{least}, {most}"
    );
    assert!((mean - arithmetic).abs() < 600.0, "as many pages of each type: {mean}");
    // A write is in the buffer behind the firmware's 4,000 ns and PCIe's 1,152 ns.
    let [_, mean, _] = latency(&place, &drive, "write");
    assert!((5_152.0..5_612.0).contains(&mean), "{mean}");
    runs(&place, &drive);
    let zones = import("WD_ZN540");
    // 20,000 + 50,000 + 32 · 271 + 32 · 40 ns.
    let [least, _, most] = latency(&place, &zones, "read");
    assert!((least - 79_952.0).abs() <= 10.0 && least == most, "{least}, {most}");
    runs(&place, &zones);
    runs(&place, &import("ZNS_PROTOTYPE"));
}

#[test]
fn the_tables_of_the_simulators_fields_are_those_of_the_program() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let known: Vec<String> = [mqsim::table(), femu::table(), nvmevirt::table()].concat();
    for row in &known {
        assert!(docs.lines().any(|line| line == row), "docs/import.md has no row\n{row}");
    }
    let rows = docs.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 4);
    for row in rows.filter(|row| row.split('`').nth(1).is_some_and(|name| name.contains('_') && !name.contains(' '))) {
        assert!(known.iter().any(|line| line == row), "the program has no row\n{row}");
    }
}
