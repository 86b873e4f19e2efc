//! Traces of each format, and what is no trace.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Trace, TraceError> {
    let mut reader = TraceReader::new();
    text.lines().try_for_each(|line| reader.line(line))?;
    reader.finish()
}

/// Operation, offset in KiB, length in KiB, time in microseconds; how many were done, microseconds since then.
type Told = (Op, u64, u64, u64, (u32, u64));

fn told(trace: &Trace) -> Vec<Told> {
    let micros = |time: Nanos| time.as_nanos() / 1000;
    let kib = |bytes: Bytes| bytes.get() / 1024;
    let tell = |traced: &Traced| {
        let Traced { at, after, think, request } = *traced;
        (request.op, kib(request.lba.offset()), kib(request.bytes()), micros(at), (after, micros(think)))
    };
    trace.requests.iter().map(tell).collect()
}

#[test]
fn fios_log_of_version_2_has_waits_between_requests() {
    let text = "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n/dev/sdb wait 150 0\n\
                /dev/sdb write 8192 65536\n/dev/sdb sync 0 0\n/dev/sdb trim 1048576 4096\n/dev/sdb close\n";
    let trace = read(text).unwrap();
    assert_eq!(
        told(&trace),
        [
            (Op::Read, 0, 4, 0, (0, 0)),
            (Op::Write, 8, 64, 150, (1, 150)),
            (Op::Flush, 0, 0, 150, (2, 0)),
            (Op::Trim, 1024, 4, 150, (3, 0)),
        ]
    );
    assert_eq!((trace.targets, trace.passed_over, trace.end(), trace.longest()), {
        (1, 3, Bytes::from_kib(1028), Bytes::from_kib(64))
    });
}

#[test]
fn fios_log_of_version_3_has_a_time_for_each() {
    let text = "fio version 3 iolog\n26 a.bin add\n195 a.bin open\n200 a.bin read 0 4096\n50417 a.bin read 45056 4096\n\
                151032 b.bin write 28672 4096\n301723 a.bin close\n";
    let trace = read(text).unwrap();
    let expected = [
        (Op::Read, 0, 4, 0, (0, 0)),
        (Op::Read, 44, 4, 50_217, (1, 50_217)),
        (Op::Write, 28, 4, 150_832, (2, 100_615)),
    ];
    assert_eq!(told(&trace), expected);
    assert_eq!(trace.targets, 2);
}

#[test]
fn blkparse_tells_when_each_request_came_and_was_done() {
    let text = "\
  8,0    1        1     0.000100000   123  Q   R 8 + 8 [fio]
  8,0    1        2     0.000101000   123  G   R 8 + 8 [fio]
  8,0    1        3     0.000102000   123  D   R 8 + 8 [fio]
  8,0    1        4     0.000150000   123  Q  WS 2048 + 128 [fio]
  8,0    1        5     0.000200000     0  C   R 8 + 8 [0]
  8,0    1        6     0.000300000     0  C  WS 2048 + 128 [0]
  8,0    1        7     0.001300000   123  Q  FWS [jbd2]
  8,0    1        8     0.001400000   123  Q   D 4096 + 8 [fio]
  8,0    0        0     0.001500000     0  m   N cfq123 slice expired
CPU1 (8,0):
 Reads Queued:           1,        4KiB	 Writes Queued:           1,       64KiB
";
    let trace = read(text).unwrap();
    let expected = [
        (Op::Read, 4, 4, 0, (0, 0)),
        (Op::Write, 1024, 64, 50, (0, 50)),
        (Op::Flush, 0, 0, 1200, (2, 1000)),
        (Op::Trim, 2048, 4, 1300, (3, 100)),
    ];
    assert_eq!(told(&trace), expected, "the write came while the read was in flight");
}

#[test]
fn msr_cambridge_has_response_times() {
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                128166372003061629,hm,0,Read,383496192,32768,1000\n128166372003061729,hm,0,Write,2822144,4096,500\n\
                128166372003071629,hm,1,Write,3221225472,4096,77\n";
    let trace = read(text).unwrap();
    let expected = [
        (Op::Read, 374_508, 32, 0, (0, 0)),
        (Op::Write, 2756, 4, 10, (0, 10)),
        (Op::Write, 3_145_728, 4, 1000, (2, 900)),
    ];
    assert_eq!(told(&trace), expected);
    assert_eq!((trace.targets, trace.passed_over), (2, 1), "the header is passed over");
}

#[test]
fn what_is_written_is_read_again() {
    let requests = [
        (Nanos::ZERO, Request::new(Op::Read, Lba::new(8), 8)),
        (Nanos::from_micros(70), Request::new(Op::Write, Lba::new(0), 1)),
        (Nanos::from_micros(90), Request::FLUSH),
        (Nanos::from_millis(2), Request::new(Op::Trim, Lba::new(800), 80)),
    ];
    let trace = read(&to_iolog("sim:x25-m", &requests)).unwrap();
    let again: Vec<(Nanos, Request)> = trace.requests.iter().map(|traced| (traced.at, traced.request)).collect();
    assert_eq!(again, requests);
}

