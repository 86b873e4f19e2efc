//! What plain workloads ask for never changes: a seed repeats a run of any earlier version.

use assay_workload::{Pattern, Stop, Stream, Workload};
use block::{Bytes, Op, Request, Seed};

/// FNV-1a over all that a request says.
fn digest(workload: &Workload, capacity: Bytes) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for worker in 0..workload.workers {
        let mut stream = Stream::new(workload, worker, capacity, Seed::new(42)).unwrap();
        for _ in 0..20_000 {
            let Request { op, lba, sectors, entropy, durable } = stream.next_request();
            let op = [Op::Read, Op::Write, Op::Trim, Op::Flush].iter().position(|known| *known == op).unwrap();
            for word in [op as u64, lba.get(), u64::from(sectors), u64::from(entropy), u64::from(durable)] {
                hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    hash
}

/// The digests were taken before a workload could say more than pattern, size, depth and span.
#[test]
fn plain_workloads_make_the_requests_they_always_made() {
    let plain = |pattern, kib| Workload {
        pattern,
        block: Bytes::from_kib(kib),
        stop: Stop::after_requests(1),
        ..Workload::default()
    };
    let part = Workload { offset: Bytes::from_mib(3), size: Some(Bytes::from_mib(1001)), ..plain(Pattern::RandRw, 64) };
    let table = [
        (plain(Pattern::Read, 4), 0x6986_994e_8082_5525),
        (Workload { workers: 3, ..plain(Pattern::Write, 24) }, 0xb377_f66e_0b08_a785),
        (plain(Pattern::RandRead, 4), 0xdd6c_4b3b_b8dd_cdc5),
        (Workload { workers: 4, ..plain(Pattern::RandWrite, 12) }, 0xef3d_81d7_69f2_0295),
        (plain(Pattern::RandTrim, 1024), 0xa7dc_eb36_e1e4_cca5),
        (Workload { read_percent: 30, workers: 2, ..plain(Pattern::ReadWrite, 128) }, 0x5d7a_45b6_27d0_e84c),
        (Workload { read_percent: 67, workers: 2, ..part }, 0xb420_968c_8fc0_6ec4),
    ];
    for (workload, expected) in table {
        let found = digest(&workload, Bytes::new(80_026_361_856));
        assert_eq!(found, expected, "{found:#x} for {workload:?}");
    }
}
