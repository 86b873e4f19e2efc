//! fio's output as versions, options and hostile hands make it.

use super::{FiguresRequest, FioFigures, FitShare, figures, is_fio_output};
use crate::replicate::Use;
use crate::replicate::qos::{self, Qos};

/// One kind of requests, as fio 3 prints it.
fn flow(iops: f64, mean: u32) -> String {
    let ios = (iops * 60.0) as u64;
    format!(
        r#"{{ "io_bytes": {}, "iops": {iops}, "runtime": 60000, "total_ios": {ios},
            "clat_ns": {{ "min": 1, "max": {}, "mean": {mean}.5, "stddev": 900.25, "N": {ios},
                "percentile": {{ "50.000000": {mean}, "99.000000": {}, "99.900000": {}, "99.990000": {} }} }},
            "lat_ns": {{ "min": 1, "max": 2, "mean": {mean}.9, "stddev": 1.0, "N": {ios} }},
            "iops_min": 1, "iops_stddev": 35.5, "iops_samples": 119 }}"#,
        ios * 4096,
        9 * mean,
        2 * mean,
        3 * mean,
        4 * mean
    )
}

/// A job with these options.
fn job(name: &str, group: u32, options: &[(&str, &str)], flows: &str) -> String {
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name:?}: {value:?}")).collect();
    let options = options.join(", ");
    format!(r#"{{ "jobname": "{name}", "groupid": {group}, "error": 0, "job options": {{ {options} }}, {flows} }}"#)
}

