//! The way in: the front page, and five minutes with assay.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::page::{Block, Page, root};
use super::shell::{Instead, Shell};
use crate::support::{LoopDevice, fio_plot, other, skip, tool};

/// What cargo knows of the workspace, without a look at the network.
fn workspace() -> Value {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    serde_json::from_slice(&cargo.stdout).unwrap()
}

/// The programs that cargo builds of these packages, each with the folder of its package.
fn programs(workspace: &Value, packages: impl Fn(&Value) -> bool) -> BTreeSet<(String, String)> {
    let mut programs = BTreeSet::new();
    for package in workspace["packages"].as_array().unwrap().iter().filter(|package| packages(package)) {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let folder = folder.strip_prefix(root()).unwrap().display().to_string();
        for target in package["targets"].as_array().unwrap() {
            let is_program = target["kind"].as_array().unwrap().contains(&Value::from("bin"));
            programs.extend(is_program.then(|| (folder.clone(), target["name"].as_str().unwrap().to_owned())));
        }
    }
    programs
}

/// The one program, as cargo names it.
fn assay() -> BTreeSet<(String, String)> {
    BTreeSet::from([("crates/cli".to_owned(), "assay".to_owned())])
}

/// `cargo run --release -- WORDS` is the program under test with these words: cargo would build no other. `make test` is
/// what runs this test.
pub fn readme(page: Page) {
    let workspace = workspace();
    let by_default = workspace["workspace_default_members"].as_array().unwrap();
    assert_eq!(programs(&workspace, |package| by_default.contains(&package["id"])), assay(), "what `cargo run` finds");
    let shell = Shell::new(&[("cargo run --release -- review", "assay review --quick")]);
    for block in page.of_kind("sh") {
        let Some(target) = block.text.trim().strip_prefix("make ") else {
            let printed = shell.runs(&block).expect("it takes no other program").out;
            let report = printed.lines().last().unwrap().strip_prefix("Report: ").expect("where the report is");
            let html = std::fs::read_to_string(shell.place.path(report)).unwrap();
            assert!(html.starts_with("<!DOCTYPE html>") && printed.lines().count() > 10, "{printed}");
            continue;
        };
        if tool("make").is_none() {
            return skip("no make here (apt install make)");
        }
        let root = root().display().to_string();
        let steps = other("make", &["--dry-run", "--no-print-directory", "-C", &root, target]);
        assert_eq!(steps.lines().collect::<Vec<_>>(), ["scripts/tools", "scripts/test"]);
        for script in steps.lines() {
            other("bash", &["-n", &format!("{root}/{script}")]);
        }
        let script = std::fs::read_to_string(format!("{root}/scripts/test")).unwrap();
        assert!(
            script.contains("cargo nextest run \"${what[@]}\"") && script.contains("what=(--workspace "),
            "every crate is tested"
        );
    }
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}

/// Smaller drives and files, shorter runs, a device that is there, and a terminal for what draws on the whole of one.
const INSTEAD: [Instead; 16] = [
    ("\"$repository\" assay", concat!("--quiet ", env!("CARGO_MANIFEST_DIR"), "/../.. assay")),
    ("cargo run --release -- review", "assay review 'sim:x25-m?capacity.user=1GiB' --quick"),
    // The program under test is what would be installed.
    ("cargo install --path crates/cli", "command -v assay"),
    ("assay review\n", "assay review 'sim:x25-m?capacity.user=1GiB' --quick\n"),
    ("assay review sim:x25-m ", "assay review 'sim:x25-m?capacity.user=1GiB' --quick "),
    ("assay review 'sim:x25-m?link", "assay review --quick 'sim:x25-m?capacity.user=1GiB&link"),
    // The whole method takes two minutes where time is real.
    ("--size 2GiB --quick", "--size 64MiB --plan short.toml --quick"),
    ("review \"$device\" --quick", "review \"$device\" --plan short.toml --quick"),
    ("review /dev/sdX --destroy-data /dev/sdX", "review \"$device\" --destroy-data \"$device\" --plan short.toml"),
    ("--size 2G ", "--size 64M "),
    ("--size=1g", "--size=64m"),
    ("--runtime=10s", "--runtime=300ms"),
    ("assay run sim:x25-m ", "assay run 'sim:x25-m?capacity.user=1GiB' "),
    ("--runtime=2s", "--runtime=100ms"),
    (
        "assay review --live",
        "script --quiet --return --command 'assay review --quick --live sim:x25-m?capacity.user=1GiB' typescript",
    ),
    ("assay review --metrics", "assay review 'sim:x25-m?capacity.user=1GiB' --quick --metrics"),
];

/// The blocks of the page in its order, each with what the page takes to be there.
pub fn page(page: Page) {
    assert_eq!(programs(&workspace(), |package| package["name"] == "assay"), assay(), "what `cargo install` installs");
    let shell = Shell::new(&INSTEAD);
    std::fs::write(shell.place.path("short.toml"), format!("name = \"short\"\n{STEPS}")).unwrap();
    for block in page.of_kind("sh") {
        let kinds = ["losetup", "/dev/sdX", "fio-plot", "--live", "compare 1 2", "compare 1 last", "--resume"];
        match kinds.into_iter().find(|kind| block.text.contains(kind)) {
            Some("losetup") => on_a_device(&shell, &block),
            Some("/dev/sdX") => on_a_device_with_data(&shell, &block),
            Some("fio-plot") => with_a_picture(&shell, &block),
            Some("--live") if tool("script").is_none() => skip("no script here (apt install bsdutils)"),
            Some("compare 1 2") => {
                shell.forget();
                shell.runs(&block);
            }
            Some("compare 1 last") => guarded(&shell, &block),
            Some("--resume") => cut_off(&shell, &block),
            _ => drop(shell.runs(&block)),
        }
    }
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}

