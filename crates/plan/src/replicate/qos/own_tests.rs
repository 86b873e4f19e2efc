//! Files of a user's own figures: what they may leave out, and what is done with what is not known.

use testkit::figures::FIGURES;

use super::file::{builtin, is_figures, parse};
use super::{Measure, Quantity, Sense};

#[test]
fn what_is_not_said_is_the_reason_for_which_a_point_is_not_simulated() {
    for (from, to, words) in [
        ("q = \"p50\"", "q = \"middle\"", "`middle` names no quantity"),
        ("rw = \"randread\", ", "", "no `rw`; add `rw = \"randread\"`"),
        ("rw = \"randread\"", "rw = \"some reads\"", "`some reads` is not a pattern"),
        ("bs = 4096, ", "", "no `bs`; add `bs = 4096`"),
        ("qd = 4, ", "", "no `qd`; add `qd = 1`"),
        ("qd = 4", "qd = \"not read\"", "no `qd`"),
        ("qd = 4", "qd = 4, think_us = 20", "the condition `think_us` is not known"),
        ("qd = 4", "qd = 4, pattern = \"hot spots\"", "the pattern `hot spots` is not known"),
        ("v = 64", "v = 64, threads = 9", "`threads` of its point is not known"),
    ] {
        assert!(FIGURES.contains(from), "{from}");
        let qos = parse(&FIGURES.replacen(from, to, 1)).unwrap_or_else(|mistakes| panic!("{to}: {mistakes:?}"));
        let why = qos.groups[0].points[0].measure.as_ref().expect_err(to);
        assert!(why.contains(words), "{to}: {why}");
    }
}

#[test]
fn a_file_of_ones_own_needs_no_more_than_drives_and_figures() {
    let qos = parse(
        "schema_version = 1\n[how]\n\"datasheet\" = \"promises\"\n\"log\" = \"a log\"\n[[drive]]\nid = \"micron-7450pro-960\"\n\
         split = \"points\"\nyear = 2022\n[[drive]]\nid = \"unknown\"\narch = { channels = 8 }\n[[qos]]\nid = \"a\"\n\
         drive = \"micron-7450pro-960\"\nread = \"datasheet\"\nunit = \"us\"\nuse = \"check\"\nfirmware = \"1\"\n\
         cond = { bs = 4096, rw = \"randread\", state = \"steady, or so\", pattern = \"zipf 0.8 shuffled\", rwmixread = 70, \
         firmware = \"1\" }\npoints = [{ q = \"read p99 QD8\", v = 9 }, { q = \"p50\", qd = 2, bs = 8192, v = 9 }]\n\
         [[population]]\nid = \"field\"\n",
    )
    .unwrap();
    let [known, unknown] = &qos.drives[..] else { panic!("two drives") };
    assert_eq!(
        (known.preset.as_deref(), known.host.as_deref(), known.name()),
        (Some("7450-pro-960"), Some("nvme-host-busy"), "7450-pro-960")
    );
    assert_eq!((unknown.preset.as_deref(), unknown.name(), unknown.model.as_str()), (None, "unknown", "unknown"));
    assert_eq!((qos.names(), qos.drive("unknown"), qos.drive("7450-pro-960")), (vec!["7450-pro-960"], None, Some(0)));
    let [first, second] = &qos.groups[0].measures[..] else { panic!("two workloads") };
    assert_eq!((first.overwrites, first.distribution.to_string()), (Some(300), "zipf:0.8".to_owned()));
    let of = |measure: &Measure| {
        let workload = &measure.jobs[0].1;
        (workload.queue_depth, workload.block.get(), workload.read_percent)
    };
    assert_eq!((of(first), of(second)), ((8, 4096, 70), (2, 8192, 70)));
    assert_eq!(qos.groups[0].points[0].sense, Sense::AtMost, "as the built-in reading of the same id is");
}

#[test]
fn lengths_of_runs_are_bounded_whatever_is_asked() {
    let window = "v = 1, unit = \"IOPS\", q = \"min IOPS (50 s)\"";
    for (from, to) in [
        ("q = \"p99.99\"", "q = \"p99.9999999999\""),
        ("v = 9000", "v = 1e-9"),
        ("v = 9000", "v = 1e300"),
        ("qd = 4", "qd = 4, runtime_s = 604800"),
    ] {
        for points in [FIGURES.to_owned(), FIGURES.replacen("points = [", &format!("points = [{{ {window} }}, "), 1)] {
            let qos = parse(&points.replacen(from, to, 1)).unwrap_or_else(|mistakes| panic!("{to}: {mistakes:?}"));
            let measure = &qos.groups[0].measures[0];
            let time = measure.jobs[0].1.stop.time.unwrap();
            assert!(time <= block::Nanos::from_secs(1000) && measure.runs <= 1000, "{to}: {time} {}", measure.runs);
        }
    }
}

