//! A fleet in sentences.

use measurement::RunState;
use plan::fleet::{Fleet, FleetDrive, FleetFigure, FleetPlace};
use plan::gate::GateOutcome;

use super::FleetReport;
use crate::axis::plain;
use crate::comparison::change;
use crate::number::count;

/// As many drives are named in a sentence.
const NAMED: usize = 4;

/// How a drive stands, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Its run did not come to its end.
    Incomplete,
    /// A limit is surely not met.
    Fails,
    /// Worse than its peers in something.
    Worse,
    /// Better than its peers in something.
    Better,
    /// A limit may or may not be met.
    Open,
    /// It has no peers to be held against.
    Unjudged,
    /// Like its peers, and within its limits.
    Alike,
}

impl Standing {
    pub(super) fn of(fleet: &Fleet, at: usize) -> Self {
        let drive = &fleet.drives[at];
        let apart = fleet.apart(at);
        let gate = drive.gate.as_ref().map(|gate| gate.outcome());
        let is_judged = fleet.places(at).any(|(_, place)| place.p.is_some());
        match gate {
            _ if drive.run.state != RunState::Complete => Self::Incomplete,
            Some(GateOutcome::Fail) => Self::Fails,
            _ if apart.iter().any(|(_, place)| place.is_worse) => Self::Worse,
            _ if !apart.is_empty() => Self::Better,
            Some(GateOutcome::Inconclusive) => Self::Open,
            None if !is_judged => Self::Unjudged,
            _ => Self::Alike,
        }
    }

    /// The word for people and programs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::Fails => "fails",
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Open => "inconclusive",
            Self::Unjudged => "not judged",
            Self::Alike => "ok",
        }
    }

    /// The class of its mark on a page.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Incomplete | Self::Fails => "failed",
            Self::Worse | Self::Open => "partial",
            Self::Better | Self::Alike => "complete",
            Self::Unjudged => "unjudged",
        }
    }
}

/// `Fleet of 24 drives: group rack-7`.
pub(super) fn headline(report: &FleetReport) -> String {
    format!("Fleet of {}: {}", count(report.fleet.drives.len(), "drive"), report.title)
}

/// What there is to know, a sentence each.
pub(super) fn summary(report: &FleetReport) -> Vec<String> {
    let fleet = &report.fleet;
    let mut sentences = Vec::new();
    let odd = fleet.odd();
    match odd.len() {
        0 if fleet.is_judged() => sentences.push("No drive differs from its peers.".to_owned()),
        0 => sentences
            .push("There are fewer than 5 drives of a model with a figure in common; none is judged.".to_owned()),
        1 => sentences.push(format!("1 of {} differs from its peers.", count(fleet.drives.len(), "drive"))),
        some => sentences.push(format!("{some} of {} differ from their peers.", count(fleet.drives.len(), "drive"))),
    }
    sentences.extend(
        odd.iter().take(NAMED).map(|&at| format!("{}: {}.", name(&fleet.drives[at]), differences(fleet, at, 3))),
    );
    if odd.len() > NAMED {
        sentences.push(format!("The table of drives has the other {}.", odd.len() - NAMED));
    }
    sentences.extend(gates(fleet).into_iter().flatten());
    let incomplete: Vec<&FleetDrive> =
        fleet.drives.iter().filter(|drive| drive.run.state != RunState::Complete).collect();
    if !incomplete.is_empty() {
        let names: Vec<String> = incomplete.iter().take(NAMED).map(|drive| name(drive)).collect();
        let more = if incomplete.len() > NAMED { ", …" } else { "" };
        let runs = count(incomplete.len(), "run");
        sentences.push(format!("{runs} did not come to an end: {}{more}.", names.join(", ")));
    }
    if fleet.superseded > 0 {
        let runs = count(fleet.superseded, "earlier run");
        sentences.push(format!("{runs} of drives that were reviewed again are left out."));
    }
    sentences
}

/// `Limits: 22 of 24 drives pass, 1 fail, 1 inconclusive.` and why nothing was asked of some.
fn gates(fleet: &Fleet) -> [Option<String>; 2] {
    let of = |outcome| {
        fleet.drives.iter().filter(|drive| drive.gate.as_ref().is_some_and(|gate| gate.outcome() == outcome)).count()
    };
    let checked = fleet.drives.iter().filter(|drive| drive.gate.is_some()).count();
    let (passed, failed, open) = (of(GateOutcome::Pass), of(GateOutcome::Fail), of(GateOutcome::Inconclusive));
    let told = format!("Limits: {passed} of {} pass, {failed} fail, {open} inconclusive.", count(checked, "drive"));
    let unasked =
        fleet.drives.iter().filter(|drive| drive.gate.as_ref().is_some_and(|gate| gate.checks.is_empty())).count();
    let why = format!("Nothing was checked of {}: no point that was measured has a rating.", count(unasked, "drive"));
    [(checked > 0).then_some(told), (unasked > 0).then_some(why)]
}

/// `S/N PHAC1234 in slot 7`.
pub(super) fn name(drive: &FleetDrive) -> String {
    let identity = &drive.identity;
    let named = match &identity.serial {
        Some(serial) => format!("S/N {serial}"),
        None => identity.target.clone(),
    };
    identity.slot.as_ref().map_or(named.clone(), |slot| format!("{named} in {slot}"))
}

/// `random read, 4 KiB, queue depth 32 −21 % (worse), …`: in what a drive differs, at most so many figures.
pub(super) fn differences(fleet: &Fleet, at: usize, most: usize) -> String {
    let apart = fleet.apart(at);
    let told: Vec<String> = apart.iter().take(most).map(|(figure, place)| difference(figure, place)).collect();
    let more = apart.len().saturating_sub(most);
    let more = if more > 0 { format!("; and {}", count(more, "more figure")) } else { String::new() };
    told.join("; ") + &more
}

fn difference(figure: &FleetFigure, place: &FleetPlace) -> String {
    format!("{} {} ({})", figure.title, change(place.ratio), way(place))
}

/// The word for how a place stands to the median.
pub(super) const fn way(place: &FleetPlace) -> &'static str {
    if place.is_worse { "worse" } else { "better" }
}

/// The rules in a sentence or two.
pub(super) fn method(fleet: &Fleet) -> String {
    format!(
        "A drive is held against the median of the drives of its model, figure by figure, by the modified z-score of the \
         logarithm (median absolute deviation) and by its own repeats. It differs where both are significant at a false discovery \
         rate of {} % over the drives, and the figure is at least {} % from the median.",
        plain(fleet.rule.rate * 100.0),
        plain(fleet.rule.least * 100.0),
    )
}
