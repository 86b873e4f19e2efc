//! What every row of the table promises.

use std::collections::BTreeSet;

use block::{Bytes, Nanos};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;
use crate::Stop;

#[test]
fn spare_flash_is_read_as_fio_has_it_and_in_percent() {
    let spare = |fields: &[(Field, &str)]| {
        let mut workload = Workload::default();
        fields.iter().try_for_each(|(field, text)| field.set(&mut workload, text))?;
        Ok::<_, FieldError>(workload.sprandom.map(|spare| spare.to_string()))
    };
    let told = |text: &str| Some(text.to_owned());
    assert_eq!(spare(&[(Field::SprOp, "0.0734"), (Field::Sprandom, "1")]), Ok(told("7.34 %")));
    assert_eq!(spare(&[(Field::SprOp, "7.34%")]), Ok(told("7.34 %")));
    assert_eq!(spare(&[(Field::Sprandom, "1")]), Ok(told("15 %")));
    assert_eq!(spare(&[(Field::SprOp, "0.07"), (Field::Sprandom, "0")]), Ok(None));
    for (text, words) in
        [("0", "at least 0.001"), ("11", "at most 10"), ("-1", "negative"), ("seven", "not a number"), ("NaN", "")]
    {
        let said = spare(&[(Field::SprOp, text)]).expect_err(text).to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
    assert!(spare(&[(Field::Sprandom, "yes")]).is_err());
}

#[test]
fn every_field_is_set_from_fios_notation() {
    let mut workload = Workload::default();
    for (name, text) in [
        ("rw", "randrw"),
        ("bs", "8k"),
        ("iodepth", "32"),
        ("numjobs", "2"),
        ("rwmixread", "67%"),
        ("size", "1g"),
        ("offset", "1m"),
        ("runtime", "10"),
        ("number_ios", "10k"),
        ("io_size", "2g"),
        ("ramp_time", "500ms"),
    ] {
        Field::named(name).expect(name).set(&mut workload, text).expect(name);
    }
    let stop = Stop {
        time: Some(Nanos::from_secs(10)),
        requests: Some(10_000),
        bytes: Some(Bytes::from_gib(2)),
        ..Stop::default()
    };
    let expected = Workload {
        pattern: Pattern::RandRw,
        read_percent: 67,
        block: Bytes::from_kib(8),
        queue_depth: 32,
        workers: 2,
        offset: Bytes::from_mib(1),
        size: Some(Bytes::from_gib(1)),
        stop,
        ramp: Nanos::from_millis(500),
        ..Workload::default()
    };
    assert_eq!(workload, expected);
}

#[test]
fn what_reviews_ask_for_is_set_from_fios_notation() {
    let set = |texts: &[(&str, &str)]| {
        let mut workload = Workload { pattern: Pattern::RandRw, ..Workload::default() };
        texts.iter().for_each(|(name, text)| Field::named(name).expect(name).set(&mut workload, text).expect(name));
        let options = workload.options().into_iter().map(|(name, value)| format!("{name}={value}"));
        options.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        set(&[
            ("bssplit", "4k/60:64k/"),
            ("percentage_random", "80"),
            ("ba", "512"),
            ("random_distribution", "zipf:1.2"),
            ("buffer_compress_percentage", "46"),
            ("sync", "1"),
            ("fsync", "32"),
            ("thinktime", "500"),
            ("thinktime_blocks", "4"),
        ]),
        "bssplit=4k/60:64k/40 percentage_random=80 blockalign=512 random_distribution=zipf:1.2 \
         buffer_compress_percentage=46 sync=dsync fsync=32 thinktime=500us thinktime_blocks=4"
    );
    assert_eq!(
        set(&[("zero_buffers", "1"), ("fdatasync", "8"), ("rate_iops", "10k"), ("rate_process", "poisson")]),
        "zero_buffers=1 fdatasync=8 rate_iops=10000 rate_process=poisson"
    );
    assert_eq!(
        set(&[("verify", "crc32c"), ("do_verify", "0"), ("verify_only", "1"), ("verify_fatal", "1")]),
        "verify=crc32c do_verify=0 verify_only=1 verify_fatal=1"
    );
    assert_eq!(set(&[("dedupe_percentage", "30"), ("verify", "none")]), "dedupe_percentage=30");
    assert_eq!(set(&[("thinktime", "5ms"), ("sync", "0"), ("zero_buffers", "0")]), "thinktime=5ms");
    assert_eq!(set(&[("bssplit", "4k/100"), ("bs", "8k")]), "", "one size takes the place of several");
}

#[test]
fn a_field_refuses_what_it_cannot_hold() {
    for (field, text, words) in [
        (Field::Rw, "randreed", "did you mean `randread`?"),
        (Field::Rw, "scan", "use one of read, write"),
        (Field::Bs, "4q", "unknown unit `q`"),
        (Field::Size, "2000p", "at most 1 EiB"),
        (Field::Runtime, "20000d", "at most 10 years"),
        (Field::Iodepth, "99999999999", "at most 65536"),
        (Field::RateIops, "99999999999", "at most 1000000000"),
        (Field::NumberIos, "2000000g", "at most 1e15"),
        (Field::Rwmixread, "101", "at most 100 %"),
        (Field::Bssplit, "4k/60:8k/30", "must make 100 %"),
        (Field::RandomDistribution, "zipf", "try zipf:1.2"),
        (Field::Verify, "md5", "use one of none, 0, null, crc32c"),
        (Field::DedupePercentage, "101", "at most 100 %"),
        (Field::Sync, "always", "use one of none, 0, sync, 1, dsync"),
        (Field::ZeroBuffers, "2", "use one of 0, 1"),
        (Field::RateProcess, "uniform", "use one of linear, poisson"),
        (Field::Profile, "databse", "did you mean `database`?"),
        (Field::PercentageRandom, "120", "at most 100 %"),
    ] {
        let said = field.set(&mut Workload::default(), text).expect_err(words).to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_field_is_stored_by_its_name_and_no_two_share_one() {
    let mut names = BTreeSet::new();
    for field in Field::ALL {
        assert_eq!(serde_json::to_value(field).unwrap(), field.name());
        for name in field.names() {
            assert_eq!(Field::named(name), Some(field));
            assert!(names.insert(name), "{name} is of two fields");
        }
    }
}

#[test]
fn every_row_says_all_that_its_readers_need() {
    for field in Field::ALL {
        for text in [field.title(), field.about(), field.takes()] {
            assert!(!text.trim().is_empty() && text.trim() == text, "{field:?}: `{text}`");
        }
        match field.fio() {
            Fio::Together(words) | Fio::None(words) => assert!(!words.is_empty(), "{field:?}"),
            Fio::Same(_) => {}
        }
        if !field.is(Mark::Summary) {
            let traced = Field::ReadIolog.decides().any(|other| other == field);
            assert_eq!(traced, field.is(Mark::Traced), "{field:?}");
        }
    }
}

/// Texts of every notation that any field has, so that each field is given many that it takes.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "none", "0", "1", "sync", "dsync", "linear", "poisson", "null", "crc32c", "random", "a b.csv", "shared",
        "separate",
    ];
    let profiles = profile::names().to_vec();
    let size = || {
        (1..5000_u64, prop::sample::select(vec!["", "k", "m", "g", "KiB"])).prop_map(|(n, unit)| format!("{n}{unit}"))
    };
    prop_oneof![
        4 => size(),
        2 => (0..=100_u8).prop_map(|share| format!("{share}%")),
        2 => (0..=100_u8).prop_map(|share| share.to_string()),
        1 => (0..=2_000_000_u32).prop_map(|share| format!("{share}%")),
        2 => (0..1_000_000_000_u64, prop::sample::select(vec!["ns", "us", "ms", "s", "m", "h"]))
            .prop_map(|(n, unit)| format!("{}{unit}", n % 100_000)),
        3 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(profiles).prop_map(str::to_owned),
        2 => (prop::sample::select(Pattern::ALL.map(|(name, _)| name).to_vec()), prop::option::of(size()))
            .prop_map(|(name, skip)| skip.map_or(name.to_owned(), |skip| format!("{name}:{skip}"))),
        2 => (size(), 1..100_u8, size()).prop_map(|(one, share, two)| format!("{one}/{share}:{two}/{}", 100 - share)),
        1 => (size(), size()).prop_map(|(reads, writes)| format!("{reads},{writes}")),
        1 => (1..10_000_000_u32).prop_map(|n| format!("zipf:{}.{:06}", n / 1_000_000, n % 1_000_000)),
        1 => (prop::sample::select(vec!["iops", "iops_slope"]), 1..100_000_u32)
            .prop_map(|(figure, n)| format!("{figure}:{}.{:03}%", n / 1_000, n % 1_000)),
        1 => (1..100_u8, 1..100_u8)
            .prop_map(|(a, b)| format!("zoned:{a}/{b}:{}/{}", 100 - a, 100 - b)),
        1 => (1_000..10_000_000_u32).prop_map(|n| format!("{}.{:06}", n / 1_000_000, n % 1_000_000)),
    ]
}

#[test]
fn what_is_set_is_what_is_got_and_what_is_written_is_what_was_read() {
    let mut taken = [0_u32; Field::ALL.len()];
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(text(), 40);
    let cases = (0..60).flat_map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>();
    for text in &cases {
        for field in Field::ALL {
            let mut set = Workload::default();
            if field.set(&mut set, text).is_err() {
                assert_eq!(set, Workload::default(), "{field:?} refused `{text}` and took it");
                continue;
            }
            taken[field as usize] += 1;
            let got = field.get(&set).unwrap_or_else(|| panic!("{field:?} has no value behind `{text}`"));
            let mut again = Workload::default();
            field
                .set(&mut again, &got)
                .unwrap_or_else(|error| panic!("{field:?} of `{text}` is written `{got}`: {error}"));
            assert_eq!(again, set, "{field:?}: `{text}` is written `{got}`");
            assert_eq!(field.get(&again), Some(got), "{field:?}: `{text}`");
            assert!(!field.words(&set).contains("  "), "{field:?}: `{}`", field.words(&set));
            let order = field.number(&set);
            assert!(order.is_none_or(|number| number.is_finite() && number >= 0.0), "{field:?}: {order:?}");
        }
    }
    for field in Field::ALL {
        assert!(taken[field as usize] >= 20, "{field:?} took {} of {} texts", taken[field as usize], cases.len());
    }
}

/// Whether every field that has no say in `workload` is as by default.
fn is_whole(workload: &Workload) -> bool {
    let plain = Workload::default();
    Field::ALL.into_iter().all(|field| {
        field.is(Mark::Summary)
            || field.is(Mark::Replay)
            || field.applies(workload)
            || field.get(workload) == field.get(&plain)
    })
}

#[test]
fn a_workload_is_made_again_from_its_fields() {
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec((0..Field::ALL.len(), text()), 400);
    let mut given = BTreeSet::new();
    for _ in 0..50 {
        let mut workload = Workload::default();
        for (place, text) in strategy.new_tree(&mut runner).unwrap().current() {
            let field = Field::ALL[place];
            let mut set = workload.clone();
            if !field.is(Mark::Summary) && field.set(&mut set, &text).is_ok() && is_whole(&set) {
                workload = set;
            }
        }
        let fields = workload.fields();
        let mut again = Workload::default();
        fields.iter().for_each(|(field, text)| field.set(&mut again, text).unwrap());
        assert_eq!(again, workload, "{fields:?}");
        given.extend(fields.iter().map(|(field, _)| *field));
    }
    assert!(given.len() > 30, "{given:?}");
}
