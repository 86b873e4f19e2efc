//! What the kernel counts of a block device.

use block::{Bytes, Nanos};

/// What a block device has done since the machine was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Requests to read.
    pub reads: u64,
    /// Data that was read.
    pub read: Bytes,
    /// Requests to write.
    pub writes: u64,
    /// Data that was written.
    pub written: Bytes,
    /// Requests that are under way.
    pub in_flight: u64,
    /// For how long it had something to do.
    pub busy: Nanos,
    /// Requests to read that were joined to others on their way.
    pub reads_merged: u64,
    /// The same to write.
    pub writes_merged: u64,
    /// How long requests to read took, all together.
    pub read_time: Nanos,
    /// The same to write.
    pub write_time: Nanos,
    /// How long requests of all kinds took, all together.
    pub queued: Nanos,
    /// Discards; zero where the kernel does not count them.
    pub discards: u64,
    /// Flushes of its cache; none where the kernel does not count them.
    pub flushes: Option<u64>,
}

impl DiskCounters {
    /// Source: Linux, Documentation/block/stat.rst; sectors there are of 512 bytes whatever the device.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let [
            reads,
            reads_merged,
            sectors_read,
            read_time,
            writes,
            writes_merged,
            sectors_written,
            write_time,
            in_flight,
            busy,
            queued,
            ..,
        ] = fields[..]
        else {
            return None;
        };
        Some(Self {
            reads,
            read: Bytes::from_sectors(sectors_read),
            writes,
            written: Bytes::from_sectors(sectors_written),
            in_flight,
            busy: Nanos::from_millis(busy),
            reads_merged,
            writes_merged,
            read_time: Nanos::from_millis(read_time),
            write_time: Nanos::from_millis(write_time),
            queued: Nanos::from_millis(queued),
            discards: fields.get(11).copied().unwrap_or_default(),
            flushes: fields.get(15).copied().filter(|_| fields.len() >= 17),
        })
    }

    /// A number that changes with everything that is done.
    pub fn done(self) -> u64 {
        let requests = [self.reads, self.writes, self.discards, self.flushes.unwrap_or_default()];
        requests.into_iter().fold(0, u64::wrapping_add)
    }

    /// What was done since `earlier`; what is under way is so now.
    pub fn since(self, earlier: Self) -> Self {
        let bytes = |now: Bytes, earlier: Bytes| Bytes::new(now.get().saturating_sub(earlier.get()));
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read: bytes(self.read, earlier.read),
            writes: self.writes.saturating_sub(earlier.writes),
            written: bytes(self.written, earlier.written),
            in_flight: self.in_flight,
            busy: self.busy.since(earlier.busy),
            reads_merged: self.reads_merged.saturating_sub(earlier.reads_merged),
            writes_merged: self.writes_merged.saturating_sub(earlier.writes_merged),
            read_time: self.read_time.since(earlier.read_time),
            write_time: self.write_time.since(earlier.write_time),
            queued: self.queued.since(earlier.queued),
            discards: self.discards.saturating_sub(earlier.discards),
            flushes: self.flushes.map(|flushes| flushes.saturating_sub(earlier.flushes.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_in_sectors_of_512_bytes() {
        let line = "     120       3     2048      40      50       0      800      12        7       31       52  6 0 0 0 9 1\n";
        let now = DiskCounters::parse(line).unwrap();
        let expected = DiskCounters {
            reads: 120,
            read: Bytes::from_mib(1),
            writes: 50,
            written: Bytes::from_kib(400),
            in_flight: 7,
            busy: Nanos::from_millis(31),
            reads_merged: 3,
            writes_merged: 0,
            read_time: Nanos::from_millis(40),
            write_time: Nanos::from_millis(12),
            queued: Nanos::from_millis(52),
            discards: 6,
            flushes: Some(9),
        };
        assert_eq!(now.done(), 185);
        assert_eq!(now, expected);
        let older = DiskCounters::parse("20 0 1024 0 0 0 0 0 0 1 2").unwrap();
        assert_eq!((older.flushes, DiskCounters::parse("1 2 3")), (None, None));
        let done = now.since(older);
        assert_eq!((done.reads, done.read, done.in_flight), (100, Bytes::from_kib(512), 7));
        assert_eq!(
            (done.reads_merged, done.read_time, done.queued),
            (3, Nanos::from_millis(40), Nanos::from_millis(50))
        );
        assert_eq!((done.busy, done.flushes), (Nanos::from_millis(30), Some(9)));
    }
}
