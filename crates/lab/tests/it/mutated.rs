//! Files that people write, cut, doubled, spliced and garbled: whatever comes of it is read or refused, never a panic.
//!
//! These are the targets of `fuzz/` in a bounded run: so many cases, texts of a bounded length. What is made of a text
//! is held against the text's length, so that nothing small becomes large.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assay_lab::import::icf;
use assay_lab::import::render as tell;
use assay_lab::plan::{PlanLength, parse, render};
use block::{Nanos, Request};
use drive::preset::Preset;
use proptest::prelude::*;
use workload::{Trace, TraceError, TraceReader, to_iolog};

/// The longest text that is tried, in bytes.
const LONGEST: usize = 64 * 1024;

/// The texts of files with this ending in a folder of the repository and in its own.
fn seeds(folder: &str, ending: &str) -> Vec<String> {
    fn collect(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                collect(&entry, ending, found);
            } else if entry.extension().is_some_and(|its| its == ending) {
                found.push(entry);
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), ending, &mut found);
    assert!(!found.is_empty(), "{folder} has no .{ending}");
    found.sort();
    found.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

static PLANS: LazyLock<Vec<String>> = LazyLock::new(|| seeds("plans", "toml"));
static DRIVES: LazyLock<Vec<String>> = LazyLock::new(|| [seeds("drives", "toml"), seeds("rigs", "toml")].concat());
static TRACES: LazyLock<Vec<String>> =
    LazyLock::new(|| ["log", "txt", "csv"].map(|ending| seeds("fuzz/seeds/trace", ending)).concat());
static ICF: LazyLock<Vec<String>> = LazyLock::new(|| seeds("fuzz/seeds/icf", "icf"));

/// One change to a text.
#[derive(Clone, Debug)]
enum Change {
    /// Takes out so many letters and puts this in.
    Replace(usize, String),
    /// Doubles so many letters, so many times.
    Repeat(usize, usize),
    /// Puts in so many letters of another seed.
    Splice(prop::sample::Index, prop::sample::Index, usize),
    /// Takes the place of the number that comes next.
    Number(String),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        Just(String::new()),
        "[ -~\\n\\t]{0,12}",
        "\\PC{0,6}",
        prop::sample::select(vec![
            "'", "\"", "[", "]", "{", "}", "=", ",", ",,,", "\r\n", "\n\t", "\u{feff}", "\u{0}", "%"
        ])
        .prop_map(str::to_owned),
    ];
    let number = prop_oneof![
        any::<u64>().prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "0",
            "-1",
            "1",
            "1e400",
            "4294967296",
            "18446744073709551615",
            "nan",
            "0.1",
            "99999999999999999999999"
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        (0..60_usize, word).prop_map(|(length, word)| Change::Replace(length, word)),
        (1..200_usize, 1..60_usize).prop_map(|(length, times)| Change::Repeat(length, times)),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..400_usize)
            .prop_map(|(seed, place, length)| Change::Splice(seed, place, length)),
        number.prop_map(Change::Number),
    ]
}

/// A seed with a few changes.
fn mutated(seeds: &'static [String]) -> impl Strategy<Value = String> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), change()), 1..8);
    (0..seeds.len(), changes).prop_map(move |(seed, changes)| {
        let mut text: Vec<char> = seeds[seed].chars().collect();
        for (place, change) in changes {
            let start = place.index(text.len() + 1);
            apply(change, start, &mut text, seeds);
        }
        let mut text: String = text.into_iter().collect();
        let end = (0..=LONGEST.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap();
        text.truncate(end);
        text
    })
}

fn apply(change: Change, start: usize, text: &mut Vec<char>, seeds: &[String]) {
    let end = |length: usize| (start + length).min(text.len());
    match change {
        Change::Replace(length, word) => drop(text.splice(start..end(length), word.chars())),
        Change::Repeat(length, times) => {
            let piece = text[start..end(length)].repeat(times);
            text.splice(start..start, piece);
        }
        Change::Splice(seed, place, length) => {
            let other: Vec<char> = seed.get(seeds).chars().collect();
            let from = place.index(other.len() + 1);
            let piece = other.into_iter().skip(from).take(length);
            text.splice(start..start, piece);
        }
        Change::Number(number) => {
            let Some(digit) = text[start..].iter().position(char::is_ascii_digit) else { return };
            let from = start + digit;
            let digits = text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
            text.splice(from..from + digits, number.chars());
        }
    }
}

/// The trace that a text is.
fn trace(text: &str) -> Result<Trace, TraceError> {
    TraceReader::default().text(text).map(|(trace, _)| trace)
}

#[test]
fn every_seed_of_a_trace_is_one() {
    let requests: Vec<u64> = TRACES.iter().map(|text| trace(text).unwrap().count()).collect();
    // By their endings, then by their names: three.log, two.log, queue.txt, timed.txt, cambridge.csv.
    assert_eq!(requests, [4, 4, 4, 35, 4]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_read_or_refused(text in mutated(&PLANS)) {
        for length in [PlanLength::Quick, PlanLength::Full] {
            match parse(&text, length) {
                Ok(plan) => prop_assert!(plan.steps.len() <= text.lines().count()),
                Err(mistakes) => {
                    prop_assert!(!mistakes.is_empty());
                    render(&mistakes, "plan.toml", &text, false);
                }
            }
        }
    }

    #[test]
    fn a_drive_is_read_or_refused(text in mutated(&DRIVES)) {
        match Preset::parse(&text) {
            Ok(preset) => {
                prop_assert!(preset.capacity().get() > 0);
                preset.facts();
                preset.identity();
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn a_trace_is_read_or_refused(text in mutated(&TRACES)) {
        match trace(&text) {
            Err(error) => prop_assert!(error.to_string().len() < 1024, "{error}"),
            Ok(trace) => {
                prop_assert!(trace.count() <= text.lines().count() as u64);
                prop_assert!(trace.requests().is_sorted_by_key(|traced| traced.at));
                prop_assert!(trace.longest() <= trace.end());
                // What is read can be written as fio's log and is the same when it is read again.
                let requests: Vec<(Nanos, Request)> = trace.requests().map(|each| (each.at, each.request)).collect();
                let again = self::trace(&to_iolog("target", &requests)).unwrap();
                prop_assert!(again.requests().map(|each| each.request).eq(requests.iter().map(|each| each.1)));
            }
        }
    }

    #[test]
    fn a_configuration_of_iometer_s_is_read_or_refused(text in mutated(&ICF)) {
        let path = Path::new("job.icf");
        let import = icf::import(path, &text);
        let lines = text.lines().count();
        prop_assert!(import.notices.iter().all(|notice| text.get(notice.place.span.clone()).is_some()));
        prop_assert!(import.steps.len() <= lines && import.jobs().count() <= lines);
        prop_assert!(import.notices.len() <= 8 * lines + 8, "{} notices in {lines} lines", import.notices.len());
        tell(&import.notices, &import.sources, false);
        let plan = icf::plan_text(&import, path, import.layout());
        prop_assert!(plan.len() <= 16 * 1024 + 64 * text.len(), "{} B of {} B", plan.len(), text.len());
        // What is not refused is a plan; jobs side by side are read only where plans have them.
        if !import.is_refused() && !import.steps.is_empty() {
            let refused = parse(&plan, PlanLength::Full).err();
            prop_assert!(refused.is_none(), "{plan}\n{refused:?}");
        }
    }
}
