//! Where a job's random requests fall.

use block::Op;
use workload::{Distribution, Workload};

use super::given::FioOption;
use super::reading::{FioDirection, OptionReader};

/// Sets alignment, share and distribution of random requests.
pub(super) fn scatter(reading: &OptionReader, towards: FioDirection, workload: &mut Workload) {
    if let Some(each) = reading.each("percentage_random", 100, |given, text| reading.share(given, text)) {
        let (share, single) = each.of(towards);
        workload.random_share = if single { share.into() } else { [each.reads, each.writes, each.writes].into() };
    }
    if let Some(each) = reading.each("blockalign", workload.block, |given, text| reading.size(given, text)) {
        let (align, single) = each.of(towards);
        let least = workload.sizes_of(op(towards)).iter().map(|entry| entry.size).min();
        workload.align = Some(align).filter(|align| Some(*align) != least);
        if let Some(given) = reading.option("blockalign").filter(|_| !single) {
            reading.tell(given.lost(format!("both reads and writes are aligned to {align}")));
        }
    }
    if let Some(given) = reading.option("random_distribution") {
        distribution(reading, given, towards, workload);
    }
    once_each(reading, workload);
}

/// A kind of request that the job makes.
const fn op(towards: FioDirection) -> Op {
    match towards {
        FioDirection::Read | FioDirection::Mixed => Op::Read,
        FioDirection::Write => Op::Write,
        FioDirection::Trim => Op::Trim,
    }
}

/// Has every block come once before any comes again, as fio does unless it is told `norandommap`, or where the offsets are no
/// multiples of the least size or not uniform.
///
/// Source: fio 3.33, `init.c`, `fixup_options`.
fn once_each(reading: &OptionReader, workload: &mut Workload) {
    let is_lfsr = reading.word("random_generator", &["tausworthe", "lfsr", "tausworthe64"]) == Some("lfsr");
    let is_aligned = reading.option("blockalign").is_some() && workload.align.is_some();
    let is_plain = workload.sizes.is_none() && workload.align.is_none() && workload.is_all_random();
    let is_uniform = workload.distribution == Distribution::Uniform;
    if !is_lfsr && (reading.is_on("norandommap") || is_aligned || !is_uniform) {
        return;
    }
    if is_plain && is_uniform {
        workload.no_repeat = true;
        let mut lists = ["bs", "bsrange", "bssplit"].into_iter().filter_map(|name| reading.option(name));
        if let Some(given) = lists.find(|given| given.text().contains(',')) {
            reading.tell(given.lost(
                "every block occurs once; fio may end before, as its random map has blocks of the smallest of all sizes",
            ));
        }
        return;
    }
    let asked = ["random_generator", "norandommap"].into_iter().filter(|name| *name == "norandommap" || is_lfsr);
    let cause = ["bssplit", "bsrange", "bs", "percentage_random", "random_distribution", "blockalign"];
    if let Some(given) = asked.chain(cause).find_map(|name| reading.option(name)) {
        reading.tell(given.lost(
            "random offsets may repeat before all others have occurred once, and no request is cut short where the next block \
             has: there is no random map for several sizes",
        ));
    }
}

fn distribution(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &mut Workload) {
    let (law, lists) = given.text().split_once(':').unwrap_or((given.text(), ""));
    if law == "zoned_abs" {
        return reading.tell(given.lost("random offsets are uniform; give the zones as shares, with `zoned`"));
    }
    let lists: Vec<&str> = lists.split(',').collect();
    let place = match towards {
        FioDirection::Read | FioDirection::Mixed => 0,
        FioDirection::Write => 1,
        FioDirection::Trim => 2,
    };
    let list = lists.get(place).or(lists.last()).copied().unwrap_or_default();
    if towards == FioDirection::Mixed && lists.get(1).is_some_and(|second| *second != list) {
        reading.tell(given.lost("writes are distributed as reads are"));
    }
    // A center moves what is scattered anyway.
    let list = if law == "zoned" { list } else { list.split(':').next().unwrap_or_default() };
    let is_of_two = |name: &str| reading.option(name).is_some_and(|given| given.text().contains(','));
    let is_apart = ["bs", "bsrange", "bssplit"].into_iter().any(is_of_two) || workload.align.is_some();
    if ["zipf", "pareto", "normal"].contains(&law) && is_apart {
        reading.tell(given.lost(
            "all offsets lie in the range; fio counts places by the smaller size of reads and writes, whatever offsets are \
             multiples of, and ends with the first beyond the range",
        ));
    }
    // What fio takes where the law stands alone.
    let text = match (law, list) {
        ("zipf", "") => "zipf:1.1".to_owned(),
        ("pareto", "") => "pareto:0.2".to_owned(),
        ("normal", list) => match deviation(list) {
            Some(deviation) => format!("normal-scattered:{deviation:.2}"),
            None => return reading.tell(given.bad(format!("`{list}` is not a deviation from 0 to 100 %"))),
        },
        (law, "") => law.to_owned(),
        (law, list) => format!("{law}:{list}"),
    };
    match text.parse::<Distribution>() {
        Ok(distribution) => workload.distribution = distribution,
        Err(error) => reading.tell(given.bad(error.to_string())),
    }
}

/// The deviation in percent of the range of what fio draws, which is the mean of twelve even draws and one more that is as wide
/// as `width` says.
///
/// Source: fio 3.33, `lib/gauss.c`, `gauss_next`.
fn deviation(width: &str) -> Option<f64> {
    let width: f64 = if width.is_empty() { 0.0 } else { width.parse().ok()? };
    let mean = 100.0 / 12.0;
    (0.0..100.0).contains(&width).then(|| (mean * mean + width * width / 12.0).sqrt())
}
