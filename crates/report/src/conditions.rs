//! What stands behind the figures: conditions, environment and findings, and behind them how to repeat it.

use block::Bytes;
use jiff::Timestamp;
use maud::{Markup, html};
use measurement::{Clock, Run};
use plan::{Action, Outcome, PointOutcome, Site, Step};
use serde_json::Value;

use crate::cost::Cost;
use crate::number::{bound, capital};
use crate::part::MeasuredStep;
use crate::quoting::quoting;
use crate::reproduction::is_simulated;
use crate::{finding, health, prose, reproduction, setup, table};

/// The moment `ms` milliseconds after 1970, to the minute: `2026-03-01 14:05 UTC`.
pub fn date(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .map_or_else(|_| "at an unknown time".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// How long the run took by the clock on the wall; none while it runs.
pub(crate) fn took(run: &Run) -> Option<String> {
    let ms = u64::try_from(run.finished_ms?.checked_sub(run.started_ms)?).ok()?;
    Some(block::Nanos::from_millis(ms).to_string())
}

/// Runs that are held against each other, each under its name.
pub(crate) fn runs<'r>(named: impl Iterator<Item = (String, &'r Run)>) -> Markup {
    let runs = html! {
        table {
            caption.hidden { "Runs" }
            thead { tr { @for head in ["Run", "Target", "Plan", "Seed", "Started"] { th scope="col" { (head) } } } }
            tbody { @for (name, run) in named { tr {
                th scope="row" { (name) }
                td.long { (run.target_identity) br; code { (run.target) } }
                td { (run.plan) @if run.quick { " (quick)" } } td { (run.seed) } td { (date(run.started_ms)) }
            } } }
        }
    };
    table::framed("Runs", &runs)
}

/// Everything after the steps.
pub(crate) fn back_matter(outcome: &Outcome, parts: &[MeasuredStep]) -> Markup {
    html! {
        @if let Some(cost) = Cost::of(outcome) { (cost.section()) }
        section #findings { h2 { "Findings" } (findings(outcome, parts)) }
        section #health { h2 { "Health of the drive" } (health::section(&outcome.health)) }
        section #conditions { h2 { "Conditions" } (conditions(outcome, parts)) }
        section #environment { h2 { "Environment" } (environment(&outcome.run)) }
        (reproduction::section(outcome))
    }
}

fn findings(outcome: &Outcome, parts: &[MeasuredStep]) -> Markup {
    html! {
        (finding::all(outcome, parts))
        @if let Some(precision) = prose::precision(parts) { p { (precision) } }
        (table::imprecise(parts))
    }
}

fn conditions(outcome: &Outcome, parts: &[MeasuredStep]) -> Markup {
    let run = &outcome.run;
    html! {
        dl {
            dt { "Plan" } dd { (outcome.plan.title) " (" code { (run.plan) } ")" @if run.quick { ", shortened by " code { "--quick" } } @if run.simulated { ", with its durations for simulated drives" } }
            @if !outcome.plan.about.is_empty() && !setup::is_wanted(outcome) { dt { "Purpose" } dd { (quoting(&outcome.plan.about)) } }
            dt { "Seed" } dd { (run.seed) }
            dt { "Active range" } dd { @if let Some(size) = run.size { (size) } @else { "the whole target" } }
            @if let Some(clock) = clock(parts) { dt { "Clock" } dd { (clock) } }
            dt { "Repeats" } dd {
                "Each figure is measured " (prose::times(outcome.plan.repeats)) " unless its step says otherwise. "
                @if is_simulated(run) {
                    "On a simulated drive each repeat starts from a clone, with an independent seed. After random \
                     writes each of the first five starts from an independently conditioned state, reached by further \
                     random writes with a seed of its own; later ones share the fifth state. Before any random write \
                     the state is deterministic, and ± is the variance over requests."
                } @else {
                    "Repeats run one after another on the same target, with independent seeds."
                }
            }
            dt { "Intervals" } dd {
                "Mean of the repeats ± 95 % confidence by Student's t over the repeats; shown as a share of the mean. "
                "In charts and data the bounds are log-symmetric, mean × e^±share, so that they stay positive. "
                "A figure wider than ±2 % is marked ▲. A single measurement has no interval, nor has a figure that is the same \
                 in every repeat."
            }
            dt { "Changes" } dd {
                "The ratio of two means is a change if its 95 % interval, the two relative half-widths added in \
                 quadrature, "
                "excludes 1; otherwise it is called no clear change."
            }
            @if let Some(zones) = zones(outcome) { dt { "Zones" } dd { (zones) } }
            @if is_simulated(run) && outcome.plan.steps.iter().any(is_constructed) {
                dt { "States" } dd {
                    "Constructed: on simulated flash the state after a fill, or after the ordered writes of a \
                     preconditioning, is computed without simulating the timing of the writes. A constructed fill \
                     equals a simulated one. Random writes before the rounds of a conditioning are constructed likewise, \
                     as a random draw of the resulting state; its curve begins after them. On other drives all writes \
                     are simulated."
                }
            }
            @if outcome.plan.steps.iter().any(|step| matches!(step.action, Action::Purge { .. })) && !is_simulated(run) {
                dt { "Empty" } dd {
                    "The state after the plan's purge: a discard of all blocks of a block device unless a finding says \
                     otherwise, or a new file. "
                    "The underlying drive may have been written for long before."
                }
            }
        }
        h3 { "Procedure" }
        ol.steps { @for step in &outcome.plan.steps { li { b { (step.title) } ". " (bound(&prose::action(step))) "." } } }
    }
}

