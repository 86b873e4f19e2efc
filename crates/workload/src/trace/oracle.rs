//! libCacheSim's binary traces: oracleGeneral.
//! Source: libCacheSim, libCacheSim/traceReader/customizedReader/oracle/oracleGeneralBin.h at 08cc88068f8e, and doc/faq.md at
//! aa0fc40914b2.

use block::{Nanos, Op};

use super::decode::{Format, Records, TraceLine, TraceMistake, Volumes, came, little, sectors};

pub(super) const FORMAT: Format = Format {
    title: "libCacheSim oracleGeneral",
    origin: "[cacheMon/cache_dataset](https://github.com/cacheMon/cache_dataset), usually `.zst`",
    records: "24 B a request: time in s, object, bytes; an object is a sector, as in its block traces, and every request a read",
    fits: |head| {
        let mut last = 0;
        let is_whole = !head.is_all || head.bytes.len().is_multiple_of(24);
        head.records::<24>().filter(|_| is_whole).is_some_and(|mut records| {
            records.all(|record| {
                let (at, object, size) = (little::<4>(record, 0), little::<8>(record, 4), little::<4>(record, 12));
                let next = little::<8>(record, 16);
                let is_after = at >= std::mem::replace(&mut last, at);
                // No next request, or the number of one, or the distance to it.
                let is_number = (1..1 << 40).contains(&next) || next == u64::MAX || next == u64::MAX >> 1;
                is_after && is_number && size <= 1 << 30 && object <= OBJECT_MAX
            })
        })
    },
    open: || Box::new(Records(record)),
};

/// The last sector of an exbibyte: objects beyond are digests of names and no places on a drive.
const OBJECT_MAX: u64 = (1 << 51) - 1;

fn record(record: &[u8; 24], volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let (at, object, size) = (little::<4>(record, 0), little::<8>(record, 4), little::<4>(record, 12));
    if object > OBJECT_MAX {
        return Err(TraceMistake::NotA("a request for a sector; its object is a digest, as in traces of web caches"));
    }
    came(Nanos::from_secs(at), (Op::Read, sectors(object), size), None, volumes.number("objects")?)
}
