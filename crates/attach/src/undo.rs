//! What was overwritten and may have to be there again.

use std::io;

use block::{Lba, SECTOR};

use crate::content::Content;

/// What was on the drive before each write that it may still lose, in the order of the writes.
///
/// A drive that loses a sector has the one that was there before: the server must still have it. A completed flush
/// settles all writes that were answered before it came. Drives are written without ever being flushed too: what
/// is kept is compared with what the drive holds unsaved each time it has doubled, so that it is never much more than
/// the drive's own buffer.
#[derive(Debug, Default)]
pub struct UndoLog {
    records: Vec<UndoRecord>,
    /// How many writes there have been.
    writes: u64,
    /// Bytes in all records.
    bytes: usize,
    /// Bytes and records that were left when it was last compared.
    left: (usize, usize),
}

/// What a write, or a part of one, replaced.
#[derive(Debug)]
struct UndoRecord {
    write: u64,
    /// Where it begins, in bytes.
    offset: u64,
    before: Vec<u8>,
}

impl UndoRecord {
    fn end(&self) -> u64 {
        self.offset + self.before.len() as u64
    }

    /// The part of it from one byte to before another, where it has some.
    fn part(&self, from: u64, until: u64) -> Option<(u64, &[u8])> {
        let (from, until) = (from.max(self.offset), until.min(self.end()));
        let index = |at: u64| (at - self.offset) as usize;
        (from < until).then(|| (from, &self.before[index(from)..index(until)]))
    }
}

/// The parts of a record within runs of sectors that are ascending.
fn parts<'r>(record: &'r UndoRecord, runs: &'r [(Lba, Lba)]) -> impl Iterator<Item = (u64, &'r [u8])> {
    let byte = |lba: Lba| lba.get() * SECTOR.get();
    let first = runs.partition_point(|&(_, until)| byte(until) <= record.offset);
    let near = runs[first..].iter().take_while(move |&&(from, _)| byte(from) < record.end());
    near.filter_map(move |&(from, until)| record.part(byte(from), byte(until)))
}

impl UndoLog {
    /// Less than this is not worth comparing: records, and bytes.
    const SMALL: (usize, usize) = (64, 1 << 20);

    /// Notes what was at `offset` before a write.
    pub fn note(&mut self, offset: u64, before: Vec<u8>) {
        self.bytes += before.len();
        self.records.push(UndoRecord { write: self.writes, offset, before });
        self.writes += 1;
    }

    /// How many writes there have been: those that a flush covers which comes now.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Forgets what the first `covered` writes replaced: a flush that covers them was completed.
    pub fn settle(&mut self, covered: u64) {
        let settled = self.records.partition_point(|record| record.write < covered);
        self.records.drain(..settled);
        self.count();
    }

    /// Whether it is time to compare with what the drive holds, before it takes a write of so many bytes at `offset`: it
    /// has doubled, or the write is over another, whose data is what was there before if it is saved by now.
    pub fn should_compare(&self, offset: u64, length: u64) -> bool {
        let ((records, bytes), small) = (self.left, Self::SMALL);
        let has_doubled = self.records.len() > small.0.max(2 * records) || self.bytes > small.1.max(2 * bytes);
        has_doubled || self.records.iter().any(|record| record.part(offset, offset + length).is_some())
    }

    /// Forgets all but what the drive may still lose.
    pub fn keep(&mut self, unsaved: &[(Lba, Lba)]) {
        let all = std::mem::take(&mut self.records);
        for record in &all {
            let piece =
                |(offset, before): (u64, &[u8])| UndoRecord { write: record.write, offset, before: before.to_vec() };
            self.records.extend(parts(record, unsaved).map(piece));
        }
        self.count();
    }

    /// Puts back what was there before in the lost sectors, and forgets everything.
    ///
    /// # Errors
    /// If the data cannot be written.
    pub fn restore(&mut self, lost: &[(Lba, Lba)], content: &Content) -> io::Result<()> {
        // The oldest comes last, so that a sector that was written several times is what it was before them all.
        for record in std::mem::take(&mut self.records).iter().rev() {
            for (offset, before) in parts(record, lost) {
                content.write(offset, before)?;
            }
        }
        self.count();
        Ok(())
    }

    /// Counts what is left.
    fn count(&mut self) {
        self.bytes = self.records.iter().map(|record| record.before.len()).sum();
        self.left = (self.records.len(), self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;

    use super::*;

    /// Data of ten sectors, and its way back.
    struct Written {
        content: Content,
        undo: UndoLog,
        _folder: tempfile::TempDir,
    }

    impl Written {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let content = Content::scratch(tempfile::tempfile_in(&folder).unwrap(), Bytes::new(5120)).unwrap();
            Self { content, undo: UndoLog::default(), _folder: folder }
        }

        /// Fills sectors with a letter.
        fn write(&mut self, first: u64, count: usize, letter: u8) {
            let mut before = vec![0; count * 512];
            self.content.read(first * 512, &mut before).unwrap();
            self.undo.note(first * 512, before);
            self.content.write(first * 512, &vec![letter; count * 512]).unwrap();
        }

        /// The letter of each sector after these were lost, with a dot for what was never written.
        fn lose(&mut self, lost: &[(u64, u64)]) -> String {
            self.undo.restore(&runs(lost), &self.content).unwrap();
            let mut data = vec![0; 5120];
            self.content.read(0, &mut data).unwrap();
            let letter = |sector: &[u8]| {
                assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is of one piece");
                if sector[0] == 0 { '.' } else { char::from(sector[0]) }
            };
            data.chunks(512).map(letter).collect()
        }
    }

    fn runs(sectors: &[(u64, u64)]) -> Vec<(Lba, Lba)> {
        sectors.iter().map(|&(from, until)| (Lba::new(from), Lba::new(until))).collect()
    }

    #[test]
    fn only_lost_sectors_are_what_they_were_before() {
        let mut written = Written::new();
        written.write(0, 4, b'a');
        written.write(2, 4, b'b');
        assert_eq!(written.lose(&[(1, 3), (5, 9)]), "a..bb.....");
    }

    #[test]
    fn what_was_flushed_is_kept_also_below_what_was_written_since() {
        let mut written = Written::new();
        written.write(0, 4, b'a');
        let covered = written.undo.writes();
        written.write(2, 4, b'b');
        written.undo.settle(covered);
        written.write(3, 2, b'c');
        assert_eq!(written.lose(&[(0, 10)]), "aaaa......");
    }

    #[test]
    fn what_the_drive_has_saved_is_what_was_there_before() {
        let mut written = Written::new();
        written.write(0, 6, b'a');
        written.undo.keep(&runs(&[(1, 2), (4, 9)]));
        written.write(0, 6, b'b');
        assert_eq!(written.lose(&[(0, 10)]), "a.aa......");
    }

    #[test]
    fn it_is_compared_when_it_has_doubled_or_something_is_written_again() {
        let mut undo = UndoLog::default();
        undo.note(0, vec![0; 1024]);
        assert!(undo.should_compare(512, 4096) && !undo.should_compare(1024, 4096));
        (1..=64).for_each(|record| undo.note(record * 1024, vec![0; 1024]));
        assert!(undo.should_compare(1 << 20, 512));
        undo.keep(&runs(&[(0, 128)]));
        assert!(!undo.should_compare(1 << 20, 512), "it is as much as the drive holds");
        undo.keep(&[]);
        assert_eq!((undo.records.len(), undo.bytes), (0, 0));
    }
}
