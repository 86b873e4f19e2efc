//! Where a job's random requests fall.

use workload::{Distribution, Workload};

use super::given::FioOption;
use super::reading::{FioDirection, OptionReader};

/// Sets alignment, share and distribution of random requests.
pub(super) fn scatter(reading: &OptionReader, towards: FioDirection, workload: &mut Workload) {
    if let Some(each) = reading.each("percentage_random", 100, |given, text| reading.share(given, text)) {
        let (share, single) = each.of(towards);
        workload.random_percent = share;
        if let Some(given) = reading.option("percentage_random").filter(|_| !single) {
            reading.tell(given.lost(format!("reads and writes alike are random by {share} %")));
        }
    }
    if let Some(each) = reading.each("blockalign", workload.block, |given, text| reading.size(given, text)) {
        let (align, single) = each.of(towards);
        workload.align = Some(align);
        if let Some(given) = reading.option("blockalign").filter(|_| !single) {
            reading.tell(given.lost(format!("reads and writes alike are aligned to {align}")));
        }
    }
    if let Some(given) = reading.option("random_distribution") {
        distribution(reading, given, towards, workload);
    }
    once_each(reading, workload);
}

/// Has every block come once before any comes again, as fio does unless it is told `norandommap`.
fn once_each(reading: &OptionReader, workload: &mut Workload) {
    let is_lfsr = reading.word("random_generator", &["tausworthe", "lfsr", "tausworthe64"]) == Some("lfsr");
    let asked = reading.option("norandommap").filter(|_| !reading.is_on("norandommap"));
    let asked = asked.or(reading.option("random_generator").filter(|_| is_lfsr));
    if reading.is_on("norandommap") && !is_lfsr {
        return;
    }
    let plain = workload.sizes.is_none() && workload.align.is_none() && workload.random_percent == 100;
    if plain && workload.distribution == Distribution::Uniform {
        workload.no_repeat = true;
    } else if let Some(given) = asked {
        reading.tell(given.lost("random offsets may repeat before all others have occurred once (no random map)"));
    }
}

fn distribution(reading: &OptionReader, given: &FioOption, towards: FioDirection, workload: &mut Workload) {
    let (law, lists) = given.text().split_once(':').unwrap_or((given.text(), ""));
    if law == "zoned_abs" {
        return reading.tell(given.lost("requests fall everywhere alike; write the zones as shares, with `zoned`"));
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
    let (list, center) = match law {
        "zoned" => (list, None),
        _ => list.split_once(':').map_or((list, None), |(list, center)| (list, Some(center))),
    };
    if center.is_some() {
        reading.tell(given.lost("the most wanted blocks lie scattered, not around one place"));
    }
    // What fio takes where the law stands alone.
    let text = match (law, list) {
        ("zipf", "") => "zipf:1.1".to_owned(),
        ("pareto", "") => "pareto:0.2".to_owned(),
        (law, "") => law.to_owned(),
        (law, list) => format!("{law}:{list}"),
    };
    match text.parse::<Distribution>() {
        Ok(distribution) => workload.distribution = distribution,
        Err(error) => reading.tell(given.bad(error.to_string())),
    }
}
