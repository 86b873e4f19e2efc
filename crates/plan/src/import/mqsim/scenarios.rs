//! Scenarios: which flows run side by side, where, and what is written before.

use std::collections::BTreeMap;

use block::Bytes;
use roxmltree::Node;
use workload::{Pattern, Stop, Workload};

use super::super::simulator::mistake;
use super::super::{Notice, Severity};
use super::fields;
use super::flow::Flow;
use super::xml::tag;

/// The most planes that flows name, each of which is looked at.
const PLANES_MAX: usize = 1 << 20;
/// What is written before a scenario is written in requests of this size.
const LAYOUT_BLOCK: Bytes = Bytes::from_mib(1);

/// One of MQSim's scenarios, which it begins with a new drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What is written before; nothing where the drive is empty.
    pub layout: Vec<Workload>,
    /// Its flows, which run at the same time.
    pub jobs: Vec<ScenarioJob>,
}

/// A flow of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioJob {
    /// Its number in the scenario.
    pub name: String,
    /// What it does.
    pub workload: Workload,
}

impl Scenario {
    /// Whether all of the target is written before.
    pub(super) fn fills(&self) -> bool {
        matches!(&self.layout[..], [only] if only.size.is_none() && only.share.is_none())
    }
}

pub(super) fn scenarios(root: Node, size: Option<Bytes>, notices: &mut Vec<Notice>) -> Vec<Scenario> {
    let place = tag(root);
    let _ = fields::read(Some(root), &[], &["IO_Scenario"], &place, notices);
    let nodes = root.children().filter(|node| node.has_tag_name("IO_Scenario"));
    let scenarios: Vec<Scenario> = nodes.filter_map(|node| scenario(node, size, notices)).collect();
    if scenarios.is_empty() && !notices.iter().any(|notice| notice.severity == Severity::Error) {
        let help = "give `IO_Scenario` with flows; MQSim would run an example of its own";
        notices.push(mistake("mqsim::no-scenario", "IO_Scenario", "there is no scenario".to_owned(), help, place));
    }
    scenarios
}

fn scenario(node: Node, size: Option<Bytes>, notices: &mut Vec<Notice>) -> Option<Scenario> {
    let children = node.children().filter(Node::is_element);
    let flows: Vec<Flow> = children.filter_map(|child| Flow::read(child, notices)).collect();
    if flows.is_empty() {
        let help = "give it a flow: IO_Flow_Parameter_Set_Synthetic or IO_Flow_Parameter_Set_Trace_Based";
        notices.push(mistake("mqsim::no-flow", "IO_Scenario", "the scenario has no flow".to_owned(), help, tag(node)));
        return None;
    }
    let shares = shares(&flows, notices);
    let mut spans = Spans { size, is_rounded: false };
    let (mut layout, mut jobs, mut start) = (Vec::new(), Vec::new(), 0.0);
    for (index, (flow, share)) in flows.iter().zip(&shares).enumerate() {
        let mut workload = flow.workload(notices);
        if workload.replay.is_none() {
            spans.place(&mut workload, start, share * flow.working_set() as f64 / 100.0);
        } else if flows.len() > 1 {
            spans.place(&mut workload, start, 100.0 - start);
        }
        jobs.push(ScenarioJob { name: format!("flow-{}", index + 1), workload });
        let laid_out = flow.laid_out();
        if laid_out > 0 {
            let mut writes =
                Workload { pattern: Pattern::Write, block: LAYOUT_BLOCK, queue_depth: 4, ..Workload::default() };
            writes.stop = Stop { span: Some(100), ..Stop::default() };
            spans.place(&mut writes, start, share * laid_out as f64 / 100.0);
            layout.push(writes);
        }
        start += share;
    }
    let is_full = flows.iter().all(|flow| flow.laid_out() == 100);
    if is_full {
        layout = vec![Workload { pattern: Pattern::Write, ..Workload::default() }];
    }
    if spans.is_rounded {
        let (severity, code) = (Severity::Warning, "mqsim::rounded");
        let message = "ranges are rounded to whole percent of the target".to_owned();
        let help = Some("give its capacity for exact ones: `assay import FILE --size=BYTES`".to_owned());
        notices.push(Notice { severity, code, option: "IO_Scenario".to_owned(), message, help, place: tag(node) });
    }
    Some(Scenario { layout, jobs })
}

/// Gives workloads their ranges of a target.
struct Spans {
    /// How much it holds, if that is known.
    size: Option<Bytes>,
    is_rounded: bool,
}

impl Spans {
    /// Gives a workload the range from `start` on of this length, both in percent of the target.
    fn place(&mut self, workload: &mut Workload, start: f64, length: f64) {
        let is_whole = start == 0.0 && length >= 100.0;
        if is_whole {
            return;
        }
        if let Some(size) = self.size {
            let part =
                |percent: f64| Bytes::new((size.get() as f64 * percent / 100.0) as u64).round_down(workload.block);
            let (offset, length) = (part(start), part(length).max(workload.block));
            workload.offset = offset;
            workload.size = Some(length);
            return;
        }
        let (offset, share) = (start.round(), length.round().max(1.0));
        self.is_rounded |= (offset - start).abs() > 1e-6 || (share - length).abs() > 1e-6;
        workload.place = Some(offset as u8).filter(|place| *place > 0);
        workload.share = Some(share as u8);
    }
}

/// The share of the target's addresses that each flow has, in percent: of each plane, an even part for every flow that uses it.
fn shares(flows: &[Flow], notices: &mut Vec<Notice>) -> Vec<f64> {
    let lists: Vec<[Vec<u16>; 4]> = flows
        .iter()
        .map(|flow| ["Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"].map(|name| flow.common.numbers(name)))
        .collect();
    let even = vec![100.0 / flows.len() as f64; flows.len()];
    if lists.iter().all(|list| list == &lists[0]) {
        return even;
    }
    let follows = "all jobs use all planes; in MQSim this flow has planes that others have not";
    notices.push(flows[0].common.of("Channel_IDs").not_honoured(follows));
    let planes = |list: &[Vec<u16>; 4]| list.iter().map(Vec::len).product::<usize>();
    if lists.iter().map(planes).sum::<usize>() > PLANES_MAX {
        return even;
    }
    let each = |list: &[Vec<u16>; 4]| {
        let [channels, chips, dies, planes] = list.clone();
        channels.into_iter().flat_map(move |channel| {
            let (dies, planes) = (dies.clone(), planes.clone());
            chips.clone().into_iter().flat_map(move |chip| {
                let planes = planes.clone();
                dies.clone()
                    .into_iter()
                    .flat_map(move |die| planes.clone().into_iter().map(move |plane| (channel, chip, die, plane)))
            })
        })
    };
    let mut users: BTreeMap<(u16, u16, u16, u16), u32> = BTreeMap::new();
    lists.iter().flat_map(each).for_each(|plane| *users.entry(plane).or_default() += 1);
    let parts: Vec<f64> =
        lists.iter().map(|list| each(list).map(|plane| 1.0 / f64::from(users[&plane])).sum()).collect();
    parts.iter().map(|part| part * 100.0 / users.len().max(1) as f64).collect()
}
