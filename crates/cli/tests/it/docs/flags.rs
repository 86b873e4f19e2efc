//! Options that pages name: the program has them.

use std::collections::{BTreeMap, BTreeSet};

use super::page::Page;
use crate::support::Place;

/// Options of other programs that pages name.
const OF_OTHERS: [(&str, &[&str]); 15] = [
    ("blockdev", &["--flushbufs"]),
    ("cargo", &["--release", "--path", "--test", "--features", "--workspace", "--locked", "--bench", "--all-targets"]),
    ("a test", &["--nocapture", "--ignored"]),
    ("curl", &["--silent", "--fail"]),
    (
        "fio",
        &[
            "--uri",
            "--replay_redirect",
            "--write_iolog",
            "--showcmd",
            "--parse-only",
            "--readonly",
            "--warnings-fatal",
            "--status-interval",
            "--bandwidth-log",
        ],
    ),
    ("scripts in benches/", &["--against", "--prices"]),
    ("hdparm and nvme", &["--user-master", "--security-set-pass", "--security-erase", "--sanact", "--force"]),
    ("lsblk", &["--nodeps", "--noheadings"]),
    ("losetup and truncate", &["--show", "--find", "--detach", "--size"]),
    (
        "mkfs.btrfs",
        &[
            "--byte-count",
            "--checksum",
            "--csum",
            "--data",
            "--features",
            "--force",
            "--leafsize",
            "--metadata",
            "--mixed",
            "--nodesize",
            "--nodiscard",
            "--quiet",
            "--rootdir",
            "--runtime-features",
            "--sectorsize",
            "--verbose",
        ],
    ),
    (
        "pgbench",
        &[
            "--connect",
            "--exit-on-abort",
            "--failures-detailed",
            "--latency-limit",
            "--max-tries",
            "--no-vacuum",
            "--progress",
            "--progress-timestamp",
            "--protocol",
            "--rate",
            "--report-latencies",
            "--report-per-command",
            "--vacuum-all",
            "--verbose-errors",
        ],
    ),
    ("sbatch", &["--array", "--cpus-per-task", "--job-name", "--wait"]),
    ("sg_sanitize", &["--block", "--quick", "--wait"]),
    ("smartctl", &["--json"]),
    ("wc", &["--lines"]),
];

/// The words in a text that begin as options do, without what they are set to.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase())))
}

/// The options of each command, as its help lists them, and of the program alone.
fn known(place: &Place) -> BTreeMap<String, BTreeSet<String>> {
    let mut known = BTreeMap::new();
    let mut left = vec![String::new()];
    while let Some(command) = left.pop() {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = place.succeeds(&words);
        let listed = help.lines().filter(|line| line.trim_start().starts_with('-') || line.contains("[alias"));
        let mut all: BTreeSet<String> = listed.flat_map(options).map(str::to_owned).collect();
        all.insert("--help".to_owned());
        let below = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = below.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        left.extend(names.map(|name| format!("{command} {name}").trim().to_owned()));
        known.insert(command, all);
    }
    known
}

/// Every stretch of code on a page that is one command or less, with where it is.
fn code(page: &Page) -> Vec<(String, String)> {
    let mut code = Vec::new();
    for block in page.blocks().iter().filter(|block| ["sh", "text"].contains(&block.kind.as_str())) {
        let text = block.text.replace("\\\n", " ");
        code.extend(text.lines().map(|line| (block.at.clone(), line.split("  #").next().unwrap().to_owned())));
    }
    let prose = page.prose();
    code.extend(prose.split('`').skip(1).step_by(2).map(|span| (page.name.clone(), span.replace('\n', " "))));
    let parts = |(at, text): (String, String)| {
        text.split(['|', ';', '&', '>', '<']).map(|part| (at.clone(), part.to_owned())).collect::<Vec<_>>()
    };
    code.into_iter().flat_map(parts).filter(|(_, part)| options(part).next().is_some()).collect()
}

#[test]
fn every_option_that_a_page_names_is_there() {
    let known = known(&Place::new());
    assert!(known.len() > 20, "{:?}", known.keys());
    let anywhere: BTreeSet<&str> = known.values().flatten().map(String::as_str).collect();
    let of_others: BTreeSet<&str> = OF_OTHERS.iter().flat_map(|(_, options)| options.iter().copied()).collect();
    // In builds with these features.
    let by_feature = ["--vhost-user", "--ublk"];
    let (mut named, mut wrong) = (BTreeSet::new(), Vec::new());
    for (at, part) in Page::all().iter().flat_map(code) {
        let typed = part.split_once("assay ").map_or("", |(_, typed)| typed);
        let words: Vec<&str> = typed.split_whitespace().take_while(|word| !word.starts_with('-')).collect();
        let command = (0..=words.len()).rev().map(|end| words[..end].join(" ")).find(|name| known.contains_key(name));
        // Those of fio, which the examples are run with.
        if command.as_deref() == Some("fio") {
            continue;
        }
        let own = command.filter(|name| !name.is_empty()).map(|name| &known[&name]);
        for option in options(&part).filter(|option| !by_feature.contains(option)) {
            let is_there = match own {
                Some(own) => own.contains(option),
                None => anywhere.contains(option) || of_others.contains(option),
            };
            wrong.extend((!is_there).then(|| format!("{at}: no option {option} for `{}`", part.trim())));
            named.insert(option.to_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unnamed: Vec<_> = of_others.iter().filter(|option| !named.contains(**option)).collect();
    assert!(unnamed.is_empty(), "no page names {unnamed:?}");
}
