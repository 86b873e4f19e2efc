//! Many machines: stores are merged and pushed, and shards of a review are the review.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use block::{Bytes, Seed};
use engine::{Clock, Measurement};
use store::{Filter, NewRun, RunState, Store};
use testkit::soak;
use workload::Workload;

use crate::support::Place;
use crate::support::served::{Answer, Served};

const TOKEN: &str = "a-token-of-the-tests";

/// Each way that a step's figures depend on what was before: states, rounds, loads, other drives.
const PLAN: &str = r#"
name = "sharded"
title = "What shards have to agree on"
repeats = 2

[[step]]
name = "purge"
do = "purge"

[[step]]
name = "fill"
do = "fill"

[[step]]
name = "read"
rw = "randread"
number_ios = 100
sweep.bs = ["4k", "16k", "64k"]

[[step]]
name = "wear"
do = "condition"
rw = "randwrite"
round = "20ms"
steady = "snia"
at-least = "60ms"
at-most = "200ms"

[[step]]
name = "worn"
rw = "randrw"
number_ios = 100
sweep.iodepth = [1, 4, 16]

[[step]]
name = "loaded"
rw = "randread"
number_ios = 100
load-of = "read"
sweep.load = ["20%", "50%"]

[[step]]
name = "parts"
rw = "randread"
number_ios = 100
sweep."drive.nand.read" = ["50us", "100us"]
sweep.iodepth = [1, 8]
"#;

/// How far a run came, what it measured by step, cell and repeat, and its findings.
type Figures = (RunState, BTreeMap<(String, String, u32), Measurement>, Vec<String>);

/// What the only listed run of a store has.
fn figures(place: &Place, store: &str) -> Figures {
    let store = Store::open_to_read(&place.path(store)).unwrap();
    let listed = store.listed(&Filter::default(), 0, 9).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let measured = store.measured(listed[0].id).unwrap();
    let count = measured.len();
    let all: BTreeMap<_, _> =
        measured.into_iter().map(|one| ((one.step, one.key, one.repeat), one.measurement)).collect();
    assert_eq!(all.len(), count, "nothing is there twice");
    let notes = store.notes(listed[0].id).unwrap().into_iter().map(|note| note.text).collect();
    (listed[0].state, all, notes)
}

