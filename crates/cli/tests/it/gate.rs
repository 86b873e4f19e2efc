//! `assay gate` and `assay baseline`, from the command line.

use crate::support::{Place, is_narrow};
use serde_json::Value;
use testkit::alike;

const PLAN: &str = r#"
name = "guard"
title = "Guard"
repeats = 5

[workload]
size = "64m"

[[step]]
name = "fill"
do = "fill"
bs = "1m"

[[step]]
name = "read"
title = "Random reads by queue depth"
rw = "randread"
bs = "4k"
number_ios = 1000
sweep.iodepth = [1, 4]
"#;

const X25_M: &str = alike!("sim:x25-m?capacity.user=1GiB&");
/// Reads that take 5 % longer.
const SLOWER: &str = alike!("sim:x25-m?capacity.user=1GiB&", "nand.read=55.6us");

/// A store with run 1 on the drive and run 2 on the slower one, and run 1 as the baseline `main`.
fn gated() -> Place {
    let place = Place::new();
    let plan = place.path("guard.toml");
    std::fs::write(&plan, PLAN).unwrap();
    for (target, seed) in [(X25_M, "1"), (SLOWER, "2")] {
        place.succeeds(&["review", target, "--plan", plan.to_str().unwrap(), "--seed", seed]);
    }
    place.succeeds(&["baseline", "set", "main", "1"]);
    place
}

