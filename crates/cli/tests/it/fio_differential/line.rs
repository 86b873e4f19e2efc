//! Public command lines of one job, scaled down to a small file.

use std::collections::BTreeMap;

use super::job::{JobText, Section};
use crate::fio_corpus;
use crate::support::Place;

/// A command line, and its job as it is understood.
#[derive(Clone, Debug)]
pub struct ScaledLine {
    /// As it is published.
    pub line: String,
    pub words: Vec<String>,
    pub text: JobText,
}

/// What is added at the end of each line, where it goes before what the line says itself.
const SMALLER: [&str; 8] = [
    "--size=4m",
    "--io_size=4m",
    "--loops=1",
    "--offset=0",
    "--time_based=0",
    "--runtime=60",
    "--ramp_time=0",
    "--startdelay=0",
];

/// What would take long, or be about more than the file.
const OTHER: [&str; 12] = [
    "-rate",
    "-thinktime",
    "-client",
    "-server",
    "-filesize",
    "-nrfiles",
    "-section",
    "-zone",
    "-steadystate",
    "-ss",
    "-latency_target",
    "-exec",
];

/// What says where files are, with a value behind `=` or in the next word.
const OF_FILES: [&str; 5] = ["filename", "directory", "output", "filename_format", "aux-path"];

/// The lines that both programs take and that are one job, scaled down.
pub fn all() -> Vec<ScaledLine> {
    let place = Place::new();
    let taken: BTreeMap<String, bool> = fio_corpus::fios_answers();
    // fio fails where it verifies what it has not written, as in a mix.
    let is_fit = |line: &str| !OTHER.iter().any(|other| line.contains(other)) && !line.contains("verify=");
    let lines = fio_corpus::lines().into_iter().filter(|(_, line, _)| taken.get(line) == Some(&true) && is_fit(line));
    lines.filter_map(|(_, line, filled)| scaled(&place, line, &filled)).collect()
}

fn scaled(place: &Place, line: String, filled: &str) -> Option<ScaledLine> {
    let all = shlex::split(filled.trim_end().trim_end_matches(';'))?;
    let mut words = without_files(all.into_iter().skip(1));
    // No other file is named by any word: what is run here is somebody else's, and may run as root.
    if words.iter().any(|word| word.contains(['/', ':', '`', '$'])) {
        return None;
    }
    // fio would use the first file that is named beside all others.
    words.insert(0, "--filename=f".to_owned());
    words.extend(SMALLER.map(str::to_owned));
    let job = understood(place, &words)?;
    let has_no_log =
        ["gtod_reduce", "disable_bw_measurement", "write_bw_log"].iter().any(|name| job.get(name).is_some());
    if job.number("numjobs", 1) > 1 && (has_no_log || job.number("numjobs", 1) > 4) {
        words.push(if has_no_log { "--numjobs=1" } else { "--numjobs=2" }.to_owned());
    }
    let job = understood(place, &words)?;
    words.push(format!("--write_iolog={}.log", job.name));
    Some(ScaledLine { line, words, text: JobText { sections: vec![job], files: vec![("f".to_owned(), 4 << 20)] } })
}

/// The words but those that say where files are.
fn without_files(mut words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let name = word.trim_start_matches('-');
        match OF_FILES.iter().find(|option| name.split('=').next() == Some(option)) {
            Some(_) if !name.contains('=') => drop(words.next()),
            Some(_) => {}
            None => kept.push(word),
        }
    }
    kept
}

/// The one job of the line, if it is one on the file and does not write over a block size that is too large for it.
fn understood(place: &Place, words: &[String]) -> Option<Section> {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--showcmd"]).collect();
    let said = place.assay(&[&["fio"], &words[..]].concat());
    let shown = shlex::split(said.stdout.trim().strip_prefix("fio ")?)?;
    if said.code != Some(0) || shown.iter().filter(|word| word.starts_with("--name=")).count() != 1 {
        return None;
    }
    let options = shown.iter().filter_map(|word| {
        let word = word.strip_prefix("--")?;
        Some(
            word.split_once('=')
                .map_or((word.to_owned(), "1".to_owned()), |(name, value)| (name.to_owned(), value.to_owned())),
        )
    });
    let options: Vec<(String, String)> = options.collect();
    let section = Section { name: options.first()?.1.clone(), options };
    let is_plain = section.name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    (is_plain && section.get("filename") == Some("f")).then_some(section)
}
