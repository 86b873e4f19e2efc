//! Public configurations and scenarios of MQSim's and its derivatives, and what becomes of each.
//!
//! `corpus/mqsim.toml` has what the files say, `corpus/mqsim-outcomes.toml` what becomes of them. With `ASSAY_RECORD=1` in the
//! environment the latter is written anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use lab::import::Severity;
use lab::import::mqsim::{self, Imported};
use toml::{Table, Value};

use crate::support::Place;
use crate::support::corpus::{corpus, hold};

/// Replaces and takes away fields of `all` as the later of two files has them.
fn change(all: &mut Vec<(String, String)>, changes: &Table) {
    for (name, value) in changes.iter().filter(|(name, _)| *name != "flow") {
        let place = all.iter().position(|(known, _)| known == name);
        match (value, place) {
            (Value::String(text), Some(place)) => all[place].1.clone_from(text),
            (Value::String(text), None) => all.push((name.clone(), text.clone())),
            (_, Some(place)) => drop(all.remove(place)),
            (_, None) => {}
        }
    }
}

fn elements(fields: &[(String, String)]) -> String {
    fields.iter().map(|(name, value)| format!("<{name}>{value}</{name}>\n")).collect()
}

/// The XML of each file, by its source.
fn files() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(corpus("mqsim.toml")).unwrap();
    let corpus: Table = toml::from_str(&text).unwrap();
    let tables = |name: &str| corpus[name].as_array().unwrap().iter().map(|table| table.as_table().unwrap().clone());
    let source = |table: &Table| table["source"].as_str().unwrap().to_owned();
    let mut files = Vec::new();
    let names = ["Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set"];
    let mut first: Option<[Vec<(String, String)>; 3]> = None;
    for table in tables("configuration") {
        let mut sections = first.clone().unwrap_or_default();
        for (section, name) in sections.iter_mut().zip(names) {
            table.get(name).into_iter().for_each(|changes| change(section, changes.as_table().unwrap()));
        }
        let [host, device, flash] = sections.each_ref().map(|section| elements(section));
        let text = format!(
            "<Execution_Parameter_Set>\n<Host_Parameter_Set>\n{host}</Host_Parameter_Set>\n<Device_Parameter_Set>\n{device}\
             <Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
        );
        files.push((source(&table), text));
        first.get_or_insert(sections);
    }
    for table in tables("scenarios") {
        let mut fields = [Vec::new(), Vec::new()];
        let mut text = "<MQSim_IO_Scenarios>\n".to_owned();
        for scenario in table["scenario"].as_array().unwrap() {
            text += "<IO_Scenario>\n";
            for flow in scenario.as_array().unwrap().iter().map(|flow| flow.as_table().unwrap()) {
                let is_trace = flow["flow"].as_str() == Some("trace");
                let name =
                    if is_trace { "IO_Flow_Parameter_Set_Trace_Based" } else { "IO_Flow_Parameter_Set_Synthetic" };
                change(&mut fields[usize::from(is_trace)], flow);
                text += &format!("<{name}>\n{}</{name}>\n", elements(&fields[usize::from(is_trace)]));
            }
            text += "</IO_Scenario>\n";
        }
        files.push((source(&table), text + "</MQSim_IO_Scenarios>\n"));
    }
    files
}

/// What becomes of a file, as a row of the outcomes.
fn outcome(text: &str) -> String {
    let import = mqsim::import(Path::new("file.xml"), text, None);
    let of = |severity| import.notices.iter().filter(move |notice| notice.severity == severity);
    if let Some(first) = of(Severity::Error).next() {
        return format!("refused = {}", Value::String(first.message.clone()));
    }
    let told: BTreeSet<&str> = of(Severity::Warning).map(|notice| &*notice.option).collect();
    let kind = match import.imported {
        Imported::Drive(_) => "drive",
        Imported::Plan(_) => "plan",
        Imported::Nothing => unreachable!("nothing is refused"),
    };
    format!("{kind} = {:?}", told.iter().collect::<Vec<_>>())
}

