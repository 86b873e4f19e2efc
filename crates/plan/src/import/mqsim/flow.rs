//! One flow of MQSim's as a workload.

use std::collections::BTreeMap;

use block::{Bytes, Nanos, SECTOR};
use roxmltree::Node;
use workload::{Arrival, ArrivalProcess, Distribution, Pattern, Replay, ReplayPace, Sizes, Stop, Workload};

use super::super::simulator::field::{FieldSpec, FieldValues};
use super::super::simulator::mistake;
use super::super::{Notice, SourceRange};
use super::fields;
use super::flow_fields::{FLOW, SYNTHETIC, TRACE};
use super::xml::tag;

/// How many requests wait in the host at most where they come at a rate.
const OPEN_DEPTH: u32 = 4096;
/// Into so many sizes of alike many requests a normal distribution is divided.
const NORMAL_SIZES: u32 = 50;
/// Columns of MQSim's traces (`ASCII_Trace_Definition.h`), by the unit of time.
const COLUMNS: &str = "volume,offset_sectors,size_sectors,is_read";

/// A flow as it is written.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// What all flows have.
    pub(super) common: FieldValues,
    kind: FlowKind,
    pub(super) place: SourceRange,
}

#[derive(Clone, Debug)]
enum FlowKind {
    Synthetic(FieldValues),
    Trace(FieldValues),
}

impl Flow {
    /// Reads a flow; none where an element is no flow, which is told.
    pub(super) fn read(node: Node, notices: &mut Vec<Notice>) -> Option<Self> {
        let place = tag(node);
        let name = node.tag_name().name();
        let (own, kind): (&'static [FieldSpec], fn(FieldValues) -> FlowKind) = match name {
            "IO_Flow_Parameter_Set_Synthetic" => (SYNTHETIC, FlowKind::Synthetic),
            "IO_Flow_Parameter_Set_Trace_Based" => (TRACE, FlowKind::Trace),
            _ => {
                let help = "give IO_Flow_Parameter_Set_Synthetic or IO_Flow_Parameter_Set_Trace_Based";
                notices.push(mistake("mqsim::flow", name, format!("`{name}` is no flow"), help, place));
                return None;
            }
        };
        let names = |specs: &'static [FieldSpec]| specs.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let common = fields::read(Some(node), FLOW, &names(own), &place, notices);
        let own = fields::read(Some(node), own, &names(FLOW), &place, notices);
        Some(Self { common, kind: kind(own), place })
    }

    /// The share of its range that it uses, in percent.
    pub(super) fn working_set(&self) -> u64 {
        match &self.kind {
            FlowKind::Synthetic(own) => own.count("Working_Set_Percentage"),
            FlowKind::Trace(_) => 100,
        }
    }

    /// The share of its range that is written before it begins, in percent: what is read has to be there.
    pub(super) fn laid_out(&self) -> u64 {
        let occupied = self.common.count("Initial_Occupancy_Percentage");
        let reads = match &self.kind {
            FlowKind::Synthetic(own) => own.count("Read_Percentage") > 0,
            FlowKind::Trace(_) => true,
        };
        if reads { occupied.max(self.working_set()) } else { occupied }
    }

    /// What it asks of a drive, wherever that is.
    pub(super) fn workload(&self, notices: &mut Vec<Notice>) -> Workload {
        let mode = self.common.of("Device_Level_Data_Caching_Mode");
        let word = self.common.word("Device_Level_Data_Caching_Mode");
        if word.contains("READ") {
            notices.push(mode.not_honoured("reads fill no cache; they find what the write buffer still has"));
        }
        let mut workload = match &self.kind {
            FlowKind::Synthetic(own) => synthetic(own, &self.place, notices),
            FlowKind::Trace(own) => trace(own, notices),
        };
        // What passes the cache by completes once flash has it.
        workload.durable = matches!(word.as_str(), "TURNED_OFF" | "READ_CACHE") && workload.pattern.changes_data();
        workload
    }
}

fn sectors(count: u64) -> Bytes {
    SECTOR.times(count)
}

fn synthetic(own: &FieldValues, place: &SourceRange, notices: &mut Vec<Notice>) -> Workload {
    let reads = own.count("Read_Percentage");
    let distribution = own.word("Address_Distribution");
    let is_stream = distribution == "STREAMING";
    let pattern = match (reads, is_stream) {
        (100, false) => Pattern::RandRead,
        (100, true) => Pattern::Read,
        (0, false) => Pattern::RandWrite,
        (0, true) => Pattern::Write,
        (_, false) => Pattern::RandRw,
        (_, true) => Pattern::ReadWrite,
    };
    let mean = own.count("Average_Request_Size");
    let unit = match own.is_on("Generated_Aligned_Addresses") {
        true => own.count("Address_Alignment_Unit").max(1),
        false => 1,
    };
    let mut workload =
        Workload { pattern, block: sectors(mean), stop: stop(own, place, notices), ..Workload::default() };
    if (1..100).contains(&reads) {
        workload.read_percent = reads as u8;
    }
    if own.word("Request_Size_Distribution") == "NORMAL" && own.count("Variance_Request_Size") > 0 {
        workload.sizes = Some(normal(mean, own.count("Variance_Request_Size")));
    }
    if is_stream {
        // The next request of a stream begins at the next multiple of the unit.
        workload.skip = sectors(mean.next_multiple_of(unit) - mean);
    } else if workload.sizes.is_some() || unit != mean {
        workload.align = Some(sectors(unit));
    }
    if distribution == "RANDOM_HOTCOLD" {
        workload.distribution = hot_and_cold(own.count("Percentage_of_Hot_Region"));
    }
    generator(own, &mut workload, mean, notices);
    workload
}

