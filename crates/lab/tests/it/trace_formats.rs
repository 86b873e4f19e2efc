//! Files of every format of traces, held to the requests that they were made of, and long ones to bounded memory.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use assay_lab::Traces;
use block::{Nanos, Op};
use proptest::prelude::*;
use workload::{Replay, TraceFormat, TraceReader, Traced, VOLUMES_APART, Workload};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/corpus/traces").join(name)
}

/// A request of `requests.csv`: microseconds, volume, operation, offset, length, response time.
type Known = (u64, u64, char, u64, u64, u64);

fn known() -> Vec<Known> {
    let text = std::fs::read_to_string(corpus("requests.csv")).unwrap();
    let request = |line: &str| {
        let words: Vec<&str> = line.split(',').collect();
        let number = |at: usize| words[at].parse().unwrap();
        (number(0), number(1), words[2].chars().next().unwrap(), number(3), number(4), number(5))
    };
    text.lines().skip(1).map(request).collect()
}

fn replay(name: &str, change: impl FnOnce(&mut Replay)) -> Result<Workload, String> {
    let mut replay = Replay::of(corpus(name).display().to_string());
    change(&mut replay);
    let mut workload = Workload { replay: Some(replay), ..Workload::default() };
    Traces::anywhere().give_to(&mut workload).map_err(|error| error.to_string())?;
    Ok(workload)
}

fn requests(workload: &Workload) -> Vec<Traced> {
    workload.replay.as_ref().unwrap().trace.as_ref().unwrap().requests().collect()
}

/// What a format keeps of each request.
struct Keeps {
    file: &'static str,
    format: TraceFormat,
    /// Whether it knows all volumes, or was made of the requests of volume 0.
    volumes: &'static [&'static str],
    /// In so many microseconds.
    times: u64,
    is_read_only: bool,
    has_ends: bool,
    /// Requests of the file that say nothing that is replayed.
    without: Option<usize>,
}

const KEEPS: Keeps = Keeps {
    file: "",
    format: TraceFormat::Columns,
    volumes: &[],
    times: 1,
    is_read_only: false,
    has_ends: false,
    without: None,
};

/// Every file, so that none is left out; the names of the two volumes, where it has them.
fn table() -> Vec<Keeps> {
    let of = |file, format| Keeps { file, format, ..KEEPS };
    let objects = |file, format| Keeps { times: 1_000_000, is_read_only: true, ..of(file, format) };
    let ended = |file, format| Keeps { has_ends: true, ..of(file, format) };
    vec![
        Keeps { volumes: &["0", "1"], ..of("spc.csv", TraceFormat::Spc) },
        Keeps { volumes: &["0", "1"], ..of("alibaba.csv", TraceFormat::Alibaba) },
        Keeps { volumes: &["0", "1"], ..of("alibaba.csv.gz", TraceFormat::Alibaba) },
        Keeps { volumes: &["0", "1"], ..of("alibaba.csv.zst", TraceFormat::Alibaba) },
        Keeps { volumes: &["1283", "1284"], times: 1_000_000, ..of("tencent.csv", TraceFormat::Tencent) },
        Keeps { volumes: &["0", "1"], without: Some(4), ..ended("systor17.csv", TraceFormat::Systor) },
        Keeps { volumes: &["6,0", "6,1"], ..of("fiu.txt", TraceFormat::Fiu) },
        Keeps { volumes: &["0", "1"], ..of("disksim.txt", TraceFormat::DiskSim) },
        Keeps { volumes: &["hm.0", "hm.1"], ..ended("msr.csv", TraceFormat::Msr) },
        Keeps { times: 1_000_000, ..of("cloudphysics.csv", TraceFormat::CloudPhysics) },
        of("vscsi1.bin", TraceFormat::Vscsi1),
        ended("vscsi2.bin", TraceFormat::Vscsi2),
        objects("oracle-general.bin", TraceFormat::OracleGeneral),
        objects("oracle-general.bin.zst", TraceFormat::OracleGeneral),
        objects("objects.lcs", TraceFormat::Lcs),
        ended("sda.blktrace.0", TraceFormat::Blktrace),
        ended("sdb.blktrace.0", TraceFormat::Blktrace),
        ended("sdb.blktrace.3", TraceFormat::Blktrace),
        // As with blkparse, the name of a recording stands for its files.
        ended("sdb", TraceFormat::Blktrace),
        ended("blkparse.txt", TraceFormat::Blkparse),
        ended("blkparse-terminal.txt", TraceFormat::Blkparse),
    ]
}

