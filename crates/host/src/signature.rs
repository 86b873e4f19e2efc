//! What tells that a block device holds something.
//!
//! Source of all magic numbers and places, unless another is given: util-linux 2.38,
//! libblkid/src/superblocks/*.c and libblkid/src/partitions/*.c.

use std::io;

use block::{Bytes, SECTOR};

/// Something that can be read at any place, up to its size.
pub(crate) trait SignatureSource {
    /// Fills `buffer` from `offset`.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl SignatureSource for std::fs::File {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }
}

/// Bytes at a place that mean something.
struct Magic {
    name: &'static str,
    bytes: &'static [u8],
    /// Offsets from the start.
    places: &'static [u64],
    /// Offsets back from the end.
    places_from_end: &'static [u64],
}

const fn magic(name: &'static str, bytes: &'static [u8], places: &'static [u64]) -> Magic {
    Magic { name, bytes, places, places_from_end: &[] }
}

const BCACHE: &[u8] = &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];
const BCACHEFS: &[u8] =
    &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef];
/// Ten bytes before the end of the first page, for every size of page that Linux has.
const SWAP: &[u64] = &[0xff6, 0x1ff6, 0x3ff6, 0x7ff6, 0xfff6];
/// Where a second header of LUKS 2 may begin.
const LUKS: &[u64] = &[0x4000, 0x8000, 0x10000, 0x20000, 0x40000, 0x80000, 0x100000, 0x200000, 0x400000];

const MAGICS: &[Magic] = &[
    magic("ext2, ext3 or ext4 file system", &[0x53, 0xef], &[0x438]),
    magic("XFS file system", b"XFSB", &[0]),
    magic("Btrfs file system", b"_BHRfS_M", &[0x10040]),
    magic("F2FS file system", &[0x10, 0x20, 0xf5, 0xf2], &[0x400]),
    magic("FAT file system", b"FAT12   ", &[0x36]),
    magic("FAT file system", b"FAT16   ", &[0x36]),
    magic("FAT file system", b"FAT32   ", &[0x52]),
    magic("exFAT file system", b"EXFAT   ", &[3]),
    magic("NTFS file system", b"NTFS    ", &[3]),
    magic("BitLocker volume", b"-FVE-FS-", &[3]),
    magic("ISO 9660 file system", b"CD001", &[0x8001]),
    magic("UDF file system", b"BEA01", &[0x8001]),
    magic("ReiserFS file system", b"ReIsEr", &[0x2034, 0x10034]),
    magic("JFS file system", b"JFS1", &[0x8000]),
    magic("APFS container", b"NXSB", &[32]),
    magic("Squashfs file system", b"hsqs", &[0]),
    magic("Squashfs file system", b"sqsh", &[0]),
    magic("EROFS file system", &[0xe2, 0xe1, 0xf5, 0xe0], &[0x400]),
    magic("bcache device", BCACHE, &[0x1018]),
    magic("bcachefs file system", BCACHEFS, &[0x1018]),
    magic("Ceph BlueStore", b"bluestore block device", &[0]),
    magic("swap space", b"SWAPSPACE2", SWAP),
    magic("swap space", b"SWAP-SPACE", SWAP),
    magic("hibernated system", b"S1SUSPEND", SWAP),
    magic("hibernated system", b"LINHIB0001", SWAP),
    magic("LUKS encrypted volume", b"LUKS\xba\xbe", &[0]),
    magic("LUKS encrypted volume", b"SKUL\xba\xbe", LUKS),
    magic("LVM physical volume", b"LABELONE", &[0, 512, 1024, 1536]),
    Magic { name: "GPT partition table", bytes: b"EFI PART", places: &[512, 4096], places_from_end: &[512, 4096] },
    Magic {
        name: "Intel RAID member",
        bytes: b"Intel Raid ISM Cfg Sig. ",
        places: &[],
        places_from_end: &[1024, 8192],
    },
    Magic { name: "DDF RAID member", bytes: &[0xde, 0x11, 0xde, 0x11], places: &[], places_from_end: &[512] },
];

/// All that tells of data in the part of `source` from `start` that is `size` long; each once.
pub(crate) fn signatures(source: &dyn SignatureSource, start: Bytes, size: Bytes) -> io::Result<Vec<&'static str>> {
    let part = SignaturePart { source, start: start.get(), size: size.get() };
    let mut found = Vec::new();
    for magic in MAGICS {
        let from_end = magic.places_from_end.iter().filter_map(|back| part.size.checked_sub(*back));
        for place in magic.places.iter().copied().chain(from_end) {
            if part.holds(place, magic.bytes)? {
                found.push(magic.name);
            }
        }
    }
    found.extend(part.has_boot_partitions()?.then_some("MBR partition table"));
    found.extend(part.is_raid_member()?.then_some("Linux RAID member"));
    found.extend(part.is_zfs_member()?.then_some("ZFS pool member"));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

struct SignaturePart<'s> {
    source: &'s dyn SignatureSource,
    start: u64,
    size: u64,
}

