//! How a file system is made.

use std::path::Path;
use std::time::Duration;

use block::Bytes;

use crate::{Aftermath, Ended, Stage, Tools, TrialError};

/// How long a file system may take to be made: on a slow drive that is large much is discarded and written.
const LIMIT: Duration = Duration::from_secs(1800);

/// How a file system was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
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

/// The option of `mkfs` that makes the blocks of such a file system so large.
pub(crate) fn block_option(fs: &str, block: Bytes) -> String {
    let block = block.get();
    match fs {
        "xfs" => format!("-b size={block}"),
        "btrfs" => format!("--sectorsize {block}"),
        _ => format!("-b {block}"),
    }
}

/// Makes a file system on the stage; what was there is gone.
///
/// # Errors
/// If its program refuses: with the option that it refuses, where leaving that out would help.
pub(super) fn make(fs: &str, options: &str, stage: &Stage, aftermath: &Aftermath) -> Result<Made, TrialError> {
    let (tools, program, device) = (Tools::of_system(), program(fs).0, stage.path());
    let options: Vec<&str> = options.split_whitespace().collect();
    let run = |options: &[&str], rehearse: bool| {
        tools.run_on(stage, aftermath, (&program, &words(fs, options, rehearse, device)), None, LIMIT)
    };
    let ended = run(&options, false)?;
    if ended.code == Some(0) {
        let command = [program.as_str(), force(fs)].into_iter().chain(options.iter().copied());
        let command = command.chain(device.to_str()).collect::<Vec<&str>>().join(" ");
        return Ok(Made { command, version: version(&tools, &program)? });
    }
    let refused = refused(&options, |rest| run(rest, true).is_ok_and(|ended| ended.code == Some(0)));
    let command = match refused {
        Some(refused) => format!("{program} … {refused}"),
        None => [program.as_str()].into_iter().chain(options).collect::<Vec<&str>>().join(" "),
    };
    Err(TrialError::Failed { command, said: complaint(&ended) })
}

/// What the program is told; only for what it would say where it can tell that without doing it.
fn words(fs: &str, options: &[&str], rehearse: bool, device: &Path) -> Vec<String> {
    let dry = match fs {
        "xfs" => Some("-N"),
        "btrfs" => None,
        _ => Some("-n"),
    };
    let told = [force(fs)].into_iter().chain(dry.filter(|_| rehearse)).chain(options.iter().copied());
    told.map(str::to_owned).chain([device.to_string_lossy().into_owned()]).collect()
}

/// The option by which a program overwrites what it finds.
fn force(fs: &str) -> &'static str {
    if matches!(fs, "xfs" | "btrfs") { "-f" } else { "-F" }
}

/// The one option, or part of one after a comma, without which `works` is true of the rest; none if there is no such.
fn refused(options: &[&str], works: impl Fn(&[&str]) -> bool) -> Option<String> {
    let starts: Vec<usize> = (0..options.len()).filter(|&at| at == 0 || options[at].starts_with('-')).collect();
    let ends = starts.iter().skip(1).copied().chain([options.len()]);
    let mut groups = starts.iter().copied().zip(ends);
    let (start, end) = groups.find(|(start, end)| works(&[&options[..*start], &options[*end..]].concat()))?;
    let whole = options[start..end].join(" ");
    let Some((flag, [list])) = options[start..end].split_first() else { return Some(whole) };
    let parts: Vec<&str> = list.split(',').collect();
    let without = |left_out: usize| {
        let kept: Vec<&str> = (0..parts.len()).filter(|&at| at != left_out).map(|at| parts[at]).collect();
        let kept = kept.join(",");
        works(&[&options[..start], &[flag, kept.as_str()], &options[end..]].concat())
    };
    let part = (0..parts.len()).find(|&at| parts.len() > 1 && without(at));
    Some(part.map_or(whole, |at| format!("{flag} {}", parts[at])))
}

/// What the program complains of: its first words that are neither its version nor its usage.
fn complaint(ended: &Ended) -> String {
    let is_banner = |line: &str| ["mke2fs ", "btrfs-progs ", "See http"].iter().any(|start| line.starts_with(start));
    let said = ended.stderr.lines().map(str::trim).find(|line| !line.is_empty() && !is_banner(line));
    said.map_or_else(|| ended.last_words(), str::to_owned)
}

/// What the program says of its version.
fn version(tools: &Tools, program: &str) -> Result<String, TrialError> {
    let ended = tools.run(program, &["-V"], Duration::from_secs(20))?;
    let said = [ended.stdout, ended.stderr].concat();
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_without_which_it_works_is_the_one_that_is_refused() {
        let options = ["-q", "-d", "sunit=128,swidth=3", "-l", "size=1k"];
        let wrong = |word: &'static str| move |rest: &[&str]| !rest.join(" ").contains(word);
        assert_eq!(refused(&options, wrong("1k")), Some("-l size=1k".to_owned()));
        assert_eq!(refused(&options, wrong("swidth")), Some("-d swidth=3".to_owned()));
        assert_eq!(refused(&options, wrong("-q")), Some("-q".to_owned()));
        assert_eq!(refused(&options, |_| false), None);
        assert_eq!(refused(&[], |_| true), None);
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
