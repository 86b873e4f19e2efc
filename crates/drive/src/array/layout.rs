//! Which sector of an array is on which member, and what members must do for a request.

use std::fmt;
use std::ops::Range;

use block::{Bytes, Lba, Op, Request};
use serde::{Deserialize, Serialize};

/// How an array spreads data over its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// One drive as it is.
    None,
    /// Striped.
    Raid0,
    /// All members alike.
    Raid1,
    /// Striped with parity that moves from member to member.
    Raid5,
    /// Striped over pairs of members that are alike.
    Raid10,
}

impl Level {
    /// Whether that many members make such an array.
    pub const fn takes(self, members: u32) -> bool {
        match self {
            Self::None => members == 1,
            Self::Raid0 => members >= 1,
            Self::Raid1 => members >= 2,
            Self::Raid5 => members >= 3,
            Self::Raid10 => members >= 2 && members.is_multiple_of(2),
        }
    }

    /// How many members make such an array, in words.
    pub const fn wants(self) -> &'static str {
        match self {
            Self::None => "exactly one drive",
            Self::Raid0 => "one drive or more",
            Self::Raid1 => "two drives or more",
            Self::Raid5 => "three drives or more",
            Self::Raid10 => "an even number of drives",
        }
    }

    /// Whether members hold parity, which is written more than once and first read, so that writes in order are not in order there.
    pub const fn has_parity(self) -> bool {
        matches!(self, Self::Raid5)
    }

    /// Whether the array is striped, so that the size of a stripe means something.
    pub const fn stripes(self) -> bool {
        matches!(self, Self::Raid0 | Self::Raid5 | Self::Raid10)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "on its own",
            Self::Raid0 => "RAID 0",
            Self::Raid1 => "RAID 1",
            Self::Raid5 => "RAID 5",
            Self::Raid10 => "RAID 10",
        })
    }
}

/// What a member must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberStep {
    /// The member; of a read, the first of those that have the data.
    pub member: u32,
    /// What it does.
    pub op: Op,
    /// Where on the member.
    pub lba: Lba,
    /// How much.
    pub sectors: u32,
}

/// Which sector of an array is on which member.
///
/// Data goes to the members in *chunks*, one after the other; the chunks at the same place of all members are a
/// *row*. With parity, a row has one chunk of it, in the last member first, then in the one before; data follows
/// the parity around ("left-symmetric", as Linux md has it by default).
/// Source: the md(4) manual page, "RAID4 / RAID5" and `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayLayout {
    members: u32,
    /// Members that have the same data.
    copies: u32,
    parity: bool,
    /// Chunks of data in a row.
    columns: u64,
    /// Sectors of a chunk.
    chunk: u64,
    rows: u64,
}

/// A part of a row in which the same chunks are written from the first sector to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Band {
    /// The first sector within the chunks.
    first: u64,
    sectors: u64,
    /// Which chunks of data.
    chunks: Range<u64>,
}

impl ArrayLayout {
    /// The layout of `members` members of `capacity` each; `stripe` is the size of a chunk, where there are chunks.
    pub fn new(level: Level, members: u32, stripe: Bytes, capacity: Bytes) -> Self {
        assert!(level.takes(members), "{level:?} of {members} members: it needs {}", level.wants());
        let parity = level.has_parity();
        let copies = match level {
            Level::None | Level::Raid0 | Level::Raid5 => 1,
            Level::Raid1 => members,
            Level::Raid10 => 2,
        };
        let chunk = if level.stripes() { stripe.sectors() } else { capacity.sectors() };
        assert!((1..=capacity.sectors()).contains(&chunk), "a chunk of {chunk} sectors on a member of {capacity}");
        let columns = u64::from(members / copies) - u64::from(parity);
        Self { members, copies, parity, columns, chunk, rows: capacity.sectors() / chunk }
    }

    /// What the array can store.
    pub fn capacity(&self) -> Bytes {
        Bytes::from_sectors(self.rows * self.columns * self.chunk)
    }

