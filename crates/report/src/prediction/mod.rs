//! How well simulated drives predict published latencies and rates.

mod json;
mod page;
mod tails;
mod text;

pub use json::json;
pub use page::html;
use plan::replicate::Use;
use plan::replicate::qos::{
    Bar, Kind, Ordering, Qos, QosAnswer, QosPoint, QosRun, QosTarget, Sense, Standing, Tallied,
};
pub use text::text;

use crate::number::{capital, count, percent};

/// The points of a drive that stand under one heading.
struct Section<'q> {
    /// What is said above: the kind of those that count, or why the others do not.
    title: String,
    rows: Vec<Row<'q>>,
}

/// One point.
struct Row<'q> {
    group: &'q str,
    point: &'q QosPoint,
    answer: &'q QosAnswer,
}

impl Row<'_> {
    /// `load-10k, read p50`.
    fn name(&self) -> String {
        format!("{}, {}", short(self.group), self.point.name)
    }

    /// `holds`, `fails`, or nothing where the point is no bound or is excluded.
    fn verdict(&self) -> &'static str {
        if self.answer.standing != Standing::Bound {
            return "";
        }
        self.answer.holds(self.point).map_or("", |holds| if holds { "holds" } else { "fails" })
    }

    /// Where a bound, its side.
    const fn side(&self) -> &'static str {
        match self.point.sense {
            Sense::Value => "",
            Sense::AtMost => "≤ ",
            Sense::AtLeast => "≥ ",
        }
    }
}

/// An experiment's name without its drive's: `load-10k`.
fn short(group: &str) -> &str {
    group.split_once('/').map_or(group, |(_, rest)| rest)
}

/// The drives that were asked for, with their places, and what each was simulated on.
fn asked<'r>(qos: &'r Qos, run: &'r QosRun) -> impl Iterator<Item = (usize, &'r str, Result<&'r QosTarget, &'r str>)> {
    run.drives.iter().enumerate().filter_map(|(place, target)| {
        let target = target.as_ref()?.as_ref().map_err(String::as_str);
        Some((place, qos.drives[place].model.as_str(), target))
    })
}

/// The points of a drive: those that count by kind, then bounds, then those that are set apart by reason.
fn sections<'q>(qos: &'q Qos, run: &'q QosRun, drive: usize) -> Vec<Section<'q>> {
    let mut sections: Vec<(usize, Section)> = Vec::new();
    for (place, _, point, answer) in run.points(qos).filter(|(place, ..)| qos.groups[*place].drive == drive) {
        let kind = Kind::ALL.iter().position(|kind| *kind == point.kind()).expect("all kinds are there");
        let (rank, title) = match &answer.standing {
            Standing::Counts => (kind, capital(point.kind().title())),
            Standing::Bound => (10, "Ratings and bounds".to_owned()),
            Standing::Apart(why) => (11, format!("Excluded, {why}")),
            Standing::Unresolved(_) => (12, "Excluded, too few simulated requests".to_owned()),
            Standing::Unmeasured(why) => (13, format!("Not simulated, {why}")),
        };
        let row = Row { group: &qos.groups[place].id, point, answer };
        let reason = |title: &str| title.split(" rests on ").next().map(str::to_owned);
        match sections.iter_mut().find(|(_, section)| reason(&section.title) == reason(&title)) {
            Some((_, section)) => section.rows.push(row),
            None => sections.push((rank, Section { title, rows: vec![row] })),
        }
    }
    sections.sort_by_key(|(rank, _)| *rank);
    sections.into_iter().map(|(_, section)| section).collect()
}

/// `sim:pm9a3-960?host=nvme-host-busy, 48 of 250 blocks a plane, write amplification 3.4`.
fn conditions(target: &QosTarget) -> String {
    let mut said = target.target();
    if let Some((now, before)) = target.blocks {
        said += &format!(", {now} of {before} blocks a plane");
    }
    if let Some(factor) = target.write_amplification {
        said += &format!(", write amplification {factor:.2}");
    }
    said
}

/// Of a drive or of all: the median factor of a kind of points and how many there are, `1.08 (12)`.
fn factor(run: &QosRun, qos: &Qos, drive: usize, kind: Kind, usage: Use) -> Option<String> {
    let tallied = Tallied::of(&run.ratios(qos, Some(drive), kind, usage))?;
    Some(format!("{:.2} ({})", tallied.factor_median, tallied.points))
}

/// What a bar counts.
fn counted(bar: &Bar) -> String {
    capital(bar.kind.map_or("orderings of two drives", Kind::title))
}

/// The cells of a bar: points, median error, within 25 %, median factor, within the factor that is wanted.
fn cells(bar: &Bar) -> [String; 5] {
    let dash = || "–".to_owned();
    match (bar.tallied, bar.kind) {
        (Some(tallied), kind) => {
            let far = if kind == Some(Kind::Consistency) { tallied.factor_15 } else { tallied.factor_16 };
            let factor = format!("{:.2}", tallied.factor_median);
            [bar.points.to_string(), percent(tallied.error_median), percent(tallied.within_25), factor, percent(far)]
        }
        (None, Some(_)) => ["0".to_owned(), dash(), dash(), dash(), dash()],
        (None, None) => [bar.points.to_string(), dash(), dash(), dash(), format!("{} same", bar.same)],
    }
}

/// `load-10k, read p50: pm9a3-960 above sn640-960`.
fn ordering(qos: &Qos, ordering: &Ordering) -> String {
    let preset = |group: usize| qos.drives[qos.groups[group].drive].name();
    let (group, at) = ordering.larger;
    let row = &qos.groups[group];
    format!("{}, {}: {} above {}", short(&row.id), row.points[at].name, preset(group), preset(ordering.smaller.0))
}

/// What was simulated, in a line.
fn scope(qos: &Qos, run: &QosRun) -> String {
    let drives = run.drives.iter().flatten().filter(|target| target.is_ok()).count();
    let points = run.points(qos).filter(|(.., answer)| answer.simulated.is_some()).count();
    let quick = if run.is_quick { " A tenth of the duration (--quick)." } else { "" };
    format!("{}, {} simulated, seed {}.{quick}", count(drives, "drive"), count(points, "point"), run.seed)
}
