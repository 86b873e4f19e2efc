//! Figures that the trials of this folder have in common.

use block::Nanos;
use engine::Measurement;
use stats::Histogram;

use crate::{Course, Figure, Trial};

/// How the latencies lie: mean, median, 99 % and 99.9 %; `of` is what took so long, such as `Latency`.
pub(super) fn latencies(of: &str, histogram: &Histogram) -> Vec<Figure> {
    let figure = |words: &str, nanos: f64| Figure::less(&format!("{of}, {words}"), "s", nanos / 1e9);
    let percentile = |percent: f64| histogram.percentile(percent).as_nanos() as f64;
    vec![
        figure("mean", histogram.mean()),
        figure("50 %", percentile(50.0)),
        figure("99 %", percentile(99.0)),
        figure("99.9 %", percentile(99.9)),
    ]
}

/// What a measurement says where waiting for the device at its end took `flush` more.
pub(super) fn of_transfer(measured: &Measurement, flush: Option<Nanos>) -> Trial {
    let time = (measured.elapsed + flush.unwrap_or_default()).as_secs_f64();
    let mut figures = vec![
        Figure::more("Rate", "B/s", measured.bytes().get() as f64 / time),
        Figure::more("IOPS", "1/s", measured.requests() as f64 / time),
    ];
    figures.extend(latencies("Latency", &measured.latency()));
    if !measured.workload.pattern.is_mixed() {
        figures.extend(flush.map(|flush| Figure::less("Flush at the end", "s", flush.as_secs_f64())));
    } else {
        for (name, flow) in [("Read", &measured.read), ("Write", &measured.write)] {
            figures.push(Figure::more(&format!("{name} rate"), "B/s", flow.bytes.get() as f64 / time));
            figures.extend(latencies(&format!("{name} latency"), &flow.latency));
        }
    }
    if !measured.flush.latency.is_empty() {
        figures.extend(latencies("fsync", &measured.flush.latency));
    }
    if let Some(cpu) = &measured.cpu {
        let busy = cpu.total().as_secs_f64();
        figures.push(Figure::less("Processor load", "%", 100.0 * busy / time));
        figures.push(Figure::less("Processor time a request", "s", busy / measured.requests() as f64));
    }
    let courses = course("Rate", measured).into_iter().collect();
    Trial { figures, courses, ..Trial::default() }
}

/// The rate of every whole second; none where there are fewer than two.
fn course(name: &str, measured: &Measurement) -> Option<Course> {
    let whole = (measured.elapsed.as_secs_f64() as usize).min(measured.series.len());
    let points = (0..whole).map(|at| (at as f64, measured.series[at].bytes.get() as f64)).collect();
    (whole > 1).then(|| Course { name: name.to_owned(), unit: "B/s".to_owned(), points })
}
