//! Scenarios of MQSim's as a plan, in the words of a reviewer.

use std::path::Path;

use workload::Workload;

use super::super::Notice;
use super::super::words::{self, Together, UniqueNames, slug};
use super::{Scenario, ScenarioJob};
use crate::{PlanText, printable};

/// The text of a plan that does what the scenarios ask for, with comments on what it does not.
pub fn plan_text(scenarios: &[Scenario], notices: &[Notice], path: &Path) -> String {
    let file = path.file_name().map_or_else(|| "workload.xml".into(), |name| name.to_string_lossy());
    let stem = path.file_stem().map_or_else(|| "workload".into(), |name| name.to_string_lossy());
    let mut names = UniqueNames::new("scenario");
    let mut plan = PlanText::new(&slug(&stem, "workload"));
    plan.set("title", printable(&file));
    plan.set("repeats", 1);
    plan.comment(&heading(&file, notices));
    let mut before: Option<&[Workload]> = None;
    for (index, scenario) in scenarios.iter().enumerate() {
        // A scenario begins with a new drive, and steps leave a simulated drive as they find it.
        if before.is_some_and(|before| before != scenario.layout) {
            let _ = plan.step(&names.unique("purge")).with("title", "A new drive").with("do", "purge");
        }
        if before.is_none_or(|before| before != scenario.layout) {
            layout(&mut plan, scenario, &mut names);
        }
        before = Some(&scenario.layout);
        let name = names.unique(&format!("scenario-{}", index + 1));
        let title = format!("Scenario {}", index + 1);
        match &scenario.jobs[..] {
            [job] => {
                let _ = plan.step(&name).with("title", title).fields(&job.workload.fields());
            }
            jobs => {
                let jobs: Vec<Together> = jobs.iter().map(together).collect();
                words::side_by_side(&mut plan, &name, &jobs, "flow");
            }
        }
    }
    plan.to_string()
}

fn layout(plan: &mut PlanText, scenario: &Scenario, names: &mut UniqueNames) {
    if scenario.fills() {
        return words::layout(plan, names);
    }
    match &scenario.layout[..] {
        [] => {}
        [only] => {
            let step = plan.step(&names.unique("layout")).with("title", "Writing what will be used");
            let _ = step.fields(&only.fields()).with("keep-state", true);
        }
        several => {
            let names_of: Vec<String> = (1..=several.len()).map(|number| format!("flow-{number}")).collect();
            let jobs: Vec<Together> = several
                .iter()
                .zip(&names_of)
                .map(|(workload, name)| Together { name, about: None, fields: workload.fields() })
                .collect();
            let _ = words::side_by_side(plan, &names.unique("layout"), &jobs, "flow").with("keep-state", true);
        }
    }
}

/// What is to be known before the plan is run.
fn heading(file: &str, notices: &[Notice]) -> Vec<String> {
    let mut lines = vec![
        format!("Imported from MQSim's scenarios {file}."),
        String::new(),
        "To run it on a drive that was imported from its ssdconfig.xml:".to_owned(),
        "  assay review --plan THIS-FILE sim:./drive.toml".to_owned(),
        String::new(),
        "MQSim with Enabled_Preconditioning begins in the steady state of the flows' writes: `do = \"precondition\"` in place of"
            .to_owned(),
        "the layout brings a drive to that of random writes.".to_owned(),
    ];
    if !notices.is_empty() {
        lines.extend([String::new(), "Differences from MQSim:".to_owned()]);
        lines.extend(notices.iter().map(|notice| format!("  line {}: {notice}", notice.place.line)));
    }
    lines
}

/// A flow beside others.
fn together(job: &ScenarioJob) -> Together<'_> {
    Together { name: &job.name, about: None, fields: job.workload.fields() }
}
