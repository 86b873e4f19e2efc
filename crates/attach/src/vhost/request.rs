//! What a virtual machine's driver asks of a block device.
//!
//! Source: "Virtual I/O Device (VIRTIO) Version 1.2", OASIS, section 5.2, "Block Device". All numbers have their lowest byte
//! first.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Deref;

use block::{Bytes, SECTOR};
use drive::Shape;
use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;

use crate::port::IoWork;

/// Features: the driver is told how long and how many the pieces of a request may be and how large a block is; flush, several
/// queues, trim, zeroes.
pub const FEATURES: u64 = 1 << 1 | 1 << 2 | 1 << 6 | 1 << 9 | 1 << 12 | 1 << 13 | 1 << 14;
/// How many queues a machine may have: one for each of so many processors.
pub const QUEUES: u16 = 4;
/// How many pieces of memory the data of a request may be in.
const PIECES_MAX: u32 = 126;
/// How long such a piece may be.
const PIECE_MAX: u32 = 256 << 10;
/// The longest read or write.
const LONGEST: usize = PIECES_MAX as usize * PIECE_MAX as usize;
/// The most zeroes in a request, in sectors: as many as the server writes at once.
const ZEROES_MAX: u32 = 2048;
/// How long the name of a device is.
const NAME: usize = 20;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VhostStatus {
    /// It is done.
    Done = 0,
    Failed = 1,
    /// It is not known.
    Unsupported = 2,
}

#[derive(Debug)]
pub enum VhostRequest {
    /// The drive is to do this, at a place and over so many bytes.
    Drive(u64, u64, IoWork),
    /// It wants to know the device's name.
    Name,
    /// It ends at once, so.
    Ends(VhostStatus),
}

/// Reads what a chain of descriptors asks for.
pub fn read<M>(chain: &DescriptorChain<M>) -> VhostRequest
where
    M: Deref<Target = GuestMemoryMmap> + Clone,
{
    parse(chain).unwrap_or(VhostRequest::Ends(VhostStatus::Failed))
}

fn parse<M>(chain: &DescriptorChain<M>) -> io::Result<VhostRequest>
where
    M: Deref<Target = GuestMemoryMmap> + Clone,
{
    let malformed = |_| io::Error::from(ErrorKind::InvalidData);
    // What is asked for comes before the data, and the status behind it.
    if chain.clone().count() > PIECES_MAX as usize + 2 {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut reader = chain.clone().reader(chain.memory()).map_err(malformed)?;
    let room = chain.clone().writer(chain.memory()).map_err(malformed)?.available_bytes();
    let [kind, _, low, high] = words(&mut reader)?;
    let offset = (u64::from(high) << 32 | u64::from(low)).checked_mul(SECTOR.get());
    let offset = offset.ok_or(ErrorKind::InvalidData)?;
    // The last byte is for the status.
    let (given, room) = (reader.available_bytes(), room.checked_sub(1).ok_or(ErrorKind::InvalidData)?);
    Ok(match kind {
        0 if room <= LONGEST => VhostRequest::Drive(offset, room as u64, IoWork::Read),
        1 if given <= LONGEST => {
            let mut data = vec![0; given];
            reader.read_exact(&mut data)?;
            VhostRequest::Drive(offset, given as u64, IoWork::Write { data, durable: false })
        }
        4 => VhostRequest::Drive(0, 0, IoWork::Flush),
        8 if room >= NAME => VhostRequest::Name,
        11 | 13 => {
            let [low, high, sectors, flags] = words(&mut reader)?;
            let sector = u64::from(high) << 32 | u64::from(low);
            let offset = sector.checked_mul(SECTOR.get()).ok_or(ErrorKind::InvalidData)?;
            let length = u64::from(sectors) * SECTOR.get();
            // What was forgotten reads as zeroes; of a trim no flag is known.
            match (kind, flags) {
                (11, 0) | (13, 1) => VhostRequest::Drive(offset, length, IoWork::Trim),
                (13, 0) if sectors <= ZEROES_MAX => VhostRequest::Drive(
                    offset,
                    length,
                    IoWork::Write { data: vec![0; length as usize], durable: false },
                ),
                _ => VhostRequest::Ends(VhostStatus::Unsupported),
            }
        }
        0 | 1 | 8 => VhostRequest::Ends(VhostStatus::Failed),
        _ => VhostRequest::Ends(VhostStatus::Unsupported),
    })
}

fn words(reader: &mut impl Read) -> io::Result<[u32; 4]> {
    let mut bytes = [0; 16];
    reader.read_exact(&mut bytes)?;
    Ok([0, 4, 8, 12].map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])))
}

/// Writes an answer into the machine's memory; how much was written there.
pub fn answer<M>(chain: &DescriptorChain<M>, data: &[u8], status: VhostStatus) -> u32
where
    M: Deref<Target = GuestMemoryMmap> + Clone,
{
    let Ok(mut writer) = chain.clone().writer(chain.memory()) else { return 0 };
    let Some(room) = writer.available_bytes().checked_sub(1) else { return 0 };
    let Ok(mut last) = writer.split_at(room) else { return 0 };
    // Memory that has gone meanwhile has nobody who looks.
    let written = writer.write(&data[..data.len().min(room)]).unwrap_or_default();
    last.write_all(&[status as u8]).map_or(0, |()| written as u32 + 1)
}

/// The name of the device, filled up with zeroes.
pub fn name() -> [u8; NAME] {
    let mut name = [0; NAME];
    name[..5].copy_from_slice(b"assay");
    name
}

/// What the driver can read about a device of this shape: `struct virtio_blk_config`.
pub fn config(shape: Shape) -> Vec<u8> {
    let (block, sectors) = (shape.block.max(SECTOR).get() as u32, shape.capacity.get() / SECTOR.get());
    let whole = u32::try_from(sectors).unwrap_or(u32::MAX / 4096 * 4096);
    let align = (Bytes::new(u64::from(block)).get() / SECTOR.get()) as u32;
    let mut bytes = sectors.to_le_bytes().to_vec();
    // How long a piece may be, and how many there may be; no geometry.
    bytes.extend([PIECE_MAX, PIECES_MAX, 0, block].map(u32::to_le_bytes).concat());
    // No topology; with a write cache, and so many queues.
    bytes.extend([0; 8]);
    bytes.extend([1, 0]);
    bytes.extend(QUEUES.to_le_bytes());
    // One range a trim or zeroes; zeroes may be trimmed.
    bytes.extend([whole, 1, align, ZEROES_MAX, 1, 1].map(u32::to_le_bytes).concat());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_reads_its_fields_where_it_expects_them() {
        let shape = Shape { capacity: Bytes::from_gib(1), block: Bytes::new(4096), queue_depth: 32 };
        let bytes = config(shape);
        let at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // Source: Linux, `include/uapi/linux/virtio_blk.h`: the offsets of capacity, size_max, seg_max, blk_size, max_discard_sectors,
        // discard_sector_alignment, max_write_zeroes_sectors.
        assert_eq!([0, 8, 12, 20, 36, 44, 48].map(at), [1 << 21, 256 << 10, 126, 4096, 1 << 21, 8, 2048]);
        assert_eq!((bytes[32], u16::from(bytes[34]), bytes[56], bytes.len()), (1, QUEUES, 1, 60));
    }
}
