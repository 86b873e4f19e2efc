//! Every text of plans, drives, rigs, job files, Iometer's files and traces, exchanged for what a stranger might put there.
//!
//! The files are those that come with assay. Each text in turn is one of the hostile ones; the plan that is carried out has
//! each of its texts be each of them. Whatever comes of it, nothing beside the store and the reports may be there afterwards
//! that was not there before, no bystander may have changed, and nothing may have panicked.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::support::{Place, Said};
use testkit::loops::LoopDevice;
use testkit::{needs, soak};

/// What is put in place of a text; `FILE` is a stranger's file and `DEVICE` a device with data.
const HOSTILE: [&str; 12] = [
    "FILE",
    "DEVICE",
    "../../../../../../FILE",
    "--overwrite",
    "-f",
    "a\nb = 1\n[[step]]\ndo = \"purge\"",
    "; touch PWNED",
    "$(touch PWNED)",
    "`touch PWNED`|touch PWNED",
    "\u{1b}]0;owned\u{7}\u{1b}[2J\u{0}\u{202e}",
    "%s%n{}{:?}${HOME}",
    "LONG",
];

/// What is measured.
const DRIVE: &str = "sim:x25-m?capacity.user=1GiB";

/// A plan with most of what a workload can be told, which takes a moment.
const PLAN: &str = r#"
name = "rich"
title = "A title"
repeats = 1

[[step]]
name = "purge"
do = "purge"

[[step]]
name = "mixed"
rw = "randrw"
bs = "4k"
number_ios = 5
random_distribution = "zipf:1.2"
sweep.iodepth = ["1", "2"]

[[step]]
name = "split"
rw = "read"
bssplit = "4k/60:64k/40"
number_ios = 5
thinktime = "1ms"
rate_iops = "100"

[[step]]
name = "again"
same-as = "mixed"
"#;

const JOB: &str = "[global]\nioengine=libaio\ndirect=1\ndirectory=.\nnumber_ios=5\n[first]\nrw=randrw\nbs=4k\nsize=1m\n\
                   filename=data\ndescription=words\nwrite_iolog=log\nverify=crc32c\nexec_prerun=true\n[second]\nrw=read\n\
                   bssplit=4k/50:8k/50\nsize=1m\nstonewall\nioscheduler=none\nreplay_redirect=x\nfilename=data\n";

