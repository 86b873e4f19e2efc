//! The tables of fields as the documentation has them.

use super::super::simulator::row;
use super::{device_fields, flow_fields};

/// The fields of MQSim's files and what becomes of them, as rows of a table in Markdown: name, default, what becomes of it.
pub fn table() -> Vec<String> {
    let sections = [device_fields::HOST, device_fields::DEVICE, device_fields::FLASH];
    let flows = [flow_fields::FLOW, flow_fields::SYNTHETIC, flow_fields::TRACE];
    sections.into_iter().chain(flows).flatten().map(row).collect()
}
