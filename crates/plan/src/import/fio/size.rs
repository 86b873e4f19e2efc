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
    let plain = Each { reads: workload.block, writes: workload.block, trims: workload.block };
    let each = || reading.each("bs", workload.block, |given, text| reading.size(given, text)).unwrap_or(plain);
    if let Some(given) = reading.option("bssplit") {
        split(reading, given, each(), direction, workload);
    } else if let Some(given) = range.filter(|_| ranged) {
        in_range(reading, given, direction, workload);
    } else {
        fixed(each(), direction, workload);
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

/// The lists of `bssplit`; a kind of request whose list is empty has its size of `bs`.
fn split(reading: &OptionReader, given: &FioOption, bs: Each<Bytes>, direction: FioDirection, workload: &mut Workload) {
    let texts: Vec<&str> = given.text().split(',').collect();
    // The second list stands for trims too, as does the first where it is alone.
    let text = |place: usize| texts[place.min(texts.len() - 1)];
    let of = |place, size: Bytes| share_out(reading, given, text(place), size);
    let (Some(reads), Some(writes), Some(trims)) = (of(0, bs.reads), of(1, bs.writes), of(2, bs.trims)) else { return };
    let counted: &[&[SizeShare]] = match direction {
        FioDirection::Read => &[&reads],
        FioDirection::Write => &[&writes],
        FioDirection::Trim => &[&trims],
        FioDirection::Mixed => &[&reads, &writes],
    };
    let asked = |shares: &[SizeShare]| shares.iter().filter(|entry| entry.percent > 0).copied().collect::<Vec<_>>();
    if let [shares] = counted
        && let [only] = asked(shares)[..]
    {
        // One size is as good as a list of one, and easier to read.
        workload.block = only.size;
    } else {
        let list = |shares: &[SizeShare]| {
            let entries =
                asked(shares).into_iter().map(|SizeShare { size, percent }| format!("{}/{percent}", size.get()));
            entries.collect::<Vec<_>>().join(":")
        };
        match [&reads[..], &writes, &trims].map(list).join(",").parse::<Sizes>() {
            Ok(sizes) => workload.sizes = Some(sizes),
            Err(error) => reading.tell(given.bad(error.to_string())),
        }
    }
    // Random requests begin at multiples of the least size, even where no request has it.
    let sizes = || counted.iter().flat_map(|shares| shares.iter());
    let (least, least_asked) = (
        sizes().map(|entry| entry.size).min(),
        sizes().filter(|entry| entry.percent > 0).map(|entry| entry.size).min(),
    );
    if least < least_asked && workload.pattern.is_random() {
        workload.align = least;
    }
}

/// A size with its share in percent.
#[derive(Clone, Copy, Debug)]
struct SizeShare {
    size: Bytes,
    percent: u8,
}

/// One list of `bssplit`: sizes with the shares that fio comes to. An entry without a share, or with 0, has an even part of what
/// the others leave. What is short of 100 % then goes to the entry with the largest share, and beyond 100 % nothing does.
///
/// Source: fio 3.33, `options.c`, `split_parse_ddir` and `bssplit_ddir`; `io_u.c`, `get_next_buflen`.
fn share_out(reading: &OptionReader, given: &FioOption, list: &str, default: Bytes) -> Option<Vec<SizeShare>> {
    let mut entries = Vec::new();
    for entry in list.trim().split(':').take_while(|entry| !entry.trim().is_empty()) {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        // Of a range fio takes the beginning.
        let size = reading.size(given, size.split_once('-').map_or(size, |(low, _)| low).trim())?;
        let digits = share.trim().bytes().take_while(u8::is_ascii_digit).count();
        let share = share.trim()[..digits].parse::<u32>().unwrap_or(0).min(100);
        entries.push((size, Some(share).filter(|share| *share > 0)));
    }
    let said: u32 = entries.iter().filter_map(|(_, share)| *share).sum();
    let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if said > 100 && open > 0 {
        reading.tell(given.bad(format!("the shares in `{list}` make {said} %; they must not make more than 100 %")));
        return None;
    }
    let mut shares: Vec<(Bytes, u32)> =
        entries.into_iter().map(|(size, share)| (size, share.unwrap_or_else(|| (100 - said) / open))).collect();
    shares.sort_by_key(|(_, share)| *share);
    let last = shares.len().saturating_sub(1);
    let mut left = 100;
    let mut sized: Vec<SizeShare> = Vec::new();
    for (place, (size, share)) in shares.into_iter().enumerate() {
        let percent = if place == last { left } else { share.min(left) };
        left -= percent;
        sized.push(SizeShare { size, percent: percent as u8 });
    }
    sized.sort_by_key(|entry| entry.size);
    Some(if sized.is_empty() { vec![SizeShare { size: default, percent: 100 }] } else { sized })
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