/// Where random writes go on a simulated drive with zones, and of what percentages of it are; none where there are no zones
/// or requests go to them as they come.
fn zones(outcome: &Outcome) -> Option<String> {
    let zones = outcome.drive.as_ref()?.drive()?.zones()?;
    let mut workloads = outcome.steps.iter().flat_map(|step| &step.points).filter_map(PointOutcome::workload);
    workloads.find(|workload| workload.pattern.is_random() && workload.reads() < 100 && !workload.zoned.raw)?;
    let mut words =
        "A random write goes to the write pointer of a zone chosen at random, not to a random offset; where the \
        drive may not open that zone, to that of an open one. A full zone is reset before it is written."
            .to_owned();
    if zones.writable() < zones.space() {
        words += &format!(
            " Percentages of the drive are of what its zones hold, {}; its addresses are {}.",
            zones.writable(),
            zones.space()
        );
    }
    Some(words)
}

/// Whether a simulated drive may be put into the state that the step leaves.
fn is_constructed(step: &Step) -> bool {
    match &step.action {
        Action::Fill(fill) => fill.construct,
        Action::Precondition(precondition) => precondition.construct,
        Action::Condition(condition) => condition.constructed(&Site::ANY).is_some(),
        _ => false,
    }
}

fn clock(parts: &[MeasuredStep]) -> Option<&'static str> {
    let measurement =
        parts.iter().flat_map(|part| &part.readings).find_map(|reading| reading.point.measurements().next())?;
    Some(match measurement.clock {
        Clock::Virtual => "virtual: the simulated drive's own time, the same on every machine",
        Clock::Real => "real: the host's monotonic clock",
    })
}

fn environment(run: &Run) -> Markup {
    let built = if run.commit.is_empty() { String::new() } else { format!(" ({})", run.commit) };
    let recorded: Option<Value> = serde_json::from_str(&run.environment).ok();
    html! {
        dl {
            dt { "Target" } dd { code { (run.target) } " – " (run.target_identity) }
            dt { "Run" } dd { "number " (run.id) ", " (date(run.started_ms)) @if let Some(took) = took(run) { ", took " (took) } }
            dt { "Program" } dd { "assay " (run.version) (built) }
            @if let Some(Value::Object(map)) = &recorded {
                @for (key, value) in map.iter().filter(|(_, value)| !is_empty(value)) { dt { (words(key)) } dd { (recorded_value(key, value)) } }
            }
        }
    }
}

/// A value of the recorded environment: an object as a list of its own.
fn recorded_value(key: &str, value: &Value) -> Markup {
    match value {
        Value::Object(map) => html! {
            dl { @for (key, value) in map.iter().filter(|(_, value)| !is_empty(value)) { dt { (words(key)) } dd { (recorded_value(key, value)) } } }
        },
        Value::Array(all) if all.iter().any(|each| each.is_object() || each.is_array()) => html! {
            ul { @for each in all { li { (recorded_value(key, each)) } } }
        },
        Value::Array(all) => {
            html! { @for (i, each) in all.iter().enumerate() { @if i > 0 { ", " } (recorded_value(key, each)) } }
        }
        Value::Bool(yes) => html! { (if *yes { "yes" } else { "no" }) },
        Value::Number(number) => html! { (amount(key, number)) },
        Value::String(text) => html! { (text) },
        Value::Null => html! { "unknown" },
    }
}

/// A recorded number: as an amount of data where its name says that it is one.
fn amount(key: &str, number: &serde_json::Number) -> String {
    let is_data = ["memory", "bytes", "capacity", "size", "block"].iter().any(|word| key.contains(word));
    match number.as_u64() {
        Some(bytes) if is_data && bytes >= 512 => Bytes::new(bytes).to_string(),
        _ => number.to_string(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// `cpu_model` as `CPU model`.
fn words(key: &str) -> String {
    let spelt = |(i, word): (usize, &str)| match word {
        "cpu" | "cpus" | "os" | "io" | "id" | "scsi" | "nvme" | "sata" | "usb" => {
            word.to_uppercase().replace("CPUS", "CPUs")
        }
        _ if i == 0 => capital(word),
        _ => word.to_owned(),
    };
    key.split(['_', '-'])
        .filter(|word| word.is_ascii() && !word.is_empty())
        .enumerate()
        .map(spelt)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_names_become_words() {
        assert_eq!(words("cpu_model"), "CPU model");
        assert_eq!(words("kernel-release"), "Kernel release");
        assert_eq!(amount("memory", &serde_json::Number::from(8_u64 << 30)), "8 GiB");
        assert_eq!(amount("cpus", &serde_json::Number::from(1024)), "1024");
    }

    #[test]
    fn a_moment_is_given_in_universal_time() {
        assert_eq!(date(1_767_225_600_000), "2026-01-01 00:00 UTC");
    }
}
