//! The document in fio's schema beside one that fio wrote.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::Command;

use assay_report::export::{self, FioJob, Single};
use block::{Bytes, Nanos, Op, Seed};
use engine::{Clock, Measurement};
use serde_json::Value;
use workload::{Pattern, Workload};

/// What fio says of itself and of a mixed run on a small file; none where there is no fio.
fn real_fio() -> Option<(String, Value)> {
    let version = match Command::new("fio").arg("--version").output() {
        Ok(output) => String::from_utf8(output.stdout).unwrap().trim().to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: fio is not installed (apt install fio)");
            return None;
        }
        Err(error) => panic!("fio does not start: {error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("fio")
        .args(["--name=job", "--filename=scratch.bin", "--size=1m", "--rw=randrw", "--bs=4k", "--ioengine=psync"])
        .arg("--output-format=json+")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((version, serde_json::from_slice(&output.stdout).unwrap()))
}

/// A document of a run that both read and wrote.
fn ours() -> Value {
    let workload = Workload { pattern: Pattern::RandRw, ..Workload::default() };
    let mut measurement = Measurement::new(workload, Seed::new(1), Clock::Real);
    for (at, op) in [(1, Op::Read), (2, Op::Write)] {
        measurement.record(op, Bytes::from_kib(4), Nanos::from_secs(at), Nanos::from_micros(100));
    }
    let single = Single {
        name: "job",
        target: "scratch.bin",
        version: "0.1.0",
        timestamp_ms: 1_767_225_600_000,
        seed: Seed::new(1),
        direct: false,
        measurement: &measurement,
        findings: &[],
    };
    serde_json::from_str(&export::fio(&[FioJob::alone(single)], true)).unwrap()
}

/// Every key with the kind of its value, `jobs/0/read/iops: number`; options and disks depend on the run.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        _ if ["/job options", "/disk_util", "/bins"].iter().any(|key| path.ends_with(key)) => "of the run",
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| keys(value, &format!("{path}/{key}"), found));
            "object"
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(i, value)| keys(value, &format!("{path}/{i}"), found));
            "array"
        }
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "number with a fraction",
        Value::Number(_) => "whole number",
        Value::Bool(_) | Value::Null => "neither text nor number",
    };
    found.insert(format!("{path}: {kind}"));
}

#[test]
fn every_key_of_fio_s_document_is_there_with_the_same_kind_of_value() {
    let Some((version, theirs)) = real_fio() else { return };
    let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
    keys(&theirs, "", &mut expected);
    keys(&ours(), "", &mut found);
    // What fio has only with a `[global]` section, and what it has no place for.
    found.retain(|key| !key.starts_with("/global options") && !key.starts_with("/assay"));
    let unknown: Vec<_> = found.difference(&expected).collect();
    assert!(unknown.is_empty(), "{version} has no {unknown:#?}");
    // Other versions have keys that come and go; the document follows 3.33.
    if version == "fio-3.33" {
        let missing: Vec<_> = expected.difference(&found).collect();
        assert!(missing.is_empty(), "only {version} has {missing:#?}");
    }
}
