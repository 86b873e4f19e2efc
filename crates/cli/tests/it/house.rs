//! The house rules that a machine can check: the layers, the size of files, where `unsafe` lives, the
//! links between documents, and the scripts.

mod circles;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates from the bottom up, each with those that it may use.
const LAYERS: [(&str, &[&str]); 14] = [
    ("block", &[]),
    ("stats", &["block"]),
    ("workload", &["block"]),
    ("drive", &["block"]),
    ("host", &["block"]),
    ("measurement", &["block", "stats", "workload", "drive", "host"]),
    ("engine", &["block", "stats", "workload", "drive", "host", "measurement"]),
    ("store", &["block", "stats", "workload", "drive", "host", "measurement"]),
    ("attach", &["block", "stats", "workload", "drive", "host", "engine"]),
    ("plan", &["block", "stats", "workload", "drive", "host", "measurement"]),
    ("trial", &["block", "stats", "workload", "drive", "host", "measurement", "engine", "attach", "plan"]),
    ("lab", &["block", "stats", "workload", "drive", "host", "engine", "store", "attach", "plan", "trial"]),
    (
        "report",
        &["block", "stats", "workload", "drive", "host", "measurement", "engine", "store", "plan", "trial", "lab"],
    ),
    ("cli", &["block", "stats", "workload", "drive", "host", "engine", "store", "attach", "trial", "lab", "report"]),
];

/// Where `unsafe` may be: the rings, and calls to the kernel that have no safe wrapper.
const UNSAFE: [&str; 7] = [
    "host/src/kernel.rs",
    "engine/src/buffers.rs",
    "engine/src/crew.rs",
    "engine/src/registration.rs",
    "engine/src/uring.rs",
    "engine/src/kernel.rs",
    "attach/src/ublk/kernel.rs",
];

/// What the crates below `engine` never touch: clocks, files, threads, the environment.
const OUTSIDE_WORLD: [&str; 8] =
    ["Instant", "SystemTime", "std::fs", "std::thread", "std::env", "std::process", "std::net", "rustix::"];

/// Where files are opened for writing, and by what words.
const WRITES: (&str, [&str; 7]) = (
    "host/src/open.rs",
    ["File::create", "File::options", "OpenOptions", "fs::write(", "fs::copy(", "OFlags::CREATE", "OFlags::RDWR"],
);

/// Where programs are made ready and started, and by what words.
const STARTS: (&str, [&str; 4]) = ("host/src/program.rs", ["Command::new(", ".spawn()", ".output()", ".status()"]);

/// What any crate may use in its tests and nowhere else, and what uses none of them.
const TESTKIT: &str = "testkit";

/// What tells that a file is the kernel's own account of the machine: only `host` reads it, each part in one place.
const KERNEL: [&str; 4] = ["\"/proc", "\"/sys/", "\"proc/", "\"sys/"];

/// The crates that link io_uring: the engine hands requests over by it, ublk speaks by it, and the doctor tries it.
const RINGS: [&str; 3] = ["engine", "attach", "cli"];

const LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file under `folder` whose name ends with one of `endings`, in order; build results, git's own
/// files and what reviews leave behind are left out.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ours = !matches!(name.as_str(), "target" | ".git") && !name.starts_with("assay-report");
        if ours && path.is_dir() {
            found.extend(files(&path, endings));
        } else if ours && endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every Rust file of the crates' own sources, and of the module for Python.
fn sources() -> Vec<PathBuf> {
    let crates = LAYERS.iter().map(|(name, _)| root().join("crates").join(name).join("src"));
    crates.chain([root().join("python/src")]).flat_map(|folder| files(&folder, &[".rs"])).collect()
}

/// The code of a file without its line comments and without its tests, which come last.
fn code(text: &str) -> String {
    let tests = ["mod tests {", "pub(super) mod tests {"].map(|tests| format!("#[cfg(test)]\n{tests}"));
    let untested = tests.iter().fold(text, |text, tests| text.split(tests.as_str()).next().unwrap());
    untested.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Whether a file holds tests alone, which make what they need.
fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
}

