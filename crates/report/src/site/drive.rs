//! One drive over all of its runs: its key figures from run to run, with the changes of firmware and program between them.

use maud::{Markup, html};
use plan::compare::ContrastSide;
use plan::fleet::{FleetDrive, FleetReading};
use serde_json::json;

use super::frame::{SiteSection, plain};
use super::list::runs as counted;
use crate::conditions::date;
use crate::number::{percent, spread, three};

/// The drawing's own units: it is stretched to its place.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 100.0;
/// Changes of less than this share do not fill the height of a chart.
const RANGE: f64 = 0.1;

/// A drive with its runs.
#[derive(Clone, Debug)]
pub struct DriveHistory {
    /// Its serial number; none where it tells none.
    pub serial: Option<String>,
    /// The plan whose figures are shown, and whether it was shortened.
    pub plan: Option<(String, bool)>,
    /// All plans that it has complete runs of, with how many, and the address of the same page for each.
    pub plans: Vec<((String, bool), u64, String)>,
    /// Complete runs of that plan, the oldest first, as many of the latest as are shown.
    pub shown: Vec<FleetDrive>,
    /// All of its runs, whatever their plan and state.
    pub all: u64,
    /// The address of their list.
    pub list: String,
    /// How it is called where no run is shown.
    pub name: String,
}

/// What is other in a run than in the one before it.
struct Break<'h> {
    /// Its place among the runs.
    place: usize,
    /// What it is, how it was and how it is.
    changes: Vec<(&'static str, &'h str, &'h str)>,
}

/// A key figure in every run that gives it.
struct Track<'h> {
    reading: &'h FleetReading,
    values: Vec<(usize, &'h ContrastSide)>,
}

impl DriveHistory {
    fn breaks(&self) -> Vec<Break<'_>> {
        let mut breaks = Vec::new();
        for (place, pair) in self.shown.windows(2).enumerate() {
            let [before, after] = pair else { continue };
            let firmware = [before, after].map(|run| run.identity.firmware.as_deref().unwrap_or("unknown"));
            let version = [before, after].map(|run| run.run.version.as_str());
            let both = [("firmware", firmware), ("assay", version)].into_iter();
            let changes: Vec<_> = both
                .filter(|(_, [before, after])| before != after)
                .map(|(what, [before, after])| (what, before, after))
                .collect();
            if !changes.is_empty() {
                breaks.push(Break { place: place + 1, changes });
            }
        }
        breaks
    }

    fn tracks(&self) -> Vec<Track<'_>> {
        let mut tracks: Vec<Track> = Vec::new();
        for (place, run) in self.shown.iter().enumerate() {
            for reading in &run.readings {
                match tracks.iter_mut().find(|track| track.reading.title == reading.title) {
                    Some(track) => track.values.push((place, &reading.side)),
                    None => tracks.push(Track { reading, values: vec![(place, &reading.side)] }),
                }
            }
        }
        tracks
    }

    fn model(&self) -> &str {
        self.shown.last().map_or(&self.name, |last| &last.run.target_identity)
    }
}

/// The page of a drive.
pub fn drive(history: &DriveHistory, version: &str) -> String {
    let firmware = history.shown.last().and_then(|last| last.identity.firmware.as_deref());
    let heading = html! {
        p.kicker { "Drive" }
        h1 { (history.model()) }
        p.facts {
            @if let Some(serial) = &history.serial { span { "serial " code { (serial) } } }
            @else { span { code { (history.name) } } }
            @if let Some(firmware) = firmware { span { "firmware " (firmware) } }
            span { a href=(history.list) { (counted(history.all)) } }
        }
    };
    let breaks = history.breaks();
    let main = html! {
        (plans(history))
        @if history.shown.is_empty() {
            section.trouble { p { "No run of this drive is complete, so there are no figures yet." } }
        } @else {
            section #figures {
                h2 { "Key figures from run to run" }
                p.trust {
                    "Means with their 95 % intervals, in the order of the runs. Each figure has its own scale, which need not begin at zero."
                    @for (number, one) in breaks.iter().enumerate() {
                        " " span.break-name { (number + 1) } " run " (history.shown[one.place].run.id) ":"
                        @for (what, before, after) in &one.changes { " " (what) " " (before) " → " (after) "." }
                    }
                }
                div.tracks { @for track in history.tracks() { (card(&track, &breaks, history)) } }
            }
            section #runs { h2 { "Runs" } (table(history)) }
        }
    };
    plain(history.model(), version, SiteSection::Fleet, heading, main)
}

/// `review (quick)`.
fn plan_name((plan, quick): &(String, bool)) -> String {
    if *quick { format!("{plan} (quick)") } else { plan.clone() }
}

fn plans(history: &DriveHistory) -> Markup {
    html! {
        @if history.plans.len() > 1 {
            nav.choices aria-label="Plans" {
                @for (plan, runs, address) in &history.plans {
                    a href=(address) aria-current=[(history.plan.as_ref() == Some(plan)).then_some("true")] { (plan_name(plan)) " " span.quiet { (runs) } }
                }
            }
        }
    }
}