#[test]
fn shards_give_the_figures_of_one_process_bit_for_bit_however_many_there_are() {
    let place = Place::new();
    std::fs::write(place.path("plan.toml"), PLAN).unwrap();
    let review = |store: &str, more: &[&str]| {
        let words = ["review", "sim:x25-m?capacity.user=1GiB", "--plan", "plan.toml", "--store", store];
        place.succeeds(&[&words[..], more].concat())
    };
    review("whole.sqlite", &[]);
    let (state, whole, _) = figures(&place, "whole.sqlite");
    assert_eq!(state, RunState::Complete);
    let counts: &[u32] = if soak::is_asked() { &[1, 2, 3, 5, 20] } else { &[1, 3] };
    for &count in counts {
        let all = format!("all-{count}.sqlite");
        let parts: Vec<String> = (1..=count).map(|number| format!("{count}-{number}.sqlite")).collect();
        for (number, part) in (1..=count).zip(&parts) {
            review(part, &["--shard", &format!("{number}/{count}")]);
        }
        // Backwards, and one at first left out.
        for part in parts.iter().skip(1).rev() {
            let said = place.succeeds(&["merge", part, "-o", &all]);
            assert!(said.contains("1 added, 0 continued, 0 known") && said.contains(&format!("of {count} ")), "{said}");
        }
        let said = place.succeeds(&["merge", &parts[0], "-o", &all]);
        assert!(!said.contains("not complete"), "{said}");
        let (state, merged, _) = figures(&place, &all);
        assert_eq!((state, merged.len()), (RunState::Complete, whole.len()), "{count} shards");
        for (cell, one) in &whole {
            assert!(merged.get(cell) == Some(one), "{cell:?} of {count} shards");
        }
    }
    let all = place.path("all-3.sqlite");
    place.succeeds(&["merge", "all-3.sqlite", "whole.sqlite", "-o", "both.sqlite"]);
    let listed = place.succeeds(&["runs", "--store", "both.sqlite", "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let runs: Vec<&serde_json::Value> = listed["runs"].as_array().unwrap().iter().collect();
    assert_eq!(runs.iter().map(|run| run["shards"].as_u64()).collect::<Vec<_>>(), [Some(3), None], "{listed}");
    // Reports and comparisons take it as one.
    let [one, other] = [0, 1].map(|at| runs[at]["run"].to_string());
    let compared = place.succeeds(&["compare", &one, &other, "--store", "both.sqlite", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert!(compared.to_string().contains("\"ratio\":1.0"), "{compared}");
    place.succeeds(&["report", "last", "--store", all.to_str().unwrap(), "--out", "reports"]);
}

#[test]
fn a_sweep_has_one_table_however_many_shards_do_it() {
    let place = Place::new();
    std::fs::write(place.path("plan.toml"), PLAN).unwrap();
    let words = ["sweep", "plan.toml", "sim:x25-m?capacity.user=1GiB", "--format", "csv", "--store"];
    let sweep = |store: &str, more: &[&str]| place.succeeds(&[&words[..], &[store], more].concat());
    let whole = sweep("one.sqlite", &[]);
    let lines: Vec<&str> = whole.lines().collect();
    let head = "step,bs,iodepth,load,drive.nand.read,repeats,iops,bandwidth_bytes,latency_mean_ns,";
    assert!(lines[0].starts_with(head) && lines[0].ends_with(",findings"), "{}", lines[0]);
    let cells = |step: &str| lines.iter().filter(|line| line.starts_with(&format!("{step},"))).count();
    assert_eq!((cells("read"), cells("worn"), cells("loaded"), cells("parts"), lines.len()), (3, 3, 2, 4, 13));
    assert!(lines[9].starts_with("parts,,1,,50us,2,"), "{}", lines[9]);
    for count in [2, 5] {
        let stores: Vec<String> = (1..=count).map(|number| format!("{count}-{number}.sqlite")).collect();
        let tables: Vec<String> = (1..=count)
            .zip(&stores)
            .map(|(number, store)| sweep(store, &["--shard", &format!("{number}/{count}")]))
            .collect();
        // A shard's table has its own cells alone; loads need all of what they are shares of.
        assert!(tables.iter().all(|table| table.lines().count() < lines.len()), "{tables:?}");
        let all = format!("all-{count}.sqlite");
        let merge: Vec<&str> = ["merge", "-o", &all].into_iter().chain(stores.iter().map(String::as_str)).collect();
        place.succeeds(&merge);
        let merged = place.succeeds(&["show", "last", "--cells", "--format", "csv", "--store", &all]);
        assert_eq!(merged, whole, "{count} shards");
    }
    let json: serde_json::Value = serde_json::from_str(&place.succeeds(&[
        "show",
        "last",
        "--cells",
        "--format",
        "json",
        "--store",
        "one.sqlite",
    ]))
    .unwrap();
    let cell = &json["cells"][8];
    assert_eq!(
        (&cell["step"], &cell["drive.nand.read"], &cell["repeats"]),
        (&"parts".into(), &"50us".into(), &2.into())
    );
    let iops = lines[9].split(',').nth(6).unwrap();
    assert_eq!(cell["iops"].as_f64(), iops.parse().ok());
    place.succeeds(&[
        "sweep",
        "plan.toml",
        "sim:x25-m?capacity.user=1GiB",
        "--format",
        "json",
        "--output",
        "cells.json",
    ]);
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(place.path("cells.json")).unwrap()).unwrap();
    assert_eq!(written["cells"], json["cells"], "the same seed, the same cells");
    let said = place.refuses(&["sweep", "plan.toml", "./a.bin"]);
    assert!(said.contains("`assay review ./a.bin --plan plan.toml`"), "{said}");
    assert!(place.refuses(&["show", "last", "--cells", "--store", "one.sqlite"]).contains("--format csv or json"));
}

#[test]
fn shards_that_are_missing_or_cut_off_are_told_and_another_attempt_takes_their_place() {
    let place = Place::new();
    std::fs::write(place.path("plan.toml"), PLAN).unwrap();
    let review = ["review", "sim:x25-m?capacity.user=1GiB", "--plan", "plan.toml"];
    for number in 1..=3 {
        let (shard, store) = (format!("{number}/4"), format!("{number}.sqlite"));
        place.succeeds(&[&review[..], &["--shard", &shard, "--store", &store]].concat());
    }
    let said = place.succeeds(&["merge", "1.sqlite", "2.sqlite", "3.sqlite", "-o", "all.sqlite"]);
    assert!(said.contains("shard 4 of 4 is missing; merge the stores that have them"), "{said}");
    assert!(figures(&place, "all.sqlite").2[0].contains("shard 4 of 4 is missing"));
    let refused = place.refuses(&["review", "--resume", "--store", "all.sqlite"]);
    assert!(refused.contains("is made of 4 shards"), "{refused}");
    for (wrong, words) in
        [("5/4", "1 ≤ I ≤ N"), ("slurm", "SLURM_ARRAY_TASK_ID is not set"), ("kubernetes", "kubernetes/64")]
    {
        let said = place.refuses(&[&review[..], &["--shard", wrong]].concat());
        assert!(said.contains(words), "{said}");
    }
    let said = place.refuses(&["review", "sim:x25-m", "sim:x25-e-32", "--shard", "1/2"]);
    assert!(said.contains("--shard is for a review of one drive"), "{said}");
    // A pod that is restarted has a new store.
    let mut pod = place.command(&[&review[..], &["--shard", "kubernetes/4", "--store", "pod.sqlite"]].concat());
    let done = pod.env("JOB_COMPLETION_INDEX", "3").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    place.succeeds(&["merge", "pod.sqlite", "-o", "all.sqlite"]);
    assert_eq!(figures(&place, "all.sqlite").0, RunState::Complete);
}

/// A run of one short measurement.
fn new_run(host: usize, number: usize) -> NewRun {
    NewRun {
        plan: "run".into(),
        plan_text: "name = \"run\"\n".into(),
        quick: false,
        simulated: false,
        target: format!("/dev/nvme{number}n1"),
        target_identity: "A drive".into(),
        target_fingerprint: None,
        direct: true,
        size: None,
        capacity: Some(Bytes::from_gib(1)),
        drive: None,
        seed: Seed::new(number as u64),
        repeats: None,
        started_ms: 1_767_225_600_000,
        version: "0".into(),
        commit: String::new(),
        environment: format!("{{\"hostname\":\"host-{host}\"}}"),
        annotations: store::Annotations::default(),
        group: None,
        shard: None,
    }
}

/// Writes the store of a host with so many runs.
fn host(place: &Place, host: usize, runs: usize) -> String {
    let name = format!("host-{host}.sqlite");
    let mut store = Store::open(&place.path(&name)).unwrap();
    for number in 0..runs {
        let run = store.begin(&new_run(host, number)).unwrap();
        let one = Measurement::new(Workload::default(), Seed::new((host * runs + number) as u64), Clock::Virtual);
        store.record_cell(run, "run", "", &[(0, one)]).unwrap();
        store.finish(run, RunState::Complete, None, 1_767_225_700_000).unwrap();
    }
    name
}

/// A server that takes runs into `all.sqlite`.
fn accepting(place: &Place) -> Served {
    std::fs::write(place.path("token"), format!("{TOKEN}\n")).unwrap();
    let all = place.path("all.sqlite");
    Served::new(place, &["--accept", "--token-file", "token", "--store", all.to_str().unwrap()])
}

fn pushing(place: &Place, served: &Served, store: &str) -> Child {
    let mut command = place.command(&["push", &served.url(""), "--token-file", "token", "--store", store]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The UUIDs of a store's runs with their digests.
fn digests(place: &Place, store: &str) -> BTreeMap<String, String> {
    let store = Store::open_to_read(&place.path(store)).unwrap();
    let runs = store.runs().unwrap().into_iter();
    runs.map(|run| (run.uuid.to_string(), store.digest(run.id).unwrap())).collect()
}

#[test]
fn hosts_that_push_at_once_and_are_killed_at_random_end_with_every_run_once() {
    let place = Place::new();
    let (hosts, runs) = (soak::times(6, 200), 50);
    let stores: Vec<String> = (0..hosts).map(|number| host(&place, number, runs)).collect();
    let served = accepting(&place);
    let (next, random) = (AtomicUsize::new(0), Mutex::new(soak::random()));
    std::thread::scope(|scope| {
        for _ in 0..20.min(hosts) {
            scope.spawn(|| {
                while let Some(store) = stores.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Twice it is killed, if it is not faster; then it is let through.
                    for tries in 0..10 {
                        let mut child = pushing(&place, &served, store);
                        if tries < 2 {
                            let pause = random.lock().unwrap().place(400);
                            std::thread::sleep(Duration::from_millis(pause as u64));
                            child.kill().unwrap();
                        }
                        if child.wait_with_output().unwrap().status.success() {
                            break;
                        }
                    }
                }
            });
        }
    });
    let mut expected = BTreeMap::new();
    stores.iter().for_each(|store| expected.extend(digests(&place, store)));
    assert_eq!(expected.len(), hosts * runs);
    assert!(digests(&place, "all.sqlite") == expected, "nothing is double and nothing is lost");
}

#[test]
fn only_who_has_the_token_pushes_and_what_is_pushed_adds_its_own_runs_alone() {
    let place = Place::new();
    let store = host(&place, 0, 3);
    let served = accepting(&place);
    let push = |store: &str| pushing(&place, &served, store).wait_with_output().unwrap();
    let said = String::from_utf8(push(&store).stdout).unwrap();
    assert!(said.contains("3 added, 0 continued, 0 known"), "{said}");
    let said = String::from_utf8(push(&store).stdout).unwrap();
    assert!(said.contains("0 added, 0 continued, 3 known"), "{said}");
    let before = digests(&place, "all.sqlite");

    // A tag comes with the next push.
    place.succeeds(&["tag", "1", "nightly", "--store", &store]);
    assert!(push(&store).status.success());
    let tagged = place.succeeds(&["runs", "--filter", "tag=nightly", "--format", "json", "--store", "all.sqlite"]);
    assert!(tagged.contains("\"found\": 1"), "{tagged}");

    // Another content under a known UUID is refused, and named.
    std::fs::copy(place.path(&store), place.path("forged.sqlite")).unwrap();
    let forge = rusqlite::Connection::open(place.path("forged.sqlite")).unwrap();
    forge.execute_batch("UPDATE measurement SET elapsed_ns = 7 WHERE run = 2").unwrap();
    drop(forge);
    let output = push("forged.sqlite");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("continued differently in two stores"), "{said}");

    let body = std::fs::read(place.path(&store)).unwrap();
    let auth = format!("Authorization: Bearer {TOKEN}");
    for (lines, path, body, status) in [
        (vec!["Authorization: Bearer a-wrong-token-of-tests"], "/api/push", &body[..], 401),
        (vec![], "/api/push", &body, 401),
        (vec!["Cookie: assay=a-token-of-the-tests"], "/api/push", &body, 401),
        (vec![&*auth], "/api/push", b"not a store", 400),
        (vec![&*auth], "/api/push", b"", 400),
        (vec![&*auth], "/api/push", &body[..body.len() / 2], 400),
        (vec![&*auth], "/api/push/wanted", b"{\"runs\":[{\"uuid\":\"x\",\"digest\":\"\"}]}", 400),
        (vec![&*auth], "/api/elsewhere", b"", 404),
        (vec![&*auth], "/api/push", &body, 200),
    ] {
        let answer = post(&served, path, &lines, body, body.len());
        assert_eq!(answer.status, status, "{lines:?} {path}: {}", answer.body);
    }
    let long = post(&served, "/api/push", &[&auth], b"", 1 << 40);
    assert!(long.status == 413 && long.body.contains("assay merge"), "{}", long.body);
    let now = digests(&place, "all.sqlite");
    assert!(now.len() == before.len() && now.keys().eq(before.keys()));

    let refused = |command: &mut std::process::Command| {
        let output = command.output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let url = served.url("");
    let said = refused(&mut place.command(&["push", &url, "--store", &store]));
    assert!(said.contains("ASSAY_TOKEN"), "{said}");
    let said = refused(place.command(&["push", &url, "--store", &store]).env("ASSAY_TOKEN", "another-token-of-tests"));
    assert!(said.contains("refuses (401)"), "{said}");
    let done = place.command(&["push", &url, "--store", &store]).env("ASSAY_TOKEN", TOKEN).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    // Without --accept nothing is taken.
    let read_only = Served::new(&place, &["--store", &store]);
    assert_eq!(post(&read_only, "/api/push", &[&auth], &body, body.len()).status, 405);
}

/// Sends something, or only says that it would.
fn post(served: &Served, path: &str, lines: &[&str], body: &[u8], length: usize) -> Answer {
    let mut stream = served.connect();
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\n{lines}Content-Length: {length}\r\n\r\n", served.host);
    stream.write_all(head.as_bytes()).unwrap();
    // Who is refused at once may not take the rest.
    stream.write_all(body).ok();
    served.answer(stream)
}

#[test]
fn stores_that_are_not_there_or_are_the_one_to_write_are_told() {
    let place = Place::new();
    let store = host(&place, 0, 1);
    let said = place.refuses(&["merge", "nowhere.sqlite", "-o", "all.sqlite"]);
    assert!(said.contains("there is no store nowhere.sqlite") && !place.path("all.sqlite").exists(), "{said}");
    assert!(place.refuses(&["merge", &store, "-o", &store]).contains("is the store to write"));
    std::fs::write(place.path("text"), "no store").unwrap();
    assert!(place.assay(&["merge", "text", "-o", "all.sqlite"]).stderr.contains("not an SQLite database"));
    assert!(place.refuses(&["push", "https://results"]).contains("ssh tunnel"));
}
