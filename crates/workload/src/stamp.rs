//! What tells written data from any other: each sector says where it belongs, which write it is of, and of which run.

use std::fmt;

use block::{Bytes, SECTOR, Seed};
use serde::{Deserialize, Serialize};

/// What each sector of verified data begins with: magic number, checksum, place, generation, run.
const HEADER: usize = 32;
/// The bytes `assy`.
const MAGIC: u32 = u32::from_le_bytes(*b"assy");

/// Marks the blocks that a run writes, and knows them again.
///
/// Every sector of 512 B carries a header of its own, so that a block that was written in part is known as such. A
/// *generation* counts the writes of a block, from 1: a block that holds an earlier one than was last acknowledged has
/// lost a write. The checksum is CRC-32C over the sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    run: u64,
}

/// What is wrong with a block that was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    pub block: Bytes,
    /// Where in the target the first sector is that is not as it was written.
    pub at: Bytes,
    /// How many sectors of the block are not as they were written.
    pub sectors: u32,
    /// The write that should be there; 0 where that is not known.
    pub expected: u64,
    /// What is there instead.
    pub kind: DamageKind,
}

/// What is in place of the data that should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DamageKind {
    /// Nothing that this run wrote: the write never arrived.
    Lost,
    /// What an earlier write of this run left: the last one never arrived.
    Stale {
        /// That earlier write.
        found: u64,
    },
    /// Some sectors of the last write and others of before: it arrived in part.
    Torn {
        /// How many sectors of it arrived.
        arrived: u32,
    },
    /// What was written to another place.
    Misdirected {
        /// That place.
        belongs: Bytes,
    },
    /// A sector that says it is the right one, with a checksum that is not its own: bits have changed.
    Corrupt,
}

/// `block at 4096: write 7 is lost: nothing of this run is there`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, at, sectors, expected, kind } = self;
        let (block, at) = (block.get(), at.get());
        let expected = if *expected == 0 { "its write".to_owned() } else { format!("write {expected}") };
        match kind {
            DamageKind::Lost => write!(f, "block at {block}: {expected} is lost: the block holds no data of this run"),
            DamageKind::Stale { found } => {
                write!(f, "block at {block}: {expected} is lost: the block still holds the data of write {found}")
            }
            DamageKind::Torn { arrived } => write!(
                f,
                "block at {block}: {expected} is torn: {arrived} of its sectors are present, {sectors} from {at} on \
                 are not"
            ),
            DamageKind::Misdirected { belongs } => write!(
                f,
                "block at {block}: at {at} is data that was written to {}: a write or a read went to the wrong offset",
                belongs.get()
            ),
            DamageKind::Corrupt => {
                write!(f, "block at {block}: {sectors} sectors from {at} on are corrupt: their checksums do not match")
            }
        }
    }
}

/// What one sector turns out to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SectorState {
    Right,
    Foreign,
    OfWrite(u64),
    Elsewhere(Bytes),
    Corrupt,
}

impl SectorState {
    /// How much it says about the cause.
    const fn weight(self) -> u32 {
        match self {
            Self::Right => 0,
            Self::Foreign => 1,
            Self::OfWrite(_) => 2,
            Self::Elsewhere(_) => 3,
            Self::Corrupt => 4,
        }
    }
}

impl Stamp {
    /// The stamp of the run that follows from this seed.
    pub fn new(seed: Seed) -> Self {
        Self { run: seed.split("stamp").get() }
    }

    /// Makes `block`, which will be written to `at`, known as the data of this write. All but the first bytes of
    /// each sector is kept.
    ///
    /// # Panics
    /// If the block is not whole sectors.
    pub fn seal(&self, block: &mut [u8], at: Bytes, generation: u64) {
        let sector = SECTOR.get() as usize;
        assert!(block.len().is_multiple_of(sector), "a block is whole sectors");
        for (place, sector) in block.chunks_exact_mut(sector).enumerate() {
            let offset = at.get() + place as u64 * SECTOR.get();
            sector[..4].copy_from_slice(&MAGIC.to_le_bytes());
            sector[8..16].copy_from_slice(&offset.to_le_bytes());
            sector[16..24].copy_from_slice(&generation.to_le_bytes());
            sector[24..HEADER].copy_from_slice(&self.run.to_le_bytes());
            let checksum = crc32c::crc32c(&sector[8..]);
            sector[4..8].copy_from_slice(&checksum.to_le_bytes());
        }
    }

    /// Whether `block`, which was read from `at`, is what this write brought there.
    ///
    /// # Errors
    /// What is there instead.
    pub fn check(&self, block: &[u8], at: Bytes, generation: u64) -> Result<(), Damage> {
        let sectors = block.chunks_exact(SECTOR.get() as usize).enumerate();
        let place = |index: usize| at + SECTOR.times(index as u64);
        let found = sectors.map(|(index, sector)| self.known(sector, place(index), generation));
        let (mut right, mut wrong, mut first, mut worst) = (0, 0, None, SectorState::Right);
        for (index, found) in found.enumerate() {
            if found == SectorState::Right {
                right += 1;
            } else {
                wrong += 1;
                first.get_or_insert(index);
                worst = if found.weight() > worst.weight() { found } else { worst };
            }
        }
        let Some(first) = first else { return Ok(()) };
        let kind = match worst {
            SectorState::Foreign | SectorState::OfWrite(_) if right > 0 => DamageKind::Torn { arrived: right },
            SectorState::Foreign | SectorState::Right => DamageKind::Lost,
            SectorState::OfWrite(found) => DamageKind::Stale { found },
            SectorState::Elsewhere(belongs) => DamageKind::Misdirected { belongs },
            SectorState::Corrupt => DamageKind::Corrupt,
        };
        Err(Damage { block: at, at: place(first), sectors: wrong, expected: generation, kind })
    }