/// The keys of the dependency tables of a `Cargo.toml`, tests' and builds' included.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut table = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        } else if table.ends_with("dependencies") && !line.starts_with('#') {
            found.extend(line.split(['.', ' ', '=']).next().filter(|key| !key.is_empty()));
        }
    }
    found
}

/// What comes before the dependencies of tests, which are the last.
fn without_tests(manifest: &str) -> &str {
    manifest.split("[dev-dependencies]").next().unwrap()
}

#[test]
fn layers_point_one_way() {
    let layers: Vec<(&str, &[&str])> = LAYERS.into_iter().chain([(TESTKIT, &[][..])]).collect();
    let names: BTreeSet<_> = layers.iter().map(|(name, _)| (*name).to_owned()).collect();
    let folders: BTreeSet<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders, names, "every crate has its place among the layers");
    for (name, allowed) in layers {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        let (_, for_tests) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        for used in dependencies(&manifest) {
            let ours = names.contains(used);
            let helps_tests = used == TESTKIT && for_tests.contains("\ntestkit.workspace");
            assert!(
                !ours || allowed.contains(&used) || helps_tests,
                "`{name}` may use {allowed:?} and nothing above, yet uses `{used}`"
            );
        }
    }
}

/// The arrows of the diagram of layers: `a & b --> c --> d`.
fn arrows(page: &str) -> BTreeSet<(String, String)> {
    let (_, diagram) = page.split_once("flowchart LR\n").expect("the page has a diagram");
    let (diagram, _) = diagram.split_once("```").expect("the diagram has an end");
    let mut arrows = BTreeSet::new();
    for line in diagram.lines() {
        let groups: Vec<Vec<&str>> = line.split("-->").map(|group| group.split('&').map(str::trim).collect()).collect();
        for pair in groups.windows(2) {
            let of = |from: &&str| pair[1].iter().map(|to| ((*from).to_owned(), (*to).to_owned())).collect::<Vec<_>>();
            arrows.extend(pair[0].iter().flat_map(of));
        }
    }
    arrows
}

#[test]
fn the_diagram_of_layers_shows_what_the_crates_depend_on() {
    let arrows = arrows(&read(&root().join("docs/architecture.md")));
    let mut uses: BTreeSet<(String, String)> = BTreeSet::new();
    for (name, allowed) in LAYERS {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        let used = dependencies(without_tests(&manifest)).into_iter().filter(|used| allowed.contains(used));
        uses.extend(used.map(|used| (used.to_owned(), name.to_owned())));
    }
    for (from, to) in &arrows {
        assert!(uses.contains(&(from.clone(), to.clone())), "the diagram shows {from} --> {to}, which is not so");
    }
    // What is used by way of another need not have an arrow of its own.
    let mut reached = arrows;
    loop {
        let next: Vec<(String, String)> = reached
            .iter()
            .flat_map(|(from, by)| {
                reached.iter().filter(move |(start, _)| start == by).map(|(_, to)| (from.clone(), to.clone()))
            })
            .filter(|arrow| !reached.contains(arrow))
            .collect();
        if next.is_empty() {
            break;
        }
        reached.extend(next);
    }
    for (from, to) in uses {
        assert!(reached.contains(&(from.clone(), to.clone())), "`{to}` uses `{from}`, which the diagram does not show");
    }
}

/// The functions of the trait `Drive` in a text, each without what it does if a drive does nothing else.
fn interface(text: &str) -> Vec<String> {
    let (_, body) = text.split_once("pub trait Drive {\n").expect("it has the trait");
    let (body, _) = body.split_once("\n}").expect("which has an end");
    let functions = body.lines().map(str::trim).filter(|line| line.starts_with("fn "));
    functions.map(|line| line.split([';', '{']).next().unwrap().trim().replace(", _", ", ")).collect()
}

