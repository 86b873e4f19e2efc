//! What a plan will cost, before it is begun: for people and for programs.

use std::fmt::Display;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use plan::forecast::{Bounds, Forecast};
use plan::{Plan, Site, Step, Trials};
use serde_json::{Value, json};

use crate::number::percent;
use crate::prose;
use crate::wrap::wrapped;

/// What `plan` will cost on a target that calls itself `identity`, step by step, `width` columns wide.
///
/// Ends with a line feed.
pub fn text(plan: &Plan, identity: &str, forecast: &Forecast, width: u16) -> String {
    let mut lines = wrapped(&format!("{} on {identity}, active range {}", plan.title, forecast.capacity), width);
    lines.push(String::new());
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(["step", "writes", "takes"]);
    for step in &forecast.steps {
        let planned = &plan.steps[step.index];
        table.add_row([planned.title.clone(), amount(step.written), amount(step.time)]);
    }
    for column in [1, 2] {
        table.column_mut(column).expect("the header has three").set_cell_alignment(CellAlignment::Right);
    }
    lines.extend(table.lines().map(|line| line.trim_end().to_owned()));
    lines.push(String::new());
    for sentence in sentences(forecast) {
        lines.extend(wrapped(&sentence, width));
    }
    lines.extend(commands_of(plan));
    lines.join("\n") + "\n"
}

/// The commands of other programs that trials start, as one would type them, step by step; nothing where there are
/// none.
fn commands_of(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for step in &plan.steps {
        let commands = commands(step);
        if !commands.is_empty() {
            lines.extend([
                String::new(),
                format!("`{}` starts these commands; DEVICE is the target's device:", step.name),
            ]);
            // A command is not wrapped: it is to be copied.
            lines.extend(commands.iter().map(|command| format!("  {command}")));
        }
    }
    lines
}

fn commands(step: &Step) -> Vec<String> {
    step.work(&Site::ANY).trials().map(Trials::commands).unwrap_or_default()
}

/// What all of it costs, in a few sentences.
pub fn sentences(forecast: &Forecast) -> Vec<String> {
    let written = forecast.written();
    let mut sentences = vec![match written.most {
        block::Bytes::ZERO => format!("The plan writes nothing and takes {}.", amount(forecast.time())),
        _ => format!("The plan writes {} and takes {}.", amount(written), amount(forecast.time())),
    }];
    if let Some(host) = forecast.host_time {
        sentences.push(format!(
            "Times are simulated; the run takes about {host} on this machine. Every repeat runs on a clone of the \
             simulated drive; only fills and conditioning change its state."
        ));
    }
    if written.most > block::Bytes::ZERO {
        sentences.push(endurance(forecast));
    }
    if written.is_estimate || forecast.time().is_estimate {
        sentences.push(format!(
            "≈ marks estimates from {}: {} sequential, {} IOPS of 4 KiB random writes. All other values follow from the plan's limits.",
            forecast.pace.source,
            forecast.pace.write,
            crate::number::whole(forecast.pace.random_writes),
        ));
    }
    sentences
}

/// What share of the drive's life is used up.
fn endurance(forecast: &Forecast) -> String {
    match (&forecast.endurance, forecast.share()) {
        (Some(rated), Some((least, most))) => {
            let (least, most) = (percent(least), percent(most));
            let share = if least == most { most } else { format!("{least} to {most}") };
            format!(
                "That is {share} of the rated endurance of {} ({}), not counting write amplification.",
                rated.rated, rated.source
            )
        }
        _ => {
            "The drive's rated endurance is unknown; give the data sheet's figure with --rated-endurance, such as 150TB."
                .to_owned()
        }
    }
}

/// `100 GiB`, `≈ 2 min`, `100 GiB to 300 GiB`; a dash for nothing.
fn amount<T: Display + PartialEq + Default>(bounds: Bounds<T>) -> String {
    let sign = if bounds.is_estimate { "≈ " } else { "" };
    let (least, most) = (bounds.least.to_string(), bounds.most.to_string());
    match least == most {
        true if bounds.most == T::default() => "–".to_owned(),
        true => format!("{sign}{most}"),
        false => format!("{sign}{least} to {most}"),
    }
}

/// The same as one JSON object. Sizes are bytes and times nanoseconds; what is not known is null, never zero.
pub fn json(plan: &Plan, identity: &str, forecast: &Forecast) -> String {
    let steps = forecast.steps.iter().map(|step| {
        let planned = &plan.steps[step.index];
        json!({
            "name": planned.name,
            "title": planned.title,
            "action": prose::action(planned),
            "written_bytes": bounds(step.written),
            "time_ns": bounds(step.time),
            "commands": commands(planned),
        })
    });
    let document = json!({
        "plan": plan.name,
        "quick": plan.quick,
        "target": identity,
        "capacity_bytes": forecast.capacity,
        "steps": steps.collect::<Vec<_>>(),
        "written_bytes": bounds(forecast.written()),
        "time_ns": bounds(forecast.time()),
        "host_time_ns": forecast.host_time,
        "rated_endurance": forecast.endurance.as_ref().map(|rated| json!({
            "bytes": rated.rated,
            "source": rated.source,
            "share_least": forecast.share().map(|(least, _)| least),
            "share_most": forecast.share().map(|(_, most)| most),
        })),
        "estimated_from": {
            "source": forecast.pace.source,
            "read_bytes_per_s": forecast.pace.read,
            "write_bytes_per_s": forecast.pace.write,
            "random_read_iops": forecast.pace.random_reads,
            "random_write_iops": forecast.pace.random_writes,
            "latency_ns": forecast.pace.latency,
        },
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

fn bounds<T: serde::Serialize>(bounds: Bounds<T>) -> Value {
    json!({ "least": bounds.least, "most": bounds.most, "estimate": bounds.is_estimate })
}