impl SignaturePart<'_> {
    /// Whether `bytes` are at `offset`; what is beyond the end is not.
    fn holds(&self, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        let mut found = [0; 32];
        let found = &mut found[..bytes.len()];
        Ok(self.read(offset, found)? && found == bytes)
    }

    /// Fills `buffer` from `offset`; false if there is not so much.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<bool> {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.size) {
            return Ok(false);
        }
        self.source.read(self.start + offset, buffer)?;
        Ok(true)
    }

    /// A boot sector whose table has an entry that makes sense. Boot code without partitions is no data.
    fn has_boot_partitions(&self) -> io::Result<bool> {
        let mut sector = [0; 512];
        if !self.read(0, &mut sector)? || sector[510..] != [0x55, 0xaa] {
            return Ok(false);
        }
        let word =
            |entry: &[u8], at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        let sound = |entry: &[u8]| matches!(entry[0], 0 | 0x80);
        let used = |entry: &[u8]| entry[4] != 0 && word(entry, 8) != 0 && word(entry, 12) != 0;
        let mut entries = sector[446..510].chunks(16);
        Ok(entries.clone().all(sound) && entries.any(used))
    }

    /// The superblock of `md` in any of its four places.
    /// Source: Linux, include/uapi/linux/raid/md_p.h, `MD_NEW_SIZE_SECTORS`; drivers/md/md.c, `super_1_load`.
    fn is_raid_member(&self) -> io::Result<bool> {
        const MAGIC: u32 = 0xa92b_4efc;
        const RESERVED: u64 = 64 << 10;
        let version_0 = (self.size & !(RESERVED - 1)).checked_sub(RESERVED);
        let version_1 = (self.size & !(SECTOR.get() - 1)).checked_sub(8 << 10).map(|place| place & !4095);
        for place in version_0.into_iter().chain(version_1).chain([0, 4096]) {
            if self.holds(place, &MAGIC.to_le_bytes())? || self.holds(place, &MAGIC.to_be_bytes())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An uberblock in any of the four labels.
    /// Source: "ZFS On-Disk Specification", Sun Microsystems, 2006, §1.2 and §1.3.
    fn is_zfs_member(&self) -> io::Result<bool> {
        const MAGIC: u64 = 0x00ba_b10c;
        const LABEL: u64 = 256 << 10;
        const RING: usize = 128 << 10;
        let end = self.size / LABEL * LABEL;
        let last = [end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
        let mut ring = vec![0; RING];
        for label in [0, LABEL].into_iter().chain(last.into_iter().flatten()) {
            if self.read(label + RING as u64, &mut ring)?
                && ring.chunks(1024).any(|block| [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].contains(&head(block)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn head(block: &[u8]) -> [u8; 8] {
    std::array::from_fn(|i| block[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of zeroes, with some bytes at some places.
    #[derive(Default)]
    struct Image(Vec<(u64, Vec<u8>)>);

    impl Image {
        fn with(mut self, offset: u64, bytes: &[u8]) -> Self {
            self.0.push((offset, bytes.to_vec()));
            self
        }
    }

    impl SignatureSource for Image {
        fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            buffer.fill(0);
            for (at, bytes) in &self.0 {
                for (place, byte) in (*at..).zip(bytes) {
                    if let Some(mine) = place.checked_sub(offset).and_then(|i| buffer.get_mut(i as usize)) {
                        *mine = *byte;
                    }
                }
            }
            Ok(())
        }
    }

    const SIZE: u64 = 10 << 30;

    fn found(image: Image) -> Vec<&'static str> {
        signatures(&image, Bytes::ZERO, Bytes::new(SIZE)).unwrap()
    }

    #[test]
    fn a_device_of_zeroes_holds_nothing_however_small() {
        for size in [0, 512, 4096, 65_536, 1 << 20, SIZE] {
            let found = signatures(&Image::default(), Bytes::ZERO, Bytes::new(size)).unwrap();
            assert!(found.is_empty(), "{size} B of zeroes: {found:?}");
        }
    }

    #[test]
    fn every_magic_is_found_at_every_place() {
        for magic in MAGICS {
            let from_end = magic.places_from_end.iter().map(|back| SIZE - back);
            for place in magic.places.iter().copied().chain(from_end) {
                let found = found(Image::default().with(place, magic.bytes));
                assert_eq!(found, [magic.name], "{} at {place}", magic.name);
            }
        }
    }

    #[test]
    fn raid_is_found_in_all_its_places_and_both_byte_orders() {
        for place in [0, 4096, SIZE - (64 << 10), SIZE - (8 << 10)] {
            for magic in [[0xfc, 0x4e, 0x2b, 0xa9], [0xa9, 0x2b, 0x4e, 0xfc]] {
                assert_eq!(found(Image::default().with(place, &magic)), ["Linux RAID member"], "at {place}");
            }
        }
    }

    #[test]
    fn zfs_is_found_in_each_of_its_labels() {
        for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
            let image = Image::default().with(label + (128 << 10) + 5 * 1024, &0x00ba_b10c_u64.to_le_bytes());
            assert_eq!(found(image), ["ZFS pool member"], "label at {label}");
        }
    }

    #[test]
    fn a_boot_sector_counts_only_with_a_partition_in_it() {
        let entry = [0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0];
        let signed = || Image::default().with(510, &[0x55, 0xaa]);
        assert!(found(signed()).is_empty());
        assert_eq!(found(signed().with(446, &entry)), ["MBR partition table"]);
        assert!(found(signed().with(446, &entry).with(462, &[0x17])).is_empty(), "no boot flag is 0x17");
        assert!(found(Image::default().with(446, &entry)).is_empty(), "without the mark it is no boot sector");
    }

    #[test]
    fn a_partition_is_searched_from_its_own_start_to_its_own_end() {
        let image = || Image::default().with((1 << 20) + 0x438, &[0x53, 0xef]);
        let part = |start: u64, size: u64| signatures(&image(), Bytes::new(start), Bytes::new(size)).unwrap();
        assert_eq!(part(1 << 20, 1 << 20), ["ext2, ext3 or ext4 file system"]);
        assert!(part(0, 2 << 20).is_empty());
        assert!(part(1 << 20, 1024).is_empty(), "beyond the partition's end");
    }
}
