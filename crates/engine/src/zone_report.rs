//! Zones as Linux reports those of a block device.

use block::{Lba, Zone, ZoneState};

/// `struct blk_zone`: all in sectors of 512 B. Source: Linux, include/uapi/linux/blkzoned.h.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct BlockZone {
    pub start: u64,
    pub length: u64,
    pub pointer: u64,
    /// Its type and its condition, two that are of no matter here, and what is reserved.
    pub kind: [u8; 8],
    pub capacity: u64,
    pub reserved: [u64; 3],
}

/// `BLK_ZONE_REP_CAPACITY`: the report says how much of a zone can be written; all of it elsewhere.
const HAS_CAPACITY: u32 = 1;
/// `BLK_ZONE_TYPE_CONVENTIONAL`.
const CONVENTIONAL: u8 = 1;

/// The zones of a report with these flags. A write pointer without meaning is where it would be in such a zone.
pub(crate) fn zones(report: &[BlockZone], flags: u32) -> impl Iterator<Item = Zone> {
    report.iter().map(move |zone| {
        let capacity = if flags & HAS_CAPACITY != 0 { zone.capacity.min(zone.length) } else { zone.length };
        let (writable, state) = (zone.start.saturating_add(capacity), state(zone.kind[0], zone.kind[1]));
        let pointer = match state {
            ZoneState::Empty => zone.start,
            ZoneState::Full | ZoneState::Conventional | ZoneState::ReadOnly | ZoneState::Offline => writable,
            _ => zone.pointer.clamp(zone.start, writable),
        };
        Zone {
            start: Lba::new(zone.start),
            writable: Lba::new(writable),
            end: Lba::new(zone.start.saturating_add(zone.length)),
            state,
            pointer: Lba::new(pointer),
        }
    })
}

/// By `enum blk_zone_type` and `enum blk_zone_cond`; what is not known is not used.
const fn state(kind: u8, condition: u8) -> ZoneState {
    match (kind, condition) {
        (_, 0xf) => ZoneState::Offline,
        (_, 0xd) => ZoneState::ReadOnly,
        (CONVENTIONAL, _) => ZoneState::Conventional,
        (_, 0x1) => ZoneState::Empty,
        (_, 0x2) => ZoneState::ImplicitlyOpen,
        (_, 0x3) => ZoneState::ExplicitlyOpen,
        (_, 0x4) => ZoneState::Closed,
        (_, 0xe) => ZoneState::Full,
        _ => ZoneState::Offline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_gives_states_pointers_and_what_can_be_written() {
        let zone = |index: u64, kind, condition, pointer| BlockZone {
            start: index * 64,
            length: 64,
            pointer,
            kind: [kind, condition, 0, 0, 0, 0, 0, 0],
            capacity: 48,
            reserved: [0; 3],
        };
        let report = [zone(0, 1, 0, u64::MAX), zone(1, 2, 1, 64), zone(2, 2, 2, 150), zone(3, 2, 14, u64::MAX)];
        let found: Vec<_> = zones(&report, HAS_CAPACITY).map(|zone| (zone.state, zone.pointer.get())).collect();
        let open = ZoneState::ImplicitlyOpen;
        assert_eq!(found[1..], [(ZoneState::Empty, 64), (open, 150), (ZoneState::Full, 240)]);
        assert_eq!(found[0].0, ZoneState::Conventional);
        let ends = |flags| zones(&report, flags).map(|zone| zone.writable.get()).collect::<Vec<_>>();
        assert_eq!((ends(HAS_CAPACITY), ends(0)), (vec![48, 112, 176, 240], vec![64, 128, 192, 256]));
        // A device may say anything.
        let odd = [BlockZone { start: u64::MAX - 1, length: 9, capacity: u64::MAX, ..zone(0, 2, 99, 0) }];
        let odd: Vec<_> = zones(&odd, HAS_CAPACITY).collect();
        assert_eq!((odd[0].state, odd[0].end), (ZoneState::Offline, Lba::new(u64::MAX)));
    }
}
