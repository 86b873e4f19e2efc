//! How a file system is made.

use std::path::Path;
use std::time::Duration;

use super::make::MakeOptions;
use crate::task::HelperProcess;
use crate::{Cleanup, Ended, Tools, TrialDevice, TrialError};

/// How long a file system may take to be made: on a slow drive that is large much is discarded and written.
const LIMIT: Duration = Duration::from_secs(1800);

/// How a file system was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormatRecord {
    /// The command line.
    pub command: String,
    /// The version of its program, as that says it.
    pub version: String,
}

/// The program that makes such a file system, and Debian's package of it.
pub(super) fn program(fs: &str) -> (String, &'static str) {
    let package = match fs {
        "xfs" => "xfsprogs",
        "btrfs" => "btrfs-progs",
        _ => "e2fsprogs",
    };
    (format!("mkfs.{fs}"), package)
}

/// Makes a file system on the stage; what was there is gone.
///
/// # Errors
/// If its program refuses: with the option that it refuses, where leaving that out would help.
pub(super) fn make(
    options: &MakeOptions,
    stage: &TrialDevice,
    aftermath: &Cleanup,
) -> Result<FormatRecord, TrialError> {
    let (tools, program, device) = (Tools::of_system(), options.program(), stage.path());
    let run = |words: &[String]| {
        let mut command = tools.command(&program)?;
        HelperProcess::start_on((stage, &[]), aftermath, command.args(words))?.end(stage, LIMIT)
    };
    let ended = run(&words(options, None, device))?;
    if ended.code == Some(0) {
        return Ok(FormatRecord { command: line(options, device), version: version(&tools, &program)? });
    }
    // Only by what its program would say: nothing is made again to find out.
    let refused = rehearsal(options.fs()).and_then(|dry| {
        options.refused(|rest| run(&words(rest, Some(dry), device)).is_ok_and(|ended| ended.code == Some(0)))
    });
    let command = match refused {
        Some(refused) => format!("{program} … {refused}"),
        None => [vec![program], options.words()].concat().join(" "),
    };
    Err(TrialError::Failed { command, said: complaint(&ended) })
}

/// The command by which a file system is made on `device`, as one would type it.
pub(super) fn line(options: &MakeOptions, device: &Path) -> String {
    [vec![options.program()], words(options, None, device)].concat().join(" ")
}

/// What the program is told; behind `--` nothing is taken for an option.
fn words(options: &MakeOptions, dry: Option<&str>, device: &Path) -> Vec<String> {
    let told = std::iter::once(force(options.fs())).chain(dry).map(str::to_owned);
    told.chain(options.words()).chain(["--".to_owned(), device.to_string_lossy().into_owned()]).collect()
}

/// The option by which a program only says what it would do; none if it has no such.
fn rehearsal(fs: &str) -> Option<&'static str> {
    match fs {
        "xfs" => Some("-N"),
        "btrfs" => None,
        _ => Some("-n"),
    }
}

/// The option by which a program overwrites what it finds.
fn force(fs: &str) -> &'static str {
    if matches!(fs, "xfs" | "btrfs") { "-f" } else { "-F" }
}

/// What the program complains of: its first words that are neither its version nor its usage.
fn complaint(ended: &Ended) -> String {
    let is_banner = |line: &str| ["mke2fs ", "btrfs-progs ", "See http"].iter().any(|start| line.starts_with(start));
    let said = ended.stderr.lines().map(str::trim).find(|line| !line.is_empty() && !is_banner(line));
    said.map_or_else(|| ended.last_words(), str::to_owned)
}

fn version(tools: &Tools, program: &str) -> Result<String, TrialError> {
    let ended = tools.run(program, &["-V"], Duration::from_secs(20))?;
    let said = [ended.stdout, ended.stderr].concat();
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_behind_the_dashes_is_taken_for_an_option() {
        for (fs, force) in [("ext4", "-F"), ("xfs", "-f"), ("btrfs", "-f")] {
            let options = MakeOptions::parse(fs, "-K").unwrap();
            assert_eq!(words(&options, None, Path::new("/dev/x")), [force, "-K", "--", "/dev/x"]);
        }
    }

    #[test]
    fn a_complaint_is_told_without_version_and_usage() {
        let said = |stderr: &str| complaint(&Ended { stdout: String::new(), stderr: stderr.to_owned(), code: Some(1) });
        assert_eq!(said("unknown option -l foo=1\nUsage: mkfs.xfs\n/* blocksize */"), "unknown option -l foo=1");
        assert_eq!(
            said("mke2fs 1.47.0 (5-Feb-2023)\nInvalid stride parameter: abc\n"),
            "Invalid stride parameter: abc"
        );
        assert_eq!(said(""), "exit code 1");
    }
}
