//! What goes to the ublk driver and comes from it, as bytes.
//!
//! Source: Linux, `include/uapi/linux/ublk_cmd.h`, and Documentation/block/ublk.rst. All numbers are in the machine's order.

use block::{Bytes, SECTOR};
use drive::Shape;

/// The largest request: as much as the server reads at once.
pub const LONGEST: u32 = 1 << 20;
/// The most zeroes in a request, in sectors: as many as the server writes at once.
const ZEROES_MAX: u32 = LONGEST / SECTOR.get() as u32;
/// The largest block that the driver takes: a page.
pub const BLOCK_MAX: Bytes = Bytes::from_kib(4);
/// How many requests there may be at least, as the loop driver has them.
const DEPTH_MIN: u32 = 128;
/// `UBLK_MAX_QUEUE_DEPTH`.
const DEPTH_MAX: u32 = 4096;

/// `UBLK_F_CMD_IOCTL_ENCODE`: commands are numbered as ioctls are. Since Linux 6.4.
const IOCTL_ENCODE: u64 = 1 << 6;
/// `UBLK_F_USER_COPY`: data moves by reading and writing the device of characters. Since Linux 6.5.
pub const USER_COPY: u64 = 1 << 7;

/// `UBLK_S_DEV_DEAD`: nobody serves the device, and there is no disk.
const DEAD: u16 = 0;
/// `UBLKSRV_IO_BUF_OFFSET`: where the data of requests begins in the device of characters.
const DATA: u64 = 0x8000_0000;
/// `UBLK_TAG_OFF`: each tag has so many bits of addresses for its data.
const TAG_SHIFT: u32 = 25;

/// A command to the driver, numbered as an ioctl is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UblkCommand(pub u32);

impl UblkCommand {
    /// `UBLK_U_CMD_GET_DEV_INFO`.
    pub const INFO: Self = Self::encoded(2, 0x02, CONTROL);
    /// `UBLK_U_CMD_ADD_DEV`.
    pub const ADD: Self = Self::encoded(3, 0x04, CONTROL);
    /// `UBLK_U_CMD_DEL_DEV`.
    pub const DELETE: Self = Self::encoded(3, 0x05, CONTROL);
    /// `UBLK_U_CMD_START_DEV`.
    pub const START: Self = Self::encoded(3, 0x06, CONTROL);
    /// `UBLK_U_CMD_STOP_DEV`.
    pub const STOP: Self = Self::encoded(3, 0x07, CONTROL);
    /// `UBLK_U_CMD_SET_PARAMS`.
    pub const SET: Self = Self::encoded(3, 0x08, CONTROL);
    /// `UBLK_U_CMD_DEL_DEV_ASYNC`. Since Linux 6.7.
    pub const DELETE_LATER: Self = Self::encoded(2, 0x14, CONTROL);
    /// `UBLK_U_IO_FETCH_REQ`.
    pub const FETCH: Self = Self::encoded(3, 0x20, COMMAND);
    /// `UBLK_U_IO_COMMIT_AND_FETCH_REQ`.
    pub const COMMIT: Self = Self::encoded(3, 0x21, COMMAND);

    /// `_IOR('u', …)` with direction 2, `_IOWR('u', …)` with 3.
    const fn encoded(direction: u32, number: u32, size: usize) -> Self {
        Self(direction << 30 | (size as u32) << 16 | (b'u' as u32) << 8 | number)
    }
}

/// The length of `struct ublksrv_ctrl_cmd`.
pub const CONTROL: usize = 32;
/// The length of `struct ublksrv_io_cmd`.
pub const COMMAND: usize = 16;
/// The length of `struct ublksrv_ctrl_dev_info`.
pub const INFO: usize = 64;
/// The length of `struct ublk_params` with what a disk needs.
pub const PARAMETERS: usize = 64;
/// The length of `struct ublksrv_io_desc`.
pub const DESCRIPTOR: usize = 24;

/// A command for a device, or for a new one if that is `u32::MAX`: `struct ublksrv_ctrl_cmd`. `address` and `length` are of
/// memory that goes with it.
pub fn control(device: u32, address: u64, length: u16, word: u64) -> [u8; CONTROL] {
    let mut bytes = [0; CONTROL];
    put(&mut bytes, 0, device.to_ne_bytes());
    // It is about no queue.
    put(&mut bytes, 4, u16::MAX.to_ne_bytes());
    put(&mut bytes, 6, length.to_ne_bytes());
    put(&mut bytes, 8, address.to_ne_bytes());
    put(&mut bytes, 16, word.to_ne_bytes());
    bytes
}

/// A request's answer, or that one is waited for: `struct ublksrv_io_cmd`. There is one queue, and no memory for data.
pub fn command(tag: u16, result: i32) -> [u8; COMMAND] {
    let mut bytes = [0; COMMAND];
    put(&mut bytes, 2, tag.to_ne_bytes());
    put(&mut bytes, 4, result.to_ne_bytes());
    bytes
}