/// When each request came, and what was done before, worked out one by one.
fn expected(keeps: &Keeps, known: &[Known]) -> Vec<(u64, Op, u64, u64, u32)> {
    let is_here = |(place, request): &(usize, &Known)| {
        (keeps.volumes.len() == 2 || request.1 == 0) && keeps.without != Some(*place)
    };
    let here: Vec<Known> = known.iter().enumerate().filter(is_here).map(|(_, request)| *request).collect();
    let at = |micros: u64| micros / keeps.times * keeps.times;
    let first = at(here[0].0);
    let end = |request: &Known| at(request.0) + if keeps.has_ends { request.5 } else { 0 };
    let mut told = Vec::new();
    for (place, request @ (micros, _, op, offset, length, _)) in here.iter().enumerate() {
        let done = here[..place].iter().filter(|before| end(before) <= at(request.0)).count();
        let op = if *op == 'R' || keeps.is_read_only { Op::Read } else { Op::Write };
        told.push((at(*micros) - first, op, *offset, *length, done as u32));
    }
    told
}

fn told(requests: &[Traced]) -> Vec<(u64, Op, u64, u64, u32)> {
    let tell = |traced: &Traced| {
        let Traced { at, request, after, .. } = *traced;
        (at.as_nanos() / 1000, request.op, request.lba.offset().get(), request.bytes().get(), after)
    };
    requests.iter().map(tell).collect()
}

#[test]
fn every_format_has_the_requests_that_its_file_was_made_of() {
    let known = known();
    for keeps in table() {
        let workload = replay(keeps.file, |_| {}).unwrap_or_else(|error| panic!("{}: {error}", keeps.file));
        let digest = workload.replay.as_ref().unwrap().digest.unwrap();
        assert_eq!(digest.format, keeps.format, "{}", keeps.file);
        let expected = expected(&keeps, &known);
        assert_eq!(told(&requests(&workload)), expected, "{}", keeps.file);
        assert_eq!(digest.requests, expected.len() as u64, "{}", keeps.file);
        assert_eq!(digest.bytes.get(), expected.iter().map(|request| request.3).sum::<u64>(), "{}", keeps.file);
        assert_eq!(digest.end.get(), expected.iter().map(|request| request.2 + request.3).max().unwrap());
        assert_eq!(digest.targets, keeps.volumes.len().max(1), "{}", keeps.file);
    }
}