#[test]
fn a_file_of_figures_is_told_from_a_review() {
    assert_eq!(parse("qos = []").unwrap_err()[0].code, "qos::empty");
    assert!(is_figures(FIGURES) && is_figures("a = [\n  [[qos]]\n") && is_figures("qos = []"));
    assert!(!is_figures("review = \"r\"\n[[group]]\ntitle = \"[[qos]]\"\n") && !is_figures(""));
}

#[test]
fn the_embedded_figures_leave_nothing_out() {
    let text = include_str!("../../../../../published/qos.toml");
    let file: toml::Table = text.parse().unwrap();
    for group in file["qos"].as_array().unwrap() {
        for key in ["source", "grade", "read", "seen"] {
            assert!(group.get(key).is_some(), "{}: no `{key}`", group["id"]);
        }
    }
    let unmeasured = text.matches("unmeasured = ").count();
    let points = || builtin().groups.iter().flat_map(|group| &group.points);
    assert_eq!(points().filter(|point| point.measure.is_err()).count(), unmeasured);
    assert_eq!(points().filter(|point| Quantity::parse(&point.name).is_none()).count(), unmeasured);
    for drive in &builtin().drives {
        drive.simulated().unwrap_or_else(|why| panic!("{}: {why}", drive.id));
        let (own, is_ssd_iq) = (builtin().drives.iter().position(|one| one == drive).unwrap(), drive.host.is_some());
        assert!(
            is_ssd_iq || builtin().of_drive(own).all(|(_, group)| !group.source.contains("SSD-iq")),
            "{}",
            drive.id
        );
    }
}

#[test]
fn a_source_or_reading_in_words_and_fio_s_names_are_told_what_they_are_here() {
    let table = "[[source]]\nid = \"s\"\ntitle = \"S\"\nhost = \"h\"\n";
    let text = FIGURES.replace(table, "").replace("source = \"s\"", "source = \"page 3\"");
    let mistakes = parse(&text).unwrap_err();
    let help = mistakes[0].help.as_deref().unwrap_or_default();
    assert!(mistakes[0].message.contains("which has none: `page 3`") && help.contains("leave `source` out"), "{help}");
    let without = FIGURES.replace("[[drive]]\nid = \"d\"\npreset = \"x25-m\"\nmodel = \"D\"\n", "");
    let mistakes = parse(&without).unwrap_err();
    let help = mistakes[0].help.as_deref().unwrap_or_default();
    assert!(mistakes[0].message.contains("which has none: `d`") && help.contains("add `[[drive]]`"), "{help}");
    let without = &FIGURES[FIGURES.find("[[source]]").unwrap()..];
    let mistakes = parse(without).unwrap_err();
    let help = mistakes[0].help.as_deref().unwrap_or_default();
    assert!(mistakes[0].message.contains("which has none: `log`") && help.contains("leave `read` out"), "{help}");
    for (fio, own) in [("iodepth", "qd"), ("numjobs", "workers"), ("runtime", "runtime_s"), ("ramp_time", "ramp_s")] {
        let mistakes = parse(&FIGURES.replacen("qd = 4", &format!("{fio} = 4"), 1)).expect_err(fio);
        let said = format!("{mistakes:?}");
        assert!(said.contains(&format!("write `{own}`")), "{fio}: {said}");
    }
}

/// What is said of `text`, which has one mistake: its code, its message with its help, and what is underlined.
fn mistake(text: &str) -> (&'static str, String, String) {
    let mistakes = parse(text).expect_err(text);
    let [one] = &mistakes[..] else { panic!("one mistake: {mistakes:?}") };
    let said = format!("{}; {}", one.message, one.help.as_deref().unwrap_or_default());
    (one.code, said, text[one.span.clone()].to_owned())
}

