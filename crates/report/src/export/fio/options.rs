//! A workload in fio's options.

use block::Bytes;
use measurement::{Clock, Measurement, Method};
use workload::{Field, Unit, Workload, amount};

use super::{Keys, Single};

/// What is the job's alone: its name and where it runs.
const OWN: [&str; 2] = ["name", "filename"];

/// The workload as fio's options, which are text.
pub(super) fn options(single: &Single) -> Keys<&'static str, String> {
    let Measurement { workload, clock, cpu, .. } = single.measurement;
    let method = cpu.as_ref().and_then(|cpu| cpu.handover).map(|handover| handover.method);
    let engine = match (clock, method) {
        (Clock::Virtual, _) => "simulated",
        (Clock::Real, Some(Method::Threads)) => "psync",
        (Clock::Real, Some(Method::Commands)) => "io_uring_cmd",
        (Clock::Real, _) => "io_uring",
    };
    let mut options =
        vec![("name", single.name.to_owned()), ("filename", single.target.to_owned()), ("ioengine", engine.to_owned())];
    // Programs that read fio's documents ask for these also where they are as by default.
    let asked = [Field::Rw, Field::Iodepth, Field::Numjobs];
    let fields = asked.into_iter().filter_map(|field| Some((field, field.get(workload)?)));
    let others = workload.fields().into_iter().filter(|(field, _)| !asked.contains(field) && *field != Field::Bs);
    options.extend(fields.chain(others).map(|(field, value)| (field.name(), fios(field, value, workload))));
    options.push(("bs", sizes(workload, amount)));
    options.push(("randseed", single.seed.to_string()));
    options.extend((*clock == Clock::Real).then(|| ("direct", u8::from(single.direct).to_string())));
    if workload.pattern.is_mixed() {
        options.push(("rwmixwrite", (100 - workload.read_percent).to_string()));
    }
    let stop = workload.stop;
    let by_time = stop.time.is_some() && stop.bytes.is_none() && stop.requests.is_none();
    options.extend(by_time.then(|| ("time_based", "1".to_owned())));
    Keys(options)
}
/// The value of a field as fio's users write it.
fn fios(field: Field, value: String, workload: &Workload) -> String {
    match (field, workload.stop.bytes) {
        // In a plan it is of all workers together.
        (Field::IoSize, Some(bytes)) => amount(Bytes::new(bytes.get() / u64::from(workload.workers.max(1)))),
        (Field::ZoneResetThreshold | Field::ZoneResetFrequency, _) => {
            value.parse().map_or(value, |percent: f64| (percent / 100.0).to_string())
        }
        _ if field.unit() == Unit::Seconds => {
            value.strip_suffix('s').filter(|time| is_number(time)).map_or(value.clone(), str::to_owned)
        }
        _ => value,
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same as a `[global]` section has them, where CBT looks.
///
/// It takes the last letter off `bs` to have a number of bytes, so here that is `4096B`, which fio reads as well.
pub(super) fn global(single: &Single) -> Keys<&'static str, String> {
    let in_bytes = |bytes: Bytes| format!("{}B", bytes.get());
    let of = |(name, value)| match name {
        "bs" => (name, sizes(&single.measurement.workload, in_bytes)),
        _ => (name, value),
    };
    Keys(options(single).0.into_iter().filter(|(name, _)| !OWN.contains(name)).map(of).collect())
}

/// The size of a request; where there are several, from the least to the largest, for fio-plot does not draw without.
fn sizes(workload: &Workload, amount: impl Fn(Bytes) -> String) -> String {
    let all = || workload.ops().iter().flat_map(|&op| workload.sizes_of(op)).map(|entry| entry.size);
    let least = all().min().expect("every pattern makes requests");
    let largest = workload.block_max();
    if least == largest { amount(least) } else { format!("{}-{}", amount(least), amount(largest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_users_of_fio_write_them() {
        assert_eq!(
            [512, 4096, 6000, 1 << 20, 3 << 30].map(|bytes| amount(Bytes::new(bytes))),
            ["512", "4k", "6000", "1m", "3g"]
        );
        let time = |text: &str| fios(Field::Runtime, text.to_owned(), &Workload::default());
        assert_eq!(["10s", "1500ms", "7us"].map(time), ["10", "1500ms", "7us"]);
        assert_eq!(fios(Field::Sync, "dsync".to_owned(), &Workload::default()), "dsync");
    }

    #[test]
    fn several_sizes_are_told_from_the_least_to_the_largest() {
        let sized = |text: &str| sizes(&Workload { sizes: Some(text.parse().unwrap()), ..Workload::default() }, amount);
        assert_eq!(sized("64k/10:512/90"), "512-64k");
        assert_eq!(sized("8k/100,4k/100"), "8k", "it reads alone");
    }
}
