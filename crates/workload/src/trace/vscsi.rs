//! The traces of CloudPhysics, as VMware's hypervisor recorded them.
//! Source: libCacheSim, libCacheSim/traceReader/customizedReader/vscsi.h at 10a34335811c; C. Waldspurger et al., "Efficient
//! MRC Construction with SHARDS", FAST 2015.

use block::Nanos;

use super::decode::{Format, Records, TraceLine, TraceMistake, Volumes, came, little, sectors};
use super::scsi;

pub(super) const VERSION_1: Format = Format {
    title: "vscsi, version 1",
    origin: "CloudPhysics",
    records: "32 B a request: SCSI command, sector, bytes, time in µs",
    fits: |head| {
        head.records::<32>().is_some_and(|mut records| records.all(|record| little::<2>(record, 14) >> 8 == 1))
    },
    open: || {
        Box::new(Records(|record: &[u8; 32], volumes: &mut Volumes| {
            let [version, command] = [little::<2>(record, 14), little::<2>(record, 12)];
            let (first, size) = (little::<8>(record, 16), little::<4>(record, 4));
            command_of((version, 1), command as u16, (first, size), (little::<8>(record, 24), None), volumes)
        }))
    },
};

pub(super) const VERSION_2: Format = Format {
    title: "vscsi, version 2",
    origin: "CloudPhysics",
    records: "40 B a request: the same, and the response time in µs",
    fits: |head| head.records::<40>().is_some_and(|mut records| records.all(|record| little::<2>(record, 2) >> 8 == 2)),
    open: || {
        Box::new(Records(|record: &[u8; 40], volumes: &mut Volumes| {
            let [version, command] = [little::<2>(record, 2), little::<2>(record, 0)];
            let (first, size) = (little::<8>(record, 16), little::<4>(record, 8));
            let times = (little::<8>(record, 24), Some(little::<8>(record, 32)));
            command_of((version, 2), command as u16, (first, size), times, volumes)
        }))
    },
};

fn command_of(
    (version, wanted): (u64, u64),
    command: u16,
    (first, size): (u64, u64),
    (at, response): (u64, Option<u64>),
    volumes: &mut Volumes,
) -> Result<TraceLine, TraceMistake> {
    let micros = |count: u64| (count < u64::MAX / 1000).then(|| Nanos::from_micros(count));
    let (Some(at), true) = (micros(at), version >> 8 == wanted) else {
        return Err(TraceMistake::NotA("a record of vscsi with its version and a time"));
    };
    let Some(op) = scsi::op(command) else { return Ok(TraceLine::Other) };
    came(at, (op, sectors(first), size), response.and_then(micros), volumes.number("disk")?)
}