#[test]
fn every_file_of_the_corpus_and_every_format_is_tried() {
    let tried: Vec<&str> = table().iter().map(|keeps| keeps.file).collect();
    let other = ["README.md", "make", "named.txt", "requests.csv", "sdb.blktrace.1", "sdb.blktrace.2"];
    for entry in std::fs::read_dir(corpus("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_of_iometer = name.ends_with(".icf");
        assert!(is_of_iometer || other.contains(&&name[..]) || tried.contains(&&name[..]), "{name} is not tried");
    }
    let untried = TraceFormat::ALL.into_iter().filter(|format| table().iter().all(|keeps| keeps.format != *format));
    let elsewhere = [TraceFormat::Iolog2, TraceFormat::Iolog3, TraceFormat::Timed, TraceFormat::Columns];
    assert_eq!(untried.collect::<Vec<_>>(), elsewhere, "these are in the tests of the crate `workload`");
}

#[test]
fn one_volume_is_replayed_alone_and_two_side_by_side() {
    let known = known();
    for keeps in table().iter().filter(|keeps| keeps.volumes.len() == 2) {
        for (number, name) in keeps.volumes.iter().enumerate() {
            let workload = replay(keeps.file, |replay| replay.volume = Some((*name).to_owned())).unwrap();
            let mut expected = BTreeMap::new();
            for (place, request) in known.iter().enumerate() {
                if request.1 == number as u64 && keeps.without != Some(place) {
                    *expected.entry((request.3, request.4)).or_insert(0) += 1;
                }
            }
            let mut found = BTreeMap::new();
            for (_, _, offset, length, _) in told(&requests(&workload)) {
                *found.entry((offset, length)).or_insert(0) += 1;
            }
            assert_eq!(found, expected, "{} {name}", keeps.file);
            assert_eq!(workload.replay.unwrap().digest.unwrap().targets, 1);
        }
        let said = replay(keeps.file, |replay| replay.volume = Some("nobody".to_owned())).unwrap_err();
        assert!(said.contains("no request is of volume `nobody`; there are: "), "{said}");
        assert!(keeps.volumes.iter().all(|name| said.contains(name)), "{said}");
        let apart = replay(keeps.file, |replay| replay.volume = Some(VOLUMES_APART.to_owned())).unwrap();
        let end = |volume| known.iter().filter(|request| request.1 == volume).map(|it| it.3 + it.4).max().unwrap();
        let (first, last) = (end(0).next_multiple_of(1 << 20), end(1));
        assert_eq!(apart.replay.unwrap().digest.unwrap().end.get(), first + last, "{}", keeps.file);
    }
}

#[test]
fn columns_are_named_where_no_format_is_recognised() {
    let said = replay("named.txt", |_| {}).unwrap_err();
    assert!(
        said.contains("not the start of a known trace format") && said.contains("replay_format=time_us,"),
        "{said}"
    );
    let columns = "volume,op,size_sectors,offset_bytes,latency_us,time_s";
    let workload = replay("named.txt", |replay| replay.format = Some(columns.to_owned())).unwrap();
    let keeps = Keeps { file: "named.txt", volumes: &["vol0", "vol1"], has_ends: true, ..KEEPS };
    assert_eq!(told(&requests(&workload)), expected(&keeps, &known()));
    assert_eq!(workload.replay.unwrap().digest.unwrap().format, TraceFormat::Columns);
}

#[test]
fn a_recording_of_several_processors_is_one_trace_and_nothing_else_is_read_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let within = host::Within::folder(folder.path());
    let place = |name: &str| folder.path().join(name);
    let read = |name: &str| {
        let mut workload = Workload { replay: Some(Replay::of(name)), ..Workload::default() };
        Traces::within(within.clone()).give_to(&mut workload).map_err(|error| error.to_string())?;
        Ok::<usize, String>(requests(&workload).len())
    };
    for (number, from) in ["sdb.blktrace.0", "sdb.blktrace.1", "sdb.blktrace.2", "sdb.blktrace.3"].iter().enumerate() {
        std::fs::copy(corpus(from), place(&format!("x.blktrace.{number}"))).unwrap();
    }
    assert_eq!((read("x"), read("x.blktrace.2")), (Ok(6), Ok(6)));
    // A link that leads out of the folder is no more followed for a processor than for the trace itself.
    std::fs::remove_file(place("x.blktrace.3")).unwrap();
    std::os::unix::fs::symlink(corpus("sdb.blktrace.3"), place("x.blktrace.3")).unwrap();
    let said = read("x").unwrap_err();
    assert!(said.contains("outside the folder"), "{said}");
    std::fs::copy(corpus("sda.blktrace.0"), place("one.blktrace.7")).unwrap();
    assert_eq!(read("one.blktrace.7"), Ok(6), "the file of one processor alone");
    assert!(read("y").unwrap_err().contains("y cannot be read: No such file"));
}

/// An event of blktrace's: processor and number there; time, sector, bytes, and what was done.
fn event((processor, number): (u32, u32), (at, sector, bytes, action): (u64, u64, u32, u32)) -> Vec<u8> {
    let longs = [at, sector].into_iter().flat_map(u64::to_le_bytes);
    let begin = [0x6561_7407, number].into_iter().flat_map(u32::to_le_bytes);
    let end = [bytes, action, 123, 8 << 20, processor, 0].into_iter().flat_map(u32::to_le_bytes);
    begin.chain(longs).chain(end).collect()
}

#[test]
fn what_blkparse_makes_of_a_recording_is_what_is_read_of_it() {
    let Ok(found) = std::process::Command::new("blkparse").arg("-V").output() else {
        return println!("skipped: blkparse is not installed");
    };
    assert!(!String::from_utf8_lossy(&found.stdout).is_empty() || !found.stderr.is_empty());
    let mut random = testkit::soak::random();
    for _ in 0..testkit::soak::times(5, 100) {
        let folder = tempfile::tempdir().unwrap();
        // Reads, writes, trims, flushes and what is passed through; queued, merged, completed or of another kind.
        let mut draw = |below: u64| random.below(below);
        let mut at = 0;
        let mut processors: [Vec<u8>; 3] = Default::default();
        for _ in 0..400 {
            at += 1 + draw(50_000);
            let category = [1, 2, 1 << 13 | 2, 1 << 2, 1 << 9][draw(5) as usize];
            let (action, of) = [(1, 1 << 4), (8, 1 << 6), (2, 1 << 4), (7, 1 << 5)][draw(4) as usize];
            let bytes = if category == 1 << 2 { 0 } else { 512 * (1 + draw(8) as u32) };
            let sector = if bytes == 0 { 0 } else { draw(64) };
            let processor = draw(3) as usize;
            let number = processors[processor].len() as u32 / 48 + 1;
            let action = (category | of) << 16 | action;
            processors[processor].extend(event((processor as u32, number), (at, sector, bytes, action)));
        }
        for (number, events) in processors.iter().enumerate() {
            std::fs::write(folder.path().join(format!("r.blktrace.{number}")), events).unwrap();
        }
        let mut blkparse = std::process::Command::new("blkparse");
        let parsed = blkparse.args(["-i", "r"]).current_dir(folder.path()).output().unwrap();
        std::fs::write(folder.path().join("r.txt"), &parsed.stdout).unwrap();
        let read = |name: &str| {
            let mut workload = Workload {
                replay: Some(Replay::of(folder.path().join(name).display().to_string())),
                ..Workload::default()
            };
            Traces::anywhere().give_to(&mut workload).unwrap_or_else(|error| panic!("{error}"));
            workload
        };
        let (direct, text) = (read("r"), read("r.txt"));
        assert_eq!(requests(&direct), requests(&text), "{}", String::from_utf8_lossy(&parsed.stdout));
        assert!(requests(&direct).len() > 20);
    }
}