    /// The same where it is not known which write was the last: the latest of which anything is there is right.
    ///
    /// # Errors
    /// What is there instead.
    pub fn check_latest(&self, block: &[u8], at: Bytes) -> Result<(), Damage> {
        let sectors = block.chunks_exact(SECTOR.get() as usize).enumerate();
        let latest =
            sectors.filter_map(|(index, sector)| match self.known(sector, at + SECTOR.times(index as u64), 0) {
                SectorState::OfWrite(generation) => Some(generation),
                _ => None,
            });
        self.check(block, at, latest.max().unwrap_or(0))
    }

    fn known(&self, sector: &[u8], at: Bytes, generation: u64) -> SectorState {
        let word = |from: usize| u64::from_le_bytes(sector[from..from + 8].try_into().expect("eight bytes"));
        let half = |from: usize| u32::from_le_bytes(sector[from..from + 4].try_into().expect("four bytes"));
        let (is_stamped, is_whole) = (half(0) == MAGIC, half(4) == crc32c::crc32c(&sector[8..]));
        let (belongs, write, run) = (Bytes::new(word(8)), word(16), word(24));
        match (is_stamped, is_whole) {
            (false, true) => SectorState::Corrupt,
            (false, false) => SectorState::Foreign,
            (true, false) if run == self.run || belongs == at => SectorState::Corrupt,
            (true, false) => SectorState::Foreign,
            (true, true) if run != self.run => SectorState::Foreign,
            (true, true) if belongs != at => SectorState::Elsewhere(belongs),
            (true, true) if write != generation => SectorState::OfWrite(write),
            (true, true) => SectorState::Right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Bytes = Bytes::from_kib(64);

    fn stamp() -> Stamp {
        Stamp::new(Seed::new(7))
    }

    fn sealed(at: Bytes, generation: u64) -> Vec<u8> {
        let mut block = vec![0x5a; 4096];
        stamp().seal(&mut block, at, generation);
        block
    }

    fn damage(block: &[u8]) -> Damage {
        stamp().check(block, AT, 9).expect_err("it is not what was written")
    }

    #[test]
    fn what_was_written_is_known_again_and_its_content_kept() {
        let block = sealed(AT, 9);
        assert_eq!(stamp().check(&block, AT, 9), Ok(()));
        assert!(block.chunks(512).all(|sector| sector[32..].iter().all(|&byte| byte == 0x5a)));
    }

    #[test]
    fn lost_stale_torn_and_misdirected_writes_and_changed_bits_are_told_apart_and_located() {
        let right = sealed(AT, 9);
        let whole = |kind| Damage { block: AT, at: AT, sectors: 8, expected: 9, kind };
        assert_eq!(damage(&[0; 4096]), whole(DamageKind::Lost));
        let mut foreign = right.clone();
        Stamp::new(Seed::new(8)).seal(&mut foreign, AT, 9);
        assert_eq!(damage(&foreign), whole(DamageKind::Lost), "another run's data");
        assert_eq!(damage(&sealed(AT, 3)), whole(DamageKind::Stale { found: 3 }));
        let elsewhere = Bytes::from_kib(256);
        assert_eq!(damage(&sealed(elsewhere, 9)), whole(DamageKind::Misdirected { belongs: elsewhere }));
        let torn = [&right[..1536], &sealed(AT, 3)[1536..]].concat();
        let from = AT + Bytes::new(1536);
        assert_eq!(
            damage(&torn),
            Damage { at: from, sectors: 5, kind: DamageKind::Torn { arrived: 3 }, ..whole(DamageKind::Lost) }
        );
        for bit in [0, 40, 200, 512 * 8 - 1] {
            let mut flipped = right.clone();
            flipped[1024 + bit / 8] ^= 1 << (bit % 8);
            let expected = Damage {
                at: AT + Bytes::from_kib(1),
                sectors: 1,
                kind: DamageKind::Corrupt,
                ..whole(DamageKind::Lost)
            };
            assert_eq!(damage(&flipped), expected, "bit {bit}");
        }
    }

    #[test]
    fn where_the_last_write_is_not_known_any_whole_one_is_right_and_the_rest_is_told_apart() {
        let check = |block: &[u8]| stamp().check_latest(block, AT);
        for generation in [1, 9] {
            assert_eq!(check(&sealed(AT, generation)), Ok(()));
        }
        let lost = check(&[0; 4096]).unwrap_err();
        assert_eq!((lost.kind, lost.expected), (DamageKind::Lost, 0));
        assert!(lost.to_string().contains("its write is lost"), "{lost}");
        let torn = [&sealed(AT, 3)[..1536], &sealed(AT, 2)[1536..]].concat();
        assert_eq!(check(&torn).unwrap_err().kind, DamageKind::Torn { arrived: 3 });
        let elsewhere = sealed(Bytes::from_kib(256), 3);
        assert_eq!(check(&elsewhere).unwrap_err().kind, DamageKind::Misdirected { belongs: Bytes::from_kib(256) });
    }

    #[test]
    fn what_is_told_names_the_place_and_the_write() {
        let torn = [&sealed(AT, 9)[..512], &[0; 3584]].concat();
        assert_eq!(
            damage(&torn).to_string(),
            "block at 65536: write 9 is torn: 1 of its sectors are present, 7 from 66048 on are not"
        );
        assert!(damage(&sealed(AT, 3)).to_string().contains("still holds the data of write 3"));
    }
}