#[test]
fn the_interface_of_drives_is_shown_as_it_is() {
    let shown = interface(&read(&root().join("docs/architecture.md")));
    assert_eq!(shown, interface(&read(&root().join("crates/drive/src/lib.rs"))));
}

#[test]
fn every_file_in_the_table_of_a_crate_is_there() {
    let (mut found, mut missing) = (0, Vec::new());
    for (name, _) in LAYERS {
        let folder = root().join("crates").join(name);
        let page = read(&folder.join("README.md"));
        for row in page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next()) {
            let files = row.split('`').filter(|word| word.ends_with(".rs") || word.ends_with('/'));
            let mut beside = folder.join("src");
            for file in files {
                let paths = [folder.join("src").join(file), beside.join(file)];
                match paths.iter().find(|path| path.exists()) {
                    // The next in the row may be named without the folder that both are in.
                    Some(path) => beside = path.parent().unwrap().to_owned(),
                    None => missing.push(format!("crates/{name}/README.md names {file}, which is not there")),
                }
                found += 1;
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(found > 100, "only {found} files are named: are they still written as | `file.rs` | what it holds |?");
}

#[test]
fn nothing_below_the_engine_touches_the_outside_world() {
    for name in ["block", "stats", "workload", "drive", "measurement"] {
        for path in files(&root().join("crates").join(name).join("src"), &[".rs"]) {
            let text = read(&path);
            for outside in OUTSIDE_WORLD {
                // When it began is kept with what was measured; only who measures asks a clock. Threads that end where they
                // begin do nothing but what their caller would do.
                let harmless =
                    ["Option<std::time::Instant>", "std::thread::scope(", "std::thread::available_parallelism()"];
                let code = harmless.iter().fold(code(&text), |code, words| code.replace(words, ""));
                assert!(!code.contains(outside), "{} uses {outside}", path.display());
            }
        }
    }
}

#[test]
fn no_source_file_is_too_long_to_read_at_once() {
    for path in sources() {
        let lines = read(&path).lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines; split it below {LINES_MAX}", path.display());
    }
}

#[test]
fn unsafe_code_lives_next_to_the_kernel_and_says_why_it_is_sound() {
    for path in sources() {
        let text = read(&path);
        // What browsers call so in the policy of a page is no code.
        let code = code(&text).replace("'unsafe-inline'", "");
        let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let blocks = words.filter(|word| *word == "unsafe").count();
        let home = UNSAFE.iter().any(|home| path.ends_with(home));
        assert!(blocks == 0 || home, "{} has unsafe code; only {UNSAFE:?} may", path.display());
        let reasons = text.matches("SAFETY:").count();
        assert!(blocks <= reasons, "{}: {blocks} unsafe blocks and {reasons} SAFETY lines", path.display());
    }
}

#[test]
fn one_module_opens_files_for_writing_and_one_starts_programs() {
    let mut strays = Vec::new();
    for path in sources() {
        let is_test = is_test(&path);
        let text = read(&path);
        // clap's commands are no programs.
        let code = code(&text).replace("clap::Command::new(", "").replace("Command::new(\"assay\")", "");
        for (home, words) in [(WRITES.0, &WRITES.1[..]), (STARTS.0, &STARTS.1[..])] {
            let found = words.iter().filter(|word| !is_test && !path.ends_with(home) && code.contains(**word));
            strays.extend(found.map(|word| format!("{} has {word}; only {home} may", path.display())));
        }
    }
    assert!(strays.is_empty(), "{}", strays.join("\n"));
}

#[test]
fn only_the_host_reads_what_the_kernel_tells_of_the_machine() {
    let (mut strays, mut homes) = (Vec::new(), 0);
    for path in sources().iter().filter(|path| !is_test(path)) {
        let code = code(&read(path));
        let found = KERNEL.iter().filter(|word| code.contains(**word)).count();
        if path.starts_with(root().join("crates/host")) {
            homes += found.min(1);
        } else if found > 0 {
            strays.push(path.display().to_string());
        }
    }
    assert!(strays.is_empty(), "only crates/host reads /proc and /sys, yet these do:\n{}", strays.join("\n"));
    assert!(
        homes >= 5,
        "only {homes} files of crates/host are seen to read /proc and /sys: is that still how it is written?"
    );
}

#[test]
fn only_what_hands_requests_over_links_io_uring() {
    for (name, _) in LAYERS {
        let links = dependencies(&read(&root().join("crates").join(name).join("Cargo.toml"))).contains("io-uring");
        assert_eq!(links, RINGS.contains(&name), "`{name}` links io_uring, or does no more: only {RINGS:?} do");
    }
}

/// What a crate is built with, whatever it takes for its tests: the keys of its dependencies and of those of ours among them.
fn built_with(name: &str, found: &mut BTreeSet<String>) {
    let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
    for used in dependencies(without_tests(&manifest)) {
        if found.insert(used.to_owned()) && LAYERS.iter().any(|(ours, _)| *ours == used) {
            built_with(used, found);
        }
    }
}

#[test]
fn plans_and_reports_need_neither_io_uring_nor_sqlite() {
    for name in ["plan", "report"] {
        let mut found = BTreeSet::new();
        built_with(name, &mut found);
        assert!(found.contains("measurement"), "`{name}` is built with {found:?}: is that still how it is written?");
        for heavy in ["io-uring", "rusqlite", "engine", "store"] {
            assert!(!found.contains(heavy), "`{name}` is built with {heavy}");
        }
    }
}

#[test]
fn every_crate_has_a_page_that_introduces_it() {
    for (name, _) in LAYERS {
        let page = read(&root().join("crates").join(name).join("README.md"));
        assert!(page.starts_with("# "), "crates/{name}/README.md begins with a title");
    }
}

/// The targets of a document's links and pictures, outside fenced blocks.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut followed = 0;
    for document in files(&root(), &[".md"]) {
        let text = read(&document);
        let elsewhere = |link: &&str| link.contains("://") || link.starts_with('#') || link.starts_with("mailto:");
        for link in links(&text).into_iter().filter(|link| !elsewhere(link)) {
            let path = link.split('#').next().unwrap();
            let found = document.parent().unwrap().join(path).exists();
            assert!(found, "{} links to {link}, which is not there", document.display());
            followed += 1;
        }
    }
    assert!(followed >= 10, "only {followed} links were found: are they still written as [words](path)?");
}

#[test]
fn the_readme_asks_for_two_commands() {
    let text = read(&root().join("README.md"));
    let blocks = text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let commands: Vec<_> = blocks.flat_map(str::lines).filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands, ["cargo run --release -- review", "make test"]);
}