fn reads(iops: f64, mean: u32) -> String {
    format!(r#""read": {}, "write": {{ "iops": 0.0, "total_ios": 0 }}"#, flow(iops, mean))
}

fn output(version: &str, jobs: &[String]) -> String {
    let globals = r#""direct": "1", "ioengine": "libaio", "bs": "4k", "filename": "/dev/nvme0n1""#;
    format!(
        "{{ \"fio version\" : \"{version}\",\n\"global options\": {{ {globals} }},\n\"jobs\": [{}] }}\n",
        jobs.join(",\n")
    )
}

fn request() -> FiguresRequest {
    FiguresRequest { drive: "mine".to_owned(), preset: Some("x25-m".to_owned()), overwrites: None, fit: FitShare::None }
}

fn made(text: String) -> FioFigures {
    figures(&[("results.json".to_owned(), text)], &request()).unwrap_or_else(|(name, error)| panic!("{name}: {error}"))
}

/// The file is one that is read again.
fn read(made: &FioFigures) -> Qos {
    qos::parse(&made.text).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{}", made.text))
}

/// The values of an experiment by their names.
fn values(qos: &Qos, experiment: usize) -> Vec<(&str, f64)> {
    qos.groups[experiment].points.iter().map(|point| (point.name.as_str(), point.value)).collect()
}

#[test]
fn options_become_conditions_and_numbers_points() {
    let jobs = [
        job("qd1", 0, &[("rw", "randread"), ("iodepth", "1"), ("stonewall", "")], &reads(10_000.0, 97_000)),
        job(
            "four",
            1,
            &[("rw", "randread"), ("iodepth", "8"), ("numjobs", "4"), ("ramp_time", "5")],
            &reads(1e5, 300_000),
        ),
        job(
            "mix",
            2,
            &[("rw", "randrw"), ("rwmixread", "70"), ("iodepth", "16"), ("random_distribution", "zipf:1.2")],
            &format!(r#""read": {}, "write": {}"#, flow(7000.0, 400_000), flow(3000.0, 20_000)),
        ),
    ];
    let made = made(format!(
        "note: both iodepth >= 1 and\nfio-3.33\n{}\nRun status group 0 (all jobs):\n",
        output("fio-3.33", &jobs)
    ));
    let qos = read(&made);
    assert_eq!(made.notes.len(), 1, "{:?}", made.notes);
    assert!(made.notes[0].contains("--overwrites"));
    assert_eq!(
        qos.groups.iter().map(|group| group.id.as_str()).collect::<Vec<_>>(),
        ["mine/qd1", "mine/four", "mine/mix"]
    );
    for line in [
        r#"cond = { rw = "randread", bs = 4096, qd = 1, workers = 1, runtime_s = 60, ios = 600000 }"#,
        r#"cond = { rw = "randread", bs = 4096, qd = 8, ramp_s = 5, workers = 4, runtime_s = 60, ios = 6000000 }"#,
        r#"rwmixread = 70, distribution = "zipf:1.2", workers = 1"#,
        "# libaio, on /dev/nvme0n1, direct",
        // 1 s over 10,000, less 97.0005 µs.
        "outside_ns = 2999 #",
    ] {
        assert!(made.text.contains(line), "{line}:\n{}", made.text);
    }
    let expected = [
        ("mean", 97.001),
        ("p50", 97.0),
        ("p99", 194.0),
        ("p99.9", 291.0),
        ("p99.99", 388.0),
        ("max", 873.0),
        ("latency std dev", 0.9),
        ("IOPS", 10_000.0),
        ("IOPS std dev (0.5 s samples)", 35.5),
    ];
    assert_eq!(values(&qos, 0), expected);
    assert!(
        values(&qos, 1).iter().all(|(name, _)| !name.starts_with("IOPS std dev")),
        "four workers have each their own windows"
    );
    let mix = values(&qos, 2);
    assert!(mix.contains(&("read p99", 800.0)) && mix.contains(&("write p50", 20.0)), "{mix:?}");
    assert!(mix.contains(&("achieved reads/s", 7000.0)) && mix.contains(&("achieved writes/s", 3000.0)), "{mix:?}");
    let mean = mix.iter().find(|(name, _)| *name == "mean").unwrap().1;
    assert!((mean - 286.0).abs() < 0.01, "of all requests: {mean}");
    assert!(
        qos.groups
            .iter()
            .flat_map(|group| &group.points)
            .all(|point| point.measure.is_ok() && point.usage == Use::Check)
    );
}

#[test]
fn what_may_be_fitted_and_what_was_written_before_is_as_asked() {
    let jobs = ["a", "b", "c"].map(|name| job(name, 0, &[("rw", "randread")], &reads(5000.0, 100_000)));
    let files = jobs.map(|job| ("one.json".to_owned(), output("fio-3.1", &[job])));
    let request = FiguresRequest { overwrites: Some(3), fit: FitShare::Half, preset: None, ..request() };
    let made = figures(&files, &request).unwrap();
    let qos = read(&made);
    assert!(made.notes.is_empty(), "{:?}", made.notes);
    assert_eq!(
        qos.groups.iter().map(|group| group.points[0].usage).collect::<Vec<_>>(),
        [Use::Fit, Use::Check, Use::Fit]
    );
    assert!(qos.groups.iter().all(|group| group.measures[0].overwrites == Some(300)));
    assert!(qos.drives[0].preset.is_none() && made.text.contains("# preset = \"NAME\""));
}

/// fio 2 has microseconds and KiB, no options, and 2.1 no number of requests.
#[test]
fn old_versions_are_read() {
    let old = r#"{ "fio version" : "fio-2.1.11", "jobs" : [ { "jobname" : "random-read", "groupid" : 0, "error" : 0,
        "read" : { "io_bytes" : 480000, "bw" : 8000, "iops" : 2000, "runtime" : 60000,
            "clat" : { "min" : 53, "max" : 6329, "mean" : 255.34, "stddev" : 94.40,
                "percentile" : { "50.000000" : 243, "99.000000" : 506, "0.00" : 0, "0.00" : 0 } },
            "lat" : { "mean" : 255.56 } },
        "write" : { "io_bytes" : 0, "iops" : 0, "runtime" : 0, "clat" : { "mean" : 0.00 } } } ] }"#;
    let made = made(old.to_owned());
    let qos = read(&made);
    assert!(made.text.contains("cond = { bs = 4096, runtime_s = 60, ios = 120000 }"), "{}", made.text);
    assert!(values(&qos, 0).contains(&("p99", 506.0)) && values(&qos, 0).contains(&("mean", 255.34)));
    assert!(made.notes.iter().any(|note| note.contains("no job options: add `rw` and `qd`")), "{:?}", made.notes);
    assert!(qos.groups[0].points[0].measure.as_ref().is_err_and(|why| why.contains("`rw`")), "not guessed");
}

#[test]
fn what_no_experiment_can_say_is_kept_with_its_reason() {
    for (options, said) in [
        (&[("rw", "randread"), ("direct", "0")][..], "the page cache"),
        (&[("rw", "randrw"), ("bssplit", "4k/50:8k/50")], "`bssplit="),
        (&[("rw", "randread"), ("ioengine", "net")], "net"),
        (&[("rw", "randwrite"), ("thinktime", "10ms")], "`thinktime="),
        (&[("rw", "randwrite"), ("fsync", "1")], "`fsync=1`"),
        (&[("rw", "sideways")], "sideways"),
        (&[("rw", "randread\ninclude /etc/passwd")], "control characters"),
        (&[("rw", "randread"), ("bs", "${HOME}")], "`bs`: `` is not a size"),
        (&[("rw", "randread"), ("iodepth", "99999999999999999999")], "99999999999999999999"),
        (&[("rw", "randread"), ("read_iolog", "/etc/passwd")], "/etc/passwd"),
    ] {
        let made = made(output("fio-3.33", &[job("j", 0, options, &reads(5000.0, 100_000))]));
        let qos = read(&made);
        let why = qos.groups[0].points[0].measure.as_ref().expect_err(&format!("{options:?} is simulated"));
        assert!(why.contains(said), "{options:?}: {why}");
        assert!(
            made.notes.iter().any(|note| note.contains("is not simulated") && note.contains(said)),
            "{:?}",
            made.notes
        );
    }
}