/// Where the request of this number begins, in a trace of requests without order.
const fn offset(place: u64) -> u64 {
    place * 40_503 % 1_000_003 * 4096
}

/// So many requests of two volumes, as text.
fn write_long(count: u64, file: impl Write) {
    let mut file = BufWriter::with_capacity(1 << 16, file);
    for place in 0..count {
        let op = if place % 3 == 0 { 'W' } else { 'R' };
        let (volume, at) = (place % 2, 1_577_808_000_000_000 + place * 25);
        writeln!(file, "{volume},{op},{},4096,{at}", offset(place)).unwrap();
    }
    file.flush().unwrap();
}

/// The most memory that this process has had, in MiB.
fn memory_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

#[test]
fn a_trace_of_any_length_is_replayed_in_the_same_memory() {
    if testkit::process::done_apart() {
        return;
    }
    // Of 200 MB and, in a soak, of 2 GB: in memory they would take 0.5 GB and 5 GB.
    let count = testkit::soak::times(5_000_000, 50_000_000) as u64;
    let (reader, writer) = std::io::pipe().unwrap();
    let wrote = std::thread::spawn(move || write_long(count, writer));
    let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let mut workload = Workload { replay: Some(Replay::of(path)), ..Workload::default() };
    Traces::anywhere().give_to(&mut workload).unwrap();
    drop(reader);
    wrote.join().unwrap();
    let digest = workload.replay.as_ref().unwrap().digest.unwrap();
    assert_eq!((digest.requests, digest.targets, digest.bytes.get()), (count, 2, count * 4096));
    assert_eq!(digest.length, Nanos::from_micros((count - 1) * 25));
    let trace = workload.replay.unwrap().trace.unwrap();
    for (place, traced) in (0..).zip(trace.requests()) {
        assert_eq!((traced.at.as_nanos(), traced.request.lba.offset().get()), (place * 25_000, offset(place)));
        assert_eq!(u64::from(traced.after), place);
    }
    let most = memory_max();
    assert!(most < 220, "{most} MiB");
}

/// The files of the corpus that are read as they are.
static FILES: std::sync::LazyLock<Vec<Vec<u8>>> = std::sync::LazyLock::new(|| {
    let names = table().into_iter().map(|keeps| corpus(keeps.file));
    names.filter_map(|path| std::fs::read(path).ok()).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..9_usize), 0..8),
        end in prop::option::of(any::<prop::sample::Index>()),
        format in prop::option::of(prop::sample::select(&TraceFormat::ALL[..])),
    ) {
        let mut bytes = file.get(&FILES).clone();
        for (place, byte, length) in changes {
            let start = place.index(bytes.len());
            let end = (start + length).min(bytes.len());
            bytes[start..end].fill(byte);
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        let reader = TraceReader { format: format.map(TraceFormat::name), ..TraceReader::default() };
        match reader.read(vec![Box::new(&bytes[..])]) {
            Err(error) => prop_assert!(error.to_string().len() < 1024, "{error}"),
            Ok((trace, _)) => {
                prop_assert!(trace.count() <= bytes.len() as u64);
                prop_assert!(trace.requests().is_sorted_by_key(|traced| traced.at));
                prop_assert!(trace.longest() <= trace.end());
                prop_assert!(trace.requests().zip(0..).all(|(traced, place)| traced.after <= place));
                let mut done: Vec<u32> = trace.done().collect();
                done.sort_unstable();
                prop_assert!(done.into_iter().eq(0..trace.count() as u32));
            }
        }
    }
}