/// The places of the texts of a TOML file.
fn texts(text: &str) -> Vec<Range<usize>> {
    fn of(value: &DeValue, span: Range<usize>, found: &mut Vec<Range<usize>>) {
        match value {
            DeValue::String(_) => found.push(span),
            DeValue::Array(items) => items.iter().for_each(|item| of(item.get_ref(), item.span(), found)),
            DeValue::Table(table) => table.values().for_each(|value| of(value.get_ref(), value.span(), found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let table = DeTable::parse(text).unwrap();
    table.get_ref().values().for_each(|value| of(value.get_ref(), value.span(), &mut found));
    found
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

struct Scene {
    place: Place,
    device: LoopDevice,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Scene {
    fn new() -> Result<Self, String> {
        let place = Place::new();
        fs::create_dir(place.path("theirs")).unwrap();
        fs::write(place.path("theirs/file"), "years of work\n").unwrap();
        fs::write(place.path("theirs/image"), vec![7; 4 << 20]).unwrap();
        let device = LoopDevice::over(&place.path("theirs/image"))?;
        let mut scene = Self { place, device, before: BTreeMap::new() };
        scene.before = scene.state();
        Ok(scene)
    }

    /// All files of strangers, and the names of all that is in the folder in which assay runs.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let theirs = ["theirs/file", "theirs/image"]
            .map(|name| (self.place.path(name), fs::read(self.place.path(name)).unwrap()));
        theirs.into_iter().collect()
    }

    fn hostile(&self, number: usize) -> String {
        let (file, long) = (self.place.path("theirs/file").display().to_string(), "A".repeat(1 << 20));
        HOSTILE[number % HOSTILE.len()].replace("FILE", &file).replace("DEVICE", &self.device.0).replace("LONG", &long)
    }

    /// Runs assay on a file with this text and looks for what it must not have done.
    fn tried(&self, file: &str, text: &str, words: &[&str]) -> Said {
        fs::write(self.place.path(file), text).unwrap();
        let said = self.place.assay(words);
        let told = || format!("{words:?} of\n{}\n{}", &text[..text.len().min(3000)], said.stderr);
        assert!([Some(0), Some(1), Some(2)].contains(&said.code), "ended by {:?}: {}", said.code, told());
        assert!(!said.stderr.contains("panicked"), "{}", told());
        assert!(
            !(said.stderr.clone() + &said.stdout).contains(['\u{7}', '\u{202e}']),
            "a terminal is told: {}",
            told()
        );
        let entries =
            fs::read_dir(self.place.path(".")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let known = |name: &String| {
            let ours = ["results.sqlite", "assay-reports", "theirs", "data", "profiles"];
            *name == file || ours.iter().any(|known| name.starts_with(known))
        };
        let strays: Vec<String> = entries.filter(|name| !known(name)).collect();
        assert!(strays.is_empty(), "{strays:?} was made: {}", told());
        said
    }

    fn is_kept(&self) {
        assert!(self.state() == self.before, "a stranger's file or device was changed");
    }
}

/// Every TOML file of a folder of this repository.
fn shipped(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join(folder);
    let paths = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .map(|path| (path.clone(), fs::read_to_string(&path).unwrap()))
        .collect();
    found.sort();
    found
}

/// Exchanges each text of a file in turn, for all hostile texts, or, of files that have much in common with others, some of
/// its texts for one each.
fn each_exchanged(scene: &Scene, text: &str, all: bool, mut tried: impl FnMut(&str)) {
    const EVERY: usize = 5;
    let texts = texts(text).into_iter().enumerate().step_by(if all { 1 } else { EVERY });
    let pairs = texts.flat_map(|(index, span)| {
        (if all { 0..HOSTILE.len() } else { index..index + 1 }).map(move |number| (number, span.clone()))
    });
    let pairs: Vec<_> = pairs.collect();
    let short = if all { pairs.len() / 6 } else { 2 };
    for (number, span) in soak::some(pairs, short) {
        tried(&format!("{}{}{}", &text[..span.start], quoted(&scene.hostile(number)), &text[span.end..]));
    }
}

#[test]
fn no_text_of_a_plan_does_more_than_choose_what_is_measured() {
    let scene = needs!(Scene::new());
    each_exchanged(&scene, PLAN, true, |text| {
        scene.tried("plan.toml", text, &["review", DRIVE, "--plan", "plan.toml", "--quiet"]);
    });
    scene.is_kept();
    for (_, plan) in shipped("plans") {
        each_exchanged(&scene, &plan, false, |text| {
            scene.tried("plan.toml", text, &["review", DRIVE, "--plan", "plan.toml", "--dry-run"]);
        });
    }
    scene.is_kept();
}

#[test]
fn no_text_of_a_drive_or_a_rig_does_more_than_describe_it() {
    let scene = needs!(Scene::new());
    for folder in ["drives/disk", "drives/dram", "drives/flash", "rigs"] {
        // One of each kind: the others have the same fields.
        for (_, drive) in shipped(folder).into_iter().rev().take(2) {
            each_exchanged(&scene, &drive, false, |text| {
                scene.tried("drive.toml", text, &["run", "sim:./drive.toml", "--number_ios=1", "--quiet"]);
            });
        }
    }
    scene.is_kept();
}

#[test]
fn no_text_of_a_job_file_does_more_than_choose_what_is_measured() {
    let scene = needs!(Scene::new());
    let places: Vec<Range<usize>> = JOB
        .match_indices('=')
        .map(|(at, _)| at + 1..at + 1 + JOB[at + 1..].find('\n').unwrap())
        .chain(JOB.match_indices('[').map(|(at, _)| at + 1..at + JOB[at..].find(']').unwrap()))
        .collect();
    let numbered = |(index, span): (usize, Range<usize>)| {
        (index % 3..HOSTILE.len()).step_by(3).map(move |number| (number, span.clone()))
    };
    for (number, span) in soak::some(places.into_iter().enumerate().flat_map(numbered).collect(), 24) {
        let text = format!("{}{}{}", &JOB[..span.start], scene.hostile(number), &JOB[span.end..]);
        scene.tried("job.fio", &text, &["run", "job.fio", DRIVE, "--quiet"]);
        if number % 6 == 0 {
            scene.tried("job.fio", &text, &["run", "job.fio", "--quiet"]);
            fs::remove_file(scene.place.path("data")).ok();
        }
    }
    scene.is_kept();
}

#[test]
fn no_line_of_iometers_files_and_of_traces_does_more_than_choose_what_is_measured() {
    let scene = needs!(Scene::new());
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("fuzz/seeds");
    for (kind, words) in [
        ("icf", &["import", "FILE"][..]),
        ("trace", &["run", DRIVE, "--quiet", "--number_ios=1", "--read_iolog", "FILE"]),
    ] {
        for seed in fs::read_dir(seeds.join(kind)).unwrap() {
            let seed = seed.unwrap().path();
            let text = String::from_utf8_lossy(&fs::read(&seed).unwrap()).into_owned();
            let file = format!("data.{}", seed.extension().unwrap().to_str().unwrap());
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "FILE" { file.as_str() } else { word }).collect();
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in soak::some(lines.iter().enumerate().take(60).collect(), 3) {
                let hostile = scene.hostile(index);
                // The whole line, and its last field.
                let last = line.rfind([' ', ',', '\t']).map_or(0, |at| at + 1);
                for exchanged in [hostile.clone(), format!("{}{hostile}", &line[..last])] {
                    let mut lines: Vec<&str> = lines.clone();
                    lines[index] = &exchanged;
                    scene.tried(&file, &(lines.join("\n") + "\n"), &words);
                }
            }
        }
    }
    scene.is_kept();
}
