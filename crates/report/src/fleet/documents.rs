//! A fleet for programs and for other documents.

use plan::fleet::{FleetDrive, FleetEffect};
use plan::gate::GateOutcome;
use serde_json::{Value, json as object};

use super::prose::{self, Standing};
use super::{FleetReport, effects};
use crate::comparison::change;
use crate::export::{csv_line, markdown_table, markdown_text};
use crate::gate;
use crate::number::three;

/// A header, then a line for each figure of each drive; a drive without figures has one line. Fields are quoted as RFC 4180 has
/// it, lines end with a line feed. What is not known is empty.
pub fn csv(report: &FleetReport) -> String {
    let fleet = &report.fleet;
    let header = [
        "run",
        "state",
        "serial",
        "wwid",
        "slot",
        "firmware",
        "model",
        "target",
        "host",
        "verdict",
        "limits",
        "figure",
        "unit",
        "mean",
        "half_width",
        "repeats",
        "median",
        "ratio",
        "score",
        "p",
        "differs",
    ];
    let mut text = csv_line(header.map(str::to_owned));
    for (at, drive) in fleet.drives.iter().enumerate() {
        let identity = &drive.identity;
        let given = |text: &Option<String>| text.clone().unwrap_or_default();
        let known = [
            drive.run.id.to_string(),
            drive.run.state.name().to_owned(),
            given(&identity.serial),
            given(&identity.wwid),
            given(&identity.slot),
            given(&identity.firmware),
            identity.model.clone(),
            identity.target.clone(),
            given(&identity.host),
            Standing::of(fleet, at).name().to_owned(),
            drive.gate.as_ref().map_or_else(String::new, |gate| gate.outcome().name().to_owned()),
        ];
        let mut rows = fleet.places(at).peekable();
        if rows.peek().is_none() {
            text +=
                &csv_line(known.iter().cloned().chain(std::iter::repeat_n(String::new(), header.len() - known.len())));
        }
        for (figure, place) in rows {
            let interval = &place.side.interval;
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let own = [
                figure.title.clone(),
                figure.unit.clone(),
                interval.mean.to_string(),
                number(interval.half_width),
                interval.repeats.to_string(),
                figure.median.to_string(),
                place.ratio.to_string(),
                place.score.to_string(),
                number(place.p),
                if place.is_apart { prose::way(place) } else { "" }.to_owned(),
            ];
            text += &csv_line(known.iter().cloned().chain(own));
        }
    }
    text
}

/// The same as one JSON document; ends with a line feed.
pub fn json(report: &FleetReport, version: &str) -> String {
    let fleet = &report.fleet;
    let drives: Vec<Value> = (0..fleet.drives.len()).map(|at| drive(report, at)).collect();
    let peers = fleet.peers.iter().map(|peers| {
        let runs: Vec<_> = peers.drives.iter().map(|at| fleet.drives[*at].run.id).collect();
        let figures: Vec<Value> = peers.figures.iter().map(|figure| object!({
            "figure": figure.title, "unit": figure.unit, "more_is_better": figure.more_is_better, "median": figure.median,
            "deviation": figure.deviation,
        })).collect();
        object!({ "title": peers.title, "runs": runs, "figures": figures })
    });
    let effects = report.effects.as_ref().map(|(before, found)| {
        let figures: Vec<Value> = found.figures.iter().map(|one| effect(report, one)).collect();
        object!({ "before": before, "drives": found.drives, "unshared": found.unshared, "figures": figures })
    });
    let document = object!({
        "assay": version,
        "title": report.title,
        "false_discovery_rate": fleet.rule.rate,
        "least_difference": fleet.rule.least,
        "superseded": fleet.superseded,
        "drives": drives,
        "peers": peers.collect::<Vec<_>>(),
        "effects": effects,
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

fn drive(report: &FleetReport, at: usize) -> Value {
    let fleet = &report.fleet;
    let FleetDrive { run, identity, gate, findings, .. } = &fleet.drives[at];
    let figures: Vec<Value> = fleet
        .places(at)
        .map(|(figure, place)| {
            let interval = &place.side.interval;
            object!({
                "figure": figure.title, "mean": interval.mean, "half_width": interval.half_width, "samples": place.side.samples,
                "ratio": place.ratio, "score": place.score, "p": place.p, "differs": place.is_apart.then(|| prose::way(place)),
            })
        })
        .collect();
    let limits = gate.as_ref().map(|checked| {
        object!({ "outcome": checked.outcome().name(), "checks": checked.checks.iter().map(gate::check).collect::<Vec<_>>() })
    });
    object!({
        "run": run.id, "state": run.state.name(), "error": run.error, "serial": identity.serial, "wwid": identity.wwid,
        "slot": identity.slot, "firmware": identity.firmware, "model": identity.model, "target": identity.target,
        "host": identity.host, "verdict": Standing::of(fleet, at).name(), "figures": figures, "limits": limits,
        "findings": findings.iter().map(|finding| &finding.text).collect::<Vec<_>>(),
    })
}

fn effect(report: &FleetReport, effect: &FleetEffect) -> Value {
    let pair = |(drive, before, now): &(usize, f64, f64)| object!({ "run": report.fleet.drives[*drive].run.id, "before": before, "now": now });
    object!({
        "figure": effect.title, "unit": effect.unit, "ratio": effect.ratio.map(|ratio| ratio.ratio()),
        "bounds": effect.ratio.map(|ratio| ratio.bounds()), "p": effect.p, "is_significant": effect.is_sure(),
        "drives": effect.pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}

/// The same as GitHub renders it: the verdict, the drives, their key figures. Ends with a line feed.
pub fn markdown(report: &FleetReport) -> String {
    let fleet = &report.fleet;
    let mut page = format!("# {}\n", markdown_text(&prose::headline(report)));
    let found = report.effects.iter().flat_map(|(before, found)| effects::told(found, before));
    for sentence in prose::summary(report).into_iter().chain(found) {
        page += &format!("\n{}\n", markdown_text(&sentence));
    }
    let heads =
        ["Serial number", "Verdict", "Differs in", "Limits", "Slot", "Firmware", "Target", "Run"].map(str::to_owned);
    let rows = (0..fleet.drives.len()).map(|at| {
        let FleetDrive { run, identity, gate, .. } = &fleet.drives[at];
        let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
        vec![
            identity.label().to_owned(),
            Standing::of(fleet, at).name().to_owned(),
            prose::differences(fleet, at, 2),
            gate.as_ref().map_or("–", |gate| GateOutcome::name(gate.outcome())).to_owned(),
            dash(&identity.slot),
            dash(&identity.firmware),
            identity.target.clone(),
            run.id.to_string(),
        ]
    });
    page += &markdown_table(&heads, |column| column == 7, rows);
    for peers in &fleet.peers {
        page += &format!("\n## {}\n", markdown_text(&peers.title));
        let heads = ["Key figure", "Unit", "Median", "Deviation", "Least", "Most"].map(str::to_owned);
        let rows = peers.figures.iter().map(|figure| {
            let means = || figure.places.iter().map(|place| place.side.interval.mean);
            let ends = [means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max)].map(three);
            let own =
                vec![figure.title.clone(), figure.unit.clone(), three(figure.median), change(1.0 + figure.deviation)];
            own.into_iter().chain(ends).collect()
        });
        page += &markdown_table(&heads, |column| column > 1, rows);
    }
    page + &format!("\n{}\n", markdown_text(&prose::method(fleet)))
}
