//! What a drive of a header is.

use super::super::simulator::lines::Lines;
use super::super::simulator::mistake;
use super::super::{Notice, Severity};
use super::NVMEVIRT;
use super::preprocessor::Definitions;

/// What a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriveKind {
    Conventional,
    Zoned,
}

/// What the drive is, if that has flash. Tells of a kind that NVMeVirt itself has not.
pub(super) fn kind(defined: &Definitions, lines: &Lines, notices: &mut Vec<Notice>) -> Option<DriveKind> {
    let has_zones = defined.of("ZONE_SIZE").is_some();
    let otherwise = if has_zones { DriveKind::Zoned } else { DriveKind::Conventional };
    let Some(definition) = defined.of("NS_SSD_TYPE_0") else { return Some(otherwise) };
    let word = definition.body.trim_matches(['(', ')', ' ']);
    let place = lines.place(definition.span.clone());
    match word {
        "SSD_TYPE_CONV" => Some(DriveKind::Conventional),
        "SSD_TYPE_ZNS" => Some(DriveKind::Zoned),
        "SSD_TYPE_NVM" | "SSD_TYPE_KV" => {
            let message = format!("`NS_SSD_TYPE_0 = {word}` cannot be taken over");
            let help = "such a drive has no flash and no model of it; SSD_TYPE_CONV and SSD_TYPE_ZNS have";
            notices.push(mistake(NVMEVIRT.codes.refused, "NS_SSD_TYPE_0", message, help, place));
            None
        }
        _ => {
            let (severity, code) = (Severity::Warning, NVMEVIRT.codes.not_honoured);
            let message = format!("`NS_SSD_TYPE_0 = {word}` is no kind of NVMeVirt's own");
            let taken = if has_zones { "a drive in zones" } else { "a conventional drive" };
            let help = Some(format!("it is taken for {taken}; what its translation layer does is not known here"));
            notices.push(Notice { severity, code, option: "NS_SSD_TYPE_0".to_owned(), message, help, place });
            Some(otherwise)
        }
    }
}
