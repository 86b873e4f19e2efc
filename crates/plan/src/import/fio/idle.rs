//! Options that ask for nothing in the job where they stand, because of others.

use workload::{Field, Mark, Pattern};

use super::given::FioOption;
use super::job::Natural;
use super::reading::OptionReader;

/// Tells which options have nothing to decide, and why.
pub(super) fn tell(reading: &OptionReader, pattern: Pattern, natural: &mut Vec<Natural>) {
    let has = |name: &str| reading.option(name).is_some();
    let timed = reading.is_on("time_based") && has("runtime");
    let absolute = reading.option("filename").is_some_and(|given| given.text().starts_with('/'));
    let alone = reading.option("numjobs").is_none_or(|given| given.text() == "1");
    let writes: Vec<&str> = Field::all(Mark::Writes).map(Field::name).chain(["overwrite"]).collect();
    let rules: [(bool, &[&str], &str); 14] = [
        (!pattern.is_mixed(), &["rwmixread", "rwmixwrite"], "the pattern mixes no reads and writes"),
        (!pattern.is_random(), &RANDOM, "the pattern has no random addresses"),
        (!pattern.changes_data(), &writes, "the pattern writes nothing"),
        (has("bssplit"), &["bs", "bsrange"], "`bssplit` says what sizes there are"),
        (!has("thinktime"), &["thinktime_blocks"], "there is no `thinktime` between bursts"),
        (!has("rate") && !has("rate_iops"), &["rate_process"], "there is no rate"),
        (alone, &["offset_increment"], "the job has no clones"),
        (has("filename"), &["filename_format"], "`filename` names the file"),
        (absolute, &["directory"], "`filename` says where the file is"),
        (reading.is_on("fill_device"), &["size"], "`fill_device` goes to the end of the target"),
        (timed, &["loops", "io_size"], "with `time_based` the job ends by its time"),
        (has("description"), &["name"], "`description` says what the job is, and its section what it is called"),
        (later(reading, "direct", "buffered"), &["buffered"], "a later `direct` overrides it"),
        (later(reading, "buffered", "direct"), &["direct"], "a later `buffered` overrides it"),
    ];
    for (idle, names, why) in rules {
        let given = names.iter().filter(|_| idle).filter_map(|name| reading.option(name));
        natural.extend(given.map(|given| Natural::of(given, why)));
    }
    for (last, first) in
        [("rwmixread", "rwmixwrite"), ("rwmixwrite", "rwmixread"), ("bs", "bsrange"), ("bsrange", "bs")]
    {
        if let Some(given) = reading.option(first).filter(|_| later(reading, last, first)) {
            natural.push(Natural::of(given, format!("a later `{last}` overrides it")));
        }
    }
}

/// What decides random addresses.
const RANDOM: [&str; 5] = ["percentage_random", "blockalign", "random_distribution", "norandommap", "random_generator"];
/// Whether both options are given, and `last` stands behind `first`.
fn later(reading: &OptionReader, last: &str, first: &str) -> bool {
    let at = |given: &FioOption| (given.place.source, given.place.span.start);
    let (Some(last), Some(first)) = (reading.option(last), reading.option(first)) else { return false };
    at(last) > at(first)
}
