//! One measurement as rows for spreadsheets.

use engine::{Clock, Flow};

use super::{Single, directions, per_second};

/// A header and a row for each direction that has requests.
///
/// Sizes are in bytes, `bandwidth` in bytes a second; columns that end in `_ns` are nanoseconds. Fields are empty
/// where nothing was asked or measured, and quoted as RFC 4180 has it; lines end in CR LF.
pub fn csv(single: &Single) -> String {
    let whole = conditions(single);
    let rows: Vec<Row> =
        directions(single.measurement).map(|(name, flow)| of_direction(single, &whole, name, flow)).collect();
    // The header comes from the same list as the rows, so that they cannot disagree.
    let header = rows.first().map_or_else(|| of_direction(single, &whole, "", &Flow::default()), Clone::clone);
    let mut text = line(header.iter().map(|(name, _)| name.as_str()));
    for row in &rows {
        text += &line(row.iter().map(|(_, value)| value.as_str()));
    }
    text
}

/// The percentiles of latency that have a column.
const PERCENTILES: [(&str, f64); 5] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9), ("p99_99", 99.99)];

/// The columns of a row: name and value.
type Row = Vec<(String, String)>;

/// What is the same for every direction.
fn conditions(single: &Single) -> Row {
    let measurement = single.measurement;
    let workload = &measurement.workload;
    let mix = workload.pattern.is_mixed().then_some(workload.read_percent);
    [
        ("name", single.name.to_owned()),
        ("target", single.target.to_owned()),
        ("version", single.version.to_owned()),
        ("timestamp_ms", single.timestamp_ms.to_string()),
        ("rw", workload.pattern.to_string()),
        ("rwmixread", or_empty(mix)),
        ("bs", workload.block.get().to_string()),
        ("iodepth", workload.queue_depth.to_string()),
        ("numjobs", workload.workers.to_string()),
        ("offset", workload.offset.get().to_string()),
        ("size", or_empty(workload.size.map(|size| size.get()))),
        ("seed", measurement.seed.to_string()),
        ("clock", match measurement.clock { Clock::Virtual => "virtual", Clock::Real => "real" }.to_owned()),
        ("elapsed_ns", measurement.elapsed.as_nanos().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn of_direction(single: &Single, conditions: &Row, name: &str, flow: &Flow) -> Row {
    let measurement = single.measurement;
    let latency = &flow.latency;
    let amplification = measurement.drive.and_then(|counters| counters.write_amplification());
    let mut row = conditions.clone();
    let mut push = |name: &str, value: String| row.push((name.to_owned(), value));
    push("direction", name.to_owned());
    push("requests", flow.requests.to_string());
    push("bytes", flow.bytes.get().to_string());
    push("iops", per_second(flow.requests, measurement.elapsed).to_string());
    push("bandwidth", per_second(flow.bytes.get(), measurement.elapsed).to_string());
    push("latency_min_ns", latency.min().as_nanos().to_string());
    push("latency_mean_ns", latency.mean().to_string());
    push("latency_stddev_ns", latency.deviation().to_string());
    for (name, percent) in PERCENTILES {
        push(&format!("latency_{name}_ns"), latency.percentile(percent).as_nanos().to_string());
    }
    push("latency_max_ns", latency.max().as_nanos().to_string());
    push("cpu_user_ns", or_empty(measurement.cpu.map(|cpu| cpu.user.as_nanos())));
    push("cpu_system_ns", or_empty(measurement.cpu.map(|cpu| cpu.system.as_nanos())));
    push("write_amplification", or_empty(amplification));
    push("findings", single.findings.join("; "));
    row
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A field as RFC 4180 has it: in quotes, doubled inside, where it would not be told from what is around it.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{mixed, nothing, reads, single};
    use super::*;

    const HEADER: &str = "name,target,version,timestamp_ms,rw,rwmixread,bs,iodepth,numjobs,offset,size,seed,clock,\
        elapsed_ns,direction,requests,bytes,iops,bandwidth,latency_min_ns,latency_mean_ns,latency_stddev_ns,\
        latency_p50_ns,latency_p90_ns,latency_p99_ns,latency_p99_9_ns,latency_p99_99_ns,latency_max_ns,\
        cpu_user_ns,cpu_system_ns,write_amplification,findings\r\n";

    #[test]
    fn each_direction_that_has_requests_is_a_row() {
        let measurement = mixed();
        let (conditions, rest) = (
            "job,sim:x25-m,0.1.0,1767225600123,randrw,67,8192,32,2,0,1073741824,18446744073709551615,real,2500000000,",
            "250000000,1000000000,,",
        );
        let reads = "read,2500,20480000,1000,8192000,100000,100000,0,100000,100000,100000,100000,100000,100000,";
        let writes = "write,2500,20480000,1000,8192000,300000,300000,0,300000,300000,300000,300000,300000,300000,";
        assert_eq!(
            csv(&single(&measurement, &[])),
            format!("{HEADER}{conditions}{reads}{rest}\r\n{conditions}{writes}{rest}\r\n")
        );
    }

    #[test]
    fn what_was_not_asked_or_measured_is_empty() {
        let measurement = reads();
        let text = csv(&single(&measurement, &[]));
        let row: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
        let header: Vec<&str> = HEADER.trim_end().split(',').collect();
        assert_eq!(row.len(), header.len());
        for empty in ["rwmixread", "size", "cpu_user_ns", "cpu_system_ns", "write_amplification", "findings"] {
            let place = header.iter().position(|name| *name == empty).unwrap();
            assert_eq!(row[place], "", "{empty}");
        }
    }

    #[test]
    fn where_nothing_was_measured_there_is_a_header_alone() {
        assert_eq!(csv(&single(&nothing(), &[])), HEADER);
    }

    #[test]
    fn a_field_never_spills_into_its_neighbour() {
        let measurement = reads();
        let findings = ["The drive was \"hot\", very.".to_owned(), "Two\nlines.".to_owned()];
        let text = csv(&Single { target: "my, file.bin", ..single(&measurement, &findings) });
        assert!(text.contains("\r\njob,\"my, file.bin\",0.1.0,"), "{text}");
        assert!(text.ends_with(",\"The drive was \"\"hot\"\", very.; Two\nlines.\"\r\n"), "{text}");
    }
}