/// One figure: the latest, how it has changed since the first, and its way between them.
fn card(track: &Track, breaks: &[Break], history: &DriveHistory) -> Markup {
    let [(_, first), .., (_, last)] = track.values.as_slice() else {
        return html! { @for (_, only) in &track.values { div.track { (head(track, only, None)) } } };
    };
    let change = last.interval.mean / first.interval.mean - 1.0;
    let runs = history.shown.len();
    let x = |place: usize| (place as f64 + 0.5) / runs as f64 * WIDTH;
    let ends = |side: &ContrastSide| {
        let (mean, half) = (side.interval.mean, side.interval.half_width.unwrap_or(0.0));
        (mean - half, mean + half)
    };
    let mut means: Vec<f64> = track.values.iter().map(|(_, side)| side.interval.mean).collect();
    means.sort_by(f64::total_cmp);
    let middle = means[means.len() / 2];
    let all = || track.values.iter().map(|(_, side)| ends(side));
    let low = all().map(|(low, _)| low).fold(middle * (1.0 - RANGE), f64::min).max(0.0);
    let high = all().map(|(_, high)| high).fold(middle * (1.0 + RANGE), f64::max);
    let y = |value: f64| {
        ((high - value.clamp(low, high)) / (high - low).max(f64::MIN_POSITIVE) * HEIGHT * 10.0).round() / 10.0
    };
    let line: Vec<String> =
        track.values.iter().map(|(place, side)| format!("{:.1},{}", x(*place), y(side.interval.mean))).collect();
    let said = format!(
        "{}: {} {} in the first of {} runs, {} in the last",
        track.reading.title,
        three(first.interval.mean),
        track.reading.unit,
        track.values.len(),
        three(last.interval.mean)
    );
    html! {
        div.track {
            (head(track, last, Some(change)))
            div.plot {
                span.high { (three(high)) } span.low { (three(low)) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(said) {
                    line.grid x1="0" x2=(WIDTH) y1="0" y2="0" {}
                    line.grid x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                    @for one in breaks { @let at = one.place as f64 / runs as f64 * WIDTH;
                        line.break x1=(at) x2=(at) y1="0" y2=(HEIGHT) {}
                    }
                    polyline.line points=(line.join(" ")) {}
                    @for (place, side) in &track.values { @let (low, high) = ends(side);
                        line.spread x1=(x(*place)) x2=(x(*place)) y1=(y(high)) y2=(y(low)) {}
                        // A point is a line of no length with round ends, so that it stays round however it is stretched.
                        line.point x1=(x(*place)) x2=(x(*place)) y1=(y(side.interval.mean)) y2=(y(side.interval.mean)) {
                            title { "run " (history.shown[*place].run.id) ", " (date(history.shown[*place].run.started_ms)) ": " (three(side.interval.mean)) " " (track.reading.unit) }
                        }
                    }
                }
                @for (number, one) in breaks.iter().enumerate() {
                    span.break-name style={ "left:" (format!("{:.2}%", one.place as f64 / runs as f64 * 100.0)) } { (number + 1) }
                }
            }
        }
    }
}

fn head(track: &Track, last: &ContrastSide, change: Option<f64>) -> Markup {
    let is_better = change.map(|change| (change > 0.0) == track.reading.more_is_better);
    let sign = |change: f64| if change < 0.0 { "−" } else { "+" };
    html! {
        p.panel-title { (track.reading.title) }
        p.latest {
            b { (three(last.interval.mean)) " " (track.reading.unit) }
            @if let Some(spread) = spread(&last.interval) { " " span.quiet { (spread) } }
            @if let Some(change) = change.filter(|change| change.is_finite() && change.abs() >= 0.0005) {
                " " span class=(if is_better == Some(true) { "better" } else { "worse" }) { (sign(change)) (percent(change.abs())) " since the first" }
            }
        }
    }
}

fn table(history: &DriveHistory) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label="Runs" { table {
            caption.hidden { "Runs, the latest first" }
            thead { tr { @for head in ["Run", "Started", "Target", "Firmware", "assay", "Tags"] { th scope="col" { (head) } } } }
            tbody { @for FleetDrive { run, identity, .. } in history.shown.iter().rev() { tr {
                th scope="row" { a href={ "/run/" (run.id) } { "run " (run.id) } }
                td { (date(run.started_ms)) } td.long { code { (run.target) } }
                td { (identity.firmware.as_deref().unwrap_or("–")) } td { (run.version) }
                td { @for tag in &run.annotations.tags { (tag.as_str()) " " } }
            } } }
        } }
    }
}

/// The same as one JSON document; ends with a line feed.
pub fn drive_json(history: &DriveHistory) -> String {
    let figure = |FleetReading { title, unit, more_is_better, side }: &FleetReading| {
        json!({
            "figure": title, "unit": unit, "more_is_better": more_is_better,
            "mean": side.interval.mean, "half_width": side.interval.half_width,
        })
    };
    let run = |one: &FleetDrive| {
        json!({
            "run": one.run.id, "target": one.run.target, "timestamp_ms": one.run.started_ms, "assay": one.run.version,
            "firmware": one.identity.firmware, "figures": one.readings.iter().map(figure).collect::<Vec<_>>(),
        })
    };
    let document = json!({
        "model": history.model(),
        "serial": history.serial,
        "plan": history.plan.as_ref().map(|(plan, _)| plan),
        "quick": history.plan.as_ref().map(|(_, quick)| quick),
        "all_runs": history.all,
        "runs": history.shown.iter().map(run).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}
