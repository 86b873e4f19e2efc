//! Jobs that replay a trace or leave one.

use block::Bytes;
use workload::{Field, Mark, Replay, ReplayPace, Stop, Workload};

use super::extent;
use super::given::FioOption;
use super::job::{ImportedJob, Natural};
use super::reading::OptionReader;

/// What a trace decides besides fields of a workload, as it does in fio.
const DECIDED: [&str; 4] = ["bsrange", "rwmixwrite", "io_size", "rate"];

/// Makes the job a replay, if it is one.
pub(super) fn set(reading: &OptionReader, job: &mut ImportedJob) {
    let Some(given) = reading.option("read_iolog") else { return };
    let mut traces = extent::names(given.text()).into_iter();
    let source = traces.next().unwrap_or_default();
    let more = traces.count();
    if more > 0 {
        reading.tell(given.lost(format!("`{source}` alone is replayed; give each of the other {more} a job")));
    }
    let plain = Workload::default();
    let asked = &job.workload;
    job.workload = Workload {
        queue_depth: asked.queue_depth,
        workers: asked.workers,
        size: asked.size,
        ramp: asked.ramp,
        compressible: asked.compressible,
        durable: asked.durable,
        stop: Stop { bytes: None, span: None, ..asked.stop },
        replay: Some(Replay { source, pace: pace(reading), scale: scale(reading), ..Replay::of("") }),
        ..plain
    };
    job.increment = Bytes::ZERO;
    // How many clones there are is a number that may be right.
    let fields = Field::all(Mark::Traced).filter(|field| *field != Field::Numjobs).map(Field::name);
    for given in fields.chain(DECIDED).filter_map(|name| reading.option(name)) {
        job.natural.push(Natural::of(given, "the trace determines it, as in fio"));
    }
    for name in ["offset", "offset_increment", "loops"] {
        if let Some(given) = reading.option(name) {
            reading.tell(given.lost("the trace is replayed once, at the places that it names"));
        }
    }
    if reading.option("filename").is_none() && reading.option("replay_redirect").is_none() {
        reading.tell(given.lost(format!("the files that the trace names are one target, here `{}`", job.file)));
    }
}

/// The file that a replay is redirected to.
pub(super) fn redirected<'s>(reading: &OptionReader<'s>) -> Option<&'s str> {
    reading.option("read_iolog").and(reading.option("replay_redirect")).map(FioOption::text)
}

fn pace(reading: &OptionReader) -> ReplayPace {
    if reading.is_on("replay_no_stall") {
        return ReplayPace::AsFast;
    }
    ReplayPace::Recorded { percent: reading.small("replay_time_scale").unwrap_or(100) }
}

/// fio divides by what is given, and by nothing where that is 0.
fn scale(reading: &OptionReader) -> u32 {
    reading.small("replay_scale").unwrap_or(1).max(1)
}