    /// Whether it has one member, on which all is in one piece where the host has it.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.members == 1 && self.rows == 1
    }

    /// The most that lies in a row on one member.
    pub fn chunk(&self) -> Bytes {
        Bytes::from_sectors(self.chunk)
    }

    /// Where on each member the sectors from `first` to `end` are, which is in order there. With parity each row that has some
    /// of them counts as a whole.
    pub fn shares(&self, first: Lba, end: Lba) -> Vec<(Lba, Lba)> {
        let width = self.chunk * self.columns;
        let before = |at: Lba, column: u64| {
            let (row, within) = (at.get() / width, at.get() % width);
            Lba::new(row * self.chunk + within.saturating_sub(column * self.chunk).min(self.chunk))
        };
        let share = |member: u32| match self.parity {
            false => [first, end].map(|at| before(at, u64::from(member / self.copies))),
            true => [first.get() / width, end.get().div_ceil(width)].map(|row| Lba::new(row * self.chunk)),
        };
        (0..self.members).map(share).map(|[first, end]| (first, end)).collect()
    }

    /// Whether rows have parity.
    pub fn has_parity(&self) -> bool {
        self.parity
    }

    /// What a member, or each of those that have the same data, does for a request that lies in one chunk; none for others.
    pub fn only_piece(&self, request: &Request) -> Option<MemberStep> {
        let mut pieces = self.pieces(request);
        pieces.next().filter(|_| pieces.next().is_none())
    }

    /// The members that hold each other's data, `member` among them: those that are alike, or those of one parity; it alone
    /// where nothing is held twice.
    pub fn group(&self, member: u32) -> Range<u32> {
        match self.parity {
            true => 0..self.members,
            false => {
                let first = member / self.copies * self.copies;
                first..first + self.copies
            }
        }
    }

    /// How many members have the same data, from [`MemberStep::member`] on.
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// The first member that has this chunk of data of this row.
    fn member(&self, row: u64, column: u64) -> u32 {
        match self.parity {
            false => column as u32 * self.copies,
            true => ((u64::from(self.parity_member(row)) + 1 + column) % u64::from(self.members)) as u32,
        }
    }

    fn parity_member(&self, row: u64) -> u32 {
        self.members - 1 - (row % u64::from(self.members)) as u32
    }

    /// Appends what members do first for `request`: all there is to do but for writes that need something read.
    pub fn first(&self, request: &Request, steps: &mut Vec<MemberStep>) {
        match request.op {
            Op::Flush => {
                let flush = |member| MemberStep { member, op: Op::Flush, lba: Lba::new(0), sectors: 0 };
                steps.extend((0..self.members).map(flush));
            }
            Op::Read => steps.extend(self.pieces(request)),
            // Drives with zones stand alone.
            Op::Append | Op::Zone(_) => {
                let Request { op, lba, sectors, .. } = *request;
                steps.push(MemberStep { member: 0, op, lba, sectors });
            }
            Op::Write if self.parity => {
                for (row, written) in self.rows(request) {
                    match self.reads_first(&written) {
                        true => self.reads(row, &written, steps),
                        false => self.writes(row, &written, steps),
                    }
                }
            }
            Op::Trim if self.parity => self.trim_rows(request, steps),
            Op::Write | Op::Trim => {
                for piece in self.pieces(request) {
                    steps.extend((0..self.copies).map(|copy| MemberStep { member: piece.member + copy, ..piece }));
                }
            }
        }
    }

    /// Appends what members do once all of [`first`](Self::first) is done: writes for which it read.
    pub fn second(&self, request: &Request, steps: &mut Vec<MemberStep>) {
        if self.parity && request.op == Op::Write {
            let rows = self.rows(request).filter(|(_, written)| self.reads_first(written));
            rows.for_each(|(row, written)| self.writes(row, &written, steps));
        }
    }

    /// Cuts a request at the boundaries of chunks.
    #[inline]
    pub fn pieces(&self, request: &Request) -> impl Iterator<Item = MemberStep> + use<> {
        let (layout, op) = (*self, request.op);
        let (mut at, end) = (request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (chunk, offset) = (at / layout.chunk, at % layout.chunk);
                let (row, column) = (chunk / layout.columns, chunk % layout.columns);
                let sectors = (layout.chunk - offset).min(end - at);
                at += sectors;
                let lba = Lba::new(row * layout.chunk + offset);
                MemberStep { member: layout.member(row, column), op, lba, sectors: sectors as u32 }
            })
        })
    }

    /// The sectors of the array whose data is in these sectors of a member, in runs: none for parity, nor for members that
    /// hold the same as one before them.
    pub fn backwards(&self, member: u32, (from, until): (Lba, Lba)) -> impl Iterator<Item = (Lba, Lba)> + use<> {
        let layout = *self;
        let (mut at, end) = (from.get(), until.get().min(self.rows * self.chunk));
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (row, offset) = (at / layout.chunk, at % layout.chunk);
                let sectors = (layout.chunk - offset).min(end - at);
                at += sectors;
                let column = (0..layout.columns).find(|&column| layout.member(row, column) == member)?;
                let first = (row * layout.columns + column) * layout.chunk + offset;
                Some((Lba::new(first), Lba::new(first + sectors)))
            })
        })
        .flatten()
    }

    /// Cuts a request at the boundaries of rows: each row with the sectors within it, counted over its data.
    fn rows(&self, request: &Request) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
        let width = self.columns * self.chunk;
        let (mut at, end) = (request.lba.get(), request.end().get());
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (row, first) = (at / width, at % width);
                let last = (first + end - at).min(width);
                at += last - first;
                (row, first..last)
            })
        })
    }

    /// Whether something must be read before `written` of a row can be: parity of chunks written in part.
    fn reads_first(&self, written: &Range<u64>) -> bool {
        self.bands(written).any(|band| band.chunks.end - band.chunks.start < self.columns)
    }

    /// Cuts what is written of a row into bands.
    fn bands(&self, written: &Range<u64>) -> impl Iterator<Item = Band> + use<> {
        let (from, until) = (written.start / self.chunk, (written.end - 1) / self.chunk);
        // The first chunk is written from `start` on, the last up to `end`, those between them whole.
        let (start, end) = (written.start % self.chunk, (written.end - 1) % self.chunk + 1);
        let band = |sectors: Range<u64>, chunks: Range<u64>| Band {
            first: sectors.start,
            sectors: sectors.end.saturating_sub(sectors.start),
            chunks,
        };
        let bands = if from == until {
            [band(start..end, from..until + 1), band(0..0, 0..0), band(0..0, 0..0)]
        } else {
            let middle = if start < end { from..until + 1 } else { from + 1..until };
            [
                band(0..start.min(end), from + 1..until + 1),
                band(start.min(end)..start.max(end), middle),
                band(start.max(end)..self.chunk, from..until),
            ]
        };
        bands.into_iter().filter(|band| band.sectors > 0 && !band.chunks.is_empty())
    }

    /// What must be read for the new parity: the old data and parity, or the data that stays if that is less.
    fn reads(&self, row: u64, written: &Range<u64>, steps: &mut Vec<MemberStep>) {
        let begun = steps.len();
        for band in self.bands(written) {
            let changed = band.chunks.end - band.chunks.start;
            let mut read = |member| self.add(begun, row, &band, member, Op::Read, steps);
            if self.columns - changed < changed + 1 {
                let stays = (0..self.columns).filter(|column| !band.chunks.contains(column));
                stays.for_each(|column| read(self.member(row, column)));
            } else {
                band.chunks.clone().for_each(|column| read(self.member(row, column)));
                read(self.parity_member(row));
            }
        }
    }

    /// The writes of data and of the parity over it.
    fn writes(&self, row: u64, written: &Range<u64>, steps: &mut Vec<MemberStep>) {
        let begun = steps.len();
        for band in self.bands(written) {
            let data = band.chunks.clone().map(|column| self.member(row, column));
            for member in data.chain([self.parity_member(row)]) {
                self.add(begun, row, &band, member, Op::Write, steps);
            }
        }
    }

    /// Adds a step for `member` over a band, joined to one since `begun` that ends where it begins.
    fn add(&self, begun: usize, row: u64, band: &Band, member: u32, op: Op, steps: &mut Vec<MemberStep>) {
        let (lba, sectors) = (row * self.chunk + band.first, band.sectors as u32);
        let before = |step: &&mut MemberStep| step.member == member && step.lba.get() + u64::from(step.sectors) == lba;
        match steps[begun..].iter_mut().find(before) {
            Some(step) => step.sectors += sectors,
            None => steps.push(MemberStep { member, op, lba: Lba::new(lba), sectors }),
        }
    }

    /// Rows that are trimmed whole are trimmed with their parity; of others the parity would no longer be right.
    fn trim_rows(&self, request: &Request, steps: &mut Vec<MemberStep>) {
        let width = self.columns * self.chunk;
        let (first, end) = (request.lba.get().div_ceil(width), request.end().get() / width);
        if first < end {
            let (lba, sectors) = (Lba::new(first * self.chunk), ((end - first) * self.chunk) as u32);
            steps.extend((0..self.members).map(|member| MemberStep { member, op: Op::Trim, lba, sectors }));
        }
    }
}