/// What is to be known of a device: `struct ublksrv_ctrl_dev_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// How many requests there may be at once.
    pub depth: u16,
    /// Whether nobody serves it.
    pub is_dead: bool,
    /// Its number, in `/dev/ublkbN`.
    pub number: u32,
    /// The process that serves it; -1 once that is gone.
    pub pid: i32,
    /// What the driver does of what was asked for.
    pub flags: u64,
}

impl Info {
    /// What a new device for a drive of this shape is asked to be.
    pub fn wanted(shape: Shape) -> [u8; INFO] {
        let depth = shape.queue_depth.clamp(DEPTH_MIN, DEPTH_MAX) as u16;
        let mut bytes = [0; INFO];
        put(&mut bytes, 0, 1_u16.to_ne_bytes());
        put(&mut bytes, 2, depth.to_ne_bytes());
        put(&mut bytes, 8, LONGEST.to_ne_bytes());
        // Any number that is free.
        put(&mut bytes, 12, u32::MAX.to_ne_bytes());
        put(&mut bytes, 24, (IOCTL_ENCODE | USER_COPY).to_ne_bytes());
        bytes
    }

    /// What the driver says.
    pub fn read(bytes: &[u8; INFO]) -> Self {
        Self {
            depth: u16::from_ne_bytes(at(bytes, 2)),
            is_dead: u16::from_ne_bytes(at(bytes, 4)) == DEAD,
            number: u32::from_ne_bytes(at(bytes, 12)),
            pid: i32::from_ne_bytes(at(bytes, 16)),
            flags: u64::from_ne_bytes(at(bytes, 24)),
        }
    }
}

/// How a disk of this shape is to look, which turns or does not: `struct ublk_params`.
pub fn parameters(shape: Shape, turns: bool) -> [u8; PARAMETERS] {
    const ROTATIONAL: u32 = 1 << 1;
    // A cache that is written through by flushes and by single requests.
    const CACHE_AND_FUA: u32 = 1 << 2 | 1 << 3;
    const BASIC_AND_DISCARD: u32 = 1 | 1 << 1;
    let block = shape.block.max(SECTOR).get() as u32;
    let (shift, sectors) = (block.trailing_zeros() as u8, block / SECTOR.get() as u32);
    let whole = u32::MAX / sectors * sectors;
    let mut bytes = [0; PARAMETERS];
    put(&mut bytes, 0, (PARAMETERS as u32).to_ne_bytes());
    put(&mut bytes, 4, BASIC_AND_DISCARD.to_ne_bytes());
    put(&mut bytes, 8, (CACHE_AND_FUA | if turns { ROTATIONAL } else { 0 }).to_ne_bytes());
    // The logical and the physical block, and the best and the least request.
    put(&mut bytes, 12, [shift; 4]);
    put(&mut bytes, 16, (LONGEST / SECTOR.get() as u32).to_ne_bytes());
    put(&mut bytes, 24, (shape.capacity.get() / SECTOR.get()).to_ne_bytes());
    put(&mut bytes, 44, block.to_ne_bytes());
    put(&mut bytes, 48, whole.to_ne_bytes());
    put(&mut bytes, 52, ZEROES_MAX.to_ne_bytes());
    // One range a trim.
    put(&mut bytes, 56, 1_u16.to_ne_bytes());
    bytes
}

/// A request, as the driver describes it: `struct ublksrv_io_desc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// What is asked for; none if it is not known.
    pub op: Option<UblkRequest>,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes it is about.
    pub length: u64,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UblkRequest {
    /// Data from the drive.
    Read,
    /// Data to the drive; whether it is to survive a loss of power before it is answered.
    Write {
        /// `UBLK_IO_F_FUA`.
        durable: bool,
    },
    /// All that was written is to survive a loss of power.
    Flush,
    /// Forgetting: a trim, or zeroes that need no room.
    Trim,
    /// Zeroes that keep their room.
    Zeroes {
        /// `UBLK_IO_F_FUA`.
        durable: bool,
    },
}

impl Descriptor {
    /// What the driver has written.
    pub fn read(bytes: &[u8; DESCRIPTOR]) -> Self {
        const FUA: u32 = 1 << 13;
        const NOUNMAP: u32 = 1 << 15;
        let flags = u32::from_ne_bytes(at(bytes, 0));
        let durable = flags & FUA != 0;
        let op = match flags & 0xff {
            0 => Some(UblkRequest::Read),
            1 => Some(UblkRequest::Write { durable }),
            2 => Some(UblkRequest::Flush),
            3 => Some(UblkRequest::Trim),
            // What was forgotten reads as zeroes.
            5 if flags & NOUNMAP == 0 => Some(UblkRequest::Trim),
            5 => Some(UblkRequest::Zeroes { durable }),
            _ => None,
        };
        let sectors = u32::from_ne_bytes(at(bytes, 4));
        let first = match op {
            // The kernel has the last sector that can be named stand there.
            Some(UblkRequest::Flush) => 0,
            _ => u64::from_ne_bytes(at(bytes, 8)),
        };
        Self { op, offset: first.saturating_mul(SECTOR.get()), length: u64::from(sectors) * SECTOR.get() }
    }
}

