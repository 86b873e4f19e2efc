//! MQSim's files: its configuration (`ssdconfig.xml`) as a drive, its scenarios (`workload.xml`) as a plan.
//!
//! A file is read in three steps: its elements (`xml`), the values of its fields by tables that say what each can be, what
//! MQSim takes where it is missing and what becomes of it (`fields`, `device_fields`, `flow_fields`), and what that makes: the
//! tables of a drive's file (`device`), or workloads, side by side and one after another (`flow`, `scenarios`,
//! `emit`). Nothing here opens a file.
//!
//! Source: CMU-SAFARI/MQSim, commit 7ec40e3: `src/exec/*_Parameter_Set.cpp` for names and defaults, `SSD_Device.cpp`,
//! `Host_System.cpp` and what these make for what they do.

mod device;
mod device_fields;
mod emit;
mod fields;
mod flow;
mod flow_fields;
mod import;
mod reference;
mod scenarios;
#[cfg(test)]
mod tests;
mod xml;

pub use emit::plan_text;
pub use import::{Import, Imported, import, is_xml};
pub use reference::table;
pub use scenarios::{Scenario, ScenarioJob};

use super::simulator::{Simulator, notice_codes};

static MQSIM: Simulator = Simulator {
    name: "MQSim",
    unknown: "MQSim passes over it without a word",
    twice: "leave one; MQSim takes the last",
    codes: notice_codes!("mqsim"),
};
