//! The sizes of a job's requests.

use block::{Bytes, SECTOR};
use workload::{Sizes, Workload};

use super::given::FioOption;
use super::reading::{Each, FioDirection, OptionReader};

/// Sets the sizes that `bs`, `bsrange` or `bssplit` asks for; of several the last to be written counts in fio, except
/// that `bssplit` always does.
pub(super) fn set(reading: &OptionReader, direction: FioDirection, workload: &mut Workload) {
    let (bs, range) = (reading.option("bs"), reading.option("bsrange"));
    let ranged = match (bs, range) {
        (Some(bs), Some(range)) => {
            (range.place.source, range.place.span.start) > (bs.place.source, bs.place.span.start)
        }
        (_, range) => range.is_some(),
    };
    if let Some(given) = reading.option("bssplit") {
        split(reading, given, direction, workload);
    } else if let Some(given) = range.filter(|_| ranged) {
        in_range(reading, given, direction, workload);
    } else if let Some(each) = reading.each("bs", workload.block, |given, text| reading.size(given, text)) {
        fixed(each, direction, workload);
    }
}

/// One size, or one for reads and another for writes.
fn fixed(each: Each<Bytes>, direction: FioDirection, workload: &mut Workload) {
    let (size, single) = each.of(direction);
    if single {
        workload.block = size;
    } else {
        workload.sizes = format!("{}/100,{}/100", each.reads.get(), each.writes.get()).parse().ok();
    }
}

/// The list as fio writes it, with its sizes in bytes and without the entries that nothing falls to.
fn split(reading: &OptionReader, given: &FioOption, direction: FioDirection, workload: &mut Workload) {
    let mut lists = Vec::new();
    for list in given.text().split(',') {
        let mut entries = Vec::new();
        for entry in list.split(':') {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let Some(size) = reading.size(given, size) else { return };
            if share.trim() != "0" {
                entries.push(format!("{}/{}", size.get(), share.trim()));
            }
        }
        lists.push(entries.join(":"));
    }
    match lists.join(",").parse::<Sizes>() {
        Ok(sizes) => {
            let op = if direction == FioDirection::Trim { block::Op::Trim } else { block::Op::Write };
            let op = if direction == FioDirection::Read { block::Op::Read } else { op };
            // One size is as good as a list of one, and easier to read.
            match sizes.of(op) {
                [only] if direction != FioDirection::Mixed => workload.block = only.size,
                _ => workload.sizes = Some(sizes),
            }
        }
        Err(error) => reading.tell(given.bad(error.to_string())),
    }
}

/// The smallest and the largest size, with `-` or `:` between; one range, or one for each kind of request.
fn in_range(reading: &OptionReader, given: &FioOption, direction: FioDirection, workload: &mut Workload) {
    let ranges: Vec<&str> = given.text().split([',', '/']).collect();
    let place = match direction {
        FioDirection::Read | FioDirection::Mixed => 0,
        FioDirection::Write => 1,
        FioDirection::Trim => 2,
    };
    let text = ranges.get(place).or(ranges.last()).copied().unwrap_or_default();
    if direction == FioDirection::Mixed && ranges.get(1).is_some_and(|second| *second != ranges[0]) {
        reading.tell(given.lost("reads and writes alike have the sizes of the first range"));
    }
    let Some((low, high)) = text.split_once(['-', ':']) else {
        return reading.tell(given.bad(format!("`{text}` is not a range such as `4k-16k`")));
    };
    let (Some(low), Some(high)) = (reading.size(given, low), reading.size(given, high)) else { return };
    let (low, high) = (low.min(high), low.max(high));
    if low < SECTOR {
        return reading.tell(given.bad(format!("sizes begin at one sector of {SECTOR}, not at {low}")));
    }
    if low == high {
        workload.block = low;
        return;
    }
    let kinds = high.div(low);
    let (step, shown) = (kinds.div_ceil(MOST_SIZES), kinds.min(MOST_SIZES));
    if kinds > MOST_SIZES {
        let follows = format!("of the {kinds} multiples of {low} about every {step}th is used, in even shares");
        reading.tell(given.lost(follows));
    } else if 100 % kinds != 0 {
        reading.tell(given.lost("shares are whole percents, so sizes are not exactly equally frequent"));
    }
    let sizes: Vec<String> = (1..=shown).map(|place| low.times(place * kinds / shown).get().to_string()).collect();
    workload.sizes = sizes.join(":").parse().ok();
}

/// The most sizes in a list that stands for a range.
const MOST_SIZES: u64 = 50;
