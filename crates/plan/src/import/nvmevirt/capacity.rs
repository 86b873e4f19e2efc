//! How large a drive of NVMeVirt's is, and how its flash is laid out.

use block::Bytes;

use super::super::Notice;
use super::super::simulator::field::FieldValues;
use super::kind::DriveKind;

/// An entry of NVMeVirt's map (`ssd_init_params`).
pub(super) const PAGE: u64 = 4096;
/// The memory of NVMeVirt's own example (`memmap_size=64G` of its README).
pub(super) const MEMORY: Bytes = Bytes::from_gib(64);
/// Blocks of a die that writing and collection keep open, beside `gc.start`.
const OPEN_BLOCKS: u64 = 3;
/// Free lines at which NVMeVirt collects (`conv_init_params`).
pub(super) const START: u64 = 2;
/// The most pages of a block.
const BLOCK_PAGES_MAX: u64 = 16_384;
/// The most blocks that take the place of a larger one.
const PARTS_MAX: u64 = 64;

/// The sizes that several tables need, in bytes.
pub(super) struct Sizes {
    pub(super) user: u64,
    /// Share of it that is spare, in millionths.
    pub(super) spare: u128,
    pub(super) program: u64,
    pub(super) sense: u64,
    pub(super) block_pages: u64,
    /// Size and capacity of a zone, and how many there are.
    pub(super) zones: Option<(u64, u64, u64)>,
}

/// The sizes, if a drive can have them; tells why not.
pub(super) fn sizes(kind: DriveKind, values: &FieldValues, memory: u64, notices: &mut Vec<Notice>) -> Option<Sizes> {
    let [sense, program] = ["FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE"].map(|name| values.count(name));
    if !sense.is_multiple_of(PAGE) || !program.is_multiple_of(sense) {
        notices.push(values.of("ONESHOT_PAGE_SIZE").refused(format!(
            "a flash page is whole pages of {PAGE} B, and what is programmed at once is whole flash pages of {sense} B"
        )));
        return None;
    }
    match kind {
        DriveKind::Conventional => conventional(values, memory, notices),
        DriveKind::Zoned => zoned(values, memory, notices),
    }
}

/// Pages of a block of the model's, and how many of them make one of NVMeVirt's; tells where that is several.
fn divided(pages: u64, program: u64, values: &FieldValues, notices: &mut Vec<Notice>) -> Option<(u64, u64)> {
    let value = ["BLKS_PER_PLN", "BLK_SIZE", "ZONE_SIZE"].into_iter().find(|name| given_or(values, name, 0) > 0);
    let value = values.of(value.unwrap_or("BLK_SIZE"));
    let least = pages.div_ceil(BLOCK_PAGES_MAX).max(1);
    let sizes = (least..=PARTS_MAX).map(|parts| (pages.div_ceil(parts).next_multiple_of(program / PAGE), parts));
    let Some((part, parts)) = sizes.into_iter().find(|(part, _)| *part <= BLOCK_PAGES_MAX) else {
        notices.push(value.refused(format!(
            "a block has {pages} pages of 4 KiB, and the model has {BLOCK_PAGES_MAX} at most; give a smaller --size, or smaller blocks"
        )));
        return None;
    };
    if parts > 1 {
        notices.push(value.not_honoured(format!(
            "a block has {pages} pages of 4 KiB, and the model has {BLOCK_PAGES_MAX} at most; {parts} blocks take its place"
        )));
    }
    Some((part, parts))
}

/// A number, or another where the header has none.
pub(super) fn given_or(values: &FieldValues, name: &str, otherwise: u64) -> u64 {
    if values.of(name).is_given { values.count(name) } else { otherwise }
}

fn dies(values: &FieldValues) -> u64 {
    values.count("NAND_CHANNELS") * values.count("LUNS_PER_NAND_CH")
}

fn conventional(values: &FieldValues, memory: u64, notices: &mut Vec<Notice>) -> Option<Sizes> {
    let [sense, program] = ["FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE"].map(|name| values.count(name));
    let dies = dies(values);
    let parts = given_or(values, "SSD_PARTITIONS", 1);
    if !values.count("NAND_CHANNELS").is_multiple_of(parts) {
        let why = "the channels are divided among the partitions; give a number that divides NAND_CHANNELS";
        notices.push(values.of("SSD_PARTITIONS").refused(why));
        return None;
    }
    // As `ssd_init_params`: of each partition.
    let [of_part, dies_of_part] = [memory / parts, dies / parts];
    let (blocks, block) = match given_or(values, "BLKS_PER_PLN", 0) {
        0 => {
            let block = given_or(values, "BLK_SIZE", 0);
            if block == 0 {
                notices.push(values.of("BLK_SIZE").refused("one of BLKS_PER_PLN and BLK_SIZE has to be more than 0"));
                return None;
            }
            (of_part.div_ceil(block.saturating_mul(dies_of_part)), block)
        }
        blocks => (blocks, of_part.div_ceil(blocks * dies_of_part)),
    };
    let (block_pages, parts) = divided(block.div_ceil(program) * (program / PAGE), program, values, notices)?;
    let blocks = blocks * parts;
    // Whole percent, rounded down as in `conv_init_params`.
    let percent = ((1.0 + values.real("OP_AREA_PERCENT")) * 100.0) as u64;
    let user = (u128::from(memory) * 100 / u128::from(percent)) as u64 / PAGE * PAGE;
    let of_user = (user / PAGE).div_ceil(dies).div_ceil(block_pages);
    let enough = blocks.max(of_user + OPEN_BLOCKS + START);
    if enough > blocks {
        notices.push(values.of("OP_AREA_PERCENT").not_honoured(format!(
            "a die has {} blocks more than in NVMeVirt, which the model needs to write at all",
            enough - blocks
        )));
    }
    let raw = u128::from(block_pages) * u128::from(PAGE) * u128::from(enough) * u128::from(dies);
    let spare = (raw * 1_000_000 / u128::from(user.max(1))).saturating_sub(1_000_000);
    Some(Sizes { user, spare, program, sense, block_pages, zones: None })
}

fn zoned(values: &FieldValues, memory: u64, notices: &mut Vec<Notice>) -> Option<Sizes> {
    let [sense, program] = ["FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE"].map(|name| values.count(name));
    let (zone, dies) = (values.of("ZONE_SIZE"), dies(values));
    let size = given_or(values, "ZONE_SIZE", 0);
    if size < PAGE || size > memory || !size.is_multiple_of(PAGE) {
        notices.push(
            zone.refused(format!(
                "a zone is whole pages of {PAGE} B, and no larger than the memory, {memory} B: --size"
            )),
        );
        return None;
    }
    let of_zone = given_or(values, "DIES_PER_ZONE", dies);
    if of_zone < dies {
        notices.push(values.of("DIES_PER_ZONE").not_honoured(format!(
            "a zone lies on all {dies} dies, so that a single one is written up to {} times as fast as in NVMeVirt",
            dies / of_zone
        )));
    }
    let block = (size / dies / program * program).max(program);
    let capacity = size.min(block * dies);
    if capacity < size {
        notices.push(zone.not_honoured(format!(
            "a block of each die has whole flash pages of {program} B, which make {capacity} B of a zone; the rest of it is not written"
        )));
    }
    let zones = memory / size;
    let (block_pages, _) = divided(block / PAGE, program, values, notices)?;
    let sizes = Sizes { user: zones * capacity, spare: 0, program, sense, block_pages, zones: None };
    Some(Sizes { zones: Some((size, capacity, zones)), ..sizes })
}