#[test]
fn what_is_known_and_stands_where_nothing_reads_it_is_refused_with_its_place() {
    for (from, to, key, place, home) in [
        ("unit = \"us\"", "unit = \"us\"\noverwrites = 3", "overwrites", "`[[qos]]`", "`cond = { … }`"),
        ("unit = \"us\"", "unit = \"us\"\nstate = \"steady\"", "state", "`[[qos]]`", "`cond = { … }`"),
        ("unit = \"us\"", "unit = \"us\"\nrw = \"randwrite\"", "rw", "`[[qos]]`", "`cond = { … }`"),
        (
            "unit = \"us\"",
            "unit = \"us\"\nunmeasured = \"it is old\"",
            "unmeasured",
            "`[[qos]]`",
            "an entry of `points`",
        ),
        ("unit = \"us\"", "unit = \"us\"\npromise = true", "promise", "`[[qos]]`", "the `[[reading]]`"),
        ("qd = 4", "qd = 4, read = \"sheet\"", "read", "`cond`", "`[[qos]]`"),
        ("model = \"D\"", "model = \"D\"\noverwrites = 3", "overwrites", "`[[drive]]`", "`cond = { … }`"),
        ("v = 64", "v = 64, state = \"steady\"", "state", "a point", "`cond = { … }`"),
        ("v = 64", "v = 64, workers = 2", "workers", "a point", "`cond = { … }`"),
        ("\n[[reading]]", "overwrites = 3\n[[reading]]", "overwrites", "the top of the file", "`cond = { … }`"),
    ] {
        assert!(FIGURES.contains(from), "{from}");
        let (code, said, underlined) = mistake(&FIGURES.replacen(from, to, 1));
        assert_eq!((code, underlined.as_str()), ("qos::place", key), "{to}: {said}");
        assert!(said.contains(&format!("is not read in {place}")) && said.contains(home), "{to}: {said}");
    }
    let (_, said, _) = mistake(&FIGURES.replacen("unit = \"us\"", "unit = \"us\"\niodepth = 4", 1));
    assert!(said.contains("`iodepth` is not read in `[[qos]]`; write `qd` into"), "{said}");
    parse(&FIGURES.replacen("unit = \"us\"", "unit = \"us\"\nfirmware = 7", 1)).expect("others say more");
}

#[test]
fn a_number_with_a_unit_is_told_what_it_is_without() {
    for (from, to, right) in [
        (
            "bs = 4096",
            "bs = \"4k\"",
            "`bs` is the text \"4k\", and is to be a whole number of bytes; write `bs = 4096`",
        ),
        ("bs = 4096", "bs = \"4 KiB\"", "write `bs = 4096`"),
        ("v = 64", "v = 64, bs = \"1m\"", "write `bs = 1048576`"),
        ("qd = 4", "qd = 4, runtime_s = \"60s\"", "a whole number of seconds"),
        ("qd = 4", "qd = \"4x2\"", "write the number alone"),
    ] {
        let (code, said, _) = mistake(&FIGURES.replacen(from, to, 1));
        assert!(code == "qos::number" && said.contains(right), "{to}: {said}");
    }
    let words = parse(&FIGURES.replacen("qd = 4", "qd = \"1 to 32, not said\"", 1)).unwrap();
    assert!(words.groups[0].points[0].measure.is_err(), "words may say why there is no number");
}

#[test]
fn a_point_is_in_the_unit_in_which_it_is_compared() {
    for (from, to, right) in [
        ("v = 9000, unit = \"IOPS\"", "v = 9000", "`IOPS` is compared in IOPS, and its unit is us"),
        ("v = 64", "v = 64, unit = \"IOPS\"", "`p50` is compared in us, and its unit is IOPS"),
    ] {
        let (code, said, _) = mistake(&FIGURES.replacen(from, to, 1));
        assert!(code == "qos::unit" && said.contains(right), "{to}: {said}");
    }
}

#[test]
fn an_experiment_without_points_and_more_in_flight_than_can_be_are_refused() {
    let points = &FIGURES[FIGURES.find("points = [").unwrap()..];
    let (code, said, _) = mistake(&FIGURES.replace(points, "points = []"));
    assert!(code == "qos::empty" && said.contains("`d/a` has no points; add"), "{said}");
    let said =
        format!("{:?}", parse(&FIGURES.replacen("bs = 4096, qd = 4", "bs = 67108864, qd = 9999", 1)).unwrap_err());
    assert!(said.contains("in flight") && said.contains("at most 4 GiB"), "{said}");
}