#[test]
fn a_gate_passes_fails_or_says_that_it_cannot_tell() {
    let place = gated();
    let gate = |arguments: &[&str]| {
        let said = place.assay(&[&["gate"], arguments].concat());
        (said.code, said.stdout, said.stderr)
    };
    let (code, told, _) = gate(&["1", "--baseline", "main"]);
    assert!(code == Some(0) && told.contains("Gate: pass. 0 of 4 checks failed."), "{told}");
    let (code, told, _) = gate(&["2", "--baseline", "main", "--fail-if-worse", "2%", "--allow", "target"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("fail          read iodepth=1.throughput: 4,960 IOPS, −4.76 %; allowed −2 %"), "{told}");
    assert!(told.lines().all(is_narrow), "{told}");
    assert_eq!(gate(&["2", "--baseline", "main", "--fail-if-worse", "20%", "--allow", "target"]).0, Some(0));
    let (code, told, _) = gate(&["2", "--baseline", "main"]);
    assert_eq!(code, Some(3), "another drive: {told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let different = format!("Not comparable: the target is {SLOWER}; the baseline's is {X25_M}.");
    assert!(words.contains(&different), "{told}");
    // A limit does not depend on the baseline.
    let limit = |text: &str| gate(&["2", "--limit", text]);
    assert_eq!(limit("randread-4k-qd1.p99 < 500us").0, Some(0));
    assert_eq!(limit("randread-4k-qd1.p99.9 < 100us").0, Some(1));
    assert_eq!(limit("read iodepth=1.iops > 4k").0, Some(0));
    assert_eq!(limit("read/randread-4k-qd4.throughput >= 1M").0, Some(1));
    let (code, _, said) = limit("randread-4k-qd9.p99 < 500us");
    assert!(
        code == Some(2)
            && said.contains("run 2 measures no point `randread-4k-qd9`; it has randread-4k-qd1, randread-4k-qd4"),
        "{said}"
    );
    let (code, _, said) = limit("p99 < 500us");
    assert!(code == Some(2) && said.contains("write it as"), "{said}");
    let (code, _, said) = gate(&["2"]);
    assert!(code == Some(2) && said.contains("something to check"), "{said}");
    let (code, told, _) = gate(&["2", "--limit", "read iodepth=1.p99.99 < 1s"]);
    assert!(
        code == Some(3) && told.contains("needs 10000 completed requests"),
        "1,000 requests do not tell it: {told}"
    );
}

#[test]
fn ci_servers_get_files_that_say_the_same() {
    let place = gated();
    let (junit, markdown) = (place.path("gate.xml"), place.path("gate.md"));
    let files = ["--junit", junit.to_str().unwrap(), "--markdown", markdown.to_str().unwrap()];
    let held = ["gate", "2", "--baseline", "main", "--fail-if-worse", "2%", "--allow", "target"];
    let said = place.assay(&[&held[..], &files, &["--format", "github"]].concat());
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(
        said.stdout.contains("\n::error title=read iodepth=1.throughput::4,960 IOPS, −4.76 %25"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("\n::notice title=assay gate::Gate: fail."), "{}", said.stdout);
    let document: Value =
        serde_json::from_str(&place.assay(&[&held[..], &["--format", "json"]].concat()).stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let failed = checks.iter().filter(|one| one["outcome"] == "fail").count();
    let (xml, summary) = (std::fs::read_to_string(junit).unwrap(), std::fs::read_to_string(markdown).unwrap());
    assert_eq!(xml.matches("<failure ").count(), failed, "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), checks.len(), "{xml}");
    assert_eq!(summary.matches("| ❌ fail |").count(), failed, "{summary}");
    let Some(lint) = crate::support::tool("xmllint") else { return crate::support::skip("xmllint is not installed") };
    let checked = std::process::Command::new(lint).arg("--noout").arg(place.path("gate.xml")).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn baselines_are_kept_by_name_and_as_files() {
    let place = gated();
    place.succeeds(&["baseline", "set", "release-1.0", "2"]);
    let listed = place.succeeds(&["baseline", "list"]);
    assert!(listed.contains("main") && listed.contains("release-1.0") && listed.contains("guard"), "{listed}");
    let shown = place.succeeds(&["baseline", "show", "main"]);
    assert!(shown.contains("Random read, 4 KiB, queue depth 1: 5.2") && shown.contains(X25_M), "{shown}");
    place.succeeds(&["baseline", "export", "main", "kept.json"]);
    let kept = std::fs::read_to_string(place.path("kept.json")).unwrap();
    assert_eq!(kept.lines().filter(|line| line.contains("\"step\":\"read\"")).count(), 2, "a line for each point");
    place.succeeds(&["baseline", "rm", "main"]);
    let said = place.refuses(&["gate", "1", "--baseline", "main"]);
    assert!(said.contains("there is no baseline `main`: the store has release-1.0"), "{said}");
    assert!(place.refuses(&["baseline", "rm", "main"]).contains("no baseline `main`"));
    // The file says the same as the name did, in another store as well.
    let told = place.succeeds(&["gate", "1", "--baseline", "./kept.json"]);
    assert!(told.contains("Gate: pass. 0 of 4 checks failed."), "{told}");
    assert!(place.refuses(&["baseline", "set", "../x", "1"]).contains("a name has up to 64 letters"));
    // What is in a file is data.
    for (text, words) in [
        ("{", "it is no baseline of assay"),
        ("{\"format\":\"assay-baseline\",\"version\":9}", "version 9"),
        (&kept.replace("\"samples\":[", "\"samples\":[-1.0,"), "are no figures of a run"),
        (&kept.replace("\"plan\": \"guard\"", "\"plan\": \"\\u001b]0;x\""), "cannot be shown"),
    ] {
        std::fs::write(place.path("hostile.json"), text).unwrap();
        let said = place.refuses(&["gate", "1", "--baseline", "hostile.json"]);
        assert!(said.contains(words) && !said.contains('\u{1b}'), "{words}: {said}");
    }
    std::fs::write(place.path("long.json"), vec![b' '; (16 << 20) + 1]).unwrap();
    assert!(place.refuses(&["gate", "1", "--baseline", "long.json"]).contains("longer than 16 MiB"));
    assert!(place.refuses(&["gate", "1", "--baseline", "missing.json"]).contains("cannot be read"));
    assert!(place.refuses(&["gate", "1", "--baseline", "/dev/zero"]).contains("cannot be read"));
}

#[test]
fn a_plan_that_asks_for_something_else_is_inconclusive() {
    let place = gated();
    let plan = place.path("guard.toml");
    std::fs::write(&plan, PLAN.replace("number_ios = 1000", "number_ios = 1001")).unwrap();
    place.succeeds(&["review", X25_M, "--plan", plan.to_str().unwrap()]);
    let said = place.assay(&["gate", "last", "--baseline", "main"]);
    assert!(said.code == Some(3) && said.stdout.contains("another workload"), "{}{}", said.stdout, said.stderr);
}