#[test]
fn the_changelog_knows_this_version() {
    let version = concat!("## [", env!("CARGO_PKG_VERSION"), "]");
    assert!(read(&root().join("CHANGELOG.md")).contains(version), "CHANGELOG.md has no section {version}");
}

#[test]
fn no_file_names_a_place_on_one_machine() {
    let endings = [
        ".rs",
        ".md",
        ".toml",
        ".trycmd",
        "Makefile",
        "scripts/test",
        "scripts/soak",
        "scripts/python",
        ".py",
        ".ipynb",
        "scripts/tools",
        "scripts/picture",
        "scripts/gallery",
    ];
    // What others wrote, they wrote on their own machines.
    let corpus = root().join("crates/cli/tests/corpus");
    for path in files(&root(), &endings).into_iter().filter(|path| !path.starts_with(&corpus)) {
        let text = read(&path);
        for place in [concat!("/wo", "rk/"), concat!("/ro", "ot/")] {
            assert!(!text.contains(place), "{} names {place}", path.display());
        }
    }
}

/// A copy of `scripts/test` in a folder of its own, with a `cargo` that prints `output`, as `runner` would, and ends with
/// `code`: what the script prints last, and how it ends.
fn test_script_on(runner: &str, output: &str, code: i32) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir_all(place("scripts")).unwrap();
    fs::create_dir_all(place("bin")).unwrap();
    fs::copy(root().join("scripts/test"), place("scripts/test")).unwrap();
    fs::write(place(runner), output).unwrap();
    let cargo = format!(
        "#!/bin/sh\ncase \"$*\" in\n'nextest --version') test -e nextest; exit ;;\n*--doc*) exit 0 ;;\nesac\n\
         cat $1\nexit {code}\n"
    );
    fs::write(place("bin/cargo"), cargo).unwrap();
    fs::set_permissions(place("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place("bin").display(), std::env::var("PATH").unwrap());
    let run = Command::new("bash").arg(place("scripts/test")).env("PATH", path).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    (said, run.status.code().unwrap())
}

#[test]
fn the_test_script_tells_skipped_tests_from_passed_ones() {
    let by_cargo = "\
running 3 tests
test swift ... ok
test picture ... ok
test wrong ... FAILED

successes:

---- picture stdout ----
skipped: chromium is not installed
skipped: and said twice

failures:

---- wrong stdout ----
skipped: said before it failed

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 2 tests

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    let by_nextest = "\
    Starting 5 tests across 2 binaries (1 test skipped)
        PASS [   0.012s] (1/4) assay::it swift
        PASS [   1.234s] (2/4) assay::it picture
  stdout ───

    running 1 test
    test picture ... ok

  stderr ───
    skipped: chromium is not installed
    skipped: and said twice

        FAIL [   0.010s] (3/4) assay::it wrong
  stderr ───
    skipped: said before it failed

        PASS [   0.010s] (4/4) assay-block amounts
────────────
     Summary [   1.300s] 4 tests run: 3 passed (1 slow), 1 failed, 1 skipped
        FAIL [   0.010s] (3/4) assay::it wrong
error: test run failed
";
    let expected = "
skipped picture: chromium is not installed
skipped 1 marked as ignored
2 passed, 1 failed, 2 skipped
";
    for (runner, output, code) in [("test", by_cargo, 101), ("nextest", by_nextest, 100)] {
        let (said, ended) = test_script_on(runner, output, code);
        assert!(said.ends_with(expected) && ended == code, "{runner}: {said}");
        assert!(said.contains("said before it failed"), "{runner}: what a failed test says is shown: {said}");
        assert!(runner == "test" || !said.contains("running 1 test"), "what a passing one says is in the log: {said}");
    }
}

#[test]
fn the_test_script_fails_where_nothing_could_be_built() {
    let (said, code) = test_script_on("test", "error: could not compile `assay`\n", 101);
    assert!(said.contains("could not be built") && said.ends_with("0 passed, 0 failed, 0 skipped\n"), "{said}");
    assert_eq!(code, 101);
}

/// As docs/contributing.md promises: who adds one has no number to change.
#[test]
fn a_line_is_all_that_another_drive_plan_review_or_step_takes() {
    let page = read(&root().join("docs/contributing.md"));
    for (file, list) in [
        ("crates/drive/src/preset/embedded.rs", "EMBEDDED"),
        ("crates/plan/src/catalog.rs", "BUILTIN"),
        ("crates/plan/src/replicate/catalog.rs", "BUILTIN"),
        ("crates/trial/src/experiment.rs", "EXPERIMENTS"),
    ] {
        assert!(page.contains(&format!("`{file}`")), "the page does not name {file}");
        let text = read(&root().join(file));
        assert!(text.contains(&format!("const {list}: &[")), "{file}: {list} is not a list of any length");
    }
}