#[test]
fn assays_own_trace_keeps_what_was_done_when() {
    let micros = Nanos::from_micros;
    let page = |lba| Request::new(Op::Read, Lba::new(lba), 8);
    let requests = [
        (micros(0), micros(900), page(8)),
        (micros(100), micros(300), Request::new(Op::Write, Lba::new(64), 16)),
        (micros(310), micros(400), page(80)),
        (micros(950), micros(990), Request::FLUSH),
        (micros(950), micros(950), Request::new(Op::Trim, Lba::new(800), 80)),
        (micros(950), micros(960), page(0)),
    ];
    let text = to_timed(&requests);
    let trace = read(&text).unwrap();
    let waits = [(0, 0), (0, 100), (1, 10), (3, 50), (3, 50), (4, 0)];
    assert_eq!(told(&trace).iter().map(|told| told.4).collect::<Vec<_>>(), waits, "each waits for what was done");
    assert_eq!(trace.done, [1, 2, 0, 4, 5, 3]);
    assert_eq!(trace.requests.iter().map(|traced| traced.request).collect::<Vec<_>>(), requests.map(|told| told.2));
    for line in ["1 2 read 3", "1 2 erase 3 4", "x 2 read 3 4", "1 2 read 3 4 5"] {
        let said = read(&format!("assay trace 1\n{line}\n")).unwrap_err().to_string();
        assert!(said.contains("line 2") && said.contains("`1500 82 read 2048 8`"), "{said}");
    }
}

#[test]
fn what_is_no_trace_is_told_with_its_line() {
    let iolog = |lines: &str| format!("fio version 2 iolog\n{lines}");
    for (text, words) in [
        ("hello\n".to_owned(), "`hello` is not the start of a known trace format"),
        (iolog("f read 0\n"), "line 2: `f read 0` is not"),
        (iolog("f add\nf read 0 x\n"), "line 3: `f read 0 x` is not a number"),
        (iolog("f read 100 512\n"), "line 2: read of 512 B at 100 is not whole sectors"),
        (iolog("f write 18446744073709551104 512\n"), "not whole sectors"),
        (iolog("f open\n"), "no request; it ends after 2 lines"),
        (String::new(), "no request"),
        ("128166372003061629,hm,0,Read,0,4096,1\n1,hm,0,Erase,0,4096,1\n".to_owned(), "line 2"),
    ] {
        let said = read(&text).unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
    let long = format!("{}\n", "x".repeat(10_000));
    assert!(read(&long).unwrap_err().to_string().len() < 300);
}

#[test]
fn times_beyond_a_hundred_years_are_refused() {
    let end = u64::MAX;
    for text in [
        format!("fio version 2 iolog\nf read 0 512\nf wait {end} 0\nf read 0 512\n"),
        "fio version 2 iolog\nf wait 3000000000000000 0\nf wait 3000000000000000 0\nf read 0 512\n".to_owned(),
        format!("fio version 3 iolog\n0 f read 0 512\n{} f read 0 512\n", end / 1000 - 1),
        format!("1,h,0,Read,0,512,1\n{},h,0,Read,0,512,1\n", end / 200),
    ] {
        let said = read(&text).unwrap_err().to_string();
        assert!(said.contains("within a hundred years"), "{text}: {said}");
    }
}

/// Words of which traces are made, and numbers at the edges of what they hold.
fn word() -> impl Strategy<Value = String> {
    const WORDS: [&str; 22] = [
        "f",
        "read",
        "write",
        "trim",
        "sync",
        "wait",
        "add",
        "Q",
        "C",
        "R",
        "WS",
        "FWS",
        "D",
        "+",
        "8,0",
        "0.000000001",
        "999999999.9",
        "Read",
        "Write",
        "host",
        "[fio]",
        "é",
    ];
    let number = prop_oneof![
        Just(0),
        Just(512),
        Just(4096),
        Just(u64::MAX),
        Just(u64::MAX / 1000),
        Just(128_166_372_003_061_629),
        any::<u64>()
    ];
    prop_oneof![prop::sample::select(&WORDS[..]).prop_map(str::to_owned), number.prop_map(|number| number.to_string())]
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        first in 0..6_usize,
        separator in prop::sample::select(vec![" ", ","]),
        lines in prop::collection::vec(prop::collection::vec(word(), 0..11), 0..8),
    ) {
        const FIRST: [&str; 6] = [
            "fio version 2 iolog",
            "fio version 3 iolog",
            "assay trace 1",
            "  8,0    1        1     0.000100000   123  Q   R 8 + 8 [fio]",
            "128166372003061629,hm,0,Read,383496192,32768,1000",
            "",
        ];
        let lines: Vec<String> = lines.iter().map(|words| words.join(separator)).collect();
        let text = format!("{}\n{}", FIRST[first], lines.join("\n"));
        if let Ok(trace) = read(&text) {
            prop_assert!(trace.requests.is_sorted_by_key(|traced| traced.at));
            let again = trace.digest(TraceFormat::Msr);
            prop_assert!(again.requests > 0 && again.end >= trace.longest());
            prop_assert!(trace.requests.iter().enumerate().all(|(place, traced)| traced.after as usize <= place));
        }
    }
}
