//! A measurement as lines for a spreadsheet.

use measurement::Flow;
use plan::Metric;

use super::Single;

/// A header, then a line for each of reads, writes, trims and flushes that were made.
///
/// Fields are quoted as RFC 4180 has it; lines end with a line feed alone. Sizes are bytes, times nanoseconds,
/// rates per second; an empty field was not measured.
pub fn csv(single: &Single) -> String {
    let header = fields(single, "", &Flow::default()).into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let rows = single
        .flows()
        .into_iter()
        .chain([("flush", &single.measurement.flush)])
        .filter(|(_, flow)| flow.requests > 0)
        .map(|(direction, flow)| fields(single, direction, flow).into_iter().map(|(_, value)| value).collect());
    std::iter::once(header).chain(rows).map(line).collect()
}

/// The fields of a line, each with its column's name.
pub(super) fn fields(single: &Single, direction: &str, flow: &Flow) -> Vec<(&'static str, String)> {
    let measurement = single.measurement;
    let (workload, latency) = (&measurement.workload, &flow.latency);
    let options: Vec<String> = workload.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let percentile = |percent| latency.percentile(percent).as_nanos().to_string();
    let own = Metric::ALL.iter().filter_map(|metric| Some((metric.column()?, given(metric.of(measurement)))));
    let known = [
        ("job", single.name.to_owned()),
        ("target", single.target.to_owned()),
        ("version", single.version.to_owned()),
        ("timestamp_ms", single.timestamp_ms.to_string()),
        ("rw", workload.rw()),
        ("rwmixread", workload.reads().to_string()),
        ("bs", given(workload.sizes.is_none().then(|| workload.block.get()))),
        ("iodepth", workload.queue_depth.to_string()),
        ("numjobs", workload.workers.to_string()),
        ("offset", workload.offset.get().to_string()),
        ("size", given(workload.size.map(|size| size.get()))),
        ("options", options.join(" ")),
        ("seed", single.seed.to_string()),
        ("clock", single.clock().to_owned()),
        ("elapsed_ns", measurement.elapsed.as_nanos().to_string()),
        ("direction", direction.to_owned()),
        ("requests", flow.requests.to_string()),
        ("bytes", flow.bytes.get().to_string()),
        ("iops", single.per_second(flow.requests).to_string()),
        ("bandwidth_bytes", single.per_second(flow.bytes.get()).to_string()),
        ("latency_min_ns", latency.min().as_nanos().to_string()),
        ("latency_mean_ns", latency.mean().to_string()),
        ("latency_p50_ns", percentile(50.0)),
        ("latency_p90_ns", percentile(90.0)),
        ("latency_p99_ns", percentile(99.0)),
        ("latency_p99_9_ns", percentile(99.9)),
        ("latency_p99_99_ns", percentile(99.99)),
        ("latency_max_ns", latency.max().as_nanos().to_string()),
        ("cpu_user_ns", given(measurement.cpu.as_ref().map(|cpu| cpu.user.as_nanos()))),
        ("cpu_system_ns", given(measurement.cpu.as_ref().map(|cpu| cpu.system.as_nanos()))),
    ];
    known.into_iter().chain(own).chain([("findings", single.findings.join(" "))]).collect()
}

pub(crate) fn line(fields: impl IntoIterator<Item = String>) -> String {
    fields.into_iter().map(|field| quoted(&field)).collect::<Vec<_>>().join(",") + "\n"
}

/// A value, or nothing.
fn given<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A field as RFC 4180 has it: in quotes where it holds a comma, a quote or a line's end, quotes doubled. A text that a
/// spreadsheet would take for a formula begins with an apostrophe, by which it is one no more; numbers stay numbers.
///
/// Source: OWASP, "CSV Injection", owasp.org/www-community/attacks/CSV_Injection.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let field = if is_formula && field.parse::<f64>().is_err() { &format!("'{field}") } else { field };
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mixed, nothing, single};
    use super::*;

    const HEADER: &str = "job,target,version,timestamp_ms,rw,rwmixread,bs,iodepth,numjobs,offset,size,options,seed,clock,\
        elapsed_ns,direction,requests,bytes,iops,bandwidth_bytes,latency_min_ns,latency_mean_ns,latency_p50_ns,\
        latency_p90_ns,latency_p99_ns,latency_p99_9_ns,latency_p99_99_ns,latency_max_ns,cpu_user_ns,cpu_system_ns,\
        write_amplification,findings\n";

    #[test]
    fn a_line_for_each_direction_that_was_used() {
        let conditions = "\"mine, \"\"quoted\"\"\",./scratch.bin,0.1.0,1767225605042,randrw,67,4096,32,2,1048576,\
            1073741824,,18446744073709551615,real,2000000000";
        let rest = "100000000,300000000,1.5,\"The host was busy, so it says. Not \"\"steady\"\".\"";
        let expected = format!(
            "{HEADER}\
             {conditions},read,4000,16384000,2000,8192000,100000,102450,100031,100031,100031,100031,5000000,5000000,{rest}\n\
             {conditions},write,2000,8192000,1000,4096000,250000,250000,250000,250000,250000,250000,250000,250000,{rest}\n"
        );
        assert_eq!(csv(&single(&mixed())), expected);
    }

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        for (field, written) in [
            ("=1+1", "'=1+1"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("-5", "-5"),
            ("+1.5e3", "+1.5e3"),
            ("sim:x25-m", "sim:x25-m"),
            ("", ""),
        ] {
            assert_eq!(quoted(field), written);
        }
    }

    #[test]
    fn where_nothing_was_done_the_header_stands_alone() {
        assert_eq!(csv(&single(&nothing())), HEADER);
    }
}