/// Where the data of the request of this tag is in the device of characters.
pub fn data(tag: u16) -> u64 {
    DATA + (u64::from(tag) << TAG_SHIFT)
}

fn put<const N: usize>(bytes: &mut [u8], offset: usize, value: [u8; N]) {
    bytes[offset..offset + N].copy_from_slice(&value);
}

fn at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[offset + index])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { capacity: Bytes::from_gib(1), block: Bytes::new(4096), queue_depth: 32 };

    #[test]
    fn commands_have_the_numbers_that_the_kernel_knows() {
        // Source: what `gcc` makes of the macros in `linux/ublk_cmd.h`.
        let ops = [
            UblkCommand::INFO,
            UblkCommand::ADD,
            UblkCommand::DELETE,
            UblkCommand::START,
            UblkCommand::STOP,
            UblkCommand::SET,
            UblkCommand::DELETE_LATER,
            UblkCommand::FETCH,
            UblkCommand::COMMIT,
        ];
        let expected = [
            0x8020_7502_u32,
            0xc020_7504,
            0xc020_7505,
            0xc020_7506,
            0xc020_7507,
            0xc020_7508,
            0x8020_7514,
            0xc010_7520,
            0xc010_7521,
        ];
        assert_eq!(ops.map(|op| op.0), expected);
    }

    #[test]
    fn the_driver_reads_its_fields_where_it_expects_them() {
        let bytes = control(7, 0x1122_3344_5566_7788, 64, 99);
        assert_eq!((bytes[0], &bytes[4..8], bytes[8], bytes[16]), (7, &[255, 255, 64, 0][..], 0x88, 99));
        assert_eq!(command(0x0102, -5)[..8], [0, 0, 2, 1, 0xfb, 0xff, 0xff, 0xff]);
        let info = Info::wanted(SHAPE);
        assert_eq!((info[0], info[2], info[24]), (1, 128, 0xc0), "queues, depth, flags");
        let at = |bytes: &[u8; 64], at: usize| u32::from_ne_bytes(super::at(bytes, at));
        assert_eq!([8, 12].map(|offset| at(&info, offset)), [1 << 20, u32::MAX]);
        // Offsets of len, types, attrs, max_sectors, dev_sectors, discard_granularity, max_discard_sectors,
        // max_write_zeroes_sectors and max_discard_segments.
        let bytes = parameters(SHAPE, false);
        let found = [0, 4, 8, 16, 24, 28, 44, 48, 52, 56].map(|offset| at(&bytes, offset));
        assert_eq!(found, [64, 3, 12, 2048, 1 << 21, 0, 4096, u32::MAX - 7, 2048, 1]);
        assert_eq!((&bytes[12..16], parameters(SHAPE, true)[8]), (&[12; 4][..], 14));
    }

    #[test]
    fn what_the_driver_says_of_a_device_is_read() {
        let mut bytes = Info::wanted(Shape { queue_depth: 1 << 20, ..SHAPE });
        put(&mut bytes, 4, 1_u16.to_ne_bytes());
        put(&mut bytes, 12, 3_u32.to_ne_bytes());
        put(&mut bytes, 16, 4711_i32.to_ne_bytes());
        let expected = Info { depth: 4096, is_dead: false, number: 3, pid: 4711, flags: 0xc0 };
        assert_eq!(Info::read(&bytes), expected);
    }

    #[test]
    fn a_request_is_what_its_number_and_flags_say() {
        let described = |flags: u32, first: u64, sectors: u32| {
            let mut bytes = [0; DESCRIPTOR];
            put(&mut bytes, 0, flags.to_ne_bytes());
            put(&mut bytes, 4, sectors.to_ne_bytes());
            put(&mut bytes, 8, first.to_ne_bytes());
            Descriptor::read(&bytes)
        };
        let read = |flags: u32| described(flags, 1, 8);
        assert_eq!(read(0), Descriptor { op: Some(UblkRequest::Read), offset: 512, length: 4096 });
        assert_eq!(described(2, u64::MAX, 0), Descriptor { op: Some(UblkRequest::Flush), offset: 0, length: 0 });
        let table = [
            (1, Some(UblkRequest::Write { durable: false })),
            (1 | 1 << 13, Some(UblkRequest::Write { durable: true })),
            (2, Some(UblkRequest::Flush)),
            (3, Some(UblkRequest::Trim)),
            (5, Some(UblkRequest::Trim)),
            (5 | 1 << 15, Some(UblkRequest::Zeroes { durable: false })),
            (5 | 1 << 15 | 1 << 13, Some(UblkRequest::Zeroes { durable: true })),
            (4, None),
            (15, None),
        ];
        for (flags, expected) in table {
            assert_eq!(read(flags).op, expected, "{flags:#x}");
        }
    }

    #[test]
    fn the_data_of_each_tag_has_a_place_of_its_own() {
        assert_eq!([0, 1, 4095].map(data), [0x8000_0000, 0x8200_0000, 0x8000_0000 + 4095 * (32 << 20)]);
    }
}
