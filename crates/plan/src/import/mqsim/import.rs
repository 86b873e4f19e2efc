//! What a file gives, by its root element.

use std::path::Path;

use block::Bytes;
use roxmltree::Node;

use super::super::simulator::drive_text::DriveFile;
use super::super::simulator::{is_refused, mistake};
use super::super::{ImportSource, Notice};
use super::MQSIM;
use super::device::Configuration;
use super::fields;
use super::scenarios::{Scenario, scenarios};
use super::xml::{mended, parse, tag};
use super::{device_fields, plan_text};
use crate::PlanLength;

/// A file of MQSim's as it can be used.
#[derive(Clone, Debug)]
pub struct Import {
    /// The file itself, so that notices can show its lines.
    pub sources: Vec<ImportSource>,
    /// What it is; of use only if it is not refused.
    pub imported: Imported,
    /// What is not as MQSim has it.
    pub notices: Vec<Notice>,
}

/// What a file is.
#[derive(Clone, Debug)]
pub enum Imported {
    /// The text of a drive's file.
    Drive(String),
    /// Scenarios, one after another.
    Plan(Vec<Scenario>),
    /// Neither.
    Nothing,
}

/// Whether a text is XML rather than anything else that is imported.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Reads a file's text; `path` is for its name alone. `size` is how much the target of a plan holds, if that is known.
pub fn import(path: &Path, text: &str, size: Option<Bytes>) -> Import {
    let mut notices = Vec::new();
    let imported = match parse(&mended(text, &mut notices)) {
        Ok(document) => read(document.root_element(), path, size, &mut notices),
        Err(notice) => {
            notices.push(notice);
            Imported::Nothing
        }
    };
    notices.sort_by_key(|notice| notice.place.span.start);
    let sources = vec![ImportSource { name: path.display().to_string(), text: text.to_owned() }];
    Import { sources, imported, notices }
}

impl Import {
    /// Whether there is a mistake for which the file cannot be used.
    pub fn is_refused(&self) -> bool {
        is_refused(&self.notices)
    }
}

fn read(root: Node, path: &Path, size: Option<Bytes>, notices: &mut Vec<Notice>) -> Imported {
    match root.tag_name().name() {
        "Execution_Parameter_Set" => drive(root, path, notices),
        "MQSim_IO_Scenarios" => plan(root, path, size, notices),
        name => {
            let help = match name {
                "MQSim_Results" => "these are results; import the ssdconfig.xml or the workload.xml that they are of",
                _ => "a configuration is `Execution_Parameter_Set`, a file of scenarios `MQSim_IO_Scenarios`",
            };
            let message = format!("`{name}` is no file of MQSim's that can be imported");
            notices.push(mistake("mqsim::root", name, message, help, tag(root)));
            Imported::Nothing
        }
    }
}

/// The child of this name; tells of a second.
pub(super) fn section<'a>(parent: Option<Node<'a, 'a>>, name: &str, notices: &mut Vec<Notice>) -> Option<Node<'a, 'a>> {
    let mut all = parent.into_iter().flat_map(|node| node.children()).filter(|node| node.has_tag_name(name));
    let first = all.next();
    if let Some(second) = all.next() {
        let message = format!("`{name}` is there twice");
        notices.push(mistake("mqsim::duplicate", name, message, "leave one", tag(second)));
    }
    first
}

fn drive(root: Node, path: &Path, notices: &mut Vec<Notice>) -> Imported {
    let nowhere = tag(root);
    const SECTIONS: [&str; 2] = ["Host_Parameter_Set", "Device_Parameter_Set"];
    let _ = fields::read(Some(root), &[], &SECTIONS, &nowhere, notices);
    let [host, device] = SECTIONS.map(|name| section(Some(root), name, notices));
    let flash = section(device, "Flash_Parameter_Set", notices);
    let mut read = |node, specs, groups: &[&str]| fields::read(node, specs, groups, &nowhere, notices);
    let configuration = Configuration {
        host: read(host, device_fields::HOST, &[]),
        device: read(device, device_fields::DEVICE, &["Flash_Parameter_Set"]),
        flash: read(flash, device_fields::FLASH, &[]),
    };
    if is_refused(notices) {
        return Imported::Nothing;
    }
    let tables = configuration.tables(notices);
    let about = about(&configuration);
    let file = DriveFile { simulator: &MQSIM, path, name: None, about, tables, place: nowhere };
    file.text(notices).map_or(Imported::Nothing, Imported::Drive)
}

fn plan(root: Node, path: &Path, size: Option<Bytes>, notices: &mut Vec<Notice>) -> Imported {
    let scenarios = scenarios(root, size, notices);
    if is_refused(notices) {
        return Imported::Nothing;
    }
    if let Err(mistakes) = crate::parse(&plan_text(&scenarios, &[], path), PlanLength::Full, &[]) {
        let help = "a plan has to hold; change the fields that the message is about";
        let said: Vec<String> = mistakes.iter().map(|mistake| mistake.message.clone()).collect();
        let message = format!("the scenarios make no plan: {}", said.join("; "));
        notices.push(mistake("mqsim::refused", "MQSim_IO_Scenarios", message, help, tag(root)));
        return Imported::Nothing;
    }
    Imported::Plan(scenarios)
}

fn about(configuration: &Configuration) -> String {
    let Configuration { device, flash, .. } = configuration;
    format!(
        "{}, {} channels of {} chips of {} dies",
        flash.word("Flash_Technology"),
        device.count("Flash_Channel_Count"),
        device.count("Chip_No_Per_Channel"),
        flash.count("Die_No_Per_Chip")
    )
}
