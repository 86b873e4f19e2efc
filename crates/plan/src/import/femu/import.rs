//! What a script or a line of options gives.

use std::path::Path;

use super::super::simulator::drive_text::DriveFile;
use super::super::simulator::field::{self, FieldSpec, FoundField};
use super::super::simulator::lines::Lines;
use super::super::simulator::{DriveImport, is_refused, mistake, row};
use super::super::{Notice, Severity, SourceRange};
use super::fields::{BLACK_BOX, COMMON, ZONED};
use super::options::options;
use super::variables::{DeviceWords, EXPANDED_MAX, TooLong, script};
use super::{FEMU, black_box, shell, zoned};

/// The options of FEMU's device and what becomes of them, as rows of a table in Markdown: name, default, what becomes of it.
pub fn table() -> Vec<String> {
    [COMMON, BLACK_BOX, ZONED].into_iter().flatten().map(row).collect()
}

/// Whether a text gives QEMU a device of FEMU's.
pub fn is_script(text: &str) -> bool {
    let is_femus = |at: usize| {
        let behind = text[at + "-device".len()..].trim_start_matches([' ', '\t', '"', '\'', '\\', '\r', '\n']);
        behind.starts_with("femu") || behind.starts_with("nvme,femu_mode")
    };
    text.match_indices("-device").any(|(at, _)| is_femus(at))
}

/// Reads a script's text; `path` is for its name alone.
pub fn import(path: &Path, text: &str) -> DriveImport {
    let mut notices = Vec::new();
    let drive = read(path, text, &mut notices);
    DriveImport::new(path, text, drive, notices)
}

fn read(path: &Path, text: &str, notices: &mut Vec<Notice>) -> Option<String> {
    let lines = Lines::of(text);
    let script = match script(&shell::commands(text)) {
        Ok(script) => script,
        Err(TooLong(span)) => {
            let message = format!("the script's variables come to more than {} MiB", EXPANDED_MAX >> 20);
            let help = "FEMU's own come to some kilobytes; give the options of its device alone";
            notices.push(mistake("femu::too-long", "script", message, help, lines.place(span)));
            return None;
        }
    };
    for span in &script.sourced {
        let (severity, code) = (Severity::Warning, FEMU.codes.not_honoured);
        let message = "another file is run here, which is not read".to_owned();
        let help = Some("what it assigns is not known here".to_owned());
        let place = lines.place(span.clone());
        notices.push(Notice { severity, code, option: "source".to_owned(), message, help, place });
    }
    let device = only(&script.devices, &lines, notices)?;
    let place = lines.place(device[0].span.clone());
    let found = options(device, &[COMMON, BLACK_BOX, ZONED], &lines, notices);
    let drive = drive(found, path, place, notices)?;
    (!is_refused(notices)).then_some(drive).and_then(|drive| drive.text(notices))
}

/// The device, if there is one, or several that are alike.
fn only<'a>(devices: &'a [DeviceWords], lines: &Lines, notices: &mut Vec<Notice>) -> Option<&'a DeviceWords> {
    let text = |device: &DeviceWords| -> String { device.iter().map(|piece| &*piece.text).collect() };
    let Some(first) = devices.first() else {
        let message = "there is no device of FEMU's".to_owned();
        let help = "QEMU is given one by `-device femu,devsz_mb=…,femu_mode=1,…`, in a script or alone";
        notices.push(mistake("femu::no-device", "device", message, help, lines.place(0..0)));
        return None;
    };
    let others: Vec<usize> = devices
        .iter()
        .skip(1)
        .filter(|device| text(device) != text(first))
        .map(|device| lines.number(device[0].span.start))
        .collect();
    if let [other, ..] = &others[..] {
        let message = format!("there are {} devices, and not all are alike", devices.len());
        let help = format!("one drive is made of a file: leave this one, or the one in line {other}");
        notices.push(mistake("femu::several", "device", message, &help, lines.place(first[0].span.clone())));
        return None;
    }
    Some(first)
}

/// The drive that the options are of.
fn drive<'a>(
    mut found: Vec<FoundField>,
    path: &'a Path,
    place: SourceRange,
    notices: &mut Vec<Notice>,
) -> Option<DriveFile<'a>> {
    let has = |specs: &[FieldSpec], field: &FoundField| specs.iter().any(|spec| spec.name == field.name);
    let other: Vec<FoundField> = found.extract_if(.., |field| !has(COMMON, field)).collect();
    let common = field::values(&FEMU, COMMON, found, &place, notices);
    let mode = common.of("femu_mode");
    let (specs, others) = match common.count("femu_mode") {
        1 => (BLACK_BOX, ZONED),
        3 => (ZONED, BLACK_BOX),
        4 => {
            notices
                .push(mode.not_honoured("the drive is the flash of such a device; what it computes is not simulated"));
            (BLACK_BOX, ZONED)
        }
        number => {
            notices.push(mode.refused(match number {
                0 => "the translation layer of an open-channel drive is the host's; femu_mode=1 is a drive with its own",
                2 => "such a device has no flash and no model of time; femu_mode=1 is a flash drive, femu_mode=3 one in zones",
                _ => "such a device stores keys and values; femu_mode=1 is its flash drive alone",
            }));
            return None;
        }
    };
    // What is of the other mode makes no difference in this one.
    let own = other.into_iter().filter(|field| !has(others, field));
    let values = field::values(&FEMU, specs, own, &place, notices);
    if is_refused(notices) {
        return None;
    }
    let (about, tables) = match common.count("femu_mode") {
        3 => zoned::drive(&common, &values, notices)?,
        _ => black_box::drive(&common, &values, notices)?,
    };
    Some(DriveFile { simulator: &FEMU, path, name: None, about, tables, place })
}