/// Most requests to the small part of the addresses at the start, and the others behind it.
fn hot_and_cold(hot: u64) -> Distribution {
    let text = format!("zoned:{}/{hot}:{hot}/{}", 100 - hot, 100 - hot);
    match hot {
        0 | 100 => Distribution::Uniform,
        _ => text.parse().expect("shares of a hundred are a distribution"),
    }
}

fn stop(own: &FieldValues, place: &SourceRange, notices: &mut Vec<Notice>) -> Stop {
    let count = |name| if own.of(name).is_given { own.count(name) } else { 0 };
    match (count("Stop_Time"), count("Total_Requests_To_Generate")) {
        (0, 0) => {
            let help = "give `Stop_Time` in ns, or `Total_Requests_To_Generate`";
            let message = "the flow has no end: it makes no request in MQSim".to_owned();
            notices.push(mistake("mqsim::endless", "Stop_Time", message, help, place.clone()));
            Stop::after_requests(1)
        }
        (0, requests) => Stop::after_requests(requests),
        (time, _) => Stop::after(Nanos::from_nanos(time)),
    }
}

/// When requests come: each as one is completed, or at a rate.
fn generator(own: &FieldValues, workload: &mut Workload, mean: u64, notices: &mut Vec<Notice>) {
    if own.word("Synthetic_Generator_Type") == "QUEUE_DEPTH" {
        let depth = own.of("Average_No_of_Reqs_in_Queue");
        if depth.is_given {
            workload.queue_depth = own.count("Average_No_of_Reqs_in_Queue") as u32;
        } else {
            let why = "give `Average_No_of_Reqs_in_Queue`, how many requests are kept in flight";
            notices.push(own.of("Synthetic_Generator_Type").refused(why));
        }
        return;
    }
    let [bandwidth, intensity] = ["Bandwidth", "Intensity"].map(|name| own.of(name));
    let given = if bandwidth.is_given { bandwidth } else { intensity };
    let rate = if given.is_given { own.count(given.spec.name) / 512 / mean } else { 0 };
    match u32::try_from(rate) {
        Ok(1..) => {
            let rate = rate as u32;
            workload.arrival = Arrival { rate, process: ArrivalProcess::Poisson, ..Arrival::default() };
            workload.queue_depth = OPEN_DEPTH;
        }
        _ => {
            let why = "give `Bandwidth` in B/s, for at least one and at most 4 billion requests a second";
            notices.push(own.of("Synthetic_Generator_Type").refused(why));
        }
    }
}

/// Sizes of alike many requests each whose distribution is normal, in whole sectors rounded up as in MQSim; of less than a
/// sector there are none.
fn normal(mean: u64, deviation: u64) -> Sizes {
    let mut shares: BTreeMap<u64, u32> = BTreeMap::new();
    for part in 0..NORMAL_SIZES {
        let middle = (f64::from(part) + 0.5) / f64::from(NORMAL_SIZES);
        let size = (mean as f64 + deviation as f64 * stats::normal_quantile(middle)).ceil().max(1.0) as u64;
        *shares.entry(size).or_default() += 100 / NORMAL_SIZES;
    }
    let entries: Vec<String> = shares.iter().map(|(size, share)| format!("{}/{share}", size * 512)).collect();
    entries.join(":").parse().expect("shares of a hundred are sizes")
}

fn trace(own: &FieldValues, notices: &mut Vec<Notice>) -> Workload {
    let path = own.of("File_Path");
    let leaves =
        |part: std::path::Component| !matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir);
    if std::path::Path::new(&path.text).components().any(leaves) {
        notices.push(path.not_honoured(
            "a plan reads traces in its own folder; put the trace there, or name its folder to `assay review` by `--allow-path`",
        ));
    }
    let (unit, percent) = match own.word("Time_Unit").as_str() {
        "MICROSECOND" => ("time_us", 100),
        "PICOSECOND" => ("time_ns", 100_000),
        _ => ("time_ns", 100),
    };
    let replay = Replay {
        format: Some(format!("{unit},{COLUMNS}")),
        pace: ReplayPace::Recorded { percent },
        ..Replay::of(&path.text)
    };
    Workload { replay: Some(replay), ..Workload::default() }
}