/// A block that makes a device of a file.
fn on_a_device(shell: &Shell, block: &Block) {
    if LoopDevice::lacks().is_none() {
        shell.runs(block);
        let left = other("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]);
        let image = shell.place.path("disk.img").canonicalize().unwrap().display().to_string();
        assert!(!left.contains(&image), "{}: its device is still there:\n{left}", block.at);
    }
}

/// A block that gives up what a device carries, on one that carries a file system: unless it is named twice it is refused.
fn on_a_device_with_data(shell: &Shell, block: &Block) {
    let typed = shell.scaled(&block.text);
    let Some(device) = LoopDevice::new(&shell.place.path("data.img"), 64) else { return };
    other("mkfs.ext4", &["-q", &device.0]);
    let named = format!("device={}\n", device.0);
    let once = shell.types(&format!("{named}assay review \"$device\" --quick"));
    assert!(once.code == Some(2) && once.err.contains("--destroy-data"), "{}", once.err);
    let twice = shell.types(&format!("{named}{typed}"));
    assert_eq!(twice.code, Some(0), "{}: {}", block.at, twice.err);
}

/// A block that ends with a picture; without what draws it, all but that is typed.
fn with_a_picture(shell: &Shell, block: &Block) {
    let Some(program) = fio_plot() else {
        let text = block
            .text
            .lines()
            .filter(|line| !line.starts_with("fio-plot"))
            .fold(String::new(), |all, line| all + line + "\n");
        shell.runs(&Block { at: block.at.clone(), kind: block.kind.clone(), text });
        return skip("fio-plot is not installed (scripts/tools, or pip install fio-plot)");
    };
    shell.link("fio-plot", &program);
    shell.runs(block);
    let picture = std::fs::read(shell.place.path("depths.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{} bytes are no chart", picture.len());
}

/// Two cells.
const STEPS: &str = "[[step]]\nname = \"reads\"\nrw = \"randread\"\nnumber_ios = 500\nsweep.iodepth = [1, 32]\n";

/// A block that compares with a run that is kept. Whether this disk is slower today is not asked here: it ends with 0, 1 or 3.
fn guarded(shell: &Shell, block: &Block) {
    shell.forget();
    std::fs::write(shell.place.path("guard.toml"), format!("name = \"guard\"\n{STEPS}")).unwrap();
    let kept = shell.types("assay review ./scratch.bin --plan guard.toml --repeats 8");
    assert_eq!(kept.code, Some(0), "{}", kept.err);
    let compared = shell.types(&shell.scaled(&block.text));
    assert!(matches!(compared.code, Some(0 | 1 | 3)), "{}: {:?}: {}", block.at, compared.code, compared.err);
    let document = std::fs::read(shell.place.path("comparison.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).expect("a document, whichever way it ends");
    assert!(document.is_object(), "{document}");
}

/// A block that goes on with what Ctrl-C has cut off.
fn cut_off(shell: &Shell, block: &Block) {
    // By count, so that nothing goes on while the review is stopped and looked at; the second step takes seconds, and is
    // stopped a tenth of one after it has begun. Until then the last run may be an earlier one, which has no such step.
    let step = |name: &str, depth: u32, count: u32| {
        format!("[[step]]\nname = \"{name}\"\nrw = \"randread\"\nnumber_ios = {count}\nsweep.iodepth = [{depth}]\n")
    };
    let plan = format!("name = \"long\"\nrepeats = 1\n{}{}", step("first", 1, 500), step("rest", 32, 4_000_000));
    std::fs::write(shell.place.path("long.toml"), plan).unwrap();
    let cut = shell.types(
        "assay review ./scratch.bin --plan long.toml &\n\
         until [ \"$(assay show last --format csv 2>&1 | grep --count ^first,)\" -gt 0 ]; do\n\
         kill -CONT $!; sleep 0.1; kill -STOP $!; done\n\
         kill -INT $!; kill -CONT $!; wait $!",
    );
    assert_eq!(cut.code, Some(130), "{}", cut.err);
    assert!(cut.err.contains("--resume"), "{}", cut.err);
    shell.runs(block);
}

/// The example on the page of the command itself: shorter, and a server that is asked to end.
pub fn introduction(page: Page) {
    const INSTEAD: [Instead; 6] = [
        ("assay review   ", "assay review 'sim:x25-m?capacity.user=1GiB' --quick "),
        ("--size 2GiB --quick", "--size 64MiB --plan short.toml --quick"),
        ("--iodepth=32 --runtime=10s", "--iodepth=32 --runtime=1s"),
        ("replicate solid-data", "replicate ocaholic-x25m"),
        ("--figures solid-data", "--figures small.toml --rounds 1"),
        ("assay serve ", "serve assay serve --listen 127.0.0.1:0 "),
    ];
    let shell = Shell::new(&INSTEAD);
    std::fs::write(shell.place.path("short.toml"), format!("name = \"short\"\n{STEPS}")).unwrap();
    shell.place.small_review();
    // A server, which is asked to end once it has said where it is.
    shell.program("serve", "\"$@\" > link & until [ -s link ]; do sleep 0.1; done; cat link; kill -INT $!; wait $!");
    for block in page.of_kind("sh") {
        for line in block.text.lines() {
            let line = Block { at: block.at.clone(), kind: block.kind.clone(), text: format!("{line}\n") };
            if line.text.contains("--resume") { cut_off(&shell, &line) } else { drop(shell.runs(&line)) }
        }
    }
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}