#[test]
fn what_becomes_of_the_worlds_files_of_mqsim() {
    let mut text = "# What becomes of each file of mqsim.toml: the drive or plan that is made, with what of it is told not to be as in MQSim,\n\
                    # or why none is. Written by the test `mqsim_corpus` with ASSAY_RECORD=1.\n\nrows = [\n"
        .to_owned();
    for (source, file) in files() {
        writeln!(text, "  {{ source = {}, {} }},", Value::String(source), outcome(&file)).unwrap();
    }
    text += "]\n";
    hold("mqsim-outcomes.toml", &text);
}

#[test]
fn mqsims_own_files_are_imported_and_run() {
    let files = files();
    let of = |word: &str| &files.iter().find(|(source, _)| source.contains(word)).unwrap().1;
    let place = Place::new();
    std::fs::write(place.path("config.xml"), of("ssdconfig-backend-contention")).unwrap();
    let said = place.assay(&["import", "config.xml", "-o", "drive.toml"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{}", said.stderr);
    assert!(said.stderr.contains("note[mqsim::suspension]"), "{}", said.stderr);
    let shown = place.succeeds(&["drives", "show", "./drive.toml"]);
    assert!(shown.contains("8 channels × 8 dies × 2 planes"), "{shown}");
    place.succeeds(&["run", "sim:./drive.toml", "--rw=randread", "--number_ios=1000"]);
    std::fs::write(place.path("strict.xml"), of("ssdconfig-datacache-contention")).unwrap();
    let flow = mqsim_scenario();
    std::fs::write(place.path("load.xml"), flow).unwrap();
    std::fs::write(place.path("a.trace"), "1000 0 0 16 0\n2000 0 16 16 1\n").unwrap();
    let said = place.assay(&["import", "load.xml", "-o", "plan.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let summary = place.succeeds(&["review", "--plan", "plan.toml", "sim:./drive.toml"]);
    assert!(summary.contains("scenario-1") || summary.contains("Scenario 1"), "{summary}");
    for (arguments, words) in [
        (&["import", "load.xml", "--section=a"][..], "leave them out"),
        (&["import", "strict.xml", "--strict"], "is refused by --strict"),
        (&["import", "config.xml", "--size=1g", "--variable=a=b"], "leave them out"),
    ] {
        let said = place.refuses(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// A scenario with a flow of each kind that takes a moment.
fn mqsim_scenario() -> String {
    let files = files();
    let text = &files.iter().find(|(_, text)| text.contains("Trace_Based") && text.contains("_Synthetic>")).unwrap().1;
    let cut = |text: &str, name: &str| {
        let (start, end) = (text.find(&format!("<{name}>")).unwrap(), format!("</{name}>"));
        text[start..].split_inclusive(&end).next().unwrap().to_owned()
    };
    let synthetic = cut(text, "IO_Flow_Parameter_Set_Synthetic");
    let changes = [
        ("Stop_Time", "1000000"),
        ("Initial_Occupancy_Percentage", "0"),
        ("Working_Set_Percentage", "1"),
        ("Read_Percentage", "0"),
    ];
    let synthetic = changes.iter().fold(synthetic, |text, (name, value)| {
        let line = text.lines().find(|line| line.starts_with(&format!("<{name}>"))).unwrap().to_owned();
        text.replace(&line, &format!("<{name}>{value}</{name}>"))
    });
    let trace = cut(text, "IO_Flow_Parameter_Set_Trace_Based");
    let line = trace.lines().find(|line| line.starts_with("<File_Path>")).unwrap();
    let trace = trace.replace(line, "<File_Path>a.trace</File_Path>");
    format!(
        "<MQSim_IO_Scenarios><IO_Scenario>{synthetic}</IO_Scenario><IO_Scenario>{trace}</IO_Scenario></MQSim_IO_Scenarios>"
    )
}