#[test]
fn jobs_side_by_side_are_one_experiment() {
    let of = |options: [(&str, &str); 2], second: &str| {
        let jobs = [("j", options), (second, options)];
        let jobs = jobs.map(|(name, options)| job(name, 0, &options, &reads(5000.0, 100_000)));
        made(output("fio-3.33", &jobs))
    };
    let clones = of([("rw", "randread"), ("numjobs", "2")], "j");
    let qos = read(&clones);
    let values = values(&qos, 0);
    assert!(values.contains(&("IOPS", 10_000.0)) && values.contains(&("mean", 100.001)), "{values:?}");
    assert!(values.iter().all(|(name, _)| !name.starts_with('p')), "percentiles cannot be added: {values:?}");
    assert!(clones.text.contains("workers = 2") && clones.notes[0].contains("--group_reporting"), "{}", clones.text);
    let others = of([("rw", "randread"), ("numjobs", "1")], "other");
    assert!(others.notes.iter().any(|note| note.contains("`other` ran beside it")), "{:?}", others.notes);
}

#[test]
fn servers_and_intervals_are_taken_once() {
    let of = |name: &str, host: &str| {
        job(name, 0, &[("rw", "randread")], &format!("\"hostname\": \"{host}\", {}", reads(5000.0, 100_000)))
    };
    let clients = |jobs: &[String]| output("fio-3.33", jobs).replace("\"jobs\":", "\"client_stats\":");
    let one = read(&made(clients(&[of("All clients", "a")])));
    assert!(one.groups[0].points[0].measure.is_ok());
    let two = made(clients(&[of("j", "a"), of("j", "b"), of("All clients", "a")]));
    assert_eq!(read(&two).groups.len(), 1);
    assert!(two.notes.iter().any(|note| note.contains("several hosts")), "{:?}", two.notes);
    let once = |iops| output("fio-3.33", &[job("j", 0, &[("rw", "randread")], &reads(iops, 100_000))]);
    let last = made(once(1000.0) + &once(2000.0) + &once(3000.0));
    assert!(values(&read(&last), 0).contains(&("IOPS", 3000.0)));
    assert!(last.notes[0].contains("results.json has 3 outputs"), "{:?}", last.notes);
}

#[test]
fn what_is_none_of_fios_is_refused_with_its_place() {
    let whole = output("fio-3.33", &[job("j", 0, &[("rw", "randread")], &reads(5000.0, 100_000))]);
    for (text, said) in [
        ("", "it has no JSON"),
        ("[job]\nrw=read\n", "it has no JSON"),
        ("{}", "no `jobs`"),
        ("{ \"jobs\": [] }", "no `jobs`"),
        ("note\n{ \"jobs\": 3 }", "line 2"),
        ("{ \"jobs\": [ { \"groupid\": 1e400 } ] }", "number out of range"),
        (&whole[..whole.len() / 2], "line "),
        (&whole.replace("\"iops\": 5000", "\"iops\": -nan"), "line "),
        (&format!("{{\"jobs\":[{{\"job options\":{{\"rw\":{}", "[".repeat(100_000)), "recursion limit"),
    ] {
        let error = figures(&[("bad.json".to_owned(), text.to_owned())], &request()).expect_err("it is refused");
        assert!(error.0 == "bad.json" && error.1.to_string().contains(said), "{said}: {}", error.1);
    }
    assert!(is_fio_output(&whole) && is_fio_output(&format!("fio: note\n{whole}")));
    assert!(!is_fio_output("[global]\nrw=read\n") && !is_fio_output("{ \"runs\": [] }") && !is_fio_output("é"));
    // What it says of itself is a comment, and no line of the file.
    let injected = made(whole.replace("fio-3.33", "fio-3\\n[[drive]]\\nid = \\\"b\\\"\\n# "));
    assert_eq!(read(&injected).drives.len(), 1, "{}", injected.text);
    // Numbers without meaning make no points, and nothing else of them is believed.
    let odd = whole.replace("\"iops\": 5000", "\"iops\": 1e308").replace("\"mean\": 100000.5", "\"mean\": -5");
    assert!(values(&read(&made(odd)), 0).iter().all(|(_, value)| *value > 0.0));
}
