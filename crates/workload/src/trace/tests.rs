//! Traces of each format, and what is no trace.

use proptest::prelude::*;

use super::assemble::Assembler;
use block::{Bytes, Lba};

use super::*;

fn read(text: &str) -> Result<Trace, TraceError> {
    TraceReader::default().text(text).map(|(trace, _)| trace)
}

/// Operation, offset in KiB, length in KiB, time in microseconds; how many were done, microseconds since then.
type Told = (Op, u64, u64, u64, (u32, u64));

fn told(trace: &Trace) -> Vec<Told> {
    let micros = |time: Nanos| time.as_nanos() / 1000;
    let kib = |bytes: Bytes| bytes.get() / 1024;
    let tell = |traced: Traced| {
        let Traced { at, after, think, request } = traced;
        (request.op, kib(request.lba.offset()), kib(request.bytes()), micros(at), (after, micros(think)))
    };
    trace.requests().map(tell).collect()
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
    let again: Vec<(Nanos, Request)> = trace.requests().map(|traced| (traced.at, traced.request)).collect();
    assert_eq!(again, requests);
}

#[test]
fn requests_that_move_no_data_are_passed_over() {
    for text in [
        "fio version 2 iolog\nx add\nx open\nx read 0 0\nx write 4096 512\nx sync 0 0\nx trim 7 0\n",
        "fio version 3 iolog\n0 x add\n0 x open\n1 x read 0 0\n2 x write 4096 512\n3 x sync 0 0\n4 x trim 7 0\n",
        "assay trace 1\n0 1 read 0 0\n0 1 write 8 1\n0 1 flush 0 0\n0 1 trim 5 0\n",
    ] {
        let trace = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let requests: Vec<Request> = trace.requests().map(|traced| traced.request).collect();
        assert_eq!(requests, [Request::new(Op::Write, Lba::new(8), 1), Request::FLUSH], "{text}");
    }
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
    assert_eq!(trace.done().collect::<Vec<_>>(), [1, 2, 0, 4, 5, 3]);
    assert_eq!(trace.requests().map(|traced| traced.request).collect::<Vec<_>>(), requests.map(|told| told.2));
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
        (iolog("f open\n"), "no request; it ends after line 2"),
        (String::new(), "no request"),
        ("128166372003061629,hm,0,Read,0,4096,1\n1,hm,0,Erase,0,4096,1\n".to_owned(), "line 2"),
    ] {
        let said = read(&text).unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
    let long = format!("{}\n", "x".repeat(10_000));
    assert!(read(&long).unwrap_err().to_string().len() < 700);
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

/// A file in memory.
#[derive(Debug, Default)]
struct Memory(std::sync::Mutex<Vec<u8>>);

impl TraceFile for Memory {
    fn write(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        let mut all = self.0.lock().unwrap();
        assert_eq!(all.len() as u64, offset, "it is written in one go");
        all.extend(bytes);
        Ok(())
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        let all = self.0.lock().unwrap();
        bytes.copy_from_slice(&all[offset as usize..offset as usize + bytes.len()]);
        Ok(())
    }
}

/// So many requests, each a little out of order, done out of order.
fn jumbled(count: u64) -> String {
    let line = |place: u64| {
        let (at, took) = ((place ^ 5) * 100, 50 + place * 37 % 900);
        let (op, sector) = (["read", "write", "trim"][(place % 3) as usize], place * 7919 % 100_000);
        format!("{at} {took} {op} {sector} {}\n", 1 + place % 64)
    };
    std::iter::once("assay trace 1\n".to_owned()).chain((0..count).map(line)).collect()
}

#[test]
fn a_long_trace_in_a_file_is_the_same_as_in_memory() {
    let text = jumbled(20_000);
    let (held, _) = TraceReader::default().text(&text).unwrap();
    let new_file: NewTraceFile = || Ok(std::sync::Arc::new(Memory::default()));
    for (window, room) in [(8, 10), (64, 4096), (64, 19_999), (1 << 19, 5000)] {
        let assembler = Assembler::with(Some(new_file), window, room);
        let (filed, _) = TraceReader::default().assembled(vec![Box::new(text.as_bytes())], assembler).unwrap();
        assert_ne!(filed, held, "it is kept in a file");
        assert!(filed.requests().eq(held.requests()) && filed.done().eq(held.done()), "window {window}, room {room}");
        assert_eq!(filed.digest(TraceFormat::Timed), held.digest(TraceFormat::Timed));
        let (filed, held) = (filed.scaled(3, Bytes::new(512)), held.clone().scaled(3, Bytes::new(512)));
        assert!(filed.requests().eq(held.requests()) && filed.end() == held.end());
        // A copy goes on where the first is.
        let mut requests = filed.requests();
        assert!(requests.by_ref().take(5000).eq(held.requests().take(5000)));
        assert!(requests.clone().eq(requests));
    }
}

#[test]
fn what_is_farther_out_of_order_than_is_sorted_is_refused() {
    let assembler = |window| Assembler::with(None, window, usize::MAX);
    let text = jumbled(1000);
    let read = |window| TraceReader::default().assembled(vec![Box::new(text.as_bytes())], assembler(window));
    assert!(read(5).is_ok(), "each is five places too early or late at most");
    let said = read(2).unwrap_err().to_string();
    assert!(said.contains("sort the trace by time"), "{said}");
    let back = "assay trace 1\n900 1 read 0 8\n100 1 read 8 8\n500 1 read 16 8\n";
    let at: Vec<u64> = super::tests::read(back).unwrap().requests().map(|traced| traced.at.as_nanos() / 1000).collect();
    assert_eq!(at, [0, 400, 800], "times count from the earliest, wherever it stands");
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let full: NewTraceFile = || Err(std::io::Error::other("it is full"));
    let assembler = Assembler::with(Some(full), 8, 10);
    let said = TraceReader::default().assembled(vec![Box::new(jumbled(100).as_bytes())], assembler).unwrap_err();
    assert!(said.to_string().contains("cannot be written: it is full"), "{said}");
}

#[test]
fn a_completion_is_of_the_request_of_its_extent_or_of_all_that_were_merged() {
    let text = "\
  8,0    1        1     0.000000000   123  Q   R 8 + 8 [fio]
  8,0    1        2     0.000010000   123  Q   R 16 + 8 [fio]
  8,0    1        3     0.000020000   123  M   R 16 + 8 [fio]
  8,16   1        1     0.000030000   123  Q   R 8 + 8 [fio]
  8,0    1        4     0.000100000     0  C   R 8 + 16 [0]
  8,0    1        5     0.000200000   123  Q   W 8 + 8 [fio]
  8,0    1        6     0.000210000   123  Q   W 8 + 8 [fio]
  8,0    1        7     0.000300000     0  C   W 8 + 8 [0]
  8,16   1        2     0.000400000     0  C   R 8 + 8 [0]
  8,0    1        8     0.000500000   123  Q   R 800 + 8 [fio]
";
    let trace = read(text).unwrap();
    let after: Vec<(u32, u64)> = told(&trace).iter().map(|told| told.4).collect();
    // The second write, of whose end nothing is told, is taken to be done when it came.
    assert_eq!(after, [(0, 0), (0, 10), (0, 30), (2, 100), (2, 110), (5, 100)]);
}

#[test]
fn volumes_are_chosen_or_placed_apart() {
    let text = "0,R,0,4096,10\n7,W,1048576,8192,20\n0,R,8192,4096,30\n12,R,0,512,40\n";
    let of = |volume| TraceReader { volume, ..TraceReader::default() }.text(text).map(|(trace, _)| trace);
    let all = of(None).unwrap();
    assert_eq!((all.count(), all.targets), (4, 3));
    let one = of(Some("0")).unwrap();
    assert_eq!((one.count(), one.targets, one.requests().last().unwrap().at), (2, 1, Nanos::from_micros(20)));
    assert_eq!(one.end(), Bytes::from_kib(12));
    let said = of(Some("3")).unwrap_err().to_string();
    assert!(said.contains("volume `3`; there are: 0, 12, 7"), "{said}");
    let apart = all.clone().apart();
    let offsets: Vec<u64> = apart.requests().map(|traced| traced.request.lba.offset().get() >> 10).collect();
    assert_eq!(offsets, [0, 2048, 8, 3072], "each begins at the next MiB");
    assert_eq!(apart.end(), Bytes::new((3 << 20) + 512));
    let halved = apart.scaled(2, Bytes::new(512));
    let offsets: Vec<u64> = halved.requests().map(|traced| traced.request.lba.offset().get() >> 10).collect();
    assert_eq!(offsets, [0, 1024, 4, 1536]);
}

#[test]
fn columns_are_read_as_they_are_named() {
    let of = |format, text: &str| TraceReader { format: Some(format), ..TraceReader::default() }.text(text);
    let told_of = |format, text: &str| told(&of(format, text).unwrap().0);
    let one = [(Op::Read, 4, 8, 0, (0, 0)), (Op::Trim, 8, 4, 1500, (1, 1500))];
    for (format, text) in [
        ("time_us,op,offset_bytes,size_bytes", "time,op,offset,size\n5,R,4096,8192\n1505,d,8192,4096\n"),
        ("op,-,offset_sectors,size_sectors,time_s", "read x 8 16 17.000005\nTRIM y 16 8 17.001505\n"),
        ("time_ms,op,offset_4k,size_bytes,volume", "0.5;\"R\";1;8192;a b;more\n2;trim;2;4096;a b\n"),
        ("time_100ns,op,offset_bytes,size_bytes", "7\t0\t4096\t8192\n15007\tunmap\t8192\t4096\n"),
    ] {
        assert_eq!(told_of(format, text), one, "{format}");
    }
    let flagged = told_of("time_ns,volume,offset_sectors,size_sectors,is_read", "500 0 8 16 1\n900 3 0 8 0\n");
    assert_eq!([flagged[0].0, flagged[1].0], [Op::Read, Op::Write]);
    let done = told_of("time_us,latency_us,op,offset_bytes,size_bytes", "0,10,R,0,4096\n30,1,W,0,4096\n");
    assert_eq!(done[1].4, (1, 20));
    assert_eq!(of("columns", "0,v,R,0,512\n").unwrap().1, TraceFormat::Columns);
    for (format, text, words) in [
        ("time_us,op,offset_bytes", "", "a size is missing"),
        ("time_us,time_s,op,offset_bytes,size_bytes", "", "`time_s` is a second column for the same"),
        ("time_us,op,offset,size_bytes", "", "no column `offset`; there are time_s"),
        ("spcc", "", "no format has this name; there are iolog2"),
        ("time_us,op,offset_bytes,size_bytes", "1,R,0,512\n2,R,0\n", "line 2"),
        ("time_us,op,offset_bytes,size_bytes", "1,X,0,512\n", "as op"),
        ("time_us,is_read,offset_bytes,size_bytes", "1,2,0,512\n", "as is_read"),
        ("time_us,op,is_read,offset_bytes,size_bytes", "", "`is_read` is a second column for the same"),
        ("msr", "0,R,0,4096,10\n", "of MSR Cambridge"),
    ] {
        let said = of(format, &format!("{text}1,R,0,0\n")).unwrap_err().to_string();
        assert!(said.contains(words), "{format}: {said}");
    }
}

#[test]
fn hostile_files_are_refused_in_bounded_memory() {
    let of = |bytes: &[u8]| TraceReader::default().read(vec![Box::new(bytes)]).map(|(trace, _)| trace.count());
    let vscsi = |lbn: u64, size: u32, at: u64| {
        let mut record = [0; 32];
        record[4..8].copy_from_slice(&size.to_le_bytes());
        record[12..16].copy_from_slice(&[0x28, 0, 0, 1]);
        record[16..24].copy_from_slice(&lbn.to_le_bytes());
        record[24..32].copy_from_slice(&at.to_le_bytes());
        record
    };
    let event = |pdu: u16| [&[7, b't', b'a', b'e'][..], &[0; 42], &pdu.to_le_bytes()].concat();
    assert_eq!(of(&vscsi(8, 4096, 5)), Ok(1));
    for (bytes, words) in [
        (vscsi(u64::MAX, 4096, 5).to_vec(), "record 1: read of 4096 B"),
        (vscsi(8, 4096, u64::MAX).to_vec(), "with its version and a time"),
        (vscsi(8, 4097, 5).to_vec(), "not whole sectors"),
        ([&vscsi(8, 512, 5)[..], &vscsi(8, 512, u64::MAX / 1000 - 1)].concat(), "within a hundred years"),
        ([&vscsi(8, 512, 5)[..], &[0; 31]].concat(), "record 2: the file ends within it"),
        (event(9), "record 1: the file ends within it"),
        ([event(0), vec![1; 48]].concat(), "an event of blktrace"),
        (event(0), "no request"),
        (0x1234_5678_9abc_def0_u64.to_le_bytes().to_vec(), "the file ends within it"),
        ([&0x1234_5678_9abc_def0_u64.to_le_bytes()[..], b"<Q", &[0; 1014]].concat(), "a header of lcs"),
        ([&b"0,R,0,4096,10\n"[..], &[b'9'; 70_000]].concat(), "line 2 is longer than 64 KiB"),
        ([&b"0,R,0,4096,10\n"[..], &[b'9'; 70_000], b"\0"].concat(), "line 2 is longer than 64 KiB"),
        ([&[b'a'; 257][..], b"ustar", &[0; 250]].concat(), "an archive of tar"),
        (b"0,R,0,4096,10\n0,R,\0,4096,10\n".repeat(40_000), "line 2: there are bytes that are no text"),
    ] {
        let said = of(&bytes).unwrap_err().to_string();
        assert!(said.contains(words) && said.len() < 700, "{said}");
    }
    let volumes: String = (0..70_000).map(|volume| format!("{volume},R,0,4096,10\n")).collect();
    assert!(of(volumes.as_bytes()).unwrap_err().to_string().contains("more than 65536 volumes"));
}

#[test]
fn a_file_that_fits_two_formats_is_asked_for_its_format() {
    // Five records of version 1, of which the bytes of four of version 2 say that they are those.
    let mut file = [0; 160];
    for record in file.chunks_mut(32) {
        record[4..8].copy_from_slice(&512_u32.to_le_bytes());
        record[12..16].copy_from_slice(&[0x2a, 0, 0, 1]);
    }
    for record in file.chunks_mut(40) {
        record[3] = 2;
    }
    let of = |format| TraceReader { format, ..TraceReader::default() }.read(vec![Box::new(&file[..])]);
    let said = of(None).unwrap_err().to_string();
    assert_eq!(said, "it may be vscsi1 or vscsi2; name which: replay_format=vscsi1 or replay_format=vscsi2");
    assert!(of(Some("vscsi2")).is_err_and(|error| !matches!(error, TraceError::Ambiguous { .. })));
}

#[test]
fn a_format_has_one_name_for_programs_and_for_the_store() {
    for format in TraceFormat::ALL {
        let stored = serde_json::to_string(&format).unwrap();
        assert_eq!(stored, format!("\"{}\"", format.name()));
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
        first in 0..15_usize,
        separator in prop::sample::select(vec![" ", ","]),
        lines in prop::collection::vec(prop::collection::vec(word(), 0..11), 0..8),
    ) {
        const FIRST: [&str; 15] = [
            "0,303567,3584,w,0.000000",
            "419,W,8792731648,16384,1577808144360767",
            "1538323200,12910952,128,0,1063",
            "Timestamp,Response,IOType,LUN,Offset,Size",
            "89968195792462 4892 syslogd 904265560 8 W 6 0 531e779adcd9b6a3d45d24d7b7e2e4a1",
            "version,time,op,size,lbn",
            "0.000000 0 0 8 1",
            "Input file sda.blktrace.0 added",
            "1456135200.000000000,0.000120000,R,0,0,4096",
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
            prop_assert!(trace.requests().is_sorted_by_key(|traced| traced.at));
            let again = trace.digest(TraceFormat::Msr);
            prop_assert!(again.requests > 0 && again.end >= trace.longest());
            prop_assert!(trace.requests().enumerate().all(|(place, traced)| traced.after as usize <= place));
        }
    }
}
