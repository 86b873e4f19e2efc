//! ATA's secure erase, by hdparm.
//!
//! Source: hdparm(8), "--security-erase"; ATA/ATAPI Command Set 3, §4.18 "Security feature set": a password is set, and
//! the erasure takes it away again.

use std::time::Duration;

use super::{EraseError, Eraser, MOMENT, PurgeMethod};

const METHOD: PurgeMethod = PurgeMethod::SecureErase;

/// The password that is set for the time of the erasure; named in errors, for whoever must take it away.
const PASSWORD: &str = "assay";

/// How long is waited for a drive that does not say how long it takes.
const UNKNOWN: Duration = Duration::from_secs(12 * 3600);

/// What a drive says of its security.
pub(super) struct Security {
    path: String,
    /// How long an erasure takes, as it says.
    minutes: Option<u64>,
}

/// Whether the drive would take the command.
pub(super) fn check(eraser: &Eraser) -> Result<Security, EraseError> {
    let device = eraser.drive(METHOD, &["SATA"])?;
    let path = format!("/dev/{}", device.name);
    let told = eraser.run(METHOD, "hdparm", &["-I", &path], MOMENT)?.stdout;
    let Some((_, section)) = told.split_once("Security:") else {
        return Err(eraser.refused(METHOD, "the drive does not have ATA's security feature set".to_owned()));
    };
    let holds = |word: &str| holds(section, word);
    let why = match (holds("supported"), holds("frozen"), holds("locked"), holds("enabled")) {
        (Some(false) | None, ..) => "the drive does not support it",
        (_, Some(true) | None, ..) => {
            "its security state is frozen, as firmware does at boot; suspend and resume the machine (`rtcwake -m mem \
             -s 5`), or power-cycle the drive"
        }
        (_, _, Some(true) | None, _) => "it is locked by a password; unlock it with `hdparm --security-unlock`",
        (.., Some(true) | None) => "a password is set; remove it with `hdparm --security-disable`",
        _ => return Ok(Security { path, minutes: minutes(section) }),
    };
    Err(eraser.refused(METHOD, why.to_owned()))
}

/// Whether a state holds, by hdparm's section on security; none where that does not have it. `not` stands before what does
/// not hold: "\tnot\tfrozen".
fn holds(section: &str, word: &str) -> Option<bool> {
    let mut lines = section.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find_map(|words| match &words[..] {
        [only] if *only == word => Some(true),
        ["not", other] if *other == word => Some(false),
        _ => None,
    })
}

/// Whether the drive has a password, by which it is known to have taken one: hdparm ends with 0 also where the drive refused
/// the command.
///
/// Source: hdparm 9.65 on the AHCI disk of QEMU 7.2, which has no such command: it prints `SG_IO: bad/missing sense data`.
fn is_enabled(eraser: &Eraser, path: &str) -> Result<bool, EraseError> {
    let told = eraser.run(METHOD, "hdparm", &["-I", path], MOMENT)?.stdout;
    Ok(told.split_once("Security:").and_then(|(_, section)| holds(section, "enabled")) == Some(true))
}

/// `2min for SECURITY ERASE UNIT`.
pub(super) fn minutes(section: &str) -> Option<u64> {
    let (before, _) = section.split_once("min for SECURITY ERASE UNIT")?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Sets a password, erases, and makes sure that the password is gone.
pub(super) fn erase(eraser: &Eraser) -> Result<String, EraseError> {
    let Security { path, minutes } = check(eraser)?;
    let limit = minutes.map_or(UNKNOWN, |minutes| Duration::from_secs(60 * (2 * minutes + 10)));
    eraser.ask_again(METHOD)?;
    let with = |command| ["--user-master", "u", command, PASSWORD, path.as_str()];
    let set = eraser.run(METHOD, "hdparm", &with("--security-set-pass"), MOMENT)?.last_words();
    let enabled = is_enabled(eraser, &path);
    if enabled == Ok(false) {
        return Err(
            eraser.refused(METHOD, format!("the drive did not take the password for the erase; hdparm said: {set}"))
        );
    }
    let erase = |_| eraser.run(METHOD, "hdparm", &with("--security-erase"), limit);
    let erased = enabled.and_then(erase).and_then(|_| check(eraser));
    if let Err(error) = erased {
        // A drive that is left with a password refuses everything after its next start.
        let opened = eraser.run(METHOD, "hdparm", &with("--security-disable"), MOMENT);
        let left = match opened {
            Ok(_) => "the password set for the erase is removed again".to_owned(),
            Err(_) => format!(
                "the drive may still have the password `{PASSWORD}`: `hdparm --user-master u --security-disable \
                 {PASSWORD} {path}` removes it"
            ),
        };
        return Err(eraser.refused(METHOD, format!("{error}; {left}")));
    }
    Ok("The drive was purged by ATA secure erase.".to_owned())
}
