//! NVMe's format and sanitize, by nvme-cli.
//!
//! Source: nvme-format(1), nvme-sanitize(1), nvme-sanitize-log(1); NVM Express Base Specification 1.4, §5.23 "Format NVM",
//! §5.24 "Sanitize", figure 243 "Sanitize Status" and figure 247 "Identify Controller": OACS and SANICAP.

use std::thread;
use std::time::{Duration, Instant};

use super::{EraseError, Eraser, MOMENT, PurgeMethod};

/// The longest that an erasure is waited for.
const LIMIT: Duration = Duration::from_secs(12 * 3600);
/// How often a drive is asked how far it has come.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the drive is one namespace on a controller of its own; its namespace and its controller.
pub(super) fn check(eraser: &Eraser, method: PurgeMethod) -> Result<(String, String), EraseError> {
    let device = eraser.drive(method, &["NVMe"])?;
    let name = &device.name;
    let Some((controller, _)) = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n')) else {
        return Err(eraser.refused(method, "its name contains no controller".to_owned()));
    };
    let controller = format!("/dev/nvme{controller}");
    let listed = eraser.run(method, "nvme", &["list-ns", &controller, "--all"], MOMENT)?.stdout;
    let namespaces = listed.lines().filter(|line| line.trim_start().starts_with('[')).count();
    if namespaces > 1 {
        let why = format!(
            "its controller has {namespaces} namespaces, and the command may erase all of them; delete the others with \
             `nvme delete-ns`, or use discard"
        );
        return Err(eraser.refused(method, why));
    }
    let identified = eraser.run(method, "nvme", &["id-ctrl", &controller, "--output-format=json"], MOMENT)?.stdout;
    match lacks(method, &identified) {
        Some(why) => Err(eraser.refused(method, why)),
        None => Ok((format!("/dev/{name}"), controller)),
    }
}

/// What the controller says that it does not have for this; none where it has it, or does not say.
fn lacks(method: PurgeMethod, identified: &str) -> Option<String> {
    const OACS_FORMAT: u64 = 1 << 1;
    const CRYPTO: u64 = 1;
    const BLOCK: u64 = 1 << 1;
    const OVERWRITE: u64 = 1 << 2;
    let document: serde_json::Value = serde_json::from_str(identified).ok()?;
    let field = |name: &str| document.get(name)?.as_u64();
    if method == PurgeMethod::NvmeFormat {
        let has = field("oacs")? & OACS_FORMAT != 0;
        return (!has).then(|| "its controller has no Format NVM command (OACS); use sanitize or discard".to_owned());
    }
    let capable = field("sanicap")?;
    let other = |bit: u64, name: &'static str| (capable & bit != 0).then_some(name);
    let others: Vec<_> = [other(CRYPTO, "crypto erase"), other(OVERWRITE, "overwrite")].into_iter().flatten().collect();
    let has = match &others[..] {
        _ if capable & BLOCK != 0 => return None,
        [] => "no Sanitize command (SANICAP 0)".to_owned(),
        others => format!("Sanitize by {} alone, not by block erase", others.join(" and ")),
    };
    Some(format!("its controller has {has}; use nvme-format or discard"))
}

/// Formats with user data erase. The guards' hold on the drive makes nvme-cli ask for `--force`.
pub(super) fn format(eraser: &Eraser) -> Result<String, EraseError> {
    let method = PurgeMethod::NvmeFormat;
    let (namespace, _) = check(eraser, method)?;
    eraser.ask_again(method)?;
    eraser.run(method, "nvme", &["format", &namespace, "-s1", "--force"], LIMIT)?;
    Ok("The drive was purged by NVMe format with user data erase.".to_owned())
}

/// Begins a block erase and waits until the drive says that it is done.
pub(super) fn sanitize(eraser: &Eraser) -> Result<String, EraseError> {
    let method = PurgeMethod::Sanitize;
    let (_, controller) = check(eraser, method)?;
    eraser.ask_again(method)?;
    eraser.run(method, "nvme", &["sanitize", &controller, "--sanact=2"], MOMENT)?;
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        let log = eraser.run(method, "nvme", &["sanitize-log", &controller], MOMENT)?.stdout;
        match status(&log) {
            Some(1 | 4) => return Ok("The drive was purged by NVMe sanitize with block erase.".to_owned()),
            Some(2) => thread::sleep(PAUSE),
            Some(3) => return Err(eraser.refused(method, "the drive reports that the last sanitize failed".to_owned())),
            _ => {
                let why = "the drive does not report progress; see `nvme sanitize-log`".to_owned();
                return Err(eraser.refused(method, why));
            }
        }
    }
    Err(eraser.refused(method, "it did not finish within twelve hours".to_owned()))
}

/// The lowest three bits of the sanitize status: 1 and 4 done, 2 under way, 3 failed.
fn status(log: &str) -> Option<u16> {
    let line = log.lines().find(|line| line.contains("(SSTAT)"))?;
    let value = line.rsplit(':').next()?.trim();
    let value = match value.strip_prefix("0x") {
        Some(hex) => u16::from_str_radix(hex, 16).ok()?,
        None => value.parse().ok()?,
    };
    Some(value & 0b111)
}
