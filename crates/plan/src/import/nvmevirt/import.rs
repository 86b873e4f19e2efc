//! What a header gives.

use std::path::Path;

use block::{Bytes, nearest};

use super::super::Notice;
use super::super::simulator::drive_text::DriveFile;
use super::super::simulator::field::{self, Fate, FieldKind, FieldSpec, FoundField};
use super::super::simulator::lines::Lines;
use super::super::simulator::{DriveImport, is_refused, mistake, row};
use super::fields::DRIVE;
use super::preprocessor::{DRIVES_MAX, Definitions, definitions, drives};
use super::{NVMEVIRT, device, kind};

/// What is asked beside the header.
#[derive(Clone, Copy, Debug, Default)]
pub struct NvmevirtRequest<'a> {
    /// The drive, by the name that the header compares `BASE_SSD` with.
    pub drive: Option<&'a str>,
    /// The memory that NVMeVirt is given (`memmap_size`), which the header does not say.
    pub memory: Option<Bytes>,
}

/// The definitions of `ssd_config.h` and what becomes of them, as rows of a table in Markdown: name, default, what becomes of it.
pub fn table() -> Vec<String> {
    DRIVE.iter().map(row).collect()
}

/// Whether a text is a header of C's.
pub fn is_header(text: &str) -> bool {
    const BEGINNINGS: [&str; 3] = ["#define ", "#ifndef ", "#pragma once"];
    let begins = |line: &str| BEGINNINGS.iter().any(|word| line.starts_with(word));
    text.lines().any(begins) && !text.lines().any(|line| line.starts_with('['))
}

/// Reads a header's text; `path` is for its name alone.
pub fn import(path: &Path, text: &str, request: NvmevirtRequest) -> DriveImport {
    let mut notices = Vec::new();
    let drive = read(path, text, request, &mut notices);
    DriveImport::new(path, text, drive, notices)
}

fn read(path: &Path, text: &str, request: NvmevirtRequest, notices: &mut Vec<Notice>) -> Option<String> {
    let lines = Lines::of(text);
    let chosen = chosen(text, request.drive, &lines, notices)?;
    let defined = definitions(text, chosen.as_deref(), &lines, notices);
    let place = lines.place(defined.of("NAND_CHANNELS").map_or(0..0, |found| found.span.clone()));
    let kind = kind::kind(&defined, &lines, notices)?;
    let values = field::values(&NVMEVIRT, DRIVE, found(&defined, &lines, notices), &place, notices);
    if is_refused(notices) {
        return None;
    }
    let (about, tables) = device::drive(kind, &values, request.memory, notices)?;
    let about = chosen.iter().map(|name| format!("{name}, ")).collect::<String>() + &about;
    let file = DriveFile { simulator: &NVMEVIRT, path, name: chosen.as_deref(), about, tables, place };
    file.text(notices)
}

/// The drive that is meant: the one that is asked for, that the header names, or the only one that has flash; nothing where a header has
/// one drive without a name.
fn chosen(text: &str, asked: Option<&str>, lines: &Lines, notices: &mut Vec<Notice>) -> Option<Option<String>> {
    let names = drives(text);
    let list = |names: &[String]| names.join(", ");
    let mut refuse = |message: String, help: &str| {
        notices.push(mistake("nvmevirt::drive", "BASE_SSD", message, help, lines.place(0..0)));
        None
    };
    if names.len() > DRIVES_MAX {
        let help = "NVMeVirt's has five; leave the conditions on `BASE_SSD` of those that are meant";
        return refuse(format!("the file has more than {DRIVES_MAX} drives"), help);
    }
    if let Some(asked) = asked {
        if names.iter().any(|name| name == asked) {
            return Some(Some(asked.to_owned()));
        }
        let help = match (names.is_empty(), nearest(asked, names.iter().map(String::as_str))) {
            (true, _) => "the file has one drive, without a name: leave --base-ssd out".to_owned(),
            (_, Some(near)) => format!("did you mean `{near}`? The file has {}", list(&names)),
            _ => format!("the file has {}", list(&names)),
        };
        return refuse(format!("there is no drive `{asked}` in the file"), &help);
    }
    let quiet = &mut Vec::new();
    let plain = definitions(text, None, lines, quiet);
    if let Some(named) = plain.of("BASE_SSD").filter(|named| names.contains(&named.body)) {
        return Some(Some(named.body.clone()));
    }
    let has_flash =
        |name: &&String| definitions(text, Some(name), lines, &mut Vec::new()).of("NAND_CHANNELS").is_some();
    let with_flash: Vec<String> = names.iter().filter(has_flash).cloned().collect();
    match &with_flash[..] {
        [only] => Some(Some(only.clone())),
        [] if plain.of("NAND_CHANNELS").is_some() => Some(None),
        [] => refuse(
            "there is no drive with flash in the file".to_owned(),
            "`ssd_config.h` of NVMeVirt defines NAND_CHANNELS, LUNS_PER_NAND_CH, NAND_PROG_LATENCY and more",
        ),
        several => refuse(
            format!("the file has {} drives: {}", several.len(), list(several)),
            &format!("name one: --base-ssd {}", several[0]),
        ),
    }
}

/// The definitions that a drive is made of, as numbers, and those of this drive that are not known.
fn found(defined: &Definitions, lines: &Lines, notices: &mut Vec<Notice>) -> Vec<FoundField> {
    let mut all = Vec::new();
    for spec in DRIVE {
        let Some(definition) = defined.of(spec.name) else { continue };
        let place = lines.place(definition.span.clone());
        let text = match (spec.kind, spec.fate) {
            (FieldKind::Text, Fate::Unused | Fate::Optional) => Ok(definition.body.clone()),
            _ => defined.value(spec.name).expect("it is defined").map(|value| value.to_string()),
        };
        match text {
            Ok(text) => all.push(FoundField { name: spec.name.to_owned(), text, place }),
            Err(why) => notices.push(not_understood(spec, &why, place)),
        }
    }
    let is_known = |name: &str| DRIVE.iter().any(|spec| spec.name == name);
    let others = defined.of_drive().filter(|(name, _)| !is_known(name));
    all.extend(others.map(|(name, definition)| FoundField {
        name: name.to_owned(),
        text: definition.body.clone(),
        place: lines.place(definition.span.clone()),
    }));
    all
}

fn not_understood(spec: &FieldSpec, why: &str, place: super::super::SourceRange) -> Notice {
    let message = format!("the value of `{}` is not understood: {why}", spec.name);
    let help = "whole numbers with + - * / ( ), names that the file defines, and KB, MB and GB are";
    mistake("nvmevirt::expression", spec.name, message, help, place)
}
